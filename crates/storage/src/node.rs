//! Inner nodes: which child holds a key, and how a new child gets in.
//!
//! Invariant: slot `i` holds `key_i -> child`, where the child's keys lie from `key_i` up to `key_(i+1)` or the upper
//! fence; `key_0` is the node's lower fence.

use crate::slotted::{self, Space, entry_bytes};
use buffer_pool::{PageId, PageWords, PageWordsMut};

/// Where a descent is going.
#[derive(Clone, Copy)]
pub(crate) enum Target<'a> {
    /// To the leaf between whose fences the key lies.
    Key(&'a [u8]),
    /// To the leaf with the keys just below the key.
    Below(&'a [u8]),
    /// To the last leaf.
    Last,
}

/// The child to follow; `None` when the page is no such node (or a look at it was rubbish).
#[inline]
pub(crate) fn child_for(p: &impl PageWords, target: Target<'_>) -> Option<PageId> {
    let child = PageId(slotted::entry_head(p, slot_for(p, target)?));
    (!child.is_none()).then_some(child)
}

/// The slot of the child to follow.
#[inline]
fn slot_for(p: &impl PageWords, target: Target<'_>) -> Option<usize> {
    match target {
        Target::Key(key) => match slotted::search(p, key) {
            Ok(i) => Some(i),
            Err(i) => i.checked_sub(1),
        },
        Target::Below(key) => match slotted::search(p, key) {
            Ok(i) | Err(i) => i.checked_sub(1),
        },
        Target::Last => Space::of(p).slots.checked_sub(1),
    }
}

/// Up to `n` children from the one of `target` on, to the right or to the left.
pub(crate) fn children_from(
    p: &impl PageWords,
    target: Target<'_>,
    n: usize,
    reverse: bool,
) -> Vec<PageId> {
    let slots = Space::of(p).slots;
    let Some(first) = slot_for(p, target).filter(|&i| i < slots) else { return Vec::new() };
    let range = if reverse {
        (first + 1).saturating_sub(n)..first + 1
    } else {
        first..slots.min(first + n)
    };
    let mut children: Vec<PageId> =
        range.map(|i| PageId(slotted::entry_head(p, i))).filter(|c| !c.is_none()).collect();
    if reverse {
        children.reverse();
    }
    children
}

/// Whether a separator of `key` bytes fits.
pub(crate) fn has_room(p: &impl PageWords, key: usize) -> bool {
    let space = Space::of(p);
    space.gap() + space.dead >= entry_bytes(key, 0) + 8
}

/// Adds `separator -> child`, which is known to fit. Repeating it changes nothing.
pub(crate) fn add_child(w: &mut impl PageWordsMut, separator: &[u8], child: PageId) {
    match slotted::search(w, separator) {
        Ok(i) => slotted::set_head(w, i, child.0),
        Err(pos) => {
            crate::leaf::room_for_known(w, entry_bytes(separator.len(), 0));
            let space = Space::of(w);
            slotted::insert_at(w, space, pos, child.0, separator, &[]);
        }
    }
}

/// Takes the child of `old` out, and if `separator` is not empty puts `child` in at it, which is known to fit. Repeating
/// it changes nothing.
pub(crate) fn replace_child(
    w: &mut impl PageWordsMut,
    old: &[u8],
    separator: &[u8],
    child: PageId,
) {
    if let Ok(i) = slotted::search(w, old) {
        slotted::remove_at(w, i);
    }
    if !separator.is_empty() {
        add_child(w, separator, child);
    }
}
