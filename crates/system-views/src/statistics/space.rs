//! Space of tables and indexes, as administrators' scripts ask for it: sys.dm_db_partition_stats.
//!
//! Columns and types: SQL Server's documentation. Pages are what the rows take by their declared widths, as in
//! sys.allocation_units (docs/compatibility.md); those that there are are counted by sys.dm_db_index_physical_stats
//! (`physical.rs`).

use crate::catalog_views::partitions::{Partition, partitions};
use crate::declare::{Declared, view};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&PARTITION_STATS];

view! {
    PARTITION_STATS = "sys.dm_db_partition_stats" of Partition as p, rows partitions;
    partition_id bigint null = p.id();
    object_id int = p.index().table.object_id;
    index_id int = p.index().id;
    partition_number int = p.number();
    in_row_data_page_count bigint null = p.pages();
    in_row_used_page_count bigint null = p.pages();
    in_row_reserved_page_count bigint null = p.pages();
    lob_used_page_count bigint null = 0i64;
    lob_reserved_page_count bigint null = 0i64;
    row_overflow_used_page_count bigint null = 0i64;
    row_overflow_reserved_page_count bigint null = 0i64;
    used_page_count bigint null = p.pages();
    reserved_page_count bigint null = p.pages();
    row_count bigint null = p.rows();
}
