//! The catalog of one database.
//!
//! Look-ups read an immutable snapshot of the definitions; data definition writes the system
//! tables through its transaction and collects the change in a [`DdlScope`], which the session
//! applies after a commit ([`Catalog::commit`]) or drops after a rollback.

use crate::def::*;
use crate::{CatalogError, Database, Txn};
use std::sync::Arc;
use types::SqlType;

/// The definitions of one database.
pub struct Catalog {
    _private: (),
}

/// Uncommitted definitions of one transaction, held beside its `Txn`. Empty for most.
#[derive(Default)]
pub struct DdlScope {
    _private: (),
}

impl DdlScope {
    /// Has the transaction defined anything?
    pub fn is_empty(&self) -> bool {
        unimplemented!()
    }
    /// A mark to come back to (SAVE TRANSACTION, or a statement that fails).
    pub fn mark(&self) -> usize {
        unimplemented!()
    }
    /// Forgets what was defined after the mark.
    pub fn rollback_to(&mut self, mark: usize) {
        unimplemented!("{mark}")
    }
}

/// CREATE TABLE.
#[derive(Clone, Debug)]
pub struct TableSpec {
    pub schema: Box<str>,
    pub name: Box<str>,
    pub columns: Vec<ColumnSpec>,
    pub primary_key: Option<KeySpec>,
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
    /// Of a default; or of the primary key of an empty table.
    DropConstraint {
        name: Box<str>,
        if_exists: bool,
    },
}

impl Catalog {
    /// Writes the empty system tables of a new database.
    pub fn create(db: &Arc<Database>) -> Result<Arc<Catalog>, CatalogError> {
        let _ = db;
        unimplemented!()
    }
    /// Reads the system tables of a database that was recovered.
    pub fn open(db: &Arc<Database>) -> Result<Arc<Catalog>, CatalogError> {
        let _ = db;
        unimplemented!()
    }
    /// Grows with every committed change of a definition.
    pub fn version(&self) -> u64 {
        unimplemented!()
    }

    /// A table by schema (`None`: dbo) and name, any case; first what `scope` has defined.
    pub fn table(
        &self,
        scope: Option<&DdlScope>,
        schema: Option<&str>,
        name: &str,
    ) -> Option<Arc<TableDef>> {
        let _ = scope;
        unimplemented!("{schema:?} {name}")
    }
    pub fn procedure(
        &self,
        scope: Option<&DdlScope>,
        schema: Option<&str>,
        name: &str,
    ) -> Option<Arc<ProcedureDef>> {
        let _ = scope;
        unimplemented!("{schema:?} {name}")
    }
    /// For OBJECT_ID.
    pub fn object(
        &self,
        scope: Option<&DdlScope>,
        schema: Option<&str>,
        name: &str,
    ) -> Option<ObjectRef> {
        let _ = scope;
        unimplemented!("{schema:?} {name}")
    }
    pub fn object_by_id(&self, object_id: i32) -> Option<ObjectRef> {
        unimplemented!("{object_id}")
    }
    /// All objects, by id (sys.objects, sys.tables).
    pub fn objects(&self) -> Vec<ObjectRef> {
        unimplemented!()
    }
    pub fn schemas(&self) -> Vec<(i32, Box<str>)> {
        unimplemented!()
    }
    pub fn filegroups(&self) -> Vec<FilegroupDef> {
        unimplemented!()
    }

    pub fn create_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        spec: &TableSpec,
    ) -> Result<Arc<TableDef>, CatalogError> {
        let _ = (txn, scope);
        unimplemented!("{spec:?}")
    }
    pub fn drop_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
    ) -> Result<(), CatalogError> {
        let _ = (txn, scope);
        unimplemented!("{schema:?} {name}")
    }
    pub fn truncate_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
    ) -> Result<(), CatalogError> {
        let _ = (txn, scope);
        unimplemented!("{schema:?} {name}")
    }
    pub fn alter_table(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
        change: &AlterTable,
    ) -> Result<Arc<TableDef>, CatalogError> {
        let _ = (txn, scope);
        unimplemented!("{schema:?} {name} {change:?}")
    }
    /// CREATE PROCEDURE (`replace` = ALTER when it must exist, `or_alter` when it may).
    #[allow(clippy::too_many_arguments)] // CREATE, ALTER and CREATE OR ALTER in one.
    pub fn put_procedure(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        mode: PutMode,
        schema: Option<&str>,
        name: &str,
        text: &str,
        options: ModuleOptions,
    ) -> Result<Arc<ProcedureDef>, CatalogError> {
        let _ = (txn, scope, mode, options);
        unimplemented!("{schema:?} {name} {text}")
    }
    pub fn drop_procedure(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        schema: Option<&str>,
        name: &str,
    ) -> Result<(), CatalogError> {
        let _ = (txn, scope);
        unimplemented!("{schema:?} {name}")
    }

    /// Makes a committed scope's definitions everyone's. Call right after `Txn::commit`.
    pub fn commit(&self, scope: DdlScope) {
        let _ = scope;
        unimplemented!()
    }

    /// Takes `count` values of a table's identity column: (first, increment). Never given twice;
    /// gaps after a rollback or a crash, as in SQL Server.
    pub fn next_identity(&self, table: &TableDef, count: u64) -> Result<(i64, i64), CatalogError> {
        unimplemented!("{table:?} {count}")
    }
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
