//! Who reads as of when, and the horizon below which nobody does.
//!
//! A reader stores TAKING, then reads the log's position, then stores it. The horizon's keeper reads the tail first,
//! then the cells. Sequential consistency leaves two cases: the keeper sees TAKING or the snapshot (and respects it),
//! or the reader reads the log after the keeper did, and its snapshot is not below the keeper's tail. A snapshot may
//! lag the tail (durable LSN), so the keeper starts from the lower of both.

use log_manager::{Log, Lsn};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::*};
use std::sync::{Arc, Weak};
use stdx::CachePadded;

const NONE: u64 = u64::MAX;
const TAKING: u64 = 0;

/// One reader's published snapshot: a line of its own.
pub struct SnapshotCell(CachePadded<AtomicU64>);

impl SnapshotCell {
    /// Publishes and returns the position that `read` gives.
    #[inline]
    pub fn take(&self, read: impl FnOnce() -> Lsn) -> Lsn {
        self.0.swap(TAKING, SeqCst);
        let snapshot = read();
        self.0.store(snapshot.0, Release);
        snapshot
    }

    /// Publishes a snapshot that is already protected by an older one in this cell.
    pub fn set(&self, snapshot: Lsn) {
        self.0.store(snapshot.0, Release);
    }

    /// No snapshot any more.
    #[inline]
    pub fn clear(&self) {
        self.0.store(NONE, Release);
    }
}

/// All readers of a database.
pub struct Snapshots {
    cells: Mutex<Vec<Weak<SnapshotCell>>>,
    horizon: CachePadded<AtomicU64>,
}

impl Default for Snapshots {
    fn default() -> Self {
        Snapshots { cells: Mutex::default(), horizon: CachePadded::new(AtomicU64::new(0)) }
    }
}

impl Snapshots {
    /// A cell for a session.
    pub fn register(&self) -> Arc<SnapshotCell> {
        let cell = Arc::new(SnapshotCell(CachePadded::new(AtomicU64::new(NONE))));
        let mut cells = self.cells.lock();
        cells.retain(|c| c.strong_count() > 0);
        cells.push(Arc::downgrade(&cell));
        cell
    }

    /// Every snapshot is at or above this. As of the last [`Snapshots::advance`].
    #[inline]
    pub fn horizon(&self) -> Lsn {
        Lsn(self.horizon.load(Acquire))
    }

    /// Moves the horizon up as far as readers allow.
    pub fn advance(&self, log: &Log) -> Lsn {
        let cells = self.cells.lock();
        let mut least = log.durable().min(log.tail()).0;
        std::sync::atomic::fence(SeqCst);
        for cell in cells.iter().filter_map(Weak::upgrade) {
            least = least.min(cell.0.load(SeqCst));
        }
        // A reader between TAKING and its snapshot leaves the horizon where it is.
        Lsn(self.horizon.fetch_max(least, AcqRel).max(least))
    }
}
