//! How a table is read: by a range of its clustered key where the predicates give its leading
//! columns, else whole.

use binder::ir::*;
use catalog::TableDef;
use types::{Len, SqlType, Value, compare};

use crate::columns::*;
use crate::fold::{all_of, fold, widens};
use crate::lower::*;
use crate::plan::*;

impl Lowering {
    /// Reads a table under predicates.
    pub fn get(&mut self, get: Get, preds: Vec<Expr>, needed: &Needed) -> Lowered {
        match seeks_of_list(&get, &preds) {
            Some(alternatives) => self.seeks(&get, alternatives, needed),
            None => self.read(get, preds, needed),
        }
    }

    /// One seek after another, for values that differ: no row comes twice.
    fn seeks(&mut self, get: &Get, alternatives: Vec<Vec<Expr>>, needed: &Needed) -> Lowered {
        let kept = get.columns.iter().copied().filter(|c| needed.contains(c));
        let cols: Vec<ColId> = kept.chain(get.locator).collect();
        let mut inputs = Vec::with_capacity(alternatives.len());
        for preds in alternatives {
            let one = self.read(get.clone(), preds, needed);
            inputs.push(self.shape(one, &cols).node);
        }
        let rows = inputs.iter().map(|n| n.rows).sum();
        let types = inputs[0].types.clone();
        plain(Node { op: Op::Concat { inputs }, types, rows }, cols)
    }

    fn read(&mut self, get: Get, preds: Vec<Expr>, needed: &Needed) -> Lowered {
        let (found, rest) = key_range(&get, preds);
        // Subqueries stay out of the scan: it only ever compares.
        let (above, in_scan): (Vec<Expr>, Vec<Expr>) = rest
            .into_iter()
            .partition(|p| p.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. })));
        let wanted = with_exprs(&with_exprs(needed, above.iter()), in_scan.iter());
        let columns: Vec<usize> =
            (0..get.columns.len()).filter(|i| wanted.contains(&get.columns[*i])).collect();
        let mut cols: Vec<ColId> = columns.iter().map(|i| get.columns[*i]).collect();
        let mut types: Vec<SqlType> = columns.iter().map(|i| get.table.columns[*i].ty).collect();
        let locator = get.locator.is_some();
        if let Some(id) = get.locator {
            cols.push(id);
            types.push(LOCATOR);
        }
        let key_columns = key_columns(&get.table);
        let mut fixed = Needed::new();
        let mut rows = TABLE_ROWS;
        let range = found.map(|found| {
            rows = if found.prefix.len() == key_columns.len() { 1.0 } else { 100.0 };
            fixed.extend(key_columns.iter().take(found.prefix.len()).map(|(o, _)| get.columns[*o]));
            KeyRange {
                prefix: found.prefix.into_iter().map(|e| self.expr(e, &[])).collect(),
                lower: found.lower.map(|(e, inclusive)| (self.expr(e, &[]), inclusive)),
                upper: found.upper.map(|(e, inclusive)| (self.expr(e, &[]), inclusive)),
            }
        });
        let order = key_columns.iter().map(|(o, desc)| (get.columns[*o], *desc)).collect();
        if !in_scan.is_empty() {
            rows = (rows * 0.3).max(1.0);
        }
        let predicate = all_of(in_scan).map(|p| self.expr(p, &cols));
        let scan = Scan {
            table: get.table,
            columns,
            locator,
            range,
            predicate,
            hints: get.hints,
            for_update: locator || get.hints.updlock || get.hints.xlock,
            reverse: false,
        };
        let node = Node { op: Op::Scan(Box::new(scan)), types, rows };
        self.filter(Lowered { node, cols, order, fixed }, above)
    }
}

/// Values of an IN list that are sought one by one; longer lists scan.
const LIST_MAX: usize = 64;

/// Where an IN list of constants gives more of the key than the rest does: the predicates with the
/// list replaced by an equality, for each different value.
fn seeks_of_list(get: &Get, preds: &[Expr]) -> Option<Vec<Vec<Expr>>> {
    let given = key_range(get, preds.to_vec()).0.map_or(0, |r| r.prefix.len());
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
        let gained = key_range(get, with(different[0])).0.map_or(0, |r| r.prefix.len());
        if gained > given {
            return Some(different.into_iter().map(with).collect());
        }
    }
    None
}

/// Columns of the clustered key, in order: ordinal and descending.
pub(crate) fn key_columns(table: &TableDef) -> &[(usize, bool)] {
    match &table.primary_key {
        Some(key) if key.clustered && !table.is_heap() => &key.columns,
        _ => &[],
    }
}

/// A range found, its bounds not yet lowered.
pub(crate) struct Range {
    pub prefix: Vec<Expr>,
    lower: Option<(Expr, bool)>,
    upper: Option<(Expr, bool)>,
}

/// Finds the range of the key that `preds` allow, and the predicates that it does not already
/// promise.
pub(crate) fn key_range(get: &Get, preds: Vec<Expr>) -> (Option<Range>, Vec<Expr>) {
    let mut rest = preds;
    let mut range = Range { prefix: Vec::new(), lower: None, upper: None };
    for (ordinal, _) in key_columns(&get.table) {
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
    let some = !range.prefix.is_empty() || range.lower.is_some() || range.upper.is_some();
    (some.then_some(range), rest)
}

/// Reads a predicate as `column op value`, where the value does not read this table. With it: the
/// value in the column's type, and whether the range then promises the predicate entirely.
fn against(
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
        if value.ty == ty && cast_from.is_none() {
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
            SqlType::Decimal { precision: p1, scale: s1 },
            SqlType::Decimal { precision: p2, scale: s2 },
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
