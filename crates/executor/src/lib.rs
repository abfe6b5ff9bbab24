//! Physical plans, executed: batches of rows flow from scans through joins, aggregates and sorts to a sink
//! or into a table.
//!
//! Promises: a statement sees one snapshot; a change re-reads and re-checks each row under its lock before it
//! changes it; long work yields to the scheduler. Every failure is a [`SqlError`] with SQL Server's number.
//!
//! Knows nothing of T-SQL text, of variables' names, of procedures and transactions' nesting (the interpreter
//! does), nor of clients (a [`ResultSink`] takes what comes).

#![forbid(unsafe_code)]

mod message;
mod sink;

mod arena;
mod key_index;
mod memory;
mod rowcode;
mod spill;
mod workspace;

mod change;
mod foreign;
mod index;
mod indexed_view;
mod isolation;
mod last_writer;
mod lob;
mod merge;
mod nested;
mod partition;
mod period;
mod point;
mod point_merge;
mod query;
mod rebuild;
mod setter;
mod spot;
mod tracking;
mod upkeep;
mod warnings;
mod write;

pub mod applock;
mod batch;
mod columns;
mod cx;
#[cfg(test)]
mod dice;
mod error;
mod eval;
mod functions;
mod integer;
mod key_hasher;
mod openjson;
mod openxml;
mod ops;
mod serialize;
mod subquery;

pub use batch::Batch;
pub use change::{NextRow, delete, insert, insert_query, insert_rows, insert_stream, update};
pub use cx::{
    CANCELLED, Changed, Cx, Environment, Followed, LastIdentity, SpillFigures, cancelled,
};
pub use error::{doomed, from_catalog, from_engine, private_error};
pub use eval::{assign, eval, forgiven_by, holds, satisfies, test};
pub use functions::zones::{Zone, time_zones};
pub use indexed_view::{ViewChange, ViewChanges, fill_view, keep_views};
pub use isolation::{MemoryAccess, check_memory_read};
pub use last_writer::Kept;
pub use lob::column as stored_column;
pub use memory::{GrantRow, MemoryPool, PoolFigures};
pub use merge::{Merged, merge};
pub use message::{Reach, SqlError, SqlMessage};
pub use openxml::PreparedXml;
pub use partition::{
    PartitionRows, count_partitions, delete_rows, is_empty as has_no_rows, move_rows,
};
pub use point::PointChange;
pub use point_merge::PointMerge;
pub use query::{
    collect, column_meta, for_each_batch, reads_tables, select_to_client, select_to_vars,
    subplans_read_tables,
};
pub use rebuild::{carry_out, verify_rows};
pub use serialize::base64;
pub use sink::{Collected, ColumnMeta, Command, Done, EnvironmentChange, ResultSet, ResultSink};
pub use spill::{Extent as SpillExtent, SpillFile, SpillSpace};
pub use tracking::{Cleaned, clean_commits, function as tracking_function, min_valid_version};
pub use warnings::Warnings;
pub use workspace::{Bounds, Workspace};
pub use write::{
    RUN_BYTES_MIN, TableWriter, duplicate_key_text, image, key_columns, key_error, null_error,
    run_image,
};
