//! What the log can answer instead of "done".

use crate::Lsn;
use std::{fmt, io};

/// Why the log refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogError {
    /// 9002: no space for ordinary work; `reason` is what a DBA reads in `log_reuse_wait_desc`.
    LogFull { reason: &'static str },
    /// A write or sync failed once. Nothing is acknowledged any more; only a restart helps.
    Poisoned { why: String },
    /// A block that must be good is not: `block` is its number, `offset` its place in the file, in bytes.
    Corrupt { block: u64, offset: u64, what: String },
    /// There is no record at this position.
    NoRecord { at: Lsn },
    /// The file is not a log of ours, or of another version.
    NotALog { what: String },
    /// The log has been closed.
    Closed,
    /// The operating system refused (while opening, growing, or reading).
    Io { kind: io::ErrorKind, what: String },
}

impl LogError {
    /// SQL Server's message number.
    pub fn number(&self) -> u32 {
        match self {
            LogError::LogFull { .. } => 9002,
            LogError::Poisoned { .. } | LogError::Closed => 9001,
            LogError::Corrupt { .. } => 9004,
            LogError::NoRecord { .. } => 9003,
            LogError::NotALog { .. } => 5172,
            LogError::Io { .. } => 823,
        }
    }

    pub(crate) fn io(what: &str, e: &io::Error) -> LogError {
        LogError::Io { kind: e.kind(), what: format!("{what}: {e}") }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogError::LogFull { reason } => {
                write!(f, "the transaction log is full due to '{reason}'")
            }
            LogError::Poisoned { why } => {
                write!(f, "the log is not available after a failed write: {why}")
            }
            LogError::Corrupt { block, offset, what } => {
                write!(
                    f,
                    "the log is corrupt at block {block}, offset {offset} of the file: {what}"
                )
            }
            LogError::NoRecord { at } => write!(f, "no log record at {at}"),
            LogError::NotALog { what } => write!(f, "not a log file of this version: {what}"),
            LogError::Closed => f.write_str("the log is closed"),
            LogError::Io { what, .. } => f.write_str(what),
        }
    }
}

impl std::error::Error for LogError {}
