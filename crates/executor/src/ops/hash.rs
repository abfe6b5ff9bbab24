//! Rows' keys as bytes, and a map over them.
//!
//! Promise: two keys have equal bytes exactly when SQL calls them equal under the collation, NULL being equal
//! to NULL (grouping, DISTINCT); whoever joins must refuse NULLs itself.

use crate::key_hasher::KeyHasher;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
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
