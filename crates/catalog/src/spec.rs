//! What data definition asks for: names as written, nothing looked up yet.

use crate::def::Identity;
use types::SqlType;

/// CREATE TABLE.
#[derive(Clone, Debug)]
pub struct TableSpec {
    pub schema: Box<str>,
    pub name: Box<str>,
    pub columns: Vec<ColumnSpec>,
    pub primary_key: Option<KeySpec>,
    /// UNIQUE constraints, of private tables only.
    pub unique: Vec<KeySpec>,
    /// `None`: the default filegroup.
    pub filegroup: Option<Box<str>>,
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
}

/// A primary key to create.
#[derive(Clone, Debug)]
pub struct KeySpec {
    /// `None`: a generated name (PK__table__hex).
    pub name: Option<Box<str>>,
    /// (column name, descending).
    pub columns: Vec<(Box<str>, bool)>,
    /// NONCLUSTERED is not built: the catalog answers `NotSupported`.
    pub clustered: bool,
    pub filegroup: Option<Box<str>>,
}

/// ALTER TABLE.
#[derive(Clone, Debug)]
pub enum AlterTable {
    AddColumns(Vec<ColumnSpec>),
    AddDefault {
        name: Option<Box<str>>,
        column: Box<str>,
        text: Box<str>,
    },
    /// Of an empty table only.
    AddPrimaryKey(KeySpec),
    /// sp_rename of a column: 207 when there is none, 2705 when the name is taken.
    RenameColumn {
        from: Box<str>,
        to: Box<str>,
    },
    /// sp_rename of the table: 2714 when the name is taken.
    Rename {
        to: Box<str>,
    },
    /// Of a default; or of the primary key of an empty table.
    DropConstraint {
        name: Box<str>,
        if_exists: bool,
    },
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
