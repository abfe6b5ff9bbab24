//! How the rows that a scan shows are stored: a table's, or entries of an index that has all that is read.
//!
//! Knows nothing of plans: columns go by their places in the stored row.

use catalog::TableDef;
use types::{RowLayout, Value};

/// See the file's first lines.
#[derive(Clone, Copy)]
pub(super) struct RawLayout<'p> {
    layout: &'p RowLayout,
    /// Whose rows they are, where they may lack columns that it got later.
    table: Option<&'p TableDef>,
}

impl<'p> RawLayout<'p> {
    pub fn of_table(table: &'p TableDef) -> RawLayout<'p> {
        RawLayout { layout: &table.layout, table: Some(table) }
    }

    /// Of rows that have all columns.
    pub fn of_rows(layout: &'p RowLayout) -> RawLayout<'p> {
        RawLayout { layout, table: None }
    }

    #[inline]
    pub fn layout(&self) -> &'p RowLayout {
        self.layout
    }

    /// What a column has in rows that were written before it was added.
    #[cold]
    pub fn absent(&self, column: usize) -> Value {
        match self.table {
            Some(table) => table.columns[column].absent.clone(),
            None => Value::Null,
        }
    }

    /// See [`types::RowLayout::raw_key`].
    #[inline]
    pub fn raw_key(&self, row: &[u8], columns: &[usize], out: &mut Vec<u8>) {
        self.layout.raw_key(row, columns, out);
    }

    /// The value of a column.
    #[inline]
    pub fn value(&self, row: &[u8], column: usize) -> Value {
        match self.layout.decode_column(row, column) {
            Some(value) => value,
            None => self.absent(column),
        }
    }

    /// Whether a row was written with all columns.
    #[inline]
    pub fn is_whole(&self, row: &[u8]) -> bool {
        RowLayout::row_columns(row) == self.layout.columns().len()
    }
}
