//! FORMAT, PARSE and TRY_PARSE: values in a culture's form.
//!
//! What they read is nvarchar(4000), as in SQL Server: of a longer text the beginning counts, so none of them is long work.

use crate::Statement;
use crate::error::FunctionError;
use ir::{Expr, FuncId};
use types::culture::Culture;
use types::{SqlType, Value, convert, picture};

#[inline(never)]
pub(super) fn call(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
    statement: &mut dyn Statement,
) -> Result<Value, FunctionError> {
    if v.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let given = if func == FuncId::Format { v.get(2) } else { v.get(1) };
    let culture = match given.and_then(Value::as_str) {
        None => Culture::of_language(statement.language()),
        Some(name) => Culture::find(name).ok_or_else(|| {
            FunctionError::new(
                9818,
                16,
                format!(
                    "The culture parameter '{name}' provided in the function call is not supported."
                ),
            )
        })?,
    };
    if func == FuncId::Format {
        let text = picture::format(&v[0], beginning(v[1].as_str().unwrap_or("")), culture);
        return Ok(text.map_or(Value::Null, |t| Value::str(&t)));
    }
    let text = beginning(v[0].as_str().unwrap_or(""));
    let plain =
        if ty.is_temporal() { plain_date(text, culture) } else { plain_number(text, culture) };
    let style = match culture.short_date.chars().next() {
        _ if !ty.is_temporal() => 0,
        Some('d') => 103,
        Some('y') => 111,
        _ => 101,
    };
    let as_text = args[0].ty;
    // The culture's own order first, then whatever a date may look like.
    let read = plain.and_then(|plain| {
        let plain = Value::str(&plain);
        convert::cast(&plain, as_text, ty, style)
            .or_else(|_| convert::cast(&plain, as_text, ty, statement.date_style()))
            .ok()
    });
    match (read, func) {
        (Some(value), _) => Ok(value),
        (None, FuncId::TryParse) => Ok(Value::Null),
        (None, _) => Err(FunctionError::new(
            9819,
            16,
            format!(
                "Error converting string value '{text}' into data type {} using culture '{}'.",
                ty.name(),
                given.and_then(Value::as_str).unwrap_or("")
            ),
        )),
    }
}

/// The first 4,000 units of UTF-16.
fn beginning(text: &str) -> &str {
    const UNITS: usize = 4_000;
    if text.len() <= UNITS {
        return text;
    }
    let mut units = 0;
    let end = text.char_indices().find(|(_, c)| {
        units += c.len_utf16();
        units > UNITS
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// A number without what only the culture puts in; `None` when it cannot be one.
fn plain_number(text: &str, culture: &Culture) -> Option<String> {
    let mut text = text.trim().to_owned();
    let mut negative = false;
    if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        negative = true;
        text = inner.to_owned();
    }
    text = text.replacen(culture.currency, "", 1);
    let mut out = String::new();
    let mut behind = false;
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(culture.decimal) {
            if behind {
                return None;
            }
            behind = true;
            out.push('.');
            rest = after;
            continue;
        }
        let group = rest.strip_prefix(culture.group);
        if let Some(after) = group.filter(|_| !behind) {
            rest = after;
            continue;
        }
        match c {
            '0'..='9' | 'e' | 'E' | '+' => out.push(c),
            '-' if out.ends_with(['e', 'E']) => out.push(c),
            '-' => negative = !negative,
            '\u{a0}' | ' ' => {}
            _ => return None,
        }
        rest = &rest[c.len_utf8()..];
    }
    let digits = out.bytes().any(|b| b.is_ascii_digit());
    digits.then(|| if negative { format!("-{out}") } else { out })
}

/// A date without its weekday and with English months.
fn plain_date(text: &str, culture: &Culture) -> Option<String> {
    let mut out = text.trim().to_owned();
    for day in culture.days.iter().chain(&culture.short_days) {
        let begins = out.get(..day.len()).is_some_and(|s| s.to_lowercase() == day.to_lowercase());
        let word = out[day.len().min(out.len())..].chars().next();
        if begins && !word.is_some_and(char::is_alphanumeric) {
            out = out[day.len()..].trim_start_matches([',', ' ', '.']).to_owned();
            break;
        }
    }
    let lower = out.to_lowercase();
    for (i, month) in culture.months.iter().enumerate() {
        let month = month.to_lowercase();
        if let Some(at) = lower.find(&month)
            && lower.len() == out.len()
        {
            out.replace_range(at..at + month.len(), Culture::US.months[i]);
            break;
        }
    }
    Some(out)
}
