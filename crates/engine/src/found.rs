//! A row looked up by its key and then changed, with one descent; and where its change, or an insert, is all that a
//! transaction does, begin, change and commit in one log record.
//!
//! Without a lock: [`Txn::look`], compute what the row becomes, [`Txn::change_found`]. The change is made only if the
//! row is still the one that was seen and nobody has it locked, both asked with its leaf latched: what a lock would
//! have kept others from doing has not been done, and who locks the row later looks at it later. Whatever is in the way
//! (an unfinished writer, a lock, a full leaf) is an answer, upon which the caller goes the way with a lock:
//! [`Txn::lock_found`], and then the same.
//!
//! A statement that is a transaction of its own, but has more to write than the row (its entries in indexes), may change the
//! row in the same way ([`Txn::pass_locks`]): from then on the stamp of the unfinished transaction keeps others out, as that
//! of an insert does.
//!
//! Trees on pages alone: rows in memory (`memory.rs`) have no leaf to come back to.
//!
//! Invariant: after a fused change the transaction is committed but for [`Txn::commit`], and nothing else may be asked
//! of it.

use crate::gaps::Newest;
use crate::{EngineError, InsertHint, Isolation, ReadOptions, RowImage, Tree, Txn};
use lock_manager::{KeyMode, TableMode};
use log_manager::Appended;
use storage::{Found, FoundChange, StorageError};
use transaction::{FusedChange, FusedInsert, Unlocked};

/// What there is under a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Looked {
    /// A row, committed.
    Row,
    /// None.
    Nothing,
    /// Somebody is at it.
    Busy,
}

/// What becomes of a row.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    To(RowImage<'a>),
    Gone,
}

impl<'a> Change<'a> {
    /// What the row becomes; none: it goes.
    pub(crate) fn row(&self) -> Option<&RowImage<'a>> {
        match self {
            Change::To(row) => Some(row),
            Change::Gone => None,
        }
    }

    /// Counts it, once it is made.
    pub(crate) fn count(&self, tree: &Tree) {
        match self {
            Change::To(_) => tree.count_changes(1),
            Change::Gone => tree.count_deleted(1),
        }
    }
}

impl Txn {
    /// The next statement's only change may be committed with it, in one log record: the transaction is the
    /// statement's own. False: not as things are.
    pub fn fuse(&mut self) -> bool {
        self.fuses = self.pass_locks()
            && self.tracked.is_none()
            && self.memory.snapshot.is_none()
            && self.drops.is_empty()
            && self.reshapes.is_empty();
        self.passes_locks = self.fuses;
        self.fuses
    }

    /// The rows that the next statement changes need not be locked before: the transaction is the statement's own, which does
    /// not come back to them. False: not as things are.
    pub fn pass_locks(&mut self) -> bool {
        self.passes_locks = self.is_active()
            && !self.is_doomed()
            && !self.has_written()
            && self.options.isolation != Isolation::Snapshot
            && !self.is_reader;
        self.passes_locks
    }

    /// Whether [`Txn::pass_locks`] holds, as it does with [`Txn::fuse`].
    #[inline]
    pub fn passes_locks(&self) -> bool {
        self.passes_locks
    }

    /// Looks for the newest committed row under `key`, without a lock of the row. Counted by [`Tree::note_change`], once for
    /// a row however often it is looked for.
    pub fn look(
        &mut self,
        tree: &Tree,
        key: &[u8],
        found: &mut Found,
    ) -> Result<Looked, EngineError> {
        debug_assert!(!tree.is_memory(), "rows in memory have no leaf");
        self.enter(tree, TableMode::IntentExclusive)?;
        let stamp = tree.inner.tree.look(key, found).map_err(|e| self.doom(e.into()))?;
        Ok(match stamp.map(|stamp| self.newest(stamp)) {
            None | Some(Newest::Gone { .. }) => Looked::Nothing,
            Some(Newest::Unfinished(_)) => Looked::Busy,
            Some(Newest::Row(csn)) => {
                self.context.note_seen(csn);
                Looked::Row
            }
        })
    }

    /// [`Txn::read_latest_locked`] with a change to follow.
    pub fn lock_found(
        &mut self,
        tree: &Tree,
        key: &[u8],
        found: &mut Found,
    ) -> Result<bool, EngineError> {
        debug_assert!(!tree.is_memory(), "rows in memory have no leaf");
        self.enter(tree, TableMode::IntentExclusive)?;
        let options = ReadOptions::default();
        self.lock_and_find(tree, key, KeyMode::EXCLUSIVE, options.read_past, found)
    }

    /// Changes the row that [`Txn::look`] or [`Txn::lock_found`] has found, which is still in `found`. False: nothing
    /// is changed, and it is to be asked for again, with a lock; or, if that was held, changed by its key.
    pub fn change_found(
        &mut self,
        tree: &Tree,
        key: &[u8],
        found: &Found,
        change: Change<'_>,
    ) -> Result<bool, EngineError> {
        let done = if self.fuses {
            self.fused_change(tree, key, found, change)?
        } else {
            self.prepare_write()?;
            let (tree, log) = (&tree.inner.tree, &mut self.context);
            match (change, self.passes_locks) {
                (Change::To(row), false) => tree.update_found(log, key, found, &row),
                (Change::Gone, false) => tree.ghost_found(log, key, found),
                (Change::To(row), true) => tree.update_found(&mut Unlocked(log), key, found, &row),
                (Change::Gone, true) => tree.ghost_found(&mut Unlocked(log), key, found),
            }
            .map_err(|e| self.doom(e.into()))?
        };
        if done != FoundChange::Done {
            return Ok(false);
        }
        change.count(tree);
        Ok(true)
    }

    fn fused_change(
        &mut self,
        tree: &Tree,
        key: &[u8],
        found: &Found,
        change: Change<'_>,
    ) -> Result<FoundChange, EngineError> {
        if self.fused.is_some() || self.has_written() {
            stdx::fatal!("a second change in a transaction of one");
        }
        self.db.check_writable()?;
        let central = self.shared.xids.enter_central();
        let mut log = FusedChange::new(&self.shared);
        let done = match change {
            Change::To(row) => tree.inner.tree.update_found(&mut log, key, found, &row),
            Change::Gone => tree.inner.tree.ghost_found(&mut log, key, found),
        };
        let at = log.appended();
        if central {
            self.leave_central(at.is_some());
        }
        self.fused = at;
        done.map_err(|e| self.doom(e.into()))
    }

    /// Inserts a row and commits it, in one log record. False: not as things are, and nothing has happened; the
    /// transaction fuses no more.
    pub fn insert_fused(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut InsertHint,
    ) -> Result<bool, EngineError> {
        if self.fused.is_some() {
            stdx::fatal!("a second change in a transaction of one");
        }
        if tree.is_memory() || self.has_written() {
            self.unfuse();
            return Ok(false);
        }
        self.enter(tree, TableMode::IntentExclusive)?;
        self.db.check_writable()?;
        let central = self.shared.xids.enter_central();
        let mut log = FusedInsert::new(&self.shared, &tree.inner.guards, None);
        let inserted = tree.inner.tree.insert(&mut log, key, row, hint);
        let (at, saw) = (log.appended(), log.saw());
        if central {
            self.leave_central(at.is_some());
        }
        self.context.note_seen(saw);
        match inserted {
            Ok(()) => {
                self.fused = at;
                tree.count_rows(1);
                Ok(true)
            }
            Err(StorageError::WaitFor(_) | StorageError::GapGuarded) => {
                self.unfuse();
                Ok(false)
            }
            Err(e) => Err(self.refuse(tree, e)),
        }
    }

    /// Ends a transaction whose only change was committed with it.
    pub(crate) fn end_fused(&mut self, at: Appended) {
        self.finish();
        telemetry::counters::add(telemetry::Counter::Transactions, 1);
        telemetry::counters::add(telemetry::Counter::WriteTransactions, 1);
        self.status.note_write();
        debug_assert!(self.fused.is_none() && !at.end.is_none());
    }

    /// Gives up changing without a lock: from here on the transaction is like any other.
    pub fn unfuse(&mut self) {
        (self.fuses, self.passes_locks) = (false, false);
    }

    /// Gives up committing with a change; rows need still not be locked before they change.
    pub fn stop_fusing(&mut self) {
        self.fuses = false;
    }

    /// Whether [`Txn::fuse`] holds.
    #[inline]
    pub fn fuses(&self) -> bool {
        self.fuses
    }

    /// A parent's row is asked for by whoever has just written a reference to it: the newest state of what lies under
    /// `key`, waited for while somebody is at it. No lock of the row is taken: see `dml`'s `foreign.rs`.
    pub fn is_there(
        &mut self,
        table: &Tree,
        tree: &Tree,
        key: &[u8],
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        debug_assert!(!tree.is_memory(), "what is read in memory is noted");
        self.enter_for(table, TableMode::IntentShared, true)?;
        loop {
            // What was written before is seen by whoever takes the row away after the look.
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            let found = tree.inner.tree.lookup(key, row).map_err(|e| self.doom(e.into()))?;
            match found.map(|stamp| self.newest(stamp)) {
                None | Some(Newest::Gone { .. }) => return Ok(false),
                Some(Newest::Row(csn)) => {
                    self.context.note_seen(csn);
                    return Ok(true);
                }
                Some(Newest::Unfinished(xid)) => self.wait_for(tree, xid, KeyMode::SHARED)?,
            }
        }
    }
}
