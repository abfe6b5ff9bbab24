//! Joins: which side each predicate belongs to, and how the sides meet.
//!
//! Nested loops with a seek when the right side is a table whose key the predicates give and few
//! left rows are expected; a hash join when there is any equality; nested loops over a kept right
//! side otherwise. Semi and anti joins come from IN and EXISTS.

use binder::ir::*;

use crate::access::{key_columns, key_range};
use crate::fold::{all_of, conjuncts, fold};
use crate::lower::*;
use crate::plan::*;

/// Left rows up to which seeking the right side row by row beats reading it whole.
const SEEK_ROWS: f64 = 10_000.0;

impl Lowering {
    pub fn join(
        &mut self,
        kind: JoinKind,
        left: Rel,
        right: Rel,
        on: Option<Expr>,
        preds: Vec<Expr>,
        needed: &Needed,
    ) -> Lowered {
        // RIGHT is LEFT seen from the other side: columns go by id, so nothing else changes.
        if kind == JoinKind::Right {
            return self.join(JoinKind::Left, right, left, on, preds, needed);
        }
        let left_cols: Needed = left.columns().into_iter().collect();
        let right_cols: Needed = right.columns().into_iter().collect();
        let mut conditions = Vec::new();
        if let Some(on) = on {
            conjuncts(on, &mut conditions);
        }
        conditions.iter_mut().for_each(fold);
        // A predicate that no row of NULLs passes makes an outer join an inner one.
        let kind = match kind {
            JoinKind::Left if preds.iter().any(|p| rejects_nulls(p, &right_cols)) => {
                JoinKind::Inner
            }
            kind => kind,
        };
        let (mut to_left, mut to_right, mut above) = (Vec::new(), Vec::new(), Vec::new());
        match kind {
            JoinKind::Inner | JoinKind::Cross => {
                let mut both = Vec::new();
                for p in conditions.into_iter().chain(preds) {
                    match side(&p, &left_cols, &right_cols) {
                        Side::Left | Side::Neither => to_left.push(p),
                        Side::Right => to_right.push(p),
                        Side::Both => both.push(p),
                    }
                }
                conditions = both;
            }
            JoinKind::Left => {
                let mut kept = Vec::new();
                for p in conditions {
                    match side(&p, &left_cols, &right_cols) {
                        Side::Right => to_right.push(p),
                        _ => kept.push(p),
                    }
                }
                conditions = kept;
                for p in preds {
                    match side(&p, &left_cols, &right_cols) {
                        Side::Left | Side::Neither => to_left.push(p),
                        _ => above.push(p),
                    }
                }
            }
            _ => above = preds,
        }
        let physical = match kind {
            JoinKind::Left => PhysicalJoin::Left,
            JoinKind::Full => PhysicalJoin::Full,
            JoinKind::Semi => PhysicalJoin::Semi,
            JoinKind::Anti => PhysicalJoin::Anti,
            _ => PhysicalJoin::Inner,
        };
        let wanted = with_exprs(&with_exprs(needed, above.iter()), conditions.iter());
        // What the right side reads of the left (a seek's bounds) is among the conditions.
        let left = self.rel(left, to_left, &wanted);
        let joined = self.meet(physical, left, right, to_right, conditions, &wanted);
        self.filter(joined, above)
    }

    /// Joins a planned left side with a right one.
    pub fn meet(
        &mut self,
        kind: PhysicalJoin,
        left: Lowered,
        right: Rel,
        to_right: Vec<Expr>,
        conditions: Vec<Expr>,
        needed: &Needed,
    ) -> Lowered {
        let seek = left.node.rows <= SEEK_ROWS
            && kind != PhysicalJoin::Full
            && gives_key(&right, &to_right, &conditions);
        if seek {
            self.boundaries.push(Boundary { cols: left.cols.clone(), params: Vec::new() });
            let preds = to_right.into_iter().chain(conditions).collect();
            let right = self.rel(right, preds, needed);
            let boundary = self.boundaries.pop().expect("pushed above");
            let binds = binds(&boundary, &left.cols);
            return combine(kind, left, right, |left, right| Op::NestedLoops {
                kind,
                left,
                right,
                binds,
                predicate: None,
                spool: false,
            });
        }
        let right = self.rel(right, to_right, needed);
        let (mut left_keys, mut right_keys, mut residual) = (Vec::new(), Vec::new(), Vec::new());
        for c in conditions {
            match equality(&c, &left.cols, &right.cols) {
                Some((l, r)) => {
                    left_keys.push(self.expr(l, &left.cols));
                    right_keys.push(self.expr(r, &right.cols));
                }
                None => residual.push(c),
            }
        }
        let both: Vec<ColId> = left.cols.iter().chain(&right.cols).copied().collect();
        let residual = all_of(residual).map(|p| self.expr(p, &both));
        if left_keys.is_empty() && kind != PhysicalJoin::Full {
            return combine(kind, left, right, |left, right| Op::NestedLoops {
                kind,
                left,
                right,
                binds: Vec::new(),
                predicate: residual,
                spool: true,
            });
        }
        combine(kind, left, right, |left, right| Op::HashJoin {
            kind,
            left,
            right,
            left_keys,
            right_keys,
            residual,
        })
    }

    /// CROSS APPLY and OUTER APPLY: the right side runs for each left row.
    pub fn apply(
        &mut self,
        outer: bool,
        left: Rel,
        right: Rel,
        preds: Vec<Expr>,
        needed: &Needed,
    ) -> Lowered {
        let left_cols: Needed = left.columns().into_iter().collect();
        let right_cols: Needed = right.columns().into_iter().collect();
        let (mut to_left, mut to_right, mut above) = (Vec::new(), Vec::new(), Vec::new());
        for p in preds {
            match side(&p, &left_cols, &right_cols) {
                Side::Left | Side::Neither => to_left.push(p),
                Side::Right if !outer => to_right.push(p),
                _ => above.push(p),
            }
        }
        let mut wanted = with_exprs(needed, above.iter());
        let mut read = Vec::new();
        right.walk_exprs(&mut |e| e.columns(&mut read));
        wanted.extend(read);
        let left = self.rel(left, to_left, &wanted);
        self.boundaries.push(Boundary { cols: left.cols.clone(), params: Vec::new() });
        let right = self.rel(right, to_right, &wanted);
        let boundary = self.boundaries.pop().expect("pushed above");
        let binds = binds(&boundary, &left.cols);
        let kind = if outer { PhysicalJoin::Left } else { PhysicalJoin::Inner };
        let spool = binds.is_empty();
        let joined = combine(kind, left, right, |left, right| Op::NestedLoops {
            kind,
            left,
            right,
            binds,
            predicate: None,
            spool,
        });
        self.filter(joined, above)
    }
}

fn combine(
    kind: PhysicalJoin,
    left: Lowered,
    right: Lowered,
    op: impl FnOnce(Box<Node>, Box<Node>) -> Op,
) -> Lowered {
    let half = matches!(kind, PhysicalJoin::Semi | PhysicalJoin::Anti);
    let mut cols = left.cols;
    let mut types = left.node.types.clone();
    let mut rows = left.node.rows;
    if !half {
        cols.extend(right.cols);
        types.extend(right.node.types.iter().copied());
        rows *= match right.node.rows {
            r if r <= 1.0 => 1.0,
            r => r.min(1000.0),
        };
    }
    // Left rows come in their order under either method, save for those a full join adds.
    let order = if kind == PhysicalJoin::Full { Vec::new() } else { left.order };
    let fixed = if kind == PhysicalJoin::Full { Needed::new() } else { left.fixed };
    let op = op(Box::new(left.node), Box::new(right.node));
    Lowered { node: Node { op, types, rows }, cols, order, fixed }
}

enum Side {
    Left,
    Right,
    Both,
    Neither,
}

fn side(pred: &Expr, left: &Needed, right: &Needed) -> Side {
    let mut ids = Vec::new();
    pred.columns(&mut ids);
    let on_left = ids.iter().any(|id| left.contains(id));
    let on_right = ids.iter().any(|id| right.contains(id));
    match (on_left, on_right) {
        (true, true) => Side::Both,
        (true, false) => Side::Left,
        (false, true) => Side::Right,
        (false, false) => Side::Neither,
    }
}

/// `left expression = right expression`, each side reading one input only.
fn equality(pred: &Expr, left: &[ColId], right: &[ColId]) -> Option<(Expr, Expr)> {
    let ExprKind::Compare { op: CompareOp::Eq, left: a, right: b } = &pred.kind else {
        return None;
    };
    let reads = |e: &Expr, cols: &[ColId]| {
        let mut ids = Vec::new();
        e.columns(&mut ids);
        let plain = !e.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. }));
        plain && !ids.is_empty() && ids.iter().all(|id| cols.contains(id))
    };
    if reads(a, left) && reads(b, right) {
        return Some(((**a).clone(), (**b).clone()));
    }
    if reads(b, left) && reads(a, right) {
        return Some(((**b).clone(), (**a).clone()));
    }
    None
}

/// Would the predicates give the whole key of the right side, were the left row at hand?
fn gives_key(right: &Rel, to_right: &[Expr], conditions: &[Expr]) -> bool {
    let mut preds: Vec<Expr> = to_right.iter().chain(conditions).cloned().collect();
    let mut rel = right;
    while let Rel::Filter { input, predicate } = rel {
        conjuncts(predicate.clone(), &mut preds);
        rel = input;
    }
    let Rel::Get(get) = rel else { return false };
    let keys = key_columns(&get.table);
    let (range, _) = key_range(get, preds);
    !keys.is_empty() && range.is_some_and(|r| !r.prefix.is_empty())
}

/// Is the predicate never true when all columns of the right side are NULL?
fn rejects_nulls(pred: &Expr, right: &Needed) -> bool {
    fn strict(e: &Expr, right: &Needed) -> bool {
        match &e.kind {
            ExprKind::Col(id) => right.contains(id),
            ExprKind::Cast { input, .. } | ExprKind::Neg(input) => strict(input, right),
            ExprKind::Arith { left, right: r, .. } => strict(left, right) || strict(r, right),
            _ => false,
        }
    }
    match &pred.kind {
        ExprKind::Compare { left, right: r, .. } => strict(left, right) || strict(r, right),
        ExprKind::IsNull { input, negated: true } => strict(input, right),
        ExprKind::Like { input, negated: false, .. } => strict(input, right),
        ExprKind::In { input, negated: false, .. } => strict(input, right),
        _ => false,
    }
}
