//! The principals of one scope, a server or a database: who is there, who is in which role, who was granted what.
//!
//! A plain value, copied and changed by data definition and never while others read it. What every server and database
//! is born with (the fixed roles, `sa`, `dbo`, `public` ...) is put there by [`Directory::server`] and
//! [`Directory::database`].
//!
//! Invariants: ids are unique in `principals`, names too, any case; both ends of a membership exist; memberships make no
//! circle; nothing fixed is removed.

use crate::permission::{Permission, Securable};
use crate::{PasswordHash, SA_ID, SA_SID};
use std::collections::{BTreeMap, BTreeSet};

/// What kind of principal: `type` in sys.server_principals and sys.database_principals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrincipalKind {
    /// A login at the server, a user in a database.
    User,
    Role,
    /// An application role: whoever knows its password may become it (sp_setapprole).
    Application,
}

impl PrincipalKind {
    pub fn code(self) -> &'static str {
        match self {
            PrincipalKind::User => "S",
            PrincipalKind::Role => "R",
            PrincipalKind::Application => "A",
        }
    }
}

/// A login, a user, a role or an application role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub id: i32,
    pub name: Box<str>,
    pub kind: PrincipalKind,
    /// What ties a user to its login; `None` for a user without one.
    pub sid: Option<Box<[u8]>>,
    /// Of a role; of a user, itself.
    pub owner: i32,
    /// Of a login its default database, of a user and an application role its default schema.
    pub default: Option<Box<str>>,
    /// Cannot be dropped; a fixed role's permissions are part of it.
    pub fixed: bool,
    /// Of a login.
    pub login: Option<LoginFacts>,
    /// Of an application role.
    pub password: Option<PasswordHash>,
    /// UTC, ns since 1970; 0 for what was always there.
    pub created_unix_ns: u64,
    pub modified_unix_ns: u64,
}

/// How the sid of a user WITHOUT LOGIN begins, S-1-9-3: sixteen bytes that no login has follow.
pub const WITHOUT_LOGIN: [u8; 12] = [1, 5, 0, 0, 0, 0, 0, 9, 3, 0, 0, 0];

/// Is it the sid of a user that was made WITHOUT LOGIN?
pub fn is_sid_without_login(sid: &[u8]) -> bool {
    sid.len() == 28 && sid.starts_with(&WITHOUT_LOGIN)
}

/// What a login has that a user has not.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LoginFacts {
    /// `None`: nobody can sign in with it.
    pub password: Option<PasswordHash>,
    /// Made up at the first start and not set since.
    pub generated: bool,
    pub disabled: bool,
    pub check_policy: bool,
    pub check_expiration: bool,
    /// Nobody signs in but to change the password.
    pub must_change: bool,
    /// DEFAULT_LANGUAGE: its place among the languages; 0 is us_english.
    pub language: u8,
    /// When the password was set; 0: with the login.
    pub password_set_unix_ns: u64,
    /// Since when too many wrong passwords keep it locked; 0: it is not.
    pub locked_unix_ns: u64,
}

/// A schema of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaDef {
    pub id: i32,
    pub name: Box<str>,
    pub owner: i32,
}

/// Whether a permission was granted or denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantState {
    Grant,
    GrantWithGrantOption,
    Deny,
}

impl GrantState {
    /// `state` in sys.database_permissions.
    pub fn code(self) -> &'static str {
        match self {
            GrantState::Grant => "G",
            GrantState::GrantWithGrantOption => "W",
            GrantState::Deny => "D",
        }
    }
    /// `state_desc`.
    pub fn description(self) -> &'static str {
        match self {
            GrantState::Grant => "GRANT",
            GrantState::GrantWithGrantOption => "GRANT_WITH_GRANT_OPTION",
            GrantState::Deny => "DENY",
        }
    }
}

/// What was granted on what to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantKey {
    pub securable: Securable,
    pub grantee: i32,
    pub permission: Permission,
}

/// How, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantValue {
    pub state: GrantState,
    pub grantor: i32,
}

/// The principals of one scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    pub principals: BTreeMap<i32, Principal>,
    /// (role, member).
    pub members: BTreeSet<(i32, i32)>,
    pub grants: BTreeMap<GrantKey, GrantValue>,
    /// Of a database.
    pub schemas: BTreeMap<i32, SchemaDef>,
    /// Who owns an object, a type or a collection of XML schemas that is not its schema's owner's, by its id.
    pub owners: BTreeMap<i32, i32>,
    /// Counts changes.
    pub version: i64,
}

/// Fixed ids of the server.
pub mod server_role {
    pub const PUBLIC: i32 = 2;
    pub const SYSADMIN: i32 = 3;
    pub const SECURITYADMIN: i32 = 4;
    pub const SERVERADMIN: i32 = 5;
    pub const SETUPADMIN: i32 = 6;
    pub const PROCESSADMIN: i32 = 7;
    pub const DISKADMIN: i32 = 8;
    pub const DBCREATOR: i32 = 9;
    pub const BULKADMIN: i32 = 10;
    pub const SERVER_STATE_READER: i32 = 11;
    pub const SERVER_STATE_MANAGER: i32 = 12;
    pub const DEFINITION_READER: i32 = 13;
    pub const DATABASE_CONNECTOR: i32 = 14;
    pub const DATABASE_MANAGER: i32 = 15;
    pub const LOGIN_MANAGER: i32 = 16;
    pub const SECURITY_DEFINITION_READER: i32 = 17;
    pub const PERFORMANCE_DEFINITION_READER: i32 = 18;
    pub const SERVER_SECURITY_STATE_READER: i32 = 19;
    pub const SERVER_PERFORMANCE_STATE_READER: i32 = 20;
    /// First id of a login or role that somebody made.
    pub const FIRST: i32 = 257;

    pub(crate) const NAMES: [(i32, &str); 19] = [
        (PUBLIC, "public"),
        (SYSADMIN, "sysadmin"),
        (SECURITYADMIN, "securityadmin"),
        (SERVERADMIN, "serveradmin"),
        (SETUPADMIN, "setupadmin"),
        (PROCESSADMIN, "processadmin"),
        (DISKADMIN, "diskadmin"),
        (DBCREATOR, "dbcreator"),
        (BULKADMIN, "bulkadmin"),
        (SERVER_STATE_READER, "##MS_ServerStateReader##"),
        (SERVER_STATE_MANAGER, "##MS_ServerStateManager##"),
        (DEFINITION_READER, "##MS_DefinitionReader##"),
        (DATABASE_CONNECTOR, "##MS_DatabaseConnector##"),
        (DATABASE_MANAGER, "##MS_DatabaseManager##"),
        (LOGIN_MANAGER, "##MS_LoginManager##"),
        (SECURITY_DEFINITION_READER, "##MS_SecurityDefinitionReader##"),
        (PERFORMANCE_DEFINITION_READER, "##MS_PerformanceDefinitionReader##"),
        (SERVER_SECURITY_STATE_READER, "##MS_ServerSecurityStateReader##"),
        (SERVER_PERFORMANCE_STATE_READER, "##MS_ServerPerformanceStateReader##"),
    ];
}

/// Fixed ids of a database.
pub mod database_role {
    pub const PUBLIC: i32 = 0;
    pub const DBO: i32 = 1;
    pub const GUEST: i32 = 2;
    pub const INFORMATION_SCHEMA: i32 = 3;
    pub const SYS: i32 = 4;
    /// First id of a user or role that somebody made.
    pub const FIRST: i32 = 5;
    pub const OWNER: i32 = 16384;
    pub const ACCESSADMIN: i32 = 16385;
    pub const SECURITYADMIN: i32 = 16386;
    pub const DDLADMIN: i32 = 16387;
    pub const BACKUPOPERATOR: i32 = 16389;
    pub const DATAREADER: i32 = 16390;
    pub const DATAWRITER: i32 = 16391;
    pub const DENYDATAREADER: i32 = 16392;
    pub const DENYDATAWRITER: i32 = 16393;

    pub(crate) const NAMES: [(i32, &str); 10] = [
        (PUBLIC, "public"),
        (OWNER, "db_owner"),
        (ACCESSADMIN, "db_accessadmin"),
        (SECURITYADMIN, "db_securityadmin"),
        (DDLADMIN, "db_ddladmin"),
        (BACKUPOPERATOR, "db_backupoperator"),
        (DATAREADER, "db_datareader"),
        (DATAWRITER, "db_datawriter"),
        (DENYDATAREADER, "db_denydatareader"),
        (DENYDATAWRITER, "db_denydatawriter"),
    ];
}

/// Id of the schema `dbo`.
pub const SCHEMA_DBO: i32 = 1;

impl Directory {
    /// What a new server has: `sa` without a password, and the fixed roles.
    pub fn server() -> Directory {
        let mut new = Directory::default();
        let mut sa = Principal::fixed(SA_ID, "sa", PrincipalKind::User, SA_ID);
        sa.sid = Some(SA_SID.into());
        sa.default = Some("master".into());
        sa.login = Some(LoginFacts { check_policy: true, ..LoginFacts::default() });
        new.put(sa);
        for (id, name) in server_role::NAMES {
            let mut role = Principal::fixed(id, name, PrincipalKind::Role, SA_ID);
            role.sid = Some([id as u8].into());
            new.put(role);
        }
        new.members.insert((server_role::SYSADMIN, SA_ID));
        new.grant(Securable::Server, SA_ID, Permission::ConnectSql, GrantState::Grant, SA_ID);
        let public = server_role::PUBLIC;
        let any = Permission::ViewAnyDatabase;
        new.grant(Securable::Server, public, any, GrantState::Grant, SA_ID);
        new
    }

    /// What a new database has. Its owner is the login with this sid.
    pub fn database(owner_sid: &[u8]) -> Directory {
        use database_role::*;
        let mut new = Directory::default();
        for (id, name, schema) in [
            (DBO, "dbo", Some("dbo")),
            (GUEST, "guest", Some("guest")),
            (INFORMATION_SCHEMA, "INFORMATION_SCHEMA", None),
            (SYS, "sys", None),
        ] {
            let mut user = Principal::fixed(id, name, PrincipalKind::User, id);
            user.default = schema.map(Into::into);
            user.sid = match id {
                DBO => Some(owner_sid.into()),
                GUEST => Some([0].into()),
                _ => None,
            };
            new.put(user);
            new.schemas.insert(id, SchemaDef { id, name: name.into(), owner: id });
        }
        for (id, name) in NAMES {
            new.put(Principal::fixed(id, name, PrincipalKind::Role, DBO));
            if id != PUBLIC {
                new.schemas.insert(id, SchemaDef { id, name: name.into(), owner: id });
            }
        }
        new.members.insert((OWNER, DBO));
        new.grant(Securable::Database, DBO, Permission::Connect, GrantState::Grant, DBO);
        // Since SQL Server 2016, for who reads encrypted columns.
        for any in [
            Permission::ViewAnyColumnEncryptionKeyDefinition,
            Permission::ViewAnyColumnMasterKeyDefinition,
        ] {
            new.grant(Securable::Database, PUBLIC, any, GrantState::Grant, DBO);
        }
        new
    }

    pub fn put(&mut self, principal: Principal) {
        self.principals.insert(principal.id, principal);
    }

    /// By name, any case.
    pub fn find(&self, name: &str) -> Option<&Principal> {
        self.principals.values().find(|p| same_name(&p.name, name))
    }

    /// The user of a login.
    pub fn by_sid(&self, sid: &[u8]) -> Option<&Principal> {
        let users = self.principals.values().filter(|p| p.kind == PrincipalKind::User);
        users.into_iter().find(|p| p.sid.as_deref() == Some(sid))
    }

    /// A schema by name, any case.
    pub fn schema(&self, name: &str) -> Option<&SchemaDef> {
        self.schemas.values().find(|s| same_name(&s.name, name))
    }

    /// A principal's name; empty for an id that is not there.
    pub fn name(&self, id: i32) -> &str {
        self.principals.get(&id).map_or("", |p| &p.name)
    }

    pub(crate) fn grant(
        &mut self,
        securable: Securable,
        grantee: i32,
        permission: Permission,
        state: GrantState,
        grantor: i32,
    ) {
        let key = GrantKey { securable, grantee, permission };
        self.grants.insert(key, GrantValue { state, grantor });
    }

    /// The lowest id from `first` on that nobody has.
    pub fn free_id(&self, first: i32) -> i32 {
        (first..).find(|id| !self.principals.contains_key(id)).unwrap_or(first)
    }

    /// Takes a principal away, with its memberships and what was granted to it.
    pub fn remove(&mut self, id: i32) {
        self.principals.remove(&id);
        self.members.retain(|(role, member)| *role != id && *member != id);
        self.grants.retain(|key, _| key.grantee != id && key.securable != Securable::Principal(id));
    }

    /// A principal with all its roles, nested ones too, and `public`.
    pub fn token(&self, id: i32, public: i32) -> BTreeSet<i32> {
        let mut token = BTreeSet::from([id, public]);
        let mut open = vec![id];
        while let Some(member) = open.pop() {
            for (role, _) in self.members.iter().filter(|(_, m)| *m == member) {
                if token.insert(*role) {
                    open.push(*role);
                }
            }
        }
        token
    }
}

impl Principal {
    fn fixed(id: i32, name: &str, kind: PrincipalKind, owner: i32) -> Principal {
        Principal {
            id,
            name: name.into(),
            kind,
            sid: None,
            owner,
            default: None,
            fixed: true,
            login: None,
            password: None,
            created_unix_ns: 0,
            modified_unix_ns: 0,
        }
    }

    /// Of a login: when its password was set.
    pub fn password_set_unix_ns(&self) -> u64 {
        let set = self.login.as_ref().map_or(0, |login| login.password_set_unix_ns);
        if set == 0 { self.created_unix_ns } else { set }
    }

    /// A role that has members: not an application role.
    pub fn is_role(&self) -> bool {
        self.kind == PrincipalKind::Role
    }

    pub fn is_application_role(&self) -> bool {
        self.kind == PrincipalKind::Application
    }

    /// One that somebody makes now.
    pub fn new(id: i32, name: &str, kind: PrincipalKind, owner: i32) -> Principal {
        let now = runtime::clock::unix_ns();
        Principal {
            fixed: false,
            created_unix_ns: now,
            modified_unix_ns: now,
            ..Principal::fixed(id, name, kind, owner)
        }
    }
}

/// Whether two names are one, whatever their case.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
        || (!(a.is_ascii() && b.is_ascii()) && a.to_lowercase() == b.to_lowercase())
}
