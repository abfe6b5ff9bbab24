//! `histories`: runs histories at every level and checks them; with `--bugs`, plants isolation bugs and demands that
//! each is caught. Exits non-zero when an anomaly that a level forbids occurred, or a bug was not caught.

use clap::Parser;
use isolation::history::run::{Shape, generate};
use isolation::history::{check, forbidden};
use isolation::{Level, Stage};
use std::process::ExitCode;

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
    /// Plant bugs (needs the feature seeded-bugs).
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
    let stage = Stage::new();
    let rounds = arguments.transactions.div_ceil(SESSIONS * PER_SESSION * Level::ALL.len()).max(1);
    let mut bad = false;
    for level in Level::ALL {
        let (mut total, mut committed, mut allowed) = (0, 0, Vec::new());
        for seed in (arguments.seed..).take(rounds) {
            let history = generate(&stage, shape(level, seed));
            total += history.len();
            committed += history.iter().filter(|t| t.committed).count();
            for anomaly in check(&history) {
                if forbidden(level).contains(&anomaly) {
                    bad = true;
                    println!("histories: {level:?}, seed {seed}: {anomaly:?} in {history:#?}");
                } else if !allowed.contains(&anomaly) {
                    allowed.push(anomaly);
                }
            }
        }
        allowed.sort();
        println!(
            "histories: {level:?}: {total} transactions, {committed} committed, seeds {}..{}, forbidden anomalies {}; \
             seen of those it allows: {allowed:?}",
            arguments.seed,
            arguments.seed + rounds as u64 - 1,
            if bad { "FOUND" } else { "0" },
        );
    }
    if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(not(feature = "seeded-bugs"))]
fn bugs(_: u64) -> ExitCode {
    eprintln!("histories: --bugs needs a build with the feature seeded-bugs");
    ExitCode::FAILURE
}

/// Each bug at the level that it breaks: a forbidden anomaly must turn up.
#[cfg(feature = "seeded-bugs")]
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
