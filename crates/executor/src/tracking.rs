//! Change tracking: which rows of a table have been changed since a version, and how.
//!
//! A tracked table has two trees beside its rows; K is its primary key's bytes, ascending whatever the key says.
//!
//! ```text
//! changes   transaction u64 BE, K                 ->  one record: all that the transaction did to the row
//! by key    K, !number u64 BE (newest first)      ->  transaction, context
//! ```
//! A record says nothing of versions: a transaction learns its version when it commits, and `engine::tracking` keeps
//! which has which. So a commit writes two small rows however many rows it has changed; what is not committed has no
//! version and is no change to anybody, its writer included; and a rollback, a crash and a backup treat these rows as
//! they treat any other.
//!
//! Promises: what CHANGETABLE tells is of one moment, that of the statement's or the transaction's snapshot, whatever the
//! isolation level; of a row changed several times it tells the difference between the version asked for and now. A
//! change of the key is a deletion and an insertion. What an UPDATE sets counts as changed, whatever the values were.
//!
//! Source: SQL Server's documentation of change tracking, CHANGETABLE and the CHANGE_TRACKING functions.

mod functions;
mod read;
mod record;

use crate::cx::Cx;
use crate::message::SqlError;
use crate::ops::{as_slice, past};
use catalog::TableDef;
use engine::{EngineError, ReadOptions, Scan, ScanOptions, Tree, Txn};
use std::ops::Bound;
use types::{KeyLayout, KeyPart, RowColumn, RowLayout};

pub(crate) use functions::is_in_mask;
pub use functions::{function, min_valid_version};
pub(crate) use read::{changes, row_version};
pub use record::{Change, corrupt};

/// The primary key of a tracked table, as its changes know it.
pub struct TrackedKey {
    /// Ordinals.
    pub columns: Vec<usize>,
    pub key: KeyLayout,
    pub row: RowLayout,
}

impl TrackedKey {
    pub fn of(table: &TableDef) -> TrackedKey {
        let columns: Vec<usize> = match &table.primary_key {
            Some(key) => key.columns.iter().map(|(i, _)| *i).collect(),
            None => Vec::new(),
        };
        let of = |i: &usize| &table.columns[*i];
        let part = |c: &catalog::ColumnDef| KeyPart {
            ty: c.ty,
            nullable: false,
            desc: false,
            rule: c.collation.rule(),
        };
        let stored = |c: &catalog::ColumnDef| RowColumn {
            ty: c.ty,
            nullable: false,
            rule: c.collation.rule(),
        };
        let row: Vec<RowColumn> = columns.iter().map(of).map(stored).collect();
        TrackedKey {
            key: KeyLayout::new(columns.iter().map(of).map(part).collect()),
            row: RowLayout::new(&row),
            columns,
        }
    }
}

/// The rows whose keys begin with `prefix`: of one moment, at every level.
pub fn scan_prefix(
    txn: &mut Txn,
    tree: &Tree,
    prefix: &[u8],
    reverse: bool,
) -> Result<Scan, EngineError> {
    let end = past(prefix.to_vec());
    let options = ScanOptions { read: ReadOptions::versions(), reverse, one_value: false };
    txn.scan(tree, Bound::Included(prefix), as_slice(&end), options)
}

/// The transaction that a statement over a tracked table always has.
pub fn txn<'t>(cx: &'t mut Cx<'_>) -> Result<&'t mut engine::Txn, SqlError> {
    match cx.txn.as_deref_mut() {
        Some(txn) => Ok(txn),
        None => stdx::fatal!("changes of a table are read or written without a transaction"),
    }
}
