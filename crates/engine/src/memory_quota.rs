//! How much memory the rows of memory trees may take: of one database, or of several that share a resource pool.
//!
//! ```text
//! write ──► its slot's allowance ──enough──► goes on
//!                    │ used up
//!                    ▼
//!           all trees are weighed ──below the bound──► a new allowance, a part of what is left
//!                    └──────────────at the bound──────► EngineError::QuotaUsedUp; deletions and readers go on
//! ```
//! What is weighed is what [`storage::memory::Table::row_bytes`] counts, and the buckets of hash indexes: rows and versions that
//! are in the tables, those too that a clean-up will take. The nodes of range indexes are not among them: to count them is to
//! walk through them.
//!
//! Invariants:
//! 1. Without a bound a write reads one word that is never written.
//! 2. An allowance is drawn on by the thread alone that has its slot, so a load and a store do. All that is drawn and not yet
//!    weighed is at most `slots / PARTS` of what was left: the bound is passed by no more than that.

use crate::EngineError;
use parking_lot::Mutex;
use runtime::task::{MAX_SLOTS, slot};
use std::sync::Weak;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use stdx::CachePadded;

/// An allowance is this part of what is left.
const PARTS: u64 = 64;
/// But not more, so that what others free is seen soon.
const ALLOWANCE_MAX: u64 = 1 << 20;
/// What a row takes beside its key and its bytes, about.
const ROW_OVERHEAD: usize = 80;

/// What has rows that count.
pub(crate) trait Weighed: Send + Sync {
    /// Bytes that they take.
    fn bytes(&self) -> u64;
}

/// A bound on the rows of memory trees. See the file's front.
pub struct MemoryQuota {
    /// Of the resource pool, for the message.
    pool: Box<str>,
    /// In bytes; `u64::MAX`: none.
    bound: AtomicU64,
    allowances: Box<[CachePadded<AtomicI64>]>,
    trees: Mutex<Vec<Weak<dyn Weighed>>>,
    refused: AtomicU64,
}

impl MemoryQuota {
    /// Of the resource pool of that name, without a bound.
    pub fn new(pool: &str) -> MemoryQuota {
        MemoryQuota {
            pool: pool.into(),
            bound: AtomicU64::new(u64::MAX),
            allowances: (0..MAX_SLOTS).map(|_| CachePadded::default()).collect(),
            trees: Mutex::default(),
            refused: AtomicU64::new(0),
        }
    }

    /// Bytes; `None`: without a bound.
    pub fn bound(&self) -> Option<u64> {
        Some(self.bound.load(Relaxed)).filter(|bytes| *bytes != u64::MAX)
    }

    /// Changes the bound. What is there stays, though it be more.
    pub fn set_bound(&self, bytes: Option<u64>) {
        self.bound.store(bytes.unwrap_or(u64::MAX), Relaxed);
        // An allowance under way is not taken back: its thread may be drawing on it.
    }

    /// Bytes that the rows take now.
    pub fn used(&self) -> u64 {
        let mut trees = self.trees.lock();
        trees.retain(|tree| tree.strong_count() > 0);
        trees.iter().filter_map(Weak::upgrade).map(|tree| tree.bytes()).sum()
    }

    /// Writes that were refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    pub(crate) fn add(&self, tree: Weak<dyn Weighed>) {
        self.trees.lock().push(tree);
    }

    /// A row is about to be written, with a key and a row of so many bytes.
    #[inline]
    pub(crate) fn draw(&self, key: usize, row: usize) -> Result<(), EngineError> {
        if self.bound.load(Relaxed) == u64::MAX {
            return Ok(());
        }
        let mine = &self.allowances[slot()];
        let left = mine.load(Relaxed) - (key + row + ROW_OVERHEAD) as i64;
        if left >= 0 {
            mine.store(left, Relaxed);
            return Ok(());
        }
        self.renew(mine)
    }

    #[cold]
    fn renew(&self, mine: &AtomicI64) -> Result<(), EngineError> {
        let bound = self.bound.load(Relaxed);
        let left = bound.saturating_sub(self.used());
        if left == 0 {
            self.refused.fetch_add(1, Relaxed);
            return Err(EngineError::QuotaUsedUp { pool: self.pool.clone() });
        }
        mine.store((left / PARTS).min(ALLOWANCE_MAX) as i64, Relaxed);
        Ok(())
    }
}
