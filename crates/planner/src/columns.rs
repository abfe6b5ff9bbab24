//! Columns of trees and expressions: which are read, of what type, which are constant.

use ir::*;
use types::{SqlType, Value};

use crate::fold::fold;
use crate::lower::Needed;

/// `needed` and everything the expressions read.
pub(crate) fn with_exprs<'e>(needed: &Needed, exprs: impl Iterator<Item = &'e Expr>) -> Needed {
    let mut out = needed.clone();
    let mut ids = Vec::new();
    for e in exprs {
        e.columns(&mut ids);
    }
    out.extend(ids);
    out
}

/// Types of the columns a tree yields.
pub(crate) fn column_types(rel: &Rel) -> Vec<(ColId, SqlType)> {
    match rel {
        Rel::OneRow => Vec::new(),
        Rel::Get(get) => {
            let columns = get.table.columns.iter();
            let mut out: Vec<(ColId, SqlType)> =
                get.columns.iter().copied().zip(columns.map(|c| c.ty)).collect();
            out.extend(get.locator.map(|id| (id, LOCATOR)));
            out
        }
        Rel::System { view, columns, .. } => {
            columns.iter().copied().zip(view.columns.iter().map(|c| c.ty)).collect()
        }
        Rel::Values { rows, columns } => columns
            .iter()
            .enumerate()
            .map(|(i, id)| (*id, rows.first().map_or(SqlType::Int, |row| row[i].ty)))
            .collect(),
        Rel::Project { exprs, .. } => exprs.iter().map(|(id, e)| (*id, e.ty)).collect(),
        Rel::Aggregate { group, aggs, sets, .. } => group
            .iter()
            .map(|(id, e)| (*id, e.ty))
            .chain(aggs.iter().map(|a| (a.out, a.ty)))
            .chain(sets.as_ref().map(|s| (s.mask, SqlType::BigInt)))
            .collect(),
        Rel::Function { columns, .. } => columns.clone(),
        Rel::Window { input, windows } => {
            let mut out = column_types(input);
            out.extend(windows.iter().map(|w| (w.out, w.ty)));
            out
        }
        Rel::Serialize { out, spec, .. } => vec![(*out, spec.ty())],
        Rel::SetOp { left, left_columns, columns, .. }
        | Rel::Recursive { anchor: left, anchor_columns: left_columns, columns, .. } => {
            let types = column_types(left);
            columns
                .iter()
                .zip(left_columns)
                .map(|(id, l)| {
                    let ty = types.iter().find(|(i, _)| i == l);
                    (*id, ty.map_or(SqlType::Int, |(_, ty)| *ty))
                })
                .collect()
        }
        _ => rel.inputs().into_iter().flat_map(column_types).collect(),
    }
}

/// The type of a locator's slot.
pub(crate) const LOCATOR: SqlType = SqlType::VarBinary(types::Len::N(900));

pub(crate) fn retype(expr: &mut Expr, types: &[(ColId, SqlType)]) {
    if let ExprKind::Col(id) = expr.kind {
        if let Some((_, ty)) = types.iter().find(|(i, _)| *i == id) {
            expr.ty = *ty;
        }
        return;
    }
    expr.for_each_child_mut(&mut |child| retype(child, types));
}

/// May be computed elsewhere, and twice.
pub(crate) fn is_movable(e: &Expr) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Subquery { .. } => true,
        ExprKind::Func { func, .. } => func.is_per_row(),
        _ => false,
    })
}

/// The same for all rows of a run: reads no column (`ORDER BY (SELECT NULL)` too).
pub(crate) fn is_free_of_rows(e: &Expr) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Col(_) | ExprKind::Slot(_) => true,
        ExprKind::Func { func, .. } => func.is_per_row(),
        _ => false,
    })
}

/// Columns that are the same constant wherever they are seen, replaced by it. Not below the side of
/// an outer join that may be NULL.
pub(crate) fn inline_constants(rel: &mut Rel) {
    let mut known: Vec<(ColId, Expr)> = Vec::new();
    loop {
        let before = known.len();
        collect_constants(rel, &mut known);
        if known.len() == before {
            return;
        }
        rel.walk_exprs_mut(&mut |e| {
            e.replace_columns(&mut |id| {
                known.iter().find(|(i, _)| *i == id).map(|(_, e)| e.clone())
            });
            fold(e);
        });
    }
}

fn collect_constants(rel: &Rel, known: &mut Vec<(ColId, Expr)>) {
    if let Rel::Project { exprs, .. } = rel {
        for (id, e) in exprs {
            let constant = matches!(e.kind, ExprKind::Const(Value::Null) | ExprKind::Const(_));
            if constant && !known.iter().any(|(i, _)| i == id) {
                known.push((*id, e.clone()));
            }
        }
    }
    match rel {
        Rel::Join { kind: JoinKind::Left, left, .. } => collect_constants(left, known),
        Rel::Join { kind: JoinKind::Right, right, .. } => collect_constants(right, known),
        Rel::Join { kind: JoinKind::Full, .. } => {}
        Rel::Apply { outer: true, left, .. } => collect_constants(left, known),
        // The sides of a set operation carry their columns by id: leave them be.
        Rel::SetOp { .. } | Rel::Recursive { .. } => {}
        _ => rel.inputs().into_iter().for_each(|input| collect_constants(input, known)),
    }
}
