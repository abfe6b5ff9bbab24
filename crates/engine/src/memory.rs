//! Trees that live in memory: rows in versions (`storage::memory`), the same door.
//!
//! A memory tree has a tree of the store beside it, which gives it its name, its filegroup, its locks and its life: made,
//! dropped and found as any other. A durable one's rows are written there too, as a transaction commits and within it, so
//! that the log, recovery, backup and CHECKDB have them as they have everything else; when the database is opened they
//! are read from there, before anybody may ask. Of one that is not durable the tree beside it stays empty, and nothing is
//! ever logged but that its transaction has committed.
//!
//! Rules of a transaction over them:
//! - It reads as of one snapshot, taken when it first touches any memory tree: the log's tail, since what it sees need not
//!   be durable before its own commit is.
//! - It writes at once, and is refused at once where another has written since that snapshot ([`EngineError::WriteConflict`]).
//! - By REPEATABLE READ it notes the rows that it has read, by SERIALIZABLE the ranges; when it commits they must still be
//!   as it saw them. First the rows of durable trees go to their place, then it says that it is preparing, then it looks,
//!   then its commit is logged, then its versions are stamped. docs/decisions/0014-memory-tables.md has the argument. Who
//!   has noted nothing looks at nothing; where such a one has changed a single row, that row's record commits it too.
//! - A definition that moves rows to other trees is seen by nobody who began before it: whoever has read the trees that
//!   are gone does not commit with checked reads, and whose snapshot is older does not read the new ones.
//! - What it takes back it takes back newest first, before its locks go and before anybody learns that it is over.

use crate::memory_quota::{MemoryQuota, Weighed};
use crate::{Database, Isolation};
use crate::{EngineError, InsertHint, Lsn, ReadOptions, RowImage, Tree, TreeId, Txn};
use lock_manager::{KeyMode, TableMode};
use log_manager::Appended;
use mvcc::{Xid, XidStatus};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*, fence};
use storage::memory::{
    Changed, Cursor, Kind, Needs, Outcome, Pin, Refused, Sight, States, Table, Written,
};
use storage::{Run, StorageError, TxnLog};
use telemetry::{Counter, counters};
use transaction::{InUse, OnlyChange, Shared, XidTable};

/// How a tree is to live in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryForm {
    pub kind: Kind,
    /// Its rows survive the database's closing.
    pub durable: bool,
}

/// Rows that wait to be cleaned before a commit does some of that.
const CLEAN_AT: usize = 1024;

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
    /// Memory for a row on its way to the tree beside its own.
    row: Vec<u8>,
}

/// So many trees are kept from one transaction to the next.
const TREES_MAX: usize = 8;

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
    /// What the log need not repeat of its row.
    run: Option<Run>,
}

struct Touched {
    tree: Tree,
    /// Where rows last went in the tree beside it.
    hint: InsertHint,
}

impl Touched {
    #[inline]
    fn memory(&self) -> &MemoryTree {
        match self.tree.memory() {
            Some(memory) => memory,
            None => stdx::fatal!("a memory tree does not live in memory any more"),
        }
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
        self.0.needs(since, until)
    }
}

impl Weighed for MemoryTree {
    fn bytes(&self) -> u64 {
        self.table.bounded_bytes()
    }
}

impl MemoryTree {
    fn clean(&self, shared: &Shared, in_use: &InUse) -> u64 {
        let gone = self.table.clean(&Snapshots(in_use.clone()), &Xids(&shared.xids));
        self.clean_at.store(CLEAN_AT.max(2 * self.table.to_clean()), Relaxed);
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
        if form.durable {
            let mut txn = self.begin(Default::default());
            txn.begin_statement();
            let options = crate::ScanOptions {
                read: ReadOptions::versions(),
                reverse: false,
                one_value: false,
            };
            let mut scan = txn.scan(&tree, Bound::Unbounded, Bound::Unbounded, options)?;
            while let Some((key, row)) = scan.next(&mut txn)? {
                table.load(key, row);
            }
            txn.end_statement();
            txn.rollback()?;
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
        });
        if let Some(quota) = self.memory_quota() {
            quota.add(Arc::<MemoryTree>::downgrade(&made));
        }
        let _ = tree.inner.memory.set(made);
        Ok(())
    }

    /// What the rows of its memory trees may take, by a resource pool; `None`: as much as there is.
    pub fn memory_quota(&self) -> Option<&Arc<MemoryQuota>> {
        self.memory_quota.get()
    }

    /// Gives it a quota, once: before anybody uses it. Rows that are there count, and stay.
    pub fn set_memory_quota(&self, quota: Arc<MemoryQuota>) {
        let trees = self.open_trees();
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
        for tree in self.open_trees() {
            if let Some(memory) = tree.memory().filter(|m| m.table.to_clean() > 0) {
                let in_use =
                    in_use.get_or_insert_with(|| self.shared.snapshots.advance(&self.shared.log));
                gone += memory.clean(&self.shared, in_use);
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
        if let Some(quota) = self.db.memory_quota() {
            quota.draw(key.len(), row.bytes.len())?;
        }
        let snapshot = self.memory_snapshot();
        let sight = Sight { snapshot, own: self.context.xid(), states: &Xids(&self.shared.xids) };
        match memory.table.insert(key, row, &sight) {
            Ok(written) => {
                self.note_change(tree, written, row.run);
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
        if let (Some(quota), Some(row)) = (self.db.memory_quota(), row) {
            quota.draw(0, row.bytes.len())?;
        }
        let snapshot = self.memory_snapshot();
        let sight = Sight { snapshot, own: self.context.xid(), states: &Xids(&self.shared.xids) };
        match memory.table.change(key, row, &sight) {
            Ok(None) => Ok(false),
            Ok(Some(written)) => {
                self.note_change(tree, written, row.and_then(|row| row.run));
                match row {
                    Some(_) => tree.count_changes(1),
                    None => {
                        tree.count_rows(-1);
                        tree.count_changes(2);
                    }
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

    fn note_change(&mut self, tree: &Tree, written: Written, run: Option<Run>) {
        let part = &mut self.memory;
        // The one that was changed last, mostly.
        let is_it = |touched: &Touched| Arc::ptr_eq(&touched.tree.inner, &tree.inner);
        let at = part.trees.iter().rposition(is_it).unwrap_or_else(|| {
            part.trees.push(Touched { tree: tree.clone(), hint: InsertHint::default() });
            part.trees.len() - 1
        });
        part.written.push(Change { tree: at, written, run });
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

    /// Whether its reads of memory trees are to be looked at when it commits.
    #[inline]
    pub(crate) fn must_validate(&self) -> bool {
        !self.memory.read.is_empty()
    }

    /// The first half of committing: the rows of durable trees go to their place, and what it has read is looked at. Where
    /// the log's record of a single row has committed it, and all is in the log: where. Suspends.
    pub(crate) fn prepare_memory(&mut self) -> Result<Option<Appended>, EngineError> {
        if !self.memory.written.is_empty() {
            // What disk tables' snapshot calls a conflict was none in memory.
            self.context.set_conflict_from(None);
            if let Some(at) = self.write_beside()? {
                return Ok(Some(at));
            }
        }
        if !self.must_validate() {
            // Who has read nothing that must stay as it is looks at nothing: committing says that it has prepared.
            return Ok(None);
        }
        if !self.memory.written.is_empty() {
            self.shared.xids.preparing(self.context.xid());
        }
        // Between saying that it prepares and looking at what others have written: `storage::memory::Table::changed`.
        fence(SeqCst);
        let Some(snapshot) = self.memory.snapshot else { return Ok(None) };
        let read = std::mem::take(&mut self.memory.read);
        let sight = Sight { snapshot, own: self.context.xid(), states: &Xids(&self.shared.xids) };
        for what in read {
            let (Read::Key(tree, _) | Read::Range(tree, _)) = &what;
            if tree.is_gone.load(Acquire) {
                counters::add(Counter::XtpValidationFailures, 1);
                return Err(EngineError::NotRepeatable);
            }
            let changed = match what {
                Read::Key(tree, key) => tree.table.changed(&key, &sight),
                Read::Range(tree, mut cursor) => tree.table.changed_within(&mut cursor, &sight),
            };
            let error = match changed {
                Changed::No => None,
                Changed::Row => Some(EngineError::NotRepeatable),
                Changed::Phantom => Some(EngineError::NotSerializable),
            };
            if let Some(error) = error {
                counters::add(Counter::XtpValidationFailures, 1);
                return Err(error);
            }
            runtime::task::maybe_yield();
        }
        Ok(None)
    }

    /// The rows of durable trees, as they will be, into the trees beside them. One row, of a transaction that has logged
    /// nothing and has nothing to look at: its record is the commit too, and where that is.
    fn write_beside(&mut self) -> Result<Option<Appended>, EngineError> {
        let changes = std::mem::take(&mut self.memory.written);
        let mut trees = std::mem::take(&mut self.memory.trees);
        let own = self.context.xid();
        let only = changes.len() == 1 && !self.must_validate() && self.context.last().is_none();
        let mut result = Ok(None);
        let mut row = std::mem::take(&mut self.memory.row);
        for change in &changes {
            let Touched { tree, hint } = &mut trees[change.tree];
            let Some(memory) = tree.memory().filter(|memory| memory.durable) else { continue };
            if self.drops.iter().any(|(gone, _)| gone.id() == tree.id()) {
                // One between two steps of a definition.
                continue;
            }
            runtime::task::maybe_yield();
            result = memory.table.outcome(change.written, own, &mut row, |outcome| {
                self.write_one_beside(tree, outcome, change.run, hint, only)
            });
            if result.is_err() {
                break;
            }
        }
        (self.memory.written, self.memory.trees, self.memory.row) = (changes, trees, row);
        result
    }

    fn write_one_beside(
        &mut self,
        tree: &Tree,
        outcome: Outcome<'_>,
        run: Option<Run>,
        hint: &mut InsertHint,
        only: bool,
    ) -> Result<Option<Appended>, EngineError> {
        loop {
            let beside = &tree.inner.tree;
            let (done, at) = match only {
                true => {
                    let mut log = OnlyChange::new(&mut self.context);
                    let done = change_beside(beside, &mut log, outcome, run, hint);
                    (done, log.end())
                }
                false => (change_beside(beside, &mut self.context, outcome, run, hint), None),
            };
            match done {
                Ok(true) => return Ok(at),
                Ok(false) | Err(StorageError::Duplicate) => {
                    // Nobody writes there but whoever has the row in memory.
                    self.db.fail("rows in memory and those beside them differ");
                    return Err(self.db.check().err().unwrap_or(EngineError::Doomed));
                }
                // Its commit is being published.
                Err(StorageError::WaitFor(xid)) => self.wait_for(xid, KeyMode::EXCLUSIVE)?,
                Err(e) => return Err(self.refuse(tree, e)),
            }
        }
    }

    /// The other half: the commit is in the log.
    pub(crate) fn stamp_memory(&mut self, csn: Lsn) {
        let (own, pin) = (self.context.xid(), Pin::new());
        for change in &self.memory.written {
            self.memory.trees[change.tree].memory().table.stamp(change.written, own, csn, &pin);
        }
    }

    /// The definition that has filled trees is committed. Under their tables' Sch-M locks.
    #[cold]
    pub(crate) fn note_filled(&mut self, csn: Lsn) {
        for change in &self.memory.written {
            let memory = self.memory.trees[change.tree].memory();
            if memory.is_filling.swap(false, Relaxed) {
                memory.filled_at.store(csn.0, Release);
            }
        }
    }

    /// Takes changes back until so many are left.
    pub(crate) fn take_memory_back(&mut self, to: usize) {
        self.memory.take_back_to(to);
    }

    /// The transaction is over; its snapshot is not in use any more.
    pub(crate) fn finish_memory(&mut self) {
        counters::add(Counter::XtpTransactions, 1);
        if self.memory.written.is_empty() {
            counters::add(Counter::XtpReadOnly, 1);
        }
        self.status.note_memory(Lsn::NONE);
        self.memory.snapshot = None;
        self.memory.read.clear();
        self.memory.written.clear();
        let trees = &mut self.memory.trees;
        for touched in trees.iter() {
            let memory = touched.memory();
            if memory.table.to_clean() >= memory.clean_at.load(Relaxed) {
                let in_use = self.shared.snapshots.advance(&self.shared.log);
                let gone = memory.clean(&self.shared, &in_use);
                self.db.figures.cleaned_by_transactions.fetch_add(gone, Relaxed);
            }
        }
        // What is gone is not held on to, nor what has another shape by now.
        trees.retain(|touched| touched.tree.is_current());
        if trees.len() > TREES_MAX {
            trees.drain(..trees.len() - TREES_MAX);
        }
    }
}

/// What a change comes to, in the tree beside its own; false: that has no such row.
fn change_beside<L: TxnLog>(
    beside: &storage::Tree,
    log: &mut L,
    outcome: Outcome<'_>,
    run: Option<Run>,
    hint: &mut InsertHint,
) -> Result<bool, StorageError> {
    let image = |bytes| RowImage { bytes, run };
    match outcome {
        Outcome::Nothing => Ok(true),
        Outcome::Inserted { key, row } => beside.insert(log, key, &image(row), hint).map(|()| true),
        Outcome::Updated { key, row } => beside.update(log, key, &image(row)),
        Outcome::Deleted { key } => beside.mark_ghost(log, key),
    }
}

impl MemoryPart {
    /// Takes everything back, for a transaction whose session is gone.
    pub(crate) fn abandon(&mut self) {
        self.take_back_to(0);
        self.trees.clear();
    }

    /// Takes changes back, newest first, until so many are left.
    fn take_back_to(&mut self, to: usize) {
        while self.written.len() > to {
            if let Some(change) = self.written.pop() {
                let touched = &self.trees[change.tree];
                let rows = touched.memory().table.take_back(change.written);
                touched.tree.count_taken_back(rows);
            }
        }
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
