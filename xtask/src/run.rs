//! One command of a check: printed, run, timed, and a failure if it exits non-zero.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Why a check stopped.
#[derive(Debug)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A command with the promise it checks.
pub struct Step {
    promise: String,
    command: Command,
}

/// A `cargo` command, run in the workspace.
pub fn cargo(promise: &str, arguments: &[&str]) -> Step {
    Step::new(promise, "cargo").args(arguments.iter().copied())
}

impl Step {
    pub fn new(promise: &str, program: &str) -> Step {
        let mut command = Command::new(program);
        command.current_dir(workspace());
        Step { promise: promise.to_owned(), command }
    }

    pub fn arg(mut self, argument: impl Into<String>) -> Step {
        self.command.arg(argument.into());
        self
    }

    pub fn args<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Step {
        self.command.args(arguments);
        self
    }

    pub fn env(mut self, name: &str, value: impl Into<String>) -> Step {
        self.command.env(name, value.into());
        self
    }

    pub fn run(mut self) -> Result<(), Failure> {
        println!("xtask: {}", self.promise);
        let start = Instant::now();
        let status = self
            .command
            .status()
            .map_err(|error| Failure(format!("{}: cannot start: {error}", self.promise)))?;
        if !status.success() {
            return Err(Failure(format!("{}: {status} from {:?}", self.promise, self.command)));
        }
        println!("xtask: {}: passed in {:.1} s", self.promise, start.elapsed().as_secs_f64());
        Ok(())
    }
}

/// The folder of the workspace's Cargo.toml.
pub fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").into()
}

/// Where cargo puts what it builds.
pub fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}
