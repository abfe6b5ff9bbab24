//! Names of objects, and the door through which the binder asks what exists.

use std::fmt;
use std::sync::Arc;

use catalog::TableDef;

use crate::ir::SystemView;

/// Temporary tables of the session alone and table variables, by name.
pub(crate) fn is_private(name: &str) -> bool {
    is_temporary(name) && !catalog::is_global_name(name)
}

/// The same, and global temporary tables: what lies in tempdb in SQL Server.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(['#', '@'])
}

/// A name of one to four parts as written; missing parts are None.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectName {
    pub database: Option<String>,
    pub schema: Option<String>,
    pub name: String,
}

impl From<&syntax::ast::ObjectName> for ObjectName {
    fn from(name: &syntax::ast::ObjectName) -> ObjectName {
        // Global temporary tables are where they were made, whatever a name says of tempdb.
        let in_tempdb = name.database.as_ref().is_some_and(|d| d.is("tempdb"));
        if in_tempdb && catalog::is_global_name(&name.name.value) {
            let (database, schema) = (None, Some("dbo".to_owned()));
            return ObjectName { database, schema, name: name.name.value.clone() };
        }
        ObjectName {
            database: name.database.as_ref().map(|i| i.value.clone()),
            schema: name.schema.as_ref().map(|i| i.value.clone()),
            name: name.name.value.clone(),
        }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.database, &self.schema) {
            (Some(d), Some(s)) => write!(f, "{d}.{s}.{}", self.name),
            (Some(d), None) => write!(f, "{d}..{}", self.name),
            (None, Some(s)) => write!(f, "{s}.{}", self.name),
            (None, None) => f.write_str(&self.name),
        }
    }
}

/// SET options that change what a text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// ANSI_NULLS: OFF, `x = NULL` is true of NULL.
    pub ansi_nulls: bool,
    /// CONCAT_NULL_YIELDS_NULL: OFF, NULL is an empty text beside `+`.
    pub concat_null: bool,
    /// ANSI_NULL_DFLT_ON: a new column of which nothing is said may be NULL.
    pub null_columns: bool,
    /// NO_BROWSETABLE: what is selected comes with its table's key and the names of base tables and columns.
    pub browse: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { ansi_nulls: true, concat_null: true, null_columns: true, browse: false }
    }
}

impl Settings {
    /// What holds after `SET name ON` or OFF.
    pub(crate) fn set(self, name: &str, on: bool) -> Settings {
        match name {
            "ANSI_NULLS" => Settings { ansi_nulls: on, ..self },
            "CONCAT_NULL_YIELDS_NULL" => Settings { concat_null: on, ..self },
            "NO_BROWSETABLE" => Settings { browse: on, ..self },
            // Each of the two being ON turns the other off.
            "ANSI_NULL_DFLT_ON" => Settings { null_columns: on, ..self },
            "ANSI_NULL_DFLT_OFF" if on => Settings { null_columns: false, ..self },
            "ANSI_DEFAULTS" => Settings { ansi_nulls: on, null_columns: on, ..self },
            _ => self,
        }
    }
}

/// An alias type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AliasType {
    /// Its object id, which is its user_type_id.
    pub id: i32,
    /// The type of the system that it stands for.
    pub ty: types::SqlType,
    /// May a column of it be NULL, where its definition does not say?
    pub nullable: bool,
    /// What it has bound: "rule" or "default".
    pub bound: Option<&'static str>,
}

/// A synonym that stands for nothing a statement can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LostSynonym {
    /// It stands for another synonym, named so.
    Chained(String),
    /// What it stands for is not there, or is no object of the kind wanted.
    Missing,
}

/// What the binder asks of the catalog. Lookups ignore case. `database` None is the session's
/// current one; a missing schema is the user's default, then `dbo`.
pub trait Names {
    /// Grows with every change of any object: what was bound under another version is stale.
    fn version(&self) -> u64;
    fn table(&self, name: &ObjectName) -> Option<Arc<TableDef>>;
    /// A table of the current database by its object id.
    fn table_by_id(&self, object_id: i32) -> Option<Arc<TableDef>> {
        let _ = object_id;
        None
    }
    fn system_view(&self, name: &ObjectName) -> Option<Arc<SystemView>>;
    /// What CREATE TYPE ... AS TABLE has defined under a name: its object id, and the table.
    fn table_type(&self, name: &ObjectName) -> Option<(i32, catalog::TableSpec)> {
        let _ = name;
        None
    }
    /// What CREATE TYPE ... FROM has defined under a name.
    fn alias_type(&self, name: &ObjectName) -> Option<AliasType> {
        let _ = name;
        None
    }
    /// A function of the current database by its object id.
    fn function_by_id(&self, object_id: i32) -> Option<Arc<catalog::ProcedureDef>> {
        let _ = object_id;
        None
    }
    /// A view.
    fn view(&self, name: &ObjectName) -> Option<Arc<catalog::ProcedureDef>> {
        let _ = name;
        None
    }
    /// A user-defined function of any kind.
    fn function(&self, name: &ObjectName) -> Option<Arc<catalog::ProcedureDef>> {
        let _ = name;
        None
    }
    /// A procedure.
    fn procedure(&self, name: &ObjectName) -> Option<Arc<catalog::ProcedureDef>> {
        let _ = name;
        None
    }
    /// Whether the table type of that name is memory-optimised; None where there is no such type.
    fn has_memory_optimized_type(&self, name: &ObjectName) -> Option<bool> {
        let _ = name;
        None
    }
    /// A sequence.
    fn sequence(&self, name: &ObjectName) -> Option<Arc<catalog::ProcedureDef>> {
        let _ = name;
        None
    }
    /// What a rule or default is called.
    fn bindable_name(&self, object_id: i32) -> Option<String> {
        let _ = object_id;
        None
    }
    /// A partition function.
    fn partition_function(&self, name: &str) -> Option<Arc<catalog::ProcedureDef>> {
        let _ = name;
        None
    }
    /// Whether a name is that of a table, view, function or sequence.
    fn has_object(&self, name: &ObjectName) -> bool {
        self.table(name).is_some()
            || self.view(name).is_some()
            || self.function(name).is_some()
            || self.sequence(name).is_some()
    }
    /// What a name of the current database stands for that is a synonym of something in another one.
    fn stands_for(&self, name: &ObjectName) -> Option<ObjectName> {
        let _ = name;
        None
    }
    /// Does the name mean a synonym, whatever that stands for?
    fn is_synonym(&self, name: &ObjectName) -> bool {
        let _ = name;
        false
    }
    /// Why a synonym of that name leads nowhere: 470, with the synonym it stands for, or 5313.
    fn lost_synonym(&self, name: &ObjectName) -> Option<LostSynonym> {
        let _ = name;
        None
    }
    /// What is asked by an object's id is asked of that database from here on; None: of the current one.
    fn ask_in(&self, database: Option<&str>) {
        let _ = database;
    }
    /// The triggers of a table or view, in the order in which they were made.
    fn triggers(&self, parent: i32) -> Vec<Arc<catalog::ProcedureDef>> {
        let _ = parent;
        Vec::new()
    }
    /// The predicates on a table of a database (None: the current one), by its object id, of the security policy that is
    /// enabled.
    fn predicates(&self, database: Option<&str>, table: i32) -> Vec<catalog::PredicateDef> {
        let _ = (database, table);
        Vec::new()
    }
    /// The SET options that change what an expression means.
    fn settings(&self) -> Settings {
        Settings::default()
    }
    /// Name of the current database.
    fn database(&self) -> String;
}
