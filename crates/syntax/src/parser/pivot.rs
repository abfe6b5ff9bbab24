//! PIVOT and UNPIVOT after a table source.

use super::*;

impl Parser<'_> {
    /// `PIVOT (aggregate(column) FOR column IN ([value], ...)) [AS] alias`.
    #[inline(never)]
    pub(super) fn pivot(&mut self, input: TableRef) -> ParseResult<TableRef> {
        self.expect_kw(Kw::Pivot)?;
        self.expect_sym(Sym::LeftParen)?;
        let call = self.value()?;
        let ExprKind::Function(aggregate) = call.kind else { return Err(self.unexpected()) };
        self.expect_kw(Kw::For)?;
        let column = self.turned_column()?;
        self.expect_kw(Kw::In)?;
        let values = self.ident_list()?;
        self.expect_sym(Sym::RightParen)?;
        self.eat_kw(Kw::As);
        let alias = self.ident()?;
        Ok(TableRef::Pivot { input: Box::new(input), aggregate, column, values, alias })
    }

    /// `UNPIVOT (value FOR name IN (column, ...)) [AS] alias`.
    #[inline(never)]
    pub(super) fn unpivot(&mut self, input: TableRef) -> ParseResult<TableRef> {
        self.expect_kw(Kw::Unpivot)?;
        self.expect_sym(Sym::LeftParen)?;
        let value = self.ident()?;
        self.expect_kw(Kw::For)?;
        let name = self.ident()?;
        self.expect_kw(Kw::In)?;
        self.expect_sym(Sym::LeftParen)?;
        let columns = self.comma_list(Self::turned_column)?;
        self.expect_sym(Sym::RightParen)?;
        self.expect_sym(Sym::RightParen)?;
        self.eat_kw(Kw::As);
        let alias = self.ident()?;
        Ok(TableRef::Unpivot { input: Box::new(input), value, name, columns, alias })
    }

    fn turned_column(&mut self) -> ParseResult<ColumnRef> {
        let mut qualifier = Vec::new();
        let mut name = self.ident()?;
        while self.eat_sym(Sym::Dot) {
            qualifier.push(std::mem::replace(&mut name, self.ident()?));
        }
        Ok(ColumnRef { qualifier, name })
    }
}
