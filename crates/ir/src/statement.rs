//! The kinds of statement, and what each does with rows and values: one of a few ways, with what it needs for it.
//!
//! Many ask a statement for its query, its target or its expressions, and not what else it may be. They match on
//! [`Data`], which is short, and need no arm for the rest.
//!
//! Promise: each kind of statement is named here once, so that the compiler asks of a new one what it does. Statements with
//! statements inside have no data of their own; a statement of another database has its own there ([`There`]).

use crate::ddl::Ddl;
use crate::*;
use catalog::TableDef;
use std::sync::Arc;
use syntax::ast;

#[derive(Debug, Clone)]
pub enum StmtKind {
    /// A variable's type is in the frame. At every execution a DECLARE with an initialiser assigns;
    /// one without leaves the variable as it is (variables start as NULL once per batch or call).
    SetVars(Vec<(VarId, Expr)>),
    If {
        condition: Condition,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    While {
        condition: Condition,
        body: Vec<Stmt>,
    },
    Break,
    Continue,
    Block(Vec<Stmt>),
    TryCatch {
        body: Vec<Stmt>,
        handler: Vec<Stmt>,
    },
    Label(LabelId),
    Goto(LabelId),
    /// The value is an int; NULL and none return 0.
    Return(Option<Expr>),

    Begin {
        name: Option<TranName>,
        mark: bool,
    },
    /// `delayed`: WITH (DELAYED_DURABILITY = ON | OFF).
    Commit {
        delayed: Option<bool>,
    },
    Rollback {
        name: Option<TranName>,
    },
    Save {
        name: TranName,
    },

    Select(Box<Select>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Merge(Box<Merge>),
    /// One of these, of another database.
    There(Box<There>),
    Truncate {
        table: Arc<TableDef>,
        /// The table as the statement names it, for messages.
        shown: Box<str>,
        /// WITH (PARTITIONS (1, 3 TO 5)); empty: all of it.
        partitions: Vec<(Expr, Option<Expr>)>,
    },

    /// DECLARE CURSOR, OPEN, FETCH ...
    Cursor(Box<CursorStmt>),
    Exec(Box<Exec>),
    /// EXEC ('text'), EXEC (@text): the expression is nvarchar.
    ExecString {
        text: Expr,
    },
    Print(Expr),
    RaiseError(Box<RaiseError>),
    /// None: rethrow in a CATCH block. Else number, message, state.
    Throw(Option<Box<(Expr, Expr, Expr)>>),
    WaitFor(WaitFor),
    Set(SetOption),
    Use {
        database: String,
    },
    Ddl(Box<Ddl>),
    /// Principals, schemas and permissions, as written.
    Security(Arc<ast::SecurityStatement>),
    /// Likewise.
    Statistics(Arc<ast::StatisticsStatement>),
    /// EXECUTE AS; the name is nvarchar, None is CALLER.
    ExecuteAs {
        login: bool,
        name: Option<Expr>,
        end: ExecuteAsEnd,
    },
    /// `cookie`: WITH COOKIE = @v.
    Revert {
        cookie: Option<VarId>,
    },
    /// What is seldom met.
    Rare(Box<Rare>),
    /// DBCC name (arguments) WITH options; words as constant strings.
    Dbcc {
        name: String,
        args: Vec<Expr>,
        options: Vec<String>,
    },
    /// As written: its table is looked up each time it runs.
    BulkInsert(Arc<ast::BulkInsert>),
    Backup(Box<Backup>),
    Restore(Box<Restore>),
    Checkpoint,
    /// KILL: of a session by its number, of a distributed transaction by a text.
    Kill {
        target: Expr,
        with: ast::KillWith,
    },
    /// RECONFIGURE [WITH OVERRIDE]
    Reconfigure {
        overridden: bool,
    },
    /// ALTER SERVER CONFIGURATION SET.
    AlterServer(ast::AlterServer),
    /// Error 40510 with this text when reached.
    NotSupported {
        what: String,
    },
    /// A name was missing (or a DDL statement before it in the batch may change its meaning):
    /// bind `source` when reached.
    Deferred,
    /// Nothing to do: a DECLARE without initialiser, a lone semicolon.
    Nothing,
}

macro_rules! data {
    ($doc:literal, [$($derive:ident),*], $data:ident, $method:ident $(, $mutable:tt)?) => {
        #[doc = $doc]
        #[derive($($derive),*)]
        pub enum $data<'s> {
            Select(&'s $($mutable)? Select),
            Insert(&'s $($mutable)? Insert),
            Update(&'s $($mutable)? Update),
            Delete(&'s $($mutable)? Delete),
            Merge(&'s $($mutable)? Merge),
            Cursor(&'s $($mutable)? CursorStmt),
            /// Variables, and what they are given.
            SetVars(&'s $($mutable)? [(VarId, Expr)]),
            /// The value that a procedure or function returns.
            Return(&'s $($mutable)? Expr),
            /// Neither rows nor a value that leaves it.
            None,
        }

        impl StmtKind {
            #[doc = $doc]
            pub fn $method(& $($mutable)? self) -> $data<'_> {
                match self {
                    StmtKind::Select(select) => $data::Select(select),
                    StmtKind::Insert(insert) => $data::Insert(insert),
                    StmtKind::Update(update) => $data::Update(update),
                    StmtKind::Delete(delete) => $data::Delete(delete),
                    StmtKind::Merge(merge) => $data::Merge(merge),
                    StmtKind::Cursor(cursor) => $data::Cursor(cursor),
                    StmtKind::SetVars(sets) => $data::SetVars(sets),
                    StmtKind::Return(Some(value)) => $data::Return(value),
                    StmtKind::Return(None)
                    | StmtKind::If { .. }
                    | StmtKind::While { .. }
                    | StmtKind::Break
                    | StmtKind::Continue
                    | StmtKind::Block(_)
                    | StmtKind::TryCatch { .. }
                    | StmtKind::Label(_)
                    | StmtKind::Goto(_)
                    | StmtKind::Begin { .. }
                    | StmtKind::Commit { .. }
                    | StmtKind::Rollback { .. }
                    | StmtKind::Save { .. }
                    | StmtKind::There(_)
                    | StmtKind::Truncate { .. }
                    | StmtKind::Exec(_)
                    | StmtKind::ExecString { .. }
                    | StmtKind::Print(_)
                    | StmtKind::RaiseError(_)
                    | StmtKind::Throw(_)
                    | StmtKind::WaitFor(_)
                    | StmtKind::Set(_)
                    | StmtKind::Use { .. }
                    | StmtKind::Ddl(_)
                    | StmtKind::Security(_)
                    | StmtKind::Statistics(_)
                    | StmtKind::ExecuteAs { .. }
                    | StmtKind::Revert { .. }
                    | StmtKind::Rare(_)
                    | StmtKind::Dbcc { .. }
                    | StmtKind::BulkInsert(_)
                    | StmtKind::Backup(_)
                    | StmtKind::Restore(_)
                    | StmtKind::Checkpoint
                    | StmtKind::Kill { .. }
                    | StmtKind::Reconfigure { .. }
                    | StmtKind::AlterServer(_)
                    | StmtKind::NotSupported { .. }
                    | StmtKind::Deferred
                    | StmtKind::Nothing => $data::None,
                }
            }
        }
    };
}

data!("What a statement does with rows and values.", [Debug, Clone, Copy], Data, data);
data!("The same, to be changed.", [Debug], DataMut, data_mut, mut);

impl StmtKind {
    /// The OUTPUT clause of a change.
    pub fn output(&self) -> Option<&Output> {
        match self.data() {
            Data::Insert(insert) => insert.output.as_ref(),
            Data::Update(update) => update.output.as_ref(),
            Data::Delete(delete) => delete.output.as_ref(),
            Data::Merge(merge) => merge.output.as_ref(),
            Data::Select(_) | Data::Cursor(_) | Data::SetVars(_) | Data::Return(_) | Data::None => {
                None
            }
        }
    }

    /// The change that an INSERT takes its rows from.
    pub fn inner_change(&self) -> Option<&ChangedRows> {
        let StmtKind::Insert(insert) = self else { return None };
        match &insert.source {
            InsertSource::Changed(from) => Some(from),
            InsertSource::Values(_) | InsertSource::Query { .. } | InsertSource::Exec { .. } => {
                None
            }
        }
    }

    /// The query that it runs: of an INSERT that of the change that its rows come from.
    pub fn query(&self) -> Option<&Query> {
        match self.data() {
            Data::Select(select) => Some(&select.query),
            Data::Insert(insert) => match &insert.source {
                InsertSource::Query { query, .. } => Some(query),
                InsertSource::Changed(from) => from.change.query(),
                InsertSource::Values(_) | InsertSource::Exec { .. } => None,
            },
            Data::Update(update) => Some(&update.query),
            Data::Delete(delete) => Some(&delete.query),
            Data::Merge(merge) => Some(&merge.query),
            Data::Cursor(_) | Data::SetVars(_) | Data::Return(_) | Data::None => None,
        }
    }
}

impl CursorStmt {
    /// What the cursor walks over, where the statement says so.
    pub fn definition(&self) -> Option<&CursorDef> {
        match self {
            CursorStmt::Declare { definition, .. } | CursorStmt::Set { definition, .. } => {
                Some(definition)
            }
            CursorStmt::Assign { .. }
            | CursorStmt::Open(_)
            | CursorStmt::Close(_)
            | CursorStmt::Deallocate(_)
            | CursorStmt::Fetch { .. } => None,
        }
    }

    /// The same, to be changed.
    pub fn definition_mut(&mut self) -> Option<&mut CursorDef> {
        match self {
            CursorStmt::Declare { definition, .. } | CursorStmt::Set { definition, .. } => {
                Some(definition)
            }
            CursorStmt::Assign { .. }
            | CursorStmt::Open(_)
            | CursorStmt::Close(_)
            | CursorStmt::Deallocate(_)
            | CursorStmt::Fetch { .. } => None,
        }
    }
}
