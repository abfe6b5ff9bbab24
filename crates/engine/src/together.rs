//! Several changes of several leaves that are one transaction: begin, all changes and commit in one log record.
//!
//! A row of a table and its entries in indexes are such changes: rows that come, change and go. Their leaves are held side by
//! side while the record is written (storage's `together.rs`), so its start is the commit number of all of them at once:
//! there is no transaction id, no lock entry, nothing to undo, and whoever sees one of them sees the others. For rows that
//! come in a transaction of nothing else ([`Txn::insert_together`]) tables are entered by a count, as for the insert of a
//! single row.
//!
//! Rows that change or go were looked up without a lock ([`Txn::look`]); they are changed as in `found.rs`, only if each is
//! still the one that was seen and nobody has it locked. Rows that others refer to, and must be there ([`Parent`]), are
//! vouched for with all leaves held, so whoever takes one away looks for references when ours can be seen.
//!
//! Anything that is not simply ready (a key that is there, a full leaf, somebody else at it, a locked
//! gap) leads to the way of one record each, which tells what is wrong if anything is.

use crate::commit_timer::CommitTimer;
use crate::gaps::{Newest, name_of};
use crate::txn::State;
use crate::{Change, Durability, EngineError, InsertHint, RowImage, Tree, Txn};
use lock_manager::TableMode;
use log_manager::Appended;
use smallvec::SmallVec;
use std::sync::atomic::Ordering::Relaxed;
use storage::{Aim, Found, HeldLeaf, Hold, Logged, PageOp, Witness};
use transaction::{
    Shared, append_together, fits_together, lease_together, may_replace, stamp_together,
};

/// Beyond so many changes the long way is taken: their leaves would be held for long.
const TOGETHER_MAX: usize = 8;
/// As many need no memory of their own.
pub const TOGETHER_FEW: usize = 4;
/// Looks that may prove wrong before the long way is taken.
const ATTEMPTS: usize = 3;

/// One of the changes.
pub struct Part<'a> {
    pub tree: &'a Tree,
    pub key: &'a [u8],
    pub change: PartChange<'a>,
}

/// What is done under a key.
pub enum PartChange<'a> {
    /// A row comes.
    Insert { row: RowImage<'a>, hint: &'a mut InsertHint },
    /// The row found takes other bytes, or goes.
    Found { found: &'a Found, change: Change<'a> },
}

/// A row that must be there when the changes are made.
pub struct Parent<'a> {
    /// The table.
    pub table: &'a Tree,
    /// What is looked into: the table's rows, or an index of it.
    pub tree: &'a Tree,
    pub key: &'a [u8],
}

/// How changes went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Together {
    Done,
    /// Nothing has happened: some row is not as it was found.
    Moved,
    /// Nothing has happened, and would not at once.
    Refused,
}

impl<'a> Part<'a> {
    fn bytes(&self) -> usize {
        let row = match &self.change {
            PartChange::Insert { row, .. } => Some(row),
            PartChange::Found { change, .. } => change.row(),
        };
        self.key.len() + row.map_or(0, |row| row.bytes.len())
    }

    /// Where the leaf of a row that comes is likely to be. Suspends.
    fn aim(&self) -> Result<Option<Aim<'a>>, Together> {
        let PartChange::Insert { hint, .. } = &self.change else { return Ok(None) };
        self.tree.inner.tree.aim(self.key, hint).map(Some).map_err(told_later)
    }

    fn hold(&self, aim: Option<&Aim<'a>>, shared: &Shared) -> Hold<'a> {
        let tree = &self.tree.inner.tree;
        let is_locked = || shared.locks.is_key_locked(name_of(self.tree.number(), self.key));
        match (&self.change, aim) {
            (PartChange::Insert { row, hint }, Some(aim)) => {
                let guards = &self.tree.inner.guards;
                let may_replace = |ghost| may_replace(shared, ghost);
                tree.hold(aim, self.key, row, hint, may_replace, || guards.load(Relaxed) != 0)
            }
            (PartChange::Insert { .. }, None) => Hold::Missed,
            (PartChange::Found { found, change }, _) => {
                tree.hold_found(self.key, found, change.row(), is_locked)
            }
        }
    }

    fn op<'p>(&'p self, leaf: &'p HeldLeaf<'_>) -> PageOp<'p> {
        match &self.change {
            PartChange::Insert { row, .. } => leaf.insert_op(self.key, row),
            PartChange::Found { found, change } => leaf.change_op(self.key, found, change.row()),
        }
    }

    fn make(&mut self, leaf: HeldLeaf<'_>, logged: Logged) {
        match &mut self.change {
            PartChange::Insert { row, hint } => leaf.insert(self.key, row, logged, hint),
            PartChange::Found { change, .. } => leaf.change(change.row(), logged),
        }
    }

    fn count(&self) {
        match &self.change {
            PartChange::Insert { .. } => self.tree.count_rows(1),
            PartChange::Found { change, .. } => change.count(self.tree),
        }
    }
}

impl Txn {
    /// Begins, inserts the rows, each into another tree, and commits. False: not as things are, and nothing has happened.
    /// `unix_ns` as for [`Txn::insert_commit`].
    pub fn insert_together(
        &mut self,
        rows: &mut [Part<'_>],
        durability: Durability,
        unix_ns: Option<u64>,
    ) -> Result<bool, EngineError> {
        let plainly = !self.has_written()
            && self.state != State::Doomed
            && !self.is_snapshot()
            && self.held.is_empty()
            && self.tracked.is_none()
            && !self.is_in_memory()
            && suits(rows);
        if !plainly || self.db.check_writable().is_err() {
            return Ok(false);
        }
        let durability = self.db.resolve(durability);
        let timed = CommitTimer::start(durability);
        let locks = &self.shared.locks;
        let enter = |row: &Part<'_>| locks.try_enter_table(row.tree.number());
        let entered = rows.iter().take_while(|row| enter(row)).count();
        let at = if entered == rows.len() && rows.iter().all(|row| row.tree.is_current()) {
            self.record_together(rows, &[], unix_ns).ok()
        } else {
            None
        };
        rows[..entered].iter().for_each(|row| self.shared.locks.leave_table(row.tree.number()));
        let Some(at) = at else { return Ok(false) };
        rows.iter().for_each(Part::count);
        self.end_in_one(at.end, durability, timed)?;
        Ok(true)
    }

    /// Makes the changes, each in another tree or another leaf of it, and commits them, in a transaction that fuses
    /// ([`Txn::fuse`]). Unless that is done, it goes on fusing.
    pub fn fuse_together(
        &mut self,
        parts: &mut [Part<'_>],
        parents: &[Parent<'_>],
    ) -> Result<Together, EngineError> {
        if self.fused.is_some() {
            stdx::fatal!("a second change in a transaction of one");
        }
        if self.has_written() || !suits(parts) {
            return Ok(Together::Refused);
        }
        for part in parts.iter() {
            self.enter(part.tree, TableMode::IntentExclusive)?;
        }
        for parent in parents {
            self.enter_for(parent.table, TableMode::IntentShared, true)?;
        }
        self.db.check_writable()?;
        match self.record_together(parts, parents, None) {
            Ok(at) => {
                self.fused = Some(at);
                parts.iter().for_each(Part::count);
                Ok(Together::Done)
            }
            Err(refused) => Ok(refused),
        }
    }

    /// The record, and the changes in their places; an error: nothing has happened. Suspends before that.
    fn record_together(
        &mut self,
        parts: &mut [Part<'_>],
        parents: &[Parent<'_>],
        mut unix_ns: Option<u64>,
    ) -> Result<Appended, Together> {
        let bytes = parts.iter().map(Part::bytes).sum();
        if !fits_together(parts.len(), bytes) {
            return Err(Together::Refused);
        }
        let mut aims: SmallVec<[Option<Aim<'_>>; TOGETHER_FEW]> = SmallVec::new();
        for part in parts.iter() {
            aims.push(part.aim()?);
        }
        for _ in 0..ATTEMPTS {
            let witnesses = self.witnesses(parents)?;
            if !lease_together(&self.shared, parts.len(), bytes).map_err(told_later)? {
                unix_ns = None;
            }
            match self.hold_all(parts, &aims) {
                Ok(held) if witnesses.iter().all(Witness::still_holds) => {
                    return Ok(self.make_together(parts, held, unix_ns));
                }
                Ok(held) => held.into_iter().for_each(HeldLeaf::let_go),
                Err(Some(at)) if aims[at].is_some() => {
                    let part = &parts[at];
                    aims[at] = Some(part.tree.inner.tree.aim_at(part.key).map_err(told_later)?);
                }
                Err(Some(_)) => return Err(Together::Moved),
                Err(None) => return Err(Together::Refused),
            }
            unix_ns = None;
        }
        Err(Together::Refused)
    }

    /// What vouches for the rows that must be there.
    fn witnesses<'p>(
        &mut self,
        parents: &[Parent<'p>],
    ) -> Result<SmallVec<[Witness<'p>; TOGETHER_FEW]>, Together> {
        let mut witnesses = SmallVec::new();
        for parent in parents {
            let seen = parent.tree.inner.tree.witness(parent.key).map_err(told_later)?;
            let Some((stamp, witness)) = seen else { return Err(Together::Refused) };
            let Newest::Row(csn) = self.newest(stamp) else { return Err(Together::Refused) };
            self.context.note_seen(csn);
            witnesses.push(witness);
        }
        Ok(witnesses)
    }

    /// All leaves, or none, and which of them is another one than was thought; or none at all: refused.
    fn hold_all<'p>(
        &self,
        parts: &[Part<'p>],
        aims: &[Option<Aim<'p>>],
    ) -> Result<SmallVec<[HeldLeaf<'p>; TOGETHER_FEW]>, Option<usize>> {
        let mut held: SmallVec<[HeldLeaf<'p>; TOGETHER_FEW]> = SmallVec::new();
        for (at, (part, aim)) in parts.iter().zip(aims).enumerate() {
            let missed = match part.hold(aim.as_ref(), &self.shared) {
                Hold::Leaf(leaf) => {
                    held.push(leaf);
                    continue;
                }
                // It may be one that is held already.
                Hold::Missed => {
                    let page = aim.as_ref().and_then(Aim::page);
                    let ours = page.is_some_and(|page| held.iter().any(|leaf| leaf.page() == page));
                    (!ours).then_some(at)
                }
                Hold::Refused => None,
            };
            held.into_iter().for_each(HeldLeaf::let_go);
            return Err(missed);
        }
        Ok(held)
    }

    fn make_together<'p>(
        &mut self,
        parts: &mut [Part<'p>],
        held: SmallVec<[HeldLeaf<'p>; TOGETHER_FEW]>,
        unix_ns: Option<u64>,
    ) -> Appended {
        let central = self.shared.xids.enter_central();
        let ops = parts.iter().zip(&held).map(|(part, leaf)| part.op(leaf));
        let at = append_together(&self.shared, ops, unix_ns, &mut self.together);
        for (part, leaf) in parts.iter_mut().zip(held) {
            let stamp = stamp_together(&self.shared, &part.op(&leaf), at);
            part.make(leaf, Logged { stamp, start: at.start, end: at.end });
        }
        if central {
            self.leave_central(true);
        }
        at
    }
}

/// Whether the changes may be one record at all.
fn suits(parts: &[Part<'_>]) -> bool {
    parts.len() <= TOGETHER_MAX && parts.iter().all(|part| !part.tree.is_memory())
}

/// An error is met again, and told, the long way.
fn told_later<E>(_: E) -> Together {
    Together::Refused
}
