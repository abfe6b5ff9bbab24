//! What xml has that other types with methods ([`super::methods`]) do not: nodes() as rows, modify(), OPENXML, and WITH
//! XMLNAMESPACES.
//!
//!  What XMLNAMESPACES declares
//! stands before each path as its prolog, and in [`ForClause::namespaces`].

use super::*;

const METHODS: &[&str] = &["value", "query", "exist", "nodes", "modify"];

/// Is it a method of xml? Their names are in small letters.
pub(super) fn is_method(name: &str) -> bool {
    METHODS.contains(&name)
}

impl Parser<'_> {
    /// `.value(` and its like of xml come next.
    pub(super) fn at_xml_method(&self) -> bool {
        self.at_sym(Sym::Dot)
            && self.kind_ahead(2) == TokenKind::Symbol(Sym::LeftParen)
            && METHODS.iter().any(|m| self.token_text(self.tokens[self.at + 1]) == *m)
    }

    /// `.modify(...)` in SET and UPDATE, the only places where it may stand: a call named `.set modify`.
    pub(super) fn xml_change(&mut self, value: Expr, start: usize) -> ParseResult<Expr> {
        self.method(value, start, "set ")
    }

    /// `c.modify(...)` with `.` next and the column's name before it; `None` for anything else.
    pub(super) fn modified_column(&mut self, parts: &[Ident]) -> ParseResult<Option<Expr>> {
        let modify = self.at_xml_method() && self.token_text(self.tokens[self.at + 1]) == "modify";
        let Some((name, qualifier)) = parts.split_last().filter(|_| modify) else {
            return Ok(None);
        };
        let column = ColumnRef { qualifier: qualifier.to_vec(), name: name.clone() };
        let value = Expr::new(ExprKind::Column(column), name.span);
        let start = self.at;
        self.xml_change(value, start).map(Some)
    }

    /// `@x.nodes('path') AS t (c)`, at the dot: a function of rows named `.nodes`.
    pub(super) fn xml_rows(&mut self, value: Expr, start: usize) -> ParseResult<Option<TableRef>> {
        let value = self.value_methods(value, start)?;
        let ExprKind::Function(made) = value.kind else { return Ok(None) };
        let alias = self.alias()?;
        let columns = self.alias_columns(alias.is_some())?;
        let FunctionCall { name, args, .. } = *made;
        Ok(Some(TableRef::Function { name, args, schema: Vec::new(), alias, columns }))
    }

    /// `OPENXML (handle, 'pattern' [, flags]) [WITH (columns)] [AS alias]`
    pub(super) fn open_xml(&mut self) -> ParseResult<TableRef> {
        let name = ObjectName::bare(self.take_ident());
        self.expect_sym(Sym::LeftParen)?;
        let args = self.comma_list(Self::value)?;
        self.expect_sym(Sym::RightParen)?;
        let schema = self.openjson_schema()?;
        if self.at_kw(Kw::With) && self.name_ahead(1) {
            self.note_unsupported("OPENXML WITH the columns of a table");
            self.at += 1;
            self.object_name()?;
        }
        let alias = self.alias()?;
        Ok(TableRef::Function { name, args, schema, alias, columns: Vec::new() })
    }

    /// What XMLNAMESPACES declares, before a path.
    pub(super) fn declare_namespaces(&self, path: Option<&mut Expr>) {
        if self.xml_namespaces.is_empty() {
            return;
        }
        let literal = path.map(|path| &mut path.kind);
        let Some(ExprKind::Literal(Literal::String { value, .. })) = literal else { return };
        let mut prolog = String::new();
        for (prefix, uri) in &self.xml_namespaces {
            let uri = uri.replace('&', "&amp;").replace('"', "&quot;");
            match prefix.is_empty() {
                true => prolog.push_str(&format!("declare default element namespace \"{uri}\";")),
                false => prolog.push_str(&format!("declare namespace {prefix}=\"{uri}\";")),
            }
        }
        value.insert_str(0, &prolog);
    }

    /// `XMLNAMESPACES ('uri' AS prefix, DEFAULT 'uri', ...)`, for the statement that follows.
    pub(super) fn declare_xmlnamespaces(&mut self) -> ParseResult<()> {
        self.at += 1;
        self.expect_sym(Sym::LeftParen)?;
        self.xml_namespaces = self.comma_list(|parser| {
            if parser.eat_kw(Kw::Default) {
                return Ok((String::new(), parser.string()?));
            }
            let uri = parser.string()?;
            parser.expect_kw(Kw::As)?;
            Ok((parser.ident()?.value, uri))
        })?;
        self.expect_sym(Sym::RightParen)
    }
}
