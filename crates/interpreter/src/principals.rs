//! CREATE, ALTER and DROP of logins, users, roles and schemas.
//!
//! The server's principals change in a transaction of their own, so these statements are refused (574) inside a user's
//! transaction; those of a database change in the session's transaction. Who may do what is asked before anything is
//! looked up, so that nobody learns names he may not know.

use crate::exec::Argument;
use crate::permission::{database_denied, object_target};
use crate::vm::Vm;
use catalog::Directory;
use executor::SqlError;
use security::{
    GrantKey, GrantState, GrantValue, LoginFacts, Password, PasswordHash, Permission, Principal,
    PrincipalKind, SA_ID, SchemaDef, Securable, Target, database_role, server_role,
};
use syntax::ast::{
    AlterRoleAction, Ident, LoginOptions, Secret, SecurityStatement as S, Span, UserLogin,
};
use types::Value;

/// 15151: `what` is "alter the login", "drop the user" ...
pub(crate) fn cannot(what: &str, name: &str) -> SqlError {
    SqlError::new(
        15151,
        16,
        format!("Cannot {what} '{name}', because it does not exist or you do not have permission."),
    )
}

/// 15150.
fn fixed(what: &str, name: &str) -> SqlError {
    SqlError::new(15150, 16, format!("Cannot {what} '{name}'."))
}

/// 15405.
fn special(name: &str) -> SqlError {
    SqlError::new(15405, 11, format!("Cannot use the special principal '{name}'."))
}

fn no_permission() -> SqlError {
    SqlError::new(15247, 16, "User does not have permission to perform this action.")
}

fn unknown(kind: &str, name: &str) -> SqlError {
    cannot(&format!("find the {kind}"), name)
}

fn now() -> u64 {
    runtime::clock::unix_ns()
}

impl Vm<'_> {
    /// Runs a statement about principals, schemas or permissions.
    pub fn security(&mut self, statement: &S, frame: &mut [Value]) -> Result<(), SqlError> {
        let state = &mut *self.state;
        state.refresh_identity(&*self.host);
        match statement {
            S::CreateLogin { name, options } => self.create_login(name, options),
            S::AlterLogin { name, enable, options } => self.alter_login(name, *enable, options),
            S::DropLogin { name, if_exists } => self.drop_login(name, *if_exists),
            S::CreateUser { name, login, default_schema } => {
                self.create_user(name, login, default_schema.as_ref(), frame)
            }
            S::AlterUser { name, new_name, default_schema, login } => {
                self.alter_user(name, [new_name, default_schema, login], frame)
            }
            S::DropUser { name, if_exists } => self.drop_user(name, *if_exists, frame),
            S::CreateRole { server, name, owner } => {
                self.create_role(*server, name, owner.as_ref(), frame)
            }
            S::AlterRole { server: true, name, action } => self.alter_server_role(name, action),
            S::AlterRole { server: false, name, action } => self.alter_role(name, action, frame),
            S::DropRole { server, name, if_exists } => {
                self.drop_role(*server, name, *if_exists, frame)
            }
            S::CreateSchema { name, owner } => self.create_schema(name, owner.as_ref(), frame),
            S::DropSchema { name, if_exists } => self.drop_schema(name, *if_exists, frame),
            S::AlterAuthorization { on, to } => self.alter_authorization(on, to.as_ref(), frame),
            S::Grant(grant) => self.grant(grant, frame),
        }?;
        // What was changed counts for the rest of this batch too.
        self.state.refresh_identity(&*self.host);
        Ok(())
    }

    /// The procedures of before SQL Server 2005, as the statements that replaced them.
    pub fn principal_procedure(
        &mut self,
        procedure: &str,
        args: &[Argument],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let given = |at: usize, names: &[&str]| -> Option<&str> {
            let named = args.iter().find(|arg| {
                let name = arg.name.as_deref().unwrap_or("");
                names.iter().any(|known| name.trim_start_matches('@').eq_ignore_ascii_case(known))
            });
            let placed = args.get(at).filter(|arg| arg.name.is_none());
            named.or(placed)?.value.as_ref()?.as_str()
        };
        let needed = |at: usize, names: &[&str]| {
            given(at, names).map(ident).ok_or_else(|| {
                SqlError::new(
                    201,
                    16,
                    format!(
                        "Procedure or function '{procedure}' expects parameter '@{}', which was not supplied.",
                        names[0]
                    ),
                )
                .with_state(4)
            })
        };
        let statement = match procedure {
            "sp_addrolemember" => S::AlterRole {
                server: false,
                name: needed(0, &["rolename"])?,
                action: AlterRoleAction::Add(needed(1, &["membername"])?),
            },
            "sp_droprolemember" => S::AlterRole {
                server: false,
                name: needed(0, &["rolename"])?,
                action: AlterRoleAction::Drop(needed(1, &["membername"])?),
            },
            "sp_addsrvrolemember" => S::AlterRole {
                server: true,
                name: needed(1, &["rolename"])?,
                action: AlterRoleAction::Add(needed(0, &["loginame"])?),
            },
            "sp_dropsrvrolemember" => S::AlterRole {
                server: true,
                name: needed(1, &["rolename"])?,
                action: AlterRoleAction::Drop(needed(0, &["loginame"])?),
            },
            "sp_addlogin" => S::CreateLogin {
                name: needed(0, &["loginame"])?,
                options: LoginOptions {
                    password: Some(Secret(given(1, &["passwd"]).unwrap_or("").to_owned().into())),
                    default_database: given(2, &["defdb"]).map(ident),
                    ..LoginOptions::default()
                },
            },
            "sp_droplogin" => S::DropLogin { name: needed(0, &["loginame"])?, if_exists: false },
            "sp_grantdbaccess" | "sp_adduser" => {
                let login = needed(0, &["loginame"])?;
                let name = given(1, &["name_in_db"]).map_or_else(|| login.clone(), ident);
                S::CreateUser { name, login: UserLogin::Login(login), default_schema: None }
            }
            "sp_revokedbaccess" | "sp_dropuser" => {
                S::DropUser { name: needed(0, &["name_in_db"])?, if_exists: false }
            }
            "sp_addrole" => S::CreateRole {
                server: false,
                name: needed(0, &["rolename"])?,
                owner: given(1, &["ownername"]).map(ident),
            },
            "sp_droprole" => {
                S::DropRole { server: false, name: needed(0, &["rolename"])?, if_exists: false }
            }
            _ => {
                let login = needed(0, &["loginame"])?;
                self.state.refresh_identity(&*self.host);
                if !self.allows(Permission::TakeOwnership, Target::Database) {
                    return Err(no_permission());
                }
                self.change_owner(&login.value, frame)?;
                self.state.refresh_identity(&*self.host);
                return Ok(());
            }
        };
        self.security(&statement, frame)
    }

    /// Changes the server's directory.
    pub(crate) fn change_server(
        &mut self,
        mut change: impl FnMut(&mut Directory) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        if self.state.trancount() > 0 {
            return Err(SqlError::new(
                574,
                16,
                "A statement that changes principals or permissions of the server cannot be used inside a user \
                 transaction.",
            ));
        }
        self.host.change_server(&mut change)
    }

    /// Changes the database's directory in the session's transaction.
    pub(crate) fn change_database(
        &mut self,
        frame: &mut [Value],
        change: impl FnOnce(&mut Directory) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        self.in_catalog(frame, |catalog, txn, scope| {
            catalog.change_directory(txn, scope, change).map(drop)
        })
    }

    fn allows(&self, permission: Permission, target: Target) -> bool {
        self.state.identity.access().allows(permission, target)
    }

    // ---- Logins

    /// The hash that the options ask for, after the policy. 15116 to 15118, 15021.
    fn login_hash(
        &mut self,
        login: &str,
        options: &LoginOptions,
        policy: bool,
    ) -> Result<Option<PasswordHash>, SqlError> {
        if let Some(bytes) = &options.hash {
            return PasswordHash::parse(bytes).map(Some).map_err(|_| {
                SqlError::new(
                    15021,
                    16,
                    "Invalid value given for parameter PASSWORD. Specify a valid parameter value.",
                )
            });
        }
        let Some(secret) = &options.password else { return Ok(None) };
        let password = password(secret);
        if policy {
            password
                .check_policy(login)
                .map_err(|error| SqlError::new(error.number(), 16, error.to_string()))?;
        }
        self.host.hash_password(&password).map(Some)
    }

    /// 15010.
    fn check_default_database(&mut self, options: &LoginOptions) -> Result<(), SqlError> {
        match &options.default_database {
            Some(name) if self.host.database(&name.value).is_none() => Err(SqlError::new(
                15010,
                16,
                format!(
                    "The database '{}' does not exist. Supply a valid database name. To see available databases, use \
                     sys.databases.",
                    name.value
                ),
            )),
            _ => Ok(()),
        }
    }

    fn create_login(&mut self, name: &Ident, options: &LoginOptions) -> Result<(), SqlError> {
        self.check_server(Permission::AlterAnyLogin)?;
        check_principal_name(&name.value)?;
        let policy = options.check_policy.unwrap_or(true);
        let expiration = options.check_expiration.unwrap_or(false);
        check_expiration(policy, expiration)?;
        if self.host.server_directory().find(&name.value).is_some() {
            return Err(server_principal_exists(&name.value));
        }
        self.check_default_database(options)?;
        let Some(hash) = self.login_hash(&name.value, options, policy)? else {
            return Err(SqlError::new(102, 15, "Incorrect syntax near 'WITH'.".to_owned()));
        };
        let sid = match &options.sid {
            Some(sid) if sid.len() == 16 => sid.clone(),
            Some(_) => {
                return Err(SqlError::new(
                    15419,
                    16,
                    "Supplied parameter sid should be binary(16).",
                ));
            }
            None => {
                let mut sid = [0; 16];
                runtime::random::fill(&mut sid);
                sid.to_vec()
            }
        };
        let database = options.default_database.as_ref().map_or("master", |d| &d.value).to_owned();
        self.change_server(|directory| {
            if directory.find(&name.value).is_some() {
                return Err(server_principal_exists(&name.value));
            }
            if directory.by_sid(&sid).is_some() {
                return Err(SqlError::new(15433, 16, "Supplied parameter sid is in use."));
            }
            let id = directory.free_id(server_role::FIRST);
            let mut login = Principal::new(id, &name.value, PrincipalKind::User, id);
            login.sid = Some(sid.clone().into());
            login.default = Some(database.as_str().into());
            login.login = Some(LoginFacts {
                password: Some(hash.clone()),
                check_policy: policy,
                check_expiration: expiration,
                ..LoginFacts::default()
            });
            directory.put(login);
            let key = GrantKey {
                securable: Securable::Server,
                grantee: id,
                permission: Permission::ConnectSql,
            };
            directory.grants.insert(key, GrantValue { state: GrantState::Grant, grantor: SA_ID });
            Ok(())
        })
    }

    fn alter_login(
        &mut self,
        name: &Ident,
        enable: Option<bool>,
        options: &LoginOptions,
    ) -> Result<(), SqlError> {
        let refused = || cannot("alter the login", &name.value);
        let directory = self.host.server_directory();
        let found =
            directory.find(&name.value).filter(|p| p.login.is_some()).ok_or_else(refused)?;
        let facts = found.login.clone().unwrap_or_default();
        let access = self.state.identity.access().clone();
        let of_sysadmin =
            directory.token(found.id, server_role::PUBLIC).contains(&server_role::SYSADMIN);
        let may = match of_sysadmin {
            true => access.allows(Permission::ControlServer, Target::Server),
            false => access.allows(Permission::Alter, Target::Login(found.id)),
        };
        if !may {
            // One's own password, by one who knows the old one.
            let own = access.login() == Some(found.id);
            let only_password = enable.is_none()
                && options.new_name.is_none()
                && options.default_database.is_none()
                && options.check_policy.is_none()
                && options.check_expiration.is_none()
                && options.hash.is_none()
                && options.password.is_some();
            let (true, true, Some(old)) = (own, only_password, &options.old_password) else {
                return Err(refused());
            };
            let known = match &facts.password {
                Some(hash) => self.host.password_matches(hash, &password(old))?,
                None => false,
            };
            if !known {
                return Err(refused());
            }
        }
        let policy = options.check_policy.unwrap_or(facts.check_policy);
        let expiration = options.check_expiration.unwrap_or(facts.check_expiration && policy);
        check_expiration(policy, expiration)?;
        self.check_default_database(options)?;
        let hash = self.login_hash(&name.value, options, policy)?;
        let id = found.id;
        if let Some(new) = &options.new_name {
            check_principal_name(&new.value)?;
        }
        self.change_server(|directory| {
            if let Some(new) = &options.new_name
                && directory.find(&new.value).is_some_and(|other| other.id != id)
            {
                return Err(server_principal_exists(&new.value));
            }
            let login = directory.principals.get_mut(&id).ok_or_else(refused)?;
            if let Some(new) = &options.new_name {
                login.name = new.value.as_str().into();
            }
            if let Some(database) = &options.default_database {
                login.default = Some(database.value.as_str().into());
            }
            login.modified_unix_ns = now();
            let facts = login.login.get_or_insert_default();
            if let Some(enable) = enable {
                facts.disabled = !enable;
            }
            if let Some(hash) = &hash {
                facts.password = Some(hash.clone());
                facts.generated = false;
            }
            facts.check_policy = policy;
            facts.check_expiration = expiration;
            Ok(())
        })
    }

    fn drop_login(&mut self, name: &Ident, if_exists: bool) -> Result<(), SqlError> {
        let refused = || cannot("drop the login", &name.value);
        let directory = self.host.server_directory();
        let found = directory.find(&name.value).filter(|p| p.login.is_some());
        let Some(found) = found else {
            return if if_exists { Ok(()) } else { Err(refused()) };
        };
        if !self.allows(Permission::Alter, Target::Login(found.id)) {
            return Err(refused());
        }
        if found.id == SA_ID {
            return Err(special(&found.name));
        }
        if self.host.is_logged_in(&found.name) {
            return Err(SqlError::new(
                15434,
                16,
                format!(
                    "Could not drop login '{}' as the user is currently logged in.",
                    found.name
                ),
            ));
        }
        for (_, database) in self.host.databases() {
            let Some(open) = self.host.database(&database) else { continue };
            let directory = open.catalog.directory(None);
            let dbo = directory.principals.get(&database_role::DBO);
            if dbo.is_some_and(|dbo| dbo.sid == found.sid) {
                return Err(SqlError::new(
                    15174,
                    16,
                    format!(
                        "Login '{}' owns one or more database(s). Change the owner of the database(s) before dropping \
                         the login.",
                        found.name
                    ),
                ));
            }
        }
        let id = found.id;
        self.change_server(|directory| {
            directory.remove(id);
            Ok(())
        })
    }

    // ---- Users

    fn create_user(
        &mut self,
        name: &Ident,
        login: &UserLogin,
        default_schema: Option<&Ident>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        if !self.allows(Permission::AlterAnyUser, Target::Database) {
            return Err(no_permission());
        }
        check_principal_name(&name.value)?;
        let server = self.host.server_directory();
        let login_name = match login {
            UserLogin::Same => Some(&name.value),
            UserLogin::Login(login) => Some(&login.value),
            UserLogin::Without => None,
        };
        // A user without a login has a sid that no login will have.
        let mut sid = [0; 16];
        runtime::random::fill(&mut sid);
        let mut sid: Box<[u8]> = sid.into();
        if let Some(login_name) = login_name {
            let found = server.find(login_name).filter(|p| p.login.is_some());
            sid = found.and_then(|login| login.sid.clone()).ok_or_else(|| {
                SqlError::new(
                    15007,
                    16,
                    format!("'{login_name}' is not a valid login or you do not have permission."),
                )
            })?;
        }
        let schema = default_schema.map_or("dbo", |schema| &schema.value);
        self.change_database(frame, |directory| {
            if directory.find(&name.value).is_some() {
                return Err(database_principal_exists(&name.value));
            }
            if directory.by_sid(&sid).is_some() {
                return Err(SqlError::new(
                    15063,
                    16,
                    "The login already has an account under a different user name.",
                ));
            }
            let id = directory.free_id(database_role::FIRST);
            let mut user = Principal::new(id, &name.value, PrincipalKind::User, id);
            user.sid = Some(sid);
            user.default = Some(schema.into());
            directory.put(user);
            let key = GrantKey {
                securable: Securable::Database,
                grantee: id,
                permission: Permission::Connect,
            };
            let value = GrantValue { state: GrantState::Grant, grantor: database_role::DBO };
            directory.grants.insert(key, value);
            Ok(())
        })
    }

    fn alter_user(
        &mut self,
        name: &Ident,
        [new_name, default_schema, login]: [&Option<Ident>; 3],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let refused = || cannot("alter the user", &name.value);
        let id = self.user_to_change(&name.value, true).ok_or_else(refused)?;
        if id < database_role::FIRST {
            return Err(fixed("alter the user", &name.value));
        }
        let sid = match login {
            None => None,
            Some(login) => {
                let server = self.host.server_directory();
                let found = server.find(&login.value).filter(|p| p.login.is_some());
                Some(found.and_then(|p| p.sid.clone()).ok_or_else(|| {
                    SqlError::new(
                        15007,
                        16,
                        format!(
                            "'{}' is not a valid login or you do not have permission.",
                            login.value
                        ),
                    )
                })?)
            }
        };
        self.change_database(frame, |directory| {
            if let Some(new) = new_name
                && directory.find(&new.value).is_some_and(|other| other.id != id)
            {
                return Err(database_principal_exists(&new.value));
            }
            let user = directory.principals.get_mut(&id).ok_or_else(refused)?;
            if let Some(new) = new_name {
                check_principal_name(&new.value)?;
                user.name = new.value.as_str().into();
            }
            if let Some(schema) = default_schema {
                user.default = Some(schema.value.as_str().into());
            }
            if sid.is_some() {
                user.sid = sid;
            }
            user.modified_unix_ns = now();
            Ok(())
        })
    }

    /// A user or role by name that the session may alter.
    fn user_to_change(&self, name: &str, user: bool) -> Option<i32> {
        let directory = self.state.identity.access().database();
        let found = directory.find(name).filter(|p| p.is_role() != user)?;
        self.allows(Permission::Alter, Target::Principal(found.id)).then_some(found.id)
    }

    fn drop_user(
        &mut self,
        name: &Ident,
        if_exists: bool,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let directory = self.state.identity.access().database().clone();
        if if_exists && directory.find(&name.value).is_none() {
            return Ok(());
        }
        let refused = || cannot("drop the user", &name.value);
        let id = self.user_to_change(&name.value, true).ok_or_else(refused)?;
        if id < database_role::FIRST {
            return Err(fixed("drop the user", &name.value));
        }
        self.change_database(frame, |directory| {
            check_owns_nothing(directory, id)?;
            directory.remove(id);
            Ok(())
        })
    }

    // ---- Roles

    fn create_role(
        &mut self,
        server: bool,
        name: &Ident,
        owner: Option<&Ident>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        check_principal_name(&name.value)?;
        let access = self.state.identity.access().clone();
        let owner_id = |directory: &Directory, default: i32| match owner {
            None => Ok(default),
            Some(owner) => {
                let found = directory.find(&owner.value);
                found.map(|p| p.id).ok_or_else(|| unknown("principal", &owner.value))
            }
        };
        if server {
            self.check_server(Permission::AlterAnyServerRole)?;
            let creator = access.login().unwrap_or(SA_ID);
            return self.change_server(|directory| {
                if directory.find(&name.value).is_some() {
                    return Err(server_principal_exists(&name.value));
                }
                let owner = owner_id(directory, creator)?;
                let id = directory.free_id(server_role::FIRST);
                directory.put(Principal::new(id, &name.value, PrincipalKind::Role, owner));
                Ok(())
            });
        }
        self.check_database(Permission::CreateRole)?;
        let creator = access.user();
        self.change_database(frame, |directory| {
            if directory.find(&name.value).is_some() {
                return Err(database_principal_exists(&name.value));
            }
            let owner = owner_id(directory, creator)?;
            let id = directory.free_id(database_role::FIRST);
            directory.put(Principal::new(id, &name.value, PrincipalKind::Role, owner));
            Ok(())
        })
    }

    fn alter_server_role(
        &mut self,
        name: &Ident,
        action: &AlterRoleAction,
    ) -> Result<(), SqlError> {
        let refused = || cannot("alter the server role", &name.value);
        let access = self.state.identity.access().clone();
        let server = self.host.server_directory();
        let role = server.find(&name.value).filter(|p| p.is_role()).ok_or_else(refused)?.clone();
        let may = access.allows(Permission::ControlServer, Target::Server)
            || (role.id != server_role::SYSADMIN
                && role.fixed
                && access.login_token().contains(&role.id))
            || (!role.fixed
                && (access.owns(Target::Login(role.id))
                    || access.allows(Permission::AlterAnyServerRole, Target::Server)));
        if !may {
            return Err(refused());
        }
        self.change_server(|directory| {
            change_role(directory, &role, action, "login", server_principal_exists)
        })
    }

    fn alter_role(
        &mut self,
        name: &Ident,
        action: &AlterRoleAction,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let refused = || cannot("alter the role", &name.value);
        let access = self.state.identity.access().clone();
        let found = access.database().find(&name.value).filter(|p| p.is_role());
        let role = found.ok_or_else(refused)?.clone();
        // A fixed role is the owner's to give away.
        let may = match role.fixed {
            true => access.allows(Permission::Control, Target::Database),
            false => access.allows(Permission::Alter, Target::Principal(role.id)),
        };
        if !may {
            return Err(refused());
        }
        self.change_database(frame, |directory| {
            change_role(directory, &role, action, "user", database_principal_exists)
        })
    }

    fn drop_role(
        &mut self,
        server: bool,
        name: &Ident,
        if_exists: bool,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let (what, access) = (
            if server { "drop the server role" } else { "drop the role" },
            self.state.identity.access().clone(),
        );
        let directory = if server { access.server() } else { access.database() };
        let found = directory.find(&name.value).filter(|p| p.is_role()).cloned();
        let Some(role) = found else {
            return if if_exists { Ok(()) } else { Err(cannot(what, &name.value)) };
        };
        let may = match server {
            true => {
                access.owns(Target::Login(role.id))
                    || access.allows(Permission::AlterAnyServerRole, Target::Server)
            }
            false => access.allows(Permission::Alter, Target::Principal(role.id)),
        };
        if !may {
            return Err(cannot(what, &name.value));
        }
        if role.fixed {
            return Err(fixed(what, &role.name));
        }
        let drop = |directory: &mut Directory| {
            if directory.members.iter().any(|(of, _)| *of == role.id) {
                return Err(SqlError::new(
                    15144,
                    16,
                    "The role has members. It must be empty before it can be dropped.",
                ));
            }
            check_owns_nothing(directory, role.id)?;
            directory.remove(role.id);
            Ok(())
        };
        if server { self.change_server(drop) } else { self.change_database(frame, drop) }
    }

    // ---- Schemas

    fn create_schema(
        &mut self,
        name: &Ident,
        owner: Option<&Ident>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let access = self.state.identity.access().clone();
        if !access.allows(Permission::CreateSchema, Target::Database) {
            return Err(database_denied("CREATE SCHEMA", &self.state.database.name));
        }
        check_principal_name(&name.value)?;
        self.change_database(frame, |directory| {
            if directory.schema(&name.value).is_some() {
                return Err(SqlError::new(
                    2714,
                    16,
                    format!("There is already an object named '{}' in the database.", name.value),
                )
                .with_state(6));
            }
            let owner = match owner {
                None => access.user(),
                Some(owner) => {
                    let found = directory.find(&owner.value).map(|p| p.id);
                    let own = |id: i32| access.user_token().contains(&id);
                    found
                        .filter(|id| {
                            own(*id)
                                || access.allows(Permission::Impersonate, Target::Principal(*id))
                        })
                        .ok_or_else(|| unknown("user", &owner.value))?
                }
            };
            let taken = |id: &i32| directory.schemas.contains_key(id);
            let id = (database_role::FIRST..).find(|id| !taken(id)).unwrap_or_default();
            let name = name.value.as_str().into();
            directory.schemas.insert(id, SchemaDef { id, name, owner });
            Ok(())
        })
    }

    fn drop_schema(
        &mut self,
        name: &Ident,
        if_exists: bool,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let access = self.state.identity.access().clone();
        let found = access.database().schema(&name.value).cloned();
        let Some(schema) = found else {
            return match if_exists {
                true => Ok(()),
                false => Err(cannot("drop the schema", &name.value)),
            };
        };
        if !access.allows(Permission::Control, Target::Schema(schema.id)) {
            return Err(cannot("drop the schema", &name.value));
        }
        if schema.id < database_role::FIRST {
            return Err(fixed("drop the schema", &schema.name));
        }
        let all = self.state.database.catalog.objects_in(self.state.definitions());
        let inside = all.iter().find(|object| match object_target(&access, object) {
            Target::Object { schema: id, .. } => id == schema.id,
            _ => false,
        });
        if let Some(inside) = inside {
            let object = match inside {
                catalog::ObjectRef::Table(t) => &t.name,
                catalog::ObjectRef::Procedure(p) => &p.name,
            };
            return Err(SqlError::new(
                3729,
                16,
                format!(
                    "Cannot drop schema '{}' because it is being referenced by object '{object}'.",
                    schema.name
                ),
            ));
        }
        self.change_database(frame, |directory| {
            directory.schemas.remove(&schema.id);
            directory.grants.retain(|key, _| key.securable != Securable::Schema(schema.id));
            Ok(())
        })
    }
}

/// ADD MEMBER, DROP MEMBER, WITH NAME.
fn change_role(
    directory: &mut Directory,
    role: &Principal,
    action: &AlterRoleAction,
    kind: &str,
    exists: impl Fn(&str) -> SqlError,
) -> Result<(), SqlError> {
    if same(&role.name, "public") {
        return Err(SqlError::new(15081, 16, "Membership of the public role cannot be changed."));
    }
    match action {
        AlterRoleAction::Add(member) | AlterRoleAction::Drop(member) => {
            let add = matches!(action, AlterRoleAction::Add(_));
            let verb = if add { "add" } else { "drop" };
            let found = directory.find(&member.value).cloned();
            let found =
                found.ok_or_else(|| cannot(&format!("{verb} the principal"), &member.value))?;
            let untouchable = match kind {
                "login" => found.id == SA_ID || found.id == server_role::PUBLIC,
                _ => found.id < database_role::FIRST && found.id != database_role::GUEST,
            };
            if untouchable || (found.fixed && found.is_role()) {
                return Err(special(&found.name));
            }
            if !add {
                directory.members.remove(&(role.id, found.id));
                return Ok(());
            }
            let inside = directory.token(role.id, role.id);
            if inside.contains(&found.id) {
                return Err(SqlError::new(15413, 11, "Cannot make a role a member of itself."));
            }
            directory.members.insert((role.id, found.id));
            Ok(())
        }
        AlterRoleAction::Rename(new) => {
            if role.fixed {
                return Err(fixed("alter the role", &role.name));
            }
            if directory.find(&new.value).is_some_and(|other| other.id != role.id) {
                return Err(exists(&new.value));
            }
            check_principal_name(&new.value)?;
            if let Some(role) = directory.principals.get_mut(&role.id) {
                role.name = new.value.as_str().into();
                role.modified_unix_ns = now();
            }
            Ok(())
        }
    }
}

/// A name that came as a value.
fn ident(name: &str) -> Ident {
    Ident { value: name.to_owned(), quoted: true, span: Span::default() }
}

fn same(a: &str, b: &str) -> bool {
    catalog::same_name(a, b)
}

fn password(secret: &Secret) -> Password {
    Password::new(secret.0.to_string())
}

/// 15122.
fn check_expiration(policy: bool, expiration: bool) -> Result<(), SqlError> {
    if expiration && !policy {
        return Err(SqlError::new(
            15122,
            16,
            "The CHECK_EXPIRATION option cannot be used when CHECK_POLICY is OFF.",
        ));
    }
    Ok(())
}

/// 15006, 103.
fn check_principal_name(name: &str) -> Result<(), SqlError> {
    if name.is_empty() || name.contains('\\') || name.contains('\0') {
        return Err(SqlError::new(
            15006,
            16,
            format!("'{name}' is not a valid name because it contains invalid characters."),
        ));
    }
    if name.encode_utf16().count() > 128 {
        let start: String = name.chars().take(128).collect();
        return Err(SqlError::new(
            103,
            15,
            format!(
                "The identifier that starts with '{start}' is too long. Maximum length is 128."
            ),
        ));
    }
    Ok(())
}

/// 15025.
fn server_principal_exists(name: &str) -> SqlError {
    SqlError::new(15025, 16, format!("The server principal '{name}' already exists."))
}

/// 15023.
fn database_principal_exists(name: &str) -> SqlError {
    SqlError::new(
        15023,
        16,
        format!("User, group, or role '{name}' already exists in the current database."),
    )
}

/// 15138, 15421.
fn check_owns_nothing(directory: &Directory, id: i32) -> Result<(), SqlError> {
    if directory.schemas.values().any(|schema| schema.owner == id) {
        return Err(SqlError::new(
            15138,
            16,
            "The database principal owns a schema in the database, and cannot be dropped.",
        ));
    }
    if directory.principals.values().any(|p| p.is_role() && p.owner == id && p.id != id) {
        return Err(SqlError::new(
            15421,
            16,
            "The database principal owns a database role and cannot be dropped.",
        ));
    }
    Ok(())
}
