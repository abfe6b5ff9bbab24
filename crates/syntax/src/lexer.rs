//! Text to tokens, one pass, before parsing begins.
//!
//! Invariants: token spans are in order, do not overlap, and lie on character boundaries; the last
//! token is [`TokenKind::End`]. Comments nest. Nothing here depends on session settings: whether
//! `"x"` is a name or a text is the parser's question, because SET QUOTED_IDENTIFIER in a batch
//! changes the answer half-way.

use crate::ast::Span;
use crate::error::{ParseResult, SyntaxError};
use crate::token::{Sym, Token, TokenKind, keyword};
use runtime::task::Breath;

/// SQL Server's longest identifier, in characters.
const IDENTIFIER_MAX: usize = 128;

/// All tokens of `text`. Errors: 105, 113, 103, 1038.
pub(crate) fn tokenize(text: &str) -> ParseResult<Vec<Token>> {
    if text.len() >= u32::MAX as usize {
        return Err(SyntaxError::new(191, 1, "", TOO_LONG));
    }
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, line: 1 };
    let mut tokens = Vec::with_capacity(text.len() / 5 + 4);
    let mut breath = Breath::new();
    loop {
        let token = lexer.next()?;
        breath.steps(4 + (token.span.end - token.span.start) as usize / 4)?;
        tokens.push(token);
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

const TOO_LONG: &str = "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up into \
     smaller queries.";

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'#'
}

fn is_word_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'#' | b'$')
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> ParseResult<Token> {
        self.skip_blanks()?;
        let (start, line) = (self.at, self.line);
        let kind = self.scan()?;
        Ok(Token { kind, span: Span { start: start as u32, end: self.at as u32, line } })
    }

    fn scan(&mut self) -> ParseResult<TokenKind> {
        let first = self.byte(0);
        if first == 0 && self.at >= self.bytes.len() {
            return Ok(TokenKind::End);
        }
        match first {
            b'n' | b'N' if self.byte(1) == b'\'' => {
                self.at += 1;
                self.quoted(b'\'')?;
                Ok(TokenKind::NationalString)
            }
            b'\'' => {
                self.quoted(b'\'')?;
                Ok(TokenKind::String)
            }
            b'"' => {
                self.quoted(b'"')?;
                Ok(TokenKind::DoubleQuoted)
            }
            b'[' => {
                let start = self.at;
                self.quoted(b']')?;
                self.check_identifier(start + 1, self.at - 1)?;
                Ok(TokenKind::Bracketed)
            }
            b'@' => {
                let start = self.at;
                let system = self.byte(1) == b'@';
                self.at += 1;
                self.word_rest();
                self.check_length(start, self.at)?;
                Ok(if system { TokenKind::SystemVariable } else { TokenKind::Variable })
            }
            b'0' if matches!(self.byte(1), b'x' | b'X') => {
                self.at += 2;
                loop {
                    match (self.byte(0), self.byte(1), self.byte(2)) {
                        (digit, ..) if digit.is_ascii_hexdigit() => self.at += 1,
                        // A backslash at the end of a line continues it on the next.
                        (b'\\', b'\n', _) => (self.at, self.line) = (self.at + 2, self.line + 1),
                        (b'\\', b'\r', b'\n') => {
                            (self.at, self.line) = (self.at + 3, self.line + 1);
                        }
                        _ => break,
                    }
                }
                Ok(TokenKind::Binary)
            }
            b'0'..=b'9' => Ok(self.number()),
            b'.' if self.byte(1).is_ascii_digit() => Ok(self.number()),
            b'$' => Ok(self.money(1)),
            _ if is_word_start(first) || (first >= 0x80 && self.char().is_alphabetic()) => {
                let start = self.at;
                self.word_rest();
                self.check_length(start, self.at)?;
                let word = &self.text[start..self.at];
                Ok(keyword(word).map_or(TokenKind::Word, TokenKind::Key))
            }
            0x80.. if self.at_amount() => Ok(self.money(self.char().len_utf8())),
            _ => Ok(self.symbol()),
        }
    }

    /// The sign of another currency than $ stands here, before an amount.
    #[cold]
    fn at_amount(&self) -> bool {
        if !stdx::is_currency_sign(self.char()) {
            return false;
        }
        let rest = self.text[self.at + self.char().len_utf8()..].trim_start_matches([' ', '\t']);
        let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        rest.strip_prefix('.').unwrap_or(rest).starts_with(|c: char| c.is_ascii_digit())
    }

    fn char(&self) -> char {
        self.text[self.at..].chars().next().unwrap_or('\0')
    }

    fn word_rest(&mut self) {
        loop {
            let byte = self.byte(0);
            if is_word_part(byte) {
                self.at += 1;
            } else if byte >= 0x80 && self.char().is_alphanumeric() {
                self.at += self.char().len_utf8();
            } else {
                return;
            }
        }
    }

    /// Steps over `'...'`, `"..."` or `[...]`; the closing character doubled stands for itself.
    fn quoted(&mut self, close: u8) -> ParseResult<()> {
        let (start, line) = (self.at, self.line);
        self.at += 1;
        loop {
            match self.bytes.get(self.at) {
                None => {
                    let text = &self.text[start + 1..];
                    return Err(SyntaxError::new(
                        105,
                        line,
                        text,
                        format!(
                            "Unclosed quotation mark after the character string '{}'.",
                            clip(text)
                        ),
                    ));
                }
                Some(&byte) if byte == close => {
                    self.at += 1;
                    if self.byte(0) != close {
                        return Ok(());
                    }
                }
                Some(b'\n') => self.line += 1,
                Some(_) => {}
            }
            self.at += 1;
        }
    }

    fn check_identifier(&self, start: usize, end: usize) -> ParseResult<()> {
        if start == end {
            return Err(SyntaxError::new(1038, self.line, "", crate::error::EMPTY_NAME));
        }
        self.check_length(start, end)
    }

    fn check_length(&self, start: usize, end: usize) -> ParseResult<()> {
        let text = &self.text[start..end];
        if text.len() > IDENTIFIER_MAX && text.chars().count() > IDENTIFIER_MAX {
            return Err(SyntaxError::new(
                103,
                self.line,
                text,
                format!(
                    "The identifier that starts with '{}' is too long. Maximum length is {IDENTIFIER_MAX}.",
                    clip(text)
                ),
            ));
        }
        Ok(())
    }

    fn digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn number(&mut self) -> TokenKind {
        let mut kind = TokenKind::Integer;
        self.digits();
        if self.byte(0) == b'.' {
            self.at += 1;
            self.digits();
            kind = TokenKind::Decimal;
        }
        if matches!(self.byte(0), b'e' | b'E') {
            // `1e`, without digits, is a float too; `1else` is a number and a keyword.
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() || (sign == 0 && !is_word_part(self.byte(1))) {
                self.at += 1 + sign;
                self.digits();
                kind = TokenKind::Float;
            }
        }
        kind
    }

    /// `$1.25` is money, `$` alone is zero money, `$identity` a word. The sign has `sign_bytes` bytes.
    fn money(&mut self, sign_bytes: usize) -> TokenKind {
        self.at += sign_bytes;
        if is_word_start(self.byte(0)) {
            self.word_rest();
            return TokenKind::Word;
        }
        // Blanks may stand between the sign of the currency and the digits.
        let mut blanks = 0;
        while matches!(self.byte(blanks), b' ' | b'\t') {
            blanks += 1;
        }
        let is_number = |lexer: &Self, at: usize| {
            let dot = lexer.byte(at) == b'.';
            lexer.byte(at + usize::from(dot)).is_ascii_digit()
        };
        if blanks > 0 && is_number(self, blanks) {
            self.at += blanks;
        }
        let sign = usize::from(matches!(self.byte(0), b'+' | b'-'));
        if self.byte(sign).is_ascii_digit() || self.byte(sign) == b'.' {
            self.at += sign;
            self.digits();
            if self.byte(0) == b'.' {
                self.at += 1;
                self.digits();
            }
        }
        TokenKind::Money
    }

    fn symbol(&mut self) -> TokenKind {
        use Sym::*;
        let first = self.byte(0);
        // SQL Server reads `< =` as one operator.
        let compared = |lexer: &mut Self, plain: Option<Sym>, pairs: &[(u8, Sym)]| {
            let mut ahead = 1;
            while matches!(lexer.byte(ahead), b' ' | b'\t' | b'\r' | b'\n') {
                ahead += 1;
            }
            for (second, symbol) in pairs {
                if lexer.byte(ahead) == *second {
                    let between = &lexer.bytes[lexer.at..lexer.at + ahead];
                    lexer.line += between.iter().filter(|byte| **byte == b'\n').count() as u32;
                    lexer.at += ahead + 1;
                    return Some(*symbol);
                }
            }
            lexer.at += 1;
            plain
        };
        let assigned = |lexer: &mut Self, plain: Sym, with_equals: Sym| {
            let equals = lexer.byte(1) == b'=';
            lexer.at += 1 + usize::from(equals);
            Some(if equals { with_equals } else { plain })
        };
        let symbol = match first {
            b'<' => compared(self, Some(Lt), &[(b'=', LtEq), (b'>', NotEq)]),
            b'>' => compared(self, Some(Gt), &[(b'=', GtEq)]),
            b'!' => compared(self, None, &[(b'=', NotEq), (b'<', GtEq), (b'>', LtEq)]),
            b'+' => assigned(self, Plus, PlusEq),
            b'-' => assigned(self, Minus, MinusEq),
            b'*' => assigned(self, Star, StarEq),
            b'/' => assigned(self, Slash, SlashEq),
            b'%' => assigned(self, Percent, PercentEq),
            b'&' => assigned(self, Ampersand, AmpersandEq),
            b'|' => assigned(self, Pipe, PipeEq),
            b'^' => assigned(self, Caret, CaretEq),
            _ => {
                let symbol = match first {
                    b'(' => Some(LeftParen),
                    b')' => Some(RightParen),
                    b',' => Some(Comma),
                    b'.' => Some(Dot),
                    b';' => Some(Semicolon),
                    b':' => Some(Colon),
                    b'=' => Some(Eq),
                    b'~' => Some(Tilde),
                    _ => None,
                };
                self.at += self.char().len_utf8();
                symbol
            }
        };
        symbol.map_or(TokenKind::Unknown, TokenKind::Symbol)
    }

    fn skip_blanks(&mut self) -> ParseResult<()> {
        loop {
            match self.byte(0) {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                0x01..=b' ' => self.at += 1,
                b'-' if self.byte(1) == b'-' => {
                    while self.at < self.bytes.len() && self.byte(0) != b'\n' {
                        self.at += 1;
                    }
                }
                b'/' if self.byte(1) == b'*' => self.skip_comment()?,
                // No-break space, byte order mark and their like, as pasted scripts have them.
                0x80..
                    if self.char().is_whitespace()
                        || matches!(self.char(), '\u{200b}' | '\u{feff}') =>
                {
                    self.at += self.char().len_utf8();
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> ParseResult<()> {
        let mut depth = 0usize;
        while self.at < self.bytes.len() {
            match (self.byte(0), self.byte(1)) {
                (b'/', b'*') => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                (byte, _) => {
                    self.line += u32::from(byte == b'\n');
                    self.at += 1;
                }
            }
        }
        Err(SyntaxError::new(113, self.line, "", "Missing end comment mark '*/'."))
    }
}

/// The beginning of a text that a message quotes.
fn clip(text: &str) -> &str {
    match text.char_indices().nth(128) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
