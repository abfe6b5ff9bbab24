//! Databases that are bound to a resource pool: what their rows in memory may take together.
//!
//! A binding is kept among the options of the database, by the pool's id, and is in force from the next time that the database
//! is opened. The bound is MAX_MEMORY_PERCENT of what the server may take, less a part that in-memory tables never get.
//!
//! Source: SQL Server's documentation, "Bind a Database with Memory-Optimized Tables to a Resource Pool", with its table of
//! those parts; "sys.sp_xtp_bind_db_resource_pool" and "sys.sp_xtp_unbind_db_resource_pool" have the messages.

use crate::Instance;
use crate::database_options::noted;
use crate::errors::catalog_error;
use crate::system_databases;
use catalog::{DEFAULT_GROUP, DatabaseDef, PoolDef};
use engine::MemoryQuota;
use executor::SqlError;
use session_state::OpenDatabase;
use std::sync::Arc;
use system_views::QuotaFigures;

/// The option that keeps a binding.
const BOUND_TO: &str = "resource_pool_id";

/// Percent of a pool that rows in memory may take, where the server may take so many bytes.
fn percent_for_rows(server_bytes: u64) -> u64 {
    match server_bytes >> 30 {
        0..8 => 70,
        8..16 => 75,
        16..32 => 80,
        32..96 => 85,
        _ => 90,
    }
}

/// What the rows of databases bound to a pool may take; `None`: any number of bytes.
fn bound(pool: &PoolDef, is_on: bool, server_bytes: u64) -> Option<u64> {
    let most = server_bytes / 100 * u64::from(pool.max_memory);
    is_on.then(|| most / 100 * percent_for_rows(server_bytes))
}

/// The pool that a database is bound to.
fn bound_to(def: &DatabaseDef) -> Option<i32> {
    noted(def, BOUND_TO)?.parse().ok()
}

impl Instance {
    /// sp_xtp_bind_db_resource_pool, for somebody who may; the ids of both. 911, 41370 to 41373. Suspends.
    pub(crate) fn bind_pool(&self, database: &str, pool: &str) -> Result<(i32, i32), SqlError> {
        if database.eq_ignore_ascii_case("master") || system_databases::named(database).is_some() {
            let text = format!(
                "Binding to a resource pool is not supported for system database '{database}'. This operation can only be \
                 performed on a user database."
            );
            return Err(SqlError::new(41371, 16, text));
        }
        let mut def = self.bindable(database)?;
        let in_force = self.governor.def();
        let Some(found) = in_force.pool_named(pool) else {
            let text = format!(
                "Resource pool '{pool}' does not exist or resource governor has not been reconfigured."
            );
            return Err(SqlError::new(41370, 16, text));
        };
        if found.id <= DEFAULT_GROUP {
            let text = format!(
                "Database '{}' cannot be explicitly bound to the resource pool '{}'. A database can only be bound only to \
                 a user resource pool.",
                def.name, found.name
            );
            return Err(SqlError::new(41373, 16, text));
        }
        if bound_to(&def).is_some() {
            let text = format!(
                "Database '{}' is currently bound to a resource pool. A database must be unbound before creating a new \
                 binding.",
                def.name
            );
            return Err(SqlError::new(41372, 16, text));
        }
        let ids = (def.database_id, found.id);
        def.options.push((BOUND_TO.into(), found.id.to_string().into()));
        self.server.update(def).map_err(catalog_error)?;
        Ok(ids)
    }

    /// sp_xtp_unbind_db_resource_pool, for somebody who may. 911, 41374. Suspends.
    pub(crate) fn unbind_pool(&self, database: &str) -> Result<(), SqlError> {
        let mut def = self.bindable(database)?;
        if bound_to(&def).is_none() {
            let text =
                format!("Database '{}' does not have a binding to a resource pool.", def.name);
            return Err(SqlError::new(41374, 16, text));
        }
        def.options.retain(|(name, _)| &**name != BOUND_TO);
        self.server.update(def).map_err(catalog_error)?;
        Ok(())
    }

    fn bindable(&self, name: &str) -> Result<DatabaseDef, SqlError> {
        let found = self.server.database(name).map_err(|_| {
            let text = format!(
                "Database '{name}' does not exist. Make sure that the name is entered correctly."
            );
            SqlError::new(911, 16, text).with_state(18)
        })?;
        Ok(DatabaseDef::clone(&found))
    }

    /// A database has been opened, and nobody uses it yet.
    pub(crate) fn follow_binding(&self, open: &OpenDatabase) {
        let Ok(def) = self.server.database(&open.name) else { return };
        if let Some(pool) = bound_to(&def) {
            open.engine.set_memory_quota(self.quota(pool));
        }
    }

    /// The quota that all databases bound to a pool share. A pool that is not there bounds nothing.
    fn quota(&self, pool: i32) -> Arc<MemoryQuota> {
        let def = self.governor.def();
        let named = def.pool(pool).map_or("", |pool| &*pool.name);
        let quota = self.governor.quota(pool, named);
        self.fit_quotas();
        quota
    }

    /// Bounds follow the definition in force, and what the server may take.
    pub(crate) fn fit_quotas(&self) {
        let def = self.governor.def();
        let server_bytes = self.may_take_bytes();
        for (id, quota) in self.governor.quotas() {
            quota.set_bound(def.pool(id).and_then(|pool| bound(pool, def.enabled, server_bytes)));
        }
    }

    /// A pool that databases are bound to stays: its id is what they are bound by.
    pub(super) fn check_unbound(&self, pool: &str) -> Result<(), SqlError> {
        let governor = self.server.governor();
        let Some(pool) = governor.pool_named(pool) else { return Ok(()) };
        let bound = self.server.databases().into_iter().find(|def| bound_to(def) == Some(pool.id));
        match bound {
            Some(_) => Err(SqlError::unsupported(
                "DROP RESOURCE POOL of a pool that databases are bound to (sp_xtp_unbind_db_resource_pool)",
            )),
            None => Ok(()),
        }
    }

    /// For the views, by pool.
    pub(crate) fn quota_figures(&self) -> Vec<QuotaFigures> {
        let of = |(pool, quota): (i32, Arc<MemoryQuota>)| QuotaFigures {
            pool,
            used_bytes: quota.used(),
            bound_bytes: quota.bound(),
            refused: quota.refused(),
        };
        self.governor.quotas().into_iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_a_part_of_the_pools_part() {
        let pool = PoolDef { max_memory: 50, ..PoolDef::new(256, "p") };
        assert_eq!(bound(&pool, true, 1000), Some(350));
        assert_eq!(bound(&pool, false, 1000), None);
        assert_eq!((percent_for_rows(8 << 30), percent_for_rows(200 << 30)), (75, 90));
    }
}
