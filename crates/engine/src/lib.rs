//! The storage engine's front door: databases, transactions, trees of rows.
//!
//! Promise: what [`Txn::commit`] has acknowledged survives (at the durability it was asked for), what was not is
//! undone; a reader sees what its isolation level allows; writers of one row go one after the other.
//!
//! Knows nothing of tables, columns, types or T-SQL: a row is bytes under a byte-comparable key in a [`Tree`].
//! Nor does it know who runs its callers: everything that waits goes through `runtime::task`.

#![forbid(unsafe_code)]

mod applock;
mod backup;
mod boot;
mod buffers;
mod check;
mod checkpoint;
mod commit_timer;
mod compact;
mod database;
mod ddl;
mod error;
mod figures;
mod found;
mod gaps;
mod ghosts;
mod lob;
mod locking;
mod losers;
mod measure;
mod memory;
mod memory_facts;
mod memory_quota;
mod modify;
mod open;
mod operations;
mod options;
mod read;
mod recovering;
mod restore;
mod sample;
mod scan;
mod status;
#[cfg(test)]
mod tests;
mod together;
mod tracking;
mod tree;
mod tree_space;
mod txn;
mod usage;
mod visit;
mod write;

pub use backup::{BackupReport, BackupRequest};
pub use buffers::BufferDescriptor;
pub use check::{CheckCounts, Finding, RowCheck};
pub use database::{Database, DatabaseStats};
pub use error::EngineError;
pub use figures::{FileFigures, LOG_FILE_ID, LogFigures};
pub use found::{Change, Looked};
pub use ghosts::set_ghost_cleanup;
pub use lob::{LOB_BYTES_MAX, LOB_CHUNK_BYTES};
pub use memory::MemoryForm;
pub use memory_facts::{MemoryCleaning, MemoryFacts};
pub use memory_quota::MemoryQuota;
pub use operations::OperationFigures;
pub use options::{
    DataFile, DbFiles, DbOptions, Decided, DelayedDurability, Durability, Isolation, ReadOptions,
    RecoveryModel, RowLock, ScanOptions, TableLock, TxnOptions,
};
pub use read::Seen;
pub use recovering::{RecoveryPhase, RecoveryReport};
pub use restore::{
    RestoreReport, RestoreRequest, Stopped, check_version, restore_database, restore_log,
};
pub use sample::{Place, Sampler};
pub use scan::{Scan, Spot};
pub use status::{Activity, LockRow, TransactionInfo, WaitRow, log_deadlocks};
pub use together::{Parent, Part, PartChange, TOGETHER_FEW, Together};
pub use tracking::TrackedCommit;
pub use tree::{SYSTEM_TREES, Tree};
pub use tree_space::TreeSpace;
pub use txn::{Savepoint, Txn};
pub use usage::{UsageFigures, UsageForm, Use, set_usage_form, usage_form};

pub use buffer_pool::{NodePages, PageId, PoolStats, set_readers_latch};
pub use device::{FileStats, Op as IoOp, PendingIo};
pub use lock_manager::{Deadlock, KeyMode, LockResource, Owner};
pub use log_manager::{
    FlushQueueKind, Log, LogConfig, LogStats, Lsn, Reserve, VLF_BYTES_MIN, VlfInfo, Writer,
    WriterPlace,
};
pub use storage::memory::{
    Chains, Doings, IndexCensus, Kind as MemoryKind, Nodes, QueueFigures as MemoryQueue,
};
/// `TreeId(PageId(n))`: store `n` in the catalog as 8 bytes. `FilegroupId` is a `u16`; [`PRIMARY`] is 1. An
/// `InsertHint` remembers the leaf of a session's last insert into one tree: keep one per session and tree.
pub use storage::{
    Compacted, FileSpace, FilegroupId, Found, LeafHint as InsertHint, LevelFigures, Measure,
    PageSample, RowImage, Run, TreeId, TreeReport, TreeWaits, WaitFigures, set_grow_together,
};
pub use storage::{KEY_MAX, KEYS_AHEAD};
#[cfg(debug_assertions)]
pub use transaction::{Bug, plant};

/// The filegroup of the catalog, and the default.
pub const PRIMARY: FilegroupId = 1;
