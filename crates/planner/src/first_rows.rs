//! The first rows of a join: one table is read in the order that is asked for, and the others are sought for each of its rows
//! until there are enough.
//!
//! ```text
//! SELECT TOP 20 ... FROM orders o JOIN customers c ON c.id = o.customer ORDER BY o.placed DESC
//!     -->  the index on placed, backwards; for each of its rows the customer; 20 of them
//! ```
//!
//! It is weighed against all rows joined and sorted. How far the first table is to be read is a guess: rows that the other
//! predicates leave are taken to lie evenly in it, and more is reckoned with than that ([`SAFETY`]).
//!
//! Promise: a guess decides what is read, never what comes out: where the order cannot be kept, rows are sorted above.

use ir::*;

use crate::access::Wanted;
use crate::cost;
use crate::goal::Goal;
use crate::join_conditions::equality;
use crate::lower::*;
use crate::plan::PhysicalJoin;
use crate::search::{Joined, Link, Met, Part, beginnings};
use crate::steps::{FirstRows, joined_rows};

/// So many times the rows that would do, if those that remain lay evenly, are reckoned with.
const SAFETY: f64 = 4.0;

impl Lowering {
    /// The order in which the first rows come for less than `all` of them; and the share of the first part that is read for it.
    pub fn soonest(
        &self,
        first: &FirstRows,
        parts: &[Part],
        links: &[Link],
        all: &Joined,
    ) -> Option<(Joined, f64)> {
        if !self.hints.allows_loops() {
            return None;
        }
        let goal = first.goal;
        let whole = self.after(all, first, None)?;
        let sort = if goal.keys.is_empty() { 0.0 } else { cost::top_sort(whole.rows, goal.rows) };
        let share = SAFETY * goal.rows.max(1.0) / whole.rows.max(1.0);
        if share >= 1.0 {
            return None;
        }
        let mut best = None;
        let mut least = whole.cost + sort;
        for at in begins(goal, parts) {
            let part = &parts[at];
            let Some((get, own)) = part.table() else { continue };
            let wanted = Wanted::first(goal, share, part.rows);
            let access = self.weigh_for(get, own.to_vec(), &wanted);
            if !access.ordered {
                continue;
            }
            let begin = Joined::first(at, part.rows, access.cost);
            let joined = self.next_best_after(begin, parts, links, Some(share));
            let Some(end) = self.after(&joined, first, Some(share)) else { continue };
            if end.cost < least {
                least = end.cost;
                best = Some((joined, share));
            }
        }
        best
    }

    /// What a join comes to after more steps; None where there is no telling, or no order is kept.
    fn after(&self, joined: &Joined, first: &FirstRows, soon: Option<f64>) -> Option<Met> {
        let (mut rows, mut cost) = (joined.rows, joined.cost);
        for step in first.asked.iter().chain(first.steps.iter().rev()) {
            if step.kind == PhysicalJoin::Full {
                return None;
            }
            let part = self.part(&step.right, step.to_right.clone())?;
            let own: Vec<ColId> = step.right.columns();
            let of_left = |c: &Expr| {
                let mut read = Vec::new();
                c.columns(&mut read);
                read.retain(|id| !own.contains(id));
                read
            };
            let equal = |c: &Expr| equality(c, &of_left(c), &own).is_some();
            let equal = step.conditions.iter().any(equal);
            let met = self.met(rows, &part, &step.conditions, equal, soon);
            rows = joined_rows(step.kind, rows, met.rows) * self.facts.all_of(&step.above);
            cost += met.cost;
        }
        Some(Met { rows: rows.max(1.0), cost })
    }
}

/// The parts that may come first: those that have all columns of the order, the smallest ones where there are many.
fn begins(goal: &Goal, parts: &[Part]) -> Vec<usize> {
    let has = |at: &usize| {
        parts[*at].table().is_some()
            && goal.keys.iter().all(|(id, _)| parts[*at].columns.contains(id))
    };
    let mut begins: Vec<usize> = (0..parts.len()).filter(has).collect();
    begins.sort_by(|a, b| parts[*a].rows.total_cmp(&parts[*b].rows));
    begins.truncate(beginnings(parts.len()));
    begins
}
