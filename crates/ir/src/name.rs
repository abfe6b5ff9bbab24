//! Names of objects, as statements write them.

use std::fmt;

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
