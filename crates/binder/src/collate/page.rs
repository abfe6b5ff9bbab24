//! varchar in a database whose collation is of another code page than 1252, or UTF-8.
//!
//! What becomes a varchar there goes by that page: a literal, the character of a byte, what is cast. A text that is cast
//! has a rule with it, which says so; what has none (a binary, xml, a sql_variant) is cast by [`FuncId::IntoPage`].
//!
//! Promise: a varchar that belongs to no column holds what the database's page has, and nothing else; in a database of
//! code page 1252 that is done for literals and variables alone, for there a value without a rule goes by 1252 anyway.

use super::*;
use crate::scope::Source;
use types::Len;

impl Binder<'_> {
    /// The page of a varchar that belongs to no column.
    fn usual_page(&self) -> CodePage {
        self.usual.collation.page()
    }

    /// The rule by whose page a value of a type that has none with it is cast, in a database of another page than 1252.
    pub(crate) fn page_of(&self, from: SqlType, to: SqlType, style: Option<i32>) -> Option<Rule> {
        let rule = self.usual.rule.filter(|rule| rule.code_page() != CodePage::Cp1252)?;
        let becomes = to.is_character() && !to.is_unicode();
        let has_none = match from {
            SqlType::Variant => true,
            from if from.is_binary() => style.unwrap_or(0) == 0,
            from => from.is_xml(),
        };
        (becomes && has_none).then_some(rule)
    }

    /// Such a value as a varchar.
    pub(crate) fn cast_to_page(&self, rule: Rule, e: Expr, to: SqlType, style: i32) -> Expr {
        let nullable = e.nullable;
        Expr { nullable, ..call(FuncId::IntoPage(rule), vec![e, Expr::int(style)], to) }
    }

    /// A text that was made as nvarchar(max), as the varchar that it is to be.
    pub(crate) fn text_in_page(&self, rule: Rule, text: Expr, to: SqlType) -> Expr {
        semantics::typing::cast(given::under(text, rule), to, CastMode::Explicit, None)
    }

    /// Columns of a rowset that are varchar, as nvarchar(max) until they are cast; with what they are to be.
    pub(crate) fn widened(&self, columns: &mut [SystemColumn]) -> Vec<Option<SqlType>> {
        let widened = columns.iter_mut().map(|column| {
            self.page_of(SqlType::Xml, column.ty, None)?;
            Some(std::mem::replace(&mut column.ty, SqlType::NVarChar(Len::Max)))
        });
        widened.collect()
    }

    /// Such a rowset, its columns cast.
    pub(crate) fn narrowed(&mut self, mut source: Source, types: &[Option<SqlType>]) -> Source {
        let texts = source.tables.iter().flat_map(|table| &table.columns);
        self.note_plain(texts.map(|c| (c.id, c.ty)).collect::<Vec<_>>().into_iter());
        let Some(rule) = self.usual.rule.filter(|_| types.iter().any(Option::is_some)) else {
            return source;
        };
        let mut exprs = Vec::new();
        let columns = source.tables.iter_mut().flat_map(|table| &mut table.columns);
        for (column, ty) in columns.zip(types) {
            let value = Expr::col(column.id, column.ty, column.nullable);
            let Some(ty) = *ty else {
                exprs.push((column.id, value));
                continue;
            };
            (column.id, column.ty) = (self.new_col(), ty);
            exprs.push((column.id, self.text_in_page(rule, value, ty)));
        }
        let input = Box::new(std::mem::replace(&mut source.rel, Rel::OneRow));
        source.rel = Rel::Project { input, exprs };
        self.note_plain(source.tables.iter().flat_map(|t| &t.columns).map(|c| (c.id, c.ty)));
        source
    }

    /// A text without the characters that the page of a varchar without a column lacks.
    pub(crate) fn in_usual_page(&self, text: &str) -> String {
        let page = self.usual_page();
        text.chars().map(|c| page.nearest(c)).collect()
    }

    /// A literal without N that is not all ASCII: what the page does not have is lost before anybody sees it, but in a
    /// definition that was kept with it.
    pub(crate) fn varchar_literal(&self, value: &str) -> Expr {
        let page = self.usual_page();
        let text: String = match self.whole_literals {
            true => value.to_owned(),
            false => self.in_usual_page(value),
        };
        let bytes: usize = text.chars().map(|c| page.bytes_of(c)).sum();
        let len = if bytes > 8000 { Len::Max } else { Len::N(bytes.max(1) as u16) };
        Expr::constant(Value::str(&text), SqlType::VarChar(len))
    }

    /// CHAR() of a byte in the database's page: a last argument says which.
    pub(crate) fn of_page(&self, mut made: Expr) -> Expr {
        if let (Some(rule), ExprKind::Func { func: FuncId::Char, args }) =
            (self.usual.rule, &mut made.kind)
            && rule.code_page() != CodePage::Cp1252
        {
            args.push(Expr::int(i32::from(rule.bits())));
        }
        made
    }

    /// A varchar of a column in another page, on its way into a variable.
    pub(super) fn cast_to_usual_page(&self, e: Expr) -> Expr {
        if !e.ty.is_character() || e.ty.is_unicode() || e.ty == crate::UNDECLARED {
            return e;
        }
        let usual = self.usual.collation;
        let page = match &e.kind {
            ExprKind::Subquery { kind: SubqueryKind::Scalar, query } => {
                query.output.first().map(|c| self.collation_of_column(c.id, c.ty).page())
            }
            _ => self.label(&e).map(|label| label.rule.code_page()),
        };
        if page.is_none_or(|page| page == usual.page()) {
            return e;
        }
        let ty = e.ty;
        let wide = Expr { ty: SqlType::NVarChar(Len::Max), ..given::under(e, usual.rule()) };
        semantics::typing::cast(wide, ty, CastMode::Implicit, None)
    }
}
