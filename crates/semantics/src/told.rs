//! Whether a column of a result may be NULL, as SQL Server tells it: more often than it comes to pass.
//!
//! COUNT never is NULL, nor is LEN of a text that is not, nor COALESCE that ends with a constant. A client, and the table
//! of SELECT INTO, hear that they may be. Plans go by what is true. Source: "COALESCE (Transact-SQL)"; what
//! sys.dm_exec_describe_first_result_set says of the others.

use ir::*;

/// Is the column of the tree told as one that may be NULL, whatever is known of it?
pub fn may_be_null(rel: &Rel, id: ColId) -> bool {
    match rel {
        Rel::Project { input, exprs } => exprs.iter().any(|(to, e)| *to == id && told(e, input)),
        Rel::Aggregate { input, group, aggs, .. } => {
            aggs.iter().any(|agg| agg.out == id)
                || group.iter().any(|(to, e)| *to == id && told(e, input))
        }
        // ROW_NUMBER and its like, and COUNT over a window, too.
        Rel::Window { input, windows } => {
            windows.iter().any(|window| window.out == id) || may_be_null(input, id)
        }
        Rel::Filter { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Top { input, .. }
        | Rel::Offset { input, .. }
        | Rel::Distinct { input, .. } => may_be_null(input, id),
        Rel::Join { left, right, .. } | Rel::Apply { left, right, .. } => {
            may_be_null(left, id) || may_be_null(right, id)
        }
        _ => false,
    }
}

fn told(e: &Expr, input: &Rel) -> bool {
    match &e.kind {
        ExprKind::Col(id) => may_be_null(input, *id),
        ExprKind::Func { func, .. } => {
            matches!(func, FuncId::Len | FuncId::Substring | FuncId::NewId)
        }
        // COALESCE: the first of several that is not NULL.
        ExprKind::Case { branches, .. } => branches.iter().all(|(when, then)| {
            matches!(&when.kind, ExprKind::IsNull { input, negated: true } if **input == *unconverted(then))
        }),
        _ => false,
    }
}

/// An alternative before it got the type of all.
fn unconverted(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Cast { input, mode: CastMode::Implicit, .. } => input,
        _ => e,
    }
}
