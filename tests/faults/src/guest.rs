//! The server in a machine of its own, whose kernel logs every write of the disk, drops writes, refuses them, and whose
//! power goes.
//!
//! Where [`mount`](crate::mount) is a file system made to forget, here a real one (ext4) lies between the server and a
//! disk that forgets: its journal, its order of writes and flushes, and its answers to errors of the disk are under
//! test with the server. A guest of QEMU with Debian's kernel runs it; the driver stays outside. A *recording* is:
//!
//! 1. *All states.* dm-log-writes under the file system writes down every write and flush of a load, and a mark when a
//!    session was answered. From that log come the states in which a loss of power may have left the disk
//!    ([`states`]); each is mounted here, the server opens it, and what had been acknowledged must be there.
//! 2. *The disk forgets* (dm-flakey, drop_writes): from a moment on, writes vanish.
//! 3. *The power goes*: QEMU is killed under load, and the guest boots again.
//! 4. *The disk refuses* (dm-flakey, error_writes): a second of errors, a second without, and so on. The errors meet the
//!    file system's own writes, too: ext4 may lose metadata that it had committed, and says so; then the data are not
//!    asked for.
//!
//! After each the mounting kernel replays ext4's journal, as after a crash.

pub mod agent;
mod device_mapper;
mod initramfs;
mod machine;
mod states;
mod write_log;

use crate::disk_errors::{PATIENCE, look_again, prepare_at};
use crate::ledger::{Known, Ledger, Load, Progress, Tally, Witness};
use crate::server::{Recipe, binary};
use initramfs::{Kernel, output};
use machine::{Machine, Parts};
use parking_lot::Mutex;
use states::{Image, Maker, Plan};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};
use stdx::{Prng, mix64};
use write_log::{Entry, WriteLog};

/// So many states come from one recording.
pub const STATES_PER_RECORDING: u64 = 500;
const DISK_MEGABYTES: u64 = 768;
const LOG_GIGABYTES: u64 = 16;
/// The load whose writes are logged, at least; it also has one of everything that makes and removes files.
const RECORDED: Duration = Duration::from_secs(6);
/// States are looked at side by side.
const LOOKERS: usize = 2;

/// What to run, and where.
pub struct Options {
    /// The first state; a multiple of [`STATES_PER_RECORDING`] begins a recording.
    pub seed: u64,
    pub states: u64,
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
    keep_mounts_to_oneself()?;
    let folder = options.folder.join(format!("guest-{}", std::process::id()));
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
        let recording = state / STATES_PER_RECORDING;
        let last = end.min((recording + 1) * STATES_PER_RECORDING);
        let first = recording * STATES_PER_RECORDING;
        done = run.record(recording, (state - first) as usize..(last - first) as usize);
        run.print(state, last, start.elapsed());
        state = last;
    }
    let _ = std::fs::remove_dir_all(&run.folder);
    done?;
    Ok(run.tally.odd() == 0)
}

impl Run<'_> {
    fn print(&self, from: u64, to: u64, took: Duration) {
        let t = &self.tried;
        println!(
            "guest: seeds {} to {}: recordings {} (writes {}, durable at once {}, flushes {}, marks {}), states {} of which distinct {} \
             (writes of no certain fate {}, torn {}), disks that forgot {}, disks that refused {} (server went on {}, file system lost {}), losses of power {}; \
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
        let mut ledger = new_disk(&disk, &self.folder.join("mnt"))?;
        let base = Image::read(&disk).map_err(|error| error.to_string())?;
        sparse(&log, LOG_GIGABYTES << 30)?;
        let mut machine = Machine::boot(&self.parts, &disk, &log)?;
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
        self.states(recording, (base, &writes), &recorded, which)
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
        let mut machine = Machine::boot(&self.parts, disk, log)?;
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
            "guest: recording {recording}: {} odd (cargo xtask guest --seed {} --states 1) {what}",
            self.tally.odd() - before,
            recording * STATES_PER_RECORDING
        );
        for detail in self.tally.details.drain(..).take(20) {
            println!("  {detail}");
        }
    }

    /// Makes the states of a log, and has the server open each.
    fn states(
        &mut self,
        recording: u64,
        (base, log): (Image, &WriteLog),
        recorded: &Ledger,
        which: std::ops::Range<usize>,
    ) -> Result<(), String> {
        let plans = states::plan(log, STATES_PER_RECORDING as usize, recording);
        let mut plans: Vec<Plan> = plans.into_iter().take(which.end).skip(which.start).collect();
        Maker::order(&mut plans);
        let scratch = fast_folder(&self.folder);
        let (give, take) = sync_channel::<(PathBuf, String, Ledger)>(0);
        let take = Mutex::new(take);
        let results = Mutex::new(Vec::new());
        let (keep, folder) = (&self.options.folder, &self.folder);
        let mut made = Ok(());
        std::thread::scope(|scope| {
            for looker in 0..LOOKERS {
                let (take, results) = (&take, &results);
                let point = folder.join(format!("look-{looker}"));
                scope.spawn(move || {
                    loop {
                        let Ok((file, name, mut ledger)) = ({ take.lock().recv() }) else { return };
                        let mut tally = Tally::default();
                        let looked = look_at(&file, &point, &mut ledger, &mut tally);
                        if let Err(error) = looked {
                            tally.other(format!("cannot be looked at: {error}"));
                        }
                        if tally.odd() > 0 {
                            tally.details.push(name.clone());
                            let kept = keep
                                .join(format!("odd-guest-{recording}-{name}").replace(' ', "-"));
                            if std::fs::copy(&file, &kept).is_ok() {
                                tally.details.push(format!("the disk: {}", kept.display()));
                            }
                        }
                        let _ = std::fs::remove_file(&file);
                        results.lock().push(tally);
                    }
                });
            }
            let mut maker = Maker::new(log, base);
            for (i, plan) in plans.iter().enumerate() {
                let file = scratch.join(format!("millrace-guest-{}-{i}", std::process::id()));
                match maker.make(plan, &file) {
                    Ok(state) => {
                        self.tried.states += 1;
                        self.tried.distinct.insert((recording, state.hash));
                        self.tried.undecided += state.writes as u64;
                        self.tried.torn += state.torn as u64;
                        if self.options.verbose {
                            println!(
                                "guest: state {plan:?}: {} writes, {} torn",
                                state.writes, state.torn
                            );
                        }
                        let ledger = recorded.as_of(&state.known);
                        let _ = give.send((file, format!("{plan:?}"), ledger));
                    }
                    Err(error) => {
                        made = Err(format!("a state cannot be made: {error}"));
                        let _ = std::fs::remove_file(&file);
                        break;
                    }
                }
            }
            drop(give);
        });
        for tally in results.into_inner() {
            let before = self.tally.odd();
            self.tally.add(tally);
            if self.tally.odd() > before {
                self.tell(recording, "in a state of the disk", before);
            }
        }
        made
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
fn new_disk(disk: &Path, point: &Path) -> Result<Ledger, String> {
    sparse(disk, DISK_MEGABYTES << 20)?;
    output(
        Command::new("mke2fs").args(["-q", "-t", "ext4", "-F"]).args(["-E", "nodiscard"]).arg(disk),
    )?;
    let mounted = Mounted::new(disk, point)?;
    let recipe = Recipe { binary: binary(), data: mounted.0.join("data") };
    prepare_at(&recipe)
}

/// What a state's disk shows to a server that opens it here.
fn look_at(
    file: &Path,
    point: &Path,
    ledger: &mut Ledger,
    tally: &mut Tally,
) -> Result<(), String> {
    let mounted = Mounted::new(file, point)?;
    let recipe = Recipe { binary: binary(), data: mounted.0.join("data") };
    look_again(&recipe, ledger, tally)
}

/// A disk's file, mounted here.
struct Mounted(PathBuf);

impl Mounted {
    fn new(file: &Path, point: &Path) -> Result<Mounted, String> {
        std::fs::create_dir_all(point).map_err(|error| format!("{}: {error}", point.display()))?;
        output(Command::new("mount").args(["-t", "ext4", "-o", "loop"]).arg(file).arg(point))?;
        Ok(Mounted(point.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Err(error) = output(Command::new("umount").arg(&self.0)) {
            eprintln!("guest: {error}");
        }
    }
}

/// What is mounted from here on is gone with this process, however it ends.
fn keep_mounts_to_oneself() -> Result<(), String> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: plain system calls; the only pointer that is not null is a string that lives.
    let done = unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(
                std::ptr::null(),
                c"/".as_ptr(),
                std::ptr::null(),
                flags,
                std::ptr::null(),
            ) == 0
    };
    if done { Ok(()) } else { Err(format!("mounts: {}", std::io::Error::last_os_error())) }
}

fn sparse(path: &Path, len: u64) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::File::create(path).map_err(said)?.set_len(len).map_err(said)
}

/// Memory, where there is room for the states' disks.
fn fast_folder(otherwise: &Path) -> PathBuf {
    let shm = Path::new("/dev/shm");
    let room = output(Command::new("df").args(["--output=avail", "-m"]).arg(shm));
    let megabytes = room.ok().and_then(|text| text.lines().last()?.trim().parse::<u64>().ok());
    if megabytes.is_some_and(|m| m > 4 * DISK_MEGABYTES) { shm.into() } else { otherwise.into() }
}
