//! What a session has compiled: its programs and what it has learnt of them, its cursors, frames to run in.
//!
//! Promise: nothing here is shared but the plan cache; what was compiled in a database, or under options that give texts
//! another meaning, is not found after the session has left them.

use crate::cache::TextCache;
use crate::cursor::Cursors;
use crate::function::{Returned, run_function};
use crate::handles::is_written;
use crate::plan::CodeState;
use crate::plan_cache::{PlanCache, SessionPlan};
use crate::vm::Vm;
use binder::ir::CursorRef;
use catalog::ProcedureDef;
use executor::SqlError;
use session_state::{
    Caller, EvictedPlans, Halt, Halted, Host, Machine, OpenDatabase, Recoverable, SessionState,
};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use stdx::NumberMap;
use types::Value;

/// A session, and what it has compiled.
pub struct Session {
    pub state: SessionState,
    pub programs: Programs,
}

impl Session {
    /// What it would be recovered to if its connection broke now.
    pub fn recoverable(&self) -> Recoverable {
        let mut recoverable = self.state.recoverable();
        recoverable.whole &= self.programs.cursors.are_none();
        recoverable
    }
}

impl Deref for Session {
    type Target = SessionState;

    fn deref(&self) -> &SessionState {
        &self.state
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut SessionState {
        &mut self.state
    }
}

impl Session {
    /// A fresh session in `database`, which shares `plans` with others.
    pub fn new(spid: u16, database: Arc<OpenDatabase>, plans: Arc<PlanCache>) -> Session {
        Session { state: SessionState::new(spid, database), programs: Programs::new(plans) }
    }

    /// Rolls back whatever is open; for a closing connection. Suspends.
    pub fn reset(&mut self) {
        self.state.reset();
        self.programs.clear();
    }

    /// Makes everything as it was at the beginning, but for the database and, where it is to be kept, the transaction.
    /// Suspends.
    pub fn reset_connection(&mut self, keep_transaction: bool) {
        self.state.reset_connection(keep_transaction);
        self.programs.clear();
    }

    /// USE: see [`SessionState::use_database`].
    pub fn use_database(&mut self, database: Arc<OpenDatabase>) {
        if !Arc::ptr_eq(&self.state.database, &database) {
            self.state.use_database(database);
            self.programs.forget_database();
        }
    }
}

/// A procedure, compiled, with what this session has learnt of it.
pub(crate) struct CachedProcedure {
    /// Catalog version of the definition that was compiled.
    pub version: u64,
    pub code: Arc<SessionPlan>,
    /// Absent while it runs.
    pub state: Option<CodeState>,
}

impl CachedProcedure {
    /// To be run; what has been learnt of it is given back by [`Vm::keep_learnt`].
    #[inline]
    pub fn take(&mut self) -> (Arc<SessionPlan>, CodeState) {
        let code = self.code.clone();
        let learnt = self.state.take().unwrap_or_else(|| CodeState::new(&code));
        learnt.meter.note_use();
        (code, learnt)
    }
}

/// See the file's first lines.
pub struct Programs {
    /// What all sessions have compiled.
    pub(crate) plans: Arc<PlanCache>,
    pub(crate) procedures: NumberMap<(u16, i32), CachedProcedure>,
    /// Compiled batches and parameterised texts.
    pub(crate) texts: TextCache,
    pub(crate) cursors: Cursors,
    /// Frames not in use.
    frames: Vec<Vec<Value>>,
}

impl Programs {
    /// None yet.
    pub fn new(plans: Arc<PlanCache>) -> Programs {
        Programs {
            plans,
            procedures: NumberMap::default(),
            texts: TextCache::default(),
            cursors: Cursors::default(),
            frames: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.procedures.clear();
        self.texts.clear();
        self.cursors.clear();
    }

    /// A procedure as it is defined, if it is at hand.
    #[inline]
    pub(crate) fn known_procedure(
        &mut self,
        database: u16,
        definition: &ProcedureDef,
    ) -> Option<&mut CachedProcedure> {
        let known = self.procedures.get_mut(&(database, definition.object_id))?;
        (known.version == definition.version && !known.code.is_gone()).then_some(known)
    }

    /// An empty frame, perhaps with memory from an earlier one.
    pub(crate) fn take_frame(&mut self) -> Vec<Value> {
        self.frames.pop().unwrap_or_default()
    }

    /// Gives a frame back.
    pub(crate) fn give_frame(&mut self, mut frame: Vec<Value>) {
        frame.clear();
        if self.frames.len() < 8 {
            self.frames.push(frame);
        }
    }
}

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
