//! The one way in and out of a program that another one calls: procedure, function, trigger, text of EXEC or of a call.
//!
//! Promise: whatever way the program ends, its caller finds what was: the level of nesting, @@PROCID, SCOPE_IDENTITY(),
//! SET options and IDENTITY_INSERT, the principal that acts, the current database; the program's table variables, temporary tables and local
//! cursors are gone. Of a function the caller's @@ROWCOUNT and @@ERROR stay, too. Nothing else changes `nesting` within a
//! request. What a session has compiled is found by the options that give texts their meaning (`programs.rs`), so those may
//! come and go.
//!
//! See also: PostgreSQL's `NewGUCNestLevel` and `AtEOXact_GUC` (guc.c), which do the same for its settings.

use crate::code::Code;
use crate::plan::CodeState;
use crate::vm::Vm;
use executor::SqlError;
use session_state::Depth;
use session_state::Halt;
use session_state::OpenDatabase;
use session_state::SetOptions;
use std::sync::Arc;
use types::{SqlType, Value};

/// What a program is to whoever calls it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A procedure, or the parameterised text of sp_executesql.
    Procedure,
    /// A scalar or table-valued function: it changes no option, and its statements are not its caller's.
    Function,
    /// A trigger; its object id, for it may be the server's.
    Trigger(i32),
    /// EXEC ('text'): @@PROCID stays its caller's, and REVERT reaches what the caller began.
    Text,
}

/// What the caller gets back.
struct Caller {
    tables: usize,
    procedure_id: i32,
    scope_identity: Option<i64>,
    acting: Depth,
    /// Absent where the program cannot change them.
    options: Option<SetOptions>,
    /// SET IDENTITY_INSERT.
    identity_insert: Option<session_state::IdentityInsert>,
    database: Option<Arc<OpenDatabase>>,
    /// @@ROWCOUNT and @@ERROR, of a function.
    figures: Option<(i64, i32)>,
    /// What the statement that calls has to warn of so far.
    warnings: executor::Warnings,
}

impl Vm<'_> {
    /// Runs `body` one level deeper; 217 when that is too deep.
    pub(crate) fn activation<R>(
        &mut self,
        code: &Code,
        role: Role,
        body: impl FnOnce(&mut Self) -> Result<R, Halt>,
    ) -> Result<R, Halt> {
        self.check_nesting().map_err(|error| Halt::Throw(Box::new(error)))?;
        let caller = self.enter_program(code, role);
        let result = body(self);
        self.leave_program(caller);
        result
    }

    /// Runs a program that [`Vm::activation`] has entered, as the principal that its EXECUTE AS names.
    pub(crate) fn run_activated(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<i32, Halt> {
        let allowed = self
            .act_as_module(code)
            .and_then(|()| self.check_table_types(code))
            .and_then(|()| self.check_returns(code));
        allowed.map_err(|error| Halt::Throw(Box::new(error)))?;
        self.run(code, learnt, frame, guarded)
    }

    /// A module with EXECUTE AS begins: its principal acts from here on. 15517 when there is none any more.
    #[inline]
    fn act_as_module(&mut self, code: &Code) -> Result<(), SqlError> {
        match &code.runs_as {
            None => Ok(()),
            Some(runs_as) => self.commands().act_as(runs_as, code.object_id),
        }
    }

    /// EXECUTE of the table types of a program's variables.
    #[inline]
    pub(crate) fn check_table_types(&mut self, code: &Code) -> Result<(), SqlError> {
        if !self.state.identity.is_limited() {
            return Ok(());
        }
        if code.vars.iter().any(|ty| matches!(ty, SqlType::TypedXml { .. })) {
            self.commands().check_typed(&code.vars, code.object_id)?;
        }
        if code.tables.is_empty() {
            return Ok(());
        }
        let types: Vec<i32> = code.program.tables.iter().filter_map(|t| t.of_type).collect();
        self.commands().check_types(&types, code.object_id)
    }

    /// What the subqueries of a program's RETURN statements need: they run as expressions, not as statements.
    #[inline]
    fn check_returns(&mut self, code: &Code) -> Result<(), SqlError> {
        if code.returns.is_empty() || !self.state.identity.is_limited() {
            return Ok(());
        }
        code.returns.iter().try_for_each(|expr| {
            self.commands().check_expr(expr, code.object_id)?;
            self.commands().check_unmasked(expr)
        })
    }

    /// 217 at the level below which nothing may be called.
    #[inline]
    pub(crate) fn check_nesting(&self) -> Result<(), SqlError> {
        self.state.check_nesting()
    }

    /// Runs something that is no program, but stands one level deeper: a system procedure.
    pub(crate) fn one_level_deeper<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        self.state.nesting += 1;
        let result = body(self);
        self.state.nesting -= 1;
        result
    }

    fn enter_program(&mut self, code: &Code, role: Role) -> Caller {
        let state = &mut *self.state;
        state.nesting += 1;
        let is_function = role == Role::Function;
        if is_function {
            state.functions += 1;
        }
        let own_id = match role {
            Role::Trigger(object_id) => object_id,
            Role::Text => state.procedure_id,
            Role::Procedure | Role::Function => code.object_id,
        };
        let acting = match role {
            Role::Text => state.identity.depth(),
            _ => state.identity.enter_module(),
        };
        Caller {
            procedure_id: std::mem::replace(&mut state.procedure_id, own_id),
            scope_identity: state.scope_identity.take(),
            acting,
            identity_insert: state.identity_insert.clone(),
            options: (!is_function).then(|| state.options.clone()),
            database: code.changes_database.then(|| state.database.clone()),
            figures: is_function.then_some((state.rowcount, state.error)),
            warnings: std::mem::take(&mut self.state.warnings),
            tables: self.open_tables(code),
        }
    }

    fn leave_program(&mut self, caller: Caller) {
        self.state.revert_to(&*self.host, caller.acting);
        self.state.scope_identity = caller.scope_identity;
        self.state.procedure_id = caller.procedure_id;
        self.state.identity_insert = caller.identity_insert;
        if let Some(options) = caller.options {
            self.state.options = options;
        }
        if let Some((rowcount, error)) = caller.figures {
            self.state.functions -= 1;
            (self.state.rowcount, self.state.error) = (rowcount, error);
        }
        self.state.nesting -= 1;
        self.state.warnings = caller.warnings;
        self.close_tables(caller.tables);
        // USE inside lasts no longer than the text.
        if let Some(database) = caller.database {
            self.commands().use_database(database);
        }
    }
}
