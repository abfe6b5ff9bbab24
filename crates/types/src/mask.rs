//! Dynamic data masking: what a reader without UNMASK is shown in place of a value.
//!
//! Promise: NULL stays NULL; a masked value is one of the value's own type, cut to its length but not padded. A
//! function's text is kept in one form, whatever it was written like ([`Mask::text`]).
//!
//! Sources: SQL Server's documentation ("Dynamic data masking", CREATE TABLE), messages 16002 to 16006.

use crate::datetime::{
    DAYS_TO_1900, TICKS_PER_DAY, TICKS_PER_MINUTE, TICKS_PER_SECOND, civil_from_days,
    days_from_civil,
};
use crate::{DateTime, DateTime2, DateTimeOffset, Decimal, SqlType, Text, Value, Variant, convert};
use std::fmt::Write;

/// Which function, without its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskFunction {
    /// `default()`: 'xxxx', 0, 1900-01-01.
    Default,
    /// `email()`: the first letter and `XXX@XXXX.com`.
    Email,
    /// `partial(prefix, "padding", suffix)`: so many letters at both ends.
    Partial,
    /// `random(low, high)`.
    Random,
    /// `datetime("Y")`: one part is not told.
    DateTime(MaskedPart),
}

/// What `datetime()` hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskedPart {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// A function for a column's values.
#[derive(Clone, Debug, PartialEq)]
pub struct Mask {
    pub function: MaskFunction,
    /// Of `partial`: prefix, padding, suffix; of `random`: low and high, in the column's type. Else none.
    pub args: Box<[Value]>,
    text: Box<str>,
}

/// Why a text is no function for a column's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskError {
    /// 16002 to 16006.
    pub number: i32,
    /// The function's name as written.
    pub function: Box<str>,
}

impl Mask {
    /// `default()`.
    pub fn default_mask() -> Mask {
        Mask { function: MaskFunction::Default, args: Box::new([]), text: "default()".into() }
    }

    /// As sys.masked_columns tells it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// From the text behind FUNCTION =, for a column of that type.
    pub fn parse(text: &str, ty: SqlType) -> Result<Mask, MaskError> {
        let error = |number: i32, name: &str| MaskError { number, function: name.into() };
        if text.is_empty() {
            return Err(error(16002, text));
        }
        let (name, rest) = text.split_once('(').ok_or_else(|| error(16006, text))?;
        let (args, behind) = arguments(rest).ok_or_else(|| error(16006, name))?;
        if !behind.is_empty() {
            return Err(error(16004, name));
        }
        let known = ["default", "email", "partial", "random", "datetime"];
        let Some(function) = known.iter().find(|known| known.eq_ignore_ascii_case(name)) else {
            return Err(error(16002, name));
        };
        let (fits, wanted) = match *function {
            "default" => (true, 0),
            "email" => (ty.is_character(), 0),
            "partial" => (ty.is_character(), 3),
            "random" => (ty.is_numeric(), 2),
            _ => (ty.is_temporal(), 1),
        };
        if !fits {
            return Err(error(16003, name));
        }
        if args.len() != wanted {
            return Err(error(16004, name));
        }
        let made = match *function {
            "default" => Some(Mask::default_mask()),
            "email" => Some(Mask {
                function: MaskFunction::Email,
                args: Box::new([]),
                text: "email()".into(),
            }),
            "partial" => partial(&args),
            "random" => random(&args, ty),
            _ => part_of(&args, ty),
        };
        made.ok_or_else(|| error(16005, name))
    }
}

/// The arguments up to the parenthesis that closes them, and what stands behind it.
fn arguments(text: &str) -> Option<(Vec<String>, &str)> {
    let (mut args, mut arg, mut quoted) = (Vec::new(), String::new(), false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                args.push(std::mem::take(&mut arg).trim().to_owned());
                continue;
            }
            ')' if !quoted => {
                let arg = arg.trim();
                if !arg.is_empty() || !args.is_empty() {
                    args.push(arg.to_owned());
                }
                return Some((args, &text[at + 1..]));
            }
            _ => {}
        }
        arg.push(c);
    }
    None
}

/// What stands in double quotes; doubled ones within are one.
fn quoted(arg: &str) -> Option<String> {
    let inner = arg.strip_prefix('"')?.strip_suffix('"').filter(|_| arg.len() >= 2)?;
    let plain = inner.replace("\"\"", "");
    (!plain.contains('"')).then(|| inner.replace("\"\"", "\""))
}

fn partial(args: &[String]) -> Option<Mask> {
    let count = |arg: &str| {
        let digits = !arg.is_empty() && arg.bytes().all(|b| b.is_ascii_digit());
        arg.parse::<i32>().ok().filter(|_| digits)
    };
    let (prefix, padding, suffix) = (count(&args[0])?, quoted(&args[1])?, count(&args[2])?);
    let text = format!("partial({prefix}, \"{}\", {suffix})", padding.replace('"', "\"\""));
    let args = [Value::Int(prefix), Value::str(&padding), Value::Int(suffix)];
    Some(Mask { function: MaskFunction::Partial, args: Box::new(args), text: text.into() })
}

fn random(args: &[String], ty: SqlType) -> Option<Mask> {
    let whole = ty.is_integer() || ty == SqlType::Bit;
    let bound = |arg: &String| -> Option<Value> {
        let number = Decimal::parse(arg)?.ok()?;
        if whole && arg.contains('.') {
            return None;
        }
        let from = SqlType::decimal(number.precision(), number.scale());
        // A bit takes any number as 1.
        if ty == SqlType::Bit && !matches!(number.to_i64(), Some(0 | 1)) {
            return None;
        }
        convert::cast(&Value::Decimal(number), from, ty, 0).ok()
    };
    let (low, high) = (bound(&args[0])?, bound(&args[1])?);
    if crate::compare::compare(&low, &high)?.is_gt() {
        return None;
    }
    let shown = |value: &Value| -> Option<String> {
        Some(match value {
            Value::Money(units) => {
                let digits = format!("{}", Decimal::new(i128::from(*units), 19, 4).ok()?);
                digits.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            Value::Float(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Decimal(number) => number.to_string(),
            Value::Bit(bit) => u8::from(*bit).to_string(),
            other => other.as_i64()?.to_string(),
        })
    };
    let text = format!("random({}, {})", shown(&low)?, shown(&high)?);
    Some(Mask { function: MaskFunction::Random, args: Box::new([low, high]), text: text.into() })
}

fn part_of(args: &[String], ty: SqlType) -> Option<Mask> {
    let letter = quoted(&args[0])?;
    let part = match letter.as_str() {
        "Y" => MaskedPart::Year,
        "M" => MaskedPart::Month,
        "D" => MaskedPart::Day,
        "h" => MaskedPart::Hour,
        "m" => MaskedPart::Minute,
        "s" => MaskedPart::Second,
        _ => return None,
    };
    let of_date = matches!(part, MaskedPart::Year | MaskedPart::Month | MaskedPart::Day);
    let has = match ty {
        SqlType::Date => of_date,
        SqlType::Time(_) => !of_date,
        _ => true,
    };
    let text = format!("datetime(\"{letter}\")").into();
    has.then_some(Mask { function: MaskFunction::DateTime(part), args: Box::new([]), text })
}

/// A value as it is shown; `ty` is its type, `args` are the function's, `next` gives random numbers.
pub fn masked(
    function: MaskFunction,
    value: &Value,
    args: &[Value],
    ty: SqlType,
    next: impl FnOnce() -> u64,
) -> Value {
    if value.is_null() {
        return Value::Null;
    }
    match (function, value) {
        (MaskFunction::Email, Value::Str(text)) => match text.chars().next() {
            Some(first) => cut(&format!("{first}XXX@XXXX.com"), text, ty),
            None => cut("xxxx", text, ty),
        },
        (MaskFunction::Partial, Value::Str(text)) => cut(&partial_text(text, args), text, ty),
        (MaskFunction::Random, _) => between(args, next()).unwrap_or_else(|| default_of(value, ty)),
        (MaskFunction::DateTime(part), _) => without(part, value),
        _ => default_of(value, ty),
    }
}

/// `default()`.
fn default_of(value: &Value, ty: SqlType) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Bit(_) => Value::Bit(false),
        Value::TinyInt(_) => Value::TinyInt(0),
        Value::SmallInt(_) => Value::SmallInt(0),
        Value::Int(_) => Value::Int(0),
        Value::BigInt(_) => Value::BigInt(0),
        Value::Decimal(number) => Decimal::new(0, number.precision(), number.scale())
            .map_or_else(|_| Value::Decimal(*number), Value::Decimal),
        Value::Money(_) => Value::Money(0),
        Value::Float(_) => Value::Float(0.0),
        Value::Real(_) => Value::Real(0.0),
        Value::Str(text) => cut("xxxx", text, ty),
        Value::Binary(_) => Value::binary(b"0"),
        Value::Date(_) => Value::Date(DAYS_TO_1900),
        Value::Time(_) => Value::Time(0),
        Value::DateTime(_) => Value::DateTime(DateTime { days: 0, ticks: 0 }),
        Value::DateTime2(_) => Value::DateTime2(DateTime2 { days: DAYS_TO_1900, ticks: 0 }),
        Value::DateTimeOffset(_) => Value::DateTimeOffset(DateTimeOffset {
            utc: DateTime2 { days: DAYS_TO_1900, ticks: 0 },
            offset_minutes: 0,
        }),
        Value::Guid(_) => Value::Guid([0; 16]),
        Value::Node(_) => Value::str("<masked/>"),
        Value::Variant(_) => {
            let text = SqlType::VarChar(crate::Len::N(4));
            Variant::wrap(Value::str("xxxx"), text).unwrap_or(Value::Null)
        }
    }
}

/// A text in the place of another: as long as the type allows, compared as the other is.
fn cut(text: &str, like: &Text, ty: SqlType) -> Value {
    let limit = match ty {
        SqlType::Char(n) | SqlType::NChar(n) => usize::from(n),
        SqlType::VarChar(len) | SqlType::NVarChar(len) => len.limit(),
        _ => usize::MAX,
    };
    let text: String = text.chars().take(limit).collect();
    Value::Str(Text::new(&text).with_rule(like.rule()))
}

fn partial_text(text: &str, args: &[Value]) -> String {
    let count = |i: usize| args.get(i).and_then(Value::as_i64).unwrap_or(0) as usize;
    let (prefix, suffix) = (count(0), count(2));
    let padding = args.get(1).and_then(Value::as_str).unwrap_or("");
    let letters = text.chars().count();
    if letters <= prefix.saturating_add(suffix) {
        return padding.to_owned();
    }
    let mut out: String = text.chars().take(prefix).collect();
    let _ = write!(out, "{padding}");
    out.extend(text.chars().skip(letters - suffix));
    out
}

/// A number from low to high, both included; for whole units all have the same chance.
fn between(args: &[Value], random: u64) -> Option<Value> {
    let [low, high] = args else { return None };
    let units = |low: i128, high: i128| {
        // The span of two decimals may be beyond an i128, but not beyond a u128.
        let count = high.wrapping_sub(low) as u128 + 1;
        let offset = match u64::try_from(count) {
            Ok(count) => (u128::from(random) * u128::from(count)) >> 64,
            // Beyond 64 bits the same random number, stretched.
            Err(_) => (count >> 64) * u128::from(random),
        };
        low.wrapping_add(offset as i128)
    };
    let share = (random >> 11) as f64 / (1u64 << 53) as f64;
    Some(match (low, high) {
        (Value::Decimal(low), Value::Decimal(high)) => {
            let units = units(low.units(), high.units());
            Value::Decimal(Decimal::new(units, low.precision(), low.scale()).ok()?)
        }
        (Value::Money(low), Value::Money(high)) => {
            Value::Money(units(i128::from(*low), i128::from(*high)) as i64)
        }
        (Value::Float(low), Value::Float(high)) => Value::Float(low + (high - low) * share),
        (Value::Real(low), Value::Real(high)) => Value::Real(low + (high - low) * share as f32),
        (Value::Bit(low), Value::Bit(high)) => {
            Value::Bit(units(i128::from(*low), i128::from(*high)) != 0)
        }
        (Value::TinyInt(low), Value::TinyInt(high)) => {
            Value::TinyInt(units(i128::from(*low), i128::from(*high)) as u8)
        }
        (Value::SmallInt(low), Value::SmallInt(high)) => {
            Value::SmallInt(units(i128::from(*low), i128::from(*high)) as i16)
        }
        (Value::Int(low), Value::Int(high)) => {
            Value::Int(units(i128::from(*low), i128::from(*high)) as i32)
        }
        (Value::BigInt(low), Value::BigInt(high)) => {
            Value::BigInt(units(i128::from(*low), i128::from(*high)) as i64)
        }
        _ => return None,
    })
}

/// A moment with one part at its beginning (the year 2000), and no fraction of a second.
fn without(part: MaskedPart, value: &Value) -> Value {
    let of_day = |ticks: u64| {
        let second = ticks / TICKS_PER_SECOND * TICKS_PER_SECOND;
        let hour = TICKS_PER_MINUTE * 60;
        match part {
            MaskedPart::Hour => second % hour,
            MaskedPart::Minute => second / hour * hour + second % TICKS_PER_MINUTE,
            MaskedPart::Second => second / TICKS_PER_MINUTE * TICKS_PER_MINUTE,
            _ => second,
        }
    };
    let of_days = |days: i32| {
        let (year, month, day) = civil_from_days(days);
        match part {
            MaskedPart::Year => days_from_civil(2000, month, day),
            MaskedPart::Month => days_from_civil(year, 1, day),
            MaskedPart::Day => days_from_civil(year, month, 1),
            _ => days,
        }
    };
    let whole = |d: DateTime2| DateTime2 { days: of_days(d.days), ticks: of_day(d.ticks) };
    match value {
        Value::Date(days) => Value::Date(of_days(*days)),
        Value::Time(ticks) => Value::Time(of_day(*ticks)),
        Value::DateTime2(d) => Value::DateTime2(whole(*d)),
        Value::DateTime(d) => {
            // Whole seconds are the same in both counts.
            let masked = DateTime::from_datetime2(whole(d.to_datetime2()));
            Value::DateTime(masked.unwrap_or(DateTime { days: 0, ticks: 0 }))
        }
        Value::DateTimeOffset(d) => {
            let local = whole(d.local());
            let utc = local.shift_minutes(-i64::from(d.offset_minutes)).unwrap_or(local);
            Value::DateTimeOffset(DateTimeOffset { utc, ..*d })
        }
        other => other.clone(),
    }
}

const _: () = assert!(TICKS_PER_DAY == TICKS_PER_MINUTE * 60 * 24);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Len;

    const TEXT: SqlType = SqlType::VarChar(Len::N(20));

    #[test]
    fn functions_are_kept_in_one_form() {
        let decimal = SqlType::decimal(6, 2);
        for (ty, written, kept) in [
            (TEXT, "default( )", "default()"),
            (TEXT, "EMAIL()", "email()"),
            (TEXT, "partial(1, \"x\", 1)", "partial(1, \"x\", 1)"),
            (TEXT, "PARTIAL( 01 , \"a\"\"b\" , 0 )", "partial(1, \"a\"\"b\", 0)"),
            (TEXT, "partial(0,\"(,)\",2)", "partial(0, \"(,)\", 2)"),
            (decimal, "random(1.555, 3)", "random(1.56, 3.00)"),
            (SqlType::Money, "random(1, 2.12345)", "random(1, 2.1235)"),
            (SqlType::Float, "random(1.50, 2.500)", "random(1.5, 2.5)"),
            (SqlType::Int, "Random( 01 , 003 )", "random(1, 3)"),
            (SqlType::BigInt, "random(-5, 5)", "random(-5, 5)"),
            (SqlType::Date, "datetime(\"D\")", "datetime(\"D\")"),
        ] {
            let mask = Mask::parse(written, ty).unwrap_or_else(|e| panic!("{written}: {e:?}"));
            assert_eq!(mask.text(), kept);
            assert_eq!(Mask::parse(mask.text(), ty), Ok(mask), "{written}");
        }
    }

    #[test]
    fn what_is_no_function_is_told_by_number() {
        for (ty, written, number, function) in [
            (TEXT, "foo()", 16002, "foo"),
            (TEXT, "", 16002, ""),
            (TEXT, " default()", 16002, " default"),
            (SqlType::Int, "partial(1,\"x\",1)", 16003, "partial"),
            (SqlType::Int, "EMAIL()", 16003, "EMAIL"),
            (TEXT, "random(1,2)", 16003, "random"),
            (TEXT, "datetime(\"Y\")", 16003, "datetime"),
            (TEXT, "default(1)", 16004, "default"),
            (TEXT, "  Default ( ) ", 16004, "  Default "),
            (TEXT, "email() x", 16004, "email"),
            (SqlType::Int, "random(1,2,3)", 16004, "random"),
            (TEXT, "partial(-1,\"x\",1)", 16005, "partial"),
            (TEXT, "partial(1,x,1)", 16005, "partial"),
            (TEXT, "partial(1.0,\"x\",1)", 16005, "partial"),
            (SqlType::Int, "random(10,1)", 16005, "random"),
            (SqlType::Int, "random(1.5,2)", 16005, "random"),
            (SqlType::Float, "random(1,1e3)", 16005, "random"),
            (SqlType::TinyInt, "random(-5,300)", 16005, "random"),
            (SqlType::Bit, "random(0,2)", 16005, "random"),
            (SqlType::DateTime, "datetime(\"y\")", 16005, "datetime"),
            (SqlType::Date, "datetime(\"h\")", 16005, "datetime"),
            (SqlType::Time(7), "datetime(\"Y\")", 16005, "datetime"),
            (TEXT, "default", 16006, "default"),
            (TEXT, "default)", 16006, "default)"),
            (TEXT, "partial(1,\"x\",1", 16006, "partial"),
        ] {
            let error = MaskError { number, function: function.into() };
            assert_eq!(Mask::parse(written, ty), Err(error), "{written}");
        }
    }

    #[test]
    fn texts_are_cut_but_not_padded() {
        let shown = |ty: SqlType, function: &str, value: &str| {
            let mask = Mask::parse(function, ty).unwrap();
            let value = masked(mask.function, &Value::str(value), &mask.args, ty, || 0);
            value.as_str().unwrap().to_owned()
        };
        assert_eq!(shown(SqlType::Char(6), "default()", "abc   "), "xxxx");
        assert_eq!(shown(SqlType::NChar(3), "default()", "ab "), "xxx");
        assert_eq!(shown(SqlType::VarChar(Len::N(5)), "email()", "abc"), "aXXX@");
        assert_eq!(shown(TEXT, "email()", ""), "xxxx");
        assert_eq!(shown(TEXT, "partial(2, \"-XX-\", 1)", "abcdefghij"), "ab-XX-j");
        assert_eq!(shown(TEXT, "partial(2, \"*\", 2)", "abcd"), "*");
        assert_eq!(shown(TEXT, "partial(2, \"*\", 2)", "abcde"), "ab*de");
        assert_eq!(shown(SqlType::Char(8), "partial(1, \"-\", 1)", "ab      "), "a- ");
        assert_eq!(shown(TEXT, "partial(3, \"ÄÖ\", 0)", ""), "ÄÖ");
    }

    #[test]
    fn random_numbers_stay_in_their_range() {
        let mut seen = std::collections::BTreeSet::new();
        for i in 0..64u64 {
            let args = [Value::Int(-2), Value::Int(2)];
            seen.insert(between(&args, i << 58).and_then(|v| v.as_i64()).unwrap());
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
        let all = [Value::BigInt(i64::MIN), Value::BigInt(i64::MAX)];
        assert_eq!(between(&all, 0), Some(Value::BigInt(i64::MIN)));
        assert_eq!(between(&all, u64::MAX), Some(Value::BigInt(i64::MAX)));
    }
}
