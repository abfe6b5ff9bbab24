//! RESTORE DATABASE and RESTORE LOG: files laid down as a loss of power would have left them.
//!
//! ```text
//! (no files) --restore_database--> restoring --restore_log*--> restoring --Database::recover_restored--> open
//! ```
//! Pages go to their places and log blocks into a new log file at their old positions; recovery does the rest when the
//! database is opened.
//!
//! Invariants:
//! 1. Files of a restore that did not end are not usable: the boot record says so until everything else is durable.
//! 2. The log ends where the last whole restore ended (`LogRestorer::finish`), whatever one that was cut short has
//!    left behind; a restore of the same log can be repeated.
//! 3. STOPAT: the log ends before the first commit that is later.
//! 4. A log may tell how a later build made system trees that a database of an older one lacked; the boot record names
//!    them from then on. Those of them that STOPAT leaves out are made when the database is opened.

use crate::backup::unhex;
use crate::boot::{Boot, DATABASE_VERSION, newer_version};
use crate::open::{
    cannot_open, doublewrite_of, folder_of, lock, make_data_file, open, sync_folders,
};
use crate::{DataFile, DbFiles, DbOptions, EngineError, Lsn};
use backup::{FileFacts, Part, SetEnd, SetHeader, SetKind, SetReader};
use buffer_pool::{PAGE_BYTES, PageBuf, PageId, check_page};
use device::{File, FileSystem, OpenOptions};
use log_manager::{LogBlock, LogRestorer};
use runtime::{clock, task};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use storage::{FileHeader, Store};
use telemetry::WaitType;
use transaction::Envelope;

/// Blocks that the longest log record may begin before the one in which it ends.
const RECORD_BLOCKS: u64 = 18;

/// What to restore and where to.
pub struct RestoreRequest<'a> {
    pub fs: Arc<dyn FileSystem>,
    /// Where each file goes. Of a log backup: those that are not there yet.
    pub place: &'a dyn Fn(&FileFacts) -> PathBuf,
    /// Of the log that is made.
    pub options: &'a DbOptions,
    /// STOPAT, microseconds since 1970, UTC.
    pub stop_at_us: Option<u64>,
    /// Told how much of how much is done, in bytes. May suspend.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// How far a restore went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// Everything was restored.
    AtEnd,
    /// Nothing later than STOPAT was, and there is something later.
    AtTime,
    /// Everything was restored, and STOPAT lies behind it.
    BeforeTime,
}

/// What became of it.
#[derive(Clone, Debug)]
pub struct RestoreReport {
    pub end: SetEnd,
    /// Pages by file number; file 2 is the log, in pages of 8 KiB.
    pub pages: Vec<(u16, u64)>,
    pub stopped: Stopped,
    pub elapsed_ns: u64,
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> EngineError + '_ {
    move |e| EngineError::Io { what: format!("{}: {e}", path.display()) }
}

/// Whether this build knows the version of the database that a set is of (3169). Before anything is overwritten.
pub fn check_version(header: &SetHeader) -> Result<(), EngineError> {
    boot_of(&header.boot).map(drop)
}

fn boot_of(text: &str) -> Result<Boot, EngineError> {
    let bytes = unhex(text).unwrap_or_default();
    if let Some(version) = newer_version(&bytes) {
        return Err(EngineError::backup(
            3169,
            format!(
                "The database was backed up on a server of database version {version}. That version is incompatible with \
                 this server, which supports version {DATABASE_VERSION} and earlier. Either restore the database on a \
                 server that supports the backup, or use a backup that is compatible with this server."
            ),
        ));
    }
    Boot::decode(&bytes, Path::new("")).map_err(|_| {
        EngineError::backup(3241, "The backup set does not say what database it is of.")
    })
}

fn too_early() -> EngineError {
    EngineError::backup(
        4338,
        "The STOPAT clause specifies a point too early to allow this backup set to be restored. Choose a different \
         stop point or use RESTORE DATABASE WITH RECOVERY to recover at the current point.",
    )
}

/// RESTORE DATABASE ... WITH NORECOVERY: makes the files of the set's database. None of them may exist. Suspends.
pub fn restore_database(
    set: &mut SetReader<'_>,
    request: RestoreRequest<'_>,
) -> Result<RestoreReport, EngineError> {
    let RestoreRequest { fs, place, options, stop_at_us, progress } = request;
    let begun = clock::now_ns();
    let header = set.info().header.clone();
    if header.kind != SetKind::Database {
        return Err(EngineError::backup(
            3118,
            "RESTORE can only create a database when restoring a full backup.",
        ));
    }
    let last = set.info().end.clone().unwrap_or_else(|| stdx::fatal!("a set without an end"));
    if stop_at_us.is_some_and(|at| at < last.finished_us) {
        return Err(too_early());
    }
    let mut boot = boot_of(&header.boot)?;
    let data_of = |files: &[FileFacts]| -> Vec<DataFile> {
        let data = files.iter().filter(|f| !f.is_log());
        data.map(|f| DataFile {
            filegroup: f.filegroup,
            file_id: f.file_id,
            path: place(f),
            initial_bytes: f.bytes.max(1),
            growth_bytes: f.growth_bytes,
            max_bytes: f.max_bytes,
        })
        .collect()
    };
    boot.data = data_of(&header.files);
    let logs = header.files.iter().find(|f| f.is_log());
    let (Some(log), Some(primary)) = (logs, boot.data.first().cloned()) else {
        return Err(EngineError::backup(3241, "The backup set names no files."));
    };
    boot.log = place(log);
    let folder = folder_of(&primary.path);
    fs.create_dir_all(&folder).map_err(|e| cannot_open(&folder, &e))?;
    let _lock = lock(&*fs, &primary.path)?;
    for path in boot.data.iter().map(|f| &f.path).chain([&boot.log]) {
        if fs.exists(path).map_err(|e| cannot_open(path, &e))? {
            return Err(EngineError::Exists { path: path.display().to_string() });
        }
    }
    // Copies of another database's pages must not repair this one's.
    let doublewrite = doublewrite_of(&primary.path);
    if fs.exists(&doublewrite).map_err(|e| cannot_open(&doublewrite, &e))? {
        fs.remove(&doublewrite).map_err(|e| cannot_open(&doublewrite, &e))?;
    }
    let mut uuid = [0; 16];
    runtime::random::fill(&mut uuid);
    boot.usable = false;
    boot.history.restoring = true;
    let mut files: Vec<(u16, Arc<dyn File>)> = Vec::new();
    for file in &boot.data {
        let first = if file.file_id == 1 { boot.encode(&folder) } else { Vec::new() };
        files.push((file.file_id, make_data_file(&*fs, file, uuid, first)?));
    }
    let first_lsn = Lsn(header.first_lsn);
    let mut laid = Laying { files, log: None, pages: Vec::new() };
    laid.log = Some(LogRestorer::create(&*fs, &boot.log, &options.log, first_lsn)?);
    let end = laid.all_of(set, progress)?;
    for facts in end.files.iter().filter(|f| !f.is_log()) {
        if !laid.files.iter().any(|(id, _)| *id == facts.file_id) {
            // Added while the backup ran.
            let file = data_of(std::slice::from_ref(facts)).remove(0);
            let made = make_data_file(&*fs, &file, uuid, Vec::new())?;
            laid.files.push((file.file_id, made));
            boot.data.push(file);
        }
        laid.extend(facts)?;
    }
    let log = laid.log.as_mut().unwrap_or_else(|| stdx::fatal!("a restore without a log"));
    log.finish(Lsn(end.last_lsn))?;
    for (_, file) in &laid.files {
        file.sync(WaitType::IoCompletion).map_err(io(file.path()))?;
    }
    sync_folders(&*fs, &DbFiles { data: boot.data.clone(), log: boot.log.clone() })?;
    carry_over(&mut boot, &boot_of(&end.boot)?);
    boot.usable = true;
    boot.scan_from = first_lsn;
    boot.redo_from = Lsn(header.checkpoint_lsn);
    boot.history.log_uuid = log.uuid();
    boot.history.restored_to = Lsn(end.last_lsn);
    boot.history.restored_us = end.finished_us;
    write_boot(&*laid.files[0].1, uuid, &boot, &folder)?;
    let stopped = match stop_at_us {
        Some(_) => Stopped::BeforeTime,
        None => Stopped::AtEnd,
    };
    Ok(RestoreReport { end, pages: laid.pages, stopped, elapsed_ns: clock::now_ns() - begun })
}

/// RESTORE LOG ... WITH NORECOVERY: adds the set's log to a database that is being restored. Suspends.
pub fn restore_log(
    primary: &Path,
    set: &mut SetReader<'_>,
    request: RestoreRequest<'_>,
) -> Result<RestoreReport, EngineError> {
    let RestoreRequest { fs, place, stop_at_us, progress, .. } = request;
    let begun = clock::now_ns();
    let header = set.info().header.clone();
    let _lock = lock(&*fs, primary)?;
    let folder = folder_of(primary);
    let primary_file = open(&*fs, primary, OpenOptions::existing().direct())?;
    let opened = storage::read_header(&*primary_file)?;
    let mut boot = Boot::decode(&opened.boot, primary)?;
    if !boot.usable {
        return Err(EngineError::backup(
            3456,
            "The restore of the database was interrupted. Restore the full backup again.",
        ));
    }
    if !boot.history.restoring {
        return Err(EngineError::backup(
            4306,
            "The preceding restore operation did not specify WITH NORECOVERY or WITH STANDBY. Restart the restore \
             sequence, specifying WITH NORECOVERY or WITH STANDBY for all but the final step.",
        ));
    }
    let last = set.info().end.clone().unwrap_or_else(|| stdx::fatal!("a set without an end"));
    check_order(&boot, &header, &last)?;
    if stop_at_us.is_some_and(|at| at < boot.history.restored_us) {
        return Err(too_early());
    }
    // The files that the log names are there, and known, before the log is.
    let mut laid = Laying { files: Vec::new(), log: None, pages: Vec::new() };
    for facts in last.files.iter().filter(|f| !f.is_log()) {
        let file = match boot.data.iter().find(|f| f.file_id == facts.file_id) {
            Some(known) => open(&*fs, &known.path, OpenOptions::existing().direct())?,
            None => {
                let file = DataFile {
                    filegroup: facts.filegroup,
                    file_id: facts.file_id,
                    path: place(facts),
                    initial_bytes: facts.bytes,
                    growth_bytes: facts.growth_bytes,
                    max_bytes: facts.max_bytes,
                };
                // Left by an attempt that was cut short, before anybody knew of it.
                let there = fs.exists(&file.path).map_err(io(&file.path))?;
                if there && is_ours(&*fs, &file, opened.database_uuid) {
                    fs.remove(&file.path).map_err(io(&file.path))?;
                } else if there {
                    return Err(EngineError::Exists { path: file.path.display().to_string() });
                }
                let made = make_data_file(&*fs, &file, opened.database_uuid, Vec::new())?;
                let folder = folder_of(&file.path);
                fs.sync_dir(&folder).map_err(io(&folder))?;
                boot.data.push(file);
                made
            }
        };
        laid.files.push((facts.file_id, file));
        laid.extend(facts)?;
    }
    carry_over(&mut boot, &boot_of(&last.boot)?);
    write_boot(&*primary_file, opened.database_uuid, &boot, &folder)?;

    let from = boot.history.restored_to;
    let log = LogRestorer::open(&*fs, &boot.log)?;
    if log.uuid() != boot.history.log_uuid || log.end() < from {
        return Err(EngineError::CannotOpen {
            path: boot.log.display().to_string(),
            what: "the log is not the one that was being restored".into(),
        });
    }
    laid.log = Some(log);
    let end = laid.all_from(set, from.block(), progress)?;
    let log = laid.log.as_mut().unwrap_or_else(|| stdx::fatal!("a restore without a log"));
    let mut to = Lsn(end.last_lsn);
    let mut stopped = Stopped::AtEnd;
    if let Some(stop_us) = stop_at_us {
        stopped = if end.finished_us < stop_us { Stopped::BeforeTime } else { Stopped::AtTime };
        if let Some(cut) = first_later(log, from, to, stop_us)? {
            (to, stopped) = (cut, Stopped::AtTime);
        }
    }
    log.finish(to)?;
    boot.history.restored_to = to;
    boot.history.restored_us = match stopped {
        Stopped::AtTime => stop_at_us.unwrap_or(end.finished_us),
        _ => end.finished_us,
    };
    write_boot(&*primary_file, opened.database_uuid, &boot, &folder)?;
    Ok(RestoreReport { end, pages: laid.pages, stopped, elapsed_ns: clock::now_ns() - begun })
}

/// Whether the set is of this database, of this line of its history, and next.
fn check_order(boot: &Boot, header: &SetHeader, end: &SetEnd) -> Result<(), EngineError> {
    if header.kind != SetKind::Log {
        return Err(EngineError::backup(
            3135,
            "The backup set was created by BACKUP DATABASE and cannot be used for this restore operation.",
        ));
    }
    if header.family != stdx::hex(&boot.history.family)
        || header.fork != stdx::hex(&boot.history.fork)
    {
        return Err(EngineError::backup(
            4330,
            "This backup set cannot be applied because it is on a recovery path that is inconsistent with the \
             database. The recovery path is the sequence of data and log backups that have brought the database to a \
             particular recovery point. Find a compatible backup to restore, or restore the rest of the database to \
             match a recovery point within this backup set.",
        ));
    }
    let (first, last, have) = (header.first_lsn, end.last_lsn, boot.history.restored_to.0);
    if first > have {
        return Err(EngineError::backup(
            4305,
            format!(
                "The log in this backup set begins at LSN {first}, which is too recent to apply to the database. An \
                 earlier log backup that includes LSN {have} can be restored."
            ),
        ));
    }
    if last < have || (last == have && first < have) {
        return Err(EngineError::backup(
            4326,
            format!(
                "The log in this backup set terminates at LSN {last}, which is too early to apply to the database. A \
                 more recent log backup that includes LSN {have} can be restored."
            ),
        ));
    }
    Ok(())
}

/// What may have changed in the boot record since the backup that was restored first.
fn carry_over(boot: &mut Boot, later: &Boot) {
    boot.epoch = boot.epoch.max(later.epoch);
    let more = later.system_trees.iter().skip(boot.system_trees.len());
    boot.system_trees.extend(more);
    boot.delayed_durability = later.delayed_durability;
    boot.recovery_model = later.recovery_model;
    boot.read_committed_snapshot = later.read_committed_snapshot;
    boot.allow_snapshot_isolation = later.allow_snapshot_isolation;
    boot.history.target_recovery_s = later.history.target_recovery_s;
}

fn is_ours(fs: &dyn FileSystem, file: &DataFile, uuid: [u8; 16]) -> bool {
    let opened = open(fs, &file.path, OpenOptions::read_only().direct());
    let header = opened.and_then(|f| Ok(storage::read_header(&*f)?));
    header.map_or(true, |h| h.database_uuid == uuid && h.file_id == file.file_id)
}

fn write_boot(
    file: &(dyn File + 'static),
    uuid: [u8; 16],
    boot: &Boot,
    folder: &Path,
) -> Result<(), EngineError> {
    let header = FileHeader {
        database_uuid: uuid,
        file_id: 1,
        filegroup: crate::PRIMARY,
        boot: boot.encode(folder),
    };
    Ok(storage::write_header(file, &header)?)
}

/// Where the first commit later than `stop_us` begins, of those that end above `from`.
fn first_later(
    log: &mut LogRestorer,
    from: Lsn,
    to: Lsn,
    stop_us: u64,
) -> Result<Option<Lsn>, EngineError> {
    let begin = Lsn::of_block(from.block().saturating_sub(RECORD_BLOCKS));
    let mut reader = log.reader(begin, to)?;
    while let Some(record) = reader.next_record()? {
        if record.end <= from {
            continue;
        }
        let Some(envelope) = Envelope::decode(record.payload) else {
            return Err(EngineError::LogCorrupt {
                what: format!("the log record at {} makes no sense", record.start),
            });
        };
        if envelope.kind.commits() && envelope.wall_us > stop_us {
            return Ok(Some(record.start));
        }
    }
    Ok(None)
}

/// Files being written from a set.
struct Laying {
    files: Vec<(u16, Arc<dyn File>)>,
    log: Option<LogRestorer>,
    pages: Vec<(u16, u64)>,
}

impl Laying {
    fn all_of(
        &mut self,
        set: &mut SetReader<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<SetEnd, EngineError> {
        self.all_from(set, 0, progress)
    }

    /// Everything in the set; log blocks from number `block` on.
    fn all_from(
        &mut self,
        set: &mut SetReader<'_>,
        block: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<SetEnd, EngineError> {
        let mut end = None;
        while let Some(part) = set.next_part()? {
            match part {
                Part::Pages { first, bytes } => self.pages(PageId(first), bytes)?,
                Part::Log { first, entries } => {
                    let log =
                        self.log.as_mut().unwrap_or_else(|| stdx::fatal!("a log without a file"));
                    let mut count = 0u64;
                    for (number, entry) in (first..).zip(entries.iter()) {
                        count += 1;
                        if number >= block {
                            let (marks, payload) = (entry.marks, entry.payload);
                            log.append(&LogBlock { number, marks, payload })?;
                        }
                    }
                    self.count(2, count.div_ceil(2));
                }
                Part::End(found) => end = Some(*found),
            }
            let (done, total) = set.progress();
            progress(done, total);
            task::maybe_yield();
        }
        end.ok_or_else(|| EngineError::backup(3256, "The backup set is incomplete."))
    }

    fn count(&mut self, file: u16, n: u64) {
        match self.pages.iter_mut().find(|(id, _)| *id == file) {
            Some((_, count)) => *count += n,
            None => self.pages.push((file, n)),
        }
    }

    fn pages(&mut self, first: PageId, bytes: &[u8]) -> Result<(), EngineError> {
        let Some((_, file)) = self.files.iter().find(|(id, _)| *id == first.file()) else {
            return Err(EngineError::backup(
                3183,
                format!(
                    "RESTORE found page {first} in the backup set, of a file that it does not name."
                ),
            ));
        };
        let mut page = PageBuf::boxed();
        for (i, bytes) in bytes.chunks_exact(PAGE_BYTES).enumerate() {
            let id = PageId(first.0 + i as u64);
            page.bytes_mut().copy_from_slice(bytes);
            if check_page(id, &page).is_err() {
                return Err(EngineError::backup(
                    3183,
                    format!("RESTORE detected an error on page {id} as read from the backup set."),
                ));
            }
        }
        let at = u64::from(first.page_no()) * PAGE_BYTES as u64;
        file.write_all_at(at, bytes, false, WaitType::Backup).map_err(io(file.path()))?;
        self.count(first.file(), (bytes.len() / PAGE_BYTES) as u64);
        Ok(())
    }

    /// Makes a file as long as it was.
    fn extend(&self, facts: &FileFacts) -> Result<(), EngineError> {
        let Some((_, file)) = self.files.iter().find(|(id, _)| *id == facts.file_id) else {
            return Ok(());
        };
        Ok(Store::extend_file(&**file, facts.file_id, facts.bytes)?)
    }
}
