//! 'disallow results from triggers': no client sees a result set of a trigger.
//!
//! Promise: a query or FETCH that would send rows is 524 before it begins ([`Vm::check_sends`]); whatever else sends some
//! (OUTPUT, a procedure of the system's) is kept from the client, and 524 when the trigger ends.

use crate::vm::Vm;
use executor::{ColumnMeta, Done, EnvironmentChange, Reach, ResultSink, SqlError, SqlMessage};
use types::{SqlType, StoredCells, Value};

impl Vm<'_> {
    /// 524 for a statement that is about to send rows to the client, where a trigger that may not is running.
    #[inline]
    pub(crate) fn check_sends(&self) -> Result<(), SqlError> {
        let refused = self.state.triggers.last().is_some_and(|t| t.without_results);
        // What INSERT ... EXEC gathers goes to no client.
        if refused && !self.state.gathering { Err(refusal()) } else { Ok(()) }
    }
}

/// Stands between a trigger and the client.
pub(super) struct NoResults<'a> {
    to: &'a mut dyn ResultSink,
    /// There was a result set.
    tried: bool,
    /// It has not ended.
    open: bool,
}

impl<'a> NoResults<'a> {
    pub fn new(to: &'a mut dyn ResultSink) -> NoResults<'a> {
        NoResults { to, tried: false, open: false }
    }

    /// The trigger has ended; what it did goes, and the batch ends, as where one of its statements fails.
    pub fn end(self) -> Result<(), SqlError> {
        if self.tried { Err(refusal().with_reach(Reach::Batch)) } else { Ok(()) }
    }
}

fn refusal() -> SqlError {
    let text = "A trigger returned a resultset and the server option 'disallow results from triggers' is true.";
    SqlError::new(524, 16, text)
}

impl ResultSink for NoResults<'_> {
    fn columns(&mut self, _: &[ColumnMeta]) {
        (self.tried, self.open) = (true, true);
    }

    fn row(&mut self, _: &[Value]) {}

    fn stored(&mut self, _: &dyn StoredCells) {}

    fn done(&mut self, done: Done) {
        // The end of a result set is nothing to a client that has not seen its beginning.
        if !std::mem::take(&mut self.open) {
            self.to.done(done);
        }
    }

    fn message(&mut self, message: &SqlMessage) {
        self.to.message(message);
    }

    fn return_status(&mut self, status: i32) {
        self.to.return_status(status);
    }

    fn output(&mut self, ordinal: u16, name: &str, ty: SqlType, value: &Value) {
        self.to.output(ordinal, name, ty, value);
    }

    fn procedure_done(&mut self, status: i32) {
        self.to.procedure_done(status);
    }

    fn environment(&mut self, change: EnvironmentChange<'_>) {
        self.to.environment(change);
    }
}
