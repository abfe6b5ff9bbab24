//! Functions that ask who somebody is, what he is in, and what he may do.
//!
//! They answer from the identity that the session acts under; a name that means nobody is NULL, as in SQL Server.

use crate::host::Host;
use crate::name_parts::name_parts;
use crate::names::module_columns;
use crate::state::SessionState;
use crate::visibility::object_target;
use catalog::ObjectRef;
use ir::FuncId;
use security::{Access, Class, Directory, Permission, Target, database_role, server_role};
use types::Value;

/// The value of such a function. Functions that are none of them are NULL.
pub fn principal_function(
    state: &mut SessionState,
    host: &mut dyn Host,
    func: FuncId,
    args: &[Value],
) -> Value {
    use FuncId::*;
    state.follow_identity(host);
    let access = state.identity.access().clone();
    let (server, database) = (access.server(), access.database());
    let given = |i: usize| args.get(i);
    let text = |i: usize| args.get(i).and_then(Value::as_str);
    let number = |i: usize| args.get(i).and_then(Value::as_i64).and_then(|n| i32::try_from(n).ok());
    let name_of = |directory: &Directory, id: i32| {
        directory.principals.get(&id).map_or(Value::Null, |p| Value::str(&p.name))
    };
    let id_of = |directory: &Directory, name: &str| directory.find(name).map(|p| p.id);
    match func {
        SchemaName => match given(0) {
            None => Value::str(state.default_schema().unwrap_or("dbo")),
            Some(_) => {
                let found = number(0).and_then(|id| database.schemas.get(&id));
                found.map_or(Value::Null, |schema| Value::str(&schema.name))
            }
        },
        SchemaId => {
            let name = match given(0) {
                None => Some(state.default_schema().unwrap_or("dbo")),
                Some(_) => text(0),
            };
            Value::from(name.and_then(|name| database.schema(name)).map(|schema| schema.id))
        }
        SUserSName => match given(0) {
            None => Value::str(&state.login_name()),
            Some(Value::Binary(sid)) => {
                server.by_sid(sid).map_or(Value::Null, |login| Value::str(&login.name))
            }
            Some(_) => Value::Null,
        },
        SUserName => match given(0) {
            None => Value::str(&state.login_name()),
            Some(_) => number(0).map_or(Value::Null, |id| name_of(server, id)),
        },
        SUserId => Value::from(match given(0) {
            None => id_of(server, &state.login_name()),
            Some(_) => text(0).and_then(|name| id_of(server, name)),
        }),
        SUserSid => {
            let login = state.login_name();
            let name = match given(0) {
                None => Some(login.as_str()),
                Some(_) => text(0),
            };
            let sid = name.and_then(|name| server.find(name)).and_then(|p| p.sid.as_deref());
            sid.map_or(Value::Null, Value::binary)
        }
        OriginalLogin => name_of(server, state.identity.original()),
        UserName => match given(0) {
            None => Value::str(&state.user_name()),
            Some(_) => number(0).map_or(Value::Null, |id| name_of(database, id)),
        },
        UserId => Value::from(match given(0) {
            None => Some(access.user()),
            Some(_) => text(0).and_then(|name| id_of(database, name)),
        }),
        IsMember => {
            let role = text(0).and_then(|name| database.find(name)).filter(|p| p.is_role());
            role.map_or(Value::Null, |role| is_in(&access, role.id))
        }
        IsRoleMember => {
            let role = text(0).and_then(|name| database.find(name)).filter(|p| p.is_role());
            let Some(role) = role else { return Value::Null };
            match given(1) {
                None => is_in(&access, role.id),
                Some(_) => match text(1).and_then(|name| database.find(name)) {
                    None => Value::Null,
                    Some(member) => {
                        let token = database.token(member.id, database_role::PUBLIC);
                        Value::Int(i32::from(token.contains(&role.id) && member.id != role.id))
                    }
                },
            }
        }
        IsSrvRoleMember => {
            let role = text(0).and_then(|name| server.find(name.trim_end()));
            let role = role.filter(|p| p.is_role());
            let Some(role) = role else { return Value::Null };
            let token = match given(1) {
                None => access.login_token().clone(),
                Some(_) => match text(1).and_then(|name| server.find(name.trim_end())) {
                    None => return Value::Null,
                    Some(login) => server.token(login.id, server_role::PUBLIC),
                },
            };
            Value::Int(i32::from(token.contains(&role.id)))
        }
        HasDbAccess => {
            let Some(name) = text(0) else { return Value::Null };
            match host.database(name) {
                None if host.makes_database(name) => Value::Int(1),
                None => Value::Null,
                Some(open) => Value::Int(i32::from(state.check_entry(host, &open).is_ok())),
            }
        }
        HasPermsByName => has_permission(state, host, &access, args),
        LoginProperty => crate::login_property::login_property(host, &access, text(0), text(1)),
        PermissionBits => permission_bits(state, &access, args),
        _ => Value::Null,
    }
}

/// PERMISSIONS: 32 bits; those of what may be granted on stand 16 higher.
fn permission_bits(state: &SessionState, access: &Access, args: &[Value]) -> Value {
    use Permission::*;
    let bits = |known: &[(i32, Permission)], target: Target| {
        known.iter().fold(0, |all, (bit, permission)| {
            let may = if access.allows(*permission, target) { *bit } else { 0 };
            let grants = if access.may_grant(*permission, target) { *bit << 16 } else { 0 };
            all | may | grants
        })
    };
    let Some(id) = args.first() else {
        let mut all = bits(
            &[
                (2, CreateTable),
                (4, CreateProcedure),
                (8, CreateView),
                (16, CreateRule),
                (32, CreateDefault),
                (64, BackupDatabase),
                (128, BackupLog),
            ],
            Target::Database,
        );
        if state.database.id == 1 {
            all |= bits(&[(1, CreateDatabase)], Target::Database);
        }
        return Value::Int(all);
    };
    let scope = state.definitions();
    let id = id.as_i64().and_then(|id| i32::try_from(id).ok());
    let Some(object) = id.and_then(|id| state.database.catalog.object_in(scope, id)) else {
        return Value::Null;
    };
    let target = object_target(access, &object);
    if args.len() > 1 {
        let column = match (&object, args[1].as_str()) {
            (catalog::ObjectRef::Table(table), Some(name)) => table.column(name),
            _ => None,
        };
        return match column {
            None => Value::Null,
            Some(_) => Value::Int(bits(&[(1, Select), (2, Update), (4, References)], target)),
        };
    }
    let known: &[(i32, Permission)] = match &object {
        catalog::ObjectRef::Procedure(module) if module.kind == catalog::ModuleKind::Procedure => {
            &[(32, Execute)]
        }
        _ => &[
            (1, Select),
            (2, Update),
            (4, References),
            (8, Insert),
            (16, Delete),
            (0x1000, Select),
            (0x2000, Update),
            (0x4000, References),
        ],
    };
    Value::Int(bits(known, target))
}

/// Whether the session's user is in a role. A `dbo` is in `db_owner`, and in no other that he was not put into.
fn is_in(access: &Access, role: i32) -> Value {
    Value::Int(i32::from(access.user_token().contains(&role) && access.user() != role))
}

/// A user-defined type by a name that may carry a schema.
fn type_target(state: &SessionState, access: &Access, name: &str) -> Option<Target> {
    use catalog::ModuleKind::{AliasType, TableType};
    let parts = name_parts(name);
    let mut from_last = parts.iter().rev();
    let bare = from_last.next()?;
    let schema = from_last.next().map(String::as_str).filter(|schema| !schema.is_empty());
    let (scope, catalog) = (state.definitions(), &state.database.catalog);
    let mut found = [TableType, AliasType].into_iter();
    let found = found.find_map(|kind| catalog.module(scope, schema, bare, kind))?;
    Some(object_target(access, &catalog::ObjectRef::Procedure(found)))
}

/// HAS_PERMS_BY_NAME: NULL for a class, a permission or a securable that there is not.
fn has_permission(
    state: &SessionState,
    host: &mut dyn Host,
    access: &Access,
    args: &[Value],
) -> Value {
    let text = |i: usize| args.get(i).and_then(Value::as_str);
    let Some(permission) = text(2) else { return Value::Null };
    let permission = permission.trim().to_uppercase();
    let class = text(1).map(|class| class.trim().to_uppercase());
    let name = text(0);
    let database = access.database();
    let target = match (class.as_deref(), name) {
        (None, None) => Some(Target::Server),
        (Some("DATABASE"), None) => Some(Target::Database),
        (Some("DATABASE"), Some(name)) if catalog::same_name(name, &state.database.name) => {
            Some(Target::Database)
        }
        (Some("DATABASE"), Some(name)) => {
            let Some(open) = host.database(name) else { return Value::Null };
            let Some(there) = access.elsewhere(open.catalog.directory(None)) else {
                return Value::Int(0);
            };
            let permission = Permission::by_name(&permission);
            let Some(permission) = permission.filter(|p| p.applies_to(Class::Database)) else {
                return Value::Null;
            };
            return Value::Int(i32::from(there.allows(permission, Target::Database)));
        }
        (Some("SERVER"), _) => Some(Target::Server),
        (Some("SCHEMA"), Some(name)) => {
            let parts = name_parts(name);
            let schema = parts.last().and_then(|name| database.schema(name));
            schema.map(|schema| Target::Schema(schema.id))
        }
        (Some("OBJECT"), Some(name)) => {
            let parts = name_parts(name);
            let mut from_last = parts.iter().rev();
            let name = from_last.next().map_or("", |name| name.as_str());
            let schema = from_last.next().map(String::as_str).filter(|schema| !schema.is_empty());
            let elsewhere = from_last.next().filter(|database| {
                !database.is_empty() && !catalog::same_name(database, &state.database.name)
            });
            if let Some(database) = elsewhere.filter(|_| is_users(schema, name)) {
                return of_another_database(host, access, database, (schema, name), &permission);
            }
            let found = state.find_object(schema, name);
            let is_column = text(4).is_some_and(|c| c.trim().eq_ignore_ascii_case("COLUMN"));
            match (&found, text(3).filter(|_| is_column)) {
                (Some(object), Some(column)) => {
                    let (shape, schema) = match object {
                        ObjectRef::Table(table) => (Some(table.clone()), &table.schema),
                        ObjectRef::Procedure(module) => {
                            (module_columns(state, host, module), &module.schema)
                        }
                    };
                    let schema = database.schema(schema).map_or(security::SCHEMA_DBO, |s| s.id);
                    let id = object.object_id();
                    let target = |at| Target::Column { id, schema, column: at as i32 + 1 };
                    shape.and_then(|shape| shape.column(column)).map(target)
                }
                (None, ..) => return of_system_object(state, host, access, &args[0], &permission),
                _ => found.map(|object| object_target(access, &object)),
            }
        }
        (Some("TYPE"), Some(name)) => type_target(state, access, name),
        (Some("XML SCHEMA COLLECTION"), Some(name)) => {
            let parts = name_parts(name);
            let mut from_last = parts.iter().rev();
            let bare = from_last.next().map_or("", |name| name.as_str());
            let schema = from_last.next().map(String::as_str).filter(|schema| !schema.is_empty());
            let found = state.find_xml_schemas(schema, bare);
            found.map(|found| object_target(access, &catalog::ObjectRef::Procedure(found)))
        }
        (Some("USER" | "ROLE" | "APPLICATION ROLE"), Some(name)) => {
            database.find(name).map(|found| Target::Principal(found.id))
        }
        (Some("LOGIN" | "SERVER ROLE"), Some(name)) => {
            access.server().find(name).map(|found| Target::Login(found.id))
        }
        _ => None,
    };
    let Some(target) = target else { return Value::Null };
    let (securable, server) = target.securable();
    let class: Class = securable.class(server);
    if permission == "ANY" {
        return Value::Int(i32::from(access.is_unlimited() || access.sees(target)));
    }
    match Permission::by_name(&permission).filter(|p| p.applies_to(class)) {
        Some(permission) => Value::Int(i32::from(access.allows(permission, target))),
        None => Value::Null,
    }
}

/// Neither a temporary object nor one of the system's, which are the same in every database?
fn is_users(schema: Option<&str>, name: &str) -> bool {
    let is_system = |schema: &str| {
        catalog::same_name(schema, "sys") || catalog::same_name(schema, "INFORMATION_SCHEMA")
    };
    !name.starts_with('#') && !schema.is_some_and(is_system)
}

/// HAS_PERMS_BY_NAME of an object of another database, as the login's user there; NULL for who is nobody there.
fn of_another_database(
    host: &mut dyn Host,
    access: &Access,
    database: &str,
    (schema, name): (Option<&str>, &str),
    permission: &str,
) -> Value {
    let Some(open) = host.database(database) else { return Value::Null };
    let Some(there) = access.elsewhere(open.catalog.directory(None)) else { return Value::Null };
    let Some(object) = open.catalog.object(None, schema.or(Some("dbo")), name) else {
        return Value::Null;
    };
    let target = object_target(&there, &object);
    if permission == "ANY" {
        return Value::Int(i32::from(there.is_unlimited() || there.sees(target)));
    }
    match Permission::by_name(permission).filter(|p| p.applies_to(Class::Object)) {
        Some(permission) => Value::Int(i32::from(there.allows(permission, target))),
        None => Value::Null,
    }
}

/// HAS_PERMS_BY_NAME of what the server brings along: everybody may read its views and run its procedures. NULL for what is
/// not there.
fn of_system_object(
    state: &SessionState,
    host: &mut dyn Host,
    access: &Access,
    name: &Value,
    permission: &str,
) -> Value {
    let mut told = |func, args: &[Value]| host.metadata(func, args, state).unwrap_or(Value::Null);
    let id = told(FuncId::ObjectId, std::slice::from_ref(name));
    let Value::Int(number) = id else { return Value::Null };
    if number >= 0 {
        return Value::Null;
    }
    let mut is = |property: &str| {
        let told = told(FuncId::ObjectProperty, &[id.clone(), Value::str(property)]);
        told == Value::Int(1)
    };
    let is_read = is("IsView") || is("IsTableFunction") || is("IsInlineFunction");
    let granted = if is_read { "SELECT" } else { "EXECUTE" };
    // Everybody has that right on all but the one that runs the operating system's programs.
    let is_shell = name.as_str().is_some_and(|n| n.to_ascii_lowercase().ends_with("xp_cmdshell"));
    if is_shell {
        return Value::Int(i32::from(access.is_unlimited()));
    }
    match permission {
        "ANY" => Value::Int(1),
        _ if permission == granted => Value::Int(1),
        _ => match Permission::by_name(permission).filter(|p| p.applies_to(Class::Object)) {
            Some(_) => Value::Int(i32::from(access.is_unlimited())),
            None => Value::Null,
        },
    }
}
