//! Who sees masked columns as they are.
//!
//! Asked when a statement is planned, like permissions, and with them again when a directory or the principal has
//! changed: the plan is the reader's own, the bound statement that sessions share stays as it is. UNMASK does not follow
//! ownership: a procedure shows its caller what he may see.

use crate::Commands;
use catalog::{Place, TableDef};
use executor::SqlError;
use ir::{Expr, StmtKind};
use security::{Permission, Target};
use std::sync::Arc;
use types::Mask;

impl Commands<'_> {
    /// The statement as the session may see its values, where that differs. Only for a limited session.
    #[cold]
    pub fn masked(&self, kind: &StmtKind) -> Option<StmtKind> {
        if !ir::masking::reads_masked(kind) {
            return None;
        }
        let mut masked = kind.clone();
        ir::masking::mask_statement(&mut masked, &|table, ordinal| self.mask(table, ordinal));
        Some(masked)
    }

    /// A value that a function returns is planned once for all who call it: one read from a masked column is refused.
    #[cold]
    pub fn check_unmasked(&self, expr: &Expr) -> Result<(), SqlError> {
        if !ir::masking::expr_reads_masked(expr) {
            return Ok(());
        }
        let mut value = StmtKind::Return(Some(expr.clone()));
        ir::masking::mask_statement(&mut value, &|table, ordinal| self.mask(table, ordinal));
        match value {
            StmtKind::Return(Some(masked)) if masked != *expr => {
                Err(SqlError::unsupported("RETURN of a masked column's value without UNMASK"))
            }
            _ => Ok(()),
        }
    }

    /// How the session is shown a column.
    fn mask(&self, table: &TableDef, ordinal: usize) -> Option<Arc<Mask>> {
        let access = self.state.identity.access();
        match table.place {
            // Its maker reads it.
            Place::Temporary(_) => return None,
            Place::Variable(_) => {
                let all = access.allows(Permission::Unmask, Target::Database);
                return table.mask(ordinal, &|_| all);
            }
            Place::Database => {}
        }
        let Target::Object { id, schema, .. } = self.table_target(table) else { return None };
        table.mask(ordinal, &|ordinal| {
            let column = Target::Column { id, schema, column: ordinal as i32 + 1 };
            access.allows(Permission::Unmask, column)
        })
    }
}
