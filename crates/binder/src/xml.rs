//! Methods of xml: value(), query(), exist(), nodes(), modify().
//!
//! A query is compiled here, once, and goes into the plan; what it takes from outside (sql:variable, sql:column) becomes
//! the arguments behind the xml. Errors: 258, 493, 8137, 8172, 9342, 9344, 9500, 9501, and those of the query itself
//! behind the place where it stands. Sources: SQL documentation, "xml Data Type Methods" and the pages below it, "Binding
//! Relational Data Inside XML Data".

use std::sync::Arc;

use ir::*;
use syntax::ast;
use types::SqlType;
use xml::{Change, External, Query as XQuery, QueryError};

use crate::context::*;
use crate::functions::type_of_text;
use crate::methods::Receiver;
use crate::notes::KnownXml;
use semantics::typing::arity;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// `x.nodes('path') AS t (c)` in FROM; `None` where it is no method.
    #[inline(never)]
    pub(crate) fn xml_nodes(
        &mut self,
        name: &ast::ObjectName,
        args: &[ast::Expr],
        alias: Option<&ast::Ident>,
        columns: &[ast::Ident],
    ) -> Result<Option<Source>> {
        let line = name.span.line.max(1);
        let method = name.name.value.trim_start_matches('.');
        let (receiver, args) = match args.split_first() {
            Some((of, rest)) if name.name.value.starts_with('.') => (self.receiver(of)?, rest),
            _ => match self.column_receiver(name, line)? {
                Some(receiver) => (receiver, args),
                None => return Ok(None),
            },
        };
        if method != "nodes" {
            let text = format!("Incorrect syntax near '{method}'.");
            return Err(BindError::new(102, 15, line, text));
        }
        let (Some(alias), [column]) = (alias, columns) else {
            return Err(BindError::new(102, 15, line, "Incorrect syntax near 'nodes'."));
        };
        self.is_xml(&receiver.value, line)?;
        arity("nodes", args.len(), 1, 1, line)?;
        let source = literal(args, 0, "nodes", line)?;
        let fail = |e| failed(e, &receiver.place, "nodes", line);
        let mut known = KnownXml::of(&receiver.value, &self.node_columns);
        let query = XQuery::compile_for(source, &[], known.given()).map_err(fail)?;
        query.check_nodes("'nodes()'").map_err(fail)?;
        let place = format!("XQuery [{}nodes()]", receiver.place);
        let args = self.with_externals(receiver.value, query.externals(), false, &place, line)?;
        let id = self.new_col();
        known.context = query.node_types().to_vec();
        self.node_columns.insert(id, known);
        let scope = ScopeTable {
            name: alias.value.clone(),
            schema: None,
            shown: alias.value.clone(),
            columns: vec![ScopeColumn {
                name: Some(column.value.clone()),
                id,
                ty: SqlType::Xml,
                nullable: true,
                identity: None,
                updatable: false,
                rowguid: false,
            }],
        };
        let func = TableFunc::XmlNodes(Arc::new(query));
        let rel = Rel::Function { func, args, columns: vec![(id, SqlType::Xml)] };
        Ok(Some(Source { rel, tables: vec![scope] }))
    }

    /// 493 for a column of nodes() used as a value.
    pub(crate) fn check_node_column(&self, id: ColId, name: &str) -> Result<()> {
        if self.node_columns.is_empty() || !self.node_columns.contains_key(&id) {
            return Ok(());
        }
        Err(self.error(
            493,
            format!(
                "The column '{name}' that was returned from the nodes() method cannot be used directly. It can only be \
                 used with one of the four XML data type methods, exist(), nodes(), query(), and value(), or in IS \
                 NULL and IS NOT NULL checks."
            ),
        ))
    }

    /// A value whose column may be one of nodes().
    pub(crate) fn node_or_value(&mut self, e: &ast::Expr) -> Result<Expr> {
        match &e.kind {
            ast::ExprKind::Column(c) => {
                let found = self.column(c, e.span.line.max(1))?;
                Ok(self.column_value(&found))
            }
            _ => self.expr(e),
        }
    }

    fn is_xml(&self, value: &Expr, line: u32) -> Result<()> {
        match value.ty {
            ty if ty.is_xml() => Ok(()),
            ty => {
                let text = format!("Cannot call methods on {}.", ty.message_name());
                Err(BindError::new(258, 15, line, text))
            }
        }
    }

    /// A method, which takes a value that is no xml for an error.
    pub(crate) fn xml_method(
        &mut self,
        receiver: Receiver,
        method: &str,
        args: &[ast::Expr],
        line: u32,
    ) -> Result<Expr> {
        self.is_xml(&receiver.value, line)?;
        let fail = |e| failed(e, &receiver.place, method.trim_start_matches("set "), line);
        let known = KnownXml::of(&receiver.value, &self.node_columns);
        let (kind, externals, ty, changes) = match method {
            "value" => {
                arity("value", args.len(), 2, 2, line)?;
                let source = literal(args, 0, method, line)?;
                let name = literal(args, 1, method, line)?;
                let ty = value_type(name, line)?;
                let query = XQuery::compile_for(source, &[], known.given()).map_err(fail)?;
                query.check_singleton("value()").map_err(fail)?;
                query.check_values().map_err(fail)?;
                let externals = query.externals().to_vec();
                (XmlMethod::Value(Arc::new(query)), externals, ty, false)
            }
            "query" | "exist" => {
                arity(method, args.len(), 1, 1, line)?;
                let source = literal(args, 0, method, line)?;
                let query = XQuery::compile_for(source, &[], known.given()).map_err(fail)?;
                let externals = query.externals().to_vec();
                if method == "exist" {
                    (XmlMethod::Exist(Arc::new(query)), externals, SqlType::Bit, false)
                } else {
                    query.check_content().map_err(fail)?;
                    (XmlMethod::Query(Arc::new(query)), externals, SqlType::Xml, false)
                }
            }
            "set modify" => {
                arity("modify", args.len(), 1, 1, line)?;
                let source = literal(args, 0, "modify", line)?;
                let change = Change::compile_for(source, &[], known.given()).map_err(fail)?;
                let externals = change.externals().to_vec();
                let place = receiver.place.trim_end_matches('.').rsplit('.').next();
                let name = match (&receiver.value.kind, place) {
                    (_, Some(column)) if !column.is_empty() => column.to_owned(),
                    (ExprKind::Var(id), _) => self
                        .frame
                        .vars
                        .get(id.0 as usize)
                        .map_or_else(String::new, |v| v.name.clone()),
                    _ => String::new(),
                };
                (XmlMethod::Modify(Arc::new(change), name), externals, SqlType::Xml, true)
            }
            "modify" => {
                return Err(BindError::new(
                    8137,
                    16,
                    line,
                    "Incorrect use of the XML data type method 'modify'. A non-mutator method is expected in this \
                     context.",
                ));
            }
            "nodes" => {
                return Err(BindError::new(
                    227,
                    15,
                    line,
                    "\"nodes\" is not a valid function, property, or field.",
                ));
            }
            other => {
                let name = other.trim_start_matches("set ");
                let text = format!(
                    "Incorrect use of the XML data type method '{name}'. A mutator method is expected in this context."
                );
                return Err(BindError::new(8138, 16, line, text));
            }
        };
        let place = format!("XQuery [{}{}()]", receiver.place, method.trim_start_matches("set "));
        let args = self.with_externals(receiver.value, &externals, changes, &place, line)?;
        if let Some(rule) = self.page_of(SqlType::Xml, ty, None) {
            let wide = SqlType::NVarChar(types::Len::Max);
            let text = Expr::new(ExprKind::Xml { method: kind, args }, wide, true);
            return Ok(self.text_in_page(rule, text, ty));
        }
        Ok(Expr::new(ExprKind::Xml { method: kind, args }, ty, true))
    }

    /// The xml, then what the query takes from outside.
    fn with_externals(
        &mut self,
        of: Expr,
        externals: &[External],
        changes: bool,
        place: &str,
        line: u32,
    ) -> Result<Vec<Expr>> {
        let mut args = vec![of];
        for external in externals {
            let span = ast::Span { line, ..ast::Span::default() };
            let ident = |value: &str| ast::Ident { value: value.to_owned(), quoted: false, span };
            let value = match external.column {
                true => {
                    let mut parts: Vec<ast::Ident> =
                        split_name(&external.name).iter().map(|p| ident(p)).collect();
                    let name = parts.pop().unwrap_or_else(|| ident(""));
                    let column = ast::ColumnRef { qualifier: parts, name };
                    let found = self.column(&column, line)?;
                    self.check_node_column(found.id, &external.name)?;
                    Expr::col(found.id, found.ty, found.nullable)
                }
                false => {
                    let name = ast::Variable { name: external.name.clone(), span };
                    self.variable_value(&name).map_err(|_| {
                        let text = format!(
                            "XQuery: Unable to resolve sql:variable('{}'). The variable must be declared as a scalar \
                             TSQL variable.",
                            external.name
                        );
                        BindError::new(9501, 16, line, text)
                    })?
                }
            };
            if value.ty.is_xml() && !changes {
                let text = format!(
                    "{place}: An XML instance is only supported as the direct source of an insert using \
                     sql:column/sql:variable."
                );
                return Err(BindError::new(9342, 16, line, text));
            }
            if value.ty == SqlType::Variant {
                let text = format!(
                    "{place}: The SQL type 'sql_variant' is not supported with sql:column() and sql:variable()."
                );
                return Err(BindError::new(9344, 16, line, text));
            }
            args.push(value);
        }
        Ok(args)
    }
}

/// What a query does wrong, behind the place where it stands.
fn failed(e: QueryError, place: &str, method: &str, line: u32) -> BindError {
    match e {
        QueryError::Wrong { number, text } => {
            BindError::new(number, 16, line, format!("XQuery [{place}{method}()]: {text}"))
        }
        QueryError::Unsupported(what) => BindError::unsupported(what, line),
    }
}

/// 8172.
fn literal<'e>(args: &'e [ast::Expr], i: usize, method: &str, line: u32) -> Result<&'e str> {
    match &args[i].kind {
        ast::ExprKind::Literal(ast::Literal::String { value, .. }) => Ok(value),
        _ => Err(BindError::new(
            8172,
            16,
            line,
            format!(
                "The argument {} of the XML data type method \"{method}\" must be a string literal.",
                i + 1
            ),
        )),
    }
}

/// The type that value() is to yield; 243, 9500.
fn value_type(name: &str, line: u32) -> Result<SqlType> {
    let wrong = || {
        let text = format!("The data type '{name}' used in the VALUE method is invalid.");
        BindError::new(9500, 16, line, text)
    };
    let word = name.trim().trim_start_matches("sys.");
    if ["xml", "text", "ntext", "image", "sql_variant", "timestamp"]
        .iter()
        .any(|t| word.eq_ignore_ascii_case(t))
    {
        return Err(wrong());
    }
    type_of_text(word).filter(|ty| !matches!(ty, SqlType::Clr(_))).ok_or_else(wrong)
}

/// `t.c`, `[my table].c`
fn split_name(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut bracket = false;
    for c in name.chars() {
        match c {
            '[' if !bracket => bracket = true,
            ']' if bracket => bracket = false,
            '.' if !bracket => parts.push(String::new()),
            c => parts.last_mut().expect("never empty").push(c),
        }
    }
    parts
}
