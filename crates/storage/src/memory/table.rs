//! One index, its rows, and what they weigh.

use crate::memory::clean::Queue;
use crate::memory::hash::{Hash, HashIndex, Inserted};
use crate::memory::lists::Unwritten;
use crate::memory::range::RangeIndex;
use crate::memory::reclaim::{Guard, pin};
use crate::memory::row::{OwnedRow, Row};
use crate::memory::sight::{Changed, Sight, States};
use crate::memory::slab::Slab;
use crate::memory::version::Kept;
use parking_lot::Mutex;
use runtime::task::{MAX_SLOTS, slot};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use stdx::CachePadded;

/// How rows are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// By the order of their keys, both ways.
    Range,
    /// By what their keys hash to.
    Hash {
        buckets: usize,
        /// Keys end with the length of a tail (u16, big-endian) that follows what is hashed: rows of one value whose
        /// keys differ at the end alone.
        tailed: bool,
    },
}

pub(crate) enum Index {
    Hash(HashIndex),
    Range(RangeIndex),
}

/// What one slot knows of a table: a line of its own, written by one thread at a time.
#[derive(Default)]
pub(super) struct SlotState {
    bytes: AtomicI64,
    pub scans: AtomicU64,
    pub returned: AtomicU64,
    pub inserts: AtomicU64,
    pub updates: AtomicU64,
    pub deletes: AtomicU64,
}

/// Rows in memory, by one key.
pub struct Table {
    pub(crate) kind: Kind,
    pub(crate) index: Index,
    pub(crate) queue: Queue,
    pub(crate) unwritten: Unwritten,
    /// Where its rows lie: what is on its way out of it may be there for longer than the table.
    pub(crate) slab: Arc<Slab>,
    pub(super) slots: Box<[CachePadded<SlotState>]>,
    /// Held by the one who takes rows and versions out.
    pub(crate) cleaning: Mutex<()>,
}

/// Where a key belongs, as far as that is known without looking: see [`Table::seek`].
#[derive(Clone, Copy)]
pub(crate) struct Sought(Option<Hash>);

impl Sought {
    /// See [`Row`].
    #[inline]
    pub fn tag(self) -> u16 {
        self.0.map_or(0, Hash::tag)
    }
}

impl Table {
    pub fn new(kind: Kind) -> Table {
        let index = match kind {
            Kind::Range => Index::Range(RangeIndex::new()),
            Kind::Hash { buckets, tailed } => {
                Index::Hash(HashIndex::new(buckets, tailed, runtime::random::next_u64()))
            }
        };
        Table {
            kind,
            index,
            queue: Queue::default(),
            unwritten: Unwritten::default(),
            slab: Arc::new(Slab::new()),
            slots: (0..MAX_SLOTS).map(|_| CachePadded::default()).collect(),
            cleaning: Mutex::new(()),
        }
    }

    /// Bytes that rows, their keys and their versions take, and the index.
    pub fn bytes(&self) -> u64 {
        self.row_bytes() + self.index_bytes()
    }

    /// The same without the index.
    pub fn row_bytes(&self) -> u64 {
        let rows: i64 = self.slots.iter().map(|s| s.bytes.load(Relaxed)).sum();
        rows.max(0) as u64
    }

    /// Rows, and what of the index is known without looking: the buckets of a hash index.
    pub fn bounded_bytes(&self) -> u64 {
        self.row_bytes()
            + match &self.index {
                Index::Hash(_) => self.index_bytes(),
                Index::Range(_) => 0,
            }
    }

    /// Bytes that the index takes, about.
    pub fn index_bytes(&self) -> u64 {
        match &self.index {
            Index::Hash(hash) => (hash.buckets() * size_of::<usize>()) as u64,
            Index::Range(range) => range.bytes(),
        }
    }

    /// One thread at a time has a slot, so a load and a store do.
    pub(crate) fn weigh(&self, bytes: i64) {
        let mine = &self.slots[slot()].bytes;
        mine.store(mine.load(Relaxed) + bytes, Relaxed);
    }

    #[inline]
    pub(super) fn note(&self, what: impl FnOnce(&SlotState) -> &AtomicU64) {
        let cell = what(&self.slots[slot()]);
        cell.store(cell.load(Relaxed) + 1, Relaxed);
    }

    /// A look-up or a scan that begins, and so many rows that one has shown.
    #[inline]
    pub fn note_read(&self, begins: bool, rows: usize) {
        let mine = &self.slots[slot()];
        mine.scans.store(mine.scans.load(Relaxed) + u64::from(begins), Relaxed);
        mine.returned.store(mine.returned.load(Relaxed) + rows as u64, Relaxed);
    }

    /// Shows the row under `key` that a transaction sees; `None`: there is none.
    #[inline]
    pub fn get<S: States, R>(
        &self,
        key: &[u8],
        sight: &Sight<'_, S>,
        show: impl FnOnce(Kept<'_>, mvcc::Stamp) -> R,
    ) -> Option<R> {
        let guard = pin();
        let version = sight.row(self.find(key, &guard)?, &guard)?;
        Some(show(version.row(), version.stamp()))
    }

    /// What has become of a row since a transaction has seen it, as it commits.
    ///
    /// Who asks has said before that it is preparing ([`States::has_prepared`]), with a sequentially consistent fence
    /// after that; so of two that have each written what the other has read, the one whose fence is later finds the other
    /// one's version, and that it is preparing.
    pub fn changed<S: States>(&self, key: &[u8], sight: &Sight<'_, S>) -> Changed {
        let guard = pin();
        match self.find(key, &guard) {
            Some(row) => sight.changed(row, &guard),
            None => Changed::No,
        }
    }

    #[inline]
    pub(crate) fn find<'g>(&self, key: &[u8], guard: &'g Guard) -> Option<&'g Row> {
        match &self.index {
            Index::Hash(hash) => hash.find(key, guard),
            Index::Range(range) => range.find(key, guard),
        }
    }

    /// A key is about to be looked for or inserted: what it takes to get there begins to come. For who has something
    /// else to do until then.
    #[inline]
    pub fn prefetch(&self, key: &[u8]) {
        self.seek(key);
    }

    /// Where a key belongs. What it takes to get there begins to come while the caller does something else.
    #[inline]
    pub(crate) fn seek(&self, key: &[u8]) -> Sought {
        match &self.index {
            Index::Hash(hash) => {
                let sought = hash.hash(key);
                hash.prefetch(sought);
                Sought(Some(sought))
            }
            Index::Range(_) => Sought(None),
        }
    }

    /// Adds a row, whose key was sought, unless its key has a live one.
    #[inline]
    pub(crate) fn add<'g>(
        &self,
        row: OwnedRow<'_>,
        sought: Sought,
        guard: &'g Guard,
    ) -> Inserted<'g> {
        match (&self.index, sought.0) {
            (Index::Hash(index), Some(hash)) => index.insert(row, hash, guard),
            (Index::Hash(index), None) => {
                let hash = index.hash(row.key());
                index.insert(row, hash, guard)
            }
            (Index::Range(range), _) => range.insert(row, guard),
        }
    }

    pub(crate) fn take_out(&self, row: &Row, guard: &Guard) {
        match &self.index {
            Index::Hash(hash) => hash.remove(row, guard),
            Index::Range(range) => range.remove(row, guard),
        }
    }
}
