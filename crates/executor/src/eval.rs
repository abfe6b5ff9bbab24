//! Expressions, evaluated over a row.
//!
//! Promise: three-valued logic as in SQL; a predicate holds only when it is true. Every value has its node's
//! type, since the binder made all conversions explicit.

use crate::calls;
use crate::cx::{Cx, Environment};
use crate::integer;
use crate::message::SqlError;
use crate::subquery;
use crate::warnings::Warnings;
use ir::{ArithOp, CastMode, CompareOp, Expr, ExprKind};
use std::cmp::Ordering;
use std::ops::Deref;
use types::{Decimal, SqlType, TypeError, Value, arith, compare, convert};

/// A value borrowed from the row or the plan, or made on the way.
pub(crate) enum Operand<'v> {
    Ref(&'v Value),
    Own(Value),
}

impl Deref for Operand<'_> {
    type Target = Value;
    #[inline]
    fn deref(&self) -> &Value {
        match self {
            Operand::Ref(value) => value,
            Operand::Own(value) => value,
        }
    }
}

/// The value of `expr` for `row`.
pub fn eval(expr: &Expr, row: &[Value], cx: &mut Cx<'_>) -> Result<Value, SqlError> {
    match &expr.kind {
        ExprKind::Const(value) => Ok(value.clone()),
        ExprKind::Slot(i) => Ok(row[*i as usize].clone()),
        ExprKind::Param(id) => Ok(cx.params[id.0 as usize].clone()),
        ExprKind::Var(id) => Ok(cx.vars[id.0 as usize].clone()),
        ExprKind::Sys(var) => Ok(cx.env.system_variable(*var)),
        ExprKind::Neg(input) => Ok(arith::neg(&*operand(input, row, cx)?)?),
        ExprKind::BitNot(input) => Ok(arith::bit_not(&*operand(input, row, cx)?)?),
        ExprKind::Arith { op, left, right } if integer::is_arithmetic(expr.ty, left, right) => {
            Ok(integer::value(expr.ty, integer::combined(*op, expr.ty, left, right, row, cx)?))
        }
        ExprKind::Cast { input, mode, .. } if integer::is_widening(expr.ty, input, *mode) => {
            Ok(integer::value(expr.ty, integer::number(input, row, cx)?))
        }
        ExprKind::Arith { op, left, right } => {
            let a = operand(left, row, cx)?;
            let b = operand(right, row, cx)?;
            if a.is_null() || b.is_null() {
                return Ok(Value::Null);
            }
            arithmetic(*op, &a, left, &b, right, expr.ty).or_else(|e| forgiven(e, cx))
        }
        ExprKind::Concat { left, right } => {
            let a = operand(left, row, cx)?;
            let b = operand(right, row, cx)?;
            if a.is_null() || b.is_null() {
                return Ok(Value::Null);
            }
            functions::value_of(length(&a) + length(&b))?;
            match arith::concat(&a, &b, expr.ty) {
                Some(joined) => Ok(joined),
                None => Ok(arith::binary(types::ArithOp::Add, &a, left.ty, &b, right.ty)?),
            }
        }
        ExprKind::Steps(steps) => {
            let mut total = Value::Null;
            for step in steps {
                cx.keep().total = total;
                total = eval(step, row, cx)?;
                cx.breathe()?;
            }
            Ok(total)
        }
        ExprKind::Total => Ok(std::mem::take(&mut cx.keep().total)),
        ExprKind::Cast { input, mode, style } => {
            let value = operand(input, row, cx)?;
            let style = match (style, &*value) {
                (None, Value::Str(_)) if expr.ty.is_temporal() => cx.env.date_style(),
                (style, _) => {
                    let style = style.unwrap_or(0);
                    let words = expr.ty.is_temporal() && value.as_str().is_some()
                        || expr.ty.is_character() && input.ty.is_temporal();
                    match words {
                        true => convert::in_session(style, cx.env.date_style()),
                        false => style,
                    }
                }
            };
            cast(&value, input, expr, *mode, style, cx)
        }
        ExprKind::Case { branches, otherwise } => {
            for (condition, result) in branches {
                if test(condition, row, cx)? == Some(true) {
                    return eval(result, row, cx);
                }
            }
            match otherwise {
                Some(result) => eval(result, row, cx),
                None => Ok(Value::Null),
            }
        }
        ExprKind::Func { func, args } => calls::call(*func, args, expr.ty, row, cx),
        ExprKind::Xml { method, args } => calls::xml::call(method, args, expr.ty, row, cx),
        ExprKind::SubPlan { kind, plan } => subquery::eval(kind, *plan, row, cx),
        ExprKind::NextIdentity => {
            let Some(table) = cx.table else { return Ok(Value::Null) };
            if cx.is_instead() {
                // No number is taken for a row that a trigger inserts, or not.
                return Ok(convert::cast(&Value::Int(0), types::SqlType::Int, expr.ty, 0)?);
            }
            let next = cx.env.next_identity(table)?;
            identity_value(next, expr.ty)
        }
        ExprKind::Compare { .. }
        | ExprKind::And(..)
        | ExprKind::Or(..)
        | ExprKind::Not(_)
        | ExprKind::IsNull { .. }
        | ExprKind::Like { .. }
        | ExprKind::In { .. } => Ok(test(expr, row, cx)?.map_or(Value::Null, Value::Bit)),
        ExprKind::Col(_) | ExprKind::Subquery { .. } => {
            stdx::fatal!("an expression reached execution without being planned: {expr:?}")
        }
    }
}

/// A number of an identity column in the column's type: 8115 past its end.
pub fn identity_value(next: i64, ty: types::SqlType) -> Result<Value, SqlError> {
    let past = |_| types::TypeError::Overflow { from: "IDENTITY", to: ty.message_name() };
    Ok(convert::cast(&Value::BigInt(next), types::SqlType::BigInt, ty, 0).map_err(past)?)
}

#[inline]
fn length(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.len(),
        Value::Binary(bytes) => bytes.len(),
        _ => 0,
    }
}

/// The same without a copy where the value lies in the row or the plan.
#[inline]
pub(crate) fn operand<'v>(
    expr: &'v Expr,
    row: &'v [Value],
    cx: &mut Cx<'_>,
) -> Result<Operand<'v>, SqlError> {
    match &expr.kind {
        ExprKind::Slot(i) => Ok(Operand::Ref(&row[*i as usize])),
        ExprKind::Const(value) => Ok(Operand::Ref(value)),
        _ => Ok(Operand::Own(eval(expr, row, cx)?)),
    }
}

/// Whether a predicate holds; UNKNOWN does not.
#[inline]
pub fn holds(expr: &Expr, row: &[Value], cx: &mut Cx<'_>) -> Result<bool, SqlError> {
    Ok(test(expr, row, cx)? == Some(true))
}

/// The truth of a predicate; None is UNKNOWN.
pub fn test(expr: &Expr, row: &[Value], cx: &mut Cx<'_>) -> Result<Option<bool>, SqlError> {
    match &expr.kind {
        ExprKind::Compare { op, left, right }
            if integer::is_whole(left.ty) && integer::is_whole(right.ty) =>
        {
            let a = integer::number(left, row, cx)?;
            let b = integer::number(right, row, cx)?;
            Ok(a.zip(b).map(|(a, b)| satisfies(*op, a.cmp(&b))))
        }
        ExprKind::Compare { op, left, right } => {
            let a = operand(left, row, cx)?;
            let b = operand(right, row, cx)?;
            Ok(order(&a, &b).map(|o| satisfies(*op, o)))
        }
        ExprKind::And(a, b) => match test(a, row, cx)? {
            Some(false) => Ok(Some(false)),
            Some(true) => test(b, row, cx),
            None => Ok(if test(b, row, cx)? == Some(false) { Some(false) } else { None }),
        },
        ExprKind::Or(a, b) => match test(a, row, cx)? {
            Some(true) => Ok(Some(true)),
            Some(false) => test(b, row, cx),
            None => Ok(if test(b, row, cx)? == Some(true) { Some(true) } else { None }),
        },
        ExprKind::Not(input) => Ok(test(input, row, cx)?.map(|b| !b)),
        ExprKind::IsNull { input, negated } => {
            Ok(Some(operand(input, row, cx)?.is_null() != *negated))
        }
        ExprKind::In { input, list, negated } => {
            let value = operand(input, row, cx)?;
            if value.is_null() {
                return Ok(None);
            }
            let mut unknown = false;
            for item in list {
                match order(&value, &*operand(item, row, cx)?) {
                    Some(Ordering::Equal) => return Ok(Some(!*negated)),
                    Some(_) => {}
                    None => unknown = true,
                }
            }
            Ok(if unknown { None } else { Some(*negated) })
        }
        ExprKind::Like { input, pattern, escape, negated } => {
            let text = operand(input, row, cx)?;
            // In Unicode blanks at the end of the text count.
            let exact = input.ty.is_unicode() || pattern.ty.is_unicode();
            let matched = like(&text, pattern, escape.as_deref(), exact, row, cx)?;
            // What a match says that was stopped is nothing.
            cx.goes_on()?;
            Ok(matched.map(|m| m != *negated))
        }
        ExprKind::SubPlan { kind, plan } => Ok(truth(&subquery::eval(kind, *plan, row, cx)?)),
        _ => Ok(truth(&eval(expr, row, cx)?)),
    }
}

/// A bit as truth.
pub(crate) fn truth(value: &Value) -> Option<bool> {
    value.as_i64().map(|v| v != 0)
}

/// Comparison with a short way for the commonest types.
#[inline]
pub(crate) fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::BigInt(a), Value::BigInt(b)) => Some(a.cmp(b)),
        _ => compare::compare(a, b),
    }
}

/// Whether an ordering satisfies a comparison operator.
#[inline]
pub fn satisfies(op: CompareOp, order: Ordering) -> bool {
    match op {
        CompareOp::Eq => order == Ordering::Equal,
        CompareOp::Ne => order != Ordering::Equal,
        CompareOp::Lt => order == Ordering::Less,
        CompareOp::Le => order != Ordering::Greater,
        CompareOp::Gt => order == Ordering::Greater,
        CompareOp::Ge => order != Ordering::Less,
    }
}

/// The operator as `types` knows it.
pub(crate) fn types_op(op: ArithOp) -> types::ArithOp {
    match op {
        ArithOp::Add => types::ArithOp::Add,
        ArithOp::Sub => types::ArithOp::Sub,
        ArithOp::Mul => types::ArithOp::Mul,
        ArithOp::Div => types::ArithOp::Div,
        ArithOp::Mod => types::ArithOp::Mod,
        ArithOp::BitAnd => types::ArithOp::BitAnd,
        ArithOp::BitOr => types::ArithOp::BitOr,
        ArithOp::BitXor => types::ArithOp::BitXor,
    }
}

fn arithmetic(
    op: ArithOp,
    a: &Value,
    left: &Expr,
    b: &Value,
    right: &Expr,
    ty: SqlType,
) -> Result<Value, SqlError> {
    // The plan knows what the result is.
    if let (Value::Decimal(x), Value::Decimal(y), SqlType::Decimal { precision, scale, .. }) =
        (a, b, ty)
    {
        let (x, y) = ((x.units(), x.scale()), (y.units(), y.scale()));
        return Ok(Value::Decimal(Decimal::op_units(types_op(op), x, y, (precision, scale))?));
    }
    Ok(arith::binary(types_op(op), a, left.ty, b, right.ty)?)
}

fn cast(
    value: &Value,
    input: &Expr,
    node: &Expr,
    mode: CastMode,
    style: i32,
    cx: &mut Cx<'_>,
) -> Result<Value, SqlError> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    match (mode, value, node.ty) {
        // The commonest widening, without a call.
        (_, Value::Int(v), types::SqlType::BigInt) => Ok(Value::BigInt(*v as i64)),
        (CastMode::Store { column }, ..) => {
            let stored = convert::assign_style(value, input.ty, node.ty, style);
            match stored {
                Err(TypeError::Truncated { .. }) if cx.env.cuts_text() => {
                    Ok(convert::cast(value, input.ty, node.ty, style)?)
                }
                Err(e) if is_overflow(&e) && cx.env.arithmetic_yields_null() => {
                    forgiven(e.into(), cx)
                }
                stored => stored.map_err(|e| store_error(e, column, cx)),
            }
        }
        (CastMode::Try, ..) => {
            Ok(convert::cast(value, input.ty, node.ty, style).unwrap_or(Value::Null))
        }
        (CastMode::Nearest, ..) => Ok(convert::nearest(value, input.ty, node.ty)?),
        (CastMode::Latest, ..) => Ok(convert::latest(value, node.ty)?),
        (CastMode::Explicit | CastMode::Implicit, ..) => {
            convert::cast(value, input.ty, node.ty, style).or_else(|e| forgiven(e.into(), cx))
        }
    }
}

#[cold]
pub(crate) fn forgiven(error: SqlError, cx: &mut Cx<'_>) -> Result<Value, SqlError> {
    forgiven_by(error, cx.env)
}

/// NULL and a warning instead of an overflow or a division by zero, where the session's settings have it so.
#[cold]
pub fn forgiven_by(error: SqlError, env: &mut dyn Environment) -> Result<Value, SqlError> {
    let warning = match error.number {
        220 | 232 | 8115 => Warnings::OVERFLOW,
        8134 => Warnings::DIVISION_BY_ZERO,
        _ => return Err(error),
    };
    if !env.arithmetic_yields_null() {
        return Err(error);
    }
    env.warn(warning);
    Ok(Value::Null)
}

#[cold]
fn is_overflow(error: &TypeError) -> bool {
    matches!(error.number(), 220 | 232 | 8115)
}

/// 2628 names the table and column; other errors stay as they are.
fn store_error(error: TypeError, column: u16, cx: &Cx<'_>) -> SqlError {
    error_of_store(error, cx.table, column as usize, cx)
}

/// The same of a table that is not the statement's own.
pub fn error_of_store(
    error: TypeError,
    table: Option<&catalog::TableDef>,
    column: usize,
    cx: &Cx<'_>,
) -> SqlError {
    match (&error, table) {
        (TypeError::Truncated { value }, Some(table)) => {
            let name = table.columns.get(column).map_or("?", |c| &*c.name);
            truncated(value, &qualified(table, cx), name)
        }
        _ => error.into(),
    }
}

/// 2628, of a table with all parts of its name.
fn truncated(value: &str, table: &str, column: &str) -> SqlError {
    let text = format!(
        "String or binary data would be truncated in table '{table}', column '{column}'. \
         Truncated value: '{value}'."
    );
    SqlError::new(2628, 16, text)
}

/// A value that came from elsewhere, as it is stored in a column of `table`: as by [`CastMode::Store`].
pub fn assign(
    value: &Value,
    from: types::SqlType,
    (name, to): (&str, types::SqlType),
    table: &catalog::TableDef,
    style: i32,
    env: &mut dyn Environment,
) -> Result<Value, SqlError> {
    match convert::assign_style(value, from, to, style) {
        Err(TypeError::Truncated { .. }) if env.cuts_text() => {
            Ok(convert::cast(value, from, to, style)?)
        }
        Err(TypeError::Truncated { value }) => {
            Err(truncated(&value, &qualified_by(table, || env.database_name()), name))
        }
        Err(e) => forgiven_by(e.into(), env),
        Ok(stored) => Ok(stored),
    }
}

/// `db.schema.table`.
pub fn qualified(table: &catalog::TableDef, cx: &Cx<'_>) -> String {
    qualified_by(table, || cx.env.database_name())
}

fn qualified_by(table: &catalog::TableDef, database: impl Fn() -> String) -> String {
    match table.place {
        catalog::Place::Database => {
            format!("{}.{}.{}", database(), table.schema, table.name)
        }
        catalog::Place::Temporary(_) => format!("tempdb.{}.{}", table.schema, table.name),
        catalog::Place::Variable(_) => table.name.to_string(),
    }
}

fn like(
    text: &Value,
    pattern: &Expr,
    escape: Option<&Expr>,
    exact: bool,
    row: &[Value],
    cx: &mut Cx<'_>,
) -> Result<Option<bool>, SqlError> {
    let text_rule = text.rule();
    let Some(text) = text.as_str() else { return Ok(None) };
    let constant = matches!(pattern.kind, ExprKind::Const(_))
        && escape.is_none_or(|e| matches!(e.kind, ExprKind::Const(_)));
    let address = std::ptr::from_ref(pattern) as usize;
    let kept = cx.kept().map_or(&[][..], |kept| &kept.patterns);
    if constant && let Some((_, compiled)) = kept.iter().find(|(a, _)| *a == address) {
        return Ok(Some(compiled.matches(text)));
    }
    let pattern = operand(pattern, row, cx)?;
    let escape = match escape {
        Some(e) => match eval(e, row, cx)? {
            Value::Null => return Ok(None),
            value => Some(value),
        },
        None => None,
    };
    // A constant pattern has the rule of the text it is compared with: the binder brings both to one.
    let rule = text_rule.meet(pattern.rule());
    let Some(pattern) = pattern.as_str() else { return Ok(None) };
    let escape = escape.as_ref().and_then(Value::as_str);
    let compiled = types::Pattern::under(rule, pattern, escape)?.exactly(exact);
    let matched = compiled.matches(text);
    if constant {
        cx.keep().patterns.push((address, compiled));
    }
    Ok(Some(matched))
}
