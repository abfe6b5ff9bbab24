//! Entries of secondary indexes, as they are read. docs/decisions/0008-secondary-indexes.md has them to the byte; who
//! changes rows writes them.

use crate::cx::Cx;
use crate::message::SqlError;
use catalog::{IndexDef, TableDef};
use types::key;
use types::{RowLayout, Value};

/// The storage key of an entry's row where it lies, for a look ahead; None: the entry has none.
#[inline]
pub fn locator_in<'e>(layout: &RowLayout, entry: &'e [u8]) -> Option<&'e [u8]> {
    let there = RowLayout::row_columns(entry) > 0 && !layout.is_null(entry, 0);
    (there && layout.external(entry, 0).is_none()).then(|| layout.raw(entry, 0))
}

/// The storage key of an entry's row.
#[inline]
pub fn locator(layout: &RowLayout, entry: &[u8]) -> Result<Vec<u8>, SqlError> {
    match layout.decode_column(entry, 0) {
        Some(Value::Binary(bytes)) => Ok(bytes.to_vec()),
        _ => Err(SqlError::new(824, 24, "An index entry has no locator.")),
    }
}

/// Whether a row still has the key under which an entry was found.
pub fn still_has_key(
    table: &TableDef,
    index: &IndexDef,
    row: &[u8],
    found: &[u8],
    locator: &[u8],
    cx: &mut Cx<'_>,
) -> Result<bool, SqlError> {
    let mut key = Vec::with_capacity(found.len());
    for ((ordinal, _), part) in index.columns.iter().zip(index.key_layout.parts()) {
        let value = crate::lob::column(table, row, *ordinal, cx)?;
        key::encode_part(part, &value, &mut key);
    }
    if !index.unique {
        key.extend_from_slice(locator);
        end_of_hashed(index, locator, &mut key);
    }
    Ok(key == found)
}

/// A hash index that is not unique must know where in a key its columns end: the length of the rest comes last.
#[inline]
pub fn end_of_hashed(index: &IndexDef, locator: &[u8], key: &mut Vec<u8>) {
    if index.buckets.is_some() {
        key.extend_from_slice(&(locator.len() as u16).to_be_bytes());
    }
}
