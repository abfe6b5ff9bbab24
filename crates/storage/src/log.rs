//! The two doors to the log: one for changes of a transaction, one for the tree's own housekeeping.
//!
//! Invariants: `ensure` may suspend and is called with nothing latched; between a successful `ensure` and the `log`
//! it pays for, storage does not suspend. `log` is called with the page latched exclusively, before the page is
//! changed; whatever it is told has then happened.

use crate::{PageOp, StorageError, TreeId};
use log_manager::{LogError, Lsn};
use mvcc::{Stamp, Xid};

/// What became of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Logged {
    /// What to write on the row (ignored for ops that carry their own stamp or touch no row).
    pub stamp: Stamp,
    /// Where the record starts.
    pub start: Lsn,
    /// Where it ends: the page LSN.
    pub end: Lsn,
}

/// What to do about a row that is already under the key of an insert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnExisting {
    /// It is alive, or will be: the insert fails.
    Duplicate,
    /// It is a ghost that may be overwritten.
    ReplaceGhost,
    /// It depends on this transaction.
    Wait(Xid),
}

/// What to do about the row that an update or delete has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnWrite {
    /// Change it.
    Proceed,
    /// It is deleted: nothing to change.
    Gone,
    /// It depends on this transaction.
    Wait(Xid),
    /// It changed after the snapshot.
    Conflict,
}

/// A transaction's side of a change.
pub trait TxnLog {
    /// Makes sure that records of `bytes` in all can be logged without waiting. May suspend; nothing is latched.
    /// Covers records through either door: a leaf found full may be purged through [`SystemLog`] under the same latch.
    fn ensure(&mut self, bytes: usize) -> Result<(), StorageError>;

    /// The change cannot be made at once: from here on it may suspend before it is logged.
    #[inline]
    fn delayed(&mut self) {}

    /// Logs `op` in an envelope of the transaction's own and says what to stamp. The page is latched: never suspends.
    /// Ops that overwrite carry the old stamp and old row, for the version store.
    fn log(&mut self, op: &PageOp<'_>) -> Logged;

    /// An insert met a row stamped `existing`. The page is latched: never suspends.
    fn conflict(&mut self, existing: Stamp) -> OnExisting;

    /// An update or delete met a row stamped `existing`. The page is latched: never suspends.
    fn before_write(&mut self, existing: Stamp) -> OnWrite;

    /// Whether the row under `key`, which [`TxnLog::before_write`] has let pass, may be changed now: nobody has it
    /// locked. Asked with the leaf latched, before the change of a row that is not locked for it: who locks the row after
    /// that looks at it once he has the lock. Never suspends.
    #[inline]
    fn may_change(&self, tree: TreeId, key: &[u8]) -> bool {
        let _ = (tree, key);
        true
    }

    /// Whether somebody may have locked gaps of the tree, so that no key may come into one unasked. Asked with the
    /// leaf latched, after which a reader that latches the leaf sees the key: see `engine`'s `gaps.rs`.
    #[inline]
    fn gap_guarded(&self) -> bool {
        false
    }

    /// Whether a ghost with this stamp is committed and no snapshot needs it, so that its space may be reused. `key`
    /// gives the row's key.
    fn purgeable(&self, ghost: Stamp, tree: TreeId, key: &mut dyn FnMut() -> Vec<u8>) -> bool {
        let _ = (ghost, tree, key);
        false
    }

    /// Taking a row back has left the leaf of `key` without any. The page is latched: never suspends.
    fn emptied(&self, tree: TreeId, key: &[u8]) {
        let _ = (tree, key);
    }
}

/// Records that belong to no transaction: splits, allocation, purges. Redo-only.
pub trait SystemLog: Send + Sync {
    /// As [`TxnLog::ensure`].
    fn ensure(&self, bytes: usize) -> Result<(), LogError>;

    /// Logs `op`. Pages may be latched: never suspends.
    fn log(&self, op: &PageOp<'_>) -> Logged;
}
