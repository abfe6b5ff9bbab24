//! Statements that are seldom met: KILL, SETUSER, SHUTDOWN, LINENO, BEGIN DISTRIBUTED TRANSACTION, SENSITIVITY
//! CLASSIFICATION.

use super::*;

fn rare(statement: RareStatement) -> StatementKind {
    StatementKind::Rare(Box::new(statement))
}

impl Parser<'_> {
    /// A statement that begins with `kw`, which no other function knows.
    pub(super) fn rare_statement(&mut self, kw: Kw) -> ParseResult<StatementKind> {
        match kw {
            Kw::Shutdown => self.shutdown(),
            Kw::SetUser => self.set_user(),
            Kw::Lineno => self.line_number(),
            Kw::ReadText => self.read_text(),
            Kw::WriteText => self.write_text(),
            Kw::UpdateText => self.update_text(),
            // DUMP and LOAD went with SQL Server 2008.
            _ => Err(self.unexpected()),
        }
    }

    /// What is added and dropped, and neither created nor altered: signatures, which are not kept here, and classifications; at
    /// `verb`. None: something else stands there.
    #[cold]
    pub(super) fn added_or_dropped(&mut self, verb: Kw) -> ParseResult<Option<StatementKind>> {
        let counter = usize::from(self.word_ahead(1, "COUNTER"));
        if self.word_ahead(1 + counter, "SIGNATURE") {
            let verb = if verb == Kw::Add { "ADD" } else { "DROP" };
            self.at += 1;
            return self.skip_statement(&format!("{verb} SIGNATURE")).map(Some);
        }
        if self.word_ahead(1, "SENSITIVITY") {
            self.at += 1;
            return self.sensitivity(verb).map(Some);
        }
        Ok(None)
    }

    /// `KILL number | 'unit of work' [WITH STATUSONLY | COMMIT | ROLLBACK]`
    #[cold]
    pub(super) fn kill(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        if self.at_word("QUERY") {
            return self.skip_statement("KILL QUERY NOTIFICATION SUBSCRIPTION");
        }
        if self.at_word("STATS") && self.word_ahead(1, "JOB") {
            return self.skip_statement("KILL STATS JOB");
        }
        // Of no other value can a session's number or a transaction's id be told.
        let number = match self.kind() {
            TokenKind::Symbol(Sym::Minus) => self.kind_ahead(1) == TokenKind::Integer,
            kind => kind == TokenKind::Integer,
        };
        if !number && !self.at_string() {
            return Err(self.unexpected());
        }
        let target = self.signed_literal()?;
        let mut with = KillWith::Nothing;
        if self.at_kw(Kw::With) {
            self.at += 1;
            with = match self.any_word()?.as_str() {
                "STATUSONLY" => KillWith::StatusOnly,
                "COMMIT" | "ROLLBACK" => KillWith::Outcome,
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            };
        }
        Ok(StatementKind::Kill { target, with })
    }

    /// `DISTRIBUTED TRAN[SACTION] [name]`, after BEGIN.
    #[cold]
    pub(super) fn begin_distributed(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        if !self.eat_kw(Kw::Tran) {
            self.expect_kw(Kw::Transaction)?;
        }
        self.transaction_name()?;
        Ok(rare(RareStatement::BeginDistributed))
    }

    /// `SETUSER ['name' | @v [WITH NORESET]]`
    pub(super) fn set_user(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let (mut name, mut no_reset) = (None, false);
        if self.at_string() || self.kind() == TokenKind::Variable {
            name = Some(self.set_value()?);
            if self.at_kw(Kw::With) && self.word_ahead(1, "NORESET") {
                self.at += 2;
                no_reset = true;
            }
        }
        Ok(rare(RareStatement::SetUser { name, no_reset }))
    }

    /// `SENSITIVITY CLASSIFICATION TO [schema.]table.column, ... WITH (field = value, ...)`, behind ADD; `FROM ...` behind DROP.
    #[cold]
    pub(super) fn sensitivity(&mut self, verb: Kw) -> ParseResult<StatementKind> {
        self.expect_word("SENSITIVITY")?;
        self.expect_word("CLASSIFICATION")?;
        self.expect_kw(if verb == Kw::Add { Kw::To } else { Kw::From })?;
        let columns = self.comma_list(|parser| {
            let name = parser.object_name()?;
            match name.whole() {
                Some(table) if table.server.is_none() => Ok((table, name.name)),
                _ => Err(parser.unexpected()),
            }
        })?;
        let mut said = None;
        if verb == Kw::Add {
            self.expect_kw(Kw::With)?;
            self.expect_sym(Sym::LeftParen)?;
            let mut fields = Vec::new();
            self.comma_list(|parser| parser.sensitivity_field(&mut fields))?;
            self.expect_sym(Sym::RightParen)?;
            said = Some(fields);
        }
        Ok(rare(RareStatement::Sensitivity(SensitivityStatement { columns, said })))
    }

    /// `LABEL = 'text'` and its like, `RANK = word`; each once.
    fn sensitivity_field(
        &mut self,
        fields: &mut Vec<(SensitivityField, String)>,
    ) -> ParseResult<()> {
        const RANKS: [&str; 5] = ["NONE", "LOW", "MEDIUM", "HIGH", "CRITICAL"];
        let field = match self.any_word()?.as_str() {
            "LABEL" => SensitivityField::Label,
            "LABEL_ID" => SensitivityField::LabelId,
            "INFORMATION_TYPE" => SensitivityField::InformationType,
            "INFORMATION_TYPE_ID" => SensitivityField::InformationTypeId,
            "RANK" => SensitivityField::Rank,
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        if fields.iter().any(|(given, _)| *given == field) {
            self.at -= 1;
            return Err(self.unexpected());
        }
        self.expect_sym(Sym::Eq)?;
        let value = match field {
            SensitivityField::Rank => {
                let rank = self.any_word()?;
                if !RANKS.contains(&rank.as_str()) {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
                rank
            }
            _ => self.string()?,
        };
        fields.push((field, value));
        Ok(())
    }

    /// `SHUTDOWN [WITH NOWAIT]`
    pub(super) fn shutdown(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let no_wait = self.at_kw(Kw::With) && self.word_ahead(1, "NOWAIT");
        self.at += 2 * usize::from(no_wait);
        Ok(rare(RareStatement::Shutdown { no_wait }))
    }

    /// `LINENO number`: its own line gets that number, and those after it count on, up to the next LINENO.
    pub(super) fn line_number(&mut self) -> ParseResult<StatementKind> {
        let was = i64::from(self.token().span.line);
        self.at += 1;
        let token = self.token();
        let number = u32::try_from(self.number()?).map_err(|_| self.near(102, token))?;
        let shift = i64::from(number) - was;
        let rest = self.tokens[self.at..].iter_mut();
        // The next one counts from where it stands in the text, so every token is shifted once.
        for token in rest.take_while(|token| token.kind != TokenKind::Key(Kw::Lineno)) {
            let line = i64::from(token.span.line) + shift;
            token.span.line = u32::try_from(line).unwrap_or(u32::MAX);
        }
        Ok(rare(RareStatement::LineNumber(number)))
    }
}
