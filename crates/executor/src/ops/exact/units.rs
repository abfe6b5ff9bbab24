//! Exact numbers as 64-bit integers in units of their scale, and texts, slot by slot of a batch of rows or of columns.

use crate::batch::Batch;
use crate::columns::{Columns, Data, cell};
use types::collation::Rule;
use types::{SqlType, Value};

/// Rows whose numbers can be had slot by slot.
pub(in crate::ops) trait Slots {
    fn rows(&self) -> usize;
    /// Appends the units of a slot to `out`; what is NULL is marked, and 0. None where one does not fit.
    fn push_units(&self, slot: u32, nulls: &mut [bool], out: &mut Vec<i64>) -> Option<()>;
    /// Calls `each` for every row, in order, with the text of a slot, none where it is NULL. None where one is not of ASCII
    /// alone, or is compared by another rule.
    fn each_text(&self, slot: u32, rule: Rule, each: &mut dyn FnMut(Option<&[u8]>)) -> Option<()>;
    /// Likewise whether it is NULL. None where nobody keeps it.
    fn each_null(&self, slot: u32, each: &mut dyn FnMut(bool)) -> Option<()>;
}

/// The text of a value, where it is of ASCII and compared by that rule.
fn text_of(value: &Value, rule: Rule) -> Option<Option<&[u8]>> {
    match value {
        Value::Null => Some(None),
        Value::Str(text) if text.rule() == rule && text.is_ascii() => Some(Some(text.as_bytes())),
        _ => None,
    }
}

impl Slots for Batch {
    fn rows(&self) -> usize {
        self.len()
    }

    fn push_units(&self, slot: u32, nulls: &mut [bool], out: &mut Vec<i64>) -> Option<()> {
        for (row, null) in self.rows().zip(nulls) {
            let value = &row[slot as usize];
            if value.is_null() {
                *null = true;
                out.push(0);
            } else {
                out.push(units(value)?);
            }
        }
        Some(())
    }

    fn each_text(&self, slot: u32, rule: Rule, each: &mut dyn FnMut(Option<&[u8]>)) -> Option<()> {
        for row in self.rows() {
            each(text_of(&row[slot as usize], rule)?);
        }
        Some(())
    }

    fn each_null(&self, slot: u32, each: &mut dyn FnMut(bool)) -> Option<()> {
        self.rows().for_each(|row| each(row[slot as usize].is_null()));
        Some(())
    }
}

impl Slots for Columns {
    fn rows(&self) -> usize {
        self.len()
    }

    fn push_units(&self, slot: u32, nulls: &mut [bool], out: &mut Vec<i64>) -> Option<()> {
        let column = self.column(slot);
        nulls.iter_mut().zip(column.nulls()).for_each(|(null, of_column)| *null |= of_column);
        match &column.data {
            Data::Units(units) => out.extend_from_slice(units),
            Data::Values(values) => {
                for value in values {
                    out.push(if value.is_null() { 0 } else { units(value)? });
                }
            }
            Data::Unread | Data::Texts { .. } => return None,
        }
        Some(())
    }

    fn each_text(&self, slot: u32, rule: Rule, each: &mut dyn FnMut(Option<&[u8]>)) -> Option<()> {
        let column = self.column(slot);
        match &column.data {
            Data::Texts { bytes, ends } if column.of.rule == rule => {
                for row in 0..ends.len() {
                    let text = cell(bytes, ends, row);
                    if !text.is_ascii() {
                        return None;
                    }
                    each((!column.is_null(row)).then_some(text));
                }
                Some(())
            }
            Data::Values(values) => {
                for value in values {
                    each(text_of(value, rule)?);
                }
                Some(())
            }
            _ => None,
        }
    }

    fn each_null(&self, slot: u32, each: &mut dyn FnMut(bool)) -> Option<()> {
        let column = self.column(slot);
        if let Data::Unread = column.data {
            return None;
        }
        (0..self.len()).for_each(|row| each(column.is_null(row)));
        Some(())
    }
}

/// Digits behind the point, and the greatest magnitude that fits both the type and 64 bits.
pub(super) fn form(ty: SqlType) -> Option<(u8, i64)> {
    Some(match ty {
        SqlType::TinyInt => (0, 255),
        SqlType::SmallInt => (0, i64::from(i16::MAX)),
        SqlType::Int => (0, i64::from(i32::MAX)),
        SqlType::BigInt => (0, i64::MAX),
        SqlType::Decimal { precision, scale, .. } => {
            (scale, 10i64.checked_pow(precision.into()).map_or(i64::MAX, |n| n - 1))
        }
        _ => return None,
    })
}

pub(super) fn power(digits: u8) -> Option<i64> {
    10i64.checked_pow(digits.into())
}

/// A number in units of its scale.
#[inline]
pub(super) fn units(value: &Value) -> Option<i64> {
    match value {
        Value::Decimal(d) => i64::try_from(d.units()).ok(),
        Value::Int(n) => Some(i64::from(*n)),
        Value::BigInt(n) => Some(*n),
        Value::TinyInt(n) => Some(i64::from(*n)),
        Value::SmallInt(n) => Some(i64::from(*n)),
        // Which conditions compare.
        Value::Date(days) => Some(i64::from(*days)),
        _ => None,
    }
}
