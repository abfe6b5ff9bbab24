//! The list of databases, kept in `master`.

use crate::def::*;
use crate::{CatalogError, Database};
use std::sync::Arc;

/// The databases of an instance. Ids: master 1, tempdb 2, users from 5.
pub struct ServerCatalog {
    _private: (),
}

impl ServerCatalog {
    /// Writes the empty list into a new `master`.
    pub fn create(master: &Arc<Database>) -> Result<ServerCatalog, CatalogError> {
        let _ = master;
        unimplemented!()
    }
    pub fn open(master: &Arc<Database>) -> Result<ServerCatalog, CatalogError> {
        let _ = master;
        unimplemented!()
    }
    /// By id; `master` is not among them.
    pub fn databases(&self) -> Vec<Arc<DatabaseDef>> {
        unimplemented!()
    }
    /// 911 when there is none.
    pub fn database(&self, name: &str) -> Result<Arc<DatabaseDef>, CatalogError> {
        unimplemented!("{name}")
    }
    /// Adds a database (1801 when the name is taken); the id in `def` is ignored, the one given is
    /// in the answer. Durable when this returns.
    pub fn add(&self, def: DatabaseDef) -> Result<Arc<DatabaseDef>, CatalogError> {
        unimplemented!("{def:?}")
    }
    /// Replaces the entry with this id (state, options, files). Durable when this returns.
    pub fn update(&self, def: DatabaseDef) -> Result<Arc<DatabaseDef>, CatalogError> {
        unimplemented!("{def:?}")
    }
    /// Removes the entry; 911.
    pub fn remove(&self, name: &str) -> Result<(), CatalogError> {
        unimplemented!("{name}")
    }
}
