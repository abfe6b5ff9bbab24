//! Memory-optimised tables and their indexes: what they take, how their indexes look, what has been done with them.
//!
//! Columns and types: SQL Server's documentation of each view. A figure that nobody keeps is NULL. Each row and version is
//! a piece of memory of its own, so what is allocated is what is used; bytes are the allocator's, with what it adds.
//! `xtp_object_id` is the number of the tree that has the rows: another one once ALTER TABLE has moved them.

use crate::catalog_views::indexes::trees_of;
use crate::catalog_views::principals::access;
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use catalog::{ObjectRef, TableDef};
use engine::{Chains, IndexCensus, MemoryFacts, Nodes, TreeId};
use executor::SqlError;
use security::{Permission, Target};
use std::sync::Arc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&TABLE_MEMORY, &HASH_INDEXES, &RANGE_INDEXES, &INDEX_STATS, &OBJECT_STATS, &ATTRIBUTES];

/// The memory-optimised tables of the database.
pub(super) fn tables(context: &Context<'_>) -> Vec<Arc<TableDef>> {
    let objects = context.objects().into_iter();
    let tables = objects.filter_map(|object| match object {
        ObjectRef::Table(table) if table.is_memory() && !table.is_private() => Some(table),
        _ => None,
    });
    tables.collect()
}

fn facts(context: &Context<'_>, tree: TreeId) -> Option<MemoryFacts> {
    context.database.engine.tree(tree).memory_facts()
}

/// The number that the views know a tree by.
pub(super) fn number(tree: TreeId) -> i64 {
    tree.0.0 as i64
}

fn kb(bytes: u64) -> i64 {
    bytes.div_ceil(1024) as i64
}

/// What the parts of a table take: its rows, with columns that lie elsewhere, and each index by its id.
pub struct Weights {
    pub table: Arc<TableDef>,
    pub rows: u64,
    /// Of rows that lie under no key: what finds them.
    pub heap_index: u64,
    /// The tree of columns that do not fit into their rows.
    pub lob: Option<(TreeId, u64)>,
    /// index_id, tree and bytes.
    pub indexes: Vec<(i32, TreeId, u64)>,
}

fn weights(context: &Context<'_>) -> Vec<Weights> {
    let of = |table: Arc<TableDef>| {
        let rows = facts(context, table.tree)?;
        let lob = table.lob.and_then(|lob| {
            facts(context, lob).map(|facts| (lob, facts.row_bytes + facts.index_bytes))
        });
        let mut weights = Weights {
            rows: rows.row_bytes,
            heap_index: 0,
            lob,
            indexes: Vec::new(),
            table: table.clone(),
        };
        for (id, tree) in trees_of(&table) {
            match (id, tree == table.tree) {
                (0, _) => weights.heap_index = rows.index_bytes,
                (_, true) => weights.indexes.push((id, tree, rows.index_bytes)),
                (_, false) => {
                    // An index beside the rows has entries of its own.
                    let bytes = facts(context, tree).map_or(0, |f| f.row_bytes + f.index_bytes);
                    weights.indexes.push((id, tree, bytes));
                }
            }
        }
        Some(weights)
    };
    tables(context).into_iter().filter_map(of).collect()
}

/// Those that the session may know of: all with VIEW DATABASE PERFORMANCE STATE, else those of tables that it may read.
pub(super) fn shown(context: &Context<'_>) -> Vec<Weights> {
    let (access, mut all) = (access(context), weights(context));
    if !access.allows(Permission::ViewDatabasePerformanceState, Target::Database) {
        all.retain(|weights| {
            let table = &weights.table;
            let schema = context.schema_id(&table.schema);
            let target = Target::Object { id: table.object_id, schema, owner: None };
            access.allows(Permission::Select, target)
        });
    }
    all
}

impl Weights {
    fn of_table(&self) -> i64 {
        kb(self.rows + self.heap_index + self.lob.map_or(0, |(_, bytes)| bytes))
    }

    fn of_indexes(&self) -> i64 {
        kb(self.indexes.iter().map(|(_, _, bytes)| bytes).sum())
    }
}

fn memory(context: &Context<'_>, _: &[Value]) -> Result<Vec<Weights>, SqlError> {
    Ok(shown(context))
}

view! {
    TABLE_MEMORY = "sys.dm_db_xtp_table_memory_stats" of Weights as w, rows memory;
    object_id int null = w.table.object_id;
    memory_allocated_for_table_kb bigint null = w.of_table();
    memory_used_by_table_kb bigint null = w.of_table();
    memory_allocated_for_indexes_kb bigint null = w.of_indexes();
    memory_used_by_indexes_kb bigint null = w.of_indexes();
}

/// An index, and how it looks.
pub struct Looked<T> {
    table: Arc<TableDef>,
    index: i32,
    looks: T,
}

/// The indexes of memory-optimised tables, but for what finds rows that lie under no key.
fn indexes(context: &Context<'_>) -> Vec<Looked<TreeId>> {
    let of = |table: Arc<TableDef>| {
        let trees = trees_of(&table).into_iter().filter(|(id, _)| *id > 0);
        trees
            .map(|(index, looks)| Looked { table: table.clone(), index, looks })
            .collect::<Vec<_>>()
    };
    tables(context).into_iter().flat_map(of).collect()
}

fn census<T>(context: &Context<'_>, which: fn(IndexCensus) -> Option<T>) -> Vec<Looked<T>> {
    let look = |at: Looked<TreeId>| {
        let census = context.database.engine.tree(at.looks).memory_census()?;
        Some(Looked { looks: which(census)?, table: at.table, index: at.index })
    };
    indexes(context).into_iter().filter_map(look).collect()
}

fn hashed(context: &Context<'_>, _: &[Value]) -> Result<Vec<Looked<Chains>>, SqlError> {
    Ok(census(context, |census| match census {
        IndexCensus::Hash(chains) => Some(chains),
        IndexCensus::Range(_) => None,
    }))
}

view! {
    HASH_INDEXES = "sys.dm_db_xtp_hash_index_stats" of Looked<Chains> as i, rows hashed;
    object_id int = i.table.object_id;
    xtp_object_id bigint = number(i.table.tree);
    index_id int = i.index;
    total_bucket_count bigint = i.looks.buckets as i64;
    empty_bucket_count bigint null = i.looks.empty as i64;
    // Of the buckets that have rows.
    avg_chain_length bigint = match i.looks.buckets - i.looks.empty {
        0 => 0i64,
        full => (i.looks.rows / full) as i64,
    };
    max_chain_length bigint = i.looks.longest as i64;
}

fn ranges(context: &Context<'_>, _: &[Value]) -> Result<Vec<Looked<Nodes>>, SqlError> {
    Ok(census(context, |census| match census {
        IndexCensus::Range(nodes) => Some(nodes),
        IndexCensus::Hash(_) => None,
    }))
}

view! {
    RANGE_INDEXES = "sys.dm_db_xtp_nonclustered_index_stats" of Looked<Nodes> as i, rows ranges;
    object_id int = i.table.object_id;
    xtp_object_id bigint = number(i.table.tree);
    index_id int = i.index;
    // A node is changed as a whole: there are no deltas, nothing is tried again, and nothing is merged.
    delta_pages bigint = 0i64;
    internal_pages bigint = i.looks.inner as i64;
    leaf_pages bigint = i.looks.leaves as i64;
    outstanding_retired_nodes bigint null = NULL;
    page_update_count bigint null = NULL;
    page_update_retry_count bigint = 0i64;
    page_consolidation_count bigint = 0i64;
    page_consolidation_retry_count bigint = 0i64;
    page_split_count bigint = (i.looks.leaf_splits + i.looks.inner_splits) as i64;
    page_split_retry_count bigint = 0i64;
    key_split_count bigint = i.looks.inner_splits as i64;
    key_split_retry_count bigint = 0i64;
    page_merge_count bigint = 0i64;
    page_merge_retry_count bigint = 0i64;
    key_merge_count bigint = 0i64;
    key_merge_retry_count bigint = 0i64;
}

fn used(context: &Context<'_>, _: &[Value]) -> Result<Vec<Looked<MemoryFacts>>, SqlError> {
    let of = |at: Looked<TreeId>| {
        let looks = facts(context, at.looks)?;
        Some(Looked { looks, table: at.table, index: at.index })
    };
    Ok(indexes(context).into_iter().filter_map(of).collect())
}

view! {
    INDEX_STATS = "sys.dm_db_xtp_index_stats" of Looked<MemoryFacts> as i, rows used;
    object_id bigint = i64::from(i.table.object_id);
    xtp_object_id bigint = number(i.table.tree);
    index_id bigint null = i64::from(i.index);
    scans_started bigint = i.looks.doings.scans as i64;
    scans_retries bigint = 0i64;
    rows_returned bigint = i.looks.doings.returned as i64;
    rows_touched bigint null = NULL;
    rows_expiring bigint null = NULL;
    rows_expired bigint null = NULL;
    rows_expired_removed bigint null = NULL;
    phantom_scans_started bigint null = NULL;
    phatom_scans_retries bigint null = NULL;
    phantom_rows_touched bigint null = NULL;
    phantom_expiring_rows_encountered bigint null = NULL;
    phantom_expired_rows_encountered bigint null = NULL;
    phantom_expired_removed_rows_encountered bigint null = NULL;
    phantom_expired_rows_removed bigint null = NULL;
    object_address varbinary(8) null = NULL;
}

/// A table, what was done with its rows, and what its indexes refused.
pub struct Changed {
    table: Arc<TableDef>,
    facts: MemoryFacts,
}

fn changed(context: &Context<'_>, _: &[Value]) -> Result<Vec<Changed>, SqlError> {
    let of = |table: Arc<TableDef>| {
        let mut facts = facts(context, table.tree)?;
        for index in table.indexes.iter().filter(|index| !index.clustered) {
            let of_index = self::facts(context, index.tree);
            facts.conflicts += of_index.map_or(0, |f| f.conflicts);
            facts.duplicates += of_index.map_or(0, |f| f.duplicates);
        }
        Some(Changed { table, facts })
    };
    Ok(tables(context).into_iter().filter_map(of).collect())
}

view! {
    OBJECT_STATS = "sys.dm_db_xtp_object_stats" of Changed as c, rows changed;
    object_id bigint = i64::from(c.table.object_id);
    row_insert_attempts bigint = c.facts.doings.inserts as i64;
    row_update_attempts bigint = c.facts.doings.updates as i64;
    row_delete_attempts bigint = c.facts.doings.deletes as i64;
    write_conflicts bigint = c.facts.conflicts as i64;
    unique_constraint_violations bigint = c.facts.duplicates as i64;
    object_address varbinary(8) null = NULL;
}

/// A tree that keeps a table: its rows, or a column of it.
pub struct Internal {
    object: i32,
    tree: TreeId,
    column: i32,
}

/// Columns of a (max) type lie in one tree for them all.
fn internal(context: &Context<'_>, _: &[Value]) -> Result<Vec<Internal>, SqlError> {
    let mut all = Vec::new();
    for table in tables(context) {
        let object = table.object_id;
        all.push(Internal { object, tree: table.tree, column: 0 });
        let Some(tree) = table.lob else { continue };
        let columns = table.columns.iter().zip(1..).filter(|(column, _)| column.ty.is_max());
        all.extend(columns.map(|(_, column)| Internal { object, tree, column }));
    }
    Ok(all)
}

view! {
    ATTRIBUTES = "sys.memory_optimized_tables_internal_attributes" of Internal as i, rows internal;
    object_id int = i.object;
    xtp_object_id bigint = number(i.tree);
    r#type int = if i.column == 0 { 1 } else { 5 };
    type_desc nvarchar(60) = match i.column {
        0 => "USER_TABLE",
        _ => "INTERNAL OFF-ROW DATA TABLE",
    };
    minor_id int = i.column;
}
