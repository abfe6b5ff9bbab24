//! Every system-call site fails once: each place in the program from which a call that may fail was seen to be made.
//!
//! A run without faults lists the sites ([`trace`](crate::trace)). In each *life* the same disk is put back, and calls at
//! several sites are to fail, each once, while the server starts, works and ends; then what is volatile is taken away,
//! and it starts again without faults and is verified. The server may go on, refuse a statement or a connection, or stop
//! with a message; nothing acknowledged may be lost, nothing may hang, panic or run into a wild pointer.
//!
//! Several cases share a life because most leave the server running. Those that did not strike, since the server stopped
//! before or took another way, come again; in the end alone. A server that stops before it serves anybody leaves its
//! disk to the next life, up to [`CARRIED`] times: what it did wrong is found when that is verified. A life that is odd
//! is taken apart: each fault since the disk was put back has another life alone, so that the one that did it is named.

use crate::disk_errors::{
    Outcomes, PATIENCE, Verdict, live_on, look_again, prepare, without_faults,
};
use crate::ledger::Ledger;
use crate::medium::Medium;
use crate::mount::Mount;
use crate::server::{Recipe, Server, binary};
use crate::symbols::Symbols;
use crate::trace::{CALLS, Call, Fault, How, Seen, read_fired, read_report};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use stdx::{Prng, mix64};

/// So many cases share a life at most.
const TOGETHER: usize = 16;
/// So many lives that ended before they served are verified with the one after.
const CARRIED: usize = 8;
/// A case that did not strike comes again, the last time alone.
const ATTEMPTS: u32 = 3;

/// What to run, and where.
pub struct Options {
    pub seed: u64,
    /// Every error, at the first, the second and a later call of each site; else one of these by the seed.
    pub all: bool,
    /// A life for each case.
    pub alone: bool,
    /// So many cases and no more, beginning at this one: for ranges.
    pub from: usize,
    pub cases: Option<usize>,
    /// No life begins after so many seconds; cases that had no time are told, and an error.
    pub seconds: Option<u64>,
    pub folder: PathBuf,
    pub verbose: bool,
}

/// One call that is to fail.
#[derive(Clone)]
struct Case<'a> {
    number: usize,
    site: &'a Seen,
    call: &'static Call,
    fault: Fault,
    attempts: u32,
}

/// What all lives have in common.
struct Run<'a> {
    options: &'a Options,
    mount: Mount,
    recipe: Recipe,
    report: PathBuf,
    disk: Medium,
    ledger: Ledger,
    symbols: Symbols,
    outcomes: Outcomes,
    lives: u64,
    /// So many lives have left their disk to the next.
    carried: usize,
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
    let verdict = traced(&recipe, &report, &[], &mut recorded, options.seed)?;
    without_faults(verdict)?;
    let sites = read_report(&report).map_err(|error| format!("no report: {error}"))?;
    let symbols = Symbols::of(&recipe.binary)?;
    let mut random = Prng::new(mix64(options.seed));
    let all: Vec<_> = sites.iter().flat_map(|s| cases_of(s, options.all, &mut random)).collect();
    println!("faults: {} sites of system calls, {} cases", sites.len(), all.len());
    let cases = all.into_iter().enumerate().map(|(number, (site, call, fault))| Case {
        number,
        site,
        call,
        fault,
        attempts: 0,
    });
    let cases = cases.skip(options.from).take(options.cases.unwrap_or(usize::MAX)).collect();
    let outcomes = Outcomes::default();
    let mut run = Run {
        options,
        mount,
        recipe,
        report,
        disk,
        ledger,
        symbols,
        outcomes,
        lives: 0,
        carried: 0,
    };
    let left_out = run.all(cases, start)?;
    let _ = std::fs::remove_file(&run.report);
    let _ = std::fs::remove_file(run.report.with_extension("fired"));
    let outcomes = run.outcomes;
    println!(
        "faults: system calls, seed {}: failed {} in {} lives (not met again {}, no time for {left_out}), server went on {}, \
         stopped with a message {}; {}; in {:.1} s",
        options.seed,
        outcomes.tried,
        run.lives,
        outcomes.missed,
        outcomes.went_on,
        outcomes.stopped,
        outcomes.tally,
        start.elapsed().as_secs_f64()
    );
    if outcomes.tried == 0 {
        return Err("no call failed, so nothing was tested".to_owned());
    }
    if left_out > 0 {
        return Err(format!("no time for {left_out} cases"));
    }
    Ok(outcomes.tally.odd() == 0)
}

impl<'a> Run<'a> {
    /// Until each case has struck, or was not met in any attempt; how many had no time.
    fn all(&mut self, mut cases: VecDeque<Case<'a>>, start: Instant) -> Result<usize, String> {
        // Struck since the disk was put back.
        let mut since: Vec<Case<'a>> = Vec::new();
        while !cases.is_empty() {
            if self.options.seconds.is_some_and(|most| start.elapsed().as_secs() >= most) {
                break;
            }
            let batch = next(&mut cases, if self.options.alone { 1 } else { TOGETHER });
            let (fired, verdict, odd) = self.life(&batch, !self.options.alone)?;
            self.outcomes.tried += fired.len() as u64;
            let stopped = matches!(verdict, Verdict::Refused | Verdict::Stopped);
            let stopped = stopped && !fired.is_empty();
            self.outcomes.stopped += u64::from(stopped);
            if !matches!(verdict, Verdict::Odd(_)) {
                self.outcomes.went_on += (fired.len() - usize::from(stopped)) as u64;
            }
            let (struck, missed): (Vec<_>, Vec<_>) =
                batch.into_iter().partition(|case| fired.contains(&case.fault));
            since.extend(struck);
            if odd && since.len() > 1 {
                println!("faults: each of these {} alone:", since.len());
                for case in &since {
                    self.life(std::slice::from_ref(case), false)?;
                }
            }
            if self.carried == 0 {
                since.clear();
            }
            for mut case in missed {
                // What a server that stopped did not come to was not missed.
                case.attempts += u32::from(!stopped);
                if case.attempts < ATTEMPTS {
                    cases.push_back(case);
                } else {
                    self.outcomes.missed += 1;
                }
            }
        }
        if self.carried > 0 {
            self.verify()?;
        }
        Ok(cases.len())
    }

    /// One life: which faults struck, what became of the server, and whether anything was odd. With `carry` one that
    /// served nobody is verified later.
    fn life(
        &mut self,
        batch: &[Case<'_>],
        carry: bool,
    ) -> Result<(Vec<Fault>, Verdict, bool), String> {
        self.lives += 1;
        if self.carried == 0 || !carry {
            self.carried = 0;
            self.mount.restore(&self.disk);
        }
        let _ = std::fs::remove_file(self.report.with_extension("fired"));
        let faults: Vec<Fault> = batch.iter().map(|case| case.fault.clone()).collect();
        let mut ledger = self.ledger.clone();
        let seed = self.options.seed ^ batch.first().map_or(0, |case| case.number as u64);
        let verdict = traced(&self.recipe, &self.report, &faults, &mut ledger, seed)?;
        let fired = read_fired(&self.report);
        let before = self.outcomes.tally.odd();
        let word = match &verdict {
            Verdict::WentOn(_) => "went on",
            Verdict::Refused => "did not start",
            Verdict::Stopped => "stopped",
            Verdict::Odd(what) => {
                self.outcomes.tally.other(what.clone());
                "odd"
            }
        };
        self.mount.freeze();
        self.mount.lose();
        if carry && matches!(verdict, Verdict::Refused) && self.carried < CARRIED {
            self.carried += 1;
        } else {
            self.carried = 0;
            look_again(&self.recipe, &mut ledger, &mut self.outcomes.tally)?;
        }
        let odd = self.outcomes.tally.odd() > before;
        if self.options.verbose || odd {
            self.tell(batch, &fired, word);
        }
        Ok((fired, verdict, odd))
    }

    /// The disk as lives that served nobody have left it.
    fn verify(&mut self) -> Result<(), String> {
        let before = self.outcomes.tally.odd();
        self.carried = 0;
        look_again(&self.recipe, &mut self.ledger.clone(), &mut self.outcomes.tally)?;
        if self.outcomes.tally.odd() > before {
            self.tell(&[], &[], "the disk at the end");
        }
        Ok(())
    }

    fn tell(&mut self, batch: &[Case<'_>], fired: &[Fault], word: &str) {
        println!("faults: life {}: {word}", self.lives);
        for fault in fired {
            let Some(case) = batch.iter().find(|case| case.fault == *fault) else { continue };
            let what = match fault.how {
                How::Error(error) => std::io::Error::from_raw_os_error(error).to_string(),
                How::Short => "short".to_owned(),
            };
            let (name, nth, count) = (case.call.name, fault.nth, case.site.count);
            println!("  case {}: {name} {nth} of {count}, {what}", case.number);
            println!("    {}", self.symbols.names(&case.site.stack).join(" < "));
        }
        for detail in self.outcomes.tally.details.drain(..) {
            println!("  {detail}");
        }
    }
}

/// The next cases that share a life: no call can fail in two ways; whose last attempt it is comes alone.
fn next<'a>(cases: &mut VecDeque<Case<'a>>, most: usize) -> Vec<Case<'a>> {
    let mut batch: Vec<Case<'a>> = Vec::new();
    let mut left = VecDeque::new();
    while let Some(case) = cases.pop_front() {
        let alone = case.attempts + 1 == ATTEMPTS;
        let taken = |c: &Case<'a>| (c.fault.key, c.fault.nth) == (case.fault.key, case.fault.nth);
        if batch.is_empty() && alone {
            batch.push(case);
            break;
        }
        if alone || batch.iter().any(taken) {
            left.push_back(case);
            continue;
        }
        batch.push(case);
        if batch.len() == most {
            break;
        }
    }
    while let Some(case) = left.pop_back() {
        cases.push_front(case);
    }
    batch
}

fn cases_of<'a>(
    site: &'a Seen,
    all: bool,
    random: &mut Prng,
) -> Vec<(&'a Seen, &'static Call, Fault)> {
    let Some(call) = CALLS.iter().find(|c| c.number == site.number) else { return Vec::new() };
    // The loader's own, before the program begins.
    if site.stack.is_empty() {
        return Vec::new();
    }
    let mut hows: Vec<How> = call.errors.iter().map(|&e| How::Error(e)).collect();
    if call.short && !site.whole {
        hows.push(How::Short);
    }
    let mut nths = vec![1, 2, 3 + random.below(site.count)];
    nths.retain(|&nth| nth <= site.count);
    if !all {
        // The first call of a site is met in every run; the error is the seed's choice.
        let how = hows[random.below(hows.len() as u64) as usize];
        return vec![(site, call, Fault { key: site.key, nth: 1, how })];
    }
    let every = nths.iter().flat_map(|&nth| hows.iter().map(move |&how| (nth, how)));
    every.map(|(nth, how)| (site, call, Fault { key: site.key, nth, how })).collect()
}

/// A life of the server under the tracer.
fn traced(
    recipe: &Recipe,
    report: &Path,
    faults: &[Fault],
    ledger: &mut Ledger,
    seed: u64,
) -> Result<Verdict, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let plain = recipe.command();
    let mut command = Command::new(own);
    command.arg("trace").arg("--report").arg(report);
    for fault in faults {
        command.arg("--fault").arg(fault.to_string());
    }
    command.arg("--").arg(plain.get_program()).args(plain.get_args());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let server = Server::of(command).map_err(|error| format!("the tracer: {error}"))?;
    Ok(live_on(server, ledger, &mut Prng::new(seed), PATIENCE))
}

#[cfg(test)]
mod tests;
