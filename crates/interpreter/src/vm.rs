//! Running bytecode, and what an error ends.
//!
//! ```text
//! an error in a statement
//!   inside TRY (of this program or of a caller)  -> the innermost CATCH
//!   else told to the client, and then by reach:
//!     Statement    the next statement        (XACT_ABORT ON inside a transaction: as Batch)
//!     Scope        the end of the batch; a missing object ends the procedure only
//!     Batch        rollback, the end of the batch
//!     Transaction  rollback (done already), the end of the batch
//! ```
//!
//! Promise: nothing here allocates while a loop runs over singleton inserts.

use crate::classic;
use crate::code::Code;
use crate::kind::command_at;
use crate::op::{Op, Pc};
use crate::plan::CodeState;
use crate::programs::Programs;
use crate::scalar::{self, Stop};
use commands::Commands;
use executor::{About, Command, Cx, Done, Reach, ResultSink, SqlError};
use planner::ExprPlan;
use semantics::definitions::is_of_definition;
use session_state::{
    ANSI_WARNINGS, ARITHABORT, CURSOR_CLOSE_ON_COMMIT, Halt, Halted, Host, NamesVersion,
    SessionEnvironment, SessionState,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use types::Value;

/// One batch in execution.
pub(crate) struct Vm<'a> {
    pub state: &'a mut SessionState,
    pub host: &'a mut dyn Host,
    pub programs: &'a mut Programs,
    pub sink: &'a mut dyn ResultSink,
    /// The session's flag, held here so that a statement need not count a reference.
    pub cancel: Arc<AtomicBool>,
    /// An error of severity 11 or more has been told.
    pub failed: bool,
}

/// A batch in execution without the place that its answers go to.
pub(crate) struct Apart<'a> {
    state: &'a mut SessionState,
    host: &'a mut dyn Host,
    programs: &'a mut Programs,
    cancel: &'a Arc<AtomicBool>,
    failed: &'a mut bool,
}

impl Vm<'_> {
    /// The batch and its sink, for a call whose answers go to another one, which may stand before it.
    pub fn apart(&mut self) -> (Apart<'_>, &mut dyn ResultSink) {
        let apart = Apart {
            state: &mut *self.state,
            host: &mut *self.host,
            programs: &mut *self.programs,
            cancel: &self.cancel,
            failed: &mut self.failed,
        };
        (apart, &mut *self.sink)
    }
}

impl Apart<'_> {
    /// Runs a call with `sink` in the place of the batch's; its errors are the batch's.
    pub fn run<R>(self, sink: &mut dyn ResultSink, call: impl FnOnce(&mut Vm<'_>) -> R) -> R {
        let Apart { state, host, programs, cancel, failed } = self;
        let cancel = cancel.clone();
        let mut inner = Vm { state, host, programs, sink, cancel, failed: false };
        let result = call(&mut inner);
        *failed |= inner.failed;
        result
    }
}

/// How far a program has come.
pub(crate) enum Stepped {
    /// It goes on at its `pc`.
    On,
    /// It has ended, perhaps with a status.
    Returned(Option<i32>),
}

/// Where an error leads.
enum After {
    /// On, and what the procedure returns unless it says so itself.
    Resume(Pc, i32),
    /// Out of the procedure, with this return status.
    Leave(i32),
    Halt(Halt),
}

impl Vm<'_> {
    /// Runs a program in a frame to its end; its return status. `guarded`: a caller has a TRY block open.
    pub fn run(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<i32, Halt> {
        if self.is_to_be_shown(code) {
            self.show_program(code)?;
            return Ok(0);
        }
        let caught = self.state.caught.len();
        let result = match &code.atomic {
            None => self.run_inner(code, learnt, frame, guarded),
            Some(atomic) => self.run_atomic(atomic, code, learnt, frame, guarded),
        };
        self.state.caught.truncate(caught);
        result
    }

    /// The program itself, without what stands around it.
    pub fn run_inner(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<i32, Halt> {
        let mut pc: Pc = 0;
        // What a procedure returns that does not say so itself: 0, or by the severest statement that failed.
        let mut untold = 0;
        loop {
            let stepped = match code.machine_code.get() {
                None => self.step::<false>(code, learnt, frame, &mut pc, guarded),
                Some(compiled) => {
                    self.run_compiled(compiled, code, learnt, frame, &mut pc, guarded)
                }
            };
            match stepped {
                Ok(Stepped::On) => {}
                Ok(Stepped::Returned(status)) => return Ok(status.unwrap_or(untold)),
                Err(Halted::Batch) => return Err(Halt::Batch),
                Err(Halted::Error(error)) => match self.after(error, code, pc, guarded) {
                    After::Resume(to, failed) => {
                        pc = to;
                        untold = untold.min(failed);
                    }
                    After::Leave(status) => return Ok(status),
                    After::Halt(halt) => return Err(halt),
                },
            }
        }
    }

    /// Runs until the end or an error; `pc` is then the failing instruction. ONE: one instruction of the machine's, or a
    /// few over numbers.
    pub(crate) fn step<const ONE: bool>(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        frame: &mut [Value],
        pc: &mut Pc,
        guarded: bool,
    ) -> Result<Stepped, Halted> {
        let ops = &code.ops[..];
        let mut turns = 1;
        loop {
            let on = *pc + 1;
            let next = match ops[*pc as usize] {
                Op::Eval { d, expr } => {
                    frame[d as usize] = self.evaluate(&code.exprs[expr as usize], frame)?;
                    on
                }
                Op::UnlessExpr { expr, to, resets } => {
                    let holds = self.holds(&code.exprs[expr as usize], frame)?;
                    if resets {
                        (self.state.rowcount, self.state.error) = (0, 0);
                    }
                    if holds { on } else { to }
                }
                Op::IfExpr { expr, to } => {
                    if self.holds(&code.exprs[expr as usize], frame)? {
                        to
                    } else {
                        on
                    }
                }
                Op::UnlessCondition { condition, to } => {
                    let holds = self.condition(code, learnt, condition as usize, frame)?;
                    (self.state.rowcount, self.state.error) = (0, 0);
                    if holds { on } else { to }
                }
                Op::Begin => {
                    self.state.transaction.begin_unseen(&self.state.options);
                    self.state.transaction.begin(None, &self.state.options);
                    self.state.rowcount = 0;
                    self.state.error = 0;
                    on
                }
                Op::Commit { delayed } => {
                    let state = &mut *self.state;
                    state.transaction.commit(&state.database, delayed)?;
                    state.rowcount = 0;
                    state.error = 0;
                    self.close_cursors_of_transaction();
                    on
                }
                Op::InsertCommit { index, delayed } => {
                    let index = index as usize;
                    let _taken = classic::take(code, index);
                    let done = self.insert_commit(code, learnt, index, delayed, frame, guarded)?;
                    // The COMMIT stands behind it.
                    if done { on + 1 } else { on }
                }
                Op::Statement { index } => {
                    let index = index as usize;
                    let _taken = classic::take(code, index);
                    if !self.run_alone(learnt, index, frame)? {
                        let guarded = guarded || code.handler(*pc).is_some();
                        if !self.call_again(code, learnt, index, frame, guarded)? {
                            self.statement(code, learnt, index, frame, guarded)?;
                        }
                    }
                    on
                }
                Op::Return { status } => {
                    let value = status.map(|reg| &frame[reg as usize]);
                    if value.is_some_and(Value::is_null)
                        && let Some(name) = &code.name
                    {
                        let name = name.rsplit('.').next().unwrap_or(name);
                        let text = format!(
                            "The '{name}' procedure attempted to return a status of NULL, which is not allowed. A status of \
                             0 will be returned instead."
                        );
                        let line = code.span(*pc).map_or(1, |span| span.line);
                        let mut message = executor::SqlMessage::info(282, line, text);
                        message.procedure = code.name.clone();
                        self.sink.message(&message);
                    }
                    let status = value.map(|value| value.as_i64().unwrap_or(0) as i32);
                    return Ok(Stepped::Returned(status));
                }
                Op::EndCatch => {
                    self.state.caught.pop();
                    on
                }
                Op::NotNull { d, saved } => {
                    if frame[d as usize].is_null() {
                        return Err(code.refuse_null(frame, d, saved).into());
                    }
                    on
                }
                _ => {
                    let status = (&mut self.state.rowcount, &mut self.state.error);
                    let at = *pc as usize;
                    let (at, stop) = scalar::run::<ONE>(ops, frame, at, turns, status);
                    *pc = at as Pc;
                    match (stop, ops[at]) {
                        (Stop::Breathe, Op::Loop { to }) => {
                            self.breathe()?;
                            *pc = to;
                            turns = scalar::TURNS;
                        }
                        (Stop::Failed(d, error), _) => {
                            frame[d as usize] = self.forgiven(error.into())?;
                            self.warn(code.span(*pc).map_or(1, |span| span.line), code);
                            *pc += 1;
                        }
                        _ => turns = 1,
                    }
                    if ONE {
                        return Ok(Stepped::On);
                    }
                    continue;
                }
            };
            if !self.state.warnings.is_empty() {
                self.warn(code.span(*pc).map_or(1, |span| span.line), code);
            }
            *pc = next;
            if ONE {
                return Ok(Stepped::On);
            }
            // What it did may have taken its time.
            turns = 1;
        }
    }

    /// After COMMIT and ROLLBACK: SET CURSOR_CLOSE_ON_COMMIT.
    #[inline]
    pub(crate) fn close_cursors_of_transaction(&mut self) {
        if self.state.options.has(CURSOR_CLOSE_ON_COMMIT) && self.state.trancount() == 0 {
            self.programs.cursors.close_all();
        }
    }

    /// Between two turns of a loop: yields when the quantum is over, waits for memory that is on its way, stops when cancelled
    /// or out of it.
    pub(crate) fn breathe(&mut self) -> Result<(), SqlError> {
        runtime::task::maybe_yield();
        if self.cancel.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(executor::cancelled());
        }
        Ok(runtime::task::wait_for_memory()?)
    }

    /// NULL instead of an overflow or a division by zero, where the session's settings have it so.
    #[cold]
    fn forgiven(&mut self, error: SqlError) -> Result<Value, SqlError> {
        let mut env = SessionEnvironment {
            state: &mut *self.state,
            host: &mut *self.host,
            machine: &mut *self.programs,
        };
        executor::forgiven_by(error, &mut env)
    }

    /// Tells what the statement at a line has to warn of.
    #[cold]
    pub(crate) fn warn(&mut self, line: u32, code: &Code) {
        for (number, text) in std::mem::take(&mut self.state.notices) {
            let mut message = executor::SqlMessage::info(number, line.max(1), text);
            message.procedure = code.name.clone();
            self.sink.message(&message);
        }
        for (number, text) in std::mem::take(&mut self.state.warnings).messages() {
            let mut message = executor::SqlMessage::info(number, line.max(1), text);
            message.procedure = code.name.clone();
            self.sink.message(&message);
        }
    }

    /// What names mean now.
    #[inline]
    pub fn names_version(&self) -> NamesVersion {
        self.state.names_version()
    }

    /// Decides what an error ends, and tells the client unless a CATCH takes it.
    fn after(&mut self, mut error: SqlError, code: &Code, pc: Pc, guarded: bool) -> After {
        let span = code.span(pc).copied();
        if error.line == 0 && error.about != About::Call {
            error.line = span.map_or(1, |span| span.line);
        }
        if error.procedure.is_none() {
            error.procedure = code.name.clone();
            // A DDL trigger has none.
            error.schema = code.program.schema.clone().filter(|_| code.object_id != 0);
            if code.name.is_none() && code.statements.len() == 1 {
                let quoted_identifier = self.state.options.quoted_identifier;
                let options = syntax::LexOptions { quoted_identifier };
                error = crate::mistakes::of_module(error, &code.program.text, &options);
            }
        }
        self.name_victim(&mut error);
        // ANSI_WARNINGS OFF and ARITHABORT ON: what cannot be calculated ends the batch.
        if matches!(error.number, 220 | 232 | 8115 | 8134)
            && !self.state.options.has(ANSI_WARNINGS)
            && self.state.options.has(ARITHABORT)
            && error.reach == Reach::Statement
        {
            error.reach = Reach::Batch;
        }
        error.terminated_notice &= self.changes_rows(code, pc, error.number);
        if error.reach == Reach::Statement && fails_to_define(&error, code, pc) {
            error.reach = Reach::Batch;
            error.unbound = false;
        }
        self.state.error = error.number;
        self.state.rowcount = 0;
        // What could not be bound is for an outer level to catch.
        let handler = code.handler(pc).filter(|_| !error.unbound);
        error.unbound = false;
        let caught = (handler.is_some() || guarded)
            && error.reach != Reach::Session
            && error.number != executor::CANCELLED;
        self.settle_transaction(&error, caught);
        if error.number == runtime::task::NO_MEMORY {
            // Whoever handles it is not refused for what has failed.
            runtime::memory::begin_anew();
        }
        if caught {
            return match handler {
                Some(handler) => {
                    // What a CATCH had caught is over when an error leaves it.
                    let left = code.catches_left(pc, handler);
                    let caught = &mut self.state.caught;
                    caught.truncate(caught.len().saturating_sub(left));
                    caught.push(error);
                    After::Resume(handler.target, 0)
                }
                None => After::Halt(Halt::Throw(Box::new(error))),
            };
        }
        self.tell_error(&error);
        if !self.state.warnings.is_empty() {
            self.warn(error.line, code);
        }
        let aborts = self.state.options.xact_abort && error.reach == Reach::Statement;
        let after = match error.reach {
            Reach::Statement if !aborts || is_raised(&error) => {
                let failed = if is_raised(&error) { 0 } else { 10 - i32::from(error.severity) };
                After::Resume(span.map_or(pc + 1, |span| span.resume), failed)
            }
            Reach::Scope
                if matches!(error.number, 207 | 208 | 209 | 4104) && self.state.nesting > 0 =>
            {
                After::Leave(-6)
            }
            _ => After::Halt(Halt::Batch),
        };
        let in_procedure = self.state.nesting > 0;
        // What ends the request has that one's end alone, which comes after what became of the transaction: a client
        // stops to read at the first end with an error, and would go on with a transaction that is no more.
        let has_end = !(in_procedure && matches!(after, After::Halt(_)));
        if error.number != executor::CANCELLED && has_end {
            let command = command_at(code, pc);
            self.sink.done(Done { rows: None, command, in_procedure, failed: true });
        }
        after
    }

    /// A deadlock's victim is told its number.
    fn name_victim(&self, error: &mut SqlError) {
        if error.number == 1205 {
            error.text = format!(
                "Transaction (Process ID {}) was deadlocked on lock resources with another process and has been \
                 chosen as the deadlock victim. Rerun the transaction.",
                self.state.spid
            );
        }
    }

    /// What an error ends that comes from a request without a program; it is not told yet.
    pub fn ended_by(&mut self, error: SqlError) -> Halt {
        let mut error = error.at_line(1);
        self.name_victim(&mut error);
        self.state.rowcount = 0;
        self.settle_transaction(&error, false);
        Halt::Throw(Box::new(error))
    }

    /// Whether the failing statement was changing rows; a definition does that where rows do not go with it.
    fn changes_rows(&self, code: &Code, pc: Pc, error: i32) -> bool {
        match code.ops[pc as usize] {
            Op::InsertCommit { .. } => true,
            Op::Statement { index } => {
                use ir::StmtKind;
                let statement = &code.statements[index as usize];
                if matches!(error, 515 | 1505 | 2628) && defines(statement) {
                    return true;
                }
                let bound = matches!(
                    statement.kind,
                    StmtKind::Insert(_)
                        | StmtKind::Update(_)
                        | StmtKind::Delete(_)
                        | StmtKind::Merge(_)
                        | StmtKind::There(_)
                        | StmtKind::BulkInsert(_)
                );
                bound
                    || statement.source.as_deref().is_some_and(|source| {
                        use syntax::ast::StatementKind::{Delete, Insert, Merge, Update};
                        matches!(source.kind, Insert(_) | Update(_) | Delete(_) | Merge(_))
                    })
            }
            _ => false,
        }
    }

    /// Undoes the transaction as far as the error asks for it.
    pub fn settle_transaction(&mut self, error: &SqlError, caught: bool) {
        let transaction = &mut self.state.transaction;
        // In a function the statement that called it decides.
        if transaction.count == 0 || transaction.lent() > 0 {
            return;
        }
        let xact_abort = self.state.options.xact_abort && !is_raised(error);
        let undoes = match error.reach {
            // What ends a batch ends no more than an ATOMIC block.
            Reach::Batch if self.state.atomic > 0 => false,
            Reach::Transaction | Reach::Batch | Reach::Session => true,
            Reach::Statement | Reach::Scope => xact_abort,
        };
        if !undoes {
            return;
        }
        let result = if caught { transaction.doom() } else { transaction.rollback_all() };
        if let Err(error) = result {
            self.tell_error(&error);
        }
    }

    /// Sends an error, and after it 1750 or 3621 where SQL Server does.
    pub fn tell_error(&mut self, error: &SqlError) {
        self.commands().tell_error(error);
    }

    /// Tells the client that a statement is done.
    #[inline]
    pub fn tell_done(&mut self, command: Command, rows: Option<u64>) {
        self.commands().tell_done(command, rows);
    }

    /// A context for expressions without tables.
    #[inline]
    pub fn with_cx<R>(
        &mut self,
        frame: &mut [Value],
        body: impl FnOnce(&mut Cx<'_>) -> Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        self.commands().with_cx(frame, body)
    }

    /// The value of an expression.
    #[inline]
    pub fn evaluate(&mut self, plan: &ExprPlan, frame: &mut [Value]) -> Result<Value, SqlError> {
        self.commands().evaluate(plan, frame)
    }

    /// Whether a predicate is true.
    #[inline]
    pub fn holds(&mut self, plan: &ExprPlan, frame: &mut [Value]) -> Result<bool, SqlError> {
        self.commands().holds(plan, frame)
    }

    /// Runs a body in the session's transaction: see [`Commands::in_statement`].
    #[inline]
    pub fn in_statement<R>(
        &mut self,
        frame: &mut [Value],
        body: impl FnOnce(&mut Cx<'_>, &mut dyn ResultSink) -> Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        self.commands().in_statement(frame, body)
    }

    /// The session, for a statement without a plan.
    #[inline]
    pub fn commands(&mut self) -> Commands<'_> {
        Commands {
            state: &mut *self.state,
            host: &mut *self.host,
            machine: &mut *self.programs,
            sink: &mut *self.sink,
            cancel: &self.cancel,
            failed: &mut self.failed,
        }
    }
}

/// Errors that RAISERROR made do not trip XACT_ABORT.
fn is_raised(error: &SqlError) -> bool {
    error.raised && error.reach == Reach::Statement
}

/// Whether the statement is a definition.
fn defines(statement: &ir::Stmt) -> bool {
    matches!(statement.kind, ir::StmtKind::Ddl(_))
        || statement.source.as_deref().is_some_and(|source| {
            use syntax::ast::StatementKind::{AlterTable, CreateIndex, CreateTable};
            matches!(source.kind, AlterTable(_) | CreateIndex(_) | CreateTable(_))
        })
}

/// Whether it is the error of a definition that ends the batch and its transaction: one of which 3621 is not told.
fn fails_to_define(error: &SqlError, code: &Code, pc: Pc) -> bool {
    let Op::Statement { index } = code.ops[pc as usize] else { return false };
    let of_definition = error.about == About::Making || is_of_definition(error.number);
    of_definition && !error.terminated_notice && defines(&code.statements[index as usize])
}
