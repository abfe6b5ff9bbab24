//! Which permissions a statement needs, and the errors for those that are missing.
//!
//! Asked when a statement is planned, and again when a directory or the principal has changed since; a session of
//! `sysadmin` or `dbo` never gets here. A statement of a procedure needs nothing for what the procedure's own owner owns
//! (ownership chaining); data definition and text made at run time are asked for always.

use crate::Commands;
use crate::refusals::database_denied;
use crate::refusals::no_object;
use crate::security::needs::{Need, of_expr, of_statement};
use crate::security::reached::Mentioned;
use crate::security::runs_as::owner_of;
use crate::security::{Defined, RunsAs};
use catalog::{ModuleKind, ObjectRef, ProcedureDef, TableDef};
use executor::SqlError;
use ir::{Called, Expr, StmtKind};
use security::{Permission, PrincipalKind, Target, database_role};
use session_state::{check_view, object_target, target_in};
use std::sync::Arc;
use types::SqlType;

impl Commands<'_> {
    /// What a planned statement needs. Only for a limited session.
    #[cold]
    pub fn check_statement(&mut self, kind: &StmtKind, module: i32) -> Result<(), SqlError> {
        let mut needs = Vec::new();
        of_statement(kind, &mut needs);
        self.check_needs(&needs, &Mentioned::by_statement(kind), module)
    }

    /// The same for a condition or another expression.
    #[cold]
    pub fn check_expr(&mut self, expr: &Expr, module: i32) -> Result<(), SqlError> {
        let mut needs = Vec::new();
        of_expr(expr, &mut needs);
        self.check_needs(&needs, &Mentioned::by_expr(expr), module)
    }

    fn check_needs(
        &mut self,
        needs: &[Need<'_>],
        mentioned: &Mentioned<'_>,
        module: i32,
    ) -> Result<(), SqlError> {
        let chain = self.chain_owner(module);
        for need in needs {
            match need {
                Need::Table(reached) => self.check_reached(reached, mentioned, chain)?,
                Need::Changes(id) => {
                    let scope = self.state.transaction.scope();
                    let Some(table) = self.state.database.catalog.table_by_id(scope, *id) else {
                        continue;
                    };
                    let target = self.table_target(&table);
                    let access = self.state.identity.access();
                    let chained = chain.is_some() && chain == access.owner(target);
                    for permission in [Permission::Select, Permission::ViewChangeTracking] {
                        if !chained && !access.allows(permission, target) {
                            return Err(self.denied(permission, &table.name, &table.schema));
                        }
                    }
                }
                Need::View(view) => check_view(view, self.state, self.host)?,
                Need::XmlSchemas(number) => {
                    if let Some(id) = self.xml_schemas_of(*number) {
                        self.check_type(id, Permission::Execute, chain)?;
                    }
                }
                Need::Function(permission, called) => {
                    let Some(function) = self.asked_function(*called, chain) else { continue };
                    let access = self.state.identity.access();
                    let target = target_in(access, function.object_id, &function.schema);
                    if !access.allows(*permission, target) {
                        return Err(self.denied(*permission, &function.name, &function.schema));
                    }
                }
                Need::Rows(called, view, columns) => {
                    if let Some(function) = self.asked_function(*called, chain) {
                        self.check_rows(&function, view, columns, mentioned)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A function that is asked for: that is there, and belongs to somebody else than what calls it.
    fn asked_function(&self, called: Called, chain: Option<i32>) -> Option<Arc<ProcedureDef>> {
        let chain = if called.within == 0 { chain } else { self.chain_owner(called.within) };
        let scope = self.state.transaction.scope();
        let catalog = &self.state.database.catalog;
        let function = session_state::module_by_id(catalog, scope, called.object_id)?;
        let access = self.state.identity.access();
        let target = target_in(access, called.object_id, &function.schema);
        (chain.is_none() || chain != access.owner(target)).then_some(function)
    }

    /// The owner of the procedure whose statement it is.
    fn chain_owner(&self, procedure_id: i32) -> Option<i32> {
        if procedure_id == 0 {
            return None;
        }
        let catalog = &self.state.database.catalog;
        let object = catalog.object_by_id(procedure_id)?;
        // A trigger belongs to whom its table or view does.
        let parent = match &object {
            ObjectRef::Procedure(module) => {
                module.trigger.and_then(|t| catalog.object_by_id(t.parent))
            }
            ObjectRef::Table(_) => None,
        };
        let target = object_target(self.state.identity.access(), &parent.unwrap_or(object));
        self.state.identity.access().owner(target)
    }

    /// ALTER of a table; of one that is the session's own anybody has it.
    pub fn check_alter(&self, table: &TableDef) -> Result<(), SqlError> {
        let access = self.state.identity.access();
        if table.is_private()
            || !self.state.identity.is_limited()
            || access.allows(Permission::Alter, self.table_target(table))
        {
            return Ok(());
        }
        Err(no_object(&table.name))
    }

    pub fn table_target(&self, table: &TableDef) -> Target {
        target_in(self.state.identity.access(), table.object_id, &table.schema)
    }

    /// EXECUTE of a procedure, called by the program that runs.
    #[cold]
    pub fn check_execute(
        &mut self,
        definition: &ProcedureDef,
        caller: i32,
    ) -> Result<(), SqlError> {
        // Procedures of the system are everyone's.
        if definition.object_id <= 0 {
            return Ok(());
        }
        let access = self.state.identity.access();
        let target = target_in(access, definition.object_id, &definition.schema);
        let chain = self.chain_owner(caller);
        if (chain.is_some() && chain == access.owner(target))
            || access.allows(Permission::Execute, target)
        {
            return Ok(());
        }
        Err(self.denied(Permission::Execute, &definition.name, &definition.schema))
    }

    /// The id of a collection of XML schemas that is this database's.
    fn xml_schemas_of(&self, number: u32) -> Option<i32> {
        let id = xml_schema::owner_of(number)?;
        let catalog = &self.state.database.catalog;
        let found = catalog.object_in(self.state.definitions(), id)?;
        let ObjectRef::Procedure(module) = &found else { return None };
        (module.xml_schema.as_ref()?.number() == number).then_some(id)
    }

    /// EXECUTE of the collections of XML schemas that types name; 229.
    #[cold]
    pub fn check_typed(&mut self, types: &[SqlType], module: i32) -> Result<(), SqlError> {
        let chain = self.chain_owner(module);
        for ty in types {
            if let SqlType::TypedXml { schema, .. } = ty
                && let Some(id) = self.xml_schemas_of(*schema)
            {
                self.check_type(id, Permission::Execute, chain)?;
            }
        }
        Ok(())
    }

    /// EXECUTE of the table types that a program's variables are of; 229. Chained as what a procedure calls.
    #[cold]
    pub fn check_types(&mut self, types: &[i32], module: i32) -> Result<(), SqlError> {
        let chain = self.chain_owner(module);
        types.iter().try_for_each(|id| self.check_type(*id, Permission::Execute, chain))
    }

    /// REFERENCES of the alias types that a table's columns are of; 229.
    pub(crate) fn check_column_types(
        &self,
        mut aliases: impl Iterator<Item = i32>,
    ) -> Result<(), SqlError> {
        if !self.state.identity.is_limited() {
            return Ok(());
        }
        aliases.try_for_each(|id| self.check_type(id, Permission::References, None))
    }

    /// REFERENCES of the collections of XML schemas that a table's columns are of; 229.
    pub(crate) fn check_column_schemas(
        &self,
        types: impl Iterator<Item = SqlType>,
    ) -> Result<(), SqlError> {
        if !self.state.identity.is_limited() {
            return Ok(());
        }
        for ty in types {
            if let SqlType::TypedXml { schema, .. } = ty
                && let Some(id) = self.xml_schemas_of(schema)
            {
                self.check_type(id, Permission::References, None)?;
            }
        }
        Ok(())
    }

    /// 229 for a type of the database without that permission; `chain`: whose own types need none.
    fn check_type(
        &self,
        id: i32,
        permission: Permission,
        chain: Option<i32>,
    ) -> Result<(), SqlError> {
        let (catalog, scope) = (&self.state.database.catalog, self.state.definitions());
        let access = self.state.identity.access();
        let Some(object) = catalog.object_in(scope, id) else { return Ok(()) };
        let target = object_target(access, &object);
        let chained = chain.is_some() && chain == access.owner(target);
        if chained || access.allows(permission, target) {
            return Ok(());
        }
        let (name, schema) = match &object {
            ObjectRef::Procedure(module) => (&module.name, &module.schema),
            ObjectRef::Table(table) => (&table.name, &table.schema),
        };
        Err(self.denied(permission, name, schema))
    }

    /// 229.
    pub(crate) fn denied(&self, permission: Permission, object: &str, schema: &str) -> SqlError {
        SqlError::new(
            229,
            14,
            format!(
                "The {} permission was denied on the object '{object}', database '{}', schema '{schema}'.",
                permission.name(),
                self.state.database.name
            ),
        )
        .with_state(5)
    }

    /// A permission on the database; 262.
    pub fn check_database(&self, permission: Permission) -> Result<(), SqlError> {
        if !self.state.identity.is_limited()
            || self.state.identity.access().allows(permission, Target::Database)
        {
            return Ok(());
        }
        Err(database_denied(permission.name(), &self.state.database.name))
    }

    /// A permission on the server; 15247.
    pub fn check_server(&self, permission: Permission) -> Result<(), SqlError> {
        if self.may_on_server(permission) {
            return Ok(());
        }
        Err(SqlError::new(15247, 16, "User does not have permission to perform this action."))
    }

    /// A permission on the server. A `dbo` is somebody in his database only.
    pub fn may_on_server(&self, permission: Permission) -> bool {
        self.state.identity.access().allows(permission, Target::Server)
    }

    /// CREATE ANY DATABASE on the server, or CREATE DATABASE in `master`.
    pub fn may_create_database(&mut self) -> bool {
        if self.may_on_server(Permission::CreateAnyDatabase) {
            return true;
        }
        let access = self.state.identity.access().clone();
        let master = self.host.database("master");
        let there = master.and_then(|open| access.elsewhere(open.catalog.directory(None)));
        there.is_some_and(|there| there.allows(Permission::CreateDatabase, Target::Database))
    }

    /// The right to put an object into a schema; 2760.
    pub fn check_schema(&self, schema: &str) -> Result<(), SqlError> {
        self.check_in_schema(Permission::Alter, schema)
    }

    /// The same by another permission on the schema.
    pub fn check_in_schema(&self, permission: Permission, schema: &str) -> Result<(), SqlError> {
        if !self.state.identity.is_limited() {
            return Ok(());
        }
        let access = self.state.identity.access();
        let found = access.database().schema(schema);
        if found.is_some_and(|s| access.allows(permission, Target::Schema(s.id))) {
            return Ok(());
        }
        Err(SqlError::new(
            2760,
            16,
            format!(
                "The specified schema name \"{schema}\" either does not exist or you do not have permission to use it."
            ),
        ))
    }

    /// EXECUTE AS of a module that is defined: who defines it may act as that principal. 15517; SELF is refused where it
    /// is not dbo, for who defined a module is not kept.
    pub fn check_module_execute_as(
        &self,
        options: &[String],
        defined: Defined<'_>,
    ) -> Result<(), SqlError> {
        let limited = self.state.identity.is_limited();
        if limited && options.iter().any(|o| o == "EXECUTE AS SELF") {
            return Err(SqlError::unsupported(
                "EXECUTE AS SELF of a module that dbo does not define",
            ));
        }
        match RunsAs::of(options) {
            None => Ok(()),
            Some(RunsAs::User(name) | RunsAs::Login(name)) => {
                self.state.may_act_as(false, &name).map(|_| ())
            }
            Some(RunsAs::Owner) => {
                let catalog = &self.state.database.catalog;
                let scope = self.state.definitions();
                let directory = catalog.directory(scope);
                let owner = match defined {
                    Defined::Module(name, kind) => {
                        let schema = name.schema.as_deref().or_else(|| self.state.default_schema());
                        // What is altered may belong to another than its schema.
                        let known = catalog.module(scope, schema, &name.name, kind);
                        let id = known.map(|module| module.object_id);
                        owner_of(&directory, id, schema.unwrap_or("dbo"))
                    }
                    Defined::TriggerOn(table) => {
                        owner_of(&directory, Some(table.object_id), &table.schema)
                    }
                    Defined::OfDbo => database_role::DBO,
                };
                self.state.may_act_as(false, directory.name(owner)).map(|_| ())
            }
        }
    }

    /// A module with EXECUTE AS begins: its principal acts from here on. 15517 when there is none any more, or it is no
    /// user.
    #[cold]
    pub fn act_as(&mut self, runs_as: &RunsAs, object_id: i32) -> Result<(), SqlError> {
        if let RunsAs::Login(name) = runs_as {
            let found = self.state.identity.access().server().find(name).map(|login| login.id);
            let login = found.ok_or_else(|| session_state::cannot_act_as(true, name))?;
            self.state.act_as_login(&*self.host, login);
            return Ok(());
        }
        let catalog = &self.state.database.catalog;
        let directory = catalog.directory(self.state.definitions());
        let found = match runs_as {
            RunsAs::User(name) | RunsAs::Login(name) => directory.find(name),
            RunsAs::Owner => {
                let owner = match catalog.object_in(self.state.definitions(), object_id) {
                    Some(ObjectRef::Procedure(module)) => {
                        let id = module.trigger.map_or(object_id, |trigger| trigger.parent);
                        match module.kind {
                            ModuleKind::DatabaseTrigger => database_role::DBO,
                            _ => owner_of(&directory, Some(id), &module.schema),
                        }
                    }
                    _ => database_role::DBO,
                };
                directory.principals.get(&owner)
            }
        };
        // A role acts for nobody.
        let user = found.filter(|found| found.kind == PrincipalKind::User);
        let Some(user) = user else {
            let name = match (runs_as, found) {
                (RunsAs::User(name) | RunsAs::Login(name), _) => name,
                (RunsAs::Owner, Some(found)) => &found.name,
                (RunsAs::Owner, None) => "OWNER",
            };
            return Err(session_state::cannot_act_as(false, name));
        };
        if self.state.own_procedures.iter().any(|own| own.object_id == object_id) {
            // Who made it may have done so in another database, and be nobody here.
            self.state.may_act_as(false, &user.name)?;
        }
        self.state.act_as_user(&*self.host, user.id);
        Ok(())
    }

    /// Whether an object may be changed (ALTER) or dropped (CONTROL, or ALTER of its schema).
    pub fn may_change(&self, object: &ObjectRef, drop: bool) -> bool {
        let is_global =
            matches!(object, ObjectRef::Table(table) if catalog::is_global_name(&table.name));
        if is_global || !self.state.identity.is_limited() {
            return true;
        }
        let access = self.state.identity.access();
        let target = object_target(access, object);
        let (Target::Object { schema, .. }
        | Target::Type { schema, .. }
        | Target::XmlSchemas { schema, .. }) = target
        else {
            return false;
        };
        match drop {
            true => {
                access.allows(Permission::Control, target)
                    || access.allows(Permission::Alter, Target::Schema(schema))
            }
            false => access.allows(Permission::Alter, target),
        }
    }
}
