//! What a statement changes below indexed views, noted row by row, and the planned queries that say what follows from it.
//!
//! Promise: a row is noted by whoever changes it, or the change is refused: no view is left as it was in silence.

use crate::cx::Cx;
use crate::memory::row_bytes;
use crate::message::SqlError;
use catalog::TableDef;
use ir::ViewPart;
use planner::Plan;
use runtime::task::Many;
use std::sync::Arc;
use types::Value;

/// A view's query over changed rows, planned.
pub struct ViewChange {
    /// Where the view's rows are.
    pub rows: Arc<TableDef>,
    /// Reads the table variables of `changed`.
    pub plan: Plan,
    pub changed: Vec<Arc<TableDef>>,
    /// Each table of the view, and the columns of it that are read.
    pub used: Vec<(Arc<TableDef>, Vec<usize>)>,
    /// Of a view with GROUP BY: what its columns are.
    pub parts: Vec<ViewPart>,
}

impl ViewChange {
    /// Plans a change that was bound.
    pub fn planned(rows: Arc<TableDef>, change: ir::ViewChange) -> ViewChange {
        let known = planner::Known { maxdop: 1, ..planner::Known::default() };
        let plan = planner::plan_query(&change.query, &known);
        let ir::ViewChange { changed, used, parts, .. } = change;
        ViewChange { rows, plan, changed, used, parts }
    }

    /// The columns that the view reads of a table.
    pub fn columns_of(&self, table: i32) -> &[usize] {
        let used = self.used.iter().find(|(of, _)| of.object_id == table);
        used.map_or(&[], |(_, columns)| columns)
    }
}

/// Rows of tables with indexed views above them that a statement has changed.
#[derive(Default)]
pub struct ViewChanges {
    pub tables: Vec<ChangedTable>,
}

/// Those of one table.
pub struct ChangedTable {
    pub id: i32,
    /// The views above it.
    pub views: Vec<i32>,
    pub inserted: Many<Vec<Value>>,
    pub deleted: Many<Vec<Value>>,
}

impl Cx<'_> {
    /// Notes a row that has come, gone or changed, for the indexed views above its table.
    pub fn note_for_views(
        &mut self,
        table: &TableDef,
        old: Option<&[Value]>,
        new: Option<&[Value]>,
    ) -> Result<(), SqlError> {
        self.hold(old.map_or(0, row_bytes) + new.map_or(0, row_bytes))?;
        let Some(changes) = self.view_changes.as_deref_mut() else {
            // Whoever changes rows apart from a statement would leave the view as it was.
            let what =
                format!("this change of '{}', above which there is an indexed view", table.name);
            return Err(SqlError::unsupported(what));
        };
        let at = changes.tables.iter().position(|t| t.id == table.object_id);
        let at = at.unwrap_or_else(|| {
            changes.tables.push(ChangedTable {
                id: table.object_id,
                views: table.views.clone(),
                inserted: Many::new(),
                deleted: Many::new(),
            });
            changes.tables.len() - 1
        });
        let of = &mut changes.tables[at];
        of.deleted.extend(old.map(<[Value]>::to_vec));
        of.inserted.extend(new.map(<[Value]>::to_vec));
        Ok(())
    }
}
