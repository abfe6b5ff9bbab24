//! kill -9 of the real binary under load, again and again on one data folder.
//!
//! Each cycle starts `millrace lab ledger`, which runs several sessions of fully durable transactions of two rows and
//! prints a line when a commit was acknowledged (`ack S N`) or a rollback done (`rolled S N`). A third of the sessions enters
//! both rows into a table on disk, a third into one in memory, a third one row into each (or all do what `--tables` says); one
//! of them takes a checkpoint now and then. The process is killed at
//! a random moment, the folder is opened again by `millrace lab ledger --dump`, and the rows are held against what was
//! printed, for this cycle and for every one before:
//!
//! - lost: acknowledged, but a row of it is missing;
//! - torn: one row of a transaction without the other;
//! - resurrected: rolled back, but there;
//! - unknown: a row that is neither the acknowledged ones' nor the one in flight of its session.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::build::Build;
use crate::run::{Failure, target_directory};

const SESSIONS: u32 = 8;
/// One cycle in so many is killed at a moment after its start, the others after their first acknowledgement.
const EARLY: u32 = 5;
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// (cycle, session, number) of a transaction.
type Transaction = (u32, u32, u64);

#[derive(Default)]
struct Oracle {
    acknowledged: BTreeSet<Transaction>,
    rolled_back: BTreeSet<Transaction>,
}

#[derive(Default)]
struct Tally {
    lost: u64,
    torn: u64,
    resurrected: u64,
    unknown: u64,
}

pub fn run(build: Build, cycles: u32, seed: u64, tables: Option<&str>) -> Result<(), Failure> {
    let binary = build.millrace()?;
    let folder = target_directory().join(format!("kill-{seed}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    println!("xtask: kill: {cycles} cycles, seed {seed}");
    let start = Instant::now();
    let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut oracle = Oracle::default();
    let mut tally = Tally::default();
    for cycle in 1..=cycles {
        random = xorshift(random);
        let after = Duration::from_millis(20 + random % 400);
        load_and_kill(&binary, &folder, (cycle, tables), after, &mut oracle)?;
        verify(&binary, &folder, cycle, &oracle, &mut tally)?;
    }
    println!(
        "xtask: kill: cycles {cycles}, acknowledged {}, rolled back {}, lost {}, torn {}, \
         resurrected {}, unknown {}, in {:.1} s",
        oracle.acknowledged.len(),
        oracle.rolled_back.len(),
        tally.lost,
        tally.torn,
        tally.resurrected,
        tally.unknown,
        start.elapsed().as_secs_f64()
    );
    // Each third of the sessions has rows in other tables.
    if let Some(idle) =
        (1..=SESSIONS).find(|one| !oracle.acknowledged.iter().any(|(_, s, _)| s == one))
    {
        return Err(Failure(format!(
            "kill: session {idle} was acknowledged nothing, so it tested nothing"
        )));
    }
    if tally.lost + tally.torn + tally.resurrected + tally.unknown > 0 {
        return Err(Failure(format!("kill: the data folder is kept: {}", folder.display())));
    }
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}

fn load_and_kill(
    binary: &Path,
    folder: &Path,
    (cycle, tables): (u32, Option<&str>),
    after: Duration,
    oracle: &mut Oracle,
) -> Result<(), Failure> {
    let mut child = Command::new(binary)
        .args(["lab", "ledger", "--data"])
        .arg(folder)
        .args(["--sessions", &SESSIONS.to_string(), "--cycle", &cycle.to_string()])
        .args(tables.iter().flat_map(|tables| ["--tables", tables]))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure(format!("{}: {error}", binary.display())))?;
    let output = child.stdout.take().expect("stdout is piped");
    let (begun, begins) = channel();
    let reader = std::thread::spawn(move || {
        // A line cut short by the kill was not acknowledged: only whole lines count.
        let mut lines = Vec::new();
        let mut input = BufReader::new(output);
        let mut line = String::new();
        while input.read_line(&mut line).is_ok_and(|n| n > 0) {
            if line.ends_with('\n') {
                lines.push(line.trim_end().to_owned());
                if lines.len() == 1 {
                    let _ = begun.send(());
                }
            }
            line.clear();
        }
        lines
    });
    // Some die while they open and recover, most under load: a busy machine takes its time to get there.
    if !cycle.is_multiple_of(EARLY) {
        let _ = begins.recv_timeout(START_TIMEOUT);
    }
    std::thread::sleep(after);
    child.kill().map_err(|error| Failure(format!("kill: {error}")))?;
    child.wait().map_err(|error| Failure(format!("kill: {error}")))?;
    for line in reader.join().expect("the reader does not panic") {
        let mut words = line.split_whitespace();
        let (what, session, number) = (words.next(), words.next(), words.next());
        let (Some(what), Some(session), Some(number)) = (what, session, number) else { continue };
        let (Ok(session), Ok(number)) = (session.parse(), number.parse()) else { continue };
        match what {
            "ack" => oracle.acknowledged.insert((cycle, session, number)),
            "rolled" => oracle.rolled_back.insert((cycle, session, number)),
            _ => return Err(Failure(format!("kill: the ledger said {line:?}"))),
        };
    }
    Ok(())
}

/// Beside the bits of the two sides.
const TWICE: u32 = 1 << 31;

fn verify(
    binary: &Path,
    folder: &Path,
    cycle: u32,
    oracle: &Oracle,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let output = Command::new(binary)
        .args(["lab", "ledger", "--dump", "--data"])
        .arg(folder)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure(format!("{}: {error}", binary.display())))?;
    if !output.status.success() {
        return Err(Failure(format!(
            "kill: the folder {} does not open after the kill of cycle {cycle}: {}",
            folder.display(),
            output.status
        )));
    }
    let mut rows: BTreeMap<Transaction, u32> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|w| w.parse().ok()).collect();
        let [cycle, session, number, side] = numbers[..] else {
            return Err(Failure(format!("kill: the dump said {line:?}")));
        };
        let sides = rows.entry((cycle as u32, session as u32, number)).or_default();
        // A side that is there twice, in one table or in both, is as wrong as one that is not there.
        *sides |= if *sides & (1 << side) == 0 { 1 << side } else { TWICE };
    }
    let mut in_flight: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let complain = |what: &str, transaction: &Transaction, count: &mut u64| {
        eprintln!("kill: cycle {cycle}: {what} {transaction:?}");
        *count += 1;
    };
    for transaction in &oracle.acknowledged {
        if !rows.contains_key(transaction) {
            complain("lost", transaction, &mut tally.lost);
        }
    }
    for (transaction, sides) in &rows {
        if *sides != 0b11 {
            complain("torn", transaction, &mut tally.torn);
        }
        if oracle.rolled_back.contains(transaction) {
            complain("resurrected", transaction, &mut tally.resurrected);
        } else if !oracle.acknowledged.contains(transaction) {
            // Each session may have had one commit on its way when its process died.
            let count = in_flight.entry((transaction.0, transaction.1)).or_default();
            *count += 1;
            if *count > 1 {
                complain("unknown", transaction, &mut tally.unknown);
            }
        }
    }
    Ok(())
}

fn xorshift(mut x: u64) -> u64 {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    x
}
