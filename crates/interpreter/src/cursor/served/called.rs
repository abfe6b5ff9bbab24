//! The same procedures called by EXEC: with the handles that a client's calls have.
//!
//! Promise: a handle of either is one of the other. Arguments go by position, whatever they are called; their names are
//! columns to sp_cursor, and parameters of the text to those that open a cursor. Values that come out go to the caller's
//! variables when the procedure has come to its end.

use crate::code::Code;
use crate::prepared_calls::give;
use crate::rpc::{RpcParam, RpcValue};
use crate::vm::Vm;
use commands::Argument;
use executor::{ColumnMeta, Done, EnvironmentChange, ResultSink, SqlMessage};
use session_state::Halted;
use types::{SqlType, Value};

/// Stands between the procedure and its caller's sink, and keeps what is the caller's to know.
struct Through<'a> {
    to: &'a mut dyn ResultSink,
    /// Places of arguments, and what comes out of them.
    given: Vec<(usize, SqlType, Value)>,
}

impl Vm<'_> {
    /// One of the procedures, by its name.
    pub(crate) fn cursor_call(
        &mut self,
        name: &str,
        args: &[Argument],
        caller: &Code,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<i32, Halted> {
        let params: Vec<RpcParam> = args.iter().map(as_sent).collect();
        let (apart, to) = self.apart();
        let mut through = Through { to, given: Vec::new() };
        let status = apart.run(&mut through, |vm| vm.server_cursor(name, &params, guarded))?;
        for (at, ty, value) in through.given {
            give(args.get(at), (ty, &value), caller, frame)?;
        }
        Ok(status)
    }
}

fn as_sent(arg: &Argument) -> RpcParam {
    RpcParam {
        name: arg.name.as_deref().map(Into::into),
        output: arg.output.is_some(),
        default: arg.value.is_none(),
        ty: arg.ty,
        value: RpcValue::Scalar(arg.value.clone().unwrap_or_default()),
    }
}

impl ResultSink for Through<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.to.columns(columns);
    }

    fn row(&mut self, row: &[Value]) {
        self.to.row(row);
    }

    fn done(&mut self, done: Done) {
        self.to.done(done);
    }

    fn message(&mut self, message: &SqlMessage) {
        self.to.message(message);
    }

    // The status is what the call gives, and EXEC tells it.
    fn return_status(&mut self, _status: i32) {}

    fn output(&mut self, ordinal: u16, _name: &str, ty: SqlType, value: &Value) {
        self.given.push((usize::from(ordinal), ty, value.clone()));
    }

    fn environment(&mut self, change: EnvironmentChange<'_>) {
        self.to.environment(change);
    }
}
