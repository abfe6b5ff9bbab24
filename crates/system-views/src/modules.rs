//! Built-in procedures: T-SQL texts, compiled as users' procedures are, and seen from every database.
//!
//! Promise: a text runs in the caller's database, so the catalog views in it show that database's objects.

use crate::object::system_id;
use catalog::same_name;

/// A built-in procedure.
pub struct Module {
    /// Its name, in schema sys.
    pub name: &'static str,
    /// From CREATE PROCEDURE on.
    pub text: &'static str,
}

impl Module {
    /// Its object id: negative.
    pub fn id(&self) -> i32 {
        system_id(&format!("sys.{}", self.name))
    }
}

static MODULES: &[Module] = &[];

/// Every built-in procedure.
pub fn all() -> &'static [Module] {
    MODULES
}

/// A built-in procedure by name, any case; its schema is `sys`, `dbo` or not said.
pub fn find(schema: Option<&str>, name: &str) -> Option<&'static Module> {
    let fits = schema.is_none_or(|s| same_name(s, "sys") || same_name(s, "dbo"));
    MODULES.iter().find(|m| fits && same_name(m.name, name))
}
