//! Arguments of aggregates computed a batch at a time: sums, differences and products of exact numbers, and CASE over them
//! ([`condition`] has what it may ask), as integers in units of their scale.
//!
//! Promise: a value is the one that the evaluator gives, or the whole batch is left to it: where a number does not fit 64
//! bits, or a result its type, so that an overflow is told by the evaluator and by the row that it belongs to. NULL in,
//! NULL out.

mod condition;

use crate::batch::Batch;
use crate::columns::{Columns, Data, cell};
use condition::{TRUE, Test, Truth};
use ir::{ArithOp, CastMode, Expr, ExprKind};
use types::collation::Rule;
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
    Null,
    /// The value of the first branch whose test is true, or the other one. All are computed: what fails is left to the
    /// evaluator, which knows whether it is asked for.
    Case {
        branches: Vec<(Test, Node)>,
        otherwise: Box<Node>,
        scratch: Branch,
    },
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

/// What one branch of a CASE has.
#[derive(Default)]
struct Branch {
    truths: Vec<Truth>,
    values: Vec<i64>,
    nulls: Vec<bool>,
    /// Of what is chosen so far.
    chosen_nulls: Vec<bool>,
}

/// Rows whose numbers can be had slot by slot.
pub(super) trait Slots {
    fn rows(&self) -> usize;
    /// Appends the units of a slot to `out`; what is NULL is marked, and 0. None where one does not fit.
    fn push_units(&self, slot: u32, nulls: &mut [bool], out: &mut Vec<i64>) -> Option<()>;
    /// Calls `each` for every row, in order, with the text of a slot, none where it is NULL. None where one is not of ASCII
    /// alone, or is compared by another rule.
    fn each_text(&self, slot: u32, rule: Rule, each: &mut dyn FnMut(Option<&[u8]>)) -> Option<()>;
    /// Likewise whether it is NULL. None where nobody keeps it.
    fn each_null(&self, slot: u32, each: &mut dyn FnMut(bool)) -> Option<()>;
}

/// The text of a value, where it is of ASCII and compared by that rule.
fn text_of(value: &Value, rule: Rule) -> Option<Option<&[u8]>> {
    match value {
        Value::Null => Some(None),
        Value::Str(text) if text.rule() == rule && text.as_str().is_ascii() => {
            Some(Some(text.as_str().as_bytes()))
        }
        _ => None,
    }
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

    fn each_text(&self, slot: u32, rule: Rule, each: &mut dyn FnMut(Option<&[u8]>)) -> Option<()> {
        for row in self.rows() {
            each(text_of(&row[slot as usize], rule)?);
        }
        Some(())
    }

    fn each_null(&self, slot: u32, each: &mut dyn FnMut(bool)) -> Option<()> {
        self.rows().for_each(|row| each(row[slot as usize].is_null()));
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

    fn each_text(&self, slot: u32, rule: Rule, each: &mut dyn FnMut(Option<&[u8]>)) -> Option<()> {
        let column = self.column(slot);
        match &column.data {
            Data::Texts { bytes, ends } if column.of.rule == rule => {
                for row in 0..ends.len() {
                    let text = cell(bytes, ends, row);
                    if !text.is_ascii() {
                        return None;
                    }
                    each((!column.is_null(row)).then_some(text));
                }
                Some(())
            }
            Data::Values(values) => {
                for value in values {
                    each(text_of(value, rule)?);
                }
                Some(())
            }
            _ => None,
        }
    }

    fn each_null(&self, slot: u32, each: &mut dyn FnMut(bool)) -> Option<()> {
        let column = self.column(slot);
        if let Data::Unread = column.data {
            return None;
        }
        (0..self.len()).for_each(|row| each(column.is_null(row)));
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
        ExprKind::Const(Value::Null) => Some(Node::Null),
        ExprKind::Const(value) => units(value).map(Node::Const),
        ExprKind::Case { branches, otherwise } => {
            // In the result's own scale.
            let value = |of: &Expr| (form(of.ty)?.0 == scale).then(|| node(of))?;
            let branch = |(when, then): &(Expr, Expr)| Some((condition::test(when)?, value(then)?));
            let branches = branches.iter().map(branch).collect::<Option<_>>()?;
            let otherwise = match otherwise {
                Some(otherwise) => value(otherwise)?,
                None => Node::Null,
            };
            let scratch = Branch::default();
            Some(Node::Case { branches, otherwise: Box::new(otherwise), scratch })
        }
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
        // Which conditions compare.
        Value::Date(days) => Some(i64::from(*days)),
        _ => None,
    }
}

impl Node {
    /// Appends the values of a batch to `out`; what is NULL is marked, and 0. None where the evaluator must do it.
    fn eval(&mut self, batch: &impl Slots, nulls: &mut [bool], out: &mut Vec<i64>) -> Option<()> {
        match self {
            Node::Slot(slot) => batch.push_units(*slot, nulls, out)?,
            Node::Const(n) => out.resize(batch.rows(), *n),
            Node::Null => {
                out.resize(batch.rows(), 0);
                nulls.fill(true);
            }
            Node::Case { branches, otherwise, scratch } => {
                let Branch { truths, values, nulls: own, chosen_nulls } = scratch;
                chosen_nulls.clear();
                chosen_nulls.resize(batch.rows(), false);
                otherwise.eval(batch, chosen_nulls, out)?;
                // The first that is true comes last.
                for (test, value) in branches.iter_mut().rev() {
                    test.eval(batch, truths)?;
                    own.clear();
                    own.resize(batch.rows(), false);
                    values.clear();
                    value.eval(batch, own, values)?;
                    for (row, truth) in truths.iter().enumerate() {
                        if *truth == TRUE {
                            (out[row], chosen_nulls[row]) = (values[row], own[row]);
                        }
                    }
                }
                nulls.iter_mut().zip(&*chosen_nulls).for_each(|(null, chosen)| *null |= chosen);
            }
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
