//! Statements about principals and permissions.

use super::*;

/// CREATE, ALTER and DROP of logins, users, roles, application roles and schemas; GRANT, DENY, REVOKE; ownership.
#[derive(Clone, Debug, PartialEq)]
pub enum SecurityStatement {
    /// CREATE LOGIN name WITH PASSWORD = ...
    CreateLogin {
        /// Login.
        name: Ident,
        /// What WITH says.
        options: LoginOptions,
    },
    /// CREATE LOGIN name FROM WINDOWS | CERTIFICATE | ASYMMETRIC KEY | EXTERNAL PROVIDER.
    CreateLoginFrom {
        /// Login.
        name: Ident,
        /// Who vouches for it.
        from: Voucher,
    },
    /// ALTER LOGIN name ENABLE | DISABLE | WITH ... | ADD CREDENTIAL c | DROP CREDENTIAL c
    AlterLogin {
        /// Login.
        name: Ident,
        /// ENABLE: true, DISABLE: false.
        enable: Option<bool>,
        /// What WITH says.
        options: LoginOptions,
    },
    /// DROP LOGIN name.
    DropLogin {
        /// Login.
        name: Ident,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CREATE USER name [FOR LOGIN login | WITHOUT LOGIN] [WITH DEFAULT_SCHEMA = schema].
    CreateUser {
        /// User.
        name: Ident,
        /// Its login.
        login: UserLogin,
        /// What WITH says.
        options: UserOptions,
    },
    /// ALTER USER name WITH NAME = | DEFAULT_SCHEMA = | LOGIN =.
    AlterUser {
        /// User.
        name: Ident,
        /// What WITH says.
        options: UserOptions,
    },
    /// DROP USER name.
    DropUser {
        /// User.
        name: Ident,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CREATE [SERVER] ROLE name [AUTHORIZATION owner].
    CreateRole {
        /// SERVER.
        server: bool,
        /// Role.
        name: Ident,
        /// Its owner.
        owner: Option<Ident>,
    },
    /// ALTER [SERVER] ROLE.
    AlterRole {
        /// SERVER.
        server: bool,
        /// Role.
        name: Ident,
        /// What.
        action: AlterRoleAction,
    },
    /// DROP [SERVER] ROLE name.
    DropRole {
        /// SERVER.
        server: bool,
        /// Role.
        name: Ident,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CREATE APPLICATION ROLE name WITH PASSWORD = 'text' [, DEFAULT_SCHEMA = schema].
    CreateApplicationRole {
        /// Role.
        name: Ident,
        /// What WITH says.
        options: ApplicationRoleOptions,
    },
    /// ALTER APPLICATION ROLE name WITH NAME = | PASSWORD = | DEFAULT_SCHEMA =.
    AlterApplicationRole {
        /// Role.
        name: Ident,
        /// What WITH says.
        options: ApplicationRoleOptions,
    },
    /// DROP APPLICATION ROLE name.
    DropApplicationRole {
        /// Role.
        name: Ident,
    },
    /// CREATE SCHEMA name [AUTHORIZATION owner], or CREATE SCHEMA AUTHORIZATION owner.
    CreateSchema {
        /// Schema.
        name: Ident,
        /// Its owner.
        owner: Option<Ident>,
        /// CREATE TABLE, CREATE VIEW, GRANT, DENY and REVOKE that belong to it, each a text with its own lines.
        elements: Vec<String>,
    },
    /// ALTER SCHEMA name TRANSFER class::name.
    AlterSchema {
        /// Schema.
        name: Ident,
        /// What comes into it.
        on: SecurableName,
    },
    /// DROP SCHEMA name.
    DropSchema {
        /// Schema.
        name: Ident,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER AUTHORIZATION ON class::name TO owner | SCHEMA OWNER.
    AlterAuthorization {
        /// What is given away.
        on: SecurableName,
        /// To whom; None: SCHEMA OWNER.
        to: Option<Ident>,
    },
    /// GRANT, DENY, REVOKE.
    Grant(Box<Grant>),
}

/// How a user is tied to a login.
#[derive(Clone, Debug, PartialEq)]
pub enum UserLogin {
    /// The login of the user's own name.
    Same,
    /// FOR | FROM LOGIN.
    Login(Ident),
    /// WITHOUT LOGIN.
    Without,
    /// FOR | FROM CERTIFICATE | ASYMMETRIC KEY | EXTERNAL PROVIDER.
    Key(Voucher),
}

/// WITH of CREATE and ALTER USER.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct UserOptions {
    /// NAME =, of ALTER USER.
    pub new_name: Option<Ident>,
    /// DEFAULT_SCHEMA =; NULL is dbo.
    pub default_schema: Option<Ident>,
    /// LOGIN =, of ALTER USER.
    pub login: Option<Ident>,
    /// SID =, of CREATE USER.
    pub sid: Option<Vec<u8>>,
    /// PASSWORD =: of contained databases.
    pub password: bool,
    /// DEFAULT_LANGUAGE =: likewise.
    pub default_language: bool,
}

/// WITH of CREATE and ALTER APPLICATION ROLE.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ApplicationRoleOptions {
    /// NAME =, of ALTER.
    pub new_name: Option<Ident>,
    /// PASSWORD =.
    pub password: Option<Secret>,
    /// It must meet the policy: of the statements, not of sp_addapprole and sp_approlepassword.
    pub policy: bool,
    /// DEFAULT_SCHEMA =.
    pub default_schema: Option<Ident>,
}

/// What stands for a login or a user in the place of a password.
#[derive(Clone, Debug, PartialEq)]
pub enum Voucher {
    /// WINDOWS: an account of the operating system's, of the login's name.
    Windows,
    /// CERTIFICATE.
    Certificate(Ident),
    /// ASYMMETRIC KEY.
    AsymmetricKey(Ident),
    /// EXTERNAL PROVIDER: Microsoft Entra ID.
    ExternalProvider,
}

/// What happens to a role.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterRoleAction {
    /// ADD MEMBER.
    Add(Ident),
    /// DROP MEMBER.
    Drop(Ident),
    /// WITH NAME =.
    Rename(Ident),
}

/// WITH of CREATE and ALTER LOGIN.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct LoginOptions {
    /// PASSWORD = 'text'.
    pub password: Option<Secret>,
    /// PASSWORD = 0x... HASHED; without bytes where it is a text that is HASHED, or bytes that are not.
    pub hash: Option<Vec<u8>>,
    /// MUST_CHANGE.
    pub must_change: bool,
    /// UNLOCK.
    pub unlock: bool,
    /// OLD_PASSWORD = 'text'.
    pub old_password: Option<Secret>,
    /// NAME =, of ALTER LOGIN.
    pub new_name: Option<Ident>,
    /// SID =.
    pub sid: Option<Vec<u8>>,
    /// DEFAULT_DATABASE =.
    pub default_database: Option<Ident>,
    /// DEFAULT_LANGUAGE =.
    pub default_language: Option<Ident>,
    /// CREDENTIAL =, or that of ADD and DROP.
    pub credential: Option<Ident>,
    /// CHECK_POLICY =.
    pub check_policy: Option<bool>,
    /// CHECK_EXPIRATION =.
    pub check_expiration: Option<bool>,
}

/// A password in a statement. Debug does not show it, and it is wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub zeroize::Zeroizing<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("******")
    }
}

/// GRANT, DENY, REVOKE.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Which.
    pub verb: GrantVerb,
    /// As written, in capitals with single spaces; ALL and ALL PRIVILEGES are `ALL`.
    pub permissions: Vec<String>,
    /// ON; None: on the database, or on the server for the server's permissions.
    pub on: Option<SecurableName>,
    /// Columns of the object, for each of the permissions; empty: all of it.
    pub columns: Vec<Vec<Ident>>,
    /// TO or FROM.
    pub principals: Vec<Ident>,
    /// WITH GRANT OPTION; for REVOKE, GRANT OPTION FOR.
    pub grant_option: bool,
    /// CASCADE.
    pub cascade: bool,
    /// AS.
    pub grantor: Option<Ident>,
}

/// Which of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum GrantVerb {
    Grant,
    Deny,
    Revoke,
}

/// `class::name`, or a name alone, which is an object's.
#[derive(Clone, Debug, PartialEq)]
pub struct SecurableName {
    /// In capitals: OBJECT, SCHEMA, DATABASE, USER, ROLE, LOGIN, SERVER ROLE ...; None: not said.
    pub class: Option<String>,
    /// Name.
    pub name: ObjectName,
}
