//! Indexes: CREATE and ALTER INDEX, and those written with a table.

use super::*;

impl Parser<'_> {
    pub(super) fn clustered(&mut self) -> Option<bool> {
        if self.eat_kw(Kw::Clustered) {
            Some(true)
        } else if self.eat_kw(Kw::Nonclustered) {
            Some(false)
        } else {
            None
        }
    }

    pub(super) fn index_columns(&mut self) -> ParseResult<Vec<IndexColumn>> {
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
    pub(super) fn index_tail(&mut self) -> ParseResult<(Vec<DatabaseOption>, Option<DataSpace>)> {
        let (mut options, mut filegroup) = (Vec::new(), None);
        loop {
            if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
                self.at += 1;
                options = self.option_list()?;
            } else if self.at_kw(Kw::With) && self.at_old_option(1) {
                self.at += 1;
                options.push(self.old_option()?);
                self.old_options(&mut options)?;
            } else if self.eat_word("FILESTREAM_ON") {
                self.note_unsupported("FILESTREAM_ON");
                self.lenient_ident()?;
            } else if self.at_kw(Kw::On)
                && !matches!(self.kind_ahead(1), TokenKind::Key(Kw::Delete | Kw::Update))
            {
                self.at += 1;
                filegroup = Some(self.data_space()?);
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

    /// One of them; `PAD_INDEX ON g` is the option and a filegroup.
    fn old_option(&mut self) -> ParseResult<DatabaseOption> {
        if self.kind_ahead(1) != TokenKind::Key(Kw::On) {
            return self.database_option();
        }
        let start = self.at;
        let name = self.any_word()?;
        Ok(DatabaseOption { name, value: OptionValue::None, span: self.span_from(start) })
    }

    /// More of them after a comma.
    fn old_options(&mut self, options: &mut Vec<DatabaseOption>) -> ParseResult<()> {
        while self.at_sym(Sym::Comma) && self.at_old_option(1) {
            self.at += 1;
            options.push(self.old_option()?);
        }
        Ok(())
    }

    /// `INDEX i [UNIQUE] [CLUSTERED] [(columns)] ...` inside CREATE TABLE.
    pub(super) fn inline_index(&mut self, column: Option<Ident>) -> ParseResult<IndexDefinition> {
        let start = self.at;
        self.expect_kw(Kw::Index)?;
        let name = self.ident()?;
        let unique = self.eat_kw(Kw::Unique);
        let clustered = self.clustered();
        if self.at_word("COLUMNSTORE") {
            self.at_columnstore(unique)?;
            return self.columnstore(start, name, clustered == Some(true));
        }
        let hash = self.eat_word("HASH");
        let mut columns = Vec::new();
        if self.at_sym(Sym::LeftParen) {
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
            columnstore: false,
            spatial: None,
            xml: None,
            columns,
            order: Vec::new(),
            include,
            filter,
            options,
            filegroup,
            span: self.span_from(start),
        })
    }

    /// The word COLUMNSTORE stands here: 35301.
    fn at_columnstore(&mut self, unique: bool) -> ParseResult<()> {
        if unique {
            return Err(self.mistake(
                35301,
                "The statement failed because a columnstore index cannot be unique. Create the columnstore index \
                 without the UNIQUE keyword or create a unique index without the COLUMNSTORE keyword.",
            ));
        }
        self.at += 1;
        Ok(())
    }

    /// `[(columns)] [ORDER (columns)] [WHERE ...] ...`, after a columnstore index's name and table: 35302, 35311, 35335,
    /// 35336, 35342.
    fn columnstore(
        &mut self,
        start: usize,
        name: Ident,
        clustered: bool,
    ) -> ParseResult<IndexDefinition> {
        let mut columns = Vec::new();
        match (clustered, self.at_sym(Sym::LeftParen)) {
            (true, true) => {
                return Err(self.mistake(
                    35335,
                    "The statement failed because specifying a key list is not allowed when creating a clustered \
                     columnstore index. Create the clustered columnstore index without specifying a key list.",
                ));
            }
            (false, true) => {
                self.at += 1;
                columns = self.comma_list(|parser| {
                    let name = parser.ident()?;
                    if parser.at_kw(Kw::Asc) || parser.at_kw(Kw::Desc) {
                        return Err(parser.mistake(
                            35302,
                            "The statement failed because specifying sort order (ASC or DESC) is not allowed when \
                             creating a columnstore index. Create the columnstore index without specifying a sort \
                             order.",
                        ));
                    }
                    Ok(IndexColumn { name, descending: false })
                })?;
                self.expect_sym(Sym::RightParen)?;
            }
            (false, false) => {
                return Err(self.mistake(
                    35336,
                    "The statement failed because specifying key list is missing when creating an index. Create the \
                     index with specifying key list .",
                ));
            }
            (true, false) => {}
        }
        if self.at_word("INCLUDE") {
            return Err(self.mistake(
                35311,
                "The statement failed because a columnstore index cannot have included columns.   Create the \
                 columnstore index on the desired columns without specifying any included columns.",
            ));
        }
        let mut order = Vec::new();
        if self.at_kw(Kw::Order) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            if !clustered {
                return Err(self.mistake(
                    35342,
                    "The statement failed because specifying ORDER is not a valid option for non-clustered columnstore \
                     index creation. Consider creating an non-clustered columnstore index without specifying ORDER, or \
                     create a clustered columnstore index.",
                ));
            }
            self.at += 1;
            order = self.ident_list()?;
        }
        let clustered = Some(clustered);
        let mut index = self.index_rest(start, name, false, clustered, false, columns)?;
        (index.columnstore, index.order) = (true, order);
        Ok(index)
    }

    pub(super) fn create_index(&mut self) -> ParseResult<StatementKind> {
        let start = self.at - 1;
        let unique = self.eat_kw(Kw::Unique);
        let clustered = self.clustered();
        let columnstore = self.at_word("COLUMNSTORE");
        if columnstore {
            self.at_columnstore(unique)?;
        }
        self.expect_kw(Kw::Index)?;
        let name = self.ident()?;
        self.expect_kw(Kw::On)?;
        let table = self.defined_name()?;
        if columnstore {
            let index = self.columnstore(start, name, clustered == Some(true))?;
            return Ok(StatementKind::CreateIndex(Box::new(CreateIndex { table, index })));
        }
        let columns = self.index_columns()?;
        let index = self.index_rest(start, name, unique, clustered, false, columns)?;
        Ok(StatementKind::CreateIndex(Box::new(CreateIndex { table, index })))
    }

    /// `ALTER INDEX name | ALL ON table REBUILD | REORGANIZE | DISABLE | SET (...) | RESUME | PAUSE | ABORT`
    pub(super) fn alter_index(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let index = if self.eat_kw(Kw::All) { None } else { Some(self.ident()?) };
        self.expect_kw(Kw::On)?;
        let table = self.defined_name()?;
        let mut partition = None;
        let action = if self.eat_word("REBUILD") {
            partition = self.one_partition()?;
            let options = if self.eat_kw(Kw::With) { self.option_list()? } else { Vec::new() };
            AlterIndexAction::Rebuild(options)
        } else if self.eat_word("REORGANIZE") {
            partition = self.one_partition()?;
            let options = if self.eat_kw(Kw::With) { self.option_list()? } else { Vec::new() };
            AlterIndexAction::Reorganize(options)
        } else if self.eat_word("DISABLE") {
            AlterIndexAction::Disable
        } else if self.eat_kw(Kw::Set) {
            AlterIndexAction::Set(self.option_list()?)
        } else if self.eat_word("RESUME") {
            if self.eat_kw(Kw::With) {
                self.option_list()?;
            }
            AlterIndexAction::Resumable("RESUME")
        } else if self.eat_word("PAUSE") {
            AlterIndexAction::Resumable("PAUSE")
        } else if self.eat_word("ABORT") {
            AlterIndexAction::Resumable("ABORT")
        } else {
            // `[WITH XMLNAMESPACES (...)] FOR (ADD path = '...', REMOVE path)`
            let paths = self.at_kw(Kw::For)
                || (self.at_kw(Kw::With) && self.word_ahead(1, "XMLNAMESPACES"));
            return match paths {
                true => self.skip_statement("ALTER INDEX of a selective XML index"),
                false => Err(self.unexpected()),
            };
        };
        Ok(StatementKind::AlterIndex(Box::new(AlterIndex { index, table, action, partition })))
    }
}
