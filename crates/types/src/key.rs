//! Keys as bytes that memcmp orders as SQL does.
//!
//! Each part of a key is encoded by its column's type, descending parts bitwise inverted; a
//! nullable part begins with 0 (NULL, so NULLs are first) or 1. Values must already have the
//! column's type. To the byte: docs/formats/row.md.

use crate::{SqlType, TypeError, Value};

/// One column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    pub ty: SqlType,
    pub nullable: bool,
    pub desc: bool,
}

/// The columns of a key, in order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KeyLayout {
    parts: Vec<KeyPart>,
}

impl KeyLayout {
    pub fn new(parts: Vec<KeyPart>) -> KeyLayout {
        KeyLayout { parts }
    }
    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }
    /// Appends the key of `values`, which may be fewer than the parts: then it is a prefix, for
    /// range bounds. Allocation-free but for growth of `out`. 1946 beyond 900 bytes.
    pub fn encode_into(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), TypeError> {
        unimplemented!("{values:?} {out:?}")
    }
    /// As one new vector.
    pub fn encode(&self, values: &[Value]) -> Result<Vec<u8>, TypeError> {
        let mut out = Vec::new();
        self.encode_into(values, &mut out)?;
        Ok(out)
    }
}

/// Appends one part. The value must be of the part's type, or NULL when nullable.
pub fn encode_part(part: &KeyPart, value: &Value, out: &mut Vec<u8>) {
    unimplemented!("{part:?} {value:?} {out:?}")
}

/// The key of a single ascending NOT NULL bigint.
#[inline]
pub fn encode_i64(v: i64) -> [u8; 8] {
    ((v as u64) ^ (1 << 63)).to_be_bytes()
}

/// The key of a single ascending NOT NULL int.
#[inline]
pub fn encode_i32(v: i32) -> [u8; 4] {
    ((v as u32) ^ (1 << 31)).to_be_bytes()
}

/// Turns `prefix` into the least key above every key that starts with it; `false` (and empty)
/// when there is none, so the range is unbounded.
pub fn prefix_successor(prefix: &mut Vec<u8>) -> bool {
    while let Some(last) = prefix.last_mut() {
        if *last != 0xff {
            *last += 1;
            return true;
        }
        prefix.pop();
    }
    false
}
