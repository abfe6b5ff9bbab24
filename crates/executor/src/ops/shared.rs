//! What operators hand to each other where several tasks run parts of a plan: how rows are to be grouped, groups, and what a
//! join was built of. The last two are open to who makes and takes them alone.

use ir::Expr;
use planner::Agg;
use std::any::Any;
use std::sync::Arc;

/// A grouping, as a branch takes it along.
pub(crate) struct Grouped {
    pub group: Vec<Expr>,
    pub aggs: Vec<Agg>,
    pub weight: Option<u32>,
    /// By nothing: there is one group, also without rows.
    pub scalar: bool,
}

/// Groups with what was taken for each.
pub(crate) type Groups = Box<dyn Any + Send>;

/// The built side of a join.
pub(crate) type SharedJoin = Arc<dyn Any + Send + Sync>;
