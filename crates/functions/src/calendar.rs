//! Dates made of parts, cut, put into buckets, and moved between time zones.
//!
//! Sources: SQL documentation of DATEFROMPARTS and its like (289, 10760), DATETRUNC, DATE_BUCKET, AT TIME ZONE.

use crate::Statement;
use crate::error::FunctionError;
use ir::{DatePart, Expr, FuncId};
use types::datetime::{self, DAYS_TO_1900, TICKS_PER_DAY};
use types::{DateTime, DateTime2, DateTimeOffset, SqlType, TypeError, Value};

#[inline(never)]
pub(super) fn call(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
    statement: &mut dyn Statement,
) -> Result<Value, FunctionError> {
    match func {
        FuncId::CurrentTimezone => return Ok(Value::str("(UTC) Coordinated Universal Time")),
        FuncId::CurrentTimezoneId => return Ok(Value::str("UTC")),
        _ => {}
    }
    if v.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    match func {
        FuncId::DateTrunc(part) => truncate(part, &v[0], args[0].ty, statement.date_first()),
        FuncId::DateBucket(part) => bucket(part, v, args),
        FuncId::AtTimeZone => super::zones::at_time_zone(&v[0], v[1].as_str().unwrap_or(""), ty),
        _ => parts(v, ty),
    }
}

/// DATETIMEFROMPARTS and its like: numbers from the year (for time: the hour) on.
fn parts(v: &[Value], ty: SqlType) -> Result<Value, FunctionError> {
    let n: Vec<i64> = v.iter().map(|v| v.as_i64().unwrap_or(-1)).collect();
    let invalid = || {
        FunctionError::new(
            289,
            16,
            format!(
                "Cannot construct data type {}, some of the arguments have values which are not \
                 valid.",
                ty.name()
            ),
        )
        .with_state(match ty {
            SqlType::Time(_) => 2,
            SqlType::DateTime => 3,
            SqlType::SmallDateTime => 4,
            SqlType::DateTime2(_) => 5,
            _ => 6,
        })
    };
    let clock = |h: i64, m: i64, s: i64| {
        let good = (0..24).contains(&h) && (0..60).contains(&m) && (0..60).contains(&s);
        good.then(|| ((h * 60 + m) * 60 + s) as u64 * 10_000_000)
    };
    let day = |y: i64, m: i64, d: i64| {
        let small = |n: i64| u32::try_from(n).unwrap_or(0);
        let year = i32::try_from(y).unwrap_or(0);
        datetime::is_date(year, small(m), small(d))
            .then(|| datetime::days_from_civil(year, small(m), small(d)))
    };
    let fraction = |units: i64, digits: u8| {
        let unit = 10u64.pow(7 - u32::from(digits));
        (units >= 0 && units < 10i64.pow(u32::from(digits))).then(|| units as u64 * unit)
    };
    let made = match ty {
        SqlType::Time(p) => clock(n[0], n[1], n[2])
            .zip(fraction(n[3], p))
            .map(|(time, rest)| Value::Time(time + rest)),
        SqlType::SmallDateTime => day(n[0], n[1], n[2])
            .zip(clock(n[3], n[4], 0))
            .and_then(|(days, ticks)| DateTime::from_datetime2(DateTime2 { days, ticks }))
            .and_then(DateTime::to_smalldatetime)
            .map(Value::DateTime),
        SqlType::DateTime => day(n[0], n[1], n[2])
            .zip(clock(n[3], n[4], n[5]))
            .zip(fraction(n[6], 3))
            .and_then(|((days, ticks), rest)| {
                DateTime::from_datetime2(DateTime2 { days, ticks: ticks + rest })
            })
            .map(Value::DateTime),
        SqlType::DateTime2(p) => day(n[0], n[1], n[2])
            .zip(clock(n[3], n[4], n[5]))
            .zip(fraction(n[6], p))
            .map(|((days, ticks), rest)| Value::DateTime2(DateTime2 { days, ticks: ticks + rest })),
        SqlType::DateTimeOffset(p) => {
            let (hours, minutes) = (n[7], n[8]);
            let agree = hours.signum() * minutes.signum() >= 0;
            let offset = hours * 60 + minutes;
            let good = agree && (-14..=14).contains(&hours) && minutes.abs() < 60;
            day(n[0], n[1], n[2])
                .zip(clock(n[3], n[4], n[5]))
                .zip(fraction(n[6], p))
                .filter(|_| good && (-840..=840).contains(&offset))
                .and_then(|((days, ticks), rest)| {
                    DateTime2 { days, ticks: ticks + rest }.shift_minutes(-offset)
                })
                .map(|utc| {
                    Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes: offset as i16 })
                })
        }
        _ => None,
    };
    made.ok_or_else(invalid)
}

/// What a value shows on the wall.
fn wall(value: &Value) -> Option<DateTime2> {
    Some(match value {
        Value::Date(days) => DateTime2 { days: *days, ticks: 0 },
        Value::Time(ticks) => DateTime2 { days: DAYS_TO_1900, ticks: *ticks },
        Value::DateTime(d) => d.to_datetime2(),
        Value::DateTime2(d) => *d,
        Value::DateTimeOffset(d) => d.local(),
        _ => return None,
    })
}

/// A wall reading as a value of the kind of `model`.
fn like(model: &Value, d: DateTime2) -> Option<Value> {
    Some(match model {
        Value::Date(_) => Value::Date(d.days),
        Value::Time(_) => Value::Time(d.ticks),
        Value::DateTime(_) => Value::DateTime(DateTime::from_datetime2(d)?),
        Value::DateTime2(_) => Value::DateTime2(d),
        Value::DateTimeOffset(at) => {
            let utc = d.shift_minutes(-i64::from(at.offset_minutes))?;
            Value::DateTimeOffset(DateTimeOffset { utc, ..*at })
        }
        _ => return None,
    })
}

fn bad_part(part: DatePart, function: &'static str, ty: SqlType) -> FunctionError {
    TypeError::BadDatePart { part: part.name(), function, ty: ty.name() }.into()
}

/// DATETRUNC.
fn truncate(part: DatePart, value: &Value, ty: SqlType, first: u8) -> Result<Value, FunctionError> {
    let bad = || bad_part(part, "datetrunc", ty);
    let d = wall(value).ok_or_else(bad)?;
    let (year, month, _) = datetime::civil_from_days(d.days);
    let on = |days: i32| DateTime2 { days, ticks: 0 };
    let cut = |unit: u64| DateTime2 { ticks: d.ticks / unit * unit, ..d };
    let is_time = matches!(value, Value::Time(_));
    let days_only = matches!(value, Value::Date(_));
    let cut = match part {
        DatePart::Year if !is_time => on(datetime::days_from_civil(year, 1, 1)),
        DatePart::Quarter if !is_time => {
            on(datetime::days_from_civil(year, (month - 1) / 3 * 3 + 1, 1))
        }
        DatePart::Month if !is_time => on(datetime::days_from_civil(year, month, 1)),
        DatePart::Day | DatePart::DayOfYear if !is_time => on(d.days),
        // 0001-01-01 was a Monday.
        DatePart::IsoWeek if !is_time => on(d.days - d.days.rem_euclid(7)),
        DatePart::Week if !is_time => {
            let into = (d.days + 1 - i32::from(first)).rem_euclid(7);
            on(d.days - into)
        }
        DatePart::Hour if !days_only => cut(36_000_000_000),
        DatePart::Minute if !days_only => cut(600_000_000),
        DatePart::Second if !days_only => cut(10_000_000),
        DatePart::Millisecond if !days_only && digits(ty) >= 3 => cut(10_000),
        DatePart::Microsecond if !days_only && digits(ty) >= 6 => cut(10),
        _ => return Err(bad()),
    };
    like(value, cut).ok_or_else(|| TypeError::DateAddOverflow { ty: ty.name() }.into())
}

/// Digits of a second that a type keeps.
fn digits(ty: SqlType) -> u8 {
    match ty {
        SqlType::Time(p) | SqlType::DateTime2(p) | SqlType::DateTimeOffset(p) => p,
        SqlType::DateTime => 3,
        _ => 0,
    }
}

/// DATE_BUCKET(part, width, date [, origin]): the start of the bucket that holds the date.
fn bucket(part: DatePart, v: &[Value], args: &[Expr]) -> Result<Value, FunctionError> {
    let (ty, value) = (args[1].ty, &v[1]);
    let bad = || bad_part(part, "date_bucket", ty);
    let width = v[0].as_i64().unwrap_or(0);
    if width <= 0 {
        return Err(FunctionError::new(
            9834,
            16,
            "Invalid bucket width value passed to date_bucket function. Only positive values are \
             allowed.",
        ));
    }
    let origin = match v.get(2) {
        Some(origin) => wall(origin).ok_or_else(bad)?,
        None => DateTime2 { days: DAYS_TO_1900, ticks: 0 },
    };
    let d = wall(value).ok_or_else(bad)?;
    let overflow = || FunctionError::from(TypeError::DateAddOverflow { ty: ty.name() });
    let step = match part {
        DatePart::Week => 7 * TICKS_PER_DAY as i128,
        DatePart::Day => TICKS_PER_DAY as i128,
        DatePart::Hour => 36_000_000_000,
        DatePart::Minute => 600_000_000,
        DatePart::Second => 10_000_000,
        DatePart::Millisecond => 10_000,
        DatePart::Year | DatePart::Quarter | DatePart::Month => {
            let months = match part {
                DatePart::Year => 12,
                DatePart::Quarter => 3,
                _ => 1,
            };
            return month_bucket(value, d, origin, width, months).ok_or_else(overflow);
        }
        _ => return Err(bad()),
    };
    if matches!(value, Value::Date(_)) && step < TICKS_PER_DAY as i128
        || matches!(value, Value::Time(_)) && step >= TICKS_PER_DAY as i128
    {
        return Err(bad());
    }
    let total = |d: DateTime2| i128::from(d.days) * TICKS_PER_DAY as i128 + i128::from(d.ticks);
    let unit = step.checked_mul(width.into()).ok_or_else(overflow)?;
    let start = total(origin) + (total(d) - total(origin)).div_euclid(unit) * unit;
    let days = i32::try_from(start.div_euclid(TICKS_PER_DAY as i128)).map_err(|_| overflow())?;
    if !(0..=datetime::DAYS_MAX).contains(&days) {
        return Err(overflow());
    }
    let ticks = start.rem_euclid(TICKS_PER_DAY as i128) as u64;
    like(value, DateTime2 { days, ticks }).ok_or_else(overflow)
}

/// Buckets of months: counted from the origin by DATEADD, so that the day is held to the month's last.
fn month_bucket(
    value: &Value,
    d: DateTime2,
    origin: DateTime2,
    width: i64,
    months: i64,
) -> Option<Value> {
    let index = |d: DateTime2| {
        let (year, month, _) = datetime::civil_from_days(d.days);
        i64::from(year) * 12 + i64::from(month) - 1
    };
    let unit = width.checked_mul(months)?;
    let at = |k: i64| -> Option<DateTime2> {
        let origin = Value::DateTime2(origin);
        let months = k.checked_mul(unit)?;
        let moved =
            datetime::dateadd(DatePart::Month, months, &origin, SqlType::DateTime2(7)).ok()?;
        match moved {
            Value::DateTime2(d) => Some(d),
            _ => None,
        }
    };
    let mut k = (index(d) - index(origin)).div_euclid(unit);
    let mut start = at(k)?;
    if start > d {
        k -= 1;
        start = at(k)?;
    }
    like(value, start)
}
