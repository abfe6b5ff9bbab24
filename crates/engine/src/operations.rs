//! What is done with each tree, row by row, and who waits in it: what `sys.dm_db_index_operational_stats` shows.
//!
//! Rows that come, change and go are counted by slot for the optimizer's statistics anyway (`tree.rs`); deletions, scans
//! and look-ups have counters beside them, in lines that their slot alone writes. Whoever has waited adds its wait to
//! counters that all share: it was slow already.
//!
//! Promise: an insert counts as much as it did, and a figure never goes back while the database is open.

use crate::{Database, Tree};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use storage::{TreeId, TreeWaits, WaitFigures};

/// Waits for rows of a tree.
#[derive(Default)]
pub(crate) struct RowWaits {
    count: AtomicU64,
    ns: AtomicU64,
}

/// What has been done with a tree since the database was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OperationFigures {
    /// Rows that were inserted, also where that was taken back.
    pub inserts: u64,
    pub updates: u64,
    /// Rows that became ghosts.
    pub deletes: u64,
    /// Scans that were begun, of ranges or of all.
    pub scans: u64,
    /// Rows that were looked up by their keys, there or not.
    pub lookups: u64,
    /// For rows that others had locked, or had written and not committed.
    pub row_waits: WaitFigures,
    pub page_waits: TreeWaits,
}

impl Tree {
    /// Somebody has waited for rows of it.
    #[cold]
    pub(crate) fn note_row_waits(&self, waited: WaitFigures) {
        let waits = &self.inner.row_waits;
        waits.count.fetch_add(waited.count, Relaxed);
        waits.ns.fetch_add(waited.ns, Relaxed);
    }

    /// But for the waits for its pages.
    fn operations(&self) -> OperationFigures {
        let mut figures = self.counted();
        let waits = &self.inner.row_waits;
        figures.row_waits =
            WaitFigures { count: waits.count.load(Relaxed), ns: waits.ns.load(Relaxed) };
        figures
    }
}

impl Database {
    /// What has been done with a tree on pages since the database was opened; none: nothing.
    pub fn operations_of(&self, id: TreeId) -> Option<OperationFigures> {
        let tree = self.open_tree(id).filter(|tree| !tree.is_memory())?;
        let figures = OperationFigures { page_waits: self.store.waits_of(id), ..tree.operations() };
        (figures != OperationFigures::default()).then_some(figures)
    }
}
