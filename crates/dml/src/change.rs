//! INSERT, UPDATE and DELETE.
//!
//! Promise: a row changes once per statement, in its newest state under its lock; a statement never meets its
//! own work (rows whose key moves are collected first, and so are the rows of an INSERT that reads its target).

use crate::keys::key_columns;
use crate::last_writer::Kept;
use crate::statement::{
    Output, assign, begin_writing, check_after, check_all, is_elsewhere, note_context,
    note_identity, of_target, writer, writer_of,
};
use crate::write::TableWriter;
use catalog::TableDef;
use engine::InsertHint;
use executor::{
    Cx, KeyMap, ResultSink, SqlError, SqlMessage, collect, eval, for_each_batch, holds, row_bytes,
};
use ir::{Expr, TableHints, UpdateSet};
use planner::{DeletePlan, InsertPlan, InsertSource, Node, Op, PhysicalJoin, Plan, UpdatePlan};
use runtime::task::Many;
use std::sync::Arc;
use types::Value;

/// Runs an INSERT of VALUES or of a query. The transaction is begun and the statement too. Returns the rows.
pub fn insert<'a>(
    plan: &'a InsertPlan,
    kept: &mut Kept,
    cx: &mut Cx<'a>,
    sink: &mut dyn ResultSink,
) -> Result<u64, SqlError> {
    if let InsertSource::Changed(from) = &plan.source {
        return crate::nested::insert_changed(plan, from, &mut kept.hint, cx, sink);
    }
    note_context(plan.tracking_context.as_deref(), cx)?;
    let mut inserting = Inserting {
        writer: writer_of(kept, &plan.table, &plan.hints, "INSERT", cx)?,
        output: Output::new(plan.output.as_ref(), &plan.table, cx)?,
        explicit_identity: plan.explicit_identity,
        table: &plan.table,
        after: After {
            block: plan.block.as_deref().map_or(&[], |block| &block.after_insert),
            check: plan.check.as_deref(),
            table: &plan.table,
        },
        count: 0,
    };
    cx.table = Some(&plan.table);
    inserting.writer.may_put_off(may_put_off(plan));
    let mut values = std::mem::take(&mut kept.values);
    let hint = &mut kept.hint;
    let count = match &plan.source {
        InsertSource::Values { rows, subplans, param_count } => {
            cx.set_plan(subplans, *param_count);
            for row in rows {
                values.clear();
                for expr in row {
                    values.push(eval(expr, &[], cx)?);
                }
                inserting.row(&values, hint, cx, sink)?;
            }
            inserting.finish(cx, sink)?
        }
        InsertSource::Query { plan: source, row } => {
            if reads_anywhere(source, &plan.table) {
                let rows = collect(source, cx)?;
                cx.table = Some(&plan.table);
                for from in &rows {
                    values.clear();
                    for expr in row {
                        values.push(eval(expr, from, cx)?);
                    }
                    inserting.row(&values, hint, cx, sink)?;
                }
            } else {
                for_each_batch(source, cx, |batch, cx| {
                    for from in batch.rows() {
                        values.clear();
                        for expr in row {
                            values.push(eval(expr, from, cx)?);
                        }
                        inserting.row(&values, hint, cx, sink)?;
                    }
                    cx.breathe()
                })?;
            }
            inserting.finish(cx, sink)?
        }
        InsertSource::Exec { .. } | InsertSource::Changed(_) => {
            return Err(SqlError::unsupported("INSERT EXEC"));
        }
    };
    values.clear();
    kept.values = values;
    kept.keep(inserting.writer);
    Ok(count)
}

/// Whether nothing that an INSERT evaluates, once it has begun to write, may read the table. Rows of VALUES are few, and
/// their queries run one by one.
fn may_put_off(plan: &InsertPlan) -> bool {
    let reads = plan.calls
        || plan.block.is_some()
        || plan.check.is_some()
        || matches!(plan.source, InsertSource::Values { .. });
    !reads && is_elsewhere(plan.output.as_ref(), &plan.table)
}

/// Rows on their way into a table.
struct Inserting<'p> {
    writer: Box<TableWriter>,
    output: Output<'p>,
    explicit_identity: bool,
    table: &'p TableDef,
    after: After<'p>,
    count: u64,
}

impl Inserting<'_> {
    fn row(
        &mut self,
        values: &[Value],
        hint: &mut InsertHint,
        cx: &mut Cx<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<(), SqlError> {
        self.writer.breathe()?;
        if cx.is_instead() {
            self.count += 1;
            cx.note_changed(Some(values), None)?;
            return Ok(());
        }
        if !self.writer.insert(values, hint, cx)? {
            return Ok(());
        }
        self.count += 1;
        self.after.ask(&[], self.writer.written(values), cx)?;
        if cx.changed.is_some() {
            cx.note_changed(Some(self.writer.written(values)), None)?;
        }
        if self.explicit_identity {
            note_identity(self.table, values, cx)?;
        }
        self.output.row(Some(self.writer.written(values)), None, &[], cx, sink)
    }

    fn finish(&mut self, cx: &mut Cx<'_>, sink: &mut dyn ResultSink) -> Result<u64, SqlError> {
        self.writer.finish(cx)?;
        if self.writer.take_ignored() {
            sink.message(&SqlMessage::info(3604, 1, "Duplicate key was ignored.".to_string()));
        }
        self.output.finish(cx, sink)?;
        Ok(self.count)
    }
}

/// What a row is asked when it has been written.
struct After<'p> {
    /// BLOCK predicates of security policies: 33504.
    block: &'p [Expr],
    /// WITH CHECK OPTION of a view that the change goes through, whose row it must still be: 550.
    check: Option<&'p Expr>,
    table: &'p TableDef,
}

impl After<'_> {
    /// `row`: the source's; `new`: as it has been written.
    #[inline]
    fn ask(&self, row: &[Value], new: &[Value], cx: &mut Cx<'_>) -> Result<(), SqlError> {
        check_after(self.block, row, new, self.table, cx)?;
        let Some(check) = self.check else { return Ok(()) };
        if holds(check, new, cx)? {
            return Ok(());
        }
        Err(SqlError::new(
            550,
            16,
            "The attempted insert or update failed because the target view either specifies WITH CHECK OPTION or spans a \
             view that specifies WITH CHECK OPTION and one or more rows resulting from the operation did not qualify \
             under the CHECK OPTION constraint.",
        ))
    }
}

/// Writes rows of a query into a table just made (SELECT INTO): the values as they come.
pub fn insert_query<'a>(
    source: &'a Plan,
    table: &Arc<TableDef>,
    cx: &mut Cx<'a>,
) -> Result<u64, SqlError> {
    let mut hint = InsertHint::default();
    let hints = TableHints { tablockx: true, ..TableHints::default() };
    let mut writer = writer(table, &hints, "INSERT", cx)?;
    let width = source.output.len();
    let numbered = table.identity();
    let mut own = Vec::new();
    for_each_batch(source, cx, |batch, cx| {
        for row in batch.rows() {
            let row = &row[..width];
            match numbered.filter(|i| row[*i].is_null()) {
                // IDENTITY(...) is NULL so far.
                Some(i) => {
                    own.clear();
                    own.extend_from_slice(row);
                    let next = cx.env.next_identity(table)?;
                    let ty = table.columns[i].ty;
                    own[i] = executor::identity_value(next, ty)?;
                    writer.insert(&own, &mut hint, cx)?;
                }
                None => {
                    writer.insert(row, &mut hint, cx)?;
                    note_identity(table, row, cx)?;
                }
            }
        }
        cx.breathe()
    })
}

/// Writes rows that came from elsewhere (INSERT EXEC): `row` builds the table's columns from each.
pub fn insert_rows<'a>(
    plan: &'a InsertPlan,
    row: &[ir::Expr],
    rows: &[Vec<Value>],
    hint: &mut InsertHint,
    cx: &mut Cx<'a>,
    sink: &mut dyn ResultSink,
) -> Result<u64, SqlError> {
    let mut rows = rows.iter();
    let mut next = |from: &mut Vec<Value>, _: &mut dyn ResultSink| {
        let Some(row) = rows.next() else { return Ok(false) };
        from.clear();
        from.extend_from_slice(row);
        Ok(true)
    };
    insert_stream(plan, row, &mut next, true, hint, cx, sink)
}

/// Fills in a row, or says that there are no more.
pub type NextRow<'n> =
    dyn FnMut(&mut Vec<Value>, &mut dyn ResultSink) -> Result<bool, SqlError> + 'n;

/// The same for rows that come one by one (BULK INSERT): `next` gives them. Not
/// `checked`: CHECK constraints and foreign keys of the table are passed over.
pub fn insert_stream<'a>(
    plan: &'a InsertPlan,
    row: &[ir::Expr],
    next: &mut NextRow<'_>,
    checked: bool,
    hint: &mut InsertHint,
    cx: &mut Cx<'a>,
    sink: &mut dyn ResultSink,
) -> Result<u64, SqlError> {
    note_context(plan.tracking_context.as_deref(), cx)?;
    let writer = writer(&plan.table, &plan.hints, "INSERT", cx)?;
    let mut inserting = Inserting {
        writer: Box::new(if checked { writer } else { writer.unchecked() }),
        output: Output::new(plan.output.as_ref(), &plan.table, cx)?,
        explicit_identity: plan.explicit_identity,
        table: &plan.table,
        after: After {
            block: plan.block.as_deref().map_or(&[], |block| &block.after_insert),
            check: plan.check.as_deref(),
            table: &plan.table,
        },
        count: 0,
    };
    cx.table = Some(&plan.table);
    inserting.writer.may_put_off(may_put_off(plan));
    let mut values = Vec::with_capacity(plan.table.columns.len());
    let mut from = Vec::new();
    let mut count = 0u64;
    while next(&mut from, sink)? {
        values.clear();
        for expr in row {
            values.push(eval(expr, &from, cx)?);
        }
        inserting.row(&values, hint, cx, sink)?;
        count += 1;
        if count.is_multiple_of(64) {
            cx.breathe()?;
        }
    }
    inserting.finish(cx, sink)
}

/// Runs an UPDATE.
pub fn update<'a>(
    plan: &'a UpdatePlan,
    kept: &mut Kept,
    cx: &mut Cx<'a>,
    sink: &mut dyn ResultSink,
) -> Result<u64, SqlError> {
    let columns = plan.set.iter().filter_map(|set| match set {
        UpdateSet::Column { ordinal, .. } | UpdateSet::Both { ordinal, .. } => Some(*ordinal),
        UpdateSet::Var { .. } => None,
    });
    let mut set: Vec<usize> = columns.collect();
    note_context(plan.tracking_context.as_deref(), cx)?;
    let set_now = set.clone();
    let mut writer = kept.writer(|| {
        Ok(TableWriter::new(&plan.table, cx)?.statement("UPDATE").only_changing(set_now))
    })?;
    begin_writing(&writer, &plan.table, &plan.hints, cx)?;
    let asks = plan.calls || plan.block.is_some() || plan.check.is_some();
    writer.may_put_off(!asks && is_elsewhere(plan.output.as_ref(), &plan.table));
    // Computed columns follow those that they are computed from.
    let made = plan.table.columns.iter().enumerate().filter(|(_, c)| c.is_made());
    set.extend(made.map(|(i, _)| i));
    let mut output = Output::new(plan.output.as_ref(), &plan.table, cx)?;
    let mut keys = key_columns(&plan.table);
    keys.extend(plan.table.unique.iter().flat_map(|key| &key.columns).map(|(i, _)| *i));
    let moves = set.iter().any(|column| keys.contains(column));
    let streams =
        !moves && streams(&plan.source, &plan.table) && !walks_index_over(&plan.source.root, &set);
    let (before, block) = match &plan.block {
        Some(block) => (&block.before_update[..], &block.after_update[..]),
        None => (&[][..], &[][..]),
    };
    let after = After { block, check: plan.check.as_deref(), table: &plan.table };
    let mut changes = Changes::default();
    let mut count = 0;
    let mut new = Vec::new();
    for_each_batch(&plan.source, cx, |batch, cx| {
        for row in batch.rows() {
            cx.table = Some(&plan.table);
            new.clear();
            new.extend(plan.old.iter().map(|slot| row[*slot as usize].clone()));
            assign(&plan.set, row, &mut new, cx)?;
            let Value::Binary(locator) = &row[plan.locator as usize] else { continue };
            if cx.is_instead() {
                count += 1;
                cx.note_changed(Some(&new), Some(of_target(&plan.old, row)))?;
                continue;
            }
            check_all(before, row, &plan.table, cx)?;
            if !streams {
                changes.push(locator, &new, row, cx)?;
                continue;
            }
            if writer.update(locator, &new, cx)? {
                count += 1;
                after.ask(row, writer.written(&new), cx)?;
                note_update(&plan.old, row, writer.written(&new), cx)?;
                output.changed(&plan.old, Some(writer.written(&new)), row, cx, sink)?;
            }
        }
        cx.breathe()
    })?;
    // A row that keeps its key changes in place; rows that move all leave before any arrives.
    let mut hint = InsertHint::default();
    for change in &mut changes.rows {
        let old = |i: usize| change.row[plan.old[i] as usize].clone();
        if writer.same_key(&change.new, old, &change.locator, cx)? {
            if writer.update(&change.locator, &change.new, cx)? {
                count += 1;
                after.ask(&change.row, writer.written(&change.new), cx)?;
                let new = Some(writer.written(&change.new));
                note_update(&plan.old, &change.row, writer.written(&change.new), cx)?;
                output.changed(&plan.old, new, &change.row, cx, sink)?;
            }
        } else {
            change.moving = writer.leave(&change.locator, cx)?;
        }
    }
    for change in &changes.rows {
        let Some(old) = &change.moving else { continue };
        writer.arrive(old, &change.new, &mut hint, cx)?;
        count += 1;
        after.ask(&change.row, writer.written(&change.new), cx)?;
        note_update(&plan.old, &change.row, writer.written(&change.new), cx)?;
        output.changed(&plan.old, Some(writer.written(&change.new)), &change.row, cx, sink)?;
    }
    writer.finish(cx)?;
    output.finish(cx, sink)?;
    kept.keep(writer);
    Ok(count)
}

/// Runs a DELETE.
pub fn delete<'a>(
    plan: &'a DeletePlan,
    kept: &mut Kept,
    cx: &mut Cx<'a>,
    sink: &mut dyn ResultSink,
) -> Result<u64, SqlError> {
    note_context(plan.tracking_context.as_deref(), cx)?;
    let mut writer = writer_of(kept, &plan.table, &plan.hints, "DELETE", cx)?;
    let mut output = Output::new(plan.output.as_ref(), &plan.table, cx)?;
    let asks = plan.calls || plan.block.is_some();
    writer.may_put_off(!asks && is_elsewhere(plan.output.as_ref(), &plan.table));
    let streams = streams(&plan.source, &plan.table);
    let mut changes = Changes::default();
    let mut count = 0;
    for_each_batch(&plan.source, cx, |batch, cx| {
        for row in batch.rows() {
            let Value::Binary(locator) = &row[plan.locator as usize] else { continue };
            if cx.is_instead() {
                count += 1;
                cx.note_changed(None, Some(of_target(&plan.old, row)))?;
                continue;
            }
            if let Some(block) = &plan.block {
                check_all(&block.before_delete, row, &plan.table, cx)?;
            }
            if !streams {
                changes.push(locator, &[], row, cx)?;
                continue;
            }
            if writer.delete(locator, cx)? {
                count += 1;
                if cx.changed.is_some() {
                    cx.note_changed(None, Some(of_target(&plan.old, row)))?;
                }
                output.changed(&plan.old, None, row, cx, sink)?;
            }
        }
        cx.breathe()
    })?;
    for change in &changes.rows {
        if writer.delete(&change.locator, cx)? {
            count += 1;
            if cx.changed.is_some() {
                cx.note_changed(None, Some(of_target(&plan.old, &change.row)))?;
            }
            output.changed(&plan.old, None, &change.row, cx, sink)?;
        }
    }
    writer.finish(cx)?;
    output.finish(cx, sink)?;
    kept.keep(writer);
    Ok(count)
}

/// An updated row, for triggers.
fn note_update(old: &[u32], row: &[Value], new: &[Value], cx: &mut Cx<'_>) -> Result<(), SqlError> {
    if cx.changed.is_some() {
        cx.note_changed(Some(new), Some(of_target(old, row)))?;
    }
    Ok(())
}

/// Changes collected before any is made; a row that the query gives twice is changed once.
#[derive(Default)]
struct Changes {
    rows: Many<Change>,
    seen: KeyMap<()>,
}

struct Change {
    locator: Vec<u8>,
    new: Vec<Value>,
    row: Vec<Value>,
    /// It has left its place: what it was, as far as that matters.
    moving: Option<Vec<Value>>,
}

impl Changes {
    fn push(
        &mut self,
        locator: &[u8],
        new: &[Value],
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        if self.seen.insert(locator.into(), ()).is_some() {
            return Ok(());
        }
        cx.hold(2 * locator.len() + row_bytes(new) + row_bytes(row))?;
        self.rows.push(Change {
            locator: locator.to_vec(),
            new: new.to_vec(),
            row: row.to_vec(),
            moving: None,
        });
        Ok(())
    }
}

/// One table read once, its rows filtered and computed at most.
fn is_single_scan(node: &Node) -> bool {
    match &node.op {
        Op::Scan(_) => true,
        Op::Filter { input, .. } | Op::Project { input, .. } | Op::Top { input, .. } => {
            is_single_scan(input)
        }
        // The table, by a value that is there before it is read: no row comes twice.
        Op::NestedLoops { kind: PhysicalJoin::Inner, left, right, .. } => {
            is_one_row(left) && is_single_scan(right)
        }
        _ => false,
    }
}

/// At most one row, computed when it is asked for first.
fn is_one_row(node: &Node) -> bool {
    match &node.op {
        Op::Aggregate { group, sets, .. } => group.is_empty() && sets.is_none(),
        Op::Filter { input, .. } | Op::Project { input, .. } => is_one_row(input),
        _ => false,
    }
}

/// Whether rows are found by an index with one of these columns in its entries: the change would meet itself.
fn walks_index_over(node: &Node, columns: &[usize]) -> bool {
    match &node.op {
        Op::Scan(scan) => scan.index.is_some_and(|at| {
            let index = &scan.table.indexes[at];
            index.filter.is_some()
                || index.columns.iter().any(|(i, _)| columns.contains(i))
                || index.stored.iter().any(|i| columns.contains(i))
        }),
        _ => node.inputs().into_iter().any(|input| walks_index_over(input, columns)),
    }
}

/// Rows may be changed as they come: nothing else of the plan looks at the table.
fn streams(plan: &Plan, table: &TableDef) -> bool {
    is_single_scan(&plan.root) && !plan.trees().skip(1).any(|tree| reads(tree, table))
}

/// Whether a plan reads the table, in a subquery perhaps.
fn reads_anywhere(plan: &Plan, table: &TableDef) -> bool {
    plan.trees().any(|tree| reads(tree, table))
}

/// Whether a plan reads the table.
fn reads(node: &Node, table: &TableDef) -> bool {
    match &node.op {
        Op::Scan(scan) => scan.table.object_id == table.object_id,
        _ => node.inputs().into_iter().any(|input| reads(input, table)),
    }
}
