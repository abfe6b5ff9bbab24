//! A B+tree of byte-comparable keys over pages of one filegroup.
//!
//! How it is walked: readers look at pages optimistically and check each parent again once the child is seen; whoever
//! changes a leaf latches just that leaf, by compare-and-swap against the state the descent saw, so a successful latch
//! proves the descent. A full page is split on the side (`split.rs`) and the descent begins again.
//!
//! Invariants:
//! 1. The root page never moves and has no fences; only its content and level change.
//! 2. Log space is ensured after the last possible suspension and before the latch; nothing suspends under a latch.
//! 3. Latches are taken new page, parent, child, each without waiting: no deadlock.

use crate::leaf::{self, Change, LeafContext};
use crate::node::{self, Target};
use crate::slotted::{self, INNER, KEY_MAX, LEAF};
use crate::store::TreeShared;
use crate::{FilegroupId, LeafCopy, RowImage, Scan, StorageError, Store, TxnLog, Undo};
use buffer_pool::{PageId, PageRead, PageWords, PageWrite};
use mvcc::Stamp;
use runtime::task;
use smallvec::SmallVec;
use std::ops::Bound;
use std::sync::Arc;
use telemetry::{Counter, counters};

/// Name of a tree: its root page, which never moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Debug)]
#[repr(transparent)]
pub struct TreeId(pub PageId);

/// The leaf of a session's last insert, checked before use. Keep one per session and tree.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeafHint {
    page: PageId,
    /// The page's word when it was let go.
    word: u64,
    /// The store's epoch then: it changes when pages change owners.
    epoch: u64,
    /// Inserts in a row that have gone to other leaves: see [`LeafHint::is_likely`].
    misses: u8,
}

/// After so many misses a hint is tried now and then only.
const MISSES_FEW: u8 = 4;
/// As often, once it has missed: one time in so many.
const MISSES_MANY: u8 = 16;

impl LeafHint {
    /// For a page seen as `word` when the store's epoch was `epoch`.
    pub(crate) fn of(page: PageId, word: u64, epoch: u64) -> LeafHint {
        LeafHint { page, word, epoch, misses: 0 }
    }

    /// Whether the leaf is worth a look: keys in no order hardly ever come to the same one twice, and latching it for nothing
    /// costs others who are there.
    #[inline]
    pub(crate) fn is_likely(&self) -> bool {
        !self.page.is_none()
            && (self.misses < MISSES_FEW || self.misses.is_multiple_of(MISSES_MANY))
    }

    /// The leaf was the right one; the page's word is this now.
    #[inline]
    pub(crate) fn stayed(&mut self, word: u64) {
        (self.word, self.misses) = (word, 0);
    }

    /// It was another one.
    #[inline]
    pub(crate) fn moved(&mut self, page: PageId, word: u64, epoch: u64) {
        *self = LeafHint { page, word, epoch, misses: self.missed() };
    }

    /// The next key has gone, or goes, elsewhere.
    fn missed(&self) -> u8 {
        self.misses.checked_add(1).unwrap_or(MISSES_MANY)
    }
}

/// Levels that a tree can have.
pub(crate) const LEVELS_MAX: usize = 12;
/// Log bytes beside the row's own record: envelope, header, and a purge of the leaf.
pub(crate) const LOG_SLACK: usize = 256;
pub(crate) const LOG_PURGE: usize = 3072;

/// An open tree. Cheap to clone.
#[derive(Clone)]
pub struct Tree {
    pub(crate) store: Arc<Store>,
    pub(crate) shared: Arc<TreeShared>,
}

/// The pages of a descent, root first.
pub(crate) struct Path<'a> {
    pages: SmallVec<[PageRead<'a>; LEVELS_MAX]>,
}

impl<'a> Path<'a> {
    pub(crate) fn new() -> Path<'a> {
        Path { pages: SmallVec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    pub(crate) fn at(&self, level_from_root: usize) -> PageRead<'a> {
        self.pages[level_from_root]
    }

    #[inline]
    pub(crate) fn leaf(&self) -> PageRead<'a> {
        self.at(self.len() - 1)
    }
}

impl Tree {
    /// The tree's name.
    pub fn id(&self) -> TreeId {
        self.shared.id
    }

    /// Where its pages come from.
    pub fn filegroup(&self) -> FilegroupId {
        self.shared.filegroup
    }

    /// The store it lives in.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Adds a row. Errors: `Duplicate`, `WaitFor` (wait, then call again), `RowTooLarge`, `FilegroupFull`, pool, log.
    #[inline]
    pub fn insert<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut LeafHint,
    ) -> Result<(), StorageError> {
        // A key that is too long is refused by `change`.
        if hint.is_likely() && key.len() <= KEY_MAX {
            log.ensure(key.len() + row.bytes.len() + LOG_SLACK)?;
            if let Some(mut w) = self.hinted(hint) {
                if leaf::insert_fast(&mut w, self.id(), log, key, row).is_some() {
                    hint.stayed(w.unlock());
                    return Ok(());
                }
                w.unlock_unchanged();
            }
        }
        self.insert_slow(log, key, row, hint)
    }

    /// Latches the hinted leaf, if it still is a leaf of this tree.
    #[inline]
    pub(crate) fn hinted(&self, hint: &LeafHint) -> Option<PageWrite<'_>> {
        if hint.epoch != self.store.epoch() {
            return None;
        }
        let pool = self.store.pool();
        counters::add(Counter::PageLookups, 1);
        if let Some(w) = pool.try_exclusive_at(hint.page, hint.word) {
            return Some(w);
        }
        // Somebody else has been here. The page may have been evicted, but in this epoch not changed hands.
        let w = pool.try_exclusive_now(hint.page)?;
        if slotted::kind_of(&w).0 == LEAF && w.word(slotted::OWNER) == self.id().0.0 {
            return Some(w);
        }
        w.unlock_unchanged();
        None
    }

    #[cold]
    #[inline(never)]
    fn insert_slow<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &mut LeafHint,
    ) -> Result<(), StorageError> {
        log.delayed();
        let bytes = key.len() + row.bytes.len();
        let misses = hint.missed();
        *hint = LeafHint { misses, ..LeafHint::default() };
        let epoch = self.store.epoch();
        let left = self.change(log, key, bytes, row.bytes.len(), |cx, w| cx.insert(w, key, row))?;
        *hint = LeafHint { page: left.page, word: left.word, epoch, misses };
        Ok(())
    }

    /// Replaces the row under `key`; `false` when there is none (or [`crate::OnWrite::Gone`]).
    pub fn update<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        row: &RowImage<'_>,
    ) -> Result<bool, StorageError> {
        // The old row is logged too, and is not known yet.
        let bytes = key.len() + row.bytes.len() + buffer_pool::PAGE_BYTES;
        let left = self.change(log, key, bytes, row.bytes.len(), |cx, w| cx.update(w, key, row))?;
        Ok(left.changed)
    }

    /// Deletes the row under `key`, leaving a ghost; `false` when there is none.
    pub fn mark_ghost<L: TxnLog>(&self, log: &mut L, key: &[u8]) -> Result<bool, StorageError> {
        Ok(self.change(log, key, key.len(), 0, |cx, w| cx.ghost(w, key))?.changed)
    }

    /// Takes an op back, logging the compensation through `log`. The caller sees to it that this happens once: the
    /// row must be as the op left it.
    pub fn apply_undo<L: TxnLog>(&self, log: &mut L, undo: &Undo<'_>) -> Result<(), StorageError> {
        let row = match undo.action {
            crate::UndoAction::Restore { row, .. } => row.len(),
            _ => 0,
        };
        let (key, action) = (undo.key, undo.action);
        self.change(log, key, key.len() + row, row, |cx, w| cx.undo(w, key, action))?;
        Ok(())
    }

    /// Descends, latches the leaf of `key`, lets `f` change it; splits when `f` finds it full. `log_bytes`: of the
    /// record; `row_bytes`: of the row that may need room.
    pub(crate) fn change<L: TxnLog>(
        &self,
        log: &mut L,
        key: &[u8],
        log_bytes: usize,
        row_bytes: usize,
        mut f: impl FnMut(&mut LeafContext<'_, L>, &mut PageWrite<'_>) -> Result<Change, StorageError>,
    ) -> Result<Left, StorageError> {
        if !fits(key.len(), row_bytes) {
            return Err(StorageError::RowTooLarge { key: key.len(), row: row_bytes });
        }
        let system = &*self.store.log;
        let mut cx = LeafContext { tree: self.id(), log, system, old: Vec::new() };
        let mut path = Path::new();
        loop {
            self.descend(Target::Key(key), &mut path)?;
            cx.log.ensure(log_bytes + LOG_SLACK + LOG_PURGE)?;
            let Some(mut w) = path.leaf().try_exclusive() else { continue };
            match f(&mut cx, &mut w) {
                Ok(Change::Done(changed)) => {
                    let page = w.id();
                    let word = if changed {
                        w.unlock()
                    } else {
                        w.unlock_unchanged();
                        0
                    };
                    return Ok(Left { page, word, changed });
                }
                Ok(Change::Full) => {}
                Err(e) => {
                    w.unlock_unchanged();
                    return Err(e);
                }
            }
            if slotted::Space::of(&w).slots == 0 {
                return Err(StorageError::RowTooLarge { key: key.len(), row: row_bytes });
            }
            // Compaction or a purge may have changed the page even so.
            drop(w);
            self.split(key, row_bytes)?;
        }
    }

    /// Walks to a leaf. Each page of the path was seen while its parent still pointed at it.
    #[inline]
    pub(crate) fn descend<'a>(
        &'a self,
        target: Target<'_>,
        path: &mut Path<'a>,
    ) -> Result<(), StorageError> {
        let pool = self.store.pool();
        let root = self.id().0;
        'again: loop {
            path.pages.clear();
            let mut page = root;
            loop {
                let look = pool.optimistic(page)?;
                if path.pages.last().is_some_and(|parent| !parent.validate()) {
                    task::maybe_yield();
                    continue 'again;
                }
                let kind = slotted::kind_of(&look).0;
                let owner = look.word(slotted::OWNER);
                if path.len() == LEVELS_MAX || owner != root.0 || (kind != LEAF && kind != INNER) {
                    if look.validate() && path.pages.last().is_none_or(PageRead::validate) {
                        let what = "not a page of the tree";
                        return Err(StorageError::Corrupt { page, what });
                    }
                    continue 'again;
                }
                path.pages.push(look);
                if kind == LEAF {
                    counters::add(Counter::PageLookups, path.len() as u64);
                    return Ok(());
                }
                let child = node::child_for(&look, target);
                if !look.validate() {
                    continue 'again;
                }
                let what = "an inner page leads nowhere";
                page = child.ok_or(StorageError::Corrupt { page, what })?;
            }
        }
    }

    /// Up to `n` leaves from the one of `target` on, as their parent has them; none when the root is a leaf. A hint:
    /// they may have been split by the time that they are looked at.
    pub(crate) fn leaves_from(
        &self,
        target: Target<'_>,
        n: usize,
        reverse: bool,
    ) -> Result<Vec<PageId>, StorageError> {
        let pool = self.store.pool();
        'again: loop {
            let mut page = self.id().0;
            for _ in 0..LEVELS_MAX {
                let look = pool.optimistic(page)?;
                let (kind, level) = slotted::kind_of(&look);
                if kind != INNER {
                    return Ok(Vec::new());
                }
                if level == 1 {
                    let leaves = node::children_from(&look, target, n, reverse);
                    if look.validate() {
                        return Ok(leaves);
                    }
                    continue 'again;
                }
                let child = node::child_for(&look, target);
                if !look.validate() {
                    continue 'again;
                }
                match child {
                    Some(child) => page = child,
                    None => return Ok(Vec::new()),
                }
            }
            return Ok(Vec::new());
        }
    }

    /// Whether the leaf of a key is in memory. A hint, as the next one.
    pub fn is_near(&self, key: &[u8]) -> Result<bool, StorageError> {
        let leaves = self.leaves_from(Target::Key(key), 1, false)?;
        Ok(leaves.iter().all(|leaf| self.store.pool().is_resident(*leaf)))
    }

    /// Reads the leaves of these keys in, those that are absent, side by side; how many there were. At most
    /// [`buffer_pool::READ_AHEAD_MAX`]. Suspends.
    pub fn bring_near<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]>,
    ) -> Result<usize, StorageError> {
        let pool = self.store.pool();
        let mut absent = Vec::new();
        for key in keys {
            absent.extend(self.leaves_from(Target::Key(key), 1, false)?);
        }
        absent.retain(|leaf| !pool.is_resident(*leaf));
        absent.sort_unstable();
        absent.dedup();
        pool.read_ahead(&absent);
        Ok(absent.len())
    }

    /// The newest row under `key` (a ghost's too) replaces what is in `row`; returns its stamp.
    pub fn lookup(&self, key: &[u8], row: &mut Vec<u8>) -> Result<Option<Stamp>, StorageError> {
        let (stamp, _) = self.seek(key, |leaf, i| slotted::read_row(leaf, i, row))?;
        Ok(stamp)
    }

    /// The stamp of the newest row under `key` (a ghost's too), of which `read` takes what it wants out of the slot, maybe
    /// more than once; and the leaf as it was then.
    #[inline]
    pub(crate) fn seek(
        &self,
        key: &[u8],
        mut read: impl FnMut(&PageRead<'_>, usize),
    ) -> Result<(Option<Stamp>, PageRead<'_>), StorageError> {
        let mut path = Path::new();
        loop {
            self.descend(Target::Key(key), &mut path)?;
            let leaf = path.leaf();
            let stamp = match slotted::search(&leaf, key) {
                Ok(i) => {
                    read(&leaf, i);
                    Some(Stamp(slotted::entry_head(&leaf, i)))
                }
                Err(_) => None,
            };
            if leaf.validate() {
                return Ok((stamp, leaf));
            }
        }
    }

    /// Copies the leaf that a descent to `target` ends at; `latched`: under its latch, so that whoever latches it
    /// later sees everything that the copier did before.
    pub(crate) fn copy_leaf(
        &self,
        target: Target<'_>,
        latched: bool,
        copy: &mut LeafCopy,
    ) -> Result<(), StorageError> {
        let mut path = Path::new();
        loop {
            self.descend(target, &mut path)?;
            if copy.take(path.leaf(), latched) {
                return Ok(());
            }
        }
    }

    /// Walks the rows between the bounds, ghosts and all, a copied leaf at a time. Reads nothing yet.
    pub fn scan(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>, reverse: bool) -> Scan {
        Scan::new(self.clone(), lower, upper, reverse)
    }
}

/// Whether a tree takes rows of so many bytes under keys of so many.
#[inline]
pub fn fits(key: usize, row: usize) -> bool {
    key <= KEY_MAX && slotted::entry_bytes(key, row) <= 8192 - 72
}

/// How `change` left things.
pub(crate) struct Left {
    pub(crate) page: PageId,
    pub(crate) word: u64,
    pub(crate) changed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_that_keeps_missing_is_tried_now_and_then() {
        assert!(!LeafHint::default().is_likely(), "there is no leaf yet");
        let mut hint = LeafHint::of(PageId(8), 0, 0);
        let mut tries = Vec::new();
        for i in 0..1000 {
            if hint.is_likely() {
                tries.push(i);
            }
            hint.misses = hint.missed();
        }
        assert_eq!(tries[..4], [0, 1, 2, 3]);
        assert!(tries[3..].windows(2).all(|w| w[1] - w[0] <= i32::from(MISSES_MANY)));
        assert!(tries.len() < 80, "{tries:?}");
    }
}
