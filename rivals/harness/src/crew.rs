//! Sessions at work: one thread each, with a connection of its own.
//!
//! They connect, stand at the line until told to go, and work until told to stop. A call of a procedure takes about
//! [`CALL_NS`], so that stopping is prompt and the cost of the call vanishes beside its rows.

use crate::error::RivalError;
use crate::latency::{LatencySnapshot, Recorder};
use crate::rival::{Connect, Job, Session, Work, session_key};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const CALL_NS: u64 = 50_000_000;
/// For all sessions to connect.
const CONNECT_LIMIT: Duration = Duration::from_secs(120);
const STACK_BYTES: usize = 512 << 10;

/// One session's counters, on cache lines of their own. Only its thread writes them.
#[repr(align(128))]
struct Counters {
    rows: AtomicU64,
    commits: AtomicU64,
    latency: Recorder,
}

struct Shared {
    job: Job,
    /// What each session does at most.
    shares: Vec<Option<u64>>,
    counters: Vec<Counters>,
    stop: AtomicBool,
    ended: AtomicUsize,
    line: Mutex<Line>,
    changed: Condvar,
}

#[derive(Default)]
struct Line {
    ready: usize,
    go: bool,
    failed: Option<RivalError>,
}

/// The sessions of a cell. Dropped, they stop.
pub struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Crew {
    /// Connects every session and stands it at the line. `shares`: what each does at most, one entry a session.
    pub fn assemble(
        connect: Connect,
        job: Job,
        shares: Vec<Option<u64>>,
    ) -> Result<Crew, RivalError> {
        assert_eq!(shares.len(), job.sessions, "a share for each session");
        let counters = (0..job.sessions).map(|_| Counters {
            rows: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            latency: Recorder::new(),
        });
        let shared = Arc::new(Shared {
            job,
            shares,
            counters: counters.collect(),
            stop: AtomicBool::new(false),
            ended: AtomicUsize::new(0),
            line: Mutex::new(Line::default()),
            changed: Condvar::new(),
        });
        let connect = Arc::new(connect);
        let mut crew = Crew { shared: shared.clone(), threads: Vec::new() };
        for index in 0..job.sessions {
            let (connect, shared) = (connect.clone(), shared.clone());
            let named = std::thread::Builder::new().name(format!("rival {index}"));
            let thread = named.stack_size(STACK_BYTES).spawn(move || {
                let done = connect(index).and_then(|session| work(session, index, &shared));
                if let Err(error) = done {
                    let mut line = shared.line.lock().unwrap_or_else(PoisonError::into_inner);
                    line.failed.get_or_insert(error.during(&format!("session {}", index + 1)));
                    shared.stop.store(true, Relaxed);
                    shared.changed.notify_all();
                }
                shared.ended.fetch_add(1, Relaxed);
            });
            crew.threads.push(thread.map_err(|error| {
                RivalError::plain(format!("no thread for session {}: {error}", index + 1))
            })?);
        }
        let until = Instant::now() + CONNECT_LIMIT;
        let mut line = shared.line.lock().unwrap_or_else(PoisonError::into_inner);
        while line.ready < job.sessions && line.failed.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let what = format!("{} of {} sessions had connected", line.ready, job.sessions);
                let seconds = CONNECT_LIMIT.as_secs();
                return Err(RivalError::plain(format!("only {what} after {seconds} s")));
            }
            let waited = shared.changed.wait_timeout(line, left);
            line = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let failed = line.failed.clone();
        drop(line);
        failed.map_or(Ok(crew), Err)
    }

    /// Lets them go.
    pub fn start(&self) {
        self.shared.line.lock().unwrap_or_else(PoisonError::into_inner).go = true;
        self.shared.changed.notify_all();
    }

    /// Rows acknowledged so far (of reads, those read), and transactions (of reads none).
    pub fn done(&self) -> (u64, u64) {
        let counters = self.shared.counters.iter();
        counters.fold((0, 0), |(rows, commits), c| {
            (rows + c.rows.load(Relaxed), commits + c.commits.load(Relaxed))
        })
    }

    /// One failed, or all have ended.
    pub fn has_ended(&self) -> bool {
        self.shared.ended.load(Relaxed) == self.shared.counters.len()
            || self.shared.stop.load(Relaxed)
    }

    /// Round trips, or commits that a session saw one by one.
    pub fn latency(&self) -> LatencySnapshot {
        LatencySnapshot::of(self.shared.counters.iter().map(|c| &c.latency))
    }

    /// Stops them and waits for their ends: rows acknowledged in all.
    pub fn stop(mut self) -> Result<u64, RivalError> {
        self.end();
        let line = self.shared.line.lock().unwrap_or_else(PoisonError::into_inner);
        match &line.failed {
            Some(error) => Err(error.clone()),
            None => Ok(self.done().0),
        }
    }

    fn end(&mut self) {
        self.shared.stop.store(true, Relaxed);
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                let mut line = self.shared.line.lock().unwrap_or_else(PoisonError::into_inner);
                line.failed.get_or_insert(RivalError::plain("a session's thread panicked"));
            }
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.end();
    }
}

fn work(mut session: Box<dyn Session>, index: usize, shared: &Shared) -> Result<(), RivalError> {
    {
        let mut line = shared.line.lock().unwrap_or_else(PoisonError::into_inner);
        line.ready += 1;
        shared.changed.notify_all();
        // A stop may be told without the lock: look again from time to time.
        while !line.go && !shared.stop.load(Relaxed) {
            let waited = shared.changed.wait_timeout(line, Duration::from_millis(50));
            line = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
    let share = shared.shares[index].unwrap_or(u64::MAX);
    match shared.job.work {
        Work::Procedure { commit_every, .. } => {
            calls(&mut *session, index, shared, share, commit_every, true)
        }
        Work::ProcedureRead { .. } => calls(&mut *session, index, shared, share, 1, false),
        Work::RoundtripInsert => round_trips(&mut *session, index, shared, share, None),
        Work::RoundtripRead { rows } => {
            round_trips(&mut *session, index, shared, share, Some(rows))
        }
    }
}

fn calls(
    session: &mut dyn Session,
    index: usize,
    shared: &Shared,
    share: u64,
    commit_every: u64,
    inserts: bool,
) -> Result<(), RivalError> {
    let counters = &shared.counters[index];
    // Begins small, so that the first calls of many durable sessions are short too.
    let mut chunk = commit_every * 8_u64.div_ceil(commit_every);
    let mut done = 0;
    while !shared.stop.load(Relaxed) && done < share {
        let rows = chunk.min(share - done);
        let began = Instant::now();
        if inserts {
            session.procedure(done, rows, &mut |ns| counters.latency.record(ns))?;
            counters.commits.fetch_add(rows.div_ceil(commit_every), Relaxed);
        } else {
            session.procedure_read(rows)?;
        }
        let took = began.elapsed().as_nanos().max(1);
        done += rows;
        counters.rows.store(done, Relaxed);
        let wanted = (u128::from(rows) * u128::from(CALL_NS) / took) as u64;
        let wanted = wanted.clamp(chunk / 4, chunk * 4);
        chunk = (wanted / commit_every).max(1) * commit_every;
    }
    Ok(())
}

fn round_trips(
    session: &mut dyn Session,
    index: usize,
    shared: &Shared,
    share: u64,
    reads_of: Option<u64>,
) -> Result<(), RivalError> {
    let counters = &shared.counters[index];
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15 ^ (index as u64 + 1));
    let mut sent = Instant::now();
    let mut done = 0;
    while !shared.stop.load(Relaxed) && done < share {
        match reads_of {
            Some(rows) => session.read(1 + (chance.next() % rows) as i64)?,
            None => {
                session.insert(session_key(index, done))?;
                counters.commits.store(done + 1, Relaxed);
            }
        }
        done += 1;
        counters.rows.store(done, Relaxed);
        let now = Instant::now();
        counters.latency.record((now - sent).as_nanos() as u64);
        sent = now;
    }
    Ok(())
}

/// Keys at random: xorshift64*, each session with a seed of its own.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }
}
