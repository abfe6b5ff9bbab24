//! A committed row on its way from memory to the tree beside.
//!
//! Each change is a transaction of its own, one record, as [`super::FusedInsert`] is: what it writes has committed before,
//! so nothing would ever be undone, and a crash between two of them leaves rows that their own records, which the log
//! still has, bring up to date once more. Nobody else writes there and nobody reads, so no version is kept and nothing
//! is asked about locks.

use super::{append_for_good, on_existing, purgeable};
use crate::Shared;
use crate::envelope::SYSTEM_ENVELOPE_BYTES;
use log_manager::Lease;
use mvcc::{Stamp, Xid};
use storage::{Logged, OnExisting, OnWrite, PageOp, StorageError, TreeId, TxnLog};

/// See the file's first lines. Its records have room that was set aside when the rows were logged.
pub struct Settling<'a>(pub &'a Shared);

impl TxnLog for Settling<'_> {
    fn ensure(&mut self, bytes: usize) -> Result<(), StorageError> {
        Ok(self.0.lease(bytes + SYSTEM_ENVELOPE_BYTES, Lease::Rollback)?)
    }

    fn log(&mut self, op: &PageOp<'_>) -> Logged {
        let at = append_for_good(self.0, op);
        if let PageOp::Ghost { tree, key, .. } = *op {
            self.0.ghosts.note(tree.0.0, key);
        }
        Logged { stamp: Stamp::committed(at.start), start: at.start, end: at.end }
    }

    fn conflict(&mut self, existing: Stamp) -> OnExisting {
        on_existing(self.0, existing, Xid::NONE).0
    }

    fn before_write(&mut self, existing: Stamp) -> OnWrite {
        // Loading the tree has waited for whoever a crash had left unfinished there.
        if existing.is_ghost() { OnWrite::Gone } else { OnWrite::Proceed }
    }

    fn purgeable(&self, ghost: Stamp, tree: TreeId, key: &mut dyn FnMut() -> Vec<u8>) -> bool {
        purgeable(self.0, ghost, tree, key)
    }

    fn emptied(&self, tree: TreeId, key: &[u8]) {
        self.0.ghosts.note(tree.0.0, key);
    }
}
