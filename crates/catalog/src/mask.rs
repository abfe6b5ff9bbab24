//! Dynamic data masking: the function of a column, and how it comes and goes.
//!
//! Numbers and texts: SQL Server's messages 16002 to 16007.

use crate::catalog::Catalog;
use crate::def::*;
use crate::{CatalogError, Txn};
use std::sync::Arc;
use types::SqlType;
use types::mask::{Mask, MaskError};

/// The function behind FUNCTION =, for a column; 16002 to 16006.
pub fn mask_of(text: &str, column: &str, ty: SqlType) -> Result<Arc<Mask>, CatalogError> {
    Mask::parse(text, ty).map(Arc::new).map_err(|MaskError { number, function }| {
        let text = match number {
            16002 => format!("Invalid data masking function in column '{column}'."),
            16003 => format!(
                "The data type of column '{column}' does not support data masking function '{function}'."
            ),
            16004 => format!(
                "Incorrect number of parameters for data masking function '{function}' for column '{column}'."
            ),
            16005 => {
                format!("Invalid argument for data masking function '{function}' for column '{column}'.")
            }
            _ => format!(
                "Invalid data masking format for function '{function}' in column '{column}'."
            ),
        };
        CatalogError::refused(number, text)
    })
}

impl TableDef {
    /// Has some column a function?
    pub fn is_masked(&self) -> bool {
        self.columns.iter().any(|column| column.mask.is_some())
    }

    /// How a column is shown to who may see only those columns as they are that `clear` says: by its own function, or,
    /// computed from one that is masked, by `default()`.
    pub fn mask(&self, ordinal: usize, clear: &dyn Fn(usize) -> bool) -> Option<Arc<Mask>> {
        let column = &self.columns[ordinal];
        if clear(ordinal) {
            return None;
        }
        if column.mask.is_some() {
            return column.mask.clone();
        }
        let computed = column.computed.as_ref()?;
        let hidden = |(i, c): (usize, &ColumnDef)| {
            c.mask.is_some() && !clear(i) && crate::alter::mentions(&computed.text, &c.name)
        };
        let of_masked = self.columns.iter().enumerate().any(hidden);
        of_masked.then(|| Arc::new(Mask::default_mask()))
    }
}

impl Catalog {
    /// ALTER COLUMN ... ADD MASKED, DROP MASKED: 4924, 4928, 4922, 16002 to 16007.
    pub(crate) fn mask_column(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: &str,
        function: Option<&str>,
    ) -> Result<(), CatalogError> {
        const ACTION: &str = "ALTER COLUMN";
        let Some(at) = table.column(name) else {
            let (column, table) = (name.into(), table.name.clone());
            return Err(CatalogError::NoColumn { action: ACTION, column, table });
        };
        let column = &table.columns[at];
        if column.computed.is_some() {
            return Err(CatalogError::unalterable(&column.name, "COMPUTED"));
        }
        if column.marks.column_set {
            return Err(CatalogError::unalterable(&column.name, "COLUMN_SET"));
        }
        let used = |c: &&ColumnDef| {
            let computed = c.computed.as_ref();
            computed.is_some_and(|k| crate::alter::mentions(&k.text, &column.name))
        };
        let users = table.columns.iter().filter(used).map(|user| user.name.clone());
        crate::alter::unused(table, ACTION, at, users.collect())?;
        let mask = match function {
            Some(text) => Some(mask_of(text, &column.name, column.ty)?),
            // One that somebody made beforehand may have none.
            None if column.mask.is_none()
                && !matches!(table.temporal, Temporal::History { .. }) =>
            {
                let text =
                    format!("The column '{}' does not have a data masking function.", column.name);
                return Err(CatalogError::refused(16007, text));
            }
            None => None,
        };
        table.columns[at].mask = mask;
        self.put_column(txn, table.object_id, at, &table.columns[at])
    }
}
