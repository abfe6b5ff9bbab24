//! The only change that a transaction logs, with its commit in the same record.
//!
//! For a transaction that has an id, since others have met it before this change is made (rows in memory, stamped with
//! it): [`super::FusedInsert`] and [`super::FusedChange`] are for those that have none. Recovery sees no difference.
//!
//! Invariant: the state of the id goes from active to committing to committed around the one append, with the leaf
//! latched: as long as the record is not logged the transaction may still be rolled back, and has nothing to undo.

use super::{TxnContext, append_for_good, on_existing, stamp_for_good};
use crate::envelope::SYSTEM_ENVELOPE_BYTES;
use log_manager::{Appended, Lease};
use mvcc::Stamp;
use storage::{Logged, OnExisting, OnWrite, PageOp, StorageError, TreeId, TxnLog};

/// See the file's first lines.
pub struct OnlyChange<'a> {
    context: &'a mut TxnContext,
    at: Option<Appended>,
}

impl<'a> OnlyChange<'a> {
    /// Of a transaction that has an id and has logged nothing.
    pub fn new(context: &'a mut TxnContext) -> OnlyChange<'a> {
        if context.xid.is_none() || !context.last.is_none() {
            stdx::fatal!("a change that is not the only one of its transaction");
        }
        OnlyChange { context, at: None }
    }

    /// Where the change was logged, if it was: its start is the commit number, and whoever waits for the transaction's
    /// end knows. Does not wait for the disk.
    pub fn end(self) -> Option<Appended> {
        let at = self.at?;
        let shared = &self.context.shared;
        if self.context.central {
            shared.xids.is_more_than_one_writer_active();
        }
        shared.locks.ended(self.context.xid.0);
        shared.log.give_back();
        Some(at)
    }
}

impl TxnLog for OnlyChange<'_> {
    #[inline]
    fn ensure(&mut self, bytes: usize) -> Result<(), StorageError> {
        Ok(self.context.shared.lease(bytes + SYSTEM_ENVELOPE_BYTES, Lease::Normal)?)
    }

    #[inline]
    fn log(&mut self, op: &PageOp<'_>) -> Logged {
        let (shared, xid) = (&*self.context.shared, self.context.xid);
        shared.xids.committing(xid);
        let at = append_for_good(shared, op);
        shared.xids.committed(xid, at.start);
        self.at = Some(at);
        Logged { stamp: stamp_for_good(shared, op, at), start: at.start, end: at.end }
    }

    fn conflict(&mut self, existing: Stamp) -> OnExisting {
        let (answer, csn) = on_existing(&self.context.shared, existing, self.context.xid);
        self.context.saw = self.context.saw.max(csn);
        answer
    }

    fn before_write(&mut self, existing: Stamp) -> OnWrite {
        self.context.before_write(existing)
    }

    fn purgeable(&self, ghost: Stamp, tree: TreeId, key: &mut dyn FnMut() -> Vec<u8>) -> bool {
        self.context.purgeable(ghost, tree, key)
    }

    fn emptied(&self, tree: TreeId, key: &[u8]) {
        self.context.emptied(tree, key);
    }
}
