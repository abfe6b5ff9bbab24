//! Who gives way when memory is short: caches of what can be had again, which are asked before anybody is refused.
//!
//! Promise: they are asked by whoever is short, wherever that is; so a giver neither suspends nor waits for a latch. What
//! it cannot give at once leaves in time, and those who may wait do ([`wait`]).

use crate::{clock, memory, task};
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use telemetry::WaitType;

/// So much is asked for at a time, at most: some milliseconds of work.
const ASKED_MAX: u64 = 64 << 20;
/// A statement waits so long for memory that leaves, at most, and looks so often.
const WAIT_NS: u64 = 1_000_000_000;
const LOOK_NS: u64 = 2_000_000;

/// Has memory that it can do without.
pub trait Gives: Send + Sync {
    /// Gives so many bytes back now, as far as it has them beyond what is its own; how many it were.
    fn give(&self, bytes: u64) -> u64;

    /// Whether it has more than is its own, which leaves in time.
    fn has_more(&self) -> bool;
}

static GIVERS: Mutex<Vec<Weak<dyn Gives>>> = Mutex::new(Vec::new());

/// From now on it is asked, as long as it is there.
pub fn register(giver: Weak<dyn Gives>) {
    let mut all = GIVERS.lock();
    all.retain(|known| known.strong_count() > 0);
    all.push(giver);
}

fn givers() -> Vec<Arc<dyn Gives>> {
    GIVERS.lock().iter().filter_map(Weak::upgrade).collect()
}

/// Asks for so many bytes; how many were given.
pub(crate) fn ask(bytes: u64) -> u64 {
    let wanted = bytes.min(ASKED_MAX);
    let mut given = 0;
    for giver in givers() {
        if given >= wanted {
            break;
        }
        given += giver.give(wanted - given);
    }
    given
}

/// Waits as long as there is too little for anybody and more is to leave, for a second at most. Suspends, where that is
/// allowed; the other answer is that of [`memory::check`].
pub fn wait() -> Result<(), memory::NoMemory> {
    let until = clock::now_ns().saturating_add(WAIT_NS);
    loop {
        let refused = match memory::check(0) {
            Ok(()) => return Ok(()),
            Err(refused) => refused,
        };
        let leaves = || givers().iter().any(|giver| giver.has_more());
        if !task::may_suspend() || task::is_stopped() || clock::now_ns() >= until || !leaves() {
            return Err(refused);
        }
        task::sleep_ns(LOOK_NS, WaitType::MemoryAllocationExt);
    }
}
