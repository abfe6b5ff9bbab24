//! Statements without a plan: transactions by name, messages and errors raised, waits, settings, administration.

use crate::Commands;
use crate::refusals::no_database;
use executor::{Command, Reach, SqlError, SqlMessage};
use ir::{Isolation, RaiseError, StmtKind, TranName, WaitFor};
use security::Permission;
use session_state::{Halted, check_places, cut, format_message, messages};
use syntax::ast::AlterServer;
use telemetry::WaitType;
use types::{SqlType, Value, convert, datetime};

/// Where a statement stands: in which program, and on which line of it.
pub struct Site<'a> {
    /// The procedure's name, for messages; none in a batch.
    pub module: Option<&'a String>,
    /// @@PROCID; 0 in a batch.
    pub object_id: i32,
    /// Types of the program's variables.
    pub vars: &'a [SqlType],
    pub line: u32,
    /// A caller has a TRY block open.
    pub guarded: bool,
}

impl Commands<'_> {
    /// Runs a statement straight from the IR.
    pub fn run(
        &mut self,
        kind: &StmtKind,
        site: &Site<'_>,
        frame: &mut [Value],
    ) -> Result<(), Halted> {
        let (line, guarded) = (site.line, site.guarded);
        match kind {
            StmtKind::Begin { name, .. } => {
                let name = self.tran_name(name.as_ref(), frame);
                self.state.transaction.begin_unseen(&self.state.options);
                self.state.transaction.begin(name, &self.state.options);
            }
            StmtKind::Commit { delayed } => {
                let state = &mut *self.state;
                state.transaction.commit(&state.database, *delayed)?;
            }
            StmtKind::Rollback { .. } if self.state.gathering => {
                let text = "Cannot use the ROLLBACK statement within an INSERT-EXEC statement.";
                return Err(SqlError::new(3915, 16, text).with_state(0).into());
            }
            StmtKind::Rollback { name } => {
                let name = self.tran_name(name.as_ref(), frame);
                self.state.transaction.rollback(name.as_deref())?;
                // What it had granted to itself is gone with it.
                self.state.follow_identity(&*self.host);
            }
            StmtKind::Save { name } => {
                let name = self.tran_name(Some(name), frame).unwrap_or_default();
                let state = &mut *self.state;
                state.transaction.save(name, &state.database, &state.options)?;
            }
            StmtKind::Print(expr) => {
                let value = self.value(expr, frame)?;
                let text = types::format::to_text(&value, expr.ty, 0)?.unwrap_or_default();
                let mut message = SqlMessage::info(0, line, text);
                message.procedure = site.module.cloned();
                self.sink.message(&message);
                if !self.state.options.nocount {
                    self.tell_done(Command::Other, None);
                }
            }
            StmtKind::RaiseError(raise) => self.raise(raise, site, frame)?,
            StmtKind::Throw(None) => match self.state.caught.last() {
                Some(error) => return Err(error.clone().with_reach(Reach::Scope).into()),
                None => {
                    return Err(SqlError::new(
                        10704,
                        15,
                        "To rethrow an error, a THROW statement must be used inside a CATCH block. \
                         Insert the THROW statement inside a CATCH block, or add error parameters \
                         to the THROW statement.",
                    )
                    .into());
                }
            },
            StmtKind::Throw(Some(parts)) => {
                let number = self.whole(&parts.0, frame)?;
                let text = self.value(&parts.1, frame)?;
                let state = self.whole(&parts.2, frame)?;
                if !(50000..=i32::MAX as i64).contains(&number) {
                    let error = SqlError::new(
                        35100,
                        16,
                        format!(
                            "Error number {number} in the THROW statement is outside the valid \
                             range. Specify an error number in the valid range of 50000 to \
                             2147483647."
                        ),
                    );
                    return Err(error.with_state(10).into());
                }
                if state < 0 {
                    let text = format!(
                        "Invalid value {state} for state. State value must not be less than 0."
                    );
                    return Err(SqlError::new(2756, 16, text).into());
                }
                let text = text.as_str().unwrap_or("").to_string();
                // Of the state the low byte is told.
                return Err(SqlError::new(number as i32, 16, text)
                    .with_state(state as u8)
                    .with_reach(Reach::Scope)
                    .into());
            }
            StmtKind::WaitFor(wait) => self.wait_for(wait, frame)?,
            StmtKind::Set(option) => self.set(option, line, frame)?,
            StmtKind::Kill { target, with } => self.kill(target, *with, line, frame)?,
            StmtKind::Rare(rare) => self.control(rare, line, frame)?,
            StmtKind::Use { database } => {
                let Some(found) = self.host.enter_database(database) else {
                    return Err(no_database(self.host, database).into());
                };
                let name = found.name.clone();
                self.state.check_entry(&*self.host, &found)?;
                let before = self.state.database.clone();
                self.use_database(found);
                self.state.follow_identity(&*self.host);
                executor::tell_database(
                    self.sink,
                    (&before.name, before.catalog.collation()),
                    (&name, self.state.database.catalog.collation()),
                );
                let text = format!("Changed database context to '{name}'.");
                self.sink.message(&SqlMessage::info(5701, line, text));
            }
            StmtKind::Ddl(ddl) => self.define(ddl, frame)?,
            StmtKind::Security(statement) => self.security(statement, frame, guarded)?,
            StmtKind::Statistics(statement) => self.statistics_statement(statement)?,
            // The caller is who it is already, outside a module with EXECUTE AS.
            StmtKind::ExecuteAs { name: None, .. } => {}
            StmtKind::ExecuteAs { login, name: Some(name), end } => {
                let name = self.value(name, frame)?;
                self.execute_as(*login, name.as_str().unwrap_or(""), *end, site, frame)?;
            }
            StmtKind::Revert { cookie } => {
                let cookie = cookie.map(|var| frame[var.0 as usize].clone());
                self.state.revert(&*self.host, cookie.as_ref())?;
            }
            StmtKind::Truncate { table, shown, partitions } => {
                let truncated = match partitions.is_empty() {
                    true => self.truncate(table, frame),
                    false => self.truncate_partitions(table, partitions, frame),
                };
                truncated.map_err(|error| match error.number {
                    4712 => error.naming(&format!("'{}'", table.name), &format!("'{shown}'")),
                    _ => error,
                })?;
            }
            StmtKind::Dbcc { name, args, options } => {
                let args = args.iter().map(|arg| self.value(arg, frame));
                let args = args.collect::<Result<Vec<Value>, SqlError>>()?;
                self.dbcc(name, &args, options, line, guarded)?;
            }
            StmtKind::Backup(backup) => self.backup(backup, line, frame)?,
            StmtKind::Restore(restore) => self.restore(restore, line, frame)?,
            StmtKind::Checkpoint => {
                self.check_database(Permission::Checkpoint)?;
                let database = &self.state.database;
                database
                    .engine
                    .checkpoint()
                    .map_err(|e| executor::from_engine(e, None, &database.name))?;
            }
            StmtKind::Reconfigure { overridden } => self.reconfigure(*overridden)?,
            StmtKind::AlterServer(AlterServer::Millrace(switches)) => {
                self.check_server(Permission::AlterServerState)?;
                self.host.alter_switches(switches)?;
            }
            StmtKind::AlterServer(AlterServer::ProcessAffinity(affinity)) => {
                self.check_server(Permission::AlterSettings)?;
                self.host.process_affinity(affinity)?;
            }
            StmtKind::AlterServer(AlterServer::Listener { address, nodes }) => {
                self.check_server(Permission::AlterSettings)?;
                self.host.map_listener(address, nodes)?;
            }
            StmtKind::AlterServer(AlterServer::SoftNuma(on)) => {
                self.check_server(Permission::AlterSettings)?;
                self.host.set_soft_numa(*on)?;
            }
            StmtKind::AlterServer(AlterServer::HardwareOffload { on, accelerator }) => {
                self.check_server(Permission::AlterSettings)?;
                // Off is how it always is: no accelerator is ever used.
                if *on {
                    let name = accelerator.as_deref().unwrap_or("QAT");
                    let what = format!(
                        "ALTER SERVER CONFIGURATION SET HARDWARE_OFFLOAD with the accelerator {name}, which is not there,"
                    );
                    return Err(SqlError::unsupported(what).into());
                }
            }
            StmtKind::Nothing => {}
            StmtKind::NotSupported { what } => return Err(SqlError::unsupported(what).into()),
            // These need the machine, or a plan.
            StmtKind::SetVars(_)
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Block(_)
            | StmtKind::TryCatch { .. }
            | StmtKind::Label(_)
            | StmtKind::Goto(_)
            | StmtKind::Return(_)
            | StmtKind::Select(_)
            | StmtKind::Insert(_)
            | StmtKind::Update(_)
            | StmtKind::Delete(_)
            | StmtKind::Merge(_)
            | StmtKind::There(_)
            | StmtKind::Cursor(_)
            | StmtKind::Exec(_)
            | StmtKind::ExecString { .. }
            | StmtKind::BulkInsert(_)
            | StmtKind::Deferred => {
                return Err(
                    SqlError::unsupported(format!("{:?}", std::mem::discriminant(kind))).into()
                );
            }
        }
        Ok(())
    }

    fn tran_name(&self, name: Option<&TranName>, frame: &[Value]) -> Option<String> {
        match name? {
            TranName::Name(name) => Some(name.clone()),
            TranName::Var(var) => frame[var.0 as usize].as_str().map(str::to_string),
        }
    }

    /// RAISERROR: severity 10 and below informs, above it is an error.
    fn raise(
        &mut self,
        raise: &RaiseError,
        site: &Site<'_>,
        frame: &mut [Value],
    ) -> Result<(), Halted> {
        let message = self.value(&raise.message, frame)?;
        let severity = self.whole(&raise.severity, frame)?;
        // A negative severity is the message's own, a negative state is 1.
        let state = self.whole(&raise.state, frame)?;
        let state = if state < 0 { 1 } else { state.min(255) as u8 };
        let mut args = Vec::with_capacity(raise.args.len());
        for arg in &raise.args {
            args.push((self.value(arg, frame)?, arg.ty));
        }
        if args.len() > 20 {
            let text = "Too many substitution parameters for RAISERROR. Cannot exceed 20 substitution parameters.";
            return Err(SqlError::new(2747, 16, text).into());
        }
        let (number, severity, text) = match &message {
            Value::Str(text) => {
                check_places(text, &args)?;
                (50000, severity, format_message(text, &args))
            }
            other => {
                let number = other.as_i64().unwrap_or(50000) as i32;
                // A severity that only informs is told as 0.
                let own = |own: u8| if own > 10 { i64::from(own) } else { 0 };
                match messages::find(self.host, number, self.state.options.language) {
                    Some(found) if number >= 13000 => {
                        let severity = if severity < 0 { own(found.severity) } else { severity };
                        (number, severity, found.filled(&args))
                    }
                    _ if !(13000..).contains(&number) || number == 50000 => {
                        return Err(SqlError::new(
                            2732,
                            16,
                            format!(
                                "Error number {number} is invalid. The number must be from 13000 through 2147483647 and it \
                                 cannot be 50000."
                            ),
                        )
                        .into());
                    }
                    _ => (
                        18054,
                        severity,
                        format!(
                            "Error {number}, severity {severity}, state {state} was raised, but no message with that error \
                             number was found in sys.messages. If error is larger than 50000, make sure the user-defined \
                             message is added using sp_addmessage."
                        ),
                    ),
                }
            }
        };
        let text = cut(text);
        let severity = severity.clamp(0, 25) as u8;
        if severity <= 10 {
            let mut message = SqlMessage::info(number, site.line, text);
            message.severity = severity;
            message.state = state;
            message.procedure = site.module.cloned();
            self.sink.message(&message);
            self.state.error = if raise.seterror { number } else { 0 };
            return Ok(());
        }
        if severity > 18 && !raise.log {
            return Err(SqlError::new(
                2754,
                16,
                "Error severity levels greater than 18 can only be specified by members of the sysadmin role, using \
                 the WITH LOG option.",
            )
            .into());
        }
        if raise.log && !self.may_on_server(Permission::AlterTrace) {
            return Err(SqlError::new(
                2778,
                16,
                "Only System Administrator can specify WITH LOG option for RAISERROR command.",
            )
            .into());
        }
        if severity >= 20 {
            let spid = self.state.spid;
            let mut notice = SqlError::new(
                2745,
                16,
                format!(
                    "Process ID {spid} has raised user error {number}, severity {severity}. SQL Server is \
                     terminating this process."
                ),
            )
            .with_state(2);
            notice.line = site.line;
            notice.procedure = site.module.cloned();
            self.tell_error(&notice);
        }
        let mut error = SqlError::new(number, severity, text).with_state(state);
        error.reach = if severity >= 20 { Reach::Session } else { Reach::Statement };
        error.raised = true;
        error.terminated_notice = false;
        Err(error.into())
    }

    fn wait_for(&mut self, wait: &WaitFor, frame: &mut [Value]) -> Result<(), SqlError> {
        let (expr, delay) = match wait {
            WaitFor::Delay(expr) => (expr, true),
            WaitFor::Time(expr) => (expr, false),
        };
        let value = self.value(expr, frame)?;
        let bad = || {
            let shown = match value.as_str() {
                Some(text) => format!("'{text}'"),
                None => "'?'".to_owned(),
            };
            let text = format!("Incorrect time syntax in time string {shown} used with WAITFOR.");
            SqlError::new(148, 15, text)
        };
        let time = convert::cast(&value, expr.ty, SqlType::DateTime, 0).map_err(|_| bad())?;
        let Value::DateTime(time) = time else { return Err(bad()) };
        let mut ns = time.ticks as u64 * 10_000_000 / 3;
        if !delay {
            let now = datetime::datetime_from_unix_ns(runtime::clock::unix_ns());
            let now_ns = now.ticks as u64 * 10_000_000 / 3;
            let day_ns = 86_400_000_000_000;
            ns = (ns + day_ns - now_ns) % day_ns;
        }
        // In steps, for whoever sets the flag of a batch and wakes nobody.
        const STEP_NS: u64 = 20_000_000;
        let cancelled = || self.cancel.load(std::sync::atomic::Ordering::Relaxed);
        match runtime::task::sleep_unless(ns, STEP_NS, WaitType::Waitfor, cancelled) {
            true => Err(executor::cancelled()),
            false => Ok(()),
        }
    }

    /// SET TRANSACTION ISOLATION LEVEL.
    pub fn set_isolation(&mut self, level: Isolation) -> Result<(), SqlError> {
        self.state.options.isolation = engine_isolation(level);
        Ok(())
    }
}

/// A level as the engine has it.
pub fn engine_isolation(level: Isolation) -> engine::Isolation {
    match level {
        Isolation::ReadUncommitted => engine::Isolation::ReadUncommitted,
        Isolation::ReadCommitted => engine::Isolation::ReadCommitted,
        Isolation::Snapshot => engine::Isolation::Snapshot,
        Isolation::RepeatableRead => engine::Isolation::RepeatableRead,
        Isolation::Serializable => engine::Isolation::Serializable,
    }
}
