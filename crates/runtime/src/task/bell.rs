//! Which pollers want to be polled in each turn.
//!
//! A server of many databases has a poller for each, and nearly all of them have nothing to do. Such a poller owns a
//! [`Bell`]: while it is rung the poller is polled in each turn, while it is hushed only now and then
//! ([`super::pollers`]). All bells are bits of a few words that stay in every scheduler's cache, so a hushed poller costs
//! a turn less than an instruction.
//!
//! Promise: a hint. Whoever hushes a bell while somebody else rings it loses a ring at most until the next glance, and
//! never for good.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// As many as an instance may have databases (32,767), and one.
const BELLS_MAX: usize = 1 << 15;
const WORDS: usize = BELLS_MAX / 64;

static RUNG: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];
static TAKEN: Mutex<[u64; WORDS]> = Mutex::new([0; WORDS]);

/// One poller's. Rung when made.
#[derive(Debug)]
pub struct Bell {
    /// None: all were taken, and this one cannot be hushed.
    place: Option<usize>,
}

impl Bell {
    pub fn new() -> Bell {
        let mut taken = TAKEN.lock();
        let word = taken.iter().position(|&word| word != u64::MAX);
        let place = word.map(|word| word * 64 + taken[word].trailing_ones() as usize);
        if let Some(place) = place {
            taken[place / 64] |= 1 << (place % 64);
            RUNG[place / 64].fetch_or(1 << (place % 64), Relaxed);
        }
        Bell { place }
    }

    /// From now on the poller is polled in each turn. Free while it is so already. From any thread.
    #[inline]
    pub fn ring(&self) {
        if !self.is_rung()
            && let Some(place) = self.place
        {
            RUNG[place / 64].fetch_or(1 << (place % 64), Relaxed);
        }
    }

    /// From now on a glance now and then does.
    pub fn hush(&self) {
        if self.is_rung()
            && let Some(place) = self.place
        {
            RUNG[place / 64].fetch_and(!(1 << (place % 64)), Relaxed);
        }
    }

    #[inline]
    pub fn is_rung(&self) -> bool {
        self.place.is_none_or(|place| word(place / 64) & 1 << (place % 64) != 0)
    }

    pub(super) fn place(&self) -> Option<usize> {
        self.place
    }
}

impl Default for Bell {
    fn default() -> Bell {
        Bell::new()
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            let mut taken = TAKEN.lock();
            RUNG[place / 64].fetch_and(!(1 << (place % 64)), Relaxed);
            taken[place / 64] &= !(1 << (place % 64));
        }
    }
}

/// The bells `64 * at..64 * at + 64`.
#[inline]
pub(super) fn word(at: usize) -> u64 {
    RUNG[at].load(Relaxed)
}
