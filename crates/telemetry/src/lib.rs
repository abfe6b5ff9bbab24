//! What waited, what spun, what was counted: recording only.
//!
//! Each thread writes cells of its own ([`shard`]), so recording is a load and a store and never an
//! atomic read-modify-write; whoever reads adds the shards up. Clearing takes a baseline that
//! readers subtract, so that it never races with a writer. Names are SQL Server's.
//!
//! Knows nothing of who records, why, or how the figures are shown. Reads no clock.
//!
//! The feature `no-stats` leaves all recording out. It exists to measure what recording costs
//! (`cargo xtask stats-cost`) and for nothing else: every view then shows zeros.
#![forbid(unsafe_code)]

/// Whether anything is recorded. Every recording function begins by asking; a caller asks before it
/// reads a clock for nothing but a statistic.
pub const RECORDING: bool = !cfg!(feature = "no-stats");

#[macro_use]
mod names;
pub mod commits;
pub mod counters;
mod histogram;
pub mod latches;
pub mod locks;
pub mod log_timing;
pub mod nodes;
mod shard;
pub mod spins;
pub mod waits;

pub use counters::Counter;
pub use histogram::Histogram;
pub use latches::LatchClass;
pub use locks::LockKind;
pub use log_timing::{LogPhase, LogScope, LogTimes};
pub use spins::SpinClass;
pub use waits::WaitType;

#[cfg(test)]
mod tests;
