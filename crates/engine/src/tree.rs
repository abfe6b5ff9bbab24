//! Handles to trees: what a table or an index is to the engine.

use crate::operations::{OperationFigures, RowWaits};
use crate::tree_space::Known;
use crate::usage::Uses;
use crate::{Database, EngineError, ReadOptions};
use log_manager::Lsn;
use parking_lot::Mutex;
use runtime::task::{MAX_SLOTS, slot};
use std::ops::Bound;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering::*};
use std::sync::{Arc, OnceLock};
use stdx::CachePadded;
use storage::{TreeId, TreeReport};

/// Number of trees that every database is born with, for its catalog: see [`crate::Database::system_tree`].
pub const SYSTEM_TREES: usize = 22;

/// The shape of a tree that is gone.
pub(crate) const GONE: u64 = u64::MAX;

/// How many row ids a slot takes at a time.
const ROW_ID_RANGE: u64 = 4096;

/// A tree, opened. Clones share their counters.
///
/// A tree has a shape: a number that [`crate::Txn::reshape`] moves on when what its rows mean changes. A handle is for
/// one shape; once the tree has another one, using the handle answers [`EngineError::NoSuchTree`]. So whoever has
/// waited for a table's lock with an old definition of it learns that the definition is old.
#[derive(Clone)]
pub struct Tree {
    pub(crate) inner: Arc<TreeInner>,
    pub(crate) shape: u64,
}

/// What one slot knows of a tree: a line of its own.
#[derive(Default)]
pub(crate) struct SlotState {
    rows: AtomicI64,
    /// What `rows` lacks to be the number of changes: 2 for a deletion, 1 for an update.
    more_changes: AtomicI64,
    /// Deletions alone, and how many rows `rows` has had added when changes were taken back.
    deletes: AtomicI64,
    taken_back: AtomicI64,
    scans: AtomicU64,
    lookups: AtomicU64,
    pub(crate) uses: Uses,
    next_row_id: AtomicU64,
    row_id_end: AtomicU64,
}

pub(crate) struct TreeInner {
    pub(crate) tree: storage::Tree,
    /// Set for one that lives in memory: see `memory.rs`.
    pub(crate) memory: OnceLock<Arc<crate::memory::MemoryTree>>,
    /// Its shape since the database was opened; [`GONE`] when a drop has committed. Changed under the Sch-M lock.
    pub(crate) shape: AtomicU64,
    /// How many transactions may have locked gaps: see `gaps.rs`.
    pub(crate) guards: AtomicU32,
    pub(crate) slots: Box<[CachePadded<SlotState>]>,
    /// The classic form of `uses`: see `usage.rs`.
    pub(crate) shared_uses: CachePadded<Uses>,
    pub(crate) row_waits: RowWaits,
    /// What is known of its pages and rows: see `tree_space.rs`.
    pub(crate) space: Mutex<Known>,
    /// Where the next range of row ids begins; 0 until the largest one in use has been looked up.
    row_ids: AtomicU64,
    /// Leaves that have left since the pages above were last looked at: see `ghosts.rs`.
    pub(crate) emptied: AtomicU64,
    /// After how many that is done again.
    pub(crate) look_after: AtomicU64,
}

impl Tree {
    pub(crate) fn new(tree: storage::Tree) -> Tree {
        Tree {
            shape: 0,
            inner: Arc::new(TreeInner {
                tree,
                memory: OnceLock::new(),
                shape: AtomicU64::new(0),
                guards: AtomicU32::new(0),
                slots: (0..MAX_SLOTS).map(|_| CachePadded::default()).collect(),
                shared_uses: CachePadded::default(),
                row_waits: RowWaits::default(),
                space: Mutex::default(),
                row_ids: AtomicU64::new(0),
                emptied: AtomicU64::new(0),
                look_after: AtomicU64::new(0),
            }),
        }
    }

    pub fn id(&self) -> TreeId {
        self.inner.tree.id()
    }

    /// A handle for another shape of the same tree.
    pub fn shaped(mut self, shape: u64) -> Tree {
        self.shape = shape;
        self
    }

    /// Whether the tree is there in the handle's shape.
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        self.inner.shape.load(Acquire) == self.shape
    }

    /// A handle for the shape that the tree has now.
    pub(crate) fn current(self) -> Tree {
        let shape = self.inner.shape.load(Acquire);
        self.shaped(shape)
    }

    /// Its number, for locks and versions.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.inner.tree.id().0.0
    }

    /// About how many rows have been added since the database was opened, less those deleted, so perhaps below 0.
    /// Rows of transactions that are not over are counted.
    pub fn net_rows(&self) -> i64 {
        self.inner.slots.iter().map(|s| s.rows.load(Relaxed)).sum()
    }

    /// About how many rows have been inserted, changed and deleted since the database was opened; a row changed twice
    /// counts twice.
    pub fn changes(&self) -> u64 {
        let each = |s: &CachePadded<SlotState>| {
            s.rows.load(Relaxed).wrapping_add(s.more_changes.load(Relaxed))
        };
        let sum: i64 = self.inner.slots.iter().map(each).sum();
        sum.max(0) as u64
    }

    /// Keys within a range, ascending, at which it can be cut into parts of about half a megabyte, so that several may
    /// read it at once. Suspends.
    pub fn boundaries(
        &self,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
    ) -> Result<Vec<Vec<u8>>, EngineError> {
        if self.is_memory() {
            return Ok(Vec::new());
        }
        Ok(self.inner.tree.boundaries(lower, upper)?)
    }

    /// Whether a look-up of the key needs no reading of a file. A hint, as the next one.
    pub fn is_near(&self, key: &[u8]) -> Result<bool, EngineError> {
        Ok(self.is_memory() || self.inner.tree.is_near(key)?)
    }

    /// Reads in, side by side, what look-ups of these keys need and is not in memory; how many pages. Suspends.
    pub fn bring_near<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]>,
    ) -> Result<usize, EngineError> {
        if self.is_memory() {
            return Ok(0);
        }
        Ok(self.inner.tree.bring_near(keys)?)
    }

    /// Whether [`Tree::fetch_ahead`] does anything: small trees are near anyway.
    pub fn fetches_ahead(&self) -> bool {
        !self.is_memory() && self.inner.tree.fetches_ahead()
    }

    /// Has the processor fetch what look-ups of these keys, [`storage::KEYS_AHEAD`] at most, will read. A hint. True: it has, and
    /// all of it is in memory.
    pub fn fetch_ahead<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> bool {
        !self.is_memory() && self.inner.tree.fetch_ahead(keys)
    }

    /// Checks the tree's structure; counts pages and rows. Nobody may be changing it. Suspends.
    pub fn verify(&self) -> Result<TreeReport, EngineError> {
        Ok(storage::verify(&self.inner.tree)?)
    }

    /// Counts rows. One thread at a time has a slot, so a load and a store do.
    #[inline]
    pub(crate) fn count_rows(&self, n: i64) {
        let rows = &self.inner.slots[slot()].rows;
        rows.store(rows.load(Relaxed) + n, Relaxed);
    }

    /// Counts that rows have been taken back, by which there are so many more or less. They have been changed all the same.
    pub(crate) fn count_taken_back(&self, rows: i64) {
        self.count_rows(rows);
        self.count_changes(-rows);
        let taken_back = &self.inner.slots[slot()].taken_back;
        taken_back.store(taken_back.load(Relaxed) + rows, Relaxed);
    }

    /// Counts rows that are deleted.
    #[inline]
    pub(crate) fn count_deleted(&self, n: i64) {
        let mine = &self.inner.slots[slot()];
        mine.rows.store(mine.rows.load(Relaxed) - n, Relaxed);
        mine.more_changes.store(mine.more_changes.load(Relaxed) + 2 * n, Relaxed);
        mine.deletes.store(mine.deletes.load(Relaxed) + n, Relaxed);
    }

    /// Counts a scan that begins.
    #[inline]
    pub(crate) fn count_scan(&self) {
        let scans = &self.inner.slots[slot()].scans;
        scans.store(scans.load(Relaxed) + 1, Relaxed);
    }

    /// Counts a row that is looked up by its key.
    #[inline]
    pub(crate) fn count_lookup(&self) {
        let lookups = &self.inner.slots[slot()].lookups;
        lookups.store(lookups.load(Relaxed) + 1, Relaxed);
    }

    /// The same, unless the statement has found the row before.
    #[inline]
    pub(crate) fn count_lookup_of(&self, options: ReadOptions) {
        if !options.again {
            self.count_lookup();
        }
    }

    /// What the slots have counted. With I inserts, U updates, D deletes and T rows added by taking back: `rows` is
    /// I - D + T, and `more_changes` is U + 2 D - T.
    pub(crate) fn counted(&self) -> OperationFigures {
        let sum = |of: fn(&SlotState) -> &AtomicI64| -> i64 {
            self.inner.slots.iter().map(|s| of(s).load(Relaxed)).sum()
        };
        let (deletes, taken_back) = (sum(|s| &s.deletes), sum(|s| &s.taken_back));
        let inserts = sum(|s| &s.rows) + deletes - taken_back;
        let updates = sum(|s| &s.more_changes) - 2 * deletes + taken_back;
        OperationFigures {
            inserts: inserts.max(0) as u64,
            updates: updates.max(0) as u64,
            deletes: deletes.max(0) as u64,
            scans: self.inner.slots.iter().map(|s| s.scans.load(Relaxed)).sum(),
            lookups: self.inner.slots.iter().map(|s| s.lookups.load(Relaxed)).sum(),
            ..OperationFigures::default()
        }
    }

    /// Counts updates.
    #[inline]
    pub(crate) fn count_changes(&self, n: i64) {
        let changes = &self.inner.slots[slot()].more_changes;
        changes.store(changes.load(Relaxed) + n, Relaxed);
    }

    /// A number that no other row of this tree has had: for the hidden key of a heap (encode big-endian). Numbers
    /// come in ranges per slot, so neighbours are inserted by one slot. May suspend after opening.
    #[inline]
    pub fn next_row_id(&self) -> Result<u64, EngineError> {
        let mine = &self.inner.slots[slot()];
        let next = mine.next_row_id.load(Relaxed);
        if next < mine.row_id_end.load(Relaxed) {
            mine.next_row_id.store(next + 1, Relaxed);
            return Ok(next);
        }
        self.new_row_ids()
    }

    #[cold]
    fn new_row_ids(&self) -> Result<u64, EngineError> {
        let all = &self.inner.row_ids;
        if all.load(Acquire) == 0 {
            let first = self.largest_row_id()? + 1;
            let _ = all.compare_exchange(0, first, AcqRel, Acquire);
        }
        let start = all.fetch_add(ROW_ID_RANGE, AcqRel);
        // Looked up again: finding the largest may have suspended.
        let mine = &self.inner.slots[slot()];
        mine.next_row_id.store(start + 1, Relaxed);
        mine.row_id_end.store(start + ROW_ID_RANGE, Relaxed);
        Ok(start)
    }

    fn largest_row_id(&self) -> Result<u64, EngineError> {
        let number = |key: &[u8]| {
            let mut bytes = [0; 8];
            let len = key.len().min(8);
            bytes[..len].copy_from_slice(&key[..len]);
            u64::from_be_bytes(bytes)
        };
        if let Some(memory) = self.memory() {
            return Ok(memory.table.last_key().map_or(0, |key| number(&key)));
        }
        let mut scan = self.inner.tree.scan(Bound::Unbounded, Bound::Unbounded, true);
        let last = scan.next()?;
        Ok(last.map_or(0, |(_, key, _)| number(key)))
    }
}

/// A tree that gets another shape when its transaction commits.
pub(crate) struct Reshape {
    pub(crate) tree: Tree,
    /// The transaction's newest record then.
    pub(crate) at: Lsn,
}

/// The same for a transaction whose rows have been counted.
pub(crate) struct CountedTrees<'a>(pub(crate) &'a Database);

impl transaction::Trees for CountedTrees<'_> {
    fn tree(&self, id: TreeId) -> storage::Tree {
        TreesOf(self.0).tree(id)
    }

    fn free_tree(&self, id: TreeId) -> Result<(), storage::StorageError> {
        TreesOf(self.0).free_tree(id)
    }

    fn taken_back(&self, id: TreeId, rows: i64) {
        let tree = self.0.tree(id);
        if tree.is_memory() {
            // Its versions are taken back, and counted then: this is the tree beside.
            return;
        }
        tree.count_taken_back(rows);
    }
}

/// How the undo walk finds trees.
pub(crate) struct TreesOf<'a>(pub(crate) &'a Database);

impl transaction::Trees for TreesOf<'_> {
    fn tree(&self, id: TreeId) -> storage::Tree {
        self.0.storage_tree(id)
    }

    fn free_tree(&self, id: TreeId) -> Result<(), storage::StorageError> {
        self.0.forget_tree(id);
        self.0.store.free_tree(id)
    }
}

/// A tree that a committing or committed transaction has dropped and whose pages are not free yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingDrop {
    pub(crate) tree: TreeId,
    /// The log must be kept from here until the drop is done.
    pub(crate) first: Lsn,
    /// The commit, once it is there.
    pub(crate) csn: Option<Lsn>,
}
