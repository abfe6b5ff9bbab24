//! The work of applications as procedures with a loop: what a change costs, a commit after each unless said otherwise; the
//! works whose names begin with `native` by natively compiled procedures over memory-optimised tables.
//!
//! The engine runs as a child (`crates/session/examples/timed.rs`), embedded, with delayed durability; PostgreSQL beside it with
//! `synchronous_commit = off`, each session a `psql` that calls a PL/pgSQL procedure. Each work has a
//! table of its own and a procedure that runs it `@n` times from `@from` on; it runs in turn with the others, and in
//! turn on every engine, so that a slow minute of the machine falls on all. Printed are the medians, by one
//! session and by several at once: repetitions a second, and CPU nanoseconds for each, of the whole engine (what others
//! take of a shared machine is not among these).

mod block;
mod native;
mod works;

use crate::beside::{Dialect, Engine, Setup, engines};
use crate::run::Failure;
use std::path::PathBuf;
use works::{Work, numbers};

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Only the works whose names begin with one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Numbers of sessions, one after the other.
    #[arg(long, value_delimiter = ',', default_value = "1,10")]
    sessions: Vec<u32>,
    /// Of a run, about.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Builds of the example `timed` to compare, as NAME=FILE; without one: this tree's.
    #[arg(long)]
    program: Vec<String>,
    /// postgres: the same by procedures of PL/pgSQL.
    #[arg(long, value_delimiter = ',')]
    beside: Vec<String>,
    /// Where the databases are made; removed at the end.
    #[arg(long)]
    data: Option<PathBuf>,
}

/// A work by so many sessions on one engine.
struct Lane {
    /// Repetitions so far, of a session.
    done: u64,
    /// Repetitions of a run, of a session.
    count: u64,
    /// Per repetition, all sessions together: nanoseconds, and those of CPUs.
    ns: Vec<(f64, f64)>,
}

impl Lane {
    fn run(&mut self, engine: &mut Engine, work: &Work, sessions: u32) -> Result<f64, Failure> {
        let (from, count) = (self.done, self.count);
        self.done += count;
        engine.run_on(sessions, &work.call(engine.dialect, from, count))
    }
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let folder = match &options.data {
        Some(data) => data.clone(),
        None => std::env::temp_dir().join(format!("loops-{}", std::process::id())),
    };
    std::fs::create_dir_all(&folder).map_err(|e| Failure(e.to_string()))?;
    let setup = Setup {
        database: "loops",
        memory_mb: 5120,
        programs: &options.program,
        beside: &options.beside,
        folder: &folder,
    };
    let result = engines(&setup).and_then(|mut engines| {
        let result = compare(options, &mut engines);
        engines.into_iter().for_each(Engine::stop);
        result
    });
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn compare(options: &Options, engines: &mut [Engine]) -> Result<(), Failure> {
    let wanted = |work: &&Work| {
        options.only.is_empty() || options.only.iter().any(|name| work.name.starts_with(name))
    };
    let most = options.sessions.iter().copied().max().unwrap_or(1);
    let works: Vec<&Work> = works::WORKS.iter().chain(native::WORKS).filter(wanted).collect();
    for engine in &mut *engines {
        for text in numbers(engine.dialect) {
            engine.run(text)?;
        }
        if engine.dialect == Dialect::Tsql && works.iter().any(|work| work.native) {
            for text in native::CONTAINER {
                engine.run(text)?;
            }
        }
    }
    // Lanes of a work are in order of the number of sessions, and of the engines.
    let mut lanes: Vec<Vec<Lane>> = Vec::new();
    for work in &works {
        let mut of_work = Vec::new();
        for engine in &mut *engines {
            let all = match work.is_in(engine.dialect) {
                true => work.set_up(engine.dialect, most),
                false => Vec::new(),
            };
            for text in all {
                engine.run(&text)?;
            }
        }
        for (at, &sessions) in options.sessions.iter().enumerate() {
            for engine in &mut *engines {
                let mut lane = Lane { done: at as u64 * 300_000_000, count: 1000, ns: Vec::new() };
                if !work.is_in(engine.dialect) {
                    of_work.push(lane);
                    continue;
                }
                // Compiles and warms up; then as many as the time takes.
                lane.run(engine, work, sessions)?;
                let seconds = lane.run(engine, work, sessions)?;
                let count = options.seconds / seconds.max(1e-6) * lane.count as f64;
                lane.count = ((count / 1000.0).ceil() as u64 * 1000).clamp(1000, 2_000_000);
                of_work.push(lane);
            }
        }
        lanes.push(of_work);
    }
    for _ in 0..options.rounds {
        for (work, lanes) in works.iter().zip(&mut lanes) {
            for (at, lane) in lanes.iter_mut().enumerate() {
                let sessions = options.sessions[at / engines.len()];
                let engine = &mut engines[at % engines.len()];
                if !work.is_in(engine.dialect) {
                    continue;
                }
                let cpu = engine.cpu()?;
                let seconds = lane.run(engine, work, sessions)?;
                let each = 1e9 / (lane.count * u64::from(sessions)) as f64;
                lane.ns.push((seconds * each, (engine.cpu()? - cpu) * each));
            }
        }
    }
    print!("{:<28}", "repetitions/s (CPU ns each)");
    for sessions in &options.sessions {
        for engine in &*engines {
            print!("{:>26}", format!("{} x {sessions}", engine.name));
        }
    }
    println!();
    for (work, lanes) in works.iter().zip(&lanes) {
        print!("{:<28}", work.name);
        for lane in lanes {
            let median = |mut all: Vec<f64>| {
                all.sort_by(f64::total_cmp);
                all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
            };
            let ns = median(lane.ns.iter().map(|(ns, _)| *ns).collect());
            let cpu = median(lane.ns.iter().map(|(_, cpu)| *cpu).collect());
            let told = match ns.is_nan() {
                true => "-".to_owned(),
                false => format!("{:.0} k ({cpu:.0})", 1e6 / ns),
            };
            print!("{told:>26}");
        }
        println!();
    }
    Ok(())
}
