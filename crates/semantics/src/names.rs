//! The door through which the binder asks what exists.

use std::sync::Arc;

use catalog::TableDef;
use ir::{ObjectName, Settings, SystemView};

/// Temporary tables of the session alone and table variables, by name.
pub fn is_private(name: &str) -> bool {
    is_temporary(name) && !catalog::is_global_name(name)
}

/// The same, and global temporary tables: what lies in tempdb in SQL Server.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(['#', '@'])
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
    /// The number that stands for an XML schema collection.
    fn xml_schemas(&self, name: &ObjectName) -> Option<u32> {
        let _ = name;
        None
    }
    /// The full-text index of a table of the current database, by the table's object id, and whether accents count in it.
    fn fulltext(&self, table: i32) -> Option<(catalog::FulltextIndex, bool)> {
        let _ = table;
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
    /// Is a server's name, the first of four parts, this one's?
    fn is_this_server(&self, server: &str) -> bool {
        let _ = server;
        false
    }
    /// Why a database that is there cannot be looked into: the number, severity and text of the error.
    fn why_closed(&self, database: &str) -> Option<(i32, u8, String)> {
        let _ = database;
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
    /// The collation of a database (None: the current one): of columns that are given none, and of texts that belong to no
    /// column.
    fn collation(&self, database: Option<&str>) -> types::Collation {
        let _ = database;
        types::Collation::default()
    }
    /// Name of the current database.
    fn database(&self) -> String;
}
