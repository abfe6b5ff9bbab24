//! The first password of `sa`: from the environment, or made up.
//!
//! Promise: it is stored once. A later start with the variable set changes nothing, so that a forgotten variable does
//! not undo ALTER LOGIN.

use crate::{Authenticator, Password, PolicyError, SA_ID};
use std::fmt;

/// Where the password may come from, first found first.
pub const SA_PASSWORD_VARIABLES: [&str; 2] = ["MILLRACE_SA_PASSWORD", "MSSQL_SA_PASSWORD"];

/// What [`Authenticator::first_start`] has done.
#[derive(Debug)]
pub enum FirstStart {
    /// `sa` had a password already; the environment was not looked at.
    NotFirst,
    /// The password is that of the environment variable named.
    Set { variable: &'static str },
    /// The password was made up: print it once, to the operator only.
    Generated(Password),
}

/// Why `sa` has no password yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstStartError {
    /// The environment's password is too weak.
    Policy { variable: &'static str, error: PolicyError },
    /// It could not be stored.
    Store { what: String },
}

impl fmt::Display for FirstStartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FirstStartError::Policy { variable, error } => write!(
                f,
                "The password of sa in {variable} is refused. {error} It needs 8 to 128 characters of three of these \
                 kinds: capital letters, small letters, digits, others; and not the login's name in it."
            ),
            FirstStartError::Store { what } => {
                write!(f, "The password of sa could not be stored: {what}")
            }
        }
    }
}

impl std::error::Error for FirstStartError {}

impl Authenticator {
    /// Gives `sa` its first password, if it has none. `environment` answers for a variable's name; an empty value
    /// counts as none. Suspends.
    pub fn first_start(
        &self,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<FirstStart, FirstStartError> {
        let sa = self.store.sa();
        debug_assert_eq!(sa.principal.principal_id, SA_ID);
        if sa.password.is_some() {
            return Ok(FirstStart::NotFirst);
        }
        for variable in SA_PASSWORD_VARIABLES {
            let given = environment(variable).filter(|text| !text.is_empty());
            if let Some(password) = given.map(Password::new) {
                password
                    .check_policy(&sa.principal.name)
                    .map_err(|error| FirstStartError::Policy { variable, error })?;
                self.store_sa(&password, false)?;
                return Ok(FirstStart::Set { variable });
            }
        }
        let password = Password::generate();
        self.store_sa(&password, true)?;
        Ok(FirstStart::Generated(password))
    }

    fn store_sa(&self, password: &Password, generated: bool) -> Result<(), FirstStartError> {
        let store = |what: String| FirstStartError::Store { what };
        let hash = self.hash(password).ok_or_else(|| store("no thread hashes it".into()))?;
        self.store.set_sa_password(&hash, generated).map_err(store)
    }
}
