//! The classic form of looking at a page: readers take its latch too.
//!
//! By default a reader writes nothing: it looks, and looks whether the page was changed meanwhile. In the classic form, chosen
//! for the whole process while it runs, each look first takes the page's latch and lets go of it, as a shared latch is taken
//! and released by writing to it; who finds it held waits in PAGELATCH_SH. A page that all read (a root) is where that shows.
//!
//! Promise: what is read is true in both forms, for both look for changes afterwards; letting go of the latch unchanged leaves
//! other looks valid but for those that it fell into, which look again.

use crate::pool::BufferPool;
use crate::{PageId, PoolError, word};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use telemetry::WaitType;

static READERS_LATCH: AtomicBool = AtomicBool::new(false);

/// Whether readers take latches, in every pool of the process.
pub fn set_readers_latch(on: bool) {
    READERS_LATCH.store(on, Relaxed);
}

#[inline]
pub(crate) fn readers_latch() -> bool {
    READERS_LATCH.load(Relaxed)
}

impl BufferPool {
    /// Takes the page's latch and lets go of it; the word under which that was.
    #[cold]
    pub(crate) fn latch_to_look(
        &self,
        page: PageId,
        word: &AtomicU64,
        mut seen: u64,
    ) -> Result<u64, PoolError> {
        loop {
            if word::is_quiet(seen)
                && let Some(frame) = word::frame(seen)
                && let Some(held) = self.read_of(page, word, frame, seen).try_exclusive()
            {
                held.unlock_unchanged();
                return Ok(seen);
            }
            seen = word.load(Acquire);
            if !word::is_quiet(seen) {
                seen = self.until_quiet(page, word, WaitType::PageIoLatchSh)?;
            }
        }
    }
}
