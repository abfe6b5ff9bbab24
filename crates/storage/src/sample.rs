//! Leaves at random: what statistics are made of, and what TABLESAMPLE reads.
//!
//! A walk goes down from the root and takes any child of each inner page, all with one chance. The product of the
//! numbers of children on its way is the inverse of the chance of the leaf it ends at, so its mean over many walks is the
//! number of leaves (Knuth 1975, "Estimating the efficiency of backtrack programs").
//!
//! Promise: a walk holds nothing and keeps nobody waiting; a leaf is seen as it was at one moment.

use crate::scan::LeafCopy;
use crate::slotted::{self, INNER, LEAF, Space};
use crate::tree::LEVELS_MAX;
use crate::{StorageError, Tree};
use buffer_pool::{PageId, PageWords};
use runtime::task;
use stdx::mix64;
use telemetry::{Counter, counters};

/// Which leaves a scan reads: each with the same chance, by its page number and a seed alone.
///
/// Invariant: the same seed chooses the same pages, as long as the tree has the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSample {
    seed: u64,
    /// Of [`PageSample::ALL`].
    chance: u64,
}

impl PageSample {
    /// The chance that takes every page.
    pub const ALL: u64 = 1 << 63;

    /// Pages with a chance of `chance` out of [`PageSample::ALL`].
    pub fn new(seed: u64, chance: u64) -> PageSample {
        PageSample { seed, chance }
    }

    /// Whether the page of that number is read.
    pub fn takes(self, page: u64) -> bool {
        let mixed = mix64(mix64(self.seed) ^ page.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        mixed >> 1 < self.chance
    }
}

/// A leaf that a walk has ended at.
pub struct RandomLeaf {
    copy: LeafCopy,
    /// Its page: two walks may end at one.
    pub page: PageId,
    /// Leaves of the tree, as this walk has it.
    pub leaves: f64,
}

impl RandomLeaf {
    /// Its rows, but for ghosts: the newest versions, whoever wrote them.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.copy.len()).filter_map(|i| {
            let (stamp, _, row) = self.copy.row(i);
            (!stamp.is_ghost()).then_some(row)
        })
    }
}

impl Tree {
    /// Walks to a leaf; `below(n)` gives numbers from 0 to n - 1, all with one chance. Suspends.
    pub fn random_leaf(
        &self,
        below: &mut dyn FnMut(u64) -> u64,
    ) -> Result<RandomLeaf, StorageError> {
        let pool = self.store.pool();
        let root = self.id().0;
        let mut copy = LeafCopy::new();
        'again: loop {
            let mut page = root;
            let mut leaves = 1.0;
            let mut parent = None;
            for level in 0..LEVELS_MAX {
                let look = pool.optimistic(page)?;
                // The parent still pointed here once this page was looked at.
                if parent.is_some_and(|parent: buffer_pool::PageRead<'_>| !parent.validate()) {
                    task::maybe_yield();
                    continue 'again;
                }
                let kind = slotted::kind_of(&look).0;
                if look.word(slotted::OWNER) != root.0 || (kind != LEAF && kind != INNER) {
                    if look.validate() {
                        let what = "not a page of the tree";
                        return Err(StorageError::Corrupt { page, what });
                    }
                    continue 'again;
                }
                if kind == LEAF {
                    counters::add(Counter::PageLookups, level as u64 + 1);
                    if !copy.take(look, false) {
                        continue 'again;
                    }
                    return Ok(RandomLeaf { copy, page, leaves });
                }
                let slots = Space::of(&look).slots;
                if slots == 0 {
                    continue 'again;
                }
                let child = slotted::entry_head(&look, below(slots as u64) as usize);
                if !look.validate() {
                    continue 'again;
                }
                leaves *= slots as f64;
                page = PageId(child);
                parent = Some(look);
            }
            task::maybe_yield();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_taken_by_their_chance() {
        let taken = |seed, chance| {
            let sample = PageSample::new(seed, chance);
            (0..10_000).filter(|page| sample.takes(*page)).count()
        };
        for seed in 0..20 {
            assert_eq!(taken(seed, 0), 0);
            assert_eq!(taken(seed, PageSample::ALL), 10_000);
            // A binomial's deviation is 30 pages here: seven of them.
            assert!(taken(seed, PageSample::ALL / 10).abs_diff(1_000) < 210);
        }
    }

    #[test]
    fn another_seed_takes_other_pages() {
        let pages = |seed| {
            let sample = PageSample::new(seed, PageSample::ALL / 2);
            (0..200).filter(|page| sample.takes(*page)).collect::<Vec<u64>>()
        };
        assert_eq!(pages(7), pages(7));
        assert_ne!(pages(7), pages(8));
    }
}
