//! Dates and times in text: the orders of day, month and year, and the forms of each style of CONVERT.

use crate::DateTime2;
use crate::convert::{cutoff_of, of_language, with_cutoff};
use crate::datetime::{self, DAYS_TO_1900, TICKS_PER_MINUTE, TICKS_PER_SECOND};
use crate::languages::Language;

/// Midnight of 1900-01-01: the day of a bare time.
pub(super) const BASE: DateTime2 = DateTime2 { days: DAYS_TO_1900, ticks: 0 };

#[derive(PartialEq, Eq)]
pub(super) struct Parsed {
    pub local: DateTime2,
    pub offset: Option<i16>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Bad {
    Syntax,
    Range,
    /// A date of numbers in a form that is not the style's.
    Style,
}

/// A piece of a date's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    /// Value and how many digits it was written with.
    Number(u32, usize),
    Word(&'t str),
    /// `/ - . : ,` and `+`.
    Sign(char),
    Blank,
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, Bad> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let start = i;
        match bytes[i] {
            b'0'..=b'9' => {
                while i < bytes.len() && bytes[i].is_ascii_digit() {
                    i += 1;
                }
                let digits = &text[start..i];
                if digits.len() > 9 {
                    return Err(Bad::Syntax);
                }
                out.push(Token::Number(digits.parse().map_err(|_| Bad::Syntax)?, digits.len()));
            }
            b if is_letter(b) => {
                // Short names of Thai months have points within.
                let thai = b >= 0x80;
                while i < bytes.len() && (is_letter(bytes[i]) || thai && bytes[i] == b'.') {
                    i += 1;
                }
                out.push(Token::Word(&text[start..i]));
            }
            b'/' | b'-' | b'.' | b':' | b',' | b'+' => {
                i += 1;
                out.push(Token::Sign(bytes[start] as char));
            }
            b' ' | b'\t' => {
                i += 1;
                if !matches!(out.last(), Some(Token::Blank)) {
                    out.push(Token::Blank);
                }
            }
            _ => return Err(Bad::Syntax),
        }
    }
    Ok(out)
}

/// Of a word: a Latin letter, or a byte of any character outside ASCII.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// Order of the parts of a numeric date: SET DATEFORMAT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DateOrder {
    #[default]
    Mdy,
    Dmy,
    Ymd,
    Ydm,
    Myd,
    Dym,
}

/// Styles from here on stand for a session's order of dates; CONVERT's own are far below.
pub(in crate::convert) const SESSION_STYLES: i32 = 0x7f0;

impl DateOrder {
    /// All of them, in an order that stays.
    pub const ALL: [DateOrder; 6] = [
        DateOrder::Mdy,
        DateOrder::Dmy,
        DateOrder::Ymd,
        DateOrder::Ydm,
        DateOrder::Myd,
        DateOrder::Dym,
    ];

    /// The order of a name as SET DATEFORMAT has it, any case.
    pub fn of_name(name: &str) -> Option<DateOrder> {
        DateOrder::ALL.into_iter().find(|order| order.name().eq_ignore_ascii_case(name))
    }

    /// `mdy`, `dmy` ...
    pub fn name(self) -> &'static str {
        match self {
            DateOrder::Mdy => "mdy",
            DateOrder::Dmy => "dmy",
            DateOrder::Ymd => "ymd",
            DateOrder::Ydm => "ydm",
            DateOrder::Myd => "myd",
            DateOrder::Dym => "dym",
        }
    }

    /// The style for [`super::cast`] and [`super::assign_style`] of a conversion that names none.
    pub fn style(self) -> i32 {
        match self {
            DateOrder::Mdy => 0,
            other => SESSION_STYLES + other as i32,
        }
    }
}

/// Whether a text means the same date under every SET DATEFORMAT, in every language, and whichever 'two digit year cutoff'
/// is in use.
pub fn is_plain_date(text: &str) -> bool {
    const SIGNS: [&str; 4] = ["t", "z", "am", "pm"];
    let is_name = |token: &Token<'_>| match token {
        Token::Word(word) => !SIGNS.iter().any(|sign| word.eq_ignore_ascii_case(sign)),
        _ => false,
    };
    if tokens(text.trim_matches(' ')).is_ok_and(|all| all.iter().any(is_name)) {
        return false;
    }
    let read = |order: DateOrder| parse(text, order.style(), true);
    let first = read(DateOrder::Mdy);
    // Another century for each year of two digits.
    let before = parse(text, with_cutoff(DateOrder::Mdy.style(), 1949), true);
    before == first && DateOrder::ALL.into_iter().all(|order| read(order) == first)
}

/// Which dates a style of CONVERT reads from text. Those without a form of their own read only what all do: yyyymmdd,
/// the names of months, a bare time.
struct Forms {
    /// The order of day, month and year; `None`: no date of numbers between signs.
    order: Option<DateOrder>,
    /// Digits of the year.
    year: usize,
    /// Also with the year in front, day and month in the style's order.
    year_first: bool,
    /// A `T` before the time.
    t: bool,
    /// ISO 8601 alone: signs are `-`, and the time follows a `T`.
    iso: bool,
    /// yyyymmdd and names of months.
    common: bool,
}

impl Forms {
    /// `None` for those that read any form: 0, a session's, and the calendar of 130 and 131. `old`: for datetime and
    /// smalldatetime; the newer types read just what the style writes.
    fn of(style: i32, old: bool) -> Option<Forms> {
        use DateOrder::{Dmy, Mdy, Ymd};
        let (order, year) = match style {
            0 | 130 | 131 | SESSION_STYLES.. => return None,
            1 | 10 => (Some(Mdy), 2),
            3..=5 => (Some(Dmy), 2),
            2 | 11 => (Some(Ymd), 2),
            101 | 110 => (Some(Mdy), 4),
            103..=105 => (Some(Dmy), 4),
            126 | 127 => (Some(Ymd), 4),
            20 | 21 | 102 | 111 | 120 | 121 if old => (Some(Mdy), 4),
            20 | 21 | 23 | 25 | 102 | 111 | 120 | 121 if !old => (Some(Ymd), 4),
            22 if !old => (Some(Mdy), 2),
            _ => (None, 0),
        };
        let iso = old && matches!(style, 126 | 127);
        let year_first = old && year == 4 && !iso;
        Some(Forms { order, year, year_first, t: !old || iso, iso, common: !(old && style == 127) })
    }

    /// What there is instead of a date that the style does not read.
    fn unread(&self) -> Bad {
        match self.order {
            None if self.t => Bad::Style,
            _ => Bad::Syntax,
        }
    }

    fn date<'a, 't>(
        &self,
        tokens: &'a [Token<'t>],
        reader: Reader,
    ) -> Result<(i32, &'a [Token<'t>]), Bad> {
        use Token::{Number, Sign, Word};
        let of_time =
            |rest: &[Token<'_>]| matches!(rest, [Word(t), ..] if t.eq_ignore_ascii_case("t"));
        let [
            Number(x, dx),
            Sign(a @ ('-' | '/' | '.')),
            Number(y, 1..=2),
            Sign(b),
            Number(z, dz),
            rest @ ..,
        ] = tokens
        else {
            return match self.common {
                true => date(tokens, DateOrder::Mdy, false, false, reader),
                false => Err(Bad::Syntax),
            };
        };
        if a != b || self.iso && (*a != '-' || matches!(rest, [Token::Blank, ..])) {
            return Err(Bad::Syntax);
        }
        let (year, month, day) = match (dx, dz, self.order) {
            // ISO 8601 goes on with T, under every style that reads it.
            (4, 1..=2, _) if *a == '-' && of_time(rest) && self.t => (*x as i32, *y, *z),
            (4, 1..=2, Some(DateOrder::Ymd)) if self.year == 4 => (*x as i32, *y, *z),
            (4, 1..=2, Some(DateOrder::Dmy)) if self.year_first => (*x as i32, *z, *y),
            (4, 1..=2, Some(DateOrder::Mdy)) if self.year_first => (*x as i32, *y, *z),
            (1..=2, 1..=2, Some(DateOrder::Ymd)) if self.year == 2 => {
                (reader.full_year(*x, *dx)?, *y, *z)
            }
            (1..=2, 2 | 4, Some(DateOrder::Dmy)) if self.year == *dz => {
                (reader.full_year(*z, *dz)?, *y, *x)
            }
            (1..=2, 2 | 4, Some(DateOrder::Mdy)) if self.year == *dz => {
                (reader.full_year(*z, *dz)?, *x, *y)
            }
            _ => return Err(self.unread()),
        };
        Ok((checked(year, month, day)?, rest))
    }
}

/// Reads a date, a time or both. `style` fixes the order of numeric dates; 0 is us_english (mdy).
/// ISO forms are read without a style, and [`Forms`] under one.
/// `old`: for datetime and smalldatetime, which read `2024-01-31` by the session's order too.
pub(super) fn parse(text: &str, style: i32, old: bool) -> Result<Parsed, Bad> {
    let text = text.trim_matches(' ');
    if text.is_empty() {
        return Ok(Parsed { local: BASE, offset: None });
    }
    let cutoff = cutoff_of(style);
    let (style, language) = of_language(style);
    let reader = Reader { language: Language::of(language), cutoff };
    let forms = Forms::of(style, old);
    let order = match style {
        SESSION_STYLES.. => {
            DateOrder::ALL[(style - SESSION_STYLES) as usize % DateOrder::ALL.len()]
        }
        131 => DateOrder::Dmy,
        _ => DateOrder::Mdy,
    };
    let day_first = old
        && style >= SESSION_STYLES
        && matches!(order, DateOrder::Dmy | DateOrder::Ydm | DateOrder::Dym);
    let lenient = style >= SESSION_STYLES;
    let all = tokens(text)?;
    let mut rest = all.as_slice();
    let mut days = None;
    let mut ticks = None;
    let mut offset = None;
    // Date and time come in either order, once each, blanks (or a T) between.
    while !rest.is_empty() {
        match rest {
            [Token::Blank, tail @ ..] => rest = tail,
            [Token::Word(w), tail @ ..] if w.eq_ignore_ascii_case("t") && days.is_some() => {
                if let Some(forms) = forms.as_ref().filter(|forms| !forms.t) {
                    return Err(if forms.year == 4 { Bad::Range } else { Bad::Syntax });
                }
                rest = tail;
            }
            [Token::Word(w), tail @ ..] if w.eq_ignore_ascii_case("z") && ticks.is_some() => {
                // The old types have no use for a zone but in the style that writes one.
                if old && forms.is_some() && style != 127 {
                    return Err(Bad::Syntax);
                }
                offset = Some(0);
                rest = tail;
            }
            [
                Token::Sign(sign @ ('+' | '-')),
                Token::Number(h, 1..=2),
                Token::Sign(':'),
                Token::Number(m, 1..=2),
                tail @ ..,
            ] if ticks.is_some() && offset.is_none() => {
                if old && style != 127 {
                    return Err(Bad::Syntax);
                }
                let minutes = *h as i32 * 60 + *m as i32;
                if *m > 59 || minutes > 840 {
                    return Err(Bad::Range);
                }
                offset = Some(if *sign == '-' { -minutes } else { minutes } as i16);
                rest = tail;
            }
            _ if ticks.is_none() && is_time(rest) => {
                // datetime and smalldatetime read no more than milliseconds.
                let (t, tail) = time(rest, if old { 3 } else { 7 })?;
                ticks = Some(t);
                rest = tail;
            }
            _ if days.is_none() => {
                let (d, tail) = match &forms {
                    Some(forms) => forms.date(rest, reader)?,
                    None => date(rest, order, day_first, lenient, reader)?,
                };
                days = Some(d);
                rest = tail;
            }
            _ => return Err(Bad::Syntax),
        }
    }
    let local = DateTime2 { days: days.unwrap_or(BASE.days), ticks: ticks.unwrap_or(0) };
    Ok(Parsed { local, offset })
}

/// `12:30` or `3 PM`.
fn is_time(tokens: &[Token<'_>]) -> bool {
    match tokens {
        [Token::Number(..), Token::Sign(':'), ..] => true,
        [Token::Number(..), Token::Word(w), ..] => meridiem(w).is_some(),
        [Token::Number(..), Token::Blank, Token::Word(w), ..] => meridiem(w).is_some(),
        _ => false,
    }
}

/// `true` for PM.
fn meridiem(word: &str) -> Option<bool> {
    if word.eq_ignore_ascii_case("am") {
        Some(false)
    } else if word.eq_ignore_ascii_case("pm") {
        Some(true)
    } else {
        None
    }
}

/// `most`: digits of a fraction.
fn time<'a, 't>(tokens: &'a [Token<'t>], most: usize) -> Result<(u64, &'a [Token<'t>]), Bad> {
    let [Token::Number(hour, _), rest @ ..] = tokens else {
        return Err(Bad::Syntax);
    };
    let (mut hour, mut rest) = (*hour, rest);
    let (mut minute, mut second, mut fraction) = (0, 0, 0u64);
    if let [Token::Sign(':'), Token::Number(m, 1..=2), tail @ ..] = rest {
        (minute, rest) = (*m, tail);
        if let [Token::Sign(':'), Token::Number(s, 1..=2), tail @ ..] = rest {
            (second, rest) = (*s, tail);
            match rest {
                [Token::Sign('.'), Token::Number(f, digits), tail @ ..] if *digits <= most => {
                    fraction = *f as u64 * 10u64.pow(7 - *digits as u32);
                    rest = tail;
                }
                // The old form hh:mi:ss:mmm counts milliseconds.
                [Token::Sign(':'), Token::Number(f, 1..=3), tail @ ..] => {
                    fraction = *f as u64 * 10_000;
                    rest = tail;
                }
                _ => {}
            }
        }
    }
    let after_blank = if let [Token::Blank, tail @ ..] = rest { tail } else { rest };
    if let [Token::Word(w), tail @ ..] = after_blank
        && let Some(pm) = meridiem(w)
    {
        if hour > 12 && !pm || hour > 23 {
            return Err(Bad::Range);
        }
        hour = match (hour, pm) {
            (12, false) => 0,
            (h, true) if h < 12 => h + 12,
            (h, _) => h,
        };
        rest = tail;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return Err(Bad::Range);
    }
    let ticks = (hour * 60 + minute) as u64 * TICKS_PER_MINUTE
        + second as u64 * TICKS_PER_SECOND
        + fraction;
    Ok((ticks, rest))
}

/// How a text is read where it alone does not say.
#[derive(Clone, Copy)]
struct Reader {
    language: &'static Language,
    /// The last year that two digits may mean.
    cutoff: i32,
}

impl Reader {
    /// Two digits: the last year that ends in them and is not after the cutoff.
    fn full_year(self, year: u32, digits: usize) -> Result<i32, Bad> {
        let year = year as i32;
        match digits {
            4 => Ok(year),
            1 | 2 => Ok(self.cutoff - (self.cutoff - year).rem_euclid(100)),
            _ => Err(Bad::Syntax),
        }
    }
}

fn checked(year: i32, month: u32, day: u32) -> Result<i32, Bad> {
    if datetime::is_date(year, month, day) {
        Ok(datetime::days_from_civil(year, month, day))
    } else {
        Err(Bad::Range)
    }
}

/// `day_first`: after a leading year; `lenient`: a year of four digits may stand where it was not asked for.
fn date<'a, 't>(
    tokens: &'a [Token<'t>],
    order: DateOrder,
    day_first: bool,
    lenient: bool,
    reader: Reader,
) -> Result<(i32, &'a [Token<'t>]), Bad> {
    use Token::{Number, Sign, Word};
    match tokens {
        // 2024-01-31 under any style; other separators likewise when the year leads.
        [
            Number(y, 4),
            Sign(a @ ('-' | '/' | '.')),
            Number(m, 1..=2),
            Sign(b),
            Number(d, 1..=2),
            rest @ ..,
        ] if a == b => {
            // ISO 8601 goes on with T, and means what it says.
            let iso = matches!(rest, [Word(t), ..] if t.eq_ignore_ascii_case("t"));
            let (m, d) = if day_first && !iso { (d, m) } else { (m, d) };
            Ok((checked(*y as i32, *m, *d)?, rest))
        }
        [
            Number(x, dx @ 1..=2),
            Sign(a @ ('-' | '/' | '.')),
            Number(y, dy @ 1..=2),
            Sign(b),
            Number(z, dz @ (1 | 2 | 4)),
            rest @ ..,
        ] if a == b => {
            let (year, month, day) = match order {
                DateOrder::Mdy => (reader.full_year(*z, *dz)?, *x, *y),
                DateOrder::Dmy => (reader.full_year(*z, *dz)?, *y, *x),
                // A year of four digits is known by them.
                DateOrder::Ymd | DateOrder::Myd if *dz == 4 && lenient => (*z as i32, *x, *y),
                DateOrder::Ydm | DateOrder::Dym if *dz == 4 => (*z as i32, *y, *x),
                DateOrder::Ymd | DateOrder::Myd if *dz == 4 => return Err(Bad::Syntax),
                DateOrder::Ymd => (reader.full_year(*x, *dx)?, *y, *z),
                DateOrder::Ydm => (reader.full_year(*x, *dx)?, *z, *y),
                DateOrder::Myd => (reader.full_year(*y, *dy)?, *x, *z),
                DateOrder::Dym => (reader.full_year(*y, *dy)?, *z, *x),
            };
            Ok((checked(year, month, day)?, rest))
        }
        // 20240131, 240131, and a bare year.
        [Number(n, 8), rest @ ..] => {
            Ok((checked((n / 10_000) as i32, n / 100 % 100, n % 100)?, rest))
        }
        [Number(n, 6), rest @ ..] => {
            Ok((checked(reader.full_year(n / 10_000, 2)?, n / 100 % 100, n % 100)?, rest))
        }
        [Number(d, d_digits), Sign('-'), Word(w), Sign('-'), Number(y, y_digits), rest @ ..] => {
            let month = reader.language.month_of(w).ok_or(Bad::Syntax)?;
            if *d_digits > 2 {
                return Err(Bad::Syntax);
            }
            Ok((checked(reader.full_year(*y, *y_digits)?, month, *d)?, rest))
        }
        [Number(_, 4)] | [Number(_, 4), Token::Blank] => {
            let Number(y, _) = tokens[0] else { return Err(Bad::Syntax) };
            Ok((checked(y as i32, 1, 1)?, &tokens[tokens.len()..]))
        }
        _ => spelled_date(tokens, reader),
    }
}

/// A date with the month as a word: `Jan 2 2024`, `January 2, 2024`, `2 Jan 2024`, `2024 Jan 2`.
fn spelled_date<'a, 't>(
    tokens: &'a [Token<'t>],
    reader: Reader,
) -> Result<(i32, &'a [Token<'t>]), Bad> {
    let mut month = None;
    let mut numbers: [(u32, usize); 2] = [(0, 0); 2];
    let mut count = 0;
    let mut i = 0;
    while i < tokens.len() && (month.is_none() || count < 2) {
        match tokens[i] {
            Token::Blank | Token::Sign(',' | '-' | '.') => {}
            Token::Word(w) if month.is_none() => {
                month = Some(reader.language.month_of(w).ok_or(Bad::Syntax)?)
            }
            // A number that begins a time is not the date's.
            Token::Number(..) if is_time(&tokens[i..]) => break,
            Token::Number(n, digits) if count < 2 => {
                numbers[count] = (n, digits);
                count += 1;
            }
            _ => return Err(Bad::Syntax),
        }
        i += 1;
    }
    let month = month.ok_or(Bad::Syntax)?;
    let (year, day) = match (count, numbers) {
        (2, [(y, 4), (d, 1..=2)]) => (y as i32, d),
        (2, [(d, 1..=2), (y, digits)]) => (reader.full_year(y, digits)?, d),
        (1, [(y, 4), _]) => (y as i32, 1),
        _ => return Err(Bad::Syntax),
    };
    Ok((checked(year, month, day)?, &tokens[i..]))
}
