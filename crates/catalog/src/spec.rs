//! What data definition asks for: names as written, nothing looked up yet.

use crate::def::{Identity, Marks, ModuleKind, PeriodEdge, RefAction, Retention};
use crate::index_options::{Compression, IndexOptions, IndexOptionsChange};
use std::sync::Arc;
use types::SqlType;

/// CREATE TABLE.
#[derive(Clone, Debug, Default)]
pub struct TableSpec {
    pub schema: Box<str>,
    pub name: Box<str>,
    pub columns: Vec<ColumnSpec>,
    pub primary_key: Option<KeySpec>,
    /// UNIQUE constraints.
    pub unique: Vec<KeySpec>,
    pub indexes: Vec<IndexSpec>,
    pub checks: Vec<CheckSpec>,
    pub foreign_keys: Vec<ForeignKeySpec>,
    /// `None`: the default filegroup.
    pub filegroup: Option<SpaceSpec>,
    /// MEMORY_OPTIMIZED = ON: whether its rows are durable.
    pub memory: Option<bool>,
    /// SYSTEM_VERSIONING = ON.
    pub versioning: Option<VersioningSpec>,
    /// DATA_COMPRESSION of the rows, where they lie in a heap.
    pub compression: Compression,
    /// Of a table variable: its database's. See [`crate::TableDef::database_collation`].
    pub database_collation: types::Collation,
}

/// Where a table or an index is to lie: a filegroup, or a partition scheme and its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceSpec {
    pub name: Box<str>,
    /// One for a scheme; none for a filegroup.
    pub columns: Vec<Box<str>>,
}

impl From<&str> for SpaceSpec {
    /// A filegroup.
    fn from(name: &str) -> SpaceSpec {
        SpaceSpec { name: name.into(), columns: Vec::new() }
    }
}

/// SYSTEM_VERSIONING = ON (...).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersioningSpec {
    /// HISTORY_TABLE: schema and name. `None`: a new one under a generated name.
    pub history: Option<(Box<str>, Box<str>)>,
    /// DATA_CONSISTENCY_CHECK = OFF: rows that are in the history table already are not looked at.
    pub unchecked: bool,
    pub retention: Option<Retention>,
}

/// A column to create.
#[derive(Clone, Debug)]
pub struct ColumnSpec {
    pub name: Box<str>,
    pub ty: SqlType,
    /// `None`: not said; NULL is then allowed unless the column is in the primary key.
    pub nullable: Option<bool>,
    /// (constraint name or `None` for a generated one, expression text).
    pub default: Option<(Option<Box<str>>, Box<str>)>,
    pub identity: Option<Identity>,
    /// For ALTER TABLE ADD: the default's value, evaluated and converted to `ty`, which rows
    /// already there get when the column is NOT NULL (or WITH VALUES).
    pub absent: Option<types::Value>,
    /// A computed column's expression, and PERSISTED.
    pub computed: Option<(Box<str>, bool)>,
    /// See [`crate::ComputedDef::volatile`].
    pub volatile: bool,
    pub rowversion: bool,
    /// Object id of the alias type that it is declared with.
    pub alias: Option<i32>,
    /// Of a character type; the default for any other.
    pub collation: types::Collation,
    pub generated: Option<PeriodEdge>,
    pub marks: Marks,
    /// MASKED WITH (FUNCTION = ...).
    pub mask: Option<Arc<types::Mask>>,
}

impl ColumnSpec {
    /// A column of which nothing more is said.
    pub fn new(name: &str, ty: SqlType) -> ColumnSpec {
        ColumnSpec {
            name: name.into(),
            ty,
            nullable: None,
            default: None,
            identity: None,
            absent: None,
            computed: None,
            volatile: false,
            rowversion: false,
            alias: None,
            collation: types::Collation::default(),
            generated: None,
            marks: Marks::default(),
            mask: None,
        }
    }
}

/// A primary key to create.
#[derive(Clone, Debug)]
pub struct KeySpec {
    /// `None`: a generated name (PK__table__hex).
    pub name: Option<Box<str>>,
    /// (column name, descending).
    pub columns: Vec<(Box<str>, bool)>,
    pub clustered: bool,
    pub ignore_dup_key: bool,
    pub fill_factor: u8,
    pub options: IndexOptions,
    pub filegroup: Option<SpaceSpec>,
    /// HASH WITH (BUCKET_COUNT = ...).
    pub buckets: Option<u32>,
}

/// An index to create.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexSpec {
    pub name: Box<str>,
    /// (column name, descending).
    pub columns: Vec<(Box<str>, bool)>,
    /// Those of a columnstore index, too, which has no key.
    pub include: Vec<Box<str>>,
    pub columnstore: Option<ColumnstoreSpec>,
    /// Of the one column that `include` names.
    pub spatial: Option<crate::SpatialIndex>,
    /// Likewise.
    pub xml: Option<crate::XmlIndex>,
    pub unique: bool,
    pub clustered: bool,
    /// The condition's text, known to bind.
    pub filter: Option<Box<str>>,
    pub filegroup: Option<SpaceSpec>,
    pub fill_factor: u8,
    pub options: IndexOptions,
    pub ignore_dup_key: bool,
    /// HASH WITH (BUCKET_COUNT = ...).
    pub buckets: Option<u32>,
    /// Takes the place of the index of that name; 7999 when there is none.
    pub drop_existing: bool,
}

/// What makes an index a columnstore index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnstoreSpec {
    pub archive: bool,
    pub delay_minutes: u16,
    /// ORDER.
    pub order: Vec<Box<str>>,
}

/// A CHECK to create; its text is known to bind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckSpec {
    /// `None`: a generated name (CK__table__column__hex).
    pub name: Option<Box<str>>,
    pub text: Box<str>,
    /// Of a constraint written with a column.
    pub column: Option<Box<str>>,
    /// Rows there already are not looked at.
    pub nocheck: bool,
}

/// A FOREIGN KEY to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKeySpec {
    /// `None`: a generated name (FK__table__column__hex).
    pub name: Option<Box<str>>,
    pub columns: Vec<Box<str>>,
    pub schema: Option<Box<str>>,
    pub table: Box<str>,
    /// Empty: the primary key.
    pub referenced: Vec<Box<str>>,
    pub on_delete: RefAction,
    pub on_update: RefAction,
    /// Rows there already are not looked at.
    pub nocheck: bool,
}

impl ForeignKeySpec {
    /// The referenced table as the definition names it, for messages.
    pub(crate) fn shown(&self) -> Box<str> {
        match &self.schema {
            Some(schema) => format!("{schema}.{}", self.table).into(),
            None => self.table.clone(),
        }
    }
}

/// ALTER TABLE.
#[derive(Clone, Debug)]
pub enum AlterTable {
    AddColumns(Vec<ColumnSpec>),
    /// sp_bindrule, sp_bindefault and their opposites: a rule or a default, which `kind` says.
    BindColumn {
        name: Box<str>,
        kind: ModuleKind,
        to: Option<crate::Binding>,
    },
    AddDefault {
        name: Option<Box<str>>,
        column: Box<str>,
        text: Box<str>,
    },
    AddPrimaryKey(KeySpec),
    AddUnique(KeySpec),
    AddCheck(CheckSpec),
    AddForeignKey(ForeignKeySpec),
    /// CREATE INDEX, and INDEX inside CREATE TABLE.
    AddIndex(IndexSpec),
    /// DROP INDEX: 3701, 3723 for the index of a constraint.
    DropIndex {
        name: Box<str>,
    },
    /// ALTER INDEX ... REBUILD; `None` for ALL. An index that is disabled works again.
    RebuildIndex {
        name: Option<Box<str>>,
    },
    /// ALTER TABLE ... ALTER INDEX ... REBUILD of a table in memory; `None`: a range index.
    RebuildInMemory {
        name: Box<str>,
        buckets: Option<u32>,
    },
    /// ALTER INDEX ... DISABLE; `None` for ALL.
    DisableIndex {
        name: Option<Box<str>>,
    },
    /// ALTER INDEX ... SET (IGNORE_DUP_KEY = ...), and REBUILD's.
    SetIgnoreDupKey {
        name: Box<str>,
        on: bool,
    },
    /// The same of what is only kept; `None` for ALL. `rows`: ALTER TABLE REBUILD, which is about the
    /// table's rows alone, in a heap too.
    SetIndexOptions {
        name: Option<Box<str>>,
        change: IndexOptionsChange,
        rows: bool,
    },
    /// ALTER INDEX ... SET and REBUILD of a columnstore index: what is not said stays.
    SetColumnstore {
        name: Box<str>,
        archive: Option<bool>,
        delay_minutes: Option<u16>,
    },
    RenameIndex {
        from: Box<str>,
        to: Box<str>,
    },
    /// sp_rename of a constraint.
    RenameConstraint {
        from: Box<str>,
        to: Box<str>,
    },
    /// ALTER COLUMN: rows are rewritten.
    AlterColumn {
        name: Box<str>,
        ty: SqlType,
        nullable: Option<bool>,
        /// See [`ColumnSpec::alias`].
        alias: Option<i32>,
        /// See [`ColumnSpec::collation`].
        collation: types::Collation,
        /// See [`ColumnSpec::mask`]; one that is not said again goes.
        mask: Option<Arc<types::Mask>>,
    },
    DropColumn {
        name: Box<str>,
        if_exists: bool,
    },
    /// CHECK and NOCHECK CONSTRAINT; no names: all. `verify`: WITH CHECK.
    EnableConstraints {
        names: Vec<Box<str>>,
        enable: bool,
        verify: bool,
    },
    /// Rows have come that nobody has looked at: constraints that are enabled are no longer trusted.
    DistrustConstraints,
    /// sp_rename of a column: 207 when there is none, 2705 when the name is taken.
    RenameColumn {
        from: Box<str>,
        to: Box<str>,
    },
    /// sp_rename of the table: 2714 when the name is taken.
    Rename {
        to: Box<str>,
    },
    DropConstraint {
        name: Box<str>,
        if_exists: bool,
    },
    /// ADD PERIOD FOR SYSTEM_TIME over columns that are there, or have just been added as its ends.
    AddPeriod {
        start: Box<str>,
        end: Box<str>,
    },
    DropPeriod,
    /// SET (SYSTEM_VERSIONING = ON): the history table comes to be, or is checked.
    StartVersioning(VersioningSpec),
    /// SET (SYSTEM_VERSIONING = OFF); both tables go on as ordinary ones.
    StopVersioning,
    /// ALTER COLUMN ... ADD MASKED; DROP MASKED without a function.
    MaskColumn {
        name: Box<str>,
        function: Option<Box<str>>,
    },
    /// ENABLE CHANGE_TRACKING, with TRACK_COLUMNS_UPDATED.
    StartTracking {
        columns: bool,
    },
    /// DISABLE CHANGE_TRACKING.
    StopTracking,
    /// ALTER COLUMN ... ADD and DROP of what is no type.
    MarkColumn {
        name: Box<str>,
        mark: Mark,
        on: bool,
    },
}

/// What ALTER COLUMN ... ADD and DROP adds and drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Hidden,
    RowGuidCol,
    Sparse,
    NotForReplication,
    /// Of a computed column.
    Persisted,
}

/// Which of CREATE, ALTER, CREATE OR ALTER.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutMode {
    Create,
    Alter,
    CreateOrAlter,
}

/// SET options kept with a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleOptions {
    pub quoted_identifier: bool,
    pub ansi_nulls: bool,
}
