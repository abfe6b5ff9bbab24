//! A script of a suite, in a process group of its own so that it ends whole: at its time, or when it keeps silent.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::run::Failure;

/// How a script ended.
pub enum End {
    /// By itself, with success or without: runners fail when a test fails.
    Itself(bool),
    /// We ended it, for this reason.
    Ended(String),
}

/// Runs a command with its output in a file. It may take `limit` in all, and be silent for `silence`.
pub fn run(
    command: &mut Command,
    log: &Path,
    limit: Duration,
    silence: Duration,
) -> Result<End, Failure> {
    let io = |error: std::io::Error| Failure(format!("{}: {error}", log.display()));
    let mut file = File::create(log).map_err(io)?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(|error| Failure(format!("{command:?}: {error}")))?;
    let (sender, receiver) = channel();
    let output = child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>);
    let errors = child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>);
    for mut stream in output.into_iter().chain(errors) {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
    }
    drop(sender);
    let start = Instant::now();
    let end = loop {
        let left = limit.saturating_sub(start.elapsed());
        match receiver.recv_timeout(left.min(silence)) {
            Ok(text) => file.write_all(&text).map_err(io)?,
            Err(RecvTimeoutError::Disconnected) => {
                break End::Itself(child.wait().is_ok_and(|status| status.success()));
            }
            Err(RecvTimeoutError::Timeout) if start.elapsed() >= limit => {
                break End::Ended(format!("ended after {} s", limit.as_secs()));
            }
            Err(RecvTimeoutError::Timeout) => {
                break End::Ended(format!("ended: silent for {} s", silence.as_secs()));
            }
        }
    };
    if matches!(end, End::Ended(_)) {
        end_group(&mut child);
    }
    Ok(end)
}

fn end_group(child: &mut Child) {
    let _ = Command::new("kill").args(["-KILL", "--"]).arg(format!("-{}", child.id())).status();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: u64, silence: u64) -> (End, String) {
        let number = std::thread::current().id();
        let name = format!("xtask-process-{}-{number:?}.log", std::process::id());
        let log = std::env::temp_dir().join(name);
        let (limit, silence) = (Duration::from_millis(limit), Duration::from_millis(silence));
        let end = run(Command::new("sh").args(["-c", script]), &log, limit, silence).unwrap();
        let text = std::fs::read_to_string(&log).unwrap();
        let _ = std::fs::remove_file(log);
        (end, text)
    }

    #[test]
    fn ends_by_itself_or_is_ended() {
        let (end, text) = shell("echo a; echo b >&2; exit 3", 5_000, 5_000);
        assert!(matches!(end, End::Itself(false)));
        assert!(text.contains('a') && text.contains('b'));
        assert!(matches!(shell("true", 5_000, 5_000).0, End::Itself(true)));
        // The grandchild keeps the pipe open: the whole group must end.
        let start = Instant::now();
        assert!(matches!(shell("echo a; sleep 60 & sleep 60", 5_000, 300).0, End::Ended(_)));
        let busy = "while true; do echo a; sleep 0.05; done";
        assert!(matches!(shell(busy, 400, 300).0, End::Ended(_)));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
