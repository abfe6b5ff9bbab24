//! User-defined functions, run in the middle of a statement.
//!
//! A function runs in the statement's own transaction, which is lent to it for as long as it runs: its reads are
//! statements inside that statement. Promises: it changes nothing but its own table variables; what goes wrong in it
//! goes wrong in the statement that called it, and whatever it told is not heard; the 33rd level of nesting is 217.

use crate::activation::Role;
use crate::arguments::bind_arguments;
use crate::programs::Programs;
use crate::vm::Vm;
use catalog::{ModuleKind, ObjectRef, Place, ProcedureDef};
use commands::Argument;
use executor::{ColumnMeta, Done, ResultSink, SqlError, SqlMessage};
use ir::ObjectName;
use ir::ProgramResult;
use runtime::task::Many;
use session_state::Halt;
use session_state::{Host, SessionState, module_by_id};
use types::{SqlType, Value};

/// What a function has returned.
pub(crate) enum Returned {
    Scalar(Value),
    Rows(Vec<Vec<Value>>),
}

/// Runs a function for a statement. `txn`: the transaction of the statement, if it has one in hand.
pub(crate) fn run_function(
    programs: &mut Programs,
    state: &mut SessionState,
    host: &mut dyn Host,
    object_id: i32,
    args: &[Value],
    txn: Option<&mut engine::Txn>,
) -> Result<Returned, SqlError> {
    state.check_nesting()?;
    let Some(txn) = txn else { return call(programs, state, host, object_id, args) };
    state.transaction.lend(txn, &state.database, &state.options);
    let result = call(programs, state, host, object_id, args);
    state.transaction.take_back(txn);
    result
}

fn call(
    programs: &mut Programs,
    state: &mut SessionState,
    host: &mut dyn Host,
    object_id: i32,
    args: &[Value],
) -> Result<Returned, SqlError> {
    let catalog = &state.database.catalog;
    let Some(definition) = module_by_id(catalog, state.transaction.scope(), object_id) else {
        return Err(SqlError::new(208, 16, "A function that the statement names is gone."));
    };
    let mut sink = Silence;
    let cancel = state.cancel.clone();
    let mut vm = Vm { state, host, programs, sink: &mut sink, cancel, failed: false };
    vm.function(&definition, args)
}

impl Vm<'_> {
    /// EXEC of a scalar function: its value, and the type of that; none when there is no such function.
    pub fn execute_function(
        &mut self,
        name: &ObjectName,
        args: &[Argument],
    ) -> Result<Option<(Value, SqlType)>, SqlError> {
        let found = self.state.find_object(name.schema.as_deref(), &name.name);
        let Some(ObjectRef::Procedure(definition)) = found else { return Ok(None) };
        if definition.kind != ModuleKind::ScalarFunction {
            return Ok(None);
        }
        if self.state.identity.is_limited() {
            self.commands().check_execute(&definition, 0)?;
        }
        let (code, learnt) = self.procedure(&definition)?;
        self.keep_learnt(&definition, &code, learnt);
        let mut frame = code.template.clone();
        bind_arguments(&code, args, &mut frame, &self.state.options)?;
        let ty = match code.program.result {
            Some(ProgramResult::Scalar { var, .. }) => code.vars[var.0 as usize],
            _ => return Ok(None),
        };
        match self.function(&definition, &frame[..code.params.len()])? {
            Returned::Scalar(value) => Ok(Some((value, ty))),
            Returned::Rows(_) => Ok(None),
        }
    }

    fn function(
        &mut self,
        definition: &ProcedureDef,
        args: &[Value],
    ) -> Result<Returned, SqlError> {
        let (code, mut learnt) = self.procedure(definition)?;
        let strict =
            matches!(code.program.result, Some(ProgramResult::Scalar { strict: true, .. }));
        if strict && args.iter().any(Value::is_null) {
            self.keep_learnt(definition, &code, learnt);
            return Ok(Returned::Scalar(Value::Null));
        }
        // A rule of a table that was bound before the function was altered.
        if args.len() != code.params.len() {
            let text = format!(
                "The function '{}' was altered after the definition that calls it was made.",
                definition.name
            );
            return Err(SqlError::new(8144, 16, text));
        }
        let mut frame = self.programs.take_frame();
        frame.extend_from_slice(&code.template);
        frame[..args.len()].clone_from_slice(args);
        let result = self.activation(&code, Role::Function, |vm| {
            let begun = learnt.meter.call_begins();
            let result = vm.run_activated(&code, &mut learnt, &mut frame, true);
            learnt.meter.call_ended(begun);
            result?;
            Ok(match code.program.result {
                Some(ProgramResult::Scalar { var, .. }) => {
                    Returned::Scalar(std::mem::take(&mut frame[var.0 as usize]))
                }
                Some(ProgramResult::Table(slot)) => {
                    let table = vm.state.transaction.private.get(Place::Variable(slot));
                    // To the end, whether the request is to stop or not.
                    let rows = table.map(|t| t.rows().map(<[Value]>::to_vec).collect::<Many<_>>());
                    Returned::Rows(rows.unwrap_or_default().into_vec())
                }
                None => Returned::Scalar(Value::Null),
            })
        });
        self.keep_learnt(definition, &code, learnt);
        self.programs.give_frame(frame);
        match result {
            Ok(returned) => Ok(returned),
            Err(Halt::Throw(mut error)) => {
                // It is the statement's error, and stands where the statement does.
                (error.line, error.procedure) = (0, None);
                Err(*error)
            }
            Err(Halt::Batch) => Err(executor::cancelled()),
        }
    }
}

/// Where a function's messages go.
pub(crate) struct Silence;

impl ResultSink for Silence {
    fn columns(&mut self, _: &[ColumnMeta]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, _: &SqlMessage) {}
}
