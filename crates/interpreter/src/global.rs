//! Global temporary tables, `##t`: every session sees them, and they end with the session that made them.
//!
//! A `##t` is a table of the database in which it was made, in schema dbo, logged and locked as any other; anybody may
//! use it and drop it, as in SQL Server. Sessions in other databases reach it by a name of three parts alone (in SQL
//! Server it lies in tempdb; `tempdb..##t` is taken for `##t` here). What a crash leaves behind is dropped when the
//! database is opened.
//!
//! Invariant: a session drops what it made and nothing else: a table of the same name that another session made later
//! has another object id.

use crate::programs::Session;
use crate::vm::Vm;
use catalog::ObjectRef;
use executor::{Collected, SqlError};
use session_state::Halted;
use session_state::{Host, OpenDatabase};
use std::sync::Arc;

/// How long the end of a session waits for others that use its tables. What is then still in use stays until the
/// database is opened again.
const WAIT_MS: u64 = 10_000;

impl Vm<'_> {
    fn drop_global(&mut self, name: &str, object_id: i32) -> Result<(), SqlError> {
        match self.state.find_object(Some("dbo"), name) {
            Some(ObjectRef::Table(found)) if found.object_id == object_id => {}
            _ => return Ok(()),
        }
        self.commands().in_catalog(&mut [], |catalog, txn, scope| {
            Ok(catalog.drop_table(txn, scope, Some("dbo"), name)?)
        })
    }
}

/// Drops the global temporary tables that a session has made: it ends, or is reset for its next user. No transaction is
/// open. Suspends.
pub fn drop_global_tables(session: &mut Session, host: &mut dyn Host) {
    if session.global_tables.is_empty() || session.trancount() > 0 {
        return;
    }
    let home = session.database.clone();
    let timeout = session.options.lock_timeout_ms.replace(WAIT_MS);
    for table in std::mem::take(&mut session.global_tables) {
        let Some(there) = host.database(&table.database) else { continue };
        drop_in(session, host, there, &table.name, table.object_id);
    }
    session.options.lock_timeout_ms = timeout;
    session.use_database(home);
}

/// Drops what a crash has left of global temporary tables in a database. Suspends.
pub fn drop_stale_global_tables(
    session: &mut Session,
    host: &mut dyn Host,
    there: &Arc<OpenDatabase>,
) {
    for object in there.catalog.objects() {
        if let ObjectRef::Table(table) = object
            && catalog::is_global_name(&table.name)
        {
            drop_in(session, host, there.clone(), &table.name, table.object_id);
        }
    }
}

fn drop_in(
    session: &mut Session,
    host: &mut dyn Host,
    there: Arc<OpenDatabase>,
    name: &str,
    object_id: i32,
) {
    session.use_database(there);
    let mut sink = Collected::default();
    // An error leaves the table to the next opening of the database.
    let _ = crate::request::request(session, host, &mut sink, |vm| {
        vm.drop_global(name, object_id).map_err(|e| Halted::Error(e).into())
    });
}
