//! A transaction, and the object that a session keeps for all its transactions on one database.
//!
//! ```text
//! idle --begin--> active --commit/rollback--> idle        (insert_commit: idle -> idle, in one log record)
//! ```

use crate::{
    Database, Durability, EngineError, FilegroupId, InsertHint, Lsn, RowImage, Scan, ScanOptions,
    TableLock, Tree, TreeId, TxnOptions,
};
use std::ops::Bound;
use std::sync::Arc;

/// A place to roll back to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Savepoint {
    pub(crate) undo_len: usize,
}

/// A session's transaction. Reusable: [`Txn::begin`] after the end of one starts the next and allocates nothing.
/// Dropping an active one rolls it back.
pub struct Txn {
    pub(crate) db: Arc<Database>,
}

impl Txn {
    /// The database it belongs to.
    pub fn database(&self) -> &Arc<Database> {
        &self.db
    }

    /// Starts a transaction. Costs nothing until it does something. Panics when one is active.
    pub fn begin(&mut self) {
        unimplemented!()
    }

    /// Whether a transaction is active.
    pub fn is_active(&self) -> bool {
        unimplemented!()
    }

    /// Whether it has changed anything (or locked a table for change).
    pub fn has_written(&self) -> bool {
        unimplemented!()
    }

    /// Options for the next lock request, statement or transaction.
    pub fn set_options(&mut self, options: TxnOptions) {
        let _ = options;
        unimplemented!()
    }

    pub fn options(&self) -> TxnOptions {
        unimplemented!()
    }

    /// Begins a statement: the snapshot that READ COMMITTED reads by, taken at its first read, and the savepoint to
    /// which [`Txn::rollback_statement`] goes back. Statements nest (a procedure's inside EXEC): pairs with
    /// [`Txn::end_statement`].
    pub fn begin_statement(&mut self) {
        unimplemented!()
    }

    /// Ends the statement; its snapshot no longer holds old versions back.
    pub fn end_statement(&mut self) {
        unimplemented!()
    }

    /// Undoes what the statement in progress has changed, and ends it.
    pub fn rollback_statement(&mut self) -> Result<(), EngineError> {
        unimplemented!()
    }

    /// SAVE TRANSACTION.
    pub fn savepoint(&mut self) -> Savepoint {
        unimplemented!()
    }

    /// ROLLBACK TRANSACTION to a savepoint. Locks stay.
    pub fn rollback_to(&mut self, to: Savepoint) -> Result<(), EngineError> {
        let _ = to;
        unimplemented!()
    }

    /// Commits, and waits for the disk if it must. Read-only: waits only if it is to be full and has seen rows that
    /// are not durable yet. The commit number, or [`Lsn::NONE`] when nothing was changed. On an error
    /// (the log is poisoned) the outcome is unknown until the database is opened again; the transaction is over.
    pub fn commit(&mut self, durability: Durability) -> Result<Lsn, EngineError> {
        let _ = durability;
        unimplemented!()
    }

    /// Undoes everything. The transaction is over even on an error.
    pub fn rollback(&mut self) -> Result<(), EngineError> {
        unimplemented!()
    }

    /// Inserts a row. [`EngineError::Duplicate`] if the key is there; waits for a transaction that has inserted or
    /// deleted it and is not finished.
    pub fn insert(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut InsertHint,
    ) -> Result<(), EngineError> {
        let _ = (tree, key, row, hint);
        unimplemented!()
    }

    /// Begin, insert and commit in one log record. The transaction must be idle, or active without having written
    /// anything; it is idle afterwards, also after an error.
    pub fn insert_commit(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut InsertHint,
        durability: Durability,
    ) -> Result<Lsn, EngineError> {
        let _ = (tree, key, row, hint, durability);
        unimplemented!()
    }

    /// The row under `key` as this statement sees it, into `row` (replaced). False if there is none.
    pub fn get(&mut self, tree: &Tree, key: &[u8], row: &mut Vec<u8>) -> Result<bool, EngineError> {
        let _ = (tree, key, row);
        unimplemented!()
    }

    /// Takes the X lock of the row and reads its newest committed (or own) state: what UPDATE and DELETE (and
    /// UPDLOCK/XLOCK) look at after the scan has found the row.
    pub fn read_latest_locked(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &mut Vec<u8>,
    ) -> Result<bool, EngineError> {
        let _ = (tree, key, row);
        unimplemented!()
    }

    /// Replaces the row under `key`. False if there is none (any more).
    pub fn update(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &RowImage<'_>,
    ) -> Result<bool, EngineError> {
        let _ = (tree, key, row);
        unimplemented!()
    }

    /// Deletes the row under `key`. False if there is none (any more).
    pub fn delete(&mut self, tree: &Tree, key: &[u8]) -> Result<bool, EngineError> {
        let _ = (tree, key);
        unimplemented!()
    }

    /// Starts a scan between two keys. Bounds are copied.
    pub fn scan(
        &mut self,
        tree: &Tree,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
        options: ScanOptions,
    ) -> Result<Scan, EngineError> {
        let _ = (tree, lower, upper, options);
        unimplemented!()
    }

    /// Locks a whole table until the end of the transaction.
    pub fn lock_table(&mut self, tree: &Tree, lock: TableLock) -> Result<(), EngineError> {
        let _ = (tree, lock);
        unimplemented!()
    }

    /// Makes an empty tree. Gone again if the transaction rolls back.
    pub fn create_tree(&mut self, filegroup: FilegroupId) -> Result<TreeId, EngineError> {
        let _ = filegroup;
        unimplemented!()
    }

    /// Drops a tree; its pages become free at commit. Takes the Sch-M lock.
    pub fn drop_tree(&mut self, tree: &Tree) -> Result<(), EngineError> {
        let _ = tree;
        unimplemented!()
    }

    /// TRUNCATE TABLE: makes a fresh empty tree in the same filegroup and drops the old one at commit, both undone by
    /// a rollback; the caller stores the new id in its catalog within this transaction.
    pub fn truncate_tree(&mut self, tree: &Tree) -> Result<TreeId, EngineError> {
        let _ = tree;
        unimplemented!()
    }
}
