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

use crate::code::{Code, Op, Pc};
use crate::environment::SessionEnvironment;
use crate::host::Host;
use crate::kind::command_at;
use crate::plan::{CodeState, NamesVersion};
use crate::state::SessionState;
use executor::{Command, Cx, Done, Reach, ResultSink, SqlError, SqlMessage};
use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use types::{TypeError, Value, arith};

/// One batch in execution.
pub(crate) struct Vm<'a> {
    pub state: &'a mut SessionState,
    pub host: &'a mut dyn Host,
    pub sink: &'a mut dyn ResultSink,
    /// The session's flag, held here so that a statement need not count a reference.
    pub cancel: Arc<AtomicBool>,
    /// An error of severity 11 or more has been told.
    pub failed: bool,
}

/// Why a program did not run to its end.
pub(crate) enum Halt {
    /// On its way to a caller's CATCH.
    Throw(Box<SqlError>),
    /// Told already; the batch is over.
    Batch,
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
            match self.step(code, learnt, frame, &mut pc, guarded) {
                Ok(status) => return Ok(status.unwrap_or(untold)),
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

    /// Runs until the end or an error; `pc` is then the failing instruction.
    fn step(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        frame: &mut [Value],
        pc: &mut Pc,
        guarded: bool,
    ) -> Result<Option<i32>, Halted> {
        let ops = &code.ops[..];
        loop {
            match ops[*pc as usize] {
                Op::Move { d, s } => match frame[s as usize] {
                    Value::Int(value) => set_i32(&mut frame[d as usize], value),
                    Value::BigInt(value) => set_i64(&mut frame[d as usize], value),
                    ref other => frame[d as usize] = other.clone(),
                },
                Op::Add { d, a, b } => match (&frame[a as usize], &frame[b as usize]) {
                    (Value::Int(a), Value::Int(b)) => {
                        let value = arith::add_i32(*a, *b)?;
                        set_i32(&mut frame[d as usize], value);
                    }
                    (Value::BigInt(a), Value::BigInt(b)) => {
                        let value = arith::add_i64(*a, *b)?;
                        set_i64(&mut frame[d as usize], value);
                    }
                    _ => frame[d as usize] = Value::Null,
                },
                Op::Sub { d, a, b } => match (&frame[a as usize], &frame[b as usize]) {
                    (Value::Int(a), Value::Int(b)) => {
                        let value = arith::sub_i32(*a, *b)?;
                        set_i32(&mut frame[d as usize], value);
                    }
                    (Value::BigInt(a), Value::BigInt(b)) => {
                        let value = arith::sub_i64(*a, *b)?;
                        set_i64(&mut frame[d as usize], value);
                    }
                    _ => frame[d as usize] = Value::Null,
                },
                Op::Mul { d, a, b } => match (&frame[a as usize], &frame[b as usize]) {
                    (Value::Int(a), Value::Int(b)) => {
                        let value = arith::mul_i32(*a, *b)?;
                        set_i32(&mut frame[d as usize], value);
                    }
                    (Value::BigInt(a), Value::BigInt(b)) => {
                        let value = arith::mul_i64(*a, *b)?;
                        set_i64(&mut frame[d as usize], value);
                    }
                    _ => frame[d as usize] = Value::Null,
                },
                Op::Arith { op, d, a, b } => {
                    let value = match (&frame[a as usize], &frame[b as usize]) {
                        (Value::Int(a), Value::Int(b)) => arith::op_i32(op, *a, *b).map(Value::Int),
                        (Value::BigInt(a), Value::BigInt(b)) => {
                            arith::op_i64(op, *a, *b).map(Value::BigInt)
                        }
                        _ => Ok(Value::Null),
                    };
                    frame[d as usize] = match value {
                        Ok(value) => value,
                        Err(error) => self.forgiven(error)?,
                    };
                }
                Op::Widen { d, s } => match frame[s as usize].as_i64() {
                    Some(value) => set_i64(&mut frame[d as usize], value),
                    None => frame[d as usize] = Value::Null,
                },
                Op::Eval { d, expr } => {
                    frame[d as usize] = self.evaluate(&code.exprs[expr as usize], frame)?;
                }
                Op::Jump { to } => {
                    *pc = to;
                    continue;
                }
                Op::Loop { to } => {
                    runtime::task::maybe_yield();
                    if self.cancel.load(std::sync::atomic::Ordering::Relaxed) {
                        return Err(executor::cancelled().into());
                    }
                    if runtime::memory::check(0).is_err() {
                        return Err(SqlError::from(runtime::task::Stopped::NoMemory).into());
                    }
                    *pc = to;
                    continue;
                }
                Op::Unless { compare, a, b, to } => {
                    let order = match (&frame[a as usize], &frame[b as usize]) {
                        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
                        (Value::BigInt(a), Value::BigInt(b)) => Some(a.cmp(b)),
                        _ => None::<Ordering>,
                    };
                    (self.state.rowcount, self.state.error) = (0, 0);
                    if !order.is_some_and(|order| executor::satisfies(compare, order)) {
                        *pc = to;
                        continue;
                    }
                }
                Op::UnlessExpr { expr, to } => {
                    let holds = self.holds(&code.exprs[expr as usize], frame)?;
                    (self.state.rowcount, self.state.error) = (0, 0);
                    if !holds {
                        *pc = to;
                        continue;
                    }
                }
                Op::UnlessCondition { condition, to } => {
                    let holds = self.condition(code, learnt, condition as usize, frame)?;
                    (self.state.rowcount, self.state.error) = (0, 0);
                    if !holds {
                        *pc = to;
                        continue;
                    }
                }
                Op::Done { rows } => {
                    self.state.rowcount = rows as i64;
                    self.state.error = 0;
                }
                Op::Begin => {
                    self.state.transaction.begin(None, &self.state.options);
                    self.state.rowcount = 0;
                    self.state.error = 0;
                }
                Op::Commit { delayed } => {
                    let state = &mut *self.state;
                    state.transaction.commit(&state.database, delayed)?;
                    state.rowcount = 0;
                    state.error = 0;
                }
                Op::InsertCommit { index, delayed } => {
                    let index = index as usize;
                    if self.insert_commit(code, learnt, index, delayed, frame, guarded)? {
                        *pc += 2;
                        continue;
                    }
                }
                Op::Statement { index } => {
                    let guarded = guarded || code.handler(*pc).is_some();
                    self.statement(code, learnt, index as usize, frame, guarded)?;
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
                    return Ok(value.map(|value| value.as_i64().unwrap_or(0) as i32));
                }
                Op::EndCatch => {
                    self.state.caught.pop();
                }
                Op::NotNull { d, saved } => {
                    if frame[d as usize].is_null() {
                        return Err(crate::atomic::refuse_null(code, frame, d, saved).into());
                    }
                }
            }
            *pc += 1;
        }
    }

    /// NULL, where the session's settings have it so instead of an overflow or a division by zero.
    #[cold]
    fn forgiven(&self, error: types::TypeError) -> Result<Value, SqlError> {
        match self.state.options.arithmetic_yields_null() {
            true => Ok(Value::Null),
            false => Err(error.into()),
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
        if error.line == 0 {
            error.line = span.map_or(1, |span| span.line);
        }
        if error.procedure.is_none() {
            error.procedure = code.name.clone();
        }
        self.name_victim(&mut error);
        error.terminated_notice &= self.changes_rows(code, pc);
        self.state.error = error.number;
        self.state.rowcount = 0;
        // What could not be bound is for an outer level to catch.
        let handler = code.handler(pc).filter(|_| !error.unbound);
        error.unbound = false;
        let caught = (handler.is_some() || guarded)
            && error.reach != Reach::Session
            && error.number != executor::CANCELLED;
        self.settle_transaction(&error, caught);
        if caught {
            return match handler {
                Some(target) => {
                    self.state.caught.push(error);
                    After::Resume(target, 0)
                }
                None => After::Halt(Halt::Throw(Box::new(error))),
            };
        }
        self.tell_error(&error);
        let command = command_at(code, pc);
        let in_procedure = self.state.nesting > 0;
        if error.number != executor::CANCELLED {
            self.sink.done(Done { rows: None, command, in_procedure, failed: true });
        }
        let aborts = self.state.options.xact_abort && error.reach == Reach::Statement;
        match error.reach {
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
        }
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

    /// Whether the failing statement was changing rows.
    fn changes_rows(&self, code: &Code, pc: Pc) -> bool {
        match code.ops[pc as usize] {
            Op::InsertCommit { .. } => true,
            Op::Statement { index } => {
                use binder::ir::StmtKind;
                let statement = &code.statements[index as usize];
                let bound = matches!(
                    statement.kind,
                    StmtKind::Insert(_)
                        | StmtKind::Update(_)
                        | StmtKind::Delete(_)
                        | StmtKind::Merge(_)
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
        self.failed |= error.severity > 10;
        if error.number == executor::CANCELLED {
            // Whoever stopped the request knows.
            return;
        }
        for first in error.ahead.iter().flatten() {
            let mut first = first.clone();
            first.line = if first.line == 0 { error.line.max(1) } else { first.line };
            first.procedure = first.procedure.or_else(|| error.procedure.clone());
            self.sink.message(&first);
        }
        self.sink.message(&error.to_message());
        // A constraint or index that could not be made.
        if matches!(
            error.number,
            1752 | 1754 | 1757 | 1763 | 1767
                ..=1770 | 1774 | 1776 | 1778 | 1779 | 1781 | 1785 | 8111
        ) || (error.number == 10785 && error.text.contains("ALTER TABLE"))
        {
            let mut second = error.to_message();
            (second.number, second.severity, second.state) = (1750, 16, 0);
            second.text = "Could not create constraint or index. See previous errors.".to_owned();
            self.sink.message(&second);
        }
        if error.terminated_notice {
            let mut notice =
                SqlMessage::info(3621, error.line.max(1), "The statement has been terminated.");
            notice.procedure = error.procedure.clone();
            self.sink.message(&notice);
        }
    }

    /// Tells the client that a statement is done.
    #[inline]
    pub fn tell_done(&mut self, command: Command, rows: Option<u64>) {
        let in_procedure = self.state.nesting > 0;
        self.sink.done(Done { rows, command, in_procedure, failed: false });
    }

    /// A context for expressions without tables.
    pub fn with_cx<R>(
        &mut self,
        frame: &mut [Value],
        body: impl FnOnce(&mut Cx<'_>) -> Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        let mut env = SessionEnvironment { state: &mut *self.state, host: &mut *self.host };
        let mut cx = Cx::new(frame, &mut env, None, &self.cancel);
        body(&mut cx)
    }
}

/// Writes an int. Where one was before only its payload changes: a value put together on the stack and moved whole
/// would wait for its own stores (some 15 ns).
#[inline(always)]
fn set_i32(slot: &mut Value, value: i32) {
    match slot {
        Value::Int(old) => *old = value,
        _ => *slot = Value::Int(value),
    }
}

/// The same for a bigint.
#[inline(always)]
fn set_i64(slot: &mut Value, value: i64) {
    match slot {
        Value::BigInt(old) => *old = value,
        _ => *slot = Value::BigInt(value),
    }
}

/// Errors that RAISERROR made do not trip XACT_ABORT.
fn is_raised(error: &SqlError) -> bool {
    error.raised && error.reach == Reach::Statement
}

/// An error, or the end of the batch inside a nested call.
pub(crate) enum Halted {
    Error(SqlError),
    Batch,
}

impl From<SqlError> for Halted {
    fn from(error: SqlError) -> Halted {
        Halted::Error(error)
    }
}

impl From<TypeError> for Halted {
    fn from(error: TypeError) -> Halted {
        Halted::Error(error.into())
    }
}

impl From<Halt> for Halted {
    fn from(halt: Halt) -> Halted {
        match halt {
            Halt::Throw(error) => Halted::Error(*error),
            Halt::Batch => Halted::Batch,
        }
    }
}
