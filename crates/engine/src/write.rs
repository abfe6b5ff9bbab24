//! What a transaction changes.
//!
//! Inserts take no row lock: the stamp of an unfinished transaction is the lock, and who meets it waits for its end.
//! They ask about the gap that they come into only where somebody may have locked one (`gaps.rs`).
//! Updates and deletes take the row's X lock first, so they queue there in order, and then still wait for an
//! unfinished inserter whose stamp they meet. An entry of an index changes after its row, whose lock keeps other writers
//! out of both: it is not locked again.

use crate::commit_timer::CommitTimer;
use crate::gaps::name_of;
use crate::txn::State;
use crate::{Durability, EngineError, InsertHint, Lsn, RowImage, TableLock, Tree, Txn};
use lock_manager::{KeyMode, TableMode};
use mvcc::Xid;
use storage::StorageError;
use telemetry::{Counter, counters};
use transaction::{FusedInsert, Unlocked};

impl Txn {
    /// Inserts a row. [`EngineError::Duplicate`] if the key is there; waits for a transaction that has inserted or
    /// deleted it and is not finished.
    pub fn insert(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut InsertHint,
    ) -> Result<(), EngineError> {
        if let Some(memory) = tree.memory() {
            return self.memory_insert(tree, memory, key, row);
        }
        self.enter(tree, TableMode::IntentExclusive)?;
        self.prepare_write()?;
        loop {
            let mut guarded = self.context.guarded(&tree.inner.guards);
            match tree.inner.tree.insert(&mut guarded, key, row, hint) {
                Ok(()) => break,
                Err(StorageError::WaitFor(xid)) => self.wait_for(tree, xid, KeyMode::EXCLUSIVE)?,
                Err(StorageError::GapGuarded) => {
                    self.insert_into_gap(tree, key, row, hint)?;
                    break;
                }
                Err(e) => return Err(self.refuse(tree, e)),
            }
        }
        tree.count_rows(1);
        Ok(())
    }

    /// [`Txn::insert`] as a statement of its own, which needs no savepoint: of one that fails nothing is there.
    #[inline]
    pub fn insert_alone(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut InsertHint,
    ) -> Result<(), EngineError> {
        let inserted = self.insert(tree, key, row, hint);
        self.end_alone();
        inserted
    }

    /// A statement has ended that has read nothing by a snapshot or a brief lock, and so was not begun: see
    /// [`Txn::begin_statement`].
    #[inline]
    pub fn end_alone(&mut self) {
        self.note_statement();
    }

    /// Begin, insert and commit in one log record. The transaction must be idle, or active without having written
    /// anything; it is idle afterwards, also after an error. `unix_ns`: the clock as the caller has read it for the row
    /// itself, without suspending since; unless the insert has to wait, it is the time of the commit, which restoring to
    /// a point in time goes by, and is not read again.
    pub fn insert_commit(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut InsertHint,
        durability: Durability,
        unix_ns: Option<u64>,
    ) -> Result<Lsn, EngineError> {
        if self.has_written() || self.state == State::Doomed {
            stdx::fatal!("insert_commit in a transaction that has written or is doomed");
        }
        self.db.check_writable()?;
        let durability = self.db.resolve(durability);
        let timed = CommitTimer::start(durability);
        let number = tree.number();
        let locked = self.held.covers_table(number, TableMode::IntentExclusive);
        if tree.is_memory() {
            return self.insert_then_commit(tree, key, row, hint, durability);
        }
        if self.is_snapshot() || !(locked || self.shared.locks.try_enter_table(number)) {
            return self.insert_then_commit(tree, key, row, hint, durability);
        }
        let central = self.shared.xids.enter_central();
        let mut fused = FusedInsert::new(&self.shared, &tree.inner.guards, unix_ns);
        let inserted = if tree.is_current() {
            tree.inner.tree.insert(&mut fused, key, row, hint).map_err(Some)
        } else {
            Err(None)
        };
        let (at, saw) = (fused.appended(), fused.saw());
        if !locked {
            self.shared.locks.leave_table(number);
        }
        if central {
            self.leave_central(inserted.is_ok());
        }
        match inserted {
            Ok(()) => {}
            Err(Some(StorageError::WaitFor(_) | StorageError::GapGuarded)) => {
                return self.insert_then_commit(tree, key, row, hint, durability);
            }
            Err(e) => {
                self.context.note_seen(saw);
                let e = e.map_or(EngineError::NoSuchTree, |e| self.refuse(tree, e));
                if self.is_active() {
                    self.rollback()?;
                }
                return Err(e);
            }
        }
        let Some(at) = at else { stdx::fatal!("an insert succeeded and was not logged") };
        tree.count_rows(1);
        self.end_in_one(at.end, durability, timed)?;
        Ok(at.start)
    }

    /// The end of a transaction that is one record, which is in the log, and its rows in their places.
    #[inline]
    pub(crate) fn end_in_one(
        &mut self,
        end: Lsn,
        durability: Durability,
        timed: CommitTimer,
    ) -> Result<(), EngineError> {
        if self.is_active() {
            self.finish();
        }
        counters::add(Counter::SingletonInserts, 1);
        self.status.note_singleton();
        self.harden(end, durability)?;
        timed.stop();
        Ok(())
    }

    /// The classic transaction manager's share of a fused transaction's end.
    #[cold]
    pub(crate) fn leave_central(&self, committed: bool) {
        if committed {
            self.shared.xids.is_more_than_one_writer_active();
        }
        self.shared.xids.leave_central();
    }

    /// The long way: somebody holds the key or wants the table, or that is in memory.
    fn insert_then_commit(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut InsertHint,
        durability: Durability,
    ) -> Result<Lsn, EngineError> {
        if !self.is_active() {
            self.begin();
        }
        match self.insert(tree, key, row, hint) {
            Ok(()) => self.commit(durability),
            Err(e) => {
                self.rollback()?;
                Err(e)
            }
        }
    }

    /// Replaces the row under `key`. False if there is none (any more).
    pub fn update(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
    ) -> Result<bool, EngineError> {
        if let Some(memory) = tree.memory() {
            return self.memory_change(tree, memory, key, Some(row));
        }
        self.enter(tree, TableMode::IntentExclusive)?;
        self.lock_row(tree, key)?;
        self.prepare_write()?;
        loop {
            match tree.inner.tree.update(&mut self.context, key, row) {
                Ok(found) => {
                    tree.count_changes(i64::from(found));
                    return Ok(found);
                }
                Err(StorageError::WaitFor(xid)) => self.wait_for(tree, xid, KeyMode::EXCLUSIVE)?,
                Err(e) => return Err(self.refuse(tree, e)),
            }
        }
    }

    /// Deletes the row under `key`. False if there is none (any more).
    pub fn delete(&mut self, tree: &Tree, key: &[u8]) -> Result<bool, EngineError> {
        if let Some(memory) = tree.memory() {
            return self.memory_change(tree, memory, key, None);
        }
        self.enter(tree, TableMode::IntentExclusive)?;
        self.lock_row(tree, key)?;
        self.prepare_write()?;
        loop {
            match tree.inner.tree.mark_ghost(&mut self.context, key) {
                Ok(found) => {
                    tree.count_deleted(i64::from(found));
                    return Ok(found);
                }
                Err(StorageError::WaitFor(xid)) => self.wait_for(tree, xid, KeyMode::EXCLUSIVE)?,
                Err(e) => return Err(self.refuse(tree, e)),
            }
        }
    }

    /// [`Txn::update`] of an entry of an index, whose row the transaction has locked: without a lock of its own, unless
    /// somebody else has it locked (transaction's `unlocked.rs`).
    pub fn update_entry(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
    ) -> Result<bool, EngineError> {
        match self.change_entry(tree, |tree, log| tree.update(log, key, row))? {
            Some(found) => {
                tree.count_changes(i64::from(found));
                Ok(found)
            }
            None => self.update(tree, key, row),
        }
    }

    /// [`Txn::delete`] likewise.
    pub fn delete_entry(&mut self, tree: &Tree, key: &[u8]) -> Result<bool, EngineError> {
        match self.change_entry(tree, |tree, log| tree.mark_ghost(log, key))? {
            Some(found) => {
                tree.count_deleted(i64::from(found));
                Ok(found)
            }
            None => self.delete(tree, key),
        }
    }

    /// [`Txn::update_entry`] where entries change in the order of their keys; `hint`: where the last one changed, or came.
    pub fn update_entry_near(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut InsertHint,
    ) -> Result<bool, EngineError> {
        match self.change_entry(tree, |tree, log| tree.update_near(log, key, row, hint))? {
            Some(found) => {
                tree.count_changes(i64::from(found));
                Ok(found)
            }
            None => self.update(tree, key, row),
        }
    }

    /// [`Txn::delete_entry`] likewise.
    pub fn delete_entry_near(
        &mut self,
        tree: &Tree,
        key: &[u8],
        hint: &mut InsertHint,
    ) -> Result<bool, EngineError> {
        match self.change_entry(tree, |tree, log| tree.mark_ghost_near(log, key, hint))? {
            Some(found) => {
                tree.count_deleted(i64::from(found));
                Ok(found)
            }
            None => self.delete(tree, key),
        }
    }

    /// What a change without a lock gave; none: it takes a lock, or a wait.
    fn change_entry(
        &mut self,
        tree: &Tree,
        change: impl FnOnce(&storage::Tree, &mut Unlocked<'_>) -> Result<bool, StorageError>,
    ) -> Result<Option<bool>, EngineError> {
        if tree.is_memory() {
            return Ok(None);
        }
        self.enter(tree, TableMode::IntentExclusive)?;
        self.prepare_write()?;
        match change(&tree.inner.tree, &mut Unlocked(&mut self.context)) {
            Ok(found) => Ok(Some(found)),
            Err(StorageError::Locked | StorageError::WaitFor(_)) => Ok(None),
            Err(e) => Err(self.refuse(tree, e)),
        }
    }

    /// Locks a whole table until the end of the transaction.
    pub fn lock_table(&mut self, tree: &Tree, lock: TableLock) -> Result<(), EngineError> {
        self.lock_table_for(tree, lock, false, false)
    }

    /// The same; a `brief` lock goes with the statement, `no_wait` is 1222 at once.
    pub fn lock_table_for(
        &mut self,
        tree: &Tree,
        lock: TableLock,
        brief: bool,
        no_wait: bool,
    ) -> Result<(), EngineError> {
        let mode = match lock {
            TableLock::IntentShared => TableMode::IntentShared,
            TableLock::IntentExclusive => TableMode::IntentExclusive,
            TableLock::Shared => TableMode::Shared,
            TableLock::Update => TableMode::Update,
            TableLock::Exclusive => TableMode::Exclusive,
            TableLock::SchemaModification => TableMode::SchemaModification,
        };
        let waiting = self.wait_as(no_wait);
        let locked = self.enter_for(tree, mode, brief);
        self.no_wait = waiting;
        locked
    }

    /// The X lock of a row, unless the whole table is ours.
    pub(crate) fn lock_row(&mut self, tree: &Tree, key: &[u8]) -> Result<(), EngineError> {
        let gained = self.lock_name(tree, name_of(tree.number(), key), KeyMode::EXCLUSIVE)?;
        self.perhaps_escalate(tree, gained);
        Ok(())
    }

    /// Waits for another transaction to end, to get `mode` of a row that it has written.
    #[cold]
    pub(crate) fn wait_for(
        &mut self,
        tree: &Tree,
        xid: Xid,
        mode: KeyMode,
    ) -> Result<(), EngineError> {
        let shared = self.shared.clone();
        if shared.xids.is_loser(xid) {
            return self.await_loser(xid);
        }
        // Over by now; unless its rollback failed, after which its rows stay as they are and the database refuses.
        let Some(holder) = shared.xids.owner(xid) else { return self.db.check() };
        let timeout = self.timeout_ns();
        self.held.cost = self.context.log_bytes();
        shared.log.give_back();
        let unfinished = || shared.xids.is_unfinished(xid);
        let waited =
            shared.locks.wait_for_end(&mut self.held, xid.0, holder, mode, timeout, unfinished);
        self.note_waits_in(tree);
        waited.map_err(|e| self.doom(e.into()))?;
        self.db.check()
    }

    /// SNAPSHOT isolation: what counts as a conflict is fixed before the first write. 3906 in a database that is
    /// read-only.
    #[inline]
    pub(crate) fn prepare_write(&mut self) -> Result<(), EngineError> {
        self.db.check_writable()?;
        if self.is_snapshot() && self.txn_snapshot.is_none() {
            self.snapshot();
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn refuse(&mut self, tree: &Tree, e: StorageError) -> EngineError {
        let e = match e {
            StorageError::FilegroupFull => {
                EngineError::FilegroupFull { filegroup: tree.inner.tree.filegroup() }
            }
            e => e.into(),
        };
        self.doom(e)
    }
}
