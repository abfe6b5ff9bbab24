//! Space of tables and indexes, as administrators' scripts ask for it: sys.dm_db_partition_stats.
//!
//! Columns and types: SQL Server's documentation. Pages are counted (`catalog_views/partition_space.rs`): in_row_data are
//! those that sys.dm_db_index_physical_stats tells as page_count of level 0, in_row_used those of all its levels. Values
//! that leave a row lie with the large ones: none is row overflow.

use crate::catalog_views::partition_space::{Pages, Spaced, spaced};
use crate::declare::{Declared, view};

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&PARTITION_STATS];

impl Spaced {
    fn large(&self) -> Pages {
        self.large.map(|(_, pages)| pages).unwrap_or_default()
    }
}

view! {
    PARTITION_STATS = "sys.dm_db_partition_stats" of Spaced as s, rows spaced;
    partition_id bigint null = s.partition.id();
    object_id int = s.partition.index().table.object_id;
    index_id int = s.partition.index().id;
    partition_number int = s.partition.number();
    in_row_data_page_count bigint null = s.in_row.data;
    in_row_used_page_count bigint null = s.in_row.used;
    in_row_reserved_page_count bigint null = s.in_row.reserved;
    lob_used_page_count bigint null = s.large().used;
    lob_reserved_page_count bigint null = s.large().reserved;
    row_overflow_used_page_count bigint null = 0i64;
    row_overflow_reserved_page_count bigint null = 0i64;
    used_page_count bigint null = s.in_row.used + s.large().used;
    reserved_page_count bigint null = s.in_row.reserved + s.large().reserved;
    row_count bigint null = s.partition.rows();
}
