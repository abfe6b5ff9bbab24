//! sysusers, syslogins, sysmembers, syspermissions, sysprotects: principals and permissions as early versions had them.
//!
//! Columns and types: SQL Server's documentation of each compatibility view. Who sees what is as in `principals.rs`.

use crate::catalog_views::principals::{self, Granted, Shown};
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use security::{Directory, Principal, PrincipalKind, database_role, server_role};
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&SYSUSERS, &SYSLOGINS, &SYSMEMBERS, &SYSPERMISSIONS, &SYSPROTECTS];

/// An id that fits a smallint, as those of fixed roles do; NULL for what does not.
fn short(id: i32) -> Option<i16> {
    i16::try_from(id).ok()
}

fn users(context: &Context<'_>, _: &[Value]) -> Result<Vec<Shown>, SqlError> {
    Ok(principals::shown(context, false))
}

fn is_user(p: &Principal) -> bool {
    p.kind == PrincipalKind::User
}

fn status(p: &Principal) -> i16 {
    match p.kind {
        PrincipalKind::User => 12,
        PrincipalKind::Role => 0,
        PrincipalKind::Application => 32,
    }
}

/// CONNECT by a grant or as dbo.
fn may_come_in(p: &Principal) -> bool {
    is_user(p) && p.sid.is_some() && p.id != database_role::GUEST
}

view! {
    SYSUSERS = "sys.sysusers" of Shown as s, rows users;
    uid smallint null = short(s.principal.id);
    status smallint null = status(&s.principal);
    name sysname = &s.principal.name;
    sid varbinary(85) null = s.principal.sid.as_deref().map(Value::binary);
    roles varbinary(2048) null = NULL;
    createdate datetime = principals::date(s.principal.created_unix_ns);
    updatedate datetime = principals::date(s.principal.modified_unix_ns);
    altuid smallint null = s.principal.is_role().then(|| short(s.principal.owner)).flatten();
    password varbinary(256) null = NULL;
    gid smallint null = if s.principal.is_role() { short(s.principal.id) } else { Some(0) };
    environ varchar(255) null = NULL;
    hasdbaccess int null = i32::from(may_come_in(&s.principal));
    islogin int null = i32::from(is_user(&s.principal));
    isntname int null = 0;
    isntgroup int null = 0;
    isntuser int null = 0;
    issqluser int null = i32::from(is_user(&s.principal));
    isaliased int null = 0;
    issqlrole int null = i32::from(s.principal.is_role());
    isapprole int null = i32::from(s.principal.is_application_role());
}

/// A login, and the directory that says in which roles it is.
pub struct Login {
    shown: Shown,
    directory: Arc<Directory>,
}

impl Login {
    fn is_in(&self, role: i32) -> i32 {
        i32::from(self.directory.members.contains(&(role, self.shown.principal.id)))
    }

    fn principal(&self) -> &Principal {
        &self.shown.principal
    }
}

fn logins(context: &Context<'_>, _: &[Value]) -> Result<Vec<Login>, SqlError> {
    let directory = principals::directory(context, true);
    let all = principals::shown(context, true).into_iter();
    let all = all.filter(|shown| shown.principal.login.is_some());
    Ok(all.map(|shown| Login { shown, directory: directory.clone() }).collect())
}

view! {
    SYSLOGINS = "sys.syslogins" of Login as l, rows logins;
    sid varbinary(85) null = l.principal().sid.as_deref().map(Value::binary);
    status smallint null = 9i16;
    createdate datetime = principals::date(l.principal().created_unix_ns);
    updatedate datetime = principals::date(l.principal().modified_unix_ns);
    accdate datetime = principals::date(l.principal().created_unix_ns);
    totcpu int null = 0;
    totio int null = 0;
    spacelimit int null = 0;
    timelimit int null = 0;
    resultlimit int null = 0;
    name sysname = &l.principal().name;
    dbname sysname null = l.principal().default.as_ref();
    password nvarchar(128) null = NULL;
    language sysname null = principals::language(l.principal());
    denylogin int null = 0;
    hasaccess int null =
        i32::from(!l.principal().login.as_ref().is_some_and(|login| login.disabled));
    isntname int null = 0;
    isntgroup int null = 0;
    isntuser int null = 0;
    sysadmin int null = l.is_in(server_role::SYSADMIN);
    securityadmin int null = l.is_in(server_role::SECURITYADMIN);
    serveradmin int null = l.is_in(server_role::SERVERADMIN);
    setupadmin int null = l.is_in(server_role::SETUPADMIN);
    processadmin int null = l.is_in(server_role::PROCESSADMIN);
    diskadmin int null = l.is_in(server_role::DISKADMIN);
    dbcreator int null = l.is_in(server_role::DBCREATOR);
    bulkadmin int null = l.is_in(server_role::BULKADMIN);
    loginname nvarchar(128) = &l.principal().name;
}

fn members(context: &Context<'_>, args: &[Value]) -> Result<Vec<(i32, i32)>, SqlError> {
    principals::database_members(context, args)
}

view! {
    SYSMEMBERS = "sys.sysmembers" of (i32, i32) as m, rows members;
    memberuid smallint null = short(m.1);
    groupuid smallint null = short(m.0);
}

fn grants(context: &Context<'_>, args: &[Value]) -> Result<Vec<Granted>, SqlError> {
    principals::database_grants(context, args)
}

/// `action` of sysprotects; other permissions it does not know.
fn action(granted: &Granted) -> Option<u8> {
    Some(match granted.permission() {
        "REFERENCES" => 26,
        "CREATE FUNCTION" => 178,
        "SELECT" => 193,
        "INSERT" => 195,
        "DELETE" => 196,
        "UPDATE" => 197,
        "CREATE TABLE" => 198,
        "CREATE DATABASE" => 203,
        "CREATE VIEW" => 207,
        "CREATE PROCEDURE" => 222,
        "EXECUTE" => 224,
        "BACKUP DATABASE" => 228,
        "CREATE DEFAULT" => 233,
        "BACKUP LOG" => 235,
        "CREATE RULE" => 236,
        _ => return None,
    })
}

/// On an object or on the database; early versions knew nothing else.
fn early(context: &Context<'_>, args: &[Value]) -> Result<Vec<Granted>, SqlError> {
    let mut all = grants(context, args)?;
    all.retain(|granted| action(granted).is_some() && granted.class_number() <= 1);
    Ok(all)
}

view! {
    SYSPROTECTS = "sys.sysprotects" of Granted as g, rows early;
    id int null = g.major_id();
    uid smallint null = short(g.grantee());
    action tinyint null = action(g);
    protecttype tinyint null = match g.state() {
        "W" => 204u8,
        "D" => 206,
        _ => 205,
    };
    columns varbinary(8000) null =
        matches!(action(g), Some(193 | 197)).then(|| Value::binary(&g.column_bits()));
    grantor smallint null = short(g.grantor());
}

view! {
    SYSPERMISSIONS = "sys.syspermissions" of Granted as g, rows early;
    id int null = g.major_id();
    grantee smallint null = short(g.grantee());
    grantor smallint null = short(g.grantor());
    actadd smallint null = NULL;
    actmod smallint null = NULL;
    seladd varbinary(4000) null = NULL;
    selmod varbinary(4000) null = NULL;
    updadd varbinary(4000) null = NULL;
    updmod varbinary(4000) null = NULL;
    refadd varbinary(4000) null = NULL;
    refmod varbinary(4000) null = NULL;
}
