//! Room in the log for the records of rows that go to the trees beside memory trees: set aside as their images are logged, so
//! that a full log never keeps a checkpoint from freeing it.
//!
//! The first [`IN_FILE`] bytes are in the file. For more than that it is enough that the file may grow and the disk has room:
//! zeros need not be written for records that mostly come when the log has been used again. That is a look and no reservation:
//! where others use it up meanwhile, the checkpoint's records may make the log longer than its set maximum, and on a full disk
//! the checkpoint fails, and is tried again.
//!
//! What each slot needs and has is written by whoever runs there; a checkpoint takes it all.

use crate::{Database, EngineError};
use runtime::task::{MAX_SLOTS, slot};
use std::sync::atomic::{AtomicU64, Ordering::*};
use stdx::CachePadded;
use storage::memory::ImageWriter;

/// See the file.
pub(crate) struct RoomAside {
    slots: Box<[CachePadded<Share>]>,
}

/// What the transactions of one slot need and have, in bytes.
#[derive(Default)]
struct Share {
    needed: AtomicU64,
    /// In the file.
    aside: AtomicU64,
    /// Where the file may grow.
    growth: AtomicU64,
}

/// So much is in the file.
pub(crate) const IN_FILE: u64 = 32 << 20;
/// Relied upon at a time where the file may grow: to ask the disk costs some microseconds.
const GROWTH_PORTION: u64 = 4 << 20;
/// The disk has so much besides.
const DISK_MIN: u64 = 1 << 30;
/// Set aside at a time.
const PORTION: u64 = 64 << 10;
/// What a row's record takes beside its key and its row: envelope, place, stamps, and a part of the pages' own records.
const RECORD_BYTES: u64 = 96;

/// What the records of so many rows take at most, of which the log has so many bytes.
pub(super) fn room_for(rows: u64, bytes: u64) -> u64 {
    2 * bytes + RECORD_BYTES * rows
}

/// Whether the log's file may grow by so much, and more than that is there: others write to the log and to the disk, too.
fn may_come(db: &Database, bytes: u64) -> bool {
    let wanted = bytes.saturating_mul(2);
    if db.shared.log.growth_bytes() < wanted.saturating_add(IN_FILE) {
        return false;
    }
    let log = db.boot.lock().log.clone();
    let volume = db.fs.volume(&log).ok();
    volume.is_some_and(|volume| volume.free_bytes >= wanted.saturating_add(DISK_MIN))
}

impl Default for RoomAside {
    fn default() -> Self {
        RoomAside { slots: (0..MAX_SLOTS).map(|_| CachePadded::default()).collect() }
    }
}

impl RoomAside {
    /// Images are about to be logged. Suspends where the log is full.
    #[inline]
    pub(crate) fn draw(&self, db: &Database, images: &ImageWriter) -> Result<(), EngineError> {
        if images.images() == 0 {
            return Ok(());
        }
        let more = room_for(images.images(), images.bytes().len() as u64);
        let share = &self.slots[slot()];
        let needed = share.needed.fetch_add(more, Relaxed) + more;
        match needed.checked_sub(share.aside.load(Relaxed) + share.growth.load(Relaxed)) {
            Some(lacking) if lacking > 0 => self.set_aside(db, lacking),
            _ => Ok(()),
        }
    }

    #[cold]
    fn set_aside(&self, db: &Database, lacking: u64) -> Result<(), EngineError> {
        let (log, share) = (&db.shared.log, &self.slots[slot()]);
        let sum = |of: fn(&Share) -> &AtomicU64| -> u64 {
            self.slots.iter().map(|share| of(share).load(Relaxed)).sum()
        };
        let more = lacking.max(GROWTH_PORTION);
        if sum(|share| &share.aside) >= IN_FILE
            && may_come(db, sum(|share| &share.growth).saturating_add(more))
        {
            share.growth.fetch_add(more, Relaxed);
            return Ok(());
        }
        let bytes = lacking.max(PORTION);
        log.set_aside(bytes)?;
        self.slots[slot()].aside.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// All that is set aside in the file; neither this nor what the file may grow by counts for anybody any more.
    pub(super) fn take(&self) -> u64 {
        let take = |share: &CachePadded<Share>| {
            share.needed.store(0, Relaxed);
            share.growth.store(0, Relaxed);
            share.aside.swap(0, Relaxed)
        };
        self.slots.iter().map(take).sum()
    }

    /// So much is needed still: what is in the file, and where it may grow.
    pub(super) fn put_back(&self, aside: u64, growth: u64) {
        let share = &self.slots[slot()];
        share.needed.fetch_add(aside + growth, Relaxed);
        share.aside.fetch_add(aside, Relaxed);
        share.growth.fetch_add(growth, Relaxed);
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.slots.iter().map(|share| share.aside.load(Relaxed)).sum()
    }
}
