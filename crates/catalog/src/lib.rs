//! The catalog is the index at the back of the book: what exists, and on which page.
//!
//! It promises, per database, the definitions of tables, procedures and filegroups, kept in
//! tables of its own ([`Catalog`]); per instance, the list of databases ([`ServerCatalog`], in
//! `master`); and data definition that is transactional: what a transaction defines it sees
//! itself, others see it at commit, and a rollback leaves no trace ([`DdlScope`]).
//!
//! It knows nothing of SQL text (a DEFAULT or a procedure is text to it), plans or sessions.
#![forbid(unsafe_code)]

mod alter;
mod audits;
mod binding;
mod catalog;
mod classifications;
mod collation;
mod columnstore;
mod configuration;
mod constraint;
mod create;
mod ddl_events;
mod def;
mod error;
mod fulltext;
mod governor;
mod identity;
mod index;
mod index_options;
mod indexed_view;
mod keys;
mod load;
mod made_names;
mod mask;
mod memory;
mod messages;
mod partition;
mod policy;
mod principals;
mod private;
mod private_columns;
mod procedures;
mod properties;
mod scope;
mod sequence;
mod server;
mod settings;
mod shapes;
mod spatial_index;
mod spec;
mod statistics;
mod system;
mod tracking;
mod transfer;
mod xml_index;
mod xml_schemas;

pub use alter::{Altered, Work};
pub use audits::{AuditDef, AuditDefs, AuditSpecificationDef, free_specification_id};
pub use binding::{Binding, TypeBindings};
pub use catalog::Catalog;
pub use classifications::Classification;
pub use configuration::{
    Configuration, SCOPED_OPTIONS, ScopedKind, ScopedOption, StatisticsSwitch,
};
pub use ddl_events::{DDL_EVENTS, DdlEvent, LOGON};
pub use def::{
    CheckDef, ColumnDef, Columnstore, Compiled, ComputedDef, DatabaseDef, DatabaseState,
    DefaultDef, Event, FileDef, FilegroupDef, ForeignKeyDef, Identity, IndexDef, IndexKind,
    IndexedView, KeyDef, LONG_TYPES, Marks, MemoryDef, ModuleKind, ObjectKind, ObjectRef,
    PeriodEdge, Place, ProcedureDef, RefAction, Retention, SequenceDef, TableDef, Temporal,
    TriggerDef, fold_name, is_global_name, same_name,
};
pub use error::{CatalogError, Wanted};
pub use fulltext::{
    FULLTEXT_LANGUAGES, Fulltext, FulltextCatalog, FulltextColumn, FulltextIndex, Stoplist,
    Tracking as FulltextTracking, fulltext_language, is_fulltext_language,
};
pub use governor::{
    DEFAULT as DEFAULT_GROUP, GovernorDef, GroupDef, INTERNAL as INTERNAL_GROUP, PoolDef,
};
pub use index::{COLUMNS_MAX, KEY_COLUMNS_MAX};
pub use index_options::{Compression, IndexOptions, IndexOptionsChange};
pub use keys::key_bytes_max;
pub use mask::mask_of;
pub use memory::not_in_memory;
pub use messages::StoredMessage;
pub use partition::{
    PARTITIONS_MAX, PartitionFunctionDef, PartitionSchemeDef, Partitioned, Partitioning,
};
pub use policy::{Operation, PolicyDef, PredicateDef, PredicateKind};
pub use private::{
    RedefinedPrivate, define_private, private_with_unique, redefine_private, show_indexes,
};
pub use properties::{PropertyChange, PropertyClass, PropertyDef, PropertyTarget};
pub use scope::DdlScope;
pub use server::ServerCatalog;
pub use settings::Settings;
pub use spatial_index::{SpatialIndex, Tessellation};
pub use spec::{
    AlterTable, CheckSpec, ColumnSpec, ColumnstoreSpec, ForeignKeySpec, IndexSpec, KeySpec, Mark,
    ModuleOptions, PutMode, SpaceSpec, TableSpec, VersioningSpec,
};
pub use xml_index::{XmlIndex, XmlIndexKind};

pub use statistics::{
    Extent, Histogram, STEPS_MAX, Statistic, StatisticSpec, Step, TableStatistics,
};

pub use tracking::{DatabaseTracking, Tracking, TrackingSpec};

/// Principals as this crate stores them.
pub use security::Directory;

/// The engine's handles that appear in this crate's signatures.
pub use engine::{Database, TreeId, Txn};

#[cfg(test)]
mod tests;
