//! Calling procedures, and batches made at run time.
//!
//! Promises: a procedure is parsed, bound and compiled once per session and definition; frames come from a pool; the
//! 33rd level of nesting is error 217.

use crate::activation::Role;
use crate::arguments::bind_arguments;
use crate::cache::Setting;
use crate::code::Code;
use crate::compile::compile;
use crate::mistakes::first_mistake;
use crate::plan::{Called, CodeState};
use crate::plan_cache::{Key, SessionPlan, What};
use crate::programs::{CachedProcedure, procedure_key};
use crate::result_sets::ResultSets;
use crate::vm::Vm;
use catalog::{ModuleKind, ObjectRef, ProcedureDef, TableDef};
use commands::{Argument, RunsAs, no_procedure};
use executor::{About, ColumnMeta, Done, Reach, ResultSink, SqlError, SqlMessage};
use ir::ObjectName;
use ir::{Exec, ExecArg, OutputColumn, ProcRef};
use runtime::task::{Breath, Many};
use session_state::bind_error;
use session_state::name_parts;
use session_state::{End, SessionEnvironment, SessionNames};
use session_state::{Halt, Halted};
use smallvec::SmallVec;
use std::sync::Arc;
use syntax::LexOptions;
use syntax::ast::StatementKind;
use types::{SqlType, Value, convert};

impl Vm<'_> {
    /// EXEC of a procedure; `called`: the one that this statement found before.
    pub fn execute(
        &mut self,
        exec: &Exec,
        code: &Code,
        frame: &mut [Value],
        guarded: bool,
        called: &mut Called,
    ) -> Result<(), Halted> {
        if self.state.functions > 0 && !self.is_scalar_function(&exec.procedure) {
            return Err(SqlError::new(
                557,
                16,
                "Only functions and some extended stored procedures can be executed from within a function.",
            )
            .with_state(2)
            .into());
        }
        if let Some(sets) = &exec.result_sets {
            let (apart, sink) = self.apart();
            let mut through = ResultSets::new(sets, sink);
            let result =
                apart.run(&mut through, |vm| vm.execute_called(exec, code, frame, guarded, called));
            let fits = through.end();
            result?;
            return Ok(fits?);
        }
        self.execute_called(exec, code, frame, guarded, called)
    }

    /// EXEC ('text') AS USER = 'name', and AS LOGIN.
    #[inline(never)]
    fn execute_text_as(
        &mut self,
        exec: &Exec,
        text: &str,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), Halted> {
        let Some(acting) = &exec.acting else { return self.execute_text(text, guarded) };
        let name = self.commands().value(&acting.1, frame)?;
        let depth = self.state.identity.depth();
        let name = name.as_str().unwrap_or("");
        self.state.execute_as(&*self.host, acting.0, name, End::Module)?;
        let result = self.execute_text(text, guarded);
        self.state.revert_to(&*self.host, depth);
        result
    }

    /// The status of a procedure of the system's, if it is one. Apart: what calls procedures stands on the stack at every
    /// level.
    #[inline(never)]
    fn execute_system(
        &mut self,
        exec: &Exec,
        name: &ObjectName,
        args: &[Argument],
        code: &Code,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<Option<i32>, Halted> {
        let ran = self.system_procedure(name, args, code, frame, guarded);
        if let (Err(Halted::Error(error)), Some(var), false) = (&ran, exec.result, guarded)
            && let Some(status) = status_of_failure(name, error)
        {
            let ty = code.vars[var.0 as usize];
            frame[var.0 as usize] = convert::cast(&Value::Int(status), SqlType::Int, ty, 0)?;
        }
        ran
    }

    /// EXEC @r = dbo.f: the value of a scalar function; else the error of what is none.
    #[inline(never)]
    fn execute_as_function(
        &mut self,
        exec: &Exec,
        name: &ObjectName,
        args: &[Argument],
        code: &Code,
        frame: &mut [Value],
        none: SqlError,
    ) -> Result<(), Halted> {
        let Some((value, ty)) = self.execute_function(name, args)? else {
            return Err(none.into());
        };
        if let Some(var) = exec.result {
            let to = code.vars[var.0 as usize];
            frame[var.0 as usize] =
                self.state.options.cast_by(code.program.rule, &value, ty, to)?;
        }
        Ok(())
    }

    fn execute_called(
        &mut self,
        exec: &Exec,
        code: &Code,
        frame: &mut [Value],
        guarded: bool,
        called: &mut Called,
    ) -> Result<(), Halted> {
        let named;
        let name = match &exec.procedure {
            ProcRef::Text(text) => {
                let text = self.commands().value(text, frame)?;
                let text = text.as_str().unwrap_or("");
                return match &exec.acting {
                    Some(_) => self.execute_text_as(exec, text, frame, guarded),
                    None => self.execute_text(text, guarded),
                };
            }
            ProcRef::Name(name) => {
                if let Some(ended) = self.execute_usual(exec, name, code, frame, guarded, called) {
                    return ended;
                }
                name
            }
            ProcRef::Var(var) => {
                // Each time it may be another.
                *called = Called::default();
                named = object_name(frame[var.0 as usize].as_str().unwrap_or(""));
                &named
            }
        };
        let mut args: SmallVec<[Argument; 4]> = SmallVec::with_capacity(exec.args.len());
        for arg in &exec.args {
            args.push(self.argument(arg, frame)?);
        }
        let trancount = self.state.trancount();
        let ran = self.execute_system(exec, name, &args, code, frame, guarded)?;
        let status = if let Some(status) = ran {
            status
        } else {
            match self.call(name, &args, code, frame, guarded, called) {
                Err(Halted::Error(error)) if error.number == 2812 => {
                    return self.execute_as_function(exec, name, &args, code, frame, error);
                }
                other => other?,
            }
        };
        self.procedure_returns(exec, code, frame, status)?;
        self.check_trancount(trancount, Some(&name.name))
    }

    /// Tells what a procedure has returned.
    pub(crate) fn procedure_returns(
        &mut self,
        exec: &Exec,
        code: &Code,
        frame: &mut [Value],
        status: i32,
    ) -> Result<(), SqlError> {
        // Of a batch's EXEC the client learns status and end; what a procedure calls is the procedure's affair.
        if self.state.nesting == 0 {
            self.sink.return_status(status);
            self.sink.procedure_done(status);
        }
        if let Some(var) = exec.result {
            let ty = code.vars[var.0 as usize];
            frame[var.0 as usize] = convert::cast(&Value::Int(status), SqlType::Int, ty, 0)?;
        }
        Ok(())
    }

    fn is_scalar_function(&self, procedure: &ProcRef) -> bool {
        let ProcRef::Name(name) = procedure else { return false };
        let found = self.state.find_object(name.schema.as_deref(), &name.name);
        matches!(found, Some(ObjectRef::Procedure(p)) if p.kind == ModuleKind::ScalarFunction)
    }

    fn argument(&mut self, arg: &ExecArg, frame: &mut [Value]) -> Result<Argument, SqlError> {
        let (value, ty) = match &arg.value {
            Some(expr) => (Some(self.with_cx(frame, |cx| executor::eval(expr, &[], cx))?), expr.ty),
            None => (None, SqlType::Int),
        };
        let table = arg
            .table
            .and_then(|slot| self.state.transaction.private.share(catalog::Place::Variable(slot)));
        let output = arg.output.map(|v| v.0);
        Ok(Argument { name: arg.name.clone(), value, ty, output, table, cursor: arg.cursor })
    }

    /// 266: a procedure must leave as many transactions open as it found, unless it rolled back for an error.
    pub fn check_trancount(&mut self, before: u32, called: Option<&str>) -> Result<(), Halted> {
        let after = self.state.trancount();
        // Under IMPLICIT_TRANSACTIONS a procedure may well leave the one that its first statement began.
        let implicit = self.state.options.implicit_transactions && before == 0;
        if before == after || implicit || self.state.transaction.doomed {
            return Ok(());
        }
        Err(SqlError::new(
            266,
            16,
            format!(
                "Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. \
                 Previous count = {before}, current count = {after}."
            ),
        )
        .with_state(2)
        .of_call(called)
        .into())
    }

    /// Calls a procedure of the catalog; 2812 when there is none.
    fn call(
        &mut self,
        name: &ObjectName,
        args: &[Argument],
        caller: &Code,
        frame: &mut [Value],
        guarded: bool,
        called: &mut Called,
    ) -> Result<i32, Halted> {
        // What is known is of this database.
        let known = called.get(&self.state.names_version()).is_some();
        let elsewhere = if known { None } else { self.state.stands_for(name) };
        let name = elsewhere.as_ref().unwrap_or(name);
        let home = self.commands().enter_database_of(name)?;
        let away = (home.is_some(), called);
        let ended = self.call_here(name, args, caller, frame, guarded, away);
        self.commands().come_home(home);
        ended
    }

    /// The same where the name's database is the session's. Away, the caller is of another one, whose owners own nothing
    /// here.
    fn call_here(
        &mut self,
        name: &ObjectName,
        args: &[Argument],
        caller: &Code,
        frame: &mut [Value],
        guarded: bool,
        (away, called): (bool, &mut Called),
    ) -> Result<i32, Halted> {
        let (schema, calls) = match away {
            true => (None, 0),
            false => (caller.program.schema.as_deref(), caller.object_id),
        };
        let now = self.state.names_version();
        let definition = match called.get(&now) {
            Some(definition) => definition.clone(),
            None => match self.procedure_of_catalog(schema, name) {
                Some(definition) => {
                    called.keep(now, &definition);
                    definition
                }
                // These may change without a new version of names.
                None => self
                    .find_procedure(schema, name)
                    .ok_or_else(|| no_procedure(&name.to_string()))?,
            },
        };
        if self.state.identity.is_limited() {
            self.commands().check_execute(&definition, calls)?;
        }
        let (code, learnt) = self.procedure(&definition)?;
        self.run_procedure(&code, learnt, args, caller, frame, guarded, |vm, learnt| {
            vm.keep_learnt(&definition, &code, learnt);
        })
    }

    /// The procedure of that name: the session's own temporary one, the catalog's, or the system's.
    pub fn find_procedure(
        &self,
        schema: Option<&str>,
        name: &ObjectName,
    ) -> Option<Arc<ProcedureDef>> {
        if name.name.starts_with('#') {
            let mut own = self.state.own_procedures.iter();
            return own.find(|p| catalog::same_name(&p.name, &name.name)).cloned();
        }
        let found = self.procedure_of_catalog(schema, name);
        found.or_else(|| self.host.system_procedure(name))
    }

    /// The catalog's procedure of that name. A name without a schema is looked for in the schema of the module that
    /// calls it, `schema`, or in the user's default one where none does, and then in dbo. ("EXECUTE (Transact-SQL)".)
    fn procedure_of_catalog(
        &self,
        schema: Option<&str>,
        name: &ObjectName,
    ) -> Option<Arc<ProcedureDef>> {
        if name.name.starts_with('#') {
            return None;
        }
        let current = name
            .database
            .as_ref()
            .is_none_or(|d| d.eq_ignore_ascii_case(&self.state.database.name));
        let find = |schema: Option<&str>| match self.state.find_object(schema, &name.name) {
            Some(ObjectRef::Procedure(module)) if module.kind == ModuleKind::Procedure => {
                Some(module)
            }
            _ => None,
        };
        match (name.schema.as_deref(), schema) {
            _ if !current => None,
            (None, Some(schema)) => find(Some(schema)).or_else(|| find(Some("dbo"))),
            (written, _) => find(written),
        }
    }

    /// See [`Programs::keep_learnt`](crate::programs::Programs::keep_learnt).
    pub fn keep_learnt(
        &mut self,
        definition: &ProcedureDef,
        code: &Arc<SessionPlan>,
        learnt: CodeState,
    ) {
        let key = procedure_key(self.state, definition.object_id);
        self.programs.keep_learnt(key, code, learnt);
    }

    /// The compiled form of a procedure and what the session has learnt of it.
    pub fn procedure(
        &mut self,
        definition: &ProcedureDef,
    ) -> Result<(Arc<SessionPlan>, CodeState), SqlError> {
        if let Some(known) = self.programs.known_procedure(self.state, definition) {
            return Ok(known.take());
        }
        let code = self.shared_procedure(definition)?;
        let cached =
            CachedProcedure { version: definition.version, code: code.clone(), state: None };
        let key = procedure_key(self.state, definition.object_id);
        self.programs.procedures.insert(key, cached);
        let learnt = CodeState::new(&code);
        learnt.meter.note_use();
        Ok((code, learnt))
    }

    /// A procedure that this session has not at hand: as another session has compiled it, else compiled now, for all of
    /// them where it is committed and names no table of this session.
    fn shared_procedure(
        &mut self,
        definition: &ProcedureDef,
    ) -> Result<Arc<SessionPlan>, SqlError> {
        let state = &*self.state;
        let plans = self.programs.plans.clone();
        let database = state.database.clone();
        let (object_id, version) = (definition.object_id, definition.version);
        // Of the caller's options those that are not kept with the module.
        let options = state.options.meaning() & !3
            | u32::from(definition.quoted_identifier)
            | u32::from(!definition.ansi_nulls) << 1;
        let setting = Setting { database: database.id, options };
        let what = What::Procedure { object_id, version };
        let key = Key { catalog: &database.catalog, setting, what };
        let is_own = definition.name.starts_with('#') || state.definitions().is_some();
        if let Some(found) = (!is_own).then(|| plans.find(&key)).flatten() {
            return Ok(found);
        }
        let options = LexOptions { quoted_identifier: definition.quoted_identifier };
        let name = definition.name.to_string();
        let (code, is_common) = self.compile_procedure(definition, &options, name, object_id)?;
        Ok(match !is_own && is_common {
            true => plans.keep(&key, code),
            false => SessionPlan::alone(code),
        })
    }

    fn compile_procedure(
        &mut self,
        definition: &ProcedureDef,
        options: &LexOptions,
        name: String,
        object_id: i32,
    ) -> Result<(Code, bool), SqlError> {
        telemetry::counters::add(telemetry::Counter::Compilations, 1);
        let text = &*definition.text;
        let batch = syntax::parse_batch(text, options).map_err(first_mistake)?;
        let names = SessionNames::new(self.state, self.host).of_module(definition.ansi_nulls);
        let schema = Some(&*definition.schema);
        let runs_as;
        let program = match batch.statements.first().map(|s| &s.kind) {
            Some(StatementKind::CreateProcedure(create)) => {
                runs_as = RunsAs::of(&create.options);
                binder::bind_procedure(create, text, schema, &names)
            }
            Some(StatementKind::CreateFunction(create)) => {
                runs_as = RunsAs::of(&create.options);
                binder::bind_function(create, text, schema, &names)
            }
            _ => {
                return Err(SqlError::new(102, 15, format!("The text of '{name}' is no module.")));
            }
        };
        let program = program.map_err(bind_error)?;
        let is_common = names.private_version().is_none();
        let mut code = compile(Arc::new(program), Some(name), object_id);
        code.runs_as = runs_as;
        Ok((code, is_common))
    }

    #[allow(clippy::too_many_arguments, reason = "a call has a caller, a callee, and arguments")]
    pub(crate) fn run_procedure(
        &mut self,
        code: &Arc<SessionPlan>,
        mut learnt: CodeState,
        args: &[Argument],
        caller: &Code,
        frame: &mut [Value],
        guarded: bool,
        keep: impl FnOnce(&mut Self, CodeState),
    ) -> Result<i32, Halted> {
        self.check_nesting()?;
        let mut callee = self.programs.take_frame();
        callee.extend_from_slice(&code.template);
        let bound = bind_arguments(code, args, &mut callee, &self.state.options)
            .map_err(|error| error.of_call(code.name.as_deref()))?;
        let cursors = self.cursor_arguments(code, args, &bound, caller)?;
        let begin = |vm: &mut Self| {
            for (param, arg) in code.params.iter().zip(&bound) {
                if let Some(slot) = param.table
                    && let Some(table) = arg.and_then(|i| args[i].table.clone())
                {
                    vm.state.transaction.private.fill(slot, table);
                }
            }
        };
        let end = |vm: &mut Self| {
            cursors.iter().for_each(|(from, to)| vm.programs.cursors.hand_back(*from, *to));
        };
        let result = self.run_bound(code, &mut learnt, &mut callee, guarded, begin, end);
        keep(self, learnt);
        let status = result?;
        for (param, arg) in bound.iter().enumerate() {
            let Some(var) = arg.and_then(|i| args[i].output) else { continue };
            if code.params[param].output {
                let ty = caller.vars[var as usize];
                let from = code.params[param].ty;
                let rule = caller.program.rule;
                frame[var as usize] = self.state.options.cast_by(rule, &callee[param], from, ty)?;
            }
        }
        self.programs.give_frame(callee);
        Ok(status)
    }

    /// Runs a procedure in its frame; within its activation `begin` before it, and `end` when it has come to its end.
    pub(crate) fn run_bound(
        &mut self,
        code: &SessionPlan,
        learnt: &mut CodeState,
        callee: &mut [Value],
        guarded: bool,
        begin: impl FnOnce(&mut Self),
        end: impl FnOnce(&mut Self),
    ) -> Result<i32, Halt> {
        let outer = self.state.activity.swap_plan(code.number());
        let result = self.activation(code, Role::Procedure, |vm| {
            begin(vm);
            let begun = learnt.meter.call_begins();
            let result = vm.run_activated(code, learnt, callee, guarded);
            learnt.meter.call_ended(begun);
            let status = result?;
            end(vm);
            Ok(status)
        });
        self.state.activity.plan(outer);
        result
    }

    /// EXEC ('text'): a batch of its own, whose errors are this statement's.
    pub fn execute_text(&mut self, text: &str, guarded: bool) -> Result<(), Halted> {
        self.check_nesting()?;
        let (slot, code, mut learnt) = self.compiled(text, None, false)?;
        let mut frame = self.programs.take_frame();
        frame.extend_from_slice(&code.template);
        let trancount = self.state.trancount();
        let result = self.activation(&code, Role::Text, |vm| {
            vm.run_activated(&code, &mut learnt, &mut frame, guarded)
        });
        self.programs.texts.give(slot, &code, learnt);
        self.programs.give_frame(frame);
        result?;
        self.check_trancount(trancount, None)
    }

    /// Runs a text of our own for the value that its first variable has in the end.
    pub(crate) fn value_of_text(&mut self, text: &str, guarded: bool) -> Result<Value, Halted> {
        self.check_nesting()?;
        let (slot, code, mut learnt) = self.compiled(text, None, false)?;
        let mut frame = self.programs.take_frame();
        frame.extend_from_slice(&code.template);
        let result = self.activation(&code, Role::Text, |vm| {
            vm.run_activated(&code, &mut learnt, &mut frame, guarded)
        });
        let value = frame.first().cloned().unwrap_or_default();
        self.programs.texts.give(slot, &code, learnt);
        self.programs.give_frame(frame);
        result?;
        Ok(value)
    }

    /// Tables for the table variables of a program that begins. What comes back closes them.
    pub fn open_tables(&mut self, code: &Code) -> usize {
        self.programs.cursors.enter();
        let private = &mut self.state.transaction.private;
        let frames = private.frames();
        if !code.tables.is_empty() {
            private.push_frame(&code.tables);
        }
        frames
    }

    /// The program has ended: its table variables go, and so do the temporary tables it made.
    pub fn close_tables(&mut self, frames: usize) {
        self.programs.cursors.leave();
        let private = &mut self.state.transaction.private;
        private.pop_frames_to(frames);
        private.leave(self.state.nesting);
    }

    /// sp_executesql: 214 for a text that is not national.
    pub fn execute_sql(
        &mut self,
        args: &[Argument],
        caller: &Code,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<i32, Halted> {
        let text = |i: usize| {
            args.get(i).and_then(|a| a.value.as_ref()).and_then(Value::as_str).unwrap_or("")
        };
        for (i, name, state) in [(0, "@statement", 2), (1, "@params", 3)] {
            let Some(arg) = args.get(i) else { continue };
            // A bare NULL is an int.
            let is_bare = arg.ty == SqlType::Int && arg.value.as_ref().is_none_or(Value::is_null);
            if !is_bare && !matches!(arg.ty, SqlType::NVarChar(_) | SqlType::NChar(_)) {
                let text =
                    format!("Procedure expects parameter '{name}' of type 'ntext/nchar/nvarchar'.");
                let mut error = SqlError::new(214, 16, text).with_state(state).at_line(1);
                error.procedure = Some("sp_executesql".to_owned());
                return Err(error.into());
            }
        }
        let (slot, code, learnt) = self.compiled(text(0), Some(text(1)), false)?;
        let rest = args.get(2..).unwrap_or_default();
        let kept = code.clone();
        self.run_procedure(&code, learnt, rest, caller, frame, guarded, |vm, learnt| {
            vm.programs.texts.give(slot, &kept, learnt);
        })?;
        Ok(self.state.error)
    }

    /// The rows that INSERT ... EXEC inserts, converted to `columns`.
    pub fn rows_of_exec(
        &mut self,
        exec: &Exec,
        (table, columns): (&TableDef, &[OutputColumn]),
        code: &Code,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<Many<Vec<Value>>, Halted> {
        if self.state.gathering {
            return Err(
                SqlError::new(8164, 16, "An INSERT EXEC statement cannot be nested.").into()
            );
        }
        self.state.gathering = true;
        self.state.transaction.floor = self.state.transaction.count;
        let mut gathered = Gather::default();
        let (apart, _) = self.apart();
        let mut called = Called::default();
        let result =
            apart.run(&mut gathered, |vm| vm.execute(exec, code, frame, guarded, &mut called));
        self.state.gathering = false;
        self.state.transaction.floor = 0;
        gathered.messages.iter().for_each(|message| self.sink.message(message));
        result?;
        let mut rows = Many::with_capacity(gathered.rows.len());
        let mut breath = Breath::new();
        for (row, types) in &gathered.rows {
            breath.steps(16 * row.len()).map_err(SqlError::from)?;
            if row.len() != columns.len() {
                return Err(SqlError::new(
                    213,
                    16,
                    "Column name or number of supplied values does not match table definition.",
                )
                .with_state(7)
                .into());
            }
            let mut converted = Vec::with_capacity(row.len());
            for ((value, column), from) in
                row.iter().zip(columns).zip(gathered.types[*types].iter())
            {
                let style = self.state.options.style_between(value, *from, column.ty);
                let name = column.name.as_deref().unwrap_or_default();
                let mut env = SessionEnvironment {
                    state: &mut *self.state,
                    host: &mut *self.host,
                    machine: &mut *self.programs,
                };
                let to = (name, column.ty);
                converted.push(executor::assign(value, *from, to, table, style, &mut env)?);
            }
            rows.push(converted);
        }
        Ok(rows)
    }
}

/// Keeps a procedure's rows for INSERT ... EXEC.
#[derive(Default)]
struct Gather {
    types: Vec<Vec<SqlType>>,
    /// Rows, with the number of their result set.
    rows: Many<(Vec<Value>, usize)>,
    messages: Vec<SqlMessage>,
}

impl ResultSink for Gather {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.types.push(columns.iter().map(|c| c.ty).collect());
    }

    fn row(&mut self, row: &[Value]) {
        self.rows.push((row.to_vec(), self.types.len().saturating_sub(1)));
    }

    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlMessage) {
        self.messages.push(message.clone());
    }
}

/// What a system procedure returns after an error that it raised. One that is called wrongly does not begin.
fn status_of_failure(name: &ObjectName, error: &SqlError) -> Option<i32> {
    if error.reach != Reach::Statement
        || error.about == About::Call
        || matches!(error.number, 201 | 214)
    {
        return None;
    }
    match name.name.to_ascii_lowercase().as_str() {
        "sp_getapplock" | "sp_releaseapplock" => Some(-999),
        // It is no program in SQL Server, but an entry of the server.
        "sp_set_session_context" => None,
        // The others are programs there: they tell what they refuse by RAISERROR, whose numbers these are, and then
        // RETURN (1).
        program if program.starts_with("sp_") && (15000..16000).contains(&error.number) => Some(1),
        _ => None,
    }
}

/// A name in up to three parts.
pub(crate) fn object_name(text: &str) -> ObjectName {
    let mut parts = name_parts(text).into_iter().rev();
    let name = parts.next().unwrap_or_default();
    let mut part = || parts.next().filter(|p| !p.is_empty());
    let schema = part();
    let database = part();
    ObjectName { database, schema, name }
}
