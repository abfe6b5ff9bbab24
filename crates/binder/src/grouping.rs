//! What may stand above a grouping.

use std::collections::HashSet;

use crate::context::{Clause, Scope};
use crate::error::{BindError, Result};
use crate::ir::*;

/// Rewrites expressions above a grouping: grouped expressions become its columns, and no other
/// column of FROM may remain (8120, 8121, 8127).
pub(crate) struct AggScope<'a> {
    pub group: &'a [(ColId, Expr)],
    pub from_columns: &'a HashSet<ColId>,
    pub tables: &'a [Scope],
}

impl AggScope<'_> {
    pub fn rewrite(&self, e: &mut Expr, clause: Clause, line: u32) -> Result<()> {
        if let Some((id, g)) = self.group.iter().find(|(_, g)| g == e) {
            *e = Expr::col(*id, g.ty, g.nullable);
            return Ok(());
        }
        if let ExprKind::Col(id) = e.kind
            && self.from_columns.contains(&id)
        {
            return Err(self.not_grouped(id, clause, line));
        }
        let mut failed = None;
        let mut each = |child: &mut Expr| {
            if let Err(err) = self.rewrite(child, clause, line) {
                failed.get_or_insert(err);
            }
        };
        if let ExprKind::Subquery { query, .. } = &mut e.kind {
            query.rel.walk_exprs_mut(&mut each);
        }
        e.for_each_child_mut(&mut each);
        failed.map_or(Ok(()), Err)
    }

    fn not_grouped(&self, id: ColId, clause: Clause, line: u32) -> BindError {
        let mut full = String::from("?");
        for table in self.tables.iter().flat_map(|s| &s.tables) {
            if let Some(c) = table.columns.iter().find(|c| c.id == id) {
                full = format!("{}.{}", table.shown, c.name.as_deref().unwrap_or(""));
            }
        }
        match clause {
            Clause::Having => BindError::new(
                8121,
                16,
                line,
                format!(
                    "Column '{full}' is invalid in the HAVING clause because it is not contained \
                     in either an aggregate function or the GROUP BY clause."
                ),
            ),
            Clause::OrderBy => BindError::new(
                8127,
                16,
                line,
                format!(
                    "Column \"{full}\" is invalid in the ORDER BY clause because it is not \
                     contained in either an aggregate function or the GROUP BY clause."
                ),
            ),
            _ => BindError::new(
                8120,
                16,
                line,
                format!(
                    "Column '{full}' is invalid in the select list because it is not contained in \
                     either an aggregate function or the GROUP BY clause."
                ),
            ),
        }
    }
}
