//! `simulator world`: worlds of a range of seeds, what was found, and how to see it again.
//!
//! The worlds run in a process of their own, which tells its parent each seed as it begins: a world that ends the process
//! or never ends is an odd seed like another, and the range goes on behind it.

use super::{Faults, Found, Options, Template, WORLDS_TWICE_EVERY, planted, run};
use clap::Parser;
use runtime::sim::{self, Note};
use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use workloads::{Level, Tables};

/// A world takes a second or two; one that has not ended after so long does not end.
const WORLD_SECONDS_MAX: u64 = 300;
/// Worlds of one process: what a loss of power abandons is not given back before it ends.
const WORLDS_A_PROCESS: u64 = 100;

/// Arguments of `simulator world`.
#[derive(Parser, Clone, Debug)]
pub struct Arguments {
    /// FROM..TO, the end not included, or one seed.
    #[arg(long, default_value = "0..100", value_parser = seeds)]
    pub seeds: (u64, u64),
    /// bank, queue, list-append, ledger, or all: as each seed chooses.
    #[arg(long, default_value = "all")]
    pub workload: String,
    /// disk, network, crash, clock, separated by commas; all; none.
    #[arg(long, default_value = "all")]
    pub faults: Faults,
    /// disk, memory, mixed: where the workloads' tables live, instead of the seed's choice.
    #[arg(long)]
    pub tables: Option<Tables>,
    /// Print every world.
    #[arg(long)]
    pub verbose: bool,
    /// Plant each bug in turn and show that every workload finds one (a build with debug assertions).
    #[arg(long)]
    pub bugs: bool,
    /// One of those bugs, by its number.
    #[arg(long, hide = true)]
    pub planted: Option<usize>,
    /// The worlds themselves, for a parent that reads.
    #[arg(long, hide = true)]
    pub child: bool,
    /// Isolation level of transfers and lists, instead of the seed's choice.
    #[arg(skip)]
    pub level: Option<Level>,
}

fn seeds(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| text.trim().parse::<u64>().map_err(|e| format!("{text}: {e}"));
    match text.split_once("..") {
        Some((from, to)) => Ok((number(from)?, number(to)?)),
        None => number(text).map(|seed| (seed, seed + 1)),
    }
}

/// What a range has shown.
#[derive(Default)]
struct Sum {
    worlds: u64,
    twice: u64,
    committed: u64,
    rolled_back: u64,
    lost: u64,
    simulated_s: u64,
    trace: u64,
    done: BTreeMap<String, u64>,
    refused: BTreeMap<i32, u64>,
    images: HashSet<u64>,
    losses: u64,
    odd: Vec<(u64, String)>,
}

pub fn main(arguments: &Arguments) -> ExitCode {
    if arguments.workload != "all" && !super::WORKLOADS.contains(&&*arguments.workload) {
        eprintln!(
            "there is no workload '{}'; there are {:?} and all",
            arguments.workload,
            super::WORKLOADS
        );
        return ExitCode::from(2);
    }
    if arguments.bugs || arguments.planted.is_some() {
        return planted::main(arguments.planted, arguments.seeds.0);
    }
    if arguments.child {
        child(arguments);
        return ExitCode::SUCCESS;
    }
    let began = Instant::now();
    let sum = match supervise(arguments) {
        Ok(sum) => sum,
        Err(error) => {
            eprintln!("simulator: {error}");
            return ExitCode::FAILURE;
        }
    };
    sum.print(arguments, began.elapsed());
    if sum.odd.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(arguments: &Arguments, seed: u64) -> Options {
    Options {
        seed,
        workload: (arguments.workload != "all").then(|| arguments.workload.clone()),
        faults: arguments.faults,
        level: arguments.level,
        tables: arguments.tables,
    }
}

/// Runs the worlds and says of each, in lines: `begin SEED`, `trace SEED HASH`, figures, `odd SEED TEXT`, `end SEED`.
fn child(arguments: &Arguments) {
    let template = Template::make();
    let say = |line: String| {
        let mut out = std::io::stdout().lock();
        // A parent that is gone needs no answer.
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    };
    for seed in arguments.seeds.0..arguments.seeds.1 {
        say(format!("begin {seed}"));
        let options = options(arguments, seed);
        let twice = seed.is_multiple_of(WORLDS_TWICE_EVERY);
        if twice {
            sim::keep_notes();
        }
        let mut found = run(&template, &options);
        if twice {
            let first = sim::take_notes();
            sim::keep_notes();
            let again = run(&template, &options);
            if again.trace != found.trace {
                found.odd.push(parting(&first, &sim::take_notes()));
            }
            say("twice".to_owned());
        }
        if arguments.verbose {
            eprintln!("seed {seed}: {found}");
        }
        tell(&say, seed, &found);
        say(format!("end {seed}"));
    }
}

/// Where two runs of a seed part.
fn parting(first: &[Note], second: &[Note]) -> String {
    let at = first.iter().zip(second).take_while(|(a, b)| a == b).count();
    let around = |notes: &[Note]| {
        let from = at.saturating_sub(3).min(notes.len());
        format!("{:?}", &notes[from..notes.len().min(at + 3)])
    };
    format!(
        "the same seed gave two worlds: notes {} and {}, which part at {at}: {} {}",
        first.len(),
        second.len(),
        around(first),
        around(second)
    )
}

fn tell(say: &impl Fn(String), seed: u64, found: &Found) {
    say(format!(
        "figures {:x} {} {} {} {}",
        found.trace,
        found.committed,
        found.rolled_back,
        found.lost,
        found.simulated_ns / 1_000_000_000
    ));
    found.done.iter().for_each(|(what, times)| say(format!("done {times} {what}")));
    found.refused.iter().for_each(|(number, (times, _))| say(format!("refused {number} {times}")));
    found.images.iter().for_each(|image| say(format!("image {image}")));
    for odd in &found.odd {
        say(format!("odd {seed} {}", odd.replace('\n', "\u{1}")));
    }
}

fn supervise(arguments: &Arguments) -> Result<Sum, String> {
    let mut sum = Sum::default();
    let (mut next, to) = arguments.seeds;
    while next < to {
        let upto = to.min(next + WORLDS_A_PROCESS);
        next = one_process(arguments, next, upto, &mut sum)?;
    }
    Ok(sum)
}

/// Runs `from..to` in a process of their own, as far as it comes; the next seed.
fn one_process(arguments: &Arguments, from: u64, to: u64, sum: &mut Sum) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["world", "--child", "--seeds", &format!("{from}..{to}")]);
    command.args(["--workload", &arguments.workload, "--faults", &arguments.faults.to_string()]);
    if let Some(tables) = arguments.tables {
        command.args(["--tables", tables.name()]);
    }
    if arguments.verbose {
        command.arg("--verbose");
    }
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let Some(out) = child.stdout.take() else { return Err("a child without output".to_owned()) };
    let (lines, told) = channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    let (mut current, mut next) = (None, from);
    let hangs = loop {
        match told.recv_timeout(Duration::from_secs(WORLD_SECONDS_MAX)) {
            Ok(line) => sum.hear(&line, &mut current, &mut next),
            Err(RecvTimeoutError::Timeout) => break true,
            Err(RecvTimeoutError::Disconnected) => break false,
        }
    };
    if hangs {
        // A child of ours.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let _ = reader.join();
    match current {
        Some(seed) => {
            let what = match hangs {
                true => format!("no end after {WORLD_SECONDS_MAX} s"),
                false => format!("the process ended: {status}"),
            };
            sum.odd.push((seed, what));
            Ok(seed + 1)
        }
        None if status.success() && next > from => Ok(next),
        None => Err(format!("the worlds {from}..{to} do not run: {status}")),
    }
}

impl Sum {
    fn hear(&mut self, line: &str, current: &mut Option<u64>, next: &mut u64) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut numbers = rest.split(' ');
        let mut number = || numbers.next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        match word {
            "begin" => *current = Some(number()),
            "end" => {
                *next = number() + 1;
                *current = None;
                self.worlds += 1;
            }
            "twice" => self.twice += 1,
            "figures" => {
                let (trace, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                let trace = u64::from_str_radix(trace, 16).unwrap_or(0);
                self.trace = stdx::mix64(self.trace ^ trace);
                let all: Vec<u64> = rest.split(' ').filter_map(|n| n.parse().ok()).collect();
                if let [committed, rolled_back, lost, simulated_s] = all[..] {
                    self.committed += committed;
                    self.rolled_back += rolled_back;
                    self.lost += lost;
                    self.simulated_s += simulated_s;
                }
            }
            "done" => {
                let (times, what) = rest.split_once(' ').unwrap_or((rest, ""));
                *self.done.entry(what.to_owned()).or_default() += times.parse().unwrap_or(0);
            }
            "refused" => {
                let (error, times) = rest.split_once(' ').unwrap_or((rest, ""));
                *self.refused.entry(error.parse().unwrap_or(0)).or_default() +=
                    times.parse().unwrap_or(0);
            }
            "image" => {
                self.losses += 1;
                self.images.insert(number());
            }
            "odd" => {
                let (seed, what) = rest.split_once(' ').unwrap_or((rest, ""));
                self.odd.push((seed.parse().unwrap_or(0), what.replace('\u{1}', "\n    ")));
            }
            // What something else has printed.
            _ => println!("{line}"),
        }
    }

    fn print(&self, arguments: &Arguments, took: Duration) {
        println!(
            "worlds {} (seeds {}..{}, workload {}, faults {}, tables {}), {} of them twice with the same trace; trace of all {:016x}",
            self.worlds,
            arguments.seeds.0,
            arguments.seeds.1,
            arguments.workload,
            arguments.faults,
            arguments.tables.map_or("as each seed says", Tables::name),
            self.twice,
            self.trace
        );
        println!(
            "transactions committed {}, rolled back {}, connections lost {}; {} s simulated in {} s",
            self.committed,
            self.rolled_back,
            self.lost,
            self.simulated_s,
            took.as_secs()
        );
        let done: Vec<String> = self.done.iter().map(|(what, n)| format!("{what} {n}")).collect();
        println!(
            "{}; distinct disks after {} losses of power: {}",
            done.join(", "),
            self.losses,
            self.images.len()
        );
        let refused: Vec<String> = self.refused.iter().map(|(e, n)| format!("{e}: {n}")).collect();
        println!("errors told to clients: {}", refused.join(", "));
        println!("odd {}", self.odd.len());
        for (seed, what) in self.odd.iter().take(20) {
            println!("odd: seed {seed}: {what}");
            println!(
                "  replay: cargo xtask simulate --seeds {seed}..{} --workload {} --faults {}{} --verbose",
                seed + 1,
                arguments.workload,
                arguments.faults,
                arguments.tables.map_or(String::new(), |t| format!(" --tables {}", t.name()))
            );
        }
    }
}
