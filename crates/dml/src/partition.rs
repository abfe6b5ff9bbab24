//! Rows of the partitions of a table.
//!
//! Partitions are logical (`catalog::PartitionFunctionDef`): which rows one has is found by looking at all of the table.
//!
//! Promise: rows come and go with their index entries and large values, in the caller's transaction, under Sch-M locks
//! that it has taken; no trigger fires, and no constraint is looked at but unique keys.

use crate::rows::{all_columns, each_row_after};
use crate::write::TableWriter;
use catalog::{PartitionFunctionDef, TableDef};
use engine::InsertHint;
use executor::{Cx, SqlError, lob};
use std::sync::Arc;
use types::Value;

/// Rows that are looked at before those among them that are meant are changed.
const AT_ONCE: usize = 256;

/// Some of a table's rows: those whose column falls into certain partitions.
#[derive(Clone, Copy)]
pub struct PartitionRows<'f> {
    pub function: &'f PartitionFunctionDef,
    /// Ordinal of the column.
    pub column: usize,
    /// Which partitions are meant, from 1: `partitions[n - 1]`.
    pub partitions: &'f [bool],
}

impl PartitionRows<'_> {
    fn has(&self, value: &Value) -> bool {
        let number = self.function.partition_of(value);
        self.partitions.get(number - 1).copied().unwrap_or(false)
    }
}

/// Whether a row is one of those; any is one of `None`.
fn is_meant(
    table: &TableDef,
    rows: Option<PartitionRows<'_>>,
    row: &[u8],
    cx: &mut Cx<'_>,
) -> Result<bool, SqlError> {
    match rows {
        None => Ok(true),
        Some(rows) => Ok(rows.has(&lob::column(table, row, rows.column, cx)?)),
    }
}

/// Whether there is no such row; of all of them for `None`.
pub fn is_empty(
    table: &TableDef,
    rows: Option<PartitionRows<'_>>,
    cx: &mut Cx<'_>,
) -> Result<bool, SqlError> {
    each_row_after(table, None, cx, |_, row, cx| Ok(!is_meant(table, rows, row, cx)?))
}

/// Deletes those rows.
pub fn delete_rows(
    table: &Arc<TableDef>,
    rows: PartitionRows<'_>,
    cx: &mut Cx<'_>,
) -> Result<u64, SqlError> {
    let mut writer = TableWriter::for_move(table, cx)?;
    let mut deleted = 0;
    each_batch(table, Some(rows), AT_ONCE, cx, |batch, cx| {
        for (key, _) in batch {
            deleted += u64::from(writer.delete(key, cx)?);
        }
        Ok(())
    })?;
    writer.finish(cx)?;
    Ok(deleted)
}

/// Moves those rows of one table, or all of them, into another that has the same columns. `fits` is asked of each row's
/// values before it goes.
pub fn move_rows(
    source: &Arc<TableDef>,
    rows: Option<PartitionRows<'_>>,
    target: &Arc<TableDef>,
    fits: &dyn Fn(&[Value]) -> Result<(), SqlError>,
    cx: &mut Cx<'_>,
) -> Result<u64, SqlError> {
    let mut from = TableWriter::for_move(source, cx)?;
    let mut to = TableWriter::for_move(target, cx)?;
    let mut hint = InsertHint::default();
    let mut moved = 0;
    let at_once = if source.lob.is_some() { 16 } else { AT_ONCE };
    each_batch(source, rows, at_once, cx, |batch, cx| {
        for (key, row) in batch {
            let values = all_columns(source, row, cx)?;
            fits(&values)?;
            to.insert(&values, &mut hint, cx)?;
            from.delete(key, cx)?;
            moved += 1;
        }
        Ok(())
    })?;
    to.finish(cx)?;
    from.finish(cx)?;
    Ok(moved)
}

type Batch = [(Vec<u8>, Vec<u8>)];

/// Hands the rows that are meant to `each`, keys and rows, a batch at a time, while no scan is open.
fn each_batch(
    table: &TableDef,
    rows: Option<PartitionRows<'_>>,
    at_once: usize,
    cx: &mut Cx<'_>,
    mut each: impl FnMut(&Batch, &mut Cx<'_>) -> Result<(), SqlError>,
) -> Result<(), SqlError> {
    let mut after: Option<Vec<u8>> = None;
    loop {
        let mut batch = Vec::with_capacity(at_once);
        let ended = each_row_after(table, after.as_deref(), cx, |key, row, cx| {
            if is_meant(table, rows, row, cx)? {
                batch.push((key.to_vec(), row.to_vec()));
            }
            Ok(batch.len() < at_once)
        })?;
        each(&batch, cx)?;
        match batch.pop() {
            Some((key, _)) if !ended => after = Some(key),
            _ => return Ok(()),
        }
    }
}
