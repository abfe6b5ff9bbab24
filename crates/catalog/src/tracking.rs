//! Change tracking: whether a database does it and for how long it keeps changes, and which tables take part.
//!
//! Kept in the database itself: the database's part as one row of system table 18 under [`NAME`] (so it goes along in
//! backups and when the database is attached elsewhere), a table's part in its row of system table 4.
//!
//! | what | where |
//! |---|---|
//! | who committed as which version | a tree of the database, made when tracking is first switched on and kept when it is switched off: versions go on from there, so that no application takes an old version for a new one |
//! | what was changed | two trees of each table: by transaction and key, and by key, newest first (`executor::tracking`) |
//!
//! Promises: a table is tracked only in a database that tracks (1718, 22115), and has a primary key for as long (3735); its
//! trees come and go with its tracking, and TRUNCATE begins them anew.
//!
//! Source: SQL Server's documentation of change tracking, and of messages 1718, 3735, 4996 to 4999, 5088 to 5092, 22115.

use crate::def::*;
use crate::system::text_or_null;
use crate::{Catalog, CatalogError, Configuration, TreeId, Txn};
use types::Value;

/// Under which name the configuration has it.
const NAME: &str = "CHANGE_TRACKING";

/// Change tracking of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracking {
    /// TRACK_COLUMNS_UPDATED: it is kept which columns an UPDATE sets.
    pub columns: bool,
    /// What each transaction has changed.
    pub changes: TreeId,
    /// The same by the key of the row, newest first.
    pub by_key: TreeId,
    /// The database's: which transaction has committed as which version.
    pub commits: TreeId,
    /// Changes of later versions than this are kept, unless they have been cleaned up.
    pub begin_version: u64,
    /// Counts the times at which columns have changed their numbers.
    pub numbering: i32,
}

/// Change tracking of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseTracking {
    pub on: bool,
    /// CHANGE_RETENTION: a number of units.
    pub retention: i32,
    /// As sys.change_tracking_databases counts them: 1 minutes, 2 hours, 3 days.
    pub unit: u8,
    pub auto_cleanup: bool,
    /// Which transaction has committed as which version.
    pub commits: TreeId,
}

impl DatabaseTracking {
    /// CHANGE_RETENTION in minutes.
    pub fn retention_minutes(&self) -> u64 {
        let unit = match self.unit {
            1 => 1,
            2 => 60,
            _ => 24 * 60,
        };
        self.retention.max(0) as u64 * unit
    }

    fn of_text(text: &str) -> Option<DatabaseTracking> {
        let mut parts = text.split(' ').map(|part| part.parse::<u64>().ok());
        let mut next = || parts.next().flatten();
        Some(DatabaseTracking {
            on: next()? != 0,
            retention: i32::try_from(next()?).ok()?,
            unit: u8::try_from(next()?).ok()?,
            auto_cleanup: next()? != 0,
            commits: crate::system::tree_id(next()? as i64),
        })
    }

    fn text(&self) -> String {
        let DatabaseTracking { on, retention, unit, auto_cleanup, commits } = self;
        format!(
            "{} {retention} {unit} {} {}",
            i32::from(*on),
            i32::from(*auto_cleanup),
            commits.0.0
        )
    }
}

/// What ALTER DATABASE SET CHANGE_TRACKING says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackingSpec {
    /// ON, OFF, or neither.
    pub on: Option<bool>,
    /// A number and its unit, as [`DatabaseTracking`] has them.
    pub retention: Option<(i32, u8)>,
    pub auto_cleanup: Option<bool>,
}

impl Configuration {
    /// Change tracking, where it is on or has been.
    pub fn tracking(&self) -> Option<DatabaseTracking> {
        self.text(NAME).and_then(DatabaseTracking::of_text)
    }
}

impl Catalog {
    /// ALTER DATABASE SET CHANGE_TRACKING. Durable when this returns. 5088, 5089, 22115. Suspends.
    pub fn set_tracking(&self, database: &str, spec: &TrackingSpec) -> Result<(), CatalogError> {
        let refused = |number: i32, text: String| Err(CatalogError::refused(number, text));
        let text = self.in_transaction(|catalog, txn| {
            let known = catalog.locked_tracking(txn)?;
            let is_on = known.is_some_and(|known| known.on);
            if spec.on == Some(true) && is_on {
                let text = format!("Change tracking is already enabled for database '{database}'.");
                return refused(5088, text);
            }
            if spec.on != Some(true) && !is_on {
                return refused(
                    5089,
                    format!(
                        "Change tracking is disabled for database '{database}'. Change tracking must be enabled on a \
                         database to modify change tracking settings."
                    ),
                );
            }
            if spec.on == Some(false) && catalog.some_table_is_tracked(txn)? {
                return refused(
                    22115,
                    format!(
                        "Change tracking is enabled for one or more tables in database '{database}'. Disable change \
                         tracking on each table before disabling it for the database. Use the \
                         sys.change_tracking_tables catalog view to obtain a list of tables for which change tracking \
                         is enabled."
                    ),
                );
            }
            let mut new = match known {
                Some(known) => known,
                None => DatabaseTracking {
                    on: false,
                    retention: 2,
                    unit: 3,
                    auto_cleanup: true,
                    commits: txn.create_tree(engine::PRIMARY)?,
                },
            };
            if spec.on == Some(true) {
                (new.retention, new.unit, new.auto_cleanup) = (2, 3, true);
            }
            new.on = spec.on.unwrap_or(new.on);
            (new.retention, new.unit) = spec.retention.unwrap_or((new.retention, new.unit));
            new.auto_cleanup = spec.auto_cleanup.unwrap_or(new.auto_cleanup);
            let text = new.text();
            let row = [Value::str(NAME), text_or_null(Some(&text)), Value::Null];
            catalog.tables.configuration.put(txn, &row)?;
            Ok(text)
        })?;
        self.publish_configured(NAME, false, Some(&text));
        Ok(())
    }

    /// The database's part, which nobody changes until the transaction ends.
    pub(crate) fn locked_tracking(
        &self,
        txn: &mut Txn,
    ) -> Result<Option<DatabaseTracking>, CatalogError> {
        let row = self.tables.configuration.read_locked(txn, &[Value::str(NAME)])?;
        let text = row.as_ref().and_then(|row| row.get(1)).and_then(Value::as_str);
        Ok(text.and_then(DatabaseTracking::of_text))
    }

    fn some_table_is_tracked(&self, txn: &mut Txn) -> Result<bool, CatalogError> {
        let rows = self.tables.tables.scan(txn, &[])?;
        Ok(rows.iter().any(|row| row.get(7).is_some_and(|tree| !tree.is_null())))
    }

    /// A tracked table gets new trees for its changes: those that were are as gone as its rows.
    pub(crate) fn renew_tracking(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
    ) -> Result<(), CatalogError> {
        let Some(tracking) = &mut table.tracking else { return Ok(()) };
        tracking.changes = txn.truncate_tree(&self.db.tree(tracking.changes))?;
        tracking.by_key = txn.truncate_tree(&self.db.tree(tracking.by_key))?;
        // This commit gets a version, that one or a later: whoever has seen all before it has to begin anew.
        let commits = self.db.tree(tracking.commits);
        tracking.begin_version = txn.tracked_version(&commits)? + 1;
        txn.track(&commits, None);
        Ok(())
    }

    /// The trees of a table's changes go.
    pub(crate) fn drop_tracking(
        &self,
        txn: &mut Txn,
        table: &TableDef,
    ) -> Result<(), CatalogError> {
        if let Some(tracking) = table.tracking {
            txn.drop_tree(&self.db.tree(tracking.changes))?;
            txn.drop_tree(&self.db.tree(tracking.by_key))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_database_keeps_is_read_as_it_was_written() {
        let tracking = DatabaseTracking {
            on: true,
            retention: 14,
            unit: 2,
            auto_cleanup: false,
            commits: crate::system::tree_id(4711),
        };
        assert_eq!(DatabaseTracking::of_text(&tracking.text()), Some(tracking));
        assert_eq!(tracking.retention_minutes(), 840);
        assert_eq!(DatabaseTracking::of_text("1 2"), None);
    }
}
