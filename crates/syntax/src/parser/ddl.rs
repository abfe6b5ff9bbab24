//! CREATE, ALTER and DROP: dispatch, and tables. Indexes are in `index`, modules in `module`.

use super::*;

impl Parser<'_> {
    pub(super) fn create(&mut self) -> ParseResult<StatementKind> {
        let start = self.at;
        self.at += 1;
        match self.kind() {
            _ if self.at_audit() => self.audit(Kw::Create),
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
            TokenKind::Key(Kw::Rule | Kw::Default) => self.create_bindable(start),
            _ if self.word_ahead(0, "TYPE") => self.create_type(),
            _ if self.at_word("COLUMNSTORE") => self.create_index(),
            _ if self.at_word("SPATIAL") => self.create_spatial_index(),
            _ if self.at_word("SEQUENCE") => self.define_sequence(false),
            _ if self.at_word("SYNONYM") => self.create_synonym(),
            _ if self.at_policy() => self.security_policy(false),
            _ if self.at_xml_object(Kw::Create) => self.xml_object(Kw::Create),
            _ if self.at_fulltext() => self.fulltext(Kw::Create),
            _ if self.at_partition_object() => self.partition_object(Kw::Create),
            _ if self.at_governor() => self.governor(Kw::Create),
            TokenKind::Key(Kw::Statistics) => self.create_statistics(),
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
        let mut options = Vec::new();
        if self.eat_kw(Kw::With) {
            options = self.comma_list(Self::any_word)?;
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
            options,
        })))
    }

    /// `CREATE TYPE name AS TABLE (...)` or `FROM base [NULL | NOT NULL]`.
    fn create_type(&mut self) -> ParseResult<StatementKind> {
        let start = self.at - 1;
        self.at += 1;
        let name = self.object_name()?;
        if self.eat_kw(Kw::From) {
            let base = self.type_name()?;
            let nullable = match (self.eat_kw(Kw::Not), self.eat_kw(Kw::Null)) {
                (not, true) => Some(!not),
                (true, false) => return Err(self.unexpected()),
                (false, false) => None,
            };
            let definition = TypeDefinition::Alias { base, nullable };
            let span = self.tokens[start].span.to(self.tokens[self.at - 1].span);
            let options = Vec::new();
            let create = CreateType { name, definition, options, span };
            return Ok(StatementKind::CreateType(Box::new(create)));
        }
        if self.at_word("EXTERNAL") {
            return self.skip_statement("CREATE TYPE EXTERNAL NAME");
        }
        self.expect_kw(Kw::As)?;
        self.expect_kw(Kw::Table)?;
        let definition = TypeDefinition::Table(self.table_definition()?);
        let mut options = Vec::new();
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 1;
            options = self.option_list()?;
        }
        let span = self.tokens[start].span.to(self.tokens[self.at - 1].span);
        Ok(StatementKind::CreateType(Box::new(CreateType { name, definition, options, span })))
    }

    pub(super) fn alter(&mut self) -> ParseResult<StatementKind> {
        let start = self.at;
        self.at += 1;
        match self.kind() {
            _ if self.at_audit() => self.audit(Kw::Alter),
            TokenKind::Key(Kw::Database) => self.alter_database(),
            TokenKind::Key(Kw::Table) => self.alter_table(),
            TokenKind::Key(Kw::Proc | Kw::Procedure) => {
                self.create_procedure(CreateMode::Alter, start)
            }
            TokenKind::Key(Kw::View) => self.create_view(CreateMode::Alter, start),
            TokenKind::Key(Kw::Function) => self.create_function(CreateMode::Alter, start),
            TokenKind::Key(Kw::Trigger) => self.create_trigger(CreateMode::Alter, start),
            _ if self.at_xml_object(Kw::Alter) => self.xml_object(Kw::Alter),
            _ if self.at_fulltext() => self.fulltext(Kw::Alter),
            _ if self.at_word("SERVER") && self.word_ahead(1, "CONFIGURATION") => {
                self.alter_server()
            }
            TokenKind::Key(Kw::Index) => self.alter_index(),
            _ if self.at_word("SEQUENCE") => self.define_sequence(true),
            _ if self.at_policy() => self.security_policy(true),
            _ if self.at_partition_object() => self.partition_object(Kw::Alter),
            _ if self.at_governor() => self.governor(Kw::Alter),
            _ => match self.principal(Kw::Alter)? {
                Some(statement) => Ok(statement),
                None => self.unsupported_object("ALTER"),
            },
        }
    }

    pub(super) fn drop(&mut self) -> ParseResult<StatementKind> {
        if let Some(statement) = self.added_or_dropped(Kw::Drop)? {
            return Ok(statement);
        }
        self.at += 1;
        let kind = match self.kind() {
            _ if self.at_audit() => return self.audit(Kw::Drop),
            TokenKind::Key(Kw::Database) => DropKind::Database,
            TokenKind::Key(Kw::Table) => DropKind::Table,
            TokenKind::Key(Kw::Proc | Kw::Procedure) => DropKind::Procedure,
            TokenKind::Key(Kw::Index) => DropKind::Index,
            TokenKind::Key(Kw::View) => DropKind::View,
            TokenKind::Key(Kw::Function) => DropKind::Function,
            TokenKind::Key(Kw::Trigger) => DropKind::Trigger,
            TokenKind::Key(Kw::Rule) => DropKind::Rule,
            TokenKind::Key(Kw::Default) => DropKind::Default,
            _ if self.word_ahead(0, "TYPE") => DropKind::Type,
            _ if self.at_word("SEQUENCE") => DropKind::Sequence,
            _ if self.at_word("SYNONYM") => DropKind::Synonym,
            _ if self.at_policy() => {
                self.at += 1;
                DropKind::SecurityPolicy
            }
            TokenKind::Key(Kw::Statistics) => return self.drop_statistics(),
            _ if self.at_xml_object(Kw::Drop) => return self.xml_object(Kw::Drop),
            _ if self.at_fulltext() => return self.fulltext(Kw::Drop),
            _ if self.at_partition_object() => return self.partition_object(Kw::Drop),
            _ if self.at_governor() => return self.governor(Kw::Drop),
            _ => {
                return match self.principal(Kw::Drop)? {
                    Some(statement) => Ok(statement),
                    None => self.unsupported_object("DROP"),
                };
            }
        };
        self.at += 1;
        if kind == DropKind::Database {
            for (word, next) in [("ENCRYPTION", "KEY"), ("SCOPED", "CREDENTIAL")] {
                if self.at_word(word) && self.word_ahead(1, next) {
                    return self.skip_statement(&format!("DROP DATABASE {word} {next}"));
                }
            }
        }
        let if_exists = self.if_exists()?;
        let names = self.comma_list(|parser| {
            // An index of the old form stands behind all three parts of its table.
            let name = match kind {
                DropKind::Index => parser.object_name()?,
                _ => parser.defined_name()?,
            };
            if kind == DropKind::Index && parser.eat_kw(Kw::On) {
                let table = parser.defined_name()?;
                if parser.at_kw(Kw::With)
                    && parser.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen)
                {
                    // ONLINE, MAXDOP and MOVE TO change nothing here.
                    parser.at += 1;
                    parser.skip_parens()?;
                }
                return Ok(ObjectName {
                    server: table.database,
                    database: table.schema,
                    schema: Some(table.name),
                    span: name.span.to(table.span),
                    name: name.name,
                });
            }
            if kind == DropKind::Index && name.schema.is_none() {
                let text =
                    "Must specify the table name and index name for the DROP INDEX statement.";
                return Err(parser.mistake(159, text));
            }
            Ok(name)
        })?;
        if kind == DropKind::Trigger && self.eat_kw(Kw::On) {
            let kind = match self.trigger_scope()? {
                TriggerScope::Database => DropKind::DatabaseTrigger,
                TriggerScope::Server => DropKind::ServerTrigger,
            };
            names.iter().try_for_each(|name| self.bare_trigger(name).map(drop))?;
            return Ok(StatementKind::Drop(DropObjects { kind, if_exists, names }));
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
        let name = self.defined_name()?;
        let filetable = self.refused_table_tail()?;
        let definition = match filetable && !self.at_sym(Sym::LeftParen) {
            true => TableDefinition::default(),
            false => self.table_definition()?,
        };
        let mut table =
            CreateTable { name, definition, filegroup: None, textimage: None, options: Vec::new() };
        loop {
            if self.eat_kw(Kw::On) {
                table.filegroup = Some(self.data_space()?);
            } else if self.eat_word("TEXTIMAGE_ON") {
                table.textimage = Some(self.lenient_ident()?);
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
            TokenKind::Word
                if self.at_word("CONNECTION")
                    && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) =>
            {
                let constraint = self.table_constraint()?;
                definition.constraints.push(constraint);
            }
            TokenKind::Key(Kw::Index) => {
                let index = self.inline_index(None)?;
                definition.indexes.push(index);
            }
            _ if self.at_period() => {
                let period = self.period()?;
                definition.periods.push(period);
            }
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
            sparse: false,
            column_set: false,
            hidden: false,
            not_for_replication: false,
            generated: None,
            mask: None,
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
                xml: None,
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
            if column.computed.is_none() && self.eat_word("SPARSE") {
                column.sparse = true;
                return Ok(true);
            }
            if self.at_word("COLUMN_SET") && column.computed.is_none() {
                // Only of type xml.
                if !column.ty.as_ref().is_some_and(|ty| ty.name.eq_ignore_ascii_case("xml")) {
                    return Err(self.unexpected());
                }
                self.at += 1;
                self.expect_kw(Kw::For)?;
                self.expect_word("ALL_SPARSE_COLUMNS")?;
                column.column_set = true;
                return Ok(true);
            }
            if self.at_word("MASKED") && column.computed.is_none() {
                column.mask = Some(self.mask()?);
                return Ok(true);
            }
            return Ok(self.temporal_attribute(column)? || self.refused_column_attribute()?);
        };
        match kw {
            Kw::Null => {
                self.at += 1;
                column.nullable = Some(true);
            }
            Kw::Not => {
                self.at += 1;
                // Said of an identity.
                if column.identity.is_some() && self.eat_kw(Kw::For) {
                    self.expect_kw(Kw::Replication)?;
                    column.not_for_replication = true;
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
            let with_values =
                self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Key(Kw::Values);
            if with_values {
                self.at += 2;
            }
            column.default = Some(DefaultDefinition { name, expr, with_values });
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
            let expr = Box::new(Expr::new(kind, self.token().span));
            let kind = ExprKind::IsNull { negated: false, expr };
            let condition = Expr::new(kind, self.token().span);
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
                let table = self.defined_name()?;
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
                if self.at_kw(Kw::Not) && self.word_ahead(1, "ENFORCED") {
                    self.note_unsupported("NOT ENFORCED");
                    self.at += 2;
                }
                Ok(ConstraintKind::ForeignKey { columns, table, referenced, on_delete, on_update })
            }
            _ => Err(self.unexpected()),
        }
    }

    fn alter_table(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let name = self.defined_name()?;
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
                    let action = self.table_index_rebuild()?;
                    return Ok(StatementKind::AlterTable(Box::new(AlterTable { name, action })));
                }
                self.expect_kw(Kw::Column)?;
                let column = self.ident()?;
                if self.at_kw(Kw::Add) || self.at_kw(Kw::Drop) {
                    let action = self.column_mark(column)?;
                    self.online_option()?;
                    return Ok(StatementKind::AlterTable(Box::new(AlterTable { name, action })));
                }
                let ty = self.type_name()?;
                let (mut collation, mut nullable, mut generated) = (None, None, false);
                let mut mask = None;
                loop {
                    if self.eat_kw(Kw::Collate) {
                        collation = Some(self.ident()?);
                    } else if self.eat_kw(Kw::Null) {
                        nullable = Some(true);
                    } else if self.eat_kw(Kw::Not) {
                        self.expect_kw(Kw::Null)?;
                        nullable = Some(false);
                    } else if self.at_word("GENERATED") && self.word_ahead(3, "ROW") {
                        self.at += 4;
                        if !self.eat_word("START") {
                            self.expect_kw(Kw::End)?;
                        }
                        generated = true;
                    } else if self.at_word("MASKED") {
                        mask = Some(self.mask()?);
                    } else if !self.eat_word("SPARSE")
                        && !self.eat_word("HIDDEN")
                        && !self.refused_column_attribute()?
                    {
                        break;
                    }
                }
                self.online_option()?;
                let name = column;
                AlterTableAction::AlterColumn { name, ty, collation, nullable, generated, mask }
            }
            TokenKind::Key(Kw::Drop) => {
                self.at += 1;
                if self.at_period() {
                    self.at += 2;
                    self.expect_word("SYSTEM_TIME")?;
                    let action = AlterTableAction::DropPeriod;
                    return Ok(StatementKind::AlterTable(Box::new(AlterTable { name, action })));
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
                    of_alter_table: true,
                })));
            }
            _ if (self.at_word("ENABLE") || self.at_word("DISABLE"))
                && self.word_ahead(1, "CHANGE_TRACKING") =>
            {
                self.table_tracking()?
            }
            _ if self.at_word("SWITCH") => return self.switch(name),
            _ if self.at_word("REBUILD") => {
                self.at += 1;
                let partition = self.one_partition()?;
                let options = match self.eat_kw(Kw::With) {
                    true => self.option_list()?,
                    false => Vec::new(),
                };
                AlterTableAction::Rebuild(partition, options)
            }
            TokenKind::Key(_) | TokenKind::Word => {
                let mut what = format!("ALTER TABLE {}", self.any_word()?);
                if self.at_word("FILETABLE_NAMESPACE") {
                    what += " FILETABLE_NAMESPACE";
                }
                return self.skip_statement(&what);
            }
            _ => return Err(self.unexpected()),
        };
        Ok(StatementKind::AlterTable(Box::new(AlterTable { name, action })))
    }

    /// `WITH (ONLINE = ON)`: alterations hold their lock.
    fn online_option(&mut self) -> ParseResult<()> {
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 1;
            self.option_list()?;
        }
        Ok(())
    }

    /// `COLUMN a, b, CONSTRAINT c, INDEX d`: the kind holds until another is named; none means constraint.
    fn alter_table_drops(&mut self) -> ParseResult<Vec<AlterTableDrop>> {
        let mut kind = TablePart::Constraint;
        let mut if_exists = false;
        self.comma_list(|parser| {
            if parser.eat_kw(Kw::Column) {
                kind = TablePart::Column;
                if_exists = parser.if_exists()?;
            } else if parser.eat_kw(Kw::Constraint) {
                kind = TablePart::Constraint;
                if_exists = parser.if_exists()?;
            } else if parser.eat_kw(Kw::Index) {
                kind = TablePart::Index;
                if_exists = parser.if_exists()?;
            } else if parser.at_kw(Kw::If) {
                if_exists = parser.if_exists()?;
            }
            let name = parser.ident()?;
            if parser.at_kw(Kw::With) && parser.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
                parser.at += 1;
                parser.skip_parens()?;
            }
            Ok(AlterTableDrop { kind, if_exists, name })
        })
    }
}
