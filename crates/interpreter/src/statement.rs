//! Statements over tables: bound again when names have moved, run in a transaction, undone when they fail.

use crate::code::Code;
use crate::figures::{Reading, StatementCells};
use crate::named_database;
use crate::plan::{self, Body, Called, CodeState, Planned, ThereBody, Version, hints, recompiles};
use crate::textsize::Cut;
use crate::vm::Vm;
use executor::{Command, Cx, SqlError, SqlMessage};
use ir::{OutputColumn, StmtKind, UpdateSet};
use planner::{ChangePlan, InsertSource, Known, SelectTarget};
use session_state::Halted;
use session_state::SessionEnvironment;
use session_state::SessionNames;
use session_state::Tag;
use session_state::bind_error;
use session_state::durability;
use std::sync::atomic::Ordering;
use types::Value;

/// How often a statement is planned again for a definition that moves, a millisecond apart.
pub(crate) const STALE_ROUNDS_MAX: u32 = 30_000;

/// What a statement did.
pub(crate) enum Outcome {
    /// Rows changed; told to the client unless NOCOUNT.
    Rows(Command, u64),
    /// Rows sent.
    Sent(u64),
    /// Neither: @@ROWCOUNT becomes 0.
    Nothing(Command),
    /// The statement has set @@ROWCOUNT and @@ERROR itself.
    Settled,
}

impl Vm<'_> {
    /// A condition over tables.
    pub fn condition(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        index: usize,
        frame: &mut [Value],
    ) -> Result<bool, SqlError> {
        let version = self.names_version();
        let generation = self.state.transaction.private.generation();
        let known = learnt.conditions[index]
            .take()
            .filter(|((v, private), _)| *v == version && private.is_none_or(|p| p == generation));
        let (version, plan) = match known {
            Some(known) => known,
            None => {
                let condition = &code.conditions[index];
                let mut private = None;
                let expr = match &condition.source {
                    Some(source) => {
                        let names = SessionNames::new(self.state, self.host);
                        let bound = binder::bind_condition(&code.program, source, &names);
                        private = names.private_version();
                        bound.map_err(bind_error)?
                    }
                    None => match &condition.expr {
                        Some(expr) => expr.clone(),
                        None => stdx::fatal!("a condition with neither expression nor syntax"),
                    },
                };
                if self.state.identity.is_limited() {
                    self.commands().check_expr(&expr, code.object_id)?;
                }
                ((version, private), Box::new(planner::plan_expr(&expr)))
            }
        };
        let result = self.holds(&plan, frame);
        if matches!(&result, Err(error) if error.stale) {
            // As in `try_anew`; the condition is not kept, so it is bound again.
            for _ in 0..STALE_ROUNDS_MAX {
                runtime::task::sleep_ns(1_000_000, telemetry::WaitType::SleepTask);
                let Some(source) = &code.conditions[index].source else { break };
                let names = SessionNames::new(self.state, self.host);
                let bound = binder::bind_condition(&code.program, source, &names);
                let plan = planner::plan_expr(&bound.map_err(bind_error)?);
                match self.holds(&plan, frame) {
                    Err(error) if error.stale && !self.cancel.load(Ordering::Relaxed) => {}
                    other => return other,
                }
            }
            return result;
        }
        learnt.conditions[index] = Some((version, plan));
        result
    }

    /// Runs statement `index`.
    pub fn statement(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        index: usize,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), Halted> {
        let options = &self.state.options;
        if options.fmtonly || options.noexec {
            return self.without_running(code, index, frame, guarded);
        }
        if let Some(database) = named_database::database_of(&code.statements[index])
            && !catalog::same_name(database, &self.state.database.name)
        {
            return self.definition_elsewhere(database, code, learnt, index, frame, guarded);
        }
        // What a function does is its caller's affair.
        if !self.state.options.telling.is_none() && self.state.functions == 0 {
            return self.told_statement(code, learnt, index, frame, guarded);
        }
        let statement = &code.statements[index];
        let tag = Tag::of(&statement.kind, statement.source.as_deref().map(|s| &s.kind));
        let state = &*self.state;
        state.activity.statement(tag, state.nesting, state.transaction.count);
        let mut planned = self.planned(code, learnt, index, frame)?;
        let is_fast = planned.body.is_fast();
        if !is_fast && planned.watch.is_outdated(&self.state.database.engine) {
            planned = self.planned(code, learnt, index, frame)?;
        }
        let due = |cells: &StatementCells| match is_fast {
            true => cells.count(),
            false => planned.body.is_counted(),
        };
        let reading = learnt.meter.statement(index).is_some_and(due).then(Reading::now);
        let mut result = self.run_planned(&mut planned, code, index, frame, guarded);
        if matches!(&result, Err(Halted::Error(error)) if error.stale) {
            (planned, result) = self.try_anew(code, learnt, index, frame, guarded)?;
        }
        if let Some(positioned) = self.programs.cursors.take_positioned() {
            result = self.after_positioned(positioned, result);
        }
        // What was planned for one run has the values of that run in it.
        learnt.statements[index] = (!planned.watch.once).then_some(planned);
        let outcome = result?;
        if !self.state.warnings.is_empty() {
            self.warn(statement.line, code);
        }
        self.settle(outcome);
        if let (Some(reading), Some(cells)) = (reading, learnt.meter.statement(index)) {
            if !is_fast {
                cells.count();
            }
            reading.add_to(cells, self.state.rowcount.max(0) as u64);
        }
        Ok(())
    }

    /// A table was altered between planning and running, or its new definition is about to be published: plans again
    /// until both agree. Ends with what the last attempt said.
    #[cold]
    fn try_anew(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        index: usize,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(Box<Planned>, Result<Outcome, Halted>), Halted> {
        let mut rounds = 0;
        loop {
            learnt.statements[index] = None;
            runtime::task::sleep_ns(1_000_000, telemetry::WaitType::SleepTask);
            let mut planned = self.planned(code, learnt, index, frame)?;
            let result = self.run_planned(&mut planned, code, index, frame, guarded);
            rounds += 1;
            let again = matches!(&result, Err(Halted::Error(error)) if error.stale);
            if !again || rounds == STALE_ROUNDS_MAX || self.cancel.load(Ordering::Relaxed) {
                return Ok((planned, result));
            }
        }
    }

    /// Under SET FMTONLY a query tells its columns; under NOEXEC not even that. SET and EXEC still run: the one may end
    /// this, the other has queries to tell of.
    #[cold]
    fn without_running(
        &mut self,
        code: &Code,
        index: usize,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), Halted> {
        let statement = &code.statements[index];
        match &statement.kind {
            StmtKind::Set(_) | StmtKind::Use { .. } => {
                self.other(&statement.kind, code, statement.line, frame, guarded)
            }
            StmtKind::Exec(_) | StmtKind::ExecString { .. } if self.state.options.fmtonly => {
                self.other(&statement.kind, code, statement.line, frame, guarded)
            }
            _ if self.state.options.fmtonly => {
                if let Some(columns) = self.columns_of(code, index)? {
                    self.sink.columns(&executor::column_meta(&columns));
                    self.tell_done(Command::Select, Some(0));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A statement as the names of now mean it.
    pub fn bound(&mut self, code: &Code, index: usize) -> Result<StmtKind, SqlError> {
        let statement = &code.statements[index];
        match &statement.source {
            Some(source) => {
                let names = SessionNames::new(self.state, self.host);
                let bound = binder::bind_statement(&code.program, source, &names);
                Ok(bound.map_err(bind_error)?.kind)
            }
            None => Ok(statement.kind.clone()),
        }
    }

    /// The columns of the result set of a statement, if it has one.
    pub fn columns_of(
        &mut self,
        code: &Code,
        index: usize,
    ) -> Result<Option<Vec<OutputColumn>>, SqlError> {
        let kind = self.bound(code, index)?;
        if let StmtKind::Select(select) = &kind {
            let client = matches!(select.target, ir::SelectTarget::Client);
            return Ok(client.then(|| select.query.output.clone()));
        }
        let told = kind.output().and_then(ir::Output::told);
        Ok(told.map(|told| told.iter().map(|(column, _)| column.clone()).collect()))
    }

    /// 544 unless IDENTITY_INSERT is ON for the table.
    fn check_identity_insert(&self, table: &catalog::TableDef) -> Result<(), SqlError> {
        if self.state.takes_identity(table) {
            return Ok(());
        }
        Err(SqlError::new(
            544,
            16,
            format!(
                "Cannot insert explicit value for identity column in table '{}' when \
                 IDENTITY_INSERT is set to OFF.",
                table.name
            ),
        ))
    }

    /// 545 where IDENTITY_INSERT is ON for the table of an INSERT that gives its identity column no value.
    #[inline]
    fn check_identity_left_out(&self, table: &catalog::TableDef) -> Result<(), SqlError> {
        match self.state.takes_identity(table) {
            true => Err(SqlError::new(
                545,
                16,
                format!(
                    "Explicit value must be specified for identity column in table '{}' either when IDENTITY_INSERT is \
                     set to ON or when a replication user is inserting into a NOT FOR REPLICATION identity column.",
                    table.name
                ),
            )),
            false => Ok(()),
        }
    }

    pub(crate) fn settle(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Rows(command, rows) => {
                self.state.rowcount = rows as i64;
                self.state.error = 0;
                if !self.state.options.nocount {
                    self.tell_done(command, Some(rows));
                }
            }
            Outcome::Sent(rows) => {
                self.state.rowcount = rows as i64;
                self.state.error = 0;
                let rows = (!self.state.options.nocount).then_some(rows);
                self.tell_done(Command::Select, rows);
            }
            Outcome::Nothing(command) => {
                self.state.rowcount = 0;
                self.state.error = 0;
                if command != Command::Other {
                    self.tell_done(command, None);
                }
            }
            Outcome::Settled => {}
        }
    }

    /// The plan of a statement under the names of now.
    fn planned(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        index: usize,
        frame: &[Value],
    ) -> Result<Box<Planned>, SqlError> {
        let mut version = self.names_version();
        let statement = &code.statements[index];
        if let Some(planned) = learnt.statements[index].take()
            && (planned.version == version
                || (planned.version.identity == version.identity
                    && !plan::depends_on_catalog(statement)))
            && planned.private.is_none_or(|p| p == self.state.transaction.private.generation())
        {
            return Ok(planned);
        }
        if self.state.identity.is_limited() {
            // The catalog has moved, and with it perhaps who may do what.
            self.state.follow_identity(&*self.host);
            version = self.names_version();
        }
        let bound;
        let mut private = None;
        let kind = match &statement.source {
            // What the batch was compiled with may be stale by now, or never was bound.
            Some(source) => {
                let names = SessionNames::new(self.state, self.host);
                let result = binder::bind_statement(&code.program, source, &names);
                private = names.private_version();
                bound = result.map_err(|e| SqlError { unbound: true, ..bind_error(e) })?;
                &bound.kind
            }
            None => &statement.kind,
        };
        let planned = self.plan_bound(kind, code.object_id, (version, private), code, frame)?;
        if hints(kind).is_some_and(|hints| hints.local_join) {
            let text =
                "Warning: The join order has been enforced because a local join hint is used.";
            self.sink.message(&SqlMessage::info(8625, statement.line, text));
        }
        Ok(planned)
    }

    /// Plans a bound statement under the names that bound it, if it may run; `module` owns what it reaches by its owner.
    pub(crate) fn plan_bound(
        &mut self,
        bound: &StmtKind,
        module: i32,
        (version, private): Version,
        code: &Code,
        frame: &[Value],
    ) -> Result<Box<Planned>, SqlError> {
        let masked;
        let mut kind = bound;
        if self.state.identity.is_limited() {
            self.commands().check_statement(kind, module)?;
            masked = self.commands().masked(kind);
            kind = masked.as_ref().unwrap_or(kind);
        }
        if code.name.is_none()
            && let Some(verb) = session_state::needs_settings(kind)
        {
            session_state::check_settings(&self.state.options, verb)?;
        }
        if kind.query().is_some_and(planner::cannot_seek) {
            return Err(session_state::messages::error(8622, &[]));
        }
        let mut watch = self.commands().prepare_statistics(kind);
        watch.once = recompiles(kind);
        runtime::task::breathe()?;
        let known = self.known(kind, code, frame);
        let body = match kind {
            StmtKind::There(there) => {
                if self.state.identity.is_limited() {
                    for expr in &there.here {
                        self.commands().check_expr(expr, module)?;
                    }
                }
                Body::There(ThereBody::new(there, frame.len()))
            }
            kind => plan::plan(kind, &known, &self.state.database.engine),
        };
        Ok(Box::new(Planned { version, private, watch, body, called: Called::default() }))
    }

    pub(crate) fn run_planned(
        &mut self,
        planned: &mut Planned,
        code: &Code,
        index: usize,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<Outcome, Halted> {
        if self.state.transaction.doomed && writes(&planned.body) {
            return Err(executor::doomed().into());
        }
        if self.state.options.implicit_transactions && opens_transaction(&planned.body) {
            self.state.transaction.begin_unseen(&self.state.options);
        }
        if self.state.options.cost_limit() > 0 {
            self.check_cost(&planned.body)?;
        }
        match &mut planned.body {
            Body::There(there) => self.change_there(there, code, index, frame, guarded),
            Body::FastInsert(insert) => {
                self.check_identity_left_out(insert.table())?;
                let rows = insert.row_count() as u64;
                if rows == 1
                    && self.state.transaction.count == 0
                    && self.state.transaction.is_fresh()
                {
                    let state = &mut *self.state;
                    let durability = durability(&state.database, None);
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
                    result?;
                } else {
                    self.in_statement(frame, |cx, _| insert.insert(cx))?;
                }
                Ok(Outcome::Rows(Command::Insert, rows))
            }
            Body::FastPoint(point) => {
                if point.sends() {
                    self.check_sends()?;
                }
                let limit = Cut::limit(self.state.options.textsize).filter(|_| point.sends());
                let rows = self.in_statement(frame, |cx, sink| match limit {
                    None => point.run(cx, sink),
                    Some(bytes) => point.run(cx, &mut Cut::new(sink, bytes)),
                })?;
                if point.sends() {
                    return Ok(Outcome::Sent(rows));
                }
                self.state.rowcount = rows as i64;
                self.state.error = 0;
                Ok(Outcome::Settled)
            }
            Body::Select(select) => match &select.target {
                SelectTarget::Client => {
                    self.check_sends()?;
                    let plan = &select.plan;
                    let limit = Cut::limit(self.state.options.textsize);
                    let rows = self.in_statement(frame, |cx, sink| {
                        let cx = &mut cx.reborrow();
                        match limit {
                            None => executor::select_to_client(plan, cx, sink),
                            Some(bytes) => {
                                executor::select_to_client(plan, cx, &mut Cut::new(sink, bytes))
                            }
                        }
                    })?;
                    Ok(Outcome::Sent(rows))
                }
                SelectTarget::Vars(assign) => {
                    let plan = &select.plan;
                    let rows = self.in_statement(frame, |cx, _| {
                        executor::select_to_vars(plan, assign, &mut cx.reborrow())
                    })?;
                    self.state.rowcount = rows as i64;
                    self.state.error = 0;
                    Ok(Outcome::Settled)
                }
                SelectTarget::Into { name, spec } => {
                    let rows = self.with_ddl_triggers(code, index, guarded, |vm| {
                        Ok(vm.commands().select_into(&select.plan, name, spec, frame)?)
                    })?;
                    Ok(Outcome::Rows(Command::SelectInto, rows))
                }
            },
            Body::PointChange(change) => {
                let alone = self.may_be_one_record() && change.may_fuse();
                let rows = self.in_statement(frame, |cx, _| {
                    if alone && let Some(txn) = cx.txn.as_deref_mut() {
                        txn.fuse();
                    }
                    change.run(cx)
                })?;
                let command = if change.deletes() { Command::Delete } else { Command::Update };
                Ok(Outcome::Rows(command, rows))
            }
            Body::PointMerge(point, ..) if self.merges_by_key() => {
                let alone = self.may_be_one_record() && point.may_fuse();
                let rows = self.in_statement(frame, |cx, _| {
                    if alone && let Some(txn) = cx.txn.as_deref_mut() {
                        txn.fuse();
                    }
                    point.run(cx)
                })?;
                Ok(Outcome::Rows(Command::Merge, rows))
            }
            Body::Insert(insert, kept) => {
                let instead = insert.fires.as_ref().is_some_and(|fires| fires.instead.is_some());
                if insert.explicit_identity {
                    self.check_identity_insert(&insert.table)?;
                } else if !instead {
                    self.check_identity_left_out(&insert.table)?;
                }
                if let InsertSource::Changed(from) = &insert.source {
                    self.check_identity_of(&from.change)?;
                }
                if let InsertSource::Exec { exec, columns, row } = &insert.source {
                    return self.in_one_statement(|vm| {
                        let rows =
                            vm.rows_of_exec(exec, (&insert.table, columns), code, frame, guarded)?;
                        vm.insert_gathered(insert, row, &rows, &mut kept.hint, frame, guarded)
                    });
                }
                if let Some(fires) = insert.fires.clone() {
                    let table = &insert.table;
                    let count =
                        self.with_triggers(&fires, table, &[], frame, guarded, |cx, sink| {
                            dml::insert(insert, kept, &mut cx.reborrow(), sink)
                        })?;
                    return Ok(Outcome::Rows(Command::Insert, count));
                }
                let alone = self.may_be_one_record() && kept.may_fuse(insert);
                let rows = self.in_statement(frame, |cx, sink| {
                    if alone && let Some(txn) = cx.txn.as_deref_mut() {
                        txn.fuse();
                    }
                    dml::insert(insert, kept, &mut cx.reborrow(), sink)
                })?;
                Ok(Outcome::Rows(Command::Insert, rows))
            }
            Body::Update(update, kept) if update.fires.is_some() => {
                let Some(fires) = update.fires.clone() else {
                    stdx::fatal!("triggers come and go")
                };
                let set = update.set.iter().filter_map(|set| match set {
                    UpdateSet::Column { ordinal, .. } | UpdateSet::Both { ordinal, .. } => {
                        Some(*ordinal)
                    }
                    UpdateSet::Var { .. } => None,
                });
                let set: Vec<usize> = set.collect();
                let table = &update.table;
                let rows =
                    self.with_triggers(&fires, table, &set, frame, guarded, |cx, sink| {
                        dml::update(update, kept, &mut cx.reborrow(), sink)
                    })?;
                Ok(Outcome::Rows(Command::Update, rows))
            }
            Body::Delete(delete, kept) if delete.fires.is_some() => {
                let Some(fires) = delete.fires.clone() else {
                    stdx::fatal!("triggers come and go")
                };
                let table = &delete.table;
                let rows = self.with_triggers(&fires, table, &[], frame, guarded, |cx, sink| {
                    dml::delete(delete, kept, &mut cx.reborrow(), sink)
                })?;
                Ok(Outcome::Rows(Command::Delete, rows))
            }
            Body::Update(update, kept) => {
                let rows = self.in_statement(frame, |cx, sink| {
                    dml::update(update, kept, &mut cx.reborrow(), sink)
                })?;
                Ok(Outcome::Rows(Command::Update, rows))
            }
            Body::Delete(delete, kept) => {
                let rows = self.in_statement(frame, |cx, sink| {
                    dml::delete(delete, kept, &mut cx.reborrow(), sink)
                })?;
                Ok(Outcome::Rows(Command::Delete, rows))
            }
            Body::Merge(merge, kept) | Body::PointMerge(_, merge, kept) => {
                if merge.explicit_identity {
                    self.check_identity_insert(&merge.table)?;
                }
                if !merge.fires.is_empty() {
                    let rows = self.merge_with_triggers(merge, kept, frame, guarded)?;
                    return Ok(Outcome::Rows(Command::Merge, rows));
                }
                let rows = self.in_statement(frame, |cx, sink| {
                    dml::merge(merge, None, kept, &mut cx.reborrow(), sink)
                })?;
                Ok(Outcome::Rows(Command::Merge, rows))
            }
            Body::SetVars(sets) => {
                for (var, plan) in sets {
                    frame[var.0 as usize] = self.evaluate(plan, frame)?;
                }
                self.state.rowcount = 1;
                self.state.error = 0;
                Ok(Outcome::Settled)
            }
            Body::Other(kind) => {
                let (kind, line) = (&*kind, code.statements[index].line);
                match kind {
                    kind if crate::ddl_trigger::is_watched(kind) => {
                        self.with_ddl_triggers(code, index, guarded, |vm| {
                            vm.other(kind, code, line, frame, guarded)
                        })?;
                    }
                    StmtKind::Exec(exec) => {
                        self.execute(exec, code, frame, guarded, &mut planned.called)?;
                    }
                    kind => self.other(kind, code, line, frame, guarded)?,
                }
                if matches!(kind, StmtKind::Rollback { .. }) {
                    self.close_cursors_of_transaction();
                }
                Ok(match kind {
                    // These leave the counters to what they ran or raised.
                    StmtKind::Exec(_)
                    | StmtKind::ExecString { .. }
                    | StmtKind::BulkInsert(_)
                    | StmtKind::RaiseError(_)
                    | StmtKind::Cursor(_) => Outcome::Settled,
                    other => Outcome::Nothing(Tag::of(other, None).done()),
                })
            }
        }
    }
}

impl Vm<'_> {
    /// Inserts the rows that a procedure has given.
    pub(crate) fn insert_gathered(
        &mut self,
        insert: &planner::InsertPlan,
        row: &[ir::Expr],
        rows: &[Vec<Value>],
        hint: &mut engine::InsertHint,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<Outcome, Halted> {
        let count = match insert.fires.clone() {
            Some(fires) => {
                let table = &insert.table;
                self.with_triggers(&fires, table, &[], frame, guarded, |cx, sink| {
                    dml::insert_rows(insert, row, rows, hint, &mut cx.reborrow(), sink)
                })?
            }
            None => self.in_statement(frame, |cx, sink| {
                dml::insert_rows(insert, row, rows, hint, &mut cx.reborrow(), sink)
            })?,
        };
        Ok(Outcome::Rows(Command::Insert, count))
    }

    /// Whether a statement of one change may be one log record: it is a transaction of its own.
    fn may_be_one_record(&self) -> bool {
        self.state.transaction.count == 0 && self.state.transaction.is_fresh()
    }

    /// See [`dml::PointMerge::applies`].
    fn merges_by_key(&self) -> bool {
        dml::PointMerge::applies(self.state.options.isolation)
    }

    /// What a statement is planned by: values of parameters, and what is configured for the database.
    pub(crate) fn known(&self, kind: &StmtKind, code: &Code, frame: &[Value]) -> Known {
        let mut known = known(kind, code, frame);
        let configuration = self.state.database.catalog.configuration();
        known.maxdop = configuration.number("MAXDOP").clamp(0, 32_767) as u32;
        if configuration.number("PARAMETER_SNIFFING") == 0 && !recompiles(kind) {
            known.values.clear();
        }
        known
    }
}

impl Vm<'_> {
    /// SET IDENTITY_INSERT, of a change within FROM.
    #[cold]
    fn check_identity_of(&mut self, change: &ChangePlan) -> Result<(), SqlError> {
        match change {
            ChangePlan::Insert(insert) if insert.explicit_identity => {
                self.check_identity_insert(&insert.table)
            }
            ChangePlan::Merge(merge) if merge.explicit_identity => {
                self.check_identity_insert(&merge.table)
            }
            _ => Ok(()),
        }
    }
}

/// The values by which a statement is planned: those of parameters; of all variables under RECOMPILE.
fn known(kind: &StmtKind, code: &Code, frame: &[Value]) -> Known {
    let Some(hints) = hints(kind) else { return Known::default() };
    let count = match (hints.recompile, hints.unknown) {
        (true, _) => code.program.vars.len(),
        (_, true) => 0,
        _ => code.program.params.len(),
    };
    Known { values: frame[..count.min(frame.len())].to_vec(), ..Known::default() }
}

/// Statements that begin a transaction by themselves under IMPLICIT_TRANSACTIONS.
fn opens_transaction(body: &Body) -> bool {
    match body {
        Body::FastPoint(_) => true,
        Body::Select(select) => executor::reads_tables(&select.plan),
        other => writes(other),
    }
}

fn writes(body: &Body) -> bool {
    match body {
        Body::FastInsert(_)
        | Body::Insert(..)
        | Body::Update(..)
        | Body::Delete(..)
        | Body::Merge(..)
        | Body::PointChange(_)
        | Body::PointMerge(..)
        | Body::There(_) => true,
        Body::Select(select) => matches!(select.target, SelectTarget::Into { .. }),
        Body::Other(kind) => Tag::of(kind, None).writes(),
        Body::FastPoint(_) | Body::SetVars(_) => false,
    }
}
