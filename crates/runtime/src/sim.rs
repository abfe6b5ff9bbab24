//! A simulated world for the calling thread: clock, randomness and pollers from one seed.
//!
//! [`enter`] makes the calling OS thread simulated until the guard drops. While it is:
//! 1. the clock stands still, except that a wait with nothing to do jumps to its deadline;
//! 2. random numbers follow the seed;
//! 3. pollers registered here belong to this world, and no other thread polls them.
//!
//! State is thread-local, so tests in one process simulate side by side without meeting.

use std::cell::Cell;

/// The wall clock when a simulation begins: 2026-01-01 00:00:00 UTC.
pub const UNIX_START_NS: u64 = 1_767_225_600_000_000_000;

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static NOW_NS: Cell<u64> = const { Cell::new(0) };
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// Leaves the simulated world when dropped.
#[must_use]
pub struct SimGuard(std::marker::PhantomData<*const ()>);

/// Makes the calling thread simulated from `seed`. Worlds do not nest.
pub fn enter(seed: u64) -> SimGuard {
    assert!(!ACTIVE.get(), "this thread is already in a simulated world");
    ACTIVE.set(true);
    // Not zero: a time of 0 means "none" to some.
    NOW_NS.set(1_000_000_000);
    STATE.set(stdx::mix64(seed));
    SimGuard(std::marker::PhantomData)
}

impl Drop for SimGuard {
    fn drop(&mut self) {
        crate::task::forget_sim_pollers();
        crate::net::forget_sim_network();
        ACTIVE.set(false);
    }
}

/// Whether the calling thread is simulated.
#[inline(always)]
pub fn active() -> bool {
    ACTIVE.get()
}

/// The simulated monotonic clock.
pub fn now_ns() -> u64 {
    NOW_NS.get()
}

/// Moves the simulated clock forward to `ns`; never back.
pub fn advance_to(ns: u64) {
    debug_assert!(active());
    NOW_NS.set(NOW_NS.get().max(ns));
}

/// The next random number of this world.
pub fn next_u64() -> u64 {
    let state = STATE.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.set(state);
    stdx::mix64(state)
}
