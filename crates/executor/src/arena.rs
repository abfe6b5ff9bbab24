//! Bytes that are appended and never moved, and an index over keys that lie in them.
//!
//! Promise: nothing is allocated per entry. Invariant: an [`Address`] stays good until its arena is cleared.

use std::hash::Hasher;

/// Bytes asked of the allocator at a time; longer entries get a chunk of their own.
const CHUNK_BYTES: usize = 128 << 10;
/// The first chunk of an arena: most hash tables are small.
const FIRST_CHUNK_BYTES: usize = 4 << 10;

/// Where an entry lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
    chunk: u32,
    offset: u32,
    len: u32,
}

/// Entries of bytes, one behind the other.
#[derive(Default)]
pub(crate) struct Arena {
    chunks: Vec<Vec<u8>>,
}

impl Arena {
    /// Appends an entry. Its length is below 4 GiB, as every row's is.
    pub fn push(&mut self, entry: &[u8]) -> Address {
        let room = |c: &Vec<u8>| c.capacity() - c.len() >= entry.len();
        if !self.chunks.last().is_some_and(room) {
            let usual = if self.chunks.is_empty() { FIRST_CHUNK_BYTES } else { CHUNK_BYTES };
            let capacity = entry.len().max(usual);
            self.chunks.push(Vec::with_capacity(capacity));
        }
        let chunk = self.chunks.len() - 1;
        let bytes = &mut self.chunks[chunk];
        let offset = bytes.len() as u32;
        bytes.extend_from_slice(entry);
        Address { chunk: chunk as u32, offset, len: entry.len() as u32 }
    }

    #[inline]
    pub fn get(&self, at: Address) -> &[u8] {
        &self.chunks[at.chunk as usize][at.offset as usize..][..at.len as usize]
    }

    /// Lets go of everything.
    pub fn clear(&mut self) {
        self.chunks.clear();
    }
}

/// Numbers keys from 0 on, in the order in which they were first seen.
#[derive(Default)]
pub(crate) struct KeyIndex {
    arena: Arena,
    entries: Vec<Entry>,
    /// Entry numbers plus one, by hash; 0 is free. A power of two long, at most 7/8 full.
    slots: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Entry {
    hash: u32,
    key: Address,
}

/// The hash of a key; its upper bits choose partitions, its lower ones slots.
#[inline]
pub(crate) fn hash_of(key: &[u8]) -> u64 {
    let mut hasher = crate::key_hasher::KeyHasher::default();
    hasher.write(key);
    // The multiplication mixes upwards only: bring the upper half down.
    let h = hasher.finish();
    (h ^ (h >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (h >> 29)
}

impl KeyIndex {
    /// How many keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number of a key, if it has one.
    #[inline]
    pub fn find(&self, key: &[u8], hash: u64) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        if self.slots.is_empty() {
            return None;
        }
        let mut at = hash as usize & mask;
        loop {
            let number = self.slots[at];
            if number == 0 {
                return None;
            }
            let entry = &self.entries[number as usize - 1];
            if entry.hash == (hash >> 32) as u32 && self.arena.get(entry.key) == key {
                return Some(number - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// Gives a key that is not there its number.
    pub fn add(&mut self, key: &[u8], hash: u64) -> u32 {
        if (self.entries.len() + 1) * 8 > self.slots.len() * 7 {
            self.grow();
        }
        let number = self.entries.len() as u32;
        let key = self.arena.push(key);
        self.entries.push(Entry { hash: (hash >> 32) as u32, key });
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = number + 1;
        number
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(64);
        let mut slots = vec![0u32; len];
        let mask = len - 1;
        for (number, entry) in self.entries.iter().enumerate() {
            // Of the hash only one half is kept; the other is had from the key again.
            let mut at = hash_of(self.arena.get(entry.key)) as usize & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = number as u32 + 1;
        }
        self.slots = slots;
    }

    /// The key of a number.
    pub fn key(&self, number: u32) -> &[u8] {
        self.arena.get(self.entries[number as usize].key)
    }

    /// What one more key of so many bytes takes, in bytes, growth of the tables included.
    pub fn entry_bytes(key: usize) -> usize {
        key + 2 * size_of::<Entry>() + 12
    }

    pub fn clear(&mut self) {
        self.arena.clear();
        self.entries = Vec::new();
        self.slots = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbered_as_they_come_and_found_again() {
        let mut index = KeyIndex::default();
        let key = |i: u32| format!("{}-{i}", "x".repeat(i as usize % 40)).into_bytes();
        for i in 0..5_000 {
            let k = key(i);
            assert_eq!(index.find(&k, hash_of(&k)), None);
            assert_eq!(index.add(&k, hash_of(&k)), i);
        }
        for i in 0..5_000 {
            let k = key(i);
            assert_eq!(index.find(&k, hash_of(&k)), Some(i));
            assert_eq!(index.key(i), k);
        }
        assert_eq!(index.len(), 5_000);
    }

    #[test]
    fn an_entry_longer_than_a_chunk_has_its_own() {
        let mut arena = Arena::default();
        let long = vec![7u8; CHUNK_BYTES * 2];
        let (a, b, c) = (arena.push(b"before"), arena.push(&long), arena.push(b"after"));
        assert_eq!(arena.get(a), b"before");
        assert_eq!(arena.get(b), &long[..]);
        assert_eq!(arena.get(c), b"after");
    }
}
