//! Little's law as an audit: the mean number of commits in flight, from three sources that share no accounting.
//!
//! 1. Commits a second times their mean latency, both told by the commit itself.
//! 2. Looks at the tasks from outside, every few milliseconds, weighted by the time since the look before.
//! 3. The time waited under the log's wait type, of all tasks, over the window.
//!
//! In a steady load the three are one number. When they are not, a figure of the accounting is wrong (or the load was
//! not steady), and no conclusion may rest on it. Pure functions.

use crate::document::Audit;

/// How far a source may be from the median of the three, as a share of it.
pub const TOLERANCE: f64 = 0.05;
/// Fewer looks than this say little.
const LEAST_LOOKS: u64 = 50;
/// Below so many in flight a single commit is a large share of the count.
const LEAST_IN_FLIGHT: f64 = 2.0;

/// Looks at a number, weighted by time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Looks {
    pub looks: u64,
    weighted: f64,
    seconds: f64,
}

impl Looks {
    /// The number was `count`, `seconds` after the look before.
    pub fn add(&mut self, count: u64, seconds: f64) {
        self.looks += 1;
        self.weighted += count as f64 * seconds;
        self.seconds += seconds;
    }

    pub fn mean(&self) -> f64 {
        if self.seconds > 0.0 { self.weighted / self.seconds } else { 0.0 }
    }
}

/// What a window told of its commits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sources {
    pub seconds: f64,
    pub commits: u64,
    pub commit_mean_ns: f64,
    pub looks: Looks,
    pub wait_ms: f64,
}

/// The three numbers and whether they agree; `None` when there is too little to compare.
pub fn audit(s: &Sources) -> Option<Audit> {
    if s.seconds <= 0.0 || s.commits == 0 || s.looks.looks < LEAST_LOOKS {
        return None;
    }
    let by_throughput = s.commits as f64 / s.seconds * s.commit_mean_ns / 1e9;
    let by_count = s.looks.mean();
    let by_waits = s.wait_ms / 1e3 / s.seconds;
    let mut sorted = [by_throughput, by_count, by_waits];
    sorted.sort_by(f64::total_cmp);
    let [low, median, high] = sorted;
    if median < LEAST_IN_FLIGHT {
        return None;
    }
    let spread = (high - median).max(median - low) / median;
    Some(Audit {
        by_throughput,
        by_count,
        by_waits,
        looks: s.looks.looks,
        spread,
        agrees: spread <= TOLERANCE,
        tolerance: TOLERANCE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Prng;

    /// What may be wrong with an accounting.
    #[derive(Clone, Copy, PartialEq)]
    enum Seeded {
        Nothing,
        /// One wait in eight is not recorded.
        WaitLost,
        /// The time between the wake-up and the return is left out of the wait.
        SignalLost,
        /// Commits that wait twice are counted once in the latency.
        LatencyOfLastWait,
        /// A task that was woken counts as in flight no longer.
        WokenNotCounted,
    }

    /// 64 sessions, each: work for a while, wait for a flush, be woken, run again after a moment. The clock is made up;
    /// the accounting is the one under test.
    fn load(seed: u64, wrong: Seeded) -> Sources {
        const SESSIONS: usize = 64;
        const END_NS: u64 = 4_000_000_000;
        let mut chance = Prng::new(seed);
        // (from, woken, until) of each wait, in nanoseconds.
        let mut spans = Vec::new();
        let mut sources = Sources { seconds: END_NS as f64 / 1e9, ..Sources::default() };
        let mut latency_ns = 0;
        for _ in 0..SESSIONS {
            let mut now = chance.below(1_000_000);
            while now < END_NS {
                let began = now + 20_000 + chance.below(200_000);
                let mut at = began;
                let waits = 1 + u64::from(chance.below(4) == 0);
                let mut last = 0;
                for _ in 0..waits {
                    let woken = at + 1_000_000 + chance.below(2_000_000);
                    let until = woken + 150_000 + chance.below(300_000);
                    spans.push((at, woken, until));
                    let recorded = if wrong == Seeded::SignalLost { woken } else { until };
                    if wrong != Seeded::WaitLost || chance.below(8) != 0 {
                        sources.wait_ms += (recorded - at) as f64 / 1e6;
                    }
                    (last, at) = (until - at, until);
                }
                latency_ns += if wrong == Seeded::LatencyOfLastWait { last } else { at - began };
                sources.commits += 1;
                now = at;
            }
        }
        sources.commit_mean_ns = latency_ns as f64 / sources.commits as f64;
        let mut then = 0;
        while then < END_NS {
            let at = then + 3_000_000 + chance.below(4_000_000);
            let in_flight = spans.iter().filter(|(from, woken, until)| {
                let end = if wrong == Seeded::WokenNotCounted { woken } else { until };
                (*from..*end).contains(&at)
            });
            sources.looks.add(in_flight.count() as u64, (at - then) as f64 / 1e9);
            then = at;
        }
        sources
    }

    #[test]
    fn an_honest_accounting_agrees() {
        for seed in 1..=10 {
            let audit = audit(&load(seed, Seeded::Nothing)).expect("enough to compare");
            assert!(audit.agrees, "seed {seed}: {audit:?}");
        }
    }

    #[test]
    fn every_seeded_error_is_caught() {
        let errors = [
            Seeded::WaitLost,
            Seeded::SignalLost,
            Seeded::LatencyOfLastWait,
            Seeded::WokenNotCounted,
        ];
        for (number, wrong) in errors.into_iter().enumerate() {
            for seed in 1..=10 {
                let audit = audit(&load(seed, wrong)).expect("enough to compare");
                assert!(!audit.agrees, "error {number}, seed {seed}: {audit:?}");
            }
        }
    }

    #[test]
    fn too_little_says_nothing() {
        let honest = load(1, Seeded::Nothing);
        assert!(audit(&Sources { commits: 0, ..honest }).is_none());
        assert!(audit(&Sources { looks: Looks::default(), ..honest }).is_none());
        let mut few = honest;
        (few.commit_mean_ns, few.wait_ms) = (1.0, 0.001);
        assert!(audit(&few).is_none(), "one commit at a time is not a crowd");
    }
}
