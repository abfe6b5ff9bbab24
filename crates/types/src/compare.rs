//! Comparison with SQL's three values, and LIKE.
//!
//! NULL against anything is `None` (unknown). Operands must already be of one kind; the plan
//! converts both to [`crate::SqlType::common_type`]. Numbers of different kinds are compared by
//! value all the same.

use crate::collation::{self, Rule};
use crate::searcher::Searcher;
use crate::{Decimal, TypeError, Value};
use runtime::task::{Breath, breathing};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

pub use crate::collation::compare_text;

/// Three-valued comparison; `None` is unknown.
#[inline]
pub fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    if a.is_null() || b.is_null() { None } else { Some(compare_non_null(a, b)) }
}

/// Total order for ORDER BY, MIN, MAX, merge joins and sorting: NULL first, equal to itself.
pub fn sort_order(a: &Value, b: &Value) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => compare_non_null(a, b),
    }
}

fn compare_non_null(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::BigInt(a), Value::BigInt(b)) => a.cmp(b),
        (Value::Str(a), Value::Str(b)) => match a.rule().meet(b.rule()) {
            Rule::CiAs => collation::compare_ascii(a.as_bytes(), b.as_bytes())
                .unwrap_or_else(|at| collation::compare_from(at, a, b)),
            rule => collation::compare_by(rule, a, b),
        },
        (Value::Binary(a), Value::Binary(b)) => trim_zeros(a).cmp(trim_zeros(b)),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Time(a), Value::Time(b)) => a.cmp(b),
        (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
        (Value::DateTime2(a), Value::DateTime2(b)) => a.cmp(b),
        (Value::DateTimeOffset(a), Value::DateTimeOffset(b)) => a.utc.cmp(&b.utc),
        (Value::Guid(a), Value::Guid(b)) => guid_order(a).cmp(&guid_order(b)),
        (Value::Money(a), Value::Money(b)) => a.cmp(b),
        (Value::Decimal(a), Value::Decimal(b)) => a.compare(*b),
        (Value::Variant(a), Value::Variant(b)) => a.compare(b),
        _ => compare_mixed(a, b),
    }
}

/// Numbers of different kinds, by value; kinds that do not meet, by kind (the plan never asks).
fn compare_mixed(a: &Value, b: &Value) -> Ordering {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a.cmp(&b);
    }
    if let (Some(a), Some(b)) = (exact(a), exact(b)) {
        return a.compare(b);
    }
    if let (Some(a), Some(b)) = (float(a), float(b)) {
        // Values hold no NaN; -0 equals 0.
        return a.partial_cmp(&b).unwrap_or(Ordering::Equal);
    }
    if let (Some(a), Some(b)) = (instant(a), instant(b)) {
        return a.cmp(&b);
    }
    a.natural_type().precedence().cmp(&b.natural_type().precedence())
}

fn exact(v: &Value) -> Option<Decimal> {
    match v {
        Value::Decimal(d) => Some(*d),
        Value::Money(m) => Decimal::new(*m as i128, 19, 4).ok(),
        _ => v.as_i64().map(Decimal::from_i64),
    }
}

fn float(v: &Value) -> Option<f64> {
    match v {
        Value::Float(f) => Some(*f),
        Value::Real(f) => Some(*f as f64),
        Value::Decimal(d) => Some(d.to_f64()),
        Value::Money(m) => Some(*m as f64 / 10_000.0),
        _ => v.as_i64().map(|n| n as f64),
    }
}

fn instant(v: &Value) -> Option<crate::DateTime2> {
    match v {
        Value::Date(days) => Some(crate::DateTime2 { days: *days, ticks: 0 }),
        Value::DateTime(d) => Some(d.to_datetime2()),
        Value::DateTime2(d) => Some(*d),
        Value::DateTimeOffset(d) => Some(d.utc),
        _ => None,
    }
}

/// Trailing zero bytes do not count: 0x01 = 0x0100.
pub(crate) fn trim_zeros(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|b| *b != 0).map_or(0, |i| i + 1);
    &bytes[..end]
}

/// The bytes of a uniqueidentifier in the order in which SQL Server compares them: the last group
/// first.
pub(crate) fn guid_order(g: &[u8; 16]) -> [u8; 16] {
    const ORDER: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];
    ORDER.map(|i| g[i])
}

/// Feeds a hash so that values equal under [`sort_order`] (after conversion to one type) hash
/// equal: for hash joins, grouping and DISTINCT.
pub fn hash_value<H: Hasher>(value: &Value, state: &mut H) {
    match value {
        Value::Null => state.write_u8(0),
        Value::Decimal(d) => state.write_i128(d.units()),
        Value::Money(m) => state.write_i64(*m),
        // -0 equals 0.
        Value::Float(f) => state.write_u64((f + 0.0).to_bits()),
        Value::Real(f) => state.write_u32((f + 0.0).to_bits()),
        Value::Str(s) if matches!(s.rule(), Rule::Of(_)) => {
            let mut key = Vec::new();
            s.rule().sort_key_into(s, &mut key);
            state.write(&key);
        }
        Value::Str(s) => {
            let rule = s.rule();
            collation::trim_blanks(s).chars().for_each(|c| state.write_u32(rule.weight(c)));
            state.write_u32(0);
        }
        Value::Binary(b) => trim_zeros(b).hash(state),
        Value::Date(d) => state.write_i32(*d),
        Value::Time(t) => state.write_u64(*t),
        Value::DateTime(d) => d.hash(state),
        Value::DateTime2(d) => d.hash(state),
        Value::DateTimeOffset(d) => d.utc.hash(state),
        Value::Guid(g) => state.write(g),
        Value::Variant(v) => v.hash(state),
        // Never compared: only so that no value lacks a hash.
        Value::Node(n) => state.write_u32(n.id()),
        Value::Bit(_)
        | Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_) => state.write_i64(value.as_i64().unwrap_or(0)),
    }
}

/// A compiled LIKE pattern: `%`, `_`, `[a-z]`, `[^a-z]`, with an optional escape.
///
/// Case is ignored as in comparison. All characters of the pattern count, blanks too; blanks at the
/// end of the text do not.
#[derive(Clone, Debug)]
pub struct Pattern {
    tokens: Vec<Token>,
    rule: Rule,
    /// Blanks at the end of the text count.
    exact: bool,
    /// For texts of ASCII, where the pattern is simple enough.
    searcher: Option<Searcher>,
}

/// Longer texts are matched by the matcher that breathes.
const SEARCHED_BYTES_MAX: usize = 64 << 10;

#[derive(Clone, Debug)]
enum Token {
    /// `%`
    Any,
    /// `_`
    One,
    /// A character, by weight.
    Char(u32),
    /// Ranges of weights, both ends inside.
    Set { negated: bool, ranges: Vec<(u32, u32)> },
}

impl Pattern {
    /// 506 when the escape is not a single character.
    pub fn new(pattern: &str, escape: Option<&str>) -> Result<Pattern, TypeError> {
        Pattern::under(Rule::CiAs, pattern, escape)
    }

    /// The same under another rule.
    pub fn under(rule: Rule, pattern: &str, escape: Option<&str>) -> Result<Pattern, TypeError> {
        let weight = |c: char| rule.weight(c);
        let escape = match escape.filter(|e| !e.is_empty()) {
            None => None,
            Some(text) => {
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => Some(c),
                    _ => return Err(TypeError::BadEscape { escape: text.into() }),
                }
            }
        };
        let chars: Vec<char> = pattern.chars().collect();
        let mut tokens = Vec::with_capacity(chars.len());
        // Between wildcards; none once there is more than ASCII and `%`.
        let mut pieces = match rule {
            Rule::Of(_) => None,
            _ => Some(vec![Vec::new()]),
        };
        let literal = |pieces: &mut Option<Vec<Vec<u8>>>, c: char| match (
            pieces.as_mut().and_then(|pieces| pieces.last_mut()),
            c.is_ascii(),
        ) {
            (Some(piece), true) => piece.push(c as u8),
            _ => *pieces = None,
        };
        let mut i = 0;
        while i < chars.len() {
            let c = chars[i];
            i += 1;
            if Some(c) == escape && i < chars.len() {
                tokens.push(Token::Char(weight(chars[i])));
                literal(&mut pieces, chars[i]);
                i += 1;
                continue;
            }
            match c {
                '%' => {
                    if !matches!(tokens.last(), Some(Token::Any)) {
                        tokens.push(Token::Any);
                        pieces.iter_mut().for_each(|pieces| pieces.push(Vec::new()));
                    }
                }
                '_' => {
                    tokens.push(Token::One);
                    pieces = None;
                }
                '[' => match parse_set(rule, &chars, i, escape) {
                    Some((set, next)) => {
                        tokens.push(set);
                        pieces = None;
                        i = next;
                    }
                    // Without its bracket a set matches nothing, as in SQL Server.
                    None => {
                        tokens.push(Token::Set { negated: false, ranges: Vec::new() });
                        pieces = None;
                        i = chars.len();
                    }
                },
                _ => {
                    tokens.push(Token::Char(weight(c)));
                    literal(&mut pieces, c);
                }
            }
        }
        let any_case = matches!(rule, Rule::CiAs | Rule::CiAi);
        let searcher = pieces.map(|pieces| Searcher::new(pieces, any_case));
        Ok(Pattern { tokens, rule, exact: false, searcher })
    }

    /// The same for texts of which each blank counts: of Unicode.
    pub fn exactly(mut self, exact: bool) -> Pattern {
        self.exact = exact;
        self
    }

    pub fn matches(&self, text: &str) -> bool {
        match &self.searcher {
            Some(searcher) if text.len() <= SEARCHED_BYTES_MAX && text.is_ascii() => {
                let bytes = text.as_bytes();
                let end = if self.exact { bytes.len() } else { text.trim_end_matches(' ').len() };
                searcher.matches(bytes, end)
            }
            _ => self.matches_in_general(text),
        }
    }

    /// The same, character by character.
    pub(crate) fn matches_in_general(&self, text: &str) -> bool {
        let rule = self.rule;
        let mut weights = breathing(text.chars()).map(|c| rule.weight(c));
        // ASCII and short texts are the rule: match from a stack buffer, else from the heap.
        let mut buffer = [0u32; 128];
        let mut n = 0;
        for slot in buffer.iter_mut() {
            match weights.next() {
                Some(w) => {
                    *slot = w;
                    n += 1;
                }
                None => return self.match_at(&buffer[..n]),
            }
        }
        let mut all = buffer.to_vec();
        all.extend(weights);
        self.match_at(&all)
    }

    /// Like [`Pattern::matches`], with the position of the match: PATINDEX. 1-based position in
    /// characters of the first character after a leading `%`; 0 for none.
    pub fn find(&self, text: &str) -> usize {
        let all: Vec<u32> = breathing(text.chars()).map(|c| self.rule.weight(c)).collect();
        let Some((Token::Any, rest)) = self.tokens.split_first() else {
            return usize::from(self.match_at(&all));
        };
        let first = rest.iter().position(|t| matches!(t, Token::Any)).unwrap_or(rest.len());
        let (tokens, rule, exact) = (rest.to_vec(), self.rule, self.exact);
        let rest = Pattern { tokens, rule, exact, searcher: None };
        if first == rest.tokens.len() {
            // It ends the text, but for blanks: only there may it stand.
            let end = self.end(&all);
            let places = end.saturating_sub(first)..=all.len();
            let found =
                breathing(places).find(|&at| rest.match_to(&all[at..], end.saturating_sub(at)));
            return found.map_or(0, |at| at + 1);
        }
        // What comes up to the next `%` is taken where it first stands: a later place leaves the rest less room, and so
        // matches only if this one does.
        let mut breath = Breath::new();
        let mut taken = |at: &usize| {
            let mut pairs = rest.tokens[..first].iter().zip(&all[*at..]);
            pairs.all(|(t, w)| breath.goes_on() && t.takes(self.rule, *w))
        };
        let last = all.len().checked_sub(first);
        let at = last.and_then(|last| breathing(0..=last).find(&mut taken));
        at.filter(|&at| rest.match_at(&all[at..])).map_or(0, |at| at + 1)
    }

    fn match_at(&self, text: &[u32]) -> bool {
        self.match_to(text, self.end(text))
    }

    /// Where the blanks at the end begin, if they do not count.
    fn end(&self, text: &[u32]) -> usize {
        if self.exact {
            return text.len();
        }
        let blank = self.rule.weight(' ');
        text.iter().rposition(|w| *w != blank).map_or(0, |i| i + 1)
    }

    /// Does `text`, whose last blanks begin at `end`, match? Backtracks to the last `%` only, so the time is bounded by
    /// pattern times text. `false` where the request is to stop.
    fn match_to(&self, text: &[u32], end: usize) -> bool {
        let mut breath = Breath::new();
        let (mut t, mut p) = (0, 0);
        let mut resume: Option<(usize, usize)> = None;
        loop {
            if !breath.goes_on() {
                return false;
            }
            let step = match self.tokens.get(p) {
                Some(Token::Any) if p + 1 == self.tokens.len() => return true,
                Some(Token::Any) => {
                    resume = Some((p + 1, t));
                    p += 1;
                    continue;
                }
                Some(token) => t < text.len() && token.takes(self.rule, text[t]),
                None => {
                    if t >= end {
                        return true;
                    }
                    false
                }
            };
            if step {
                t += 1;
                p += 1;
                continue;
            }
            match resume {
                Some((after, from)) if from < text.len() => {
                    resume = Some((after, from + 1));
                    t = from + 1;
                    p = after;
                }
                _ => return false,
            }
        }
    }
}

impl Token {
    fn takes(&self, rule: Rule, w: u32) -> bool {
        match self {
            Token::Any | Token::One => true,
            Token::Char(c) => *c == w || matches!(rule, Rule::Of(_)) && rule.within(*c, w, *c),
            Token::Set { negated, ranges } => {
                ranges.iter().any(|(low, high)| rule.within(*low, w, *high)) != *negated
            }
        }
    }
}

/// A set from after its `[`; the position after its `]`.
fn parse_set(
    rule: Rule,
    chars: &[char],
    mut i: usize,
    escape: Option<char>,
) -> Option<(Token, usize)> {
    let weight = |c: char| rule.weight(c);
    let negated = chars.get(i) == Some(&'^');
    if negated {
        i += 1;
    }
    let mut ranges = Vec::new();
    let mut first = true;
    loop {
        let mut c = *chars.get(i)?;
        if c == ']' && !first {
            return Some((Token::Set { negated, ranges }, i + 1));
        }
        first = false;
        if Some(c) == escape {
            i += 1;
            c = *chars.get(i)?;
        }
        i += 1;
        if chars.get(i) == Some(&'-') && chars.get(i + 1).is_some_and(|next| *next != ']') {
            let high = chars[i + 1];
            ranges.push((weight(c), weight(high)));
            i += 2;
        } else {
            ranges.push((weight(c), weight(c)));
        }
    }
}

/// The characters that every text begins with which is LIKE the pattern: those before its first wildcard.
pub fn like_start(pattern: &str, escape: Option<&str>) -> String {
    let escape = escape.and_then(|e| e.chars().next());
    let mut start = String::new();
    let mut chars = breathing(pattern.chars());
    while let Some(c) = chars.next() {
        if Some(c) == escape {
            match chars.next() {
                Some(literal) => start.push(literal),
                None => break,
            }
        } else if matches!(c, '%' | '_' | '[') {
            break;
        } else {
            start.push(c);
        }
    }
    start
}

/// One-off LIKE; `None` when an operand is NULL.
pub fn like(
    text: &Value,
    pattern: &Value,
    escape: Option<&str>,
) -> Result<Option<bool>, TypeError> {
    let (Value::Str(text), Value::Str(pattern)) = (text, pattern) else {
        return Ok(None);
    };
    let rule = text.rule().meet(pattern.rule());
    Ok(Some(Pattern::under(rule, pattern, escape)?.matches(text)))
}
