//! The work that a changed definition leaves to do on a table's rows: entries of a new index, rows in another form,
//! constraints that rows already there must satisfy.
//!
//! Promise: all in the transaction that changes the definition, under the table's Sch-M lock: nobody sees it half done,
//! and a rollback, or a crash, leaves rows and definition as they were.

use crate::error::from_binder;
use crate::foreign::{conflict, find};
use crate::index::{IndexWriter, entry, has_entry};
use crate::period::{verify_history, verify_period};
use crate::recipe::Entry;
use crate::rows::{all_columns, each_row};
use crate::upkeep::Upkeep;
use crate::write::TableWriter;
use catalog::{Altered, TableDef, Work};
use engine::InsertHint;
use executor::{Cx, KeyMap, SqlError, error_of_store, key_text, test};
use runtime::task::{self, Breath};
use std::sync::Arc;
use types::{SqlType, Value, convert};

/// Entries are sorted in runs of so many bytes before they are inserted.
const RUN_BYTES: usize = 32 << 20;
/// Steps that a row of a private table counts for.
const ROW_STEPS: usize = 64;

/// Does what [`Altered::work`] says. `parents`: the tables that the new definition's foreign keys refer to, and the one
/// of its history.
pub fn carry_out(
    altered: &Altered,
    parents: &[Arc<TableDef>],
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    for work in &altered.work {
        match work {
            Work::Rewrite { columns } => rewrite(altered, columns, cx)?,
            Work::Fill { index_id } => fill(&altered.new, *index_id, cx)?,
            Work::VerifyCheck { object_id } => verify_check(&altered.new, *object_id, cx)?,
            Work::VerifyForeignKey { object_id } => {
                verify_foreign_key(&altered.new, *object_id, parents, cx)?;
            }
            Work::VerifyPeriod => verify_period(&altered.new, cx)?,
            Work::VerifyHistory { object_id } => {
                let history = parents.iter().find(|t| t.object_id == *object_id);
                verify_history(&altered.new, history, cx)?;
            }
        }
    }
    Ok(())
}

fn rewrite(altered: &Altered, columns: &[Option<usize>], cx: &mut Cx<'_>) -> Result<(), SqlError> {
    let (old, new) = (&altered.old, &altered.new);
    let mut writer = TableWriter::for_move(new, cx)?;
    let mut hint = InsertHint::default();
    each_row(old, cx, |_, row, cx| {
        let before = all_columns(old, row, cx)?;
        let mut values = Vec::with_capacity(columns.len());
        for (at, (column, source)) in new.columns.iter().zip(columns).enumerate() {
            values.push(match source {
                None if column.identity.is_some() => {
                    let number = Value::BigInt(cx.env.next_identity(new)?);
                    convert::assign(&number, SqlType::BigInt, column.ty)
                        .map_err(|e| error_of_store(e, Some(&**new), at, cx))?
                }
                None => column.absent.clone(),
                // Into another code page even text of the same type is converted.
                Some(i)
                    if old.columns[*i].ty == column.ty
                        && old.columns[*i].collation.page() == column.collation.page() =>
                {
                    before[*i].clone()
                }
                Some(i) => {
                    let value = column.collation.mark(before[*i].clone());
                    convert::assign(&value, old.columns[*i].ty, column.ty)
                        .map_err(|e| error_of_store(e, Some(&**new), at, cx))?
                }
            });
        }
        writer.insert(&values, &mut hint, cx).map_err(|e| duplicate(e, new))?;
        Ok(())
    })
}

/// 1505 in place of what an INSERT would be told.
pub(crate) fn duplicate(error: SqlError, table: &TableDef) -> SqlError {
    if !matches!(error.number, 2601 | 2627) {
        return error;
    }
    let name = error.text.split('\'').nth(if error.number == 2601 { 3 } else { 1 }).unwrap_or("?");
    let values = error.text.find(" The duplicate key value").map_or("", |at| &error.text[at..]);
    already(table, name, values)
}

fn already(table: &TableDef, index: &str, values: &str) -> SqlError {
    SqlError::new(
        1505,
        16,
        format!(
            "The CREATE UNIQUE INDEX statement terminated because a duplicate key was found for the \
             object name '{}.{}' and the index name '{index}'.{values}",
            table.schema, table.name
        ),
    )
}

fn fill(table: &Arc<TableDef>, index_id: i32, cx: &mut Cx<'_>) -> Result<(), SqlError> {
    let rules = binder::rules_with(table, &|name| cx.env.function(name)).map_err(from_binder)?;
    let Some(at) = table.indexes.iter().position(|i| i.index_id == index_id) else {
        stdx::fatal!("an index is filled that is not there");
    };
    let index = &table.indexes[at];
    let filter = rules.filters[at].as_ref();
    let mut needed: Vec<usize> = index.columns.iter().map(|(i, _)| *i).collect();
    needed.extend(&index.stored);
    if let Some(filter) = filter {
        filter.walk(&mut |e| {
            if let ir::ExprKind::Slot(i) = e.kind {
                needed.push(i as usize);
            }
        });
    }
    let Some(txn) = cx.txn.as_deref() else { return Ok(()) };
    let writers = IndexWriter::all(table, txn.database());
    let Some(mut writer) = writers.into_iter().find(|w| w.at == at) else { return Ok(()) };
    let mut run: Vec<Entry> = Vec::new();
    let mut bytes = 0;
    let mut made = Entry::default();
    let mut flush = |run: &mut Vec<Entry>, cx: &mut Cx<'_>| -> Result<(), SqlError> {
        task::sort_by(run, |a, b| a.key.cmp(&b.key))?;
        for (i, entry) in run.drain(..).enumerate() {
            if i % 64 == 0 {
                cx.breathe()?;
            }
            let added = writer.insert(table, &entry, &[], cx);
            added.map_err(|e| match e.number {
                2601 | 2627 => {
                    let value = |i: &usize| {
                        let at = index.position(*i)?;
                        index.layout.decode_column(&entry.row, at)
                    };
                    let columns: Vec<usize> = index.columns.iter().map(|(i, _)| *i).collect();
                    let values: Vec<Value> =
                        columns.iter().map(|i| value(i).unwrap_or_default()).collect();
                    let shown: Vec<&Value> = values.iter().collect();
                    already(table, &index.name, &key_text(table, &columns, &shown))
                }
                _ => e,
            })?;
        }
        Ok(())
    };
    let mut values = vec![Value::Null; table.columns.len()];
    each_row(table, cx, |key, row, cx| {
        for column in &needed {
            values[*column] = executor::lob::column(table, row, *column, cx)?;
        }
        if has_entry(filter, &values, cx)? {
            entry(index, &values, key, &mut made)?;
            bytes += made.key.len() + made.row.len() + size_of::<Entry>();
            run.push(made.clone());
            if bytes > RUN_BYTES {
                bytes = 0;
                flush(&mut run, cx)?;
            }
        }
        Ok(())
    })?;
    flush(&mut run, cx)
}

fn verify_check(table: &Arc<TableDef>, object_id: i32, cx: &mut Cx<'_>) -> Result<(), SqlError> {
    let rules = binder::rules_with(table, &|name| cx.env.function(name)).map_err(from_binder)?;
    let Some(at) = table.checks.iter().position(|c| c.object_id == object_id) else {
        return Ok(());
    };
    let check = &table.checks[at];
    each_row(table, cx, |_, row, cx| {
        let values = all_columns(table, row, cx)?;
        if test(&rules.checks[at], &values, cx)? == Some(false) {
            let columns: Vec<usize> = check.column.into_iter().collect();
            return Err(conflict("ALTER TABLE", "CHECK", &check.name, (table, &columns), cx));
        }
        Ok(())
    })
}

/// Rows of a private table satisfy the check of that place; 547.
pub fn verify_rows<'r>(
    table: &TableDef,
    at: usize,
    rows: impl Iterator<Item = &'r [Value]>,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    let rules = binder::rules_with(table, &|name| cx.env.function(name)).map_err(from_binder)?;
    let (Some(check), Some(rule)) = (table.checks.get(at), rules.checks.get(at)) else {
        return Ok(());
    };
    let mut breath = Breath::new();
    for row in rows {
        breath.steps(ROW_STEPS)?;
        if test(rule, row, cx)? == Some(false) {
            let columns: Vec<usize> = check.column.into_iter().collect();
            return Err(conflict("ALTER TABLE", "CHECK", &check.name, (table, &columns), cx));
        }
    }
    Ok(())
}

/// Rows of a private table with what its computed columns compute.
pub fn computed_rows<'r>(
    table: &Arc<TableDef>,
    rows: impl Iterator<Item = &'r [Value]>,
    cx: &mut Cx<'_>,
) -> Result<Vec<Vec<Value>>, SqlError> {
    let upkeep = Upkeep::for_move(table, cx)?;
    let mut breath = Breath::new();
    let compute = |row: &[Value]| {
        breath.steps(ROW_STEPS + row.len())?;
        let mut row = row.to_vec();
        upkeep.compute(table, &mut row, cx)?;
        let null = table
            .columns
            .iter()
            .zip(&row)
            .find(|(c, v)| c.computed.is_some() && !c.nullable && v.is_null());
        match null {
            Some((column, _)) => Err(crate::null_error(&column.name, &table.name, "UPDATE")),
            None => Ok(row),
        }
    };
    rows.map(compute).collect()
}

fn verify_foreign_key(
    table: &Arc<TableDef>,
    object_id: i32,
    parents: &[Arc<TableDef>],
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    let Some(key) = table.foreign_keys.iter().find(|k| k.object_id == object_id) else {
        return Ok(());
    };
    let own = key.table == table.object_id;
    let parent = match own {
        true => Some(table),
        false => parents.iter().find(|p| p.object_id == key.table),
    };
    let Some(parent) = parent else {
        return Err(SqlError::new(
            1767,
            16,
            format!("Foreign key '{}' references invalid table.", key.name),
        ));
    };
    let mut seen: KeyMap<()> = KeyMap::default();
    each_row(table, cx, |_, row, cx| {
        let mut values = Vec::with_capacity(key.columns.len());
        for column in &key.columns {
            values.push(executor::lob::column(table, row, *column, cx)?);
        }
        if values.iter().any(Value::is_null) {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for (column, value) in key.columns.iter().zip(&values) {
            let part = types::KeyPart {
                ty: table.columns[*column].ty,
                nullable: false,
                desc: false,
                rule: table.columns[*column].collation.rule(),
            };
            types::key::encode_part(&part, value, &mut bytes);
        }
        if seen.contains_key(&bytes[..]) {
            return Ok(());
        }
        if find(parent, &key.referenced, &values, false, cx)?.is_empty() {
            let kind = if own { "FOREIGN KEY SAME TABLE" } else { "FOREIGN KEY" };
            let about = (&**parent, &key.referenced[..]);
            return Err(conflict("ALTER TABLE", kind, &key.name, about, cx));
        }
        cx.hold(bytes.len() + 64)?;
        seen.insert(bytes.into(), ());
        Ok(())
    })
}
