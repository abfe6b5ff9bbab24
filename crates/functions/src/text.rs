//! Functions of text. Positions and lengths count characters, from 1.
//!
//! A text may be long: every walk over one breathes, and the memory of what is made is asked for first.

use super::int;
use super::number::real;
use crate::error::FunctionError;
use crate::size::{VALUE_BYTES_MAX, value_of};
use ir::{Expr, FuncId};
use runtime::task::{Breath, Stopped, append, append_bytes, breathing, copied};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use types::collation::{Rule, units};
use types::{AsciiNeedle, SqlType, Value, format};

/// Texts of Unicode go by UTF-16 units, unless the last argument, beyond those that the function has, says that their
/// collation counts characters (_SC).
pub(super) fn call(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
) -> Result<Value, FunctionError> {
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

fn of_characters(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
) -> Result<Value, FunctionError> {
    use FuncId::*;
    match func {
        Concat => {
            let mut out = String::new();
            for (value, arg) in v.iter().zip(args) {
                let part = plain(value, arg.ty)?;
                value_of(out.len() + part.len())?;
                append(&mut out, &part);
            }
            return Ok(Value::Str(cut(out, ty).into()));
        }
        ConcatWs => {
            let separator = plain(&v[0], args[0].ty)?;
            let mut parts = Vec::new();
            for (value, arg) in v.iter().zip(args).skip(1).filter(|(value, _)| !value.is_null()) {
                parts.push(plain(value, arg.ty)?);
            }
            let bytes = parts.iter().map(|part| part.len() + separator.len()).sum();
            value_of(bytes)?;
            let mut out = String::with_capacity(bytes);
            for (i, part) in parts.iter().enumerate() {
                append(&mut out, if i > 0 { &separator } else { "" });
                append(&mut out, part);
            }
            return Ok(Value::Str(cut(out, ty).into()));
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
            let spaces = breathing(bytes.iter().rev()).take_while(|byte| **byte == b' ').count();
            return int((bytes.len() - spaces) as i64, ty);
        }
        Len => return int(characters(trimmed(s, |c| c == ' ', false, true)?)? as i64, ty),
        DataLength => return int(data_length(&v[0], args[0].ty) as i64, ty),
        Left => text_of(part(s, 0, length(n(1), BAD_LENGTH)?)?),
        Right => {
            let count = length(n(1), BAD_RIGHT_LENGTH)?;
            let skip = characters(s)?.saturating_sub(count);
            text_of(part(s, skip, count)?)
        }
        Substring => {
            let (start, count) = (n(1), length(n(2), BAD_LENGTH)? as i64);
            let end = start.saturating_add(count);
            let from = start.max(1);
            let count = (end - from).max(0) as usize;
            match &v[0] {
                Value::Binary(bytes) => {
                    let from = ((from - 1) as usize).min(bytes.len());
                    let mut out = Vec::new();
                    let end = from.saturating_add(count).min(bytes.len());
                    append_bytes(&mut out, &bytes[from..end]);
                    Value::Binary(out.into())
                }
                _ => text_of(part(s, (from - 1) as usize, count)?),
            }
        }
        Upper | Lower => {
            let rule = v[0].rule();
            let turned = |piece: &str| {
                let turned = if func == Upper { rule.upper(piece) } else { rule.lower(piece) };
                match cased(piece, &turned, &v[0], ty) {
                    Cow::Owned(kept) => kept,
                    Cow::Borrowed(_) => turned,
                }
            };
            Value::Str(by_pieces(s, turned)?.into())
        }
        LTrim | RTrim | Trim => {
            let (front, back) = (func != RTrim, func != LTrim);
            if v.len() == 1 {
                return Ok(text_of(trimmed(s, |c| c == ' ', front, back)?));
            }
            let set: HashSet<char> = breathing(t(1).chars()).collect();
            text_of(trimmed(s, |c| set.contains(&c), front, back)?)
        }
        Reverse => {
            value_of(s.len())?;
            let mut out = String::with_capacity(s.len());
            out.extend(breathing(s.chars().rev()));
            Value::Str(out.into())
        }
        Replace => Value::Str(cut(replace(rule_of(v), s, t(1), t(2))?, ty).into()),
        Replicate if n(1) < 0 => Value::Null,
        Replicate => Value::Str(repeat(s, n(1), ty)?.into()),
        Space if n(0) < 0 => Value::Null,
        Space => Value::Str(repeat(" ", n(0), ty)?.into()),
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
        CharIndex => return int(char_index(rule_of(v), s, t(1), n(2))? as i64, ty),
        PatIndex => {
            let pattern = types::Pattern::under(rule_of(v), s, None)?;
            return int(pattern.find(t(1)) as i64, ty);
        }
        Stuff => {
            let (start, count) = (n(1), n(2));
            let chars = characters(s)? as i64;
            if start < 1 || start > chars || count < 0 {
                return Ok(Value::Null);
            }
            let head = part(s, 0, (start - 1) as usize)?;
            let tail = part(s, (start - 1).saturating_add(count) as usize, usize::MAX)?;
            value_of(head.len() + tail.len() + t(3).len())?;
            Value::Str(cut(joined([head, t(3), tail]), ty).into())
        }
        Char => match u8::try_from(n(0)) {
            Ok(byte) => character_of(byte, v.get(1)),
            Err(_) => Value::Null,
        },
        // A pair of surrogates is of collations with _SC alone; the database's is none.
        NChar => match u16::try_from(n(0)) {
            Ok(unit) => Value::str(&units::from_units(std::iter::once(unit))),
            Err(_) => Value::Null,
        },
        Ascii => match part(s, 0, 1)? {
            "" => Value::Null,
            first => {
                let mut bytes = Vec::new();
                v[0].rule().code_page().encode_into(first, &mut bytes);
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
                return Err(FunctionError::new(
                    9828,
                    16,
                    "The second and third arguments of the TRANSLATE built-in function must \
                     contain an equal number of characters.",
                ));
            }
            let rule = rule_of(v);
            // Each character is looked for once.
            let mut turned: HashMap<char, char> = HashMap::new();
            let mut turn = |c: char| {
                *turned.entry(c).or_insert_with(|| {
                    let place = breathing(from.iter()).position(|f| same(rule, *f, c));
                    place.map_or(c, |i| to[i])
                })
            };
            value_of(s.len())?;
            Value::Str(breathing(s.chars()).map(&mut turn).collect::<String>().into())
        }
        ParseName => parse_name(s, n(1)),
        other => stdx::fatal!("{other:?} is no function of text"),
    })
}

/// A value as text, NULL as the empty one.
fn plain(value: &Value, ty: SqlType) -> Result<String, FunctionError> {
    match value {
        Value::Null => Ok(String::new()),
        Value::Str(text) => Ok(copied(text)),
        _ => Ok(format::to_text(value, ty, 0)?.unwrap_or_default()),
    }
}

type Refusal = (i32, &'static str);
const BAD_LENGTH: Refusal =
    (537, "Invalid length parameter passed to the LEFT or SUBSTRING function.");
const BAD_RIGHT_LENGTH: Refusal = (536, "Invalid length parameter passed to the RIGHT function.");

fn length(n: i64, (number, text): Refusal) -> Result<usize, FunctionError> {
    usize::try_from(n).map_err(|_| FunctionError::new(number, 16, text).with_state(2))
}

/// `column.WRITE (expression, offset, length)`: a part of a large value replaced, counted from 0. Without an offset the
/// expression comes at the end, without a length it takes the place of all that follows, and without an expression the
/// value ends at the offset. 5302, 7116, 7135.
fn write_into(v: &[Value]) -> Result<Value, FunctionError> {
    let refused = |number, text: String| Err(FunctionError::new(number, 16, text));
    let number = |i: usize| v[i].as_i64();
    let size = match &v[0] {
        Value::Null => {
            let column = v[4].as_str().unwrap_or("");
            let text = format!("Mutator 'WRITE()' on '{column}' cannot be called on a null value.");
            return refused(5302, text);
        }
        Value::Binary(bytes) => bytes.len(),
        other => characters(other.as_str().unwrap_or(""))?,
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
            value_of(offset + new.len() + old.len() - end)?;
            let mut out = Vec::new();
            for part in [&old[..offset], new, &old[end..]] {
                append_bytes(&mut out, part);
            }
            Value::Binary(out.into())
        }
        (old, new) => {
            let (old, new) = (old.as_str().unwrap_or(""), new.as_str().unwrap_or(""));
            let (head, tail) = (part(old, 0, offset)?, part(old, end, usize::MAX)?);
            value_of(head.len() + new.len() + tail.len())?;
            Value::Str(joined([head, new, tail]).into())
        }
    })
}

/// A text as a value.
fn text_of(s: &str) -> Value {
    if s.len() < PIECE_BYTES { Value::str(s) } else { Value::Str(copied(s).into()) }
}

/// Three texts, one behind the other.
fn joined(parts: [&str; 3]) -> String {
    let mut out = String::with_capacity(parts.iter().map(|part| part.len()).sum());
    parts.iter().for_each(|part| append(&mut out, part));
    out
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

/// The character of a byte in the code page of the rule with these bits, 1252 without; NULL where it takes more bytes.
fn character_of(byte: u8, rule: Option<&Value>) -> Value {
    let bits = rule.and_then(Value::as_i64).and_then(|bits| u16::try_from(bits).ok());
    let rule = bits.map_or(Rule::CiAs, Rule::from_bits);
    let found = rule.code_page().decode(&[byte]);
    match found.contains(char::REPLACEMENT_CHARACTER) {
        true => Value::Null,
        false => Value::Str(types::Text::from(found).with_rule(rule)),
    }
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

/// A long text in pieces of so many bytes.
const PIECE_BYTES: usize = 64 << 10;

/// The first piece of a text, and the rest.
fn piece(s: &str) -> (&str, &str) {
    s.split_at(stdx::floor_char_boundary(s, PIECE_BYTES))
}

/// How many characters it has.
pub(super) fn characters(s: &str) -> Result<usize, FunctionError> {
    let (mut count, mut rest, mut breath) = (0, s, Breath::new());
    while !rest.is_empty() {
        let (first, behind) = piece(rest);
        count += first.chars().count();
        breath.steps(first.len() / 16)?;
        rest = behind;
    }
    Ok(count)
}

/// `count` characters behind the first `skip`.
fn part(s: &str, skip: usize, count: usize) -> Result<&str, FunctionError> {
    let from = byte_of(s, skip)?;
    let rest = &s[from..];
    Ok(if count >= rest.len() { rest } else { &rest[..byte_of(rest, count)?] })
}

/// The byte where the character of that place begins; the end for one behind it.
fn byte_of(s: &str, place: usize) -> Result<usize, FunctionError> {
    let (mut left, mut rest, mut breath) = (place, s, Breath::new());
    while !rest.is_empty() {
        let (first, behind) = piece(rest);
        let here = if first.is_ascii() { first.len() } else { first.chars().count() };
        if left < here {
            let at = first.char_indices().nth(left).map_or(first.len(), |(at, _)| at);
            return Ok(s.len() - rest.len() + at);
        }
        left -= here;
        breath.steps(first.len() / 16)?;
        rest = behind;
    }
    Ok(s.len())
}

/// What `turn` makes of it, piece by piece.
fn by_pieces(s: &str, turn: impl Fn(&str) -> String) -> Result<String, FunctionError> {
    if s.len() <= PIECE_BYTES {
        return Ok(turn(s));
    }
    value_of(s.len())?;
    let (mut out, mut rest) = (String::with_capacity(s.len()), s);
    while !rest.is_empty() {
        let (first, behind) = piece(rest);
        out.push_str(&turn(first));
        runtime::task::breathe()?;
        rest = behind;
    }
    Ok(out)
}

/// Without the characters of a kind at its front and its back.
fn trimmed(
    s: &str,
    goes: impl Fn(char) -> bool,
    front: bool,
    back: bool,
) -> Result<&str, FunctionError> {
    let mut breath = Breath::new();
    let mut step = |c: char| breath.step().map(|()| goes(c));
    let (mut from, mut to) = (0, s.len());
    for c in s.chars().take_while(|_| front) {
        if !step(c)? {
            break;
        }
        from += c.len_utf8();
    }
    for c in s[from..].chars().rev().take_while(|_| back) {
        if !step(c)? {
            break;
        }
        to -= c.len_utf8();
    }
    Ok(&s[from..to])
}

fn repeat(s: &str, n: i64, ty: SqlType) -> Result<String, FunctionError> {
    let limit = match ty {
        SqlType::VarChar(len) | SqlType::NVarChar(len) => len.limit(),
        _ => 8000,
    };
    let unit = characters(s)?.max(1);
    let times = (n as usize).min(limit.div_ceil(unit));
    value_of(times.saturating_mul(s.len()))?;
    let mut breath = Breath::new();
    let mut out = String::with_capacity(times * s.len());
    let mut left = limit;
    for _ in 0..times {
        match unit <= left {
            true => out.push_str(s),
            false => out.extend(s.chars().take(left)),
        }
        left = left.saturating_sub(unit);
        breath.steps(1 + s.len() / 16)?;
    }
    Ok(out)
}

/// Bytes of a value as SQL Server stores it.
fn data_length(value: &Value, ty: SqlType) -> usize {
    match value {
        Value::Variant(held) => data_length(held.value(), held.ty()),
        Value::Str(text) if ty.is_unicode() || ty.is_xml() => types::collation::utf16_len(text) * 2,
        Value::Str(text) => {
            let page = text.rule().code_page();
            if text.is_ascii() {
                return text.len();
            }
            breathing(text.chars()).map(|c| page.bytes_of(c)).sum()
        }
        Value::Binary(bytes) => bytes.len(),
        Value::Decimal(d) => d.storage_bytes(),
        _ => match ty {
            SqlType::Bit | SqlType::TinyInt => 1,
            SqlType::SmallInt => 2,
            SqlType::Int | SqlType::Real | SqlType::SmallMoney | SqlType::SmallDateTime => 4,
            SqlType::Date => 3,
            SqlType::Time(p) => time_bytes(p),
            SqlType::DateTime2(p) => time_bytes(p) + 3,
            SqlType::DateTimeOffset(p) => time_bytes(p) + 5,
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
    fn new(rule: Rule, what: &str) -> Result<Needle, Stopped> {
        let what: Vec<char> = breathing(what.chars()).collect();
        let mut borders = vec![0; what.len()];
        let (mut matched, mut breath) = (0, Breath::new());
        for i in 1..what.len() {
            while matched > 0 && !same(rule, what[matched], what[i]) {
                matched = borders[matched - 1];
            }
            matched += usize::from(same(rule, what[matched], what[i]));
            borders[i] = matched;
            breath.step()?;
        }
        Ok(Needle { rule, what, borders })
    }

    /// Where it first stands in `s`: its bytes.
    fn find(&self, s: &str, breath: &mut Breath) -> Result<Option<(usize, usize)>, Stopped> {
        if self.what.is_empty() {
            return Ok(None);
        }
        let mut matched = 0;
        for (at, c) in s.char_indices() {
            while matched > 0 && !same(self.rule, self.what[matched], c) {
                matched = self.borders[matched - 1];
            }
            matched += usize::from(same(self.rule, self.what[matched], c));
            if matched == self.what.len() {
                let end = at + c.len_utf8();
                let mut found = s[..end].char_indices().rev();
                let from = found.nth(matched - 1).map_or(0, |(from, _)| from);
                return Ok(Some((from, end)));
            }
            breath.step()?;
        }
        Ok(None)
    }
}

fn char_index(rule: Rule, what: &str, s: &str, start: i64) -> Result<usize, FunctionError> {
    let from = byte_of(s, (start.max(1) - 1) as usize)?;
    if let Some(needle) = AsciiNeedle::new(rule, what, &s[from..]) {
        let found = needle.find(&s[from..]);
        return found.map_or(Ok(0), |at| Ok(characters(&s[..from])? + at + 1));
    }
    let found = Needle::new(rule, what)?.find(&s[from..], &mut Breath::new())?;
    found.map_or(Ok(0), |(at, _)| Ok(characters(&s[..from + at])? + 1))
}

fn replace(rule: Rule, s: &str, from: &str, to: &str) -> Result<String, FunctionError> {
    value_of(s.len())?;
    let ascii = AsciiNeedle::new(rule, from, s);
    let (needle, mut breath) = match &ascii {
        Some(_) => (None, Breath::new()),
        None => (Some(Needle::new(rule, from)?), Breath::new()),
    };
    let next = |rest: &str, breath: &mut Breath| match (&ascii, &needle) {
        (Some(ascii), _) => Ok(ascii.find(rest).map(|at| (at, at + from.len()))),
        (None, Some(needle)) => needle.find(rest, breath),
        (None, None) => Ok(None),
    };
    let (mut out, mut rest) = (String::new(), s);
    while let Some((at, end)) = next(rest, &mut breath)? {
        let bytes = out.len() + at + to.len();
        if bytes > out.capacity() {
            value_of(bytes.saturating_mul(2).min(VALUE_BYTES_MAX.max(bytes)))?;
        }
        append(&mut out, &rest[..at]);
        out.push_str(to);
        breath.steps(1 + to.len() / 16)?;
        rest = &rest[end..];
    }
    value_of(out.len() + rest.len())?;
    append(&mut out, rest);
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
