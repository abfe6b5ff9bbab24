//! A database: its files, log, pages and transactions. `open.rs` makes and opens it, `checkpoint.rs` keeps it tidy.
//!
//! Locks, in the order in which they are taken: `checkpointing`, `dropping`, `boot_write` (may be held while suspended), then the
//! plain mutexes `boot`, `drops`, `trees`, `orphans` (never).

use crate::boot::Boot;
use crate::checkpoint::Pauses;
use crate::memory::RoomAside;
use crate::memory_quota::MemoryQuota;
use crate::recovering::Recovering;
use crate::status::Sessions;
use crate::tree::{GONE, PendingDrop};
use crate::txn::Orphan;
use crate::{
    DbFiles, DelayedDurability, Durability, EngineError, FilegroupId, Log, RecoveryModel, Tree,
    TreeId, Txn, TxnOptions,
};
use buffer_pool::{BufferPool, TaskMutex};
use device::{File, FileSystem, LockGuard};
use log_manager::Lsn;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::*};
use std::sync::{Arc, OnceLock, Weak};
use stdx::NumberMap;
use storage::Store;
use transaction::{Shared, XdesStats};

/// Figures of a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DatabaseStats {
    pub log_used_bytes: u64,
    pub log_size_bytes: u64,
    pub checkpoints: u64,
    pub checkpoint_pages: u64,
    pub versions: u64,
    pub version_bytes: u64,
    /// Records that analysis read at opening, and how long opening took, in nanoseconds; transactions found unfinished.
    pub recovered_records: u64,
    pub recovery_ns: u64,
    pub recovered_losers: u64,
}

#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) checkpoints: AtomicU64,
    pub(crate) checkpoint_pages: AtomicU64,
    pub(crate) recovered_records: AtomicU64,
    pub(crate) recovery_ns: AtomicU64,
    pub(crate) recovered_losers: AtomicU64,
    pub(crate) cleaned_by_transactions: AtomicU64,
    pub(crate) cleaned_by_background: AtomicU64,
}

/// Handles that have been given out.
#[derive(Default)]
struct Trees {
    open: HashMap<TreeId, Tree>,
    /// Dropped, and their names not in use again: a reader of an older catalog may still ask for them.
    gone: HashSet<TreeId>,
}

/// One open database.
pub struct Database {
    pub(crate) fs: Arc<dyn FileSystem>,
    pub(crate) primary: PathBuf,
    pub(crate) primary_file: Arc<dyn File>,
    pub(crate) uuid: [u8; 16],
    pub(crate) pool: Arc<BufferPool>,
    pub(crate) store: Arc<Store>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) boot: Mutex<Boot>,
    pub(crate) boot_write: TaskMutex<()>,
    pub(crate) checkpointing: TaskMutex<()>,
    /// Held by whoever carries drops out or lists them in the log.
    pub(crate) dropping: TaskMutex<()>,
    /// The log's tail when the last checkpoint began.
    pub(crate) checkpointed: AtomicU64,
    pub(crate) checkpoint_wanted: AtomicBool,
    pub(crate) pause: Pauses,
    pub(crate) checkpoint_log_bytes: u64,
    /// One backup at a time.
    pub(crate) backing_up: TaskMutex<()>,
    /// A backup under way needs the log from here on; `u64::MAX`: there is none.
    pub(crate) backup_needs: AtomicU64,
    /// When old versions are looked through again, on the monotonic clock.
    pub(crate) collect_after_ns: AtomicU64,
    pub(crate) cleaning: Mutex<crate::ghosts::Cleaning>,
    pub(crate) drops: Mutex<Vec<PendingDrop>>,
    trees: Mutex<Trees>,
    orphans: Mutex<Vec<Orphan>>,
    delayed: AtomicU8,
    read_committed_snapshot: AtomicBool,
    allow_snapshot_isolation: AtomicBool,
    /// MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT. Not remembered in the file.
    elevates_to_snapshot: AtomicBool,
    pub(crate) memory_quota: OnceLock<Arc<MemoryQuota>>,
    /// Room in the log for the trees beside memory trees.
    pub(crate) room_aside: RoomAside,
    /// Where the log has rows of memory trees that nobody has used since the database was opened.
    pub(crate) unread_rows: Mutex<NumberMap<u64, Vec<Lsn>>>,
    /// Rows of memory trees are deleted, and wait for the trees beside.
    pub(crate) rows_left_behind: AtomicBool,
    pub(crate) me: Weak<Database>,
    pub(crate) sessions: Sessions,
    owners: AtomicU64,
    stamps: AtomicU64,
    /// The version of the last commit that change tracking has counted; 0 until it has been looked up. Guarded by the
    /// lock in `tracking.rs`.
    pub(crate) tracked_version: AtomicU64,
    /// [`FAILED`], [`READ_ONLY`]; 0 while everything is allowed.
    condition: AtomicU8,
    why_failed: Mutex<String>,
    pub(crate) figures: Figures,
    pub(crate) recovering: Recovering,
    /// Given up last: nobody opens the files while we have them.
    pub(crate) _lock: LockGuard,
}

/// It refuses all further work.
const FAILED: u8 = 1;
/// It refuses what writes.
const READ_ONLY: u8 = 2;

impl Database {
    #[allow(clippy::too_many_arguments, reason = "called once, from open.rs")]
    pub(crate) fn assemble(
        fs: Arc<dyn FileSystem>,
        primary: PathBuf,
        primary_file: Arc<dyn File>,
        uuid: [u8; 16],
        store: Arc<Store>,
        shared: Arc<Shared>,
        boot: Boot,
        checkpoint_log_bytes: u64,
        lock: LockGuard,
    ) -> Arc<Database> {
        let db = Arc::new_cyclic(|me: &Weak<Database>| Database {
            fs,
            primary,
            primary_file,
            uuid,
            pool: store.pool().clone(),
            store,
            delayed: AtomicU8::new(boot.delayed_durability as u8),
            read_committed_snapshot: AtomicBool::new(boot.read_committed_snapshot),
            allow_snapshot_isolation: AtomicBool::new(boot.allow_snapshot_isolation),
            elevates_to_snapshot: AtomicBool::new(false),
            memory_quota: OnceLock::new(),
            room_aside: RoomAside::default(),
            unread_rows: Mutex::default(),
            rows_left_behind: AtomicBool::new(false),
            me: me.clone(),
            sessions: Sessions::default(),
            boot: Mutex::new(boot),
            boot_write: TaskMutex::new(()),
            checkpointing: TaskMutex::new(()),
            dropping: TaskMutex::new(()),
            checkpointed: AtomicU64::new(shared.log.tail().0),
            checkpoint_wanted: AtomicBool::new(false),
            pause: Pauses::default(),
            checkpoint_log_bytes,
            backing_up: TaskMutex::new(()),
            backup_needs: AtomicU64::new(u64::MAX),
            collect_after_ns: AtomicU64::new(0),
            cleaning: Mutex::default(),
            drops: Mutex::default(),
            trees: Mutex::default(),
            orphans: Mutex::default(),
            owners: AtomicU64::new(1),
            stamps: AtomicU64::new(0),
            tracked_version: AtomicU64::new(0),
            condition: AtomicU8::new(0),
            why_failed: Mutex::default(),
            figures: Figures::default(),
            recovering: Recovering::default(),
            shared,
            _lock: lock,
        });
        db.choose_snapshots();
        let weak = Arc::downgrade(&db);
        db.shared.locks.set_deadlock_hook(Box::new(move |deadlock| {
            if let Some(db) = weak.upgrade() {
                db.note_deadlock(deadlock);
            }
        }));
        let weak = Arc::downgrade(&db);
        db.shared.log.set_log_full_hook(Box::new(move || {
            weak.upgrade().is_none_or(|db| db.make_log_room())
        }));
        db
    }

    /// The files as they are recorded in the primary one.
    pub fn files(&self) -> DbFiles {
        let boot = self.boot.lock();
        DbFiles { data: boot.data.clone(), log: boot.log.clone() }
    }

    /// A transaction object for a session, with a transaction begun.
    pub fn begin(self: &Arc<Self>, options: TxnOptions) -> Txn {
        let mut txn = self.txn(options);
        txn.begin();
        txn
    }

    /// A transaction object for a session, idle.
    pub fn txn(self: &Arc<Self>, options: TxnOptions) -> Txn {
        Txn::new(self.clone(), options)
    }

    /// Name of the `n`-th of the trees that every database is born with (`n < SYSTEM_TREES`).
    pub fn system_tree(&self, n: usize) -> TreeId {
        TreeId(buffer_pool::PageId(self.boot.lock().system_trees[n]))
    }

    /// A handle to a tree. Cheap after the first time; keep it all the same.
    pub fn tree(&self, id: TreeId) -> Tree {
        let mut trees = self.trees.lock();
        if let Some(tree) = trees.open.get(&id) {
            return tree.clone().current();
        }
        let tree = Tree::new(self.storage_tree(id));
        if trees.gone.contains(&id) {
            tree.inner.shape.store(GONE, Release);
        } else {
            trees.open.insert(id, tree.clone());
        }
        tree
    }

    /// The handle of a tree, if it has been given out and the tree is there.
    pub(crate) fn open_tree(&self, id: TreeId) -> Option<Tree> {
        self.trees.lock().open.get(&id).cloned()
    }

    /// The handles given out so far of trees that are still there, by number.
    pub(crate) fn open_trees(&self) -> Vec<Tree> {
        let mut open: Vec<Tree> = self.trees.lock().open.values().cloned().collect();
        open.sort_unstable_by_key(Tree::id);
        open
    }

    /// Of these the ones of memory-optimised tables. The background asks fifty times a second, and mostly there are none
    /// among very many others.
    pub(crate) fn memory_trees(&self) -> Vec<Tree> {
        let trees = self.trees.lock();
        let in_memory = trees.open.values().filter(|tree| tree.memory().is_some());
        let mut open: Vec<Tree> = in_memory.cloned().collect();
        drop(trees);
        open.sort_unstable_by_key(Tree::id);
        open
    }

    /// A handle to a tree of the shape that a definition knows it in: see [`Tree`].
    pub fn tree_of(&self, id: TreeId, shape: u64) -> Tree {
        self.tree(id).shaped(shape)
    }

    /// Handles to a tree that is gone refuse from here on.
    pub(crate) fn forget_tree(&self, id: TreeId) {
        self.unread_rows.lock().remove(&id.0.0);
        let mut trees = self.trees.lock();
        trees.gone.insert(id);
        if let Some(tree) = trees.open.remove(&id) {
            tree.inner.shape.store(GONE, Release);
        }
    }

    /// A tree has been made, perhaps by the name of one that is gone.
    pub(crate) fn welcome_tree(&self, id: TreeId) {
        self.unread_rows.lock().remove(&id.0.0);
        self.trees.lock().gone.remove(&id);
    }

    pub(crate) fn storage_tree(&self, id: TreeId) -> storage::Tree {
        let boot = self.boot.lock();
        let group = boot
            .data
            .iter()
            .find(|f| f.file_id == id.0.file())
            .map_or(crate::PRIMARY, |f| f.filegroup);
        drop(boot);
        self.store.tree(id, group)
    }

    pub(crate) fn has_filegroup(&self, group: FilegroupId) -> bool {
        self.boot.lock().data.iter().any(|f| f.filegroup == group)
    }

    pub fn log(&self) -> &Arc<Log> {
        &self.shared.log
    }

    pub fn delayed_durability(&self) -> DelayedDurability {
        match self.delayed.load(Relaxed) {
            0 => DelayedDurability::Disabled,
            1 => DelayedDurability::Allowed,
            _ => DelayedDurability::Forced,
        }
    }

    /// What a commit that asks for `asked` gets.
    #[inline]
    pub(crate) fn resolve(&self, asked: Durability) -> Durability {
        match self.delayed_durability() {
            DelayedDurability::Disabled => Durability::Full,
            DelayedDurability::Allowed => asked,
            DelayedDurability::Forced => Durability::Delayed,
        }
    }

    /// ALTER DATABASE SET DELAYED_DURABILITY; remembered in the file. Suspends.
    pub fn set_delayed_durability(&self, option: DelayedDurability) -> Result<(), EngineError> {
        self.change_boot(|boot| boot.delayed_durability = option)?;
        self.delayed.store(option as u8, Relaxed);
        // What was committed under the old option is hardened before the new one counts: by then no change that has
        // kept no version is above what readers go by.
        if option == DelayedDurability::Disabled {
            self.shared.keep_all.store(true, SeqCst);
            self.flush_log()?;
            self.choose_snapshots();
            return Ok(());
        }
        self.choose_snapshots();
        self.flush_log()
    }

    /// Transaction ids from one counter behind the XDESMGR spinlock, which also counts the active writers; or, as by
    /// default, from each scheduler's own. At any moment.
    pub fn set_central_transaction_ids(&self, on: bool) {
        self.shared.xids.set_central(on);
    }

    /// Figures of the classic transaction manager.
    pub fn central_transaction_stats(&self) -> XdesStats {
        self.shared.xids.central_stats()
    }

    /// Without delayed commits, readers read as of the durable LSN: everybody who was answered is below it.
    fn choose_snapshots(&self) {
        let by_durable = self.delayed_durability() == DelayedDurability::Disabled;
        self.shared.read_durable.store(by_durable, SeqCst);
        self.shared.keep_all.store(by_durable, SeqCst);
    }

    /// Whether READ COMMITTED reads row versions.
    #[inline]
    pub fn read_committed_snapshot(&self) -> bool {
        self.read_committed_snapshot.load(Relaxed)
    }

    /// ALTER DATABASE SET READ_COMMITTED_SNAPSHOT; remembered in the file. Counts from the next statement on. Suspends.
    pub fn set_read_committed_snapshot(&self, on: bool) -> Result<(), EngineError> {
        self.change_boot(|boot| boot.read_committed_snapshot = on)?;
        self.read_committed_snapshot.store(on, Relaxed);
        Ok(())
    }

    /// Whether memory trees are read by a snapshot where nobody has said how.
    #[inline]
    pub fn elevates_to_snapshot(&self) -> bool {
        self.elevates_to_snapshot.load(Relaxed)
    }

    /// ALTER DATABASE SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT. Whoever opens the database says it again.
    pub fn set_elevates_to_snapshot(&self, on: bool) {
        self.elevates_to_snapshot.store(on, Relaxed);
    }

    /// Whether SNAPSHOT isolation is allowed.
    pub fn allow_snapshot_isolation(&self) -> bool {
        self.allow_snapshot_isolation.load(Relaxed)
    }

    /// ALTER DATABASE SET ALLOW_SNAPSHOT_ISOLATION; remembered in the file. Counts for snapshots not taken yet.
    /// Suspends.
    pub fn set_allow_snapshot_isolation(&self, on: bool) -> Result<(), EngineError> {
        self.change_boot(|boot| boot.allow_snapshot_isolation = on)?;
        self.allow_snapshot_isolation.store(on, Relaxed);
        Ok(())
    }

    pub fn recovery_model(&self) -> RecoveryModel {
        self.boot.lock().recovery_model
    }

    /// ALTER DATABASE SET RECOVERY; remembered in the file. From SIMPLE to another one, log is kept from the next full
    /// backup on. Suspends.
    pub fn set_recovery_model(&self, model: RecoveryModel) -> Result<(), EngineError> {
        self.change_boot(|boot| {
            let simple = |m| m == RecoveryModel::Simple;
            if simple(model) || simple(boot.recovery_model) {
                boot.backed_up = Lsn::NONE;
            }
            boot.recovery_model = model;
        })
    }

    /// Whose pages these are: the same for every copy of a database.
    pub fn family(&self) -> String {
        stdx::hex(&self.boot.lock().history.family)
    }

    /// Whether log is kept until it is backed up: FULL or BULK_LOGGED, and there was a full backup.
    pub fn keeps_log_for_backup(&self) -> bool {
        let boot = self.boot.lock();
        boot.recovery_model != RecoveryModel::Simple && !boot.backed_up.is_none()
    }

    /// sp_flush_log: everything committed so far becomes durable.
    pub fn flush_log(&self) -> Result<(), EngineError> {
        Ok(self.shared.log.flush()?)
    }

    /// Touches all memory of the buffer pool now. From a plain thread: it blocks.
    pub fn populate_buffer_pool(&self) {
        self.pool.populate_all(|| !self.has_failed());
    }

    pub fn stats(&self) -> DatabaseStats {
        let f = &self.figures;
        DatabaseStats {
            log_used_bytes: self.shared.log.used_bytes(),
            log_size_bytes: self.shared.log.size_bytes(),
            checkpoints: f.checkpoints.load(Relaxed),
            checkpoint_pages: f.checkpoint_pages.load(Relaxed),
            versions: self.shared.versions.count(),
            version_bytes: self.shared.versions.bytes(),
            recovered_records: f.recovered_records.load(Relaxed),
            recovery_ns: f.recovery_ns.load(Relaxed),
            recovered_losers: f.recovered_losers.load(Relaxed),
        }
    }

    /// A number that is larger than any given before, also before the database was last opened: for rowversion, and for
    /// the tails of keys that are not unique. It is at least the log's tail, and whoever asks writes a row with it, so
    /// the log grows faster than the numbers do.
    pub fn next_stamp(&self) -> u64 {
        let tail = self.shared.log.tail().0;
        let last = self.stamps.fetch_update(AcqRel, Acquire, |last| Some(last.max(tail) + 1));
        last.map_or(tail, |last| last.max(tail)) + 1
    }

    /// The last number given by [`Database::next_stamp`] (@@DBTS); before the first since the opening one that is larger
    /// than all that were given.
    pub fn last_stamp(&self) -> u64 {
        match self.stamps.load(Acquire) {
            0 => self.shared.log.tail().0,
            last => last,
        }
    }

    /// No number that [`crate::Txn::next_stamp`] has given to a transaction that goes on is smaller, and none that is
    /// still to come (MIN_ACTIVE_ROWVERSION).
    pub fn min_active_stamp(&self) -> u64 {
        // In this order: who has a number up to this one had a transaction id before it.
        let next = self.last_stamp() + 1;
        let tail = self.shared.log.tail();
        let oldest = self.shared.xids.oldest_first_lsn(tail).0;
        // Its numbers are larger than the log's tail was when it began to write.
        match self.shared.xids.unfinished().is_empty() {
            true => next,
            false => next.min(oldest + 1),
        }
    }

    pub(crate) fn next_owner(&self) -> u64 {
        self.owners.fetch_add(1, Relaxed)
    }

    /// Takes over a transaction whose session panicked.
    pub(crate) fn adopt(&self, orphan: Orphan) {
        self.orphans.lock().push(orphan);
    }

    pub(crate) fn roll_back_orphans(&self) {
        let orphans = std::mem::take(&mut *self.orphans.lock());
        orphans.into_iter().for_each(|o| o.roll_back(self));
    }

    /// Shuts the database: something is in a state that only recovery repairs.
    #[cold]
    pub(crate) fn fail(&self, why: &str) {
        self.note_error(why);
        let mut text = self.why_failed.lock();
        if text.is_empty() {
            why.clone_into(&mut text);
        }
        self.condition.fetch_or(FAILED, Release);
    }

    pub(crate) fn fail_quietly(&self, why: &str) {
        why.clone_into(&mut self.why_failed.lock());
        self.condition.fetch_or(FAILED, Release);
    }

    #[cold]
    pub(crate) fn note_error(&self, what: &str) {
        // Simulations lose power on purpose, and by the thousand.
        if !runtime::sim::active() {
            eprintln!("{}: {what}", self.primary.display());
        }
    }

    #[inline]
    pub(crate) fn check(&self) -> Result<(), EngineError> {
        if self.condition.load(Relaxed) & FAILED != 0 { Err(self.refusal()) } else { Ok(()) }
    }

    /// The same for whoever is about to write; 3906.
    #[inline]
    pub(crate) fn check_writable(&self) -> Result<(), EngineError> {
        if self.condition.load(Relaxed) == 0 { Ok(()) } else { self.refuse_write() }
    }

    #[cold]
    fn refuse_write(&self) -> Result<(), EngineError> {
        self.check()?;
        Err(EngineError::ReadOnly)
    }

    /// ALTER DATABASE SET READ_ONLY or READ_WRITE. Not remembered in the file: whoever opens the database says it again. Who
    /// says READ_ONLY has seen to it that no transaction is about to write; what the server itself does to pages (undo,
    /// clean-up, checkpoints) goes on.
    pub fn set_read_only(&self, on: bool) {
        match on {
            true => self.condition.fetch_or(READ_ONLY, Release),
            false => self.condition.fetch_and(!READ_ONLY, Release),
        };
    }

    /// Whether users' transactions may not write.
    pub fn is_read_only(&self) -> bool {
        self.condition.load(Relaxed) & READ_ONLY != 0
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.condition.load(Acquire) & FAILED != 0
    }

    /// Whether it refuses all further work: a flush failed, recovery could not be finished, or an invariant did not hold.
    /// Only opening it anew makes it work again.
    pub fn is_suspect(&self) -> bool {
        self.has_failed() || self.shared.log.is_poisoned()
    }

    #[cold]
    fn refusal(&self) -> EngineError {
        EngineError::Unavailable { what: self.why_failed.lock().clone() }
    }

    /// The least LSN that unfinished transactions and drops still need. `tail` was read before the call.
    pub(crate) fn oldest_needed(&self, tail: Lsn) -> Lsn {
        // Transactions first: one that commits in between has put its drops into the list by then.
        let oldest = self.shared.xids.oldest_first_lsn(tail).min(self.oldest_to_undo());
        self.drops.lock().iter().map(|d| d.first).fold(oldest, Lsn::min)
    }
}
