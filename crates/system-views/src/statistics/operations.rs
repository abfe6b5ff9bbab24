//! What is done with indexes, row by row, and who waits in them: sys.dm_db_index_operational_stats.
//!
//! Columns and types: SQL Server's documentation. A tree that nobody has used since the database was opened has no row.
//! Every deletion leaves a ghost first, so rows that go are leaf_ghost_count. Partitions share a tree: the first one has its
//! figures. What is not counted is 0 (docs/compatibility.md).

use super::index_arguments::Asked;
use crate::catalog_views::indexes::Index;
use crate::catalog_views::partitions::Partition;
use crate::context::Context;
use crate::declare::{Declared, view};
use engine::{OperationFigures, TreeWaits, WaitFigures};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&OPERATIONAL_STATS];

/// A partition of an index that has been used.
pub struct Operations {
    database: i32,
    partition: Partition,
    figures: OperationFigures,
}

fn operations(context: &Context<'_>, args: &[Value]) -> Result<Vec<Operations>, SqlError> {
    let mut all = Vec::new();
    let asked = Asked::of(args);
    asked.check_permission(context)?;
    let figures_of = |there: &Context<'_>, index: &Index| {
        index.tree_on_pages().and_then(|tree| there.database.engine.operations_of(tree))
    };
    let is_used = |there: &Context<'_>, index: &Index| figures_of(there, index).is_some();
    for (database, there, partitions) in asked.partitions(context, is_used)? {
        for partition in partitions {
            let is_first = partition.number() == 1;
            let figures = figures_of(&there, partition.index()).filter(|_| is_first);
            all.push(Operations { database, partition, figures: figures.unwrap_or_default() });
        }
    }
    Ok(all)
}

impl Operations {
    /// For leaves and for the pages above them, of which there are columns too.
    fn page_waits(
        &self,
        of: fn(WaitFigures) -> i64,
        waits: fn(&TreeWaits) -> (WaitFigures, WaitFigures),
    ) -> i64 {
        let (leaf, inner) = waits(&self.figures.page_waits);
        of(leaf) + of(inner)
    }
}

fn count(waits: WaitFigures) -> i64 {
    waits.count as i64
}

fn ms(waits: WaitFigures) -> i64 {
    (waits.ns / 1_000_000) as i64
}

view! {
    OPERATIONAL_STATS = "sys.dm_db_index_operational_stats" of Operations as o, rows operations,
        params (smallint, int, int, int);
    database_id smallint = o.database as i16;
    object_id int = o.partition.index().table.object_id;
    index_id int = o.partition.index().id;
    partition_number int = o.partition.number();
    hobt_id bigint = o.partition.id();
    leaf_insert_count bigint = o.figures.inserts as i64;
    leaf_delete_count bigint = 0i64;
    leaf_update_count bigint = o.figures.updates as i64;
    leaf_ghost_count bigint = o.figures.deletes as i64;
    nonleaf_insert_count bigint = 0i64;
    nonleaf_delete_count bigint = 0i64;
    nonleaf_update_count bigint = 0i64;
    leaf_allocation_count bigint = 0i64;
    nonleaf_allocation_count bigint = 0i64;
    leaf_page_merge_count bigint = 0i64;
    nonleaf_page_merge_count bigint = 0i64;
    range_scan_count bigint = o.figures.scans as i64;
    singleton_lookup_count bigint = o.figures.lookups as i64;
    forwarded_fetch_count bigint = 0i64;
    lob_fetch_in_pages bigint = 0i64;
    lob_fetch_in_bytes bigint = 0i64;
    lob_orphan_create_count bigint = 0i64;
    lob_orphan_insert_count bigint = 0i64;
    row_overflow_fetch_in_pages bigint = 0i64;
    row_overflow_fetch_in_bytes bigint = 0i64;
    column_value_push_off_row_count bigint = 0i64;
    column_value_pull_in_row_count bigint = 0i64;
    row_lock_count bigint = 0i64;
    row_lock_wait_count bigint = count(o.figures.row_waits);
    row_lock_wait_in_ms bigint = ms(o.figures.row_waits);
    page_lock_count bigint = 0i64;
    page_lock_wait_count bigint = 0i64;
    page_lock_wait_in_ms bigint = 0i64;
    index_lock_promotion_attempt_count bigint = 0i64;
    index_lock_promotion_count bigint = 0i64;
    page_latch_wait_count bigint = o.page_waits(count, |w| (w.leaf_latch, w.inner_latch));
    page_latch_wait_in_ms bigint = o.page_waits(ms, |w| (w.leaf_latch, w.inner_latch));
    page_io_latch_wait_count bigint = o.page_waits(count, |w| (w.leaf_io, w.inner_io));
    page_io_latch_wait_in_ms bigint = o.page_waits(ms, |w| (w.leaf_io, w.inner_io));
    tree_page_latch_wait_count bigint = count(o.figures.page_waits.inner_latch);
    tree_page_latch_wait_in_ms bigint = ms(o.figures.page_waits.inner_latch);
    tree_page_io_latch_wait_count bigint = count(o.figures.page_waits.inner_io);
    tree_page_io_latch_wait_in_ms bigint = ms(o.figures.page_waits.inner_io);
    page_compression_attempt_count bigint = 0i64;
    page_compression_success_count bigint = 0i64;
    version_generated_inrow bigint = 0i64;
    version_generated_offrow bigint = 0i64;
    ghost_version_inrow bigint = 0i64;
    ghost_version_offrow bigint = 0i64;
    insert_over_ghost_version_inrow bigint = 0i64;
    insert_over_ghost_version_offrow bigint = 0i64;
}
