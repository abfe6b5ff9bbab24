//! Views, derived tables and common table expressions, seen through: a projection that hands columns on as they are goes, and what
//! computes some is done after a join, so that the tables below are joined, sought and ordered as if they were named where the
//! view is. (The binder gives a column of a view the id of what it is, so another name is none here.)
//!
//! ```text
//! s join (id, v of t) on id = s.k                   -->   s join t on id = s.k
//! s join (id, f(v) as w of t) on q                  -->   id, f(v) as w of (s join t on q)
//! s join (a join b on .. where p) on q              -->   s join (a join b on ..) on q and p
//! ```
//!
//! Promise: the same rows under the same ids. Computed columns move over inner joins, and over outer ones from the side that
//! keeps all of its rows, and only where they may be computed elsewhere; subqueries and functions of users stay where they are.

use std::collections::HashSet;

use ir::*;

use crate::columns::{Needed, below_filters, column_types, has_subquery, may_wait, substitute};
use crate::fold::{all_of, conjuncts};

/// Sees through what stands in `rel`, of which `outside` are read by others. `flat`: joins may be done in another order than
/// the text's.
pub(crate) fn see_through(rel: &mut Rel, outside: &Needed, flat: bool) {
    if !has_named(rel) {
        return;
    }
    let mut read = outside.clone();
    // Ids are unique; a tree in which they were not would be left as it is.
    if !note(rel, &mut HashSet::new(), &mut read) {
        return;
    }
    Sight { read, flat }.at_root(rel);
}

/// Sees through what stands in the subqueries of an expression that nobody else plans.
pub(crate) fn see_through_asked(e: &mut Expr, flat: bool) {
    if let ExprKind::Subquery { query, .. } = &mut e.kind {
        let outside = query.output.iter().map(|c| c.id).collect();
        see_through(&mut query.rel, &outside, flat);
    }
    e.for_each_child_mut(&mut |child| see_through_asked(child, flat));
}

/// Whether a projection stands anywhere but at the top, subqueries included.
fn has_named(rel: &Rel) -> bool {
    let mut found = rel.inputs().into_iter().any(|input| {
        let named = matches!(input, Rel::Project { .. });
        named || has_named(input)
    });
    rel.own_exprs(&mut |e| found = found || has_subquery(e));
    found
}

/// Notes the ids that are made in a tree, and those that are read there; false where one is made twice.
fn note(rel: &Rel, made: &mut HashSet<ColId>, read: &mut Needed) -> bool {
    let mut once = true;
    rel.own_exprs(&mut |e| once &= note_of(e, made, read));
    match rel {
        Rel::SetOp { left_columns, right_columns, .. } => {
            read.extend(left_columns.iter().chain(right_columns).copied());
        }
        Rel::Recursive { anchor_columns, step_columns, iteration, .. } => {
            read.extend(anchor_columns.iter().chain(step_columns).copied());
            once &= iteration.iter().all(|id| made.insert(*id));
        }
        Rel::Distinct { over, .. } => read.extend(over.iter().copied()),
        Rel::Serialize { columns, .. } => read.extend(columns.iter().copied()),
        _ => {}
    }
    // What is handed on under its own id was made below.
    let new = |(id, e): &(ColId, Expr)| (e.kind != ExprKind::Col(*id)).then_some(*id);
    let own: Vec<ColId> = match rel {
        Rel::Project { exprs, .. } => exprs.iter().filter_map(new).collect(),
        Rel::Window { windows, .. } => windows.iter().map(|w| w.out).collect(),
        Rel::Aggregate { group, aggs, sets, .. } => {
            let (keys, mask) = (group.iter().filter_map(new), sets.as_ref().map(|s| s.mask));
            keys.chain(aggs.iter().map(|a| a.out)).chain(mask).collect()
        }
        Rel::Filter { .. }
        | Rel::Join { .. }
        | Rel::Apply { .. }
        | Rel::Sort { .. }
        | Rel::Top { .. }
        | Rel::Offset { .. }
        | Rel::Distinct { .. } => Vec::new(),
        rel => rel.columns(),
    };
    once &= own.into_iter().all(|id| made.insert(id));
    rel.inputs().into_iter().fold(once, |once, input| note(input, made, read) && once)
}

/// The same in an expression.
fn note_of(e: &Expr, made: &mut HashSet<ColId>, read: &mut Needed) -> bool {
    let mut once = true;
    match &e.kind {
        ExprKind::Col(id) => drop(read.insert(*id)),
        ExprKind::Subquery { query, .. } => {
            read.extend(query.output.iter().map(|c| c.id));
            once = note(&query.rel, made, read);
        }
        _ => {}
    }
    e.for_each_child(&mut |child| once &= note_of(child, made, read));
    once
}

struct Sight {
    /// Columns that anybody reads.
    read: Needed,
    flat: bool,
}

impl Sight {
    /// A tree of whose columns somebody keeps a list: a projection at its top is that list.
    fn at_root(&self, rel: &mut Rel) {
        match rel {
            Rel::Project { input, exprs } => {
                exprs.iter_mut().for_each(|(_, e)| self.asked(e));
                self.below(input);
            }
            rel => self.below(rel),
        }
    }

    fn below(&self, rel: &mut Rel) {
        let listed = matches!(
            rel,
            Rel::SetOp { .. }
                | Rel::Recursive { .. }
                | Rel::Distinct { .. }
                | Rel::Serialize { .. }
        );
        for input in rel.inputs_mut() {
            if listed { self.at_root(input) } else { self.below(input) }
        }
        rel.own_exprs_mut(&mut |e| self.asked(e));
        match rel {
            Rel::Project { .. } => self.project(rel),
            Rel::Join { .. } if self.flat => self.lift(rel),
            _ => {}
        }
    }

    /// The subqueries of an expression.
    fn asked(&self, e: &mut Expr) {
        if let ExprKind::Subquery { query, .. } = &mut e.kind {
            self.at_root(&mut query.rel);
        }
        e.for_each_child_mut(&mut |child| self.asked(child));
    }

    /// A projection goes if it does no more than hand columns on.
    #[inline(never)]
    fn project(&self, rel: &mut Rel) {
        let Rel::Project { input, exprs } = rel else { return };
        exprs.retain(|(id, _)| self.read.contains(id));
        if hand_on(exprs, input) {
            *rel = std::mem::replace(input, Rel::OneRow);
        }
    }

    /// Lifts projections from below a join, from whatever side keeps all of its rows, or its matches alone; and from below an
    /// inner join the filters over others.
    #[inline(never)]
    fn lift(&self, rel: &mut Rel) {
        let Rel::Join { kind, left, right, on } = rel else { return };
        let mut conditions = Vec::new();
        let mut computed = Vec::new();
        let inner = matches!(kind, JoinKind::Inner | JoinKind::Cross);
        if inner || *kind == JoinKind::Left {
            self.lift_of(left, inner, &mut conditions, &mut computed);
        }
        if inner || *kind == JoinKind::Right {
            self.lift_of(right, inner, &mut conditions, &mut computed);
        }
        if conditions.is_empty() && computed.is_empty() {
            return;
        }
        if let Some(on) = on.take() {
            conjuncts(on, &mut conditions);
        }
        conditions.iter_mut().for_each(|e| substitute(&computed, e));
        *on = all_of(conditions);
        if inner && on.is_some() {
            *kind = JoinKind::Inner;
        }
        if computed.is_empty() {
            return;
        }
        let mut exprs: Vec<(ColId, Expr)> = column_types(rel)
            .into_iter()
            .filter(|(id, _)| self.read.contains(id))
            .map(|(id, ty)| (id, Expr::col(id, ty, true)))
            .collect();
        exprs.append(&mut computed);
        wrap(rel, |input| Rel::Project { input, exprs });
    }

    /// The same for one side of the join.
    fn lift_of(
        &self,
        side: &mut Rel,
        inner: bool,
        conditions: &mut Vec<Expr>,
        computed: &mut Vec<(ColId, Expr)>,
    ) {
        if !is_lifted(side, inner) {
            return;
        }
        let (mut preds, mut made) = (Vec::new(), None::<Vec<(ColId, Expr)>>);
        loop {
            match std::mem::replace(side, Rel::OneRow) {
                Rel::Filter { input, predicate } => {
                    conjuncts(predicate, &mut preds);
                    *side = *input;
                }
                Rel::Project { input, exprs } => {
                    preds.iter_mut().for_each(|e| substitute(&exprs, e));
                    made = Some(match made {
                        None => exprs,
                        Some(mut above) => {
                            above.iter_mut().for_each(|(_, e)| substitute(&exprs, e));
                            above
                        }
                    });
                    *side = *input;
                }
                rel => {
                    *side = rel;
                    break;
                }
            }
        }
        if let Some(mut made) = made {
            let there: HashSet<ColId> = side.columns().into_iter().collect();
            made.retain(|(id, e)| e.kind != ExprKind::Col(*id) || !there.contains(id));
            computed.append(&mut made);
        }
        if inner && matches!(side, Rel::Join { .. }) {
            let (mut lifted, kept) = preds.into_iter().partition(may_wait);
            conditions.append(&mut lifted);
            preds = kept;
        }
        if let Some(predicate) = all_of(preds) {
            wrap(side, |input| Rel::Filter { input, predicate });
        }
    }
}

/// Whether all expressions are columns of the rows below, under the same ids; not those of a row further out, which an outer
/// join above has where it has no match.
fn hand_on(exprs: &[(ColId, Expr)], input: &Rel) -> bool {
    let same = exprs.iter().all(|(id, e)| e.kind == ExprKind::Col(*id));
    same && {
        let there: HashSet<ColId> = input.columns().into_iter().collect();
        exprs.iter().all(|(id, _)| there.contains(id))
    }
}

/// Whether something of a join's side is lifted: its projections, over tables and joins of them, or its filters over a join.
fn is_lifted(side: &Rel, inner: bool) -> bool {
    let (mut filters, mut projects) = (Vec::new(), false);
    let mut rel = below_filters(side, &mut filters);
    while let Rel::Project { input, exprs } = rel {
        if !exprs.iter().all(|(_, e)| may_wait(e)) {
            return false;
        }
        projects = true;
        rel = below_filters(input, &mut Vec::new());
    }
    match rel {
        Rel::Join { .. } => projects || inner && filters.iter().any(may_wait),
        Rel::Get(_) => projects,
        _ => false,
    }
}

fn wrap(rel: &mut Rel, with: impl FnOnce(Box<Rel>) -> Rel) {
    let input = Box::new(std::mem::replace(rel, Rel::OneRow));
    *rel = with(input);
}
