//! The session as a command borrows it: what it is, who owns the instance, who runs programs, where answers go.
//!
//! Promise: an expression of a command runs in the session's transaction, begun when there is none and committed after it
//! under autocommit; what is told to the client goes through [`Commands::tell_error`] and [`Commands::tell_done`].

use executor::{About, Command, Cx, Done, ResultSink, SqlError, SqlMessage};
use ir::Expr;
use planner::ExprPlan;
use semantics::NOT_MADE;
use semantics::definitions::keeps_from_making;
use session_state::{
    Caller, Halted, Host, Machine, OpenDatabase, SessionEnvironment, SessionState, StatementTxn,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use types::{SqlType, Value, convert};

/// See the file's first lines.
pub struct Commands<'a> {
    pub state: &'a mut SessionState,
    pub host: &'a mut dyn Host,
    pub machine: &'a mut dyn Machine,
    pub sink: &'a mut dyn ResultSink,
    /// The session's flag.
    pub cancel: &'a AtomicBool,
    /// An error of severity 11 or more has been told.
    pub failed: &'a mut bool,
}

impl Commands<'_> {
    /// The value of an expression.
    pub fn evaluate(&mut self, plan: &ExprPlan, frame: &mut [Value]) -> Result<Value, SqlError> {
        if plan.subplans.is_empty() {
            return self.with_cx(frame, |cx| executor::eval(&plan.expr, &[], cx));
        }
        self.begin_unseen(plan);
        self.in_statement(frame, |cx, _| {
            let mut cx = cx.reborrow();
            cx.set_plan(&plan.subplans, plan.param_count);
            executor::eval(&plan.expr, &[], &mut cx)
        })
    }

    /// Whether a predicate is true.
    pub fn holds(&mut self, plan: &ExprPlan, frame: &mut [Value]) -> Result<bool, SqlError> {
        if plan.subplans.is_empty() {
            return self.with_cx(frame, |cx| executor::holds(&plan.expr, &[], cx));
        }
        self.begin_unseen(plan);
        self.in_statement(frame, |cx, _| {
            let mut cx = cx.reborrow();
            cx.set_plan(&plan.subplans, plan.param_count);
            executor::holds(&plan.expr, &[], &mut cx)
        })
    }

    /// A subquery that reads tables is a SELECT to SET IMPLICIT_TRANSACTIONS.
    fn begin_unseen(&mut self, plan: &ExprPlan) {
        if self.state.options.implicit_transactions
            && executor::subplans_read_tables(&plan.subplans)
        {
            self.state.transaction.begin_unseen(&self.state.options);
        }
    }

    /// The value of a bound expression, planned for this once.
    pub fn value(&mut self, expr: &Expr, frame: &mut [Value]) -> Result<Value, SqlError> {
        let plan = planner::plan_expr(expr);
        self.evaluate(&plan, frame)
    }

    /// The same as a whole number; NULL is 0.
    pub(crate) fn whole(&mut self, expr: &Expr, frame: &mut [Value]) -> Result<i64, SqlError> {
        let value = self.value(expr, frame)?;
        let value = convert::cast(&value, expr.ty, SqlType::BigInt, 0)?;
        Ok(value.as_i64().unwrap_or(0))
    }

    /// Runs a body in the session's transaction: begun when there is none, committed after it under autocommit; what
    /// it changed is undone when it fails.
    pub fn in_statement<R>(
        &mut self,
        frame: &mut [Value],
        body: impl FnOnce(&mut Cx<'_>, &mut dyn ResultSink) -> Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        let mut statement = StatementTxn::begin(self.state);
        let result = {
            let mut env = SessionEnvironment {
                state: &mut *self.state,
                host: &mut *self.host,
                machine: &mut *self.machine,
            };
            let limit = env.state.options.rowcount;
            let mut views = executor::ViewChanges::default();
            let mut cx = Cx::new(frame, &mut env, Some(&mut statement.txn), self.cancel);
            cx.view_changes = Some(&mut views);
            if limit > 0 {
                cx.row_limit = limit;
            }
            let result = body(&mut cx, &mut *self.sink);
            result.and_then(|result| dml::keep_views(&mut cx).map(|()| result))
        };
        statement.end(self.state, result)
    }

    /// Sends an error, and after it 1750, 3727, 4916, 5069, 3606 or 3621 where SQL Server does.
    pub fn tell_error(&mut self, error: &SqlError) {
        *self.failed |= error.severity > 10;
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
        if let Some((number, state, text)) = follower(error) {
            let mut second = error.to_message();
            (second.number, second.severity, second.state) = (number, 16, state);
            second.text = text.to_owned();
            self.sink.message(&second);
        }
        let notice = match () {
            () if error.ends_identity() => Some((3606, "Arithmetic overflow occurred.")),
            () if error.terminated_notice => Some((3621, "The statement has been terminated.")),
            () => None,
        };
        if let Some((number, text)) = notice {
            let mut notice = SqlMessage::info(number, error.line.max(1), text);
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
        let mut env = SessionEnvironment {
            state: &mut *self.state,
            host: &mut *self.host,
            machine: &mut *self.machine,
        };
        let mut cx = Cx::new(frame, &mut env, None, self.cancel);
        body(&mut cx)
    }

    /// USE: what was compiled for the database before is of no use any more.
    pub fn use_database(&mut self, database: Arc<OpenDatabase>) {
        if !Arc::ptr_eq(&self.state.database, &database) {
            self.state.use_database(database);
            self.machine.forget_database();
        }
    }

    fn caller(&mut self) -> (Caller<'_>, &mut dyn Machine) {
        let caller = Caller {
            state: &mut *self.state,
            host: &mut *self.host,
            sink: &mut *self.sink,
            failed: &mut *self.failed,
        };
        (caller, &mut *self.machine)
    }

    /// See [`Machine::run_text`].
    pub(crate) fn run_text(&mut self, text: &str, guarded: bool) -> Result<(), Halted> {
        let (caller, machine) = self.caller();
        machine.run_text(caller, text, guarded)
    }

    /// See [`Machine::value_of_text`].
    pub(crate) fn value_of_text(&mut self, text: &str, guarded: bool) -> Result<Value, Halted> {
        let (caller, machine) = self.caller();
        machine.value_of_text(caller, text, guarded)
    }

    /// Runs a text of our own under SET NOCOUNT ON; @@ROWCOUNT stays what it was.
    pub(crate) fn quietly<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let nocount = std::mem::replace(&mut self.state.options.nocount, true);
        let rowcount = self.state.rowcount;
        let result = run(self);
        self.state.options.nocount = nocount;
        self.state.rowcount = rowcount;
        result
    }

    /// The rows of the first query of a text of our own.
    pub(crate) fn rows_of_text(
        &mut self,
        text: &str,
        guarded: bool,
    ) -> Result<Vec<Vec<Value>>, Halted> {
        let mut rows = executor::Collected::default();
        let done = self.quietly(|vm| {
            let caller = Caller {
                state: &mut *vm.state,
                host: &mut *vm.host,
                sink: &mut rows,
                failed: &mut *vm.failed,
            };
            vm.machine.run_text(caller, text, guarded)
        });
        for message in rows.messages.iter().filter(|message| message.is_error()) {
            self.sink.message(message);
        }
        done?;
        Ok(rows.sets.into_iter().next().map_or_else(Vec::new, |set| set.rows))
    }

    /// See [`Machine::run_part`].
    pub(crate) fn run_part(&mut self, text: &str) -> Result<(), SqlError> {
        let (caller, machine) = self.caller();
        machine.run_part(caller, text)
    }

    /// See [`Machine::columns_of_query`].
    pub(crate) fn columns_of_query(&mut self, text: &str) -> Vec<String> {
        let (caller, machine) = self.caller();
        machine.columns_of_query(caller, text)
    }
}

/// What SQL Server says after an error: that a constraint or index could not be made, dropped or switched, or that ALTER
/// DATABASE failed. With its state.
fn follower(error: &SqlError) -> Option<(i32, u8, &'static str)> {
    // What is found while the constraint is made, not ahead of it.
    let made = matches!(error.number, 1505 | 1763 | 1767 | 1776 | 1778 | 1785 | 1908 | 2714 | 2729);
    let not_made = Some((1750, u8::from(made), NOT_MADE));
    match error.number {
        number if keeps_from_making(number) => not_made,
        _ if error.about == About::Making => not_made,
        2714 if error.state == 5 => not_made,
        10785 if error.text.contains("ALTER TABLE") => not_made,
        3725 | 3728 => Some((3727, 0, "Could not drop constraint. See previous errors.")),
        4917 | 11415 => {
            Some((4916, 0, "Could not enable or disable the constraint. See previous errors."))
        }
        5011 | 5061 | 5064 | 5070 => Some((5069, 1, "ALTER DATABASE statement failed.")),
        _ => None,
    }
}
