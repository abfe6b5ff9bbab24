//! CREATE, ALTER and DROP of tables, indexes, schemas and procedures.

use super::*;

impl Parser<'_> {
    pub(super) fn create(&mut self) -> ParseResult<StatementKind> {
        let start = self.at;
        self.at += 1;
        match self.kind() {
            TokenKind::Key(Kw::Database) => self.create_database(),
            TokenKind::Key(Kw::Table) => self.create_table(),
            TokenKind::Key(Kw::Proc | Kw::Procedure) => {
                self.create_procedure(CreateMode::Create, start)
            }
            TokenKind::Key(Kw::Or) => {
                self.at += 1;
                self.expect_kw(Kw::Alter)?;
                if self.at_kw(Kw::Proc) || self.at_kw(Kw::Procedure) {
                    return self.create_procedure(CreateMode::CreateOrAlter, start);
                }
                if self.at_kw(Kw::View) {
                    return self.create_view(CreateMode::CreateOrAlter, start);
                }
                if self.at_kw(Kw::Function) {
                    return self.create_function(CreateMode::CreateOrAlter, start);
                }
                if self.at_kw(Kw::Trigger) {
                    return self.create_trigger(CreateMode::CreateOrAlter, start);
                }
                self.unsupported_object("CREATE OR ALTER")
            }
            TokenKind::Key(Kw::Unique | Kw::Clustered | Kw::Nonclustered | Kw::Index) => {
                self.create_index()
            }
            TokenKind::Key(Kw::View) => self.create_view(CreateMode::Create, start),
            TokenKind::Key(Kw::Function) => self.create_function(CreateMode::Create, start),
            TokenKind::Key(Kw::Trigger) => self.create_trigger(CreateMode::Create, start),
            _ if self.word_ahead(0, "TYPE") => self.create_type(),
            _ if self.at_word("COLUMNSTORE") => self.create_index(),
            _ if self.at_word("SEQUENCE") => self.define_sequence(false),
            _ if self.at_word("SYNONYM") => self.create_synonym(),
            _ => match self.principal(Kw::Create)? {
                Some(statement) => Ok(statement),
                None => self.unsupported_object("CREATE"),
            },
        }
    }

    /// `VIEW name (columns) WITH options AS query WITH CHECK OPTION`, to the end of the batch.
    fn create_view(&mut self, mode: CreateMode, start: usize) -> ParseResult<StatementKind> {
        if start != 0 {
            return Err(
                self.mistake(111, "'CREATE VIEW' must be the first statement in a query batch.")
            );
        }
        self.at += 1;
        let name = self.object_name()?;
        let mut columns = Vec::new();
        if self.eat_sym(Sym::LeftParen) {
            columns = self.comma_list(Self::ident)?;
            self.expect_sym(Sym::RightParen)?;
        }
        if self.eat_kw(Kw::With) {
            // ENCRYPTION, SCHEMABINDING, VIEW_METADATA change nothing here.
            self.comma_list(Self::any_word)?;
        }
        self.expect_kw(Kw::As)?;
        let query = self.query()?;
        let check_option = self.eat_kw(Kw::With);
        if check_option {
            self.expect_kw(Kw::Check)?;
            self.expect_kw(Kw::Option)?;
        }
        self.eat_sym(Sym::Semicolon);
        if !self.at_end() {
            return Err(self.unexpected());
        }
        Ok(StatementKind::CreateView(Box::new(CreateView {
            mode,
            name,
            columns,
            query,
            check_option,
        })))
    }

    /// `CREATE TYPE name AS TABLE (...)`; alias types are not kept.
    fn create_type(&mut self) -> ParseResult<StatementKind> {
        let start = self.at - 1;
        self.at += 1;
        let name = self.object_name()?;
        if !self.eat_kw(Kw::As) {
            return self.skip_statement("CREATE TYPE FROM");
        }
        self.expect_kw(Kw::Table)?;
        let definition = self.table_definition()?;
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.note_unsupported("CREATE TYPE WITH (MEMORY_OPTIMIZED)");
            self.at += 1;
            self.option_list()?;
        }
        let span = self.tokens[start].span.to(self.tokens[self.at - 1].span);
        Ok(StatementKind::CreateType(Box::new(CreateType { name, definition, span })))
    }

    pub(super) fn alter(&mut self) -> ParseResult<StatementKind> {
        let start = self.at;
        self.at += 1;
        match self.kind() {
            TokenKind::Key(Kw::Database) => self.alter_database(),
            TokenKind::Key(Kw::Table) => self.alter_table(),
            TokenKind::Key(Kw::Proc | Kw::Procedure) => {
                self.create_procedure(CreateMode::Alter, start)
            }
            TokenKind::Key(Kw::View) => self.create_view(CreateMode::Alter, start),
            TokenKind::Key(Kw::Function) => self.create_function(CreateMode::Alter, start),
            TokenKind::Key(Kw::Trigger) => self.create_trigger(CreateMode::Alter, start),
            _ if self.at_word("SERVER") && self.word_ahead(1, "CONFIGURATION") => {
                self.alter_server()
            }
            TokenKind::Key(Kw::Index) => self.alter_index(),
            _ if self.at_word("SEQUENCE") => self.define_sequence(true),
            _ => match self.principal(Kw::Alter)? {
                Some(statement) => Ok(statement),
                None => self.unsupported_object("ALTER"),
            },
        }
    }

    pub(super) fn drop(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let kind = match self.kind() {
            TokenKind::Key(Kw::Database) => DropKind::Database,
            TokenKind::Key(Kw::Table) => DropKind::Table,
            TokenKind::Key(Kw::Proc | Kw::Procedure) => DropKind::Procedure,
            TokenKind::Key(Kw::Index) => DropKind::Index,
            TokenKind::Key(Kw::View) => DropKind::View,
            TokenKind::Key(Kw::Function) => DropKind::Function,
            TokenKind::Key(Kw::Trigger) => DropKind::Trigger,
            _ if self.word_ahead(0, "TYPE") => DropKind::Type,
            _ if self.at_word("SEQUENCE") => DropKind::Sequence,
            _ if self.at_word("SYNONYM") => DropKind::Synonym,
            _ => {
                return match self.principal(Kw::Drop)? {
                    Some(statement) => Ok(statement),
                    None => self.unsupported_object("DROP"),
                };
            }
        };
        self.at += 1;
        if kind == DropKind::Database {
            for (word, next) in
                [("AUDIT", "SPECIFICATION"), ("ENCRYPTION", "KEY"), ("SCOPED", "CREDENTIAL")]
            {
                if self.at_word(word) && self.word_ahead(1, next) {
                    return self.skip_statement(&format!("DROP DATABASE {word} {next}"));
                }
            }
        }
        let if_exists = self.if_exists()?;
        let names = self.comma_list(|parser| {
            let name = parser.object_name()?;
            if kind == DropKind::Index && parser.eat_kw(Kw::On) {
                let table = parser.object_name()?;
                if parser.at_kw(Kw::With)
                    && parser.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen)
                {
                    // ONLINE, MAXDOP and MOVE TO change nothing here.
                    parser.at += 1;
                    parser.skip_parens()?;
                }
                return Ok(ObjectName {
                    server: None,
                    database: table.schema,
                    schema: Some(table.name),
                    span: name.span.to(table.span),
                    name: name.name,
                });
            }
            Ok(name)
        })?;
        if kind == DropKind::Trigger && self.eat_kw(Kw::On) {
            return self.skip_statement("DROP TRIGGER ON DATABASE");
        }
        Ok(StatementKind::Drop(DropObjects { kind, if_exists, names }))
    }

    pub(super) fn if_exists(&mut self) -> ParseResult<bool> {
        if !self.eat_kw(Kw::If) {
            return Ok(false);
        }
        self.expect_kw(Kw::Exists)?;
        Ok(true)
    }

    // ---- Tables

    fn create_table(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let name = self.object_name()?;
        let filetable = self.refused_table_tail()?;
        let definition = match filetable && !self.at_sym(Sym::LeftParen) {
            true => TableDefinition::default(),
            false => self.table_definition()?,
        };
        let mut table =
            CreateTable { name, definition, filegroup: None, textimage: None, options: Vec::new() };
        loop {
            if self.eat_kw(Kw::On) {
                table.filegroup = Some(self.filegroup()?);
            } else if self.eat_word("TEXTIMAGE_ON") {
                table.textimage = Some(self.filegroup()?);
            } else if self.at_kw(Kw::With)
                && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen)
            {
                self.at += 1;
                table.options = self.option_list()?;
            } else if !self.refused_table_tail()? {
                return Ok(StatementKind::CreateTable(Box::new(table)));
            }
        }
    }

    /// A filegroup's name; a partition scheme's column in parentheses is refused.
    fn filegroup(&mut self) -> ParseResult<Ident> {
        let name = self.lenient_ident()?;
        if self.at_sym(Sym::LeftParen) {
            self.note_unsupported("CREATE TABLE ON a partition scheme");
            self.skip_parens()?;
        }
        Ok(name)
    }

    /// `(columns, constraints, indexes)`
    pub(super) fn table_definition(&mut self) -> ParseResult<TableDefinition> {
        self.expect_sym(Sym::LeftParen)?;
        let mut definition = TableDefinition::default();
        loop {
            self.table_element(&mut definition)?;
            if !self.eat_sym(Sym::Comma) {
                break;
            }
            // SQL Server lets a comma stand before the closing parenthesis.
            if self.at_sym(Sym::RightParen) {
                break;
            }
        }
        self.expect_sym(Sym::RightParen)?;
        Ok(definition)
    }

    fn table_element(&mut self, definition: &mut TableDefinition) -> ParseResult<()> {
        match self.kind() {
            TokenKind::Key(
                Kw::Constraint | Kw::Primary | Kw::Unique | Kw::Check | Kw::Foreign | Kw::Default,
            ) => {
                let constraint = self.table_constraint()?;
                definition.constraints.push(constraint);
            }
            TokenKind::Key(Kw::Index) => {
                let index = self.inline_index(None)?;
                definition.indexes.push(index);
            }
            _ if self.refused_table_element()? => {}
            _ => {
                let column = self.column_definition()?;
                definition.columns.push(column);
            }
        }
        Ok(())
    }

    fn column_definition(&mut self) -> ParseResult<ColumnDefinition> {
        let start = self.at;
        let name = self.ident()?;
        let mut column = ColumnDefinition {
            name,
            ty: None,
            computed: None,
            persisted: false,
            nullable: None,
            identity: None,
            default: None,
            second_default: false,
            collation: None,
            rowguidcol: false,
            constraints: Vec::new(),
            indexes: Vec::new(),
            span: Span::default(),
        };
        if self.eat_kw(Kw::As) {
            column.computed = Some(self.value()?);
            column.persisted = self.eat_word("PERSISTED");
        } else if column.name.is("timestamp") && !self.at_name() {
            column.ty = Some(TypeName {
                name: "timestamp".into(),
                schema: None,
                args: Vec::new(),
                span: column.name.span,
            });
        } else {
            column.ty = Some(self.type_name()?);
        }
        while self.column_attribute(&mut column)? {}
        column.span = self.span_from(start);
        Ok(column)
    }

    fn column_attribute(&mut self, column: &mut ColumnDefinition) -> ParseResult<bool> {
        let TokenKind::Key(kw) = self.kind() else {
            if self.eat_word("SPARSE") {
                return Ok(true);
            }
            return self.refused_column_attribute();
        };
        match kw {
            Kw::Null => {
                self.at += 1;
                column.nullable = Some(true);
            }
            Kw::Not => {
                self.at += 1;
                if self.eat_kw(Kw::For) {
                    self.expect_kw(Kw::Replication)?;
                } else if self.eat_word("ENFORCED") {
                    self.note_unsupported("NOT ENFORCED");
                } else {
                    self.expect_kw(Kw::Null)?;
                    column.nullable = Some(false);
                }
            }
            Kw::Collate => {
                self.at += 1;
                column.collation = Some(self.ident()?);
            }
            Kw::RowGuidCol => {
                self.at += 1;
                column.rowguidcol = true;
            }
            Kw::Identity => {
                self.at += 1;
                column.identity = Some(self.identity()?);
            }
            Kw::Index => {
                let name = column.name.clone();
                column.indexes.push(self.inline_index(Some(name))?);
            }
            Kw::Constraint
            | Kw::Default
            | Kw::Primary
            | Kw::Unique
            | Kw::Check
            | Kw::References
            | Kw::Foreign => self.column_constraint(column)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn identity(&mut self) -> ParseResult<Identity> {
        let (mut seed, mut increment) = ("1".to_string(), "1".to_string());
        if self.eat_sym(Sym::LeftParen) {
            seed = self.signed_digits()?;
            self.expect_sym(Sym::Comma)?;
            increment = self.signed_digits()?;
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(Identity { seed, increment })
    }

    pub(super) fn signed_digits(&mut self) -> ParseResult<String> {
        let negative = self.eat_sym(Sym::Minus);
        if !negative {
            self.eat_sym(Sym::Plus);
        }
        let token = self.token();
        let digits = match token.kind {
            TokenKind::Integer => self.token_text(token),
            // `IDENTITY (1., 1.)`
            TokenKind::Decimal if self.token_text(token).ends_with('.') => {
                self.token_text(token).trim_end_matches('.')
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(if negative { format!("-{digits}") } else { digits.to_string() })
    }

    fn constraint_name(&mut self) -> ParseResult<Option<Ident>> {
        if self.eat_kw(Kw::Constraint) { self.ident().map(Some) } else { Ok(None) }
    }

    fn column_constraint(&mut self, column: &mut ColumnDefinition) -> ParseResult<()> {
        let start = self.at;
        let name = self.constraint_name()?;
        if self.eat_kw(Kw::Default) {
            let expr = self.value()?;
            column.second_default |= column.default.is_some();
            column.default = Some(DefaultDefinition { name, expr });
            if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Key(Kw::Values) {
                self.at += 2;
            }
            return Ok(());
        }
        let mut kind = self.constraint_kind()?;
        let own = |name: &Ident| IndexColumn { name: name.clone(), descending: false };
        match &mut kind {
            ConstraintKind::Key { columns, .. } if columns.is_empty() => {
                columns.push(own(&column.name));
            }
            ConstraintKind::ForeignKey { columns, .. } if columns.is_empty() => {
                columns.push(column.name.clone());
            }
            _ => {}
        }
        column.constraints.push(TableConstraint { name, kind, span: self.span_from(start) });
        Ok(())
    }

    fn table_constraint(&mut self) -> ParseResult<TableConstraint> {
        let start = self.at;
        let name = self.constraint_name()?;
        let kind = if self.eat_kw(Kw::Default) {
            let expr = self.value()?;
            self.expect_kw(Kw::For)?;
            let column = self.ident()?;
            if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Key(Kw::Values) {
                self.at += 2;
            }
            ConstraintKind::DefaultFor { expr, column }
        } else {
            let kind = self.constraint_kind()?;
            let missing = match &kind {
                ConstraintKind::Key { columns, .. } => columns.is_empty(),
                ConstraintKind::ForeignKey { columns, .. } => columns.is_empty(),
                _ => false,
            };
            if missing {
                return Err(self.unexpected());
            }
            kind
        };
        Ok(TableConstraint { name, kind, span: self.span_from(start) })
    }

    /// PRIMARY KEY, UNIQUE, CHECK, [FOREIGN KEY] REFERENCES; column lists may be missing.
    fn constraint_kind(&mut self) -> ParseResult<ConstraintKind> {
        if self.at_word("CONNECTION") && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.note_unsupported("CONNECTION constraints of edge tables");
            self.at += 1;
            self.skip_parens()?;
            while self.eat_kw(Kw::On) {
                self.expect_kw(Kw::Delete)?;
                let action = self.any_word()?;
                if action == "NO" {
                    self.any_word()?;
                }
            }
            let kind = ExprKind::Literal(Literal::Null);
            let expr = Box::new(Expr { kind, span: self.token().span });
            let kind = ExprKind::IsNull { negated: false, expr };
            let condition = Expr { kind, span: self.token().span };
            return Ok(ConstraintKind::Check { condition });
        }
        let TokenKind::Key(kw) = self.kind() else { return Err(self.unexpected()) };
        match kw {
            Kw::Primary | Kw::Unique => {
                self.at += 1;
                if kw == Kw::Primary {
                    self.expect_kw(Kw::Key)?;
                }
                let clustered = self.clustered();
                let hash = self.eat_word("HASH");
                let columns =
                    if self.at_sym(Sym::LeftParen) { self.index_columns()? } else { Vec::new() };
                let (options, filegroup) = self.index_tail()?;
                if self.at_kw(Kw::Not) && self.word_ahead(1, "ENFORCED") {
                    self.note_unsupported("NOT ENFORCED");
                    self.at += 2;
                }
                let primary = kw == Kw::Primary;
                Ok(ConstraintKind::Key { primary, clustered, hash, columns, options, filegroup })
            }
            Kw::Check => {
                self.at += 1;
                if self.eat_kw(Kw::Not) {
                    self.expect_kw(Kw::For)?;
                    self.expect_kw(Kw::Replication)?;
                }
                self.expect_sym(Sym::LeftParen)?;
                let condition = self.condition()?;
                self.expect_sym(Sym::RightParen)?;
                Ok(ConstraintKind::Check { condition })
            }
            Kw::Foreign | Kw::References => {
                let mut columns = Vec::new();
                if self.eat_kw(Kw::Foreign) {
                    self.expect_kw(Kw::Key)?;
                    if self.at_sym(Sym::LeftParen) {
                        columns = self.ident_list()?;
                    }
                }
                self.expect_kw(Kw::References)?;
                let table = self.object_name()?;
                let referenced =
                    if self.at_sym(Sym::LeftParen) { self.ident_list()? } else { Vec::new() };
                let (mut on_delete, mut on_update) = (None, None);
                while self.at_kw(Kw::On)
                    && matches!(self.kind_ahead(1), TokenKind::Key(Kw::Delete | Kw::Update))
                {
                    self.at += 1;
                    let delete = self.advance().kind == TokenKind::Key(Kw::Delete);
                    let mut action = self.any_word()?;
                    if action == "NO" || action == "SET" {
                        action = format!("{action} {}", self.any_word()?);
                    }
                    *(if delete { &mut on_delete } else { &mut on_update }) = Some(action);
                }
                if self.at_kw(Kw::Not) && self.kind_ahead(1) == TokenKind::Key(Kw::For) {
                    self.at += 2;
                    self.expect_kw(Kw::Replication)?;
                }
                Ok(ConstraintKind::ForeignKey { columns, table, referenced, on_delete, on_update })
            }
            _ => Err(self.unexpected()),
        }
    }

    fn clustered(&mut self) -> Option<bool> {
        if self.eat_kw(Kw::Clustered) {
            Some(true)
        } else if self.eat_kw(Kw::Nonclustered) {
            Some(false)
        } else {
            None
        }
    }

    fn index_columns(&mut self) -> ParseResult<Vec<IndexColumn>> {
        self.expect_sym(Sym::LeftParen)?;
        let columns = self.comma_list(|parser| {
            let name = parser.ident()?;
            let descending = parser.eat_kw(Kw::Desc);
            if !descending {
                parser.eat_kw(Kw::Asc);
            }
            Ok(IndexColumn { name, descending })
        })?;
        self.expect_sym(Sym::RightParen)?;
        Ok(columns)
    }

    /// `WITH (...)`, `WITH FILLFACTOR = n`, `ON filegroup`, in any order.
    fn index_tail(&mut self) -> ParseResult<(Vec<DatabaseOption>, Option<Ident>)> {
        let (mut options, mut filegroup) = (Vec::new(), None);
        loop {
            if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
                self.at += 1;
                options = self.option_list()?;
            } else if self.at_kw(Kw::With) && self.at_old_option(1) {
                self.at += 1;
                options.push(self.database_option()?);
                self.old_options(&mut options)?;
            } else if self.eat_word("FILESTREAM_ON") {
                self.note_unsupported("FILESTREAM_ON");
                self.lenient_ident()?;
            } else if self.at_kw(Kw::On)
                && !matches!(self.kind_ahead(1), TokenKind::Key(Kw::Delete | Kw::Update))
            {
                self.at += 1;
                filegroup = Some(self.filegroup()?);
            } else {
                return Ok((options, filegroup));
            }
        }
    }

    /// An option of an index in the form of SQL Server 2000: `WITH PAD_INDEX, IGNORE_DUP_KEY`.
    fn at_old_option(&self, ahead: usize) -> bool {
        const WORDS: &[&str] = &[
            "PAD_INDEX",
            "IGNORE_DUP_KEY",
            "DROP_EXISTING",
            "STATISTICS_NORECOMPUTE",
            "SORT_IN_TEMPDB",
        ];
        self.kind_ahead(ahead) == TokenKind::Key(Kw::Fillfactor)
            || WORDS.iter().any(|word| self.word_ahead(ahead, word))
    }

    /// More of them after a comma.
    fn old_options(&mut self, options: &mut Vec<DatabaseOption>) -> ParseResult<()> {
        while self.at_sym(Sym::Comma) && self.at_old_option(1) {
            self.at += 1;
            options.push(self.database_option()?);
        }
        Ok(())
    }

    /// `INDEX i [UNIQUE] [CLUSTERED] [(columns)] ...` inside CREATE TABLE.
    fn inline_index(&mut self, column: Option<Ident>) -> ParseResult<IndexDefinition> {
        let start = self.at;
        self.expect_kw(Kw::Index)?;
        let name = self.ident()?;
        let unique = self.eat_kw(Kw::Unique);
        let clustered = self.clustered();
        let columnstore = self.eat_word("COLUMNSTORE");
        if columnstore {
            self.note_unsupported("COLUMNSTORE indexes");
        }
        let hash = self.eat_word("HASH");
        let mut columns = Vec::new();
        if columnstore && !self.at_sym(Sym::LeftParen) {
        } else if self.at_sym(Sym::LeftParen) {
            columns = self.index_columns()?;
        } else if let Some(name) = column {
            columns.push(IndexColumn { name, descending: false });
        } else {
            return Err(self.unexpected());
        }
        self.index_rest(start, name, unique, clustered, hash, columns)
    }

    fn index_rest(
        &mut self,
        start: usize,
        name: Ident,
        unique: bool,
        clustered: Option<bool>,
        hash: bool,
        columns: Vec<IndexColumn>,
    ) -> ParseResult<IndexDefinition> {
        let include = if self.eat_word("INCLUDE") { self.ident_list()? } else { Vec::new() };
        let filter = self.where_clause()?;
        let (options, filegroup) = self.index_tail()?;
        Ok(IndexDefinition {
            name,
            unique,
            clustered,
            hash,
            columns,
            include,
            filter,
            options,
            filegroup,
            span: self.span_from(start),
        })
    }

    fn create_index(&mut self) -> ParseResult<StatementKind> {
        let start = self.at - 1;
        let unique = self.eat_kw(Kw::Unique);
        let clustered = self.clustered();
        if self.at_word("COLUMNSTORE") {
            return self.skip_statement("CREATE COLUMNSTORE INDEX");
        }
        self.expect_kw(Kw::Index)?;
        let name = self.ident()?;
        self.expect_kw(Kw::On)?;
        let table = self.object_name()?;
        let columns = self.index_columns()?;
        let index = self.index_rest(start, name, unique, clustered, false, columns)?;
        Ok(StatementKind::CreateIndex(Box::new(CreateIndex { table, index })))
    }

    /// `ALTER INDEX name | ALL ON table REBUILD | REORGANIZE | DISABLE | SET (...)`
    fn alter_index(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let index = if self.eat_kw(Kw::All) { None } else { Some(self.ident()?) };
        self.expect_kw(Kw::On)?;
        let table = self.object_name()?;
        let action = if self.eat_word("REBUILD") {
            self.all_partitions()?;
            let options = if self.eat_kw(Kw::With) { self.option_list()? } else { Vec::new() };
            AlterIndexAction::Rebuild(options)
        } else if self.eat_word("REORGANIZE") {
            self.all_partitions()?;
            if self.eat_kw(Kw::With) {
                self.option_list()?;
            }
            AlterIndexAction::Reorganize
        } else if self.eat_word("DISABLE") {
            AlterIndexAction::Disable
        } else if self.eat_kw(Kw::Set) {
            AlterIndexAction::Set(self.option_list()?)
        } else {
            return self.skip_statement("ALTER INDEX");
        };
        Ok(StatementKind::AlterIndex(Box::new(AlterIndex { index, table, action })))
    }

    /// `PARTITION = ALL`: there is one.
    fn all_partitions(&mut self) -> ParseResult<()> {
        if self.eat_word("PARTITION") {
            self.expect_sym(Sym::Eq)?;
            if !self.eat_kw(Kw::All) {
                self.value()?;
            }
        }
        Ok(())
    }

    fn alter_table(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let name = self.object_name()?;
        let mut nocheck = false;
        let mut verify = false;
        if self.at_kw(Kw::With)
            && matches!(self.kind_ahead(1), TokenKind::Key(Kw::Check | Kw::Nocheck))
        {
            nocheck = self.kind_ahead(1) == TokenKind::Key(Kw::Nocheck);
            verify = !nocheck;
            self.at += 2;
        }
        let action = match self.kind() {
            TokenKind::Key(Kw::Add) => {
                self.at += 1;
                let mut definition = TableDefinition::default();
                loop {
                    self.table_element(&mut definition)?;
                    if !self.eat_sym(Sym::Comma) {
                        break;
                    }
                }
                AlterTableAction::Add { definition, nocheck }
            }
            TokenKind::Key(Kw::Alter) => {
                self.at += 1;
                if self.at_kw(Kw::Index) {
                    return self.skip_statement("ALTER TABLE ALTER INDEX");
                }
                self.expect_kw(Kw::Column)?;
                let name = self.ident()?;
                if self.at_kw(Kw::Add) || self.at_kw(Kw::Drop) {
                    return self.skip_statement("ALTER TABLE ALTER COLUMN ADD or DROP");
                }
                let ty = self.type_name()?;
                let (mut collation, mut nullable) = (None, None);
                loop {
                    if self.eat_kw(Kw::Collate) {
                        collation = Some(self.ident()?);
                    } else if self.eat_kw(Kw::Null) {
                        nullable = Some(true);
                    } else if self.eat_kw(Kw::Not) {
                        self.expect_kw(Kw::Null)?;
                        nullable = Some(false);
                    } else if !self.eat_word("SPARSE") && !self.refused_column_attribute()? {
                        break;
                    }
                }
                if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
                    // ONLINE: alterations hold their lock.
                    self.at += 1;
                    self.option_list()?;
                }
                AlterTableAction::AlterColumn { name, ty, collation, nullable }
            }
            TokenKind::Key(Kw::Drop) => {
                self.at += 1;
                if self.at_word("PERIOD") && self.kind_ahead(1) == TokenKind::Key(Kw::For) {
                    return self.skip_statement("ALTER TABLE DROP PERIOD");
                }
                if self.at_kw(Kw::Index) {
                    return self.skip_statement("ALTER TABLE DROP INDEX");
                }
                AlterTableAction::Drop(self.alter_table_drops()?)
            }
            TokenKind::Key(Kw::Set) => {
                self.at += 1;
                AlterTableAction::Set(self.option_list()?)
            }
            TokenKind::Key(Kw::Check | Kw::Nocheck) => {
                let enable = self.advance().kind == TokenKind::Key(Kw::Check);
                self.expect_kw(Kw::Constraint)?;
                let names =
                    if self.eat_kw(Kw::All) { Vec::new() } else { self.comma_list(Self::ident)? };
                AlterTableAction::CheckConstraint { enable, verify, names }
            }
            _ if (self.at_word("ENABLE") || self.at_word("DISABLE"))
                && self.kind_ahead(1) == TokenKind::Key(Kw::Trigger) =>
            {
                let enable = self.at_word("ENABLE");
                self.at += 2;
                let triggers = self.trigger_names()?;
                return Ok(StatementKind::EnableTrigger(Box::new(EnableTrigger {
                    enable,
                    triggers,
                    table: name,
                })));
            }
            _ if self.at_word("REBUILD") => {
                self.at += 1;
                self.all_partitions()?;
                if self.at_kw(Kw::With) {
                    self.at += 1;
                    self.skip_parens()?;
                }
                AlterTableAction::Rebuild
            }
            TokenKind::Key(_) | TokenKind::Word => {
                let what = format!("ALTER TABLE {}", self.any_word()?);
                return self.skip_statement(&what);
            }
            _ => return Err(self.unexpected()),
        };
        Ok(StatementKind::AlterTable(Box::new(AlterTable { name, action })))
    }

    /// `COLUMN a, b, CONSTRAINT c`: the kind holds until another is named; none means constraint.
    fn alter_table_drops(&mut self) -> ParseResult<Vec<AlterTableDrop>> {
        let mut column = false;
        let mut if_exists = false;
        self.comma_list(|parser| {
            if parser.eat_kw(Kw::Column) {
                column = true;
                if_exists = parser.if_exists()?;
            } else if parser.eat_kw(Kw::Constraint) {
                column = false;
                if_exists = parser.if_exists()?;
            } else if parser.at_kw(Kw::If) {
                if_exists = parser.if_exists()?;
            }
            let name = parser.ident()?;
            if parser.at_kw(Kw::With) && parser.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
                parser.at += 1;
                parser.skip_parens()?;
            }
            Ok(AlterTableDrop { column, if_exists, name })
        })
    }

    // ---- Procedures

    fn create_procedure(&mut self, mode: CreateMode, start: usize) -> ParseResult<StatementKind> {
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
        let ty = if self.eat_kw(Kw::Cursor) {
            self.note_unsupported("cursors as parameters");
            TypeName {
                name: "int".into(),
                schema: None,
                args: Vec::new(),
                span: self.span_from(start),
            }
        } else {
            self.type_name()?
        };
        self.eat_kw(Kw::Varying);
        let mut not_null = false;
        if self.eat_kw(Kw::Not) {
            self.expect_kw(Kw::Null)?;
            not_null = true;
        } else {
            self.eat_kw(Kw::Null);
        }
        let default = if self.eat_sym(Sym::Eq) { Some(self.parameter_default()?) } else { None };
        let mut output = false;
        let mut readonly = false;
        loop {
            if self.eat_word("OUTPUT") || self.eat_word("OUT") {
                output = true;
            } else if self.eat_word("READONLY") {
                readonly = true;
            } else {
                return Ok(Parameter { name, ty, not_null, default, output, readonly });
            }
        }
    }

    fn parameter_default(&mut self) -> ParseResult<Expr> {
        let start = self.at;
        if self.at_name() {
            let value = self.take_ident().value;
            let kind = ExprKind::Literal(Literal::String { value, national: false });
            return Ok(Expr { kind, span: self.span_from(start) });
        }
        if self.kind() == TokenKind::SystemVariable {
            return self.value();
        }
        self.signed_literal()
    }
}
