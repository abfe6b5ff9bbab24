//! The pool: files, frames, and the way in.

use crate::{FileId, PageId, PageRead, PageWrite, PoolError};
use device::File;
use log_manager::{Harden, Lsn};
use std::sync::Arc;

/// How large a pool is.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// Bytes of frames.
    pub bytes: usize,
    /// Bytes of frames touched at once, in huge pages where there are some.
    pub prefault_bytes: usize,
}

/// Figures of a pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct PoolStats {
    /// Frames in all.
    pub frames: usize,
    /// Frames that hold no page.
    pub free: usize,
    /// Pages changed since they were last written.
    pub dirty: usize,
}

/// See the crate.
pub struct BufferPool {
    _wal: Arc<dyn Harden>,
}

/// Frames set aside, so that [`BufferPool::create`] need not wait while latches are held. Unused ones go back on drop.
pub struct FrameReservation<'a> {
    _pool: &'a BufferPool,
}

impl BufferPool {
    /// A pool over a double-write file.
    pub fn new(
        config: PoolConfig,
        wal: Arc<dyn Harden>,
        doublewrite: Arc<dyn File>,
    ) -> Result<Arc<BufferPool>, PoolError> {
        let _ = (config, doublewrite);
        Ok(Arc::new(BufferPool { _wal: wal }))
    }

    /// Makes the pages of a file known; `max_pages` is a reservation of addresses, not of memory.
    pub fn register_file(&self, id: FileId, file: Arc<dyn File>, max_pages: u32) -> Result<(), PoolError> {
        let _ = (id, file, max_pages);
        unimplemented!()
    }

    /// Forgets a file and drops its pages, written or not. Nobody may be using them.
    pub fn unregister_file(&self, id: FileId) {
        let _ = id;
        unimplemented!()
    }

    /// A page to read optimistically; read in first when absent (suspends).
    pub fn optimistic(&self, page: PageId) -> Result<PageRead<'_>, PoolError> {
        let _ = page;
        unimplemented!()
    }

    /// A page to write; read in first when absent (suspends).
    pub fn exclusive(&self, page: PageId) -> Result<PageWrite<'_>, PoolError> {
        let _ = page;
        unimplemented!()
    }

    /// Writes up to `limit` pages whose first unwritten change is below `older_than`; returns how many were written.
    /// Suspends. At most one pass runs at a time; a second waits.
    pub fn checkpoint_pass(&self, older_than: Lsn, limit: usize) -> Result<usize, PoolError> {
        let _ = (older_than, limit);
        unimplemented!()
    }

    /// Writes every dirty page.
    pub fn flush_all(&self) -> Result<usize, PoolError> {
        unimplemented!()
    }

    /// Where redo must start: the least LSN of a change that is not in its file, at most `tail`, the log's tail read
    /// BEFORE the call.
    pub fn min_rec_lsn(&self, tail: Lsn) -> Lsn {
        let _ = tail;
        unimplemented!()
    }

    /// Keeps `free` frames ahead; writes dirty victims. One step of a cleaner; returns frames freed.
    pub fn evict_some(&self, free: usize) -> Result<usize, PoolError> {
        let _ = free;
        unimplemented!()
    }

    /// Touches the next frames before they are needed; `false` when enough are ready. One step of a cleaner.
    pub fn prefault_step(&self) -> bool {
        unimplemented!()
    }

    /// Figures.
    pub fn stats(&self) -> PoolStats {
        unimplemented!()
    }
}
