//! What the definition of a trigger says: the events that it is for; which triggers a change fires, and what they see of
//! its rows.
//!
//! Promise: `inserted` and `deleted` have the columns of their table in its order, and nothing that makes or checks values.
//! Errors: 1083, 1084, 1095, 1098.

use std::sync::Arc;

use catalog::{Event, Place, TableDef, TriggerDef};
use ir::Fires;
use syntax::ast;

use crate::error::{BindError, Result};
use crate::names::Names;

/// What a trigger's definition says of when it fires.
pub fn trigger_def(create: &ast::CreateTrigger, parent: i32) -> TriggerDef {
    let mut events = Vec::new();
    for (is_on, event) in [
        (create.events.insert, Event::Insert),
        (create.events.update, Event::Update),
        (create.events.delete, Event::Delete),
    ] {
        if is_on {
            events.push(event);
        }
    }
    TriggerDef::new(parent, &events, create.instead_of, create.not_for_replication)
}

/// The numbers of what a DDL trigger is for, as it says: 1084, 1095, 1098; 1083 for a principal that it has not.
pub fn ddl_events(create: &ast::CreateDdlTrigger) -> Result<Arc<[u16]>> {
    let of_database = create.scope == ast::TriggerScope::Database;
    if create.options.iter().any(|option| option == "EXECUTE AS OWNER") {
        let text = "OWNER is not a valid option for EXECUTE AS in the context of server and database level triggers.";
        return Err(BindError::new(1083, 15, create.name.span.line.max(1), text));
    }
    let mut events = Vec::new();
    for event in &create.events {
        let (name, line) = (&event.value, event.span.line.max(1));
        let changes_rows =
            || ["INSERT", "UPDATE", "DELETE"].iter().any(|w| catalog::same_name(w, name));
        let Some(found) = catalog::DdlEvent::by_name(name) else {
            return Err(match changes_rows() {
                true => not_on_target(line),
                false => {
                    BindError::new(1084, 15, line, format!("'{name}' is an invalid event type."))
                }
            });
        };
        if of_database && !found.is_of_database() {
            return Err(not_on_target(line));
        }
        if events.contains(&found.number) {
            let text = format!("{name} has already been specified as an event type.");
            return Err(BindError::new(1095, 15, line, text));
        }
        events.push(found.number);
    }
    Ok(events.into())
}

fn not_on_target(line: u32) -> BindError {
    let text = "The specified event type(s) is/are not valid on the specified target object.";
    BindError::new(1098, 15, line, text)
}

/// The enabled triggers that a statement fires; the first and last by sp_settriggerorder at their places.
pub fn fires_of(names: &dyn Names, parent: i32, event: Event) -> Option<Arc<Fires>> {
    let mut all: Vec<(TriggerDef, i32)> = names
        .triggers(parent)
        .iter()
        .filter_map(|module| Some((module.trigger?, module.object_id)))
        .filter(|(trigger, _)| !trigger.is_disabled() && trigger.is_on(event))
        .collect();
    if all.is_empty() {
        return None;
    }
    all.sort_by_key(|(trigger, _)| trigger.order(event));
    let instead = all.iter().find(|(trigger, _)| trigger.is_instead_of()).map(|(_, id)| *id);
    let after = all.iter().filter(|(trigger, _)| !trigger.is_instead_of()).map(|(_, id)| *id);
    Some(Arc::new(Fires { event, instead, after: after.collect(), follows: false }))
}

/// `inserted` or `deleted`: columns of the table without anything that makes or checks values.
pub fn rows_def(slot: u16, name: &str, table: &TableDef) -> Result<TableDef> {
    let column = |c: &catalog::ColumnDef| catalog::ColumnSpec {
        collation: c.collation,
        // What no row keeps is computed from these rows too.
        computed: c.computed.as_ref().filter(|k| k.volatile).map(|k| (k.text.clone(), false)),
        volatile: c.is_volatile(),
        marks: catalog::Marks {
            sparse: c.marks.sparse,
            column_set: c.marks.column_set,
            ..catalog::Marks::default()
        },
        ..catalog::ColumnSpec::new(&c.name, c.ty)
    };
    let spec = catalog::TableSpec {
        name: name.into(),
        columns: table.columns.iter().map(column).collect(),
        ..catalog::TableSpec::default()
    };
    let id = -1 - i32::from(slot);
    catalog::define_private(&spec, Place::Variable(slot), id, 1)
        .map_err(|e| BindError::of_catalog(e, 1))
}
