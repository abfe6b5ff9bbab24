//! Rows of table-valued functions: STRING_SPLIT, GENERATE_SERIES, and CHANGETABLE's, which `tracking` finds.

use super::Operator;
use crate::batch::Batch;
use crate::calls::xml;
use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use crate::tracking;
use ir::{Expr, TableFunc};
use runtime::task::{Many, Rest};
use types::arith::{self, ArithOp};
use types::{SqlType, Value, compare};

pub(super) struct Function<'p> {
    func: &'p TableFunc,
    args: &'p [Expr],
    types: &'p [SqlType],
    state: State,
}

enum State {
    Fresh,
    Done,
    /// Known from the start.
    Rows(Rest<Vec<Value>>),
    /// The text, where its next piece begins, and that piece's number.
    Pieces {
        text: String,
        separator: char,
        at: usize,
        number: i64,
    },
    Series {
        next: Value,
        stop: Value,
        step: Value,
        down: bool,
    },
}

impl<'p> Function<'p> {
    pub fn new(func: &'p TableFunc, args: &'p [Expr], types: &'p [SqlType]) -> Self {
        Function { func, args, types, state: State::Fresh }
    }

    fn start(&self, cx: &mut Cx<'_>) -> Result<State, SqlError> {
        if let TableFunc::XmlNodes(query) = self.func {
            return Ok(State::Rows(Many::from(xml::nodes(query, self.args, cx)?).into_iter()));
        }
        let mut args = Vec::with_capacity(self.args.len());
        for arg in self.args {
            args.push(eval(arg, &[], cx)?);
        }
        match *self.func {
            TableFunc::XmlNodes(_) => Ok(State::Done),
            TableFunc::Changes(id) => {
                Ok(State::Rows(Many::from(tracking::changes(id, &args[0], cx)?).into_iter()))
            }
            TableFunc::RowVersion(id) => {
                Ok(State::Rows(Many::from(tracking::row_version(id, args, cx)?).into_iter()))
            }
            TableFunc::StringSplit => {
                let mut separator = args[1].as_str().unwrap_or_default().chars();
                let (Some(first), None) = (separator.next(), separator.next()) else {
                    return Err(SqlError::new(
                        214,
                        16,
                        "Procedure expects parameter 'separator' of type 'nchar(1)/nvarchar(1)'.",
                    )
                    .with_state(11));
                };
                let Some(text) = args[0].as_str() else { return Ok(State::Done) };
                Ok(State::Pieces { text: text.to_string(), separator: first, at: 0, number: 1 })
            }
            TableFunc::GenerateSeries => {
                if args.iter().any(Value::is_null) {
                    return Ok(State::Done);
                }
                let ty = self.types[0];
                let mut args = args.into_iter();
                let (next, stop) =
                    (args.next().unwrap_or_default(), args.next().unwrap_or_default());
                let rising = compare::sort_order(&next, &stop).is_le();
                let step = match args.next() {
                    Some(step) => step,
                    None => number(1, ty)?,
                };
                let zero = number(0, ty)?;
                let sign = compare::sort_order(&step, &zero);
                if sign.is_eq() {
                    return Err(SqlError::new(
                        4199,
                        16,
                        "Argument value 0 is invalid for argument 3 of generate_series function.",
                    ));
                }
                let default = self.args.len() < 3;
                let down = if default { !rising } else { sign.is_lt() };
                if down == rising && compare::sort_order(&next, &stop).is_ne() {
                    return Ok(State::Done);
                }
                let step = match (down, default) {
                    (true, false) => combined(ArithOp::Sub, &zero, &step, ty)?,
                    _ => step,
                };
                Ok(State::Series { next, stop, step, down })
            }
        }
    }
}

/// A small whole number of a type.
fn number(n: i32, ty: SqlType) -> Result<Value, SqlError> {
    Ok(types::convert::cast(&Value::Int(n), SqlType::Int, ty, 0)?)
}

/// Sum or difference, of the same type.
fn combined(op: ArithOp, a: &Value, b: &Value, ty: SqlType) -> Result<Value, SqlError> {
    let value = arith::binary(op, a, ty, b, ty)?;
    Ok(types::convert::cast(&value, arith::result_type(op, ty, ty)?, ty, 0)?)
}

impl Operator for Function<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if matches!(self.state, State::Fresh) {
            self.state = self.start(cx)?;
        }
        cx.breathe()?;
        out.start(self.types.len());
        while !out.is_full() {
            let mut over = false;
            match &mut self.state {
                State::Fresh | State::Done => break,
                State::Rows(rows) => {
                    let Some(row) = rows.next() else { break };
                    out.values_mut().extend(row);
                }
                State::Pieces { text, separator, at, number } => {
                    let rest = &text[*at..];
                    let piece = match rest.find(|c| same(c, *separator)) {
                        Some(end) => {
                            let width = rest[end..].chars().next().map_or(1, char::len_utf8);
                            *at += end + width;
                            &rest[..end]
                        }
                        None => {
                            over = true;
                            rest
                        }
                    };
                    out.values_mut().push(Value::str(piece));
                    if self.types.len() > 1 {
                        out.values_mut().push(Value::BigInt(*number));
                    }
                    *number += 1;
                }
                State::Series { next, stop, step, down } => {
                    out.values_mut().push(next.clone());
                    let op = if *down { ArithOp::Sub } else { ArithOp::Add };
                    // Past the type's range nothing follows.
                    match combined(op, next, step, self.types[0]) {
                        Ok(value) => {
                            let order = compare::sort_order(&value, stop);
                            over = if *down { order.is_lt() } else { order.is_gt() };
                            *next = value;
                        }
                        Err(_) => over = true,
                    }
                }
            }
            out.finish_row();
            if over {
                self.state = State::Done;
            }
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        self.state = State::Fresh;
        Ok(())
    }
}

/// Under the default collation case makes no difference.
fn same(a: char, b: char) -> bool {
    a == b || a.to_lowercase().eq(b.to_lowercase())
}
