//! A row that a scan shows, by its cells: nothing of it is decoded before somebody asks.

use super::raw_layout::RawLayout;
use super::reader::Reader;
use types::{StoredCell, StoredCells};

/// See the file's first lines.
pub(super) struct StoredRow<'r> {
    pub layout: RawLayout<'r>,
    /// One for each column of the row.
    pub readers: &'r [Reader],
    pub row: &'r [u8],
    /// It has all columns of the layout.
    pub whole: bool,
}

impl StoredCells for StoredRow<'_> {
    fn width(&self) -> usize {
        self.readers.len()
    }

    #[inline]
    fn is_null(&self, column: usize) -> bool {
        let reader = &self.readers[column];
        match self.whole {
            true => reader.is_null(&self.layout, self.row),
            false => self.layout.value(self.row, reader.place()).is_null(),
        }
    }

    #[inline]
    fn cell(&self, column: usize) -> StoredCell<'_> {
        let reader = &self.readers[column];
        match reader.bytes {
            Some(of) if self.whole && !reader.is_null(&self.layout, self.row) => {
                StoredCell::Bytes(self.layout.layout().raw(self.row, reader.place()), of)
            }
            _ => StoredCell::Value(reader.value(&self.layout, self.row, self.whole)),
        }
    }
}
