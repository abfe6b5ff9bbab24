//! Row, table and transaction waits; deadlocks.
//!
//! Promise: who is granted a lock shares it only with compatible holders; who cannot be granted waits its turn, or
//! learns that it is the victim of a deadlock (1205) or out of time (1222). Intent locks on tables cost two writes to
//! lines of the caller's own slot while nobody wants the whole table.
//!
//! Knows nothing of rows, pages, logs or transaction states: a row is a number under a tree's number, an owner is a
//! number, and whether another transaction is over is asked through a closure.

#![forbid(unsafe_code)]

mod graph;
mod held;
mod manager;
mod mode;
mod rows;
mod tables;
mod wait;

#[cfg(test)]
mod tests;

pub use held::Held;
pub use manager::{LockError, LockInfo, LockManager};
pub use mode::{RowMode, TableMode};
pub use wait::Owner;

/// Name of a row lock: a tree and a hash of the key. Two keys with one hash share a lock, which costs waiting, never
/// correctness.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RowKey {
    pub tree: u64,
    pub hash: u64,
}
