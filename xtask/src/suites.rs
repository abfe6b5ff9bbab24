//! The test suites of others against `millrace serve`: `cargo xtask suites NAME`.
//!
//! A suite is a line in [`table::SUITES`] and two scripts in `tests/suites`: `install.sh` brings its sources and what
//! they need into `target/suites/NAME` (from the language's own registry, or from the checkout that `--source` names),
//! `run.sh` runs it unmodified against the server and leaves its results where [`results`] can read them. Nothing of
//! theirs is ever in this repository. This command starts a server on an empty folder, runs the scripts with limits of
//! time, holds the results against `tests/suites/expected/NAME.txt`, and prints what passed, failed, was skipped and
//! was expected to differ; `--record` keeps the counts in docs/suites.md.
//!
//! Always holds: the command fails if a test fails that is not expected to, if the suite ran no test or had to be
//! ended, and if the server died or did not stop cleanly.

mod expectations;
mod process;
mod record;
mod results;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::build::Build;
use crate::drivers::server::{Server, Target};
use crate::run::{Failure, target_directory, workspace};
use expectations::Kind;
use process::End;
use results::{Outcome, Results};
use table::{SUITES, Suite};

const INSTALL_LIMIT: Duration = Duration::from_secs(1200);

pub struct Options {
    /// Suites by name; "all" is every one.
    pub names: Vec<String>,
    /// A checkout of the suite's sources, instead of what its registry has.
    pub source: Option<PathBuf>,
    /// A running server, `host:port`, instead of one of our own; its certificate.
    pub server: Option<String>,
    pub certificate: Option<PathBuf>,
    /// Which build the server is.
    pub build: Build,
    /// The result's place in docs/suites.md is written anew.
    pub record: bool,
    /// Given to the suite's runner: a part of the suite.
    pub arguments: Vec<String>,
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let mut suites = Vec::new();
    for name in &options.names {
        match table::find(name) {
            Some(suite) => suites.push(suite),
            None if name == "all" => suites.extend(SUITES),
            None => {
                let known = SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join(", ");
                return Err(Failure(format!("there is no suite {name:?}; they are {known}")));
            }
        }
    }
    let mut bad = Vec::new();
    for suite in &suites {
        if let Err(failure) = one(suite, options) {
            println!("xtask: suites: {}: {failure}", suite.name);
            bad.push(suite.name);
        }
    }
    match bad.is_empty() {
        true => Ok(()),
        false => Err(Failure(format!("suites with differences: {}", bad.join(", ")))),
    }
}

fn one(suite: &Suite, options: &Options) -> Result<(), Failure> {
    let home = target_directory().join("suites").join(suite.name);
    let failure = |error: std::io::Error| Failure(format!("{}: {error}", home.display()));
    fs::create_dir_all(&home).map_err(failure)?;
    install(suite, &home, options.source.as_deref())?;
    let results = home.join("results");
    let _ = fs::remove_dir_all(&results);
    fs::create_dir_all(&results).map_err(failure)?;
    let (target, server) = match &options.server {
        Some(address) => (Target::running(address, options.certificate.clone())?, None),
        None => {
            let (target, server) = Server::start(&home, options.build)?;
            (target, Some(server))
        }
    };
    println!("xtask: suites: {} ({}) runs; see {}", suite.name, suite.about, log(&home).display());
    let start = Instant::now();
    let mut command = script(suite, "run.sh", &home);
    command
        .args(&options.arguments)
        .env("MILLRACE_RESULTS", &results)
        .env("MILLRACE_HOST", &target.host)
        .env("MILLRACE_PORT", target.port.to_string())
        .env("MILLRACE_USER", "sa")
        .env("MILLRACE_PASSWORD", &target.password)
        .env("MILLRACE_CERTIFICATE", &target.certificate)
        .env("MILLRACE_TEST_SECONDS", suite.test_limit.as_secs().to_string());
    let end = process::run(&mut command, &log(&home), suite.limit, suite.test_limit * 3)?;
    let seconds = start.elapsed().as_secs();
    let stopped = server.map_or(Ok(()), Server::stop);
    let results = results::read(&results)?;
    let tally = judge(suite, &results)?;
    println!("xtask: suites: {}: {tally} in {seconds} s", suite.name);
    stopped?;
    if let End::Ended(reason) = end {
        return Err(Failure(reason));
    }
    if tally.passed == 0 {
        return Err(Failure(format!("no test passed; see {}", log(&home).display())));
    }
    if options.record && options.arguments.is_empty() {
        let version = fs::read_to_string(home.join("version")).unwrap_or_default();
        record::write(suite, version.trim(), &tally)?;
    }
    match tally.failed {
        0 => Ok(()),
        count => Err(Failure(format!("{count} tests failed that were expected to pass"))),
    }
}

/// Again only when the script or the source changed.
fn install(suite: &Suite, home: &Path, source: Option<&Path>) -> Result<(), Failure> {
    let path = scripts().join(suite.scripts).join("install.sh");
    let text = fs::read_to_string(&path)
        .map_err(|error| Failure(format!("{}: {error}", path.display())))?;
    let source = match source {
        Some(source) => fs::canonicalize(source)
            .map_err(|error| Failure(format!("{}: {error}", source.display())))?,
        None => PathBuf::new(),
    };
    let wanted = format!("{text}\n{}", source.display());
    let stamp = home.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let _ = fs::remove_file(&stamp);
    println!("xtask: suites: {} is installed", suite.name);
    let mut command = script(suite, "install.sh", home);
    command.env("MILLRACE_SUITE_SOURCE", source);
    let log = home.join("install.log");
    match process::run(&mut command, &log, INSTALL_LIMIT, INSTALL_LIMIT)? {
        End::Itself(true) => fs::write(&stamp, wanted)
            .map_err(|error| Failure(format!("{}: {error}", stamp.display()))),
        _ => {
            let text = fs::read_to_string(&log).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            println!("{}", lines[lines.len().saturating_sub(20)..].join("\n"));
            Err(Failure(format!("its installation failed; see {}", log.display())))
        }
    }
}

fn script(suite: &Suite, name: &str, home: &Path) -> Command {
    let mut command = Command::new("bash");
    command
        .arg("-eu")
        .arg(scripts().join(suite.scripts).join(name))
        .current_dir(home)
        .env("MILLRACE_SUITE_SCRIPTS", scripts())
        .env("MILLRACE_SUITE_HOME", home)
        .env("MILLRACE_SUITE_VARIANT", suite.variant);
    command
}

fn scripts() -> PathBuf {
    workspace().join("tests").join("suites")
}

fn log(home: &Path) -> PathBuf {
    home.join("run.log")
}

/// How many tests ended how.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
    differs: usize,
    outside: usize,
}

impl Tally {
    /// Of the tests that are the server's to pass.
    fn share(&self) -> f64 {
        let all = self.passed + self.failed + self.differs;
        if all == 0 { 0.0 } else { 100.0 * self.passed as f64 / all as f64 }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { passed, failed, skipped, differs, outside } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped, {differs} expected to ")?;
        write!(f, "differ, {outside} outside ({:.1}%)", self.share())
    }
}

fn judge(suite: &Suite, results: &Results) -> Result<Tally, Failure> {
    let path = scripts().join("expected").join(format!("{}.txt", suite.name));
    let expectations = expectations::read(&path)?;
    let mut used = vec![false; expectations.len()];
    let mut tally = Tally::default();
    for (name, outcome) in &results.0 {
        let known = expectations.iter().position(|e| expectations::matches(&e.pattern, name));
        match (outcome, known) {
            (Outcome::Skipped, _) => tally.skipped += 1,
            (Outcome::Passed, _) => tally.passed += 1,
            (Outcome::Failed(_), Some(at)) => {
                used[at] = true;
                match expectations[at].kind {
                    Kind::Differs => tally.differs += 1,
                    Kind::Outside => tally.outside += 1,
                }
            }
            (Outcome::Failed(reason), None) => {
                tally.failed += 1;
                let reason: String = reason.split_whitespace().collect::<Vec<_>>().join(" ");
                println!("FAIL: {name}\n  {}", reason.chars().take(400).collect::<String>());
            }
        }
    }
    for (expectation, _) in expectations.iter().zip(used).filter(|(_, used)| !used) {
        let pattern = &expectation.pattern;
        if results.0.keys().any(|name| expectations::matches(pattern, name)) {
            println!("passes now, so take it off {}: {pattern}", path.display());
        }
    }
    Ok(tally)
}
