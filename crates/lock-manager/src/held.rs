//! What one owner holds. Lives with its transaction and keeps its capacity, so locking allocates nothing in the end.
//!
//! Invariant: every entry of `keys` is a holder in the key table; every entry of `tables` is either counted in the
//! fast counters of its bucket (`fast`) or a holder in the bucket's slow list; an application lock's holder in the key
//! table has the union of its entries in `app`.

use crate::wait::WaitNode;
use crate::{KeyMode, Owner, RowKey, TableMode};
use runtime::clock;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldTable {
    pub(crate) tree: u64,
    pub(crate) mode: TableMode,
    pub(crate) fast: bool,
    /// Goes with the statement, not with the transaction.
    pub(crate) brief: bool,
}

/// An application lock: one entry per resource, mode and kind of owner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldApp {
    pub(crate) key: RowKey,
    pub(crate) mode: KeyMode,
    /// Held by the session: survives the transaction.
    pub(crate) session: bool,
    /// How often it was taken.
    pub(crate) count: u32,
}

/// Locks of one owner. Must be emptied ([`crate::LockManager::release_all`] and
/// [`crate::LockManager::release_session`]) before it is dropped.
pub struct Held {
    pub(crate) owner: Owner,
    /// Who dies in a deadlock: the lower one. SET DEADLOCK_PRIORITY.
    pub priority: i8,
    /// What undoing would cost, in bytes of log: the cheapest dies among equal priorities. Set before waiting.
    pub cost: u64,
    /// Set from elsewhere to give up waiting.
    pub cancel: Option<Arc<AtomicBool>>,
    pub(crate) node: Arc<WaitNode>,
    pub(crate) keys: Vec<(RowKey, KeyMode)>,
    pub(crate) tables: Vec<HeldTable>,
    pub(crate) app: Vec<HeldApp>,
    /// Key locks by tree.
    pub(crate) counts: Vec<(u64, usize)>,
    /// Waits for rows since [`Held::take_waits`], and how long they were.
    pub(crate) waits: u64,
    pub(crate) waited_ns: u64,
}

impl Held {
    /// Nothing held, by `owner`, which must be unique among the users of a lock manager.
    pub fn new(owner: Owner) -> Held {
        Held {
            owner,
            priority: 0,
            cost: 0,
            cancel: None,
            node: Arc::default(),
            keys: Vec::new(),
            tables: Vec::new(),
            app: Vec::new(),
            counts: Vec::new(),
            waits: 0,
            waited_ns: 0,
        }
    }

    /// Whose it is.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// Whether its owner has waited for a row since [`Held::take_waits`].
    #[inline]
    pub fn has_waited(&self) -> bool {
        self.waits > 0
    }

    /// How often, and how many nanoseconds; from here on none.
    pub fn take_waits(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.waits), std::mem::take(&mut self.waited_ns))
    }

    pub(crate) fn note_wait(&mut self, since_ns: u64) {
        self.waits += 1;
        self.waited_ns += clock::now_ns() - since_ns;
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.tables.is_empty() && self.app.is_empty()
    }

    /// How many key locks are held.
    pub fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// How many key locks are held in a tree.
    pub fn key_count_in(&self, tree: u64) -> usize {
        self.counts.iter().rev().find(|(t, _)| *t == tree).map_or(0, |(_, n)| *n)
    }

    /// Whether a key lock of a writer is held in a tree.
    pub fn writes_keys_in(&self, tree: u64) -> bool {
        self.keys.iter().any(|(key, mode)| key.tree == tree && mode.writes())
    }

    /// Whether any lock on the table is held, by which it stays as it is defined.
    #[inline]
    pub fn has_table(&self, tree: u64) -> bool {
        self.tables.iter().rev().any(|t| t.tree == tree)
    }

    /// Whether a lock on the table held already makes `mode` unnecessary.
    #[inline]
    pub fn covers_table(&self, tree: u64, mode: TableMode) -> bool {
        // The table used last is the likeliest one.
        self.tables.iter().rev().any(|t| t.tree == tree && t.mode.covers(mode))
    }

    /// The same, of locks that last as long as the transaction.
    #[inline]
    pub fn covers_table_to_the_end(&self, tree: u64, mode: TableMode) -> bool {
        self.tables.iter().rev().any(|t| t.tree == tree && !t.brief && t.mode.covers(mode))
    }

    /// Whether a lock on the whole table makes a lock on a key of it unnecessary.
    #[inline]
    pub fn covers_key(&self, tree: u64, mode: KeyMode) -> bool {
        self.tables.iter().rev().any(|t| t.tree == tree && t.mode.covers_keys(mode))
    }

    pub(crate) fn count(&mut self, tree: u64, by: isize) {
        match self.counts.iter_mut().rev().find(|(t, _)| *t == tree) {
            Some((_, n)) => *n = n.wrapping_add_signed(by),
            None => self.counts.push((tree, by as usize)),
        }
    }

    /// What the owner's application locks on `key` add up to.
    pub(crate) fn app_mode(&self, key: RowKey) -> KeyMode {
        let of = self.app.iter().filter(|a| a.key == key);
        of.fold(KeyMode::NONE, |mode, a| mode.union(a.mode))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.is_empty() && !std::thread::panicking() {
            stdx::fatal!("locks of {:?} were dropped and not released", self.owner);
        }
    }
}
