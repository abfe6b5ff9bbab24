//! `histories`: runs histories at every level and checks them; with `--bugs`, plants isolation bugs and demands that
//! each is caught. Exits non-zero when an anomaly that a level forbids occurred, or a bug was not caught.

use clap::Parser;
use isolation::history::run::{Shape, generate};
use isolation::history::{Anomaly, check, forbidden};
use isolation::{Level, Stage, Tables};
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
    /// Transactions in all, over the modes.
    #[arg(long, default_value_t = 20_000)]
    transactions: usize,
    /// The first seed; each history has its own, counting up.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Histories made side by side.
    #[arg(long, default_value_t = 8)]
    jobs: usize,
    /// disk, memory, mixed: the modes whose tables live there alone.
    #[arg(long)]
    tables: Option<Tables>,
    /// Plant bugs (a build with debug assertions).
    #[arg(long)]
    bugs: bool,
}

const SESSIONS: usize = 4;
const PER_SESSION: usize = 50;

/// Where the tables are, and a level: those that there are for tables on disk, and those for tables in memory.
type Mode = (Tables, Level);

fn modes(tables: Option<Tables>) -> Vec<Mode> {
    let on_disk = Level::ALL.map(|level| (Tables::Disk, level)).into_iter();
    let in_memory = [Level::Snapshot, Level::RepeatableRead, Level::Serializable];
    let in_memory = in_memory.map(|level| (Tables::Memory, level));
    let mixed = (Tables::Mixed, Level::ReadCommittedSnapshot);
    let all = on_disk.chain(in_memory).chain([mixed]);
    all.filter(|(of, _)| tables.is_none_or(|tables| tables == *of)).collect()
}

fn shape((tables, level): Mode, seed: u64) -> Shape {
    Shape { level, tables, seed, sessions: SESSIONS, transactions: PER_SESSION, keys: 3 }
}

/// As it is printed.
fn name((tables, level): Mode) -> String {
    match tables {
        Tables::Disk => format!("{level:?}"),
        Tables::Memory => format!("{level:?}, in memory"),
        Tables::Mixed => "mixed".to_owned(),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.bugs {
        return bugs(arguments.seed);
    }
    let modes = modes(arguments.tables);
    let rounds = arguments.transactions.div_ceil(SESSIONS * PER_SESSION * modes.len()).max(1);
    let seeds = arguments.seed..arguments.seed + rounds as u64;
    let sums = side_by_side(&modes, seeds.clone(), arguments.jobs.max(1));
    let mut bad = false;
    for (mode, sum) in modes.into_iter().zip(sums) {
        bad |= sum.bad;
        println!(
            "histories: {}: {} transactions, {} committed, seeds {}..{}, forbidden anomalies {}; seen of those it \
             allows: {:?}",
            name(mode),
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

/// What the histories of a mode have shown.
#[derive(Clone, Default)]
struct Sum {
    total: usize,
    committed: usize,
    allowed: BTreeSet<Anomaly>,
    bad: bool,
}

/// Histories of all modes and seeds, so many at a time: each has an instance to itself, and its sessions spend most of
/// their time waiting for each other. The sums are in the order of the modes.
fn side_by_side(modes: &[Mode], seeds: Range<u64>, jobs: usize) -> Vec<Sum> {
    let sums = Mutex::new(vec![Sum::default(); modes.len()]);
    let next = AtomicU64::new(0);
    let count = modes.len() as u64;
    let all = (seeds.end - seeds.start) * count;
    std::thread::scope(|s| {
        for _ in 0..jobs.min(all as usize) {
            s.spawn(|| {
                let stage = Stage::new();
                loop {
                    let n = next.fetch_add(1, Relaxed);
                    if n >= all {
                        return;
                    }
                    let at = (n % count) as usize;
                    let (mode, seed) = (modes[at], seeds.start + n / count);
                    let history = generate(&stage, shape(mode, seed));
                    let (wrong, allowed): (Vec<Anomaly>, Vec<Anomaly>) =
                        check(&history).into_iter().partition(|a| is_forbidden(mode, *a));
                    for anomaly in &wrong {
                        let mode = name(mode);
                        println!("histories: {mode}, seed {seed}: {anomaly:?} in {history:#?}");
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

fn is_forbidden((tables, level): Mode, anomaly: Anomaly) -> bool {
    forbidden(tables, level).contains(&anomaly)
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
    let disk = |level| (Tables::Disk, level);
    let memory = |level| (Tables::Memory, level);
    let planted = [
        (Bug::DirtyReads, disk(Level::ReadCommittedSnapshot)),
        (Bug::MovingSnapshot, disk(Level::Snapshot)),
        (Bug::NoConflicts, disk(Level::Snapshot)),
        (Bug::BriefLocks, disk(Level::RepeatableRead)),
        (Bug::BriefLocks, disk(Level::Serializable)),
        (Bug::NoGaps, disk(Level::Serializable)),
        (Bug::MissedValidation, memory(Level::RepeatableRead)),
        (Bug::MissedValidation, memory(Level::Serializable)),
        (Bug::EarlyCleanUp, memory(Level::Snapshot)),
        (Bug::EarlyCleanUp, (Tables::Mixed, Level::ReadCommittedSnapshot)),
    ];
    for (bug, mode) in planted {
        let stage = Stage::new();
        engine::plant(bug);
        let mut caught = None;
        for (round, seed) in (seed..).take(ROUNDS).enumerate() {
            let mut found = check(&generate(&stage, shape(mode, seed)));
            found.retain(|a| is_forbidden(mode, *a));
            if !found.is_empty() {
                caught = Some((round + 1, found));
                break;
            }
        }
        engine::plant(Bug::None);
        match caught {
            Some((rounds, found)) => {
                println!(
                    "histories: {bug:?} at {}: caught in history {rounds} as {found:?}",
                    name(mode)
                );
            }
            None => {
                missed = true;
                let mode = name(mode);
                println!("histories: {bug:?} at {mode}: NOT caught in {ROUNDS} histories");
            }
        }
    }
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
