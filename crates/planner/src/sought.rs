//! A table of which a subquery says which rows: where the subquery has few values and the table can be sought by them, each
//! different value is looked for, in place of reading the table and asking each row.
//!
//! ```text
//! t where t.k in (select v from u)                        -->   (distinct v of u) join t on t.k = v
//! t where exists (select * from u where u.v = t.k)        -->   likewise
//! t where t.k > (select max(v) from u)                    -->   (max v of u) join t on t.k > v
//! ```
//!
//! Promise: the same rows, each once: the values differ as the comparison has it. An UPDATE or a DELETE then reads, and
//! locks, what it changes alone.

use ir::*;

use crate::columns::{Needed, has_subquery, with_exprs};
use crate::join::halves;
use crate::join_conditions::equality;
use crate::key_range::{bounds_more, reach};
use crate::lower::*;
use crate::plan::PhysicalJoin;
use crate::unnest::Keys;

/// Seeks are made where they cost less than this part of reading the table: how many values there are is a guess.
const PART: f64 = 0.25;
/// The same where what is read is locked, too.
const PART_OF_LOCKED: f64 = 0.5;

impl Lowering {
    /// Reads a table by the values of a subquery among the predicates, where that is worth it.
    pub fn sought(&mut self, get: &Get, preds: &[Expr], needed: &Needed) -> Option<Lowered> {
        // Who wants the first rows of an order has them by the order.
        let free = self.wanted.is_none() && !self.first_rows && !self.hints.force_order;
        if !free || get.sample.is_some() || get.hints.index.is_some() || !self.hints.allows_loops()
        {
            return None;
        }
        for (at, pred) in preds.iter().enumerate() {
            let mut rest = preds.to_vec();
            rest.remove(at);
            let Some((values, conditions)) = self.asked_for(get, pred, &rest) else { continue };
            let needed = &with_exprs(needed, conditions.iter());
            let values_needed = with_exprs(&Needed::new(), conditions.iter());
            let values = self.rel(values, Vec::new(), &values_needed);
            let kind = PhysicalJoin::Inner;
            return Some(self.meet(
                kind,
                values,
                Rel::Get(Box::new(get.clone())),
                rest,
                conditions,
                needed,
            ));
        }
        None
    }

    /// Values by which the rows are looked for that a predicate means, where that costs far less than reading the table under
    /// the others, and the conditions over them.
    fn asked_for(&mut self, get: &Get, pred: &Expr, rest: &[Expr]) -> Option<(Rel, Vec<Expr>)> {
        let (values, conditions, count) = match halves(pred) {
            Some((PhysicalJoin::Semi, asked, query)) => {
                let (values, conditions) = self.values_of(get, asked, query)?;
                (values, conditions, self.rough_rows(&query.rel))
            }
            Some(_) => return None,
            // Within another loop it would be asked for again by each turn.
            None if !self.boundaries.is_empty() => return None,
            None => {
                let (value, condition) = one_value(get, pred)?;
                (value, vec![condition], Some(1.0))
            }
        };
        let with: Vec<Expr> = rest.iter().chain(&conditions).cloned().collect();
        let closer = reach(get, &with) > reach(get, rest) || bounds_more(get, rest, &conditions);
        let pays = closer && self.seeks_are_cheap(get, count, rest, &with);
        pays.then_some((values, conditions))
    }

    /// The different values of a subquery, and the conditions over them that say which rows are meant; none where there
    /// are others than equality, or values that may differ where the comparison has them equal.
    fn values_of(
        &mut self,
        get: &Get,
        asked: &SubqueryKind,
        query: &Query,
    ) -> Option<(Rel, Vec<Expr>)> {
        let mut conditions = Vec::new();
        if let SubqueryKind::In { needle } = asked {
            let column = &query.output[0];
            let value = Expr::col(column.id, column.ty, column.nullable);
            conditions.push(Expr::compare(CompareOp::Eq, (**needle).clone(), value));
        }
        let keys = self.keys_of(query.rel.clone(), conditions, &get.columns)?;
        let Keys { rel, conditions, over_keys, group } = keys;
        let own = rel.columns();
        let differ_alike = |condition: &Expr| {
            equality(condition, &get.columns, &own).is_some_and(|(theirs, ours)| {
                !ours.ty.is_character() || self.facts.are_of_one_collation(&theirs, &ours)
            })
        };
        if !conditions.iter().all(differ_alike) {
            return None;
        }
        let input = Box::new(rel);
        let values = Rel::Aggregate { input, group, aggs: Vec::new(), scalar: false, sets: None };
        Some((values, over_keys))
    }

    /// Whether to look for each value costs far less than to read the table under the other predicates. Where nothing is known
    /// of the tables, it is enough that few values are expected.
    fn seeks_are_cheap(
        &self,
        get: &Get,
        values: Option<f64>,
        rest: &[Expr],
        with: &[Expr],
    ) -> bool {
        if !self.facts.is_informed() {
            return values.is_some_and(|values| values <= crate::join::SEEK_ROWS);
        }
        let Some(values) = values else { return false };
        let each = self.weigh(get, with.to_vec());
        let seeks = each.cost + (values - 1.0).max(0.0) * each.again;
        // One value is no guess.
        let locks = get.locator.is_some() || get.hints.asks_for_locks();
        let part = match values <= 1.0 {
            true => 1.0,
            false if locks => PART_OF_LOCKED,
            false => PART,
        };
        seeks < part * self.weigh(get, rest.to_vec()).cost
    }
}

/// The row of a subquery that has one, or none, whose value a predicate holds the table's rows against, and the condition over
/// it; None for a subquery that may have more (512), or one for each row of the table.
fn one_value(get: &Get, pred: &Expr) -> Option<(Rel, Expr)> {
    let ExprKind::Compare { op, .. } = &pred.kind else { return None };
    if *op == CompareOp::Ne {
        return None;
    }
    let (mut condition, mut asked) = (pred.clone(), Vec::new());
    put_columns(&mut condition, &mut asked);
    let [query] = &asked[..] else { return None };
    let mut read = Vec::new();
    query.rel.walk_exprs(&mut |e| e.columns(&mut read));
    if has_subquery(&condition) {
        return None;
    }
    let alone = has_one_row(&query.rel) && !read.iter().any(|id| get.columns.contains(id));
    alone.then(|| (query.rel.clone(), condition))
}

/// Puts the column of a scalar subquery in its place, and collects what was there.
fn put_columns(e: &mut Expr, asked: &mut Vec<Query>) {
    if let ExprKind::Subquery { kind: SubqueryKind::Scalar, query } = &e.kind {
        let column = &query.output[0];
        let value = Expr::col(column.id, e.ty, true);
        asked.push((**query).clone());
        *e = value;
        return;
    }
    // Through what is NULL of a NULL, and evaluates all that it has.
    let strict = matches!(
        e.kind,
        ExprKind::Compare { .. }
            | ExprKind::Cast { .. }
            | ExprKind::Arith { .. }
            | ExprKind::Neg(_)
    );
    if strict {
        e.for_each_child_mut(&mut |child| put_columns(child, asked));
    }
}

fn has_one_row(rel: &Rel) -> bool {
    match rel {
        Rel::Aggregate { scalar, sets, .. } => *scalar && sets.is_none(),
        Rel::Project { input, .. } | Rel::Filter { input, .. } => has_one_row(input),
        Rel::Top { count, percent: false, ties: None, .. } => {
            matches!(&count.kind, ExprKind::Const(n) if n.as_i64().is_some_and(|n| n <= 1))
        }
        _ => false,
    }
}
