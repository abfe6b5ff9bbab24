//! What a set says of itself: at its beginning, and what only its end can say.
//!
//! Both are JSON texts in checked blocks, so that later versions may add fields (with a default) and earlier sets stay
//! readable. LSNs are positions in the database's log; times are microseconds since 1970, UTC.

use serde::{Deserialize, Serialize};

/// What a set holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SetKind {
    /// All pages, and the log that makes them one state.
    Database,
    /// The log since the last log backup.
    Log,
}

/// One file of the database.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileFacts {
    /// 1 the primary data file, 2 the log.
    pub file_id: u16,
    /// Of data files, from 1; 0 for the log.
    pub filegroup: u16,
    pub filegroup_name: String,
    pub filegroup_is_default: bool,
    pub logical_name: String,
    /// Where it was.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    pub initial_bytes: u64,
    pub growth_bytes: u64,
    /// None: no bound.
    pub max_bytes: Option<u64>,
}

impl FileFacts {
    /// Whether it is the log.
    pub fn is_log(&self) -> bool {
        self.file_id == 2
    }
}

/// What is known when a set begins.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SetHeader {
    pub kind: SetKind,
    /// Identity of the set, 32 hexadecimal digits.
    pub set_id: String,
    /// WITH NAME, WITH DESCRIPTION.
    pub name: Option<String>,
    pub description: Option<String>,
    pub database: String,
    pub server: String,
    pub user: String,
    pub copy_only: bool,
    pub compressed: bool,
    pub started_us: u64,
    /// When the database was made, ns since 1970.
    pub created_unix_ns: u64,
    /// Whose pages these are: the same for every copy of a database.
    pub family: String,
    /// Which line of history: a new one begins when a restored database is recovered.
    pub fork: String,
    /// SIMPLE, FULL or BULK_LOGGED.
    pub recovery_model: String,
    /// Where the log in this set begins.
    pub first_lsn: u64,
    /// Of a database backup: no page in it lacks a record below.
    pub checkpoint_lsn: u64,
    /// Where the last full backup's log began, if there was one.
    pub database_backup_lsn: u64,
    pub files: Vec<FileFacts>,
    /// What the engine must know to go on with the database, as the engine wrote it (hexadecimal).
    pub boot: String,
    /// Options of the database by name, as the instance keeps them.
    #[serde(default)]
    pub options: Vec<(String, String)>,
}

impl SetHeader {
    /// What whoever asks for the backup says; the rest is the engine's, which fills it in.
    pub fn new(kind: SetKind, database: impl Into<String>) -> SetHeader {
        SetHeader {
            kind,
            set_id: String::new(),
            name: None,
            description: None,
            database: database.into(),
            server: String::new(),
            user: String::new(),
            copy_only: false,
            compressed: false,
            started_us: 0,
            created_unix_ns: 0,
            family: String::new(),
            fork: String::new(),
            recovery_model: String::new(),
            first_lsn: 0,
            checkpoint_lsn: 0,
            database_backup_lsn: 0,
            files: Vec::new(),
            boot: String::new(),
            options: Vec::new(),
        }
    }
}

/// What is known when a set ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SetEnd {
    /// Where the log in this set ends.
    pub last_lsn: u64,
    pub finished_us: u64,
    /// Pages in the set.
    pub pages: u64,
    /// Blocks of the set, this one not counted.
    pub blocks: u64,
    /// Bytes before compression.
    pub raw_bytes: u64,
    /// The database's files when the set ended.
    pub files: Vec<FileFacts>,
    /// As in the header, at the end.
    pub boot: String,
}
