//! Definitions, as the binder and the executor see them: immutable, shared by `Arc`, replaced
//! whole by data definition.

use crate::TreeId;
use crate::statistics::TableStatistics;
use std::sync::Arc;
use types::{KeyLayout, RowLayout, SqlType};

mod module;

pub use module::*;

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
    /// UNIQUE constraints of a session-private table; those of other tables are among `indexes`.
    pub unique: Vec<KeyDef>,
    /// Indexes other than a clustered primary key, in order of their ids; of session-private tables none.
    pub indexes: Vec<IndexDef>,
    pub checks: Vec<CheckDef>,
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// Ids of the tables that may have foreign keys to this one; it may be among them itself, and they may be gone.
    pub referencing: Vec<i32>,
    /// Ids of the indexed views that are kept true to its rows.
    pub views: Vec<i32>,
    /// Set where the rows are those of an indexed view, whose id and name the table has.
    pub view: Option<Arc<IndexedView>>,
    /// Whether its rows' former versions are kept, or it is where they are kept.
    pub temporal: Temporal,
    /// Which rows have been changed since when is kept.
    pub tracking: Option<crate::tracking::Tracking>,
    /// How its rows are divided.
    pub partitioned: Option<crate::Partitioned>,
    /// Set where its rows are in memory.
    pub memory: Option<MemoryDef>,
    /// DATA_COMPRESSION of a heap; a clustered index has its own.
    pub compression: crate::Compression,
    /// The shape of `tree` under this definition: see [`engine::Tree`].
    pub shape: u64,
    /// What is known of its rows; all definitions of the table share it.
    pub statistics: Arc<TableStatistics>,
    /// What higher floors keep of this definition.
    pub compiled: Compiled,
    pub layout: RowLayout,
    /// Of the clustered key; no parts for a heap.
    pub key_layout: KeyLayout,
    /// What texts of no column go by in its rules: the database's, in which it was defined.
    pub database_collation: types::Collation,
    pub filegroup: Box<str>,
    /// Catalog version at which this definition came to be; a plan made under it is stale when the
    /// current definition's differs.
    pub version: u64,
    /// UTC, ns since 1970.
    pub created_unix_ns: u64,
}

impl TableDef {
    /// A table of these columns and nothing else, in no tree yet and of no version.
    pub fn bare(
        object_id: i32,
        schema: Box<str>,
        name: Box<str>,
        columns: Vec<ColumnDef>,
    ) -> TableDef {
        TableDef {
            object_id,
            schema,
            name,
            columns,
            primary_key: None,
            tree: Default::default(),
            lob: None,
            place: Place::Database,
            unique: Vec::new(),
            indexes: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            referencing: Vec::new(),
            views: Vec::new(),
            view: None,
            temporal: Temporal::No,
            tracking: None,
            partitioned: None,
            memory: None,
            compression: Default::default(),
            shape: 0,
            statistics: Default::default(),
            compiled: Compiled::default(),
            layout: Default::default(),
            key_layout: Default::default(),
            database_collation: Default::default(),
            filegroup: "PRIMARY".into(),
            version: 0,
            created_unix_ns: 0,
        }
    }

    /// Ordinal (0-based) of a column, any case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| same_name(&c.name, name))
    }
    /// Columns of the clustered key, in order: ordinal and descending; none for a heap.
    pub fn clustered_key(&self) -> &[(usize, bool)] {
        match (&self.primary_key, self.clustered_index()) {
            (Some(key), _) if key.clustered => &key.columns,
            (_, Some(index)) => &index.columns,
            _ => &[],
        }
    }
    /// The clustered index that is no primary key; a columnstore one has no key, and the table is a heap.
    pub fn clustered_index(&self) -> Option<&IndexDef> {
        self.indexes.iter().find(|index| index.clustered)
    }
    /// Are these rows of a view that are not kept up, because its clustered index is disabled?
    pub fn is_disabled_view(&self) -> bool {
        self.view.is_some() && self.clustered_index().is_some_and(|index| index.disabled)
    }
    /// Do several rows share a clustered key, so that a row id follows it in the storage key?
    pub fn has_uniquifier(&self) -> bool {
        self.clustered_index().is_some_and(|index| !index.unique && index.columnstore.is_none())
    }
    /// Options of the index of that id, the clustered primary key among them.
    pub fn index_options(&self, index_id: i32) -> crate::IndexOptions {
        let key = self.primary_key.as_ref().filter(|key| key.clustered && index_id == 1);
        let index = self.indexes.iter().find(|index| index.index_id == index_id);
        index.map(|index| index.options).or(key.map(|key| key.options)).unwrap_or_default()
    }
    /// The index_id of an index by its name, that of a clustered primary key among them.
    pub fn index_id_of(&self, name: &str) -> Option<i32> {
        let of_index = self.index(name).map(|index| index.index_id);
        of_index.or_else(|| self.is_clustered_key(name).then_some(1))
    }
    /// The first column of an index or key by its index_id.
    pub fn column_of_index(&self, id: i32) -> Option<usize> {
        let index = self.indexes.iter().find(|one| one.index_id == id).map(|one| &one.columns);
        let key = self.primary_key.as_ref().filter(|_| id == 1).map(|key| &key.columns);
        index.or(key)?.first().map(|(ordinal, _)| *ordinal)
    }
    /// An index by name, any case.
    pub fn index(&self, name: &str) -> Option<&IndexDef> {
        self.indexes.iter().find(|index| same_name(&index.name, name))
    }
    /// Indexes that have entries to keep.
    pub fn secondary(&self) -> impl Iterator<Item = &IndexDef> {
        self.indexes.iter().filter(|index| !index.clustered && !index.disabled)
    }
    /// Its column set.
    pub fn column_set(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.marks.column_set)
    }
    /// Which columns its column set stands for: `*`, and an INSERT that names no columns, pass over them.
    pub fn is_in_set(&self) -> impl Fn(&ColumnDef) -> bool + use<> {
        let has_set = self.column_set().is_some();
        move |column| has_set && column.marks.sparse
    }
    /// May a row be written without looking at anything but its own columns, defaults and NULLs?
    pub fn is_plain(&self) -> bool {
        self.indexes.is_empty() && self.referencing.is_empty() && self.is_plain_to_insert()
    }
    /// Does a row that comes entail entries of indexes at most, besides what [`TableDef::is_plain`] says? Rows of other
    /// tables that refer to it are nothing to a new one.
    pub fn is_plain_to_insert(&self) -> bool {
        self.checks.is_empty()
            && self.foreign_keys.is_empty()
            && self.views.is_empty()
            && self.tracking.is_none()
            && !self.ignores_dup_key()
            && !self.columns.iter().any(|c| c.is_made() || c.rule.is_some())
    }
    /// Is a new row left out whose clustered key, or of a private table any key, is there already?
    pub fn ignores_dup_key(&self) -> bool {
        self.primary_key.as_ref().is_some_and(|key| key.clustered && key.ignore_dup_key)
            || self.clustered_index().is_some_and(|index| index.ignore_dup_key)
            || self.unique.iter().any(|key| key.ignore_dup_key)
    }
    /// Is there a clustered index of any kind, so that another cannot come?
    pub fn has_clustered(&self) -> bool {
        self.clustered_name().is_some()
    }
    /// What the clustered index is called: the primary key, or an index, a columnstore one too.
    pub fn clustered_name(&self) -> Option<&str> {
        let key = self.primary_key.as_ref().filter(|key| key.clustered).map(|key| &*key.name);
        key.or_else(|| self.clustered_index().map(|index| &*index.name))
    }
    /// Is that the name of a primary key that is clustered?
    pub fn is_clustered_key(&self, name: &str) -> bool {
        self.primary_key.as_ref().is_some_and(|key| key.clustered && same_name(&key.name, name))
    }
    /// Is there a key by which rows can be sought?
    pub fn is_seekable(&self) -> bool {
        !self.is_heap() || self.indexes.iter().any(|index| !index.columns.is_empty())
    }
    /// Is there no clustered key, so that rows lie under a hidden row id?
    pub fn is_heap(&self) -> bool {
        self.key_layout.parts().is_empty()
    }
    /// Do the rows belong to one session (a temporary table, a table variable)?
    pub fn is_private(&self) -> bool {
        self.place != Place::Database
    }
    /// Ordinals of the columns between which a row is valid (PERIOD FOR SYSTEM_TIME): start and end.
    pub fn period(&self) -> Option<(usize, usize)> {
        let of = |edge| self.columns.iter().position(|c| c.generated == Some(edge));
        Some((of(PeriodEdge::Start)?, of(PeriodEdge::End)?))
    }
    /// How an index is partitioned: a clustered one as the table's rows are.
    pub fn partitioned_index(&self, index: &IndexDef) -> Option<crate::Partitioned> {
        if index.clustered { self.partitioned } else { index.partitioned }
    }
    /// The scheme that divides the table or an index of it by that column.
    pub fn partitioned_by(&self, column: usize) -> Option<i32> {
        let indexes = self.indexes.iter().filter_map(|i| i.partitioned);
        let mut all = self.partitioned.into_iter().chain(indexes);
        all.find(|p| p.column == column).map(|p| p.scheme)
    }
    /// Are its rows in memory, in versions (MEMORY_OPTIMIZED)?
    pub fn is_memory(&self) -> bool {
        self.memory.is_some()
    }
    /// How many buckets the rows, or an index's entries, are hashed into; none: they are in order.
    pub fn buckets(&self, index: Option<usize>) -> Option<u32> {
        match index {
            Some(at) => self.indexes[at].buckets,
            None => self.memory.and_then(|memory| memory.buckets),
        }
    }
    /// Ordinal of the identity column.
    pub fn identity(&self) -> Option<usize> {
        self.columns.iter().position(|c| c.identity.is_some())
    }
}

/// A memory-optimised table's own: its rows lie under its primary key, in the order of that or hashed by it, else under row
/// ids. A primary key counts as clustered here, for it is where the rows are; the views say NONCLUSTERED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryDef {
    /// DURABILITY = SCHEMA_AND_DATA.
    pub durable: bool,
    /// BUCKET_COUNT of a HASH primary key.
    pub buckets: Option<u32>,
}

/// The view whose rows a table keeps.
#[derive(Clone, Debug)]
pub struct IndexedView {
    /// Its definition, without the rows.
    pub module: ProcedureDef,
    /// Ids of the tables that its rows come from.
    pub tables: Vec<i32>,
}

impl IndexedView {
    /// As stored: the ids of the tables, four bytes each.
    pub(crate) fn packed(&self) -> types::Value {
        let bytes: Vec<u8> = self.tables.iter().flat_map(|id| id.to_le_bytes()).collect();
        types::Value::binary(&bytes)
    }
    pub(crate) fn unpack(packed: &[u8]) -> Vec<i32> {
        packed.chunks_exact(4).map(|c| i32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
    }
}

/// What a table has to do with system versioning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Temporal {
    #[default]
    No,
    /// SYSTEM_VERSIONING is ON: rows go to another table when they change or are deleted.
    Versioned {
        /// Object id of that table.
        history: i32,
        retention: Option<Retention>,
    },
    /// The other table.
    History {
        /// Object id of the table whose rows' former versions it keeps.
        of: i32,
    },
}

/// HISTORY_RETENTION_PERIOD, where it is not INFINITE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub number: i32,
    /// As sys.tables counts them: 3 DAY, 4 WEEK, 5 MONTH, 6 YEAR.
    pub unit: i32,
}

/// Which end of a row's validity a column holds: GENERATED ALWAYS AS ROW START or END.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeriodEdge {
    Start,
    End,
}

/// What a column may be called besides its type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Left out of `*`, and of an INSERT that names no columns.
    pub hidden: bool,
    pub rowguidcol: bool,
    /// Stored like any other: NULLs take no room anyway.
    pub sparse: bool,
    /// COLUMN_SET FOR ALL_SPARSE_COLUMNS: NULL in every row, the sparse columns as XML for who reads it.
    pub column_set: bool,
    /// Of an identity; kept, for there is no replication.
    pub not_for_replication: bool,
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

/// user_type_ids of image, text and ntext, which stand as aliases of the (max) types.
pub const LONG_TYPES: [i32; 3] = [34, 35, 99];

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
    /// Computed from other columns when the row is written.
    pub computed: Option<ComputedDef>,
    /// rowversion: a new number at every change of the row.
    pub rowversion: bool,
    /// Object id of the alias type that it was declared with.
    pub alias: Option<i32>,
    /// Of a character type; the default for any other.
    pub collation: types::Collation,
    /// The column is an end of the table's period.
    pub generated: Option<PeriodEdge>,
    pub marks: Marks,
    /// How it is shown to who lacks UNMASK.
    pub mask: Option<Arc<types::Mask>>,
    /// What CREATE RULE asks of its values.
    pub rule: Option<crate::Binding>,
    /// Its value where none is given, by CREATE DEFAULT; never beside a DEFAULT of its own.
    pub bound_default: Option<crate::Binding>,
}

impl ColumnDef {
    /// Is it text, ntext or image?
    pub fn is_long(&self) -> bool {
        self.alias.is_some_and(|id| LONG_TYPES.contains(&id))
    }
    /// Does an INSERT that names no columns have a value for it? Of a rowversion DEFAULT, and of an end of a period, unless
    /// it is hidden.
    pub fn is_given(&self) -> bool {
        self.identity.is_none() && self.computed.is_none() && !self.marks.hidden
    }
    /// Is it computed when it is read, and kept nowhere?
    pub fn is_volatile(&self) -> bool {
        self.computed.as_ref().is_some_and(|c| c.volatile)
    }

    /// Is the value made by the engine, so that no statement may give one?
    pub fn is_made(&self) -> bool {
        self.computed.is_some() || self.rowversion || self.generated.is_some()
    }
}

/// A computed column's expression as T-SQL text. It is stored in the row, PERSISTED or not, unless it is volatile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedDef {
    pub text: Box<str>,
    pub persisted: bool,
    /// Not deterministic: computed whenever it is read. The row has NULL.
    pub volatile: bool,
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
    /// Rows that have its like are left out, with a message.
    pub ignore_dup_key: bool,
    /// Of a clustered one; another's are its index's.
    pub fill_factor: u8,
    pub options: crate::IndexOptions,
}

/// What an index is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// CREATE INDEX.
    Index,
    /// The index of a nonclustered primary key.
    PrimaryKey,
    /// Of a UNIQUE constraint.
    Unique,
}

/// An index beside the clustered primary key. docs/decisions/0008-secondary-indexes.md has its entries to the byte.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDef {
    /// 1 for a clustered one, whose tree is the table's; others count from 2.
    pub index_id: i32,
    /// Object id of its constraint; 0 without one.
    pub constraint_id: i32,
    pub name: Box<str>,
    pub kind: IndexKind,
    pub unique: bool,
    pub clustered: bool,
    /// (ordinal, descending); of a columnstore index none, so that its entries lie under the locator alone.
    pub columns: Vec<(usize, bool)>,
    /// Those that a nonclustered columnstore index is over, too.
    pub include: Vec<usize>,
    pub columnstore: Option<Columnstore>,
    /// Then it has no entries and counts as disabled.
    pub spatial: Option<crate::SpatialIndex>,
    /// Likewise.
    pub xml: Option<crate::XmlIndex>,
    /// The condition of a filtered index, as T-SQL text.
    pub filter: Option<Box<str>>,
    /// Not kept up: its tree is empty.
    pub disabled: bool,
    pub ignore_dup_key: bool,
    pub fill_factor: u8,
    pub options: crate::IndexOptions,
    pub filegroup: Box<str>,
    /// BUCKET_COUNT of a HASH index of a table in memory.
    pub buckets: Option<u32>,
    /// How its entries are divided; of a clustered one its table says it.
    pub partitioned: Option<crate::Partitioned>,
    pub tree: TreeId,
    /// Of the key columns.
    pub key_layout: KeyLayout,
    /// Ordinals of the table's columns that an entry has: its column i+1 is `stored[i]`; column 0 is the locator.
    pub stored: Vec<usize>,
    /// Of the entries.
    pub layout: RowLayout,
}

/// What a columnstore index is asked for. It is a tree of rows like any other; a clustered one is a heap's own tree, and
/// that of a memory-optimised table a definition alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columnstore {
    /// DATA_COMPRESSION = COLUMNSTORE_ARCHIVE.
    pub archive: bool,
    /// COMPRESSION_DELAY, in minutes.
    pub delay_minutes: u16,
    /// ORDER: ordinals.
    pub order: Vec<usize>,
    /// The clustered one of a memory-optimised table, whose rows lie under its keys: it has no tree of its own, and is not
    /// [`IndexDef::clustered`].
    pub in_memory: bool,
}

impl IndexDef {
    /// Where an entry has a column of the table.
    pub fn position(&self, ordinal: usize) -> Option<usize> {
        self.stored.iter().position(|o| *o == ordinal).map(|i| i + 1)
    }
}

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckDef {
    pub object_id: i32,
    pub name: Box<str>,
    pub text: Box<str>,
    /// Of a constraint written with a column: its ordinal.
    pub column: Option<usize>,
    pub disabled: bool,
    /// Every row is known to satisfy it.
    pub trusted: bool,
}

/// What happens to the rows that refer to one that goes or changes its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefAction {
    NoAction,
    Cascade,
    SetNull,
    SetDefault,
}

impl RefAction {
    /// In the catalog, and in sys.foreign_keys.
    pub fn number(self) -> u8 {
        self as u8
    }
    pub(crate) fn of_number(n: i64) -> Option<RefAction> {
        use RefAction::*;
        [NoAction, Cascade, SetNull, SetDefault].get(n as usize).copied()
    }
}

/// A FOREIGN KEY constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKeyDef {
    pub object_id: i32,
    pub name: Box<str>,
    /// Ordinals, in order.
    pub columns: Vec<usize>,
    /// Object id of the table referred to.
    pub table: i32,
    /// Its columns, one for each of `columns`.
    pub referenced: Vec<usize>,
    pub on_delete: RefAction,
    pub on_update: RefAction,
    pub disabled: bool,
    pub trusted: bool,
}

impl ForeignKeyDef {
    /// What is done to the rows that refer to one of which the event is told; none when they only forbid it.
    pub fn follows(&self, event: Event) -> Option<Event> {
        let action = match event {
            Event::Insert => return None,
            Event::Update => self.on_update,
            Event::Delete => self.on_delete,
        };
        match action {
            RefAction::NoAction => None,
            RefAction::Cascade => Some(event),
            RefAction::SetNull | RefAction::SetDefault => Some(Event::Update),
        }
    }
}

/// A place where higher floors keep what they have made of a definition; empty in every copy.
#[derive(Default)]
pub struct Compiled(std::sync::OnceLock<std::sync::Arc<dyn std::any::Any + Send + Sync>>);

impl Compiled {
    /// What was kept, made at the first call. Two who come first may both make it; one's is kept.
    pub fn get_or_make<T: Send + Sync + 'static, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<std::sync::Arc<T>, E> {
        if let Some(Ok(known)) = self.0.get().map(|a| a.clone().downcast::<T>()) {
            return Ok(known);
        }
        let made = std::sync::Arc::new(make()?);
        let _ = self.0.set(made.clone());
        Ok(made)
    }
}

impl Clone for Compiled {
    fn clone(&self) -> Self {
        Compiled::default()
    }
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Compiled")
    }
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
            // Alias types are no objects: no view lists them under this code.
            ObjectKind::Module(ModuleKind::AliasType) => "AT",
            ObjectKind::Module(ModuleKind::View) => "V",
            ObjectKind::Module(ModuleKind::ScalarFunction) => "FN",
            ObjectKind::Module(ModuleKind::InlineFunction) => "IF",
            ObjectKind::Module(ModuleKind::TableFunction) => "TF",
            ObjectKind::Module(ModuleKind::Trigger) => "TR",
            ObjectKind::Module(ModuleKind::Sequence) => "SO",
            ObjectKind::Module(ModuleKind::Synonym) => "SN",
            ObjectKind::Module(ModuleKind::SecurityPolicy) => "SP",
            ObjectKind::Module(ModuleKind::Rule) => "R",
            ObjectKind::Module(ModuleKind::Default) => "D",
            // No objects either.
            ObjectKind::Module(ModuleKind::PartitionFunction) => "PF",
            ObjectKind::Module(ModuleKind::PartitionScheme) => "PS",
            ObjectKind::Module(ModuleKind::XmlSchemaCollection) => "XC",
            ObjectKind::Module(ModuleKind::FulltextCatalog) => "FC",
            ObjectKind::Module(ModuleKind::FulltextIndex) => "FT",
            ObjectKind::Module(ModuleKind::DatabaseTrigger | ModuleKind::ServerTrigger) => "TR",
        }
    }
}

/// What OBJECT_ID finds.
#[derive(Clone, Debug)]
pub enum ObjectRef {
    Table(Arc<TableDef>),
    Procedure(Arc<ProcedureDef>),
}

impl ObjectRef {
    pub fn object_id(&self) -> i32 {
        match self {
            ObjectRef::Table(t) => t.object_id,
            ObjectRef::Procedure(p) => p.object_id,
        }
    }
    /// Where its rows are: those of a table, or of an indexed view.
    pub fn rows(&self) -> Option<&Arc<TableDef>> {
        match self {
            ObjectRef::Table(table) => Some(table),
            ObjectRef::Procedure(module) => module.rows.as_ref(),
        }
    }
    /// The object whose rows these are.
    pub fn of_rows(table: Arc<TableDef>) -> ObjectRef {
        match &table.view {
            None => ObjectRef::Table(table),
            Some(view) => {
                let (version, module) = (table.version, view.module.clone());
                ObjectRef::Procedure(Arc::new(ProcedureDef {
                    version,
                    rows: Some(table),
                    ..module
                }))
            }
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
    /// Set for MEMORY_OPTIMIZED_DATA: its containers, names and paths.
    pub memory: Option<Vec<(Box<str>, Box<str>)>>,
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

impl DatabaseDef {
    /// The data files, by filegroup.
    pub fn data_files(&self) -> impl Iterator<Item = &FileDef> {
        self.filegroups.iter().flat_map(|g| &g.files)
    }

    /// All files, the log last.
    pub fn files(&self) -> impl Iterator<Item = &FileDef> {
        self.data_files().chain([&self.log])
    }
}

/// Are two identifiers the same under the database's (case-insensitive) collation?
pub fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!(a.is_ascii() && b.is_ascii()) && fold(a) == fold(b))
}

/// Is it the name of a global temporary table, `##t`?
pub fn is_global_name(name: &str) -> bool {
    name.starts_with("##")
}

/// An identifier in the form used as a look-up key.
pub(crate) fn fold(name: &str) -> String {
    fold_name(name)
}

/// What two names of [`same_name`] have in common.
pub fn fold_name(name: &str) -> String {
    // Nearly all are; the general way goes character by character.
    if name.is_ascii() { name.to_ascii_lowercase() } else { name.to_lowercase() }
}
