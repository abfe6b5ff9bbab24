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

/// An ascending part that is not NULL, of four or eight bytes.
#[inline]
pub(super) fn of_four(v: i32) -> [u8; 5] {
    let [a, b, c, d] = key::encode_i32(v);
    [1, a, b, c, d]
}

#[inline]
pub(super) fn of_eight(v: i64) -> [u8; 9] {
    let [a, b, c, d, e, f, g, h] = key::encode_i64(v);
    [1, a, b, c, d, e, f, g, h]
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

    /// The type of part number `i`.
    pub fn ty(&self, i: usize) -> SqlType {
        self.parts[i].ty
    }

    /// Appends the key part number `i`.
    #[inline]
    pub fn push(&self, i: usize, value: &Value, out: &mut Vec<u8>) {
        let part = &self.parts[i];
        match (value, part.ty, part.desc) {
            // The commonest parts, without a detour.
            (Value::Int(v), SqlType::Int, false) => out.extend_from_slice(&of_four(*v)),
            (Value::Date(v), SqlType::Date, false) => out.extend_from_slice(&of_four(*v)),
            (Value::BigInt(v), SqlType::BigInt, false) => out.extend_from_slice(&of_eight(*v)),
            _ => key::encode_part_by_rule(part, value, out),
        }
    }

    /// The key of the first values of a row.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) {
        for (i, value) in values.iter().enumerate().take(self.parts.len()) {
            self.push(i, value, out);
        }
    }
}

/// A map from key bytes.
pub type KeyMap<T> = HashMap<Box<[u8]>, T, BuildHasherDefault<KeyHasher>>;
