//! System versioning: what columns, tables and FROM say of the time in which rows are valid.

use super::*;

impl Parser<'_> {
    /// `FOR SYSTEM_TIME ...` after a table's name.
    pub(super) fn system_time(&mut self) -> ParseResult<Option<Box<SystemTime>>> {
        self.graph_path();
        if !self.at_kw(Kw::For) || !self.word_ahead(1, "SYSTEM_TIME") {
            return Ok(None);
        }
        self.at += 2;
        let time = if self.eat_kw(Kw::All) {
            SystemTime::All
        } else if self.eat_kw(Kw::As) {
            self.expect_kw(Kw::Of)?;
            SystemTime::AsOf(self.moment()?)
        } else if self.eat_kw(Kw::From) {
            let from = self.moment()?;
            self.expect_kw(Kw::To)?;
            SystemTime::FromTo(from, self.moment()?)
        } else if self.eat_kw(Kw::Between) {
            let from = self.moment()?;
            self.expect_kw(Kw::And)?;
            SystemTime::Between(from, self.moment()?)
        } else {
            self.expect_word("CONTAINED")?;
            self.expect_kw(Kw::In)?;
            self.expect_sym(Sym::LeftParen)?;
            let from = self.moment()?;
            self.expect_sym(Sym::Comma)?;
            let to = self.moment()?;
            self.expect_sym(Sym::RightParen)?;
            SystemTime::ContainedIn(from, to)
        };
        Ok(Some(Box::new(time)))
    }

    /// A constant or a variable.
    pub(super) fn moment(&mut self) -> ParseResult<Expr> {
        let start = self.at;
        let kind = match self.kind() {
            TokenKind::Variable => ExprKind::Variable(self.variable()?),
            _ => ExprKind::Literal(self.literal()?),
        };
        Ok(Expr::new(kind, self.span_from(start)))
    }

    /// `GENERATED ALWAYS AS ROW START | END` and `HIDDEN` of a column; true when something was read.
    pub(super) fn temporal_attribute(
        &mut self,
        column: &mut ColumnDefinition,
    ) -> ParseResult<bool> {
        if self.eat_word("HIDDEN") {
            column.hidden = true;
            return Ok(true);
        }
        let generated = self.at_word("GENERATED")
            && self.word_ahead(1, "ALWAYS")
            && self.kind_ahead(2) == TokenKind::Key(Kw::As)
            && self.word_ahead(3, "ROW");
        if !generated {
            return Ok(false);
        }
        self.at += 4;
        column.generated = Some(if self.eat_word("START") {
            RowEdge::Start
        } else {
            self.expect_word("END")?;
            RowEdge::End
        });
        Ok(true)
    }

    /// `PERIOD FOR SYSTEM_TIME (a, b)` among a table's elements, or what DROP drops (without the columns).
    pub(super) fn at_period(&self) -> bool {
        self.at_word("PERIOD") && self.kind_ahead(1) == TokenKind::Key(Kw::For)
    }

    /// The same, taken.
    pub(super) fn period(&mut self) -> ParseResult<(Ident, Ident)> {
        self.at += 2;
        self.expect_word("SYSTEM_TIME")?;
        self.expect_sym(Sym::LeftParen)?;
        let start = self.ident()?;
        self.expect_sym(Sym::Comma)?;
        let end = self.ident()?;
        self.expect_sym(Sym::RightParen)?;
        Ok((start, end))
    }

    /// `HISTORY_TABLE = name` and `HISTORY_RETENTION_PERIOD = INFINITE | n unit`, behind the equals sign.
    pub(super) fn history_option(&mut self, name: &str) -> ParseResult<Option<OptionValue>> {
        Ok(match name {
            "HISTORY_TABLE" => Some(OptionValue::Name(self.object_name()?)),
            "HISTORY_RETENTION_PERIOD" if self.kind() == TokenKind::Integer => {
                let number = self.number()?;
                Some(OptionValue::Word(format!("{number} {}", self.any_word()?)))
            }
            _ => None,
        })
    }

    /// `ADD | DROP mark` after ALTER COLUMN and a column's name.
    pub(super) fn column_mark(&mut self, name: Ident) -> ParseResult<AlterTableAction> {
        let on = self.advance().kind == TokenKind::Key(Kw::Add);
        let mark = if self.eat_kw(Kw::RowGuidCol) {
            ColumnMark::RowGuidCol
        } else if self.eat_kw(Kw::Not) {
            self.expect_kw(Kw::For)?;
            self.expect_kw(Kw::Replication)?;
            ColumnMark::NotForReplication
        } else if self.eat_word("PERSISTED") {
            ColumnMark::Persisted
        } else if self.eat_word("SPARSE") {
            ColumnMark::Sparse
        } else if self.eat_word("HIDDEN") {
            ColumnMark::Hidden
        } else if on {
            let function = Some(self.mask()?);
            return Ok(AlterTableAction::MaskColumn { name, function });
        } else {
            self.expect_word("MASKED")?;
            return Ok(AlterTableAction::MaskColumn { name, function: None });
        };
        Ok(AlterTableAction::MarkColumn { name, mark, on })
    }

    /// `MASKED WITH (FUNCTION = 'text')`.
    pub(super) fn mask(&mut self) -> ParseResult<String> {
        self.expect_word("MASKED")?;
        self.expect_kw(Kw::With)?;
        self.expect_sym(Sym::LeftParen)?;
        self.expect_kw(Kw::Function)?;
        self.expect_sym(Sym::Eq)?;
        let function = self.string()?;
        self.expect_sym(Sym::RightParen)?;
        Ok(function)
    }
}
