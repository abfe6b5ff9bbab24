//! Several rows of several trees that come in one transaction of their own: begin, all inserts and commit in one log record.
//!
//! A row of a table and its entries in indexes are such rows. Their leaves are held side by side while the record is
//! written (storage's `together.rs`), so its start is the commit number of all of them at once: there is no transaction
//! id, no lock entry, nothing to undo, and whoever sees one of them sees the others. Tables are entered by a count, as
//! for the insert of a single row.
//!
//! Anything that is not simply ready (a key that is there, a ghost in its place, a full leaf, somebody else at it, a locked
//! gap) leads to the way of one record each, which tells what is wrong if anything is.

use crate::commit_timer::CommitTimer;
use crate::txn::State;
use crate::{Durability, EngineError, InsertHint, RowImage, Tree, Txn};
use log_manager::Appended;
use mvcc::Stamp;
use smallvec::SmallVec;
use std::sync::atomic::Ordering::Relaxed;
use storage::{Aim, HeldLeaf, Hold, Logged};
use transaction::{append_together, fits_together, lease_together};

/// Rows beyond so many go the long way: their leaves would be held for long.
const TOGETHER_MAX: usize = 8;
/// As many need no memory of their own.
pub const TOGETHER_FEW: usize = 4;
/// Looks that may prove wrong before the long way is taken.
const ATTEMPTS: usize = 3;

/// A row that is to come.
pub struct NewRow<'a> {
    pub tree: &'a Tree,
    pub key: &'a [u8],
    pub row: RowImage<'a>,
    pub hint: &'a mut InsertHint,
}

impl Txn {
    /// Begins, inserts the rows, each into another tree, and commits. False: not as things are, and nothing has happened.
    /// `unix_ns` as for [`Txn::insert_commit`].
    pub fn insert_together(
        &mut self,
        rows: &mut [NewRow<'_>],
        durability: Durability,
        unix_ns: Option<u64>,
    ) -> Result<bool, EngineError> {
        let plainly = !self.has_written()
            && self.state != State::Doomed
            && !self.is_snapshot()
            && self.held.is_empty()
            && self.tracked.is_none()
            && !self.is_in_memory()
            && rows.len() <= TOGETHER_MAX
            && rows.iter().all(|row| !row.tree.is_memory());
        if !plainly || self.db.check_writable().is_err() {
            return Ok(false);
        }
        let durability = self.db.resolve(durability);
        let timed = CommitTimer::start(durability);
        let locks = &self.shared.locks;
        let enter = |row: &NewRow<'_>| locks.try_enter_table(row.tree.number());
        let entered = rows.iter().take_while(|row| enter(row)).count();
        let at = if entered == rows.len() && rows.iter().all(|row| row.tree.is_current()) {
            self.record_together(rows, unix_ns)
        } else {
            None
        };
        rows[..entered].iter().for_each(|row| self.shared.locks.leave_table(row.tree.number()));
        let Some(at) = at else { return Ok(false) };
        rows.iter().for_each(|row| row.tree.count_rows(1));
        self.end_in_one(at.end, durability, timed)?;
        Ok(true)
    }

    /// The record, and the rows in their places; none: nothing has happened. Suspends before that.
    fn record_together(
        &mut self,
        rows: &mut [NewRow<'_>],
        mut unix_ns: Option<u64>,
    ) -> Option<Appended> {
        let bytes = rows.iter().map(|row| row.key.len() + row.row.bytes.len()).sum();
        if !fits_together(rows.len(), bytes) {
            return None;
        }
        // An error is met, and told, the long way.
        let mut aims: SmallVec<[Aim<'_>; TOGETHER_FEW]> = SmallVec::new();
        for row in rows.iter() {
            aims.push(row.tree.inner.tree.aim(row.key, row.hint).ok()?);
        }
        for _ in 0..ATTEMPTS {
            if !lease_together(&self.shared, rows.len(), bytes).ok()? {
                unix_ns = None;
            }
            let mut held: SmallVec<[HeldLeaf<'_>; TOGETHER_FEW]> = SmallVec::new();
            let mut missed = None;
            for (row, aim) in rows.iter().zip(&aims) {
                let guards = &row.tree.inner.guards;
                let is_guarded = || guards.load(Relaxed) != 0;
                let tree = &row.tree.inner.tree;
                match tree.hold(aim, row.key, &row.row, row.hint, is_guarded) {
                    Hold::Leaf(leaf) => held.push(leaf),
                    Hold::Missed => missed = Some(true),
                    Hold::Refused => missed = Some(false),
                }
                if missed.is_some() {
                    break;
                }
            }
            let Some(again) = missed else {
                return Some(self.make_together(rows, &mut held, unix_ns));
            };
            let at = held.len();
            held.drain(..).for_each(HeldLeaf::let_go);
            if !again {
                return None;
            }
            aims[at] = rows[at].tree.inner.tree.aim_at(rows[at].key).ok()?;
            unix_ns = None;
        }
        None
    }

    fn make_together(
        &mut self,
        rows: &mut [NewRow<'_>],
        held: &mut SmallVec<[HeldLeaf<'_>; TOGETHER_FEW]>,
        unix_ns: Option<u64>,
    ) -> Appended {
        let central = self.shared.xids.enter_central();
        let ops = held.iter().zip(rows.iter()).map(|(leaf, row)| leaf.op(row.key, &row.row));
        let at = append_together(&self.shared, ops, unix_ns, &mut self.together);
        let logged = Logged { stamp: Stamp::committed(at.start), start: at.start, end: at.end };
        for (leaf, row) in held.drain(..).zip(rows) {
            leaf.insert(row.key, &row.row, logged, row.hint);
        }
        if central {
            self.leave_central(true);
        }
        at
    }
}
