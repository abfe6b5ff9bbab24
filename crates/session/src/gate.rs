//! One at a time, in the order of their coming, by waiting as a task does: for work that suspends, which no mutex guard may be
//! held across.
//!
//! Ordering: a ticket is drawn by an atomic addition, so no two are alike; who leaves stores the next number with release, and
//! who sees his own by acquire comes after all that was done inside.

use runtime::task;
use std::sync::atomic::{AtomicU64, Ordering};
use telemetry::WaitType;

/// How long a task whose turn it is not sleeps before it looks again.
const LOOK_AGAIN_NS: u64 = 200_000;

/// Whose turn it is, by tickets.
#[derive(Default)]
pub(crate) struct Gate {
    next: AtomicU64,
    turn: AtomicU64,
}

/// Gives the gate on when dropped.
pub(crate) struct Passage<'a>(&'a Gate);

impl Gate {
    /// Waits until nobody else is inside, or came before. Suspends.
    pub(crate) fn enter(&self) -> Passage<'_> {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        while self.turn.load(Ordering::Acquire) != ticket {
            task::sleep_ns(LOOK_AGAIN_NS, WaitType::LckMX);
        }
        Passage(self)
    }
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        self.0.turn.fetch_add(1, Ordering::Release);
    }
}
