//! A table of which a subquery says which rows: where the subquery has few values and the table can be sought by them, each
//! different value is looked for, in place of reading the table and asking each row.
//!
//! ```text
//! t where t.k in (select v from u)                        -->   (distinct v of u) join t on t.k = v
//! t where exists (select * from u where u.v = t.k)        -->   likewise
//! ```
//!
//! Promise: the same rows, each once: the values differ as the comparison has it. An UPDATE or a DELETE then reads, and
//! locks, what it changes alone.

use ir::*;

use crate::columns::{Needed, with_exprs};
use crate::join::halves;
use crate::join_conditions::equality;
use crate::key_range::reach;
use crate::lower::*;
use crate::plan::PhysicalJoin;
use crate::unnest::Keys;

/// Seeks are made where they cost less than this part of reading the table: how many values there are is a guess.
const PART: f64 = 0.25;

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
            let Some((PhysicalJoin::Semi, asked, query)) = halves(pred) else { continue };
            let Some((values, conditions)) = self.values_of(get, asked, query) else { continue };
            let mut rest = preds.to_vec();
            rest.remove(at);
            let with: Vec<Expr> = rest.iter().chain(&conditions).cloned().collect();
            if reach(get, &with) <= reach(get, &rest)
                || !self.seeks_are_cheap(get, query, &rest, &with)
            {
                continue;
            }
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
    fn seeks_are_cheap(&self, get: &Get, query: &Query, rest: &[Expr], with: &[Expr]) -> bool {
        let values = self.rough_rows(&query.rel);
        if !self.facts.is_informed() {
            return values.is_some_and(|values| values <= crate::join::SEEK_ROWS);
        }
        let Some(values) = values else { return false };
        let each = self.weigh(get, with.to_vec());
        let seeks = each.cost + (values - 1.0).max(0.0) * each.again;
        seeks < PART * self.weigh(get, rest.to_vec()).cost
    }
}
