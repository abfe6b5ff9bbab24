//! Users: who a login is in a database.

use super::{
    cannot, check_owns_nothing, check_principal_name, database_principal_exists, fixed,
    no_permission, now,
};
use crate::{Commands, RunsAs};
use executor::SqlError;
use security::{
    GrantKey, GrantState, GrantValue, Permission, Principal, PrincipalKind, Securable, Target,
    database_role,
};
use syntax::ast::{Ident, UserLogin, UserOptions};
use types::Value;

/// No database is a contained one: `number` for a password, 33236 for a language.
fn check_contained(options: &UserOptions, number: i32, text: &str) -> Result<(), SqlError> {
    if options.password {
        return Err(SqlError::new(number, 16, text));
    }
    if options.default_language {
        let text = "The default language parameter can only be provided for users in a contained database.";
        return Err(SqlError::new(33236, 16, text));
    }
    Ok(())
}

impl Commands<'_> {
    pub(super) fn create_user(
        &mut self,
        name: &Ident,
        login: &UserLogin,
        options: &UserOptions,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        if !self.allows(Permission::CreateUser, Target::Database) {
            return Err(no_permission());
        }
        check_contained(
            options,
            33233,
            "You can only create a user with a password in a contained database.",
        )?;
        if let UserLogin::Key(key) = login {
            return Err(super::no_voucher("USER", &name.value, key));
        }
        if options.sid.is_some() && *login != UserLogin::Without {
            let text = "When providing a sid, the user must be a user without login or a user with password.";
            return Err(SqlError::new(33242, 16, text));
        }
        check_principal_name(&name.value)?;
        let server = self.host.server_directory();
        let login_name = match login {
            UserLogin::Same => Some(&name.value),
            UserLogin::Login(login) => Some(&login.value),
            UserLogin::Without | UserLogin::Key(_) => None,
        };
        // A user without a login has a sid that no login will have.
        let mut sid = [0; 28];
        sid[..12].copy_from_slice(&security::WITHOUT_LOGIN);
        runtime::random::fill(&mut sid[12..]);
        let mut sid: Box<[u8]> = match &options.sid {
            Some(sid) => sid.as_slice().into(),
            None => sid.into(),
        };
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
        let schema = options.default_schema.as_ref().map_or("dbo", |schema| &schema.value);
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

    pub(super) fn alter_user(
        &mut self,
        name: &Ident,
        options: &UserOptions,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let UserOptions { new_name, default_schema, login, .. } = options;
        let refused = || cannot("alter the user", &name.value);
        let access = self.state.identity.access();
        // One's own default schema; another name or login is for who may alter any user.
        let own = access
            .database()
            .find(&name.value)
            .map(|p| p.id)
            .filter(|id| *id == access.user() && new_name.is_none() && login.is_none());
        let id = own.or_else(|| self.user_to_change(&name.value, true)).ok_or_else(refused)?;
        if id < database_role::FIRST {
            return Err(fixed("alter the user", &name.value));
        }
        check_contained(
            options,
            33234,
            "The parameter PASSWORD cannot be provided for users that cannot authenticate in a database.",
        )?;
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
    pub(super) fn user_to_change(&self, name: &str, user: bool) -> Option<i32> {
        let directory = self.state.identity.access().database();
        let kind = if user { PrincipalKind::User } else { PrincipalKind::Role };
        let found = directory.find(name).filter(|p| p.kind == kind)?;
        self.allows(Permission::Alter, Target::Principal(found.id)).then_some(found.id)
    }

    pub(super) fn drop_user(
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
        self.check_runs_nothing(&name.value)?;
        let database = self.state.database.clone();
        self.change_database(frame, |directory| {
            check_owns_nothing(directory, id, &database.catalog)?;
            directory.remove(id);
            Ok(())
        })
    }

    /// 15136 while a module of the database runs as that user.
    fn check_runs_nothing(&self, user: &str) -> Result<(), SqlError> {
        let runs = |module: &catalog::ProcedureDef| {
            let options =
                semantics::kept::options_with(&module.text, module.quoted_identifier, "EXEC");
            matches!(RunsAs::of(&options), Some(RunsAs::User(name)) if catalog::same_name(&name, user))
        };
        let database = &self.state.database;
        let all = database.catalog.objects_in(self.state.transaction.scope());
        let of = |object: &catalog::ObjectRef| match object {
            catalog::ObjectRef::Procedure(module) => runs(module),
            catalog::ObjectRef::Table(_) => false,
        };
        if all.iter().any(of) {
            let text = "The database principal is set as the execution context of one or more procedures, functions, or \
                        event notifications and cannot be dropped.";
            return Err(SqlError::new(15136, 16, text));
        }
        Ok(())
    }
}
