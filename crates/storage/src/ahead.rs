//! Has the processor fetch what look-ups of several keys will read, side by side: each of them would wait for one line after
//! the other, and most of a look-up in a large tree is that waiting.
//!
//! The keys go down level by level, and through each page step by step, all at once, so that the loads of one step wait for each
//! other and not for those of the step before.
//!
//! All is a hint: nothing is waited for, read in or validated. What is misled, by a page that changes meanwhile or by keys that
//! begin alike, fetches lines in vain.

use crate::slotted::{self, INNER, KEYS_AHEAD};
use crate::tree::Tree;
use buffer_pool::{PageId, PageRead};
use smallvec::SmallVec;

/// The level of a root from which on fetching is worth its descents: leaves of a lower tree fit the second cache. Tests go this
/// way with smaller ones.
const ROOT_LEVEL_MIN: u8 = if cfg!(debug_assertions) { 1 } else { 2 };
/// Slots that are fetched with a leaf's header: those of rows of 130 bytes. More of them lie side by side, which processors see.
const SLOTS_AHEAD: usize = 60;

/// One for each key.
type Each<T> = SmallVec<[T; KEYS_AHEAD]>;

impl Tree {
    /// The root, and its level, where fetching is worth it.
    fn high_root(&self) -> Option<(PageRead<'_>, u8)> {
        let root = self.store.pool().optimistic_now(self.id().0)?;
        let (kind, level) = slotted::kind_of(&root);
        (kind == INNER && level >= ROOT_LEVEL_MIN).then_some((root, level))
    }

    /// Whether [`Tree::fetch_ahead`] does anything.
    pub fn fetches_ahead(&self) -> bool {
        self.high_root().is_some()
    }

    /// Fetches the rows of these keys, [`KEYS_AHEAD`] at most. False: it does nothing, or met pages that are not in memory.
    pub fn fetch_ahead<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> bool {
        let pool = self.store.pool();
        let Some((root, level)) = self.high_root() else { return false };
        let mut steps: Each<(PageRead<'_>, &[u8])> =
            keys.take(KEYS_AHEAD).map(|key| (root, key)).collect();
        let count = steps.len();
        for level in (0..level).rev() {
            let slots = slotted::search_side_by_side(&steps);
            let children: Each<PageId> = (steps.iter().zip(slots))
                .map(|((page, _), slot)| PageId(slotted::entry_head(page, slot.unwrap_or(0))))
                .collect();
            let slots = if level == 0 { SLOTS_AHEAD } else { 0 };
            let mut below: Each<(PageRead<'_>, &[u8])> = Each::new();
            for ((_, key), child) in steps.iter().zip(children) {
                if let Some(child) = pool.optimistic_now(child) {
                    child.prefetch(slotted::first_slots(slots));
                    below.push((child, *key));
                }
            }
            steps = below;
        }
        for ((leaf, _), slot) in steps.iter().zip(slotted::search_side_by_side(&steps)) {
            if let Some(slot) = slot {
                leaf.prefetch(slotted::entry_words(leaf, slot));
            }
        }
        steps.len() == count
    }
}
