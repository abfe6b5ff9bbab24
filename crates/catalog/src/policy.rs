//! Security policies: which rows of a table are seen, and which changes of them are refused.
//!
//! A policy is a module whose text is this crate's own: a line of three numbers (enabled, schema-bound, not for
//! replication), then for each predicate `id kind operation table length` and, behind a line feed, so many bytes of the
//! call of its function.
//!
//! Promise: of one kind and operation a policy has one predicate on a table, and of the policies that are enabled one
//! at most concerns a table.

use crate::def::{ModuleKind, ObjectRef, ProcedureDef};
use crate::scope::{Change, DdlScope, Entry};
use crate::{Catalog, CatalogError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A security policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyDef {
    pub enabled: bool,
    pub schema_bound: bool,
    pub not_for_replication: bool,
    pub predicates: Vec<PredicateDef>,
}

/// One of its predicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredicateDef {
    /// security_predicate_id, from 1.
    pub id: i32,
    pub kind: PredicateKind,
    /// Object id of the table.
    pub table: i32,
    /// The call of the function, as text.
    pub call: Box<str>,
}

/// What a predicate does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PredicateKind {
    /// Rows that it does not hold of are not seen.
    Filter,
    /// Changes of, or to, rows that it does not hold of are refused. `None`: all.
    Block(Option<Operation>),
}

/// In the order of sys.security_predicates' `operation`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    AfterInsert,
    AfterUpdate,
    BeforeUpdate,
    BeforeDelete,
}

impl PredicateKind {
    /// `operation` of sys.security_predicates.
    pub fn operation(self) -> Option<i32> {
        match self {
            PredicateKind::Block(Some(operation)) => Some(operation as i32 + 1),
            _ => None,
        }
    }

    /// Does it concern such changes?
    pub fn blocks(self, operation: Operation) -> bool {
        match self {
            PredicateKind::Filter => false,
            PredicateKind::Block(of) => of.is_none_or(|of| of == operation),
        }
    }
}

impl PolicyDef {
    /// As it is kept.
    pub fn to_text(&self) -> String {
        let bit = u8::from;
        let mut text = format!(
            "{} {} {}\n",
            bit(self.enabled),
            bit(self.schema_bound),
            bit(self.not_for_replication)
        );
        for predicate in &self.predicates {
            let kind = bit(predicate.kind != PredicateKind::Filter);
            let operation = predicate.kind.operation().unwrap_or(0);
            text += &format!(
                "{} {kind} {operation} {} {}\n{}",
                predicate.id,
                predicate.table,
                predicate.call.len(),
                predicate.call
            );
        }
        text
    }

    pub(crate) fn of_text(text: &str) -> Option<PolicyDef> {
        let (head, mut rest) = text.split_once('\n')?;
        let flags: Vec<bool> = head.split(' ').map(|flag| flag == "1").collect();
        let [enabled, schema_bound, not_for_replication] = flags[..] else { return None };
        let mut predicates = Vec::new();
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n')?;
            let numbers: Vec<i32> =
                line.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
            let [id, kind, operation, table, length] = numbers[..] else { return None };
            let call = after.get(..usize::try_from(length).ok()?)?;
            rest = &after[call.len()..];
            let operation = match operation {
                1 => Some(Operation::AfterInsert),
                2 => Some(Operation::AfterUpdate),
                3 => Some(Operation::BeforeUpdate),
                4 => Some(Operation::BeforeDelete),
                _ => None,
            };
            let kind = match kind {
                0 => PredicateKind::Filter,
                _ => PredicateKind::Block(operation),
            };
            predicates.push(PredicateDef { id, kind, table, call: call.into() });
        }
        Some(PolicyDef { enabled, schema_bound, not_for_replication, predicates })
    }
}

impl Catalog {
    /// All policies, as a transaction sees them, by id.
    pub fn policies(&self, scope: Option<&DdlScope>) -> Vec<(Arc<ProcedureDef>, Arc<PolicyDef>)> {
        let mut found: BTreeMap<i32, Arc<ProcedureDef>> = BTreeMap::new();
        {
            let defs = self.defs.read();
            for id in &defs.policies {
                if let Some(ObjectRef::Procedure(module)) = defs.by_id.get(id) {
                    found.insert(*id, module.clone());
                }
            }
        }
        for change in scope.iter().flat_map(|scope| &scope.changes) {
            match change {
                Change::Put(Entry { object: ObjectRef::Procedure(module), .. })
                    if module.kind == ModuleKind::SecurityPolicy =>
                {
                    found.insert(module.object_id, module.clone());
                }
                Change::Drop { object_id, .. } => {
                    found.remove(object_id);
                }
                _ => {}
            }
        }
        let policy =
            |module: Arc<ProcedureDef>| module.policy.clone().map(|policy| (module, policy));
        found.into_values().filter_map(policy).collect()
    }

    /// The predicates on a table of the policy that is enabled, and whether it is schema-bound.
    pub fn predicates_on(&self, scope: Option<&DdlScope>, table: i32) -> Vec<PredicateDef> {
        if self.defs.read().policies.is_empty() && scope.is_none_or(DdlScope::is_empty) {
            return Vec::new();
        }
        let on = |policy: &PolicyDef| {
            let of = policy.predicates.iter().filter(|p| p.table == table).cloned();
            of.collect::<Vec<_>>()
        };
        let all = self.policies(scope).into_iter();
        all.filter(|(_, policy)| policy.enabled).flat_map(|(_, policy)| on(&policy)).collect()
    }

    /// 3729 for a table or a function that a schema-bound policy is about: its id, and the call's beginning.
    pub fn check_policies(
        &self,
        scope: &DdlScope,
        verb: &str,
        shown: &str,
        concerns: impl Fn(&PredicateDef) -> bool,
    ) -> Result<(), CatalogError> {
        let all = self.policies(Some(scope)).into_iter();
        let mut bound = all.filter(|(_, policy)| policy.schema_bound);
        match bound.find(|(_, policy)| policy.predicates.iter().any(&concerns)) {
            None => Ok(()),
            Some((module, _)) => Err(CatalogError::refused(
                3729,
                format!(
                    "Cannot {verb} '{shown}' because it is being referenced by object '{}'.",
                    module.name
                ),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_come_back_as_they_went() {
        let predicate =
            |id, kind, call: &str| PredicateDef { id, kind, table: 77, call: call.into() };
        let policy = PolicyDef {
            enabled: true,
            schema_bound: false,
            not_for_replication: true,
            predicates: vec![
                predicate(1, PredicateKind::Filter, "dbo.f(a,\n 'é 1 2')"),
                predicate(2, PredicateKind::Block(None), "dbo.f(b)"),
                predicate(4, PredicateKind::Block(Some(Operation::BeforeDelete)), "g.f()"),
            ],
        };
        assert_eq!(PolicyDef::of_text(&policy.to_text()), Some(policy));
        let none = PolicyDef::default();
        assert_eq!(PolicyDef::of_text(&none.to_text()), Some(none));
    }
}
