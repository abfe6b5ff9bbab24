//! The trail of one audit that is on: records go into a bounded queue, and its writer's task takes them from there.
//!
//! ```text
//! keep() -> queue, up to QUEUE_BYTES_MAX; who comes then waits -> writer: all that is there in one write, each delay_ms,
//!           or at once for who waits for it (delay 0)
//! ```
//!
//! Promises: `keep` returns Ok only if the record is durable (delay 0), or is queued while the writer is well; while it is
//! not, OnFailure::Continue drops records and counts them, the others refuse ([`Failed`]); the writer tries again each
//! [`RETRY_NS`]. What was queued before a failure is kept for the next try unless the audit goes on without.
//!
//! Lock order: `state` alone; never held across a wait.

use crate::format;
use crate::record::Record;
use device::FileSystem;
use parking_lot::Mutex;
use runtime::clock;
use runtime::task::{self, Waker};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use telemetry::WaitType;

/// Of frames that wait for the writer.
const QUEUE_BYTES_MAX: usize = 4 << 20;
/// How often a failed trail is tried again.
pub(crate) const RETRY_NS: u64 = 1_000_000_000;

/// What to do when a record cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    Continue,
    Shutdown,
    FailOperation,
}

/// How an audit writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrailOptions {
    /// The audit's name, for its files' names.
    pub name: String,
    pub guid: [u8; 16],
    pub folder: PathBuf,
    /// Of one file; none: no bound.
    pub bytes_max: Option<u64>,
    /// Files beside the one that is written.
    pub rollover_max: u32,
    /// When so many are there, no further one is made; 0: no bound.
    pub files_max: u32,
    /// The room of a file is taken when it is made.
    pub reserve: bool,
    /// 0: who has a record kept waits until it is durable.
    pub delay_ms: u32,
    pub on_failure: OnFailure,
}

/// The record is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed;

/// How it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Why the last write failed; none: it did not.
    pub failure: Option<String>,
    /// No file could be made.
    pub is_without_file: bool,
    /// When `failure` came or went, ns since 1970.
    pub since_unix_ns: u64,
    pub file: Option<PathBuf>,
    /// Bytes of it that are written.
    pub file_bytes: u64,
    /// Records that were not kept.
    pub lost: u64,
}

/// See the file's first lines.
pub struct Trail {
    pub(crate) options: TrailOptions,
    pub(crate) fs: Arc<dyn FileSystem>,
    pub(crate) state: Mutex<State>,
    /// Told of each failure that comes, with the text of the log; must not wait.
    pub(crate) on_failure: Box<dyn Fn(&str) + Send + Sync>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) queue: VecDeque<Entry>,
    pub(crate) queue_bytes: usize,
    /// Number of the next record.
    next: u64,
    /// Records before this one are written, or given up.
    pub(crate) settled: u64,
    /// Numbers of records that somebody waits for and that were not written.
    pub(crate) refused: Vec<u64>,
    /// Who waits for room, for a record or for the end.
    pub(crate) waiting: Vec<Waker>,
    pub(crate) writer: Option<Waker>,
    pub(crate) stopping: bool,
    pub(crate) ended: bool,
    /// Somebody waits for what is queued.
    pub(crate) urgent: bool,
    pub(crate) status: Status,
}

pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) frame: Vec<u8>,
    pub(crate) is_waited_for: bool,
}

impl Trail {
    /// Of an audit that is being turned on: its first file is made. Err: why it could not be; the trail is there all the
    /// same and tries again. Suspends.
    pub fn start(
        options: TrailOptions,
        fs: Arc<dyn FileSystem>,
        on_failure: Box<dyn Fn(&str) + Send + Sync>,
    ) -> (Arc<Trail>, Result<(), String>) {
        let state = State {
            status: Status { since_unix_ns: clock::unix_ns(), ..Status::default() },
            ..State::default()
        };
        let trail = Arc::new(Trail { options, fs, state: Mutex::new(state), on_failure });
        let first = trail.first_file();
        (trail, first)
    }

    pub fn options(&self) -> &TrailOptions {
        &self.options
    }

    pub fn status(&self) -> Status {
        self.state.lock().status.clone()
    }

    /// Whether a record of it must be kept for what happens to stand.
    pub fn is_strict(&self) -> bool {
        self.options.on_failure != OnFailure::Continue
    }

    /// Whether records could be kept now, as far as is known: what must not happen without one is not begun.
    pub fn is_well(&self) -> bool {
        !self.is_strict() || self.state.lock().status.failure.is_none()
    }

    /// Keeps a record. Suspends: for room in the queue, and where the delay is 0 until it is durable.
    pub fn keep(&self, record: Record) -> Result<(), Failed> {
        let wait = self.options.delay_ms == 0;
        let mut waited_for = Vec::new();
        let mut queued = Ok(());
        for part in record.parts() {
            let frame = format::frame(|out| part.encode(out));
            match self.enqueue(frame, wait) {
                Ok(Some((number, true))) => waited_for.push(number),
                Ok(Some((_, false))) => {}
                Ok(None) => break,
                Err(failed) => {
                    queued = Err(failed);
                    break;
                }
            }
        }
        // Each of them, whatever has become of the others.
        let kept = waited_for.into_iter().map(|number| self.wait_for(number));
        kept.fold(queued, Result::and)
    }

    /// Its number, and whether its fate is to be waited for: not where the audit goes on without what it cannot write. None:
    /// dropped, and that is as it should be.
    fn enqueue(&self, frame: Vec<u8>, wait: bool) -> Result<Option<(u64, bool)>, Failed> {
        if frame.len() > format::BODY_BYTES_MAX {
            return self.refuse();
        }
        loop {
            let mut state = self.state.lock();
            if state.ended {
                // It was turned off meanwhile: nobody wants the record any more.
                return Ok(None);
            }
            // Of one that goes on without, records are tried as long as there is room: they are what it tries with.
            if self.is_strict() && state.status.failure.is_some() {
                drop(state);
                return self.refuse();
            }
            if state.queue_bytes + frame.len() <= QUEUE_BYTES_MAX || state.queue.is_empty() {
                let (number, wait) = (state.next, wait && state.status.failure.is_none());
                state.next += 1;
                state.queue_bytes += frame.len();
                state.urgent |= wait || state.queue_bytes > QUEUE_BYTES_MAX / 2;
                let first = state.queue.is_empty();
                state.queue.push_back(Entry { number, frame, is_waited_for: wait });
                let writer = (first || state.urgent).then(|| state.writer.clone()).flatten();
                drop(state);
                if let Some(writer) = writer {
                    writer.wake();
                }
                return Ok(Some((number, wait)));
            }
            if state.status.failure.is_some() {
                state.status.lost += 1;
                return Ok(None);
            }
            state.urgent = true;
            state.waiting.push(task::current_waker());
            let writer = state.writer.clone();
            drop(state);
            if let Some(writer) = writer {
                writer.wake();
            }
            task::park(WaitType::IoCompletion, Some(clock::now_ns() + RETRY_NS));
        }
    }

    fn refuse<T>(&self) -> Result<Option<T>, Failed> {
        self.state.lock().status.lost += 1;
        match self.is_strict() {
            true => Err(Failed),
            false => Ok(None),
        }
    }

    fn wait_for(&self, number: u64) -> Result<(), Failed> {
        loop {
            let mut state = self.state.lock();
            if state.settled > number {
                let at = state.refused.iter().position(|refused| *refused == number);
                return match at.map(|at| state.refused.swap_remove(at)) {
                    Some(_) if self.is_strict() => Err(Failed),
                    _ => Ok(()),
                };
            }
            state.waiting.push(task::current_waker());
            drop(state);
            task::park(WaitType::IoCompletion, None);
        }
    }

    /// What is queued is written, and the writer ends; nothing is kept any more. Waits for that. Suspends.
    pub fn stop(&self) {
        loop {
            let mut state = self.state.lock();
            state.stopping = true;
            if state.ended {
                return;
            }
            state.waiting.push(task::current_waker());
            let writer = state.writer.clone();
            drop(state);
            if let Some(writer) = writer {
                writer.wake();
            }
            // The writer's task may not have begun.
            task::park(WaitType::IoCompletion, Some(clock::now_ns() + RETRY_NS / 20));
        }
    }
}
