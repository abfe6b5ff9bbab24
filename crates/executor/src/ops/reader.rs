//! Columns of stored rows as values: the commonest types without a detour, those that nobody reads not at all.
//!
//! Promise: the value that [`RawLayout::value`] gives; NULL for a column that nobody reads.

use super::scan::RawLayout;
use types::{Decimal, RowLayout, SqlType, Value};

/// How one column is read.
pub(super) struct Reader {
    place: usize,
    offset: usize,
    nullable: bool,
    form: Form,
}

enum Form {
    Unread,
    Int,
    BigInt,
    Date,
    /// In four bytes, or eight; precision and scale.
    Decimal4(u8, u8),
    Decimal8(u8, u8),
    Other,
}

impl Reader {
    pub fn new(layout: &RawLayout<'_>, place: usize, is_read: bool) -> Reader {
        let column = &layout.layout().columns()[place];
        let offset = layout.layout().fixed_offset(place);
        let form = match column.ty {
            _ if !is_read => Form::Unread,
            _ if offset.is_none() => Form::Other,
            SqlType::Int => Form::Int,
            SqlType::BigInt => Form::BigInt,
            SqlType::Date => Form::Date,
            SqlType::Decimal { precision: p @ 0..=9, scale, .. } => Form::Decimal4(p, scale),
            SqlType::Decimal { precision: p @ 10..=18, scale, .. } => Form::Decimal8(p, scale),
            _ => Form::Other,
        };
        Reader { place, offset: offset.unwrap_or(0), nullable: column.nullable, form }
    }

    /// The column of a row; `whole`: the row has all columns of the layout.
    #[inline]
    pub fn value(&self, layout: &RawLayout<'_>, row: &[u8], whole: bool) -> Value {
        if let Form::Unread = self.form {
            return Value::Null;
        }
        if !whole || self.nullable && layout.layout().is_null(row, self.place) {
            return layout.value(row, self.place);
        }
        let cell = &row[self.offset..];
        let known = match self.form {
            Form::Int => Some(Value::Int(four(cell))),
            Form::Date => Some(Value::Date(four(cell))),
            Form::BigInt => Some(Value::BigInt(eight(cell))),
            Form::Decimal4(p, s) => Decimal::new(four(cell).into(), p, s).ok().map(Value::Decimal),
            Form::Decimal8(p, s) => Decimal::new(eight(cell).into(), p, s).ok().map(Value::Decimal),
            Form::Unread | Form::Other => None,
        };
        known.unwrap_or_else(|| layout.value(row, self.place))
    }
}

/// Whether a row was written with all columns of the layout.
#[inline]
pub(super) fn is_whole(layout: &RawLayout<'_>, row: &[u8]) -> bool {
    RowLayout::row_columns(row) == layout.layout().columns().len()
}

#[inline]
fn four(cell: &[u8]) -> i32 {
    i32::from_le_bytes([cell[0], cell[1], cell[2], cell[3]])
}

#[inline]
fn eight(cell: &[u8]) -> i64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&cell[..8]);
    i64::from_le_bytes(bytes)
}
