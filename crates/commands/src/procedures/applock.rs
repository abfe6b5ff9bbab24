//! sp_getapplock and sp_releaseapplock: locks on names, held by the transaction or by the session.
//!
//! Promise: what SQL Server returns as a status is a status here (-1 out of time, -2 cancelled, -3 deadlock victim),
//! and leaves the transaction as it was; what it raises is raised.

use crate::Commands;
use crate::procedures::Argument;
use engine::EngineError;
use executor::{SqlError, applock};
use types::Value;

/// Arguments of a procedure by the names of its parameters.
struct Given<'a> {
    args: &'a [Argument],
    names: &'a [&'a str],
}

impl Given<'_> {
    pub fn value(&self, name: &str) -> Option<&Value> {
        let place = self.names.iter().position(|n| *n == name);
        let named = |a: &&Argument| {
            a.name.as_deref().is_some_and(|n| n.trim_start_matches('@').eq_ignore_ascii_case(name))
        };
        let by_place = || self.args.get(place?).filter(|a| a.name.is_none());
        self.args.iter().find(named).or_else(by_place)?.value.as_ref()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.value(name).and_then(Value::as_str)
    }
}

impl Commands<'_> {
    /// EXEC sp_getapplock; the status.
    pub fn get_applock(&mut self, args: &[Argument]) -> Result<i32, SqlError> {
        let names = ["Resource", "LockMode", "LockOwner", "LockTimeout", "DbPrincipal"];
        let given = Given { args, names: &names };
        let principal = given.text("DbPrincipal").unwrap_or("public");
        let Some(resource) = given.text("Resource") else { return Err(invalid(1224, "resource")) };
        let mode = given.text("LockMode").and_then(applock::mode);
        let mode = mode.ok_or_else(|| invalid(1225, "mode"))?;
        let session = applock::is_session(given.text("LockOwner").unwrap_or("Transaction"));
        let session = session.ok_or_else(|| invalid(1226, "owner"))?;
        let timeout_ms = match given.value("LockTimeout").and_then(Value::as_i64) {
            None => self.state.options.lock_timeout_ms,
            Some(-1) => None,
            Some(ms) => Some(u64::try_from(ms).map_err(|_| invalid(1227, "time-out"))?),
        };
        if !session && self.state.transaction.count == 0 {
            return Err(SqlError::new(
                1226,
                16,
                "You attempted to acquire a transactional application lock without an active transaction.",
            ));
        }
        let state = &mut *self.state;
        let mut txn = state.transaction.take(&state.database, &state.options);
        if !session && !txn.is_active() {
            txn.begin();
        }
        let got = txn.app_lock(principal, resource, mode, session, timeout_ms);
        state.transaction.give(txn);
        match got {
            Ok(true) => Ok(0),
            Ok(false) => Ok(1),
            Err(EngineError::LockTimeout) => Ok(-1),
            Err(EngineError::Cancelled) => Ok(-2),
            Err(EngineError::Deadlock) => Ok(-3),
            Err(e) => Err(executor::from_engine(e, None, &self.state.database.name)),
        }
    }

    /// EXEC sp_releaseapplock; the status.
    pub fn release_applock(&mut self, args: &[Argument]) -> Result<i32, SqlError> {
        let given = Given { args, names: &["Resource", "LockOwner", "DbPrincipal"] };
        let principal = given.text("DbPrincipal").unwrap_or("public");
        let Some(resource) = given.text("Resource") else { return Err(invalid(1224, "resource")) };
        let session = applock::is_session(given.text("LockOwner").unwrap_or("Transaction"));
        let session = session.ok_or_else(|| invalid(1226, "owner"))?;
        let state = &mut *self.state;
        let mut txn = state.transaction.take(&state.database, &state.options);
        let released = txn.app_unlock(principal, resource, session);
        state.transaction.give(txn);
        if released {
            return Ok(0);
        }
        Err(SqlError::new(
            1223,
            16,
            format!(
                "Cannot release the application lock (Database Principal: '{principal}', Resource: \
                 '{resource}') because it is not currently held."
            ),
        ))
    }
}

fn invalid(number: i32, what: &str) -> SqlError {
    let text = format!("An invalid application lock {what} was passed to xp_userlock.");
    SqlError::new(number, 16, text)
}
