//! Which database a definition of a table names; knows nothing of sessions.

use ir::ddl::Ddl;
use ir::{Stmt, StmtKind};
use syntax::ast::{DropKind, Ident, ObjectName, StatementKind, StatisticsStatement};

/// The database that a definition of a table names; None: none, or several, or the table is a temporary one.
pub(crate) fn database_of(statement: &Stmt) -> Option<&str> {
    // Most statements are of other kinds.
    let name = match &statement.kind {
        // Bound once and for all: DROP looks names up when it runs.
        StmtKind::Ddl(ddl) if matches!(**ddl, Ddl::Drop(_)) => {
            let Ddl::Drop(drop) = &**ddl else { return None };
            if drop.kind == DropKind::Index {
                return of_parts(&drop.names);
            }
            let (first, others) = drop.names.split_first()?;
            let database = first.database.as_ref()?;
            let alike = |name: &ObjectName| {
                let other = name.database.as_ref();
                is_shared(name) && other.is_some_and(|other| other.is(&database.value))
            };
            if drop.kind != DropKind::Table || !others.iter().all(alike) {
                return None;
            }
            first
        }
        StmtKind::Statistics(statistics) => match &**statistics {
            StatisticsStatement::Create { table, .. }
            | StatisticsStatement::Update { table, .. } => table,
            StatisticsStatement::Drop(names) => return of_parts(names),
        },
        StmtKind::Ddl(_) | StmtKind::Truncate { .. } | StmtKind::Deferred => {
            match &statement.source.as_deref()?.kind {
                StatementKind::CreateTable(create) => &create.name,
                StatementKind::AlterTable(alter) => &alter.name,
                StatementKind::CreateIndex(create) => &create.table,
                StatementKind::AlterIndex(alter) => &alter.table,
                StatementKind::Truncate(truncate) => &truncate.table,
                _ => return None,
            }
        }
        _ => return None,
    };
    let database = name.database.as_ref().filter(|_| is_shared(name))?;
    Some(&database.value)
}

/// The same of indexes and statistics, whose names stand behind those of their tables.
fn of_parts(names: &[ObjectName]) -> Option<&str> {
    let (first, others) = names.split_first()?;
    let database: &Ident = first.server.as_ref()?;
    let alike = |name: &ObjectName| name.server.as_ref().is_some_and(|d| d.is(&database.value));
    let is_private = first.schema.as_ref().is_some_and(|table| table.value.starts_with('#'));
    (!is_private && others.iter().all(alike)).then_some(&*database.value)
}

/// A table of this server that is not a temporary one.
fn is_shared(name: &ObjectName) -> bool {
    name.server.is_none() && !name.name.value.starts_with('#')
}
