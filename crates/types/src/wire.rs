//! Values of fixed form as SQL Server's clients write them: the wire protocol (MS-TDS 2.2.5.5), and bcp's native files
//! likewise. Little endian.
//!
//! ```text
//! int types 1, 2, 4, 8      real 4, float 4 or 8      money i32 high, u32 low; smallmoney 4
//! datetime i32 days since 1900, u32 1/300 s; smalldatetime u16 days, u16 minutes
//! date 3; time 3 to 5; datetime2 time, date; datetimeoffset time, date (UTC), i16 minutes
//! ```
//!
//! Knows nothing of what stands around a value (lengths, tokens), of texts, which have a code page, nor of decimals, of
//! which each has a form of its own.

use crate::datetime::{DAYS_MAX, TICKS_PER_DAY};
use crate::{DateTime, DateTime2, DateTimeOffset, SqlType, Value};

/// The value of type `ty` that `bytes` are; `None` where they are none, or `ty` is a text, a decimal or sql_variant.
pub fn value(ty: SqlType, bytes: &[u8]) -> Option<Value> {
    Some(match ty {
        SqlType::Bit => Value::Bit(integer(bytes)? != 0),
        SqlType::TinyInt => Value::TinyInt(integer(bytes)?.try_into().ok()?),
        SqlType::SmallInt => Value::SmallInt(integer(bytes)?.try_into().ok()?),
        SqlType::Int => Value::Int(integer(bytes)?.try_into().ok()?),
        SqlType::BigInt => Value::BigInt(integer(bytes)?),
        SqlType::Money | SqlType::SmallMoney => Value::Money(money(bytes)?),
        SqlType::Float => Value::Float(float(bytes)?),
        SqlType::Real if bytes.len() == 4 => Value::Real(float(bytes)? as f32),
        SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::Clr(_) => Value::binary(bytes),
        SqlType::Date => Value::Date(date(bytes)?),
        SqlType::Time(scale) => Value::Time(time(bytes, scale)?),
        SqlType::DateTime | SqlType::SmallDateTime => Value::DateTime(datetime(bytes)?),
        SqlType::DateTime2(scale) => Value::DateTime2(datetime2(bytes, scale)?),
        SqlType::DateTimeOffset(scale) => {
            let (at, offset) = bytes.split_last_chunk::<2>()?;
            let offset_minutes = i16::from_le_bytes(*offset);
            (-840..=840).contains(&offset_minutes).then_some(())?;
            Value::DateTimeOffset(DateTimeOffset { utc: datetime2(at, scale)?, offset_minutes })
        }
        SqlType::UniqueIdentifier => Value::Guid(bytes.try_into().ok()?),
        SqlType::Real
        | SqlType::Decimal { .. }
        | SqlType::Char(_)
        | SqlType::VarChar(_)
        | SqlType::NChar(_)
        | SqlType::NVarChar(_)
        | SqlType::Variant
        | SqlType::Xml
        | SqlType::TypedXml { .. } => return None,
    })
}

/// An integer of 1 (unsigned), 2, 4 or 8 bytes.
fn integer(bytes: &[u8]) -> Option<i64> {
    Some(match *bytes {
        [a] => i64::from(a),
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => i64::from_le_bytes(bytes.try_into().ok()?),
    })
}

fn money(bytes: &[u8]) -> Option<i64> {
    if let Ok(small) = bytes.try_into() {
        return Some(i64::from(i32::from_le_bytes(small)));
    }
    let (high, low) = bytes.split_first_chunk::<4>()?;
    let low = u32::from_le_bytes(low.try_into().ok()?);
    Some(i64::from(i32::from_le_bytes(*high)) << 32 | i64::from(low))
}

/// A finite number of 4 or 8 bytes.
fn float(bytes: &[u8]) -> Option<f64> {
    let v = match *bytes {
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => f64::from_le_bytes(bytes.try_into().ok()?),
    };
    v.is_finite().then_some(v)
}

/// Up to 8 bytes, unsigned.
fn unsigned(bytes: &[u8]) -> Option<u64> {
    let mut wide = [0; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(wide))
}

fn date(bytes: &[u8]) -> Option<i32> {
    let days = if bytes.len() == 3 { unsigned(bytes)? as i32 } else { return None };
    (days <= DAYS_MAX).then_some(days)
}

fn time(bytes: &[u8], scale: u8) -> Option<u64> {
    if !(3..=5).contains(&bytes.len()) {
        return None;
    }
    let ticks = unsigned(bytes)?.checked_mul(10u64.pow(7 - u32::from(scale)))?;
    (ticks < TICKS_PER_DAY).then_some(ticks)
}

fn datetime2(bytes: &[u8], scale: u8) -> Option<DateTime2> {
    let (of_day, days) = bytes.split_last_chunk::<3>()?;
    Some(DateTime2 { days: date(days)?, ticks: time(of_day, scale)? })
}

/// Days since 1900 and 1/300 s, or days and minutes.
fn datetime(bytes: &[u8]) -> Option<DateTime> {
    match *bytes {
        [a, b, c, d] => {
            let (days, minutes) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
            let ticks = u32::from(minutes) * DateTime::TICKS_PER_MINUTE;
            (minutes < 1440).then_some(DateTime { days: i32::from(days), ticks })
        }
        [a, b, c, d, e, f, g, h] => {
            let days = i32::from_le_bytes([a, b, c, d]);
            let ticks = u32::from_le_bytes([e, f, g, h]);
            let at = DateTime { days, ticks };
            if ticks >= DateTime::TICKS_PER_DAY {
                return None;
            }
            DateTime::from_total_ticks(at.total_ticks())
        }
        _ => None,
    }
}
