//! Scalar functions.
//!
//! Promise: arguments come with the types that `ir::FuncId` lists; NULL in gives NULL out unless a
//! function says otherwise. What depends on the catalog or the session goes through [`crate::Environment`].

mod bits;
mod calendar;
mod clr;
mod digest;
pub(crate) mod json;
mod number;
mod parse;
mod text;
mod time;
pub(crate) mod xml;
pub(crate) mod zones;

use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use ir::{Expr, FuncId};
use types::{SqlType, Value, convert, datetime};

pub(crate) use number::real;

/// Calls `func`; `ty` is the type of the result.
pub(crate) fn call(
    func: FuncId,
    args: &[Expr],
    ty: SqlType,
    row: &[Value],
    cx: &mut Cx<'_>,
) -> Result<Value, SqlError> {
    use FuncId::*;
    match func {
        GetDate | GetUtcDate => {
            return Ok(Value::DateTime(datetime::datetime_from_unix_ns(cx.now_unix_ns())));
        }
        IsNull => {
            let first = eval(&args[0], row, cx)?;
            return if first.is_null() { eval(&args[1], row, cx) } else { Ok(first) };
        }
        _ => {}
    }
    let mut values = Vec::with_capacity(args.len());
    for arg in args {
        values.push(eval(arg, row, cx)?);
    }
    let made = call_with(func, &values, args, ty, cx);
    // What a loop made that was stopped is no value.
    cx.goes_on()?;
    made
}

fn call_with(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
    cx: &mut Cx<'_>,
) -> Result<Value, SqlError> {
    use FuncId::*;
    match func {
        SysDateTime | SysUtcDateTime | SysDateTimeOffset | DateAdd(_) | DateDiff(_)
        | DateDiffBig(_) | DatePart(_) | DateName(_) | EoMonth | SwitchOffset
        | ToDateTimeOffset | DateFromParts | IsDate => time::call(func, v, args, cx),
        DateTimeFromParts | DateTrunc(_) | DateBucket(_) | AtTimeZone | CurrentTimezone
        | CurrentTimezoneId => calendar::call(func, v, args, ty, cx),
        FuncId::Clr(method) => clr::call(method, v),
        LeftShift | RightShift | BitCount | GetBit | SetBit => bits::call(func, v, args, ty),
        Checksum | BinaryChecksum | HashBytes | BinaryText | Compress | Decompress => {
            digest::call(func, v, args)
        }
        IsJson | JsonValue | JsonQuery | JsonModify | JsonPathExists | JsonObject | JsonArray
        | AsJson | StringEscape => json::call(func, v, args, ty),
        // No database has any here.
        XmlSchemaNamespace => match v[1].as_str() {
            None => Ok(Value::Null),
            Some(name) => Err(SqlError::new(
                6314,
                16,
                format!("Collection specified does not exist in metadata : '{name}'"),
            )),
        },
        Format | Parse | TryParse => parse::call(func, v, args, ty, cx),
        Greatest | Least => Ok(extreme(func, v)),
        Convert { try_ } => match (&v[0], v[1].as_i64()) {
            (Value::Null, _) | (_, None) => Ok(Value::Null),
            (value, Some(style)) => {
                let style = convert::explicit_style(style as i32, args[0].ty, ty);
                let style = convert::in_language(style, cx.env.language());
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
        Collate(rule) => Ok(match &v[0] {
            Value::Str(text) => Value::Str(text.clone().with_rule(rule)),
            other => other.clone(),
        }),
        CryptGenRandom | NewId | NewSequentialId | Rand | Abs | Sign | Floor | Ceiling | Round
        | Power | Square | Sqrt | Exp | Log | Log10 | Pi | Sin | Cos | Tan | Cot | Asin | Acos
        | Atan | Atn2 | Degrees | Radians | IsNumeric => number::call(func, v, args, ty, cx),
        Len | DataLength | Left | Right | Substring | Upper | Lower | LTrim | RTrim | Trim
        | Reverse | Replace | Replicate | Space | Str | CharIndex | PatIndex | Stuff | Char
        | WriteInto | NChar | Ascii | Unicode | Concat | ConcatWs | QuoteName | Soundex
        | Difference | Translate | ParseName => text::call(func, v, args, ty),
        FuncId::Mask(function) => {
            let next = runtime::random::next_u64;
            Ok(types::mask::masked(function, &v[0], &v[1..], ty, next))
        }
        FuncId::User(called) => cx.env.scalar_function(called.object_id, v, cx.txn.as_deref_mut()),
        ChangeTrackingIsColumnInMask => crate::tracking::is_in_mask(&v[0], &v[1]),
        ChangeTrackingCurrentVersion | ChangeTrackingMinValidVersion => {
            match cx.txn.as_deref_mut().filter(|txn| txn.is_active()) {
                Some(txn) => crate::tracking::function(func, v, cx.env, txn),
                None => cx.env.session_function(func, v),
            }
        }
        FuncId::AppLockMode | FuncId::AppLockTest => match cx.txn.as_deref_mut() {
            Some(txn) => Ok(crate::applock::function(func, v, txn)),
            None => cx.env.session_function(func, v),
        },
        _ => match cx.env.session_function(func, v)? {
            // Of a narrower type than whoever knows the number cares for.
            value @ Value::Int(_) if ty != SqlType::Int && ty.is_integer() => {
                Ok(convert::cast(&value, SqlType::Int, ty, 0)?)
            }
            value => Ok(value),
        },
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
fn int(value: i64, ty: SqlType) -> Result<Value, SqlError> {
    Ok(convert::cast(&Value::BigInt(value), SqlType::BigInt, ty, 0)?)
}

/// A float as the function's result type.
fn float(value: f64, ty: SqlType) -> Result<Value, SqlError> {
    if !value.is_finite() {
        return Err(SqlError::new(3623, 16, "An invalid floating point operation occurred."));
    }
    Ok(convert::cast(&Value::Float(value), SqlType::Float, ty, 0)?)
}

#[cfg(test)]
pub(crate) mod tests;
