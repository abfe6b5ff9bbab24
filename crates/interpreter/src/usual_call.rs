//! The usual call: EXEC of a procedure that the same statement has found before, with scalars alone.
//!
//! Promise: does what `exec.rs` does for every call, in the same order, and allocates nothing: arguments go from the
//! caller's frame into the callee's, which is kept from the procedure's last call, and no reference is counted that sessions
//! share. Whatever is not usual ([`places`]: a table, a cursor, DEFAULT, a parameter that is missing, named twice, or asked for
//! what it does not give) is left to `exec.rs`, which has the errors.

use crate::arguments::{as_argument, default_of};
use crate::code::Code;
use crate::plan::{Body, Called, CodeState, Places};
use crate::plan_cache::SessionPlan;
use crate::system_calls::may_be_system;
use crate::vm::Vm;
use executor::SqlError;
use ir::ObjectName;
use ir::{Exec, ExecArg, ExprKind, ProcParam, ProcRef, StmtKind};
use session_state::{Halted, Tag};
use smallvec::SmallVec;
use types::{SqlType, Value};

impl Vm<'_> {
    /// EXEC as a statement, where it is a usual call: what stands around every other statement has nothing to do here.
    /// False, and nothing was done: it is not that, or not planned under the names of now.
    #[inline]
    pub(crate) fn call_again(
        &mut self,
        code: &Code,
        learnt: &mut CodeState,
        index: usize,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<bool, Halted> {
        let Some(planned) = learnt.statements[index].as_deref() else { return Ok(false) };
        let Body::Other(StmtKind::Exec(exec)) = &planned.body else { return Ok(false) };
        let ProcRef::Name(name) = &exec.procedure else { return Ok(false) };
        let options = &self.state.options;
        if options.fmtonly
            || options.noexec
            || !options.telling.is_none()
            || self.state.functions > 0
            || exec.result_sets.is_some()
            || planned.private.is_some()
            || planned.version != self.state.names_version()
        {
            return Ok(false);
        }
        let state = &*self.state;
        state.activity.statement(Tag::Execute, state.nesting, state.transaction.count);
        match self.execute_usual(exec, name, code, frame, guarded, &planned.called) {
            None => Ok(false),
            Some(Err(Halted::Error(error))) if error.stale => {
                learnt.statements[index] = None;
                Ok(false)
            }
            Some(ended) => ended.map(|()| true),
        }
    }

    /// EXEC, where it is a usual call; none, and nothing was done, where it is not.
    pub(crate) fn execute_usual(
        &mut self,
        exec: &Exec,
        name: &ObjectName,
        code: &Code,
        frame: &mut [Value],
        guarded: bool,
        called: &Called,
    ) -> Option<Result<(), Halted>> {
        let definition = called.get(&self.state.names_version())?;
        if self.state.identity.is_limited()
            && let Err(error) = self.commands().check_execute(definition, code.object_id)
        {
            return Some(Err(error.into()));
        }
        let trancount = self.state.trancount();
        let known = self.programs.known_procedure(self.state, definition)?;
        let places = called.places(|| {
            let is_local = name.database.is_none() && !may_be_system(name);
            is_local.then(|| places(&exec.args, &known.code.params)).flatten()
        })?;
        let (callee, mut learnt) = known.take();
        let ended = self.run_usual(exec, places, &callee, &mut learnt, code, frame, guarded);
        self.keep_learnt(definition, &callee, learnt);
        Some(ended.and_then(|status| {
            self.procedure_returns(exec, code, frame, status)?;
            self.check_trancount(trancount, Some(&definition.name))
        }))
    }

    #[allow(clippy::too_many_arguments, reason = "a call has a caller, a callee, and arguments")]
    fn run_usual(
        &mut self,
        exec: &Exec,
        places: &[Option<u16>],
        code: &SessionPlan,
        learnt: &mut CodeState,
        caller: &Code,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<i32, Halted> {
        self.check_nesting()?;
        let mut callee = learnt.take_frame(&code.template, || self.programs.take_frame());
        for (i, (param, place)) in code.params.iter().zip(places).enumerate() {
            let arg = place.map(|place| &exec.args[usize::from(place)]);
            callee[i] = match (arg.and_then(|arg| arg.value.as_ref()), &param.default) {
                (Some(expr), _) => {
                    let evaluated;
                    let value = match &expr.kind {
                        ExprKind::Var(var) => &frame[var.0 as usize],
                        ExprKind::Const(value) => value,
                        _ => {
                            evaluated = self.with_cx(frame, |cx| executor::eval(expr, &[], cx))?;
                            &evaluated
                        }
                    };
                    match same(value, param.ty) {
                        Some(value) => value,
                        None => as_argument(value, expr.ty, param.ty, code, &self.state.options)
                            .map_err(|e| SqlError::from(e).of_call(code.name.as_deref()))?,
                    }
                }
                (None, Some(value)) => default_of(value, param, code, &self.state.options)?,
                (None, None) => stdx::fatal!("a usual call without a parameter"),
            };
        }
        let nothing = |_: &mut Self| {};
        let status = self.run_bound(code, learnt, &mut callee, guarded, nothing, nothing)?;
        for (i, (param, place)) in code.params.iter().zip(places).enumerate() {
            let Some(arg) = place.map(|place| &exec.args[usize::from(place)]) else { continue };
            if let (Some(var), true) = (arg.output, param.output) {
                let var = var.0 as usize;
                let (value, to) = (&callee[i], caller.vars[var]);
                frame[var] = match same(value, to) {
                    Some(value) => value,
                    None => self.state.options.cast_by(caller.program.rule, value, param.ty, to)?,
                };
            }
        }
        if let Some(frame) = learnt.keep_frame(&code.template, callee) {
            self.programs.give_frame(frame);
        }
        Ok(status)
    }
}

/// A whole number for a variable of its own type.
#[inline]
fn same(value: &Value, to: SqlType) -> Option<Value> {
    match (value, to) {
        (Value::Int(n), SqlType::Int) => Some(Value::Int(*n)),
        (Value::BigInt(n), SqlType::BigInt) => Some(Value::BigInt(*n)),
        _ => None,
    }
}

/// Where the arguments of a usual call go.
#[inline]
fn places(args: &[ExecArg], params: &[ProcParam]) -> Option<Places> {
    let mut places: Places = SmallVec::from_elem(None, params.len());
    for (i, arg) in args.iter().enumerate() {
        if arg.value.is_none() || arg.table.is_some() || arg.cursor.is_some() {
            return None;
        }
        let place = match &arg.name {
            None => i,
            Some(name) => params.iter().position(|p| p.name.eq_ignore_ascii_case(name))?,
        };
        let free = places.get_mut(place).filter(|place| place.is_none())?;
        *free = Some(i as u16);
    }
    let is_usual = |(param, place): (&ProcParam, &Option<u16>)| {
        param.table.is_none()
            && param.cursor.is_none()
            && match place {
                Some(place) => param.output || args[usize::from(*place)].output.is_none(),
                None => param.default.is_some(),
            }
    };
    params.iter().zip(&places).all(is_usual).then_some(places)
}
