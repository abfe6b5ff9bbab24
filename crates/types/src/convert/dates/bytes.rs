//! Moments as bytes, and bytes as moments: CAST of dates and times to and from binary.

use crate::convert::cast;
use crate::datetime::{DAYS_MAX, TICKS_PER_DAY};
use crate::{DateTime, DateTime2, DateTimeOffset, SqlType, Value};

/// The bytes of a moment, as SQL Server lays them out: datetime and smalldatetime from the highest on, the newer types from
/// the lowest, a time with its scale in front of it.
pub(in crate::convert) fn to_bytes(value: &Value, ty: SqlType) -> Option<Vec<u8>> {
    let time = |ticks: u64, scale: u8| {
        let count = ticks / 10u64.pow(7 - u32::from(scale));
        let mut out = vec![scale];
        out.extend_from_slice(&count.to_le_bytes()[..time_width(scale)]);
        out
    };
    let moment = |d: DateTime2, scale: u8| {
        let mut out = time(d.ticks, scale);
        out.extend_from_slice(&d.days.to_le_bytes()[..3]);
        out
    };
    Some(match (value, ty) {
        (Value::DateTime(d), SqlType::SmallDateTime) => {
            let minutes = d.ticks / (DateTime::TICKS_PER_DAY / (24 * 60));
            [(d.days as u16).to_be_bytes(), (minutes as u16).to_be_bytes()].concat()
        }
        (Value::DateTime(d), _) => [d.days.to_be_bytes(), d.ticks.to_be_bytes()].concat(),
        (Value::Date(days), _) => days.to_le_bytes()[..3].to_vec(),
        (Value::Time(ticks), SqlType::Time(scale)) => time(*ticks, scale),
        (Value::DateTime2(d), SqlType::DateTime2(scale)) => moment(*d, scale),
        (Value::DateTimeOffset(d), SqlType::DateTimeOffset(scale)) => {
            let mut out = moment(d.utc, scale);
            out.extend_from_slice(&d.offset_minutes.to_le_bytes());
            out
        }
        _ => return None,
    })
}

/// Bytes that count the parts of a second of a day.
fn time_width(scale: u8) -> usize {
    match scale {
        0..=2 => 3,
        3 | 4 => 4,
        _ => 5,
    }
}

/// [`to_bytes`] back; zeros behind do not matter.
pub(super) fn from_binary(bytes: &[u8], to: SqlType) -> Option<Value> {
    match to {
        SqlType::SmallDateTime if bytes.len() <= 4 => {
            let n = bytes.iter().fold(0u32, |n, b| n << 8 | u32::from(*b));
            let (days, minutes) = (n >> 16, n & 0xffff);
            let ticks = minutes * (DateTime::TICKS_PER_DAY / (24 * 60));
            let valid = ticks < DateTime::TICKS_PER_DAY;
            valid.then_some(Value::DateTime(DateTime { days: days as i32, ticks }))
        }
        SqlType::DateTime | SqlType::SmallDateTime => {
            let tail = &bytes[bytes.len().saturating_sub(8)..];
            let n = tail.iter().fold(0u64, |n, b| n << 8 | *b as u64);
            let d = DateTime { days: (n >> 32) as i32, ticks: n as u32 };
            let valid = d.ticks < DateTime::TICKS_PER_DAY;
            let d = DateTime::from_total_ticks(d.total_ticks()).filter(|_| valid)?;
            Some(Value::DateTime(if to == SqlType::DateTime { d } else { d.to_smalldatetime()? }))
        }
        SqlType::Date => {
            let (date, rest) = date_of(bytes)?;
            no_more(rest).then_some(Value::Date(date))
        }
        SqlType::Time(_) => {
            let (ticks, rest) = time_of(bytes)?;
            no_more(rest).then_some(())?;
            cast(&Value::Time(ticks), SqlType::Time(7), to, 0).ok()
        }
        SqlType::DateTime2(_) => {
            let (ticks, rest) = time_of(bytes)?;
            let (days, rest) = date_of(rest)?;
            no_more(rest).then_some(())?;
            let moment = Value::DateTime2(DateTime2 { days, ticks });
            cast(&moment, SqlType::DateTime2(7), to, 0).ok()
        }
        SqlType::DateTimeOffset(_) => {
            let (ticks, rest) = time_of(bytes)?;
            let (days, rest) = date_of(rest)?;
            let (offset, rest) = rest.split_first_chunk::<2>()?;
            let offset_minutes = i16::from_le_bytes(*offset);
            let valid = offset_minutes.abs() <= 14 * 60 && no_more(rest);
            let utc = DateTime2 { days, ticks };
            valid.then_some(())?;
            // The local moment is within the calendar too.
            utc.shift_minutes(i64::from(offset_minutes))?;
            let moment = Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes });
            cast(&moment, SqlType::DateTimeOffset(7), to, 0).ok()
        }
        _ => None,
    }
}

fn no_more(rest: &[u8]) -> bool {
    rest.iter().all(|b| *b == 0)
}

/// A time with its scale in front, in ticks, and what follows.
fn time_of(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (scale, rest) = bytes.split_first()?;
    let scale = Some(*scale).filter(|scale| *scale <= 7)?;
    let (count, rest) = rest.split_at_checked(time_width(scale))?;
    let count = count.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
    let ticks = count.checked_mul(10u64.pow(7 - u32::from(scale)))?;
    (ticks < TICKS_PER_DAY).then_some((ticks, rest))
}

fn date_of(bytes: &[u8]) -> Option<(i32, &[u8])> {
    let (date, rest) = bytes.split_at_checked(3)?;
    let days = date.iter().rev().fold(0, |n, b| n << 8 | i32::from(*b));
    (days <= DAYS_MAX).then_some((days, rest))
}
