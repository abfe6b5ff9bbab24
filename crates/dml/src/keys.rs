//! The keys of a table's rows: which columns they are made of, whether a change leaves them alone, their bytes, and what is
//! said of one that is refused.

use catalog::TableDef;
use executor::{SqlError, key_text};
use types::Value;

/// Ordinals of the clustered key's columns; empty for a heap.
pub fn key_columns(table: &TableDef) -> Vec<usize> {
    match table.is_heap() {
        true => Vec::new(),
        false => table.clustered_key().iter().map(|(i, _)| *i).collect(),
    }
}

/// Whether rows keep their keys where these columns are set: one that moves leaves its place first.
pub(crate) fn keys_stay(table: &TableDef, set: &[usize]) -> bool {
    let unique = table.unique.iter().flat_map(|key| &key.columns).map(|(i, _)| *i);
    let mut keys = key_columns(table).into_iter().chain(unique);
    !keys.any(|i| set.contains(&i) || table.columns[i].is_made())
}

/// The bytes of a clustered key. 1946.
pub(crate) fn encode_key(
    table: &TableDef,
    columns: &[usize],
    values: &[Value],
    key_values: &mut Vec<Value>,
    key: &mut Vec<u8>,
) -> Result<(), SqlError> {
    key.clear();
    key_values.clear();
    key_values.extend(columns.iter().map(|i| values[*i].clone()));
    table.key_layout.encode_into(key_values, key).map_err(|error| key_error(table, error))
}

/// The error of a clustered key that is too long names its index.
#[cold]
pub fn key_error(table: &TableDef, error: types::TypeError) -> SqlError {
    let error = SqlError::from(error);
    let name = table.clustered_name().unwrap_or_default();
    let named = format!("for the index '{name}' exceeds");
    SqlError { text: error.text.replace("for the index exceeds", &named), ..error }
}

/// " The duplicate key value is (1, a)."
pub fn duplicate_key_text(table: &TableDef, key: &[&Value]) -> String {
    key_text(table, &key_columns(table), key)
}
