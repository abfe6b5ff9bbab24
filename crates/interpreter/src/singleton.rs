//! The singleton insert, run without a statement's bracket: it changes one row or nothing, so of one that fails nothing
//! has to be undone.
//!
//! ```text
//! BEGIN; INSERT; COMMIT       one log record, no transaction of the engine's own        Vm::insert_commit
//! INSERT within a transaction  the engine's insert, and no savepoint before it           Vm::insert_within
//! ```
//!
//! Promise: what is not that, or not planned under the names of now, is run by `statement.rs`; neither allocates.

use crate::code::Code;
use crate::figures::{Reading, StatementCells};
use crate::plan::{Body, CodeState};
use crate::vm::Vm;
use executor::{Command, Cx};
use session_state::{Halted, SessionEnvironment, Tag, durability};
use types::Value;

impl Vm<'_> {
    /// INSERT and COMMIT in one, where the transaction has done nothing yet. False: nothing of the COMMIT was done.
    #[allow(clippy::too_many_arguments, reason = "a statement and where it stands")]
    #[inline]
    pub fn insert_commit(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        index: usize,
        delayed: Option<bool>,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<bool, Halted> {
        let fused = self.state.transaction.count == 1 && self.state.transaction.is_fresh();
        if fused
            && !self.state.options.fmtonly
            && !self.state.options.noexec
            && self.state.options.telling.is_none()
            && self.state.identity_insert.is_none()
            && let Some(planned) = &mut learnt.statements[index]
            && planned.version == self.state.names_version()
            && let Body::FastInsert(insert) = &mut planned.body
            && insert.row_count() == 1
        {
            let cells = learnt.meter.statement(index);
            let reading = cells.is_some_and(StatementCells::count).then(Reading::now);
            let state = &mut *self.state;
            let durability = durability(&state.database, delayed);
            let mut txn = state.transaction.take(&state.database, &state.options);
            let result = {
                let mut env = SessionEnvironment {
                    state,
                    host: &mut *self.host,
                    machine: &mut *self.programs,
                };
                let mut cx = Cx::new(frame, &mut env, None, &self.cancel);
                insert.insert_commit(&mut txn, durability, &mut cx)
            };
            self.state.transaction.give(txn);
            match result {
                Err(error) if error.stale => {
                    learnt.statements[index] = None;
                    self.statement(code, learnt, index, frame, guarded)?;
                    return Ok(false);
                }
                other => other?,
            }
            if let (Some(reading), Some(cells)) = (reading, learnt.meter.statement(index)) {
                reading.add_to(cells, 1);
            }
            self.state.transaction.committed_by_insert();
            self.close_cursors_of_transaction();
            self.state.rowcount = 0;
            self.state.error = 0;
            if !self.state.options.nocount {
                self.tell_done(Command::Insert, Some(1));
            }
            return Ok(true);
        }
        self.statement(code, learnt, index, frame, guarded)?;
        Ok(false)
    }

    /// INSERT of one row in a transaction that is open. False: nothing was done.
    #[inline]
    pub fn insert_within(
        &mut self,
        learnt: &mut CodeState,
        index: usize,
        frame: &mut [Value],
    ) -> Result<bool, Halted> {
        let transaction = &self.state.transaction;
        if transaction.count > 0
            && !transaction.doomed
            && !self.state.options.fmtonly
            && !self.state.options.noexec
            && self.state.options.telling.is_none()
            && self.state.identity_insert.is_none()
            && let Some(planned) = &mut learnt.statements[index]
            && planned.version == self.state.names_version()
            && let Body::FastInsert(insert) = &mut planned.body
            && insert.row_count() == 1
        {
            let cells = learnt.meter.statement(index);
            let reading = cells.is_some_and(StatementCells::count).then(Reading::now);
            let state = &mut *self.state;
            state.activity.statement(Tag::Insert, state.nesting, state.transaction.count);
            let mut txn = state.transaction.take(&state.database, &state.options);
            if !txn.is_active() {
                txn.begin();
            }
            let result = {
                let mut env = SessionEnvironment {
                    state,
                    host: &mut *self.host,
                    machine: &mut *self.programs,
                };
                let mut cx = Cx::new(frame, &mut env, None, &self.cancel);
                insert.insert_alone(&mut txn, &mut cx)
            };
            self.state.transaction.give(txn);
            match result {
                Err(error) if error.stale => {
                    learnt.statements[index] = None;
                    return Ok(false);
                }
                other => other?,
            }
            if let (Some(reading), Some(cells)) = (reading, learnt.meter.statement(index)) {
                reading.add_to(cells, 1);
            }
            (self.state.rowcount, self.state.error) = (1, 0);
            if !self.state.options.nocount {
                self.tell_done(Command::Insert, Some(1));
            }
            return Ok(true);
        }
        Ok(false)
    }
}
