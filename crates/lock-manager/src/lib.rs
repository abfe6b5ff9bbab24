//! Key, gap, table, transaction and application waits; deadlocks.
//!
//! Promise: who is granted a lock shares it only with compatible holders; who cannot be granted waits its turn, or
//! learns that it is the victim of a deadlock (1205) or out of time (1222). Intent locks on tables cost two writes to
//! lines of the caller's own slot while nobody wants the whole table.
//!
//! Knows nothing of rows, pages, logs or transaction states: a row is a number under a tree's number, an owner is a
//! number, and whether another transaction is over is asked through a closure.

#![forbid(unsafe_code)]

mod application;
mod graph;
mod held;
mod keys;
mod manager;
mod mode;
mod queue;
mod report;
mod tables;
mod wait;

#[cfg(test)]
mod tests;

pub use held::Held;
pub use manager::{DeadlockHook, Gained, LockError, LockManager};
pub use mode::{KeyMode, TableMode};
pub use report::{Deadlock, DeadlockMember, LockInfo, LockResource, WaitInfo};
pub use wait::Owner;

/// The hash of no key: names the gap above the last key of a tree.
pub const END_OF_TABLE: u64 = u64::MAX;

/// The tree of no table: its keys are names of application locks.
pub(crate) const APPLICATION: u64 = u64::MAX;

/// Name of a key lock: a tree and a hash of the key. Two keys with one hash share a lock, which costs waiting, never
/// correctness.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RowKey {
    pub tree: u64,
    pub hash: u64,
}
