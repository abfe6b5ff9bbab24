//! Merge joins: chosen where both sides come in the order of columns that an equality joins by, and cost says so; made
//! by sorting where MERGE JOIN asks for one.
//!
//! Promise: keys are in the order in which both sides' rows come, NULLs first where it ascends. Equalities that are not
//! part of that order are asked of each pair.

use ir::*;

use crate::cost;
use crate::join::combine;
use crate::join_conditions::{equality, of_one_form};
use crate::lower::*;
use crate::plan::*;

/// By what a merge join goes.
pub(crate) struct MergeKeys {
    keys: Vec<Key>,
    sort_left: bool,
    sort_right: bool,
}

/// An equality, and in which direction its columns are ordered.
struct Key {
    /// Which of the conditions it is.
    condition: usize,
    left: Expr,
    right: Expr,
    desc: bool,
}

/// The sides of an equality among the conditions.
type Pair = (usize, Expr, Expr);

impl Lowering {
    /// By what two sides are to be merged; None when they are not.
    pub fn merge_keys(
        &self,
        kind: PhysicalJoin,
        left: &Lowered,
        right: &Lowered,
        conditions: &[Expr],
    ) -> Option<MergeKeys> {
        if !self.hints.allows_merge() {
            return None;
        }
        let pairs: Vec<Pair> = conditions
            .iter()
            .enumerate()
            .filter_map(|(at, c)| {
                let (l, r) = equality(c, &left.cols, &right.cols)?;
                of_one_form(l, r).map(|(l, r)| (at, l, r))
            })
            .collect();
        let is_asked_for = !self.hints.allows_hash();
        let keys = common_order(left, right, &pairs);
        if !keys.is_empty() {
            let (l, r) = (left.node.rows, right.node.rows);
            // The hash table is made of the smaller side, but of a full join's right one; and a filter of its keys goes
            // to the other side, unless that has to tell who meets nobody.
            let (build, probe) = (l.min(r), l.max(r));
            let hash = match kind {
                PhysicalJoin::Full => cost::hash(r, l),
                PhysicalJoin::Left | PhysicalJoin::Anti if r < l => cost::hash(build, probe),
                _ => cost::hash_filtered(build, probe),
            };
            let pays = self.facts.is_large() && cost::merge(l, r) < hash;
            let chosen = is_asked_for || pays;
            return chosen.then_some(MergeKeys { keys, sort_left: false, sort_right: false });
        }
        if !is_asked_for || pairs.is_empty() {
            return None;
        }
        // One side's order, if it has a useful one; else both are sorted.
        let by_left = order_of(left, &pairs, |(_, l, _)| l);
        if !by_left.is_empty() {
            return Some(MergeKeys { keys: by_left, sort_left: false, sort_right: true });
        }
        let by_right = order_of(right, &pairs, |(_, _, r)| r);
        if !by_right.is_empty() {
            return Some(MergeKeys { keys: by_right, sort_left: true, sort_right: false });
        }
        let keys = pairs.iter().map(|pair| Key::of(pair, false)).collect();
        Some(MergeKeys { keys, sort_left: true, sort_right: true })
    }

    /// Joins two sides by keys from [`Lowering::merge_keys`]; `rows`: estimated.
    pub fn merge_join(
        &mut self,
        kind: PhysicalJoin,
        left: Lowered,
        right: Lowered,
        by: MergeKeys,
        conditions: Vec<Expr>,
        rows: Option<f64>,
    ) -> Lowered {
        let MergeKeys { keys, sort_left, sort_right } = by;
        let sorted = |side: fn(&Key) -> &Expr| -> Vec<SortKey> {
            keys.iter().map(|k| SortKey { expr: side(k).clone(), desc: k.desc }).collect()
        };
        let (of_left, of_right) = (sorted(|k| &k.left), sorted(|k| &k.right));
        let left = if sort_left { self.sort(left, of_left.clone(), None) } else { left };
        let right = if sort_right { self.sort(right, of_right.clone(), None) } else { right };
        let left_keys: Vec<SortKey> = of_left
            .into_iter()
            .map(|k| SortKey { expr: self.expr(k.expr, &left.cols), desc: k.desc })
            .collect();
        let right_keys = of_right.into_iter().map(|k| self.expr(k.expr, &right.cols)).collect();
        let rest: Vec<Expr> = conditions
            .into_iter()
            .enumerate()
            .filter(|(at, _)| !keys.iter().any(|k| k.condition == *at))
            .map(|(_, c)| c)
            .collect();
        let residual = self.over_both(rest, &left, &right);
        let slots: Option<Vec<u32>> = left_keys.iter().map(|k| k.expr.as_slot()).collect();
        let many = !slots.is_some_and(|slots| is_unique_by(&left.node, &slots));
        combine(kind, left, right, rows, |left, right| Op::MergeJoin {
            kind,
            left,
            right,
            left_keys,
            right_keys,
            residual,
            many,
        })
    }
}

impl Key {
    fn of((condition, left, right): &Pair, desc: bool) -> Key {
        Key { condition: *condition, left: left.clone(), right: right.clone(), desc }
    }
}

/// The order of a side without what is the same in all rows.
fn free_order(side: &Lowered) -> impl Iterator<Item = (ColId, bool)> {
    side.order.iter().copied().filter(|(id, _)| !side.fixed.contains(id))
}

/// Equalities between columns by which both sides are ordered, from the first on.
fn common_order(left: &Lowered, right: &Lowered, pairs: &[Pair]) -> Vec<Key> {
    free_order(left)
        .zip(free_order(right))
        .map_while(|((l, desc), (r, other))| {
            let joins = |(_, a, b): &&Pair| is_column(a, l) && is_column(b, r);
            let pair = pairs.iter().find(joins).filter(|_| desc == other)?;
            Some(Key::of(pair, desc))
        })
        .collect()
}

/// Equalities along one side's order, from the first on.
fn order_of(side: &Lowered, pairs: &[Pair], own: fn(&Pair) -> &Expr) -> Vec<Key> {
    free_order(side)
        .map_while(|(id, desc)| {
            let pair = pairs.iter().find(|pair| is_column(own(pair), id))?;
            Some(Key::of(pair, desc))
        })
        .collect()
}

fn is_column(e: &Expr, id: ColId) -> bool {
    e.kind == ExprKind::Col(id)
}

/// Whether no two rows are equal in these slots, NULLs aside: they hold a key of the table that is read.
pub(crate) fn is_unique_by(node: &Node, slots: &[u32]) -> bool {
    match &node.op {
        Op::Scan(scan) => {
            let table = &scan.table;
            let has = |key: &[(usize, bool)]| {
                let column =
                    |c: usize| slots.iter().any(|s| scan.columns.get(*s as usize) == Some(&c));
                !key.is_empty() && key.iter().all(|(c, _)| column(*c))
            };
            let clustered = !table.has_uniquifier() && has(table.clustered_key());
            let index = |i: &catalog::IndexDef| i.unique && i.filter.is_none() && has(&i.columns);
            clustered
                || table.primary_key.as_ref().is_some_and(|k| has(&k.columns))
                || table.unique.iter().any(|k| has(&k.columns))
                || table.indexes.iter().any(index)
        }
        Op::Filter { input, .. } | Op::Sort { input, .. } | Op::Metered { input, .. } => {
            is_unique_by(input, slots)
        }
        Op::Project { input, exprs } => {
            let below: Option<Vec<u32>> =
                slots.iter().map(|slot| exprs.get(*slot as usize)?.as_slot()).collect();
            below.is_some_and(|below| is_unique_by(input, &below))
        }
        _ => false,
    }
}
