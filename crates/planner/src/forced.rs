//! FORCESEEK of a table in which nothing can be sought: 8622, before anything is planned.
//!
//! Promise: said only where no condition of the query compares the first column of a key that the hint allows, itself or
//! by another name: within a function or a calculation it is no range. Whether a condition that does compare it makes a
//! range is the planner's own affair: where it does not, all rows are read.

use crate::columns::has_subquery;
use crate::key_range::scan_key;
use ir::{ColId, Expr, ExprKind, Get, Query, Rel, SetOp};
use std::collections::HashSet;

/// What conditions a query has, and what it forces.
#[derive(Default)]
struct Seen<'q> {
    forced: Vec<&'q Get>,
    /// Columns of WHERE, HAVING and ON.
    asked: Vec<ColId>,
    /// Columns, and those that they are made of.
    made_of: Vec<(ColId, Vec<ColId>)>,
    is_recursive: bool,
}

/// Is there a table with FORCESEEK, and no condition by which it could be sought?
pub fn cannot_seek(query: &Query) -> bool {
    let mut seen = Seen::default();
    forced(&query.rel, &mut seen.forced);
    if seen.forced.is_empty() {
        return false;
    }
    look(&query.rel, &mut seen);
    if seen.is_recursive {
        return false;
    }
    let mut asked: HashSet<ColId> = seen.asked.iter().copied().collect();
    // What is above comes first, but for what APPLY's right side reads of its left.
    let mut known = 0;
    while known < asked.len() {
        known = asked.len();
        for (column, parts) in &seen.made_of {
            if asked.contains(column) {
                asked.extend(parts);
            }
        }
    }
    seen.forced.iter().any(|get| !leading(get).iter().any(|column| asked.contains(column)))
}

fn forced<'q>(rel: &'q Rel, out: &mut Vec<&'q Get>) {
    match rel {
        Rel::Get(get) if get.hints.forceseek && may_be_judged(get) => out.push(get),
        _ => rel.inputs().into_iter().for_each(|input| forced(input, out)),
    }
}

/// Other ways to its rows than ranges of columns are not looked into.
fn may_be_judged(get: &Get) -> bool {
    let table = &get.table;
    let is_computed = |(ordinal, _): &(usize, bool)| table.columns[*ordinal].computed.is_some();
    // Of a temporary table not all indexes are kept.
    !table.is_private()
        && !table.indexes.iter().any(|index| {
            index.xml.is_some()
                || index.spatial.is_some()
                || index.columns.first().is_some_and(is_computed)
        })
}

/// The columns that a condition compares; where it asks a query, all that it mentions.
fn compared(condition: &Expr, out: &mut Vec<ColId>) {
    match &condition.kind {
        ExprKind::And(left, right) | ExprKind::Or(left, right) => {
            compared(left, out);
            compared(right, out);
        }
        ExprKind::Not(inner) => compared(inner, out),
        ExprKind::Compare { left, right, .. } => {
            operand(left, out);
            operand(right, out);
        }
        ExprKind::In { input, .. } | ExprKind::IsNull { input, .. } => operand(input, out),
        ExprKind::Like { input, pattern, .. } => {
            let is_open = matches!(&pattern.kind, ExprKind::Const(types::Value::Str(text))
                if text.starts_with(['%', '_']));
            if !is_open {
                operand(input, out);
            }
        }
        _ => condition.columns(out),
    }
}

fn operand(expr: &Expr, out: &mut Vec<ColId>) {
    match &expr.kind {
        ExprKind::Col(column) => out.push(*column),
        ExprKind::Cast { input, .. } => operand(input, out),
        _ if has_subquery(expr) => expr.columns(out),
        _ => {}
    }
}

fn look<'q>(rel: &'q Rel, seen: &mut Seen<'q>) {
    match rel {
        Rel::Filter { predicate, .. } => compared(predicate, &mut seen.asked),
        Rel::Join { on: Some(on), .. } => compared(on, &mut seen.asked),
        Rel::Recursive { .. } => seen.is_recursive = true,
        Rel::Project { exprs: made, .. } | Rel::Aggregate { group: made, .. } => {
            for (column, expr) in made {
                let mut parts = Vec::new();
                expr.columns(&mut parts);
                seen.made_of.push((*column, parts));
            }
        }
        Rel::Values { rows, columns } => {
            for (at, column) in columns.iter().enumerate() {
                let mut parts = Vec::new();
                rows.iter().filter_map(|row| row.get(at)).for_each(|cell| cell.columns(&mut parts));
                seen.made_of.push((*column, parts));
            }
        }
        Rel::SetOp { op, left_columns, right_columns, columns, .. } => {
            // Rows of both sides are compared.
            if !matches!(op, SetOp::Union | SetOp::UnionAll) {
                seen.asked.extend(left_columns.iter().chain(right_columns));
            }
            let sides = left_columns.iter().zip(right_columns);
            let pairs = columns.iter().zip(sides.map(|(left, right)| vec![*left, *right]));
            seen.made_of.extend(pairs.map(|(column, sides)| (*column, sides)));
        }
        _ => {}
    }
    rel.inputs().into_iter().for_each(|input| look(input, seen));
}

/// The first columns of the keys that the hints allow.
fn leading(get: &Get) -> Vec<ColId> {
    let table = &get.table;
    let allows = |id: i32| get.hints.index.is_none_or(|only| i32::from(only).max(1) == id.max(1));
    let indexes = table.indexes.iter().enumerate().filter(|(_, index)| allows(index.index_id));
    let others = indexes.filter_map(|(at, _)| scan_key(table, Some(at)).first());
    let own = scan_key(table, None).first().filter(|_| allows(1));
    own.into_iter().chain(others).map(|(ordinal, _)| get.columns[*ordinal]).collect()
}
