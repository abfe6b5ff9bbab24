//! Records of statements about principals, schemas, owners and permissions.

use super::{event, event_of_server};
use crate::ddl_events::Occurrence;
use audit::Group;
use session_state::{AuditEvent, SessionState};
use syntax::ast::{
    AlterRoleAction, Grant, GrantVerb, Ident, LoginOptions, SecurableName, SecurityStatement as S,
};

/// None where nothing happens: a DROP ... IF EXISTS of what is not there.
pub(super) fn events(
    state: &SessionState,
    statement: &S,
    happens: &[Occurrence],
) -> Vec<AuditEvent> {
    let Some(first) = happens.first() else { return Vec::new() };
    let principals = Principals { state };
    let one = match statement {
        S::CreateLogin { name, .. } | S::CreateLoginFrom { name, .. } => {
            principals.login(b"CR  ", name)
        }
        S::AlterLogin { name, options, .. } => return principals.altered(name, options),
        S::DropLogin { name, .. } => principals.login(b"DR  ", name),
        S::CreateUser { name, .. } => principals.own(b"CR  ", b"SU", name),
        S::AlterUser { name, .. } => principals.own(b"AL  ", b"SU", name),
        S::DropUser { name, .. } => principals.own(b"DR  ", b"SU", name),
        S::CreateRole { server, name, .. } => principals.role(b"CR  ", *server, name),
        S::DropRole { server, name, .. } => principals.role(b"DR  ", *server, name),
        S::AlterRole { server, name, action } => match action {
            AlterRoleAction::Rename(_) => principals.role(b"AL  ", *server, name),
            AlterRoleAction::Add(member) => principals.member(b"APRL", *server, name, member),
            AlterRoleAction::Drop(member) => principals.member(b"DPRL", *server, name, member),
        },
        S::CreateApplicationRole { name, .. } => principals.own(b"CR  ", b"AR", name),
        S::AlterApplicationRole { name, .. } => principals.own(b"AL  ", b"AR", name),
        S::DropApplicationRole { name } => principals.own(b"DR  ", b"AR", name),
        S::CreateSchema { .. } => schema(state, b"CR  ", first),
        S::DropSchema { .. } => schema(state, b"DR  ", first),
        S::AlterSchema { .. } => named(state, Group::SchemaObjectChange, b"TRO ", b"OB", first),
        S::AlterAuthorization { on, .. } => {
            let Some((group, class)) = owned(on) else { return Vec::new() };
            named(state, group, b"TO  ", class, first)
        }
        S::Grant(grant) => return granted(state, grant, first),
    };
    vec![one]
}

struct Principals<'a> {
    state: &'a SessionState,
}

impl Principals<'_> {
    fn login(&self, action: &[u8; 4], name: &Ident) -> AuditEvent {
        let made = event_of_server(self.state, Group::ServerPrincipalChange, action, b"SL");
        self.of_login(made, name)
    }

    fn of_login(&self, mut made: AuditEvent, name: &Ident) -> AuditEvent {
        let found = self.state.identity.access().server().find(&name.value);
        made.record.object_id = found.map_or(0, |found| found.id);
        made.record.object_name = Some(name.value.as_str().into());
        made.record.target_server_principal_id = made.record.object_id;
        made.record.target_server_principal_name = Some(name.value.as_str().into());
        made.record.target_server_principal_sid = found.and_then(|found| found.sid.clone());
        made
    }

    /// ALTER LOGIN: what becomes of its password, and that it was altered.
    fn altered(&self, name: &Ident, options: &LoginOptions) -> Vec<AuditEvent> {
        let is_own = name.is(&self.state.login_name());
        let mut actions: Vec<&[u8; 4]> = Vec::new();
        if options.password.is_some() || options.hash.is_some() {
            actions.push(match (options.old_password.is_some(), is_own) {
                (true, true) => b"PWCS",
                (true, false) => b"PWC ",
                (false, true) => b"PWRS",
                (false, false) => b"PWR ",
            });
        }
        if options.must_change {
            actions.push(b"PWMC");
        }
        if options.unlock {
            actions.push(b"PWU ");
        }
        let of_password = |action| {
            let made = event_of_server(self.state, Group::LoginChangePassword, action, b"SL");
            self.of_login(made, name)
        };
        let mut all: Vec<AuditEvent> = actions.into_iter().map(of_password).collect();
        all.push(self.login(b"AL  ", name));
        all
    }

    /// Of a principal of the database.
    fn own(&self, action: &[u8; 4], class: &[u8; 2], name: &Ident) -> AuditEvent {
        let mut made = event(self.state, Group::DatabasePrincipalChange, action, class);
        let found = self.state.identity.access().database().find(&name.value);
        made.record.object_id = found.map_or(0, |found| found.id);
        made.record.object_name = Some(name.value.as_str().into());
        made
    }

    fn role(&self, action: &[u8; 4], server: bool, name: &Ident) -> AuditEvent {
        if !server {
            return self.own(action, b"RL", name);
        }
        let mut made = event_of_server(self.state, Group::ServerPrincipalChange, action, b"SG");
        let found = self.state.identity.access().server().find(&name.value);
        made.record.object_id = found.map_or(0, |found| found.id);
        made.record.object_name = Some(name.value.as_str().into());
        made
    }

    fn member(&self, action: &[u8; 4], server: bool, role: &Ident, member: &Ident) -> AuditEvent {
        let mut made = self.role(action, server, role);
        made.group = match server {
            true => Group::ServerRoleMemberChange,
            false => Group::DatabaseRoleMemberChange,
        };
        target(self.state, &mut made, server, &member.value);
        made
    }
}

/// Whom it concerns.
fn target(state: &SessionState, made: &mut AuditEvent, server: bool, name: &str) {
    let access = state.identity.access();
    let directory = if server { access.server() } else { access.database() };
    let found = directory.find(name);
    let (id, name) = (found.map_or(0, |found| found.id), Some(name.into()));
    let record = &mut made.record;
    match server {
        true => {
            (record.target_server_principal_id, record.target_server_principal_name) = (id, name);
            record.target_server_principal_sid = found.and_then(|found| found.sid.clone());
        }
        false => {
            record.target_database_principal_id = id;
            record.target_database_principal_name = name;
        }
    }
}

fn schema(state: &SessionState, action: &[u8; 4], happens: &Occurrence) -> AuditEvent {
    let mut made = named(state, Group::DatabaseObjectChange, action, b"SC", happens);
    made.record.schema_name = None;
    let name = made.record.object_name.as_deref().unwrap_or("");
    let found = state.identity.access().database().schema(name);
    made.record.object_id = found.map_or(0, |schema| schema.id);
    made
}

/// About what its event is about.
fn named(
    state: &SessionState,
    group: Group,
    action: &[u8; 4],
    class: &[u8; 2],
    happens: &Occurrence,
) -> AuditEvent {
    let mut made = event(state, group, action, class);
    let some = |text: &String| (!text.is_empty()).then(|| text.as_str().into());
    made.record.schema_name = happens.schema.as_ref().and_then(some);
    made.record.object_name = happens.object.as_ref().and_then(|(name, _)| some(name));
    if let (Some(schema), Some(name)) = (&made.record.schema_name, &made.record.object_name) {
        made.record.object_id = super::object_id(state, schema, name);
    }
    made
}

/// Who changes the owner of something: its group and class. None: of the server, which no group here has.
fn owned(on: &SecurableName) -> Option<(Group, &'static [u8; 2])> {
    Some(match on.class.as_deref() {
        Some("SERVER" | "LOGIN" | "SERVER ROLE" | "ENDPOINT") => return None,
        Some("DATABASE") => (Group::DatabaseOwnershipChange, b"DB"),
        Some("SCHEMA") => (Group::DatabaseObjectOwnershipChange, b"SC"),
        Some("ROLE" | "APPLICATION ROLE") => (Group::DatabaseObjectOwnershipChange, b"RL"),
        Some("FULLTEXT CATALOG") => (Group::DatabaseObjectOwnershipChange, b"FC"),
        Some("TYPE") => (Group::SchemaObjectOwnershipChange, b"TY"),
        Some("XML SCHEMA COLLECTION") => (Group::SchemaObjectOwnershipChange, b"SX"),
        _ => (Group::SchemaObjectOwnershipChange, b"OB"),
    })
}

/// A record for each principal.
fn granted(state: &SessionState, grant: &Grant, happens: &Occurrence) -> Vec<AuditEvent> {
    let action: &[u8; 4] = match (grant.verb, grant.grant_option, grant.cascade) {
        (GrantVerb::Grant, false, _) => b"G   ",
        (GrantVerb::Grant, true, _) => b"GWG ",
        (GrantVerb::Deny, _, false) => b"D   ",
        (GrantVerb::Deny, _, true) => b"DWC ",
        (GrantVerb::Revoke, _, true) => b"RWC ",
        (GrantVerb::Revoke, true, false) => b"RWG ",
        (GrantVerb::Revoke, false, false) => b"R   ",
    };
    let at_server = !happens.event.is_of_database();
    let (group, class): (Group, &[u8; 2]) = match grant.on.as_ref().map(|on| on.class.as_deref()) {
        None if at_server => (Group::ServerPermissionChange, b"SR"),
        None => (Group::DatabasePermissionChange, b"DB"),
        Some(Some("SERVER")) => (Group::ServerPermissionChange, b"SR"),
        Some(Some("LOGIN")) => (Group::ServerObjectPermissionChange, b"LX"),
        Some(Some("SERVER ROLE")) => (Group::ServerObjectPermissionChange, b"SG"),
        Some(Some("ENDPOINT")) => (Group::ServerObjectPermissionChange, b"SR"),
        Some(Some("DATABASE")) => (Group::DatabasePermissionChange, b"DB"),
        Some(Some("SCHEMA")) => (Group::DatabaseObjectPermissionChange, b"SC"),
        Some(Some("USER")) => (Group::DatabaseObjectPermissionChange, b"US"),
        Some(Some("ROLE" | "APPLICATION ROLE")) => (Group::DatabaseObjectPermissionChange, b"RL"),
        Some(Some("FULLTEXT CATALOG")) => (Group::DatabaseObjectPermissionChange, b"FC"),
        Some(Some("TYPE")) => (Group::SchemaObjectPermissionChange, b"TY"),
        Some(Some("XML SCHEMA COLLECTION")) => (Group::SchemaObjectPermissionChange, b"SX"),
        Some(_) => (Group::SchemaObjectPermissionChange, b"OB"),
    };
    let each = grant.principals.iter().map(|principal| {
        let mut made = match at_server {
            true => {
                let mut made = event_of_server(state, group, action, class);
                made.record.object_name = happens.object.as_ref().map(|(n, _)| n.as_str().into());
                made
            }
            false => named(state, group, action, class, happens),
        };
        made.record.is_column_permission = grant.columns.iter().any(|columns| !columns.is_empty());
        target(state, &mut made, at_server, &principal.value);
        made
    });
    each.collect()
}
