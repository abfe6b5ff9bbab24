//! Settings compared by interleaved pairs.
//!
//! The order is A B, B A, A B, ... (of three A B C, C B A, ...: of any two of them it is the same): a slow change of the machine hits both arms alike, and neighbours of the same arm
//! (B B, then A A) show what nothing changed looks like, the *floor*. Ratios are taken within a pair and averaged as
//! logarithms. Pure functions.

use crate::document::{Comparison, Verdict};
use crate::student;

/// Fewer pairs than this have no interval worth printing.
pub const LEAST: usize = 3;
/// The power that `least_detectable` is told for.
const POWER: f64 = 0.80;

/// Which arm each turn runs: (pair, is it b).
pub fn schedule(pairs: usize) -> Vec<(usize, bool)> {
    (0..pairs).flat_map(|pair| [(pair, pair % 2 == 1), (pair, pair % 2 == 0)]).collect()
}

/// The same of `cells` cells: (round, which cell). Any two of them come in the order of [`schedule`].
pub fn rounds(rounds: usize, cells: usize) -> Vec<(usize, usize)> {
    let of = |round: usize| {
        (0..cells).map(move |n| (round, if round.is_multiple_of(2) { n } else { cells - 1 - n }))
    };
    (0..rounds).flat_map(of).collect()
}

/// Compares a figure measured in the order of [`schedule`]; all values are above zero. `None` with fewer than
/// [`LEAST`] whole pairs, or when a value is not above zero.
pub fn compare(figure: &str, a: &str, b: &str, values: &[f64]) -> Option<Comparison> {
    let pairs = values.len() / 2;
    if pairs < LEAST || values.iter().any(|v| !v.is_finite() || *v <= 0.0) {
        return None;
    }
    let turns = schedule(pairs);
    let of = |turn: usize| values[turn].ln();
    let ratios: Vec<f64> = (0..pairs)
        .map(|pair| {
            let second = of(2 * pair + 1) - of(2 * pair);
            // In an odd pair b came first.
            if turns[2 * pair].1 { -second } else { second }
        })
        .collect();
    // The second of a pair and the first of the next ran the same arm.
    let floors: Vec<f64> = (1..pairs).map(|pair| of(2 * pair) - of(2 * pair - 1)).collect();
    let (effect, floor) = (Mean::of(&ratios), Mean::of(&floors));
    let noise = floor.low().abs().max(floor.high().abs());
    let sure = effect.low() > 0.0 || effect.high() < 0.0;
    let power = student::t975(pairs - 1) + student::quantile(POWER, pairs - 1);
    Some(Comparison {
        figure: figure.to_owned(),
        a: a.to_owned(),
        b: b.to_owned(),
        pairs,
        ratio: effect.mean.exp(),
        low: effect.low().exp(),
        high: effect.high().exp(),
        floor: floor.mean.exp(),
        floor_low: floor.low().exp(),
        floor_high: floor.high().exp(),
        least_detectable: (power * effect.error).exp(),
        verdict: match sure && effect.mean.abs() > noise {
            true => Verdict::Differs,
            false => Verdict::CannotTell,
        },
        ratios: ratios.iter().map(|r| r.exp()).collect(),
    })
}

/// A mean with its standard error.
struct Mean {
    mean: f64,
    error: f64,
    half: f64,
}

impl Mean {
    fn of(values: &[f64]) -> Mean {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        Mean { mean, error, half: student::t975(values.len() - 1) * error }
    }

    fn low(&self) -> f64 {
        self.mean - self.half
    }

    fn high(&self) -> f64 {
        self.mean + self.half
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Prng;

    /// Values of a run whose b is `effect` times its a, on a machine that gets slower all the while.
    fn values(seed: u64, pairs: usize, effect: f64, noise: f64) -> Vec<f64> {
        let mut chance = Prng::new(seed);
        let mut normal = || (0..12).map(|_| chance.below(1_000) as f64 / 1e3).sum::<f64>() - 6.0;
        let turns = schedule(pairs).into_iter().enumerate();
        turns
            .map(|(turn, (_, b))| {
                let drift = 0.99_f64.powi(turn as i32);
                1_000.0 * drift * (if b { effect } else { 1.0 }) * (noise * normal()).exp()
            })
            .collect()
    }

    #[test]
    fn the_order_is_abba() {
        let order: String = schedule(4).iter().map(|(_, b)| if *b { 'B' } else { 'A' }).collect();
        assert_eq!(order, "ABBAABBA");
        assert_eq!(schedule(2)[3], (1, false));
        for (a, b) in [(0, 1), (0, 3), (1, 2), (2, 3)] {
            let rounds = rounds(5, 4);
            let two = rounds.iter().filter(|(_, cell)| *cell == a || *cell == b);
            let two: Vec<_> = two.map(|(round, cell)| (*round, *cell == b)).collect();
            assert_eq!(two, schedule(5));
        }
    }

    #[test]
    fn a_drifting_machine_does_not_move_the_ratio() {
        let got = compare("rows_per_s", "a", "b", &values(1, 10, 1.25, 0.0)).expect("pairs");
        assert!((got.ratio - 1.25).abs() < 0.01, "{got:?}");
        assert!((got.floor - 0.99).abs() < 0.005, "{got:?}");
        assert_eq!(got.verdict, Verdict::Differs);
    }

    /// The interval holds the truth in about 19 of 20 runs, and equal arms are seldom told apart.
    #[test]
    fn intervals_hold_what_they_promise() {
        let (mut covered, mut false_alarms, mut found) = (0, 0, 0);
        const RUNS: u64 = 400;
        for seed in 1..=RUNS {
            let got = compare("f", "a", "b", &values(seed, 10, 1.05, 0.02)).expect("pairs");
            covered += u64::from(got.low <= 1.05 && 1.05 <= got.high);
            found += u64::from(got.verdict == Verdict::Differs);
            let same = compare("f", "a", "b", &values(seed, 10, 1.0, 0.02)).expect("pairs");
            false_alarms += u64::from(same.verdict == Verdict::Differs);
        }
        assert!((360..=396).contains(&covered), "{covered} of {RUNS}");
        assert!(false_alarms <= 24, "{false_alarms} of {RUNS}");
        assert!(found >= 300, "an effect of 5% was found in {found} of {RUNS}");
    }

    /// An effect as large as `least_detectable` is found in about 8 of 10 runs, by the interval alone.
    #[test]
    fn the_least_detectable_effect_is_detected() {
        let first = compare("f", "a", "b", &values(7, 200, 1.0, 0.02)).expect("pairs");
        // What 10 pairs of that noise would tell.
        let s = first.least_detectable.ln() / (student::t975(199) + student::quantile(POWER, 199))
            * (200.0_f64 / 10.0).sqrt();
        let effect = ((student::t975(9) + student::quantile(POWER, 9)) * s).exp();
        let found = (1..=300)
            .filter_map(|seed| compare("f", "a", "b", &values(seed, 10, effect, 0.02)))
            .filter(|got| got.low > 1.0)
            .count();
        assert!((215..=275).contains(&found), "{found} of 300 with an effect of {effect}");
    }

    #[test]
    fn too_few_pairs_and_no_value_say_nothing() {
        assert!(compare("f", "a", "b", &[1.0; 4]).is_none());
        assert!(compare("f", "a", "b", &[1.0, 1.0, 1.0, 0.0, 1.0, 1.0]).is_none());
        let same = compare("f", "a", "b", &[1.0; 6]).expect("pairs");
        assert_eq!((same.ratio, same.verdict), (1.0, Verdict::CannotTell));
    }
}
