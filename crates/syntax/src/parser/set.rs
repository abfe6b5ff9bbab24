//! SET: of variables and of the session's options.

use super::*;

impl Parser<'_> {
    pub(super) fn set(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        if matches!(self.kind(), TokenKind::Variable | TokenKind::SystemVariable) {
            let start = self.at;
            let variable = self.variable()?;
            if self.at_xml_method() {
                let kind = ExprKind::Variable(variable.clone());
                let value = Expr::new(kind, variable.span);
                let expr = self.xml_change(value, start)?;
                return Ok(StatementKind::SetVariable { variable, op: AssignOp::Set, expr });
            }
            if self.at_sym(Sym::Dot)
                && self.name_ahead(1)
                && self.kind_ahead(2) == TokenKind::Symbol(Sym::Eq)
            {
                let kind = ExprKind::Variable(variable.clone());
                let value = Expr::new(kind, variable.span);
                let expr = self.set_property(value, start)?;
                return Ok(StatementKind::SetVariable { variable, op: AssignOp::Set, expr });
            }
            if self.at_sym(Sym::Dot) || self.at_static_member() {
                if self.at_static_member() {
                    // `@x::Member`: of the type of a variable.
                    self.note_unsupported("static members of a variable's type");
                    self.at += 3;
                    if self.at_sym(Sym::LeftParen) {
                        self.skip_parens()?;
                    }
                }
                self.properties()?;
                if !self.at_sym(Sym::Eq) {
                    let span = variable.span;
                    let kind = ExprKind::Variable(variable.clone());
                    let expr = Expr::new(kind, span);
                    return Ok(StatementKind::SetVariable { variable, op: AssignOp::Set, expr });
                }
            }
            let Some(op) = self.assign_op() else { return Err(self.unexpected()) };
            if self.at_kw(Kw::Cursor) {
                let definition = Box::new(self.cursor_definition(Vec::new())?);
                return Ok(StatementKind::SetCursor { variable, definition });
            }
            let expr = self.value()?;
            return Ok(StatementKind::SetVariable { variable, op, expr });
        }
        let start = self.at;
        let option = StatementKind::SetOption(self.set_option()?);
        if !self.at_sym(Sym::Comma) {
            return Ok(option);
        }
        // `SET DATEFIRST 1, LOCK_TIMEOUT 100`
        let mut all = vec![Statement { kind: option, span: self.span_from(start) }];
        while self.eat_sym(Sym::Comma) {
            let start = self.at;
            let kind = StatementKind::SetOption(self.set_option()?);
            all.push(Statement { kind, span: self.span_from(start) });
        }
        Ok(StatementKind::Block(all))
    }

    fn set_option(&mut self) -> ParseResult<SetOption> {
        if self.eat_kw(Kw::Transaction) {
            return self.isolation();
        }
        if self.eat_kw(Kw::IdentityInsert) {
            let table = self.defined_name()?;
            return Ok(SetOption::IdentityInsert { table, on: self.on_off()? });
        }
        if self.eat_kw(Kw::Statistics) {
            let names =
                self.comma_list(|parser| Ok(format!("STATISTICS {}", parser.any_word()?)))?;
            return Ok(SetOption::Switch { names, on: self.on_off()? });
        }
        const WITH_VALUE: &[&str] = &[
            "LOCK_TIMEOUT",
            "ROWCOUNT",
            "TEXTSIZE",
            "DATEFIRST",
            "DATEFORMAT",
            "LANGUAGE",
            "DEADLOCK_PRIORITY",
            "CONTEXT_INFO",
            "QUERY_GOVERNOR_COST_LIMIT",
        ];
        const SWITCHES: &[&str] = &[
            "ANSI_DEFAULTS",
            "ANSI_NULL_DFLT_OFF",
            "ANSI_NULL_DFLT_ON",
            "ANSI_NULLS",
            "ANSI_PADDING",
            "ANSI_WARNINGS",
            "ARITHABORT",
            "ARITHIGNORE",
            "CONCAT_NULL_YIELDS_NULL",
            "CURSOR_CLOSE_ON_COMMIT",
            "DISABLE_DEF_CNST_CHK",
            "FMTONLY",
            "FORCEPLAN",
            "IMPLICIT_TRANSACTIONS",
            "NO_BROWSETABLE",
            "NOCOUNT",
            "NOEXEC",
            "NUMERIC_ROUNDABORT",
            "PARSEONLY",
            "QUOTED_IDENTIFIER",
            "REMOTE_PROC_TRANSACTIONS",
            "SHOWPLAN_ALL",
            "SHOWPLAN_TEXT",
            "SHOWPLAN_XML",
            "XACT_ABORT",
        ];
        if self.eat_kw(Kw::Offsets) {
            return self.offsets();
        }
        if self.eat_kw(Kw::Errlvl) {
            return Ok(SetOption::Value { name: "ERRLVL".into(), value: self.set_value()? });
        }
        if self.at_word("FIPS_FLAGGER") {
            self.at += 1;
            return self.fips_flagger();
        }
        if self.kind() != TokenKind::Word
            && !matches!(self.kind(), TokenKind::Key(Kw::Rowcount | Kw::TextSize))
        {
            return Err(self.unexpected());
        }
        let here = self.token();
        let name = self.any_word()?;
        if name == "ROWCOUNT" && self.at_sym(Sym::Minus) {
            return Err(self.unexpected());
        }
        if WITH_VALUE.contains(&name.as_str()) {
            return Ok(SetOption::Value { name, value: self.set_value()? });
        }
        let mut names = vec![name];
        while self.eat_sym(Sym::Comma) {
            names.push(self.any_word()?);
        }
        if let Some(unknown) = names.iter().find(|name| !SWITCHES.contains(&name.as_str())) {
            let written = self.token_text(here);
            return Err(SyntaxError::new(
                195,
                here.span.line,
                written,
                format!(
                    "'{}' is not a recognized SET option.",
                    if names.len() == 1 { written } else { unknown }
                ),
            ));
        }
        let on = self.on_off()?;
        if names.iter().any(|name| name == "QUOTED_IDENTIFIER" || name == "ANSI_DEFAULTS") {
            // Takes effect while the batch is read, as in SQL Server.
            self.quoted_identifier = on;
        }
        Ok(SetOption::Switch { names, on })
    }

    /// `SELECT, FROM ... ON | OFF`: where these words stand is told to programs of DB-Library alone.
    #[cold]
    fn offsets(&mut self) -> ParseResult<SetOption> {
        const WORDS: &[&str] = &[
            "COMPUTE",
            "EXECUTE",
            "FROM",
            "ORDER",
            "PARAM",
            "PROCEDURE",
            "SELECT",
            "STATEMENT",
            "TABLE",
        ];
        self.comma_list(|parser| {
            let known = WORDS.iter().any(|word| parser.eat_word(word));
            if known { Ok(()) } else { Err(parser.unexpected()) }
        })?;
        Ok(SetOption::Switch { names: vec!["OFFSETS".into()], on: self.on_off()? })
    }

    /// `OFF`, or a level as a word or a text: 'ENTRY', 'INTERMEDIATE', 'FULL'.
    #[cold]
    fn fips_flagger(&mut self) -> ParseResult<SetOption> {
        let (start, off) = (self.at, self.at_kw(Kw::Off));
        let value = if self.at_string() { self.string()? } else { self.any_word()? };
        let is_level = |level: &&str| value.eq_ignore_ascii_case(level);
        if !off && !["ENTRY", "INTERMEDIATE", "FULL"].iter().any(is_level) {
            self.at = start;
            return Err(self.unexpected());
        }
        let kind = ExprKind::Literal(Literal::String { value, national: false });
        let value = Expr::new(kind, self.span_from(start));
        Ok(SetOption::Value { name: "FIPS_FLAGGER".into(), value })
    }

    /// A constant, a variable, or a word as a text.
    pub(super) fn set_value(&mut self) -> ParseResult<Expr> {
        let start = self.at;
        match self.kind() {
            TokenKind::Variable => {
                let variable = self.variable()?;
                Ok(Expr::new(ExprKind::Variable(variable), self.span_from(start)))
            }
            _ if self.at_name() => {
                let value = self.take_ident().value;
                let kind = ExprKind::Literal(Literal::String { value, national: true });
                Ok(Expr::new(kind, self.span_from(start)))
            }
            _ => self.signed_literal(),
        }
    }

    pub(super) fn on_off(&mut self) -> ParseResult<bool> {
        if self.eat_kw(Kw::On) {
            return Ok(true);
        }
        self.expect_kw(Kw::Off)?;
        Ok(false)
    }

    fn isolation(&mut self) -> ParseResult<SetOption> {
        self.expect_word("ISOLATION")?;
        self.expect_word("LEVEL")?;
        Ok(SetOption::Isolation(self.isolation_level()?))
    }

    /// READ COMMITTED and its like.
    pub(super) fn isolation_level(&mut self) -> ParseResult<IsolationLevel> {
        Ok(if self.eat_kw(Kw::Read) {
            if self.eat_word("UNCOMMITTED") {
                IsolationLevel::ReadUncommitted
            } else {
                self.expect_word("COMMITTED")?;
                IsolationLevel::ReadCommitted
            }
        } else if self.eat_word("REPEATABLE") {
            self.expect_kw(Kw::Read)?;
            IsolationLevel::RepeatableRead
        } else if self.eat_word("SNAPSHOT") {
            IsolationLevel::Snapshot
        } else {
            self.expect_word("SERIALIZABLE")?;
            IsolationLevel::Serializable
        })
    }

    // ---- Control flow
}
