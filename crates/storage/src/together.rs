//! Inserts into several leaves that are one record of the log: all leaves are held before it is written, and changed after.
//!
//! Whoever makes them first aims at each leaf ([`Tree::aim`]; that may read pages, and suspend), sees to the log's room,
//! holds one leaf after the other, logs what each says of itself ([`HeldLeaf::op`]) in one record, and has each change
//! itself. Nothing waits while a leaf is held: one that somebody else has, or that is not simply ready for its row (the
//! key is there, a ghost too; no room; a gap that somebody may have locked) is an answer, upon which the caller lets all
//! go and inserts them one by one.
//!
//! Invariants: no page is changed before all are held, and a page is held until it has its row, so nobody who sees one
//! row misses another; no two rows go into one page.

use crate::leaf;
use crate::node::Target;
use crate::slotted::{self, KEY_MAX, Space};
use crate::tree::{LeafHint, Path, Tree};
use crate::{LogRow, Logged, PageOp, RowImage, StorageError, TreeId};
use buffer_pool::{PageRead, PageWrite};

/// Where the leaf of a key is likely to be.
pub struct Aim<'t> {
    /// None: where the hint says.
    leaf: Option<PageRead<'t>>,
    /// The store's epoch before the look.
    epoch: u64,
}

/// A leaf to be held.
pub enum Hold<'t> {
    Leaf(HeldLeaf<'t>),
    /// It is another leaf, or another state of it: to be aimed at by the key ([`Tree::aim_at`]).
    Missed,
    /// Not as things are.
    Refused,
}

/// A leaf that is latched and ready for its row.
pub struct HeldLeaf<'t> {
    w: PageWrite<'t>,
    tree: TreeId,
    at: usize,
    /// The store's epoch, where the leaf was found by the key.
    found: Option<u64>,
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

    /// Latches the leaf for a new row; `is_guarded` is asked with the latch held. Never waits.
    pub fn hold(
        &self,
        aim: &Aim<'_>,
        key: &[u8],
        row: &RowImage<'_>,
        hint: &LeafHint,
        is_guarded: impl Fn() -> bool,
    ) -> Hold<'_> {
        if key.len() > KEY_MAX {
            return Hold::Refused;
        }
        let (w, otherwise) = match aim.leaf {
            Some(leaf) => {
                (self.store.pool().try_exclusive_at(leaf.id(), leaf.seen()), Hold::Refused)
            }
            None => (self.hinted(hint), Hold::Missed),
        };
        // Somebody is there, or has been.
        let Some(w) = w else { return Hold::Missed };
        match leaf::place_for(&w, key) {
            Some(at) if Space::of(&w).gap() >= leaf::bytes_for(key, row) && !is_guarded() => {
                let found = aim.leaf.map(|_| aim.epoch);
                Hold::Leaf(HeldLeaf { w, tree: self.id(), at, found })
            }
            _ => {
                w.unlock_unchanged();
                otherwise
            }
        }
    }
}

impl HeldLeaf<'_> {
    /// Nothing comes of it.
    pub fn let_go(self) {
        self.w.unlock_unchanged();
    }

    /// What is to be logged of it.
    #[inline]
    pub fn op<'a>(&self, key: &'a [u8], row: &RowImage<'a>) -> PageOp<'a> {
        PageOp::Insert { tree: self.tree, page: self.w.id(), key, row: LogRow::from(row) }
    }

    /// Puts the row in, which has been logged, and lets go.
    #[inline]
    pub fn insert(mut self, key: &[u8], row: &RowImage<'_>, logged: Logged, hint: &mut LeafHint) {
        let w = &mut self.w;
        slotted::insert_at(w, Space::of(w), self.at, logged.stamp.0, key, row.bytes);
        w.set_lsn(logged.start, logged.end);
        let page = w.id();
        let word = self.w.unlock();
        match self.found {
            None => hint.stayed(word),
            Some(epoch) => hint.moved(page, word, epoch),
        }
    }
}
