//! DBCC statements that show or clear statistics: SQLPERF in its forms, LOGINFO, INPUTBUFFER.
//!
//! Sources: SQL Server's documentation of DBCC SQLPERF and DBCC INPUTBUFFER; LOGINFO is not documented there.

use crate::Commands;
use executor::{ColumnMeta, Command, SqlError};
use ir::ObjectName;
use security::Permission;
use session_state::EvictedPlans;
use session_state::OpenDatabase;
use std::sync::Arc;
use types::{Decimal, Len, SqlType, Value};

/// 2560.
pub(crate) fn bad_parameter(n: usize) -> SqlError {
    let text = format!("Parameter {n} is incorrect for this DBCC statement.");
    SqlError::new(2560, 16, text).with_state(9)
}

fn column(name: &str, ty: SqlType) -> ColumnMeta {
    ColumnMeta::new(name, ty, false)
}

const NAME: SqlType = SqlType::NVarChar(Len::N(128));

/// What SQLPERF is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Perf {
    LogSpace,
    Waits,
    Spinlocks,
    Latches,
    LogTiming,
}

/// The word in its forms: a view's name, or the short one of earlier versions.
fn perf(word: &str) -> Option<Perf> {
    let word = word.to_lowercase();
    Some(match word.strip_prefix("sys.").unwrap_or(&word) {
        "logspace" => Perf::LogSpace,
        "dm_os_wait_stats" | "waitstats" => Perf::Waits,
        "dm_os_spinlock_stats" | "spinlockstats" => Perf::Spinlocks,
        "dm_os_latch_stats" | "latchstats" => Perf::Latches,
        "dm_millrace_log_write_timing" => Perf::LogTiming,
        _ => return None,
    })
}

/// Clearing needs more than looking.
pub(crate) fn sqlperf_permission(args: &[Value]) -> Permission {
    match args.get(1) {
        Some(_) => Permission::AlterServerState,
        None => Permission::ViewServerState,
    }
}

impl Commands<'_> {
    /// DBCC FREEPROCCACHE [(plan_handle | sql_handle | pool_name)].
    pub(crate) fn free_procedure_cache(&mut self, args: &[Value]) -> Result<(), SqlError> {
        let Some(arg) = args.first() else {
            self.machine.evict_plans(EvictedPlans::All);
            return Ok(());
        };
        let text = arg.as_str().unwrap_or("");
        let digits = text.get(..2).filter(|p| p.eq_ignore_ascii_case("0x")).map(|_| &text[2..]);
        let Some(digits) = digits else {
            // There is one pool for users, and it is the default one.
            if !text.eq_ignore_ascii_case("default") {
                return Err(bad_parameter(1));
            }
            self.machine.evict_plans(EvictedPlans::All);
            return Ok(());
        };
        match self.machine.evict_plans(EvictedPlans::Handle(digits)) {
            0 => Err(bad_parameter(1)),
            _ => Ok(()),
        }
    }

    /// DBCC SQLPERF.
    pub(crate) fn sqlperf(&mut self, args: &[Value]) -> Result<(), SqlError> {
        let word = |i: usize| args.get(i).and_then(Value::as_str);
        let about = word(0).and_then(perf).ok_or_else(|| bad_parameter(1))?;
        let clear = match word(1) {
            None if args.len() < 2 => false,
            Some(word) if word.eq_ignore_ascii_case("clear") => true,
            _ => return Err(bad_parameter(2)),
        };
        match (about, clear) {
            (Perf::LogSpace, false) => self.log_space(),
            (Perf::LogSpace, true) => return Err(bad_parameter(2)),
            (Perf::Waits, true) => telemetry::waits::clear(),
            (Perf::Spinlocks, true) => telemetry::spins::clear(),
            (Perf::Latches, true) => telemetry::latches::clear(),
            (Perf::LogTiming, true) => telemetry::log_timing::clear(),
            // Its figures are in the view.
            (Perf::LogTiming, false) => return Err(bad_parameter(1)),
            (Perf::Waits, false) => {
                let figures = [("Wait Type", "Requests"), ("Wait Time", "Signal Wait Time")];
                self.wait_rows(figures, telemetry::waits::snapshot(), true);
            }
            (Perf::Latches, false) => {
                let figures = [("Latch Class", "Requests"), ("Wait Time", "")];
                self.wait_rows(figures, telemetry::latches::snapshot(), false);
            }
            (Perf::Spinlocks, false) => self.spinlock_rows(),
        }
        Ok(())
    }

    fn wait_rows(
        &mut self,
        [(name, requests), (time, signal)]: [(&str, &str); 2],
        all: Vec<telemetry::waits::WaitStat>,
        signals: bool,
    ) {
        let mut columns = vec![column(name, NAME)];
        columns.extend([column(requests, SqlType::Real), column(time, SqlType::Real)]);
        if signals {
            columns.push(column(signal, SqlType::Real));
        }
        self.sink.columns(&columns);
        let ms = |ns: u64| Value::Real((ns / 1_000_000) as f32);
        for wait in &all {
            let mut row = vec![Value::str(wait.name), Value::Real(wait.waiting_tasks_count as f32)];
            row.push(ms(wait.wait_time_ns));
            if signals {
                row.push(ms(wait.signal_wait_time_ns));
            }
            self.sink.row(&row);
        }
        self.tell_done(Command::Dbcc, Some(all.len() as u64));
    }

    fn spinlock_rows(&mut self) {
        self.sink.columns(&[
            column("Spinlock Name", NAME),
            column("Collisions", SqlType::BigInt),
            column("Spins", SqlType::BigInt),
            column("Spins/Collision", SqlType::Real),
            column("Sleep Time (ms)", SqlType::BigInt),
            column("Backoffs", SqlType::BigInt),
        ]);
        let all = telemetry::spins::snapshot();
        for s in &all {
            self.sink.row(&[
                Value::str(s.name),
                Value::BigInt(s.collisions as i64),
                Value::BigInt(s.spins as i64),
                Value::Real(s.spins as f32 / s.collisions.max(1) as f32),
                Value::BigInt((s.sleep_time_ns / 1_000_000) as i64),
                Value::BigInt(s.backoffs as i64),
            ]);
        }
        self.tell_done(Command::Dbcc, Some(all.len() as u64));
    }

    fn log_space(&mut self) {
        self.sink.columns(&[
            column("Database Name", NAME),
            column("Log Size (MB)", SqlType::Real),
            column("Log Space Used (%)", SqlType::Real),
            column("Status", SqlType::Int),
        ]);
        let mut rows = 0;
        for (_, name) in self.host.databases() {
            let Some(database) = self.host.database(&name) else { continue };
            let stats = database.engine.stats();
            let size = stats.log_size_bytes as f32;
            self.sink.row(&[
                Value::str(&name),
                Value::Real(size / (1 << 20) as f32),
                Value::Real(stats.log_used_bytes as f32 * 100.0 / size.max(1.0)),
                Value::Int(0),
            ]);
            rows += 1;
        }
        self.tell_done(Command::Dbcc, Some(rows));
    }

    /// The database that a first argument names, by name or number; without one the current one. 2520.
    pub(crate) fn dbcc_database(&mut self, args: &[Value]) -> Result<Arc<OpenDatabase>, SqlError> {
        let Some(given) = args.first() else { return Ok(self.state.database.clone()) };
        let shown = given.as_str().map_or_else(
            || given.as_i64().map_or(String::new(), |id| id.to_string()),
            str::to_owned,
        );
        let name = match (given.as_str(), given.as_i64()) {
            (Some(name), _) => Some(name.to_owned()),
            (None, Some(0)) => return Ok(self.state.database.clone()),
            (None, Some(id)) => {
                let all = self.host.databases();
                all.into_iter().find(|(known, _)| i64::from(*known) == id).map(|(_, name)| name)
            }
            (None, None) => None,
        };
        name.and_then(|name| self.host.database(&name)).ok_or_else(|| {
            let text = format!(
                "Could not find database '{shown}'. The database either does not exist, or was dropped before a \
                 statement tried to use it. Verify if the database exists by querying the sys.databases catalog view."
            );
            SqlError::new(2520, 16, text).with_state(5)
        })
    }

    /// DBCC LOGINFO: the virtual log files.
    pub(crate) fn log_info(&mut self, args: &[Value]) -> Result<(), SqlError> {
        let database = self.dbcc_database(args)?;
        self.sink.columns(&[
            column("RecoveryUnitId", SqlType::Int),
            column("FileId", SqlType::Int),
            column("FileSize", SqlType::BigInt),
            column("StartOffset", SqlType::BigInt),
            column("FSeqNo", SqlType::Int),
            column("Status", SqlType::Int),
            column("Parity", SqlType::TinyInt),
            column("CreateLSN", SqlType::numeric(25, 0)),
        ]);
        let all = database.engine.log().vlfs();
        for vlf in &all {
            let lsn = Decimal::new(vlf.create_lsn.0.into(), 25, 0)?;
            self.sink.row(&[
                Value::Int(0),
                Value::Int(2),
                Value::BigInt(vlf.bytes as i64),
                Value::BigInt(vlf.begin_offset as i64),
                Value::Int(vlf.sequence as i32),
                Value::Int(if vlf.active { 2 } else { 0 }),
                Value::TinyInt(vlf.parity),
                Value::Decimal(lsn),
            ]);
        }
        self.tell_done(Command::Dbcc, Some(all.len() as u64));
        Ok(())
    }

    /// DBCC INPUTBUFFER: the last request of a session; 7955 when there is no such session.
    pub(crate) fn input_buffer(&mut self, args: &[Value]) -> Result<(), SqlError> {
        let session = args.first().and_then(Value::as_i64).ok_or_else(|| bad_parameter(1))?;
        if session != i64::from(self.state.spid) && !self.may_on_server(Permission::ViewServerState)
        {
            return Err(crate::refusals::dbcc_denied(&self.state.user_name(), "INPUTBUFFER"));
        }
        let name = ObjectName {
            database: None,
            schema: Some("sys".to_owned()),
            name: "dm_exec_input_buffer".to_owned(),
        };
        let view = self.host.system_view(&name).ok_or_else(|| bad_parameter(1))?;
        let found =
            self.host.view_rows(&view, &[Value::BigInt(session), Value::Null], self.state)?;
        let Some([kind, parameters, text]) = found.first().map(Vec::as_slice) else {
            return Err(SqlError::new(7955, 16, format!("Invalid SPID {session} specified.")));
        };
        let nullable = |name: &str, ty| ColumnMeta::new(name, ty, true);
        self.sink.columns(&[
            nullable("EventType", SqlType::NVarChar(Len::N(30))),
            nullable("Parameters", SqlType::SmallInt),
            nullable("EventInfo", SqlType::NVarChar(Len::N(4000))),
        ]);
        let text: String = text.as_str().unwrap_or("").chars().take(4000).collect();
        self.sink.row(&[kind.clone(), parameters.clone(), Value::str(&text)]);
        self.tell_done(Command::Dbcc, Some(1));
        Ok(())
    }
}
