//! The calendar: DATETIME, DATETIME2, DATE, TIME, DATETIMEOFFSET and the DATEADD family.
//!
//! Proleptic Gregorian, no leap seconds, no time zones but offsets.

use crate::{SqlType, TypeError, Value};

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
        unimplemented!("{name}")
    }
    pub fn name(self) -> &'static str {
        unimplemented!()
    }
}

/// DATEADD: the result has the type of `value` (datetime when that is text). 517 beyond the
/// calendar.
pub fn dateadd(part: DatePart, n: i64, value: &Value, ty: SqlType) -> Result<Value, TypeError> {
    unimplemented!("{part:?} {n} {value:?} {ty}")
}

/// DATEDIFF as int (535 when too large); counts boundaries crossed. Text is read as datetime2.
pub fn datediff(part: DatePart, a: &Value, b: &Value) -> Result<Value, TypeError> {
    unimplemented!("{part:?} {a:?} {b:?}")
}

/// DATEDIFF_BIG as bigint.
pub fn datediff_big(part: DatePart, a: &Value, b: &Value) -> Result<Value, TypeError> {
    unimplemented!("{part:?} {a:?} {b:?}")
}

/// DATEPART as int. DATEFIRST is 7 (us_english).
pub fn datepart(part: DatePart, value: &Value) -> Result<Value, TypeError> {
    unimplemented!("{part:?} {value:?}")
}

/// DATENAME as text (us_english).
pub fn datename(part: DatePart, value: &Value) -> Result<Value, TypeError> {
    unimplemented!("{part:?} {value:?}")
}

/// GETDATE from UTC wall-clock nanoseconds since 1970; rounded to 1/300 s.
#[inline]
pub fn datetime_from_unix_ns(unix_ns: u64) -> DateTime {
    unimplemented!("{unix_ns}")
}

/// SYSDATETIME from UTC wall-clock nanoseconds since 1970.
#[inline]
pub fn datetime2_from_unix_ns(unix_ns: u64) -> DateTime2 {
    unimplemented!("{unix_ns}")
}
