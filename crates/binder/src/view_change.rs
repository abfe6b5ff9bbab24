//! What a change of tables changes in an indexed view: the view's own query, with the changed rows in place of their
//! tables.
//!
//! ```text
//! changed rows of t, in a table of the session's      t, u below the view      the query to run
//! those that came, or those that have gone        ->  t JOIN u             ->  changed JOIN u
//! ```
//!
//! Invariants: a table stands in the query once, so its rows can be replaced; the other tables are read in their newest
//! state, under locks, whatever the session's level: two who change both sides of a join see each other's rows, or wait.

use std::sync::Arc;

use catalog::{ProcedureDef, TableDef};
use ir::*;
use syntax::ast;

use crate::context::*;
use semantics::indexed_view::view_parts;
use semantics::kept;
use semantics::names::Names;
use semantics::{BindError, Result};

/// The query of a view with the rows of the table variables 0, 1 ... in place of the tables of those ids.
pub fn view_change(view: &ProcedureDef, tables: &[i32], names: &dyn Names) -> Result<ViewChange> {
    let broken = |text: &str| {
        BindError::new(
            4413,
            16,
            1,
            format!("Could not use view or function '{}' {text}.", view.name),
        )
    };
    let Some(ast::StatementKind::CreateView(create)) = kept::definition(view) else {
        return Err(broken("because of binding errors"));
    };
    let frame = Frame::default();
    let mut binder = Binder::new(names, &frame, 1);
    // What somebody may see of a table has nothing to do with what is in the view.
    binder.in_policy = true;
    let mut changed = Vec::with_capacity(tables.len());
    for (id, slot) in tables.iter().zip(0..) {
        let table = names.table_by_id(*id).ok_or_else(|| broken("because a table is gone"))?;
        let rows = semantics::triggers::rows_def(slot, &table.name, &table)?;
        changed.push((*id, Arc::new(TableDef { schema: table.schema.clone(), ..rows })));
    }
    binder.changed = Some(changed.clone());
    let schema: Option<Arc<str>> = Some(view.schema.as_ref().into());
    let query = binder.in_schema(schema, |b| b.view_query(&create))?;
    let mut counts = std::collections::HashMap::new();
    semantics::uses::count_columns(&query.rel, &mut counts);
    query.output.iter().for_each(|column| *counts.entry(column.id).or_default() += 1);
    let used = binder.bases.iter().map(|base| {
        let columns = (0..base.table.columns.len())
            .filter(|at| counts.contains_key(&ColId(base.first + *at as u32)));
        let of = changed.iter().find(|(_, rows)| Arc::ptr_eq(rows, &base.table));
        let table = of.and_then(|(id, _)| names.table_by_id(*id));
        (table.unwrap_or_else(|| base.table.clone()), columns.collect())
    });
    let used = used.collect();
    let parts = view_parts(&query).into_iter().map(|part| part.ok_or_else(|| broken("now")));
    let parts = parts.collect::<Result<_>>()?;
    let changed = changed.into_iter().map(|(_, rows)| rows).collect();
    Ok(ViewChange { query, changed, used, parts })
}

impl Binder<'_> {
    /// What stands for a table's rows while a change of an indexed view is bound.
    pub(crate) fn standing_for(&self, table: Arc<TableDef>) -> Arc<TableDef> {
        let changed = self.changed.iter().flatten().find(|(id, _)| *id == table.object_id);
        changed.map_or(table, |(_, rows)| rows.clone())
    }
}
