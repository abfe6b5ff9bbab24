//! `cargo xtask powercut` and `faults` come here.

use clap::{Parser, Subcommand};
use faults::{disk_errors, powercut, syscalls, trace};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Faults against the real binary.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Power cuts on a file system that forgets what was not synced.
    Powercut {
        #[arg(long, default_value_t = 50)]
        cases: u64,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Mounts, and what is odd, go here.
        #[arg(long)]
        folder: Option<PathBuf>,
        #[arg(long)]
        verbose: bool,
    },
    /// Every kind of request to the file system fails once, on every file.
    DiskErrors {
        /// Every error at several requests of each kind, instead of one.
        #[arg(long)]
        all: bool,
        /// No case begins after so many seconds.
        #[arg(long)]
        seconds: Option<u64>,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        #[arg(long)]
        folder: Option<PathBuf>,
        #[arg(long)]
        verbose: bool,
    },
    /// Every system-call site fails once.
    Syscalls {
        /// Every error at several calls of each site, instead of one.
        #[arg(long)]
        all: bool,
        /// No case begins after so many seconds.
        #[arg(long)]
        seconds: Option<u64>,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Begin at this case.
        #[arg(long, default_value_t = 0)]
        from: usize,
        /// So many cases.
        #[arg(long)]
        cases: Option<usize>,
        #[arg(long)]
        folder: Option<PathBuf>,
        #[arg(long)]
        verbose: bool,
    },
    /// Runs a program of which one call fails; `syscalls` uses it.
    #[command(hide = true)]
    Trace {
        #[arg(long)]
        report: PathBuf,
        /// KEY:NTH:ERRNO, or KEY:NTH:short.
        #[arg(long)]
        fault: Option<String>,
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
}

/// KEY:NTH:ERRNO, the key in hexadecimal digits.
fn fault_of(text: &str) -> Option<trace::Fault> {
    let mut parts = text.split(':');
    let key = u64::from_str_radix(parts.next()?, 16).ok()?;
    let nth = parts.next()?.parse().ok()?;
    let how = match parts.next()? {
        "short" => trace::How::Short,
        number => trace::How::Error(number.parse().ok()?),
    };
    Some(trace::Fault { key, nth, how })
}

fn traced(report: &Path, fault: Option<&str>, command: &[String]) -> Result<i32, String> {
    let fault = match fault.map(fault_of) {
        Some(None) => return Err("a fault is KEY:NTH:ERRNO".to_owned()),
        fault => fault.flatten(),
    };
    let (program, arguments) = command.split_first().expect("clap asks for it");
    trace::run(report, fault, Path::new(program), arguments)
        .map_err(|error| format!("the trace of {program}: {error}"))
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Powercut { cases, seed, folder, verbose } => {
            let folder = folder.unwrap_or_else(powercut::default_folder);
            powercut::run(&powercut::Options { seed, cases, folder, verbose })
        }
        Command::DiskErrors { all, seconds, seed, folder, verbose } => {
            let folder = folder.unwrap_or_else(powercut::default_folder);
            disk_errors::run(&disk_errors::Options { seed, all, seconds, folder, verbose })
        }
        Command::Syscalls { all, seconds, seed, from, cases, folder, verbose } => {
            let folder = folder.unwrap_or_else(powercut::default_folder);
            syscalls::run(&syscalls::Options { seed, all, seconds, from, cases, folder, verbose })
        }
        Command::Trace { report, fault, command } => {
            match traced(&report, fault.as_deref(), &command) {
                Ok(status) => std::process::exit(status),
                Err(error) => Err(error),
            }
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("faults: {error}");
            ExitCode::FAILURE
        }
    }
}
