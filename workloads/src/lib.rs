//! Workloads that check themselves, in T-SQL: money that is moved, a queue, lists that grow, a ledger.
//!
//! A [`Workload`] makes its tables, runs one transaction after the other for each of its workers, and says in the end
//! what is wrong. It keeps what it was told: acknowledged, refused, or unknown because the connection went away. Who
//! drives it decides what else happens meanwhile: nothing (the lab), or loss of power, failing disks and a network that
//! breaks (the simulator).
//!
//! Its tables lie on disk, in memory, or both ([`Tables`]): over tables in memory a transaction that another comes in the way
//! of is refused at once, or as it commits, and done again from its beginning, as any that is refused: by the next step.
//!
//! Promise: [`Workload::check`] names nothing as wrong that a correct server may do, whatever fails, and finds
//! what the page of each workload lists.
//!
//! Knows how to speak to a server only by [`Sql`].

#![forbid(unsafe_code)]

mod bank;
mod ledger;
mod list_append;
mod queue;

pub use bank::Bank;
pub use isolation::tables::{IN_MEMORY, is_retried};
pub use isolation::{Level, Tables};
pub use ledger::Ledger;
pub use list_append::ListAppend;
pub use queue::Queue;

use stdx::Prng;
use types::Value;

/// What a batch answered.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Answer {
    /// Rows of all result sets.
    pub rows: Vec<Vec<Value>>,
    /// Numbers and texts of the errors.
    pub errors: Vec<(i32, String)>,
}

impl Answer {
    fn is_good(&self) -> bool {
        self.errors.is_empty()
    }

    /// The integer in the first column of row `at`; `None`: there is no such row, or it is NULL.
    fn integer(&self, at: usize) -> Option<i64> {
        self.rows.get(at).and_then(|row| row.first()).and_then(integer)
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::TinyInt(v) => Some(i64::from(*v)),
        Value::SmallInt(v) => Some(i64::from(*v)),
        Value::Int(v) => Some(i64::from(*v)),
        Value::BigInt(v) => Some(*v),
        _ => None,
    }
}

/// The connection is gone. What was asked may have happened or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost;

/// A connection of one worker. After [`Lost`] every further call is lost, too.
pub trait Sql {
    /// Runs a batch in the workload's database.
    fn run(&mut self, batch: &str) -> Result<Answer, Lost>;
}

/// How a transaction ended for who asked for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    Committed,
    /// Rolled back because the workload wanted it.
    RolledBack,
    /// The server refused, with this.
    Refused(i32, String),
}

/// See the crate's page. Its methods are called from many workers at once.
pub trait Workload: Send + Sync {
    fn name(&self) -> &'static str;

    /// Batches that make its tables. Nothing fails meanwhile.
    fn set_up(&self) -> Vec<String>;

    /// One transaction of `worker`, which begins and ends with none open. After [`Lost`] the worker comes again with
    /// another connection.
    fn step(&self, worker: usize, rng: &mut Prng, sql: &mut dyn Sql) -> Result<Ended, Lost>;

    /// The server's machine has lost its power: what was acknowledged with delayed durability may be gone.
    fn power_lost(&self) {}

    /// What is wrong, when no worker is left. Nothing fails meanwhile.
    fn check(&self, sql: &mut dyn Sql) -> Result<Vec<String>, Lost>;
}

/// What is known of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Acknowledged,
    /// It did not happen, and never will have.
    Undone,
    Unknown,
}

/// Runs `COMMIT`; how the transaction ended, and whether that is known.
fn commit(sql: &mut dyn Sql) -> Result<(Fate, Ended), Lost> {
    let answer = sql.run("COMMIT")?;
    match answer.errors.first() {
        None => Ok((Fate::Acknowledged, Ended::Committed)),
        Some((number, text)) => {
            // A transaction that had been doomed before is gone; what else COMMIT says leaves it open.
            // So is one over tables in memory that has looked at what it has read before its commit was logged.
            let known = matches!(number, 1205 | 3902 | 3930 | 3960 | 3998) || is_retried(*number);
            let fate = if known { Fate::Undone } else { Fate::Unknown };
            let ended = Ended::Refused(*number, text.clone());
            // Where that fails too, the next step comes with another connection; this one's outcome is told all the same.
            roll_back(sql).ok();
            Ok((fate, ended))
        }
    }
}

/// Afterwards no transaction is open: a connection that cannot promise that is given up.
fn roll_back(sql: &mut dyn Sql) -> Result<(), Lost> {
    let answer = sql.run("IF @@TRANCOUNT > 0 ROLLBACK; SELECT @@TRANCOUNT")?;
    if answer.is_good() && answer.integer(0) == Some(0) { Ok(()) } else { Err(Lost) }
}

/// Takes back what a failed statement has left; says why it failed.
fn refused(sql: &mut dyn Sql, answer: &Answer) -> Result<Ended, Lost> {
    let (number, text) = answer.errors.first().cloned().unwrap_or_default();
    roll_back(sql)?;
    Ok(Ended::Refused(number, text))
}

/// A query of [`Workload::check`], during which nothing fails: its answer, or what is wrong.
fn ask(sql: &mut dyn Sql, batch: &str) -> Result<Result<Answer, String>, Lost> {
    let answer = sql.run(batch)?;
    Ok(match answer.errors.first() {
        None => Ok(answer),
        Some((number, text)) => Err(format!("the check was refused: {number} {text}: {batch}")),
    })
}
