//! What a bound of a wider type is in a narrower one: `c < @p` where `c` is an int and `@p` a bigint, a decimal or a float.
//!
//! Such a comparison is made in the wider type, but a key is sought in its own. Promise of [`nearest`] for types of which
//! [`is_embedded`] is true: it never decreases as its argument grows, and it leads a value that was widened back to itself. So
//! from `wide(c) > p` follows `c >= nearest(p)`, and likewise for the other operators: whoever seeks from there, ends
//! included, and asks the comparison itself of what he finds, misses nothing.

use super::cast;
use crate::datetime::DAYS_TO_1900;
use crate::{DateTime, DateTime2, SqlType, TypeError, Value};

/// Decimal digits that a float, and a real, keeps of every number.
const FLOAT_DIGITS: u8 = 15;
const REAL_DIGITS: u8 = 6;
/// Digits before the point of every number that money, and smallmoney, takes.
const MONEY_DIGITS: u8 = 14;
const SMALL_MONEY_DIGITS: u8 = 5;

/// Whether each value of `narrow` has one counterpart in `wide`, in the same order, and [`nearest`] leads back to it.
pub fn is_embedded(narrow: SqlType, wide: SqlType) -> bool {
    use SqlType::*;
    match (narrow, wide) {
        (Bit, _) | (_, Bit) => false,
        _ if narrow.is_integer() => {
            let Some((digits, _)) = narrow.as_decimal() else { return false };
            match wide {
                Decimal { precision, scale, .. } => precision - scale >= digits,
                Float => digits <= FLOAT_DIGITS,
                Real => digits <= REAL_DIGITS,
                Money => digits <= MONEY_DIGITS,
                SmallMoney => digits <= SMALL_MONEY_DIGITS,
                _ if wide.is_integer() => wide.as_decimal().is_some_and(|(d, _)| d >= digits),
                _ => false,
            }
        }
        (SmallMoney, Money) => true,
        (Money, Decimal { precision, scale, .. }) => scale >= 4 && precision - scale >= 15,
        (SmallMoney, Decimal { precision, scale, .. }) => scale >= 4 && precision - scale >= 6,
        (Decimal { precision: p1, scale: s1, .. }, Decimal { precision: p2, scale: s2, .. }) => {
            s1 <= s2 && p1 - s1 <= p2 - s2
        }
        (Decimal { precision, .. }, Float) => precision <= FLOAT_DIGITS,
        (Real, Float) => true,
        (Date, SmallDateTime | DateTime | DateTime2(_)) => true,
        (SmallDateTime, DateTime | DateTime2(_)) => true,
        (DateTime, DateTime2(digits)) => digits >= 3,
        (DateTime2(a), DateTime2(b)) | (Time(a), Time(b)) => a <= b,
        _ => false,
    }
}

/// The value of `to` nearest to one of `from`: rounded or cut as a conversion does, and the first or the last of `to` where
/// none is so small or so great. For types of which [`is_embedded`] is true, and of any two decimals, which compare as they are.
pub fn nearest(value: &Value, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    // A conversion rounds the last moments of a day to its beginning.
    if let (Value::Time(ticks), SqlType::Time(digits)) = (value, to) {
        let unit = 10u64.pow(7 - u32::from(digits));
        return Ok(Value::Time(ticks / unit * unit));
    }
    match cast(value, from, to, 0) {
        Err(error) => end(value, to).ok_or(error),
        converted => converted,
    }
}

/// The last value of `to`, a type of dates with times, that falls on a day: on the nearest of its days where it has no such.
pub fn latest(day: &Value, to: SqlType) -> Result<Value, TypeError> {
    const TICKS_PER_DAY: u64 = crate::datetime::TICKS_PER_DAY;
    Ok(match (nearest(day, SqlType::Date, to)?, to) {
        (Value::DateTime(d), SqlType::SmallDateTime) => Value::DateTime(DateTime {
            ticks: DateTime::TICKS_PER_DAY - DateTime::TICKS_PER_MINUTE,
            ..d
        }),
        (Value::DateTime(d), _) => {
            Value::DateTime(DateTime { ticks: DateTime::TICKS_PER_DAY - 1, ..d })
        }
        (Value::DateTime2(d), SqlType::DateTime2(digits)) => {
            let unit = 10u64.pow(7 - u32::from(digits));
            Value::DateTime2(DateTime2 { ticks: TICKS_PER_DAY - unit, ..d })
        }
        (other, _) => other,
    })
}

/// The end of `to` that a value lies beyond.
fn end(value: &Value, to: SqlType) -> Option<Value> {
    let is_below = match value {
        Value::Float(f) => *f < 0.0,
        Value::Real(f) => *f < 0.0,
        Value::Money(m) => *m < 0,
        Value::Decimal(d) => d.units() < 0,
        // All dates end in 9999 or 2079, and begin in 1, 1753 or 1900.
        Value::Date(days) => *days < DAYS_TO_1900,
        Value::DateTime(d) => d.days < 0,
        Value::DateTime2(d) => d.days < DAYS_TO_1900,
        _ => value.as_i64()? < 0,
    };
    let of = |low: Value, high: Value| Some(if is_below { low } else { high });
    match to {
        SqlType::TinyInt => of(Value::TinyInt(u8::MIN), Value::TinyInt(u8::MAX)),
        SqlType::SmallInt => of(Value::SmallInt(i16::MIN), Value::SmallInt(i16::MAX)),
        SqlType::Int => of(Value::Int(i32::MIN), Value::Int(i32::MAX)),
        SqlType::BigInt => of(Value::BigInt(i64::MIN), Value::BigInt(i64::MAX)),
        SqlType::Money => of(Value::Money(i64::MIN), Value::Money(i64::MAX)),
        SqlType::SmallMoney => {
            of(Value::Money(i64::from(i32::MIN)), Value::Money(i64::from(i32::MAX)))
        }
        SqlType::Real => of(Value::Real(f32::MIN), Value::Real(f32::MAX)),
        SqlType::Decimal { precision, scale, .. } => {
            let most = 10i128.pow(u32::from(precision)) - 1;
            let units = if is_below { -most } else { most };
            crate::Decimal::new(units, precision, scale).ok().map(Value::Decimal)
        }
        SqlType::SmallDateTime => of(
            Value::DateTime(DateTime { days: 0, ticks: 0 }),
            Value::DateTime(DateTime { days: 65_535, ticks: 1_439 * DateTime::TICKS_PER_MINUTE }),
        ),
        SqlType::DateTime => of(
            Value::DateTime(DateTime { days: crate::datetime::DATETIME_DAYS_MIN, ticks: 0 }),
            Value::DateTime(DateTime {
                days: crate::datetime::DAYS_MAX - DAYS_TO_1900,
                ticks: DateTime::TICKS_PER_DAY - 1,
            }),
        ),
        SqlType::DateTime2(digits) => {
            let unit = 10u64.pow(7 - u32::from(digits));
            of(
                Value::DateTime2(DateTime2 { days: 0, ticks: 0 }),
                Value::DateTime2(DateTime2 {
                    days: crate::datetime::DAYS_MAX,
                    ticks: crate::datetime::TICKS_PER_DAY - unit,
                }),
            )
        }
        _ => None,
    }
}
