//! The events of statements about principals, schemas and permissions.

use super::event::Occurrence;
use super::text::element;
use catalog::{ModuleKind, ObjectRef};
use security::{Class, Permission};
use session_state::SessionState;
use syntax::ast::{
    AlterRoleAction, Grant, GrantVerb, ObjectName, SecurableName, SecurityStatement as S,
};

/// Does it change what belongs to the server, and so no transaction of a database?
pub fn is_of_server(statement: &S) -> bool {
    match statement {
        S::CreateLogin { .. }
        | S::CreateLoginFrom { .. }
        | S::AlterLogin { .. }
        | S::DropLogin { .. } => true,
        S::CreateRole { server, .. } | S::AlterRole { server, .. } | S::DropRole { server, .. } => {
            *server
        }
        S::AlterAuthorization { on, .. } => is_server_class(on),
        S::Grant(grant) => is_server_grant(grant),
        _ => false,
    }
}

fn is_server_class(on: &SecurableName) -> bool {
    matches!(on.class.as_deref(), Some("SERVER" | "LOGIN" | "SERVER ROLE" | "ENDPOINT"))
}

fn is_server_grant(grant: &Grant) -> bool {
    match &grant.on {
        Some(on) => is_server_class(on),
        None => {
            let named = grant.permissions.iter().filter_map(|name| Permission::by_name(name));
            let mut named = named.peekable();
            named.peek().is_some() && named.all(|p| p.applies_to(Class::Server))
        }
    }
}

pub fn occurrences(state: &SessionState, statement: &S) -> Vec<Occurrence> {
    let known = |name: &str| state.identity.access().database().find(name).is_some();
    let of_login = |event: &str, name: &str| {
        Occurrence::new(event).object(name, "LOGIN").with("LoginType", "SQL Login")
    };
    let one = match statement {
        S::CreateLogin { name, .. } | S::CreateLoginFrom { name, .. } => {
            of_login("CREATE_LOGIN", &name.value)
        }
        S::AlterLogin { name, .. } => of_login("ALTER_LOGIN", &name.value),
        S::DropLogin { name, if_exists } => {
            if *if_exists && state.identity.access().server().find(&name.value).is_none() {
                return Vec::new();
            }
            of_login("DROP_LOGIN", &name.value)
        }
        S::CreateUser { name, .. } => {
            Occurrence::new("CREATE_USER").object(&name.value, "SQL USER")
        }
        S::AlterUser { name, .. } => Occurrence::new("ALTER_USER").object(&name.value, "SQL USER"),
        S::DropUser { name, if_exists } => {
            if *if_exists && !known(&name.value) {
                return Vec::new();
            }
            Occurrence::new("DROP_USER").object(&name.value, "SQL USER")
        }
        S::CreateRole { server, name, .. } => role("CREATE", *server, &name.value),
        S::DropRole { server, name, if_exists } => {
            if *if_exists && !*server && !known(&name.value) {
                return Vec::new();
            }
            role("DROP", *server, &name.value)
        }
        S::AlterRole { server, name, action } => {
            let (event, member) = match action {
                AlterRoleAction::Rename(_) => return vec![role("ALTER", *server, &name.value)],
                AlterRoleAction::Add(member) => ("ADD", member),
                AlterRoleAction::Drop(member) => ("DROP", member),
            };
            let (what, ty) = match server {
                true => ("SERVER_ROLE_MEMBER", "LOGIN"),
                false => ("ROLE_MEMBER", "SQL USER"),
            };
            let made = Occurrence::new(&format!("{event}_{what}")).object(&member.value, ty);
            made.with("RoleName", &name.value)
        }
        S::CreateApplicationRole { name, .. } => {
            Occurrence::new("CREATE_APPLICATION_ROLE").object(&name.value, "APPLICATION ROLE")
        }
        S::AlterApplicationRole { name, .. } => {
            Occurrence::new("ALTER_APPLICATION_ROLE").object(&name.value, "APPLICATION ROLE")
        }
        S::DropApplicationRole { name } => {
            Occurrence::new("DROP_APPLICATION_ROLE").object(&name.value, "APPLICATION ROLE")
        }
        S::CreateSchema { name, owner, .. } => {
            let own = state.user_name();
            let owner = owner.as_ref().map_or(own.as_str(), |owner| &owner.value);
            schema("CREATE_SCHEMA", &name.value).with("OwnerName", owner)
        }
        S::DropSchema { name, if_exists } => {
            if *if_exists && state.identity.access().database().schema(&name.value).is_none() {
                return Vec::new();
            }
            schema("DROP_SCHEMA", &name.value)
        }
        S::AlterSchema { name, on } => {
            let (_, ty) = object_of(state, &on.name);
            let moved = &on.name.name.value;
            Occurrence::new("ALTER_SCHEMA").schema(&name.value).object(moved, ty)
        }
        S::AlterAuthorization { on, to } => {
            let event = match is_server_class(on) {
                true => "ALTER_AUTHORIZATION_SERVER",
                false => "ALTER_AUTHORIZATION_DATABASE",
            };
            let made = securable(state, event, Some(on));
            made.with("OwnerName", to.as_ref().map_or("", |to| &to.value))
        }
        S::Grant(grant) => self::grant(state, grant),
    };
    vec![one]
}

fn role(verb: &str, server: bool, name: &str) -> Occurrence {
    match server {
        true => Occurrence::new(&format!("{verb}_SERVER_ROLE")).object(name, "SERVER ROLE"),
        false => Occurrence::new(&format!("{verb}_ROLE")).object(name, "ROLE"),
    }
}

fn schema(event: &str, name: &str) -> Occurrence {
    Occurrence::new(event).schema(name).object(name, "SCHEMA")
}

fn grant(state: &SessionState, grant: &Grant) -> Occurrence {
    let verb = match grant.verb {
        GrantVerb::Grant => "GRANT",
        GrantVerb::Deny => "DENY",
        GrantVerb::Revoke => "REVOKE",
    };
    let server = is_server_grant(grant);
    let event = format!("{verb}_{}", if server { "SERVER" } else { "DATABASE" });
    let grantor = if server { state.login_name() } else { state.user_name() };
    let list = |outer: &str, inner: &str, names: &mut dyn Iterator<Item = String>| {
        let mut all = String::new();
        names.for_each(|name| element(inner, &name, &mut all));
        format!("<{outer}>{all}</{outer}>")
    };
    let mut made = securable(state, &event, grant.on.as_ref()).with("Grantor", &grantor);
    let mut permissions = grant.permissions.iter().map(|name| name.to_lowercase());
    made.own += &list("Permissions", "Permission", &mut permissions);
    let mut grantees = grant.principals.iter().map(|name| name.value.clone());
    made.own += &list("Grantees", "Grantee", &mut grantees);
    made.with("AsGrantor", grant.grantor.as_ref().map_or("", |grantor| &grantor.value))
        .with("GrantOption", if grant.grant_option { "1" } else { "0" })
        .with("CascadeOption", if grant.cascade { "1" } else { "0" })
}

/// An event about what a permission or an owner is for: an object in its schema, anything else under an empty one.
fn securable(state: &SessionState, event: &str, on: Option<&SecurableName>) -> Occurrence {
    let made = Occurrence::new(event);
    let Some(on) = on else {
        return match made.event.is_of_database() {
            true => made.schema("").object(state.database.name.as_str(), "DATABASE"),
            false => made,
        };
    };
    let name = &on.name.name.value;
    match on.class.as_deref() {
        None | Some("OBJECT") => {
            let (schema, ty) = object_of(state, &on.name);
            made.schema(schema).object(name, ty)
        }
        Some("TYPE") => made.schema(object_of(state, &on.name).0).object(name, "TYPE"),
        Some("XML SCHEMA COLLECTION") => {
            let schema = on.name.schema.as_ref().map(|schema| schema.value.as_str());
            let found = state.find_xml_schemas(schema, name);
            let schema = found.map_or("dbo".to_owned(), |found| found.schema.to_string());
            made.schema(schema).object(name, "XML SCHEMA COLLECTION")
        }
        Some("SCHEMA") => made.schema("").object(name, "SCHEMA"),
        Some("DATABASE") => made.schema("").object(name, "DATABASE"),
        Some("USER") => made.schema("").object(name, "SQL USER"),
        Some("ROLE") => made.schema("").object(name, "ROLE"),
        Some("SERVER ROLE") => made.object(name, "SERVER ROLE"),
        Some(_) => made.object(name, "LOGIN"),
    }
}

/// The schema of an object by its name, and what it is.
fn object_of(state: &SessionState, name: &ObjectName) -> (String, &'static str) {
    let schema = name.schema.as_ref().map(|schema| schema.value.as_str());
    let found = state.find_own(schema, &name.name.value);
    match found {
        Some(ObjectRef::Table(table)) => (table.schema.to_string(), "TABLE"),
        Some(ObjectRef::Procedure(module)) => (module.schema.to_string(), word(module.kind)),
        None => (schema.unwrap_or("dbo").to_owned(), "OBJECT"),
    }
}

fn word(kind: ModuleKind) -> &'static str {
    match kind {
        ModuleKind::Procedure => "PROCEDURE",
        ModuleKind::View => "VIEW",
        ModuleKind::Trigger => "TRIGGER",
        ModuleKind::Sequence => "SEQUENCE",
        ModuleKind::Synonym => "SYNONYM",
        ModuleKind::Rule => "RULE",
        ModuleKind::Default => "DEFAULT",
        ModuleKind::SecurityPolicy => "SECURITY POLICY",
        ModuleKind::TableType | ModuleKind::AliasType => "TYPE",
        _ => "FUNCTION",
    }
}
