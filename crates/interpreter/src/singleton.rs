//! The singleton insert, and its kin, run without a statement's bracket: they change one row, and what follows from it in the
//! same database, so only the engine has anything to undo of one that fails.
//!
//! ```text
//! BEGIN; INSERT; COMMIT       one log record, no transaction of the engine's own        Vm::insert_commit
//! INSERT, a transaction of its own   likewise                                           Vm::run_alone
//! INSERT within a transaction  the engine's insert, and no savepoint before it           Vm::run_alone
//! INSERT of a table with indexes   the row, its entries; a savepoint, or a transaction   Vm::run_alone
//! the row of a key, read into variables, changed or merged: likewise, on pages in the engine's bracket
//! INSERT of one row in general: likewise                                                 Vm::point_alone
//! ```
//! What follows from a row (entries of indexes, rows that refer to it) is taken back with it, to where the engine's bracket
//! began.
//!
//! Promise: what is not that, or not planned under the names of now, is run by `statement.rs`; neither allocates.

use crate::code::Code;
use crate::figures::{Reading, StatementCells};
use crate::plan::{Body, CodeState};
use crate::vm::Vm;
use dml::PointMerge;
use engine::Durability;
use executor::{Command, Cx, Reach};
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
        if self.state.transaction.count == 1 && self.state.transaction.is_fresh() {
            let ends = Some(durability(&self.state.database, delayed));
            if self.insert_alone(learnt, index, frame, false, ends)? {
                self.state.transaction.committed_by_insert();
                self.close_cursors_of_transaction();
                self.row_is_in(0);
                return Ok(true);
            }
        }
        self.statement(code, learnt, index, frame, guarded)?;
        Ok(false)
    }

    /// A statement over one row, which changes that row or nothing, in the transaction that is open or in one of its own.
    /// False: it is not that, or not planned under the names of now, and nothing was done.
    #[inline]
    pub fn run_alone(
        &mut self,
        learnt: &mut CodeState,
        index: usize,
        frame: &mut [Value],
    ) -> Result<bool, Halted> {
        let Some(planned) = learnt.statements[index].as_deref() else { return Ok(false) };
        let transaction = &self.state.transaction;
        let within = transaction.count > 0;
        let may = match within {
            true => !transaction.doomed,
            false => !self.state.options.implicit_transactions && transaction.is_fresh(),
        };
        match &planned.body {
            Body::FastInsert(_) if may => self.insert_one(learnt, index, frame, within),
            Body::FastPoint(point) if may && point.is_alone() => {
                self.point_alone(learnt, index, Tag::Select, frame)
            }
            Body::PointChange(change) if may && change.is_alone() => {
                let tag = if change.deletes() { Tag::Delete } else { Tag::Update };
                self.point_alone(learnt, index, tag, frame)
            }
            Body::Insert(insert, kept)
                if may && self.state.identity_insert.is_none() && kept.is_alone(insert) =>
            {
                self.point_alone(learnt, index, Tag::Insert, frame)
            }
            Body::PointMerge(point, ..)
                if may && point.is_alone() && PointMerge::applies(self.state.options.isolation) =>
            {
                self.point_alone(learnt, index, Tag::Merge, frame)
            }
            _ => Ok(false),
        }
    }

    /// A row read or changed by its key, or inserted. In memory it is seen by the transaction's snapshot; on pages by a
    /// statement's, for which the engine is told where the statement begins and ends, and takes back what one has done that
    /// fails. With no transaction open it is committed, or rolled back; rows in memory then have the whole bracket.
    fn point_alone(
        &mut self,
        learnt: &mut CodeState,
        index: usize,
        tag: Tag,
        frame: &mut [Value],
    ) -> Result<bool, Halted> {
        let options = &self.state.options;
        if options.fmtonly
            || options.noexec
            || !options.telling.is_none()
            || !self.programs.cursors.are_none()
        {
            return Ok(false);
        }
        let own = self.state.transaction.count == 0;
        let Some(planned) = &mut learnt.statements[index] else { return Ok(false) };
        if planned.private.is_some() || planned.version != self.state.names_version() {
            return Ok(false);
        }
        let (on_pages, bracket, fuses) = match &planned.body {
            // It begins a statement if it has to.
            Body::FastPoint(point) => {
                let on_pages = !point.is_in_memory();
                (on_pages, on_pages && point.reads_outside(), false)
            }
            Body::PointChange(change) => {
                let on_pages = !change.is_in_memory();
                (on_pages, on_pages, own && change.may_fuse())
            }
            Body::PointMerge(point, ..) => (true, true, own && point.may_fuse()),
            Body::Insert(insert, kept) => (true, true, own && kept.may_fuse(insert)),
            _ => (false, false, false),
        };
        let passes_locks = match &planned.body {
            Body::PointChange(change) => own && !fuses && change.may_pass_locks(),
            _ => false,
        };
        if own && !on_pages {
            return Ok(false);
        }
        let cells = learnt.meter.statement(index);
        let reading = cells.is_some_and(StatementCells::count).then(Reading::now);
        let state = &mut *self.state;
        state.activity.statement(tag, state.nesting, state.transaction.count);
        let mut txn = state.transaction.take(&state.database, &state.options);
        if !txn.is_active() {
            txn.begin();
        }
        if bracket {
            txn.begin_statement();
        }
        if fuses {
            txn.fuse();
        } else if passes_locks {
            txn.pass_locks();
        }
        let mut result = {
            let mut env =
                SessionEnvironment { state, host: &mut *self.host, machine: &mut *self.programs };
            let mut cx = Cx::new(frame, &mut env, Some(&mut txn), &self.cancel);
            match &mut planned.body {
                Body::FastPoint(point) if bracket => point.run(&mut cx, &mut *self.sink),
                Body::FastPoint(point) => point.run_alone(&mut cx, &mut *self.sink),
                Body::PointChange(change) => change.run(&mut cx),
                Body::PointMerge(point, ..) => point.run(&mut cx),
                Body::Insert(insert, kept) => {
                    dml::insert(insert, kept, &mut cx.reborrow(), &mut *self.sink)
                }
                _ => stdx::fatal!("a statement has become another one"),
            }
        };
        if bracket {
            match &mut result {
                // A transaction of its own is rolled back whole.
                Err(error) if !own => {
                    if let Err(undo) = txn.rollback_statement() {
                        let undo = executor::from_engine(undo, None, &self.state.database.name);
                        error.reach = error.reach.max(Reach::Transaction).max(undo.reach);
                    }
                }
                _ => txn.end_statement(),
            }
        }
        let state = &mut *self.state;
        state.transaction.give(txn);
        if own {
            match result {
                Ok(_) => {
                    let durability = durability(&state.database, None);
                    state.transaction.finish(&state.database, durability)?;
                }
                Err(_) => state.transaction.rollback_all()?,
            }
        }
        let rows = match result {
            Err(error) if error.stale => {
                learnt.statements[index] = None;
                return Ok(false);
            }
            other => other?,
        };
        if let (Some(reading), Some(cells)) = (reading, learnt.meter.statement(index)) {
            reading.add_to(cells, rows);
        }
        (self.state.rowcount, self.state.error) = (rows as i64, 0);
        let command = match tag {
            Tag::Delete => Command::Delete,
            Tag::Update => Command::Update,
            Tag::Merge => Command::Merge,
            Tag::Insert => Command::Insert,
            // Nothing is told of variables.
            _ => return Ok(true),
        };
        if !self.state.options.nocount {
            self.tell_done(command, Some(rows));
        }
        Ok(true)
    }

    /// INSERT of one row, in the transaction that is open or in one of its own.
    #[inline]
    fn insert_one(
        &mut self,
        learnt: &mut CodeState,
        index: usize,
        frame: &mut [Value],
        within: bool,
    ) -> Result<bool, Halted> {
        let ends = (!within).then(|| durability(&self.state.database, None));
        let done = self.insert_alone(learnt, index, frame, true, ends)?;
        if done {
            self.row_is_in(1);
        }
        Ok(done)
    }

    /// Runs a planned insert of one row, and counts it; `shows`: among the session's statements; `ends`: its transaction ends
    /// with it, that way. False: it is not that, or not planned under the names of now, and nothing was done.
    #[inline]
    fn insert_alone(
        &mut self,
        learnt: &mut CodeState,
        index: usize,
        frame: &mut [Value],
        shows: bool,
        ends: Option<Durability>,
    ) -> Result<bool, Halted> {
        let options = &self.state.options;
        if options.fmtonly
            || options.noexec
            || !options.telling.is_none()
            || self.state.identity_insert.is_some()
        {
            return Ok(false);
        }
        let Some(planned) = &mut learnt.statements[index] else { return Ok(false) };
        if planned.version != self.state.names_version() {
            return Ok(false);
        }
        let Body::FastInsert(planned) = &mut planned.body else { return Ok(false) };
        if planned.row_count() != 1 {
            return Ok(false);
        }
        let cells = learnt.meter.statement(index);
        let reading = cells.is_some_and(StatementCells::count).then(Reading::now);
        let state = &mut *self.state;
        if shows {
            state.activity.statement(Tag::Insert, state.nesting, state.transaction.count);
        }
        let mut txn = state.transaction.take(&state.database, &state.options);
        let result = {
            let mut env =
                SessionEnvironment { state, host: &mut *self.host, machine: &mut *self.programs };
            let mut cx = Cx::new(frame, &mut env, None, &self.cancel);
            match ends {
                Some(durability) => planned.insert_commit(&mut txn, durability, &mut cx),
                None => {
                    if !txn.is_active() {
                        txn.begin();
                    }
                    planned.insert_alone(&mut txn, &mut cx)
                }
            }
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
        Ok(true)
    }

    /// Tells of the row; `rowcount` is what @@ROWCOUNT says after it, or after the COMMIT.
    #[inline]
    fn row_is_in(&mut self, rowcount: i64) {
        (self.state.rowcount, self.state.error) = (rowcount, 0);
        if !self.state.options.nocount {
            self.tell_done(Command::Insert, Some(1));
        }
    }
}
