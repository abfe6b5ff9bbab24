//! Conversions, implicit and explicit, with CONVERT's styles.
//!
//! Two doors by what happens to text that is too long: [`cast`] (CAST, CONVERT, SET of a variable,
//! parameters) truncates silently, [`assign`] (a column of INSERT or UPDATE) is error 2628. A value
//! whose number does not fit is an error in both.
//!
//! A value always has the kind of its type, so a conversion to the type a value already has is a
//! copy. Text headed for varchar or char keeps only characters of its code page; others become the one
//! nearest in it, or `?`, as in SQL Server.

mod clr;
mod dates;
mod nearest;
mod numbers;
mod xml_text;

use crate::collation::{self, CodePage, Rule};
use crate::{Bytes, Decimal, Len, SqlType, Text, TypeError, Value, format};
pub use dates::{DateOrder, is_plain_date};
pub use nearest::{is_embedded, latest, nearest};
use runtime::task::{self, Stopped, breathing, is_stopped};
use std::borrow::Cow;

/// What SQL Server's conversion matrix says of a pair of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    Implicit,
    /// Only by CAST or CONVERT (257 otherwise).
    Explicit,
    /// Not at all (206 implicitly, 529 explicitly).
    None,
}

/// Rows and columns of the matrix: types that convert alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Character,
    Binary,
    /// Integers, bit, decimal, money.
    Exact,
    /// float, real.
    Approximate,
    /// datetime, smalldatetime.
    Classic,
    Date,
    Time,
    /// datetime2, datetimeoffset.
    Modern,
    Guid,
    Variant,
    Xml,
    Clr,
}

fn family(ty: SqlType) -> Family {
    match ty {
        _ if ty.is_character() => Family::Character,
        _ if ty.is_binary() => Family::Binary,
        SqlType::Float | SqlType::Real => Family::Approximate,
        _ if ty.is_numeric() => Family::Exact,
        SqlType::DateTime | SqlType::SmallDateTime => Family::Classic,
        SqlType::Date => Family::Date,
        SqlType::Time(_) => Family::Time,
        SqlType::UniqueIdentifier => Family::Guid,
        SqlType::Variant => Family::Variant,
        SqlType::Xml | SqlType::TypedXml { .. } => Family::Xml,
        SqlType::Clr(_) => Family::Clr,
        _ => Family::Modern,
    }
}

/// The matrix.
pub fn conversion(from: SqlType, to: SqlType) -> Conversion {
    use Conversion::{Explicit, Implicit};
    use Family::*;
    match (family(from), family(to)) {
        (Clr, Clr) if from != to => Conversion::None,
        (a, b) if a == b => Implicit,
        (Character | Binary, Clr) => Implicit,
        (Clr, Character | Binary) => Explicit,
        (Clr, _) | (_, Clr) => Conversion::None,
        (Character | Binary, Xml) => Implicit,
        (Xml, Character | Binary) => Explicit,
        (Xml, _) | (_, Xml) => Conversion::None,
        (_, Variant) if crate::Variant::may_hold(from) => Implicit,
        (_, Variant) => Conversion::None,
        (Variant, _) => Explicit,
        (Character, Binary) => Explicit,
        (Character, _) | (_, Character) => Implicit,
        (Binary, Approximate) => Conversion::None,
        (Binary, Date | Time | Modern) => Explicit,
        (Binary, _) => Implicit,
        (Exact | Approximate | Guid, Binary) => Implicit,
        (_, Binary) => Explicit,
        (Exact | Approximate, Exact | Approximate | Classic) => Implicit,
        (Classic, Exact | Approximate) => Explicit,
        (Classic | Modern, Classic | Date | Time | Modern) => Implicit,
        (Date | Time, Classic | Modern) => Implicit,
        _ => Conversion::None,
    }
}

/// For the binder: `Ok` when the implicit conversion exists, else 257 or 206.
pub fn check_implicit(from: SqlType, to: SqlType) -> Result<(), TypeError> {
    match conversion(from, to) {
        Conversion::Implicit => Ok(()),
        Conversion::Explicit => {
            Err(TypeError::ImplicitNotAllowed { from: from.name(), to: to.name() })
        }
        Conversion::None => Err(clash(from, to)),
    }
}

/// For the binder: `Ok` when CAST may do it, else 529.
pub fn check_explicit(from: SqlType, to: SqlType) -> Result<(), TypeError> {
    match conversion(from, to) {
        Conversion::None => {
            let from = if to == SqlType::Variant { max_name(from) } else { from.name() };
            Err(TypeError::ExplicitNotAllowed { from, to: to.name() })
        }
        _ => Ok(()),
    }
}

/// The name of a type with its `(max)`.
fn max_name(ty: SqlType) -> &'static str {
    match ty {
        SqlType::VarChar(Len::Max) => "varchar(max)",
        SqlType::NVarChar(Len::Max) => "nvarchar(max)",
        SqlType::VarBinary(Len::Max) => "varbinary(max)",
        other => other.message_name(),
    }
}

fn clash(from: SqlType, to: SqlType) -> TypeError {
    if to == SqlType::Variant {
        return TypeError::TypeClash { from: max_name(from).into(), to: to.name().into() };
    }
    TypeError::TypeClash { from: from.name().into(), to: to.name().into() }
}

/// See [`SqlType::common_type`].
pub fn common_type(a: SqlType, b: SqlType) -> Result<SqlType, TypeError> {
    if a == b {
        return Ok(a);
    }
    let (high, low) = if a.precedence() >= b.precedence() { (a, b) } else { (b, a) };
    // CASE and UNION merge a datetime with a date though neither holds the other.
    check_implicit(low, high)?;
    let longer = |x: Len, y: Len| match (x, y) {
        (Len::N(x), Len::N(y)) => Len::N(x.max(y)),
        _ => Len::Max,
    };
    Ok(match high {
        _ if high.is_character() && low.is_character() => {
            let len = longer(length(a), length(b));
            let fixed = matches!(a, SqlType::Char(_) | SqlType::NChar(_))
                && matches!(b, SqlType::Char(_) | SqlType::NChar(_));
            match (high.is_unicode(), fixed, len) {
                (true, true, Len::N(n)) => SqlType::NChar(n.min(4000)),
                (false, true, Len::N(n)) => SqlType::Char(n),
                (true, _, Len::N(n)) if n > 4000 => SqlType::NVarChar(Len::N(4000)),
                (true, _, len) => SqlType::NVarChar(len),
                (false, _, len) => SqlType::VarChar(len),
            }
        }
        _ if high.is_binary() && low.is_binary() => match (a, b, longer(length(a), length(b))) {
            (SqlType::Binary(_), SqlType::Binary(_), Len::N(n)) => SqlType::Binary(n),
            (_, _, len) => SqlType::VarBinary(len),
        },
        SqlType::Decimal { precision, scale, numeric } => match low.as_decimal() {
            Some((p, s)) => {
                let scale_wide = scale.max(s);
                let whole = (precision - scale).max(p - s);
                let precision = (whole + scale_wide).min(38);
                SqlType::Decimal {
                    precision,
                    scale: scale_wide.min(38 - whole.min(38)),
                    numeric: numeric || low.is_named_numeric(),
                }
            }
            None => high,
        },
        SqlType::Time(p) => SqlType::Time(p.max(digits(low))),
        SqlType::DateTime2(p) => SqlType::DateTime2(p.max(digits(low))),
        SqlType::DateTimeOffset(p) => SqlType::DateTimeOffset(p.max(digits(low))),
        _ => high,
    })
}

/// Fractional digits of a second that a type keeps.
fn digits(ty: SqlType) -> u8 {
    match ty {
        SqlType::Time(p) | SqlType::DateTime2(p) | SqlType::DateTimeOffset(p) => p,
        SqlType::DateTime => 3,
        _ => 0,
    }
}

fn length(ty: SqlType) -> Len {
    match ty {
        SqlType::Char(n) | SqlType::NChar(n) | SqlType::Binary(n) => Len::N(n),
        SqlType::VarChar(len) | SqlType::NVarChar(len) | SqlType::VarBinary(len) => len,
        _ => Len::N(0),
    }
}

/// CAST and CONVERT (`style` 0 for CAST); also assignment to a variable or parameter. NULL stays
/// NULL; CHAR and BINARY are padded.
pub fn cast(value: &Value, from: SqlType, to: SqlType, style: i32) -> Result<Value, TypeError> {
    convert(value, from, to, style, false)
}

/// What CONVERT's style means when it is given: the newer types of time are ODBC's form without one, and with 0 what
/// they are with 100.
pub fn explicit_style(style: i32, from: SqlType, to: SqlType) -> i32 {
    let classic = matches!(from, SqlType::DateTime | SqlType::SmallDateTime);
    match style {
        0 if to.is_character() && from.is_temporal() && !classic => 100,
        // What lies above is the session's.
        _ => style.min(dates::SESSION_STYLES - 1),
    }
}

/// A style, in the words of a language ([`crate::languages`]): names of months.
pub fn in_language(style: i32, language: u8) -> i32 {
    style | i32::from(language) << LANGUAGE_AT
}

/// A style, and the last year that two digits may mean: 'two digit year cutoff'.
pub fn with_cutoff(style: i32, cutoff: u16) -> i32 {
    debug_assert!((CUTOFF_MIN..=CUTOFF_MAX).contains(&cutoff));
    match cutoff {
        CUTOFF => style,
        other => style | i32::from(other - CUTOFF_MIN + 1) << CUTOFF_AT,
    }
}

/// A style of CONVERT, in the words and with the cutoff of `session`, the style of what names none.
pub fn in_session(style: i32, session: i32) -> i32 {
    style | session & !((1 << LANGUAGE_AT) - 1)
}

/// A style, and the language that goes with it.
pub(crate) fn of_language(style: i32) -> (i32, u8) {
    match style {
        0.. => {
            let language = style >> LANGUAGE_AT & ((1 << (CUTOFF_AT - LANGUAGE_AT)) - 1);
            (style & ((1 << LANGUAGE_AT) - 1), language as u8)
        }
        _ => (style, 0),
    }
}

/// The cutoff that goes with a style.
pub(crate) fn cutoff_of(style: i32) -> i32 {
    match style >> CUTOFF_AT {
        1.. => (style >> CUTOFF_AT) - 1 + i32::from(CUTOFF_MIN),
        _ => i32::from(CUTOFF),
    }
}

/// 'two digit year cutoff' by default.
pub const CUTOFF: u16 = 2049;
/// What it may be.
const CUTOFF_MIN: u16 = 1753;
const CUTOFF_MAX: u16 = 9999;
// A style that goes through has three parts, from the lowest bit on: itself, the language, the cutoff (0: the default).
const LANGUAGE_AT: u32 = 11;
const CUTOFF_AT: u32 = 17;
const _: () = assert!(dates::SESSION_STYLES + 6 <= 1 << LANGUAGE_AT);
const _: () = assert!(crate::languages::LANGUAGES.len() <= 1 << (CUTOFF_AT - LANGUAGE_AT));
const _: () = assert!(((CUTOFF_MAX - CUTOFF_MIN + 1) as i64) << CUTOFF_AT <= i32::MAX as i64);

/// Assignment to a column: like [`cast`] with style 0, but text or binary that does not fit is
/// [`TypeError::Truncated`] (trailing blanks may go).
pub fn assign(value: &Value, from: SqlType, to: SqlType) -> Result<Value, TypeError> {
    convert(value, from, to, 0, true)
}

/// [`assign`] where a text may be a date in a session's order ([`DateOrder::style`]).
pub fn assign_style(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
) -> Result<Value, TypeError> {
    convert(value, from, to, style, true)
}

#[inline]
fn convert(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
    strict: bool,
) -> Result<Value, TypeError> {
    // The commonest cases, without a call: same kind, or one integer into a wider one.
    match (value, to) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Int(_), SqlType::Int) | (Value::BigInt(_), SqlType::BigInt) => Ok(value.clone()),
        (Value::Int(v), SqlType::BigInt) => Ok(Value::BigInt(*v as i64)),
        (Value::DateTime(_), SqlType::DateTime) => Ok(value.clone()),
        _ => convert_slow(value, from, to, style, strict),
    }
}

fn convert_slow(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
    strict: bool,
) -> Result<Value, TypeError> {
    // Only dates and times have words.
    let style = match from.is_temporal() || to.is_temporal() || from == SqlType::Variant {
        true => style,
        false => of_language(style).0,
    };
    if let Value::Variant(held) = value
        && to != SqlType::Variant
    {
        check_explicit(held.ty(), to)?;
        return convert(held.value(), held.ty(), to, style, strict);
    }
    let made = convert_of(value, from, to, style, strict);
    // What a loop made that was stopped is no value.
    if is_long(value) && is_stopped() { Err(Stopped::Cancelled.into()) } else { made }
}

/// May a loop over it breathe?
fn is_long(value: &Value) -> bool {
    match value {
        Value::Str(text) => text.as_bytes().len() >= 1024,
        Value::Binary(bytes) => bytes.len() >= 1024,
        Value::Node(_) => true,
        _ => false,
    }
}

fn convert_of(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
    strict: bool,
) -> Result<Value, TypeError> {
    if from.is_xml() || to.is_xml() {
        return xml_text::convert(value, from, to, style);
    }
    if let SqlType::Clr(ty) = to {
        return clr::enter(value, from, ty);
    }
    if let (SqlType::Clr(ty), Value::Binary(bytes), true) = (from, value, to.is_character()) {
        return clr::leave(ty, bytes, to, strict);
    }
    match to {
        SqlType::Variant => crate::Variant::wrap(value.clone(), from),
        SqlType::Bit
        | SqlType::TinyInt
        | SqlType::SmallInt
        | SqlType::Int
        | SqlType::BigInt
        | SqlType::Decimal { .. }
        | SqlType::Money
        | SqlType::SmallMoney
        | SqlType::Float
        | SqlType::Real => numbers::to_number(value, from, to),
        SqlType::Char(_) | SqlType::VarChar(_) | SqlType::NChar(_) | SqlType::NVarChar(_) => {
            to_character(value, from, to, style, strict)
        }
        SqlType::Binary(_) | SqlType::VarBinary(_) => to_binary(value, from, to, style, strict),
        SqlType::UniqueIdentifier => to_guid(value, from),
        _ => dates::to_temporal(value, from, to, style),
    }
}

/// [`cast`] of a value that has no rule with it: a varchar that is made is in the code page of `rule`, and has none with it
/// either.
pub fn cast_by(
    rule: Rule,
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
) -> Result<Value, TypeError> {
    let page = rule.code_page();
    if page == CodePage::Cp1252 || !to.is_character() || to.is_unicode() {
        return cast(value, from, to, style);
    }
    let marked = |text: Text| Value::Str(text.with_rule(rule));
    let made = match value {
        _ if from.is_xml() => {
            let wide = SqlType::NVarChar(Len::Max);
            match cast(value, from, wide, style)? {
                Value::Str(text) => cast(&marked(text), wide, to, 0)?,
                other => other,
            }
        }
        Value::Str(text) if text.is_ascii() => return cast(value, from, to, style),
        Value::Str(text) => cast(&marked(text.clone()), from, to, style)?,
        Value::Variant(held) => {
            let page = held.value().rule().code_page();
            match page {
                CodePage::Cp1252 => cast_by(rule, held.value(), held.ty(), to, style)?,
                _ => cast(held.value(), held.ty(), to, style)?,
            }
        }
        Value::Binary(bytes) if style == 0 && from.is_binary() => {
            let text = Text::from(page.decode(bytes));
            cast(&marked(text), SqlType::VarChar(Len::Max), to, 0)?
        }
        _ => cast(value, from, to, style)?,
    };
    Ok(match made {
        Value::Str(text) => Value::Str(text.with_rule(Rule::CiAs)),
        other => other,
    })
}

fn to_character(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
    strict: bool,
) -> Result<Value, TypeError> {
    let limit = length(to).limit();
    let text: Cow<'_, str> = match value {
        Value::Str(text) => {
            // Nothing to do for text that fits: share it.
            let plain = text.is_ascii();
            if plain && text.len() <= limit && !matches!(to, SqlType::Char(_) | SqlType::NChar(_)) {
                return Ok(value.clone());
            }
            Cow::Borrowed(text.as_str())
        }
        Value::Binary(bytes) if style == 0 => Cow::Owned(if to.is_unicode() {
            let units =
                bytes.chunks(2).map(|b| b[0] as u16 | (*b.get(1).unwrap_or(&0) as u16) << 8);
            collation::units::from_units(breathing(units))
        } else {
            breathing(bytes.iter()).map(|b| collation::from_cp1252(*b)).collect()
        }),
        _ => match format::to_text(value, from, style)? {
            Some(text) => Cow::Owned(text),
            None => return Ok(Value::Null),
        },
    };
    let text = fit_text(text, value, from, to, limit, strict)?;
    Ok(Value::Str(text))
}

fn fit_text(
    text: Cow<'_, str>,
    value: &Value,
    from: SqlType,
    to: SqlType,
    limit: usize,
    strict: bool,
) -> Result<Text, TypeError> {
    let mut text = text;
    let page = value.rule().code_page();
    if !to.is_unicode() && !text.is_ascii() && breathing(text.chars()).any(|c| !page.holds(c)) {
        text = Cow::Owned(breathing(text.chars()).map(|c| page.nearest(c)).collect());
    }
    if !to.is_unicode() && page == CodePage::Utf8 {
        text = collation::units::without_halves(text);
    }
    let len = |text: &str| {
        if text.is_ascii() {
            text.len()
        } else if to.is_unicode() {
            collation::utf16_len(text)
        } else {
            breathing(text.chars()).map(|c| page.bytes_of(c)).sum()
        }
    };
    let mut count = len(&text);
    if count > limit {
        match value {
            Value::Str(_) | Value::Binary(_) => {}
            // A number that does not fit is not cut.
            Value::Bit(_) | Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_)
                if !to.is_unicode() =>
            {
                return fit_text(Cow::Borrowed("*"), &Value::str(""), from, to, limit, false);
            }
            Value::Money(_) => {
                return Err(TypeError::NoSpace { from: from.name(), to: to.name() });
            }
            Value::Guid(_) if to.is_unicode() => {
                return Err(TypeError::Overflow { from: "expression", to: "nvarchar" });
            }
            Value::Guid(_) => {
                return Err(TypeError::NoSpace { from: "uniqueidentifier", to: "char" });
            }
            Value::Float(f) if !to.is_unicode() => {
                return Err(TypeError::OverflowFloat { ty: to.name(), value: numbers::shown(*f) });
            }
            Value::Real(f) if !to.is_unicode() => {
                let value = numbers::shown(f64::from(*f));
                return Err(TypeError::OverflowFloat { ty: to.name(), value });
            }
            _ if from.is_numeric() && to.is_unicode() => {
                return Err(TypeError::Overflow { from: "expression", to: "nvarchar" });
            }
            _ if from.is_numeric() => {
                let from = if from.is_integer() { "expression" } else { from.message_name() };
                return Err(TypeError::Overflow { from, to: to.name() });
            }
            // Dates are cut.
            _ => {}
        }
        let cut = cut_to(&text, limit, (!to.is_unicode()).then_some(page));
        if strict && !text[cut.len()..].bytes().all(|b| b == b' ') {
            return Err(TypeError::Truncated { value: cut.into() });
        }
        count = len(cut);
        let cut = cut.to_owned();
        text = Cow::Owned(cut);
    }
    if matches!(to, SqlType::Char(_) | SqlType::NChar(_)) && count < limit {
        let mut padded = text.into_owned();
        padded.extend(std::iter::repeat_n(' ', limit - count));
        text = Cow::Owned(padded);
    }
    let rule = value.rule();
    Ok(Text::new(&text).with_rule(rule))
}

/// The longest prefix of at most `limit` bytes in that page, or UTF-16 units.
fn cut_to(text: &str, limit: usize, page: Option<CodePage>) -> &str {
    let mut used = 0;
    for (at, c) in breathing(text.char_indices()) {
        used += page.map_or_else(|| collation::units::units_of(c), |page| page.bytes_of(c));
        if used > limit {
            let kept = &text[..at];
            // No half of a character of UTF-8 stays.
            let first = kept.char_indices().next_back().filter(|_| page == Some(CodePage::Utf8));
            return match first {
                Some((start, _)) if collation::units::meet(kept, &text[at..]) => &text[..start],
                _ => kept,
            };
        }
    }
    text
}

fn to_binary(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
    strict: bool,
) -> Result<Value, TypeError> {
    let limit = length(to).limit();
    let fixed = matches!(to, SqlType::Binary(_));
    // Numbers lose leading bytes and are padded in front; all else at the end.
    let (mut bytes, is_number): (Vec<u8>, bool) = match value {
        Value::Null => return Ok(Value::Null),
        Value::Binary(b) if b.len() <= limit && !fixed => return Ok(value.clone()),
        Value::Binary(b) => {
            let mut bytes = Vec::new();
            task::append_bytes(&mut bytes, b);
            (bytes, false)
        }
        Value::Str(text) => {
            let bytes = match style {
                1 | 2 => hex_bytes(text, style)
                    .ok_or(TypeError::ConvertError { from: from.message_name(), to: to.name() })?,
                _ if from.is_unicode() => {
                    breathing(collation::units::units(text)).flat_map(u16::to_le_bytes).collect()
                }
                _ => {
                    let page = text.rule().code_page();
                    let mut bytes = Vec::with_capacity(text.len());
                    task::in_pieces(text, |piece| page.encode_into(piece, &mut bytes));
                    bytes
                }
            };
            (bytes, false)
        }
        Value::Guid(g) => (g.to_vec(), false),
        Value::Decimal(d) => (decimal_bytes(*d), false),
        Value::Bit(v) => (vec![*v as u8], true),
        Value::TinyInt(v) => (vec![*v], true),
        Value::SmallInt(v) => (v.to_be_bytes().to_vec(), true),
        Value::Int(v) => (v.to_be_bytes().to_vec(), true),
        Value::BigInt(v) => (v.to_be_bytes().to_vec(), true),
        Value::Money(v) if from == SqlType::SmallMoney => {
            ((*v as i32).to_be_bytes().to_vec(), true)
        }
        Value::Money(v) => (v.to_be_bytes().to_vec(), true),
        Value::Float(v) => (v.to_bits().to_be_bytes().to_vec(), true),
        Value::Real(v) => (v.to_bits().to_be_bytes().to_vec(), true),
        Value::DateTime(_) => (dates::to_bytes(value, from).unwrap_or_default(), true),
        Value::Date(_) | Value::Time(_) | Value::DateTime2(_) | Value::DateTimeOffset(_) => {
            (dates::to_bytes(value, from).ok_or_else(|| clash(from, to))?, false)
        }
        // Taken apart before.
        Value::Variant(_) | Value::Node(_) => return Err(clash(from, to)),
    };
    if bytes.len() > limit {
        if is_number {
            bytes.drain(..bytes.len() - limit);
        } else {
            if strict && bytes[limit..].iter().any(|b| *b != 0) {
                let text = format!("{:?}", Bytes::new(&bytes[..limit]));
                return Err(TypeError::Truncated { value: text.into() });
            }
            bytes.truncate(limit);
        }
    } else if fixed {
        if is_number {
            bytes.splice(..0, std::iter::repeat_n(0, limit - bytes.len()));
        } else {
            bytes.resize(limit, 0);
        }
    }
    Ok(Value::Binary(bytes.into()))
}

/// As SQL Server lays it out: precision, scale, 0, sign, magnitude in 4-byte groups.
fn decimal_bytes(d: Decimal) -> Vec<u8> {
    let groups = d.storage_bytes() - 1;
    let mut out = vec![d.precision(), d.scale(), 0, (d.units() >= 0) as u8];
    out.extend_from_slice(&d.units().unsigned_abs().to_le_bytes()[..groups]);
    out
}

/// Style 1 wants 0x in front, style 2 forbids it; an even number of digits.
fn hex_bytes(text: &str, style: i32) -> Option<Vec<u8>> {
    let text = text.trim_end_matches(' ');
    let prefix = text.get(..2).filter(|p| p.eq_ignore_ascii_case("0x"));
    let hex = match (style, prefix) {
        (1, Some(_)) => &text[2..],
        (2, None) => text,
        _ => return None,
    };
    from_hex(hex)
}

/// The bytes of an even number of hexadecimal digits.
pub fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
    let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
    if !odd.is_empty() {
        return None;
    }
    breathing(pairs.iter()).map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

fn to_guid(value: &Value, from: SqlType) -> Result<Value, TypeError> {
    match value {
        Value::Guid(_) => Ok(value.clone()),
        Value::Binary(bytes) => {
            let mut g = [0; 16];
            let n = bytes.len().min(16);
            g[..n].copy_from_slice(&bytes[..n]);
            Ok(Value::Guid(g))
        }
        Value::Str(text) => parse_guid(text).map(Value::Guid).ok_or(TypeError::BadGuid),
        _ => Err(clash(from, SqlType::UniqueIdentifier)),
    }
}

/// `6F9619FF-8B86-D011-B42D-00C04FC964FF`, braces allowed, anything after it ignored.
fn parse_guid(text: &str) -> Option<[u8; 16]> {
    let text = text.trim_start_matches(' ');
    let text = text.strip_prefix('{').unwrap_or(text);
    let text = text.get(..36)?;
    let bytes = text.as_bytes();
    if [8, 13, 18, 23].iter().any(|i| bytes[*i] != b'-') {
        return None;
    }
    let digits: Vec<u8> = bytes.iter().copied().filter(|b| *b != b'-').collect();
    if digits.len() != 32 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut g = [0u8; 16];
    for (i, pair) in digits.chunks(2).enumerate() {
        g[i] = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    // The first three groups are stored little-endian.
    g[..4].reverse();
    g[4..6].reverse();
    g[6..8].reverse();
    Some(g)
}
