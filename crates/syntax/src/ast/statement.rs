//! Statements: what a batch or a procedure does, one after the other.

use super::*;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What.
    pub kind: StatementKind,
    /// Where; `span.line` is the line of its first word, which error messages quote.
    pub span: Span,
}

impl Statement {
    /// Adds the names of what in it is read and not carried out.
    pub(super) fn unsupported<'a>(&'a self, found: &mut Vec<&'a str>) {
        let mut each = |statements: &'a [Statement]| {
            statements.iter().for_each(|statement| statement.unsupported(found));
        };
        match &self.kind {
            StatementKind::Unsupported { what } => found.push(what),
            StatementKind::If { then, otherwise, .. } => {
                each(std::slice::from_ref(&**then));
                if let Some(otherwise) = otherwise {
                    each(std::slice::from_ref(&**otherwise));
                }
            }
            StatementKind::While { body, .. } => each(std::slice::from_ref(&**body)),
            StatementKind::Block(statements) => each(statements),
            StatementKind::Atomic(block) => each(&block.body),
            StatementKind::TryCatch { body, handler } => {
                each(body);
                each(handler);
            }
            StatementKind::CreateProcedure(procedure) => each(&procedure.body),
            StatementKind::CreateTrigger(trigger) => each(&trigger.body),
            StatementKind::CreateDdlTrigger(trigger) => each(&trigger.body),
            StatementKind::CreateFunction(function) => each(function.returns.statements()),
            _ => {}
        }
    }
}

/// The kinds of statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// SELECT.
    Select(Box<Query>),
    /// INSERT.
    Insert(Box<Insert>),
    /// UPDATE.
    Update(Box<Update>),
    /// DELETE.
    Delete(Box<Delete>),
    /// MERGE.
    Merge(Box<Merge>),
    /// TRUNCATE TABLE.
    Truncate(Box<Truncate>),

    /// CREATE DATABASE.
    CreateDatabase(Box<CreateDatabase>),
    /// ALTER DATABASE.
    AlterDatabase(Box<AlterDatabase>),
    /// CREATE TABLE.
    CreateTable(Box<CreateTable>),
    /// CREATE, ALTER, CREATE OR ALTER VIEW.
    CreateView(Box<CreateView>),
    /// CREATE TYPE ... AS TABLE.
    CreateType(Box<CreateType>),
    /// ALTER TABLE.
    AlterTable(Box<AlterTable>),
    /// ALTER TABLE ... SWITCH.
    Switch(Box<Switch>),
    /// CREATE INDEX.
    CreateIndex(Box<CreateIndex>),
    /// ALTER INDEX.
    AlterIndex(Box<AlterIndex>),
    /// Principals, schemas, permissions.
    Security(Box<SecurityStatement>),
    /// CREATE and ALTER SECURITY POLICY.
    SecurityPolicy(Box<SecurityPolicy>),
    /// CREATE, ALTER and DROP of partition functions and schemes.
    Partition(Box<PartitionStatement>),
    /// CREATE, UPDATE and DROP STATISTICS.
    Statistics(Box<StatisticsStatement>),
    /// CREATE / ALTER PROCEDURE.
    CreateProcedure(Box<CreateProcedure>),
    /// CREATE / ALTER FUNCTION.
    CreateFunction(Box<CreateFunction>),
    /// CREATE / ALTER TRIGGER.
    CreateTrigger(Box<CreateTrigger>),
    /// The same ON DATABASE or ON ALL SERVER.
    CreateDdlTrigger(Box<CreateDdlTrigger>),
    /// CREATE RULE, CREATE DEFAULT.
    CreateBindable(Box<CreateBindable>),
    /// CREATE / ALTER SEQUENCE.
    DefineSequence(Box<DefineSequence>),
    /// CREATE SYNONYM.
    CreateSynonym(Box<CreateSynonym>),
    /// ENABLE / DISABLE TRIGGER.
    EnableTrigger(Box<EnableTrigger>),
    /// The same ON DATABASE or ON ALL SERVER.
    EnableDdlTrigger(Box<EnableDdlTrigger>),
    /// DROP of databases, tables, procedures.
    Drop(DropObjects),

    /// DECLARE.
    Declare(Vec<Declaration>),
    /// SET @v = expr.
    SetVariable {
        /// The variable.
        variable: Variable,
        /// How.
        op: AssignOp,
        /// The value.
        expr: Expr,
    },
    /// DECLARE name CURSOR.
    DeclareCursor(Box<DeclareCursor>),
    /// SET @c = CURSOR ...
    SetCursor {
        /// The variable.
        variable: Variable,
        /// What it is to walk over.
        definition: Box<CursorDefinition>,
    },
    /// OPEN, CLOSE, DEALLOCATE.
    Cursor {
        /// Which.
        verb: CursorVerb,
        /// Of which cursor.
        cursor: CursorName,
    },
    /// FETCH.
    Fetch(Box<Fetch>),
    /// SET option.
    SetOption(SetOption),
    /// IF.
    If {
        /// Condition.
        condition: Expr,
        /// When it holds.
        then: Box<Statement>,
        /// ELSE.
        otherwise: Option<Box<Statement>>,
    },
    /// WHILE.
    While {
        /// Condition.
        condition: Expr,
        /// Repeated.
        body: Box<Statement>,
    },
    /// BREAK.
    Break,
    /// CONTINUE.
    Continue,
    /// BEGIN ... END.
    Block(Vec<Statement>),
    /// BEGIN ATOMIC WITH (...) ... END.
    Atomic(Box<AtomicBlock>),
    /// BEGIN TRY ... END TRY BEGIN CATCH ... END CATCH.
    TryCatch {
        /// Tried.
        body: Vec<Statement>,
        /// Run on an error.
        handler: Vec<Statement>,
    },
    /// `label:`
    Label(Ident),
    /// GOTO label.
    Goto(Ident),
    /// RETURN [expr].
    Return(Option<Expr>),
    /// PRINT expr.
    Print(Expr),
    /// THROW [number, message, state].
    Throw(Option<Box<[Expr; 3]>>),
    /// RAISERROR (message, severity, state [, args]) [WITH options].
    RaiseError(Box<RaiseError>),
    /// WAITFOR DELAY / TIME.
    WaitFor {
        /// DELAY, otherwise TIME.
        delay: bool,
        /// Text or variable.
        value: Expr,
    },

    /// BEGIN TRANSACTION [name].
    BeginTransaction {
        /// Its name.
        name: Option<TransactionName>,
    },
    /// COMMIT.
    Commit {
        /// Its name, without meaning.
        name: Option<TransactionName>,
        /// WITH (DELAYED_DURABILITY = ON | OFF).
        delayed_durability: Option<bool>,
    },
    /// ROLLBACK [name of a transaction or savepoint].
    Rollback {
        /// Its name.
        name: Option<TransactionName>,
    },
    /// SAVE TRANSACTION name.
    SaveTransaction {
        /// Its name.
        name: TransactionName,
    },

    /// EXEC of a procedure, also a bare call at the start of a batch.
    Execute(Box<Execute>),
    /// EXEC ('text' + @v).
    ExecuteString(Expr),
    /// USE database.
    Use(Ident),
    /// CHECKPOINT [seconds].
    Checkpoint,
    /// DBCC name [(args)] [WITH options].
    Dbcc(Dbcc),
    /// BULK INSERT.
    BulkInsert(Box<BulkInsert>),
    /// BACKUP LOG | DATABASE.
    Backup(Backup),
    /// RESTORE, in its forms.
    Restore(Restore),
    /// KILL session | 'transaction' [WITH ...].
    Kill {
        /// The number of a session, or the id of a distributed transaction as a text.
        target: Expr,
        /// WITH.
        with: KillWith,
    },
    /// RECONFIGURE [WITH OVERRIDE].
    Reconfigure {
        /// WITH OVERRIDE.
        overridden: bool,
    },
    /// ALTER SERVER CONFIGURATION SET.
    AlterServer(AlterServer),
    /// EXECUTE AS USER | LOGIN = name.
    ExecuteAs {
        /// LOGIN, otherwise USER.
        login: bool,
        /// Text or variable; None: CALLER.
        name: Option<Expr>,
        /// WITH.
        end: ExecuteAsEnd,
    },
    /// REVERT [WITH COOKIE = @v].
    Revert {
        /// A variable; anything else is 15533.
        cookie: Option<Expr>,
    },
    /// What is seldom met.
    Rare(Box<RareStatement>),
    /// A statement of SQL Server that is read but not carried out (error 40510).
    Unsupported {
        /// As the message names it: `GRANT`, `CREATE VIEW`.
        what: String,
    },
}

/// What ALTER SERVER CONFIGURATION sets.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterServer {
    /// MILLRACE (NAME = value, ...): this engine's own switches.
    Millrace(Vec<ServerSwitch>),
    /// PROCESS AFFINITY.
    ProcessAffinity(ProcessAffinity),
    /// LISTENER 'address:port' NUMANODE = ...: an extension.
    Listener {
        /// As written.
        address: String,
        /// Who serves those that come there.
        nodes: ListenerNodes,
    },
    /// SOFTNUMA ON or OFF.
    SoftNuma(bool),
    /// HARDWARE_OFFLOAD ON or OFF, with an accelerator's name.
    HardwareOffload {
        /// It is to be used.
        on: bool,
        /// Which, as written; none: whichever there is.
        accelerator: Option<String>,
    },
}

/// The CPUs that sessions run on.
#[derive(Clone, Debug, PartialEq)]
pub enum ProcessAffinity {
    /// CPU = AUTO: all.
    Auto,
    /// CPU = n | n TO m [, ...]; first and last.
    Cpus(Vec<(u32, u32)>),
    /// NUMANODE = n | n TO m [, ...]
    Nodes(Vec<(u32, u32)>),
}

/// The nodes that serve who comes by a listener.
#[derive(Clone, Debug, PartialEq)]
pub enum ListenerNodes {
    /// ALL.
    All,
    /// 0x3: bit n is node n.
    Map(u64),
    /// n | n TO m [, ...]; first and last.
    Ranges(Vec<(u32, u32)>),
}

/// One of this engine's own switches.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSwitch {
    /// As written.
    pub name: String,
    /// Words in upper case with one space between, a text as it stands; None: DEFAULT.
    pub value: Option<String>,
}

/// Name of a transaction or savepoint: a word or a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum TransactionName {
    /// Word.
    Name(Ident),
    /// Variable that holds it.
    Variable(Variable),
}

/// `=`, `+=`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum AssignOp {
    Set,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    BitAnd,
    BitOr,
    BitXor,
}

impl AssignOp {
    /// The operator of a compound assignment; None for `=`.
    pub fn operator(self) -> Option<BinaryOp> {
        Some(match self {
            AssignOp::Set => return None,
            AssignOp::Add => BinaryOp::Add,
            AssignOp::Sub => BinaryOp::Sub,
            AssignOp::Mul => BinaryOp::Mul,
            AssignOp::Div => BinaryOp::Div,
            AssignOp::Mod => BinaryOp::Mod,
            AssignOp::BitAnd => BinaryOp::BitAnd,
            AssignOp::BitOr => BinaryOp::BitOr,
            AssignOp::BitXor => BinaryOp::BitXor,
        })
    }
}

/// What INSERT, UPDATE and DELETE change: a table (or an alias of FROM) or a table variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Table or alias.
    Table {
        /// Name.
        name: ObjectName,
        /// WITH (TABLOCKX).
        hints: Vec<TableHint>,
    },
    /// `@t`.
    Variable(Variable),
}

/// INSERT.
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// WITH before INSERT.
    pub with: Vec<Cte>,
    /// WITH CHANGE_TRACKING_CONTEXT: a constant or a variable.
    pub tracking_context: Option<Box<Expr>>,
    /// TOP (n).
    pub top: Option<Top>,
    /// Where to.
    pub target: Target,
    /// Named columns; empty when none.
    pub columns: Vec<Ident>,
    /// OUTPUT.
    pub output: Option<Output>,
    /// What.
    pub source: InsertSource,
    /// OPTION (...).
    pub option: Vec<QueryHint>,
}

/// Where an INSERT's rows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertSource {
    /// VALUES (...), (...): every row has the same number of values.
    Values(Vec<Vec<InsertValue>>),
    /// DEFAULT VALUES.
    DefaultValues,
    /// SELECT.
    Query(Box<Query>),
    /// EXEC procedure.
    Execute(Box<Execute>),
    /// EXEC ('text').
    ExecuteString(Expr),
}

/// One value of a row constructor, or of UPDATE's SET.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertValue {
    /// DEFAULT.
    Default(Span),
    /// A value.
    Expr(Expr),
    /// `c.WRITE (expression, offset, length)`, in UPDATE's SET alone.
    Write(Box<[Expr; 3]>),
}

/// UPDATE.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// WITH before UPDATE.
    pub with: Vec<Cte>,
    /// WITH CHANGE_TRACKING_CONTEXT: a constant or a variable.
    pub tracking_context: Option<Box<Expr>>,
    /// TOP (n).
    pub top: Option<Top>,
    /// What is changed.
    pub target: Target,
    /// SET items.
    pub set: Vec<SetItem>,
    /// OUTPUT.
    pub output: Option<Output>,
    /// FROM.
    pub from: Vec<TableRef>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// WHERE CURRENT OF.
    pub current_of: Option<CursorName>,
    /// OPTION (...).
    pub option: Vec<QueryHint>,
}

/// One item of UPDATE's SET: `c = x`, `c += x`, `@v = x`, `@v = c = x`.
#[derive(Clone, Debug, PartialEq)]
pub struct SetItem {
    /// `@v =`.
    pub variable: Option<Variable>,
    /// `c` or `t.c`; None when only a variable is set.
    pub column: Option<ColumnRef>,
    /// How.
    pub op: AssignOp,
    /// The value.
    pub value: InsertValue,
    /// Where.
    pub span: Span,
}

/// DELETE.
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// WITH before DELETE.
    pub with: Vec<Cte>,
    /// WITH CHANGE_TRACKING_CONTEXT: a constant or a variable.
    pub tracking_context: Option<Box<Expr>>,
    /// TOP (n).
    pub top: Option<Top>,
    /// What is deleted from.
    pub target: Target,
    /// OUTPUT.
    pub output: Option<Output>,
    /// FROM (the second one).
    pub from: Vec<TableRef>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// WHERE CURRENT OF.
    pub current_of: Option<CursorName>,
    /// OPTION (...).
    pub option: Vec<QueryHint>,
}

/// MERGE.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// WITH before MERGE.
    pub with: Vec<Cte>,
    /// WITH CHANGE_TRACKING_CONTEXT: a constant or a variable.
    pub tracking_context: Option<Box<Expr>>,
    /// TOP (n).
    pub top: Option<Top>,
    /// What is changed.
    pub target: Target,
    /// AS, of the target.
    pub alias: Option<Ident>,
    /// USING.
    pub source: TableRef,
    /// ON.
    pub on: Expr,
    /// At least one.
    pub clauses: Vec<MergeClause>,
    /// OUTPUT.
    pub output: Option<Output>,
    /// OPTION (...).
    pub option: Vec<QueryHint>,
}

/// One WHEN of MERGE.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeClause {
    /// Which rows.
    pub when: MergeWhen,
    /// AND.
    pub condition: Option<Expr>,
    /// THEN.
    pub action: MergeAction,
    /// Where.
    pub span: Span,
}

/// Rows that a clause of MERGE concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MergeWhen {
    /// In both.
    Matched,
    /// In the source alone: NOT MATCHED [BY TARGET].
    NotMatched,
    /// In the target alone: NOT MATCHED BY SOURCE.
    NotMatchedBySource,
}

/// What a clause of MERGE does.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeAction {
    /// UPDATE SET.
    Update(Vec<SetItem>),
    /// DELETE.
    Delete,
    /// INSERT [(columns)] VALUES (...), or DEFAULT VALUES (no values).
    Insert {
        /// Named columns; empty when none.
        columns: Vec<Ident>,
        /// None: DEFAULT VALUES.
        values: Option<Vec<InsertValue>>,
    },
}

/// OUTPUT items [INTO target [(columns)]].
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// `inserted.c`, `deleted.*`, expressions.
    pub items: Vec<SelectItem>,
    /// INTO.
    pub into: Option<Target>,
    /// Columns of INTO.
    pub columns: Vec<Ident>,
    /// A second OUTPUT behind one with INTO: what the client gets.
    pub also: Vec<SelectItem>,
}

/// One variable of DECLARE.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// With the `@`.
    pub name: Variable,
    /// What it holds.
    pub kind: DeclarationKind,
}

/// Kinds of variable.
#[derive(Clone, Debug, PartialEq)]
pub enum DeclarationKind {
    /// `@v type [NOT NULL] [= expr]`.
    Scalar {
        /// Its type.
        ty: TypeName,
        /// NOT NULL (natively compiled modules).
        not_null: bool,
        /// Its first value.
        init: Option<Expr>,
    },
    /// `@t TABLE (...)`.
    Table(TableDefinition),
    /// `@c CURSOR`.
    Cursor,
}

impl DeclarationKind {
    /// A variable declared NOT NULL.
    pub fn is_not_null(&self) -> bool {
        matches!(self, DeclarationKind::Scalar { not_null: true, .. })
    }
}

/// SET of a session option.
#[derive(Clone, Debug, PartialEq)]
pub enum SetOption {
    /// `SET NOCOUNT, XACT_ABORT ON`: several names, upper case.
    Switch {
        /// Names, upper case, e.g. `NOCOUNT`, `STATISTICS IO`.
        names: Vec<String>,
        /// ON.
        on: bool,
    },
    /// `SET LOCK_TIMEOUT 100`, `SET DATEFORMAT dmy`, `SET ROWCOUNT @n`, `SET LANGUAGE us_english`.
    Value {
        /// Upper case.
        name: String,
        /// A literal, a variable, or a word (as a text).
        value: Expr,
    },
    /// `SET TRANSACTION ISOLATION LEVEL ...`.
    Isolation(IsolationLevel),
    /// `SET IDENTITY_INSERT t ON`.
    IdentityInsert {
        /// The table.
        table: ObjectName,
        /// ON.
        on: bool,
    },
}

/// Isolation levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Snapshot,
    Serializable,
}

/// RAISERROR.
#[derive(Clone, Debug, PartialEq)]
pub struct RaiseError {
    /// Text, number or variable.
    pub message: Expr,
    /// Severity.
    pub severity: Expr,
    /// State.
    pub state: Expr,
    /// Arguments of the format.
    pub args: Vec<Expr>,
    /// WITH LOG, NOWAIT, SETERROR: upper case.
    pub options: Vec<String>,
}

/// EXEC [@rc =] procedure [args] [WITH RECOMPILE].
#[derive(Clone, Debug, PartialEq)]
pub struct Execute {
    /// Receives the return code.
    pub return_code: Option<Variable>,
    /// What is called.
    pub procedure: ProcedureName,
    /// Arguments.
    pub args: Vec<ExecuteArg>,
    /// WITH RESULT SETS: the columns of each; NONE is an empty list, UNDEFINED is none.
    pub result_sets: Option<Vec<ResultShape>>,
    /// AS LOGIN (true) or USER = name, of a text.
    pub acting: Option<(bool, Expr)>,
}

/// One of WITH RESULT SETS.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultShape {
    /// `(name type, ...)`
    Columns(Vec<ResultColumn>),
    /// AS OBJECT: the columns of a table, view or table-valued function.
    Object(ObjectName),
    /// AS TYPE: those of a table type.
    Type(ObjectName),
}

/// A column among WITH RESULT SETS.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultColumn {
    /// What it is called from here on.
    pub name: Ident,
    /// The type that its values are converted to.
    pub ty: TypeName,
    /// COLLATE.
    pub collation: Option<Ident>,
    /// NULL or NOT NULL, where it says.
    pub nullable: Option<bool>,
}

/// A procedure by name or through a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum ProcedureName {
    /// `dbo.p`.
    Name(ObjectName),
    /// `EXEC @p`.
    Variable(Variable),
    /// `EXEC ('text') WITH RESULT SETS ...`.
    Text(Box<Expr>),
}

/// One argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecuteArg {
    /// `@p =`.
    pub name: Option<Variable>,
    /// A constant, a variable, a bare word (as a text); or DEFAULT.
    pub value: InsertValue,
    /// OUTPUT or OUT.
    pub output: bool,
}

/// DBCC.
#[derive(Clone, Debug, PartialEq)]
pub struct Dbcc {
    /// Upper case: `SQLPERF`, `TRACEON`.
    pub name: String,
    /// Constants, variables and functions without arguments; bare words come as [`DbccArg::Word`].
    pub args: Vec<DbccArg>,
    /// WITH options, upper case.
    pub options: Vec<String>,
}

/// Argument of DBCC.
#[derive(Clone, Debug, PartialEq)]
pub enum DbccArg {
    /// `CLEAR`, upper case.
    Word(String),
    /// A text in single or double quotes, or a bracketed name.
    Text(String),
    /// Number, with its sign.
    Number(i64),
    /// `@v`.
    Variable(Variable),
    /// `@@SPID`.
    System(Expr),
}

/// BACKUP.
#[derive(Clone, Debug, PartialEq)]
pub struct Backup {
    /// BACKUP LOG, otherwise DATABASE.
    pub log: bool,
    /// Which database, a text or a variable; None = the current one (a form of the posts).
    pub database: Option<Expr>,
    /// TO DISK = 'path' (or NUL).
    pub to: Vec<Expr>,
    /// Of each whether it is named, not told by its path.
    pub logical: Vec<bool>,
    /// WITH options.
    pub options: Vec<MediaOption>,
}

/// What RESTORE does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreKind {
    /// RESTORE DATABASE.
    Database,
    /// RESTORE LOG.
    Log,
    /// Reads everything and restores nothing.
    VerifyOnly,
    /// What sets the file holds.
    HeaderOnly,
    /// Which files a set has.
    FileListOnly,
    /// What the file says of itself.
    LabelOnly,
}

/// RESTORE.
#[derive(Clone, Debug, PartialEq)]
pub struct Restore {
    /// Which form.
    pub kind: RestoreKind,
    /// Of DATABASE and LOG: a text or a variable.
    pub database: Option<Expr>,
    /// FROM DISK = 'path'; none: only to recover.
    pub from: Vec<Expr>,
    /// See [`Backup::logical`].
    pub logical: Vec<bool>,
    /// WITH options.
    pub options: Vec<MediaOption>,
}

/// An option of BACKUP or RESTORE: `INIT`, `STATS = 10`, `NAME = @n`, `MOVE 'a' TO 'b'`.
#[derive(Clone, Debug, PartialEq)]
pub struct MediaOption {
    /// Upper case.
    pub name: String,
    /// Behind `=`; the file that MOVE names.
    pub value: Option<Expr>,
    /// Of MOVE.
    pub to: Option<Expr>,
}
