//! System views that need nothing but the catalog and the statistics of this process.
//!
//! Columns are a part of SQL Server's, by their names and in their order; what is left out has no meaning here yet.

use crate::host::OpenDatabase;
use binder::ObjectName;
use binder::ir::{SystemColumn, SystemView};
use catalog::ObjectRef;
use std::sync::Arc;
use types::{Len, SqlType, Value};

const NAME: SqlType = SqlType::NVarChar(Len::N(128));
const BIG: SqlType = SqlType::BigInt;
const INT: SqlType = SqlType::Int;

/// Name and columns of each view.
const VIEWS: &[(&str, &[(&str, SqlType)])] = &[
    (
        "sys.objects",
        &[
            ("name", NAME),
            ("object_id", INT),
            ("schema_name", NAME),
            ("type", SqlType::Char(2)),
            ("type_desc", NAME),
        ],
    ),
    (
        "sys.tables",
        &[
            ("name", NAME),
            ("object_id", INT),
            ("schema_name", NAME),
            ("type", SqlType::Char(2)),
            ("type_desc", NAME),
        ],
    ),
    (
        "sys.procedures",
        &[
            ("name", NAME),
            ("object_id", INT),
            ("schema_name", NAME),
            ("type", SqlType::Char(2)),
            ("type_desc", NAME),
        ],
    ),
    (
        "sys.columns",
        &[
            ("object_id", INT),
            ("name", NAME),
            ("column_id", INT),
            ("system_type_id", SqlType::TinyInt),
            ("type_name", NAME),
            ("is_nullable", SqlType::Bit),
            ("is_identity", SqlType::Bit),
        ],
    ),
    ("sys.schemas", &[("name", NAME), ("schema_id", INT)]),
    ("sys.databases", &[("name", NAME), ("database_id", INT)]),
    ("sys.filegroups", &[("name", NAME), ("is_default", SqlType::Bit)]),
    (
        "sys.dm_os_wait_stats",
        &[
            ("wait_type", SqlType::NVarChar(Len::N(60))),
            ("waiting_tasks_count", BIG),
            ("wait_time_ms", BIG),
            ("max_wait_time_ms", BIG),
            ("signal_wait_time_ms", BIG),
        ],
    ),
    (
        "sys.dm_os_spinlock_stats",
        &[
            ("name", SqlType::NVarChar(Len::N(256))),
            ("collisions", BIG),
            ("spins", BIG),
            ("spins_per_collision", SqlType::Real),
            ("sleep_time", BIG),
            ("backoffs", INT),
        ],
    ),
    (
        "sys.dm_os_latch_stats",
        &[
            ("latch_class", SqlType::NVarChar(Len::N(60))),
            ("waiting_requests_count", BIG),
            ("wait_time_ms", BIG),
            ("max_wait_time_ms", BIG),
        ],
    ),
    (
        "sys.dm_db_log_info",
        &[
            ("database_id", INT),
            ("file_id", SqlType::SmallInt),
            ("vlf_begin_offset", BIG),
            ("vlf_size_mb", SqlType::Float),
            ("vlf_sequence_number", BIG),
            ("vlf_active", SqlType::Bit),
            ("vlf_status", INT),
        ],
    ),
];

/// The view of that name.
pub(crate) fn find(name: &ObjectName) -> Option<Arc<SystemView>> {
    if !name.schema.as_deref().is_some_and(|s| s.eq_ignore_ascii_case("sys")) {
        return None;
    }
    let full = format!("sys.{}", name.name.to_ascii_lowercase());
    let (name, columns) = VIEWS.iter().find(|(name, _)| *name == full)?;
    let column = |(name, ty): &(&str, SqlType)| SystemColumn {
        name: name.to_string(),
        ty: *ty,
        nullable: true,
    };
    Some(Arc::new(SystemView {
        name: name.to_string(),
        columns: columns.iter().map(column).collect(),
        args: usize::from(*name == "sys.dm_db_log_info"),
    }))
}

/// The rows of a view that [`find`] has given; `databases` are id and name of each.
pub(crate) fn rows(
    view: &str,
    database: &OpenDatabase,
    databases: &[(u16, String)],
) -> Option<Vec<Vec<Value>>> {
    let catalog = &database.catalog;
    let ms = |ns: u64| Value::BigInt((ns / 1_000_000) as i64);
    let count = |n: u64| Value::BigInt(n as i64);
    Some(match view {
        "sys.objects" => catalog.objects().iter().map(object).collect(),
        "sys.tables" => {
            let tables = catalog.objects();
            tables.iter().filter(|o| matches!(o, ObjectRef::Table(_))).map(object).collect()
        }
        "sys.procedures" => {
            let all = catalog.objects();
            all.iter().filter(|o| matches!(o, ObjectRef::Procedure(_))).map(object).collect()
        }
        "sys.columns" => catalog.objects().iter().flat_map(columns).collect(),
        "sys.schemas" => {
            let row = |(id, name): &(i32, Box<str>)| vec![Value::str(name), Value::Int(*id)];
            catalog.schemas().iter().map(row).collect()
        }
        "sys.databases" => {
            let row = |(id, name): &(u16, String)| vec![Value::str(name), Value::Int(*id as i32)];
            databases.iter().map(row).collect()
        }
        "sys.filegroups" => {
            let groups = catalog.filegroups();
            groups.iter().map(|g| vec![Value::str(&g.name), Value::Bit(g.is_default)]).collect()
        }
        "sys.dm_os_wait_stats" => telemetry::waits::snapshot()
            .iter()
            .map(|w| {
                vec![
                    Value::str(w.name),
                    count(w.waiting_tasks_count),
                    ms(w.wait_time_ns),
                    ms(w.max_wait_time_ns),
                    ms(w.signal_wait_time_ns),
                ]
            })
            .collect(),
        "sys.dm_os_spinlock_stats" => telemetry::spins::snapshot()
            .iter()
            .map(|s| {
                let per = s.spins as f32 / s.collisions.max(1) as f32;
                vec![
                    Value::str(s.name),
                    count(s.collisions),
                    count(s.spins),
                    Value::Real(per),
                    ms(s.sleep_time_ns),
                    Value::Int(s.backoffs as i32),
                ]
            })
            .collect(),
        "sys.dm_os_latch_stats" => telemetry::latches::snapshot()
            .iter()
            .map(|l| {
                vec![
                    Value::str(l.name),
                    count(l.waiting_tasks_count),
                    ms(l.wait_time_ns),
                    ms(l.max_wait_time_ns),
                ]
            })
            .collect(),
        "sys.dm_db_log_info" => log_info(database),
        _ => return None,
    })
}

fn object(object: &ObjectRef) -> Vec<Value> {
    let (name, schema, what) = match object {
        ObjectRef::Table(t) => (&t.name, &t.schema, "USER_TABLE"),
        ObjectRef::Procedure(p) => (&p.name, &p.schema, "SQL_STORED_PROCEDURE"),
    };
    vec![
        Value::str(name),
        Value::Int(object.object_id()),
        Value::str(schema),
        Value::str(&format!("{:<2}", object.kind().code())),
        Value::str(what),
    ]
}

fn columns(object: &ObjectRef) -> Vec<Vec<Value>> {
    let ObjectRef::Table(table) = object else { return Vec::new() };
    let row = |(i, c): (usize, &catalog::ColumnDef)| {
        vec![
            Value::Int(table.object_id),
            Value::str(&c.name),
            Value::Int(i as i32 + 1),
            Value::TinyInt(c.ty.system_type_id()),
            Value::str(&c.ty.to_string()),
            Value::Bit(c.nullable),
            Value::Bit(c.identity.is_some()),
        ]
    };
    table.columns.iter().enumerate().map(row).collect()
}

fn log_info(database: &OpenDatabase) -> Vec<Vec<Value>> {
    let row = |v: engine::VlfInfo| {
        vec![
            Value::Int(database.id as i32),
            Value::SmallInt(2),
            Value::BigInt(v.begin_offset as i64),
            Value::Float(v.bytes as f64 / (1 << 20) as f64),
            Value::BigInt(v.sequence as i64),
            Value::Bit(v.active),
            Value::Int(v.status),
        ]
    };
    database.engine.log().vlfs().into_iter().map(row).collect()
}
