//! The queries of indexed views over changed rows, for whoever changes their tables: found among those kept, or planned.
//!
//! Promise: a plan is used only while the view and each table that it reads are what they were.

use crate::environment::SessionEnvironment;
use crate::names::{SessionNames, bind_error};
use crate::state::SessionState;
use catalog::ObjectRef;
use executor::{SqlError, ViewChange};
use ir::Settings;
use std::sync::Arc;

impl SessionEnvironment<'_> {
    /// See [`executor::Environment::view_change`].
    pub(crate) fn planned_view_change(
        &mut self,
        view: i32,
        tables: &[i32],
    ) -> Result<Arc<ViewChange>, SqlError> {
        let key = (self.state.database.id, view, tables.to_vec());
        let known = self.state.view_plans.get(&key);
        if let Some(known) = known.filter(|known| is_current(known, self.state)) {
            return Ok(known.clone());
        }
        let state = &*self.state;
        let found = state.database.catalog.object_in(state.definitions(), view);
        let (module, rows) = match found {
            Some(ObjectRef::Procedure(module)) => (module.clone(), module.rows.clone()),
            _ => return Err(gone(view)),
        };
        let rows = rows.ok_or_else(|| gone(view))?;
        let names = SessionNames::new(state, &mut *self.host).with_settings(Settings::default());
        let change = binder::view_change(&module, tables, &names).map_err(bind_error)?;
        let made = Arc::new(ViewChange::planned(rows, change));
        self.state.view_plans.keep(key, made.clone());
        Ok(made)
    }
}

fn is_current(known: &ViewChange, state: &SessionState) -> bool {
    let catalog = &state.database.catalog;
    let same = |table: &catalog::TableDef| {
        let now = catalog.table_by_id(state.definitions(), table.object_id);
        now.is_some_and(|now| now.version == table.version)
    };
    same(&known.rows) && known.used.iter().all(|(table, _)| same(table))
}

/// It is about to be published that the view has no rows any more.
fn gone(view: i32) -> SqlError {
    let mut error = SqlError::new(208, 16, format!("Invalid object id {view}."));
    error.stale = true;
    error
}
