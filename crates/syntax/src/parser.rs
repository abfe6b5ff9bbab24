//! Recursive descent over the tokens of one batch; expressions by precedence climbing.
//!
//! Invariants: `at` never passes the End token; recursion goes through [`Parser::nested`] or
//! [`Parser::any`], which count depth against [`crate::MAX_DEPTH`]; every loop takes at least one
//! token per turn or ends. So a parse always ends, on a small stack, in time linear in the text
//! (look-ahead over parentheses aside).

mod atomic;
mod audit;
mod backup;
mod builtin;
mod bulk;
mod call;
mod cursor;
mod database;
mod ddl;
mod ddl_trigger;
mod dml;
mod execute;
mod expr;
mod from;
mod fulltext;
mod fulltext_search;
mod governor;
mod group;
mod index;
mod literal;
mod login;
mod merge;
mod methods;
mod module;
mod odbc;
mod partition;
mod pivot;
mod policy;
mod query;
mod rare;
mod refused;
mod schema;
mod scoped;
mod security;
mod sequence;
mod server;
mod set;
pub(crate) mod simple;
mod spatial;
mod statement;
mod statistics;
mod temporal;
mod text_pointer;
mod tracking;
mod unsupported;
mod xml;
mod xml_objects;

/// What a nested query and a nested statement count for, in levels.
const QUERY_LEVELS: usize = 4;
const STATEMENT_LEVELS: usize = 2;

use crate::ast::*;
use crate::error::{ParseResult, SyntaxError};
use crate::mention::{Mention, MentionKind, Notes};
use crate::token::{Kw, Sym, Token, TokenKind};
use crate::{LexOptions, MAX_DEPTH, lexer};
use runtime::task::Breath;

/// Reads one batch.
pub(crate) fn batch(text: &str, options: &LexOptions) -> ParseResult<Batch> {
    let mut parser = Parser::new(text, options)?;
    let statements = parser.statements_until(|parser| parser.at_end())?;
    Ok(Batch { statements: statements.into() })
}

/// The name of the module that a batch makes or alters, the last part of it: told even of a batch that cannot be read.
pub(crate) fn created_module(text: &str, options: &LexOptions) -> Option<String> {
    let mut parser = Parser::new(text, options).ok()?;
    if parser.eat_kw(Kw::Create) {
        if parser.eat_kw(Kw::Or) && !parser.eat_kw(Kw::Alter) {
            return None;
        }
    } else if !parser.eat_kw(Kw::Alter) {
        return None;
    }
    const MODULES: &[&str] = &["PROC", "PROCEDURE", "VIEW", "FUNCTION", "TRIGGER"];
    if !MODULES.iter().any(|word| parser.eat_word(word)) {
        return None;
    }
    parser.object_name().ok().map(|name| name.name.value)
}

/// Reads declarations of parameters and nothing after them.
pub(crate) fn parameters(text: &str, options: &LexOptions) -> ParseResult<Vec<Parameter>> {
    let mut parser = Parser::new(text, options)?;
    if parser.at_end() {
        return Ok(Vec::new());
    }
    let parameters = parser.comma_list(Parser::parameter)?;
    if parser.at_end() { Ok(parameters) } else { Err(parser.unexpected()) }
}

/// The INSERT BULK that a batch is; 428 where it is more than that.
pub(crate) fn insert_bulk(text: &str, options: &LexOptions) -> ParseResult<InsertBulk> {
    let mut statements = batch(text, options)?.statements;
    let line = statements.first().map_or(1, |first| first.span.line);
    if let (Some(Statement { kind: StatementKind::Rare(rare), .. }), true) =
        (statements.pop(), statements.is_empty())
        && let RareStatement::InsertBulk(bulk) = *rare
    {
        return Ok(bulk);
    }
    Err(SyntaxError::new(428, line, "", crate::error::BULK_ALONE))
}

/// Variables used and not declared. `p @name = value` names a procedure's parameter, not a variable.
pub(crate) fn undeclared_variables(text: &str) -> ParseResult<Vec<String>> {
    let options = LexOptions { quoted_identifier: true };
    let parser = Parser::new(text, &options)?;
    let mut declared: Vec<&str> = Vec::new();
    let mut used: Vec<&str> = Vec::new();
    let mut declaring = false;
    let mut calling = false;
    let mut depth = 0usize;
    for (i, token) in parser.tokens.iter().enumerate() {
        let next = parser.tokens.get(i + 1).map_or(TokenKind::End, |token| token.kind);
        match token.kind {
            TokenKind::Key(Kw::Declare) => (declaring, calling) = (true, false),
            TokenKind::Key(Kw::Exec | Kw::Execute) => (declaring, calling) = (false, true),
            TokenKind::Symbol(Sym::LeftParen) => depth += 1,
            TokenKind::Symbol(Sym::RightParen) => depth = depth.saturating_sub(1),
            TokenKind::Symbol(Sym::Semicolon)
            | TokenKind::Key(
                Kw::Select
                | Kw::Insert
                | Kw::Update
                | Kw::Delete
                | Kw::Set
                | Kw::If
                | Kw::While
                | Kw::Begin,
            ) if depth == 0 => (declaring, calling) = (false, false),
            TokenKind::Variable => {
                let name = token.span.text(text);
                let after = i.checked_sub(1).map(|before| parser.tokens[before].kind);
                let declares = declaring
                    && depth == 0
                    && matches!(
                        after,
                        Some(TokenKind::Key(Kw::Declare) | TokenKind::Symbol(Sym::Comma))
                    );
                let list = if declares {
                    &mut declared
                } else if calling && next == TokenKind::Symbol(Sym::Eq) {
                    continue;
                } else {
                    &mut used
                };
                if !list.iter().any(|n| n.eq_ignore_ascii_case(name)) {
                    list.push(name);
                }
            }
            _ => {}
        }
    }
    used.retain(|name| !declared.iter().any(|d| d.eq_ignore_ascii_case(name)));
    Ok(used.into_iter().map(str::to_owned).collect())
}

/// Reads one value expression and nothing after it.
pub(crate) fn expression(text: &str, options: &LexOptions) -> ParseResult<Expr> {
    let mut parser = Parser::new(text, options)?;
    let expr = parser.value()?;
    if parser.at_end() { Ok(expr) } else { Err(parser.unexpected()) }
}

pub(crate) fn condition(text: &str, options: &LexOptions) -> ParseResult<Expr> {
    let mut parser = Parser::new(text, options)?;
    let expr = parser.condition()?;
    if parser.at_end() { Ok(expr) } else { Err(parser.unexpected()) }
}

/// What a module, or an expression, names.
pub(crate) fn mentions(
    text: &str,
    options: &LexOptions,
    is_expression: bool,
) -> ParseResult<Vec<Mention>> {
    let mut parser = Parser::new(text, options)?;
    parser.notes = Some(Box::default());
    if is_expression {
        // A condition is read as such; a value by itself is none.
        if parser.condition().is_err() || !parser.at_end() {
            parser = Parser::new(text, options)?;
            parser.notes = Some(Box::default());
            parser.value()?;
        }
    } else {
        parser.statements_until(|parser| parser.at_end())?;
    }
    Ok(parser.notes.map(|notes| notes.found).unwrap_or_default())
}

/// Is it the name of a method of xml?
pub(crate) fn is_xml_method(name: &str) -> bool {
    xml::is_method(name)
}

pub(crate) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    /// SET QUOTED_IDENTIFIER, which the batch itself may change.
    quoted_identifier: bool,
    /// Depth of recursion now.
    depth: usize,
    /// The query that is read stands in parentheses, inside another one or an expression.
    in_subquery: bool,
    /// Height of the highest expression finished since it was last cleared.
    height: usize,
    /// WHILEs around the present statement.
    loops: usize,
    /// Inside CREATE PROCEDURE: RETURN may have a value.
    in_procedure: bool,
    /// Something was read that the engine does not do: the statement becomes `Unsupported`.
    unsupported: Option<String>,
    /// WITH XMLNAMESPACES of the present statement: prefix, empty for the default one, and URI.
    xml_namespaces: Vec<(String, String)>,
    /// What the text names, where somebody has asked for that.
    notes: Option<Box<Notes>>,
    breath: Breath,
}

impl<'a> Parser<'a> {
    /// Lets others run after so many steps. A call of its own: what recurses must not carry its error in every frame.
    #[inline(never)]
    fn breathe(&mut self, steps: usize) -> ParseResult<()> {
        Ok(self.breath.steps(steps)?)
    }

    fn new(text: &'a str, options: &LexOptions) -> ParseResult<Parser<'a>> {
        Ok(Parser {
            text,
            tokens: lexer::tokenize(text)?,
            at: 0,
            quoted_identifier: options.quoted_identifier,
            depth: 0,
            in_subquery: false,
            height: 0,
            loops: 0,
            in_procedure: false,
            unsupported: None,
            xml_namespaces: Vec::new(),
            notes: None,
            breath: Breath::new(),
        })
    }

    /// Notes a name, if somebody has asked for that.
    fn note(&mut self, kind: MentionKind, name: &ObjectName) {
        if let Some(notes) = &mut self.notes {
            notes.note(kind, name);
        }
    }

    /// Notes a name that the present statement gives to rows of its own.
    fn note_local(&mut self, name: &Ident, is_query: bool) {
        if let Some(notes) = &mut self.notes {
            notes.local(name, is_query);
        }
    }

    // ---- Looking

    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn kind(&self) -> TokenKind {
        self.tokens[self.at].kind
    }

    /// The kind of a token further on; End past the end.
    fn kind_ahead(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.at + ahead).map_or(TokenKind::End, |token| token.kind)
    }

    fn token_text(&self, token: Token) -> &'a str {
        token.span.text(self.text)
    }

    fn at_end(&self) -> bool {
        self.kind() == TokenKind::End
    }

    fn at_kw(&self, kw: Kw) -> bool {
        self.kind() == TokenKind::Key(kw)
    }

    fn at_sym(&self, sym: Sym) -> bool {
        self.kind() == TokenKind::Symbol(sym)
    }

    fn at_word(&self, word: &str) -> bool {
        self.word_ahead(0, word)
    }

    /// A word (reserved or not) with this text, in any case.
    fn word_ahead(&self, ahead: usize, word: &str) -> bool {
        match self.tokens.get(self.at + ahead) {
            Some(token) => {
                matches!(token.kind, TokenKind::Word | TokenKind::Key(_))
                    && self.token_text(*token).eq_ignore_ascii_case(word)
            }
            None => false,
        }
    }

    /// A name may begin here: a word that is not reserved, brackets, double quotes.
    fn at_name(&self) -> bool {
        self.name_ahead(0)
    }

    fn name_ahead(&self, ahead: usize) -> bool {
        match self.kind_ahead(ahead) {
            TokenKind::Word | TokenKind::Bracketed => true,
            TokenKind::DoubleQuoted => self.quoted_identifier,
            _ => false,
        }
    }

    fn at_string(&self) -> bool {
        match self.kind() {
            TokenKind::String | TokenKind::NationalString => true,
            TokenKind::DoubleQuoted => !self.quoted_identifier,
            _ => false,
        }
    }

    // ---- Taking

    fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn eat_kw(&mut self, kw: Kw) -> bool {
        let found = self.at_kw(kw);
        if found {
            self.at += 1;
        }
        found
    }

    fn eat_sym(&mut self, sym: Sym) -> bool {
        let found = self.at_sym(sym);
        if found {
            self.at += 1;
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect_kw(&mut self, kw: Kw) -> ParseResult<()> {
        if self.eat_kw(kw) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_sym(&mut self, sym: Sym) -> ParseResult<()> {
        if self.eat_sym(sym) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_word(&mut self, word: &str) -> ParseResult<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// From token `start` to the last one taken.
    fn span_from(&self, start: usize) -> Span {
        let first = self.tokens[start].span;
        if self.at > start { first.to(self.tokens[self.at - 1].span) } else { first }
    }

    // ---- Mistakes

    /// 102 or 156 at the present token; at the end of the batch SQL Server names the last one.
    #[cold]
    fn unexpected(&self) -> Box<SyntaxError> {
        if self.at_end() {
            let last = match self.at.checked_sub(1) {
                Some(last) => self.tokens[last],
                None => return SyntaxError::new(102, 1, "", "Incorrect syntax near ''."),
            };
            return self.near(102, last);
        }
        let token = self.token();
        self.near(if matches!(token.kind, TokenKind::Key(_)) { 156 } else { 102 }, token)
    }

    #[cold]
    fn near(&self, number: i32, token: Token) -> Box<SyntaxError> {
        let near = self.token_value(token);
        let message = match number {
            156 => format!("Incorrect syntax near the keyword '{near}'."),
            _ => format!("Incorrect syntax near '{near}'."),
        };
        SyntaxError::new(number, token.span.line, near, message)
    }

    /// Another number, at the present token.
    #[cold]
    fn mistake(&self, number: i32, message: impl Into<String>) -> Box<SyntaxError> {
        let token = self.token();
        SyntaxError::new(number, token.span.line, self.token_text(token), message)
    }

    #[cold]
    fn too_deep(&self) -> Box<SyntaxError> {
        self.mistake(
            191,
            "Some part of your SQL statement is nested too deeply. Rewrite the query or break it up into smaller \
             queries.",
        )
    }

    /// Runs `f` some levels deeper: a level is about a kilobyte of stack.
    fn nested<T>(
        &mut self,
        levels: usize,
        f: impl FnOnce(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<T> {
        if self.depth + levels > MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += levels;
        let result = f(self);
        self.depth -= levels;
        result
    }

    /// Notes that the statement uses something the engine does not do.
    #[cold]
    fn note_unsupported(&mut self, what: &str) {
        self.unsupported.get_or_insert_with(|| what.to_string());
    }

    // ---- Words and names

    /// What a token stands for: quotes off and doubled ones undone.
    fn token_value(&self, token: Token) -> String {
        let text = self.token_text(token);
        let inner = |from: usize, close: char| {
            let inner = text.get(from..text.len().saturating_sub(1)).unwrap_or("");
            if inner.contains(close) {
                let doubled: String = [close, close].iter().collect();
                inner.replace(&doubled, close.encode_utf8(&mut [0; 4]))
            } else {
                inner.to_string()
            }
        };
        match token.kind {
            TokenKind::String => joined_lines(inner(1, '\'')),
            TokenKind::NationalString => joined_lines(inner(2, '\'')),
            TokenKind::DoubleQuoted => inner(1, '"'),
            TokenKind::Bracketed => inner(1, ']'),
            _ => text.to_string(),
        }
    }

    fn ident(&mut self) -> ParseResult<Ident> {
        if !self.at_name() {
            return Err(self.unexpected());
        }
        Ok(self.take_ident())
    }

    /// The present token as an identifier, whatever it is.
    fn take_ident(&mut self) -> Ident {
        let token = self.advance();
        Ident {
            value: self.token_value(token),
            quoted: matches!(token.kind, TokenKind::Bracketed | TokenKind::DoubleQuoted),
            span: token.span,
        }
    }

    /// A word, reserved or not, in capitals.
    fn any_word(&mut self) -> ParseResult<String> {
        match self.kind() {
            TokenKind::Word | TokenKind::Key(_) => {
                let token = self.advance();
                Ok(self.token_text(token).to_ascii_uppercase())
            }
            _ => Err(self.unexpected()),
        }
    }

    /// A name, or a reserved word where nothing else can be meant (`ON PRIMARY`).
    fn lenient_ident(&mut self) -> ParseResult<Ident> {
        if self.at_name() || matches!(self.kind(), TokenKind::Key(_)) || self.at_string() {
            Ok(self.take_ident())
        } else {
            Err(self.unexpected())
        }
    }

    fn variable(&mut self) -> ParseResult<Variable> {
        match self.kind() {
            TokenKind::Variable | TokenKind::SystemVariable => {
                let token = self.advance();
                Ok(Variable { name: self.token_text(token).to_string(), span: token.span })
            }
            _ => Err(self.unexpected()),
        }
    }

    fn string(&mut self) -> ParseResult<String> {
        if self.at_string() {
            let token = self.advance();
            Ok(self.token_value(token))
        } else {
            Err(self.unexpected())
        }
    }

    /// A whole number without sign.
    fn number(&mut self) -> ParseResult<u64> {
        if self.kind() != TokenKind::Integer {
            return Err(self.unexpected());
        }
        let token = self.token();
        match self.token_text(token).parse() {
            Ok(number) => {
                self.at += 1;
                Ok(number)
            }
            Err(_) => Err(self.unexpected()),
        }
    }

    /// `name`, `schema.name`, `db..name`, up to four parts.
    fn object_name(&mut self) -> ParseResult<ObjectName> {
        let start = self.at;
        let mut parts: [Option<Ident>; 3] = [None, None, None];
        let mut count = 0;
        let name = loop {
            let mut part = None;
            if !self.at_sym(Sym::Dot) {
                let word = self.ident()?;
                if !self.at_sym(Sym::Dot) {
                    break word;
                }
                part = Some(word);
            }
            if count == 3 {
                let text = self.span_from(start).text(self.text).to_string();
                return Err(self.mistake(
                    117,
                    format!(
                        "The object name '{text}' contains more than the maximum number of prefixes. The maximum is 3."
                    ),
                ));
            }
            parts[count] = part;
            count += 1;
            self.at += 1;
        };
        let mut parts = parts.into_iter().take(count).rev();
        let schema = parts.next().flatten();
        let database = parts.next().flatten();
        let server = parts.next().flatten();
        Ok(ObjectName { server, database, schema, name, span: self.span_from(start) })
    }

    /// The name of what a definition makes or changes, which is never another server's: 117.
    fn defined_name(&mut self) -> ParseResult<ObjectName> {
        let start = self.at;
        let name = self.object_name()?;
        if name.server.is_none() {
            return Ok(name);
        }
        let text = self.span_from(start).text(self.text).to_string();
        Err(self.mistake(
            117,
            format!(
                "The object name '{text}' contains more than the maximum number of prefixes. The maximum is 2."
            ),
        ))
    }

    /// `a, b, c` through `item`.
    fn comma_list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_sym(Sym::Comma) {
            self.breathe(4)?;
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `(a, b, c)` of names.
    fn ident_list(&mut self) -> ParseResult<Vec<Ident>> {
        self.expect_sym(Sym::LeftParen)?;
        let names = self.comma_list(Self::ident)?;
        self.expect_sym(Sym::RightParen)?;
        Ok(names)
    }

    /// Steps over a parenthesis and all that is in it.
    fn skip_parens(&mut self) -> ParseResult<()> {
        let mut open = 0usize;
        loop {
            match self.kind() {
                TokenKind::Symbol(Sym::LeftParen) => open += 1,
                TokenKind::Symbol(Sym::RightParen) => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                TokenKind::End => return Err(self.unexpected()),
                _ if open == 0 => return Err(self.unexpected()),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// A data type.
    fn type_name(&mut self) -> ParseResult<TypeName> {
        let start = self.at;
        let mut schema = None;
        let mut name = if self.at_kw(Kw::National) || self.at_kw(Kw::Double) {
            self.take_ident().value
        } else {
            let first = self.ident()?;
            if self.eat_sym(Sym::Dot) {
                schema = Some(first);
                self.ident()?.value
            } else {
                first.value
            }
        };
        if self.notes.is_some() {
            let ident = |value: &str| Ident {
                value: value.to_string(),
                quoted: true,
                span: self.tokens[start].span,
            };
            let named = ObjectName { schema: schema.clone(), ..ObjectName::bare(ident(&name)) };
            self.note(MentionKind::Type, &named);
        }
        name.make_ascii_lowercase();
        let quoted = self.tokens[start].kind != TokenKind::Word
            && !matches!(self.tokens[start].kind, TokenKind::Key(_));
        if !quoted && schema.is_none() {
            let more = |parser: &mut Self, name: &mut String, word: &str| {
                if parser.eat_word(word) {
                    name.push(' ');
                    name.push_str(word);
                }
            };
            match name.as_str() {
                "double" => {
                    self.expect_word("PRECISION")?;
                    name.push_str(" precision");
                }
                "national" => {
                    let second = self.ident()?.value.to_ascii_lowercase();
                    name = format!("national {second}");
                    more(self, &mut name, "varying");
                }
                "char" | "character" | "binary" | "nchar" => more(self, &mut name, "varying"),
                _ => {}
            }
        }
        let mut args = Vec::new();
        let mut xml = None;
        if name == "xml" && self.at_sym(Sym::LeftParen) {
            self.at += 1;
            let word = |parser: &Self, word: &str| {
                parser.at_word(word)
                    && parser.kind_ahead(1) != TokenKind::Symbol(Sym::RightParen)
                    && parser.kind_ahead(1) != TokenKind::Symbol(Sym::Dot)
            };
            let document = word(self, "DOCUMENT");
            if document || word(self, "CONTENT") {
                self.at += 1;
            }
            let collection = self.object_name()?;
            self.expect_sym(Sym::RightParen)?;
            xml = Some(Box::new(XmlOf { document, collection }));
        } else if self.at_sym(Sym::LeftParen) {
            self.at += 1;
            args = self.comma_list(|parser| {
                if parser.eat_word("max") {
                    return Ok(TypeArg::Max);
                }
                let number = parser.number()?;
                Ok(TypeArg::Number(u32::try_from(number).unwrap_or(u32::MAX)))
            })?;
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(TypeName { name, schema, args, xml, span: self.span_from(start) })
    }
}

/// A text constant without its line continuations: a backslash at the end of a line, and that end.
fn joined_lines(text: String) -> String {
    if !text.contains("\\\n") && !text.contains("\\\r\n") {
        return text;
    }
    text.replace("\\\r\n", "").replace("\\\n", "")
}
