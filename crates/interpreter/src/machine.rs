//! What commands and expressions ask of the interpreter: a function's value, a text's rows, cursors and plans.
//!
//! Promise: what is run here runs in the session of whoever asks, as a part of what it does; what it fails of is told to it.

use crate::function::{Returned, run_function};
use crate::handles::is_written;
use crate::plan::CodeState;
use crate::plan_cache::SessionPlan;
use crate::programs::Programs;
use crate::vm::Vm;
use executor::SqlError;
use ir::CursorRef;
use session_state::{Caller, EvictedPlans, Halt, Halted, Host, Machine, SessionState};
use types::Value;

impl Machine for Programs {
    fn scalar_function(
        &mut self,
        state: &mut SessionState,
        host: &mut dyn Host,
        object_id: i32,
        args: &[Value],
        txn: Option<&mut engine::Txn>,
    ) -> Result<Value, SqlError> {
        match run_function(self, state, host, object_id, args, txn)? {
            Returned::Scalar(value) => Ok(value),
            Returned::Rows(_) => Ok(Value::Null),
        }
    }

    fn function_rows(
        &mut self,
        state: &mut SessionState,
        host: &mut dyn Host,
        object_id: i32,
        args: &[Value],
        txn: Option<&mut engine::Txn>,
    ) -> Result<Vec<Vec<Value>>, SqlError> {
        match run_function(self, state, host, object_id, args, txn)? {
            Returned::Rows(rows) => Ok(rows),
            Returned::Scalar(_) => Ok(Vec::new()),
        }
    }

    fn described_rows(
        &mut self,
        state: &mut SessionState,
        host: &mut dyn Host,
        text: &str,
        declarations: &str,
    ) -> Vec<Vec<Value>> {
        let mut sink = crate::function::Silence;
        let cancel = state.cancel.clone();
        let mut vm = Vm { state, host, programs: self, sink: &mut sink, cancel, failed: false };
        crate::describe::described_rows(vm.first_result_of(text, declarations))
    }

    fn run_text(&mut self, caller: Caller<'_>, text: &str, guarded: bool) -> Result<(), Halted> {
        self.run_for(caller, |vm| vm.execute_text(text, guarded))
    }

    fn value_of_text(
        &mut self,
        caller: Caller<'_>,
        text: &str,
        guarded: bool,
    ) -> Result<Value, Halted> {
        self.run_for(caller, |vm| vm.value_of_text(text, guarded))
    }

    fn run_part(&mut self, caller: Caller<'_>, text: &str) -> Result<(), SqlError> {
        self.run_for(caller, |vm| {
            let (code, _) = vm.compile_text(text, None)?;
            let code = SessionPlan::alone(code);
            let mut learnt = CodeState::new(&code);
            let mut frame = code.template.clone();
            match vm.run(&code, &mut learnt, &mut frame, true) {
                Ok(_) => Ok(()),
                Err(Halt::Throw(cause)) => Err(*cause),
                Err(Halt::Batch) => Err(executor::doomed()),
            }
        })
    }

    fn columns_of_query(&mut self, caller: Caller<'_>, text: &str) -> Vec<String> {
        self.run_for(caller, |vm| {
            let compiled = vm.compile_text(text, None);
            let shape = compiled.and_then(|(code, _)| vm.first_result(&code, 0, false));
            let columns = shape.ok().flatten().unwrap_or_default();
            columns.into_iter().map(|c| c.name.unwrap_or_default()).collect()
        })
    }

    fn fetch_status(&self) -> i32 {
        self.cursors.fetch_status
    }

    fn cursor_rows(&self) -> i32 {
        self.cursors.counted()
    }

    fn cursor_status(&self, kind: &str, name: &str, slot: Option<u16>) -> i16 {
        self.cursors.status(kind, name, slot)
    }

    fn current_row(&self, cursor: &CursorRef, table: i32, part: i32) -> Result<Value, SqlError> {
        self.cursors.current(cursor, table, part)
    }

    fn current_is_same(
        &self,
        cursor: &CursorRef,
        table: i32,
        columns: &[Value],
    ) -> Result<bool, SqlError> {
        self.cursors.is_same(cursor, table, columns)
    }

    fn current_may_change(&self, cursor: &CursorRef, columns: &[Value]) -> Result<(), SqlError> {
        self.cursors.may_change(cursor, columns)
    }

    fn forget_procedures(&mut self) {
        self.procedures.clear();
    }

    fn forget_database(&mut self) {
        self.procedures.clear();
        self.texts.forget_plans();
    }

    fn evict_plans(&mut self, which: EvictedPlans<'_>) -> usize {
        match which {
            EvictedPlans::All => self.plans.throw_out(|_| true),
            EvictedPlans::Of(database) => {
                self.plans.throw_out(|plan| plan.database_id() == database)
            }
            EvictedPlans::Handle(digits) => self.plans.throw_out(|plan| {
                is_written(&plan.handle(), digits) || is_written(plan.sql_handle(), digits)
            }),
            EvictedPlans::PlanOf(database, digits) => self.plans.throw_out(|plan| {
                plan.database_id() == database && is_written(&plan.handle(), digits)
            }),
        }
    }
}

impl Programs {
    /// Runs something in the session of whoever asks.
    fn run_for<R>(&mut self, caller: Caller<'_>, body: impl FnOnce(&mut Vm<'_>) -> R) -> R {
        let Caller { state, host, sink, failed } = caller;
        let cancel = state.cancel.clone();
        let mut vm = Vm { state, host, programs: self, sink, cancel, failed: *failed };
        let result = body(&mut vm);
        *failed = vm.failed;
        result
    }
}
