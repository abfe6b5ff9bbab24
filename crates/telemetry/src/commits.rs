//! How long commits take, as a histogram: full commits all of them, delayed ones by sample.
//!
//! A commit that waits for the device is recorded each time: beside a flush the recording is nothing. A delayed
//! commit takes less time than reading the clock twice, so only one in [`SAMPLE_EVERY`] is timed ([`due`]).

use crate::histogram::Histogram;
use crate::shard::{each, mine};
use parking_lot::Mutex;
use std::sync::atomic::Ordering::Relaxed;

/// One delayed commit in so many is timed.
pub const SAMPLE_EVERY: u64 = 512;

/// A histogram of commits.
pub type CommitLatency = Histogram;

static BASE: Mutex<Option<Histogram>> = Mutex::new(None);

/// True once in [`SAMPLE_EVERY`] calls of a thread: time this one.
#[inline(always)]
pub fn due() -> bool {
    if !crate::RECORDING {
        return false;
    }
    let cell = &mine().commit_turn;
    let turn = cell.load(Relaxed).wrapping_add(1);
    cell.store(turn, Relaxed);
    turn.is_multiple_of(SAMPLE_EVERY)
}

/// A commit took so long, from its call to its acknowledgement.
pub fn record(ns: u64) {
    if crate::RECORDING {
        mine().commits.record(ns);
    }
}

/// All commits recorded since the last [`clear`].
pub fn snapshot() -> CommitLatency {
    let base = BASE.lock();
    let now = totals();
    match base.as_ref() {
        Some(base) => now.since(base),
        None => now,
    }
}

/// Figures start from zero.
pub fn clear() {
    let mut base = BASE.lock();
    *base = Some(totals());
}

fn totals() -> Histogram {
    let mut all = Histogram::default();
    each(|shard| all.add(&shard.commits));
    all
}
