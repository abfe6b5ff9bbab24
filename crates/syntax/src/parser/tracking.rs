//! Change tracking: of databases, of tables, before statements, and within FROM.
//!
//! Source: SQL Server's documentation of ALTER DATABASE SET options, ALTER TABLE, CHANGETABLE and
//! WITH CHANGE_TRACKING_CONTEXT, and of messages 155, 5091, 5092 and 22101 to 22116.

use super::*;

impl Parser<'_> {
    /// `CHANGE_TRACKING = ON [(...)] | = OFF | (...)` after SET; at the word. 22114 for options beside it.
    pub(super) fn change_tracking(&mut self) -> ParseResult<AlterDatabaseAction> {
        self.at += 1;
        let mut tracking = ChangeTracking { on: None, retention: None, auto_cleanup: None };
        if self.eat_sym(Sym::Eq) {
            let on = self.eat_kw(Kw::On);
            if !on {
                self.expect_kw(Kw::Off)?;
            }
            tracking.on = Some(on);
        }
        if tracking.on.is_none() || (tracking.on == Some(true) && self.at_sym(Sym::LeftParen)) {
            self.expect_sym(Sym::LeftParen)?;
            self.comma_list(|parser| parser.tracking_option(&mut tracking))?;
            self.expect_sym(Sym::RightParen)?;
        }
        if self.at_sym(Sym::Comma) {
            return Err(self.tracking_combined());
        }
        Ok(AlterDatabaseAction::ChangeTracking(tracking))
    }

    /// 22114.
    #[cold]
    pub(super) fn tracking_combined(&self) -> Box<SyntaxError> {
        self.mistake(
            22114,
            "Change tracking options for ALTER DATABASE cannot be combined with other ALTER DATABASE options.",
        )
    }

    /// CHANGE_RETENTION or AUTO_CLEANUP; 155, 5091, 5092.
    fn tracking_option(&mut self, tracking: &mut ChangeTracking) -> ParseResult<()> {
        let name = self.any_word()?;
        let again = match &*name {
            "CHANGE_RETENTION" => tracking.retention.is_some(),
            "AUTO_CLEANUP" => tracking.auto_cleanup.is_some(),
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        if again {
            return Err(self.mistake(
                5091,
                format!(
                    "ALTER DATABASE change tracking option '{name}' was specified more than once. Each option can be \
                     specified only once."
                ),
            ));
        }
        self.expect_sym(Sym::Eq)?;
        if name == "AUTO_CLEANUP" {
            tracking.auto_cleanup = Some(self.eat_kw(Kw::On));
            if tracking.auto_cleanup == Some(false) {
                self.expect_kw(Kw::Off)?;
            }
            return Ok(());
        }
        let number = self.number()?;
        // Days, when nothing is said.
        let unit = match self.kind() {
            TokenKind::Word | TokenKind::Key(_) => self.any_word()?,
            _ => "DAYS".into(),
        };
        let (unit, minutes) = match &*unit {
            "DAYS" => (RetentionUnit::Days, 24 * 60),
            "HOURS" => (RetentionUnit::Hours, 60),
            "MINUTES" => (RetentionUnit::Minutes, 1),
            _ => {
                let text = format!("'{unit}' is not a recognized CHANGE RETENTION UNIT option.");
                return Err(self.mistake(155, text));
            }
        };
        let fits = number > 0 && number.saturating_mul(minutes) <= i32::MAX as u64;
        let Some(number) = i32::try_from(number).ok().filter(|_| fits) else {
            return Err(self.mistake(
                5092,
                "The value for change tracking option 'CHANGE_RETENTION' is not valid. The value must be between 1 and \
                 2147483647 minutes.",
            ));
        };
        tracking.retention = Some(ChangeRetention { number, unit });
        Ok(())
    }

    /// `ENABLE CHANGE_TRACKING [WITH (TRACK_COLUMNS_UPDATED = ON | OFF)]`, `DISABLE CHANGE_TRACKING`, after ALTER TABLE's
    /// name; at the first word.
    pub(super) fn table_tracking(&mut self) -> ParseResult<AlterTableAction> {
        let enable = self.at_word("ENABLE");
        self.at += 2;
        if !enable {
            return Ok(AlterTableAction::DisableTracking);
        }
        let mut columns = false;
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 2;
            self.expect_word("TRACK_COLUMNS_UPDATED")?;
            self.expect_sym(Sym::Eq)?;
            columns = self.eat_kw(Kw::On);
            if !columns {
                self.expect_kw(Kw::Off)?;
            }
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(AlterTableAction::EnableTracking { columns })
    }

    /// `WITH CHANGE_TRACKING_CONTEXT (@c)` begins here.
    pub(super) fn at_tracking_context(&self) -> bool {
        self.word_ahead(1, "CHANGE_TRACKING_CONTEXT")
            && self.kind_ahead(2) == TokenKind::Symbol(Sym::LeftParen)
    }

    /// A statement with that before it, and perhaps with common table expressions behind; at WITH. 22108 for a SELECT.
    #[cold]
    pub(super) fn statement_in_context(&mut self) -> ParseResult<StatementKind> {
        self.at += 3;
        let given = Some(Box::new(self.moment()?));
        self.expect_sym(Sym::RightParen)?;
        let with = if self.eat_sym(Sym::Comma) { self.ctes()? } else { Vec::new() };
        let mut kind = match self.kind() {
            TokenKind::Key(Kw::Insert) => self.insert(with)?,
            TokenKind::Key(Kw::Update) => self.update(with)?,
            TokenKind::Key(Kw::Delete) => self.delete(with)?,
            TokenKind::Key(Kw::Merge) => self.merge(with)?,
            TokenKind::Key(Kw::Select) => {
                return Err(self.mistake(
                    22108,
                    "The CHANGE_TRACKING_CONTEXT WITH clause cannot be used with a SELECT statement.",
                ));
            }
            _ => return Err(self.unexpected()),
        };
        match &mut kind {
            StatementKind::Insert(insert) => insert.tracking_context = given,
            StatementKind::Update(update) => update.tracking_context = given,
            StatementKind::Delete(delete) => delete.tracking_context = given,
            StatementKind::Merge(merge) => merge.tracking_context = given,
            _ => {}
        }
        Ok(kind)
    }

    /// `CHANGETABLE (` begins here.
    pub(super) fn at_change_table(&self) -> bool {
        self.at_word("CHANGETABLE") && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen)
    }

    /// `CHANGETABLE (CHANGES | VERSION ...) AS t (a, b)`; at the word. 22103, 22104.
    #[inline(never)]
    pub(super) fn change_table(&mut self) -> ParseResult<TableRef> {
        let start = self.at;
        self.at += 2;
        let changes = self.at_word("CHANGES");
        if !changes && !self.at_word("VERSION") {
            return Err(self.unexpected());
        }
        self.at += 1;
        let table = self.object_name()?;
        self.expect_sym(Sym::Comma)?;
        let of = if changes {
            ChangesOf::After(self.moment()?)
        } else {
            let columns = self.ident_list()?;
            self.expect_sym(Sym::Comma)?;
            self.expect_sym(Sym::LeftParen)?;
            let values = self.comma_list(Self::value)?;
            self.expect_sym(Sym::RightParen)?;
            if columns.len() != values.len() {
                return Err(self.mistake(
                    22103,
                    "The arguments supplied are not valid for the VERSION option of the CHANGETABLE function.",
                ));
            }
            ChangesOf::Row { columns, values }
        };
        // The only way to read them is a seek anyway.
        if self.eat_sym(Sym::Comma) {
            self.expect_word("FORCESEEK")?;
        }
        self.expect_sym(Sym::RightParen)?;
        let span = self.span_from(start);
        let Some(alias) = self.alias()? else {
            return Err(self
                .mistake(22104, "A table returned by the CHANGETABLE function must be aliased."));
        };
        let columns = self.alias_columns(true)?;
        Ok(TableRef::Changes(Box::new(ChangeTable { table, of, alias, columns, span })))
    }
}
