//! Keys, defaults, checks and references.
//!
//! Columns and types: SQL Server 2022's documentation of each view. Checks and references do not exist yet: no rows.

use super::objects::{default_column, none, object_view};
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::object::{self, Object, What};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &KEY_CONSTRAINTS,
    &DEFAULT_CONSTRAINTS,
    &CHECK_CONSTRAINTS,
    &FOREIGN_KEYS,
    &FOREIGN_KEY_COLUMNS,
];

fn keys(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    let all = object::user_objects(context);
    Ok(all.into_iter().filter(|o| matches!(o.what, What::PrimaryKey(_))).collect())
}

fn defaults(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    let all = object::user_objects(context);
    Ok(all.into_iter().filter(|o| matches!(o.what, What::Default(..))).collect())
}

/// Was the name made up by the server? Those end in `__` and eight or more hexadecimal digits.
fn system_named(name: &str) -> bool {
    let tail = name.rsplit("__").next().unwrap_or("");
    name.contains("__") && tail.len() >= 8 && tail.bytes().all(|b| b.is_ascii_hexdigit())
}

fn definition(object: &Object) -> Option<String> {
    match &object.what {
        What::Default(table, i) => table.columns[*i].default.as_ref().map(|d| d.text.to_string()),
        _ => None,
    }
}

object_view! {
    KEY_CONSTRAINTS = "sys.key_constraints" as o, rows keys;
    unique_index_id int null = 1;
    is_system_named bit = system_named(&o.name);
    is_enforced bit null = true;
}

object_view! {
    DEFAULT_CONSTRAINTS = "sys.default_constraints" as o, rows defaults;
    parent_column_id int = default_column(o);
    definition nvarchar(max) null = definition(o);
    is_system_named bit = system_named(&o.name);
}

object_view! {
    CHECK_CONSTRAINTS = "sys.check_constraints" as o, rows none;
    is_disabled bit = false;
    is_not_for_replication bit = false;
    is_not_trusted bit = false;
    parent_column_id int = 0;
    definition nvarchar(max) null = NULL;
    uses_database_collation bit null = true;
    is_system_named bit = false;
}

object_view! {
    FOREIGN_KEYS = "sys.foreign_keys" as o, rows none;
    referenced_object_id int null = NULL;
    key_index_id int null = NULL;
    is_disabled bit = false;
    is_not_for_replication bit = false;
    is_not_trusted bit = false;
    delete_referential_action tinyint null = 0u8;
    delete_referential_action_desc nvarchar(60) null = "NO_ACTION";
    update_referential_action tinyint null = 0u8;
    update_referential_action_desc nvarchar(60) null = "NO_ACTION";
    is_system_named bit = false;
}

view! {
    FOREIGN_KEY_COLUMNS = "sys.foreign_key_columns" of () as f, rows none;
    constraint_object_id int = NULL;
    constraint_column_id int = NULL;
    parent_object_id int = NULL;
    parent_column_id int = NULL;
    referenced_object_id int = NULL;
    referenced_column_id int = NULL;
}
