//! Making, opening and closing a database.
//!
//! Opening: lock; boot record; torn pages repaired; log analysed, which finds its end. With little to redo, pages are then
//! brought up to date, losers undone, drops carried out and a checkpoint taken before anybody gets the database; with
//! more, all of that goes on behind its users (`recovering.rs`). The new epoch of transaction ids begins after analysis,
//! which has seen the last one. A crash at any point starts over.

use crate::boot::{Boot, History};
use crate::{DataFile, Database, DbFiles, DbOptions, EngineError, SYSTEM_TREES};
use buffer_pool::{BufferPool, PageBuf, PageId, PageRedo, PoolConfig, PoolError};
use device::{File, FileSystem, LockGuard, OpenOptions};
use log_manager::{Harden, Lease, Log, LogConfig, Lsn};
use recovery::{Pending, RecoveryError, Redo};
use runtime::clock;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::*;
use storage::{FileHeader, StorageError, Store};
use transaction::{Kind, LogOfStore, Shared, TxnContext};

/// Unfinished transactions that may have ids in one slot.
const RING_LEN: usize = 8192;
/// The log's stream begins here, so that no record has position 0.
const LOG_START: Lsn = Lsn::of_block(1);

impl Database {
    /// Makes a database's files and opens it. Fails with [`EngineError::Exists`] if one exists. Suspends.
    pub fn create(
        fs: Arc<dyn FileSystem>,
        files: &DbFiles,
        options: DbOptions,
    ) -> Result<Arc<Database>, EngineError> {
        let primary = primary_of(files)?;
        let folder = folder_of(&primary.path);
        fs.create_dir_all(&folder).map_err(|e| cannot_open(&folder, &e))?;
        let lock = lock(&*fs, &primary.path)?;
        for path in files.data.iter().map(|f| &f.path).chain([&files.log]) {
            if fs.exists(path).map_err(|e| cannot_open(path, &e))? {
                return Err(EngineError::Exists { path: path.display().to_string() });
            }
        }
        let mut uuid = [0; 16];
        runtime::random::fill(&mut uuid);
        let mut boot = Boot {
            usable: false,
            delayed_durability: options.delayed_durability,
            recovery_model: options.recovery_model,
            read_committed_snapshot: options.read_committed_snapshot,
            allow_snapshot_isolation: options.allow_snapshot_isolation,
            epoch: 1,
            scan_from: LOG_START,
            redo_from: LOG_START,
            backed_up: Lsn::NONE,
            history: History { family: uuid, fork: uuid, ..History::default() },
            system_trees: Vec::new(),
            data: files.data.clone(),
            log: files.log.clone(),
        };
        let mut data = Vec::new();
        for file in &files.data {
            let boot = if file.file_id == 1 { boot.encode(&folder) } else { Vec::new() };
            data.push(make_data_file(&*fs, file, uuid, boot)?);
        }
        let doublewrite =
            open(&*fs, &doublewrite_of(&primary.path), OpenOptions::create().direct())?;
        let log = Log::create(&*fs, &files.log, log_config(&options), LOG_START)?;
        boot.history.log_uuid = log.uuid();
        sync_folders(&*fs, files)?;
        let store = make_store(&log, doublewrite, &options)?;
        for (file, opened) in files.data.iter().zip(&data) {
            store.add_file(file.file_id, file.filegroup, opened.clone(), file.max_bytes)?;
        }
        let shared = Arc::new(Shared::new(log, 1, RING_LEN));
        let primary_file = data[0].clone();
        let path = primary.path.clone();
        let bytes = checkpoint_bytes(&options);
        let db = Database::assemble(fs, path, primary_file, uuid, store, shared, boot, bytes, lock);
        let mut trees = Vec::new();
        for _ in 0..SYSTEM_TREES {
            trees.push(db.store.create_tree(crate::PRIMARY)?.id().0.0);
        }
        db.boot.lock().system_trees = trees;
        // Usable once the trees are on disk: the same write says so and where recovery begins.
        db.boot.lock().usable = true;
        db.checkpoint()?;
        Ok(db)
    }

    /// Opens a database by its primary file, which knows the others; recovers what a crash left. Suspends.
    pub fn open(
        fs: Arc<dyn FileSystem>,
        primary: &Path,
        options: DbOptions,
    ) -> Result<Arc<Database>, EngineError> {
        Self::open_as(fs, primary, options, false)
    }

    /// RESTORE ... WITH RECOVERY: recovers a database that was being restored; nothing more can be restored into it.
    /// One that was recovered already opens as ever. Suspends.
    pub fn recover_restored(
        fs: Arc<dyn FileSystem>,
        primary: &Path,
        options: DbOptions,
    ) -> Result<Arc<Database>, EngineError> {
        Self::open_as(fs, primary, options, true)
    }

    fn open_as(
        fs: Arc<dyn FileSystem>,
        primary: &Path,
        options: DbOptions,
        restored: bool,
    ) -> Result<Arc<Database>, EngineError> {
        let begun = clock::now_ns();
        if !fs.exists(primary).map_err(|e| cannot_open(primary, &e))? {
            return Err(cannot_open(primary, &io::Error::from(io::ErrorKind::NotFound)));
        }
        let lock = lock(&*fs, primary)?;
        let primary_file = open(&*fs, primary, OpenOptions::existing().direct())?;
        let header = storage::read_header(&*primary_file)?;
        let mut boot = Boot::decode(&header.boot, primary)?;
        if !boot.usable {
            return Err(EngineError::CannotOpen {
                path: primary.display().to_string(),
                what: "the database was not made completely".into(),
            });
        }
        if boot.history.restoring {
            if !restored {
                return Err(EngineError::backup(
                    927,
                    "The database cannot be opened. It is in the middle of a restore.",
                ));
            }
            // Its history goes on by itself from here, and log is kept from its next full backup on.
            boot.history.restoring = false;
            boot.backed_up = Lsn::NONE;
            runtime::random::fill(&mut boot.history.fork);
        }
        if boot.history.family == [0; 16] {
            boot.history.family = header.database_uuid;
            boot.history.fork = header.database_uuid;
        }
        let mut data = vec![(1, primary_file.clone())];
        for file in boot.data.iter().filter(|f| f.file_id != 1) {
            let opened = open(&*fs, &file.path, OpenOptions::existing().direct())?;
            let theirs = storage::read_header(&*opened)?;
            if theirs.database_uuid != header.database_uuid || theirs.file_id != file.file_id {
                return Err(EngineError::CannotOpen {
                    path: file.path.display().to_string(),
                    what: "the file belongs to another database".into(),
                });
            }
            data.push((file.file_id, opened));
        }
        let doublewrite = open(&*fs, &doublewrite_of(primary), OpenOptions::create().direct())?;
        buffer_pool::repair_torn(&doublewrite, &data)?;
        let log_uuid = log_manager::log_uuid(&*fs, &boot.log)?;
        if boot.history.log_uuid != [0; 16] && boot.history.log_uuid != log_uuid {
            return Err(EngineError::CannotOpen {
                path: boot.log.display().to_string(),
                what: "the log belongs to another database".into(),
            });
        }
        boot.history.log_uuid = log_uuid;
        // The log is read once: what it says and where it ends come of the same pass.
        let config = log_config(&options);
        let mut search = Log::search(&*fs, &boot.log, &config, boot.scan_from)?;
        let from = search.reader().position();
        let mut pass = recovery::Pass::new(from, boot.redo_from, options.redo_list_bytes);
        let mut full = pass.run(search.reader())?;
        let (log, mut reader) = search.open(&config)?;
        let store = make_store(&log, doublewrite, &options)?;
        for file in &boot.data {
            let (_, opened) =
                data.iter().find(|(id, _)| *id == file.file_id).expect("opened above");
            store.add_file(file.file_id, file.filegroup, opened.clone(), file.max_bytes)?;
        }
        let mut unread = Vec::new();
        let tasks = options.recovery_tasks;
        while let Some(pending) = full {
            drain(&log, &store, pending, &mut unread)?;
            full = pass.run(&mut reader)?;
        }
        let (mut analysis, pending) = pass.finish();
        let won = match &options.decided {
            Some(decided) => analysis.take_decided(&**decided),
            None => Vec::new(),
        };
        drop(reader);
        let redo = Redo::new(log.clone(), pending, tasks);
        store.pool().set_redo(Some(redo.clone()));
        for page in unread {
            // No record made it anew, and no redo will look at it again.
            let damaged = store.pool().copy_page(page, &mut PageBuf::boxed());
            if let Err(e) = damaged
                && store.owner_of(page)?.is_some()
            {
                return Err(e.into());
            }
        }
        let analysis_ns = clock::now_ns() - begun;
        boot.epoch = boot.epoch.max(analysis.epoch) + 1;
        let epoch = u16::try_from(boot.epoch).ok().filter(|e| *e < 1 << 14).ok_or_else(|| {
            EngineError::Unavailable { what: "the database has been opened too often".into() }
        })?;
        let shared = Arc::new(Shared::new(log, epoch, RING_LEN));
        let bytes = checkpoint_bytes(&options);
        let path = primary.to_path_buf();
        let db = Database::assemble(
            fs,
            path,
            primary_file,
            header.database_uuid,
            store,
            shared,
            boot,
            bytes,
            lock,
        );
        *db.unread_rows.lock() = analysis.take_rows();
        let early = !restored && redo.progress().log_bytes > options.recover_first_bytes;
        db.begin_recovery(redo, &analysis, analysis_ns);
        if !won.is_empty() {
            for (xid, loser) in &won {
                let mut context = TxnContext::of_loser(db.shared.clone(), *xid, loser.last);
                context.log_note(Kind::Commit, &[], Lease::Rollback)?;
            }
            db.flush_log()?;
        }
        db.figures.recovered_records.store(analysis.records, Relaxed);
        db.figures.recovered_losers.store(analysis.losers.len() as u64, Relaxed);
        db.undo_shapes()?;
        if !early {
            while db.recovery_step()? {}
        }
        // Nobody gets pages before those that were free at the crash's time are known to be.
        for &tree in &analysis.drops {
            db.carry_out_drop(storage::TreeId(buffer_pool::PageId(tree)))?;
        }
        if early {
            // What users do from here on must find this opening's epoch, whatever happens.
            db.change_boot(|_| {})?;
            db.recover_behind_users();
        }
        if restored {
            db.forget_trees_to_come()?;
        }
        // A database from before some of today's system tables.
        while db.boot.lock().system_trees.len() < SYSTEM_TREES {
            let tree = db.store.create_tree(crate::PRIMARY)?.id().0.0;
            db.flush_log()?;
            db.change_boot(|boot| boot.system_trees.push(tree))?;
        }
        if !early {
            db.checkpoint()?;
        }
        db.figures.recovery_ns.store(clock::now_ns() - begun, Relaxed);
        Ok(db)
    }

    /// Of a database that was restored to a moment before a later build made some of its system trees: names them no more.
    fn forget_trees_to_come(&self) -> Result<(), EngineError> {
        let named = self.boot.lock().system_trees.clone();
        for (n, &tree) in named.iter().enumerate() {
            let tree = PageId(tree);
            if self.store.owner_of(tree)? != Some(storage::TreeId(tree)) {
                return self.change_boot(|boot| boot.system_trees.truncate(n));
            }
        }
        Ok(())
    }

    /// Checkpoints and closes. No transaction may be active. Suspends.
    pub fn close(&self) -> Result<(), EngineError> {
        self.roll_back_orphans();
        if !self.shared.log.is_poisoned() && !self.has_failed() {
            self.shared.log.flush()?;
            self.shared.collect();
            self.checkpoint()?;
        }
        let closed = self.shared.log.close();
        self.fail_quietly("the database is closed");
        Ok(closed?)
    }

    /// CREATE DATABASE FOR ATTACH: tells a closed database where its other files are now. Each of `places` that holds
    /// one of them is taken; files that are not there stay where they were. Suspends.
    pub fn relocate(
        fs: &dyn FileSystem,
        primary: &Path,
        places: &[PathBuf],
    ) -> Result<(), EngineError> {
        let _lock = lock(fs, primary)?;
        let file = open(fs, primary, OpenOptions::existing().direct())?;
        let header = storage::read_header(&*file)?;
        let mut boot = Boot::decode(&header.boot, primary)?;
        let before = boot.clone();
        for path in places {
            let opened = open(fs, path, OpenOptions::read_only().direct())?;
            if let Ok(theirs) = storage::read_header(&*opened) {
                let ours = theirs.database_uuid == header.database_uuid;
                let known = boot.data.iter_mut().find(|f| ours && f.file_id == theirs.file_id);
                let Some(known) = known else {
                    return Err(EngineError::CannotOpen {
                        path: path.display().to_string(),
                        what: "the file belongs to another database".into(),
                    });
                };
                known.path.clone_from(path);
            } else {
                // A log is checked when the database is opened.
                boot.log.clone_from(path);
            }
        }
        if boot != before {
            let header = FileHeader { boot: boot.encode(&folder_of(primary)), ..header };
            storage::write_header(&*file, &header)?;
        }
        Ok(())
    }

    /// Removes the files of a closed database (DROP DATABASE).
    pub fn remove(fs: &dyn FileSystem, files: &DbFiles) -> Result<(), EngineError> {
        let primary = primary_of(files)?;
        let lock = lock(fs, &primary.path)?;
        let beside = [doublewrite_of(&primary.path)];
        let all = files.data.iter().map(|f| &f.path).chain([&files.log]).chain(&beside);
        for path in all {
            if fs.exists(path).map_err(|e| cannot_open(path, &e))? {
                fs.remove(path).map_err(|e| cannot_open(path, &e))?;
            }
        }
        drop(lock);
        let _ = fs.remove(&lock_of(&primary.path));
        sync_folders(fs, files)
    }

    /// ALTER DATABASE ADD FILE (and with it a filegroup, when its number is new). Durable at return. Suspends.
    pub fn add_file(&self, file: DataFile) -> Result<(), EngineError> {
        self.check()?;
        if self.fs.exists(&file.path).map_err(|e| cannot_open(&file.path, &e))?
            || self.boot.lock().data.iter().any(|f| f.file_id == file.file_id)
        {
            return Err(EngineError::Exists { path: file.path.display().to_string() });
        }
        let opened = make_data_file(&*self.fs, &file, self.uuid, Vec::new())?;
        let folder = folder_of(&file.path);
        self.fs.sync_dir(&folder).map_err(|e| cannot_open(&folder, &e))?;
        // Known to the boot record before a log record can name it.
        self.change_boot(|boot| boot.data.push(file.clone()))?;
        Ok(self.store.add_file(file.file_id, file.filegroup, opened, file.max_bytes)?)
    }
}

/// Brings every page of a full list up to date, on its file too, and leaves no page in memory: the rest of the log may
/// have more for it. Nobody uses the store yet.
/// Pages that cannot be read are added to `unread`.
fn drain(
    log: &Arc<Log>,
    store: &Store,
    pending: Pending,
    unread: &mut Vec<PageId>,
) -> Result<(), RecoveryError> {
    let redo = Redo::new(log.clone(), pending, 1);
    let pool = store.pool();
    pool.set_redo(Some(redo.clone()));
    let pool_failed = |e| RecoveryError::Storage(StorageError::Pool(e));
    while !redo.is_done() {
        for damaged in redo.step(pool).map_err(pool_failed)?.damaged {
            if !matches!(damaged.error, PoolError::Checksum { .. }) {
                return Err(pool_failed(damaged.error));
            }
            unread.push(damaged.page);
            redo.done(damaged.page);
        }
    }
    pool.set_redo(None);
    pool.empty().map_err(pool_failed)
}

pub(crate) fn primary_of(files: &DbFiles) -> Result<&DataFile, EngineError> {
    files.data.first().filter(|f| f.file_id == 1 && f.filegroup == crate::PRIMARY).ok_or_else(
        || EngineError::CannotOpen {
            path: String::new(),
            what: "the first data file must be the primary one".into(),
        },
    )
}

fn make_store(
    log: &Arc<Log>,
    doublewrite: Arc<dyn File>,
    options: &DbOptions,
) -> Result<Arc<Store>, EngineError> {
    let bytes = options.buffer_pool_bytes as usize;
    let config = PoolConfig {
        bytes,
        prefault_bytes: bytes.min(options.prefault_bytes as usize),
        nodes: options.memory_nodes.clone(),
        large_pages: options.large_pages,
        lock_pages: options.lock_pages,
    };
    let pool = BufferPool::new(config, log.clone() as Arc<dyn Harden>, doublewrite)?;
    Ok(Store::new(pool, Arc::new(LogOfStore(log.clone()))))
}

pub(crate) fn make_data_file(
    fs: &dyn FileSystem,
    file: &DataFile,
    database_uuid: [u8; 16],
    boot: Vec<u8>,
) -> Result<Arc<dyn File>, EngineError> {
    let opened = open(fs, &file.path, OpenOptions::create_new().direct())?;
    let header =
        FileHeader { database_uuid, file_id: file.file_id, filegroup: file.filegroup, boot };
    Store::format_file(&*opened, &header, file.initial_bytes)?;
    Ok(opened)
}

fn log_config(options: &DbOptions) -> LogConfig {
    options.log.clone()
}

/// A checkpoint comes early enough to keep a bounded log from filling.
fn checkpoint_bytes(options: &DbOptions) -> u64 {
    options.checkpoint_log_bytes.min(options.log.max_bytes.unwrap_or(u64::MAX) / 2)
}

pub(crate) fn open(
    fs: &dyn FileSystem,
    path: &Path,
    options: OpenOptions,
) -> Result<Arc<dyn File>, EngineError> {
    fs.open(path, options).map_err(|e| cannot_open(path, &e))
}

pub(crate) fn lock(fs: &dyn FileSystem, primary: &Path) -> Result<LockGuard, EngineError> {
    let path = lock_of(primary);
    fs.lock_exclusive(&path).map_err(|e| match e.kind() {
        io::ErrorKind::WouldBlock => EngineError::InUse { path: primary.display().to_string() },
        _ => cannot_open(&path, &e),
    })
}

pub(crate) fn sync_folders(fs: &dyn FileSystem, files: &DbFiles) -> Result<(), EngineError> {
    for path in files.data.iter().map(|f| &f.path).chain([&files.log]) {
        let folder = folder_of(path);
        fs.sync_dir(&folder).map_err(|e| cannot_open(&folder, &e))?;
    }
    Ok(())
}

pub(crate) fn cannot_open(path: &Path, e: &io::Error) -> EngineError {
    let what = match e.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            format!("the folder or file cannot be written ({e})")
        }
        _ => e.to_string(),
    };
    EngineError::CannotOpen { path: path.display().to_string(), what }
}

pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// `x.mdf` has its double-write file in `x.mdf.dwb`.
pub(crate) fn doublewrite_of(primary: &Path) -> PathBuf {
    beside(primary, ".dwb")
}

/// `x.mdf` is locked through `x.mdf.lock`.
pub(crate) fn lock_of(primary: &Path) -> PathBuf {
    beside(primary, ".lock")
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
