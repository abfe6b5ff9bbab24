//! Trees that live in memory: rows in versions (`storage::memory`), the same door.
//!
//! A memory tree has a tree of the store beside it, which gives it its name, its filegroup, its locks and its life: made,
//! dropped and found as any other. What a transaction makes of a durable one's rows is in its log record (`commit.rs`);
//! checkpoints bring the tree beside up to date (`beside.rs`), and the log is kept from where the last one began; when the
//! database is opened both are read, before anybody may ask (`redo.rs`). Of a tree that is not durable the one beside it stays
//! empty, and nothing is ever logged but that its transaction has committed.
//!
//! Rules of a transaction over them:
//! - It reads as of one snapshot, taken when it first touches any memory tree: the log's tail, since what it sees need not
//!   be durable before its own commit is.
//! - It writes at once, and is refused at once where another has written since that snapshot ([`EngineError::WriteConflict`]).
//! - By REPEATABLE READ it notes the rows that it has read, by SERIALIZABLE the ranges; when it commits they must still be
//!   as it saw them. First it makes what the log is to say of durable trees' rows, then it says that it is preparing, then it
//!   looks, then its commit is logged, then its versions are stamped. docs/decisions/0014-memory-tables.md has the argument.
//!   Who has noted nothing looks at nothing.
//! - A definition that moves rows to other trees is seen by nobody who began before it: whoever has read the trees that
//!   are gone does not commit with checked reads, and whose snapshot is older does not read the new ones.
//! - What it takes back it takes back newest first, before its locks go and before anybody learns that it is over.

mod beside;
mod commit;
mod redo;
mod room;

#[cfg(test)]
pub(crate) use room::IN_FILE as ROOM_IN_FILE;
pub(crate) use room::RoomAside;

use crate::memory_quota::{MemoryQuota, Weighed};
use crate::{Database, EngineError, Isolation, Lsn, ReadOptions, RowImage, Tree, TreeId, Txn};
use lock_manager::TableMode;
use mvcc::{Xid, XidStatus};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use storage::StorageError;
use storage::memory::{
    Cursor, ImageWriter, Kind, Needs, Refused, RowsToList, Sight, States, Table, Written,
};
use telemetry::{Counter, counters};
use transaction::{Bug, InUse, XidTable, planted};

/// How a tree is to live in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryForm {
    pub kind: Kind,
    /// Its rows survive the database's closing.
    pub durable: bool,
}

/// Rows that wait to be cleaned before a commit does some of that.
const CLEAN_AT: usize = 1024;
/// Rows that a clean-up has to leave, mostly because the tree beside has them still, before they are written there without a
/// checkpoint.
const LEFT_BEHIND_MAX: usize = 64 << 10;

pub(crate) struct MemoryTree {
    pub(crate) table: Table,
    pub(crate) durable: bool,
    /// How many rows must wait before a commit cleans: more where a long reader keeps them.
    clean_at: AtomicUsize,
    /// Its rows come with a definition, as one commit.
    is_filling: AtomicBool,
    /// The LSN of that commit: an older snapshot would find nothing.
    filled_at: AtomicU64,
    /// Another tree has its place since a definition has committed.
    is_gone: AtomicBool,
    /// Writes that were refused: counted on the way out alone.
    pub(crate) conflicts: AtomicU64,
    pub(crate) duplicates: AtomicU64,
    /// What its rows lack beside it is in the log from here on.
    pub(crate) logged_from: AtomicU64,
}

/// What a transaction has to do with memory trees.
#[derive(Default)]
pub(crate) struct MemoryPart {
    pub(crate) snapshot: Option<Lsn>,
    pub(crate) written: Vec<Change>,
    /// The trees of `written`, each once, and those of transactions before: a tree is shared by all sessions, and to
    /// count another reference to it costs more than a row.
    trees: Vec<Touched>,
    read: Vec<Read>,
    /// What the log is to say of rows, as it commits.
    pub(crate) images: ImageWriter,
}

impl MemoryPart {
    /// Nothing was read or written.
    pub(crate) fn is_untouched(&self) -> bool {
        self.snapshot.is_none() && self.written.is_empty() && self.read.is_empty()
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Change {
    /// Its place in [`MemoryPart::trees`].
    tree: usize,
    written: Written,
}

struct Touched {
    tree: Tree,
    /// While images are made.
    listing: RowsToList,
}

impl Touched {
    #[inline]
    fn memory(&self) -> &MemoryTree {
        in_memory(&self.tree)
    }
}

/// Of a tree that a transaction has changed in memory.
#[inline]
fn in_memory(tree: &Tree) -> &MemoryTree {
    match tree.memory() {
        Some(memory) => memory,
        None => stdx::fatal!("a memory tree does not live in memory any more"),
    }
}

enum Read {
    Key(Arc<MemoryTree>, Vec<u8>),
    Range(Arc<MemoryTree>, Cursor),
}

/// [`XidTable`] as `storage::memory` asks it.
pub(crate) struct Xids<'a>(pub(crate) &'a XidTable);

impl States for Xids<'_> {
    #[inline]
    fn status(&self, xid: Xid) -> XidStatus {
        self.0.status(xid)
    }

    fn has_prepared(&self, xid: Xid) -> bool {
        self.0.has_prepared(xid)
    }
}

struct Snapshots(InUse);

impl Needs for Snapshots {
    fn horizon(&self) -> Lsn {
        self.0.horizon
    }

    fn needs(&self, since: Lsn, until: Lsn) -> bool {
        self.0.needs(since, until) && !planted(Bug::EarlyCleanUp)
    }
}

impl Weighed for MemoryTree {
    fn bytes(&self) -> u64 {
        self.table.bounded_bytes()
    }
}

impl MemoryTree {
    fn clean(&self, db: &Database, in_use: &InUse) -> u64 {
        let gone = self.table.clean(&Snapshots(in_use.clone()), &Xids(&db.shared.xids));
        let left = self.table.to_clean();
        self.clean_at.store(CLEAN_AT.max(2 * left), Relaxed);
        if self.durable && left > LEFT_BEHIND_MAX {
            db.rows_left_behind.store(true, Relaxed);
        }
        gone
    }

    /// Another tree has its place. Under the Sch-M lock.
    pub(crate) fn retire(&self) {
        self.is_gone.store(true, Release);
    }
}

impl Tree {
    #[inline]
    pub(crate) fn memory(&self) -> Option<&Arc<MemoryTree>> {
        self.inner.memory.get()
    }

    /// Whether it lives in memory.
    #[inline]
    pub fn is_memory(&self) -> bool {
        self.memory().is_some()
    }

    /// A key is about to be looked for or inserted: of a tree in memory the way there begins to come into the caches.
    #[inline]
    pub fn prefetch(&self, key: &[u8]) {
        if let Some(memory) = self.memory() {
            memory.table.prefetch(key);
        }
    }
}

impl Database {
    /// Makes a tree live in memory, before anybody but the caller has used it; a durable one's rows are read in. Says it
    /// for a tree that does so already: nothing. Suspends.
    pub fn keep_in_memory(
        self: &Arc<Self>,
        id: TreeId,
        form: MemoryForm,
    ) -> Result<(), EngineError> {
        let tree = self.tree(id);
        if tree.is_memory() {
            return Ok(());
        }
        let table = Table::new(form.kind);
        // Before anything is read: nobody writes here before it is there.
        let mut logged_from = self.shared.log.tail();
        if form.durable {
            logged_from = logged_from.min(self.load_memory(&tree, &table)?);
        }
        let clean_at = AtomicUsize::new(CLEAN_AT);
        let made = Arc::new(MemoryTree {
            table,
            durable: form.durable,
            clean_at,
            is_filling: AtomicBool::new(false),
            filled_at: AtomicU64::new(0),
            is_gone: AtomicBool::new(false),
            conflicts: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
            logged_from: AtomicU64::new(logged_from.0),
        });
        if let Some(quota) = self.memory_quota() {
            quota.add(Arc::<MemoryTree>::downgrade(&made));
        }
        let _ = tree.inner.memory.set(made);
        // It keeps the log itself from here on.
        self.unread_rows.lock().remove(&tree.number());
        Ok(())
    }

    /// What the rows of its memory trees may take, by a resource pool; `None`: as much as there is.
    pub fn memory_quota(&self) -> Option<&Arc<MemoryQuota>> {
        self.memory_quota.get()
    }

    /// Gives it a quota, once: before anybody uses it. Rows that are there count, and stay.
    pub fn set_memory_quota(&self, quota: Arc<MemoryQuota>) {
        let trees = self.memory_trees();
        for tree in trees.iter().filter_map(Tree::memory) {
            quota.add(Arc::<MemoryTree>::downgrade(tree));
        }
        let _ = self.memory_quota.set(quota);
    }

    /// The same for a tree that a definition makes and fills, in one transaction.
    pub fn fill_in_memory(
        self: &Arc<Self>,
        id: TreeId,
        form: MemoryForm,
    ) -> Result<(), EngineError> {
        let tree = self.tree(id);
        if !tree.is_memory() {
            self.keep_in_memory(id, form)?;
            if let Some(memory) = tree.memory() {
                memory.is_filling.store(true, Relaxed);
            }
        }
        Ok(())
    }

    /// Cleans all memory trees. Whether something went.
    pub(crate) fn clean_memory(&self) -> bool {
        let mut in_use = None;
        let mut gone = 0;
        for tree in self.memory_trees() {
            if let Some(memory) = tree.memory().filter(|m| m.table.to_clean() > 0) {
                let in_use =
                    in_use.get_or_insert_with(|| self.shared.snapshots.advance(&self.shared.log));
                gone += memory.clean(self, in_use);
            }
        }
        self.figures.cleaned_by_background.fetch_add(gone, Relaxed);
        gone > 0
    }
}

impl Txn {
    /// The snapshot by which it reads memory trees.
    #[inline]
    pub(crate) fn memory_snapshot(&mut self) -> Lsn {
        if let Some(snapshot) = self.memory.snapshot {
            return snapshot;
        }
        let log = &self.shared.log;
        let read = || log.tail();
        let snapshot =
            if self.published { self.cell.take_another(read) } else { self.cell.take(read) };
        self.published = true;
        self.memory.snapshot = Some(snapshot);
        self.status.note_memory(snapshot);
        snapshot
    }

    /// Refuses to read what a definition has put there since the snapshot.
    #[inline]
    fn check_filled(&mut self, memory: &MemoryTree, snapshot: Lsn) -> Result<(), EngineError> {
        match memory.filled_at.load(Acquire) > snapshot.0 {
            true => Err(self.doom(EngineError::Redefined)),
            false => Ok(()),
        }
    }

    fn level(&self, options: ReadOptions) -> Isolation {
        options.isolation.unwrap_or(self.options.isolation)
    }

    /// [`Txn::get_with`] of a memory tree.
    pub(crate) fn memory_get(
        &mut self,
        tree: &Tree,
        memory: &Arc<MemoryTree>,
        key: &[u8],
        options: ReadOptions,
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        self.enter(tree, TableMode::SchemaStability)?;
        let snapshot = self.memory_snapshot();
        self.check_filled(memory, snapshot)?;
        let sight = Sight { snapshot, own: self.context.xid(), states: &Xids(&self.shared.xids) };
        let seen = memory.table.get(key, &sight, |kept, stamp| {
            row.clear();
            kept.append_to(row);
            sight_commit(stamp, &self.shared.xids)
        });
        match self.level(options) {
            Isolation::Serializable => {
                let cursor = match memory.table.kind() {
                    Kind::Range => one_key(&memory.table, key),
                    Kind::Hash { tailed: false, .. } => {
                        Cursor::value(&memory.table, key, Bound::Included(key))
                    }
                    Kind::Hash { .. } => one_key(&memory.table, key),
                };
                self.memory.read.push(Read::Range(memory.clone(), cursor));
            }
            Isolation::RepeatableRead if seen.is_some() => {
                self.memory.read.push(Read::Key(memory.clone(), key.to_vec()));
            }
            _ => {}
        }
        memory.table.note_read(true, usize::from(seen.is_some()));
        if let Some(csn) = seen {
            self.context.note_seen(csn);
        }
        Ok(seen.is_some())
    }

    /// A scan of a memory tree.
    pub(crate) fn memory_scan(
        &mut self,
        tree: &Tree,
        memory: &Arc<MemoryTree>,
        (lower, upper): (Bound<&[u8]>, Bound<&[u8]>),
        options: crate::ScanOptions,
    ) -> Result<MemoryScan, EngineError> {
        self.enter(tree, TableMode::SchemaStability)?;
        let snapshot = self.memory_snapshot();
        self.check_filled(memory, snapshot)?;
        let cursor = match lower {
            Bound::Included(value) if options.one_value => {
                Cursor::value(&memory.table, value, upper)
            }
            _ => Cursor::range(&memory.table, lower, upper, options.reverse),
        };
        let level = self.level(options.read);
        if level == Isolation::Serializable {
            // As it was read, upwards or down, it is looked at again.
            self.memory.read.push(Read::Range(memory.clone(), cursor.clone()));
        }
        memory.table.note_read(true, 0);
        Ok(MemoryScan {
            tree: memory.clone(),
            cursor,
            notes: level == Isolation::RepeatableRead,
            bytes: Vec::new(),
            rows: Vec::new(),
            at: 0,
            is_over: false,
        })
    }

    /// [`Txn::insert`] into a memory tree.
    pub(crate) fn memory_insert(
        &mut self,
        tree: &Tree,
        memory: &Arc<MemoryTree>,
        key: &[u8],
        row: &RowImage<'_>,
    ) -> Result<(), EngineError> {
        self.enter(tree, TableMode::IntentExclusive)?;
        self.prepare_memory_write()?;
        check_size(memory, key, row)?;
        if let Some(quota) = self.db.memory_quota() {
            quota.draw(key.len(), row.bytes.len())?;
        }
        let snapshot = self.memory_snapshot();
        let sight = Sight { snapshot, own: self.context.xid(), states: &Xids(&self.shared.xids) };
        match memory.table.insert(key, row, &sight) {
            Ok(written) => {
                self.note_change(tree, written);
                tree.count_rows(1);
                Ok(())
            }
            Err(e) => Err(self.refuse_memory(memory, e)),
        }
    }

    /// [`Txn::update`] of a memory tree, or [`Txn::delete`] where `row` is none.
    pub(crate) fn memory_change(
        &mut self,
        tree: &Tree,
        memory: &Arc<MemoryTree>,
        key: &[u8],
        row: Option<&RowImage<'_>>,
    ) -> Result<bool, EngineError> {
        self.enter(tree, TableMode::IntentExclusive)?;
        self.prepare_memory_write()?;
        if let Some(row) = row {
            check_size(memory, key, row)?;
            if let Some(quota) = self.db.memory_quota() {
                quota.draw(0, row.bytes.len())?;
            }
        }
        let snapshot = self.memory_snapshot();
        let sight = Sight { snapshot, own: self.context.xid(), states: &Xids(&self.shared.xids) };
        match memory.table.change(key, row, &sight) {
            Ok(None) => Ok(false),
            Ok(Some(written)) => {
                self.note_change(tree, written);
                match row {
                    Some(_) => tree.count_changes(1),
                    None => tree.count_deleted(1),
                }
                Ok(true)
            }
            Err(e) => Err(self.refuse_memory(memory, e)),
        }
    }

    fn prepare_memory_write(&mut self) -> Result<(), EngineError> {
        self.db.check_writable()?;
        let full = |_| EngineError::LogFull { reason: "ACTIVE_TRANSACTION" };
        self.context.ensure_xid().map_err(full)
    }

    fn note_change(&mut self, tree: &Tree, written: Written) {
        let part = &mut self.memory;
        // The one that was changed last, mostly.
        let is_it = |touched: &Touched| Arc::ptr_eq(&touched.tree.inner, &tree.inner);
        let at = part.trees.iter().rposition(is_it).unwrap_or_else(|| {
            part.trees.push(Touched { tree: tree.clone(), listing: RowsToList::default() });
            part.trees.len() - 1
        });
        part.written.push(Change { tree: at, written });
    }

    #[cold]
    fn refuse_memory(&mut self, memory: &MemoryTree, refused: Refused) -> EngineError {
        let (which, counter) = match refused {
            Refused::Duplicate => (&memory.duplicates, Counter::XtpDuplicates),
            Refused::Race | Refused::Conflict => (&memory.conflicts, Counter::XtpConflicts),
        };
        which.fetch_add(1, Relaxed);
        counters::add(counter, 1);
        self.doom(match refused {
            Refused::Duplicate => EngineError::Duplicate,
            Refused::Race => EngineError::NotSerializable,
            Refused::Conflict => EngineError::WriteConflict,
        })
    }
}

/// The tree beside must take what memory has.
#[inline]
fn check_size(memory: &MemoryTree, key: &[u8], row: &RowImage<'_>) -> Result<(), EngineError> {
    match memory.durable && !storage::fits(key.len(), row.bytes.len()) {
        true => Err(StorageError::RowTooLarge { key: key.len(), row: row.bytes.len() }.into()),
        false => Ok(()),
    }
}

fn one_key(table: &Table, key: &[u8]) -> Cursor {
    Cursor::range(table, Bound::Included(key), Bound::Included(key), false)
}

/// When what was just seen was committed; nothing for one's own.
fn sight_commit(stamp: mvcc::Stamp, xids: &XidTable) -> Lsn {
    match stamp.xid() {
        None => stamp.csn().unwrap_or(Lsn::NONE),
        Some(xid) => match xids.status(xid) {
            XidStatus::Committed(csn) => csn,
            _ => Lsn::NONE,
        },
    }
}

/// A scan of a memory tree in progress: a leaf or some buckets at a time, copied.
pub(crate) struct MemoryScan {
    tree: Arc<MemoryTree>,
    cursor: Cursor,
    /// Rows are noted one by one.
    notes: bool,
    bytes: Vec<u8>,
    /// Where key and row of each begin in `bytes`, and the row ends.
    rows: Vec<[usize; 3]>,
    at: usize,
    is_over: bool,
}

impl MemoryScan {
    /// Goes to the next row; false at the end.
    #[inline]
    pub(crate) fn advance(&mut self, txn: &mut Txn) -> Result<bool, EngineError> {
        self.at += 1;
        if self.at <= self.rows.len() {
            return Ok(true);
        }
        self.fill(txn)
    }

    fn fill(&mut self, txn: &mut Txn) -> Result<bool, EngineError> {
        loop {
            runtime::task::maybe_yield();
            if self.is_over {
                (self.at, self.rows) = (0, Vec::new());
                return Ok(false);
            }
            self.bytes.clear();
            self.rows.clear();
            let snapshot = txn.memory_snapshot();
            let own = txn.context.xid();
            let xids = Xids(&txn.shared.xids);
            let sight = Sight { snapshot, own, states: &xids };
            let mut newest = Lsn::NONE;
            let (bytes, rows) = (&mut self.bytes, &mut self.rows);
            let more = self.tree.table.step(&mut self.cursor, &sight, |key, row, stamp| {
                let from = bytes.len();
                bytes.extend_from_slice(key);
                row.append_to(bytes);
                rows.push([from, from + key.len(), bytes.len()]);
                newest = newest.max(sight_commit(stamp, &txn.shared.xids));
            });
            self.is_over = !more;
            self.tree.table.note_read(false, self.rows.len());
            txn.context.note_seen(newest);
            if self.notes {
                for [from, to, _] in &self.rows {
                    let key = self.bytes[*from..*to].to_vec();
                    txn.memory.read.push(Read::Key(self.tree.clone(), key));
                }
            }
            if !self.rows.is_empty() {
                self.at = 1;
                return Ok(true);
            }
        }
    }

    /// Key and row that it has come to.
    #[inline]
    pub(crate) fn current(&self) -> (&[u8], &[u8]) {
        let [from, middle, to] = self.rows[self.at - 1];
        (&self.bytes[from..middle], &self.bytes[middle..to])
    }
}
