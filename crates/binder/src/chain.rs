//! Long runs of `+` and its like: `'a' + @b + 'c' + ...`, a thousand parts and more.
//!
//! They mean the same from left to right as a tree that leans left. Texts are joined in a balanced tree instead, so that
//! whoever walks it recurses little: joining is associative, but for where a result is cut to 8,000 bytes. What is cut
//! is always the end of a prefix of the run, and a prefix is cut only as long as no (max) type has come: so a part of
//! the tree behind the first (max) is (max) itself.

use syntax::ast;
use types::{ArithOp, Len, SqlType, arith};

use crate::context::Binder;
use crate::error::{BindError, Result};
use crate::expr::arith_op;
use crate::ir::*;

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
        let mut steps = Vec::new();
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
            let mut left = run.joined(line)?;
            if others % PART == 0 {
                let total = Expr::new(ExprKind::Total, left.ty, left.nullable);
                steps.push(std::mem::replace(&mut left, total));
            }
            let next = self.arith(op, left, operand)?;
            texts = text(&next);
            run.texts = vec![next];
        }
        let mut joined = run.joined(line)?;
        if !steps.is_empty() {
            let (ty, nullable) = (joined.ty, joined.nullable);
            steps.push(joined);
            joined = Expr::new(ExprKind::Steps(steps), ty, nullable);
        }
        if others > 0 && height(&joined) > HEIGHT_MAX {
            return Err(too_high(line));
        }
        Ok(joined)
    }
}

fn too_high(line: u32) -> BindError {
    let text = "Internal error: Server stack limit has been reached. Please look for potentially deep nesting in your \
                query, and try to simplify it.";
    BindError::new(8631, 17, line, text)
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
    fn joined(&mut self, line: u32) -> Result<Expr> {
        let texts = std::mem::take(&mut self.texts);
        let fail = |e| BindError::of_type(e, line);
        // The type of each prefix of the run.
        let mut prefixes: Vec<SqlType> = Vec::with_capacity(texts.len());
        for text in &texts {
            prefixes.push(match prefixes.last() {
                None => text.ty,
                Some(before) => arith::result_type(ArithOp::Add, *before, text.ty).map_err(fail)?,
            });
        }
        // Parts: where each begins and ends in the run.
        let mut parts: Vec<(usize, usize, Expr)> =
            texts.into_iter().enumerate().map(|(i, text)| (i, i + 1, text)).collect();
        while parts.len() > 1 {
            let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
            let mut list = parts.into_iter();
            while let Some((from, to, left)) = list.next() {
                let Some((_, end, right)) = list.next() else {
                    pairs.push((from, to, left));
                    continue;
                };
                let ty = if from == 0 {
                    prefixes[end - 1]
                } else {
                    let own = arith::result_type(ArithOp::Add, left.ty, right.ty).map_err(fail)?;
                    if is_max(prefixes[from]) { max_of(own) } else { own }
                };
                let nullable = left.nullable || right.nullable;
                let kind = ExprKind::Concat { left: Box::new(left), right: Box::new(right) };
                pairs.push((from, end, Expr::new(kind, ty, nullable)));
            }
            parts = pairs;
        }
        Ok(parts.pop().map(|(_, _, expr)| expr).expect("a run has a first operand"))
    }
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
