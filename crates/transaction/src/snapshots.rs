//! Who reads as of when, and what nobody reads any more.
//!
//! A reader stores TAKING, then reads the log's position, then stores it. The keeper reads the log first, then the
//! cells. Sequential consistency leaves two cases: the keeper sees TAKING or the snapshot (and respects it), or the
//! reader reads the log after the keeper did, and its snapshot is not below what the keeper read. A snapshot may lag
//! the tail (durable LSN), so the keeper starts from the lower of both.
//!
//! A reader that takes a second snapshot while the first is in use (a statement within a statement, or tables in memory
//! beside those on disk) does so by the same protocol, and widens its cell, downwards or upwards: it then stands for every
//! snapshot from the older to the newer. While it is TAKING the keeper takes it to need everything.
//!
//! Who changes a row in a transaction of one record asks whether anybody reads by a snapshot at all
//! ([`Snapshots::are_read`]): while nobody does, no older version need be kept. A reader is counted, by the slot that it
//! runs on, before it reads the log's position; a writer looks at the counts after it has appended its record. So the
//! writer sees the reader, or the reader's snapshot is above the record.

use log_manager::{Log, Lsn};
use parking_lot::Mutex;
use runtime::task::{MAX_SLOTS, slot};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*, fence};
use std::sync::{Arc, Weak};
use stdx::CachePadded;

const NONE: u64 = u64::MAX;
const TAKING: u64 = 0;
const ANY: u64 = u64::MAX;

#[derive(Debug)]
struct Cell {
    /// The oldest snapshot in use; TAKING or NONE.
    low: AtomicU64,
    /// The newest. Means something while `low` is a snapshot.
    high: AtomicU64,
}

/// How many readers each slot has counted, and how many slots ever have.
struct Readers {
    counts: Box<[CachePadded<AtomicU64>]>,
    slots: AtomicUsize,
}

impl Readers {
    #[inline]
    fn enter(&self) -> usize {
        let slot = slot();
        if self.slots.load(Relaxed) <= slot {
            self.slots.fetch_max(slot + 1, SeqCst);
        }
        self.counts[slot].fetch_add(1, SeqCst);
        slot
    }

    #[inline]
    fn leave(&self, slot: usize) {
        self.counts[slot].fetch_sub(1, Release);
    }
}

/// One reader's published snapshots: a line of its own.
pub struct SnapshotCell {
    cell: CachePadded<Cell>,
    readers: Arc<Readers>,
    /// Where it is counted, plus one; 0: nowhere. Of its reader alone.
    counted: AtomicUsize,
}

impl SnapshotCell {
    /// Publishes and returns the position that `read` gives. Nothing else is in use.
    #[inline]
    pub fn take(&self, read: impl FnOnce() -> Lsn) -> Lsn {
        if self.counted.load(Relaxed) == 0 {
            self.counted.store(self.readers.enter() + 1, Relaxed);
        }
        self.cell.low.swap(TAKING, SeqCst);
        let snapshot = read();
        self.cell.high.store(snapshot.0, Relaxed);
        self.cell.low.store(snapshot.0, Release);
        snapshot
    }

    /// The same while another snapshot stays in use, which may be above: one may read at the log's tail, the other at what
    /// is durable.
    pub fn take_another(&self, read: impl FnOnce() -> Lsn) -> Lsn {
        let low = self.cell.low.swap(TAKING, SeqCst);
        let high = self.cell.high.load(Relaxed);
        let snapshot = read();
        self.cell.high.store(high.max(snapshot.0), Release);
        self.cell.low.store(low.min(snapshot.0), Release);
        snapshot
    }

    /// No snapshot any more.
    #[inline]
    pub fn clear(&self) {
        self.cell.low.store(NONE, Release);
        let counted = self.counted.load(Relaxed);
        if counted != 0 {
            self.counted.store(0, Relaxed);
            self.readers.leave(counted - 1);
        }
    }
}

impl Drop for SnapshotCell {
    fn drop(&mut self) {
        self.clear();
    }
}

/// All readers of a database.
pub struct Snapshots {
    cells: Mutex<Vec<Weak<SnapshotCell>>>,
    horizon: CachePadded<AtomicU64>,
    readers: Arc<Readers>,
}

impl Default for Snapshots {
    fn default() -> Self {
        let counts = (0..MAX_SLOTS).map(|_| CachePadded::default()).collect();
        Snapshots {
            cells: Mutex::default(),
            horizon: CachePadded::new(AtomicU64::new(0)),
            readers: Arc::new(Readers { counts, slots: AtomicUsize::new(0) }),
        }
    }
}

/// The snapshots that somebody reads by, or may read by from now on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InUse {
    /// Every snapshot is at or above this.
    pub horizon: Lsn,
    /// Snapshots taken from now on are at or above this.
    from_now: u64,
    /// Those in use: from the first to the second, both included.
    ranges: Vec<(u64, u64)>,
}

impl InUse {
    /// Whether somebody's snapshot sees a commit at `since` and not one at `until`. (A commit below a snapshot is
    /// seen by it.)
    pub fn needs(&self, since: Lsn, until: Lsn) -> bool {
        until.0 >= self.from_now
            || self.ranges.iter().any(|&(low, high)| low.max(since.0 + 1) <= high.min(until.0))
    }
}

#[cfg(test)]
impl InUse {
    pub(crate) fn for_test(from_now: u64, ranges: &[(u64, u64)]) -> InUse {
        let least = ranges.iter().map(|r| r.0).chain([from_now]).min();
        InUse { horizon: Lsn(least.unwrap_or(0)), from_now, ranges: ranges.to_vec() }
    }
}

impl Snapshots {
    /// A cell for a session.
    pub fn register(&self) -> Arc<SnapshotCell> {
        let cell = Cell { low: AtomicU64::new(NONE), high: AtomicU64::new(NONE) };
        let cell = Arc::new(SnapshotCell {
            cell: CachePadded::new(cell),
            readers: self.readers.clone(),
            counted: AtomicUsize::new(0),
        });
        let mut cells = self.cells.lock();
        cells.retain(|c| c.strong_count() > 0);
        cells.push(Arc::downgrade(&cell));
        cell
    }

    /// Whether anybody reads by a snapshot. Who is not counted here reads the log's position later than this call.
    #[inline]
    pub fn are_read(&self) -> bool {
        fence(SeqCst);
        let slots = self.readers.slots.load(SeqCst);
        self.readers.counts[..slots].iter().any(|count| count.load(SeqCst) != 0)
    }

    /// Every snapshot is at or above this. As of the last [`Snapshots::advance`].
    #[inline]
    pub fn horizon(&self) -> Lsn {
        Lsn(self.horizon.load(Acquire))
    }

    /// Moves the horizon up as far as readers allow; what is in use.
    pub fn advance(&self, log: &Log) -> InUse {
        self.advance_from(|| log.durable().min(log.tail()))
    }

    pub(crate) fn advance_from(&self, log: impl FnOnce() -> Lsn) -> InUse {
        let cells = self.cells.lock();
        let from_now = log().0;
        std::sync::atomic::fence(SeqCst);
        let mut least = from_now;
        let mut ranges = Vec::new();
        for cell in cells.iter().filter_map(Weak::upgrade) {
            let low = cell.cell.low.load(SeqCst);
            if low == NONE {
                continue;
            }
            // A reader between TAKING and its snapshot leaves the horizon where it is: `low` is 0. If the cell is
            // cleared and taken again between these two loads, `low` to ANY covers what is there: the newer snapshot
            // is above the older one, and TAKING again only hides a `high` that belongs to a later `low`.
            let high = cell.cell.high.load(SeqCst);
            let high = if cell.cell.low.load(SeqCst) == low && low != TAKING { high } else { ANY };
            least = least.min(low);
            ranges.push((low, high));
        }
        let horizon = Lsn(self.horizon.fetch_max(least, AcqRel).max(least));
        InUse { horizon, from_now, ranges }
    }
}
