//! Definitions of DML triggers: CREATE, ALTER, ENABLE and DISABLE, sp_settriggerorder.

use crate::Commands;
use crate::security::Defined;
use catalog::{
    Event, ModuleKind, ModuleOptions, ObjectRef, ProcedureDef, PutMode, RefAction, TableDef,
};
use executor::SqlError;
use ir::ObjectName;
use session_state::{SessionNames, bind_error, is_temporary};
use std::sync::Arc;
use syntax::ast::{CreateMode, CreateTrigger, EnableTrigger, TriggerScope};
use types::Value;

impl Commands<'_> {
    /// CREATE, ALTER, CREATE OR ALTER TRIGGER: 8197, 2103, 2111, 2113, 10776, 10777, 13569.
    pub fn create_trigger(
        &mut self,
        create: &CreateTrigger,
        text: &str,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let invalid = || {
            let text = format!(
                "The object '{}' does not exist or is invalid for this operation.",
                create.table
            );
            SqlError::new(8197, 16, text).with_state(4)
        };
        super::modules::no_database_part(&ObjectName::from(&create.name), "CREATE TRIGGER")?;
        let parent = ObjectName::from(&create.table);
        self.local(&parent)?;
        if is_temporary(&parent.name) {
            return Err(invalid());
        }
        let schema = self.schema_of(&parent);
        let Some(found) = self.state.find_object(schema.as_deref(), &parent.name) else {
            return Err(invalid());
        };
        if !self.may_change(&found, false) {
            return Err(invalid());
        }
        self.check_native_trigger(create, &found)?;
        let table = match &found {
            ObjectRef::Table(table) if refuses_trigger(table, create.instead_of) => {
                let text = format!(
                    "Cannot create a trigger on a system-versioned temporal table '{}'.",
                    self.state.database.catalog.shown(table)
                );
                return Err(SqlError::new(13569, 16, text));
            }
            ObjectRef::Table(table) => table.clone(),
            ObjectRef::Procedure(view) if view.kind == ModuleKind::View && create.instead_of => {
                self.rows_of_view(view, create)?
            }
            ObjectRef::Procedure(_) => return Err(invalid()),
        };
        let name = &create.name.name.value;
        if let Some(own) = &create.name.schema
            && !catalog::same_name(&own.value, &table.schema)
        {
            return Err(SqlError::new(
                2103,
                15,
                format!(
                    "Cannot create trigger '{}' because its schema is different from the schema of the target table or \
                     view.",
                    create.name
                ),
            ));
        }
        self.check_module_execute_as(&create.options, Defined::TriggerOn(&table))?;
        self.check_instead_of(create, &table)?;
        let names = SessionNames::new(self.state, self.host);
        let def = {
            let schema = Some(&*table.schema);
            binder::bind_trigger(create, text, &table, schema, &names).map_err(bind_error)?;
            binder::trigger_def(create, table.object_id)
        };
        let mode = match create.mode {
            CreateMode::Create => PutMode::Create,
            CreateMode::Alter => PutMode::Alter,
            CreateMode::CreateOrAlter => PutMode::CreateOrAlter,
        };
        let options = ModuleOptions {
            quoted_identifier: self.state.options.quoted_identifier,
            ansi_nulls: self.state.options.settings().ansi_nulls,
        };
        let text = &syntax::as_created(text);
        self.in_catalog(frame, |catalog, txn, scope| {
            catalog.put_trigger(txn, scope, mode, &table.schema, name, text, options, def)?;
            Ok(())
        })
    }

    /// What a trigger of a view sees: its columns. 2112 for a view WITH CHECK OPTION.
    fn rows_of_view(
        &mut self,
        view: &ProcedureDef,
        create: &CreateTrigger,
    ) -> Result<Arc<TableDef>, SqlError> {
        if binder::has_check_option(view) {
            return Err(SqlError::new(
                2112,
                16,
                format!(
                    "Cannot create trigger '{}' for view '{}' because the view is defined with CHECK OPTION.",
                    create.name, create.table
                ),
            ));
        }
        let names = SessionNames::new(self.state, self.host);
        Ok(Arc::new(binder::view_rows(view, &names).map_err(bind_error)?))
    }

    /// One INSTEAD OF trigger for each kind of statement, and none where a foreign key cascades: 2111, 2113.
    fn check_instead_of(&self, create: &CreateTrigger, table: &TableDef) -> Result<(), SqlError> {
        if !create.instead_of {
            return Ok(());
        }
        let name = &create.name.name.value;
        let def = binder::trigger_def(create, table.object_id);
        let scope = self.state.transaction.scope();
        let others = self.state.database.catalog.triggers_of(scope, table.object_id);
        for (event, word) in
            [(Event::Insert, "INSERT"), (Event::Update, "UPDATE"), (Event::Delete, "DELETE")]
        {
            if !def.is_on(event) {
                continue;
            }
            let taken = others.iter().any(|other| {
                !catalog::same_name(&other.name, name)
                    && other.trigger.is_some_and(|t| t.is_instead_of() && t.is_on(event))
            });
            if taken {
                return Err(SqlError::new(
                    2111,
                    16,
                    format!(
                        "Cannot create trigger '{}' on table '{}' because an INSTEAD OF {word} trigger already exists \
                         on this object.",
                        create.name, create.table
                    ),
                ));
            }
            let cascades = table.foreign_keys.iter().any(|key| match event {
                Event::Insert => false,
                Event::Update => key.on_update != RefAction::NoAction,
                Event::Delete => key.on_delete != RefAction::NoAction,
            });
            if cascades {
                return Err(SqlError::new(
                    2113,
                    16,
                    format!(
                        "Cannot create INSTEAD OF DELETE or INSTEAD OF UPDATE TRIGGER '{}' on table '{}'. This is \
                         because the table has a FOREIGN KEY with cascading DELETE or UPDATE.",
                        create.name, create.table
                    ),
                ));
            }
        }
        Ok(())
    }

    /// ENABLE and DISABLE TRIGGER; 1088, 4920-like 3701 for a trigger that is not there.
    pub fn enable_triggers(
        &mut self,
        enable: &EnableTrigger,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let parent = ObjectName::from(&enable.table);
        self.local(&parent)?;
        let schema = self.schema_of(&parent);
        let found = self.state.find_object(schema.as_deref(), &parent.name);
        let Some(found) = found.filter(|found| self.may_change(found, false)) else {
            return Err(crate::refusals::no_object(&parent.to_string()));
        };
        let scope = self.state.transaction.scope();
        let all = self.state.database.catalog.triggers_of(scope, found.object_id());
        let mut chosen = Vec::new();
        for name in &enable.triggers {
            let one = all.iter().find(|t| catalog::same_name(&t.name, &name.name.value));
            let Some(one) = one else {
                return Err(match enable.of_alter_table {
                    false => crate::refusals::no_object(&name.to_string()),
                    true => {
                        let (trigger, table) = (&name.name.value, &parent.name);
                        let text = format!(
                            "ALTER TABLE failed because trigger '{trigger}' on table '{table}' does not exist."
                        );
                        SqlError::new(4920, 16, text)
                    }
                });
            };
            chosen.push(one.clone());
        }
        if enable.triggers.is_empty() {
            chosen = all;
        }
        self.set_triggers(&chosen, |t| t.enabled(enable.enable), frame)
    }

    pub(crate) fn set_triggers(
        &mut self,
        triggers: &[Arc<ProcedureDef>],
        change: impl Fn(&ProcedureDef) -> ProcedureDef,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.in_catalog(frame, |catalog, txn, scope| {
            for trigger in triggers {
                catalog.set_trigger(txn, scope, trigger, &change)?;
            }
            Ok(())
        })
    }

    /// sp_settriggerorder: 15165, 15123-like for words that are none, 15132 when another is the first or last.
    pub fn set_trigger_order(
        &mut self,
        name: &str,
        order: &str,
        statement: &str,
        namespace: Option<&str>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let position = match order.to_ascii_lowercase().as_str() {
            "first" => -1,
            "last" => 1,
            "none" => 0,
            _ => return Err(bad_order()),
        };
        let of = match namespace.map(str::to_ascii_uppercase).as_deref() {
            None => None,
            Some("DATABASE") => Some(TriggerScope::Database),
            Some("SERVER") => Some(TriggerScope::Server),
            Some(_) => return Err(bad_order()),
        };
        if let Some(of) = of {
            return self.set_ddl_trigger_order(of, name, position, statement, frame);
        }
        let mut parts = session_state::name_parts(name).into_iter().rev();
        let bare = parts.next().unwrap_or_default();
        let schema = parts.next().filter(|s| !s.is_empty());
        let scope = self.state.transaction.scope();
        let catalog = &self.state.database.catalog;
        let found = catalog.module(scope, schema.as_deref(), &bare, ModuleKind::Trigger);
        let Some((found, def)) = found.and_then(|f| f.trigger.map(|def| (f, def))) else {
            return Err(no_trigger(name));
        };
        let event = match statement.to_ascii_lowercase().as_str() {
            "insert" => Event::Insert,
            "update" => Event::Update,
            "delete" => Event::Delete,
            _ => return Err(bad_order()),
        };
        if def.is_instead_of() || !def.is_on(event) {
            return Err(not_for(name, statement));
        }
        let others = catalog.triggers_of(scope, def.parent);
        let taken = position != 0
            && others.iter().any(|t| {
                t.object_id != found.object_id
                    && t.trigger.is_some_and(|t| t.is_on(event) && t.order(event) == position)
            });
        if taken {
            let (order, statement) = (order.to_ascii_lowercase(), statement.to_ascii_uppercase());
            return Err(place_taken(&order, &statement));
        }
        let ordered = |t: &ProcedureDef| ProcedureDef {
            trigger: t.trigger.map(|def| def.ordered(event, position)),
            ..t.clone()
        };
        self.set_triggers(&[found], ordered, frame)
    }
}

pub(crate) fn no_trigger(name: &str) -> SqlError {
    let text = format!("Could not find object '{name}' or you do not have permission.");
    SqlError::new(15165, 16, text)
}

pub(crate) fn not_for(name: &str, statement: &str) -> SqlError {
    SqlError::new(15125, 16, format!("Trigger '{name}' is not a trigger for '{statement}'."))
}

pub(crate) fn place_taken(order: &str, statement: &str) -> SqlError {
    let text = format!("There already exists a '{order}' trigger for '{statement}'.");
    SqlError::new(15130, 16, text)
}

/// 15600.
pub(crate) fn bad_order() -> SqlError {
    SqlError::new(
        15600,
        15,
        "An invalid parameter or option was specified for procedure 'sys.sp_settriggerorder'.",
    )
}

/// A history table has no triggers, and a versioned one none that run in place of its changes.
fn refuses_trigger(table: &TableDef, instead_of: bool) -> bool {
    match table.temporal {
        catalog::Temporal::No => false,
        catalog::Temporal::Versioned { .. } => instead_of,
        catalog::Temporal::History { .. } => true,
    }
}
