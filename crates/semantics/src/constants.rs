//! Literals as typed constants.
//!
//! Promise: a number that is written out has just the precision and scale of its digits, a text just its length.
//! Source: SQL Server's documentation, "Constants (Transact-SQL)".

use ir::Expr;
use syntax::ast;
use types::{Decimal, Len, SqlType, Value};

use crate::error::{BindError, Result};

/// A constant with the type that it has by itself. 1007: too many digits.
pub fn constant(literal: &ast::Literal, line: u32) -> Result<Expr> {
    Ok(match literal {
        ast::Literal::Null => Expr::constant(Value::Null, SqlType::Int),
        ast::Literal::Int(v) => Expr::int(*v),
        ast::Literal::Decimal(digits) => {
            let d = parse_decimal(digits).ok_or_else(|| {
                BindError::new(
                    1007,
                    15,
                    line,
                    format!(
                        "The number '{digits}' is out of the range for numeric representation \
                         (maximum precision 38)."
                    ),
                )
            })?;
            let ty = SqlType::numeric(d.precision(), d.scale());
            Expr::constant(Value::Decimal(d), ty)
        }
        ast::Literal::Float(v) => Expr::constant(Value::Float(*v), SqlType::Float),
        ast::Literal::Money(digits) => {
            let value = parse_money(digits)
                .ok_or_else(|| BindError::of_type(types::TypeError::BadMoney, line))?;
            Expr::constant(Value::Money(value), SqlType::Money)
        }
        ast::Literal::Binary(bytes) => {
            let len = match bytes.len() {
                n if n > 8000 => Len::Max,
                n => Len::N(n.max(1) as u16),
            };
            Expr::constant(Value::binary(bytes), SqlType::VarBinary(len))
        }
        ast::Literal::String { value, national } => {
            let chars =
                if *national { value.encode_utf16().count() } else { value.chars().count() };
            let limit = if *national { 4000 } else { 8000 };
            let len = if chars > limit { Len::Max } else { Len::N(chars.max(1) as u16) };
            let ty = if *national { SqlType::NVarChar(len) } else { SqlType::VarChar(len) };
            Expr::constant(Value::str(value), ty)
        }
    })
}

/// The int of a literal, perhaps with a sign.
pub fn constant_int(e: &ast::Expr) -> Option<i32> {
    match &e.kind {
        ast::ExprKind::Literal(ast::Literal::Int(n)) => Some(*n),
        ast::ExprKind::Unary { op: ast::UnaryOp::Minus, expr } => {
            constant_int(expr).and_then(i32::checked_neg)
        }
        _ => None,
    }
}

/// Digits with perhaps a point, as a decimal with just enough precision and scale.
pub fn parse_decimal(digits: &str) -> Option<Decimal> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = whole.trim_start_matches('0');
    let precision = (whole.len() + fraction.len()).max(1);
    if precision > 38 {
        return None;
    }
    let mut units: i128 = 0;
    for c in whole.chars().chain(fraction.chars()) {
        units = units * 10 + i128::from(c.to_digit(10)?);
    }
    Decimal::new(units, precision as u8, fraction.len() as u8).ok()
}

/// Digits as money (units of 1/10000), rounded half up.
fn parse_money(digits: &str) -> Option<i64> {
    let digits = digits.replace(',', "");
    if let Some(digits) = digits.strip_prefix('-') {
        return parse_money(digits).map(|units| -units);
    }
    let digits = digits.trim_start_matches('+');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut units: i64 = 0;
    for c in whole.chars() {
        units = units.checked_mul(10)?.checked_add(i64::from(c.to_digit(10)?))?;
    }
    let mut fraction = fraction.chars();
    for _ in 0..4 {
        let digit = fraction.next().map_or(Some(0), |c| c.to_digit(10))?;
        units = units.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    if fraction.next().is_some_and(|c| c >= '5') {
        units = units.checked_add(1)?;
    }
    Some(units)
}
