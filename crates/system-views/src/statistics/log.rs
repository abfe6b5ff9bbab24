//! The log of a database: its virtual log files and how full it is.
//!
//! Columns and types: SQL Server's documentation of sys.dm_db_log_info and sys.dm_db_log_space_usage.

use crate::context::Context;
use crate::declare::{Declared, view};
use engine::VlfInfo;
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&LOG_INFO, &LOG_SPACE];

/// A virtual log file of a database.
pub struct Vlf {
    database_id: i32,
    info: VlfInfo,
}

fn vlfs(context: &Context<'_>, args: &[Value]) -> Result<Vec<Vlf>, SqlError> {
    let database = match args.first().and_then(Value::as_i64) {
        None => context.database.clone(),
        Some(id) => match context.of_database_id(id) {
            Some(found) => found.database,
            None => return Ok(Vec::new()),
        },
    };
    let database_id = database.id as i32;
    Ok(database.engine.log().vlfs().into_iter().map(|info| Vlf { database_id, info }).collect())
}

/// `vvvvvvvv:bbbbbbbb:ssss`, as SQL Server writes an LSN: ours is one number, its upper and lower halves.
fn lsn(value: u64) -> String {
    format!("{:08x}:{:08x}:0001", value >> 32, value & 0xffff_ffff)
}

view! {
    LOG_INFO = "sys.dm_db_log_info" of Vlf as v, rows vlfs, params (int);
    database_id int = v.database_id;
    file_id smallint = 2i16;
    vlf_begin_offset bigint = v.info.begin_offset as i64;
    vlf_size_mb float = v.info.bytes as f64 / (1 << 20) as f64;
    vlf_sequence_number bigint = v.info.sequence as i64;
    vlf_active bit = v.info.active;
    vlf_status int = v.info.status;
    vlf_parity tinyint = v.info.parity;
    vlf_first_lsn nvarchar(48) null = lsn(v.info.first_lsn.0);
    vlf_create_lsn nvarchar(48) null = lsn(v.info.create_lsn.0);
}

/// How full a log is.
pub struct Space {
    database_id: i16,
    total: u64,
    used: u64,
}

fn space(context: &Context<'_>, _: &[Value]) -> Result<Vec<Space>, SqlError> {
    let stats = context.database.engine.stats();
    let database_id = context.database.id as i16;
    Ok(vec![Space { database_id, total: stats.log_size_bytes, used: stats.log_used_bytes }])
}

view! {
    LOG_SPACE = "sys.dm_db_log_space_usage" of Space as s, rows space;
    database_id smallint null = s.database_id;
    total_log_size_in_bytes bigint null = s.total as i64;
    used_log_space_in_bytes bigint null = s.used as i64;
    used_log_space_in_percent real null = s.used as f32 * 100.0 / s.total.max(1) as f32;
    log_space_in_bytes_since_last_backup bigint null = s.used as i64;
}
