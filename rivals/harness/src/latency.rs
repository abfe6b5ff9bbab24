//! Latencies of one session, written by its thread and read by whoever watches.
//!
//! Buckets are log-linear, 16 for each power of two: a bucket's bound is at most 6.25% above any value in it. Each
//! recorder has one writer; a reader adds them up and may miss what is being written.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const SUB_BITS: u32 = 4;
const SUB: usize = 1 << SUB_BITS;
/// Up to 2^40 ns, 18 minutes; longer ones fall in the last bucket.
const POWERS: usize = 36;
const BUCKETS: usize = SUB + POWERS * SUB;

pub(crate) struct Recorder {
    counts: Box<[AtomicU64]>,
}

impl Recorder {
    pub fn new() -> Recorder {
        Recorder { counts: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Only the owner calls this.
    pub fn record(&self, ns: u64) {
        let cell = &self.counts[bucket(ns)];
        cell.store(cell.load(Relaxed) + 1, Relaxed);
    }
}

/// All that has been recorded up to a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencySnapshot {
    counts: Vec<u64>,
}

impl LatencySnapshot {
    pub(crate) fn of<'a>(recorders: impl Iterator<Item = &'a Recorder>) -> LatencySnapshot {
        let mut counts = vec![0; BUCKETS];
        for recorder in recorders {
            for (sum, cell) in counts.iter_mut().zip(&recorder.counts) {
                *sum += cell.load(Relaxed);
            }
        }
        LatencySnapshot { counts }
    }

    /// What came after `before`.
    pub fn since(&self, before: &LatencySnapshot) -> LatencySnapshot {
        let pairs = self.counts.iter().zip(&before.counts);
        LatencySnapshot { counts: pairs.map(|(now, then)| now.saturating_sub(*then)).collect() }
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The buckets that hold something: (largest value in nanoseconds, how many), rising.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let all = self.counts.iter().enumerate();
        all.filter(|(_, n)| **n > 0).map(|(index, n)| (upper(index), *n))
    }

    /// The value in nanoseconds that a share `q` (0 to 1) did not exceed; `None` when there were none.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        let rank = ((q.clamp(0.0, 1.0) * self.count() as f64).ceil() as u64).max(1);
        let mut seen = 0;
        self.buckets().find_map(|(ns, n)| {
            seen += n;
            (seen >= rank).then_some(ns)
        })
    }
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
    (((SUB + sub + 1) as u64) << power) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_bounds_its_values() {
        for ns in (0..100_000u64).chain((17..39).map(|p| (1 << p) + 12_345)) {
            let top = upper(bucket(ns));
            assert!(top >= ns, "{ns} above its bucket's {top}");
            assert!(top as f64 <= ns as f64 * 1.0625 + 1.0, "{ns} far below its bucket's {top}");
        }
    }

    #[test]
    fn quantiles_of_a_difference() {
        let recorder = Recorder::new();
        recorder.record(1_000_000);
        let before = LatencySnapshot::of([&recorder].into_iter());
        for ns in 1..=100 {
            recorder.record(ns * 1_000);
        }
        let new = LatencySnapshot::of([&recorder].into_iter()).since(&before);
        assert_eq!(new.count(), 100);
        let median = new.quantile_ns(0.5).expect("a hundred values");
        assert!((50_000..=53_200).contains(&median), "{median}");
        assert_eq!(before.since(&before).quantile_ns(0.5), None);
    }
}
