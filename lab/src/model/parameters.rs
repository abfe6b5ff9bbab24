//! What the model is told: what was measured of the machine and the engine, and what runs.

use super::flush_times::FlushTimes;

/// How space in the log is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserve {
    Lanes,
    Spinlock,
}

/// Who writes the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Whoever commits or polls: no CPU of its own.
    Leader,
    /// A worker on this CPU, which sessions may share with it: then it waits for the running one's quantum, as SQL
    /// Server's does.
    On(usize),
}

/// A piece of work that ends in a record of the log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Nanoseconds of a CPU, the record's own way into the log left out.
    pub ns: f64,
    /// Of the log.
    pub bytes: f64,
}

/// What was measured, in nanoseconds unless said otherwise. Source of each: docs/lab.md, "predict".
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// A row that is a transaction by itself: begin, row and commit in one record.
    pub single: Piece,
    /// A row of a transaction of several.
    pub row: Piece,
    /// The commit of one of several, its beginning included.
    pub commit: Piece,
    /// Taking space and copying a record, every line at hand.
    pub copy_ns: f64,
    /// The log's lock taken and let go, its line at hand.
    pub lock_ns: f64,
    /// A cache line from core to core within a node.
    pub line_ns: f64,
    /// A line of the log's buffer written by a worker, when the log's writer had it last; from within a node.
    pub taken_ns: f64,
    /// A line of it read by the log's writer, from within a node.
    pub read_ns: f64,
    /// A spin.
    pub spin_ns: f64,
    /// From a wake until the task runs: on the waker's scheduler, and on another.
    pub turn_ns: f64,
    pub turn_other_ns: f64,
    /// Durable writes of the device.
    pub flushes: FlushTimes,
    /// Bytes of the log that may be unwritten.
    pub buffer_bytes: f64,
    /// Whether a line of the buffer that a worker writes was last the log writer's: so in a buffer that caches hold, and
    /// not in one that is larger, whose lines come from memory whoever had them.
    pub buffer_is_cached: bool,
    /// Flushes that may be on the way.
    pub queue_depth: usize,
    /// How long a running session keeps a CPU from the writer, at most.
    pub quantum_ns: f64,
    /// What a thread of a core takes longer while the core's other one works.
    pub sibling: f64,
}

/// What runs.
#[derive(Clone, Debug)]
pub struct Load {
    pub sessions: usize,
    /// CPUs that serve sessions.
    pub cpus: Vec<usize>,
    pub durable: bool,
    pub commit_every: u64,
    pub reserve: Reserve,
    pub writer: Writer,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    pub rows_per_s: f64,
    pub spins_per_row: f64,
    /// Of the CPUs' time, in spinning.
    pub spinning: f64,
    /// Of the CPUs' time, with a session on it.
    pub busy: f64,
    pub flushes_per_s: f64,
    /// Of the time, that a writer on a CPU of its own works.
    pub writing: f64,
}
