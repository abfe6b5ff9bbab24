//! Change tracking: cleaning up, by the clock or when asked for (sp_flush_CT_internal_table_on_demand).

use crate::Commands;
use crate::procedures::Argument;
use catalog::{ObjectRef, TableDef};
use dml::Cleaned;
use engine::EngineError;
use executor::{SqlError, SqlMessage};
use security::Permission;
use session_state::OpenDatabase;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Forgets the changes that are older than the database keeps them (CHANGE_RETENTION), until `stop` is set. Suspends.
pub fn clean_tracked(open: &OpenDatabase, stop: &AtomicBool) -> Result<Cleaned, EngineError> {
    let Some(tracking) = open.catalog.configuration().tracking() else {
        return Ok(Cleaned::default());
    };
    let kept_us = tracking.retention_minutes().saturating_mul(60_000_000);
    let before_us = (runtime::clock::unix_ns() / 1000).saturating_sub(kept_us);
    clean_tracked_before(open, before_us, stop)
}

/// Forgets the changes that were committed before that time, in µs since 1970, until `stop` is set. Suspends.
pub fn clean_tracked_before(
    open: &OpenDatabase,
    before_us: u64,
    stop: &AtomicBool,
) -> Result<Cleaned, EngineError> {
    let Some(tracking) = open.catalog.configuration().tracking() else {
        return Ok(Cleaned::default());
    };
    let tables = || {
        let tracked = |object| match object {
            ObjectRef::Table(table) => Some(table),
            ObjectRef::Procedure(_) => None,
        };
        let tables = open.catalog.objects().into_iter().filter_map(tracked);
        tables.filter(|table| table.tracking.is_some()).collect::<Vec<Arc<TableDef>>>()
    };
    dml::clean_commits(&open.engine, tracking.commits, &tables, before_us, stop)
}

impl Commands<'_> {
    /// sp_flush_CT_internal_table_on_demand: all tables of the database are cleaned, whichever is named.
    pub(crate) fn flush_tracked(&mut self, _: &[Argument], line: u32) -> Result<(), SqlError> {
        self.check_database(Permission::Control)?;
        let open = self.state.database.clone();
        let cleaned = clean_tracked(&open, self.cancel);
        let cleaned = cleaned.map_err(|e| executor::from_engine(e, None, &open.name))?;
        let text = format!("Total rows deleted: {}.", cleaned.rows);
        self.sink.message(&SqlMessage::info(0, line, text));
        Ok(())
    }
}
