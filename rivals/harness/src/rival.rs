//! What a rival must be able to do: one trait for the database, one for a session on it.

use crate::error::RivalError;
use crate::sample::Sampler;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Keys of one session; session `index` inserts `index * KEYS_OF_A_SESSION + 1` and up.
const KEYS_OF_A_SESSION: u64 = 10_000_000_000;

/// The key of a session's row number `n`, from 0.
pub fn session_key(index: usize, n: u64) -> i64 {
    (index as u64 * KEYS_OF_A_SESSION + 1 + n) as i64
}

/// Where a session's call number `call` of a procedure that reads at random begins, below 2^31.
pub fn read_seed(index: usize, call: u64) -> u64 {
    (index as u64 * 7_919 + call) * 104_729 % (1 << 31)
}

/// What a session does again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Calls a procedure in the rival's own language that inserts row after row.
    Procedure {
        /// Rows of a transaction; a multiple of `rows_per_insert`.
        commit_every: u64,
        /// Rows of one INSERT.
        rows_per_insert: u64,
    },
    /// Calls a procedure that reads row after row by its key, at random.
    ProcedureRead {
        /// The table's rows, keys 1 and up.
        rows: u64,
    },
    /// One prepared INSERT, its own transaction, per round trip.
    RoundtripInsert,
    /// One prepared SELECT of a row by its key, at random, per round trip.
    RoundtripRead {
        /// The table's rows, keys 1 and up.
        rows: u64,
    },
}

impl Work {
    /// The statement that a session of round trips prepares, of the rival's two; `None`: it calls a procedure.
    pub fn statement<'t>(&self, insert: &'t str, read: &'t str) -> Option<&'t str> {
        match self {
            Work::RoundtripInsert => Some(insert),
            Work::RoundtripRead { .. } => Some(read),
            _ => None,
        }
    }
}

/// What a cell asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    pub work: Work,
    pub sessions: usize,
    /// A commit does not wait for the device.
    pub delayed: bool,
}

/// Settings as the rival itself tells them, by its own names.
pub type Settings = BTreeMap<String, String>;

/// Running totals of a rival, as far as it tells them; a window is the difference of two.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    pub log_flushes: Option<u64>,
    pub log_bytes: Option<u64>,
    /// Of all its threads.
    pub context_switches: Option<u64>,
    pub page_reads: Option<u64>,
    pub page_writes: Option<u64>,
    /// Other counters of the rival's own, by its own names.
    pub counters: BTreeMap<String, f64>,
}

/// How a rival of the lab's own is to be started.
#[derive(Clone, Debug)]
pub struct Start {
    /// Its folder is made in here.
    pub data: PathBuf,
    /// Leave the folder.
    pub keep: bool,
    /// The CPUs it may use; empty: all.
    pub cpus: Vec<usize>,
    /// For its cache of pages.
    pub buffer_pool_bytes: u64,
    /// The most sessions that any cell will have.
    pub sessions_max: usize,
}

/// Makes session number N, from 0.
pub type Connect = Box<dyn Fn(usize) -> Result<Box<dyn Session>, RivalError> + Send + Sync>;

/// A database that is up.
pub trait Rival: Send {
    /// As it tells it.
    fn version(&self) -> &str;

    /// Those that matter to the workload.
    fn settings(&self) -> &Settings;

    /// How work and durability are mapped to it, and what to know before comparing; a sentence each.
    fn notes(&self, job: &Job) -> Vec<String>;

    /// Makes the table and the procedures of a cell, fresh, and leaves nothing to be written from before.
    fn prepare(&mut self, job: &Job) -> Result<(), RivalError>;

    /// Called by each session's own thread, of all sessions at once.
    fn connector(&self, job: &Job) -> Connect;

    /// CPU time of its processes so far, user and system; `None`: on another machine, or not told. Asked often.
    fn cpu_s(&self) -> Option<f64>;

    /// Begins to sample waits: called when the sessions stand at the line.
    fn watch(&mut self) -> Result<(), RivalError>;

    /// The waits sampled since [`Rival::watch`].
    fn sampled(&self) -> Option<&Sampler>;

    /// Totals of the server up to now.
    fn statistics(&mut self) -> Result<Statistics, RivalError>;

    /// Ends the sampling.
    fn unwatch(&mut self);

    /// Rows in the table.
    fn count(&mut self) -> Result<u64, RivalError>;

    /// Removes the table of the cell, and leaves nothing to be written later.
    fn clear(&mut self) -> Result<(), RivalError>;

    /// Stops what was started, and removes what was made.
    fn close(self: Box<Self>) -> Result<(), RivalError>;
}

/// One connection's work. It is made, used and dropped by one thread.
pub trait Session {
    /// Inserts `rows` rows, the session having inserted `done` already, with the job's commits in between. Tells the
    /// nanoseconds of each commit where it sees them one by one (a database in this process).
    fn procedure(
        &mut self,
        done: u64,
        rows: u64,
        commit_ns: &mut dyn FnMut(u64),
    ) -> Result<(), RivalError>;

    /// Reads `rows` rows, one by one.
    fn procedure_read(&mut self, rows: u64) -> Result<(), RivalError>;

    /// Inserts the row of `key` and commits.
    fn insert(&mut self, key: i64) -> Result<(), RivalError>;

    /// Reads the row of `key`; its absence is an error.
    fn read(&mut self, key: i64) -> Result<(), RivalError>;
}
