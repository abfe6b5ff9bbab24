//! Procedures, functions and their parameters in INFORMATION_SCHEMA.
//!
//! Columns and types: SQL Server's documentation of ROUTINES and PARAMETERS.

use super::{Named, Standard, objects_of, short_definition, standard};
use crate::catalog_views::modules::{Parameter, parameters_of};
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::types_table::{TypeRow, user_types};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&ROUTINES, &PARAMETERS];

fn routines(context: &Context<'_>, _: &[Value]) -> Result<Vec<Named>, SqlError> {
    Ok(objects_of(context, &["P", "FN", "IF", "TF"]))
}

/// A routine, and what it returns.
pub struct Routine {
    named: Named,
    /// A function's type, and how the standard describes it.
    returns: Option<(&'static str, Option<Standard>)>,
    deterministic: bool,
}

impl Routine {
    fn standard(&self) -> Option<&Standard> {
        self.returns.as_ref()?.1.as_ref()
    }
}

fn described(context: &Context<'_>, args: &[Value]) -> Result<Vec<Routine>, SqlError> {
    let one = |named: Named| {
        let returns = match named.object.kind() {
            "P" => None,
            "FN" => {
                let all = parameters_of(context, &named.object);
                let value = all.iter().find(|parameter| parameter.id == 0).map(|p| p.sql_type);
                value.map(|ty| (ty.name(), Some(standard(ty))))
            }
            _ => Some(("TABLE", None)),
        };
        let names = crate::shape::DatabaseNames { context };
        let deterministic = named.object.kind() != "P"
            && binder::is_deterministic_function(named.object.id, &names);
        Routine { named, returns, deterministic }
    };
    Ok(routines(context, args)?.into_iter().map(one).collect())
}

view! {
    ROUTINES = "INFORMATION_SCHEMA.ROUTINES" of Routine as r, rows described;
    SPECIFIC_CATALOG nvarchar(128) null = &r.named.catalog;
    SPECIFIC_SCHEMA nvarchar(128) null = &r.named.object.schema;
    SPECIFIC_NAME sysname = &r.named.object.name;
    ROUTINE_CATALOG nvarchar(128) null = &r.named.catalog;
    ROUTINE_SCHEMA nvarchar(128) null = &r.named.object.schema;
    ROUTINE_NAME sysname = &r.named.object.name;
    ROUTINE_TYPE nvarchar(20) null =
        if r.named.object.kind() == "P" { "PROCEDURE" } else { "FUNCTION" };
    MODULE_CATALOG sysname null = NULL;
    MODULE_SCHEMA sysname null = NULL;
    MODULE_NAME sysname null = NULL;
    UDT_CATALOG sysname null = NULL;
    UDT_SCHEMA sysname null = NULL;
    UDT_NAME sysname null = NULL;
    DATA_TYPE sysname null = r.returns.as_ref().map(|(name, _)| *name);
    CHARACTER_MAXIMUM_LENGTH int null = r.standard().and_then(|s| s.length);
    CHARACTER_OCTET_LENGTH int null = r.standard().and_then(|s| s.octets);
    COLLATION_CATALOG sysname null = NULL;
    COLLATION_SCHEMA sysname null = NULL;
    COLLATION_NAME sysname null =
        r.standard().and_then(|s| s.collation).map(|k| k.name());
    CHARACTER_SET_CATALOG sysname null = NULL;
    CHARACTER_SET_SCHEMA sysname null = NULL;
    CHARACTER_SET_NAME sysname null = r.standard().and_then(|s| s.charset);
    NUMERIC_PRECISION smallint null =
        r.standard().and_then(|s| s.precision).map(i16::from);
    NUMERIC_PRECISION_RADIX smallint null = r.standard().and_then(|s| s.radix);
    NUMERIC_SCALE smallint null = r.standard().and_then(|s| s.scale).map(|n| n as i16);
    DATETIME_PRECISION smallint null = r.standard().and_then(|s| s.fraction);
    INTERVAL_TYPE nvarchar(30) null = NULL;
    INTERVAL_PRECISION smallint null = NULL;
    TYPE_UDT_CATALOG sysname null = NULL;
    TYPE_UDT_SCHEMA sysname null = NULL;
    TYPE_UDT_NAME sysname null = NULL;
    SCOPE_CATALOG sysname null = NULL;
    SCOPE_SCHEMA sysname null = NULL;
    SCOPE_NAME sysname null = NULL;
    MAXIMUM_CARDINALITY bigint null = NULL;
    DTD_IDENTIFIER sysname null = NULL;
    ROUTINE_BODY nvarchar(30) null = "SQL";
    ROUTINE_DEFINITION nvarchar(4000) null = short_definition(&r.named.object);
    EXTERNAL_NAME sysname null = NULL;
    EXTERNAL_LANGUAGE nvarchar(30) null = NULL;
    PARAMETER_STYLE nvarchar(30) null = NULL;
    IS_DETERMINISTIC nvarchar(10) null = if r.deterministic { "YES" } else { "NO" };
    SQL_DATA_ACCESS nvarchar(30) null =
        if r.named.object.kind() == "P" { "MODIFIES" } else { "READS" };
    IS_NULL_CALL nvarchar(10) null = (r.named.object.kind() != "P").then_some("NO");
    SQL_PATH sysname null = NULL;
    SCHEMA_LEVEL_ROUTINE nvarchar(10) null = "YES";
    MAX_DYNAMIC_RESULT_SETS smallint null = if r.named.object.kind() == "P" { -1i16 } else { 0i16 };
    IS_USER_DEFINED_CAST nvarchar(10) null = "NO";
    IS_IMPLICITLY_INVOCABLE nvarchar(10) null = "NO";
    CREATED datetime = r.named.object.created;
    LAST_ALTERED datetime = r.named.object.created;
}

/// A parameter of a routine.
pub struct Of {
    routine: Named,
    /// Schema and name of its type, where that is the database's own.
    user_type: Option<(String, String)>,
    parameter: Parameter,
    standard: Standard,
}

fn parameters(context: &Context<'_>, args: &[Value]) -> Result<Vec<Of>, SqlError> {
    let mut all = Vec::new();
    let types = user_types(context);
    for Named { catalog, object } in routines(context, args)? {
        for parameter in parameters_of(context, &object) {
            let routine = Named { catalog: catalog.clone(), object: object.clone() };
            let standard = standard(parameter.sql_type);
            let user_type = types.iter().find(|row| row.user == parameter.ty.user);
            let named = |row: &TypeRow| (context.schema_name(row.schema_id), row.name.to_string());
            all.push(Of { routine, user_type: user_type.map(named), parameter, standard });
        }
    }
    Ok(all)
}

view! {
    PARAMETERS = "INFORMATION_SCHEMA.PARAMETERS" of Of as p, rows parameters;
    SPECIFIC_CATALOG nvarchar(128) null = &p.routine.catalog;
    SPECIFIC_SCHEMA nvarchar(128) null = &p.routine.object.schema;
    SPECIFIC_NAME sysname = &p.routine.object.name;
    ORDINAL_POSITION int = p.parameter.id;
    PARAMETER_MODE nvarchar(10) null = match (p.parameter.id, p.parameter.output) {
        (0, _) => "OUT",
        (_, true) => "INOUT",
        _ => "IN",
    };
    IS_RESULT nvarchar(10) null = if p.parameter.id == 0 { "YES" } else { "NO" };
    AS_LOCATOR nvarchar(10) null = "NO";
    PARAMETER_NAME sysname null = &p.parameter.name;
    DATA_TYPE sysname null = match p.parameter.ty.system {
        243 => "table type",
        _ => p.parameter.sql_type.name(),
    };
    CHARACTER_MAXIMUM_LENGTH int null = p.standard.length;
    CHARACTER_OCTET_LENGTH int null = p.standard.octets;
    COLLATION_CATALOG sysname null = NULL;
    COLLATION_SCHEMA sysname null = NULL;
    COLLATION_NAME sysname null = p.standard.collation.map(|k| k.name());
    CHARACTER_SET_CATALOG sysname null = NULL;
    CHARACTER_SET_SCHEMA sysname null = NULL;
    CHARACTER_SET_NAME sysname null = p.standard.charset;
    NUMERIC_PRECISION tinyint null = p.standard.precision;
    NUMERIC_PRECISION_RADIX smallint null = p.standard.radix;
    NUMERIC_SCALE int null = p.standard.scale;
    DATETIME_PRECISION smallint null = p.standard.fraction;
    INTERVAL_TYPE nvarchar(30) null = NULL;
    INTERVAL_PRECISION smallint null = NULL;
    USER_DEFINED_TYPE_CATALOG sysname null = p.user_type.as_ref().map(|_| &p.routine.catalog);
    USER_DEFINED_TYPE_SCHEMA sysname null = p.user_type.as_ref().map(|(schema, _)| schema);
    USER_DEFINED_TYPE_NAME sysname null = p.user_type.as_ref().map(|(_, name)| name);
    SCOPE_CATALOG sysname null = NULL;
    SCOPE_SCHEMA sysname null = NULL;
    SCOPE_NAME sysname null = NULL;
}
