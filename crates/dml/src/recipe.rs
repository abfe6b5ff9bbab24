//! How the entry of an index comes out of the bytes of its row: found with the plan, used for each row.
//!
//! Promise: the entry is, to the byte, what `index.rs` makes of the row's values; no value is made for columns whose keys are
//! of fixed length, and nothing is allocated once the buffers have grown.

use catalog::{IndexDef, TableDef};
use executor::SqlError;
use types::row::Projection;
use types::{KeyPart, RowLayout, Value};

/// What stands in an index for a row.
#[derive(Default, Clone)]
pub(crate) struct Entry {
    pub key: Vec<u8>,
    pub row: Vec<u8>,
    /// Memory for the values of `row`, where it is made of these.
    pub stored: Vec<Value>,
}

/// See the file's first lines.
pub(crate) struct EntryRecipe {
    /// The key's columns.
    parts: Vec<(usize, KeyPart)>,
    /// The row's storage key ends an entry's key.
    tail: bool,
    row: Projection,
}

impl EntryRecipe {
    /// None where entries come of values alone: a hash index, and a table of which columns may lie outside of their rows.
    pub fn of(table: &TableDef, index: &IndexDef) -> Option<EntryRecipe> {
        if table.lob.is_some() || index.buckets.is_some() {
            return None;
        }
        let ordinals = index.columns.iter().map(|(ordinal, _)| *ordinal);
        Some(EntryRecipe {
            parts: ordinals.zip(index.key_layout.parts().iter().copied()).collect(),
            tail: !index.unique,
            row: Projection::new(&table.layout, &index.stored, &index.layout),
        })
    }

    /// Whether entries can be made of this row: one that is older than the last columns has no place for them.
    #[inline]
    pub fn suits(table: &TableDef, row: &[u8]) -> bool {
        RowLayout::row_columns(row) == table.layout.columns().len()
    }

    /// The entry's key. 1946.
    #[inline]
    pub fn key(
        &self,
        (table, index): (&TableDef, &IndexDef),
        row: &[u8],
        locator: &[u8],
        out: &mut Entry,
    ) -> Result<(), SqlError> {
        out.key.clear();
        for (ordinal, part) in &self.parts {
            table.layout.key_part(row, *ordinal, part, &mut out.key);
        }
        let tail = if self.tail { locator } else { &[] };
        let most = engine::KEY_MAX.saturating_sub(tail.len());
        if out.key.len() > most {
            return Err(too_long(index, out.key.len(), most));
        }
        out.key.extend_from_slice(tail);
        Ok(())
    }

    /// What stands under the key.
    #[inline]
    pub fn row(&self, table: &TableDef, row: &[u8], locator: &[u8], out: &mut Entry) {
        out.row.clear();
        self.row.project(&table.layout, row, locator, &mut out.row);
    }
}

/// 1946.
#[cold]
pub(crate) fn too_long(index: &IndexDef, len: usize, most: usize) -> SqlError {
    SqlError::new(
        1946,
        16,
        format!(
            "Operation failed. The index entry of length {len} bytes for the index '{}' exceeds the maximum length of \
             {most} bytes for nonclustered indexes.",
            index.name
        ),
    )
}
