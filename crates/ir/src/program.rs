//! Batches and procedures: statements with line numbers over one frame of typed variables.
//!
//! Statements that touch the catalog are bound late. Each keeps its syntax ([`Stmt::source`]), and
//! a name that is missing when the batch is compiled leaves a [`StmtKind::Deferred`] behind, bound
//! when control reaches it (`binder::bind_statement`). What was bound holds for one catalog version;
//! whoever caches it binds again when the version has moved. Control flow, variables and labels
//! never change by binding again, so frames and jumps stay valid.

use std::sync::Arc;

use catalog::TableDef;
use syntax::ast;
use types::convert::DateOrder;
use types::{SqlType, Value};

use super::expr::{ColId, Expr, ExprKind, VarId};
use super::query::{OutputColumn, Query, TableHints};
use super::through::Through;
use crate::StmtKind;
use crate::name::ObjectName;

/// A compiled batch or procedure body.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The frame: parameters first, then declared variables in order of their declaration.
    pub vars: Vec<VarDef>,
    /// Parameters of a procedure; `params[i]` lives in `vars[i]`.
    pub params: Vec<ProcParam>,
    /// Table variables and table-valued parameters: `tables[i]` is `Place::Variable(i)`, empty when the batch or
    /// procedure begins.
    pub tables: Vec<TableVariable>,
    /// Names of its cursor variables.
    pub cursors: Vec<String>,
    pub body: Vec<Stmt>,
    /// `labels[i]` is the name of `LabelId(i)`.
    pub labels: Vec<String>,
    /// The text it was read from: spans of kept syntax point into it.
    pub text: Arc<str>,
    /// Of a function: where what it returns is found when it ends.
    pub result: Option<ProgramResult>,
    /// Version of the catalog that bound it.
    pub catalog_version: u64,
    /// Variables were declared with alias types: it holds for that version only.
    pub aliases: bool,
    /// SET options from an offset of the text on, in order; the first is for its beginning.
    pub settings: Vec<(u32, crate::settings::Settings)>,
    /// Of a module: where names without a schema are looked for first.
    pub schema: Option<Arc<str>>,
    /// Of a trigger: the id of its table or view.
    pub parent: Option<i32>,
    /// Of a natively compiled module: what its block fixes.
    pub atomic: Option<Atomic>,
    /// In whose code page its variables are, where they are varchar.
    pub rule: types::collation::Rule,
}

/// What an ATOMIC block fixes of the session for as long as it runs, besides what is the same for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atomic {
    /// SNAPSHOT, REPEATABLE READ or SERIALIZABLE.
    pub isolation: Isolation,
    /// By either of its names.
    pub language: Box<str>,
    /// None: that of the language.
    pub date_order: Option<DateOrder>,
    /// None: that of the language.
    pub datefirst: Option<u8>,
    /// DELAYED_DURABILITY of the transaction that the block begins.
    pub delayed: Option<bool>,
}

/// What a function returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramResult {
    /// The value of a variable; `strict`: NULL, without being run, when an argument is.
    Scalar { var: VarId, strict: bool },
    /// The rows of a table variable, by its slot.
    Table(u16),
}

#[derive(Debug, Clone, PartialEq)]
pub struct VarDef {
    /// With the `@`, as first written.
    pub name: String,
    pub ty: SqlType,
    /// Of a natively compiled module: it cannot be set to NULL.
    pub not_null: bool,
}

#[derive(Debug, Clone)]
pub struct TableVariable {
    /// Its name is the variable's, with the `@`.
    pub def: Arc<TableDef>,
    /// A parameter: its rows cannot be changed (10700).
    pub readonly: bool,
    /// The object id of the table type that it is declared with.
    pub of_type: Option<i32>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ProcParam {
    /// With the `@`.
    pub name: String,
    pub ty: SqlType,
    /// None: must be supplied (error 201).
    pub default: Option<Value>,
    pub output: bool,
    /// Of a table-valued parameter: its type, as the module names it.
    pub of_type: Option<Box<str>>,
    /// A table-valued parameter: the slot of its table (`ty` then means nothing, and what is not given is empty).
    pub table: Option<u16>,
    /// CURSOR VARYING OUTPUT: the number of its cursor variable (`ty` then means nothing).
    pub cursor: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LabelId(pub u32);

#[derive(Debug, Clone)]
pub struct Stmt {
    /// Line within the batch or module, from 1.
    pub line: u32,
    /// Where it stands in [`Program::text`].
    pub span: ast::Span,
    pub kind: StmtKind,
    /// Present where the statement depends on the catalog and must be bound again when the catalog
    /// changes: hand it to `binder::bind_statement`.
    pub source: Option<Arc<ast::Statement>>,
}

/// An expression that may name tables (`IF EXISTS (SELECT ...)`), with its syntax for binding again.
#[derive(Debug, Clone)]
pub struct Condition {
    /// None: a name was missing when the batch was compiled; bind `source` when reached
    /// (`binder::bind_condition`).
    pub expr: Option<Expr>,
    /// Present if it depends on the catalog.
    pub source: Option<Arc<ast::Expr>>,
}

/// What ends an EXECUTE AS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecuteAsEnd {
    Revert,
    /// WITH NO REVERT.
    NoRevert,
    /// WITH COOKIE INTO @v, a varbinary.
    Cookie(VarId),
}

/// Statements that are seldom met.
#[derive(Debug, Clone)]
pub enum Rare {
    /// INSERT BULK in a batch that no rows follow (4022).
    InsertBulk,
    BeginDistributed,
    /// A text; none: back to who it was.
    SetUser {
        name: Option<Expr>,
        no_reset: bool,
    },
    Shutdown {
        no_wait: bool,
    },
    /// Resource Governor.
    Governor(ast::GovernorStatement),
    /// Audits and their specifications; the groups that they name are known.
    Audit(ast::AuditStatement),
    /// CREATE XML SCHEMA COLLECTION, and ALTER ... ADD: the text as a value of a type that [`types::convert`] makes an
    /// xml of.
    PutXmlSchemas {
        add: bool,
        name: ObjectName,
        text: Expr,
    },
    DropXmlSchemas(ObjectName),
    /// Full-text catalogs and indexes.
    Fulltext(ast::FulltextStatement),
    /// ADD and DROP SENSITIVITY CLASSIFICATION.
    Sensitivity(ast::SensitivityStatement),
    /// LINENO: the parser has done it.
    Nothing,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TranName {
    Name(String),
    Var(VarId),
}

#[derive(Debug, Clone)]
pub struct Select {
    pub query: Query,
    pub target: SelectTarget,
}

#[derive(Debug, Clone)]
pub enum SelectTarget {
    Client,
    /// SELECT @a = x, ... FROM: for each row, in order; the expressions read the query's columns.
    Vars(Vec<(VarId, Expr)>),
    /// SELECT INTO: the table to create; its columns are the query's output, in order.
    Into {
        name: ObjectName,
        spec: Box<catalog::TableSpec>,
    },
}

#[derive(Debug, Clone)]
pub struct Insert {
    pub table: Arc<TableDef>,
    /// WITH CHANGE_TRACKING_CONTEXT; reads no row.
    pub tracking_context: Option<Box<Expr>>,
    pub hints: TableHints,
    pub source: InsertSource,
    /// The statement names the identity column: allowed under SET IDENTITY_INSERT only (544).
    pub explicit_identity: bool,
    pub output: Option<Output>,
    pub fires: Option<Arc<Fires>>,
    pub block: Option<Box<Block>>,
    /// WITH CHECK OPTION of a view that the change goes through: over the slots of the new row (550).
    pub check: Option<Arc<Expr>>,
    /// The view that is named.
    pub through: Option<Arc<Through>>,
}

/// A change of rows of another database, or a SELECT INTO there.
#[derive(Debug, Clone)]
pub struct There {
    /// Where it runs.
    pub database: Arc<str>,
    /// What is evaluated where it stands; the values go along as variables.
    pub here: Vec<Expr>,
    /// As it is to run over there: what it reads of the database where it stands is named so.
    pub change: StmtKind,
}

/// What the BLOCK predicates of a security policy ask of a change: each must be true.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// Ids of the columns of the row as it is to be, by ordinal.
    pub new: Vec<ColId>,
    /// Over `new`.
    pub after_insert: Vec<Expr>,
    pub after_update: Vec<Expr>,
    /// Over the row as it was.
    pub before_update: Vec<Expr>,
    pub before_delete: Vec<Expr>,
}

impl Block {
    /// All of them.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let after = self.after_insert.iter().chain(&self.after_update);
        after.chain(&self.before_update).chain(&self.before_delete)
    }
    /// Does some predicate have a query of its own?
    pub fn reads_tables(&self) -> bool {
        let mut queries = |e: &Expr| e.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. }));
        self.exprs().any(&mut queries)
    }
}

/// The triggers that a statement fires, by their object ids in the order of firing. Those that are disabled are not
/// among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fires {
    pub event: catalog::Event,
    /// Runs in place of the change.
    pub instead: Option<i32>,
    pub after: Vec<i32>,
    /// Tables whose rows follow by a foreign key have triggers.
    pub follows: bool,
}

#[derive(Debug, Clone)]
pub enum InsertSource {
    /// One expression per column of the table, in the table's order, defaults substituted and
    /// converted to the column's type ([`super::CastMode::Store`]).
    Values(Vec<Vec<Expr>>),
    /// `row[i]` builds column i of the table from the query's columns.
    Query { query: Query, row: Vec<Expr> },
    /// INSERT ... EXEC: `row[i]` builds column i from the procedure's result row, whose columns are
    /// `columns` (typed as the table's; incoming values are converted to those types first).
    Exec { exec: Box<Exec>, columns: Vec<OutputColumn>, row: Vec<Expr> },
    /// INSERT ... SELECT ... FROM (UPDATE ... OUTPUT ...) AS t WHERE ...
    Changed(Box<ChangedRows>),
}

/// The rows that another change puts out, as the source of an INSERT. Nothing here has a query of its own.
#[derive(Debug, Clone)]
pub struct ChangedRows {
    /// An INSERT, UPDATE, DELETE or MERGE with an OUTPUT that goes nowhere else. It fires no triggers.
    pub change: StmtKind,
    /// Over the columns of its OUTPUT.
    pub filter: Option<Expr>,
    /// `row[i]` builds column i of the table from them.
    pub row: Vec<Expr>,
}

/// `UPDATE`: `query` yields, per row to change, the locator, the old columns and whatever the
/// assignments read.
#[derive(Debug, Clone)]
pub struct Update {
    pub table: Arc<TableDef>,
    /// WITH CHANGE_TRACKING_CONTEXT; reads no row.
    pub tracking_context: Option<Box<Expr>>,
    pub hints: TableHints,
    pub query: Query,
    pub locator: ColId,
    /// Ids of the target's columns in `query`, by ordinal.
    pub old: Vec<ColId>,
    /// In order; each sees the variables as set by those before it, but the row's old columns.
    pub set: Vec<UpdateSet>,
    pub output: Option<Output>,
    pub fires: Option<Arc<Fires>>,
    pub block: Option<Box<Block>>,
    /// As [`Insert::check`].
    pub check: Option<Arc<Expr>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum UpdateSet {
    Column {
        ordinal: usize,
        value: Expr,
    },
    Var {
        var: VarId,
        value: Expr,
    },
    /// `@v = column = expression`: the variable receives the column's new value.
    Both {
        var: VarId,
        ordinal: usize,
        value: Expr,
    },
}

#[derive(Debug, Clone)]
pub struct Delete {
    pub table: Arc<TableDef>,
    /// WITH CHANGE_TRACKING_CONTEXT; reads no row.
    pub tracking_context: Option<Box<Expr>>,
    pub hints: TableHints,
    pub query: Query,
    pub locator: ColId,
    pub old: Vec<ColId>,
    pub output: Option<Output>,
    pub fires: Option<Arc<Fires>>,
    pub block: Option<Box<Block>>,
}

/// `MERGE`: `query` yields pairs of source and target rows, and rows of one side alone as far as a
/// clause asks for them.
#[derive(Debug, Clone)]
pub struct Merge {
    pub table: Arc<TableDef>,
    /// WITH CHANGE_TRACKING_CONTEXT; reads no row.
    pub tracking_context: Option<Box<Expr>>,
    pub hints: TableHints,
    pub query: Query,
    /// NULL: no target row.
    pub locator: ColId,
    /// NULL: no source row.
    pub present: ColId,
    /// What OUTPUT knows as `$action`: INSERT, UPDATE or DELETE.
    pub action: ColId,
    /// Ids of the target's columns in `query`, by ordinal.
    pub old: Vec<ColId>,
    /// TOP: so many rows are changed at most; those that no clause wants do not count.
    pub top: Option<Expr>,
    /// The first that concerns a row and whose condition holds is carried out.
    pub clauses: Vec<MergeClause>,
    /// Some INSERT names the identity column: allowed under SET IDENTITY_INSERT only (544).
    pub explicit_identity: bool,
    pub output: Option<Output>,
    /// Triggers, by action; AFTER alone.
    pub fires: Vec<Arc<Fires>>,
    pub block: Option<Box<Block>>,
}

#[derive(Debug, Clone)]
pub struct MergeClause {
    pub when: MergeWhen,
    pub condition: Option<Expr>,
    pub action: MergeAction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeWhen {
    Matched,
    /// In the source alone.
    NotMatched,
    /// In the target alone.
    NotMatchedBySource,
}

#[derive(Debug, Clone)]
pub enum MergeAction {
    Update(Vec<UpdateSet>),
    Delete,
    /// One expression per column of the table, as in [`InsertSource::Values`].
    Insert(Vec<Expr>),
}

impl Merge {
    /// The expressions of conditions and actions.
    pub fn for_each_expr<'m>(&'m self, f: &mut dyn FnMut(&'m Expr)) {
        self.top.iter().for_each(&mut *f);
        for clause in &self.clauses {
            clause.condition.iter().for_each(&mut *f);
            match &clause.action {
                MergeAction::Update(set) => set.iter().for_each(|s| f(s.value())),
                MergeAction::Delete => {}
                MergeAction::Insert(row) => row.iter().for_each(&mut *f),
            }
        }
    }
}

impl UpdateSet {
    pub fn value(&self) -> &Expr {
        match self {
            UpdateSet::Column { value, .. }
            | UpdateSet::Var { value, .. }
            | UpdateSet::Both { value, .. } => value,
        }
    }

    pub fn value_mut(&mut self) -> &mut Expr {
        match self {
            UpdateSet::Column { value, .. }
            | UpdateSet::Var { value, .. }
            | UpdateSet::Both { value, .. } => value,
        }
    }
}

/// What of an OUTPUT the client gets: the `columns`, or, where these go `into` a table, what stands in a second one
/// beside it, if there is any.
pub fn told<'o, T>(columns: &'o [T], into: bool, also: &'o [T]) -> Option<&'o [T]> {
    match into {
        false => Some(columns),
        true => (!also.is_empty()).then_some(also),
    }
}

/// An OUTPUT clause. The expressions read `inserted` and `deleted` through the ids given here (by
/// ordinal of the target's columns), and the query's other columns.
#[derive(Debug, Clone)]
pub struct Output {
    pub inserted: Vec<ColId>,
    pub deleted: Vec<ColId>,
    pub columns: Vec<(OutputColumn, Expr)>,
    /// OUTPUT ... INTO table: one expression per column of that table, over `columns`' ids.
    pub into: Option<(Arc<TableDef>, Vec<Expr>)>,
    /// A second OUTPUT beside INTO.
    pub also: Vec<(OutputColumn, Expr)>,
}

impl Output {
    /// What the client gets.
    pub fn told(&self) -> Option<&[(OutputColumn, Expr)]> {
        told(&self.columns, self.into.is_some(), &self.also)
    }

    /// All that it shows or keeps.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.columns.iter().chain(&self.also).map(|(_, e)| e)
    }
}

#[derive(Debug, Clone)]
pub struct Exec {
    pub procedure: ProcRef,
    pub args: Vec<ExecArg>,
    /// EXEC @r = p
    pub result: Option<VarId>,
    /// WITH RESULT SETS: the columns of each result set it may send.
    pub result_sets: Option<Vec<Vec<OutputColumn>>>,
    /// Of a text: AS LOGIN (true) or USER, and the name.
    pub acting: Option<Box<(bool, Expr)>>,
}

#[derive(Debug, Clone)]
pub enum ProcRef {
    Name(ObjectName),
    /// EXEC @name
    Var(VarId),
    /// EXEC ('text') as the source of an INSERT; nvarchar(max). It has no arguments.
    Text(Box<Expr>),
}

#[derive(Debug, Clone)]
pub struct ExecArg {
    /// With the `@`; None by position.
    pub name: Option<String>,
    /// None: DEFAULT.
    pub value: Option<Expr>,
    /// The variable that receives the parameter afterwards (OUTPUT).
    pub output: Option<VarId>,
    /// A table variable of the caller, by slot; `value` is then None.
    pub table: Option<u16>,
    /// A cursor variable of the caller, by its number, likewise: it gets the cursor that the procedure leaves open.
    pub cursor: Option<u16>,
}

#[derive(Debug, Clone)]
pub struct RaiseError {
    /// A number of sys.messages or a text (nvarchar).
    pub message: Expr,
    pub severity: Expr,
    pub state: Expr,
    pub args: Vec<Expr>,
    pub log: bool,
    pub nowait: bool,
    pub seterror: bool,
}

#[derive(Debug, Clone)]
pub enum WaitFor {
    /// 'hh:mm:ss.mmm', as string
    Delay(Expr),
    Time(Expr),
}

/// SET statements, by what they touch.
#[derive(Debug, Clone)]
pub enum SetOption {
    /// NOCOUNT, XACT_ABORT, ARITHABORT, QUOTED_IDENTIFIER ... upper case.
    Switch {
        names: Vec<String>,
        on: bool,
    },
    /// LOCK_TIMEOUT, ROWCOUNT, TEXTSIZE, DATEFIRST, DATEFORMAT, LANGUAGE, DEADLOCK_PRIORITY ...
    Value {
        name: String,
        value: Expr,
    },
    Isolation(Isolation),
    IdentityInsert {
        table: ObjectName,
        on: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Snapshot,
    Serializable,
}

/// BACKUP.
#[derive(Debug, Clone, PartialEq)]
pub struct Backup {
    pub log: bool,
    pub media: Media,
}

/// RESTORE.
#[derive(Debug, Clone, PartialEq)]
pub struct Restore {
    pub kind: syntax::ast::RestoreKind,
    pub media: Media,
}

/// What BACKUP and RESTORE name.
#[derive(Debug, Clone, PartialEq)]
pub struct Media {
    /// None: the current database, or none at all.
    pub database: Option<Expr>,
    pub devices: Vec<Expr>,
    /// Of each whether it is named, not told by its path.
    pub logical: Vec<bool>,
    pub options: Vec<MediaOption>,
}

/// `NAME = value`, `MOVE value TO to`.
#[derive(Debug, Clone, PartialEq)]
pub struct MediaOption {
    pub name: String,
    pub value: Option<Expr>,
    pub to: Option<Expr>,
}
