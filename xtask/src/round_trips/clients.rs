//! The clients: a program of each language in `tests/drivers/`, which its drivers share, and one that runs.
//!
//! A client connects once. It is asked by a line on its standard input, `select 0.5` or `insert 3`, does that one work for so
//! many seconds, and answers by a line: how many round trips there were and how many seconds they took. It ends with its input.

use crate::drivers::install;
use crate::drivers::suite::lines_of;
use crate::round_trips::servers::Database;
use crate::run::Failure;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How much longer than asked an answer may take: a virtual machine starts, a login, a statement that is held up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Two drivers of one language.
#[derive(Clone, Copy)]
pub struct Pair {
    /// Millrace's, by which the pair goes.
    pub ours: &'static str,
    /// PostgreSQL's.
    pub theirs: &'static str,
    language: Language,
}

#[derive(Clone, Copy)]
enum Language {
    Java,
    Python,
    Node,
    Go,
}

pub const PAIRS: &[Pair] = &[
    Pair { ours: "mssql-jdbc", theirs: "pgjdbc", language: Language::Java },
    Pair { ours: "pyodbc", theirs: "psycopg", language: Language::Python },
    Pair { ours: "mssql-python", theirs: "psycopg", language: Language::Python },
    Pair { ours: "tedious", theirs: "pg", language: Language::Node },
    Pair { ours: "go-mssqldb", theirs: "pgx", language: Language::Go },
];

/// Drivers of which the suites have one that nothing here can stand beside, and why.
pub const ALONE: &[(&str, &str)] = &[(
    "sqlclient",
    "tests/drivers/dotnet/install.sh brings SqlClient without an SDK, and Npgsql does not come that way",
)];

/// How a client is started.
pub struct Program {
    program: PathBuf,
    arguments: Vec<String>,
    directory: PathBuf,
}

impl Pair {
    pub fn title(&self) -> String {
        format!("{} / {}", self.ours, self.theirs)
    }

    /// Installs and compiles what both need, in the folder.
    pub fn install(&self, folder: &Path) -> Result<Program, Failure> {
        let (program, arguments, directory) = match self.language {
            Language::Java => {
                let path = install::compile_java(folder)?;
                let line = ["-cp".to_owned(), path, "RoundTrips".to_owned()].to_vec();
                ("java".into(), line, install::source("jdbc"))
            }
            Language::Python => {
                let line = ["-B", "round_trips.py"].map(str::to_owned).to_vec();
                (install::install_python(folder)?, line, install::source("python"))
            }
            Language::Node => {
                let line = vec!["round-trips.js".to_owned()];
                ("node".into(), line, install::install_node(folder)?)
            }
            Language::Go => {
                let binary = install::build_go(folder, "./round-trips", "round-trips")?;
                (binary, Vec::new(), install::source("go"))
            }
        };
        Ok(Program { program, arguments, directory })
    }
}

/// One that runs.
pub struct Client {
    driver: &'static str,
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// Its standard error.
    log: PathBuf,
}

/// What a client answers.
pub struct Timed {
    pub count: u64,
    pub seconds: f64,
}

impl Client {
    pub fn start(
        program: &Program,
        driver: &'static str,
        database: &Database,
        logs: &Path,
    ) -> Result<Client, Failure> {
        let wrong = |what: String| Failure(format!("{driver}: {what}"));
        let log = logs.join(format!("round-trips-{driver}.log"));
        let errors =
            File::create(&log).map_err(|error| wrong(format!("{}: {error}", log.display())))?;
        let mut child = Command::new(&program.program)
            .args(&program.arguments)
            .current_dir(&program.directory)
            .env("MILLRACE_DRIVER", driver)
            .env("MILLRACE_HOST", "127.0.0.1")
            .env("MILLRACE_PORT", database.port.to_string())
            .env("MILLRACE_USER", database.user)
            .env("MILLRACE_PASSWORD", &database.password)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .map_err(|error| wrong(format!("{}: {error}", program.program.display())))?;
        let lines = lines_of(&mut child);
        let input = child.stdin.take().expect("stdin is piped");
        Ok(Client { driver, child, input, lines, log })
    }

    /// Has it do a work for so many seconds.
    pub fn ask(&mut self, work: &str, seconds: f64) -> Result<Timed, Failure> {
        let sent = writeln!(self.input, "{work} {seconds}").and_then(|()| self.input.flush());
        if sent.is_err() {
            return Err(self.ended());
        }
        let line = match self.lines.recv_timeout(Duration::from_secs_f64(seconds) + PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                let log = self.log.display();
                return Err(Failure(format!("{}: no answer to {work}; see {log}", self.driver)));
            }
        };
        let mut words = line.split(' ');
        let count = words.next().and_then(|word| word.parse().ok());
        let seconds = words.next().and_then(|word| word.parse().ok());
        match (count, seconds) {
            (Some(count), Some(seconds)) if count > 0 && seconds > 0.0 => {
                Ok(Timed { count, seconds })
            }
            _ => Err(Failure(format!("{} answered {work} by {line:?}", self.driver))),
        }
    }

    /// It said why, each language in its way.
    fn ended(&mut self) -> Failure {
        let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let why = reason(&text).unwrap_or("it said nothing");
        Failure(format!("{} ended ({status}): {why}; see {}", self.driver, self.log.display()))
    }

    /// Its input is over, and it ends.
    pub fn stop(self) -> Result<(), Failure> {
        let Client { driver, mut child, input, lines, .. } = self;
        drop(input);
        // The lines are over when it ends; it has none left to say.
        let over = lines.recv_timeout(PATIENCE);
        if !matches!(over, Err(RecvTimeoutError::Disconnected)) {
            let _ = child.kill();
        }
        match child.wait() {
            Ok(status) if status.success() => Ok(()),
            other => Err(Failure(format!("{driver} did not end well: {other:?}"))),
        }
    }
}

/// The line of a program's last words that tells why it ended: Go's `panic: ...`, Java's `Exception in thread ...`, `...Error: ...`
/// of the others; without one, the last.
fn reason(words: &str) -> Option<&str> {
    let mut lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
    let tells = |line: &&str| {
        line.starts_with("panic: ")
            || line.starts_with("Exception in thread ")
            || line.split(' ').next().is_some_and(|word| word.ends_with("Error:"))
    };
    lines.clone().find(tells).or(lines.next_back())
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_line_that_tells_why_is_found_in_each_language() {
        let python = "Traceback (most recent call last):\n  raise ValueError(x)\nValueError: row 7 came as None\n";
        assert_eq!(reason(python), Some("ValueError: row 7 came as None"));
        let go = "panic: row 7 came as 8\n\ngoroutine 1 [running]:\nmain.main()\n";
        assert_eq!(reason(go), Some("panic: row 7 came as 8"));
        let java = "Exception in thread \"main\" java.sql.SQLException: no\n\tat RoundTrips.main\n";
        assert_eq!(reason(java), Some("Exception in thread \"main\" java.sql.SQLException: no"));
        let node = "node:internal\n\nConnectionError: refused\n    at x\n\nNode.js v20\n";
        assert_eq!(reason(node), Some("ConnectionError: refused"));
        assert_eq!(reason("so it ended\n"), Some("so it ended"));
        assert_eq!(reason(""), None);
    }
}
