//! The catalog is the index at the back of the book: what exists, and on which page.
//!
//! It promises, per database, the definitions of tables, procedures and filegroups, kept in
//! tables of its own ([`Catalog`]); per instance, the list of databases ([`ServerCatalog`], in
//! `master`); and data definition that is transactional: what a transaction defines it sees
//! itself, others see it at commit, and a rollback leaves no trace ([`DdlScope`]).
//!
//! It knows nothing of SQL text (a DEFAULT or a procedure is text to it), plans or sessions.
#![forbid(unsafe_code)]

mod catalog;
mod def;
mod error;
mod server;

pub use catalog::{
    AlterTable, Catalog, ColumnSpec, DdlScope, KeySpec, ModuleOptions, PutMode, TableSpec,
};
pub use def::{
    ColumnDef, DatabaseDef, DatabaseState, DefaultDef, FileDef, FilegroupDef, Identity, KeyDef,
    ObjectKind, ObjectRef, ProcedureDef, TableDef, same_name,
};
pub use error::CatalogError;
pub use server::ServerCatalog;

/// Until the engine has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeId(pub u64);
/// Until the engine has its own.
pub struct Txn;
/// Until the engine has its own.
pub struct Database;
