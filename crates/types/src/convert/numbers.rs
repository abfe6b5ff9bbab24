//! Anything into a number.

use super::clash;
use crate::{DateTime, Decimal, SqlType, TypeError, Value};

/// `to` is a number; the value is not NULL.
pub(super) fn to_number(value: &Value, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Str(text) => from_text(text, from, to),
        Value::Binary(bytes) => from_binary(bytes, from, to),
        Value::DateTime(d) => from_datetime(*d, from, to),
        _ => match to {
            SqlType::Bit => Ok(Value::Bit(!is_zero(value).ok_or_else(|| clash(from, to))?)),
            SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt => {
                to_integer(value, from, to)
            }
            SqlType::Decimal { precision, scale, .. } => {
                to_decimal(value, from, to, precision, scale)
            }
            SqlType::Money | SqlType::SmallMoney => to_money(value, from, to),
            _ => to_float(value, from, to),
        },
    }
}

fn is_zero(value: &Value) -> Option<bool> {
    Some(match value {
        Value::Decimal(d) => d.units() == 0,
        Value::Money(m) => *m == 0,
        Value::Float(f) => *f == 0.0,
        Value::Real(f) => *f == 0.0,
        _ => value.as_i64()? == 0,
    })
}

/// `None` when it does not fit.
fn integer(v: i64, to: SqlType) -> Option<Value> {
    match to {
        SqlType::Bit => Some(Value::Bit(v != 0)),
        SqlType::TinyInt => u8::try_from(v).ok().map(Value::TinyInt),
        SqlType::SmallInt => i16::try_from(v).ok().map(Value::SmallInt),
        SqlType::Int => i32::try_from(v).ok().map(Value::Int),
        _ => Some(Value::BigInt(v)),
    }
}

fn to_integer(value: &Value, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    let small = matches!(to, SqlType::TinyInt | SqlType::SmallInt);
    // SQL Server words the overflow by source and by target.
    let overflow = |whole: Option<i64>| match (value, whole) {
        (Value::Float(_) | Value::Real(_), _) => TypeError::OverflowFloat {
            ty: to.name(),
            value: match value {
                Value::Real(f) => shown(f64::from(*f)),
                Value::Float(f) => shown(*f),
                _ => "".into(),
            },
        },
        (Value::Money(m), _) if from == SqlType::Money => match to {
            SqlType::TinyInt => {
                TypeError::OverflowFloat { ty: to.name(), value: shown(*m as f64 / 10_000.0) }
            }
            SqlType::SmallInt => TypeError::OverflowValue { ty: to.name(), value: *m },
            _ => TypeError::NoSpace { from: from.name(), to: to.name() },
        },
        // A bigint does not tell which.
        (Value::BigInt(_), _) => TypeError::Overflow { from: "expression", to: to.name() },
        (_, Some(v)) if small && value.as_i64().is_some() => {
            TypeError::OverflowValue { ty: to.name(), value: v }
        }
        (Value::Decimal(_), _) => TypeError::Overflow { from: "numeric", to: to.name() },
        _ => TypeError::Overflow { from: "expression", to: to.name() },
    };
    let whole = match value {
        // Cut towards zero.
        Value::Decimal(d) => d.to_i64(),
        Value::Float(f) => float_to_i64(*f),
        Value::Real(f) => float_to_i64(*f as f64),
        // Money rounds.
        Value::Money(m) => Some(round_money(*m)),
        _ => Some(value.as_i64().ok_or_else(|| clash(from, to))?),
    };
    whole.and_then(|v| integer(v, to)).ok_or_else(|| overflow(whole))
}

/// A float as messages have it: six decimals, of seventeen digits in all.
pub(super) fn shown(f: f64) -> Box<str> {
    if f.abs() < 1e17 {
        return format!("{f:.6}").into();
    }
    let exact = format!("{f:.16e}");
    let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "16"));
    let zeros = exponent.parse::<usize>().unwrap_or(16).saturating_sub(16);
    format!("{}{}.000000", mantissa.replace('.', ""), "0".repeat(zeros)).into()
}

fn round_money(m: i64) -> i64 {
    let (q, r) = (m / 10_000, m % 10_000);
    if r.abs() >= 5_000 { q + r.signum() } else { q }
}

fn float_to_i64(f: f64) -> Option<i64> {
    let t = f.trunc();
    // 2^63 itself does not fit.
    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&t).then_some(t as i64)
}

fn to_decimal(
    value: &Value,
    from: SqlType,
    to: SqlType,
    precision: u8,
    scale: u8,
) -> Result<Value, TypeError> {
    let overflow = || match value {
        Value::Decimal(d) if digits_at(*d, scale) > 38 => {
            TypeError::OverflowNumeric { from: "numeric" }
        }
        _ => TypeError::Overflow { from: from.message_name(), to: "numeric" },
    };
    let d = match value {
        Value::Decimal(d) => d.rescale(precision, scale),
        Value::Money(m) => {
            Decimal::new(*m as i128, 19, 4).and_then(|d| d.rescale(precision, scale))
        }
        Value::Float(f) => Decimal::from_f64(*f, precision, scale).ok_or_else(overflow),
        // A real shows seven digits; its tail beyond is noise.
        Value::Real(f) => Decimal::from_f64(*f as f64, precision, scale).ok_or_else(overflow),
        _ => {
            let v = value.as_i64().ok_or_else(|| clash(from, to))?;
            Decimal::from_i64(v).rescale(precision, scale)
        }
    };
    d.map(Value::Decimal).map_err(|_| overflow())
}

/// Digits that a number has when it is written with `scale` of them behind the point.
fn digits_at(d: Decimal, scale: u8) -> u32 {
    let digits = d.units().unsigned_abs().checked_ilog10().map_or(0, |n| n + 1);
    digits + u32::from(scale.saturating_sub(d.scale()))
}

fn to_money(value: &Value, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    let units: Option<i64> = match value {
        Value::Money(m) => Some(*m),
        Value::Decimal(d) => d.rescale(38, 4).ok().and_then(|d| i64::try_from(d.units()).ok()),
        Value::Float(f) => Decimal::from_f64(*f, 38, 4).and_then(|d| i64::try_from(d.units()).ok()),
        Value::Real(f) => {
            Decimal::from_f64(*f as f64, 38, 4).and_then(|d| i64::try_from(d.units()).ok())
        }
        _ => value.as_i64().ok_or_else(|| clash(from, to))?.checked_mul(10_000),
    };
    // SQL Server words the overflow by source.
    money(units, to).ok_or_else(|| match value {
        Value::Money(_) => TypeError::NoSpace { from: from.name(), to: to.name() },
        Value::Float(f) => TypeError::OverflowFloat { ty: to.name(), value: shown(*f) },
        Value::Real(f) => TypeError::OverflowFloat { ty: to.name(), value: shown(f64::from(*f)) },
        Value::Decimal(_) => TypeError::Overflow { from: "numeric", to: to.name() },
        Value::Int(v) => TypeError::OverflowValue { ty: to.name(), value: i64::from(*v) },
        _ => TypeError::Overflow { from: "expression", to: to.name() },
    })
}

fn money(units: Option<i64>, to: SqlType) -> Option<Value> {
    units.filter(|u| to == SqlType::Money || i32::try_from(*u).is_ok()).map(Value::Money)
}

fn to_float(value: &Value, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    let f = match value {
        Value::Float(f) => *f,
        Value::Real(f) => *f as f64,
        Value::Decimal(d) => d.to_f64(),
        Value::Money(m) => *m as f64 / 10_000.0,
        _ => value.as_i64().ok_or_else(|| clash(from, to))? as f64,
    };
    float(f, to)
}

fn float(f: f64, to: SqlType) -> Result<Value, TypeError> {
    if to == SqlType::Float {
        return Ok(Value::Float(f));
    }
    let narrow = f as f32;
    if narrow.is_finite() {
        Ok(Value::Real(narrow))
    } else {
        Err(TypeError::OverflowFloat { ty: "real", value: shown(f) })
    }
}

fn from_text(text: &str, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    let trimmed = text.trim_matches(' ');
    let failed = || TypeError::ConversionFailed {
        from: from.name(),
        value: text.trim_end_matches(' ').into(),
        to: to.message_name(),
    };
    let error = || TypeError::ConvertError { from: from.name(), to: to.message_name() };
    match to {
        SqlType::Bit => {
            if trimmed.eq_ignore_ascii_case("true") {
                return Ok(Value::Bit(true));
            }
            if trimmed.eq_ignore_ascii_case("false") || trimmed.is_empty() {
                return Ok(Value::Bit(false));
            }
            match digits(trimmed) {
                Some((_, body)) => Ok(Value::Bit(body.bytes().any(|b| b != b'0'))),
                None => Err(failed()),
            }
        }
        SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt => {
            let big = to == SqlType::BigInt;
            // A bare sign is zero, but for bigint.
            if trimmed.is_empty() || matches!(trimmed, "-" | "+") && !big {
                return integer(0, to).ok_or_else(failed);
            }
            let Some((negative, body)) = digits(trimmed) else {
                return Err(if big { error() } else { failed() });
            };
            let overflow = || match to {
                SqlType::BigInt => TypeError::Overflow { from: "expression", to: "bigint" },
                _ => TypeError::OverflowString {
                    from: from.name(),
                    value: trimmed.into(),
                    to: match to {
                        SqlType::TinyInt => "INT1",
                        SqlType::SmallInt => "INT2",
                        _ => "int",
                    },
                },
            };
            let mut v = 0i64;
            for b in body.bytes() {
                let digit = (b - b'0') as i64;
                let next = v.checked_mul(10).and_then(|v| {
                    if negative { v.checked_sub(digit) } else { v.checked_add(digit) }
                });
                v = next.ok_or_else(overflow)?;
            }
            integer(v, to).ok_or_else(overflow)
        }
        SqlType::Decimal { precision, scale, .. } => match Decimal::parse(trimmed) {
            None => Err(error()),
            Some(d) => {
                d.and_then(|d| d.rescale(precision, scale)).map(Value::Decimal).map_err(|_| {
                    match significant_digits(trimmed) {
                        ..=38 => TypeError::Overflow { from: from.name(), to: "numeric" },
                        _ => TypeError::OverflowNumeric { from: from.name() },
                    }
                })
            }
        },
        SqlType::Money | SqlType::SmallMoney => {
            if trimmed.is_empty() {
                return Ok(Value::Money(0));
            }
            let (sign, body) = match trimmed.as_bytes()[0] {
                b'-' => ("-", &trimmed[1..]),
                b'+' => ("", &trimmed[1..]),
                _ => ("", trimmed),
            };
            let body = body.trim_start_matches(' ');
            let body = body.strip_prefix(stdx::is_currency_sign).unwrap_or(body);
            let (sign, body) = match body.strip_prefix('-') {
                Some(rest) => ("-", rest),
                None => (sign, body),
            };
            let plain: String = body.chars().filter(|c| *c != ',').collect();
            // What has no digits is zero: signs, separators.
            if matches!(plain.trim_matches(' '), "" | ".") {
                return Ok(Value::Money(0));
            }
            let d = Decimal::parse(&format!("{sign}{plain}")).ok_or(TypeError::BadMoney)?;
            let units =
                d.and_then(|d| d.rescale(38, 4)).ok().and_then(|d| i64::try_from(d.units()).ok());
            money(units, to)
                .ok_or_else(|| TypeError::Overflow { from: "expression", to: to.name() })
        }
        _ => {
            if trimmed.is_empty() {
                return float(0.0, to);
            }
            // Rust's parser also takes words (inf, nan) that are no numbers here.
            let numeric = trimmed.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
            let f: f64 = trimmed.parse().ok().filter(|_| numeric).ok_or_else(error)?;
            if !f.is_finite() {
                return Err(TypeError::Overflow { from: "expression", to: to.name() });
            }
            float(f, to)
        }
    }
}

/// Digits of a number's text without zeros in front.
fn significant_digits(text: &str) -> usize {
    let digits = text.bytes().filter(u8::is_ascii_digit);
    digits.skip_while(|b| *b == b'0').count()
}

/// (negative, digits) of an integer's text.
fn digits(text: &str) -> Option<(bool, &str)> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let body = body.trim_start_matches(' ');
    (!body.is_empty() && body.bytes().all(|b| b.is_ascii_digit())).then_some((negative, body))
}

/// Big-endian, the last bytes count.
fn from_binary(bytes: &[u8], from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    let width = match to {
        SqlType::Bit => return Ok(Value::Bit(bytes.iter().any(|b| *b != 0))),
        SqlType::TinyInt => 1,
        SqlType::SmallInt => 2,
        SqlType::Int | SqlType::SmallMoney => 4,
        SqlType::BigInt | SqlType::Money => 8,
        SqlType::Decimal { precision, scale, .. } => {
            let error = || TypeError::ConvertError { from: from.name(), to: "numeric" };
            let (head, magnitude) = bytes.split_at_checked(4).ok_or_else(error)?;
            if magnitude.is_empty() || magnitude.len() > 16 || head[1] > head[0] || head[0] > 38 {
                return Err(error());
            }
            let m = magnitude.iter().rev().fold(0u128, |n, b| n << 8 | *b as u128);
            let units = i128::try_from(m).map_err(|_| error())?;
            let units = if head[3] == 0 { -units } else { units };
            let d = Decimal::new(units, head[0].max(1), head[1]).map_err(|_| error())?;
            return d.rescale(precision, scale).map(Value::Decimal);
        }
        _ => return Err(TypeError::ExplicitNotAllowed { from: from.name(), to: to.name() }),
    };
    let tail = &bytes[bytes.len().saturating_sub(width)..];
    let n = tail.iter().fold(0u64, |n, b| n << 8 | *b as u64);
    Ok(match to {
        SqlType::TinyInt => Value::TinyInt(n as u8),
        SqlType::SmallInt => Value::SmallInt(n as i16),
        SqlType::Int => Value::Int(n as i32),
        SqlType::SmallMoney => Value::Money(n as i32 as i64),
        SqlType::Money => Value::Money(n as i64),
        _ => Value::BigInt(n as i64),
    })
}

/// Days since 1900, with the time as fraction: integers round to the nearest day.
fn from_datetime(d: DateTime, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    let day = DateTime::TICKS_PER_DAY as i64;
    if to.is_integer() {
        let days = (d.total_ticks() + day / 2).div_euclid(day);
        if to == SqlType::Bit {
            return Ok(Value::Bit(d.total_ticks() != 0));
        }
        return to_integer(&Value::BigInt(days), from, to);
    }
    let days = d.total_ticks() as f64 / day as f64;
    to_number(&Value::Float(days), from, to)
}
