//! Typed IR to physical plan.
//!
//! A query says what; here it is decided how: which table is read by a range of its key, how two
//! sources meet, what need not be sorted. The promise is modest and kept: the plan answers the
//! query, a seek is used wherever the key's leading columns are given, nothing that can stream is
//! kept, and a TOP asks for no more rows than it needs.
//!
//! It also shows plans, under SQL Server's names ([`show`]).
//!
//! How a table is read, in what order tables meet and how is chosen by cost, from what the catalog's statistics say of
//! rows and values; where nobody has looked at a table, by rules of thumb. docs/statistics.md tells the whole.
//!
//! It knows nothing of rows' contents or of running.

#![forbid(unsafe_code)]

mod access;
mod behind;
mod below_windows;
mod columns;
pub mod cost;
mod derive;
mod ends;
mod estimate;
mod first_rows;
mod fold;
mod forced;
mod goal;
mod group;
mod join;
mod join_conditions;
mod key_range;
mod lower;
mod merge;
mod not_in;
mod order;
mod outer;
mod parts;
mod plan;
mod print;
mod rough;
mod search;
mod see_through;
pub mod show;
mod slots;
mod sorted;
mod sought;
mod spool;
mod spread;
mod statement;
mod steps;
mod subtree;
mod top_below;
mod unnest;
mod wishes;

pub use estimate::Known;
pub use forced::cannot_seek;
pub use plan::*;
pub use spread::{joins_anywhere, probes_left, rolls_up};
pub use statement::{
    plan_delete, plan_expr, plan_insert, plan_merge, plan_query, plan_select, plan_update,
};
pub use wishes::{Wish, has_one_plan, query_wishes, wishes};
