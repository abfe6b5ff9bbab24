//! A row that a scan shows, by its cells: nothing of it is decoded before somebody asks.

use super::raw_layout::RawLayout;
use super::reader::Reader;
use types::{SqlType, StoredCell, StoredCells};

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
        let place = self.readers[column].place();
        match self.whole {
            true => self.layout.layout().is_null(self.row, place),
            false => self.layout.value(self.row, place).is_null(),
        }
    }

    #[inline]
    fn cell(&self, column: usize) -> StoredCell<'_> {
        let reader = &self.readers[column];
        let (layout, place) = (self.layout.layout(), reader.place());
        let of = layout.columns()[place];
        let is_bytes = of.ty.is_character() || is_binary(of.ty);
        if self.whole && is_bytes && !layout.is_null(self.row, place) {
            return StoredCell::Bytes(layout.raw(self.row, place), of);
        }
        StoredCell::Value(reader.value(&self.layout, self.row, self.whole))
    }
}

fn is_binary(ty: SqlType) -> bool {
    matches!(ty, SqlType::Binary(_) | SqlType::VarBinary(_))
}
