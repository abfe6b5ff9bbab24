//! Who sees which version of a row: pure functions over stamps, snapshots and transaction states.
//!
//! Promise: every row carries one 64-bit [`Stamp`]; from it, a snapshot and a transaction's state, [`visible`]
//! decides without touching anything shared. A commit number (CSN) is the LSN of the commit record, so commit order
//! and visibility order are one.
//!
//! Knows nothing about pages, where older versions are kept, who holds locks, or how states are stored.

#![forbid(unsafe_code)]

mod stamp;
#[cfg(test)]
mod tests;
mod visibility;

pub use stamp::{Stamp, Xid};
pub use visibility::{Visibility, XidStatus, visible};
