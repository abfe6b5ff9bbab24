//! Logins: who may sign in, and with what.
//!
//! Invariant: a password is hashed before the directory is changed, and its text is kept nowhere.

use super::{
    cannot, check_principal_name, no_voucher, now, server_principal_exists, special, unknown,
};
use crate::Commands;
use executor::SqlError;
use security::{
    Access, GrantKey, GrantState, GrantValue, LoginFacts, Password, PasswordHash, Permission,
    Principal, PrincipalKind, SA_ID, Securable, Target, database_role, server_role,
};
use session_state::languages;
use std::sync::Arc;
use syntax::ast::{Ident, LoginOptions, Secret, Voucher};

impl Commands<'_> {
    /// The hash that the options ask for, after the policy. 15116 to 15118, 15021.
    pub(super) fn login_hash(
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
    pub(super) fn check_default_database(
        &mut self,
        options: &LoginOptions,
    ) -> Result<(), SqlError> {
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

    /// CREATE LOGIN FROM: 15247, 15401, 15151, 37525.
    pub(super) fn create_login_from(
        &mut self,
        name: &Ident,
        from: &Voucher,
    ) -> Result<(), SqlError> {
        self.check_server(Permission::CreateLogin)?;
        Err(no_voucher("LOGIN", &name.value, from))
    }

    pub(super) fn create_login(
        &mut self,
        name: &Ident,
        options: &LoginOptions,
    ) -> Result<(), SqlError> {
        self.check_server(Permission::CreateLogin)?;
        check_principal_name(&name.value)?;
        let policy = options.check_policy.unwrap_or(true);
        let expiration = options.check_expiration.unwrap_or(false);
        check_expiration(policy, expiration)?;
        if self.host.server_directory().find(&name.value).is_some() {
            return Err(server_principal_exists(&name.value));
        }
        self.check_default_database(options)?;
        check_options(options, policy, expiration, options.must_change)?;
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
        let language = named_language(options)?.unwrap_or_else(|| self.default_language());
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
                must_change: options.must_change,
                language,
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

    /// 'default language': of logins that are made without one.
    fn default_language(&self) -> u8 {
        let id = self.host.option_in_use("default language");
        id.and_then(|id| u8::try_from(id).ok()).unwrap_or(0)
    }

    pub(super) fn alter_login(
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
        // Whoever changed who controls the server would control it.
        let theirs =
            Access::new(directory.clone(), Some(found.id), Arc::default(), database_role::GUEST);
        let may = match theirs.allows(Permission::ControlServer, Target::Server) {
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
                && options.default_language.is_none()
                && options.credential.is_none()
                && !options.must_change
                && !options.unlock
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
        // A new password has been changed; else what was asked stays.
        let set = options.password.is_some() || options.hash.is_some();
        let must_change = options.must_change || (facts.must_change && !set);
        check_options(options, policy, expiration, must_change)?;
        let language = named_language(options)?;
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
                facts.password_set_unix_ns = now();
            }
            facts.must_change = must_change;
            facts.language = language.unwrap_or(facts.language);
            if options.unlock || !policy {
                facts.locked_unix_ns = 0;
            }
            facts.check_policy = policy;
            facts.check_expiration = expiration;
            Ok(())
        })?;
        if options.unlock || !policy {
            self.host.forget_bad_passwords(id);
        }
        Ok(())
    }

    pub(super) fn drop_login(&mut self, name: &Ident, if_exists: bool) -> Result<(), SqlError> {
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

/// What there is none of here: credentials (15151), languages by that name (15033). Passwords that must be changed without
/// the policy: 15128.
fn check_options(
    options: &LoginOptions,
    policy: bool,
    expiration: bool,
    must_change: bool,
) -> Result<(), SqlError> {
    if let Some(credential) = &options.credential {
        return Err(unknown("credential", &credential.value));
    }
    if must_change && !(policy && expiration) {
        let text = "The CHECK_POLICY and CHECK_EXPIRATION options cannot be turned OFF when MUST_CHANGE is ON.";
        return Err(SqlError::new(15128, 16, text));
    }
    named_language(options).map(drop)
}

/// DEFAULT_LANGUAGE, by its place; 15033.
fn named_language(options: &LoginOptions) -> Result<Option<u8>, SqlError> {
    let Some(named) = &options.default_language else { return Ok(None) };
    match languages::find(&named.value) {
        Some(place) => Ok(Some(place)),
        None => {
            let text = format!("'{}' is not a valid official language name.", named.value);
            Err(SqlError::new(15033, 16, text))
        }
    }
}

fn password(secret: &Secret) -> Password {
    Password::new(secret.0.to_string())
}
