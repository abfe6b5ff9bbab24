//! The pages of one database: its pool, files, filegroups and trees.

use crate::{PageOp, StorageError, SystemLog, Tree, TreeId};
use buffer_pool::{BufferPool, FileId, PageId};
use device::File;
use log_manager::Lsn;
use mvcc::Stamp;
use std::sync::Arc;

/// Number of a filegroup; 1 is PRIMARY.
pub type FilegroupId = u16;

/// See the file's first line.
pub struct Store {
    pool: Arc<BufferPool>,
}

impl Store {
    /// A store without files.
    pub fn new(pool: Arc<BufferPool>, log: Arc<dyn SystemLog>) -> Arc<Store> {
        let _ = log;
        Arc::new(Store { pool })
    }

    /// The pool.
    pub fn pool(&self) -> &Arc<BufferPool> {
        &self.pool
    }

    /// Registers a data file (its headers written by [`crate::write_header`]) as part of a filegroup. `max_bytes`: how far it may grow.
    pub fn add_file(
        &self,
        file_id: FileId,
        filegroup: FilegroupId,
        file: Arc<dyn File>,
        max_bytes: Option<u64>,
    ) -> Result<(), StorageError> {
        let _ = (file_id, filegroup, file, max_bytes);
        unimplemented!()
    }

    /// Makes an empty tree in a filegroup. Its records belong to no transaction: log the intent first, and free the
    /// tree when the transaction does not commit.
    pub fn create_tree(self: &Arc<Self>, filegroup: FilegroupId) -> Result<Tree, StorageError> {
        let _ = filegroup;
        unimplemented!()
    }

    /// Opens a tree that exists. Reads nothing.
    pub fn tree(self: &Arc<Self>, id: TreeId, filegroup: FilegroupId) -> Tree {
        let _ = (id, filegroup);
        unimplemented!()
    }

    /// Frees all extents of a tree. The caller sees to it that nobody uses the tree any more.
    pub fn free_tree(&self, id: TreeId) -> Result<(), StorageError> {
        let _ = id;
        unimplemented!()
    }

    /// Replays `op`, logged at `start..end`; `stamp` is what the envelope says the rows are stamped with. Pages whose
    /// LSN is at least `end` are left alone.
    pub fn redo(&self, stamp: Stamp, start: Lsn, end: Lsn, op: &PageOp<'_>) -> Result<(), StorageError> {
        let _ = (stamp, start, end, op);
        unimplemented!()
    }

    /// The owner of the extent that a page is in.
    pub fn owner_of(&self, page: PageId) -> Result<Option<TreeId>, StorageError> {
        let _ = page;
        unimplemented!()
    }
}
