//! GRANT, DENY and REVOKE.

use crate::Commands;
use crate::security::principals::cannot;
use crate::security::runs_as::may_stand_for;
use catalog::{Directory, ModuleKind, ObjectRef};
use executor::SqlError;
use ir::ObjectName;
use security::{
    Access, Class, GrantKey, GrantState, GrantValue, Permission, PrincipalKind, SA_ID, Securable,
    Target, database_role, server_role,
};
use session_state::object_target;
use std::sync::Arc;
use syntax::ast::{Grant, GrantVerb, Ident, SecurableName};
use types::Value;

/// database_id of `master`.
const MASTER: u16 = 1;

impl Commands<'_> {
    /// GRANT, DENY, REVOKE.
    pub fn grant(&mut self, grant: &Grant, frame: &mut [Value]) -> Result<(), SqlError> {
        let is_all = |(name, _): &(&String, &Vec<Ident>)| *name == "ALL";
        let written = || grant.permissions.iter().zip(&grant.columns);
        let wrong = |name: &str| SqlError::new(102, 15, format!("Incorrect syntax near '{name}'."));
        // With the columns that each is for; none: all.
        let named: Vec<(Permission, &[Ident])> = written()
            .filter(|one| !is_all(one))
            .map(|(name, columns)| {
                let permission = Permission::by_name(name).ok_or_else(|| wrong(name))?;
                Ok((permission, columns.as_slice()))
            })
            .collect::<Result<_, SqlError>>()?;
        let target = match &grant.on {
            Some(on) => self.securable(on)?,
            None => {
                let server = named.iter().filter(|(p, _)| p.applies_to(Class::Server)).count();
                match (server, named.len()) {
                    (0, _) => Target::Database,
                    (n, all) if n == all => Target::Server,
                    _ => {
                        return Err(SqlError::new(
                            4620,
                            16,
                            "All permissions in a grant/deny/revoke statement should be at the same scope (e.g., \
                             server or database)",
                        ));
                    }
                }
            }
        };
        let mut permissions = named;
        if let Some((_, columns)) = written().find(is_all) {
            let all = self.all_of(target)?;
            permissions.extend(all.into_iter().map(|permission| (permission, columns.as_slice())));
        }
        let class = target.securable().0.class(target.securable().1);
        let entity_alone = |p: Permission| p.applies_to(class) && !p.applies_to(Class::Column);
        if class == Class::Object
            && permissions.iter().any(|(p, columns)| !columns.is_empty() && entity_alone(*p))
        {
            let text = "Sub-entity lists (such as column or security expressions) cannot be specified for \
                        entity-level permissions.";
            return Err(SqlError::new(1020, 15, text));
        }
        let suits = |p: Permission| p.applies_to(class) && self.suits_object(p, target);
        if let Some((wrong, _)) = permissions.iter().find(|(p, _)| !suits(*p)) {
            let name = wrong.name();
            let text =
                format!("Granted or revoked privilege {name} is not compatible with object.");
            return Err(SqlError::new(4606, 16, text));
        }
        let server = target.securable().1;
        self.check_granted_here(&permissions)?;
        if server && self.state.database.id != MASTER {
            return Err(SqlError::new(
                4621,
                16,
                "Permissions at the server scope can only be granted when the current database is master",
            ));
        }
        let mut wanted: Vec<(Target, Permission)> = Vec::new();
        for (permission, columns) in &permissions {
            let targets = self.granted_columns(target, columns)?;
            wanted.extend(targets.into_iter().map(|target| (target, *permission)));
        }
        let access = match &grant.grantor {
            None => self.state.identity.access().clone(),
            Some(grantor) => self.grants_as(grantor, server)?,
        };
        if wanted.iter().any(|(target, p)| !access.may_grant(*p, *target)) {
            return Err(match access.sees(target) || grant.on.is_none() {
                true => SqlError::new(4613, 16, "Grantor does not have GRANT permission."),
                false => cannot(
                    &format!("find the {}", word(class)),
                    grant.on.as_ref().map_or("", |on| &on.name.name.value),
                ),
            });
        }
        let grantor = match server {
            true => access.login().unwrap_or(SA_ID),
            false => access.user(),
        };
        let owner = access.owner(target);
        let change = |directory: &mut Directory| {
            for name in &grant.principals {
                let grantee = grantee(directory, name, server, grantor, owner)?;
                for (target, permission) in &wanted {
                    let securable = target.securable().0;
                    if let Securable::Object(id) = securable {
                        forget_columns(directory, id, grantee, *permission);
                    }
                    let key = GrantKey { securable, grantee, permission: *permission };
                    apply(directory, grant, key, grantor)?;
                }
            }
            Ok(())
        };
        if server { self.change_server(change) } else { self.change_database(frame, change) }
    }

    /// What is granted in master alone (4619), and what SQL Server has for Azure SQL Database only (4630).
    fn check_granted_here(&self, permissions: &[(Permission, &[Ident])]) -> Result<(), SqlError> {
        let is_named = |wanted: Permission| permissions.iter().any(|(named, _)| *named == wanted);
        if is_named(Permission::CreateDatabase) && self.state.database.id != MASTER {
            let text = "CREATE DATABASE permission can only be granted in the master database.";
            return Err(SqlError::new(4619, 16, text));
        }
        let bulk = Permission::AdministerDatabaseBulkOperations;
        if is_named(bulk) {
            let text = format!(
                "The permission '{}' is not supported in this version of SQL Server. Alternatively, use the server \
                 level '{}' permission.",
                bulk.name(),
                Permission::AdministerBulkOperations.name()
            );
            return Err(SqlError::new(4630, 16, text));
        }
        Ok(())
    }

    /// Who stands behind AS, from whom the caller has his right to grant, and whom he must be able to act for; 15151.
    fn grants_as(&self, grantor: &Ident, server: bool) -> Result<Arc<Access>, SqlError> {
        let own = self.state.identity.access();
        let directory = if server { own.server() } else { own.database() };
        let found = directory.find(&grantor.value).filter(|p| may_stand_for(own, p, server));
        let kind = if server { "login" } else { "user" };
        let found = found.ok_or_else(|| cannot(&format!("find the {kind}"), &grantor.value))?;
        let (login, user) = match server {
            true => (Some(found.id), database_role::GUEST),
            false => (None, found.id),
        };
        Ok(Arc::new(Access::new(own.server().clone(), login, own.database().clone(), user)))
    }

    /// An object's columns by their names, or what is named itself; 207.
    fn granted_columns(
        &mut self,
        target: Target,
        columns: &[Ident],
    ) -> Result<Vec<Target>, SqlError> {
        let Target::Object { id, schema, .. } = target else { return Ok(vec![target]) };
        if columns.is_empty() {
            return Ok(vec![target]);
        }
        let found = self.state.database.catalog.object_in(self.state.definitions(), id);
        let shape = match found {
            Some(ObjectRef::Table(table)) => Some(table),
            Some(ObjectRef::Procedure(module)) => {
                session_state::module_columns(self.state, self.host, &module)
            }
            None => None,
        };
        let Some(shape) = shape else {
            return Err(SqlError::unsupported("permissions on columns of what has none"));
        };
        let ordinal = |name: &str| shape.column(name);
        let column = |name: &Ident| match ordinal(&name.value) {
            Some(ordinal) => Ok(Target::Column { id, schema, column: ordinal as i32 + 1 }),
            None => {
                let text = format!("Invalid column name '{}'.", name.value);
                Err(SqlError::new(207, 16, text))
            }
        };
        columns.iter().map(column).collect()
    }

    /// Whether an object of that kind has the permission; true of what is no object.
    fn suits_object(&self, permission: Permission, target: Target) -> bool {
        use Permission::*;
        let Target::Object { id, .. } = target else { return true };
        let found = self.state.database.catalog.object_in(self.state.definitions(), id);
        let rows = matches!(permission, Select | Insert | Update | Delete);
        if matches!(permission, Control | Alter | TakeOwnership | ViewDefinition) {
            return true;
        }
        match found {
            None => true,
            // There are no queues.
            _ if permission == Receive => false,
            Some(ObjectRef::Table(_)) => permission != Execute,
            Some(ObjectRef::Procedure(module)) => match module.kind {
                ModuleKind::Procedure => permission == Execute,
                ModuleKind::ScalarFunction => matches!(permission, Execute | References),
                ModuleKind::View => rows || permission == References,
                ModuleKind::Sequence => matches!(permission, Update | References),
                ModuleKind::Synonym => rows || permission == Execute,
                kind if kind.is_function() => rows || permission == References,
                _ => permission != Unmask,
            },
        }
    }

    /// What ALL stands for: as in SQL Server, the permissions of SQL-92. 4623 where there are none.
    fn all_of(&self, target: Target) -> Result<Vec<Permission>, SqlError> {
        use Permission::*;
        let module = |id: i32| {
            let found = self.state.database.catalog.object_in(self.state.definitions(), id);
            match found {
                Some(ObjectRef::Procedure(module)) => Some(module.kind),
                _ => None,
            }
        };
        Ok(match target {
            Target::Object { id, .. } => match module(id) {
                Some(ModuleKind::Procedure) => vec![Execute],
                Some(ModuleKind::ScalarFunction) => vec![Execute, References],
                Some(ModuleKind::Sequence) => vec![Update, References],
                Some(ModuleKind::Synonym) => vec![Select, Insert, Update, Delete, Execute],
                _ => vec![Select, Insert, Update, Delete, References],
            },
            Target::Database => {
                let mut all = vec![
                    BackupDatabase,
                    BackupLog,
                    CreateDefault,
                    CreateFunction,
                    CreateProcedure,
                    CreateRule,
                    CreateTable,
                    CreateView,
                ];
                if self.state.database.id == MASTER {
                    all.push(CreateDatabase);
                }
                all
            }
            _ => {
                return Err(SqlError::new(
                    4623,
                    16,
                    "The all permission has been deprecated and is not available for this class of entity",
                ));
            }
        })
    }

    /// What a statement names after ON; 15151.
    pub(super) fn securable(&mut self, on: &SecurableName) -> Result<Target, SqlError> {
        let name = ObjectName::from(&on.name);
        let access = self.state.identity.access().clone();
        let missing = |kind: &str| cannot(&format!("find the {kind}"), &name.name);
        let principal = |of: PrincipalKind, kind: &str| {
            let found = access.database().find(&name.name).filter(|p| p.kind == of);
            found.map(|p| Target::Principal(p.id)).ok_or_else(|| missing(kind))
        };
        let login = |role: bool, kind: &str| {
            let found = access.server().find(&name.name).filter(|p| p.is_role() == role);
            found.map(|p| Target::Login(p.id)).ok_or_else(|| missing(kind))
        };
        match on.class.as_deref().unwrap_or("OBJECT") {
            "OBJECT" => {
                let other = name.database.as_deref();
                if other.is_some_and(|d| !d.eq_ignore_ascii_case(&self.state.database.name)) {
                    return Err(SqlError::new(
                        4610,
                        16,
                        "You can only grant or revoke permissions on objects in the current database.",
                    ));
                }
                let found = self.state.find_object(name.schema.as_deref(), &name.name);
                let found = found.ok_or_else(|| missing("object"))?;
                Ok(object_target(&access, &found))
            }
            "TYPE" => {
                let found = self.type_named(&name).map(ObjectRef::Procedure);
                let found = found.ok_or_else(|| missing("type"))?;
                Ok(object_target(&access, &found))
            }
            "XML SCHEMA COLLECTION" => {
                let found = self.state.find_xml_schemas(name.schema.as_deref(), &name.name);
                let found = found.ok_or_else(|| missing("xml schema collection"))?;
                Ok(object_target(&access, &ObjectRef::Procedure(found)))
            }
            "SCHEMA" => {
                let found = access.database().schema(&name.name);
                found.map(|s| Target::Schema(s.id)).ok_or_else(|| missing("schema"))
            }
            "DATABASE" => {
                if name.name.eq_ignore_ascii_case(&self.state.database.name) {
                    return Ok(Target::Database);
                }
                Err(missing("database"))
            }
            "USER" => principal(PrincipalKind::User, "user"),
            "ROLE" => principal(PrincipalKind::Role, "role"),
            "APPLICATION ROLE" => principal(PrincipalKind::Application, "application role"),
            "LOGIN" => login(false, "login"),
            "SERVER ROLE" => login(true, "server role"),
            other => Err(SqlError::unsupported(format!("permissions on {other}"))),
        }
    }
}

/// A class as 15151 calls it.
pub(super) fn word(class: Class) -> &'static str {
    match class {
        Class::Server => "server",
        Class::Login => "login",
        Class::Database => "database",
        Class::Schema => "schema",
        Class::Object | Class::Column => "object",
        Class::Type => "type",
        Class::XmlSchemas => "xml schema collection",
        Class::User => "user",
    }
}

/// 15151, 4624, 4617.
fn grantee(
    directory: &Directory,
    name: &Ident,
    server: bool,
    grantor: i32,
    owner: Option<i32>,
) -> Result<i32, SqlError> {
    let kind = if server { "login" } else { "user" };
    let found = directory.find(&name.value);
    let found = found.ok_or_else(|| cannot(&format!("find the {kind}"), &name.value))?;
    let public = if server { server_role::PUBLIC } else { database_role::PUBLIC };
    let special = match server {
        true => found.id == SA_ID,
        false => matches!(
            found.id,
            database_role::DBO | database_role::INFORMATION_SCHEMA | database_role::SYS
        ),
    };
    if special || found.id == grantor || owner == Some(found.id) {
        return Err(SqlError::new(
            4624,
            16,
            "Cannot grant, deny, or revoke permissions to sa, dbo, entity owner, information_schema, sys, or \
             yourself.",
        ));
    }
    if found.fixed && found.is_role() && found.id != public {
        return Err(SqlError::new(
            4617,
            16,
            "Cannot grant, deny or revoke permissions to or from special roles.",
        ));
    }
    Ok(found.id)
}

/// Enters one permission of one principal; 4611.
fn apply(
    directory: &mut Directory,
    grant: &Grant,
    key: GrantKey,
    grantor: i32,
) -> Result<(), SqlError> {
    let old = directory.grants.get(&key).map(|value| value.state);
    let passes_on = old == Some(GrantState::GrantWithGrantOption);
    if grant.verb != GrantVerb::Grant && passes_on {
        if !grant.cascade {
            return Err(SqlError::new(
                4611,
                16,
                "To revoke or deny grantable privileges, specify the CASCADE option.",
            ));
        }
        take_back(directory, key);
    }
    let state = match (grant.verb, grant.grant_option) {
        (GrantVerb::Grant, true) => Some(GrantState::GrantWithGrantOption),
        // A plain GRANT takes no grant option away.
        (GrantVerb::Grant, false) if passes_on => Some(GrantState::GrantWithGrantOption),
        (GrantVerb::Grant, false) => Some(GrantState::Grant),
        (GrantVerb::Deny, _) => Some(GrantState::Deny),
        (GrantVerb::Revoke, true) if passes_on => Some(GrantState::Grant),
        (GrantVerb::Revoke, true) => old,
        (GrantVerb::Revoke, false) => None,
    };
    match state {
        Some(state) => directory.grants.insert(key, GrantValue { state, grantor }),
        None => directory.grants.remove(&key),
    };
    Ok(())
}

/// What is said of a whole table stands for what was said of its columns before; UNMASK of both stands side by side.
fn forget_columns(directory: &mut Directory, id: i32, grantee: i32, permission: Permission) {
    if permission == Permission::Unmask {
        return;
    }
    directory.grants.retain(|key, _| {
        let of_column = matches!(key.securable, Securable::Column(table, _) if table == id);
        !(of_column && key.grantee == grantee && key.permission == permission)
    });
}

/// CASCADE: what the grantee has given on, and those to whom it was given.
fn take_back(directory: &mut Directory, key: GrantKey) {
    let mut open = vec![key.grantee];
    let mut next = 0;
    while let Some(grantor) = open.get(next).copied() {
        next += 1;
        let given: Vec<GrantKey> = directory
            .grants
            .iter()
            .filter(|(k, v)| {
                k.securable == key.securable
                    && k.permission == key.permission
                    && v.grantor == grantor
            })
            .map(|(k, _)| *k)
            .collect();
        for key in given {
            directory.grants.remove(&key);
            if !open.contains(&key.grantee) {
                open.push(key.grantee);
            }
        }
    }
}
