//! Methods of xml, and WITH XMLNAMESPACES.
//!
//! `x.value('path', 'type')` is a call named `.value` whose first argument is `x`; of a column it is a call of a function
//! that the column's name qualifies, as it is written, and the binder tells them apart. What XMLNAMESPACES declares
//! stands before each path as its prolog, and in [`ForClause::namespaces`].

use super::builtin::call;
use super::*;

const METHODS: &[&str] = &["value", "query", "exist", "nodes", "modify"];

/// Is it a method of xml? Their names are in small letters.
pub(super) fn is_method(name: &Ident) -> bool {
    METHODS.contains(&name.value.as_str())
}

impl Parser<'_> {
    /// `.value(` and its like come next.
    pub(super) fn at_xml_method(&self) -> bool {
        self.at_sym(Sym::Dot)
            && self.kind_ahead(2) == TokenKind::Symbol(Sym::LeftParen)
            && METHODS.iter().any(|m| self.token_text(self.tokens[self.at + 1]) == *m)
    }

    /// Methods behind a value, one behind the other.
    #[inline(never)]
    pub(super) fn xml_methods(&mut self, mut value: Expr, start: usize) -> ParseResult<Expr> {
        while self.at_xml_method() {
            value = self.xml_method(value, start, "")?;
        }
        self.methods()?;
        Ok(value)
    }

    /// One method, at its dot; `mark` goes before its name.
    fn xml_method(&mut self, value: Expr, start: usize, mark: &str) -> ParseResult<Expr> {
        self.height += 1;
        if self.height > MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.at += 1;
        let mut name = self.ident()?;
        name.value = format!(".{mark}{}", name.value);
        self.expect_sym(Sym::LeftParen)?;
        let mut args = vec![value];
        if !self.at_sym(Sym::RightParen) {
            args.extend(self.nested(1, |parser| parser.comma_list(Self::value))?);
        }
        self.expect_sym(Sym::RightParen)?;
        self.declare_namespaces(args.get_mut(1));
        Ok(Expr { kind: call(name, args), span: self.span_from(start) })
    }

    /// `.modify(...)` in SET and UPDATE, the only places where it may stand: a call named `.set modify`.
    pub(super) fn xml_change(&mut self, value: Expr, start: usize) -> ParseResult<Expr> {
        self.xml_method(value, start, "set ")
    }

    /// `c.modify(...)` with `.` next and the column's name before it; `None` for anything else.
    pub(super) fn modified_column(&mut self, parts: &[Ident]) -> ParseResult<Option<Expr>> {
        let modify = self.at_xml_method() && self.token_text(self.tokens[self.at + 1]) == "modify";
        let Some((name, qualifier)) = parts.split_last().filter(|_| modify) else {
            return Ok(None);
        };
        let column = ColumnRef { qualifier: qualifier.to_vec(), name: name.clone() };
        let value = Expr { kind: ExprKind::Column(column), span: name.span };
        let start = self.at;
        self.xml_change(value, start).map(Some)
    }

    /// `@x.nodes('path') AS t (c)`, at the dot: a function of rows named `.nodes`.
    pub(super) fn xml_rows(&mut self, value: Expr, start: usize) -> ParseResult<Option<TableRef>> {
        let value = self.xml_methods(value, start)?;
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
