//! Errors of lower floors in SQL Server's words, with the names that only this floor knows.

use crate::cx::Cx;
use crate::message::{SqlError, SqlMessage};
use catalog::{CatalogError, IndexDef, IndexKind, TableDef, Wanted};
use engine::EngineError;
use session_table::TableError;

/// An engine's error as the client sees it.
pub fn engine_error(error: EngineError, table: Option<&TableDef>, cx: &Cx<'_>) -> SqlError {
    from_engine(error, table, &cx.env.database_name())
}

/// An engine's error in the named database; `table` where one is concerned.
pub fn from_engine(error: EngineError, table: Option<&TableDef>, database: &str) -> SqlError {
    let name = |t: &TableDef| format!("{}.{}", t.schema, t.name);
    match &error {
        EngineError::Duplicate => match table {
            Some(table) => duplicate_key(table, table.clustered_index(), &[]),
            None => SqlError::new(2601, 14, "Cannot insert duplicate key row in object '?'."),
        },
        EngineError::Deadlock => SqlError::new(
            1205,
            13,
            "Transaction was deadlocked on lock resources with another process and has been \
             chosen as the deadlock victim. Rerun the transaction.",
        )
        .with_state(51),
        EngineError::LockTimeout => {
            SqlError::new(1222, 16, "Lock request time out period exceeded.").with_state(51)
        }
        EngineError::SnapshotConflict => {
            let object = table.map_or_else(|| "?".to_string(), name);
            SqlError::new(
                3960,
                16,
                format!(
                    "Snapshot isolation transaction aborted due to update conflict. You cannot \
                     use snapshot isolation to access table '{object}' directly or indirectly in \
                     database '{database}' to update, delete, or insert the row that has been \
                     modified or deleted by another transaction. Retry the transaction or change \
                     the isolation level for the update/delete statement."
                ),
            )
        }
        EngineError::Redefined => SqlError::new(
            3961,
            16,
            format!(
                "Snapshot isolation transaction failed in database '{database}' because the object accessed by the \
                 statement has been modified by a DDL statement in another concurrent transaction since the start of \
                 this transaction.  It is disallowed because the metadata is not versioned. A concurrent update to \
                 metadata can lead to inconsistency if mixed with snapshot isolation."
            ),
        ),
        EngineError::WriteConflict => SqlError::new(
            41302,
            16,
            "The current transaction attempted to update a record that has been updated since this transaction \
             started. The transaction was aborted.",
        ),
        EngineError::NotRepeatable => SqlError::new(
            41305,
            16,
            "The current transaction failed to commit due to a repeatable read validation failure.",
        ),
        EngineError::NotSerializable => SqlError::new(
            41325,
            16,
            "The current transaction failed to commit due to a serializable validation failure.",
        ),
        EngineError::QuotaUsedUp { pool } => SqlError::new(
            41805,
            16,
            format!(
                "There is insufficient memory in the resource pool '{pool}' to run this operation on memory-optimized \
                 tables. See 'http://go.microsoft.com/fwlink/?LinkID=614951' for more information."
            ),
        ),
        EngineError::SnapshotNotAllowed => SqlError::new(
            3952,
            16,
            format!(
                "Snapshot isolation transaction failed accessing database '{database}' because \
                 snapshot isolation is not allowed in this database. Use ALTER DATABASE to allow \
                 snapshot isolation."
            ),
        ),
        EngineError::SnapshotTooLate => SqlError::new(
            3951,
            16,
            format!(
                "Transaction failed in database '{database}' because the statement was run under \
                 snapshot isolation but the transaction did not start in snapshot isolation. You \
                 cannot change the isolation level of the transaction to snapshot after the \
                 transaction has started unless the transaction was originally started under snapshot isolation \
                 level."
            ),
        ),
        EngineError::ReadPastRefused => SqlError::new(
            650,
            16,
            "You can only specify the READPAST lock in the READ COMMITTED or REPEATABLE READ \
             isolation levels.",
        ),
        EngineError::Cancelled => crate::message::cancelled(),
        EngineError::LogFull { reason } => SqlError::new(
            9002,
            17,
            format!("The transaction log for database '{database}' is full due to '{reason}'."),
        ),
        EngineError::ReadOnly => SqlError::new(
            3906,
            16,
            format!("Failed to update database \"{database}\" because the database is read-only."),
        ),
        EngineError::FilegroupFull { .. } => {
            let filegroup = table.map_or("PRIMARY", |t| t.filegroup.as_ref());
            let object = table.map_or_else(|| "?".to_string(), name);
            SqlError::new(
                1105,
                17,
                format!(
                    "Could not allocate space for object '{object}' in database '{database}' \
                     because the '{filegroup}' filegroup is full. Create disk space by deleting \
                     unneeded files, dropping objects in the filegroup, adding additional files \
                     to the filegroup, or setting autogrowth on for existing files in the \
                     filegroup."
                ),
            )
        }
        EngineError::DamagedPage { file, page, what } => SqlError::new(
            824,
            24,
            format!(
                "SQL Server detected a logical consistency-based I/O error: {what}. It occurred \
                 during a read of page ({file}:{page}) in database '{database}'."
            ),
        ),
        EngineError::RowTooLarge { bytes, .. } => SqlError::new(
            511,
            16,
            format!(
                "Cannot create a row of size {bytes} which is greater than the allowable maximum \
                 row size of 8060."
            ),
        ),
        EngineError::NoSuchTree => {
            let object = table.map_or_else(|| "?".to_string(), name);
            let mut error = SqlError::new(208, 16, format!("Invalid object name '{object}'."));
            error.stale = true;
            error
        }
        EngineError::CannotOpen { path, what } => SqlError::new(5120, 16, cannot_open(path, what)),
        EngineError::InUse { path } => {
            let what = "The process cannot access the file because it is being used by another process. (os error 32)";
            SqlError::new(5120, 16, cannot_open(path, what))
        }
        EngineError::Exists { path } => SqlError::new(
            5170,
            16,
            format!(
                "Cannot create file '{path}' because it already exists. Change the file path or the file name, and retry \
                 the operation."
            ),
        ),
        EngineError::Doomed => doomed(),
        EngineError::Io { .. }
        | EngineError::LogUnavailable { .. }
        | EngineError::LogCorrupt { .. } => SqlError::new(error.number(), 21, error.to_string()),
        EngineError::NoMemory => {
            SqlError::new(802, 17, "There is insufficient memory available in the buffer pool.")
        }
        _ => SqlError::new(error.number(), 16, error.to_string()),
    }
}

/// The text of 5120. `what` ends as Rust tells an error of the operating system, where it is one: ` (os error 2)`.
fn cannot_open(path: &str, what: &str) -> String {
    let system = what
        .rsplit_once(" (os error ")
        .and_then(|(what, rest)| Some((what, rest.strip_suffix(')')?)));
    match system {
        Some((what, number)) => format!(
            "Unable to open the physical file \"{path}\". Operating system error {number}: \"{number}({what})\"."
        ),
        None => format!("Unable to open the physical file \"{path}\". {what}"),
    }
}

/// 2627 for a key of a constraint, 2601 for that of an index; none means the clustered primary key. `values`: the row, for
/// the message's end; it may be empty.
pub fn duplicate_key(
    table: &TableDef,
    index: Option<&IndexDef>,
    values: &[types::Value],
) -> SqlError {
    let object = format!("{}.{}", table.schema, table.name);
    let (kind, name, columns) = match (index, &table.primary_key) {
        (Some(index), _) => (index.kind, &*index.name, &index.columns),
        (None, Some(key)) => (IndexKind::PrimaryKey, &*key.name, &key.columns),
        (None, None) => (IndexKind::PrimaryKey, "?", &Vec::new()),
    };
    let columns: Vec<usize> = columns.iter().map(|(i, _)| *i).collect();
    let key: Vec<&types::Value> = columns.iter().filter_map(|i| values.get(*i)).collect();
    let shown = match values.is_empty() {
        true => String::new(),
        false => key_text(table, &columns, &key),
    };
    let (number, text) = match kind {
        IndexKind::Index => (
            2601,
            format!(
                "Cannot insert duplicate key row in object '{object}' with unique index '{name}'.{shown}"
            ),
        ),
        kind => {
            let kind = if kind == IndexKind::Unique { "UNIQUE" } else { "PRIMARY" };
            (
                2627,
                format!(
                    "Violation of {kind} KEY constraint '{name}'. Cannot insert duplicate key in object \
                     '{object}'.{shown}"
                ),
            )
        }
    };
    SqlError::new(number, 14, text)
}

pub fn key_text(table: &TableDef, columns: &[usize], key: &[&types::Value]) -> String {
    let mut shown = Vec::new();
    for (i, value) in columns.iter().zip(key) {
        // Bytes in digits.
        let style = i32::from(matches!(value, types::Value::Binary(_)));
        let text = types::format::to_text(value, table.columns[*i].ty, style).ok().flatten();
        shown.push(text.map_or_else(|| "<NULL>".to_string(), |t| t.trim_end().to_string()));
    }
    format!(" The duplicate key value is ({}).", shown.join(", "))
}

/// A private table's error as the client sees it.
pub fn private_error(error: TableError, table: &TableDef) -> SqlError {
    let object = format!("{}.{}", table.schema, table.name);
    match error {
        TableError::Duplicate { unique } => {
            let (kind, key) = match unique {
                None => ("PRIMARY", table.primary_key.as_ref()),
                Some(i) => ("UNIQUE", table.unique.get(i)),
            };
            let constraint = key.map_or("?", |key| key.name.as_ref());
            SqlError::new(
                2627,
                14,
                format!(
                    "Violation of {kind} KEY constraint '{constraint}'. Cannot insert duplicate \
                     key in object '{object}'."
                ),
            )
        }
        TableError::Full => SqlError::new(
            1105,
            17,
            format!(
                "Could not allocate space for object '{object}' in database 'tempdb' because the \
                 'PRIMARY' filegroup is full. Create disk space by deleting unneeded files, \
                 dropping objects in the filegroup, adding additional files to the filegroup, or \
                 setting autogrowth on for existing files in the filegroup."
            ),
        )
        .with_state(2),
        TableError::Missing => {
            SqlError::new(208, 16, format!("Invalid object name '{}'.", table.name))
        }
        TableError::Key(error) => error.into(),
        TableError::Stopped(stopped) => stopped.into(),
        TableError::IdentityOverflow => {
            types::TypeError::Overflow { from: "IDENTITY", to: "bigint" }.into()
        }
    }
}

/// 3930.
pub fn doomed() -> SqlError {
    SqlError::new(
        3930,
        16,
        "The current transaction cannot be committed and cannot support operations that write to \
         the log file. Roll back the transaction.",
    )
}

/// The engine's error where nobody knows of which table or database: what tells of none is told as ever.
pub fn from_engine_alone(error: EngineError) -> SqlError {
    match error {
        EngineError::Deadlock
        | EngineError::LockTimeout
        | EngineError::Cancelled
        | EngineError::Doomed
        | EngineError::NoMemory
        | EngineError::QuotaUsedUp { .. }
        | EngineError::CannotOpen { .. }
        | EngineError::InUse { .. }
        | EngineError::Exists { .. } => from_engine(error, None, ""),
        error => SqlError::new(error.number(), 16, error.to_string()),
    }
}

/// A catalog's error as the client sees it.
pub fn from_catalog(error: CatalogError) -> SqlError {
    if let CatalogError::Engine(error) = error {
        return from_engine_alone(error);
    }
    let state = match error {
        CatalogError::AlreadyExists { wanted, .. } => match wanted {
            Wanted::Table => 6,
            Wanted::Constraint => 5,
            Wanted::Module => 3,
            Wanted::Trigger => 2,
        },
        CatalogError::DuplicateColumn { .. } => 4,
        CatalogError::InvalidObject { .. } => 6,
        CatalogError::CannotDrop { .. } => 5,
        CatalogError::NoIndex { .. } => 7,
        CatalogError::ForeignKeyWidth { .. }
        | CatalogError::NoReferencedKey { .. }
        | CatalogError::NoReferencedTable { .. }
        | CatalogError::ForeignKeyType { .. }
        | CatalogError::KeyReferenced { .. }
        | CatalogError::CascadeCycle { .. }
        | CatalogError::PrimaryKeyExists { .. }
        | CatalogError::NoSuchConstraint { .. }
        | CatalogError::Refused { number: 1761 | 1762, .. } => 0,
        CatalogError::MultipleIdentity { .. }
        | CatalogError::MultipleRowversion { .. }
        | CatalogError::Refused { number: 2749, .. } => 2,
        CatalogError::ClusteredExists { .. } | CatalogError::DatabaseExists { .. } => 3,
        CatalogError::ConstraintIndex { kind: "PRIMARY KEY", .. } => 4,
        CatalogError::ConstraintIndex { .. } => 5,
        _ => 1,
    };
    if let CatalogError::ColumnInUse { column, objects, .. } = &error {
        let told = |(kind, object): &(&str, Box<str>)| {
            let text = format!("The {kind} '{object}' is dependent on column '{column}'.");
            SqlMessage { severity: 16, ..SqlMessage::info(5074, 0, text) }
        };
        let ahead = objects.iter().map(told).collect();
        let error = SqlError::new(error.number(), error.severity(), error.to_string());
        return error.with_state(9).with_ahead(ahead);
    }
    SqlError::new(error.number(), error.severity(), error.to_string()).with_state(state)
}

impl From<CatalogError> for SqlError {
    fn from(error: CatalogError) -> SqlError {
        from_catalog(error)
    }
}
