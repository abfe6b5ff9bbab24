//! Columns of stored rows as values: the commonest types without a detour, those that nobody reads not at all.
//!
//! Promise: the value that [`RawLayout::value`] gives, by itself or as an entry of a column; NULL, or no entry, for a
//! column that nobody reads.

use super::raw_layout::RawLayout;
use crate::columns::Column;
use engine::Spot;
use types::{Decimal, RowColumn, SqlType, Value};

/// How one column is read.
pub(super) struct Reader {
    place: usize,
    offset: usize,
    nullable: bool,
    /// A text or a binary, whose stored bytes may do.
    pub bytes: Option<RowColumn>,
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
    /// In one byte a character; fixed or not.
    Text,
    Other,
}

impl Reader {
    pub fn new(layout: &RawLayout<'_>, place: usize, is_read: bool) -> Reader {
        let column = &layout.layout().columns()[place];
        let offset = layout.layout().fixed_offset(place);
        let form = match column.ty {
            _ if !is_read => Form::Unread,
            SqlType::Char(_) | SqlType::VarChar(_) => Form::Text,
            _ if offset.is_none() => Form::Other,
            SqlType::Int => Form::Int,
            SqlType::BigInt => Form::BigInt,
            SqlType::Date => Form::Date,
            SqlType::Decimal { precision: p @ 0..=9, scale, .. } => Form::Decimal4(p, scale),
            SqlType::Decimal { precision: p @ 10..=18, scale, .. } => Form::Decimal8(p, scale),
            _ => Form::Other,
        };
        let is_binary = matches!(column.ty, SqlType::Binary(_) | SqlType::VarBinary(_));
        let bytes = (column.ty.is_character() || is_binary).then_some(*column);
        Reader { place, offset: offset.unwrap_or(0), nullable: column.nullable, bytes, form }
    }

    /// Whether the column of a row that has all columns is NULL.
    #[inline]
    pub fn is_null(&self, layout: &RawLayout<'_>, row: &[u8]) -> bool {
        self.nullable && layout.layout().is_null(row, self.place)
    }

    /// The column of a row; `whole`: the row has all columns of the layout.
    #[inline]
    pub fn value(&self, layout: &RawLayout<'_>, row: &[u8], whole: bool) -> Value {
        if let Form::Unread = self.form {
            return Value::Null;
        }
        if !whole || self.is_null(layout, row) {
            return layout.value(row, self.place);
        }
        let cell = &row[self.offset..];
        let known = match self.form {
            Form::Int => Some(Value::Int(four(cell))),
            Form::Date => Some(Value::Date(four(cell))),
            Form::BigInt => Some(Value::BigInt(eight(cell))),
            Form::Decimal4(p, s) => Decimal::new(four(cell).into(), p, s).ok().map(Value::Decimal),
            Form::Decimal8(p, s) => Decimal::new(eight(cell).into(), p, s).ok().map(Value::Decimal),
            Form::Unread | Form::Text | Form::Other => None,
        };
        known.unwrap_or_else(|| layout.value(row, self.place))
    }

    /// Appends the column of a row to a column of a batch.
    #[inline]
    pub fn put(&self, layout: &RawLayout<'_>, row: &[u8], whole: bool, column: &mut Column) {
        if let Form::Unread = self.form {
            return;
        }
        if !whole {
            return column.push_value(layout.value(row, self.place));
        }
        if self.is_null(layout, row) {
            return column.push_null();
        }
        match self.form {
            Form::Int | Form::Date | Form::Decimal4(..) => {
                column.push_units(four(&row[self.offset..]).into());
            }
            Form::BigInt | Form::Decimal8(..) => column.push_units(eight(&row[self.offset..])),
            Form::Text => column.push_text(layout.layout().raw(row, self.place)),
            Form::Other | Form::Unread => column.push_value(layout.value(row, self.place)),
        }
    }

    /// Appends the columns of the rows that lie in `bytes`.
    pub fn put_all(
        &self,
        layout: &RawLayout<'_>,
        (bytes, rows): (&[u8], &[Spot]),
        whole: bool,
        column: &mut Column,
    ) {
        let cell = |row: &Spot| &bytes[row.at as usize + self.offset..];
        let nulls = |row: &Spot| self.is_null(layout, row.of(bytes));
        let done = whole
            && match self.form {
                Form::Unread => return,
                // A NULL of a fixed length is all zeros.
                Form::Int | Form::Date | Form::Decimal4(..) => column.push_all(
                    rows.iter().map(|row| four(cell(row)).into()),
                    rows.iter().map(nulls),
                ),
                Form::BigInt | Form::Decimal8(..) => {
                    column.push_all(rows.iter().map(|row| eight(cell(row))), rows.iter().map(nulls))
                }
                Form::Text | Form::Other => false,
            };
        if done {
            return;
        }
        for row in rows {
            let row = row.of(bytes);
            self.put(layout, row, whole || layout.is_whole(row), column);
        }
    }

    /// Whether anybody reads the column.
    pub fn is_read(&self) -> bool {
        !matches!(self.form, Form::Unread)
    }

    /// Where the column is in a stored row.
    pub fn place(&self) -> usize {
        self.place
    }
}

/// A number of four bytes.
#[inline]
pub(super) fn four(cell: &[u8]) -> i32 {
    i32::from_le_bytes([cell[0], cell[1], cell[2], cell[3]])
}

/// A number of eight bytes.
#[inline]
pub(super) fn eight(cell: &[u8]) -> i64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&cell[..8]);
    i64::from_le_bytes(bytes)
}
