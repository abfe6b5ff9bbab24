//! Row-level security: what security policies add to a statement.
//!
//! A FILTER predicate becomes a condition above each reading of its table; one whose function reads no table becomes the
//! condition that the function states, so that it may find an index. BLOCK predicates become conditions over the row as
//! it was and as it is to be, which whoever changes rows looks at.
//!
//! Promise: a statement over tables without a policy binds to what it always did. What a predicate's function reads is
//! read as it is: predicates are not applied within predicates.
//!
//! Source: SQL Server's documentation of row-level security and CREATE SECURITY POLICY.

use catalog::{Operation, PredicateDef, PredicateKind, TableDef};
use ir::ddl::PolicyChange;
use ir::*;
use syntax::ast;

use crate::context::*;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// The predicates on a table, where any are to be heeded.
    fn predicates(&self, database: Option<&str>, table: &TableDef) -> Vec<PredicateDef> {
        if self.in_policy || table.is_private() {
            return Vec::new();
        }
        self.names.predicates(database, table.object_id)
    }

    /// A reading of a table, without the rows that policies hide.
    pub fn filtered(&mut self, get: Get) -> Result<Rel> {
        let mut predicates = self.predicates(get.database.as_deref(), &get.table);
        predicates.retain(|p| p.kind == PredicateKind::Filter);
        if predicates.is_empty() {
            return Ok(Rel::Get(Box::new(get)));
        }
        if get.database.is_some() {
            // The function would have to be bound in that database.
            let what = "reading of another database's table that has a security policy";
            return Err(BindError::unsupported(what, self.line));
        }
        let (table, columns) = (get.table.clone(), get.columns.clone());
        let mut rel = Rel::Get(Box::new(get));
        for predicate in &predicates {
            let predicate = self.predicate(predicate, &table, &columns)?;
            rel = Rel::Filter { input: Box::new(rel), predicate };
        }
        Ok(rel)
    }

    /// What BLOCK predicates ask of changes of these kinds; `old` are the ids of the row's columns as it was.
    pub fn blocks(
        &mut self,
        table: &TableDef,
        old: &[ColId],
        operations: &[Operation],
    ) -> Result<Option<Box<Block>>> {
        let mut predicates = self.predicates(None, table);
        predicates.retain(|p| operations.iter().any(|operation| p.kind.blocks(*operation)));
        if predicates.is_empty() {
            return Ok(None);
        }
        let new: Vec<ColId> = table.columns.iter().map(|_| self.new_col()).collect();
        let mut block = Block { new: new.clone(), ..Block::default() };
        for predicate in &predicates {
            for operation in operations.iter().filter(|o| predicate.kind.blocks(**o)) {
                let (list, columns) = match operation {
                    Operation::AfterInsert => (&mut block.after_insert, &new[..]),
                    Operation::AfterUpdate => (&mut block.after_update, &new[..]),
                    Operation::BeforeUpdate => (&mut block.before_update, old),
                    Operation::BeforeDelete => (&mut block.before_delete, old),
                };
                list.push(self.predicate(predicate, table, columns)?);
            }
        }
        Ok(Some(Box::new(block)))
    }

    /// A predicate over a row whose columns have these ids; 33512.
    fn predicate(
        &mut self,
        predicate: &PredicateDef,
        table: &TableDef,
        columns: &[ColId],
    ) -> Result<Expr> {
        let shown = self.shown_table(table);
        let line = self.line;
        let failed = || {
            let text = format!(
                "Binding for the non-schema bound security predicate on object '{shown}' failed with one or more \
                 errors, indicating the schema of the predicate function has changed. Update or drop the affected \
                 security predicates."
            );
            BindError::new(33512, 16, line, text)
        };
        let text = format!("EXISTS (SELECT 1 AS allowed FROM {} AS predicate)", predicate.call);
        let parsed = syntax::parse_condition(&text, &syntax::LexOptions::default());
        let parsed = parsed.map_err(|_| failed())?;
        self.over_policy_row(table, columns, &parsed).map_err(|_| failed())
    }

    /// Binds the call of a predicate's function, told apart from all that is around: 207, 208 and what calls answer.
    pub fn check_predicate(&mut self, table: &TableDef, call: &str) -> Result<()> {
        let columns: Vec<ColId> = table.columns.iter().map(|_| self.new_col()).collect();
        let text = format!("EXISTS (SELECT 1 AS allowed FROM {call} AS predicate)");
        let parsed = syntax::parse_condition(&text, &syntax::LexOptions::default());
        let parsed = parsed.map_err(|errors| {
            let first = errors.into_iter().next();
            let (number, text) = first.map_or((102, String::new()), |e| (e.number, e.message));
            BindError::new(number, 15, self.line, text)
        })?;
        self.over_policy_row(table, &columns, &parsed).map(|_| ())
    }

    /// The tables and calls of a policy's changes: 33268, 33269, 33270, and what binding a call answers.
    pub fn policy_changes(
        &mut self,
        policy: &ast::SecurityPolicy,
        text: &str,
    ) -> Result<Vec<PolicyChange>> {
        let mut changes = Vec::with_capacity(policy.changes.len());
        for change in &policy.changes {
            let line = change.table.span.line.max(1);
            let wanted = ObjectName::from(&change.table);
            if semantics::names::is_temporary(&wanted.name) {
                let text = "Security predicates are not allowed on temporary objects. Object names that begin with \
                            '#' denote temporary objects.";
                return Err(BindError::new(33269, 16, line, text));
            }
            let Some(table) = self.table(&wanted).filter(|_| self.elsewhere(&wanted).is_none())
            else {
                if self.names.view(&wanted).is_some() {
                    let what = "security predicates on views";
                    return Err(BindError::unsupported(what, line));
                }
                return Err(BindError::cannot_find(33268, &change.table, line));
            };
            let mut call = String::new();
            if let Some((function, span)) = &change.call {
                let found = self.names.function(&ObjectName::from(function));
                if found.is_none_or(|f| f.kind != catalog::ModuleKind::InlineFunction) {
                    let text = format!(
                        "Cannot find the object \"{function}\" or this object is not an inline table-valued function."
                    );
                    return Err(BindError::new(33270, 16, line, text));
                }
                call = span.text(text).to_string();
                self.check_predicate(&table, &call)?;
            }
            changes.push(PolicyChange { table, call });
        }
        Ok(changes)
    }

    fn over_policy_row(
        &mut self,
        table: &TableDef,
        columns: &[ColId],
        condition: &ast::Expr,
    ) -> Result<Expr> {
        let column = |(c, id): (&catalog::ColumnDef, &ColId)| ScopeColumn {
            name: Some(c.name.to_string()),
            id: *id,
            ty: c.ty,
            nullable: c.nullable,
            identity: None,
            updatable: false,
            rowguid: false,
        };
        let scope = ScopeTable {
            name: table.name.to_string(),
            schema: Some(table.schema.to_string()),
            shown: table.name.to_string(),
            columns: table.columns.iter().zip(columns).map(column).collect(),
        };
        self.note_columns(table, columns);
        // Neither variables nor a time are known there.
        let params = self.params.replace(Vec::new());
        let moments = self.moments.take();
        let around = std::mem::replace(&mut self.in_policy, true);
        let bound = self.apart(|b| {
            b.scopes.push(Scope::of(vec![scope]));
            b.deeper(QUERY_DEPTH, |b| b.condition(condition))
        });
        self.in_policy = around;
        self.moments = moments;
        self.params = params;
        Ok(plain(bound?))
    }
}

/// EXISTS of a query that reads nothing is its condition.
fn plain(exists: Expr) -> Expr {
    fn condition(rel: &Rel) -> Option<&Expr> {
        match rel {
            Rel::Project { input, .. } => condition(input),
            Rel::Filter { input, predicate } if matches!(**input, Rel::OneRow) => Some(predicate),
            _ => None,
        }
    }
    let mut exists = exists;
    if let ExprKind::Subquery { kind: SubqueryKind::Exists, query } = &mut exists.kind {
        if let Some(condition) = condition(&query.rel) {
            return condition.clone();
        }
        query.hints.policy = true;
    }
    exists
}
