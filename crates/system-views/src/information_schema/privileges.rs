//! Privileges of INFORMATION_SCHEMA: what the current user has been granted, or has granted, on tables and views.
//!
//! Columns, and which rows there are: SQL Server's documentation of each view. A privilege on a whole table is one on each
//! of its columns, but for DELETE.

use super::{Named, objects_of};
use crate::catalog_views::columns::{Column, of_object};
use crate::catalog_views::principals::{Granted, access, database_grants, directory};
use crate::context::Context;
use crate::declare::{Declared, view};
use executor::SqlError;
use security::database_role::PUBLIC;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&TABLE_PRIVILEGES, &COLUMN_PRIVILEGES];

/// The permissions that count.
const PRIVILEGES: &[&str] = &["SELECT", "INSERT", "UPDATE", "DELETE", "REFERENCES"];

/// A privilege, on a table or on one of its columns.
#[derive(Clone)]
pub struct Privilege {
    catalog: String,
    schema: String,
    table: String,
    column: Option<String>,
    grantor: Option<String>,
    grantee: Option<String>,
    kind: &'static str,
    grantable: &'static str,
}

/// Calls `each` with every grant on a table or view that the current user is part of, what it is on and its columns.
fn each(
    context: &Context<'_>,
    each: &mut dyn FnMut(&Granted, &Privilege, &[Column]),
) -> Result<(), SqlError> {
    let (user, directory) = (access(context).user(), directory(context, false));
    let name = |id: i32| directory.principals.get(&id).map(|p| p.name.to_string());
    let is_about = |g: &Granted| {
        g.class_number() == 1
            && g.state() != "D"
            && PRIVILEGES.contains(&g.permission())
            && [PUBLIC, user].iter().any(|id| [g.grantee(), g.grantor()].contains(id))
    };
    let mut granted = database_grants(context, &[])?;
    granted.retain(is_about);
    if granted.is_empty() {
        return Ok(());
    }
    for Named { catalog, object } in objects_of(context, &["U", "V"]) {
        let columns = of_object(context, &object);
        for g in granted.iter().filter(|g| g.major_id() == object.id) {
            let privilege = Privilege {
                catalog: catalog.clone(),
                schema: object.schema.to_string(),
                table: object.name.to_string(),
                column: None,
                grantor: name(g.grantor()),
                grantee: name(g.grantee()),
                kind: g.permission(),
                grantable: if g.state() == "W" { "YES" } else { "NO" },
            };
            each(g, &privilege, &columns);
        }
    }
    Ok(())
}

fn of_tables(context: &Context<'_>, _: &[Value]) -> Result<Vec<Privilege>, SqlError> {
    let mut all = Vec::new();
    each(context, &mut |g, privilege, _| {
        if g.minor_id() == 0 {
            all.push(privilege.clone());
        }
    })?;
    Ok(all)
}

fn of_columns(context: &Context<'_>, _: &[Value]) -> Result<Vec<Privilege>, SqlError> {
    let mut all = Vec::new();
    each(context, &mut |g, privilege, columns| {
        let meant = columns.iter().filter(|column| [0, column.id].contains(&g.minor_id()));
        for column in meant.filter(|_| privilege.kind != "DELETE") {
            all.push(Privilege { column: Some(column.name.to_string()), ..privilege.clone() });
        }
    })?;
    Ok(all)
}

view! {
    TABLE_PRIVILEGES = "INFORMATION_SCHEMA.TABLE_PRIVILEGES" of Privilege as p, rows of_tables;
    GRANTOR nvarchar(128) null = p.grantor.as_deref();
    GRANTEE nvarchar(128) null = p.grantee.as_deref();
    TABLE_CATALOG nvarchar(128) null = &p.catalog;
    TABLE_SCHEMA nvarchar(128) null = &p.schema;
    TABLE_NAME sysname = &p.table;
    PRIVILEGE_TYPE varchar(10) null = p.kind;
    IS_GRANTABLE varchar(3) null = p.grantable;
}

view! {
    COLUMN_PRIVILEGES = "INFORMATION_SCHEMA.COLUMN_PRIVILEGES" of Privilege as p, rows of_columns;
    GRANTOR nvarchar(128) null = p.grantor.as_deref();
    GRANTEE nvarchar(128) null = p.grantee.as_deref();
    TABLE_CATALOG nvarchar(128) null = &p.catalog;
    TABLE_SCHEMA nvarchar(128) null = &p.schema;
    TABLE_NAME sysname = &p.table;
    COLUMN_NAME sysname null = p.column.as_deref();
    PRIVILEGE_TYPE varchar(10) null = p.kind;
    IS_GRANTABLE varchar(3) null = p.grantable;
}
