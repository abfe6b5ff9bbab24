//! What is done to a finished plan so that much data takes little time: equal rows folded before they are joined, tables
//! read, and nested loops run, by several at once.
//!
//! ```text
//! Aggregate                          Aggregate, by weight
//!   HashJoin                           HashJoin
//!     Scan of many rows      -->         Fold
//!     ...                                  Scan of many rows
//!                                        ...
//! ```
//!
//! A grouping above joins sees of a table only the columns that it groups, aggregates or joins by; rows equal in those
//! are joined alike, so one of them with their number does for all. Which rows are equal is looked at while the plan
//! runs, and where folding does not pay rows pass (the executor's Fold), so no estimate can make this dear.
//!
//! Invariant: the plan's meaning is the same with and without. The weight is one more slot in the middle of joined
//! rows; every slot behind it moves up by one, in all expressions between the fold and the grouping.

use ir::{Expr, ExprKind, PREFER_PARALLEL, ParamId};
use types::{KeyPart, SqlType, Value};

use crate::plan::*;

/// Folding fewer rows is not worth a hash table.
const ROWS_MIN: f64 = 1_000.0;

/// Folds rows below every grouping in the tree.
pub(crate) fn fold_rows(node: &mut Node) {
    for input in node.inputs_mut() {
        fold_rows(input);
    }
    let Op::Aggregate { input, group, aggs, sets, weight, strategy, .. } = &mut node.op else {
        return;
    };
    if sets.as_ref().is_some_and(|sets| !rolls_up(aggs, sets)) {
        return;
    }
    let joined = matches!(input.op, Op::HashJoin { .. });
    let plain = !group.iter().chain(aggs.iter().filter_map(|agg| agg.arg.as_ref())).any(asks)
        && aggs.iter().all(|agg| agg.joining.is_none());
    let pays = match joined {
        true => true,
        // Over a table by itself the grouping does what the fold does, unless it has nothing but groups to look at.
        false => *strategy == AggStrategy::Hash && aggs.iter().all(|agg| is_among(agg, group)),
    };
    if !plain || !pays || weight.is_some() || group.is_empty() {
        return;
    }
    let mut needed = vec![false; input.types.len()];
    for expr in group.iter().chain(aggs.iter().filter_map(|agg| agg.arg.as_ref())) {
        mark(expr, &mut needed);
    }
    let Some(slot) = fold_below(input, &needed, joined) else { return };
    group.iter_mut().for_each(|expr| make_room(expr, slot));
    aggs.iter_mut().filter_map(|agg| agg.arg.as_mut()).for_each(|expr| make_room(expr, slot));
    *weight = Some(slot as u32);
}

/// The aggregate looks at nothing but what is grouped by.
fn is_among(agg: &Agg, group: &[Expr]) -> bool {
    agg.arg.as_ref().is_none_or(|arg| group.contains(arg))
}

/// Folds the largest input below a chain of joins. The slot of the weight in the node's rows.
fn fold_below(node: &mut Node, needed: &[bool], joined: bool) -> Option<usize> {
    let Op::HashJoin { kind, left, right, left_keys, right_keys, residual, seeks } = &mut node.op
    else {
        return fold(node, needed, joined);
    };
    if left_keys.iter().chain(&*right_keys).chain(&*residual).any(asks) {
        return None;
    }
    if seeks.as_ref().is_some_and(|seeks| seeks.binds.iter().any(|(_, bound)| asks(bound))) {
        return None;
    }
    let kind = *kind;
    if kind == PhysicalJoin::Full {
        return None;
    }
    let width = left.types.len();
    let mut of_left = needed.to_vec();
    of_left.resize(width + right.types.len(), false);
    if let Some(residual) = residual {
        mark(residual, &mut of_left);
    }
    let mut of_right = of_left.split_off(width);
    left_keys.iter().for_each(|key| mark(key, &mut of_left));
    if let Some(seeks) = seeks {
        seeks.binds.iter().for_each(|(_, bound)| mark(bound, &mut of_left));
    }
    right_keys.iter().for_each(|key| mark(key, &mut of_right));
    let slot = if kind != PhysicalJoin::Inner || left.rows >= right.rows {
        let slot = fold_below(left, &of_left, joined)?;
        left_keys.iter_mut().for_each(|key| make_room(key, slot));
        if let Some(seeks) = seeks {
            seeks.binds.iter_mut().for_each(|(_, bound)| make_room(bound, slot));
        }
        slot
    } else {
        let slot = fold_below(right, &of_right, joined)?;
        right_keys.iter_mut().for_each(|key| make_room(key, slot));
        if let Some(seeks) = seeks {
            weigh_one(&mut seeks.right, slot);
        }
        width + slot
    };
    if let Some(residual) = residual {
        make_room(residual, slot);
    }
    node.types.insert(slot, SqlType::BigInt);
    Some(slot)
}

/// Gives every row of a node the weight 1, in a slot of its own.
fn weigh_one(node: &mut Node, slot: usize) {
    let slots = node.types.iter().enumerate();
    let mut exprs: Vec<Expr> =
        slots.map(|(i, ty)| Expr::new(ExprKind::Slot(i as u32), *ty, true)).collect();
    exprs.insert(slot, Expr::constant(Value::BigInt(1), SqlType::BigInt));
    let types = exprs.iter().map(|e| e.ty).collect();
    let input = Box::new(node.take());
    *node = Node { rows: input.rows, op: Op::Project { input, exprs }, types };
}

/// Puts a fold over a node: a table, or rows of one that were filtered or computed with.
fn fold(node: &mut Node, needed: &[bool], joined: bool) -> Option<usize> {
    if node.rows < ROWS_MIN || !reads_a_table(node, joined) {
        return None;
    }
    let keys: Vec<u32> = (0..needed.len() as u32).filter(|i| needed[*i as usize]).collect();
    if names_each_row(node, &keys) || differs(node, &keys) {
        return None;
    }
    let slot = node.types.len();
    let input = Box::new(node.take());
    let mut types = input.types.clone();
    types.push(SqlType::BigInt);
    *node = Node { rows: (input.rows / 10.0).max(1.0), op: Op::Fold { input, keys }, types };
    Some(slot)
}

fn reads_a_table(node: &Node, joined: bool) -> bool {
    match &node.op {
        Op::Scan(scan) => {
            let plain = !scan.for_update && !scan.locator && scan.database.is_none();
            plain && !scan.table.is_private() && !scan.table.is_memory()
        }
        Op::Filter { input, .. } | Op::Project { input, .. } => {
            joined && reads_a_table(input, true)
        }
        _ => false,
    }
}

/// Whether the slots hold a key of the table, so that no two rows are equal.
fn names_each_row(node: &Node, keys: &[u32]) -> bool {
    matches!(node.op, Op::Scan(_)) && crate::merge::is_unique_by(node, keys)
}

/// Whether what is known of a table's values says that few rows are equal in all of these slots.
fn differs(node: &Node, keys: &[u32]) -> bool {
    let Op::Scan(scan) = &node.op else { return false };
    let mut distinct: Vec<f64> = Vec::new();
    for slot in keys {
        let Some(&column) = scan.columns.get(*slot as usize) else { return false };
        let Some(statistic) = scan.table.statistics.of_column(&scan.table, column) else {
            continue;
        };
        distinct.push(statistic.distinct().max(1.0));
    }
    distinct.sort_by(|a, b| b.total_cmp(a));
    let weigh =
        |(kinds, power): (f64, f64), distinct: f64| (kinds * distinct.powf(power), power / 2.0);
    let (kinds, _) = distinct.into_iter().fold((1.0, 1.0), weigh);
    2.0 * kinds > node.rows
}

/// Reads subqueries, whose parameters are bound from the row as it is.
fn asks(expr: &Expr) -> bool {
    expr.any(&mut |e| matches!(e.kind, ExprKind::SubPlan { .. }))
}

fn mark(expr: &Expr, needed: &mut [bool]) {
    expr.any(&mut |e| {
        if let ExprKind::Slot(i) = e.kind {
            needed[i as usize] = true;
        }
        false
    });
}

/// Slots from `slot` on move up by one.
fn make_room(expr: &mut Expr, slot: usize) {
    if let ExprKind::Slot(i) = &mut expr.kind {
        *i += u32::from(*i as usize >= slot);
        return;
    }
    expr.for_each_child_mut(&mut |child| make_room(child, slot));
}

/// Has inputs of operators that ask for no order read by several branches, where that may pay: what is dear by its
/// estimate, all of it if OPTION (MAXDOP n) names several, and none under MAXDOP 1. Who runs the plan has the last word.
/// `usual` is what a statement without a hint may have: the database's MAXDOP, or 0.
pub(crate) fn gather(node: &mut Node, maxdop: u32, usual: u32) {
    let forced = maxdop & PREFER_PARALLEL != 0;
    let hint = maxdop & !PREFER_PARALLEL;
    let maxdop = if hint > 0 { hint } else { usual };
    if maxdop != 1 {
        gather_below(node, Branches { maxdop, eager: hint > 1, forced });
    }
}

/// What a statement may have of branches.
#[derive(Clone, Copy)]
struct Branches {
    /// 0: as the server is set.
    maxdop: u32,
    /// Also where it is cheap.
    eager: bool,
    forced: bool,
}

impl Branches {
    /// What nested loops with so many left rows may have, if that may pay.
    fn of_loops(
        self,
        kind: PhysicalJoin,
        right: &Node,
        binds: &[(ParamId, Expr)],
        predicate: Option<&Expr>,
        left_rows: f64,
    ) -> Option<Spread> {
        let row_cost = seek_cost(right);
        let pays = self.forced || left_rows * row_cost >= COST_THRESHOLD;
        let may = pays
            && kind != PhysicalJoin::Full
            && !binds.is_empty()
            && binds.iter().map(|(_, bound)| bound).chain(predicate).all(runs_anywhere)
            && joins_anywhere(right);
        may.then_some(Spread { maxdop: self.maxdop, forced: self.forced, row_cost })
    }
}

/// SQL Server's default of 'cost threshold for parallelism'.
const COST_THRESHOLD: f64 = 5.0;

fn gather_below(node: &mut Node, branches: Branches) {
    let any_order = match &node.op {
        Op::HashJoin { .. } | Op::Sort { .. } | Op::TopN { .. } => true,
        Op::Aggregate { group, strategy, .. } => *strategy == AggStrategy::Hash || group.is_empty(),
        // What runs again and again for rows of another input stays as it is, and a left side in its order.
        Op::NestedLoops { .. } | Op::Recursive { .. } | Op::Top { .. } => return,
        _ => false,
    };
    let groups = groups_anywhere(&node.op);
    let adaptive = matches!(node.op, Op::HashJoin { seeks: Some(_), .. });
    spread_seeks(&mut node.op, branches);
    for (i, input) in node.inputs_mut().into_iter().enumerate() {
        // So does what an adaptive join seeks for each row.
        if adaptive && i == 2 {
            break;
        }
        if any_order {
            gather_input(input, groups, branches);
        } else {
            gather_below(input, branches);
        }
    }
}

/// An adaptive join's seeks may have branches.
fn spread_seeks(op: &mut Op, branches: Branches) {
    if let Op::HashJoin { kind, seeks: Some(seeks), .. } = op {
        let Seeks { right, binds, rows_max, spread } = &mut **seeks;
        *spread = branches.of_loops(*kind, right, binds, None, *rows_max);
    }
}

/// The same for an input whose order does not matter; `groups`: the grouping above may be done by branches.
fn gather_input(input: &mut Node, groups: bool, branches: Branches) {
    let Branches { maxdop, eager, forced } = branches;
    if let Op::NestedLoops { kind, left, right, binds, predicate, spool: false, spread } =
        &mut input.op
    {
        *spread = branches.of_loops(*kind, right, binds, predicate.as_ref(), left.rows);
        return gather_input(left, false, branches);
    }
    if !is_pipeline(input) {
        return match &mut input.op {
            Op::Filter { input, .. } | Op::Project { input, .. } => {
                gather_input(input, false, branches)
            }
            _ => gather_below(input, branches),
        };
    }
    let cost = pipeline_cost(input);
    if cost >= COST_THRESHOLD || eager || forced {
        gather_builds(input, branches);
        let (types, rows) = (input.types.clone(), input.rows);
        let below = Box::new(input.take());
        let op = Op::Gather { input: below, maxdop, forced, cost, groups };
        *input = Node { op, types, rows };
    }
}

/// The sides of a pipeline's joins that are built before there are branches, by branches of their own.
fn gather_builds(node: &mut Node, branches: Branches) {
    // It may yet seek, by itself, when its left side has been built.
    spread_seeks(&mut node.op, branches);
    if let Op::HashJoin { kind, left, right, .. } = &mut node.op {
        let (probing, built) = match probes_left(*kind, left.rows, right.rows) {
            true => (left, right),
            false => (right, left),
        };
        gather_input(built, false, branches);
        return gather_builds(probing, branches);
    }
    for input in node.inputs_mut() {
        gather_builds(input, branches);
    }
}

/// A grouping whose parts can be made anywhere and put together.
fn groups_anywhere(op: &Op) -> bool {
    let Op::Aggregate { group, aggs, sets, .. } = op else { return false };
    if sets.as_ref().is_some_and(|sets| !rolls_up(aggs, sets)) {
        return false;
    }
    let plain = aggs.iter().all(|agg| !agg.distinct && agg.func.has_parts());
    plain && group.iter().chain(aggs.iter().filter_map(|agg| agg.arg.as_ref())).all(runs_anywhere)
}

/// Whether all of these grouping sets can be made of the groups of one of them.
pub fn rolls_up(aggs: &[Agg], sets: &[u64]) -> bool {
    let all = sets.iter().fold(0, |all, set| all | set);
    sets.contains(&all) && aggs.iter().all(|agg| !agg.distinct && agg.func.has_parts())
}

/// Which side of a hash join in a pipeline is probed: that with more rows, where either may be built.
pub fn probes_left(kind: PhysicalJoin, left_rows: f64, right_rows: f64) -> bool {
    kind != PhysicalJoin::Inner || left_rows >= right_rows
}

/// A table read, with what can be done to its rows one by one: also to be joined with a side that is built before.
fn is_pipeline(node: &Node) -> bool {
    match &node.op {
        Op::Scan(scan) => {
            reads_anywhere(scan)
                && !scan.reverse
                && (scan.index.is_none() || scan.covering)
                && scan.range.as_ref().is_none_or(|r| r.prefix.is_empty())
        }
        Op::HashJoin { kind, left, right, left_keys, right_keys, residual, seeks } => {
            let (small, large) = match probes_left(*kind, left.rows, right.rows) {
                true => (right.rows, &**left),
                false => (left.rows, &**right),
            };
            // Another way is taken where few rows come, or the other side had better be built.
            let sought = seeks.as_ref().is_some_and(|seeks| left.rows <= seeks.rows_max);
            *kind != PhysicalJoin::Full
                && !sought
                && small <= large.rows
                && left_keys.iter().chain(right_keys).chain(residual).all(runs_anywhere)
                && is_pipeline(large)
        }
        Op::Fold { input, .. } => is_pipeline(input),
        // Groups that lie together: branches get whole ones.
        Op::Aggregate { input, group, aggs, scalar: false, sets: None, strategy, weight: None } => {
            let args = aggs.iter().filter_map(|agg| agg.arg.as_ref());
            *strategy == AggStrategy::Stream
                && aggs.iter().all(|agg| agg.joining.is_none())
                && group.iter().chain(args).all(runs_anywhere)
                && is_grouped_by_first(input, group.iter().filter_map(Expr::as_slot).collect())
                && is_pipeline(input)
        }
        Op::Filter { input, predicate } => runs_anywhere(predicate) && is_pipeline(input),
        Op::Project { input, exprs } => exprs.iter().all(runs_anywhere) && is_pipeline(input),
        _ => false,
    }
}

/// Whether one of these slots is the first column of the key by which the rows come, so that a table that is cut between two
/// of its values is cut between groups.
fn is_grouped_by_first(node: &Node, slots: Vec<u32>) -> bool {
    match &node.op {
        Op::Scan(scan) => {
            let (columns, layout) = match scan.index {
                None => (scan.table.clustered_key(), &scan.table.key_layout),
                Some(at) => {
                    let index = &scan.table.indexes[at];
                    (&index.columns[..], &index.key_layout)
                }
            };
            let shows = |c: &usize| slots.iter().any(|s| scan.columns.get(*s as usize) == Some(c));
            layout.parts().first().is_some_and(KeyPart::has_fixed_bytes)
                && columns.first().is_some_and(|(column, _)| shows(column))
        }
        Op::Filter { input, .. } => is_grouped_by_first(input, slots),
        Op::Project { input, exprs } => {
            let below = slots.iter().filter_map(|slot| exprs.get(*slot as usize)?.as_slot());
            is_grouped_by_first(input, below.collect())
        }
        _ => false,
    }
}

/// A table that any branch may read, by the statement's snapshot.
fn reads_anywhere(scan: &Scan) -> bool {
    !scan.hints.asks_for_locks()
        && !scan.for_update
        && !scan.locator
        && scan.database.is_none()
        && scan.sample.is_none()
        && !scan.table.is_private()
        && !scan.table.is_memory()
        && scan.predicate.as_ref().is_none_or(runs_anywhere)
}

/// The right side of nested loops that any branch may run for its left rows: seeks, and what is done to their rows one by one.
pub fn joins_anywhere(right: &Node) -> bool {
    match &right.op {
        Op::Scan(scan) => {
            reads_anywhere(scan) && scan.range.iter().flat_map(KeyRange::exprs).all(runs_anywhere)
        }
        Op::Filter { input, predicate } => runs_anywhere(predicate) && joins_anywhere(input),
        Op::Project { input, exprs } => exprs.iter().all(runs_anywhere) && joins_anywhere(input),
        Op::NestedLoops { left, right, binds, predicate, spool: false, spread: None, .. } => {
            binds.iter().map(|(_, bound)| bound).chain(predicate).all(runs_anywhere)
                && joins_anywhere(left)
                && joins_anywhere(right)
        }
        Op::Metered { input, .. } => joins_anywhere(input),
        _ => false,
    }
}

/// What one more run of such a side costs.
fn seek_cost(right: &Node) -> f64 {
    match &right.op {
        Op::Scan(scan) => {
            let (rows, bytes) = (scan.rows_read, scan.stored_bytes());
            let pages = match scan.index.is_some() && !scan.covering {
                true => rows * crate::cost::LOOKUP_PAGE,
                false => crate::cost::pages(rows * bytes),
            };
            crate::cost::read(rows, bytes).cpu + pages
        }
        Op::NestedLoops { left, right, .. } => {
            seek_cost(left) + left.rows.max(1.0) * seek_cost(right)
        }
        _ => right.inputs().into_iter().map(seek_cost).sum::<f64>() + crate::cost::pass(right.rows),
    }
}

fn pipeline_cost(node: &Node) -> f64 {
    match &node.op {
        Op::Scan(scan) => crate::cost::read(scan.rows_read, scan.stored_bytes()).total(),
        _ => {
            node.inputs().into_iter().map(pipeline_cost).sum::<f64>() + crate::cost::pass(node.rows)
        }
    }
}

/// Asks neither the session nor another plan, and has the same value wherever it is evaluated.
fn runs_anywhere(expr: &Expr) -> bool {
    !expr.any(&mut |e| match &e.kind {
        ExprKind::SubPlan { .. }
        | ExprKind::Subquery { .. }
        | ExprKind::Sys(_)
        | ExprKind::NextIdentity => true,
        ExprKind::Func { func, .. } => !func.is_parallel_safe(),
        _ => false,
    })
}
