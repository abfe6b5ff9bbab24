//! Expressions of whole numbers: keys, counters, flags, which are most of what loops, predicates and SETs compute.
//!
//! A [`Value`] is 32 bytes with its kind in front. Passing one up through each node of a tree costs more than the
//! addition that it is for: the parts in which it is written are not those in which it is read again, and the processor
//! waits for the one before it can do the other. So a tree of int and bigint is walked in numbers, and a value is made
//! at its top, if at all.
//!
//! Promise: the same number, NULL or error as [`eval`] gives, in the same order of evaluation.

use crate::cx::Cx;
use crate::eval::{eval, forgiven};
use crate::message::SqlError;
use ir::{ArithOp, CastMode, Expr, ExprKind};
use types::{SqlType, TypeError, Value, arith};

/// A type whose values are whole numbers and nothing else.
#[inline]
pub(crate) fn is_whole(ty: SqlType) -> bool {
    matches!(ty, SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt)
}

/// Whether an operator of this type over these operands is one for [`combined`].
#[inline]
pub(crate) fn is_arithmetic(ty: SqlType, left: &Expr, right: &Expr) -> bool {
    matches!(ty, SqlType::Int | SqlType::BigInt) && is_whole(left.ty) && is_whole(right.ty)
}

/// A cast that changes no number: each of the narrower type is one of the wider.
#[inline]
pub(crate) fn is_widening(ty: SqlType, input: &Expr, mode: CastMode) -> bool {
    !matches!(mode, CastMode::Try | CastMode::Nearest | CastMode::Latest)
        && is_whole(ty)
        && is_whole(input.ty)
        && input.ty.precedence() <= ty.precedence()
}

/// A number as the value of its type.
#[inline]
pub(crate) fn value(ty: SqlType, number: Option<i64>) -> Value {
    match (number, ty) {
        (None, _) => Value::Null,
        (Some(number), SqlType::Int) => Value::Int(number as i32),
        (Some(number), SqlType::SmallInt) => Value::SmallInt(number as i16),
        (Some(number), SqlType::TinyInt) => Value::TinyInt(number as u8),
        (Some(number), _) => Value::BigInt(number),
    }
}

/// The number that `expr`, whose type is whole, has for `row`; NULL is none.
pub(crate) fn number(expr: &Expr, row: &[Value], cx: &mut Cx<'_>) -> Result<Option<i64>, SqlError> {
    match &expr.kind {
        ExprKind::Const(value) => Ok(value.as_i64()),
        ExprKind::Slot(i) => Ok(row[*i as usize].as_i64()),
        ExprKind::Param(id) => Ok(cx.params[id.0 as usize].as_i64()),
        ExprKind::Var(id) => Ok(cx.vars[id.0 as usize].as_i64()),
        ExprKind::Arith { op, left, right } if is_arithmetic(expr.ty, left, right) => {
            combined(*op, expr.ty, left, right, row, cx)
        }
        ExprKind::Cast { input, mode, .. } if is_widening(expr.ty, input, *mode) => {
            number(input, row, cx)
        }
        _ => Ok(eval(expr, row, cx)?.as_i64()),
    }
}

/// Both operands and what the operator makes of them.
pub(crate) fn combined(
    op: ArithOp,
    ty: SqlType,
    left: &Expr,
    right: &Expr,
    row: &[Value],
    cx: &mut Cx<'_>,
) -> Result<Option<i64>, SqlError> {
    let a = number(left, row, cx)?;
    let b = number(right, row, cx)?;
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    match apply(op, ty, a, b) {
        Ok(number) => Ok(Some(number)),
        Err(error) => forgiven(error.into(), cx).map(|value| value.as_i64()),
    }
}

#[inline]
fn apply(op: ArithOp, ty: SqlType, a: i64, b: i64) -> Result<i64, TypeError> {
    let op = crate::eval::types_op(op);
    match ty {
        SqlType::Int => arith::op_i32(op, a as i32, b as i32).map(i64::from),
        _ => arith::op_i64(op, a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::tests::NoSession;
    use crate::dice::Dice;
    use types::convert;

    /// The same by values, node by node.
    fn oracle(expr: &Expr, row: &[Value]) -> Result<Value, TypeError> {
        match &expr.kind {
            ExprKind::Slot(i) => Ok(row[*i as usize].clone()),
            ExprKind::Const(value) => Ok(value.clone()),
            ExprKind::Cast { input, .. } => {
                convert::cast(&oracle(input, row)?, input.ty, expr.ty, 0)
            }
            ExprKind::Arith { op, left, right } => {
                let (a, b) = (oracle(left, row)?, oracle(right, row)?);
                arith::binary(crate::eval::types_op(*op), &a, left.ty, &b, right.ty)
            }
            other => panic!("not made here: {other:?}"),
        }
    }

    impl Dice {
        /// A tree over four slots of the four types.
        fn tree(&mut self, depth: usize) -> Expr {
            const TYPES: [SqlType; 4] =
                [SqlType::TinyInt, SqlType::SmallInt, SqlType::Int, SqlType::BigInt];
            if depth == 0 || self.index(5) == 0 {
                let at = self.index(4);
                if self.index(2) == 0 {
                    let number = [0, 1, 2, 255][self.index(4)];
                    let kind = ExprKind::Const(value(TYPES[at], Some(number)));
                    return Expr::new(kind, TYPES[at], false);
                }
                return Expr::new(ExprKind::Slot(at as u32), TYPES[at], true);
            }
            if self.index(4) == 0 {
                let input = Box::new(self.tree(depth - 1));
                let kind = ExprKind::Cast { input, mode: CastMode::Implicit, style: None };
                return Expr::new(kind, TYPES[self.index(4)], true);
            }
            const OPS: [ArithOp; 8] = [
                ArithOp::Add,
                ArithOp::Sub,
                ArithOp::Mul,
                ArithOp::Div,
                ArithOp::Mod,
                ArithOp::BitAnd,
                ArithOp::BitOr,
                ArithOp::BitXor,
            ];
            let op = OPS[self.index(8)];
            let (left, right) = (self.tree(depth - 1), self.tree(depth - 1));
            let ty = arith::result_type(crate::eval::types_op(op), left.ty, right.ty).unwrap();
            let (left, right) = (Box::new(left), Box::new(right));
            Expr::new(ExprKind::Arith { op, left, right }, ty, true)
        }
    }

    #[test]
    fn numbers_and_values_agree() {
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let mut session = NoSession::default();
        let mut cx = Cx::new(&mut [], &mut session, None, &cancel);
        let mut dice = Dice(1);
        let mut errors = 0;
        for _ in 0..50_000 {
            let expr = dice.tree(4);
            let tiny = [None, Some(0), Some(200), Some(255)][dice.index(4)];
            let small = [None, Some(-1), Some(300), Some(i64::from(i16::MIN))][dice.index(4)];
            let int = [None, Some(7), Some(-3), Some(i64::from(i32::MAX))][dice.index(4)];
            let big = [None, Some(1 << 40), Some(-5), Some(i64::MIN)][dice.index(4)];
            let row = [
                value(SqlType::TinyInt, tiny),
                value(SqlType::SmallInt, small),
                value(SqlType::Int, int),
                value(SqlType::BigInt, big),
            ];
            let expected = oracle(&expr, &row).map_err(|e| SqlError::from(e).number);
            errors += usize::from(expected.is_err());
            let found = eval(&expr, &row, &mut cx).map_err(|e| e.number);
            assert_eq!(found, expected, "{expr:?} over {row:?}");
            let found = number(&expr, &row, &mut cx).map_err(|e| e.number);
            assert_eq!(found, expected.map(|v| v.as_i64()), "{expr:?} over {row:?}");
        }
        assert!(errors > 1000, "overflows and divisions by zero are among them: {errors}");
    }
}
