//! Whole statements: the query planned, and the statement's own expressions put over its slots.

use ir::{ColId, Expr, Query};

use crate::columns::*;
use crate::estimate::{Facts, Known};
use crate::fold::fold;
use crate::lower::*;
use crate::plan::*;
use crate::see_through::{see_through, see_through_asked};

/// Plans a query whose root begins with its output, followed by whatever `more` names.
fn plan(lowering: &mut Lowering, query: &Query, more: &Needed) -> (Node, Vec<ColId>) {
    let mut rel = query.rel.clone();
    if lowering.embeds && query.hints.recompile {
        rel.walk_exprs_mut(&mut |e| lowering.facts.embed(e));
    }
    inline_constants(&mut rel);
    lowering.hints = query.hints;
    let mut order: Vec<ColId> = query.output.iter().map(|c| c.id).collect();
    let mut needed: Needed = order.iter().copied().collect();
    let mut extra: Vec<ColId> = more.iter().copied().filter(|id| !needed.contains(id)).collect();
    extra.sort();
    needed.extend(extra.iter().copied());
    see_through(&mut rel, &needed, !query.hints.force_order);
    lowering.facts.learn(&rel);
    lowering.facts.mentioned.extend(needed.iter().copied());
    let lowered = lowering.rel(rel, Vec::new(), &needed);
    // Statements without output (changes, SELECT @v =) take the columns wherever they lie.
    if order.is_empty() {
        return (lowered.node, lowered.cols);
    }
    order.extend(extra);
    let lowered = lowering.shape(lowered, &order);
    (lowered.node, lowered.cols)
}

/// The plan of a query that runs from its beginning to its end in one go, and changes no variable meanwhile: what it has
/// several times is done once.
fn finish_shared(lowering: Lowering, mut root: Node, query: &Query) -> Plan {
    let mut subplans = lowered(lowering.subplans);
    let spools = crate::spool::share(&mut root, &mut subplans);
    let maxdop = (query.maxdop, lowering.facts.maxdop);
    whole(root, subplans, spools, lowering.param_count, maxdop, query)
}

/// The plan of any other query.
fn finish(lowering: Lowering, root: Node, query: &Query) -> Plan {
    let maxdop = (query.maxdop, lowering.facts.maxdop);
    let subplans = lowered(lowering.subplans);
    whole(root, subplans, Vec::new(), lowering.param_count, maxdop, query)
}

fn whole(
    mut root: Node,
    mut subplans: Vec<SubPlan>,
    mut spools: Vec<Node>,
    param_count: usize,
    (maxdop, usual): (u32, u32),
    query: &Query,
) -> Plan {
    fold_subplans(&mut subplans);
    for tree in std::iter::once(&mut root).chain(&mut spools) {
        crate::spread::fold_rows(tree);
        crate::spread::gather(tree, maxdop, usual);
    }
    Plan { root, output: query.output.clone(), param_count, subplans, spools }
}

fn lowered(subplans: Vec<Option<SubPlan>>) -> Vec<SubPlan> {
    subplans.into_iter().map(|s| s.expect("every subplan is filled once lowered")).collect()
}

fn fold_subplans(subplans: &mut [SubPlan]) {
    subplans.iter_mut().for_each(|sub| crate::spread::fold_rows(&mut sub.node));
}

fn subplans(subplans: Vec<Option<SubPlan>>) -> Vec<SubPlan> {
    let mut subplans = lowered(subplans);
    fold_subplans(&mut subplans);
    subplans
}

/// Columns alone, and no variables.
fn sets_columns(set: &[ir::UpdateSet]) -> bool {
    set.iter().all(|set| matches!(set, ir::UpdateSet::Column { .. }))
}

/// Folded and over the slots of `cols`.
fn over(lowering: &mut Lowering, expr: &Expr, cols: &[ColId]) -> Expr {
    let mut expr = expr.clone();
    fold(&mut expr);
    see_through_asked(&mut expr, !lowering.hints.force_order);
    lowering.expr(expr, cols)
}

/// Plans a query by itself.
pub fn plan_query(query: &Query, known: &Known) -> Plan {
    let mut lowering = Lowering { facts: Facts::new(known), ..Lowering::default() };
    let (root, _) = plan(&mut lowering, query, &Needed::new());
    finish(lowering, root, query)
}

/// Plans a SELECT, with what is known besides its text; so below.
pub fn plan_select(select: &ir::Select, known: &Known) -> SelectPlan {
    let mut lowering = Lowering { facts: Facts::new(known), ..Lowering::default() };
    let query = &select.query;
    match &select.target {
        ir::SelectTarget::Vars(vars) => {
            let more = with_exprs(&Needed::new(), vars.iter().map(|(_, e)| e));
            let (root, cols) = plan(&mut lowering, query, &more);
            let vars = vars.iter().map(|(v, e)| (*v, over(&mut lowering, e, &cols))).collect();
            SelectPlan { plan: finish(lowering, root, query), target: SelectTarget::Vars(vars) }
        }
        target => {
            lowering.embeds = true;
            let (root, _) = plan(&mut lowering, query, &Needed::new());
            let target = match target {
                ir::SelectTarget::Into { name, spec } => {
                    SelectTarget::Into { name: name.clone(), spec: spec.clone() }
                }
                _ => SelectTarget::Client,
            };
            SelectPlan { plan: finish_shared(lowering, root, query), target }
        }
    }
}

pub fn plan_insert(insert: &ir::Insert, known: &Known) -> InsertPlan {
    let mut lowering = Lowering { facts: Facts::new(known), ..Lowering::default() };
    let columns = insert.table.columns.len();
    // OUTPUT of INSERT reads the inserted row alone.
    let output = insert.output.as_ref().map(|o| output_plan(o, columns, &[]));
    let block = block_plan(&mut lowering, insert.block.as_deref(), &[]);
    let source = match &insert.source {
        ir::InsertSource::Values(rows) => {
            let rows = rows
                .iter()
                .map(|row| row.iter().map(|e| over(&mut lowering, e, &[])).collect())
                .collect();
            InsertSource::Values {
                rows,
                param_count: lowering.param_count,
                subplans: subplans(lowering.subplans),
            }
        }
        ir::InsertSource::Query { query, row } => {
            lowering.embeds = true;
            let (root, cols) = plan(&mut lowering, query, &Needed::new());
            let row = row.iter().map(|e| over(&mut lowering, e, &cols)).collect();
            let plan = Box::new(finish_shared(lowering, root, query));
            InsertSource::Query { plan, row }
        }
        ir::InsertSource::Exec { exec, columns, row } => {
            let cols: Vec<ColId> = columns.iter().map(|c| c.id).collect();
            let row = row.iter().map(|e| over(&mut lowering, e, &cols)).collect();
            InsertSource::Exec { exec: exec.clone(), columns: columns.clone(), row }
        }
        ir::InsertSource::Changed(from) => {
            InsertSource::Changed(Box::new(changed_rows(&mut lowering, from, known)))
        }
    };
    InsertPlan {
        table: insert.table.clone(),
        tracking_context: insert.tracking_context.clone(),
        hints: insert.hints,
        source,
        explicit_identity: insert.explicit_identity,
        output,
        fires: insert.fires.clone(),
        block,
        check: insert.check.clone(),
        calls: insert_calls(insert),
    }
}

/// Whether a function of the user's is called for an INSERT's rows.
fn insert_calls(insert: &ir::Insert) -> bool {
    let of_source = match &insert.source {
        ir::InsertSource::Values(rows) => rows.iter().flatten().any(ir::Expr::calls_users),
        ir::InsertSource::Query { query, row } => {
            row.iter().any(ir::Expr::calls_users) || query_calls(query)
        }
        ir::InsertSource::Exec { row, .. } => row.iter().any(ir::Expr::calls_users),
        ir::InsertSource::Changed(from) => from.row.iter().any(ir::Expr::calls_users),
    };
    of_source || output_calls(insert.output.as_ref())
}

fn query_calls(query: &ir::Query) -> bool {
    let mut calls = false;
    query.rel.walk_exprs(&mut |e| calls = calls || e.calls_users());
    calls
}

fn output_calls(output: Option<&ir::Output>) -> bool {
    let into = |o: &ir::Output| {
        o.into.as_ref().is_some_and(|(_, exprs)| exprs.iter().any(ir::Expr::calls_users))
    };
    output.is_some_and(|o| o.exprs().any(ir::Expr::calls_users) || into(o))
}

/// A change in FROM, with what the INSERT around it asks of the rows that it puts out.
fn changed_rows(lowering: &mut Lowering, from: &ir::ChangedRows, known: &Known) -> ChangedRows {
    let mut change = match &from.change {
        ir::StmtKind::Insert(insert) => ChangePlan::Insert(plan_insert(insert, known)),
        ir::StmtKind::Update(update) => ChangePlan::Update(plan_update(update, known)),
        ir::StmtKind::Delete(delete) => ChangePlan::Delete(plan_delete(delete, known)),
        ir::StmtKind::Merge(merge) => ChangePlan::Merge(plan_merge(merge, known)),
        other => stdx::fatal!("no change puts out rows here: {other:?}"),
    };
    let output = from.change.output().map_or(&[][..], |output| &output.columns);
    let cols: Vec<ColId> = output.iter().map(|(column, _)| column.id).collect();
    let filter = from.filter.as_ref().map(|e| over(lowering, e, &cols));
    if let Some(output) = change.output_mut() {
        output.reader = Some(OutputReader { filter });
    }
    ChangedRows { change, row: from.row.iter().map(|e| over(lowering, e, &cols)).collect() }
}

pub fn plan_update(update: &ir::Update, known: &Known) -> UpdatePlan {
    let mut lowering = Lowering { facts: Facts::new(known), ..Lowering::default() };
    let values = update.set.iter().map(ir::UpdateSet::value);
    let mut needed = with_exprs(&Needed::new(), values);
    needed.extend(change_columns(update.locator, &update.old, update.output.as_ref()));
    lowering.embeds = sets_columns(&update.set);
    let (root, cols) = plan(&mut lowering, &update.query, &needed);
    let set = set_over(&mut lowering, &update.set, &cols);
    let block = block_plan(&mut lowering, update.block.as_deref(), &cols);
    let output = update.output.as_ref().map(|o| output_plan(o, update.old.len(), &cols));
    UpdatePlan {
        table: update.table.clone(),
        tracking_context: update.tracking_context.clone(),
        hints: update.hints,
        locator: slot(&cols, update.locator),
        old: update.old.iter().map(|id| slot(&cols, *id)).collect(),
        source: finish(lowering, root, &update.query),
        set,
        output,
        fires: update.fires.clone(),
        block,
        check: update.check.clone(),
        calls: query_calls(&update.query)
            || update.set.iter().any(|set| set.value().calls_users())
            || output_calls(update.output.as_ref()),
    }
}

/// The items of SET over the slots of `cols`.
fn set_over(lowering: &mut Lowering, set: &[ir::UpdateSet], cols: &[ColId]) -> Vec<ir::UpdateSet> {
    let mut out = set.to_vec();
    for item in &mut out {
        let (ir::UpdateSet::Column { value, .. }
        | ir::UpdateSet::Var { value, .. }
        | ir::UpdateSet::Both { value, .. }) = item;
        *value = over(lowering, value, cols);
    }
    out
}

pub fn plan_merge(merge: &ir::Merge, known: &Known) -> MergePlan {
    let mut lowering = Lowering { facts: Facts::new(known), ..Lowering::default() };
    let mut exprs = Vec::new();
    merge.for_each_expr(&mut |e| exprs.push(e));
    let mut needed = with_exprs(&Needed::new(), exprs.into_iter());
    needed.extend(change_columns(merge.locator, &merge.old, merge.output.as_ref()));
    needed.insert(merge.present);
    needed.remove(&merge.action);
    lowering.embeds = merge.clauses.iter().all(|clause| match &clause.action {
        ir::MergeAction::Update(set) => sets_columns(set),
        _ => true,
    });
    let (root, mut cols) = plan(&mut lowering, &merge.query, &needed);
    let clauses = merge
        .clauses
        .iter()
        .map(|clause| ir::MergeClause {
            when: clause.when,
            condition: clause.condition.as_ref().map(|e| over(&mut lowering, e, &cols)),
            action: match &clause.action {
                ir::MergeAction::Update(set) => {
                    ir::MergeAction::Update(set_over(&mut lowering, set, &cols))
                }
                ir::MergeAction::Delete => ir::MergeAction::Delete,
                ir::MergeAction::Insert(row) => ir::MergeAction::Insert(
                    row.iter().map(|e| over(&mut lowering, e, &cols)).collect(),
                ),
            },
        })
        .collect();
    let block = block_plan(&mut lowering, merge.block.as_deref(), &cols);
    let top = merge.top.as_ref().map(|e| over(&mut lowering, e, &[]));
    let (locator, present) = (slot(&cols, merge.locator), slot(&cols, merge.present));
    let old = merge.old.iter().map(|id| slot(&cols, *id)).collect();
    cols.push(merge.action);
    let output = merge.output.as_ref().map(|o| output_plan(o, merge.old.len(), &cols));
    MergePlan {
        table: merge.table.clone(),
        tracking_context: merge.tracking_context.clone(),
        hints: merge.hints,
        source: finish(lowering, root, &merge.query),
        locator,
        present,
        old,
        top,
        clauses,
        explicit_identity: merge.explicit_identity,
        output,
        fires: merge.fires.clone(),
        block,
    }
}

pub fn plan_delete(delete: &ir::Delete, known: &Known) -> DeletePlan {
    let mut lowering = Lowering { facts: Facts::new(known), ..Lowering::default() };
    let mut needed = Needed::new();
    needed.extend(change_columns(delete.locator, &delete.old, delete.output.as_ref()));
    lowering.embeds = true;
    let (root, cols) = plan(&mut lowering, &delete.query, &needed);
    let block = block_plan(&mut lowering, delete.block.as_deref(), &cols);
    let output = delete.output.as_ref().map(|o| output_plan(o, delete.old.len(), &cols));
    DeletePlan {
        table: delete.table.clone(),
        tracking_context: delete.tracking_context.clone(),
        hints: delete.hints,
        locator: slot(&cols, delete.locator),
        old: delete.old.iter().map(|id| slot(&cols, *id)).collect(),
        source: finish(lowering, root, &delete.query),
        output,
        fires: delete.fires.clone(),
        block,
        calls: query_calls(&delete.query) || output_calls(delete.output.as_ref()),
    }
}

/// BLOCK predicates over the slots of `cols`, and of the new row behind them.
fn block_plan(
    lowering: &mut Lowering,
    block: Option<&ir::Block>,
    cols: &[ColId],
) -> Option<Box<BlockPlan>> {
    let block = block?;
    block.exprs().for_each(|e| lowering.facts.learn_of(e));
    let both: Vec<ColId> = cols.iter().chain(&block.new).copied().collect();
    let mut all = |exprs: &[Expr], cols: &[ColId]| -> Vec<Expr> {
        exprs.iter().map(|e| over(lowering, e, cols)).collect()
    };
    Some(Box::new(BlockPlan {
        after_insert: all(&block.after_insert, &both),
        after_update: all(&block.after_update, &both),
        before_update: all(&block.before_update, cols),
        before_delete: all(&block.before_delete, cols),
    }))
}

/// Folds constants and plans the subqueries of an expression that reads no row.
pub fn plan_expr(expr: &Expr) -> ExprPlan {
    let mut lowering = Lowering::default();
    lowering.facts.learn_of(expr);
    let expr = over(&mut lowering, expr, &[]);
    ExprPlan { expr, param_count: lowering.param_count, subplans: subplans(lowering.subplans) }
}

/// What a change needs of its query besides its own expressions.
fn change_columns(locator: ColId, old: &[ColId], output: Option<&ir::Output>) -> Vec<ColId> {
    let mut ids = old.to_vec();
    ids.push(locator);
    if let Some(output) = output {
        let mut read = Vec::new();
        for e in output.exprs() {
            e.columns(&mut read);
        }
        read.retain(|id| !output.inserted.contains(id) && !output.deleted.contains(id));
        ids.extend(read);
    }
    ids
}

/// OUTPUT over the row of new columns, old columns and source slots.
fn output_plan(output: &ir::Output, columns: usize, source: &[ColId]) -> OutputPlan {
    let mut cols = Vec::with_capacity(2 * columns + source.len());
    cols.extend(&output.inserted);
    cols.extend(&output.deleted);
    cols.extend(source);
    let mut lowering = Lowering::default();
    let mut planned = |columns: &[(ir::OutputColumn, Expr)]| {
        columns.iter().map(|(c, e)| (c.clone(), over(&mut lowering, e, &cols))).collect()
    };
    let (out, also) = (planned(&output.columns), planned(&output.also));
    let into = output.into.as_ref().map(|(table, row)| {
        let ids: Vec<ColId> = output.columns.iter().map(|(c, _)| c.id).collect();
        let row = row.iter().map(|e| over(&mut lowering, e, &ids)).collect();
        (table.clone(), row)
    });
    OutputPlan { columns: out, into, also, reader: None }
}

fn slot(cols: &[ColId], id: ColId) -> u32 {
    match cols.iter().position(|c| *c == id) {
        Some(slot) => slot as u32,
        None => stdx::fatal!("planner: column {id:?} of a change was pruned"),
    }
}
