//! Built-in functions whose arguments have a grammar of their own, and what may follow a value: AT TIME ZONE,
//! FOR XML and FOR JSON.

use super::expr::PREFIX;
use super::*;

impl Parser<'_> {
    /// TRIM, PARSE, TRY_PARSE, JSON_OBJECT and JSON_ARRAY at their names; `None` for any other call.
    #[inline(never)]
    pub(super) fn builtin_call(&mut self) -> ParseResult<Option<ExprKind>> {
        let text = self.token_text(self.token());
        let first = text.as_bytes().first().map(u8::to_ascii_lowercase);
        if text.len() > 11 || !matches!(first, Some(b't' | b'p' | b'j')) {
            return Ok(None);
        }
        let name = text.to_ascii_uppercase();
        Ok(Some(match name.as_str() {
            "TRIM" => self.nested(1, Self::trim)?,
            "PARSE" => self.nested(1, |parser| parser.parse_as(false))?,
            "TRY_PARSE" => self.nested(1, |parser| parser.parse_as(true))?,
            "JSON_OBJECT" => self.nested(1, |parser| parser.json_constructor(true))?,
            "JSON_ARRAY" => self.nested(1, |parser| parser.json_constructor(false))?,
            _ => return Ok(None),
        }))
    }

    /// `TRIM([LEADING | TRAILING | BOTH] [characters FROM] text)`: what is left of it is LTRIM, RTRIM or TRIM of the
    /// text and the characters.
    fn trim(&mut self) -> ParseResult<ExprKind> {
        let mut name = self.take_ident();
        self.expect_sym(Sym::LeftParen)?;
        let side = ["LEADING", "TRAILING", "BOTH"].iter().find(|word| self.at_word(word)).copied();
        let side = side.filter(|_| {
            !matches!(
                self.kind_ahead(1),
                TokenKind::Symbol(Sym::RightParen | Sym::Dot) | TokenKind::Key(Kw::From)
            )
        });
        if let Some(side) = side {
            self.at += 1;
            name.value = match side {
                "LEADING" => "LTRIM".into(),
                "TRAILING" => "RTRIM".into(),
                _ => "TRIM".into(),
            };
        }
        let mut args = vec![self.value()?];
        if self.eat_kw(Kw::From) {
            args.insert(0, self.value()?);
        } else if side.is_some() {
            return Err(self.unexpected());
        }
        while self.eat_sym(Sym::Comma) {
            args.push(self.value()?);
        }
        self.expect_sym(Sym::RightParen)?;
        Ok(call(name, args))
    }

    /// `PARSE(text AS type [USING culture])`.
    fn parse_as(&mut self, try_: bool) -> ParseResult<ExprKind> {
        self.at += 1;
        self.expect_sym(Sym::LeftParen)?;
        let expr = self.value()?;
        self.expect_kw(Kw::As)?;
        let ty = self.type_name()?;
        let style = if self.eat_word("USING") { Some(self.value()?) } else { None };
        self.expect_sym(Sym::RightParen)?;
        Ok(ExprKind::Cast(Box::new(Cast { expr, ty, style, try_, convert: false, parse: true })))
    }

    /// `JSON_OBJECT('name': value, ... [NULL | ABSENT ON NULL])`, `JSON_ARRAY(value, ... [...])`. The first argument of
    /// the call is 1 where NULLs are left out, then come names and values.
    fn json_constructor(&mut self, object: bool) -> ParseResult<ExprKind> {
        let name = self.take_ident();
        self.expect_sym(Sym::LeftParen)?;
        let mut absent = !object;
        let mut args = Vec::new();
        while !self.at_sym(Sym::RightParen) {
            let on_null = self.at_word("ABSENT") || self.at_kw(Kw::Null);
            if on_null && self.kind_ahead(1) == TokenKind::Key(Kw::On) {
                absent = self.at_word("ABSENT");
                self.at += 2;
                self.expect_kw(Kw::Null)?;
                break;
            }
            args.push(self.value()?);
            if object {
                self.expect_sym(Sym::Colon)?;
                args.push(self.value()?);
            }
            let more = self.at_word("ABSENT") || self.at_kw(Kw::Null);
            if !more && !self.eat_sym(Sym::Comma) {
                break;
            }
        }
        let flag = ExprKind::Literal(Literal::Int(absent.into()));
        args.insert(0, Expr::new(flag, name.span));
        self.expect_sym(Sym::RightParen)?;
        Ok(call(name, args))
    }

    /// `AT TIME ZONE zone` after a value: a call of that name.
    #[inline(never)]
    pub(super) fn at_time_zone(&mut self, value: Expr, start: usize) -> ParseResult<Expr> {
        let mut name = self.take_ident();
        self.at += 2;
        name.value = "AT TIME ZONE".into();
        self.height += 1;
        if self.height > MAX_DEPTH {
            return Err(self.too_deep());
        }
        let from = self.at;
        let zone = match self.kind() {
            TokenKind::Symbol(Sym::LeftParen) | TokenKind::Variable => self.any(PREFIX)?,
            _ if self.at_string() => {
                let kind = ExprKind::Literal(self.literal()?);
                Expr::new(kind, self.span_from(from))
            }
            _ => self.any(PREFIX)?,
        };
        Ok(Expr::new(call(name, vec![value, zone]), self.span_from(start)))
    }

    /// `FOR XML ...`, `FOR JSON ...` or `FOR BROWSE` behind a query, FOR being next. `None` for any other FOR, which is
    /// left where it is.
    #[inline(never)]
    pub(super) fn for_clause(&mut self) -> ParseResult<Option<ForClause>> {
        let start = self.at;
        let xml = match self.tokens.get(self.at + 1).map(|token| self.token_text(*token)) {
            Some(word) if word.eq_ignore_ascii_case("XML") => true,
            Some(word) if word.eq_ignore_ascii_case("JSON") => false,
            Some(word) if word.eq_ignore_ascii_case("BROWSE") => {
                // It only asks for keys that nobody here hands out.
                self.at += 2;
                return Ok(None);
            }
            _ => return Ok(None),
        };
        self.at += 2;
        let mode = match self.any_word()?.as_str() {
            "RAW" if xml => ForMode::Raw,
            "AUTO" => ForMode::Auto,
            "PATH" => ForMode::Path,
            "EXPLICIT" if xml => ForMode::Explicit,
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        let mut clause = ForClause { xml, mode, ..ForClause::default() };
        if xml {
            clause.namespaces.clone_from(&self.xml_namespaces);
        }
        if self.at_sym(Sym::LeftParen) && xml && !matches!(mode, ForMode::Auto | ForMode::Explicit)
        {
            clause.row = Some(self.name_in_parens()?);
        }
        while self.eat_sym(Sym::Comma) {
            let word = self.any_word()?;
            match (word.as_str(), xml) {
                ("ROOT", _) => {
                    let named = self.at_sym(Sym::LeftParen);
                    let default = "root".to_owned();
                    clause.root = Some(if named { self.name_in_parens()? } else { default });
                }
                ("TYPE", true) => clause.typed = true,
                ("ELEMENTS", true) => {
                    clause.elements = true;
                    clause.nulls = self.eat_word("XSINIL");
                    self.eat_word("ABSENT");
                }
                ("BINARY", true) => {
                    self.expect_word("BASE64")?;
                    clause.base64 = true;
                }
                ("XMLDATA" | "XMLSCHEMA", true) => {
                    self.note_unsupported(&format!("FOR XML {word}"));
                    if self.at_sym(Sym::LeftParen) {
                        self.name_in_parens()?;
                    }
                }
                ("INCLUDE_NULL_VALUES", false) => clause.nulls = true,
                ("WITHOUT_ARRAY_WRAPPER", false) => clause.bare = true,
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            }
        }
        clause.span = self.span_from(start);
        Ok(Some(clause))
    }

    fn name_in_parens(&mut self) -> ParseResult<String> {
        self.expect_sym(Sym::LeftParen)?;
        let name = self.string()?;
        self.expect_sym(Sym::RightParen)?;
        Ok(name)
    }

    /// `WITH (name type ['path'] [AS JSON], ...)` behind OPENJSON(...).
    #[inline(never)]
    pub(super) fn openjson_schema(&mut self) -> ParseResult<Vec<JsonColumn>> {
        if !self.at_kw(Kw::With) || self.kind_ahead(1) != TokenKind::Symbol(Sym::LeftParen) {
            return Ok(Vec::new());
        }
        self.at += 2;
        let columns = self.comma_list(|parser| {
            let name = parser.ident()?;
            let ty = parser.type_name()?;
            let mut column = JsonColumn { name, ty, path: None, as_json: false };
            if parser.at_kw(Kw::Collate) {
                parser.at += 1;
                parser.ident()?;
            }
            if parser.at_string() {
                column.path = Some(parser.string()?);
            }
            if parser.at_kw(Kw::As) && parser.word_ahead(1, "JSON") {
                parser.at += 2;
                column.as_json = true;
            }
            Ok(column)
        })?;
        self.expect_sym(Sym::RightParen)?;
        Ok(columns)
    }
}

pub(super) fn call(name: Ident, args: Vec<Expr>) -> ExprKind {
    ExprKind::Function(Box::new(FunctionCall::new(ObjectName::bare(name), args)))
}

/// `a << b` is LEFT_SHIFT(a, b).
#[inline(never)]
pub(super) fn shift(left: bool, span: Span, value: Expr, count: Expr) -> ExprKind {
    let name = if left { "LEFT_SHIFT" } else { "RIGHT_SHIFT" };
    call(Ident { value: name.into(), quoted: false, span }, vec![value, count])
}
