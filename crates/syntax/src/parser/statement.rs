//! Statements: dispatch on the first word, control flow, variables, transactions, calls.

use super::*;

impl Parser<'_> {
    /// Statements up to where `stop` holds; stray semicolons are passed over.
    pub(super) fn statements_until(
        &mut self,
        stop: impl Fn(&Self) -> bool,
    ) -> ParseResult<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            while self.eat_sym(Sym::Semicolon) {}
            if stop(self) {
                return Ok(statements);
            }
            if self.at_kw(Kw::With) && !statements.is_empty() && !self.after_semicolon() {
                return Err(self.mistake(
                    319,
                    "Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an \
                     xmlnamespaces clause or a change tracking context clause, the previous statement must be \
                     terminated with a semicolon.",
                ));
            }
            statements.push(self.statement()?);
        }
    }

    fn after_semicolon(&self) -> bool {
        self.at > 0 && self.tokens[self.at - 1].kind == TokenKind::Symbol(Sym::Semicolon)
    }

    fn statement(&mut self) -> ParseResult<Statement> {
        let start = self.at;
        // What an outer statement (IF, WHILE) has noted is its own.
        let outer = self.unsupported.take();
        self.height = 0;
        let mut kind = self.nested(STATEMENT_LEVELS, Self::statement_kind)?;
        if let Some(what) = std::mem::replace(&mut self.unsupported, outer) {
            kind = StatementKind::Unsupported { what };
        }
        if self.at == start {
            // Nothing taken: a statement that never ends.
            return Err(self.unexpected());
        }
        let span = self.span_from(start);
        self.eat_sym(Sym::Semicolon);
        Ok(Statement { kind, span })
    }

    fn statement_kind(&mut self) -> ParseResult<StatementKind> {
        let TokenKind::Key(kw) = self.kind() else { return self.word_statement() };
        match kw {
            Kw::Select => self.select_statement(),
            Kw::With => self.statement_with_ctes(),
            Kw::Insert => self.insert(Vec::new()),
            Kw::Update => self.update(Vec::new()),
            Kw::Delete => self.delete(Vec::new()),
            Kw::Truncate => self.truncate(),
            Kw::Merge => self.merge(Vec::new()),
            Kw::Set => self.set(),
            Kw::Declare => self.declare(),
            Kw::If => self.if_(),
            Kw::While => self.while_(),
            Kw::Begin => self.begin(),
            Kw::Commit => self.commit(),
            Kw::Rollback => {
                self.at += 1;
                self.transaction_word();
                Ok(StatementKind::Rollback { name: self.transaction_name()? })
            }
            Kw::Save => {
                self.at += 1;
                if !self.eat_kw(Kw::Tran) {
                    self.expect_kw(Kw::Transaction)?;
                }
                match self.transaction_name()? {
                    Some(name) => Ok(StatementKind::SaveTransaction { name }),
                    None => Err(self.unexpected()),
                }
            }
            Kw::Exec | Kw::Execute => {
                self.at += 1;
                self.execute_rest()
            }
            Kw::Print => {
                self.at += 1;
                Ok(StatementKind::Print(self.value()?))
            }
            Kw::Return => self.return_(),
            Kw::Raiserror => self.raiserror(),
            Kw::Waitfor => self.waitfor(),
            Kw::Break | Kw::Continue => self.loop_exit(kw),
            Kw::Goto => {
                self.at += 1;
                Ok(StatementKind::Goto(self.ident()?))
            }
            Kw::Create => self.create(),
            Kw::Alter => self.alter(),
            Kw::Drop => self.drop(),
            Kw::Use => {
                self.at += 1;
                Ok(StatementKind::Use(self.ident()?))
            }
            Kw::Checkpoint => {
                self.at += 1;
                if self.kind() == TokenKind::Integer {
                    self.at += 1;
                }
                Ok(StatementKind::Checkpoint)
            }
            Kw::Dbcc => self.dbcc(),
            Kw::Backup => self.backup(),
            Kw::Restore => self.restore(),
            Kw::Kill => {
                self.at += 1;
                if self.at_word("QUERY") || self.at_word("STATS") {
                    return self.skip_statement("KILL of other than sessions");
                }
                let session = self.value()?;
                self.kill_tail()?;
                Ok(StatementKind::Kill(session))
            }
            Kw::Reconfigure => {
                self.at += 1;
                if self.eat_kw(Kw::With) {
                    self.expect_word("OVERRIDE")?;
                }
                Ok(StatementKind::Reconfigure)
            }
            Kw::Add => self.refused_add(),
            Kw::Grant => self.grant(GrantVerb::Grant),
            Kw::Deny => self.grant(GrantVerb::Deny),
            Kw::Revoke => self.grant(GrantVerb::Revoke),
            Kw::Revert => self.revert(),
            Kw::End if self.word_ahead(1, "CONVERSATION") => {
                self.at += 2;
                self.skip_statement("END CONVERSATION")
            }
            Kw::Open | Kw::Close
                if ["SYMMETRIC", "MASTER", "ALL"].iter().any(|w| self.word_ahead(1, w)) =>
            {
                self.at += 1;
                self.skip_statement(if kw == Kw::Open { "OPEN KEY" } else { "CLOSE KEY" })
            }
            Kw::Open => self.cursor_verb(CursorVerb::Open),
            Kw::Close => self.cursor_verb(CursorVerb::Close),
            Kw::Deallocate => self.cursor_verb(CursorVerb::Deallocate),
            Kw::Fetch => self.fetch(),
            _ => self.unsupported_statement(kw),
        }
    }

    /// The END of a block, and not END CONVERSATION.
    fn at_block_end(&self) -> bool {
        self.at_end() || (self.at_kw(Kw::End) && !self.word_ahead(1, "CONVERSATION"))
    }

    /// Statements that begin with a word that is not reserved: labels, THROW, bare calls.
    fn word_statement(&mut self) -> ParseResult<StatementKind> {
        if self.at_label() {
            let name = self.take_ident();
            self.at += 1;
            return Ok(StatementKind::Label(name));
        }
        if self.at_word("THROW") {
            return self.throw();
        }
        // `((SELECT 1) UNION (SELECT 2))`
        if self.query_in_parens() {
            return self.select_statement();
        }
        for what in ["ENABLE", "DISABLE"] {
            if self.at_word(what) && self.kind_ahead(1) == TokenKind::Key(Kw::Trigger) {
                return self.enable_trigger(what == "ENABLE");
            }
        }
        if let Some(what) = self.refused_words() {
            return self.skip_statement(what);
        }
        if self.at == 0 && self.at_name() {
            return self.call(None);
        }
        Err(self.unexpected())
    }

    /// `name:` begins here.
    pub(super) fn at_label(&self) -> bool {
        self.at_name() && self.kind_ahead(1) == TokenKind::Symbol(Sym::Colon)
    }

    #[inline(never)]
    fn select_statement(&mut self) -> ParseResult<StatementKind> {
        Ok(StatementKind::Select(Box::new(self.query()?)))
    }

    fn statement_with_ctes(&mut self) -> ParseResult<StatementKind> {
        let with = self.with_clause()?;
        match self.kind() {
            TokenKind::Key(Kw::Insert) => self.insert(with),
            TokenKind::Key(Kw::Update) => self.update(with),
            TokenKind::Key(Kw::Delete) => self.delete(with),
            TokenKind::Key(Kw::Merge) => self.merge(with),
            _ => Ok(StatementKind::Select(Box::new(self.query_after_with(with)?))),
        }
    }

    // ---- Variables and options

    fn declare(&mut self) -> ParseResult<StatementKind> {
        if self.name_ahead(1) {
            return self.declare_cursor();
        }
        self.at += 1;
        let declarations = self.comma_list(|parser| {
            let name = parser.variable()?;
            parser.eat_kw(Kw::As);
            if parser.eat_kw(Kw::Table) {
                let definition = parser.table_definition()?;
                return Ok(Declaration { name, kind: DeclarationKind::Table(definition) });
            }
            if parser.at_kw(Kw::Cursor) {
                parser.at += 1;
                return Ok(Declaration { name, kind: DeclarationKind::Cursor });
            }
            let ty = parser.type_name()?;
            // NULL and NOT NULL are for natively compiled modules.
            if parser.eat_kw(Kw::Not) {
                parser.note_unsupported("DECLARE of a variable NOT NULL");
                parser.expect_kw(Kw::Null)?;
            } else {
                parser.eat_kw(Kw::Null);
            }
            let init = if parser.eat_sym(Sym::Eq) { Some(parser.value()?) } else { None };
            Ok(Declaration { name, kind: DeclarationKind::Scalar { ty, init } })
        })?;
        Ok(StatementKind::Declare(declarations))
    }

    fn set(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        if matches!(self.kind(), TokenKind::Variable | TokenKind::SystemVariable) {
            let variable = self.variable()?;
            if self.at_sym(Sym::Dot) || self.at_static_member() {
                if self.at_static_member() {
                    self.static_member()?;
                }
                self.methods()?;
                if !self.at_sym(Sym::Eq) {
                    let span = variable.span;
                    let kind = ExprKind::Variable(variable.clone());
                    let expr = Expr { kind, span };
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
            let table = self.object_name()?;
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
            self.note_unsupported("SET OFFSETS");
            let names = self.comma_list(Self::any_word)?;
            return Ok(SetOption::Switch { names, on: self.on_off()? });
        }
        if self.eat_kw(Kw::Errlvl) {
            self.note_unsupported("SET ERRLVL");
            return Ok(SetOption::Value { name: "ERRLVL".into(), value: self.set_value()? });
        }
        if self.at_word("FIPS_FLAGGER") {
            self.note_unsupported("SET FIPS_FLAGGER");
            self.at += 1;
            if self.at_kw(Kw::Off) {
                return Ok(SetOption::Switch { names: Vec::new(), on: self.on_off()? });
            }
            return Ok(SetOption::Value { name: "FIPS_FLAGGER".into(), value: self.set_value()? });
        }
        if self.kind() != TokenKind::Word
            && !matches!(self.kind(), TokenKind::Key(Kw::Rowcount | Kw::TextSize))
        {
            return Err(self.unexpected());
        }
        let here = self.token();
        let name = self.any_word()?;
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

    /// A constant, a variable, or a word as a text.
    fn set_value(&mut self) -> ParseResult<Expr> {
        let start = self.at;
        match self.kind() {
            TokenKind::Variable => {
                let variable = self.variable()?;
                Ok(Expr { kind: ExprKind::Variable(variable), span: self.span_from(start) })
            }
            _ if self.at_name() => {
                let value = self.take_ident().value;
                let kind = ExprKind::Literal(Literal::String { value, national: false });
                Ok(Expr { kind, span: self.span_from(start) })
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
        let level = if self.eat_kw(Kw::Read) {
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
        };
        Ok(SetOption::Isolation(level))
    }

    // ---- Control flow

    fn if_(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let condition = self.condition()?;
        let then = Box::new(self.statement()?);
        let otherwise =
            if self.eat_kw(Kw::Else) { Some(Box::new(self.statement()?)) } else { None };
        Ok(StatementKind::If { condition, then, otherwise })
    }

    fn while_(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let condition = self.condition()?;
        self.loops += 1;
        let body = Box::new(self.statement()?);
        self.loops -= 1;
        Ok(StatementKind::While { condition, body })
    }

    fn loop_exit(&mut self, kw: Kw) -> ParseResult<StatementKind> {
        let leave = kw == Kw::Break;
        if self.loops == 0 {
            let (number, article, word) =
                if leave { (135, "a", "BREAK") } else { (136, "a", "CONTINUE") };
            return Err(self.mistake(
                number,
                format!(
                    "Cannot use {article} {word} statement outside the scope of a WHILE statement."
                ),
            ));
        }
        self.at += 1;
        Ok(if leave { StatementKind::Break } else { StatementKind::Continue })
    }

    fn begin(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        if self.eat_kw(Kw::Tran) || self.eat_kw(Kw::Transaction) {
            let name = self.transaction_name()?;
            if self.at_kw(Kw::With) && self.word_ahead(1, "MARK") {
                self.at += 2;
                if self.at_string() || self.kind() == TokenKind::Variable {
                    self.at += 1;
                }
            }
            return Ok(StatementKind::BeginTransaction { name });
        }
        if self.at_kw(Kw::Distributed) {
            return self.skip_statement("BEGIN DISTRIBUTED TRANSACTION");
        }
        if self.at_word("DIALOG") || self.at_word("CONVERSATION") {
            let what = format!("BEGIN {}", self.any_word()?);
            return self.skip_statement(&what);
        }
        if self.at_word("TRY") {
            return self.try_catch();
        }
        if self.at_word("ATOMIC") && self.kind_ahead(1) == TokenKind::Key(Kw::With) {
            self.at += 2;
            self.skip_parens()?;
            self.note_unsupported("BEGIN ATOMIC");
        }
        let statements = self.statements_until(Self::at_block_end)?;
        if statements.is_empty() {
            return Err(self.unexpected());
        }
        self.expect_kw(Kw::End)?;
        Ok(StatementKind::Block(statements))
    }

    fn try_catch(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let body = self.statements_until(Self::at_block_end)?;
        self.expect_kw(Kw::End)?;
        self.expect_word("TRY")?;
        self.eat_sym(Sym::Semicolon);
        self.expect_kw(Kw::Begin)?;
        self.expect_word("CATCH")?;
        let handler = self.statements_until(Self::at_block_end)?;
        self.expect_kw(Kw::End)?;
        self.expect_word("CATCH")?;
        Ok(StatementKind::TryCatch { body, handler })
    }

    fn return_(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let value = match self.kind() {
            TokenKind::End | TokenKind::Symbol(Sym::Semicolon) => false,
            TokenKind::Key(kw) => matches!(
                kw,
                Kw::Null
                    | Kw::Case
                    | Kw::Coalesce
                    | Kw::Nullif
                    | Kw::Convert
                    | Kw::TryConvert
                    | Kw::Left
                    | Kw::Right
                    | Kw::CurrentTimestamp
                    | Kw::CurrentUser
                    | Kw::SessionUser
                    | Kw::SystemUser
                    | Kw::User
            ),
            _ => !self.at_label(),
        };
        if !value {
            return Ok(StatementKind::Return(None));
        }
        if !self.in_procedure {
            return Err(self.mistake(
                178,
                "A RETURN statement with a return value cannot be used in this context.",
            ));
        }
        Ok(StatementKind::Return(Some(self.value()?)))
    }

    fn throw(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let args = matches!(
            self.kind(),
            TokenKind::Integer | TokenKind::Variable | TokenKind::Symbol(Sym::Minus)
        );
        if !args {
            return Ok(StatementKind::Throw(None));
        }
        let number = self.value()?;
        self.expect_sym(Sym::Comma)?;
        let message = self.value()?;
        self.expect_sym(Sym::Comma)?;
        let state = self.value()?;
        Ok(StatementKind::Throw(Some(Box::new([number, message, state]))))
    }

    fn raiserror(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        self.expect_sym(Sym::LeftParen)?;
        let message = self.value()?;
        self.expect_sym(Sym::Comma)?;
        let severity = self.value()?;
        self.expect_sym(Sym::Comma)?;
        let state = self.value()?;
        let mut args = Vec::new();
        while self.eat_sym(Sym::Comma) {
            args.push(self.value()?);
        }
        self.expect_sym(Sym::RightParen)?;
        let mut options = Vec::new();
        if self.at_kw(Kw::With)
            && ["LOG", "NOWAIT", "SETERROR"].iter().any(|word| self.word_ahead(1, word))
        {
            self.at += 1;
            options = self.comma_list(Self::any_word)?;
        }
        Ok(StatementKind::RaiseError(Box::new(RaiseError {
            message,
            severity,
            state,
            args,
            options,
        })))
    }

    fn waitfor(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let delay = self.at_word("DELAY");
        if !delay && !self.at_word("TIME") {
            return self.skip_statement("WAITFOR");
        }
        self.at += 1;
        Ok(StatementKind::WaitFor { delay, value: self.value()? })
    }

    // ---- Transactions

    fn transaction_word(&mut self) {
        if !self.eat_kw(Kw::Tran) && !self.eat_kw(Kw::Transaction) {
            self.eat_word("WORK");
        }
    }

    fn transaction_name(&mut self) -> ParseResult<Option<TransactionName>> {
        if self.kind() == TokenKind::Variable {
            return Ok(Some(TransactionName::Variable(self.variable()?)));
        }
        if self.at_name() && !self.at_label() && !self.at_word("THROW") {
            return Ok(Some(TransactionName::Name(self.take_ident())));
        }
        Ok(None)
    }

    fn commit(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        self.transaction_word();
        let name = self.transaction_name()?;
        let mut delayed_durability = None;
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 2;
            self.expect_word("DELAYED_DURABILITY")?;
            self.expect_sym(Sym::Eq)?;
            delayed_durability = Some(self.on_off()?);
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(StatementKind::Commit { name, delayed_durability })
    }

    // ---- Calls

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
            if self.at_kw(Kw::As)
                && (self.kind_ahead(1) == TokenKind::Key(Kw::User) || self.word_ahead(1, "LOGIN"))
            {
                self.note_unsupported("EXECUTE AS of a text");
                self.at += 2;
                self.expect_sym(Sym::Eq)?;
                self.value()?;
            }
            if self.eat_word("AT") {
                self.note_unsupported("EXECUTE AT");
                self.eat_word("DATA_SOURCE");
                self.ident()?;
            }
            let result_sets = self.result_sets()?;
            if result_sets.is_some() {
                let procedure = ProcedureName::Text(Box::new(text));
                let (return_code, args) = (None, Vec::new());
                let call = Execute { return_code, procedure, args, result_sets };
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
    fn call(&mut self, return_code: Option<Variable>) -> ParseResult<StatementKind> {
        let procedure = if self.kind() == TokenKind::Variable {
            ProcedureName::Variable(self.variable()?)
        } else {
            ProcedureName::Name(self.object_name()?)
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
        let call = Execute { return_code, procedure, args, result_sets };
        Ok(StatementKind::Execute(Box::new(call)))
    }

    /// `WITH RECOMPILE`, `WITH RESULT SETS UNDEFINED | NONE | (...)`, or nothing.
    fn result_sets(&mut self) -> ParseResult<Option<Vec<Vec<ResultColumn>>>> {
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
    fn result_set(&mut self) -> ParseResult<Vec<ResultColumn>> {
        if self.eat_kw(Kw::As) {
            self.note_unsupported("EXECUTE WITH RESULT SETS AS OBJECT, TYPE or FOR XML");
            if self.eat_kw(Kw::For) {
                self.expect_word("XML")?;
            } else {
                if !self.eat_word("OBJECT") {
                    self.expect_word("TYPE")?;
                }
                self.object_name()?;
            }
            return Ok(Vec::new());
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
        Ok(columns)
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
            _ => self.at_string() || (self.at_name() && !self.at_label()),
        }
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
            _ => InsertValue::Expr(self.set_value()?),
        };
        let output = self.eat_word("OUTPUT") || self.eat_word("OUT");
        Ok(ExecuteArg { name, value, output })
    }
}
