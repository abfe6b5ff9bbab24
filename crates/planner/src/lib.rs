//! Typed IR to physical plan.
//!
//! A query says what; here it is decided how: which table is read by a range of its key, how two
//! sources meet, what need not be sorted. The promise is modest and kept: the plan answers the
//! query, a seek is used wherever the key's leading columns are given, nothing that can stream is
//! kept, and a TOP asks for no more rows than it needs.
//!
//! It also shows plans, under SQL Server's names ([`show`]).
//!
//! It knows nothing of rows' contents or of running; statistics do not exist yet, so estimates are
//! rules of thumb.

#![forbid(unsafe_code)]

mod access;
mod columns;
pub mod cost;
mod fold;
mod group;
mod join;
mod lower;
mod order;
mod plan;
mod print;
pub mod show;
mod statement;
mod wishes;

pub use plan::*;
pub use statement::{
    plan_delete, plan_expr, plan_insert, plan_merge, plan_query, plan_select, plan_update,
};
pub use wishes::{Wish, query_wishes, wishes};
