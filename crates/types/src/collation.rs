//! SQL_Latin1_General_CP1_CI_AS: the weights of characters, and the code page of varchar.
//!
//! One weight per character, compared left to right: case is ignored, accents count and sort right
//! after their plain letter, signs come before digits, digits before letters. Trailing blanks are
//! ignored; the blank is the lightest character, so that ignoring them agrees with padding.
//! Characters outside code page 1252 come last, by their lower-case code point. (SQL Server orders
//! nvarchar by Windows rules, where hyphens weigh little; here both follow this table.)
//! Collations of other languages are in `language`.

mod best_fit;
mod families;
mod language;
mod names;
mod pages;
pub mod units;

pub use language::Language;
pub use names::Collation;
pub use pages::CodePage;
use runtime::task::breathing;
use std::cmp::Ordering;

/// How texts are compared. The collation of databases is [`Rule::CiAs`]; columns and COLLATE in an expression choose
/// another, which then goes along with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Rule {
    /// Case does not count, accents do.
    #[default]
    CiAs,
    /// Case counts after all else; small letters come first.
    CsAs,
    /// Neither case nor accents count.
    CiAi,
    /// Case counts, accents do not.
    CsAi,
    /// BIN, BIN2: by code points.
    Bin,
    /// As a language has it, or in a code page of its own.
    Of(Language),
}

impl Rule {
    /// Above all numbers of rules without a language.
    const LANGUAGES: u16 = 0x8000;

    /// Below 8 for all but those of languages.
    #[inline]
    pub fn bits(self) -> u16 {
        match self {
            Rule::CiAs => 0,
            Rule::CsAs => 1,
            Rule::CiAi => 2,
            Rule::CsAi => 3,
            Rule::Bin => 4,
            Rule::Of(language) => Rule::LANGUAGES | language.bits(),
        }
    }

    #[inline]
    pub fn from_bits(bits: u16) -> Rule {
        match bits {
            0 => Rule::CiAs,
            1 => Rule::CsAs,
            2 => Rule::CiAi,
            3 => Rule::CsAi,
            4 => Rule::Bin,
            _ if bits & Rule::LANGUAGES != 0 => Rule::Of(Language::of_bits(bits)),
            _ => Rule::CiAs,
        }
    }

    /// How varchar keeps its characters.
    #[inline]
    pub fn code_page(self) -> CodePage {
        match self {
            Rule::Of(language) => language.code_page(),
            _ => CodePage::Cp1252,
        }
    }

    /// The text in capital letters, character by character: it keeps its length.
    pub fn upper(self, text: &str) -> String {
        let dotless = matches!(self, Rule::Of(language) if language.has_dotless_i());
        if !dotless && text.is_ascii() {
            return text.to_ascii_uppercase();
        }
        let capital = |c: char| match c {
            'i' if dotless => '\u{130}',
            '\u{131}' if !dotless => c,
            _ => one(c.to_uppercase(), c),
        };
        text.chars().map(capital).collect()
    }

    /// The text in small letters, likewise.
    pub fn lower(self, text: &str) -> String {
        let dotless = matches!(self, Rule::Of(language) if language.has_dotless_i());
        if !dotless && text.is_ascii() {
            return text.to_ascii_lowercase();
        }
        let small = |c: char| match c {
            'I' if dotless => '\u{131}',
            '\u{130}' if dotless => 'i',
            _ => one(c.to_lowercase(), c),
        };
        text.chars().map(small).collect()
    }

    /// The rule by which [`Rule::weight`] tells characters apart, unless a language does.
    fn table(self) -> Option<Rule> {
        match self {
            Rule::Of(language) => language.table(),
            rule => Some(rule),
        }
    }

    /// Are two characters the same?
    pub fn same(self, a: char, b: char) -> bool {
        a == b
            || match (self.table(), self) {
                (Some(rule), _) => rule.weight(a) == rule.weight(b),
                (None, Rule::Of(language)) => by_character(language, a, b).is_eq(),
                (None, _) => false,
            }
    }

    /// The rule of a collation by its name: `Latin1_General_100_CS_AS_SC_UTF8`, `French_CI_AI`.
    /// `None` for what is no collation, or is not here.
    pub fn of_name(name: &str) -> Option<Rule> {
        if let Some(found) = Collation::of_name(name) {
            return Some(found.rule());
        }
        const LOCALES: [&str; 4] = [
            "SQL_LATIN1_GENERAL_CP1_",
            "SQL_LATIN1_GENERAL_CP850_",
            "LATIN1_GENERAL_100_",
            "LATIN1_GENERAL_",
        ];
        let upper = name.to_ascii_uppercase();
        if Collation::is_databases(name) {
            return Some(Rule::CiAs);
        }
        let rest = LOCALES.iter().find_map(|l| upper.strip_prefix(l))?;
        let mut parts = rest.split('_');
        let rule = match (parts.next()?, parts.next()) {
            ("BIN" | "BIN2", None | Some("UTF8")) => return Some(Rule::Bin),
            ("CI", Some("AS")) => Rule::CiAs,
            ("CS", Some("AS")) => Rule::CsAs,
            ("CI", Some("AI")) => Rule::CiAi,
            ("CS", Some("AI")) => Rule::CsAi,
            _ => return None,
        };
        parts.all(|p| matches!(p, "KS" | "WS" | "SC" | "UTF8" | "VSS")).then_some(rule)
    }

    /// The rule for two texts: another than the usual one wins.
    #[inline]
    pub fn meet(self, other: Rule) -> Rule {
        self.max(other)
    }

    /// What a character weighs under the rule; case is in the lowest bit where it counts. In a language's order it is
    /// but the code point: [`Rule::same`] and [`Rule::within`] know more.
    pub fn weight(self, c: char) -> u32 {
        match self.table().unwrap_or(Rule::Bin) {
            Rule::CiAs => weight(c),
            Rule::CsAs => weight(c) | case_of(c),
            Rule::CiAi => base_weight(c),
            Rule::CsAi => base_weight(c) | case_of(c),
            Rule::Bin | Rule::Of(_) => c as u32,
        }
    }

    /// Is a character, by its weight, from `low` to `high`?
    pub(crate) fn within(self, low: u32, weight: u32, high: u32) -> bool {
        let of = |weight: u32| char::from_u32(weight).unwrap_or(char::REPLACEMENT_CHARACTER);
        match self {
            Rule::Of(language) if language.table().is_none() => {
                let order = |a, b| a == b || by_character(language, of(a), of(b)).is_le();
                order(low, weight) && order(weight, high)
            }
            _ => low <= weight && weight <= high,
        }
    }

    /// Appends the sort key: memcmp of two keys of one rule is [`compare_by`].
    pub fn sort_key_into(self, text: &str, out: &mut Vec<u8>) {
        let text = trim_blanks(text);
        match self {
            Rule::CiAs => sort_key_into(text, out),
            Rule::Of(language) => match language.table() {
                Some(rule) => rule.sort_key_into(text, out),
                None => language.sort_key_into(text, out),
            },
            Rule::Bin => {
                if ascii_binary_key_into(text.as_bytes(), out) {
                    return;
                }
                self.start_into(text, out);
                out.extend_from_slice(&[0, 0]);
            }
            _ => {
                self.start_into(text, out);
                out.push(0);
                if matches!(self, Rule::CsAs | Rule::CsAi) {
                    out.extend(text.chars().map(|c| case_of(c) as u8 + 1));
                    out.push(0);
                }
            }
        }
    }

    /// Whether keys go character by character, so that [`Rule::start_into`] can tell how those of some texts begin.
    pub fn has_starts(self) -> bool {
        self.table().is_some()
    }

    /// Appends what the key of every text has at its start that begins with `text`, by [`Rule::same`] characters. Blanks at
    /// its end say nothing: a key has none of those that end a text. Only where [`Rule::has_starts`].
    pub fn start_into(self, text: &str, out: &mut Vec<u8>) {
        let text = trim_blanks(text);
        let insensitive = match self.table() {
            Some(Rule::Bin) | None => {
                for b in text.bytes() {
                    out.push(b);
                    if b == 0 {
                        out.push(0xff);
                    }
                }
                return;
            }
            Some(Rule::CsAs) => Rule::CiAs,
            Some(Rule::CsAi) => Rule::CiAi,
            Some(other) => other,
        };
        for c in breathing(text.chars()) {
            let w = insensitive.weight(c);
            match w >> 24 == OUTSIDE {
                true => out.extend_from_slice(&w.to_be_bytes()),
                false => out.push((w >> 24) as u8),
            }
        }
    }
}

/// The one character that a letter becomes; `c` where it would become several.
fn one(mut to: impl Iterator<Item = char>, c: char) -> char {
    match (to.next(), to.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// The order of two characters by themselves.
fn by_character(language: Language, a: char, b: char) -> Ordering {
    let mut buffers = ([0; 4], [0; 4]);
    language.compare(a.encode_utf8(&mut buffers.0), b.encode_utf8(&mut buffers.1))
}

/// 1 for a capital letter.
fn case_of(c: char) -> u32 {
    c.is_uppercase() as u32
}

/// The weight of a character without its accent.
fn base_weight(c: char) -> u32 {
    match to_cp1252(c) {
        Some(byte) => {
            let group = LETTERS.iter().find(|group| group.iter().any(|w| w.contains(&byte)));
            match group {
                Some(group) => (WEIGHTS[group[0][0] as usize] as u32) << 24,
                None => (WEIGHTS[byte as usize] as u32) << 24,
            }
        }
        None => weight(plain(c).unwrap_or(c)),
    }
}

/// A letter without its accent, as far as the Latin alphabets of Windows-1252 and Latin Extended-A go; others as they are.
pub fn without_accent(c: char) -> char {
    match to_cp1252(c) {
        Some(byte) => {
            let group = LETTERS.iter().find(|group| group.iter().any(|w| w.contains(&byte)));
            group.map_or(c, |group| match group[0][0] {
                letter if letter.is_ascii() => char::from(letter),
                _ => c,
            })
        }
        None => plain(c).unwrap_or(c),
    }
}

/// The plain letter of one of Latin Extended-A that Unicode composes of it and an accent.
fn plain(c: char) -> Option<char> {
    const PLAIN: &[u8; 128] = b"\
        AaAaAaCcCcCcCcDd..EeEeEeEeEeGgGgGgGgHh..IiIiIiIiI...JjKk.LlLlLl.\
        ...NnNnNn...OoOoOo..RrRrRrSsSsSsSsTtTt..UuUuUuUuUuUuWwYyYZzZzZz.";
    let at = (c as u32).checked_sub(0x100)? as usize;
    PLAIN.get(at).filter(|letter| **letter != b'.').map(|letter| *letter as char)
}

/// Comparison under a rule; trailing blanks ignored.
pub fn compare_by(rule: Rule, a: &str, b: &str) -> Ordering {
    let (a, b) = (trim_blanks(a), trim_blanks(b));
    let by = |rule: Rule| {
        breathing(a.chars()).map(|c| rule.weight(c)).cmp(b.chars().map(|c| rule.weight(c)))
    };
    let by_case = || breathing(a.chars()).map(case_of).cmp(b.chars().map(case_of));
    match rule {
        Rule::CsAs => by(Rule::CiAs).then_with(by_case),
        Rule::CsAi => by(Rule::CiAi).then_with(by_case),
        Rule::Of(language) => match language.table() {
            Some(rule) => compare_by(rule, a, b),
            None => language.compare(a, b),
        },
        rule => by(rule),
    }
}

/// Characters of code page 1252 at 0x80 to 0x9F; the five holes are C1 controls.
const CP1252_HIGH: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2C6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
];

/// The byte of a character in code page 1252.
#[inline]
pub fn to_cp1252(c: char) -> Option<u8> {
    match c as u32 {
        code @ (0..0x80 | 0xA0..=0xFF) => Some(code as u8),
        _ => CP1252_HIGH.iter().position(|&h| h == c).map(|i| 0x80 + i as u8),
    }
}

/// The character of a byte in code page 1252.
#[inline]
pub fn from_cp1252(byte: u8) -> char {
    match byte {
        0x80..=0x9F => CP1252_HIGH[byte as usize - 0x80],
        _ => byte as char,
    }
}

/// Letters by rising weight, each with the bytes (code page 1252) that share it or follow it: a
/// group is one base letter, `,` starts the next weight.
const LETTERS: &[&[&[u8]]] = &[
    &[b"aA", b"\xE0\xC0", b"\xE1\xC1", b"\xE2\xC2", b"\xE3\xC3", b"\xE4\xC4", b"\xE5\xC5", b"\xAA"],
    &[b"\xE6\xC6"],
    &[b"bB"],
    &[b"cC", b"\xE7\xC7"],
    &[b"dD", b"\xF0\xD0"],
    &[b"eE", b"\xE8\xC8", b"\xE9\xC9", b"\xEA\xCA", b"\xEB\xCB"],
    &[b"fF", b"\x83"],
    &[b"gG"],
    &[b"hH"],
    &[b"iI", b"\xEC\xCC", b"\xED\xCD", b"\xEE\xCE", b"\xEF\xCF"],
    &[b"jJ"],
    &[b"kK"],
    &[b"lL"],
    &[b"mM"],
    &[b"nN", b"\xF1\xD1"],
    &[b"oO", b"\xF2\xD2", b"\xF3\xD3", b"\xF4\xD4", b"\xF5\xD5", b"\xF6\xD6", b"\xF8\xD8", b"\xBA"],
    &[b"\x9C\x8C"],
    &[b"pP"],
    &[b"qQ"],
    &[b"rR"],
    &[b"sS", b"\x9A\x8A", b"\xDF"],
    &[b"tT", b"\x99"],
    &[b"uU", b"\xF9\xD9", b"\xFA\xDA", b"\xFB\xDB", b"\xFC\xDC"],
    &[b"vV"],
    &[b"wW"],
    &[b"xX"],
    &[b"yY", b"\xFD\xDD", b"\xFF\x9F"],
    &[b"zZ", b"\x9E\x8E"],
    &[b"\xFE\xDE"],
];

/// Weight of each byte of code page 1252, from 1 (blank) on; 0 is kept for the end of a text.
static WEIGHTS: [u8; 256] = weights();

/// Leads the weight of a character outside the code page.
const OUTSIDE: u32 = 0xFF;

const fn weights() -> [u8; 256] {
    let mut table = [0u8; 256];
    let mut next = 1u8;
    table[b' ' as usize] = next;
    next += 1;
    // Letters and digits are marked first, so that what remains are signs and controls.
    let mut later = [false; 256];
    let mut i = 0;
    while i < LETTERS.len() {
        let mut j = 0;
        while j < LETTERS[i].len() {
            let mut k = 0;
            while k < LETTERS[i][j].len() {
                later[LETTERS[i][j][k] as usize] = true;
                k += 1;
            }
            j += 1;
        }
        i += 1;
    }
    let mut b = 0usize;
    while b < 256 {
        let digit = b >= b'0' as usize && b <= b'9' as usize;
        if !later[b] && !digit && table[b] == 0 {
            table[b] = next;
            next += 1;
        }
        b += 1;
    }
    let mut d = b'0';
    while d <= b'9' {
        table[d as usize] = next;
        next += 1;
        d += 1;
    }
    let mut i = 0;
    while i < LETTERS.len() {
        let mut j = 0;
        while j < LETTERS[i].len() {
            let mut k = 0;
            while k < LETTERS[i][j].len() {
                table[LETTERS[i][j][k] as usize] = next;
                k += 1;
            }
            next += 1;
            j += 1;
        }
        i += 1;
    }
    assert!(next < OUTSIDE as u8);
    table
}

/// Weight of a character: one byte at the top, or OUTSIDE and the code point in the three below.
/// Weights compare as their sort-key bytes do.
#[inline]
pub fn weight(c: char) -> u32 {
    match to_cp1252(c) {
        Some(byte) => (WEIGHTS[byte as usize] as u32) << 24,
        None => {
            let mut lower = c.to_lowercase();
            let c = match (lower.next(), lower.next()) {
                (Some(one), None) => one,
                _ => c,
            };
            // Lower case may lead back into the code page (the Kelvin sign is a k).
            match to_cp1252(c) {
                Some(byte) => (WEIGHTS[byte as usize] as u32) << 24,
                None => (OUTSIDE << 24) | c as u32,
            }
        }
    }
}

/// The text without trailing blanks.
#[inline]
pub fn trim_blanks(text: &str) -> &str {
    text.trim_end_matches(' ')
}

/// The same of a text of ASCII, as bytes.
#[inline]
pub fn trim_blank_bytes(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|b| *b != b' ').map_or(0, |at| at + 1);
    &text[..end]
}

/// Case-insensitive, accent-sensitive comparison; trailing blanks ignored.
#[inline]
pub fn compare_text(a: &str, b: &str) -> Ordering {
    compare_ascii(a.as_bytes(), b.as_bytes()).unwrap_or_else(|at| compare_from(at, a, b))
}

/// The same of texts as bytes; where they are told apart by what is not of ASCII, the place from which they are, before which
/// all is ASCII: see [`compare_from`].
#[inline]
pub(crate) fn compare_ascii(a: &[u8], b: &[u8]) -> Result<Ordering, usize> {
    let (a, b) = (trim_blank_bytes(a), trim_blank_bytes(b));
    let common = a.len().min(b.len());
    for i in breathing(0..common) {
        let (p, q) = (a[i], b[i]);
        if p == q && p < 0x80 {
            continue;
        }
        if p >= 0x80 || q >= 0x80 {
            return Err(i);
        }
        match WEIGHTS[p as usize].cmp(&WEIGHTS[q as usize]) {
            Ordering::Equal => continue,
            unequal => return Ok(unequal),
        }
    }
    Ok(a.len().cmp(&b.len()))
}

/// Compares what two texts have from a place on, at which a character of both begins.
#[cold]
pub(crate) fn compare_from(at: usize, a: &str, b: &str) -> Ordering {
    let (a, b) = (trim_blanks(&a[at..]), trim_blanks(&b[at..]));
    breathing(a.chars()).map(weight).cmp(b.chars().map(weight))
}

/// Appends the sort key: weights, then 0. memcmp of two sort keys is [`compare_text`].
pub fn sort_key_into(text: &str, out: &mut Vec<u8>) {
    if ascii_sort_key_into(text.as_bytes(), out) {
        return;
    }
    let text = trim_blanks(text);
    if text.is_ascii() {
        // Each byte has one weight, and none is outside.
        out.reserve(text.len() + 1);
        out.extend(breathing(text.bytes()).map(|b| WEIGHTS[b as usize]));
        out.push(0);
        return;
    }
    Rule::CiAs.start_into(text, out);
    out.push(0);
}

/// Texts of more bytes, which no row has beside it, breathe while their keys are made.
const SHORT_BYTES: usize = 8192;

/// What [`sort_key_into`] appends for a text of ASCII; false, and nothing appended, for others, and for long ones.
#[inline]
pub fn ascii_sort_key_into(text: &[u8], out: &mut Vec<u8>) -> bool {
    let text = trim_blank_bytes(text);
    if text.len() > SHORT_BYTES || !text.is_ascii() {
        return false;
    }
    out.reserve(text.len() + 1);
    out.extend(text.iter().map(|b| WEIGHTS[*b as usize]));
    out.push(0);
    true
}

/// The same of a text that is compared by code points ([`Rule::Bin`]); false too where there is a NUL in it.
#[inline]
pub fn ascii_binary_key_into(text: &[u8], out: &mut Vec<u8>) -> bool {
    let text = trim_blank_bytes(text);
    if text.len() > SHORT_BYTES || !text.iter().all(|b| matches!(b, 1..=0x7f)) {
        return false;
    }
    out.reserve(text.len() + 2);
    out.extend_from_slice(text);
    out.extend_from_slice(&[0, 0]);
    true
}

/// Cuts a text to `limit` characters.
pub fn truncate_chars(text: &mut String, limit: usize) {
    if let Some((at, _)) = text.char_indices().nth(limit) {
        text.truncate(at);
    }
}

/// Cuts a text to `limit` UTF-16 units.
pub fn truncate_units(text: &mut String, limit: usize) {
    let mut count = 0;
    let past = text.char_indices().find(|(_, c)| {
        count += units::units_of(*c);
        count > limit
    });
    if let Some((at, _)) = past {
        text.truncate(at);
    }
}

/// Length in UTF-16 units, which is what nvarchar(n) counts.
pub fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { breathing(text.chars()).map(units::units_of).sum() }
}
