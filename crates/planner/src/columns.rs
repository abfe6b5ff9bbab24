//! Columns of trees and expressions: which are read, of what type, which are constant.

use std::collections::{HashMap, HashSet};

use ir::*;
use types::SqlType;

use crate::fold::{conjuncts, fold};
use crate::slots::Slots;

/// Columns somebody needs.
pub(crate) type Needed = HashSet<ColId>;

/// `needed` and everything the expressions read.
pub(crate) fn with_exprs<'e>(needed: &Needed, exprs: impl Iterator<Item = &'e Expr>) -> Needed {
    let mut out = needed.clone();
    let mut ids = Vec::new();
    for e in exprs {
        e.columns(&mut ids);
    }
    out.extend(ids);
    out
}

/// Types of the columns a tree yields.
pub(crate) fn column_types(rel: &Rel) -> Vec<(ColId, SqlType)> {
    match rel {
        Rel::OneRow => Vec::new(),
        Rel::Get(get) => {
            let columns = get.table.columns.iter();
            let mut out: Vec<(ColId, SqlType)> =
                get.columns.iter().copied().zip(columns.map(|c| c.ty)).collect();
            out.extend(get.locator.map(|id| (id, LOCATOR)));
            out
        }
        Rel::System { view, columns, .. } => {
            columns.iter().copied().zip(view.columns.iter().map(|c| c.ty)).collect()
        }
        Rel::Values { rows, columns } => columns
            .iter()
            .enumerate()
            .map(|(i, id)| (*id, rows.first().map_or(SqlType::Int, |row| row[i].ty)))
            .collect(),
        Rel::Project { exprs, .. } => exprs.iter().map(|(id, e)| (*id, e.ty)).collect(),
        Rel::Aggregate { group, aggs, sets, .. } => group
            .iter()
            .map(|(id, e)| (*id, e.ty))
            .chain(aggs.iter().map(|a| (a.out, a.ty)))
            .chain(sets.as_ref().map(|s| (s.mask, SqlType::BigInt)))
            .collect(),
        Rel::Function { columns, .. } => columns.clone(),
        Rel::Window { input, windows } => {
            let mut out = column_types(input);
            out.extend(windows.iter().map(|w| (w.out, w.ty)));
            out
        }
        Rel::Serialize { out, spec, .. } => vec![(*out, spec.ty())],
        Rel::SetOp { left, left_columns, columns, .. }
        | Rel::Recursive { anchor: left, anchor_columns: left_columns, columns, .. } => {
            let types = types_of(column_types(left));
            let of = |id| types.get(id).copied().unwrap_or(SqlType::Int);
            columns.iter().zip(left_columns).map(|(id, left)| (*id, of(left))).collect()
        }
        _ => rel.inputs().into_iter().flat_map(column_types).collect(),
    }
}

/// The type of a locator's slot.
pub(crate) const LOCATOR: SqlType = SqlType::VarBinary(types::Len::N(900));

/// Columns' types by column; of one that is there twice, the first.
pub(crate) fn types_of(columns: Vec<(ColId, SqlType)>) -> HashMap<ColId, SqlType> {
    columns.into_iter().rev().collect()
}

/// May be computed elsewhere, and twice.
pub(crate) fn is_movable(e: &Expr) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Subquery { .. } => true,
        ExprKind::Func { func, .. } => func.is_per_row(),
        _ => false,
    })
}

/// May be computed, or asked, after other tables have been met, or once more: nobody's own function sees to it.
pub(crate) fn may_wait(e: &Expr) -> bool {
    is_movable(e) && !e.calls_users()
}

/// What stands below filters, whose predicates go to `preds`.
pub(crate) fn below_filters<'r>(mut rel: &'r Rel, preds: &mut Vec<Expr>) -> &'r Rel {
    while let Rel::Filter { input, predicate } = rel {
        conjuncts(predicate.clone(), preds);
        rel = input;
    }
    rel
}

/// Puts what makes columns in their place. What is handed on as it is keeps what is said of it there.
pub(crate) fn substitute(made: &[(ColId, Expr)], e: &mut Expr) {
    let of = |id: ColId| {
        let (_, e) = made.iter().find(|(own, _)| *own == id)?;
        (e.kind != ExprKind::Col(id)).then(|| e.clone())
    };
    if !made.is_empty() {
        e.replace_columns(&mut { of });
    }
}

/// What is asked of the columns of UNION and the like, as it is asked of one of the inputs, whose columns are `own`.
pub(crate) fn of_input(preds: &[Expr], columns: &[ColId], input: &Rel, own: &[ColId]) -> Vec<Expr> {
    if preds.is_empty() {
        return Vec::new();
    }
    let mut slots = Slots::new(columns);
    let types = types_of(column_types(input));
    let of = |pred: &Expr| {
        let mut pred = pred.clone();
        pred.replace_columns(&mut |id| {
            let at = slots.of(id)?;
            let ty = types.get(&own[at]).copied().unwrap_or(SqlType::Int);
            Some(Expr::col(own[at], ty, true))
        });
        pred
    };
    preds.iter().map(of).collect()
}

/// Whether a subquery is asked in it.
pub(crate) fn has_subquery(e: &Expr) -> bool {
    e.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. }))
}

/// The same for all rows of a run: reads no column (`ORDER BY (SELECT NULL)` too).
pub(crate) fn is_free_of_rows(e: &Expr) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Col(_) | ExprKind::Slot(_) => true,
        ExprKind::Func { func, .. } => func.is_per_row(),
        _ => false,
    })
}

/// Columns that are the same constant wherever they are seen, replaced by it. Not below the side of
/// an outer join that may be NULL.
pub(crate) fn inline_constants(rel: &mut Rel) {
    let mut known: HashMap<ColId, Expr> = HashMap::new();
    loop {
        let before = known.len();
        collect_constants(rel, &mut known);
        if known.len() == before {
            return;
        }
        rel.walk_exprs_mut(&mut |e| {
            e.replace_columns(&mut |id| known.get(&id).cloned());
            fold(e);
        });
    }
}

fn collect_constants(rel: &Rel, known: &mut HashMap<ColId, Expr>) {
    if let Rel::Project { exprs, .. } = rel {
        for (id, e) in exprs {
            if matches!(e.kind, ExprKind::Const(_)) {
                known.entry(*id).or_insert_with(|| e.clone());
            }
        }
    }
    rel.own_exprs(&mut |e| constants_of(e, known));
    match rel {
        Rel::Join { kind: JoinKind::Left, left, .. } => collect_constants(left, known),
        Rel::Join { kind: JoinKind::Right, right, .. } => collect_constants(right, known),
        Rel::Join { kind: JoinKind::Full, .. } => {}
        Rel::Apply { outer: true, left, .. } => collect_constants(left, known),
        // The sides of a set operation carry their columns by id: leave them be.
        Rel::SetOp { .. } | Rel::Recursive { .. } => {}
        _ => rel.inputs().into_iter().for_each(|input| collect_constants(input, known)),
    }
}

/// Those of subqueries.
fn constants_of(e: &Expr, known: &mut HashMap<ColId, Expr>) {
    if let ExprKind::Subquery { query, .. } = &e.kind {
        collect_constants(&query.rel, known);
    }
    e.for_each_child(&mut |child| constants_of(child, known));
}
