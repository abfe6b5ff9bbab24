//! Constants folded, and predicates brought into the shapes that access paths look for.
//!
//! What fails while being folded (an overflow, a division by zero) is left as it is: the error
//! belongs to the run, and only if the run gets there.

use std::cmp::Ordering;

use ir::{ArithOp, CastMode, CompareOp, Expr, ExprKind, FuncId};
use types::{SqlType, Value, arith, compare, convert, datetime};

/// Folds bottom-up, subqueries' own expressions included.
pub(crate) fn fold(expr: &mut Expr) {
    if let ExprKind::Subquery { query, .. } = &mut expr.kind {
        query.rel.walk_exprs_mut(&mut fold);
    }
    expr.for_each_child_mut(&mut fold);
    if joined(expr) || chosen(expr) {
        return;
    }
    if let Some(mut new) = simpler(expr) {
        // A typed tree stays typed: the replacement has the node's type.
        if matches!(new.kind, ExprKind::Const(_)) {
            new.ty = expr.ty;
        }
        *expr = new;
    }
}

/// AND and OR with a side that is known: the other one is taken as it is, for it may be a long chain.
fn joined(expr: &mut Expr) -> bool {
    let (left, right, neutral) = match &mut expr.kind {
        ExprKind::And(left, right) => (left, right, true),
        ExprKind::Or(left, right) => (left, right, false),
        _ => return false,
    };
    let kept = match (truth(left), truth(right)) {
        (Some(Some(known)), _) | (_, Some(Some(known))) if known != neutral => boolean(Some(known)),
        (Some(Some(_)), _) => std::mem::replace(&mut **right, boolean(None)),
        (_, Some(Some(_))) => std::mem::replace(&mut **left, boolean(None)),
        (Some(None), Some(None)) => boolean(None),
        _ => return true,
    };
    *expr = kept;
    true
}

/// CASE: branches that can never be chosen go; one that always is ends the list. What stays is taken as it is, for it may
/// be long and nested.
fn chosen(expr: &mut Expr) -> bool {
    let ExprKind::Case { branches, otherwise } = &mut expr.kind else { return false };
    if branches.iter().all(|(when, _)| truth(when).is_none()) {
        return true;
    }
    let mut kept = Vec::with_capacity(branches.len());
    for (when, then) in std::mem::take(branches) {
        match truth(&when) {
            Some(Some(true)) => {
                *otherwise = Some(Box::new(then));
                break;
            }
            Some(_) => {}
            None => kept.push((when, then)),
        }
    }
    if !kept.is_empty() {
        *branches = kept;
        return true;
    }
    let mut last = match otherwise.take() {
        Some(last) => *last,
        None => Expr::constant(Value::Null, expr.ty),
    };
    if matches!(last.kind, ExprKind::Const(_)) {
        last.ty = expr.ty;
    }
    *expr = last;
    true
}

pub(crate) fn boolean(value: Option<bool>) -> Expr {
    Expr::constant(value.map_or(Value::Null, Value::Bit), SqlType::Bit)
}

/// TRUE, FALSE or UNKNOWN, when the predicate is constant.
pub(crate) fn truth(expr: &Expr) -> Option<Option<bool>> {
    match &expr.kind {
        ExprKind::Const(Value::Null) => Some(None),
        ExprKind::Const(Value::Bit(b)) => Some(Some(*b)),
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<&Value> {
    match &expr.kind {
        ExprKind::Const(value) => Some(value),
        _ => None,
    }
}

fn simpler(expr: &Expr) -> Option<Expr> {
    match &expr.kind {
        ExprKind::Neg(input) => {
            let value = arith::neg(constant(input)?).ok()?;
            Some(Expr::constant(value, expr.ty))
        }
        ExprKind::Arith { op, left, right } => fold_arith(*op, left, right, expr.ty),
        ExprKind::Concat { left, right } => {
            let (a, b) = (constant(left)?, constant(right)?);
            Some(Expr::constant(arith::concat(a, b, expr.ty)?, expr.ty))
        }
        ExprKind::Compare { op, left, right } => {
            if let (Some(a), Some(b)) = (constant(left), constant(right)) {
                return Some(boolean(compare::compare(a, b).map(|o| holds(*op, o))));
            }
            if constant(left).is_some_and(Value::is_null)
                || constant(right).is_some_and(Value::is_null)
            {
                return Some(boolean(None));
            }
            // A constant stands on the right.
            if constant(left).is_some() {
                return Some(Expr::compare(op.flip(), (**right).clone(), (**left).clone()));
            }
            uncast_compare(*op, left, right)
        }
        ExprKind::Not(input) => match (truth(input), &input.kind) {
            (Some(value), _) => Some(boolean(value.map(|b| !b))),
            (None, ExprKind::Not(inner)) => Some((**inner).clone()),
            (None, ExprKind::Compare { op, left, right }) => {
                let op = match op {
                    CompareOp::Eq => CompareOp::Ne,
                    CompareOp::Ne => CompareOp::Eq,
                    CompareOp::Lt => CompareOp::Ge,
                    CompareOp::Le => CompareOp::Gt,
                    CompareOp::Gt => CompareOp::Le,
                    CompareOp::Ge => CompareOp::Lt,
                };
                Some(Expr::compare(op, (**left).clone(), (**right).clone()))
            }
            (None, ExprKind::IsNull { input, negated }) => {
                Some(Expr::is_null((**input).clone(), !negated))
            }
            _ => None,
        },
        ExprKind::IsNull { input, negated } => match constant(input) {
            Some(value) => Some(boolean(Some(value.is_null() != *negated))),
            None if !input.nullable && input.is_constant() => Some(boolean(Some(*negated))),
            None => None,
        },
        ExprKind::Cast { input, mode, style } => fold_cast(input, *mode, *style, expr.ty),
        ExprKind::In { input, list, negated } => {
            let needle = constant(input)?;
            let mut found = Some(false);
            for item in list {
                match compare::compare(needle, constant(item)?) {
                    Some(Ordering::Equal) => {
                        found = Some(true);
                        break;
                    }
                    Some(_) => {}
                    None => found = None,
                }
            }
            Some(boolean(found.map(|b| b != *negated)))
        }
        ExprKind::Func { func: FuncId::DateAdd(part), args } => {
            let (n, date) = (constant(&args[0])?.as_i64()?, constant(&args[1])?);
            let value = datetime::dateadd(*part, n, date, args[1].ty).ok()?;
            Some(Expr::constant(value, expr.ty))
        }
        ExprKind::Func { func: FuncId::IsNull, args } => match constant(&args[0]) {
            Some(value) if value.is_null() => Some(args[1].clone()),
            Some(value) => Some(Expr::constant(value.clone(), expr.ty)),
            None => None,
        },
        _ => None,
    }
}

pub(crate) fn holds(op: CompareOp, ordering: Ordering) -> bool {
    match op {
        CompareOp::Eq => ordering.is_eq(),
        CompareOp::Ne => ordering.is_ne(),
        CompareOp::Lt => ordering.is_lt(),
        CompareOp::Le => ordering.is_le(),
        CompareOp::Gt => ordering.is_gt(),
        CompareOp::Ge => ordering.is_ge(),
    }
}

fn fold_arith(op: ArithOp, left: &Expr, right: &Expr, ty: SqlType) -> Option<Expr> {
    let (a, b) = (constant(left)?, constant(right)?);
    if a.is_null() || b.is_null() {
        return Some(Expr::constant(Value::Null, ty));
    }
    let value = arith::binary(op, a, left.ty, b, right.ty).ok()?;
    Some(Expr::constant(value, ty))
}

fn fold_cast(input: &Expr, mode: CastMode, style: Option<i32>, ty: SqlType) -> Option<Expr> {
    if input.ty == ty && style.is_none() {
        return Some(input.clone());
    }
    let value = constant(input)?;
    if value.is_null() {
        return Some(Expr::constant(Value::Null, ty));
    }
    // What a date means may depend on the session that reads it.
    if let Value::Str(text) = value
        && ty.is_temporal()
        && !convert::is_plain_date(text)
    {
        return None;
    }
    // Likewise what months are called.
    if input.ty.is_temporal() && ty.is_character() || input.ty == SqlType::Variant {
        return None;
    }
    let result = match mode {
        CastMode::Store { .. } => convert::assign(value, input.ty, ty),
        CastMode::Nearest => convert::nearest(value, input.ty, ty),
        CastMode::Latest => convert::latest(value, ty),
        _ => convert::cast(value, input.ty, ty, style.unwrap_or(0)),
    };
    match (result, mode) {
        (Ok(value), _) => Some(Expr::constant(value, ty)),
        (Err(_), CastMode::Try) => Some(Expr::constant(Value::Null, ty)),
        (Err(_), _) => None,
    }
}

/// `CAST(column AS wider) op constant` compared in the column's own type, when the constant has an
/// exact counterpart there: only then can the key be sought.
fn uncast_compare(op: CompareOp, left: &Expr, right: &Expr) -> Option<Expr> {
    let ExprKind::Cast { input, mode: CastMode::Implicit, style: None } = &left.kind else {
        return None;
    };
    let value = constant(right)?;
    if !input.ty.is_integer() || input.ty == SqlType::Bit || !widens(input.ty, left.ty) {
        return None;
    }
    let narrow = convert::cast(value, right.ty, input.ty, 0).ok()?;
    let back = convert::cast(&narrow, input.ty, right.ty, 0).ok()?;
    if compare::compare(&back, value) != Some(Ordering::Equal) {
        return None;
    }
    let narrow = Expr::constant(narrow, input.ty);
    Some(Expr::compare(op, (**input).clone(), narrow))
}

/// Every value of `from` has one counterpart in `to`, in the same order.
pub(crate) fn widens(from: SqlType, to: SqlType) -> bool {
    if !from.is_integer() {
        return false;
    }
    match (from.as_decimal(), to) {
        (Some((digits, _)), SqlType::Decimal { precision, scale, .. }) => {
            precision - scale >= digits
        }
        (Some((digits, _)), _) if to.is_integer() => {
            to.as_decimal().is_some_and(|(wide, _)| wide >= digits)
        }
        _ => false,
    }
}

/// Splits a predicate at its ANDs.
pub(crate) fn conjuncts(expr: Expr, out: &mut Vec<Expr>) {
    match expr.kind {
        ExprKind::And(left, right) => {
            conjuncts(*left, out);
            conjuncts(*right, out);
        }
        ExprKind::Const(Value::Bit(true)) => {}
        _ => out.push(expr),
    }
}

pub(crate) fn all_of(preds: Vec<Expr>) -> Option<Expr> {
    Expr::all(preds)
}
