//! Functions of numbers and of chance.

use super::{float, int};
use crate::Statement;
use crate::error::FunctionError;
use ir::{Expr, FuncId};
use runtime::task;
use types::{Decimal, SqlType, TypeError, Value, convert};

pub(super) fn call(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
    statement: &mut dyn Statement,
) -> Result<Value, FunctionError> {
    use FuncId::*;
    match func {
        Rand => {
            if let Some(seed) = v.first().and_then(Value::as_i64) {
                return Ok(Value::Float(seeded(seed)));
            }
            return Ok(Value::Float(statement.rand()));
        }
        NewId | NewSequentialId => return Ok(Value::Guid(new_guid())),
        Pi => return Ok(Value::Float(std::f64::consts::PI)),
        IsNumeric => return Ok(Value::Int(is_numeric(&v[0], args[0].ty) as i32)),
        _ => {}
    }
    if v.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    match func {
        CryptGenRandom => {
            let len = v[0].as_i64().unwrap_or(0);
            if !(1..=8000).contains(&len) {
                return Ok(Value::Null);
            }
            // Short ones (a random bigint per row) take no allocation.
            let mut short = [0u8; 16];
            if len as usize <= short.len() {
                runtime::random::fill(&mut short[..len as usize]);
                return Ok(Value::binary(&short[..len as usize]));
            }
            let mut bytes = vec![0; len as usize];
            runtime::random::fill(&mut bytes);
            Ok(Value::binary(&bytes))
        }
        Abs | Sign | Floor | Ceiling | Round => exact(func, v, ty),
        Power => {
            let (base, exponent) = (real(&v[0]), real(&v[1]));
            if base == 0.0 && exponent < 0.0 {
                return Err(TypeError::DivideByZero.into());
            }
            let power = base.powf(exponent);
            if power.is_infinite() { Err(past_float()) } else { float(power, ty) }
        }
        Square => within(real(&v[0]).powi(2), ty),
        Sqrt => float(real(&v[0]).sqrt(), ty),
        Exp => within(real(&v[0]).exp(), ty),
        Log => match v.get(1) {
            Some(base) => float(real(&v[0]).log(real(base)), ty),
            None => float(real(&v[0]).ln(), ty),
        },
        Log10 => float(real(&v[0]).log10(), ty),
        Sin => float(real(&v[0]).sin(), ty),
        Cos => float(real(&v[0]).cos(), ty),
        Tan => float(real(&v[0]).tan(), ty),
        Cot => float(1.0 / real(&v[0]).tan(), ty),
        Asin => float(real(&v[0]).asin(), ty),
        Acos => float(real(&v[0]).acos(), ty),
        Atan => float(real(&v[0]).atan(), ty),
        // The origin has no direction.
        Atn2 if real(&v[0]) == 0.0 && real(&v[1]) == 0.0 => float(f64::NAN, ty),
        Atn2 => float(real(&v[0]).atan2(real(&v[1])), ty),
        Degrees => angle(real(&v[0]) * 180.0 / std::f64::consts::PI, ty),
        Radians => angle(real(&v[0]) / 180.0 * std::f64::consts::PI, ty),
        other => stdx::fatal!("{other:?} is no function of numbers"),
    }
}

/// A result that is infinite only because a float does not hold it: 8115.
fn within(value: f64, ty: SqlType) -> Result<Value, FunctionError> {
    if value.is_infinite() { Err(past_float()) } else { float(value, ty) }
}

fn past_float() -> FunctionError {
    TypeError::Overflow { from: "expression", to: "float" }.into()
}

/// DEGREES and RADIANS: a whole number is cut, and one that does not fit is an overflow like any other.
fn angle(value: f64, ty: SqlType) -> Result<Value, FunctionError> {
    let overflow = || TypeError::Overflow { from: "expression", to: ty.name() }.into();
    match ty.is_integer() {
        true => float(value, ty).map_err(|_| overflow()),
        false => within(value, ty),
    }
}

/// Any number as a float.
#[inline]
pub fn real(value: &Value) -> f64 {
    match value {
        Value::Float(f) => *f,
        Value::Real(f) => *f as f64,
        Value::Money(m) => *m as f64 / 10_000.0,
        Value::Decimal(d) => d.units() as f64 / 10f64.powi(d.scale() as i32),
        other => other.as_i64().unwrap_or(0) as f64,
    }
}

/// ABS, SIGN, FLOOR, CEILING and ROUND, each in its argument's own arithmetic.
fn exact(func: FuncId, v: &[Value], ty: SqlType) -> Result<Value, FunctionError> {
    let digits = v.get(1).and_then(Value::as_i64).unwrap_or(0);
    let truncate = v.get(2).and_then(Value::as_i64).unwrap_or(0) != 0;
    let (units, scale) = match &v[0] {
        Value::Float(_) | Value::Real(_) => {
            return float(approximate(func, real(&v[0]), digits, truncate), ty);
        }
        Value::Decimal(d) => (d.units(), d.scale() as i64),
        Value::Money(m) => (*m as i128, 4),
        other => (other.as_i64().unwrap_or(0) as i128, 0),
    };
    let units = match func {
        FuncId::Abs => units.abs(),
        FuncId::Sign => units.signum() * pow10(scale),
        FuncId::Floor => units.div_euclid(pow10(scale)) * pow10(scale),
        FuncId::Ceiling => -(-units).div_euclid(pow10(scale)) * pow10(scale),
        _ => rounded(units, scale, digits, truncate),
    };
    match &v[0] {
        Value::Decimal(d) => {
            let SqlType::Decimal { precision, scale: wanted, .. } = ty else {
                let wide = Decimal::new(units, 38, d.scale())?;
                let from = SqlType::decimal(38, d.scale());
                return Ok(convert::cast(&Value::Decimal(wide), from, ty, 0)?);
            };
            let units = if (wanted as i64) < scale {
                units / pow10(scale - wanted as i64)
            } else {
                units * pow10(wanted as i64 - scale)
            };
            let past = |_| TypeError::Overflow { from: "expression", to: "numeric" };
            Ok(Value::Decimal(Decimal::new(units, precision, wanted).map_err(past)?))
        }
        Value::Money(_) => i64::try_from(units)
            .map(Value::Money)
            .map_err(|_| TypeError::Overflow { from: "expression", to: "money" }.into()),
        _ => match i64::try_from(units) {
            Ok(whole) => int(whole, ty),
            Err(_) => Err(TypeError::Overflow { from: "expression", to: "bigint" }.into()),
        },
    }
}

fn approximate(func: FuncId, x: f64, digits: i64, truncate: bool) -> f64 {
    match func {
        FuncId::Abs => x.abs(),
        FuncId::Sign => {
            if x == 0.0 {
                0.0
            } else {
                x.signum()
            }
        }
        FuncId::Floor => x.floor(),
        FuncId::Ceiling => x.ceil(),
        _ => {
            let unit = 10f64.powi(digits.clamp(-300, 300) as i32);
            let scaled = x * unit;
            (if truncate { scaled.trunc() } else { scaled.round() }) / unit
        }
    }
}

/// ROUND to `digits` behind (or, negative, before) the point.
fn rounded(units: i128, scale: i64, digits: i64, truncate: bool) -> i128 {
    let drop = scale - digits;
    if drop <= 0 {
        return units;
    }
    if drop > 38 {
        return 0;
    }
    let unit = pow10(drop);
    let rest = units % unit;
    let down = units - rest;
    if !truncate && rest.abs() * 2 >= unit { down + units.signum() * unit } else { down }
}

fn pow10(n: i64) -> i128 {
    10i128.pow(n.clamp(0, 38) as u32)
}

/// L'Ecuyer's combined generator, as SQL Server has it: RAND(1) is 0.713591993212924, RAND(0) 0.943597390424144. Its last
/// step multiplies by 4.656613e-10, the seven digits of its publication, not by 1/2147483563.
fn seeded(seed: i64) -> f64 {
    let first = match seed.unsigned_abs() % 2_147_483_563 {
        0 => 12_345,
        seed => seed,
    };
    let a = (first * 40_014 % 2_147_483_563) as i64;
    let b = 67_890_i64 * 40_692 % 2_147_483_399;
    let z = if a > b { a - b } else { a - b + 2_147_483_562 };
    z as f64 * 4.656_613e-10
}

/// A version 4 GUID in SQL Server's byte order (the first three groups little-endian).
fn new_guid() -> [u8; 16] {
    let mut bytes = [0; 16];
    runtime::random::fill(&mut bytes);
    bytes[7] = (bytes[7] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    bytes
}

/// `1d2`: a number, a D and a whole number.
fn has_double_exponent(text: &str) -> bool {
    let Some((number, exponent)) = text.split_once(['d', 'D']) else { return false };
    let float = |text: &str| {
        let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.".contains(&b));
        plain && text.parse::<f64>().is_ok()
    };
    float(number) && float(exponent) && !exponent.contains('.')
}

fn is_numeric(value: &Value, ty: SqlType) -> bool {
    if value.is_null() {
        return false;
    }
    if let Value::Variant(held) = value {
        return is_numeric(held.value(), held.ty());
    }
    if !ty.is_character() {
        return ty.is_numeric();
    }
    // What is in no number is in none of its forms; a text may be long.
    let in_number = |c: char| {
        matches!(c, '0'..='9' | '+' | '-' | '.' | ',' | 'e' | 'E' | 'd' | 'D')
            || c.is_whitespace()
            || stdx::is_currency_sign(c)
    };
    if value.as_str().is_some_and(|text| task::breathing(text.chars()).any(|c| !in_number(c))) {
        return false;
    }
    // Signs and currency symbols alone count too (learn.microsoft.com/sql/t-sql/functions/isnumeric-transact-sql).
    let sign = value.as_str().map(str::trim);
    if sign.is_some_and(|s| matches!(s, "+" | "-" | "." | "," | "$" | "€" | "£" | "¥" | "¢")) {
        return true;
    }
    // Blanks convert to 0, and are no number all the same; tabs and ends of lines are one.
    if let Some(text) = value.as_str() {
        let white = |c| matches!(c, '\t'..='\r');
        if text.trim_matches(' ').is_empty() {
            return false;
        }
        if text.trim_matches(' ').chars().all(white) {
            return true;
        }
    }
    // An exponent may be marked by a D, which no conversion takes.
    if value.as_str().is_some_and(|text| has_double_exponent(text.trim_matches(' '))) {
        return true;
    }
    convert::cast(value, ty, SqlType::Float, 0).is_ok()
        || convert::cast(value, ty, SqlType::Money, 0).is_ok()
}
