//! GROUP BY with its sets, and the WINDOW clause.

use super::*;

impl Parser<'_> {
    /// What follows GROUP BY.
    #[inline(never)]
    pub(super) fn group_by(&mut self) -> ParseResult<Vec<GroupItem>> {
        let items = self.comma_list(|parser| {
            let item = parser.group_item(false)?;
            if parser.at_kw(Kw::With) && parser.opens(1) && parser.word_ahead(2, "DISTRIBUTED_AGG")
            {
                parser.note_unsupported("options of Azure Synapse");
                parser.at += 1;
                parser.skip_parens()?;
            }
            Ok(item)
        })?;
        if self.at_kw(Kw::With) && self.word_ahead(1, "ROLLUP") {
            self.at += 2;
            return Ok(vec![GroupItem::Rollup(items)]);
        }
        if self.at_kw(Kw::With) && self.word_ahead(1, "CUBE") {
            self.at += 2;
            return Ok(vec![GroupItem::Cube(items)]);
        }
        Ok(items)
    }

    /// An item; `inside` ROLLUP, CUBE or GROUPING SETS, where parentheses may hold several.
    #[inline(never)]
    fn group_item(&mut self, inside: bool) -> ParseResult<GroupItem> {
        if self.at_word("ROLLUP") && self.opens(1) {
            self.at += 1;
            return Ok(GroupItem::Rollup(self.group_items()?));
        }
        if self.at_word("CUBE") && self.opens(1) {
            self.at += 1;
            return Ok(GroupItem::Cube(self.group_items()?));
        }
        if self.at_word("GROUPING") && self.word_ahead(1, "SETS") && self.opens(2) {
            self.at += 2;
            return Ok(GroupItem::Sets(self.group_items()?));
        }
        if self.opens(0) && self.kind_ahead(1) == TokenKind::Symbol(Sym::RightParen) {
            self.at += 2;
            return Ok(GroupItem::Composite(Vec::new()));
        }
        if inside && self.opens(0) {
            let start = self.at;
            self.at += 1;
            let items =
                self.nested(2, |parser| parser.comma_list(|parser| parser.group_item(true)))?;
            self.expect_sym(Sym::RightParen)?;
            // `(a + b) * c` begins like a list.
            let ends = self.at_sym(Sym::Comma) || self.at_sym(Sym::RightParen);
            if items.len() > 1 || ends {
                return Ok(together(items));
            }
            self.at = start;
        }
        Ok(GroupItem::Expr(self.value()?))
    }

    fn opens(&self, ahead: usize) -> bool {
        self.kind_ahead(ahead) == TokenKind::Symbol(Sym::LeftParen)
    }

    fn group_items(&mut self) -> ParseResult<Vec<GroupItem>> {
        self.nested(2, |parser| {
            parser.expect_sym(Sym::LeftParen)?;
            let items = parser.comma_list(|parser| parser.group_item(true))?;
            parser.expect_sym(Sym::RightParen)?;
            Ok(items)
        })
    }

    /// `WINDOW name AS (` begins here: no alias.
    pub(super) fn at_window_clause(&self) -> bool {
        self.at_word("WINDOW")
            && self.name_ahead(1)
            && self.kind_ahead(2) == TokenKind::Key(Kw::As)
            && self.opens(3)
    }

    /// `name AS (...)`.
    #[inline(never)]
    pub(super) fn named_window(&mut self) -> ParseResult<NamedWindow> {
        let name = self.ident()?;
        self.expect_kw(Kw::As)?;
        let over = self.nested(1, Self::over)?;
        Ok(NamedWindow { name, over })
    }
}

/// Items in parentheses: a list of expressions, unless some is more than one.
fn together(items: Vec<GroupItem>) -> GroupItem {
    let plain = items.iter().all(|item| matches!(item, GroupItem::Expr(_)));
    if !plain {
        return GroupItem::Product(items);
    }
    let exprs = items.into_iter().filter_map(|item| match item {
        GroupItem::Expr(expr) => Some(expr),
        _ => None,
    });
    GroupItem::Composite(exprs.collect())
}
