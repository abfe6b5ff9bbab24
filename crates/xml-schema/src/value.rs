//! Values of simple types: read from their texts, compared, and written in the form in which SQL Server keeps them.
//!
//! Numbers have ten digits behind the point and 28 before it, as SQL Server's xs:decimal; times go to 100 ns; years of
//! dates to 9999. Sources: XML Schema Part 2; SQL documentation, "Values for xsd:simpleType declarations", "Canonical
//! forms and pattern restrictions".

use crate::names::QName;
use std::cmp::Ordering;
use std::fmt::Write;
use xml::binary::{from_base64, from_hex};

/// Primitive types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    String,
    Boolean,
    Decimal,
    Float,
    Double,
    Duration,
    DateTime,
    Time,
    Date,
    YearMonth,
    Year,
    MonthDay,
    Day,
    Month,
    Hex,
    Base64,
    AnyUri,
    Name,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    Bool(bool),
    /// In units of 10^-10.
    Decimal(i128),
    Double(f64),
    /// Months, and units of 100 ns.
    Duration(i64, i128),
    /// Units of 100 ns since the beginning of the year 0, in UTC.
    Moment(i128),
    Bytes(Vec<u8>),
    Name(QName),
    List(Vec<Value>),
}

/// Units of [`Value::Decimal`] in one.
pub const ONE: i128 = 10_000_000_000;
/// Digits before the point at most.
const WHOLE_DIGITS_MAX: usize = 28;
const SECOND: i128 = 10_000_000;
const DAY: i128 = 86_400 * SECOND;

impl Value {
    /// A value by its text, whose whitespace is as its type wants it, and the text that is kept; `None` where it is none.
    pub fn read(
        primitive: Primitive,
        text: &str,
        names: &dyn Fn(&str) -> Option<String>,
    ) -> Option<(Value, String)> {
        Some(match primitive {
            Primitive::String => (Value::Text(text.to_owned()), text.to_owned()),
            Primitive::AnyUri => {
                if text.chars().count() > 4000 {
                    return None;
                }
                (Value::Text(text.to_owned()), text.to_owned())
            }
            Primitive::Boolean => {
                let value = match text {
                    "true" | "1" => true,
                    "false" | "0" => false,
                    _ => return None,
                };
                (Value::Bool(value), value.to_string())
            }
            Primitive::Decimal => {
                let value = decimal(text)?;
                (Value::Decimal(value), decimal_text(value))
            }
            Primitive::Float => {
                let value = f64::from(double(text)? as f32);
                (Value::Double(value), double_text(value, 7))
            }
            Primitive::Double => {
                let value = double(text)?;
                (Value::Double(value), double_text(value, 15))
            }
            Primitive::Duration => duration(text)?,
            Primitive::Hex => {
                let bytes = from_hex(text)?;
                (Value::Bytes(bytes), text.to_ascii_uppercase())
            }
            Primitive::Base64 => {
                let kept: String = text.split_ascii_whitespace().collect();
                (Value::Bytes(from_base64(&kept)?), kept)
            }
            Primitive::Name => {
                let (prefix, local) = text.split_once(':').unwrap_or(("", text));
                let uri = names(prefix)?;
                if !is_ncname(local) {
                    return None;
                }
                (Value::Name(QName::new(&uri, local)), text.to_owned())
            }
            _ => moment(primitive, text)?,
        })
    }

    /// The order of two values of one type; `None` where they have none.
    pub fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Decimal(a), Value::Decimal(b)) => Some(a.cmp(b)),
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
            (Value::Moment(a), Value::Moment(b)) => Some(a.cmp(b)),
            (Value::Duration(m, t), Value::Duration(n, u)) => {
                // A month has 28 to 31 days: of two orders both must be.
                let order = |days: i128| {
                    (i128::from(*m) * days * DAY + t).cmp(&(i128::from(*n) * days * DAY + u))
                };
                Some(order(28)).filter(|least| *least == order(31))
            }
            _ => None,
        }
    }
}

/// Is it a name without a colon?
pub fn is_ncname(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(xml::is_name_start) && chars.all(xml::is_name_char)
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `None` where it is no number, or too large.
fn decimal(text: &str) -> Option<i128> {
    let (negative, text) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole) || !all_digits(part) || whole.len() + part.len() == 0 {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    if whole.len() > WHOLE_DIGITS_MAX {
        return None;
    }
    // What is behind the tenth digit is cut off.
    let units = format!("{:0<10}", &part[..part.len().min(10)]);
    let value = format!("{whole}{units}").parse::<i128>().ok()?;
    Some(if negative { -value } else { value })
}

fn decimal_text(value: i128) -> String {
    let (whole, part) = (value.unsigned_abs() / ONE as u128, value.unsigned_abs() % ONE as u128);
    let sign = if value < 0 { "-" } else { "" };
    let part = format!("{part:010}");
    match part.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        part => format!("{sign}{whole}.{part}"),
    }
}

/// NaN is refused, as SQL Server refuses it.
fn double(text: &str) -> Option<f64> {
    match text {
        "INF" => return Some(f64::INFINITY),
        "-INF" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let number = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    number.then(|| text.parse().ok())?
}

/// Plain between a millionth and a million, else with an exponent.
fn double_text(value: f64, digits: usize) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "INF".into() } else { "-INF".into() };
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0.0E0".into() } else { "0.0E0".into() };
    }
    let shown = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-6..6).contains(&exponent) {
        // Of the digits that count, written without an exponent.
        let sign = if mantissa.starts_with('-') { "-" } else { "" };
        let figures: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        return match exponent {
            0.. => {
                let whole = exponent as usize + 1;
                let figures = format!("{figures:0<whole$}");
                let (whole, part) = figures.split_at(whole);
                let point = if part.is_empty() { "" } else { "." };
                format!("{sign}{whole}{point}{part}")
            }
            _ => format!("{sign}0.{}{figures}", "0".repeat((-exponent - 1) as usize)),
        };
    }
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}E{exponent}")
}

/// `P1Y2M3DT4H5M6.5S`
fn duration(text: &str) -> Option<(Value, String)> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let rest = rest.strip_prefix('P')?;
    let (days, times) = match rest.split_once('T') {
        Some((_, "")) => return None,
        Some((days, times)) => (days, times),
        None => (rest, ""),
    };
    if days.is_empty() && times.is_empty() {
        return None;
    }
    let mut kept = format!("{}P", if sign < 0 { "-" } else { "" });
    let (mut months, mut ticks) = (0i64, 0i128);
    let mut any = false;
    for (part, units, timed) in [(days, "YMD", false), (times, "HMS", true)] {
        if timed && !part.is_empty() {
            kept.push('T');
        }
        let mut rest = part;
        let mut from = 0;
        while !rest.is_empty() {
            let len = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let (number, unit) = (&rest[..len], rest[len..].chars().next()?);
            let place = units[from..].find(unit)? + from;
            from = place + 1;
            let fraction = timed && unit == 'S';
            let (whole, part) = number.split_once('.').unwrap_or((number, ""));
            if !digits(whole) || (number.contains('.') && !(fraction && digits(part))) {
                return None;
            }
            let whole: i64 = whole.parse().ok()?;
            if unit != 'Y' && whole > 9999 {
                return None;
            }
            // Three digits of a second's part are kept.
            let part = part.get(..part.len().min(3)).unwrap_or("").trim_end_matches('0');
            match (timed, unit) {
                (false, 'Y') => {
                    months = months.checked_add(i64::from(i32::try_from(whole).ok()?) * 12)?
                }
                (false, 'M') => months = months.checked_add(whole)?,
                (false, _) => ticks += i128::from(whole) * DAY,
                (true, 'H') => ticks += i128::from(whole) * 3600 * SECOND,
                (true, 'M') => ticks += i128::from(whole) * 60 * SECOND,
                (true, _) => {
                    let part: i128 = format!("{part:0<7}").parse().ok()?;
                    ticks += i128::from(whole) * SECOND + part;
                }
            }
            if whole != 0 || !part.is_empty() {
                any = true;
                let point = if part.is_empty() { "" } else { "." };
                let _ = write!(kept, "{whole}{point}{part}{unit}");
            }
            rest = &rest[len + 1..];
        }
    }
    let mut kept = kept.trim_end_matches('T').to_owned();
    if !any {
        kept = "PT0S".into();
    }
    Some((Value::Duration(sign * months, i128::from(sign) * ticks), kept))
}

/// A number of exactly so many digits at the beginning, and the rest.
fn take(text: &str, len: usize) -> Option<(i64, &str)> {
    let number = text.get(..len).filter(|part| digits(part))?;
    Some((number.parse().ok()?, &text[len..]))
}

fn after<'t>(text: &'t str, what: &str) -> Option<&'t str> {
    text.strip_prefix(what)
}

/// Days from the beginning of the year 0 (proleptic Gregorian).
fn day_number(year: i64, month: i64, day: i64) -> i128 {
    let (y, m) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = y.div_euclid(400);
    let of_era = y - era * 400;
    let of_year = (153 * m + 2) / 5 + day - 1;
    i128::from(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Year, month and day of [`day_number`].
fn date_of(days: i128) -> (i64, i64, i64) {
    let days = days as i64;
    let era = days.div_euclid(146_097);
    let of_era = days - era * 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let part = (5 * of_year + 2) / 153;
    let day = of_year - (153 * part + 2) / 5 + 1;
    let month = if part < 10 { part + 3 } else { part - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// `Z`, `+02:00` at the end: minutes, and what is kept.
fn zone(text: &str) -> Option<(Option<i64>, String)> {
    match text {
        "" => return Some((None, String::new())),
        "Z" => return Some((Some(0), "Z".into())),
        _ => {}
    }
    let (sign, rest) = match text.as_bytes()[0] {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let (hours, rest) = take(rest, 2)?;
    let (minutes, rest) = take(after(rest, ":")?, 2)?;
    if !rest.is_empty() || minutes > 59 || hours * 60 + minutes > 14 * 60 {
        return None;
    }
    let all = sign * (hours * 60 + minutes);
    Some((Some(all), if all == 0 { "Z".into() } else { text.into() }))
}

/// A date or time of one of the kinds.
fn moment(primitive: Primitive, text: &str) -> Option<(Value, String)> {
    use Primitive::{Date, DateTime, Day, Month, MonthDay, Time, Year, YearMonth};
    let mut rest = text;
    let (mut year, mut month, mut day) = (1i64, 1i64, 1i64);
    let mut ticks = 0i128;
    let mut kept = String::new();
    match primitive {
        DateTime | Date | YearMonth | Year => {
            let negative = rest.starts_with('-');
            rest = rest.strip_prefix('-').unwrap_or(rest);
            (year, rest) = take(rest, 4)?;
            if year == 0 || (negative && matches!(primitive, DateTime | Date)) {
                return None;
            }
            year = if negative { -year } else { year };
        }
        MonthDay | Month => rest = after(rest, "--")?,
        Day => rest = after(rest, "---")?,
        _ => {}
    }
    if matches!(primitive, DateTime | Date | YearMonth) {
        rest = after(rest, "-")?;
    }
    if matches!(primitive, DateTime | Date | YearMonth | MonthDay | Month) {
        (month, rest) = take(rest, 2)?;
    }
    if primitive == Month {
        // The first edition of the recommendation wrote two hyphens behind it.
        rest = rest.strip_prefix("--").unwrap_or(rest);
    }
    if matches!(primitive, DateTime | Date | MonthDay) {
        rest = after(rest, "-")?;
    }
    if matches!(primitive, DateTime | Date | MonthDay | Day) {
        (day, rest) = take(rest, 2)?;
    }
    let most = if primitive == MonthDay && month == 2 { 29 } else { days_in(year, month) };
    if !(1..=12).contains(&month) || !(1..=if primitive == Day { 31 } else { most }).contains(&day)
    {
        return None;
    }
    let mut days = day_number(year, month, day);
    kept.push_str(&text[..text.len() - rest.len()]);
    if matches!(primitive, DateTime | Time) {
        if primitive == DateTime {
            rest = after(rest, "T")?;
        }
        let (hour, minute, second);
        (hour, rest) = take(rest, 2)?;
        (minute, rest) = take(after(rest, ":")?, 2)?;
        (second, rest) = take(after(rest, ":")?, 2)?;
        let mut part = "";
        if let Some(behind) = rest.strip_prefix('.') {
            let len = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
            if len == 0 {
                return None;
            }
            (part, rest) = behind.split_at(len);
        }
        let part = part[..part.len().min(7)].trim_end_matches('0');
        if hour > 24 || minute > 59 || second > 59 {
            return None;
        }
        if hour == 24 && (minute != 0 || second != 0 || !part.is_empty()) {
            return None;
        }
        let units: i128 = format!("{part:0<7}").parse().ok()?;
        ticks = i128::from(hour * 3600 + minute * 60 + second) * SECOND + units;
        let mut shown_hour = hour;
        if hour == 24 {
            shown_hour = 0;
            if primitive == Time {
                ticks = 0;
            } else {
                ticks -= DAY;
                days += 1;
            }
        }
        if primitive == DateTime {
            let (y, m, d) = date_of(days);
            if y > 9999 {
                return None;
            }
            kept = format!("{y:04}-{m:02}-{d:02}T");
        }
        let point = if part.is_empty() { "" } else { "." };
        let _ = write!(kept, "{shown_hour:02}:{minute:02}:{second:02}{point}{part}");
    }
    let (minutes, shown) = zone(rest)?;
    kept.push_str(&shown);
    let utc = days * DAY + ticks - i128::from(minutes.unwrap_or(0)) * 60 * SECOND;
    Some((Value::Moment(utc), kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_in_their_canonical_forms() {
        use Primitive::*;
        #[rustfmt::skip]
        let cases = [
            (Decimal, "1.00", "1"), (Decimal, ".5", "0.5"), (Decimal, "+5.", "5"), (Decimal, "-0.0", "0"), (Decimal, "+007", "7"),
            (Decimal, "-12.340", "-12.34"), (Double, "1.0E2", "100"), (Double, "0.50", "0.5"), (Double, "1000000", "1.0E6"),
            (Double, "0.0000005", "5.0E-7"), (Double, "0", "0.0E0"), (Double, "-0", "-0.0E0"), (Float, "7000", "7000"),
            (Double, "1234567890123456789", "1.23456789012346E18"), (Float, "1234567890123456789", "1.234568E18"), (Double, "-0.25", "-0.25"),
            (Boolean, "1", "true"), (Boolean, "0", "false"), (Hex, "ABcd", "ABCD"), (Base64, "YW Jj", "YWJj"),
            (DateTime, "2020-01-02T03:04:05.000+02:00", "2020-01-02T03:04:05+02:00"), (DateTime, "2020-01-02T03:04:05-00:00", "2020-01-02T03:04:05Z"),
            (DateTime, "2020-01-02T24:00:00", "2020-01-03T00:00:00"), (DateTime, "2019-12-31T24:00:00", "2020-01-01T00:00:00"), (Time, "24:00:00", "00:00:00"),
            (Duration, "P1Y2M3DT4H5M6.000S", "P1Y2M3DT4H5M6S"), (Duration, "P0Y", "PT0S"), (Duration, "-P1D", "-P1D"),
            (Date, "2004-02-29", "2004-02-29"), (Year, "1996", "1996"), (MonthDay, "--02-29", "--02-29"), (Day, "---31", "---31"),
        ];
        for (primitive, text, kept) in cases {
            let found = Value::read(primitive, text, &|_| None).map(|(_, kept)| kept);
            assert_eq!(found.as_deref(), Some(kept), "{primitive:?} {text}");
        }
    }

    #[test]
    fn what_is_no_value_is_none() {
        use Primitive::*;
        #[rustfmt::skip]
        let cases = [
            (Decimal, ""), (Decimal, "."), (Decimal, "1e3"), (Decimal, "12345678901234567890123456789"), (Double, "NaN"), (Double, ""), (Double, "inf"),
            (Boolean, "TRUE"), (Date, "1974-02-31"), (Date, "1999-2-1"), (Date, "0000-01-01"), (Date, "-0001-01-01"), (DateTime, "2020-01-02"),
            (DateTime, "2020-01-02T25:00:00"), (DateTime, "2020-01-02T00:00:00+15:00"), (Time, "12:00"), (Duration, "P"), (Duration, "PT"),
            (Duration, "P1S"), (Duration, "P1H"), (Duration, "1Y"), (Hex, "abc"), (Base64, "YWJ"), (Name, "a:b"), (Date, "9é99-01-01"), (Month, "--13"),
        ];
        for (primitive, text) in cases {
            assert_eq!(Value::read(primitive, text, &|_| None), None, "{primitive:?} {text}");
        }
    }

    #[test]
    fn moments_are_in_order_whatever_their_zones() {
        let of = |text| Value::read(Primitive::DateTime, text, &|_| None).expect(text).0;
        let order = of("2020-01-01T00:30:00+01:00").compare(&of("2019-12-31T23:30:00Z"));
        assert_eq!(order, Some(Ordering::Equal));
        let of = |text| Value::read(Primitive::Duration, text, &|_| None).expect(text).0;
        assert_eq!(of("P1M").compare(&of("P30D")), None);
        assert_eq!(of("P1M").compare(&of("P27D")), Some(Ordering::Greater));
    }
}
