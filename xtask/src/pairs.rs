//! Two binaries at the same experiment, in turn: how many CPU nanoseconds per row the one takes more than the other, and how
//! much longer a row takes. The two differ where one sleeps while the other looks for work: that is CPU, and no work.
//!
//! A pair is `rounds` times A B B A, the next one B A A B, so that a drift of the machine falls on both. What disturbs a
//! run from outside (another guest's use of caches and memory, a stolen CPU) only ever adds to it, so a side's figure
//! in a pair is the lowest of its runs. Of the pairs' relative differences two things are told, each with its one-sided
//! 95% bound: the pseudomedian by Wilcoxon's signed-rank test (F. Wilcoxon, Biometrics Bulletin 1, 1945; J. L. Hodges
//! and E. L. Lehmann, Annals of Mathematical Statistics 34, 1963), and the mean by Student's t. The limit is on the
//! first: it asks only that the differences lie as far above their middle as below it, which the turns see to, and one
//! wild pair moves it little.

use crate::run::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Pairs: the sample of which the bound is told.
    #[arg(long, default_value_t = 20)]
    pub pairs: u32,
    /// How often A B B A in a pair.
    #[arg(long, default_value_t = 1)]
    pub rounds: u32,
    /// Of each run, after a second of warm-up.
    #[arg(long, default_value_t = 2.0)]
    pub seconds: f64,
    #[arg(long, default_value_t = 1)]
    pub sessions: u32,
    /// Fail when the upper 95% bound is above so many percent.
    #[arg(long)]
    pub limit: Option<f64>,
}

/// A binary, and what it is called in the table.
pub struct Side {
    pub name: String,
    pub binary: PathBuf,
}

impl Options {
    /// Asked before anything is built.
    pub fn check(&self) -> Result<(), Failure> {
        match (self.pairs, self.rounds) {
            (0 | 1, _) => Err(Failure("two pairs at least: one has no spread".to_owned())),
            (_, 0) => Err(Failure("a round at least".to_owned())),
            (2..=4, _) if self.limit.is_some() => {
                Err(Failure("a limit wants 5 pairs at least".to_owned()))
            }
            _ => Ok(()),
        }
    }
}

/// Runs the pairs, and prints them and what follows: how much the first takes more than the second. The limit is on the CPU.
pub fn compare(sides: &[Side; 2], options: &Options) -> Result<(), Failure> {
    let mut differences = [Vec::new(), Vec::new()];
    let mut sums = [[0.0; 2]; 2];
    let [a, b] = sides;
    println!("CPU nanoseconds per row, and how much longer a row takes on the wall");
    println!("pair   {:>14}   {:>14}   difference   on the wall", a.name, b.name);
    for pair in 0..options.pairs {
        let mut lowest = [[f64::INFINITY; 2]; 2];
        for round in 0..options.rounds {
            let order = if (pair + round) % 2 == 0 { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
            for side in order {
                let told = measure(&sides[side].binary, options)?;
                lowest[side].iter_mut().zip(told).for_each(|(least, ns)| *least = least.min(ns));
            }
        }
        let [first, second] = lowest;
        let of = |kind: usize| (first[kind] / second[kind] - 1.0) * 100.0;
        println!(
            "{:4}   {:11.1} ns   {:11.1} ns   {:+9.2}%   {:+10.2}%",
            pair + 1,
            first[0],
            second[0],
            of(0),
            of(1)
        );
        for kind in 0..2 {
            differences[kind].push(of(kind));
            sums[kind].iter_mut().zip([first[kind], second[kind]]).for_each(|(sum, ns)| *sum += ns);
        }
    }
    let [cpu, wall] = differences;
    let bound = summary("CPU per row", sums[0], sides, &cpu);
    summary("a row on the wall", sums[1], sides, &wall);
    match (options.limit, bound) {
        (Some(limit), Some(bound)) if bound > limit => {
            Err(Failure(format!("the upper bound {bound:.2}% is above {limit}%")))
        }
        _ => Ok(()),
    }
}

/// Prints what all pairs say together, and gives the pseudomedian's bound.
fn summary(what: &str, sums: [f64; 2], sides: &[Side; 2], differences: &[f64]) -> Option<f64> {
    let (mean, mean_bound) = mean_and_bound(differences);
    let n = differences.len();
    println!(
        "{what}: {:.1} ns ({}), {:.1} ns ({}); difference {mean:+.2}%, 95% upper bound {mean_bound:+.2}% by Student's t \
         ({n} pairs)",
        sums[0] / n as f64,
        sides[0].name,
        sums[1] / n as f64,
        sides[1].name,
    );
    let (middle, bound) = pseudomedian_and_bound(differences);
    match bound {
        Some(bound) => {
            println!(
                "pseudomedian {middle:+.2}%, 95% upper bound {bound:+.2}% by the signed-rank test"
            )
        }
        None => println!("pseudomedian {middle:+.2}%; a bound wants 5 pairs at least"),
    }
    bound
}

/// Nanoseconds per row of one run: of CPU, and on the wall.
fn measure(binary: &Path, options: &Options) -> Result<[f64; 2], Failure> {
    let folder: PathBuf = std::env::temp_dir().join(format!("pairs-{}", std::process::id()));
    let text = |path: &str| folder.join(path).display().to_string();
    let output = Command::new(binary)
        .args(["lab", "run", "singleton-insert", "--json"])
        .args(["--sessions", &options.sessions.to_string()])
        .args(["--warmup", "1", "--seconds", &options.seconds.to_string()])
        .args(["--data", &text("data"), "--out", &text("report")])
        .stderr(Stdio::null())
        .output()
        .map_err(|error| Failure(format!("{}: {error}", binary.display())))?;
    // What is left behind costs space, not figures.
    let _ = std::fs::remove_dir_all(&folder);
    let told = String::from_utf8_lossy(&output.stdout);
    let figure = |line: &str| {
        let cell: serde_json::Value = serde_json::from_str(line).ok()?;
        let number = |name: &str| cell.get(name)?.as_f64();
        let (cpu_s, seconds, rows) = (number("cpu_s")?, number("seconds")?, number("rows")?);
        (rows > 0.0).then(|| [cpu_s, seconds].map(|s| s * 1e9 / rows))
    };
    match told.lines().find_map(figure) {
        Some(ns) if output.status.success() => Ok(ns),
        _ => {
            Err(Failure(format!("{} lab run gave no figures: {}", binary.display(), output.status)))
        }
    }
}

/// The mean, and what it is below with 95% confidence.
fn mean_and_bound(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, mean + student_95(values.len() - 1) * (variance / n).sqrt())
}

/// The median of the means of all pairs of values (each with itself too), and the one of these means that is above the
/// middle with 95% confidence, by the exact distribution of the signed-rank statistic. Fewer than 5 values have no bound.
fn pseudomedian_and_bound(values: &[f64]) -> (f64, Option<f64>) {
    let n = values.len();
    let mut means: Vec<f64> =
        (0..n).flat_map(|i| (i..n).map(move |j| f64::midpoint(values[i], values[j]))).collect();
    means.sort_by(f64::total_cmp);
    let middle = f64::midpoint(means[(means.len() - 1) / 2], means[means.len() / 2]);
    // Of the 2^n signs that the ranks 1 to n may have, the share that gives each sum of the positive ones.
    let mut shares = vec![0.0; means.len() + 1];
    shares[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..shares.len()).rev() {
            let with = if sum >= rank { shares[sum - rank] } else { 0.0 };
            shares[sum] = (shares[sum] + with) / 2.0;
        }
    }
    let mut tail = 0.0;
    let within = shares.iter().take_while(|share| {
        tail += **share;
        tail <= 0.05
    });
    (middle, within.count().checked_sub(1).map(|critical| means[means.len() - 1 - critical]))
}

/// The one-sided 95% quantile of Student's t.
fn student_95(degrees: usize) -> f64 {
    const SMALL: [f64; 20] = [
        6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771,
        1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725,
    ];
    // Beyond the table: the normal quantile with the first term of its expansion, good to 0.002.
    SMALL.get(degrees.wrapping_sub(1)).copied().unwrap_or(1.645 + 1.52 / degrees.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middles_bound_is_the_signed_rank_tests() {
        // 20 values have 210 means, and the test's critical value is 60: the 150th of them. Of values that are far
        // apart, each one more than twice the last, the means in order are those with the second value, the third ...
        let apart: Vec<f64> = (0..20).map(|k| 4f64.powi(k)).collect();
        let nth_mean = |n: usize| {
            let larger = (1..).find(|k| k * (k + 1) / 2 >= n).unwrap();
            let smaller = n - (larger - 1) * larger / 2;
            f64::midpoint(apart[smaller - 1], apart[larger - 1])
        };
        let (middle, bound) = pseudomedian_and_bound(&apart);
        assert_eq!(middle, f64::midpoint(nth_mean(105), nth_mean(106)));
        assert_eq!(bound, Some(nth_mean(150)));
        // Of 5 and 6 values the critical values are 0 and 2.
        assert_eq!(pseudomedian_and_bound(&[3.0, 1.0, 2.0, 5.0, 4.0]), (3.0, Some(5.0)));
        assert_eq!(pseudomedian_and_bound(&apart[..6]).1, Some(nth_mean(19)));
        assert_eq!(pseudomedian_and_bound(&[1.0, 2.0, 3.0, 4.0]), (2.5, None));
    }

    #[test]
    fn the_bound_is_students() {
        // Mean 3, standard deviation 1.5811, t(4) = 2.132.
        let (mean, bound) = mean_and_bound(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((mean - 3.0).abs() < 1e-12 && (bound - 4.5075).abs() < 1e-3, "{bound}");
        assert!(
            (student_95(21) - 1.721).abs() < 0.004 && (student_95(1_000) - 1.646).abs() < 0.002
        );
    }
}
