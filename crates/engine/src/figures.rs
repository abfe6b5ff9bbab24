//! What a database tells of its files, pages and log, for the statistics views.

use crate::{Database, EngineError, FileSpace, Lsn, RecoveryModel};
use buffer_pool::PoolStats;
use device::FileStats;
use log_manager::{LogStats, VlfInfo, Writer, WriterPlace};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

/// Number of the log file, as in `sys.database_files`.
pub const LOG_FILE_ID: u16 = 2;

/// A file, and what was done with it since the database was opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileFigures {
    pub file_id: u16,
    pub path: PathBuf,
    pub size_bytes: u64,
    pub stats: FileStats,
}

/// What a log is about: `sys.dm_db_log_stats`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogFigures {
    pub recovery_model: RecoveryModel,
    pub stats: LogStats,
    pub vlfs: Vec<VlfInfo>,
    pub size_bytes: u64,
    pub used_bytes: u64,
    /// The log's tail when the last checkpoint began.
    pub checkpoint: Lsn,
    /// Where recovery would begin.
    pub recovery: Lsn,
    /// Up to here a log backup has been taken; of the SIMPLE model nothing is said.
    pub backed_up: Option<Lsn>,
    /// Why the oldest part is not used again: `log_reuse_wait_desc` of sys.databases.
    pub reuse_wait: &'static str,
    pub writer: Writer,
    /// Who wrote last.
    pub writer_place: Option<WriterPlace>,
}

impl Database {
    /// Its data files and its log, by number. (The double-write file beside the primary one is not listed.)
    pub fn file_figures(&self) -> Vec<FileFigures> {
        let log = (LOG_FILE_ID, self.shared.log.file().clone());
        let mut files = self.pool.files();
        files.push(log);
        files.sort_by_key(|(id, _)| *id);
        let figures = files.into_iter().map(|(file_id, file)| FileFigures {
            file_id,
            path: file.path().to_path_buf(),
            size_bytes: file.len().unwrap_or(0),
            stats: file.stats(),
        });
        figures.collect()
    }

    /// How full a data file is; none for the log, and what is no file of it. Suspends.
    pub fn file_space(&self, file_id: u16) -> Result<Option<FileSpace>, EngineError> {
        Ok(self.store.file_space(file_id)?)
    }

    /// Of its buffer pool. Cheap.
    pub fn pool_stats(&self) -> PoolStats {
        self.pool.stats()
    }

    /// Of its log.
    pub fn log_figures(&self) -> LogFigures {
        let log = &self.shared.log;
        let (recovery_model, backed_up, recovery) = {
            let boot = self.boot.lock();
            (boot.recovery_model, boot.backed_up, boot.scan_from)
        };
        LogFigures {
            recovery_model,
            stats: log.stats(),
            vlfs: log.vlfs(),
            size_bytes: log.size_bytes(),
            used_bytes: log.used_bytes(),
            checkpoint: Lsn(self.checkpointed.load(Relaxed)),
            recovery,
            backed_up: (recovery_model != RecoveryModel::Simple).then_some(backed_up),
            reuse_wait: self.log_reuse_wait().1,
            writer: log.writer(),
            writer_place: log.writer_place(),
        }
    }
}
