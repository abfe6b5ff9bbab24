//! Who gives way when memory is short: caches of what can be had again, which are asked before anybody is refused.
//!
//! Promise: they are asked by whoever is short, wherever that is; so a giver neither suspends nor waits for a latch. What
//! it cannot give at once leaves in time, and those who may wait do ([`crate::task::wait_for_memory`]).

use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// So much is asked for at a time, at most: some milliseconds of work.
const ASKED_MAX: u64 = 64 << 20;

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
pub fn ask(bytes: u64) -> u64 {
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

/// Whether somebody has more than is its own.
pub(crate) fn more_is_to_leave() -> bool {
    givers().iter().any(|giver| giver.has_more())
}
