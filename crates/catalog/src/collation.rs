//! The database's collation: what texts that belong to no column go by, and columns that are not given one of their own.
//!
//! Kept in system table 18 of the database itself (`COLLATION | number`, no row for SQL_Latin1_General_CP1_CI_AS), so it
//! goes along when the database is detached, backed up and restored. A column keeps its own, and has the same after a change of
//! the database's. Names of objects ignore case whatever it is.
//!
//! Promises: it is known before the first definition is; each definition of a table says under which one its rules are
//! read; a change is durable when it returns, and plans made before it are stale after it.
//!
//! Source: SQL Server's documentation of ALTER DATABASE, "Changing the database collation".

use crate::configuration::Configuration;
use crate::def::*;
use crate::system::corrupt;
use crate::{Catalog, CatalogError};
use runtime::task::NoSuspend;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::Collation;

/// Under which name the configuration has it.
const NAME: &str = "COLLATION";

impl Catalog {
    /// What a text goes by that belongs to no column.
    #[inline]
    pub fn collation(&self) -> Collation {
        match self.collation.load(Ordering::Acquire) {
            0 => Collation::default(),
            number => Collation::of_number(number).unwrap_or_default(),
        }
    }

    /// Gives the database another one. Nobody else uses the database. Suspends.
    pub fn set_collation(&self, collation: Collation) -> Result<(), CatalogError> {
        if collation == self.collation() {
            return Ok(());
        }
        let number = collation.number().to_string();
        self.configure(NAME, false, Some(&number))?;
        self.collation.store(collation.number(), Ordering::Release);
        let held = NoSuspend::new();
        let mut defs = self.defs.write();
        // Their rules are read anew, under this collation.
        let read_again = |table: &Arc<TableDef>| TableDef {
            database_collation: collation,
            compiled: Compiled::default(),
            version: self.new_version(),
            ..(**table).clone()
        };
        let mut renewed = std::collections::HashMap::new();
        for (id, object) in &mut defs.by_id {
            if let ObjectRef::Table(table) = object {
                *table = Arc::new(read_again(table));
                renewed.insert(*id, table.clone());
            }
        }
        for entry in defs.by_name.values_mut() {
            if let ObjectRef::Table(table) = &mut entry.object
                && let Some(new) = renewed.get(&table.object_id)
            {
                *table = new.clone();
            }
        }
        drop(defs);
        drop(held);
        self.publish();
        Ok(())
    }

    /// Takes what is configured when the database is opened.
    pub(crate) fn load_collation(&self, found: &Configuration) -> Result<(), CatalogError> {
        let Some(text) = found.text(NAME) else { return Ok(()) };
        let known = text.parse().ok().and_then(Collation::of_number);
        let known = known.ok_or_else(|| {
            corrupt("a database of a collation whose order this build does not have")
        })?;
        self.collation.store(known.number(), Ordering::Release);
        Ok(())
    }
}
