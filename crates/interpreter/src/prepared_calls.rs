//! sp_prepare, sp_execute, sp_prepexec and sp_unprepare called by EXEC: with the handles that a client's calls have.
//!
//! Promise: a handle of either is one of the other. Arguments go by position, whatever they are called.
//!
//! Source: the documentation of these procedures.

use crate::cache::Prepared;
use crate::call::no_handle;
use crate::code::Code;
use crate::vm::Vm;
use commands::Argument;
use executor::SqlError;
use session_state::Halted;
use types::{SqlType, Value, convert};

impl Vm<'_> {
    /// One of the four procedures, by its name. 8179.
    pub(crate) fn prepared_call(
        &mut self,
        name: &str,
        args: &[Argument],
        caller: &Code,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<i32, Halted> {
        let value = |i: usize| args.get(i).and_then(|arg| arg.value.as_ref());
        let text = |i: usize| value(i).and_then(Value::as_str).unwrap_or("");
        let number = |i: usize| value(i).and_then(Value::as_i64).unwrap_or(0) as i32;
        Ok(match name {
            "sp_prepare" => {
                let handle = self.prepare(text(2), text(1))?;
                give_handle(handle, args, caller, frame)?;
                0
            }
            "sp_prepexec" => {
                self.programs.texts.release(number(0));
                let handle = self.prepare(text(2), text(1))?;
                give_handle(handle, args, caller, frame)?;
                self.execute_handle(handle, args.get(3..), caller, frame, guarded)?
            }
            "sp_execute" => {
                self.execute_handle(number(0), args.get(1..), caller, frame, guarded)?
            }
            // sp_unprepare
            _ => match self.programs.texts.release(number(0)) {
                true => 0,
                false => return Err(no_handle(number(0)).into()),
            },
        })
    }

    fn execute_handle(
        &mut self,
        handle: i32,
        args: Option<&[Argument]>,
        caller: &Code,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<i32, Halted> {
        let Some(Prepared::Text(slot)) = self.programs.texts.prepared(handle) else {
            return Err(no_handle(handle).into());
        };
        let slot = *slot;
        let (slot, code, learnt) = self.programs.texts.take(slot);
        let (kept, args) = (code.clone(), args.unwrap_or_default());
        self.run_procedure(&code, learnt, args, caller, frame, guarded, |vm, learnt| {
            vm.programs.texts.give(Some(slot), &kept, learnt);
        })?;
        Ok(self.state.error)
    }
}

/// The handle goes to the variable of the first argument.
fn give_handle(
    handle: i32,
    args: &[Argument],
    caller: &Code,
    frame: &mut [Value],
) -> Result<(), SqlError> {
    give(args.first(), (SqlType::Int, &Value::Int(handle)), caller, frame)
}

/// What comes out of an argument goes to its variable, if it has one.
pub(crate) fn give(
    arg: Option<&Argument>,
    (ty, value): (SqlType, &Value),
    caller: &Code,
    frame: &mut [Value],
) -> Result<(), SqlError> {
    if let Some(var) = arg.and_then(|arg| arg.output) {
        let to = caller.vars[var as usize];
        frame[var as usize] = convert::cast(value, ty, to, 0)?;
    }
    Ok(())
}
