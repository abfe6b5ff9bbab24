//! ALTER INDEX REORGANIZE: a tree is compacted while others use it.
//!
//! Promise: it takes an intent lock on the table and no other (so it keeps out of the way of who has the whole table,
//! DBCC CHECKDB among them), never waits for a row, changes no row, and may stop after any step. What it has done stays,
//! whatever becomes of the transaction: each step is a record of its own that belongs to none.

use crate::{EngineError, Tree, Txn};
use lock_manager::TableMode;
use runtime::task;
use std::sync::atomic::Ordering::*;
use storage::Compacted;
use telemetry::WaitType;

/// How often whoever finds the tree being compacted looks again.
const LOOK_NS: u64 = 10_000_000;

impl Txn {
    /// Compacts a tree's pages up to `percent` of a page. Leaves first, then the pages above them, and leaves again
    /// where those have come together; extents of which nothing is left become free. Suspends. Ends early with
    /// [`EngineError::Cancelled`].
    pub fn compact(&mut self, tree: &Tree, percent: u8) -> Result<Compacted, EngineError> {
        self.enter_for(tree, TableMode::IntentExclusive, true)?;
        // What was deleted a moment ago may have nobody who needs it.
        self.shared.collect_versions();
        let cancel = self.held.cancel.clone();
        let mut stop = || cancel.as_ref().is_some_and(|cancel| cancel.load(Relaxed));
        let mut turn = loop {
            match tree.inner.tree.compaction() {
                Some(turn) => break turn,
                None if stop() => return Err(EngineError::Cancelled),
                None => task::sleep_ns(LOOK_NS, WaitType::SleepTask),
            }
        };
        turn.adopt_free_pages(&mut stop).map_err(|e| self.refuse(tree, e))?;
        loop {
            let mut from = Some(Vec::new());
            while let Some(at) = from {
                let next = turn.leaves(&mut self.context, &at, percent, &mut stop);
                if stop() {
                    return Err(EngineError::Cancelled);
                }
                from = next.map_err(|e| self.refuse(tree, e))?;
            }
            if turn.inner(&mut stop).map_err(|e| self.refuse(tree, e))? == 0 {
                break;
            }
        }
        turn.free_spare_extents().map_err(|e| self.refuse(tree, e))?;
        self.db.check()?;
        Ok(turn.done)
    }
}
