//! From an entry of an index to its row.

use super::emit::emit;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::error::engine_error;
use crate::message::SqlError;
use engine::ReadOptions;
use planner::Scan;
use types::RowLayout;

/// Rows at a time that the processor is told of, where they are in memory: at first, after the first few entries, and at most.
const FETCHED: std::ops::RangeInclusive<usize> = 4..=engine::KEYS_AHEAD;
/// Entries before the first of these: whoever looks up one row has nothing to fetch it beside.
const ENTRIES_UNASKED: usize = 2;
/// Rows read ahead at a time, at first and at most.
const AHEAD: std::ops::RangeInclusive<usize> = 4..=64;

/// Reads the rows of coming entries in side by side where they are not in memory: one by one, each would wait for the
/// device. Where they are in memory, each would wait for memory: their lines are fetched side by side too.
pub(super) struct Ahead {
    /// Entries to go until it looks again.
    left: usize,
    /// Rows that it reads ahead next.
    most: usize,
    /// Some were absent the last time.
    absent: bool,
    /// Rows that it fetches next.
    fetched: usize,
}

impl Default for Ahead {
    fn default() -> Self {
        Ahead {
            left: ENTRIES_UNASKED,
            most: *AHEAD.start(),
            absent: false,
            fetched: *FETCHED.start(),
        }
    }
}

impl Ahead {
    /// Another reading begins.
    pub fn start(&mut self) {
        self.left = if self.absent { 0 } else { ENTRIES_UNASKED };
    }

    /// Another entry of `scan` is about to be taken, for its row in `tree`.
    #[inline]
    pub fn step(
        &mut self,
        scan: &engine::Scan,
        tree: &engine::Tree,
        layout: &RowLayout,
    ) -> Result<(), engine::EngineError> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => self.look(scan, tree, layout)?,
        }
        Ok(())
    }

    fn look(
        &mut self,
        scan: &engine::Scan,
        tree: &engine::Tree,
        layout: &RowLayout,
    ) -> Result<(), engine::EngineError> {
        // An entry without a locator is an error when its turn comes.
        let locator = |entry| crate::index::locator(layout, entry).ok();
        if !self.absent {
            let coming = scan.coming(self.fetched);
            let count = coming.size_hint().0;
            if count < 2 {
                return Ok(());
            }
            let keys = coming.filter_map(|entry| crate::index::locator_in(layout, entry));
            let mut near = tree.fetch_ahead(keys);
            if !near {
                near = match scan.coming(1).next().and_then(locator) {
                    Some(first) => tree.is_near(&first)?,
                    None => return Ok(()),
                };
            }
            if near {
                self.left = count - 1;
                self.fetched = (2 * self.fetched).min(*FETCHED.end());
                return Ok(());
            }
            self.absent = true;
        }
        if scan.coming(self.most).size_hint().1 < Some(2) {
            return Ok(());
        }
        let keys: Vec<Vec<u8>> = scan.coming(self.most).filter_map(locator).collect();
        let absent = tree.bring_near(keys.iter().map(Vec::as_slice))?;
        self.left = keys.len().saturating_sub(1);
        self.absent = absent > 0;
        self.most = match self.absent {
            true => (2 * self.most).min(*AHEAD.end()),
            false => *AHEAD.start(),
        };
        Ok(())
    }
}

/// What is known of the reading.
pub(super) struct Lookup<'p> {
    pub plan: &'p Scan,
    pub options: ReadOptions,
    pub update: bool,
    pub agree: bool,
}

impl Lookup<'_> {
    /// Reads the row of an entry, and locks it if it is about to be changed. An entry and its row are not read at one
    /// moment, except by versions: a row that has another key by now is not this entry's any more.
    pub fn row(
        &self,
        tree: &engine::Tree,
        key: &[u8],
        entry: &[u8],
        row: &mut Vec<u8>,
        cx: &mut Cx<'_>,
        out: &mut Batch,
    ) -> Result<(), SqlError> {
        let plan = self.plan;
        let table = &*plan.table;
        let Some(at) = plan.index else { return Ok(()) };
        let index = &table.indexes[at];
        let locator = crate::index::locator(&index.layout, entry)?;
        // What cannot qualify is not locked.
        for lock in [false, true] {
            let at_once = plan.for_update && plan.predicate.is_none();
            if (lock && !plan.for_update) || (!lock && at_once) {
                continue;
            }
            let Some(txn) = cx.txn.as_deref_mut() else { return Ok(()) };
            let again = ReadOptions { again: !at_once, ..self.options };
            let found = match lock {
                true => txn.lock_latest(tree, &locator, self.update, again, row),
                false => txn.get_with(tree, &locator, self.options, row),
            };
            if !found.map_err(|e| engine_error(e, Some(table), cx))? {
                return Ok(());
            }
            let same =
                self.agree || crate::index::still_has_key(table, index, row, key, &locator, cx)?;
            if !same || !emit(plan, &locator, row, cx, out)? {
                return Ok(());
            }
            if plan.for_update && !lock {
                out.pop();
            }
        }
        Ok(())
    }
}
