//! How long commits take, as a histogram: full commits all of them, delayed ones by sample.
//!
//! A commit that waits for the device is recorded each time: beside a flush the recording is nothing. A delayed
//! commit takes less time than reading the clock twice, so only one in [`SAMPLE_EVERY`] is timed ([`due`]).
//!
//! Buckets are log-linear: 16 per power of two, so a bucket's bound is at most 6.25% above any value in it.

use crate::shard::{bump, each, mine};
use parking_lot::Mutex;
use std::sync::atomic::Ordering::Relaxed;

/// One delayed commit in so many is timed.
pub const SAMPLE_EVERY: u64 = 512;

const SUB_BITS: u32 = 4;
const SUB: usize = 1 << SUB_BITS;
/// Powers of two that are told apart; longer commits (beyond 18 minutes) fall in the last bucket.
const POWERS: usize = 36;
pub(crate) const BUCKETS: usize = SUB + POWERS * SUB;

static BASE: Mutex<Option<Vec<u64>>> = Mutex::new(None);

/// True once in [`SAMPLE_EVERY`] calls of a thread: time this one.
#[inline(always)]
pub fn due() -> bool {
    let cell = &mine().commit_turn;
    let turn = cell.load(Relaxed).wrapping_add(1);
    cell.store(turn, Relaxed);
    turn.is_multiple_of(SAMPLE_EVERY)
}

/// A commit took so long, from its call to its acknowledgement.
pub fn record(ns: u64) {
    bump(&mine().commits[bucket(ns)], 1);
}

/// A histogram of commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitLatency {
    counts: Vec<u64>,
}

/// All commits recorded since the last [`clear`].
pub fn snapshot() -> CommitLatency {
    let base = BASE.lock();
    let mut counts = totals();
    for (count, base) in counts.iter_mut().zip(base.as_deref().unwrap_or(&[])) {
        *count -= (*base).min(*count);
    }
    CommitLatency { counts }
}

/// Figures start from zero.
pub fn clear() {
    let mut base = BASE.lock();
    *base = Some(totals());
}

impl CommitLatency {
    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The buckets that are not empty, in rising order: the largest value in nanoseconds, and how many.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        counts.map(|(index, &n)| (upper(index), n))
    }

    /// The value in nanoseconds that a share `q` (0 to 1) of commits did not exceed; `None` when there were none.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        let total = self.count();
        if total == 0 {
            return None;
        }
        let rank = ((q.clamp(0.0, 1.0) * total as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some(upper(index));
            }
        }
        None
    }
}

fn totals() -> Vec<u64> {
    let mut all = vec![0; BUCKETS];
    each(|shard| {
        for (sum, cell) in all.iter_mut().zip(&shard.commits) {
            *sum += cell.load(Relaxed);
        }
    });
    all
}

fn bucket(ns: u64) -> usize {
    if ns < SUB as u64 {
        return ns as usize;
    }
    let power = ns.ilog2() - SUB_BITS;
    let sub = (ns >> power) as usize & (SUB - 1);
    (SUB + power as usize * SUB + sub).min(BUCKETS - 1)
}

/// The largest value of a bucket.
fn upper(index: usize) -> u64 {
    if index < SUB {
        return index as u64;
    }
    let (power, sub) = ((index - SUB) / SUB, (index - SUB) % SUB);
    ((SUB + sub + 1) as u64) << power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_bounds_its_values() {
        for ns in (0..200_000u64).chain((20..39).map(|p| (1 << p) + 12_345)) {
            let top = upper(bucket(ns));
            assert!(top >= ns, "{ns} above its bucket's {top}");
            assert!(top as f64 <= ns as f64 * 1.0626 + 1.0, "{ns} far below its bucket's {top}");
        }
    }

    #[test]
    fn quantiles_count_from_below() {
        let mut counts = vec![0; BUCKETS];
        counts[bucket(1_000)] = 99;
        counts[bucket(1_000_000)] = 1;
        let latency = CommitLatency { counts };
        assert_eq!(latency.quantile_ns(0.5), latency.quantile_ns(0.99));
        assert_eq!(latency.buckets().map(|(_, n)| n).collect::<Vec<_>>(), vec![99, 1]);
        assert_eq!(latency.buckets().next().map(|(ns, _)| ns), latency.quantile_ns(0.5));
        assert!(latency.quantile_ns(1.0).is_some_and(|ns| ns >= 1_000_000));
        assert_eq!(CommitLatency { counts: vec![0; BUCKETS] }.quantile_ns(0.5), None);
    }
}
