//! Alias types and sequences in INFORMATION_SCHEMA.
//!
//! Columns and types: SQL Server's documentation of DOMAINS, DOMAIN_CONSTRAINTS and SEQUENCES.

use super::{Standard, catalog_name, standard};
use crate::catalog_views::sequences::{Sequence, sequences};
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::visibility::Visibility;
use catalog::{ObjectRef, ProcedureDef};
use executor::SqlError;
use std::sync::Arc;
use types::{SqlType, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SEQUENCES, &DOMAINS, &DOMAIN_CONSTRAINTS];

/// A sequence with the name of its database.
pub struct Named {
    catalog: String,
    sequence: Sequence,
    ty: SqlType,
    standard: Standard,
}

fn all_sequences(context: &Context<'_>, args: &[Value]) -> Result<Vec<Named>, SqlError> {
    let catalog = catalog_name(context);
    let named = |sequence: Sequence| {
        let ty = sequence.def.sql_type().unwrap_or(SqlType::BigInt);
        Named { catalog: catalog.clone(), sequence, ty, standard: standard(ty) }
    };
    Ok(sequences(context, args)?.into_iter().map(named).collect())
}

view! {
    SEQUENCES = "INFORMATION_SCHEMA.SEQUENCES" of Named as s, rows all_sequences;
    SEQUENCE_CATALOG nvarchar(128) null = &s.catalog;
    SEQUENCE_SCHEMA nvarchar(128) null = s.sequence.schema();
    SEQUENCE_NAME sysname = s.sequence.name();
    DATA_TYPE nvarchar(128) null = s.ty.name();
    NUMERIC_PRECISION tinyint = s.standard.precision.unwrap_or(0);
    NUMERIC_PRECISION_RADIX smallint null = s.standard.radix;
    NUMERIC_SCALE int null = s.standard.scale;
    START_VALUE sql_variant = s.sequence.number(s.sequence.def.original);
    MINIMUM_VALUE sql_variant = s.sequence.number(s.sequence.def.minimum);
    MAXIMUM_VALUE sql_variant = s.sequence.number(s.sequence.def.maximum);
    INCREMENT sql_variant = s.sequence.number(s.sequence.def.increment);
    CYCLE_OPTION bit null = s.sequence.def.cycle;
    DECLARED_DATA_TYPE sysname null = NULL;
    DECLARED_NUMERIC_PRECISION tinyint null = NULL;
    DECLARED_NUMERIC_SCALE tinyint null = NULL;
}

/// An alias type with the name of its database.
pub struct Domain {
    catalog: String,
    schema: String,
    name: String,
    ty: SqlType,
    standard: Standard,
    default: Option<String>,
    /// Schema and name of the rule that is bound to it.
    rule: Option<(String, String)>,
}

fn domains(context: &Context<'_>, _: &[Value]) -> Result<Vec<Domain>, SqlError> {
    let catalog = catalog_name(context);
    let all = context.database.catalog.objects_in(context.scope()).into_iter();
    let seen = Visibility::of(context);
    let one = |object: ObjectRef| {
        let ObjectRef::Procedure(module) = object else { return None };
        let ty = semantics::type_names::alias_of(&module)?.ty;
        if let Some(seen) = &seen
            && !seen.of_type(module.object_id, context.schema_id(&module.schema))
        {
            return None;
        }
        // Whether it may know of what is bound to the type, and read its text.
        let seen_of = |bound: &Arc<ProcedureDef>| match &seen {
            Some(seen) => seen.of_object(context, &ObjectRef::Procedure(bound.clone())),
            None => (true, true),
        };
        let bound = |id| context.database.catalog.bindable_by_id(context.scope(), id);
        let default = module.bindings.default.and_then(bound).filter(|d| seen_of(d).1);
        let rule = module.bindings.rule.and_then(bound).filter(|rule| seen_of(rule).0);
        Some(Domain {
            catalog: catalog.clone(),
            schema: module.schema.to_string(),
            name: module.name.to_string(),
            ty,
            standard: standard(ty),
            default: default.map(|module| module.text.to_string()),
            rule: rule.map(|rule| (rule.schema.to_string(), rule.name.to_string())),
        })
    };
    Ok(all.filter_map(one).collect())
}

/// Alias types with a rule.
fn constrained(context: &Context<'_>, args: &[Value]) -> Result<Vec<Domain>, SqlError> {
    let mut all = domains(context, args)?;
    all.retain(|domain| domain.rule.is_some());
    Ok(all)
}

view! {
    DOMAIN_CONSTRAINTS = "INFORMATION_SCHEMA.DOMAIN_CONSTRAINTS" of Domain as d, rows constrained;
    CONSTRAINT_CATALOG nvarchar(128) null = &d.catalog;
    CONSTRAINT_SCHEMA nvarchar(128) null = d.rule.as_ref().map(|rule| &rule.0[..]);
    CONSTRAINT_NAME sysname = d.rule.as_ref().map_or("", |rule| &rule.1[..]);
    DOMAIN_CATALOG nvarchar(128) null = &d.catalog;
    DOMAIN_SCHEMA nvarchar(128) null = &d.schema;
    DOMAIN_NAME sysname = &d.name;
    IS_DEFERRABLE varchar(2) = "NO";
    INITIALLY_DEFERRED varchar(2) = "NO";
}

view! {
    DOMAINS = "INFORMATION_SCHEMA.DOMAINS" of Domain as d, rows domains;
    DOMAIN_CATALOG nvarchar(128) null = &d.catalog;
    DOMAIN_SCHEMA nvarchar(128) null = &d.schema;
    DOMAIN_NAME sysname = &d.name;
    DATA_TYPE sysname null = d.ty.name();
    CHARACTER_MAXIMUM_LENGTH int null = d.standard.length;
    CHARACTER_OCTET_LENGTH int null = d.standard.octets;
    COLLATION_CATALOG varchar(6) null = NULL;
    COLLATION_SCHEMA varchar(3) null = NULL;
    COLLATION_NAME sysname null = d.standard.collation.map(|k| k.name());
    CHARACTER_SET_CATALOG varchar(6) null = NULL;
    CHARACTER_SET_SCHEMA varchar(3) null = NULL;
    CHARACTER_SET_NAME sysname null = d.standard.charset;
    NUMERIC_PRECISION tinyint null = d.standard.precision;
    NUMERIC_PRECISION_RADIX smallint null = d.standard.radix;
    NUMERIC_SCALE int null = d.standard.scale;
    DATETIME_PRECISION smallint null = d.standard.fraction;
    DOMAIN_DEFAULT nvarchar(4000) null = d.default.as_deref();
}
