//! Scalar functions, and documents: values made of values.
//!
//! Promise: arguments come with the types that `ir::FuncId` lists; NULL in gives NULL out unless a function says otherwise. A
//! walk over a long text breathes, and the memory of what is made is asked for first. Every failure has SQL Server's number.
//!
//! Knows nothing of rows of tables, of the catalog and of sessions: what a function may ask beside its arguments is
//! [`Statement`].

#![forbid(unsafe_code)]

mod bits;
mod calendar;
mod clr;
mod column_set;
mod digest;
mod json;
mod number;
mod parse;
mod text;
mod text_pointer;
mod time;
mod zones;

pub mod openjson;
pub mod openxml;
pub mod serialize;

mod error;
mod size;

use ir::{Evaluator, Expr, FuncId};
use types::{SqlType, Value, convert};

pub use error::{FunctionError, no_memory};
pub use number::real;
pub use size::value_of;
pub use zones::{Zone, time_zones};

/// What a function may ask of the statement that calls it.
pub trait Statement {
    /// The statement's UTC time in ns since 1970.
    fn now_unix_ns(&mut self) -> u64;
    /// RAND() without a seed.
    fn rand(&mut self) -> f64;
    /// The style of conversions from text to a date that name none.
    fn date_style(&self) -> i32;
    /// SET DATEFIRST.
    fn date_first(&self) -> u8;
    /// SET LANGUAGE, by its place among [`types::languages::LANGUAGES`].
    fn language(&self) -> u8;
}

/// Calls `func` with these values, which the arguments have come to; `ty` is the type of the result. None: it depends on more
/// than values, and is somebody else's.
pub fn call(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
    statement: &mut dyn Statement,
) -> Result<Option<Value>, FunctionError> {
    let made = match func.class().evaluator {
        Evaluator::Time => time::call(func, v, args, statement),
        Evaluator::Calendar => calendar::call(func, v, args, ty, statement),
        Evaluator::Clr => match func {
            FuncId::Clr(method) => clr::call(method, v),
            other => stdx::fatal!("{other:?} is no method"),
        },
        Evaluator::Bits => bits::call(func, v, args, ty),
        Evaluator::Digest => digest::call(func, v, args),
        Evaluator::Json => json::call(func, v, args, ty),
        Evaluator::Parse => parse::call(func, v, args, ty, statement),
        Evaluator::Number => number::call(func, v, args, ty, statement),
        Evaluator::Text => text::call(func, v, args, ty),
        Evaluator::Values => of_values(func, v, args, ty, statement),
        Evaluator::Executor => return Ok(None),
    };
    made.map(Some)
}

/// What chooses among values, converts them, or reads them apart.
fn of_values(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
    statement: &mut dyn Statement,
) -> Result<Value, FunctionError> {
    use FuncId::*;
    match func {
        Greatest | Least => Ok(extreme(func, v)),
        Convert { try_ } => match (&v[0], v[1].as_i64()) {
            (Value::Null, _) | (_, None) => Ok(Value::Null),
            (value, Some(style)) => {
                let style = convert::explicit_style(style as i32, args[0].ty, ty);
                let style = convert::in_session(style, statement.date_style());
                match convert::cast(value, args[0].ty, ty, style) {
                    Err(_) if try_ => Ok(Value::Null),
                    done => Ok(done?),
                }
            }
        },
        VariantProperty => Ok(match (&v[0], v[1].as_str()) {
            (Value::Variant(held), Some(name)) => held.property(name),
            _ => Value::Null,
        }),
        ColumnSet => column_set::made(v, args),
        PartOfSet => column_set::part(v, ty),
        Collate(rule) => Ok(match &v[0] {
            Value::Str(text) => Value::Str(text.clone().with_rule(rule)),
            other => other.clone(),
        }),
        IntoPage(rule) => {
            let style = v.get(1).and_then(Value::as_i64).unwrap_or(0) as i32;
            Ok(convert::cast_by(rule, &v[0], args[0].ty, ty, style)?)
        }
        CheckPointer => text_pointer::checked(v, v[2].as_str().unwrap_or("")),
        ReadText => text_pointer::read(v),
        FuncId::Mask(function) => {
            let next = runtime::random::next_u64;
            Ok(types::mask::masked(function, &v[0], &v[1..], ty, next))
        }
        other => stdx::fatal!("{other:?} is no function of values"),
    }
}

/// GREATEST and LEAST: NULLs are skipped.
#[inline(never)]
fn extreme(func: FuncId, v: &[Value]) -> Value {
    let order = |a: &&Value, b: &&Value| types::compare::sort_order(a, b);
    let known = v.iter().filter(|v| !v.is_null());
    let found = match func {
        FuncId::Greatest => known.max_by(order),
        _ => known.min_by(order),
    };
    found.cloned().unwrap_or(Value::Null)
}

/// A number as the function's result type.
fn int(value: i64, ty: SqlType) -> Result<Value, FunctionError> {
    Ok(convert::cast(&Value::BigInt(value), SqlType::BigInt, ty, 0)?)
}

/// A float as the function's result type.
fn float(value: f64, ty: SqlType) -> Result<Value, FunctionError> {
    if !value.is_finite() {
        return Err(FunctionError::new(3623, 16, "An invalid floating point operation occurred."));
    }
    Ok(convert::cast(&Value::Float(value), SqlType::Float, ty, 0)?)
}
