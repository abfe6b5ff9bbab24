//! Which part of a key predicates allow: how many of its columns they give, in which bounds, and what is left to be asked of
//! each row.

use catalog::TableDef;
use ir::*;
use types::{Len, SqlType, Value, compare};

use crate::fold::{conjuncts, fold, widens};

/// The table itself, then those of its indexes whose entries are bound to have all rows that the predicates let through.
pub(crate) fn ways(get: &Get, preds: &[Expr]) -> Vec<Option<usize>> {
    let mut ways = vec![None];
    let table = &get.table;
    let filtered = table.indexes.iter().any(|i| i.filter.is_some());
    let rules = if filtered { ir_rules(table) } else { None };
    for (at, index) in table.indexes.iter().enumerate() {
        if index.clustered || index.disabled {
            continue;
        }
        let usable = index.filter.is_none()
            || rules
                .as_ref()
                .and_then(|r| r.filters[at].clone())
                .is_some_and(|filter| implied(get, filter, preds));
        if usable {
            ways.push(Some(at));
        }
    }
    ways
}

fn ir_rules(table: &TableDef) -> Option<std::sync::Arc<binder::TableRules>> {
    binder::rules_of(table).ok()
}

/// Do the predicates promise an index's filter? Each of its conditions is among them as written, or says that a column
/// is not NULL that one of them compares.
pub(crate) fn implied(get: &Get, mut filter: Expr, preds: &[Expr]) -> bool {
    fn over_columns(e: &mut Expr, get: &Get) {
        match e.kind {
            ExprKind::Slot(i) => e.kind = ExprKind::Col(get.columns[i as usize]),
            _ => e.for_each_child_mut(&mut |child| over_columns(child, get)),
        }
    }
    over_columns(&mut filter, get);
    let mut conditions = Vec::new();
    conjuncts(filter, &mut conditions);
    conditions.iter_mut().for_each(fold);
    conditions.iter().all(|condition| {
        preds.contains(condition)
            || matches!(&condition.kind, ExprKind::IsNull { input, negated: true }
                if matches!(input.kind, ExprKind::Col(id) if preds.iter().any(|p| compares(p, id))))
    })
}

/// Is the predicate true of no NULL in this column?
pub(crate) fn compares(pred: &Expr, column: ColId) -> bool {
    let is = |e: &Expr| match &e.kind {
        ExprKind::Col(id) => *id == column,
        ExprKind::Cast { input, .. } => input.kind == ExprKind::Col(column),
        _ => false,
    };
    match &pred.kind {
        ExprKind::Compare { left, right, .. } => is(left) || is(right),
        ExprKind::In { input, negated: false, .. }
        | ExprKind::Like { input, negated: false, .. } => is(input),
        _ => false,
    }
}

/// Columns of the key that a scan goes by.
pub(crate) fn scan_key(table: &TableDef, index: Option<usize>) -> &[(usize, bool)] {
    match index {
        Some(at) => &table.indexes[at].columns,
        None => key_columns(table),
    }
}

/// How many leading columns of some key the predicates give, at best.
pub(crate) fn reach(get: &Get, preds: &[Expr]) -> usize {
    let given = |index| key_range(get, index, preds.to_vec()).0.map_or(0, |r| r.prefix.len());
    ways(get, preds).into_iter().map(given).max().unwrap_or(0)
}

/// Values of an IN list that are sought one by one; longer lists scan.
const LIST_MAX: usize = 64;

/// Where an IN list of constants gives more of the key than the rest does: the predicates with the
/// list replaced by an equality, for each different value.
pub(crate) fn seeks_of_list(get: &Get, preds: &[Expr]) -> Option<Vec<Vec<Expr>>> {
    let given = reach(get, preds);
    for (i, pred) in preds.iter().enumerate() {
        let ExprKind::In { input, list, negated: false } = &pred.kind else { continue };
        let constants: Option<Vec<&Value>> = list
            .iter()
            .map(|e| match &e.kind {
                ExprKind::Const(value) => Some(value),
                _ => None,
            })
            .collect();
        let Some(constants) = constants else { continue };
        let mut different: Vec<usize> = Vec::new();
        for (at, value) in constants.iter().enumerate() {
            let known = different
                .iter()
                .any(|d| compare::compare(constants[*d], value).is_none_or(|o| o.is_eq()));
            if !known && !value.is_null() {
                different.push(at);
            }
        }
        if different.is_empty() || different.len() > LIST_MAX {
            continue;
        }
        let with = |at: usize| {
            let mut preds = preds.to_vec();
            preds[i] = Expr::compare(CompareOp::Eq, (**input).clone(), list[at].clone());
            fold(&mut preds[i]);
            preds
        };
        if reach(get, &with(different[0])) > given {
            return Some(different.into_iter().map(with).collect());
        }
    }
    None
}

/// How many leading columns of a key the predicates give, how many it has, and whether it is unique.
pub(crate) fn given(get: &Get, index: Option<usize>, preds: &[Expr]) -> (usize, usize, bool) {
    let found = key_range(get, index, preds.to_vec()).0.map_or(0, |r| r.prefix.len());
    let unique = match index {
        Some(at) => get.table.indexes[at].unique,
        None => !get.table.is_heap() && !get.table.has_uniquifier(),
    };
    (found, scan_key(&get.table, index).len(), unique)
}

/// Columns of the clustered key, in order: ordinal and descending.
pub(crate) fn key_columns(table: &TableDef) -> &[(usize, bool)] {
    if table.is_heap() { &[] } else { table.clustered_key() }
}

/// A range found, its bounds not yet lowered.
pub(crate) struct Range {
    pub prefix: Vec<Expr>,
    pub lower: Option<(Expr, bool)>,
    pub upper: Option<(Expr, bool)>,
}

/// Finds the range of the table's key, or an index's, that `preds` allow, and the predicates that it does not already
/// promise.
pub(crate) fn key_range(
    get: &Get,
    index: Option<usize>,
    preds: Vec<Expr>,
) -> (Option<Range>, Vec<Expr>) {
    let all = if get.table.buckets(index).is_some() { preds.clone() } else { Vec::new() };
    let mut rest = preds;
    let mut range = Range { prefix: Vec::new(), lower: None, upper: None };
    for (ordinal, _) in scan_key(&get.table, index) {
        let column = get.columns[*ordinal];
        let ty = get.table.columns[*ordinal].ty;
        let found = rest.iter().enumerate().find_map(|(i, p)| {
            let (op, e) = against(p, column, ty, &get.columns)?;
            (op == CompareOp::Eq).then_some((i, e))
        });
        if let Some((i, (e, exact))) = found {
            range.prefix.push(e);
            if exact {
                rest.remove(i);
            }
            continue;
        }
        // Not given by equality: bounds of this column end the range.
        let mut i = 0;
        while i < rest.len() {
            let bound = against(&rest[i], column, ty, &get.columns);
            let Some((op, (e, true))) = bound else {
                i += 1;
                continue;
            };
            let taken = match op {
                CompareOp::Gt | CompareOp::Ge if range.lower.is_none() => {
                    range.lower = Some((e, op == CompareOp::Ge));
                    true
                }
                CompareOp::Lt | CompareOp::Le if range.upper.is_none() => {
                    range.upper = Some((e, op == CompareOp::Le));
                    true
                }
                _ => false,
            };
            if taken {
                rest.remove(i);
            } else {
                i += 1;
            }
        }
        break;
    }
    let key = scan_key(&get.table, index).len();
    if get.table.buckets(index).is_some() && range.prefix.len() < key {
        // What is hashed is the whole key.
        return (None, all);
    }
    let some = !range.prefix.is_empty() || range.lower.is_some() || range.upper.is_some();
    (some.then_some(range), rest)
}

/// Reads a predicate as `column op value`, where the value does not read this table. With it: the
/// value in the column's type, and whether the range then promises the predicate entirely.
pub(crate) fn against(
    pred: &Expr,
    column: ColId,
    ty: SqlType,
    own: &[ColId],
) -> Option<(CompareOp, (Expr, bool))> {
    let ExprKind::Compare { op, left, right } = &pred.kind else { return None };
    for (op, this, other) in [(*op, left, right), (op.flip(), right, left)] {
        let cast_from = match &this.kind {
            ExprKind::Col(id) if *id == column => None,
            // CAST(column AS wider) = value: every match is a value of the column's own type.
            ExprKind::Cast { input, mode: CastMode::Implicit, style: None }
                if input.kind == ExprKind::Col(column) && widens(ty, this.ty) =>
            {
                Some(this.ty)
            }
            _ => continue,
        };
        let mut ids = Vec::new();
        other.columns(&mut ids);
        let foreign = !ids.iter().any(|id| own.contains(id))
            && !other.any(&mut |e| match &e.kind {
                ExprKind::Subquery { .. } => true,
                ExprKind::Func { func, .. } => func.is_per_row(),
                _ => false,
            });
        if !foreign {
            continue;
        }
        let value = (**other).clone();
        if value.ty.has_values_of(ty) && cast_from.is_none() {
            return Some((op, (value, true)));
        }
        if cast_from.is_none() && holds_all(value.ty, ty) {
            return Some((op, (cast(value, ty, CastMode::Implicit), true)));
        }
        // Otherwise only equality can be sought: what does not convert equals nothing, and the
        // predicate itself is checked once more on what is found.
        if op == CompareOp::Eq {
            return Some((op, (cast(value, ty, CastMode::Try), false)));
        }
    }
    None
}

/// Every value of `from` is the same value in `to`.
fn holds_all(from: SqlType, to: SqlType) -> bool {
    let fits = |a: usize, b: Len| a <= b.limit();
    match (from, to) {
        (SqlType::Char(a), SqlType::VarChar(b)) => fits(a as usize, b),
        (SqlType::VarChar(a), SqlType::VarChar(b)) => fits(a.limit(), b),
        (SqlType::VarChar(a), SqlType::Char(b)) => a.limit() <= b as usize,
        (SqlType::Char(a), SqlType::Char(b)) => a <= b,
        (SqlType::NChar(a), SqlType::NVarChar(b)) => fits(a as usize, b),
        (SqlType::NVarChar(a), SqlType::NVarChar(b)) => fits(a.limit(), b),
        (SqlType::NVarChar(a), SqlType::NChar(b)) => a.limit() <= b as usize,
        (SqlType::NChar(a), SqlType::NChar(b)) => a <= b,
        (SqlType::Char(a), SqlType::NVarChar(b)) => fits(a as usize, b),
        (SqlType::VarChar(a), SqlType::NVarChar(b)) => fits(a.limit(), b),
        (
            SqlType::Decimal { precision: p1, scale: s1, .. },
            SqlType::Decimal { precision: p2, scale: s2, .. },
        ) => s1 <= s2 && p1 - s1 <= p2 - s2,
        _ => false,
    }
}

fn cast(input: Expr, ty: SqlType, mode: CastMode) -> Expr {
    let kind = ExprKind::Cast { input: Box::new(input), mode, style: None };
    let mut expr = Expr::new(kind, ty, true);
    fold(&mut expr);
    expr
}
