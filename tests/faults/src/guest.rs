//! The server in a machine of its own, whose kernel logs every write of the disk, drops writes, refuses them, and whose
//! power goes.
//!
//! Where [`mount`](crate::mount) is a file system made to forget, here a real one (ext4) lies between the server and a
//! disk that forgets: its journal, its order of writes and flushes, and its answers to errors of the disk are under
//! test with the server. A guest of QEMU with Debian's kernel runs it; the driver stays outside. A *recording* is:
//!
//! 1. *All states.* dm-log-writes under the file system writes down every write and flush of a load, and a mark when a
//!    session was answered. From that log come the states in which a loss of power may have left the disk
//!    ([`states`]); each is mounted on the host, the server opens it there, and what had been acknowledged must be there
//!    ([`examine`]). Some states are made wrong on purpose, and must be found out.
//! 2. *The disk forgets* (dm-flakey, drop_writes): from a moment on, writes vanish.
//! 3. *The power goes*: QEMU is killed under load, and the guest boots again.
//! 4. *The disk refuses* (dm-flakey, error_writes): a second of errors, a second without, and so on. The errors meet the
//!    file system's own writes, too: ext4 may lose metadata that it had committed, and says so; then the data are not
//!    asked for.
//!
//! After each the mounting kernel replays ext4's journal, as after a crash. Recordings take the load's mixes ([`Mix`]) in
//! turn.

pub mod agent;
mod checks;
mod device_mapper;
mod examine;
mod host;
mod initramfs;
mod machine;
mod numa_maps;
pub mod placement;
mod processes;
mod states;
mod write_log;

use crate::disk_errors::{PATIENCE, prepare_at};
use crate::ledger::{Known, Ledger, Load, Mix, Progress, Tally, Witness};
use crate::server::{Recipe, binary};
use examine::Recording;
use host::Mounted;
use initramfs::{Kernel, output};
use machine::{Machine, Parts, Shape};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stdx::{Prng, mix64};
use write_log::{Entry, WriteLog};

/// So many states come from one recording, if nothing else is asked for.
pub const STATES_PER_RECORDING: u64 = 1_000;
/// And so many planted ones.
const PLANTED: usize = 6;
const DISK_MEGABYTES: u64 = 768;
const LOG_GIGABYTES: u64 = 16;
/// The load whose writes are logged, at least; it also has one of everything that makes and removes files.
const RECORDED: Duration = Duration::from_secs(6);

/// What to run, and where.
pub struct Options {
    /// The first state; a multiple of `per_recording` begins a recording.
    pub seed: u64,
    pub states: u64,
    /// Not 0.
    pub per_recording: u64,
    /// Scratch, and what is odd.
    pub folder: PathBuf,
    /// The kernel, kept from run to run.
    pub kernel: PathBuf,
    pub verbose: bool,
}

/// What was tried.
#[derive(Default)]
struct Tried {
    recordings: u64,
    writes: u64,
    durable: u64,
    flushes: u64,
    marks: u64,
    states: u64,
    distinct: HashSet<(u64, u64)>,
    undecided: u64,
    torn: u64,
    pages: u64,
    planted: u64,
    caught: u64,
    examined_seconds: f64,
    examined_cpu_seconds: f64,
    dropped: u64,
    refused: u64,
    went_on: u64,
    file_systems_lost: u64,
    power: u64,
}

/// Everything that a recording needs.
struct Run<'a> {
    options: &'a Options,
    parts: Parts,
    folder: PathBuf,
    tried: Tried,
    tally: Tally,
}

/// Runs the recordings; `Ok(false)` when something was odd.
pub fn run(options: &Options) -> Result<bool, String> {
    let start = Instant::now();
    host::keep_mounts_to_oneself()?;
    host::sweep(&options.folder);
    println!(
        "guest: states are mounted on this host ({}), by loop devices over memory",
        host::kernel()
    );
    let folder = host::own_folder(&options.folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let kernel = Kernel::get(&options.kernel)?;
    let initramfs = folder.join("initramfs");
    initramfs::build(&kernel, &binary(), &initramfs)?;
    let parts = Parts { kernel, initramfs };
    let (tried, tally) = (Tried::default(), Tally::default());
    let mut run = Run { options, parts, folder, tried, tally };
    let mut done = Ok(());
    let end = options.seed + options.states;
    let mut state = options.seed;
    while state < end && done.is_ok() {
        let each = options.per_recording;
        let recording = state / each;
        let last = end.min((recording + 1) * each);
        let first = recording * each;
        done = run.record(recording, (state - first) as usize..(last - first) as usize);
        run.print(state, last, start.elapsed());
        state = last;
    }
    let _ = std::fs::remove_dir_all(&run.folder);
    done?;
    if run.tried.planted == 0 {
        return Err(
            "no durable write could be left out, so nothing says that one is missed".to_owned()
        );
    }
    Ok(run.tally.odd() == 0)
}

impl Run<'_> {
    fn print(&self, from: u64, to: u64, took: Duration) {
        let t = &self.tried;
        println!(
            "guest: seeds {} to {}: recordings {} (writes {}, durable at once {}, flushes {}, marks {}), states {} of which distinct {} \
             (writes of no certain fate {}, torn {}; {:.2} s and {:.2} s of CPU each, {} pages written), durable writes left out on \
             purpose {} and found {}, disks that forgot {}, disks that refused {} (server went on {}, file system lost {}), losses of power {}; \
             {}; in {:.1} s",
            if from == to { from } else { self.options.seed },
            to - 1,
            t.recordings,
            t.writes,
            t.durable,
            t.flushes,
            t.marks,
            t.states,
            t.distinct.len(),
            t.undecided,
            t.torn,
            t.examined_seconds / t.states.max(1) as f64,
            t.examined_cpu_seconds / t.states.max(1) as f64,
            t.pages / t.states.max(1),
            t.planted,
            t.caught,
            t.dropped,
            t.refused,
            t.went_on,
            t.file_systems_lost,
            t.power,
            self.tally,
            took.as_secs_f64()
        );
    }

    fn record(&mut self, recording: u64, which: std::ops::Range<usize>) -> Result<(), String> {
        let mut random = Prng::new(mix64(recording ^ 0x6e57));
        let disk = self.folder.join("disk");
        let log = self.folder.join("log");
        let base = self.folder.join("base");
        let ledger = Ledger::of(Mix::of(recording)).with_quick_logins();
        let mut ledger = new_disk(&disk, &self.folder.join("mnt"), ledger)?;
        host::copy_sparse(&disk, &base).map_err(|error| format!("{}: {error}", base.display()))?;
        host::sparse(&log, LOG_GIGABYTES << 30)?;
        let mut machine = Machine::boot(&self.parts, &disk, &log, &Shape::default())?;
        begin(&mut machine, "log")?;
        ledger.remember(&machine.marker());
        let load = ledger.start(machine.door(), &mut random);
        work(&load, RECORDED);
        let errors = halt(&load)?;
        let recorded = load.join();
        if !errors.is_empty() {
            self.odd(
                recording,
                format!("without a fault: {}\n{}", errors.join("; "), machine.words()),
            );
        }
        for request in ["kill", "umount", "unmap"] {
            machine.ask(request)?;
        }
        self.tried.recordings += 1;
        let writes = WriteLog::read(&log).map_err(|error| format!("the log of writes: {error}"))?;
        self.count(&writes);

        let mut ledger = recorded.clone();
        ledger.forget();
        self.forgets(recording, &mut machine, &mut ledger, &mut random)?;
        let mut machine =
            self.power(recording, machine, (&disk, &log), &mut ledger, &mut random)?;
        // Last: the file system may not survive it.
        self.refuses(recording, &mut machine, &mut ledger, &mut random)?;
        // An emulated machine takes a good part of a processor, whatever it does.
        machine.kill();
        let (log, folder) = (&writes, &self.folder.clone());
        let states = Recording { number: recording, base: &base, log, recorded: &recorded, folder };
        self.states(&states, which)
    }

    fn count(&mut self, log: &WriteLog) {
        for entry in &log.entries {
            match entry {
                Entry::Write { fua, .. } => {
                    self.tried.writes += 1;
                    self.tried.durable += u64::from(*fua);
                }
                Entry::Flush => self.tried.flushes += 1,
                Entry::Mark(..) => self.tried.marks += 1,
            }
        }
    }

    /// From a moment on, all writes vanish; then the guest is without its caches.
    fn forgets(
        &mut self,
        recording: u64,
        machine: &mut Machine,
        ledger: &mut Ledger,
        random: &mut Prng,
    ) -> Result<(), String> {
        begin(machine, "linear")?;
        self.look(recording, machine, ledger)?;
        let table = Arc::new(Table::default());
        let witness: Arc<dyn Witness> = table.clone();
        ledger.remember(&witness);
        let load = std::mem::take(ledger).start(machine.door(), random);
        std::thread::sleep(Duration::from_millis(300 + random.below(1500)));
        let before = table.0.lock().clone();
        machine.ask("map drop")?;
        let after = table.0.lock().clone();
        std::thread::sleep(Duration::from_millis(random.below(500)));
        machine.ask("kill")?;
        let then = load.join();
        for request in ["umount", "map linear", "mount", "serve"] {
            machine.ask(request)?;
        }
        let known = after.into_iter().map(|(session, progress)| {
            let sent_max = progress.answered + 1;
            let progress = before.get(&session).copied().unwrap_or_default();
            (session, Known { progress, sent_max })
        });
        *ledger = then.as_of(&known.collect());
        self.tried.dropped += 1;
        self.look(recording, machine, ledger)
    }

    /// A second of errors, a second without, and so on: the server goes on, refuses, or stops with a message.
    fn refuses(
        &mut self,
        recording: u64,
        machine: &mut Machine,
        ledger: &mut Ledger,
        random: &mut Prng,
    ) -> Result<(), String> {
        let load = std::mem::take(ledger).start(machine.door(), random);
        std::thread::sleep(Duration::from_millis(random.below(500)));
        machine.ask("map fail")?;
        std::thread::sleep(Duration::from_millis(2500));
        machine.ask("map linear")?;
        halt(&load)?;
        *ledger = load.join();
        let ended = machine.ask("end")?;
        let words = machine.ask("words")?.replace("\\n", "\n");
        match ended.as_str() {
            "true false" => self.tried.went_on += 1,
            "false false" if words.contains("ERROR") || words.contains("error") => {}
            _ => self.odd(recording, format!("ended without a clear message ({ended})\n{words}")),
        }
        for request in ["kill", "umount", "mount", "serve"] {
            machine.ask(request)?;
        }
        self.tried.refused += 1;
        // An error may meet the file system's own writes. When it says that it has lost what it had acknowledged, nothing
        // in its files can be asked for any more.
        if machine.words().contains("EXT4-fs error") {
            self.tried.file_systems_lost += 1;
            return Ok(());
        }
        self.look(recording, machine, ledger)
    }

    /// The machine is gone, and boots again.
    fn power(
        &mut self,
        recording: u64,
        machine: Machine,
        (disk, log): (&Path, &Path),
        ledger: &mut Ledger,
        random: &mut Prng,
    ) -> Result<Machine, String> {
        let load = std::mem::take(ledger).start(machine.door(), random);
        std::thread::sleep(Duration::from_millis(200 + random.below(2000)));
        machine.kill();
        *ledger = load.join();
        let mut machine = Machine::boot(&self.parts, disk, log, &Shape::default())?;
        begin(&mut machine, "linear")?;
        self.tried.power += 1;
        self.look(recording, &mut machine, ledger)?;
        let ended = machine.ask("end")?;
        if ended != "true false" {
            self.odd(recording, format!("does not end in order ({ended})\n{}", machine.words()));
        }
        machine.ask("serve")?;
        Ok(machine)
    }

    /// The guest's server has what it must have.
    fn look(
        &mut self,
        recording: u64,
        machine: &mut Machine,
        ledger: &mut Ledger,
    ) -> Result<(), String> {
        let before = self.tally.odd();
        let asked = machine.door().connect().and_then(|mut desk| {
            ledger.verify(&mut desk, &mut self.tally)?;
            ledger.check(&mut desk, &mut self.tally);
            Ok(())
        });
        if let Err(error) = asked {
            self.tally.other(format!("cannot be verified: {error}"));
        }
        if self.tally.odd() > before {
            let what = format!("in the guest\n{}", machine.words());
            self.tell(recording, &what, before);
        }
        Ok(())
    }

    fn odd(&mut self, recording: u64, what: String) {
        let before = self.tally.odd();
        self.tally.other(what);
        self.tell(recording, "", before);
    }

    fn tell(&mut self, recording: u64, what: &str, before: u64) {
        println!(
            "guest: recording {recording}: {} odd (cargo xtask guest --seed {} --states 1{}) {what}",
            self.tally.odd() - before,
            recording * self.options.per_recording,
            match self.options.per_recording {
                STATES_PER_RECORDING => String::new(),
                each => format!(" --per-recording {each}"),
            }
        );
        for detail in self.tally.details.drain(..).take(20) {
            println!("  {detail}");
        }
    }

    /// Has the server open each state of a range, and some that are wrong on purpose.
    fn states(
        &mut self,
        recording: &Recording,
        which: std::ops::Range<usize>,
    ) -> Result<(), String> {
        let number = recording.number;
        let plans =
            examine::plans(recording.log, (self.options.per_recording, PLANTED), number, which);
        let (start, cpu) = (Instant::now(), host::cpu_seconds());
        let seen = recording.examine(plans)?;
        self.tried.examined_seconds += start.elapsed().as_secs_f64();
        self.tried.examined_cpu_seconds += host::cpu_seconds() - cpu;
        let (planted, caught, missed) = examine::judge(&seen);
        self.tried.planted += planted;
        self.tried.caught += caught;
        missed.into_iter().for_each(|what| self.odd(number, what));
        let mut odd = Vec::new();
        for one in seen {
            if self.options.verbose {
                println!(
                    "guest: state {:?}: {} writes, {} torn; {}",
                    one.plan, one.writes, one.torn, one.tally
                );
            }
            if one.plan.planted().is_some() {
                continue;
            }
            self.tried.states += 1;
            self.tried.distinct.insert((number, one.hash));
            self.tried.undecided += one.writes as u64;
            self.tried.torn += one.torn as u64;
            self.tried.pages += one.pages as u64;
            let before = self.tally.odd();
            self.tally.add(one.tally);
            if self.tally.odd() > before {
                self.tell(number, &format!("in a state of the disk, {:?}", one.plan), before);
                odd.push(one.plan);
            }
        }
        for kept in recording.keep(odd, &self.options.folder)? {
            println!("guest: an odd state's disk: {}", kept.display());
        }
        Ok(())
    }
}

/// A device, a file system and a server, ready.
fn begin(machine: &mut Machine, kind: &str) -> Result<(), String> {
    for request in [&format!("map {kind}"), "mount", "serve"] {
        machine.ask(request)?;
    }
    Ok(())
}

/// At least so long, and until one of everything was done.
fn work(load: &Load, least: Duration) {
    let start = Instant::now();
    while load.alive() && (start.elapsed() < least || !load.toured()) {
        if start.elapsed() > least + 3 * PATIENCE {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// No session begins anything more; what they were told.
fn halt(load: &Load) -> Result<Vec<String>, String> {
    load.stop();
    let until = Instant::now() + 3 * PATIENCE;
    while load.alive() {
        if Instant::now() > until {
            return Err(format!("a statement hangs; others: {}", load.errors().join("; ")));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(load.errors())
}

/// Each session's progress as it was told last.
#[derive(Default)]
struct Table(Mutex<BTreeMap<u32, Progress>>);

impl Witness for Table {
    fn told(&self, session: u32, progress: Progress) -> Result<(), String> {
        self.0.lock().insert(session, progress);
        Ok(())
    }
}

/// A disk with ext4, and a server's folder on it with tables and some rows.
fn new_disk(disk: &Path, point: &Path, ledger: Ledger) -> Result<Ledger, String> {
    let file = host::sparse(disk, DISK_MEGABYTES << 20)?;
    output(
        Command::new("mke2fs").args(["-q", "-t", "ext4", "-F"]).args(["-E", "nodiscard"]).arg(disk),
    )?;
    let mounted = Mounted::new(&file, point)?;
    let recipe = Recipe { binary: binary(), data: mounted.path().join("data") };
    let prepared = prepare_at(&recipe, ledger);
    mounted.unmount()?;
    prepared
}
