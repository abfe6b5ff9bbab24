//! Rows' keys as bytes, and a map over them.
//!
//! Promise: two keys have equal bytes exactly when SQL calls them equal under the collation, NULL being equal
//! to NULL (grouping, DISTINCT); whoever joins must refuse NULLs itself.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use types::{KeyPart, SqlType, Value, key};

/// Encodes values of known types.
#[derive(Debug, Clone)]
pub(crate) struct KeyEncoder {
    parts: Vec<KeyPart>,
}

impl KeyEncoder {
    pub fn new(types: impl IntoIterator<Item = SqlType>) -> KeyEncoder {
        let part =
            |ty| KeyPart { ty, nullable: true, desc: false, rule: types::collation::Rule::CiAs };
        KeyEncoder { parts: types.into_iter().map(part).collect() }
    }

    /// With directions, for sorting.
    pub fn ordered(types: impl IntoIterator<Item = (SqlType, bool)>) -> KeyEncoder {
        let part =
            |(ty, desc)| KeyPart { ty, nullable: true, desc, rule: types::collation::Rule::CiAs };
        KeyEncoder { parts: types.into_iter().map(part).collect() }
    }

    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Appends the key part number `i`.
    #[inline]
    pub fn push(&self, i: usize, value: &Value, out: &mut Vec<u8>) {
        key::encode_part_by_rule(&self.parts[i], value, out);
    }

    /// The key of the first values of a row.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) {
        for (part, value) in self.parts.iter().zip(values) {
            key::encode_part_by_rule(part, value, out);
        }
    }
}

/// A map from key bytes.
pub(crate) type KeyMap<T> = HashMap<Box<[u8]>, T, BuildHasherDefault<KeyHasher>>;

/// Multiply and rotate by eight bytes: keys are not chosen by an enemy of this process alone, and a query's
/// memory is bounded anyway.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

const SEED: u64 = 0x517c_c1b7_2722_0a95;

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
            self.write_u64(word);
        }
        let mut tail = [0u8; 8];
        let rest = chunks.remainder();
        tail[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(tail) ^ ((rest.len() as u64) << 56));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(SEED);
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}
