//! TABLESAMPLE's numbers: how much of a table is read, and the seed by which.
//!
//! Promise: both are constants, computed here, and in the range that the clause has. Errors: 476, 477, 479, 482, 497.
//!
//! Source: SQL Server's documentation of FROM, "Limiting Result Sets by Using TABLESAMPLE".

use ir::{Sample, SampleSize};
use syntax::ast;

use crate::error::{BindError, Result};

/// 476, 477, 479, and what [`number`] refuses.
pub fn sample(clause: &ast::TableSample, table: &str) -> Result<Sample> {
    let line = clause.span.line.max(1);
    let positive = |number| match number {
        Number::Real(_) => {
            let text = format!(
                "Invalid ROWS value or REPEATABLE seed in the TABLESAMPLE clause for table \"{table}\". The value or \
                 seed must be an integer."
            );
            Err(BindError::new(477, 16, line, text))
        }
        Number::Whole(n) if n <= 0 => {
            let text = format!(
                "Invalid ROWS value or REPEATABLE seed \"{n}\" in the TABLESAMPLE clause for table \"{table}\". The \
                 value or seed must be greater than 0."
            );
            Err(BindError::new(479, 16, line, text))
        }
        Number::Whole(n) => Ok(n),
    };
    let size = match (number(&clause.size, line)?, clause.rows) {
        (n, true) => SampleSize::Rows(positive(n)?),
        (n, false) => {
            let percent = n.real();
            if !(0.0..=100.0).contains(&percent) {
                let text = format!(
                    "Invalid PERCENT tablesample size \"{percent:.6}\" for table \"{table}\". The PERCENT \
                     tablesample size must be between 0 and 100."
                );
                return Err(BindError::new(476, 16, line, text));
            }
            SampleSize::Percent(percent)
        }
    };
    let seed = clause.seed.as_ref().map(|seed| positive(number(seed, line)?)).transpose()?;
    Ok(Sample { size, seed })
}

/// A number that an expression of constants stands for.
#[derive(Clone, Copy)]
enum Number {
    Whole(i64),
    Real(f64),
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Number::Whole(n) => n as f64,
            Number::Real(n) => n,
        }
    }
}

/// The value of an expression of constants: 497 for a variable, 482 for anything else.
fn number(expr: &ast::Expr, line: u32) -> Result<Number> {
    use ast::{BinaryOp, ExprKind as K, Literal, UnaryOp};
    let invalid = || {
        let text =
            "Non-constant or invalid expression is in the TABLESAMPLE or the REPEATABLE clause.";
        BindError::new(482, 16, line, text)
    };
    let real = |digits: &str| digits.parse().map(Number::Real).map_err(|_| invalid());
    match &expr.kind {
        K::Literal(Literal::Int(n)) => Ok(Number::Whole(i64::from(*n))),
        K::Literal(Literal::Decimal(digits)) => match digits.parse() {
            Ok(n) => Ok(Number::Whole(n)),
            Err(_) => real(digits),
        },
        K::Literal(Literal::Money(digits)) => real(digits),
        K::Literal(Literal::Float(n)) => Ok(Number::Real(*n)),
        K::Unary { op: UnaryOp::Plus, expr } => number(expr, line),
        K::Unary { op: UnaryOp::Minus, expr } => Ok(match number(expr, line)? {
            Number::Whole(n) => Number::Whole(n.checked_neg().ok_or_else(invalid)?),
            Number::Real(n) => Number::Real(-n),
        }),
        K::Binary { op, left, right } => {
            let (left, right) = (number(left, line)?, number(right, line)?);
            let whole: fn(i64, i64) -> Option<i64> = match op {
                BinaryOp::Add => i64::checked_add,
                BinaryOp::Sub => i64::checked_sub,
                BinaryOp::Mul => i64::checked_mul,
                BinaryOp::Div => i64::checked_div,
                _ => return Err(invalid()),
            };
            if let (Number::Whole(a), Number::Whole(b)) = (left, right) {
                return whole(a, b).map(Number::Whole).ok_or_else(invalid);
            }
            let (a, b) = (left.real(), right.real());
            Ok(Number::Real(match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                _ => a / b,
            }))
        }
        K::Variable(_) => {
            let text = "Variables are not allowed in the TABLESAMPLE or REPEATABLE clauses.";
            Err(BindError::new(497, 16, line, text))
        }
        _ => Err(invalid()),
    }
}
