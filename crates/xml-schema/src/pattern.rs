//! The regular expressions of XML Schema (Part 2, appendix F): compiled to a machine whose run takes time in proportion
//! to the text, whatever the expression.
//!
//! Of the categories of Unicode those are there that the standard library tells apart (`L`, `Lu`, `Ll`, `N`, `Nd`, `Z`,
//! `P`, `S`, `C`, `M` as far as they are neither); blocks are refused. An expression is the whole text's.

use crate::error::{Result, SchemaError};
use runtime::task::{Breath, Stopped};
use std::iter::Peekable;
use std::str::CharIndices;
use xml::{is_name_char, is_name_start};

/// States of a machine at most.
pub const STATES_MAX: usize = 20_000;

/// Levels of parentheses at most.
const DEPTH_MAX: usize = 100;

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Pattern {
    states: Vec<State>,
    sets: Vec<Set>,
    start: usize,
    /// Steps that were taken to make it: of parts without a character there may be many, and no state.
    steps: usize,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// A character of that set, then on.
    Take(usize, usize),
    /// Either.
    Split(usize, usize),
    Match,
}

/// A set of characters.
#[derive(Clone, Debug, Default)]
struct Set {
    negated: bool,
    items: Vec<Item>,
    minus: Option<Box<Set>>,
}

#[derive(Clone, Debug)]
enum Item {
    Range(char, char),
    Class(Class, bool),
}

#[derive(Clone, Copy, Debug)]
enum Class {
    Space,
    NameStart,
    Name,
    Digit,
    Word,
    Letter,
    Upper,
    Lower,
    Number,
    Separator,
    Punctuation,
    Symbol,
    Control,
    Mark,
}

impl Class {
    fn holds(self, c: char) -> bool {
        match self {
            Class::Space => matches!(c, ' ' | '\t' | '\n' | '\r'),
            Class::NameStart => is_name_start(c) || c == ':',
            Class::Name => is_name_char(c) || c == ':',
            Class::Digit => c.is_ascii_digit() || !c.is_ascii() && is_decimal(c),
            Class::Word => !(Class::Punctuation.holds(c) || c.is_whitespace() || c.is_control()),
            Class::Letter => c.is_alphabetic(),
            Class::Upper => c.is_uppercase(),
            Class::Lower => c.is_lowercase(),
            Class::Number => c.is_numeric(),
            Class::Separator => c.is_whitespace() && !c.is_control(),
            Class::Punctuation => {
                (c.is_ascii_punctuation() && !is_ascii_symbol(c))
                    || ('\u{2010}'..='\u{2027}').contains(&c)
                    || ('\u{3001}'..='\u{3003}').contains(&c)
                    || matches!(
                        c,
                        '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}'
                    )
            }
            Class::Symbol => {
                is_ascii_symbol(c)
                    || matches!(c, '\u{a2}'..='\u{a6}' | '\u{a8}' | '\u{a9}' | '\u{ac}' | '\u{ae}'..='\u{b1}')
                    || matches!(
                        c,
                        '\u{b4}' | '\u{b8}' | '\u{d7}' | '\u{f7}' | '\u{20a0}'..='\u{20c0}'
                    )
                    || ('\u{2190}'..='\u{23ff}').contains(&c)
            }
            Class::Control => c.is_control(),
            Class::Mark => ('\u{300}'..='\u{36f}').contains(&c),
        }
    }
}

fn is_ascii_symbol(c: char) -> bool {
    matches!(c, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~')
}

/// A digit of another script than the Latin one: these lie in runs of ten.
fn is_decimal(c: char) -> bool {
    const ZEROS: [u32; 12] =
        [0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xe50, 0xff10];
    ZEROS.iter().any(|zero| (*zero..*zero + 10).contains(&u32::from(c)))
}

impl Set {
    fn holds(&self, c: char) -> bool {
        let found = self.items.iter().any(|item| match item {
            Item::Range(from, to) => (*from..=*to).contains(&c),
            Item::Class(class, negated) => class.holds(c) != *negated,
        });
        found != self.negated && !self.minus.as_ref().is_some_and(|minus| minus.holds(c))
    }

    fn one(c: char) -> Set {
        Set { items: vec![Item::Range(c, c)], ..Set::default() }
    }
}

/// An expression as it is read.
enum Node {
    Set(Set),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat(Box<Node>, u32, Option<u32>),
}

impl Pattern {
    /// Reads an expression: 572, 2362.
    pub fn compile(text: &str) -> Result<Pattern> {
        let mut parser = Parser { text, chars: text.char_indices().peekable(), depth: 0 };
        let node = parser.choice()?;
        if parser.chars.peek().is_some() {
            return Err(parser.wrong());
        }
        let mut pattern =
            Pattern { states: vec![State::Match], sets: Vec::new(), start: 0, steps: 0 };
        pattern.start = pattern.emit(&node, 0)?;
        Ok(pattern)
    }

    /// Is the whole text one of its?
    pub fn matches(&self, text: &str) -> std::result::Result<bool, Stopped> {
        let mut breath = Breath::new();
        let mut now = Places::new(self.states.len());
        let mut next = Places::new(self.states.len());
        self.enter(self.start, &mut now);
        for c in text.chars() {
            breath.steps(4 + now.list.len())?;
            for state in &now.list {
                if let State::Take(set, to) = self.states[*state]
                    && self.sets[set].holds(c)
                {
                    self.enter(to, &mut next);
                }
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
            if now.list.is_empty() {
                return Ok(false);
            }
        }
        Ok(now.list.iter().any(|state| matches!(self.states[*state], State::Match)))
    }

    /// A state, and those it leads to without a character.
    fn enter(&self, state: usize, places: &mut Places) {
        let mut open = vec![state];
        while let Some(state) = open.pop() {
            if !places.add(state) {
                continue;
            }
            if let State::Split(a, b) = self.states[state] {
                open.extend([b, a]);
            }
        }
    }

    fn add(&mut self, state: State) -> Result<usize> {
        if self.states.len() >= STATES_MAX {
            return Err(SchemaError::new(2362, "XSD schema too complex"));
        }
        self.states.push(state);
        Ok(self.states.len() - 1)
    }

    /// The first state of a part that leads to `next`.
    fn emit(&mut self, node: &Node, next: usize) -> Result<usize> {
        self.steps += 1;
        if self.steps > 10 * STATES_MAX {
            return Err(SchemaError::new(2362, "XSD schema too complex"));
        }
        match node {
            Node::Set(set) => {
                self.sets.push(set.clone());
                self.add(State::Take(self.sets.len() - 1, next))
            }
            Node::Sequence(parts) => {
                let mut next = next;
                for part in parts.iter().rev() {
                    next = self.emit(part, next)?;
                }
                Ok(next)
            }
            Node::Choice(parts) => {
                let mut first = None;
                for part in parts.iter().rev() {
                    let start = self.emit(part, next)?;
                    first = Some(match first {
                        None => start,
                        Some(other) => self.add(State::Split(start, other))?,
                    });
                }
                Ok(first.unwrap_or(next))
            }
            Node::Repeat(inner, min, max) => {
                let mut next = next;
                match max {
                    None => {
                        let split = self.add(State::Split(0, next))?;
                        let start = self.emit(inner, split)?;
                        self.states[split] = State::Split(start, next);
                        next = split;
                    }
                    Some(max) => {
                        let end = next;
                        for _ in *min..*max {
                            let start = self.emit(inner, next)?;
                            next = self.add(State::Split(start, end))?;
                        }
                    }
                }
                for _ in 0..*min {
                    next = self.emit(inner, next)?;
                }
                Ok(next)
            }
        }
    }
}

/// Which states a run is in.
struct Places {
    list: Vec<usize>,
    is_in: Vec<bool>,
}

impl Places {
    fn new(states: usize) -> Places {
        Places { list: Vec::new(), is_in: vec![false; states] }
    }

    fn add(&mut self, state: usize) -> bool {
        let new = !self.is_in[state];
        if new {
            self.is_in[state] = true;
            self.list.push(state);
        }
        new
    }

    fn clear(&mut self) {
        for state in self.list.drain(..) {
            self.is_in[state] = false;
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    chars: Peekable<CharIndices<'t>>,
    depth: usize,
}

impl Parser<'_> {
    /// 572.
    fn wrong(&mut self) -> SchemaError {
        let at = self.chars.peek().map_or(self.text.len(), |(at, _)| *at);
        let at = self.text[..at].chars().count();
        let text = format!("Invalid regular expression \"{}\" near the offset {at}.", self.text);
        SchemaError::new(572, text)
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    fn next(&mut self) -> Option<char> {
        self.chars.next().map(|(_, c)| c)
    }

    fn eat(&mut self, c: char) -> bool {
        self.chars.next_if(|(_, next)| *next == c).is_some()
    }

    fn choice(&mut self) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SchemaError::new(2362, "XSD schema too complex"));
        }
        let mut parts = vec![self.sequence()?];
        while self.eat('|') {
            parts.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(Node::Choice(parts))
    }

    fn sequence(&mut self) -> Result<Node> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            let atom = self.atom()?;
            parts.push(self.counted(atom)?);
        }
        Ok(Node::Sequence(parts))
    }

    fn counted(&mut self, atom: Node) -> Result<Node> {
        let (min, max) = match self.peek() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('{') => {
                self.next();
                let min = self.number()?;
                let max = match self.eat(',') {
                    false => Some(min),
                    true if self.peek() == Some('}') => None,
                    true => Some(self.number()?),
                };
                if self.peek() != Some('}') || max.is_some_and(|max| max < min) {
                    return Err(self.wrong());
                }
                (min, max)
            }
            _ => return Ok(atom),
        };
        self.next();
        Ok(Node::Repeat(Box::new(atom), min, max))
    }

    fn number(&mut self) -> Result<u32> {
        let mut number = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            self.next();
            let so_far: u32 = number.unwrap_or(0);
            number = Some(so_far.saturating_mul(10).saturating_add(digit));
        }
        number.ok_or_else(|| self.wrong())
    }

    fn atom(&mut self) -> Result<Node> {
        Ok(match self.peek() {
            Some('(') => {
                self.next();
                let inner = self.choice()?;
                if !self.eat(')') {
                    return Err(self.wrong());
                }
                inner
            }
            Some('[') => {
                self.next();
                Node::Set(self.class()?)
            }
            Some('.') => {
                self.next();
                let items = vec![Item::Range('\n', '\n'), Item::Range('\r', '\r')];
                Node::Set(Set { negated: true, items, minus: None })
            }
            Some('\\') => {
                self.next();
                let item = self.escape()?;
                Node::Set(Set { items: vec![item], ..Set::default() })
            }
            Some('?' | '*' | '+' | '{' | '}' | ']') | None => return Err(self.wrong()),
            Some(c) => {
                self.next();
                Node::Set(Set::one(c))
            }
        })
    }

    /// Behind the backslash.
    fn escape(&mut self) -> Result<Item> {
        let Some(c) = self.peek() else { return Err(self.wrong()) };
        let one = |c| Ok(Item::Range(c, c));
        let class = match c {
            'n' => Err('\n'),
            'r' => Err('\r'),
            't' => Err('\t'),
            '\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')' | '{' | '}' | '-' | '[' | ']' | '^' => {
                Err(c)
            }
            's' | 'S' => Ok(Class::Space),
            'i' | 'I' => Ok(Class::NameStart),
            'c' | 'C' => Ok(Class::Name),
            'd' | 'D' => Ok(Class::Digit),
            'w' | 'W' => Ok(Class::Word),
            'p' | 'P' => {
                self.next();
                return self.category(c == 'P');
            }
            _ => return Err(self.wrong()),
        };
        self.next();
        match class {
            Err(c) => one(c),
            Ok(class) => Ok(Item::Class(class, c.is_ascii_uppercase())),
        }
    }

    /// `{name}` behind `\p`.
    fn category(&mut self, negated: bool) -> Result<Item> {
        if !self.eat('{') {
            return Err(self.wrong());
        }
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| *c != '}') {
            name.push(c);
            self.next();
        }
        let class = match name.as_str() {
            "L" => Class::Letter,
            "Lu" => Class::Upper,
            "Ll" => Class::Lower,
            "N" => Class::Number,
            "Nd" => Class::Digit,
            "Z" | "Zs" => Class::Separator,
            "P" => Class::Punctuation,
            "S" => Class::Symbol,
            "C" | "Cc" => Class::Control,
            "M" | "Mn" => Class::Mark,
            _ => return Err(self.wrong()),
        };
        match self.eat('}') {
            true => Ok(Item::Class(class, negated)),
            false => Err(self.wrong()),
        }
    }

    /// Behind `[`, up to and with `]`.
    fn class(&mut self) -> Result<Set> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SchemaError::new(2362, "XSD schema too complex"));
        }
        let mut set = Set { negated: self.eat('^'), ..Set::default() };
        loop {
            match self.peek() {
                None => return Err(self.wrong()),
                Some(']') if !set.items.is_empty() => {
                    self.next();
                    break;
                }
                Some('[' | ']') => return Err(self.wrong()),
                Some('-') if !set.items.is_empty() && self.minus_follows() => {
                    self.next();
                    self.next();
                    set.minus = Some(Box::new(self.class()?));
                    if !self.eat(']') {
                        return Err(self.wrong());
                    }
                    break;
                }
                Some(_) => {
                    let from = self.class_item()?;
                    set.items.push(self.range(from)?);
                }
            }
        }
        self.depth -= 1;
        Ok(set)
    }

    fn minus_follows(&self) -> bool {
        let mut ahead = self.chars.clone();
        ahead.next();
        ahead.peek().is_some_and(|(_, c)| *c == '[')
    }

    fn class_item(&mut self) -> Result<Item> {
        match self.next() {
            Some('\\') => self.escape(),
            Some(c) => Ok(Item::Range(c, c)),
            None => Err(self.wrong()),
        }
    }

    /// `-to` behind the first character of a range; a minus at the end stands for itself.
    fn range(&mut self, from: Item) -> Result<Item> {
        let Item::Range(first, _) = from else { return Ok(from) };
        let mut ahead = self.chars.clone();
        let is_range = ahead.next().is_some_and(|(_, c)| c == '-')
            && ahead.peek().is_some_and(|(_, c)| *c != ']' && *c != '[');
        if !is_range {
            return Ok(from);
        }
        self.next();
        match self.class_item()? {
            Item::Range(last, _) if last >= first => Ok(Item::Range(first, last)),
            _ => Err(self.wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_of_the_whole_text() {
        #[rustfmt::skip]
        let cases = [
            ("[0-9\\(\\)\\-]*", "(425)555-0100", true), ("[0-9\\(\\)\\-]*", "425x", false), ("[0-9\\(\\)\\-]*", "", true),
            ("a|bc", "bc", true), ("a|bc", "abc", false), ("\\d{3}-\\d{2,}", "123-4567", true), ("\\d{3}-\\d{2,}", "123-4", false),
            ("[A-Z]{1,2}", "ABC", false), ("[^a-c]+", "xyz", true), ("[^a-c]+", "xaz", false), ("[a-z-[aeiou]]+", "xyz", true),
            ("[a-z-[aeiou]]+", "xaz", false), ("\\p{Lu}\\p{Ll}+", "\u{c4}rger", true), ("\\i\\c*", "_a.b-1", true), ("\\i\\c*", "1a", false),
            ("(ab)*", "ababab", true), ("(ab)*", "aba", false), ("(a?){30}a{30}", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true), (".", "\n", false), ("", "", true),
            ("33\\.0+", "33.000", true), ("[+\\-]?\\d+", "-7", true), ("[a-]", "-", true),
        ];
        for (pattern, text, expected) in cases {
            let found = Pattern::compile(pattern).expect(pattern).matches(text);
            assert_eq!(found, Ok(expected), "{pattern} of {text}");
        }
    }

    #[test]
    fn wrong_ones_are_refused_and_large_ones_are_limited() {
        for pattern in ["(", "a)", "[", "[a", "*", "a{2,1}", "\\q", "[b-a]", "a{", "\\p{IsGreek}"] {
            assert_eq!(
                Pattern::compile(pattern).map_err(|e| e.number()).err(),
                Some(572),
                "{pattern}"
            );
        }
        let deep = "(".repeat(200) + &")".repeat(200);
        for pattern in ["(a{1000}){1000}", "((){20000}){20000}", &deep] {
            assert_eq!(Pattern::compile(pattern).map_err(|e| e.number()).err(), Some(2362));
        }
    }
}
