//! A hash index: as many buckets as it was made with, each a chain of rows.
//!
//! ```text
//! bucket --> Row --next--> Row --next--> ...      a new row comes in front
//! ```
//! No latch: a reader follows links; who inserts swaps the bucket's head. Orderings:
//! - A row comes in by compare-and-swap of the head, by Release: who meets it by Acquire sees its key and `next`.
//! - The swap succeeds only with the head at which the search for the key began, or whatever has come since has been
//!   searched too. So a key has one live row: rows come in at the front and nowhere else.
//! - A bucket's word has, above the pointer, a bit for each kind of key that came into the chain ([`Hash::mark`]): where a
//!   key's bit is not set no row need be looked at, and most keys that are inserted are new. It changes with the head, by
//!   the same swap, so who takes a row in has the bits of all that are there. Bits of rows that are gone may stay.
//! - Keys that differ in the last three bits alone lie in neighbouring buckets, one line of the caches; where there are many
//!   buckets, keys that differ in the last six bits in eight lines side by side. Rows that come in the order of their numbers
//!   find the bucket there seven times of eight, and the next line where the processor looks ahead. See [`hash`].
//! - Rows are taken out by one thread at a time (the cleaner). It stores the link in front, which nobody else changes,
//!   unless that is the head, which it swaps. `next` of a row that is out stays, so a reader who stands on it goes on;
//!   what it leads to may be out too, but was taken out later than the reader began, and so lives.

use crate::memory::buckets::Buckets;
use crate::memory::reclaim::Guard;
use crate::memory::row::{OwnedRow, Row};
use crate::memory::sync::Ordering::*;
use std::ptr::null_mut;

pub(crate) struct HashIndex {
    buckets: Buckets,
    seed: u64,
    /// Bits of a key's last byte that choose one of neighbouring buckets.
    near: u8,
    /// Keys end with the length of a tail (u16, big-endian) that follows what is hashed.
    tailed: bool,
}

/// What came in first.
pub(crate) enum Inserted<'g> {
    New(&'g Row),
    /// The key is there; the row that was to come is gone again.
    There(&'g Row),
}

impl HashIndex {
    /// `buckets` is rounded up to a power of two.
    pub fn new(buckets: usize, tailed: bool, seed: u64) -> HashIndex {
        let buckets = buckets.max(1).next_power_of_two();
        let near = if buckets < MANY { 7 } else { 63 };
        HashIndex { buckets: Buckets::new(buckets), seed, near, tailed }
    }

    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// How many rows a bucket has.
    #[cfg(not(loom))]
    pub fn chain(&self, place: usize) -> u64 {
        self.chain_up_to(place, u64::MAX)
    }

    /// The same, where no more than so many count.
    #[cfg(not(loom))]
    pub fn chain_up_to(&self, place: usize, most: u64) -> u64 {
        let guard = crate::memory::reclaim::pin();
        let (mut at, mut rows) = (self.first(place, &guard), 0);
        while let Some(row) = at.filter(|_| rows < most) {
            rows += 1;
            at = HashIndex::after(row, &guard);
        }
        rows
    }

    /// What of a key is hashed.
    #[inline]
    pub fn hashed<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        if !self.tailed {
            return key;
        }
        match key.split_last_chunk::<2>() {
            Some((rest, tail)) => {
                &rest[..rest.len().saturating_sub(u16::from_be_bytes(*tail).into())]
            }
            None => key,
        }
    }

    /// What a key hashes to.
    #[inline]
    pub fn hash(&self, key: &[u8]) -> Hash {
        Hash(hash(self.hashed(key), self.seed, self.near))
    }

    /// The bucket of what is hashed.
    #[inline]
    pub fn place(&self, hashed: &[u8]) -> usize {
        self.place_of(Hash(hash(hashed, self.seed, self.near)))
    }

    #[inline]
    fn place_of(&self, hash: Hash) -> usize {
        hash.0 as usize & (self.buckets.len() - 1)
    }

    /// The bucket of a hash is about to be asked for: most are not in the processor's caches.
    #[inline]
    pub fn prefetch(&self, hash: Hash) {
        self.buckets.prefetch(self.place_of(hash));
    }

    /// The first row of a bucket.
    #[inline]
    pub fn first<'g>(&self, place: usize, _: &'g Guard) -> Option<&'g Row> {
        // SAFETY: what a link leads to lives as long as the guard.
        unsafe { row_of(self.buckets[place].load(Acquire)).as_ref() }
    }

    /// The one after it.
    #[inline]
    pub fn after<'g>(row: &Row, _: &'g Guard) -> Option<&'g Row> {
        // SAFETY: as above.
        unsafe { row.next.load(Acquire).as_ref() }
    }

    /// The live row of a key.
    #[inline]
    pub fn find<'g>(&self, key: &[u8], guard: &'g Guard) -> Option<&'g Row> {
        let hash = self.hash(key);
        let head = self.buckets[self.place_of(hash)].load(Acquire);
        if marks_of(head) & hash.mark() == 0 {
            return None;
        }
        // SAFETY: what a link leads to lives as long as the guard.
        let mut at = unsafe { row_of(head).as_ref() };
        while let Some(row) = at {
            if row.tag == hash.tag() && row.key() == key && !row.is_dead() {
                return Some(row);
            }
            at = HashIndex::after(row, guard);
        }
        None
    }

    /// Adds a row, whose key has that hash, unless its key has a live one.
    pub fn insert<'g>(&self, row: OwnedRow<'_>, hash: Hash, _: &'g Guard) -> Inserted<'g> {
        let bucket = &self.buckets[self.place_of(hash)];
        let (mut head, mut searched) = (bucket.load(Acquire), null_mut());
        loop {
            let mut at = row_of(head);
            while marks_of(head) & hash.mark() != 0 && at != searched && !at.is_null() {
                // SAFETY: in the chain, or was since we are pinned.
                let there = unsafe { &*at };
                if there.tag == row.tag && there.key() == row.key() && !there.is_dead() {
                    return Inserted::There(there);
                }
                at = there.next.load(Acquire);
            }
            row.next.store(row_of(head), Relaxed);
            let word = marked(row.as_ptr(), marks_of(head) | hash.mark());
            match bucket.compare_exchange(head, word, Release, Acquire) {
                // SAFETY: in the chain now.
                Ok(_) => return Inserted::New(unsafe { &*row.into_raw() }),
                Err(now) => {
                    let planted = crate::memory::row::planted_blind_insert();
                    searched = row_of(if planted { now } else { head });
                    head = now;
                }
            }
        }
    }

    /// Takes a dead row out. One thread at a time.
    pub fn remove(&self, row: &Row, guard: &Guard) {
        let place = self.place_of(self.hash(row.key()));
        let bucket = &self.buckets[place];
        let this = std::ptr::from_ref(row).cast_mut();
        let after = row.next.load(Acquire);
        let head = bucket.load(Acquire);
        if row_of(head) == this {
            let marks = if after.is_null() { 0 } else { marks_of(head) };
            if bucket.compare_exchange(head, marked(after, marks), AcqRel, Acquire).is_ok() {
                return;
            }
        }
        // Not the head, and it never becomes that again.
        let mut at = self.first(place, guard);
        while let Some(before) = at {
            if before.next.load(Acquire) == this {
                before.next.store(after, Release);
                return;
            }
            at = HashIndex::after(before, guard);
        }
        stdx::fatal!("a row is not in the chain of its bucket");
    }
}

/// What a key hashes to.
#[derive(Clone, Copy)]
pub(crate) struct Hash(u64);

impl Hash {
    /// Bits that no bucket goes by.
    #[inline]
    pub fn tag(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// One bit of sixteen, by others.
    #[inline]
    fn mark(self) -> usize {
        1 << (self.0 >> 44 & 15)
    }
}

/// Above the addresses of user space on x86-64 and arm64, unless somebody asks the kernel for more.
const MARKS_AT: u32 = 48;

/// The first row, in the word of a bucket.
#[inline]
fn row_of(word: *mut Row) -> *mut Row {
    word.map_addr(|a| a & ((1 << MARKS_AT) - 1))
}

/// The bits beside it.
#[inline]
fn marks_of(word: *mut Row) -> usize {
    word.addr() >> MARKS_AT
}

#[inline]
fn marked(row: *mut Row, marks: usize) -> *mut Row {
    if row.addr() >> MARKS_AT != 0 {
        stdx::fatal!("a row lies at {row:p}, above what a bucket's word has room for");
    }
    row.map_addr(|a| a | marks << MARKS_AT)
}

/// Spreads keys; the seed keeps others from choosing keys that meet.
///
/// The low bits of a key's last byte (`near`) are no part of what is mixed, and change the low bits of the result: eight
/// numbers in a row have the eight buckets of one line, or 64 the 64 of eight, in an order that depends on the rest of the key. So buckets fill
/// as evenly as by any hash, whatever the keys: of two keys that differ elsewhere, line and place are both drawn anew.
#[inline]
fn hash(key: &[u8], seed: u64, near: u8) -> u64 {
    const A: u64 = 0x9E37_79B9_7F4A_7C15;
    const B: u64 = 0xD6E8_FEB8_6659_FD93;
    let mix = |h: u64, word: u64| {
        let wide = u128::from(h ^ word ^ A) * u128::from(word ^ h.rotate_left(32) ^ B);
        (wide as u64) ^ ((wide >> 64) as u64)
    };
    let chosen = u64::from(key.last().map_or(0, |last| last & near));
    // Of words that are read with their first byte lowest, the key's last byte.
    let without = |word: u64, bytes: usize| word & !(u64::from(near) << (8 * (bytes - 1)));
    let mut h = seed ^ key.len() as u64;
    let (words, rest) = key.as_chunks::<8>();
    match (words, rest) {
        ([first @ .., last], []) => {
            h = first.iter().fold(h, |h, word| mix(h, u64::from_le_bytes(*word)));
            h = mix(h, without(u64::from_le_bytes(*last), 8));
        }
        (words, rest) => {
            h = words.iter().fold(h, |h, word| mix(h, u64::from_le_bytes(*word)));
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            h = mix(h, without(u64::from_le_bytes(last), rest.len().max(1)));
        }
    }
    mix(h, seed) ^ chosen
}

/// Half a megabyte: fewer are in the caches anyway, and are better filled by smaller groups of keys.
const MANY: usize = 1 << 16;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How many rows the buckets have, of keys of so many bytes.
    fn chains(buckets: usize, keys: impl Iterator<Item = Vec<u8>>) -> Vec<u32> {
        let index = HashIndex::new(buckets, false, 0x1234_5678_9ABC_DEF1);
        let mut all = vec![0; buckets];
        for key in keys {
            all[index.place_of(index.hash(&key))] += 1;
        }
        all
    }

    #[test]
    fn neighbours_lie_side_by_side_and_never_in_one_bucket() {
        let index = HashIndex::new(1 << 16, false, 7);
        for from in (0..64_000u64).step_by(64) {
            let places: Vec<usize> =
                (from..from + 64).map(|n| index.place_of(index.hash(&n.to_be_bytes()))).collect();
            for eight in places.chunks(8) {
                assert!(eight.iter().all(|place| place / 8 == eight[0] / 8), "one line: {eight:?}");
            }
            let mut distinct = places;
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), 64);
            assert_eq!(distinct[0] / 64, distinct[63] / 64);
        }
    }

    #[test]
    fn buckets_fill_evenly_whatever_the_keys() {
        const N: u64 = 1 << 16;
        type Keys = fn(u64) -> Vec<u8>;
        let kinds: [(&str, Keys); 6] = [
            ("in a row", |n| n.to_be_bytes().to_vec()),
            ("every eighth", |n| (8 * n).to_be_bytes().to_vec()),
            ("every 4096th", |n| (n << 12).to_be_bytes().to_vec()),
            ("four bytes", |n| (n as u32).to_be_bytes().to_vec()),
            ("texts", |n| format!("customer {n:08}\0").into_bytes()),
            ("nine bytes", |n| [&[1], &n.to_be_bytes()[..]].concat()),
        ];
        for (name, key) in kinds {
            let all = chains(N as usize, (0..N).map(key));
            // As many rows as buckets: by chance alone 36.8% of them are empty, and the longest chain has 8 or so.
            let empty = all.iter().filter(|rows| **rows == 0).count() as f64 / N as f64;
            let longest = all.iter().max().copied().unwrap_or(0);
            assert!((0.33..0.40).contains(&empty), "{name}: {empty} are empty");
            assert!(longest <= 14, "{name}: {longest}");
        }
    }
}
