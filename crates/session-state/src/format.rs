//! RAISERROR's printf: `%d %i %u %s %x %X %o`, with flags, width and `%%`.

use executor::SqlError;
use types::{SqlType, Value, format};

/// UTF-16 units that a message has at most.
const UNITS_MAX: usize = 2047;

/// As long as the message of RAISERROR or FORMATMESSAGE may be: a longer one ends in an ellipsis.
pub fn cut(mut text: String) -> String {
    if text.encode_utf16().count() <= UNITS_MAX {
        return text;
    }
    let mut units = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        units += c.len_utf16();
        (units > UNITS_MAX - 3).then_some(at)
    });
    text.truncate(end.unwrap_or(text.len()));
    text + "..."
}

/// What RAISERROR asks of a text and its arguments before it raises it: 2748, 2787, 2786.
pub fn check_places(text: &str, args: &[(Value, SqlType)]) -> Result<(), SqlError> {
    check_types(args, 4)?;
    check_formats(text, args)
}

/// The text of FORMATMESSAGE, which tells only 2748; what else is wrong makes a text of its own.
pub fn message_text(text: &str, args: &[(Value, SqlType)]) -> Result<String, SqlError> {
    let used = places(text).iter().map(|place| 1 + place.stars).sum::<usize>();
    check_types(&args[..used.min(args.len())], 2)?;
    if text.is_empty() || check_formats(text, args).is_err() {
        return Ok("Error: 50000, Severity: -1, State: 1. (Params:). The error is printed in terse mode because there was \
                   error during formatting. Tracing, ETW, notifications etc are skipped.\r\n"
            .to_owned());
    }
    Ok(cut(format_message(text, args)))
}

fn is_whole(ty: SqlType) -> bool {
    matches!(ty, SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt)
}

fn is_bytes(ty: SqlType) -> bool {
    matches!(ty, SqlType::Binary(_) | SqlType::VarBinary(_))
}

/// 2748, for a statement or a function whose first argument is parameter `first`.
fn check_types(args: &[(Value, SqlType)], first: usize) -> Result<(), SqlError> {
    let taken = |ty: SqlType| ty.is_character() || is_whole(ty) || is_bytes(ty);
    if let Some(i) = args.iter().position(|(_, ty)| !taken(*ty)) {
        let (name, place) = (args[i].1.name(), i + first);
        let text = format!(
            "Cannot specify {name} data type (parameter {place}) as a substitution parameter."
        );
        return Err(SqlError::new(2748, 16, text));
    }
    Ok(())
}

/// 2786, 2787.
fn check_formats(text: &str, args: &[(Value, SqlType)]) -> Result<(), SqlError> {
    let mut next = 0;
    let mut fits = |kind: char, long: bool| {
        let i = next;
        next += 1;
        // NULL is shown as such in any place.
        let Some((_, ty)) = args.get(i).filter(|(value, _)| !value.is_null()) else {
            return Ok(());
        };
        let good = match kind {
            _ if is_bytes(*ty) => true,
            's' => ty.is_character(),
            // A bigint asks for %I64d.
            _ => is_whole(*ty) && (long || *ty != SqlType::BigInt),
        };
        let text = format!(
            "The data type of substitution parameter {} does not match the expected type of the format specification.",
            i + 1
        );
        if good { Ok(()) } else { Err(SqlError::new(2786, 16, text)) }
    };
    for place in places(text) {
        for _ in 0..place.stars {
            fits('d', false)?;
        }
        match place.kind {
            Some(kind @ ('d' | 'i' | 'u' | 'o' | 'x' | 'X' | 's')) => fits(kind, place.long)?,
            _ => {
                let text = format!("Invalid format specification: '{}'.", place.text);
                return Err(SqlError::new(2787, 16, text));
            }
        }
    }
    Ok(())
}

/// The message with its arguments in place. A missing argument prints as `(null)`.
pub fn format_message(text: &str, args: &[(Value, SqlType)]) -> String {
    let mut out = String::new();
    let mut args = args.iter();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut flags = Flags::default();
        let mut width = 0usize;
        while let Some(flag) = chars.next_if(|c| matches!(c, '-' | '0' | '+' | ' ' | '#')) {
            flags.take(flag);
        }
        while let Some(digit) = chars.next_if(char::is_ascii_digit) {
            width = (width * 10 + digit as usize - '0' as usize).min(4000);
        }
        // A width or a precision may be an argument of its own.
        if chars.next_if_eq(&'*').is_some() {
            width = star(args.next());
        }
        let mut precision = None;
        if chars.next_if_eq(&'.').is_some() {
            let mut digits = 0usize;
            if chars.next_if_eq(&'*').is_some() {
                digits = star(args.next());
            }
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits = (digits * 10 + digit as usize - '0' as usize).min(4000);
            }
            precision = Some(digits);
        }
        while chars.next_if(|c| matches!(c, 'l' | 'h' | 'I' | '6' | '4')).is_some() {}
        let (front, shown) = match chars.next() {
            None => break,
            Some('%') => {
                out.push('%');
                continue;
            }
            Some(kind) => show(kind, args.next(), flags, precision),
        };
        let fill = width.saturating_sub(front.len() + shown.chars().count());
        // Zeros go behind the sign, and only where no precision says how many digits there are.
        let zeros = flags.zero && !flags.left && precision.is_none();
        if !flags.left && !zeros {
            out.extend(std::iter::repeat_n(' ', fill));
        }
        out.push_str(&front);
        if zeros {
            out.extend(std::iter::repeat_n('0', fill));
        }
        out.push_str(&shown);
        if flags.left {
            out.extend(std::iter::repeat_n(' ', fill));
        }
    }
    out
}

/// What stands behind the percent sign.
#[derive(Clone, Copy, Default)]
struct Flags {
    /// `-`: at the left of its width.
    left: bool,
    zero: bool,
    /// `+`: the sign of what is positive.
    plus: bool,
    /// A blank in its place.
    blank: bool,
    /// `#`: the prefix of octal and hexadecimal digits.
    prefix: bool,
}

impl Flags {
    fn take(&mut self, flag: char) {
        match flag {
            '-' => self.left = true,
            '0' => self.zero = true,
            '+' => self.plus = true,
            ' ' => self.blank = true,
            _ => self.prefix = true,
        }
    }
}

/// A width or precision that is an argument.
fn star(arg: Option<&(Value, SqlType)>) -> usize {
    arg.and_then(|(value, _)| value.as_i64()).map_or(0, |n| n.clamp(0, 4000) as usize)
}

/// A text in another language: `%1!` is the first argument of `english`, shown as its text says.
pub fn format_numbered(text: &str, english: &str, args: &[(Value, SqlType)]) -> String {
    // What the English text makes of each argument: its places alone, a line each.
    let mut shown = Vec::new();
    let mut args = args.iter();
    for place in places(english) {
        let used = 1 + place.stars;
        let own: Vec<_> = args.by_ref().take(used).cloned().collect();
        shown.push(format_message(place.text, &own));
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let number = after[..digits].parse::<usize>().ok();
        match number.and_then(|n| n.checked_sub(1)) {
            Some(n) if after[digits..].starts_with('!') => {
                out.push_str(shown.get(n).map_or("(null)", String::as_str));
                rest = &after[digits + 1..];
            }
            _ => {
                out.push('%');
                rest = after.strip_prefix('%').unwrap_or(after);
            }
        }
    }
    out.push_str(rest);
    out
}

/// A place of a text, where an argument goes.
struct Place<'t> {
    text: &'t str,
    /// What it is to be shown as; none where the text ends before that.
    kind: Option<char>,
    /// Widths and precisions that are arguments of their own.
    stars: usize,
    /// `I64`.
    long: bool,
}

/// The places of a text, `%%` left out.
fn places(text: &str) -> Vec<Place<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let place = &rest[at..];
        let (mut end, mut kind, mut stars, mut long) = (1, None, 0, false);
        while let Some(c) = place[end..].chars().next() {
            end += c.len_utf8();
            match c {
                '-' | '0'..='9' | '+' | ' ' | '#' | '.' | 'l' | 'h' => {}
                '*' => stars += 1,
                'I' if place[end..].starts_with("64") => (long, end) = (true, end + 2),
                c => {
                    kind = Some(c);
                    break;
                }
            }
        }
        if kind != Some('%') {
            out.push(Place { text: &place[..end], kind, stars, long });
        }
        rest = &place[end..];
    }
    out
}

/// An argument as its place wants it: the sign or prefix, and what follows it.
fn show(
    kind: char,
    arg: Option<&(Value, SqlType)>,
    flags: Flags,
    precision: Option<usize>,
) -> (String, String) {
    let Some((value, ty)) = arg.filter(|(value, _)| !value.is_null()) else {
        return (String::new(), "(null)".to_string());
    };
    // A negative number has as many digits as its type: all but bigint are printed as int.
    let number = match (kind, value.as_i64()) {
        ('x' | 'X' | 'o', Some(n)) if *ty != SqlType::BigInt => Some(i64::from(n as u32)),
        (_, number) => number,
    };
    let (front, digits) = match (kind, number) {
        ('x', Some(n)) => (if flags.prefix && n != 0 { "0x" } else { "" }, format!("{n:x}")),
        ('X', Some(n)) => (if flags.prefix && n != 0 { "0X" } else { "" }, format!("{n:X}")),
        ('o', Some(n)) => (if flags.prefix && n != 0 { "0" } else { "" }, format!("{n:o}")),
        ('u', Some(n)) if *ty == SqlType::BigInt => ("", (n as u64).to_string()),
        ('u', Some(n)) => ("", (n as u32).to_string()),
        (_, Some(n)) => {
            let sign = match n {
                ..0 => "-",
                _ if flags.plus => "+",
                _ if flags.blank => " ",
                _ => "",
            };
            (sign, n.unsigned_abs().to_string())
        }
        _ => {
            let text = format::to_text(value, *ty, 0).ok().flatten().unwrap_or_default();
            let shown = text.chars().take(precision.unwrap_or(usize::MAX)).collect();
            return (String::new(), shown);
        }
    };
    let missing = precision.unwrap_or(0).saturating_sub(digits.len());
    (front.to_owned(), "0".repeat(missing) + &digits)
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
        assert_eq!(format_message("%+d %+s", &args), "+7 abc");
        let wide = [(Value::Int(-11), SqlType::Int), (Value::BigInt(-11), SqlType::BigInt)];
        assert_eq!(format_message("%X %I64x", &wide), "FFFFFFF5 fffffffffffffff5");
        assert_eq!(format_message("[%*s]", &args), "[    abc]");
        assert_eq!(format_message("[%.*ls]", &[args[0].clone(), args[1].clone()]), "[abc]");
    }

    #[test]
    fn numbered_places_take_arguments_as_the_english_text_does() {
        let args = [
            (Value::Int(7), SqlType::Int),
            (Value::str("abc"), SqlType::VarChar(types::Len::N(10))),
        ];
        let shown = format_numbered("%2! und %1!, 100%%, %3!", "%03d and %s, 100%%", &args);
        assert_eq!(shown, "abc und 007, 100%, (null)");
        assert_eq!(format_numbered("%", "%", &args), "%");
    }
}
