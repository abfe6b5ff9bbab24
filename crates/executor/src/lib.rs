//! Physical plans, executed: batches of rows flow from scans through joins, aggregates and sorts to a sink.
//!
//! Promises: a statement sees one snapshot; long work yields to the scheduler. Every failure is a [`SqlError`] with SQL
//! Server's number.
//!
//! Knows nothing of T-SQL text, of variables' names, of procedures and transactions' nesting (the interpreter
//! does), of what a function makes of values (`functions`), how rows are changed (`dml`), nor of clients (a [`ResultSink`] takes what comes).

#![forbid(unsafe_code)]

mod message;
mod sink;

mod arena;
mod key_index;
mod memory;
mod rowcode;
mod spill;
mod workspace;

pub mod index;
mod isolation;
pub mod lob;
mod partition;
mod query;
pub mod tracking;
mod view_changes;
mod warnings;

pub mod applock;
mod batch;
mod calls;
mod columns;
mod cx;
#[cfg(test)]
mod dice;
mod error;
mod eval;
mod integer;
mod key_hasher;
mod ops;
mod subquery;

pub use batch::Batch;
pub use cx::{Changed, Cx, Environment, Followed, LastIdentity, Lent, no_memory};
pub use error::{
    doomed, duplicate_key, engine_error, from_catalog, from_engine, from_engine_alone, key_text,
    private_error,
};
pub use eval::{
    assign, error_of_store, eval, forgiven_by, holds, identity_value, qualified, satisfies, test,
};
pub use isolation::{MemoryAccess, check as check_memory_table, check_memory_read};
pub use memory::{GrantRow, MemoryPool, PoolFigures, row_bytes};
pub use message::{About, CANCELLED, Reach, SqlError, SqlMessage, cancelled};
pub use ops::{KeyMap, as_slice, engine_tree, past, percentage, row_count};
pub use partition::count_partitions;
pub use query::{
    collect, column_meta, for_each_batch, reads_tables, select_to_client, select_to_vars,
    subplans_read_tables,
};
pub use sink::{
    Collected, ColumnMeta, Command, Done, EnvironmentChange, ResultSet, ResultSink, tell_database,
};
pub use spill::{Extent as SpillExtent, SpillFigures, SpillFile, SpillSpace};
pub use view_changes::{ChangedTable, ViewChange, ViewChanges};
pub use warnings::Warnings;
pub use workspace::{Bounds, Workspace};
