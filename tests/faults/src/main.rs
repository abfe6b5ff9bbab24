//! `cargo xtask powercut`, `faults`, `guest`, `soak` and `attack` come here.

use clap::{Parser, Subcommand};
use faults::{attack, disk_errors, guest, powercut, server, soak, syscalls, trace};
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
        /// A life of the server for each case.
        #[arg(long)]
        alone: bool,
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
    /// The server in a guest of QEMU: every state of its disk, disks that forget and refuse, losses of power.
    Guest {
        #[arg(long, default_value_t = 100)]
        states: u64,
        /// The first state; a range begins best where a recording does.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// So many states come from one recording: state N from recording N divided by this.
        #[arg(long, default_value_t = guest::STATES_PER_RECORDING, value_parser = clap::value_parser!(u64).range(1..))]
        per_recording: u64,
        /// Instead: who runs where on a machine of so many NUMA nodes, and whose memory is whose.
        #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(["2", "4", "8"]))]
        numa: Option<String>,
        /// And all of the lab's experiments on nodes there, not two of them.
        #[arg(long, requires = "numa")]
        experiments: bool,
        #[arg(long)]
        folder: Option<PathBuf>,
        #[arg(long)]
        verbose: bool,
    },
    /// One long life under load: what grows that should not.
    Soak {
        #[arg(long, default_value_t = 120)]
        minutes: u64,
        /// Of load, before each look at what is there.
        #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
        round_seconds: u64,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// A login with `public` alone attacks; its neighbours must not notice.
    Attack {
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Of the server.
        #[arg(long, default_value_t = 512)]
        memory: u64,
        /// One class of texts alone.
        #[arg(long)]
        only: Option<String>,
        /// The server is a dev build: tasks that keep their scheduler are told and not judged.
        #[arg(long)]
        slow_build: bool,
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Runs a program of which some calls fail; `syscalls` uses it.
    #[command(hide = true)]
    Trace {
        #[arg(long)]
        report: PathBuf,
        /// KEY:NTH:ERRNO, or KEY:NTH:short; may be given several times.
        #[arg(long)]
        fault: Vec<trace::Fault>,
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
}

fn traced(report: &Path, faults: Vec<trace::Fault>, command: &[String]) -> Result<i32, String> {
    let (program, arguments) = command.split_first().expect("clap asks for it");
    trace::run(report, faults, Path::new(program), arguments)
        .map_err(|error| format!("the trace of {program}: {error}"))
}

fn main() -> ExitCode {
    // The kernel of a guest starts its first process by this name.
    if std::env::args().next().as_deref() == Some("/init") {
        guest::agent::run();
    }
    let done = match Arguments::parse().command {
        Command::Powercut { cases, seed, folder, verbose } => {
            let folder = folder.unwrap_or_else(powercut::default_folder);
            powercut::run(&powercut::Options { seed, cases, folder, verbose })
        }
        Command::DiskErrors { all, seconds, seed, folder, verbose } => {
            let folder = folder.unwrap_or_else(powercut::default_folder);
            disk_errors::run(&disk_errors::Options { seed, all, seconds, folder, verbose })
        }
        Command::Syscalls { all, alone, seconds, seed, from, cases, folder, verbose } => {
            let folder = folder.unwrap_or_else(powercut::default_folder);
            let options =
                syscalls::Options { seed, all, alone, from, cases, seconds, folder, verbose };
            syscalls::run(&options)
        }
        Command::Guest { numa: Some(nodes), experiments, folder, .. } => {
            let folder = folder.unwrap_or_else(powercut::default_folder);
            let kernel = server::target().join("guest");
            let nodes = nodes.parse().expect("one of the possible values");
            let options = guest::placement::Options { nodes, experiments, folder, kernel };
            guest::placement::run(&options)
        }
        Command::Guest { states, seed, per_recording, numa: None, folder, verbose, .. } => {
            let folder = folder.unwrap_or_else(powercut::default_folder);
            let kernel = server::target().join("guest");
            let options = guest::Options { seed, states, per_recording, folder, kernel, verbose };
            guest::run(&options)
        }
        Command::Soak { minutes, round_seconds, seed, folder } => {
            let folder = folder.unwrap_or_else(powercut::default_folder);
            soak::run(&soak::Options { seed, minutes, round_seconds, folder })
        }
        Command::Attack { seconds, seed, memory, only, slow_build, folder } => {
            let folder = folder.unwrap_or_else(powercut::default_folder);
            attack::run(&attack::Options {
                seed,
                seconds,
                memory_mb: memory,
                folder,
                only,
                is_slow_build: slow_build,
            })
        }
        Command::Trace { report, fault, command } => match traced(&report, fault, &command) {
            Ok(status) => std::process::exit(status),
            Err(error) => Err(error),
        },
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
