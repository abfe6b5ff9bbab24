//! Columns that lie outside of their row, as rows are written.
//!
//! A value of more than [`INLINE_MAX`] bytes, or one without which the row would be too large, is kept in the table's
//! tree of large values, and the row has a reference. Keys always stay in their rows.
//!
//! Promises: a row and what it names change together, in one statement; what no row names any more is deleted in the
//! same transaction; a column that an UPDATE does not set is not written again.

use catalog::TableDef;
use engine::{LOB_BYTES_MAX, Tree};
use executor::{Cx, SqlError, engine_error};
use types::row::ROW_BYTES_MAX;
use types::{External, TypeError, Value};

/// Longer values always go out of the row, in bytes of their stored form.
const INLINE_MAX: usize = 8000;

/// The references in a row, by column; empty when there is none.
pub(crate) fn references(table: &TableDef, row: &[u8]) -> Vec<Option<External>> {
    let all: Vec<_> = (0..table.columns.len()).map(|i| table.layout.external(row, i)).collect();
    if all.iter().any(Option::is_some) { all } else { Vec::new() }
}

/// Encodes a row into `out`. `kept[i]`: column i stays the large value that it is. 511 when the row does not fit all
/// the same, 7119. Suspends.
pub(crate) fn encode(
    table: &TableDef,
    tree: &Tree,
    key_columns: &[usize],
    values: &[Value],
    kept: &[Option<External>],
    out: &mut Vec<u8>,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    out.clear();
    let layout = &table.layout;
    let long = |v: &Value| match v {
        Value::Str(text) => text.as_bytes().len() > INLINE_MAX / 2,
        Value::Binary(bytes) => bytes.len() > INLINE_MAX,
        _ => false,
    };
    if kept.is_empty() && !values.iter().any(long) {
        match layout.encode(values, out) {
            Err(TypeError::RowTooLarge { .. }) => out.clear(),
            other => return Ok(other?),
        }
    }
    // Stored forms of the columns that may go out, longest first.
    let mut stored: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut externals = kept.to_vec();
    externals.resize(values.len(), None);
    let mut size = layout.min_row_bytes();
    for (i, value) in values.iter().enumerate() {
        if layout.fixed_len(i).is_some() || value.is_null() {
            continue;
        }
        if externals[i].is_some() {
            size += External::BYTES;
            continue;
        }
        let mut bytes = Vec::new();
        layout.encode_variable(i, value, &mut bytes);
        size += bytes.len();
        if bytes.len() > External::BYTES && !key_columns.contains(&i) {
            stored.push((i, bytes));
        }
    }
    stored.sort_by_key(|(_, bytes)| std::cmp::Reverse(bytes.len()));
    for (i, bytes) in stored {
        if bytes.len() <= INLINE_MAX && size <= ROW_BYTES_MAX {
            break;
        }
        let len = bytes.len() as u64;
        if len > LOB_BYTES_MAX {
            return Err(SqlError::new(
                7119,
                16,
                format!(
                    "Attempting to grow LOB beyond maximum allowed size of {LOB_BYTES_MAX} bytes."
                ),
            ));
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a large value is written without a transaction");
        };
        let id = txn.put_lob(tree, &bytes).map_err(|e| engine_error(e, Some(table), cx))?;
        externals[i] = Some(External { id, len });
        size = size - bytes.len() + External::BYTES;
    }
    Ok(layout.encode_with(values, &externals, out)?)
}

/// Deletes large values that no row names any more.
pub(crate) fn delete(
    table: &TableDef,
    tree: &Tree,
    references: impl Iterator<Item = External>,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    for external in references {
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a large value is deleted without a transaction");
        };
        txn.delete_lob(tree, external.id, external.len)
            .map_err(|e| engine_error(e, Some(table), cx))?;
    }
    Ok(())
}
