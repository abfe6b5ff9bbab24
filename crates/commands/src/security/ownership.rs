//! ALTER AUTHORIZATION: to whom things belong.
//!
//! An object, a type or a collection of XML schemas belongs to whom its schema belongs to, unless it was given to somebody
//! else; then that is kept by its id (`security::Directory::owners`), and goes with it. What is given away loses the
//! permissions that were granted on it, but for a database.
//!
//! Source: SQL Server's documentation of ALTER AUTHORIZATION; texts as in sys.messages.

use super::grants::word;
use super::runs_as::may_stand_for;
use crate::Commands;
use crate::security::principals::cannot;
use catalog::{Directory, ObjectRef};
use executor::SqlError;
use ir::ObjectName;
use security::{Permission, Securable, Target, database_role};
use session_state::object_target;
use std::collections::BTreeSet;
use syntax::ast::{Ident, SecurableName};
use types::Value;

impl Commands<'_> {
    /// ALTER AUTHORIZATION; 15150, 15151, 15219, 15344, 15346.
    pub fn alter_authorization(
        &mut self,
        on: &SecurableName,
        to: Option<&Ident>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let database = &on.name.name.value;
        let is_database = on.class.as_deref() == Some("DATABASE");
        if is_database && !catalog::same_name(database, &self.state.database.name) {
            return self.in_other_database(database, |vm| vm.alter_authorization(on, to, frame));
        }
        if matches!(on.class.as_deref(), None | Some("OBJECT" | "TYPE" | "XML SCHEMA COLLECTION")) {
            return self.give_object(on, to, frame);
        }
        let Some(to) = to else {
            return Err(SqlError::unsupported("SCHEMA OWNER of what is in no schema"));
        };
        let target = self.securable(on)?;
        let kind = word(target.securable().0.class(target.securable().1));
        let access = self.state.identity.access().clone();
        if !access.allows(Permission::TakeOwnership, target) {
            return Err(cannot(&format!("find the {kind}"), &on.name.name.value));
        }
        if target == Target::Database {
            return self.change_owner(&to.value, frame);
        }
        let server = target.securable().1;
        let new = self.new_owner(to, server)?;
        let inside = self.without_owners(target);
        let name = &on.name.name.value;
        let missing = || cannot(&format!("find the {kind}"), name);
        // Who was found may be gone by the time that the directory is held.
        let change = |directory: &mut Directory| {
            still_there(directory, new, to)?;
            match target {
                Target::Schema(id) if id >= database_role::FIRST => {
                    let schema = directory.schemas.get_mut(&id).ok_or_else(missing)?;
                    let moves = schema.owner != new;
                    schema.owner = new;
                    let owners = &directory.owners;
                    let follows = |id: i32| inside.contains(&id) && !owners.contains_key(&id);
                    // What was granted on it goes, and on what is in it and belongs to nobody else.
                    directory.grants.retain(|key, _| {
                        key.securable != Securable::Schema(id)
                            && !(moves && object_of(key.securable).is_some_and(follows))
                    });
                }
                Target::Schema(_) => return Err(not_altered("schema", name)),
                Target::Principal(id) | Target::Login(id) => {
                    let role = directory.principals.get_mut(&id).ok_or_else(missing)?;
                    if !role.is_role() {
                        let what = match (server, role.kind) {
                            (true, _) => "login",
                            (_, security::PrincipalKind::Application) => "application role",
                            _ => "user",
                        };
                        let text = format!("Ownership change for {what} is not supported.");
                        return Err(SqlError::new(15344, 16, text));
                    }
                    if role.fixed {
                        return Err(not_altered(if server { "server role" } else { "role" }, name));
                    }
                    role.owner = new;
                }
                // These were given above; of a server and of a column no name can be written.
                Target::Database
                | Target::Object { .. }
                | Target::Type { .. }
                | Target::XmlSchemas { .. }
                | Target::Column { .. }
                | Target::Server => {}
            }
            Ok(())
        };
        if server { self.change_server(change) } else { self.change_database(frame, change) }
    }

    /// The principal that something is given to. Who gives it away must be able to act for that one.
    fn new_owner(&self, to: &Ident, server: bool) -> Result<i32, SqlError> {
        let access = self.state.identity.access();
        let directory = if server { access.server() } else { access.database() };
        let missing = || cannot("find the principal", &to.value);
        let found = directory.find(&to.value).ok_or_else(missing)?;
        match may_stand_for(access, found, server) {
            true => Ok(found.id),
            false => Err(missing()),
        }
    }

    /// Ids of what is in a schema and belongs to its owner.
    fn without_owners(&self, target: Target) -> BTreeSet<i32> {
        let Target::Schema(id) = target else { return BTreeSet::new() };
        let access = self.state.identity.access();
        let directory = access.database();
        let Some(schema) = directory.schemas.get(&id) else { return BTreeSet::new() };
        let objects = self.state.database.catalog.objects_in(self.state.transaction.scope());
        let named = objects.iter().map(|object| match object {
            ObjectRef::Table(table) => (table.object_id, &table.schema),
            ObjectRef::Procedure(module) => (module.object_id, &module.schema),
        });
        named
            .filter(|(id, of)| {
                catalog::same_name(of, &schema.name) && !directory.owners.contains_key(id)
            })
            .map(|(id, _)| id)
            .collect()
    }

    /// ALTER AUTHORIZATION ON an object, a type or a collection of XML schemas. A synonym is itself here, not what it
    /// stands for.
    fn give_object(
        &mut self,
        on: &SecurableName,
        to: Option<&Ident>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let name = ObjectName::from(&on.name);
        let (kind, found) = match on.class.as_deref() {
            Some("TYPE") => ("type", self.type_named(&name).map(ObjectRef::Procedure)),
            Some("XML SCHEMA COLLECTION") => {
                let found = self.state.find_xml_schemas(name.schema.as_deref(), &name.name);
                ("xml schema collection", found.map(ObjectRef::Procedure))
            }
            _ => ("object", self.state.find_own(name.schema.as_deref(), &name.name)),
        };
        let missing = || cannot(&format!("find the {kind}"), &name.name);
        let access = self.state.identity.access().clone();
        let found = found.ok_or_else(missing)?;
        let target = object_target(&access, &found);
        if !access.allows(Permission::TakeOwnership, target) {
            return Err(missing());
        }
        let id = match &found {
            ObjectRef::Table(table) if table.is_private() => return Err(missing()),
            ObjectRef::Table(table) if !table.views.is_empty() => {
                let text = "Ownership change for table is not supported.";
                return Err(SqlError::new(15344, 16, text));
            }
            ObjectRef::Table(table) => table.object_id,
            ObjectRef::Procedure(module) if module.trigger.is_some() => {
                let text = "Cannot change owner for an object that is owned by a parent object. Change the owner of the \
                            parent object instead.";
                return Err(SqlError::new(15346, 16, text));
            }
            ObjectRef::Procedure(_) if found.rows().is_some() => {
                return Err(SqlError::new(
                    15219,
                    16,
                    "Cannot change the owner of an indexed view.",
                ));
            }
            ObjectRef::Procedure(module) => module.object_id,
        };
        let new = to.map(|to| self.new_owner(to, false)).transpose()?;
        let schema = match target {
            Target::Object { schema, .. }
            | Target::Type { schema, .. }
            | Target::XmlSchemas { schema, .. } => schema,
            Target::Server
            | Target::Login(_)
            | Target::Database
            | Target::Schema(_)
            | Target::Column { .. }
            | Target::Principal(_) => return Err(missing()),
        };
        self.in_catalog(frame, |catalog, txn, scope| {
            // Whoever drops it waits for this, or has done so.
            if !catalog.hold_object(txn, scope, &found)? {
                return Err(missing());
            }
            let change = |directory: &mut Directory| {
                let of_schema = directory.schemas.get(&schema).map(|schema| schema.owner);
                let of_schema = of_schema.ok_or_else(missing)?;
                let before = match (new, to) {
                    (Some(new), Some(to)) => {
                        still_there(directory, new, to)?;
                        directory.owners.insert(id, new)
                    }
                    _ => directory.owners.remove(&id),
                };
                if new.unwrap_or(of_schema) != before.unwrap_or(of_schema) {
                    directory.grants.retain(|key, _| object_of(key.securable) != Some(id));
                }
                Ok(())
            };
            catalog.change_directory(txn, scope, change).map(drop)
        })
    }

    /// Does something in another database as who the session is there; 15151 where it may not enter it.
    fn in_other_database(
        &mut self,
        database: &str,
        work: impl FnOnce(&mut Self) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let missing = || cannot("find the database", database);
        let there = self.host.database(database).ok_or_else(missing)?;
        self.state.check_entry(&*self.host, &there).map_err(|_| missing())?;
        let home = self.state.database.clone();
        self.use_database(there);
        self.state.follow_identity(&*self.host);
        let done = work(self);
        self.come_home(Some(home));
        done
    }

    /// ALTER AUTHORIZATION ON DATABASE, sp_changedbowner: 15110, 15007.
    pub fn change_owner(&mut self, login: &str, frame: &mut [Value]) -> Result<(), SqlError> {
        if self.state.database.id == 1 {
            return Err(SqlError::new(
                15109,
                16,
                "Cannot change the owner of the master, model, tempdb or distribution database.",
            ));
        }
        let server = self.host.server_directory();
        let found = server.find(login).filter(|p| p.login.is_some());
        let access = self.state.identity.access();
        // Who gives a database away must be able to act for its new owner.
        let found = found.filter(|p| {
            access.login() == Some(p.id)
                || access.allows(Permission::Impersonate, Target::Login(p.id))
        });
        let sid = found
            .and_then(|login| login.sid.clone())
            .ok_or_else(|| cannot("find the principal", login))?;
        self.change_database(frame, |directory| {
            let user = directory.by_sid(&sid).map(|user| user.id);
            if user.is_some_and(|user| user != database_role::DBO) {
                return Err(SqlError::new(
                    15110,
                    16,
                    "The proposed new database owner is already a user or aliased in the database.",
                ));
            }
            if let Some(dbo) = directory.principals.get_mut(&database_role::DBO) {
                dbo.sid = Some(sid);
            }
            Ok(())
        })
    }
}

/// The id of an object, a type or a collection of XML schemas that something is granted on.
fn object_of(securable: Securable) -> Option<i32> {
    match securable {
        Securable::Object(id)
        | Securable::Column(id, _)
        | Securable::Type(id)
        | Securable::XmlSchemas(id) => Some(id),
        Securable::Server
        | Securable::Database
        | Securable::Schema(_)
        | Securable::Principal(_) => None,
    }
}

/// 15151 where the new owner has been dropped since he was found.
fn still_there(directory: &Directory, owner: i32, written: &Ident) -> Result<(), SqlError> {
    match directory.principals.contains_key(&owner) {
        true => Ok(()),
        false => Err(cannot("find the principal", &written.value)),
    }
}

/// 15150 for what belongs to the system.
fn not_altered(kind: &str, name: &str) -> SqlError {
    SqlError::new(15150, 16, format!("Cannot alter the {kind} '{name}'."))
}
