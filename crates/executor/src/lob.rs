//! Columns of a row as they are read, those too that lie outside of it: a large value is in the table's tree of these, and
//! the row has a reference.

use crate::cx::Cx;
use crate::error::engine_error;
use crate::message::SqlError;
use catalog::TableDef;
use engine::{EngineError, Txn};
use types::{External, Value};

/// Column `i` of a row; rows older than the column have its value of absence.
#[inline]
pub fn column(table: &TableDef, row: &[u8], i: usize, cx: &mut Cx<'_>) -> Result<Value, SqlError> {
    if table.lob.is_some()
        && let Some(external) = table.layout.external(row, i)
    {
        return fetch(table, i, external, cx);
    }
    Ok(in_row(table, row, i))
}

#[inline]
fn in_row(table: &TableDef, row: &[u8], i: usize) -> Value {
    match table.layout.decode_column(row, i) {
        Some(value) => value,
        None => table.columns[i].absent.clone(),
    }
}

#[cold]
fn fetch(
    table: &TableDef,
    i: usize,
    external: External,
    cx: &mut Cx<'_>,
) -> Result<Value, SqlError> {
    let Some(txn) = cx.txn.as_deref_mut() else {
        stdx::fatal!("a large value of {} is read without a transaction", table.name);
    };
    let value = read(table, i, external, txn).map_err(|e| engine_error(e, Some(table), cx))?;
    value.ok_or_else(|| {
        SqlError::new(601, 12, "Could not continue scan with NOLOCK due to data movement.")
    })
}

/// The same outside of a statement; none: the value has gone while its row was read.
pub fn column_in(
    table: &TableDef,
    row: &[u8],
    i: usize,
    txn: &mut Txn,
) -> Result<Option<Value>, EngineError> {
    if table.lob.is_some()
        && let Some(external) = table.layout.external(row, i)
    {
        return read(table, i, external, txn);
    }
    Ok(Some(in_row(table, row, i)))
}

fn read(
    table: &TableDef,
    i: usize,
    external: External,
    txn: &mut Txn,
) -> Result<Option<Value>, EngineError> {
    let Some(lob) = table.lob else {
        stdx::fatal!("table {} has no tree of large values", table.name);
    };
    let tree = txn.database().tree(lob);
    let mut bytes = Vec::new();
    let whole = txn.read_lob(&tree, external.id, external.len, &mut bytes)?;
    Ok(whole.then(|| table.layout.decode_variable(i, &bytes)))
}
