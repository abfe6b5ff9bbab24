//! Triggers of tables and views, of databases and of the server, and what fires them.
//!
//! Columns and types: SQL Server 2022's documentation of each view.

use crate::context::Context;
use crate::declare::{Declared, view};
use crate::object::{self, Object, What};
use catalog::{DDL_EVENTS, DdlEvent, Event, ModuleKind, TriggerDef};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &TRIGGERS,
    &TRIGGER_EVENTS,
    &EVENTS,
    &SERVER_TRIGGERS,
    &SERVER_TRIGGER_EVENTS,
    &TRIGGER_EVENT_TYPES,
];

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
    let all = object::user_objects(context).into_iter().filter(|o| o.trigger().is_some());
    let own = object::ddl_triggers(context, ModuleKind::DatabaseTrigger);
    Ok(all.chain(own).collect())
}

fn server_triggers(context: &Context<'_>, _: &[Value]) -> Result<Vec<Object>, SqlError> {
    Ok(object::ddl_triggers(context, ModuleKind::ServerTrigger))
}

/// Is it of the database itself?
fn is_of_database(object: &Object) -> bool {
    object.parent == 0
}

fn is(object: &Object, holds: impl FnOnce(TriggerDef) -> bool) -> bool {
    object.trigger().is_some_and(holds)
}

view! {
    TRIGGERS = "sys.triggers" of Object as o, rows triggers;
    name sysname = &o.name;
    object_id int = o.id;
    parent_class tinyint = u8::from(!is_of_database(o));
    parent_class_desc nvarchar(60) null =
        if is_of_database(o) { "DATABASE" } else { "OBJECT_OR_COLUMN" };
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

view! {
    SERVER_TRIGGERS = "sys.server_triggers" of Object as o, rows server_triggers;
    name sysname = &o.name;
    object_id int = o.id;
    parent_class tinyint = 100u8;
    parent_class_desc nvarchar(60) null = "SERVER";
    parent_id int = 0;
    type char(2) = "TR";
    type_desc nvarchar(60) null = "SQL_TRIGGER";
    create_date datetime = o.created;
    modify_date datetime = o.created;
    is_ms_shipped bit = false;
    is_disabled bit = is(o, |t| t.is_disabled());
}

/// What fires a trigger: a kind of statement, or an event of definitions.
pub struct Fired {
    object_id: i32,
    number: i32,
    word: &'static str,
    order: i8,
    /// The group by which a DDL trigger is for the event.
    group: Option<&'static DdlEvent>,
}

impl Fired {
    fn group_number(&self) -> Option<i32> {
        self.group.map(|group| i32::from(group.number))
    }
    fn group_name(&self) -> Option<&'static str> {
        self.group.map(|group| group.name)
    }
}

fn events(context: &Context<'_>, args: &[Value]) -> Result<Vec<Fired>, SqlError> {
    Ok(events_of(triggers(context, args)?))
}

fn server_events(context: &Context<'_>, args: &[Value]) -> Result<Vec<Fired>, SqlError> {
    Ok(events_of(server_triggers(context, args)?))
}

fn events_of(objects: Vec<Object>) -> Vec<Fired> {
    let mut all = Vec::new();
    for object in objects {
        let Some(trigger) = object.trigger() else { continue };
        let object_id = object.id;
        let kinds = [
            (Event::Insert, 1, "INSERT"),
            (Event::Update, 2, "UPDATE"),
            (Event::Delete, 3, "DELETE"),
        ];
        for (event, number, word) in kinds {
            if trigger.is_on(event) {
                let order = trigger.order(event);
                all.push(Fired { object_id, number, word, order, group: None });
            }
        }
        let What::Procedure(module) = &object.what else { continue };
        for declared in module.declared_events() {
            let group = declared.is_group().then_some(declared);
            all.extend(declared.events().map(|event| {
                let (number, word) = (i32::from(event.number), event.name);
                Fired { object_id, number, word, order: module.order_of(event), group }
            }));
        }
    }
    all
}

view! {
    EVENTS = "sys.events" of Fired as e, rows events;
    object_id int = e.object_id;
    type int = e.number;
    type_desc nvarchar(60) null = e.word;
    is_trigger_event bit null = true;
    event_group_type int null = e.group_number();
    event_group_type_desc nvarchar(60) null = e.group_name();
}

macro_rules! event_view {
    ($view:ident = $full:literal, rows $rows:expr) => {
        view! {
            $view = $full of Fired as e, rows $rows;
            object_id int = e.object_id;
            type int = e.number;
            type_desc nvarchar(60) null = e.word;
            is_first bit null = e.order < 0;
            is_last bit null = e.order > 0;
            event_group_type int null = e.group_number();
            event_group_type_desc nvarchar(60) null = e.group_name();
            is_trigger_event bit null = true;
        }
    };
}

event_view!(TRIGGER_EVENTS = "sys.trigger_events", rows events);
event_view!(SERVER_TRIGGER_EVENTS = "sys.server_trigger_events", rows server_events);

fn event_types(_: &Context<'_>, _: &[Value]) -> Result<Vec<DdlEvent>, SqlError> {
    Ok(DDL_EVENTS.to_vec())
}

view! {
    TRIGGER_EVENT_TYPES = "sys.trigger_event_types" of DdlEvent as e, rows event_types;
    type int = i32::from(e.number);
    type_name nvarchar(64) null = e.name;
    parent_type int null = (e.parent != 0).then_some(i32::from(e.parent));
}
