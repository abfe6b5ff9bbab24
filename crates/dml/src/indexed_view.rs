//! Indexed views kept true to the tables below them: what a statement changes is noted row by row, and when the statement
//! ends each view gets what follows from it.
//!
//! ```text
//! writers note rows that came and went -> the view's query over them -> rows of the view, by its clustered key
//!                                                                      with GROUP BY: counts and sums are added,
//!                                                                      a group that counts 0 goes
//! ```
//!
//! A view is linear in each of its tables. Where one statement has changed several (rows that follow by foreign keys), the
//! tables hold new rows when the view is looked at, so the difference is taken over each set of changed tables, with the
//! sign of inclusion and exclusion: for t and u, `V(dt, u) + V(t, du) - V(dt, du)`; and each d is what came less what went.
//!
//! Promises: the statement and the views above what it changes stand or fall together; a view's rows are locked like any
//! others, so that two who change the same group go one after the other; a table without indexed views pays nothing for a
//! row. Errors: 2601 for two rows under the unique key, 8646 where a row is not there that must be.

use crate::write::TableWriter;
use catalog::{Place, TableDef};
use engine::{EngineError, InsertHint, TableLock};
use executor::{
    ChangedTable, Cx, SqlError, ViewChange, engine_error, engine_tree, for_each_batch, row_bytes,
};
use ir::ViewPart;
use std::collections::BTreeMap;
use std::sync::Arc;
use telemetry::WaitType;
use types::{ArithOp, Decimal, KeyLayout, KeyPart, SqlType, TypeError, Value, arith};

/// Rounds of 1 ms in which a definition that is committed is published.
const PUBLISH_ROUNDS_MAX: u32 = 30_000;

/// The statement's rows are written: the views above them follow.
pub fn keep_views(cx: &mut Cx<'_>) -> Result<(), SqlError> {
    let Some(changes) = cx.view_changes.as_deref_mut() else { return Ok(()) };
    if changes.tables.is_empty() {
        return Ok(());
    }
    let tables = std::mem::take(&mut changes.tables);
    let mut views: Vec<i32> = tables.iter().flat_map(|table| table.views.iter().copied()).collect();
    views.sort_unstable();
    views.dedup();
    for view in views {
        let below: Vec<&ChangedTable> = tables.iter().filter(|t| t.views.contains(&view)).collect();
        keep_view(view, &below, cx)?;
    }
    Ok(())
}

/// Fills a view that has just got its clustered index, from all rows of its tables. 1505.
pub fn fill_view(rows: &Arc<TableDef>, cx: &mut Cx<'_>) -> Result<(), SqlError> {
    let change = cx.env.view_change(rows.object_id, &[])?;
    let mut writer = TableWriter::new(rows, cx)?;
    let mut hint = InsertHint::default();
    let mut inner = cx.reborrow();
    inner.row_limit = u64::MAX;
    let width = rows.columns.len();
    for_each_batch(&change.plan, &mut inner, |batch, cx| {
        for row in batch.rows() {
            let added = writer.insert(&row[..width], &mut hint, cx);
            added.map_err(|e| crate::rebuild::duplicate(e, rows))?;
        }
        cx.breathe()
    })?;
    writer.finish(&mut inner)
}

fn keep_view(view: i32, below: &[&ChangedTable], cx: &mut Cx<'_>) -> Result<(), SqlError> {
    let rows = enter(view, below, cx)?;
    let mut net = Net::of(&rows);
    // Each set of the changed tables, and of each of them what came or what went.
    for set in 1u32..1 << below.len() {
        let tables: Vec<&ChangedTable> =
            (0..below.len()).filter(|i| set >> i & 1 == 1).map(|i| below[i]).collect();
        let ids: Vec<i32> = tables.iter().map(|table| table.id).collect();
        let mut change = None;
        for gone in 0u32..1 << tables.len() {
            let chosen = tables.iter().enumerate().map(|(i, table)| match gone >> i & 1 {
                0 => &*table.inserted,
                _ => &*table.deleted,
            });
            let chosen: Vec<&Vec<Vec<Value>>> = chosen.collect();
            if chosen.iter().any(|rows| rows.is_empty()) {
                continue;
            }
            let change = match &change {
                Some(change) => change,
                None => change.insert(cx.env.view_change(view, &ids)?),
            };
            let odd = (set.count_ones() + 1 + gone.count_ones()) % 2 == 1;
            net.add(change, &chosen, if odd { -1 } else { 1 }, cx)?;
        }
    }
    net.write(&rows, cx)
}

/// The view's rows, under the lock of who changes them: their definition stays as it is from here on.
fn enter(view: i32, below: &[&ChangedTable], cx: &mut Cx<'_>) -> Result<Arc<TableDef>, SqlError> {
    let ids: Vec<i32> = below.iter().take(1).map(|table| table.id).collect();
    for _ in 0..PUBLISH_ROUNDS_MAX {
        let rows = cx.env.view_change(view, &ids)?.rows.clone();
        let Some(txn) = cx.txn.as_deref_mut() else { break };
        let tree = engine_tree(txn.database(), &rows);
        match txn.lock_table(&tree, TableLock::IntentExclusive) {
            Ok(()) => return Ok(rows),
            // Another index has come, or gone, and the memory will say so in a moment.
            Err(EngineError::NoSuchTree) => runtime::task::sleep_ns(1_000_000, WaitType::SleepTask),
            Err(e) => return Err(engine_error(e, Some(&rows), cx)),
        }
    }
    Err(SqlError::new(208, 16, format!("Invalid object id {view}.")))
}

/// What rows of a view come and go, all in all.
struct Net {
    grouped: bool,
    /// Of what tells rows, or groups, from each other.
    layout: KeyLayout,
    columns: Vec<usize>,
    /// Under the bytes of these columns: rows, with how often they come (go, below 0). One for a group.
    rows: BTreeMap<Vec<u8>, Vec<(Vec<Value>, i64)>>,
    parts: Vec<ViewPart>,
}

impl Net {
    fn of(rows: &TableDef) -> Net {
        let columns = rows.clustered_key().iter().map(|(at, _)| *at).collect();
        let layout = rows.key_layout.clone();
        Net { grouped: false, layout, columns, rows: BTreeMap::new(), parts: Vec::new() }
    }

    /// Groups are told apart by all that they are of.
    fn group(&mut self, rows: &TableDef, parts: &[ViewPart]) {
        if self.grouped || parts.is_empty() {
            return;
        }
        (self.grouped, self.parts) = (true, parts.to_vec());
        let groups = parts.iter().enumerate().filter(|(_, part)| **part == ViewPart::Group);
        self.columns = groups.map(|(at, _)| at).collect();
        let part = |at: &usize| {
            let c = &rows.columns[*at];
            KeyPart { ty: c.ty, nullable: c.nullable, desc: false, rule: c.collation.rule() }
        };
        self.layout = KeyLayout::new(self.columns.iter().map(part).collect());
    }

    /// Runs the query over these rows and adds what it gives, or takes it away.
    fn add(
        &mut self,
        change: &ViewChange,
        chosen: &[&Vec<Vec<Value>>],
        sign: i64,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        self.group(&change.rows, &change.parts);
        cx.env.private().push_frame(&change.changed);
        let result = fill_changed(chosen, cx).and_then(|()| {
            let mut inner = cx.reborrow();
            inner.row_limit = u64::MAX;
            let width = change.rows.columns.len();
            let mut key = Vec::new();
            let mut values = Vec::new();
            let done = for_each_batch(&change.plan, &mut inner, |batch, cx| {
                for row in batch.rows() {
                    let row = &row[..width];
                    values.clear();
                    values.extend(self.columns.iter().map(|at| row[*at].clone()));
                    key.clear();
                    self.layout.encode_into(&values, &mut key)?;
                    cx.hold(row_bytes(row) + key.len())?;
                    let list = self.rows.entry(key.clone()).or_default();
                    sum(list, row, sign, &self.parts, &change.rows)?;
                }
                cx.breathe()
            });
            let lent = inner.lent();
            cx.take_back(lent);
            done.map(drop)
        });
        cx.env.private().pop_frame();
        result
    }

    /// Makes the view what it must be: what goes goes first, so that what comes finds room under every unique key.
    fn write(self, rows: &Arc<TableDef>, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let all = (0..rows.columns.len()).collect();
        let mut writer = TableWriter::new(rows, cx)?.changing(all);
        let mut coming: Vec<Vec<Value>> = Vec::new();
        for list in self.rows.values() {
            writer.breathe()?;
            match self.grouped {
                true => {
                    for (group, _) in list {
                        coming.extend(self.change_group(group, &mut writer, rows, cx)?);
                    }
                }
                false => change_rows(list, &mut coming, &mut writer, rows, cx)?,
            }
        }
        let mut hint = InsertHint::default();
        for row in coming {
            writer.breathe()?;
            match self.grouped {
                true => self.add_group(&row, &mut writer, rows, &mut hint, cx)?,
                false => {
                    writer.insert(&row, &mut hint, cx)?;
                }
            }
        }
        writer.finish(cx)
    }

    /// A group with its counts and sums; what is not there yet is given back.
    fn change_group(
        &self,
        group: &[Value],
        writer: &mut TableWriter,
        rows: &TableDef,
        cx: &mut Cx<'_>,
    ) -> Result<Option<Vec<Value>>, SqlError> {
        let count = count_of(group, &self.parts);
        let nothing =
            |(value, part): (&Value, &ViewPart)| *part == ViewPart::Group || is_zero(value);
        if group.iter().zip(&self.parts).all(nothing) {
            return Ok(None);
        }
        let locator = locator_of(rows, group)?;
        match writer.read(&locator, cx)? {
            Some(mut old) if self.is_same_group(&old, group)? => {
                combine(&mut old, group, ArithOp::Add, &self.parts, rows)?;
                let left = count_of(&old, &self.parts);
                let done = match left {
                    0 => writer.delete(&locator, cx)?,
                    _ => writer.update(&locator, &old, cx)?,
                };
                if done && left >= 0 { Ok(None) } else { Err(missing(rows, cx)) }
            }
            _ if count > 0 => Ok(Some(group.to_vec())),
            _ => Err(missing(rows, cx)),
        }
    }

    /// A group that was not there: somebody else may have added it meanwhile.
    fn add_group(
        &self,
        group: &[Value],
        writer: &mut TableWriter,
        rows: &TableDef,
        hint: &mut InsertHint,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let savepoint = cx.txn.as_deref().map(|txn| txn.savepoint());
        let error = match writer.insert(group, hint, cx) {
            Ok(_) => return Ok(()),
            Err(error) if error.number == 2601 => error,
            Err(error) => return Err(error),
        };
        if let (Some(savepoint), Some(txn)) = (savepoint, cx.txn.as_deref_mut()) {
            let undone = txn.rollback_to(savepoint);
            undone.map_err(|e| engine_error(e, Some(rows), cx))?;
        }
        let locator = locator_of(rows, group)?;
        match writer.read(&locator, cx)? {
            Some(mut old) if self.is_same_group(&old, group)? => {
                combine(&mut old, group, ArithOp::Add, &self.parts, rows)?;
                writer.update(&locator, &old, cx).map(drop)
            }
            // Another group, or another index.
            _ => Err(error),
        }
    }

    /// Groups by other columns than those of the key may have one key.
    fn is_same_group(&self, a: &[Value], b: &[Value]) -> Result<bool, SqlError> {
        let key = |row: &[Value]| {
            let values: Vec<Value> = self.columns.iter().map(|at| row[*at].clone()).collect();
            self.layout.encode(&values)
        };
        Ok(key(a)? == key(b)?)
    }
}

/// The rows of one key of a view without groups.
fn change_rows(
    list: &[(Vec<Value>, i64)],
    coming: &mut Vec<Vec<Value>>,
    writer: &mut TableWriter,
    rows: &TableDef,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    let again =
        |(row, n): &(Vec<Value>, i64)| std::iter::repeat_n(row.clone(), n.unsigned_abs() as usize);
    let mut new = list.iter().filter(|(_, n)| *n > 0);
    for (row, _) in list.iter().filter(|(_, n)| *n < 0) {
        let locator = locator_of(rows, row)?;
        let done = match new.next() {
            // What comes under the same key takes its place.
            Some((new, 1)) => writer.update(&locator, new, cx)?,
            Some(more) => {
                coming.extend(again(more));
                writer.delete(&locator, cx)?
            }
            None => writer.delete(&locator, cx)?,
        };
        if !done {
            return Err(missing(rows, cx));
        }
    }
    coming.extend(new.flat_map(again));
    Ok(())
}

/// COUNT_BIG(*) of a group.
fn count_of(group: &[Value], parts: &[ViewPart]) -> i64 {
    let at = parts.iter().position(|part| *part == ViewPart::Count);
    at.and_then(|at| group[at].as_i64()).unwrap_or(0)
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Decimal(d) => d.units() == 0,
        Value::Money(units) => *units == 0,
        Value::Float(f) => *f == 0.0,
        other => other.as_i64() == Some(0),
    }
}

/// Rows into the table variables of the innermost frame.
fn fill_changed(chosen: &[&Vec<Vec<Value>>], cx: &mut Cx<'_>) -> Result<(), SqlError> {
    let private = cx.env.private();
    let mark = private.mark();
    let mut filled = Ok(());
    'all: for (slot, rows) in (0u16..).zip(chosen) {
        for row in *rows {
            if private.insert(Place::Variable(slot), row.as_slice().into()).is_err() {
                filled = Err(executor::no_memory());
                break 'all;
            }
        }
    }
    // The tables go when the query has run; nothing is undone but with them.
    private.end_statement(mark);
    filled
}

/// Adds a row, `sign` times, to those that were found under its key.
fn sum(
    list: &mut Vec<(Vec<Value>, i64)>,
    row: &[Value],
    sign: i64,
    parts: &[ViewPart],
    rows: &TableDef,
) -> Result<(), SqlError> {
    if parts.is_empty() {
        match list.iter_mut().find(|(known, _)| known == row) {
            Some((_, n)) => *n += sign,
            None => list.push((row.to_vec(), sign)),
        }
        return Ok(());
    }
    match list.first_mut() {
        Some((group, _)) => {
            let op = if sign > 0 { ArithOp::Add } else { ArithOp::Sub };
            combine(group, row, op, parts, rows)
        }
        None => {
            let mut group = row.to_vec();
            if sign < 0 {
                // 0 less what goes.
                combine(&mut group, row, ArithOp::Sub, parts, rows)?;
                combine(&mut group, row, ArithOp::Sub, parts, rows)?;
            }
            list.push((group, 0));
            Ok(())
        }
    }
}

/// Counts and sums of a group with those of another one, or without.
fn combine(
    group: &mut [Value],
    other: &[Value],
    op: ArithOp,
    parts: &[ViewPart],
    rows: &TableDef,
) -> Result<(), SqlError> {
    for (at, part) in parts.iter().enumerate() {
        if *part != ViewPart::Group {
            group[at] = combined(op, &group[at], &other[at], rows.columns[at].ty)?;
        }
    }
    Ok(())
}

/// A sum in the type that it has; 8115 where it is too much for it.
fn combined(op: ArithOp, a: &Value, b: &Value, ty: SqlType) -> Result<Value, TypeError> {
    match (a, b, ty) {
        // An operator of the language would make room for one digit more.
        (Value::Decimal(a), Value::Decimal(b), SqlType::Decimal { precision, scale, .. }) => {
            let units = match op {
                ArithOp::Sub => a.units().checked_sub(b.units()),
                _ => a.units().checked_add(b.units()),
            };
            let units = units.unwrap_or(i128::MAX);
            Decimal::new(units, precision, scale).map(Value::Decimal)
        }
        _ => arith::binary(op, a, ty, b, ty),
    }
}

/// The key of a row in the view's tree.
fn locator_of(rows: &TableDef, row: &[Value]) -> Result<Vec<u8>, SqlError> {
    let values: Vec<Value> = rows.clustered_key().iter().map(|(at, _)| row[*at].clone()).collect();
    rows.key_layout.encode(&values).map_err(|e| crate::keys::key_error(rows, e))
}

/// 8646.
#[cold]
fn missing(rows: &TableDef, cx: &Cx<'_>) -> SqlError {
    let text = format!(
        "Unable to find index entry in index ID 1, of table {}, in database '{}'. The indicated index is corrupt or there is \
         a problem with the current update plan. Run DBCC CHECKDB or DBCC CHECKTABLE. If the problem persists, contact \
         product support.",
        rows.object_id,
        cx.env.database_name()
    );
    SqlError::new(8646, 21, text)
}
