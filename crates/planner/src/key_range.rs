//! Which part of a key predicates allow: how many of its columns they give, in which bounds, and what is left to be asked of
//! each row.

use catalog::TableDef;
use ir::*;
use types::{Len, SqlType, Value, compare, convert};

use crate::columns::is_movable;
use crate::fold::{conjuncts, fold};

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

/// Columns whose order a scan's rows come in: entries of an index that is not unique go on in the order of the clustered key.
pub(crate) fn order_key(table: &TableDef, index: Option<usize>) -> Vec<(usize, bool)> {
    let mut key = scan_key(table, index).to_vec();
    let goes_on = index.map(|at| &table.indexes[at]).is_some_and(|index| {
        !index.unique
            && index.columnstore.is_none()
            && index.spatial.is_none()
            && index.xml.is_none()
            && index.partitioned.is_none()
    }) && !key.is_empty()
        && !table.is_memory();
    if goes_on {
        for (ordinal, desc) in key_columns(table) {
            if !key.iter().any(|(known, _)| known == ordinal) {
                key.push((*ordinal, *desc));
            }
        }
    }
    key
}

/// Whether some way to the table has the rows that the predicates let through in the order of this column; `alone`: and no others,
/// so that all that is asked of them is its range.
pub(crate) fn comes_in_order_of(get: &Get, preds: &[Expr], column: ColId, alone: bool) -> bool {
    ways(get, preds).into_iter().any(|index| {
        let (found, rest) = key_range(get, index, preds.to_vec());
        let fixed = found.map_or(0, |range| range.prefix.len());
        let key = order_key(&get.table, index);
        let next = key.get(fixed).map(|(ordinal, _)| get.columns[*ordinal]);
        let ordered = next == Some(column) && get.table.buckets(index).is_none();
        ordered && (rest.is_empty() || !alone)
    })
}

/// How many leading columns of some key the predicates give, at best; the last of them may be NULL.
pub(crate) fn reach(get: &Get, preds: &[Expr]) -> usize {
    let of = |range: Range| range.prefix.len() + usize::from(range.null);
    let given = |index| key_range(get, index, preds.to_vec()).0.map_or(0, of);
    ways(get, preds).into_iter().map(given).max().unwrap_or(0)
}

/// How many bounds the predicates give, at best, of a column of some key whose columns before it they give.
fn bounds(get: &Get, preds: &[Expr]) -> usize {
    let given = |index| key_range(get, index, preds.to_vec()).0.map_or(0, |range| range.ends());
    ways(get, preds).into_iter().map(given).max().unwrap_or(0)
}

/// Whether a table is sought more closely by `more` besides its own predicates: by bounds, if not by what a key begins with.
pub(crate) fn bounds_more(get: &Get, own: &[Expr], more: &[Expr]) -> bool {
    let all: Vec<Expr> = own.iter().chain(more).cloned().collect();
    bounds(get, &all) > bounds(get, own)
}

/// Values of an IN list that are sought one by one; longer lists scan.
const LIST_MAX: usize = 64;
/// Alternatives that are sought one by one where it is not known which are the same.
const ALTERNATIVES_MAX: usize = 32;

/// What one of must be true for a predicate to be.
struct Alternatives {
    each: Vec<Expr>,
    /// No row satisfies two of them.
    are_apart: bool,
}

impl Alternatives {
    /// Of an IN list, or of conditions between ORs.
    fn of(pred: &Expr) -> Option<Alternatives> {
        let alternatives = match &pred.kind {
            ExprKind::In { input, list, negated: false } => Alternatives::of_list(input, list),
            ExprKind::Or(..) => {
                let mut each = Vec::new();
                disjuncts(pred, &mut each);
                Alternatives { each, are_apart: false }
            }
            _ => return None,
        };
        let most = if alternatives.are_apart { LIST_MAX } else { ALTERNATIVES_MAX };
        ((1..=most).contains(&alternatives.each.len()) && alternatives.each.iter().all(is_movable))
            .then_some(alternatives)
    }

    fn of_list(input: &Expr, list: &[Expr]) -> Alternatives {
        let mut values: Vec<&Value> = Vec::new();
        let (mut each, mut are_apart) = (Vec::new(), true);
        for e in list {
            if let ExprKind::Const(value) = &e.kind {
                let is_known = |v: &&Value| compare::compare(v, value).is_none_or(|o| o.is_eq());
                if value.is_null() || values.iter().any(is_known) {
                    continue;
                }
                values.push(value);
            } else {
                are_apart = false;
            }
            each.push(Expr::compare(CompareOp::Eq, input.clone(), e.clone()));
        }
        Alternatives { each, are_apart }
    }

    /// One of them, with what tells its rows from those of the ones before.
    fn alone(&self, at: usize) -> impl Iterator<Item = Expr> {
        let before = if self.are_apart { &[] } else { &self.each[..at] };
        std::iter::once(self.each[at].clone()).chain(before.iter().cloned().map(is_not_true))
    }
}

/// Splits a predicate at its ORs.
fn disjuncts(expr: &Expr, out: &mut Vec<Expr>) {
    match &expr.kind {
        ExprKind::Or(left, right) => {
            disjuncts(left, out);
            disjuncts(right, out);
        }
        _ => out.push(expr.clone()),
    }
}

/// A condition that is false or unknown: `CASE WHEN condition THEN 1 END IS NULL`.
fn is_not_true(condition: Expr) -> Expr {
    let one = Expr::constant(Value::Int(1), SqlType::Int);
    let case = ExprKind::Case { branches: vec![(condition, one)], otherwise: None };
    let input = Box::new(Expr::new(case, SqlType::Int, true));
    Expr::new(ExprKind::IsNull { input, negated: false }, SqlType::Bit, false)
}

/// Where an IN list, or conditions between ORs, give more of a key than the rest does: the predicates with one of the
/// alternatives in its place, for each. No row satisfies two of these.
pub(crate) fn seeks_of_list(get: &Get, preds: &[Expr]) -> Option<Vec<Vec<Expr>>> {
    let given = reach(get, preds);
    for (i, pred) in preds.iter().enumerate() {
        let Some(alternatives) = Alternatives::of(pred) else { continue };
        let with = |at: usize| {
            let mut all = preds.to_vec();
            all.remove(i);
            for mut pred in alternatives.alone(at) {
                fold(&mut pred);
                conjuncts(pred, &mut all);
            }
            all
        };
        let seeks: Vec<Vec<Expr>> = (0..alternatives.each.len()).map(with).collect();
        if seeks.iter().all(|preds| reach(get, preds) > given) {
            return Some(seeks);
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
    /// The pattern of a LIKE and its escape, in place of bounds.
    pub starts: Option<(Expr, Option<Expr>)>,
    /// The column is NULL, in place of bounds.
    pub null: bool,
}

impl Range {
    /// How many sides of the column after the prefix are bounded.
    pub fn ends(&self) -> usize {
        match self.starts {
            Some(_) => 2,
            None if self.null => 2,
            None => usize::from(self.lower.is_some()) + usize::from(self.upper.is_some()),
        }
    }
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
    let mut range =
        Range { prefix: Vec::new(), lower: None, upper: None, starts: None, null: false };
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
        if let Some(at) = rest.iter().position(|p| is_null_of(p, column)) {
            rest.remove(at);
            range.null = true;
            break;
        }
        let mut i = 0;
        while i < rest.len() {
            let bound = against(&rest[i], column, ty, &get.columns);
            let Some((op, (e, exact))) = bound else {
                let day = day_of(&rest[i], column, ty, &get.columns);
                if let Some(moments) = day.filter(|_| range.ends() == 0) {
                    (range.lower, range.upper) = moments;
                }
                i += 1;
                continue;
            };
            // A bound that is only near has what it is near to inside.
            let taken = match op {
                CompareOp::Gt | CompareOp::Ge if range.lower.is_none() => {
                    range.lower = Some((e, !exact || op == CompareOp::Ge));
                    exact
                }
                CompareOp::Lt | CompareOp::Le if range.upper.is_none() => {
                    range.upper = Some((e, !exact || op == CompareOp::Le));
                    exact
                }
                _ => false,
            };
            if taken {
                rest.remove(i);
            } else {
                i += 1;
            }
        }
        if range.lower.is_none() && range.upper.is_none() {
            range.starts = rest.iter().find_map(|p| pattern_of(p, get, *ordinal, column));
        }
        break;
    }
    let key = scan_key(&get.table, index).len();
    if get.table.buckets(index).is_some() && range.prefix.len() < key {
        // What is hashed is the whole key.
        return (None, all);
    }
    let some = !range.prefix.is_empty() || range.ends() > 0;
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
                if input.kind == ExprKind::Col(column) && convert::is_embedded(ty, this.ty) =>
            {
                Some(this.ty)
            }
            _ => continue,
        };
        if !is_foreign(other, own) {
            continue;
        }
        let value = (**other).clone();
        if value.ty.has_values_of(ty) && cast_from.is_none() {
            return Some((op, (value, true)));
        }
        if cast_from.is_none() && holds_all(value.ty, ty) {
            return Some((op, (cast(value, ty, CastMode::Implicit), true)));
        }
        // Otherwise the predicate itself is checked once more on what is found. What does not convert equals nothing.
        match op {
            CompareOp::Ne => {}
            CompareOp::Eq => return Some((op, (cast(value, ty, CastMode::Try), false))),
            // A key takes texts of any length and kind, and bytes.
            _ if cast_from.is_none()
                && (ty.is_character() && value.ty.is_character()
                    || ty.is_binary() && value.ty.is_binary()) =>
            {
                return Some((op, (value, true)));
            }
            _ if cast_from.is_some_and(|from| value.ty.has_values_of(from))
                || cast_from.is_none() && are_decimals(ty, value.ty) =>
            {
                return Some((op, (cast(value, ty, CastMode::Nearest), false)));
            }
            _ => {}
        }
    }
    None
}

/// The column of `CAST(column AS date) op day`.
pub(crate) fn day_of_column(pred: &Expr) -> Option<ColId> {
    let ExprKind::Compare { left, right, .. } = &pred.kind else { return None };
    [left, right].into_iter().find_map(|e| match &e.kind {
        ExprKind::Cast { input, style: None, .. } if e.ty == SqlType::Date => match input.kind {
            ExprKind::Col(id) if input.ty != SqlType::Date => Some(id),
            _ => None,
        },
        _ => None,
    })
}

/// One end of a range: the value, and whether it is inside.
type End = Option<(Expr, bool)>;

/// The moments that `CAST(column AS date) op day` lets through, ends included. The predicate itself is asked once more.
pub(crate) fn day_of(pred: &Expr, column: ColId, ty: SqlType, own: &[ColId]) -> Option<(End, End)> {
    let ExprKind::Compare { op, left, right } = &pred.kind else { return None };
    if !matches!(ty, SqlType::DateTime | SqlType::SmallDateTime | SqlType::DateTime2(_)) {
        return None;
    }
    for (op, this, other) in [(*op, left, right), (op.flip(), right, left)] {
        let is_day = this.ty == SqlType::Date
            && other.ty == SqlType::Date
            && matches!(&this.kind, ExprKind::Cast { input, style: None, .. }
                if input.kind == ExprKind::Col(column));
        if !is_day || !is_foreign(other, own) {
            continue;
        }
        let first = || Some((cast((**other).clone(), ty, CastMode::Nearest), true));
        let last = || Some((cast((**other).clone(), ty, CastMode::Latest), true));
        return Some(match op {
            CompareOp::Eq => (first(), last()),
            CompareOp::Gt | CompareOp::Ge => (first(), None),
            CompareOp::Lt | CompareOp::Le => (None, last()),
            CompareOp::Ne => return None,
        });
    }
    None
}

/// `column IS NULL`.
fn is_null_of(pred: &Expr, column: ColId) -> bool {
    matches!(&pred.kind, ExprKind::IsNull { input, negated: false }
        if input.kind == ExprKind::Col(column) && input.nullable)
}

fn are_decimals(a: SqlType, b: SqlType) -> bool {
    matches!((a, b), (SqlType::Decimal { .. }, SqlType::Decimal { .. }))
}

/// Whether a value is one for all rows of a table with these columns.
fn is_foreign(value: &Expr, own: &[ColId]) -> bool {
    let mut ids = Vec::new();
    value.columns(&mut ids);
    !ids.iter().any(|id| own.contains(id)) && is_movable(value)
}

/// The pattern and the escape of a LIKE of this column, where it may say how the texts begin.
fn pattern_of(
    pred: &Expr,
    get: &Get,
    ordinal: usize,
    column: ColId,
) -> Option<(Expr, Option<Expr>)> {
    let ExprKind::Like { input, pattern, escape, negated: false } = &pred.kind else { return None };
    if input.kind != ExprKind::Col(column) || !get.table.columns[ordinal].ty.is_character() {
        return None;
    }
    let is_known = |e: &Expr| e.ty.is_character() && is_foreign(e, &get.columns);
    if !is_known(pattern) || escape.as_deref().is_some_and(|e| !is_known(e)) {
        return None;
    }
    if let (ExprKind::Const(Value::Str(text)), None) = (&pattern.kind, escape)
        && compare::like_start(text, None).is_empty()
    {
        return None;
    }
    Some(((**pattern).clone(), escape.as_deref().cloned()))
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
