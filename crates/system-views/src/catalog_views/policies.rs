//! Security policies and their predicates.
//!
//! Columns and types: SQL Server 2022's documentation of each view.

use super::objects::object_view;
use crate::context::Context;
use crate::declare::{Declared, view};
use crate::object::{self, Object, What};
use catalog::{PolicyDef, PredicateDef, PredicateKind};
use executor::SqlError;
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SECURITY_POLICIES, &SECURITY_PREDICATES];

fn policy(o: &Object) -> Option<&Arc<PolicyDef>> {
    match &o.what {
        What::Procedure(module) => module.policy.as_ref(),
        _ => None,
    }
}

fn policies(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    let all = object::user_objects(context);
    Ok(all.into_iter().filter(|o| policy(o).is_some()).collect())
}

object_view! {
    SECURITY_POLICIES = "sys.security_policies" as o, rows policies;
    is_enabled bit = policy(o).is_some_and(|p| p.enabled);
    is_not_for_replication bit = policy(o).is_some_and(|p| p.not_for_replication);
    uses_database_collation bit null = true;
    is_schema_bound bit = policy(o).is_some_and(|p| p.schema_bound);
}

/// A predicate and its policy's id.
pub struct Predicate {
    policy: i32,
    def: PredicateDef,
}

impl Predicate {
    fn operation(&self) -> Option<&'static str> {
        Some(match self.def.kind.operation()? {
            1 => "AFTER INSERT",
            2 => "AFTER UPDATE",
            3 => "BEFORE UPDATE",
            _ => "BEFORE DELETE",
        })
    }
}

fn predicates(context: &Context<'_>, args: &[Value]) -> Result<Vec<Predicate>, SqlError> {
    let mut all = Vec::new();
    for object in policies(context, args)? {
        let Some(policy) = policy(&object) else { continue };
        let of = |def: &PredicateDef| Predicate { policy: object.id, def: def.clone() };
        all.extend(policy.predicates.iter().map(of));
    }
    Ok(all)
}

/// A predicate's call in the form of a CHECK's definition.
fn definition(call: &str) -> String {
    match syntax::parse_expression(call, &syntax::LexOptions::default()) {
        Ok(parsed) => syntax::definition_text(&parsed, call),
        Err(_) => format!("({call})"),
    }
}

view! {
    SECURITY_PREDICATES = "sys.security_predicates" of Predicate as p, rows predicates;
    object_id int = p.policy;
    security_predicate_id int = p.def.id;
    target_object_id int = p.def.table;
    predicate_definition nvarchar(max) null = definition(&p.def.call);
    predicate_type int null = i32::from(p.def.kind != PredicateKind::Filter);
    predicate_type_desc nvarchar(60) null =
        if p.def.kind == PredicateKind::Filter { "FILTER" } else { "BLOCK" };
    operation int null = p.def.kind.operation();
    operation_desc nvarchar(60) null = p.operation();
}
