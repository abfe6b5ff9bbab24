//! The sessions: each calls the procedure again and again until told to stop.
//!
//! A call takes about [`CALL_NS`], so that stopping is prompt, figures are fine-grained, and the cost
//! of the call itself (parse, bind, compile) vanishes beside its rows.

use crate::checked::{InProcess, Referee};
use crate::error::LabError;
use crate::script;
use crate::workload::{Kind, Workload};
use executor_sink::Errors;
use runtime::{clock, task};
use session::{Instance, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use stdx::CachePadded;
use telemetry::WaitType;

const CALL_NS: u64 = 50_000_000;
/// Between two looks of a session at the line.
const LINE_NS: u64 = 500_000;

/// What the sessions share with the one who watches.
pub(crate) struct Shared {
    pub stop: AtomicBool,
    /// Sessions that stand at the line.
    pub ready: AtomicUsize,
    /// Set when all do: before, a session that ended would give its @@SPID, and with it its keys,
    /// to the next.
    pub start: AtomicBool,
    /// One per session: rows acknowledged.
    pub rows: Vec<CachePadded<AtomicU64>>,
    pub commits: Vec<CachePadded<AtomicU64>>,
    pub failed: AtomicBool,
}

impl Shared {
    pub fn new(sessions: usize) -> Arc<Shared> {
        let cells = || (0..sessions).map(|_| CachePadded::default()).collect();
        Arc::new(Shared {
            stop: AtomicBool::new(false),
            ready: AtomicUsize::new(0),
            start: AtomicBool::new(false),
            rows: cells(),
            commits: cells(),
            failed: AtomicBool::new(false),
        })
    }

    pub fn rows(&self) -> u64 {
        self.rows.iter().map(|c| c.load(Relaxed)).sum()
    }

    pub fn commits(&self) -> u64 {
        self.commits.iter().map(|c| c.load(Relaxed)).sum()
    }
}

/// One session's work.
#[derive(Clone)]
pub(crate) struct Work {
    pub index: usize,
    pub workload: Workload,
    /// Of a load that checks itself.
    pub referee: Option<Arc<Referee>>,
}

/// Starts the session's task.
pub(crate) fn spawn(
    instance: &Arc<Instance>,
    shared: &Arc<Shared>,
    work: Work,
) -> scheduler::JoinHandle<Result<(), LabError>> {
    let shared = shared.clone();
    instance.spawn_session(&format!("session {}", work.index), move |session| {
        let result = run(session, &shared, &work);
        if result.is_err() {
            shared.failed.store(true, Relaxed);
            shared.stop.store(true, Relaxed);
        }
        result
    })
}

fn run(session: &mut Session, shared: &Shared, work: &Work) -> Result<(), LabError> {
    let commit_every = work.workload.commit_every;
    let share = work.workload.share(work.index);
    execute(session, &format!("USE {};", script::DATABASE))?;
    shared.ready.fetch_add(1, Relaxed);
    while !shared.start.load(Relaxed) && !shared.stop.load(Relaxed) {
        task::sleep_ns(LINE_NS, WaitType::SleepTask);
    }
    if let Some(referee) = &work.referee {
        let goes_on = || !shared.stop.load(Relaxed);
        return referee.work(work.index, &mut InProcess(session), goes_on, |_| {
            shared.rows[work.index].fetch_add(1, Relaxed);
            shared.commits[work.index].fetch_add(1, Relaxed);
        });
    }
    if let Kind::Batch(batch) = work.workload.kind {
        let mut turn = 0;
        while !shared.stop.load(Relaxed) {
            let text = batch.text(work.index, turn);
            match batch.answer(work.workload.size) {
                None => execute(session, &text)?,
                Some(right) => match number(session, &text)? {
                    found if found == right => {}
                    found => {
                        let wrong = format!("the batch answered {found} and not {right}");
                        return Err(LabError::Wrong(vec![wrong]));
                    }
                },
            }
            turn += 1;
            shared.rows[work.index].store(turn * batch.rows(work.workload.size), Relaxed);
            if batch.writes() {
                shared.commits[work.index].store(turn, Relaxed);
            }
        }
        return Ok(());
    }
    // Begins small, so that the first calls of many durable sessions are short too.
    let mut chunk = commit_every * 8_u64.div_ceil(commit_every);
    let mut done = 0;
    while !shared.stop.load(Relaxed) {
        let left = share.map_or(u64::MAX, |rows| rows - done);
        if left == 0 {
            return Ok(());
        }
        let rows = chunk.min(left);
        let began = clock::now_ns();
        execute(session, &script::call(rows, done))?;
        let took = (clock::now_ns() - began).max(1);
        done += rows;
        shared.rows[work.index].store(done, Relaxed);
        shared.commits[work.index].fetch_add(work.workload.commits(rows), Relaxed);
        let wanted = (u128::from(rows) * u128::from(CALL_NS) / u128::from(took)) as u64;
        let wanted = wanted.clamp(chunk / 4, chunk * 4);
        chunk = (wanted / commit_every).max(1) * commit_every;
    }
    Ok(())
}

/// Runs a batch for its effect.
pub(crate) fn execute(session: &mut Session, batch: &str) -> Result<(), LabError> {
    let mut errors = Errors::default();
    let ran = session.execute(batch, &mut errors);
    errors.into_result(ran, batch)
}

/// Runs a query for its one number.
pub(crate) fn number(session: &mut Session, batch: &str) -> Result<u64, LabError> {
    let mut errors = Errors::default();
    let ran = session.execute(batch, &mut errors);
    let number = errors.number;
    errors.into_result(ran, batch)?;
    number.ok_or_else(|| LabError::Sql {
        number: 0,
        text: "no number came back".to_owned(),
        batch: batch.to_owned(),
    })
}

pub(crate) mod executor_sink {
    //! Keeps the first error, and the last row's first value.

    use crate::error::LabError;
    use session::{ColumnMeta, Done, ResultSink, SqlMessage};
    use types::Value;

    #[derive(Default)]
    pub struct Errors {
        first: Option<(i32, String)>,
        pub number: Option<u64>,
    }

    impl Errors {
        pub fn is_failed(&self) -> bool {
            self.first.is_some()
        }

        pub fn into_result(self, ran: Result<(), ()>, batch: &str) -> Result<(), LabError> {
            match (self.first, ran) {
                (None, Ok(())) => Ok(()),
                (first, _) => {
                    let (number, text) = first
                        .unwrap_or_else(|| (0, "the batch failed without a message".to_owned()));
                    Err(LabError::Sql { number, text, batch: batch.to_owned() })
                }
            }
        }
    }

    impl ResultSink for Errors {
        fn columns(&mut self, _: &[ColumnMeta]) {}

        fn row(&mut self, row: &[Value]) {
            self.number = match row.first() {
                Some(Value::BigInt(n)) => u64::try_from(*n).ok(),
                Some(Value::Int(n)) => u64::try_from(*n).ok(),
                _ => None,
            };
        }

        fn done(&mut self, _: Done) {}

        fn message(&mut self, message: &SqlMessage) {
            if message.is_error() && self.first.is_none() {
                self.first = Some((message.number, message.to_string()));
            }
        }
    }
}
