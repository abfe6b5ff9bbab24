//! Rows at random places of an index in memory: what statistics are made of.
//!
//! A place is a leaf of a range index, or so many neighbouring buckets of a hash index as have some dozens of rows. A leaf
//! is reached by a walk that takes any child, as in a tree of pages (see `crate::sample`).
//!
//! Promise: rows are kept for as long as it takes to copy some of them; nobody waits.

use crate::memory::reclaim::{Guard, pin};
use crate::memory::row::Row;
use crate::memory::scan::{Cursor, append_newest};
use crate::memory::table::{Index, Table};

/// Rows that a place of a hash index is to have, about.
const ROWS_A_PLACE: u64 = 64;
/// Buckets that are looked at to learn how full they are, and rows of each of them.
const BUCKETS_LOOKED_AT: usize = 1024;
const CHAIN_LOOKED_AT: u64 = 1024;

/// How an index is cut into places.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Buckets of one, of a hash index.
    buckets: usize,
    /// Chains are so long that no place of few rows can be cut.
    pub crowded: bool,
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
            return Places { buckets: 1, crowded: false };
        };
        let every = (hash.buckets() / BUCKETS_LOOKED_AT).max(1);
        let looked_at = (hash.buckets() / every) as u64;
        let mut rows = 0;
        for bucket in (0..hash.buckets()).step_by(every) {
            rows += hash.chain_up_to(bucket, CHAIN_LOOKED_AT);
            runtime::task::maybe_yield();
        }
        let buckets = (ROWS_A_PLACE * looked_at).div_ceil(rows.max(1)) as usize;
        let crowded = 2 * rows > CHAIN_LOOKED_AT * looked_at;
        Places { buckets: buckets.clamp(1, hash.buckets()), crowded }
    }

    /// A place, all with about one chance; `below(n)` gives numbers from 0 to n - 1.
    pub fn random_place(&self, by: Places, below: &mut dyn FnMut(u64) -> u64) -> RandomPlace {
        let mut found = RandomPlace { bytes: Vec::new(), ends: Vec::new(), place: 0, places: 1.0 };
        let mut take = |row: &Row, guard: &Guard| {
            if append_newest(row, guard, &mut found.bytes) {
                found.ends.push(found.bytes.len());
            }
        };
        match &self.index {
            Index::Hash(hash) => {
                // The last place may have fewer buckets; it has the chance of the others.
                found.places = hash.buckets().div_ceil(by.buckets) as f64;
                found.place = below(found.places as u64);
                let first = found.place as usize * by.buckets;
                let last = hash.buckets().min(first + by.buckets);
                let mut cursor = Cursor::of_buckets(first..last);
                while self.walk(&mut cursor, &mut take) {}
            }
            Index::Range(range) => {
                (found.place, found.places) = range.random_leaf(&pin(), below, &mut take);
            }
        }
        found
    }
}
