//! Rows at random places of an index in memory: what statistics are made of.
//!
//! A place is a leaf of a range index, or so many neighbouring buckets of a hash index as have some dozens of rows. A leaf
//! is reached by a walk that takes any child, as in a tree of pages (see `crate::sample`).
//!
//! Promise: a place is kept for as long as it takes to copy it; nobody waits.

use crate::memory::hash::HashIndex;
use crate::memory::reclaim::pin;
use crate::memory::scan::append_newest;
use crate::memory::table::{Index, Table};

/// Rows that a place of a hash index is to have, about.
const ROWS_A_PLACE: u64 = 64;
/// Rows that are copied of one place at most: of a chain that is far too long, the newest.
const COPIED_MAX: usize = 4096;
/// Buckets that are looked at to learn how full they are, and rows in them: either is enough.
const BUCKETS_LOOKED_AT: usize = 1024;
const ROWS_LOOKED_AT: u64 = 4096;

/// How an index is cut into places.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Buckets of one, of a hash index.
    buckets: usize,
}

/// What lies at a place.
pub struct RandomPlace {
    bytes: Vec<u8>,
    /// Where each row ends.
    ends: Vec<usize>,
    /// Which one it is: two walks may end at one.
    pub place: u64,
    /// Places of the index, as this walk has it.
    pub places: f64,
}

impl RandomPlace {
    /// The newest versions of its rows, whoever wrote them, but for deleted ones.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }
}

impl Table {
    /// How it is cut, by how full its buckets are now. Suspends.
    pub fn places(&self) -> Places {
        let Index::Hash(hash) = &self.index else {
            return Places { buckets: 1 };
        };
        let every = (hash.buckets() / BUCKETS_LOOKED_AT).max(1);
        let (mut looked_at, mut rows) = (0, 0);
        while looked_at * every < hash.buckets() && rows < ROWS_LOOKED_AT {
            rows += hash.chain(looked_at * every);
            looked_at += 1;
            runtime::task::maybe_yield();
        }
        let buckets = (ROWS_A_PLACE * looked_at as u64).div_ceil(rows.max(1));
        Places { buckets: (buckets as usize).clamp(1, hash.buckets()) }
    }

    /// A place, all with about one chance; `below(n)` gives numbers from 0 to n - 1.
    pub fn random_place(&self, by: Places, below: &mut dyn FnMut(u64) -> u64) -> RandomPlace {
        let guard = pin();
        let mut found = RandomPlace { bytes: Vec::new(), ends: Vec::new(), place: 0, places: 1.0 };
        // Whether there is room for more.
        let mut take = |row: &_| {
            if append_newest(row, &guard, &mut found.bytes) {
                found.ends.push(found.bytes.len());
            }
            found.ends.len() < COPIED_MAX
        };
        match &self.index {
            Index::Hash(hash) => {
                // The last place may have fewer buckets; it has the chance of the others.
                found.places = hash.buckets().div_ceil(by.buckets) as f64;
                found.place = below(found.places as u64);
                let first = found.place as usize * by.buckets;
                'place: for bucket in first..hash.buckets().min(first + by.buckets) {
                    let mut at = hash.first(bucket, &guard);
                    while let Some(row) = at {
                        if !take(row) {
                            break 'place;
                        }
                        at = HashIndex::after(row, &guard);
                    }
                }
            }
            Index::Range(range) => {
                let mut each = |row: &_| {
                    take(row);
                };
                (found.place, found.places) = range.random_leaf(&guard, below, &mut each);
            }
        }
        found
    }
}
