//! Keys numbered from 0 on, in the order in which they were first seen: what groups, joins and sets of rows stand on.
//!
//! ```text
//! slots     tag, number + 1       by hash; half of them are free, so that a chain is short
//! entries   the key, or where it is, in 16 bytes
//! long      the bytes of keys of more than 15
//! ```
//!
//! Promise: nothing is allocated per key. A look at a key that is not there costs one line of memory, at one of up to 15
//! bytes two: keys of numbers and dates lie in their entry and are compared as one number. Looking for the keys of many
//! rows at once ([`KeyIndex::find_all`]) waits for several lines at a time.
//!
//! Invariants: `slots` is a power of two long, at most half full; a slot's place goes by its tag, so that growing reads
//! no key. What grows lets others go first: nothing that forbids it is held by who adds a key.

use crate::arena::{Address, Arena};
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// See the file's first lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyIndex {
    long: Arena,
    entries: Vec<Entry>,
    slots: Vec<Slot>,
}

/// A place of the hash table. Number 0: free.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    tag: u32,
    number: u32,
}

/// A key of up to [`SHORT_BYTES`], its length in the last byte; or [`LONG`] there, and the key's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry(u128);

const SHORT_BYTES: usize = 15;
const LONG: u128 = 0xff << 120;

/// What hashes begin with: other in each process, so that nobody can write down keys that share a chain. A simulation
/// repeats itself.
static SEEDS: LazyLock<[u64; 3]> = LazyLock::new(|| {
    let fixed = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03, 0x8cb9_2ba7_2f3d_8dd7];
    match runtime::sim::active() {
        true => fixed,
        false => fixed.map(|seed| seed ^ RandomState::new().hash_one(seed)),
    }
});

/// Slots that are moved between two looks at the clock: some tens of microseconds.
const MOVED_AT_ONCE: usize = 4096;

/// The hash of a key; its upper half chooses partitions, its lower one slots.
#[inline]
pub(crate) fn hash_of(key: &[u8]) -> u64 {
    if key.len() <= SHORT_BYTES {
        return hash_of_short(packed(key));
    }
    let seeds = *SEEDS;
    let mut hash = seeds[2] ^ key.len() as u64;
    let mut rest = key;
    while let Some((piece, more)) = rest.split_at_checked(16) {
        hash = folded(eight(&piece[..8]) ^ hash, eight(&piece[8..]) ^ seeds[0]);
        rest = more;
    }
    // The last sixteen bytes, some of them again.
    let last = &key[key.len() - 16..];
    folded(eight(&last[..8]) ^ hash, eight(&last[8..]) ^ seeds[1])
}

#[inline]
fn hash_of_short(packed: u128) -> u64 {
    let seeds = *SEEDS;
    let hash = folded(packed as u64 ^ seeds[0], (packed >> 64) as u64 ^ seeds[1]);
    folded(hash, seeds[2])
}

/// The two halves of a product, each of whose bits depends on many of both factors.
#[inline]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline]
fn eight(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

#[inline]
fn four(bytes: &[u8]) -> u64 {
    u64::from(u32::from_le_bytes(bytes.try_into().unwrap_or_default()))
}

/// A key of up to [`SHORT_BYTES`] as a number that no other has.
#[inline]
fn packed(key: &[u8]) -> u128 {
    let n = key.len();
    let (low, high) = match n {
        // The bytes behind the first eight are the upper ones of the last eight.
        8.. => {
            (eight(&key[..8]), eight(&key[n - 8..]).checked_shr(8 * (16 - n as u32)).unwrap_or(0))
        }
        4.. => (four(&key[..4]) | four(&key[n - 4..]) << (8 * (n - 4)), 0),
        _ => (key.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)), 0),
    };
    u128::from(low) | u128::from(high) << 64 | (n as u128) << 120
}

impl Entry {
    fn long(at: Address) -> Entry {
        let (chunk, offset, len) = at.parts();
        Entry(LONG | u128::from(len) << 64 | u128::from(offset) << 32 | u128::from(chunk))
    }

    fn address(self) -> Address {
        Address::from_parts(self.0 as u32, (self.0 >> 32) as u32, (self.0 >> 64) as u32)
    }
}

impl KeyIndex {
    /// How many keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The number of a key, if it has one.
    #[inline]
    pub fn find(&self, key: &[u8], hash: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        match key.len() <= SHORT_BYTES {
            true => {
                let wanted = Entry(packed(key));
                self.probe(hash, |entry| *entry == wanted)
            }
            false => {
                self.probe(hash, |entry| entry.0 >= LONG && self.long.get(entry.address()) == key)
            }
        }
    }

    #[inline]
    fn probe(&self, hash: u64, is_it: impl Fn(&Entry) -> bool) -> Option<u32> {
        let (tag, mask) = (hash as u32, self.slots.len() - 1);
        let mut at = tag as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.number == 0 {
                return None;
            }
            if slot.tag == tag && is_it(&self.entries[slot.number as usize - 1]) {
                return Some(slot.number - 1);
            }
            at = (at + 1) & mask;
        }
    }

    /// The numbers of these keys, plus one, into `found`; 0 where a key has none, or is `None`.
    pub fn find_all<'k>(
        &self,
        keys: impl Iterator<Item = Option<&'k [u8]>> + Clone,
        hashes: &mut Vec<u64>,
        found: &mut Vec<u32>,
    ) {
        found.clear();
        hashes.clear();
        hashes.extend(keys.clone().map(|key| key.map_or(0, hash_of)));
        if self.slots.is_empty() {
            found.resize(hashes.len(), 0);
            return;
        }
        // First all slots, none of which waits for another; then what they name.
        let mask = self.slots.len() - 1;
        let touched = hashes.iter().map(|hash| self.slots[*hash as u32 as usize & mask].number);
        found.extend(touched);
        for ((key, hash), found) in keys.zip(hashes.iter()).zip(found.iter_mut()) {
            *found = match key {
                // Its first slot is free.
                _ if *found == 0 => 0,
                Some(key) => self.find(key, *hash).map_or(0, |number| number + 1),
                None => 0,
            };
        }
    }

    /// Gives a key that is not there its number.
    pub fn add(&mut self, key: &[u8], hash: u64) -> u32 {
        if (self.entries.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let number = self.entries.len() as u32;
        self.entries.push(match key.len() <= SHORT_BYTES {
            true => Entry(packed(key)),
            false => Entry::long(self.long.push(key)),
        });
        put(&mut self.slots, Slot { tag: hash as u32, number: number + 1 });
        number
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = vec![Slot::default(); (self.slots.len() * 2).max(64)];
        for some in self.slots.chunks(MOVED_AT_ONCE) {
            runtime::task::maybe_yield();
            let taken = some.iter().filter(|slot| slot.number != 0);
            taken.for_each(|slot| put(&mut slots, *slot));
        }
        self.slots = slots;
    }

    /// The key of a number; a short one by way of `buffer`.
    pub fn key<'k>(&'k self, number: u32, buffer: &'k mut [u8; 16]) -> &'k [u8] {
        let entry = self.entries[number as usize];
        if entry.0 >= LONG {
            return self.long.get(entry.address());
        }
        *buffer = entry.0.to_le_bytes();
        &buffer[..(entry.0 >> 120) as usize]
    }

    /// The hash of the key of a number.
    pub fn hash(&self, number: u32) -> u64 {
        let entry = self.entries[number as usize];
        if entry.0 >= LONG {
            hash_of(self.long.get(entry.address()))
        } else {
            hash_of_short(entry.0)
        }
    }

    /// What one more key of so many bytes takes, in bytes, growth of the tables included.
    pub fn entry_bytes(key: usize) -> usize {
        let own = if key <= SHORT_BYTES { 0 } else { key };
        own + 2 * size_of::<Entry>() + 4 * size_of::<Slot>()
    }

    pub fn clear(&mut self) {
        *self = KeyIndex::default();
    }
}

fn put(slots: &mut [Slot], slot: Slot) {
    let mask = slots.len() - 1;
    let mut at = slot.tag as usize & mask;
    while slots[at].number != 0 {
        at = (at + 1) & mask;
    }
    slots[at] = slot;
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
            assert_eq!(index.key(i, &mut [0; 16]), k);
            assert_eq!(index.hash(i), hash_of(&k));
        }
        assert_eq!(index.len(), 5_000);
    }

    #[test]
    fn keys_of_each_length_stay_apart() {
        let mut index = KeyIndex::default();
        for len in 0..40 {
            // Of blanks and of zeros, which padding must not make equal.
            for byte in [0u8, 32, 255] {
                let key = vec![byte; len];
                let known = index.find(&key, hash_of(&key));
                assert_eq!(known.is_some(), len == 0 && byte != 0, "{len} times {byte}");
                if known.is_none() {
                    index.add(&key, hash_of(&key));
                }
            }
        }
        assert_eq!(packed(b"abcdefgh123") as u64, u64::from_le_bytes(*b"abcdefgh"));
        assert_eq!((packed(b"abcdefgh123") >> 64) as u32, u32::from_le_bytes(*b"123\0"));
        assert_eq!(packed(b"abcdef") as u64, u64::from_le_bytes(*b"abcdef\0\0"));
    }

    #[test]
    fn many_are_found_as_one_by_one() {
        let mut index = KeyIndex::default();
        let key = |n: u64| n.to_be_bytes().repeat(1 + n as usize % 3);
        let (mut hashes, mut found) = (Vec::new(), Vec::new());
        index.find_all([Some(&b"nobody"[..]), None].into_iter(), &mut hashes, &mut found);
        assert_eq!(found, [0, 0]);
        for n in (0..2_000).step_by(2) {
            index.add(&key(n), hash_of(&key(n)));
        }
        let keys: Vec<Vec<u8>> = (0..2_000).map(key).collect();
        let some = |(n, key): (usize, &'static [u8])| (n % 5 != 0).then_some(key);
        let leaked: Vec<&'static [u8]> = keys.into_iter().map(|key| &*key.leak()).collect();
        let all = leaked.iter().copied().enumerate().map(some);
        index.find_all(all, &mut hashes, &mut found);
        for (n, found) in found.into_iter().enumerate() {
            let there = n % 2 == 0 && n % 5 != 0;
            assert_eq!(found, if there { n as u32 / 2 + 1 } else { 0 });
        }
    }

    #[test]
    fn hashes_of_neighbours_lie_apart() {
        // Keys of ints, of which a table half full has few in one place.
        let mut places = vec![0u32; 1 << 16];
        for n in 0..1u32 << 15 {
            let mut key = vec![1];
            key.extend_from_slice(&(n | 1 << 31).to_be_bytes());
            places[hash_of(&key) as usize & 0xffff] += 1;
        }
        let taken = places.iter().filter(|n| **n > 0).count();
        assert!(taken > 24_000, "{taken} of 32,768 places by chance 25,800");
        assert!(places.iter().all(|n| *n < 10));
    }
}
