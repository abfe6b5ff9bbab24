//! Integer expressions over the frame, small enough to walk: what keys and values of a singleton insert are made of.
//!
//! Promise: evaluation allocates nothing; overflow is 8115, NULL is `None`.

use executor::SqlError;
use ir::{ArithOp, CastMode, Expr, ExprKind};
use types::{SqlType, TypeError, Value};

/// A result beyond its type. Small, so that the way without one stays in registers.
#[derive(Debug, Clone, Copy)]
struct Overflow {
    int: bool,
}

impl Overflow {
    #[cold]
    fn explain(self) -> SqlError {
        let to = if self.int { "int" } else { "bigint" };
        TypeError::Overflow { from: "expression", to }.into()
    }
}

/// An int or bigint expression of variables and constants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Whole {
    Var(u32),
    Const(i64),
    /// Checked as bigint, or as int where `int`.
    Arith {
        op: ArithOp,
        int: bool,
        sides: Box<(Whole, Whole)>,
    },
}

impl Whole {
    /// The expression as such, if it is one.
    pub fn of(expr: &Expr) -> Option<Whole> {
        if !expr.ty.is_integer() || expr.ty == SqlType::Bit {
            return None;
        }
        match &expr.kind {
            ExprKind::Var(var) => Some(Whole::Var(var.0)),
            ExprKind::Const(value) => value.as_i64().map(Whole::Const),
            // Widening loses nothing; narrowing must be checked by whoever knows the type's range.
            ExprKind::Cast { input, mode, .. }
                if !matches!(mode, CastMode::Try | CastMode::Nearest | CastMode::Latest)
                    && input.ty.is_integer()
                    && input.ty.precedence() <= expr.ty.precedence() =>
            {
                Whole::of(input)
            }
            ExprKind::Arith {
                op: op @ (ArithOp::Add | ArithOp::Sub | ArithOp::Mul),
                left,
                right,
            } if matches!(expr.ty, SqlType::Int | SqlType::BigInt) => {
                let sides = Box::new((Whole::of(left)?, Whole::of(right)?));
                Some(Whole::Arith { op: *op, int: expr.ty == SqlType::Int, sides })
            }
            _ => None,
        }
    }

    /// Its value; 8115 on overflow.
    #[inline]
    pub fn eval(&self, frame: &[Value]) -> Result<Option<i64>, SqlError> {
        self.value(frame).map_err(Overflow::explain)
    }

    fn value(&self, frame: &[Value]) -> Result<Option<i64>, Overflow> {
        match self {
            Whole::Var(i) => Ok(frame[*i as usize].as_i64()),
            Whole::Const(value) => Ok(Some(*value)),
            Whole::Arith { op, int, sides } => {
                let (Some(a), Some(b)) = (sides.0.value(frame)?, sides.1.value(frame)?) else {
                    return Ok(None);
                };
                let value = match op {
                    ArithOp::Add => a.checked_add(b),
                    ArithOp::Sub => a.checked_sub(b),
                    _ => a.checked_mul(b),
                };
                let value = value.ok_or(Overflow { int: *int })?;
                if *int && i32::try_from(value).is_err() {
                    return Err(Overflow { int: true });
                }
                Ok(Some(value))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::VarId;

    fn expr(kind: ExprKind, ty: SqlType) -> Expr {
        Expr::new(kind, ty, true)
    }

    #[test]
    fn a_key_of_base_plus_counter() {
        let base = expr(ExprKind::Var(VarId(0)), SqlType::BigInt);
        let i = expr(ExprKind::Var(VarId(1)), SqlType::Int);
        let wide = expr(
            ExprKind::Cast { input: Box::new(i), mode: CastMode::Implicit, style: None },
            SqlType::BigInt,
        );
        let sum = expr(
            ExprKind::Arith { op: ArithOp::Add, left: Box::new(base), right: Box::new(wide) },
            SqlType::BigInt,
        );
        let whole = Whole::of(&sum).expect("integers");
        let frame = [Value::BigInt(510_000_000_000), Value::Int(7)];
        assert_eq!(whole.eval(&frame).unwrap(), Some(510_000_000_007));
        assert_eq!(whole.eval(&[Value::Null, Value::Int(7)]).unwrap(), None);
        let over = [Value::BigInt(i64::MAX), Value::Int(1)];
        assert_eq!(whole.eval(&over).unwrap_err().number, 8115);
    }
}
