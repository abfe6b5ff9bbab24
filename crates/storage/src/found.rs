//! A row looked up in order to be changed: the change goes back to the leaf where the look-up found it.
//!
//! Between the two nothing is latched, so whoever looks may compute what the row becomes, and wait. The change is made
//! only to the row that was seen: the leaf is as it was (its word says so), or the row in it still has its stamp. A
//! stamp names one state of a row: each change of it by another transaction gives it another one, and taking that back
//! gives it its old one with its old bytes. (A transaction's own changes share a stamp; it looks again after each.)

use crate::leaf;
use crate::log::OnWrite;
use crate::slotted;
use crate::tree::{LOG_SLACK, LeafHint, Tree};
use crate::{LogRow, PageOp, RowImage, StorageError, TreeId, TxnLog};
use buffer_pool::{PageId, PageWrite};
use mvcc::Stamp;

/// What a look-up found. Keep one to save the memory of its row.
#[derive(Clone, Debug, Default)]
pub struct Found {
    leaf: LeafHint,
    /// Where in the leaf.
    slot: usize,
    stamp: Stamp,
    /// The row, a ghost's too.
    pub row: Vec<u8>,
}

impl Found {
    /// One that is not gone back to.
    pub(crate) fn of(stamp: Stamp, row: Vec<u8>) -> Found {
        Found { stamp, row, ..Found::default() }
    }

    /// The stamp that the row had.
    pub(crate) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// What is to be logged when the row gives way to `row`, or to nothing.
    #[inline]
    pub(crate) fn op<'a>(
        &'a self,
        tree: TreeId,
        page: PageId,
        key: &'a [u8],
        row: Option<&RowImage<'a>>,
    ) -> PageOp<'a> {
        let old_stamp = self.stamp;
        match row {
            Some(row) => {
                let row = LogRow::from(row);
                PageOp::Update { tree, page, key, row, old_stamp, old_row: &self.row }
            }
            None => PageOp::Ghost { tree, page, key, old_stamp, row: &self.row },
        }
    }
}

/// How the change of a row went that was looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoundChange {
    /// Done.
    Done,
    /// Nothing is changed: the row, or the way to it, is not as it was.
    Moved,
    /// Nothing is changed: the leaf has no room as it is.
    Full,
    /// Nothing is changed: [`TxnLog::may_change`] said no.
    Refused,
}

impl Tree {
    /// [`Tree::lookup`] with a change to follow.
    pub fn look(&self, key: &[u8], found: &mut Found) -> Result<Option<Stamp>, StorageError> {
        let epoch = self.store.epoch();
        let (stamp, leaf) = self.seek(key, |leaf, i| {
            found.slot = i;
            slotted::read_row(leaf, i, &mut found.row);
        })?;
        found.leaf = LeafHint::of(leaf.id(), leaf.seen(), epoch);
        found.stamp = stamp.unwrap_or_default();
        Ok(stamp)
    }

    /// Replaces the row that was found under `key`.
    pub fn update_found<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        found: &Found,
        row: &RowImage<'_>,
    ) -> Result<FoundChange, StorageError> {
        log.ensure(key.len() + row.bytes.len() + found.row.len() + LOG_SLACK)?;
        let (mut w, i) = match self.latch_found(log, key, found)? {
            Ok(latched) => latched,
            Err(change) => return Ok(change),
        };
        if !leaf::has_room_instead(&w, i, key, row) {
            w.unlock_unchanged();
            return Ok(FoundChange::Full);
        }
        let logged = log.log(&found.op(self.id(), w.id(), key, Some(row)));
        leaf::replace_or_ghost(&mut w, i, Some(row), logged);
        Ok(FoundChange::Done)
    }

    /// Deletes the row that was found under `key`, leaving a ghost.
    pub fn ghost_found<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        found: &Found,
    ) -> Result<FoundChange, StorageError> {
        log.ensure(key.len() + LOG_SLACK)?;
        let (mut w, i) = match self.latch_found(log, key, found)? {
            Ok(latched) => latched,
            Err(change) => return Ok(change),
        };
        let logged = log.log(&found.op(self.id(), w.id(), key, None));
        leaf::replace_or_ghost(&mut w, i, None, logged);
        Ok(FoundChange::Done)
    }

    /// Latches the leaf of a row that is as it was found, and may be changed.
    fn latch_found<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        found: &Found,
    ) -> Result<Result<(PageWrite<'_>, usize), FoundChange>, StorageError> {
        let Some((w, i)) = self.latch_as_found(key, found) else {
            return Ok(Err(FoundChange::Moved));
        };
        let answer = match log.before_write(found.stamp) {
            OnWrite::Proceed if log.may_change(self.id(), key) => return Ok(Ok((w, i))),
            OnWrite::Proceed => Ok(Err(FoundChange::Refused)),
            OnWrite::Gone | OnWrite::Wait(_) => Ok(Err(FoundChange::Moved)),
            OnWrite::Conflict => Err(StorageError::Conflict),
        };
        w.unlock_unchanged();
        answer
    }

    /// Latches the leaf of a row that is as it was found; where it is there.
    #[inline]
    pub(crate) fn latch_as_found(
        &self,
        key: &[u8],
        found: &Found,
    ) -> Option<(PageWrite<'_>, usize)> {
        let w = self.hinted(&found.leaf)?;
        // Seldom has anything come into the leaf below it.
        let stays = slotted::is_at(&w, found.slot, key);
        let at = if stays { Ok(found.slot) } else { slotted::search(&w, key) };
        match at {
            Ok(i) if slotted::entry_head(&w, i) == found.stamp.0 => Some((w, i)),
            _ => {
                w.unlock_unchanged();
                None
            }
        }
    }
}
