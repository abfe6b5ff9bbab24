//! A simulated world for the calling thread: clock, randomness and pollers from one seed.
//!
//! [`enter`] makes the calling OS thread simulated until the guard drops. While it is:
//! 1. the clock stands still, except that a wait with nothing to do jumps to its deadline;
//! 2. random numbers follow the seed;
//! 3. pollers registered here belong to this world, and no other thread polls them;
//! 4. what happens can be noted ([`note`]), so that two runs of a seed can be compared by one number ([`trace`]).
//!
//! State is thread-local, so tests in one process simulate side by side without meeting.

use std::cell::{Cell, RefCell};

/// The wall clock when a simulation begins: 2026-01-01 00:00:00 UTC.
pub const UNIX_START_NS: u64 = 1_767_225_600_000_000_000;

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static NOW_NS: Cell<u64> = const { Cell::new(0) };
    static STATE: Cell<u64> = const { Cell::new(0) };
    static TRACE: Cell<u64> = const { Cell::new(0) };
    static NOTES: RefCell<Option<Vec<Note>>> = const { RefCell::new(None) };
    /// How far the wall clock is from where it would be.
    static WALL_SHIFT_NS: Cell<i64> = const { Cell::new(0) };
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
    TRACE.set(0);
    WALL_SHIFT_NS.set(0);
    SimGuard(std::marker::PhantomData)
}

impl Drop for SimGuard {
    fn drop(&mut self) {
        crate::net::forget_sim_network();
        crate::task::forget_sim_pollers();
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

/// The simulated wall clock: nanoseconds since 1970-01-01. It goes with [`now_ns`], from [`UNIX_START_NS`] on, but for
/// what [`shift_wall`] has done to it.
pub fn unix_ns() -> u64 {
    (UNIX_START_NS + NOW_NS.get()).saturating_add_signed(WALL_SHIFT_NS.get())
}

/// The wall clock steps forward or back, as when somebody sets it. The monotonic clock does not.
pub fn shift_wall(ns: i64) {
    debug_assert!(active());
    WALL_SHIFT_NS.set(WALL_SHIFT_NS.get().saturating_add(ns));
}

/// Something that happened in a world: the time, what kind of thing, and a number of it.
pub type Note = (u64, &'static str, u64);

/// Adds something that happened to the trace of this world. Outside of one it does nothing.
#[inline]
pub fn note(kind: &'static str, what: u64) {
    if active() {
        TRACE.set(stdx::mix64(TRACE.get() ^ what));
        NOTES.with_borrow_mut(|notes| {
            if let Some(notes) = notes {
                notes.push((NOW_NS.get(), kind, what));
            }
        });
    }
}

/// As [`note`], of bytes.
pub fn note_bytes(kind: &'static str, bytes: &[u8]) {
    if active() {
        let mut hash = bytes.len() as u64;
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = stdx::mix64(hash ^ u64::from_le_bytes(word));
        }
        note(kind, hash);
    }
}

/// From now on the notes of the calling thread's worlds are kept, to be taken by [`take_notes`].
pub fn keep_notes() {
    NOTES.set(Some(Vec::new()));
}

/// What was noted since [`keep_notes`]; no more is kept.
pub fn take_notes() -> Vec<Note> {
    NOTES.take().unwrap_or_default()
}

/// A hash of everything noted so far, the time among it: two runs of one seed have the same.
pub fn trace() -> u64 {
    stdx::mix64(TRACE.get() ^ NOW_NS.get())
}

/// The next random number of this world.
pub fn next_u64() -> u64 {
    let state = STATE.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.set(state);
    stdx::mix64(state)
}
