//! Calls from outside: well-known system procedures by number or name, procedures of the catalog, and batches through
//! the cache of compiled texts.
//!
//! ```text
//! sp_executesql  text, declarations, values...        compiled once per text (cache)
//! sp_prepare     -> handle; text, declarations        the handle keeps the compiled text
//! sp_execute     handle, values...                    no parse, no bind, no plan
//! sp_prepexec    sp_prepare and sp_execute in one
//! ```
//!
//! Promise: running a handle whose statement is a fast one (a singleton insert, a point read) takes no lock but that
//! of its own input buffer, allocates nothing for integers and short texts, and touches no memory shared with other sessions besides what storage does.

use crate::activation::Role;
use crate::cache::{Prepared, Setting, Slot, TEXT_BYTES_MAX, hash_text};
use crate::code::Code;
use crate::compile::compile;
use crate::cursor::is_of_cursors;
use crate::exec::object_name;
use crate::mistakes::{first_mistake, of_module};
use crate::plan::CodeState;
use crate::plan_cache::{Key, SessionPlan, What};
use crate::rpc::{Rpc, RpcName, RpcParam, RpcValue, well_known};
use crate::simple::Simple;
use crate::vm::Vm;
use commands::Argument;
use commands::no_procedure;
use executor::{Command, Done, SqlError};
use session_state::InputKind;
use session_state::SessionNames;
use session_state::SetOptions;
use session_state::bind_error;
use session_state::{Halt, Halted};
use std::sync::Arc;
use syntax::LexOptions;
use syntax::ast::{SetOption, StatementKind};
use types::{Len, SqlType, Value, convert};

/// The names of system procedures are the same in every database and schema.
fn bare_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name).trim_matches(['[', ']', '"'])
}

impl Rpc {
    /// Whether it calls sp_reset_connection, which is the session's own affair.
    pub fn resets_connection(&self) -> bool {
        match &self.procedure {
            RpcName::Name(name) => bare_name(name).eq_ignore_ascii_case("sp_reset_connection"),
            RpcName::Id(_) => false,
        }
    }
}

/// What a call that ran to its end returns.
pub(crate) type Called = Result<i32, Halt>;

impl Vm<'_> {
    /// Does SET PARSEONLY, by a batch before or in this one, leave the batch read and no more?
    #[cold]
    fn only_parsed(&mut self, text: &str) -> Result<bool, SqlError> {
        let options = LexOptions { quoted_identifier: self.state.options.quoted_identifier };
        let batch = syntax::parse_batch(text, &options).map_err(first_mistake)?;
        for statement in &batch.statements {
            if let StatementKind::SetOption(SetOption::Switch { names, on }) = &statement.kind
                && names.iter().any(|name| name == "PARSEONLY")
            {
                self.state.options.parseonly = *on;
            }
        }
        Ok(self.state.options.parseonly)
    }

    /// Runs a batch.
    pub fn batch(&mut self, text: &str) -> Result<(), Halt> {
        self.state.activity.forget_statement();
        self.state.activity.begin_input(InputKind::Language, |input| input.push_str(text));
        if self.state.options.parseonly && self.only_parsed(text).map_err(throw)? {
            return Ok(());
        }
        let setting = self.setting();
        let hash = hash_text(setting, None, text);
        let known = self.programs.texts.find(hash, setting, None, text);
        if known.is_none() && mentions_parseonly(text) && self.only_parsed(text).map_err(throw)? {
            return Ok(());
        }
        let mut frame = self.programs.take_frame();
        let (slot, code, mut learnt) = match known {
            Some((slot, code, learnt)) => (Some(slot), code, learnt),
            None => match self.parameterised(text, hash) {
                Some(Simple { slot, code, learnt, values }) => {
                    frame.extend(values);
                    (slot, code, learnt)
                }
                None => self.compiled_anew(hash, text, None, false).map_err(throw)?,
            },
        };
        self.state.activity.plan(code.number());
        let given = frame.len();
        frame.extend_from_slice(&code.template[given..]);
        let tables = self.open_tables(&code);
        let result = match self.check_table_types(&code) {
            Ok(()) => self.run(&code, &mut learnt, &mut frame, false),
            Err(error) => Err(throw(error)),
        };
        self.state.nesting = 0;
        self.close_tables(tables);
        self.programs.give_frame(frame);
        self.programs.texts.give(slot, &code, learnt);
        result.map(drop)
    }

    /// Runs a call from outside and tells its end.
    pub fn remote_call(&mut self, call: &Rpc) -> Result<(), Halt> {
        self.state.activity.forget_statement();
        self.tell_call(call);
        let trancount = self.state.trancount();
        match self.dispatch(call) {
            Ok(status) => {
                self.sink.procedure_done(status);
            }
            Err(halt) => {
                if let Halt::Throw(error) = halt {
                    self.state.error = error.number;
                    self.tell_error(&error);
                }
                self.sink.procedure_done(self.state.error);
                return Ok(());
            }
        }
        if let Err(Halted::Error(error)) = self.check_trancount(trancount, None) {
            self.tell_error(&error);
        }
        Ok(())
    }

    /// What others see of the call: its text where it brings or names one, else the procedure's name.
    fn tell_call(&self, call: &Rpc) {
        let params = &call.params[..];
        let name = match &call.procedure {
            RpcName::Id(id) => well_known(*id).unwrap_or(""),
            RpcName::Name(name) => name,
        };
        let texts = &self.programs.texts;
        self.state.activity.begin_input(InputKind::Rpc, |input| match bare_name(name) {
            "sp_executesql" => input.push_str(text_of(params, 0)),
            "sp_prepare" | "sp_prepexec" | "sp_cursorprepare" => input.push_str(text_of(params, 2)),
            "sp_cursoropen" => input.push_str(text_of(params, 1)),
            "sp_cursorprepexec" => input.push_str(text_of(params, 3)),
            "sp_execute" => match texts.prepared(number_of(params, 0)) {
                Some(Prepared::Text(slot)) => input.push_str(texts.text(*slot).unwrap_or("")),
                Some(Prepared::Procedure(name)) => input.push_str(name),
                Some(Prepared::Cursor(_)) | None => {}
            },
            _ => input.extend([name, ";1"]),
        });
    }

    fn dispatch(&mut self, call: &Rpc) -> Called {
        let params = &call.params[..];
        let name = match &call.procedure {
            RpcName::Id(10) => return self.remote_sql(params, call.recompile),
            RpcName::Id(12) => return self.remote_execute(params),
            RpcName::Id(id) => {
                well_known(*id).ok_or_else(|| throw(no_procedure(&id.to_string())))?
            }
            RpcName::Name(name) => name,
        };
        let bare = bare_name(name);
        if !bare.get(..3).is_some_and(|p| p.eq_ignore_ascii_case("sp_")) {
            return self.remote_procedure(name, params, 0);
        }
        match bare.to_ascii_lowercase().as_str() {
            "sp_executesql" => self.remote_sql(params, call.recompile),
            "sp_execute" => self.remote_execute(params),
            "sp_prepare" => {
                let (declarations, text) = (text_of(params, 1), text_of(params, 2));
                let handle = self.prepare(text, declarations).map_err(throw)?;
                if number_of(params, 3) & 1 != 0 {
                    self.tell_columns(handle).map_err(throw)?;
                }
                self.give_handle(params, handle);
                Ok(0)
            }
            "sp_prepexec" => {
                self.release_old(params);
                let (declarations, text) = (text_of(params, 1), text_of(params, 2));
                let handle = self.prepare(text, declarations).map_err(throw)?;
                self.remote_handle(handle, params, 3, true)
            }
            "sp_prepexecrpc" => {
                self.release_old(params);
                let name: Arc<str> = called(text_of(params, 1)).into();
                let handle = self.programs.texts.prepare(Prepared::Procedure(name));
                self.remote_handle(handle, params, 2, true)
            }
            "sp_unprepare" => {
                let handle = number_of(params, 0);
                if !self.programs.texts.release(handle) {
                    return Err(throw(no_handle(handle)));
                }
                self.sink.return_status(0);
                Ok(0)
            }
            cursor if is_of_cursors(cursor) => self.server_cursor(cursor, params, false),
            _ => self.remote_procedure(name, params, 0),
        }
    }

    /// sp_executesql.
    fn remote_sql(&mut self, params: &[RpcParam], recompile: bool) -> Called {
        let (text, declarations) = (text_of(params, 0), text_of(params, 1));
        let found = match recompile {
            false => self.compiled(text, Some(declarations), false),
            true => self.compile_text(text, Some(declarations)).map(|(code, _)| {
                let code = SessionPlan::alone(code);
                let learnt = CodeState::new(&code);
                (None, code, learnt)
            }),
        };
        let (slot, code, learnt) = found.map_err(throw)?;
        self.run_text(slot, &code, learnt, params, 2, None)
    }

    /// sp_execute.
    fn remote_execute(&mut self, params: &[RpcParam]) -> Called {
        self.remote_handle(number_of(params, 0), params, 1, false)
    }

    /// Runs what a handle stands for; a new handle goes back to the client.
    fn remote_handle(
        &mut self,
        handle: i32,
        params: &[RpcParam],
        first: usize,
        new: bool,
    ) -> Called {
        let new = new.then_some(handle);
        match self.programs.texts.prepared(handle) {
            Some(Prepared::Text(slot)) => {
                let slot = *slot;
                let (slot, code, learnt) = self.programs.texts.take(slot);
                self.run_text(Some(slot), &code, learnt, params, first, new)
            }
            Some(Prepared::Procedure(name)) => {
                let name = name.clone();
                if let Some(handle) = new {
                    self.output_handle(params, handle);
                }
                self.remote_procedure(&name, params, first)
            }
            Some(Prepared::Cursor(_)) | None => Err(throw(no_handle(handle))),
        }
    }

    pub(crate) fn prepare(&mut self, text: &str, declarations: &str) -> Result<i32, SqlError> {
        let setting = self.setting();
        let hash = hash_text(setting, Some(declarations), text);
        let texts = &mut self.programs.texts;
        let slot = match texts.find(hash, setting, Some(declarations), text) {
            Some((slot, code, learnt)) => {
                texts.give(Some(slot), &code, learnt);
                Some(slot)
            }
            None => {
                let code = self.shared_text(hash, text, Some(declarations))?;
                self.programs.texts.keep(hash, setting, Some(declarations), text, &code, true)
            }
        };
        let Some(slot) = slot else { stdx::fatal!("a text that must be kept was not") };
        Ok(self.programs.texts.prepare(Prepared::Text(slot)))
    }

    /// sp_prepare with option 1: the columns of the statement's result set, without rows.
    fn tell_columns(&mut self, handle: i32) -> Result<(), SqlError> {
        let Some(Prepared::Text(slot)) = self.programs.texts.prepared(handle) else {
            return Ok(());
        };
        let (slot, code, learnt) = self.programs.texts.take(*slot);
        let found = self.first_result(&code, 0, false);
        self.programs.texts.give(Some(slot), &code, learnt);
        if let Some(columns) = found? {
            self.sink.columns(&executor::column_meta(&columns));
            self.sink.done(Done {
                rows: None,
                command: Command::Select,
                in_procedure: true,
                failed: false,
            });
        }
        Ok(())
    }

    /// A handle given to sp_prepexec is given up for the new one.
    fn release_old(&mut self, params: &[RpcParam]) {
        let old = number_of(params, 0);
        if old != 0 {
            self.programs.texts.release(old);
        }
    }

    fn give_handle(&mut self, params: &[RpcParam], handle: i32) {
        self.sink.return_status(0);
        self.output_handle(params, handle);
    }

    fn output_handle(&mut self, params: &[RpcParam], handle: i32) {
        let name = params.first().and_then(|p| p.name.as_deref()).unwrap_or("");
        self.sink.output(0, name, SqlType::Int, &Value::Int(handle));
    }

    /// Runs a parameterised text with the parameters from `first` on.
    fn run_text(
        &mut self,
        slot: Option<Slot>,
        code: &Arc<SessionPlan>,
        mut learnt: CodeState,
        params: &[RpcParam],
        first: usize,
        new_handle: Option<i32>,
    ) -> Called {
        let mut frame = self.programs.take_frame();
        let result = self.run_in(&mut frame, code, &mut learnt, params, first, false);
        self.programs.texts.give(slot, code, learnt);
        let result = result.map(|_| {
            let status = self.state.error;
            self.sink.return_status(status);
            if let Some(handle) = new_handle {
                self.output_handle(params, handle);
            }
            self.outputs(code, params, first, &frame);
            status
        });
        self.programs.give_frame(frame);
        result
    }

    /// The same, of which nothing but its results is told.
    pub(crate) fn run_quietly(
        &mut self,
        slot: Option<Slot>,
        code: &Arc<SessionPlan>,
        mut learnt: CodeState,
        params: &[RpcParam],
        first: usize,
        guarded: bool,
    ) -> Called {
        let mut frame = self.programs.take_frame();
        let result = self.run_in(&mut frame, code, &mut learnt, params, first, guarded);
        self.programs.texts.give(slot, code, learnt);
        self.programs.give_frame(frame);
        result.map(|_| self.state.error)
    }

    fn run_in(
        &mut self,
        frame: &mut Vec<Value>,
        code: &Arc<SessionPlan>,
        learnt: &mut CodeState,
        params: &[RpcParam],
        first: usize,
        guarded: bool,
    ) -> Called {
        self.state.activity.plan(code.number());
        frame.extend_from_slice(&code.template);
        match bind(code, params, first, frame, &self.state.options) {
            Ok(()) => self.invoke(code, learnt, frame, params, first, guarded),
            Err(error) => Err(throw(error)),
        }
    }

    /// Calls a procedure by name, the catalog's or a built-in one, with the parameters from `first` on.
    fn remote_procedure(&mut self, name: &str, params: &[RpcParam], first: usize) -> Called {
        let name = object_name(name);
        let name = self.state.stands_for(&name).unwrap_or(name);
        let home = self.commands().enter_database_of(&name).map_err(throw)?;
        let called = self.remote_here(&name, params, first);
        self.commands().come_home(home);
        called
    }

    /// The same where the name's database is the session's.
    fn remote_here(&mut self, name: &ir::ObjectName, params: &[RpcParam], first: usize) -> Called {
        if let Some(definition) = self.find_procedure(None, name) {
            if self.state.identity.is_limited() {
                self.commands().check_execute(&definition, 0).map_err(throw)?;
            }
            let (code, mut learnt) = self.procedure(&definition).map_err(throw)?;
            self.state.activity.plan(code.number());
            let mut frame = self.programs.take_frame();
            frame.extend_from_slice(&code.template);
            let result = match bind(&code, params, first, &mut frame, &self.state.options) {
                Ok(()) => self.invoke(&code, &mut learnt, &mut frame, params, first, false),
                Err(error) => Err(throw(error.of_call(code.name.as_deref()))),
            };
            self.keep_learnt(&definition, &code, learnt);
            let result = result.inspect(|status| {
                self.sink.return_status(*status);
                self.outputs(&code, params, first, &frame);
            });
            self.programs.give_frame(frame);
            return result;
        }
        self.remote_builtin(name, params, first)
    }

    /// A built-in procedure: its arguments are the variables of a caller that is not there.
    fn remote_builtin(
        &mut self,
        name: &ir::ObjectName,
        params: &[RpcParam],
        first: usize,
    ) -> Called {
        let given = params.get(first..).unwrap_or_default();
        let mut args = Vec::with_capacity(given.len());
        let mut frame = Vec::with_capacity(given.len());
        let mut caller = crate::compile::nothing();
        for (i, param) in given.iter().enumerate() {
            let value = scalar(param).map_err(throw)?;
            // An output may be longer than what came in.
            caller.vars.push(match param.ty {
                SqlType::NVarChar(_) | SqlType::NChar(_) => SqlType::NVarChar(Len::Max),
                SqlType::VarChar(_) | SqlType::Char(_) => SqlType::VarChar(Len::Max),
                SqlType::VarBinary(_) | SqlType::Binary(_) => SqlType::VarBinary(Len::Max),
                other => other,
            });
            frame.push(value.clone());
            args.push(Argument {
                name: param.name.as_deref().map(str::to_owned),
                value: (!param.default).then(|| value.clone()),
                ty: param.ty,
                output: param.output.then_some(i as u32),
                table: None,
                cursor: None,
            });
        }
        if crate::ddl_trigger::is_watched_procedure(&name.name)
            && (self.host.audited() != 0 || !self.ddl_triggers().is_empty())
        {
            self.state.command = Some(format!("EXEC {name}").into());
        }
        let result = self
            .one_level_deeper(|vm| vm.system_procedure(name, &args, &caller, &mut frame, false));
        let status = match result {
            Ok(Some(status)) => status,
            Ok(None) => return Err(throw(no_procedure(&name.to_string()))),
            Err(halted) => return Err(halted.into()),
        };
        self.sink.return_status(status);
        for (i, param) in given.iter().enumerate().filter(|(_, param)| param.output) {
            let name = param.name.as_deref().unwrap_or("");
            self.sink.output((first + i) as u16, name, caller.vars[i], &frame[i]);
        }
        Ok(status)
    }

    /// Runs a procedure or parameterised text in its frame: one level deeper, its SET options and USE undone after it.
    fn invoke(
        &mut self,
        code: &Arc<SessionPlan>,
        learnt: &mut CodeState,
        frame: &mut [Value],
        params: &[RpcParam],
        first: usize,
        guarded: bool,
    ) -> Called {
        // What a client sends as a text may take back what an earlier request of it began, as a batch may.
        let role = if code.object_id == 0 { Role::Text } else { Role::Procedure };
        self.activation(code, role, |vm| {
            vm.fill_tables(code, params, first).map_err(throw)?;
            vm.run_activated(code, learnt, frame, guarded)
        })
    }

    /// Rows of table-valued parameters into the tables of a program that begins.
    fn fill_tables(
        &mut self,
        code: &Code,
        params: &[RpcParam],
        first: usize,
    ) -> Result<(), SqlError> {
        if code.tables.is_empty() {
            return Ok(());
        }
        for (i, param) in params.iter().enumerate().skip(first) {
            let RpcValue::Table(rows) = &param.value else { continue };
            let Some(place) = place_of(code, param, i - first) else { continue };
            if let Some(slot) = code.params[place].table {
                // The client declares it, and not the procedure.
                if self.state.identity.is_limited()
                    && let Some(of_type) = code.program.tables[slot as usize].of_type
                {
                    self.commands().check_types(&[of_type], 0)?;
                }
                self.fill_table(&code.tables[slot as usize], rows)?;
            }
        }
        Ok(())
    }

    /// Gives back the parameters that the client wants back.
    fn outputs(&mut self, code: &Code, params: &[RpcParam], first: usize, frame: &[Value]) {
        for (i, param) in params.iter().enumerate().skip(first).filter(|(_, p)| p.output) {
            let Some(place) = place_of(code, param, i - first) else { continue };
            let name = param.name.as_deref().unwrap_or("");
            let (ty, value) = (code.params[place].ty, &frame[place]);
            match client_type(param.ty, ty) {
                // It comes back as the client declared it, where that can hold it.
                Some(theirs) => match convert::cast(value, ty, theirs, 0) {
                    Ok(value) => self.sink.output(i as u16, name, theirs, &value),
                    Err(_) => self.sink.output(i as u16, name, ty, value),
                },
                None => self.sink.output(i as u16, name, ty, value),
            }
        }
    }

    /// What a text depends on.
    #[inline]
    pub fn setting(&self) -> Setting {
        Setting { database: self.state.database.id, options: self.state.options.meaning() }
    }

    /// The compiled form of a text, from the cache where it is there.
    pub fn compiled(
        &mut self,
        text: &str,
        declarations: Option<&str>,
        always: bool,
    ) -> Result<(Option<Slot>, Arc<SessionPlan>, CodeState), SqlError> {
        let setting = self.setting();
        let hash = hash_text(setting, declarations, text);
        if let Some((slot, code, learnt)) =
            self.programs.texts.find(hash, setting, declarations, text)
        {
            return Ok((Some(slot), code, learnt));
        }
        self.compiled_anew(hash, text, declarations, always)
    }

    /// The same of a text that the session has not at hand.
    fn compiled_anew(
        &mut self,
        hash: u64,
        text: &str,
        declarations: Option<&str>,
        always: bool,
    ) -> Result<(Option<Slot>, Arc<SessionPlan>, CodeState), SqlError> {
        let setting = self.setting();
        let reading = self.compile_reading();
        let code = self.shared_text(hash, text, declarations)?;
        self.tell_compile_time(reading);
        let learnt = CodeState::new(&code);
        learnt.meter.note_use();
        let slot = self.programs.texts.keep(hash, setting, declarations, text, &code, always);
        Ok((slot, code, learnt))
    }

    /// A text that this session has not at hand: as another session has compiled it, else compiled now, for all of them
    /// where it means the same to all.
    fn shared_text(
        &mut self,
        hash: u64,
        text: &str,
        declarations: Option<&str>,
    ) -> Result<Arc<SessionPlan>, SqlError> {
        let state = &*self.state;
        let plans = self.programs.plans.clone();
        let database = state.database.clone();
        let setting = self.setting();
        let what = What::Text { hash, declarations, text };
        let key = Key { catalog: &database.catalog, setting, what };
        let fits = text.len() <= TEXT_BYTES_MAX && state.definitions().is_none();
        if let Some(found) = fits.then(|| plans.find(&key)).flatten() {
            return Ok(found);
        }
        let (code, is_common) = self.compile_text(text, declarations)?;
        Ok(match fits && is_common {
            true => plans.keep(&key, code),
            false => SessionPlan::alone(code),
        })
    }

    /// Parses, binds and compiles a text, with parameters where there are declarations. With it: whether no name in it
    /// is one of this session's own tables.
    pub fn compile_text(
        &mut self,
        text: &str,
        declarations: Option<&str>,
    ) -> Result<(Code, bool), SqlError> {
        self.compile_undeclared(text, declarations, &[])
    }

    /// The same of a text with parameters of which only the names are known: see [`binder::bind_undeclared`].
    pub fn compile_undeclared(
        &mut self,
        text: &str,
        declarations: Option<&str>,
        undeclared: &[String],
    ) -> Result<(Code, bool), SqlError> {
        let options = LexOptions { quoted_identifier: self.state.options.quoted_identifier };
        self.compile_read(text, declarations, undeclared, &options)
            .map_err(|error| of_module(error, text, &options))
    }

    fn compile_read(
        &mut self,
        text: &str,
        declarations: Option<&str>,
        undeclared: &[String],
        options: &LexOptions,
    ) -> Result<(Code, bool), SqlError> {
        let parameters = match declarations {
            Some(declarations) => {
                syntax::parse_parameters(declarations, options).map_err(first_mistake)?
            }
            None => Vec::new(),
        };
        let batch = syntax::parse_batch(text, options).map_err(first_mistake)?;
        telemetry::counters::add(telemetry::Counter::Compilations, 1);
        let names = SessionNames::new(self.state, self.host);
        let program = binder::bind_undeclared(&parameters, undeclared, &batch, text, &names)
            .map_err(bind_error)?;
        let is_common = names.private_version().is_none();
        crate::showplan::check_alone(&program)?;
        let mut code = compile(Arc::new(program), None, 0);
        code.declarations = declarations.map(Into::into);
        Ok((code, is_common))
    }
}

/// Puts the parameters of a call into the frame: by name, else by place; defaults for those not given.
fn bind(
    code: &Code,
    params: &[RpcParam],
    first: usize,
    frame: &mut [Value],
    options: &SetOptions,
) -> Result<(), SqlError> {
    let given = params.get(first..).unwrap_or_default();
    let mut count = 0;
    for (i, param) in given.iter().enumerate() {
        let Some(place) = place_of(code, param, i) else {
            return Err(crate::arguments::no_parameter(code, param.name.as_deref()));
        };
        let to = &code.params[place];
        if param.output && !to.output {
            return Err(crate::arguments::no_output(&to.name));
        }
        if param.default {
            continue;
        }
        count += 1;
        if to.cursor.is_some() {
            return Err(crate::arguments::clash(to, param.ty.name()));
        }
        match (&to.table, &param.value) {
            (Some(_), RpcValue::Table(_) | RpcValue::Scalar(Value::Null)) => continue,
            (Some(_), RpcValue::Scalar(_)) => {
                return Err(crate::arguments::clash(to, param.ty.name()));
            }
            (None, RpcValue::Table(_)) => {
                return Err(crate::arguments::clash(to, "table"));
            }
            (None, RpcValue::Scalar(_)) => {}
        }
        let value = scalar(param)?;
        frame[place] = match (value, to.ty) {
            (Value::Null, _) => Value::Null,
            (Value::Int(_), SqlType::Int) | (Value::BigInt(_), SqlType::BigInt) => value.clone(),
            (value, to) if param.ty == to && !has_page(value, to) => value.clone(),
            (value, to) => options.cast_by(code.program.rule, value, param.ty, to)?,
        };
    }
    if count == code.params.len() {
        return Ok(());
    }
    for (place, to) in code.params.iter().enumerate() {
        let is_given =
            |(i, p): (usize, &RpcParam)| !p.default && place_of(code, p, i) == Some(place);
        if given.iter().enumerate().any(is_given) {
            continue;
        }
        match &to.default {
            Some(value) => frame[place] = crate::arguments::default_of(value, to, code, options)?,
            // No rows.
            None if to.table.is_some() => {}
            // An output parameter that was sent as DEFAULT begins as NULL.
            None if to.output && code.declarations.is_some() => frame[place] = Value::Null,
            None => return Err(crate::arguments::not_supplied(code, &to.name)),
        }
    }
    Ok(())
}

/// Is it a varchar with characters that a code page may lack?
fn has_page(value: &Value, ty: SqlType) -> bool {
    let narrow = ty.is_character() && !ty.is_unicode();
    narrow && value.as_str().is_some_and(|text| !text.is_ascii())
}

/// The callee's parameter that a parameter of the call is for.
#[inline]
fn place_of(code: &Code, param: &RpcParam, i: usize) -> Option<usize> {
    match param.name.as_deref() {
        None | Some("") => (i < code.params.len()).then_some(i),
        // Most clients name them in order.
        Some(name) if code.params.get(i).is_some_and(|p| p.name.eq_ignore_ascii_case(name)) => {
            Some(i)
        }
        Some(name) => code.params.iter().position(|p| p.name.eq_ignore_ascii_case(name)),
    }
}

/// The client's type of an output parameter where it is another number, text or string of bytes than the procedure's: SQL
/// Server gives back what the client declared, as long as that is, and some clients (go-mssqldb) read nothing else into
/// their variable.
fn client_type(theirs: SqlType, ours: SqlType) -> Option<SqlType> {
    let is_number = |ty| {
        use SqlType::{BigInt, Bit, Float, Int, Money, Real, SmallInt, SmallMoney, TinyInt};
        matches!(ty, Bit | TinyInt | SmallInt | Int | BigInt | Float | Real | Money | SmallMoney)
            || matches!(ty, SqlType::Decimal { .. })
    };
    let is_binary = |ty| matches!(ty, SqlType::Binary(_) | SqlType::VarBinary(_));
    let alike = is_number(theirs) && is_number(ours)
        || theirs.is_character() && ours.is_character()
        || is_binary(theirs) && is_binary(ours);
    (theirs != ours && alike).then_some(theirs)
}

pub(crate) fn scalar(param: &RpcParam) -> Result<&Value, SqlError> {
    match &param.value {
        RpcValue::Scalar(value) => Ok(value),
        RpcValue::Table(table) => {
            Err(SqlError::unsupported(format!("table-valued parameter of type {}", table.name)))
        }
    }
}

pub(crate) fn text_of(params: &[RpcParam], i: usize) -> &str {
    match params.get(i).map(|param| &param.value) {
        Some(RpcValue::Scalar(value)) => value.as_str().unwrap_or(""),
        _ => "",
    }
}

pub(crate) fn number_of(params: &[RpcParam], i: usize) -> i32 {
    match params.get(i).map(|param| &param.value) {
        Some(RpcValue::Scalar(value)) => match value.as_i64() {
            Some(number) => number as i32,
            // As a text or 0x100 becomes a number.
            None => {
                let number = convert::cast(value, params[i].ty, SqlType::Int, 0);
                number.ok().and_then(|number| number.as_i64()).unwrap_or(0) as i32
            }
        },
        _ => 0,
    }
}

/// The procedure in `{call p (?, ?)}`, `{? = call p}` or plainly `p`.
fn called(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) else { return text };
    let inner = inner.trim_start_matches(|c: char| c == '?' || c == '=' || c.is_whitespace());
    let inner =
        inner.get(..4).filter(|w| w.eq_ignore_ascii_case("call")).map_or(inner, |_| &inner[4..]);
    inner.split('(').next().unwrap_or(inner).trim()
}

pub(crate) fn throw(error: SqlError) -> Halt {
    Halt::Throw(Box::new(error))
}

/// Is the word in a text, in any case?
fn mentions_parseonly(text: &str) -> bool {
    let word = b"PARSEONLY";
    text.as_bytes().windows(word.len()).any(|w| w[0] | 0x20 == b'p' && w.eq_ignore_ascii_case(word))
}

pub(crate) fn no_handle(handle: i32) -> SqlError {
    SqlError::new(8179, 16, format!("Could not find prepared statement with handle {handle}."))
        .with_state(4)
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn a_call_names_its_procedure() {
        assert_eq!(called("dbo.p"), "dbo.p");
        assert_eq!(called("{call [dbo].[p] (?, ?)}"), "[dbo].[p]");
        assert_eq!(called("{? = CALL p}"), "p");
    }
}
