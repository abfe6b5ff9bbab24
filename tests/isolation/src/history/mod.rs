//! Histories of concurrent transactions, and what they may not contain.
//!
//! [`generate`](run::generate) runs transactions of reads and writes on registers (rows that are updated) and sets (rows
//! that are inserted under a key and read by range) from several sessions and notes what each saw. [`check`] makes Adya's
//! graph of them and names the anomalies.
//!
//! Every value written is written once, and every update tells which value it replaced: the order of versions is known,
//! not guessed.

mod graph;
pub mod run;

pub use graph::{Anomaly, check, forbidden};

/// The value of a register that is not there.
pub const NOTHING: i64 = -1;

/// What a transaction did, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Saw this value in a register.
    Read { key: i64, value: i64 },
    /// Put `value` into a register in the place of `before`.
    Write { key: i64, before: i64, value: i64 },
    /// Saw these members of a set: all of them.
    Members { key: i64, members: Vec<i64> },
    /// Added a member to a set.
    Add { key: i64, member: i64 },
}

/// A transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Transaction {
    pub session: usize,
    pub ops: Vec<Op>,
    pub committed: bool,
}
