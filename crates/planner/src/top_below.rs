//! The first rows of an order, asked for as far down as they can be.
//!
//! ```text
//! top n by k of (f(v) as w, k of t)      -->   f(v) as w, k of (top n by k of t)
//! top n by k of (a union all b)          -->   top n by k of (top n by k of a union all top n by k of b)
//! ```
//!
//! So each table is read in the order if it can be, and what is computed is computed of the rows that are shown.
//!
//! Promise: the same rows in the same order; of rows that are equal in the order any may be first, as TOP has it.

use ir::*;

use crate::columns::{is_movable, of_input, substitute};

/// A TOP of more rows is taken for one of all.
pub(crate) const FIRST_ROWS_MAX: i64 = 10_000;

/// A TOP of an order, with what can be asked further down asked there.
pub(crate) fn top_below(input: Rel, count: &Expr) -> Rel {
    match input {
        Rel::Sort { input, keys } if is_few(count) => {
            let input = Box::new(each_first(*input, &keys, count));
            Rel::Sort { input, keys }
        }
        input => input,
    }
}

/// A number that is a constant, and no large one, or the same each time it is asked for.
fn is_few(count: &Expr) -> bool {
    match &count.kind {
        ExprKind::Const(n) => n.as_i64().is_some_and(|n| n <= FIRST_ROWS_MAX),
        _ => is_movable(count),
    }
}

/// A tree that is sorted by columns which were there before others were computed, without what computes them, and that: it may
/// be done afterwards.
pub(crate) fn computed_above(input: Rel) -> (Rel, Option<Vec<(ColId, Expr)>>) {
    let Rel::Sort { input, keys } = input else { return (input, None) };
    let Rel::Project { input, exprs } = *input else { return (Rel::Sort { input, keys }, None) };
    match over(&keys, &exprs) {
        Some(keys) => (Rel::Sort { input, keys }, Some(exprs)),
        None => (Rel::Sort { input: Box::new(Rel::Project { input, exprs }), keys }, None),
    }
}

/// Keys over the columns that a projection hands on; None where one is computed.
fn over(keys: &[SortKey], exprs: &[(ColId, Expr)]) -> Option<Vec<SortKey>> {
    let of = |key: &SortKey| {
        let ExprKind::Col(id) = key.expr.kind else { return None };
        let (_, e) = exprs.iter().find(|(own, _)| *own == id)?;
        let handed_on = matches!(e.kind, ExprKind::Col(_));
        handed_on.then(|| SortKey { expr: e.clone(), desc: key.desc })
    };
    keys.iter().map(of).collect()
}

/// Each input of a UNION ALL, below filters and projections, with no more than its first rows.
fn each_first(rel: Rel, keys: &[SortKey], count: &Expr) -> Rel {
    match rel {
        Rel::Project { input, exprs } => match over(keys, &exprs) {
            Some(keys) => {
                let input = Box::new(each_first(*input, &keys, count));
                Rel::Project { input, exprs }
            }
            None => Rel::Project { input, exprs },
        },
        Rel::Filter { input, predicate } if is_union(&input) && is_movable(&predicate) => {
            each_first(filtered(*input, predicate), keys, count)
        }
        rel @ Rel::SetOp { op: SetOp::UnionAll, .. } => {
            each_input(rel, |input, columns, own| match of_side(keys, columns, own) {
                Some(keys) => first_by(input, keys, count.clone()),
                None => input,
            })
        }
        rel => rel,
    }
}

/// Whether several inputs are put together below projections of what may be computed elsewhere, so that a predicate is
/// brought to each of them.
pub(crate) fn is_union(rel: &Rel) -> bool {
    match rel {
        Rel::SetOp { op: SetOp::UnionAll, .. } => true,
        Rel::Project { input, exprs } => {
            exprs.iter().all(|(_, e)| is_movable(e)) && is_union(input)
        }
        _ => false,
    }
}

/// A predicate asked below projections, and of each input of a UNION ALL.
pub(crate) fn filtered(rel: Rel, mut predicate: Expr) -> Rel {
    match rel {
        Rel::Project { input, exprs } if exprs.iter().all(|(_, e)| is_movable(e)) => {
            substitute(&exprs, &mut predicate);
            Rel::Project { input: Box::new(filtered(*input, predicate)), exprs }
        }
        rel @ Rel::SetOp { .. } => each_input(rel, |input, columns, own| {
            let asked = of_input(std::slice::from_ref(&predicate), columns, &input, own);
            asked.into_iter().fold(input, filtered)
        }),
        rel => Rel::Filter { input: Box::new(rel), predicate },
    }
}

/// A set operation whose inputs become others of the same columns; `with` gets each, the columns of the result and its own.
fn each_input(rel: Rel, mut with: impl FnMut(Rel, &[ColId], &[ColId]) -> Rel) -> Rel {
    let Rel::SetOp { op, left, left_columns, right, right_columns, columns, step } = rel else {
        return rel;
    };
    let left = Box::new(with(*left, &columns, &left_columns));
    let right = Box::new(with(*right, &columns, &right_columns));
    Rel::SetOp { op, left, left_columns, right, right_columns, columns, step }
}

/// So many rows of an order.
pub(crate) fn first_by(input: Rel, keys: Vec<SortKey>, count: Expr) -> Rel {
    let input = Box::new(Rel::Sort { input: Box::new(input), keys });
    Rel::Top { input, count, percent: false, ties: None }
}

/// Keys over the columns of one input.
fn of_side(keys: &[SortKey], columns: &[ColId], own: &[ColId]) -> Option<Vec<SortKey>> {
    let of = |key: &SortKey| {
        let ExprKind::Col(id) = key.expr.kind else { return None };
        let at = columns.iter().position(|column| *column == id)?;
        let expr = Expr::col(own[at], key.expr.ty, key.expr.nullable);
        Some(SortKey { expr, desc: key.desc })
    };
    keys.iter().map(of).collect()
}
