//! Typed IR to physical plan.
//!
//! A query says what; here it is decided how: which table is read by a range of its key, how two
//! sources meet, what need not be sorted. The promise is modest and kept: the plan answers the
//! query, a seek is used wherever the key's leading columns are given, nothing that can stream is
//! kept, and a TOP asks for no more rows than it needs.
//!
//! It knows nothing of rows' contents or of running; statistics do not exist yet, so estimates are
//! rules of thumb.

#![forbid(unsafe_code)]

mod plan;

pub use plan::*;

use binder::ir;

/// Plans a query by itself.
pub fn plan_query(query: &ir::Query) -> Plan {
    let _ = query;
    unimplemented!()
}

pub fn plan_select(select: &ir::Select) -> SelectPlan {
    let _ = select;
    unimplemented!()
}

pub fn plan_insert(insert: &ir::Insert) -> InsertPlan {
    let _ = insert;
    unimplemented!()
}

pub fn plan_update(update: &ir::Update) -> UpdatePlan {
    let _ = update;
    unimplemented!()
}

pub fn plan_delete(delete: &ir::Delete) -> DeletePlan {
    let _ = delete;
    unimplemented!()
}

/// Folds constants and plans the subqueries of an expression that reads no row.
pub fn plan_expr(expr: &ir::Expr) -> ExprPlan {
    let _ = expr;
    unimplemented!()
}
