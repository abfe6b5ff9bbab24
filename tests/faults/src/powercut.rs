//! The power goes, again and again, under the real server on the disk that forgets.
//!
//! A case is one start of the server: it verifies what the cut before has left, works under load, and loses power at a
//! change of the disk that the case's seed chooses; in some cases while it still starts, and so recovers. A disk lives
//! for [`CASES_PER_DISK`] cases; then a new server is made on an empty one, and its very first start is cut too.
//! The seed decides the moment, what survives, and what the sessions ask; not how their threads interleave, so that a
//! case run again meets the same kind of cut, not the very same one. What is odd is kept: the disk as the cut left it.

use crate::ledger::{Ledger, Tally};
use crate::medium::Loss;
use crate::mount::{Asked, Failing, Mount, Site};
use crate::server::{Recipe, Server, Start, binary};
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stdx::{Prng, mix64};

/// Cases that share a disk.
pub const CASES_PER_DISK: u64 = 25;
/// A server that is not there by then never will be.
const START_MAX: Duration = Duration::from_secs(120);
/// Load without a cut: the cut comes then.
const LOAD_MAX: Duration = Duration::from_secs(5);
/// One case in so many is cut while it starts, or meets an error of the disk under load.
const AT_START: u64 = 4;
const WITH_ERROR: u64 = 8;
/// So often the server itself checks its pages.
const CHECKED: u64 = 5;

/// What to run, and where.
pub struct Options {
    pub seed: u64,
    pub cases: u64,
    /// Mounts and what is odd go here.
    pub folder: PathBuf,
    pub verbose: bool,
}

/// What was tried.
#[derive(Default)]
struct Tried {
    cuts: u64,
    at_start: u64,
    errors: u64,
    states: HashSet<u64>,
    loss: Loss,
}

/// One disk, and what the driver knows of it.
struct Run<'a> {
    options: &'a Options,
    mount: Mount,
    recipe: Recipe,
    ledger: Ledger,
    tally: Tally,
    tried: Tried,
    /// What was cut last, for the one who looks into something odd.
    last_cut: String,
}

/// Runs the cases; `Ok(false)` when something was odd.
pub fn run(options: &Options) -> Result<bool, String> {
    let start = Instant::now();
    let mount = Mount::new(&options.folder.join(format!("disk-{}", std::process::id())))
        .map_err(|error| format!("no FUSE mount (it needs /dev/fuse, and root): {error}"))?;
    let recipe = Recipe { binary: binary(), data: mount.folder().join("data") };
    if !recipe.binary.is_file() {
        return Err(format!("there is no {}: build it first", recipe.binary.display()));
    }
    let mut run = Run {
        options,
        mount,
        recipe,
        ledger: Ledger::default(),
        tally: Tally::default(),
        tried: Tried::default(),
        last_cut: String::new(),
    };
    let end = options.seed + options.cases;
    for case in options.seed..end {
        if case == options.seed || case.is_multiple_of(CASES_PER_DISK) {
            run.new_disk(case)?;
        }
        run.case(case)?;
        if case + 1 == end || (case + 1).is_multiple_of(CASES_PER_DISK) {
            run.last_look(case)?;
        }
        if (case + 1 - options.seed).is_multiple_of(100) {
            println!("powercut: {} cases; {}", case + 1 - options.seed, run.tally);
        }
    }
    run.print(start.elapsed());
    if run.tally.acknowledged == 0 {
        return Err("nothing was acknowledged, so nothing was tested".to_owned());
    }
    Ok(run.tally.odd() == 0)
}

impl Run<'_> {
    fn print(&self, took: Duration) {
        let (tried, loss) = (&self.tried, self.tried.loss);
        println!(
            "powercut: seeds {} to {}: power cuts {} ({} while starting, {} after an error of the disk), distinct states {}; \
             volatile changes {} of which {} gone and {} torn, names {} of which {} gone; {}; in {:.1} s",
            self.options.seed,
            self.options.seed + self.options.cases - 1,
            tried.cuts,
            tried.at_start,
            tried.errors,
            tried.states.len(),
            loss.changes,
            loss.lost,
            loss.torn,
            loss.names,
            loss.names_lost,
            self.tally,
            took.as_secs_f64()
        );
    }

    /// An empty disk, the first start of a server cut on it, and then a server with its tables.
    fn new_disk(&mut self, case: u64) -> Result<(), String> {
        self.mount.format();
        self.ledger = Ledger::default();
        let mut random = Prng::new(mix64(case) ^ 0xb1);
        self.mount.arm(Some(1 + random.below(300)));
        let mut server = self.start()?;
        let born = server.wait_ready(START_MAX, || self.mount.is_dead());
        if let Start::Ended(status) = born
            && !self.mount.is_dead()
        {
            self.odd(case, format!("the first start ended: {status}\n{}", server.last_words()));
        }
        self.cut(server, &mut random, true);
        self.mount.arm(None);
        let mut server = self.start()?;
        match server.wait_ready(START_MAX, || false) {
            Start::Ready => {}
            other => {
                let what = describe(&other);
                self.odd(
                    case,
                    format!(
                        "no server after a cut of the first start: {what}\n{}",
                        server.last_words()
                    ),
                );
                server.kill();
                self.mount.format();
                server = self.start()?;
                if !matches!(server.wait_ready(START_MAX, || false), Start::Ready) {
                    return Err(format!("no server on an empty disk\n{}", server.last_words()));
                }
            }
        }
        let mut desk = server.door().connect()?;
        self.ledger.set_up(&mut desk)?;
        drop(desk);
        server.kill();
        Ok(())
    }

    fn start(&self) -> Result<Server, String> {
        self.recipe.start().map_err(|error| format!("{}: {error}", self.recipe.binary.display()))
    }

    fn case(&mut self, case: u64) -> Result<(), String> {
        let mut random = Prng::new(mix64(case));
        let at_start = random.one_in(AT_START);
        // Small numbers as often as large ones.
        let after = any_count(&mut random, 2, 11);
        if at_start {
            let after = any_count(&mut random, 1, 9);
            self.mount.arm(Some(after));
        }
        let mut server = self.start()?;
        match server.wait_ready(START_MAX, || self.mount.is_dead()) {
            _ if self.mount.is_dead() => {
                self.tried.at_start += 1;
                self.cut(server, &mut random, false);
                return Ok(());
            }
            Start::Ready => {}
            other => {
                let what = format!("no start: {}\n{}", describe(&other), server.last_words());
                self.odd(case, what);
                drop(server);
                return self.new_disk(case);
            }
        }
        if !self.verify(case, &server, random.one_in(CHECKED)) {
            let dead = self.mount.is_dead();
            self.cut(server, &mut random, false);
            return if dead { Ok(()) } else { self.new_disk(case) };
        }
        let error = random.one_in(WITH_ERROR);
        if error {
            self.mount.plan(Some(any_error(&mut random)));
        }
        // The error comes first, if it comes.
        self.mount.arm(Some(after + if error { 200 } else { 0 }));
        self.load(case, &server, &mut random);
        if error && self.mount.fired() {
            self.tried.errors += 1;
        }
        self.mount.plan(None);
        self.cut(server, &mut random, false);
        Ok(())
    }

    /// Works until the power goes; a server that ends or refuses before, without an error of its disk, is odd.
    fn load(&mut self, case: u64, server: &Server, random: &mut Prng) {
        let load = std::mem::take(&mut self.ledger).start(server.door(), random);
        let until = Instant::now() + LOAD_MAX;
        while load.alive() && Instant::now() < until {
            if self.mount.wait_for_death(Duration::from_millis(5)) {
                break;
            }
            // One session that was refused something, with the power on.
            let errors = load.errors();
            if !errors.is_empty() && !self.mount.fired() && !self.mount.is_dead() {
                let what = format!(
                    "under load, without a fault: {}\n{}",
                    errors.join("; "),
                    server.last_words()
                );
                self.odd(case, what);
                break;
            }
        }
        self.mount.freeze();
        // The sessions end with the server that they speak to.
        // SAFETY: a plain system call; the child is ours and not buried yet.
        unsafe { libc::kill(server.id() as i32, libc::SIGKILL) };
        self.ledger = load.join();
    }

    /// Whether the server could be asked.
    fn verify(&mut self, case: u64, server: &Server, check: bool) -> bool {
        let before = self.tally.odd();
        let mut checked = Tally::default();
        let asked = server.door().connect().and_then(|mut desk| {
            self.ledger.verify(&mut desk, &mut self.tally)?;
            if check {
                self.ledger.check(&mut desk, &mut checked);
            }
            Ok(())
        });
        if self.mount.is_dead() {
            // A check that the power has gone under says nothing.
            if self.tally.odd() > before {
                self.report(case, before);
            }
            return false;
        }
        self.tally.add(checked);
        if let Err(error) = asked {
            self.odd(case, format!("cannot be verified: {error}\n{}", server.last_words()));
            return false;
        }
        if self.tally.odd() > before {
            self.report(case, before);
        }
        true
    }

    /// After the last cut of a disk.
    fn last_look(&mut self, case: u64) -> Result<(), String> {
        self.mount.arm(None);
        let mut server = self.start()?;
        match server.wait_ready(START_MAX, || false) {
            Start::Ready => {
                self.verify(case + 1, &server, true);
                if server.stop(START_MAX).is_none_or(|status| !status.success()) {
                    self.odd(case + 1, format!("does not end in order\n{}", server.last_words()));
                }
            }
            other => {
                let what = format!("no start: {}\n{}", describe(&other), server.last_words());
                self.odd(case + 1, what);
            }
        }
        drop(server);
        Ok(())
    }

    fn cut(&mut self, mut server: Server, random: &mut Prng, first: bool) {
        self.mount.freeze();
        server.kill();
        let (loss, state) = self.mount.cut(random);
        self.last_cut = format!("{loss:?}\n  the server before:\n{}", server.last_words());
        self.tried.cuts += 1;
        self.tried.at_start += u64::from(first);
        self.tried.states.insert(state);
        let sum = &mut self.tried.loss;
        sum.changes += loss.changes;
        sum.lost += loss.lost;
        sum.torn += loss.torn;
        sum.names += loss.names;
        sum.names_lost += loss.names_lost;
        if self.options.verbose {
            println!("powercut: {loss:?}");
        }
    }

    fn odd(&mut self, case: u64, what: String) {
        let before = self.tally.odd();
        self.tally.other(what);
        self.report(case, before);
    }

    /// Prints what is new in the tally, and keeps the disk as it is.
    fn report(&self, case: u64, before: u64) {
        println!(
            "powercut: case {case}: {} odd (cargo xtask powercut --seed {} --cases {})",
            self.tally.odd() - before,
            case / CASES_PER_DISK * CASES_PER_DISK,
            case % CASES_PER_DISK + 1
        );
        for detail in self.tally.details.iter().rev().take(10) {
            println!("  {detail}");
        }
        println!("  the cut before: {}", self.last_cut);
        let kept = self.options.folder.join(format!("odd-{case}"));
        let _ = std::fs::remove_dir_all(&kept);
        match self.mount.save(&kept) {
            Ok(()) => println!("  the disk as it is now: {}", kept.display()),
            Err(error) => println!("  the disk could not be kept: {error}"),
        }
    }
}

/// From 1; each power of two from `2^low` to `2^(low + powers)` is as likely a bound as any other.
fn any_count(random: &mut Prng, low: u64, powers: u64) -> u64 {
    let bound = 1 << (low + random.below(powers));
    1 + random.below(bound)
}

/// One error of the disk, early under the load: of the log, or of the pages that a checkpoint writes.
fn any_error(random: &mut Prng) -> (Site, Failing) {
    let errors = [libc::EIO, libc::ENOSPC].map(Failing);
    let (request, file, how) = match random.below(6) {
        0..=2 => (Asked::WriteDurable, "Ledger_log.ldf", errors[random.below(2) as usize]),
        3 => (Asked::Write, "Ledger.mdf", errors[random.below(2) as usize]),
        4 => (Asked::Sync, "Ledger.mdf", Failing(libc::EIO)),
        _ => (Asked::WriteDurable, "master_log.ldf", Failing(libc::EIO)),
    };
    (Site { request, file: file.to_owned(), nth: any_count(random, 0, 6) }, how)
}

fn describe(start: &Start) -> String {
    match start {
        Start::Ready => "it serves".to_owned(),
        Start::Ended(status) => format!("it ended with {status}"),
        Start::NotYet => format!("not within {} s", START_MAX.as_secs()),
    }
}

/// Where mounts and what is odd go unless said otherwise.
pub fn default_folder() -> PathBuf {
    crate::server::target().join("faults")
}
