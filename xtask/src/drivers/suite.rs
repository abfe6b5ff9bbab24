//! One suite: a program that is asked for scenarios and answers a line each.
//!
//! A suite is started with the scenarios it shall run in `MILLRACE_SCENARIOS`. One that hangs or dies is started again
//! for the scenarios after the one it was in, so one fault costs one scenario.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::server::Target;

/// The clients, slowest start last.
pub const DRIVERS: &[&str] = &[
    "tiberius",
    "go-mssqldb",
    "pymssql",
    "python-tds",
    "pyodbc",
    "mssql-python",
    "tedious",
    "mssql-jdbc",
    "sqlclient",
];

/// What a driver is asked besides what all are asked.
pub fn own_scenarios(driver: &str) -> &'static [&'static str] {
    match driver {
        "pyodbc" | "tedious" | "mssql-jdbc" => &["random-rows"],
        "sqlclient" => &[
            "random-rows",
            "scripting",
            "transaction-scope",
            "data-adapter",
            "schema-collections",
            "key-information",
            "mappers",
            "async",
            "mars",
            "session-recovery",
            "password-change",
        ],
        _ => &[],
    }
}

/// What became of a scenario.
pub enum Outcome {
    Passed,
    Skipped(String),
    Failed(Vec<String>),
}

impl Outcome {
    pub fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failed(_))
    }

    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Passed => "ok",
            Outcome::Skipped(_) => "skip",
            Outcome::Failed(_) => "FAIL",
        }
    }
}

/// How a suite is started.
pub struct Suite {
    pub driver: &'static str,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub directory: PathBuf,
    pub environment: Vec<(String, String)>,
    /// Where its standard error goes.
    pub log: PathBuf,
    /// How long a scenario may take before it counts as hung.
    pub limit: Duration,
}

/// How one start of the program ended.
enum End {
    /// It said all it had to say.
    Complete,
    /// It hung or died in this scenario (or before any, `None`), for this reason.
    Broken(Option<String>, String),
}

impl Suite {
    /// Runs the scenarios and answers for each of them.
    pub fn run(&self, target: &Target, scenarios: &[&str]) -> BTreeMap<String, Outcome> {
        let mut outcomes = BTreeMap::new();
        let mut left: Vec<&str> = scenarios.to_vec();
        while !left.is_empty() {
            let end = self.start(target, &left, &mut outcomes);
            let (current, reason) = match end {
                End::Complete => break,
                End::Broken(current, reason) => (current, reason),
            };
            // Before its first scenario the program could not run at all: a second start would not help.
            let Some(current) = current else {
                for scenario in left.drain(..) {
                    outcomes
                        .entry(scenario.to_owned())
                        .or_insert_with(|| Outcome::Failed(vec![reason.clone()]));
                }
                break;
            };
            println!("{} {current} FAIL\n  {reason}", self.driver);
            outcomes.insert(current, Outcome::Failed(vec![reason]));
            left.retain(|scenario| !outcomes.contains_key(*scenario));
        }
        for scenario in scenarios {
            outcomes
                .entry((*scenario).to_owned())
                .or_insert_with(|| Outcome::Failed(vec!["the suite did not answer for it".into()]));
        }
        outcomes
    }

    fn start(
        &self,
        target: &Target,
        scenarios: &[&str],
        outcomes: &mut BTreeMap<String, Outcome>,
    ) -> End {
        let mut child = match self.spawn(target, scenarios) {
            Ok(child) => child,
            Err(error) => {
                return End::Broken(None, format!("{}: {error}", self.program.display()));
            }
        };
        let lines = lines_of(&mut child);
        let mut current: Option<String> = None;
        let mut failed: Option<String> = None;
        let end = loop {
            let line = match lines.recv_timeout(self.limit) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => {
                    let reason = format!("no answer for {} s", self.limit.as_secs());
                    break End::Broken(current, reason);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
                    let done = scenarios.iter().all(|name| outcomes.contains_key(*name));
                    break match current {
                        None if done => End::Complete,
                        current => {
                            let log = self.log.display();
                            End::Broken(current, format!("the suite ended ({status}); see {log}"))
                        }
                    };
                }
            };
            if !line.ends_with(" run") {
                println!("{line}");
            }
            if let Some(detail) = line.strip_prefix("  ") {
                if let Some(Outcome::Failed(details)) =
                    failed.as_ref().and_then(|scenario| outcomes.get_mut(scenario))
                {
                    details.push(detail.to_owned());
                }
                continue;
            }
            let mut words = line.splitn(3, ' ');
            let (Some(driver), Some(scenario), Some(word)) =
                (words.next(), words.next(), words.next())
            else {
                continue;
            };
            if driver != self.driver || !scenarios.contains(&scenario) {
                continue;
            }
            let outcome = match word {
                "run" => {
                    current = Some(scenario.to_owned());
                    continue;
                }
                "ok" => Outcome::Passed,
                "FAIL" => Outcome::Failed(Vec::new()),
                skip if skip.starts_with("skip(") => {
                    Outcome::Skipped(skip["skip(".len()..].trim_end_matches(')').to_owned())
                }
                other => Outcome::Failed(vec![format!("the suite said {other:?}")]),
            };
            current = None;
            failed = outcome.is_failure().then(|| scenario.to_owned());
            outcomes.insert(scenario.to_owned(), outcome);
        };
        let _ = child.kill();
        let _ = child.wait();
        end
    }

    fn spawn(&self, target: &Target, scenarios: &[&str]) -> std::io::Result<Child> {
        let log = File::options().create(true).append(true).open(&self.log)?;
        Command::new(&self.program)
            .args(&self.arguments)
            .current_dir(&self.directory)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("MILLRACE_DRIVER", self.driver)
            .env("MILLRACE_HOST", &target.host)
            .env("MILLRACE_PORT", target.port.to_string())
            .env("MILLRACE_USER", "sa")
            .env("MILLRACE_PASSWORD", &target.password)
            .env("MILLRACE_CERTIFICATE", &target.certificate)
            .env("MILLRACE_SCENARIOS", scenarios.join(","))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
    }
}

/// The lines that a program prints, as they come.
pub fn lines_of(child: &mut Child) -> Receiver<String> {
    let output = child.stdout.take().expect("stdout is piped");
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut input = BufReader::new(output);
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if sender.send(text).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Target {
        Target {
            host: "localhost".into(),
            port: 1,
            password: String::new(),
            certificate: PathBuf::new(),
        }
    }

    fn suite(script: &str) -> Suite {
        let log = std::env::temp_dir().join(format!("xtask-suite-{}.log", std::process::id()));
        Suite {
            driver: "d",
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            directory: "/".into(),
            environment: Vec::new(),
            log,
            limit: super::super::SCENARIO_LIMIT,
        }
    }

    fn words(suite: &Suite, scenarios: &[&str]) -> Vec<String> {
        let outcomes = suite.run(&target(), scenarios);
        scenarios.iter().map(|name| format!("{name} {}", outcomes[*name].word())).collect()
    }

    #[test]
    fn a_suite_that_dies_loses_one_scenario() {
        let script = r#"
            for s in $(echo $MILLRACE_SCENARIOS | tr , ' '); do
                echo "d $s run"
                case $s in
                    b) echo "d b FAIL"; echo "  because";;
                    c) exit 3;;
                    d) echo "d d skip(no such thing)";;
                    *) echo "d $s ok";;
                esac
            done"#;
        let suite = suite(script);
        let got = words(&suite, &["a", "b", "c", "d", "e"]);
        assert_eq!(got, ["a ok", "b FAIL", "c FAIL", "d skip", "e ok"]);
        let Outcome::Failed(details) = &suite.run(&target(), &["b"])["b"] else { panic!() };
        assert_eq!(details, &["because"]);
    }

    #[test]
    fn a_suite_that_cannot_start_or_keeps_silent_fails_everything() {
        assert_eq!(words(&suite("exit 1"), &["a", "b"]), ["a FAIL", "b FAIL"]);
        assert_eq!(words(&suite("echo d a ok"), &["a", "b"]), ["a ok", "b FAIL"]);
        let mut missing = suite("");
        missing.program = "/no/such/program".into();
        assert_eq!(words(&missing, &["a"]), ["a FAIL"]);
    }
}
