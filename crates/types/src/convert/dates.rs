//! Anything into a date or a time. Bytes are in `dates/bytes.rs`, texts in `dates/text.rs`.

mod bytes;
mod text;

pub(super) use bytes::to_bytes;
pub(super) use text::SESSION_STYLES;
pub use text::{DateOrder, is_plain_date};

use bytes::from_binary;
use text::{BASE, Bad, parse};

use super::{clash, of_language};
use crate::datetime::TICKS_PER_DAY;
use crate::{DateTime, DateTime2, DateTimeOffset, SqlType, TypeError, Value};

/// `to` is a date or time; the value is not NULL.
pub(super) fn to_temporal(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
) -> Result<Value, TypeError> {
    let out_of_range = || TypeError::DateOutOfRange { from: from.name(), to: to.name() };
    let (local, offset) = match value {
        Value::Null => return Ok(Value::Null),
        Value::Str(text) => {
            let old = matches!(to, SqlType::DateTime | SqlType::SmallDateTime);
            let parsed = parse(text, style, old).map_err(|bad| match bad {
                Bad::Syntax if to == SqlType::SmallDateTime => TypeError::BadSmallDate,
                Bad::Syntax => TypeError::BadDate,
                Bad::Style => TypeError::StyleMismatch { style: of_language(style).0 },
                // The new types say 241 where the old ones say 242.
                Bad::Range if matches!(to, SqlType::DateTime | SqlType::SmallDateTime) => {
                    out_of_range()
                }
                Bad::Range => TypeError::BadDate,
            })?;
            (parsed.local, parsed.offset)
        }
        Value::Date(days) => (DateTime2 { days: *days, ticks: 0 }, None),
        Value::Time(ticks) => (DateTime2 { ticks: *ticks, ..BASE }, None),
        Value::DateTime(d) => {
            if matches!(to, SqlType::DateTime) {
                return Ok(value.clone());
            }
            if to == SqlType::SmallDateTime {
                return d.to_smalldatetime().map(Value::DateTime).ok_or_else(out_of_range);
            }
            (d.to_datetime2(), None)
        }
        Value::DateTime2(d) => (*d, None),
        // Style 1 tells the instant in UTC.
        Value::DateTimeOffset(d)
            if of_language(style).0 == 1 && !matches!(to, SqlType::DateTimeOffset(_)) =>
        {
            (d.utc, None)
        }
        Value::DateTimeOffset(d) => (d.local(), Some(d.offset_minutes)),
        Value::Binary(bytes) => return from_binary(bytes, to).ok_or_else(|| clash(from, to)),
        _ if matches!(to, SqlType::DateTime | SqlType::SmallDateTime) => {
            return from_number(value, from, to);
        }
        _ => return Err(clash(from, to)),
    };
    match to {
        SqlType::Date => Ok(Value::Date(local.days)),
        SqlType::Time(p) => {
            let unit = 10u64.pow(7 - p as u32);
            let ticks = (local.ticks + unit / 2) / unit * unit;
            Ok(Value::Time(match value {
                // A text stays before midnight.
                Value::Str(_) => ticks.min(TICKS_PER_DAY - unit),
                // A time of day rounds round midnight.
                _ => ticks % TICKS_PER_DAY,
            }))
        }
        SqlType::DateTime => {
            DateTime::from_datetime2(local).map(Value::DateTime).ok_or_else(out_of_range)
        }
        SqlType::SmallDateTime => DateTime::from_datetime2(local)
            .and_then(DateTime::to_smalldatetime)
            .map(Value::DateTime)
            .ok_or_else(out_of_range),
        SqlType::DateTime2(p) => local.round(p).map(Value::DateTime2).ok_or_else(out_of_range),
        SqlType::DateTimeOffset(p) => {
            let offset_minutes = offset.unwrap_or(0);
            let utc = local
                .round(p)
                .and_then(|d| d.shift_minutes(-(offset_minutes as i64)))
                .ok_or_else(out_of_range)?;
            Ok(Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes }))
        }
        _ => Err(clash(from, to)),
    }
}

/// A number is days since 1900-01-01.
fn from_number(value: &Value, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    let overflow = || TypeError::Overflow { from: "expression", to: to.name() };
    let ticks = match value.as_i64() {
        Some(days) => days.checked_mul(DateTime::TICKS_PER_DAY as i64).ok_or_else(overflow)?,
        None => {
            let days = match super::cast(value, from, SqlType::Float, 0)? {
                Value::Float(f) => f,
                _ => return Err(clash(from, to)),
            };
            let ticks = (days * DateTime::TICKS_PER_DAY as f64).round();
            if ticks.abs() > 1e15 {
                return Err(overflow());
            }
            ticks as i64
        }
    };
    let d = DateTime::from_total_ticks(ticks).ok_or_else(overflow)?;
    if to == SqlType::SmallDateTime {
        return d.to_smalldatetime().map(Value::DateTime).ok_or_else(overflow);
    }
    Ok(Value::DateTime(d))
}
