//! From relational tree to operators.
//!
//! One recursive walk. Going down it carries the predicates that still have to hold (pushed as far
//! as they go) and the columns somebody above still needs; coming up each operator says which column
//! lies in which slot and in what order its rows arrive.

use std::collections::HashMap;

use ir::*;
use runtime::task::{Breath, Many};
use types::SqlType;

use crate::access::Wanted;
use crate::columns::*;
use crate::derive::factored;
use crate::ends::{ends_alone, first_alone};
use crate::estimate::Facts;
use crate::fold::{all_of, fold, truth};
use crate::goal::Goal;
use crate::plan::*;
use crate::slots::Slots;

/// An operator with what is known of its rows.
pub(crate) struct Lowered {
    pub node: Node,
    /// `cols[i]` is the column in slot i.
    pub cols: Vec<ColId>,
    /// Rows arrive sorted by these columns (descending where true).
    pub order: Vec<(ColId, bool)>,
    /// Columns that have one value in all rows.
    pub fixed: Needed,
    /// Few of its rows are expected to be read: joins keep their order, and read nothing whole for them.
    pub few_read: bool,
}

/// One place where an inner plan runs for rows of an outer one.
pub(crate) struct Boundary {
    /// Columns of the outer row.
    pub cols: Vec<ColId>,
    /// Those that the inner plan asked for.
    pub params: Vec<Correlation>,
}

/// A column that an inner plan reads of a row around it.
pub(crate) struct Correlation {
    col: ColId,
    ty: SqlType,
    param: ParamId,
    /// It belongs to a row further out, which carries it in this parameter. Passing it on at every
    /// level makes a plan without binds one whose result never changes.
    passed: Option<ParamId>,
}

/// State of planning one statement.
#[derive(Default)]
pub(crate) struct Lowering {
    pub boundaries: Vec<Boundary>,
    pub param_count: usize,
    pub subplans: Vec<Option<SubPlan>>,
    /// Columns that the planner has made, numbered from the end.
    pub made: u32,
    /// The order that the rows of the next table are wanted in.
    pub wanted: Option<Wanted>,
    /// What rows are to be sorted by further up, where that is by columns alone.
    pub sorted_by: Vec<(ColId, bool)>,
    /// Further up somebody may be content with the first rows, whichever they are.
    pub first_rows: bool,
    /// The rows that whoever stands right above is content with.
    pub goal: Option<Goal>,
    /// What is known of the statement's tables.
    pub facts: Facts,
    pub hints: QueryHints,
    /// Under RECOMPILE variables are their values: the statement changes none of them while it runs.
    pub embeds: bool,
    pub breath: Breath,
}

/// What a relation counts for: some microseconds.
pub(crate) const REL_STEPS: usize = 256;

/// Rows assumed in a table, for want of statistics.
pub(crate) const TABLE_ROWS: f64 = 100_000.0;

impl Lowering {
    /// Plans `rel` under predicates.
    pub fn rel(&mut self, rel: Rel, mut preds: Vec<Expr>, needed: &Needed) -> Lowered {
        // To the end, whether the request is to stop or not: a plan is whole.
        self.breath.goes_on_by(REL_STEPS);
        for pred in &mut preds {
            fold(pred);
        }
        preds.retain(|p| truth(p) != Some(Some(true)));
        // Only what hands rows on as they come, or joins them, knows what to do with it.
        let goal = self.goal.take();
        if preds.iter().any(|p| matches!(truth(p), Some(Some(false) | None))) {
            return empty(&rel, needed);
        }
        match rel {
            Rel::OneRow => {
                let node = Node { op: Op::OneRow, types: Vec::new(), rows: 1.0 };
                self.filter(plain(node, Vec::new()), preds)
            }
            Rel::Get(get) => match goal {
                Some(goal) if self.facts.is_large() => self.first_of(*get, preds, needed, &goal),
                _ => self.get(*get, preds, needed),
            },
            Rel::System { view, args, columns } => self.system(view, args, columns, preds, needed),
            Rel::Values { rows, columns } => self.values(rows, columns, preds, needed),
            Rel::Filter { input, predicate } => {
                factored(predicate, &mut preds);
                self.goal = goal;
                self.rel(*input, preds, needed)
            }
            Rel::Project { input, exprs } => self.project(*input, exprs, preds, needed, goal),
            Rel::Join { .. } => self.join(rel, preds, needed, goal),
            Rel::Apply { outer, left, right } => {
                self.goal = goal;
                self.apply(outer, *left, *right, preds, needed)
            }
            Rel::Aggregate { input, group, aggs, scalar, sets } => {
                let alone = scalar && group.is_empty() && sets.is_none();
                let input = match &aggs[..] {
                    [agg] if alone => first_alone(&input, agg, false).unwrap_or(*input),
                    [_, _, ..] if alone && let Some(each) = ends_alone(&input, &aggs) => {
                        return self.rel(each, preds, needed);
                    }
                    _ => *input,
                };
                self.for_first_rows(false, |l| {
                    l.aggregate(input, group, aggs, scalar, sets, preds, needed)
                })
            }
            Rel::Recursive { .. } => self.recursive(rel, preds),
            Rel::Function { .. } => self.function(rel, preds),
            Rel::Window { input, windows } => {
                self.for_first_rows(false, |l| l.window(*input, windows, preds, needed))
            }
            Rel::Sort { input, keys } => self.sorted(*input, keys, preds, needed),
            Rel::Top { input, count, percent, ties } => {
                let below = with_exprs(needed, preds.iter());
                let lowered = self.top(*input, count, percent, ties, &below);
                self.filter(lowered, preds)
            }
            Rel::Offset { input, offset, fetch } => {
                let below = with_exprs(needed, preds.iter());
                let lowered = self.offset(*input, offset, fetch, &below);
                self.filter(lowered, preds)
            }
            Rel::Distinct { input, over } => {
                let below: Needed = over.iter().copied().collect();
                let input = self.rel(*input, preds, &below);
                let input = self.shape(input, &over);
                let keys = over.len();
                let rows = input.node.rows;
                let mut lowered = input.wrap(|input| Op::Distinct { input, keys }, 1.0);
                lowered.node.rows = self.group_rows(&over, rows);
                // Hashing keeps no order anyone may rely on.
                lowered.order.clear();
                lowered
            }
            Rel::Serialize { input, spec, columns, out } => {
                let below: Needed = columns.iter().copied().collect();
                let input = self.rel(*input, Vec::new(), &below);
                // The slots must be the spec's columns, one column perhaps twice.
                let input = self.shape(input, &columns);
                let types = vec![spec.ty()];
                let op = Op::Serialize { input: Box::new(input.node), spec };
                let node = Node { op, types, rows: 1.0 };
                self.filter(plain(node, vec![out]), preds)
            }
            Rel::SetOp { op, left, left_columns, right, right_columns, columns, .. } => {
                self.set_op(op, (*left, left_columns), (*right, right_columns), columns, preds)
            }
        }
    }

    /// An expression over a row of `cols`: columns become slots, outer ones parameters, subqueries
    /// plans.
    pub fn expr(&mut self, mut expr: Expr, cols: &[ColId]) -> Expr {
        self.expr_in(&mut expr, &mut Slots::new(cols));
        expr
    }

    fn expr_in(&mut self, expr: &mut Expr, cols: &mut Slots<'_>) {
        // To the end, as in `rel`.
        self.breath.goes_on();
        match &mut expr.kind {
            ExprKind::Col(id) => {
                expr.kind = match cols.of(*id) {
                    Some(slot) => ExprKind::Slot(slot as u32),
                    None => ExprKind::Param(self.param(*id, expr.ty)),
                };
            }
            ExprKind::Subquery { kind, query } => {
                let query = std::mem::replace(
                    query.as_mut(),
                    Query {
                        rel: Rel::OneRow,
                        output: Vec::new(),
                        maxdop: 0,
                        hints: Default::default(),
                    },
                );
                let mut kind = kind.clone();
                if let SubqueryKind::In { needle } | SubqueryKind::Quantified { needle, .. } =
                    &mut kind
                {
                    self.expr_in(needle, cols);
                }
                let exists = matches!(kind, SubqueryKind::Exists);
                let plan = self.subplan(query, exists, cols.cols());
                expr.kind = ExprKind::SubPlan { kind, plan };
            }
            _ => expr.for_each_child_mut(&mut |child| self.expr_in(child, cols)),
        }
    }

    fn subplan(&mut self, query: Query, exists: bool, cols: &[ColId]) -> SubPlanId {
        let id = SubPlanId(self.subplans.len() as u32);
        self.subplans.push(None);
        let output: Vec<ColId> = if exists { Vec::new() } else { vec![query.output[0].id] };
        let needed: Needed = output.iter().copied().collect();
        self.boundaries.push(Boundary { cols: cols.to_vec(), params: Vec::new() });
        let lowered = self.rel(query.rel, Vec::new(), &needed);
        let lowered = self.shape(lowered, &output);
        let boundary = self.boundaries.pop().expect("pushed above");
        let binds = binds(&boundary, cols);
        self.subplans[id.0 as usize] = Some(SubPlan { node: lowered.node, binds });
        id
    }

    /// A column that nobody has.
    pub fn fresh(&mut self) -> ColId {
        self.made += 1;
        ColId(u32::MAX - self.made)
    }

    /// The parameter that carries an outer column to the innermost plan.
    fn param(&mut self, id: ColId, ty: SqlType) -> ParamId {
        self.param_at(self.boundaries.len(), id, ty)
    }

    fn param_at(&mut self, levels: usize, col: ColId, ty: SqlType) -> ParamId {
        let Some(level) = levels.checked_sub(1) else {
            stdx::fatal!("planner: column {col:?} is produced by no input");
        };
        if let Some(known) = self.boundaries[level].params.iter().find(|c| c.col == col) {
            return known.param;
        }
        let here = self.boundaries[level].cols.contains(&col);
        let passed = (!here).then(|| self.param_at(level, col, ty));
        let param = ParamId(self.param_count as u32);
        self.param_count += 1;
        self.boundaries[level].params.push(Correlation { col, ty, param, passed });
        param
    }

    /// Rows that satisfy all of `preds`.
    pub fn filter(&mut self, input: Lowered, preds: Vec<Expr>) -> Lowered {
        let mut input = input;
        let mut rest = Vec::with_capacity(preds.len());
        for pred in preds {
            for pred in self.apart(&input.cols, pred) {
                match self.semi_join(input, pred) {
                    (joined, None) => input = joined,
                    (same, Some(pred)) => {
                        input = same;
                        rest.push(pred);
                    }
                }
            }
        }
        for pred in &mut rest {
            input = self.unnest(input, pred);
        }
        let share = if self.facts.is_informed() { self.facts.all_of(&rest) } else { 0.3 };
        let Some(predicate) = all_of(rest) else { return input };
        let predicate = self.expr(predicate, &input.cols);
        input.wrap(|input| Op::Filter { input, predicate }, share)
    }

    /// Exactly these columns, in this order; no operator when they already are.
    pub fn shape(&mut self, input: Lowered, cols: &[ColId]) -> Lowered {
        if input.cols == cols || cols.is_empty() {
            return input;
        }
        let mut slots = Slots::new(&input.cols);
        let exprs: Vec<Expr> = cols
            .iter()
            .map(|id| match slots.of(*id) {
                Some(slot) => Expr::new(ExprKind::Slot(slot as u32), input.node.types[slot], true),
                None => stdx::fatal!("planner: column {id:?} was pruned though needed"),
            })
            .collect();
        let types = exprs.iter().map(|e| e.ty).collect();
        let rows = input.node.rows;
        let op = Op::Project { input: Box::new(input.node), exprs };
        Lowered {
            node: Node { op, types, rows },
            cols: cols.to_vec(),
            order: input.order,
            fixed: input.fixed,
            few_read: input.few_read,
        }
    }

    fn system(
        &mut self,
        view: std::sync::Arc<SystemView>,
        args: Vec<Expr>,
        columns: Vec<ColId>,
        preds: Vec<Expr>,
        needed: &Needed,
    ) -> Lowered {
        let below = with_exprs(needed, preds.iter());
        let args = args
            .into_iter()
            .map(|mut e| {
                fold(&mut e);
                self.expr(e, &[])
            })
            .collect();
        let kept: Vec<usize> =
            (0..columns.len()).filter(|i| below.contains(&columns[*i])).collect();
        let types = kept.iter().map(|i| view.columns[*i].ty).collect();
        let cols = kept.iter().map(|i| columns[*i]).collect();
        let node = Node { op: Op::System { view, args, columns: kept }, types, rows: SYSTEM_ROWS };
        self.filter(plain(node, cols), preds)
    }

    fn values(
        &mut self,
        rows: Vec<Vec<Expr>>,
        columns: Vec<ColId>,
        preds: Vec<Expr>,
        needed: &Needed,
    ) -> Lowered {
        let below = with_exprs(needed, preds.iter());
        let kept: Vec<usize> =
            (0..columns.len()).filter(|i| below.contains(&columns[*i])).collect();
        let types =
            kept.iter().map(|i| rows.first().map_or(SqlType::Int, |row| row[*i].ty)).collect();
        let count = rows.len() as f64;
        let rows = rows
            .into_iter()
            .map(|row| {
                kept.iter()
                    .map(|i| {
                        let mut e = row[*i].clone();
                        fold(&mut e);
                        self.expr(e, &[])
                    })
                    .collect()
            })
            .collect();
        let cols = kept.iter().map(|i| columns[*i]).collect();
        let node = Node { op: Op::Values { rows }, types, rows: count };
        self.filter(plain(node, cols), preds)
    }

    fn project(
        &mut self,
        input: Rel,
        mut exprs: Vec<(ColId, Expr)>,
        preds: Vec<Expr>,
        needed: &Needed,
        goal: Option<Goal>,
    ) -> Lowered {
        for (_, e) in &mut exprs {
            fold(e);
        }
        // A predicate moves below when what it reads can be computed there just as well.
        let mut above = Vec::new();
        let mut below_preds = Vec::new();
        let made: HashMap<ColId, &Expr> = match preds.is_empty() {
            true => HashMap::new(),
            // What is handed on as it is keeps what is said of it above.
            false => {
                let new = exprs.iter().rev().filter(|(id, e)| e.kind != ExprKind::Col(*id));
                new.map(|(id, e)| (*id, e)).collect()
            }
        };
        for mut pred in preds {
            self.breath.goes_on_by(16);
            let movable = {
                let mut ids = Vec::new();
                pred.columns(&mut ids);
                ids.sort_unstable();
                ids.dedup();
                ids.iter().filter_map(|id| made.get(id)).all(|e| is_movable(e))
            };
            if movable {
                pred.replace_columns(&mut |id| made.get(&id).map(|e| (*e).clone()));
                below_preds.push(pred);
            } else {
                above.push(pred);
            }
        }
        let wanted = with_exprs(needed, above.iter());
        exprs.retain(|(id, _)| wanted.contains(id));
        let below = with_exprs(&Needed::new(), exprs.iter().map(|(_, e)| e));
        let old = |id: ColId| match exprs.iter().find(|(new, _)| *new == id)?.1.kind {
            ExprKind::Col(old) => Some(old),
            _ => None,
        };
        self.goal = goal.and_then(|goal| goal.renamed(old));
        let input = self.rel(input, below_preds, &below);
        let mut slots = Slots::new(&input.cols);
        let passes =
            exprs.iter().all(|(id, e)| e.kind == ExprKind::Col(*id) && slots.of(*id).is_some());
        if passes {
            return self.filter(input, above);
        }
        let cols: Vec<ColId> = exprs.iter().map(|(id, _)| *id).collect();
        // The order survives as far as its columns do (under whichever id).
        let mut names: HashMap<ColId, ColId> = HashMap::new();
        for (new, e) in &exprs {
            if let ExprKind::Col(old) = e.kind {
                names.entry(old).or_insert(*new);
            }
        }
        let renamed = |id: &ColId| names.get(id).copied();
        let order: Vec<(ColId, bool)> =
            input.order.iter().map_while(|(id, desc)| renamed(id).map(|n| (n, *desc))).collect();
        let mut fixed: Needed = input.fixed.iter().filter_map(renamed).collect();
        fixed.extend(exprs.iter().filter(|(_, e)| e.is_constant()).map(|(id, _)| *id));
        let types = exprs.iter().map(|(_, e)| e.ty).collect();
        let bound = exprs.into_iter().map(|(_, mut e)| {
            self.expr_in(&mut e, &mut slots);
            e
        });
        let bound: Vec<Expr> = bound.collect();
        let rows = input.node.rows;
        let op = Op::Project { input: Box::new(input.node), exprs: bound };
        let few_read = input.few_read;
        let lowered = Lowered { node: Node { op, types, rows }, cols, order, fixed, few_read };
        self.filter(lowered, above)
    }

    /// Lowers what stands below an operator that is content with the first rows, or that reads all.
    pub fn for_first_rows(
        &mut self,
        first_rows: bool,
        lower: impl FnOnce(&mut Self) -> Lowered,
    ) -> Lowered {
        let above = std::mem::replace(&mut self.first_rows, first_rows);
        let lowered = lower(self);
        self.first_rows = above;
        lowered
    }

    fn set_op(
        &mut self,
        op: SetOp,
        (left, left_columns): (Rel, Vec<ColId>),
        (right, right_columns): (Rel, Vec<ColId>),
        columns: Vec<ColId>,
        preds: Vec<Expr>,
    ) -> Lowered {
        let side = |l: &mut Lowering, rel: Rel, own: &[ColId]| {
            l.breath.goes_on_by(16 * preds.len());
            let below = of_input(&preds, &columns, &rel, own);
            let needed: Needed = own.iter().copied().collect();
            let lowered = l.rel(rel, below, &needed);
            l.shape(lowered, own)
        };
        let left = side(self, left, &left_columns);
        let right = side(self, right, &right_columns);
        let types = left.node.types.clone();
        let of = |op: SetOp| rows_of_set(op, left.node.rows, right.node.rows);
        let (rows, total) = (of(op), of(SetOp::UnionAll));
        let node = match op {
            SetOp::UnionAll | SetOp::Union => {
                let mut inputs = Many::new();
                for node in [left.node, right.node] {
                    match node.op {
                        Op::Concat { inputs: more } => inputs.extend(more),
                        _ => inputs.push(node),
                    }
                }
                let all = Node { op: Op::Concat { inputs }, types: types.clone(), rows: total };
                match op {
                    SetOp::UnionAll => all,
                    _ => {
                        let op = Op::Distinct { input: Box::new(all), keys: columns.len() };
                        Node { op, types, rows }
                    }
                }
            }
            SetOp::Except | SetOp::Intersect => {
                let op =
                    Op::HashSetOp { op, left: Box::new(left.node), right: Box::new(right.node) };
                Node { op, types, rows }
            }
        };
        plain(node, columns)
    }
}

impl Lowering {
    /// Rows that are left of `rows` when one is kept of each that are alike in `columns`.
    pub fn group_rows(&self, columns: &[ColId], rows: f64) -> f64 {
        if !self.facts.is_informed() {
            return (rows / 10.0).max(1.0);
        }
        let columns: Vec<Expr> =
            columns.iter().map(|id| Expr::col(*id, SqlType::Int, true)).collect();
        self.facts.groups(&columns.iter().collect::<Vec<_>>(), rows)
    }
}

impl Lowered {
    /// In no order, and so many by the estimates that it matters whether those are right.
    pub fn is_guessed(&self) -> bool {
        self.order.is_empty() && self.node.rows >= GUESSED_ROWS
    }

    /// The same rows (or some of them, in the same order) through another operator.
    pub fn wrap(self, op: impl FnOnce(Box<Node>) -> Op, selectivity: f64) -> Lowered {
        let types = self.node.types.clone();
        let rows = (self.node.rows * selectivity).max(1.0);
        let op = op(Box::new(self.node));
        Lowered {
            node: Node { op, types, rows },
            cols: self.cols,
            order: self.order,
            fixed: self.fixed,
            few_read: self.few_read,
        }
    }
}

/// Rows of UNION and the like, of inputs of so many.
pub(crate) fn rows_of_set(op: SetOp, left: f64, right: f64) -> f64 {
    match op {
        SetOp::UnionAll => left + right,
        SetOp::Union => (left + right) / 2.0,
        SetOp::Except | SetOp::Intersect => left / 2.0,
    }
}

/// Rows of a system view, of which nothing is known.
pub(crate) const SYSTEM_ROWS: f64 = 100.0;
/// Rows of a function of the language.
pub(crate) const FUNCTION_ROWS: f64 = 50.0;
/// Rows of a recursion for each row of its anchor.
pub(crate) const RECURSIVE_LEVELS: f64 = 10.0;

/// Rows of a join, or of whatever else has no order, from which on a guess of them is not relied on.
const GUESSED_ROWS: f64 = 500.0;

/// Rows of which no order is known.
pub(crate) fn plain(node: Node, cols: Vec<ColId>) -> Lowered {
    Lowered { node, cols, order: Vec::new(), fixed: Needed::new(), few_read: false }
}

/// What the inner plan of a boundary needs, over the outer row.
pub(crate) fn binds(boundary: &Boundary, cols: &[ColId]) -> Vec<(ParamId, Expr)> {
    let mut slots = Slots::new(cols);
    boundary
        .params
        .iter()
        .map(|c| {
            let kind = match c.passed {
                Some(outer) => ExprKind::Param(outer),
                None => {
                    let slot = slots.of(c.col);
                    ExprKind::Slot(slot.expect("a boundary's own column") as u32)
                }
            };
            (c.param, Expr::new(kind, c.ty, true))
        })
        .collect()
}

/// No rows, but the right columns.
fn empty(rel: &Rel, needed: &Needed) -> Lowered {
    let types = types_of(column_types(rel));
    let cols: Vec<ColId> = rel.columns().into_iter().filter(|c| needed.contains(c)).collect();
    let types = cols.iter().map(|c| types.get(c).copied().unwrap_or(SqlType::Int)).collect();
    plain(Node { op: Op::Empty, types, rows: 0.0 }, cols)
}

/// Do the rows arrive in this order, if an operator that keeps it stands above them?
pub(crate) fn comes_in(input: &Lowered, wanted: &[(ColId, bool)]) -> bool {
    let free = |(id, _): &&(ColId, bool)| !input.fixed.contains(id);
    let mut order = input.order.iter().filter(free);
    let mut wanted = wanted.iter().filter(free).peekable();
    wanted.peek().is_some() && wanted.all(|key| order.next() == Some(key))
}
