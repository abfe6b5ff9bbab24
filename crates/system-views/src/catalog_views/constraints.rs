//! Keys, defaults, checks and references.
//!
//! Columns and types: SQL Server 2022's documentation of each view.

use super::objects::{default_column, object_view};
use crate::context::Context;
use crate::declare::{Declared, view};
use crate::object::{self, Object, What};
use catalog::{CheckDef, ForeignKeyDef, IndexKind, RefAction, TableDef};
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
    Ok(all
        .into_iter()
        .filter(|o| matches!(o.what, What::PrimaryKey(_) | What::Unique(..)))
        .collect())
}

fn defaults(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    let all = object::user_objects(context);
    Ok(all.into_iter().filter(|o| matches!(o.what, What::Default(..))).collect())
}

fn checks(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    let all = object::user_objects(context);
    Ok(all.into_iter().filter(|o| matches!(o.what, What::Check(..))).collect())
}

pub fn foreign_keys(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    let all = object::user_objects(context);
    Ok(all.into_iter().filter(|o| matches!(o.what, What::ForeignKey(..))).collect())
}

/// The id of a key's index.
fn unique_index(object: &Object) -> i32 {
    match &object.what {
        What::Unique(table, i) => table.indexes[*i].index_id,
        What::PrimaryKey(table) => {
            let own = table.indexes.iter().find(|i| i.kind == IndexKind::PrimaryKey);
            own.map_or(1, |i| i.index_id)
        }
        _ => 1,
    }
}

fn check(object: &Object) -> Option<&CheckDef> {
    match &object.what {
        What::Check(table, i) => Some(&table.checks[*i]),
        _ => None,
    }
}

pub fn key(object: &Object) -> Option<&ForeignKeyDef> {
    match &object.what {
        What::ForeignKey(table, i, _) => Some(&table.foreign_keys[*i]),
        _ => None,
    }
}

/// An action as SQL Server shows it.
pub fn action_desc(action: Option<RefAction>) -> &'static str {
    match action {
        Some(RefAction::Cascade) => "CASCADE",
        Some(RefAction::SetNull) => "SET_NULL",
        Some(RefAction::SetDefault) => "SET_DEFAULT",
        Some(RefAction::NoAction) | None => "NO_ACTION",
    }
}

/// The index of the table referred to that a foreign key goes by: 1 or 0 are the table itself.
pub fn key_index(parent: &TableDef, key: &ForeignKeyDef) -> i32 {
    let same = |columns: &[(usize, bool)]| {
        columns.len() == key.referenced.len()
            && columns.iter().all(|(i, _)| key.referenced.contains(i))
    };
    if same(parent.clustered_key()) {
        return 1;
    }
    let found = parent.indexes.iter().find(|i| i.unique && same(&i.columns));
    found.map_or(0, |i| i.index_id)
}

/// A column of a foreign key.
pub struct KeyColumn {
    pub key: ForeignKeyDef,
    pub parent: i32,
    /// From 1.
    pub place: i32,
}

pub fn key_columns(context: &Context<'_>, args: &[Value]) -> Result<Vec<KeyColumn>, SqlError> {
    let mut all = Vec::new();
    for object in foreign_keys(context, args)? {
        let Some(key) = key(&object) else { continue };
        let places = 1..=key.columns.len() as i32;
        all.extend(places.map(|place| KeyColumn {
            key: key.clone(),
            parent: object.parent,
            place,
        }));
    }
    Ok(all)
}

impl KeyColumn {
    pub fn at(&self, columns: &[usize]) -> i32 {
        columns[self.place as usize - 1] as i32 + 1
    }
}

/// Was the name made up by the server? Those end in `__` and eight or more hexadecimal digits.
fn system_named(name: &str) -> bool {
    let tail = name.rsplit("__").next().unwrap_or("");
    name.contains("__") && tail.len() >= 8 && tail.bytes().all(|b| b.is_ascii_hexdigit())
}

fn definition(object: &Object) -> Option<String> {
    match &object.what {
        _ if !object.is_readable => None,
        What::Default(table, i) => table.columns[*i].default.as_ref().map(|d| d.text.to_string()),
        What::Check(table, i) => Some(table.checks[*i].text.to_string()),
        _ => None,
    }
}

object_view! {
    KEY_CONSTRAINTS = "sys.key_constraints" as o, rows keys;
    unique_index_id int null = unique_index(o);
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
    CHECK_CONSTRAINTS = "sys.check_constraints" as o, rows checks;
    is_disabled bit = check(o).is_some_and(|c| c.disabled);
    is_not_for_replication bit = false;
    is_not_trusted bit = check(o).is_some_and(|c| !c.trusted);
    parent_column_id int = check(o).and_then(|c| c.column).map_or(0, |i| i as i32 + 1);
    definition nvarchar(max) null = definition(o);
    uses_database_collation bit null = true;
    is_system_named bit = system_named(&o.name);
}

object_view! {
    FOREIGN_KEYS = "sys.foreign_keys" as o, rows foreign_keys;
    referenced_object_id int null = key(o).map(|k| k.table);
    key_index_id int null = match &o.what {
        What::ForeignKey(_, _, index) => *index,
        _ => 0,
    };
    is_disabled bit = key(o).is_some_and(|k| k.disabled);
    is_not_for_replication bit = false;
    is_not_trusted bit = key(o).is_some_and(|k| !k.trusted);
    delete_referential_action tinyint null = key(o).map_or(0, |k| k.on_delete.number());
    delete_referential_action_desc nvarchar(60) null = action_desc(key(o).map(|k| k.on_delete));
    update_referential_action tinyint null = key(o).map_or(0, |k| k.on_update.number());
    update_referential_action_desc nvarchar(60) null = action_desc(key(o).map(|k| k.on_update));
    is_system_named bit = system_named(&o.name);
}

view! {
    FOREIGN_KEY_COLUMNS = "sys.foreign_key_columns" of KeyColumn as f, rows key_columns;
    constraint_object_id int = f.key.object_id;
    constraint_column_id int = f.place;
    parent_object_id int = f.parent;
    parent_column_id int = f.at(&f.key.columns);
    referenced_object_id int = f.key.table;
    referenced_column_id int = f.at(&f.key.referenced);
}
