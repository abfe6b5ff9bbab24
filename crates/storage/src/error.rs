//! What can go wrong in the access methods. `Duplicate` and `WaitFor` are answers rather than failures.

use buffer_pool::{PageId, PoolError};
use log_manager::LogError;
use mvcc::Xid;
use std::{fmt, io};

/// An error of this floor.
#[derive(Debug)]
pub enum StorageError {
    /// The key exists (SQL Server's 2627).
    Duplicate,
    /// An unfinished transaction holds the key: wait for it and try again. Nothing is latched.
    WaitFor(Xid),
    /// The key would go into a gap that may be locked: ask, then try again. Nothing is latched.
    GapGuarded,
    /// Somebody has the row locked ([`crate::TxnLog::may_change`]): lock it, then try again. Nothing is latched.
    Locked,
    /// The row changed after the caller's snapshot ([`crate::OnWrite::Conflict`]; SQL Server's 3960).
    Conflict,
    /// Key and row do not fit a page (SQL Server's 511), or the key is longer than keys may be (1946).
    RowTooLarge {
        /// Bytes of the key.
        key: usize,
        /// Bytes of the row.
        row: usize,
    },
    /// No file of the filegroup has or can get a free extent (SQL Server's 1105).
    FilegroupFull,
    /// Reading or writing pages failed.
    Pool(PoolError),
    /// The log refused.
    Log(LogError),
    /// A data file could not be made, grown or its header read.
    File(io::Error),
    /// A page does not hold what the tree says it should (SQL Server's 8928 and kin).
    Corrupt {
        /// Where.
        page: PageId,
        /// What.
        what: &'static str,
    },
}

impl StorageError {
    /// SQL Server's error number; 0 for the answers that never reach a client.
    pub fn number(&self) -> u32 {
        match self {
            StorageError::Duplicate => 2627,
            StorageError::WaitFor(_) | StorageError::GapGuarded | StorageError::Locked => 0,
            StorageError::Conflict => 3960,
            StorageError::RowTooLarge { .. } => 511,
            StorageError::FilegroupFull => 1105,
            StorageError::Pool(e) => e.number(),
            StorageError::Log(_) => 9002,
            StorageError::File(_) => 5149,
            StorageError::Corrupt { .. } => 8928,
        }
    }
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorageError::Duplicate => f.write_str("the key exists"),
            StorageError::GapGuarded => f.write_str("the gap may be locked"),
            StorageError::Locked => f.write_str("the row is locked"),
            StorageError::WaitFor(xid) => write!(f, "the key is held by transaction {xid}"),
            StorageError::Conflict => f.write_str("the row changed after the snapshot"),
            StorageError::RowTooLarge { key, row } => {
                write!(f, "a key of {key} bytes with a row of {row} bytes does not fit a page")
            }
            StorageError::FilegroupFull => f.write_str("the filegroup is full"),
            StorageError::Pool(e) => e.fmt(f),
            StorageError::Log(e) => e.fmt(f),
            StorageError::File(e) => write!(f, "data file: {e}"),
            StorageError::Corrupt { page, what } => write!(f, "page {page}: {what}"),
        }
    }
}

impl std::error::Error for StorageError {}

impl From<PoolError> for StorageError {
    fn from(e: PoolError) -> Self {
        StorageError::Pool(e)
    }
}

impl From<LogError> for StorageError {
    fn from(e: LogError) -> Self {
        StorageError::Log(e)
    }
}
