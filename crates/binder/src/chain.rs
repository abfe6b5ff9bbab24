//! Long runs of `+` and its like: `'a' + @b + 'c' + ...`, a thousand parts and more.
//!
//! They mean the same from left to right as a tree that leans left. Texts are joined in a balanced tree instead, so that
//! whoever walks it recurses little: joining is associative, but for where a result is cut to 8,000 bytes. That is
//! always the end of a prefix of the run, and a prefix is cut only as long as no (max) type has come. So what stands
//! before the first (max) is a tree of its own, cut as its prefixes are; from there on all parts are (max).

use ir::*;
use runtime::task::Many;
use syntax::ast;
use types::{ArithOp, Len, SqlType, TypeError, arith};

use crate::context::Binder;
use crate::expr::arith_op;
use semantics::typing::empty_for_null;
use semantics::{BindError, Result};

/// So many operands that are not texts make one part of a run ([`ExprKind::Steps`]); each makes the part one higher.
const PART: usize = 16;

/// Up to this height walks may recurse: parts, and what their operands are made of.
const HEIGHT_MAX: usize = 160;

impl Binder<'_> {
    /// `first op operand op operand ...`
    pub(crate) fn chain(
        &mut self,
        first: &ast::Expr,
        rest: &[(ast::BinaryOp, ast::Expr)],
        line: u32,
    ) -> Result<Expr> {
        let text = |e: &Expr| e.ty.is_character() && !e.is_null_constant();
        let first = self.expr(first)?;
        let mut texts = text(&first);
        let mut run = Run { texts: vec![first] };
        let mut steps = Many::new();
        let mut others = 0;
        for (op, operand) in rest {
            let operand = self.expr(operand)?;
            let Some(op) = arith_op(*op) else {
                return Err(BindError::new(102, 15, line, "Incorrect syntax near '+'."));
            };
            if op == ArithOp::Add && texts && text(&operand) {
                run.texts.push(operand);
                continue;
            }
            others += 1;
            let mut left = run.joined(self.settings.concat_null, line)?;
            if others % PART == 0 {
                let total = Expr::new(ExprKind::Total, left.ty, left.nullable);
                steps.push(std::mem::replace(&mut left, total));
            }
            let next = self.arith(op, left, operand)?;
            texts = text(&next);
            run.texts = vec![next];
        }
        let mut joined = run.joined(self.settings.concat_null, line)?;
        if !steps.is_empty() {
            let (ty, nullable) = (joined.ty, joined.nullable);
            steps.push(joined);
            joined = Expr::new(ExprKind::Steps(steps), ty, nullable);
        }
        if others > 0 && height(&joined) > HEIGHT_MAX {
            return Err(BindError::stack_limit(line));
        }
        Ok(joined)
    }
}

fn height(expr: &Expr) -> usize {
    let mut highest = 0;
    expr.for_each_child(&mut |child| highest = highest.max(height(child)));
    highest + 1
}

/// Texts that stand one behind the other; or one value of any type.
struct Run {
    texts: Vec<Expr>,
}

impl Run {
    fn joined(&mut self, concat_null: bool, line: u32) -> Result<Expr> {
        let mut texts = std::mem::take(&mut self.texts);
        if texts.len() > 1 && !concat_null {
            texts = texts.into_iter().map(empty_for_null).collect();
        }
        let fail = |e| BindError::of_type(e, line);
        let first_max = texts.iter().position(|text| is_max(text.ty)).unwrap_or(texts.len());
        let mut texts = texts.into_iter();
        let bounded = balanced(texts.by_ref().take(first_max).collect(), false).map_err(fail)?;
        let unbounded = balanced(texts.collect(), true).map_err(fail)?;
        let joined = match (bounded, unbounded) {
            (Some(left), Some(right)) => pair(left, right, true).map_err(fail)?,
            (left, right) => left.or(right).expect("a run has a first operand"),
        };
        Ok(joined)
    }
}

/// The texts joined, each part in turn with its neighbour; `unbounded`: what is joined is (max).
fn balanced(mut parts: Vec<Expr>, unbounded: bool) -> std::result::Result<Option<Expr>, TypeError> {
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut list = parts.into_iter();
        while let Some(left) = list.next() {
            pairs.push(match list.next() {
                None => left,
                Some(right) => pair(left, right, unbounded)?,
            });
        }
        parts = pairs;
    }
    Ok(parts.pop())
}

fn pair(left: Expr, right: Expr, unbounded: bool) -> std::result::Result<Expr, TypeError> {
    let ty = arith::result_type(ArithOp::Add, left.ty, right.ty)?;
    let ty = if unbounded { max_of(ty) } else { ty };
    let nullable = left.nullable || right.nullable;
    let kind = ExprKind::Concat { left: Box::new(left), right: Box::new(right) };
    Ok(Expr::new(kind, ty, nullable))
}

fn is_max(ty: SqlType) -> bool {
    matches!(ty, SqlType::VarChar(Len::Max) | SqlType::NVarChar(Len::Max))
}

fn max_of(ty: SqlType) -> SqlType {
    match ty {
        SqlType::NChar(_) | SqlType::NVarChar(_) => SqlType::NVarChar(Len::Max),
        _ => SqlType::VarChar(Len::Max),
    }
}
