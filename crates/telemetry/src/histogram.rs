//! Histograms of durations in nanoseconds, with buckets as HDR histograms have them.
//!
//! Buckets are those of [`stdx::buckets`]. The sum is exact.

use crate::shard::bump;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use stdx::buckets::{BUCKETS, bucket, largest, quantile};

/// What one thread has recorded.
pub(crate) struct Cells {
    counts: [AtomicU64; BUCKETS],
    sum_ns: AtomicU64,
}

impl Default for Cells {
    fn default() -> Self {
        Cells { counts: std::array::from_fn(|_| AtomicU64::new(0)), sum_ns: AtomicU64::new(0) }
    }
}

impl Cells {
    /// By the thread that owns the cells.
    #[inline]
    pub(crate) fn record(&self, ns: u64) {
        bump(&self.counts[bucket(ns)], 1);
        bump(&self.sum_ns, ns);
    }
}

/// What was recorded, by all threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    sum_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: vec![0; BUCKETS], sum_ns: 0 }
    }
}

impl Histogram {
    pub(crate) fn add(&mut self, cells: &Cells) {
        for (sum, cell) in self.counts.iter_mut().zip(&cells.counts) {
            *sum += cell.load(Relaxed);
        }
        self.sum_ns = self.sum_ns.wrapping_add(cells.sum_ns.load(Relaxed));
    }

    /// What was recorded since `earlier`, a look at the same histogram.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        let counts = self.counts.iter().zip(&earlier.counts).map(|(now, then)| now - then.min(now));
        Histogram { counts: counts.collect(), sum_ns: self.sum_ns.saturating_sub(earlier.sum_ns) }
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All durations added up.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// `None` when there were none.
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }

    /// The longest, rounded up to its bucket's bound.
    pub fn max_ns(&self) -> Option<u64> {
        self.counts.iter().rposition(|count| *count > 0).map(largest)
    }

    /// The value in nanoseconds that a share `q` (0 to 1) did not exceed; `None` when there were none.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        quantile(self.buckets(), q)
    }

    /// The buckets that hold something: upper bound in nanoseconds, and how many.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        self.counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, n)| (largest(i), *n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(durations: &[u64]) -> Histogram {
        let cells = Cells::default();
        durations.iter().for_each(|ns| cells.record(*ns));
        let mut histogram = Histogram::default();
        histogram.add(&cells);
        histogram
    }

    #[test]
    fn quantiles_count_from_below() {
        let mut durations = vec![1_000; 99];
        durations.push(1_000_000);
        let h = of(&durations);
        assert_eq!(h.quantile_ns(0.5), h.quantile_ns(0.99));
        assert!(h.quantile_ns(1.0).is_some_and(|ns| ns >= 1_000_000));
        assert_eq!(h.max_ns(), h.quantile_ns(1.0));
        assert_eq!((h.count(), h.sum_ns(), h.mean_ns()), (100, 1_099_000, Some(10_990.0)));
        assert_eq!(h.buckets().map(|(_, n)| n).collect::<Vec<_>>(), [99, 1]);
        assert_eq!(
            (of(&[]).quantile_ns(0.5), of(&[]).mean_ns(), of(&[]).max_ns()),
            (None, None, None)
        );
    }

    #[test]
    fn a_difference_is_what_came_between() {
        let (then, now) = (of(&[5, 500]), of(&[5, 500, 7_000]));
        assert_eq!(now.since(&then), of(&[7_000]));
    }
}
