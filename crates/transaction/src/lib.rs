//! Transaction ids and states, snapshots, old row versions, and the envelope of a log record.
//!
//! Promise: a transaction's identity, state and commit number are always consistent with the log: a reader that sees
//! a commit number below its snapshot sees all of that transaction, else nothing; what a snapshot may still need is
//! kept; what is rolled back is rolled back by compensation records that recovery can repeat and continue.
//!
//! Knows nothing about files, checkpoints, sessions, or which locks a statement takes.

#![forbid(unsafe_code)]

mod context;
mod envelope;
mod ghosts;
mod hash;
mod seeded;
mod shared;
mod snapshots;
mod together;
mod undo;
mod versions;
mod xdesmgr;
mod xids;

#[cfg(test)]
mod tests;

pub use context::{FusedChange, FusedInsert, Guarded, Settling, Sweeper, TxnContext, Unlocked};
pub use envelope::{Envelope, Kind, SYSTEM_ENVELOPE_BYTES, TXN_ENVELOPE_BYTES};
pub use ghosts::{Ghosts, Place};
pub use hash::key_hash;
#[cfg(debug_assertions)]
pub use seeded::plant;
pub use seeded::{Bug, planted};
pub use shared::{LogOfStore, Shared};
pub use snapshots::{InUse, SnapshotCell, Snapshots};
pub use together::{
    append_together, fits_together, lease_together, may_replace, ops_together, stamp_together,
};
pub use undo::{Trees, undo_some, undo_to};
pub use versions::{VersionSeen, VersionStore};
pub use xdesmgr::XdesStats;
pub use xids::{TooManyTransactions, XidTable, epoch_of};
