//! NOT IN of a subquery that asks for something of the outer row too, where NULLs may be met: taken apart into what joins can
//! do by equalities alone.
//!
//! ```text
//! a not in (select b from u where u.k = t.k)
//!     -->   not exists (.. where u.k = t.k and b = a) and not exists (.. where u.k = t.k and b is null)
//!           and (a is not null or not exists (.. where u.k = t.k))
//! ```
//!
//! As one predicate it holds each row against all rows of its k, for a NULL among them is no match and no mismatch.
//!
//! Promise: the rows of which the predicate is true, as WHERE and ON ask for them (UNKNOWN and false are the same there). Only
//! what gives the same rows each time it is asked is taken apart.

use ir::*;
use types::SqlType;

use crate::columns::{has_subquery, may_wait};
use crate::join::halves;
use crate::lower::Lowering;
use crate::plan::PhysicalJoin;

/// Rows that an outer row is held against, at least, for which it is worth it to ask three times.
const EACH_MIN: f64 = 8.0;

impl Lowering {
    /// What is asked of rows of `left` in place of a NOT IN; other predicates alone.
    pub fn apart(&self, left: &[ColId], pred: Expr) -> Vec<Expr> {
        match self.three_of(left, &pred) {
            Some(three) => three,
            None => vec![pred],
        }
    }

    fn three_of(&self, left: &[ColId], pred: &Expr) -> Option<Vec<Expr>> {
        let (PhysicalJoin::Anti, SubqueryKind::In { needle }, query) = halves(pred)? else {
            return None;
        };
        let column = query.output.first()?;
        let value = Expr::col(column.id, column.ty, column.nullable);
        if !(needle.nullable || value.nullable) || has_subquery(needle) || !is_stable(&query.rel) {
            return None;
        }
        // What asks nothing else of the outer row is computed once, and its values are looked up by hash.
        let (_, rel, conditions) = self.as_join(left, pred)?;
        let own = rel.columns();
        let others: Vec<Expr> = conditions.into_iter().filter(|c| !is_either(c)).collect();
        if self.facts.is_informed()
            && let Some(rows) = self.rough_rows(&rel)
            && rows * self.facts.pairs(&others, (1.0, rows), &|id| own.contains(&id)) < EACH_MIN
        {
            return None;
        }
        let equal = Expr::compare(CompareOp::Eq, (**needle).clone(), value.clone());
        let matched = none_of(query, Some(equal));
        // Where it is no join it is asked of each row, and three times are more than once.
        self.as_join(left, &matched)?;
        let mut all = vec![matched];
        if value.nullable {
            all.push(none_of(query, Some(Expr::is_null(value, false))));
        }
        if needle.nullable {
            let known = Expr::is_null((**needle).clone(), true);
            all.push(Expr::or(known, none_of(query, None)));
        }
        Some(all)
    }
}

/// Whether it is what NOT IN asks where NULLs may be met: equal, or NULL.
fn is_either(condition: &Expr) -> bool {
    matches!(condition.kind, ExprKind::Or(..))
}

/// NOT EXISTS of a query's rows under one more condition.
fn none_of(query: &Query, condition: Option<Expr>) -> Expr {
    let mut query = query.clone();
    if let Some(predicate) = condition {
        query.rel = Rel::Filter { input: Box::new(query.rel), predicate };
    }
    let (kind, query) = (SubqueryKind::Exists, Box::new(query));
    let exists = Expr::new(ExprKind::Subquery { kind, query }, SqlType::Bit, false);
    Expr::new(ExprKind::Not(Box::new(exists)), SqlType::Bit, false)
}

/// Whether a tree has the same rows each time, as long as its tables do.
fn is_stable(rel: &Rel) -> bool {
    let chooses = match rel {
        Rel::Top { .. } | Rel::Offset { .. } | Rel::System { .. } | Rel::Function { .. } => true,
        Rel::Get(get) => get.sample.is_some() || get.hints.asks_for_locks(),
        _ => false,
    };
    // A subquery's own NOT IN would be taken apart each time that this one is asked.
    let mut stable = !chooses;
    rel.own_exprs(&mut |e| stable = stable && may_wait(e));
    stable && rel.inputs().into_iter().all(is_stable)
}
