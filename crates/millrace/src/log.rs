//! The server's log: lines to standard error, written by a thread of their own.
//!
//! Promise: whoever logs never waits, and never fails, for where the lines go: a full disk, a pipe that nobody reads. Up
//! to [`QUEUED_BYTES_MAX`] wait to be written; further lines are left out, and counted in a line of their own. Where the
//! thread cannot be had (no memory, too many threads), lines are written by whoever logs: a server that cannot start must
//! be able to say why.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tracing_subscriber::fmt::MakeWriter;

/// What may wait to be written.
const QUEUED_BYTES_MAX: usize = 4 << 20;
/// A thread that has not begun to write after so long is not counted on.
const BEGIN: Duration = Duration::from_secs(2);
/// How long the end of the server waits for its last lines.
const LAST_WORDS: Duration = Duration::from_millis(500);

#[derive(Default)]
struct Queued {
    bytes: AtomicUsize,
    left_out: AtomicU64,
    /// There is no thread: lines are written at once.
    direct: AtomicBool,
}

/// See the file's first lines.
#[derive(Clone)]
pub struct Log {
    lines: Sender<Vec<u8>>,
    queued: Arc<Queued>,
}

/// The log that the end of the process waits for.
static LOG: Mutex<Option<Log>> = Mutex::new(None);

impl Log {
    /// Starts the thread, and waits until it runs.
    pub fn start() -> Log {
        let (log, lines) = Log::new();
        let queued = log.queued.clone();
        let (begun, wait) = channel();
        let write = move || {
            let _ = begun.send(());
            write_all(&lines, &queued, &mut io::stderr());
        };
        let runs =
            runtime::threads::spawn("log", write).is_ok() && wait.recv_timeout(BEGIN).is_ok();
        log.queued.direct.store(!runs, Relaxed);
        if let Ok(mut known) = LOG.lock() {
            *known = Some(log.clone());
        }
        log
    }

    fn new() -> (Log, Receiver<Vec<u8>>) {
        let (lines, queue) = channel();
        (Log { lines, queued: Arc::default() }, queue)
    }

    fn line(&self, bytes: &[u8]) {
        if self.queued.direct.load(Relaxed) {
            // What cannot be written is lost: there is nobody to tell.
            let _ = io::stderr().write_all(bytes);
            return;
        }
        let before = self.queued.bytes.fetch_add(bytes.len(), Relaxed);
        let full = before + bytes.len() > QUEUED_BYTES_MAX;
        if full || self.lines.send(bytes.to_vec()).is_err() {
            self.queued.bytes.fetch_sub(bytes.len(), Relaxed);
            self.queued.left_out.fetch_add(1, Relaxed);
        }
    }
}

/// Waits a moment until what was logged is written.
pub fn finish() {
    let Some(log) = LOG.lock().ok().and_then(|known| known.clone()) else { return };
    let until = Instant::now() + LAST_WORDS;
    while log.queued.bytes.load(Relaxed) > 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn write_all(lines: &Receiver<Vec<u8>>, queued: &Queued, to: &mut dyn Write) {
    while let Ok(line) = lines.recv() {
        // What cannot be written is lost: there is nobody to tell.
        let _ = to.write_all(&line);
        let left_out = queued.left_out.swap(0, Relaxed);
        if left_out > 0 {
            let _ = writeln!(to, "{left_out} lines of the log were left out");
        }
        queued.bytes.fetch_sub(line.len(), Relaxed);
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_for_a_log_that_is_not_written() {
        let (mut log, lines) = Log::new();
        let line = vec![b'x'; 1 << 20];
        for _ in 0..9 {
            log.write_all(&line).expect("it never fails");
        }
        assert_eq!(log.queued.left_out.load(Relaxed), 5);
        let queued = log.queued.clone();
        drop(log);
        let mut written = Vec::new();
        write_all(&lines, &queued, &mut written);
        let text = String::from_utf8_lossy(&written);
        assert!(text.contains("5 lines of the log were left out"));
        assert_eq!(queued.bytes.load(Relaxed), 0);
    }

    #[test]
    fn a_full_disk_ends_nothing() {
        let (mut log, lines) = Log::new();
        log.write_all(b"a line\n").expect("it never fails");
        let queued = log.queued.clone();
        drop(log);
        write_all(&lines, &queued, &mut Full);
        assert_eq!(queued.bytes.load(Relaxed), 0);
    }
}
