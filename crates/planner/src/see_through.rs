//! Views, derived tables and common table expressions, seen through: what only gives other names to columns goes, and what
//! computes some is done after an inner join, so that the tables below are joined, sought and ordered as if they were named
//! where the view is.
//!
//! ```text
//! s join (select id as k, v from t) d on d.k = s.k       -->   s join t on t.id = s.k
//! s join (select id as k, f(v) as w from t) d ..         -->   (f(t.v) as w of (s join t ..))
//! s join (a join b on .. where p) on q                   -->   s join (a join b on ..) on q and p
//! ```
//!
//! Promise: the same rows under the same ids for whoever stands outside: ids that are listed by name, and not read by an
//! expression, are given again by a projection right below the list. Computed columns move over inner joins alone, and only
//! where they may be computed elsewhere; subqueries and functions of users stay where they are.

use std::collections::{HashMap, HashSet};

use ir::*;

use crate::columns::{Needed, below_filters, column_types, is_movable, put_names, types_of};
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
    let mut names = Names { firsts: HashMap::new(), read, flat };
    let mut listed: Vec<ColId> = outside.iter().copied().collect();
    listed.sort_unstable();
    names.below_list(rel, &listed);
    if !names.firsts.is_empty() {
        rel.walk_exprs_mut(&mut |e| names.rename(e));
    }
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
    rel.own_exprs(&mut |e| found = found || asks(e));
    found
}

fn asks(e: &Expr) -> bool {
    let mut found = matches!(e.kind, ExprKind::Subquery { .. });
    e.for_each_child(&mut |child| found = found || asks(child));
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

struct Names {
    /// The first name of each column whose projection is gone.
    firsts: HashMap<ColId, ColId>,
    /// Columns that anybody reads.
    read: Needed,
    flat: bool,
}

impl Names {
    fn first(&self, id: ColId) -> ColId {
        self.firsts.get(&id).copied().unwrap_or(id)
    }

    /// What stands right below somebody who lists columns by their ids: they are there afterwards.
    fn below_list(&mut self, rel: &mut Rel, listed: &[ColId]) {
        if let Rel::Project { input, exprs } = rel {
            exprs.iter_mut().for_each(|(_, e)| self.asked(e));
            self.strip(input);
            return;
        }
        let types = types_of(column_types(rel));
        self.strip(rel);
        let own: Vec<ColId> = listed.iter().copied().filter(|id| types.contains_key(id)).collect();
        if own.iter().any(|id| self.firsts.contains_key(id)) {
            let col = |id: ColId| (id, Expr::col(self.first(id), types[&id], true));
            let exprs = own.into_iter().map(col).collect();
            wrap(rel, |input| Rel::Project { input, exprs });
        }
    }

    /// Sees through all of a tree whose columns are read by expressions alone.
    fn strip(&mut self, rel: &mut Rel) {
        match rel {
            Rel::SetOp { left, left_columns, right, right_columns, .. } => {
                self.below_list(left, left_columns);
                self.below_list(right, right_columns);
            }
            Rel::Recursive { anchor, anchor_columns, step, step_columns, .. } => {
                self.below_list(anchor, anchor_columns);
                self.below_list(step, step_columns);
            }
            Rel::Distinct { input, over: listed }
            | Rel::Serialize { input, columns: listed, .. } => self.below_list(input, listed),
            _ => rel.inputs_mut().into_iter().for_each(|input| self.strip(input)),
        }
        rel.own_exprs_mut(&mut |e| self.asked(e));
        match rel {
            Rel::Project { .. } => self.project(rel),
            Rel::Join { .. } if self.flat => self.lift(rel),
            _ => {}
        }
    }

    /// Sees through the subqueries of an expression.
    fn asked(&mut self, e: &mut Expr) {
        if let ExprKind::Subquery { query, .. } = &mut e.kind {
            let listed: Vec<ColId> = query.output.iter().map(|c| c.id).collect();
            self.below_list(&mut query.rel, &listed);
        }
        e.for_each_child_mut(&mut |child| self.asked(child));
    }

    /// A projection goes if it does no more than give names.
    fn project(&mut self, rel: &mut Rel) {
        let Rel::Project { input, exprs } = rel else { return };
        exprs.retain(|(id, _)| self.read.contains(id));
        let own: HashSet<ColId> = input.columns().into_iter().collect();
        if !exprs.iter().all(|(_, e)| self.is_of(e, &own)) {
            return;
        }
        for (id, e) in exprs {
            self.name(*id, e);
        }
        *rel = std::mem::replace(input, Rel::OneRow);
    }

    /// Whether an expression is a column of the rows below alone, and not of a row further out, which an outer join above has
    /// where it has no match.
    fn is_of(&self, e: &Expr, own: &HashSet<ColId>) -> bool {
        matches!(e.kind, ExprKind::Col(id) if own.contains(&self.first(id)))
    }

    fn name(&mut self, id: ColId, e: &Expr) {
        if let ExprKind::Col(of) = e.kind
            && of != id
        {
            self.firsts.insert(id, self.first(of));
        }
    }

    /// Lifts projections from below a join, from whatever side keeps all of its rows, or its matches alone; and from below an
    /// inner join the filters over others.
    fn lift(&mut self, rel: &mut Rel) {
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
        conditions.iter_mut().for_each(|e| put_names(&computed, e));
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
        &mut self,
        side: &mut Rel,
        inner: bool,
        conditions: &mut Vec<Expr>,
        computed: &mut Vec<(ColId, Expr)>,
    ) {
        let (mut filters, mut below) = (Vec::new(), &*side);
        while let Rel::Filter { input, predicate } = below {
            filters.push(predicate);
            below = input;
        }
        let moves = |e: &Expr| is_movable(e) && !e.calls_users();
        match below {
            Rel::Join { .. } if inner && filters.iter().any(|f| moves(f)) => {}
            Rel::Project { input, exprs } => {
                let all = exprs.iter().all(|(_, e)| matches!(e.kind, ExprKind::Col(_)) || moves(e));
                let of = below_filters(input, &mut Vec::new());
                if !all || !matches!(of, Rel::Get(_) | Rel::Join { .. }) {
                    return;
                }
            }
            _ => return,
        }
        let mut preds = Vec::new();
        let mut own = Vec::new();
        loop {
            match std::mem::replace(side, Rel::OneRow) {
                Rel::Filter { input, predicate } => {
                    conjuncts(predicate, &mut preds);
                    *side = *input;
                }
                Rel::Project { input, exprs } if own.is_empty() => {
                    let there: HashSet<ColId> = input.columns().into_iter().collect();
                    let (names, others): (Vec<_>, Vec<_>) =
                        exprs.into_iter().partition(|(_, e)| self.is_of(e, &there));
                    names.iter().for_each(|(id, e)| self.name(*id, e));
                    own = others;
                    own.iter_mut().for_each(|(_, e)| self.rename(e));
                    preds.iter_mut().for_each(|e| put_names(&own, e));
                    *side = *input;
                }
                rel => {
                    *side = rel;
                    break;
                }
            }
        }
        computed.append(&mut own);
        if inner && matches!(side, Rel::Join { .. }) {
            let (mut lifted, kept) = preds.into_iter().partition(|p| moves(p));
            conditions.append(&mut lifted);
            preds = kept;
        }
        if let Some(predicate) = all_of(preds) {
            wrap(side, |input| Rel::Filter { input, predicate });
        }
    }

    fn rename(&self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Col(id) => *id = self.first(*id),
            ExprKind::Subquery { query, .. } => {
                query.rel.walk_exprs_mut(&mut |e| self.rename(e));
            }
            _ => {}
        }
        e.for_each_child_mut(&mut |child| self.rename(child));
    }
}

fn wrap(rel: &mut Rel, with: impl FnOnce(Box<Rel>) -> Rel) {
    let input = Box::new(std::mem::replace(rel, Rel::OneRow));
    *rel = with(input);
}
