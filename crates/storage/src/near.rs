//! Changes that come in the order of their keys: each looks first at the leaf of the one before.
//!
//! Promise: what [`Tree::update`] and [`Tree::mark_ghost`] do, and no more; a leaf is changed only where the key lies
//! between its fences, which is asked with the leaf latched.

use crate::leaf::{Change, LeafContext};
use crate::tree::{LOG_PURGE, LOG_SLACK, LeafHint, Tree, fits};
use crate::{RowImage, StorageError, TxnLog, slotted};
use buffer_pool::PageWrite;

impl Tree {
    /// [`Tree::update`] where changes come in the order of their keys: the leaf of the one before is looked at first.
    pub fn update_near<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut LeafHint,
    ) -> Result<bool, StorageError> {
        let len = row.bytes.len();
        let bytes = key.len() + len + buffer_pool::PAGE_BYTES;
        self.change_near(log, key, (bytes, len), hint, |cx, w| cx.update(w, key, row))
    }

    /// [`Tree::mark_ghost`] likewise.
    pub fn mark_ghost_near<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        hint: &mut LeafHint,
    ) -> Result<bool, StorageError> {
        self.change_near(log, key, (key.len(), 0), hint, |cx, w| cx.ghost(w, key))
    }

    /// [`Tree::change`], without a descent where the hinted leaf is the one of `key`.
    fn change_near<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        (log_bytes, row_bytes): (usize, usize),
        hint: &mut LeafHint,
        mut f: impl FnMut(&mut LeafContext<'_, L>, &mut PageWrite<'_>) -> Result<Change, StorageError>,
    ) -> Result<bool, StorageError> {
        if hint.is_likely() && fits(key.len(), row_bytes) {
            log.ensure(log_bytes + LOG_SLACK + LOG_PURGE)?;
            if let Some(mut w) = self.hinted(hint) {
                if slotted::above_lower(&w, key) && slotted::below_upper(&w, key) {
                    let system = &*self.store.log;
                    let mut cx = LeafContext { tree: self.id(), log, system, old: Vec::new() };
                    match f(&mut cx, &mut w) {
                        Ok(Change::Done(true)) => {
                            hint.stayed(w.unlock());
                            return Ok(true);
                        }
                        Ok(Change::Done(false)) => {
                            w.unlock_unchanged();
                            return Ok(false);
                        }
                        // It is purged or compacted perhaps, and to be split.
                        Ok(Change::Full) => drop(w),
                        Err(e) => {
                            w.unlock_unchanged();
                            return Err(e);
                        }
                    }
                } else {
                    w.unlock_unchanged();
                }
            }
        }
        let epoch = self.store.epoch();
        let left = self.change(log, key, log_bytes, row_bytes, f)?;
        if left.changed {
            hint.moved(left.page, left.word, epoch);
        }
        Ok(left.changed)
    }
}
