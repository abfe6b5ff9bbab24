//! Questions to a statement's tree that need no names and no types.

use syntax::ast;

/// The INTO of a query's first SELECT.
pub fn into_of(body: &ast::QueryBody) -> Option<&ast::SelectInto> {
    match body {
        ast::QueryBody::Select(select) => select.into.as_ref(),
        ast::QueryBody::SetOperation { left, .. } => into_of(left),
        ast::QueryBody::Nested(inner) => into_of(inner),
        ast::QueryBody::Values(_) => None,
    }
}

/// The line of a `*` in a select list of a query or of what it is put together from.
pub fn star_of(query: &ast::Query) -> Option<u32> {
    fn of_body(body: &ast::QueryBody) -> Option<u32> {
        match body {
            ast::QueryBody::Select(select) => {
                let star = |item: &ast::SelectItem| match item {
                    ast::SelectItem::Wildcard { span, .. } => Some(span.line),
                    _ => None,
                };
                let of_source = |item: &ast::TableRef| match item {
                    ast::TableRef::Derived { query, .. } => star_of(query),
                    _ => None,
                };
                select
                    .items
                    .iter()
                    .find_map(star)
                    .or_else(|| select.from.iter().find_map(of_source))
            }
            ast::QueryBody::SetOperation { left, right, .. } => {
                of_body(left).or_else(|| of_body(right))
            }
            ast::QueryBody::Nested(inner) => of_body(inner),
            ast::QueryBody::Values(_) => None,
        }
    }
    of_body(&query.body).or_else(|| query.with.iter().find_map(|cte| star_of(&cte.query)))
}

/// Is it a SELECT INTO?
pub fn has_into(body: &ast::QueryBody) -> bool {
    into_of(body).is_some()
}

/// A SELECT over a change.
pub struct OverChange<'q> {
    pub query: &'q ast::Query,
    pub select: &'q ast::Select,
    pub change: &'q ast::Statement,
    pub alias: &'q ast::Ident,
    pub columns: &'q [ast::Ident],
}

/// The query as a SELECT whose FROM is a change alone; None of any other.
pub fn over_change(query: &ast::Query) -> Option<OverChange<'_>> {
    let mut body = &query.body;
    while let ast::QueryBody::Nested(inner) = body {
        body = inner;
    }
    let ast::QueryBody::Select(select) = body else { return None };
    match &select.from[..] {
        [ast::TableRef::Changed { change, alias, columns }] => {
            Some(OverChange { query, select, change, alias, columns })
        }
        _ => None,
    }
}

/// Is it the word DEFAULT in place of an argument?
pub fn is_default(arg: &ast::Expr) -> bool {
    matches!(&arg.kind, ast::ExprKind::Column(c)
        if c.qualifier.is_empty() && !c.name.quoted && c.name.value.eq_ignore_ascii_case("default"))
}

/// Does FROM, at any depth, name the expression?
pub fn names_in(body: &ast::QueryBody, name: &str) -> bool {
    fn in_ref(item: &ast::TableRef, name: &str) -> bool {
        match item {
            ast::TableRef::Named { name: n, .. } => n.is_bare(name),
            ast::TableRef::Join { left, right, .. } => in_ref(left, name) || in_ref(right, name),
            ast::TableRef::Derived { query, .. } => names_in(&query.body, name),
            ast::TableRef::Pivot { input, .. }
            | ast::TableRef::Unpivot { input, .. }
            | ast::TableRef::Sampled { table: input, .. } => in_ref(input, name),
            _ => false,
        }
    }
    fn in_expr(e: &ast::Expr, name: &str) -> bool {
        use ast::ExprKind as K;
        match &e.kind {
            K::Exists(query) | K::Subquery(query) => names_in(&query.body, name),
            K::InSubquery { expr, query, .. } => in_expr(expr, name) || names_in(&query.body, name),
            K::Quantified { left, query, .. } => in_expr(left, name) || names_in(&query.body, name),
            K::Unary { expr, .. } => in_expr(expr, name),
            K::Binary { left, right, .. } => in_expr(left, name) || in_expr(right, name),
            _ => false,
        }
    }
    match body {
        ast::QueryBody::Select(s) => s.from.iter().any(|item| in_ref(item, name))
            || s.filter.as_ref().is_some_and(|e| in_expr(e, name))
            || s.items.iter().any(
                |item| matches!(item, ast::SelectItem::Expr { expr, .. } if in_expr(expr, name)),
            ),
        ast::QueryBody::SetOperation { left, right, .. } => {
            names_in(left, name) || names_in(right, name)
        }
        ast::QueryBody::Nested(inner) => names_in(inner, name),
        ast::QueryBody::Values(_) => false,
    }
}

/// Where something is to lie, in the catalog's terms.
pub fn space(on: &ast::DataSpace) -> catalog::SpaceSpec {
    catalog::SpaceSpec {
        name: on.name.value.as_str().into(),
        columns: on.columns.iter().map(|c| c.value.as_str().into()).collect(),
    }
}
