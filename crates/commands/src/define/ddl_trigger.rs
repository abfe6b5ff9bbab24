//! CREATE, ALTER, DROP, ENABLE and DISABLE of triggers of the database and of the server.
//!
//! Those of the database change in the session's transaction; those of the server are in `master`, each change a
//! transaction of its own, and so refused (574) inside a user's.

use crate::Commands;
use crate::refusals::cannot_drop;
use crate::security::{Defined, RunsAs};
use catalog::{
    Catalog, DdlEvent, DdlScope, ModuleKind, ModuleOptions, ProcedureDef, PutMode, TriggerDef,
};
use executor::{SqlError, from_catalog};
use security::{Permission, Target};
use std::sync::Arc;
use syntax::ast::{CreateDdlTrigger, CreateMode, EnableDdlTrigger, TriggerScope};
use types::Value;

/// What a trigger of that scope is to the catalog.
pub(crate) fn kind_of(scope: TriggerScope) -> ModuleKind {
    match scope {
        TriggerScope::Database => ModuleKind::DatabaseTrigger,
        TriggerScope::Server => ModuleKind::ServerTrigger,
    }
}

impl Commands<'_> {
    /// CREATE, ALTER, CREATE OR ALTER TRIGGER: 2104, 2714, 208.
    pub(crate) fn create_ddl_trigger(
        &mut self,
        create: &CreateDdlTrigger,
        text: &str,
        events: &[u16],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let name = &create.name.value;
        if !self.may_define(create.scope) {
            let text =
                format!("Cannot create the trigger '{name}', because you do not have permission.");
            return Err(SqlError::new(2104, 14, text));
        }
        match create.scope {
            TriggerScope::Database => {
                self.check_module_execute_as(&create.options, Defined::OfDbo)?;
            }
            TriggerScope::Server => match RunsAs::of_server(&create.options) {
                Some(RunsAs::Login(login)) => {
                    self.state.may_act_as(true, &login).map_err(|_| {
                        let text = format!(
                            "Cannot execute as the login '{login}', because it does not exist or you do not have \
                             permission."
                        );
                        SqlError::new(15151, 16, text)
                    })?;
                }
                // Who defined a module is not kept.
                Some(_) => {
                    let what = "EXECUTE AS SELF of a trigger ON ALL SERVER";
                    return Err(SqlError::unsupported(what));
                }
                None => {}
            },
        }
        let mode = match create.mode {
            CreateMode::Create => PutMode::Create,
            CreateMode::Alter => PutMode::Alter,
            CreateMode::CreateOrAlter => PutMode::CreateOrAlter,
        };
        let options = ModuleOptions {
            quoted_identifier: self.state.options.quoted_identifier,
            ansi_nulls: self.state.options.settings().ansi_nulls,
        };
        let kind = kind_of(create.scope);
        let text = &syntax::as_created(text);
        self.in_scope(create.scope, "CREATE TRIGGER", frame, |catalog, txn, scope| {
            let taken = catalog.module(Some(scope), None, name, kind).is_some();
            if taken && mode == PutMode::Create {
                let text = format!("There is already an object named '{name}' in the database.");
                return Err(SqlError::new(2714, 16, text).with_state(2));
            }
            if !taken && mode == PutMode::Alter {
                let text = format!("Invalid object name '{name}'.");
                return Err(SqlError::new(208, 16, text).with_state(6));
            }
            let put = catalog.put_ddl_trigger(txn, scope, kind, mode, name, text, options, events);
            put.map(|_| ()).map_err(from_catalog)
        })
    }

    /// DROP TRIGGER ... ON; 3701.
    pub(crate) fn drop_ddl_trigger(
        &mut self,
        of: TriggerScope,
        name: &str,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let kind = kind_of(of);
        if !self.may_define(of) {
            return Err(cannot_drop(kind.word(), name));
        }
        self.in_scope(of, "DROP TRIGGER", frame, |catalog, txn, scope| {
            catalog.drop_module(txn, scope, kind, None, name).map_err(from_catalog)
        })
    }

    /// ENABLE and DISABLE TRIGGER ... ON; 1088.
    pub(crate) fn enable_ddl_triggers(
        &mut self,
        enable: &EnableDdlTrigger,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let missing = |name: &str| crate::refusals::no_object(name);
        if !self.may_define(enable.scope) {
            return Err(missing(enable.triggers.first().map_or("ALL", |name| &name.value)));
        }
        let parent = match enable.scope {
            TriggerScope::Database => TriggerDef::OF_DATABASE,
            TriggerScope::Server => TriggerDef::OF_SERVER,
        };
        let what = if enable.enable { "ENABLE TRIGGER" } else { "DISABLE TRIGGER" };
        self.in_scope(enable.scope, what, frame, |catalog, txn, scope| {
            let mut chosen = catalog.triggers_of(Some(scope), parent);
            if !enable.triggers.is_empty() {
                let one = |name: &str| {
                    let found = chosen.iter().find(|t| catalog::same_name(&t.name, name));
                    found.cloned().ok_or_else(|| missing(name))
                };
                let named = enable.triggers.iter().map(|name| one(&name.value));
                chosen = named.collect::<Result<Vec<Arc<ProcedureDef>>, SqlError>>()?;
            }
            for trigger in &chosen {
                let set = catalog.set_trigger(txn, scope, trigger, |t| t.enabled(enable.enable));
                set.map_err(from_catalog)?;
            }
            Ok(())
        })
    }

    /// sp_settriggerorder with a namespace: 15165, 15600 for what is no single event, 15125, 15130.
    pub(crate) fn set_ddl_trigger_order(
        &mut self,
        of: TriggerScope,
        name: &str,
        position: i8,
        statement: &str,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let kind = kind_of(of);
        let parent = match of {
            TriggerScope::Database => TriggerDef::OF_DATABASE,
            TriggerScope::Server => TriggerDef::OF_SERVER,
        };
        let allowed = self.may_define(of);
        let bare = session_state::name_parts(name).pop().unwrap_or_default();
        self.in_scope(of, "sp_settriggerorder", frame, |catalog, txn, scope| {
            let found = catalog.module(Some(scope), None, &bare, kind).filter(|_| allowed);
            let Some(found) = found else { return Err(crate::define::trigger::no_trigger(name)) };
            let Some(event) = DdlEvent::by_name(statement).filter(|event| !event.is_group()) else {
                return Err(crate::define::trigger::bad_order());
            };
            if !found.is_for(event) {
                return Err(crate::define::trigger::not_for(name, statement));
            }
            let taken = |other: &Arc<ProcedureDef>| {
                other.object_id != found.object_id && other.order_of(event) == position
            };
            if position != 0 && catalog.triggers_of(Some(scope), parent).iter().any(taken) {
                let word = if position < 0 { "first" } else { "last" };
                return Err(crate::define::trigger::place_taken(
                    word,
                    &statement.to_ascii_lowercase(),
                ));
            }
            let set = catalog.set_trigger(txn, scope, &found, |t| t.ordered_for(event, position));
            set.map_err(from_catalog)
        })
    }

    /// ALTER ANY DATABASE DDL TRIGGER, CONTROL SERVER.
    fn may_define(&self, scope: TriggerScope) -> bool {
        match scope {
            TriggerScope::Database => {
                let access = self.state.identity.access();
                !self.state.identity.is_limited()
                    || access.allows(Permission::AlterAnyDatabaseDdlTrigger, Target::Database)
            }
            TriggerScope::Server => self.may_on_server(Permission::ControlServer),
        }
    }

    /// Runs a change where the triggers of that scope are.
    pub(crate) fn in_scope(
        &mut self,
        of: TriggerScope,
        what: &str,
        frame: &mut [Value],
        change: impl FnOnce(&Catalog, &mut engine::Txn, &mut DdlScope) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        if of == TriggerScope::Database {
            return self.in_catalog(frame, change);
        }
        if self.state.trancount() > 0 {
            let text =
                format!("{what} ON ALL SERVER statement cannot be used inside a user transaction.");
            return Err(SqlError::new(574, 16, text));
        }
        let Some(master) = self.host.database("master") else {
            return Err(SqlError::unsupported("triggers ON ALL SERVER without a server"));
        };
        master.catalog.define_alone(change)
    }
}
