//! Partition functions and partition schemes, and where tables and indexes are told to lie.

use super::*;

impl Parser<'_> {
    /// PARTITION FUNCTION or PARTITION SCHEME stands here.
    pub(super) fn at_partition_object(&self) -> bool {
        self.at_word("PARTITION")
            && (self.kind_ahead(1) == TokenKind::Key(Kw::Function) || self.word_ahead(1, "SCHEME"))
    }

    /// `PARTITION FUNCTION ...` and `PARTITION SCHEME ...` after CREATE, ALTER or DROP.
    pub(super) fn partition_object(&mut self, verb: Kw) -> ParseResult<StatementKind> {
        self.at += 1;
        let function = self.at_kw(Kw::Function);
        self.at += 1;
        let name = self.ident()?;
        let statement = match (verb, function) {
            (Kw::Create, true) => self.partition_function(name)?,
            (Kw::Create, false) => self.partition_scheme(name)?,
            (Kw::Alter, true) => self.partition_range(name)?,
            (Kw::Alter, false) => {
                self.expect_word("NEXT")?;
                self.expect_word("USED")?;
                let filegroup = if self.at_name() || self.at_string() {
                    Some(self.lenient_ident()?)
                } else {
                    None
                };
                PartitionStatement::NextUsed { scheme: name, filegroup }
            }
            (_, true) => PartitionStatement::DropFunction(name),
            (_, false) => PartitionStatement::DropScheme(name),
        };
        Ok(StatementKind::Partition(Box::new(statement)))
    }

    /// `(type) AS RANGE [LEFT | RIGHT] FOR VALUES (value, ...)`
    fn partition_function(&mut self, name: Ident) -> ParseResult<PartitionStatement> {
        self.expect_sym(Sym::LeftParen)?;
        if self.at_sym(Sym::RightParen) {
            let text = "Empty Partition function type-parameter-list is not allowed when defining a partition \
                        function.";
            return Err(self.mistake(7702, text));
        }
        let mut collation = None;
        let types = self.comma_list(|parser| {
            let ty = parser.type_name()?;
            if parser.eat_kw(Kw::Collate) {
                collation = Some(parser.ident()?);
            }
            Ok(ty)
        })?;
        self.expect_sym(Sym::RightParen)?;
        self.expect_kw(Kw::As)?;
        self.expect_word("RANGE")?;
        let right = self.eat_kw(Kw::Right);
        if !right {
            self.eat_kw(Kw::Left);
        }
        self.expect_kw(Kw::For)?;
        self.expect_kw(Kw::Values)?;
        self.expect_sym(Sym::LeftParen)?;
        let values = match self.at_sym(Sym::RightParen) {
            true => Vec::new(),
            false => self.comma_list(Self::value)?,
        };
        self.expect_sym(Sym::RightParen)?;
        Ok(PartitionStatement::CreateFunction { name, types, collation, right, values })
    }

    /// `() SPLIT [RANGE (value)]`, `() MERGE [RANGE (value)]`; without a value it is 7714 when it runs.
    fn partition_range(&mut self, name: Ident) -> ParseResult<PartitionStatement> {
        self.expect_sym(Sym::LeftParen)?;
        self.expect_sym(Sym::RightParen)?;
        let merge = self.eat_kw(Kw::Merge);
        if !merge {
            self.expect_word("SPLIT")?;
        }
        let mut value = None;
        if self.eat_word("RANGE") {
            self.expect_sym(Sym::LeftParen)?;
            if !self.at_sym(Sym::RightParen) {
                value = Some(self.value()?);
            }
            self.expect_sym(Sym::RightParen)?;
        }
        Ok(PartitionStatement::AlterFunction { name, merge, value })
    }

    /// `AS PARTITION f [ALL] TO (filegroup, ...)`
    fn partition_scheme(&mut self, name: Ident) -> ParseResult<PartitionStatement> {
        self.expect_kw(Kw::As)?;
        self.expect_word("PARTITION")?;
        let function = self.ident()?;
        let all = self.eat_kw(Kw::All);
        self.expect_kw(Kw::To)?;
        self.expect_sym(Sym::LeftParen)?;
        let filegroups = self.comma_list(Self::lenient_ident)?;
        self.expect_sym(Sym::RightParen)?;
        Ok(PartitionStatement::CreateScheme { name, function, all, filegroups })
    }

    /// `filegroup`, `scheme (column)`
    pub(super) fn data_space(&mut self) -> ParseResult<DataSpace> {
        let name = self.lenient_ident()?;
        let columns = if self.at_sym(Sym::LeftParen) { self.ident_list()? } else { Vec::new() };
        Ok(DataSpace { name, columns })
    }

    /// `PARTITION = number`; nothing for `PARTITION = ALL`.
    pub(super) fn one_partition(&mut self) -> ParseResult<Option<Expr>> {
        if !self.eat_word("PARTITION") {
            return Ok(None);
        }
        self.expect_sym(Sym::Eq)?;
        if self.eat_kw(Kw::All) { Ok(None) } else { self.value().map(Some) }
    }

    /// `3`, `3 TO 5`
    pub(super) fn partition_span(&mut self) -> ParseResult<(Expr, Option<Expr>)> {
        let first = self.value()?;
        let last = if self.eat_kw(Kw::To) { Some(self.value()?) } else { None };
        Ok((first, last))
    }

    /// `SWITCH [PARTITION n] TO table [PARTITION m] [WITH (...)]`, at SWITCH.
    pub(super) fn switch(&mut self, source: ObjectName) -> ParseResult<StatementKind> {
        self.at += 1;
        let partition = if self.eat_word("PARTITION") { Some(self.value()?) } else { None };
        self.expect_kw(Kw::To)?;
        let target = self.object_name()?;
        let target_partition = if self.eat_word("PARTITION") { Some(self.value()?) } else { None };
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            // WAIT_AT_LOW_PRIORITY: locks are waited for as ever.
            self.at += 1;
            self.skip_parens()?;
        }
        Ok(StatementKind::Switch(Box::new(Switch { source, partition, target, target_partition })))
    }
}
