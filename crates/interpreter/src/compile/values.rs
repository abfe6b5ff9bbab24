//! Expressions to instructions.
//!
//! A condition is code that jumps: where only TRUE counts, UNKNOWN goes the way of FALSE, and NOT is pushed down to the
//! comparisons. A conversion to a wider type disappears into the instruction that reads its operand
//! ([`crate::scalar`]). What has no instructions is an expression tree behind one, with all that is below it.
//!
//! Promise: a destination is written last, so that an expression may read the variable that it is assigned to.

use super::Compiler;
use crate::op::{Op, Reg, When};
use ir::{ArithOp, CastMode, CompareOp, Condition, Expr, ExprKind, FuncId, Parallel};
use planner::plan_expr;
use types::{SqlType, Value, convert};

/// Kinds of numbers with instructions of their own.
#[derive(Clone, Copy, PartialEq)]
enum Family {
    /// int and what is smaller.
    Int,
    Big,
    Float,
}

impl Family {
    /// The instructions for arithmetic in that type.
    fn of(ty: SqlType) -> Option<Family> {
        match ty {
            SqlType::Int => Some(Family::Int),
            SqlType::BigInt => Some(Family::Big),
            SqlType::Float => Some(Family::Float),
            _ => None,
        }
    }

    /// The instructions for comparison in that type.
    fn comparing(ty: SqlType) -> Option<Family> {
        match ty {
            SqlType::Bit | SqlType::TinyInt | SqlType::SmallInt => Some(Family::Int),
            _ => Family::of(ty),
        }
    }

    /// Whether its instructions read a register of that type as it is.
    fn reads(self, ty: SqlType) -> bool {
        match self {
            Family::Int => Family::comparing(ty) == Some(Family::Int),
            Family::Big => ty.is_integer(),
            Family::Float => ty.is_integer() || ty == SqlType::Float,
        }
    }
}

/// Whether an expression may see @@ROWCOUNT or @@ERROR.
pub(super) fn observes(expr: &Expr) -> bool {
    expr.any(&mut |e| match &e.kind {
        ExprKind::Func { func, .. } => func.class().parallel == Parallel::Restricted,
        ExprKind::Sys(_)
        | ExprKind::Subquery { .. }
        | ExprKind::SubPlan { .. }
        | ExprKind::Xml { .. } => true,
        _ => false,
    })
}

/// How many expression trees there are in the code of an expression. The clock is read once for a statement, and each
/// tree costs a context of its own: what would be several is one, and so is a CASE that has any.
fn trees(expr: &Expr) -> usize {
    let sum = |parts: &[&Expr]| parts.iter().map(|e| trees(e)).sum::<usize>();
    match &expr.kind {
        ExprKind::Var(_) | ExprKind::Const(_) => 0,
        ExprKind::Arith { op, left, right } => match Family::of(expr.ty) {
            Some(family) if left.ty == expr.ty && right.ty == expr.ty => {
                if family == Family::Float && !is_float_op(*op) {
                    return 1;
                }
                sum(&[left, right])
            }
            _ => 1,
        },
        ExprKind::Neg(input) if input.ty == expr.ty && Family::of(expr.ty).is_some() => {
            trees(input)
        }
        ExprKind::BitNot(input)
            if input.ty == expr.ty && matches!(expr.ty, SqlType::Int | SqlType::BigInt) =>
        {
            trees(input)
        }
        ExprKind::Cast { input, mode, .. } if mode.is_of_text() => {
            let to_number = expr.ty.is_integer() || expr.ty == SqlType::Float;
            let narrows = !widens(input.ty, expr.ty) && *mode == CastMode::Try;
            match input.ty == expr.ty || to_number && input.ty.is_integer() && !narrows {
                true => trees(input),
                false => 1,
            }
        }
        ExprKind::Case { branches, otherwise } => {
            let mut all = branches.iter().flat_map(|(condition, result)| [condition, result]);
            let any = all.any(|e| trees(e) > 0) || otherwise.iter().any(|e| trees(e) > 0);
            usize::from(any)
        }
        ExprKind::Func { func: FuncId::IsNull, args }
            if args.len() == 2 && args.iter().all(|arg| arg.ty == expr.ty) =>
        {
            usize::from(args.iter().any(|arg| trees(arg) > 0))
        }
        ExprKind::And(a, b) | ExprKind::Or(a, b) => sum(&[a, b]),
        ExprKind::Not(input) | ExprKind::IsNull { input, .. } => trees(input),
        ExprKind::Compare { left, right, .. } => {
            match left.ty == right.ty && Family::comparing(left.ty).is_some() {
                true => sum(&[left, right]),
                false => usize::from(!(is_at_hand(left) && is_at_hand(right))),
            }
        }
        ExprKind::In { input, list, .. }
            if Family::comparing(input.ty).is_some()
                && list.iter().all(|item| item.ty == input.ty) =>
        {
            trees(input) + list.iter().map(trees).sum::<usize>()
        }
        _ => 1,
    }
}

/// Conditions.
impl Compiler {
    /// Jumps, to be landed, taken unless the condition is true.
    pub(super) fn unless(&mut self, condition: &Condition) -> Vec<usize> {
        let mut skips = Vec::new();
        match (&condition.expr, &condition.source) {
            (Some(expr), None) => {
                let plan = plan_expr(expr);
                if plan.subplans.is_empty() && !observes(expr) {
                    self.branch(&plan.expr, false, false, &mut skips);
                } else {
                    let resets = observes(expr);
                    self.exprs.push(plan);
                    let expr = self.exprs.len() as u32 - 1;
                    skips.push(self.ops.len());
                    self.ops.push(Op::UnlessExpr { expr, to: u32::MAX, resets });
                }
            }
            _ => {
                self.conditions.push(condition.clone());
                let condition = self.conditions.len() as u32 - 1;
                skips.push(self.ops.len());
                self.ops.push(Op::UnlessCondition { condition, to: u32::MAX });
            }
        }
        skips
    }

    /// Jumps where `expr` (NOT `expr`) is true, if `on_true`, or where it is not.
    fn branch(&mut self, expr: &Expr, not: bool, on_true: bool, jumps: &mut Vec<usize>) {
        match &expr.kind {
            ExprKind::Not(inner) => self.branch(inner, !not, on_true, jumps),
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                let both = matches!(expr.kind, ExprKind::And(..)) != not;
                if both == on_true {
                    // The first decides alone where it says the other thing.
                    let mut out = Vec::new();
                    self.branch(a, not, !on_true, &mut out);
                    self.branch(b, not, on_true, jumps);
                    self.land(&out);
                } else {
                    self.branch(a, not, on_true, jumps);
                    self.branch(b, not, on_true, jumps);
                }
            }
            ExprKind::IsNull { input, negated } => {
                let s = self.planned(input, None);
                let is_null = *negated == not;
                self.push_jump(match is_null == on_true {
                    true => Op::IfNull { s, to: u32::MAX },
                    false => Op::UnlessNull { s, to: u32::MAX },
                });
                jumps.push(self.ops.len() - 1);
            }
            ExprKind::Compare { op, left, right } => {
                let when = When::of(if not { opposite(*op) } else { *op });
                let family = Family::comparing(left.ty).filter(|_| left.ty == right.ty);
                match family.filter(|_| trees(expr) <= 1) {
                    Some(family) => self.compare(family, when, left, right, on_true),
                    None if is_at_hand(left) && is_at_hand(right) => {
                        let (a, b, to) =
                            (self.planned(left, None), self.planned(right, None), u32::MAX);
                        self.push_jump(match on_true {
                            true => Op::IfValue { when, a, b, to },
                            false => Op::UnlessValue { when, a, b, to },
                        });
                    }
                    None => self.leaf(expr, not, on_true),
                }
                jumps.push(self.ops.len() - 1);
            }
            ExprKind::In { input, list, negated }
                if Family::comparing(input.ty).is_some()
                    && list.iter().all(|item| item.ty == input.ty)
                    && trees(expr) <= 1 =>
            {
                self.branch_in(input, list, *negated != not, on_true, jumps);
            }
            _ => {
                self.leaf(expr, not, on_true);
                jumps.push(self.ops.len() - 1);
            }
        }
    }

    /// `input [NOT] IN (list)`, item by item.
    fn branch_in(
        &mut self,
        input: &Expr,
        list: &[Expr],
        not: bool,
        on_true: bool,
        jumps: &mut Vec<usize>,
    ) {
        let Some(family) = Family::comparing(input.ty) else { return };
        let a = self.operand(input, family);
        let when = When::of(if not { CompareOp::Ne } else { CompareOp::Eq });
        // IN is true at the first item that is equal, NOT IN is not at the first that is not different.
        let decides_on_true = !not;
        let mut out = Vec::new();
        for item in list {
            let b = self.operand(item, family);
            self.compare_registers(family, when, a, b, decides_on_true);
            out.push(self.ops.len() - 1);
        }
        if decides_on_true == on_true {
            jumps.append(&mut out);
        } else {
            jumps.push(self.jump());
            self.land(&out);
        }
    }

    fn compare(&mut self, family: Family, when: When, left: &Expr, right: &Expr, on_true: bool) {
        let a = self.operand(left, family);
        if family == Family::Int
            && let Some(c) = int_constant(right)
        {
            let to = u32::MAX;
            return self.push_jump(match on_true {
                true => Op::IfIntIs { when, a, c, to },
                false => Op::UnlessIntIs { when, a, c, to },
            });
        }
        let b = self.operand(right, family);
        self.compare_registers(family, when, a, b, on_true);
    }

    fn compare_registers(&mut self, family: Family, when: When, a: Reg, b: Reg, on_true: bool) {
        let to = u32::MAX;
        self.push_jump(match (family, on_true) {
            (Family::Int, true) => Op::IfInt { when, a, b, to },
            (Family::Int, false) => Op::UnlessInt { when, a, b, to },
            (Family::Big, true) => Op::IfBig { when, a, b, to },
            (Family::Big, false) => Op::UnlessBig { when, a, b, to },
            (Family::Float, true) => Op::IfFloat { when, a, b, to },
            (Family::Float, false) => Op::UnlessFloat { when, a, b, to },
        });
    }

    /// A condition without instructions.
    fn leaf(&mut self, expr: &Expr, not: bool, on_true: bool) {
        let expr = if not { Expr::negate(expr.clone()) } else { expr.clone() };
        let expr = self.expr(expr);
        self.push_jump(match on_true {
            true => Op::IfExpr { expr, to: u32::MAX },
            false => Op::UnlessExpr { expr, to: u32::MAX, resets: false },
        });
    }

    fn push_jump(&mut self, op: Op) {
        self.ops.push(op);
    }
}

/// Values.
impl Compiler {
    fn expr(&mut self, expr: Expr) -> u32 {
        self.exprs.push(planner::ExprPlan { expr, subplans: Vec::new(), param_count: 0 });
        self.exprs.len() as u32 - 1
    }

    /// Code that computes an expression into `into`, or into a register of its choice.
    pub(super) fn value(&mut self, expr: &Expr, into: Option<Reg>) -> Reg {
        let plan = plan_expr(expr);
        if plan.subplans.is_empty() {
            return self.planned(&plan.expr, into);
        }
        let d = self.destination(into, expr.ty);
        self.exprs.push(plan);
        self.ops.push(Op::Eval { d, expr: self.exprs.len() as u32 - 1 });
        d
    }

    fn destination(&mut self, into: Option<Reg>, ty: SqlType) -> Reg {
        into.unwrap_or_else(|| self.register(Value::Null, Some(ty)))
    }

    /// A register that instructions of a family may read: a conversion to a wider type is theirs.
    fn operand(&mut self, expr: &Expr, family: Family) -> Reg {
        match &expr.kind {
            ExprKind::Cast { input, mode, .. }
                if family.reads(expr.ty)
                    && family.reads(input.ty)
                    && widens(input.ty, expr.ty)
                    && mode.is_of_text() =>
            {
                self.operand(input, family)
            }
            _ => self.planned(expr, None),
        }
    }

    /// The same for an expression already planned, without subqueries.
    fn planned(&mut self, expr: &Expr, into: Option<Reg>) -> Reg {
        if trees(expr) > 1 {
            return self.tree(expr, into);
        }
        self.coded(expr, into)
    }

    /// The same for one with at most one tree.
    fn coded(&mut self, expr: &Expr, into: Option<Reg>) -> Reg {
        match &expr.kind {
            ExprKind::Var(var) => self.moved(var.0 as Reg, into),
            ExprKind::Const(value) => {
                let s = self.register(value.clone(), Some(expr.ty));
                self.moved(s, into)
            }
            ExprKind::Arith { op, left, right } if left.ty == expr.ty && right.ty == expr.ty => {
                match Family::of(expr.ty) {
                    None => self.tree(expr, into),
                    Some(Family::Float) if !is_float_op(*op) => self.tree(expr, into),
                    Some(family) => self.arithmetic(*op, family, left, right, into),
                }
            }
            ExprKind::Neg(input) if input.ty == expr.ty => {
                let Some(family) = Family::of(expr.ty) else { return self.tree(expr, into) };
                let b = self.operand(input, family);
                let d = self.destination(into, expr.ty);
                let op = match family {
                    Family::Int => {
                        let a = self.register(Value::Int(0), Some(SqlType::Int));
                        Op::SubInt { d, a, b }
                    }
                    Family::Big => {
                        let a = self.register(Value::BigInt(0), Some(SqlType::BigInt));
                        Op::SubBig { d, a, b }
                    }
                    Family::Float => {
                        let a = self.register(Value::Float(-1.0), Some(SqlType::Float));
                        Op::MulFloat { d, a, b }
                    }
                };
                self.ops.push(op);
                d
            }
            ExprKind::BitNot(input) if input.ty == expr.ty && expr.ty == SqlType::Int => {
                let b = self.operand(input, Family::Int);
                let a = self.register(Value::Int(-1), Some(SqlType::Int));
                let d = self.destination(into, expr.ty);
                self.ops.push(Op::XorInt { d, a, b });
                d
            }
            ExprKind::BitNot(input) if input.ty == expr.ty && expr.ty == SqlType::BigInt => {
                let b = self.operand(input, Family::Big);
                let a = self.register(Value::BigInt(-1), Some(SqlType::BigInt));
                let d = self.destination(into, expr.ty);
                self.ops.push(Op::XorBig { d, a, b });
                d
            }
            ExprKind::Cast { input, mode, .. } if mode.is_of_text() => {
                self.cast(expr, input, *mode, into)
            }
            ExprKind::Case { branches, otherwise } if trees(expr) == 0 => {
                let d = self.destination(into, expr.ty);
                let mut ends = Vec::new();
                for (condition, result) in branches {
                    let mut skips = Vec::new();
                    self.branch(condition, false, false, &mut skips);
                    self.planned(result, Some(d));
                    ends.push(self.jump());
                    self.land(&skips);
                }
                match otherwise {
                    Some(result) => {
                        self.planned(result, Some(d));
                    }
                    None => self.ops.push(Op::Null { d }),
                }
                self.land(&ends);
                d
            }
            ExprKind::Func { func: FuncId::IsNull, args }
                if args.len() == 2
                    && args.iter().all(|arg| arg.ty == expr.ty)
                    && trees(expr) == 0 =>
            {
                let (first, second) = (&args[0], &args[1]);
                let d = self.destination(into, expr.ty);
                let s = self.planned(first, None);
                self.ops.push(Op::UnlessNull { s, to: u32::MAX });
                let there = self.ops.len() - 1;
                self.planned(second, Some(d));
                let end = self.jump();
                self.land(&[there]);
                self.ops.push(Op::Move { d, s });
                self.land(&[end]);
                d
            }
            _ => self.tree(expr, into),
        }
    }

    fn moved(&mut self, s: Reg, into: Option<Reg>) -> Reg {
        match into {
            Some(d) => {
                self.ops.push(Op::Move { d, s });
                d
            }
            None => s,
        }
    }

    /// An expression without instructions.
    fn tree(&mut self, expr: &Expr, into: Option<Reg>) -> Reg {
        let d = self.destination(into, expr.ty);
        let expr = self.expr(expr.clone());
        self.ops.push(Op::Eval { d, expr });
        d
    }

    fn arithmetic(
        &mut self,
        op: ArithOp,
        family: Family,
        left: &Expr,
        right: &Expr,
        into: Option<Reg>,
    ) -> Reg {
        let ty = left.ty;
        if family == Family::Int
            && let Some((a, c)) = by_constant(op, left, right)
        {
            let a = self.operand(a, family);
            let d = self.destination(into, ty);
            self.ops.push(match op {
                ArithOp::Add | ArithOp::Sub => Op::AddIntBy { d, a, c },
                ArithOp::Mul => Op::MulIntBy { d, a, c },
                ArithOp::Div => Op::DivIntBy { d, a, c },
                _ => Op::ModIntBy { d, a, c },
            });
            return d;
        }
        let a = self.operand(left, family);
        let b = self.operand(right, family);
        let d = self.destination(into, ty);
        self.ops.push(match (family, op) {
            (Family::Int, ArithOp::Add) => Op::AddInt { d, a, b },
            (Family::Int, ArithOp::Sub) => Op::SubInt { d, a, b },
            (Family::Int, ArithOp::Mul) => Op::MulInt { d, a, b },
            (Family::Int, ArithOp::Div) => Op::DivInt { d, a, b },
            (Family::Int, ArithOp::Mod) => Op::ModInt { d, a, b },
            (Family::Int, ArithOp::BitAnd) => Op::AndInt { d, a, b },
            (Family::Int, ArithOp::BitOr) => Op::OrInt { d, a, b },
            (Family::Int, ArithOp::BitXor) => Op::XorInt { d, a, b },
            (Family::Big, ArithOp::Add) => Op::AddBig { d, a, b },
            (Family::Big, ArithOp::Sub) => Op::SubBig { d, a, b },
            (Family::Big, ArithOp::Mul) => Op::MulBig { d, a, b },
            (Family::Big, ArithOp::Div) => Op::DivBig { d, a, b },
            (Family::Big, ArithOp::Mod) => Op::ModBig { d, a, b },
            (Family::Big, ArithOp::BitAnd) => Op::AndBig { d, a, b },
            (Family::Big, ArithOp::BitOr) => Op::OrBig { d, a, b },
            (Family::Big, ArithOp::BitXor) => Op::XorBig { d, a, b },
            (Family::Float, ArithOp::Add) => Op::AddFloat { d, a, b },
            (Family::Float, ArithOp::Sub) => Op::SubFloat { d, a, b },
            (Family::Float, ArithOp::Mul) => Op::MulFloat { d, a, b },
            (Family::Float, _) => Op::DivFloat { d, a, b },
        });
        d
    }

    /// A conversion among integers, bit and float; to a narrower integer it may be 220 or 8115.
    fn cast(&mut self, expr: &Expr, input: &Expr, mode: CastMode, into: Option<Reg>) -> Reg {
        let to = expr.ty;
        if input.ty == to {
            return self.planned(input, into);
        }
        if let ExprKind::Const(value) = &input.kind
            && input.ty.is_integer()
            && Family::comparing(to).is_some()
            && let Ok(value) = convert::cast(value, input.ty, to, 0)
        {
            let s = self.register(value, Some(to));
            return self.moved(s, into);
        }
        let narrows = !widens(input.ty, to) && mode == CastMode::Try;
        let family = if to == SqlType::Float { Family::Float } else { Family::Big };
        if narrows || !input.ty.is_integer() {
            return self.tree(expr, into);
        }
        match to {
            SqlType::Bit
            | SqlType::TinyInt
            | SqlType::SmallInt
            | SqlType::Int
            | SqlType::BigInt
            | SqlType::Float => {
                let s = self.operand(input, family);
                let d = self.destination(into, to);
                self.ops.push(match to {
                    SqlType::Bit => Op::ToBit { d, s },
                    SqlType::TinyInt => Op::ToTiny { d, s },
                    SqlType::SmallInt => Op::ToSmall { d, s },
                    SqlType::Int => Op::ToInt { d, s },
                    SqlType::BigInt => Op::ToBig { d, s },
                    _ => Op::ToFloat { d, s },
                });
                d
            }
            _ => self.tree(expr, into),
        }
    }
}

/// A register at once.
fn is_at_hand(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Var(_) | ExprKind::Const(_))
}

fn int_constant(expr: &Expr) -> Option<i32> {
    match &expr.kind {
        ExprKind::Const(Value::Int(c)) => Some(*c),
        _ => None,
    }
}

/// `a op constant` as an instruction has it.
fn by_constant<'e>(op: ArithOp, left: &'e Expr, right: &'e Expr) -> Option<(&'e Expr, i32)> {
    match (op, int_constant(left), int_constant(right)) {
        (ArithOp::Add | ArithOp::Mul, _, Some(c)) => Some((left, c)),
        (ArithOp::Add | ArithOp::Mul, Some(c), _) => Some((right, c)),
        (ArithOp::Sub, _, Some(c)) => Some((left, c.checked_neg()?)),
        (ArithOp::Div | ArithOp::Mod, _, Some(c)) if !matches!(c, 0 | -1) => Some((left, c)),
        _ => None,
    }
}

fn is_float_op(op: ArithOp) -> bool {
    matches!(op, ArithOp::Add | ArithOp::Sub | ArithOp::Mul | ArithOp::Div)
}

/// Whether every value of an integer type is one of another type.
fn widens(from: SqlType, to: SqlType) -> bool {
    let rank = |ty| match ty {
        SqlType::Bit => Some(0),
        SqlType::TinyInt => Some(1),
        SqlType::SmallInt => Some(2),
        SqlType::Int => Some(3),
        SqlType::BigInt => Some(4),
        SqlType::Float => Some(5),
        _ => None,
    };
    from.is_integer() && rank(from) < rank(to)
}

fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
    }
}
