//! Instructions over numbers: what the loops of procedures are made of.
//!
//! [`run`] takes one after another, without a call and without touching the session, until one comes that wants the
//! machine ([`crate::vm`]). An operand is read by the type that the instruction is for, whatever smaller type its
//! register has: what the binder made `bigint = bigint + CAST(int AS bigint)` is one instruction. A result is written
//! over the payload of what was there, so no value is moved whole.
//!
//! Promises: NULL in, NULL out; a comparison with NULL is never true; errors are those of [`types::arith`], and leave
//! the destination as it was. So many turns of loops pass without a question to the clock, the session's flag or the
//! memory ([`TURNS`]): a turn of instructions over numbers is short. After any other instruction the next turn asks.

use crate::op::Op;
use types::{SqlType, TypeError, Value, arith, compare, convert};

/// Turns of loops between two looks at the clock. Some nanoseconds each, or some microseconds for a long body.
pub(crate) const TURNS: u32 = 64;

/// Why [`run`] came back.
pub(crate) enum Stop {
    /// The instruction is the machine's.
    Other,
    /// A loop asks whether it may go on; the instruction is `Op::Loop`.
    Breathe,
    /// The instruction, which was to write into that register, failed.
    Failed(u32, TypeError),
}

/// An int from a register that holds one, or a smaller integer; none for NULL.
#[inline(always)]
fn int(value: &Value) -> Option<i32> {
    match value {
        Value::Int(v) => Some(*v),
        Value::Null => None,
        other => other.as_i64().map(|v| v as i32),
    }
}

/// A bigint from a register that holds any integer.
#[inline(always)]
fn big(value: &Value) -> Option<i64> {
    match value {
        Value::BigInt(v) => Some(*v),
        Value::Int(v) => Some(i64::from(*v)),
        other => other.as_i64(),
    }
}

/// A float from a register that holds one, or any integer.
#[inline(always)]
fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(v) => Some(*v),
        Value::Int(v) => Some(f64::from(*v)),
        other => other.as_i64().map(|v| v as f64),
    }
}

/// Writes a number of one type. Where one was before only its payload changes: a value put together on the stack and
/// moved whole would wait for its own stores (some 15 ns).
macro_rules! writes {
    ($($name:ident: $kind:ident of $payload:ty),* $(,)?) => {$(
        #[inline(always)]
        fn $name(slot: &mut Value, value: $payload) {
            match slot {
                Value::$kind(old) => *old = value,
                _ => *slot = Value::$kind(value),
            }
        }
    )*};
}

writes! {
    set_bit: Bit of bool,
    set_tiny: TinyInt of u8,
    set_small: SmallInt of i16,
    set_int: Int of i32,
    set_big: BigInt of i64,
    set_float: Float of f64,
}

#[inline(always)]
fn set_null(slot: &mut Value) {
    if !matches!(slot, Value::Null) {
        *slot = Value::Null;
    }
}

/// A float that is a number; 8115.
#[inline(always)]
fn finite(value: f64) -> Result<f64, TypeError> {
    match value.is_finite() {
        true => Ok(value),
        false => Err(TypeError::Overflow { from: "expression", to: "float" }),
    }
}

#[inline(always)]
fn divided(a: f64, b: f64) -> Result<f64, TypeError> {
    if b == 0.0 { Err(TypeError::DivideByZero) } else { finite(a / b) }
}

/// 8115 where a bigint is no int.
#[inline(always)]
fn narrowed(value: i64) -> Result<i32, TypeError> {
    match i32::try_from(value) {
        Ok(value) => Ok(value),
        Err(_) => Err(convert::cast(&Value::BigInt(value), SqlType::BigInt, SqlType::Int, 0)
            .err()
            .unwrap_or(TypeError::Overflow { from: "expression", to: "int" })),
    }
}

/// 220 or 8115 of a number that a type does not have.
#[cold]
fn beyond(value: &Value, to: SqlType) -> TypeError {
    convert::cast(value, value.natural_type(), to, 0)
        .err()
        .unwrap_or(TypeError::Overflow { from: "expression", to: to.message_name() })
}

/// Runs from `at` on, for at most so many turns of loops; where it stopped, and why. `status`: @@ROWCOUNT and @@ERROR.
/// ONE: no more than one instruction, which is not a loop's.
#[inline(never)]
pub(crate) fn run<const ONE: bool>(
    ops: &[Op],
    frame: &mut [Value],
    mut at: usize,
    mut turns: u32,
    status: (&mut i64, &mut i32),
) -> (usize, Stop) {
    let (rowcount, error) = status;
    /// d = a op b where both are there, NULL where one is not.
    macro_rules! set {
        ($d:ident, $read:ident($a:ident), $write:ident, $value:expr) => {{
            match $read(&frame[$a as usize]) {
                Some($a) => match $value {
                    Ok(value) => $write(&mut frame[$d as usize], value),
                    Err(error) => return (at, Stop::Failed($d, error)),
                },
                None => set_null(&mut frame[$d as usize]),
            }
        }};
        ($d:ident, $read:ident($a:ident, $b:ident), $write:ident, $value:expr) => {{
            match ($read(&frame[$a as usize]), $read(&frame[$b as usize])) {
                (Some($a), Some($b)) => match $value {
                    Ok(value) => $write(&mut frame[$d as usize], value),
                    Err(error) => return (at, Stop::Failed($d, error)),
                },
                _ => set_null(&mut frame[$d as usize]),
            }
        }};
    }
    /// d = s as a type that may not have it.
    macro_rules! narrow {
        ($d:ident, $s:ident, $kind:ty, $write:ident, $to:expr) => {{
            match big(&frame[$s as usize]).map(<$kind>::try_from) {
                Some(Ok(value)) => $write(&mut frame[$d as usize], value),
                Some(Err(_)) => {
                    let error = beyond(&frame[$s as usize], $to);
                    return (at, Stop::Failed($d, error));
                }
                None => set_null(&mut frame[$d as usize]),
            }
        }};
    }
    macro_rules! go {
        ($to:ident) => {{
            at = $to as usize;
            if ONE {
                return (at, Stop::Other);
            }
            continue;
        }};
    }
    /// Goes to `to` if the order of a and b is, or is not, one of those.
    macro_rules! branch {
        ($expected:literal, $when:ident, $order:expr, $to:ident) => {{
            let holds = $order.is_some_and(|order| $when.holds(order));
            if holds == $expected {
                go!($to);
            }
        }};
    }
    macro_rules! order {
        ($read:ident, $a:ident, $b:ident) => {
            match ($read(&frame[$a as usize]), $read(&frame[$b as usize])) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => None,
            }
        };
    }
    macro_rules! order_of_floats {
        ($a:ident, $b:ident) => {
            match (float(&frame[$a as usize]), float(&frame[$b as usize])) {
                (Some(a), Some(b)) => a.partial_cmp(&b),
                _ => None,
            }
        };
    }
    loop {
        match ops[at] {
            Op::Move { d, s } => match frame[s as usize] {
                Value::Int(value) => set_int(&mut frame[d as usize], value),
                Value::BigInt(value) => set_big(&mut frame[d as usize], value),
                Value::Float(value) => set_float(&mut frame[d as usize], value),
                ref other => {
                    frame[d as usize] = other.clone();
                    turns = 1;
                }
            },
            Op::Null { d } => set_null(&mut frame[d as usize]),
            Op::AddInt { d, a, b } => set!(d, int(a, b), set_int, arith::add_i32(a, b)),
            Op::SubInt { d, a, b } => set!(d, int(a, b), set_int, arith::sub_i32(a, b)),
            Op::MulInt { d, a, b } => set!(d, int(a, b), set_int, arith::mul_i32(a, b)),
            Op::DivInt { d, a, b } => set!(d, int(a, b), set_int, arith::div_i32(a, b)),
            Op::ModInt { d, a, b } => set!(d, int(a, b), set_int, arith::rem_i32(a, b)),
            Op::AndInt { d, a, b } => set!(d, int(a, b), set_int, unfailing(a & b)),
            Op::OrInt { d, a, b } => set!(d, int(a, b), set_int, unfailing(a | b)),
            Op::XorInt { d, a, b } => set!(d, int(a, b), set_int, unfailing(a ^ b)),
            Op::AddIntBy { d, a, c } => set!(d, int(a), set_int, arith::add_i32(a, c)),
            Op::MulIntBy { d, a, c } => set!(d, int(a), set_int, arith::mul_i32(a, c)),
            Op::DivIntBy { d, a, c } => set!(d, int(a), set_int, arith::div_i32(a, c)),
            Op::ModIntBy { d, a, c } => set!(d, int(a), set_int, arith::rem_i32(a, c)),
            Op::AddBig { d, a, b } => set!(d, big(a, b), set_big, arith::add_i64(a, b)),
            Op::SubBig { d, a, b } => set!(d, big(a, b), set_big, arith::sub_i64(a, b)),
            Op::MulBig { d, a, b } => set!(d, big(a, b), set_big, arith::mul_i64(a, b)),
            Op::DivBig { d, a, b } => set!(d, big(a, b), set_big, arith::div_i64(a, b)),
            Op::ModBig { d, a, b } => set!(d, big(a, b), set_big, arith::rem_i64(a, b)),
            Op::AndBig { d, a, b } => set!(d, big(a, b), set_big, unfailing(a & b)),
            Op::OrBig { d, a, b } => set!(d, big(a, b), set_big, unfailing(a | b)),
            Op::XorBig { d, a, b } => set!(d, big(a, b), set_big, unfailing(a ^ b)),
            Op::AddFloat { d, a, b } => set!(d, float(a, b), set_float, finite(a + b)),
            Op::SubFloat { d, a, b } => set!(d, float(a, b), set_float, finite(a - b)),
            Op::MulFloat { d, a, b } => set!(d, float(a, b), set_float, finite(a * b)),
            Op::DivFloat { d, a, b } => set!(d, float(a, b), set_float, divided(a, b)),
            Op::ToBit { d, s } => set!(d, big(s), set_bit, unfailing(s != 0)),
            Op::ToTiny { d, s } => narrow!(d, s, u8, set_tiny, SqlType::TinyInt),
            Op::ToSmall { d, s } => narrow!(d, s, i16, set_small, SqlType::SmallInt),
            Op::ToInt { d, s } => set!(d, big(s), set_int, narrowed(s)),
            Op::ToBig { d, s } => set!(d, big(s), set_big, unfailing(s)),
            Op::ToFloat { d, s } => set!(d, float(s), set_float, unfailing(s)),
            Op::Jump { to } => go!(to),
            Op::Loop { to } => {
                turns -= 1;
                if turns == 0 {
                    return (at, Stop::Breathe);
                }
                go!(to);
            }
            Op::UnlessInt { when, a, b, to } => branch!(false, when, order!(int, a, b), to),
            Op::UnlessBig { when, a, b, to } => branch!(false, when, order!(big, a, b), to),
            Op::UnlessFloat { when, a, b, to } => {
                branch!(false, when, order_of_floats!(a, b), to);
            }
            Op::UnlessIntIs { when, a, c, to } => {
                branch!(false, when, int(&frame[a as usize]).map(|a| a.cmp(&c)), to);
            }
            Op::UnlessValue { when, a, b, to } => {
                // Long texts take their time.
                turns = 1;
                branch!(false, when, compare::compare(&frame[a as usize], &frame[b as usize]), to);
            }
            Op::IfInt { when, a, b, to } => branch!(true, when, order!(int, a, b), to),
            Op::IfBig { when, a, b, to } => branch!(true, when, order!(big, a, b), to),
            Op::IfFloat { when, a, b, to } => {
                branch!(true, when, order_of_floats!(a, b), to);
            }
            Op::IfIntIs { when, a, c, to } => {
                branch!(true, when, int(&frame[a as usize]).map(|a| a.cmp(&c)), to);
            }
            Op::IfValue { when, a, b, to } => {
                // Long texts take their time.
                turns = 1;
                branch!(true, when, compare::compare(&frame[a as usize], &frame[b as usize]), to);
            }
            Op::IfNull { s, to } => {
                if frame[s as usize].is_null() {
                    go!(to);
                }
            }
            Op::UnlessNull { s, to } => {
                if !frame[s as usize].is_null() {
                    go!(to);
                }
            }
            Op::Done { rows } => {
                *rowcount = i64::from(rows);
                *error = 0;
            }
            Op::Eval { .. }
            | Op::UnlessExpr { .. }
            | Op::IfExpr { .. }
            | Op::UnlessCondition { .. }
            | Op::Begin
            | Op::Commit { .. }
            | Op::Statement { .. }
            | Op::InsertCommit { .. }
            | Op::Return { .. }
            | Op::EndCatch
            | Op::NotNull { .. } => return (at, Stop::Other),
        }
        at += 1;
        if ONE {
            return (at, Stop::Other);
        }
    }
}

/// What cannot fail, for where others do.
#[inline(always)]
fn unfailing<T>(value: T) -> Result<T, TypeError> {
    Ok(value)
}
