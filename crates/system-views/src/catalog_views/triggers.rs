//! Triggers, and the statements that fire them.
//!
//! Columns and types: SQL Server 2022's documentation of each view.

use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::object::{self, Object, What};
use catalog::{Event, TriggerDef};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&TRIGGERS, &TRIGGER_EVENTS, &EVENTS];

impl Object {
    /// When it fires; none but triggers do.
    pub fn trigger(&self) -> Option<TriggerDef> {
        match &self.what {
            What::Procedure(module) => module.trigger,
            _ => None,
        }
    }
}

fn triggers(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    let all = object::user_objects(context);
    Ok(all.into_iter().filter(|o| o.trigger().is_some()).collect())
}

fn is(object: &Object, holds: impl FnOnce(TriggerDef) -> bool) -> bool {
    object.trigger().is_some_and(holds)
}

view! {
    TRIGGERS = "sys.triggers" of Object as o, rows triggers;
    name sysname = &o.name;
    object_id int = o.id;
    parent_class tinyint = 1u8;
    parent_class_desc nvarchar(60) null = "OBJECT_OR_COLUMN";
    parent_id int = o.parent;
    type char(2) = "TR";
    type_desc nvarchar(60) null = "SQL_TRIGGER";
    create_date datetime = o.created;
    modify_date datetime = o.created;
    is_ms_shipped bit = false;
    is_disabled bit = is(o, |t| t.is_disabled());
    is_not_for_replication bit = is(o, |t| t.is_not_for_replication());
    is_instead_of_trigger bit = is(o, |t| t.is_instead_of());
}

/// A statement that fires a trigger.
pub struct Fired {
    object_id: i32,
    number: i32,
    word: &'static str,
    order: i8,
}

fn events(context: &Context<'_>, args: &[Value]) -> Result<Vec<Fired>, SqlError> {
    let mut all = Vec::new();
    for object in triggers(context, args)? {
        let Some(trigger) = object.trigger() else { continue };
        let kinds = [
            (Event::Insert, 1, "INSERT"),
            (Event::Update, 2, "UPDATE"),
            (Event::Delete, 3, "DELETE"),
        ];
        for (event, number, word) in kinds {
            if trigger.is_on(event) {
                let order = trigger.order(event);
                all.push(Fired { object_id: object.id, number, word, order });
            }
        }
    }
    Ok(all)
}

view! {
    EVENTS = "sys.events" of Fired as e, rows events;
    object_id int = e.object_id;
    type int = e.number;
    type_desc nvarchar(60) null = e.word;
    is_trigger_event bit null = true;
    event_group_type int null = NULL;
    event_group_type_desc nvarchar(60) null = NULL;
}

view! {
    TRIGGER_EVENTS = "sys.trigger_events" of Fired as e, rows events;
    object_id int = e.object_id;
    type int = e.number;
    type_desc nvarchar(60) null = e.word;
    is_first bit null = e.order < 0;
    is_last bit null = e.order > 0;
    event_group_type int null = NULL;
    event_group_type_desc nvarchar(60) null = NULL;
    is_trigger_event bit null = true;
}
