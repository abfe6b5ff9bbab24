//! Rows into a table: values checked, encoded, keyed and handed to the engine.
//!
//! Promise: nothing is allocated per row once the buffers have grown.

use crate::cx::Cx;
use crate::error::{engine_error, private_error};
use crate::eval::qualified;
use crate::lob;
use crate::message::SqlError;
use crate::ops::engine_tree;
use catalog::TableDef;
use engine::{InsertHint, RowImage};
use session_table::TableError;
use std::sync::Arc;
use types::{External, Value};

/// Runs of equal bytes shorter than this are logged as they are.
pub const RUN_BYTES_MIN: usize = 16;

/// Writes rows of one table.
pub struct TableWriter {
    table: Arc<TableDef>,
    /// None for a private table.
    tree: Option<engine::Tree>,
    /// Where columns lie that do not fit into their rows.
    lob: Option<engine::Tree>,
    /// The columns that updates set; of the others large values stay as they are. None: all.
    changes: Option<Vec<usize>>,
    /// Ordinals of the key columns; empty for a heap.
    key_columns: Vec<usize>,
    key: Vec<u8>,
    row: Vec<u8>,
    key_values: Vec<Value>,
}

impl TableWriter {
    /// For a table of the transaction's database, or a private one.
    pub fn new(table: &Arc<TableDef>, cx: &Cx<'_>) -> TableWriter {
        let (tree, lob) = if table.is_private() {
            (None, None)
        } else {
            let Some(txn) = cx.txn.as_deref() else {
                stdx::fatal!("a table is changed without a transaction");
            };
            let db = txn.database();
            (Some(engine_tree(db, table)), table.lob.map(|lob| db.tree(lob)))
        };
        TableWriter {
            tree,
            lob,
            changes: None,
            key_columns: key_columns(table),
            table: table.clone(),
            key: Vec::new(),
            row: Vec::new(),
            key_values: Vec::new(),
        }
    }

    /// Updates will set these columns and no others.
    pub fn changing(mut self, columns: Vec<usize>) -> TableWriter {
        self.changes = Some(columns);
        self
    }

    /// The engine's handle; none for a private table.
    pub fn tree(&self) -> Option<&engine::Tree> {
        self.tree.as_ref()
    }

    /// Inserts a row whose values already have the columns' types.
    pub fn insert(
        &mut self,
        values: &[Value],
        hint: &mut InsertHint,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        check_nulls(&self.table, values, "INSERT", cx)?;
        let Some(tree) = &self.tree else { return self.insert_private(values, cx) };
        match &self.lob {
            None => {
                self.row.clear();
                self.table.layout.encode(values, &mut self.row)?;
            }
            Some(lob) => {
                let keys = &self.key_columns;
                lob::encode(&self.table, lob, keys, values, &[], &mut self.row, cx)?;
            }
        }
        if self.key_columns.is_empty() {
            let id = tree.next_row_id().map_err(|e| engine_error(e, Some(&self.table), cx))?;
            self.key.clear();
            self.key.extend_from_slice(&id.to_be_bytes());
        } else {
            encode_key(
                &self.table,
                &self.key_columns,
                values,
                &mut self.key_values,
                &mut self.key,
            )?;
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a row is written without a transaction");
        };
        let image = image(&self.table, &self.row);
        txn.insert(tree, &self.key, &image, hint).map_err(|e| self.explain(e, values, cx))
    }

    fn insert_private(&self, values: &[Value], cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let result = cx.env.private().insert(self.table.place, values.into());
        result.map_err(|e| self.explain_private(e, values))
    }

    /// Replaces the row under `locator`. False when it is gone.
    pub fn update(
        &mut self,
        locator: &[u8],
        values: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        check_nulls(&self.table, values, "UPDATE", cx)?;
        let Some(tree) = &self.tree else {
            let result = cx.env.private().update(self.table.place, locator, values.into());
            return result.map_err(|e| self.explain_private(e, values));
        };
        let mut dropped = Vec::new();
        match &self.lob {
            None => {
                self.row.clear();
                self.table.layout.encode(values, &mut self.row)?;
            }
            Some(lob) => {
                let Some(mut kept) = self.references(locator, cx)? else { return Ok(false) };
                for (i, reference) in kept.iter_mut().enumerate() {
                    if self.changes.as_ref().is_none_or(|set| set.contains(&i)) {
                        dropped.extend(reference.take());
                    }
                }
                let keys = &self.key_columns;
                lob::encode(&self.table, lob, keys, values, &kept, &mut self.row, cx)?;
                lob::delete(&self.table, lob, dropped.drain(..), cx)?;
            }
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a row is written without a transaction");
        };
        let image = image(&self.table, &self.row);
        txn.update(tree, locator, &image).map_err(|e| engine_error(e, Some(&self.table), cx))
    }

    /// Deletes the row under `locator`. False when it is gone.
    pub fn delete(&mut self, locator: &[u8], cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let Some(tree) = &self.tree else {
            let result = cx.env.private().delete(self.table.place, locator);
            return result.map_err(|e| private_error(e, &self.table));
        };
        if let Some(lob) = &self.lob {
            let Some(references) = self.references(locator, cx)? else { return Ok(false) };
            lob::delete(&self.table, lob, references.into_iter().flatten(), cx)?;
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a row is deleted without a transaction");
        };
        txn.delete(tree, locator).map_err(|e| engine_error(e, Some(&self.table), cx))
    }

    /// The large values that the row under `locator` names, by column; none when there is no such row.
    fn references(
        &self,
        locator: &[u8],
        cx: &mut Cx<'_>,
    ) -> Result<Option<Vec<Option<External>>>, SqlError> {
        let (Some(tree), Some(txn)) = (&self.tree, cx.txn.as_deref_mut()) else { return Ok(None) };
        let mut row = Vec::new();
        let found = txn.read_latest_locked(tree, locator, &mut row);
        if !found.map_err(|e| engine_error(e, Some(&self.table), cx))? {
            return Ok(None);
        }
        Ok(Some(lob::references(&self.table, &row)))
    }

    /// Whether `values` may take the place of the row `old` that lies under `locator`: the key is the same (always so in
    /// a heap), and so are the columns of UNIQUE constraints.
    pub fn same_key(
        &mut self,
        values: &[Value],
        old: impl Fn(usize) -> Value,
        locator: &[u8],
        cx: &Cx<'_>,
    ) -> Result<bool, SqlError> {
        let mut unique = self.table.unique.iter().flat_map(|key| &key.columns);
        if unique.any(|(i, _)| values[*i] != old(*i)) {
            check_nulls(&self.table, values, "UPDATE", cx)?;
            return Ok(false);
        }
        if self.key_columns.is_empty() {
            return Ok(true);
        }
        // A key has no bytes for NULL: refused here, not when the row is written.
        check_nulls(&self.table, values, "UPDATE", cx)?;
        encode_key(&self.table, &self.key_columns, values, &mut self.key_values, &mut self.key)?;
        Ok(self.key == locator)
    }

    fn explain(&self, error: engine::EngineError, values: &[Value], cx: &Cx<'_>) -> SqlError {
        let duplicate = matches!(error, engine::EngineError::Duplicate);
        let mut error = engine_error(error, Some(&self.table), cx);
        if duplicate {
            let keys: Vec<&Value> = self.key_columns.iter().map(|i| &values[*i]).collect();
            error.text.push_str(&duplicate_key_text(&self.table, &keys));
        }
        error
    }

    fn explain_private(&self, error: TableError, values: &[Value]) -> SqlError {
        let columns: Option<Vec<usize>> = match &error {
            TableError::Duplicate { unique: None } => Some(self.key_columns.clone()),
            TableError::Duplicate { unique: Some(i) } => {
                self.table.unique.get(*i).map(|key| key.columns.iter().map(|(c, _)| *c).collect())
            }
            _ => None,
        };
        let mut error = private_error(error, &self.table);
        if let Some(columns) = columns {
            let keys: Vec<&Value> = columns.iter().map(|i| &values[*i]).collect();
            error.text.push_str(&key_text(&self.table, &columns, &keys));
        }
        error
    }
}

fn encode_key(
    table: &TableDef,
    columns: &[usize],
    values: &[Value],
    key_values: &mut Vec<Value>,
    key: &mut Vec<u8>,
) -> Result<(), SqlError> {
    key.clear();
    key_values.clear();
    key_values.extend(columns.iter().map(|i| values[*i].clone()));
    Ok(table.key_layout.encode_into(key_values, key)?)
}

/// " The duplicate key value is (1, a)."
pub fn duplicate_key_text(table: &TableDef, key: &[&Value]) -> String {
    key_text(table, &key_columns(table), key)
}

fn key_text(table: &TableDef, columns: &[usize], key: &[&Value]) -> String {
    let mut shown = Vec::new();
    for (i, value) in columns.iter().zip(key) {
        let text = types::format::to_text(value, table.columns[*i].ty, 0).ok().flatten();
        shown.push(text.map_or_else(|| "<NULL>".to_string(), |t| t.trim_end().to_string()));
    }
    format!(" The duplicate key value is ({}).", shown.join(", "))
}

/// Ordinals of the clustered key's columns; empty for a heap.
pub fn key_columns(table: &TableDef) -> Vec<usize> {
    match &table.primary_key {
        Some(key) if !table.is_heap() => key.columns.iter().map(|(i, _)| *i).collect(),
        _ => Vec::new(),
    }
}

/// The row as the engine takes it, with its longest run of padding named.
#[inline]
pub fn image<'r>(table: &TableDef, row: &'r [u8]) -> RowImage<'r> {
    match table.layout.longest_run(row, RUN_BYTES_MIN) {
        Some((offset, len, byte)) => run_image(row, offset, len, byte),
        None => RowImage::new(row),
    }
}

/// A row with a run that is known.
#[inline]
pub fn run_image(row: &[u8], offset: u16, len: u16, byte: u8) -> RowImage<'_> {
    RowImage::with_run(row, engine::Run { offset, len, byte })
}

/// 515 for a NULL where none may be.
fn check_nulls(
    table: &TableDef,
    values: &[Value],
    verb: &str,
    cx: &Cx<'_>,
) -> Result<(), SqlError> {
    for (column, value) in table.columns.iter().zip(values) {
        if !column.nullable && value.is_null() {
            return Err(null_error(&column.name, &qualified(table, cx), verb));
        }
    }
    Ok(())
}

/// 515. `table` is the name in three parts.
pub fn null_error(column: &str, table: &str, verb: &str) -> SqlError {
    SqlError::new(
        515,
        16,
        format!(
            "Cannot insert the value NULL into column '{column}', table '{table}'; column does \
             not allow nulls. {verb} fails."
        ),
    )
    .with_state(2)
}
