//! What one owner holds. Lives with its transaction and keeps its capacity, so locking allocates nothing in the end.
//!
//! Invariant: every entry of `rows` is a holder in the row table; every entry of `tables` is either counted in the
//! fast counters of its bucket (`fast`) or a holder in the bucket's slow list.

use crate::wait::WaitNode;
use crate::{Owner, RowKey, RowMode, TableMode};
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldTable {
    pub(crate) tree: u64,
    pub(crate) mode: TableMode,
    pub(crate) fast: bool,
}

/// Locks of one owner. Must be emptied ([`crate::LockManager::release_all`]) before it is dropped.
pub struct Held {
    pub(crate) owner: Owner,
    /// Who dies in a deadlock: the lower one. SET DEADLOCK_PRIORITY.
    pub priority: i8,
    pub(crate) node: Arc<WaitNode>,
    pub(crate) rows: Vec<(RowKey, RowMode)>,
    pub(crate) tables: Vec<HeldTable>,
}

impl Held {
    /// Nothing held, by `owner`, which must be unique among the users of a lock manager.
    pub fn new(owner: Owner) -> Held {
        Held { owner, priority: 0, node: Arc::default(), rows: Vec::new(), tables: Vec::new() }
    }

    /// Whose it is.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.tables.is_empty()
    }

    /// How many row locks are held.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Whether a lock on the table held already makes `mode` unnecessary.
    #[inline]
    pub fn covers_table(&self, tree: u64, mode: TableMode) -> bool {
        // The table used last is the likeliest one.
        self.tables.iter().rev().any(|t| t.tree == tree && t.mode.covers(mode))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.is_empty() && !std::thread::panicking() {
            stdx::fatal!("locks of {:?} were dropped and not released", self.owner);
        }
    }
}
