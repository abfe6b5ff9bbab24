//! RAISERROR's printf: `%d %i %u %s %x %X %o`, with flags, width and `%%`.

use types::{SqlType, Value, format};

/// The message with its arguments in place. A missing argument prints as `(null)`.
pub(crate) fn format_message(text: &str, args: &[(Value, SqlType)]) -> String {
    let mut out = String::new();
    let mut args = args.iter();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut left = false;
        let mut zero = false;
        let mut width = 0usize;
        while let Some(flag) = chars.next_if(|c| matches!(c, '-' | '0' | '+' | ' ' | '#')) {
            left |= flag == '-';
            zero |= flag == '0';
        }
        while let Some(digit) = chars.next_if(char::is_ascii_digit) {
            width = (width * 10 + digit as usize - '0' as usize).min(4000);
        }
        let mut precision = None;
        if chars.next_if_eq(&'.').is_some() {
            let mut digits = 0usize;
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits = (digits * 10 + digit as usize - '0' as usize).min(4000);
            }
            precision = Some(digits);
        }
        while chars.next_if(|c| matches!(c, 'l' | 'h' | 'I' | '6' | '4')).is_some() {}
        let shown = match chars.next() {
            None => break,
            Some('%') => {
                out.push('%');
                continue;
            }
            Some(kind) => {
                let shown = show(kind, args.next());
                match precision {
                    Some(n) if kind == 's' => shown.chars().take(n).collect(),
                    _ => shown,
                }
            }
        };
        let fill = width.saturating_sub(shown.chars().count());
        match (left, zero) {
            (true, _) => {
                out.push_str(&shown);
                out.extend(std::iter::repeat_n(' ', fill));
            }
            (false, zero) => {
                out.extend(std::iter::repeat_n(if zero { '0' } else { ' ' }, fill));
                out.push_str(&shown);
            }
        }
    }
    out
}

fn show(kind: char, arg: Option<&(Value, SqlType)>) -> String {
    let Some((value, ty)) = arg else { return "(null)".to_string() };
    match (kind, value.as_i64()) {
        (_, None) if value.is_null() => "(null)".to_string(),
        ('x', Some(n)) => format!("{n:x}"),
        ('X', Some(n)) => format!("{n:X}"),
        ('o', Some(n)) => format!("{n:o}"),
        ('u', Some(n)) => format!("{}", n as u32),
        (_, Some(n)) => n.to_string(),
        _ => format::to_text(value, *ty, 0).ok().flatten().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_as_c_does() {
        let args = [
            (Value::Int(7), SqlType::Int),
            (Value::str("abc"), SqlType::VarChar(types::Len::N(10))),
        ];
        assert_eq!(format_message("%d and %s, 100%%", &args), "7 and abc, 100%");
        assert_eq!(format_message("[%03d] [%-5s]", &args), "[007] [abc  ]");
        assert_eq!(format_message("%d %.2s %d", &args), "7 ab (null)");
    }
}
