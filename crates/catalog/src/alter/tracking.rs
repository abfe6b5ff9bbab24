//! ENABLE and DISABLE CHANGE_TRACKING, and what a tracked table may not undergo.

use crate::catalog::Catalog;
use crate::def::*;
use crate::spec::AlterTable;
use crate::tracking::Tracking;
use crate::{CatalogError, Txn};

impl Catalog {
    /// ENABLE CHANGE_TRACKING of a locked table. 1718, 4996, 4997, 4999.
    pub(super) fn start_tracking(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        columns: bool,
    ) -> Result<(), CatalogError> {
        let refused = |number: i32, text: String| Err(CatalogError::refused(number, text));
        let name = &table.name;
        let Some(database) = self.locked_tracking(txn)?.filter(|tracking| tracking.on) else {
            return refused(1718, not_enabled(self.database_name(), name));
        };
        if table.tracking.is_some() {
            return refused(
                4996,
                format!("Change tracking is already enabled for table '{name}'."),
            );
        }
        let Some(key) = &table.primary_key else {
            return refused(
                4997,
                format!(
                    "Cannot enable change tracking on table '{name}'. Change tracking requires a primary key on the \
                     table. Create a primary key on the table before enabling change tracking."
                ),
            );
        };
        if key.columns.iter().any(|(i, _)| table.columns[*i].rowversion) {
            return refused(
                4999,
                format!(
                    "Cannot enable change tracking on table '{name}'. Change tracking does not support a primary key \
                     of type timestamp on a table."
                ),
            );
        }
        let (number, _) = self.filegroup(Some(&table.filegroup))?;
        let commits = self.db.tree(database.commits);
        table.tracking = Some(Tracking {
            columns,
            changes: txn.create_tree(number)?,
            by_key: txn.create_tree(number)?,
            commits: database.commits,
            begin_version: txn.tracked_version(&commits)?,
            numbering: 0,
        });
        self.put_table(txn, table)
    }

    /// DISABLE CHANGE_TRACKING; 4998.
    pub(super) fn stop_tracking(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
    ) -> Result<(), CatalogError> {
        if table.tracking.is_none() {
            let text = format!("Change tracking is not enabled on table '{}'.", table.name);
            return Err(CatalogError::refused(4998, text));
        }
        self.drop_tracking(txn, table)?;
        table.tracking = None;
        self.put_table(txn, table)
    }

    /// Whether tracking allows a change of the table: its key stays. 3735.
    pub(super) fn check_tracking(
        &self,
        table: &TableDef,
        change: &AlterTable,
    ) -> Result<(), CatalogError> {
        let (Some(_), Some(key)) = (&table.tracking, &table.primary_key) else { return Ok(()) };
        match change {
            AlterTable::DropConstraint { name, .. } if same_name(&key.name, name) => {
                Err(CatalogError::refused(
                    3735,
                    format!(
                        "The primary key constraint '{}' on table '{}' cannot be dropped because change tracking is \
                         enabled on the table. Change tracking requires a primary key constraint on the table. \
                         Disable change tracking before dropping the constraint.",
                        key.name, table.name
                    ),
                ))
            }
            AlterTable::AlterColumn { name, .. }
                if table
                    .column(name)
                    .is_some_and(|at| key.columns.iter().any(|(i, _)| *i == at)) =>
            {
                let what = "ALTER COLUMN of a key by which changes are tracked".into();
                Err(CatalogError::NotSupported { what })
            }
            _ => Ok(()),
        }
    }

    /// Columns of the table have other numbers from now on.
    pub(super) fn renumber_tracked(&self, table: &mut TableDef) {
        if let Some(tracking) = &mut table.tracking {
            tracking.numbering += 1;
        }
    }
}

/// 1718.
pub(crate) fn not_enabled(database: &str, table: &str) -> String {
    format!(
        "Change tracking must be enabled on database '{database}' before it can be enabled on table '{table}'."
    )
}
