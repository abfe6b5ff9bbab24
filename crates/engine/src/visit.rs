//! A row that a statement reads by its whole key, and nothing else: without the bracket of a statement.
//!
//! Under READ COMMITTED by row versions a statement sees what had committed when it began to read. One that looks at one
//! leaf, once, begins to read with that look: if what lies there has committed, it is what a snapshot taken at that moment
//! shows. So no snapshot is published, no older version is held back, and the table's Sch-S lock is a count for as long as
//! the look takes, as the IX lock of an insert is. What the look alone does not answer (a writer at work, a row that is
//! not durable where readers go by that, another level, somebody who wants the whole table) is no answer, and the caller
//! asks again within a statement.
//!
//! Promise: an answer is one that [`Txn::get`] in a statement of its own could have given at that moment, and what a full
//! commit must wait for is noted all the same.

use crate::gaps::Newest;
use crate::{EngineError, Isolation, Tree, Txn};
use mvcc::Stamp;
use std::sync::atomic::Ordering::SeqCst;
use transaction::{Bug, planted};

impl Txn {
    /// The row under `key` into `row` (replaced), and whether there is one. None: not as things are, see the file's first
    /// lines. Only within a transaction, and outside of its statements.
    pub fn visit(
        &mut self,
        tree: &Tree,
        key: &[u8],
        row: &mut Vec<u8>,
    ) -> Result<Option<bool>, EngineError> {
        self.check()?;
        let plainly = self.options.isolation == Isolation::ReadCommitted
            && self.db.read_committed_snapshot()
            && !self.in_statement()
            && !self.is_reader
            && self.txn_snapshot.is_none()
            && !tree.is_memory()
            && !planted(Bug::DirtyReads);
        if !plainly {
            return Ok(None);
        }
        let number = tree.number();
        let locked = self.held.has_table(number);
        if !locked && !self.shared.locks.try_visit_table(number) {
            return Ok(None);
        }
        // The look may wait for a page, but for nobody else.
        let found = match tree.is_current() {
            true => tree.inner.tree.lookup(key, row).map(Some),
            false => Ok(None),
        };
        if !locked {
            self.shared.locks.leave_visited_table(number);
        }
        let there = match found.map_err(|e| self.doom(e.into()))? {
            // Its definition has changed, perhaps by this very transaction.
            None => None,
            Some(None) => Some(false),
            Some(Some(stamp)) => self.settled(stamp),
        };
        // Else it is looked up by who asks again.
        if there.is_some() {
            tree.count_lookup();
        }
        Ok(there)
    }

    /// Whether a row stamped so is there, to whoever takes a snapshot now; none where that takes a snapshot to tell.
    #[inline]
    fn settled(&mut self, stamp: Stamp) -> Option<bool> {
        let csn = match self.newest(stamp) {
            Newest::Row(csn) => csn,
            Newest::Gone { own: true } => return Some(false),
            // A row that has gone: since when, is not at hand.
            Newest::Gone { own: false } | Newest::Unfinished(_) => return None,
        };
        // As in `take_snapshot`: what is not durable is not there for those who go by that.
        if csn >= self.shared.log.durable() {
            if self.shared.read_durable.load(SeqCst) {
                return None;
            }
            self.context.note_seen(csn);
        }
        Some(true)
    }
}
