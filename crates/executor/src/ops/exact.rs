//! Arguments of aggregates computed a batch at a time: sums, differences and products of exact numbers, and CASE over them
//! ([`condition`] has what it may ask), as integers in units of their scale.
//!
//! Promise: a value is the one that the evaluator gives, or the whole batch is left to it: where a number does not fit 64
//! bits, or a result its type, so that an overflow is told by the evaluator and by the row that it belongs to. NULL in,
//! NULL out.

mod condition;
mod units;

use condition::{Operand, TRUE, Test, Truth};
use ir::{ArithOp, CastMode, Expr, ExprKind};
use types::{SqlType, Value};
use units::{Slots, form, power, units};

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
        branches: Vec<(Test<Node>, Node)>,
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

impl Operand for Node {
    fn of(e: &Expr) -> Option<Node> {
        node(e)
    }

    fn slot(slot: u32) -> Node {
        Node::Slot(slot)
    }

    fn number(n: Option<i64>) -> Node {
        n.map_or(Node::Null, Node::Const)
    }

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
    use crate::batch::Batch;
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
