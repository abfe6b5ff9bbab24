//! What a planner would like to know before it plans: for each table of a statement, the columns that predicates, joins
//! and groups are about.
//!
//! Promise: a statement that has one sensible plan (rows given one by one, a row by its unique key) asks for nothing, so
//! it is compiled without a look at statistics.

use std::collections::HashSet;
use std::sync::Arc;

use catalog::TableDef;
use ir::{ColId, Data, Expr, ExprKind, Get, Query, Rel, StmtKind};

use crate::columns::has_subquery;
use crate::fold::conjuncts;
use crate::key_range::{given, ways};

/// A table of a statement, and the ordinals of its columns whose statistics matter.
pub struct Wish {
    /// One of the session's own database, or a private one.
    pub table: Arc<TableDef>,
    /// In order, none twice.
    pub columns: Vec<usize>,
}

/// What planning `kind` would like to know.
pub fn wishes(kind: &StmtKind) -> Vec<Wish> {
    match kind.data() {
        Data::Select(select) => of_query(&select.query, &[]),
        Data::Insert(insert) => match &insert.source {
            ir::InsertSource::Query { query, .. } => of_query(query, &[]),
            ir::InsertSource::Values(rows) => {
                let subqueries = |e: &&Expr| has_subquery(e);
                let exprs: Vec<&Expr> = rows.iter().flatten().filter(subqueries).collect();
                if exprs.is_empty() { Vec::new() } else { of_parts(&[], &exprs) }
            }
            ir::InsertSource::Exec { .. } => Vec::new(),
            ir::InsertSource::Changed(from) => wishes(&from.change),
        },
        Data::Update(update) => {
            let values: Vec<&Expr> = update.set.iter().map(ir::UpdateSet::value).collect();
            of_query(&update.query, &values)
        }
        Data::Delete(delete) => of_query(&delete.query, &[]),
        Data::Merge(merge) => of_query(&merge.query, &[]),
        Data::Cursor(_) | Data::SetVars(_) | Data::Return(_) | Data::None => Vec::new(),
    }
}

/// Whether a search has one sensible plan, whatever the values in it: a row by its unique key.
pub fn has_one_plan(kind: &StmtKind) -> bool {
    match kind.data() {
        Data::Select(select) => is_trivial(&select.query.rel),
        Data::Update(update) => {
            let values: Vec<&Expr> = update.set.iter().map(ir::UpdateSet::value).collect();
            !values.into_iter().any(has_subquery) && is_trivial(&update.query.rel)
        }
        Data::Delete(delete) => is_trivial(&delete.query.rel),
        Data::Insert(_)
        | Data::Merge(_)
        | Data::Cursor(_)
        | Data::SetVars(_)
        | Data::Return(_)
        | Data::None => false,
    }
}

/// The same as [`wishes`], of a query by itself.
pub fn query_wishes(query: &Query) -> Vec<Wish> {
    of_query(query, &[])
}

fn of_query(query: &Query, more: &[&Expr]) -> Vec<Wish> {
    if !more.iter().any(|e| has_subquery(e)) && is_trivial(&query.rel) {
        return Vec::new();
    }
    of_parts(&[&query.rel], more)
}

/// One table, of which every column of a unique key is given.
fn is_trivial(rel: &Rel) -> bool {
    let mut filters = Vec::new();
    let mut rel = rel;
    loop {
        match rel {
            Rel::Filter { input, predicate } => {
                if has_subquery(predicate) {
                    return false;
                }
                filters.push(predicate);
                rel = input;
            }
            Rel::Project { input, exprs } => {
                if exprs.iter().any(|(_, e)| has_subquery(e)) {
                    return false;
                }
                rel = input;
            }
            Rel::Get(get) => {
                let mut preds = Vec::new();
                filters.into_iter().for_each(|filter| conjuncts(filter.clone(), &mut preds));
                return names_a_row(get, &preds);
            }
            Rel::OneRow => return true,
            _ => return false,
        }
    }
}

fn names_a_row(get: &Get, preds: &[Expr]) -> bool {
    get.sample.is_none()
        && ways(get, preds).into_iter().any(|index| {
            let (found, key, unique) = given(get, index, preds);
            unique && key > 0 && found == key
        })
}

fn of_parts(rels: &[&Rel], exprs: &[&Expr]) -> Vec<Wish> {
    let (mut gets, mut asked) = (Vec::new(), HashSet::new());
    rels.iter().for_each(|rel| of_rel(rel, &mut gets, &mut asked));
    exprs.iter().for_each(|e| of_subqueries(e, &mut gets, &mut asked));
    let mut wishes: Vec<Wish> = Vec::new();
    for get in gets {
        if get.database.is_some() {
            continue;
        }
        let ordinals = 0..get.table.columns.len();
        let columns = ordinals.filter(|i| asked.contains(&get.columns[*i]));
        match wishes.iter_mut().find(|w| Arc::ptr_eq(&w.table, &get.table)) {
            Some(wish) => wish.columns.extend(columns),
            None => wishes.push(Wish { table: get.table.clone(), columns: columns.collect() }),
        }
    }
    for wish in &mut wishes {
        wish.columns.sort_unstable();
        wish.columns.dedup();
    }
    wishes
}

fn of_rel<'a>(rel: &'a Rel, gets: &mut Vec<&'a Get>, asked: &mut HashSet<ColId>) {
    let mut ask = |e: &Expr| {
        let mut ids = Vec::new();
        e.columns(&mut ids);
        asked.extend(ids);
    };
    match rel {
        Rel::Get(get) => gets.push(get),
        Rel::Filter { predicate, .. } => ask(predicate),
        Rel::Join { on, .. } => on.iter().for_each(ask),
        Rel::Aggregate { group, .. } => group.iter().for_each(|(_, e)| ask(e)),
        Rel::Distinct { over, .. } => asked.extend(over),
        _ => {}
    }
    rel.own_exprs(&mut |e| of_subqueries(e, gets, asked));
    // A chain of joins is long, and stacks are not: down the left side by a loop.
    let mut inputs = rel.inputs().into_iter();
    let Some(mut left) = inputs.next() else { return };
    inputs.for_each(|input| of_rel(input, gets, asked));
    while let Rel::Join { left: next, right, on, .. } = left {
        on.iter().for_each(|e| {
            let mut ids = Vec::new();
            e.columns(&mut ids);
            asked.extend(ids);
            of_subqueries(e, gets, asked);
        });
        of_rel(right, gets, asked);
        left = next;
    }
    of_rel(left, gets, asked);
}

fn of_subqueries<'a>(e: &'a Expr, gets: &mut Vec<&'a Get>, asked: &mut HashSet<ColId>) {
    if let ExprKind::Subquery { kind, query } = &e.kind {
        if let ir::SubqueryKind::In { needle } | ir::SubqueryKind::Quantified { needle, .. } = kind
        {
            let mut ids = Vec::new();
            needle.columns(&mut ids);
            asked.extend(ids);
            asked.extend(query.output.first().map(|c| c.id));
        }
        of_rel(&query.rel, gets, asked);
    }
    e.for_each_child(&mut |child| of_subqueries(child, gets, asked));
}
