//! The raw series of a cell: what time lines and heat maps are drawn from.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything is on one clock: seconds since the sessions set off together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Series {
    /// The measured window, on that clock.
    pub window_from_s: f64,
    pub window_to_s: f64,
    /// One for each 100 ms or so, warm-up included.
    pub ticks: Vec<Tick>,
    /// One for each second or so of the window.
    pub latency: Vec<LatencyMoment>,
}

/// What happened since the tick before. Where a target does not tell a figure that often, it is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tick {
    /// The tick's end.
    pub at_s: f64,
    /// Its length.
    pub seconds: f64,
    pub rows_per_s: f64,
    pub commits_per_s: f64,
    /// CPUs' worth of time that the engine's process used; null for a server in another process.
    pub cpus_used: Option<f64>,
    /// Shares of the whole machine's CPU time, 0 to 1.
    pub machine_busy: Option<f64>,
    pub steal: Option<f64>,
    /// Tasks ready to run and not running, over all schedulers, at the tick's end.
    pub run_queue: Option<u64>,
    pub context_switches_per_s: Option<f64>,
    pub log_flushes_per_s: Option<f64>,
    pub log_mb_per_s: Option<f64>,
    /// Milliseconds waited per second, by wait type, those above zero.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub waits_ms_per_s: BTreeMap<String, f64>,
    /// By spinlock, those above zero.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub spins_per_s: BTreeMap<String, f64>,
    /// Milliseconds waited per second, by latch class, those above zero.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub latches_ms_per_s: BTreeMap<String, f64>,
}

/// Latencies of about a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencyMoment {
    /// Its end.
    pub at_s: f64,
    pub histogram: Histogram,
}

/// Counts by value. Empty buckets are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Histogram {
    /// (the bucket's largest value in microseconds, how many), in rising order. A bucket is at most 6.25% wide.
    pub buckets: Vec<(f64, u64)>,
}

impl Histogram {
    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, n)| n).sum()
    }

    /// The value in microseconds that a share `q` (0 to 1) did not exceed; `None` when there were none.
    pub fn quantile_us(&self, q: f64) -> Option<f64> {
        stdx::buckets::quantile(self.buckets.iter().copied(), q)
    }

    /// What has been recorded since `before`, an earlier state of the same histogram.
    pub fn since(&self, before: &Histogram) -> Histogram {
        let mut earlier = before.buckets.iter().peekable();
        let mut buckets = Vec::new();
        for &(us, n) in &self.buckets {
            while earlier.peek().is_some_and(|(bound, _)| *bound < us) {
                earlier.next();
            }
            let had = earlier.peek().filter(|(bound, _)| *bound == us).map_or(0, |(_, n)| *n);
            if n > had {
                buckets.push((us, n - had));
            }
        }
        Histogram { buckets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_leaves_what_came_later() {
        let before = Histogram { buckets: vec![(1.0, 3), (4.0, 1)] };
        let after = Histogram { buckets: vec![(1.0, 5), (2.0, 1), (4.0, 1), (8.0, 2)] };
        let new = after.since(&before);
        assert_eq!(new.buckets, vec![(1.0, 2), (2.0, 1), (8.0, 2)]);
        assert_eq!(new.count(), 5);
        assert_eq!(after.since(&Histogram::default()), after);
    }

    #[test]
    fn quantiles_count_from_below() {
        let h = Histogram { buckets: vec![(1.0, 98), (10.0, 1), (100.0, 1)] };
        assert_eq!(h.quantile_us(0.5), Some(1.0));
        assert_eq!(h.quantile_us(0.99), Some(10.0));
        assert_eq!(h.quantile_us(1.0), Some(100.0));
        assert_eq!(Histogram::default().quantile_us(0.5), None);
    }
}
