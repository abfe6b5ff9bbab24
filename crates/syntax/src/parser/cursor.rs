//! DECLARE CURSOR, SET @c = CURSOR, OPEN, FETCH, CLOSE, DEALLOCATE, WHERE CURRENT OF.

use super::*;

/// Words that may stand between CURSOR and FOR.
const OPTIONS: &[&str] = &[
    "LOCAL",
    "GLOBAL",
    "FORWARD_ONLY",
    "SCROLL",
    "STATIC",
    "KEYSET",
    "DYNAMIC",
    "FAST_FORWARD",
    "READ_ONLY",
    "SCROLL_LOCKS",
    "OPTIMISTIC",
    "TYPE_WARNING",
];

impl Parser<'_> {
    /// `DECLARE name [INSENSITIVE] [SCROLL] CURSOR ... FOR query`; DECLARE has not been taken.
    pub(super) fn declare_cursor(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let name = self.ident()?;
        let mut options = Vec::new();
        while !self.at_kw(Kw::Cursor) {
            if !self.at_word("INSENSITIVE") && !self.at_word("SCROLL") {
                let near = self.token_value(self.token());
                return Err(match self.kind() {
                    TokenKind::End => self.unexpected(),
                    _ => self.mistake(155, format!("'{near}' is not a recognized CURSOR option.")),
                });
            }
            options.push(self.any_word()?);
        }
        let definition = self.cursor_definition(options)?;
        Ok(StatementKind::DeclareCursor(Box::new(DeclareCursor { name, definition })))
    }

    /// `CURSOR options FOR query [FOR READ ONLY | UPDATE [OF columns]]`.
    pub(super) fn cursor_definition(
        &mut self,
        mut options: Vec<String>,
    ) -> ParseResult<CursorDefinition> {
        self.expect_kw(Kw::Cursor)?;
        while !self.at_kw(Kw::For) {
            let here = self.token();
            let near = self.token_value(here);
            let word = match self.kind() {
                TokenKind::Word | TokenKind::Key(_) => self.any_word()?,
                _ => return Err(self.unexpected()),
            };
            if !OPTIONS.contains(&word.as_str()) {
                return Err(SyntaxError::new(
                    155,
                    here.span.line,
                    &near,
                    format!("'{near}' is not a recognized CURSOR option."),
                ));
            }
            options.push(word);
        }
        self.at += 1;
        let query = Box::new(self.query()?);
        let (mut read_only, mut update) = (false, None);
        if self.eat_kw(Kw::For) {
            if self.eat_kw(Kw::Read) {
                self.expect_word("ONLY")?;
                read_only = true;
            } else {
                self.expect_kw(Kw::Update)?;
                let columns =
                    if self.eat_kw(Kw::Of) { self.comma_list(Self::ident)? } else { Vec::new() };
                update = Some(columns);
            }
        }
        Ok(CursorDefinition { options, query, read_only, update })
    }

    /// OPEN, CLOSE, DEALLOCATE.
    pub(super) fn cursor_verb(&mut self, verb: CursorVerb) -> ParseResult<StatementKind> {
        self.at += 1;
        Ok(StatementKind::Cursor { verb, cursor: self.cursor_name()? })
    }

    /// `FETCH [[direction] FROM] cursor [INTO @a, @b]`.
    pub(super) fn fetch(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let words = ["NEXT", "PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE"];
        let mut direction = FetchDirection::Next;
        // `FETCH next` may mean a cursor of that name.
        let directed = words.iter().any(|word| self.at_word(word))
            && !matches!(self.kind_ahead(1), TokenKind::End | TokenKind::Symbol(Sym::Semicolon))
            && self.kind_ahead(1) != TokenKind::Key(Kw::Into);
        if directed {
            direction = match self.any_word()?.as_str() {
                "NEXT" => FetchDirection::Next,
                "PRIOR" => FetchDirection::Prior,
                "FIRST" => FetchDirection::First,
                "LAST" => FetchDirection::Last,
                "ABSOLUTE" => FetchDirection::Absolute(self.fetch_count()?),
                _ => FetchDirection::Relative(self.fetch_count()?),
            };
        }
        self.eat_kw(Kw::From);
        let cursor = self.cursor_name()?;
        let into =
            if self.eat_kw(Kw::Into) { self.comma_list(Self::variable)? } else { Vec::new() };
        Ok(StatementKind::Fetch(Box::new(Fetch { direction, cursor, into })))
    }

    fn fetch_count(&mut self) -> ParseResult<Expr> {
        if self.kind() == TokenKind::Variable {
            let start = self.at;
            let variable = self.variable()?;
            return Ok(Expr::new(ExprKind::Variable(variable), self.span_from(start)));
        }
        self.signed_literal()
    }

    /// `[GLOBAL] name` or `@c`.
    pub(super) fn cursor_name(&mut self) -> ParseResult<CursorName> {
        if self.kind() == TokenKind::Variable {
            return Ok(CursorName::Variable(self.variable()?));
        }
        let global = self.at_word("GLOBAL") && (self.name_ahead(1));
        if global {
            self.at += 1;
        }
        Ok(CursorName::Name { name: self.ident()?, global })
    }

    /// `WHERE CURRENT OF cursor`, if it is there.
    pub(super) fn current_of(&mut self) -> ParseResult<Option<CursorName>> {
        if !(self.at_kw(Kw::Where)
            && self.kind_ahead(1) == TokenKind::Key(Kw::Current)
            && self.kind_ahead(2) == TokenKind::Key(Kw::Of))
        {
            return Ok(None);
        }
        self.at += 3;
        Ok(Some(self.cursor_name()?))
    }
}
