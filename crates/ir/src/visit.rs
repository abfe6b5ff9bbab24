//! Walks over expressions and relational trees, so that no rewrite lists the variants again.

use super::expr::{ColId, Expr, ExprKind, SubqueryKind};
use super::func::FuncId;
use super::query::{Aggregate, Rel, SortKey, WindowFunc};

impl Expr {
    /// Calls `f` on each direct operand. A subquery's operand is its needle; its query is not
    /// entered (see [`Expr::walk`]). A walk over a large tree lets others go first.
    pub fn for_each_child<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        runtime::task::stepped();
        match &self.kind {
            ExprKind::Const(_)
            | ExprKind::Col(_)
            | ExprKind::Slot(_)
            | ExprKind::Param(_)
            | ExprKind::Var(_)
            | ExprKind::Sys(_)
            | ExprKind::Total
            | ExprKind::NextIdentity => {}
            ExprKind::Neg(a) | ExprKind::BitNot(a) | ExprKind::Not(a) => f(a),
            ExprKind::Arith { left, right, .. }
            | ExprKind::Concat { left, right }
            | ExprKind::Compare { left, right, .. }
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right) => {
                f(left);
                f(right);
            }
            ExprKind::IsNull { input, .. } | ExprKind::Cast { input, .. } => f(input),
            ExprKind::Like { input, pattern, escape, .. } => {
                f(input);
                f(pattern);
                if let Some(escape) = escape {
                    f(escape);
                }
            }
            ExprKind::In { input, list, .. } => {
                f(input);
                list.each(f);
            }
            ExprKind::Case { branches, otherwise } => {
                for (when, then) in branches {
                    f(when);
                    f(then);
                }
                if let Some(otherwise) = otherwise {
                    f(otherwise);
                }
            }
            ExprKind::Func { args, .. } | ExprKind::Xml { args, .. } => args.iter().for_each(f),
            ExprKind::Steps(steps) => steps.each(f),
            ExprKind::Subquery { kind, .. } | ExprKind::SubPlan { kind, .. } => match kind {
                SubqueryKind::In { needle } | SubqueryKind::Quantified { needle, .. } => f(needle),
                SubqueryKind::Scalar | SubqueryKind::Exists => {}
            },
        }
    }

    /// As [`Expr::for_each_child`], mutably.
    pub fn for_each_child_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        runtime::task::stepped();
        match &mut self.kind {
            ExprKind::Const(_)
            | ExprKind::Col(_)
            | ExprKind::Slot(_)
            | ExprKind::Param(_)
            | ExprKind::Var(_)
            | ExprKind::Sys(_)
            | ExprKind::Total
            | ExprKind::NextIdentity => {}
            ExprKind::Neg(a) | ExprKind::BitNot(a) | ExprKind::Not(a) => f(a),
            ExprKind::Arith { left, right, .. }
            | ExprKind::Concat { left, right }
            | ExprKind::Compare { left, right, .. }
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right) => {
                f(left);
                f(right);
            }
            ExprKind::IsNull { input, .. } | ExprKind::Cast { input, .. } => f(input),
            ExprKind::Like { input, pattern, escape, .. } => {
                f(input);
                f(pattern);
                if let Some(escape) = escape {
                    f(escape);
                }
            }
            ExprKind::In { input, list, .. } => {
                f(input);
                list.each_mut(f);
            }
            ExprKind::Case { branches, otherwise } => {
                for (when, then) in branches {
                    f(when);
                    f(then);
                }
                if let Some(otherwise) = otherwise {
                    f(otherwise);
                }
            }
            ExprKind::Func { args, .. } | ExprKind::Xml { args, .. } => args.iter_mut().for_each(f),
            ExprKind::Steps(steps) => steps.each_mut(f),
            ExprKind::Subquery { kind, .. } | ExprKind::SubPlan { kind, .. } => match kind {
                SubqueryKind::In { needle } | SubqueryKind::Quantified { needle, .. } => f(needle),
                SubqueryKind::Scalar | SubqueryKind::Exists => {}
            },
        }
    }

    /// Calls `f` on this expression, then on all below it, subqueries' expressions included.
    pub fn walk<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        f(self);
        if let ExprKind::Subquery { query, .. } = &self.kind {
            query.rel.walk_exprs(&mut |e| e.walk(f));
        }
        self.for_each_child(&mut |child| child.walk(f));
    }

    /// Does `found` hold for this expression or any below it, subqueries included?
    pub fn any(&self, found: &mut dyn FnMut(&Expr) -> bool) -> bool {
        let mut hit = false;
        self.walk(&mut |e| hit = hit || found(e));
        hit
    }

    /// Does it call a function of the user's, which may read anything?
    pub fn calls_users(&self) -> bool {
        self.any(&mut |e| matches!(e.kind, ExprKind::Func { func: FuncId::User(_), .. }))
    }

    /// Replaces columns, subqueries included; `f` gives the expression to put in a column's place.
    pub fn replace_columns(&mut self, f: &mut dyn FnMut(ColId) -> Option<Expr>) {
        if let ExprKind::Col(id) = self.kind {
            if let Some(new) = f(id) {
                *self = new;
            }
            return;
        }
        if let ExprKind::Subquery { query, .. } = &mut self.kind {
            query.rel.walk_exprs_mut(&mut |e| e.replace_columns(f));
        }
        self.for_each_child_mut(&mut |child| child.replace_columns(f));
    }

    /// Ids of all columns mentioned, subqueries included (their own columns too: ids are unique).
    pub fn columns(&self, out: &mut Vec<ColId>) {
        self.walk(&mut |e| {
            if let ExprKind::Col(id) = e.kind {
                out.push(id);
            }
        });
    }

    /// Reads nothing of a row, a variable or the session, and always yields the same.
    pub fn is_constant(&self) -> bool {
        !self.any(&mut |e| match &e.kind {
            ExprKind::Col(_)
            | ExprKind::Slot(_)
            | ExprKind::Param(_)
            | ExprKind::Var(_)
            | ExprKind::Sys(_)
            | ExprKind::Subquery { .. }
            | ExprKind::SubPlan { .. }
            | ExprKind::Total
            | ExprKind::NextIdentity => true,
            ExprKind::Func { func, .. } => !func.is_deterministic(),
            _ => false,
        })
    }
}

fn keys<'e>(keys: &'e [SortKey], f: &mut dyn FnMut(&'e Expr)) {
    keys.iter().for_each(|k| f(&k.expr));
}

fn keys_mut(keys: &mut [SortKey], f: &mut dyn FnMut(&mut Expr)) {
    keys.iter_mut().for_each(|k| f(&mut k.expr));
}

impl Aggregate {
    pub fn for_each_arg<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        self.arg.iter().for_each(&mut *f);
        if let Some(joining) = &self.joining {
            f(&joining.separator);
            keys(&joining.order, f);
        }
    }

    pub fn for_each_arg_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.arg.iter_mut().for_each(&mut *f);
        if let Some(joining) = &mut self.joining {
            f(&mut joining.separator);
            keys_mut(&mut joining.order, f);
        }
    }
}

/// Calls `$f` with each argument of a window function: by reference or by mutable reference, as `$func` is one; `$iter`
/// goes through an argument that may be absent likewise.
macro_rules! each_arg {
    ($func:expr, $iter:ident, $f:expr) => {
        match $func {
            WindowFunc::RowNumber
            | WindowFunc::Rank
            | WindowFunc::DenseRank
            | WindowFunc::PercentRank
            | WindowFunc::CumeDist => {}
            WindowFunc::NTile(arg)
            | WindowFunc::FirstValue { arg, .. }
            | WindowFunc::LastValue { arg, .. } => $f(arg),
            WindowFunc::PercentileCont { at, arg } | WindowFunc::PercentileDisc { at, arg } => {
                $f(at);
                $f(arg);
            }
            WindowFunc::Aggregate { arg, .. } => arg.$iter().for_each($f),
            WindowFunc::Lag { arg, offset, default, .. }
            | WindowFunc::Lead { arg, offset, default, .. } => {
                $f(arg);
                offset.$iter().for_each(&mut *$f);
                default.$iter().for_each($f);
            }
        }
    };
}

impl WindowFunc {
    pub fn for_each_arg<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        each_arg!(self, iter, f)
    }

    pub fn for_each_arg_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        each_arg!(self, iter_mut, f)
    }
}

impl Rel {
    /// The inputs, left to right.
    pub fn inputs(&self) -> Vec<&Rel> {
        match self {
            Rel::OneRow
            | Rel::Get(_)
            | Rel::System { .. }
            | Rel::Values { .. }
            | Rel::Function { .. } => Vec::new(),
            Rel::Recursive { anchor, step, .. } => vec![anchor, step],
            Rel::Filter { input, .. }
            | Rel::Project { input, .. }
            | Rel::Aggregate { input, .. }
            | Rel::Window { input, .. }
            | Rel::Sort { input, .. }
            | Rel::Top { input, .. }
            | Rel::Offset { input, .. }
            | Rel::Serialize { input, .. }
            | Rel::Distinct { input, .. } => vec![input],
            Rel::Join { left, right, .. }
            | Rel::Apply { left, right, .. }
            | Rel::SetOp { left, right, .. } => vec![left, right],
        }
    }

    pub fn inputs_mut(&mut self) -> Vec<&mut Rel> {
        match self {
            Rel::OneRow
            | Rel::Get(_)
            | Rel::System { .. }
            | Rel::Values { .. }
            | Rel::Function { .. } => Vec::new(),
            Rel::Recursive { anchor, step, .. } => vec![anchor, step],
            Rel::Filter { input, .. }
            | Rel::Project { input, .. }
            | Rel::Aggregate { input, .. }
            | Rel::Window { input, .. }
            | Rel::Sort { input, .. }
            | Rel::Top { input, .. }
            | Rel::Offset { input, .. }
            | Rel::Serialize { input, .. }
            | Rel::Distinct { input, .. } => vec![input],
            Rel::Join { left, right, .. }
            | Rel::Apply { left, right, .. }
            | Rel::SetOp { left, right, .. } => vec![left, right],
        }
    }

    /// Calls `f` on the expressions of this operator alone.
    pub fn own_exprs<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        match self {
            Rel::OneRow
            | Rel::Get(_)
            | Rel::Distinct { .. }
            | Rel::Serialize { .. }
            | Rel::SetOp { .. }
            | Rel::Recursive { .. } => {}
            Rel::System { args, .. } | Rel::Function { args, .. } => args.iter().for_each(f),
            Rel::Values { rows, .. } => rows.iter().flatten().for_each(f),
            Rel::Filter { predicate, .. } => f(predicate),
            Rel::Project { exprs, .. } => exprs.iter().for_each(|(_, e)| f(e)),
            Rel::Join { on, .. } => on.iter().for_each(f),
            Rel::Apply { .. } => {}
            Rel::Aggregate { group, aggs, .. } => {
                group.iter().for_each(|(_, e)| f(e));
                aggs.iter().for_each(|a| a.for_each_arg(f));
            }
            Rel::Window { windows, .. } => {
                for w in windows {
                    w.partition.iter().for_each(&mut *f);
                    keys(&w.order, f);
                    w.func.for_each_arg(f);
                }
            }
            Rel::Sort { keys: k, .. } => keys(k, f),
            Rel::Top { count, ties, .. } => {
                f(count);
                if let Some(k) = ties {
                    keys(k, f);
                }
            }
            Rel::Offset { offset, fetch, .. } => {
                f(offset);
                fetch.iter().for_each(f);
            }
        }
    }

    pub fn own_exprs_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Rel::OneRow
            | Rel::Get(_)
            | Rel::Distinct { .. }
            | Rel::Serialize { .. }
            | Rel::SetOp { .. }
            | Rel::Recursive { .. } => {}
            Rel::System { args, .. } | Rel::Function { args, .. } => args.iter_mut().for_each(f),
            Rel::Values { rows, .. } => rows.iter_mut().flatten().for_each(f),
            Rel::Filter { predicate, .. } => f(predicate),
            Rel::Project { exprs, .. } => exprs.iter_mut().for_each(|(_, e)| f(e)),
            Rel::Join { on, .. } => on.iter_mut().for_each(f),
            Rel::Apply { .. } => {}
            Rel::Aggregate { group, aggs, .. } => {
                group.iter_mut().for_each(|(_, e)| f(e));
                aggs.iter_mut().for_each(|a| a.for_each_arg_mut(f));
            }
            Rel::Window { windows, .. } => {
                for w in windows {
                    w.partition.iter_mut().for_each(&mut *f);
                    keys_mut(&mut w.order, f);
                    w.func.for_each_arg_mut(f);
                }
            }
            Rel::Sort { keys: k, .. } => keys_mut(k, f),
            Rel::Top { count, ties, .. } => {
                f(count);
                if let Some(k) = ties {
                    keys_mut(k, f);
                }
            }
            Rel::Offset { offset, fetch, .. } => {
                f(offset);
                fetch.iter_mut().for_each(f);
            }
        }
    }

    /// Calls `f` on the top of every expression in the tree.
    pub fn walk_exprs<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        self.own_exprs(f);
        for input in self.inputs() {
            input.walk_exprs(f);
        }
    }

    pub fn walk_exprs_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.own_exprs_mut(f);
        for input in self.inputs_mut() {
            input.walk_exprs_mut(f);
        }
    }

    /// Ids of the columns this operator yields.
    pub fn columns(&self) -> Vec<ColId> {
        match self {
            Rel::OneRow => Vec::new(),
            Rel::Get(get) => get.columns.iter().copied().chain(get.locator).collect(),
            Rel::System { columns, .. } | Rel::Values { columns, .. } => columns.clone(),
            Rel::Project { exprs, .. } => exprs.iter().map(|(id, _)| *id).collect(),
            Rel::Join { left, right, .. } | Rel::Apply { left, right, .. } => {
                let mut columns = left.columns();
                columns.extend(right.columns());
                columns
            }
            Rel::Aggregate { group, aggs, sets, .. } => {
                let mut columns: Vec<ColId> = group.iter().map(|(id, _)| *id).collect();
                columns.extend(aggs.iter().map(|a| a.out));
                columns.extend(sets.as_ref().map(|s| s.mask));
                columns
            }
            Rel::Recursive { columns, .. } => columns.clone(),
            Rel::Function { columns, .. } => columns.iter().map(|(id, _)| *id).collect(),
            Rel::Window { input, windows } => {
                let mut columns = input.columns();
                columns.extend(windows.iter().map(|w| w.out));
                columns
            }
            Rel::Filter { input, .. }
            | Rel::Sort { input, .. }
            | Rel::Top { input, .. }
            | Rel::Offset { input, .. }
            | Rel::Distinct { input, .. } => input.columns(),
            Rel::Serialize { out, .. } => vec![*out],
            Rel::SetOp { columns, .. } => columns.clone(),
        }
    }
}

impl Rel {
    /// Calls `f` on each table that the tree reads, those of subqueries in expressions left out.
    pub fn walk_tables(&self, f: &mut dyn FnMut(&catalog::TableDef)) {
        if let Rel::Get(get) = self {
            f(&get.table);
        }
        for input in self.inputs() {
            input.walk_tables(f);
        }
    }
}
