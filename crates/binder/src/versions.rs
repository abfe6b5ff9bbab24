//! FOR SYSTEM_TIME: a versioned table read with the rows of its history, as far as they were valid at the time asked for.
//!
//! The two tables become the sides of a UNION ALL, each below its own filter, so that each is read by its own indexes.
//! Of a view every versioned table in it is read so.
//!
//! Source: "FROM clause plus JOIN, APPLY, PIVOT (Transact-SQL)", FOR SYSTEM_TIME; rows that were valid for no time at all
//! are seen by nobody but who reads the history table itself.

use runtime::task::Step;
use std::sync::Arc;

use catalog::{TableDef, Temporal};
use ir::*;
use syntax::ast;
use types::SqlType;

use crate::context::*;
use crate::notes::Moments;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// The moments of a FOR SYSTEM_TIME, as datetime2.
    pub fn moments(&mut self, time: &ast::SystemTime) -> Result<Moments> {
        let mut moment = |e: &ast::Expr| {
            let bound = self.expr(e)?;
            self.coerce(bound, SqlType::DateTime2(7), CastMode::Implicit)
        };
        Ok(match time {
            ast::SystemTime::All => Moments::All,
            ast::SystemTime::AsOf(at) => Moments::AsOf(moment(at)?),
            ast::SystemTime::FromTo(a, b) => Moments::FromTo(moment(a)?, moment(b)?),
            ast::SystemTime::Between(a, b) => Moments::Between(moment(a)?, moment(b)?),
            ast::SystemTime::ContainedIn(a, b) => Moments::ContainedIn(moment(a)?, moment(b)?),
        })
    }

    /// 13544: what FOR SYSTEM_TIME names has no versions.
    pub fn not_versioned(&self, name: &ast::ObjectName) -> BindError {
        let schema = name.schema.as_ref().map_or("dbo", |s| &s.value);
        let (database, name) = match name.name.value.starts_with('#') {
            true => ("tempdb".to_string(), &name.name.value),
            false => (self.names.database(), &name.name.value),
        };
        self.error(
            13544,
            format!(
                "Temporal FOR SYSTEM_TIME clause can only be used with system-versioned tables. \
                 '{database}.{schema}.{name}' is not a system-versioned table."
            ),
        )
        .with_state(2)
    }

    /// A versioned table with its history.
    pub fn versions(
        &mut self,
        table: Arc<TableDef>,
        alias: Option<&ast::Ident>,
        hints: &[ast::TableHint],
        moments: &Moments,
    ) -> Result<Source> {
        let (Temporal::Versioned { history, .. }, Some(period)) = (table.temporal, table.period())
        else {
            return Err(self.error(13591, "SYSTEM_VERSIONING is not turned ON."));
        };
        let Some(history) = self.names.table_by_id(history) else {
            return Err(self.error(208, format!("Invalid object id {history}.")));
        };
        let (current, mut scope) = self.get(table.clone(), alias, hints)?;
        let (former, _) = self.get(history, alias, hints)?;
        let (left_columns, right_columns) = (current.columns.clone(), former.columns.clone());
        let left = self.valid(current, period, moments, false)?;
        let right = self.valid(former, period, moments, true)?;
        let columns: Vec<ColId> = left_columns.iter().map(|_| self.new_col()).collect();
        self.note_columns(&table, &columns);
        for (column, id) in scope.columns.iter_mut().zip(&columns) {
            if self.hidden.contains(&column.id) {
                self.hidden.insert(*id);
            }
            (column.id, column.identity, column.updatable) = (*id, None, false);
        }
        let rel = Rel::SetOp {
            op: SetOp::UnionAll,
            left: Box::new(left),
            left_columns,
            right: Box::new(right),
            right_columns,
            columns,
            step: Step::default(),
        };
        Ok(Source { rel, tables: vec![scope] })
    }

    /// The rows of one of the two tables that were valid at the time.
    fn valid(
        &mut self,
        get: Get,
        (start, end): (usize, usize),
        moments: &Moments,
        former: bool,
    ) -> Result<Rel> {
        let column = |at: usize| Expr::col(get.columns[at], get.table.columns[at].ty, false);
        let (from, to) = (column(start), column(end));
        use CompareOp::{Ge, Gt, Le, Lt};
        // How the begin of a version, and how its end, compares with which moment.
        let bounds = match moments {
            Moments::All => None,
            Moments::AsOf(at) => Some([(Le, at), (Gt, at)]),
            Moments::FromTo(a, b) => Some([(Lt, b), (Gt, a)]),
            Moments::Between(a, b) => Some([(Le, b), (Gt, a)]),
            Moments::ContainedIn(a, b) => Some([(Ge, a), (Le, b)]),
        };
        let mut terms = Vec::new();
        for (edge, (op, moment)) in [&from, &to].into_iter().zip(bounds.into_iter().flatten()) {
            terms.push(self.compare(op, edge.clone(), moment.clone())?);
        }
        if former {
            terms.push(self.compare(CompareOp::Ne, from, to)?);
        }
        let rel = self.filtered(get)?;
        Ok(terms
            .into_iter()
            .fold(rel, |input, predicate| Rel::Filter { input: Box::new(input), predicate }))
    }
}
