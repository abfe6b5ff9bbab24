//! Arguments of aggregates computed a batch at a time: sums, differences and products of exact numbers, as integers in
//! units of their scale.
//!
//! Promise: a value is the one that the evaluator gives, or the whole batch is left to it: where a number does not fit 64
//! bits, or a result its type, so that an overflow is told by the evaluator and by the row that it belongs to. NULL in,
//! NULL out.

use crate::batch::Batch;
use crate::columns::{Columns, Data};
use ir::{ArithOp, CastMode, Expr, ExprKind};
use types::{SqlType, Value};

/// An expression over the slots of a batch.
pub(super) struct Exact {
    root: Node,
    nulls: Vec<bool>,
    values: Vec<i64>,
}

enum Node {
    Slot(u32),
    Const(i64),
    Arith {
        op: ArithOp,
        left: Box<Node>,
        right: Box<Node>,
        /// What brings each operand to the result's scale.
        up: (i64, i64),
        /// Results have this magnitude at most.
        most: i64,
        scratch: Vec<i64>,
    },
    /// In a type of more digits behind the point.
    Scaled {
        input: Box<Node>,
        up: i64,
        most: i64,
    },
}

/// Rows whose numbers can be had slot by slot.
pub(super) trait Slots {
    fn rows(&self) -> usize;
    /// Appends the units of a slot to `out`; what is NULL is marked, and 0. None where one does not fit.
    fn push_units(&self, slot: u32, nulls: &mut [bool], out: &mut Vec<i64>) -> Option<()>;
}

impl Slots for Batch {
    fn rows(&self) -> usize {
        self.len()
    }

    fn push_units(&self, slot: u32, nulls: &mut [bool], out: &mut Vec<i64>) -> Option<()> {
        for (row, null) in self.rows().zip(nulls) {
            let value = &row[slot as usize];
            if value.is_null() {
                *null = true;
                out.push(0);
            } else {
                out.push(units(value)?);
            }
        }
        Some(())
    }
}

impl Slots for Columns {
    fn rows(&self) -> usize {
        self.len()
    }

    fn push_units(&self, slot: u32, nulls: &mut [bool], out: &mut Vec<i64>) -> Option<()> {
        let column = self.column(slot);
        nulls.iter_mut().zip(column.nulls()).for_each(|(null, of_column)| *null |= of_column);
        match &column.data {
            Data::Units(units) => out.extend_from_slice(units),
            Data::Values(values) => {
                for value in values {
                    out.push(if value.is_null() { 0 } else { units(value)? });
                }
            }
            Data::Unread | Data::Texts { .. } => return None,
        }
        Some(())
    }
}

impl Exact {
    /// None where the expression is of another kind.
    pub fn new(e: &Expr) -> Option<Exact> {
        Some(Exact { root: node(e)?, nulls: Vec::new(), values: Vec::new() })
    }

    /// Computes the values of a batch. False: the evaluator must.
    pub fn load(&mut self, batch: &impl Slots) -> bool {
        self.nulls.clear();
        self.nulls.resize(batch.rows(), false);
        self.values.clear();
        self.root.eval(batch, &mut self.nulls, &mut self.values).is_some()
    }

    /// The value of a row of the batch; None: NULL.
    #[inline]
    pub fn get(&self, row: usize) -> Option<i64> {
        if self.nulls[row] { None } else { Some(self.values[row]) }
    }
}

/// Digits behind the point, and the greatest magnitude that fits both the type and 64 bits.
fn form(ty: SqlType) -> Option<(u8, i64)> {
    Some(match ty {
        SqlType::TinyInt => (0, 255),
        SqlType::SmallInt => (0, i64::from(i16::MAX)),
        SqlType::Int => (0, i64::from(i32::MAX)),
        SqlType::BigInt => (0, i64::MAX),
        SqlType::Decimal { precision, scale, .. } => {
            (scale, 10i64.checked_pow(precision.into()).map_or(i64::MAX, |n| n - 1))
        }
        _ => return None,
    })
}

fn power(digits: u8) -> Option<i64> {
    10i64.checked_pow(digits.into())
}

fn node(e: &Expr) -> Option<Node> {
    let (scale, most) = form(e.ty)?;
    match &e.kind {
        ExprKind::Slot(slot) => Some(Node::Slot(*slot)),
        ExprKind::Const(value) => units(value).map(Node::Const),
        ExprKind::Arith { op, left, right } => {
            let ((s, _), (t, _)) = (form(left.ty)?, form(right.ty)?);
            // Integers are of one type, and bytes have no sign.
            let whole = left.ty.is_integer() || right.ty.is_integer();
            if whole && (left.ty != e.ty || right.ty != e.ty || e.ty == SqlType::TinyInt) {
                return None;
            }
            let up = match op {
                ArithOp::Add | ArithOp::Sub if scale == s.max(t) => {
                    (power(scale - s)?, power(scale - t)?)
                }
                ArithOp::Mul if scale == s + t => (1, 1),
                _ => return None,
            };
            let (left, right) = (Box::new(node(left)?), Box::new(node(right)?));
            Some(Node::Arith { op: *op, left, right, up, most, scratch: Vec::new() })
        }
        ExprKind::Cast { input, mode: CastMode::Implicit, style: None } => {
            let (from, _) = form(input.ty)?;
            let up = power(scale.checked_sub(from)?)?;
            Some(Node::Scaled { input: Box::new(node(input)?), up, most })
        }
        _ => None,
    }
}

/// A number in units of its scale.
#[inline]
fn units(value: &Value) -> Option<i64> {
    match value {
        Value::Decimal(d) => i64::try_from(d.units()).ok(),
        Value::Int(n) => Some(i64::from(*n)),
        Value::BigInt(n) => Some(*n),
        Value::TinyInt(n) => Some(i64::from(*n)),
        Value::SmallInt(n) => Some(i64::from(*n)),
        _ => None,
    }
}

impl Node {
    /// Appends the values of a batch to `out`; what is NULL is marked, and 0. None where the evaluator must do it.
    fn eval(&mut self, batch: &impl Slots, nulls: &mut [bool], out: &mut Vec<i64>) -> Option<()> {
        match self {
            Node::Slot(slot) => batch.push_units(*slot, nulls, out)?,
            Node::Const(n) => out.resize(batch.rows(), *n),
            Node::Arith { op, left, right, up, most, scratch } => {
                left.eval(batch, nulls, out)?;
                scratch.clear();
                right.eval(batch, nulls, scratch)?;
                let (up, most) = (*up, most.unsigned_abs());
                let mut fits = true;
                let mut set = |a: &mut i64, result: Option<i64>| {
                    fits &= result.is_some_and(|n| n.unsigned_abs() <= most);
                    *a = result.unwrap_or(0);
                };
                let pairs = out.iter_mut().zip(scratch.iter());
                match op {
                    ArithOp::Mul => pairs.for_each(|(a, b)| set(a, a.checked_mul(*b))),
                    ArithOp::Add => pairs.for_each(|(a, b)| {
                        let sum = a.checked_mul(up.0).zip(b.checked_mul(up.1));
                        set(a, sum.and_then(|(x, y)| x.checked_add(y)));
                    }),
                    _ => pairs.for_each(|(a, b)| {
                        let sum = a.checked_mul(up.0).zip(b.checked_mul(up.1));
                        set(a, sum.and_then(|(x, y)| x.checked_sub(y)));
                    }),
                }
                return fits.then_some(());
            }
            Node::Scaled { input, up, most } => {
                input.eval(batch, nulls, out)?;
                for a in out.iter_mut() {
                    *a = a.checked_mul(*up).filter(|n| n.unsigned_abs() <= most.unsigned_abs())?;
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Decimal;

    fn decimal(precision: u8, scale: u8) -> SqlType {
        SqlType::decimal(precision, scale)
    }

    fn slot(i: u32, ty: SqlType) -> Expr {
        Expr::new(ExprKind::Slot(i), ty, true)
    }

    fn arith(op: ArithOp, left: Expr, right: Expr, ty: SqlType) -> Expr {
        let kind = ExprKind::Arith { op, left: Box::new(left), right: Box::new(right) };
        Expr::new(kind, ty, true)
    }

    fn batch(rows: &[[Value; 2]]) -> Batch {
        let mut batch = Batch::new();
        batch.start(2);
        rows.iter().for_each(|row| batch.push(row));
        batch
    }

    #[test]
    fn a_price_less_its_discount() {
        let one = Expr::constant(Value::Decimal(Decimal::new(1, 1, 0).unwrap()), decimal(1, 0));
        let rest = arith(ArithOp::Sub, one, slot(1, decimal(15, 2)), decimal(16, 2));
        let price = arith(ArithOp::Mul, slot(0, decimal(15, 2)), rest, decimal(32, 4));
        let value = |n| Value::Decimal(Decimal::new(n, 15, 2).unwrap());
        let mut exact = Exact::new(&price).unwrap();
        assert!(exact.load(&batch(&[[value(10_000), value(5)], [Value::Null, value(5)]])));
        assert_eq!((exact.get(0), exact.get(1)), (Some(950_000), None));
        // More than 64 bits: the evaluator's.
        let much = Value::Decimal(Decimal::new(999_999_999_999_999, 15, 2).unwrap());
        assert!(!exact.load(&batch(&[[much.clone(), value(-999_999_999)]])));
    }

    #[test]
    fn what_leaves_its_type_is_left_to_the_evaluator() {
        let sum = arith(ArithOp::Add, slot(0, SqlType::Int), slot(1, SqlType::Int), SqlType::Int);
        let mut exact = Exact::new(&sum).unwrap();
        assert!(exact.load(&batch(&[[Value::Int(i32::MAX), Value::Int(0)]])));
        assert!(!exact.load(&batch(&[[Value::Int(i32::MAX), Value::Int(1)]])));
        let float =
            arith(ArithOp::Add, slot(0, SqlType::Float), slot(1, SqlType::Float), SqlType::Float);
        assert!(Exact::new(&float).is_none());
    }
}
