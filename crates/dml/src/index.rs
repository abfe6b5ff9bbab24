//! Entries of secondary indexes, as rows come, change and go.
//!
//! An entry lies under the index's key columns, followed by the row's storage key where the index is not unique; its row
//! has the storage key first (the locator) and then the columns that the index stores.
//! docs/decisions/0008-secondary-indexes.md has it to the byte.
//!
//! Promise: an entry changes in the transaction of its row, after it; an entry whose bytes stay the same is not touched.

use crate::recipe::{Entry, EntryRecipe, too_long};
use catalog::{IndexDef, TableDef};
use engine::{InsertHint, RowImage};
use executor::index::end_of_hashed;
use executor::{Cx, SqlError, duplicate_key, engine_error, holds};
use std::sync::Arc;
use types::{Value, key};

/// An index that is kept up.
pub(crate) struct IndexWriter {
    /// Its place in the table's list.
    pub at: usize,
    tree: engine::Tree,
    hint: InsertHint,
    recipe: Option<EntryRecipe>,
}

/// A row for which an index may have an entry.
#[derive(Clone, Copy)]
pub(crate) struct Row<'r> {
    /// Those of its columns that the index is about, at least.
    pub values: &'r [Value],
    /// All of it as it is stored, where that is at hand.
    pub bytes: Option<&'r [u8]>,
}

impl IndexWriter {
    /// For each index of a table that has entries.
    pub fn all(table: &TableDef, db: &Arc<engine::Database>) -> Vec<IndexWriter> {
        let kept = table.indexes.iter().enumerate().filter(|(_, i)| !i.clustered && !i.disabled);
        kept.map(|(at, index)| IndexWriter {
            at,
            tree: db.tree(index.tree),
            hint: InsertHint::default(),
            recipe: EntryRecipe::of(table, index),
        })
        .collect()
    }

    /// Whether entries come of a row's bytes.
    pub fn has_recipe(&self) -> bool {
        self.recipe.is_some()
    }

    /// The key of a row's entry. 1946.
    #[inline]
    pub fn key_of(
        &self,
        table: &TableDef,
        row: Row<'_>,
        locator: &[u8],
        out: &mut Entry,
    ) -> Result<(), SqlError> {
        let index = &table.indexes[self.at];
        match self.recipe(table, row) {
            Some((recipe, bytes)) => recipe.key((table, index), bytes, locator, out),
            None => entry_key(index, row.values, locator, out),
        }
    }

    /// What stands under it.
    #[inline]
    pub fn row_of(
        &self,
        table: &TableDef,
        row: Row<'_>,
        locator: &[u8],
        out: &mut Entry,
    ) -> Result<(), SqlError> {
        match self.recipe(table, row) {
            Some((recipe, bytes)) => {
                recipe.row(table, bytes, locator, out);
                Ok(())
            }
            None => entry_row(&table.indexes[self.at], row.values, locator, out),
        }
    }

    /// The whole entry of a row.
    #[inline]
    pub fn make(
        &self,
        table: &TableDef,
        row: Row<'_>,
        locator: &[u8],
        out: &mut Entry,
    ) -> Result<(), SqlError> {
        self.key_of(table, row, locator, out)?;
        self.row_of(table, row, locator, out)
    }

    #[inline]
    fn recipe<'r>(&self, table: &TableDef, row: Row<'r>) -> Option<(&EntryRecipe, &'r [u8])> {
        self.recipe.as_ref().zip(row.bytes.filter(|bytes| EntryRecipe::suits(table, bytes)))
    }

    /// Adds an entry; a duplicate is told of with the row's values.
    pub fn insert(
        &mut self,
        table: &TableDef,
        entry: &Entry,
        values: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let txn = writing(cx);
        self.add(entry, txn).map_err(|e| match e {
            engine::EngineError::Duplicate => {
                duplicate_key(table, Some(&table.indexes[self.at]), values)
            }
            e => engine_error(e, Some(table), cx),
        })
    }

    /// The same, and no more.
    #[inline]
    pub fn add(&mut self, entry: &Entry, txn: &mut engine::Txn) -> Result<(), engine::EngineError> {
        txn.insert(&self.tree, &entry.key, &RowImage::new(&entry.row), &mut self.hint)
    }

    /// The entry, as one of several rows that come together.
    #[inline]
    pub fn part<'a>(&'a mut self, entry: &'a Entry) -> engine::Part<'a> {
        let (tree, hint) = self.tree_and_hint();
        let row = RowImage::new(&entry.row);
        engine::Part { tree, key: &entry.key, change: engine::PartChange::Insert { row, hint } }
    }

    /// Where the entries are.
    #[inline]
    pub fn tree(&self) -> &engine::Tree {
        &self.tree
    }

    /// The same, and where the last one came.
    #[inline]
    pub fn tree_and_hint(&mut self) -> (&engine::Tree, &mut InsertHint) {
        (&self.tree, &mut self.hint)
    }

    /// Takes an entry away. The transaction has the row's lock.
    pub fn delete(&self, table: &TableDef, entry: &Entry, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let txn = writing(cx);
        let deleted = txn.delete_entry(&self.tree, &entry.key);
        self.was_there(deleted, table, cx)
    }

    /// Changes what is stored under an entry's key, likewise.
    pub fn update(&self, table: &TableDef, entry: &Entry, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let txn = writing(cx);
        let updated = txn.update_entry(&self.tree, &entry.key, &RowImage::new(&entry.row));
        self.was_there(updated, table, cx)
    }

    /// [`IndexWriter::insert`] where entries change in the order of their keys; so below.
    pub fn insert_near(
        &mut self,
        table: &TableDef,
        key: &[u8],
        row: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let txn = writing(cx);
        match txn.insert(&self.tree, key, &RowImage::new(row), &mut self.hint) {
            Ok(()) => Ok(()),
            Err(engine::EngineError::Duplicate) => Err(self.told_by_entry(table, row)),
            Err(e) => Err(engine_error(e, Some(table), cx)),
        }
    }

    /// See [`IndexWriter::delete`].
    pub fn delete_near(
        &mut self,
        table: &TableDef,
        key: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let txn = writing(cx);
        let deleted = txn.delete_entry_near(&self.tree, key, &mut self.hint);
        self.was_there(deleted, table, cx)
    }

    /// See [`IndexWriter::update`].
    pub fn update_near(
        &mut self,
        table: &TableDef,
        key: &[u8],
        row: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let txn = writing(cx);
        let updated = txn.update_entry_near(&self.tree, key, &RowImage::new(row), &mut self.hint);
        self.was_there(updated, table, cx)
    }

    #[inline]
    fn was_there(
        &self,
        changed: Result<bool, engine::EngineError>,
        table: &TableDef,
        cx: &Cx<'_>,
    ) -> Result<(), SqlError> {
        match changed {
            Ok(true) => Ok(()),
            Ok(false) => Err(lost(table, &table.indexes[self.at])),
            Err(e) => Err(engine_error(e, Some(table), cx)),
        }
    }

    /// A duplicate, told of with the values that the entry has of its row: its key's are among them.
    #[cold]
    fn told_by_entry(&self, table: &TableDef, row: &[u8]) -> SqlError {
        let index = &table.indexes[self.at];
        let mut values = vec![Value::Null; table.columns.len()];
        for (at, ordinal) in index.stored.iter().enumerate() {
            values[*ordinal] = index.layout.decode_column(row, at + 1).unwrap_or_default();
        }
        duplicate_key(table, Some(index), &values)
    }
}

/// The transaction that entries are written in.
#[inline]
fn writing<'t>(cx: &'t mut Cx<'_>) -> &'t mut engine::Txn {
    match cx.txn.as_deref_mut() {
        Some(txn) => txn,
        None => stdx::fatal!("an index entry is written without a transaction"),
    }
}

/// 8646: an index does not have the entry that it must have.
fn lost(table: &TableDef, index: &IndexDef) -> SqlError {
    SqlError::new(
        8646,
        21,
        format!(
            "Unable to find index entry in index ID {}, of table {}, in database. The indicated \
             index is corrupt or there is a problem with the current update plan. Run DBCC CHECKDB \
             or DBCC CHECKTABLE. If the problem persists, contact product support.",
            index.index_id, table.object_id
        ),
    )
}

/// Whether a row has an entry in an index: its filter holds.
pub(crate) fn has_entry(
    filter: Option<&ir::Expr>,
    values: &[Value],
    cx: &mut Cx<'_>,
) -> Result<bool, SqlError> {
    match filter {
        None => Ok(true),
        Some(filter) => holds(filter, values, cx),
    }
}

/// The row, if it is there and has an entry.
pub(crate) fn with_entry<'r>(
    filter: Option<&ir::Expr>,
    row: Option<Row<'r>>,
    cx: &mut Cx<'_>,
) -> Result<Option<Row<'r>>, SqlError> {
    match row {
        Some(row) => Ok(has_entry(filter, row.values, cx)?.then_some(row)),
        None => Ok(None),
    }
}

/// Makes the entry of a row. 1946.
pub(crate) fn entry(
    index: &IndexDef,
    values: &[Value],
    locator: &[u8],
    out: &mut Entry,
) -> Result<(), SqlError> {
    entry_key(index, values, locator, out)?;
    entry_row(index, values, locator, out)
}

/// The entry's key alone: what names one that goes. 1946.
pub(crate) fn entry_key(
    index: &IndexDef,
    values: &[Value],
    locator: &[u8],
    out: &mut Entry,
) -> Result<(), SqlError> {
    out.key.clear();
    for ((ordinal, _), part) in index.columns.iter().zip(index.key_layout.parts()) {
        key::encode_part(part, &values[*ordinal], &mut out.key);
    }
    let tail = match (index.unique, index.buckets) {
        (true, _) => 0,
        (false, None) => locator.len(),
        (false, Some(_)) => locator.len() + 2,
    };
    let most = engine::KEY_MAX.saturating_sub(tail);
    if out.key.len() > most {
        return Err(too_long(index, out.key.len(), most));
    }
    if !index.unique {
        out.key.extend_from_slice(locator);
        end_of_hashed(index, locator, &mut out.key);
    }
    Ok(())
}

/// What stands under the key.
pub(crate) fn entry_row(
    index: &IndexDef,
    values: &[Value],
    locator: &[u8],
    out: &mut Entry,
) -> Result<(), SqlError> {
    out.stored.clear();
    out.stored.push(Value::binary(locator));
    out.stored.extend(index.stored.iter().map(|ordinal| values[*ordinal].clone()));
    out.row.clear();
    Ok(index.layout.encode(&out.stored, &mut out.row)?)
}
