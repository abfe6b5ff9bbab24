//! Constraints and privileges of INFORMATION_SCHEMA.
//!
//! Columns and types: SQL Server's documentation of each view.

use super::catalog_name;
use crate::catalog_views::objects::none;
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::object;
use catalog::TableDef;
use executor::SqlError;
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &TABLE_CONSTRAINTS,
    &KEY_COLUMN_USAGE,
    &CONSTRAINT_COLUMN_USAGE,
    &CONSTRAINT_TABLE_USAGE,
    &REFERENTIAL_CONSTRAINTS,
    &CHECK_CONSTRAINTS,
    &TABLE_PRIVILEGES,
    &COLUMN_PRIVILEGES,
];

/// A primary key.
pub struct Key {
    catalog: String,
    table: Arc<TableDef>,
    name: String,
}

fn keys(context: &Context<'_>, _: &[Value]) -> Result<Vec<Key>, SqlError> {
    let catalog = catalog_name(context);
    let key = |table: Arc<TableDef>| {
        let name = table.primary_key.as_ref()?.name.to_string();
        Some(Key { catalog: catalog.clone(), table, name })
    };
    let tables = object::tables(context);
    Ok(tables.iter().filter_map(|o| o.table().cloned()).filter_map(key).collect())
}

view! {
    TABLE_CONSTRAINTS = "INFORMATION_SCHEMA.TABLE_CONSTRAINTS" of Key as k, rows keys;
    CONSTRAINT_CATALOG nvarchar(128) null = &k.catalog;
    CONSTRAINT_SCHEMA nvarchar(128) null = &k.table.schema;
    CONSTRAINT_NAME sysname = &k.name;
    TABLE_CATALOG nvarchar(128) null = &k.catalog;
    TABLE_SCHEMA nvarchar(128) null = &k.table.schema;
    TABLE_NAME sysname null = &k.table.name;
    CONSTRAINT_TYPE varchar(11) null = "PRIMARY KEY";
    IS_DEFERRABLE varchar(2) = "NO";
    INITIALLY_DEFERRED varchar(2) = "NO";
}

view! {
    CONSTRAINT_TABLE_USAGE = "INFORMATION_SCHEMA.CONSTRAINT_TABLE_USAGE" of Key as k, rows keys;
    TABLE_CATALOG nvarchar(128) null = &k.catalog;
    TABLE_SCHEMA nvarchar(128) null = &k.table.schema;
    TABLE_NAME sysname null = &k.table.name;
    CONSTRAINT_CATALOG nvarchar(128) null = &k.catalog;
    CONSTRAINT_SCHEMA nvarchar(128) null = &k.table.schema;
    CONSTRAINT_NAME sysname = &k.name;
}

/// A column of a primary key: its name and place.
pub struct KeyColumn {
    key: Key,
    column: String,
    place: i32,
}

fn key_columns(context: &Context<'_>, args: &[Value]) -> Result<Vec<KeyColumn>, SqlError> {
    let mut all = Vec::new();
    for Key { catalog, table, name } in keys(context, args)? {
        let columns = table.primary_key.as_ref().map(|k| k.columns.clone()).unwrap_or_default();
        for ((ordinal, _), place) in columns.into_iter().zip(1..) {
            let column = table.columns[ordinal].name.to_string();
            let key = Key { catalog: catalog.clone(), table: table.clone(), name: name.clone() };
            all.push(KeyColumn { key, column, place });
        }
    }
    Ok(all)
}

view! {
    KEY_COLUMN_USAGE = "INFORMATION_SCHEMA.KEY_COLUMN_USAGE" of KeyColumn as c, rows key_columns;
    CONSTRAINT_CATALOG nvarchar(128) null = &c.key.catalog;
    CONSTRAINT_SCHEMA nvarchar(128) null = &c.key.table.schema;
    CONSTRAINT_NAME sysname = &c.key.name;
    TABLE_CATALOG nvarchar(128) null = &c.key.catalog;
    TABLE_SCHEMA nvarchar(128) null = &c.key.table.schema;
    TABLE_NAME sysname null = &c.key.table.name;
    COLUMN_NAME sysname null = &c.column;
    ORDINAL_POSITION int = c.place;
}

view! {
    CONSTRAINT_COLUMN_USAGE = "INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE" of KeyColumn as c,
        rows key_columns;
    TABLE_CATALOG nvarchar(128) null = &c.key.catalog;
    TABLE_SCHEMA nvarchar(128) null = &c.key.table.schema;
    TABLE_NAME sysname = &c.key.table.name;
    COLUMN_NAME sysname null = &c.column;
    CONSTRAINT_CATALOG nvarchar(128) null = &c.key.catalog;
    CONSTRAINT_SCHEMA nvarchar(128) null = &c.key.table.schema;
    CONSTRAINT_NAME sysname = &c.key.name;
}

view! {
    REFERENTIAL_CONSTRAINTS = "INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS" of () as r, rows none;
    CONSTRAINT_CATALOG nvarchar(128) null = NULL;
    CONSTRAINT_SCHEMA nvarchar(128) null = NULL;
    CONSTRAINT_NAME sysname = NULL;
    UNIQUE_CONSTRAINT_CATALOG nvarchar(128) null = NULL;
    UNIQUE_CONSTRAINT_SCHEMA nvarchar(128) null = NULL;
    UNIQUE_CONSTRAINT_NAME sysname null = NULL;
    MATCH_OPTION varchar(7) null = NULL;
    UPDATE_RULE varchar(11) null = NULL;
    DELETE_RULE varchar(11) null = NULL;
}

view! {
    CHECK_CONSTRAINTS = "INFORMATION_SCHEMA.CHECK_CONSTRAINTS" of () as c, rows none;
    CONSTRAINT_CATALOG nvarchar(128) null = NULL;
    CONSTRAINT_SCHEMA nvarchar(128) null = NULL;
    CONSTRAINT_NAME sysname = NULL;
    CHECK_CLAUSE nvarchar(4000) null = NULL;
}

view! {
    TABLE_PRIVILEGES = "INFORMATION_SCHEMA.TABLE_PRIVILEGES" of () as p, rows none;
    GRANTOR nvarchar(128) null = NULL;
    GRANTEE nvarchar(128) null = NULL;
    TABLE_CATALOG nvarchar(128) null = NULL;
    TABLE_SCHEMA nvarchar(128) null = NULL;
    TABLE_NAME sysname = NULL;
    PRIVILEGE_TYPE varchar(10) null = NULL;
    IS_GRANTABLE varchar(3) null = NULL;
}

view! {
    COLUMN_PRIVILEGES = "INFORMATION_SCHEMA.COLUMN_PRIVILEGES" of () as p, rows none;
    GRANTOR nvarchar(128) null = NULL;
    GRANTEE nvarchar(128) null = NULL;
    TABLE_CATALOG nvarchar(128) null = NULL;
    TABLE_SCHEMA nvarchar(128) null = NULL;
    TABLE_NAME sysname = NULL;
    COLUMN_NAME sysname null = NULL;
    PRIVILEGE_TYPE varchar(10) null = NULL;
    IS_GRANTABLE varchar(3) null = NULL;
}
