//! What each session does at a moment, told by itself, and the log's figures, told by SQLite's hooks.
//!
//! A session's phase is one atomic that its own thread writes and the sampler reads. The log's counters are written by
//! whoever holds SQLite's write lock, so by one thread at a time.

use rival_harness::{ON_CPU, ThreadState, WaitClass};
use rusqlite::hooks::Wal;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Of pages in the log, at which they are copied to the database.
pub(crate) const CHECKPOINT_BYTES: u64 = 64 << 20;
/// A frame's header in the log (sqlite.org/fileformat2.html, 4.1).
const FRAME_HEADER_BYTES: u64 = 24;

/// What a session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    Absent,
    /// In a statement, or between two.
    Statement,
    /// Waits to be the writer.
    Queue,
    /// Writes its transaction to the log and flushes it.
    Commit,
    /// Copies the log's pages to the database.
    Checkpoint,
}

/// One session's, on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct Seat {
    phase: AtomicU8,
    thread: AtomicU32,
}

#[derive(Debug)]
pub(crate) struct Gauge {
    seats: Vec<Seat>,
    page_bytes: u64,
    /// Pages in the log after the last commit.
    log_pages: AtomicU64,
    pub log_bytes: AtomicU64,
    pub commits: AtomicU64,
    pub checkpoints: AtomicU64,
}

thread_local! {
    /// Of the session that this thread is: SQLite's log hook is a plain function.
    static SEATED: RefCell<Option<(Arc<Gauge>, usize)>> = const { RefCell::new(None) };
}

impl Gauge {
    pub fn new(sessions: usize, page_bytes: u64) -> Arc<Gauge> {
        let seat = || Seat { phase: AtomicU8::new(Phase::Absent as u8), thread: AtomicU32::new(0) };
        Arc::new(Gauge {
            seats: (0..sessions).map(|_| seat()).collect(),
            page_bytes,
            log_pages: AtomicU64::new(0),
            log_bytes: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            checkpoints: AtomicU64::new(0),
        })
    }

    pub fn checkpoint_pages(&self) -> u64 {
        CHECKPOINT_BYTES / self.page_bytes
    }

    /// This thread is session `index` from now on.
    pub fn sit(self: &Arc<Self>, index: usize) {
        let id = rustix::thread::gettid().as_raw_nonzero().get();
        self.seats[index].thread.store(id.unsigned_abs(), Relaxed);
        self.set(index, Phase::Statement);
        SEATED.with_borrow_mut(|seated| *seated = Some((self.clone(), index)));
    }

    pub fn leave(&self, index: usize) {
        self.set(index, Phase::Absent);
        SEATED.with_borrow_mut(|seated| *seated = None);
    }

    pub fn set(&self, index: usize, phase: Phase) {
        self.seats[index].phase.store(phase as u8, Relaxed);
    }

    /// A look at every session: its wait's name and class.
    pub fn look(
        &self,
        state: impl Fn(u32) -> Option<ThreadState>,
        see: &mut dyn FnMut(&str, WaitClass),
    ) {
        for seat in &self.seats {
            let phase = seat.phase.load(Relaxed);
            let phase = [Phase::Statement, Phase::Queue, Phase::Commit, Phase::Checkpoint]
                .into_iter()
                .find(|&known| known as u8 == phase);
            let Some(phase) = phase else { continue };
            let kernel = match phase {
                Phase::Queue => None,
                _ => state(seat.thread.load(Relaxed)),
            };
            let (name, class) = named(phase, kernel);
            see(name, class);
        }
    }
}

/// SQLite's hook after each commit in WAL mode: `pages` are in the log now.
pub(crate) fn committed(wal: &Wal, pages: i32) -> rusqlite::Result<()> {
    SEATED.with_borrow(|seated| {
        let Some((gauge, index)) = seated else { return Ok(()) };
        let pages = u64::try_from(pages).unwrap_or(0);
        let before = gauge.log_pages.load(Relaxed);
        // The log begins anew after a checkpoint of all of it.
        let written = if pages >= before { pages - before } else { pages };
        gauge.log_pages.store(pages, Relaxed);
        gauge.log_bytes.fetch_add(written * (gauge.page_bytes + FRAME_HEADER_BYTES), Relaxed);
        gauge.commits.fetch_add(1, Relaxed);
        if pages >= gauge.checkpoint_pages() {
            gauge.set(*index, Phase::Checkpoint);
            // A passive one: it copies what it may and waits for nobody.
            wal.checkpoint()?;
            gauge.checkpoints.fetch_add(1, Relaxed);
        }
        gauge.set(*index, Phase::Statement);
        Ok(())
    })
}

fn named(phase: Phase, kernel: Option<ThreadState>) -> (&'static str, WaitClass) {
    match (phase, kernel) {
        (Phase::Queue, _) => ("queue of writers", WaitClass::Lock),
        (_, Some(ThreadState::Running) | None) | (Phase::Absent, _) => (ON_CPU, WaitClass::Cpu),
        (Phase::Statement, Some(ThreadState::Device)) => ("statement: device", WaitClass::DataIo),
        // SQLite's own mutexes, or the sleep of its busy handler.
        (Phase::Statement, Some(ThreadState::Sleeping)) => ("statement: asleep", WaitClass::Lock),
        (Phase::Commit, Some(_)) => ("commit: log write", WaitClass::LogWrite),
        (Phase::Checkpoint, Some(_)) => ("checkpoint: device", WaitClass::DataIo),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_tells_the_phase_and_what_the_kernel_says() {
        let gauge = Gauge::new(4, 4096);
        for (index, phase) in [(0, Phase::Queue), (1, Phase::Commit), (2, Phase::Statement)] {
            gauge.set(index, phase);
        }
        let mut seen = Vec::new();
        gauge.look(|_| Some(ThreadState::Device), &mut |name, class| {
            seen.push((name.to_owned(), class));
        });
        let expected = [
            ("queue of writers", WaitClass::Lock),
            ("commit: log write", WaitClass::LogWrite),
            ("statement: device", WaitClass::DataIo),
        ];
        assert_eq!(seen, expected.map(|(name, class)| (name.to_owned(), class)));
        seen.clear();
        gauge.look(|_| Some(ThreadState::Running), &mut |_, class| {
            seen.push((String::new(), class))
        });
        let classes: Vec<_> = seen.iter().map(|(_, class)| *class).collect();
        assert_eq!(classes, [WaitClass::Lock, WaitClass::Cpu, WaitClass::Cpu]);
    }
}
