//! What waited, what spun, what was counted: recording only.
//!
//! Each thread writes cells of its own ([`shard`]), so recording is a load and a store and never an
//! atomic read-modify-write; whoever reads adds the shards up. Clearing takes a baseline that
//! readers subtract, so that it never races with a writer. Names are SQL Server's.
//!
//! Knows nothing of who records, why, or how the figures are shown. Reads no clock.
#![forbid(unsafe_code)]

#[macro_use]
mod names;
pub mod commits;
pub mod counters;
pub mod latches;
pub mod locks;
mod shard;
pub mod spins;
pub mod waits;

pub use counters::Counter;
pub use latches::LatchClass;
pub use locks::LockKind;
pub use spins::SpinClass;
pub use waits::WaitType;

#[cfg(test)]
mod tests;
