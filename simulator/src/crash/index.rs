//! The secondary index that each data table has, kept as `executor` keeps one: an entry per row, under what the index is
//! by (here the row's length) and the row's own key, changed after the row in the same transaction.

use engine::{EngineError, InsertHint, RowImage, ScanOptions, Tree, Txn};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// The index of table `n` is the tree named under key `INDEX + n`.
pub const INDEX: u64 = 100;

/// The entry of a row.
pub fn entry(n: u64, row: &[u8]) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&(row.len() as u64).to_be_bytes());
    key[8..].copy_from_slice(&n.to_be_bytes());
    key
}

/// A row has come.
pub fn add(txn: &mut Txn, index: &Tree, n: u64, row: &[u8]) -> Result<(), EngineError> {
    txn.insert(index, &entry(n, row), &RowImage::new(b"entry"), &mut InsertHint::default())
}

/// A row has gone; false when it had no entry.
pub fn remove(txn: &mut Txn, index: &Tree, n: u64, row: &[u8]) -> Result<bool, EngineError> {
    txn.delete(index, &entry(n, row))
}

/// Says where an index and its table differ.
pub fn compare(
    txn: &mut Txn,
    index: &Tree,
    rows: &BTreeMap<u64, Vec<u8>>,
) -> Result<Option<String>, EngineError> {
    index.verify()?;
    let mut scan = txn.scan(index, Bound::Unbounded, Bound::Unbounded, ScanOptions::default())?;
    let mut found = BTreeSet::new();
    while let Some((key, _)) = scan.next(txn)? {
        found.insert(key.to_vec());
    }
    let wanted: BTreeSet<Vec<u8>> = rows.iter().map(|(n, row)| entry(*n, row).to_vec()).collect();
    let odd = found.symmetric_difference(&wanted).next();
    Ok(odd.map(|key| {
        let what = if wanted.contains(key) { "lacks an entry" } else { "has a stray entry" };
        format!("an index {what}: {key:?}")
    }))
}
