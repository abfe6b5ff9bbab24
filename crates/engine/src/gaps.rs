//! Next-key locking: how a serializable reader keeps new rows out of what it has read.
//!
//! A gap is named by the key above it. The reader locks it (RangeS-S and the like) together with that key; an insert
//! asks for RangeI-N on the key above the new one, and keeps that until the row is in. Storage reports neighbours; who
//! locks them is decided here and in `locking.rs`.
//!
//! Which keys count: rows, and ghosts of unfinished transactions (they may come back). Ghosts of finished ones do not,
//! for readers and inserts alike: they may be purged at any time.
//!
//! **Inserts that nobody minds pay one relaxed load.** `TreeInner::guards` counts the transactions that may hold gap
//! locks in a tree. A reader raises it before it looks at a leaf, and copies every leaf under the leaf's latch. An
//! insert latches the leaf first and reads the count after. Latches of one leaf are in order: if the insert's came
//! first, the reader's copy has the row (and its stamp makes the reader wait); if the reader's came first, the insert
//! acquired the latch word after the reader had released it, and so sees the raised count, relaxed or not. It then
//! leaves the leaf and comes here.
//!
//! **Between asking and inserting** another key may come in between, so that the one asked about is no longer the next:
//! the insert looks again afterwards, and asks about the new one. If that is locked by now, it waits with the row in
//! place and uncommitted: a reader that meets it waits in turn, and one of them dies. That takes two inserts and a
//! reader within microseconds, and is safe.
//!
//! **A gap that is split stays locked.** Who inserts into a gap that itself has locked locks the new key's gap too.
//!
//! Nobody waits while holding a latch: a leaf only says that it must be asked for.

use crate::{EngineError, InsertHint, RowImage, Tree, Txn};
use lock_manager::{END_OF_TABLE, Gained, KeyMode, RowKey};
use mvcc::{Stamp, XidStatus};
use std::ops::Bound;
use std::sync::atomic::Ordering::*;
use storage::StorageError;
use transaction::{Bug, key_hash, planted};

/// The name of a key's lock.
#[inline]
pub(crate) fn name_of(tree: u64, key: &[u8]) -> RowKey {
    let hash = key_hash(tree, key);
    // One key in 2^64 shares its lock with the end of the table: that costs waiting, never correctness.
    RowKey { tree, hash }
}

/// The name of the gap above all keys.
pub(crate) fn end_of(tree: u64) -> RowKey {
    RowKey { tree, hash: END_OF_TABLE }
}

/// What a stamp says to who reads the newest state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Newest {
    /// A row; committed at this (or own).
    Row(log_manager::Lsn),
    /// Deleted, by us or for good.
    Gone { own: bool },
    /// Depends on this transaction.
    Unfinished(mvcc::Xid),
}

impl Txn {
    #[inline]
    pub(crate) fn newest(&self, stamp: Stamp) -> Newest {
        use log_manager::Lsn;
        let (csn, own) = match stamp.xid() {
            None => (stamp.csn().unwrap_or(Lsn::NONE), false),
            Some(xid) if xid == self.context.xid() => (Lsn::NONE, true),
            Some(xid) => match self.shared.xids.status(xid) {
                XidStatus::Committed(csn) => (csn, false),
                _ => return Newest::Unfinished(xid),
            },
        };
        if stamp.is_ghost() { Newest::Gone { own } } else { Newest::Row(csn) }
    }

    /// From here to the end of the transaction inserts into the tree ask about gaps.
    pub(crate) fn guard_gaps(&mut self, tree: &Tree) {
        let known = self.guards.iter().any(|t| t.number() == tree.number());
        if !known && !planted(Bug::NoGaps) {
            tree.inner.guards.fetch_add(1, SeqCst);
            self.guards.push(tree.clone());
        }
    }

    /// The lock above `key`.
    fn next_gap(&mut self, tree: &Tree, key: &[u8]) -> Result<RowKey, EngineError> {
        let mut scan = tree.inner.tree.scan(Bound::Excluded(key), Bound::Unbounded, false);
        loop {
            runtime::task::maybe_yield();
            let Some((stamp, next, _)) = scan.next().map_err(|e| self.doom(e.into()))? else {
                return Ok(end_of(tree.number()));
            };
            if !matches!(self.newest(stamp), Newest::Gone { own: false }) {
                return Ok(name_of(tree.number(), next));
            }
        }
    }

    /// Asks to insert `key` below `gap`; also shuts the part of a gap of ours that comes to lie below the new key.
    fn open_gap(&mut self, tree: &Tree, key: &[u8], gap: RowKey) -> Result<Gained, EngineError> {
        let ours = self.shared.locks.key_mode(&self.held, gap).guards_gap();
        let gained = self.lock_name(tree, gap, KeyMode::RANGE_I_N)?;
        if ours {
            let _ = self.lock_name(tree, name_of(tree.number(), key), KeyMode::RANGE_X_X)?;
        }
        Ok(gained)
    }

    /// An insert into a tree whose gaps somebody may have locked.
    #[cold]
    pub(crate) fn insert_into_gap(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut InsertHint,
    ) -> Result<(), EngineError> {
        loop {
            let mut gap = self.next_gap(tree, key)?;
            let mut gained = self.open_gap(tree, key, gap)?;
            let inserted = tree.inner.tree.insert(&mut self.context, key, row, hint);
            let result = match inserted {
                Ok(()) => loop {
                    let now = match self.next_gap(tree, key) {
                        Ok(now) if now == gap => break Ok(()),
                        Ok(now) => now,
                        Err(e) => break Err(e),
                    };
                    let more = self.open_gap(tree, key, now);
                    self.shared.locks.unlock_key(&mut self.held, gap, gained);
                    match more {
                        Ok(more) => (gap, gained) = (now, more),
                        Err(e) => return Err(e),
                    }
                },
                Err(StorageError::WaitFor(xid)) => {
                    self.shared.locks.unlock_key(&mut self.held, gap, gained);
                    self.wait_for(tree, xid, KeyMode::EXCLUSIVE)?;
                    continue;
                }
                Err(e) => Err(self.refuse(tree, e)),
            };
            self.shared.locks.unlock_key(&mut self.held, gap, gained);
            return result;
        }
    }
}
