//! A server's process: started, watched, and stopped by its own id.
//!
//! Invariants:
//! - It runs in a process group of its own, so that Ctrl-C on the terminal reaches the lab alone.
//! - It is stopped when the thread that started it dies, however that dies (`setpriv --pdeathsig`, where the
//!   machine has util-linux).
//! - Dropping it stops it: by its stop signal, and by SIGKILL when that has done nothing for a minute.

use crate::error::RivalError;
use crate::place::{Account, find_program};
use crate::procfs;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// For a server to stop after its signal.
const STOP_LIMIT: Duration = Duration::from_secs(60);
/// For a server to answer after its start.
const START_LIMIT: Duration = Duration::from_secs(120);
/// For a program that prepares a folder.
const PREPARE_LIMIT: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(10);
/// Lines of a log that an error repeats.
const TAIL_LINES: usize = 12;

/// How programs of a server are run.
#[derive(Clone, Debug)]
pub struct Launch {
    /// `None`: one's own.
    pub account: Option<Account>,
    /// Where they stand while they run.
    pub folder: PathBuf,
    /// The CPUs they may use; empty: all.
    pub cpus: Vec<usize>,
    /// A server stops in order on this signal: of PostgreSQL SIGINT, of MariaDB SIGTERM.
    pub interrupt: bool,
}

impl Launch {
    fn command(&self, program: &Path, arguments: &[OsString]) -> Command {
        let mut words: Vec<OsString> = Vec::new();
        if !self.cpus.is_empty() {
            let list: Vec<String> = self.cpus.iter().map(ToString::to_string).collect();
            words.extend(["taskset".into(), "--cpu-list".into(), list.join(",").into()]);
        }
        let setpriv = find_program(&["setpriv"], &[]);
        if let Some(setpriv) = &setpriv {
            // PostgreSQL's parent must tell its children. MariaDB is one process, and a SIGTERM during its start can
            // leave it hanging for ever; its folder is not needed any more.
            let signal = if self.interrupt { "INT" } else { "KILL" };
            words.extend([setpriv.into(), "--pdeathsig".into(), signal.into()]);
            if let Some(account) = &self.account {
                words.extend([
                    "--reuid".into(),
                    account.uid.to_string().into(),
                    "--regid".into(),
                    account.gid.to_string().into(),
                    "--clear-groups".into(),
                ]);
            }
            words.push("--".into());
        }
        words.push(program.into());
        words.extend_from_slice(arguments);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&self.folder).stdin(Stdio::null());
        if setpriv.is_none()
            && let Some(account) = &self.account
        {
            command.uid(account.uid).gid(account.gid);
        }
        command.process_group(0);
        command
    }

    /// Runs a program that prepares something, to its end; an exit other than zero is an error that repeats what it
    /// said. It reads `input`, or nothing.
    pub fn run(
        &self,
        program: &Path,
        arguments: &[OsString],
        input: Option<&Path>,
    ) -> Result<(), RivalError> {
        let log = self.folder.join("prepare.log");
        let mut process = ServerProcess::spawn(self, program, arguments, input, &log)?;
        let status = process.wait(PREPARE_LIMIT)?;
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(RivalError::plain(format!(
                "{} ended with {status}:\n{}",
                program.display(),
                tail(&log)
            ))),
            None => Err(RivalError::plain(format!(
                "{} had not ended after {} s",
                program.display(),
                PREPARE_LIMIT.as_secs()
            ))),
        }
    }
}

/// A server that was started here.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    program: PathBuf,
    log: PathBuf,
    stop: Signal,
}

impl ServerProcess {
    /// Starts it; what it says goes to the file `log`.
    pub fn start(
        launch: &Launch,
        program: &Path,
        arguments: &[OsString],
        log: &Path,
    ) -> Result<ServerProcess, RivalError> {
        ServerProcess::spawn(launch, program, arguments, None, log)
    }

    fn spawn(
        launch: &Launch,
        program: &Path,
        arguments: &[OsString],
        input: Option<&Path>,
        log: &Path,
    ) -> Result<ServerProcess, RivalError> {
        let spawn = || {
            let out = File::create(log)?;
            let mut command = launch.command(program, arguments);
            if let Some(input) = input {
                command.stdin(File::open(input)?);
            }
            command.stdout(out.try_clone()?).stderr(out).spawn()
        };
        if !launch.cpus.is_empty() && find_program(&["taskset"], &[]).is_none() {
            return Err(RivalError::new(
                "a server is kept to its CPUs by `taskset`, which is not here",
                "install util-linux, or leave --cpus out",
            ));
        }
        let child = spawn().map_err(|error| {
            RivalError::plain(format!("{} cannot be started: {error}", program.display()))
        })?;
        Ok(ServerProcess {
            child,
            program: program.to_owned(),
            log: log.to_owned(),
            stop: if launch.interrupt { Signal::INT } else { Signal::TERM },
        })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// CPU time of the server's processes so far, user and system.
    pub fn cpu_s(&self) -> Option<f64> {
        procfs::process_tree_cpu_s(self.id())
    }

    /// Context switches of all its threads; reads a file for each.
    pub fn context_switches(&self) -> Option<u64> {
        procfs::process_tree_switches(self.id())
    }

    /// Tries until the server answers, or has ended, or has not answered for two minutes.
    pub fn wait_until_up<T>(
        &mut self,
        mut attempt: impl FnMut() -> Result<T, RivalError>,
    ) -> Result<T, RivalError> {
        let until = Instant::now() + START_LIMIT;
        loop {
            if let Some(status) = self.wait(Duration::ZERO)? {
                return Err(RivalError::plain(format!(
                    "{} ended with {status} instead of serving:\n{}",
                    self.program.display(),
                    tail(&self.log)
                )));
            }
            match attempt() {
                Ok(answer) => return Ok(answer),
                Err(error) if Instant::now() > until => {
                    return Err(error.during(&format!(
                        "{} had not answered after {} s",
                        self.program.display(),
                        START_LIMIT.as_secs()
                    )));
                }
                Err(_) => std::thread::sleep(LOOK),
            }
        }
    }

    /// Waits so long for its end; `None`: it still runs.
    fn wait(&mut self, limit: Duration) -> Result<Option<ExitStatus>, RivalError> {
        let until = Instant::now() + limit;
        loop {
            let status = self.child.try_wait().map_err(|error| {
                RivalError::plain(format!("{}: {error}", self.program.display()))
            })?;
            if status.is_some() || Instant::now() >= until {
                return Ok(status);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Stops it in order; one that does not stop is killed, and that is told.
    pub fn stop(mut self) -> Result<(), RivalError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), RivalError> {
        if self.wait(Duration::ZERO)?.is_some() {
            return Ok(());
        }
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let told = id.is_some_and(|id| kill_process(id, self.stop).is_ok());
        if told && self.wait(STOP_LIMIT)?.is_some() {
            return Ok(());
        }
        let killed = self.child.kill().and_then(|()| self.child.wait());
        Err(RivalError::plain(format!(
            "{} (process {}) did not stop in {} s and was killed{}",
            self.program.display(),
            self.child.id(),
            STOP_LIMIT.as_secs(),
            killed.err().map(|error| format!(": {error}")).unwrap_or_default()
        )))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("{error}");
        }
    }
}

/// The last lines of a log.
fn tail(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}
