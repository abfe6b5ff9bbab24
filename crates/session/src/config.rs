//! What an instance is opened with, and why it may refuse.

use crate::Switches;
use device::FileSystem;
use engine::{EngineError, LogConfig};
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Settings of an instance.
#[derive(Clone)]
pub struct InstanceConfig {
    /// Folder of `master` and of every database whose files are named without a path. Made if it is not there.
    pub data_dir: PathBuf,
    /// Where files live: the operating system's, or simulated.
    pub fs: Arc<dyn FileSystem>,
    /// CPUs that run sessions, one scheduler each; empty: all that this process may use.
    pub cpus: Vec<usize>,
    /// Bytes of each user database's buffer pool (`max server memory` in spirit; memory is touched as it is needed).
    pub buffer_pool_bytes: u64,
    /// So many bytes are kept for rows of memory-optimised tables, touched before they are needed; they take more where that
    /// is used up. 0: some are touched ahead as the tables grow.
    pub table_memory_bytes: u64,
    /// What the process may have in all, where it is to be bounded; see [`runtime::memory`].
    pub memory_bytes: Option<u64>,
    /// What sorts and hash tables of all sessions may hold together, in bytes; one statement has a quarter of it at
    /// most. What does not fit is written to files in `data_dir`/spill.
    pub query_memory_bytes: u64,
    /// How the logs of user databases are laid out; `master` always takes small defaults. How they behave is said by
    /// `switches`.
    pub log: LogConfig,
    /// Classic designs chosen at the start; changed later by ALTER SERVER CONFIGURATION.
    pub switches: Switches,
    /// Trace flags that are on from the start (`-T`), for the whole server.
    pub trace_flags: BTreeSet<i32>,
    /// Nodes of soft-NUMA by hand, the CPUs of each; none: automatic, or as ALTER SERVER CONFIGURATION SET SOFTNUMA has it.
    pub soft_nodes: Vec<Vec<usize>>,
    /// Files of the process that no statement may read or write, beside those that every server keeps to itself.
    pub private_files: Vec<PathBuf>,
    /// Pages of databases are kept in memory, if the process may (`ulimit -l`).
    pub lock_pages: bool,
    /// A checkpoint begins after so many bytes of log.
    pub checkpoint_log_bytes: u64,
    /// What becomes of logins' passwords in time.
    pub password_rules: security::PasswordRules,
}

impl InstanceConfig {
    /// An instance in `data_dir` on `fs`, everything else by default.
    pub fn new(data_dir: impl Into<PathBuf>, fs: Arc<dyn FileSystem>) -> InstanceConfig {
        InstanceConfig {
            data_dir: data_dir.into(),
            fs,
            cpus: Vec::new(),
            buffer_pool_bytes: 4 << 30,
            table_memory_bytes: 0,
            memory_bytes: None,
            query_memory_bytes: 2 << 30,
            log: LogConfig::default(),
            switches: Switches::default(),
            trace_flags: BTreeSet::new(),
            soft_nodes: Vec::new(),
            private_files: Vec::new(),
            lock_pages: false,
            checkpoint_log_bytes: 1 << 30,
            password_rules: security::PasswordRules::default(),
        }
    }

    /// A small one, for trials and tests: pools of 16 MiB, small logs.
    pub fn small(data_dir: impl Into<PathBuf>, fs: Arc<dyn FileSystem>) -> InstanceConfig {
        InstanceConfig {
            buffer_pool_bytes: 16 << 20,
            log: LogConfig::small(),
            ..InstanceConfig::new(data_dir, fs)
        }
    }
}

/// Why an instance does not open. Nothing is left running.
#[derive(Debug)]
pub enum OpenError {
    /// The folder cannot be made, read or written.
    Folder { path: PathBuf, what: String },
    /// Another process has the folder.
    InUse { path: PathBuf },
    /// A database cannot be opened.
    Database { name: String, error: EngineError },
    /// The tables that describe a database do not hold what they must.
    Catalog { name: String, what: String },
    /// The nodes of soft-NUMA that were asked for cannot be.
    SoftNode { what: String },
    /// A switch has a value that this machine, or the other switches, do not allow.
    Switch { what: String },
    /// The schedulers cannot start.
    Schedulers { what: String },
    /// An audit that shuts the server down cannot write.
    Audit { name: String, why: String },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Folder { path, what } => {
                write!(f, "The data folder {} cannot be used: {what}.", path.display())
            }
            OpenError::InUse { path } => write!(
                f,
                "The data folder {} is in use by another process. One process at a time can open it.",
                path.display()
            ),
            OpenError::Database { name, error } => write!(
                f,
                "Msg {}: the database '{name}' cannot be opened: {error}.",
                error.number()
            ),
            OpenError::Catalog { name, what } => {
                write!(f, "The catalog of the database '{name}' cannot be read: {what}.")
            }
            OpenError::SoftNode { what } => write!(f, "Soft-NUMA cannot be as asked for: {what}."),
            OpenError::Switch { what } => f.write_str(what),
            OpenError::Audit { name, why } => write!(
                f,
                "Msg 33210: SQL Server Audit failed to start, and the server is being shut down: the audit '{name}' (ON_FAILURE \
                 = SHUTDOWN) cannot make its file: {why}."
            ),
            OpenError::Schedulers { what } => write!(f, "The schedulers cannot start: {what}."),
        }
    }
}

impl std::error::Error for OpenError {}
