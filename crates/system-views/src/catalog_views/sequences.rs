//! Sequences and synonyms.
//!
//! Columns and types: SQL Server 2022's documentation of each view.

use super::objects::object_view;
use crate::context::Context;
use crate::declare::{Declared, variant};
use crate::object::{self, Object, What};
use crate::types_table::{ColumnType, column_type};
use catalog::{ModuleKind, ProcedureDef, SequenceDef};
use executor::SqlError;
use std::sync::Arc;
use types::{SqlType, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SYNONYMS, &SEQUENCES];

fn of_kind(context: &Context<'_>, kind: ModuleKind) -> Vec<Object> {
    let all = object::user_objects(context);
    let wanted = |o: &Object| matches!(&o.what, What::Procedure(p) if p.kind == kind);
    all.into_iter().filter(wanted).collect()
}

fn synonyms(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    Ok(of_kind(context, ModuleKind::Synonym))
}

fn base(object: &Object) -> Option<String> {
    match &object.what {
        What::Procedure(p) => Some(p.text.to_string()),
        _ => None,
    }
}

object_view! {
    SYNONYMS = "sys.synonyms" as o, rows synonyms;
    base_object_name nvarchar(1035) null = base(o);
}

/// A sequence and the number it gave last.
#[derive(Clone)]
pub struct Sequence {
    object: Object,
    pub def: SequenceDef,
    pub ty: ColumnType,
    last: Option<i128>,
    is_exhausted: bool,
}

impl Sequence {
    pub fn name(&self) -> &str {
        &self.object.name
    }
    pub fn schema(&self) -> &str {
        &self.object.schema
    }
    /// One of its numbers, as sql_variant.
    pub fn number(&self, number: i128) -> Value {
        let ty = self.def.sql_type().unwrap_or(SqlType::BigInt);
        variant(number.to_string(), ty)
    }
}

/// All sequences.
pub fn sequences(context: &Context<'_>, _: &[Value]) -> Result<Vec<Sequence>, SqlError> {
    let one = |object: Object| {
        let What::Procedure(module) = &object.what else { return None };
        let module: Arc<ProcedureDef> = module.clone();
        let def = module.sequence.clone()?;
        let given = context.database.catalog.given_in_sequence(&module);
        Some(Sequence {
            ty: column_type(def.sql_type().unwrap_or(SqlType::BigInt)),
            last: if given > 0 { def.number(given - 1) } else { None },
            is_exhausted: def.number(given).is_none(),
            object,
            def,
        })
    };
    Ok(of_kind(context, ModuleKind::Sequence).into_iter().filter_map(one).collect())
}

crate::declare::view! {
    SEQUENCES = "sys.sequences" of Sequence as s, rows sequences;
    name sysname = &s.object.name;
    object_id int = s.object.id;
    principal_id int null = s.object.owner;
    schema_id int = s.object.schema_id;
    parent_object_id int = s.object.parent;
    type char(2) null = "SO";
    type_desc nvarchar(60) null = "SEQUENCE_OBJECT";
    create_date datetime = s.object.created;
    modify_date datetime = s.object.created;
    is_ms_shipped bit = false;
    is_published bit = false;
    is_schema_published bit = false;
    start_value sql_variant = s.number(s.def.original);
    increment sql_variant = s.number(s.def.increment);
    minimum_value sql_variant = s.number(s.def.minimum);
    maximum_value sql_variant = s.number(s.def.maximum);
    is_cycling bit null = s.def.cycle;
    is_cached bit null = s.def.cache != Some(0);
    cache_size int null = s.def.cache.filter(|n| *n > 0).map(|n| n as i32);
    system_type_id tinyint = s.ty.system;
    user_type_id int = s.ty.user;
    precision tinyint = s.ty.precision;
    scale tinyint null = s.ty.scale;
    current_value sql_variant = s.number(s.last.unwrap_or(s.def.start));
    is_exhausted bit = s.is_exhausted;
    last_used_value sql_variant null = s.last.map(|n| s.number(n));
}
