//! Values as text: as CONVERT to varchar gives them, and as a shell shows them.

use crate::datetime::{self, DateTime2, TICKS_PER_MINUTE, TICKS_PER_SECOND};
use crate::languages::Language;
use crate::{Len, SqlType, TypeError, Value, collation};
use runtime::task::breathing;

/// The text of CONVERT(varchar(max), value, style). NULL is `None`. Style 0 is CAST's; a style may say in which
/// language ([`crate::convert::in_language`]).
pub fn to_text(value: &Value, ty: SqlType, style: i32) -> Result<Option<String>, TypeError> {
    let (style, language) = crate::convert::of_language(style);
    let temporal = |d, style, offset| temporal(d, ty, style, offset, Language::of(language));
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Bit(v) => (*v as u8).to_string(),
        Value::TinyInt(v) => v.to_string(),
        Value::SmallInt(v) => v.to_string(),
        Value::Int(v) => v.to_string(),
        Value::BigInt(v) => v.to_string(),
        Value::Decimal(d) => d.to_string(),
        Value::Money(m) => money(*m, style),
        Value::Float(f) => float(*f, style, 6),
        Value::Real(f) => match style {
            // Seven digits are all a real knows.
            0 => float(*f as f64, 0, 6),
            _ => float(*f as f64, style, 7),
        },
        Value::Str(text) => text.to_string(),
        Value::Binary(bytes) => match style {
            0 => breathing(bytes.iter()).map(|b| collation::from_cp1252(*b)).collect(),
            1 => hex(bytes, "0x"),
            2 => hex(bytes, ""),
            _ => return Err(bad_style(style, ty)),
        },
        Value::Guid(g) => guid(g),
        Value::Date(days) => temporal(DateTime2 { days: *days, ticks: 0 }, style, None)?,
        Value::Time(ticks) => {
            temporal(DateTime2 { days: datetime::DAYS_TO_1900, ticks: *ticks }, style, None)?
        }
        Value::DateTime(d) => {
            // Shown to the millisecond: 3, 7, 10 ...
            let ticks = (d.ticks / 300) as u64 * TICKS_PER_SECOND + d.shown_ms() as u64 * 10_000;
            let d = DateTime2 { days: d.days + datetime::DAYS_TO_1900, ticks };
            temporal(d, style, None)?
        }
        Value::DateTime2(d) => temporal(*d, style, None)?,
        // Style 127 tells the instant in UTC.
        Value::DateTimeOffset(d) if style == 127 => temporal(d.utc, style, Some(0))?,
        Value::DateTimeOffset(d) => temporal(d.local(), style, Some(d.offset_minutes))?,
        Value::Variant(v) => {
            return to_text(v.value(), v.ty(), crate::convert::in_language(style, language));
        }
        Value::Node(n) => n.document().write(n.id()),
    }))
}

fn bad_style(style: i32, from: SqlType) -> TypeError {
    TypeError::BadStyle { style, from: from.name(), to: "a character string" }
}

/// Two digits a byte, capital letters, behind `prefix`; [`crate::convert::from_hex`] reads the digits.
pub fn hex(bytes: &[u8], prefix: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(2 + bytes.len() * 2);
    out.push_str(prefix);
    for b in breathing(bytes.iter()) {
        let _ = write!(out, "{b:02X}");
    }
    out
}

fn guid(g: &[u8; 16]) -> String {
    let a = u32::from_le_bytes([g[0], g[1], g[2], g[3]]);
    let b = u16::from_le_bytes([g[4], g[5]]);
    let c = u16::from_le_bytes([g[6], g[7]]);
    format!("{a:08X}-{b:04X}-{c:04X}-{}-{}", hex(&g[8..10], ""), hex(&g[10..], ""))
}

/// Styles 0 and 1 have two decimals, 1 with commas; 2 has four.
fn money(units: i64, style: i32) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let magnitude = units.unsigned_abs();
    if style == 2 || style == 126 {
        return format!("{sign}{}.{:04}", magnitude / 10_000, magnitude % 10_000);
    }
    let cents = (magnitude + 50) / 100;
    let whole = (cents / 100).to_string();
    let whole = if style == 1 { with_commas(&whole) } else { whole };
    format!("{sign}{whole}.{:02}", cents % 100)
}

fn with_commas(digits: &str) -> String {
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Style 0: at most six digits, scientific where that is shorter; 1: eight digits, 2: sixteen,
/// 3: seventeen, always scientific. The exponent has three digits.
fn float(f: f64, style: i32, general_digits: usize) -> String {
    let f = f + 0.0;
    match style {
        1 => scientific(f, 8),
        2 => scientific(f, 16),
        3 => scientific(f, 17),
        _ => {
            if f == 0.0 {
                return "0".into();
            }
            let rounded = format!("{f:.*e}", general_digits - 1);
            let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
            let exponent: i32 = exponent.parse().unwrap_or(0);
            if exponent < -4 || exponent >= general_digits as i32 {
                let mantissa = trim_fraction(mantissa);
                return format!("{mantissa}e{}", exponent_text(exponent));
            }
            let decimals = (general_digits as i32 - 1 - exponent).max(0) as usize;
            trim_fraction(&format!("{f:.decimals$}")).to_owned()
        }
    }
}

fn scientific(f: f64, digits: usize) -> String {
    let text = format!("{f:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{mantissa}e{}", exponent_text(exponent.parse().unwrap_or(0)))
}

fn exponent_text(exponent: i32) -> String {
    format!("{}{:03}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn trim_fraction(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Parts of an instant, ready for formatting.
struct Clock {
    year: i32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    /// 100 ns within the second.
    fraction: u32,
}

impl Clock {
    fn new(d: DateTime2) -> Clock {
        let (year, month, day) = datetime::civil_from_days(d.days);
        let minutes = d.ticks / TICKS_PER_MINUTE;
        let rest = d.ticks % TICKS_PER_MINUTE;
        Clock {
            year,
            month,
            day,
            hour: (minutes / 60) as u32,
            minute: (minutes % 60) as u32,
            second: (rest / TICKS_PER_SECOND) as u32,
            fraction: (rest % TICKS_PER_SECOND) as u32,
        }
    }
    /// `.123` with so many digits; empty for none.
    fn fraction_text(&self, digits: u8, lead: char) -> String {
        if digits == 0 {
            return String::new();
        }
        let value = self.fraction / 10u32.pow(7 - digits as u32);
        format!("{lead}{value:0width$}", width = digits as usize)
    }
    fn hour12(&self) -> u32 {
        (self.hour + 11) % 12 + 1
    }
    fn meridiem(&self) -> &'static str {
        if self.hour < 12 { "AM" } else { "PM" }
    }
}

/// The styles of dates and times. What a type does not have is left out: a date has no time part,
/// a time no date part.
fn temporal(
    d: DateTime2,
    ty: SqlType,
    style: i32,
    offset: Option<i16>,
    language: &Language,
) -> Result<String, TypeError> {
    let c = Clock::new(d);
    let month_name = language.short_month(c.month);
    let (has_date, has_time) = match ty {
        SqlType::Date => (true, false),
        SqlType::Time(_) => (false, true),
        _ => (true, true),
    };
    let classic = matches!(ty, SqlType::DateTime | SqlType::SmallDateTime);
    // CAST of the newer types is ODBC's form.
    let style = if style == 0 && !classic { 121 } else { style };
    let digits = match ty {
        SqlType::Time(p) | SqlType::DateTime2(p) | SqlType::DateTimeOffset(p) => p,
        _ => 3,
    };
    let zone = offset.map(|m| format!(" {}", datetime::offset_text(m))).unwrap_or_default();
    // Two-digit years below 100, four above.
    let century = style >= 100;
    let yy = if century { format!("{:04}", c.year) } else { format!("{:02}", c.year % 100) };
    let (mm, dd) = (c.month, c.day);
    let date_only = |text: String| {
        if has_date {
            return Ok(text);
        }
        Err(TypeError::ConvertError { from: ty.name(), to: "varchar" })
    };
    let join = |date: String, time: String| match (has_date, has_time) {
        (true, true) => format!("{date} {time}"),
        (true, false) => date,
        _ => time.trim_start().to_owned(),
    };
    let hms = format!("{:02}:{:02}:{:02}", c.hour, c.minute, c.second);
    let time_only = |text: String| {
        if has_time {
            return Ok(text);
        }
        Err(TypeError::ConvertError { from: ty.name(), to: "varchar" })
    };
    match style {
        0 | 100 => {
            let date = format!("{} {:>2} {:04}", month_name, dd, c.year);
            let time = format!("{:>2}:{:02}{}", c.hour12(), c.minute, c.meridiem());
            Ok(join(date, time) + &zone)
        }
        9 | 109 => {
            let date = format!("{} {:>2} {:04}", month_name, dd, c.year);
            let fraction = c.fraction_text(digits, if classic { ':' } else { '.' });
            let time = format!(
                "{:>2}:{:02}:{:02}{fraction}{}",
                c.hour12(),
                c.minute,
                c.second,
                c.meridiem()
            );
            Ok(join(date, time) + &zone)
        }
        1 | 101 => date_only(format!("{mm:02}/{dd:02}/{yy}")),
        2 | 102 => date_only(format!("{yy}.{mm:02}.{dd:02}")),
        3 | 103 => date_only(format!("{dd:02}/{mm:02}/{yy}")),
        4 | 104 => date_only(format!("{dd:02}.{mm:02}.{yy}")),
        5 | 105 => date_only(format!("{dd:02}-{mm:02}-{yy}")),
        6 | 106 => date_only(format!("{dd:02} {} {yy}", month_name)),
        7 | 107 => date_only(format!("{} {dd:02}, {yy}", month_name)),
        8 | 24 | 108 => time_only(hms),
        10 | 110 => date_only(format!("{mm:02}-{dd:02}-{yy}")),
        11 | 111 => date_only(format!("{yy}/{mm:02}/{dd:02}")),
        12 | 112 => date_only(format!("{yy}{mm:02}{dd:02}")),
        130 | 131 => {
            let (year, month, day) = hijri(d.days).ok_or_else(|| bad_style(style, ty))?;
            let date = match style {
                130 => format!("{day:>2} {} {year:04}", HIJRI_MONTHS[month as usize - 1]),
                _ => format!("{day:>2}/{month:02}/{year:04}"),
            };
            let fraction = c.fraction_text(digits, if classic { ':' } else { '.' });
            let (hour, minute, second) = (c.hour12(), c.minute, c.second);
            let time = format!("{hour:>2}:{minute:02}:{second:02}{fraction}{}", c.meridiem());
            Ok(join(date, time) + &zone)
        }
        13 | 113 => {
            let date = format!("{dd:02} {} {:04}", month_name, c.year);
            let fraction = c.fraction_text(digits, if classic { ':' } else { '.' });
            Ok(join(date, hms + &fraction) + &zone)
        }
        // A date has no such style, where of the others it has no time.
        14 | 114 if !has_time => Err(bad_style(style, ty)),
        14 | 114 => {
            let fraction = c.fraction_text(digits, if classic { ':' } else { '.' });
            time_only(hms + &fraction)
        }
        20 | 120 => Ok(join(format!("{:04}-{mm:02}-{dd:02}", c.year), hms) + &zone),
        21 | 25 | 121 => {
            let fraction = c.fraction_text(digits, '.');
            Ok(join(format!("{:04}-{mm:02}-{dd:02}", c.year), hms + &fraction) + &zone)
        }
        22 => {
            let date = format!("{mm:02}/{dd:02}/{yy}");
            let time =
                format!("{:>2}:{:02}:{:02} {}", c.hour12(), c.minute, c.second, c.meridiem());
            Ok(join(date, time))
        }
        23 => date_only(format!("{:04}-{mm:02}-{dd:02}", c.year)),
        126 | 127 => {
            let shown = if classic && c.fraction == 0 { 0 } else { digits };
            let fraction = c.fraction_text(shown, '.');
            let date = format!("{:04}-{mm:02}-{dd:02}", c.year);
            let text = match (has_date, has_time) {
                (true, true) => format!("{date}T{hms}{fraction}"),
                (true, false) => date,
                _ => hms + &fraction,
            };
            Ok(match offset {
                Some(_) if style == 127 => text + "Z",
                Some(m) => text + &datetime::offset_text(m),
                None => text,
            })
        }
        _ => Err(bad_style(style, ty)),
    }
}

/// The months of the Hijri calendar.
const HIJRI_MONTHS: [&str; 12] = [
    "محرم",
    "صفر",
    "ربيع الاول",
    "ربيع الثاني",
    "جمادى الاولى",
    "جمادى الثانية",
    "رجب",
    "شعبان",
    "رمضان",
    "شوال",
    "ذو القعدة",
    "ذو الحجة",
];

/// Year, month and day of the Hijri calendar by the Kuwaiti algorithm: 30 years are 10,631 days. `None` before it began.
fn hijri(days: i32) -> Option<(i32, u32, u32)> {
    /// Days from 0001-01-01 to the day before the first of the calendar.
    const EPOCH: i64 = 226_658;
    const CYCLE_DAYS: i64 = 10_631;
    let since = i64::from(days) - EPOCH;
    let (cycle, rest) = (since.div_euclid(CYCLE_DAYS), since.rem_euclid(CYCLE_DAYS));
    // Years of 10,631 / 30 days that begin 0.1335 days late; months of 29.5001.
    let years = (rest * 300_000 - 40_050).div_euclid(CYCLE_DAYS * 10_000);
    let rest = rest - (years * CYCLE_DAYS * 10_000 + 40_050).div_euclid(300_000);
    let month = ((rest * 10_000 + 285_001) / 295_000).min(12);
    let day = rest - (295_001 * month - 290_000).div_euclid(10_000);
    let year = cycle * 30 + years;
    (since > 0 && year > 0).then_some((year as i32, month as u32, day as u32))
}

/// As sqlcmd prints it: datetime with milliseconds, binary as 0x.., NULL as `NULL`, float with as
/// many digits as tell it from its neighbours, trailing blanks of CHAR kept.
pub fn shell(value: &Value, ty: SqlType) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Variant(v) => shell(v.value(), v.ty()),
        Value::Float(f) => shortest(*f, format!("{:?}", f + 0.0), format!("{:e}", f + 0.0)),
        Value::Real(f) => shortest(*f as f64, format!("{:?}", f + 0.0), format!("{:e}", f + 0.0)),
        Value::Money(m) => money(*m, 2),
        Value::Binary(bytes) => hex(bytes, "0x"),
        Value::DateTime(_) if ty == SqlType::SmallDateTime => {
            text_or_debug(value, SqlType::SmallDateTime, 120)
        }
        Value::DateTime(_) => text_or_debug(value, SqlType::DateTime, 121),
        Value::DateTime2(_) | Value::DateTimeOffset(_) | Value::Date(_) | Value::Time(_) => {
            text_or_debug(value, ty, 121)
        }
        _ => text_or_debug(value, ty, 0),
    }
}

fn text_or_debug(value: &Value, ty: SqlType, style: i32) -> String {
    // A type that does not belong to the value has no style; its structure is shown then.
    match to_text(value, ty, style) {
        Ok(Some(text)) => text,
        _ => format!("{value:?}"),
    }
}

/// Plain between 1e-5 and 1e15, else scientific.
fn shortest(f: f64, plain: String, scientific: String) -> String {
    let magnitude = f.abs();
    if magnitude == 0.0 {
        return "0".into();
    }
    if !(1e-5..1e15).contains(&magnitude) {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}E{sign}{:02}", exponent.abs());
    }
    plain.strip_suffix(".0").map(str::to_owned).unwrap_or(plain)
}

/// Width of the widest value of a type in a shell, in characters; `None` for (max) types.
pub fn shell_width(ty: SqlType) -> Option<usize> {
    Some(match ty {
        SqlType::Bit => 1,
        SqlType::TinyInt => 3,
        SqlType::SmallInt => 6,
        SqlType::Int => 11,
        SqlType::BigInt => 20,
        SqlType::Decimal { precision, .. } => precision as usize + 2,
        SqlType::Money => 21,
        SqlType::SmallMoney => 12,
        SqlType::Float => 24,
        SqlType::Real => 14,
        SqlType::Char(n) | SqlType::NChar(n) => n as usize,
        SqlType::VarChar(Len::N(n)) | SqlType::NVarChar(Len::N(n)) => n as usize,
        SqlType::Binary(n) | SqlType::VarBinary(Len::N(n)) => 2 + 2 * n as usize,
        SqlType::Date => 10,
        SqlType::Time(0) => 8,
        SqlType::Time(p) => 9 + p as usize,
        SqlType::DateTime => 23,
        SqlType::SmallDateTime => 19,
        SqlType::DateTime2(0) => 19,
        SqlType::DateTime2(p) => 20 + p as usize,
        SqlType::DateTimeOffset(0) => 26,
        SqlType::DateTimeOffset(p) => 27 + p as usize,
        SqlType::UniqueIdentifier => 36,
        SqlType::Variant => 40,
        SqlType::VarChar(Len::Max)
        | SqlType::NVarChar(Len::Max)
        | SqlType::VarBinary(Len::Max)
        | SqlType::Xml
        | SqlType::TypedXml { .. } => return None,
        SqlType::Clr(ty) => 2 + 2 * usize::from(ty.bytes_max()?),
    })
}

/// Numbers stand right, text left, as in sqlcmd.
pub fn shell_right_aligned(ty: SqlType) -> bool {
    ty.is_numeric() && ty != SqlType::Bit
}
