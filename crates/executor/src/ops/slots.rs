//! Which slots of an operator's rows anybody above reads, so that a join need not copy the others.
//!
//! Promise: what is not marked is read by nobody; such a slot may hold NULL. Whoever is not sure marks all.

use ir::{Expr, ExprKind};
use planner::{Agg, Node, Op};

/// Marks the slots that an expression reads. One with a subquery reads any: its parameters are bound from the row.
pub(super) fn mark(expr: &Expr, needed: &mut [bool]) {
    if expr.any(&mut |e| matches!(e.kind, ExprKind::SubPlan { .. })) {
        needed.fill(true);
        return;
    }
    expr.any(&mut |e| {
        if let ExprKind::Slot(i) = e.kind
            && let Some(slot) = needed.get_mut(i as usize)
        {
            *slot = true;
        }
        false
    });
}

/// What a grouping reads of its input of so many slots.
pub(super) fn of_grouping(
    group: &[Expr],
    aggs: &[Agg],
    weight: Option<u32>,
    width: usize,
) -> Vec<bool> {
    let mut needed = of_exprs(group.iter(), width);
    for agg in aggs {
        if let Some(arg) = &agg.arg {
            mark(arg, &mut needed);
        }
        if let Some(joining) = &agg.joining {
            joining.order.iter().for_each(|key| mark(&key.expr, &mut needed));
        }
    }
    if let Some(weight) = weight {
        needed[weight as usize] = true;
    }
    needed
}

/// What these expressions read.
pub(super) fn of_exprs<'e>(exprs: impl Iterator<Item = &'e Expr>, width: usize) -> Vec<bool> {
    let mut needed = vec![false; width];
    exprs.for_each(|expr| mark(expr, &mut needed));
    needed
}

/// What is needed of the sides of a hash join, `needed` being what is needed of its rows.
pub(super) fn of_sides(join: &Node, needed: &[bool]) -> (Vec<bool>, Vec<bool>) {
    let Op::HashJoin { left, right, left_keys, right_keys, residual, seeks, .. } = &join.op else {
        return (Vec::new(), Vec::new());
    };
    let width = left.types.len();
    let mut all = needed.to_vec();
    all.resize(width + right.types.len(), false);
    if let Some(residual) = residual {
        mark(residual, &mut all);
    }
    let mut of_right = all.split_off(width);
    left_keys.iter().for_each(|key| mark(key, &mut all));
    if let Some(seeks) = seeks {
        seeks.binds.iter().for_each(|(_, bound)| mark(bound, &mut all));
    }
    right_keys.iter().for_each(|key| mark(key, &mut of_right));
    (all, of_right)
}
