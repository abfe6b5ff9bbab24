//! DROP of objects by a list of names, and of whole databases.

use crate::Commands;
use crate::define::dependents::Bound;
use crate::refusals::cannot_drop;
use catalog::{ModuleKind, ObjectRef, PredicateDef};
use executor::{SqlError, SqlMessage};
use ir::ObjectName;
use security::{Permission, Target};
use session_state::is_temporary;
use syntax::ast::{DropKind, DropObjects, TriggerScope};
use types::Value;

impl Commands<'_> {
    /// Each of the names is a drop of its own: one that fails does not keep the others.
    pub(super) fn drop_objects(
        &mut self,
        drop: &DropObjects,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let mut failed: Vec<SqlError> = Vec::new();
        for name in &drop.names {
            let parts = ObjectName::from(name);
            if let Some(error) = self.another_kind(drop.kind, &parts) {
                failed.push(error);
                continue;
            }
            let result = match drop.kind {
                DropKind::Database => {
                    self.no_transaction("DROP DATABASE")?;
                    self.drop_database(&parts.name)
                }
                DropKind::Table if is_temporary(&parts.name) => self.drop_private(&parts),
                DropKind::Table => {
                    self.local(&parts)?;
                    self.drop_table(&parts, frame)
                }
                DropKind::Procedure if is_temporary(&parts.name) => {
                    self.drop_own_procedure(&parts.name)
                }
                DropKind::Procedure => self.drop_module(ModuleKind::Procedure, &parts, frame),
                DropKind::View => self.drop_module(ModuleKind::View, &parts, frame),
                DropKind::Function => self.drop_function(&parts, frame),
                DropKind::Sequence => self.drop_module(ModuleKind::Sequence, &parts, frame),
                DropKind::Synonym => self.drop_module(ModuleKind::Synonym, &parts, frame),
                DropKind::Trigger => self.drop_module(ModuleKind::Trigger, &parts, frame),
                DropKind::DatabaseTrigger => {
                    self.drop_ddl_trigger(TriggerScope::Database, &parts.name, frame)
                }
                DropKind::ServerTrigger => {
                    self.drop_ddl_trigger(TriggerScope::Server, &parts.name, frame)
                }
                DropKind::SecurityPolicy => {
                    self.drop_module(ModuleKind::SecurityPolicy, &parts, frame)
                }
                DropKind::Rule => self.drop_bindable(ModuleKind::Rule, &parts, frame),
                DropKind::Default => self.drop_bindable(ModuleKind::Default, &parts, frame),
                DropKind::Type => self.drop_type(&parts, frame),
                DropKind::Index => self.drop_index(&parts, frame),
            };
            match result {
                Err(error) if drop.if_exists && matches!(error.number, 218 | 3701) => {}
                Err(error) if matches!(error.number, 3701 | 3705 | 3726 | 3729) => {
                    failed.push(error)
                }
                other => other?,
            }
        }
        let Some(last) = failed.pop() else { return Ok(()) };
        let before =
            failed.iter().map(|error| SqlMessage { line: error.line, ..error.to_message() });
        let before = before.collect();
        Err(last.with_ahead(before))
    }

    /// 3705: the name is that of an object of another kind, which another statement drops.
    fn another_kind(&self, kind: DropKind, name: &ObjectName) -> Option<SqlError> {
        let word = |kind: DropKind| {
            Some(match kind {
                DropKind::Table => "table",
                DropKind::View => "view",
                DropKind::Procedure => "procedure",
                DropKind::Function => "function",
                DropKind::Synonym => "synonym",
                _ => return None,
            })
        };
        let wanted = word(kind)?;
        let schema = self.schema_of(name);
        let found = self.state.find_own(schema.as_deref(), &name.name)?;
        let is = match &found {
            _ if name.database.is_some() || is_temporary(&name.name) => return None,
            ObjectRef::Table(_) => "table",
            ObjectRef::Procedure(module) => match module.kind {
                kind @ (ModuleKind::View | ModuleKind::Procedure | ModuleKind::Synonym) => {
                    kind.word()
                }
                kind if kind.is_function() => kind.word(),
                _ => return None,
            },
        };
        if is == wanted || !self.may_change(&found, true) {
            return None;
        }
        let (wanted, other) = (wanted.to_uppercase(), is.to_uppercase());
        let text = format!(
            "Cannot use DROP {wanted} with '{name}' because '{name}' is a {is}. Use DROP {other}."
        );
        Some(SqlError::new(3705, 16, text))
    }

    pub(super) fn drop_table(
        &mut self,
        name: &ObjectName,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let schema = self.schema_of(name);
        if let Some(found) = self.state.find_object(schema.as_deref(), &name.name)
            && !self.may_change(&found, true)
        {
            return Err(cannot_drop("table", &name.name));
        }
        let catalog = &self.state.database.catalog;
        let scope = self.state.definitions();
        if catalog
            .table(scope, schema.as_deref(), &name.name)
            .is_some_and(|table| table.is_memory())
        {
            self.no_memory_ddl()?;
        }
        if let Some(table) = catalog.table(scope, schema.as_deref(), &name.name) {
            self.check_dependents("DROP TABLE", name, &Bound::of_table(&table))?;
        }
        self.in_catalog(frame, |catalog, txn, scope| {
            if let Some(table) = catalog.table(Some(scope), schema.as_deref(), &name.name) {
                let concerns = |p: &PredicateDef| p.table == table.object_id;
                catalog.check_policies(scope, "DROP TABLE", &name.to_string(), concerns)?;
            }
            Ok(catalog.drop_table(txn, scope, schema.as_deref(), &name.name)?)
        })
    }

    /// A new database belongs to the login that made it.
    pub(super) fn own_database(&mut self, name: &str) -> Result<(), SqlError> {
        let access = self.state.identity.access().clone();
        let login = access.login().filter(|login| *login != security::SA_ID);
        let sid = login.and_then(|login| access.server().principals.get(&login)?.sid.clone());
        let (Some(sid), Some(open)) = (sid, self.host.database(name)) else { return Ok(()) };
        open.catalog.set_owner(&sid)?;
        Ok(())
    }

    fn drop_database(&mut self, name: &str) -> Result<(), SqlError> {
        if !self.may_drop_database(name) {
            return Err(SqlError::new(
                3701,
                11,
                format!(
                    "Cannot drop the database '{name}', because it does not exist or you do not have permission."
                ),
            ));
        }
        if name.eq_ignore_ascii_case(&self.state.database.name) {
            return Err(SqlError::new(
                3702,
                16,
                format!("Cannot drop database \"{name}\" because it is currently in use."),
            )
            .with_state(3));
        }
        self.host.drop_database(name)
    }

    /// CONTROL of the database, or ALTER ANY DATABASE.
    fn may_drop_database(&mut self, name: &str) -> bool {
        if self.may_on_server(Permission::AlterAnyDatabase) {
            return true;
        }
        let access = self.state.identity.access().clone();
        let Some(open) = self.host.database(name) else { return false };
        let there = access.elsewhere(open.catalog.directory(None));
        there.is_some_and(|there| there.allows(Permission::Control, Target::Database))
    }
}
