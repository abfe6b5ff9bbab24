//! ALTER DATABASE SCOPED CONFIGURATION: options of the session's database ([`catalog::SCOPED_OPTIONS`]), and its part of
//! the plan cache.
//!
//! Sources: SQL Server's documentation of the statement.

use crate::Commands;
use catalog::{SCOPED_OPTIONS, ScopedKind, ScopedOption};
use executor::SqlError;
use security::Permission;
use session_state::EvictedPlans;
use syntax::ast::{ScopedAction, ScopedValue};

impl Commands<'_> {
    /// The statement; 15247 without ALTER ANY DATABASE SCOPED CONFIGURATION.
    pub(crate) fn scoped_configuration(
        &mut self,
        secondary: bool,
        action: &ScopedAction,
    ) -> Result<(), SqlError> {
        if self.check_database(Permission::AlterAnyDatabaseScopedConfiguration).is_err() {
            let text = "User does not have permission to perform this action.";
            return Err(SqlError::new(15247, 16, text));
        }
        match action {
            ScopedAction::Set { name, value } => {
                let wanted = name.value.to_ascii_uppercase();
                let option = SCOPED_OPTIONS.iter().find(|option| option.name == wanted);
                let option = option.ok_or_else(|| near(&name.value))?;
                let value = stored(option, secondary, value)?;
                let catalog = &self.state.database.catalog;
                Ok(catalog.configure(option.name, secondary, value.as_deref())?)
            }
            // There are no secondaries to clear.
            ScopedAction::ClearProcedureCache(_) if secondary => Ok(()),
            ScopedAction::ClearProcedureCache(handle) => {
                let database = self.state.database.id;
                let Some(handle) = handle else {
                    self.machine.evict_plans(EvictedPlans::Of(database));
                    return Ok(());
                };
                let digits = handle.get(2..).unwrap_or("");
                let which = EvictedPlans::PlanOf(database, digits);
                let gone = self.machine.evict_plans(which);
                if gone > 0 {
                    return Ok(());
                }
                let text = format!("The plan handle {handle} does not exist in the plan cache.");
                Err(SqlError::new(18433, 16, text))
            }
        }
    }
}

/// A value as the catalog keeps it; 102 for one that the option does not take.
fn stored(
    option: &ScopedOption,
    secondary: bool,
    value: &ScopedValue,
) -> Result<Option<String>, SqlError> {
    let word = match value {
        ScopedValue::Word(word) => word.as_str(),
        ScopedValue::Text(text) => return Err(near(text)),
        ScopedValue::Number(n) => {
            return match option.kind {
                ScopedKind::Number(low, high) if (low..=high).contains(n) => {
                    Ok(Some(n.to_string()))
                }
                _ => Err(near(&n.to_string())),
            };
        }
    };
    match (word, option.kind) {
        ("PRIMARY", _) if secondary => Ok(None),
        ("ON", ScopedKind::Switch) => Ok(Some("1".into())),
        ("OFF", ScopedKind::Switch) => Ok(Some("0".into())),
        ("OFF" | "WHEN_SUPPORTED" | "FAIL_UNSUPPORTED", ScopedKind::Elevation) => {
            Ok(Some(word.into()))
        }
        _ => Err(near(word)),
    }
}

/// 102.
fn near(what: &str) -> SqlError {
    SqlError::new(102, 15, format!("Incorrect syntax near '{what}'."))
}
