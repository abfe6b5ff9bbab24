//! What an expression of a branch may ask its surroundings.

use crate::cx::Environment;
use crate::message::SqlError;
use crate::warnings::Warnings;
use crate::workspace::Workspace;
use catalog::TableDef;
use ir::{FuncId, SysVar, SystemView};
use session_table::PrivateTables;
use std::sync::Arc;
use types::Value;

/// What an expression of a branch may ask: next to nothing, as the planner has seen to.
pub(super) struct BranchEnvironment {
    pub workspace: Arc<Workspace>,
    pub session: u32,
    /// Whose turns its own are.
    pub group: usize,
    pub database: String,
    pub date_style: i32,
    pub language: u8,
    pub date_first: u8,
    pub arithmetic_yields_null: bool,
    pub cuts_text: bool,
    pub private: PrivateTables,
    pub warnings: Warnings,
}

fn not_here() -> SqlError {
    SqlError::unsupported("a question to the session in a branch of a parallel plan")
}

impl Environment for BranchEnvironment {
    fn system_variable(&mut self, _: SysVar) -> Value {
        Value::Null
    }

    fn session_function(&mut self, _: FuncId, _: &[Value]) -> Result<Value, SqlError> {
        Err(not_here())
    }

    fn view_rows(&mut self, _: &SystemView, _: &[Value]) -> Result<Vec<Vec<Value>>, SqlError> {
        Err(not_here())
    }

    fn next_identity(&mut self, _: &TableDef) -> Result<i64, SqlError> {
        Err(not_here())
    }

    fn private(&mut self) -> &mut PrivateTables {
        &mut self.private
    }

    fn database_name(&self) -> String {
        self.database.clone()
    }

    fn workspace(&self) -> Option<Arc<Workspace>> {
        Some(self.workspace.clone())
    }

    fn session(&self) -> u32 {
        self.session
    }

    fn date_style(&self) -> i32 {
        self.date_style
    }

    fn language(&self) -> u8 {
        self.language
    }

    fn date_first(&self) -> u8 {
        self.date_first
    }

    fn arithmetic_yields_null(&self) -> bool {
        self.arithmetic_yields_null
    }

    fn cuts_text(&self) -> bool {
        self.cuts_text
    }

    fn warn(&mut self, warnings: Warnings) {
        self.warnings.add(warnings);
    }
}
