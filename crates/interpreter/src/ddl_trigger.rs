//! DDL triggers: fired after the statement that changes definitions, in its transaction.
//!
//! ```text
//! statement -> for each of its events: triggers of the server, then of the database, each in the order of creation
//!           -> commit, if the statement is a transaction of its own
//! ```
//!
//! Promises: a session of a database without DDL triggers asks once for each such statement, and never for others; a
//! definition and what it fires stand or fall together, but for what no transaction holds (databases, logins): its triggers
//! run after it, in `master`, in a transaction of their own. A trigger does not fire itself directly, nor for its own
//! creation.

mod logon;
mod procedures;

pub use logon::{classify, logon};
pub(crate) use procedures::is_watched as is_watched_procedure;

use crate::code::Code;
use crate::compile::compile;
use crate::plan::CodeState;
use crate::plan_cache::SessionPlan;
use crate::programs::{CachedProcedure, ProcedureKey, procedure_key};
use crate::vm::Vm;
use catalog::{ModuleKind, ProcedureDef, TriggerDef};
use commands::RunsAs;
use commands::auditing;
use commands::ddl_events::{Occurrence, event_data, occurrence, principals};
use executor::SqlError;
use ir::ddl::Ddl;
use ir::{ProcRef, Rare, StmtKind};
use session_state::AuditEvent;
use session_state::Firing;
use session_state::Halted;
use session_state::SessionNames;
use session_state::Tag;
use session_state::bind_error;
use std::sync::Arc;
use syntax::LexOptions;
use syntax::ast::{RareStatement, StatementKind};

/// May such a statement make something happen that a DDL trigger is for, or an audit?
pub(crate) fn is_watched(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Ddl(ddl) => !matches!(&**ddl, Ddl::PrivateUnique { .. }),
        StmtKind::Rare(rare) => !matches!(
            **rare,
            Rare::InsertBulk
                | Rare::BeginDistributed
                | Rare::SetUser { .. }
                | Rare::Shutdown { .. }
                | Rare::Nothing
        ),
        StmtKind::Exec(exec) => match &exec.procedure {
            ProcRef::Name(name) => procedures::is_watched(&name.name),
            ProcRef::Var(_) | ProcRef::Text(_) => false,
        },
        kind => Tag::of(kind, None).is_watched(),
    }
}

impl Vm<'_> {
    /// The triggers of the server and those of the database, as the transaction sees them.
    pub(crate) fn ddl_triggers(&mut self) -> Vec<Arc<ProcedureDef>> {
        let master = self.host.database("master");
        let mut all = master.map_or_else(Vec::new, |master| {
            master.catalog.triggers_of(None, TriggerDef::OF_SERVER)
        });
        let scope = self.state.definitions();
        all.extend(self.state.database.catalog.triggers_of(scope, TriggerDef::OF_DATABASE));
        all
    }

    /// Runs statement `index`, and what its events fire; `run` is the statement alone.
    #[cold]
    #[inline(never)]
    pub(crate) fn with_ddl_triggers<R>(
        &mut self,
        code: &Code,
        index: usize,
        guarded: bool,
        run: impl FnOnce(&mut Self) -> Result<R, Halted>,
    ) -> Result<R, Halted> {
        let audited = self.host.audited() != 0;
        if !audited && self.ddl_triggers().is_empty() {
            return run(self);
        }
        let statement = &code.statements[index];
        let (batch, span) = (&*code.program.text, statement.span);
        if matches!(statement.kind, StmtKind::Exec(_)) {
            let command = span.text(batch).trim_end_matches([';', ' ', '\t', '\r', '\n']);
            let outer = self.state.command.replace(command.into());
            let result = run(self);
            self.state.command = outer;
            return result;
        }
        let options = LexOptions { quoted_identifier: self.state.options.quoted_identifier };
        let parsed = syntax::parse_batch(span.text(batch), &options);
        let Some(parsed) = parsed.ok().and_then(|batch| batch.statements.into_iter().next()) else {
            return run(self);
        };
        let command = event_data::command_text(batch, span, &parsed.kind);
        let happens = occurrence::occurrences(self.state, &parsed.kind, &command);
        let apart = match &parsed.kind {
            StatementKind::Security(security) => principals::is_of_server(security),
            other => occurrence::is_apart(other),
        };
        if !audited {
            return self.with_events(happens, apart, &command, guarded, run);
        }
        let (state, host) = (&*self.state, &mut *self.host);
        let events = auditing::events(state, host, &parsed.kind, &happens, &command);
        // Whoever mends an audit is not held up by it.
        let apart = apart
            || matches!(
                &parsed.kind,
                StatementKind::Backup(_) | StatementKind::Restore(_) | StatementKind::Dbcc(_)
            );
        let mends = matches!(&parsed.kind, StatementKind::Rare(rare) if matches!(**rare, RareStatement::Audit(_)));
        self.with_audit(events, apart, mends, |vm| {
            vm.with_events(happens, apart, &command, guarded, run)
        })
    }

    /// Runs what these records are of, and has them kept: before its transaction commits, where it must not stand without
    /// them and is one that can be undone.
    pub(crate) fn with_audit<R>(
        &mut self,
        mut events: Vec<AuditEvent>,
        apart: bool,
        mends: bool,
        run: impl FnOnce(&mut Self) -> Result<R, Halted>,
    ) -> Result<R, Halted> {
        let wanted = auditing::groups(&events);
        if wanted == 0 {
            return run(self);
        }
        let mut strict = false;
        for event in &events {
            match self.host.check_audits(event.group.bit(), event.database) {
                Err(error) if !mends => return Err(error.into()),
                checked => strict |= checked.unwrap_or(false),
            }
        }
        let mut keep = |vm: &mut Self, result: Result<R, Halted>| {
            let denied = matches!(&result, Err(Halted::Error(e)) if auditing::is_denial(e));
            for mut event in std::mem::take(&mut events) {
                event.record.succeeded = !denied;
                auditing::after(vm.state, vm.host, &mut event);
                match vm.host.audit(event) {
                    Err(error) if !mends && result.is_ok() => return Err(error.into()),
                    _ => {}
                }
            }
            result
        };
        if strict && !apart && !mends {
            return self.in_one_transaction(|vm| {
                let result = run(vm);
                keep(vm, result)
            });
        }
        let result = run(self);
        keep(self, result)
    }

    /// Runs what makes these things happen, and what they fire; `apart`: no transaction can hold it.
    pub(crate) fn with_events<R>(
        &mut self,
        happens: Vec<Occurrence>,
        apart: bool,
        command: &str,
        guarded: bool,
        run: impl FnOnce(&mut Self) -> Result<R, Halted>,
    ) -> Result<R, Halted> {
        if happens.is_empty() || self.ddl_triggers().is_empty() {
            return run(self);
        }
        let before: Vec<_> = self.ddl_triggers().iter().map(|t| (t.kind, t.object_id)).collect();
        if happens.iter().all(|occurrence| self.due(occurrence, &before).is_empty()) {
            return run(self);
        }
        if !apart {
            let own = self.state.transaction.count == 0;
            return self.in_one_transaction(|vm| {
                let outer = std::mem::replace(&mut vm.state.watched, own);
                let result = run(vm);
                vm.state.watched = outer;
                let result = result?;
                vm.fire_events(&happens, &before, command, guarded)?;
                Ok(result)
            });
        }
        let result = run(self)?;
        if self.state.transaction.count > 0 {
            // Some run in a transaction all the same, though it does not hold them.
            self.fire_events(&happens, &before, command, guarded)?;
            return Ok(result);
        }
        self.in_master(|vm| {
            vm.in_one_transaction(|vm| vm.fire_events(&happens, &before, command, guarded))
        })?;
        Ok(result)
    }

    /// The triggers of an event that were there `before` and still are, in their order.
    fn due(
        &mut self,
        occurrence: &Occurrence,
        before: &[(ModuleKind, i32)],
    ) -> Vec<Arc<ProcedureDef>> {
        let concerns = |trigger: &Arc<ProcedureDef>| {
            let (kind, event) = (trigger.kind, occurrence.event);
            before.contains(&(kind, trigger.object_id))
                && trigger.is_for(event)
                && !trigger.trigger.is_some_and(|t| t.is_disabled())
                && (kind == ModuleKind::ServerTrigger || !occurrence.is_of_server())
        };
        let mut due: Vec<_> = self.ddl_triggers().into_iter().filter(concerns).collect();
        due.sort_by_key(|trigger| {
            (trigger.kind != ModuleKind::ServerTrigger, trigger.order_of(occurrence.event))
        });
        due
    }

    /// Fires for each event the triggers that were there `before` and still are.
    fn fire_events(
        &mut self,
        happens: &[Occurrence],
        before: &[(ModuleKind, i32)],
        command: &str,
        guarded: bool,
    ) -> Result<(), Halted> {
        for occurrence in happens {
            let due = self.due(occurrence, before);
            if due.is_empty() {
                continue;
            }
            let server = self.host.server_name();
            let data = event_data::document(self.state, &server, occurrence, command);
            let data: Arc<str> = data.into();
            for trigger in due {
                self.fire_ddl(&trigger, &data, guarded)?;
            }
        }
        Ok(())
    }

    /// Runs one trigger, unless it is the one that makes this happen.
    fn fire_ddl(
        &mut self,
        definition: &ProcedureDef,
        data: &Arc<str>,
        guarded: bool,
    ) -> Result<(), Halted> {
        let (object_id, of_server) =
            (definition.object_id, definition.kind == ModuleKind::ServerTrigger);
        let itself = |t: &Firing| t.object_id == object_id && t.of_server == of_server;
        if self.state.triggers.last().is_some_and(itself) {
            return Ok(());
        }
        if self.is_held_back() {
            return Ok(());
        }
        self.check_nesting()?;
        let (code, mut learnt) = self.ddl_trigger(definition)?;
        let event = Some(data.clone());
        let firing = Firing { object_id, of_server, event, ..Firing::default() };
        self.state.rowcount = 0;
        let result = self.run_trigger(&code, &mut learnt, firing, guarded, |_| Ok(()));
        self.programs.keep_learnt(self.key_of(definition), &code, learnt);
        result
    }

    /// The compiled form of a trigger.
    fn ddl_trigger(
        &mut self,
        definition: &ProcedureDef,
    ) -> Result<(Arc<SessionPlan>, CodeState), SqlError> {
        let key = self.key_of(definition);
        if let Some(cached) = self.programs.procedures.get_mut(&key)
            && cached.version == definition.version
        {
            let code = cached.code.clone();
            let learnt = cached.state.take().unwrap_or_else(|| CodeState::new(&code));
            return Ok((code, learnt));
        }
        telemetry::counters::add(telemetry::Counter::Compilations, 1);
        let options = LexOptions { quoted_identifier: definition.quoted_identifier };
        let batch = syntax::parse_batch(&definition.text, &options)
            .map_err(crate::mistakes::first_mistake)?;
        let Some(StatementKind::CreateDdlTrigger(create)) =
            batch.statements.first().map(|s| &s.kind)
        else {
            let text = format!("The text of '{}' is no trigger.", definition.name);
            return Err(SqlError::new(102, 15, text));
        };
        let names = SessionNames::new(self.state, self.host).of_module(definition.ansi_nulls);
        let schema = Some(&*definition.schema);
        let program = binder::bind_ddl_trigger(create, &definition.text, schema, &names);
        let program = program.map_err(bind_error)?;
        let name = Some(definition.name.to_string());
        // It has no schema, and so no owner from whom permissions could be had: to them it is a batch.
        let mut code = compile(Arc::new(program), name, 0);
        code.runs_as = match definition.kind {
            ModuleKind::ServerTrigger => RunsAs::of_server(&create.options),
            _ => RunsAs::of(&create.options),
        };
        let code = SessionPlan::alone(code);
        let version = definition.version;
        let cached = CachedProcedure { version, code: code.clone(), state: None };
        self.programs.procedures.insert(key, cached);
        let learnt = CodeState::new(&code);
        Ok((code, learnt))
    }

    /// Where its compiled form is kept: what belongs to the server is bound in each database, under ids that no object of
    /// it has.
    fn key_of(&self, definition: &ProcedureDef) -> ProcedureKey {
        let id = match definition.kind {
            ModuleKind::ServerTrigger => i32::MIN + definition.object_id,
            _ => definition.object_id,
        };
        procedure_key(self.state, id)
    }

    /// Runs something with `master` as the database of the session, which has no transaction open.
    fn in_master<R>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<R, Halted>,
    ) -> Result<R, Halted> {
        let own = self.state.database.clone();
        if let Some(master) = self.host.database("master") {
            self.commands().use_database(master);
            self.state.follow_identity(&*self.host);
        }
        let result = f(self);
        self.commands().use_database(own);
        self.state.follow_identity(&*self.host);
        result
    }
}
