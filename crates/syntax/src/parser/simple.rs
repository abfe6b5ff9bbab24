//! Statements whose constants may be taken for parameters, so that texts which differ in them alone share a plan:
//! simple parameterisation.
//!
//! ```text
//! INSERT [INTO] t [(column, ...)] VALUES (value, ...)      value:  constant | NULL | DEFAULT | f()
//! SELECT * | column, ... FROM t [[AS] a] WHERE match       match:  column = constant [AND ...]
//! UPDATE t SET column = set, ... [WHERE match]             set:    value | column | column + constant, - or *
//! DELETE [FROM] t WHERE match
//! ```
//!
//! Promise: only a batch of one such statement is one; its text with a parameter in place of each constant is the same
//! statement, on the same lines. Anything else, mistakes among them, is none, and the parser's to read.
//! It is decided by tokens alone: a session asks for every text that it has not met.

use super::Parser;
use crate::LexOptions;
use crate::ast::Literal;
use crate::token::{Kw, Sym, TokenKind};
use std::fmt::Write;

/// Longer texts are not looked at, in bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// A statement with parameters `@1`, `@2` ... in place of its constants.
#[derive(Debug, Clone, PartialEq)]
pub struct Simple {
    /// The statement.
    pub text: String,
    /// What the parameters stand for.
    pub constants: Vec<Literal>,
    /// It looks for rows: the best way to them may depend on the constants.
    pub searches: bool,
}

pub(crate) fn simple(text: &str, options: &LexOptions) -> Option<Simple> {
    const VERBS: [&str; 4] = ["INSERT", "SELECT", "UPDATE", "DELETE"];
    let verb = text.trim_start().get(..6)?;
    if text.len() > TEXT_BYTES_MAX || !VERBS.iter().any(|v| v.eq_ignore_ascii_case(verb)) {
        return None;
    }
    let parser = Parser::new(text, options).ok()?;
    let simple =
        Simple { text: String::with_capacity(text.len()), constants: Vec::new(), searches: true };
    let mut reader = Reader { parser, simple, copied: 0 };
    reader.statement()?;
    reader.parser.eat_sym(Sym::Semicolon);
    let mut simple = reader.simple;
    if !reader.parser.at_end() || simple.constants.is_empty() {
        return None;
    }
    simple.text.push_str(&text[reader.copied..]);
    Some(simple)
}

struct Reader<'a> {
    parser: Parser<'a>,
    simple: Simple,
    /// So much of the text stands in the new one.
    copied: usize,
}

/// `Some(())` where it is there, else the text is none of these.
fn so(is: bool) -> Option<()> {
    is.then_some(())
}

impl Reader<'_> {
    fn statement(&mut self) -> Option<()> {
        match self.parser.advance().kind {
            TokenKind::Key(Kw::Insert) => self.insert(),
            TokenKind::Key(Kw::Select) => self.select(),
            TokenKind::Key(Kw::Update) => self.update(),
            TokenKind::Key(Kw::Delete) => {
                self.parser.eat_kw(Kw::From);
                self.name()?;
                self.matches()
            }
            _ => None,
        }
    }

    fn insert(&mut self) -> Option<()> {
        self.simple.searches = false;
        self.parser.eat_kw(Kw::Into);
        self.name()?;
        if self.parser.eat_sym(Sym::LeftParen) {
            self.list(Self::word)?;
            so(self.parser.eat_sym(Sym::RightParen))?;
        }
        so(self.parser.eat_kw(Kw::Values))?;
        so(self.parser.eat_sym(Sym::LeftParen))?;
        self.list(Self::value)?;
        so(self.parser.eat_sym(Sym::RightParen))
    }

    fn select(&mut self) -> Option<()> {
        if !self.parser.eat_sym(Sym::Star) {
            self.list(Self::column)?;
        }
        so(self.parser.eat_kw(Kw::From))?;
        self.name()?;
        if self.parser.eat_kw(Kw::As) || self.parser.at_name() {
            self.word()?;
        }
        self.matches()
    }

    fn update(&mut self) -> Option<()> {
        self.name()?;
        so(self.parser.eat_kw(Kw::Set))?;
        self.list(|reader| {
            reader.name()?;
            so(reader.parser.eat_sym(Sym::Eq))?;
            if !reader.parser.at_name() || reader.calls() {
                return reader.value();
            }
            reader.name()?;
            let operators = [Sym::Plus, Sym::Minus, Sym::Star];
            if operators.into_iter().any(|sym| reader.parser.eat_sym(sym)) {
                return reader.constant();
            }
            Some(())
        })?;
        self.matches()
    }

    /// `WHERE column = constant AND ...`
    fn matches(&mut self) -> Option<()> {
        so(self.parser.eat_kw(Kw::Where))?;
        loop {
            self.name()?;
            so(self.parser.eat_sym(Sym::Eq))?;
            self.signed()?;
            if !self.parser.eat_kw(Kw::And) {
                return Some(());
            }
        }
    }

    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        loop {
            item(self)?;
            if !self.parser.eat_sym(Sym::Comma) {
                return Some(());
            }
        }
    }

    /// A name without dots.
    fn word(&mut self) -> Option<()> {
        so(self.parser.at_name())?;
        self.parser.advance();
        Some(())
    }

    /// A name with up to three dots.
    fn name(&mut self) -> Option<()> {
        self.word()?;
        for _ in 0..3 {
            if self.parser.eat_sym(Sym::Dot) {
                self.word()?;
            }
        }
        Some(())
    }

    /// A column of a result, with its name.
    fn column(&mut self) -> Option<()> {
        self.name()?;
        if self.parser.eat_kw(Kw::As) || self.parser.at_name() {
            self.word()?;
        }
        Some(())
    }

    /// A function without arguments begins here.
    fn calls(&self) -> bool {
        self.parser.kind() == TokenKind::Word
            && self.parser.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen)
            && self.parser.kind_ahead(2) == TokenKind::Symbol(Sym::RightParen)
    }

    fn value(&mut self) -> Option<()> {
        if self.calls() {
            self.parser.at += 3;
            return Some(());
        }
        let plain = [Kw::Null, Kw::Default, Kw::CurrentTimestamp];
        if plain.into_iter().any(|kw| self.parser.eat_kw(kw)) {
            return Some(());
        }
        self.signed()
    }

    fn signed(&mut self) -> Option<()> {
        if self.parser.eat_sym(Sym::Minus) {
            use TokenKind::{Decimal, Float, Integer, Money};
            so(matches!(self.parser.kind(), Integer | Decimal | Float | Money))?;
        }
        self.constant()
    }

    /// A constant: a parameter takes its place.
    fn constant(&mut self) -> Option<()> {
        so(!self.parser.at_kw(Kw::Null))?;
        let span = self.parser.token().span;
        let constant = self.parser.literal().ok()?;
        let (start, end) = (span.start as usize, span.end as usize);
        let Reader { parser, simple, copied } = self;
        simple.text.push_str(&parser.text[*copied..start]);
        simple.constants.push(constant);
        let _ = write!(simple.text, "@{}", simple.constants.len());
        // `1AND` is two words, `@1AND` is one.
        let next = parser.text.as_bytes().get(end);
        if next.is_some_and(|b| b.is_ascii_alphanumeric() || b"_@#$".contains(b) || *b >= 0x80) {
            simple.text.push(' ');
        }
        *copied = end;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(String, usize)> {
        simple(text, &LexOptions::default()).map(|s| (s.text, s.constants.len()))
    }

    #[test]
    fn a_parameter_takes_the_place_of_each_constant() {
        let cases = [
            (
                "INSERT t VALUES (1, 'it''s', NULL, DEFAULT, -2.5, GETDATE())",
                "INSERT t VALUES (@1, @2, NULL, DEFAULT, -@3, GETDATE())",
                3,
            ),
            (
                "insert into dbo.[a t] (a, b)\n values (0x01, $3);",
                "insert into dbo.[a t] (a, b)\n values (@1, @2);",
                2,
            ),
            (
                "SELECT * FROM d.s.t WHERE a = 1AND b=N'x'",
                "SELECT * FROM d.s.t WHERE a = @1 AND b=@2",
                2,
            ),
            (
                "SELECT x.a, b AS c, d e FROM t x WHERE x.a = -1",
                "SELECT x.a, b AS c, d e FROM t x WHERE x.a = -@1",
                1,
            ),
            (
                "UPDATE t SET a = a + 1, b = 'x', c = d WHERE k = 7",
                "UPDATE t SET a = a + @1, b = @2, c = d WHERE k = @3",
                3,
            ),
            ("DELETE t WHERE k = 1e3 -- the last\n", "DELETE t WHERE k = @1 -- the last\n", 1),
        ];
        for (text, expected, constants) in cases {
            assert_eq!(of(text), Some((expected.to_owned(), constants)), "{text}");
        }
    }

    #[test]
    fn what_is_more_than_simple_is_left_alone() {
        for text in [
            "",
            "SELECT",
            "SELECT 1",
            "SELECT a FROM t",
            "SELECT TOP 5 a FROM t WHERE k = 1",
            "SELECT DISTINCT a FROM t WHERE k = 1",
            "SELECT a + 1 FROM t WHERE k = 1",
            "SELECT a FROM t, u WHERE k = 1",
            "SELECT a FROM t WHERE k = 1 OR k = 2",
            "SELECT a FROM t WHERE k = NULL",
            "SELECT a FROM t WHERE k = -'1'",
            "SELECT a FROM t WHERE k = 1 + 1",
            "SELECT a FROM t WHERE k > 1",
            "SELECT a FROM t WHERE k = @k",
            "SELECT a FROM t WHERE k = 1 ORDER BY 1",
            "SELECT a FROM t WITH (NOLOCK) WHERE k = 1",
            "SELECT a INTO u FROM t WHERE k = 1",
            "INSERT t VALUES (1), (2)",
            "INSERT t VALUES (1 + 1)",
            "INSERT t VALUES (f(1))",
            "INSERT t VALUES (NULL)",
            "INSERT t DEFAULT VALUES",
            "INSERT TOP (1) t VALUES (1)",
            "INSERT t OUTPUT inserted.a VALUES (1)",
            "INSERT t SELECT 1",
            "UPDATE t SET a = a / 2 WHERE k = 1",
            "UPDATE t SET a = 1 FROM u WHERE k = 1",
            "DELETE t WHERE CURRENT OF c",
            "DELETE t WHERE k = 1 DELETE t WHERE k = 2",
            "INSERT t VALUES ('open",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn a_double_quoted_text_is_a_constant_where_it_is_no_name() {
        let text = "INSERT t VALUES (\"x\")";
        assert_eq!(of(text), None);
        let found = simple(text, &LexOptions { quoted_identifier: false });
        let national = false;
        assert_eq!(
            found.map(|s| s.constants),
            Some(vec![Literal::String { value: "x".into(), national }])
        );
    }
}
