//! A transaction's side of a change of what it need not lock: an entry of an index, whose row it has locked.
//!
//! The stamp of an unfinished transaction keeps others out as a lock would (an insert has no other either): who meets it
//! waits for the transaction's end. What the stamp cannot do is to wait for those who came first: so the change is made only
//! if nobody has the key locked, or waits for it, which is asked with the leaf latched. Who locks the key after the answer
//! looks at the leaf after that (`engine`'s `locking.rs`): the table of locks orders his request behind the question, which
//! comes behind the latch, so he finds the leaf latched or changed.

use super::TxnContext;
use crate::key_hash;
use lock_manager::RowKey;
use mvcc::Stamp;
use storage::{Logged, OnExisting, OnWrite, PageOp, StorageError, TreeId, TxnLog};

/// See the file's first lines.
pub struct Unlocked<'a>(pub &'a mut TxnContext);

impl TxnLog for Unlocked<'_> {
    #[inline]
    fn ensure(&mut self, bytes: usize) -> Result<(), StorageError> {
        self.0.ensure(bytes)
    }

    #[inline]
    fn log(&mut self, op: &PageOp<'_>) -> Logged {
        self.0.log(op)
    }

    fn conflict(&mut self, existing: Stamp) -> OnExisting {
        self.0.conflict(existing)
    }

    #[inline]
    fn before_write(&mut self, existing: Stamp) -> OnWrite {
        self.0.before_write(existing)
    }

    #[inline]
    fn may_change(&self, tree: TreeId, key: &[u8]) -> bool {
        let hash = key_hash(tree.0.0, key);
        !self.0.shared.locks.is_key_locked(RowKey { tree: tree.0.0, hash })
    }

    fn purgeable(&self, ghost: Stamp, tree: TreeId, key: &mut dyn FnMut() -> Vec<u8>) -> bool {
        self.0.purgeable(ghost, tree, key)
    }

    fn emptied(&self, tree: TreeId, key: &[u8]) {
        self.0.emptied(tree, key);
    }
}
