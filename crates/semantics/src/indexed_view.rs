//! What a view must be so that its rows can be kept: its text, its expressions, its grouping, and how what is not so is said.
//!
//! Source: SQL Server's documentation, "Create Indexed Views".

mod definition;
mod expressions;
mod grouping;
mod refusing;

pub use definition::{check_bound_view, check_further, check_join, check_kind, check_select};
pub use expressions::check_bound;
pub use grouping::{check_aggregates, check_grouping, check_key, view_parts};
pub use refusing::{Refusing, UserFunction};
