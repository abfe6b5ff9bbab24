//! `simulator crash|bitflip --cases N --seed S [--trace]`, `simulator world --seeds FROM..TO`: prints what was tried and
//! found; fails if anything was odd. `crash --bugs` and `world --bugs` plant bugs, and fail if one is not found.

#![forbid(unsafe_code)]

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|first| first == "world") {
        return simulator::world::main(&simulator::world::Arguments::parse_from(&args));
    }
    let number = |name: &str, default: u64| -> Option<u64> {
        match args.iter().position(|a| a == name) {
            None => Some(default),
            Some(i) => args.get(i + 1)?.parse().ok(),
        }
    };
    let (cases, seed) = (number("--cases", 1000), number("--seed", 1));
    let (Some(what @ ("crash" | "bitflip")), Some(cases), Some(seed)) =
        (args.first().map(String::as_str), cases, seed)
    else {
        eprintln!(
            "usage: simulator crash|bitflip [--cases N] [--seed S] [--trace], simulator crash --bugs [--seed S], or \
             simulator world --help"
        );
        return ExitCode::from(2);
    };
    if what == "bitflip" {
        let report = simulator::bitflip::run(cases, seed);
        println!("{report}");
        return if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let planted = args.iter().any(|a| a == "--planted");
    if planted || args.iter().any(|a| a == "--bugs") {
        let one = if planted { number("--planted", 0).map(|n| n as usize) } else { None };
        return simulator::crash::planted::main(one, seed);
    }
    let trace = args.iter().any(|a| a == "--trace");
    let report = simulator::crash::run_watched(cases, seed, |done, seed| {
        if trace {
            eprintln!("seed {seed}");
        } else if done > 0 && done % 5000 == 0 {
            eprintln!("{done} of {cases}");
        }
    });
    println!("{report}");
    if report.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
