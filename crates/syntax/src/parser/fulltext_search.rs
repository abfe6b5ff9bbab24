//! CONTAINS, FREETEXT, CONTAINSTABLE, FREETEXTTABLE.
//!
//! Sources: SQL documentation of the four.

use super::*;

impl Parser<'_> {
    /// `CONTAINS (columns, condition [, LANGUAGE term])` and FREETEXT, as a condition; at the word.
    #[inline(never)]
    pub(super) fn fulltext_predicate(&mut self) -> ParseResult<ExprKind> {
        let start = self.at;
        let freetext = self.at_kw(Kw::Freetext);
        self.at += 1;
        self.expect_sym(Sym::LeftParen)?;
        let columns = self.searched_columns()?;
        self.expect_sym(Sym::Comma)?;
        let condition = self.value()?;
        let mut language = None;
        if self.eat_sym(Sym::Comma) {
            self.expect_word("LANGUAGE")?;
            language = Some(self.value()?);
        }
        self.expect_sym(Sym::RightParen)?;
        let (ranks, span) = (false, self.span_from(start));
        let ask = Fulltext { freetext, columns, condition, language, ranks, span };
        Ok(ExprKind::Fulltext(Box::new(ask)))
    }

    /// CONTAINSTABLE or FREETEXTTABLE stands here.
    pub(super) fn at_fulltext_rows(&self) -> bool {
        self.at_kw(Kw::ContainsTable) || self.at_kw(Kw::FreetextTable)
    }

    /// `CONTAINSTABLE (table, columns, condition [, LANGUAGE term] [, n]) [AS alias]`; at the word.
    #[inline(never)]
    pub(super) fn fulltext_rows(&mut self) -> ParseResult<TableRef> {
        let start = self.at;
        let freetext = self.at_kw(Kw::FreetextTable);
        let name = self.take_ident();
        self.expect_sym(Sym::LeftParen)?;
        let table = self.object_name()?;
        self.expect_sym(Sym::Comma)?;
        let columns = self.searched_columns()?;
        self.expect_sym(Sym::Comma)?;
        let condition = self.value()?;
        let (mut language, mut top) = (None, None);
        while top.is_none() && self.eat_sym(Sym::Comma) {
            if language.is_none() && self.eat_word("LANGUAGE") {
                language = Some(self.value()?);
            } else {
                top = Some(self.value()?);
            }
        }
        self.expect_sym(Sym::RightParen)?;
        let (ranks, span) = (true, self.span_from(start));
        let ask = Fulltext { freetext, columns, condition, language, ranks, span };
        let alias = self.alias()?;
        let columns = self.alias_columns(alias.is_some())?;
        let alias = alias.unwrap_or(name);
        Ok(TableRef::Fulltext(Box::new(FulltextRows { table, ask, top, alias, columns })))
    }

    /// `c`, `t.c`, `(a, b)`, `*`, `t.*`, `PROPERTY (c, 'name')`
    fn searched_columns(&mut self) -> ParseResult<FulltextColumns> {
        if self.at_word("PROPERTY") && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 1;
            self.skip_parens()?;
            return Ok(FulltextColumns::Property);
        }
        if !self.eat_sym(Sym::LeftParen) {
            return match self.searched_column()? {
                (qualifier, None) => Ok(FulltextColumns::All(qualifier)),
                (qualifier, Some(name)) => {
                    Ok(FulltextColumns::Named(vec![ColumnRef { qualifier, name }]))
                }
            };
        }
        let mut named = Vec::new();
        let found = loop {
            match self.searched_column()? {
                (qualifier, None) if named.is_empty() => break FulltextColumns::All(qualifier),
                (_, None) => return Err(self.unexpected()),
                (qualifier, Some(name)) => named.push(ColumnRef { qualifier, name }),
            }
            self.breathe(4)?;
            if !self.eat_sym(Sym::Comma) {
                break FulltextColumns::Named(named);
            }
        };
        self.expect_sym(Sym::RightParen)?;
        Ok(found)
    }

    /// What stands before the last point, and the name behind it; none for `*`.
    fn searched_column(&mut self) -> ParseResult<(Vec<Ident>, Option<Ident>)> {
        let mut qualifier = Vec::new();
        loop {
            if self.eat_sym(Sym::Star) {
                return Ok((qualifier, None));
            }
            let name = self.ident()?;
            if !self.eat_sym(Sym::Dot) {
                return Ok((qualifier, Some(name)));
            }
            // `db..t` leaves the schema out.
            while self.eat_sym(Sym::Dot) {}
            qualifier.push(name);
        }
    }
}
