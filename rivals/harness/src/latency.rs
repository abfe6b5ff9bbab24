//! Latencies of one session, written by its thread and read by whoever watches.
//!
//! Buckets are those of [`stdx::buckets`]. Each recorder has one writer; a reader adds them up and may miss what is being
//! written.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use stdx::buckets::{BUCKETS, bucket, largest, quantile};

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
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        let all = self.counts.iter().enumerate();
        all.filter(|(_, n)| **n > 0).map(|(index, n)| (largest(index), *n))
    }

    /// The value in nanoseconds that a share `q` (0 to 1) did not exceed; `None` when there were none.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        quantile(self.buckets(), q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
