//! A change of rows of another database: what of it was evaluated where it stands takes its place where it runs.

use std::sync::Arc;

use super::expr::{Expr, ExprKind};
use super::program::{Insert, InsertSource, MergeAction, There, UpdateSet};
use super::query::Rel;
use super::statement::{Data, DataMut, StmtKind};

impl There {
    /// Variables from this number on are the values that go along.
    pub const BROUGHT: u32 = 1 << 30;

    /// Puts the values that go along into the variables from `first` on.
    pub fn place(&mut self, first: u32) {
        fn expr(e: &mut Expr, first: u32) {
            if let ExprKind::Var(var) = &mut e.kind
                && var.0 >= There::BROUGHT
            {
                var.0 = var.0 - There::BROUGHT + first;
            }
            if let ExprKind::Subquery { query, .. } = &mut e.kind {
                query.rel.walk_exprs_mut(&mut |e| expr(e, first));
            }
            e.for_each_child_mut(&mut |child| expr(child, first));
        }
        let mut each = |e: &mut Expr| expr(e, first);
        if let StmtKind::Insert(insert) = &mut self.change {
            match &mut insert.source {
                InsertSource::Values(rows) => rows.iter_mut().flatten().for_each(&mut each),
                InsertSource::Query { row, .. } => row.iter_mut().for_each(&mut each),
                InsertSource::Exec { .. } | InsertSource::Changed(_) => {}
            }
        }
        let (rel, exprs) = There::parts(&mut self.change);
        if let Some(rel) = rel {
            rel.walk_exprs_mut(&mut each);
        }
        exprs.into_iter().for_each(each);
    }

    /// The table that is changed; none of SELECT INTO.
    pub fn target(&self) -> Option<&Arc<catalog::TableDef>> {
        match self.change.data() {
            Data::Insert(insert) => Some(&insert.table),
            Data::Update(update) => Some(&update.table),
            Data::Delete(delete) => Some(&delete.table),
            Data::Merge(merge) => Some(&merge.table),
            Data::Select(_) | Data::Cursor(_) | Data::SetVars(_) | Data::Return(_) | Data::None => {
                None
            }
        }
    }

    /// What a change reads, and the expressions beside it; but those of the rows that an INSERT makes.
    pub fn parts(change: &mut StmtKind) -> (Option<&mut Rel>, Vec<&mut Expr>) {
        let mut exprs = Vec::new();
        let (rel, tracking, output) = match change.data_mut() {
            DataMut::Insert(insert) => {
                let Insert { source, tracking_context, output, .. } = insert;
                let rel = match source {
                    InsertSource::Query { query, .. } => Some(&mut query.rel),
                    _ => None,
                };
                (rel, tracking_context, output)
            }
            DataMut::Update(update) => {
                exprs.extend(update.set.iter_mut().map(UpdateSet::value_mut));
                (Some(&mut update.query.rel), &mut update.tracking_context, &mut update.output)
            }
            DataMut::Delete(delete) => {
                (Some(&mut delete.query.rel), &mut delete.tracking_context, &mut delete.output)
            }
            DataMut::Merge(merge) => {
                exprs.extend(merge.top.iter_mut());
                for clause in &mut merge.clauses {
                    exprs.extend(clause.condition.iter_mut());
                    match &mut clause.action {
                        MergeAction::Update(set) => {
                            exprs.extend(set.iter_mut().map(UpdateSet::value_mut))
                        }
                        MergeAction::Insert(row) => exprs.extend(row.iter_mut()),
                        MergeAction::Delete => {}
                    }
                }
                (Some(&mut merge.query.rel), &mut merge.tracking_context, &mut merge.output)
            }
            DataMut::Select(select) => return (Some(&mut select.query.rel), exprs),
            DataMut::Cursor(_) | DataMut::SetVars(_) | DataMut::Return(_) | DataMut::None => {
                return (None, exprs);
            }
        };
        exprs.extend(tracking.as_deref_mut());
        if let Some(output) = output {
            exprs.extend(output.columns.iter_mut().chain(&mut output.also).map(|(_, e)| e));
        }
        (rel, exprs)
    }
}
