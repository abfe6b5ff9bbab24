//! The steps of a chain of joins, and how many rows one leaves.

use ir::*;

use crate::columns::Needed;
use crate::goal::Goal;
use crate::plan::PhysicalJoin;

/// One join of a left-deep chain, with the predicates that belong to it.
pub(crate) struct Step {
    pub kind: PhysicalJoin,
    pub right: Rel,
    pub to_right: Vec<Expr>,
    pub conditions: Vec<Expr>,
    pub above: Vec<Expr>,
    pub wanted: Needed,
}

/// A goal, and what its rows meet besides the inner join whose order is looked for.
pub(crate) struct FirstRows<'s> {
    pub goal: &'s Goal,
    /// What subqueries ask of them.
    pub asked: &'s [Step],
    /// What comes after: the last one first.
    pub steps: &'s [Step],
}

/// Rows of a join, where `matches` pairs of rows fit.
pub(crate) fn joined_rows(kind: PhysicalJoin, left: f64, matches: f64) -> f64 {
    let rows = match kind {
        PhysicalJoin::Inner => matches,
        PhysicalJoin::Left | PhysicalJoin::Full => matches.max(left),
        PhysicalJoin::Semi => matches.min(left),
        PhysicalJoin::Anti => left - matches.min(0.9 * left),
    };
    rows.max(1.0)
}
