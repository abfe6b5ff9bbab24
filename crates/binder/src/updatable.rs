//! Changes through views, common table expressions and derived tables: which base table is meant, and what the target's
//! names are of its columns.
//!
//! Invariant: a target is updatable where its rows are rows of one reading of a base table ([`semantics::lineage`]).

use std::sync::Arc;

use catalog::TableDef;
use ir::*;
use syntax::ast;

use crate::context::*;
use semantics::lineage::{carry, conditions, database_of, is_grouped, reach, trace, way};
use semantics::{BindError, Result};

/// The columns of a target, in its order.
pub(crate) type Mapped = Vec<MappedColumn>;

pub(crate) struct MappedColumn {
    pub name: String,
    /// In the target's rows.
    pub id: ColId,
    /// Of the base table; none: it is derived.
    pub ordinal: Option<usize>,
}

/// What an INSERT through a view or common table expression writes.
pub(crate) struct InsertThrough {
    pub table: Arc<TableDef>,
    /// Of the columns that it gives, in its order.
    pub ordinals: Vec<Option<usize>>,
    pub mapped: Mapped,
    /// What a row must answer to.
    pub check: Option<Arc<Expr>>,
    pub way: Option<Arc<Through>>,
}

/// A column of the view, and the reading of a base table and the column there that it comes from.
type Traced<'a> = (&'a ScopeColumn, Option<(ColId, usize)>);

impl Binder<'_> {
    /// Finds the reading of a base table that a change of `scope` is about, by the columns it sets (none: DELETE), and
    /// puts the locator there: the base table's columns, and what the target's names mean. 4405, 4406, 4403.
    pub fn through(
        &mut self,
        rel: &mut Rel,
        scope: &ScopeTable,
        set: Option<&[String]>,
        locator: ColId,
        hints: TableHints,
    ) -> Result<(Vec<ColId>, Mapped)> {
        let traced = self.traced(rel, scope)?;
        let mut reading = None;
        for name in set.unwrap_or_default() {
            self.breath.steps(1 + traced.len())?;
            let column = traced.iter().find(|(c, _)| c.is_named(name));
            let Some((_, found)) = column else { continue };
            let Some((first, _)) = found else {
                return Err(match is_grouped(rel) {
                    true => self.grouped(&scope.shown),
                    false => self.derived_column(&scope.shown),
                });
            };
            if reading.is_some_and(|known| known != *first) {
                return Err(self.several_tables(&scope.shown));
            }
            reading = Some(*first);
        }
        if set.is_none() {
            let mut gets = Vec::new();
            reach(rel, &mut gets);
            // Of several the target's own columns decide.
            let own = |(first, _): &(ColId, Arc<TableDef>)| {
                traced.iter().any(|(_, t)| t.is_some_and(|(f, _)| f == *first))
            };
            // None of the columns may be of a table: WITH c AS (SELECT ROW_NUMBER() ...) DELETE c.
            if gets.len() > 1 {
                gets.retain(own);
            }
            match gets.as_slice() {
                [(first, _)] => reading = Some(*first),
                [] => {}
                _ => return Err(self.several_tables(&scope.shown)),
            }
        }
        let reading =
            reading.or_else(|| traced.iter().find_map(|(_, t)| t.map(|(first, _)| first)));
        let mut old = Vec::new();
        let placed = reading.is_some_and(|first| carry(rel, first, locator, hints, &mut old));
        if !placed {
            return Err(self.grouped(&scope.shown));
        }
        Ok((old, mapped(&traced, reading)))
    }

    /// Where the columns of a target come from.
    fn traced<'s>(&mut self, rel: &Rel, scope: &'s ScopeTable) -> Result<Vec<Traced<'s>>> {
        let mut traced = Vec::with_capacity(scope.columns.len());
        for column in &scope.columns {
            // Each is looked for on every level below.
            self.breath.steps(16 + scope.columns.len())?;
            traced.push((column, trace(rel, column.id)));
        }
        Ok(traced)
    }

    /// 4403.
    fn grouped(&self, shown: &str) -> BindError {
        self.error(
            4403,
            format!(
                "Cannot update the view or function '{shown}' because it contains aggregates, or a DISTINCT or GROUP BY \
                 clause, or PIVOT or UNPIVOT operator."
            ),
        )
    }

    /// 4406.
    pub fn derived_column(&self, shown: &str) -> BindError {
        self.error(
            4406,
            format!(
                "Update or insert of view or function '{shown}' failed because it contains a derived or constant field."
            ),
        )
    }

    fn several_tables(&self, shown: &str) -> BindError {
        self.error(
            4405,
            format!(
                "View or function '{shown}' is not updatable because the modification affects multiple base tables."
            ),
        )
    }

    /// Does a name mean a view, so that a change of it goes through? One of another database may be read alone.
    pub fn is_view(&self, name: &ast::ObjectName) -> bool {
        let wanted = self.meant(name);
        self.elsewhere(&wanted).is_none()
            && self.table(&wanted).is_none()
            && self.names.view(&wanted).is_some()
    }

    /// What a view WITH CHECK OPTION, among those that were bound, asks of a row of the reading whose first column is
    /// `first`, over the slots of the row; none when no such view is in between.
    pub fn check_option(&self, first: ColId) -> Result<Option<Arc<Expr>>> {
        let reads = |rel: &&Rel| {
            let mut gets = Vec::new();
            reach(rel, &mut gets);
            gets.iter().any(|(found, _)| *found == first)
        };
        // Views come behind those that they read: the last asks for all of it.
        let Some(rel) = self.checked.iter().rev().find(reads) else { return Ok(None) };
        let mut filters = Vec::new();
        if !conditions(rel, first, &mut filters) {
            let what =
                "change of rows through a view WITH CHECK OPTION over a join or with a subquery";
            return Err(BindError::unsupported(what, self.line));
        }
        Ok(filters.into_iter().reduce(Expr::and).map(Arc::new))
    }

    /// The rows that a target stands for that is no table: a common table expression, or a view. None: it is a table.
    pub fn target_rows(
        &mut self,
        target: &ast::Target,
        alias: Option<&ast::Ident>,
    ) -> Result<Option<Source>> {
        let ast::Target::Table { name, .. } = target else { return Ok(None) };
        let cte = name.schema.is_none().then(|| self.find_cte(&name.name.value)).flatten();
        match cte {
            Some(index) => self.cte(index, alias.unwrap_or(&name.name)).map(Some),
            None if self.is_view(name) => self.named(name, alias, &[]).map(Some),
            None => Ok(None),
        }
    }

    /// INSERT into a view or common table expression; none when the target is a table.
    pub fn insert_through(
        &mut self,
        target: &ast::Target,
        columns: &[ast::Ident],
    ) -> Result<Option<InsertThrough>> {
        let Some(source) = self.target_rows(target, None)? else { return Ok(None) };
        let Some(scope) = source.tables.first() else { return Ok(None) };
        let traced = self.traced(&source.rel, scope)?;
        // The first that is given tells the table; the others are held against it.
        let first = match columns.first() {
            Some(column) => {
                let line = column.span.line.max(1);
                let found = traced.iter().find(|(c, _)| c.is_named(&column.value));
                found.ok_or_else(|| BindError::invalid_column(&column.value, line))?.1
            }
            None => traced.first().and_then(|(_, found)| *found),
        };
        let Some((first, _)) = first else { return Err(self.derived_column(&scope.shown)) };
        let mut gets = Vec::new();
        reach(&source.rel, &mut gets);
        let Some((_, table)) = gets.into_iter().find(|(reading, _)| *reading == first) else {
            return Err(self.derived_column(&scope.shown));
        };
        let other = |found: Option<(ColId, usize)>| found.is_some_and(|(f, _)| f != first);
        let given = |column: &ScopeColumn| {
            columns.is_empty() || columns.iter().any(|c| column.is_named(&c.value))
        };
        if traced.iter().any(|(column, found)| given(column) && other(*found)) {
            return Err(self.several_tables(&scope.shown));
        }
        let mapped = mapped(&traced, Some(first));
        let ordinals = self.mapped_columns(&table, &mapped, columns, &scope.shown)?;
        let way = way(&source.rel, first);
        let database = database_of(&source.rel, first);
        self.goes_to(database);
        let check = self.check_option(first)?;
        Ok(Some(InsertThrough { table, ordinals, mapped, check, way }))
    }

    /// Ordinals of the columns that an INSERT through a target gives values for, in its order; all where none is named:
    /// 207, 264, 4406.
    pub fn mapped_columns(
        &self,
        table: &TableDef,
        mapped: &Mapped,
        columns: &[ast::Ident],
        shown: &str,
    ) -> Result<Vec<Option<usize>>> {
        if columns.is_empty() {
            let mut ordinals = Vec::with_capacity(mapped.len());
            let is_in_set = table.is_in_set();
            for column in mapped {
                let ordinal = column.ordinal.ok_or_else(|| self.derived_column(shown))?;
                // As for a table: what the engine makes is not given.
                let column = &table.columns[ordinal];
                if column.is_given() && !is_in_set(column) {
                    ordinals.push(Some(ordinal));
                }
            }
            return Ok(ordinals);
        }
        let mut ordinals = Vec::with_capacity(columns.len());
        for column in columns {
            let line = column.span.line.max(1);
            let found = mapped.iter().find(|c| catalog::same_name(&c.name, &column.value));
            let found = found.ok_or_else(|| BindError::invalid_column(&column.value, line))?;
            let ordinal = found.ordinal.ok_or_else(|| self.derived_column(shown))?;
            if ordinals.contains(&Some(ordinal)) {
                return Err(BindError::column_twice(&column.value, line));
            }
            ordinals.push(Some(ordinal));
        }
        Ok(ordinals)
    }
}

/// What a target's names mean in the reading whose first column is `first`.
fn mapped(traced: &[Traced<'_>], first: Option<ColId>) -> Mapped {
    let column = |(column, found): &Traced<'_>| MappedColumn {
        name: column.name.clone().unwrap_or_default(),
        id: column.id,
        ordinal: found.filter(|(reading, _)| Some(*reading) == first).map(|(_, i)| i),
    };
    traced.iter().map(column).collect()
}
