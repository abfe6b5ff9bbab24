//! Computed columns that are not deterministic: no row keeps them, whoever reads one computes it.
//!
//! Promise: a reference to such a column is its expression over the other columns of the same row, wherever a name finds
//! it; on the side of an outer join that may have no row it is computed below the join, so that it is NULL where there is
//! none.

use catalog::TableDef;
use ir::*;

use crate::context::{Binder, ScopeColumn};
use crate::scope::Source;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// A table is read, its columns under these ids.
    pub(crate) fn note_volatile(&mut self, table: &TableDef, ids: &[ColId]) -> Result<()> {
        for (ordinal, column) in table.columns.iter().enumerate() {
            if column.marks.column_set {
                let value = self.column_set_value(table, ids);
                self.volatile.insert(ids[ordinal], value);
                continue;
            }
            let Some(computed) = column.computed.as_ref().filter(|c| c.volatile) else { continue };
            let parsed = syntax::parse_expression(&computed.text, &syntax::LexOptions::default());
            let parsed = parsed.map_err(|errors| {
                let first = errors.into_iter().next();
                let (number, text) = first.map_or((102, String::new()), |e| (e.number, e.message));
                BindError::new(number, 15, self.line, text)
            })?;
            let columns: Vec<_> =
                table.columns.iter().map(|c| (&*c.name, c.ty, c.nullable)).collect();
            // Under the ids of a row of the table alone, which are then those of this reading.
            let others = std::mem::take(&mut self.collated);
            self.note_row(table);
            let value = self.over_row(&table.name, &columns, |b| b.expr(&parsed));
            self.collated = others;
            let value = self.store(value?, column.ty, column.collation, ordinal)?;
            let mut value = self.as_column(value, column);
            rename(&mut value, ids);
            value.nullable = true;
            self.volatile.insert(ids[ordinal], value);
        }
        Ok(())
    }

    /// What a column that a name has found is worth.
    pub(crate) fn column_value(&self, found: &ScopeColumn) -> Expr {
        match self.volatile.get(&found.id) {
            Some(value) => value.clone(),
            None => Expr::col(found.id, found.ty, found.nullable),
        }
    }

    /// Computes such columns here, before a join that may have no row of the source.
    pub(crate) fn settle_volatile(&mut self, source: &mut Source) {
        let columns = || source.tables.iter().flat_map(|t| &t.columns);
        if self.volatile.is_empty() || !columns().any(|c| self.volatile.contains_key(&c.id)) {
            return;
        }
        let mut exprs = Vec::new();
        for column in source.tables.iter_mut().flat_map(|t| &mut t.columns) {
            match self.volatile.get(&column.id).cloned() {
                None => exprs.push((column.id, Expr::col(column.id, column.ty, column.nullable))),
                Some(value) => {
                    column.id = self.new_col();
                    exprs.push((column.id, value));
                }
            }
        }
        let input = Box::new(std::mem::replace(&mut source.rel, Rel::OneRow));
        source.rel = Rel::Project { input, exprs };
    }
}

/// Columns by ordinal become those of a reading.
fn rename(e: &mut Expr, ids: &[ColId]) {
    match &mut e.kind {
        ExprKind::Col(id) => *id = ids[id.0 as usize],
        _ => e.for_each_child_mut(&mut |child| rename(child, ids)),
    }
}
