//! What a session asks of whoever runs its programs: a function in the middle of an expression, a text in the middle of a
//! command, where its cursors stand.
//!
//! Promise: nothing above this trait's words shows that there is bytecode; statements without a plan and expressions are
//! built without it.

use crate::host::Host;
use crate::state::SessionState;
use executor::{ResultSink, SqlError};
use ir::CursorRef;
use types::{TypeError, Value};

/// Why a program did not run to its end.
pub enum Halt {
    /// On its way to a caller's CATCH.
    Throw(Box<SqlError>),
    /// Told already; the batch is over.
    Batch,
}

/// An error, or the end of the batch inside a nested call.
pub enum Halted {
    Error(SqlError),
    Batch,
}

impl From<SqlError> for Halted {
    fn from(error: SqlError) -> Halted {
        Halted::Error(error)
    }
}

impl From<TypeError> for Halted {
    fn from(error: TypeError) -> Halted {
        Halted::Error(error.into())
    }
}

impl From<Halt> for Halted {
    fn from(halt: Halt) -> Halted {
        match halt {
            Halt::Throw(error) => Halted::Error(*error),
            Halt::Batch => Halted::Batch,
        }
    }
}

impl From<Halted> for Halt {
    fn from(halted: Halted) -> Halt {
        match halted {
            Halted::Error(error) => Halt::Throw(Box::new(error)),
            Halted::Batch => Halt::Batch,
        }
    }
}

/// The session in which a text is to run, and where its answers go.
pub struct Caller<'a> {
    pub state: &'a mut SessionState,
    pub host: &'a mut dyn Host,
    pub sink: &'a mut dyn ResultSink,
    /// Becomes true when an error of severity 11 or more is told.
    pub failed: &'a mut bool,
}

/// Which plans are to leave the cache.
#[derive(Clone, Copy)]
pub enum EvictedPlans<'a> {
    All,
    /// Those of a database.
    Of(u16),
    /// The plan, or those of the text, that a handle names in hexadecimal digits.
    Handle(&'a str),
    /// The plan of a database that its handle names.
    PlanOf(u16, &'a str),
}

/// Runs a session's programs, and keeps what it has compiled.
pub trait Machine {
    /// A scalar function's value. `txn`: the transaction of the statement, if it has one in hand.
    fn scalar_function(
        &mut self,
        state: &mut SessionState,
        host: &mut dyn Host,
        object_id: i32,
        args: &[Value],
        txn: Option<&mut engine::Txn>,
    ) -> Result<Value, SqlError>;
    /// The rows of a table-valued function.
    fn function_rows(
        &mut self,
        state: &mut SessionState,
        host: &mut dyn Host,
        object_id: i32,
        args: &[Value],
        txn: Option<&mut engine::Txn>,
    ) -> Result<Vec<Vec<Value>>, SqlError>;
    /// sys.dm_exec_describe_first_result_set of a text and its declarations.
    fn described_rows(
        &mut self,
        state: &mut SessionState,
        host: &mut dyn Host,
        text: &str,
        declarations: &str,
    ) -> Vec<Vec<Value>>;
    /// Runs a text as EXEC (text) does: a batch of its own, whose errors are the statement's.
    fn run_text(&mut self, caller: Caller<'_>, text: &str, guarded: bool) -> Result<(), Halted>;
    /// Runs a text of our own for the value that its first variable has in the end.
    fn value_of_text(
        &mut self,
        caller: Caller<'_>,
        text: &str,
        guarded: bool,
    ) -> Result<Value, Halted>;
    /// Runs a statement that is a part of another one (CREATE SCHEMA); its errors are that one's.
    fn run_part(&mut self, caller: Caller<'_>, text: &str) -> Result<(), SqlError>;
    /// The names of the columns that a query gives; none when it does not bind.
    fn columns_of_query(&mut self, caller: Caller<'_>, text: &str) -> Vec<String>;
    /// @@FETCH_STATUS
    fn fetch_status(&self) -> i32;
    /// @@CURSOR_ROWS
    fn cursor_rows(&self) -> i32;
    /// CURSOR_STATUS; `slot` is that of the variable, if it is one.
    fn cursor_status(&self, kind: &str, name: &str, slot: Option<u16>) -> i16;
    /// WHERE CURRENT OF: a part of the key of the row in `table`, or its locator for part -1.
    fn current_row(&self, cursor: &CursorRef, table: i32, part: i32) -> Result<Value, SqlError>;
    /// Whether that row's columns are as they were fetched; always, where the cursor does not mind.
    fn current_is_same(
        &self,
        cursor: &CursorRef,
        table: i32,
        columns: &[Value],
    ) -> Result<bool, SqlError>;
    /// 16932 where the cursor is FOR UPDATE OF other columns than these.
    fn current_may_change(&self, cursor: &CursorRef, columns: &[Value]) -> Result<(), SqlError>;
    /// What was compiled under options that give texts another meaning is looked for anew.
    fn forget_procedures(&mut self);
    /// The session has left its database: nothing compiled there is of use.
    fn forget_database(&mut self);
    /// Throws plans out of the cache; how many.
    fn evict_plans(&mut self, which: EvictedPlans<'_>) -> usize;
}
