//! Subqueries inside expressions.
//!
//! Promise: an uncorrelated subquery runs once per statement. Its kept rows are their first slots only; IN looks its
//! needle up among them.

use crate::cx::Cx;
use crate::eval::{eval as eval_expr, order, satisfies};
use crate::key_index::{KeyIndex, hash_of};
use crate::memory::row_bytes;
use crate::message::SqlError;
use crate::ops::{self, KeyEncoder};
use ir::{CompareOp, SubPlanId, SubqueryKind};
use std::cmp::Ordering;
use types::{SqlType, Value};

/// What is kept of an uncorrelated subquery.
pub(crate) struct Kept {
    rows: Vec<Value>,
    /// Its rows by their values, once IN has asked for them.
    keys: Option<Keys>,
}

struct Keys {
    index: KeyIndex,
    encoder: KeyEncoder,
    /// There is a NULL among the rows.
    unknown: bool,
}

/// Among fewer rows a value is looked for one by one.
const KEYED_ROWS_MIN: usize = 16;

impl Kept {
    /// Whether a value of the same type is among the rows; None where that must be found out one by one.
    fn has(
        &mut self,
        value: &Value,
        ty: SqlType,
        cx: &mut Cx<'_>,
    ) -> Result<Option<Value>, SqlError> {
        let rule = self.rows.iter().find(|row| !row.is_null()).map(Value::rule);
        if self.rows.len() < KEYED_ROWS_MIN || rule != Some(value.rule()) {
            return Ok(None);
        }
        if value.is_null() {
            return Ok(Some(Value::Null));
        }
        let mut key = Vec::new();
        if self.keys.is_none() {
            let (mut index, encoder) = (KeyIndex::default(), KeyEncoder::new([ty]));
            let mut unknown = false;
            for row in &self.rows {
                if row.is_null() {
                    unknown = true;
                    continue;
                }
                key.clear();
                encoder.push(0, row, &mut key);
                let hash = hash_of(&key);
                if index.find(&key, hash).is_none() {
                    cx.hold(KeyIndex::entry_bytes(key.len()))?;
                    index.add(&key, hash);
                }
                cx.breathe()?;
            }
            self.keys = Some(Keys { index, encoder, unknown });
        }
        let Some(keys) = &self.keys else { return Ok(None) };
        key.clear();
        keys.encoder.push(0, value, &mut key);
        let found = keys.index.find(&key, hash_of(&key)).is_some();
        Ok(Some(match (found, keys.unknown) {
            (true, _) => Value::Bit(true),
            (false, true) => Value::Null,
            (false, false) => Value::Bit(false),
        }))
    }
}

/// The value of a subquery expression for an outer row.
pub(crate) fn eval(
    kind: &SubqueryKind,
    id: SubPlanId,
    row: &[Value],
    cx: &mut Cx<'_>,
) -> Result<Value, SqlError> {
    let needle = match kind {
        SubqueryKind::In { needle } | SubqueryKind::Quantified { needle, .. } => {
            Some(eval_expr(needle, row, cx)?)
        }
        SubqueryKind::Scalar | SubqueryKind::Exists => None,
    };
    let index = id.0 as usize;
    let correlated = !cx.subplans[index].binds.is_empty();
    let (mut kept, held) = match cx.keep().subqueries[index].take() {
        Some(kept) => (kept, 0),
        None => {
            let (rows, held) = run(index, row, limit(kind), cx)?;
            (Kept { rows, keys: None }, held)
        }
    };
    let ty = cx.subplans[index].node.types.first().copied();
    let known = match (kind, &needle) {
        (SubqueryKind::In { needle: e }, Some(value)) if !correlated && ty == Some(e.ty) => {
            kept.has(value, e.ty, cx)?
        }
        _ => None,
    };
    let result = match known {
        Some(value) => Ok(value),
        None => judge(kind, needle, &kept.rows),
    };
    if correlated {
        cx.release(held);
    } else {
        cx.keep().subqueries[index] = Some(kept);
    }
    result
}

/// Rows after which nothing more is asked.
fn limit(kind: &SubqueryKind) -> usize {
    match kind {
        SubqueryKind::Exists => 1,
        SubqueryKind::Scalar => 2,
        SubqueryKind::In { .. } | SubqueryKind::Quantified { .. } => usize::MAX,
    }
}

/// The first slots of its rows, and the memory counted for them.
fn run(
    index: usize,
    row: &[Value],
    limit: usize,
    cx: &mut Cx<'_>,
) -> Result<(Vec<Value>, usize), SqlError> {
    let subplans = cx.subplans;
    let subplan = &subplans[index];
    for (param, expr) in &subplan.binds {
        cx.params[param.0 as usize] = eval_expr(expr, row, cx)?;
    }
    let mut source = ops::build(&subplan.node);
    let mut batch = crate::Batch::new();
    batch.set_target(limit);
    let (mut firsts, mut held) = (Vec::new(), 0);
    while firsts.len() < limit && source.next(cx, &mut batch)? {
        for row in batch.rows() {
            firsts.push(row.first().cloned().unwrap_or_default());
        }
        if limit == usize::MAX {
            let bytes = batch.rows().map(|r| row_bytes(&r[..r.len().min(1)])).sum();
            cx.hold(bytes)?;
            held += bytes;
        }
    }
    // What its operators hold goes back: it may run for every row of a large table.
    source.rewind(cx)?;
    Ok((firsts, held))
}

fn judge(kind: &SubqueryKind, needle: Option<Value>, rows: &[Value]) -> Result<Value, SqlError> {
    match kind {
        SubqueryKind::Exists => Ok(Value::Bit(!rows.is_empty())),
        SubqueryKind::Scalar => match rows {
            [] => Ok(Value::Null),
            [value] => Ok(value.clone()),
            _ => Err(SqlError::new(
                512,
                16,
                "Subquery returned more than 1 value. This is not permitted when the subquery \
                 follows =, !=, <, <= , >, >= or when the subquery is used as an expression.",
            )),
        },
        SubqueryKind::In { .. } => Ok(any(needle.as_ref(), CompareOp::Eq, rows)),
        SubqueryKind::Quantified { op, all: false, .. } => Ok(any(needle.as_ref(), *op, rows)),
        SubqueryKind::Quantified { op, all: true, .. } => Ok(all(needle.as_ref(), *op, rows)),
    }
}

fn compared(needle: Option<&Value>, value: &Value) -> Option<Ordering> {
    order(needle?, value)
}

fn any(needle: Option<&Value>, op: CompareOp, rows: &[Value]) -> Value {
    let mut unknown = false;
    for value in rows {
        match compared(needle, value) {
            Some(o) if satisfies(op, o) => return Value::Bit(true),
            Some(_) => {}
            None => unknown = true,
        }
    }
    if unknown { Value::Null } else { Value::Bit(false) }
}

fn all(needle: Option<&Value>, op: CompareOp, rows: &[Value]) -> Value {
    let mut unknown = false;
    for value in rows {
        match compared(needle, value) {
            Some(o) if !satisfies(op, o) => return Value::Bit(false),
            Some(_) => {}
            None => unknown = true,
        }
    }
    if unknown { Value::Null } else { Value::Bit(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantifiers_follow_three_valued_logic() {
        let rows = [Value::Int(1), Value::Null, Value::Int(3)];
        let three = Some(Value::Int(3));
        let two = Some(Value::Int(2));
        assert_eq!(any(three.as_ref(), CompareOp::Eq, &rows), Value::Bit(true));
        assert_eq!(any(two.as_ref(), CompareOp::Eq, &rows), Value::Null);
        assert_eq!(any(two.as_ref(), CompareOp::Eq, &rows[..1]), Value::Bit(false));
        assert_eq!(all(two.as_ref(), CompareOp::Gt, &rows[..1]), Value::Bit(true));
        assert_eq!(all(two.as_ref(), CompareOp::Gt, &rows), Value::Bit(false));
        assert_eq!(all(two.as_ref(), CompareOp::Gt, &[]), Value::Bit(true));
        assert_eq!(all(None, CompareOp::Gt, &[]), Value::Bit(true));
    }
}
