//! A database: its files, log, pages and transactions; made, opened, checkpointed, closed.

use crate::{
    DataFile, DbFiles, DbOptions, DelayedDurability, EngineError, Log, RecoveryModel, Tree, TreeId,
    Txn, TxnOptions,
};
use device::FileSystem;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Figures of a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DatabaseStats {
    pub log_used_bytes: u64,
    pub log_size_bytes: u64,
    pub checkpoints: u64,
    pub checkpoint_pages: u64,
    pub versions: u64,
    /// Bytes of log read and time taken by the recovery at opening, in nanoseconds.
    pub recovered_log_bytes: u64,
    pub recovery_ns: u64,
}

/// One open database.
pub struct Database {}

impl Database {
    /// Makes a database's files and opens it. Fails with [`EngineError::Exists`] if one exists. Suspends.
    pub fn create(
        fs: Arc<dyn FileSystem>,
        files: &DbFiles,
        options: DbOptions,
    ) -> Result<Arc<Database>, EngineError> {
        let _ = (fs, files, options);
        unimplemented!()
    }

    /// Opens a database by its primary file, which knows the others; recovers what a crash left. Suspends.
    pub fn open(
        fs: Arc<dyn FileSystem>,
        primary: &Path,
        options: DbOptions,
    ) -> Result<Arc<Database>, EngineError> {
        let _ = (fs, primary, options);
        unimplemented!()
    }

    /// Checkpoints and closes. No transaction may be active. Suspends.
    pub fn close(&self) -> Result<(), EngineError> {
        unimplemented!()
    }

    /// Removes the files of a closed database (DROP DATABASE).
    pub fn remove(fs: &dyn FileSystem, files: &DbFiles) -> Result<(), EngineError> {
        let _ = (fs, files);
        unimplemented!()
    }

    /// The files as they are recorded in the primary one.
    pub fn files(&self) -> DbFiles {
        unimplemented!()
    }

    /// ALTER DATABASE ADD FILE (and with it a filegroup, when its number is new). Durable at return. Suspends.
    pub fn add_file(&self, file: DataFile) -> Result<(), EngineError> {
        let _ = file;
        unimplemented!()
    }

    /// A transaction object for a session, with a transaction begun.
    pub fn begin(self: &Arc<Self>, options: TxnOptions) -> Txn {
        let _ = options;
        unimplemented!()
    }

    /// A transaction object for a session, idle.
    pub fn txn(self: &Arc<Self>, options: TxnOptions) -> Txn {
        let _ = options;
        unimplemented!()
    }

    /// Name of the `n`-th of the trees that every database is born with (`n < SYSTEM_TREES`).
    pub fn system_tree(&self, n: usize) -> TreeId {
        let _ = n;
        unimplemented!()
    }

    /// A handle to a tree. Cheap after the first time; keep it all the same.
    pub fn tree(self: &Arc<Self>, id: TreeId) -> Tree {
        let _ = id;
        unimplemented!()
    }

    pub fn log(&self) -> &Arc<Log> {
        unimplemented!()
    }

    pub fn delayed_durability(&self) -> DelayedDurability {
        unimplemented!()
    }

    /// ALTER DATABASE SET DELAYED_DURABILITY; remembered in the file. Suspends.
    pub fn set_delayed_durability(&self, option: DelayedDurability) -> Result<(), EngineError> {
        let _ = option;
        unimplemented!()
    }

    pub fn recovery_model(&self) -> RecoveryModel {
        unimplemented!()
    }

    /// ALTER DATABASE SET RECOVERY; remembered in the file. Suspends.
    pub fn set_recovery_model(&self, model: RecoveryModel) -> Result<(), EngineError> {
        let _ = model;
        unimplemented!()
    }

    /// CHECKPOINT: writes dirty pages, moves the point from which recovery starts, frees log. Suspends.
    pub fn checkpoint(&self) -> Result<(), EngineError> {
        unimplemented!()
    }

    /// BACKUP LOG ... TO DISK = 'NUL:': the log up to now needs no keeping for backups.
    pub fn backup_log_nul(&self) -> Result<(), EngineError> {
        unimplemented!()
    }

    /// sp_flush_log: everything committed so far becomes durable.
    pub fn flush_log(&self) -> Result<(), EngineError> {
        unimplemented!()
    }

    /// One round of background work (checkpoint if due, cleaning pages, old versions, ghosts). Returns after how many
    /// nanoseconds the next is due. Suspends.
    pub fn background_step(&self) -> u64 {
        unimplemented!()
    }

    /// Rounds of background work until `stop` is set: the body of a task or thread that the owner starts.
    pub fn run_background(&self, stop: &AtomicBool) {
        let _ = stop;
        unimplemented!()
    }

    pub fn stats(&self) -> DatabaseStats {
        unimplemented!()
    }
}
