//! Functions of date and time. The server's clock is UTC.

use crate::Statement;
use crate::error::FunctionError;
use ir::{DatePart as Part, Expr, FuncId};
use types::{DatePart, DateTime2, DateTimeOffset, SqlType, Value, convert, datetime};

pub(super) fn call(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    statement: &mut dyn Statement,
) -> Result<Value, FunctionError> {
    match func {
        FuncId::SysDateTime | FuncId::SysUtcDateTime => {
            return Ok(Value::DateTime2(datetime::datetime2_from_unix_ns(statement.now_unix_ns())));
        }
        FuncId::SysDateTimeOffset => {
            let utc: DateTime2 = datetime::datetime2_from_unix_ns(statement.now_unix_ns());
            return Ok(Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes: 0 }));
        }
        FuncId::IsDate => {
            let blank = |text: &str| text.trim_matches(' ').is_empty();
            let good = !v[0].is_null()
                && !v[0].as_str().is_some_and(blank)
                && convert::cast(&v[0], args[0].ty, SqlType::DateTime, statement.date_style())
                    .is_ok();
            return Ok(Value::Int(good as i32));
        }
        _ => {}
    }
    if v.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    Ok(match func {
        FuncId::DateAdd(part) => {
            datetime::dateadd(types_part(part), whole(&v[0]), &v[1], args[1].ty)?
        }
        FuncId::DateDiff(part) => datetime::datediff(types_part(part), &v[0], &v[1])?,
        FuncId::DateDiffBig(part) => datetime::datediff_big(types_part(part), &v[0], &v[1])?,
        FuncId::DatePart(part @ (Part::Week | Part::Weekday)) => {
            datetime::datepart_from(types_part(part), &v[0], statement.date_first())?
        }
        FuncId::DatePart(part) => datetime::datepart(types_part(part), &v[0])?,
        FuncId::DateName(part) => {
            datetime::datename(types_part(part), &v[0], statement.language())?
        }
        FuncId::DateFromParts => {
            let (y, m, d) = (whole(&v[0]), whole(&v[1]), whole(&v[2]));
            let first = (1..=9999).contains(&y) && (1..=12).contains(&m);
            if !first || d < 1 || d > days_in_month(y, m) {
                return Err(FunctionError::new(
                    289,
                    16,
                    "Cannot construct data type date, some of the arguments have values which \
                     are not valid.",
                ));
            }
            Value::Date((days_before(y, m) + d - 1) as i32)
        }
        FuncId::EoMonth => {
            let months = v.get(1).map_or(0, whole);
            let y = whole(&datetime::datepart(DatePart::Year, &v[0])?);
            let m = whole(&datetime::datepart(DatePart::Month, &v[0])?);
            let index = y * 12 + (m - 1) + months;
            let (y, m) = (index.div_euclid(12), index.rem_euclid(12) + 1);
            if !(1..=9999).contains(&y) {
                return Err(types::TypeError::DateAddOverflow { ty: "date" }.into());
            }
            Value::Date((days_before(y, m) + days_in_month(y, m) - 1) as i32)
        }
        FuncId::SwitchOffset => {
            let minutes = zone_minutes(&v[1], "switchoffset")?;
            let Value::DateTimeOffset(moment) = &v[0] else {
                stdx::fatal!("the binder made it a datetimeoffset: {:?}", v[0]);
            };
            if moment.utc.shift_minutes(minutes.into()).is_none() {
                return Err(zone_overflow("switchoffset"));
            }
            Value::DateTimeOffset(DateTimeOffset { utc: moment.utc, offset_minutes: minutes })
        }
        FuncId::ToDateTimeOffset => {
            let minutes = zone_minutes(&v[1], "todatetimeoffset")?;
            let Value::DateTime2(local) = &v[0] else {
                stdx::fatal!("the binder made it a datetime2: {:?}", v[0]);
            };
            let utc = local
                .shift_minutes(-i64::from(minutes))
                .ok_or_else(|| zone_overflow("todatetimeoffset"))?;
            Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes: minutes })
        }
        other => stdx::fatal!("{other:?} is no function of time"),
    })
}

/// An offset in minutes, -840 to 840: a number of minutes or a text like `+05:30` (9812).
fn zone_minutes(zone: &Value, function: &str) -> Result<i16, FunctionError> {
    let minutes = match zone {
        Value::Str(text) => zone_of_text(text.as_str()),
        number => number.as_i64(),
    };
    match minutes {
        Some(minutes @ -840..=840) => Ok(minutes as i16),
        _ => Err(FunctionError::new(
            9812,
            16,
            format!("The timezone provided to builtin function {function} is invalid."),
        )),
    }
}

/// `+hh:mm` or `-hh:mm`.
fn zone_of_text(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'+' => (1, text.get(1..)?),
        b'-' => (-1, text.get(1..)?),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |digits: &str| match digits.len() {
        2 if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse::<i64>().ok(),
        _ => None,
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (minutes < 60).then_some(sign * (hours * 60 + minutes))
}

fn zone_overflow(function: &str) -> FunctionError {
    FunctionError::new(
        9813,
        16,
        format!(
            "The timezone provided to builtin function {function} would cause the datetimeoffset \
             to overflow the range of valid date range in either UTC or local time."
        ),
    )
}

fn whole(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

fn is_leap(y: i64) -> bool {
    (y % 4 == 0 && y % 100 != 0) || y % 400 == 0
}

fn days_in_month(y: i64, m: i64) -> i64 {
    match m {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(y) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 0001-01-01 to the first of the month.
fn days_before(y: i64, m: i64) -> i64 {
    let p = y - 1;
    p * 365 + p / 4 - p / 100 + p / 400 + (1..m).map(|m| days_in_month(y, m)).sum::<i64>()
}

fn types_part(part: Part) -> DatePart {
    match part {
        Part::Year => DatePart::Year,
        Part::Quarter => DatePart::Quarter,
        Part::Month => DatePart::Month,
        Part::DayOfYear => DatePart::DayOfYear,
        Part::Day => DatePart::Day,
        Part::Week => DatePart::Week,
        Part::Weekday => DatePart::Weekday,
        Part::Hour => DatePart::Hour,
        Part::Minute => DatePart::Minute,
        Part::Second => DatePart::Second,
        Part::Millisecond => DatePart::Millisecond,
        Part::Microsecond => DatePart::Microsecond,
        Part::Nanosecond => DatePart::Nanosecond,
        Part::TzOffset => DatePart::TzOffset,
        Part::IsoWeek => DatePart::IsoWeek,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_begins_on_day_zero() {
        assert_eq!(days_before(1, 1), 0);
        assert_eq!(days_before(1900, 1), 693_595);
        assert_eq!(days_before(2000, 3) - days_before(2000, 2), 29);
        assert_eq!(days_in_month(1900, 2), 28);
    }
}
