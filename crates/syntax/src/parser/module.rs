//! CREATE and ALTER of procedures, functions and triggers, ENABLE and DISABLE TRIGGER.

use super::*;

impl Parser<'_> {
    /// `FUNCTION name (parameters) RETURNS ...`, to the end of the batch.
    pub(super) fn create_function(
        &mut self,
        mode: CreateMode,
        start: usize,
    ) -> ParseResult<StatementKind> {
        if start != 0 {
            return Err(self
                .mistake(111, "'CREATE FUNCTION' must be the first statement in a query batch."));
        }
        self.at += 1;
        let name = self.object_name()?;
        self.expect_sym(Sym::LeftParen)?;
        let mut parameters = Vec::new();
        if !self.at_sym(Sym::RightParen) {
            parameters = self.comma_list(Self::parameter)?;
        }
        self.expect_sym(Sym::RightParen)?;
        self.expect_word("RETURNS")?;
        let mut options = Vec::new();
        let returns = if self.eat_kw(Kw::Table) {
            if self.at_sym(Sym::LeftParen) {
                return self.rest_of_batch("CREATE FUNCTION AS EXTERNAL NAME");
            }
            self.module_options(&mut options)?;
            self.eat_kw(Kw::As);
            if self.at_kw(Kw::External) {
                return self.rest_of_batch("CREATE FUNCTION AS EXTERNAL NAME");
            }
            self.expect_kw(Kw::Return)?;
            FunctionReturns::Inline(Box::new(self.inline_query()?))
        } else if self.kind() == TokenKind::Variable {
            let variable = self.variable()?;
            self.expect_kw(Kw::Table)?;
            let definition = self.table_definition()?;
            self.module_options(&mut options)?;
            let body = self.function_body(false)?;
            FunctionReturns::Table { variable, definition, body }
        } else {
            let ty = self.type_name()?;
            self.module_options(&mut options)?;
            if self.at_kw(Kw::As) && self.kind_ahead(1) == TokenKind::Key(Kw::External) {
                return self.rest_of_batch("CREATE FUNCTION AS EXTERNAL NAME");
            }
            let body = self.function_body(true)?;
            FunctionReturns::Scalar { ty, body }
        };
        while self.eat_sym(Sym::Semicolon) {}
        if !self.at_end() {
            return Err(self.unexpected());
        }
        Ok(StatementKind::CreateFunction(Box::new(CreateFunction {
            mode,
            name,
            parameters,
            returns,
            options,
        })))
    }

    /// `[AS] BEGIN ... END`; `value`: RETURN has one.
    fn function_body(&mut self, value: bool) -> ParseResult<Vec<Statement>> {
        self.eat_kw(Kw::As);
        let start = self.at;
        self.expect_kw(Kw::Begin)?;
        let outer = self.unsupported.take();
        self.in_procedure = value;
        let body = self.function_statements(start);
        self.in_procedure = false;
        self.unsupported = outer;
        body
    }

    /// Behind BEGIN, to END. An ATOMIC block stays one statement.
    fn function_statements(&mut self, start: usize) -> ParseResult<Vec<Statement>> {
        if self.at_atomic() {
            let kind = StatementKind::Atomic(Box::new(self.atomic_block()?));
            return Ok(vec![Statement { kind, span: self.span_from(start) }]);
        }
        let body = self.statements_until(|parser| parser.at_kw(Kw::End) || parser.at_end())?;
        self.expect_kw(Kw::End)?;
        Ok(body)
    }

    /// The query of an inline function, perhaps in parentheses, which may also hold WITH and ORDER BY.
    fn inline_query(&mut self) -> ParseResult<Query> {
        let here = self.at;
        if self.at_sym(Sym::LeftParen)
            && matches!(self.kind_ahead(1), TokenKind::Key(Kw::Select | Kw::With))
        {
            self.at += 1;
            let query = self.query()?;
            self.expect_sym(Sym::RightParen)?;
            if self.at_end() || self.at_sym(Sym::Semicolon) {
                return Ok(query);
            }
            self.at = here;
        }
        self.query()
    }

    /// `WITH option, option` of a module, if it is there.
    pub(super) fn module_options(&mut self, options: &mut Vec<String>) -> ParseResult<()> {
        if !self.eat_kw(Kw::With) {
            return Ok(());
        }
        *options = self.comma_list(|parser| {
            let mut option = parser.any_word()?;
            match option.as_str() {
                "EXECUTE" | "EXEC" => {
                    parser.expect_kw(Kw::As)?;
                    option = if parser.at_string() {
                        format!("EXECUTE AS '{}'", parser.string()?)
                    } else {
                        let here = parser.at;
                        let word = parser.any_word()?;
                        if !matches!(word.as_str(), "CALLER" | "OWNER" | "SELF") {
                            parser.at = here;
                            return Err(parser.unexpected());
                        }
                        format!("EXECUTE AS {word}")
                    };
                }
                "RETURNS" | "CALLED" => {
                    let words: &[&str] = match option.as_str() {
                        "RETURNS" => &["NULL", "ON", "NULL", "INPUT"],
                        _ => &["ON", "NULL", "INPUT"],
                    };
                    for word in words {
                        parser.expect_word(word)?;
                        option = format!("{option} {word}");
                    }
                }
                "INLINE" => {
                    parser.expect_sym(Sym::Eq)?;
                    option = format!("INLINE = {}", parser.any_word()?);
                }
                _ => {}
            }
            Ok(option)
        })?;
        Ok(())
    }

    /// `TRIGGER name ON table AFTER INSERT, UPDATE AS ...`, to the end of the batch.
    pub(super) fn create_trigger(
        &mut self,
        mode: CreateMode,
        start: usize,
    ) -> ParseResult<StatementKind> {
        if start != 0 {
            return Err(
                self.mistake(111, "'CREATE TRIGGER' must be the first statement in a query batch.")
            );
        }
        self.at += 1;
        let name = self.object_name()?;
        self.expect_kw(Kw::On)?;
        if self.at_kw(Kw::Database) || self.at_kw(Kw::All) {
            return self.create_ddl_trigger(mode, &name);
        }
        let (at, table) = (self.at, self.object_name()?);
        if table.name.value.starts_with('#') {
            let token = self.tokens[at];
            let text = "Cannot create trigger on a temporary object.";
            return Err(SyntaxError::new(167, token.span.line, self.token_text(token), text));
        }
        let mut options = Vec::new();
        self.module_options(&mut options)?;
        let instead_of = self.eat_word("INSTEAD");
        if instead_of {
            self.expect_kw(Kw::Of)?;
        } else if !self.eat_kw(Kw::For) {
            self.expect_word("AFTER")?;
        }
        let mut events = TriggerEvents::default();
        if self.kind() == TokenKind::Word {
            let text = format!("'{}' is an invalid event type.", self.token_text(self.token()));
            return Err(self.mistake(1084, text));
        }
        self.comma_list(|parser| {
            let event = match parser.kind() {
                TokenKind::Key(Kw::Insert) => &mut events.insert,
                TokenKind::Key(Kw::Update) => &mut events.update,
                TokenKind::Key(Kw::Delete) => &mut events.delete,
                _ => return Err(parser.unexpected()),
            };
            if std::mem::replace(event, true) {
                let (token, near) = (parser.token(), parser.token_text(parser.token()));
                return Err(SyntaxError::new(
                    1034,
                    token.span.line,
                    near,
                    format!(
                        "Syntax error: Duplicate specification of the action \"{}\" in the trigger \
                         declaration.",
                        near.to_ascii_uppercase()
                    ),
                ));
            }
            parser.at += 1;
            Ok(())
        })?;
        if self.eat_kw(Kw::With) {
            self.expect_word("APPEND")?;
        }
        let not_for_replication = self.eat_kw(Kw::Not);
        if not_for_replication {
            self.expect_kw(Kw::For)?;
            self.expect_kw(Kw::Replication)?;
        }
        self.expect_kw(Kw::As)?;
        if self.at_kw(Kw::External) {
            return self.rest_of_batch("CREATE TRIGGER AS EXTERNAL NAME");
        }
        let body = self.statements_until(|parser| parser.at_end())?;
        Ok(StatementKind::CreateTrigger(Box::new(CreateTrigger {
            mode,
            name,
            table,
            events,
            instead_of,
            not_for_replication,
            options,
            body,
        })))
    }

    /// `ENABLE | DISABLE TRIGGER names | ALL ON table`, as a statement of its own.
    pub(super) fn enable_trigger(&mut self, enable: bool) -> ParseResult<StatementKind> {
        self.at += 2;
        let triggers = self.trigger_names()?;
        self.expect_kw(Kw::On)?;
        if self.at_kw(Kw::Database) || self.at_kw(Kw::All) {
            let scope = self.trigger_scope()?;
            let triggers = triggers.iter().map(|name| self.bare_trigger(name));
            let triggers = triggers.collect::<ParseResult<Vec<_>>>()?;
            let enable = EnableDdlTrigger { enable, triggers, scope };
            return Ok(StatementKind::EnableDdlTrigger(Box::new(enable)));
        }
        let table = self.object_name()?;
        Ok(StatementKind::EnableTrigger(Box::new(EnableTrigger {
            enable,
            triggers,
            table,
            of_alter_table: false,
        })))
    }

    /// Names of triggers, or ALL: none.
    pub(super) fn trigger_names(&mut self) -> ParseResult<Vec<ObjectName>> {
        if self.eat_kw(Kw::All) {
            return Ok(Vec::new());
        }
        self.comma_list(Self::object_name)
    }

    /// A definition that is not kept: its text goes to the end of the batch.
    pub(super) fn rest_of_batch(&mut self, what: &str) -> ParseResult<StatementKind> {
        while !self.at_end() {
            self.at += 1;
        }
        Ok(StatementKind::Unsupported { what: what.to_string() })
    }

    // ---- Procedures

    pub(super) fn create_procedure(
        &mut self,
        mode: CreateMode,
        start: usize,
    ) -> ParseResult<StatementKind> {
        if start != 0 {
            return Err(self.mistake(
                111,
                "'CREATE/ALTER PROCEDURE' must be the first statement in a query batch.",
            ));
        }
        self.at += 1;
        let name = self.object_name()?;
        if self.at_sym(Sym::Semicolon) && self.kind_ahead(1) == TokenKind::Integer {
            self.at += 1;
            if self.number()? != 1 {
                self.note_unsupported("numbered procedures");
            }
        }
        let parens = self.eat_sym(Sym::LeftParen);
        let mut parameters = Vec::new();
        if self.kind() == TokenKind::Variable {
            parameters = self.comma_list(Self::parameter)?;
        }
        if parens {
            self.expect_sym(Sym::RightParen)?;
        }
        let mut options = Vec::new();
        self.module_options(&mut options)?;
        if self.eat_kw(Kw::For) {
            self.expect_kw(Kw::Replication)?;
        }
        self.expect_kw(Kw::As)?;
        if self.at_kw(Kw::External) {
            return self.skip_statement("CREATE PROCEDURE AS EXTERNAL NAME");
        }
        self.in_procedure = true;
        let body = self.statements_until(|parser| parser.at_end())?;
        self.in_procedure = false;
        Ok(StatementKind::CreateProcedure(Box::new(CreateProcedure {
            mode,
            name,
            parameters,
            options,
            body,
        })))
    }

    pub(super) fn parameter(&mut self) -> ParseResult<Parameter> {
        let name = self.variable()?;
        self.eat_kw(Kw::As);
        let start = self.at;
        let mut cursor = None;
        let ty = if self.eat_kw(Kw::Cursor) {
            cursor = Some(Varying(self.eat_kw(Kw::Varying)));
            let (name, args) = ("cursor".into(), Vec::new());
            TypeName { name, schema: None, args, xml: None, span: self.span_from(start) }
        } else {
            self.type_name()?
        };
        let not_null = self.null_or_not()?;
        let default = if self.eat_sym(Sym::Eq) { Some(self.parameter_default()?) } else { None };
        let mut output = false;
        let mut readonly = false;
        loop {
            if self.eat_word("OUTPUT") || self.eat_word("OUT") {
                output = true;
            } else if self.eat_word("READONLY") {
                readonly = true;
            } else {
                return Ok(Parameter { name, ty, not_null, default, output, readonly, cursor });
            }
        }
    }

    fn parameter_default(&mut self) -> ParseResult<Expr> {
        let start = self.at;
        if self.at_name() {
            let value = self.take_ident().value;
            let kind = ExprKind::Literal(Literal::String { value, national: true });
            return Ok(Expr::new(kind, self.span_from(start)));
        }
        if self.kind() == TokenKind::SystemVariable {
            return self.value();
        }
        self.signed_literal()
    }

    /// `CREATE RULE name AS condition`, `CREATE DEFAULT name AS value`, to the end of the batch.
    pub(super) fn create_bindable(&mut self, start: usize) -> ParseResult<StatementKind> {
        let rule = self.at_kw(Kw::Rule);
        if start != 0 {
            let what = if rule { "CREATE RULE" } else { "CREATE DEFAULT" };
            let text = format!("'{what}' must be the first statement in a query batch.");
            return Err(self.mistake(111, text));
        }
        self.at += 1;
        let name = self.object_name()?;
        self.expect_kw(Kw::As)?;
        let value = if rule { self.condition()? } else { self.value()? };
        self.eat_sym(Sym::Semicolon);
        if !self.at_end() {
            return Err(self.unexpected());
        }
        Ok(StatementKind::CreateBindable(Box::new(CreateBindable { rule, name, value })))
    }
}
