//! CHANGETABLE: what has been changed since a version, and when a row was last changed.
//!
//! Each commit says which tables it has changed, so only those of the table are looked into. Rows come in the order of
//! the primary key. Own changes that are not committed are not told.

use super::record::Change;
use super::{TrackedKey, scan_prefix, txn};
use crate::cx::Cx;
use crate::error::engine_error;
use crate::memory::row_bytes;
use crate::message::SqlError;
use catalog::{IndexKind, TableDef, Tracking};
use engine::ReadOptions;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Value;

/// A row that has been changed.
struct Net {
    change: Change,
    version: u64,
    /// Of the commit that inserted it last.
    created: Option<u64>,
    /// The key's columns.
    key: Vec<Value>,
}

/// The table, still tracked; an error that asks for a new plan when it is not. Nobody alters it until the statement ends.
fn tracked(object_id: i32, cx: &mut Cx<'_>) -> Result<(Arc<TableDef>, Tracking), SqlError> {
    let found = cx.env.table(object_id);
    let Some((table, tracking)) = found.and_then(|t| t.tracking.map(|tracking| (t, tracking)))
    else {
        let mut error = SqlError::new(22105, 16, "Change tracking is not enabled on the table.");
        error.stale = true;
        return Err(error);
    };
    let tree = crate::ops::engine_tree(txn(cx)?.database(), &table);
    let entered = txn(cx)?.enter_for_read(&tree, ReadOptions::versions());
    entered.map_err(|e| engine_error(e, Some(&table), cx))?;
    Ok((table, tracking))
}

/// CHANGES: the columns are those of SQL Server, in its order.
pub(crate) fn changes(
    object_id: i32,
    after: &Value,
    cx: &mut Cx<'_>,
) -> Result<Vec<Vec<Value>>, SqlError> {
    let (table, tracking) = tracked(object_id, cx)?;
    let key = TrackedKey::of(&table);
    let db = txn(cx)?.database().clone();
    let (commits, tree) = (db.tree(tracking.commits), db.tree(tracking.changes));
    let failed = |e, cx: &Cx<'_>| engine_error(e, Some(&table), cx);
    let cleaned = txn(cx)?.cleaned_version(&commits).map_err(|e| failed(e, cx))?;
    let after = after.as_i64().map_or(0, |after| after.max(0) as u64).max(cleaned);
    let of = Some(tracking.changes);
    let found = txn(cx)?.tracked_commits(&commits, after, of, usize::MAX);
    let found = found.map_err(|e| failed(e, cx))?;
    cx.hold(size_of_val(&found[..]))?;
    let mut rows: BTreeMap<Vec<u8>, Net> = BTreeMap::new();
    for commit in &found {
        cx.breathe()?;
        let scan = scan_prefix(txn(cx)?, &tree, &commit.id.to_be_bytes(), false);
        let mut scan = scan.map_err(|e| failed(e, cx))?;
        loop {
            let next = scan.next(txn(cx)?);
            let (row_key, row) = match next {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(e) => return Err(failed(e, cx)),
            };
            let (change, columns) = Change::decode(row)?;
            let created = change.inserted.then_some(commit.version);
            let decoded = (0..key.columns.len()).map(|i| key.row.decode_column(columns, i));
            let values: Vec<Value> = decoded.map(Option::unwrap_or_default).collect();
            if let Some(net) = rows.get_mut(&row_key[8..]) {
                net.change.then(change);
                net.version = commit.version;
                net.created = created.or(net.created);
                // Keys that compare as equal may be written differently.
                net.key = values;
                continue;
            }
            cx.hold(row_key.len() + row_bytes(&values) + size_of::<Net>())?;
            let net = Net { change, version: commit.version, created, key: values };
            rows.insert(row_key[8..].to_vec(), net);
        }
    }
    let told = rows.into_values().map(|net| {
        let mut row = vec![
            Value::BigInt(net.version as i64),
            net.created.map(|version| version as i64).into(),
            Value::str(net.change.operation()),
            match net.change.mask(tracking.numbering) {
                Some(mask) if tracking.columns => Value::binary(&mask),
                _ => Value::Null,
            },
            net.change.context.as_deref().map_or(Value::Null, Value::binary),
        ];
        row.extend(net.key);
        row
    });
    Ok(told.collect())
}

/// VERSION: no row where the table has none of that key.
pub(crate) fn row_version(
    object_id: i32,
    values: Vec<Value>,
    cx: &mut Cx<'_>,
) -> Result<Vec<Vec<Value>>, SqlError> {
    let (table, tracking) = tracked(object_id, cx)?;
    if values.iter().any(Value::is_null) || !is_there(&table, &values, cx)? {
        return Ok(Vec::new());
    }
    let db = txn(cx)?.database().clone();
    let (commits, tree) = (db.tree(tracking.commits), db.tree(tracking.by_key));
    let failed = |e, cx: &Cx<'_>| engine_error(e, Some(&table), cx);
    let cleaned = txn(cx)?.cleaned_version(&commits).map_err(|e| failed(e, cx))?;
    let key = TrackedKey::of(&table);
    let mut prefix = Vec::new();
    key.key.encode_into(&values, &mut prefix)?;
    let scan = scan_prefix(txn(cx)?, &tree, &prefix, false);
    let mut scan = scan.map_err(|e| failed(e, cx))?;
    let (mut version, mut context) = (Value::Null, Value::Null);
    // The newest first; own changes have no version yet.
    loop {
        let next = scan.next(txn(cx)?);
        let Some((_, row)) = next.map_err(|e| failed(e, cx))? else { break };
        let (id, rest) = row.split_at_checked(8).ok_or_else(super::record::corrupt)?;
        let id = id.try_into().map_or(0, u64::from_le_bytes);
        let of_commit = match rest.split_first() {
            Some((_, context)) => Value::binary(context),
            None => Value::Null,
        };
        let found = txn(cx)?.version_of_tracked(&commits, id).map_err(|e| failed(e, cx))?;
        if let Some(found) = found.filter(|version| *version > cleaned) {
            (version, context) = (Value::BigInt(found as i64), of_commit);
            break;
        }
        cx.breathe()?;
    }
    // As the table's columns have them, with their collations.
    let mut bytes = Vec::new();
    key.row.encode(&values, &mut bytes)?;
    let mut row = vec![version, context];
    row.extend((0..values.len()).map(|i| key.row.decode_column(&bytes, i).unwrap_or_default()));
    Ok(vec![row])
}

/// Whether the table has a row of that primary key.
fn is_there(table: &TableDef, values: &[Value], cx: &mut Cx<'_>) -> Result<bool, SqlError> {
    let index = table.indexes.iter().find(|i| i.kind == IndexKind::PrimaryKey && !i.clustered);
    let db = txn(cx)?.database().clone();
    let (tree, layout) = match index {
        Some(index) => (db.tree(index.tree), &index.key_layout),
        None => (crate::ops::engine_tree(&db, table), &table.key_layout),
    };
    let key = layout.encode(values)?;
    let mut row = Vec::new();
    let found = txn(cx)?.get_with(&tree, &key, ReadOptions::versions(), &mut row);
    found.map_err(|e| engine_error(e, Some(table), cx))
}
