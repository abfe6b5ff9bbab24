//! The two ways a change gets into the log: in a transaction's chain of records, or as a transaction of its own.
//!
//! Invariants of a chain: `last` is the newest record of the transaction, each record names the one before; a
//! compensation names the next one to undo. Nothing here suspends between a lease and the append that it pays for.

mod settling;
mod unlocked;

pub use settling::Settling;
pub use unlocked::Unlocked;

use crate::envelope::{self, Kind, SYSTEM_ENVELOPE_BYTES, TXN_ENVELOPE_BYTES};
use crate::shared::wall_us;
use crate::{Shared, TooManyTransactions, key_hash};
use lock_manager::{Owner, RowKey};
use log_manager::{Appended, Lease, LogError, Lsn, record_bytes};
use mvcc::{Stamp, Xid, XidStatus};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use storage::{Logged, OnExisting, OnWrite, OpHeader, PageOp, StorageError, TreeId, TxnLog};

/// A transaction's side of its changes.
pub struct TxnContext {
    owner: Owner,
    xid: Xid,
    /// No record of the transaction is below.
    first: Lsn,
    last: Lsn,
    /// Where the newest record ends.
    end: Lsn,
    /// The newest commit this transaction has seen by looking past its snapshot (duplicates, latest rows).
    saw: Lsn,
    /// Changes of rows that committed at or after this are conflicts (SNAPSHOT isolation).
    conflict_from: Option<Lsn>,
    /// While undoing: what the next compensation names.
    undo_next: Option<Lsn>,
    /// Log that taking it back takes, in bytes, and how much of it is set aside.
    undo_needs: u64,
    undo_aside: u64,
    /// It counts as an active writer of the classic transaction manager.
    central: bool,
    /// Hashes of the keys of which versions were kept, the first [`KEPT_MAX`] of them, by the transaction with this id,
    /// which may have ended.
    kept: Vec<u64>,
    kept_by: Xid,
    shared: std::sync::Arc<Shared>,
}

/// A transaction whose undoing takes no more sets nothing aside: the log keeps some room for all of those.
const UNDO_FREE: u64 = 16 << 10;
/// What is set aside at a time.
const UNDO_PORTION: u64 = 64 << 10;
/// What a compensation takes besides key and row, at most.
const UNDO_ENVELOPE: usize = 128;

/// About what the compensation of an op takes.
#[inline]
fn undo_bytes(op: &PageOp<'_>) -> u64 {
    let bytes = match *op {
        PageOp::Insert { key, .. } | PageOp::Ghost { key, .. } => key.len(),
        PageOp::Update { key, old_row, .. } => key.len() + old_row.len(),
        _ => return 0,
    };
    (bytes + UNDO_ENVELOPE) as u64
}

/// Versions that a transaction takes along when it ends; those of further changes are collected in the background.
const KEPT_MAX: usize = 1024;

impl TxnContext {
    /// Without a transaction.
    pub fn new(shared: std::sync::Arc<Shared>, owner: Owner) -> TxnContext {
        TxnContext {
            owner,
            xid: Xid::NONE,
            first: Lsn::NONE,
            last: Lsn::NONE,
            end: Lsn::NONE,
            saw: Lsn::NONE,
            conflict_from: None,
            undo_next: None,
            undo_needs: 0,
            undo_aside: 0,
            central: false,
            kept: Vec::new(),
            kept_by: Xid::NONE,
            shared,
        }
    }

    /// A transaction found in the log by recovery, to be undone.
    pub fn of_loser(shared: std::sync::Arc<Shared>, xid: Xid, last: Lsn) -> TxnContext {
        let mut context = TxnContext::new(shared, Owner(0));
        context.xid = xid;
        context.last = last;
        context
    }

    /// [`Xid::NONE`] before the first write.
    #[inline]
    pub fn xid(&self) -> Xid {
        self.xid
    }

    /// The newest record of the transaction.
    #[inline]
    pub fn last(&self) -> Lsn {
        self.last
    }

    /// Where that ends.
    #[inline]
    pub fn end(&self) -> Lsn {
        self.end
    }

    /// About how much log it has written, with what others wrote meanwhile: what undoing would have to look at.
    pub fn log_bytes(&self) -> u64 {
        self.last.0.saturating_sub(self.first.0)
    }

    /// Its side of changes in a tree whose gaps somebody may have locked: see [`Guarded`].
    #[inline]
    pub fn guarded<'a>(&'a mut self, guards: &'a AtomicU32) -> Guarded<'a> {
        Guarded { context: self, guards }
    }

    /// The newest commit it has seen other than through its snapshot.
    pub fn saw(&self) -> Lsn {
        self.saw
    }

    /// Notes that it has seen a row committed at `csn`.
    #[inline]
    pub fn note_seen(&mut self, csn: Lsn) {
        self.saw = self.saw.max(csn);
    }

    /// Sets from where on foreign commits are conflicts.
    pub fn set_conflict_from(&mut self, snapshot: Option<Lsn>) {
        self.conflict_from = snapshot;
    }

    /// Forgets the transaction; its end has been logged or it has done nothing.
    pub fn reset(&mut self) {
        self.xid = Xid::NONE;
        self.first = Lsn::NONE;
        self.last = Lsn::NONE;
        self.end = Lsn::NONE;
        self.saw = Lsn::NONE;
        self.conflict_from = None;
        self.undo_needs = 0;
        self.give_up_aside();
        self.leave_central();
    }

    fn give_up_aside(&mut self) {
        if self.undo_aside > 0 {
            self.shared.log.give_up_aside(std::mem::take(&mut self.undo_aside));
        }
    }

    /// What the next changes need beyond what every transaction may is set aside, a portion at a time. Suspends.
    #[cold]
    fn set_aside(&mut self) -> Result<(), LogError> {
        let more = (self.undo_needs - self.undo_aside).max(UNDO_PORTION);
        self.shared.log.set_aside(more)?;
        self.undo_aside += more;
        Ok(())
    }

    #[inline]
    fn leave_central(&mut self) {
        if std::mem::take(&mut self.central) {
            self.shared.xids.leave_central();
        }
    }

    /// Makes sure that there is an id. Before the first record.
    pub fn ensure_xid(&mut self) -> Result<(), TooManyTransactions> {
        if self.xid.is_none() {
            let shared = &self.shared;
            let tail = shared.log.tail();
            let mut horizon = shared.snapshots.horizon();
            if shared.xids.wants_horizon(horizon) {
                horizon = shared.snapshots.advance(&shared.log).horizon;
            }
            (self.xid, self.central) = shared.xids.begin_central(self.owner, tail, horizon)?;
            self.first = tail;
            self.kept.clear();
            self.kept_by = self.xid;
        }
        Ok(())
    }

    /// Appends a record that is not an op of storage. The xid must be there.
    pub fn log_note(
        &mut self,
        kind: Kind,
        body: &[u8],
        lease: Lease,
    ) -> Result<Appended, LogError> {
        self.shared.lease(TXN_ENVELOPE_BYTES + body.len(), lease)?;
        let prev = self.undo_next.unwrap_or(self.last);
        let envelope = envelope::long(kind, 0, self.xid, prev);
        let at = self.shared.log.append(&[&envelope, body]);
        (self.last, self.end) = (at.start, at.end);
        Ok(at)
    }

    /// Appends the commit record, with images of `rows` in memory if there are any, and publishes the commit number. Does
    /// not wait for the disk.
    pub fn log_commit(&mut self, rows: &[u8]) -> Result<Appended, LogError> {
        let (kind, lease) = match rows.is_empty() {
            true => (Kind::Commit, Lease::Rollback),
            false => (Kind::RowsCommit, Lease::Normal),
        };
        self.shared.lease(TXN_ENVELOPE_BYTES + rows.len(), lease)?;
        if self.central {
            self.shared.xids.is_more_than_one_writer_active();
        }
        let envelope = envelope::long(kind, wall_us(), self.xid, self.last);
        self.shared.xids.committing(self.xid);
        let at = self.shared.log.append(&[&envelope, rows]);
        self.shared.xids.committed(self.xid, at.start);
        self.shared.locks.ended(self.xid.0);
        self.shared.log.give_back();
        Ok(at)
    }

    /// The transaction has committed at `at`: the versions before its changes go, if nobody reads, or may come to read,
    /// below that. Whether they are done with.
    #[inline]
    pub fn forget_versions(&mut self, at: Lsn) -> bool {
        if self.kept.is_empty() {
            return true;
        }
        let shared = &*self.shared;
        let all_above = shared.are_all_above_at(at);
        if all_above {
            shared.versions.forget(self.kept_by, &self.kept, &shared.ghosts);
            self.kept.clear();
        }
        all_above
    }

    /// Appends the record that ends a rollback and publishes it.
    pub fn log_abort(&mut self) -> Result<(), LogError> {
        self.log_note(Kind::Abort, &[], Lease::Rollback)?;
        self.publish_abort();
        Ok(())
    }

    /// Publishes the end of a rollback.
    pub fn publish_abort(&mut self) {
        self.shared.xids.aborted(self.xid, self.shared.log.tail());
        self.shared.locks.ended(self.xid.0);
        self.shared.log.give_back();
    }

    /// From here on ops are compensations after which undoing goes on at `next`.
    pub(crate) fn undoing(&mut self, next: Option<Lsn>) {
        self.undo_next = next;
    }
}

impl Drop for TxnContext {
    fn drop(&mut self) {
        self.give_up_aside();
        self.leave_central();
    }
}

/// Keeps the before-image of what `op` overwrites, and says what must be added to the new stamp; the hash of a key of
/// which a version was kept goes to `kept`.
#[inline]
fn keep_version(
    shared: &Shared,
    op: &PageOp<'_>,
    own: Xid,
    by: Stamp,
    kept: impl FnOnce(u64),
) -> Stamp {
    let (tree, key, old, row, replaced_by) = match *op {
        PageOp::Update { tree, key, old_stamp, old_row, .. } => (tree, key, old_stamp, old_row, by),
        PageOp::Ghost { tree, key, old_stamp, row, .. } => (tree, key, old_stamp, row, by.ghost()),
        _ => return by,
    };
    if old.xid().is_some_and(|x| x == own) {
        // Nobody but us has ever seen the row that goes.
        if replaced_by.is_ghost() {
            shared.ghosts.note(tree.0.0, key);
        }
        return if old.has_older() { by.with_older() } else { by };
    }
    let hash = key_hash(tree.0.0, key);
    shared.versions.push(tree.0.0, key, hash, old, row, replaced_by);
    kept(hash);
    by.with_older()
}

impl TxnLog for TxnContext {
    fn ensure(&mut self, bytes: usize) -> Result<(), StorageError> {
        if self.xid.is_none() {
            self.ensure_xid().map_err(|_| LogError::LogFull { reason: "ACTIVE_TRANSACTION" })?;
        }
        let lease = if self.undo_next.is_some() { Lease::Rollback } else { Lease::Normal };
        if self.undo_needs > self.undo_aside + UNDO_FREE && self.undo_next.is_none() {
            self.set_aside()?;
        }
        Ok(self.shared.lease(bytes + TXN_ENVELOPE_BYTES, lease)?)
    }

    fn log(&mut self, op: &PageOp<'_>) -> Logged {
        let (kind, prev) = match self.undo_next {
            Some(next) => (Kind::Compensation, next),
            None => {
                self.undo_needs += undo_bytes(op);
                (Kind::Op, self.last)
            }
        };
        let envelope = envelope::long(kind, 0, self.xid, prev);
        let mut header = OpHeader::new();
        let [a, b, c, d, e] = op.encode(&mut header);
        let at = self.shared.log.append(&[&envelope, a, b, c, d, e]);
        (self.last, self.end) = (at.start, at.end);
        let kept = &mut self.kept;
        let keep = |hash| {
            if kept.len() < KEPT_MAX {
                kept.push(hash);
            }
        };
        let stamp = keep_version(&self.shared, op, self.xid, Stamp::active(self.xid), keep);
        Logged { stamp, start: at.start, end: at.end }
    }

    fn conflict(&mut self, existing: Stamp) -> OnExisting {
        let (answer, csn) = on_existing(&self.shared, existing, self.xid);
        self.saw = self.saw.max(csn);
        if answer == OnExisting::ReplaceGhost && self.conflict_from.is_some_and(|from| csn >= from)
        {
            // A row of SNAPSHOT isolation that was deleted meanwhile: to it the key still exists.
            return OnExisting::Duplicate;
        }
        answer
    }

    fn before_write(&mut self, existing: Stamp) -> OnWrite {
        let gone_or = |answer| if existing.is_ghost() { OnWrite::Gone } else { answer };
        let csn = match existing.xid() {
            Some(xid) if xid == self.xid => return gone_or(OnWrite::Proceed),
            Some(xid) => match self.shared.xids.status(xid) {
                XidStatus::Committed(csn) => csn,
                XidStatus::Active | XidStatus::Committing => return OnWrite::Wait(xid),
                XidStatus::Aborted => return OnWrite::Conflict,
            },
            None => existing.csn().unwrap_or(Lsn::NONE),
        };
        self.saw = self.saw.max(csn);
        if self.conflict_from.is_some_and(|from| csn >= from) {
            return OnWrite::Conflict;
        }
        gone_or(OnWrite::Proceed)
    }

    fn purgeable(&self, ghost: Stamp, tree: TreeId, key: &mut dyn FnMut() -> Vec<u8>) -> bool {
        purgeable(&self.shared, ghost, tree, key)
    }

    fn emptied(&self, tree: TreeId, key: &[u8]) {
        self.shared.ghosts.note(tree.0.0, key);
    }
}

/// Housekeeping's side of a change: it takes ghosts away, and touches no row.
pub struct Sweeper<'a>(pub &'a Shared);

impl TxnLog for Sweeper<'_> {
    fn ensure(&mut self, bytes: usize) -> Result<(), StorageError> {
        Ok(self.0.lease(bytes + SYSTEM_ENVELOPE_BYTES, Lease::Rollback)?)
    }

    fn log(&mut self, _op: &PageOp<'_>) -> Logged {
        stdx::fatal!("housekeeping changes a row")
    }

    fn conflict(&mut self, _existing: Stamp) -> OnExisting {
        OnExisting::Duplicate
    }

    fn before_write(&mut self, _existing: Stamp) -> OnWrite {
        OnWrite::Gone
    }

    fn purgeable(&self, ghost: Stamp, tree: TreeId, key: &mut dyn FnMut() -> Vec<u8>) -> bool {
        purgeable(self.0, ghost, tree, key)
    }
}

/// A transaction's side of an insert that must not come into a locked gap unasked. The count of those who may have
/// locked gaps of the tree is read with the leaf latched, so a relaxed load does: see `engine`'s `gaps.rs`.
pub struct Guarded<'a> {
    context: &'a mut TxnContext,
    guards: &'a AtomicU32,
}

impl TxnLog for Guarded<'_> {
    #[inline]
    fn ensure(&mut self, bytes: usize) -> Result<(), StorageError> {
        self.context.ensure(bytes)
    }

    #[inline]
    fn log(&mut self, op: &PageOp<'_>) -> Logged {
        self.context.log(op)
    }

    fn conflict(&mut self, existing: Stamp) -> OnExisting {
        self.context.conflict(existing)
    }

    fn before_write(&mut self, existing: Stamp) -> OnWrite {
        self.context.before_write(existing)
    }

    #[inline]
    fn gap_guarded(&self) -> bool {
        self.guards.load(Relaxed) != 0
    }

    fn purgeable(&self, ghost: Stamp, tree: TreeId, key: &mut dyn FnMut() -> Vec<u8>) -> bool {
        self.context.purgeable(ghost, tree, key)
    }
}

/// One change of a row that is a transaction of its own: one record, no id, no state, as [`FusedInsert`]. The row was
/// looked up without a lock; it is changed only if nobody has it locked.
pub struct FusedChange<'a> {
    shared: &'a Shared,
    at: Option<Appended>,
}

impl<'a> FusedChange<'a> {
    #[inline]
    pub fn new(shared: &'a Shared) -> FusedChange<'a> {
        FusedChange { shared, at: None }
    }

    /// Where it was logged; its start is the commit number.
    #[inline]
    pub fn appended(&self) -> Option<Appended> {
        self.at
    }
}

impl TxnLog for FusedChange<'_> {
    #[inline]
    fn ensure(&mut self, bytes: usize) -> Result<(), StorageError> {
        Ok(self.shared.lease(bytes + SYSTEM_ENVELOPE_BYTES, Lease::Normal)?)
    }

    #[inline]
    fn log(&mut self, op: &PageOp<'_>) -> Logged {
        let at = append_for_good(self.shared, op);
        self.at = Some(at);
        Logged { stamp: stamp_for_good(self.shared, op, at), start: at.start, end: at.end }
    }

    fn conflict(&mut self, _existing: Stamp) -> OnExisting {
        stdx::fatal!("a fused change of a row that is there inserts nothing")
    }

    #[inline]
    fn before_write(&mut self, existing: Stamp) -> OnWrite {
        // Whoever looked has seen that its writer is done.
        if existing.is_ghost() { OnWrite::Gone } else { OnWrite::Proceed }
    }

    #[inline]
    fn may_change(&self, tree: TreeId, key: &[u8]) -> bool {
        let hash = key_hash(tree.0.0, key);
        !self.shared.locks.is_key_locked(RowKey { tree: tree.0.0, hash })
    }
}

/// A change and its commit, in one record.
#[inline]
fn append_for_good(shared: &Shared, op: &PageOp<'_>) -> Appended {
    let envelope = envelope::short(Kind::Fused, wall_us());
    let mut header = OpHeader::new();
    let logged = op.for_good();
    let [a, b, c, d, e] = logged.encode(&mut header);
    shared.log.append(&[&envelope, a, b, c, d, e])
}

/// What the row is stamped with; the version before it is kept where somebody may read that.
#[inline]
pub(crate) fn stamp_for_good(shared: &Shared, op: &PageOp<'_>, at: Appended) -> Stamp {
    let stamp = Stamp::committed(at.start);
    match *op {
        PageOp::Insert { .. } => stamp,
        _ if !shared.are_all_above() => keep_version(shared, op, Xid::NONE, stamp, drop),
        PageOp::Ghost { tree, key, .. } => {
            shared.ghosts.note(tree.0.0, key);
            stamp
        }
        _ => stamp,
    }
}

pub(crate) fn on_existing(shared: &Shared, existing: Stamp, own: Xid) -> (OnExisting, Lsn) {
    let here = if existing.is_ghost() { OnExisting::ReplaceGhost } else { OnExisting::Duplicate };
    match existing.xid() {
        None => (here, existing.csn().unwrap_or(Lsn::NONE)),
        Some(xid) if xid == own => (here, Lsn::NONE),
        Some(xid) => match shared.xids.status(xid) {
            XidStatus::Committed(csn) => (here, csn),
            // Committing too: our record must not come before its commit record.
            _ => (OnExisting::Wait(xid), Lsn::NONE),
        },
    }
}

/// A ghost may go when everybody sees that the row is deleted, or when the row that it was is gone from the version
/// store: it went there with the deletion, and goes when no snapshot needs it, old ones included.
fn purgeable(
    shared: &Shared,
    ghost: Stamp,
    tree: TreeId,
    key: &mut dyn FnMut() -> Vec<u8>,
) -> bool {
    let csn = match ghost.xid() {
        None => ghost.csn().unwrap_or(Lsn::NONE),
        Some(xid) => match shared.xids.status(xid) {
            XidStatus::Committed(csn) => csn,
            _ => return false,
        },
    };
    csn < shared.snapshots.horizon() || !shared.versions.has(tree.0.0, &key())
}

/// One insert that is a transaction of its own: one record, no id, no state. Its commit number is drawn while the
/// leaf is latched, and the row is there before the latch goes, so a reader whose snapshot is above sees it.
pub struct FusedInsert<'a> {
    shared: &'a Shared,
    guards: &'a AtomicU32,
    /// The time of the commit, if it was read just before and nothing has waited since.
    unix_ns: Option<u64>,
    at: Option<Appended>,
    saw: Lsn,
}

impl<'a> FusedInsert<'a> {
    /// `guards`: as for [`Guarded`]. `unix_ns`: a reading of the clock ([`runtime::clock::unix_ns`]) that the caller has
    /// made, without suspending since; it becomes the time of the commit if the insert need not suspend either.
    #[inline]
    pub fn new(shared: &'a Shared, guards: &'a AtomicU32, unix_ns: Option<u64>) -> FusedInsert<'a> {
        FusedInsert { shared, guards, unix_ns, at: None, saw: Lsn::NONE }
    }

    /// Where it was logged; its start is the commit number.
    #[inline]
    pub fn appended(&self) -> Option<Appended> {
        self.at
    }

    /// The newest commit that the answer depends on.
    pub fn saw(&self) -> Lsn {
        self.saw
    }
}

impl TxnLog for FusedInsert<'_> {
    #[inline]
    fn ensure(&mut self, bytes: usize) -> Result<(), StorageError> {
        let bytes = record_bytes(bytes + SYSTEM_ENVELOPE_BYTES);
        debug_assert!(bytes <= log_manager::RECORD_BYTES_MAX);
        if self.shared.log.is_leased(bytes) {
            return Ok(());
        }
        self.delayed();
        Ok(self.shared.log.ensure_lease(bytes, Lease::Normal)?)
    }

    #[inline]
    fn delayed(&mut self) {
        self.unix_ns = None;
    }

    #[inline]
    fn log(&mut self, op: &PageOp<'_>) -> Logged {
        let wall_us = self.unix_ns.map_or_else(wall_us, |ns| ns / 1000);
        let envelope = envelope::short(Kind::Fused, wall_us);
        let mut header = OpHeader::new();
        let [a, b, c, d, e] = op.encode(&mut header);
        let at = self.shared.log.append(&[&envelope, a, b, c, d, e]);
        self.at = Some(at);
        let stamp = Stamp::committed(at.start);
        let stamp = keep_version(self.shared, op, Xid::NONE, stamp, drop);
        Logged { stamp, start: at.start, end: at.end }
    }

    fn conflict(&mut self, existing: Stamp) -> OnExisting {
        let (answer, csn) = on_existing(self.shared, existing, Xid::NONE);
        self.saw = self.saw.max(csn);
        answer
    }

    fn before_write(&mut self, _existing: Stamp) -> OnWrite {
        stdx::fatal!("a fused transaction inserts, and does nothing else")
    }

    #[inline]
    fn gap_guarded(&self) -> bool {
        self.guards.load(Relaxed) != 0
    }

    fn purgeable(&self, ghost: Stamp, tree: TreeId, key: &mut dyn FnMut() -> Vec<u8>) -> bool {
        purgeable(self.shared, ghost, tree, key)
    }
}
