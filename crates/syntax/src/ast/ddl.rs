//! Definitions: databases, tables, procedures, and their changes.

use super::{
    ChangeTracking, DataSpace, Expr, Ident, Literal, ObjectName, Query, Span, Statement, TypeName,
    Variable,
};

/// CREATE DATABASE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateDatabase {
    /// Its name.
    pub name: Ident,
    /// Files of the filegroups, the primary one first when written.
    pub filegroups: Vec<FilegroupSpec>,
    /// LOG ON files.
    pub log_files: Vec<FileSpec>,
    /// COLLATE.
    pub collation: Option<Ident>,
    /// WITH options.
    pub options: Vec<DatabaseOption>,
}

/// A filegroup and its files, in CREATE DATABASE.
#[derive(Clone, Debug, PartialEq)]
pub struct FilegroupSpec {
    /// None = PRIMARY.
    pub name: Option<Ident>,
    /// CONTAINS MEMORY_OPTIMIZED_DATA.
    pub memory_optimized: bool,
    /// DEFAULT.
    pub default: bool,
    /// Its files.
    pub files: Vec<FileSpec>,
}

/// `(NAME = n, FILENAME = 'path', SIZE = 10MB, MAXSIZE = UNLIMITED, FILEGROWTH = 10%)`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FileSpec {
    /// NAME, the logical one.
    pub name: Option<String>,
    /// NEWNAME (MODIFY FILE).
    pub new_name: Option<String>,
    /// FILENAME.
    pub filename: Option<String>,
    /// SIZE in bytes.
    pub size_bytes: Option<u64>,
    /// MAXSIZE.
    pub max_size: Option<MaxSize>,
    /// FILEGROWTH.
    pub growth: Option<FileGrowth>,
    /// Where.
    pub span: Span,
}

/// MAXSIZE of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxSize {
    /// UNLIMITED
    Unlimited,
    /// In bytes.
    Bytes(u64),
}

/// FILEGROWTH of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileGrowth {
    /// In bytes; 0 = none.
    Bytes(u64),
    /// `10%`.
    Percent(u32),
}

/// ALTER DATABASE.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterDatabase {
    /// None = CURRENT.
    pub name: Option<Ident>,
    /// What to do.
    pub action: AlterDatabaseAction,
    /// What becomes of those who are in the way; none: they are waited for.
    pub termination: Option<Termination>,
}

/// WITH ... at the end of ALTER DATABASE SET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// ROLLBACK IMMEDIATE, or ROLLBACK AFTER so many seconds: then their sessions are ended.
    RollbackAfter(u64),
    /// NO_WAIT: the statement fails.
    NoWait,
}

/// Actions of ALTER DATABASE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterDatabaseAction {
    /// SET options.
    Set(Vec<DatabaseOption>),
    /// ADD FILEGROUP name [CONTAINS MEMORY_OPTIMIZED_DATA].
    AddFilegroup {
        /// Name.
        name: Ident,
        /// CONTAINS MEMORY_OPTIMIZED_DATA.
        memory_optimized: bool,
    },
    /// REMOVE FILEGROUP.
    RemoveFilegroup(Ident),
    /// MODIFY FILEGROUP name DEFAULT | READ_ONLY | NAME = x ...: the words after the name.
    ModifyFilegroup {
        /// Name.
        name: Ident,
        /// Upper case word, e.g. `DEFAULT`.
        action: String,
        /// New name of `NAME = x`.
        new_name: Option<Ident>,
    },
    /// ADD FILE specs [TO FILEGROUP g].
    AddFile {
        /// The files.
        files: Vec<FileSpec>,
        /// None = PRIMARY.
        filegroup: Option<Ident>,
    },
    /// ADD LOG FILE specs.
    AddLogFile(Vec<FileSpec>),
    /// REMOVE FILE.
    RemoveFile(Ident),
    /// MODIFY FILE (...).
    ModifyFile(FileSpec),
    /// MODIFY NAME = new.
    Rename(Ident),
    /// COLLATE name.
    Collate(Ident),
    /// SET CHANGE_TRACKING.
    ChangeTracking(ChangeTracking),
    /// SCOPED CONFIGURATION, of the current database.
    Scoped {
        /// FOR SECONDARY.
        secondary: bool,
        /// What to do.
        action: ScopedAction,
    },
}

/// What ALTER DATABASE SCOPED CONFIGURATION does.
#[derive(Clone, Debug, PartialEq)]
pub enum ScopedAction {
    /// SET name = value.
    Set {
        /// Of the option.
        name: Ident,
        /// What it is set to.
        value: ScopedValue,
    },
    /// CLEAR PROCEDURE_CACHE, all of it or the plan of that handle, as it is written.
    ClearProcedureCache(Option<String>),
}

/// A value of a database's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScopedValue {
    /// ON, OFF, PRIMARY, ...: upper case.
    Word(String),
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

/// One `OPTION = value` or `OPTION value` or bare `OPTION` of a database.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseOption {
    /// Upper case: `RECOVERY`, `DELAYED_DURABILITY`, `READ_COMMITTED_SNAPSHOT`, `OFFLINE`.
    pub name: String,
    /// What follows.
    pub value: OptionValue,
    /// Where.
    pub span: Span,
}

/// Value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// No value: the word stands alone.
    None,
    /// ON.
    On,
    /// OFF.
    Off,
    /// A word, upper case (`FORCED`, `SIMPLE`), or several joined by one blank.
    Word(String),
    /// A number or a text.
    Literal(Literal),
    /// `ON (...)` or `= (...)`: nested options.
    List(Vec<DatabaseOption>),
    /// HISTORY_TABLE = name.
    Name(ObjectName),
}

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// Its name.
    pub name: ObjectName,
    /// Columns, constraints, indexes.
    pub definition: TableDefinition,
    /// ON filegroup, or ON scheme (column).
    pub filegroup: Option<DataSpace>,
    /// TEXTIMAGE_ON filegroup.
    pub textimage: Option<Ident>,
    /// WITH (...) options, e.g. MEMORY_OPTIMIZED, DATA_COMPRESSION.
    pub options: Vec<DatabaseOption>,
}

/// Columns, constraints and indexes between the parentheses of a table.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TableDefinition {
    /// In order.
    pub columns: Vec<ColumnDefinition>,
    /// Table-level constraints, in order.
    pub constraints: Vec<TableConstraint>,
    /// Inline indexes.
    pub indexes: Vec<IndexDefinition>,
    /// `PERIOD FOR SYSTEM_TIME (start, end)`; one is right.
    pub periods: Vec<(Ident, Ident)>,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Ident,
    /// Its type; absent only for a computed column (and `timestamp` written alone has that type).
    pub ty: Option<TypeName>,
    /// `AS (expr)`: computed.
    pub computed: Option<Expr>,
    /// PERSISTED.
    pub persisted: bool,
    /// NULL, NOT NULL, or not said.
    pub nullable: Option<bool>,
    /// IDENTITY.
    pub identity: Option<Identity>,
    /// DEFAULT.
    pub default: Option<DefaultDefinition>,
    /// DEFAULT stands there more than once (8148).
    pub second_default: bool,
    /// COLLATE.
    pub collation: Option<Ident>,
    /// ROWGUIDCOL.
    pub rowguidcol: bool,
    /// SPARSE.
    pub sparse: bool,
    /// COLUMN_SET FOR ALL_SPARSE_COLUMNS.
    pub column_set: bool,
    /// HIDDEN.
    pub hidden: bool,
    /// NOT FOR REPLICATION, of an IDENTITY.
    pub not_for_replication: bool,
    /// GENERATED ALWAYS AS ROW START or END.
    pub generated: Option<RowEdge>,
    /// MASKED WITH (FUNCTION = 'text').
    pub mask: Option<String>,
    /// Constraints written with the column; their column list is this column alone.
    pub constraints: Vec<TableConstraint>,
    /// Inline indexes of this column.
    pub indexes: Vec<IndexDefinition>,
    /// Where.
    pub span: Span,
}

/// An end of the time in which a row is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum RowEdge {
    Start,
    End,
}

/// `IDENTITY [(seed, increment)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Digits, perhaps with a sign; 1 when not given.
    pub seed: String,
    /// Likewise.
    pub increment: String,
}

/// `[CONSTRAINT name] DEFAULT expr`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultDefinition {
    /// Constraint's name.
    pub name: Option<Ident>,
    /// The value; `expr.span` covers its text (catalog keeps the text).
    pub expr: Expr,
    /// WITH VALUES: rows that ALTER TABLE finds get it, though the column allows NULL.
    pub with_values: bool,
}

/// `[CONSTRAINT name] PRIMARY KEY ...` and its like.
#[derive(Clone, Debug, PartialEq)]
pub struct TableConstraint {
    /// Its name.
    pub name: Option<Ident>,
    /// What it says.
    pub kind: ConstraintKind,
    /// Where.
    pub span: Span,
}

/// Kinds of constraint.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstraintKind {
    /// PRIMARY KEY or UNIQUE.
    Key {
        /// PRIMARY KEY, otherwise UNIQUE.
        primary: bool,
        /// CLUSTERED true, NONCLUSTERED false, or not said.
        clustered: Option<bool>,
        /// HASH.
        hash: bool,
        /// Key columns.
        columns: Vec<IndexColumn>,
        /// WITH (...).
        options: Vec<DatabaseOption>,
        /// ON filegroup, or ON scheme (column).
        filegroup: Option<DataSpace>,
    },
    /// CHECK (condition).
    Check {
        /// Must not be false.
        condition: Expr,
    },
    /// FOREIGN KEY ... REFERENCES.
    ForeignKey {
        /// This table's columns.
        columns: Vec<Ident>,
        /// The other table.
        table: ObjectName,
        /// Its columns; empty = its key.
        referenced: Vec<Ident>,
        /// ON DELETE, upper case words.
        on_delete: Option<String>,
        /// ON UPDATE.
        on_update: Option<String>,
    },
    /// `DEFAULT expr FOR column` (ALTER TABLE ADD).
    DefaultFor {
        /// The value.
        expr: Expr,
        /// The column.
        column: Ident,
    },
}

/// `name [ASC | DESC]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// The column.
    pub name: Ident,
    /// DESC.
    pub descending: bool,
}

/// CREATE INDEX, and INDEX inside CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDefinition {
    /// Its name.
    pub name: Ident,
    /// UNIQUE.
    pub unique: bool,
    /// CLUSTERED true, NONCLUSTERED false, or not said.
    pub clustered: Option<bool>,
    /// HASH.
    pub hash: bool,
    /// COLUMNSTORE: then `columns` are those it is over (none when it is clustered), and there is no INCLUDE.
    pub columnstore: bool,
    /// SPATIAL: then `columns` is the one that it is over.
    pub spatial: Option<SpatialIndex>,
    /// XML: likewise.
    pub xml: Option<XmlIndex>,
    /// Key columns.
    pub columns: Vec<IndexColumn>,
    /// ORDER of a columnstore index.
    pub order: Vec<Ident>,
    /// INCLUDE.
    pub include: Vec<Ident>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// WITH (...).
    pub options: Vec<DatabaseOption>,
    /// ON filegroup, or ON scheme (column).
    pub filegroup: Option<DataSpace>,
    /// Where.
    pub span: Span,
}

/// What CREATE XML INDEX says more.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlIndex {
    /// PRIMARY.
    pub primary: bool,
    /// USING XML INDEX: the primary one.
    pub using: Option<Ident>,
    /// FOR: PATH, VALUE or PROPERTY.
    pub kind: Option<String>,
}

/// What CREATE SPATIAL INDEX says more; of what may be said once, each time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpatialIndex {
    /// USING.
    pub scheme: Option<Ident>,
    /// BOUNDING_BOX: edges, perhaps with their names in upper case.
    pub bounding_box: Vec<Vec<(Option<String>, Expr)>>,
    /// GRIDS: levels, perhaps with their names.
    pub grids: Vec<Vec<(Option<String>, String)>>,
    /// CELLS_PER_OBJECT.
    pub cells: Vec<Expr>,
}

/// CREATE, ALTER, CREATE OR ALTER VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// Which.
    pub mode: CreateMode,
    /// Its name.
    pub name: ObjectName,
    /// Names of its columns; empty: those of the query.
    pub columns: Vec<Ident>,
    /// What it shows.
    pub query: Query,
    /// WITH CHECK OPTION.
    pub check_option: bool,
    /// WITH SCHEMABINDING, ENCRYPTION, VIEW_METADATA, in upper case.
    pub options: Vec<String>,
}

/// CREATE TYPE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateType {
    /// Its name.
    pub name: ObjectName,
    /// What it stands for.
    pub definition: TypeDefinition,
    /// WITH (...) of a table type: MEMORY_OPTIMIZED.
    pub options: Vec<DatabaseOption>,
    /// The whole statement.
    pub span: Span,
}

/// What a type stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeDefinition {
    /// `AS TABLE (...)`: columns and constraints.
    Table(TableDefinition),
    /// `FROM base [NULL | NOT NULL]`: an alias.
    Alias {
        /// The type of the system.
        base: TypeName,
        /// `None`: not said.
        nullable: Option<bool>,
    },
}

/// CREATE INDEX ... ON table.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    /// The table.
    pub table: ObjectName,
    /// The rest.
    pub index: IndexDefinition,
}

/// ALTER INDEX ... ON table.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterIndex {
    /// The index; None = ALL.
    pub index: Option<Ident>,
    /// The table.
    pub table: ObjectName,
    /// What to do.
    pub action: AlterIndexAction,
    /// REBUILD and REORGANIZE PARTITION = number.
    pub partition: Option<Expr>,
}

/// Actions of ALTER INDEX.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterIndexAction {
    /// REBUILD [PARTITION = ALL] [WITH (...)].
    Rebuild(Vec<DatabaseOption>),
    /// REORGANIZE [PARTITION = ALL] [WITH (...)].
    Reorganize(Vec<DatabaseOption>),
    /// DISABLE.
    Disable,
    /// SET (...).
    Set(Vec<DatabaseOption>),
    /// RESUME [WITH (...)], PAUSE or ABORT, which it says.
    Resumable(&'static str),
}

/// ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// Its name.
    pub name: ObjectName,
    /// What to do.
    pub action: AlterTableAction,
}

/// Actions of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterTableAction {
    /// ADD columns and constraints.
    Add {
        /// What is added.
        definition: TableDefinition,
        /// WITH NOCHECK.
        nocheck: bool,
    },
    /// ALTER COLUMN name type [NULL | NOT NULL].
    AlterColumn {
        /// The column.
        name: Ident,
        /// New type.
        ty: TypeName,
        /// COLLATE.
        collation: Option<Ident>,
        /// NULL, NOT NULL, or not said.
        nullable: Option<bool>,
        /// GENERATED ALWAYS stands there too (13589).
        generated: bool,
        /// MASKED WITH (FUNCTION = 'text').
        mask: Option<String>,
    },
    /// ALTER COLUMN name ADD or DROP of a mark.
    MarkColumn {
        /// The column.
        name: Ident,
        /// What.
        mark: ColumnMark,
        /// ADD, otherwise DROP.
        on: bool,
    },
    /// ALTER COLUMN name ADD MASKED WITH (FUNCTION = 'text'); DROP MASKED.
    MaskColumn {
        /// The column.
        name: Ident,
        /// ADD: its function.
        function: Option<String>,
    },
    /// DROP PERIOD FOR SYSTEM_TIME.
    DropPeriod,
    /// DROP COLUMN / CONSTRAINT / INDEX.
    Drop(Vec<AlterTableDrop>),
    /// ALTER INDEX name REBUILD [[NONCLUSTERED] [HASH] WITH (BUCKET_COUNT = n)]: of memory-optimised tables.
    RebuildIndex {
        /// The index.
        index: Ident,
        /// HASH is said.
        hash: bool,
        /// WITH options.
        options: Vec<DatabaseOption>,
    },
    /// SET (LOCK_ESCALATION = DISABLE) and its like.
    Set(Vec<DatabaseOption>),
    /// CHECK / NOCHECK CONSTRAINT names; empty = ALL.
    CheckConstraint {
        /// CHECK, otherwise NOCHECK.
        enable: bool,
        /// WITH CHECK.
        verify: bool,
        /// Names.
        names: Vec<Ident>,
    },
    /// REBUILD [PARTITION = ALL | number].
    Rebuild(Option<Expr>, Vec<DatabaseOption>),
    /// ENABLE CHANGE_TRACKING.
    EnableTracking {
        /// TRACK_COLUMNS_UPDATED = ON.
        columns: bool,
    },
    /// DISABLE CHANGE_TRACKING.
    DisableTracking,
}

/// What ALTER COLUMN ADD and DROP is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum ColumnMark {
    RowGuidCol,
    NotForReplication,
    Persisted,
    Sparse,
    Hidden,
}

/// What ALTER TABLE DROP drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum TablePart {
    Constraint,
    Column,
    /// Of memory-optimised tables.
    Index,
}

/// One item of ALTER TABLE DROP.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTableDrop {
    /// What goes.
    pub kind: TablePart,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Name.
    pub name: Ident,
}

/// CREATE [OR ALTER] / ALTER PROCEDURE. The text of the definition is the whole batch.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateProcedure {
    /// How it begins.
    pub mode: CreateMode,
    /// Its name.
    pub name: ObjectName,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// WITH options, upper case: `RECOMPILE`, `EXECUTE AS OWNER`, `SCHEMABINDING`.
    pub options: Vec<String>,
    /// What stands after AS, to the end of the batch.
    pub body: Vec<Statement>,
}

/// CREATE, ALTER, CREATE OR ALTER.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum CreateMode {
    Create,
    Alter,
    CreateOrAlter,
}

/// `@p type [= default] [OUTPUT] [READONLY]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// With the `@`.
    pub name: Variable,
    /// Its type.
    pub ty: TypeName,
    /// NOT NULL (natively compiled modules).
    pub not_null: bool,
    /// Value when the caller gives none (a constant; a bare word is a text).
    pub default: Option<Expr>,
    /// OUTPUT or OUT.
    pub output: bool,
    /// READONLY.
    pub readonly: bool,
    /// CURSOR, with or without VARYING; `ty` then means nothing.
    pub cursor: Option<Varying>,
}

/// Whether a cursor parameter says VARYING.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Varying(pub bool);

/// DROP of one kind of thing.
#[derive(Clone, Debug, PartialEq)]
pub struct DropObjects {
    /// What is dropped.
    pub kind: DropKind,
    /// IF EXISTS.
    pub if_exists: bool,
    /// At least one.
    pub names: Vec<ObjectName>,
}

/// What DROP drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum DropKind {
    Database,
    Table,
    Procedure,
    /// `DROP INDEX i ON t`: the name is `t.i` (schema = the table's name, database = its schema, server = its database).
    Index,
    Type,
    View,
    Function,
    Trigger,
    /// ON DATABASE.
    DatabaseTrigger,
    /// ON ALL SERVER.
    ServerTrigger,
    Sequence,
    Synonym,
    SecurityPolicy,
    Rule,
    Default,
}
