//! Changes of several leaves that are one record of the log: all leaves are held before it is written, and changed after.
//!
//! Whoever makes them first aims at the leaf of each new row ([`Tree::aim`]; that may read pages, and suspend) and looks up
//! each row that changes or goes ([`Tree::look`]), sees to the log's room, holds one leaf after the other, logs what each
//! says of itself in one record, and has each change itself. Nothing waits for long while a leaf is held: one that somebody
//! else has, or that is not simply ready (a new key is there; no room; a gap that somebody may have locked; another leaf
//! that is held already) is an answer, upon which the caller lets all go and makes the changes one by one.
//!
//! Rows that are not changed, but must be there, are looked at before ([`Tree::witness`]) and vouched for once all leaves
//! are held ([`Witness::still_holds`]): whoever takes such a row away after that looks at the leaves later.
//!
//! Invariants: no page is changed before all are held, and a page is held until it has its change, so nobody who sees one
//! change misses another; no two changes are of one page.

use crate::leaf;
use crate::node::Target;
use crate::slotted::{self, KEY_MAX, Space};
use crate::tree::{LeafHint, Path, Tree};
use crate::{Found, LogRow, Logged, PageOp, RowImage, StorageError, TreeId};
use buffer_pool::{PageId, PageRead, PageWrite};
use mvcc::Stamp;
use std::sync::atomic::{Ordering::SeqCst, fence};

/// Where the leaf of a new row is likely to be.
pub struct Aim<'t> {
    /// None: where the hint says.
    leaf: Option<PageRead<'t>>,
    /// The store's epoch before the look.
    epoch: u64,
}

/// A leaf to be held.
pub enum Hold<'t> {
    Leaf(HeldLeaf<'t>),
    /// It is another leaf, or another state of it: to be aimed at by the key ([`Tree::aim_at`]), or looked up again.
    Missed,
    /// Not as things are.
    Refused,
}

/// A leaf that is latched and ready for its change.
pub struct HeldLeaf<'t> {
    w: PageWrite<'t>,
    tree: TreeId,
    at: usize,
    /// The store's epoch, where the leaf was found by the key.
    found: Option<u64>,
    /// The new row takes the place of this ghost.
    ghost: Option<Box<Found>>,
}

/// A row as it was seen.
pub struct Witness<'t>(PageRead<'t>);

impl Witness<'_> {
    /// Whether the row is as it was: nobody has been at its leaf. Asked with all leaves held that are to change; who latches
    /// this leaf later than that finds those held, or changed.
    #[inline]
    pub fn still_holds(&self) -> bool {
        // The latches come before the look: on the other side a latch of this leaf comes before the look at those.
        fence(SeqCst);
        self.0.validate()
    }
}

impl Aim<'_> {
    /// The leaf, if it has been looked for.
    pub fn page(&self) -> Option<PageId> {
        self.leaf.map(|leaf| leaf.id())
    }
}

impl Tree {
    /// Aims at the leaf of `key`: by the hint, if that is worth a try. Suspends.
    #[inline]
    pub fn aim(&self, key: &[u8], hint: &LeafHint) -> Result<Aim<'_>, StorageError> {
        match hint.is_likely() {
            true => Ok(Aim { leaf: None, epoch: 0 }),
            false => self.aim_at(key),
        }
    }

    /// Aims by the key. Suspends.
    pub fn aim_at(&self, key: &[u8]) -> Result<Aim<'_>, StorageError> {
        let epoch = self.store.epoch();
        let mut path = Path::new();
        self.descend(Target::Key(key), &mut path)?;
        Ok(Aim { leaf: Some(path.leaf()), epoch })
    }

    /// The stamp of the row under `key` (a ghost's too), and what vouches for it. Suspends.
    pub fn witness(&self, key: &[u8]) -> Result<Option<(Stamp, Witness<'_>)>, StorageError> {
        let (stamp, leaf) = self.seek(key, |_, _| {})?;
        Ok(stamp.map(|stamp| (stamp, Witness(leaf))))
    }

    /// Latches the leaf for a new row; with the latch held it is asked whether a ghost under its key may be overwritten
    /// (`may_replace`), and whether the gap `is_guarded`.
    pub fn hold(
        &self,
        aim: &Aim<'_>,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &LeafHint,
        may_replace: impl Fn(Stamp) -> bool,
        is_guarded: impl Fn() -> bool,
    ) -> Hold<'_> {
        if key.len() > KEY_MAX {
            return Hold::Refused;
        }
        let (w, as_seen) = match aim.leaf {
            Some(leaf) => match self.store.pool().try_exclusive_at(leaf.id(), leaf.seen()) {
                Some(w) => (Some(w), true),
                // Others have been there, or are; the key may still belong to it.
                None => (self.hinted(&LeafHint::of(leaf.id(), leaf.seen(), aim.epoch)), false),
            },
            None => (self.hinted(hint), false),
        };
        let Some(w) = w else { return Hold::Missed };
        let (tree, found) = (self.id(), aim.leaf.map(|_| aim.epoch));
        match leaf::place_for(&w, key) {
            Some(at) if Space::of(&w).gap() >= leaf::bytes_for(key, row) && !is_guarded() => {
                return Hold::Leaf(HeldLeaf { w, tree, at, found, ghost: None });
            }
            Some(_) => {}
            None => {
                if let Some((at, ghost)) = ghost_of(&w, key).filter(|(_, g)| may_replace(g.stamp()))
                    && leaf::has_room_instead(&w, at, key, row)
                    && !is_guarded()
                {
                    return Hold::Leaf(HeldLeaf { w, tree, at, found, ghost: Some(ghost) });
                }
            }
        }
        w.unlock_unchanged();
        if as_seen { Hold::Refused } else { Hold::Missed }
    }

    /// Latches the leaf of a row that is as it was found, to take `row` instead, or nothing; `is_locked` is asked with the
    /// latch held. The stamp it had is that of a row, not a ghost, whose writer is done.
    pub fn hold_found(
        &self,
        key: &[u8],
        found: &Found,
        row: Option<&RowImage<'_>>,
        is_locked: impl Fn() -> bool,
    ) -> Hold<'_> {
        let Some((w, at)) = self.latch_as_found(key, found) else { return Hold::Missed };
        if row.is_none_or(|row| leaf::has_room_instead(&w, at, key, row)) && !is_locked() {
            return Hold::Leaf(HeldLeaf { w, tree: self.id(), at, found: None, ghost: None });
        }
        w.unlock_unchanged();
        Hold::Refused
    }
}

impl HeldLeaf<'_> {
    /// Which it is.
    pub fn page(&self) -> PageId {
        self.w.id()
    }

    /// Nothing comes of it.
    pub fn let_go(self) {
        self.w.unlock_unchanged();
    }

    /// What is to be logged of a new row.
    #[inline]
    pub fn insert_op<'a>(&'a self, key: &'a [u8], row: &RowImage<'a>) -> PageOp<'a> {
        let (tree, page) = (self.tree, self.w.id());
        match &self.ghost {
            None => PageOp::Insert { tree, page, key, row: LogRow::from(row) },
            Some(ghost) => ghost.op(tree, page, key, Some(row)),
        }
    }

    /// Puts the row in, which has been logged, and lets go.
    #[inline]
    pub fn insert(mut self, key: &[u8], row: &RowImage<'_>, logged: Logged, hint: &mut LeafHint) {
        let w = &mut self.w;
        match self.ghost {
            None => {
                slotted::insert_at(w, Space::of(w), self.at, logged.stamp.0, key, row.bytes);
                w.set_lsn(logged.start, logged.end);
            }
            Some(_) => leaf::replace_or_ghost(w, self.at, Some(row), logged),
        }
        let page = w.id();
        let word = self.w.unlock();
        match self.found {
            None => hint.stayed(word),
            Some(epoch) => hint.moved(page, word, epoch),
        }
    }

    /// What is to be logged of a row that gives way to `row`, or to nothing.
    #[inline]
    pub fn change_op<'a>(
        &self,
        key: &'a [u8],
        found: &'a Found,
        row: Option<&RowImage<'a>>,
    ) -> PageOp<'a> {
        found.op(self.tree, self.w.id(), key, row)
    }

    /// Makes that change, which has been logged, and lets go.
    #[inline]
    pub fn change(mut self, row: Option<&RowImage<'_>>, logged: Logged) {
        leaf::replace_or_ghost(&mut self.w, self.at, row, logged);
        self.w.unlock();
    }
}

/// The ghost under a key, if there is one.
fn ghost_of(w: &PageWrite<'_>, key: &[u8]) -> Option<(usize, Box<Found>)> {
    let at = slotted::search(w, key).ok()?;
    let stamp = Stamp(slotted::entry_head(w, at));
    stamp.is_ghost().then(|| {
        let mut row = Vec::new();
        slotted::read_row(w, at, &mut row);
        (at, Box::new(Found::of(stamp, row)))
    })
}
