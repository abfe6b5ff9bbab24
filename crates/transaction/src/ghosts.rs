//! Keys under which housekeeping finds ghosts that can go, and leaves that have become empty.
//!
//! A deleted row stays as a ghost until nobody needs what it was. Then its older version leaves the version store, and its
//! key comes here; so does the key of a row that its own transaction had made, of which there is no older version, and
//! one key of a leaf that a rollback has emptied. Whoever cleans takes all keys and puts back those of leaves that it
//! cannot clean yet. A key is a place to look, and no claim: what lies there by then is judged by its stamp.
//!
//! Nothing is promised: keys beyond [`KEYS_MAX`] are forgotten, and a restart forgets them all. ALTER INDEX REORGANIZE
//! finds what was forgotten.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Keys that are remembered.
const KEYS_MAX: usize = 1 << 22;

/// A tree's number and a key.
pub type Place = (u64, Box<[u8]>);

/// Where to look. One per database.
#[derive(Default)]
pub struct Ghosts {
    places: Mutex<Vec<Place>>,
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
                places.push(place);
            } else {
                self.forgotten.fetch_add(1, Relaxed);
            }
        }
    }

    /// All of them, in the order of trees and keys, each once.
    pub fn take(&self) -> Vec<Place> {
        let mut places = std::mem::take(&mut *self.places.lock());
        places.sort_unstable();
        places.dedup();
        places
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
        let taken = ghosts.take();
        let expect = [(1, b"a"), (1, b"b"), (2, b"a")].map(|(t, k)| (t, Box::from(&k[..])));
        assert_eq!(taken, expect);
        assert!(ghosts.take().is_empty());
    }
}
