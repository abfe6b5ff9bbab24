//! Changing the rows of one latched leaf, with the log told first.
//!
//! Invariants: a change is logged only once it is certain to fit, and then made; what is logged is exactly what
//! `redo` repeats, so both go through the same functions of `slotted`. A leaf is declared full a little early: room
//! for a later upper fence stays, so that an ascending split need not rebuild it.

use crate::log::{Logged, OnExisting, OnWrite, SystemLog, TxnLog};
use crate::slotted::{self, Space, entry_bytes, pad8};
use crate::{LogRow, PageOp, RowImage, StorageError, TreeId, UndoAction};
use buffer_pool::{PageId, PageWordsMut, PageWrite, header};
use mvcc::Stamp;
use std::cmp::Ordering;

/// How a change of a leaf went.
pub(crate) enum Change {
    /// Done (`false`: there was nothing to change).
    Done(bool),
    /// The leaf has no room; nothing changed, but for a purge or compaction.
    Full,
}

/// What the slow paths need besides the leaf.
pub(crate) struct LeafContext<'a, L> {
    pub(crate) tree: TreeId,
    pub(crate) log: &'a mut L,
    pub(crate) system: &'a dyn SystemLog,
    /// For rows on their way out.
    pub(crate) old: Vec<u8>,
}

/// The slot for a key that is not there, which lies between the fences; `None`: it is, or does not.
#[inline]
pub(crate) fn place_for(w: &PageWrite<'_>, key: &[u8]) -> Option<usize> {
    let slots = Space::of(w).slots;
    let pos = if slots == 0 {
        slotted::above_lower(w, key).then_some(0)?
    } else if slotted::compare_slot(w, slots - 1, key) == Ordering::Less {
        slots
    } else if slotted::above_lower(w, key) {
        slotted::search(w, key).err()?
    } else {
        return None;
    };
    slotted::below_upper(w, key).then_some(pos)
}

/// What a new entry takes of a leaf's gap, with its place among the others.
#[inline]
pub(crate) fn bytes_for(key: &[u8], row: &RowImage<'_>) -> usize {
    entry_bytes(key.len(), row.bytes.len()) + 8 + pad8(key.len())
}

/// Whether `row` fits in the place of the one that slot `i` has.
#[inline]
pub(crate) fn has_room_instead(
    w: &PageWrite<'_>,
    i: usize,
    key: &[u8],
    row: &RowImage<'_>,
) -> bool {
    let space = Space::of(w);
    let (bytes, old) = (entry_bytes(key.len(), row.bytes.len()), slotted::slot(w, i).bytes);
    bytes <= old || space.gap() + space.dead + old >= bytes + pad8(key.len())
}

/// Has slot `i` take `row`, which is known to fit, or become a ghost, as was logged.
#[inline]
pub(crate) fn replace_or_ghost(
    w: &mut PageWrite<'_>,
    i: usize,
    row: Option<&RowImage<'_>>,
    logged: Logged,
) {
    match row {
        Some(row) => put(w, i, logged.stamp, row.bytes),
        None => slotted::set_head(w, i, logged.stamp.ghost().0),
    }
    w.set_lsn(logged.start, logged.end);
}

/// Appends or inserts without any of the rarer cases; `None`: one of them, nothing changed.
#[inline]
pub(crate) fn insert_fast<L: TxnLog>(
    w: &mut PageWrite<'_>,
    tree: TreeId,
    log: &mut L,
    key: &[u8],
    row: &RowImage<'_>,
) -> Option<()> {
    let pos = place_for(w, key)?;
    let space = Space::of(w);
    if space.gap() < bytes_for(key, row) || log.gap_guarded() {
        return None;
    }
    let op = PageOp::Insert { tree, page: w.id(), key, row: LogRow::from(row) };
    let logged = log.log(&op);
    slotted::insert_at(w, space, pos, logged.stamp.0, key, row.bytes);
    w.set_lsn(logged.start, logged.end);
    Some(())
}

impl<L: TxnLog> LeafContext<'_, L> {
    /// Adds a row to the leaf whose fences hold `key`.
    pub(crate) fn insert(
        &mut self,
        w: &mut PageWrite<'_>,
        key: &[u8],
        row: &RowImage<'_>,
    ) -> Result<Change, StorageError> {
        let pos = match slotted::search(w, key) {
            Ok(i) => {
                return match self.log.conflict(Stamp(slotted::entry_head(w, i))) {
                    OnExisting::Duplicate => Err(StorageError::Duplicate),
                    OnExisting::Wait(xid) => Err(StorageError::WaitFor(xid)),
                    OnExisting::ReplaceGhost if self.log.gap_guarded() => {
                        Err(StorageError::GapGuarded)
                    }
                    OnExisting::ReplaceGhost => Ok(self.replace(w, i, key, row)),
                };
            }
            Err(pos) => pos,
        };
        if self.log.gap_guarded() {
            return Err(StorageError::GapGuarded);
        }
        let Some(at) = self.make_room(w, pos, key, row.bytes.len()) else {
            return Ok(Change::Full);
        };
        let op = PageOp::Insert { tree: self.tree, page: w.id(), key, row: LogRow::from(row) };
        let logged = self.log.log(&op);
        let space = Space::of(w);
        slotted::insert_at(w, space, at, logged.stamp.0, key, row.bytes);
        w.set_lsn(logged.start, logged.end);
        Ok(Change::Done(true))
    }

    /// Makes room for an entry, purging and compacting; the slot, which may have moved, or `None`: full.
    fn make_room(
        &mut self,
        w: &mut PageWrite<'_>,
        mut pos: usize,
        key: &[u8],
        row: usize,
    ) -> Option<usize> {
        let space = Space::of(w);
        let slack = if space.slots == 0 { 0 } else { pad8(key.len()) };
        let bytes = entry_bytes(key.len(), row) + 8 + slack;
        if space.gap() >= bytes {
            return Some(pos);
        }
        if space.gap() + space.dead < bytes {
            if self.purge(w) == 0 {
                return None;
            }
            pos = slotted::search(w, key).err()?;
            let space = Space::of(w);
            if space.gap() + space.dead < bytes {
                return None;
            }
        }
        slotted::compact(w);
        Some(pos)
    }

    /// Takes dead ghosts off the leaf; how many.
    pub(crate) fn purge(&mut self, w: &mut PageWrite<'_>) -> usize {
        let mut slots: Vec<u8> = Vec::new();
        for i in 0..Space::of(w).slots {
            let stamp = Stamp(slotted::entry_head(w, i));
            let mut key = || {
                let mut key = Vec::new();
                slotted::read_key(w, i, &mut key);
                key
            };
            if stamp.is_ghost() && self.log.purgeable(stamp, self.tree, &mut key) {
                slots.extend_from_slice(&(i as u16).to_le_bytes());
            }
        }
        if slots.is_empty() {
            return 0;
        }
        let op = PageOp::Purge { tree: self.tree, page: w.id(), slots: &slots };
        let logged = self.system.log(&op);
        purge_slots(w, &slots);
        w.set_lsn(logged.start, logged.end);
        slots.len() / 2
    }

    fn replace(
        &mut self,
        w: &mut PageWrite<'_>,
        i: usize,
        key: &[u8],
        row: &RowImage<'_>,
    ) -> Change {
        if !has_room_instead(w, i, key, row) {
            return Change::Full;
        }
        slotted::read_row(w, i, &mut self.old);
        let op = PageOp::Update {
            tree: self.tree,
            page: w.id(),
            key,
            row: LogRow::from(row),
            old_stamp: Stamp(slotted::entry_head(w, i)),
            old_row: &self.old,
        };
        let logged = self.log.log(&op);
        replace_or_ghost(w, i, Some(row), logged);
        Change::Done(true)
    }

    fn may_write(&mut self, key: &[u8], existing: Stamp) -> Result<bool, StorageError> {
        match self.log.before_write(existing) {
            OnWrite::Proceed if self.log.may_change(self.tree, key) => Ok(true),
            OnWrite::Proceed => Err(StorageError::Locked),
            OnWrite::Gone => Ok(false),
            OnWrite::Wait(xid) => Err(StorageError::WaitFor(xid)),
            OnWrite::Conflict => Err(StorageError::Conflict),
        }
    }

    /// Replaces a row.
    pub(crate) fn update(
        &mut self,
        w: &mut PageWrite<'_>,
        key: &[u8],
        row: &RowImage<'_>,
    ) -> Result<Change, StorageError> {
        let Ok(i) = slotted::search(w, key) else { return Ok(Change::Done(false)) };
        if !self.may_write(key, Stamp(slotted::entry_head(w, i)))? {
            return Ok(Change::Done(false));
        }
        Ok(self.replace(w, i, key, row))
    }

    /// Makes a row a ghost.
    pub(crate) fn ghost(
        &mut self,
        w: &mut PageWrite<'_>,
        key: &[u8],
    ) -> Result<Change, StorageError> {
        let Ok(i) = slotted::search(w, key) else { return Ok(Change::Done(false)) };
        let old_stamp = Stamp(slotted::entry_head(w, i));
        if !self.may_write(key, old_stamp)? {
            return Ok(Change::Done(false));
        }
        slotted::read_row(w, i, &mut self.old);
        let op = PageOp::Ghost { tree: self.tree, page: w.id(), key, old_stamp, row: &self.old };
        let logged = self.log.log(&op);
        replace_or_ghost(w, i, None, logged);
        Ok(Change::Done(true))
    }

    /// Takes a change back.
    pub(crate) fn undo(
        &mut self,
        w: &mut PageWrite<'_>,
        key: &[u8],
        action: UndoAction<'_>,
    ) -> Result<Change, StorageError> {
        let (tree, page) = (self.tree, w.id());
        let Ok(i) = slotted::search(w, key) else {
            return Err(StorageError::Corrupt {
                page,
                what: "the row to be rolled back is missing",
            });
        };
        let op = match action {
            UndoAction::Remove => PageOp::Remove { tree, page, key },
            UndoAction::Restamp { stamp } => PageOp::Restamp { tree, page, key, stamp },
            UndoAction::Restore { stamp, row } => {
                let (space, old) = (Space::of(w), slotted::slot(w, i).bytes);
                let bytes = entry_bytes(key.len(), row.len());
                if bytes > old && space.gap() + space.dead + old < bytes {
                    return Ok(Change::Full);
                }
                PageOp::Restore { tree, page, key, stamp, row }
            }
        };
        let logged = self.log.log(&op);
        match action {
            UndoAction::Remove => slotted::remove_at(w, i),
            UndoAction::Restamp { stamp } => slotted::set_head(w, i, stamp.0),
            UndoAction::Restore { stamp, row } => put(w, i, stamp, row),
        }
        w.set_lsn(logged.start, logged.end);
        if Space::of(w).slots == 0 {
            self.log.emptied(tree, key);
        }
        Ok(Change::Done(true))
    }
}

/// Writes a row that is known to fit.
pub(crate) fn put<P: PageWordsMut>(w: &mut P, i: usize, stamp: Stamp, row: &[u8]) {
    if !slotted::replace_at(w, i, stamp.0, row) {
        stdx::fatal!("page {}: a row that was checked to fit does not", name_of(w));
    }
}

/// Removes the slots named by u16s, ascending.
pub(crate) fn purge_slots(w: &mut impl PageWordsMut, slots: &[u8]) {
    for s in slots.chunks_exact(2).rev() {
        slotted::remove_at(w, u16::from_le_bytes([s[0], s[1]]) as usize);
    }
}

/// Makes room for an entry of `bytes` and its slot by compacting; it is known to fit.
pub(crate) fn room_for_known(w: &mut impl PageWordsMut, bytes: usize) {
    if Space::of(w).gap() < bytes + 8 {
        slotted::compact(w);
        if Space::of(w).gap() < bytes + 8 {
            let words = (w.word(slotted::SPACE), bytes);
            stdx::fatal!("page {}: replay finds no room ({words:x?})", name_of(w));
        }
    }
}

/// The page's own name.
fn name_of(w: &impl PageWordsMut) -> PageId {
    PageId(w.word(header::PAGE_ID))
}
