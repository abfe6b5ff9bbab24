//! Rows as bytes: fixed part, null bitmap, variable part. To the byte: docs/formats/row.md.
//!
//! A row says how many columns it has, so a row written before ALTER TABLE ADD is read by the
//! newer layout: the missing columns are the caller's to fill.

use crate::{SqlType, TypeError, Value};

/// Largest row in bytes.
pub const ROW_BYTES_MAX: usize = 8060;

/// One column of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowColumn {
    pub ty: SqlType,
    pub nullable: bool,
}

/// Where each column of a row is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayout {
    columns: Vec<RowColumn>,
}

impl RowLayout {
    pub fn new(columns: &[RowColumn]) -> RowLayout {
        RowLayout { columns: columns.to_vec() }
    }
    pub fn columns(&self) -> &[RowColumn] {
        &self.columns
    }
    /// Appends the row. Values must have their columns' types and be NULL only where nullable
    /// (asserted in debug builds). 511 when larger than 8060 bytes.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), TypeError> {
        unimplemented!("{values:?} {out:?}")
    }
    /// Column `i` of a row, or `None` when the row was written with fewer columns.
    pub fn decode_column(&self, row: &[u8], i: usize) -> Option<Value> {
        unimplemented!("{row:?} {i}")
    }
    /// Number of columns the row was written with.
    pub fn row_columns(row: &[u8]) -> usize {
        unimplemented!("{row:?}")
    }
    /// Is column `i` NULL (`false` when the row is too short to have it)?
    pub fn is_null(&self, row: &[u8], i: usize) -> bool {
        unimplemented!("{row:?} {i}")
    }
    /// Byte offset of a fixed-length column in every row of this layout; `None` for varchar,
    /// nvarchar and varbinary.
    pub fn fixed_offset(&self, i: usize) -> Option<usize> {
        unimplemented!("{i}")
    }
    /// Bytes of a fixed-length column.
    pub fn fixed_len(&self, i: usize) -> Option<usize> {
        unimplemented!("{i}")
    }
    /// Largest possible row of this layout (variable columns full).
    pub fn max_row_bytes(&self) -> usize {
        unimplemented!()
    }

    /// Overwrites a fixed column in an encoded row, and its null bit; any value of the column's
    /// type, or NULL. For variable columns returns `false` and leaves the row alone.
    pub fn patch(&self, row: &mut [u8], i: usize, value: &Value) -> bool {
        unimplemented!("{row:?} {i} {value:?}")
    }
    /// Overwrites a bigint (or money) column that is not NULL in the template.
    #[inline]
    pub fn patch_i64(&self, row: &mut [u8], i: usize, v: i64) {
        unimplemented!("{row:?} {i} {v}")
    }
    /// Overwrites an int (or date) column that is not NULL in the template.
    #[inline]
    pub fn patch_i32(&self, row: &mut [u8], i: usize, v: i32) {
        unimplemented!("{row:?} {i} {v}")
    }
    /// Overwrites a datetime column that is not NULL in the template.
    #[inline]
    pub fn patch_datetime(&self, row: &mut [u8], i: usize, v: crate::DateTime) {
        unimplemented!("{row:?} {i} {v:?}")
    }

    /// The longest run of padding (blanks of a char column, zeros of a binary one) in an encoded
    /// row, when at least `min` bytes: (offset, length, byte). Lets the log leave it out.
    pub fn longest_run(&self, row: &[u8], min: usize) -> Option<(u16, u16, u8)> {
        unimplemented!("{row:?} {min}")
    }
}
