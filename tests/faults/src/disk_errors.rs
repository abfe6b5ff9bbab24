//! Every kind of request to the file system fails once, on every file: EIO, ENOSPC or EMFILE.
//!
//! The file system fails, not a hook in the server: so each request is reached however it was sent (io_uring, I/O
//! threads, std), through the kernel's own error paths. A site is (kind of request, file, which one of them), as a run
//! without faults has shown; a case puts the same disk back, lets one request fail while the server starts, works and
//! ends, then takes away what is volatile, starts again without faults, and verifies. A sync that failed saves nothing,
//! also not when it is tried again: whoever believes the second one loses data here, and is found.

use crate::ledger::{Ledger, Tally};
use crate::medium::Medium;
use crate::mount::{Asked, Failing, Mount, Site};
use crate::server::{Recipe, Server, Start, binary};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use stdx::{Prng, mix64};

/// The server has so long to start, and to end when asked; then it hangs.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The load of one case, at least; it ends when one of everything was done, too.
const LOAD: Duration = Duration::from_millis(150);

/// What to run, and where.
pub struct Options {
    pub seed: u64,
    /// Every error at the first, the second and a later request of each kind; else one of these by the seed.
    pub all: bool,
    /// No case begins after so many seconds; those that had no time are told, and an error.
    pub seconds: Option<u64>,
    pub folder: PathBuf,
    pub verbose: bool,
}

/// What the server did about an error.
#[derive(Default)]
pub struct Outcomes {
    pub tried: u64,
    /// The request did not come in that run.
    pub missed: u64,
    pub went_on: u64,
    pub stopped: u64,
    pub tally: Tally,
}

/// A server's end or silence after a fault, judged.
pub enum Verdict {
    /// With what its sessions were told.
    WentOn(Vec<String>),
    /// Before it served anybody.
    Refused,
    Stopped,
    Odd(String),
}

/// Runs the cases; `Ok(false)` when something was odd.
pub fn run(options: &Options) -> Result<bool, String> {
    let start = Instant::now();
    let mount = Mount::new(&options.folder.join(format!("errors-{}", std::process::id())))
        .map_err(|error| format!("no FUSE mount (it needs /dev/fuse, and root): {error}"))?;
    let recipe = Recipe { binary: binary(), data: mount.folder().join("data") };
    let (disk, ledger) = prepare(&mount, &recipe)?;
    mount.restore(&disk);
    mount.plan(None);
    let mut recorded = ledger.clone();
    let verdict = live(&recipe, &mut recorded, &mut Prng::new(options.seed));
    without_faults(verdict)?;
    let mut outcomes = Outcomes::default();
    let mut random = Prng::new(mix64(options.seed));
    let mut sites = Vec::new();
    for ((asked, file), count) in mount.seen() {
        let hows = ways(asked);
        let mut nths = vec![1, 2, 3 + random.below(count.max(1))];
        nths.retain(|&nth| nth <= count);
        if options.all {
            sites.extend(
                nths.iter()
                    .flat_map(|&nth| hows.iter().map(move |&how| (asked, nth, how)))
                    .map(|(request, nth, how)| (Site { request, file: file.clone(), nth }, how)),
            );
        } else {
            let nth = nths[random.below(nths.len() as u64) as usize];
            let how = hows[random.below(hows.len() as u64) as usize];
            sites.push((Site { request: asked, file, nth }, how));
        }
    }
    let mut left_out = 0;
    for (i, (site, how)) in sites.iter().enumerate() {
        if options.seconds.is_some_and(|most| start.elapsed().as_secs() >= most) {
            left_out += 1;
            continue;
        }
        mount.restore(&disk);
        mount.plan(Some((site.clone(), *how)));
        let mut ledger = ledger.clone();
        let verdict = live(&recipe, &mut ledger, &mut Prng::new(options.seed ^ i as u64));
        if !mount.fired() {
            outcomes.missed += 1;
        }
        outcomes.tried += u64::from(mount.fired());
        let before = outcomes.tally.odd();
        match &verdict {
            Verdict::WentOn(_) => outcomes.went_on += 1,
            Verdict::Refused | Verdict::Stopped => outcomes.stopped += 1,
            Verdict::Odd(what) => outcomes.tally.other(what.clone()),
        }
        mount.plan(None);
        mount.freeze();
        mount.lose();
        look_again(&recipe, &mut ledger, &mut outcomes.tally)?;
        if options.verbose || outcomes.tally.odd() > before {
            let what = match verdict {
                Verdict::WentOn(_) => "went on",
                Verdict::Refused | Verdict::Stopped => "stopped",
                Verdict::Odd(_) => "odd",
            };
            println!("faults: {:?} {} of {}: {how}: {what}", site.request, site.nth, site.file);
            for detail in outcomes.tally.details.drain(..) {
                println!("  {detail}");
            }
        }
    }
    println!(
        "faults: requests to the file system, seed {}: failed {} (not met again {}, no time for {left_out}), server went on {}, stopped with a \
         message {}; {}; in {:.1} s",
        options.seed,
        outcomes.tried,
        outcomes.missed,
        outcomes.went_on,
        outcomes.stopped,
        outcomes.tally,
        start.elapsed().as_secs_f64()
    );
    if outcomes.tried == 0 {
        return Err("no request failed, so nothing was tested".to_owned());
    }
    if left_out > 0 {
        return Err(format!("no time for {left_out} cases"));
    }
    Ok(outcomes.tally.odd() == 0)
}

fn ways(asked: Asked) -> &'static [Failing] {
    match asked {
        Asked::Look
        | Asked::List
        | Asked::Read
        | Asked::Sync
        | Asked::SyncFolder
        | Asked::Remove => &[Failing(libc::EIO)],
        Asked::Open => &[Failing(libc::EMFILE), Failing(libc::EIO)],
        Asked::Create | Asked::MakeFolder => {
            &[Failing(libc::ENOSPC), Failing(libc::EMFILE), Failing(libc::EIO)]
        }
        Asked::Write | Asked::WriteDurable | Asked::Length | Asked::Allocate | Asked::Rename => {
            &[Failing(libc::EIO), Failing(libc::ENOSPC)]
        }
    }
}

/// A server with its tables and some rows, ended in order.
pub fn prepare(mount: &Mount, recipe: &Recipe) -> Result<(Medium, Ledger), String> {
    let ledger = prepare_at(recipe, Ledger::default())?;
    Ok((mount.snapshot(), ledger))
}

/// The same wherever the recipe's folder is.
pub fn prepare_at(recipe: &Recipe, ledger: Ledger) -> Result<Ledger, String> {
    let mut ledger = ledger.with_tour();
    let mut server = recipe.start().map_err(|error| error.to_string())?;
    if !matches!(server.wait_ready(PATIENCE, || false), Start::Ready) {
        return Err(format!("no server on an empty disk\n{}", server.last_words()));
    }
    ledger.set_up(&mut server.door().connect()?)?;
    server.stop(PATIENCE).ok_or("the server does not end")?;
    without_faults(live(recipe, &mut ledger, &mut Prng::new(0)))?;
    Ok(ledger)
}

/// What a run without faults must be.
pub fn without_faults(verdict: Verdict) -> Result<(), String> {
    match verdict {
        Verdict::WentOn(told) if told.is_empty() => Ok(()),
        Verdict::WentOn(told) => Err(format!("without a fault: {}", told.join("; "))),
        Verdict::Refused | Verdict::Stopped => Err("stopped without a fault".to_owned()),
        Verdict::Odd(what) => Err(format!("without a fault: {what}")),
    }
}

/// Starts, works, and ends in order if it is still there.
fn live(recipe: &Recipe, ledger: &mut Ledger, random: &mut Prng) -> Verdict {
    match recipe.start() {
        Ok(server) => live_on(server, ledger, random, PATIENCE),
        Err(error) => Verdict::Odd(format!("cannot be started: {error}")),
    }
}

/// The same with a server that was started.
pub fn live_on(
    mut server: Server,
    ledger: &mut Ledger,
    random: &mut Prng,
    patience: Duration,
) -> Verdict {
    match server.wait_ready(patience, || false) {
        Start::Ready => {}
        Start::Ended(status) => {
            return match ended(&mut server, &status.to_string()) {
                Verdict::Stopped => Verdict::Refused,
                odd => odd,
            };
        }
        Start::NotYet => {
            return Verdict::Odd(format!("neither serves nor ends\n{}", server.last_words()));
        }
    }
    let load = std::mem::take(ledger).start(server.door(), random);
    let until = Instant::now() + LOAD;
    while load.alive() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(2));
    }
    let until = Instant::now() + patience;
    while !load.toured() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(2));
    }
    load.stop();
    let until = Instant::now() + patience;
    while load.alive() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(2));
    }
    let hangs = load.alive();
    if hangs {
        // SAFETY: a plain system call; the child is ours and not buried yet.
        unsafe { libc::kill(server.id() as i32, libc::SIGKILL) };
    }
    let errors = load.errors();
    *ledger = load.join();
    if hangs {
        let errors = errors.join("; ");
        return Verdict::Odd(format!(
            "a statement hangs; others: {errors}\n{}",
            server.last_words()
        ));
    }
    match server.ended() {
        Some(status) => ended(&mut server, &status.to_string()),
        None => match server.stop(patience) {
            None => Verdict::Odd(format!("does not end when asked\n{}", server.last_words())),
            Some(status) if status.success() && !server.panicked() => Verdict::WentOn(errors),
            Some(status) => ended(&mut server, &status.to_string()),
        },
    }
}

/// A server that ended by itself: with a message, and not by a panic or a wild pointer.
fn ended(server: &mut Server, status: &str) -> Verdict {
    server.kill();
    let words = server.last_words();
    let wild = ["SIGSEGV", "SIGBUS"].iter().any(|s| status.contains(s) || words.contains(s));
    let told = ["ERROR", "error", "fatal", "memory allocation", "panicked at"]
        .iter()
        .any(|w| words.contains(w));
    if server.panicked() || wild || !told {
        return Verdict::Odd(format!("ended with {status}, and not with a clear message\n{words}"));
    }
    Verdict::Stopped
}

/// A start without faults finds everything that was promised.
pub fn look_again(recipe: &Recipe, ledger: &mut Ledger, tally: &mut Tally) -> Result<(), String> {
    let mut server = recipe.start().map_err(|error| error.to_string())?;
    match server.wait_ready(PATIENCE, || false) {
        Start::Ready => {}
        _ => {
            tally.other(format!("does not start again\n{}", server.last_words()));
            return Ok(());
        }
    }
    let asked = server.door().connect().and_then(|mut desk| {
        ledger.verify(&mut desk, tally)?;
        ledger.check(&mut desk, tally);
        Ok(())
    });
    if let Err(error) = asked {
        tally.other(format!("cannot be verified: {error}\n{}", server.last_words()));
    }
    Ok(())
}
