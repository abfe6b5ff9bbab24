//! Application roles: whoever knows the password may become one, and is then nobody else.
//!
//! Invariants: a password is hashed before the directory is changed, and its text is kept nowhere; a role is taken at the
//! outermost level only, outside a transaction, and left only with the cookie that it was taken with.
//! Source: SQL documentation, "Application Roles", "sp_setapprole (Transact-SQL)".

use super::{
    cannot, check_owns_nothing, check_principal_name, database_principal_exists, no_permission, now,
};
use crate::Commands;
use crate::procedures::{Argument, arguments};
use crate::statement::Site;
use executor::SqlError;
use security::{
    Password, PasswordHash, Permission, Principal, PrincipalKind, Target, database_role,
};
use syntax::ast::{ApplicationRoleOptions, Ident};
use types::{Bytes, Len, SqlType, Value, convert};

/// Bytes of a cookie; SQL Server's are 50 as well.
const COOKIE_BYTES: usize = 50;

impl Commands<'_> {
    /// 15116 to 15118 where the policy is asked.
    fn application_role_hash(
        &mut self,
        role: &str,
        secret: &str,
        policy: bool,
    ) -> Result<PasswordHash, SqlError> {
        let password = Password::new(secret.to_owned());
        if policy {
            password
                .check_policy(role)
                .map_err(|error| SqlError::new(error.number(), 16, error.to_string()))?;
        }
        self.host.hash_password(&password)
    }

    pub(super) fn create_application_role(
        &mut self,
        name: &Ident,
        options: &ApplicationRoleOptions,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        if !self.allows(Permission::AlterAnyApplicationRole, Target::Database) {
            return Err(no_permission());
        }
        check_principal_name(&name.value)?;
        let secret = options.password.as_ref().map_or("", |secret| secret.0.as_str());
        let hash = self.application_role_hash(&name.value, secret, options.policy)?;
        let mut sid = [0; 16];
        runtime::random::fill(&mut sid);
        let schema = options.default_schema.as_ref().map_or("dbo", |schema| &schema.value);
        self.change_database(frame, |directory| {
            if directory.find(&name.value).is_some() {
                return Err(database_principal_exists(&name.value));
            }
            let id = directory.free_id(database_role::FIRST);
            let mut role = Principal::new(id, &name.value, PrincipalKind::Application, id);
            role.sid = Some(sid.into());
            role.default = Some(schema.into());
            role.password = Some(hash);
            directory.put(role);
            Ok(())
        })
    }

    pub(super) fn alter_application_role(
        &mut self,
        name: &Ident,
        options: &ApplicationRoleOptions,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let refused = || cannot("alter the application role", &name.value);
        let id = self.application_role_to_change(&name.value).ok_or_else(refused)?;
        let ApplicationRoleOptions { new_name, password, default_schema, policy } = options;
        if let Some(new) = new_name {
            check_principal_name(&new.value)?;
        }
        let named = new_name.as_ref().unwrap_or(name);
        let hash = match password {
            Some(secret) => {
                Some(self.application_role_hash(&named.value, secret.0.as_str(), *policy)?)
            }
            None => None,
        };
        self.change_database(frame, |directory| {
            if let Some(new) = new_name
                && directory.find(&new.value).is_some_and(|other| other.id != id)
            {
                return Err(database_principal_exists(&new.value));
            }
            let role = directory.principals.get_mut(&id).ok_or_else(refused)?;
            if let Some(new) = new_name {
                role.name = new.value.as_str().into();
            }
            if let Some(schema) = default_schema {
                role.default = Some(schema.value.as_str().into());
            }
            if hash.is_some() {
                role.password = hash;
            }
            role.modified_unix_ns = now();
            Ok(())
        })
    }

    pub(super) fn drop_application_role(
        &mut self,
        name: &Ident,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let refused = || cannot("drop the application role", &name.value);
        let id = self.application_role_to_change(&name.value).ok_or_else(refused)?;
        let database = self.state.database.clone();
        self.change_database(frame, |directory| {
            check_owns_nothing(directory, id, &database.catalog)?;
            directory.remove(id);
            Ok(())
        })
    }

    fn application_role_to_change(&self, name: &str) -> Option<i32> {
        let directory = self.state.identity.access().database();
        let found = directory.find(name).filter(|p| p.is_application_role())?;
        self.allows(Permission::Alter, Target::Principal(found.id)).then_some(found.id)
    }

    /// sp_setapprole @rolename, @password [, @encrypt [, @fCreateCookie [, @cookie OUTPUT]]]: 201, 2762, 15002, 15161,
    /// 15422.
    pub(crate) fn set_application_role(
        &mut self,
        args: &[Argument],
        site: &Site<'_>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        const PROCEDURE: &str = "sp_setapprole";
        let name = arguments::needed(PROCEDURE, args, 0, "@rolename")?;
        let password = arguments::needed(PROCEDURE, args, 1, "@password")?;
        let misused = || {
            let text = "sp_setapprole was not invoked correctly. Refer to the documentation for more information.";
            SqlError::new(2762, 16, text)
        };
        let encrypt = arguments::text(args, 2, "@encrypt").unwrap_or("none");
        // ODBC's disguise is read by the parser ({encrypt N'...'}), so that what comes is the password either way.
        if !["none", "odbc"].iter().any(|known| known.eq_ignore_ascii_case(encrypt)) {
            return Err(misused());
        }
        let wanted = match arguments::value(args, 3, "@fCreateCookie") {
            None => false,
            Some(value) => match value.as_str() {
                Some(text) if text.eq_ignore_ascii_case("true") => true,
                Some(text) if text.eq_ignore_ascii_case("false") => false,
                _ => value.as_i64().ok_or_else(misused)? != 0,
            },
        };
        let to = arguments::given(args, 4, "@cookie").and_then(|arg| arg.output);
        if wanted && to.is_none() {
            return Err(misused());
        }
        self.check_ad_hoc(PROCEDURE, site)?;
        // Whatever the directory has by now counts.
        self.state.refresh_identity(&*self.host);
        let directory = self.state.identity.access().database().clone();
        let role = directory.find(name).filter(|p| p.is_application_role());
        let known = match role.and_then(|role| role.password.as_ref()) {
            Some(hash) => self.host.password_matches(hash, &Password::new(password.to_owned()))?,
            None => false,
        };
        let Some(role) = role.filter(|_| known) else {
            let text = format!(
                "Cannot set application role '{name}' because it does not exist or the password is incorrect."
            );
            return Err(SqlError::new(15161, 16, text));
        };
        let mut cookie = [0; COOKIE_BYTES];
        if wanted {
            runtime::random::fill(&mut cookie);
        }
        let own = wanted.then(|| cookie.into());
        self.state.become_application_role(&*self.host, role.id, own);
        if let Some(var) = to {
            let var = var as usize;
            let value = if wanted { Value::Binary(Bytes::new(&cookie)) } else { Value::Null };
            let ty = SqlType::VarBinary(Len::N(COOKIE_BYTES as u16));
            frame[var] = convert::cast(&value, ty, site.vars[var], 0)?;
        }
        Ok(())
    }

    /// sp_unsetapprole @cookie: 201, 15002, 15422, 15592.
    pub(crate) fn unset_application_role(
        &mut self,
        args: &[Argument],
        site: &Site<'_>,
    ) -> Result<(), SqlError> {
        const PROCEDURE: &str = "sp_unsetapprole";
        let Some(cookie) = arguments::given(args, 0, "@cookie") else {
            return Err(arguments::missing(PROCEDURE, "@cookie"));
        };
        self.check_ad_hoc(PROCEDURE, site)?;
        let left = match &cookie.value {
            Some(Value::Binary(cookie)) => self.state.leave_application_role(&*self.host, cookie),
            _ => false,
        };
        if left {
            return Ok(());
        }
        let text = "Cannot unset application role because none was set or the cookie is invalid.";
        Err(SqlError::new(15592, 16, text))
    }

    /// 15422 in a module or a text of EXEC, 15002 in a transaction.
    fn check_ad_hoc(&self, procedure: &str, site: &Site<'_>) -> Result<(), SqlError> {
        if site.object_id != 0 || self.state.nesting > 0 {
            let text = "Application roles can only be activated at the ad hoc level.";
            return Err(SqlError::new(15422, 16, text));
        }
        if self.state.trancount() > 0 {
            let text =
                format!("The procedure '{procedure}' cannot be executed within a transaction.");
            return Err(SqlError::new(15002, 16, text));
        }
        Ok(())
    }
}
