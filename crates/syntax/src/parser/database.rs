//! CREATE and ALTER DATABASE, DBCC, and the option lists that they share with tables.

use super::*;

impl Parser<'_> {
    pub(super) fn create_database(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        for (word, next) in [("ENCRYPTION", "KEY"), ("SCOPED", "CREDENTIAL")] {
            if self.at_word(word) && self.word_ahead(1, next) {
                return self.skip_statement(&format!("CREATE DATABASE {word} {next}"));
            }
        }
        let mut database = CreateDatabase {
            name: self.ident()?,
            filegroups: Vec::new(),
            log_files: Vec::new(),
            collation: None,
            options: Vec::new(),
        };
        if self.at_word("CONTAINMENT") {
            database.options.push(self.database_option()?);
        }
        loop {
            match self.kind() {
                TokenKind::Key(Kw::On) => {
                    self.at += 1;
                    database.filegroups = self.filegroup_specs()?;
                }
                TokenKind::Key(Kw::Collate) => {
                    self.at += 1;
                    database.collation = Some(self.ident()?);
                }
                TokenKind::Key(Kw::With) => {
                    self.at += 1;
                    let options = self.comma_list(Self::database_option)?;
                    database.options.extend(options);
                }
                TokenKind::Key(Kw::For) if self.word_ahead(1, "ATTACH") => {
                    self.at += 2;
                    let name = "ATTACH".to_string();
                    let (value, span) = (OptionValue::None, self.token().span);
                    database.options.push(DatabaseOption { name, value, span });
                }
                TokenKind::Key(Kw::For) if self.word_ahead(1, "ATTACH_REBUILD_LOG") => {
                    self.at += 2;
                    let name = "ATTACH_REBUILD_LOG".to_string();
                    let (value, span) = (OptionValue::None, self.token().span);
                    database.options.push(DatabaseOption { name, value, span });
                }
                TokenKind::Key(Kw::For) => {
                    return self.skip_statement("CREATE DATABASE FOR ATTACH_FORCE_REBUILD_LOG");
                }
                _ if self.at_word("LOG") => {
                    self.at += 1;
                    self.expect_kw(Kw::On)?;
                    database.log_files = self.comma_list(Self::file_spec)?;
                }
                _ if self.at_kw(Kw::As) => {
                    return self.skip_statement("CREATE DATABASE AS SNAPSHOT");
                }
                _ => return Ok(StatementKind::CreateDatabase(Box::new(database))),
            }
        }
    }

    /// `[PRIMARY] (file), (file), FILEGROUP g [CONTAINS ..] [DEFAULT] (file), ...`
    fn filegroup_specs(&mut self) -> ParseResult<Vec<FilegroupSpec>> {
        let primary = |default| FilegroupSpec {
            name: None,
            memory_optimized: false,
            default,
            files: Vec::new(),
        };
        let mut groups = Vec::new();
        self.eat_kw(Kw::Primary);
        if self.at_sym(Sym::LeftParen) {
            groups.push(primary(false));
        }
        loop {
            if self.eat_word("FILEGROUP") {
                let mut group = primary(false);
                group.name = Some(self.ident()?);
                loop {
                    if self.eat_kw(Kw::Contains) {
                        group.memory_optimized = self.eat_word("MEMORY_OPTIMIZED_DATA");
                        if !group.memory_optimized {
                            self.expect_word("FILESTREAM")?;
                            self.note_unsupported("FILESTREAM");
                        }
                    } else if self.eat_kw(Kw::Default) {
                        group.default = true;
                    } else {
                        break;
                    }
                }
                groups.push(group);
            }
            let file = self.file_spec()?;
            if groups.is_empty() {
                groups.push(primary(false));
            }
            if let Some(group) = groups.last_mut() {
                group.files.push(file);
            }
            if !self.eat_sym(Sym::Comma) {
                return Ok(groups);
            }
        }
    }

    /// `(NAME = n, FILENAME = 'path', SIZE = 8MB, ...)`
    fn file_spec(&mut self) -> ParseResult<FileSpec> {
        let start = self.at;
        self.expect_sym(Sym::LeftParen)?;
        let mut spec = FileSpec::default();
        loop {
            let property = if self.at_word("OFFLINE") { String::new() } else { self.any_word()? };
            if !matches!(
                property.as_str(),
                "NAME" | "NEWNAME" | "FILENAME" | "SIZE" | "MAXSIZE" | "FILEGROWTH"
            ) {
                self.at -= usize::from(!property.is_empty());
                return Err(self.unexpected());
            }
            self.expect_sym(Sym::Eq)?;
            match property.as_str() {
                "NAME" => spec.name = Some(self.lenient_ident()?.value),
                "NEWNAME" => spec.new_name = Some(self.lenient_ident()?.value),
                "FILENAME" => spec.filename = Some(self.string()?),
                "SIZE" => spec.size_bytes = Some(self.size()?),
                "MAXSIZE" => {
                    spec.max_size = Some(if self.eat_word("UNLIMITED") {
                        MaxSize::Unlimited
                    } else {
                        MaxSize::Bytes(self.size()?)
                    });
                }
                _ => {
                    let here = self.at;
                    let number = self.number()?;
                    spec.growth = Some(if self.eat_sym(Sym::Percent) {
                        FileGrowth::Percent(u32::try_from(number).unwrap_or(u32::MAX))
                    } else {
                        self.at = here;
                        FileGrowth::Bytes(self.size()?)
                    });
                }
            }
            if !self.eat_sym(Sym::Comma) {
                break;
            }
        }
        self.expect_sym(Sym::RightParen)?;
        spec.span = self.span_from(start);
        Ok(spec)
    }

    /// `10`, `10MB`, `10 GB`: megabytes when no unit is given.
    fn size(&mut self) -> ParseResult<u64> {
        let number = self.number()?;
        let shift = if self.eat_word("KB") {
            10
        } else if self.eat_word("GB") {
            30
        } else if self.eat_word("TB") {
            40
        } else {
            self.eat_word("MB");
            20
        };
        number.checked_mul(1 << shift).ok_or_else(|| self.unexpected())
    }

    pub(super) fn alter_database(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let encryption =
            self.at_word("ENCRYPTION") && self.kind_ahead(1) == TokenKind::Key(Kw::Key);
        if self.at_word("SCOPED")
            && (self.word_ahead(1, "CONFIGURATION") || self.word_ahead(1, "CREDENTIAL"))
        {
            return self.scoped_configuration();
        }
        if encryption {
            return self.skip_statement("ALTER DATABASE ENCRYPTION KEY");
        }
        let name = if self.eat_kw(Kw::Current) { None } else { Some(self.ident()?) };
        let mut termination = None;
        let action = match self.kind() {
            TokenKind::Key(Kw::Set) => {
                self.at += 1;
                if self.at_word("CHANGE_TRACKING") {
                    let action = self.change_tracking()?;
                    let termination = self.termination()?;
                    let alter = AlterDatabase { name, action, termination };
                    return Ok(StatementKind::AlterDatabase(Box::new(alter)));
                }
                let options = self.comma_list(Self::database_option)?;
                if options.iter().any(|option| option.name == "CHANGE_TRACKING") {
                    return Err(self.tracking_combined());
                }
                termination = self.termination()?;
                AlterDatabaseAction::Set(options)
            }
            TokenKind::Key(Kw::Add) => {
                self.at += 1;
                self.database_addition()?
            }
            TokenKind::Key(Kw::Collate) => {
                self.at += 1;
                AlterDatabaseAction::Collate(self.ident()?)
            }
            _ if self.eat_word("REMOVE") => {
                if self.eat_kw(Kw::File) {
                    AlterDatabaseAction::RemoveFile(self.lenient_ident()?)
                } else {
                    self.expect_word("FILEGROUP")?;
                    AlterDatabaseAction::RemoveFilegroup(self.ident()?)
                }
            }
            _ if self.eat_word("MODIFY") => self.database_modification()?,
            _ => return Err(self.unexpected()),
        };
        Ok(StatementKind::AlterDatabase(Box::new(AlterDatabase { name, action, termination })))
    }

    fn database_addition(&mut self) -> ParseResult<AlterDatabaseAction> {
        if self.eat_word("FILEGROUP") {
            let name = self.ident()?;
            let mut memory_optimized = false;
            if self.eat_kw(Kw::Contains) {
                memory_optimized = self.eat_word("MEMORY_OPTIMIZED_DATA");
                if !memory_optimized {
                    self.expect_word("FILESTREAM")?;
                    self.note_unsupported("FILESTREAM");
                }
            }
            return Ok(AlterDatabaseAction::AddFilegroup { name, memory_optimized });
        }
        if self.eat_word("LOG") {
            self.expect_kw(Kw::File)?;
            return Ok(AlterDatabaseAction::AddLogFile(self.comma_list(Self::file_spec)?));
        }
        self.expect_kw(Kw::File)?;
        let files = self.comma_list(Self::file_spec)?;
        let mut filegroup = None;
        if self.eat_kw(Kw::To) {
            self.expect_word("FILEGROUP")?;
            filegroup = Some(self.lenient_ident()?);
        }
        Ok(AlterDatabaseAction::AddFile { files, filegroup })
    }

    fn database_modification(&mut self) -> ParseResult<AlterDatabaseAction> {
        if self.eat_word("NAME") {
            self.expect_sym(Sym::Eq)?;
            return Ok(AlterDatabaseAction::Rename(self.lenient_ident()?));
        }
        if self.eat_kw(Kw::File) {
            return Ok(AlterDatabaseAction::ModifyFile(self.file_spec()?));
        }
        self.expect_word("FILEGROUP")?;
        let name = self.lenient_ident()?;
        let action = self.any_word()?;
        let mut new_name = None;
        if self.eat_sym(Sym::Eq) {
            new_name = Some(self.lenient_ident()?);
        }
        self.termination()?;
        Ok(AlterDatabaseAction::ModifyFilegroup { name, action, new_name })
    }

    /// `WITH ROLLBACK IMMEDIATE | ROLLBACK AFTER n [SECONDS] | NO_WAIT`
    fn termination(&mut self) -> ParseResult<Option<Termination>> {
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Key(Kw::Rollback) {
            self.at += 2;
            if self.eat_word("AFTER") {
                let seconds = self.number()?;
                self.eat_word("SECONDS");
                return Ok(Some(Termination::RollbackAfter(seconds)));
            }
            self.expect_word("IMMEDIATE")?;
            return Ok(Some(Termination::RollbackAfter(0)));
        }
        if self.at_kw(Kw::With) && self.word_ahead(1, "NO_WAIT") {
            self.at += 2;
            return Ok(Some(Termination::NoWait));
        }
        Ok(None)
    }

    /// `(OPTION = value, ...)`
    pub(super) fn option_list(&mut self) -> ParseResult<Vec<DatabaseOption>> {
        self.nested(2, |parser| {
            parser.expect_sym(Sym::LeftParen)?;
            let options = parser.comma_list(Self::database_option)?;
            parser.expect_sym(Sym::RightParen)?;
            Ok(options)
        })
    }

    /// `NAME`, `NAME = value`, `NAME value`, `NAME = ON (...)`.
    pub(super) fn database_option(&mut self) -> ParseResult<DatabaseOption> {
        let start = self.at;
        let name = self.any_word()?;
        if matches!(name.as_str(), "CLUSTERED" | "PARTITION" | "DISTRIBUTION" | "HEAP")
            && self.azure_option()?
        {
            return Ok(DatabaseOption {
                name,
                value: OptionValue::None,
                span: self.span_from(start),
            });
        }
        let equals = self.eat_sym(Sym::Eq);
        if equals && let Some(value) = self.history_option(&name)? {
            return Ok(DatabaseOption { name, value, span: self.span_from(start) });
        }
        let value = match self.kind() {
            TokenKind::Key(Kw::On) => {
                self.at += 1;
                if self.at_sym(Sym::LeftParen) {
                    OptionValue::List(self.option_list()?)
                } else {
                    OptionValue::On
                }
            }
            TokenKind::Key(Kw::Off) => {
                self.at += 1;
                OptionValue::Off
            }
            TokenKind::Symbol(Sym::LeftParen) => OptionValue::List(self.option_list()?),
            TokenKind::Word if name == "PARTNER" || name == "WITNESS" || name == "HADR" => {
                self.note_unsupported(&format!("ALTER DATABASE SET {name}"));
                self.at += 1;
                match self.kind() {
                    TokenKind::Key(Kw::Off | Kw::Full) | TokenKind::Integer => self.at += 1,
                    TokenKind::Key(Kw::Group) => {
                        self.at += 1;
                        self.expect_sym(Sym::Eq)?;
                        self.lenient_ident()?;
                    }
                    _ => {}
                }
                OptionValue::None
            }
            TokenKind::Word if name == "QUERY_STORE" && self.at_word("CLEAR") => {
                self.at += 1;
                self.eat_kw(Kw::All);
                OptionValue::Word("CLEAR".into())
            }
            TokenKind::Word => {
                let mut word = self.any_word()?;
                // `COMPRESSION_DELAY = 10 MINUTES`, `CURSOR_DEFAULT GLOBAL`, `ALLOW_... = x y`.
                while self.kind() == TokenKind::Word && equals {
                    word = format!("{word} {}", self.any_word()?);
                }
                // LEDGER_VIEW = dbo.t
                while equals && self.eat_sym(Sym::Dot) {
                    word = format!("{word}.{}", self.lenient_ident()?.value);
                }
                OptionValue::Word(word)
            }
            TokenKind::Key(Kw::Full) => {
                self.at += 1;
                OptionValue::Word("FULL".into())
            }
            _ if equals && self.at_name() => {
                let name = self.object_name()?;
                OptionValue::Word(name.span.text(self.text).to_string())
            }
            _ if equals && matches!(self.kind(), TokenKind::Key(_)) => {
                OptionValue::Word(self.any_word()?)
            }
            _ if equals || matches!(self.kind(), TokenKind::Integer) => {
                let negative = self.eat_sym(Sym::Minus);
                let mut literal = self.literal()?;
                if negative && let Literal::Int(number) = &mut literal {
                    *number = -*number;
                }
                if name == "TARGET_RECOVERY_TIME"
                    && self.eat_word("MINUTES")
                    && let Literal::Int(minutes) = &mut literal
                {
                    *minutes = minutes.saturating_mul(60);
                }
                for unit in ["SECONDS", "MINUTES", "HOURS", "DAYS", "MINUTE", "KB", "MB", "GB"] {
                    if self.eat_word(unit) {
                        break;
                    }
                }
                OptionValue::Literal(literal)
            }
            _ => OptionValue::None,
        };
        if equals && self.at_sym(Sym::LeftParen) {
            // LEDGER_VIEW = v (...), REMOTE_DATA_ARCHIVE = OFF (...)
            self.note_unsupported(&format!("option {name} with options of its own"));
            self.skip_parens()?;
        }
        if self.at_kw(Kw::On) && self.word_ahead(1, "PARTITIONS") {
            // DATA_COMPRESSION = PAGE ON PARTITIONS (1, 3 TO 5): what is said of single partitions is not kept.
            self.at += 2;
            self.expect_sym(Sym::LeftParen)?;
            self.comma_list(Self::partition_span)?;
            self.expect_sym(Sym::RightParen)?;
            if matches!(&value, OptionValue::Word(word) if matches!(word.as_str(), "NONE" | "ROW" | "PAGE"))
            {
                return Ok(DatabaseOption {
                    name,
                    value: OptionValue::None,
                    span: self.span_from(start),
                });
            }
        }
        Ok(DatabaseOption { name, value, span: self.span_from(start) })
    }

    /// `CLUSTERED [COLUMNSTORE] INDEX (...)`, `PARTITION (c RANGE ...)`, `DISTRIBUTION = HASH (c)`, `HEAP` of Azure Synapse,
    /// the first word having been taken; false where it is no such option (`PARTITION = 1`).
    fn azure_option(&mut self) -> ParseResult<bool> {
        if self.at_sym(Sym::Eq)
            && !self.word_ahead(1, "HASH")
            && !self.word_ahead(1, "ROUND_ROBIN")
            && !self.word_ahead(1, "REPLICATE")
        {
            return Ok(false);
        }
        self.note_unsupported("options of Azure Synapse");
        self.eat_sym(Sym::Eq);
        while matches!(self.kind(), TokenKind::Word | TokenKind::Key(_)) {
            self.at += 1;
        }
        if self.at_sym(Sym::LeftParen) {
            self.skip_parens()?;
        }
        while matches!(self.kind(), TokenKind::Word | TokenKind::Key(_)) {
            self.at += 1;
            if self.at_sym(Sym::LeftParen) {
                self.skip_parens()?;
            }
        }
        Ok(true)
    }

    pub(super) fn dbcc(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let mut dbcc = Dbcc { name: self.any_word()?, args: Vec::new(), options: Vec::new() };
        if self.eat_sym(Sym::LeftParen) {
            if !self.at_sym(Sym::RightParen) {
                dbcc.args = self.comma_list(Self::dbcc_arg)?;
            }
            self.expect_sym(Sym::RightParen)?;
        }
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Word {
            self.at += 1;
            dbcc.options = self.comma_list(|parser| {
                let option = parser.any_word()?;
                if parser.eat_sym(Sym::Eq) {
                    parser.advance();
                }
                Ok(option)
            })?;
        }
        Ok(StatementKind::Dbcc(dbcc))
    }

    fn dbcc_arg(&mut self) -> ParseResult<DbccArg> {
        let token = self.token();
        Ok(match token.kind {
            // Double quotes hold a text here, whatever QUOTED_IDENTIFIER says.
            TokenKind::String
            | TokenKind::NationalString
            | TokenKind::DoubleQuoted
            | TokenKind::Bracketed => {
                self.at += 1;
                DbccArg::Text(self.token_value(token))
            }
            // A handle, as it is written.
            TokenKind::Binary => {
                self.at += 1;
                DbccArg::Text(self.token_text(token).to_owned())
            }
            TokenKind::Variable => DbccArg::Variable(self.variable()?),
            TokenKind::SystemVariable => DbccArg::System(self.value()?),
            TokenKind::Symbol(Sym::Minus) | TokenKind::Integer => {
                let digits = self.signed_digits()?;
                DbccArg::Number(digits.parse().map_err(|_| self.near(102, token))?)
            }
            TokenKind::Word => {
                let mut name = self.any_word()?;
                // `dbo.t`: a name without quotes.
                let dotted = self.at_sym(Sym::Dot);
                while self.eat_sym(Sym::Dot) {
                    name.push('.');
                    name.push_str(&self.take_ident().value);
                }
                if dotted { DbccArg::Text(name) } else { DbccArg::Word(name) }
            }
            _ if matches!(token.kind, TokenKind::Key(_)) => DbccArg::Word(self.any_word()?),
            _ => return Err(self.unexpected()),
        })
    }
}
