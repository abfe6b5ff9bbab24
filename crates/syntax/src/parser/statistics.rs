//! CREATE, UPDATE and DROP STATISTICS.

use super::*;

impl Parser<'_> {
    /// `STATISTICS name ON table (columns) [WHERE ...] [WITH ...]`; STATISTICS has not been taken.
    pub(super) fn create_statistics(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let name = self.ident()?;
        self.expect_kw(Kw::On)?;
        let table = self.defined_name()?;
        let columns = self.ident_list()?;
        let filtered = self.where_clause()?.is_some();
        let options = self.statistics_options(false)?;
        let create = StatisticsStatement::Create { name, table, columns, filtered, options };
        Ok(StatementKind::Statistics(Box::new(create)))
    }

    /// `STATISTICS table [name | (names)] [WITH ...]`, likewise.
    pub(super) fn update_statistics(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let table = self.defined_name()?;
        let names = if self.at_sym(Sym::LeftParen) {
            self.ident_list()?
        } else if self.at_name() {
            vec![self.ident()?]
        } else {
            Vec::new()
        };
        let options = self.statistics_options(true)?;
        let update = StatisticsStatement::Update { table, names, options };
        Ok(StatementKind::Statistics(Box::new(update)))
    }

    /// `STATISTICS table.name, ...`, likewise.
    pub(super) fn drop_statistics(&mut self) -> ParseResult<StatementKind> {
        self.at += 1;
        let names = self.comma_list(Self::object_name)?;
        Ok(StatementKind::Statistics(Box::new(StatisticsStatement::Drop(names))))
    }

    fn statistics_options(&mut self, update: bool) -> ParseResult<StatisticsOptions> {
        let mut options = StatisticsOptions::default();
        if !self.eat_kw(Kw::With) {
            return Ok(options);
        }
        loop {
            let here = self.at;
            match self.any_word()?.as_str() {
                "FULLSCAN" => options.sample = StatisticsSample::FullScan,
                "SAMPLE" => {
                    let n = self.number()?;
                    options.sample = match self.any_word()?.as_str() {
                        "PERCENT" => StatisticsSample::Percent(n),
                        "ROWS" => StatisticsSample::Rows(n),
                        _ => {
                            self.at -= 1;
                            return Err(self.unexpected());
                        }
                    };
                }
                "RESAMPLE" => {
                    if self.eat_kw(Kw::On) {
                        self.expect_word("PARTITIONS")?;
                        self.expect_sym(Sym::LeftParen)?;
                        self.comma_list(Self::partition_span)?;
                        self.expect_sym(Sym::RightParen)?;
                        options.on_partitions = true;
                    }
                }
                "NORECOMPUTE" => options.no_recompute = true,
                "ALL" => {}
                "COLUMNS" => options.columns_only = true,
                "INDEX" => options.index_only = true,
                // They change nothing here.
                "PERSIST_SAMPLE_PERCENT" | "INCREMENTAL" | "AUTO_DROP" | "MAXDOP" => {
                    self.expect_sym(Sym::Eq)?;
                    self.advance();
                }
                // Of scripts that carry statistics from one database to another; no document says what is in them.
                "STATS_STREAM" => {
                    self.note_unsupported("STATISTICS WITH STATS_STREAM");
                    self.expect_sym(Sym::Eq)?;
                    self.literal()?;
                }
                option @ ("ROWCOUNT" | "PAGECOUNT") if update => {
                    self.expect_sym(Sym::Eq)?;
                    let number = Some(self.number()?);
                    match option {
                        "ROWCOUNT" => options.rows = number,
                        _ => options.pages = number,
                    }
                }
                _ => {
                    self.at = here;
                    return Err(self.unexpected());
                }
            }
            if !self.eat_sym(Sym::Comma) && !self.at_word("PERSIST_SAMPLE_PERCENT") {
                return Ok(options);
            }
        }
    }
}
