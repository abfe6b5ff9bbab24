//! Triggers: fired after (or instead of) the statement that changes rows, in its transaction.
//!
//! ```text
//! statement -> rows noted -> AFTER triggers in order -> commit, if the statement is a transaction of its own
//!          \-> INSTEAD OF: rows noted and not changed -> that trigger alone
//! ```
//!
//! Promises: a table without triggers pays nothing (its plans say that there are none); statement and triggers stand or
//! fall together; XACT_ABORT is ON in a trigger; a trigger does not fire itself directly; a transaction that ends in a
//! trigger ends the batch (3609).

use crate::activation::Role;
use crate::code::RunsAs;
use crate::compile::compile;
use crate::function::module_by_id;
use crate::names::SessionNames;
use crate::plan::CodeState;
use crate::plan_cache::SessionPlan;
use crate::private::is_temporary;
use crate::state::CachedProcedure;
use crate::statement::bind_error;
use crate::vm::{Halt, Halted, Vm};
use binder::ObjectName;
use binder::ir::Fires;
use catalog::{
    Event, ModuleKind, ModuleOptions, ObjectRef, Place, ProcedureDef, PutMode, RefAction, TableDef,
};
use executor::{Changed, Cx, Followed, ResultSink, SqlError};
use std::sync::Arc;
use syntax::LexOptions;
use syntax::ast::{CreateMode, CreateTrigger, EnableTrigger, StatementKind, TriggerScope};
use types::Value;

/// A trigger that runs.
#[derive(Default)]
pub(crate) struct Firing {
    pub object_id: i32,
    /// COLUMNS_UPDATED(): a bit for each column, the first in the lowest of the first byte.
    pub updated: Vec<u8>,
    /// It is INSTEAD OF.
    pub instead_of: bool,
    /// Of a DDL or logon trigger: what EVENTDATA() tells it.
    pub event: Option<Arc<str>>,
    /// A trigger of the server: its id is one of `master`.
    pub of_server: bool,
    /// @@NESTLEVEL of its own statements.
    pub level: u32,
}

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
        let own = self.state.transaction.count == 0;
        if own {
            self.state.transaction.begin(None, &self.state.options);
        }
        let result = f(self);
        if own && self.state.transaction.count > 0 {
            let state = &mut *self.state;
            match &result {
                Ok(_) => state.transaction.commit(&state.database, None)?,
                Err(_) => state.transaction.rollback_all()?,
            }
        }
        result
    }

    /// Runs a MERGE with its triggers: those of each action see what that action did.
    pub fn merge_with_triggers(
        &mut self,
        merge: &planner::MergePlan,
        kept: &mut executor::Kept,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<u64, Halted> {
        let mut merged = executor::Merged::default();
        let follows = merge.fires.iter().any(|fires| fires.follows);
        let mut others = Changed { follows, ..Changed::default() };
        self.in_one_transaction(|vm| {
            let rows = vm.in_statement(frame, |cx, sink| {
                let mut cx = cx.reborrow();
                cx.changed = Some(&mut others);
                executor::merge(merge, Some(&mut merged), kept, &mut cx, sink)
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
        self.keep_trigger(&definition, table, learnt);
        result
    }

    /// Runs a compiled trigger; `fill` puts rows into its tables. 3609, 3616 when it ends the transaction.
    pub(crate) fn run_trigger(
        &mut self,
        code: &Arc<SessionPlan>,
        learnt: &mut CodeState,
        firing: Firing,
        guarded: bool,
        fill: impl FnOnce(&mut Self) -> Result<(), SqlError>,
    ) -> Result<(), Halted> {
        let mut frame = self.state.take_frame();
        frame.extend_from_slice(&code.template);
        let (of_definitions, own) = (firing.event.is_some(), firing.object_id);
        let result = self.activation(code, Role::Trigger(own), |vm| {
            let level = vm.state.nesting;
            vm.state.triggers.push(Firing { level, ..firing });
            vm.state.options.xact_abort = true;
            let filled = fill(vm).map_err(|error| Halt::Throw(Box::new(error)));
            let result = filled.and_then(|()| vm.run_activated(code, learnt, &mut frame, guarded));
            vm.state.triggers.pop();
            result
        });
        self.state.give_frame(frame);
        result?;
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
        let mut fill = |slot: u16, rows: &[Vec<Value>]| {
            for row in rows {
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
        let key = (self.state.database.id, definition.object_id);
        let version = definition.version.max(table.version);
        if let Some(cached) = self.state.procedures.get_mut(&key)
            && cached.version == version
        {
            let code = cached.code.clone();
            let learnt = cached.state.take().unwrap_or_else(|| CodeState::new(&code));
            return Ok((code, learnt));
        }
        telemetry::counters::add(telemetry::Counter::Compilations, 1);
        let options = LexOptions { quoted_identifier: definition.quoted_identifier };
        let batch =
            syntax::parse_batch(&definition.text, &options).map_err(crate::call::first_mistake)?;
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
        self.state.procedures.insert(key, cached);
        let learnt = CodeState::new(&code);
        Ok((code, learnt))
    }

    fn keep_trigger(&mut self, definition: &ProcedureDef, table: &TableDef, learnt: CodeState) {
        let key = (self.state.database.id, definition.object_id);
        if let Some(cached) = self.state.procedures.get_mut(&key)
            && cached.version == definition.version.max(table.version)
        {
            cached.state = Some(learnt);
        }
    }

    // ---- Definitions

    /// CREATE, ALTER, CREATE OR ALTER TRIGGER: 8197, 2103, 2111, 2113, 13569.
    pub fn create_trigger(
        &mut self,
        create: &CreateTrigger,
        text: &str,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let invalid = || {
            let text = format!(
                "The object '{}' does not exist or is invalid for this operation.",
                create.table
            );
            SqlError::new(8197, 16, text).with_state(4)
        };
        let parent = ObjectName::from(&create.table);
        self.local(&parent)?;
        if is_temporary(&parent.name) {
            return Err(invalid());
        }
        let schema = self.schema_of(&parent);
        let Some(found) = self.state.find_object(schema.as_deref(), &parent.name) else {
            return Err(invalid());
        };
        if !self.may_change(&found, false) {
            return Err(invalid());
        }
        crate::atomic::check_native_trigger(&create.options)?;
        let table = match &found {
            ObjectRef::Table(table) if refuses_trigger(table, create.instead_of) => {
                let text = format!(
                    "Cannot create a trigger on a system-versioned temporal table '{}'.",
                    self.state.database.catalog.shown(table)
                );
                return Err(SqlError::new(13569, 16, text));
            }
            ObjectRef::Table(table) => table.clone(),
            ObjectRef::Procedure(view) if view.kind == ModuleKind::View && create.instead_of => {
                self.rows_of_view(view, create)?
            }
            ObjectRef::Procedure(_) => return Err(invalid()),
        };
        let name = &create.name.name.value;
        if let Some(own) = &create.name.schema
            && !catalog::same_name(&own.value, &table.schema)
        {
            return Err(SqlError::new(
                2103,
                15,
                format!(
                    "Cannot create trigger '{}' because its schema is different from the schema of the target table or \
                     view.",
                    create.name
                ),
            ));
        }
        self.check_module_execute_as(&create.options, Some(&table.schema))?;
        self.check_instead_of(create, &table)?;
        let names = SessionNames::new(self.state, self.host);
        let def = {
            let schema = Some(&*table.schema);
            binder::bind_trigger(create, text, &table, schema, &names).map_err(bind_error)?;
            binder::trigger_def(create, table.object_id)
        };
        let mode = match create.mode {
            CreateMode::Create => PutMode::Create,
            CreateMode::Alter => PutMode::Alter,
            CreateMode::CreateOrAlter => PutMode::CreateOrAlter,
        };
        let options = ModuleOptions {
            quoted_identifier: self.state.options.quoted_identifier,
            ansi_nulls: self.state.options.settings().ansi_nulls,
        };
        let text = &syntax::as_created(text);
        self.in_catalog(frame, |catalog, txn, scope| {
            catalog.put_trigger(txn, scope, mode, &table.schema, name, text, options, def)?;
            Ok(())
        })
    }

    /// What a trigger of a view sees: its columns. 2112 for a view WITH CHECK OPTION.
    fn rows_of_view(
        &mut self,
        view: &ProcedureDef,
        create: &CreateTrigger,
    ) -> Result<Arc<TableDef>, SqlError> {
        if binder::has_check_option(view) {
            return Err(SqlError::new(
                2112,
                16,
                format!(
                    "Cannot create trigger '{}' for view '{}' because the view is defined with CHECK OPTION.",
                    create.name, create.table
                ),
            ));
        }
        let names = SessionNames::new(self.state, self.host);
        Ok(Arc::new(binder::view_rows(view, &names).map_err(bind_error)?))
    }

    /// One INSTEAD OF trigger for each kind of statement, and none where a foreign key cascades: 2111, 2113.
    fn check_instead_of(&self, create: &CreateTrigger, table: &TableDef) -> Result<(), SqlError> {
        if !create.instead_of {
            return Ok(());
        }
        let name = &create.name.name.value;
        let def = binder::trigger_def(create, table.object_id);
        let scope = self.state.transaction.scope();
        let others = self.state.database.catalog.triggers_of(scope, table.object_id);
        for (event, word) in
            [(Event::Insert, "INSERT"), (Event::Update, "UPDATE"), (Event::Delete, "DELETE")]
        {
            if !def.is_on(event) {
                continue;
            }
            let taken = others.iter().any(|other| {
                !catalog::same_name(&other.name, name)
                    && other.trigger.is_some_and(|t| t.is_instead_of() && t.is_on(event))
            });
            if taken {
                return Err(SqlError::new(
                    2111,
                    16,
                    format!(
                        "Cannot create trigger '{}' on table '{}' because an INSTEAD OF {word} trigger already exists \
                         on this object.",
                        create.name, create.table
                    ),
                ));
            }
            let cascades = table.foreign_keys.iter().any(|key| match event {
                Event::Insert => false,
                Event::Update => key.on_update != RefAction::NoAction,
                Event::Delete => key.on_delete != RefAction::NoAction,
            });
            if cascades {
                return Err(SqlError::new(
                    2113,
                    16,
                    format!(
                        "Cannot create INSTEAD OF DELETE or INSTEAD OF UPDATE TRIGGER '{}' on table '{}'. This is \
                         because the table has a FOREIGN KEY with cascading DELETE or UPDATE.",
                        create.name, create.table
                    ),
                ));
            }
        }
        Ok(())
    }

    /// ENABLE and DISABLE TRIGGER; 1088, 4920-like 3701 for a trigger that is not there.
    pub fn enable_triggers(
        &mut self,
        enable: &EnableTrigger,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let parent = ObjectName::from(&enable.table);
        self.local(&parent)?;
        let schema = self.schema_of(&parent);
        let found = self.state.find_object(schema.as_deref(), &parent.name);
        let Some(found) = found.filter(|found| self.may_change(found, false)) else {
            return Err(crate::other::no_object(&parent.to_string()));
        };
        let scope = self.state.transaction.scope();
        let all = self.state.database.catalog.triggers_of(scope, found.object_id());
        let mut chosen = Vec::new();
        for name in &enable.triggers {
            let one = all.iter().find(|t| catalog::same_name(&t.name, &name.name.value));
            let Some(one) = one else {
                return Err(crate::other::no_object(&name.to_string()));
            };
            chosen.push(one.clone());
        }
        if enable.triggers.is_empty() {
            chosen = all;
        }
        self.set_triggers(&chosen, |t| t.enabled(enable.enable), frame)
    }

    pub(crate) fn set_triggers(
        &mut self,
        triggers: &[Arc<ProcedureDef>],
        change: impl Fn(&ProcedureDef) -> ProcedureDef,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.in_catalog(frame, |catalog, txn, scope| {
            for trigger in triggers {
                catalog.set_trigger(txn, scope, trigger, &change)?;
            }
            Ok(())
        })
    }

    /// sp_settriggerorder: 15165, 15123-like for words that are none, 15132 when another is the first or last.
    pub fn set_trigger_order(
        &mut self,
        name: &str,
        order: &str,
        statement: &str,
        namespace: Option<&str>,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let position = match order.to_ascii_lowercase().as_str() {
            "first" => -1,
            "last" => 1,
            "none" => 0,
            _ => return Err(bad_order()),
        };
        let of = match namespace.map(str::to_ascii_uppercase).as_deref() {
            None => None,
            Some("DATABASE") => Some(TriggerScope::Database),
            Some("SERVER") => Some(TriggerScope::Server),
            Some(_) => return Err(bad_order()),
        };
        if let Some(of) = of {
            return self.set_ddl_trigger_order(of, name, position, statement, frame);
        }
        let mut parts = crate::environment::name_parts(name).into_iter().rev();
        let bare = parts.next().unwrap_or_default();
        let schema = parts.next().filter(|s| !s.is_empty());
        let scope = self.state.transaction.scope();
        let catalog = &self.state.database.catalog;
        let found = catalog.module(scope, schema.as_deref(), &bare, ModuleKind::Trigger);
        let Some((found, def)) = found.and_then(|f| f.trigger.map(|def| (f, def))) else {
            return Err(no_trigger(name));
        };
        let event = match statement.to_ascii_lowercase().as_str() {
            "insert" => Event::Insert,
            "update" => Event::Update,
            "delete" => Event::Delete,
            _ => return Err(bad_order()),
        };
        if def.is_instead_of() || !def.is_on(event) {
            return Err(not_for(name, statement));
        }
        let others = catalog.triggers_of(scope, def.parent);
        let taken = position != 0
            && others.iter().any(|t| {
                t.object_id != found.object_id
                    && t.trigger.is_some_and(|t| t.is_on(event) && t.order(event) == position)
            });
        if taken {
            let (order, statement) = (order.to_ascii_lowercase(), statement.to_ascii_uppercase());
            return Err(place_taken(&order, &statement));
        }
        let ordered = |t: &ProcedureDef| ProcedureDef {
            trigger: t.trigger.map(|def| def.ordered(event, position)),
            ..t.clone()
        };
        self.set_triggers(&[found], ordered, frame)
    }
}

pub(crate) fn no_trigger(name: &str) -> SqlError {
    let text = format!("Could not find object '{name}' or you do not have permission.");
    SqlError::new(15165, 16, text)
}

pub(crate) fn not_for(name: &str, statement: &str) -> SqlError {
    SqlError::new(15125, 16, format!("Trigger '{name}' is not a trigger for '{statement}'."))
}

pub(crate) fn place_taken(order: &str, statement: &str) -> SqlError {
    let text = format!("There already exists a '{order}' trigger for '{statement}'.");
    SqlError::new(15130, 16, text)
}

/// 15600.
pub(crate) fn bad_order() -> SqlError {
    SqlError::new(
        15600,
        15,
        "An invalid parameter or option was specified for procedure 'sys.sp_settriggerorder'.",
    )
}

/// A history table has no triggers, and a versioned one none that run in place of its changes.
fn refuses_trigger(table: &TableDef, instead_of: bool) -> bool {
    match table.temporal {
        catalog::Temporal::No => false,
        catalog::Temporal::Versioned { .. } => instead_of,
        catalog::Temporal::History { .. } => true,
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
