//! One at a time, by waiting as a task does: for work that suspends, which no mutex guard may be held across.

use runtime::task;
use std::sync::atomic::{AtomicBool, Ordering};
use telemetry::WaitType;

/// How long a task that found the gate taken sleeps before it looks again.
const LOOK_AGAIN_NS: u64 = 1_000_000;

/// Open or taken.
#[derive(Default)]
pub(crate) struct Gate {
    taken: AtomicBool,
}

/// Gives the gate back when dropped.
pub(crate) struct Passage<'a>(&'a Gate);

impl Gate {
    /// Waits until nobody else is inside. Suspends.
    pub(crate) fn enter(&self) -> Passage<'_> {
        while self.taken.swap(true, Ordering::Acquire) {
            task::sleep_ns(LOOK_AGAIN_NS, WaitType::LckMX);
        }
        Passage(self)
    }
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::Release);
    }
}
