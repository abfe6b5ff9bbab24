//! Functions of text. Positions and lengths count characters, from 1.

use super::int;
use super::number::real;
use crate::message::SqlError;
use binder::ir::{Expr, FuncId};
use std::borrow::Cow;
use types::collation::{Rule, units};
use types::{SqlType, Value, format};

/// Texts of Unicode go by UTF-16 units, unless the last argument, beyond those that the function has, says that their
/// collation counts characters (_SC).
pub(super) fn call(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
) -> Result<Value, SqlError> {
    let pairs = |v: &Value| matches!(v, Value::Str(text) if units::has_pairs(text));
    let by_characters = matches!(v.last(), Some(Value::Bit(true)));
    let unicode = args.iter().any(|arg| arg.ty.is_unicode());
    if by_characters || !unicode || !v.iter().any(pairs) {
        return of_characters(func, v, args, ty);
    }
    let split = |v: &Value| match v {
        Value::Str(text) => {
            let rule = text.rule();
            Value::Str(types::Text::from(units::split_pairs(text)).with_rule(rule))
        }
        other => other.clone(),
    };
    let v: Vec<Value> = v.iter().map(split).collect();
    Ok(match of_characters(func, &v, args, ty)? {
        Value::Str(text) => Value::str(&units::join_pairs(&text)),
        other => other,
    })
}

fn of_characters(func: FuncId, v: &[Value], args: &[Expr], ty: SqlType) -> Result<Value, SqlError> {
    use FuncId::*;
    match func {
        Concat => {
            let mut out = String::new();
            for (value, arg) in v.iter().zip(args) {
                out.push_str(&plain(value, arg.ty)?);
            }
            return Ok(Value::str(&cut(out, ty)));
        }
        ConcatWs => {
            let separator = plain(&v[0], args[0].ty)?;
            let mut parts = Vec::new();
            for (value, arg) in v.iter().zip(args).skip(1).filter(|(value, _)| !value.is_null()) {
                parts.push(plain(value, arg.ty)?);
            }
            return Ok(Value::str(&cut(parts.join(&separator), ty)));
        }
        WriteInto => return write_into(v),
        _ => {}
    }
    // STUFF puts NULL in as nothing.
    let needed = if func == Stuff { &v[..3] } else { v };
    if needed.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let s = v[0].as_str().unwrap_or("");
    let n = |i: usize| v.get(i).and_then(Value::as_i64).unwrap_or(0);
    let t = |i: usize| v.get(i).and_then(Value::as_str).unwrap_or("");
    Ok(match func {
        Len if args[0].ty.is_binary() => {
            let Value::Binary(bytes) = &v[0] else { return int(0, ty) };
            let spaces = bytes.iter().rev().take_while(|byte| **byte == b' ').count();
            return int((bytes.len() - spaces) as i64, ty);
        }
        Len => return int(s.trim_end_matches(' ').chars().count() as i64, ty),
        DataLength => return int(data_length(&v[0], args[0].ty) as i64, ty),
        Left => Value::str(&take(s, 0, length(n(1), BAD_LENGTH)?)),
        Right => {
            let count = length(n(1), BAD_RIGHT_LENGTH)?;
            let skip = s.chars().count().saturating_sub(count);
            Value::str(&take(s, skip, count))
        }
        Substring => {
            let (start, count) = (n(1), length(n(2), BAD_LENGTH)? as i64);
            let end = start.saturating_add(count);
            let from = start.max(1);
            let count = (end - from).max(0) as usize;
            match &v[0] {
                Value::Binary(bytes) => {
                    let from = ((from - 1) as usize).min(bytes.len());
                    Value::binary(&bytes[from..from.saturating_add(count).min(bytes.len())])
                }
                _ => Value::str(&take(s, (from - 1) as usize, count)),
            }
        }
        Upper => Value::str(&cased(s, &v[0].rule().upper(s), &v[0], ty)),
        Lower => Value::str(&cased(s, &v[0].rule().lower(s), &v[0], ty)),
        LTrim if v.len() > 1 => {
            Value::str(s.trim_start_matches(&t(1).chars().collect::<Vec<_>>()[..]))
        }
        RTrim if v.len() > 1 => {
            Value::str(s.trim_end_matches(&t(1).chars().collect::<Vec<_>>()[..]))
        }
        LTrim => Value::str(s.trim_start_matches(' ')),
        RTrim => Value::str(s.trim_end_matches(' ')),
        Trim if v.len() > 1 => {
            let set: Vec<char> = t(1).chars().collect();
            Value::str(s.trim_matches(&set[..]))
        }
        Trim => Value::str(s.trim_matches(' ')),
        Reverse => Value::str(&s.chars().rev().collect::<String>()),
        Replace => Value::str(&cut(replace(rule_of(v), s, t(1), t(2))?, ty)),
        Replicate if n(1) < 0 => Value::Null,
        Replicate => Value::str(&repeat(s, n(1), ty)?),
        Space if n(0) < 0 => Value::Null,
        Space => Value::str(&repeat(" ", n(0), ty)?),
        Str => {
            let width = v.get(1).map_or(10, |_| n(1)).clamp(0, 8000) as usize;
            let decimals = n(2).clamp(0, 16) as usize;
            let x = real(&v[0]);
            // Halves go away from zero.
            let unit = 10f64.powi(decimals as i32);
            let scaled = x * unit;
            let half = scaled.fract().abs() == 0.5 && scaled / unit == x;
            let x = if half { scaled.round() / unit } else { x };
            let mut text = format!("{x:.decimals$}");
            if text.len() > width && decimals > 0 {
                let whole = format!("{:.0}", x.trunc()).len();
                text = format!("{x:.0$}", width.saturating_sub(whole + 1));
            }
            if text.len() > width {
                Value::str(&"*".repeat(width))
            } else {
                Value::str(&format!("{text:>width$}"))
            }
        }
        CharIndex => return int(char_index(rule_of(v), s, t(1), n(2)) as i64, ty),
        PatIndex => {
            let pattern = types::Pattern::under(rule_of(v), s, None)?;
            return int(pattern.find(t(1)) as i64, ty);
        }
        Stuff => {
            let (start, count) = (n(1), n(2));
            let chars = s.chars().count() as i64;
            if start < 1 || start > chars || count < 0 {
                return Ok(Value::Null);
            }
            let head = take(s, 0, (start - 1) as usize);
            let tail = take(s, (start - 1).saturating_add(count) as usize, usize::MAX);
            Value::str(&cut(format!("{head}{}{tail}", t(3)), ty))
        }
        Char => match u8::try_from(n(0)) {
            Ok(byte) => Value::str(&types::collation::from_cp1252(byte).to_string()),
            Err(_) => Value::Null,
        },
        // A pair of surrogates is of collations with _SC alone; the database's is none.
        NChar => match u16::try_from(n(0)) {
            Ok(unit) => Value::str(&units::from_units(std::iter::once(unit))),
            Err(_) => Value::Null,
        },
        Ascii => match take(s, 0, 1) {
            first if first.is_empty() => Value::Null,
            first => {
                let mut bytes = Vec::new();
                v[0].rule().code_page().encode_into(&first, &mut bytes);
                Value::Int(i32::from(bytes[0]))
            }
        },
        Unicode => match (s.chars().next(), units::units(s).next()) {
            // By characters; a half of a pair is what it is.
            (Some(c), Some(_)) if units::units_of(c) == 2 => Value::Int(c as i32),
            (_, Some(unit)) => Value::Int(i32::from(unit)),
            _ => Value::Null,
        },
        QuoteName => quote(s, v.get(1).and_then(Value::as_str)),
        Soundex => Value::str(&soundex(s)),
        Difference => {
            let (a, b) = (soundex(s), soundex(t(1)));
            Value::Int(a.chars().zip(b.chars()).filter(|(a, b)| a == b).count() as i32)
        }
        Translate => {
            let (from, to): (Vec<char>, Vec<char>) =
                (t(1).chars().collect(), t(2).chars().collect());
            if from.len() != to.len() {
                return Err(SqlError::new(
                    9828,
                    16,
                    "The second and third arguments of the TRANSLATE built-in function must \
                     contain an equal number of characters.",
                ));
            }
            let rule = rule_of(v);
            let turn = |c: char| from.iter().position(|f| same(rule, *f, c)).map_or(c, |i| to[i]);
            Value::str(&s.chars().map(turn).collect::<String>())
        }
        ParseName => parse_name(s, n(1)),
        other => stdx::fatal!("{other:?} is no function of text"),
    })
}

/// A value as text, NULL as the empty one.
fn plain(value: &Value, ty: SqlType) -> Result<String, SqlError> {
    match value {
        Value::Null => Ok(String::new()),
        Value::Str(text) => Ok(text.as_str().to_string()),
        _ => Ok(format::to_text(value, ty, 0)?.unwrap_or_default()),
    }
}

type Refusal = (i32, &'static str);
const BAD_LENGTH: Refusal =
    (537, "Invalid length parameter passed to the LEFT or SUBSTRING function.");
const BAD_RIGHT_LENGTH: Refusal = (536, "Invalid length parameter passed to the RIGHT function.");

fn length(n: i64, (number, text): Refusal) -> Result<usize, SqlError> {
    usize::try_from(n).map_err(|_| SqlError::new(number, 16, text).with_state(2))
}

/// `column.WRITE (expression, offset, length)`: a part of a large value replaced, counted from 0. Without an offset the
/// expression comes at the end, without a length it takes the place of all that follows, and without an expression the
/// value ends at the offset. 5302, 7116, 7135.
fn write_into(v: &[Value]) -> Result<Value, SqlError> {
    let refused = |number, text: String| Err(SqlError::new(number, 16, text));
    let number = |i: usize| v[i].as_i64();
    let size = match &v[0] {
        Value::Null => {
            let column = v[4].as_str().unwrap_or("");
            let text = format!("Mutator 'WRITE()' on '{column}' cannot be called on a null value.");
            return refused(5302, text);
        }
        Value::Binary(bytes) => bytes.len(),
        other => other.as_str().unwrap_or("").chars().count(),
    };
    let offset = match number(2) {
        None => size,
        Some(at) => match usize::try_from(at) {
            Ok(at) if at <= size => at,
            _ => {
                let text = format!("Offset {at} is not in the range of available LOB data.");
                return refused(7116, text);
            }
        },
    };
    let cut = v[1].is_null() || v[2].is_null() || v[3].is_null();
    let end = match number(3).filter(|_| !cut) {
        None => size,
        Some(length) => match usize::try_from(length) {
            Ok(length) => offset.saturating_add(length).min(size),
            Err(_) => {
                let text = format!(
                    "Deletion length {length} is not in the range of available text, ntext, or image data."
                );
                return refused(7135, text);
            }
        },
    };
    Ok(match (&v[0], &v[1]) {
        (Value::Binary(old), new) => {
            let new = if let Value::Binary(new) = new { &new[..] } else { &[] };
            Value::binary(&[&old[..offset], new, &old[end..]].concat())
        }
        (old, new) => {
            let (old, new) = (old.as_str().unwrap_or(""), new.as_str().unwrap_or(""));
            let (head, tail) = (take(old, 0, offset), take(old, end, usize::MAX));
            Value::str(&[&*head, new, &*tail].concat())
        }
    })
}

/// What the function's type holds of it.
fn cut(mut text: String, ty: SqlType) -> String {
    if let SqlType::VarChar(len) | SqlType::NVarChar(len) = ty
        && text.len() > len.limit()
    {
        match ty.is_unicode() {
            true => types::collation::truncate_units(&mut text, len.limit()),
            false => types::collation::truncate_chars(&mut text, len.limit()),
        }
    }
    text
}

/// The text in other letters; a letter that the code page lacks in them stays as it is.
fn cased<'t>(s: &str, turned: &'t str, value: &Value, ty: SqlType) -> Cow<'t, str> {
    let page = value.rule().code_page();
    if ty.is_unicode() || turned.is_ascii() || turned.chars().all(|c| page.holds(c)) {
        return Cow::Borrowed(turned);
    }
    let pairs = s.chars().zip(turned.chars());
    Cow::Owned(pairs.map(|(c, to)| if page.holds(to) { to } else { c }).collect())
}

fn take(s: &str, skip: usize, count: usize) -> String {
    s.chars().skip(skip).take(count).collect()
}

fn repeat(s: &str, n: i64, ty: SqlType) -> Result<String, SqlError> {
    let limit = match ty {
        SqlType::VarChar(len) | SqlType::NVarChar(len) => len.limit(),
        _ => 8000,
    };
    let unit = s.chars().count().max(1);
    let times = (n as usize).min(limit.div_ceil(unit));
    crate::eval::value_of(times.saturating_mul(s.len()))?;
    let mut out = String::with_capacity(times * s.len());
    let mut left = limit;
    for _ in 0..times {
        match unit <= left {
            true => out.push_str(s),
            false => out.extend(s.chars().take(left)),
        }
        left = left.saturating_sub(unit);
        runtime::task::maybe_yield();
    }
    Ok(out)
}

/// Bytes of a value as SQL Server stores it.
fn data_length(value: &Value, ty: SqlType) -> usize {
    match value {
        Value::Variant(held) => data_length(held.value(), held.ty()),
        Value::Str(text) if ty.is_unicode() || ty == SqlType::Xml => {
            types::collation::utf16_len(text) * 2
        }
        Value::Str(text) => {
            let page = text.rule().code_page();
            text.chars().map(|c| page.bytes_of(c)).sum()
        }
        Value::Binary(bytes) => bytes.len(),
        _ => match ty {
            SqlType::Bit | SqlType::TinyInt => 1,
            SqlType::SmallInt => 2,
            SqlType::Int | SqlType::Real | SqlType::SmallMoney | SqlType::SmallDateTime => 4,
            SqlType::Date => 3,
            SqlType::Time(p) => time_bytes(p),
            SqlType::DateTime2(p) => time_bytes(p) + 3,
            SqlType::DateTimeOffset(p) => time_bytes(p) + 5,
            SqlType::Decimal { precision, .. } => match precision {
                0..=9 => 5,
                10..=19 => 9,
                20..=28 => 13,
                _ => 17,
            },
            SqlType::UniqueIdentifier => 16,
            _ => 8,
        },
    }
}

fn time_bytes(p: u8) -> usize {
    match p {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}

/// The rule for a function's texts.
fn rule_of(v: &[Value]) -> Rule {
    v.iter().fold(Rule::CiAs, |rule, value| rule.meet(value.rule()))
}

fn same(rule: Rule, a: char, b: char) -> bool {
    rule.same(a, b)
}

/// A text to be looked for, with what lets a search go on without stepping back (Knuth, Morris and Pratt): for each
/// prefix the length of the longest one that also ends it. So a search takes the time of both lengths together.
struct Needle {
    rule: Rule,
    what: Vec<char>,
    borders: Vec<usize>,
}

impl Needle {
    fn new(rule: Rule, what: &str) -> Needle {
        let what: Vec<char> = what.chars().collect();
        let mut borders = vec![0; what.len()];
        let mut matched = 0;
        for i in 1..what.len() {
            while matched > 0 && !same(rule, what[matched], what[i]) {
                matched = borders[matched - 1];
            }
            matched += usize::from(same(rule, what[matched], what[i]));
            borders[i] = matched;
        }
        Needle { rule, what, borders }
    }

    /// Where it first stands in `s` at or behind `from`, by characters.
    fn find(&self, s: &[char], from: usize) -> Option<usize> {
        if self.what.is_empty() {
            return None;
        }
        let mut matched = 0;
        for (i, c) in s.iter().enumerate().skip(from) {
            while matched > 0 && !same(self.rule, self.what[matched], *c) {
                matched = self.borders[matched - 1];
            }
            matched += usize::from(same(self.rule, self.what[matched], *c));
            if matched == self.what.len() {
                return Some(i + 1 - matched);
            }
            if i % 64 == 0 {
                runtime::task::maybe_yield();
            }
        }
        None
    }
}

fn char_index(rule: Rule, what: &str, s: &str, start: i64) -> usize {
    let s: Vec<char> = s.chars().collect();
    let from = (start.max(1) - 1) as usize;
    Needle::new(rule, what).find(&s, from).map_or(0, |i| i + 1)
}

fn replace(rule: Rule, s: &str, from: &str, to: &str) -> Result<String, SqlError> {
    let (s, needle) = (s.chars().collect::<Vec<char>>(), Needle::new(rule, from));
    let mut out = String::new();
    let mut at = 0;
    while let Some(i) = needle.find(&s, at) {
        out.extend(&s[at..i]);
        crate::eval::value_of(out.len() + to.len())?;
        out.push_str(to);
        at = i + needle.what.len();
        runtime::task::maybe_yield();
    }
    out.extend(&s[at..]);
    Ok(out)
}

fn quote(s: &str, delimiter: Option<&str>) -> Value {
    if s.chars().count() > 128 {
        return Value::Null;
    }
    let (open, close) = match delimiter.and_then(|d| d.chars().next()).unwrap_or('[') {
        '[' | ']' => ('[', ']'),
        '(' | ')' => ('(', ')'),
        '<' | '>' => ('<', '>'),
        '{' | '}' => ('{', '}'),
        c @ ('\'' | '"' | '`') => (c, c),
        _ => return Value::Null,
    };
    let mut out = String::from(open);
    for c in s.chars() {
        out.push(c);
        if c == close {
            out.push(c);
        }
    }
    out.push(close);
    Value::str(&out)
}

fn soundex(s: &str) -> String {
    let code = |c: char| match c.to_ascii_uppercase() {
        'B' | 'F' | 'P' | 'V' => '1',
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => '2',
        'D' | 'T' => '3',
        'L' => '4',
        'M' | 'N' => '5',
        'R' => '6',
        'H' | 'W' => '-',
        _ => '0',
    };
    let mut letters = s.chars().take_while(char::is_ascii_alphabetic);
    let Some(first) = letters.next() else { return "0000".to_string() };
    let mut out = String::from(first.to_ascii_uppercase());
    let mut last = code(first);
    for c in letters {
        let digit = code(c);
        if digit != '-' {
            if digit != '0' && digit != last {
                out.push(digit);
            }
            last = digit;
        }
        if out.len() == 4 {
            break;
        }
    }
    while out.len() < 4 {
        out.push('0');
    }
    out
}

/// Part 1 is the object, 2 the schema, 3 the database, 4 the server.
fn parse_name(s: &str, part: i64) -> Value {
    let mut parts = vec![String::new()];
    let mut chars = s.chars().peekable();
    let mut end = None;
    while let Some(c) = chars.next() {
        let part = parts.last_mut().expect("there is a part");
        match (c, end) {
            // The closing character doubled stands for itself.
            (_, Some(close)) if c == close => match chars.next_if_eq(&close) {
                Some(_) => part.push(c),
                None => end = None,
            },
            (_, Some(_)) => part.push(c),
            ('[', None) if part.is_empty() => end = Some(']'),
            ('"', None) if part.is_empty() => end = Some('"'),
            ('.', None) => parts.push(String::new()),
            _ => part.push(c),
        }
    }
    let too_long = |part: &String| part.chars().count() > 128;
    if parts.len() > 4 || end.is_some() || parts.iter().any(too_long) {
        return Value::Null;
    }
    match usize::try_from(part) {
        Ok(p @ 1..=4) if p <= parts.len() && !parts[parts.len() - p].is_empty() => {
            Value::str(&parts[parts.len() - p])
        }
        _ => Value::Null,
    }
}
