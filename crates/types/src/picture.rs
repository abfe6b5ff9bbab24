//! FORMAT: values written by .NET format strings, standard (`N2`, `d`) and custom (`#,##0.00`, `yyyy-MM-dd`).
//!
//! What .NET refuses (a format it does not know for the type) is `None`, which FORMAT answers with NULL. Source: .NET
//! documentation, "Standard / custom numeric and date and time format strings".

use crate::culture::Culture;
use crate::datetime::{self, DateTime2};
use crate::{Decimal, Value};

/// FORMAT(value, format, culture); NULL and what cannot be formatted give `None`.
pub fn format(value: &Value, format: &str, culture: &Culture) -> Option<String> {
    match value {
        Value::Date(days) => date(DateTime2 { days: *days, ticks: 0 }, 0, format, culture),
        Value::DateTime(d) => {
            let ticks = u64::from(d.ticks / 300) * 10_000_000 + u64::from(d.shown_ms()) * 10_000;
            let d = DateTime2 { days: d.days + datetime::DAYS_TO_1900, ticks };
            date(d, 0, format, culture)
        }
        Value::DateTime2(d) => date(*d, 0, format, culture),
        Value::DateTimeOffset(d) => date(d.local(), d.offset_minutes, format, culture),
        Value::Time(ticks) => span(*ticks, format),
        Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_) | Value::BigInt(_) => {
            let n = value.as_i64()?;
            number(&Number::of_decimal(Decimal::from_i64(n)), Some(n), format, culture)
        }
        Value::Decimal(d) => number(&Number::of_decimal(*d), None, format, culture),
        Value::Money(m) => {
            let d = Decimal::new(i128::from(*m), 19, 4).ok()?;
            number(&Number::of_decimal(d), None, format, culture)
        }
        Value::Float(f) => number(&Number::of_float(*f, 15), None, format, culture),
        Value::Real(f) => number(&Number::of_float(f64::from(*f), 7), None, format, culture),
        _ => None,
    }
}

/// A number as decimal digits: `0.d1d2d3... * 10^exponent`, without leading zeros; zero has no digits.
struct Number {
    negative: bool,
    digits: Vec<u8>,
    exponent: i32,
    /// Digits behind the point as written: what `G` shows of a decimal.
    scale: usize,
    float: bool,
}

impl Number {
    fn of_decimal(d: Decimal) -> Number {
        let text = d.units().unsigned_abs().to_string();
        let digits: Vec<u8> = match text.as_str() {
            "0" => Vec::new(),
            text => text.bytes().map(|b| b - b'0').collect(),
        };
        let exponent = digits.len() as i32 - i32::from(d.scale());
        Number { negative: d.units() < 0, digits, exponent, scale: d.scale().into(), float: false }
    }

    fn of_float(f: f64, precision: usize) -> Number {
        let text = format!("{:.*e}", precision - 1, f.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mut digits: Vec<u8> =
            mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let exponent = if digits.is_empty() { 0 } else { exponent.parse().unwrap_or(0) + 1 };
        Number { negative: f < 0.0, digits, exponent, scale: 0, float: true }
    }

    /// Rounded half away from zero to so many digits behind the point.
    fn rounded(&self, decimals: i32) -> Number {
        let keep = self.exponent + decimals;
        let mut digits = self.digits.clone();
        let mut exponent = self.exponent;
        if keep < 0 {
            digits.clear();
        } else if (keep as usize) < digits.len() {
            let up = digits[keep as usize] >= 5;
            digits.truncate(keep as usize);
            if up {
                let mut at = digits.len();
                loop {
                    if at == 0 {
                        digits.insert(0, 1);
                        exponent += 1;
                        break;
                    }
                    at -= 1;
                    if digits[at] == 9 {
                        digits[at] = 0;
                    } else {
                        digits[at] += 1;
                        break;
                    }
                }
            }
        }
        if digits.iter().all(|d| *d == 0) {
            digits.clear();
            exponent = 0;
        }
        let negative = self.negative && !digits.is_empty();
        Number { negative, digits, exponent, scale: self.scale, float: self.float }
    }

    fn scaled(mut self, power: i32) -> Number {
        if !self.digits.is_empty() {
            self.exponent += power;
        }
        self
    }

    /// The digit at a place: 0 is the first behind the point, -1 the units.
    fn digit(&self, place: i32) -> char {
        let index = self.exponent + place;
        let digit = usize::try_from(index).ok().and_then(|i| self.digits.get(i)).copied();
        (b'0' + digit.unwrap_or(0)) as char
    }

    /// Digits before the point, at least one.
    fn whole(&self) -> String {
        match self.exponent {
            n if n <= 0 => "0".to_owned(),
            n => (-n..0).map(|place| self.digit(place)).collect(),
        }
    }

    fn fraction(&self, decimals: usize) -> String {
        (0..decimals as i32).map(|place| self.digit(place)).collect()
    }
}

fn grouped(whole: &str, separator: &str) -> String {
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push_str(separator);
        }
        out.push(c);
    }
    out
}

fn number(n: &Number, integer: Option<i64>, format: &str, culture: &Culture) -> Option<String> {
    let mut chars = format.chars();
    let letter = chars.next().unwrap_or('G');
    let rest = chars.as_str();
    let standard =
        letter.is_ascii_alphabetic() && rest.len() <= 2 && rest.bytes().all(|b| b.is_ascii_digit());
    if !standard {
        return custom_number(n, format, culture);
    }
    let precision: Option<usize> = rest.parse().ok();
    let plain = |n: &Number, decimals: usize, group: &str| {
        let mut out = grouped(&n.whole(), group);
        if decimals > 0 {
            out.push_str(culture.decimal);
            out.push_str(&n.fraction(decimals));
        }
        out
    };
    let signed = |negative: bool, text: String| if negative { format!("-{text}") } else { text };
    let arrange =
        |pattern: &str, text: &str| pattern.replace('$', culture.currency).replace('n', text);
    match letter.to_ascii_uppercase() {
        'N' | 'F' => {
            let decimals = precision.unwrap_or(2);
            let r = n.rounded(decimals as i32);
            let group = if letter.eq_ignore_ascii_case(&'N') { culture.group } else { "" };
            Some(signed(r.negative, plain(&r, decimals, group)))
        }
        'C' => {
            let decimals = precision.unwrap_or(culture.currency_digits);
            let r = n.rounded(decimals as i32);
            let text = plain(&r, decimals, culture.group);
            // The sign is put in last: it may hold an `n`.
            let pattern =
                if r.negative { culture.currency_negative } else { culture.currency_pattern };
            Some(pattern.replace('n', &text).replacen('$', culture.currency, 1))
        }
        'P' => {
            let decimals = precision.unwrap_or(2);
            let r = Number { digits: n.digits.clone(), ..*n }.scaled(2).rounded(decimals as i32);
            Some(signed(
                r.negative,
                arrange(culture.percent_pattern, &plain(&r, decimals, culture.group)),
            ))
        }
        'E' => {
            let decimals = precision.unwrap_or(6);
            let e = if letter == 'E' { 'E' } else { 'e' };
            Some(scientific(n, decimals, e, culture, 3))
        }
        'G' => Some(general(n, precision, letter, culture)),
        'D' => {
            let text = integer?.unsigned_abs().to_string();
            let width = precision.unwrap_or(0);
            Some(signed(n.negative, format!("{text:0>width$}")))
        }
        'X' => {
            let value = integer?;
            let hex = match i32::try_from(value) {
                Ok(small) => format!("{small:X}"),
                Err(_) => format!("{value:X}"),
            };
            let hex = if letter == 'x' { hex.to_lowercase() } else { hex };
            let width = precision.unwrap_or(0);
            Some(format!("{hex:0>width$}"))
        }
        'R' if n.float => Some(general(n, None, 'G', culture)),
        _ => None,
    }
}

fn scientific(n: &Number, decimals: usize, e: char, culture: &Culture, width: usize) -> String {
    let exponent = if n.digits.is_empty() { 0 } else { n.exponent - 1 };
    let mut r =
        Number { digits: n.digits.clone(), ..*n }.scaled(-exponent).rounded(decimals as i32);
    let mut exponent = exponent;
    if r.exponent > 1 {
        r = r.scaled(-1);
        exponent += 1;
    }
    let sign = if r.negative { "-" } else { "" };
    let point = if decimals > 0 { culture.decimal } else { "" };
    let mark = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{}{point}{}{e}{mark}{:0width$}", r.whole(), r.fraction(decimals), exponent.abs())
}

fn general(n: &Number, precision: Option<usize>, letter: char, culture: &Culture) -> String {
    let precision = precision.filter(|p| *p > 0);
    if !n.float && precision.is_none() {
        let point = if n.scale > 0 { culture.decimal } else { "" };
        let sign = if n.negative { "-" } else { "" };
        return format!("{sign}{}{point}{}", n.whole(), n.fraction(n.scale));
    }
    let precision = precision.unwrap_or(15);
    let r = n.rounded(precision as i32 - n.exponent);
    let significant = r.digits.iter().rposition(|d| *d != 0).map_or(0, |i| i + 1);
    let exponent = r.exponent - 1;
    if !r.digits.is_empty() && (exponent >= precision as i32 || exponent < -4 - 1) {
        let e = if letter == 'g' { 'e' } else { 'E' };
        return scientific(&r, significant.saturating_sub(1), e, culture, 2);
    }
    let decimals = (significant as i32 - r.exponent).max(0) as usize;
    let decimals = if r.digits.is_empty() { 0 } else { decimals };
    let point = if decimals > 0 { culture.decimal } else { "" };
    let sign = if r.negative { "-" } else { "" };
    format!("{sign}{}{point}{}", r.whole(), r.fraction(decimals))
}

/// A piece of a custom format.
enum Piece {
    Text(String),
    /// `0` or `#`.
    Digit(bool),
    Point,
    /// Where the number's own thousands separators are asked for.
    Group,
    Percent,
    PerMille,
    /// `E0`, `E+00`: letter, plus always, digits.
    Exponent(char, bool, usize),
}

fn pieces(section: &str) -> Vec<Piece> {
    let chars: Vec<char> = section.chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    let push_text = |out: &mut Vec<Piece>, c: char| match out.last_mut() {
        Some(Piece::Text(text)) => text.push(c),
        _ => out.push(Piece::Text(c.to_string())),
    };
    while i < chars.len() {
        match chars[i] {
            '0' => out.push(Piece::Digit(true)),
            '#' => out.push(Piece::Digit(false)),
            '.' => out.push(Piece::Point),
            ',' => out.push(Piece::Group),
            '%' => out.push(Piece::Percent),
            '‰' => out.push(Piece::PerMille),
            '\\' => {
                i += 1;
                if let Some(c) = chars.get(i) {
                    push_text(&mut out, *c);
                }
            }
            q @ ('\'' | '"') => {
                i += 1;
                while i < chars.len() && chars[i] != q {
                    push_text(&mut out, chars[i]);
                    i += 1;
                }
            }
            e @ ('e' | 'E') => {
                let sign = matches!(chars.get(i + 1), Some('+' | '-'));
                let from = i + 1 + sign as usize;
                let zeros =
                    chars[from.min(chars.len())..].iter().take_while(|c| **c == '0').count();
                if zeros > 0 {
                    out.push(Piece::Exponent(e, chars[i + 1] == '+', zeros));
                    i = from + zeros;
                    continue;
                }
                push_text(&mut out, e);
            }
            c => push_text(&mut out, c),
        }
        i += 1;
    }
    out
}

/// Sections of a format: positive; negative; zero. A semicolon in quotes does not part them.
fn sections(format: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quote = None;
    let mut escaped = false;
    for c in format.chars() {
        let plain = quote.is_none() && !escaped;
        if plain && c == ';' {
            out.push(String::new());
            continue;
        }
        if !escaped && matches!(c, '\'' | '"') {
            quote = match quote {
                None => Some(c),
                Some(q) if q == c => None,
                same => same,
            };
        }
        escaped = !escaped && c == '\\';
        out.last_mut().expect("never empty").push(c);
    }
    out
}

fn custom_number(n: &Number, format: &str, culture: &Culture) -> Option<String> {
    let sections = sections(format);
    let copy = |negative: bool| Number { negative, digits: n.digits.clone(), ..*n };
    let (section, n, sign) = match (&sections[..], n.digits.is_empty(), n.negative) {
        ([_, _, zero, ..], true, _) => (zero, copy(false), false),
        ([_, negative, ..], false, true) if !negative.is_empty() => (negative, copy(false), false),
        ([first, ..], ..) => (first, copy(n.negative), n.negative),
        ([], ..) => return None,
    };
    let pieces = pieces(section);
    let point = pieces.iter().position(|p| matches!(p, Piece::Point)).unwrap_or(pieces.len());
    let is_digit = |p: &Piece| matches!(p, Piece::Digit(_));
    let last_whole = pieces[..point].iter().rposition(is_digit);
    let first_whole = pieces[..point].iter().position(is_digit);
    let mut power = 0;
    let mut grouping = false;
    for (i, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Percent => power += 2,
            Piece::PerMille => power += 3,
            // Behind the last digit before the point commas divide by a thousand, between digits they ask for groups.
            Piece::Group if i < point => match (first_whole, last_whole) {
                (_, Some(last)) if i > last => power -= 3,
                (Some(first), Some(last)) if i > first && i < last => grouping = true,
                _ => {}
            },
            _ => {}
        }
    }
    let whole_places = pieces[..point].iter().filter(|p| is_digit(p)).count();
    let decimals = pieces[point..].iter().filter(|p| is_digit(p)).count();
    let mut n = n.scaled(power);
    let mut exponent = 0;
    let has_exponent = pieces.iter().any(|p| matches!(p, Piece::Exponent(..)));
    if has_exponent && !n.digits.is_empty() {
        exponent = n.exponent - whole_places.max(1) as i32;
        n = n.scaled(-exponent);
    }
    let n = n.rounded(decimals as i32);
    let sign = sign && !n.digits.is_empty();
    // Digits before the point: at least as many as from the first zero on.
    let zeros_from = pieces[..point]
        .iter()
        .filter(|p| is_digit(p))
        .position(|p| matches!(p, Piece::Digit(true)))
        .map_or(0, |at| whole_places - at);
    let mut whole = if n.exponent > 0 { n.whole() } else { String::new() };
    while whole.len() < zeros_from {
        whole.insert(0, '0');
    }
    let shown_decimals = {
        let mut place = 0;
        let mut least = 0;
        for piece in &pieces[point..] {
            if let Piece::Digit(zero) = piece {
                place += 1;
                if *zero {
                    least = place;
                }
            }
        }
        let fraction = n.fraction(decimals);
        least.max(fraction.trim_end_matches('0').len())
    };
    let fraction = n.fraction(decimals);
    let mut out = String::new();
    if sign {
        out.push('-');
    }
    let digits: Vec<char> = whole.chars().collect();
    let (mut place, mut next, mut behind) = (0, 0, 0);
    for (i, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Percent => out.push('%'),
            Piece::PerMille => out.push('‰'),
            Piece::Group => {}
            Piece::Point => {
                if i == point && whole_places == 0 {
                    out.push_str(&whole);
                }
                if i == point && shown_decimals > 0 {
                    out.push_str(culture.decimal);
                }
            }
            Piece::Digit(_) if i < point => {
                place += 1;
                let left_places = whole_places - place;
                // The first place takes what has no place of its own.
                while digits.len() > left_places + next {
                    out.push(digits[next]);
                    next += 1;
                    let left = digits.len() - next;
                    if grouping && left > 0 && left.is_multiple_of(3) {
                        out.push_str(culture.group);
                    }
                }
            }
            Piece::Digit(_) => {
                if behind < shown_decimals {
                    out.push_str(&fraction[behind..=behind]);
                }
                behind += 1;
            }
            Piece::Exponent(e, plus, width) => {
                let sign = if exponent < 0 {
                    "-"
                } else if *plus {
                    "+"
                } else {
                    ""
                };
                out.push_str(&format!("{e}{sign}{:0width$}", exponent.abs(), width = *width));
            }
        }
    }
    Some(out)
}

fn date(d: DateTime2, offset: i16, format: &str, culture: &Culture) -> Option<String> {
    let both = |date: &str, time: &str| format!("{date} {time}");
    // The universal formats tell the moment at Greenwich.
    let d = match format {
        "u" | "R" | "r" => d.shift_minutes(-i64::from(offset)).unwrap_or(d),
        _ => d,
    };
    let pattern: String = match format {
        "" | "G" => both(culture.short_date, culture.long_time),
        "d" => culture.short_date.into(),
        "D" => culture.long_date.into(),
        "f" => both(culture.long_date, culture.short_time),
        "F" | "U" => both(culture.long_date, culture.long_time),
        "g" => both(culture.short_date, culture.short_time),
        "M" | "m" => culture.month_day.into(),
        "Y" | "y" => culture.year_month.into(),
        "t" => culture.short_time.into(),
        "T" => culture.long_time.into(),
        "s" => "yyyy'-'MM'-'dd'T'HH':'mm':'ss".into(),
        "u" => "yyyy'-'MM'-'dd HH':'mm':'ss'Z'".into(),
        "O" | "o" => "yyyy'-'MM'-'dd'T'HH':'mm':'ss'.'fffffff".into(),
        "R" | "r" => "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'".into(),
        one if one.chars().count() == 1 => return None,
        custom => custom.into(),
    };
    let culture = if matches!(format, "R" | "r") { Culture::US } else { culture };
    custom_date(d, offset, &pattern, culture)
}

fn custom_date(d: DateTime2, offset: i16, pattern: &str, culture: &Culture) -> Option<String> {
    let (year, month, day) = datetime::civil_from_days(d.days);
    let seconds = d.ticks / 10_000_000;
    let fraction = d.ticks % 10_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let hour12 = (hour + 11) % 12 + 1;
    let weekday = datetime::weekday(d.days) as usize;
    let chars: Vec<char> = pattern.chars().collect();
    let mut out = String::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        let run = chars[i..].iter().take_while(|x| **x == c).count();
        let mut used = run;
        match c {
            'y' => match run {
                1 => out.push_str(&(year % 100).to_string()),
                2 => out.push_str(&format!("{:02}", year % 100)),
                n => out.push_str(&format!("{year:0n$}")),
            },
            'M' => match run {
                1 => out.push_str(&month.to_string()),
                2 => out.push_str(&format!("{month:02}")),
                3 => out.push_str(culture.short_months[month as usize - 1]),
                _ => out.push_str(culture.months[month as usize - 1]),
            },
            'd' => match run {
                1 => out.push_str(&day.to_string()),
                2 => out.push_str(&format!("{day:02}")),
                3 => out.push_str(culture.short_days[weekday]),
                _ => out.push_str(culture.days[weekday]),
            },
            'H' => two(&mut out, hour, run),
            'h' => two(&mut out, hour12, run),
            'm' => two(&mut out, minute, run),
            's' => two(&mut out, second, run),
            'f' | 'F' => {
                if run > 7 {
                    return None;
                }
                let text = format!("{:07}", fraction);
                let shown = &text[..run];
                if c == 'f' {
                    out.push_str(shown);
                } else {
                    let shown = shown.trim_end_matches('0');
                    // A point before nothing goes too.
                    if shown.is_empty() && out.ends_with('.') {
                        out.pop();
                    }
                    out.push_str(shown);
                }
            }
            't' => {
                let mark = culture.am_pm[(hour >= 12) as usize];
                match run {
                    1 => out.extend(mark.chars().take(1)),
                    _ => out.push_str(mark),
                }
            }
            'z' => {
                let sign = if offset < 0 { '-' } else { '+' };
                let (h, m) = (offset.unsigned_abs() / 60, offset.unsigned_abs() % 60);
                out.push_str(&match run {
                    1 => format!("{sign}{h}"),
                    2 => format!("{sign}{h:02}"),
                    _ => format!("{sign}{h:02}:{m:02}"),
                });
            }
            'K' => used = 1,
            'g' => out.push_str("A.D."),
            ':' => {
                used = 1;
                out.push(':');
            }
            '/' => {
                used = 1;
                out.push_str(culture.date_separator);
            }
            '\\' => {
                used = 2;
                out.push(*chars.get(i + 1)?);
            }
            '%' => used = 1,
            '\'' | '"' => {
                let end = chars[i + 1..].iter().position(|x| *x == c)?;
                out.extend(&chars[i + 1..i + 1 + end]);
                used = end + 2;
            }
            other => {
                used = 1;
                out.push(other);
            }
        }
        i += used;
    }
    Some(out)
}

fn two(out: &mut String, n: u64, run: usize) {
    out.push_str(&if run == 1 { n.to_string() } else { format!("{n:02}") });
}

/// A time of day is a TimeSpan in .NET: `c`, `g`, `G`, and custom formats, where `:` and `.` need a backslash or quotes.
fn span(ticks: u64, format: &str) -> Option<String> {
    let seconds = ticks / 10_000_000;
    let fraction = ticks % 10_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match format {
        "" | "c" | "t" | "T" => {
            let tail = if fraction == 0 { String::new() } else { format!(".{fraction:07}") };
            return Some(format!("{hour:02}:{minute:02}:{second:02}{tail}"));
        }
        "g" => {
            let tail = if fraction == 0 { String::new() } else { format!(".{fraction:07}") };
            return Some(format!("{hour}:{minute:02}:{second:02}{}", tail.trim_end_matches('0')));
        }
        "G" => return Some(format!("0:{hour:02}:{minute:02}:{second:02}.{fraction:07}")),
        _ => {}
    }
    let chars: Vec<char> = format.chars().collect();
    let mut out = String::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        let run = chars[i..].iter().take_while(|x| **x == c).count();
        let mut used = run;
        match c {
            'h' if run <= 2 => two(&mut out, hour, run),
            'm' if run <= 2 => two(&mut out, minute, run),
            's' if run <= 2 => two(&mut out, second, run),
            'd' if run <= 8 => out.push_str(&format!("{:0run$}", 0)),
            'f' if run <= 7 => out.push_str(&format!("{fraction:07}")[..run]),
            'F' if run <= 7 => {
                out.push_str(format!("{fraction:07}")[..run].trim_end_matches('0'));
            }
            '\\' => {
                used = 2;
                out.push(*chars.get(i + 1)?);
            }
            '%' => used = 1,
            '\'' | '"' => {
                let end = chars[i + 1..].iter().position(|x| *x == c)?;
                out.extend(&chars[i + 1..i + 1 + end]);
                used = end + 2;
            }
            _ => return None,
        }
        i += used;
    }
    Some(out)
}
