//! Statements: dispatch on the first word, control flow, declarations, transactions.

use super::expr::PREFIX;
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
            self.breathe(8)?;
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
        let namespaces = std::mem::take(&mut self.xml_namespaces);
        self.height = 0;
        let mark = self.notes.as_ref().map(|notes| notes.mark());
        let mut kind = self.nested(STATEMENT_LEVELS, Self::statement_kind)?;
        self.xml_namespaces = namespaces;
        if let (Some(notes), Some(mark)) = (&mut self.notes, mark) {
            notes.settle(mark);
        }
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

    pub(super) fn statement_kind(&mut self) -> ParseResult<StatementKind> {
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
                if self.in_module() {
                    let text = "a USE database statement is not allowed in a procedure, function or trigger.";
                    return Err(self.mistake(154, text));
                }
                self.at += 1;
                Ok(StatementKind::Use(self.ident()?))
            }
            Kw::Checkpoint => {
                self.at += 1;
                if self.kind() == TokenKind::Integer {
                    let seconds = self.token_text(self.token()).parse::<i32>();
                    if !seconds.is_ok_and(|seconds| seconds > 0) {
                        return Err(self.unexpected());
                    }
                    self.at += 1;
                }
                Ok(StatementKind::Checkpoint)
            }
            Kw::Dbcc => self.dbcc(),
            Kw::Backup => self.backup(),
            Kw::Bulk => self.bulk_insert(),
            Kw::Restore => self.restore(),
            Kw::Kill => self.kill(),
            Kw::Reconfigure => {
                self.at += 1;
                let overridden = self.eat_kw(Kw::With);
                if overridden {
                    self.expect_word("OVERRIDE")?;
                }
                Ok(StatementKind::Reconfigure { overridden })
            }
            Kw::Add => match self.added_or_dropped(Kw::Add)? {
                Some(statement) => Ok(statement),
                None => {
                    self.at += 1;
                    Err(self.unexpected())
                }
            },
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
            _ => self.rare_statement(kw),
        }
    }

    /// The END of a block, and not END CONVERSATION.
    pub(super) fn at_block_end(&self) -> bool {
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
        let query = self.query()?;
        self.selected(query)
    }

    /// A query that is a statement: FOR READ ONLY and FOR UPDATE are of cursors (1003).
    fn selected(&self, query: Query) -> ParseResult<StatementKind> {
        if self.at_kw(Kw::For) {
            let clause = match self.kind_ahead(1) {
                TokenKind::Key(Kw::Update) => Some("FOR UPDATE"),
                TokenKind::Key(Kw::Read) if self.word_ahead(2, "ONLY") => Some("FOR READ ONLY"),
                _ => None,
            };
            if let Some(clause) = clause {
                let line = self.token().span.line;
                let text = format!("Line {line}: {clause} clause allowed only for DECLARE CURSOR.");
                return Err(self.mistake(1003, text));
            }
        }
        Ok(StatementKind::Select(Box::new(query)))
    }

    fn statement_with_ctes(&mut self) -> ParseResult<StatementKind> {
        if self.at_tracking_context() {
            return self.statement_in_context();
        }
        let with = self.with_clause()?;
        match self.kind() {
            TokenKind::Key(Kw::Insert) => self.insert(with),
            TokenKind::Key(Kw::Update) => self.update(with),
            TokenKind::Key(Kw::Delete) => self.delete(with),
            TokenKind::Key(Kw::Merge) => self.merge(with),
            _ => {
                let query = self.query_after_with(with)?;
                self.selected(query)
            }
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
            let not_null = parser.null_or_not()?;
            let init = if parser.eat_sym(Sym::Eq) { Some(parser.value()?) } else { None };
            Ok(Declaration { name, kind: DeclarationKind::Scalar { ty, not_null, init } })
        })?;
        Ok(StatementKind::Declare(declarations))
    }

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
            return self.begin_distributed();
        }
        if self.at_word("DIALOG") || self.at_word("CONVERSATION") {
            let what = format!("BEGIN {}", self.any_word()?);
            return self.skip_statement(&what);
        }
        if self.at_word("TRY") {
            return self.try_catch();
        }
        if self.at_atomic() {
            return Ok(StatementKind::Atomic(Box::new(self.atomic_block()?)));
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
        let number = self.plain_number()?;
        self.expect_sym(Sym::Comma)?;
        let is_text = matches!(
            self.kind(),
            TokenKind::String | TokenKind::NationalString | TokenKind::Variable
        );
        if !is_text && self.kind() != TokenKind::DoubleQuoted {
            return Err(self.unexpected());
        }
        let message = self.any(PREFIX)?;
        self.expect_sym(Sym::Comma)?;
        let state = self.plain_number()?;
        Ok(StatementKind::Throw(Some(Box::new([number, message, state]))))
    }

    /// A variable, or digits that may have a minus before them: 1080 where they are no int.
    fn plain_number(&mut self) -> ParseResult<Expr> {
        let minus = usize::from(self.at_sym(Sym::Minus));
        match self.kind_ahead(minus) {
            TokenKind::Integer | TokenKind::Decimal => {
                let token = self.tokens[self.at + minus];
                let text = self.token_text(token);
                if text.parse::<i32>().is_err() {
                    let text = format!("The integer value {text} is out of range.");
                    return Err(self.mistake(1080, text));
                }
                self.any(PREFIX)
            }
            TokenKind::Variable if minus == 0 => self.any(PREFIX),
            _ => {
                self.at += minus;
                Err(self.unexpected())
            }
        }
    }

    /// A variable, or a constant: of numbers one that may have a sign.
    fn plain_value(&mut self) -> ParseResult<Expr> {
        let sign = usize::from(self.at_sym(Sym::Minus) || self.at_sym(Sym::Plus));
        match self.kind_ahead(sign) {
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Float | TokenKind::Money => {
                self.any(PREFIX)
            }
            TokenKind::Binary
            | TokenKind::String
            | TokenKind::NationalString
            | TokenKind::DoubleQuoted
            | TokenKind::Variable
            | TokenKind::SystemVariable
            | TokenKind::Key(Kw::Null)
                if sign == 0 =>
            {
                self.any(PREFIX)
            }
            _ => {
                self.at += sign;
                Err(self.unexpected())
            }
        }
    }

    fn raiserror(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        self.expect_sym(Sym::LeftParen)?;
        let message = self.plain_value()?;
        self.expect_sym(Sym::Comma)?;
        let severity = self.plain_value()?;
        self.expect_sym(Sym::Comma)?;
        let state = self.plain_value()?;
        let mut args = Vec::new();
        while self.eat_sym(Sym::Comma) {
            args.push(self.plain_value()?);
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

    pub(super) fn transaction_name(&mut self) -> ParseResult<Option<TransactionName>> {
        if self.kind() == TokenKind::Variable {
            return Ok(Some(TransactionName::Variable(self.variable()?)));
        }
        if self.at_name() && !self.at_label() && !self.at_word("THROW") {
            let name = self.take_ident();
            if name.value.chars().count() > 32 {
                let text = format!(
                    "The identifier that starts with '{}' is too long. Maximum length is 32.",
                    name.value
                );
                return Err(SyntaxError::new(103, name.span.line, &name.value, text));
            }
            return Ok(Some(TransactionName::Name(name)));
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

    /// Does the batch define a procedure, function or trigger, whose body the rest of it is?
    fn in_module(&self) -> bool {
        let kind = |i: usize| self.tokens.get(i).map(|token| token.kind);
        let verb = match (kind(0), kind(1)) {
            (Some(TokenKind::Key(Kw::Create)), Some(TokenKind::Key(Kw::Or))) => 3,
            (Some(TokenKind::Key(Kw::Create | Kw::Alter)), _) => 1,
            _ => return false,
        };
        matches!(
            kind(verb),
            Some(TokenKind::Key(Kw::Proc | Kw::Procedure | Kw::Function | Kw::Trigger))
        )
    }
}
