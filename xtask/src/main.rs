//! The project's own automation: `cargo xtask <command>`.
//!
//! Every check that CI runs is a command here, so a developer runs the very same thing. Each command prints what it
//! runs, stops at the first failure and exits non-zero.

mod beside;
mod build;
mod corpus;
mod drivers;
mod faults;
mod fuzz;
mod insert_cost;
mod kill;
mod loops;
mod pairs;
mod processes;
mod report;
mod reporting;
mod rivals;
mod round_trips;
mod run;
mod stats_cost;
mod suites;
mod tidy;
mod tpcds;
mod tpch;

use build::Build;
use clap::{Parser, Subcommand};
use run::{Failure, Step, cargo};
use std::path::PathBuf;

#[derive(Parser)]
#[command(name = "xtask", about = "Checks, tests and benches of Millrace")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Floors of the house, unsafe code, file sizes, front pages.
    Tidy,
    /// Everything a change must pass; CI runs this and nothing else.
    Test {
        /// Leave out the crash, kill, fault, fuzz, browser and driver runs.
        #[arg(long)]
        quick: bool,
        /// Crash, kill, fault, browser and driver runs of the release build, not of the dev build: another build of
        /// everything, and the runs themselves are shorter.
        #[arg(long, conflicts_with = "quick")]
        release: bool,
    },
    /// The benches of the hot path, one after the other.
    Bench,
    /// Power loss on the simulated device, a model as oracle.
    Crash {
        #[command(flatten)]
        build: build::Choice,
        #[arg(long, default_value_t = 5_000)]
        cases: u64,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Plant bugs in recovery, each of which must be caught.
        #[arg(long, conflicts_with = "cases")]
        bugs: bool,
    },
    /// The whole server, wire to device, on one thread from one seed: loss of power, failing disks, a network that
    /// breaks, a clock that jumps. A seed that is odd is told with the command that shows it again.
    Simulate {
        /// What `simulator world` knows: --seeds FROM..TO, --workload bank|queue|list-append|ledger|all, --faults
        /// disk,network,crash,clock, --tables disk|memory|mixed, --verbose.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Bits inverted in every kind of place: found, or proven harmless.
    Bitflip {
        #[command(flatten)]
        build: build::Choice,
        #[arg(long, default_value_t = 2_000)]
        cases: u64,
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// How long a database with much log to redo keeps its users waiting after its process was killed.
    RecoveryTime {
        /// Megabytes of log to redo.
        #[arg(long, default_value_t = 1024)]
        megabytes: u64,
    },
    /// kill -9 of the real binary under load.
    Kill {
        #[command(flatten)]
        build: build::Choice,
        #[arg(long, default_value_t = 20)]
        cycles: u32,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// disk, memory, mixed: where the rows go, instead of a third of the sessions each.
        #[arg(long)]
        tables: Option<String>,
    },
    /// Power cuts under the real binary, on a FUSE file system that forgets what was not synced.
    Powercut {
        #[command(flatten)]
        build: build::Choice,
        #[arg(long, default_value_t = 50)]
        cases: u64,
        /// 25 cases share a disk: a range begins at a multiple of it.
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Every kind of request to the file system, and every system-call site of the real binary, fails once.
    Faults {
        #[command(flatten)]
        build: build::Choice,
        /// Every error at several of each, not one.
        #[arg(long)]
        all: bool,
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// The server in a guest of QEMU: every state of its disk after a loss of power, disks that forget and refuse.
    Guest {
        #[command(flatten)]
        build: build::Choice,
        #[arg(long, default_value_t = 100)]
        states: u64,
        /// A range begins best where a recording does.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// So many states come from one recording (1,000 if nothing is said): state N from recording N divided by this.
        #[arg(long)]
        per_recording: Option<u64>,
        /// Instead: who runs where on a machine of so many NUMA nodes (2, 4 or 8), and whose memory is whose.
        #[arg(long, conflicts_with_all = ["states", "seed", "per_recording"])]
        numa: Option<u8>,
        /// And all of the lab's experiments on nodes there, not two of them.
        #[arg(long, requires = "numa")]
        experiments: bool,
    },
    /// One process of the real binary under load for long: what is lost, what is left over, what grows.
    Soak {
        #[command(flatten)]
        build: build::Choice,
        #[arg(long, default_value_t = 120)]
        minutes: u64,
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// A login with `public` alone sends hostile texts and packets, beside a neighbour that works and an administrator
    /// that logs in: how long both wait, how much memory the server comes to, and whether it lives.
    Attack {
        #[command(flatten)]
        build: build::Choice,
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
    /// Real clients against `millrace serve`: pymssql, python-tds, pyodbc, mssql-python, tedious, go-mssqldb,
    /// mssql-jdbc, tiberius.
    Drivers {
        /// One suite (may be given several times).
        #[arg(long)]
        only: Vec<String>,
        /// One scenario (may be given several times).
        #[arg(long)]
        scenario: Vec<String>,
        /// A server that runs already, host:port; sa's password is in MILLRACE_SA_PASSWORD.
        #[arg(long, requires = "certificate")]
        server: Option<String>,
        /// The certificate of that server (PEM).
        #[arg(long)]
        certificate: Option<PathBuf>,
        #[command(flatten)]
        build: build::Choice,
        /// Install and compile the suites, and stop there.
        #[arg(long)]
        build_only: bool,
        /// How many rows the scenario `random-rows` has, instead of the suite's own few.
        #[arg(long)]
        rows: Option<u32>,
        /// From which seed they are.
        #[arg(long, default_value_t = 1)]
        seed: u32,
    },
    /// Test suites that others wrote, unmodified, against `millrace serve`; tests/suites/README.md says how.
    Suites {
        /// Their names; "all" for every one.
        #[arg(required = true)]
        names: Vec<String>,
        /// A checkout of the suite's sources, where its registry has none.
        #[arg(long)]
        source: Option<PathBuf>,
        /// A server that runs already, host:port; sa's password is in MILLRACE_SA_PASSWORD.
        #[arg(long, requires = "certificate")]
        server: Option<String>,
        /// The certificate of that server (PEM).
        #[arg(long)]
        certificate: Option<PathBuf>,
        #[command(flatten)]
        build: build::Choice,
        /// Keep the counts in docs/suites.md.
        #[arg(long)]
        record: bool,
        /// For the suite's own runner: a part of the suite.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// The lab's report, opened in a real browser.
    Report {
        #[command(flatten)]
        build: build::Choice,
        /// Leave pictures of every page here.
        #[arg(long)]
        shots: Option<PathBuf>,
    },
    /// Histories of concurrent transactions at every isolation level, checked for the anomalies that it forbids; then
    /// planted bugs, each of which must be caught.
    Histories {
        #[arg(long, default_value_t = 20_000)]
        transactions: u64,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// disk, memory, mixed: the modes alone whose tables live there.
        #[arg(long)]
        tables: Option<String>,
    },
    /// The lab's rivals: PostgreSQL and MariaDB, started and stopped, and SQLite. One that is not installed is told, and
    /// makes the command fail.
    Rivals {
        /// One of them (may be given several times).
        #[arg(long)]
        only: Vec<String>,
    },
    /// Model checking of the lock-free code.
    Loom,
    /// What the statistics cost: this binary against one without them, in ABBA pairs of short runs.
    StatsCost(pairs::Options),
    /// CPU nanoseconds per row of an insert, against an earlier commit.
    InsertCost {
        /// The commit, as git names it; or a release binary of one.
        #[arg(long, default_value = "HEAD~1")]
        against: String,
        #[command(flatten)]
        options: pairs::Options,
    },
    /// The reporting query of the posts (a join with six dimensions, grouped), beside other engines in one run.
    Reporting {
        #[arg(long, default_value_t = 5_000_000)]
        rows: u64,
        /// Degrees of parallelism, one after the other.
        #[arg(long, value_delimiter = ',', default_value = "1,2")]
        maxdop: Vec<u32>,
        /// What our engine may use, three quarters of it for pages.
        #[arg(long, default_value_t = 8192)]
        memory_mb: u64,
        /// postgres and duckdb (the shell in PATH, or the one that DUCKDB names).
        #[arg(long, value_delimiter = ',')]
        beside: Vec<String>,
        #[arg(long, default_value_t = 5)]
        rounds: u32,
        /// Where the databases are made; removed at the end.
        #[arg(long)]
        data: Option<PathBuf>,
        /// An example `timed` of the crate session that is built already.
        #[arg(long)]
        program: Option<PathBuf>,
    },
    /// The 22 queries of TPC-H, answers compared and times beside other engines.
    Tpch(tpch::Options),
    /// The 99 queries of TPC-DS, answers compared and times beside other engines.
    Tpcds(tpcds::Options),
    /// What a change of a row costs: inserts, updates, deletes and whole transactions in loops of procedures.
    Loops(loops::Options),
    /// Round trips a second of real clients, beside those of PostgreSQL by a client of the same language.
    RoundTrips(round_trips::Options),
    /// How much of a folder of scripts the parser takes: parsed, refused by name, failed.
    Parse {
        /// DIR, then what `corpus parse` knows: --exclude WORD, --verbose, --top N.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<String>,
    },
    /// A folder of sqllogictest files in their mssql reading: passed, failed, skipped.
    Slt {
        /// DIR, then what `corpus slt` knows: --exclude WORD, --every N, --verbose, --top N, --least PERCENT.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<String>,
    },
    /// Scripts run on one embedded engine, as sqlcmd would: batches passed and failed.
    Scripts {
        /// Files and folders, then what `corpus scripts` knows: -v NAME=VALUE, --exclude WORD, --verbose, --top N.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<String>,
    },
    /// Babelfish's inputs run here, and their outputs written as its harness does.
    Babelfish {
        /// The folder of inputs, a list of names, the folder for the outputs.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<String>,
    },
    /// Generated statements, valid and broken, and queries that check each other: no panic, no difference.
    Generate {
        /// What `corpus generate` knows: --seed N, --statements N, --verbose, --top N.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// The T-SQL parser against mutated text; each part of the wire protocol, and whatever reads documents, files, log
    /// records and certificates, against mutated bytes.
    Fuzz {
        #[command(flatten)]
        build: build::Choice,
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
}

fn main() {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Tidy => tidy::check(),
        Command::Test { quick, release } => test(quick, Build::release_if(release)),
        Command::Bench => bench(),
        Command::Crash { seed, bugs: true, .. } => planted_bugs_in_recovery(seed),
        Command::Crash { build, cases, seed, bugs: false } => crash(build.into(), cases, seed),
        Command::Simulate { arguments } => simulate(&arguments),
        Command::Bitflip { build, cases, seed } => bitflip(build.into(), cases, seed),
        Command::RecoveryTime { megabytes } => recovery_time(megabytes),
        Command::Kill { build, cycles, seed, tables } => {
            kill::run(build.into(), cycles, seed, tables.as_deref())
        }
        Command::Powercut { build, cases, seed } => faults::powercut(build.into(), cases, seed),
        Command::Faults { build, all, seed } => faults::faults(build.into(), all, seed),
        Command::Guest { build, numa: Some(nodes), experiments, .. } => {
            faults::guest_of_nodes(build.into(), nodes, experiments)
        }
        Command::Guest { build, states, seed, per_recording, numa: None, .. } => {
            faults::guest(build.into(), states, seed, per_recording)
        }
        Command::Soak { build, minutes, seed } => faults::soak(build.into(), minutes, seed),
        Command::Attack { build, seconds, seed } => faults::attack(build.into(), seconds, seed),
        Command::Drivers { only, scenario, server, certificate, build, build_only, rows, seed } => {
            drivers::run(&drivers::Options {
                only,
                scenarios: scenario,
                server,
                certificate,
                build: build.into(),
                build_only,
                rows,
                seed,
            })
        }
        Command::Suites { names, source, server, certificate, build, record, arguments } => {
            suites::run(&suites::Options {
                names,
                source,
                server,
                certificate,
                build: build.into(),
                record,
                arguments,
            })
        }
        Command::Report { build, shots } => report::run(build.into(), shots.as_deref()),
        Command::Histories { transactions, seed, tables } => {
            histories(transactions, seed, tables.as_deref())
        }
        Command::Rivals { only } => rivals::run(&only),
        Command::Loom => loom(),
        Command::StatsCost(options) => stats_cost::run(&options),
        Command::InsertCost { against, options } => insert_cost::run(&against, &options),
        Command::Reporting { rows, maxdop, memory_mb, beside, rounds, data, program } => {
            reporting::run(&reporting::Options {
                rows,
                maxdop,
                memory_mb,
                beside,
                rounds,
                data,
                program,
            })
        }
        Command::Tpcds(options) => tpcds::run(&options),
        Command::Tpch(options) => tpch::run(&options),
        Command::Loops(options) => loops::run(&options),
        Command::RoundTrips(options) => round_trips::run(&options),
        Command::Parse { arguments } => corpus::run("parse", &arguments),
        Command::Slt { arguments } => corpus::run("slt", &arguments),
        Command::Scripts { arguments } => corpus::run("scripts", &arguments),
        Command::Babelfish { arguments } => corpus::run("babelfish", &arguments),
        Command::Generate { arguments } => corpus::run("generate", &arguments),
        Command::Fuzz { build, seconds } => fuzz::run(build.into(), seconds),
    };
    if let Err(failure) = result {
        eprintln!("xtask: {failure}");
        std::process::exit(1);
    }
}

fn test(quick: bool, build: Build) -> Result<(), Failure> {
    tidy::check()?;
    cargo("the code is formatted", &["fmt", "--all", "--check"]).run()?;
    cargo(
        "no lint fires",
        &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
    )
    .run()?;
    rivals::check_plain()?;
    // Of the whole workspace, so that what it depends on has the features that the lints have built it with.
    let line = [
        "check",
        "--workspace",
        "--quiet",
        "--lib",
        "--bins",
        "--features",
        "millrace/rivals,millrace/no-stats",
    ];
    cargo("the binary with its rivals, and without statistics", &line).run()?;
    // The documentation has no examples that run: to look for them takes a second a crate.
    let tests = ["test", "--workspace", "--quiet", "--lib", "--bins", "--tests"];
    cargo("unit and golden tests", &tests).run()?;
    if quick {
        loom()?;
    } else {
        crash(build, 5_000, 1)?;
        bitflip(build, 2_000, 1)?;
        worlds(build, &["--seeds".to_owned(), "0..40".to_owned()])?;
        kill::run(build, 20, 1, None)?;
        faults::short(build)?;
        // Alone: it tells how long others wait.
        faults::attack(build, 60, 1)?;
        // An emulated machine is one thread that mostly waits for its disk.
        side_by_side(
            || {
                faults::guest(build, 40, 0, None)
                    .and_then(|()| faults::guest_of_nodes(build, 2, false))
            },
            || histories(20_000, 1, None).and_then(|()| loom()),
        )?;
        // The drivers wait for what they install, and for each other.
        side_by_side(
            || drivers::run(&drivers::Options::of(build)),
            || fuzz::run(build, 20).and_then(|()| report::run(build, None)),
        )?;
    }
    println!("xtask: all checks passed");
    Ok(())
}

/// Runs both to their ends; the first failure counts.
fn side_by_side(
    one: impl FnOnce() -> Result<(), Failure> + Send,
    other: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        other.and(one.join().unwrap_or_else(|_| Err(Failure("a check panicked".to_owned()))))
    })
}

fn bench() -> Result<(), Failure> {
    for (what, package, example, arguments) in [
        ("coroutines and a flush in flight", "scheduler", "coroutine_trial", &[][..]),
        ("log append, lanes, two threads", "log-manager", "log_bench", &["lanes", "2"][..]),
        ("log append, spinlock, two threads", "log-manager", "log_bench", &["spinlock", "2"][..]),
        ("leaf insert", "storage", "leaf_bench", &[][..]),
        ("interpreter loop", "interpreter", "loop_bench", &[][..]),
    ] {
        let mut line =
            vec!["run", "--release", "--quiet", "--package", package, "--example", example, "--"];
        line.extend_from_slice(arguments);
        cargo(what, &line).run()?;
    }
    Ok(())
}

fn recovery_time(megabytes: u64) -> Result<(), Failure> {
    let line = ["run", "--release", "--quiet", "--package", "engine", "--example"];
    cargo("recovery of a killed database", &line)
        .args(["recovery_bench", "--"])
        .arg(megabytes.to_string())
        .arg(run::target_directory().join("recovery-time").display().to_string())
        .run()
}

fn crash(build: Build, cases: u64, seed: u64) -> Result<(), Failure> {
    simulator(build, "power loss on the simulated device", "crash")?
        .args(["--cases", &cases.to_string(), "--seed", &seed.to_string()])
        .run()
}

fn bitflip(build: Build, cases: u64, seed: u64) -> Result<(), Failure> {
    simulator(build, "bits that change on the disk", "bitflip")?
        .args(["--cases", &cases.to_string(), "--seed", &seed.to_string()])
        .run()
}

fn simulate(arguments: &[String]) -> Result<(), Failure> {
    if arguments.iter().any(|argument| argument == "--bugs") {
        return planted_bugs_in_worlds();
    }
    worlds(Build::Release, arguments)
}

fn worlds(build: Build, arguments: &[String]) -> Result<(), Failure> {
    simulator(build, "whole worlds, each from one seed", "world")?
        .args(arguments.iter().map(String::as_str))
        .run()
}

fn simulator(build: Build, promise: &str, command: &str) -> Result<Step, Failure> {
    let binary = build.binary("simulator", "simulator")?;
    Ok(Step::new(promise, &binary.display().to_string()).arg(command))
}

/// Most of a minute: not among the checks of every change. Bugs can be planted in the dev build alone.
fn planted_bugs_in_worlds() -> Result<(), Failure> {
    simulator(Build::Dev, "planted bugs are caught by every workload", "world")?.arg("--bugs").run()
}

fn planted_bugs_in_recovery(seed: u64) -> Result<(), Failure> {
    simulator(Build::Dev, "planted bugs are caught by crash cases", "crash")?
        .args(["--bugs", "--seed", &seed.to_string()])
        .run()
}

fn histories(transactions: u64, seed: u64, tables: Option<&str>) -> Result<(), Failure> {
    let seed = seed.to_string();
    let histories = Build::Dev.binary("isolation", "histories")?.display().to_string();
    Step::new("histories of concurrent transactions", &histories)
        .args(["--transactions", &transactions.to_string(), "--seed", &seed])
        .args(tables.into_iter().flat_map(|tables| ["--tables", tables]))
        .run()?;
    Step::new("planted bugs are caught", &histories).args(["--bugs", "--seed", &seed]).run()
}

/// Loom replaces the atomics, so these builds go to a target folder of their own.
fn loom() -> Result<(), Failure> {
    Step::new("lock-free code under loom", "cargo")
        .args(["test", "--release", "--quiet", "--package", "log-manager", "--package", "runtime"])
        .args(["--package", "storage", "--lib", "loom"])
        .env("RUSTFLAGS", "--cfg loom -C force-frame-pointers=yes")
        .env("CARGO_TARGET_DIR", run::target_directory().join("loom").display().to_string())
        // Models are small: to build them takes longer than what more would save.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .run()
}
