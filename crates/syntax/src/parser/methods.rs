//! Methods of types: of xml, and of those of the CLR, as hierarchyid.
//!
//! `x.value('path', 'type')` is a call named `.value` whose first argument is `x`; of a column it is a call of a function
//! that the column's name qualifies, as it is written, and the binder tells them apart. `type::Method(...)`, which is
//! called on the type itself, is a call of that whole name. A property is a call without arguments whose name has an equals
//! sign before it, `.=Lat` or `type::=Null`; of a column it is a name with a part more.

use super::builtin::call;
use super::*;

impl Parser<'_> {
    /// `.name(` comes next.
    fn at_method(&self) -> bool {
        self.at_sym(Sym::Dot)
            && self.name_ahead(1)
            && self.kind_ahead(2) == TokenKind::Symbol(Sym::LeftParen)
    }

    /// Methods behind a value, one behind the other.
    #[inline(never)]
    pub(super) fn value_methods(&mut self, mut value: Expr, start: usize) -> ParseResult<Expr> {
        loop {
            if self.at_method() {
                value = self.method(value, start, "")?;
            } else if self.at_sym(Sym::Dot) && self.name_ahead(1) {
                value = self.property(value, start)?;
            } else {
                return Ok(value);
            }
        }
    }

    /// `.name` behind a value, at the dot.
    fn property(&mut self, value: Expr, start: usize) -> ParseResult<Expr> {
        self.height += 1;
        if self.height > MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.at += 1;
        let mut name = self.ident()?;
        name.value = format!(".={}", name.value);
        name.quoted = false;
        Ok(Expr::new(call(name, vec![value]), self.span_from(start)))
    }

    /// `.name = value` behind a variable, at the dot: what the variable becomes, a call of the value named `.set name`.
    pub(super) fn set_property(&mut self, variable: Expr, start: usize) -> ParseResult<Expr> {
        self.at += 1;
        let mut name = self.ident()?;
        name.value = format!(".set {}", name.value);
        name.quoted = false;
        self.expect_sym(Sym::Eq)?;
        let args = vec![variable, self.value()?];
        Ok(Expr::new(call(name, args), self.span_from(start)))
    }

    /// One method, at its dot; `mark` goes before its name.
    pub(super) fn method(&mut self, value: Expr, start: usize, mark: &str) -> ParseResult<Expr> {
        self.height += 1;
        if self.height > MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.at += 1;
        let mut name = self.ident()?;
        let of_xml = xml::is_method(&name.value);
        name.value = format!(".{mark}{}", name.value);
        name.quoted = false;
        let mut args = vec![value];
        args.append(&mut self.method_args()?);
        if of_xml {
            self.declare_namespaces(args.get_mut(1));
        }
        Ok(Expr::new(call(name, args), self.span_from(start)))
    }

    fn method_args(&mut self) -> ParseResult<Vec<Expr>> {
        self.expect_sym(Sym::LeftParen)?;
        let mut args = Vec::new();
        if !self.at_sym(Sym::RightParen) {
            args = self.nested(1, |parser| parser.comma_list(Self::value))?;
        }
        self.expect_sym(Sym::RightParen)?;
        Ok(args)
    }

    /// `::` stands here, and a name after it.
    pub(super) fn at_static_member(&self) -> bool {
        self.at_sym(Sym::Colon)
            && self.kind_ahead(1) == TokenKind::Symbol(Sym::Colon)
            && self.name_ahead(2)
    }

    /// `type::Method(...)`, at the colons, with what stands before the type: a call of that whole name.
    #[inline(never)]
    pub(super) fn static_member(
        &mut self,
        mut qualifier: Vec<Ident>,
        ty: Ident,
    ) -> ParseResult<ExprKind> {
        self.at += 2;
        let mut name = self.ident()?;
        let sign = if self.at_sym(Sym::LeftParen) { "" } else { "=" };
        let schema = qualifier.pop();
        if self.notes.is_some() {
            let named = ObjectName { schema: schema.clone(), ..ObjectName::bare(ty.clone()) };
            self.note(MentionKind::Type, &named);
        }
        let schema = schema.filter(|schema| !schema.is("sys"));
        let schema = schema.map_or_else(String::new, |schema| format!("{}.", schema.value));
        name.value = format!("{schema}{}::{sign}{}", ty.value, name.value);
        name.quoted = false;
        let args = if sign.is_empty() { self.method_args()? } else { Vec::new() };
        Ok(call(name, args))
    }
}
