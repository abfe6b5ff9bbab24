//! Locks and transactions.
//!
//! Columns and types: SQL Server's documentation of sys.dm_tran_locks, sys.dm_tran_active_transactions,
//! sys.dm_tran_session_transactions, sys.dm_tran_database_transactions and sys.dm_tran_version_store_space_usage.
//! A transaction belongs to one database here; its number is made of the database's and its own there, so it is unique
//! in the instance. Uncontended intent locks are counted, not listed (docs/compatibility.md).

use super::snapshot::{Address, Snapshot};
use crate::catalog_views::indexes::trees_of;
use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use crate::facts::SessionFacts;
use catalog::TableDef;
use engine::{LockResource, LockRow, Owner, TransactionInfo};
use executor::SqlError;
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&LOCKS, &ACTIVE, &OF_SESSIONS, &OF_DATABASES, &VERSION_STORE];

/// The table of a tree: its object's id, in a database.
fn object_of(context: &Context<'_>, database: i32, tree: u64) -> Option<i32> {
    let there = context.of_database_id(database.into())?;
    let tables = there.database.catalog.objects_in(None).into_iter();
    let mut tables = tables.filter_map(|object| object.rows().cloned());
    let has = |table: &Arc<TableDef>| trees_of(table).iter().any(|(_, id)| id.0.0 == tree);
    tables.find(has).map(|table| table.object_id)
}

/// A lock's kind, its description and what it belongs to, as sys.dm_tran_locks shows them.
struct Shown {
    kind: &'static str,
    description: String,
    entity: i64,
}

fn shown(context: &Context<'_>, database: i32, resource: LockResource) -> Shown {
    match resource {
        LockResource::Table { tree } => Shown {
            kind: "OBJECT",
            description: String::new(),
            entity: object_of(context, database, tree).map_or(tree as i64, i64::from),
        },
        LockResource::Key { tree, hash } => Shown {
            kind: "KEY",
            description: format!("({:012x})", hash & 0xffff_ffff_ffff),
            entity: tree as i64,
        },
        LockResource::EndOfTable { tree } => {
            Shown { kind: "KEY", description: "(ffffffffffff)".to_owned(), entity: tree as i64 }
        }
        LockResource::Application { hash } => {
            Shown { kind: "APPLICATION", description: format!("0:[]:({hash:016x})"), entity: 0 }
        }
        LockResource::Transaction { xid } => {
            Shown { kind: "XACT", description: format!("{xid}"), entity: 0 }
        }
    }
}

/// `wait_resource` of sys.dm_exec_requests.
pub fn resource_text(context: &Context<'_>, database: i32, resource: LockResource) -> String {
    let Shown { kind, description, entity } = shown(context, database, resource);
    match kind {
        "OBJECT" => format!("OBJECT: {database}:{entity}:0 "),
        "KEY" => format!("KEY: {database}:{entity} {description}"),
        _ => format!("{kind}: {database}:{description}"),
    }
}

/// `resource_description` of sys.dm_os_waiting_tasks.
pub fn waiting_text(
    context: &Context<'_>,
    database: i32,
    resource: LockResource,
    mode: &str,
) -> String {
    let Shown { kind, description, entity } = shown(context, database, resource);
    let mode = mode.to_uppercase();
    match kind {
        "OBJECT" => format!(
            "objectlock lockPartition=0 objid={entity} subresource=FULL dbid={database} mode={mode} \
             associatedObjectId={entity}"
        ),
        "KEY" => format!(
            "keylock hobtid={entity} dbid={database} mode={mode} associatedObjectId={entity}"
        ),
        "APPLICATION" => format!(
            "applicationlock hash={description} databasePrincipalId=0 dbid={database} mode={mode}"
        ),
        _ => format!("xactlock xactid={description} dbid={database} mode={mode}"),
    }
}

/// One number per lock request; the waiting task's resource_address is that of its request.
pub fn lock_address(database: i32, owner: Owner, resource: LockResource) -> u64 {
    let (kind, tree, hash) = match resource {
        LockResource::Table { tree } => (1u64, tree, 0),
        LockResource::Key { tree, hash } => (2, tree, hash),
        LockResource::EndOfTable { tree } => (2, tree, u64::MAX),
        LockResource::Application { hash } => (3, 0, hash),
        LockResource::Transaction { xid } => (4, 0, xid),
    };
    let mut mixed = stdx::mix64(database as u64 ^ kind << 32);
    for part in [tree, hash, owner.0] {
        mixed = stdx::mix64(mixed ^ part);
    }
    0x7900_0000_0000 | mixed & 0x00ff_ffff_fff0
}

/// transaction_id of the instance.
pub(super) fn transaction_id(database: i32, transaction: &TransactionInfo) -> i64 {
    (database as i64 & 0x7fff) << 48 | (transaction.id & 0xffff_ffff_ffff) as i64
}

impl Snapshot {
    /// transaction_id of a session's active transaction.
    pub fn transaction_id_of(&self, session: i32) -> Option<i64> {
        self.transaction_of(session).map(|(database, t)| transaction_id(database, t))
    }

    /// Has a session's transaction changed anything?
    pub fn has_written(&self, session: i32) -> bool {
        self.transaction_of(session).is_some_and(|(_, t)| t.writes)
    }
}

/// A lock that is held or waited for.
pub struct Lock {
    database: i32,
    row: LockRow,
    shown: Shown,
    /// A lock request of the owner for the same resource is granted: it waits for a stronger mode.
    converts: bool,
    transaction: i64,
}

pub fn locks(context: &Context<'_>, _: &[Value]) -> Result<Vec<Lock>, SqlError> {
    let mut all = Vec::new();
    for database in context.server.databases() {
        let Some(open) = &database.open else { continue };
        let transactions = open.engine.transactions();
        let mut rows = open.engine.locks();
        // A wait for a transaction's end is in no table of locks.
        for wait in open.engine.lock_waits() {
            if matches!(wait.resource, LockResource::Transaction { .. }) {
                rows.push(LockRow {
                    session: wait.session,
                    owner: wait.owner,
                    resource: wait.resource,
                    tree: None,
                    mode: wait.mode,
                    granted: false,
                });
            }
        }
        for row in &rows {
            let of = |t: &&TransactionInfo| t.owner == row.owner;
            let granted = |other: &LockRow| {
                other.granted && other.owner == row.owner && other.resource == row.resource
            };
            all.push(Lock {
                database: database.id,
                shown: shown(context, database.id, row.resource),
                converts: !row.granted && rows.iter().any(granted),
                transaction: transactions
                    .iter()
                    .find(of)
                    .map_or(0, |t| transaction_id(database.id, t)),
                row: *row,
            });
        }
    }
    Ok(all)
}

impl Lock {
    pub fn description(&self) -> &str {
        &self.shown.description
    }

    pub fn kind(&self) -> &'static str {
        self.shown.kind
    }

    pub fn entity(&self) -> i64 {
        self.shown.entity
    }

    pub fn database(&self) -> i32 {
        self.database
    }

    pub fn mode(&self) -> &'static str {
        self.row.mode
    }

    pub fn session(&self) -> i32 {
        self.row.session.map_or(0, |session| session as i32)
    }

    /// 0: the session's own.
    pub fn transaction_id(&self) -> i64 {
        self.transaction
    }

    /// `request_status`.
    pub fn status(&self) -> &'static str {
        match (self.row.granted, self.converts) {
            (true, _) => "GRANT",
            (false, true) => "CONVERT",
            (false, false) => "WAIT",
        }
    }
}

view! {
    LOCKS = "sys.dm_tran_locks" of Lock as l, rows locks;
    resource_type nvarchar(60) = l.shown.kind;
    resource_subtype nvarchar(60) = "";
    resource_database_id int = l.database;
    resource_description nvarchar(256) = &l.shown.description;
    resource_associated_entity_id bigint null = l.shown.entity;
    resource_lock_partition int = 0;
    request_mode nvarchar(60) = l.row.mode;
    request_type nvarchar(60) = "LOCK";
    request_status nvarchar(60) = l.status();
    request_reference_count smallint = 1i16;
    request_lifetime int = 0;
    request_session_id int = l.row.session.map_or(0, |s| s as i32);
    request_exec_context_id int = 0;
    request_request_id int = 0;
    request_owner_type nvarchar(60) = if l.transaction == 0 { "SESSION" } else { "TRANSACTION" };
    request_owner_id bigint null = l.transaction;
    request_owner_guid uniqueidentifier null = [0u8; 16];
    request_owner_lockspace_id nvarchar(32) = format!("0x{:016X}:0:0", l.row.owner.0);
    lock_owner_address varbinary(8) =
        Address::Lock(lock_address(l.database, l.row.owner, l.row.resource)).value();
}

/// An active transaction.
pub struct Transaction {
    id: i64,
    database: i32,
    info: TransactionInfo,
    session: Option<SessionFacts>,
}

fn transactions(context: &Context<'_>, _: &[Value]) -> Result<Vec<Transaction>, SqlError> {
    let snapshot = Snapshot::take(context);
    let one = |(database, info): &(i32, TransactionInfo)| Transaction {
        id: transaction_id(*database, info),
        database: *database,
        info: *info,
        session: snapshot.sessions.iter().find(|s| Some(s.id as u32) == info.session).cloned(),
    };
    Ok(snapshot.transactions.iter().map(one).collect())
}

fn of_sessions(context: &Context<'_>, args: &[Value]) -> Result<Vec<Transaction>, SqlError> {
    Ok(transactions(context, args)?.into_iter().filter(|t| t.session.is_some()).collect())
}

impl Transaction {
    /// Opened by BEGIN TRANSACTION or its like, not by a statement for itself.
    fn is_users(&self) -> bool {
        self.session.as_ref().is_some_and(|s| s.published.trancount > 0)
    }

    fn kind(&self) -> i32 {
        if self.info.writes { 1 } else { 2 }
    }

    fn descriptor(&self) -> Value {
        let session = self.session.as_ref().map_or(0, |s| s.id as u64);
        Value::binary(&(session << 40 | self.info.id & 0xff_ffff_ffff).to_le_bytes())
    }
}

view! {
    ACTIVE = "sys.dm_tran_active_transactions" of Transaction as t, rows transactions;
    transaction_id bigint = t.id;
    name nvarchar(32) = if t.is_users() { "user_transaction" } else { "implicit_transaction" };
    transaction_begin_time datetime = moment(t.info.begun_unix_ns);
    transaction_type int = t.kind();
    transaction_uow uniqueidentifier null = NULL;
    transaction_state int = 2;
    transaction_status int = 0;
    transaction_status2 int = 258;
    dtc_state int = 0;
    dtc_status int = 0;
    dtc_isolation_level int = -1;
    filestream_transaction_id varbinary(128) null = NULL;
}

view! {
    OF_SESSIONS = "sys.dm_tran_session_transactions" of Transaction as t, rows of_sessions;
    session_id int null = t.session.as_ref().map(|s| s.id);
    transaction_id bigint = t.id;
    transaction_descriptor binary(8) = t.descriptor();
    enlist_count int = t.session.as_ref().map_or(0, |s| i32::from(s.running));
    is_user_transaction bit = t.is_users();
    is_local bit = true;
    is_enlisted bit = false;
    is_bound bit = false;
    open_transaction_count int = t.session.as_ref().map_or(0, |s| s.published.trancount);
}

view! {
    OF_DATABASES = "sys.dm_tran_database_transactions" of Transaction as t, rows transactions;
    transaction_id bigint = t.id;
    database_id int = t.database;
    database_transaction_begin_time datetime null = t.info.writes.then(|| moment(t.info.begun_unix_ns));
    database_transaction_type int = t.kind();
    database_transaction_state int = if t.info.writes { 4 } else { 3 };
    database_transaction_status int = 0;
    database_transaction_status2 int = 258;
    database_transaction_log_record_count bigint = 0i64;
    database_transaction_replicate_record_count int = 0;
    database_transaction_log_bytes_used bigint = t.info.log_bytes as i64;
    database_transaction_log_bytes_reserved bigint = 0i64;
    database_transaction_log_bytes_used_system int = 0;
    database_transaction_log_bytes_reserved_system int = 0;
    database_transaction_begin_lsn numeric(25, 0) null = lsn(t.info.first_lsn.0);
    database_transaction_last_lsn numeric(25, 0) null = lsn(t.info.last_lsn.0);
    database_transaction_most_recent_savepoint_lsn numeric(25, 0) null = NULL;
    database_transaction_commit_lsn numeric(25, 0) null = NULL;
    database_transaction_last_rollback_lsn numeric(25, 0) null = NULL;
    database_transaction_next_undo_lsn numeric(25, 0) null = lsn(t.info.last_lsn.0);
}

/// An LSN as a number; NULL for none.
fn lsn(value: u64) -> Value {
    match value {
        0 => Value::Null,
        lsn => types::Decimal::new(lsn.into(), 25, 0).map_or(Value::Null, Value::Decimal),
    }
}

/// Row versions of a database.
pub struct Versions {
    database: i32,
    bytes: i64,
}

fn version_store(context: &Context<'_>, _: &[Value]) -> Result<Vec<Versions>, SqlError> {
    let all = context.server.databases().into_iter();
    Ok(all
        .filter_map(|d| d.open.map(|open| (d.id, open.engine.stats().version_bytes as i64)))
        .map(|(database, bytes)| Versions { database, bytes })
        .collect())
}

view! {
    VERSION_STORE = "sys.dm_tran_version_store_space_usage" of Versions as v, rows version_store;
    database_id int = v.database;
    reserved_page_count bigint = v.bytes.div_euclid(8192) + i64::from(v.bytes % 8192 > 0);
    reserved_space_kb bigint = (v.bytes + 1023) / 1024;
}
