//! What a running statement carries: its variables, its transaction, its clock reading, and the door to the
//! session for everything an expression may ask.
//!
//! Promise: the clock is read once per statement; RAND without a seed is drawn once per statement.

use crate::message::SqlError;
use binder::ir::{FuncId, SysVar, SystemView};
use catalog::TableDef;
use planner::SubPlan;
use session_table::PrivateTables;
use std::sync::atomic::{AtomicBool, Ordering};
use types::{Pattern, Value};

/// What expressions and plans may ask of the session. The interpreter implements it.
pub trait Environment {
    /// `@@NAME`.
    fn system_variable(&mut self, var: SysVar) -> Value;
    /// Functions of the catalog and the session: OBJECT_ID, DB_NAME, ERROR_NUMBER, SCOPE_IDENTITY ...
    fn session_function(&mut self, func: FuncId, args: &[Value]) -> Result<Value, SqlError>;
    /// The rows of a system view in the order of its columns.
    fn view_rows(&mut self, view: &SystemView, args: &[Value])
    -> Result<Vec<Vec<Value>>, SqlError>;
    /// A user's scalar function, run in the statement's transaction.
    fn scalar_function(
        &mut self,
        object_id: i32,
        args: &[Value],
        txn: Option<&mut engine::Txn>,
    ) -> Result<Value, SqlError> {
        let _ = (object_id, args, txn);
        Err(SqlError::unsupported("a user-defined function here"))
    }
    /// The rows of a user's table-valued function, likewise.
    fn function_rows(
        &mut self,
        object_id: i32,
        args: &[Value],
        txn: Option<&mut engine::Txn>,
    ) -> Result<Vec<Vec<Value>>, SqlError> {
        let _ = (object_id, args, txn);
        Err(SqlError::unsupported("a user-defined function here"))
    }
    /// A user-defined function by its name.
    fn function(&self, name: &binder::ObjectName) -> Option<std::sync::Arc<catalog::ProcedureDef>> {
        let _ = name;
        None
    }
    /// ARITHABORT and ANSI_WARNINGS are OFF: what overflows, or is divided by zero, is NULL.
    fn arithmetic_yields_null(&self) -> bool {
        false
    }
    /// ANSI_WARNINGS is OFF: a text too long for its column is cut.
    fn cuts_text(&self) -> bool {
        false
    }
    /// The next value of a table's identity column.
    fn next_identity(&mut self, table: &TableDef) -> Result<i64, SqlError>;
    /// The session's own tables.
    fn private(&mut self) -> &mut PrivateTables;
    /// The current database's name, for messages.
    fn database_name(&self) -> String;
    /// A value was given to an identity column explicitly: its numbers go on past it, and it is the last one given.
    fn note_identity(&mut self, table: &TableDef, value: i64) -> Result<(), SqlError> {
        let _ = (table, value);
        Ok(())
    }
    /// A table of the current database by its object id, as the session sees it.
    fn table(&mut self, object_id: i32) -> Option<std::sync::Arc<TableDef>> {
        let _ = object_id;
        None
    }
    /// A transaction in another database, begun, for reading a table there; an error that asks for a new plan when the
    /// table is no longer what the plan knows. 911, 208.
    fn elsewhere(&mut self, database: &str, table: &TableDef) -> Result<engine::Txn, SqlError> {
        let _ = table;
        Err(SqlError::unsupported(format!("reading of another database ({database})")))
    }
    /// The style of conversions from text to a date that name none: SET DATEFORMAT.
    fn date_style(&self) -> i32 {
        0
    }
    /// SET DATEFIRST.
    fn date_first(&self) -> u8 {
        7
    }
}

/// The rows that a statement has changed, for its triggers.
#[derive(Default)]
pub struct Changed {
    pub inserted: Vec<Vec<Value>>,
    pub deleted: Vec<Vec<Value>>,
    /// The rows are only to be told, not changed: a trigger does something instead.
    pub instead: bool,
}

/// The context of one statement.
pub struct Cx<'a> {
    /// The frame's variables.
    pub vars: &'a mut [Value],
    /// The session.
    pub env: &'a mut dyn Environment,
    /// The transaction the statement reads and writes in; absent for pure expressions.
    pub txn: Option<&'a mut engine::Txn>,
    /// Set by another thread to stop the statement.
    pub cancel: &'a AtomicBool,
    /// The table whose columns a CAST to a stored value names in errors.
    pub table: Option<&'a TableDef>,
    /// SET ROWCOUNT: the plan stops after so many rows.
    pub row_limit: u64,
    /// Where a statement that fires triggers notes what it changes.
    pub changed: Option<&'a mut Changed>,
    /// Subqueries of the running plan.
    pub subplans: &'a [SubPlan],
    /// Correlation parameters of the running plan.
    pub params: Vec<Value>,
    /// Kept results of uncorrelated subqueries, by `SubPlanId`: the first slots of their rows.
    pub(crate) kept: Vec<Option<Vec<Value>>>,
    /// Compiled LIKE patterns, by the address of their expression.
    pub(crate) patterns: Vec<(usize, Pattern)>,
    /// Bytes held by sorts and hash tables of this statement.
    pub(crate) held_bytes: usize,
    now_unix_ns: u64,
    rand: Option<f64>,
}

/// The most a statement may hold in sorts and hash tables, in bytes.
pub const MEMORY_BYTES_MAX: usize = 2 << 30;

impl<'a> Cx<'a> {
    /// A context without plan: for expressions of the interpreter.
    pub fn new(
        vars: &'a mut [Value],
        env: &'a mut dyn Environment,
        txn: Option<&'a mut engine::Txn>,
        cancel: &'a AtomicBool,
    ) -> Cx<'a> {
        Cx {
            vars,
            env,
            txn,
            cancel,
            table: None,
            row_limit: u64::MAX,
            changed: None,
            subplans: &[],
            params: Vec::new(),
            kept: Vec::new(),
            patterns: Vec::new(),
            held_bytes: 0,
            now_unix_ns: 0,
            rand: None,
        }
    }

    /// The same context for as long as this borrow lasts: a plan that lives shorter than the context may be set in it.
    /// The clock's reading goes along if there is one, kept subqueries do not.
    pub fn reborrow(&mut self) -> Cx<'_> {
        let now_unix_ns = self.now_unix_ns;
        let mut cx = Cx::new(self.vars, self.env, self.txn.as_deref_mut(), self.cancel);
        cx.table = self.table;
        cx.row_limit = self.row_limit;
        cx.changed = self.changed.as_deref_mut();
        cx.held_bytes = self.held_bytes;
        cx.now_unix_ns = now_unix_ns;
        cx.rand = self.rand;
        cx
    }

    /// Takes over the subqueries and parameters of a plan.
    pub fn set_plan(&mut self, subplans: &'a [SubPlan], param_count: usize) {
        self.subplans = subplans;
        self.params.clear();
        self.params.resize(param_count, Value::Null);
        self.kept.clear();
        self.kept.resize(subplans.len(), None);
    }

    /// The statement's UTC time in ns since 1970; read at the first call.
    pub fn now_unix_ns(&mut self) -> u64 {
        if self.now_unix_ns == 0 {
            self.now_unix_ns = runtime::clock::unix_ns();
        }
        self.now_unix_ns
    }

    /// RAND() of this statement.
    pub(crate) fn rand(&mut self) -> f64 {
        *self
            .rand
            .get_or_insert_with(|| (runtime::random::next_u64() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Yields past the quantum and stops a cancelled statement; called once per batch of rows.
    pub(crate) fn breathe(&self) -> Result<(), SqlError> {
        runtime::task::maybe_yield();
        if self.cancel.load(Ordering::Relaxed) { Err(cancelled()) } else { Ok(()) }
    }

    /// Notes a changed row for triggers. True: nothing else is to be done.
    pub(crate) fn note_changed(
        &mut self,
        inserted: Option<&[Value]>,
        deleted: Option<Vec<Value>>,
    ) -> Result<bool, SqlError> {
        if self.changed.is_none() {
            return Ok(false);
        }
        self.hold(inserted.map_or(0, row_bytes) + deleted.as_deref().map_or(0, row_bytes))?;
        let Some(changed) = &mut self.changed else { return Ok(false) };
        changed.inserted.extend(inserted.map(<[Value]>::to_vec));
        changed.deleted.extend(deleted);
        Ok(changed.instead)
    }

    /// Is the change only to be told to a trigger?
    pub(crate) fn is_instead(&self) -> bool {
        self.changed.as_ref().is_some_and(|changed| changed.instead)
    }

    /// Counts memory held by a sort or hash table; 701 past the bound.
    pub(crate) fn hold(&mut self, bytes: usize) -> Result<(), SqlError> {
        self.held_bytes += bytes;
        if self.held_bytes > MEMORY_BYTES_MAX {
            return Err(SqlError::new(
                701,
                17,
                "There is insufficient system memory in resource pool 'default' to run this query.",
            ));
        }
        Ok(())
    }

    /// What was counted by [`Cx::hold`] is let go.
    pub(crate) fn release(&mut self, bytes: usize) {
        self.held_bytes = self.held_bytes.saturating_sub(bytes);
    }
}

/// The number of [`cancelled`]. It is never told to a client.
pub const CANCELLED: i32 = 3617;

/// The error of a batch stopped from outside.
pub fn cancelled() -> SqlError {
    SqlError::new(CANCELLED, 16, "The query was canceled by the user.")
        .with_reach(crate::message::Reach::Scope)
}

/// Texts and binaries up to this length live inside their value.
const INLINE_BYTES: usize = 22;

/// Memory of a row of values held, in bytes.
pub(crate) fn row_bytes(row: &[Value]) -> usize {
    let mut bytes = size_of_val(row) + 24;
    for value in row {
        bytes += match value {
            Value::Str(text) if text.as_bytes().len() > INLINE_BYTES => text.as_bytes().len(),
            Value::Binary(b) if b.len() > INLINE_BYTES => b.len(),
            _ => 0,
        };
    }
    bytes
}
