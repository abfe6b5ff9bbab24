//! From an entry of an index to its row.

use super::emit::emit;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::error::engine_error;
use crate::message::SqlError;
use engine::ReadOptions;
use planner::Scan;

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
            let found = match lock {
                true => txn.lock_latest(tree, &locator, self.update, self.options, row),
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
