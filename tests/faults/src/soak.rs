//! A long life under load: what is wrong after hours that was right after minutes, and what grows that should not.
//!
//! One process of the real binary lives through all rounds. In a round the ledger's sessions work ([`crate::ledger`]),
//! and beside them [`visitors`] come, leave a mess and go without a word. Then the load stops: the rows are held against
//! what was promised, DBCC CHECKDB looks, nothing of a session that is gone may be left, and memory, descriptors,
//! threads and files are counted while nothing runs. At the end the server is ended and started, worked and killed, and
//! verified each time.
//!
//! Growth is judged between the middle third of the rounds and the last (the first may still fill caches): by the least of
//! each, since some looks meet a database that the load has made and others none, with [`Limit`]'s allowance. How fast it was is told, and judged by nobody.

mod visitors;

use crate::disk_errors::look_again;
use crate::ledger::{Ledger, Tally};
use crate::server::{Desk, Recipe, Server, Start, binary};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stdx::Prng;

/// A server that is not there by then never will be, and one that does not end by then hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// What a session leaves is gone so long after it at the latest.
const FORGOTTEN: Duration = Duration::from_secs(20);
/// The log is backed up so often: in the full recovery model nothing else lets its space be used again.
const LOG_SAVED: Duration = Duration::from_secs(10);
/// Fewer rounds show no growth.
const ROUNDS_JUDGED: usize = 6;

/// What to run, and where.
pub struct Options {
    pub seed: u64,
    pub minutes: u64,
    /// Of load, in a round.
    pub round_seconds: u64,
    /// The data folder is made here.
    pub folder: PathBuf,
}

/// What was counted when a round was over and nothing ran.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    acknowledged: u64,
    seconds: f64,
    memory: u64,
    descriptors: u64,
    threads: u64,
    disk: u64,
}

/// How much more the last third may have than the middle third: a share, and so much.
struct Limit {
    what: &'static str,
    of: fn(&Sample) -> u64,
    percent: u64,
    and: u64,
}

const LIMITS: [Limit; 4] = [
    Limit { what: "bytes of memory", of: |s| s.memory, percent: 5, and: 4 << 20 },
    Limit { what: "descriptors", of: |s| s.descriptors, percent: 0, and: 2 },
    Limit { what: "threads", of: |s| s.threads, percent: 0, and: 1 },
    Limit { what: "bytes on disk", of: |s| s.disk, percent: 10, and: 16 << 20 },
];

struct Run<'a> {
    options: &'a Options,
    recipe: Recipe,
    ledger: Ledger,
    random: Prng,
    tally: Tally,
    visits: u64,
    /// Of the tally's details, so many say when they were found.
    dated: usize,
}

/// Runs the rounds; `Ok(false)` when something was odd.
pub fn run(options: &Options) -> Result<bool, String> {
    let began = Instant::now();
    let folder = options.folder.join(format!("soak-{}", std::process::id()));
    let recipe = Recipe { binary: binary(), data: folder.join("data") };
    if !recipe.binary.is_file() {
        return Err(format!("there is no {}: build it first", recipe.binary.display()));
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut run = Run {
        options,
        recipe,
        ledger: Ledger::default().with_quick_logins(),
        random: Prng::new(options.seed),
        tally: Tally::default(),
        visits: 0,
        dated: 0,
    };
    let samples = run.long_life()?;
    run.second_life()?;
    run.judge(&samples);
    println!(
        "soak: seed {}: {} rounds in one life, {} visitors; {}; in {:.0} s",
        options.seed,
        samples.len(),
        run.visits,
        run.tally,
        began.elapsed().as_secs_f64()
    );
    run.tally.details.iter().for_each(|detail| eprintln!("soak: {detail}"));
    if run.tally.acknowledged == 0 {
        return Err("nothing was acknowledged, so nothing was tested".to_owned());
    }
    let well = run.tally.odd() == 0;
    if well {
        let _ = fs::remove_dir_all(&folder);
    } else {
        println!("soak: the data folder is kept: {}", folder.display());
    }
    Ok(well)
}

impl Run<'_> {
    /// All rounds, in one process that then ends when it is asked to.
    fn long_life(&mut self) -> Result<Vec<Sample>, String> {
        let mut server = self.start()?;
        {
            let mut desk = server.door().connect()?;
            self.ledger.set_up(&mut desk)?;
            visitors::set_up(&mut desk)?;
            desk.run("BACKUP DATABASE Ledger TO DISK = 'NUL'")?;
        }
        println!("round   ledger/s   memory MiB   descriptors   threads   disk MiB");
        let mut samples: Vec<Sample> = Vec::new();
        let began = Instant::now();
        while samples.is_empty() || began.elapsed() < Duration::from_secs(60 * self.options.minutes)
        {
            let sample = self.round(&mut server)?;
            samples.push(sample);
            println!(
                "{:>5}   {:>8.1}   {:>10.1}   {:>11}   {:>7}   {:>8.1}",
                samples.len(),
                sample.acknowledged as f64 / sample.seconds,
                mebibytes(sample.memory),
                sample.descriptors,
                sample.threads,
                mebibytes(sample.disk)
            );
            if self.tally.odd() > 0 {
                self.date(&format!("round {}", samples.len()));
                break;
            }
        }
        match server.stop(PATIENCE) {
            Some(status) if status.success() && !server.panicked() => {}
            status => {
                let status = status.map_or("no end".to_owned(), |status| status.to_string());
                self.tally.other(format!("asked to end: {status}\n{}", server.last_words()));
            }
        }
        look_again(&self.recipe, &mut self.ledger, &mut self.tally)?;
        self.date("started after an end in order");
        Ok(samples)
    }

    /// What was found since is told with `when`.
    fn date(&mut self, when: &str) {
        let new = self.tally.details.iter_mut().skip(self.dated);
        new.for_each(|detail| *detail = format!("{when}: {detail}"));
        self.dated = self.tally.details.len();
    }

    /// A round of load under which the process is killed, and what that leaves.
    fn second_life(&mut self) -> Result<(), String> {
        let mut server = self.start()?;
        let (stop, door) = (AtomicBool::new(false), server.door());
        let load = std::mem::take(&mut self.ledger).start(door, &mut self.random);
        let mut random = Prng::new(self.random.next_u64());
        std::thread::scope(|scope| {
            let visits = scope.spawn(|| visitors::come_and_go(door, &mut random, &stop));
            std::thread::sleep(Duration::from_secs(self.options.round_seconds.min(30)));
            server.kill();
            stop.store(true, Ordering::Release);
            load.stop();
            // What they were told last is the end of their connections.
            let _ = visits.join().expect("a visitor does not panic");
        });
        self.ledger = load.join();
        look_again(&self.recipe, &mut self.ledger, &mut self.tally)?;
        self.date("started after a kill");
        Ok(())
    }

    fn start(&self) -> Result<Server, String> {
        let mut server = self.recipe.start().map_err(|error| error.to_string())?;
        match server.wait_ready(PATIENCE, || false) {
            Start::Ready => Ok(server),
            _ => Err(format!("the server does not start\n{}", server.last_words())),
        }
    }

    fn round(&mut self, server: &mut Server) -> Result<Sample, String> {
        let (stop, door) = (AtomicBool::new(false), server.door());
        let before = self.tally.acknowledged;
        let mut operator = door.connect()?;
        let began = Instant::now();
        let until = began + Duration::from_secs(self.options.round_seconds);
        let load = std::mem::take(&mut self.ledger).start(door, &mut self.random);
        let mut random = Prng::new(self.random.next_u64());
        let visits = std::thread::scope(|scope| {
            let visits = scope.spawn(|| visitors::come_and_go(door, &mut random, &stop));
            let mut saved = began;
            while Instant::now() < until && load.errors().is_empty() && !visits.is_finished() {
                std::thread::sleep(Duration::from_millis(100));
                if saved.elapsed() > LOG_SAVED {
                    saved = Instant::now();
                    if let Err(error) = operator.run("BACKUP LOG Ledger TO DISK = 'NUL'") {
                        self.tally.other(format!("the log's backup: {error}"));
                    }
                }
            }
            stop.store(true, Ordering::Release);
            load.stop();
            visits.join().expect("a visitor does not panic")
        });
        let errors = load.errors();
        self.ledger = load.join();
        let seconds = began.elapsed().as_secs_f64();
        errors.into_iter().for_each(|error| self.tally.other(error));
        match visits {
            Ok(visits) => self.visits += visits,
            Err(error) => self.tally.other(format!("a visitor: {error}")),
        }
        if server.ended().is_some() || server.panicked() {
            return Err(format!("the server is gone\n{}", server.last_words()));
        }
        drop(operator);
        let mut desk = door.connect()?;
        self.ledger.verify(&mut desk, &mut self.tally)?;
        self.ledger.check(&mut desk, &mut self.tally);
        if let Err(left) = nothing_left(&mut desk) {
            self.tally.other(left);
        }
        desk.run("CHECKPOINT")?;
        let id = server.id();
        Ok(Sample {
            acknowledged: self.tally.acknowledged - before,
            seconds,
            memory: status_of(id, "VmRSS:")? << 10,
            descriptors: entries(Path::new(&format!("/proc/{id}/fd")))?,
            threads: status_of(id, "Threads:")?,
            disk: bytes_below(&self.recipe.data)?,
        })
    }

    fn judge(&mut self, samples: &[Sample]) {
        if samples.len() < ROUNDS_JUDGED {
            println!("soak: growth is judged from {ROUNDS_JUDGED} rounds on");
            return;
        }
        for grown in growth(samples) {
            self.tally.other(grown);
        }
    }
}

/// What of all that is counted has grown by more than it may.
fn growth(samples: &[Sample]) -> Vec<String> {
    let third = samples.len() / 3;
    let (middle, last) =
        (&samples[third..samples.len() - third], &samples[samples.len() - third..]);
    let grown = LIMITS.iter().filter_map(|limit| {
        let (was, is) = (least(middle, limit.of), least(last, limit.of));
        let most = was + was * limit.percent / 100 + limit.and;
        (is > most).then(|| format!("{} grow: {was}, later {is}", limit.what))
    });
    grown.collect()
}

fn least(samples: &[Sample], of: fn(&Sample) -> u64) -> u64 {
    samples.iter().map(of).min().unwrap_or(0)
}

/// Of sessions that are gone nothing is left: asked until it is so, for a while.
fn nothing_left(desk: &mut Desk) -> Result<(), String> {
    let until = Instant::now() + FORGOTTEN;
    loop {
        match visitors::left(desk)? {
            left if left.is_empty() => return Ok(()),
            left if Instant::now() > until => {
                return Err(format!("of sessions that are gone is left: {}", left.join(", ")));
            }
            _ => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// A number of /proc/PID/status (proc_pid_status(5)).
fn status_of(id: u32, key: &str) -> Result<u64, String> {
    let path = format!("/proc/{id}/status");
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.ok_or(format!("{path} has no {key}"))
}

fn entries(folder: &Path) -> Result<u64, String> {
    let all = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(all.count() as u64)
}

fn bytes_below(folder: &Path) -> Result<u64, String> {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut sum = 0;
    for entry in fs::read_dir(folder).map_err(said)? {
        let entry = entry.map_err(said)?;
        let kind = entry.metadata().map_err(said)?;
        sum += if kind.is_dir() { bytes_below(&entry.path())? } else { kind.len() };
    }
    Ok(sum)
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests;
