//! Triggers: which of them a statement fires, and their bodies.
//!
//! In a trigger `inserted` and `deleted` are read-only table variables under those names, in slots 0 and 1, with the
//! columns of the table or view that it belongs to.

use std::sync::Arc;

use catalog::{Event, Place, TableDef, TriggerDef};
use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::*;
use crate::statements::ProgramBinder;
use semantics::names::Names;
use semantics::{BindError, Result};

/// The slot of `inserted`; that of `deleted` follows.
pub(crate) const INSERTED: u16 = 0;

impl Binder<'_> {
    /// What a change of the table fires, itself or by what follows from it; 334 for OUTPUT without INTO.
    pub fn fires(
        &self,
        table: &TableDef,
        event: Event,
        output: Option<&Output>,
    ) -> Result<Option<Arc<Fires>>> {
        if table.is_private() {
            return Ok(None);
        }
        let fires = match fires_of(self.names, table.object_id, event) {
            Some(fires) => Some(self.told(fires, table, output)?),
            None => None,
        };
        if !self.followers_fire(table, event) {
            return Ok(fires);
        }
        Ok(Some(match fires {
            Some(fires) => Arc::new(Fires { follows: true, ..(*fires).clone() }),
            None => Arc::new(Fires { event, instead: None, after: Vec::new(), follows: true }),
        }))
    }

    /// Triggers that a statement fires; 334 for OUTPUT without INTO.
    pub fn told(
        &self,
        fires: Arc<Fires>,
        table: &TableDef,
        output: Option<&Output>,
    ) -> Result<Arc<Fires>> {
        if output.is_some_and(|output| output.told().is_some()) {
            return Err(self.error(
                334,
                format!(
                    "The target table '{}' of the DML statement cannot have any enabled triggers if the statement \
                     contains an OUTPUT clause without INTO clause.",
                    table.name
                ),
            ));
        }
        Ok(fires)
    }

    /// Does some table have triggers for what follows, by foreign keys that cascade, from a change of this one?
    fn followers_fire(&self, table: &TableDef, event: Event) -> bool {
        if event == Event::Insert || table.referencing.is_empty() {
            return false;
        }
        let mut seen = vec![(table.object_id, event)];
        let mut next = 0;
        while let Some((id, event)) = seen.get(next).copied() {
            next += 1;
            let Some(parent) = self.names.table_by_id(id) else { continue };
            for child in parent.referencing.iter().filter_map(|id| self.names.table_by_id(*id)) {
                for key in child.foreign_keys.iter().filter(|k| k.table == id && !k.disabled) {
                    let Some(follows) = key.follows(event) else { continue };
                    let step = (child.object_id, follows);
                    if seen.contains(&step) {
                        continue;
                    }
                    if fires_of(self.names, child.object_id, follows).is_some() {
                        return true;
                    }
                    seen.push(step);
                }
            }
        }
        false
    }

    /// UPDATE(column) and COLUMNS_UPDATED() in a trigger: 140, 207.
    #[inline(never)]
    pub fn updated(&mut self, f: &ast::FunctionCall, name: &str, line: u32) -> Result<Expr> {
        let Some(inserted) = self.frame.tables.first().filter(|t| &*t.def.name == "inserted")
        else {
            return Err(BindError::new(
                140,
                15,
                line,
                "Can only use IF UPDATE within a CREATE TRIGGER statement.",
            ));
        };
        if name == "COLUMNS_UPDATED" {
            let ty = SqlType::VarBinary(Len::N(128));
            let kind = ExprKind::Func { func: FuncId::ColumnsUpdated, args: Vec::new() };
            return Ok(Expr::new(kind, ty, true));
        }
        let column = match f.args.as_slice() {
            [ast::Expr { kind: ast::ExprKind::Column(c), .. }] if c.qualifier.is_empty() => c,
            _ => return Err(BindError::new(102, 15, line, "Incorrect syntax near 'UPDATE'.")),
        };
        let ordinal = inserted.def.column(&column.name.value);
        let ordinal = ordinal.ok_or_else(|| BindError::invalid_column(&column.name.value, line))?;
        let args = vec![Expr::constant(Value::Int(ordinal as i32), SqlType::Int)];
        let kind = ExprKind::Func { func: FuncId::UpdatedColumn, args };
        Ok(Expr::new(kind, SqlType::Int, false))
    }
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

/// What a trigger's definition says of when it fires.
pub(crate) fn trigger_def(create: &ast::CreateTrigger, parent: i32) -> TriggerDef {
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

/// Binds the body of a trigger of `table`; `text` is its whole definition.
pub(crate) fn bind_trigger(
    create: &ast::CreateTrigger,
    text: &str,
    table: &TableDef,
    schema: Option<&str>,
    names: &dyn Names,
    uses: Option<crate::uses::Uses>,
) -> Result<Program> {
    let line = create.name.span.line.max(1);
    let (body, atomic) = semantics::native::block(&create.options, &create.body, line)?;
    let binder = ProgramBinder::new(names, text, false).of_module(schema).atomic(atomic);
    let mut binder = binder.noting(uses);
    for (slot, name) in (INSERTED..).zip(["inserted", "deleted"]) {
        binder.declare_rows(slot, name, table)?;
    }
    binder.program(Vec::new(), body)
}

/// The numbers of what a DDL trigger is for, as it says: 1084, 1095, 1098; 1083 for a principal that it has not.
pub(crate) fn ddl_events(create: &ast::CreateDdlTrigger) -> Result<Arc<[u16]>> {
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

/// Binds the body of a DDL trigger; `text` is its whole definition.
pub(crate) fn bind_ddl_trigger(
    create: &ast::CreateDdlTrigger,
    text: &str,
    schema: Option<&str>,
    names: &dyn Names,
) -> Result<Program> {
    ProgramBinder::new(names, text, false).of_module(schema).program(Vec::new(), &create.body)
}

/// `inserted` or `deleted`: columns of the table without anything that makes or checks values.
pub(crate) fn rows_def(slot: u16, name: &str, table: &TableDef) -> Result<TableDef> {
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
