//! From which reading of a base table the columns and rows of a relational tree come, and how a row of it is found again.
//!
//! A reading is named by the id of its first column. Invariant: rows of a reading come through projections, filters, sorts,
//! TOP, window functions and joins; not through groupings, DISTINCT and set operations.

use std::sync::Arc;

use catalog::TableDef;
use ir::*;
use types::{Len, SqlType};

/// The type of a locator.
pub const LOCATOR: SqlType = SqlType::VarBinary(Len::N(1024));

/// The base table's reading (by its first column) and ordinal behind a column, where it is one as it is.
pub fn trace(rel: &Rel, id: ColId) -> Option<(ColId, usize)> {
    match rel {
        Rel::Get(get) => {
            let at = get.columns.iter().position(|c| *c == id)?;
            Some((get.columns[0], at))
        }
        Rel::Project { input, exprs } => match exprs.iter().find(|(out, _)| *out == id)?.1.kind {
            ExprKind::Col(inner) => trace(input, inner),
            _ => None,
        },
        Rel::Filter { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Top { input, .. }
        | Rel::Offset { input, .. }
        | Rel::Window { input, .. } => trace(input, id),
        Rel::Join { left, right, .. } | Rel::Apply { left, right, .. } => {
            trace(left, id).or_else(|| trace(right, id))
        }
        _ => None,
    }
}

/// Readings whose rows come through to the result, by their first column.
pub fn reach(rel: &Rel, out: &mut Vec<(ColId, Arc<TableDef>)>) {
    match rel {
        Rel::Get(get) => out.push((get.columns[0], get.table.clone())),
        Rel::Filter { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Top { input, .. }
        | Rel::Offset { input, .. }
        | Rel::Window { input, .. }
        | Rel::Project { input, .. } => reach(input, out),
        Rel::Join { left, right, .. } | Rel::Apply { left, right, .. } => {
            reach(left, out);
            reach(right, out);
        }
        _ => {}
    }
}

/// Do rows of a base table come through?
pub fn is_updatable(rel: &Rel) -> bool {
    let mut gets = Vec::new();
    reach(rel, &mut gets);
    !gets.is_empty()
}

/// Is a row of the result made of several of a table?
pub fn is_grouped(rel: &Rel) -> bool {
    match rel {
        Rel::Aggregate { .. } | Rel::Distinct { .. } => true,
        Rel::Project { input, .. }
        | Rel::Filter { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Top { input, .. }
        | Rel::Offset { input, .. }
        | Rel::Window { input, .. } => is_grouped(input),
        _ => false,
    }
}

/// The database that the reading is of whose first column is `first`, if another one is named.
pub fn database_of(rel: &Rel, first: ColId) -> Option<Arc<str>> {
    match rel {
        Rel::Get(get) if get.columns.first() == Some(&first) => get.database.clone(),
        _ => rel.inputs().into_iter().find_map(|input| database_of(input, first)),
    }
}

/// By which views the reading whose first column is `first` is reached.
pub fn way(rel: &Rel, first: ColId) -> Option<Arc<Through>> {
    match rel {
        Rel::Get(get) if get.columns.first() == Some(&first) => get.through.clone(),
        _ => rel.inputs().into_iter().find_map(|input| way(input, first)),
    }
}

/// Puts the locator on the reading whose first column is `first`, and carries it and the table's columns up.
pub fn carry(
    rel: &mut Rel,
    first: ColId,
    locator: ColId,
    hints: TableHints,
    columns: &mut Vec<ColId>,
) -> bool {
    match rel {
        Rel::Get(get) if get.columns.first() == Some(&first) => {
            get.locator = Some(locator);
            if hints != TableHints::default() {
                get.hints = hints;
            }
            *columns = get.columns.clone();
            true
        }
        Rel::Filter { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Top { input, .. }
        | Rel::Offset { input, .. }
        | Rel::Window { input, .. } => carry(input, first, locator, hints, columns),
        Rel::Project { input, exprs } => {
            if !carry(input, first, locator, hints, columns) {
                return false;
            }
            let Some(table) = reading(input, locator) else { return false };
            exprs.push((locator, Expr::col(locator, LOCATOR, false)));
            for (id, column) in columns.iter().zip(&table.columns) {
                if !exprs.iter().any(|(known, _)| known == id) {
                    exprs.push((*id, Expr::col(*id, column.ty, column.nullable)));
                }
            }
            true
        }
        Rel::Join { left, right, .. } | Rel::Apply { left, right, .. } => {
            carry(left, first, locator, hints, columns)
                || carry(right, first, locator, hints, columns)
        }
        _ => false,
    }
}

/// The table on whose reading the locator is.
fn reading(rel: &Rel, locator: ColId) -> Option<Arc<TableDef>> {
    match rel {
        Rel::Get(get) if get.locator == Some(locator) => Some(get.table.clone()),
        _ => rel.inputs().into_iter().find_map(|input| reading(input, locator)),
    }
}

/// The filters above a reading, over the slots of its row. False: there is more than filters of that row.
pub fn conditions(rel: &Rel, first: ColId, out: &mut Vec<Expr>) -> bool {
    match rel {
        Rel::Get(get) => get.columns.first() == Some(&first),
        Rel::Filter { input, predicate } => {
            let mut own = predicate.clone();
            let known = over_row(&mut own, input, first) && conditions(input, first, out);
            out.push(own);
            known
        }
        Rel::Sort { input, .. } | Rel::Project { input, .. } => conditions(input, first, out),
        _ => false,
    }
}

/// Puts an expression over the columns of `rel` over the slots of the reading's row.
fn over_row(e: &mut Expr, rel: &Rel, first: ColId) -> bool {
    match &e.kind {
        ExprKind::Col(id) => match over_slots(rel, *id, first) {
            Some(known) => *e = known,
            None => return false,
        },
        ExprKind::Subquery { .. } => return false,
        _ => {
            let mut all = true;
            e.for_each_child_mut(&mut |child| all &= over_row(child, rel, first));
            return all;
        }
    }
    true
}

/// A column of `rel` over the slots of the reading's row.
fn over_slots(rel: &Rel, id: ColId, first: ColId) -> Option<Expr> {
    match rel {
        Rel::Get(get) if get.columns.first() == Some(&first) => {
            let at = get.columns.iter().position(|c| *c == id)?;
            let column = &get.table.columns[at];
            let slot = Expr::new(ExprKind::Slot(at as u32), column.ty, column.nullable);
            let collation = column.collation;
            let usual = !column.ty.is_character() || collation == types::Collation::default();
            // Values of a row do not carry their columns' rules.
            Some(match usual {
                true => slot,
                false => crate::typing::collate(slot, collation.rule(), &collation.name()),
            })
        }
        Rel::Project { input, exprs } => {
            let mut found = exprs.iter().find(|(out, _)| *out == id)?.1.clone();
            over_row(&mut found, input, first).then_some(found)
        }
        Rel::Filter { input, .. } | Rel::Sort { input, .. } => over_slots(input, id, first),
        _ => None,
    }
}
