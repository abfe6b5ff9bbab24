//! How many rows: what tables' statistics say of predicates, joins and groups.
//!
//! Promise: an estimate is a guess, never an error, and never waits. Where nobody has looked at a table ([`Facts`] knows
//! of none, or of one of a statement's tables nothing), planning goes by rules of thumb.
//!
//! Sources: the forms of SQL Server's estimator since 2014 as its documentation and "Optimizing Your Query Plans with
//! the SQL Server 2014 Cardinality Estimator" (Sack, 2014) tell them: conjunctions by exponential back-off over the four
//! most selective predicates, an unknown value by density, an unknown bound 30%, both bounds 9%.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use catalog::TableDef;
use ir::*;
use types::{SqlType, Value, convert};

use crate::fold::{conjuncts, fold};
use crate::key_range::{day_of, day_of_column};

/// Rows that one bound of an unknown value leaves, and two.
const ONE_BOUND: f64 = 0.3;
const TWO_BOUNDS: f64 = 0.09;
/// Rows that a predicate leaves of which nothing is known.
const UNKNOWN: f64 = 0.3;
/// LIKE with a pattern that begins with a wildcard, or is not known.
const LIKE: f64 = 0.09;
/// Predicates that count in a conjunction.
const BACK_OFF_MAX: usize = 4;

/// What is known when a statement is compiled besides its text.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Values of the first variables: parameters, as they have been passed.
    pub values: Vec<Value>,
    /// Processors that a statement without MAXDOP may have: the database's MAXDOP; 0: the server's.
    pub maxdop: u32,
}

/// What is known of a statement's columns.
#[derive(Default)]
pub(crate) struct Facts {
    columns: HashMap<ColId, (Arc<TableDef>, usize)>,
    /// The first column of the mention of a table that a column belongs to: a table may be named twice.
    mentions: HashMap<ColId, ColId>,
    /// Columns that are others under a new id.
    same: HashMap<ColId, ColId>,
    values: Vec<Value>,
    /// See [`Known::maxdop`].
    pub maxdop: u32,
    /// Columns that some expression reads, or the result has.
    pub mentioned: HashSet<ColId>,
    /// Shares of pairs that are equal in two columns, as they were asked for.
    joins: RefCell<HashMap<(ColId, ColId), Option<f64>>>,
    /// A table's rows are not known.
    blind: bool,
    /// A table has so many rows that the order of joins matters.
    large: bool,
}

impl Facts {
    /// Of a statement whose tables are read in `rels`.
    pub fn new(known: &Known) -> Facts {
        Facts { values: known.values.clone(), maxdop: known.maxdop, ..Facts::default() }
    }

    /// Notes the tables of a tree, subqueries included.
    pub fn learn(&mut self, rel: &Rel) {
        match rel {
            Rel::Get(get) => {
                let rows = rows_of(&get.table);
                self.blind |= get.database.is_some() || rows.is_none();
                self.large |= rows.is_some_and(|rows| rows >= crate::access::SMALL_ROWS);
                for (ordinal, id) in get.columns.iter().enumerate() {
                    self.columns.insert(*id, (get.table.clone(), ordinal));
                    self.mentions.insert(*id, get.columns[0]);
                }
            }
            Rel::Project { exprs, .. } => {
                for (id, e) in exprs {
                    if let ExprKind::Col(of) = e.kind
                        && of != *id
                    {
                        self.same.insert(*id, of);
                    }
                }
            }
            Rel::Aggregate { group, .. } => {
                for (id, e) in group {
                    if let ExprKind::Col(of) = e.kind
                        && of != *id
                    {
                        self.same.insert(*id, of);
                    }
                }
            }
            _ => {}
        }
        rel.own_exprs(&mut |e| self.learn_of(e));
        // As long as a chain of joins is: down the left side by a loop.
        let mut inputs = rel.inputs().into_iter();
        let Some(mut left) = inputs.next() else { return };
        inputs.for_each(|input| self.learn(input));
        while let Rel::Join { left: next, right, on, .. } = left {
            on.iter().for_each(|e| self.learn_of(e));
            self.learn(right);
            left = next;
        }
        self.learn(left);
    }

    /// Notes the tables of an expression's subqueries.
    pub fn learn_of(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Col(id) => {
                self.mentioned.insert(*id);
            }
            ExprKind::Subquery { query, .. } => {
                self.mentioned.extend(query.output.iter().map(|c| c.id));
                self.learn(&query.rel);
            }
            _ => {}
        }
        e.for_each_child(&mut |child| self.learn_of(child));
    }

    /// Are the rows of every table known, and is there one?
    pub fn is_informed(&self) -> bool {
        !self.blind && !self.columns.is_empty()
    }

    /// And is one of them so large that orders of joins differ much?
    pub fn is_large(&self) -> bool {
        self.is_informed() && self.large
    }

    /// Are both texts columns of tables, which compare by one collation?
    pub fn are_of_one_collation(&self, a: &Expr, b: &Expr) -> bool {
        let collation = |e: &Expr| match e.kind {
            ExprKind::Col(id) => self.column(id).map(|(table, at)| table.columns[*at].collation),
            _ => None,
        };
        collation(a).is_some_and(|own| collation(b) == Some(own))
    }

    fn column(&self, id: ColId) -> Option<&(Arc<TableDef>, usize)> {
        self.columns.get(&self.stored(id)?)
    }

    /// The table's column that a column is, perhaps under a new id.
    fn stored(&self, id: ColId) -> Option<ColId> {
        let mut id = id;
        for _ in 0..32 {
            if self.columns.contains_key(&id) {
                return Some(id);
            }
            id = *self.same.get(&id)?;
        }
        None
    }

    fn column_in(&self, id: ColId, own: Own<'_>) -> Option<&(Arc<TableDef>, usize)> {
        if own.is_some_and(|own| !own.contains(&id)) {
            return None;
        }
        self.column(id)
    }

    /// Of so many rows, those that a TOP or FETCH takes: no more than it says, where that is known.
    pub fn taken(&self, rows: f64, said: Option<&Expr>) -> f64 {
        said.and_then(|said| self.known_rows(said)).map_or(rows, |most| rows.min(most))
    }

    /// How many rows a TOP, OFFSET or FETCH says, where that is known.
    pub fn known_rows(&self, said: &Expr) -> Option<f64> {
        Some(self.value(said)?.as_i64()?.max(0) as f64)
    }

    /// Puts the values of variables in their places.
    pub fn embed(&self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Var(VarId(n)) => {
                if let Some(value) = self.values.get(*n as usize) {
                    *e = Expr::constant(value.clone(), e.ty);
                }
                return;
            }
            ExprKind::Subquery { query, .. } => query.rel.walk_exprs_mut(&mut |e| self.embed(e)),
            _ => {}
        }
        e.for_each_child_mut(&mut |child| self.embed(child));
    }

    /// The value of an expression that is one while compiling: a constant or a parameter, or what folding makes of them.
    fn value(&self, e: &Expr) -> Option<Value> {
        match &e.kind {
            ExprKind::Const(value) => Some(value.clone()),
            ExprKind::Var(VarId(n)) => self.values.get(*n as usize).cloned(),
            ExprKind::Cast { input, mode, style } => {
                let value = self.value(input)?;
                match mode {
                    CastMode::Nearest => convert::nearest(&value, input.ty, e.ty),
                    CastMode::Latest => convert::latest(&value, e.ty),
                    _ => convert::cast(&value, input.ty, e.ty, style.unwrap_or(0)),
                }
                .ok()
            }
            ExprKind::Func { func: FuncId::Collate(rule), args } => match self.value(&args[0])? {
                Value::Str(text) => Some(Value::Str(text.with_rule(*rule))),
                other => Some(other),
            },
            ExprKind::Neg(_) | ExprKind::Arith { .. } | ExprKind::Func { .. } => {
                let mut computed = e.clone();
                let mut known = true;
                computed.for_each_child_mut(&mut |child| match self.value(child) {
                    Some(value) => *child = Expr::constant(value, child.ty),
                    None => known = false,
                });
                if known {
                    fold(&mut computed);
                }
                match computed.kind {
                    ExprKind::Const(value) => Some(value),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Different values of a column, NULL not counted apart; None where there is no telling.
    pub fn distinct(&self, e: &Expr) -> Option<f64> {
        let (table, ordinal) = self.column(as_column(e)?)?;
        let rows = rows_of(table)?.max(1.0);
        if is_unique(table, *ordinal) {
            return Some(rows);
        }
        match table.statistics.of_column(table, *ordinal) {
            Some(statistic) => {
                // A table that has grown has more values, in proportion where all were different.
                let share = statistic.distinct() / statistic.rows.max(1.0);
                let more = (rows - statistic.rows).max(0.0) * share * share;
                Some((statistic.distinct() + more).clamp(1.0, rows))
            }
            None => Some(rows.sqrt().max(1.0)),
        }
    }

    /// The share of rows that all of `preds` leave.
    pub fn all_of(&self, preds: &[Expr]) -> f64 {
        self.all_in(preds, None)
    }

    /// The same of the rows of one table, which has the columns `own`; others' columns are values not known yet.
    pub fn all_of_table(&self, preds: &[Expr], own: &[ColId]) -> f64 {
        self.all_in(preds, Some(own))
    }

    fn all_in(&self, preds: &[Expr], own: Own<'_>) -> f64 {
        let mut shares = Vec::with_capacity(preds.len());
        let mut ranges: Vec<Range> = Vec::new();
        for pred in preds {
            self.split(pred, own, &mut shares, &mut ranges);
        }
        shares.extend(ranges.iter().map(|range| self.of_range(range)));
        back_off(shares)
    }

    fn split(&self, pred: &Expr, own: Own<'_>, shares: &mut Vec<f64>, ranges: &mut Vec<Range>) {
        if let ExprKind::And(left, right) = &pred.kind {
            self.split(left, own, shares, ranges);
            self.split(right, own, shares, ranges);
            return;
        }
        if let Some((column, op, other)) = self.bound(pred, own) {
            let at = match ranges.iter().position(|r| r.column == column) {
                Some(at) => at,
                None => {
                    ranges.push(Range { column, lower: None, upper: None });
                    ranges.len() - 1
                }
            };
            let inclusive = matches!(op, CompareOp::Ge | CompareOp::Le);
            let end = match op {
                CompareOp::Gt | CompareOp::Ge => &mut ranges[at].lower,
                _ => &mut ranges[at].upper,
            };
            if end.is_none() {
                *end = Some((self.typed(column, &other), inclusive));
                return;
            }
        }
        shares.push(self.of(pred, own));
    }

    /// `column < value` and its like.
    fn bound(&self, pred: &Expr, own: Own<'_>) -> Option<(ColId, CompareOp, Expr)> {
        let ExprKind::Compare { op, left, right } = &pred.kind else { return None };
        if matches!(op, CompareOp::Eq | CompareOp::Ne) {
            return None;
        }
        for (op, this, other) in [(*op, left, right), (op.flip(), right, left)] {
            if let Some(id) = as_column(this)
                && self.column_in(id, own).is_some()
            {
                return Some((id, op, (**other).clone()));
            }
        }
        None
    }

    /// A value as the column's type has it.
    fn typed(&self, column: ColId, e: &Expr) -> Option<Value> {
        let (table, ordinal) = self.column(column)?;
        let value = self.value(e)?;
        convert::cast(&value, e.ty, table.columns[*ordinal].ty, 0).ok()
    }

    fn of_range(&self, range: &Range) -> f64 {
        let guess = match (&range.lower, &range.upper) {
            (Some(_), Some(_)) => TWO_BOUNDS,
            _ => ONE_BOUND,
        };
        let Some((table, ordinal)) = self.column(range.column) else { return guess };
        let Some(statistic) = table.statistics.of_column(table, *ordinal) else { return guess };
        let bound = |end: &Option<(Option<Value>, bool)>| match end {
            None => Some(None),
            Some((Some(value), inclusive)) => Some(Some((value.clone(), *inclusive))),
            Some((None, _)) => None,
        };
        let all = statistic.rows.max(1.0);
        let between = |lower: Option<&(Value, bool)>, upper: Option<&(Value, bool)>| {
            let end = |e: Option<&(Value, bool)>| e.map(|(v, i)| (v.clone(), *i));
            let (lower, upper) = (end(lower), end(upper));
            let lower = lower.as_ref().map(|(v, i)| (v, *i));
            let upper = upper.as_ref().map(|(v, i)| (v, *i));
            statistic.histogram.between(lower, upper) / all
        };
        let share = match (bound(&range.lower), bound(&range.upper)) {
            (Some(lower), Some(upper)) => {
                let share = between(lower.as_ref(), upper.as_ref());
                self.beyond(table, &statistic, lower.as_ref(), share)
            }
            // One end is known, the other is not.
            (Some(Some(lower)), None) => between(Some(&lower), None) * ONE_BOUND,
            (None, Some(Some(upper))) => between(None, Some(&upper)) * ONE_BOUND,
            _ => guess,
        };
        share.clamp(1.0 / all, 1.0)
    }

    /// Rows past the end of the histogram, of a table that has grown since: keys often ascend.
    fn beyond(
        &self,
        table: &TableDef,
        statistic: &catalog::Statistic,
        lower: Option<&(Value, bool)>,
        share: f64,
    ) -> f64 {
        let rows = rows_of(table).unwrap_or(0.0);
        let grown = rows - statistic.rows;
        let last = statistic.histogram.steps.last();
        let (Some((lower, _)), Some(last)) = (lower, last) else { return share };
        if grown > 0.0 && types::compare::sort_order(lower, &last.high).is_ge() {
            return (0.3 * grown / rows.max(1.0)).max(share);
        }
        share
    }

    /// The share of rows that one predicate leaves.
    fn of(&self, pred: &Expr, own: Own<'_>) -> f64 {
        let share = match &pred.kind {
            ExprKind::Const(Value::Bit(true)) => 1.0,
            ExprKind::Const(_) => 0.0,
            ExprKind::Compare { .. } if day_of_column(pred).is_some() => self.of_day(pred, own),
            ExprKind::Compare { op: CompareOp::Eq, left, right } => self.equal(left, right, own),
            ExprKind::Compare { op: CompareOp::Ne, left, right } => {
                1.0 - self.equal(left, right, own)
            }
            ExprKind::Compare { .. } => match self.bound(pred, own) {
                Some((column, op, other)) => {
                    let end = Some((
                        self.typed(column, &other),
                        matches!(op, CompareOp::Ge | CompareOp::Le),
                    ));
                    let is_lower = matches!(op, CompareOp::Gt | CompareOp::Ge);
                    let (lower, upper) = if is_lower { (end, None) } else { (None, end) };
                    self.of_range(&Range { column, lower, upper })
                }
                None => UNKNOWN,
            },
            ExprKind::In { input, list, negated } => {
                let sum: f64 = list.iter().map(|e| self.equal(input, e, own)).sum();
                if *negated { 1.0 - sum.min(1.0) } else { sum }
            }
            // What tells alternatives apart leaves nearly all.
            ExprKind::IsNull { input, negated: false }
                if matches!(input.kind, ExprKind::Case { .. }) =>
            {
                1.0
            }
            ExprKind::IsNull { input, negated } => {
                let nulls = self.nulls(input, own);
                if *negated { 1.0 - nulls } else { nulls }
            }
            ExprKind::Like { input, pattern, negated, .. } => {
                let share = self.like(input, pattern, own);
                if *negated { 1.0 - share } else { share }
            }
            ExprKind::And(..) => {
                let mut all = Vec::new();
                conjuncts(pred.clone(), &mut all);
                self.all_in(&all, own)
            }
            ExprKind::Or(left, right) => {
                let (a, b) = (self.of(left, own), self.of(right, own));
                a + b - a * b
            }
            ExprKind::Not(inner) => 1.0 - self.of(inner, own),
            _ => UNKNOWN,
        };
        share.clamp(0.0, 1.0)
    }

    /// `CAST(column AS date) = day` and its like.
    fn of_day(&self, pred: &Expr, own: Own<'_>) -> f64 {
        let Some(column) = day_of_column(pred).filter(|id| self.column_in(*id, own).is_some())
        else {
            return UNKNOWN;
        };
        let Some((table, ordinal)) = self.column(column) else { return UNKNOWN };
        let own: Vec<ColId> = vec![column];
        let Some((lower, upper)) = day_of(pred, column, table.columns[*ordinal].ty, &own) else {
            return UNKNOWN;
        };
        let end = |bound: Option<(Expr, bool)>| bound.map(|(e, at)| (self.value(&e), at));
        self.of_range(&Range { column, lower: end(lower), upper: end(upper) })
    }

    fn equal(&self, left: &Expr, right: &Expr, own: Own<'_>) -> f64 {
        for (this, other) in [(left, right), (right, left)] {
            let Some(id) = as_column(this) else { continue };
            let Some((table, ordinal)) = self.column_in(id, own) else { continue };
            if let Some(other) = as_column(other)
                && self.column_in(other, own).is_some()
            {
                let both = [this, &Expr::col(other, this.ty, true)].map(|e| self.distinct(e));
                let most = both.into_iter().flatten().fold(1.0, f64::max);
                return 1.0 / most;
            }
            let all = rows_of(table).unwrap_or(1.0).max(1.0);
            let by_density = || 1.0 / self.distinct(this).unwrap_or(10.0).max(1.0);
            if is_unique(table, *ordinal) {
                return 1.0 / all;
            }
            let statistic = table.statistics.of_column(table, *ordinal);
            let (Some(statistic), Some(value)) = (statistic, self.typed(id, other)) else {
                return by_density();
            };
            let rows = statistic.histogram.equal(&value);
            let last = statistic.histogram.steps.last();
            let is_new =
                last.is_none_or(|last| types::compare::sort_order(&value, &last.high).is_gt());
            if rows < 1.0 && is_new && all > statistic.rows && !value.is_null() {
                return by_density();
            }
            return rows.max(1.0) / statistic.rows.max(1.0);
        }
        UNKNOWN
    }

    fn nulls(&self, input: &Expr, own: Own<'_>) -> f64 {
        if !input.nullable {
            return 0.0;
        }
        let column = as_column(input).and_then(|id| self.column_in(id, own));
        let Some((table, ordinal)) = column else { return 0.1 };
        if !table.columns[*ordinal].nullable {
            // The side of an outer join without a match, perhaps.
            return 0.1;
        }
        match table.statistics.of_column(table, *ordinal) {
            Some(s) => s.histogram.null_rows() / s.rows.max(1.0),
            None => 0.1,
        }
    }

    /// LIKE 'abc%' is a range.
    fn like(&self, input: &Expr, pattern: &Expr, own: Own<'_>) -> f64 {
        let column = as_column(input).and_then(|id| self.column_in(id, own));
        let Some((table, ordinal)) = column else { return LIKE };
        let Some(Value::Str(pattern)) = self.value(pattern) else { return LIKE };
        let pattern = pattern.as_str();
        let end = pattern.find(['%', '_', '[']).unwrap_or(pattern.len());
        let prefix = &pattern[..end];
        let Some(statistic) = table.statistics.of_column(table, *ordinal) else { return LIKE };
        if prefix.is_empty() {
            return LIKE;
        }
        let all = statistic.rows.max(1.0);
        let low = Value::str(prefix);
        if end == pattern.len() {
            return statistic.histogram.equal(&low).max(1.0) / all;
        }
        // What begins with the prefix lies before the prefix followed by the last of letters.
        let high = Value::str(&format!("{prefix}zzzzzzzz"));
        let rows = statistic.histogram.between(Some((&low, true)), Some((&high, true)));
        rows.max(1.0) / all
    }

    /// Whether `e` has a value only when the statement runs.
    pub fn is_unknown(&self, e: &Expr) -> bool {
        self.value(e).is_none()
    }

    /// The share of all pairs of rows of two sides, with so many rows, that satisfy `conditions`, each reading some of
    /// both; `is_right`: whether a column is the right side's.
    pub fn pairs(
        &self,
        conditions: &[Expr],
        (left_rows, right_rows): (f64, f64),
        is_right: &dyn Fn(ColId) -> bool,
    ) -> f64 {
        let share = |c: &Expr| match &c.kind {
            ExprKind::Compare { op: CompareOp::Eq, left, right } => {
                let rows_left = |e: &Expr| match as_column(e).is_some_and(is_right) {
                    true => right_rows,
                    false => left_rows,
                };
                match [self.distinct(left), self.distinct(right)] {
                    [None, None] => 1.0 / left_rows.max(right_rows).max(1.0),
                    [Some(a), Some(b)] => {
                        let all = self.joined(left, right).unwrap_or(1.0 / a.max(b).max(1.0));
                        let (fewer, more, rows) = match a < b {
                            true => (a, b, rows_left(right)),
                            false => (b, a, rows_left(left)),
                        };
                        (all * partners(fewer, more, rows)).min(1.0)
                    }
                    [Some(one), None] | [None, Some(one)] => 1.0 / one.max(1.0),
                }
            }
            _ => UNKNOWN,
        };
        let each: Vec<f64> = conditions.iter().map(share).collect();
        back_off(self.together(conditions, each))
    }

    /// Shares of `conditions`, where those over columns of one table that a statistic knows together are one: keys of
    /// several columns are joined as a whole.
    fn together(&self, conditions: &[Expr], mut shares: Vec<f64>) -> Vec<f64> {
        if conditions.len() < 2 {
            return shares;
        }
        // The side with more different values decides, as with one column.
        let known = self.mentioned_in(conditions).into_iter().filter_map(known_together);
        let order = |(a, x): &(Vec<usize>, f64), (b, y): &(Vec<usize>, f64)| {
            a.len().cmp(&b.len()).then(y.total_cmp(x))
        };
        let Some((covered, density)) = known.max_by(order) else { return shares };
        let of_each = covered.iter().map(|at| shares[*at]);
        let (product, least) =
            of_each.fold((1.0, 1.0f64), |(all, least), share| (all * share, least.min(share)));
        let others = shares.iter().enumerate().filter(|(at, _)| !covered.contains(at));
        shares = others.map(|(_, share)| *share).collect();
        // NaN, which a damaged statistic may hold, becomes the product.
        shares.push(density.max(product).min(least));
        shares
    }

    /// The mentions of tables in equalities, each with its columns there.
    fn mentioned_in(&self, conditions: &[Expr]) -> Vec<Mention<'_>> {
        let mut mentions: Vec<(ColId, Mention<'_>)> = Vec::new();
        for (at, condition) in conditions.iter().enumerate() {
            let ExprKind::Compare { op: CompareOp::Eq, left, right } = &condition.kind else {
                continue;
            };
            for id in [left, right].into_iter().filter_map(|e| self.stored(as_column(e)?)) {
                let (Some((table, ordinal)), Some(first)) =
                    (self.columns.get(&id), self.mentions.get(&id))
                else {
                    continue;
                };
                match mentions.iter_mut().find(|(known, _)| known == first) {
                    Some((_, mention)) => mention.columns.push((*ordinal, at)),
                    None => {
                        let columns = vec![(*ordinal, at)];
                        mentions.push((*first, Mention { table, columns }));
                    }
                }
            }
        }
        mentions.into_iter().map(|(_, mention)| mention).collect()
    }

    /// The share of all pairs that are equal in two tables' columns, by the histograms of both; None where one lacks.
    fn joined(&self, left: &Expr, right: &Expr) -> Option<f64> {
        let ids = (as_column(left)?, as_column(right)?);
        if let Some(known) = self.joins.borrow().get(&ids) {
            return *known;
        }
        let share = self.joined_by_histograms(ids.0, ids.1);
        self.joins.borrow_mut().insert(ids, share);
        share
    }

    fn joined_by_histograms(&self, left: ColId, right: ColId) -> Option<f64> {
        let of = |id: ColId| {
            let (table, ordinal) = self.column(id)?;
            let statistic = table.statistics.of_column(table, *ordinal)?;
            Some((statistic, rows_of(table)?.max(1.0), table.columns[*ordinal].ty))
        };
        let ((a, a_rows, a_type), (b, b_rows, b_type)) = (of(left)?, of(right)?);
        let usable = |s: &catalog::Statistic| s.rows >= 1.0 && !s.histogram.steps.is_empty();
        if a_type != b_type || !usable(&a) || !usable(&b) {
            return None;
        }
        let share = a.histogram.joined(&b.histogram) / (a.rows * b.rows);
        // Rows that came since may have values that no step knows: by different values, as if there were no histogram.
        let grown = |rows: f64, then: f64| ((rows - then) / rows).max(0.0);
        let new = grown(a_rows, a.rows).max(grown(b_rows, b.rows));
        let by_values = 1.0 / a.distinct().max(b.distinct()).max(1.0);
        Some((share * (1.0 - new) + by_values * new).clamp(1e-12, 1.0))
    }

    /// Groups that `keys` make of so many rows.
    pub fn groups(&self, keys: &[&Expr], rows: f64) -> f64 {
        let mut product: f64 = 1.0;
        let mut each: Vec<f64> =
            keys.iter().map(|e| self.distinct(e).unwrap_or((rows / 10.0).max(1.0))).collect();
        // Columns are seldom independent: the one with most values counts whole, the next as its root.
        each.sort_by(|a, b| b.total_cmp(a));
        let mut power = 1.0;
        for distinct in each {
            product *= distinct.max(1.0).powf(power);
            power /= 2.0;
        }
        product.clamp(1.0, rows.max(1.0))
    }
}

/// A table as a statement names it once: its columns in some equalities, each with the equality's place.
struct Mention<'f> {
    table: &'f TableDef,
    columns: Vec<(usize, usize)>,
}

/// The places of two equalities or more whose columns a statistic begins with, and the density of these columns.
fn known_together(mention: Mention<'_>) -> Option<(Vec<usize>, f64)> {
    let Mention { table, columns } = mention;
    if columns.len() < 2 {
        return None;
    }
    let ordinals: Vec<usize> = columns.iter().map(|(ordinal, _)| *ordinal).collect();
    let (known, density) = table.statistics.density_among(table, &ordinals)?;
    let place = |ordinal: &usize| columns.iter().find(|(o, _)| o == ordinal).map(|(_, at)| *at);
    let mut covered: Vec<usize> = known.iter().filter_map(place).collect();
    covered.sort_unstable();
    covered.dedup();
    (covered.len() > 1).then_some((covered, density))
}

/// Whose columns count: one table's, or all.
type Own<'a> = Option<&'a [ColId]>;

/// The ends of what a column may be; a value that is not known is None.
struct Range {
    column: ColId,
    lower: Option<(Option<Value>, bool)>,
    upper: Option<(Option<Value>, bool)>,
}

/// The product of shares, the smallest whole, the next as its root and so on.
pub(crate) fn back_off(mut shares: Vec<f64>) -> f64 {
    shares.sort_by(f64::total_cmp);
    let mut product = 1.0;
    let mut power = 1.0;
    for share in shares.into_iter().take(BACK_OFF_MAX) {
        product *= share.powf(power);
        power /= 2.0;
    }
    product
}

/// How many times as likely a row of a side with `more` different values, of which `rows` rows are left, is to have
/// partners on a side with `fewer`, than any row of its table is. Most values of a calendar's days have no sales, but
/// the days that a query asks for are rarely those: half way, by the root, between taking what is left for any values
/// and taking it for such as the other side has.
fn partners(fewer: f64, more: f64, rows: f64) -> f64 {
    (more / rows.max(fewer).min(more)).max(1.0).sqrt()
}

/// The column that an expression is, perhaps in a wider type.
pub(crate) fn as_column(e: &Expr) -> Option<ColId> {
    match &e.kind {
        ExprKind::Col(id) => Some(*id),
        ExprKind::Cast { input, mode: CastMode::Implicit, style: None } => match input.kind {
            ExprKind::Col(id) => Some(id),
            _ => None,
        },
        _ => None,
    }
}

/// Rows of a table, where somebody has looked.
pub(crate) fn rows_of(table: &TableDef) -> Option<f64> {
    table.statistics.rows_latest()
}

/// Is there one row at most for each value of this column?
fn is_unique(table: &TableDef, ordinal: usize) -> bool {
    let only = |key: &[(usize, bool)]| key.len() == 1 && key[0].0 == ordinal;
    let index = table.indexes.iter().any(|i| i.unique && i.filter.is_none() && only(&i.columns));
    let key = table.primary_key.as_ref().is_some_and(|k| only(&k.columns));
    index || key || table.unique.iter().any(|k| only(&k.columns))
}

/// Bytes that some columns of a row take, about.
pub(crate) fn width(table: &TableDef, ordinals: impl Iterator<Item = usize>) -> f64 {
    let bytes = |ordinal: usize| {
        let ty = table.columns[ordinal].ty;
        types::row::fixed_bytes(ty).map_or_else(|| variable_width(table, ordinal, ty), |n| n as f64)
    };
    ordinals.map(bytes).sum::<f64>() + 16.0
}

fn variable_width(table: &TableDef, ordinal: usize, ty: SqlType) -> f64 {
    if let Some(statistic) = table.statistics.of_column(table, ordinal)
        && let Some(bytes) = statistic.average_bytes.first()
    {
        return *bytes;
    }
    let most = match ty {
        SqlType::VarChar(len) | SqlType::VarBinary(len) => len.limit(),
        SqlType::NVarChar(len) => 2 * len.limit(),
        _ => 16,
    };
    (most as f64 / 2.0).min(256.0)
}
