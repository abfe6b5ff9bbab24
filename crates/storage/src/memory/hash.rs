//! A hash index: as many buckets as it was made with, each a chain of rows.
//!
//! ```text
//! bucket --> Row --next--> Row --next--> ...      a new row comes in front
//! ```
//! No latch: a reader follows links; who inserts swaps the bucket's head. Orderings:
//! - A row comes in by compare-and-swap of the head, by Release: who meets it by Acquire sees its key and `next`.
//! - The swap succeeds only with the head at which the search for the key began, or whatever has come since has been
//!   searched too. So a key has one live row: rows come in at the front and nowhere else.
//! - Rows are taken out by one thread at a time (the cleaner). It stores the link in front, which nobody else changes,
//!   unless that is the head, which it swaps. `next` of a row that is out stays, so a reader who stands on it goes on;
//!   what it leads to may be out too, but was taken out later than the reader began, and so lives.

use crate::memory::reclaim::Guard;
use crate::memory::row::Row;
use crate::memory::sync::{AtomicPtr, Ordering::*};
use std::ptr::null_mut;

pub(crate) struct HashIndex {
    buckets: Box<[AtomicPtr<Row>]>,
    seed: u64,
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
        let buckets = (0..buckets).map(|_| AtomicPtr::new(null_mut())).collect();
        HashIndex { buckets, seed, tailed }
    }

    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// How many rows a bucket has.
    #[cfg(not(loom))]
    pub fn chain(&self, place: usize) -> u64 {
        let guard = crate::memory::reclaim::pin();
        let (mut at, mut rows) = (self.first(place, &guard), 0);
        while let Some(row) = at {
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

    /// The bucket of what is hashed.
    #[inline]
    pub fn place(&self, hashed: &[u8]) -> usize {
        hash(hashed, self.seed) as usize & (self.buckets.len() - 1)
    }

    /// The first row of a bucket.
    #[inline]
    pub fn first<'g>(&self, place: usize, _: &'g Guard) -> Option<&'g Row> {
        // SAFETY: what a link leads to lives as long as the guard.
        unsafe { self.buckets[place].load(Acquire).as_ref() }
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
        let mut at = self.first(self.place(self.hashed(key)), guard);
        while let Some(row) = at {
            if *row.key == *key && !row.is_dead() {
                return Some(row);
            }
            at = HashIndex::after(row, guard);
        }
        None
    }

    /// Adds a row, unless its key has a live one.
    pub fn insert<'g>(&self, row: Box<Row>, _: &'g Guard) -> Inserted<'g> {
        let bucket = &self.buckets[self.place(self.hashed(&row.key))];
        let row = Box::into_raw(row);
        let (mut head, mut searched) = (bucket.load(Acquire), null_mut());
        loop {
            let mut at = head;
            while at != searched && !at.is_null() {
                // SAFETY: in the chain, or was since we are pinned; `row` is ours alone.
                let (there, ours) = unsafe { (&*at, &*row) };
                if there.key == ours.key && !there.is_dead() {
                    // SAFETY: nobody but us has ever seen it.
                    drop(unsafe { Box::from_raw(row) });
                    return Inserted::There(there);
                }
                at = there.next.load(Acquire);
            }
            // SAFETY: ours alone until the swap.
            unsafe { &*row }.next.store(head, Relaxed);
            match bucket.compare_exchange(head, row, Release, Acquire) {
                // SAFETY: in the chain now.
                Ok(_) => return Inserted::New(unsafe { &*row }),
                Err(now) => {
                    searched = if crate::memory::row::planted_blind_insert() { now } else { head };
                    head = now;
                }
            }
        }
    }

    /// Takes a dead row out. One thread at a time.
    pub fn remove(&self, row: &Row, guard: &Guard) {
        let bucket = &self.buckets[self.place(self.hashed(&row.key))];
        let this = std::ptr::from_ref(row).cast_mut();
        let after = row.next.load(Acquire);
        if bucket.compare_exchange(this, after, AcqRel, Acquire).is_ok() {
            return;
        }
        // Not the head, and it never becomes that again.
        let mut at = self.first(self.place(self.hashed(&row.key)), guard);
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

#[cfg(not(loom))]
impl Drop for HashIndex {
    fn drop(&mut self) {
        for bucket in &mut self.buckets {
            let mut at = *bucket.get_mut();
            while !at.is_null() {
                // SAFETY: the index is the only way to its rows, and it is ours.
                let mut row = unsafe { Box::from_raw(at) };
                at = *row.next.get_mut();
            }
        }
    }
}

/// Spreads keys; the seed keeps others from choosing keys that meet.
#[inline]
fn hash(key: &[u8], seed: u64) -> u64 {
    const A: u64 = 0x9E37_79B9_7F4A_7C15;
    const B: u64 = 0xD6E8_FEB8_6659_FD93;
    let mix = |h: u64, word: u64| {
        let wide = u128::from(h ^ word ^ A) * u128::from(word ^ h.rotate_left(32) ^ B);
        (wide as u64) ^ ((wide >> 64) as u64)
    };
    let mut chunks = key.chunks_exact(8);
    let mut h = seed ^ key.len() as u64;
    for chunk in &mut chunks {
        h = mix(h, chunk.try_into().map_or(0, u64::from_le_bytes));
    }
    let mut last = [0; 8];
    let rest = chunks.remainder();
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(h, u64::from_le_bytes(last)), seed)
}
