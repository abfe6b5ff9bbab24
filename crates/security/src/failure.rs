//! Why a login failed: one sentence for the log, and next to nothing for the client.

use std::fmt;

/// Why a login failed. The client gets 18456 with state 1 nearly always ([`LoginFailure::client_text`]); the log gets
/// SQL Server's state and the reason (Display).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginFailure {
    /// State 5.
    UnknownLogin,
    /// State 7: disabled, and the password is wrong too.
    DisabledWrongPassword,
    /// State 8.
    WrongPassword,
    /// The password is right: Msg 18470, which says so.
    Disabled,
    /// Too many wrong passwords came before: Msg 18486, whatever the password is.
    Locked,
    /// The password is right, and too old: Msg 18487.
    Expired,
    /// The password is right, and is to be changed first: Msg 18488.
    MustChange,
    /// State 12: CONNECT SQL is not granted, or denied.
    NoServerAccess,
    /// State 38: the database asked for does not exist or is closed to the login.
    NoDatabase,
    /// State 40: the default database, likewise.
    NoDefaultDatabase,
    /// State 51: too many attempts from this address are waiting already; the password was not looked at.
    TooManyAttempts,
    /// State 17: the server has more passwords to verify than it can hold.
    Busy,
}

impl LoginFailure {
    /// SQL Server's state of 18456, for the log.
    pub fn state(self) -> u8 {
        match self {
            LoginFailure::UnknownLogin => 5,
            LoginFailure::DisabledWrongPassword => 7,
            LoginFailure::WrongPassword => 8,
            LoginFailure::Disabled => 1,
            LoginFailure::Locked | LoginFailure::Expired | LoginFailure::MustChange => 1,
            LoginFailure::NoServerAccess => 12,
            LoginFailure::Busy => 17,
            LoginFailure::NoDatabase => 38,
            LoginFailure::NoDefaultDatabase => 40,
            LoginFailure::TooManyAttempts => 51,
        }
    }

    /// The message number that the client sees: 18456; 18486 for a locked login; where the password was right 18470 for a
    /// disabled one, 18487 and 18488 for one whose password must be changed.
    pub fn number(self) -> i32 {
        match self {
            LoginFailure::Disabled => 18470,
            LoginFailure::Locked => 18486,
            LoginFailure::Expired => 18487,
            LoginFailure::MustChange => 18488,
            _ => 18456,
        }
    }

    /// What the client reads (severity 14, state 1).
    pub fn client_text(self, login: &str) -> String {
        match self {
            LoginFailure::Disabled => {
                format!("Login failed for user '{login}'. Reason: The account is disabled.")
            }
            LoginFailure::Locked => format!(
                "Login failed for user '{login}' because the account is currently locked out. The system administrator \
                 can unlock it."
            ),
            LoginFailure::Expired => format!(
                "Login failed for user '{login}'.  Reason: The password of the account has expired."
            ),
            LoginFailure::MustChange => format!(
                "Login failed for user '{login}'.  Reason: The password of the account must be changed."
            ),
            _ => format!("Login failed for user '{login}'."),
        }
    }
}

impl fmt::Display for LoginFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LoginFailure::UnknownLogin => {
                "Could not find a login matching the name provided."
            }
            LoginFailure::DisabledWrongPassword => {
                "An error occurred while evaluating the password. The login is disabled, and the password did not match."
            }
            LoginFailure::WrongPassword => "Password did not match that for the login provided.",
            LoginFailure::Disabled => "The account is disabled.",
            LoginFailure::Locked => "The account is locked out.",
            LoginFailure::Expired => "The password of the account has expired.",
            LoginFailure::MustChange => "The password of the account must be changed.",
            LoginFailure::NoServerAccess => {
                "Login-based server access validation failed: CONNECT SQL is not granted."
            }
            LoginFailure::NoDatabase => "Failed to open the explicitly specified database.",
            LoginFailure::NoDefaultDatabase => "Failed to open the login's default database.",
            LoginFailure::TooManyAttempts => {
                "Too many failed attempts from this address are waiting; the password was not evaluated."
            }
            LoginFailure::Busy => "Too many passwords are waiting to be evaluated.",
        })
    }
}

impl std::error::Error for LoginFailure {}
