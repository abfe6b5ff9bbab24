//! Round trips a second of real clients, beside PostgreSQL's by a driver of the same language: `cargo xtask round-trips`.
//!
//! A client has one connection and does one of two works over and over: a `SELECT` with a parameter that finds one row of 10,000
//! by its key, or an `INSERT` with two of one row (an identity, an int, a varchar(100)), each a transaction that is on the device
//! when it is answered. Statements and parameters go as the driver's manual has it, with what it prepares by itself. Nothing is
//! encrypted but, where a TDS driver insists, the login: `encrypt=false` or the like against `sslmode=disable`.
//!
//! Both servers run all the time, on one file system; the clients of a pair stay connected over all rounds, and only one of
//! them works at a time, ours and PostgreSQL's in turn. A timed part follows half a second of the same work.
//! CPU time is that of the server's processes in the timed part.
//!
//! Always holds: every row that is read is the one that was asked for (the clients look), and every insert that was answered is
//! in the table at the end. A driver that cannot be had here is told with the reason, and fails the command if `--only` named
//! it; so does one that stops on the way, and a run in which nothing could be measured.

mod clients;
mod servers;

use crate::beside::postgres;
use crate::build::{self, Build};
use crate::run::{Failure, target_directory};
use clients::{ALONE, Client, PAIRS, Pair, Program};
use servers::Database;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const WORKS: [&str; 2] = ["select", "insert"];

/// Before each timed part.
const WARMUP_S: f64 = 0.5;

/// What to run.
#[derive(clap::Args)]
pub struct Options {
    /// Only these of our drivers: mssql-jdbc, pyodbc, mssql-python, tedious, go-mssqldb.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Of each timed part.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// A server that is built already, instead of this tree's.
    #[arg(long, conflicts_with = "dev")]
    program: Option<PathBuf>,
    #[command(flatten)]
    build: build::Choice,
    /// Where the databases are made, of both; removed at the end. PostgreSQL's account must be able to reach it.
    #[arg(long)]
    data: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let known: Vec<&str> = PAIRS.iter().map(|pair| pair.ours).collect();
    for name in &options.only {
        if let Some((_, reason)) = ALONE.iter().find(|(driver, _)| driver == name) {
            return Err(Failure(format!("{name}: {reason}")));
        }
        if !known.contains(&name.as_str()) {
            let known = known.join(", ");
            return Err(Failure(format!("there is no client {name:?}; they are {known}")));
        }
    }
    if !(0.05..=600.0).contains(&options.seconds) {
        return Err(Failure("--seconds is between 0.05 and 600".into()));
    }
    // Before anything is built.
    postgres::programs()?;
    let binary = match &options.program {
        Some(file) => fs::canonicalize(file)
            .map_err(|error| Failure(format!("{}: {error}", file.display())))?,
        None => Build::from(options.build).millrace()?,
    };
    let parent = options.data.clone().unwrap_or_else(std::env::temp_dir);
    let folder = parent.join(format!("round-trips-{}", std::process::id()));
    let folder = fs::create_dir_all(&folder)
        .and_then(|()| fs::canonicalize(&folder))
        .map_err(|error| Failure(format!("{}: {error}", folder.display())))?;
    let result = on_servers(options, &binary, &folder);
    match &result {
        Ok(()) => drop(fs::remove_dir_all(&folder)),
        Err(_) => {
            // The logs tell more than data do.
            let _ = fs::remove_dir_all(folder.join("postgres/cluster"));
            println!("xtask: round-trips: the servers' logs are in {}", folder.display());
        }
    }
    result
}

fn on_servers(options: &Options, binary: &Path, folder: &Path) -> Result<(), Failure> {
    let postgres = Database::postgres(folder)?;
    let millrace = match Database::millrace(folder, binary) {
        Ok(millrace) => millrace,
        Err(failure) => {
            let _ = postgres.stop();
            return Err(failure);
        }
    };
    let databases = [millrace, postgres];
    println!(
        "xtask: round-trips: {} and {}, both on {}",
        databases[0].described(),
        databases[1].described(),
        file_system(folder)
    );
    let result = all_pairs(options, &databases);
    let stopped = databases.map(Database::stop);
    result.and_then(|()| stopped.into_iter().collect())
}

fn all_pairs(options: &Options, databases: &[Database; 2]) -> Result<(), Failure> {
    let folder = target_directory().join("drivers");
    let logs = folder.join("logs");
    fs::create_dir_all(&logs).map_err(|error| Failure(format!("{}: {error}", logs.display())))?;
    let wanted =
        |pair: &&Pair| options.only.is_empty() || options.only.iter().any(|one| one == pair.ours);
    // Nothing is compiled while something is timed.
    let installed: Vec<_> =
        PAIRS.iter().filter(wanted).map(|pair| (pair, pair.install(&folder))).collect();
    println!(
        "\nmedians of {} x {} s{:>31}{:>24}",
        options.rounds, options.seconds, "round trips/s", "server's CPU us each"
    );
    println!(
        "{:<26}{:<8}{:>10}{:>10}{:>7}{:>12}{:>10}",
        "", "", databases[0].name, databases[1].name, "ratio", databases[0].name, databases[1].name
    );
    let (mut measured, mut absent, mut failed) = (0, Vec::new(), Vec::new());
    let mut idle = [0.0_f64; 2];
    for (pair, program) in installed {
        let sides = match program.and_then(|program| prepare(pair, &program, databases, &logs)) {
            Ok(sides) => sides,
            Err(Failure(reason)) => {
                println!("{:<26}not measured: {reason}", pair.title());
                absent.push(pair.ours);
                continue;
            }
        };
        match measure(options, sides) {
            Ok(figures) => {
                figures.print(pair);
                idle = [0, 1].map(|one| idle[one].max(figures.idle[one]));
                measured += 1;
            }
            Err(Failure(reason)) => {
                println!("{:<26}FAILED: {reason}", pair.title());
                failed.push(pair.ours);
            }
        }
    }
    if options.only.is_empty() {
        for (driver, reason) in ALONE {
            println!("{driver:<26}not measured: {reason}");
        }
    }
    if measured > 0 {
        println!(
            "\nOf a processor, while the other was asked: {} {:.1} % at most, {} {:.1} %.",
            databases[0].name,
            100.0 * idle[0],
            databases[1].name,
            100.0 * idle[1]
        );
    }
    if !failed.is_empty() {
        return Err(Failure(format!("round-trips: failed: {}", failed.join(", "))));
    }
    if measured == 0 || !options.only.is_empty() && !absent.is_empty() {
        return Err(Failure(format!("round-trips: not measured: {}", absent.join(", "))));
    }
    Ok(())
}

/// A client and its server.
struct Side<'d> {
    database: &'d Database,
    client: Client,
    /// Inserts that were answered.
    inserted: u64,
    /// Of each work, a round each.
    rounds: [Vec<Round>; 2],
}

/// One timed part.
struct Round {
    per_second: f64,
    cpu_us: f64,
}

impl Side<'_> {
    fn ask(&mut self, work: &str, seconds: f64) -> Result<clients::Timed, Failure> {
        let timed = self.client.ask(work, seconds)?;
        if work == "insert" {
            self.inserted += timed.count;
        }
        Ok(timed)
    }
}

/// Both clients connected, to tables that are new; each has answered once.
fn prepare<'d>(
    pair: &Pair,
    program: &Program,
    databases: &'d [Database; 2],
    logs: &Path,
) -> Result<[Side<'d>; 2], Failure> {
    let side = |database: &'d Database, driver| -> Result<Side<'d>, Failure> {
        database.make_tables()?;
        let client = Client::start(program, driver, database, logs)?;
        let mut side = Side { database, client, inserted: 0, rounds: [Vec::new(), Vec::new()] };
        for work in WORKS {
            side.ask(work, WARMUP_S)?;
        }
        Ok(side)
    };
    Ok([side(&databases[0], pair.ours)?, side(&databases[1], pair.theirs)?])
}

/// The rounds, and a look at the tables.
fn measure(options: &Options, mut sides: [Side<'_>; 2]) -> Result<Figures, Failure> {
    let mut idle = [0.0_f64; 2];
    for _ in 0..options.rounds {
        for (at, work) in WORKS.iter().enumerate() {
            for one in [0, 1] {
                sides[one].ask(work, WARMUP_S)?;
                let before = [sides[0].database.cpu()?, sides[1].database.cpu()?];
                let timed = sides[one].ask(work, options.seconds)?;
                let after = [sides[0].database.cpu()?, sides[1].database.cpu()?];
                let count = timed.count as f64;
                sides[one].rounds[at].push(Round {
                    per_second: count / timed.seconds,
                    cpu_us: 1e6 * (after[one] - before[one]) / count,
                });
                let other = 1 - one;
                idle[other] = idle[other].max((after[other] - before[other]) / timed.seconds);
            }
        }
    }
    let figures = Figures {
        medians: [0, 1].map(|work| [0, 1].map(|one| median_of(&sides[one].rounds[work]))),
        idle,
    };
    for Side { database, client, inserted, .. } in sides {
        client.stop()?;
        let there = database.added()?;
        if there != inserted {
            let name = database.name;
            return Err(Failure(format!("{name}: {inserted} inserts answered, {there} rows")));
        }
    }
    Ok(figures)
}

/// What is told of a pair.
struct Figures {
    /// By work, then by side.
    medians: [[Round; 2]; 2],
    /// The largest share of a processor that each server used while the other was asked.
    idle: [f64; 2],
}

impl Figures {
    fn print(&self, pair: &Pair) {
        for (at, (work, [ours, theirs])) in WORKS.iter().zip(&self.medians).enumerate() {
            let title = if at == 0 { pair.title() } else { String::new() };
            println!(
                "{title:<26}{work:<8}{:>10.0}{:>10.0}{:>7.2}{:>12.1}{:>10.1}",
                ours.per_second,
                theirs.per_second,
                ours.per_second / theirs.per_second,
                ours.cpu_us,
                theirs.cpu_us
            );
        }
    }
}

fn median_of(rounds: &[Round]) -> Round {
    Round {
        per_second: median(rounds.iter().map(|round| round.per_second).collect()),
        cpu_us: median(rounds.iter().map(|round| round.cpu_us).collect()),
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    let (low, high) = (all.len().saturating_sub(1) / 2, all.len() / 2);
    (all[low] + all[high]) / 2.0
}

/// Its kind decides what a durable insert costs.
fn file_system(folder: &Path) -> String {
    let kind = Command::new("df").arg("--output=fstype").arg(folder).output();
    let kind = kind.map_or_else(
        |_| "an unknown file system".to_owned(),
        |output| {
            // Below a heading.
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.lines().last().unwrap_or_default().trim().to_owned()
        },
    );
    match kind.as_str() {
        "tmpfs" | "ramfs" => {
            format!("{kind}, which is memory: durability costs nothing (--data says where else)")
        }
        _ => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn of_an_even_number_the_median_lies_between_two() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(vec![7.0]), 7.0);
    }
}
