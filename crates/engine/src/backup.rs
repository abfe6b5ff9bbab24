//! BACKUP DATABASE and BACKUP LOG, while everybody goes on working.
//!
//! A database backup is fuzzy: after a checkpoint it copies the pages in use as it meets them, each a whole and verified
//! one of some moment, and then the log from where that checkpoint would let recovery begin up to now. Restoring lays
//! both down, and recovery makes them the state at the log's end, exactly as after a loss of power. Pages that come
//! into use meanwhile need not be copied, since the log makes them anew.
//!
//! Invariants:
//! 1. `backup_needs` holds the log from the checkpoint on until the log has been copied.
//! 2. The log's end is determined after the last page was copied, and is durable: no page is ahead of it.
//! 3. `backed_up` moves only when the set that holds the log is durable.

use crate::boot::Boot;
use crate::{Database, EngineError, Lsn, RecoveryModel};
use backup::{FileFacts, SetEnd, SetHeader, SetKind, Writer};
use buffer_pool::{PAGE_BYTES, PageBuf, PageId, check_page};
use runtime::{clock, task};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::*;
use stdx::{AlignedBuf, hex};
use storage::{EXTENT, StoreFile, UsedExtent};
use telemetry::WaitType;

/// Extents read at a time.
const EXTENTS_AT_ONCE: usize = 16;
const EXTENT_BYTES: usize = EXTENT as usize * PAGE_BYTES;

/// What to back up, and where to.
pub struct BackupRequest<'a> {
    /// None: into nothing.
    pub path: Option<PathBuf>,
    /// In place of the sets that the file holds.
    pub init: bool,
    /// Names, options, and what the instance knows of the files. LSNs, sizes, times and identities are filled in here.
    pub header: SetHeader,
    /// Told now and then how much of about how much is done, in bytes. May suspend.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// What became of it.
#[derive(Clone, Debug)]
pub struct BackupReport {
    pub header: SetHeader,
    pub end: SetEnd,
    /// Which set of its file it is, from 1.
    pub position: u32,
    /// Pages by file number; file 2 is the log, in pages of 8 KiB.
    pub pages: Vec<(u16, u64)>,
    pub elapsed_ns: u64,
}

/// Lets the log go again however a backup ends.
struct Needs<'a>(&'a Database);

impl Drop for Needs<'_> {
    fn drop(&mut self) {
        self.0.backup_needs.store(u64::MAX, Release);
    }
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| (c as char).to_digit(16).map(|d| d as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

impl Database {
    /// BACKUP DATABASE or BACKUP LOG, as the header's kind says. The set is durable when this returns. Suspends.
    pub fn backup(&self, request: BackupRequest<'_>) -> Result<BackupReport, EngineError> {
        self.check()?;
        // What pages lack is in memory or in the log, not in the files.
        self.finish_recovery()?;
        let _one = self.backing_up.lock(WaitType::Backup);
        let begun = clock::now_ns();
        let mut writer = match &request.path {
            None => Writer::nul(),
            Some(path) => Writer::create(&self.fs, path, request.init)?,
        };
        let mut report = match request.header.kind {
            SetKind::Database => self.backup_pages(request, &mut writer)?,
            SetKind::Log => self.backup_log(request, &mut writer)?,
        };
        self.truncate_log();
        report.elapsed_ns = clock::now_ns() - begun;
        Ok(report)
    }

    fn backup_pages(
        &self,
        request: BackupRequest<'_>,
        writer: &mut Writer,
    ) -> Result<BackupReport, EngineError> {
        let BackupRequest { mut header, progress, .. } = request;
        self.checkpoint()?;
        let boot = {
            // Under the lock that truncation reads the boot record under: what it lets go is below.
            let boot = self.boot.lock();
            self.backup_needs.store(boot.scan_from.0, Release);
            boot.clone()
        };
        let needs = Needs(self);
        self.fill(&mut header, &boot)?;
        header.first_lsn = boot.scan_from.0;
        header.checkpoint_lsn = boot.redo_from.0;
        writer.begin(&header)?;
        let files = self.store.store_files();
        let mut extents = Vec::new();
        for file in &files {
            extents.push(self.store.used_extents(file)?);
        }
        let all: usize = extents.iter().map(Vec::len).sum();
        let log_bytes = self.shared.log.used_bytes();
        let total = (all * EXTENT_BYTES) as u64 + log_bytes;
        let mut pages = Vec::new();
        let mut done = 0;
        for (file, extents) in files.iter().zip(&extents) {
            let before = writer.pages();
            for run in runs(extents) {
                self.copy_extents(file, run, writer)?;
                done += (run.len() * EXTENT_BYTES) as u64;
                progress(done, total);
                task::maybe_yield();
                self.check()?;
            }
            pages.push((file.id, writer.pages() - before));
        }
        self.shared.log.flush()?;
        let end = self.shared.log.durable();
        // Whatever is below `end` was committed before this moment.
        let finished_us = clock::unix_ns() / 1000;
        pages.push((
            2,
            self.copy_log(boot.scan_from, end, writer, &mut |n| {
                progress((done + n).min(total), total);
            })?,
        ));
        let end = self.end_set(&header, writer, end, finished_us)?;
        drop(needs);
        let keeps = boot.recovery_model != RecoveryModel::Simple;
        if !header.copy_only {
            self.change_boot(|boot| {
                if keeps && boot.recovery_model != RecoveryModel::Simple && boot.backed_up.is_none()
                {
                    boot.backed_up = Lsn(end.last_lsn);
                }
                boot.history.last_full = Lsn(header.first_lsn);
            })?;
        }
        progress(total, total);
        Ok(BackupReport { header, end, position: writer.position(), pages, elapsed_ns: 0 })
    }

    fn backup_log(
        &self,
        request: BackupRequest<'_>,
        writer: &mut Writer,
    ) -> Result<BackupReport, EngineError> {
        let BackupRequest { mut header, progress, .. } = request;
        let boot = self.boot.lock().clone();
        if boot.recovery_model == RecoveryModel::Simple {
            return Err(EngineError::backup(
                4208,
                "The statement BACKUP LOG is not allowed while the recovery model is SIMPLE. Use BACKUP DATABASE or \
                 change the recovery model using ALTER DATABASE.",
            ));
        }
        if boot.backed_up.is_none() {
            return Err(EngineError::backup(
                4214,
                "BACKUP LOG cannot be performed because there is no current database backup.",
            ));
        }
        self.fill(&mut header, &boot)?;
        header.first_lsn = boot.backed_up.0;
        header.checkpoint_lsn = boot.redo_from.0;
        writer.begin(&header)?;
        self.shared.log.flush()?;
        let end = self.shared.log.durable().max(boot.backed_up);
        let finished_us = clock::unix_ns() / 1000;
        let total = end.0 - boot.backed_up.0;
        let copied =
            self.copy_log(boot.backed_up, end, writer, &mut |n| progress(n.min(total), total))?;
        let end = self.end_set(&header, writer, end, finished_us)?;
        if !header.copy_only {
            self.change_boot(|boot| {
                // Unless the model was changed meanwhile, and with it the chain ended.
                if boot.backed_up.0 == header.first_lsn {
                    boot.backed_up = Lsn(end.last_lsn);
                }
            })?;
        }
        progress(total, total);
        let (position, pages) = (writer.position(), vec![(2, copied)]);
        Ok(BackupReport { header, end, position, pages, elapsed_ns: 0 })
    }

    /// What the engine knows of a set at its beginning.
    fn fill(&self, header: &mut SetHeader, boot: &Boot) -> Result<(), EngineError> {
        let mut id = [0; 16];
        runtime::random::fill(&mut id);
        header.set_id = hex(&id);
        header.started_us = clock::unix_ns() / 1000;
        header.family = hex(&boot.history.family);
        header.fork = hex(&boot.history.fork);
        header.recovery_model = boot.recovery_model.name().to_owned();
        header.database_backup_lsn = boot.history.last_full.0;
        header.boot = hex(&boot.encode(Path::new("")));
        header.files = self.facts(&header.files, boot)?;
        Ok(())
    }

    /// Sizes and places of the files as they are; names as `told`.
    fn facts(&self, told: &[FileFacts], boot: &Boot) -> Result<Vec<FileFacts>, EngineError> {
        let name_of = |id: u16| told.iter().find(|f| f.file_id == id);
        let lengths = self.store.store_files();
        let mut all = Vec::new();
        for file in &boot.data {
            let length = lengths.iter().find(|f| f.id == file.file_id).map(|f| f.file.len());
            let bytes = length.transpose().map_err(|e| EngineError::Io { what: e.to_string() })?;
            let told = name_of(file.file_id);
            all.push(FileFacts {
                file_id: file.file_id,
                filegroup: file.filegroup,
                filegroup_name: told
                    .map_or_else(|| format!("FG{}", file.filegroup), |t| t.filegroup_name.clone()),
                filegroup_is_default: told.is_some_and(|t| t.filegroup_is_default),
                logical_name: told
                    .map_or_else(|| format!("file{}", file.file_id), |t| t.logical_name.clone()),
                path: file.path.display().to_string(),
                bytes: bytes.unwrap_or(file.initial_bytes),
                initial_bytes: file.initial_bytes,
                growth_bytes: file.growth_bytes,
                max_bytes: file.max_bytes,
            });
        }
        let told = name_of(2);
        let bytes = self.shared.log.size_bytes();
        all.push(FileFacts {
            file_id: 2,
            filegroup: 0,
            filegroup_name: String::new(),
            filegroup_is_default: false,
            logical_name: told.map_or_else(|| "log".into(), |t| t.logical_name.clone()),
            path: boot.log.display().to_string(),
            bytes,
            initial_bytes: bytes,
            growth_bytes: 0,
            max_bytes: told.and_then(|t| t.max_bytes),
        });
        Ok(all)
    }

    fn end_set(
        &self,
        header: &SetHeader,
        writer: &mut Writer,
        end: Lsn,
        finished_us: u64,
    ) -> Result<SetEnd, EngineError> {
        // After the log's end is known: every file and every extent that the log names is in here.
        let boot = self.boot.lock().clone();
        let end = SetEnd {
            last_lsn: end.0,
            finished_us,
            pages: 0,
            blocks: 0,
            raw_bytes: 0,
            files: self.facts(&header.files, &boot)?,
            boot: hex(&boot.encode(Path::new(""))),
        };
        Ok(writer.end(end)?)
    }

    /// Copies neighbouring extents, page by page, each verified. What is just being written in place, and so may be
    /// torn, comes from memory.
    fn copy_extents(
        &self,
        file: &StoreFile,
        run: &[UsedExtent],
        writer: &mut Writer,
    ) -> Result<(), EngineError> {
        let first = run[0].first;
        let at = u64::from(first.page_no()) * PAGE_BYTES as u64;
        let mut bytes = AlignedBuf::zeroed(run.len() * EXTENT_BYTES);
        let read = file.file.read_exact_at(at, &mut bytes, WaitType::Backup);
        // Shorter than its map says: the pages behind were never written.
        let there = read.is_ok();
        if let Err(e) = read
            && e.kind() != std::io::ErrorKind::UnexpectedEof
        {
            return Err(EngineError::Io { what: format!("{}: {e}", file.file.path().display()) });
        }
        let mut page = PageBuf::boxed();
        for i in 0..run.len() as u32 * EXTENT {
            let id = PageId(first.0 + u64::from(i));
            let extent = &run[(i / EXTENT) as usize];
            if extent.is_system() && id != extent.map_page() {
                continue;
            }
            let from = i as usize * PAGE_BYTES;
            page.bytes_mut().copy_from_slice(&bytes[from..from + PAGE_BYTES]);
            if !there || check_page(id, &page).is_err() {
                use buffer_pool::{DamageKind, PoolError};
                match self.pool.copy_page(id, &mut page) {
                    Ok(()) => page.seal(),
                    Err(PoolError::Checksum { kind: DamageKind::NeverWritten, .. }) => continue,
                    Err(PoolError::Checksum { .. }) => {
                        return Err(EngineError::backup(
                            3043,
                            format!(
                                "BACKUP detected an error on page {id} in file '{}'. Run DBCC CHECKDB, and restore \
                                 from an earlier backup.",
                                file.file.path().display()
                            ),
                        ));
                    }
                    Err(e) => return Err(e.into()),
                }
            }
            writer.page(id.0, page.bytes())?;
        }
        Ok(())
    }

    /// Copies log blocks; how many pages of 8 KiB they are.
    fn copy_log(
        &self,
        from: Lsn,
        to: Lsn,
        writer: &mut Writer,
        progress: &mut dyn FnMut(u64),
    ) -> Result<u64, EngineError> {
        let mut blocks = self.shared.log.block_reader(from, to);
        let mut count = 0u64;
        while let Some(block) = blocks.next_block()? {
            writer.log_block(block.number, block.marks, block.payload)?;
            count += 1;
            if count.is_multiple_of(256) {
                progress(count * 4096);
                task::maybe_yield();
            }
        }
        Ok(count.div_ceil(2))
    }
}

/// Neighbouring extents, a few at a time.
fn runs(extents: &[UsedExtent]) -> impl Iterator<Item = &[UsedExtent]> {
    let neighbours = |a: &UsedExtent, b: &UsedExtent| b.first.0 == a.first.0 + u64::from(EXTENT);
    extents.chunk_by(neighbours).flat_map(|run| run.chunks(EXTENTS_AT_ONCE))
}
