//! A row of which the values need not be made: texts and binaries as the bytes that they are stored as.
//!
//! Promise: [`StoredCell::value`] is the value of the column, in whichever form the cell comes.

use super::RowColumn;
use crate::Value;

/// One column of a row.
pub enum StoredCell<'r> {
    Value(Value),
    /// A (var)char, n(var)char or (var)binary that is not NULL, as it is stored: characters in the code page of the column's
    /// rule, or in UTF-16 (little-endian).
    Bytes(&'r [u8], RowColumn),
}

/// A row by its cells.
pub trait StoredCells {
    /// How many columns it has.
    fn width(&self) -> usize;
    /// Whether a column is NULL.
    fn is_null(&self, column: usize) -> bool;
    /// One of its columns, from 0 on.
    fn cell(&self, column: usize) -> StoredCell<'_>;
}

impl StoredCell<'_> {
    pub fn value(self) -> Value {
        match self {
            StoredCell::Value(value) => value,
            StoredCell::Bytes(bytes, column) => column.value(bytes),
        }
    }
}
