//! Triggers of the database and of the server. Which events there are is the binder's affair.

use super::*;

impl Parser<'_> {
    /// `DATABASE | ALL SERVER WITH options FOR | AFTER event, event AS ...`, to the end of the batch.
    pub(super) fn create_ddl_trigger(
        &mut self,
        mode: CreateMode,
        name: &ObjectName,
    ) -> ParseResult<StatementKind> {
        let name = self.bare_trigger(name)?;
        let scope = self.trigger_scope()?;
        let mut options = Vec::new();
        self.module_options(&mut options)?;
        if !self.eat_kw(Kw::For) {
            self.expect_word("AFTER")?;
        }
        let events = self.comma_list(|parser| {
            // What triggers of tables are for is told apart from what is nothing: see the binder.
            let of_rows =
                matches!(parser.kind(), TokenKind::Key(Kw::Insert | Kw::Update | Kw::Delete));
            if of_rows { Ok(parser.take_ident()) } else { parser.ident() }
        })?;
        self.expect_kw(Kw::As)?;
        if self.at_kw(Kw::External) {
            return self.rest_of_batch("CREATE TRIGGER AS EXTERNAL NAME");
        }
        let body = self.statements_until(|parser| parser.at_end())?;
        let create = CreateDdlTrigger { mode, name, scope, events, options, body };
        Ok(StatementKind::CreateDdlTrigger(Box::new(create)))
    }

    /// `DATABASE`, `ALL SERVER`.
    pub(super) fn trigger_scope(&mut self) -> ParseResult<TriggerScope> {
        if self.eat_kw(Kw::Database) {
            return Ok(TriggerScope::Database);
        }
        self.expect_kw(Kw::All)?;
        self.expect_word("SERVER")?;
        Ok(TriggerScope::Server)
    }

    /// The name of a trigger that is in no schema: 1094.
    pub(super) fn bare_trigger(&self, name: &ObjectName) -> ParseResult<Ident> {
        if name.schema.is_none() && name.database.is_none() {
            return Ok(name.name.clone());
        }
        Err(SyntaxError::new(
            1094,
            name.span.line,
            &name.name.value,
            "Cannot specify a schema name as a prefix to the trigger name for database and server level triggers.",
        ))
    }
}
