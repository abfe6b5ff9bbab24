//! The typed intermediate representation: what a statement means once every name and type is known.
//!
//! The binder makes it, the planner and the interpreter read it; none of them has to know another. Three layers, in the
//! order a newcomer should read them:
//!
//! * [`expr`]: scalar expressions. Every node carries its type; every implicit conversion is an
//!   explicit [`ExprKind::Cast`], so whoever evaluates a tree never consults type precedence.
//! * [`query`]: relational trees. Columns are named by [`ColId`], unique within one statement, so
//!   rewrites need no renumbering. The planner turns ids into positions.
//! * [`program`]: batches and procedures as statement lists over one frame of typed variables.
//!
//! Beside them: [`ddl`], definitions in the catalog's terms; and [`masking`], a bound statement as it is for somebody who
//! may not see all of it.
//!
//! Invariants:
//! * Operands of [`ExprKind::Compare`] and [`ExprKind::In`] have one type but for the lengths of
//!   strings and binaries; what [`ExprKind::Arith`] takes is said there.
//! * A predicate is an `Expr` of type `bit` whose NULL means UNKNOWN.
//! * [`ExprKind::Col`] and [`ExprKind::Subquery`] occur only before planning,
//!   [`ExprKind::Slot`], [`ExprKind::Param`] and [`ExprKind::SubPlan`] only after.
//!
//! It knows nothing of how a name is found, of plans, of rows and sessions. Syntax it only carries: a statement keeps its
//! tree to be bound again, and definitions keep what needs no resolving.

#![forbid(unsafe_code)]

pub mod cursor;
pub mod ddl;
pub mod expr;
pub mod func;
pub mod masking;
mod name;
mod print;
pub mod program;
pub mod query;
pub mod serialize;
mod settings;
mod statement;
mod there;
mod through;
mod view;
mod visit;

pub use cursor::*;
pub use expr::*;
pub use func::*;
pub use name::ObjectName;
pub use program::*;
pub use query::*;
pub use serialize::*;
pub use settings::Settings;
pub use statement::{Data, DataMut, StmtKind};
pub use through::{ColumnUse, Through, UsedColumn};
pub use view::{ViewChange, ViewPart};
