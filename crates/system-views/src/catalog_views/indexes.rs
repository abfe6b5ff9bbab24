//! Indexes: their columns, statistics, partitions and pages.
//!
//! Columns and types: SQL Server 2022's documentation of each view. A table has one index: the clustered primary key,
//! or, of a heap, the nameless index 0. A table has one partition, whose id is the number of its tree.

use super::objects::none;
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use crate::object;
use catalog::TableDef;
use executor::SqlError;
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[
    &INDEXES,
    &INDEX_COLUMNS,
    &STATS,
    &STATS_COLUMNS,
    &PARTITIONS,
    &ALLOCATION_UNITS,
    &XML_INDEXES,
    &FULLTEXT_INDEXES,
];

/// An index of a table; of a heap, the heap itself.
#[derive(Clone)]
pub struct Index {
    pub table: Arc<TableDef>,
    /// 0 for a heap, 1 for the clustered key.
    pub id: i32,
    pub name: Option<String>,
    pub primary: bool,
    /// The number of its filegroup.
    pub data_space_id: i32,
    /// Rows, about.
    pub rows: i64,
}

/// The indexes of every table.
pub fn all(context: &Context<'_>) -> Vec<Index> {
    let groups = context.database.catalog.filegroups();
    let tables = object::tables(context);
    let index = |table: &Arc<TableDef>| {
        let clustered = table.primary_key.as_ref().filter(|_| !table.is_heap());
        let place = groups.iter().position(|g| catalog::same_name(&g.name, &table.filegroup));
        Index {
            table: table.clone(),
            id: i32::from(clustered.is_some()),
            name: clustered.map(|k| k.name.to_string()),
            primary: clustered.is_some(),
            data_space_id: place.map_or(1, |i| i as i32 + 1),
            rows: context.rows_of(table),
        }
    };
    tables.iter().filter_map(|o| o.table().map(index)).collect()
}

/// The trees of a table, by index_id.
pub fn trees_of(table: &TableDef) -> Vec<(i32, engine::TreeId)> {
    let clustered = table.primary_key.is_some() && !table.is_heap();
    vec![(i32::from(clustered), table.tree)]
}

fn rows(context: &Context<'_>, _: &[Value]) -> Result<Vec<Index>, SqlError> {
    Ok(all(context))
}

fn keyed(context: &Context<'_>, _: &[Value]) -> Result<Vec<Index>, SqlError> {
    Ok(all(context).into_iter().filter(|i| i.id > 0).collect())
}

view! {
    INDEXES = "sys.indexes" of Index as i, rows rows;
    object_id int = i.table.object_id;
    name sysname null = i.name.as_deref();
    index_id int = i.id;
    type tinyint = i.id as u8;
    type_desc nvarchar(60) null = if i.id == 0 { "HEAP" } else { "CLUSTERED" };
    is_unique bit null = i.primary;
    data_space_id int = i.data_space_id;
    ignore_dup_key bit null = false;
    is_primary_key bit null = i.primary;
    is_unique_constraint bit null = false;
    fill_factor tinyint = 0u8;
    is_padded bit null = false;
    is_disabled bit null = false;
    is_hypothetical bit null = false;
    is_ignored_in_optimization bit null = false;
    allow_row_locks bit null = true;
    allow_page_locks bit null = true;
    has_filter bit null = false;
    filter_definition nvarchar(max) null = NULL;
    compression_delay int null = NULL;
    suppress_dup_key_messages bit null = false;
    auto_created bit null = false;
    optimize_for_sequential_key bit null = false;
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
}

fn index_columns(context: &Context<'_>, _: &[Value]) -> Result<Vec<IndexColumn>, SqlError> {
    let of = |index: Index| {
        let columns = index.table.primary_key.as_ref().map(|k| k.columns.clone());
        let columns = columns.filter(|_| index.id > 0).unwrap_or_default();
        columns.into_iter().zip(1..).map(move |((ordinal, descending), place)| IndexColumn {
            object_id: index.table.object_id,
            index_id: index.id,
            place,
            column_id: ordinal as i32 + 1,
            descending,
        })
    };
    Ok(all(context).into_iter().flat_map(of).collect())
}

view! {
    INDEX_COLUMNS = "sys.index_columns" of IndexColumn as i, rows index_columns;
    object_id int = i.object_id;
    index_id int = i.index_id;
    index_column_id int = i.place;
    column_id int = i.column_id;
    key_ordinal tinyint = i.place as u8;
    partition_ordinal tinyint = 0u8;
    is_descending_key bit null = i.descending;
    is_included_column bit null = false;
    column_store_order_ordinal tinyint = 0u8;
}

view! {
    STATS = "sys.stats" of Index as i, rows keyed;
    object_id int = i.table.object_id;
    name sysname null = i.name.as_deref();
    stats_id int = i.id;
    auto_created bit null = false;
    user_created bit null = false;
    no_recompute bit null = false;
    has_filter bit null = false;
    filter_definition nvarchar(max) null = NULL;
    is_temporary bit null = false;
    is_incremental bit null = false;
    has_persisted_sample bit null = false;
    stats_generation_method int = 0;
    stats_generation_method_desc varchar(80) = "Sort based statistics";
    auto_drop bit null = false;
}

view! {
    STATS_COLUMNS = "sys.stats_columns" of IndexColumn as i, rows index_columns;
    object_id int = i.object_id;
    stats_id int = i.index_id;
    stats_column_id int null = i.place;
    column_id int null = i.column_id;
}

view! {
    PARTITIONS = "sys.partitions" of Index as i, rows rows;
    partition_id bigint = i.table.tree.0.0 as i64;
    object_id int = i.table.object_id;
    index_id int = i.id;
    partition_number int = 1;
    hobt_id bigint = i.table.tree.0.0 as i64;
    rows bigint null = i.rows;
    filestream_filegroup_id smallint = 0i16;
    data_compression tinyint = 0u8;
    data_compression_desc nvarchar(60) null = "NONE";
    xml_compression bit null = false;
    xml_compression_desc varchar(3) null = "OFF";
}

view! {
    ALLOCATION_UNITS = "sys.allocation_units" of Index as i, rows rows;
    allocation_unit_id bigint = i.table.tree.0.0 as i64;
    type tinyint = 1u8;
    type_desc nvarchar(60) null = "IN_ROW_DATA";
    container_id bigint = i.table.tree.0.0 as i64;
    data_space_id int null = i.data_space_id;
    total_pages bigint = i.pages();
    used_pages bigint = i.pages();
    data_pages bigint = i.pages();
}

impl Index {
    /// Pages that the rows take at the declared width of their fixed columns: an estimate, for no count is kept.
    fn pages(&self) -> i64 {
        let width = self.table.columns.iter().map(|c| row_bytes(c.ty)).sum::<i64>() + 16;
        (self.rows * width).div_euclid(8060) + i64::from(self.rows > 0)
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

view! {
    XML_INDEXES = "sys.xml_indexes" of () as x, rows none;
    object_id int = NULL;
    name sysname null = NULL;
    index_id int = NULL;
    type tinyint = NULL;
    type_desc nvarchar(60) null = NULL;
    is_unique bit null = NULL;
    data_space_id int null = NULL;
    ignore_dup_key bit null = NULL;
    is_primary_key bit null = NULL;
    is_unique_constraint bit null = NULL;
    fill_factor tinyint = NULL;
    is_padded bit null = NULL;
    is_disabled bit null = NULL;
    is_hypothetical bit null = NULL;
    is_ignored_in_optimization bit null = NULL;
    allow_row_locks bit null = NULL;
    allow_page_locks bit null = NULL;
    using_xml_index_id int null = NULL;
    secondary_type char(1) null = NULL;
    secondary_type_desc nvarchar(60) null = NULL;
    has_filter bit = NULL;
    filter_definition nvarchar(max) null = NULL;
    xml_index_type tinyint null = NULL;
    xml_index_type_description nvarchar(60) null = NULL;
    path_id int null = NULL;
    auto_created bit null = NULL;
}

view! {
    FULLTEXT_INDEXES = "sys.fulltext_indexes" of () as x, rows none;
    object_id int = NULL;
    unique_index_id int = NULL;
    fulltext_catalog_id int null = NULL;
    is_enabled bit = NULL;
    change_tracking_state char(1) null = NULL;
    change_tracking_state_desc nvarchar(60) null = NULL;
    has_crawl_completed bit = NULL;
    crawl_type char(1) = NULL;
    crawl_type_desc nvarchar(60) null = NULL;
    crawl_start_date datetime null = NULL;
    crawl_end_date datetime null = NULL;
    incremental_timestamp binary(8) null = NULL;
    stoplist_id int null = NULL;
    property_list_id int null = NULL;
    data_space_id int = NULL;
}
