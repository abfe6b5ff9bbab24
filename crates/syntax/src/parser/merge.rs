//! MERGE.

use super::*;

impl Parser<'_> {
    /// `MERGE [TOP (n)] [INTO] target USING source ON condition WHEN ... [OUTPUT ...] [OPTION ...] ;`
    #[inline(never)]
    pub(super) fn merge(&mut self, with: Vec<Cte>) -> ParseResult<StatementKind> {
        let merge = self.merge_unended(with)?;
        if !self.at_sym(Sym::Semicolon) {
            let line = self.tokens[self.at.saturating_sub(1)].span.line;
            return Err(SyntaxError::new(
                10713,
                line,
                "",
                "A MERGE statement must be terminated by a semi-colon (;).",
            ));
        }
        Ok(merge)
    }

    /// The same without its end.
    #[inline(never)]
    pub(super) fn merge_unended(&mut self, with: Vec<Cte>) -> ParseResult<StatementKind> {
        self.expect_kw(Kw::Merge)?;
        let top = self.top_of_change()?;
        self.eat_kw(Kw::Into);
        let target = self.target()?;
        let alias = if self.at_word("USING") { None } else { self.alias()? };
        self.expect_word("USING")?;
        let source = self.nested(2, Self::table_source)?;
        self.expect_kw(Kw::On)?;
        let on = self.condition()?;
        let mut clauses = Vec::new();
        while self.at_kw(Kw::When) {
            clauses.push(self.merge_clause()?);
        }
        if clauses.is_empty() {
            return Err(self.unexpected());
        }
        let output = self.output()?;
        let option = self.option_clause()?;
        Ok(StatementKind::Merge(Box::new(Merge {
            with,
            tracking_context: None,
            top,
            target,
            alias,
            source,
            on,
            clauses,
            output,
            option,
        })))
    }

    /// `WHEN [NOT] MATCHED [BY TARGET | BY SOURCE] [AND condition] THEN action`.
    fn merge_clause(&mut self) -> ParseResult<MergeClause> {
        let start = self.at;
        self.expect_kw(Kw::When)?;
        let not = self.eat_kw(Kw::Not);
        self.expect_word("MATCHED")?;
        let mut when = if not { MergeWhen::NotMatched } else { MergeWhen::Matched };
        if not && self.eat_kw(Kw::By) {
            if self.eat_word("SOURCE") {
                when = MergeWhen::NotMatchedBySource;
            } else {
                self.expect_word("TARGET")?;
            }
        }
        let condition = if self.eat_kw(Kw::And) { Some(self.condition()?) } else { None };
        self.expect_kw(Kw::Then)?;
        let action = match self.kind() {
            TokenKind::Key(Kw::Update) => {
                self.at += 1;
                self.expect_kw(Kw::Set)?;
                MergeAction::Update(self.comma_list(Self::set_item)?)
            }
            TokenKind::Key(Kw::Delete) => {
                self.at += 1;
                MergeAction::Delete
            }
            TokenKind::Key(Kw::Insert) => {
                self.at += 1;
                self.merge_insert()?
            }
            _ => return Err(self.unexpected()),
        };
        Ok(MergeClause { when, condition, action, span: self.span_from(start) })
    }

    fn merge_insert(&mut self) -> ParseResult<MergeAction> {
        let mut columns = Vec::new();
        if self.at_sym(Sym::LeftParen) {
            self.at += 1;
            columns = self.comma_list(|parser| {
                let name = parser.object_name()?;
                if name.schema.is_some() {
                    return Err(parser.mistake(
                        10739,
                        "The insert column list used in the MERGE statement cannot contain \
                         multi-part identifiers. Use single part identifiers instead.",
                    ));
                }
                Ok(name.name)
            })?;
            self.expect_sym(Sym::RightParen)?;
        }
        if self.eat_kw(Kw::Default) {
            self.expect_kw(Kw::Values)?;
            return Ok(MergeAction::Insert { columns, values: None });
        }
        self.expect_kw(Kw::Values)?;
        self.expect_sym(Sym::LeftParen)?;
        let values = self.comma_list(Self::insert_value)?;
        self.expect_sym(Sym::RightParen)?;
        Ok(MergeAction::Insert { columns, values: Some(values) })
    }
}
