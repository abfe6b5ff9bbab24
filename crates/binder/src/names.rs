//! Names of objects, and the door through which the binder asks what exists.

use std::fmt;
use std::sync::Arc;

use catalog::TableDef;

use crate::ir::SystemView;

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

/// What the binder asks of the catalog. Lookups ignore case. `database` None is the session's
/// current one; a missing schema is the user's default, then `dbo`.
pub trait Names {
    /// Grows with every change of any object: what was bound under another version is stale.
    fn version(&self) -> u64;
    fn table(&self, name: &ObjectName) -> Option<Arc<TableDef>>;
    fn system_view(&self, name: &ObjectName) -> Option<Arc<SystemView>>;
    /// What CREATE TYPE ... AS TABLE has defined under a name.
    fn table_type(&self, name: &ObjectName) -> Option<catalog::TableSpec> {
        let _ = name;
        None
    }
    /// The text of a view, from CREATE on, and whether QUOTED_IDENTIFIER was ON for it.
    fn view(&self, name: &ObjectName) -> Option<(Arc<str>, bool)> {
        let _ = name;
        None
    }
    /// A user-defined function of any kind.
    fn function(&self, name: &ObjectName) -> Option<Arc<catalog::ProcedureDef>> {
        let _ = name;
        None
    }
    /// A sequence.
    fn sequence(&self, name: &ObjectName) -> Option<Arc<catalog::ProcedureDef>> {
        let _ = name;
        None
    }
    /// The triggers of a table or view, in the order in which they were made.
    fn triggers(&self, parent: i32) -> Vec<Arc<catalog::ProcedureDef>> {
        let _ = parent;
        Vec::new()
    }
    /// Name of the current database.
    fn database(&self) -> String;
}
