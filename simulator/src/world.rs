//! A whole world from one seed: the server, its disk, its network, its clock, and clients that check what they get.
//!
//! A world is one thread and one number. On it run the real server (listeners, connections, login, sessions, engine, log
//! writer, checkpoints, recovery) over a simulated disk and a simulated network, clients that speak TDS, and a nemesis
//! that takes the power away, resets connections, lets requests to the disk fail, sets the clock. The same number gives
//! the same world, byte for byte: [`Found::trace`] is a hash of every switch of tasks, every read from a socket and
//! every request of the disk.
//!
//! What must hold, whatever fails:
//! 1. what the workloads promise (`workloads`): nothing acknowledged is lost, nothing taken back is there, nothing is
//!    seen that the isolation level forbids;
//! 2. an error that nobody has caused is not told;
//! 3. when all is well again, every request is answered and every worker finishes: nothing hangs;
//! 4. the server ends when asked to, its disk failing or not, and leaves no task behind;
//! 5. it starts again on what a loss of power has left, and DBCC CHECKDB finds nothing.
//!
//! docs/simulator.md tells what is simulated and what is not.

mod client;
mod command;
mod faults;
mod host;
mod nemesis;
mod planted;
mod worker;

pub use command::{Arguments, main};
pub use faults::Faults;
pub use host::Template;

use host::Host;
use nemesis::Nemesis;
use scheduler::sim::{self, Sim};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use stdx::Prng;
use worker::Worker;
use workloads::{Bank, Ledger, Level, ListAppend, Queue, Tables, Workload};

/// Of the worlds that the command runs, every so many is run twice, and must be the same.
const WORLDS_TWICE_EVERY: u64 = 20;

/// The workloads by name.
pub const WORKLOADS: [&str; 4] = ["bank", "queue", "list-append", "ledger"];

/// What a world is made of.
#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u64,
    /// Of [`WORKLOADS`]; empty: the seed chooses one or all.
    pub workload: Option<String>,
    pub faults: Faults,
    /// Of the lists and the transfers; `None`: the seed chooses.
    pub level: Option<Level>,
    /// Where the workloads' tables live; `None`: the seed chooses, a third each.
    pub tables: Option<Tables>,
}

impl Options {
    fn tables(&self) -> Tables {
        self.tables.unwrap_or(Tables::ALL[(self.seed % 3) as usize])
    }
}

/// What happened in a world, and what was wrong.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Found {
    /// The same for the same options, always.
    pub trace: u64,
    pub committed: u64,
    pub rolled_back: u64,
    /// Steps that ended because the connection did.
    pub lost: u64,
    /// Errors by number: how often, and one of the texts.
    pub refused: BTreeMap<i32, (u64, String)>,
    /// What the nemesis did, by name.
    pub done: BTreeMap<&'static str, u64>,
    /// Hashes of the disks that losses of power have left.
    pub images: Vec<u64>,
    pub simulated_ns: u64,
    pub odd: Vec<String>,
}

impl Found {
    /// One more of something that the nemesis did.
    fn count(&mut self, what: &'static str) {
        *self.done.entry(what).or_default() += 1;
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "trace {:016x}, {} s simulated, committed {}, rolled back {}, connections lost {}",
            self.trace,
            self.simulated_ns / 1_000_000_000,
            self.committed,
            self.rolled_back,
            self.lost
        )?;
        for (what, times) in &self.done {
            write!(f, ", {what} {times}")?;
        }
        for (number, (times, text)) in &self.refused {
            write!(f, "\n  error {number}, {times} times: {text}")?;
        }
        for what in &self.odd {
            write!(f, "\n  odd: {what}")?;
        }
        Ok(())
    }
}

/// What the tasks of a world share.
struct World {
    options: Options,
    host: Host,
    workloads: Vec<Arc<dyn Workload>>,
    found: Mutex<Found>,
    /// From this moment on nothing fails any more, and everything must be answered.
    calm_since_ns: Mutex<Option<u64>>,
}

impl World {
    fn odd(&self, what: String) {
        self.with_found(|found| found.odd.push(what));
    }

    fn with_found<R>(&self, f: impl FnOnce(&mut Found) -> R) -> R {
        f(&mut self.found.lock().unwrap())
    }

    fn is_calm(&self) -> bool {
        self.calm_since_ns.lock().unwrap().is_some()
    }
}

/// Levels at which transfers keep their promise; lists are tried at the others, too.
const SAFE: [Level; 3] = [Level::Snapshot, Level::Serializable, Level::RepeatableRead];

fn workloads(options: &Options, rng: &mut Prng) -> Vec<Arc<dyn Workload>> {
    let chosen: Vec<&str> = match &options.workload {
        Some(name) => vec![name],
        None if rng.one_in(2) => vec![WORKLOADS[rng.below(4) as usize]],
        None => WORKLOADS.to_vec(),
    };
    let safe =
        options.level.filter(|level| SAFE.contains(level)).unwrap_or(SAFE[rng.below(3) as usize]);
    let any = options.level.unwrap_or(Level::ALL[rng.below(6) as usize]);
    let tables = options.tables();
    let made = chosen.into_iter().map(|name| -> Arc<dyn Workload> {
        match name {
            "bank" => Arc::new(Bank::new(3 + rng.below(6) as i64, safe).on(tables)),
            "queue" => Arc::new(Queue::new().on(tables)),
            "list-append" => Arc::new(ListAppend::new(2 + rng.below(4) as i64, any).on(tables)),
            _ => Arc::new(Ledger::new().on(tables)),
        }
    });
    made.collect()
}

/// Makes the world of a seed, lets it run to its end, and tells what was found.
pub fn run(template: &Arc<Template>, options: &Options) -> Found {
    let (template, options) = (template.clone(), options.clone());
    let (found, outcome) =
        sim::run_with_outcome(options.seed, move |sim| live(sim, &template, options));
    Found { simulated_ns: outcome.simulated_ns, ..found }
}

fn live(sim: &Sim, template: &Template, options: Options) -> Found {
    let mut rng = Prng::new(stdx::mix64(options.seed ^ 0x0077_6f72_6c64));
    let workloads = workloads(&options, &mut rng);
    let world = Arc::new(World {
        host: Host::new(template, sim.schedulers().clone(), &mut rng),
        workloads,
        options,
        found: Mutex::default(),
        calm_since_ns: Mutex::default(),
    });
    let ended = play(sim, &world, &mut rng);
    if ended.is_none() {
        // Who hangs is left behind.
        sim.leave_all();
    }
    let mut found = world.with_found(std::mem::take);
    found.trace = runtime::sim::trace();
    found
}

/// `None`: something hangs, and has been told.
fn play(sim: &Sim, world: &Arc<World>, rng: &mut Prng) -> Option<()> {
    if let Err(what) = world.host.start() {
        world.odd(format!("the first start: {what}"));
        return None;
    }
    set_up(world, rng)?;
    let mut workers = Vec::new();
    let each = if world.workloads.len() > 1 { 2 } else { 3 + rng.below(3) as usize };
    for (at, workload) in world.workloads.iter().enumerate() {
        for number in 0..each {
            let worker = Worker {
                world: world.clone(),
                workload: workload.clone(),
                number,
                rng: Prng::new(stdx::mix64(rng.next_u64() ^ at as u64)),
                steps: 15 + rng.below(30),
            };
            workers.push(sim.spawn("worker", move || worker.run()));
        }
    }
    let mut nemesis = Nemesis::new(world.clone(), Prng::new(rng.next_u64()));
    nemesis.rage()?;
    nemesis.calm()?;
    world.with_found(|found| found.count("calm"));
    let until = runtime::clock::now_ns() + worker::PATIENCE_NS;
    for worker in workers {
        while !worker.is_finished() {
            if runtime::clock::now_ns() > until {
                world.odd(format!(
                    "workers hang, {} s after the last fault: {:#?}",
                    worker::PATIENCE_NS / 1_000_000_000,
                    world.host.tasks()
                ));
                return None;
            }
            runtime::task::sleep_ns(50_000_000, telemetry::WaitType::SleepTask);
        }
        if worker.join().is_err() {
            world.odd("a worker panicked".to_owned());
        }
    }
    nemesis.last_start()?;
    check(world, rng)?;
    nemesis.last_stop()
}

fn set_up(world: &Arc<World>, rng: &mut Prng) -> Option<()> {
    let mut client = client::Client::new(Prng::new(rng.next_u64()), client::Manners::default());
    let locking = rng.one_in(2);
    let option = "ALTER DATABASE world SET READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK IMMEDIATE";
    let mut batches = vec!["ALTER DATABASE world SET DELAYED_DURABILITY = ALLOWED".to_owned()];
    let wants_locks = world.options.level == Some(Level::ReadCommittedLocking);
    if locking || wants_locks {
        batches.push(option.to_owned());
    }
    batches.extend(world.options.tables().options(client::DATABASE));
    batches.extend(world.workloads.iter().flat_map(|workload| workload.set_up()));
    for batch in batches {
        match workloads::Sql::run(&mut client, &batch) {
            Ok(answer) if answer.errors.is_empty() => {}
            other => {
                world.odd(format!("setting up: {other:?}: {batch}"));
                return None;
            }
        }
    }
    Some(())
}

fn check(world: &Arc<World>, rng: &mut Prng) -> Option<()> {
    let mut client = client::Client::new(Prng::new(rng.next_u64()), client::Manners::default());
    for workload in &world.workloads {
        match workload.check(&mut client) {
            Ok(odd) => odd.into_iter().for_each(|what| {
                world.odd(format!("{}: {what}", workload.name()));
            }),
            Err(workloads::Lost) => {
                world.odd(format!("{}: the check lost its connection", workload.name()));
                return None;
            }
        }
    }
    if rng.one_in(3) {
        let answer = workloads::Sql::run(&mut client, "DBCC CHECKDB WITH NO_INFOMSGS");
        world.with_found(|found| found.count("CHECKDB"));
        match answer {
            Ok(answer) if answer.errors.is_empty() => {}
            other => world.odd(format!("DBCC CHECKDB: {other:?}")),
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
