//! Where the authenticator finds logins: in the server's directory.

use catalog::{CatalogError, ServerCatalog};
use security::{LoginPrincipal, LoginStore, PasswordHash, Principal, SA_ID, SA_SID, StoredLogin};
use std::sync::Arc;

/// The logins of an instance.
pub(crate) struct Logins {
    pub(crate) server: Arc<ServerCatalog>,
}

impl Logins {
    fn stored(&self, found: &Principal) -> Option<StoredLogin> {
        let facts = found.login.as_ref()?;
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
        })
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
