//! Whether a load has settled: throughput without a trend, and the same mix of waits in both halves.
//!
//! Pure functions of the ticks. A load has a trend when the straight line through its ticks has a slope whose 95%
//! interval leaves out zero, *and* that slope makes a difference worth telling over the ticks' length
//! ([`TREND`]). Its mix of waits has changed when the wait times of the two halves, as vectors over the wait types,
//! point in different directions (cosine below [`ALIKE`]); waits that are few beside the time looked at say nothing.
//!
//! Knows nothing of clocks, targets, or who asks.

use crate::document::Tick;
use crate::measure::is_idle;
use crate::student;
use std::collections::{BTreeMap, VecDeque};

/// Ticks that the end of the warm-up is judged by: a second.
const LAST: usize = 10;
/// Fewer ticks than this say nothing.
const LEAST: usize = 6;
/// Change of throughput over the ticks looked at, as a share of its mean.
const TREND: f64 = 0.10;
/// Cosine between the waits of two halves.
const ALIKE: f64 = 0.98;
/// Milliseconds of waiting per second below which the mix is not looked at: 1% of one task.
const FEW_MS_PER_S: f64 = 10.0;

/// The last ticks of a running load.
#[derive(Clone, Debug, Default)]
pub struct Steady {
    last: VecDeque<Tick>,
}

/// What the test saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub is_steady: bool,
    /// Too few ticks to say.
    pub is_unknown: bool,
    /// In words.
    pub why: String,
}

impl Judgement {
    /// There was enough to see, and it moved.
    pub fn is_drifting(&self) -> bool {
        !self.is_steady && !self.is_unknown
    }
}

impl Steady {
    pub fn add(&mut self, tick: &Tick) {
        self.last.push_back(tick.clone());
        if self.last.len() > LAST {
            self.last.pop_front();
        }
    }

    /// About the last second.
    pub fn judge(&self) -> Judgement {
        Steady::of(&self.last)
    }

    /// About these ticks, which are neighbours in time.
    pub fn of<'a>(ticks: impl IntoIterator<Item = &'a Tick>) -> Judgement {
        let ticks: Vec<&Tick> = ticks.into_iter().collect();
        if ticks.len() < LEAST {
            let why = format!("{} ticks are too few to tell", ticks.len());
            return Judgement { is_steady: false, is_unknown: true, why };
        }
        let no = |why| Judgement { is_steady: false, is_unknown: false, why };
        let points: Vec<(f64, f64)> = ticks.iter().map(|t| (t.at_s, t.rows_per_s)).collect();
        let mean = points.iter().map(|(_, y)| y).sum::<f64>() / points.len() as f64;
        if mean <= 0.0 {
            return no("no rows were acknowledged".to_owned());
        }
        let (slope, error) = line(&points);
        let length_s = points[points.len() - 1].0 - points[0].0;
        let change = slope * length_s / mean;
        let is_sure = slope.abs() > student::t975(points.len() - 2) * error;
        if change.abs() > TREND && is_sure {
            let way = if change > 0.0 { "rose" } else { "fell" };
            // Of a throughput that all but ended, the line ends below zero.
            let percent = (change.abs() * 100.0).min(100.0);
            return no(format!(
                "throughput {way} by {percent:.0}% of its mean within {length_s:.1} s"
            ));
        }
        let (first, second) = ticks.split_at(ticks.len() / 2);
        if let Some(cosine) = alike(&mix(first), &mix(second)).filter(|&c| c < ALIKE) {
            return no(format!(
                "the mix of waits changed within {length_s:.1} s (cosine of the halves {cosine:.3})"
            ));
        }
        let why = format!("throughput and mix of waits were steady over the last {length_s:.1} s");
        Judgement { is_steady: true, is_unknown: false, why }
    }
}

/// Slope of the least-squares line, and its standard error.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let (mx, my) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let sxx: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let sxy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    if sxx == 0.0 {
        return (0.0, 0.0);
    }
    let slope = sxy / sxx;
    let residual: f64 = points.iter().map(|p| (p.1 - my - slope * (p.0 - mx)).powi(2)).sum();
    (slope, (residual / (n - 2.0) / sxx).sqrt())
}

/// Mean milliseconds waited per second, by wait type.
fn mix(ticks: &[&Tick]) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for tick in ticks {
        for (name, ms) in tick.waits_ms_per_s.iter().filter(|(name, _)| !is_idle(name)) {
            *sums.entry(name.clone()).or_insert(0.0) += ms / ticks.len() as f64;
        }
    }
    sums
}

/// The cosine between two vectors; `None` when one is too short to have a direction.
fn alike(a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>) -> Option<f64> {
    let length = |v: &BTreeMap<String, f64>| v.values().map(|x| x * x).sum::<f64>().sqrt();
    let (la, lb) = (length(a), length(b));
    if la < FEW_MS_PER_S || lb < FEW_MS_PER_S {
        return None;
    }
    let dot: f64 = a.iter().map(|(name, x)| x * b.get(name).copied().unwrap_or(0.0)).sum();
    Some(dot / la / lb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Prng;

    fn ticks(n: usize, rows: impl Fn(usize) -> f64, waits: impl Fn(usize) -> f64) -> Vec<Tick> {
        (0..n)
            .map(|i| Tick {
                at_s: i as f64 / 10.0,
                seconds: 0.1,
                rows_per_s: rows(i),
                waits_ms_per_s: [
                    ("WRITELOG".to_owned(), 500.0),
                    ("PAGELATCH_EX".to_owned(), waits(i)),
                    ("SLEEP_TASK".to_owned(), 1e6 * i as f64),
                ]
                .into(),
                ..Tick::default()
            })
            .collect()
    }

    fn noise(seed: u64, i: usize) -> f64 {
        Prng::new(seed ^ (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)).below(2_000) as f64 / 1e3
            - 1.0
    }

    #[test]
    fn noise_without_a_trend_is_steady() {
        for seed in 1..=50 {
            let t = ticks(100, |i| 1_000.0 + 100.0 * noise(seed, i), |_| 5.0);
            let judged = Steady::of(&t);
            assert!(judged.is_steady, "seed {seed}: {}", judged.why);
        }
    }

    #[test]
    fn a_ramp_under_the_same_noise_is_not() {
        for seed in 1..=50 {
            let t = ticks(100, |i| 800.0 + 4.0 * i as f64 + 100.0 * noise(seed, i), |_| 5.0);
            let judged = Steady::of(&t);
            assert!(judged.is_drifting() && judged.why.contains("rose"), "{seed}: {}", judged.why);
        }
    }

    #[test]
    fn a_trend_too_small_to_matter_is_steady() {
        assert!(Steady::of(&ticks(100, |i| 1_000.0 + 0.2 * i as f64, |_| 5.0)).is_steady);
    }

    #[test]
    fn another_mix_of_waits_is_drift_at_the_same_rate() {
        let t = ticks(20, |_| 1_000.0, |i| if i < 10 { 0.0 } else { 400.0 });
        let judged = Steady::of(&t);
        assert!(judged.is_drifting() && judged.why.contains("mix of waits"), "{}", judged.why);
    }

    #[test]
    fn few_ticks_and_no_rows() {
        assert!(Steady::of(&ticks(3, |_| 1.0, |_| 0.0)).is_unknown);
        assert!(Steady::of(&ticks(10, |_| 0.0, |_| 0.0)).is_drifting());
    }

    #[test]
    fn only_the_last_second_counts_for_the_warm_up() {
        let mut steady = Steady::default();
        for tick in ticks(20, |i| if i < 10 { 100.0 * i as f64 } else { 1_000.0 }, |_| 5.0) {
            steady.add(&tick);
        }
        assert!(steady.judge().is_steady);
    }
}
