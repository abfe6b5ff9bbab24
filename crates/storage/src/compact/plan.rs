//! What a step of compaction makes of two neighbours: pages are only looked at here.

use crate::slotted::{self, HEADER_BYTES, Identity, LEAF, Space, entry_bytes, pad8};
use buffer_pool::{PAGE_BYTES, PageBuf, PageId, PageWords, PageWrite, header};
use mvcc::Stamp;

/// Neighbours that are looked at to save one of them: moving everything along a table to save a single page costs more
/// log than the page is worth.
const WINDOW: usize = 8;

/// A page below a parent.
pub(super) struct Child {
    pub lower: Vec<u8>,
    /// Bytes of its entries, slots included.
    pub bytes: usize,
}

/// What a step is to do: see [`Compaction::step`].
#[derive(Clone, Copy)]
pub(super) struct Wish<'a> {
    pub level: u8,
    pub separator: &'a [u8],
    pub most: usize,
    pub slide: bool,
}

/// How many pages behind the first one have to be packed with it to need one less, if it is so few that it is worth it.
pub(super) fn worth_it(children: &[Child], most: usize, entry: usize) -> Option<usize> {
    let mut bytes = children[0].bytes;
    for (n, child) in children.iter().enumerate().take(WINDOW).skip(1) {
        bytes += child.bytes;
        // Pages in a row are not filled to the last byte.
        let lost = if n == 1 { 0 } else { entry.min(most) };
        if bytes <= (most - lost) * n {
            return Some(n);
        }
    }
    None
}

pub(super) fn has_ghosts(p: &PageBuf) -> bool {
    let slots = Space::of(p).slots.min(PAGE_BYTES / 8);
    (0..slots).any(|i| Stamp(slotted::entry_head(p, i)).is_ghost())
}

/// Bytes of a page's entries, slots included.
pub(super) fn entries(p: &PageBuf) -> usize {
    (0..Space::of(p).slots.min(PAGE_BYTES / 8)).map(|i| slotted::slot(p, i).bytes + 8).sum()
}

/// A left page, and the right page with its separator if one stays.
pub(super) type Plan = (Box<PageBuf>, Option<(Box<PageBuf>, Vec<u8>)>);

/// What the two pages become; `None`: they stay as they are.
pub(super) fn plan(
    left: &PageBuf,
    right: &PageBuf,
    parent: &PageWrite<'_>,
    wish: Wish<'_>,
) -> Option<Plan> {
    let (kind, level) = slotted::kind_of(left);
    let identity = |p: &PageBuf| Identity {
        page: PageId(p.word(header::PAGE_ID)),
        owner: PageId(p.word(slotted::OWNER)),
        kind,
        level,
    };
    let (lower, upper) = (slotted::lower_fence(left), slotted::upper_fence(right));
    let (slots, more) = (Space::of(left).slots, Space::of(right).slots);
    let whole = |upper: &[u8], last: &[u8]| {
        let fences = pad8(lower.len()) + pad8(upper.len());
        // A leaf keeps room for a later upper fence (`leaf.rs`), which is at most a byte longer than its last key.
        let spare = if kind == LEAF { pad8(last.len() + 1) } else { 0 };
        PAGE_BYTES - HEADER_BYTES - fences - spare
    };
    let room = |upper: &[u8], last: &[u8]| wish.most.min(whole(upper, last));
    let mut bytes = entries(left);
    let (end, upper_end) = (|p, slots: usize| slotted::entry(p, slots - 1).1, upper.unwrap_or(&[]));
    let all_fit = match (slots, more) {
        // What is empty leaves however full the left one is, if that has room for the other's upper fence.
        (0, 0) => true,
        (_, 0) => bytes <= whole(upper_end, end(left, slots)),
        _ => bytes + entries(right) <= room(upper_end, end(right, more)),
    };
    if all_fit {
        let mut new = boxed(slotted::shell(identity(left), lower, upper, slotted::right_of(right)));
        slotted::copy_entries(left, 0..slots, &mut new);
        slotted::copy_entries(right, 0..more, &mut new);
        return Some((new, None));
    }
    if kind != LEAF || !wish.slide {
        return None;
    }
    let mut taken = 0;
    while taken + 1 < more {
        let (last, first) = (slotted::entry(right, taken).1, slotted::entry(right, taken + 1).1);
        let size = slotted::slot(right, taken).bytes + 8;
        if bytes + size > room(slotted::separator(last, first), last) {
            break;
        }
        bytes += size;
        taken += 1;
    }
    let (last, first) = (taken.checked_sub(1)?, taken);
    let separator =
        slotted::separator(slotted::entry(right, last).1, slotted::entry(right, first).1);
    // The parent gives up the old one for it.
    let space = Space::of(parent);
    let had = entry_bytes(wish.separator.len(), 0);
    if space.gap() + space.dead + had < entry_bytes(separator.len(), 0) {
        return None;
    }
    let right_id = identity(right);
    let mut new = boxed(slotted::shell(identity(left), lower, Some(separator), right_id.page));
    slotted::copy_entries(left, 0..slots, &mut new);
    slotted::copy_entries(right, 0..taken, &mut new);
    let mut rest = boxed(slotted::shell(right_id, separator, upper, slotted::right_of(right)));
    slotted::copy_entries(right, taken..more, &mut rest);
    Some((new, Some((rest, separator.to_vec()))))
}

fn boxed(page: PageBuf) -> Box<PageBuf> {
    let mut out = PageBuf::boxed();
    out.words_mut().copy_from_slice(page.words());
    out
}
