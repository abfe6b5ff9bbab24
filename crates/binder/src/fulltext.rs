//! CONTAINS and FREETEXT, and as rows CONTAINSTABLE and FREETEXTTABLE.
//!
//! Both become a function of the columns that are searched; the rows are those of the table whose rank is not NULL. Errors:
//! 7601, 7615, 7625, 7630, 7632, 7645, 7646, 7678, 7696, 9987, 31201. Sources: SQL documentation of the four.

use ir::*;
use syntax::ast::{self, FulltextColumns};
use types::{Len, SqlType, Value};

use crate::context::*;
use crate::notes::Base;
use ::fulltext::{Options, Search};
use semantics::{BindError, Result};

/// A column that is searched: its place in its table.
type Place = usize;

impl Binder<'_> {
    /// The condition, or the rank.
    #[inline(never)]
    pub(crate) fn fulltext(&mut self, ask: &ast::Fulltext) -> Result<Expr> {
        let line = ask.span.line.max(1);
        let (base, named) = self.searched(&ask.columns, line)?;
        if base.database.is_some() {
            let what = "full-text search of a table of another database";
            return Err(BindError::unsupported(what, line));
        }
        let table = base.table.clone();
        self.touched.set(true);
        let found = self.names.fulltext(table.object_id).filter(|(index, _)| index.is_enabled);
        let Some((index, accents)) = found else {
            return Err(not_indexed("table or indexed view", &table.name, line));
        };
        let places: Vec<Place> = match named {
            None => index.columns.iter().filter_map(|c| table.column(&c.name)).collect(),
            Some(places) => places,
        };
        let mut columns = Vec::new();
        for place in &places {
            let name = &table.columns[*place].name;
            let found = index.columns.iter().find(|c| catalog::same_name(&c.name, name));
            columns.push(found.ok_or_else(|| not_indexed("column", name, line))?);
        }
        let languages = columns.iter().map(|c| c.language);
        let language = match &ask.language {
            Some(term) => self.language(term, line)?,
            None => {
                let (least, most) = (languages.clone().min(), languages.max());
                if least != most {
                    let text = "Full-text table or indexed view has more than one LCID among its full-text indexed columns.";
                    return Err(BindError::new(7625, 16, line, text));
                }
                Expr::int(least.unwrap_or(0))
            }
        };
        let stopwords = index.stoplist == catalog::Stoplist::System;
        let flags = if ask.freetext { fulltext_flags::FREETEXT } else { 0 }
            | if stopwords { 0 } else { fulltext_flags::NO_STOPWORDS }
            | if accents { 0 } else { fulltext_flags::NO_ACCENTS };
        let condition = self.expr(&ask.condition)?;
        let long = condition.ty.is_max() || !condition.ty.is_character();
        let ty = SqlType::NVarChar(if long { Len::Max } else { Len::N(4000) });
        let condition = self.coerce(condition, ty, CastMode::Implicit)?;
        check(&condition, &language, flags, line)?;
        let mut args = vec![condition, language, Expr::int(flags)];
        let value = |place: Place| {
            let column = &table.columns[place];
            Expr::col(ColId(base.first + place as u32), column.ty, true)
        };
        for (place, column) in places.iter().zip(&columns) {
            args.push(value(*place));
            let kind = column.type_column.as_ref().and_then(|name| table.column(name));
            args.push(kind.map_or_else(|| Expr::constant(Value::Null, SqlType::Int), value));
        }
        if ask.ranks {
            let kind = ExprKind::Func { func: FuncId::FulltextRank, args };
            return Ok(Expr::new(kind, SqlType::Int, true));
        }
        let kind = ExprKind::Func { func: FuncId::FulltextMatch, args };
        let found = Expr::new(kind, SqlType::Bit, false);
        let yes = Expr::constant(Value::Bit(true), SqlType::Bit);
        Ok(Expr::compare(CompareOp::Eq, found, yes))
    }

    /// The table that is searched, and the columns that are named.
    fn searched(
        &mut self,
        columns: &FulltextColumns,
        line: u32,
    ) -> Result<(Base, Option<Vec<Place>>)> {
        let base_of = |binder: &Self, id: ColId| {
            binder.bases.iter().rev().find_map(|base| Some((base.clone(), base.place_of(id)?)))
        };
        match columns {
            FulltextColumns::All(qualifier) => {
                let scope = self.scopes.last();
                let tables = scope.map_or(&[][..], |scope| &scope.tables);
                let mut fitting = tables.iter().filter(|t| matches_qualifier(t, qualifier));
                let (Some(table), None) = (fitting.next(), fitting.next()) else {
                    let text = "A CONTAINS or FREETEXT predicate can only operate on one table or indexed view. Qualify the \
                                use of * with a table or indexed view name.";
                    return Err(BindError::new(7615, 16, line, text));
                };
                let first = table.columns.first().and_then(|column| base_of(self, column.id));
                let missing = || not_indexed("table or indexed view", &table.shown, line);
                first.map(|(base, _)| (base, None)).ok_or_else(missing)
            }
            FulltextColumns::Property => {
                let text = "Property-scoped full-text queries cannot be specified on the specified table because its full-text \
                            index is not configured for property searching. To support property-scoped searches, the full-text \
                            index must be associated with a search property list and repopulated. The Transact-SQL syntax for \
                            this is: ALTER FULLTEXT INDEX ON <table_name> SET SEARCH PROPERTY LIST <property_list_name>;.";
                Err(BindError::new(31201, 16, line, text))
            }
            FulltextColumns::Named(list) => {
                let mut of: Option<Base> = None;
                let mut places = Vec::new();
                for column in list {
                    self.breath.steps(16)?;
                    let name = &column.name.value;
                    let found = self.column(column, line)?;
                    let (base, place) =
                        base_of(self, found.id).ok_or_else(|| not_indexed("column", name, line))?;
                    if let Some(other) = of.as_ref().filter(|other| other.first != base.first) {
                        let text = format!(
                            "Fulltext predicate references columns from two different tables or indexed views '{}' and '{}' \
                             which is not allowed.",
                            other.table.name, base.table.name
                        );
                        return Err(BindError::new(7646, 16, line, text));
                    }
                    of = Some(base);
                    places.push(place);
                }
                let of = of.ok_or_else(|| BindError::unsupported("a search of no column", line))?;
                Ok((of, Some(places)))
            }
        }
    }

    /// LANGUAGE: a name, or an LCID.
    fn language(&mut self, term: &ast::Expr, line: u32) -> Result<Expr> {
        let bound = self.expr(term)?;
        let lcid = match &bound.kind {
            ExprKind::Const(Value::Str(name)) => match catalog::fulltext_language(name.as_str()) {
                Some(lcid) => Expr::int(lcid),
                None => {
                    let text = format!(
                        "The following string is not defined as a language alias in syslanguages: {name}."
                    );
                    return Err(BindError::new(7678, 16, line, text));
                }
            },
            ExprKind::Const(Value::Binary(bytes)) if bytes.len() <= 4 => {
                let lcid = bytes.iter().fold(0u32, |n, b| n << 8 | u32::from(*b));
                Expr::int(lcid as i32)
            }
            _ => self.coerce(bound, SqlType::Int, CastMode::Implicit)?,
        };
        match &lcid.kind {
            ExprKind::Const(value)
                if !value.as_i64().is_some_and(|n| catalog::is_fulltext_language(n as i32)) =>
            {
                Err(no_language(line))
            }
            _ => Ok(lcid),
        }
    }

    /// CONTAINSTABLE, FREETEXTTABLE: columns KEY and RANK.
    #[inline(never)]
    pub(crate) fn fulltext_rows(
        &mut self,
        rows: &ast::FulltextRows,
    ) -> Result<crate::scope::Source> {
        let line = rows.ask.span.line.max(1);
        let wanted = self.meant(&rows.table);
        if self.elsewhere(&wanted).is_some() {
            let what = "full-text search of a table of another database";
            return Err(BindError::unsupported(what, line));
        }
        let Some(table) = self.table(&wanted) else {
            return Err(BindError::invalid_object(&rows.table, line));
        };
        let index = self.names.fulltext(table.object_id);
        let key = index.and_then(|(index, _)| table.column_of_index(index.key));
        let Some(key) = key else {
            return Err(not_indexed("table or indexed view", &table.name, line));
        };
        let quoted = |name: &str| format!("[{}]", name.replace(']', "]]"));
        let (key, of) = (quoted(&table.columns[key].name), rows.table.to_string());
        let (top, order) = match rows.top {
            Some(_) => ("TOP (0)", "ORDER BY d.[RANK] DESC"),
            None => ("", ""),
        };
        // Written as a query, into which what is asked is put.
        let text = format!(
            "SELECT {top} d.[KEY], d.[RANK] FROM (SELECT t.{key} AS [KEY], NULL AS [RANK] FROM {of} AS t) AS d WHERE \
             d.[RANK] IS NOT NULL {order}"
        );
        let broken = || BindError::invalid_object(&rows.table, line);
        let batch = syntax::parse_batch(&text, &syntax::LexOptions::default());
        let statement = batch.ok().and_then(|batch| batch.statements.into_iter().next());
        let Some(ast::StatementKind::Select(mut query)) = statement.map(|s| s.kind) else {
            return Err(broken());
        };
        let filled = fill(&mut query, rows);
        filled.ok_or_else(broken)?;
        let bound = self.derived(&query, line)?;
        self.expose_as(bound, &rows.alias.value, &rows.alias.value, &rows.columns)
    }
}

/// Puts what is asked, and how many rows are wanted, into the query that was written for it.
fn fill(query: &mut ast::Query, rows: &ast::FulltextRows) -> Option<()> {
    let ast::QueryBody::Select(select) = &mut query.body else { return None };
    if let (Some(top), Some(wanted)) = (&mut select.top, &rows.top) {
        *top.count = wanted.clone();
    }
    let ast::TableRef::Derived { query: inner, .. } = select.from.first_mut()? else { return None };
    let ast::QueryBody::Select(inner) = &mut inner.body else { return None };
    if let ast::TableRef::Named { name, .. } = inner.from.first_mut()? {
        *name = rows.table.clone();
    }
    let ast::SelectItem::Expr { expr, .. } = inner.items.get_mut(1)? else { return None };
    let kind = ast::ExprKind::Fulltext(Box::new(rows.ask.clone()));
    *expr = ast::Expr::new(kind, rows.ask.span);
    Some(())
}

/// What is wrong with a condition that is known already: 7630, 7632, 7645.
fn check(condition: &Expr, language: &Expr, flags: i32, line: u32) -> Result<()> {
    let ExprKind::Const(value) = &condition.kind else { return Ok(()) };
    let text = value.as_str().unwrap_or("");
    if text.trim().is_empty() {
        return Err(BindError::new(7645, 15, line, "Null or empty full-text predicate."));
    }
    if flags & fulltext_flags::FREETEXT != 0 {
        return Ok(());
    }
    let english = !matches!(&language.kind, ExprKind::Const(v) if v.as_i64() != Some(1033));
    let options = Options { english, stopwords: true, accents: true };
    match Search::contains(text, options) {
        Ok(_) => Ok(()),
        Err(e) => match e.message(text) {
            Some((number, told)) => Err(BindError::new(number, 15, line, told)),
            None => Ok(()),
        },
    }
}

/// 7601.
fn not_indexed(kind: &str, name: &str, line: u32) -> BindError {
    let text = format!(
        "Cannot use a CONTAINS or FREETEXT predicate on {kind} '{name}' because it is not full-text indexed."
    );
    BindError::new(7601, 16, line, text)
}

/// 7696.
fn no_language(line: u32) -> BindError {
    let text = "Invalid locale ID was specified. Please verify that the locale ID is correct and corresponding language \
                resource has been installed.";
    BindError::new(7696, 16, line, text)
}
