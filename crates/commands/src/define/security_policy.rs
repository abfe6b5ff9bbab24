//! CREATE and ALTER SECURITY POLICY.
//!
//! Numbers and texts: SQL Server's messages 33259 to 33271 and 33510. A policy takes effect with the next statement that
//! is planned, which any definition makes all statements be.

use crate::Commands;
use catalog::{
    ModuleKind, Operation, PolicyDef, PredicateDef, PredicateKind, PutMode, Temporal, same_name,
};
use executor::SqlError;
use ir::ObjectName;
use ir::ddl::PolicyChange;
use security::Permission;
use syntax::ast::{BlockOperation, PredicateVerb, SecurityPolicy};
use types::Value;

impl Commands<'_> {
    /// Both statements: 2714, 33268, 33261, 33262, 33264, 33510.
    pub(crate) fn define_policy(
        &mut self,
        statement: &SecurityPolicy,
        changes: &[PolicyChange],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.check_database(Permission::AlterAnySecurityPolicy)?;
        let name = ObjectName::from(&statement.name);
        self.local(&name)?;
        let schema = self.schema_of(&name);
        let catalog = self.state.database.catalog.clone();
        let scope = self.state.definitions();
        let kind = ModuleKind::SecurityPolicy;
        if !statement.alter && catalog.object(scope, schema.as_deref(), &name.name).is_some() {
            let text = format!("There is already an object named '{}' in the database.", name.name);
            return Err(SqlError::new(2714, 16, text).with_state(6));
        }
        let known = match statement.alter {
            true => catalog.module(scope, schema.as_deref(), &name.name, kind),
            false => None,
        };
        let mut policy = match &known {
            Some(known) => known.policy.as_deref().cloned().unwrap_or_default(),
            None if statement.alter => {
                let text = format!(
                    "Cannot find the object \"{name}\" because it does not exist or you do not have permissions."
                );
                return Err(SqlError::new(33268, 16, text));
            }
            None => PolicyDef {
                enabled: true,
                schema_bound: statement.schemabinding.unwrap_or(true),
                ..PolicyDef::default()
            },
        };
        let shown = format!("{}.{}", schema.as_deref().unwrap_or("dbo"), name.name);
        for (change, bound) in statement.changes.iter().zip(changes) {
            let kind = match change.block {
                false => PredicateKind::Filter,
                true => PredicateKind::Block(change.operation.map(operation)),
            };
            let table = &bound.table;
            if change.block && matches!(table.temporal, Temporal::History { .. }) {
                let text = format!(
                    "BLOCK security predicates cannot reference temporal history tables. Table '{}.{}' is a temporal \
                     history table.",
                    table.schema, table.name
                );
                return Err(SqlError::new(33510, 16, text));
            }
            let on = (table.object_id, format!("{}.{}", table.schema, table.name));
            apply(&mut policy, change.verb, kind, on, &bound.call, &shown)?;
        }
        policy.enabled = statement.state.unwrap_or(policy.enabled);
        policy.not_for_replication =
            statement.not_for_replication.unwrap_or(policy.not_for_replication);
        if policy.enabled {
            let own = known.as_ref().map(|known| known.object_id);
            for (other, theirs) in catalog.policies(scope) {
                if Some(other.object_id) == own || !theirs.enabled {
                    continue;
                }
                let both = |p: &&PredicateDef| theirs.predicates.iter().any(|q| q.table == p.table);
                let Some(both) = policy.predicates.iter().find(both) else { continue };
                let table = catalog.table_by_id(scope, both.table);
                let table = table.map_or(String::new(), |t| format!("{}.{}", t.schema, t.name));
                let text = format!(
                    "The security policy '{shown}' cannot be enabled with a predicate on table '{table}'. Table \
                     '{table}' is already referenced by the enabled security policy '{}.{}'.",
                    other.schema, other.name
                );
                return Err(SqlError::new(33264, 16, text));
            }
        }
        let mode = if statement.alter { PutMode::Alter } else { PutMode::Create };
        self.create_module(kind, mode, &name, &policy.to_text(), frame)
    }
}

fn operation(operation: BlockOperation) -> Operation {
    match operation {
        BlockOperation::AfterInsert => Operation::AfterInsert,
        BlockOperation::AfterUpdate => Operation::AfterUpdate,
        BlockOperation::BeforeUpdate => Operation::BeforeUpdate,
        BlockOperation::BeforeDelete => Operation::BeforeDelete,
    }
}

/// ADD, ALTER or DROP of one predicate.
fn apply(
    policy: &mut PolicyDef,
    verb: PredicateVerb,
    kind: PredicateKind,
    (table, table_shown): (i32, String),
    call: &str,
    shown: &str,
) -> Result<(), SqlError> {
    let same = |p: &PredicateDef| p.table == table && p.kind == kind;
    let at = policy.predicates.iter().position(same);
    match (verb, at) {
        (PredicateVerb::Add, Some(_)) => {
            let what = if kind == PredicateKind::Filter { "FILTER" } else { "BLOCK" };
            let text = format!(
                "A {what} predicate for the same operation has already been defined on table '{table_shown}' in the \
                 security policy '{shown}'."
            );
            return Err(SqlError::new(33262, 16, text));
        }
        (PredicateVerb::Add, None) => {
            let id = policy.predicates.iter().map(|p| p.id).max().unwrap_or(0) + 1;
            policy.predicates.push(PredicateDef { id, kind, table, call: call.into() });
        }
        (_, None) => {
            let text = format!(
                "The security policy '{shown}' does not contain a predicate on table '{table_shown}'."
            );
            return Err(SqlError::new(33261, 16, text));
        }
        (PredicateVerb::Alter, Some(at)) => policy.predicates[at].call = call.into(),
        (PredicateVerb::Drop, Some(at)) => drop(policy.predicates.remove(at)),
    }
    Ok(())
}

/// Is a function of that name what a predicate calls?
pub(crate) fn calls(predicate: &PredicateDef, schema: Option<&str>, name: &str) -> bool {
    let called = predicate.call.split('(').next().unwrap_or("");
    let mut parts = session_state::name_parts(called).into_iter().rev();
    let same = parts.next().is_some_and(|called| same_name(&called, name));
    let of = parts.next().unwrap_or_else(|| "dbo".to_owned());
    same && same_name(&of, schema.unwrap_or("dbo"))
}
