//! A remote procedure call as data: what it names and what it brings.
//!
//! Knows nothing of how it came: a wire protocol fills it in.

use executor::ColumnMeta;
use types::{SqlType, Value};

/// A call of a procedure by a client.
#[derive(Debug, Clone, PartialEq)]
pub struct Rpc {
    /// Which procedure.
    pub procedure: RpcName,
    /// Its parameters, in the client's order.
    pub params: Vec<RpcParam>,
    /// WITH RECOMPILE: no cached plan is used.
    pub recompile: bool,
}

/// Which procedure is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RpcName {
    /// By name, in up to four parts.
    Name(String),
    /// One of the well-known system procedures, by number ([`well_known`]).
    Id(u16),
}

/// One parameter of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcParam {
    /// Its name with `@`; absent for a parameter by position.
    pub name: Option<Box<str>>,
    /// The client wants its last value back.
    pub output: bool,
    /// The procedure's default stands in for the value.
    pub default: bool,
    /// The type that the client declared.
    pub ty: SqlType,
    /// What it holds.
    pub value: RpcValue,
}

impl RpcParam {
    /// An input parameter by position.
    pub fn input(ty: SqlType, value: Value) -> RpcParam {
        RpcParam { name: None, output: false, default: false, ty, value: RpcValue::Scalar(value) }
    }

    /// The same with a name (`@p1`).
    pub fn named(mut self, name: &str) -> RpcParam {
        self.name = Some(name.into());
        self
    }

    /// The same, to be given back.
    pub fn output(mut self) -> RpcParam {
        self.output = true;
        self
    }
}

/// What a parameter holds.
#[derive(Debug, Clone, PartialEq)]
pub enum RpcValue {
    /// One value.
    Scalar(Value),
    /// The rows of a table-valued parameter.
    Table(TableValue),
}

/// A table-valued parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableValue {
    /// The table type's schema, empty for the default one.
    pub schema: String,
    /// The table type's name.
    pub name: String,
    /// Its columns as the client sent them.
    pub columns: Vec<ColumnMeta>,
    /// Positions of the columns that the client leaves to their defaults (or to IDENTITY), ascending.
    pub defaults: Vec<usize>,
    /// Its rows: a value for each column that is not among `defaults`.
    pub rows: Vec<Vec<Value>>,
}

/// A transaction manager request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionRequest {
    /// Begin. `isolation`: 1 READ UNCOMMITTED, 2 READ COMMITTED, 3 REPEATABLE READ, 4 SERIALIZABLE, 5 SNAPSHOT; `None`
    /// (0 on the wire) leaves the session's level.
    Begin { isolation: Option<u8>, name: String },
    /// Commit; `then_begin` starts another one at once (fBeginXact).
    Commit { name: String, then_begin: Option<BeginNext> },
    /// Roll back, to a savepoint where one has the name.
    Rollback { name: String, then_begin: Option<BeginNext> },
    /// Set a savepoint.
    Save { name: String },
}

/// The transaction that begins where another ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BeginNext {
    /// As in [`TransactionRequest::Begin`].
    pub isolation: Option<u8>,
    /// Its name; may be empty.
    pub name: String,
}

/// The name of a well-known system procedure (MS-TDS, "RPC Request", ProcID).
pub fn well_known(id: u16) -> Option<&'static str> {
    Some(match id {
        1 => "sp_cursor",
        2 => "sp_cursoropen",
        3 => "sp_cursorprepare",
        4 => "sp_cursorexecute",
        5 => "sp_cursorprepexec",
        6 => "sp_cursorunprepare",
        7 => "sp_cursorfetch",
        8 => "sp_cursoroption",
        9 => "sp_cursorclose",
        10 => "sp_executesql",
        11 => "sp_prepare",
        12 => "sp_execute",
        13 => "sp_prepexec",
        14 => "sp_prepexecrpc",
        15 => "sp_unprepare",
        _ => return None,
    })
}
