//! Full-text catalogs and indexes.

use super::*;

impl Parser<'_> {
    /// FULLTEXT CATALOG or FULLTEXT INDEX stands here; stoplists and property lists are not kept.
    pub(super) fn at_fulltext(&self) -> bool {
        self.at_word("FULLTEXT")
            && (self.word_ahead(1, "CATALOG") || self.kind_ahead(1) == TokenKind::Key(Kw::Index))
    }

    /// What stands there, behind `verb`.
    #[cold]
    pub(super) fn fulltext(&mut self, verb: Kw) -> ParseResult<StatementKind> {
        self.at += 1;
        let catalog = self.eat_word("CATALOG");
        if !catalog {
            self.expect_kw(Kw::Index)?;
            self.expect_kw(Kw::On)?;
        }
        let statement = match (catalog, verb) {
            (true, Kw::Drop) => FulltextStatement::DropCatalog { name: self.ident()? },
            (true, Kw::Alter) => self.alter_fulltext_catalog()?,
            (true, _) => self.create_fulltext_catalog()?,
            (false, Kw::Drop) => FulltextStatement::DropIndex { table: self.object_name()? },
            (false, Kw::Alter) => self.alter_fulltext_index()?,
            (false, _) => self.create_fulltext_index()?,
        };
        Ok(StatementKind::Rare(Box::new(RareStatement::Fulltext(statement))))
    }

    /// `ACCENT_SENSITIVITY = ON | OFF`
    fn accents(&mut self) -> ParseResult<bool> {
        self.expect_word("ACCENT_SENSITIVITY")?;
        self.expect_sym(Sym::Eq)?;
        match self.any_word()?.as_str() {
            "ON" => Ok(true),
            "OFF" => Ok(false),
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    /// Where files of a catalog were to lie says nothing since SQL Server 2008.
    fn create_fulltext_catalog(&mut self) -> ParseResult<FulltextStatement> {
        let name = self.ident()?;
        let (mut accents, mut is_default, mut owner) = (None, false, None);
        loop {
            if self.at_kw(Kw::On) && self.word_ahead(1, "FILEGROUP") {
                self.at += 2;
                self.lenient_ident()?;
            } else if self.at_kw(Kw::In) && self.word_ahead(1, "PATH") {
                self.at += 2;
                self.string()?;
            } else if self.at_kw(Kw::With) && self.word_ahead(1, "ACCENT_SENSITIVITY") {
                self.at += 1;
                accents = Some(self.accents()?);
            } else if self.at_kw(Kw::As) && self.kind_ahead(1) == TokenKind::Key(Kw::Default) {
                self.at += 2;
                is_default = true;
            } else if self.eat_kw(Kw::Authorization) {
                owner = Some(self.ident()?);
            } else {
                return Ok(FulltextStatement::CreateCatalog { name, accents, is_default, owner });
            }
        }
    }

    fn alter_fulltext_catalog(&mut self) -> ParseResult<FulltextStatement> {
        let name = self.ident()?;
        let change = if self.eat_word("REBUILD") {
            let accents = if self.eat_kw(Kw::With) { Some(self.accents()?) } else { None };
            FulltextCatalogChange::Rebuild(accents)
        } else if self.eat_word("REORGANIZE") {
            FulltextCatalogChange::Reorganize
        } else {
            self.expect_kw(Kw::As)?;
            self.expect_kw(Kw::Default)?;
            FulltextCatalogChange::Default
        };
        Ok(FulltextStatement::AlterCatalog { name, change })
    }

    /// `name [TYPE COLUMN name] [LANGUAGE term] [STATISTICAL_SEMANTICS]`
    fn fulltext_column(&mut self) -> ParseResult<FulltextColumn> {
        let name = self.ident()?;
        let mut column = FulltextColumn { name, type_column: None, language: None };
        if self.at_word("TYPE") && self.kind_ahead(1) == TokenKind::Key(Kw::Column) {
            self.at += 2;
            column.type_column = Some(self.ident()?);
        }
        if self.eat_word("LANGUAGE") {
            column.language = Some(self.language_term()?);
        }
        if self.at_word("STATISTICAL_SEMANTICS") {
            self.note_unsupported("STATISTICAL_SEMANTICS");
            self.at += 1;
        }
        Ok(column)
    }

    /// A name in quotes, or an LCID.
    fn language_term(&mut self) -> ParseResult<String> {
        if self.at_string() {
            return self.string();
        }
        let token = self.advance();
        match token.kind {
            TokenKind::Integer | TokenKind::Binary => Ok(self.token_text(token).to_owned()),
            _ => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    fn create_fulltext_index(&mut self) -> ParseResult<FulltextStatement> {
        let table = self.object_name()?;
        let mut columns = Vec::new();
        if self.eat_sym(Sym::LeftParen) {
            columns = self.comma_list(Self::fulltext_column)?;
            self.expect_sym(Sym::RightParen)?;
        }
        self.expect_kw(Kw::Key)?;
        self.expect_kw(Kw::Index)?;
        let key = self.ident()?;
        let mut catalog = None;
        if self.eat_kw(Kw::On) {
            let parens = self.eat_sym(Sym::LeftParen);
            loop {
                if self.eat_word("FILEGROUP") {
                    self.lenient_ident()?;
                } else {
                    catalog = Some(self.ident()?);
                }
                if !parens || !self.eat_sym(Sym::Comma) {
                    break;
                }
            }
            if parens {
                self.expect_sym(Sym::RightParen)?;
            }
        }
        let mut settings = FulltextSettings::default();
        if self.eat_kw(Kw::With) {
            let parens = self.eat_sym(Sym::LeftParen);
            loop {
                self.fulltext_setting(&mut settings)?;
                if !self.eat_sym(Sym::Comma) {
                    break;
                }
            }
            if parens {
                self.expect_sym(Sym::RightParen)?;
            }
        }
        let index = FulltextIndex { table, columns, key, catalog, settings };
        Ok(FulltextStatement::CreateIndex(index))
    }

    /// `CHANGE_TRACKING [=] MANUAL | AUTO | OFF [, NO POPULATION]`, `STOPLIST [=] OFF | SYSTEM | name`
    fn fulltext_setting(&mut self, settings: &mut FulltextSettings) -> ParseResult<()> {
        if self.eat_word("CHANGE_TRACKING") {
            self.eat_sym(Sym::Eq);
            let word = self.any_word()?;
            if !matches!(word.as_str(), "MANUAL" | "AUTO" | "OFF") {
                self.at -= 1;
                return Err(self.unexpected());
            }
            settings.tracking = Some(word);
        } else if self.eat_word("STOPLIST") {
            self.eat_sym(Sym::Eq);
            let is_word = self.at_word("SYSTEM") || self.at_kw(Kw::Off);
            if !is_word {
                self.note_unsupported("STOPLIST of a user");
            }
            settings.stoplist = Some(self.any_word()?);
        } else if self.at_word("SEARCH") {
            self.note_unsupported("SEARCH PROPERTY LIST");
            self.at += 1;
            self.expect_word("PROPERTY")?;
            self.expect_word("LIST")?;
            self.eat_sym(Sym::Eq);
            self.any_word()?;
        } else {
            self.expect_word("NO")?;
            self.expect_word("POPULATION")?;
        }
        Ok(())
    }

    fn alter_fulltext_index(&mut self) -> ParseResult<FulltextStatement> {
        let table = self.object_name()?;
        let change = if self.eat_word("ENABLE") {
            FulltextIndexChange::Enable(true)
        } else if self.eat_word("DISABLE") {
            FulltextIndexChange::Enable(false)
        } else if self.eat_kw(Kw::Set) {
            let mut settings = FulltextSettings::default();
            self.fulltext_setting(&mut settings)?;
            self.no_population()?;
            FulltextIndexChange::Set(settings)
        } else if self.eat_kw(Kw::Add) {
            self.expect_sym(Sym::LeftParen)?;
            let columns = self.comma_list(Self::fulltext_column)?;
            self.expect_sym(Sym::RightParen)?;
            self.no_population()?;
            FulltextIndexChange::Add(columns)
        } else if self.eat_kw(Kw::Drop) {
            self.expect_sym(Sym::LeftParen)?;
            let columns = self.comma_list(Self::ident)?;
            self.expect_sym(Sym::RightParen)?;
            self.no_population()?;
            FulltextIndexChange::Drop(columns)
        } else {
            let verb = self.any_word()?;
            if !matches!(verb.as_str(), "START" | "STOP" | "PAUSE" | "RESUME") {
                self.at -= 1;
                return Err(self.unexpected());
            }
            if verb == "START" {
                self.any_word()?;
            }
            self.expect_word("POPULATION")?;
            FulltextIndexChange::Populate
        };
        Ok(FulltextStatement::AlterIndex { table, change })
    }

    fn no_population(&mut self) -> ParseResult<()> {
        if self.eat_kw(Kw::With) {
            self.expect_word("NO")?;
            self.expect_word("POPULATION")?;
        }
        Ok(())
    }
}
