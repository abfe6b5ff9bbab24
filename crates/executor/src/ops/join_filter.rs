//! What a hash join knows of its keys, for whoever reads the rows that it will be probed with: rows that cannot meet
//! anybody need not be decoded, nor pass an exchange.
//!
//! Promise: a row with a key that is in the table passes; most others do not. It is asked with the table's own encoding of
//! keys. A Bloom filter of one word for each key: two bits of the word that the hash chooses.

use super::hash::KeyEncoder;
use crate::arena::{KeyIndex, hash_of};
use std::sync::Arc;
use types::Value;

/// Tables of more keys get none: it would stay in no cache.
const KEYS_MAX: usize = 2 << 20;
/// Up to so many keys have a word each, more have [`BITS_PER_KEY`].
const KEYS_OF_A_WORD: usize = 32 << 10;
const BITS_PER_KEY: usize = 16;
/// Where more than half of the rows pass, nobody is asked any more: looked at first after so many rows.
const ROWS_MIN: u64 = 1024;

/// See the file's first lines.
#[derive(Clone)]
pub(crate) struct JoinFilter {
    /// The slots of the probing rows that are their key.
    slots: Vec<u32>,
    encoder: KeyEncoder,
    words: Arc<[u64]>,
}

impl JoinFilter {
    /// Of a table with these keys, for rows whose key is in `slots`; none where that does not pay.
    pub fn new(keys: &KeyIndex, slots: Vec<u32>, encoder: &KeyEncoder) -> Option<JoinFilter> {
        if keys.len() > KEYS_MAX {
            return None;
        }
        let count = keys.len().min(KEYS_OF_A_WORD).max(keys.len() * BITS_PER_KEY / 64);
        let mut words = vec![0u64; count.next_power_of_two()];
        let mask = words.len() - 1;
        for number in 0..keys.len() as u32 {
            let hash = hash_of(keys.key(number));
            words[place(hash) & mask] |= bits(hash);
        }
        Some(JoinFilter { slots, encoder: encoder.clone(), words: words.into() })
    }

    /// The slots of the rows that are asked about.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The same for rows that have the key in other slots.
    pub fn over(&self, slots: Vec<u32>) -> JoinFilter {
        JoinFilter { slots, ..self.clone() }
    }

    /// Whether a row with these values in its slots may meet anybody. `key` is a buffer.
    #[inline]
    pub fn passes(&self, values: impl Iterator<Item = Value>, key: &mut Vec<u8>) -> bool {
        key.clear();
        for (i, value) in values.enumerate() {
            if value.is_null() {
                return false;
            }
            self.encoder.push(i, &value, key);
        }
        let hash = hash_of(key);
        let wanted = bits(hash);
        self.words[place(hash) & (self.words.len() - 1)] & wanted == wanted
    }
}

fn place(hash: u64) -> usize {
    (hash >> 12) as usize
}

fn bits(hash: u64) -> u64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63)
}

/// A filter at work, and whether it pays.
pub(super) struct Narrowing {
    filter: JoinFilter,
    /// Where its slots are in a stored row.
    pub columns: Vec<usize>,
    met: u64,
    passed: u64,
    off: bool,
    key: Vec<u8>,
}

impl Narrowing {
    pub fn new(filter: &JoinFilter, columns: Vec<usize>) -> Narrowing {
        let filter = filter.clone();
        Narrowing { filter, columns, met: 0, passed: 0, off: false, key: Vec::new() }
    }

    /// Whether a row passes, of which `value` is a column.
    #[inline]
    pub fn passes(&mut self, value: impl Fn(usize) -> Value) -> bool {
        if self.off {
            return true;
        }
        let values = self.columns.iter().map(|column| value(*column));
        let passes = self.filter.passes(values, &mut self.key);
        self.met += 1;
        self.passed += u64::from(passes);
        if self.met >= ROWS_MIN && self.met.is_power_of_two() {
            self.off = 2 * self.passed > self.met;
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::SqlType;

    #[test]
    fn who_is_in_the_table_passes_and_few_others_do() {
        let encoder = KeyEncoder::new([SqlType::Int]);
        let mut keys = KeyIndex::default();
        let mut key = Vec::new();
        for n in 0..2_000 {
            key.clear();
            encoder.push(0, &Value::Int(n * 3), &mut key);
            keys.add(&key, hash_of(&key));
        }
        let filter = JoinFilter::new(&keys, vec![0], &encoder).unwrap();
        let mut passes = |value: Value| filter.passes(std::iter::once(value), &mut key);
        assert!((0..2_000).all(|n| passes(Value::Int(n * 3))));
        let others = (0..6_000).filter(|n| n % 3 != 0 && passes(Value::Int(*n))).count();
        assert!(others < 400, "{others} of 4,000 pass");
        assert!(!passes(Value::Null));
    }

    #[test]
    fn one_that_lets_most_rows_pass_is_given_up() {
        let encoder = KeyEncoder::new([SqlType::Int]);
        let mut keys = KeyIndex::default();
        let mut key = Vec::new();
        encoder.push(0, &Value::Int(1), &mut key);
        keys.add(&key, hash_of(&key));
        let filter = JoinFilter::new(&keys, vec![0], &encoder).unwrap();
        let mut narrowing = Narrowing::new(&filter, vec![0]);
        assert!(!narrowing.passes(|_| Value::Null));
        for _ in 1..ROWS_MIN {
            assert!(narrowing.passes(|_| Value::Int(1)));
        }
        assert!(narrowing.passes(|_| Value::Null), "nobody is asked any more");
    }
}
