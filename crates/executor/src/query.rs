//! A query's rows, to a client or into variables.

use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use crate::ops;
use crate::sink::{ColumnMeta, ResultSink};
use ir::{Expr, OutputColumn, VarId};
use planner::{Plan, SubPlan};
use runtime::task::Many;
use types::Value;

/// What a client is told of a plan's columns.
pub fn column_meta(output: &[OutputColumn]) -> Vec<ColumnMeta> {
    output
        .iter()
        .map(|c| ColumnMeta {
            collation: c.collation,
            identity: c.identity.is_some(),
            updatable: c.updatable,
            base: c.base.clone(),
            ..ColumnMeta::new(c.name.as_deref().unwrap_or_default(), c.ty, c.nullable)
        })
        .collect()
}

/// Runs a plan and hands each batch of rows to `each` (only the result's columns count). Returns how many.
pub fn for_each_batch<'a>(
    plan: &'a Plan,
    cx: &mut Cx<'a>,
    mut each: impl FnMut(&Batch, &mut Cx<'a>) -> Result<(), SqlError>,
) -> Result<u64, SqlError> {
    running(plan, cx, |cx| pull(ops::build(&plan.root), cx, &mut each))
}

/// Calls `run` with what a plan's operators look for.
fn running<'a>(
    plan: &'a Plan,
    cx: &mut Cx<'a>,
    run: impl FnOnce(&mut Cx<'a>) -> Result<u64, SqlError>,
) -> Result<u64, SqlError> {
    cx.set_plan(&plan.subplans, plan.param_count);
    cx.set_spools(&plan.spools);
    let result = run(cx);
    cx.set_spools(&[]);
    if cx.kept().is_some_and(|kept| kept.spilled.operators() > 0) {
        let spilled = std::mem::take(&mut cx.keep().spilled);
        cx.env.note_spill(&spilled);
    }
    result
}

fn pull<'a>(
    mut source: Box<dyn ops::Operator + 'a>,
    cx: &mut Cx<'a>,
    each: &mut impl FnMut(&Batch, &mut Cx<'a>) -> Result<(), SqlError>,
) -> Result<u64, SqlError> {
    let mut batch = Batch::new();
    let mut rows = 0;
    while rows < cx.row_limit {
        let left = cx.row_limit - rows;
        batch.set_target(usize::try_from(left).unwrap_or(usize::MAX));
        if !source.next(cx, &mut batch)? {
            break;
        }
        batch.shorten(usize::try_from(left).unwrap_or(usize::MAX));
        rows += batch.len() as u64;
        each(&batch, cx)?;
        // Operators that give what they have in memory, or in files, look at the cancel flag no more.
        cx.breathe()?;
    }
    Ok(rows)
}

/// Whether a plan reads any table, or a view of the system.
pub fn reads_tables(plan: &Plan) -> bool {
    plan.trees().any(node_reads_tables)
}

/// The same of an expression's subqueries.
pub fn subplans_read_tables(subplans: &[SubPlan]) -> bool {
    subplans.iter().any(|subplan| node_reads_tables(&subplan.node))
}

fn node_reads_tables(node: &planner::Node) -> bool {
    let of_a_table = match &node.op {
        planner::Op::Scan(_) => true,
        // What OPENJSON and its like give comes from no table.
        planner::Op::System { view, .. } => view.params.is_none() || view.function.is_some(),
        _ => false,
    };
    of_a_table || node.inputs().into_iter().any(node_reads_tables)
}

/// SELECT to a client: columns, then rows. The caller says `done`.
pub fn select_to_client<'a>(
    plan: &'a Plan,
    cx: &mut Cx<'a>,
    sink: &mut dyn ResultSink,
) -> Result<u64, SqlError> {
    let width = plan.output.len();
    let mut begun = false;
    let mut meta = column_meta(&plan.output);
    if cx.env.arithmetic_yields_null() {
        // Any expression may be NULL for want of a value.
        meta.iter_mut().filter(|column| column.base.is_none()).for_each(|c| c.nullable = true);
    }
    let result = running(plan, cx, |cx| {
        let mut source = ops::build(&plan.root);
        if cx.row_limit == u64::MAX && width == plan.root.types.len() && source.has_stored(cx)? {
            return stored(&mut *source, cx, &mut begun, &meta, sink);
        }
        pull(source, cx, &mut |batch, _| {
            if !begun {
                sink.columns(&meta);
                begun = true;
            }
            batch.rows().for_each(|row| sink.row(&row[..width]));
            Ok(())
        })
    });
    // Before an error there is a result set too, unless the statement is to run anew.
    if !begun && !result.as_ref().is_err_and(|error| error.stale) {
        sink.columns(&meta);
    }
    result.map_err(|mut error| {
        // Rows that were sent cannot be taken back.
        error.stale &= !begun;
        error
    })
}

/// Rows that are sent as they are stored.
fn stored(
    source: &mut (dyn ops::Operator + '_),
    cx: &mut Cx<'_>,
    begun: &mut bool,
    meta: &[ColumnMeta],
    sink: &mut dyn ResultSink,
) -> Result<u64, SqlError> {
    let mut rows = 0;
    loop {
        let more = source.next_stored(cx, &mut |row| {
            if !*begun {
                sink.columns(meta);
                *begun = true;
            }
            rows += 1;
            sink.stored(row);
        })?;
        sink.rest();
        if !more {
            return Ok(rows);
        }
    }
}

/// SELECT @v = ...: every row assigns, in order; the last one stays.
pub fn select_to_vars<'a>(
    plan: &'a Plan,
    assign: &[(VarId, Expr)],
    cx: &mut Cx<'a>,
) -> Result<u64, SqlError> {
    for_each_batch(plan, cx, |batch, cx| {
        for row in batch.rows() {
            for (var, expr) in assign {
                let value = eval(expr, row, cx)?;
                cx.vars[var.0 as usize] = value;
            }
        }
        Ok(())
    })
}

/// All rows of a plan, collected: for INSERT into the table that is read, and for tests.
pub fn collect<'a>(plan: &'a Plan, cx: &mut Cx<'a>) -> Result<Many<Vec<Value>>, SqlError> {
    let mut rows = Many::new();
    let width = plan.output.len();
    for_each_batch(plan, cx, |batch, cx| {
        for row in batch.rows() {
            cx.hold(crate::memory::row_bytes(row))?;
            rows.push(row[..width].to_vec());
        }
        Ok(())
    })?;
    Ok(rows)
}
