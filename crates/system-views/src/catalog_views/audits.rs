//! SQL Server Audit: what is defined (sys.server_audits and its like), how it runs (sys.dm_server_audit_status), what audits
//! can be asked for (sys.dm_audit_actions, sys.dm_audit_class_type_map), and the records of files (sys.fn_get_audit_file).
//!
//! Columns and types: SQL Server's documentation of each view. Definitions are seen by who has ALTER ANY SERVER AUDIT or
//! VIEW ANY DEFINITION, and of a database ALTER ANY DATABASE AUDIT or VIEW DEFINITION. sys.dm_audit_actions has the groups
//! that SQL Server knows and the actions that are written here.

use super::principals::access;
use crate::context::{Context, moment};
use crate::declare::{Cell, Declared, NULL, view};
use audit::{ACTIONS, CLASSES, ClassType, GROUPS, Group, GroupFacts, GroupScope, Record, Status};
use catalog::{AuditDef, AuditSpecificationDef};
use executor::SqlError;
use security::{Permission, Target};
use types::datetime::datetime2_from_unix_ns;
use types::{Bytes, Value};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &AUDITS,
    &FILE_AUDITS,
    &SERVER_SPECIFICATIONS,
    &SERVER_DETAILS,
    &DATABASE_SPECIFICATIONS,
    &DATABASE_DETAILS,
    &STATUS,
    &AUDIT_ACTIONS,
    &CLASS_TYPES,
    &AUDIT_FILE,
];

type Rows<T> = Result<Vec<T>, SqlError>;

fn audits(context: &Context<'_>, _: &[Value]) -> Rows<AuditDef> {
    Ok(if sees_server(context) { context.server.audits().defs.audits.clone() } else { Vec::new() })
}

fn sees_server(context: &Context<'_>) -> bool {
    let access = access(context);
    [Permission::AlterAnyServerAudit, Permission::ViewAnySecurityDefinition]
        .into_iter()
        .any(|permission| access.allows(permission, Target::Server))
}

fn failure_word(number: u8) -> &'static str {
    ["CONTINUE", "SHUTDOWN SERVER INSTANCE", "FAIL OPERATION"][number.min(2) as usize]
}

view! {
    AUDITS = "sys.server_audits" of AuditDef as a, rows audits;
    audit_id int = a.id;
    name sysname = &a.name;
    audit_guid uniqueidentifier null = a.guid;
    create_date datetime = moment(a.created_unix_ns);
    modify_date datetime = moment(a.modified_unix_ns);
    principal_id int null = a.principal;
    r#type char(2) = "FL";
    type_desc nvarchar(60) null = "FILE";
    on_failure tinyint null = a.on_failure;
    on_failure_desc nvarchar(60) null = failure_word(a.on_failure);
    is_state_enabled tinyint null = u8::from(a.is_on);
    queue_delay int null = a.queue_delay_ms as i32;
    predicate nvarchar(3000) null = a.predicate.as_ref();
}

view! {
    FILE_AUDITS = "sys.server_file_audits" of AuditDef as a, rows audits;
    audit_id int = a.id;
    name sysname = &a.name;
    audit_guid uniqueidentifier null = a.guid;
    create_date datetime = moment(a.created_unix_ns);
    modify_date datetime = moment(a.modified_unix_ns);
    principal_id int null = a.principal;
    r#type char(2) = "FL";
    type_desc nvarchar(60) null = "FILE";
    on_failure tinyint null = a.on_failure;
    on_failure_desc nvarchar(60) null = failure_word(a.on_failure);
    is_state_enabled bit null = a.is_on;
    queue_delay int null = a.queue_delay_ms as i32;
    predicate nvarchar(3000) null = a.predicate.as_ref();
    max_file_size bigint null = a.file_mb_max as i64;
    max_rollover_files int null = a.rollover_files_max as i32;
    max_files int null = a.files_max as i32;
    reserve_disk_space bit null = a.reserves_space;
    log_file_path nvarchar(260) null = &a.folder;
    log_file_name nvarchar(260) null = log_file_name(a);
    retention_days int null = NULL;
    is_operator_audit bit null = false;
}

/// What the files' names begin with; the number and the time follow.
fn log_file_name(a: &AuditDef) -> String {
    audit::file_base(&a.name, &a.guid) + audit::FILE_ENDING
}

fn specifications(context: &Context<'_>, _: &[Value]) -> Rows<AuditSpecificationDef> {
    let shown = sees_server(context);
    Ok(if shown { context.server.audits().defs.specifications.clone() } else { Vec::new() })
}

fn of_database(context: &Context<'_>, _: &[Value]) -> Rows<AuditSpecificationDef> {
    let access = access(context);
    let sees = [Permission::AlterAnyDatabaseAudit, Permission::ViewSecurityDefinition]
        .into_iter()
        .any(|permission| access.allows(permission, Target::Database));
    if !sees || context.stand_in.is_some() {
        return Ok(Vec::new());
    }
    Ok(context.database.catalog.configuration().audit_specifications())
}

macro_rules! specification_view {
    ($name:ident = $text:literal, $id:ident, $rows:ident) => {
        view! {
            $name = $text of AuditSpecificationDef as s, rows $rows;
            $id int = s.id;
            name sysname = &s.name;
            create_date datetime = moment(s.created_unix_ns);
            modify_date datetime = moment(s.modified_unix_ns);
            audit_guid uniqueidentifier null = s.audit;
            is_state_enabled bit null = s.is_on;
        }
    };
}

specification_view! { SERVER_SPECIFICATIONS = "sys.server_audit_specifications", server_specification_id, specifications }
specification_view! { DATABASE_SPECIFICATIONS = "sys.database_audit_specifications", database_specification_id, of_database }

/// A group of a specification.
pub struct Detail {
    specification: i32,
    group: &'static GroupFacts,
}

fn details(all: Vec<AuditSpecificationDef>) -> Vec<Detail> {
    let each = all.iter().flat_map(|specification| {
        let groups = specification.groups.iter().filter_map(|name| audit::group_named(name));
        groups.map(|group| Detail { specification: specification.id, group })
    });
    each.collect()
}

fn server_details(context: &Context<'_>, args: &[Value]) -> Rows<Detail> {
    Ok(details(specifications(context, args)?))
}

fn database_details(context: &Context<'_>, args: &[Value]) -> Rows<Detail> {
    Ok(details(of_database(context, args)?))
}

macro_rules! detail_view {
    ($name:ident = $text:literal, $id:ident, $rows:ident, $class:literal, $class_desc:literal) => {
        view! {
            $name = $text of Detail as d, rows $rows;
            $id int = d.specification;
            audit_action_id char(4) = d.group.id;
            audit_action_name sysname null = d.group.name;
            class tinyint = $class;
            class_desc nvarchar(60) null = $class_desc;
            major_id int = 0;
            minor_id int = 0;
            audited_principal_id int = 0;
            audited_result nvarchar(60) null = "SUCCESS AND FAILURE";
            is_group bit null = true;
        }
    };
}

detail_view! { SERVER_DETAILS = "sys.server_audit_specification_details", server_specification_id, server_details, 100u8, "SERVER" }
detail_view! { DATABASE_DETAILS = "sys.database_audit_specification_details", database_specification_id, database_details, 0u8, "DATABASE" }

/// How an audit stands.
pub struct Standing {
    def: AuditDef,
    status: Option<Status>,
}

impl Standing {
    fn number(&self) -> usize {
        match &self.status {
            None => 0,
            Some(status) if status.failure.is_none() => 1,
            Some(status) if status.is_without_file => 3,
            Some(_) => 2,
        }
    }
}

fn standing(context: &Context<'_>, _: &[Value]) -> Rows<Standing> {
    let facts = context.server.audits();
    let of = |guid: [u8; 16]| facts.statuses.iter().find(|(own, _)| *own == guid);
    let all = facts.defs.audits.iter().map(|def| Standing {
        def: def.clone(),
        status: of(def.guid).map(|(_, status)| status.clone()),
    });
    Ok(all.collect())
}

view! {
    STATUS = "sys.dm_server_audit_status" of Standing as s, rows standing;
    audit_id int = s.def.id;
    name sysname = &s.def.name;
    status smallint = s.number() as i16;
    status_desc nvarchar(60) = ["NOT_STARTED", "STARTED", "RUNTIME_FAIL", "TARGET_CREATION_FAILED"][s.number()];
    status_time datetime2 = Value::DateTime2(datetime2_from_unix_ns(s.status.as_ref().map_or(s.def.modified_unix_ns, |t| t.since_unix_ns)));
    event_session_address varbinary(8) null = NULL;
    audit_file_path nvarchar(256) null = s.status.as_ref().and_then(|t| t.file.as_ref()).map(|path| path.display().to_string());
    audit_file_size bigint null = s.status.as_ref().map(|t| t.file_bytes as i64);
}

/// A group or an action of a class.
pub struct ActionRow {
    id: &'static str,
    in_log: bool,
    name: &'static str,
    class: &'static str,
    covering: Option<&'static str>,
    level: Option<&'static str>,
    group: Option<&'static str>,
}

/// What is in what: the class above another.
fn parent(class: &str) -> Option<&'static str> {
    Some(match class {
        "SERVER" => return None,
        "OBJECT" | "TYPE" | "XML SCHEMA COLLECTION" => "SCHEMA",
        "SCHEMA"
        | "USER"
        | "ROLE"
        | "APPLICATION ROLE"
        | "FULLTEXT CATALOG"
        | "DATABASE AUDIT SPECIFICATION" => "DATABASE",
        _ => "SERVER",
    })
}

fn actions(_: &Context<'_>, _: &[Value]) -> Rows<ActionRow> {
    let group = |facts: &'static GroupFacts, class, covering| ActionRow {
        id: facts.id,
        in_log: false,
        name: facts.name,
        class,
        covering,
        level: Some("Group"),
        group: None,
    };
    let mut rows = Vec::new();
    for facts in GROUPS {
        rows.push(group(facts, "SERVER", None));
        if facts.scope == GroupScope::Both {
            rows.push(group(facts, "DATABASE", Some(facts.name)));
        }
    }
    let name_of = |group: Group| Some(group.facts().name);
    rows.extend(ACTIONS.iter().copied().flatten().map(|action| ActionRow {
        id: action.id,
        in_log: true,
        name: action.name,
        class: action.class,
        covering: name_of(action.group),
        level: None,
        group: name_of(action.group),
    }));
    Ok(rows)
}

view! {
    AUDIT_ACTIONS = "sys.dm_audit_actions" of ActionRow as a, rows actions;
    action_id varchar(4) null = a.id;
    action_in_log bit = a.in_log;
    name sysname = a.name;
    class_desc nvarchar(120) = a.class;
    parent_class_desc nvarchar(120) null = parent(a.class);
    covering_parent_action_name nvarchar(120) null = a.covering;
    configuration_level nvarchar(10) null = a.level;
    containing_group_name nvarchar(120) null = a.group;
}

fn classes(_: &Context<'_>, _: &[Value]) -> Rows<ClassType> {
    Ok(CLASSES.to_vec())
}

view! {
    CLASS_TYPES = "sys.dm_audit_class_type_map" of ClassType as c, rows classes;
    class_type varchar(2) null = c.class;
    class_type_desc nvarchar(120) null = c.name;
    securable_class_desc nvarchar(120) null = c.securable;
}

/// A record, and where it was found.
pub struct AuditRow<'a> {
    pub record: Record,
    pub file: &'a str,
    pub offset: u64,
}

type Made = Vec<Value>;

/// The session answers in its stead: it has the files read.
fn nothing(_: &Context<'_>, _: &[Value]) -> Rows<Made> {
    Ok(Vec::new())
}

/// The values of a record, in the order of the columns of sys.fn_get_audit_file.
pub fn audit_file_row(row: &AuditRow<'_>) -> Vec<Value> {
    let r = &row.record;
    let bytes = |bytes: &[u8]| Value::Binary(Bytes::from(bytes));
    let text = |text: &Option<Box<str>>| text.as_deref().cell();
    let group = (r.sequence_group != [0; 16]).then(|| bytes(&r.sequence_group));
    vec![
        Value::DateTime2(datetime2_from_unix_ns(r.event_unix_ns)),
        (r.sequence_number as i32).cell(),
        r.action_text().cell(),
        r.succeeded.cell(),
        NULL,
        r.is_column_permission.cell(),
        (r.session_id as i16).cell(),
        r.server_principal_id.cell(),
        r.database_principal_id.cell(),
        r.target_server_principal_id.cell(),
        r.target_database_principal_id.cell(),
        r.object_id.cell(),
        r.class_text().cell(),
        text(&r.session_server_principal_name),
        text(&r.server_principal_name),
        r.server_principal_sid.as_deref().map_or(NULL, bytes),
        text(&r.database_principal_name),
        text(&r.target_server_principal_name),
        r.target_server_principal_sid.as_deref().map_or(NULL, bytes),
        text(&r.target_database_principal_name),
        text(&r.server_instance_name),
        text(&r.database_name),
        text(&r.schema_name),
        text(&r.object_name),
        text(&r.statement),
        text(&r.additional_information),
        row.file.cell(),
        (row.offset as i64).cell(),
        0i16.cell(),
        NULL,
        1i32.cell(),
        group.unwrap_or(NULL),
        r.transaction_id.cell(),
        text(&r.client_ip),
        text(&r.application_name),
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        text(&r.host_name),
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
        NULL,
    ]
}

view! {
    AUDIT_FILE = "sys.fn_get_audit_file" of Made as r, rows nothing, params (nvarchar(260), nvarchar(260), bigint);
    event_time datetime2 = &r[0];
    sequence_number int = &r[1];
    action_id varchar(4) null = &r[2];
    succeeded bit = &r[3];
    permission_bitmask varbinary(16) null = &r[4];
    is_column_permission bit = &r[5];
    session_id smallint = &r[6];
    server_principal_id int = &r[7];
    database_principal_id int = &r[8];
    target_server_principal_id int = &r[9];
    target_database_principal_id int = &r[10];
    object_id int = &r[11];
    class_type varchar(2) null = &r[12];
    session_server_principal_name sysname null = &r[13];
    server_principal_name sysname null = &r[14];
    server_principal_sid varbinary(85) null = &r[15];
    database_principal_name sysname null = &r[16];
    target_server_principal_name sysname null = &r[17];
    target_server_principal_sid varbinary(85) null = &r[18];
    target_database_principal_name sysname null = &r[19];
    server_instance_name sysname null = &r[20];
    database_name sysname null = &r[21];
    schema_name sysname null = &r[22];
    object_name sysname null = &r[23];
    statement nvarchar(4000) null = &r[24];
    additional_information nvarchar(4000) null = &r[25];
    file_name nvarchar(260) = &r[26];
    audit_file_offset bigint = &r[27];
    user_defined_event_id smallint = &r[28];
    user_defined_information nvarchar(4000) null = &r[29];
    audit_schema_version int = &r[30];
    sequence_group_id varbinary(85) null = &r[31];
    transaction_id bigint = &r[32];
    client_ip nvarchar(128) null = &r[33];
    application_name nvarchar(128) null = &r[34];
    duration_milliseconds bigint null = &r[35];
    response_rows bigint null = &r[36];
    affected_rows bigint null = &r[37];
    connection_id uniqueidentifier null = &r[38];
    data_sensitivity_information nvarchar(4000) null = &r[39];
    host_name nvarchar(128) null = &r[40];
    session_context nvarchar(4000) null = &r[41];
    client_tls_version bigint null = &r[42];
    client_tls_version_name nvarchar(128) null = &r[43];
    database_transaction_id bigint null = &r[44];
    ledger_start_sequence_number bigint null = &r[45];
    external_policy_permissions_checked nvarchar(4000) null = &r[46];
    obo_middle_tier_app_id varchar(120) null = &r[47];
    is_local_secondary_replica bit null = &r[48];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_every_column() {
        let record = Record::new(b"CR  ", b"U ");
        let row = audit_file_row(&AuditRow { record, file: "f", offset: 64 });
        assert_eq!(row.len(), AUDIT_FILE.columns.len());
        for (value, column) in row.iter().zip(AUDIT_FILE.columns) {
            assert!(column.nullable || *value != NULL, "{}", column.name);
        }
    }
}
