//! Every system-call site fails once: each place in the program from which a call that may fail was seen to be made.
//!
//! A run without faults lists the sites ([`trace`](crate::trace)); each case puts the same disk back, lets the call fail
//! at one of them, once, while the server starts, works and ends; then it takes away what is volatile, starts again
//! without faults, and verifies. The server may go on, refuse a statement or a connection, or stop with a message;
//! nothing acknowledged may be lost, nothing may hang, panic or run into a wild pointer.

use crate::disk_errors::{
    Outcomes, PATIENCE, Verdict, live_on, look_again, prepare, without_faults,
};
use crate::ledger::Ledger;
use crate::mount::Mount;
use crate::server::{Recipe, Server, binary};
use crate::symbols::Symbols;
use crate::trace::{CALLS, Call, How, Seen, read_report};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use stdx::{Prng, mix64};

/// What to run, and where.
pub struct Options {
    pub seed: u64,
    /// Every error, at the first, the second and a later call of each site; else one of these by the seed.
    pub all: bool,
    /// So many cases and no more, beginning at this one: for ranges.
    pub from: usize,
    pub cases: Option<usize>,
    /// No case begins after so many seconds; those left out are told.
    pub seconds: Option<u64>,
    pub folder: PathBuf,
    pub verbose: bool,
}

/// Runs the cases; `Ok(false)` when something was odd.
pub fn run(options: &Options) -> Result<bool, String> {
    let start = Instant::now();
    let id = std::process::id();
    let mount = Mount::new(&options.folder.join(format!("calls-{id}")))
        .map_err(|error| format!("no FUSE mount (it needs /dev/fuse, and root): {error}"))?;
    let recipe = Recipe { binary: binary(), data: mount.folder().join("data") };
    let report = options.folder.join(format!("trace-{id}"));
    let (disk, ledger) = prepare(&mount, &recipe)?;
    mount.restore(&disk);
    let mut recorded = ledger.clone();
    let verdict = traced(&recipe, &report, None, &mut recorded, options.seed)?;
    without_faults(verdict)?;
    let sites = read_report(&report).map_err(|error| format!("no report: {error}"))?;
    let symbols = Symbols::of(&recipe.binary)?;
    let mut random = Prng::new(mix64(options.seed));
    let all: Vec<_> = sites.iter().flat_map(|s| cases_of(s, options.all, &mut random)).collect();
    println!("faults: {} sites of system calls, {} cases", sites.len(), all.len());
    let mut outcomes = Outcomes::default();
    let some = all.iter().skip(options.from).take(options.cases.unwrap_or(usize::MAX));
    let mut left_out = 0;
    for (i, (site, call, nth, how)) in some.enumerate() {
        if options.seconds.is_some_and(|most| start.elapsed().as_secs() >= most) {
            left_out += 1;
            continue;
        }
        mount.restore(&disk);
        let _ = std::fs::remove_file(report.with_extension("fired"));
        let what = match how {
            How::Error(error) => error.to_string(),
            How::Short => "short".to_owned(),
        };
        let fault = format!("{:x}:{nth}:{what}", site.key);
        let mut ledger: Ledger = ledger.clone();
        let verdict = traced(&recipe, &report, Some(&fault), &mut ledger, options.seed ^ i as u64)?;
        let fired = report.with_extension("fired").exists();
        outcomes.tried += u64::from(fired);
        outcomes.missed += u64::from(!fired);
        let before = outcomes.tally.odd();
        let word = match &verdict {
            Verdict::WentOn(_) => {
                outcomes.went_on += 1;
                "went on"
            }
            Verdict::Stopped => {
                outcomes.stopped += 1;
                "stopped"
            }
            Verdict::Odd(what) => {
                outcomes.tally.other(what.clone());
                "odd"
            }
        };
        mount.freeze();
        mount.lose();
        look_again(&recipe, &mut ledger, &mut outcomes.tally)?;
        if options.verbose || outcomes.tally.odd() > before {
            let name = call.name;
            println!(
                "faults: case {}: {name} {nth} of {}, {what}: {word}",
                options.from + i,
                site.count
            );
            println!("    {}", symbols.names(&site.stack).join(" < "));
            for detail in outcomes.tally.details.drain(..) {
                println!("  {detail}");
            }
        }
    }
    let _ = std::fs::remove_file(&report);
    let _ = std::fs::remove_file(report.with_extension("fired"));
    println!(
        "faults: system calls, seed {}: failed {} (not met again {}, no time for {left_out}), server went on {}, stopped with a message {}; {}; \
         in {:.1} s",
        options.seed,
        outcomes.tried,
        outcomes.missed,
        outcomes.went_on,
        outcomes.stopped,
        outcomes.tally,
        start.elapsed().as_secs_f64()
    );
    if outcomes.tried == 0 {
        return Err("no call failed, so nothing was tested".to_owned());
    }
    Ok(outcomes.tally.odd() == 0)
}

type Case<'a> = (&'a Seen, &'static Call, u64, How);

fn cases_of<'a>(site: &'a Seen, all: bool, random: &mut Prng) -> Vec<Case<'a>> {
    let Some(call) = CALLS.iter().find(|c| c.number == site.number) else { return Vec::new() };
    // The loader's own, before the program begins.
    if site.stack.is_empty() {
        return Vec::new();
    }
    let mut hows: Vec<How> = call.errors.iter().map(|&e| How::Error(e)).collect();
    if call.short {
        hows.push(How::Short);
    }
    let mut nths = vec![1, 2, 3 + random.below(site.count)];
    nths.retain(|&nth| nth <= site.count);
    let every = nths.iter().flat_map(|&nth| hows.iter().map(move |&how| (site, call, nth, how)));
    let mut every: Vec<Case<'a>> = every.collect();
    if !all {
        // The first call of a site is met in every run; the error is the seed's choice.
        every.truncate(hows.len());
        let one = every.swap_remove(random.below(every.len() as u64) as usize);
        every = vec![one];
    }
    every
}

/// A life of the server under the tracer.
fn traced(
    recipe: &Recipe,
    report: &Path,
    fault: Option<&str>,
    ledger: &mut Ledger,
    seed: u64,
) -> Result<Verdict, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let plain = recipe.command();
    let mut command = Command::new(own);
    command.arg("trace").arg("--report").arg(report);
    if let Some(fault) = fault {
        command.args(["--fault", fault]);
    }
    command.arg("--").arg(plain.get_program()).args(plain.get_args());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let server = Server::of(command).map_err(|error| format!("the tracer: {error}"))?;
    Ok(live_on(server, ledger, &mut Prng::new(seed), PATIENCE))
}
