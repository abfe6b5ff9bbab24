//! Definitions, as the binder and the executor see them: immutable, shared by `Arc`, replaced
//! whole by data definition.

use crate::TreeId;
use types::{KeyLayout, RowLayout, SqlType};

/// A table. Rows lie in `tree`: under the primary key's bytes when there is a clustered one, else
/// (a heap) under a hidden 8-byte row id.
#[derive(Clone, Debug)]
pub struct TableDef {
    pub object_id: i32,
    /// As created; look-ups ignore case.
    pub schema: Box<str>,
    pub name: Box<str>,
    /// In ordinal order, which is the order of `layout`.
    pub columns: Vec<ColumnDef>,
    pub primary_key: Option<KeyDef>,
    pub tree: TreeId,
    /// Where columns lie that do not fit into their rows; none where all rows fit, and for tables from before there
    /// was such a tree.
    pub lob: Option<TreeId>,
    /// Whose the rows are. `tree` and `layout` mean something for tables of the database alone.
    pub place: Place,
    /// UNIQUE constraints; of session-private tables only so far.
    pub unique: Vec<KeyDef>,
    pub layout: RowLayout,
    /// Of the clustered key; no parts for a heap.
    pub key_layout: KeyLayout,
    pub filegroup: Box<str>,
    /// Catalog version at which this definition came to be; a plan made under it is stale when the
    /// current definition's differs.
    pub version: u64,
    /// UTC, ns since 1970.
    pub created_unix_ns: u64,
}

impl TableDef {
    /// Ordinal (0-based) of a column, any case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| same_name(&c.name, name))
    }
    /// Is there no clustered key, so that rows lie under a hidden row id?
    pub fn is_heap(&self) -> bool {
        self.key_layout.parts().is_empty()
    }
    /// Do the rows belong to one session (a temporary table, a table variable)?
    pub fn is_private(&self) -> bool {
        self.place != Place::Database
    }
    /// Ordinal of the identity column.
    pub fn identity(&self) -> Option<usize> {
        self.columns.iter().position(|c| c.identity.is_some())
    }
}

/// Whose a table's rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The database's: pages, log, locks.
    Database,
    /// A session's `#table`, by its number within the session.
    Temporary(u32),
    /// A table variable, by its number within the batch or procedure.
    Variable(u16),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDef {
    pub name: Box<str>,
    pub ty: SqlType,
    pub nullable: bool,
    pub default: Option<DefaultDef>,
    pub identity: Option<Identity>,
    /// What a row written before this column was added reads as: the column's default at the time
    /// of ALTER TABLE ADD, else NULL.
    pub absent: types::Value,
}

/// A DEFAULT constraint: its name and its expression as T-SQL text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultDef {
    pub name: Box<str>,
    pub text: Box<str>,
}

/// IDENTITY(seed, increment). The next value is kept by [`crate::Catalog::next_identity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub seed: i64,
    pub increment: i64,
}

/// A primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDef {
    pub name: Box<str>,
    /// (ordinal, descending).
    pub columns: Vec<(usize, bool)>,
    pub clustered: bool,
}

/// What is kept as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModuleKind {
    Procedure,
    /// CREATE TYPE ... AS TABLE. Types have names of their own: a table may be called the same.
    TableType,
    View,
    ScalarFunction,
    /// An inline table-valued function.
    InlineFunction,
    /// A table-valued function with statements.
    TableFunction,
}

impl ModuleKind {
    /// In the `kind` column of `objects`.
    pub(crate) fn number(self) -> u8 {
        match self {
            ModuleKind::Procedure => 2,
            ModuleKind::TableType => 3,
            ModuleKind::View => 4,
            ModuleKind::ScalarFunction => 5,
            ModuleKind::InlineFunction => 6,
            ModuleKind::TableFunction => 7,
        }
    }

    pub(crate) fn of_number(number: u8) -> Option<ModuleKind> {
        use ModuleKind::*;
        let all = [Procedure, TableType, View, ScalarFunction, InlineFunction, TableFunction];
        all.into_iter().find(|kind| kind.number() == number)
    }

    /// One may be altered into the other.
    pub(crate) fn replaces(self, other: ModuleKind) -> bool {
        let table = |kind| matches!(kind, ModuleKind::InlineFunction | ModuleKind::TableFunction);
        self == other || (table(self) && table(other))
    }

    /// In messages.
    pub fn word(self) -> &'static str {
        match self {
            ModuleKind::Procedure => "procedure",
            ModuleKind::TableType => "type",
            ModuleKind::View => "view",
            _ => "function",
        }
    }

    /// `name` as the key of look-ups: types are apart from objects.
    pub(crate) fn key(self, name: &str) -> String {
        match self {
            ModuleKind::TableType => format!("\u{1}{name}"),
            _ => name.to_owned(),
        }
    }
}

/// A stored procedure or another module: its text, whole, from CREATE on.
#[derive(Clone, Debug)]
pub struct ProcedureDef {
    pub kind: ModuleKind,
    pub object_id: i32,
    pub schema: Box<str>,
    pub name: Box<str>,
    pub text: Box<str>,
    /// SET options in force when it was created: they govern its lexing and NULL comparison.
    pub quoted_identifier: bool,
    pub ansi_nulls: bool,
    /// As in [`TableDef::version`].
    pub version: u64,
    pub created_unix_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    Table,
    Module(ModuleKind),
}

impl ObjectKind {
    /// `type` in sys.objects.
    pub fn code(self) -> &'static str {
        match self {
            ObjectKind::Table => "U",
            ObjectKind::Module(ModuleKind::Procedure) => "P",
            ObjectKind::Module(ModuleKind::TableType) => "TT",
            ObjectKind::Module(ModuleKind::View) => "V",
            ObjectKind::Module(ModuleKind::ScalarFunction) => "FN",
            ObjectKind::Module(ModuleKind::InlineFunction) => "IF",
            ObjectKind::Module(ModuleKind::TableFunction) => "TF",
        }
    }
}

/// What OBJECT_ID finds.
#[derive(Clone, Debug)]
pub enum ObjectRef {
    Table(std::sync::Arc<TableDef>),
    Procedure(std::sync::Arc<ProcedureDef>),
}

impl ObjectRef {
    pub fn object_id(&self) -> i32 {
        match self {
            ObjectRef::Table(t) => t.object_id,
            ObjectRef::Procedure(p) => p.object_id,
        }
    }
    pub fn kind(&self) -> ObjectKind {
        match self {
            ObjectRef::Table(_) => ObjectKind::Table,
            ObjectRef::Procedure(p) => ObjectKind::Module(p.kind),
        }
    }
}

/// A filegroup and its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilegroupDef {
    pub name: Box<str>,
    pub is_default: bool,
    pub files: Vec<FileDef>,
}

/// A file of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDef {
    /// 1 is the primary data file, 2 the log.
    pub file_id: u16,
    /// Logical name.
    pub name: Box<str>,
    /// Path as given (relative ones are below the data folder).
    pub path: Box<str>,
    pub size_bytes: u64,
    /// `None`: until the disk is full.
    pub max_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseState {
    /// Listed, files not yet complete: creation did not end. Removed at start.
    Creating,
    Online,
    Offline,
    /// Made by RESTORE, and not recovered yet.
    Restoring,
}

/// A database as `master` lists it. Options are name/value texts; the session gives them meaning
/// (`delayed_durability`, `read_committed_snapshot`, `recovery`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseDef {
    pub database_id: i32,
    pub name: Box<str>,
    pub state: DatabaseState,
    pub options: Vec<(Box<str>, Box<str>)>,
    pub log: FileDef,
    /// The first is PRIMARY.
    pub filegroups: Vec<FilegroupDef>,
    pub created_unix_ns: u64,
}

/// Are two identifiers the same under the database's (case-insensitive) collation?
pub fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!(a.is_ascii() && b.is_ascii()) && fold(a) == fold(b))
}

/// An identifier in the form used as a look-up key.
pub(crate) fn fold(name: &str) -> String {
    name.to_lowercase()
}
