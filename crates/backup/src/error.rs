//! What can be wrong with a backup file, with SQL Server's numbers.

use std::{fmt, io};

/// Why a backup file cannot be written or believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackupError {
    /// 3201: the operating system refuses to open it.
    CannotOpen { path: String, what: String },
    /// 3202: writing failed.
    Write { path: String, what: String },
    /// 3203: reading failed.
    Read { path: String, what: String },
    /// 3241: not a backup file, or its first block is damaged.
    NotABackup { path: String, what: String },
    /// 3169: written by a later version.
    LaterVersion { path: String, version: u32 },
    /// 3189: a block is not what was written.
    Damaged { path: String, offset: u64, what: String },
    /// 3256: the set has no end.
    Incomplete { path: String, position: u32 },
    /// 3287: there is no such set.
    NoSuchSet { path: String, position: u32, sets: u32 },
}

impl BackupError {
    /// SQL Server's message number.
    pub fn number(&self) -> i32 {
        match self {
            BackupError::CannotOpen { .. } => 3201,
            BackupError::Write { .. } => 3202,
            BackupError::Read { .. } => 3203,
            BackupError::NotABackup { .. } => 3241,
            BackupError::LaterVersion { .. } => 3169,
            BackupError::Damaged { .. } => 3189,
            BackupError::Incomplete { .. } => 3256,
            BackupError::NoSuchSet { .. } => 3287,
        }
    }

    pub(crate) fn open(path: &str, e: &io::Error) -> BackupError {
        BackupError::CannotOpen { path: path.to_owned(), what: e.to_string() }
    }
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BackupError::CannotOpen { path, what } => {
                write!(f, "Cannot open backup device '{path}'. Operating system error {what}.")
            }
            BackupError::Write { path, what } => write!(f, "Write on \"{path}\" failed: {what}."),
            BackupError::Read { path, what } => write!(f, "Read on \"{path}\" failed: {what}."),
            BackupError::NotABackup { path, what } => write!(
                f,
                "The media family on device '{path}' is incorrectly formed. SQL Server cannot process this media \
                 family ({what})."
            ),
            BackupError::LaterVersion { path, version } => write!(
                f,
                "The backup file '{path}' was written in format {version}, which this version cannot read. Restore \
                 it with the version that wrote it, or a later one."
            ),
            BackupError::Damaged { path, offset, what } => write!(
                f,
                "Damage to the backup set was detected: '{path}', byte {offset}: {what}. Use another copy of the \
                 backup."
            ),
            BackupError::Incomplete { path, position } => write!(
                f,
                "The backup set {position} on device '{path}' was terminated while it was being created and is \
                 incomplete. RESTORE sequence is terminated abnormally."
            ),
            BackupError::NoSuchSet { path, position, sets } => write!(
                f,
                "The file ID {position} on device '{path}' is not there: the device holds {sets} backup sets."
            ),
        }
    }
}

impl std::error::Error for BackupError {}
