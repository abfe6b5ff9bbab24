//! ALTER COLUMN ... ADD and DROP: what a column is called besides its type.

use crate::catalog::Catalog;
use crate::def::*;
use crate::spec::Mark;
use crate::{CatalogError, Txn};
use types::SqlType;

/// user_type_id of sysname.
const SYSNAME: i32 = 256;

impl Catalog {
    /// 4924, 4928, 1731, 4919, 4925, 4926, 4991, 2761, 13735.
    pub(super) fn mark_column(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: &str,
        mark: Mark,
        on: bool,
    ) -> Result<(), CatalogError> {
        let shown = self.shown(table);
        let refused = |number: i32, text: String| Err(CatalogError::refused(number, text));
        let Some(at) = table.column(name) else {
            let (column, table) = (name.into(), table.name.clone());
            return Err(CatalogError::NoColumn { action: "ALTER COLUMN", column, table });
        };
        let another = table.columns.iter().any(|c| c.marks.rowguidcol);
        let history = matches!(table.temporal, Temporal::History { .. });
        let column = &mut table.columns[at];
        if column.marks.column_set {
            return Err(CatalogError::unalterable(&column.name, "COLUMN_SET"));
        }
        match mark {
            Mark::Persisted => match &mut column.computed {
                Some(computed) if computed.volatile && on => {
                    let (column, table) = (&column.name, &table.name);
                    return refused(4936, not_persisted(column, table));
                }
                Some(computed) => computed.persisted = on,
                None => {
                    let text = format!(
                        "PERSISTED attribute cannot be altered on column '{}' because this column is not computed.",
                        column.name
                    );
                    return refused(4919, text);
                }
            },
            Mark::RowGuidCol if on && another => {
                let text = format!(
                    "ALTER TABLE ALTER COLUMN ADD ROWGUIDCOL failed because a column already exists in table '{}' \
                     with ROWGUIDCOL property.",
                    table.name
                );
                return refused(4925, text);
            }
            Mark::RowGuidCol if on && column.ty != SqlType::UniqueIdentifier => {
                let text = "The ROWGUIDCOL property can only be specified on the uniqueidentifier data type.";
                return refused(2761, text.into());
            }
            Mark::RowGuidCol if !on && !column.marks.rowguidcol => {
                let text = format!(
                    "ALTER TABLE ALTER COLUMN DROP ROWGUIDCOL failed because a column does not exist in table '{}' \
                     with ROWGUIDCOL property.",
                    table.name
                );
                return refused(4926, text);
            }
            Mark::RowGuidCol => column.marks.rowguidcol = on,
            Mark::Hidden if column.generated.is_none() && !history => {
                let text = format!(
                    "Cannot alter HIDDEN attribute on column '{}' in table '{shown}' because this column is not a \
                     generated always column.",
                    column.name
                );
                return refused(13735, text);
            }
            Mark::Hidden => column.marks.hidden = on,
            Mark::Sparse if column.computed.is_some() => {
                return Err(CatalogError::unalterable(&column.name, "COMPUTED"));
            }
            Mark::Sparse if on && !may_be_sparse(column) => {
                let text = format!(
                    "Cannot create the sparse column '{}' in the table '{}' because an option or data type specified is not \
                     valid. A sparse column must be nullable and cannot have the ROWGUIDCOL, IDENTITY, or FILESTREAM \
                     properties. A sparse column cannot be of the following data types: text, ntext, image, geometry, \
                     geography, or user-defined type.",
                    column.name, table.name
                );
                return refused(1731, text);
            }
            Mark::Sparse => column.marks.sparse = on,
            Mark::NotForReplication if column.identity.is_none() => {
                let text = format!(
                    "Cannot alter NOT FOR REPLICATION attribute on column '{}' in table '{}' because this column is not an \
                     identity column.",
                    column.name, table.name
                );
                return refused(4991, text);
            }
            Mark::NotForReplication => column.marks.not_for_replication = on,
        }
        self.put_column(txn, table.object_id, at, &table.columns[at])
    }
}

/// What SPARSE asks of a column.
fn may_be_sparse(column: &ColumnDef) -> bool {
    let is_made = column.identity.is_some() || column.rowversion || column.generated.is_some();
    // sysname is the system's own.
    let of_user = !matches!(column.alias, None | Some(SYSNAME));
    column.nullable && !is_made && !column.marks.rowguidcol && !of_user
}

/// 4936.
fn not_persisted(column: &str, table: &str) -> String {
    format!(
        "Computed column '{column}' in table '{table}' cannot be persisted because the column is non-deterministic."
    )
}
