//! `histories`: runs histories at every level and checks them; with `--bugs`, plants isolation bugs and demands that
//! each is caught. Exits non-zero when an anomaly that a level forbids occurred, or a bug was not caught.

use clap::Parser;
use isolation::history::run::{Shape, generate};
use isolation::history::{Anomaly, check, forbidden};
use isolation::{Level, Stage};
use std::collections::BTreeSet;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

#[derive(Parser)]
#[command(
    name = "histories",
    about = "Histories of concurrent transactions, checked for forbidden anomalies"
)]
struct Arguments {
    /// Transactions in all, over the six modes.
    #[arg(long, default_value_t = 20_000)]
    transactions: usize,
    /// The first seed; each history has its own, counting up.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Histories made side by side.
    #[arg(long, default_value_t = 8)]
    jobs: usize,
    /// Plant bugs (a build with debug assertions).
    #[arg(long)]
    bugs: bool,
}

const SESSIONS: usize = 4;
const PER_SESSION: usize = 50;

fn shape(level: Level, seed: u64) -> Shape {
    Shape { level, seed, sessions: SESSIONS, transactions: PER_SESSION, keys: 3 }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.bugs {
        return bugs(arguments.seed);
    }
    let rounds = arguments.transactions.div_ceil(SESSIONS * PER_SESSION * Level::ALL.len()).max(1);
    let seeds = arguments.seed..arguments.seed + rounds as u64;
    let sums = side_by_side(seeds.clone(), arguments.jobs.max(1));
    let mut bad = false;
    for (level, sum) in Level::ALL.into_iter().zip(sums) {
        bad |= sum.bad;
        println!(
            "histories: {level:?}: {} transactions, {} committed, seeds {}..{}, forbidden anomalies {}; seen of those it \
             allows: {:?}",
            sum.total,
            sum.committed,
            seeds.start,
            seeds.end - 1,
            if sum.bad { "FOUND" } else { "0" },
            sum.allowed,
        );
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What the histories of a level have shown.
#[derive(Clone, Default)]
struct Sum {
    total: usize,
    committed: usize,
    allowed: BTreeSet<Anomaly>,
    bad: bool,
}

/// Histories of all levels and seeds, so many at a time: each has an instance to itself, and its sessions spend most of
/// their time waiting for each other. The sums are in the order of the levels.
fn side_by_side(seeds: Range<u64>, jobs: usize) -> Vec<Sum> {
    let sums = Mutex::new(vec![Sum::default(); Level::ALL.len()]);
    let next = AtomicU64::new(0);
    let all = (seeds.end - seeds.start) * Level::ALL.len() as u64;
    std::thread::scope(|s| {
        for _ in 0..jobs.min(all as usize) {
            s.spawn(|| {
                let stage = Stage::new();
                loop {
                    let n = next.fetch_add(1, Relaxed);
                    if n >= all {
                        return;
                    }
                    let at = (n % Level::ALL.len() as u64) as usize;
                    let (level, seed) = (Level::ALL[at], seeds.start + n / Level::ALL.len() as u64);
                    let history = generate(&stage, shape(level, seed));
                    let found = check(&history);
                    let (wrong, allowed): (Vec<Anomaly>, Vec<Anomaly>) =
                        found.into_iter().partition(|a| forbidden(level).contains(a));
                    for anomaly in &wrong {
                        println!("histories: {level:?}, seed {seed}: {anomaly:?} in {history:#?}");
                    }
                    let mut sums = sums.lock().unwrap_or_else(PoisonError::into_inner);
                    let sum = &mut sums[at];
                    sum.total += history.len();
                    sum.committed += history.iter().filter(|t| t.committed).count();
                    sum.allowed.extend(allowed);
                    sum.bad |= !wrong.is_empty();
                }
            });
        }
    });
    sums.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(not(debug_assertions))]
fn bugs(_: u64) -> ExitCode {
    eprintln!(
        "histories: --bugs needs a build with debug assertions, as the dev profile makes them"
    );
    ExitCode::FAILURE
}

/// Each bug at the level that it breaks: a forbidden anomaly must turn up.
#[cfg(debug_assertions)]
fn bugs(seed: u64) -> ExitCode {
    use engine::Bug;
    const ROUNDS: usize = 100;
    let mut missed = false;
    let planted = [
        (Bug::DirtyReads, Level::ReadCommittedSnapshot),
        (Bug::MovingSnapshot, Level::Snapshot),
        (Bug::NoConflicts, Level::Snapshot),
        (Bug::BriefLocks, Level::RepeatableRead),
        (Bug::BriefLocks, Level::Serializable),
        (Bug::NoGaps, Level::Serializable),
    ];
    for (bug, level) in planted {
        let stage = Stage::new();
        engine::plant(bug);
        let mut caught = None;
        for (round, seed) in (seed..).take(ROUNDS).enumerate() {
            let found = check(&generate(&stage, shape(level, seed)));
            let found: Vec<_> =
                found.into_iter().filter(|a| forbidden(level).contains(a)).collect();
            if !found.is_empty() {
                caught = Some((round + 1, found));
                break;
            }
        }
        engine::plant(Bug::None);
        match caught {
            Some((rounds, found)) => {
                println!(
                    "histories: {bug:?} at {level:?}: caught in history {rounds} as {found:?}"
                );
            }
            None => {
                missed = true;
                println!("histories: {bug:?} at {level:?}: NOT caught in {ROUNDS} histories");
            }
        }
    }
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
