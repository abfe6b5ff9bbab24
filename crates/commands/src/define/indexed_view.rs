//! The first index of a view, and its end: rows that are kept, and forgotten again.
//!
//! Promise: definition and rows are one statement's work; when the rows cannot be had (two under the unique key), the view
//! is what it was. Errors: 1505, 1935, 1938, and what the binder refuses.

use crate::Commands;
use catalog::{AlterTable, ObjectRef, ProcedureDef, TableDef};
use executor::SqlError;
use ir::ddl::IndexView;
use session_state::OneStatement;
use types::Value;

/// A savepoint that no statement can name.
const STATEMENT: &str = "\u{1}index of a view";

impl Commands<'_> {
    /// CREATE UNIQUE CLUSTERED INDEX on a view.
    pub(super) fn index_view(
        &mut self,
        index: &IndexView,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let view = &index.view;
        if !self.may_change(&ObjectRef::Procedure(view.clone()), false) {
            return Err(crate::refusals::no_object(&format!("{}.{}", view.schema, view.name)));
        }
        check_made_with(view)?;
        self.check_owners(index)?;
        self.as_one(|commands| commands.index_and_fill(index, frame))
    }

    /// What is more than one statement of the engine's, but one of the user's.
    fn as_one(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let one = OneStatement::begin(self.state, STATEMENT)?;
        let done = work(self);
        one.end(self.state, done.is_ok())?;
        done
    }

    fn index_and_fill(&mut self, index: &IndexView, frame: &mut [Value]) -> Result<(), SqlError> {
        let IndexView { view, columns, tables, spec } = index;
        let rows = self.in_catalog(frame, |catalog, txn, scope| {
            Ok(catalog.index_view(txn, scope, view, columns, tables, spec)?)
        })?;
        self.tell_long_keys(&rows, &[]);
        self.in_statement(frame, |cx, _| dml::fill_view(&rows, cx))
    }

    /// ALTER INDEX REBUILD of a view whose clustered index is disabled.
    pub(super) fn reindex_view(
        &mut self,
        rows: &TableDef,
        changes: &[AlterTable],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let (schema, name, id) = (&*rows.schema, &*rows.name, rows.object_id);
        self.as_one(|commands| {
            commands.apply_changes(Some(schema), name, changes, frame)?;
            let scope = commands.state.definitions();
            let rows = commands.state.database.catalog.table_by_id(scope, id);
            let Some(rows) = rows.filter(|rows| !rows.is_disabled_view()) else { return Ok(()) };
            commands.in_statement(frame, |cx, _| dml::fill_view(&rows, cx))
        })
    }

    /// DROP INDEX of a view's clustered index.
    pub(super) fn unindex_view(
        &mut self,
        view: &ProcedureDef,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.in_catalog(frame, |catalog, txn, scope| Ok(catalog.unindex_view(txn, scope, view)?))
    }

    /// 1938: the view and its tables belong to the same.
    fn check_owners(&self, index: &IndexView) -> Result<(), SqlError> {
        let scope = self.state.definitions();
        let catalog = &self.state.database.catalog;
        let directory = catalog.directory(scope);
        let owner = |schema: &str| directory.schema(schema).map(|schema| schema.owner);
        let own = owner(&index.view.schema);
        for id in &index.tables {
            let Some(table) = catalog.table_by_id(scope, *id) else { continue };
            if owner(&table.schema) != own {
                let text = format!(
                    "Index cannot be created on view '{}' because the underlying object '{}' has a different owner.",
                    index.view.name, table.name
                );
                return Err(SqlError::new(1938, 16, text));
            }
        }
        Ok(())
    }
}

/// 1935: what the view means depends on these.
fn check_made_with(view: &ProcedureDef) -> Result<(), SqlError> {
    let options = [(view.ansi_nulls, "ANSI_NULLS"), (view.quoted_identifier, "QUOTED_IDENTIFIER")];
    let off: Vec<&str> = options.iter().filter(|(on, _)| !on).map(|(_, name)| *name).collect();
    if off.is_empty() {
        return Ok(());
    }
    let text = format!(
        "Cannot create index. Object '{}' was created with the following SET options off: '{}'.",
        view.name,
        off.join(", ")
    );
    Err(SqlError::new(1935, 16, text))
}
