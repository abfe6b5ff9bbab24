//! Where the authenticator finds logins: in the server's directory.

use catalog::{CatalogError, ServerCatalog};
use security::{
    LoginPrincipal, LoginStore, PasswordHash, PasswordRules, Principal, SA_ID, SA_SID, StoredLogin,
};
use std::sync::Arc;

/// The logins of an instance.
pub(crate) struct Logins {
    pub(crate) server: Arc<ServerCatalog>,
    pub(crate) rules: PasswordRules,
}

impl Logins {
    fn stored(&self, found: &Principal) -> Option<StoredLogin> {
        let facts = found.login.as_ref()?;
        let now = runtime::clock::unix_ns();
        Some(StoredLogin {
            principal: LoginPrincipal {
                principal_id: found.id,
                name: found.name.clone(),
                sid: found.sid.clone().unwrap_or_default(),
                default_database: found.default.clone().unwrap_or_else(|| "master".into()),
            },
            password: facts.password.clone(),
            generated: facts.generated,
            disabled: facts.disabled,
            may_connect: security::may_connect(&self.server.directory(), found.id),
            may_be_locked: facts.check_policy,
            locked: self.rules.is_locked(found, now),
            must_change: facts.must_change,
            expired: self.rules.is_expired(found, now),
        })
    }
}

impl LoginStore for Logins {
    fn login(&self, name: &str) -> Option<StoredLogin> {
        self.stored(self.server.directory().find(name)?)
    }

    fn sa(&self) -> StoredLogin {
        let directory = self.server.directory();
        let sa = directory.principals.get(&SA_ID).and_then(|sa| self.stored(sa));
        // A directory is born with sa, and nothing removes it; without it nobody comes in.
        sa.unwrap_or_else(|| StoredLogin {
            principal: LoginPrincipal {
                principal_id: SA_ID,
                name: "sa".into(),
                sid: SA_SID.into(),
                default_database: "master".into(),
            },
            password: None,
            generated: false,
            disabled: true,
            may_connect: false,
            may_be_locked: false,
            locked: false,
            must_change: false,
            expired: false,
        })
    }

    fn lock(&self, principal_id: i32) {
        let now = runtime::clock::unix_ns();
        let change = |directory: &mut catalog::Directory| -> Result<(), CatalogError> {
            let login = directory.principals.get_mut(&principal_id);
            if let Some(facts) = login.and_then(|login| login.login.as_mut()) {
                facts.locked_unix_ns = now;
            }
            Ok(())
        };
        if let Err(error) = self.server.change_directory(change) {
            tracing::warn!(principal_id, %error, "a login could not be locked");
        }
    }

    fn set_sa_password(&self, hash: &PasswordHash, generated: bool) -> Result<(), String> {
        let change = |directory: &mut catalog::Directory| -> Result<(), CatalogError> {
            let sa = directory.principals.get_mut(&SA_ID);
            if let Some(facts) = sa.and_then(|sa| sa.login.as_mut()) {
                facts.password = Some(hash.clone());
                facts.generated = generated;
            }
            Ok(())
        };
        self.server.change_directory(change).map(drop).map_err(|error| error.to_string())
    }
}
