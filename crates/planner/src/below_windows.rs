//! What predicates over window functions ask of the rows below them: whole partitions that nobody wants are never read, and of
//! rows that are numbered only the first.
//!
//! ```text
//! (.. rank() over (partition by c order by d) .. t) where c = 5      -->   (.. t where c = 5)
//! (.. row_number() over (order by d) as n .. t) where n <= 20        -->   (.. top 20 of t order by d) where n <= 20
//! ```
//!
//! Promise: the same rows. A predicate on numbers is asked again above; pages of rows by number are what many tools send.

use ir::*;
use types::{SqlType, Value};

use crate::columns::{is_free_of_rows, is_movable};

/// Takes out of `preds` those over columns that every window is partitioned by: they leave whole partitions out.
pub(crate) fn of_partitions(windows: &[Window], preds: &mut Vec<Expr>) -> Vec<Expr> {
    let parts_all = |id: &ColId| {
        let by = |w: &Window| w.partition.iter().any(|e| e.kind == ExprKind::Col(*id));
        !windows.is_empty() && windows.iter().all(by)
    };
    let leaves_partitions = |pred: &Expr| {
        let mut read = Vec::new();
        pred.columns(&mut read);
        !read.is_empty() && read.iter().all(parts_all) && is_of_values(pred)
    };
    let (below, above) = std::mem::take(preds).into_iter().partition(leaves_partitions);
    *preds = above;
    below
}

/// Whether a predicate on what rows are grouped by holds of all rows of a group, or of none, as far as can be seen of it.
pub(crate) fn is_of_groups(pred: &Expr) -> bool {
    let reads_text = pred.any(&mut |e| matches!(e.kind, ExprKind::Col(_)) && e.ty.is_character());
    !reads_text
        || is_of_values(pred)
        || match &pred.kind {
            ExprKind::IsNull { input, .. } => matches!(input.kind, ExprKind::Col(_)),
            ExprKind::In { input, list, .. } => {
                let is_value = |e: &Expr| is_free_of_rows(e) && is_movable(e) && !collates(e);
                matches!(input.kind, ExprKind::Col(_)) && list.iter().all(is_value)
            }
            // A beginning that ends in no blank is that of all texts that are equal, or of none.
            ExprKind::Like { input, pattern, escape: None, .. } => {
                let begins = |e: &Expr| match &e.kind {
                    ExprKind::Const(Value::Str(text)) => {
                        text.as_str().strip_suffix('%').is_some_and(|begin| {
                            !begin.is_empty()
                                && !begin.ends_with([' '])
                                && !begin.contains(['%', '_', '['])
                        })
                    }
                    _ => false,
                };
                matches!(input.kind, ExprKind::Col(_)) && begins(pattern)
            }
            ExprKind::Or(left, right) => is_of_groups(left) && is_of_groups(right),
            _ => false,
        }
}

/// Whether a collation is named in it.
fn collates(e: &Expr) -> bool {
    e.any(&mut |e| matches!(e.kind, ExprKind::Func { func: FuncId::Collate(_), .. }))
}

/// Whether a predicate holds of all values that are equal, or of none: it compares a column as the column compares. A text is
/// equal to others that are not the same.
fn is_of_values(pred: &Expr) -> bool {
    let ExprKind::Compare { left, right, .. } = &pred.kind else { return false };
    let of = |column: &Expr, value: &Expr| {
        matches!(column.kind, ExprKind::Col(_)) && is_free_of_rows(value) && is_movable(value)
    };
    (of(left, right) || of(right, left)) && !collates(pred)
}

/// How many rows are wanted (bigint) where all windows number them in one order, and a predicate says up to which; and the order.
pub(crate) fn first_numbered(windows: &[Window], preds: &[Expr]) -> Option<(Expr, Vec<SortKey>)> {
    let (first, others) = windows.split_first()?;
    let numbers = |w: &Window| matches!(w.func, WindowFunc::RowNumber) && w.partition.is_empty();
    if !numbers(first)
        || !others.iter().all(|w| numbers(w) && w.order == first.order)
        || first.order.is_empty()
    {
        return None;
    }
    let is_number =
        |e: &Expr| matches!(e.kind, ExprKind::Col(id) if windows.iter().any(|w| w.out == id));
    let most = |pred: &Expr| {
        let ExprKind::Compare { op, left, right } = &pred.kind else { return None };
        let (op, value) = match (is_number(left), is_number(right)) {
            (true, false) => (*op, right),
            (false, true) => (op.flip(), left),
            _ => return None,
        };
        let bounds = matches!(op, CompareOp::Lt | CompareOp::Le | CompareOp::Eq);
        let known = value.ty.is_integer() && is_free_of_rows(value) && is_movable(value);
        (bounds && known).then(|| count(value))
    };
    Some((preds.iter().find_map(most)?, first.order.clone()))
}

/// A value as a number of rows: none where it is NULL or less.
fn count(value: &Expr) -> Expr {
    let bigint = |kind| Expr::new(kind, SqlType::BigInt, false);
    if let ExprKind::Const(value) = &value.kind {
        return bigint(ExprKind::Const(Value::BigInt(value.as_i64().unwrap_or(0).max(0))));
    }
    let none = bigint(ExprKind::Const(Value::BigInt(0)));
    let value = match value.ty {
        SqlType::BigInt => value.clone(),
        _ => {
            let (mode, style) = (CastMode::Implicit, None);
            let kind = ExprKind::Cast { input: Box::new(value.clone()), mode, style };
            Expr::new(kind, SqlType::BigInt, value.nullable)
        }
    };
    let some = Expr::compare(CompareOp::Gt, value.clone(), none.clone());
    bigint(ExprKind::Case { branches: vec![(some, value)], otherwise: Some(Box::new(none)) })
}
