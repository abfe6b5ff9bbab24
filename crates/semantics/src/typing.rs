//! Types of what is computed, as far as they follow from the types of its parts alone: calls and conversions as
//! expressions, texts of values, operands that are constants.
//!
//! Promise: nothing here knows a column's name or a collation that a column has; whoever binds says what converts.
//!
//! Source: SQL Server's documentation, "Data type precedence", "Precision, scale, and length".

use ir::*;
use types::collation::Rule;
use types::{Len, SqlType, Value};

use crate::error::{BindError, Result};

/// A call that is NULL only when an argument is, or when it may be anything without arguments that
/// depends on the session.
pub fn call(func: FuncId, args: Vec<Expr>, ty: SqlType) -> Expr {
    use FuncId as F;
    let always = matches!(
        func,
        F::GetDate
            | F::GetUtcDate
            | F::SysDateTime
            | F::SysUtcDateTime
            | F::SysDateTimeOffset
            | F::NewId
            | F::NewSequentialId
            | F::Rand
            | F::Pi
            | F::XactState
            | F::RowCountBig
            | F::CurrentTransactionId
    );
    let computed = func.is_deterministic() && !matches!(func, F::ParseName | F::Char | F::NChar);
    let nullable = if always {
        false
    } else if computed || matches!(func, F::DatePart(_)) {
        args.iter().any(|e| e.nullable)
    } else {
        true
    };
    Expr::new(ExprKind::Func { func, args }, ty, nullable)
}

pub fn nullable(mut e: Expr) -> Expr {
    e.nullable = true;
    e
}

pub fn not_null(mut e: Expr) -> Expr {
    e.nullable = false;
    e
}

/// 174, 189: how many arguments a function takes.
pub fn arity(name: &str, n: usize, min: usize, max: usize, line: u32) -> Result<()> {
    if (min..=max).contains(&n) {
        return Ok(());
    }
    let lower = name.to_lowercase();
    Err(if min == max {
        BindError::new(174, 15, line, format!("The {lower} function requires {min} argument(s)."))
    } else {
        BindError::new(
            189,
            15,
            line,
            format!("The {lower} function requires {min} to {max} arguments."),
        )
    })
}

pub fn cast(input: Expr, ty: SqlType, mode: CastMode, style: Option<i32>) -> Expr {
    let nullable = input.nullable || mode == CastMode::Try;
    Expr::new(ExprKind::Cast { input: Box::new(input), mode, style }, ty, nullable)
}

/// The expression under the rule, once.
pub fn collate(e: Expr, rule: Rule, name: &str) -> Expr {
    if matches!(&e.kind, ExprKind::Func { func: FuncId::Collate(r), args } if *r == rule && args.len() == 2)
    {
        return e;
    }
    let (ty, nullable) = (e.ty, e.nullable);
    let name_type = SqlType::NVarChar(types::Len::N(128));
    let name = Expr::constant(Value::str(name), name_type);
    Expr { nullable, ..call(FuncId::Collate(rule), vec![e, name], ty) }
}

/// The text a value of this type becomes beside other texts (CONCAT, LEN ...).
pub fn text_type(ty: SqlType) -> SqlType {
    let n = match ty {
        SqlType::Bit => 1,
        SqlType::TinyInt => 3,
        SqlType::SmallInt => 6,
        SqlType::Int => 12,
        SqlType::BigInt => 20,
        SqlType::Decimal { .. } => 41,
        SqlType::Money | SqlType::SmallMoney => 30,
        SqlType::Float | SqlType::Real => 32,
        SqlType::UniqueIdentifier => 36,
        SqlType::Binary(n) | SqlType::VarBinary(Len::N(n)) => n.max(1),
        SqlType::VarBinary(Len::Max) => return SqlType::VarChar(Len::Max),
        SqlType::Clr(clr) if clr.is_spatial() => return SqlType::NVarChar(Len::Max),
        SqlType::Clr(_) => return SqlType::NVarChar(Len::N(4000)),
        _ => 40,
    };
    SqlType::VarChar(Len::N(n))
}

/// Most characters (bytes for binaries) a value of this type has; None for max types.
pub fn length(ty: SqlType) -> Option<u16> {
    match ty {
        SqlType::Char(n) | SqlType::NChar(n) | SqlType::Binary(n) => Some(n),
        SqlType::VarChar(Len::N(n))
        | SqlType::NVarChar(Len::N(n))
        | SqlType::VarBinary(Len::N(n)) => Some(n),
        _ => None,
    }
}

/// varchar, nvarchar or varbinary of the family of `like`; None = max.
pub fn var_type(like: SqlType, n: Option<usize>) -> SqlType {
    let limit = if like.is_unicode() { 4000 } else { 8000 };
    let len = match n {
        Some(n) => Len::N(n.clamp(1, limit) as u16),
        None => Len::Max,
    };
    if like.is_unicode() {
        SqlType::NVarChar(len)
    } else if like.is_binary() {
        SqlType::VarBinary(len)
    } else {
        SqlType::VarChar(len)
    }
}

/// The type an operand has in decimal arithmetic: a whole-number constant has just its digits.
pub fn constant_type(expr: &Expr) -> SqlType {
    match &expr.kind {
        ExprKind::Const(Value::Int(v)) => SqlType::decimal(digits(v.unsigned_abs()), 0),
        ExprKind::Neg(inner) => constant_type_or(inner, expr.ty),
        _ => expr.ty,
    }
}

fn constant_type_or(inner: &Expr, otherwise: SqlType) -> SqlType {
    match &inner.kind {
        ExprKind::Const(Value::Int(_)) => constant_type(inner),
        _ => otherwise,
    }
}

fn digits(v: u32) -> u8 {
    v.checked_ilog10().map_or(1, |d| d as u8 + 1)
}

/// Beside a date the number of days, else the other's type.
pub fn null_operand_type(other: SqlType) -> SqlType {
    if other.is_temporal() { SqlType::Int } else { other }
}

/// The text, empty where it is NULL.
pub fn empty_for_null(e: Expr) -> Expr {
    if !e.nullable {
        return e;
    }
    let ty = e.ty;
    let empty = Expr::constant(Value::str(""), ty);
    Expr { nullable: false, ..call(FuncId::IsNull, vec![e, empty], ty) }
}

pub fn is_variable(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Var(_) => true,
        ExprKind::Cast { input, .. } => is_variable(input),
        _ => false,
    }
}

/// The type of a column of a result, if its values do not compare.
pub fn not_comparable(column: &OutputColumn) -> Option<&'static str> {
    match column.ty {
        ty if ty.is_xml() => Some("xml"),
        ty if ty.is_spatial() => spatial_name(ty),
        ty if column.is_long() => long_type(ty),
        _ => None,
    }
}

/// The old type whose values are those of a (max) type.
pub fn long_type(ty: SqlType) -> Option<&'static str> {
    Some(match ty {
        SqlType::VarChar(Len::Max) => "text",
        SqlType::NVarChar(Len::Max) => "ntext",
        SqlType::VarBinary(Len::Max) => "image",
        _ => return None,
    })
}

/// The name of a type of shapes.
pub fn spatial_name(ty: SqlType) -> Option<&'static str> {
    ty.is_spatial().then(|| ty.name())
}
