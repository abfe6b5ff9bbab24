//! Keys as bytes that memcmp orders as SQL does.
//!
//! Each part of a key is encoded by its column's type, descending parts bitwise inverted; a
//! nullable part begins with 0 (NULL, so NULLs are first) or 1. Values must already have the
//! column's type. To the byte: docs/formats/row.md.

use crate::collation::{Rule, ascii_sort_key_into, sort_key_into};
use crate::compare::{guid_order, trim_zeros};
use crate::{Len, SqlType, TypeError, Value};

/// Longest key of a clustered index in bytes.
pub const KEY_BYTES_MAX: usize = 900;

/// Most bytes of such a key as it is stored, where weights of texts are longer than the texts: what a page has room for,
/// less the number that tells equal keys apart.
const STORED_BYTES_MAX: usize = 1328;

/// Bytes that a column takes of an index's key at least and at most, as SQL Server counts them.
pub fn column_bytes(ty: SqlType) -> (usize, usize) {
    let fixed = |n: usize| (n, n);
    let len = |len: Len, unit: usize| match len {
        Len::N(n) => n as usize * unit,
        Len::Max => usize::MAX / 64,
    };
    match ty {
        SqlType::Char(n) | SqlType::Binary(n) => fixed(n as usize),
        SqlType::NChar(n) => fixed(2 * n as usize),
        SqlType::VarChar(n) | SqlType::VarBinary(n) => (0, len(n, 1)),
        SqlType::NVarChar(n) => (0, len(n, 2)),
        SqlType::Bit | SqlType::TinyInt => fixed(1),
        SqlType::SmallInt => fixed(2),
        SqlType::Int | SqlType::Real | SqlType::SmallMoney => fixed(4),
        SqlType::UniqueIdentifier => fixed(16),
        SqlType::Decimal { precision, .. } => fixed(match precision {
            0..=9 => 5,
            10..=19 => 9,
            20..=28 => 13,
            _ => 17,
        }),
        _ => fixed(8),
    }
}

/// Bytes of a value in a key, as SQL Server counts them; of a sql_variant as it is stored.
fn value_bytes(part: &KeyPart, value: &Value) -> usize {
    match (part.ty, value) {
        (SqlType::Variant, _) => {
            let mut bytes = Vec::new();
            encode_part(part, value, &mut bytes);
            bytes.len()
        }
        (ty, Value::Null) => column_bytes(ty).0,
        (SqlType::NVarChar(_), Value::Str(text)) => 2 * text.encode_utf16().count(),
        (SqlType::VarChar(_), Value::Str(text)) => {
            let mut bytes = Vec::new();
            text.rule().code_page().encode_into(text, &mut bytes);
            bytes.len()
        }
        (SqlType::VarBinary(_), Value::Binary(bytes)) => bytes.len(),
        (ty, _) => column_bytes(ty).1,
    }
}

/// One column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPart {
    pub ty: SqlType,
    pub nullable: bool,
    pub desc: bool,
    /// How texts of the column compare.
    pub rule: Rule,
}

impl KeyPart {
    /// The bytes of a value that is not NULL, where all values have as many; None where they may differ, or are not told.
    fn fixed_bytes(&self) -> Option<usize> {
        match self.ty {
            SqlType::Bit | SqlType::TinyInt => Some(1),
            SqlType::SmallInt => Some(2),
            SqlType::Int | SqlType::Date => Some(4),
            SqlType::BigInt | SqlType::Money | SqlType::SmallMoney => Some(8),
            SqlType::UniqueIdentifier => Some(16),
            _ => None,
        }
    }

    /// Whether [`KeyPart::bytes_of_first`] can tell.
    pub fn has_fixed_bytes(&self) -> bool {
        self.fixed_bytes().is_some()
    }

    /// How many bytes of a stored key are this part's, which is its first.
    pub fn bytes_of_first(&self, key: &[u8]) -> Option<usize> {
        let value = self.fixed_bytes()?;
        let null = if self.desc { !0 } else { 0 };
        Some(match (self.nullable, key.first()) {
            (true, Some(first)) if *first == null => 1,
            (nullable, _) => nullable as usize + value,
        })
    }
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
    /// range bounds. Allocation-free but for growth of `out`. 1946 beyond 900 bytes of values.
    #[inline]
    pub fn encode_into(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), TypeError> {
        debug_assert!(values.len() <= self.parts.len());
        let start = out.len();
        for (part, value) in self.parts.iter().zip(values) {
            encode_part(part, value, out);
        }
        let size = out.len() - start;
        if size > KEY_BYTES_MAX {
            self.check_bytes(values, size).inspect_err(|_| out.truncate(start))?;
        }
        Ok(())
    }

    /// 1946 by the bytes of the values themselves, as SQL Server counts, for a key of which so many bytes are stored.
    #[cold]
    fn check_bytes(&self, values: &[Value], stored: usize) -> Result<(), TypeError> {
        let bytes: usize = self.parts.iter().zip(values).map(|(p, v)| value_bytes(p, v)).sum();
        match bytes > KEY_BYTES_MAX {
            true => Err(TypeError::KeyTooLarge { size: bytes }),
            false if stored > STORED_BYTES_MAX => Err(TypeError::KeyTooLarge { size: stored }),
            false => Ok(()),
        }
    }
    /// As one new vector.
    pub fn encode(&self, values: &[Value]) -> Result<Vec<u8>, TypeError> {
        let mut out = Vec::new();
        self.encode_into(values, &mut out)?;
        Ok(out)
    }
}

/// [`encode_part`] where a text goes by its own rule: for sorting, grouping and joining, never for a stored key, which
/// goes by its column's.
#[inline]
pub fn encode_part_by_rule(part: &KeyPart, value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Str(text) if text.rule() != Rule::CiAs => {
            let start = out.len();
            if part.nullable {
                out.push(1);
            }
            text.rule().sort_key_into(text, out);
            if part.desc {
                out[start..].iter_mut().for_each(|b| *b = !*b);
            }
        }
        _ => encode_part(part, value, out),
    }
}

/// Appends one part. The value must be of the part's type, or NULL when nullable.
#[inline]
pub fn encode_part(part: &KeyPart, value: &Value, out: &mut Vec<u8>) {
    // The commonest key of all, without a detour.
    if let (SqlType::BigInt, Value::BigInt(v), false, false) =
        (part.ty, value, part.nullable, part.desc)
    {
        out.extend_from_slice(&encode_i64(*v));
        return;
    }
    let start = out.len();
    if part.nullable {
        out.push(!value.is_null() as u8);
    }
    if !value.is_null() {
        encode_value(part, value, out);
    } else {
        assert!(part.nullable, "NULL in a NOT NULL part of a key");
    }
    if part.desc {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}

/// Appends what a text's part has at its start where the text begins with `text`: see [`Rule::start_into`]. Bytes of a part that
/// descends are turned as those of whole keys are, so it is their start all the same.
pub fn encode_start(part: &KeyPart, text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    if part.nullable {
        out.push(1);
    }
    if part.rule.has_starts() {
        part.rule.start_into(text, out);
    }
    if part.desc {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}

fn encode_value(part: &KeyPart, value: &Value, out: &mut Vec<u8>) {
    let ty = part.ty;
    match (ty, value) {
        (SqlType::Bit, Value::Bit(v)) => out.push(*v as u8),
        (SqlType::TinyInt, Value::TinyInt(v)) => out.push(*v),
        (SqlType::SmallInt, Value::SmallInt(v)) => {
            out.extend_from_slice(&((*v as u16) ^ (1 << 15)).to_be_bytes());
        }
        (SqlType::Int, Value::Int(v)) => out.extend_from_slice(&encode_i32(*v)),
        (SqlType::BigInt, Value::BigInt(v)) => out.extend_from_slice(&encode_i64(*v)),
        (SqlType::Decimal { precision, scale, .. }, Value::Decimal(d)) => {
            assert_eq!(d.scale(), scale, "a decimal key part has its column's scale");
            if precision <= 18 {
                out.extend_from_slice(&encode_i64(d.units() as i64));
            } else {
                out.extend_from_slice(&((d.units() as u128) ^ (1 << 127)).to_be_bytes());
            }
        }
        (SqlType::Money | SqlType::SmallMoney, Value::Money(v)) => {
            out.extend_from_slice(&encode_i64(*v));
        }
        (SqlType::Float, Value::Float(v)) => {
            // Negative numbers: all bits flipped, else the sign bit. -0 is 0.
            let bits = (v + 0.0).to_bits();
            let mask = ((bits as i64 >> 63) as u64) | (1 << 63);
            out.extend_from_slice(&(bits ^ mask).to_be_bytes());
        }
        (SqlType::Real, Value::Real(v)) => {
            let bits = (v + 0.0).to_bits();
            let mask = ((bits as i32 >> 31) as u32) | (1 << 31);
            out.extend_from_slice(&(bits ^ mask).to_be_bytes());
        }
        (_, Value::Str(text)) if ty.is_character() => match part.rule {
            Rule::CiAs if ascii_sort_key_into(text.as_bytes(), out) => {}
            Rule::CiAs => sort_key_into(text, out),
            rule => rule.sort_key_into(text, out),
        },
        (_, Value::Binary(bytes)) if ty.is_binary() || matches!(ty, SqlType::Clr(_)) => {
            // Zero is escaped, so that the end (00 00) is below every continuation.
            for b in trim_zeros(bytes) {
                out.push(*b);
                if *b == 0 {
                    out.push(0xff);
                }
            }
            out.extend_from_slice(&[0, 0]);
        }
        (SqlType::Date, Value::Date(days)) => out.extend_from_slice(&encode_i32(*days)),
        (SqlType::Time(_), Value::Time(ticks)) => {
            out.extend_from_slice(&ticks.to_be_bytes()[3..]);
        }
        (SqlType::DateTime | SqlType::SmallDateTime, Value::DateTime(d)) => {
            out.extend_from_slice(&encode_i32(d.days));
            out.extend_from_slice(&d.ticks.to_be_bytes());
        }
        (SqlType::DateTime2(_), Value::DateTime2(d)) => encode_datetime2(d, out),
        // Only the instant counts in a comparison.
        (SqlType::DateTimeOffset(_), Value::DateTimeOffset(d)) => encode_datetime2(&d.utc, out),
        (SqlType::UniqueIdentifier, Value::Guid(g)) => out.extend_from_slice(&guid_order(g)),
        (SqlType::Variant, Value::Variant(v)) => v.sort_key_into(out),
        (ty, value) => panic!("a {ty} key part is given {value:?}: the plan forgot to convert"),
    }
}

fn encode_datetime2(d: &crate::DateTime2, out: &mut Vec<u8>) {
    out.extend_from_slice(&d.days.to_be_bytes()[1..]);
    out.extend_from_slice(&d.ticks.to_be_bytes()[3..]);
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
