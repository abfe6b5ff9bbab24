//! What a statement is to the audits: the groups that it belongs to, and the records of it.
//!
//! Worked out from the statement's syntax and the events of DDL triggers ([`crate::ddl_events`]), and only while an audit wants
//! something. Whether the permission was had is known when the statement has run: by SQL Server's word that is all that
//! `succeeded` says of it.
//!
//! Promise: no password stands in a record.

mod security;

use crate::ddl_events::Occurrence;
use crate::ddl_events::event_data::{ENCRYPTED, without_passwords};
use audit::{Group, Record};
use catalog::ObjectRef;
use executor::SqlError;
use session_state::{AuditEvent, Host, SessionState};
use syntax::ast::{Expr, ExprKind, Literal, StatementKind as S};

/// What is about to happen, by a statement and its events; `command` is its text.
pub fn events(
    state: &SessionState,
    host: &mut dyn Host,
    statement: &S,
    happens: &[Occurrence],
    command: &str,
) -> Vec<AuditEvent> {
    let made = match statement {
        S::Backup(backup) => {
            let action = if backup.log { b"BAL " } else { b"BA  " };
            vec![of_database(state, Group::BackupRestore, action, backup.database.as_ref())]
        }
        S::Restore(restore) => {
            vec![of_database(state, Group::BackupRestore, b"RS  ", restore.database.as_ref())]
        }
        S::Dbcc(_) => vec![of_database(state, Group::Dbcc, b"DBCC", None)],
        S::Security(statement) => security::events(state, statement, happens),
        _ => happens.iter().filter_map(|happens| of_change(state, happens)).collect(),
    };
    finished(state, host, made, command)
}

/// The same of a system procedure that does what a statement about principals does.
pub fn events_of_principals(
    state: &SessionState,
    host: &mut dyn Host,
    statement: &syntax::ast::SecurityStatement,
    happens: &[Occurrence],
    command: &str,
) -> Vec<AuditEvent> {
    let made = security::events(state, statement, happens);
    finished(state, host, made, command)
}

/// And of any other that has events.
pub fn events_of_procedure(
    state: &SessionState,
    host: &mut dyn Host,
    happens: &[Occurrence],
    command: &str,
) -> Vec<AuditEvent> {
    let made = happens.iter().filter_map(|happens| of_change(state, happens)).collect();
    finished(state, host, made, command)
}

/// The bits of their groups.
pub fn groups(events: &[AuditEvent]) -> u64 {
    events.iter().fold(0, |bits, event| bits | event.group.bit())
}

/// Whether an error says that the permission lacked. Some say only that, some that or that there is nothing of the name.
pub fn is_denial(error: &SqlError) -> bool {
    const DENIALS: &[i32] = &[
        229, 230, 262, 297, 300, 916, 1088, 2571, 2760, 3110, 3701, 3704, 4613, 6102, 10901, 15151,
        15165, 15247, 33073, 5812,
    ];
    DENIALS.contains(&error.number)
}

/// What is not known before the end: the ids of what has come to be.
pub fn after(state: &SessionState, host: &mut dyn Host, event: &mut AuditEvent) {
    let record = &mut event.record;
    let Some(name) = record.object_name.as_deref().filter(|_| record.object_id == 0) else {
        return;
    };
    let own = || state.database.catalog.directory(state.definitions());
    match &record.class {
        b"SL" | b"SG" => {
            let directory = host.server_directory();
            let Some(found) = directory.find(name) else { return };
            record.object_id = found.id;
            if record.class == *b"SL" {
                record.target_server_principal_id = found.id;
                record.target_server_principal_sid = found.sid.clone();
            }
        }
        b"SU" | b"US" | b"RL" | b"AR" => {
            record.object_id = own().find(name).map_or(0, |found| found.id);
        }
        b"SC" => record.object_id = own().schema(name).map_or(0, |found| found.id),
        _ => {
            if let Some(schema) = &record.schema_name {
                record.object_id = object_id(state, schema, name);
            }
        }
    }
}

/// The server, the text and the database are the same for all.
fn finished(
    state: &SessionState,
    host: &mut dyn Host,
    mut events: Vec<AuditEvent>,
    command: &str,
) -> Vec<AuditEvent> {
    let text: Option<Box<str>> = match command {
        "" | ENCRYPTED => None,
        command => Some(without_passwords(command).trim_end().into()),
    };
    let own = &state.database;
    for event in &mut events {
        event.record.server_instance_name = Some(host.server_name().into());
        event.record.statement = text.clone();
        if event.database == 0 {
            continue;
        }
        // Of a statement about another database, that one's audits are asked.
        let named = event.record.database_name.as_deref().unwrap_or("");
        event.database = match catalog::same_name(named, &own.name) {
            true => own.id,
            false => host.database(named).map_or(own.id, |found| found.id),
        };
        if event.record.class == *b"DB" && event.record.object_id == 0 {
            event.record.object_id = host.database(named).map_or(0, |found| found.id.into());
        }
    }
    events
}

fn event(state: &SessionState, group: Group, action: &[u8; 4], class: &[u8; 2]) -> AuditEvent {
    AuditEvent { group, database: state.database.id, record: state.audit_record(action, class) }
}

/// At the server: in no database.
fn event_of_server(
    state: &SessionState,
    group: Group,
    action: &[u8; 4],
    class: &[u8; 2],
) -> AuditEvent {
    let record = Record {
        database_name: None,
        database_principal_name: None,
        database_principal_id: 0,
        ..state.audit_record(action, class)
    };
    AuditEvent { group, database: 0, record }
}

/// Of a database that a constant names, else of the session's.
fn of_database(
    state: &SessionState,
    group: Group,
    action: &[u8; 4],
    name: Option<&Expr>,
) -> AuditEvent {
    let mut made = event(state, group, action, b"DB");
    if let Some(ExprKind::Literal(Literal::String { value, .. })) = name.map(|expr| &expr.kind) {
        made.record.database_name = Some(value.as_str().into());
    }
    made.record.object_name = made.record.database_name.clone();
    made
}

/// Of a definition that is made, changed or dropped. None: no group of this server's has it.
fn of_change(state: &SessionState, happens: &Occurrence) -> Option<AuditEvent> {
    use Group::{AuditChange, DatabaseChange, DatabaseObjectChange, SchemaObjectChange};
    let name = happens.event.name;
    if name == "ALTER_AUTHORIZATION_DATABASE" {
        // sp_changedbowner.
        let mut made = event(state, Group::DatabaseOwnershipChange, b"TO  ", b"DB");
        made.record.object_name = made.record.database_name.clone();
        return Some(made);
    }
    let (action, what): (&[u8; 4], &str) = match name.split_once('_') {
        Some(("CREATE", what)) => (b"CR  ", what),
        Some(("ALTER", what)) => (b"AL  ", what),
        Some(("DROP", what)) => (b"DR  ", what),
        Some(("UPDATE" | "BIND" | "UNBIND", what)) => (b"AL  ", what),
        _ if name == "RENAME" => (b"AL  ", happens.object.as_ref().map_or("", |(_, ty)| ty)),
        _ => return None,
    };
    let (group, class): (Group, &[u8; 2]) = match what {
        "SERVER_AUDIT" => (AuditChange, b"A "),
        "SERVER_AUDIT_SPECIFICATION" => (AuditChange, b"SA"),
        "DATABASE_AUDIT_SPECIFICATION" => (AuditChange, b"DA"),
        "DATABASE" | "DATABASE_SCOPED_CONFIGURATION" => (DatabaseChange, b"DB"),
        "TRIGGER" => match happens.target.as_ref().map(|(_, ty)| *ty) {
            Some("Server") => return None,
            Some("Database") => (DatabaseObjectChange, b"DT"),
            _ => (SchemaObjectChange, b"TR"),
        },
        "FULLTEXT_CATALOG" => (DatabaseObjectChange, b"FC"),
        "PARTITION_FUNCTION" => (DatabaseObjectChange, b"PF"),
        "PARTITION_SCHEME" => (DatabaseObjectChange, b"PS"),
        "TABLE" | "COLUMN" => (SchemaObjectChange, b"U "),
        "VIEW" => (SchemaObjectChange, b"V "),
        "PROCEDURE" => (SchemaObjectChange, b"P "),
        "FUNCTION" => (SchemaObjectChange, b"FN"),
        "INDEX" | "FULLTEXT_INDEX" => (SchemaObjectChange, b"IX"),
        "STATISTICS" => (SchemaObjectChange, b"ST"),
        "SEQUENCE" => (SchemaObjectChange, b"SO"),
        "SYNONYM" => (SchemaObjectChange, b"SN"),
        "RULE" => (SchemaObjectChange, b"R "),
        "DEFAULT" => (SchemaObjectChange, b"D "),
        "TYPE" => (SchemaObjectChange, b"TY"),
        "XML_SCHEMA_COLLECTION" => (SchemaObjectChange, b"SX"),
        "SECURITY_POLICY" => (SchemaObjectChange, b"SP"),
        "OBJECT" => (SchemaObjectChange, b"OB"),
        _ => return None,
    };
    if group == AuditChange && what != "DATABASE_AUDIT_SPECIFICATION" {
        let mut made = event_of_server(state, group, action, class);
        made.record.object_name = happens.object.as_ref().map(|(name, _)| name.as_str().into());
        return Some(made);
    }
    let mut made = event(state, group, action, class);
    if class == b"DB" {
        let name = happens.database.as_deref().unwrap_or(&state.database.name);
        made.record.database_name = Some(name.into());
        made.record.object_name = Some(name.into());
        return Some(made);
    }
    let some = |text: &String| (!text.is_empty()).then(|| text.as_str().into());
    made.record.schema_name = happens.schema.as_ref().and_then(some);
    made.record.object_name = happens.object.as_ref().and_then(|(name, _)| some(name));
    if let (Some(schema), Some(name)) = (&made.record.schema_name, &made.record.object_name) {
        made.record.object_id = object_id(state, schema, name);
    }
    Some(made)
}

fn object_id(state: &SessionState, schema: &str, name: &str) -> i32 {
    match state.find_own(Some(schema), name) {
        Some(ObjectRef::Table(table)) => table.object_id,
        Some(ObjectRef::Procedure(module)) => module.object_id,
        None => 0,
    }
}
