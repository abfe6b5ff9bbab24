//! Mutated documents, files, records and certificates against whatever reads them, for CI: needs no nightly compiler and
//! no fuzzing library.
//!
//! `outside TARGET [--seconds N] [--seed N]`. Starts from good ones ([`seeds`]), changes them, and asks [`checks`] what
//! must hold of any bytes at all. A failure names its seed. What is not long itself must not take long to read:
//! [`SLOW`] is a bound that only an algorithm out of proportion meets.

mod checks;
#[path = "../../../crates/tds/examples/fuzz_tds/mutate.rs"]
mod mutate;
mod seeds;

use std::time::{Duration, Instant};
use stdx::Prng;

/// Half of what a session's task has.
const STACK_BYTES: usize = if cfg!(debug_assertions) { 8 << 20 } else { 2 << 20 };
/// Memory that any of this may have taken in the end.
const MEMORY_MAX_MB: u64 = 500;
/// The longest that one input may take.
const SLOW: Duration = Duration::from_secs(2);

fn main() {
    let usage = || -> ! {
        let names: Vec<&str> = checks::CHECKS.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: outside {} [--seconds N] [--seed N]", names.join("|"));
        std::process::exit(2);
    };
    let mut args = std::env::args().skip(1);
    let target = args.next().unwrap_or_default();
    let Some(&(name, check)) = checks::CHECKS.iter().find(|(name, _)| *name == target) else {
        usage()
    };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let (mut seconds, mut seed) = (20, now.map_or(1, |now| now.as_nanos() as u64));
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next().and_then(|value| value.parse().ok())) {
            ("--seconds", Some(value)) => seconds = value,
            ("--seed", Some(value)) => seed = value,
            _ => usage(),
        }
    }
    println!("outside {name}: seed {seed}, {seconds} s");
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || run(name, check, Prng::new(seed), Duration::from_secs(seconds)))
        .expect("a thread");
    if worker.join().is_err() {
        eprintln!("outside {name}: FAILED; repeat with --seed {seed}");
        std::process::exit(1);
    }
}

fn run(name: &str, check: checks::Check, mut random: Prng, time: Duration) {
    let seeds = seeds::of(name);
    assert!(seeds.iter().any(|seed| check(seed)), "good ones are read");
    let start = Instant::now();
    let (mut tried, mut read, mut bytes, mut slowest) = (0u64, 0u64, 0u64, Duration::ZERO);
    while start.elapsed() < time {
        let data = mutate::mutate(&seeds, &mut random);
        let begun = Instant::now();
        read += u64::from(check(&data));
        let took = begun.elapsed();
        assert!(took < SLOW, "{} bytes took {took:?}", data.len());
        slowest = slowest.max(took);
        tried += 1;
        bytes += data.len() as u64;
    }
    println!(
        "outside {name}: {tried} inputs, {read} of them without an error, {} MB, the slowest {} us; no panic",
        bytes >> 20,
        slowest.as_micros()
    );
    assert!(tried > 0 && read > 0 && read < tried, "the inputs must be a mixture");
    if let Some(memory) = memory_mb() {
        assert!(memory < MEMORY_MAX_MB, "{memory} MB taken");
    }
}

/// The most memory this process has had, where the system tells.
fn memory_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? >> 10)
}
