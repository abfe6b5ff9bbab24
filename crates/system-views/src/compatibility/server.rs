//! The instance as early versions showed it: configuration, counters, locks, files, servers; and the constraints and
//! filegroups of a database.
//!
//! Columns and types: SQL Server's documentation of each compatibility view.

use crate::catalog_views::databases::{File, Group, PAGE, all_files, groups};
use crate::catalog_views::server::{Myself, Setting, myself, settings};
use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use crate::object::{self, Object, What};
use crate::statistics::counters::{Reading, readings};
use crate::statistics::locks::{Lock, locks};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &SYSCONFIGURES,
    &SYSCURCONFIGS,
    &SYSPERFINFO,
    &SYSLOCKINFO,
    &SYSALTFILES,
    &SYSFILEGROUPS,
    &SYSSERVERS,
    &SYSCHARSETS,
    &SYSCONSTRAINTS,
];

/// A text of that many characters.
fn padded(text: &str, length: usize) -> String {
    let short: String = text.chars().take(length).collect();
    format!("{short:<length$}")
}

/// 1 dynamic, 2 advanced.
fn status(setting: &Setting) -> i16 {
    i16::from(setting.known.is_dynamic) + 2 * i16::from(setting.known.is_advanced)
}

/// Every option's range lies within int.
fn int(value: i64) -> i32 {
    value as i32
}

view! {
    SYSCONFIGURES = "sys.sysconfigures" of Setting as s, rows settings;
    value int null = int(s.value);
    config int = s.known.id;
    comment nvarchar(255) = s.known.description;
    status smallint null = status(s);
}

view! {
    SYSCURCONFIGS = "sys.syscurconfigs" of Setting as s, rows settings;
    value int null = int(s.in_use);
    config smallint = s.known.id as i16;
    comment nvarchar(255) = s.known.description;
    status smallint null = status(s);
}

view! {
    SYSPERFINFO = "sys.sysperfinfo" of Reading as r, rows readings;
    object_name nchar(128) = r.object_name();
    counter_name nchar(128) = r.counter_name();
    instance_name nchar(128) null = r.instance_name();
    cntr_value bigint = r.value();
    cntr_type int = r.kind();
}

/// `rsc_type`: of resources that it does not know, 1.
fn resource_kind(kind: &str) -> u8 {
    match kind {
        "DATABASE" => 2,
        "OBJECT" => 5,
        "PAGE" => 6,
        "KEY" => 7,
        "RID" => 9,
        "APPLICATION" => 10,
        _ => 1,
    }
}

/// `req_mode` by a mode's name.
fn mode_number(mode: &str) -> u8 {
    const MODES: [&str; 22] = [
        "NULL", "Sch-S", "Sch-M", "S", "U", "X", "IS", "IU", "IX", "SIU", "SIX", "UIX", "BU",
        "RangeS-S", "RangeS-U", "RangeI-N", "RangeI-S", "RangeI-U", "RangeI-X", "RangeX-S",
        "RangeX-U", "RangeX-X",
    ];
    MODES.iter().position(|known| known.eq_ignore_ascii_case(mode)).map_or(0, |at| at as u8)
}

view! {
    SYSLOCKINFO = "sys.syslockinfo" of Lock as l, rows locks;
    rsc_text nchar(32) = padded(l.description(), 32);
    rsc_bin binary(16) null = NULL;
    rsc_valblk binary(16) null = NULL;
    rsc_dbid smallint = l.database() as i16;
    rsc_indid smallint = 0i16;
    rsc_objid int = if l.kind() == "OBJECT" { l.entity() as i32 } else { 0 };
    rsc_type tinyint = resource_kind(l.kind());
    rsc_flag tinyint = 0u8;
    req_mode tinyint = mode_number(l.mode());
    req_status tinyint = match l.status() {
        "GRANT" => 1u8,
        "CONVERT" => 2,
        _ => 3,
    };
    req_refcnt smallint = 1i16;
    req_cryrefcnt smallint = 0i16;
    req_lifetime int = 0;
    req_spid int = l.session();
    req_ecid int = 0;
    req_ownertype smallint = if l.transaction_id() == 0 { 3i16 } else { 1i16 };
    req_transactionID bigint null = l.transaction_id();
    req_transactionUOW uniqueidentifier null = [0u8; 16];
}

fn files(context: &Context<'_>, values: &[Value]) -> Result<Vec<File>, SqlError> {
    Ok(all_files(context, values)?.into_iter().filter(|file| !file.is_container).collect())
}

view! {
    SYSALTFILES = "sys.sysaltfiles" of File as f, rows files;
    fileid smallint null = f.id as i16;
    groupid smallint null = f.filegroup as i16;
    size int = f.size();
    maxsize int = f.max_size();
    growth int = (f.growth_bytes / PAGE) as i32;
    status int null = if f.is_log() { 66 } else { 2 };
    perf int null = 0;
    dbid smallint null = f.database_id as i16;
    name sysname = &f.name;
    filename nvarchar(260) = &f.path;
}

view! {
    SYSFILEGROUPS = "sys.sysfilegroups" of Group as g, rows groups;
    groupid smallint null = g.number as i16;
    allocpolicy smallint null = 0i16;
    status int null = if g.def.is_default { 16 } else { 0 };
    groupname sysname = &g.def.name;
}

view! {
    SYSSERVERS = "sys.sysservers" of Myself as s, rows myself;
    srvid smallint null = 0i16;
    srvstatus smallint null = 1089i16;
    srvname sysname = s.name();
    srvproduct sysname = "SQL Server";
    providername nvarchar(128) = "SQLOLEDB";
    datasource nvarchar(4000) null = s.name();
    location nvarchar(4000) null = NULL;
    providerstring nvarchar(4000) null = NULL;
    schemadate datetime = moment(s.start_unix_ns());
    topologyx int null = 0;
    topologyy int null = 0;
    catalog sysname null = NULL;
    srvcollation sysname null = NULL;
    connecttimeout int null = 0;
    querytimeout int null = 0;
    srvnetname char(30) null = padded(s.name(), 30);
    isremote bit null = true;
    rpc bit null = true;
    pub bit null = false;
    sub bit null = false;
    dist bit null = false;
    dpub bit null = false;
    rpcout bit null = true;
    dataaccess bit null = false;
    collationcompatible bit null = false;
    system bit null = false;
    useremotecollation bit null = true;
    lazyschemavalidation bit null = false;
    collation sysname null = NULL;
    nonsqlsub bit null = false;
}

/// A character set or sort order: type, id, name, description.
pub struct Charset(i16, u8, &'static str, &'static str);

fn charsets(_: &Context<'_>, _: &[Value]) -> Result<Vec<Charset>, SqlError> {
    Ok(vec![
        Charset(1001, 1, "iso_1", "ISO 8859-1 (Latin-1) - Western European 8-bit character set."),
        Charset(
            2001,
            52,
            "nocase_iso",
            "Case-insensitive dictionary sort order for use with several Western-European languages including English, \
             French, and German. Uses the ISO 8859-1 character set.",
        ),
    ])
}

view! {
    /// Those of the collation SQL_Latin1_General_CP1_CI_AS.
    SYSCHARSETS = "sys.syscharsets" of Charset as c, rows charsets;
    type smallint = c.0;
    id tinyint = c.1;
    csid tinyint = if c.0 == 2001 { 1u8 } else { 0u8 };
    status smallint null = 0i16;
    name sysname = c.2;
    description nvarchar(255) null = c.3;
    binarydefinition varbinary(6000) null = NULL;
    definition varbinary(max) null = NULL;
}

/// A constraint and the column that it was made with; 0: the table's.
pub struct Constraint {
    object: Object,
    column: i16,
}

impl Constraint {
    fn status(&self) -> i32 {
        let kind = match self.object.kind() {
            "PK" => 1,
            "UQ" => 2,
            "F" => 3,
            "C" => 4,
            _ => 5,
        };
        kind + if self.column > 0 { 16 } else { 32 }
    }
}

fn constraints(context: &Context<'_>, _: &[Value]) -> Result<Vec<Constraint>, SqlError> {
    let all = object::user_objects(context).into_iter().filter(Object::is_constraint);
    let column = |object: &Object| match &object.what {
        What::Default(_, ordinal) => *ordinal as i16 + 1,
        What::Check(table, at) => {
            table.checks.get(*at).and_then(|check| check.column).map_or(0, |i| i as i16 + 1)
        }
        _ => 0,
    };
    Ok(all.map(|object| Constraint { column: column(&object), object }).collect())
}

view! {
    SYSCONSTRAINTS = "sys.sysconstraints" of Constraint as c, rows constraints;
    constid int = c.object.id;
    id int = c.object.parent;
    colid smallint null = c.column;
    spare1 tinyint null = 0u8;
    status int null = c.status();
    actions int null = 4096;
    error int null = 0;
}
