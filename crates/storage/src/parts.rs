//! Where a range of a tree can be parted, so that several may read it at once.

use crate::node::Target;
use crate::scan::LeafCopy;
use crate::slotted::{self, INNER};
use crate::{StorageError, Tree};
use std::ops::Bound;

/// Leaves of a part, about: enough that a new descent costs nothing, few enough that parts end together.
const LEAVES: usize = 64;

impl Tree {
    /// Keys within a range, ascending, at which it can be cut into parts of some 64 leaves. None where there is no more
    /// than one leaf. A hint: the tree may change at once; cutting at any keys is right.
    pub fn boundaries(
        &self,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
    ) -> Result<Vec<Vec<u8>>, StorageError> {
        let below_upper = |key: &[u8]| match upper {
            Bound::Included(upper) | Bound::Excluded(upper) => key < upper,
            Bound::Unbounded => true,
        };
        let mut at = match lower {
            Bound::Included(key) | Bound::Excluded(key) => key.to_vec(),
            Bound::Unbounded => Vec::new(),
        };
        let mut found: Vec<Vec<u8>> = Vec::new();
        let mut parent = LeafCopy::new();
        while self.copy_parent(1, Target::Key(&at), &mut parent)? {
            let page = parent.page();
            for i in (0..parent.len()).step_by(LEAVES) {
                let (_, key, _) = slotted::entry(page, i);
                if key > &at[..] && below_upper(key) {
                    found.push(key.to_vec());
                }
            }
            match slotted::upper_fence(page) {
                // Fences ascend, so this ends.
                Some(fence) if below_upper(fence) && fence > &at[..] => {
                    at = fence.to_vec();
                    if found.last().is_none_or(|last| *last < at) {
                        found.push(at.clone());
                    }
                }
                _ => break,
            }
        }
        Ok(found)
    }

    /// Copies the inner page of level `wanted` (1: the leaf's parent) on the way to `target`; false when the root is
    /// below that.
    pub(crate) fn copy_parent(
        &self,
        wanted: u8,
        target: Target<'_>,
        copy: &mut LeafCopy,
    ) -> Result<bool, StorageError> {
        let pool = self.store.pool();
        'again: loop {
            let mut page = self.id().0;
            for _ in 0..crate::tree::LEVELS_MAX {
                let look = pool.optimistic(page)?;
                let (kind, level) = slotted::kind_of(&look);
                if kind != INNER || level < wanted {
                    if !look.validate() {
                        continue 'again;
                    }
                    return Ok(false);
                }
                if level == wanted {
                    if copy.take(look, false) {
                        return Ok(true);
                    }
                    continue 'again;
                }
                let child = crate::node::child_for(&look, target);
                if !look.validate() {
                    continue 'again;
                }
                match child {
                    Some(child) => page = child,
                    None => return Ok(false),
                }
            }
            return Ok(false);
        }
    }
}
