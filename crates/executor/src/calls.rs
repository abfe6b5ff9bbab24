//! Calls of scalar functions: arguments evaluated, and the one asked that knows.
//!
//! What depends on values alone is the crate `functions`; what depends on the catalog, the session or its transaction goes
//! through [`crate::Environment`].

mod fulltext;
pub(crate) mod xml;

use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use functions::{FunctionError, Statement};
use ir::{Expr, FuncId};
use types::{SqlType, Value, convert, datetime};

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
        FulltextMatch | FulltextRank => return fulltext::call(func, args, row, cx),
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
    let made = match functions::call(func, &values, args, ty, cx) {
        Ok(Some(value)) => Ok(value),
        Ok(None) => ask_session(func, &values, ty, cx),
        Err(error) => Err(error.into()),
    };
    // What a loop made that was stopped is no value.
    cx.goes_on()?;
    made
}

/// What depends on more than values.
fn ask_session(func: FuncId, v: &[Value], ty: SqlType, cx: &mut Cx<'_>) -> Result<Value, SqlError> {
    match func {
        FuncId::User(called) => cx.env.scalar_function(called.object_id, v, cx.txn.as_deref_mut()),
        FuncId::ChangeTrackingIsColumnInMask => crate::tracking::is_in_mask(&v[0], &v[1]),
        FuncId::ChangeTrackingCurrentVersion | FuncId::ChangeTrackingMinValidVersion => {
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

impl Statement for Cx<'_> {
    fn now_unix_ns(&mut self) -> u64 {
        Cx::now_unix_ns(self)
    }

    fn rand(&mut self) -> f64 {
        Cx::rand(self)
    }

    fn date_style(&self) -> i32 {
        self.env.date_style()
    }

    fn date_first(&self) -> u8 {
        self.env.date_first()
    }

    fn language(&self) -> u8 {
        self.env.language()
    }
}

impl From<FunctionError> for SqlError {
    #[cold]
    fn from(error: FunctionError) -> SqlError {
        SqlError::new(error.number, error.severity, error.text).with_state(error.state)
    }
}

#[cfg(test)]
pub(crate) mod tests;
