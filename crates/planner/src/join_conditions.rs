//! What a condition means to a join: the side that it belongs to, the equality that it is, whether it keeps rows of NULLs out.

use ir::*;
use types::SqlType;

use crate::behind::tables_behind;
use crate::columns::{Needed, has_subquery};
use crate::fold::{all_of, conjuncts};

/// SQL Server's and ours: the digits that a decimal may have.
const DECIMAL_DIGITS_MAX: u8 = 38;

/// Takes conditions on outer columns out of the filters of a subquery whose rows, and columns, are
/// those of a FROM clause; projections in between only choose columns and go.
pub(crate) fn pull_up(rel: &mut Rel, outer: &Needed, conditions: &mut Vec<Expr>) {
    pull_up_from(rel, outer, conditions, true);
}

/// The same; `unread`: nobody above reads what is constant.
fn pull_up_from(rel: &mut Rel, outer: &Needed, conditions: &mut Vec<Expr>, unread: bool) {
    match rel {
        Rel::Project { input, exprs } => {
            let plain = exprs
                .iter()
                .all(|(id, e)| e.kind == ExprKind::Col(*id) || unread && e.is_constant());
            let needed: Vec<ColId> = {
                let mut ids = Vec::new();
                conditions.iter().for_each(|c| c.columns(&mut ids));
                ids
            };
            let computed =
                exprs.iter().any(|(id, e)| needed.contains(id) && e.kind != ExprKind::Col(*id));
            if plain && !computed {
                *rel = std::mem::replace(&mut **input, Rel::OneRow);
                pull_up_from(rel, outer, conditions, false);
            }
        }
        Rel::Filter { input, predicate } => {
            let mut all = Vec::new();
            conjuncts(predicate.clone(), &mut all);
            let (up, stay): (Vec<Expr>, Vec<Expr>) = all.into_iter().partition(|p| {
                let mut ids = Vec::new();
                p.columns(&mut ids);
                ids.iter().any(|id| outer.contains(id)) && !has_subquery(p)
            });
            conditions.extend(up);
            let below = std::mem::replace(&mut **input, Rel::OneRow);
            *rel = match all_of(stay) {
                Some(predicate) => Rel::Filter { input: Box::new(below), predicate },
                None => below,
            };
            match rel {
                Rel::Filter { input, .. } => pull_up_from(input, outer, conditions, false),
                rel => pull_up_from(rel, outer, conditions, false),
            }
        }
        _ => {}
    }
}

pub(crate) enum Side {
    Left,
    Right,
    Both,
    Neither,
}

pub(crate) fn side(pred: &Expr, left: &Needed, right: &Needed) -> Side {
    let mut ids = Vec::new();
    pred.columns(&mut ids);
    let on_left = ids.iter().any(|id| left.contains(id));
    let on_right = ids.iter().any(|id| right.contains(id));
    match (on_left, on_right) {
        (true, true) => Side::Both,
        (true, false) => Side::Left,
        (false, true) => Side::Right,
        (false, false) => Side::Neither,
    }
}

/// `left expression = right expression`, each side reading one input only.
pub(crate) fn equality(pred: &Expr, left: &[ColId], right: &[ColId]) -> Option<(Expr, Expr)> {
    let ExprKind::Compare { op: CompareOp::Eq, left: a, right: b } = &pred.kind else {
        return None;
    };
    let reads = |e: &Expr, cols: &[ColId]| {
        let mut ids = Vec::new();
        e.columns(&mut ids);
        let plain = !has_subquery(e);
        plain && !ids.is_empty() && ids.iter().all(|id| cols.contains(id))
    };
    if reads(a, left) && reads(b, right) {
        return Some(((**a).clone(), (**b).clone()));
    }
    if reads(b, left) && reads(a, right) {
        return Some(((**b).clone(), (**a).clone()));
    }
    None
}

/// Both sides of an equality so that equal values have equal bytes: decimals are brought to one precision and scale.
/// None where 38 digits do not hold both.
pub(crate) fn of_one_form(left: Expr, right: Expr) -> Option<(Expr, Expr)> {
    let (
        SqlType::Decimal { precision: p1, scale: s1, .. },
        SqlType::Decimal { precision: p2, scale: s2, .. },
    ) = (left.ty, right.ty)
    else {
        return Some((left, right));
    };
    let scale = s1.max(s2);
    let precision = (p1 - s1).max(p2 - s2) + scale;
    if precision > DECIMAL_DIGITS_MAX {
        return None;
    }
    let ty = SqlType::decimal(precision, scale);
    let cast = |e: Expr| {
        if e.ty.has_values_of(ty) {
            return e;
        }
        let nullable = e.nullable;
        let kind = ExprKind::Cast { input: Box::new(e), mode: CastMode::Implicit, style: None };
        Expr::new(kind, ty, nullable)
    };
    Some((cast(left), cast(right)))
}

/// Would the predicates give the beginning of a key of the right side, were the left row at hand?
pub(crate) fn gives_key(
    right: &Rel,
    to_right: &[Expr],
    conditions: &[Expr],
    or_bounds: bool,
) -> bool {
    let tables = tables_behind(right, to_right.to_vec(), conditions.to_vec());
    tables.is_some_and(|tables| tables.iter().all(|table| table.is_sought(or_bounds)))
}

/// Is the predicate never true when all columns of the right side are NULL?
pub(crate) fn rejects_nulls(pred: &Expr, right: &Needed) -> bool {
    fn strict(e: &Expr, right: &Needed) -> bool {
        match &e.kind {
            ExprKind::Col(id) => right.contains(id),
            ExprKind::Cast { input, .. } | ExprKind::Neg(input) => strict(input, right),
            ExprKind::Arith { left, right: r, .. } => strict(left, right) || strict(r, right),
            _ => false,
        }
    }
    match &pred.kind {
        ExprKind::Compare { left, right: r, .. } => strict(left, right) || strict(r, right),
        ExprKind::IsNull { input, negated: true } => strict(input, right),
        ExprKind::Like { input, negated: false, .. } => strict(input, right),
        ExprKind::In { input, negated: false, .. } => strict(input, right),
        ExprKind::And(a, b) => rejects_nulls(a, right) || rejects_nulls(b, right),
        ExprKind::Or(a, b) => rejects_nulls(a, right) && rejects_nulls(b, right),
        _ => false,
    }
}
