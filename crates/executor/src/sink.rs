//! Where results go: columns, rows, row counts and messages, in the order in which they arise.
//!
//! Promise: for each result set `columns` comes first, then its rows, then `done`; messages may fall
//! anywhere between. A statement without a result set calls `done` alone, and not at all under NOCOUNT. A statement
//! that failed calls `message`, then `done` with `failed` (a result set it had begun ends there too).
//! What only keeps variables or the flow of control calls nothing. After a procedure: `return_status`, then `output`
//! for each parameter that goes back, then `procedure_done`.
//!
//! Changes of the environment are told when they settle, those of the transaction at the end of the request: a sink
//! that holds the last `done` back writes the change before it.

use crate::message::SqlMessage;
use std::sync::Arc;
use types::{SqlType, StoredCells, Value};

/// One column of a result set.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnMeta {
    /// Of a text.
    pub collation: types::Collation,
    /// Its name; empty for an expression without an alias.
    pub name: String,
    /// Its type, with length, precision and scale.
    pub ty: SqlType,
    /// Whether NULL may occur.
    pub nullable: bool,
    /// It is a table's identity column.
    pub identity: bool,
    /// It is a table's column and may be written.
    pub updatable: bool,
    /// It is part of the row's key (told under SET FMTONLY and in browse mode only).
    pub key: bool,
    /// It was added by the server (browse mode) and is not to be shown.
    pub hidden: bool,
    /// The column of a table behind it, where more is told of that than its type.
    pub base: Option<Arc<ir::BaseColumn>>,
}

impl ColumnMeta {
    /// A computed column.
    pub fn new(name: impl Into<String>, ty: SqlType, nullable: bool) -> ColumnMeta {
        ColumnMeta {
            collation: types::Collation::default(),
            name: name.into(),
            ty,
            nullable,
            identity: false,
            updatable: false,
            key: false,
            hidden: false,
            base: None,
        }
    }
}

/// The kind of a statement, as DONE's `CurCmd` names it (values as in MS-TDS' DONE token and Microsoft's JDBC driver).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u16)]
pub enum Command {
    /// Nothing that has a number of its own.
    #[default]
    Other = 0,
    AddConstraint = 0x2e,
    Deny = 0x99,
    DropSchema = 0xb0,
    CreateFunction = 0xb2,
    DropFunction = 0xb3,
    Select = 0xc1,
    SelectInto = 0xc2,
    Insert = 0xc3,
    Delete = 0xc4,
    Update = 0xc5,
    CreateTable = 0xc6,
    DropTable = 0xc7,
    CreateIndex = 0xc8,
    DropIndex = 0xc9,
    CreateDatabase = 0xcb,
    DropDatabase = 0xcc,
    Grant = 0xcd,
    Revoke = 0xce,
    CreateView = 0xcf,
    DropView = 0xd0,
    Rollback = 0xd2,
    BeginTransaction = 0xd4,
    Commit = 0xd5,
    AlterDatabase = 0xd7,
    AlterTable = 0xd8,
    CreateTrigger = 0xdd,
    CreateProcedure = 0xde,
    DropProcedure = 0xdf,
    Execute = 0xe0,
    DropTrigger = 0xe1,
    Use = 0xe2,
    Dbcc = 0xe6,
    BulkInsert = 0xf0,
    Set = 0xf9,
    DropStatistics = 0x100,
    DropType = 0x110,
    CreateType = 0x111,
    Merge = 0x117,
    CreateUser = 0x13b,
    AlterUser = 0x13c,
    DropUser = 0x13d,
    CreateRole = 0x13f,
    AlterRole = 0x140,
    DropRole = 0x141,
    CreateLogin = 0x145,
    AlterLogin = 0x146,
    DropLogin = 0x147,
    CreateSynonym = 0x148,
    DropSynonym = 0x149,
    CreateSchema = 0x14a,
    AlterSchema = 0x14b,
    AlterIndex = 0x151,
    AlterAuthorization = 0x18c,
}

/// The end of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    /// Its row count; `None` under NOCOUNT, or where it has none.
    pub rows: Option<u64>,
    /// Its kind.
    pub command: Command,
    /// It stands in a procedure (DONEINPROC on the wire).
    pub in_procedure: bool,
    /// It failed; its error has been told.
    pub failed: bool,
}

impl Done {
    /// The end of a statement of a batch that did not fail.
    pub fn new(command: Command, rows: Option<u64>) -> Done {
        Done { rows, command, in_procedure: false, failed: false }
    }
}

/// What a client keeps track of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvironmentChange<'a> {
    /// USE.
    Database { old: &'a str, new: &'a str },
    /// The current database's collation, which is another than that of the one before it.
    Collation { old: types::Collation, new: types::Collation },
    /// SET LANGUAGE.
    Language { old: &'a str, new: &'a str },
    /// A transaction is open at the end of the request that was not at its beginning.
    Begin { transaction: u64 },
    /// The transaction that was open at the beginning was committed.
    Commit { transaction: u64 },
    /// The transaction that was open at the beginning was rolled back.
    Rollback { transaction: u64 },
    /// The session is as a new one (RESETCONNECTION).
    ResetDone,
}

/// Another database is the current one: its name, and its collation where that is another.
pub fn tell_database(
    sink: &mut dyn ResultSink,
    (old, from): (&str, types::Collation),
    (new, to): (&str, types::Collation),
) {
    sink.environment(EnvironmentChange::Database { old, new });
    if from != to {
        sink.environment(EnvironmentChange::Collation { old: from, new: to });
    }
}

/// Receives what a request produces. Called on the session's own task; may suspend (a slow client).
pub trait ResultSink {
    /// A result set begins.
    fn columns(&mut self, columns: &[ColumnMeta]);
    /// One row of it; the values are only borrowed.
    fn row(&mut self, row: &[Value]);
    /// The same of a row that lies where its table has it: it is taken at once, and nothing is waited for.
    fn stored(&mut self, row: &dyn StoredCells) {
        let values: Vec<Value> = (0..row.width()).map(|i| row.cell(i).value()).collect();
        self.row(&values);
    }
    /// Between stored rows: now there is time to wait.
    fn rest(&mut self) {}
    /// A statement is done.
    fn done(&mut self, done: Done);
    /// A message or an error.
    fn message(&mut self, message: &SqlMessage);
    /// A procedure has returned this status (RETURNSTATUS).
    fn return_status(&mut self, status: i32) {
        let _ = status;
    }
    /// A parameter's last value (RETURNVALUE); `ordinal` counts the call's parameters from 0, `name` has its `@` or is
    /// empty.
    fn output(&mut self, ordinal: u16, name: &str, ty: SqlType, value: &Value) {
        let _ = (ordinal, name, ty, value);
    }
    /// A procedure is over (DONEPROC); its status once more.
    fn procedure_done(&mut self, status: i32) {
        let _ = status;
    }
    /// Something that the client keeps track of has changed.
    fn environment(&mut self, change: EnvironmentChange<'_>) {
        let _ = change;
    }
}

/// One result set, collected.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultSet {
    /// Its columns.
    pub columns: Vec<ColumnMeta>,
    /// Its rows.
    pub rows: Vec<Vec<Value>>,
}

/// Collects everything: for tests, for the shell's small results, for internal queries.
#[derive(Debug, Default)]
pub struct Collected {
    /// The result sets, in order.
    pub sets: Vec<ResultSet>,
    /// The messages, in order.
    pub messages: Vec<SqlMessage>,
    /// The row counts reported, in order.
    pub counts: Vec<Option<u64>>,
}

impl Collected {
    /// The numbers of the errors among the messages, in order.
    pub fn errors(&self) -> Vec<i32> {
        self.messages.iter().filter(|m| m.is_error()).map(|m| m.number).collect()
    }
}

impl ResultSink for Collected {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.sets.push(ResultSet { columns: columns.to_vec(), rows: Vec::new() });
    }

    fn row(&mut self, row: &[Value]) {
        if let Some(set) = self.sets.last_mut() {
            set.rows.push(row.to_vec());
        }
    }

    fn done(&mut self, done: Done) {
        if !done.failed {
            self.counts.push(done.rows);
        }
    }

    fn message(&mut self, message: &SqlMessage) {
        self.messages.push(message.clone());
    }
}
