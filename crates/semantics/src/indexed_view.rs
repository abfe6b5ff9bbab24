//! What a view must be so that its rows can be kept: its expressions, its grouping, and how what is not so is said.
//!
//! Source: SQL Server's documentation, "Create Indexed Views".

mod expressions;
mod grouping;
mod refusing;

pub use expressions::check_bound;
pub use grouping::{check_aggregates, check_grouping, check_key, view_parts};
pub use refusing::{Refusing, UserFunction};
