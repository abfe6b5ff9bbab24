//! sys.fn_my_permissions: what the session's principals may do with a securable; sys.fn_builtin_permissions: what there is
//! to be granted on each class, and what implies it. Both know the classes that [`Permission`] knows
//! (learn.microsoft.com/sql/relational-databases/system-functions/sys-fn-my-permissions-transact-sql and
//! sys-fn-builtin-permissions-transact-sql).

use crate::context::Context;
use crate::declare::{Declared, view};
use catalog::ObjectRef;
use executor::SqlError;
use security::{Class, Permission, PrincipalKind, SCHEMA_DBO, Target};
use session_state::{name_parts, object_target};
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&MY_PERMISSIONS, &BUILTIN_PERMISSIONS];

/// A securable, its column, what may be done.
type Mine = (String, String, Permission);

/// The permissions on one securable, those on its columns behind; none for a securable or a class that there is not.
fn mine(context: &Context<'_>, args: &[Value]) -> Result<Vec<Mine>, SqlError> {
    let text = |i: usize| args.get(i).and_then(Value::as_str);
    let class = text(1).map_or_else(|| "SERVER".to_owned(), |class| class.trim().to_uppercase());
    let access = context.session.identity.access();
    let mut of_columns = Vec::new();
    let (name, class, target) = match class.as_str() {
        "SERVER" => ("server".to_owned(), Class::Server, Target::Server),
        "DATABASE" => ("database".to_owned(), Class::Database, Target::Database),
        "OBJECT" => {
            let name = text(0).unwrap_or("");
            let parts = name_parts(name);
            let mut from_last = parts.iter().rev();
            let object = from_last.next().map_or("", |name| name.as_str());
            let schema = from_last.next().map(String::as_str).filter(|schema| !schema.is_empty());
            let elsewhere = from_last.next().is_some_and(|database| {
                !database.is_empty()
                    && !catalog::same_name(database, &context.session.database.name)
            });
            let found = crate::object::by_name(context, schema, object).filter(|_| !elsewhere);
            let Some(found) = found else { return Ok(Vec::new()) };
            let of = access.database().schema(&found.schema).map_or(SCHEMA_DBO, |s| s.id);
            let target = Target::Object { id: found.id, schema: of, owner: None };
            if matches!(found.kind(), "U" | "V" | "IF" | "TF") {
                for column in super::columns::of_object(context, &found) {
                    let target = Target::Column { id: found.id, schema: of, column: column.id };
                    let all = Class::Column.permissions();
                    let allowed = all.filter(|p| access.allows(*p, target));
                    of_columns
                        .extend(allowed.map(|p| (name.to_owned(), column.name.to_string(), p)));
                }
            }
            (name.to_owned(), Class::Object, target)
        }
        "TYPE" => {
            let name = text(0).unwrap_or("");
            let found = crate::types_table::find(context, name).filter(|found| found.user_defined);
            let Some(found) = found else { return Ok(Vec::new()) };
            let target = Target::Type { id: found.user, schema: found.schema_id };
            (name.to_owned(), Class::Type, target)
        }
        "XML SCHEMA COLLECTION" => {
            let name = text(0).unwrap_or("");
            let parts = name_parts(name);
            let mut from_last = parts.iter().rev();
            let bare = from_last.next().map_or("", |name| name.as_str());
            let schema = from_last.next().map(String::as_str).filter(|schema| !schema.is_empty());
            let found = context.session.find_xml_schemas(schema, bare);
            let Some(found) = found else { return Ok(Vec::new()) };
            let target = object_target(access, &ObjectRef::Procedure(found));
            (name.to_owned(), Class::XmlSchemas, target)
        }
        "SCHEMA" => {
            let name = text(0).unwrap_or("");
            let parts = name_parts(name);
            let found = parts.last().and_then(|name| access.database().schema(name));
            let Some(found) = found else { return Ok(Vec::new()) };
            (name.to_owned(), Class::Schema, Target::Schema(found.id))
        }
        "USER" | "ROLE" | "APPLICATION ROLE" | "LOGIN" | "SERVER ROLE" => {
            let name = text(0).unwrap_or("");
            let of_server = matches!(class.as_str(), "LOGIN" | "SERVER ROLE");
            let directory = if of_server { access.server() } else { access.database() };
            let found = directory.find(name).filter(|found| {
                class.as_str()
                    == match found.kind {
                        PrincipalKind::Role if of_server => "SERVER ROLE",
                        PrincipalKind::Role => "ROLE",
                        PrincipalKind::Application => "APPLICATION ROLE",
                        _ if of_server => "LOGIN",
                        _ => "USER",
                    }
            });
            let Some(found) = found else { return Ok(Vec::new()) };
            match of_server {
                true => (name.to_owned(), Class::Login, Target::Login(found.id)),
                false => (name.to_owned(), Class::User, Target::Principal(found.id)),
            }
        }
        _ => return Ok(Vec::new()),
    };
    let asked = text(1).map(|class| class.trim().to_uppercase());
    let all = class.permissions();
    let all = all.filter(|p| asked.as_deref().is_none_or(|asked| is_of_kind(*p, asked)));
    let allowed = all.filter(|p| access.allows(*p, target));
    let mut rows: Vec<Mine> = allowed.map(|p| (name.clone(), String::new(), p)).collect();
    rows.append(&mut of_columns);
    Ok(rows)
}

view! {
    MY_PERMISSIONS = "sys.fn_my_permissions" of Mine as p, rows mine,
        params (sysname, sysname);
    entity_name sysname = &p.0;
    subentity_name sysname = &p.1;
    permission_name nvarchar(60) = p.2.name();
}

/// The classes by the names that the function has for them, in its order.
const CLASSES: &[(&str, Class)] = &[
    ("DATABASE", Class::Database),
    ("OBJECT", Class::Object),
    ("TYPE", Class::Type),
    ("SCHEMA", Class::Schema),
    ("XML SCHEMA COLLECTION", Class::XmlSchemas),
    ("USER", Class::User),
    ("ROLE", Class::User),
    ("APPLICATION ROLE", Class::User),
    ("LOGIN", Class::Login),
    ("SERVER ROLE", Class::Login),
    ("SERVER", Class::Server),
];

/// Of principals: roles are not impersonated, and users and logins are owned by nobody.
fn is_of_kind(permission: Permission, class: &str) -> bool {
    match permission {
        Permission::Impersonate => !matches!(class, "ROLE" | "APPLICATION ROLE" | "SERVER ROLE"),
        Permission::TakeOwnership => !matches!(class, "USER" | "APPLICATION ROLE" | "LOGIN"),
        _ => true,
    }
}

/// A permission on a class.
pub struct Builtin {
    name: &'static str,
    class: Class,
    permission: Permission,
}

impl Builtin {
    /// ALTER of a role is implied by another permission than ALTER of a user, of which [`Permission`] knows.
    fn parent_covering(&self) -> Option<Permission> {
        let (_, covering) = self.permission.parent_covering(self.class)?;
        Some(match (self.name, covering) {
            ("ROLE", Permission::AlterAnyUser) => Permission::AlterAnyRole,
            ("APPLICATION ROLE", Permission::AlterAnyUser) => Permission::AlterAnyApplicationRole,
            ("SERVER ROLE", Permission::AlterAnyLogin) => Permission::AlterAnyServerRole,
            (_, other) => other,
        })
    }

    fn parent_class(&self) -> Option<&'static str> {
        let (class, _) = self.permission.parent_covering(self.class)?;
        CLASSES.iter().find(|(_, known)| *known == class).map(|(name, _)| *name)
    }
}

/// All of a class, or of every class where none is named.
fn builtin(_: &Context<'_>, args: &[Value]) -> Result<Vec<Builtin>, SqlError> {
    let wanted = args.first().and_then(Value::as_str).map(|class| class.trim().to_uppercase());
    let wanted = wanted.filter(|class| !class.is_empty());
    let mut rows = Vec::new();
    for &(name, class) in CLASSES {
        if wanted.as_deref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let all = class.permissions().filter(|p| is_of_kind(*p, name));
        rows.extend(all.map(|permission| Builtin { name, class, permission }));
    }
    Ok(rows)
}

view! {
    BUILTIN_PERMISSIONS = "sys.fn_builtin_permissions" of Builtin as p, rows builtin,
        params (nvarchar(60));
    class_desc nvarchar(60) = p.name;
    permission_name nvarchar(60) = p.permission.name();
    type varchar(4) = p.permission.code();
    covering_permission_name nvarchar(60) null = p.permission.covering(p.class).map(|up| up.name());
    parent_class_desc nvarchar(60) null = p.parent_class();
    parent_covering_permission_name nvarchar(60) null = p.parent_covering().map(|up| up.name());
}
