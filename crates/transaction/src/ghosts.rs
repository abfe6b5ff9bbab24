//! Keys under which housekeeping finds ghosts that can go, and leaves that have become empty.
//!
//! A deleted row stays as a ghost until nobody needs what it was. Then its older version leaves the version store, and its
//! key comes here; so does the key of a row that its own transaction had made, of which there is no older version, and
//! one key of a leaf that a rollback has emptied. Whoever cleans takes the oldest keys, and puts back those of leaves that it
//! cannot clean yet. A key is a place to look, and no claim: what lies there by then is judged by its stamp.
//!
//! Nothing is promised: keys beyond [`KEYS_MAX`] are forgotten, and a restart forgets them all. ALTER INDEX REORGANIZE
//! finds what was forgotten.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Keys that are remembered.
const KEYS_MAX: usize = 1 << 22;

/// A tree's number and a key.
pub type Place = (u64, Box<[u8]>);

/// Where to look. One per database.
#[derive(Default)]
pub struct Ghosts {
    places: Mutex<VecDeque<Place>>,
    forgotten: AtomicU64,
}

impl Ghosts {
    /// Something in the leaf of `key` can go, now or when its transaction has ended.
    pub fn note(&self, tree: u64, key: &[u8]) {
        self.put(std::iter::once((tree, key.into())));
    }

    /// The same for many.
    pub fn put(&self, more: impl IntoIterator<Item = Place>) {
        let mut places = self.places.lock();
        for place in more {
            if places.len() < KEYS_MAX {
                places.push_back(place);
            } else {
                self.forgotten.fetch_add(1, Relaxed);
            }
        }
    }

    /// The oldest, at most so many, in the order of trees and keys, each once.
    pub fn take(&self, most: usize) -> Vec<Place> {
        let mut places = self.places.lock();
        let len = places.len().min(most);
        let mut taken: Vec<Place> = places.drain(..len).collect();
        drop(places);
        taken.sort_unstable();
        taken.dedup();
        taken
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.lock().is_empty()
    }

    /// Places that there was no room for.
    pub fn forgotten(&self) -> u64 {
        self.forgotten.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_in_order_and_once() {
        let ghosts = Ghosts::default();
        for (tree, key) in [(2, b"a"), (1, b"b"), (1, b"a"), (1, b"b")] {
            ghosts.note(tree, key);
        }
        let expect = |of: &[(u64, &[u8; 1])]| -> Vec<Place> {
            of.iter().map(|(t, k)| (*t, Box::from(&k[..]))).collect()
        };
        assert_eq!(ghosts.take(3), expect(&[(1, b"a"), (1, b"b"), (2, b"a")]));
        assert!(!ghosts.is_empty());
        assert_eq!(ghosts.take(3), expect(&[(1, b"b")]));
        assert!(ghosts.is_empty());
    }
}
