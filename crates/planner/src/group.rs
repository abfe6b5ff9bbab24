//! Groupings and window functions.

use ir::*;
use types::SqlType;

use crate::below_windows::{first_numbered, is_of_groups, of_partitions};
use crate::columns::*;
use crate::fold::fold;
use crate::lower::*;
use crate::plan::*;

impl Lowering {
    #[allow(
        clippy::too_many_arguments,
        reason = "the parts of one operator, each named where it is called"
    )]
    pub fn aggregate(
        &mut self,
        input: Rel,
        mut group: Vec<(ColId, Expr)>,
        mut aggs: Vec<Aggregate>,
        scalar: bool,
        sets: Option<GroupingSets>,
        preds: Vec<Expr>,
        needed: &Needed,
    ) -> Lowered {
        let mut above = Vec::new();
        let mut below_preds = Vec::new();
        for mut pred in preds {
            let mut ids = Vec::new();
            pred.columns(&mut ids);
            let on_groups = !scalar
                && sets.is_none()
                && !aggs.iter().any(|a| ids.contains(&a.out))
                && ids.iter().any(|id| group.iter().any(|(g, _)| g == id))
                && is_of_groups(&pred);
            if on_groups {
                pred.replace_columns(&mut |id| {
                    group.iter().find(|(i, _)| *i == id).map(|(_, e)| e.clone())
                });
                below_preds.push(pred);
            } else {
                above.push(pred);
            }
        }
        let wanted = with_exprs(needed, above.iter());
        aggs.retain(|a| wanted.contains(&a.out));
        for (_, e) in &mut group {
            fold(e);
        }
        aggs.iter_mut().for_each(|agg| agg.for_each_arg_mut(&mut fold));
        let mut read: Vec<&Expr> = group.iter().map(|(_, e)| e).collect();
        aggs.iter().for_each(|agg| agg.for_each_arg(&mut |e| read.push(e)));
        let below = with_exprs(&Needed::new(), read.into_iter());
        let input = self.rel(input, below_preds, &below);
        let group_cols: Vec<ColId> = group
            .iter()
            .filter_map(|(_, e)| match e.kind {
                ExprKind::Col(id) => Some(id),
                _ => None,
            })
            .collect();
        let grouped_order = group_cols.len() == group.len() && {
            let free: Vec<ColId> =
                group_cols.iter().copied().filter(|id| !input.fixed.contains(id)).collect();
            let sorted: Vec<ColId> = input
                .order
                .iter()
                .map(|(id, _)| *id)
                .filter(|id| !input.fixed.contains(id))
                .take(free.len())
                .collect();
            sorted.len() == free.len() && free.iter().all(|id| sorted.contains(id))
        };
        // Groups of a stream come in the order of its rows.
        let order: Vec<(ColId, bool)> = match grouped_order && sets.is_none() {
            true => {
                let free = input.order.iter().filter(|(id, _)| !input.fixed.contains(id));
                free.map_while(|(id, desc)| {
                    let of = |e: &Expr| e.kind == ExprKind::Col(*id);
                    group.iter().find(|(_, e)| of(e)).map(|(out, _)| (*out, *desc))
                })
                .collect()
            }
            false => Vec::new(),
        };
        let strategy = match sets.is_none() && (group.is_empty() || grouped_order) {
            true => AggStrategy::Stream,
            false => AggStrategy::Hash,
        };
        let mut cols: Vec<ColId> =
            group.iter().map(|(id, _)| *id).chain(aggs.iter().map(|a| a.out)).collect();
        let mut types: Vec<SqlType> =
            group.iter().map(|(_, e)| e.ty).chain(aggs.iter().map(|a| a.ty)).collect();
        if let Some(sets) = &sets {
            cols.push(sets.mask);
            types.push(SqlType::BigInt);
        }
        let rows = match (group.is_empty(), self.facts.is_informed()) {
            (true, _) => 1.0,
            (false, false) => (input.node.rows / 10.0).max(1.0),
            (false, true) => {
                let keys: Vec<&Expr> = group.iter().map(|(_, e)| e).collect();
                let sets = sets.as_ref().map_or(1, |s| s.sets.len()) as f64;
                self.facts.groups(&keys, input.node.rows) * sets
            }
        };
        let group: Vec<Expr> = group.into_iter().map(|(_, e)| self.expr(e, &input.cols)).collect();
        let aggs = aggs
            .into_iter()
            .map(|a| Agg {
                func: a.func,
                distinct: a.distinct,
                arg: a.arg.map(|e| self.expr(e, &input.cols)),
                joining: a.joining.map(|j| {
                    let order = j
                        .order
                        .into_iter()
                        .map(|k| SortKey { expr: self.expr(k.expr, &input.cols), desc: k.desc });
                    let order = order.collect();
                    Box::new(Joining { separator: self.expr(j.separator, &[]), order })
                }),
                warns: a.warns,
                ty: a.ty,
            })
            .collect();
        let sets = sets.map(|s| s.sets);
        let op = Op::Aggregate {
            input: Box::new(input.node),
            group,
            aggs,
            scalar,
            sets,
            strategy,
            weight: None,
        };
        let mut lowered = plain(Node { op, types, rows }, cols);
        lowered.order = order;
        self.filter(lowered, above)
    }

    pub fn window(
        &mut self,
        input: Rel,
        mut windows: Vec<Window>,
        mut preds: Vec<Expr>,
        needed: &Needed,
    ) -> Lowered {
        let wanted = with_exprs(needed, preds.iter());
        windows.retain(|w| wanted.contains(&w.out));
        for w in &mut windows {
            w.partition.iter_mut().for_each(fold);
            w.order.iter_mut().for_each(|k| fold(&mut k.expr));
            w.func.for_each_arg_mut(&mut fold);
        }
        let mut below = wanted.clone();
        for w in &windows {
            let mut exprs: Vec<&Expr> = w.partition.iter().collect();
            exprs.extend(w.order.iter().map(|k| &k.expr));
            w.func.for_each_arg(&mut |e| exprs.push(e));
            below = with_exprs(&below, exprs.into_iter());
        }
        let of_input = of_partitions(&windows, &mut preds);
        let input = match first_numbered(&windows, &preds) {
            Some((count, keys)) => {
                let input = Box::new(Rel::Sort { input: Box::new(input), keys });
                Rel::Top { input, count, percent: false, ties: None }
            }
            None => input,
        };
        let mut lowered = self.rel(input, of_input, &below);
        // Functions over the same partition and order share one pass. Order by what is the same in
        // all rows is no order.
        while !windows.is_empty() {
            let first = windows.remove(0);
            let mut partition = first.partition.clone();
            let mut order = first.order.clone();
            let mut group = vec![first];
            let mut i = 0;
            while i < windows.len() {
                if windows[i].shares_pass(&group[0]) {
                    group.push(windows.remove(i));
                } else {
                    i += 1;
                }
            }
            let irrelevant = |e: &Expr, fixed: &Needed| {
                is_free_of_rows(e) || matches!(e.kind, ExprKind::Col(id) if fixed.contains(&id))
            };
            partition.retain(|e| !irrelevant(e, &lowered.fixed));
            order.retain(|k| !irrelevant(&k.expr, &lowered.fixed));
            let mut keys: Vec<SortKey> =
                partition.iter().map(|e| SortKey { expr: e.clone(), desc: false }).collect();
            keys.extend(order.iter().cloned());
            if !keys.is_empty() {
                lowered = self.sort(lowered, keys, None);
            }
            let partition = partition.into_iter().map(|e| self.expr(e, &lowered.cols)).collect();
            let order = order
                .into_iter()
                .map(|k| SortKey { expr: self.expr(k.expr, &lowered.cols), desc: k.desc })
                .collect();
            let mut funcs = Vec::with_capacity(group.len());
            let mut outs = Vec::with_capacity(group.len());
            for w in group {
                let mut func = w.func;
                func.for_each_arg_mut(&mut |e| {
                    let taken = std::mem::replace(e, Expr::int(0));
                    *e = self.expr(taken, &lowered.cols);
                });
                funcs.push(WindowCall { func, frame: w.frame, ty: w.ty });
                outs.push((w.out, w.ty));
            }
            let Lowered { node, mut cols, order: kept, fixed, .. } = lowered;
            let mut types = node.types.clone();
            for (out, ty) in outs {
                cols.push(out);
                types.push(ty);
            }
            let rows = node.rows;
            let op = Op::Window { input: Box::new(node), partition, order, funcs };
            let node = Node { op, types, rows };
            lowered = Lowered { node, cols, order: kept, fixed, few_read: false };
        }
        self.filter(lowered, preds)
    }

    /// A recursion: the step is planned like a query correlated with the row that it goes on from.
    #[inline(never)]
    pub fn recursive(&mut self, rel: Rel, preds: Vec<Expr>) -> Lowered {
        let Rel::Recursive { anchor, anchor_columns, step, step_columns, iteration, columns, max } =
            rel
        else {
            stdx::fatal!("planner: no recursion");
        };
        let needed: Needed = anchor_columns.iter().copied().collect();
        let anchor = self.rel(*anchor, Vec::new(), &needed);
        let anchor = self.shape(anchor, &anchor_columns);
        self.boundaries.push(Boundary { cols: iteration.clone(), params: Vec::new() });
        let needed: Needed = step_columns.iter().copied().collect();
        let step = self.rel(*step, Vec::new(), &needed);
        let step = self.shape(step, &step_columns);
        let boundary = self.boundaries.pop().expect("pushed above");
        let binds = binds(&boundary, &iteration);
        let types = anchor.node.types.clone();
        let rows = anchor.node.rows * RECURSIVE_LEVELS;
        let op =
            Op::Recursive { anchor: Box::new(anchor.node), step: Box::new(step.node), binds, max };
        self.filter(plain(Node { op, types, rows }, columns), preds)
    }

    /// The rows of a table-valued function of the language.
    #[inline(never)]
    pub fn function(&mut self, rel: Rel, preds: Vec<Expr>) -> Lowered {
        let Rel::Function { func, mut args, columns } = rel else {
            stdx::fatal!("planner: no function");
        };
        for arg in &mut args {
            fold(arg);
        }
        let args = args.into_iter().map(|e| self.expr(e, &[])).collect();
        let types = columns.iter().map(|(_, ty)| *ty).collect();
        let node = Node { op: Op::Function { func, args }, types, rows: FUNCTION_ROWS };
        let cols = columns.into_iter().map(|(id, _)| id).collect();
        self.filter(plain(node, cols), preds)
    }
}
