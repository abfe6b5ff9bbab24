//! Definitions with their types resolved, in the catalog's own terms. What needs no resolving
//! passes through as syntax.

use std::sync::Arc;

use syntax::ast;

use crate::Expr;
use crate::name::ObjectName;

/// A statement that changes the catalog.
#[derive(Debug, Clone)]
pub enum Ddl {
    CreateDatabase(Box<ast::CreateDatabase>),
    AlterDatabase(Box<ast::AlterDatabase>),
    CreateTable(Box<CreateTable>),
    AlterTable(Box<AlterTable>),
    /// CREATE UNIQUE CLUSTERED INDEX on a view.
    IndexView(Box<IndexView>),
    /// ALTER INDEX REORGANIZE: changes pages, and no definition.
    Reorganize(Reorganize),
    CreateProcedure(Box<CreateProcedure>),
    /// CREATE UNIQUE INDEX on a temporary table: one more constraint of it.
    PrivateUnique {
        table: ObjectName,
        key: catalog::KeySpec,
    },
    /// CREATE, ALTER, CREATE OR ALTER VIEW; the query has been bound.
    CreateView(Box<CreateProcedure>),
    /// CREATE, ALTER, CREATE OR ALTER FUNCTION of that kind; it has been bound.
    CreateFunction(catalog::ModuleKind, Box<CreateProcedure>),
    /// CREATE, ALTER, CREATE OR ALTER TRIGGER, and the whole batch; its body is bound when its table is known.
    CreateTrigger(Arc<ast::CreateTrigger>, Arc<str>),
    /// The same ON DATABASE and ON ALL SERVER, with the numbers of its events; its body has been bound.
    CreateDdlTrigger {
        create: Arc<ast::CreateDdlTrigger>,
        text: Arc<str>,
        events: Arc<[u16]>,
    },
    /// CREATE and ALTER SEQUENCE; of CREATE the type.
    DefineSequence(Box<ast::DefineSequence>, types::SqlType),
    CreateSynonym(Box<ast::CreateSynonym>),
    /// ENABLE and DISABLE TRIGGER.
    EnableTrigger(Box<ast::EnableTrigger>),
    /// The same ON DATABASE and ON ALL SERVER.
    EnableDdlTrigger(Box<ast::EnableDdlTrigger>),
    /// CREATE TYPE ... AS TABLE: a module whose text is the statement.
    CreateType {
        /// It is an alias, not a table type.
        alias: bool,
        name: ObjectName,
        text: Arc<str>,
    },
    /// CREATE RULE and CREATE DEFAULT: a module whose text is the batch.
    CreateBindable {
        kind: catalog::ModuleKind,
        name: ObjectName,
        text: Arc<str>,
    },
    /// CREATE and ALTER SECURITY POLICY.
    SecurityPolicy {
        policy: Box<ast::SecurityPolicy>,
        /// For each of its changes: the table, and the call of the function; it has been bound.
        changes: Vec<PolicyChange>,
    },
    /// CREATE, ALTER and DROP of partition functions and schemes.
    Partition(Box<PartitionDdl>),
    /// ALTER TABLE ... SWITCH.
    Switch(Box<Switch>),
    /// Databases, tables, procedures.
    Drop(Box<ast::DropObjects>),
}

/// A view that is to be indexed.
#[derive(Debug, Clone)]
pub struct IndexView {
    pub view: Arc<catalog::ProcedureDef>,
    /// Its columns, as those of a table.
    pub columns: Vec<catalog::ColumnSpec>,
    /// Ids of the tables that its rows come from.
    pub tables: Vec<i32>,
    pub spec: catalog::IndexSpec,
}

/// What a predicate is to be.
#[derive(Debug, Clone)]
pub struct PolicyChange {
    pub table: Arc<catalog::TableDef>,
    /// Empty for DROP.
    pub call: String,
}

/// A change of partition functions and schemes.
#[derive(Debug, Clone)]
pub enum PartitionDdl {
    CreateFunction {
        name: Box<str>,
        ty: types::SqlType,
        collation: types::Collation,
        right: bool,
        /// As they are written; each is brought to the type when the statement runs.
        values: Vec<Expr>,
    },
    /// SPLIT, or MERGE RANGE.
    AlterFunction {
        name: Box<str>,
        merge: bool,
        /// The boundary, as it is written.
        value: Expr,
    },
    CreateScheme {
        name: Box<str>,
        function: Box<str>,
        all: bool,
        filegroups: Vec<Box<str>>,
    },
    NextUsed {
        scheme: Box<str>,
        filegroup: Option<Box<str>>,
    },
    DropFunction(Box<str>),
    DropScheme(Box<str>),
}

/// ALTER TABLE ... SWITCH: rows of one table, or of a partition of it, go to another.
#[derive(Debug, Clone)]
pub struct Switch {
    pub source: ObjectName,
    pub partition: Option<Expr>,
    pub target: ObjectName,
    pub target_partition: Option<Expr>,
}

/// CREATE TABLE. Types are resolved, key columns checked, defaults known to bind and to convert.
#[derive(Debug, Clone)]
pub struct CreateTable {
    /// The catalog's spec names schema and table; this names the database.
    pub name: ObjectName,
    pub spec: catalog::TableSpec,
}

/// ALTER TABLE, CREATE INDEX, ALTER INDEX.
#[derive(Debug, Clone)]
pub struct AlterTable {
    pub name: ObjectName,
    /// In order; none for what is accepted without effect (SET (LOCK_ESCALATION ...), REBUILD).
    pub changes: Vec<catalog::AlterTable>,
    /// For ADD of columns: the value that rows already there get, by position in
    /// `changes[0]`'s columns; evaluate it into `ColumnSpec::absent`.
    pub absent: Vec<Option<Expr>>,
    /// What it is called where a table in memory refuses it.
    pub on_disk: Option<&'static str>,
}

/// ALTER INDEX REORGANIZE.
#[derive(Debug, Clone)]
pub struct Reorganize {
    pub table: ObjectName,
    /// None: ALL.
    pub index: Option<Box<str>>,
    /// LOB_COMPACTION.
    pub large_values: bool,
    /// PARTITION = number, which must be one.
    pub partition: Option<Expr>,
    /// The statement said REBUILD.
    pub rebuild: bool,
}

/// CREATE, ALTER, CREATE OR ALTER PROCEDURE. The body has been checked; the text is what is kept.
#[derive(Debug, Clone)]
pub struct CreateProcedure {
    pub mode: catalog::PutMode,
    pub name: ObjectName,
    /// WITH options, as in the syntax tree; of a view none.
    pub options: Vec<String>,
    /// Of a body that is an ATOMIC block: its LANGUAGE.
    pub language: Option<Box<str>>,
    /// The whole batch.
    pub text: Arc<str>,
}
