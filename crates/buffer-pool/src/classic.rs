//! The classic form of looking at a page: readers take its latch too.
//!
//! By default a reader writes nothing: it looks, and looks whether the page was changed meanwhile. In the classic form, chosen
//! for the whole process while it runs, each look first takes the page's latch and lets go of it, as a shared latch is taken
//! and released by writing to it; who finds it held waits in PAGELATCH_SH. A page that all read (a root) is where that shows.
//!
//! Promise: what is read is true in both forms, for both look for changes afterwards; letting go of the latch unchanged leaves
//! other looks valid but for those that it fell into, which look again.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static READERS_LATCH: AtomicBool = AtomicBool::new(false);

/// Whether readers take latches, in every pool of the process.
pub fn set_readers_latch(on: bool) {
    READERS_LATCH.store(on, Relaxed);
}

#[inline]
pub(crate) fn readers_latch() -> bool {
    READERS_LATCH.load(Relaxed)
}
