//! A page of entries in key order: the furniture that leaves and inner nodes share.
//!
//! ```text
//! word 0  checksum u32 | type u8 | level u8 | 0          word 1  page id         word 2  page LSN
//! word 3  owner: the tree's root page                    word 5  right sibling, 0 none
//! word 4  slots u16 | heap top u16 | dead bytes u16 | slot of the last insert u16
//! word 6  lower fence: offset u16, length u16 | upper fence: offset u16, length u16 (offset 0: unbounded)
//! word 7  length of the fences' common prefix u16 | 0
//! word 8..  slots: entry offset u16 | entry bytes u16 | key head u32      (high half: compares as a number)
//! ... free ...
//! heap, down from the end: fences, and entries {head u64, key length u16, row length u16, room u16, 0 u16, key, row, room}
//! ```
//! Words: an entry's *head* is a row's stamp in a leaf and a child's page id in an inner node. A *key head* is the
//! four bytes of a key after the common prefix, big-endian, zero-padded. An entry's *room* are dead bytes behind it which
//! it may grow into (`replace.rs`); its slot does not count them.
//!
//! Invariants:
//! 1. Entries, keys, rows and fences start at multiples of 8 and are padded with zeros: a key compares as big-endian
//!    words, then by length.
//! 2. Slots ascend strictly by key; every key is at least the lower fence and below the upper one.
//! 3. `64 + 8 * slots <= heap top`; live entries, fences and dead bytes fill the heap exactly. None lies over another, an
//!    entry's room included.
//! 4. Every function reads through `word(i)`, which cannot leave the page: garbage in, garbage out, no panic, for the
//!    optimistic readers.

mod replace;

use buffer_pool::{PAGE_BYTES, PageBuf, PageId, PageWords, PageWordsMut, header};
pub(crate) use replace::{compact, replace_at};
use std::cmp::Ordering;
use std::hint::select_unpredictable;

pub(crate) const OWNER: usize = 3;
pub(crate) const SPACE: usize = 4;
pub(crate) const RIGHT: usize = 5;
pub(crate) const FENCES: usize = 6;
pub(crate) const PREFIX: usize = 7;
/// First word of the slots.
pub(crate) const SLOTS: usize = 8;
/// Bytes of the header.
pub(crate) const HEADER_BYTES: usize = 64;
/// Longest key, in bytes: a page has room for four between two fences of that length, so that an inner node that is split
/// keeps two children at least.
pub const KEY_MAX: usize = 1336;

const _: () =
    assert!(HEADER_BYTES + 2 * pad8(KEY_MAX) + 4 * (entry_bytes(KEY_MAX, 0) + 8) <= PAGE_BYTES);

/// Keys that are searched side by side: each has about ten lines on the way, and a core keeps some dozens.
pub const KEYS_AHEAD: usize = 16;

/// A page of rows.
pub(crate) const LEAF: u8 = 2;
/// A page of children.
pub(crate) const INNER: u8 = 3;
/// A page that has left its tree (`compact.rs`). 4 is a file's header.
pub(crate) const FREE: u8 = 5;
/// Not the slot of any last insert.
const NO_SLOT: u16 = u16::MAX;

/// `n` rounded up to whole words, in bytes.
#[inline]
pub(crate) const fn pad8(n: usize) -> usize {
    (n + 7) & !7
}

/// Bytes of an entry.
#[inline]
pub(crate) const fn entry_bytes(key: usize, row: usize) -> usize {
    16 + pad8(key) + pad8(row)
}

/// Word 4, taken apart.
#[derive(Clone, Copy)]
pub(crate) struct Space {
    pub(crate) slots: usize,
    pub(crate) top: usize,
    pub(crate) dead: usize,
    pub(crate) last_insert: u16,
}

impl Space {
    #[inline]
    pub(crate) fn of(p: &impl PageWords) -> Space {
        let w = p.word(SPACE);
        Space {
            slots: w as u16 as usize,
            top: (w >> 16) as u16 as usize,
            dead: (w >> 32) as u16 as usize,
            last_insert: (w >> 48) as u16,
        }
    }

    #[inline]
    pub(crate) fn store(self, p: &mut impl PageWordsMut) {
        let w = self.slots as u64
            | (self.top as u64) << 16
            | (self.dead as u64) << 32
            | u64::from(self.last_insert) << 48;
        p.set_word(SPACE, w);
    }

    /// Bytes between slots and heap.
    #[inline]
    pub(crate) fn gap(self) -> usize {
        self.top.saturating_sub(HEADER_BYTES + 8 * self.slots)
    }
}

/// Type byte and level byte.
#[inline]
pub(crate) fn kind_of(p: &impl PageWords) -> (u8, u8) {
    let w = p.word(header::KIND);
    ((w >> 32) as u8, (w >> 40) as u8)
}

#[inline]
pub(crate) fn right_of(p: &impl PageWords) -> PageId {
    PageId(p.word(RIGHT))
}

/// A slot, taken apart.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    /// First word of the entry.
    pub(crate) at: usize,
    pub(crate) bytes: usize,
    key_head: u32,
}

#[inline]
pub(crate) fn slot(p: &impl PageWords, i: usize) -> Slot {
    let w = p.word(SLOTS + i);
    Slot {
        at: (w as u16 / 8) as usize,
        bytes: (w >> 16) as u16 as usize,
        key_head: (w >> 32) as u32,
    }
}

#[inline]
fn slot_word(offset: usize, bytes: usize, key_head: u32) -> u64 {
    offset as u64 | (bytes as u64) << 16 | u64::from(key_head) << 32
}

/// The words of the page's header and of its first slots, up to so many.
pub(crate) fn first_slots(slots: usize) -> std::ops::Range<usize> {
    0..SLOTS + slots
}

/// The words of an entry, as its slot has them.
pub(crate) fn entry_words(p: &impl PageWords, i: usize) -> std::ops::Range<usize> {
    let slot = slot(p, i);
    slot.at..slot.at + slot.bytes.div_ceil(8)
}

/// The entry's head: stamp or child.
#[inline]
pub(crate) fn entry_head(p: &impl PageWords, i: usize) -> u64 {
    p.word(slot(p, i).at)
}

/// Key and row length of an entry, clamped to what a page can hold.
#[inline]
fn entry_lens(p: &impl PageWords, at: usize) -> (usize, usize) {
    let w = p.word(at + 1);
    ((w as u16 as usize).min(PAGE_BYTES), ((w >> 16) as u16 as usize).min(PAGE_BYTES))
}

/// The word of an entry's lengths and of the room behind it, in bytes.
#[inline]
fn entry_word(key: usize, row: usize, room: usize) -> u64 {
    key as u64 | (row as u64) << 16 | (room as u64) << 32
}

/// Bytes behind the entry of a slot that it may grow into; none that lead out of the page.
#[inline]
fn entry_room(p: &impl PageWords, slot: Slot) -> usize {
    let room = (p.word(slot.at + 1) >> 32) as u16 as usize;
    if slot.at * 8 + slot.bytes + room <= PAGE_BYTES { room } else { 0 }
}

/// The last `n` (below 8) of some bytes as the low end of a word. Not through a small copy: reading a word back that
/// was written in parts stalls for the cost of a whole insert's compares.
#[inline]
fn last_word(bytes: &[u8], n: usize) -> u64 {
    if n == 0 {
        return 0;
    }
    if let Some(w) = bytes.last_chunk::<8>() {
        return u64::from_le_bytes(*w) >> (64 - 8 * n);
    }
    bytes[bytes.len() - n..].iter().rev().fold(0, |w, b| w << 8 | u64::from(*b))
}

/// Word `i` of a key as a big-endian number, zero-padded.
#[inline]
fn key_word(key: &[u8], i: usize) -> u64 {
    match key.get(8 * i..8 * i + 8) {
        Some(w) => u64::from_be_bytes(w.try_into().expect("8 bytes")),
        None => last_word(key, key.len().saturating_sub(8 * i)).swap_bytes(),
    }
}

#[inline]
fn key_head(key: &[u8], prefix: usize) -> u32 {
    match key.get(prefix..prefix + 4) {
        Some(w) => u32::from_be_bytes(w.try_into().expect("4 bytes")),
        None => (last_word(key, key.len().saturating_sub(prefix)) as u32).swap_bytes(),
    }
}

/// The key head of the entry at word `at`.
#[inline]
fn stored_key_head(p: &impl PageWords, at: usize, prefix: usize) -> u32 {
    let words = entry_lens(p, at).0.div_ceil(8);
    let (w, shift) = (prefix / 8, prefix % 8 * 8);
    let be = |i: usize| if i < words { p.word(at + 2 + i).swap_bytes() } else { 0 };
    let both = u128::from(be(w)) << 64 | u128::from(be(w + 1));
    ((both << shift) >> 96) as u32
}

/// Compares bytes stored from word `at`, `len` of them, with `key`.
#[inline]
pub(crate) fn compare_at(p: &impl PageWords, at: usize, len: usize, key: &[u8]) -> Ordering {
    let words = len.min(key.len()).div_ceil(8);
    for i in 0..words {
        let (a, b) = (p.word(at + i).swap_bytes(), key_word(key, i));
        if a != b {
            return a.cmp(&b);
        }
    }
    len.cmp(&key.len())
}

/// Compares the key of slot `i` with `key`.
#[inline]
pub(crate) fn compare_slot(p: &impl PageWords, i: usize, key: &[u8]) -> Ordering {
    let at = slot(p, i).at;
    compare_at(p, at + 2, entry_lens(p, at).0, key)
}

/// Whether there is a slot `i`, and it has `key`.
#[inline]
pub(crate) fn is_at(p: &impl PageWords, i: usize, key: &[u8]) -> bool {
    i < Space::of(p).slots && compare_slot(p, i, key) == Ordering::Equal
}

/// The slot with `key`, or where it would go. The key lies between the fences.
///
/// Mostly key heads tell keys apart, and are searched without a branch that depends on them, which no processor could
/// foresee. Where the fences have nothing in common, as in a root, all heads are often the same, and the keys' first words
/// are searched instead. What begins alike is compared whole.
#[inline]
pub(crate) fn search(p: &impl PageWords, key: &[u8]) -> Result<usize, usize> {
    let slots = Space::of(p).slots.min(PAGE_BYTES / 8);
    if slots == 0 {
        return Err(0);
    }
    let prefix = p.word(PREFIX) as u16 as usize;
    let head = key_head(key, prefix);
    let head_of = |i: usize| (p.word(SLOTS + i) >> 32) as u32;
    // A first key may be empty.
    let same = head_of(usize::from(slots > 1)) == head && head_of(slots - 1) == head;
    let from = if same && prefix < 4 {
        by_first_word(p, slots, key)
    } else {
        first_not_below(0, slots, |i| head_of(i) < head)
    };
    // All below `from` are below the key. What follows ends at once unless several keys begin alike.
    let (mut lo, mut hi, mut mid) = (from, slots, from);
    while lo < hi {
        let s = slot(p, mid);
        let order = s.key_head.cmp(&head).then_with(|| {
            let len = entry_lens(p, s.at).0;
            compare_at(p, s.at + 2, len, key)
        });
        match order {
            Ordering::Less => lo = mid + 1,
            Ordering::Greater => hi = mid,
            Ordering::Equal => return Ok(mid),
        }
        mid = (lo + hi) / 2;
    }
    Err(lo)
}

/// For each page and key the last slot that is not above the key, if there is one; in a leaf by what heads tell, where one alone has
/// the key's. Steps of all searches are taken together, so that none waits for the others' lines.
pub(crate) fn search_side_by_side<P: PageWords>(
    each: &[(P, &[u8])],
) -> smallvec::SmallVec<[Option<usize>; KEYS_AHEAD]> {
    /// One of the searches: the key's head, and the slots that are left.
    #[derive(Clone, Copy, Default)]
    struct Open {
        head: u32,
        from: usize,
        left: usize,
    }
    let mut open: smallvec::SmallVec<[Open; KEYS_AHEAD]> = each
        .iter()
        .map(|(p, key)| Open {
            head: key_head(key, p.word(PREFIX) as u16 as usize),
            from: 0,
            left: Space::of(p).slots.min(PAGE_BYTES / 8),
        })
        .collect();
    let head_of = |p: &P, i: usize| (p.word(SLOTS + i) >> 32) as u32;
    // The first slot that is above: of the bits of the largest number of slots, one a step.
    let most = open.iter().map(|one| one.left).max().unwrap_or(0);
    for _ in 0..most.checked_ilog2().map_or(0, |bits| bits + 1) {
        for (one, (p, _)) in open.iter_mut().zip(each) {
            let half = one.left.div_ceil(2);
            let below = half > 0 && head_of(p, one.from + half - 1) <= one.head;
            one.from = select_unpredictable(below, one.from + half, one.from);
            one.left = select_unpredictable(below, one.left - half, half.saturating_sub(1));
        }
    }
    let found = open.iter().zip(each).map(|(one, (p, key))| {
        // Heads that are alike, as in roots, say nothing of where among them the key goes; and one is below its key, or not.
        let alike = |back: usize| one.from >= back && head_of(p, one.from - back) == one.head;
        let whole = alike(1) && (alike(2) || kind_of(p).0 == INNER);
        match whole.then(|| search(p, key)) {
            Some(Ok(at)) => Some(at),
            Some(Err(at)) => at.checked_sub(1),
            None => one.from.checked_sub(1),
        }
    });
    found.collect()
}

/// The first of the slots `from..to` of which `below` is not true, or `to`; it is true of none after one of which it is
/// not.
#[inline]
fn first_not_below(from: usize, to: usize, below: impl Fn(usize) -> bool) -> usize {
    let (mut at, mut n) = (from, to - from);
    while n > 1 {
        let half = n / 2;
        at = select_unpredictable(below(at + half - 1), at + half, at);
        n -= half;
    }
    at + usize::from(n == 1 && below(at))
}

/// A slot below which all keys are below `key`, by the first words of keys: the first that is not below by that.
#[inline]
fn by_first_word(p: &impl PageWords, slots: usize, key: &[u8]) -> usize {
    // The first key alone may be empty, and then has no word.
    let from = usize::from(entry_lens(p, slot(p, 0).at).0 == 0 && !key.is_empty());
    let first = key_word(key, 0);
    first_not_below(from, slots, |i| p.word(slot(p, i).at + 2).swap_bytes() < first)
}

/// Offset in words and length in bytes; `None`: unbounded.
type Fence = Option<(usize, usize)>;

/// The lower and the upper fence.
#[inline]
fn fences(p: &impl PageWords) -> (Fence, Fence) {
    let w = p.word(FENCES);
    let part = |w: u64| {
        let (offset, len) = (w as u16 as usize, (w >> 16) as u16 as usize);
        (offset != 0).then_some((offset / 8, len.min(PAGE_BYTES)))
    };
    (part(w), part(w >> 32))
}

/// Copies the upper fence; `false` when unbounded.
pub(crate) fn read_upper(p: &impl PageWords, out: &mut Vec<u8>) -> bool {
    match fences(p).1 {
        Some((at, len)) => {
            read_bytes(p, at, len, out);
            true
        }
        None => false,
    }
}

/// Writes a page of another's making: header, slots and heap; the gap keeps what it held, and the page LSN stays.
pub(crate) fn write_live(p: &mut impl PageWordsMut, from: &PageBuf) {
    let space = Space::of(from);
    let words = from.words();
    p.set_words(0, &words[..header::LSN]);
    p.set_words(header::LSN + 1, &words[header::LSN + 1..SLOTS + space.slots]);
    p.set_words(space.top / 8, &words[space.top / 8..]);
}

/// Whether `key` is below the upper fence.
#[inline]
pub(crate) fn below_upper(p: &impl PageWords, key: &[u8]) -> bool {
    match fences(p).1 {
        None => true,
        Some((at, len)) => compare_at(p, at, len, key) == Ordering::Greater,
    }
}

/// Whether `key` is at or above the lower fence.
#[inline]
pub(crate) fn above_lower(p: &impl PageWords, key: &[u8]) -> bool {
    match fences(p).0 {
        None => true,
        Some((at, len)) => compare_at(p, at, len, key) != Ordering::Greater,
    }
}

#[inline]
pub(crate) fn write_bytes(p: &mut impl PageWordsMut, at: usize, bytes: &[u8]) {
    let mut words = bytes.chunks_exact(8);
    let mut i = at;
    for w in &mut words {
        p.set_word(i, u64::from_le_bytes(w.try_into().expect("8 bytes")));
        i += 1;
    }
    let rest = words.remainder().len();
    if rest != 0 {
        p.set_word(i, last_word(bytes, rest));
    }
}

fn read_bytes(p: &impl PageWords, at: usize, len: usize, out: &mut Vec<u8>) {
    out.resize(pad8(len), 0);
    for (i, word) in out.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&p.word(at + i).to_le_bytes());
    }
    out.truncate(len);
}

/// Copies the row of slot `i`.
#[inline]
pub(crate) fn read_row(p: &impl PageWords, i: usize, out: &mut Vec<u8>) {
    let at = slot(p, i).at;
    let (key, row) = entry_lens(p, at);
    read_bytes(p, at + 2 + key.div_ceil(8), row, out);
}

/// Copies the key of slot `i`.
pub(crate) fn read_key(p: &impl PageWords, i: usize, out: &mut Vec<u8>) {
    let at = slot(p, i).at;
    read_bytes(p, at + 2, entry_lens(p, at).0, out);
}

/// Adds an entry at slot `pos`; there is room (`entry_bytes` + 8 in the gap).
#[inline]
pub(crate) fn insert_at(
    p: &mut impl PageWordsMut,
    space: Space,
    pos: usize,
    head: u64,
    key: &[u8],
    row: &[u8],
) {
    let bytes = entry_bytes(key.len(), row.len());
    debug_assert!(space.gap() >= bytes + 8 && pos <= space.slots);
    let top = space.top - bytes;
    let at = top / 8;
    p.set_word(at, head);
    p.set_word(at + 1, entry_word(key.len(), row.len(), 0));
    write_bytes(p, at + 2, key);
    write_bytes(p, at + 2 + key.len().div_ceil(8), row);
    for i in (pos..space.slots).rev() {
        let w = p.word(SLOTS + i);
        p.set_word(SLOTS + i + 1, w);
    }
    let prefix = p.word(PREFIX) as u16 as usize;
    p.set_word(SLOTS + pos, slot_word(top, bytes, key_head(key, prefix)));
    Space { slots: space.slots + 1, top, dead: space.dead, last_insert: pos as u16 }.store(p);
}

/// Takes slot `pos` out.
pub(crate) fn remove_at(p: &mut impl PageWordsMut, pos: usize) {
    let mut space = Space::of(p);
    space.dead += slot(p, pos).bytes;
    for i in pos + 1..space.slots {
        let w = p.word(SLOTS + i);
        p.set_word(SLOTS + i - 1, w);
    }
    space.slots -= 1;
    space.last_insert = NO_SLOT;
    space.store(p);
}

/// Sets the head of slot `i`.
pub(crate) fn set_head(p: &mut impl PageWordsMut, i: usize, head: u64) {
    let at = slot(p, i).at;
    p.set_word(at, head);
}

fn write_back(p: &mut impl PageWordsMut, from: &PageBuf) {
    p.set_words(0, &from.words()[..header::LSN]);
    p.set_words(header::LSN + 1, &from.words()[header::LSN + 1..]);
}

/// Cuts the page down to its first `keep` slots, with a new upper fence and right sibling.
#[inline(never)]
pub(crate) fn truncate(p: &mut impl PageWordsMut, keep: usize, upper: &[u8], right: PageId) {
    let mut space = Space::of(p);
    if keep == space.slots && space.gap() >= pad8(upper.len()) && !upper.is_empty() {
        // Nothing leaves (ascending inserts): the fence goes on the heap, the old one dies.
        let (old_lower, old_upper) = (p.word(FENCES) & 0xffff_ffff, fences(p).1);
        space.top -= pad8(upper.len());
        space.dead += old_upper.map_or(0, |(_, len)| pad8(len));
        write_bytes(p, space.top / 8, upper);
        space.store(p);
        p.set_word(FENCES, old_lower | (space.top as u64) << 32 | (upper.len() as u64) << 48);
        p.set_word(RIGHT, right.0);
        let mut lower = Vec::new();
        if let Some((at, len)) = fences(p).0 {
            read_bytes(p, at, len, &mut lower);
        }
        let prefix = common_prefix(&lower, upper);
        if prefix != p.word(PREFIX) as usize {
            p.set_word(PREFIX, prefix as u64);
            for i in 0..space.slots {
                let s = slot(p, i);
                let head = stored_key_head(p, s.at, prefix);
                p.set_word(SLOTS + i, slot_word(s.at * 8, s.bytes, head));
            }
        }
        return;
    }
    let old = p.copied();
    let mut new = shell_of(&old, lower_fence(&old), Some(upper), right);
    copy_entries(&old, 0..keep, &mut new);
    write_back(p, &new);
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// The shortest byte string above `low` and at most `high`; `low < high`.
pub(crate) fn separator<'a>(low: &[u8], high: &'a [u8]) -> &'a [u8] {
    debug_assert!(low < high);
    &high[..common_prefix(low, high) + 1]
}

/// Name and place of a page about to be built.
#[derive(Clone, Copy)]
pub(crate) struct Identity {
    pub(crate) page: PageId,
    pub(crate) owner: PageId,
    pub(crate) kind: u8,
    pub(crate) level: u8,
}

/// An empty page between fences.
pub(crate) fn shell(id: Identity, lower: &[u8], upper: Option<&[u8]>, right: PageId) -> PageBuf {
    let mut p = PageBuf::zeroed();
    p.set_word(header::KIND, u64::from(id.kind) << 32 | u64::from(id.level) << 40);
    p.set_word(header::PAGE_ID, id.page.0);
    p.set_word(OWNER, id.owner.0);
    p.set_word(RIGHT, right.0);
    let mut top = PAGE_BYTES;
    let mut words = 0;
    if !lower.is_empty() {
        top -= pad8(lower.len());
        write_bytes(&mut p, top / 8, lower);
        words |= top as u64 | (lower.len() as u64) << 16;
    }
    if let Some(upper) = upper {
        top -= pad8(upper.len());
        write_bytes(&mut p, top / 8, upper);
        words |= (top as u64) << 32 | (upper.len() as u64) << 48;
    }
    p.set_word(FENCES, words);
    p.set_word(PREFIX, upper.map_or(0, |u| common_prefix(lower, u)) as u64);
    Space { slots: 0, top, dead: 0, last_insert: NO_SLOT }.store(&mut p);
    p
}

/// An empty page like `old`, between other fences.
fn shell_of(old: &PageBuf, lower: &[u8], upper: Option<&[u8]>, right: PageId) -> PageBuf {
    let (kind, level) = kind_of(old);
    let page = PageId(old.word(header::PAGE_ID));
    let owner = PageId(old.word(OWNER));
    shell(Identity { page, owner, kind, level }, lower, upper, right)
}

/// Appends entries of `from` to `to`, which has room for them.
pub(crate) fn copy_entries(from: &PageBuf, range: std::ops::Range<usize>, to: &mut PageBuf) {
    let mut space = Space::of(to);
    let prefix = to.word(PREFIX) as u16 as usize;
    let same_heads = from.word(PREFIX) as u16 as usize == prefix;
    for i in range {
        let Slot { at, bytes, key_head } = slot(from, i);
        let (key, row) = entry_lens(from, at);
        debug_assert!(bytes == entry_bytes(key, row) && space.gap() >= bytes + 8);
        space.top -= bytes;
        let to_at = space.top / 8;
        to.set_words(to_at, &from.words()[at..][..bytes / 8]);
        to.set_word(to_at + 1, entry_word(key, row, 0));
        let head = if same_heads { key_head } else { stored_key_head(from, at, prefix) };
        to.set_word(SLOTS + space.slots, slot_word(space.top, bytes, head));
        space.slots += 1;
    }
    space.last_insert = NO_SLOT;
    space.store(to);
}

/// Head, key and row of slot `i` of a private copy.
#[inline]
pub(crate) fn entry(p: &PageBuf, i: usize) -> (u64, &[u8], &[u8]) {
    let at = slot(p, i).at;
    let (key, row) = entry_lens(p, at);
    let bytes = p.bytes();
    let from = at * 8 + 16;
    (p.word(at), &bytes[from..from + key], &bytes[from + pad8(key)..from + pad8(key) + row])
}

/// An entry of a private copy: head, and where its row begins and how long it is, in bytes.
#[inline]
pub(crate) fn placed(p: &PageBuf, i: usize) -> (u64, (usize, usize)) {
    let at = slot(p, i).at;
    let (key, row) = entry_lens(p, at);
    (p.word(at), (at * 8 + 16 + pad8(key), row))
}

/// The lower fence of a private copy; empty when unbounded.
pub(crate) fn lower_fence(p: &PageBuf) -> &[u8] {
    fences(p).0.map_or(&[], |(at, len)| &p.bytes()[at * 8..at * 8 + len])
}

/// The upper fence of a private copy; `None` when unbounded.
pub(crate) fn upper_fence(p: &PageBuf) -> Option<&[u8]> {
    fences(p).1.map(|(at, len)| &p.bytes()[at * 8..at * 8 + len])
}

/// The page without its gap, for the log.
pub(crate) fn image_of(p: &PageBuf) -> Vec<u8> {
    let space = Space::of(p);
    let low = HEADER_BYTES + 8 * space.slots;
    let mut out = Vec::with_capacity(low + PAGE_BYTES - space.top);
    out.extend_from_slice(&p.bytes()[..low]);
    out.extend_from_slice(&p.bytes()[space.top..]);
    out
}

/// The page of an image; `None` when it is none.
pub(crate) fn page_of_image(image: &[u8]) -> Option<PageBuf> {
    let mut p = PageBuf::zeroed();
    p.bytes_mut()[..HEADER_BYTES].copy_from_slice(image.get(..HEADER_BYTES)?);
    let space = Space::of(&p);
    let low = HEADER_BYTES + 8 * space.slots;
    if low > space.top || space.top > PAGE_BYTES || image.len() != low + PAGE_BYTES - space.top {
        return None;
    }
    p.bytes_mut()[..low].copy_from_slice(&image[..low]);
    p.bytes_mut()[space.top..].copy_from_slice(&image[low..]);
    Some(p)
}

/// Whether a private copy keeps the file's invariants; what is wrong otherwise.
pub(crate) fn check(p: &PageBuf) -> Result<(), &'static str> {
    let space = Space::of(p);
    if space.top > PAGE_BYTES || HEADER_BYTES + 8 * space.slots > space.top {
        return Err("slots and heap overlap");
    }
    for (at, len) in [fences(p).0, fences(p).1].into_iter().flatten() {
        if at * 8 < space.top || at * 8 + len > PAGE_BYTES {
            return Err("a fence is outside of the heap");
        }
    }
    let (lower, upper) = (lower_fence(p), upper_fence(p));
    let prefix = p.word(PREFIX) as usize;
    if prefix != upper.map_or(0, |u| common_prefix(lower, u)) {
        return Err("the fences' common prefix is wrong");
    }
    let mut live = pad8(lower.len()) + upper.map_or(0, |u| pad8(u.len()));
    let mut before: Option<&[u8]> = None;
    let mut taken: Vec<(usize, usize)> = Vec::with_capacity(space.slots + 2);
    let fenced = [fences(p).0, fences(p).1].into_iter().flatten();
    taken.extend(fenced.map(|(at, len)| (at * 8, at * 8 + pad8(len))));
    for i in 0..space.slots {
        let s = slot(p, i);
        let (k, r) = entry_lens(p, s.at);
        if s.at * 8 < space.top || s.at * 8 + s.bytes > PAGE_BYTES {
            return Err("an entry is outside of the heap");
        }
        if s.bytes != entry_bytes(k, r) || k > KEY_MAX {
            return Err("an entry's length is wrong");
        }
        let (_, key, _) = entry(p, i);
        if before.is_some_and(|b| b >= key) {
            return Err("keys out of order");
        }
        if key < lower || upper.is_some_and(|u| key >= u) {
            return Err("a key is outside of the fences");
        }
        if s.key_head != key_head(key, prefix) {
            return Err("a key head is wrong");
        }
        let room = (p.word(s.at + 1) >> 32) as u16 as usize;
        if !room.is_multiple_of(8) || s.at * 8 + s.bytes + room > PAGE_BYTES {
            return Err("an entry's room is wrong");
        }
        taken.push((s.at * 8, s.at * 8 + s.bytes + room));
        live += s.bytes;
        before = Some(key);
    }
    if live + space.dead != PAGE_BYTES - space.top {
        return Err("dead bytes are miscounted");
    }
    taken.sort_unstable();
    if taken.windows(2).any(|two| two[0].1 > two[1].0) {
        return Err("entries lie over one another");
    }
    Ok(())
}
