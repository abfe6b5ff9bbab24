//! Indexes and their columns; their partitions are in `partitions.rs`.
//!
//! Columns and types: SQL Server 2022's documentation of each view. A table has the clustered index 1 or, as a heap, the
//! nameless index 0, and its other indexes from 2 on.

use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::object::{self, Object, What};
use crate::shape;
use catalog::{IndexDef, IndexKind, ModuleKind, Partitioned, TableDef, is_global_name};
use engine::{PageId, TreeId};
use executor::SqlError;
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&INDEXES, &HASH_INDEXES, &INDEX_COLUMNS];

/// An index of a table; of a heap, the heap itself.
#[derive(Clone)]
pub struct Index {
    pub table: Arc<TableDef>,
    /// 0 for a heap, 1 for the clustered key.
    pub id: i32,
    pub name: Option<String>,
    pub primary: bool,
    /// Of a UNIQUE constraint.
    pub constraint: bool,
    pub unique: bool,
    /// (ordinal, descending) of its key.
    pub keys: Vec<(usize, bool)>,
    /// Its definition, unless it is a clustered primary key or a heap.
    pub def: Option<IndexDef>,
    /// The number of its tree.
    pub tree: i64,
    /// The number of its filegroup, or the id of its partition scheme.
    pub data_space_id: i32,
    pub partitioned: Option<Partitioned>,
    /// Rows, about.
    pub rows: i64,
}

/// The indexes of every table and indexed view, and of every table type.
pub fn all(context: &Context<'_>) -> Vec<Index> {
    of_tables(context, |_| true)
}

/// The same of some tables, by their ids.
pub fn of_tables(context: &Context<'_>, takes: impl Fn(i32) -> bool) -> Vec<Index> {
    let objects = object::user_objects(context);
    let table = |object: &Object| match &object.what {
        What::Table(table) => Some(table.clone()),
        What::Procedure(module) if module.kind == ModuleKind::TableType => {
            shape::of_module(context, module)
        }
        _ => object.rows().cloned(),
    };
    let tables = objects.iter().filter_map(table).filter(|table| takes(table.object_id));
    tables.flat_map(|table| of_table(context, &table)).collect()
}

/// The indexes of a table.
pub fn of_table(context: &Context<'_>, table: &Arc<TableDef>) -> Vec<Index> {
    let groups = context.database.catalog.filegroups();
    let place = |filegroup: &str, partitioned: Option<Partitioned>| {
        if let Some(partitioned) = partitioned {
            return partitioned.scheme;
        }
        let found = groups.iter().position(|g| catalog::same_name(&g.name, filegroup));
        found.map_or(1, |i| i as i32 + 1)
    };
    let rows = context.rows_of(table);
    let key = table.primary_key.as_ref().filter(|k| k.clustered && !table.is_heap());
    let mut all = Vec::new();
    if table.clustered_index().is_none() {
        all.push(Index {
            table: table.clone(),
            id: i32::from(key.is_some()),
            name: key.map(|k| k.name.to_string()),
            primary: key.is_some(),
            constraint: false,
            unique: key.is_some(),
            keys: key.map(|k| k.columns.clone()).unwrap_or_default(),
            def: None,
            tree: table.tree.0.0 as i64,
            data_space_id: place(&table.filegroup, table.partitioned),
            partitioned: table.partitioned,
            rows,
        });
    }
    for index in &table.indexes {
        all.push(Index {
            table: table.clone(),
            id: index.index_id,
            name: Some(index.name.to_string()),
            primary: index.kind == IndexKind::PrimaryKey,
            constraint: index.kind == IndexKind::Unique,
            unique: index.unique,
            keys: match index.has_entries() {
                false => index.include.iter().map(|ordinal| (*ordinal, false)).collect(),
                true => index.columns.clone(),
            },
            tree: index.tree.0.0 as i64,
            data_space_id: place(&index.filegroup, table.partitioned_index(index)),
            partitioned: table.partitioned_index(index),
            rows: if index.disabled && !index.is_columnstore_in_memory() { 0 } else { rows },
            def: Some(index.clone()),
        });
    }
    all
}

impl Index {
    fn flag(&self, of: impl Fn(&IndexDef) -> bool) -> bool {
        self.def.as_ref().is_some_and(of)
    }

    /// Of a clustered primary key its definition says it.
    fn ignores_dup_key(&self) -> bool {
        let key = self.table.primary_key.as_ref().filter(|_| self.def.is_none() && self.primary);
        key.is_some_and(|key| key.ignore_dup_key) || self.flag(|d| d.ignore_dup_key)
    }

    /// BUCKET_COUNT of a hash index.
    fn buckets(&self) -> Option<u32> {
        match &self.def {
            Some(def) => def.buckets,
            None => self.table.memory.filter(|_| self.id == 1).and_then(|memory| memory.buckets),
        }
    }

    /// PAD_INDEX and its like.
    pub fn options(&self) -> catalog::IndexOptions {
        match &self.def {
            Some(def) => def.options,
            None => self.table.index_options(self.id),
        }
    }

    /// FILLFACTOR; 0: not said.
    pub fn fill_factor(&self) -> u8 {
        let key = self.table.primary_key.as_ref().filter(|_| self.primary);
        let of_key = || key.map_or(0, |key| key.fill_factor);
        self.def.as_ref().map_or_else(of_key, |def| def.fill_factor)
    }

    /// Its tree, if that is one on pages.
    pub fn tree_on_pages(&self) -> Option<TreeId> {
        let table = &self.table;
        let elsewhere = table.is_private() || table.is_memory() || is_global_name(&table.name);
        (!elsewhere && self.tree > 0).then_some(TreeId(PageId(self.tree as u64)))
    }

    /// The tree of an index that not every row has an entry in.
    pub fn filtered_tree(&self) -> Option<TreeId> {
        let has_less = self.filter().is_some() && !self.is_disabled();
        self.tree_on_pages().filter(|_| has_less && self.columnstore().is_none())
    }

    fn filter(&self) -> Option<&str> {
        self.def.as_ref()?.filter.as_deref()
    }

    /// What makes it a columnstore index.
    pub fn columnstore(&self) -> Option<&catalog::Columnstore> {
        self.def.as_ref()?.columnstore.as_ref()
    }

    fn is_clustered_columnstore(&self) -> bool {
        self.flag(IndexDef::is_clustered_columnstore)
    }

    /// What makes it a spatial index.
    pub fn spatial(&self) -> Option<&catalog::SpatialIndex> {
        self.def.as_ref()?.spatial.as_ref()
    }

    /// What makes it an XML index.
    pub fn xml(&self) -> Option<&catalog::XmlIndex> {
        self.def.as_ref()?.xml.as_ref()
    }

    /// ALTER INDEX disabled it.
    fn is_disabled(&self) -> bool {
        self.flag(|def| def.is_off().unwrap_or(def.disabled))
    }

    /// `data_compression` and its name: what the index is asked for. Rows are never compressed.
    pub fn compression(&self) -> (u8, &'static str) {
        match self.columnstore() {
            None => {
                let compression = match self.id {
                    0 => self.table.compression,
                    _ => self.options().compression,
                };
                (compression as u8, compression.name())
            }
            Some(c) if c.archive => (4, "COLUMNSTORE_ARCHIVE"),
            Some(_) => (3, "COLUMNSTORE"),
        }
    }

    /// Ordinals of the columns that are in it and are no key: of a clustered columnstore index all.
    fn included(&self) -> Vec<usize> {
        match &self.def {
            Some(def) if def.is_clustered_columnstore() => (0..self.table.columns.len()).collect(),
            Some(def) if !def.has_entries() => Vec::new(),
            Some(def) => def.include.clone(),
            None => Vec::new(),
        }
    }

    /// `clustered, unique, primary key`, as sp_helpindex says it.
    pub fn described(&self) -> String {
        let mut words = vec![match (self.id, self.columnstore()) {
            (_, None) if self.buckets().is_some() => "nonclustered hash",
            (1, None) if !self.table.is_memory() => "clustered",
            (_, None) => "nonclustered",
            (_, Some(_)) if self.is_clustered_columnstore() => "clustered columnstore",
            _ => "nonclustered columnstore",
        }];
        if self.ignores_dup_key() {
            words.push("ignore duplicate keys");
        }
        if self.unique {
            words.push("unique");
        }
        if self.primary {
            words.push("primary key");
        }
        if self.constraint {
            words.push("unique key");
        }
        words.join(", ")
    }
}

/// The trees of a table, by index_id.
pub fn trees_of(table: &TableDef) -> Vec<(i32, engine::TreeId)> {
    let key = table.primary_key.as_ref().filter(|k| k.clustered && !table.is_heap());
    let mut all = Vec::new();
    if table.clustered_index().is_none() {
        all.push((i32::from(key.is_some()), table.tree));
    }
    all.extend(table.indexes.iter().map(|index| (index.index_id, index.tree)));
    all
}

fn rows(context: &Context<'_>, _: &[Value]) -> Result<Vec<Index>, SqlError> {
    Ok(all(context))
}

view! {
    INDEXES = "sys.indexes" of Index as i, rows rows;
    object_id int = i.table.object_id;
    name sysname null = i.name.as_deref();
    index_id int = i.id;
    type tinyint = match i.columnstore() {
        Some(_) => if i.is_clustered_columnstore() { 5 } else { 6 },
        None if i.buckets().is_some() => 7,
        None if i.spatial().is_some() => 4,
        None if i.xml().is_some() => 3,
        None if i.table.is_memory() && i.id == 1 => 2,
        None => i.id.min(2) as u8,
    };
    type_desc nvarchar(60) null = match (i.id, i.columnstore()) {
        (0, _) => "HEAP",
        (_, None) if i.buckets().is_some() => "NONCLUSTERED HASH",
        (_, None) if i.spatial().is_some() => "SPATIAL",
        (_, None) if i.xml().is_some() => "XML",
        (1, None) if i.table.is_memory() => "NONCLUSTERED",
        (1, None) => "CLUSTERED",
        (_, None) => "NONCLUSTERED",
        _ if i.is_clustered_columnstore() => "CLUSTERED COLUMNSTORE",
        _ => "NONCLUSTERED COLUMNSTORE",
    };
    is_unique bit null = i.unique;
    data_space_id int = i.data_space_id;
    ignore_dup_key bit null = i.ignores_dup_key();
    is_primary_key bit null = i.primary;
    is_unique_constraint bit null = i.constraint;
    fill_factor tinyint = i.fill_factor();
    is_padded bit null = i.options().padded;
    is_disabled bit null = i.is_disabled();
    is_hypothetical bit null = false;
    is_ignored_in_optimization bit null = false;
    // A columnstore index takes locks of its own kind.
    allow_row_locks bit null = i.columnstore().is_none() && !i.options().no_row_locks;
    allow_page_locks bit null = i.columnstore().is_none() && !i.options().no_page_locks;
    has_filter bit null = i.filter().is_some();
    filter_definition nvarchar(max) null = i.filter();
    compression_delay int null = i.columnstore().map(|c| i32::from(c.delay_minutes));
    suppress_dup_key_messages bit null = false;
    auto_created bit null = false;
    optimize_for_sequential_key bit null = i.options().sequential;
}

/// A column of an index.
pub struct IndexColumn {
    pub object_id: i32,
    pub index_id: i32,
    /// From 1.
    pub place: i32,
    /// From 1.
    pub column_id: i32,
    pub descending: bool,
    pub included: bool,
    /// Its place in ORDER of a columnstore index, from 1; else 0.
    pub order: u8,
    /// It divides the index.
    pub partitioning: bool,
    /// It is there for that alone.
    pub implicit: bool,
    /// Its index is one of XML or of shapes, which have no keys to show.
    pub keyless: bool,
}

fn index_columns(context: &Context<'_>, _: &[Value]) -> Result<Vec<IndexColumn>, SqlError> {
    let of = |index: Index| {
        let keys = index.keys.iter().map(|(ordinal, descending)| (*ordinal, *descending, false));
        let include = index.included().into_iter().map(|ordinal| (ordinal, false, true));
        let mut columns: Vec<_> = keys.chain(include).collect();
        let named = columns.len();
        let divided = index.partitioned.map(|p| p.column);
        let keyless = index.xml().is_some() || index.spatial().is_some();
        if let Some(ordinal) = divided
            && !columns.iter().any(|(named, ..)| *named == ordinal)
        {
            columns.push((ordinal, false, false));
        }
        let column = |((ordinal, descending, included), place)| IndexColumn {
            partitioning: divided == Some(ordinal),
            implicit: place as usize > named,
            keyless,
            object_id: index.table.object_id,
            index_id: index.id,
            place,
            column_id: ordinal as i32 + 1,
            descending,
            included,
            order: index
                .columnstore()
                .and_then(|c| c.order.iter().position(|o| *o == ordinal))
                .map_or(0, |at| at as u8 + 1),
        };
        columns.into_iter().zip(1..).map(column).collect::<Vec<_>>()
    };
    Ok(all(context).into_iter().flat_map(of).collect())
}

fn hashed(context: &Context<'_>, _: &[Value]) -> Result<Vec<Index>, SqlError> {
    Ok(all(context).into_iter().filter(|index| index.buckets().is_some()).collect())
}

view! {
    HASH_INDEXES = "sys.hash_indexes" of Index as i, rows hashed;
    object_id int = i.table.object_id;
    name sysname null = i.name.as_deref();
    index_id int = i.id;
    type tinyint = 7u8;
    type_desc nvarchar(60) null = "NONCLUSTERED HASH";
    is_unique bit null = i.unique;
    data_space_id int null = i.data_space_id;
    ignore_dup_key bit null = false;
    is_primary_key bit null = i.primary;
    is_unique_constraint bit null = i.constraint;
    fill_factor tinyint = 0u8;
    is_padded bit null = false;
    is_disabled bit null = false;
    is_hypothetical bit null = false;
    is_ignored_in_optimization bit null = false;
    allow_row_locks bit null = true;
    allow_page_locks bit null = true;
    has_filter bit = false;
    filter_definition nvarchar(max) null = NULL;
    bucket_count int = i.buckets().map_or(0, |n| n.next_power_of_two() as i32);
    auto_created bit null = false;
}

view! {
    INDEX_COLUMNS = "sys.index_columns" of IndexColumn as i, rows index_columns;
    object_id int = i.object_id;
    index_id int = i.index_id;
    index_column_id int = i.place;
    column_id int = i.column_id;
    key_ordinal tinyint = if i.included || i.implicit || i.keyless { 0 } else { i.place as u8 };
    partition_ordinal tinyint = u8::from(i.partitioning);
    is_descending_key bit null = i.descending;
    is_included_column bit null = i.included;
    column_store_order_ordinal tinyint = i.order;
}

impl Index {
    /// Ordinals of the columns that its rows hold: of a heap or clustered index all, of another index its own and the key
    /// by which the table's row is found.
    fn stored(&self) -> Vec<usize> {
        let all = || (0..self.table.columns.len()).collect();
        let Some(def) = self.def.as_ref().filter(|def| !def.clustered) else { return all() };
        if def.columnstore.is_some() {
            return all();
        }
        let key = self.table.primary_key.iter().filter(|key| key.clustered);
        let key = key.flat_map(|key| &key.columns).map(|(i, _)| *i);
        let mut own: Vec<usize> = self.keys.iter().map(|(i, _)| *i).collect();
        for i in self.included().into_iter().chain(key) {
            if !own.contains(&i) {
                own.push(i);
            }
        }
        own
    }

    /// Pages that the rows take at the declared width of their fixed columns: an estimate, for no count is kept.
    pub fn pages(&self, rows: Option<i64>) -> i64 {
        let rows = rows.unwrap_or(0);
        let columns = self.stored();
        let width = columns.iter().map(|i| row_bytes(self.table.columns[*i].ty)).sum::<i64>() + 16;
        (rows * width).div_euclid(8060) + i64::from(rows > 0)
    }
}

/// Bytes of a column as stored, variable ones half full.
fn row_bytes(ty: types::SqlType) -> i64 {
    let declared = crate::types_table::column_type(ty).max_length as i64;
    use types::SqlType::{NVarChar, VarBinary, VarChar};
    match ty {
        VarChar(_) | NVarChar(_) | VarBinary(_) if declared < 0 => 256,
        VarChar(_) | NVarChar(_) | VarBinary(_) => declared / 2,
        _ => declared,
    }
}
