//! Taking a transaction back, from its newest record to a savepoint or to its beginning. The same walk serves
//! statements, savepoints, whole transactions and the losers that recovery finds.
//!
//! Every step is logged as a compensation that names the next record to undo, so a crash in the middle continues
//! where it was, and nothing is undone twice.

use crate::envelope::{Envelope, Kind};
use crate::seeded::{Bug, planted};
use crate::{Shared, TxnContext};
use log_manager::{Lease, LogError, LogReader, Lsn};
use storage::{PageOp, StorageError, Tree, TreeId, UndoAction};

/// How the walk finds trees.
pub trait Trees {
    /// A handle to change rows in.
    fn tree(&self, id: TreeId) -> Tree;
    /// Frees a tree that the transaction has made; it may be free already.
    fn free_tree(&self, id: TreeId) -> Result<(), StorageError>;
    /// A change has been taken back by which a tree has so many rows more or less, for who counts them.
    fn taken_back(&self, _id: TreeId, _rows: i64) {}
}

/// Undoes the records of `context` above `to` (the newest record at the time of the savepoint; [`Lsn::NONE`] for
/// all). Suspends. On an error the rest is still to be undone: the same call may be repeated.
pub fn undo_to(
    shared: &Shared,
    context: &mut TxnContext,
    to: Lsn,
    trees: &impl Trees,
) -> Result<(), StorageError> {
    undo_some(shared, context, to, trees, &mut None, u64::MAX).map(drop)
}

/// The same, of at most `records`; whether that was all. `walk` keeps what was read of the log from call to call.
pub fn undo_some(
    shared: &Shared,
    context: &mut TxnContext,
    to: Lsn,
    trees: &impl Trees,
    walk: &mut Option<LogReader>,
    records: u64,
) -> Result<bool, StorageError> {
    // What was undone last is a compensation, and says where to go on.
    let mut at = context.last();
    let mut left = records;
    while at > to {
        if left == 0 {
            return Ok(false);
        }
        let (payload, _) = shared.log.read_back(at, walk)?;
        let Some(record) = Envelope::decode(&payload) else {
            return Err(LogError::NoRecord { at }.into());
        };
        if record.xid != context.xid() {
            stdx::fatal!("the record at {at} is not of transaction {}", context.xid());
        }
        context.undoing(Some(record.prev));
        let undone = undo_one(context, &record, trees);
        context.undoing(None);
        undone?;
        left -= u64::from(record.kind != Kind::Compensation);
        at = record.prev;
    }
    Ok(true)
}

fn undo_one(
    context: &mut TxnContext,
    record: &Envelope<'_>,
    trees: &impl Trees,
) -> Result<(), StorageError> {
    match record.kind {
        Kind::Op => {
            let op = PageOp::decode(record.body);
            let rows = match op {
                Some(PageOp::Insert { .. }) => -1,
                Some(PageOp::Update { old_stamp, .. }) => -i64::from(old_stamp.is_ghost()),
                Some(PageOp::Ghost { .. }) => 1,
                _ => 0,
            };
            let Some(mut undo) = op.and_then(|op| op.undo()) else {
                stdx::fatal!("an op of transaction {} cannot be undone", record.xid);
            };
            if let (UndoAction::Restore { stamp, .. }, true) =
                (undo.action, planted(Bug::StampsOnly))
            {
                undo.action = UndoAction::Restamp { stamp };
            }
            trees.tree(undo.tree).apply_undo(context, &undo)?;
            if rows != 0 {
                trees.taken_back(undo.tree, rows);
            }
            Ok(())
        }
        Kind::TreeCreated => {
            let Some(tree) = record.tree() else {
                stdx::fatal!("a record of a tree names none");
            };
            // Freed first, and the compensation after it: freeing twice is harmless as long as nobody else can have
            // got the pages, and the record of it keeps others from being hit later.
            trees.free_tree(TreeId(buffer_pool::PageId(tree)))?;
            context.log_note(Kind::Compensation, &[], Lease::Rollback)?;
            Ok(())
        }
        Kind::TreeDropped => {
            // The tree stays: the compensation says which, so that a commit after it does not drop it.
            context.log_note(Kind::Compensation, record.body, Lease::Rollback)?;
            Ok(())
        }
        // Its `prev` already leads to the next one to undo. What was prepared was decided against. Rows in memory are taken
        // back there.
        Kind::Compensation | Kind::Prepared | Kind::Rows => Ok(()),
        Kind::Commit | Kind::RowsCommit | Kind::Abort => {
            stdx::fatal!("transaction {} is over and is being undone", record.xid)
        }
        _ => stdx::fatal!("a record of kind {:?} in a transaction's chain", record.kind),
    }
}
