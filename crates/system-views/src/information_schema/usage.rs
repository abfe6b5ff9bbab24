//! Who uses what in INFORMATION_SCHEMA: the tables and columns of views, the columns of alias types and of functions.
//!
//! Columns and types: SQL Server's documentation of each view. What a view uses is found by binding its text.

use super::{Named, Standard, catalog_name, objects_of, standard};
use crate::catalog_views::columns::{self, of_object};
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::object::{Object, What};
use crate::shape::sources_of;
use crate::types_table::user_types;
use catalog::ObjectRef;
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&VIEW_TABLE_USAGE, &VIEW_COLUMN_USAGE, &COLUMN_DOMAIN_USAGE, &ROUTINE_COLUMNS];

/// A table, or a column of one, that a view uses.
pub struct Usage {
    catalog: String,
    view: Object,
    schema: String,
    table: String,
    column: String,
}

fn used(
    context: &Context<'_>,
    names: impl Fn(Vec<String>) -> Vec<String>,
) -> Result<Vec<Usage>, SqlError> {
    let mut all = Vec::new();
    for Named { catalog, object } in objects_of(context, &["V"]) {
        let What::Procedure(module) = &object.what else { continue };
        for (source, columns) in sources_of(context, module) {
            let (schema, table) = match &source {
                ObjectRef::Table(table) => (&table.schema, &table.name),
                ObjectRef::Procedure(view) => (&view.schema, &view.name),
            };
            all.extend(names(columns).into_iter().map(|column| Usage {
                catalog: catalog.clone(),
                view: object.clone(),
                schema: schema.to_string(),
                table: table.to_string(),
                column,
            }));
        }
    }
    Ok(all)
}

fn used_tables(context: &Context<'_>, _: &[Value]) -> Result<Vec<Usage>, SqlError> {
    used(context, |_| vec![String::new()])
}

fn used_columns(context: &Context<'_>, _: &[Value]) -> Result<Vec<Usage>, SqlError> {
    used(context, |columns| columns)
}

view! {
    VIEW_TABLE_USAGE = "INFORMATION_SCHEMA.VIEW_TABLE_USAGE" of Usage as u, rows used_tables;
    VIEW_CATALOG nvarchar(128) null = &u.catalog;
    VIEW_SCHEMA nvarchar(128) null = &u.view.schema;
    VIEW_NAME sysname = &u.view.name;
    TABLE_CATALOG nvarchar(128) null = &u.catalog;
    TABLE_SCHEMA nvarchar(128) null = &u.schema;
    TABLE_NAME sysname = &u.table;
}

view! {
    VIEW_COLUMN_USAGE = "INFORMATION_SCHEMA.VIEW_COLUMN_USAGE" of Usage as u, rows used_columns;
    VIEW_CATALOG nvarchar(128) null = &u.catalog;
    VIEW_SCHEMA nvarchar(128) null = &u.view.schema;
    VIEW_NAME sysname = &u.view.name;
    TABLE_CATALOG nvarchar(128) null = &u.catalog;
    TABLE_SCHEMA nvarchar(128) null = &u.schema;
    TABLE_NAME sysname = &u.table;
    COLUMN_NAME sysname null = &u.column;
}

/// A column of an alias type: the database, the type's schema and name, the column and where it is.
pub struct Domain {
    catalog: String,
    schema: String,
    name: String,
    object: Object,
    column: String,
}

fn domains(context: &Context<'_>, _: &[Value]) -> Result<Vec<Domain>, SqlError> {
    let aliases = user_types(context);
    let mut all = Vec::new();
    for Named { catalog, object } in objects_of(context, &["U", "V"]) {
        for column in of_object(context, &object) {
            let Some(alias) = aliases.iter().find(|row| row.user == column.ty.user) else {
                continue;
            };
            all.push(Domain {
                catalog: catalog.clone(),
                schema: context.schema_name(alias.schema_id),
                name: alias.name.to_string(),
                object: object.clone(),
                column: column.name,
            });
        }
    }
    Ok(all)
}

view! {
    COLUMN_DOMAIN_USAGE = "INFORMATION_SCHEMA.COLUMN_DOMAIN_USAGE" of Domain as d, rows domains;
    DOMAIN_CATALOG nvarchar(128) null = &d.catalog;
    DOMAIN_SCHEMA nvarchar(128) null = &d.schema;
    DOMAIN_NAME sysname = &d.name;
    TABLE_CATALOG nvarchar(128) null = &d.catalog;
    TABLE_SCHEMA nvarchar(128) null = &d.object.schema;
    TABLE_NAME sysname = &d.object.name;
    COLUMN_NAME sysname null = &d.column;
}

/// A column of what a table-valued function gives.
pub struct RoutineColumn {
    catalog: String,
    schema: String,
    function: String,
    column: columns::Column,
    standard: Standard,
}

fn routine_columns(context: &Context<'_>, _: &[Value]) -> Result<Vec<RoutineColumn>, SqlError> {
    let catalog = catalog_name(context);
    let mut all = Vec::new();
    for Named { object, .. } in objects_of(context, &["IF", "TF"]) {
        all.extend(of_object(context, &object).into_iter().map(|column| RoutineColumn {
            catalog: catalog.clone(),
            schema: object.schema.clone(),
            function: object.name.clone(),
            standard: Standard { collation: column.ty.collation, ..standard(column.sql_type) },
            column,
        }));
    }
    Ok(all)
}

view! {
    ROUTINE_COLUMNS = "INFORMATION_SCHEMA.ROUTINE_COLUMNS" of RoutineColumn as c, rows routine_columns;
    TABLE_CATALOG nvarchar(128) null = &c.catalog;
    TABLE_SCHEMA nvarchar(128) null = &c.schema;
    TABLE_NAME nvarchar(128) null = &c.function;
    COLUMN_NAME nvarchar(128) null = &c.column.name;
    ORDINAL_POSITION int = c.column.id;
    COLUMN_DEFAULT nvarchar(4000) null = NULL;
    IS_NULLABLE varchar(3) null = if c.column.nullable { "YES" } else { "NO" };
    DATA_TYPE nvarchar(128) null = c.column.type_name();
    CHARACTER_MAXIMUM_LENGTH int null = c.standard.length;
    CHARACTER_OCTET_LENGTH int null = c.standard.octets;
    NUMERIC_PRECISION tinyint null = c.standard.precision;
    NUMERIC_PRECISION_RADIX smallint null = c.standard.radix;
    NUMERIC_SCALE int null = c.standard.scale;
    DATETIME_PRECISION smallint null = c.standard.fraction;
    CHARACTER_SET_CATALOG sysname null = NULL;
    CHARACTER_SET_SCHEMA sysname null = NULL;
    CHARACTER_SET_NAME sysname null = c.standard.charset;
    COLLATION_CATALOG sysname null = NULL;
    COLLATION_SCHEMA sysname null = NULL;
    COLLATION_NAME sysname null = c.standard.collation.map(|k| k.name());
    DOMAIN_CATALOG sysname null = NULL;
    DOMAIN_SCHEMA sysname null = NULL;
    DOMAIN_NAME sysname null = NULL;
}
