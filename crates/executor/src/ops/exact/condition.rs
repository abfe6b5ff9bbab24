//! What a CASE over exact numbers may ask, for a batch at a time: comparisons of exact numbers and dates, of texts with
//! constants, IN, IS NULL, and these joined by AND, OR and NOT.
//!
//! Promise: a truth is the one that the evaluator gives, or the whole batch is left to it: where a number does not fit 64
//! bits, or a text is not of ASCII.

use super::super::texts::Texts;
use super::units::{Slots, form, power, units};
use ir::{CompareOp, Expr, ExprKind};
use types::collation::Rule;
use types::{SqlType, Value};

/// Three-valued: of AND the least counts, of OR the greatest.
pub(super) type Truth = u8;
pub(super) const FALSE: Truth = 0;
const UNKNOWN: Truth = 1;
pub(super) const TRUE: Truth = 2;

/// What is compared: a number, or a date as its days.
pub(super) trait Operand: Sized {
    /// None where the expression is of another kind.
    fn of(e: &Expr) -> Option<Self>;
    fn slot(slot: u32) -> Self;
    /// None: NULL.
    fn number(n: Option<i64>) -> Self;
    /// Appends the values of a batch to `out`; what is NULL is marked, and 0. None where the evaluator must do it.
    fn eval(&mut self, batch: &impl Slots, nulls: &mut [bool], out: &mut Vec<i64>) -> Option<()>;
}

/// See the file's first lines.
pub(super) enum Test<N> {
    Compare {
        op: CompareOp,
        left: N,
        right: N,
        /// What brings each operand to one scale.
        up: (i64, i64),
        scratch: Scratch,
    },
    /// IN, of numbers in one scale.
    Numbers {
        input: N,
        list: Vec<i64>,
        /// There is a NULL in the list.
        unknown: bool,
        scratch: Scratch,
    },
    /// A slot that is one of these texts.
    Texts {
        slot: u32,
        texts: Texts,
        rule: Rule,
        unknown: bool,
    },
    IsNull(u32),
    Not(Box<Test<N>>),
    And(Box<Test<N>>, Box<Test<N>>, Vec<Truth>),
    Or(Box<Test<N>>, Box<Test<N>>, Vec<Truth>),
}

/// Operands of a batch.
#[derive(Default)]
pub(super) struct Scratch {
    nulls: Vec<bool>,
    left: Vec<i64>,
    right: Vec<i64>,
}

impl Scratch {
    fn clear(&mut self, rows: usize) {
        self.nulls.clear();
        self.nulls.resize(rows, false);
        self.left.clear();
        self.right.clear();
    }
}

/// None where the condition is of another kind.
pub(super) fn test<N: Operand>(e: &Expr) -> Option<Test<N>> {
    Some(match &e.kind {
        ExprKind::Compare { op, left, right } => {
            if let Some(test) = text(*op, left, right) {
                return Some(test);
            }
            let (s, t) = (digits(left.ty)?, digits(right.ty)?);
            if (left.ty == SqlType::Date) != (right.ty == SqlType::Date) {
                return None;
            }
            let scale = s.max(t);
            let up = (power(scale - s)?, power(scale - t)?);
            let (left, right) = (operand(left)?, operand(right)?);
            Test::Compare { op: *op, left, right, up, scratch: Scratch::default() }
        }
        ExprKind::In { input, list, negated } => {
            let among = match input.ty {
                SqlType::Char(_) | SqlType::VarChar(_) => texts(input, list.iter())?,
                ty => {
                    let alike = |e: &Expr| e.ty == ty || e.is_null_constant();
                    digits(ty)?;
                    if !list.iter().all(alike) {
                        return None;
                    }
                    let mut numbers = Vec::new();
                    let mut unknown = false;
                    for e in list.iter() {
                        match &e.kind {
                            ExprKind::Const(Value::Null) => unknown = true,
                            ExprKind::Const(value) => numbers.push(units(value)?),
                            _ => return None,
                        }
                    }
                    let (input, scratch) = (operand(input)?, Scratch::default());
                    Test::Numbers { input, list: numbers, unknown, scratch }
                }
            };
            negate(among, *negated)
        }
        ExprKind::IsNull { input, negated } => negate(Test::IsNull(input.as_slot()?), *negated),
        ExprKind::Not(input) => negate(test(input)?, true),
        ExprKind::And(left, right) => {
            Test::And(Box::new(test(left)?), Box::new(test(right)?), Vec::new())
        }
        ExprKind::Or(left, right) => {
            Test::Or(Box::new(test(left)?), Box::new(test(right)?), Vec::new())
        }
        _ => return None,
    })
}

fn negate<N>(test: Test<N>, negated: bool) -> Test<N> {
    if negated { Test::Not(Box::new(test)) } else { test }
}

/// Digits behind the point of what can be compared.
fn digits(ty: SqlType) -> Option<u8> {
    match ty {
        SqlType::Date => Some(0),
        _ => form(ty).map(|(scale, _)| scale),
    }
}

fn operand<N: Operand>(e: &Expr) -> Option<N> {
    match (&e.kind, e.ty) {
        (ExprKind::Slot(slot), SqlType::Date) => Some(N::slot(*slot)),
        (ExprKind::Const(value @ Value::Date(_)), SqlType::Date) => Some(N::number(units(value))),
        (ExprKind::Const(Value::Null), _) => Some(N::number(None)),
        (_, SqlType::Date) => None,
        _ => N::of(e),
    }
}

/// A slot compared with a constant text.
fn text<N>(op: CompareOp, left: &Expr, right: &Expr) -> Option<Test<N>> {
    let (slot, constant) = match (left.as_slot(), right.as_slot()) {
        (Some(_), None) => (left, right),
        (None, Some(_)) => (right, left),
        _ => return None,
    };
    match op {
        CompareOp::Eq => texts(slot, std::iter::once(constant)),
        CompareOp::Ne => Some(negate(texts(slot, std::iter::once(constant))?, true)),
        _ => None,
    }
}

/// A slot that is one of these constant texts.
fn texts<'e, N>(input: &Expr, list: impl Iterator<Item = &'e Expr>) -> Option<Test<N>> {
    let slot = input.as_slot()?;
    if !matches!(input.ty, SqlType::Char(_) | SqlType::VarChar(_)) {
        return None;
    }
    let mut found: Option<(Rule, Texts)> = None;
    let mut unknown = false;
    for e in list {
        match &e.kind {
            ExprKind::Const(Value::Null) => unknown = true,
            ExprKind::Const(value @ Value::Str(text)) if text.is_ascii() => {
                let rule = text.rule();
                let any_case = match rule {
                    Rule::CiAs => true,
                    Rule::Bin => false,
                    _ => return None,
                };
                let (known, texts) = found.get_or_insert_with(|| (rule, Texts::new(any_case)));
                if *known != rule {
                    return None;
                }
                texts.push(text.as_str(), value);
            }
            _ => return None,
        }
    }
    let (rule, texts) = found?;
    Some(Test::Texts { slot, texts, rule, unknown })
}

fn truth(is: bool) -> Truth {
    if is { TRUE } else { FALSE }
}

/// Among a list, in which there may be a NULL.
fn among(is: bool, unknown: bool) -> Truth {
    match (is, unknown) {
        (true, _) => TRUE,
        (false, true) => UNKNOWN,
        (false, false) => FALSE,
    }
}

impl<N: Operand> Test<N> {
    /// The truths of a batch. None where the evaluator must find them.
    pub fn eval(&mut self, batch: &impl Slots, out: &mut Vec<Truth>) -> Option<()> {
        out.clear();
        match self {
            Test::Compare { op, left, right, up, scratch } => {
                scratch.clear(batch.rows());
                left.eval(batch, &mut scratch.nulls, &mut scratch.left)?;
                right.eval(batch, &mut scratch.nulls, &mut scratch.right)?;
                let pairs = scratch.left.iter().zip(&scratch.right).zip(&scratch.nulls);
                for ((a, b), null) in pairs {
                    let order = a.checked_mul(up.0)?.cmp(&b.checked_mul(up.1)?);
                    out.push(if *null {
                        UNKNOWN
                    } else {
                        truth(crate::eval::satisfies(*op, order))
                    });
                }
            }
            Test::Numbers { input, list, unknown, scratch } => {
                scratch.clear(batch.rows());
                input.eval(batch, &mut scratch.nulls, &mut scratch.left)?;
                for (n, null) in scratch.left.iter().zip(&scratch.nulls) {
                    out.push(if *null { UNKNOWN } else { among(list.contains(n), *unknown) });
                }
            }
            Test::Texts { slot, texts, rule, unknown } => {
                let (texts, unknown) = (&*texts, *unknown);
                batch.each_text(*slot, *rule, &mut |text| {
                    out.push(text.map_or(UNKNOWN, |text| among(texts.has(text), unknown)));
                })?;
            }
            Test::IsNull(slot) => {
                batch.each_null(*slot, &mut |null| out.push(truth(null)))?;
            }
            Test::Not(input) => {
                input.eval(batch, out)?;
                out.iter_mut().for_each(|truth| *truth = TRUE - *truth);
            }
            Test::And(left, right, scratch) => {
                left.eval(batch, out)?;
                right.eval(batch, scratch)?;
                out.iter_mut().zip(&*scratch).for_each(|(a, b)| *a = (*a).min(*b));
            }
            Test::Or(left, right, scratch) => {
                left.eval(batch, out)?;
                right.eval(batch, scratch)?;
                out.iter_mut().zip(&*scratch).for_each(|(a, b)| *a = (*a).max(*b));
            }
        }
        Some(())
    }
}
