//! Columns of keys and indexes: found by their names, held against what a key has room for, and as system tables keep
//! lists of them.
//!
//! Promise: a list that was packed is what it was when it is unpacked. Errors: 1909, 1911, 1919, 1944.

use crate::CatalogError;
use crate::def::{ColumnDef, TableDef, same_name};
use types::SqlType;

/// Ordinals of a key's columns. 1911, 1909, 1919.
pub(crate) fn find_columns(
    names: &[(Box<str>, bool)],
    table: &str,
    columns: &[ColumnDef],
) -> Result<Vec<(usize, bool)>, CatalogError> {
    let mut key: Vec<(usize, bool)> = Vec::with_capacity(names.len());
    for (name, desc) in names {
        let Some(i) = columns.iter().position(|c| same_name(&c.name, name)) else {
            return Err(CatalogError::NoKeyColumn { column: name.clone() });
        };
        if key.iter().any(|(k, _)| *k == i) {
            return Err(CatalogError::DuplicateKeyColumn { column: name.clone() });
        }
        if is_max(columns[i].ty) {
            let (table, column) = (table.into(), columns[i].name.clone());
            let spatial = columns[i].ty.is_spatial();
            return Err(CatalogError::InvalidKeyType { table, column, spatial });
        }
        key.push((i, *desc));
    }
    Ok(key)
}

/// A (max) type, which no key may have.
pub(crate) fn is_max(ty: SqlType) -> bool {
    ty.is_max()
}

/// Bytes that a key of an index may have at most: of one that is not clustered less, where the row's own key is long.
pub fn key_bytes_max(clustered: bool) -> usize {
    match clustered {
        true => types::key::KEY_BYTES_MAX,
        // With the number of a heap's row.
        false => engine::KEY_MAX - 8,
    }
}

/// 1944 for columns that no key has room for.
pub(crate) fn check_key_bytes(
    key: &[(usize, bool)],
    columns: &[ColumnDef],
    clustered: bool,
    index: &str,
) -> Result<(), CatalogError> {
    let bytes = key.iter().map(|(i, _)| types::key::column_bytes(columns[*i].ty).0).sum();
    let most = key_bytes_max(clustered);
    match bytes > most {
        true => Err(CatalogError::KeyTooLong { index: index.into(), bytes, most }),
        false => Ok(()),
    }
}

/// As stored: (ordinal u16, descending u8) each.
pub(crate) fn pack_key(columns: &[(usize, bool)]) -> Vec<u8> {
    let pack = |&(ordinal, desc): &(usize, bool)| {
        let [low, high] = (ordinal as u16).to_le_bytes();
        [low, high, desc as u8]
    };
    columns.iter().flat_map(pack).collect()
}

/// As stored by `pack_key`.
pub(crate) fn unpack_key(packed: &[u8]) -> Vec<(usize, bool)> {
    packed.chunks_exact(3).map(|c| (u16::from_le_bytes([c[0], c[1]]) as usize, c[2] != 0)).collect()
}

/// As stored: u16 each.
pub(crate) fn pack_ordinals(ordinals: &[usize]) -> Vec<u8> {
    ordinals.iter().flat_map(|o| (*o as u16).to_le_bytes()).collect()
}

pub(crate) fn unpack_ordinals(packed: &[u8]) -> Vec<usize> {
    packed.chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]]) as usize).collect()
}

/// `schema.table`
pub(crate) fn shown(table: &TableDef) -> Box<str> {
    format!("{}.{}", table.schema, table.name).into()
}
