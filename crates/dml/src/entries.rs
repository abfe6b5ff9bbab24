//! Entries of new rows, of a table whose rows entail nothing else: what a prepared INSERT adds after its row.
//!
//! Promise: the entries are those that a [`crate::TableWriter`] would write, in the same order, and so are the errors; they
//! come out of the row's bytes. What was written before one that is refused is the caller's to take back.

use crate::index::{IndexWriter, Row};
use crate::recipe::Entry;
use catalog::TableDef;
use engine::{EngineError, Part, Txn};
use executor::{Cx, SqlError, duplicate_key, engine_error};
use std::sync::Arc;
use types::Value;

/// See the file's first lines.
pub struct NewEntries {
    indexes: Vec<(IndexWriter, Entry)>,
}

impl NewEntries {
    /// None where more than a row's bytes says what its entries are, or whether it has any: the condition of a filtered
    /// index, a hash index, an index that turns duplicates away, columns that may lie outside of their rows.
    pub fn of(table: &TableDef, db: &Arc<engine::Database>) -> Option<NewEntries> {
        let asks =
            |at: usize| table.indexes[at].filter.is_some() || table.indexes[at].ignore_dup_key;
        let indexes = IndexWriter::all(table, db);
        let known = indexes.iter().all(|writer| writer.has_recipe() && !asks(writer.at));
        let entries = indexes.into_iter().map(|writer| (writer, Entry::default()));
        known.then(|| NewEntries { indexes: entries.collect() })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }

    /// Adds those of the row that has just been written under `locator`. 1946, 2601, 2627.
    #[inline]
    pub fn add(
        &mut self,
        table: &TableDef,
        bytes: &[u8],
        locator: &[u8],
        txn: &mut Txn,
        cx: &Cx<'_>,
    ) -> Result<(), SqlError> {
        let row = Row { values: &[], bytes: Some(bytes) };
        for (writer, entry) in &mut self.indexes {
            writer.make(table, row, locator, entry)?;
            if let Err(e) = writer.add(entry, txn) {
                return Err(refused(table, writer.at, bytes, e, cx));
            }
        }
        Ok(())
    }

    /// Makes those of a row that is to be written under `locator`, for [`NewEntries::parts`]. 1946.
    #[inline]
    pub fn make(&mut self, table: &TableDef, bytes: &[u8], locator: &[u8]) -> Result<(), SqlError> {
        let row = Row { values: &[], bytes: Some(bytes) };
        for (writer, entry) in &mut self.indexes {
            writer.make(table, row, locator, entry)?;
        }
        Ok(())
    }

    /// What [`NewEntries::make`] has made, as the engine takes it.
    #[inline]
    pub fn parts(&mut self) -> impl Iterator<Item = Part<'_>> {
        self.indexes.iter_mut().map(|(writer, entry)| writer.part(entry))
    }
}

#[cold]
fn refused(table: &TableDef, at: usize, row: &[u8], e: EngineError, cx: &Cx<'_>) -> SqlError {
    if !matches!(e, EngineError::Duplicate) {
        return engine_error(e, Some(table), cx);
    }
    let column = |i| table.layout.decode_column(row, i).unwrap_or_default();
    let values: Vec<Value> = (0..table.columns.len()).map(column).collect();
    duplicate_key(table, Some(&table.indexes[at]), &values)
}
