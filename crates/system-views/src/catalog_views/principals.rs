//! Principals and permissions of the server and of the database.
//!
//! Columns and types: SQL Server 2022's documentation of each view. Who is not sysadmin or dbo sees himself, his roles, the
//! fixed principals and those he may see the definition of: with VIEW (ANY) SECURITY DEFINITION all of them. Hashes of
//! passwords are shown to those with VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION.

use crate::context::{Context, built_in, moment};
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use security::{
    Access, Directory, GrantKey, GrantValue, Permission, Principal, PrincipalKind, Securable,
    Target, database_role, server_role,
};
use std::sync::Arc;
use types::Value;
use types::datetime::DateTime;
use types::languages::Language;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &SERVER_PRINCIPALS,
    &SQL_LOGINS,
    &SERVER_ROLE_MEMBERS,
    &SERVER_PERMISSIONS,
    &DATABASE_PRINCIPALS,
    &DATABASE_ROLE_MEMBERS,
    &DATABASE_PERMISSIONS,
    &LOGIN_TOKEN,
    &USER_TOKEN,
];

/// A principal, and whether its hash may be shown.
pub struct Shown {
    pub principal: Principal,
    hash: bool,
}

/// A grant.
pub struct Granted {
    key: GrantKey,
    value: GrantValue,
    server: bool,
}

impl Granted {
    /// What is granted or denied, in words.
    pub fn permission(&self) -> &'static str {
        self.key.permission.name()
    }

    /// 0: the database, 1: an object.
    pub fn class_number(&self) -> u8 {
        self.key.securable.class(self.server).number()
    }

    pub fn major_id(&self) -> i32 {
        self.key.securable.major_id()
    }

    /// 0, or the number of a column.
    pub fn minor_id(&self) -> i32 {
        self.key.securable.minor_id()
    }

    pub fn grantee(&self) -> i32 {
        self.key.grantee
    }

    pub fn grantor(&self) -> i32 {
        self.value.grantor
    }

    /// `state`: G, W or D.
    pub fn state(&self) -> &'static str {
        self.value.state.code()
    }

    /// Bit 0 for all columns, else the bit of the column.
    pub fn column_bits(&self) -> Vec<u8> {
        let bit = self.key.securable.minor_id().max(0) as usize;
        let mut bytes = vec![0; bit / 8 + 1];
        bytes[bit / 8] = 1 << (bit % 8);
        bytes
    }
}

fn sid(p: &Principal) -> Option<Value> {
    p.sid.as_deref().map(Value::binary)
}

/// The same of a principal of a database, where a role has one too: S-1-9-4 and four numbers, of a fixed role its id alone.
fn database_sid(p: &Principal) -> Option<Value> {
    if !p.is_role() {
        return sid(p);
    }
    let mut bytes = vec![1, 5, 0, 0, 0, 0, 0, 9, 4, 0, 0, 0];
    bytes.extend(p.created_unix_ns.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(p.id.to_le_bytes());
    Some(Value::binary(&bytes))
}

pub fn date(unix_ns: u64) -> DateTime {
    if unix_ns == 0 { built_in() } else { moment(unix_ns) }
}

/// The directory asked about: the server's, or the database's.
pub fn directory(context: &Context<'_>, server: bool) -> Arc<Directory> {
    match server {
        true => context.session.identity.access().server().clone(),
        false => context.database.catalog.directory(context.scope()),
    }
}

/// What the session may do there, for what it may see.
pub fn access(context: &Context<'_>) -> Access {
    let access = context.session.identity.access();
    if context.database.id == context.session.database.id {
        return (**access).clone();
    }
    let there = context.database.catalog.directory(None);
    let guest = database_role::GUEST;
    let as_guest = || Access::new(access.server().clone(), access.login(), there.clone(), guest);
    access.elsewhere(there.clone()).unwrap_or_else(as_guest)
}

/// Which principals of one directory the session may see.
struct Sight {
    access: Access,
    server: bool,
    /// VIEW ANY SECURITY DEFINITION at the server, VIEW SECURITY DEFINITION in the database: all but those that are
    /// denied one by one.
    every: bool,
}

impl Sight {
    fn of(context: &Context<'_>, server: bool) -> Sight {
        let access = access(context);
        let every = match server {
            true => access.allows(Permission::ViewAnySecurityDefinition, Target::Server),
            false => access.allows(Permission::ViewSecurityDefinition, Target::Database),
        };
        Sight { access, server, every }
    }

    fn sees(&self, p: &Principal) -> bool {
        let access = &self.access;
        let (token, target) = match self.server {
            true => (access.login_token(), Target::Login(p.id)),
            false => (access.user_token(), Target::Principal(p.id)),
        };
        p.fixed
            || token.contains(&p.id)
            || access.allows(Permission::ViewDefinition, target)
            || (self.every && !access.denies(Permission::ViewDefinition, target))
    }
}

/// The principals that the session may see.
pub fn shown(context: &Context<'_>, server: bool) -> Vec<Shown> {
    let sight = Sight::of(context, server);
    let hash = Permission::ViewAnyCryptographicallySecuredDefinition;
    let hash = sight.access.allows(hash, Target::Server);
    let directory = directory(context, server);
    let all = directory.principals.values().filter(|p| sight.sees(p));
    all.map(|p| Shown { principal: p.clone(), hash }).collect()
}

fn server_principals(context: &Context<'_>, _: &[Value]) -> Result<Vec<Shown>, SqlError> {
    Ok(shown(context, true))
}

fn sql_logins(context: &Context<'_>, _: &[Value]) -> Result<Vec<Shown>, SqlError> {
    let all = shown(context, true);
    Ok(all.into_iter().filter(|shown| shown.principal.login.is_some()).collect())
}

fn database_principals(context: &Context<'_>, _: &[Value]) -> Result<Vec<Shown>, SqlError> {
    Ok(shown(context, false))
}

fn members(context: &Context<'_>, server: bool) -> Vec<(i32, i32)> {
    let (sight, directory) = (Sight::of(context, server), directory(context, server));
    let seen = |id: &i32| directory.principals.get(id).is_some_and(|p| sight.sees(p));
    directory.members.iter().filter(|(role, member)| seen(role) && seen(member)).copied().collect()
}

fn server_members(context: &Context<'_>, _: &[Value]) -> Result<Vec<(i32, i32)>, SqlError> {
    Ok(members(context, true))
}

pub fn database_members(context: &Context<'_>, _: &[Value]) -> Result<Vec<(i32, i32)>, SqlError> {
    Ok(members(context, false))
}

fn grants(context: &Context<'_>, server: bool) -> Vec<Granted> {
    let (sight, directory) = (Sight::of(context, server), directory(context, server));
    let seen = |id: i32| directory.principals.get(&id).is_some_and(|p| sight.sees(p));
    let all = directory.grants.iter().filter(|(key, _)| seen(key.grantee));
    all.map(|(key, value)| Granted { key: *key, value: *value, server }).collect()
}

fn server_grants(context: &Context<'_>, _: &[Value]) -> Result<Vec<Granted>, SqlError> {
    Ok(grants(context, true))
}

pub fn database_grants(context: &Context<'_>, _: &[Value]) -> Result<Vec<Granted>, SqlError> {
    Ok(grants(context, false))
}

fn login_token(context: &Context<'_>, _: &[Value]) -> Result<Vec<Principal>, SqlError> {
    let access = context.session.identity.access();
    let all = access.login_token().iter().filter_map(|id| access.server().principals.get(id));
    Ok(all.cloned().collect())
}

fn user_token(context: &Context<'_>, _: &[Value]) -> Result<Vec<Principal>, SqlError> {
    let access = context.session.identity.access();
    let all = access.user_token().iter().filter_map(|id| access.database().principals.get(id));
    Ok(all.cloned().collect())
}

fn login_kind(p: &Principal) -> &'static str {
    if p.is_role() { "SERVER_ROLE" } else { "SQL_LOGIN" }
}

fn user_kind(p: &Principal) -> &'static str {
    match p.kind {
        PrincipalKind::User => "SQL_USER",
        PrincipalKind::Role => "DATABASE_ROLE",
        PrincipalKind::Application => "APPLICATION_ROLE",
    }
}

fn user_token_kind(p: &Principal) -> &'static str {
    match p.kind {
        PrincipalKind::User => "SQL USER",
        PrincipalKind::Role => "ROLE",
        PrincipalKind::Application => "APPLICATION ROLE",
    }
}

/// The owner, which only a role has.
fn owner(p: &Principal) -> Option<i32> {
    p.is_role().then_some(p.owner)
}

/// DEFAULT_LANGUAGE of a login.
pub fn language(p: &Principal) -> Option<&'static str> {
    p.login.as_ref().map(|login| Language::of(login.language).name)
}

/// Fixed in SQL Server's sense: public is not.
fn is_fixed_role(p: &Principal) -> bool {
    p.fixed && p.is_role() && p.id != server_role::PUBLIC && p.id != database_role::PUBLIC
}

/// 1 for a user of a login (INSTANCE), also of one that has gone; else 0.
fn authentication(p: &Principal) -> i32 {
    let of_login = p.sid.as_deref().is_some_and(|sid| !security::is_sid_without_login(sid));
    i32::from(p.kind == PrincipalKind::User && of_login && p.id != database_role::GUEST)
}

fn class(g: &Granted) -> security::Class {
    g.key.securable.class(g.server)
}

fn grantor(g: &Granted) -> i32 {
    g.value.grantor
}

fn major(securable: Securable) -> i32 {
    securable.major_id()
}

view! {
    SERVER_PRINCIPALS = "sys.server_principals" of Shown as s, rows server_principals;
    name sysname = &s.principal.name;
    principal_id int = s.principal.id;
    sid varbinary(85) null = sid(&s.principal);
    type char(1) = if s.principal.is_role() { "R" } else { "S" };
    type_desc nvarchar(60) null = login_kind(&s.principal);
    is_disabled bit null = s.principal.login.as_ref().is_some_and(|login| login.disabled);
    create_date datetime = date(s.principal.created_unix_ns);
    modify_date datetime = date(s.principal.modified_unix_ns);
    default_database_name sysname null = s.principal.default.as_ref();
    default_language_name sysname null = language(&s.principal);
    credential_id int null = NULL;
    owning_principal_id int null = owner(&s.principal);
    is_fixed_role bit = is_fixed_role(&s.principal);
}

view! {
    SQL_LOGINS = "sys.sql_logins" of Shown as s, rows sql_logins;
    name sysname = &s.principal.name;
    principal_id int = s.principal.id;
    sid varbinary(85) null = sid(&s.principal);
    type char(1) = "S";
    type_desc nvarchar(60) null = "SQL_LOGIN";
    is_disabled bit null = s.principal.login.as_ref().is_some_and(|login| login.disabled);
    create_date datetime = date(s.principal.created_unix_ns);
    modify_date datetime = date(s.principal.modified_unix_ns);
    default_database_name sysname null = s.principal.default.as_ref();
    default_language_name sysname null = language(&s.principal);
    credential_id int null = NULL;
    is_policy_checked bit null = s.principal.login.as_ref().is_some_and(|login| login.check_policy);
    is_expiration_checked bit null =
        s.principal.login.as_ref().is_some_and(|login| login.check_expiration);
    password_hash varbinary(256) null = s
        .principal
        .login
        .as_ref()
        .and_then(|login| login.password.as_ref())
        .filter(|_| s.hash)
        .map(|hash| Value::binary(hash.stored()));
}

view! {
    SERVER_ROLE_MEMBERS = "sys.server_role_members" of (i32, i32) as m, rows server_members;
    role_principal_id int = m.0;
    member_principal_id int = m.1;
}

/// The two views of permissions have the same columns.
macro_rules! permissions_view {
    ($view:ident = $full:literal, rows $rows:expr) => {
        view! {
            $view = $full of Granted as g, rows $rows;
            class tinyint = class(g).number();
            class_desc nvarchar(60) null = class(g).description();
            major_id int = major(g.key.securable);
            minor_id int = g.key.securable.minor_id();
            grantee_principal_id int = g.key.grantee;
            grantor_principal_id int = grantor(g);
            type char(4) = format!("{:<4}", g.key.permission.code());
            permission_name nvarchar(128) null = g.key.permission.name();
            state char(1) = g.value.state.code();
            state_desc nvarchar(60) null = g.value.state.description();
        }
    };
}

permissions_view! { SERVER_PERMISSIONS = "sys.server_permissions", rows server_grants }
permissions_view! { DATABASE_PERMISSIONS = "sys.database_permissions", rows database_grants }

view! {
    DATABASE_PRINCIPALS = "sys.database_principals" of Shown as s, rows database_principals;
    name sysname = &s.principal.name;
    principal_id int = s.principal.id;
    type char(1) = s.principal.kind.code();
    type_desc nvarchar(60) null = user_kind(&s.principal);
    default_schema_name sysname null = s.principal.default.as_ref();
    create_date datetime = date(s.principal.created_unix_ns);
    modify_date datetime = date(s.principal.modified_unix_ns);
    owning_principal_id int null = owner(&s.principal);
    sid varbinary(85) null = database_sid(&s.principal);
    is_fixed_role bit = is_fixed_role(&s.principal);
    authentication_type int = authentication(&s.principal);
    authentication_type_desc nvarchar(60) null =
        if authentication(&s.principal) == 1 { "INSTANCE" } else { "NONE" };
    default_language_name sysname null = NULL;
    default_language_lcid int null = NULL;
    allow_encrypted_value_modifications bit = false;
}

view! {
    DATABASE_ROLE_MEMBERS = "sys.database_role_members" of (i32, i32) as m, rows database_members;
    role_principal_id int = m.0;
    member_principal_id int = m.1;
}

view! {
    LOGIN_TOKEN = "sys.login_token" of Principal as p, rows login_token;
    principal_id int null = p.id;
    sid varbinary(85) null = sid(p);
    name nvarchar(128) null = &p.name;
    type nvarchar(128) null = if p.is_role() { "SERVER ROLE" } else { "SQL LOGIN" };
    usage nvarchar(128) null = "GRANT OR DENY";
}

view! {
    USER_TOKEN = "sys.user_token" of Principal as p, rows user_token;
    principal_id int null = p.id;
    sid varbinary(85) null = sid(p);
    name nvarchar(128) null = &p.name;
    type nvarchar(128) null = user_token_kind(p);
    usage nvarchar(128) null = "GRANT OR DENY";
}
