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

/// Keys lie one behind the other in pieces of so many bytes, which go one by one as they are read.
const PIECE_BYTES: usize = 64 << 10;

/// A tree's number and a key.
pub type Place = (u64, Box<[u8]>);

/// Where to look. One per database.
#[derive(Default)]
pub struct Ghosts {
    places: Mutex<Places>,
    forgotten: AtomicU64,
}

#[derive(Default)]
struct Places {
    count: usize,
    /// Of each place: the tree's number, the key's length (u16), the key.
    pieces: VecDeque<Vec<u8>>,
    /// Bytes of the first piece that are read.
    read: usize,
}

impl Places {
    fn push(&mut self, tree: u64, key: &[u8]) {
        let bytes = 10 + key.len();
        if self.pieces.back().is_none_or(|piece| piece.len() + bytes > PIECE_BYTES) {
            // A few places need no piece of their own.
            let room = if self.count == 0 { bytes } else { PIECE_BYTES };
            self.pieces.push_back(Vec::with_capacity(room));
        }
        let Some(piece) = self.pieces.back_mut() else { return };
        piece.extend_from_slice(&tree.to_le_bytes());
        piece.extend_from_slice(&(key.len() as u16).to_le_bytes());
        piece.extend_from_slice(key);
        self.count += 1;
    }

    fn pop(&mut self) -> Option<Place> {
        let piece = self.pieces.front()?;
        let (tree, rest) = piece[self.read..].split_first_chunk::<8>()?;
        let (len, rest) = rest.split_first_chunk::<2>()?;
        let key = &rest[..usize::from(u16::from_le_bytes(*len))];
        let place = (u64::from_le_bytes(*tree), key.into());
        self.read += 10 + key.len();
        self.count -= 1;
        if self.read == piece.len() {
            self.pieces.pop_front();
            self.read = 0;
        }
        Some(place)
    }
}

/// The first bytes of a key as a number that compares as they do.
fn head(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = key.len().min(8);
    bytes[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(bytes)
}

impl Ghosts {
    /// Something in the leaf of `key` can go, now or when its transaction has ended.
    pub fn note(&self, tree: u64, key: &[u8]) {
        let mut places = self.places.lock();
        if places.count < KEYS_MAX {
            places.push(tree, key);
        } else {
            self.forgotten.fetch_add(1, Relaxed);
        }
    }

    /// The same for many.
    pub fn put(&self, more: impl IntoIterator<Item = Place>) {
        more.into_iter().for_each(|(tree, key)| self.note(tree, &key));
    }

    /// The oldest, at most so many, in the order of trees and keys, each once.
    pub fn take(&self, most: usize) -> Vec<Place> {
        let mut places = self.places.lock();
        // The head of a key tells most of them apart, without a look at where the key lies.
        let headed = |(tree, key): Place| (tree, head(&key), key);
        let mut taken: Vec<_> =
            std::iter::from_fn(|| places.pop()).take(most).map(headed).collect();
        drop(places);
        taken.sort_unstable();
        taken.dedup();
        taken.into_iter().map(|(tree, _, key)| (tree, key)).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.lock().count == 0
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

    #[test]
    fn many_places_come_back_as_they_went_in() {
        let ghosts = Ghosts::default();
        let key = |n: u32| [&n.to_be_bytes()[..], &vec![7; n as usize % 900]].concat();
        for n in 0..2000 {
            ghosts.note(u64::from(n / 1000), &key(n));
        }
        for (first, most) in [(0, 700), (700, 1300)] {
            let expected: Vec<Place> =
                (first..first + most).map(|n| (u64::from(n / 1000), key(n).into())).collect();
            assert_eq!(ghosts.take(most as usize), expected);
        }
        assert!(ghosts.is_empty() && ghosts.places.lock().pieces.is_empty());
    }
}
