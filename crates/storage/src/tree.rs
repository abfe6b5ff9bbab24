//! A B+tree of byte-comparable keys over pages of one filegroup.

use crate::{FilegroupId, RowImage, Store, StorageError, TxnLog, Undo};
use buffer_pool::PageId;
use mvcc::Stamp;
use std::ops::Bound;
use std::sync::Arc;

/// Name of a tree: its root page, which never moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
#[repr(transparent)]
pub struct TreeId(pub PageId);

/// The leaf of a session's last insert, checked before use. Keep one per session and tree.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeafHint {
    pub(crate) page: PageId,
    pub(crate) word: u64,
    pub(crate) epoch: u64,
}

/// An open tree. Cheap to clone; all clones of one tree come from [`Store::tree`].
#[derive(Clone)]
pub struct Tree {
    store: Arc<Store>,
    id: TreeId,
    filegroup: FilegroupId,
}

impl Tree {
    /// The tree's name.
    pub fn id(&self) -> TreeId {
        self.id
    }

    /// Where its pages come from.
    pub fn filegroup(&self) -> FilegroupId {
        self.filegroup
    }

    /// The store it lives in.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Adds a row. Errors: `Duplicate`, `WaitFor`, `RowTooLarge`, `FilegroupFull`, pool and log.
    pub fn insert<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut LeafHint,
    ) -> Result<(), StorageError> {
        let _ = (log, key, row, hint);
        unimplemented!()
    }

    /// Replaces the row under `key`; `false` when there is none (or [`crate::OnWrite::Gone`]).
    pub fn update<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        row: &RowImage<'_>,
    ) -> Result<bool, StorageError> {
        let _ = (log, key, row);
        unimplemented!()
    }

    /// Deletes the row under `key`, leaving a ghost; `false` when there is none.
    pub fn mark_ghost<L: TxnLog>(&self, log: &mut L, key: &[u8]) -> Result<bool, StorageError> {
        let _ = (log, key);
        unimplemented!()
    }

    /// Takes an op back, logging the compensation through `log`.
    pub fn apply_undo<L: TxnLog>(&self, log: &mut L, undo: &Undo<'_>) -> Result<(), StorageError> {
        let _ = (log, undo);
        unimplemented!()
    }

    /// The newest row under `key` (a ghost's too) replaces what is in `row`; returns its stamp.
    pub fn lookup(&self, key: &[u8], row: &mut Vec<u8>) -> Result<Option<Stamp>, StorageError> {
        let _ = (key, row);
        unimplemented!()
    }

    /// Walks the rows between the bounds, ghosts and all, a copied leaf at a time.
    pub fn scan(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>, reverse: bool) -> crate::Scan {
        let _ = (lower, upper, reverse);
        unimplemented!()
    }
}
