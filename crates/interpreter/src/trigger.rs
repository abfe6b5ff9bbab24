//! Triggers: fired after (or instead of) the statement that changes rows, in its transaction.
//!
//! ```text
//! statement -> rows noted -> AFTER triggers in order -> commit, if the statement is a transaction of its own
//!          \-> INSTEAD OF: rows noted and not changed -> that trigger alone
//! ```
//!
//! Promises: a table without triggers pays nothing (its plans say that there are none); statement and triggers stand or
//! fall together; XACT_ABORT is ON in a trigger; a trigger does not fire itself directly; without 'nested triggers' nothing
//! that an AFTER trigger does fires one; a transaction that ends in a trigger ends the batch (3609).

mod no_results;

use self::no_results::NoResults;
use crate::activation::Role;
use crate::compile::compile;
use crate::plan::CodeState;
use crate::plan_cache::SessionPlan;
use crate::programs::{CachedProcedure, procedure_key};
use crate::vm::Vm;
use catalog::{Event, Place, ProcedureDef, TableDef};
use commands::RunsAs;
use executor::{Changed, Cx, Followed, ResultSink, SqlError};
use ir::Fires;
use runtime::task::Breath;
use session_state::SessionNames;
use session_state::bind_error;
use session_state::module_by_id;
use session_state::{Firing, OneStatement};
use session_state::{Halt, Halted};
use std::sync::Arc;
use syntax::LexOptions;
use syntax::ast::StatementKind;
use types::Value;

/// The savepoint of [`Vm::in_one_statement`]; no statement can name it.
const STATEMENT: &str = "\u{1}statement";

impl Vm<'_> {
    /// Runs a change of rows with its triggers; `set` are the ordinals of the columns that an UPDATE names.
    pub fn with_triggers(
        &mut self,
        fires: &Fires,
        table: &Arc<TableDef>,
        set: &[usize],
        frame: &mut [Value],
        guarded: bool,
        change: impl FnOnce(&mut Cx<'_>, &mut dyn ResultSink) -> Result<u64, SqlError>,
    ) -> Result<u64, Halted> {
        // Not again while it runs, whatever has been called since. A view has no rows of its own: its trigger is the only
        // thing that can be done.
        let runs = |t: &Firing, id: i32| t.object_id == id && !t.of_server;
        let running_at_all = |id: i32| self.state.triggers.iter().any(|t| runs(t, id));
        let instead = fires.instead.filter(|id| table.is_private() || !running_at_all(*id));
        let mut changed = Changed {
            instead: instead.is_some(),
            follows: fires.follows && instead.is_none(),
            ..Changed::default()
        };
        self.in_one_transaction(|vm| {
            let rows = vm.in_statement(frame, |cx, sink| {
                let mut cx = cx.reborrow();
                cx.changed = Some(&mut changed);
                change(&mut cx, sink)
            })?;
            if let Some(id) = instead {
                let updated = updated_bits(fires.event, table.columns.len(), set);
                vm.state.rowcount = rows as i64;
                vm.fire(id, table, &changed, updated, guarded)?;
                return Ok(rows);
            }
            vm.fire_for_followed(&changed.followed, guarded)?;
            vm.fire_after(fires, table, set, &changed, rows, guarded)?;
            Ok(rows)
        })
    }

    /// Fires the triggers of the tables whose rows have followed by foreign keys: of a chain the last table's first,
    /// and all of them before those of the table that the statement names.
    fn fire_for_followed(&mut self, followed: &[Followed], guarded: bool) -> Result<(), Halted> {
        for Followed { table, event, set, rows } in followed {
            let fires = {
                let names = SessionNames::new(self.state, self.host);
                binder::fires_of(&names, table.object_id, *event)
            };
            let Some(fires) = fires else { continue };
            let count = rows.inserted.len().max(rows.deleted.len()) as u64;
            self.fire_after(&fires, table, set, rows, count, guarded)?;
        }
        Ok(())
    }

    /// Without 'nested triggers' an AFTER trigger fires no other one. An AFTER trigger within an INSTEAD OF trigger fires in any
    /// case; those after it do not.
    pub(crate) fn is_held_back(&self) -> bool {
        let within_after = self.state.triggers.iter().any(|t| !t.instead_of);
        within_after && self.host.option_in_use("nested triggers") == Some(0)
    }

    /// Fires what runs after a change of `count` rows, but for the trigger that makes the change.
    fn fire_after(
        &mut self,
        fires: &Fires,
        table: &Arc<TableDef>,
        set: &[usize],
        changed: &Changed,
        count: u64,
        guarded: bool,
    ) -> Result<(), Halted> {
        if self.is_held_back() {
            return Ok(());
        }
        let running = self.state.triggers.last().filter(|t| !t.of_server).map(|t| t.object_id);
        let updated = updated_bits(fires.event, table.columns.len(), set);
        for id in fires.after.iter().filter(|id| running != Some(**id)) {
            self.state.rowcount = count as i64;
            self.fire(*id, table, changed, updated.clone(), guarded)?;
        }
        Ok(())
    }

    /// A change and what it fires end as one: in the transaction that is open, else in one of their own.
    pub(crate) fn in_one_transaction<R>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<R, Halted>,
    ) -> Result<R, Halted> {
        match self.state.transaction.count {
            0 => self.in_one_statement(f),
            _ => f(self),
        }
    }

    /// What is one statement and runs others (INSERT ... EXEC): when it fails, what they have done goes too.
    pub(crate) fn in_one_statement<R>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<R, Halted>,
    ) -> Result<R, Halted> {
        let one = OneStatement::begin(self.state, STATEMENT)?;
        let result = f(self);
        one.end(self.state, result.is_ok())?;
        result
    }

    /// Runs a MERGE with its triggers: those of each action see what that action did.
    pub fn merge_with_triggers(
        &mut self,
        merge: &planner::MergePlan,
        kept: &mut dml::Kept,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<u64, Halted> {
        let mut merged = dml::Merged::default();
        let follows = merge.fires.iter().any(|fires| fires.follows);
        let mut others = Changed { follows, ..Changed::default() };
        self.in_one_transaction(|vm| {
            let rows = vm.in_statement(frame, |cx, sink| {
                let mut cx = cx.reborrow();
                cx.changed = Some(&mut others);
                dml::merge(merge, Some(&mut merged), kept, &mut cx, sink)
            })?;
            vm.fire_for_followed(&others.followed, guarded)?;
            let set = merge.set_columns();
            for fires in &merge.fires {
                let changed = merged.by(fires.event);
                vm.fire_after(fires, &merge.table, &set, changed, rows, guarded)?;
            }
            Ok(rows)
        })
    }

    /// Runs one trigger over the changed rows.
    fn fire(
        &mut self,
        object_id: i32,
        table: &Arc<TableDef>,
        changed: &Changed,
        updated: Vec<u8>,
        guarded: bool,
    ) -> Result<(), Halted> {
        self.check_nesting()?;
        let state = &*self.state;
        let catalog = &state.database.catalog;
        let Some(definition) = module_by_id(catalog, state.transaction.scope(), object_id) else {
            return Ok(());
        };
        let (code, mut learnt) = self.trigger(&definition, table)?;
        let instead_of = definition.trigger.is_some_and(|t| t.is_instead_of());
        let firing = Firing { object_id, updated, instead_of, ..Firing::default() };
        let result =
            self.run_trigger(&code, &mut learnt, firing, guarded, |vm| vm.fill_rows(changed));
        self.keep_learnt(&definition, &code, learnt);
        result
    }

    /// Runs a compiled trigger; `fill` puts rows into its tables. 3609, 3616 when it ends the transaction.
    pub(crate) fn run_trigger(
        &mut self,
        code: &Arc<SessionPlan>,
        learnt: &mut CodeState,
        firing: Firing,
        guarded: bool,
        fill: impl FnOnce(&mut Vm<'_>) -> Result<(), SqlError>,
    ) -> Result<(), Halted> {
        let mut frame = self.programs.take_frame();
        frame.extend_from_slice(&code.template);
        let (of_definitions, own) = (firing.event.is_some(), firing.object_id);
        let without_results = self.host.refuses_trigger_results();
        let run = |vm: &mut Vm<'_>| {
            vm.activation(code, Role::Trigger(own), |vm| {
                let level = vm.state.nesting;
                vm.state.triggers.push(Firing { level, without_results, ..firing });
                vm.state.options.xact_abort = true;
                let filled = fill(vm).map_err(|error| Halt::Throw(Box::new(error)));
                let result =
                    filled.and_then(|()| vm.run_activated(code, learnt, &mut frame, guarded));
                vm.state.triggers.pop();
                result
            })
        };
        let (result, fits) = match without_results {
            false => (run(self), Ok(())),
            true => {
                let (apart, sink) = self.apart();
                let mut through = NoResults::new(sink);
                (apart.run(&mut through, run), through.end())
            }
        };
        self.programs.give_frame(frame);
        result?;
        fits?;
        if self.state.transaction.count == 0 {
            let state = if of_definitions { 2 } else { 1 };
            return Err(SqlError::new(
                3609,
                16,
                "The transaction ended in the trigger. The batch has been aborted.",
            )
            .with_state(state)
            .with_reach(executor::Reach::Scope)
            .into());
        }
        if self.state.transaction.doomed {
            return Err(SqlError::new(
                3616,
                16,
                "An error was raised during trigger execution. The batch has been aborted and the user transaction, \
                 if any, has been rolled back.",
            )
            .with_reach(executor::Reach::Batch)
            .into());
        }
        Ok(())
    }

    /// Puts the rows into `inserted` and `deleted`.
    fn fill_rows(&mut self, changed: &Changed) -> Result<(), SqlError> {
        let private = &mut self.state.transaction.private;
        let mark = private.mark();
        let mut breath = Breath::new();
        let mut fill = |slot: u16, rows: &[Vec<Value>]| {
            for row in rows {
                breath.steps(32)?;
                private.insert(Place::Variable(slot), row.as_slice().into()).map_err(|e| {
                    match e {
                        session_table::TableError::Full => SqlError::new(
                            701,
                            17,
                            "There is insufficient system memory in resource pool 'default' to run this query.",
                        ),
                        other => stdx::fatal!("rows for a trigger: {other:?}"),
                    }
                })?;
            }
            Ok(())
        };
        let filled = fill(0, &changed.inserted).and_then(|()| fill(1, &changed.deleted));
        // The tables are new: nothing will be undone but with them.
        private.end_statement(mark);
        filled
    }

    /// The compiled form of a trigger, for its table as it is now.
    fn trigger(
        &mut self,
        definition: &ProcedureDef,
        table: &Arc<TableDef>,
    ) -> Result<(Arc<SessionPlan>, CodeState), SqlError> {
        let key = procedure_key(self.state, definition.object_id);
        let version = definition.version.max(table.version);
        if let Some(cached) = self.programs.procedures.get_mut(&key)
            && cached.version == version
        {
            let code = cached.code.clone();
            let learnt = cached.state.take().unwrap_or_else(|| CodeState::new(&code));
            return Ok((code, learnt));
        }
        telemetry::counters::add(telemetry::Counter::Compilations, 1);
        let options = LexOptions { quoted_identifier: definition.quoted_identifier };
        let batch = syntax::parse_batch(&definition.text, &options)
            .map_err(crate::mistakes::first_mistake)?;
        let Some(StatementKind::CreateTrigger(create)) = batch.statements.first().map(|s| &s.kind)
        else {
            let text = format!("The text of '{}' is no trigger.", definition.name);
            return Err(SqlError::new(102, 15, text));
        };
        let names = SessionNames::new(self.state, self.host).of_module(definition.ansi_nulls);
        let program =
            binder::bind_trigger(create, &definition.text, table, Some(&definition.schema), &names);
        let program = program.map_err(bind_error)?;
        let name = Some(definition.name.to_string());
        let mut code = compile(Arc::new(program), name, definition.object_id);
        code.runs_as = RunsAs::of(&create.options);
        let code = SessionPlan::alone(code);
        let cached = CachedProcedure { version, code: code.clone(), state: None };
        self.programs.procedures.insert(key, cached);
        let learnt = CodeState::new(&code);
        Ok((code, learnt))
    }
}

fn updated_bits(event: Event, columns: usize, set: &[usize]) -> Vec<u8> {
    let mut bits = vec![0u8; columns.div_ceil(8)];
    for ordinal in 0..columns {
        let is_updated = match event {
            Event::Insert => true,
            Event::Update => set.contains(&ordinal),
            Event::Delete => false,
        };
        if is_updated {
            bits[ordinal / 8] |= 1 << (ordinal % 8);
        }
    }
    bits
}
