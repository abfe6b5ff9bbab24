//! The gate and its keeper: who somebody is, and what he may do.
//!
//! It promises that a password is never kept, shown or compared in a way that tells of it
//! ([`Password`], [`PasswordHash`]); and that signing in costs no scheduler its time and tells a
//! stranger nothing ([`Authenticator`]); and that what a principal may do follows SQL Server's lattice of permissions
//! ([`Access`] over two [`Directory`]s).
//!
//! It knows nothing of where logins are stored ([`LoginStore`] is the seam), of SQL text, of
//! sessions or of sockets.
#![forbid(unsafe_code)]

mod access;
mod authenticator;
mod delays;
mod directory;
mod failure;
mod first_start;
mod hash;
mod password;
mod permission;
mod rules;

pub use access::{Access, Target, may_connect, may_enter_restricted, user_of};
pub use authenticator::{Authenticator, Config, LoginPrincipal, LoginStore, StoredLogin};
pub use directory::{
    Directory, GrantKey, GrantState, GrantValue, LoginFacts, Principal, PrincipalKind, SCHEMA_DBO,
    SchemaDef, WITHOUT_LOGIN, database_role, is_sid_without_login, server_role,
};
pub use failure::LoginFailure;
pub use first_start::{FirstStart, FirstStartError, SA_PASSWORD_VARIABLES};
pub use hash::{HashCost, HashError, PasswordHash};
pub use password::{Password, PolicyError};
pub use rules::PasswordRules;

pub use permission::{Class, Permission, Securable};

/// principal_id of `sa`.
pub const SA_ID: i32 = 1;
/// sid of `sa`.
pub const SA_SID: [u8; 1] = [1];

#[cfg(test)]
mod tests;
