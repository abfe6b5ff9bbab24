//! What the sessions of a load that checks itself share: the workload, and what became of its transactions.

use super::Checked;
use crate::error::LabError;
use client::{Connection, Wire};
use runtime::clock;
use session::{ColumnMeta, Done, ResultSink, Session, SqlMessage};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use stdx::Prng;
use types::Value;
use workloads::{Answer, Ended, Lost, Sql};

/// Errors that transactions beside each other may meet: chosen to end a deadlock, a lock not given in time, a row that
/// changed since the snapshot.
const EXPLAINED: [i32; 3] = [1205, 1222, 3960];

/// See the file.
pub(crate) struct Referee {
    workload: Arc<dyn workloads::Workload>,
    rolled_back: AtomicU64,
    /// By number: how many, and what the first one said.
    refused: Mutex<BTreeMap<i32, (u64, String)>>,
}

/// What was checked, and what is wrong.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    pub rolled_back: u64,
    pub refused: BTreeMap<i32, u64>,
    pub wrong: Vec<String>,
}

impl Referee {
    pub fn new(checked: Checked) -> Arc<Referee> {
        Arc::new(Referee {
            workload: checked.make(),
            rolled_back: AtomicU64::new(0),
            refused: Mutex::default(),
        })
    }

    /// Batches that make its tables.
    pub fn set_up(&self) -> Vec<String> {
        self.workload.set_up()
    }

    /// The transactions of session `index`, as long as `goes_on` says so. `done` hears of each that has committed, and
    /// of the nanoseconds that it took.
    pub fn work(
        &self,
        index: usize,
        sql: &mut dyn Sql,
        goes_on: impl Fn() -> bool,
        mut done: impl FnMut(u64),
    ) -> Result<(), LabError> {
        let mut rng = Prng::new(stdx::mix64(index as u64 + 1));
        while goes_on() {
            let began_ns = clock::now_ns();
            match self.workload.step(index, &mut rng, sql) {
                Ok(Ended::Committed) => done(clock::now_ns() - began_ns),
                Ok(Ended::RolledBack) => drop(self.rolled_back.fetch_add(1, Relaxed)),
                Ok(Ended::Refused(number, text)) => self.note(number, text),
                Err(Lost) => {
                    let name = self.workload.name();
                    return Err(LabError::Connection(format!("{name}: the connection was lost")));
                }
            }
        }
        Ok(())
    }

    fn note(&self, number: i32, text: String) {
        let mut refused = self.refused.lock().unwrap_or_else(|e| e.into_inner());
        refused.entry(number).or_insert((0, text)).0 += 1;
    }

    /// Asks what is there, when no session is at work any more.
    pub fn judge(&self, sql: &mut dyn Sql) -> Result<Verdict, LabError> {
        let mut wrong = self.workload.check(sql).map_err(|Lost| {
            LabError::Connection("the connection was lost while the load checked itself".to_owned())
        })?;
        match sql.run("DBCC CHECKDB WITH NO_INFOMSGS") {
            Ok(answer) => {
                let said = answer.errors.iter();
                wrong.extend(said.map(|(number, text)| format!("DBCC CHECKDB: {number} {text}")));
            }
            Err(Lost) => wrong.push("DBCC CHECKDB lost its connection".to_owned()),
        }
        let refused = self.refused.lock().unwrap_or_else(|e| e.into_inner());
        let strange = refused.iter().filter(|(number, _)| !EXPLAINED.contains(number));
        wrong.extend(strange.map(|(number, (times, text))| {
            format!("{times} transactions were refused for no reason: {number} {text}")
        }));
        Ok(Verdict {
            rolled_back: self.rolled_back.load(Relaxed),
            refused: refused.iter().map(|(number, (times, _))| (*number, *times)).collect(),
            wrong,
        })
    }
}

/// Keeps all rows, and the errors.
#[derive(Default)]
struct Answers(Answer);

impl ResultSink for Answers {
    fn columns(&mut self, _: &[ColumnMeta]) {}

    fn row(&mut self, row: &[Value]) {
        self.0.rows.push(row.to_vec());
    }

    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() {
            self.0.errors.push((message.number, message.to_string()));
        }
    }
}

/// A session of an engine in this process.
pub(crate) struct InProcess<'a>(pub &'a mut Session);

impl Sql for InProcess<'_> {
    fn run(&mut self, batch: &str) -> Result<Answer, Lost> {
        let mut answers = Answers::default();
        // What failed has said so to the sink.
        let _ = self.0.execute(batch, &mut answers);
        Ok(answers.0)
    }
}

/// A connection to a server. After it was lost every further call is lost, too.
pub(crate) struct OverTheWire<'a, W> {
    connection: &'a mut Connection<W>,
    lost: bool,
}

impl<'a, W> OverTheWire<'a, W> {
    pub fn new(connection: &'a mut Connection<W>) -> OverTheWire<'a, W> {
        OverTheWire { connection, lost: false }
    }
}

impl<W: Wire> Sql for OverTheWire<'_, W> {
    fn run(&mut self, batch: &str) -> Result<Answer, Lost> {
        let mut answers = Answers::default();
        if self.lost || self.connection.execute(batch, &mut answers).is_err() {
            self.lost = true;
            return Err(Lost);
        }
        Ok(answers.0)
    }
}
