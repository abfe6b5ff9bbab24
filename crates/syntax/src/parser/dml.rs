//! INSERT, UPDATE, DELETE, TRUNCATE, and OUTPUT.

use super::*;

/// SQL Server's limit for INSERT ... VALUES.
const ROWS_MAX: usize = 1000;

impl Parser<'_> {
    pub(super) fn insert(&mut self, with: Vec<Cte>) -> ParseResult<StatementKind> {
        if self.kind_ahead(1) == TokenKind::Key(Kw::Bulk) {
            let bulk = RareStatement::InsertBulk(self.insert_bulk()?);
            return Ok(StatementKind::Rare(Box::new(bulk)));
        }
        self.expect_kw(Kw::Insert)?;
        let top = self.top_of_change()?;
        self.eat_kw(Kw::Into);
        let target = self.target()?;
        let columns = if self.at_sym(Sym::LeftParen) && !self.query_in_parens() {
            self.insert_columns()?
        } else {
            Vec::new()
        };
        let output = self.output()?;
        let source = self.insert_source()?;
        let option = match source {
            InsertSource::Query(_) => Vec::new(),
            _ => self.option_clause()?,
        };
        Ok(StatementKind::Insert(Box::new(Insert {
            with,
            tracking_context: None,
            top,
            target,
            columns,
            output,
            source,
            option,
        })))
    }

    /// A column may carry its table's name: `(t.c1, t.c2)`.
    fn insert_columns(&mut self) -> ParseResult<Vec<Ident>> {
        self.expect_sym(Sym::LeftParen)?;
        let columns = self.comma_list(|parser| {
            if parser.at_kw(Kw::IdentityCol) || parser.at_kw(Kw::RowGuidCol) {
                return Ok(parser.take_ident());
            }
            Ok(parser.object_name()?.name)
        })?;
        self.expect_sym(Sym::RightParen)?;
        Ok(columns)
    }

    fn insert_source(&mut self) -> ParseResult<InsertSource> {
        match self.kind() {
            TokenKind::Key(Kw::Values) => {
                self.at += 1;
                let rows = self.comma_list(|parser| {
                    parser.expect_sym(Sym::LeftParen)?;
                    let row = parser.comma_list(Self::insert_value)?;
                    parser.expect_sym(Sym::RightParen)?;
                    Ok(row)
                })?;
                if rows.len() > ROWS_MAX {
                    return Err(self.mistake(
                        10738,
                        format!(
                            "The number of row value expressions in the INSERT statement exceeds the maximum allowed \
                             number of {ROWS_MAX} row values."
                        ),
                    ));
                }
                self.check_arity(rows.iter().map(Vec::len))?;
                Ok(InsertSource::Values(rows))
            }
            TokenKind::Key(Kw::Default) => {
                self.at += 1;
                self.expect_kw(Kw::Values)?;
                Ok(InsertSource::DefaultValues)
            }
            TokenKind::Key(Kw::Exec | Kw::Execute) => {
                self.at += 1;
                Ok(match self.execute_rest()? {
                    StatementKind::Execute(call) => InsertSource::Execute(call),
                    StatementKind::ExecuteString(text) => InsertSource::ExecuteString(text),
                    _ => return Err(self.unexpected()),
                })
            }
            TokenKind::Key(Kw::Select | Kw::With) | TokenKind::Symbol(Sym::LeftParen) => {
                Ok(InsertSource::Query(Box::new(self.query()?)))
            }
            _ => Err(self.unexpected()),
        }
    }

    pub(super) fn insert_value(&mut self) -> ParseResult<InsertValue> {
        let start = self.at;
        if self.eat_kw(Kw::Default) {
            return Ok(InsertValue::Default(self.span_from(start)));
        }
        Ok(InsertValue::Expr(self.value()?))
    }

    pub(super) fn update(&mut self, with: Vec<Cte>) -> ParseResult<StatementKind> {
        self.expect_kw(Kw::Update)?;
        if self.at_kw(Kw::Statistics) {
            return self.update_statistics();
        }
        let top = self.top_of_change()?;
        let target = self.target()?;
        self.expect_kw(Kw::Set)?;
        let set = self.comma_list(Self::set_item)?;
        let output = self.output()?;
        let from = self.sources()?;
        let current_of = self.current_of()?;
        let filter = self.where_clause()?;
        let option = self.option_clause()?;
        Ok(StatementKind::Update(Box::new(Update {
            with,
            tracking_context: None,
            top,
            target,
            set,
            output,
            from,
            filter,
            current_of,
            option,
        })))
    }

    pub(super) fn set_item(&mut self) -> ParseResult<SetItem> {
        let start = self.at;
        let mut variable = None;
        let mut column = None;
        let mut op;
        if self.kind() == TokenKind::Variable {
            variable = Some(self.variable()?);
            op = self.assign_op().ok_or_else(|| self.unexpected())?;
            // `@v = c = x` sets both; only a name right before `=` can be meant so.
            if op == AssignOp::Set
                && let Some((both, next)) = self.column_before_assignment()
            {
                column = Some(both);
                op = next;
            }
        } else if self.at_write() {
            return self.written_column();
        } else if self.at_column_method() {
            return self.column_method();
        } else {
            let (name, next) = self.column_before_assignment().ok_or_else(|| self.unexpected())?;
            column = Some(name);
            op = next;
        }
        let value = self.insert_value()?;
        Ok(SetItem { variable, column, op, value, span: self.span_from(start) })
    }

    /// `c.WRITE (`: the column's name alone, without its table's.
    fn at_write(&self) -> bool {
        self.at_name()
            && self.kind_ahead(1) == TokenKind::Symbol(Sym::Dot)
            && self.word_ahead(2, "WRITE")
            && self.kind_ahead(3) == TokenKind::Symbol(Sym::LeftParen)
    }

    /// `c.WRITE (expression, offset, length)`
    fn written_column(&mut self) -> ParseResult<SetItem> {
        let start = self.at;
        let name = self.take_ident();
        self.at += 2;
        self.expect_sym(Sym::LeftParen)?;
        let value = self.value()?;
        self.expect_sym(Sym::Comma)?;
        let offset = self.value()?;
        self.expect_sym(Sym::Comma)?;
        let length = self.value()?;
        self.expect_sym(Sym::RightParen)?;
        Ok(SetItem {
            variable: None,
            column: Some(ColumnRef { qualifier: Vec::new(), name }),
            op: AssignOp::Set,
            value: InsertValue::Write(Box::new([value, offset, length])),
            span: self.span_from(start),
        })
    }

    /// `c =`, `t.c +=`; nothing is taken when the name is not followed by an assignment.
    fn column_before_assignment(&mut self) -> Option<(ColumnRef, AssignOp)> {
        let start = self.at;
        if !self.at_name() {
            return None;
        }
        let mut parts = vec![self.take_ident()];
        while self.at_sym(Sym::Dot) && self.name_ahead(1) {
            self.at += 1;
            parts.push(self.take_ident());
        }
        let Some(op) = self.assign_op() else {
            self.at = start;
            return None;
        };
        let name = parts.pop()?;
        Some((ColumnRef { qualifier: parts, name }, op))
    }

    pub(super) fn delete(&mut self, with: Vec<Cte>) -> ParseResult<StatementKind> {
        self.expect_kw(Kw::Delete)?;
        let top = self.top_of_change()?;
        self.eat_kw(Kw::From);
        let target = self.target()?;
        let output = self.output()?;
        let from = self.sources()?;
        let current_of = self.current_of()?;
        let filter = self.where_clause()?;
        let option = self.option_clause()?;
        Ok(StatementKind::Delete(Box::new(Delete {
            with,
            tracking_context: None,
            top,
            target,
            output,
            from,
            filter,
            current_of,
            option,
        })))
    }

    /// `(INSERT | UPDATE | DELETE | MERGE ... OUTPUT ...) [AS] t [(columns)]` in FROM. The MERGE ends at the parenthesis.
    #[inline(never)]
    pub(super) fn changed_rows(&mut self) -> ParseResult<TableRef> {
        self.expect_sym(Sym::LeftParen)?;
        let start = self.at;
        let kind = self.nested(STATEMENT_LEVELS, |parser| match parser.kind() {
            TokenKind::Key(Kw::Insert) => parser.insert(Vec::new()),
            TokenKind::Key(Kw::Update) => parser.update(Vec::new()),
            TokenKind::Key(Kw::Delete) => parser.delete(Vec::new()),
            _ => parser.merge_unended(Vec::new()),
        })?;
        let span = self.span_from(start);
        self.expect_sym(Sym::RightParen)?;
        self.eat_kw(Kw::As);
        let alias = self.ident()?;
        let columns = self.alias_columns(true)?;
        Ok(TableRef::Changed { change: Box::new(Statement { kind, span }), alias, columns })
    }

    pub(super) fn truncate(&mut self) -> ParseResult<StatementKind> {
        self.expect_kw(Kw::Truncate)?;
        self.expect_kw(Kw::Table)?;
        let table = self.defined_name()?;
        self.note(MentionKind::Target, &table);
        let mut partitions = Vec::new();
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 2;
            self.expect_word("PARTITIONS")?;
            self.expect_sym(Sym::LeftParen)?;
            partitions = self.comma_list(Self::partition_span)?;
            self.expect_sym(Sym::RightParen)?;
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(StatementKind::Truncate(Box::new(Truncate { table, partitions })))
    }

    pub(super) fn target(&mut self) -> ParseResult<Target> {
        if self.kind() == TokenKind::Variable {
            return Ok(Target::Variable(self.variable()?));
        }
        if self.at_foreign_rows() {
            let name = match self.foreign_rows()? {
                TableRef::Named { name, .. } => name,
                _ => return Err(self.unexpected()),
            };
            return Ok(Target::Table { name, hints: Vec::new() });
        }
        let name = self.object_name()?;
        self.note(MentionKind::Target, &name);
        // `f ()`, `f (1, 'a')`: no list of columns begins so.
        let called = matches!(
            self.kind_ahead(1),
            TokenKind::Symbol(Sym::RightParen | Sym::Minus)
                | TokenKind::Integer
                | TokenKind::String
                | TokenKind::Variable
        );
        if self.at_sym(Sym::LeftParen) && called {
            self.note_unsupported("change of rows through a function");
            self.skip_parens()?;
        }
        let hints = self.table_hints()?;
        Ok(Target::Table { name, hints })
    }

    /// `OUTPUT items [INTO target [(columns)] [OUTPUT items]]`, or nothing.
    pub(super) fn output(&mut self) -> ParseResult<Option<Output>> {
        if !self.eat_word("OUTPUT") {
            return Ok(None);
        }
        let items = self.comma_list(Self::select_item)?;
        let mut into = None;
        let mut columns = Vec::new();
        if self.eat_kw(Kw::Into) {
            into = Some(self.target()?);
            if self.at_sym(Sym::LeftParen) && !self.query_in_parens() {
                columns = self.ident_list()?;
            }
        }
        let mut also = Vec::new();
        if into.is_some() && self.eat_word("OUTPUT") {
            also = self.comma_list(Self::select_item)?;
        }
        Ok(Some(Output { items, into, columns, also }))
    }
}
