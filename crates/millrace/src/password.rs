//! Where a password comes from that nobody should have to type on a command line.

use tds::login7::Password;

/// What existing set-ups of SQL Server use, and our own name for it, which goes first.
const VARIABLES: &[&str] = &["MILLRACE_SA_PASSWORD", "MSSQL_SA_PASSWORD"];

/// The password in the environment, if one is set and not empty.
pub fn from_environment() -> Option<Password> {
    let mut found = VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
    found.find(|password| !password.is_empty()).map(|password| Password::new(&password))
}
