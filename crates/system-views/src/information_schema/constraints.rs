//! Constraints of INFORMATION_SCHEMA.
//!
//! Columns and types: SQL Server's documentation of each view.

use super::catalog_name;
use crate::context::Context;
use crate::declare::{Declared, view};
use crate::object;
use catalog::{IndexKind, RefAction, TableDef, same_name};
use executor::SqlError;
use std::sync::Arc;
use syntax::{LexOptions, MentionKind};
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &TABLE_CONSTRAINTS,
    &KEY_COLUMN_USAGE,
    &CONSTRAINT_COLUMN_USAGE,
    &CONSTRAINT_TABLE_USAGE,
    &REFERENTIAL_CONSTRAINTS,
    &CHECK_CONSTRAINTS,
];

/// A constraint that keys, checks or refers.
#[derive(Clone)]
pub struct Key {
    catalog: String,
    table: Arc<TableDef>,
    name: String,
    kind: &'static str,
    /// Ordinals of its columns, in order.
    columns: Vec<usize>,
}

fn constraints(context: &Context<'_>, _: &[Value]) -> Result<Vec<Key>, SqlError> {
    let catalog = catalog_name(context);
    let mut all = Vec::new();
    for table in object::tables(context).iter().filter_map(|o| o.table()) {
        let mut add = |name: &str, kind: &'static str, columns: Vec<usize>| {
            let (catalog, table, name) = (catalog.clone(), table.clone(), name.to_string());
            all.push(Key { catalog, table, name, kind, columns });
        };
        let ordinals = |key: &[(usize, bool)]| key.iter().map(|(i, _)| *i).collect();
        if let Some(key) = &table.primary_key {
            add(&key.name, "PRIMARY KEY", ordinals(&key.columns));
        }
        for index in table.indexes.iter().filter(|i| i.kind == IndexKind::Unique) {
            add(&index.name, "UNIQUE", ordinals(&index.columns));
        }
        for key in &table.foreign_keys {
            add(&key.name, "FOREIGN KEY", key.columns.clone());
        }
        for check in &table.checks {
            add(&check.name, "CHECK", check.column.into_iter().collect());
        }
    }
    Ok(all)
}

fn keys(context: &Context<'_>, args: &[Value]) -> Result<Vec<Key>, SqlError> {
    Ok(constraints(context, args)?.into_iter().filter(|k| k.kind != "CHECK").collect())
}

view! {
    TABLE_CONSTRAINTS = "INFORMATION_SCHEMA.TABLE_CONSTRAINTS" of Key as k, rows constraints;
    CONSTRAINT_CATALOG nvarchar(128) null = &k.catalog;
    CONSTRAINT_SCHEMA nvarchar(128) null = &k.table.schema;
    CONSTRAINT_NAME sysname = &k.name;
    TABLE_CATALOG nvarchar(128) null = &k.catalog;
    TABLE_SCHEMA nvarchar(128) null = &k.table.schema;
    TABLE_NAME sysname null = &k.table.name;
    CONSTRAINT_TYPE varchar(11) null = k.kind;
    IS_DEFERRABLE varchar(2) = "NO";
    INITIALLY_DEFERRED varchar(2) = "NO";
}

view! {
    CONSTRAINT_TABLE_USAGE = "INFORMATION_SCHEMA.CONSTRAINT_TABLE_USAGE" of Key as k, rows constraints;
    TABLE_CATALOG nvarchar(128) null = &k.catalog;
    TABLE_SCHEMA nvarchar(128) null = &k.table.schema;
    TABLE_NAME sysname null = &k.table.name;
    CONSTRAINT_CATALOG nvarchar(128) null = &k.catalog;
    CONSTRAINT_SCHEMA nvarchar(128) null = &k.table.schema;
    CONSTRAINT_NAME sysname = &k.name;
}

/// A column of a key: its name and place.
pub struct KeyColumn {
    key: Key,
    column: String,
    place: i32,
}

fn columns_of(keys: Vec<Key>) -> Vec<KeyColumn> {
    let mut all = Vec::new();
    for key in keys {
        for (ordinal, place) in key.columns.iter().zip(1..) {
            let column = key.table.columns[*ordinal].name.to_string();
            all.push(KeyColumn { key: key.clone(), column, place });
        }
    }
    all
}

fn key_columns(context: &Context<'_>, args: &[Value]) -> Result<Vec<KeyColumn>, SqlError> {
    Ok(columns_of(keys(context, args)?))
}

/// Of a CHECK the columns that its condition names, whether it was made with a column or with the table.
fn constraint_columns(context: &Context<'_>, args: &[Value]) -> Result<Vec<KeyColumn>, SqlError> {
    let mut all = constraints(context, args)?;
    for key in all.iter_mut().filter(|key| key.kind == "CHECK") {
        let check = key.table.checks.iter().find(|check| *check.name == *key.name);
        let Some(check) = check else { continue };
        let named = syntax::expression_mentions(&check.text, &LexOptions::default());
        let named = named.iter().filter(|mention| mention.kind == MentionKind::Column);
        for mention in named {
            let name = mention.name.name.value.as_str();
            let at = key.table.columns.iter().position(|column| same_name(&column.name, name));
            if let Some(at) = at.filter(|at| !key.columns.contains(at)) {
                key.columns.push(at);
            }
        }
    }
    Ok(columns_of(all))
}

/// A foreign key: by which constraint of which table it goes.
pub struct Reference {
    key: Key,
    unique_schema: Option<String>,
    unique_name: Option<String>,
    on_update: &'static str,
    on_delete: &'static str,
}

fn references(context: &Context<'_>, _: &[Value]) -> Result<Vec<Reference>, SqlError> {
    let catalog = catalog_name(context);
    let mut all = Vec::new();
    for table in object::tables(context).iter().filter_map(|o| o.table()) {
        for foreign in &table.foreign_keys {
            let parent = context.database.catalog.table_by_id(context.scope(), foreign.table);
            let unique = parent.as_ref().and_then(|p| {
                let same = |key: &[(usize, bool)]| {
                    key.len() == foreign.referenced.len()
                        && key.iter().all(|(i, _)| foreign.referenced.contains(i))
                };
                let primary = p.primary_key.as_ref().filter(|k| same(&k.columns));
                let index = p.indexes.iter().find(|i| i.unique && same(&i.columns));
                primary.map(|k| k.name.to_string()).or(index.map(|i| i.name.to_string()))
            });
            let rule = |action: RefAction| match action {
                RefAction::NoAction => "NO ACTION",
                RefAction::Cascade => "CASCADE",
                RefAction::SetNull => "SET NULL",
                RefAction::SetDefault => "SET DEFAULT",
            };
            all.push(Reference {
                key: Key {
                    catalog: catalog.clone(),
                    table: table.clone(),
                    name: foreign.name.to_string(),
                    kind: "FOREIGN KEY",
                    columns: foreign.columns.clone(),
                },
                unique_schema: parent.map(|p| p.schema.to_string()),
                unique_name: unique,
                on_update: rule(foreign.on_update),
                on_delete: rule(foreign.on_delete),
            });
        }
    }
    Ok(all)
}

/// A CHECK: its catalog, schema, name and text.
pub struct Check(String, String, String, String);

fn checks(context: &Context<'_>, _: &[Value]) -> Result<Vec<Check>, SqlError> {
    let catalog = catalog_name(context);
    let mut all = Vec::new();
    for table in object::tables(context).iter().filter_map(|o| o.table()) {
        all.extend(table.checks.iter().map(|c| {
            let schema = table.schema.to_string();
            Check(catalog.clone(), schema, c.name.to_string(), c.text.to_string())
        }));
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
        rows constraint_columns;
    TABLE_CATALOG nvarchar(128) null = &c.key.catalog;
    TABLE_SCHEMA nvarchar(128) null = &c.key.table.schema;
    TABLE_NAME sysname = &c.key.table.name;
    COLUMN_NAME sysname null = &c.column;
    CONSTRAINT_CATALOG nvarchar(128) null = &c.key.catalog;
    CONSTRAINT_SCHEMA nvarchar(128) null = &c.key.table.schema;
    CONSTRAINT_NAME sysname = &c.key.name;
}

view! {
    REFERENTIAL_CONSTRAINTS = "INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS" of Reference as r, rows references;
    CONSTRAINT_CATALOG nvarchar(128) null = &r.key.catalog;
    CONSTRAINT_SCHEMA nvarchar(128) null = &r.key.table.schema;
    CONSTRAINT_NAME sysname = &r.key.name;
    UNIQUE_CONSTRAINT_CATALOG nvarchar(128) null = &r.key.catalog;
    UNIQUE_CONSTRAINT_SCHEMA nvarchar(128) null = r.unique_schema.as_deref();
    UNIQUE_CONSTRAINT_NAME sysname null = r.unique_name.as_deref();
    MATCH_OPTION varchar(7) null = "SIMPLE";
    UPDATE_RULE varchar(11) null = r.on_update;
    DELETE_RULE varchar(11) null = r.on_delete;
}

view! {
    CHECK_CONSTRAINTS = "INFORMATION_SCHEMA.CHECK_CONSTRAINTS" of Check as c, rows checks;
    CONSTRAINT_CATALOG nvarchar(128) null = &c.0;
    CONSTRAINT_SCHEMA nvarchar(128) null = &c.1;
    CONSTRAINT_NAME sysname = &c.2;
    CHECK_CLAUSE nvarchar(4000) null = &c.3;
}
