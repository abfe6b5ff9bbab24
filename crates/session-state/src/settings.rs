//! SET options that filtered indexes and indexed views ask for of whoever makes one or changes rows under one.
//!
//! Source: SQL Server's documentation of CREATE INDEX ("Required SET options for filtered indexes"). Statements of modules
//! are not asked: they run under what was set when the module was made.

use crate::options::SetOptions;
use catalog::{AlterTable, TableDef};
use executor::SqlError;
use ir::ddl::Ddl;
use ir::{Data, StmtKind};

/// The statement's verb, if it makes a filtered index or changes rows of a table that has one.
pub fn needs_settings(kind: &StmtKind) -> Option<&'static str> {
    let filtered = |table: &TableDef| {
        !table.views.is_empty() || table.indexes.iter().any(|i| i.filter.is_some())
    };
    if let StmtKind::Ddl(ddl) = kind {
        return match &**ddl {
            Ddl::AlterTable(alter) => {
                let makes =
                    |c: &AlterTable| matches!(c, AlterTable::AddIndex(i) if i.filter.is_some());
                alter.changes.iter().any(makes).then_some("CREATE INDEX")
            }
            Ddl::IndexView(_) => Some("CREATE INDEX"),
            _ => None,
        };
    }
    let (table, verb) = match kind.data() {
        Data::Insert(insert) => (&insert.table, "INSERT"),
        Data::Update(update) => (&update.table, "UPDATE"),
        Data::Delete(delete) => (&delete.table, "DELETE"),
        Data::Merge(merge) => (&merge.table, "MERGE"),
        Data::Select(_) | Data::Cursor(_) | Data::SetVars(_) | Data::Return(_) | Data::None => {
            return None;
        }
    };
    filtered(table).then_some(verb)
}

/// 1934, naming those that are not as they must be.
pub fn check_settings(options: &SetOptions, verb: &str) -> Result<(), SqlError> {
    let bits = options.bits();
    let asked = [
        (32, "ANSI_NULLS"),
        (256, "QUOTED_IDENTIFIER"),
        (4096, "CONCAT_NULL_YIELDS_NULL"),
        (8, "ANSI_WARNINGS"),
        (16, "ANSI_PADDING"),
    ];
    let wrong = asked.iter().filter(|(bit, _)| bits & bit == 0).map(|(_, name)| *name);
    let wrong: Vec<&str> = wrong.collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let text = format!(
        "{verb} failed because the following SET options have incorrect settings: '{}'. Verify that SET options are correct \
         for use with indexed views and/or indexes on computed columns and/or filtered indexes and/or query notifications \
         and/or XML data type methods and/or spatial index operations.",
        wrong.join(", ")
    );
    Err(SqlError::new(1934, 16, text))
}
