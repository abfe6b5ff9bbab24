//! Errors of the engine, with SQL Server's message numbers. Names of tables are filled in above, where they are known.

use backup::BackupError;
use buffer_pool::PoolError;
use lock_manager::LockError;
use log_manager::LogError;
use recovery::RecoveryError;
use std::fmt;
use storage::StorageError;

/// Why a call failed. After an error of a statement the caller rolls back to the statement's savepoint; where
/// [`EngineError::dooms`] says so, the whole transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineError {
    /// 2627: the key is there already.
    Duplicate,
    /// 1205: chosen as the victim of a deadlock.
    Deadlock,
    /// 1222: lock request time out period exceeded.
    LockTimeout,
    /// 3960: snapshot isolation: the row has changed since the transaction's snapshot.
    SnapshotConflict,
    /// 3961: a definition has moved the rows of a memory tree since the transaction's snapshot.
    Redefined,
    /// 41302: a row of a memory tree has been changed by another transaction since this one began.
    WriteConflict,
    /// 41305: a row of a memory tree is not as it was read.
    NotRepeatable,
    /// 41325: a row has come to a memory tree where none was read, or where one was being inserted.
    NotSerializable,
    /// 41805: the rows of memory trees take what those of their resource pool may.
    QuotaUsedUp { pool: Box<str> },
    /// 3952: the database does not allow snapshot isolation.
    SnapshotNotAllowed,
    /// 3951: the transaction did not begin under snapshot isolation.
    SnapshotTooLate,
    /// 650: READPAST with a level that may not skip rows.
    ReadPastRefused,
    /// 3617: told to stop while waiting for a lock.
    Cancelled,
    /// 9002: the log is full.
    LogFull { reason: &'static str },
    /// 9001: the log takes nothing any more, after a failed write.
    LogUnavailable { what: String },
    /// 9004 and the like: the log on disk is damaged.
    LogCorrupt { what: String },
    /// 1105: the filegroup has no space left.
    FilegroupFull { filegroup: u16 },
    /// 824: a page is not what was written.
    DamagedPage { file: u16, page: u32, what: String },
    /// 3456: a page could not be brought up to date from the log.
    RedoFailed { file: u16, page: u32, what: String },
    /// 823: the operating system refused a read or write.
    Io { what: String },
    /// 802: no memory in the buffer pool.
    NoMemory,
    /// 511: a row (or key) larger than the largest.
    RowTooLarge { bytes: usize, bytes_max: usize },
    /// 5120: a file of the database cannot be opened; the text says why.
    CannotOpen { path: String, what: String },
    /// 5120: another process has the database open.
    InUse { path: String },
    /// 5170: files exist already.
    Exists { path: String },
    /// 3998: the transaction can only be rolled back.
    Doomed,
    /// 3902/3903: no transaction.
    NoTransaction,
    /// 208: no such tree (dropped).
    NoSuchTree,
    /// Of backing up and restoring, with SQL Server's number: a sentence.
    Backup { number: i32, what: String },
    /// 3906: the database is read-only.
    ReadOnly,
    /// 942: the database is closed or unusable.
    Unavailable { what: String },
}

impl EngineError {
    /// SQL Server's message number.
    pub fn number(&self) -> i32 {
        match self {
            EngineError::Duplicate => 2627,
            EngineError::Deadlock => 1205,
            EngineError::LockTimeout => 1222,
            EngineError::SnapshotConflict => 3960,
            EngineError::Redefined => 3961,
            EngineError::WriteConflict => 41302,
            EngineError::NotRepeatable => 41305,
            EngineError::NotSerializable => 41325,
            EngineError::QuotaUsedUp { .. } => 41805,
            EngineError::SnapshotNotAllowed => 3952,
            EngineError::SnapshotTooLate => 3951,
            EngineError::ReadPastRefused => 650,
            EngineError::Cancelled => 3617,
            EngineError::LogFull { .. } => 9002,
            EngineError::LogUnavailable { .. } => 9001,
            EngineError::LogCorrupt { .. } => 9004,
            EngineError::FilegroupFull { .. } => 1105,
            EngineError::DamagedPage { .. } => 824,
            EngineError::RedoFailed { .. } => 3456,
            EngineError::Io { .. } => 823,
            EngineError::NoMemory => 802,
            EngineError::RowTooLarge { .. } => 511,
            EngineError::CannotOpen { .. } | EngineError::InUse { .. } => 5120,
            EngineError::Exists { .. } => 5170,
            EngineError::Doomed => 3998,
            EngineError::NoTransaction => 3902,
            EngineError::NoSuchTree => 208,
            EngineError::Backup { number, .. } => *number,
            EngineError::ReadOnly => 3906,
            EngineError::Unavailable { .. } => 942,
        }
    }

    /// Whether the whole transaction must be rolled back, not only the statement.
    pub fn dooms(&self) -> bool {
        matches!(
            self,
            EngineError::Deadlock
                | EngineError::SnapshotConflict
                | EngineError::Redefined
                | EngineError::WriteConflict
                | EngineError::NotRepeatable
                | EngineError::NotSerializable
                | EngineError::LogFull { .. }
                | EngineError::LogUnavailable { .. }
                | EngineError::LogCorrupt { .. }
                | EngineError::FilegroupFull { .. }
                | EngineError::DamagedPage { .. }
                | EngineError::RedoFailed { .. }
                | EngineError::Io { .. }
                | EngineError::NoMemory
                | EngineError::Doomed
                | EngineError::Unavailable { .. }
        )
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineError::Duplicate => f.write_str("the key exists already"),
            EngineError::Deadlock => f.write_str("chosen as the deadlock victim"),
            EngineError::LockTimeout => f.write_str("lock request time out period exceeded"),
            EngineError::SnapshotConflict => f.write_str("the row has changed since the snapshot"),
            EngineError::Redefined => {
                f.write_str("what is read has been defined anew since the snapshot")
            }
            EngineError::WriteConflict => {
                f.write_str("another transaction has changed the row since this one began")
            }
            EngineError::NotRepeatable => f.write_str("a row is not as it was read"),
            EngineError::NotSerializable => f.write_str("a row has come where none was read"),
            EngineError::QuotaUsedUp { pool } => {
                write!(f, "the rows in memory take all that resource pool {pool} allows them")
            }
            EngineError::SnapshotNotAllowed => {
                f.write_str("snapshot isolation is not allowed in this database")
            }
            EngineError::SnapshotTooLate => {
                f.write_str("the transaction did not begin under snapshot isolation")
            }
            EngineError::ReadPastRefused => {
                f.write_str("READPAST needs READ COMMITTED or REPEATABLE READ")
            }
            EngineError::Cancelled => f.write_str("cancelled while waiting for a lock"),
            EngineError::LogFull { reason } => {
                write!(f, "the transaction log is full due to '{reason}'")
            }
            EngineError::LogUnavailable { what } => write!(f, "the log is not available: {what}"),
            EngineError::LogCorrupt { what } => write!(f, "{what}"),
            EngineError::FilegroupFull { filegroup } => {
                write!(f, "filegroup {filegroup} has no space left")
            }
            EngineError::DamagedPage { file, page, what } => {
                write!(f, "page ({file}:{page}) is damaged: {what}")
            }
            EngineError::RedoFailed { what, .. } | EngineError::Io { what } => f.write_str(what),
            EngineError::NoMemory => f.write_str("no memory in the buffer pool"),
            EngineError::RowTooLarge { bytes, bytes_max } => {
                write!(f, "a row of {bytes} bytes is larger than {bytes_max}")
            }
            EngineError::CannotOpen { path, what } => write!(f, "cannot open {path}: {what}"),
            EngineError::InUse { path } => write!(f, "{path} is in use by another process"),
            EngineError::Exists { path } => write!(f, "{path} exists already"),
            EngineError::Doomed => f.write_str("the transaction can only be rolled back"),
            EngineError::NoTransaction => f.write_str("there is no transaction"),
            EngineError::ReadOnly => f.write_str("the database is read-only"),
            EngineError::NoSuchTree => f.write_str("the tree does not exist any more"),
            EngineError::Backup { what, .. } | EngineError::Unavailable { what } => {
                f.write_str(what)
            }
        }
    }
}

impl std::error::Error for EngineError {}

impl EngineError {
    pub(crate) fn backup(number: i32, what: impl Into<String>) -> EngineError {
        EngineError::Backup { number, what: what.into() }
    }
}

impl From<BackupError> for EngineError {
    fn from(e: BackupError) -> Self {
        EngineError::backup(e.number(), e.to_string())
    }
}

impl From<LockError> for EngineError {
    fn from(e: LockError) -> Self {
        match e {
            LockError::Deadlock => EngineError::Deadlock,
            LockError::Timeout => EngineError::LockTimeout,
            LockError::Cancelled => EngineError::Cancelled,
        }
    }
}

impl From<LogError> for EngineError {
    fn from(e: LogError) -> Self {
        match e {
            LogError::LogFull { reason } => EngineError::LogFull { reason },
            LogError::Poisoned { .. } | LogError::Closed => {
                EngineError::LogUnavailable { what: e.to_string() }
            }
            LogError::Corrupt { .. } | LogError::NoRecord { .. } | LogError::NotALog { .. } => {
                EngineError::LogCorrupt { what: e.to_string() }
            }
            LogError::Io { what, .. } => EngineError::Io { what },
        }
    }
}

impl From<PoolError> for EngineError {
    fn from(e: PoolError) -> Self {
        match e {
            PoolError::Checksum { page, .. } => EngineError::DamagedPage {
                file: page.file(),
                page: page.page_no(),
                what: e.to_string(),
            },
            PoolError::Redo { page, .. } => EngineError::RedoFailed {
                file: page.file(),
                page: page.page_no(),
                what: e.to_string(),
            },
            PoolError::NoFrames => EngineError::NoMemory,
            PoolError::Log(e) => e.into(),
            PoolError::OutOfRange(_) | PoolError::Io { .. } | PoolError::Poisoned => {
                EngineError::Io { what: e.to_string() }
            }
        }
    }
}

impl From<StorageError> for EngineError {
    /// `WaitFor` is handled where it occurs and never gets here.
    fn from(e: StorageError) -> Self {
        match e {
            StorageError::Duplicate => EngineError::Duplicate,
            StorageError::WaitFor(xid) => {
                stdx::fatal!("a wait for transaction {xid} was not waited for")
            }
            StorageError::GapGuarded => stdx::fatal!("a locked gap was not asked about"),
            StorageError::Locked => stdx::fatal!("a lock was not asked for"),
            StorageError::Conflict => EngineError::SnapshotConflict,
            StorageError::RowTooLarge { key, row } => {
                EngineError::RowTooLarge { bytes: key + row, bytes_max: 8060 }
            }
            StorageError::FilegroupFull => EngineError::FilegroupFull { filegroup: 0 },
            StorageError::Pool(e) => e.into(),
            StorageError::Log(e) => e.into(),
            StorageError::File(e) => EngineError::Io { what: e.to_string() },
            StorageError::Corrupt { page, what } => EngineError::DamagedPage {
                file: page.file(),
                page: page.page_no(),
                what: what.into(),
            },
        }
    }
}

impl From<RecoveryError> for EngineError {
    fn from(e: RecoveryError) -> Self {
        match e {
            RecoveryError::Log(e) => e.into(),
            RecoveryError::Storage(e) => e.into(),
            RecoveryError::BadRecord { .. } => EngineError::LogCorrupt { what: e.to_string() },
        }
    }
}
