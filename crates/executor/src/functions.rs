//! Scalar functions.
//!
//! Promise: arguments come with the types that `binder::ir::FuncId` lists; NULL in gives NULL out unless a
//! function says otherwise. What depends on the catalog or the session goes through [`crate::Environment`].

mod number;
mod text;
mod time;

use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use binder::ir::{Expr, FuncId};
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
    let v = &values[..];
    match func {
        SysDateTime | SysUtcDateTime | SysDateTimeOffset | DateAdd(_) | DateDiff(_)
        | DateDiffBig(_) | DatePart(_) | DateName(_) | EoMonth | SwitchOffset
        | ToDateTimeOffset | DateFromParts | IsDate => time::call(func, v, args, cx),
        CryptGenRandom | NewId | NewSequentialId | Rand | Checksum | BinaryChecksum | HashBytes
        | Abs | Sign | Floor | Ceiling | Round | Power | Square | Sqrt | Exp | Log | Log10 | Pi
        | Sin | Cos | Tan | Cot | Asin | Acos | Atan | Atn2 | Degrees | Radians | IsNumeric => {
            number::call(func, v, args, ty, cx)
        }
        Len | DataLength | Left | Right | Substring | Upper | Lower | LTrim | RTrim | Trim
        | Reverse | Replace | Replicate | Space | Str | CharIndex | PatIndex | Stuff | Char
        | NChar | Ascii | Unicode | Concat | ConcatWs | QuoteName | Format | Soundex
        | Translate | ParseName => text::call(func, v, args, ty),
        FuncId::User(id) => cx.env.scalar_function(id, v, cx.txn.as_deref_mut()),
        FuncId::AppLockMode | FuncId::AppLockTest => match cx.txn.as_deref_mut() {
            Some(txn) => Ok(crate::applock::function(func, v, txn)),
            None => cx.env.session_function(func, v),
        },
        _ => cx.env.session_function(func, v),
    }
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
mod tests;
