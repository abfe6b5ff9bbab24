//! The calendar: DATETIME, DATETIME2, DATE, TIME, DATETIMEOFFSET and the DATEADD family.
//!
//! Proleptic Gregorian, no leap seconds, no time zones but offsets. Two day counts are in use, as
//! in SQL Server's own storage: DATETIME counts from 1900-01-01, all others from 0001-01-01.

use crate::languages::Language;
use crate::{SqlType, TypeError, Value, convert};

/// Days from 0001-01-01 to 1900-01-01.
pub const DAYS_TO_1900: i32 = 693_595;
/// 9999-12-31 as days since 0001-01-01.
pub const DAYS_MAX: i32 = 3_652_058;
/// 1753-01-01 as days since 1900-01-01: the first day of DATETIME.
pub const DATETIME_DAYS_MIN: i32 = -53_690;
/// 100 ns ticks in a day, a minute, a second.
pub const TICKS_PER_DAY: u64 = 864_000_000_000;
pub(crate) const TICKS_PER_MINUTE: u64 = 600_000_000;
pub(crate) const TICKS_PER_SECOND: u64 = 10_000_000;
const DAYS_1970: i32 = 719_162;

/// DATETIME and SMALLDATETIME, as stored: days since 1900-01-01 and 1/300 s since midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    pub days: i32,
    /// 0 .. 25_920_000.
    pub ticks: u32,
}

/// DATETIME2: days since 0001-01-01 and 100 ns since midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime2 {
    pub days: i32,
    pub ticks: u64,
}

/// DATETIMEOFFSET: the UTC instant, and the offset to show it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DateTimeOffset {
    pub utc: DateTime2,
    /// -840 ..= 840.
    pub offset_minutes: i16,
}

impl DateTime {
    pub const TICKS_PER_DAY: u32 = 25_920_000;
    pub const TICKS_PER_MINUTE: u32 = 18_000;
    pub const TICKS_PER_SECOND: u32 = 300;

    /// Ticks of 1/300 s since 1900-01-01.
    pub fn total_ticks(self) -> i64 {
        self.days as i64 * DateTime::TICKS_PER_DAY as i64 + self.ticks as i64
    }

    /// `None` outside 1753 to 9999.
    pub fn from_total_ticks(ticks: i64) -> Option<DateTime> {
        let day = DateTime::TICKS_PER_DAY as i64;
        let days = i32::try_from(ticks.div_euclid(day)).ok()?;
        let inside = (DATETIME_DAYS_MIN..=DAYS_MAX - DAYS_TO_1900).contains(&days);
        inside.then_some(DateTime { days, ticks: ticks.rem_euclid(day) as u32 })
    }

    /// The same instant in 100 ns, thirds rounded.
    pub fn to_datetime2(self) -> DateTime2 {
        let ticks = (self.ticks as u64 * 100_000 + 1) / 3;
        DateTime2 { days: self.days + DAYS_TO_1900, ticks }
    }

    /// Milliseconds within the second as they are shown: 0, 3, 7, 10, 13, 17, ...
    pub(crate) fn shown_ms(self) -> u32 {
        ((self.ticks % 300) * 10 + 1) / 3
    }

    /// Rounded to the nearest 1/300 s; `None` outside 1753 to 9999.
    pub fn from_datetime2(d: DateTime2) -> Option<DateTime> {
        let ticks = (d.ticks * 3 + 50_000) / 100_000;
        let days = (d.days - DAYS_TO_1900) as i64;
        DateTime::from_total_ticks(days * DateTime::TICKS_PER_DAY as i64 + ticks as i64)
    }

    /// Rounded to the minute, 30 s up (29.998 s still down); `None` outside 1900-01-01 to
    /// 2079-06-06.
    pub fn to_smalldatetime(self) -> Option<DateTime> {
        let minute = DateTime::TICKS_PER_MINUTE as i64;
        // 29.999 s rounds up to 30 s as text does; as ticks 29.998 is 8999.4 and stays.
        let total = (self.total_ticks() + minute / 2).div_euclid(minute) * minute;
        let d = DateTime::from_total_ticks(total)?;
        (0..=65_535).contains(&d.days).then_some(d)
    }
}

impl DateTime2 {
    fn total(self) -> i128 {
        self.days as i128 * TICKS_PER_DAY as i128 + self.ticks as i128
    }

    /// `None` outside years 1 to 9999.
    pub(crate) fn from_total(ticks: i128) -> Option<DateTime2> {
        // All that it may be fits.
        let ticks = i64::try_from(ticks).ok()?;
        let days = i32::try_from(ticks.div_euclid(TICKS_PER_DAY as i64)).ok()?;
        let rest = ticks.rem_euclid(TICKS_PER_DAY as i64) as u64;
        (0..=DAYS_MAX).contains(&days).then_some(DateTime2 { days, ticks: rest })
    }

    /// Rounded to `digits` of a second; `None` when that leaves the year 9999.
    pub(crate) fn round(self, digits: u8) -> Option<DateTime2> {
        let unit = 10u64.pow(7 - digits as u32);
        let ticks = (self.ticks + unit / 2) / unit * unit;
        DateTime2::from_total(self.days as i128 * TICKS_PER_DAY as i128 + ticks as i128)
    }

    /// Minutes later (or earlier); `None` outside the years 1 to 9999.
    pub fn shift_minutes(self, minutes: i64) -> Option<DateTime2> {
        DateTime2::from_total(self.total() + minutes as i128 * TICKS_PER_MINUTE as i128)
    }
}

impl DateTimeOffset {
    /// What the clock on the wall shows there.
    pub fn local(self) -> DateTime2 {
        self.utc.shift_minutes(self.offset_minutes as i64).unwrap_or(self.utc)
    }
}

/// Days since 0001-01-01 of a date; the date must be a real one (see [`is_date`]).
pub fn days_from_civil(year: i32, month: u32, day: u32) -> i32 {
    // Years that begin in March put the leap day last; 400-year eras repeat.
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * ((month as i32 + 9) % 12) + 2) / 5 + day as i32 - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 306
}

/// (year, month, day) of days since 0001-01-01.
pub fn civil_from_days(days: i32) -> (i32, u32, u32) {
    let z = days + 306;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = (doy - (153 * mp + 2) / 5 + 1) as u32;
    let month = if mp < 10 { mp + 3 } else { mp - 9 } as u32;
    (yoe + era * 400 + (month <= 2) as i32, month, day)
}

pub fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A date of years 1 to 9999?
pub fn is_date(year: i32, month: u32, day: u32) -> bool {
    (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
}

/// First argument of DATEADD, DATEDIFF, DATEPART.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DatePart {
    Year,
    Quarter,
    Month,
    DayOfYear,
    Day,
    Week,
    IsoWeek,
    Weekday,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    TzOffset,
}

impl DatePart {
    /// By name or abbreviation, any case: `yy`, `dd`, `millisecond`.
    pub fn parse(name: &str) -> Option<DatePart> {
        Some(match name.to_ascii_lowercase().as_str() {
            "year" | "yy" | "yyyy" => DatePart::Year,
            "quarter" | "qq" | "q" => DatePart::Quarter,
            "month" | "mm" | "m" => DatePart::Month,
            "dayofyear" | "dy" | "y" => DatePart::DayOfYear,
            "day" | "dd" | "d" => DatePart::Day,
            "week" | "wk" | "ww" => DatePart::Week,
            "iso_week" | "isowk" | "isoww" => DatePart::IsoWeek,
            "weekday" | "dw" | "w" => DatePart::Weekday,
            "hour" | "hh" => DatePart::Hour,
            "minute" | "mi" | "n" => DatePart::Minute,
            "second" | "ss" | "s" => DatePart::Second,
            "millisecond" | "ms" => DatePart::Millisecond,
            "microsecond" | "mcs" => DatePart::Microsecond,
            "nanosecond" | "ns" => DatePart::Nanosecond,
            "tzoffset" | "tz" => DatePart::TzOffset,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            DatePart::Year => "year",
            DatePart::Quarter => "quarter",
            DatePart::Month => "month",
            DatePart::DayOfYear => "dayofyear",
            DatePart::Day => "day",
            DatePart::Week => "week",
            DatePart::IsoWeek => "iso_week",
            DatePart::Weekday => "weekday",
            DatePart::Hour => "hour",
            DatePart::Minute => "minute",
            DatePart::Second => "second",
            DatePart::Millisecond => "millisecond",
            DatePart::Microsecond => "microsecond",
            DatePart::Nanosecond => "nanosecond",
            DatePart::TzOffset => "tzoffset",
        }
    }

    /// Months of a calendar step, for those that are.
    fn months(self) -> Option<i64> {
        match self {
            DatePart::Year => Some(12),
            DatePart::Quarter => Some(3),
            DatePart::Month => Some(1),
            _ => None,
        }
    }

    /// Nanoseconds of a fixed step, for those that are.
    fn step_ns(self) -> Option<i64> {
        Some(match self {
            DatePart::Week => 7 * 86_400_000_000_000,
            DatePart::Day | DatePart::DayOfYear | DatePart::Weekday => 86_400_000_000_000,
            DatePart::Hour => 3_600_000_000_000,
            DatePart::Minute => 60_000_000_000,
            DatePart::Second => 1_000_000_000,
            DatePart::Millisecond => 1_000_000,
            DatePart::Microsecond => 1_000,
            DatePart::Nanosecond => 1,
            _ => return None,
        })
    }

    fn is_date_part(self) -> bool {
        self.months().is_some()
            || matches!(
                self,
                DatePart::DayOfYear
                    | DatePart::Day
                    | DatePart::Week
                    | DatePart::IsoWeek
                    | DatePart::Weekday
            )
    }
}

/// Text is read as a date first; other kinds pass.
fn dated(value: &Value, as_type: SqlType) -> Result<Value, TypeError> {
    match value {
        Value::Str(_) => convert::cast(value, SqlType::VarChar(crate::Len::Max), as_type, 0),
        Value::Bit(_)
        | Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Decimal(_)
        | Value::Money(_)
        | Value::Float(_)
        | Value::Real(_) => convert::cast(value, value.natural_type(), SqlType::DateTime, 0),
        other => Ok(other.clone()),
    }
}

/// DATEADD: the result has the type of `value` (datetime when that is text or a number). 517
/// beyond the calendar, 9810 for parts the type does not have.
pub fn dateadd(part: DatePart, n: i64, value: &Value, ty: SqlType) -> Result<Value, TypeError> {
    let ty = if ty.is_temporal() { ty } else { SqlType::DateTime };
    let overflow = || TypeError::DateAddOverflow { ty: ty.name() };
    let bad_part =
        || TypeError::BadDatePart { part: part.name(), function: "dateadd", ty: ty.name() };
    let value = dated(value, ty)?;
    let add_to = |d: DateTime2| -> Result<DateTime2, TypeError> {
        if let Some(months) = part.months() {
            let days = add_months(d.days, n, months).ok_or_else(overflow)?;
            return Ok(DateTime2 { days, ..d });
        }
        let step = part.step_ns().ok_or_else(bad_part)?;
        DateTime2::from_total(d.total() + steps_in_ticks(n, step)).ok_or_else(overflow)
    };
    Ok(match value {
        Value::Null => Value::Null,
        Value::Date(days) => {
            if !part.is_date_part() {
                return Err(bad_part());
            }
            Value::Date(add_to(DateTime2 { days, ticks: 0 })?.days)
        }
        Value::Time(ticks) => {
            if part.is_date_part() {
                return Err(bad_part());
            }
            // A time of day goes round the clock.
            let step = part.step_ns().ok_or_else(bad_part)?;
            let add = steps_in_ticks(n, step);
            Value::Time((ticks as i128 + add).rem_euclid(TICKS_PER_DAY as i128) as u64)
        }
        Value::DateTime(d) => {
            let sum = match part {
                DatePart::Microsecond | DatePart::Nanosecond => return Err(bad_part()),
                // To whole ticks of 1/300 s, half away from zero: one millisecond adds nothing.
                DatePart::Millisecond => {
                    let add = (n as i128 * 3 + 5 * n.signum() as i128) / 10;
                    i64::try_from(d.total_ticks() as i128 + add)
                        .ok()
                        .and_then(DateTime::from_total_ticks)
                }
                _ => match part.months() {
                    Some(months) => add_months(d.days + DAYS_TO_1900, n, months)
                        .map(|days| DateTime { days: days - DAYS_TO_1900, ..d })
                        .filter(|d| d.days >= DATETIME_DAYS_MIN),
                    None => {
                        let step = part.step_ns().ok_or_else(bad_part)? / 1_000_000_000 * 300;
                        i64::try_from(d.total_ticks() as i128 + n as i128 * step as i128)
                            .ok()
                            .and_then(DateTime::from_total_ticks)
                    }
                },
            };
            let sum = sum.ok_or_else(overflow)?;
            Value::DateTime(match ty {
                SqlType::SmallDateTime => sum.to_smalldatetime().ok_or_else(overflow)?,
                _ => sum,
            })
        }
        Value::DateTime2(d) => {
            let digits = if let SqlType::DateTime2(p) = ty { p } else { 7 };
            Value::DateTime2(add_to(d)?.round(digits).ok_or_else(overflow)?)
        }
        Value::DateTimeOffset(d) => {
            let local = add_to(d.local())?;
            let utc = local.shift_minutes(-(d.offset_minutes as i64)).ok_or_else(overflow)?;
            Value::DateTimeOffset(DateTimeOffset { utc, ..d })
        }
        other => {
            return Err(TypeError::TypeClash {
                from: other.natural_type().message_name().into(),
                to: "datetime".into(),
            });
        }
    })
}

/// Adds calendar months; the day is held to the month's last.
fn add_months(days: i32, n: i64, months: i64) -> Option<i32> {
    let (year, month, day) = civil_from_days(days);
    let total = (year as i64 * 12 + month as i64 - 1).checked_add(n.checked_mul(months)?)?;
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as u32 + 1);
    if !(1..=9999).contains(&year) {
        return None;
    }
    let year = year as i32;
    Some(days_from_civil(year, month, day.min(days_in_month(year, month))))
}

/// DATEDIFF as int (535 when too large); counts boundaries crossed. Text is read as datetime2.
pub fn datediff(part: DatePart, a: &Value, b: &Value) -> Result<Value, TypeError> {
    match difference(part, a, b, "datediff")? {
        None => Ok(Value::Null),
        Some(n) => i32::try_from(n)
            .map(Value::Int)
            .map_err(|_| TypeError::DateDiffOverflow { function: "datediff" }),
    }
}

/// DATEDIFF_BIG as bigint.
pub fn datediff_big(part: DatePart, a: &Value, b: &Value) -> Result<Value, TypeError> {
    match difference(part, a, b, "datediff_big")? {
        None => Ok(Value::Null),
        Some(n) => i64::try_from(n)
            .map(Value::BigInt)
            .map_err(|_| TypeError::DateDiffOverflow { function: "datediff_big" }),
    }
}

/// So many steps of so many nanoseconds, rounded to the tick of 100.
fn steps_in_ticks(n: i64, step_ns: i64) -> i128 {
    if step_ns % 100 == 0 {
        return n as i128 * (step_ns / 100) as i128;
    }
    let ns = n as i128 * step_ns as i128;
    (ns.abs() + 50) / 100 * ns.signum()
}

fn difference(
    part: DatePart,
    a: &Value,
    b: &Value,
    function: &'static str,
) -> Result<Option<i128>, TypeError> {
    if a.is_null() || b.is_null() {
        return Ok(None);
    }
    let (a, b) = (dated(a, SqlType::DateTime2(7))?, dated(b, SqlType::DateTime2(7))?);
    // Of moments with an offset the moments count, not what the clock showed.
    let moment = |value: &Value| match value {
        Value::DateTimeOffset(d) => Ok(d.utc),
        other => shown(other),
    };
    let (x, y) = (moment(&a)?, moment(&b)?);
    let month = |d: DateTime2| {
        let (year, month, _) = civil_from_days(d.days);
        year as i128 * 12 + month as i128 - 1
    };
    let count = |d: DateTime2| -> Option<i128> {
        Some(match part {
            DatePart::Year | DatePart::Quarter | DatePart::Month => {
                month(d).div_euclid(part.months()? as i128)
            }
            // Weeks begin on Sunday whatever DATEFIRST says; 0001-01-01 was a Monday.
            DatePart::Week => (d.days as i128 + 1).div_euclid(7),
            DatePart::IsoWeek | DatePart::TzOffset => return None,
            _ => match part.step_ns()? {
                // Whole ticks, of which there are fewer than 2^63.
                step if step % 100 == 0 => (d.total() as i64).div_euclid(step / 100) as i128,
                step => (d.total() * 100).div_euclid(step as i128),
            },
        })
    };
    match (count(x), count(y)) {
        (Some(x), Some(y)) => Ok(Some(y - x)),
        _ => {
            let ty = a.natural_type().name();
            Err(TypeError::BadDatePart { part: part.name(), function, ty })
        }
    }
}

/// What a value shows on the wall, DATETIME with its rounded milliseconds.
fn shown(value: &Value) -> Result<DateTime2, TypeError> {
    Ok(match value {
        Value::Date(days) => DateTime2 { days: *days, ticks: 0 },
        Value::Time(ticks) => DateTime2 { days: DAYS_TO_1900, ticks: *ticks },
        Value::DateTime(d) => {
            let seconds = (d.ticks / 300) as u64;
            let ticks = seconds * TICKS_PER_SECOND + d.shown_ms() as u64 * 10_000;
            DateTime2 { days: d.days + DAYS_TO_1900, ticks }
        }
        Value::DateTime2(d) => *d,
        Value::DateTimeOffset(d) => d.local(),
        other => {
            return Err(TypeError::TypeClash {
                from: other.natural_type().message_name().into(),
                to: "datetime".into(),
            });
        }
    })
}

/// 0 is Sunday.
pub(crate) fn weekday(days: i32) -> i32 {
    (days + 1).rem_euclid(7)
}

/// DATEPART as int with DATEFIRST 7 (us_english).
pub fn datepart(part: DatePart, value: &Value) -> Result<Value, TypeError> {
    datepart_from(part, value, 7)
}

/// DATEPART as int; weeks begin on day `first` (1 Monday to 7 Sunday: SET DATEFIRST).
pub fn datepart_from(part: DatePart, value: &Value, first: u8) -> Result<Value, TypeError> {
    let weekday = |days: i32| (weekday(days) - first as i32).rem_euclid(7);
    if value.is_null() {
        return Ok(Value::Null);
    }
    let value = dated(value, SqlType::DateTime2(7))?;
    let bad_part = || TypeError::BadDatePart {
        part: part.name(),
        function: "datepart",
        ty: value.natural_type().name(),
    };
    match &value {
        Value::Date(_) if !part.is_date_part() => return Err(bad_part()),
        Value::Time(_) if part.is_date_part() => return Err(bad_part()),
        _ => {}
    }
    let d = shown(&value)?;
    let (year, month, day) = civil_from_days(d.days);
    let new_year = days_from_civil(year, 1, 1);
    let seconds = d.ticks / TICKS_PER_SECOND;
    let fraction = d.ticks % TICKS_PER_SECOND;
    Ok(Value::Int(match part {
        DatePart::Year => year,
        DatePart::Quarter => (month as i32 - 1) / 3 + 1,
        DatePart::Month => month as i32,
        DatePart::DayOfYear => d.days - new_year + 1,
        DatePart::Day => day as i32,
        DatePart::Week => (d.days - new_year + weekday(new_year)) / 7 + 1,
        DatePart::IsoWeek => iso_week(d.days),
        DatePart::Weekday => weekday(d.days) + 1,
        DatePart::Hour => (seconds / 3600) as i32,
        DatePart::Minute => (seconds / 60 % 60) as i32,
        DatePart::Second => (seconds % 60) as i32,
        DatePart::Millisecond => (fraction / 10_000) as i32,
        DatePart::Microsecond => (fraction / 10) as i32,
        DatePart::Nanosecond => (fraction * 100) as i32,
        DatePart::TzOffset => match &value {
            Value::DateTimeOffset(d) => d.offset_minutes as i32,
            Value::DateTime2(_) => 0,
            _ => return Err(bad_part()),
        },
    }))
}

/// The week belongs to the year that holds its Thursday.
fn iso_week(days: i32) -> i32 {
    let thursday = days - days.rem_euclid(7) + 3;
    let (year, _, _) = civil_from_days(thursday);
    (thursday - days_from_civil(year, 1, 1)) / 7 + 1
}

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(crate) const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// DATENAME, in the words of a language.
pub fn datename(part: DatePart, value: &Value, language: u8) -> Result<Value, TypeError> {
    let number = match datepart(part, value)? {
        Value::Int(n) => n,
        _ => return Ok(Value::Null),
    };
    Ok(match part {
        DatePart::Month => Value::str(Language::of(language).month(number as u32)),
        DatePart::Weekday => Value::str(Language::of(language).weekday(number as u32)),
        DatePart::TzOffset => Value::str(&offset_text(number as i16)),
        _ => Value::str(&number.to_string()),
    })
}

/// `+05:30`
pub(crate) fn offset_text(minutes: i16) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let m = minutes.unsigned_abs();
    format!("{sign}{:02}:{:02}", m / 60, m % 60)
}

/// GETDATE from UTC wall-clock nanoseconds since 1970; rounded to 1/300 s.
#[inline]
pub fn datetime_from_unix_ns(unix_ns: u64) -> DateTime {
    const DAY_NS: u64 = 86_400_000_000_000;
    let days = (unix_ns / DAY_NS) as i32 + (DAYS_1970 - DAYS_TO_1900);
    // ns * 300 / 10^9 = ns * 3 / 10^7, to the nearest.
    let ticks = ((unix_ns % DAY_NS) * 3 + 5_000_000) / 10_000_000;
    if ticks == DateTime::TICKS_PER_DAY as u64 {
        DateTime { days: days + 1, ticks: 0 }
    } else {
        DateTime { days, ticks: ticks as u32 }
    }
}

/// SYSDATETIME from UTC wall-clock nanoseconds since 1970.
#[inline]
pub fn datetime2_from_unix_ns(unix_ns: u64) -> DateTime2 {
    const DAY_NS: u64 = 86_400_000_000_000;
    let days = (unix_ns / DAY_NS) as i32 + DAYS_1970;
    DateTime2 { days, ticks: unix_ns % DAY_NS / 100 }
}
