//! Strings as JSON writes them.

use runtime::task::breathing;
use std::fmt::Write;

/// Appends the string with its quotes and escapes, as FOR JSON writes it: `/` is escaped too.
pub fn quote_into(text: &str, out: &mut String) {
    out.push('"');
    escape_into(text, out);
    out.push('"');
}

/// The same without quotes: STRING_ESCAPE(text, 'json').
pub(crate) fn escape_into(text: &str, out: &mut String) {
    for c in breathing(text.chars()) {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
}

/// What a string of a checked text says; `raw` has its quotes. A lone surrogate becomes U+FFFD.
pub fn unquote(raw: &str) -> String {
    let inner = raw.strip_prefix('"').and_then(|r| r.strip_suffix('"')).unwrap_or(raw);
    if !inner.contains('\\') {
        return inner.to_owned();
    }
    let mut out = String::with_capacity(inner.len());
    let mut chars = breathing(inner.chars());
    let mut units: Vec<u16> = Vec::new();
    let flush = |units: &mut Vec<u16>, out: &mut String| {
        if !units.is_empty() {
            out.push_str(&String::from_utf16_lossy(units));
            units.clear();
        }
    };
    while let Some(c) = chars.next() {
        if c != '\\' {
            flush(&mut units, &mut out);
            out.push(c);
            continue;
        }
        let escaped = chars.next().unwrap_or('\\');
        if escaped == 'u' {
            let code = chars.by_ref().take(4).fold(0, |n, d| n * 16 + d.to_digit(16).unwrap_or(0));
            units.push(code as u16);
            continue;
        }
        flush(&mut units, &mut out);
        out.push(match escaped {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            other => other,
        });
    }
    flush(&mut units, &mut out);
    out
}
