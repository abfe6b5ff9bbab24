//! Who may be in a database: SINGLE_USER and RESTRICTED_USER, and how those who are in the way of a change make room.
//!
//! A session is in the database that is current in it; one that reads a table there by a name of three parts is not. The
//! state stands in the database's definition, so that it holds over restarts.

use crate::database_options::noted;
use crate::instance::Instance;
use crate::registry::Registered;
use executor::SqlError;
use session_state::OpenDatabase;
use std::sync::Arc;
use syntax::ast::Termination;
use telemetry::WaitType;

/// How often it is looked whether the others have gone.
const LOOK_NS: u64 = 10_000_000;
/// A session that was ended, and whose client does not take notice, is in nobody's way after this.
const PATIENCE_NS: u64 = 2_000_000_000;

impl Instance {
    /// Why session `spid` may not go into a database: 924 where it has one user only and that is another, 923 where it is
    /// for administrators and `may_restricted` says that the session is none.
    pub(crate) fn refuses_entry(
        &self,
        database: &OpenDatabase,
        spid: u16,
        may_restricted: &dyn Fn() -> bool,
    ) -> Option<SqlError> {
        let def = self.server.database(&database.name).ok()?;
        let name = &database.name;
        match noted(&def, "user_access") {
            Some("SINGLE_USER") if !self.others_in(database.id, spid).is_empty() => {
                let text = format!(
                    "Database '{name}' is already open and can only have one user at a time."
                );
                Some(SqlError::new(924, 14, text))
            }
            Some("RESTRICTED_USER") if !may_restricted() => {
                let text = format!(
                    "Database '{name}' is in restricted mode. Only the database owner and members of the dbcreator and \
                     sysadmin roles can access it."
                );
                Some(SqlError::new(923, 14, text))
            }
            _ => None,
        }
    }

    /// The sessions in a database but `spid`.
    fn others_in(&self, database: u16, spid: u16) -> Vec<Arc<Registered>> {
        let all = self.registered();
        let there = |r: &Arc<Registered>| r.spid() != spid && r.database() == i32::from(database);
        all.into_iter().filter(there).collect()
    }

    /// Is somebody else in a database?
    pub(crate) fn has_others(&self, database: u16, spid: u16) -> bool {
        !self.others_in(database, spid).is_empty()
    }

    /// 5064 while somebody else is the one user of a database.
    pub(crate) fn check_single_user(&self, name: &str, spid: u16) -> Result<(), SqlError> {
        let Ok(def) = self.server.database(name) else { return Ok(()) };
        let taken = noted(&def, "user_access") == Some("SINGLE_USER")
            && !self.others_in(def.database_id as u16, spid).is_empty();
        if !taken {
            return Ok(());
        }
        let text = format!(
            "Changes to the state or options of database '{}' cannot be made at this time. The database is in single-user \
             mode, and a user is currently connected to it.",
            def.name
        );
        Err(SqlError::new(5064, 16, text))
    }

    /// Waits until session `spid` is alone in a database, or ends the others' sessions as `termination` says; 5070. Suspends.
    pub(crate) fn make_room(
        &self,
        database: &OpenDatabase,
        spid: u16,
        termination: Option<Termination>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), SqlError> {
        let begun = runtime::clock::now_ns();
        let ends_after = match termination {
            Some(Termination::RollbackAfter(seconds)) => {
                Some(seconds.saturating_mul(1_000_000_000))
            }
            Some(Termination::NoWait) | None => None,
        };
        let mut ended = None;
        loop {
            let now = runtime::clock::now_ns();
            let mut others = self.others_in(database.id, spid);
            if ended.is_some_and(|at| now.saturating_sub(at) > PATIENCE_NS) {
                others.retain(|other| !other.is_killed() || other.is_running());
            }
            if others.is_empty() {
                return Ok(());
            }
            if termination == Some(Termination::NoWait) {
                let text = format!(
                    "Database state cannot be changed while other users are using the database '{}'",
                    database.name
                );
                return Err(SqlError::new(5070, 16, text));
            }
            if ends_after.is_some_and(|after| now.saturating_sub(begun) >= after) {
                others.iter().filter(|other| !other.is_killed()).for_each(|other| other.kill());
                ended = ended.or(Some(now));
            }
            if is_cancelled() {
                return Err(executor::cancelled());
            }
            runtime::task::sleep_ns(LOOK_NS, WaitType::SleepTask);
        }
    }
}
