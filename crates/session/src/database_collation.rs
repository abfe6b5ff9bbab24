//! The collation of a database: COLLATE of CREATE DATABASE and of ALTER DATABASE.
//!
//! Promise: a database is given another collation only while nobody else is in it and nothing in it is read by the old one
//! (5030, 5075, each with 5072); columns that are there keep theirs. What it means is said in the crates `catalog`
//! (`collation.rs`) and `binder` (`collate.rs`).
//!
//! Source: SQL Server's documentation of ALTER DATABASE, "Changing the database collation"; texts as in sys.messages.

use crate::database_options::{COLLATION, collation_named, note_option};
use crate::errors::catalog_error;
use crate::host::InstanceHost;
use catalog::{ModuleKind, ObjectRef, ProcedureDef, TableDef};
use executor::SqlError;
use semantics::{kept, native};
use session_state::OpenDatabase;
use syntax::ast::{Expr, ExprKind, FunctionReturns, Literal, StatementKind};
use types::Collation;

impl InstanceHost {
    /// ALTER DATABASE ... COLLATE. The gate is held. Suspends.
    pub(crate) fn collate_database(&self, open: &OpenDatabase, name: &str) -> Result<(), SqlError> {
        let collation = collation_named(name)?;
        if open.is_system() {
            let name = &open.name;
            let text =
                format!("Cannot alter the database '{name}' because it is a system database.");
            return Err(SqlError::new(3708, 16, text));
        }
        if collation == open.catalog.collation() {
            return Ok(());
        }
        let instance = &self.instance;
        if instance.has_others(open.id, self.spid) {
            let text = "The database could not be exclusively locked to perform the operation.";
            return Err(failed(&open.name, collation, vec![SqlError::new(5030, 16, text)]));
        }
        let dependents: Vec<SqlError> = open
            .catalog
            .objects()
            .iter()
            .flat_map(dependents_of)
            .map(|what| depends(&what))
            .collect();
        if !dependents.is_empty() {
            return Err(failed(&open.name, collation, dependents));
        }
        open.catalog.set_collation(collation).map_err(catalog_error)?;
        instance.plans.throw_out(|plan| plan.database_id() == open.id);
        let mut def = self.def(&open.name)?;
        note_option(&mut def, COLLATION, &collation.name());
        self.store(def)
    }
}

/// 5072 behind what stands against it.
fn failed(database: &str, collation: Collation, why: Vec<SqlError>) -> SqlError {
    let text = format!(
        "ALTER DATABASE failed. The default collation of database '{database}' cannot be set to {}.",
        collation.name()
    );
    let ahead = why.into_iter().map(|error| executor::SqlMessage { line: 0, ..error.to_message() });
    SqlError::new(5072, 16, text).with_ahead(ahead.collect())
}

/// 5075: "The object 'v'".
fn depends(what: &str) -> SqlError {
    let text = format!(
        "{what} is dependent on database collation. The database collation cannot be changed if a schema-bound object \
         depends on it. Remove the dependencies on the database collation and then retry the operation."
    );
    SqlError::new(5075, 16, text)
}

fn dependents_of(object: &ObjectRef) -> Vec<String> {
    match object {
        ObjectRef::Table(table) => in_table(table),
        ObjectRef::Procedure(module) if is_dependent(module) => {
            vec![format!("The object '{}'", module.name)]
        }
        ObjectRef::Procedure(_) => Vec::new(),
    }
}

/// CHECK constraints, computed columns and filters of indexes that have to do with texts.
fn in_table(table: &TableDef) -> Vec<String> {
    let options = syntax::LexOptions::default();
    let is_text = |e: Result<Expr, _>| e.map_or(true, |e: Expr| has_text(&e, table));
    let checks = table
        .checks
        .iter()
        .filter(|check| is_text(syntax::parse_condition(&check.text, &options).map_err(drop)));
    let computed = table.columns.iter().filter(|column| {
        column.computed.as_ref().is_some_and(|computed| {
            is_text(syntax::parse_expression(&computed.text, &options).map_err(drop))
        })
    });
    let filters = table.indexes.iter().filter(|index| {
        let filter = index.filter.as_ref();
        filter.is_some_and(|text| is_text(syntax::parse_condition(text, &options).map_err(drop)))
    });
    let checks = checks.map(|check| format!("The object '{}'", check.name));
    let filters = filters.map(|index| format!("The index '{}.{}'", table.name, index.name));
    let computed = computed.map(|c| format!("The column '{}.{}'", table.name, c.name));
    checks.chain(computed).chain(filters).collect()
}

fn has_text(e: &Expr, table: &TableDef) -> bool {
    let mut found = match &e.kind {
        ExprKind::Literal(literal) => matches!(literal, Literal::String { .. }),
        ExprKind::Column(c) => {
            let column = table.column(&c.name.value);
            column.is_some_and(|at| table.columns[at].ty.is_character())
        }
        _ => false,
    };
    e.for_each_child(&mut |child| found = found || has_text(child, table));
    found
}

/// Views and functions WITH SCHEMABINDING, and functions that return a table with columns of the database's collation.
fn is_dependent(module: &ProcedureDef) -> bool {
    use ModuleKind::*;
    match module.kind {
        View | ScalarFunction | InlineFunction | TableFunction
            if native::has_option(module, "SCHEMABINDING") =>
        {
            true
        }
        TableFunction => {
            let Some(StatementKind::CreateFunction(create)) = kept::definition(module) else {
                return true;
            };
            let FunctionReturns::Table { definition, .. } = &create.returns else { return false };
            definition.columns.iter().any(|column| {
                let ty = column.ty.as_ref().map(|ty| ty.name.to_ascii_lowercase());
                let is_text =
                    |ty: String| ty.contains("char") || ty.contains("text") || ty == "sysname";
                column.collation.is_none() && ty.is_some_and(is_text)
            })
        }
        _ => false,
    }
}
