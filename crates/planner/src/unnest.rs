//! Subqueries that stand anywhere in a predicate, taken out of it: what ran once for each outer row becomes a grouping
//! that is made once and joined.
//!
//! ```text
//! x < (select avg(y) from u where u.k = t.k)   -->   t left join (select k, avg(y) from u group by k), x < avg
//! a = 1 or exists (select * from u where u.k = t.k)   -->   t left join (select k from u group by k), a = 1 or k is not null
//! ```
//!
//! Promise: the predicate has the value that it had, UNKNOWN too: there is one row for each key, so no outer row is lost
//! or doubled, and an outer row without a partner sees what an aggregate says of no rows. Only subqueries whose outer
//! columns all stand in equalities are taken; where outer rows are few and the inner ones can be sought, they stay.

use ir::*;
use types::Value;

use crate::columns::*;
use crate::cost;
use crate::fold::{conjuncts, fold};
use crate::join_conditions::{equality, pull_up, rejects_nulls};
use crate::key_range::reach;
use crate::lower::*;
use crate::plan::PhysicalJoin;

/// A subquery as a grouping.
struct Grouped {
    rel: Rel,
    /// Its rows' keys are the outer row's.
    conditions: Vec<Expr>,
    /// What stands in the subquery's place.
    value: Expr,
}

/// A subquery's rows, and the keys by which outer rows ask for them.
pub(crate) struct Keys {
    /// The rows, without the conditions on the outer row.
    pub rel: Rel,
    /// Those conditions, all of them equalities.
    pub conditions: Vec<Expr>,
    /// The same over the keys.
    pub over_keys: Vec<Expr>,
    /// What each key is of the rows.
    pub group: Vec<(ColId, Expr)>,
}

impl Lowering {
    /// Joins `left` with the subqueries of a predicate that can be made groupings, whose values take their places.
    pub fn unnest(&mut self, mut left: Lowered, pred: &mut Expr) -> Lowered {
        while let Some(grouped) = self.first_grouped(&left, pred) {
            let Grouped { rel, conditions, .. } = grouped;
            let right: Needed = rel.columns().into_iter().collect();
            let kind = match rejects_nulls(pred, &right) {
                true => PhysicalJoin::Inner,
                false => PhysicalJoin::Left,
            };
            let needed = with_exprs(&right, conditions.iter());
            left = self.meet(kind, left, rel, Vec::new(), conditions, &needed);
        }
        left
    }

    /// Finds a subquery to be taken out and puts its value in its place.
    fn first_grouped(&mut self, left: &Lowered, e: &mut Expr) -> Option<Grouped> {
        if let ExprKind::Subquery { kind, query } = &e.kind {
            let grouped = match kind {
                SubqueryKind::Scalar => self.aggregated(left, query),
                SubqueryKind::Exists => self.existing(left, query),
                _ => None,
            };
            if let Some(grouped) = grouped {
                *e = grouped.value.clone();
                return Some(grouped);
            }
        }
        let mut found = None;
        // What CASE evaluates only where it is asked for may fail elsewhere.
        if !matches!(e.kind, ExprKind::Case { .. }) {
            e.for_each_child_mut(&mut |child| {
                if found.is_none() {
                    found = self.first_grouped(left, child);
                }
            });
        }
        found
    }

    /// An aggregate of all rows that an outer row has.
    fn aggregated(&mut self, left: &Lowered, query: &Query) -> Option<Grouped> {
        let out = query.output.first()?;
        let mut value = Expr::col(out.id, out.ty, true);
        let mut rel = &query.rel;
        let (input, aggs) = loop {
            match rel {
                Rel::Project { input, exprs } => {
                    value.replace_columns(&mut |id| {
                        exprs.iter().find(|(own, _)| *own == id).map(|(_, e)| e.clone())
                    });
                    rel = &**input;
                }
                Rel::Aggregate { input, group, aggs, scalar: true, sets: None }
                    if group.is_empty() =>
                {
                    break (input, aggs);
                }
                _ => return None,
            }
        };
        let ordered = aggs.iter().any(|agg| agg.joining.is_some());
        let asks = has_subquery(&value);
        if ordered || asks || !is_movable(&value) {
            return None;
        }
        let (input, conditions, group) = self.keyed(left, input)?;
        // Of no rows a count is 0, and all else NULL.
        value.replace_columns(&mut |id| {
            let agg = aggs.iter().find(|agg| agg.out == id)?;
            let counts = matches!(agg.func, AggFunc::Count | AggFunc::CountBig);
            let column = Expr::col(id, agg.ty, true);
            Some(match counts {
                true => {
                    let zero = match agg.ty {
                        types::SqlType::BigInt => Value::BigInt(0),
                        _ => Value::Int(0),
                    };
                    let args = vec![column, Expr::constant(zero, agg.ty)];
                    Expr::new(ExprKind::Func { func: FuncId::IsNull, args }, agg.ty, false)
                }
                false => column,
            })
        });
        let mut read = Vec::new();
        value.columns(&mut read);
        if read.iter().any(|id| !aggs.iter().any(|agg| agg.out == *id)) {
            return None;
        }
        let (input, aggs) = (Box::new(input), aggs.clone());
        let rel = Rel::Aggregate { input, group, aggs, scalar: false, sets: None };
        Some(Grouped { rel, conditions, value })
    }

    /// Whether an outer row has any rows.
    fn existing(&mut self, left: &Lowered, query: &Query) -> Option<Grouped> {
        let (input, conditions, group) = self.keyed(left, &query.rel)?;
        let (id, key) = group.first()?;
        let value = Expr::is_null(Expr::col(*id, key.ty, true), true);
        let input = Box::new(input);
        let rel = Rel::Aggregate { input, group, aggs: Vec::new(), scalar: false, sets: None };
        Some(Grouped { rel, conditions, value })
    }

    /// The rows of a subquery without the conditions on the outer row, those conditions over keys, and the keys; None
    /// where they are not all equalities, or where it pays to seek.
    #[allow(clippy::type_complexity, reason = "three parts of one thing, named where it is called")]
    fn keyed(
        &mut self,
        left: &Lowered,
        input: &Rel,
    ) -> Option<(Rel, Vec<Expr>, Vec<(ColId, Expr)>)> {
        let keys = self.keys_of(input.clone(), Vec::new(), &left.cols)?;
        let Keys { rel, conditions, over_keys, group } = keys;
        if self.seeks_pay(left, &rel, &conditions) {
            return None;
        }
        Some((rel, over_keys, group))
    }

    /// The rows of a subquery by what equalities with columns of `outer` ask of them, `conditions` among these; None where it
    /// is asked for anything else, or for nothing.
    pub fn keys_of(
        &mut self,
        mut rel: Rel,
        mut conditions: Vec<Expr>,
        outer: &[ColId],
    ) -> Option<Keys> {
        let outside: Needed = outer.iter().copied().collect();
        pull_up(&mut rel, &outside, &mut conditions);
        let mut read = Vec::new();
        rel.walk_exprs(&mut |e| e.columns(&mut read));
        if conditions.is_empty() || read.iter().any(|id| outside.contains(id)) {
            return None;
        }
        let own = rel.columns();
        conditions.iter_mut().for_each(fold);
        let mut group: Vec<(ColId, Expr)> = Vec::with_capacity(conditions.len());
        let mut over_keys = Vec::with_capacity(conditions.len());
        for condition in &conditions {
            let (theirs, ours) = equality(condition, outer, &own)?;
            let id = match ours.kind {
                ExprKind::Col(id) => id,
                _ => self.fresh(),
            };
            let key = Expr::col(id, ours.ty, true);
            over_keys.push(Expr::compare(CompareOp::Eq, theirs, key));
            if !group.iter().any(|(known, _)| *known == id) {
                group.push((id, ours));
            }
        }
        Some(Keys { rel, conditions, over_keys, group })
    }

    /// Whether looking for the rows of each outer row costs less than grouping all.
    fn seeks_pay(&self, left: &Lowered, rel: &Rel, conditions: &[Expr]) -> bool {
        let (mut gets, mut preds) = (Vec::new(), conditions.to_vec());
        tables(rel, &mut gets, &mut preds);
        preds.iter_mut().for_each(fold);
        // What a table is sought by are constants and the outer row.
        let own = rel.columns();
        let of_table = |get: &Get| -> Vec<Expr> {
            let reads = |e: &&Expr| {
                let mut ids = Vec::new();
                e.columns(&mut ids);
                ids.iter().any(|id| get.columns.contains(id))
                    && ids.iter().all(|id| get.columns.contains(id) || !own.contains(id))
            };
            preds.iter().filter(reads).cloned().collect()
        };
        let sought = gets.iter().find(|get| reach(get, &of_table(get)) > 0);
        let Some(sought) = sought else { return false };
        if !self.facts.is_informed() {
            return true;
        }
        let first = self.weigh(sought, of_table(sought));
        // The others are sought for each row found.
        let others = (gets.len() - 1) as f64 * first.rows_out * cost::seek_again();
        let each = first.again + others;
        let whole = |get: &&Get| {
            let preds = of_table(get);
            let free = preds.into_iter().filter(|e| !conditions.contains(e)).collect();
            let access = self.weigh(get, free);
            access.cost + cost::hash(0.0, access.rows_out)
        };
        let whole: f64 = gets.iter().map(whole).sum();
        left.node.rows.max(1.0) * each <= whole
    }
}

/// The tables of an inner join, and what holds of their rows.
fn tables<'r>(rel: &'r Rel, gets: &mut Vec<&'r Get>, preds: &mut Vec<Expr>) {
    let mut rel = rel;
    loop {
        match rel {
            Rel::Get(get) => {
                gets.push(get);
                return;
            }
            Rel::Filter { input, predicate } => {
                conjuncts(predicate.clone(), preds);
                rel = &**input;
            }
            Rel::Project { input, .. } => rel = &**input,
            Rel::Join { kind: JoinKind::Inner | JoinKind::Cross, left, right, on } => {
                if let Some(on) = on {
                    conjuncts(on.clone(), preds);
                }
                tables(right, gets, preds);
                rel = &**left;
            }
            _ => return,
        }
    }
}
