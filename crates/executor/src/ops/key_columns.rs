//! The keys of a batch of columns: those of all rows, one behind the other.
//!
//! Promise: the bytes that [`KeyEncoder`] makes of the rows' values.

use super::hash::{KeyEncoder, of_eight, of_four};
use crate::columns::{Column, Columns, Data, cell};
use ir::Expr;
use types::collation::{Rule, ascii_binary_key_into, ascii_sort_key_into};
use types::{SqlType, Value};

/// See the file's first lines.
pub(super) struct KeyColumns {
    slots: Vec<u32>,
    parts: Vec<Part>,
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

/// How a column's part of a key is had.
#[derive(Clone, Copy)]
enum Part {
    Four,
    Eight,
    Text,
    /// A text compared by code points.
    BinaryText,
    Value,
}

impl KeyColumns {
    /// Of keys that are slots; none where one is something else.
    pub fn new(keys: &[Expr]) -> Option<KeyColumns> {
        let slots = keys.iter().map(Expr::as_slot).collect::<Option<_>>()?;
        Some(KeyColumns { slots, parts: Vec::new(), bytes: Vec::new(), ends: Vec::new() })
    }

    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Makes the keys of a batch.
    pub fn load(&mut self, encoder: &KeyEncoder, columns: &Columns) {
        self.bytes.clear();
        self.ends.clear();
        let part = |(i, slot): (usize, &u32)| part(encoder.ty(i), columns.column(*slot));
        self.parts.clear();
        self.parts.extend(self.slots.iter().enumerate().map(part));
        if let ([slot], [part]) = (&self.slots[..], &self.parts[..])
            && self.load_one(columns.column(*slot), *part)
        {
            return;
        }
        for row in 0..columns.len() {
            for (i, (slot, part)) in self.slots.iter().zip(&self.parts).enumerate() {
                push_part(encoder, i, columns.column(*slot), *part, row, &mut self.bytes);
            }
            self.ends.push(self.bytes.len() as u32);
        }
    }

    /// Makes the keys of one number that is never NULL; false, and nothing done, where they are others.
    fn load_one(&mut self, column: &Column, part: Part) -> bool {
        let Data::Units(units) = &column.data else { return false };
        if column.nulls().iter().any(|null| *null) {
            return false;
        }
        match part {
            Part::Four => self.load_numbers(units, |n| of_four(n as i32)),
            Part::Eight => self.load_numbers(units, of_eight),
            Part::Text | Part::BinaryText | Part::Value => return false,
        }
        true
    }

    #[inline]
    fn load_numbers<const N: usize>(&mut self, units: &[i64], key: impl Fn(i64) -> [u8; N]) {
        self.bytes.resize(N * units.len(), 0);
        for (bytes, n) in self.bytes.chunks_exact_mut(N).zip(units) {
            bytes.copy_from_slice(&key(*n));
        }
        self.ends.extend((1..=units.len()).map(|row| (N * row) as u32));
    }

    /// The key of a row.
    #[inline]
    pub fn key(&self, row: usize) -> &[u8] {
        cell(&self.bytes, &self.ends, row)
    }

    /// The keys of all rows.
    pub fn keys(&self) -> impl Iterator<Item = Option<&[u8]>> + Clone {
        (0..self.ends.len()).map(|row| Some(self.key(row)))
    }

    /// The same, and none for a row of which a part is NULL.
    pub fn whole_keys<'k>(
        &'k self,
        columns: &'k Columns,
    ) -> impl Iterator<Item = Option<&'k [u8]>> + Clone {
        let whole =
            |row: &usize| !self.slots.iter().any(|slot| columns.column(*slot).is_null(*row));
        (0..self.ends.len()).map(move |row| Some(row).filter(whole).map(|row| self.key(row)))
    }
}

/// How the parts of a key of this type are had from the column.
fn part(ty: SqlType, column: &Column) -> Part {
    match (&column.data, ty) {
        (Data::Units(_), SqlType::Int | SqlType::Date) if column.of.ty == ty => Part::Four,
        (Data::Units(_), SqlType::BigInt) if column.of.ty == ty => Part::Eight,
        (Data::Texts { .. }, _) if column.of.rule == Rule::CiAs => Part::Text,
        (Data::Texts { .. }, _) if column.of.rule == Rule::Bin => Part::BinaryText,
        _ => Part::Value,
    }
}

/// Appends a row's part of a key, as [`KeyEncoder::push`] does.
#[inline]
fn push_part(
    encoder: &KeyEncoder,
    i: usize,
    column: &Column,
    part: Part,
    row: usize,
    out: &mut Vec<u8>,
) {
    match (part, &column.data) {
        _ if column.is_null(row) => encoder.push(i, &Value::Null, out),
        (Part::Four, Data::Units(units)) => out.extend_from_slice(&of_four(units[row] as i32)),
        (Part::Eight, Data::Units(units)) => out.extend_from_slice(&of_eight(units[row])),
        (Part::Text | Part::BinaryText, Data::Texts { bytes, ends }) => {
            let begun = out.len();
            out.push(1);
            let text = cell(bytes, ends, row);
            let made = match part {
                Part::Text => ascii_sort_key_into(text, out),
                _ => ascii_binary_key_into(text, out),
            };
            if !made {
                out.truncate(begun);
                encoder.push(i, &column.value(row), out);
            }
        }
        _ => encoder.push(i, &column.value(row), out),
    }
}
