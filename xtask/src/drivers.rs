//! Real clients against `millrace serve`: `cargo xtask drivers`.
//!
//! Each suite in `tests/drivers/` is a program in its client's own language. It prints one line a scenario,
//! `driver scenario run` before and `driver scenario ok|FAIL|skip(reason)` after, and what went wrong on lines that
//! begin with two spaces. This command installs the clients (under `target/drivers/`, never in the repository), starts
//! a server with an empty data folder on a free loopback port, runs the suites two at a time, and prints a table.
//!
//! What `tests/drivers/failing.txt` lists may fail, and is shown when it passes.
//!
//! Always holds: every suite answers for every scenario of [`SCENARIOS`], or the run fails; a scenario that hangs is
//! ended after [`SCENARIO_LIMIT`] and the suite goes on with those after it; the server must stop cleanly at the end.

pub(crate) mod install;
pub(crate) mod server;
pub(crate) mod suite;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::build::Build;
use crate::run::{Failure, target_directory, workspace};
use server::{Server, Target};
use suite::{Outcome, Suite};

/// What every suite is asked, in the order in which it is run; `tests/drivers/README.md` says what each one shows.
pub const SCENARIOS: &[&str] = &[
    "connect",
    "encryption",
    "wrong-password",
    "unknown-database",
    "types",
    "parameters",
    "output-parameters",
    "prepared",
    "transactions",
    "savepoints",
    "isolation-levels",
    "result-sets",
    "messages",
    "errors",
    "error-mid-batch",
    "cancel",
    "query-timeout",
    "large-values",
    "bulk-copy",
    "table-valued-parameters",
    "pooling-reset",
    "time-zones",
    "metadata",
];

/// How long one scenario may take before it counts as hung. `mars` of SqlClient makes some thousand round trips, one after the
/// other: 8 s on a quiet machine, ten times that on one with a load of 10.
pub const SCENARIO_LIMIT: Duration = Duration::from_secs(120);

/// How much longer it may take for each row that `--rows` asks for.
const ROW_LIMIT: Duration = Duration::from_millis(100);

/// What is known to fail, with the reason.
const KNOWN: &str = "tests/drivers/failing.txt";

/// Suites that run side by side.
const PARALLEL: usize = 2;

pub struct Options {
    /// Drivers to run; empty: all.
    pub only: Vec<String>,
    /// Scenarios to run; empty: all.
    pub scenarios: Vec<String>,
    /// A running server, `host:port`, instead of one of our own.
    pub server: Option<String>,
    /// The running server's certificate.
    pub certificate: Option<PathBuf>,
    /// Which build the server is.
    pub build: Build,
    /// Install and compile only.
    pub build_only: bool,
    /// Rows of `random-rows`; `None`: as many as a suite takes by itself.
    pub rows: Option<u32>,
    pub seed: u32,
}

impl Options {
    /// Every suite, against a server of this build.
    pub fn of(build: Build) -> Options {
        Options {
            only: Vec::new(),
            scenarios: Vec::new(),
            server: None,
            certificate: None,
            build,
            build_only: false,
            rows: None,
            seed: 1,
        }
    }
}

pub fn run(options: &Options) -> Result<(), Failure> {
    for name in &options.only {
        if !suite::DRIVERS.contains(&name.as_str()) {
            let known = suite::DRIVERS.join(", ");
            return Err(Failure(format!("there is no suite {name:?}; the suites are {known}")));
        }
    }
    for name in &options.scenarios {
        if !all_scenarios().contains(&name.as_str()) {
            let known = all_scenarios().join(", ");
            return Err(Failure(format!("there is no scenario {name:?}; they are {known}")));
        }
    }
    let scenarios: Vec<&str> = all_scenarios()
        .into_iter()
        .filter(|name| options.scenarios.is_empty() || options.scenarios.iter().any(|s| s == name))
        .collect();
    let start = Instant::now();
    let drivers: Vec<&str> = suite::DRIVERS
        .iter()
        .copied()
        .filter(|name| options.only.is_empty() || options.only.iter().any(|only| only == name))
        .collect();
    let folder = target_directory().join("drivers");
    let mut suites = install::prepare(&folder, &drivers)?;
    if let Some(rows) = options.rows {
        for suite in &mut suites {
            suite.environment.push(("MILLRACE_RANDOM_ROWS".into(), rows.to_string()));
            suite.environment.push(("MILLRACE_RANDOM_SEED".into(), options.seed.to_string()));
            suite.limit += ROW_LIMIT * rows;
        }
    }
    println!("xtask: drivers: installed and compiled in {:.1} s", start.elapsed().as_secs_f64());
    if options.build_only {
        return Ok(());
    }
    let (target, server) = match &options.server {
        Some(address) => (Target::running(address, options.certificate.clone())?, None),
        None => {
            let (target, server) = Server::start(&folder, options.build)?;
            (target, Some(server))
        }
    };
    let running = Instant::now();
    let results = run_all(&suites, &target, &scenarios);
    let stopped = server.map_or(Ok(()), Server::stop);
    println!("xtask: drivers: suites ran for {:.1} s", running.elapsed().as_secs_f64());
    print_table(&suites, &scenarios, &results);
    let known = known_failures()?;
    let mut bad = 0;
    for (driver, outcomes) in &results {
        for (scenario, outcome) in outcomes {
            let known = known.contains(&(driver.to_string(), scenario.clone()));
            match (outcome.is_failure(), known) {
                (true, false) => bad += 1,
                (true, true) => println!("known to fail: {driver} {scenario}"),
                (false, true) => {
                    println!("passes now, so take it off {KNOWN}: {driver} {scenario}")
                }
                (false, false) => {}
            }
        }
    }
    stopped?;
    if bad > 0 {
        return Err(Failure(format!(
            "{bad} scenarios failed; the logs are in {}",
            folder.display()
        )));
    }
    println!("xtask: drivers: all passed in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Pairs of a driver and a scenario; what follows on the line is the reason.
fn known_failures() -> Result<BTreeSet<(String, String)>, Failure> {
    let path = workspace().join(KNOWN);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure(format!("{}: {error}", path.display())))?;
    let mut known = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some(driver), Some(scenario), Some(_))
                if suite::DRIVERS.contains(&driver) && is_asked(driver, scenario) =>
            {
                known.insert((driver.to_owned(), scenario.to_owned()));
            }
            _ => {
                return Err(Failure(format!(
                    "{KNOWN}: a driver, a scenario and a reason: {line:?}"
                )));
            }
        }
    }
    Ok(known)
}

/// What all are asked, then what single drivers are asked besides.
fn all_scenarios() -> Vec<&'static str> {
    let mut all = SCENARIOS.to_vec();
    for own in suite::DRIVERS.iter().flat_map(|driver| suite::own_scenarios(driver)) {
        if !all.contains(own) {
            all.push(own);
        }
    }
    all
}

fn is_asked(driver: &str, scenario: &str) -> bool {
    SCENARIOS.contains(&scenario) || suite::own_scenarios(driver).contains(&scenario)
}

type Results = BTreeMap<&'static str, BTreeMap<String, Outcome>>;

fn run_all(suites: &[Suite], target: &Target, scenarios: &[&str]) -> Results {
    let queue = Mutex::new(suites.iter().collect::<Vec<_>>());
    let results = Mutex::new(Results::new());
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                loop {
                    // Last in, first out: the slow starters stand at the end of the list.
                    let next = queue.lock().expect("no suite panics with the queue").pop();
                    let Some(suite) = next else { return };
                    let asked =
                        scenarios.iter().copied().filter(|name| is_asked(suite.driver, name));
                    let outcomes = suite.run(target, &asked.collect::<Vec<_>>());
                    results
                        .lock()
                        .expect("no suite panics with the results")
                        .insert(suite.driver, outcomes);
                }
            });
        }
    });
    results.into_inner().expect("no suite panics with the results")
}

fn print_table(suites: &[Suite], scenarios: &[&str], results: &Results) {
    let width = scenarios.iter().map(|name| name.len()).max().unwrap_or(0);
    print!("\n{:width$}", "");
    for suite in suites {
        print!("  {:>12}", suite.driver);
    }
    println!();
    for scenario in scenarios {
        print!("{scenario:width$}");
        for suite in suites {
            let outcome = results.get(suite.driver).and_then(|all| all.get(*scenario));
            let word = if is_asked(suite.driver, scenario) { "FAIL" } else { "-" };
            print!("  {:>12}", outcome.map_or(word, Outcome::word));
        }
        println!();
    }
    println!();
    for suite in suites {
        for (scenario, outcome) in results.get(suite.driver).into_iter().flatten() {
            if let Outcome::Skipped(reason) = outcome {
                println!("skipped: {} {scenario}: {reason}", suite.driver);
            }
        }
    }
    for suite in suites {
        for (scenario, outcome) in results.get(suite.driver).into_iter().flatten() {
            if let Outcome::Failed(details) = outcome {
                println!("FAIL: {} {scenario}", suite.driver);
                for line in details {
                    println!("  {line}");
                }
            }
        }
    }
}
