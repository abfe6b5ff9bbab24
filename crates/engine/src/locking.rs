//! Reading by locks: which locks a read takes, and how a scan keeps what it has read from changing.
//!
//! A locking reader locks a key, then makes sure that what it saw is still so: the leaf has not changed since it was
//! copied, or the reader held the lock before it copied the leaf. Otherwise it looks again from behind the last row it
//! has settled. A reader of gaps settles a row only when the whole way from the last one was seen in one leaf, or with
//! the lock already held.
//!
//! A row of an unfinished transaction that has no lock of its own (an insert) is waited for with the reader's new lock
//! given back: the writer may want that lock.
//!
//! Scans down the tree lock the gap above their range first; each gap is then shut before what lies below is read.

use crate::gaps::{Newest, end_of, name_of};
use crate::{EngineError, Isolation, ReadOptions, RowLock, Scan, ScanOptions, Tree, Txn};
use lock_manager::{Gained, KeyMode, RowKey, TableMode};
use std::ops::Bound;
use std::sync::atomic::{Ordering::SeqCst, fence};
use storage::WaitFigures;
use transaction::{Bug, planted};

/// Key locks in one table after which a lock on the whole table is tried (SQL Server's figures).
const ESCALATE_AT: usize = 5000;
const ESCALATE_EVERY: usize = 1250;

/// How a read sees rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reads {
    /// Whatever is there.
    Dirty,
    /// By row versions.
    Versions,
    /// The newest committed state, without a lock: the caller locks what matters to it.
    Newest,
    /// The newest committed state, locked.
    Locked { mode: KeyMode, keep: bool, gaps: bool },
}

impl Reads {
    /// The lock on the table, and whether it goes with the statement.
    pub(crate) fn table_lock(self) -> (TableMode, bool) {
        match self {
            Reads::Dirty | Reads::Versions => (TableMode::SchemaStability, true),
            Reads::Newest => (TableMode::IntentExclusive, false),
            Reads::Locked { mode, .. } if mode.writes() => (TableMode::IntentExclusive, false),
            Reads::Locked { keep, .. } => (TableMode::IntentShared, !keep),
        }
    }
}

impl Txn {
    /// What level and hints amount to.
    #[inline]
    pub(crate) fn reads(&self, options: ReadOptions) -> Result<Reads, EngineError> {
        let level = options.isolation.unwrap_or(self.options.isolation);
        let wants_change = matches!(options.lock, RowLock::Update | RowLock::Exclusive);
        let may_skip = match level {
            Isolation::ReadCommitted | Isolation::RepeatableRead => true,
            Isolation::Snapshot => wants_change,
            Isolation::ReadUncommitted | Isolation::Serializable => false,
        };
        if options.read_past && !may_skip {
            return Err(EngineError::ReadPastRefused);
        }
        let locked = |keep, gaps| {
            let mode = if wants_change { KeyMode::UPDATE } else { KeyMode::SHARED };
            let keep = keep && !planted(Bug::BriefLocks);
            Reads::Locked { mode: if gaps { mode.with_gap() } else { mode }, keep, gaps }
        };
        Ok(match level {
            Isolation::Serializable => locked(true, true),
            Isolation::RepeatableRead => locked(true, false),
            Isolation::Snapshot => Reads::Versions,
            _ if wants_change => Reads::Newest,
            Isolation::ReadUncommitted => Reads::Dirty,
            _ => {
                let by_versions = options.lock == RowLock::Versions
                    || (options.lock == RowLock::ByLevel
                        && !options.read_past
                        && self.db.read_committed_snapshot());
                if by_versions { Reads::Versions } else { locked(false, false) }
            }
        })
    }

    /// A key lock by name; 1205, 1222 and cancellation are noted in the transaction.
    pub(crate) fn lock_name(
        &mut self,
        tree: &Tree,
        key: RowKey,
        mode: KeyMode,
    ) -> Result<Gained, EngineError> {
        let timeout = self.timeout_ns();
        self.held.cost = self.context.log_bytes();
        self.shared.log.give_back();
        let gained = self.shared.locks.lock_key(&mut self.held, key, mode, timeout);
        if self.held.has_waited() {
            self.note_waits_in(tree);
        }
        gained.map_err(|e| self.doom(e.into()))
    }

    /// The waits for rows since it was last asked were in this tree.
    #[cold]
    pub(crate) fn note_waits_in(&mut self, tree: &Tree) {
        let (count, ns) = self.held.take_waits();
        if count > 0 {
            tree.note_row_waits(WaitFigures { count, ns });
        }
    }

    /// After a key lock that is kept: a lock on the whole table instead, when there are very many.
    #[inline]
    pub(crate) fn perhaps_escalate(&mut self, tree: &Tree, gained: Gained) {
        if gained == Gained::From(KeyMode::NONE) && self.held.key_count() >= ESCALATE_AT {
            self.escalate(tree);
        }
    }

    #[cold]
    fn escalate(&mut self, tree: &Tree) {
        let number = tree.number();
        let rows = self.held.key_count_in(number);
        if rows < ESCALATE_AT || !(rows - ESCALATE_AT).is_multiple_of(ESCALATE_EVERY) {
            return;
        }
        let mode =
            if self.held.writes_keys_in(number) { TableMode::Exclusive } else { TableMode::Shared };
        if self.shared.locks.try_lock_table(&mut self.held, number, mode) {
            self.shared.locks.release_keys_of(&mut self.held, number);
        }
    }

    /// Reads one row under a lock.
    pub(crate) fn get_locked(
        &mut self,
        tree: &Tree,
        key: &[u8],
        options: ReadOptions,
        reads: Reads,
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        let Reads::Locked { mode, keep, gaps } = reads else {
            stdx::fatal!("a locked read without a lock: {reads:?}");
        };
        // A row that is there needs no gap: nothing else can have its key.
        let alone = if mode.writes() { KeyMode::UPDATE } else { KeyMode::SHARED };
        let name = name_of(tree.number(), key);
        loop {
            if !keep && self.has_written() {
                // Without a lock: what was written before is seen by whoever changes the row after the look.
                fence(SeqCst);
            }
            let found = tree.inner.tree.lookup(key, row).map_err(|e| self.doom(e.into()))?;
            match found.map(|stamp| self.newest(stamp)) {
                None | Some(Newest::Gone { own: false }) => {
                    if !gaps {
                        return Ok(false);
                    }
                    return self.get_gap(tree, key, options, row);
                }
                Some(Newest::Gone { own: true }) => return Ok(false),
                // A lock that goes at once: it could have been had, and whoever gets one later changes the row later.
                Some(Newest::Row(csn)) if !keep && !self.shared.locks.is_key_locked(name) => {
                    self.context.note_seen(csn);
                    return Ok(true);
                }
                Some(_) => {}
            }
            let gained = if options.read_past {
                let Some(g) = self.shared.locks.try_lock_key(&mut self.held, name, alone) else {
                    return Ok(false);
                };
                g
            } else {
                self.lock_name(tree, name, alone)?
            };
            let found = tree.inner.tree.lookup(key, row).map_err(|e| self.doom(e.into()))?;
            match found.map(|stamp| self.newest(stamp)) {
                Some(Newest::Row(csn)) => {
                    self.context.note_seen(csn);
                    if keep {
                        self.perhaps_escalate(tree, gained);
                    } else {
                        self.shared.locks.unlock_key(&mut self.held, name, gained);
                    }
                    return Ok(true);
                }
                Some(Newest::Unfinished(xid)) => {
                    self.shared.locks.unlock_key(&mut self.held, name, gained);
                    if options.read_past {
                        return Ok(false);
                    }
                    self.wait_for(tree, xid, alone)?;
                }
                // Gone meanwhile.
                _ => self.shared.locks.unlock_key(&mut self.held, name, gained),
            }
        }
    }

    /// A row that is not there: it stays so.
    fn get_gap(
        &mut self,
        tree: &Tree,
        key: &[u8],
        options: ReadOptions,
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        let (lower, upper) = (Bound::Included(key), Bound::Included(key));
        let mut scan = self.scan(
            tree,
            lower,
            upper,
            ScanOptions { read: options, reverse: false, one_value: false },
        )?;
        match scan.next(self)? {
            Some((_, found)) => {
                row.clear();
                row.extend_from_slice(found);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

/// Where a locking scan stands.
#[derive(Default)]
pub(crate) struct Walk {
    /// The key settled last.
    prev: Option<Vec<u8>>,
    /// Leaves copied up to which the way from the last settled key lies in one leaf.
    leaves: u64,
    /// A lock taken for a row that must be looked at again.
    carried: Option<(RowKey, Gained)>,
    /// Scanning down: the gap above the range is locked.
    top_locked: bool,
    /// Only the gap above the lower bound is wanted.
    pub(crate) only_gap: bool,
    ended: bool,
}

impl Scan {
    /// The next row into the buffers; false at the end.
    pub(crate) fn next_locked(
        &mut self,
        txn: &mut Txn,
        mode: KeyMode,
        keep: bool,
        gaps: bool,
    ) -> Result<bool, EngineError> {
        if self.walk.ended {
            return Ok(false);
        }
        let up = !self.reverse;
        if gaps && !up && !self.walk.top_locked {
            self.lock_top(txn, mode)?;
        }
        if self.walk.leaves == 0 {
            self.walk.leaves = 1;
        }
        let number = self.tree.number();
        loop {
            runtime::task::maybe_yield();
            let found = match self.inner.next().map_err(|e| txn.doom(e.into()))? {
                None => None,
                Some((stamp, key, row)) => {
                    let newest = txn.newest(stamp);
                    if newest == (Newest::Gone { own: false }) {
                        continue;
                    }
                    self.key.clear();
                    self.key.extend_from_slice(key);
                    self.row.clear();
                    self.row.extend_from_slice(row);
                    Some(newest)
                }
            };
            let name = match found {
                Some(_) => name_of(number, &self.key),
                None if gaps && up => end_of(number),
                None => {
                    self.give_carried_back(txn);
                    self.walk.ended = true;
                    return Ok(false);
                }
            };
            // The lock, and whether it was held before this walk looked.
            let (gained, before) = match self.walk.carried {
                Some((carried, gained)) if carried == name => {
                    self.walk.carried = None;
                    (gained, true)
                }
                _ => {
                    self.give_carried_back(txn);
                    let gained = if self.options.read_past {
                        match txn.shared.locks.try_lock_key(&mut txn.held, name, mode) {
                            Some(gained) => gained,
                            None => continue,
                        }
                    } else {
                        txn.lock_name(&self.tree, name, mode)?
                    };
                    (gained, gained == Gained::Nothing)
                }
            };
            let one_leaf = !gaps || !up || self.inner.leaves() <= self.walk.leaves;
            let settled =
                before || (one_leaf && self.inner.is_current().map_err(|e| txn.doom(e.into()))?);
            if !settled {
                self.walk.carried = Some((name, gained));
                self.walk_again();
                continue;
            }
            let beyond = gaps && up && (self.walk.only_gap || self.is_beyond());
            match found {
                Some(Newest::Unfinished(xid)) => {
                    txn.shared.locks.unlock_key(&mut txn.held, name, gained);
                    if !self.options.read_past {
                        txn.wait_for(&self.tree, xid, mode)?;
                        self.walk_again();
                    }
                    continue;
                }
                // Its gap is what was wanted.
                None => {}
                Some(_) if beyond => {}
                Some(Newest::Gone { .. }) => {
                    self.settle();
                    continue;
                }
                Some(Newest::Row(csn)) => {
                    txn.context.note_seen(csn);
                    self.settle();
                    if keep {
                        txn.perhaps_escalate(&self.tree, gained);
                    } else {
                        txn.shared.locks.unlock_key(&mut txn.held, name, gained);
                    }
                    return Ok(true);
                }
            }
            self.walk.ended = true;
            return Ok(false);
        }
    }

    /// The next row in its newest committed state, not locked.
    pub(crate) fn next_newest(&mut self, txn: &mut Txn) -> Result<bool, EngineError> {
        loop {
            runtime::task::maybe_yield();
            let Some((stamp, key, row)) = self.inner.next().map_err(|e| txn.doom(e.into()))? else {
                return Ok(false);
            };
            match txn.newest(stamp) {
                Newest::Gone { .. } => {}
                Newest::Row(csn) => {
                    txn.context.note_seen(csn);
                    self.key.clear();
                    self.key.extend_from_slice(key);
                    self.row.clear();
                    self.row.extend_from_slice(row);
                    self.settle();
                    return Ok(true);
                }
                Newest::Unfinished(_) if self.options.read_past => {}
                Newest::Unfinished(xid) => {
                    txn.wait_for(&self.tree, xid, KeyMode::UPDATE)?;
                    self.walk_again();
                }
            }
        }
    }

    /// The row in the buffers is read: the way goes on behind it.
    fn settle(&mut self) {
        let prev = self.walk.prev.get_or_insert_default();
        prev.clear();
        prev.extend_from_slice(&self.key);
        self.walk.leaves = self.inner.leaves();
    }

    /// From behind the last settled row, with a new look at the tree.
    fn walk_again(&mut self) {
        match &self.walk.prev {
            Some(prev) => self.inner.go_on_behind(prev),
            None => self.inner.look_again(),
        }
        self.walk.leaves = self.inner.leaves() + 1;
    }

    fn give_carried_back(&mut self, txn: &mut Txn) {
        if let Some((name, gained)) = self.walk.carried.take() {
            txn.shared.locks.unlock_key(&mut txn.held, name, gained);
        }
    }

    /// Whether the key in the buffer is above the range.
    fn is_beyond(&self) -> bool {
        match &self.upper {
            Bound::Included(k) => self.key > *k,
            Bound::Excluded(k) => self.key >= *k,
            Bound::Unbounded => false,
        }
    }

    /// Locks the gap above the range.
    fn lock_top(&mut self, txn: &mut Txn, mode: KeyMode) -> Result<(), EngineError> {
        self.walk.top_locked = true;
        let lower = match &self.upper {
            Bound::Unbounded => {
                let _ = txn.lock_name(&self.tree, end_of(self.tree.number()), mode)?;
                return Ok(());
            }
            Bound::Included(k) => Bound::Excluded(k.as_slice()),
            Bound::Excluded(k) => Bound::Included(k.as_slice()),
        };
        let options = ScanOptions { read: self.options, reverse: false, one_value: false };
        let mut top = txn.scan(&self.tree, lower, Bound::Unbounded, options)?;
        top.walk.only_gap = true;
        top.next(txn)?;
        Ok(())
    }
}
