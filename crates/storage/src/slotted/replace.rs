//! Giving an entry another row, in its place where there is room, and squeezing a page.
//!
//! An entry that shrinks keeps what it no longer fills as its *room*, and grows into that again: a row whose length goes
//! up and down stays where it is. To the page the room is dead bytes, so whether something fits does not depend on how
//! the entries came to lie, which replay may find otherwise than they lay; and squeezing takes all rooms away.

use super::{
    FENCES, HEADER_BYTES, SLOTS, Slot, Space, entry_bytes, entry_lens, entry_room, entry_word,
    fences, slot, slot_word, write_bytes,
};
use buffer_pool::{PAGE_BYTES, PageWordsMut};

/// Replaces head and row of slot `i`, squeezing when need be; `false`: no room, nothing changed.
pub(crate) fn replace_at<P: PageWordsMut>(p: &mut P, i: usize, head: u64, row: &[u8]) -> bool {
    let mut space = Space::of(p);
    let old = slot(p, i);
    let (key_len, _) = entry_lens(p, old.at);
    let bytes = entry_bytes(key_len, row.len());
    let has = old.bytes + entry_room(p, old);
    if bytes <= has {
        p.set_word(old.at, head);
        p.set_word(old.at + 1, entry_word(key_len, row.len(), has - bytes));
        write_bytes(p, old.at + 2 + key_len.div_ceil(8), row);
        if bytes != old.bytes {
            p.set_word(SLOTS + i, slot_word(old.at * 8, bytes, old.key_head));
            space.dead = (space.dead + old.bytes).saturating_sub(bytes);
            space.store(p);
        }
        return true;
    }
    if space.gap() < bytes {
        if space.gap() + space.dead + old.bytes < bytes {
            return false;
        }
        squeeze(p, Some((i, head, row)));
        return true;
    }
    let top = space.top - bytes;
    let at = top / 8;
    for w in 0..key_len.div_ceil(8) {
        let k = p.word(old.at + 2 + w);
        p.set_word(at + 2 + w, k);
    }
    p.set_word(at, head);
    p.set_word(at + 1, entry_word(key_len, row.len(), 0));
    write_bytes(p, at + 2 + key_len.div_ceil(8), row);
    p.set_word(SLOTS + i, slot_word(top, bytes, old.key_head));
    space.top = top;
    space.dead += old.bytes;
    space.store(p);
    true
}

/// Squeezes dead bytes out. The page means the same afterwards.
pub(crate) fn compact(p: &mut impl PageWordsMut) {
    squeeze(p, None);
}

/// Lays fences and entries out anew from the page's end on, in the order of the slots. One entry may get another head and
/// another row, with which all still fit: its slot, and both. The gap keeps what it held.
#[inline(never)]
fn squeeze<P: PageWordsMut>(p: &mut P, other: Option<(usize, u64, &[u8])>) {
    let old = p.copied();
    let space = Space::of(&old);
    let mut top = PAGE_BYTES;
    let mut fence_words = 0;
    for (fence, shift) in [(fences(&old).0, 0), (fences(&old).1, 32)] {
        let Some((at, len)) = fence else { continue };
        let words = len.div_ceil(8);
        top = fits(top, 8 * words, space.slots);
        p.set_words(top / 8, &old.words()[at..][..words]);
        fence_words |= (top as u64 | (len as u64) << 16) << shift;
    }
    p.set_word(FENCES, fence_words);
    for i in 0..space.slots {
        let Slot { at, bytes, key_head } = slot(&old, i);
        let (key_len, row_len) = entry_lens(&old, at);
        if let Some((slot, head, row)) = other
            && slot == i
        {
            let bytes = entry_bytes(key_len, row.len());
            top = fits(top, bytes, space.slots);
            let to = top / 8;
            let key_words = key_len.div_ceil(8);
            p.set_word(to, head);
            p.set_word(to + 1, entry_word(key_len, row.len(), 0));
            p.set_words(to + 2, &old.words()[at + 2..][..key_words]);
            write_bytes(p, to + 2 + key_words, row);
            p.set_word(SLOTS + i, slot_word(top, bytes, key_head));
            continue;
        }
        top = fits(top, bytes, space.slots);
        let to = top / 8;
        p.set_words(to, &old.words()[at..][..bytes / 8]);
        p.set_word(to + 1, entry_word(key_len, row_len, 0));
        p.set_word(SLOTS + i, slot_word(top, bytes, key_head));
    }
    Space { top, dead: 0, ..space }.store(p);
}

/// The top of the heap with so many more bytes on it.
#[inline]
fn fits(top: usize, bytes: usize, slots: usize) -> usize {
    match top.checked_sub(bytes) {
        Some(top) if top >= HEADER_BYTES + 8 * slots => top,
        _ => stdx::fatal!("a page is squeezed to more than itself"),
    }
}
