//! CREATE SPATIAL INDEX.

use super::*;

impl Parser<'_> {
    /// `SPATIAL INDEX name ON table (column) [USING scheme] [WITH (...)] [ON filegroup]`, at its first word.
    pub(super) fn create_spatial_index(&mut self) -> ParseResult<StatementKind> {
        let start = self.at - 1;
        self.at += 1;
        self.expect_kw(Kw::Index)?;
        let name = self.ident()?;
        self.expect_kw(Kw::On)?;
        let table = self.object_name()?;
        self.expect_sym(Sym::LeftParen)?;
        let column = self.ident()?;
        self.expect_sym(Sym::RightParen)?;
        let mut spatial = SpatialIndex::default();
        if self.eat_word("USING") {
            spatial.scheme = Some(self.ident()?);
        }
        let mut options = Vec::new();
        if self.at_kw(Kw::With) && self.kind_ahead(1) == TokenKind::Symbol(Sym::LeftParen) {
            self.at += 2;
            self.spatial_options(&mut spatial, &mut options)?;
        }
        let filegroup = if self.eat_kw(Kw::On) { Some(self.data_space()?) } else { None };
        let index = IndexDefinition {
            name,
            unique: false,
            clustered: Some(false),
            hash: false,
            columnstore: false,
            spatial: Some(spatial),
            xml: None,
            columns: vec![IndexColumn { name: column, descending: false }],
            order: Vec::new(),
            include: Vec::new(),
            filter: None,
            options,
            filegroup,
            span: self.span_from(start),
        };
        Ok(StatementKind::CreateIndex(Box::new(CreateIndex { table, index })))
    }

    /// Up to the closing parenthesis; commas between them may be left out.
    fn spatial_options(
        &mut self,
        spatial: &mut SpatialIndex,
        options: &mut Vec<DatabaseOption>,
    ) -> ParseResult<()> {
        loop {
            if self.eat_word("BOUNDING_BOX") {
                self.expect_sym(Sym::Eq)?;
                let edges = self.parameters(Self::signed_literal)?;
                spatial.bounding_box.push(edges);
            } else if self.eat_word("GRIDS") {
                self.expect_sym(Sym::Eq)?;
                let levels = self.parameters(Self::any_word)?;
                spatial.grids.push(levels);
            } else if self.eat_word("CELLS_PER_OBJECT") {
                self.expect_sym(Sym::Eq)?;
                spatial.cells.push(self.signed_literal()?);
            } else {
                options.push(self.database_option()?);
            }
            if !self.eat_sym(Sym::Comma) && self.eat_sym(Sym::RightParen) {
                return Ok(());
            }
        }
    }

    /// `(value, ...)` or `(NAME = value, ...)`.
    fn parameters<T>(
        &mut self,
        mut value: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<(Option<String>, T)>> {
        self.expect_sym(Sym::LeftParen)?;
        let all = self.comma_list(|parser| {
            let named = parser.kind_ahead(1) == TokenKind::Symbol(Sym::Eq);
            let name = if named { Some(parser.any_word()?) } else { None };
            if named {
                parser.expect_sym(Sym::Eq)?;
            }
            Ok((name, value(parser)?))
        })?;
        self.expect_sym(Sym::RightParen)?;
        Ok(all)
    }
}
