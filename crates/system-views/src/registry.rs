//! All views in one list, found by name.
//!
//! A name that begins with `msdb.` or `master.` is of a table of that database, in its schema dbo; the others are seen
//! from every database.
//!
//! Invariants: names are unique without regard to case, and so are the ids made of them (a test checks both).

use crate::declare::Declared;
use catalog::same_name;
use ir::ObjectName;
use ir::{SystemColumn, SystemView};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Every view and table-valued function, in no particular order.
pub fn all() -> &'static [&'static dyn Declared] {
    static ALL: OnceLock<Vec<&'static dyn Declared>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        for part in crate::PARTS {
            all.extend_from_slice(part);
        }
        all.extend(crate::empty::all().iter().map(|view| view as &dyn Declared));
        all
    })
}

struct Entry {
    declared: &'static dyn Declared,
    bound: Arc<SystemView>,
}

/// By name in lower case, with the schema.
fn by_name() -> &'static HashMap<String, Entry> {
    static BY_NAME: OnceLock<HashMap<String, Entry>> = OnceLock::new();
    BY_NAME.get_or_init(|| {
        let entry = |view: &'static dyn Declared| {
            let key = view.name().to_ascii_lowercase();
            let bound = Arc::new(bound(view, key.clone()));
            (key, Entry { declared: view, bound })
        };
        all().iter().map(|view| entry(*view)).collect()
    })
}

fn bound(view: &dyn Declared, name: String) -> SystemView {
    let columns = view.columns().into_iter().map(|c| SystemColumn {
        name: c.name.to_string(),
        ty: c.ty,
        nullable: c.nullable,
    });
    SystemView {
        name,
        database: None,
        columns: columns.collect(),
        params: view.params().map(<[_]>::to_vec),
        function: None,
    }
}

fn entry(database: Option<&str>, schema: Option<&str>, name: &str) -> Option<&'static Entry> {
    let name = name.to_ascii_lowercase();
    let own =
        ["msdb", "master"].into_iter().find(|own| database.is_some_and(|d| same_name(d, own)));
    if let Some(own) = own
        && schema.is_none_or(|schema| schema.is_empty() || same_name(schema, "dbo"))
        && let Some(found) = by_name().get(&format!("{own}.{name}"))
    {
        return Some(found);
    }
    let schema = match schema {
        Some(s) if same_name(s, "sys") => "sys",
        Some(s) if same_name(s, "INFORMATION_SCHEMA") => "information_schema",
        // The views of earlier versions are found without a schema, and so are a few functions.
        None if is_found_bare(&name) => "sys",
        Some(s) if same_name(s, "dbo") && is_found_bare(&name) => "sys",
        _ => return None,
    };
    by_name().get(&format!("{schema}.{name}"))
}

/// Names of sysobjects' kind.
fn is_found_bare(name: &str) -> bool {
    crate::compatibility::needs_no_schema(name) || name.starts_with("fn_")
}

/// A view by its schema and name, any case.
pub fn find(schema: Option<&str>, name: &str) -> Option<&'static dyn Declared> {
    find_in("", schema, name)
}

/// The same in a database: those of msdb and master are found there alone.
pub fn find_in(database: &str, schema: Option<&str>, name: &str) -> Option<&'static dyn Declared> {
    entry(Some(database), schema, name).map(|e| e.declared)
}

/// The view behind what the binder was given.
pub fn of(view: &SystemView) -> Option<&'static dyn Declared> {
    by_name().get(&view.name).map(|e| e.declared)
}

/// The same for the binder.
pub fn resolve(name: &ObjectName) -> Option<Arc<SystemView>> {
    let entry = entry(name.database.as_deref(), name.schema.as_deref(), &name.name)?;
    match &name.database {
        None => Some(entry.bound.clone()),
        Some(database) => Some(Arc::new(SystemView {
            database: Some(database.clone()),
            ..(*entry.bound).clone()
        })),
    }
}
