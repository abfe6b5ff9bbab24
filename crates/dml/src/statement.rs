//! What the statements that change rows have in common: their writer, OUTPUT, SET, what policies ask of rows, identity.

use crate::last_writer::Kept;
use crate::write::TableWriter;
use catalog::TableDef;
use engine::{InsertHint, TableLock, Use};
use executor::{Cx, ResultSink, SqlError, column_meta, engine_error, eval, holds, row_bytes, test};
use ir::{Expr, TableHints, UpdateSet};
use planner::OutputPlan;
use std::sync::Arc;
use types::Value;

/// OUTPUT of a changing statement, to the client or into a table.
pub(crate) struct Output<'p> {
    plan: Option<&'p OutputPlan>,
    width: usize,
    into: Option<TableWriter>,
    hint: InsertHint,
    begun: bool,
}

impl<'p> Output<'p> {
    pub fn new(
        plan: Option<&'p OutputPlan>,
        table: &TableDef,
        cx: &mut Cx<'_>,
    ) -> Result<Self, SqlError> {
        let into = plan.and_then(|p| p.into.as_ref());
        let into = into.map(|(table, _)| TableWriter::new(table, cx)).transpose()?;
        let (width, hint) = (table.columns.len(), InsertHint::default());
        Ok(Output { plan, width, into, hint, begun: false })
    }

    /// For a row of the source whose slots `old` are the target's columns.
    pub fn changed(
        &mut self,
        old: &[u32],
        new: Option<&[Value]>,
        source: &[Value],
        cx: &mut Cx<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<(), SqlError> {
        if self.plan.is_none() {
            return Ok(());
        }
        let deleted: Vec<Value> = old.iter().map(|slot| source[*slot as usize].clone()).collect();
        self.row(new, Some(&deleted), source, cx, sink)
    }

    pub fn row(
        &mut self,
        inserted: Option<&[Value]>,
        deleted: Option<&[Value]>,
        source: &[Value],
        cx: &mut Cx<'_>,
        sink: &mut dyn ResultSink,
    ) -> Result<(), SqlError> {
        let Some(plan) = self.plan else { return Ok(()) };
        let mut row = Vec::with_capacity(2 * self.width + source.len());
        row.extend_from_slice(inserted.unwrap_or_default());
        row.resize(self.width, Value::Null);
        row.extend_from_slice(deleted.unwrap_or_default());
        row.resize(2 * self.width, Value::Null);
        row.extend_from_slice(source);
        let mut values = Vec::with_capacity(plan.columns.len());
        for (_, expr) in &plan.columns {
            values.push(eval(expr, &row, cx)?);
        }
        if let (Some((table, exprs)), Some(writer)) = (&plan.into, &mut self.into) {
            let mut stored = Vec::with_capacity(exprs.len());
            // An IDENTITY column among them is this table's, not that of the statement.
            let mut cx = cx.reborrow();
            cx.table = Some(table);
            for expr in exprs {
                stored.push(eval(expr, &values, &mut cx)?);
            }
            writer.insert(&stored, &mut self.hint, &mut cx)?;
            if plan.also.is_empty() {
                return Ok(());
            }
            values.clear();
            for (_, expr) in &plan.also {
                values.push(eval(expr, &row, &mut cx)?);
            }
        }
        if let Some(reader) = &plan.reader {
            if let Some(filter) = &reader.filter
                && !holds(filter, &values, cx)?
            {
                return Ok(());
            }
            cx.hold(row_bytes(&values))?;
        }
        self.begin(sink);
        sink.row(&values);
        Ok(())
    }

    fn begin(&mut self, sink: &mut dyn ResultSink) {
        if let (Some(told), false) = (self.plan.and_then(OutputPlan::told), self.begun) {
            let columns: Vec<_> = told.iter().map(|(column, _)| column.clone()).collect();
            sink.columns(&column_meta(&columns));
            self.begun = true;
        }
    }

    /// An OUTPUT without rows is still a result set.
    pub fn finish(&mut self, cx: &mut Cx<'_>, sink: &mut dyn ResultSink) -> Result<(), SqlError> {
        if let Some(writer) = &mut self.into {
            writer.finish(cx)?;
        }
        self.begin(sink);
        Ok(())
    }
}

/// Whether OUTPUT writes no rows into the table itself.
pub(crate) fn is_elsewhere(output: Option<&OutputPlan>, table: &TableDef) -> bool {
    let into = output.and_then(|output| output.into.as_ref());
    into.is_none_or(|(into, _)| into.object_id != table.object_id)
}

/// BLOCK predicates of security policies over a row; 33504 where one is not true.
pub(crate) fn check_all(
    predicates: &[Expr],
    row: &[Value],
    table: &TableDef,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    for predicate in predicates {
        if test(predicate, row, cx)? != Some(true) {
            let text = format!(
                "The attempted operation failed because the target object '{}.{}.{}' has a block predicate that \
                 conflicts with this operation. If the operation is performed on a view, the block predicate might be \
                 enforced on the underlying table. Modify the operation to target only the rows that are allowed by the \
                 block predicate.",
                cx.env.database_name(),
                table.schema,
                table.name
            );
            return Err(SqlError::new(33504, 16, text));
        }
    }
    Ok(())
}

/// The same over the source's row and, behind it, the row as it has been written.
#[inline]
pub(crate) fn check_after(
    predicates: &[Expr],
    row: &[Value],
    new: &[Value],
    table: &TableDef,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    if predicates.is_empty() {
        return Ok(());
    }
    let both: Vec<Value> = row.iter().chain(new).cloned().collect();
    check_all(predicates, &both, table, cx)
}

/// The target's columns in a row of the source.
pub(crate) fn of_target(old: &[u32], row: &[Value]) -> Vec<Value> {
    old.iter().map(|slot| row[*slot as usize].clone()).collect()
}

/// SET items in order: columns see the old row, all see the variables as they are by then.
pub(crate) fn assign(
    set: &[UpdateSet],
    row: &[Value],
    new: &mut [Value],
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    for set in set {
        match set {
            UpdateSet::Column { ordinal, value } => new[*ordinal] = eval(value, row, cx)?,
            UpdateSet::Var { var, value } => {
                let value = eval(value, row, cx)?;
                cx.vars[var.0 as usize] = value;
            }
            UpdateSet::Both { var, ordinal, value } => {
                let value = eval(value, row, cx)?;
                cx.vars[var.0 as usize] = value.clone();
                new[*ordinal] = value;
            }
        }
    }
    Ok(())
}

/// An identity goes on past a value given explicitly.
pub(crate) fn note_identity(
    table: &TableDef,
    values: &[Value],
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    let Some(value) = table.identity().and_then(|i| whole(&values[i])) else { return Ok(()) };
    if table.is_private() {
        cx.env.private().note_identity(table.place, value);
    }
    cx.env.note_identity(table, value)
}

/// The integer in an identity column, which may be a decimal without a scale.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Decimal(_) => {
            types::convert::cast(value, value.natural_type(), types::SqlType::BigInt, 0)
                .ok()?
                .as_i64()
        }
        value => value.as_i64(),
    }
}

/// WITH CHANGE_TRACKING_CONTEXT: what is written from now on is noted with it.
#[inline]
pub(crate) fn note_context(context: Option<&Expr>, cx: &mut Cx<'_>) -> Result<(), SqlError> {
    if let Some(context) = context {
        let value = eval(context, &[], cx)?;
        let context = match value {
            Value::Binary(bytes) => Some(bytes.to_vec()),
            _ => None,
        };
        cx.set_tracking_context(context);
    }
    Ok(())
}

/// The writer of a statement of this kind.
pub(crate) fn writer(
    table: &Arc<TableDef>,
    hints: &TableHints,
    verb: &'static str,
    cx: &mut Cx<'_>,
) -> Result<TableWriter, SqlError> {
    let writer = TableWriter::new(table, cx)?.statement(verb);
    begin_writing(&writer, table, hints, cx)?;
    Ok(writer)
}

/// The same, with what an earlier run of the statement has kept.
pub(crate) fn writer_of(
    kept: &mut Kept,
    table: &Arc<TableDef>,
    hints: &TableHints,
    verb: &'static str,
    cx: &mut Cx<'_>,
) -> Result<Box<TableWriter>, SqlError> {
    let writer = kept.writer(|| Ok(TableWriter::new(table, cx)?.statement(verb)))?;
    begin_writing(&writer, table, hints, cx)?;
    Ok(writer)
}

/// A statement begins to change a table.
pub(crate) fn begin_writing(
    writer: &TableWriter,
    table: &Arc<TableDef>,
    hints: &TableHints,
    cx: &mut Cx<'_>,
) -> Result<(), SqlError> {
    if let Some(tree) = writer.tree() {
        tree.note_use(Use::Update);
    }
    if (hints.tablockx || hints.tablock)
        && let (Some(tree), Some(txn)) = (writer.tree(), cx.txn.as_deref_mut())
    {
        txn.lock_table(tree, TableLock::Exclusive).map_err(|e| engine_error(e, Some(table), cx))?;
    }
    Ok(())
}
