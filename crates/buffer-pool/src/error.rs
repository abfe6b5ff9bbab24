//! What can go wrong between a page and its file.

use crate::PageId;
use log_manager::LogError;
use std::{fmt, io};

/// How a page that was read is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DamageKind {
    /// The checksum does not fit the bytes.
    Checksum,
    /// The checksum fits, but the page says it is another one.
    Misplaced,
    /// All zeros: the page was never written.
    NeverWritten,
}

/// An error of the buffer pool.
#[derive(Debug)]
pub enum PoolError {
    /// The page was read but is not what was written (SQL Server's 824).
    Checksum {
        /// The page asked for.
        page: PageId,
        /// What is wrong with it.
        kind: DamageKind,
    },
    /// The operating system refused to read or write (SQL Server's 823).
    Io {
        /// The page, or the first of several.
        page: PageId,
        /// "read", "write", "sync", or "redo": its log could not be read.
        action: &'static str,
        /// What it said.
        error: io::Error,
    },
    /// Every frame is dirty and cannot be written, or is latched: no room (SQL Server's 802).
    NoFrames,
    /// The page is in a file that is not registered, or beyond its end.
    OutOfRange(PageId),
    /// A page could not be written because its log records could not be hardened, or the pool refuses work after a
    /// failed sync.
    Log(LogError),
    /// A page could not be brought up to date from the log (SQL Server's 3456).
    Redo {
        /// The page.
        page: PageId,
        /// Why.
        what: String,
    },
    /// An earlier write-back failed; what is on disk is unknown, so the pool writes nothing more.
    Poisoned,
}

impl PoolError {
    /// SQL Server's error number.
    pub fn number(&self) -> u32 {
        match self {
            PoolError::Checksum { .. } => 824,
            PoolError::Io { .. } | PoolError::Poisoned => 823,
            PoolError::NoFrames => 802,
            PoolError::OutOfRange(_) => 605,
            PoolError::Log(_) => 9001,
            PoolError::Redo { .. } => 3456,
        }
    }
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolError::Checksum { page, kind } => {
                let what = match kind {
                    DamageKind::Checksum => "incorrect checksum",
                    DamageKind::Misplaced => "incorrect page id",
                    DamageKind::NeverWritten => "a page that was never written",
                };
                write!(f, "logical consistency error on page {page}: {what}")
            }
            PoolError::Io { page, action, error } => {
                write!(f, "{action} of page {page} failed: {error}")
            }
            PoolError::NoFrames => f.write_str("no frame of the buffer pool could be freed"),
            PoolError::OutOfRange(page) => {
                write!(f, "page {page} is outside of the database's files")
            }
            PoolError::Log(e) => write!(f, "the log could not be hardened before its pages: {e}"),
            PoolError::Redo { page, what } => {
                write!(f, "could not redo the log of page {page}: {what}")
            }
            PoolError::Poisoned => {
                f.write_str("an earlier write of pages failed; no more are written")
            }
        }
    }
}

impl std::error::Error for PoolError {}

impl From<LogError> for PoolError {
    fn from(e: LogError) -> Self {
        PoolError::Log(e)
    }
}
