//! A change in FROM, shown below the INSERT that takes its rows.

use super::{Show, Step};
use crate::cost::Cost;
use crate::plan::*;
use catalog::TableDef;

impl<'a> Show<'a> {
    /// The change that an INSERT takes its rows from, and what each column of the table is set to.
    pub(super) fn changed_rows(
        &mut self,
        table: &TableDef,
        from: &'a ChangedRows,
    ) -> Option<(Step, Vec<(String, String)>)> {
        let (mut step, output) = match &from.change {
            ChangePlan::Insert(insert) => (self.insert(insert)?, &insert.output),
            ChangePlan::Update(update) => (self.update(update), &update.output),
            ChangePlan::Delete(delete) => (self.delete(delete), &delete.output),
            ChangePlan::Merge(_) => return None,
        };
        self.subplans = &[];
        let output = output.as_ref()?;
        let name = |c: &ir::OutputColumn| format!("[{}]", c.name.as_deref().unwrap_or(""));
        let slots: Vec<String> = output.columns.iter().map(|(c, _)| name(c)).collect();
        if let Some(filter) = output.reader.as_ref().and_then(|reader| reader.filter.as_ref()) {
            let text = self.scalar(filter, &slots);
            step = Step {
                physical: "Filter",
                logical: "Filter",
                arguments: vec![format!("WHERE:({text})")],
                rows: step.rows,
                row_bytes: step.row_bytes,
                executions: 1.0,
                cost: Cost::cpu(step.rows * 0.000_000_48),
                inputs: vec![step],
                ..Step::default()
            };
        }
        let names = self.columns_of(table);
        let set: Vec<String> = from.row.iter().map(|e| self.scalar(e, &slots)).collect();
        Some((step, names.into_iter().zip(set).collect()))
    }
}
