//! May this principal do that? The lattice of permissions, walked upwards.
//!
//! A permission on something is implied by those that cover it on the same thing (CONTROL covers SELECT) and by those of
//! what it lies in (SELECT on the schema covers SELECT on its tables). [`Access::allows`] walks all of them, for the
//! principal, its roles (nested ones too) and `public`:
//!
//! 1. `sysadmin`, the user `dbo` and the owner of the thing are not asked.
//! 2. One DENY anywhere on the way refuses.
//! 3. Else one GRANT anywhere on the way allows; fixed roles count as grants (or denials) on the database or server.
//! 4. But a GRANT of a column stands against a DENY of its table, as in SQL Server, which keeps it so for old times' sake.
//!
//! Asked when a statement is compiled, never for a row. What it was asked about is small, so nothing here is cached;
//! who caches the answer keeps the versions of both directories with it.

mod fixed_roles;

use crate::directory::{
    Directory, GrantState, Principal, PrincipalKind, database_role, server_role,
};
use crate::permission::{Class, Permission, Securable};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Server,
    Login(i32),
    Database,
    Schema(i32),
    /// An object of a schema; with an owner of its own, or the schema's.
    Object {
        id: i32,
        schema: i32,
        owner: Option<i32>,
    },
    /// A table's column by its number, from 1.
    Column {
        id: i32,
        schema: i32,
        column: i32,
    },
    /// A user-defined type.
    Type {
        id: i32,
        schema: i32,
    },
    /// A collection of XML schemas.
    XmlSchemas {
        id: i32,
        schema: i32,
    },
    /// A user or a role of the database.
    Principal(i32),
}

/// A principal's tokens at the server and in a database, with the directories they come from.
#[derive(Clone, Debug)]
pub struct Access {
    server: Arc<Directory>,
    database: Arc<Directory>,
    login: Option<i32>,
    user: i32,
    login_token: BTreeSet<i32>,
    user_token: BTreeSet<i32>,
}

/// A step of the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Node {
    target: Target,
    permission: Permission,
}

impl Target {
    fn class(self) -> Class {
        match self {
            Target::Server => Class::Server,
            Target::Login(_) => Class::Login,
            Target::Database => Class::Database,
            Target::Schema(_) => Class::Schema,
            Target::Object { .. } => Class::Object,
            Target::Column { .. } => Class::Column,
            Target::Type { .. } => Class::Type,
            Target::XmlSchemas { .. } => Class::XmlSchemas,
            Target::Principal(_) => Class::User,
        }
    }

    /// What a grant on it is stored under, and whether that is the server's directory.
    pub fn securable(self) -> (Securable, bool) {
        match self {
            Target::Server => (Securable::Server, true),
            Target::Login(id) => (Securable::Principal(id), true),
            Target::Database => (Securable::Database, false),
            Target::Schema(id) => (Securable::Schema(id), false),
            Target::Object { id, .. } => (Securable::Object(id), false),
            Target::Column { id, column, .. } => (Securable::Column(id, column), false),
            Target::Type { id, .. } => (Securable::Type(id), false),
            Target::XmlSchemas { id, .. } => (Securable::XmlSchemas(id), false),
            Target::Principal(id) => (Securable::Principal(id), false),
        }
    }

    fn parent(self) -> Target {
        match self {
            Target::Column { id, schema, .. } => Target::Object { id, schema, owner: None },
            Target::Object { schema, .. }
            | Target::Type { schema, .. }
            | Target::XmlSchemas { schema, .. } => Target::Schema(schema),
            Target::Schema(_) | Target::Principal(_) => Target::Database,
            Target::Server | Target::Login(_) | Target::Database => Target::Server,
        }
    }
}

impl Access {
    /// Of a login (`None`: of a user who acts without one) and its user in a database.
    pub fn new(
        server: Arc<Directory>,
        login: Option<i32>,
        database: Arc<Directory>,
        user: i32,
    ) -> Access {
        let login_token =
            login.map_or_else(BTreeSet::new, |login| server.token(login, server_role::PUBLIC));
        let user_token = database.token(user, database_role::PUBLIC);
        Access { server, database, login, user, login_token, user_token }
    }

    /// Whether nothing needs to be asked: `sysadmin`, or the user `dbo` for everything in the database.
    pub fn is_unlimited(&self) -> bool {
        self.is_sysadmin() || self.user == database_role::DBO
    }

    /// A member of `sysadmin`.
    pub fn is_sysadmin(&self) -> bool {
        self.login_token.contains(&server_role::SYSADMIN)
    }

    /// The same login's in another database; none: it is no user there.
    pub fn elsewhere(&self, database: Arc<Directory>) -> Option<Access> {
        let user = crate::user_of(&self.server, self.login?, &database)?;
        Some(Access::new(self.server.clone(), self.login, database, user))
    }

    pub fn login(&self) -> Option<i32> {
        self.login
    }

    pub fn user(&self) -> i32 {
        self.user
    }

    /// The user's roles, nested ones too, `public`, and itself.
    pub fn user_token(&self) -> &BTreeSet<i32> {
        &self.user_token
    }

    /// The login's, likewise.
    pub fn login_token(&self) -> &BTreeSet<i32> {
        &self.login_token
    }

    pub fn server(&self) -> &Arc<Directory> {
        &self.server
    }

    pub fn database(&self) -> &Arc<Directory> {
        &self.database
    }

    /// Who owns it.
    pub fn owner(&self, target: Target) -> Option<i32> {
        let schema = |id: i32| self.database.schemas.get(&id).map(|schema| schema.owner);
        let own = |id: i32| self.database.owners.get(&id).copied();
        match target {
            Target::Object { id, schema: of, owner } => {
                owner.or_else(|| own(id)).or_else(|| schema(of))
            }
            Target::Column { id, schema: of, .. }
            | Target::Type { id, schema: of }
            | Target::XmlSchemas { id, schema: of } => own(id).or_else(|| schema(of)),
            Target::Schema(id) => schema(id),
            Target::Principal(id) => role_owner(self.database.principals.get(&id)),
            Target::Login(id) => role_owner(self.server.principals.get(&id)),
            Target::Database => Some(database_role::DBO),
            Target::Server => None,
        }
    }

    /// Whether the principal, or a role it is in, owns it.
    pub fn owns(&self, target: Target) -> bool {
        let token = if target.securable().1 { &self.login_token } else { &self.user_token };
        self.owner(target).is_some_and(|owner| token.contains(&owner))
    }

    /// May it? See the file's first lines.
    pub fn allows(&self, permission: Permission, target: Target) -> bool {
        self.ask(permission, target, false)
    }

    /// Whether something is said of this permission on single columns of an object, to the principal or a role it is in.
    pub fn has_column_grants(&self, permission: Permission, object_id: i32) -> bool {
        let key = |column, grantee, permission| crate::directory::GrantKey {
            securable: Securable::Column(object_id, column),
            grantee,
            permission,
        };
        let all =
            key(0, i32::MIN, Permission::Control)..key(i32::MAX, i32::MAX, Permission::Unmask);
        let mut found = self.database.grants.range(all).map(|(key, _)| key);
        found.any(|key| key.permission == permission && self.user_token.contains(&key.grantee))
    }

    /// May it give this permission on: with the grant option, by owning the thing, by CONTROL of it, or as
    /// `db_securityadmin` or `securityadmin`?
    pub fn may_grant(&self, permission: Permission, target: Target) -> bool {
        let manages = if target.securable().1 {
            self.login_token.contains(&server_role::SECURITYADMIN)
                && permission != Permission::ControlServer
        } else {
            self.user_token.contains(&database_role::SECURITYADMIN)
        };
        let control = match target {
            Target::Server => Permission::ControlServer,
            _ => Permission::Control,
        };
        manages || self.allows(control, target) || self.ask(permission, target, true)
    }

    /// Whether any permission on it would be allowed: whether it may know that the thing is there.
    pub fn sees(&self, target: Target) -> bool {
        // Everybody knows himself.
        let is_self = match target {
            Target::Login(id) => self.login == Some(id),
            Target::Principal(id) => self.user == id,
            _ => false,
        };
        is_self || self.owns(target) || target.class().permissions().any(|p| self.allows(p, target))
    }

    /// Whether something was denied that refuses it; what was never said refuses nothing.
    pub fn denies(&self, permission: Permission, target: Target) -> bool {
        self.weigh(permission, target, false) == Some(false)
    }

    fn ask(&self, permission: Permission, target: Target, with_grant_option: bool) -> bool {
        self.weigh(permission, target, with_grant_option) == Some(true)
    }

    /// Allowed, denied, or nothing said.
    fn weigh(
        &self,
        permission: Permission,
        target: Target,
        with_grant_option: bool,
    ) -> Option<bool> {
        if self.is_sysadmin() {
            return Some(true);
        }
        let in_database = !target.securable().1;
        if in_database && self.user == database_role::DBO {
            return Some(true);
        }
        let mut open = vec![Node { target, permission }];
        let mut seen = 0;
        let mut allowed = false;
        let is_column = matches!(target, Target::Column { .. }) && permission != Permission::Unmask;
        while let Some(node) = open.get(seen).copied() {
            seen += 1;
            if self.owns_on_the_way(node) {
                return Some(true);
            }
            match self.said(node, with_grant_option) {
                // Its own grant has come before it.
                Some(false)
                    if is_column
                        && allowed
                        && node.permission == permission
                        && matches!(node.target, Target::Object { .. }) => {}
                Some(false) => return Some(false),
                Some(true) => allowed = true,
                None => {}
            }
            let class = node.target.class();
            let up = node.permission.covering(class);
            let mut step = |target, permission| {
                let next = Node { target, permission };
                if !open.contains(&next) {
                    open.push(next);
                }
            };
            if let Some(up) = up {
                step(node.target, up);
            }
            if let Some((_, up)) = node.permission.parent_covering(class) {
                step(node.target.parent(), self.of_role(node, up));
            }
        }
        allowed.then_some(true)
    }

    /// The owner of the thing, or of the schema it lies in.
    fn owns_on_the_way(&self, node: Node) -> bool {
        !matches!(node.target, Target::Database | Target::Server)
            && node.permission == Permission::Control
            && self.owns(node.target)
    }

    /// ALTER of a role is implied by ALTER ANY ROLE, that of an application role by ALTER ANY APPLICATION ROLE, where that
    /// of a user is by ALTER ANY USER; and ALTER of a server role by ALTER ANY SERVER ROLE, where that of a login is by ALTER
    /// ANY LOGIN.
    fn of_role(&self, node: Node, up: Permission) -> Permission {
        let principal = match node.target {
            Target::Principal(id) => self.database.principals.get(&id),
            Target::Login(id) => self.server.principals.get(&id),
            _ => return up,
        };
        match (up, principal.map(|p| p.kind)) {
            (Permission::AlterAnyUser, Some(PrincipalKind::Role)) => Permission::AlterAnyRole,
            (Permission::AlterAnyUser, Some(PrincipalKind::Application)) => {
                Permission::AlterAnyApplicationRole
            }
            (Permission::AlterAnyLogin, Some(PrincipalKind::Role)) => {
                Permission::AlterAnyServerRole
            }
            (other, _) => other,
        }
    }

    /// What is said of exactly this permission on exactly this thing: denied before allowed.
    fn said(&self, node: Node, with_grant_option: bool) -> Option<bool> {
        let (securable, server) = node.target.securable();
        let (directory, token) = if server {
            (&self.server, &self.login_token)
        } else {
            (&self.database, &self.user_token)
        };
        let mut allowed = None;
        for member in token {
            let key = crate::directory::GrantKey {
                securable,
                grantee: *member,
                permission: node.permission,
            };
            match directory.grants.get(&key).map(|value| value.state) {
                Some(GrantState::Deny) => return Some(false),
                Some(GrantState::GrantWithGrantOption) => allowed = Some(true),
                Some(GrantState::Grant) if !with_grant_option => allowed = Some(true),
                Some(GrantState::Grant) | None => {}
            }
            let fixed = match node.target {
                Target::Server if !with_grant_option => {
                    fixed_roles::of_server_role(*member, node.permission)
                }
                Target::Database if !with_grant_option => {
                    fixed_roles::of_database_role(*member, node.permission)
                }
                _ => None,
            };
            match fixed {
                Some(false) => return Some(false),
                Some(true) => allowed = Some(true),
                None => {}
            }
        }
        allowed
    }
}

/// A role has an owner; logins and users belong to nobody, not to themselves either: what they may do with themselves
/// is asked for like anything else.
fn role_owner(principal: Option<&Principal>) -> Option<i32> {
    principal.filter(|p| p.is_role()).map(|p| p.owner)
}

/// May the login connect at all? CONNECT SQL is granted to every login when it is made.
pub fn may_connect(server: &Arc<Directory>, login: i32) -> bool {
    // No database matters here.
    let access = Access::new(server.clone(), Some(login), Arc::default(), database_role::GUEST);
    access.allows(Permission::ConnectSql, Target::Server)
}

/// May a login be in a database that is RESTRICTED_USER: members of sysadmin and dbcreator, and its owners.
pub fn may_enter_restricted(server: &Directory, login: i32, database: &Directory) -> bool {
    let token = server.token(login, server_role::PUBLIC);
    if token.contains(&server_role::SYSADMIN) || token.contains(&server_role::DBCREATOR) {
        return true;
    }
    user_of(server, login, database).is_some_and(|user| {
        user == database_role::DBO
            || database.token(user, database_role::PUBLIC).contains(&database_role::OWNER)
    })
}

/// The user a login is in a database: `dbo` for `sysadmin` and the owner, its own user, or `guest` where guests may
/// connect. `None`: it may not come in (916, 4060).
pub fn user_of(server: &Directory, login: i32, database: &Directory) -> Option<i32> {
    let token = server.token(login, server_role::PUBLIC);
    if token.contains(&server_role::SYSADMIN) {
        return Some(database_role::DBO);
    }
    let sid = server.principals.get(&login)?.sid.as_deref()?;
    let user = database.by_sid(sid).map(|user| user.id);
    let access = |user: i32| {
        let (server, database) = (Arc::new(server.clone()), Arc::new(database.clone()));
        Access::new(server, Some(login), database, user)
    };
    match user {
        Some(database_role::DBO) => Some(database_role::DBO),
        Some(user) if access(user).allows(Permission::Connect, Target::Database) => Some(user),
        Some(_) => None,
        None if access(database_role::GUEST).allows(Permission::Connect, Target::Database) => {
            Some(database_role::GUEST)
        }
        None => None,
    }
}

#[cfg(test)]
mod tests;
