//! EXECUTE: a call with its arguments and WITH RESULT SETS, or a text.

use super::*;

impl Parser<'_> {
    /// After EXEC: `('text')`, or a call.
    pub(super) fn execute_rest(&mut self) -> ParseResult<StatementKind> {
        if self.at_kw(Kw::OpenDatasource) {
            self.at += 1;
            return self.skip_statement("EXECUTE of OPENDATASOURCE");
        }
        if self.at_sym(Sym::LeftParen) {
            self.at += 1;
            let text = self.value()?;
            if self.eat_sym(Sym::Comma) {
                self.note_unsupported("EXECUTE AT");
                self.comma_list(Self::execute_arg)?;
            }
            self.expect_sym(Sym::RightParen)?;
            let mut acting = None;
            if self.at_kw(Kw::As)
                && (self.kind_ahead(1) == TokenKind::Key(Kw::User) || self.word_ahead(1, "LOGIN"))
            {
                let login = self.kind_ahead(1) != TokenKind::Key(Kw::User);
                self.at += 2;
                self.expect_sym(Sym::Eq)?;
                acting = Some((login, self.value()?));
            }
            if self.eat_word("AT") {
                self.note_unsupported("EXECUTE AT");
                self.eat_word("DATA_SOURCE");
                self.ident()?;
            }
            let result_sets = self.result_sets()?;
            if result_sets.is_some() || acting.is_some() {
                let procedure = ProcedureName::Text(Box::new(text));
                let (return_code, args) = (None, Vec::new());
                let call = Execute { return_code, procedure, args, result_sets, acting };
                return Ok(StatementKind::Execute(Box::new(call)));
            }
            return Ok(StatementKind::ExecuteString(text));
        }
        if self.eat_kw(Kw::As) {
            return self.execute_as();
        }
        let mut return_code = None;
        if self.kind() == TokenKind::Variable && self.kind_ahead(1) == TokenKind::Symbol(Sym::Eq) {
            return_code = Some(self.variable()?);
            self.at += 1;
        }
        self.call(return_code)
    }

    /// Procedure and arguments.
    pub(super) fn call(&mut self, return_code: Option<Variable>) -> ParseResult<StatementKind> {
        let procedure = if self.kind() == TokenKind::Variable {
            ProcedureName::Variable(self.variable()?)
        } else {
            let name = self.object_name()?;
            self.note(MentionKind::Procedure, &name);
            ProcedureName::Name(name)
        };
        // `p;1`: one of several procedures of a name.
        if self.at_sym(Sym::Semicolon) && self.kind_ahead(1) == TokenKind::Integer {
            self.at += 1;
            if self.number()? != 1 {
                self.note_unsupported("numbered procedures");
            }
        }
        let mut args = Vec::new();
        if self.at_argument() {
            args = self.comma_list(Self::execute_arg)?;
        }
        let result_sets = self.result_sets()?;
        if self.at_word("AT") && self.name_ahead(1) {
            self.note_unsupported("EXECUTE AT");
            self.at += 1;
            self.eat_word("DATA_SOURCE");
            self.ident()?;
        }
        let call = Execute { return_code, procedure, args, result_sets, acting: None };
        Ok(StatementKind::Execute(Box::new(call)))
    }

    /// `WITH RECOMPILE`, `WITH RESULT SETS UNDEFINED | NONE | (...)`, or nothing.
    fn result_sets(&mut self) -> ParseResult<Option<Vec<ResultShape>>> {
        let option = self.word_ahead(1, "RECOMPILE") || self.word_ahead(1, "RESULT");
        let mut sets = None;
        if !self.at_kw(Kw::With) || !option {
            return Ok(sets);
        }
        self.at += 1;
        self.comma_list(|parser| {
            if parser.eat_word("RECOMPILE") {
                return Ok(());
            }
            parser.expect_word("RESULT")?;
            parser.expect_word("SETS")?;
            if parser.eat_word("UNDEFINED") {
                return Ok(());
            }
            if parser.eat_word("NONE") {
                sets = Some(Vec::new());
                return Ok(());
            }
            parser.expect_sym(Sym::LeftParen)?;
            sets = Some(parser.comma_list(Self::result_set)?);
            parser.expect_sym(Sym::RightParen)
        })?;
        Ok(sets)
    }

    /// `(name type [COLLATE c] [NULL | NOT NULL], ...)`, `AS OBJECT t`, `AS TYPE t` or `AS FOR XML`.
    fn result_set(&mut self) -> ParseResult<ResultShape> {
        if self.eat_kw(Kw::As) {
            if self.eat_kw(Kw::For) {
                self.expect_word("XML")?;
                self.note_unsupported("EXECUTE WITH RESULT SETS AS FOR XML");
                return Ok(ResultShape::Columns(Vec::new()));
            }
            if self.eat_word("OBJECT") {
                return Ok(ResultShape::Object(self.object_name()?));
            }
            self.expect_word("TYPE")?;
            return Ok(ResultShape::Type(self.object_name()?));
        }
        self.expect_sym(Sym::LeftParen)?;
        let columns = self.comma_list(|parser| {
            let (name, ty) = (parser.ident()?, parser.type_name()?);
            let collation = if parser.eat_kw(Kw::Collate) { Some(parser.ident()?) } else { None };
            let nullable = if parser.eat_kw(Kw::Not) {
                parser.expect_kw(Kw::Null)?;
                Some(false)
            } else {
                parser.eat_kw(Kw::Null).then_some(true)
            };
            Ok(ResultColumn { name, ty, collation, nullable })
        })?;
        self.expect_sym(Sym::RightParen)?;
        Ok(ResultShape::Columns(columns))
    }

    fn at_argument(&self) -> bool {
        match self.kind() {
            TokenKind::Variable
            | TokenKind::SystemVariable
            | TokenKind::Integer
            | TokenKind::Decimal
            | TokenKind::Float
            | TokenKind::Money
            | TokenKind::Binary
            | TokenKind::Symbol(Sym::Minus | Sym::Plus)
            | TokenKind::Key(Kw::Null | Kw::Default) => true,
            TokenKind::Unknown => self.at_encrypted(),
            _ => self.at_string() || (self.at_name() && !self.at_label()),
        }
    }

    /// `{encrypt N'text'}`, of sp_setapprole.
    fn at_encrypted(&self) -> bool {
        self.at_escape() && self.word_ahead(1, "ENCRYPT")
    }

    fn execute_arg(&mut self) -> ParseResult<ExecuteArg> {
        let mut name = None;
        if self.kind() == TokenKind::Variable && self.kind_ahead(1) == TokenKind::Symbol(Sym::Eq) {
            name = Some(self.variable()?);
            self.at += 1;
        }
        let start = self.at;
        let value = match self.kind() {
            TokenKind::Key(Kw::Default) => {
                self.at += 1;
                InsertValue::Default(self.span_from(start))
            }
            TokenKind::SystemVariable => InsertValue::Expr(self.value()?),
            TokenKind::Unknown if self.at_encrypted() => InsertValue::Expr(self.value()?),
            _ => InsertValue::Expr(self.set_value()?),
        };
        let output = self.eat_word("OUTPUT") || self.eat_word("OUT");
        Ok(ExecuteArg { name, value, output })
    }
}
