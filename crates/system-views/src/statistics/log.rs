//! The log of a database: its virtual log files, how full it is, where it stands.
//!
//! Columns and types: SQL Server's documentation of sys.dm_db_log_info, sys.dm_db_log_stats and
//! sys.dm_db_log_space_usage.

use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use engine::{LogFigures, VlfInfo};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&LOG_INFO, &LOG_STATS, &LOG_SPACE];

/// The log that a function's argument names: NULL is the current database's.
fn log_of(context: &Context<'_>, args: &[Value]) -> Option<(i32, LogFigures)> {
    let database = match args.first().and_then(Value::as_i64) {
        None => context.database.clone(),
        Some(id) => {
            let there = context.of_database_id(id)?;
            // What stands in for a database has a log of its own.
            if there.stand_in.is_some() {
                return None;
            }
            there.database
        }
    };
    Some((database.id as i32, database.engine.log_figures()))
}

/// A virtual log file of a database.
pub struct Vlf {
    database_id: i32,
    info: VlfInfo,
}

fn vlfs(context: &Context<'_>, args: &[Value]) -> Result<Vec<Vlf>, SqlError> {
    let Some((database_id, log)) = log_of(context, args) else { return Ok(Vec::new()) };
    Ok(log.vlfs.into_iter().map(|info| Vlf { database_id, info }).collect())
}

/// `vvvvvvvv:bbbbbbbb:ssss`, as SQL Server writes an LSN: ours is one number, its upper and lower halves.
fn lsn(value: u64) -> String {
    format!("{:08x}:{:08x}:0001", value >> 32, value & 0xffff_ffff)
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / (1 << 20) as f64
}

view! {
    LOG_INFO = "sys.dm_db_log_info" of Vlf as v, rows vlfs, params (int);
    database_id int = v.database_id;
    file_id smallint = 2i16;
    vlf_begin_offset bigint = v.info.begin_offset as i64;
    vlf_size_mb float = mb(v.info.bytes);
    vlf_sequence_number bigint = v.info.sequence as i64;
    vlf_active bit = v.info.active;
    vlf_status int = v.info.status;
    vlf_parity tinyint = v.info.parity;
    vlf_first_lsn nvarchar(48) null = lsn(v.info.first_lsn.0);
    vlf_create_lsn nvarchar(48) null = lsn(v.info.create_lsn.0);
}

/// Where a log stands.
pub struct Stand {
    database_id: i32,
    log: LogFigures,
}

fn stand(context: &Context<'_>, args: &[Value]) -> Result<Vec<Stand>, SqlError> {
    let Some((database_id, log)) = log_of(context, args) else { return Ok(Vec::new()) };
    Ok(vec![Stand { database_id, log }])
}

impl Stand {
    fn active(&self) -> impl Iterator<Item = &VlfInfo> {
        self.log.vlfs.iter().filter(|v| v.active)
    }

    /// The one that is being written.
    fn current(&self) -> Option<&VlfInfo> {
        self.log.vlfs.iter().max_by_key(|v| v.sequence)
    }

    fn since(&self, from: engine::Lsn) -> f64 {
        mb(self.log.stats.tail.saturating_sub(from.0))
    }

    /// Active ones that recovery would read.
    fn to_recover(&self) -> i64 {
        self.active()
            .filter(|v| v.sequence > 0 && v.first_lsn.0 + v.bytes > self.log.recovery.0)
            .count() as i64
    }
}

view! {
    LOG_STATS = "sys.dm_db_log_stats" of Stand as s, rows stand, params (int);
    database_id int = s.database_id;
    recovery_model nvarchar(60) = s.log.recovery_model.name();
    log_min_lsn nvarchar(24) null = lsn(s.active().map(|v| v.first_lsn.0).min().unwrap_or(0));
    log_end_lsn nvarchar(24) null = lsn(s.log.stats.tail);
    current_vlf_sequence_number bigint null = s.current().map_or(0, |v| v.sequence as i64);
    current_vlf_size_mb float null = s.current().map_or(0.0, |v| mb(v.bytes));
    total_vlf_count bigint null = s.log.vlfs.len() as i64;
    total_log_size_mb float null = mb(s.log.size_bytes);
    active_vlf_count bigint null = s.active().count() as i64;
    active_log_size_mb float null = mb(s.active().map(|v| v.bytes).sum());
    log_truncation_holdup_reason nvarchar(60) null = s.log.reuse_wait;
    log_backup_time datetime null = NULL;
    log_backup_lsn nvarchar(24) null = s.log.backed_up.map(|at| lsn(at.0));
    log_since_last_log_backup_mb float null = s.log.backed_up.map(|at| s.since(at));
    log_checkpoint_lsn nvarchar(24) null = lsn(s.log.checkpoint.0);
    log_since_last_checkpoint_mb float null = s.since(s.log.checkpoint);
    log_recovery_lsn nvarchar(24) null = lsn(s.log.recovery.0);
    log_recovery_size_mb float null = s.since(s.log.recovery);
    recovery_vlf_count bigint null = s.to_recover();
}

/// How full a log is.
pub struct Space {
    database_id: i16,
    total: u64,
    used: u64,
    since_backup: u64,
}

fn space(context: &Context<'_>, _: &[Value]) -> Result<Vec<Space>, SqlError> {
    let log = context.database.engine.log_figures();
    let database_id = context.database.id as i16;
    let since_backup = match log.backed_up {
        Some(at) => log.stats.tail.saturating_sub(at.0),
        None => log.used_bytes,
    };
    Ok(vec![Space { database_id, total: log.size_bytes, used: log.used_bytes, since_backup }])
}

view! {
    LOG_SPACE = "sys.dm_db_log_space_usage" of Space as s, rows space;
    database_id smallint null = s.database_id;
    total_log_size_in_bytes bigint null = s.total as i64;
    used_log_space_in_bytes bigint null = s.used as i64;
    used_log_space_in_percent real null = s.used as f32 * 100.0 / s.total.max(1) as f32;
    log_space_in_bytes_since_last_backup bigint null = s.since_backup as i64;
}
