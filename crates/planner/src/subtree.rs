//! What methods of a tree's nodes say of the column that they are asked of: a subtree's nodes are neighbours in their
//! order, so that they are a range.
//!
//! ```text
//! c.IsDescendantOf(p) = 1   -->   c >= p and c <= p.DescendantLimit()
//! c.GetAncestor(n) = p      -->   the same
//! ```
//!
//! Both are true wherever what they come from is, and no more is promised: the method is still asked.

use ir::*;
use types::clr::{MethodId, Tells};
use types::{SqlType, Value};

/// The range that a predicate implies for a column.
pub(crate) fn range(pred: &Expr) -> Option<[Expr; 2]> {
    let ExprKind::Compare { op: CompareOp::Eq, left, right } = &pred.kind else { return None };
    within(left, right).or_else(|| within(right, left))
}

fn within(asked: &Expr, other: &Expr) -> Option<[Expr; 2]> {
    let mut asked = asked;
    while let ExprKind::Cast { input, .. } = &asked.kind {
        asked = input;
    }
    let ExprKind::Func { func: FuncId::Clr(method), args } = &asked.kind else { return None };
    let [node, argument] = args.as_slice() else { return None };
    let top = match method.row().tells {
        Tells::WithinArgument if is_one(other) => argument,
        Tells::WithinResult => other,
        _ => return None,
    };
    let SqlType::Clr(ty) = node.ty else { return None };
    if !matches!(node.kind, ExprKind::Col(_)) || top.ty != node.ty || !is_plain(top) {
        return None;
    }
    let limit = FuncId::Clr(MethodId::limit(ty)?);
    let limit = Expr::new(ExprKind::Func { func: limit, args: vec![top.clone()] }, top.ty, true);
    Some([
        Expr::compare(CompareOp::Ge, node.clone(), top.clone()),
        Expr::compare(CompareOp::Le, node.clone(), limit),
    ])
}

fn is_one(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(Value::Bit(one)) => *one,
        ExprKind::Const(value) => value.as_i64() == Some(1),
        _ => false,
    }
}

/// The same each time, and soon found.
fn is_plain(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Col(_) | ExprKind::Const(_) | ExprKind::Var(_) => true,
        ExprKind::Cast { input, .. } => is_plain(input),
        ExprKind::Func { func: FuncId::Clr(_), args } => args.iter().all(is_plain),
        _ => false,
    }
}
