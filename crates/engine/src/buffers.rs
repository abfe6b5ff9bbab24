//! The memory of a database's pages: what lies there, on which node, of what kind of memory; how much it may be, changed
//! while it runs.
//!
//! Promise: what is told is true of a moment; nobody who changes pages is kept waiting for it.

use crate::Database;
use buffer_pool::{NodePages, PageId};
use std::io;
use storage::{PageKind, PageSummary, summary};

/// A page in memory, for sys.dm_os_buffer_descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferDescriptor {
    pub page: PageId,
    /// Whose memory it was given.
    pub node: u16,
    pub is_modified: bool,
    pub summary: PageSummary,
}

impl Database {
    /// The pages in memory. Those that just change hands, or are latched, are left out.
    pub fn buffer_descriptors(&self) -> Vec<BufferDescriptor> {
        let mut all = Vec::with_capacity(self.pool_stats().frames - self.pool_stats().free);
        self.pool.describe(|of| {
            let summary = summary(&of.look);
            if of.look.validate() {
                let (page, node, is_modified) = (of.page, of.node, of.is_modified);
                all.push(BufferDescriptor { page, node, is_modified, summary });
            }
        });
        all
    }

    /// DBCC DROPCLEANBUFFERS: pages that are as their files have them leave memory; how many did. A checkpoint before it
    /// makes that all of them. May yield.
    pub fn drop_clean_buffers(&self) -> usize {
        self.pool.drop_clean()
    }

    /// How many bytes of pages it may hold from now on: at most `most` (and what it was opened with), at least `least` when
    /// the process is short of memory. Those that are too many leave in time, and their memory is given back.
    pub fn set_pool_bounds(&self, least: u64, most: u64) {
        self.pool.set_bounds(least, most);
    }

    /// Bytes of pages that it was opened with.
    pub fn pool_most_bytes(&self) -> u64 {
        self.pool.most_bytes()
    }

    /// Bytes of pages that it may hold.
    pub fn pool_target_bytes(&self) -> u64 {
        self.pool.target_bytes()
    }

    /// Bytes of its pool in huge pages, and backed by memory at all. Reads /proc.
    pub fn pool_huge_bytes(&self) -> (u64, u64) {
        self.pool.huge_bytes()
    }

    /// Bytes of its pool that have memory behind them. Cheap.
    pub fn pool_backed_bytes(&self) -> u64 {
        self.pool.backed_bytes()
    }

    /// Whether its pool cannot be paged out.
    pub fn pool_is_locked(&self) -> bool {
        self.pool.is_locked()
    }

    /// Why its pool can be paged out, and why it is not of reserved huge pages, where it was to be kept in memory or of those.
    pub fn pool_refused(&self) -> (Option<&io::Error>, Option<&io::Error>) {
        self.pool.refused()
    }

    /// Pages in memory by the node that they were given. Cheap.
    pub fn node_pages(&self) -> Vec<NodePages> {
        self.pool.node_pages()
    }

    /// About how many of them lie elsewhere, as the kernel tells.
    pub fn pages_away(&self) -> Vec<NodePages> {
        self.pool.pages_away()
    }

    /// The node that most of the log's buffer lies on; `None` where nobody knows.
    pub fn log_buffer_node(&self) -> Option<usize> {
        self.shared.log.buffer_node()
    }
}

impl BufferDescriptor {
    /// SQL Server's name for what is in it; `None`: nothing. A page of rows is a data page or an index page, by whose tree
    /// it is of.
    pub fn page_type(&self, is_index: bool) -> Option<&'static str> {
        match self.summary.kind {
            PageKind::Leaf if is_index => Some("INDEX_PAGE"),
            PageKind::Leaf => Some("DATA_PAGE"),
            PageKind::Inner => Some("INDEX_PAGE"),
            PageKind::Map => Some("GAM_PAGE"),
            PageKind::Header => Some("FILEHEADER_PAGE"),
            PageKind::Free | PageKind::Unknown => None,
        }
    }
}
