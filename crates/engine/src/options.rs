//! What a caller chooses: files, options of a database, of a transaction, of a scan.

use crate::FilegroupId;
use log_manager::LogConfig;
use std::path::PathBuf;
use std::sync::Arc;

/// One data file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataFile {
    pub filegroup: FilegroupId,
    /// Number of the file in its database, as in page ids `(file:page)`: 1 is the primary file, 2 the log, data files
    /// of other groups go on from 3.
    pub file_id: u16,
    pub path: PathBuf,
    pub initial_bytes: u64,
    /// By how much it grows; 0 means that it does not.
    pub growth_bytes: u64,
    pub max_bytes: Option<u64>,
}

impl DataFile {
    /// The primary file, 8 MiB at first, growing by 64 MiB without limit (as in SQL Server).
    pub fn primary(path: impl Into<PathBuf>) -> DataFile {
        DataFile {
            filegroup: crate::PRIMARY,
            file_id: 1,
            path: path.into(),
            initial_bytes: 8 << 20,
            growth_bytes: 64 << 20,
            max_bytes: None,
        }
    }
}

/// The files of a database. The first data file is the primary one; the others are found through it when a database
/// is opened. The double-write file and the lock file lie beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DbFiles {
    pub data: Vec<DataFile>,
    pub log: PathBuf,
}

impl DbFiles {
    /// `<dir>/<name>.mdf` and `<dir>/<name>_log.ldf`.
    pub fn named(dir: impl Into<PathBuf>, name: &str) -> DbFiles {
        let dir = dir.into();
        DbFiles {
            data: vec![DataFile::primary(dir.join(format!("{name}.mdf")))],
            log: dir.join(format!("{name}_log.ldf")),
        }
    }
}

/// `ALTER DATABASE ... SET DELAYED_DURABILITY`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DelayedDurability {
    /// Every commit is fully durable.
    #[default]
    Disabled,
    /// As the commit asks.
    Allowed,
    /// Every commit is delayed.
    Forced,
}

/// What a COMMIT asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Durability {
    /// Acknowledged when it is on disk.
    #[default]
    Full,
    /// Acknowledged at once; on disk some milliseconds later.
    Delayed,
}

/// When the log may be reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RecoveryModel {
    /// After a checkpoint.
    #[default]
    Simple,
    /// After a checkpoint and BACKUP LOG, once there is a full backup.
    Full,
    /// As FULL: everything is logged in full.
    BulkLogged,
}

impl RecoveryModel {
    /// SQL Server's word for it.
    pub fn name(self) -> &'static str {
        match self {
            RecoveryModel::Simple => "SIMPLE",
            RecoveryModel::Full => "FULL",
            RecoveryModel::BulkLogged => "BULK_LOGGED",
        }
    }
}

/// Whether a transaction over several databases, by its number, was decided to have committed.
#[derive(Clone)]
pub struct Decided(pub Arc<dyn Fn(u128) -> bool + Send + Sync>);

impl std::ops::Deref for Decided {
    type Target = dyn Fn(u128) -> bool + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl std::fmt::Debug for Decided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decided")
    }
}

/// Options of a database. Layout of the log counts at creation only.
#[derive(Clone, Debug)]
pub struct DbOptions {
    pub log: LogConfig,
    /// Bytes of the buffer pool.
    pub buffer_pool_bytes: u64,
    /// Bytes of it that are touched at opening; the background touches more ahead of use, as much again as is in use.
    /// First touches run at half a gigabyte a second on some machines, so who measures asks for all.
    pub prefault_bytes: u64,
    /// NUMA nodes that the pool's frames are spread over; empty: not bound to any.
    pub memory_nodes: Vec<usize>,
    /// Huge pages that the system has set apart for the pool, if there are as many.
    pub large_pages: bool,
    /// The pool is kept in memory, if the process may.
    pub lock_pages: bool,
    pub delayed_durability: DelayedDurability,
    /// READ COMMITTED reads row versions instead of taking locks.
    pub read_committed_snapshot: bool,
    /// SNAPSHOT isolation is allowed (3952 otherwise).
    pub allow_snapshot_isolation: bool,
    pub recovery_model: RecoveryModel,
    /// A checkpoint begins after so many bytes of log (and at half of the log's largest size at the latest).
    pub checkpoint_log_bytes: u64,
    /// With more log than this to redo, in bytes, a database opens as soon as the log has been analysed, and redo and
    /// undo go on behind its users; with less it is recovered first, which takes a moment.
    pub recover_first_bytes: u64,
    /// Memory for the list of what pages lack, in bytes, about. What a longer log has beyond is redone before the
    /// database opens.
    pub redo_list_bytes: u64,
    /// How many tasks will work on recovery behind users, about: each gets a share of the pages.
    pub recovery_tasks: usize,
    /// Who knows how transactions ended that were prepared when a crash came; none: they are undone.
    pub decided: Option<Decided>,
}

impl Default for DbOptions {
    fn default() -> Self {
        DbOptions {
            log: LogConfig::default(),
            buffer_pool_bytes: 256 << 20,
            prefault_bytes: 0,
            memory_nodes: Vec::new(),
            large_pages: false,
            lock_pages: false,
            delayed_durability: DelayedDurability::Disabled,
            read_committed_snapshot: true,
            allow_snapshot_isolation: true,
            recovery_model: RecoveryModel::Simple,
            checkpoint_log_bytes: 1 << 30,
            recover_first_bytes: 16 << 20,
            redo_list_bytes: 256 << 20,
            recovery_tasks: 1,
            decided: None,
        }
    }
}

/// SET TRANSACTION ISOLATION LEVEL.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Isolation {
    /// The newest state of each row, committed or not.
    ReadUncommitted,
    /// What was committed when the statement began; without READ_COMMITTED_SNAPSHOT, what was committed when the row
    /// was read, by locks held for that moment.
    #[default]
    ReadCommitted,
    /// Rows that were read stay as they are: locks to the end of the transaction.
    RepeatableRead,
    /// What was committed when the transaction first read; 3960 when it changes a row that changed since.
    Snapshot,
    /// Rows and gaps that were read stay as they are: key-range locks to the end of the transaction.
    Serializable,
}

/// Which lock a reader wants on rows, beside what its isolation level makes it take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RowLock {
    /// As the level says.
    #[default]
    ByLevel,
    /// None: READ COMMITTED by row versions, whatever the database's option. For the catalog's own reads.
    Versions,
    /// READCOMMITTEDLOCK.
    Shared,
    /// UPDLOCK. Of READ COMMITTED: rows are read in their newest state, and whoever finds that one matters locks it
    /// by [`crate::Txn::lock_latest`].
    Update,
    /// XLOCK, and the rows that UPDATE and DELETE look for. As `Update`.
    Exclusive,
}

/// Table hints of a reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// NOLOCK, READCOMMITTED, REPEATABLEREAD, HOLDLOCK: for this table instead of the transaction's level.
    pub isolation: Option<Isolation>,
    pub lock: RowLock,
    /// READPAST: rows locked by others are skipped. Makes READ COMMITTED take locks.
    pub read_past: bool,
    /// NOWAIT: 1222 instead of waiting.
    pub no_wait: bool,
    /// The statement has found this row already, by its key or in a scan: no look-up of its own is counted.
    pub again: bool,
}

impl ReadOptions {
    /// NOLOCK.
    pub fn nolock() -> ReadOptions {
        ReadOptions { isolation: Some(Isolation::ReadUncommitted), ..ReadOptions::default() }
    }

    /// What is committed as of the statement or the transaction, whatever the session's level.
    pub fn versions() -> ReadOptions {
        ReadOptions {
            isolation: Some(Isolation::ReadCommitted),
            lock: RowLock::Versions,
            ..ReadOptions::default()
        }
    }
}

/// Options of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TxnOptions {
    pub isolation: Isolation,
    /// The transaction began under another level: SNAPSHOT is refused (3951).
    pub too_late_for_snapshot: bool,
    /// SET LOCK_TIMEOUT: how long to wait for a lock, in milliseconds; `None` for ever, 0 not at all.
    pub lock_timeout_ms: Option<u64>,
    /// SET DEADLOCK_PRIORITY, -10 to 10.
    pub deadlock_priority: i8,
}

/// A lock on a whole table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TableLock {
    /// Reads rows by locks (row versions need none).
    IntentShared,
    /// Changes rows.
    IntentExclusive,
    /// TABLOCK of a reader.
    Shared,
    /// TABLOCK and UPDLOCK.
    Update,
    /// TABLOCKX.
    Exclusive,
    /// DDL.
    SchemaModification,
}

/// How to scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScanOptions {
    pub read: ReadOptions,
    /// From the upper bound down.
    pub reverse: bool,
    /// The lower bound is all of the value by which a hash index finds rows; the range is the rows that have it. Means
    /// nothing to trees that are in order.
    pub one_value: bool,
}
