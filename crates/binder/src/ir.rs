//! The typed intermediate representation: what a statement means once every name and type is known.
//!
//! Three layers, in the order a newcomer should read them:
//!
//! * [`expr`]: scalar expressions. Every node carries its type; every implicit conversion is an
//!   explicit [`ExprKind::Cast`], so whoever evaluates a tree never consults type precedence.
//! * [`query`]: relational trees. Columns are named by [`ColId`], unique within one statement, so
//!   rewrites need no renumbering. The planner turns ids into positions.
//! * [`program`]: batches and procedures as statement lists over one frame of typed variables.
//!
//! Invariants:
//! * Operands of [`ExprKind::Compare`] and [`ExprKind::In`] have one type but for the lengths of
//!   strings and binaries; what [`ExprKind::Arith`] takes is said there.
//! * A predicate is an `Expr` of type `bit` whose NULL means UNKNOWN.
//! * [`ExprKind::Col`] and [`ExprKind::Subquery`] occur only before planning,
//!   [`ExprKind::Slot`], [`ExprKind::Param`] and [`ExprKind::SubPlan`] only after.

pub mod cursor;
pub mod expr;
pub mod func;
mod print;
pub mod program;
pub mod query;
pub mod serialize;
mod visit;

pub use cursor::*;
pub use expr::*;
pub use func::*;
pub use program::*;
pub use query::*;
pub use serialize::*;
