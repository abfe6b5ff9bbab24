//! Slots: small numbers for OS threads, so that others keep an array of per-thread lanes.
//!
//! A slot belongs to one OS thread at a time; it is taken at the first question and given back when
//! the thread ends. The lowest free one is given, so few threads use few slots.

use parking_lot::Mutex;
use std::cell::Cell;

/// Slots there are: the schedulers and the plain threads that touch the engine at one time.
pub const MAX_SLOTS: usize = 128;

static TAKEN: Mutex<u128> = Mutex::new(0);

struct GiveBack;

impl Drop for GiveBack {
    fn drop(&mut self) {
        let slot = SLOT.replace(usize::MAX);
        if slot != usize::MAX {
            *TAKEN.lock() &= !(1 << slot);
        }
    }
}

thread_local! {
    static SLOT: Cell<usize> = const { Cell::new(usize::MAX) };
    static GIVE_BACK: GiveBack = const { GiveBack };
}

/// The calling thread's slot, `< MAX_SLOTS`. Stable through a task, since tasks never migrate.
#[inline(always)]
pub fn slot() -> usize {
    let slot = SLOT.get();
    if slot != usize::MAX { slot } else { take() }
}

#[cold]
fn take() -> usize {
    let mut taken = TAKEN.lock();
    let slot = taken.trailing_ones() as usize;
    if slot >= MAX_SLOTS {
        stdx::fatal!("more than {MAX_SLOTS} OS threads use the engine at one time");
    }
    *taken |= 1 << slot;
    drop(taken);
    SLOT.set(slot);
    // Registers the destructor; a thread already past its destructors keeps the slot for good.
    let _ = GIVE_BACK.try_with(|_| ());
    slot
}
