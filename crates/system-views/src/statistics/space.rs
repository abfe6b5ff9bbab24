//! Space of tables and indexes, as administrators' scripts ask for it: sys.dm_db_partition_stats and
//! sys.dm_db_index_physical_stats.
//!
//! Columns and types: SQL Server's documentation of each. Pages are what the rows take by their declared widths, as in
//! sys.allocation_units (docs/compatibility.md); what is measured by reading every page (fragmentation, sizes of records,
//! ghosts) is NULL, and so nothing is rebuilt because of it.

use crate::catalog_views::partitions::{Partition, partitions};
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&PARTITION_STATS, &PHYSICAL_STATS];

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

/// A partition of an index in a database.
pub struct Physical {
    database: i32,
    partition: Partition,
}

/// By database, object, index and partition; NULL, 0 (but for an index) and -1 mean all.
fn physical(context: &Context<'_>, args: &[Value]) -> Result<Vec<Physical>, SqlError> {
    let asked = |i: usize| args.get(i).and_then(Value::as_i64).filter(|id| *id != -1);
    let database = asked(0).filter(|id| *id != 0);
    let (object, index) = (asked(1).filter(|id| *id != 0), asked(2));
    let number = asked(3).filter(|number| *number != 0);
    let mut all = Vec::new();
    for known in context.server.databases() {
        if database.is_some_and(|id| id != i64::from(known.id)) {
            continue;
        }
        let Some(there) = context.of_database_id(known.id.into()) else { continue };
        for partition in partitions(&there, &[])? {
            let of = partition.index();
            let fits = object.is_none_or(|id| id == i64::from(of.table.object_id))
                && index.is_none_or(|id| id == i64::from(of.id))
                && number.is_none_or(|number| number == i64::from(partition.number()));
            if fits {
                all.push(Physical { database: known.id, partition });
            }
        }
    }
    Ok(all)
}

impl Physical {
    fn kind(&self) -> &'static str {
        let index = self.partition.index();
        match (index.columnstore().is_some(), index.id) {
            (true, 1) => "CLUSTERED COLUMNSTORE INDEX",
            (true, _) => "NONCLUSTERED COLUMNSTORE INDEX",
            (_, 0) => "HEAP",
            (_, 1) => "CLUSTERED INDEX",
            _ => "NONCLUSTERED INDEX",
        }
    }
}

view! {
    PHYSICAL_STATS = "sys.dm_db_index_physical_stats" of Physical as p, rows physical,
        params (smallint, int, int, int, nvarchar(20));
    database_id smallint null = p.database as i16;
    object_id int null = p.partition.index().table.object_id;
    index_id int null = p.partition.index().id;
    partition_number int null = p.partition.number();
    index_type_desc nvarchar(60) null = p.kind();
    alloc_unit_type_desc nvarchar(60) null = "IN_ROW_DATA";
    index_depth tinyint null = NULL;
    index_level tinyint null = 0u8;
    avg_fragmentation_in_percent float null = NULL;
    fragment_count bigint null = NULL;
    avg_fragment_size_in_pages float null = NULL;
    page_count bigint null = p.partition.pages();
    avg_page_space_used_in_percent float null = NULL;
    record_count bigint null = p.partition.rows();
    ghost_record_count bigint null = NULL;
    version_ghost_record_count bigint null = NULL;
    min_record_size_in_bytes int null = NULL;
    max_record_size_in_bytes int null = NULL;
    avg_record_size_in_bytes float null = NULL;
    forwarded_record_count bigint null = NULL;
    compressed_page_count bigint null = 0i64;
    hobt_id bigint = p.partition.id();
    columnstore_delete_buffer_state tinyint = 0u8;
    columnstore_delete_buffer_state_desc nvarchar(60) = "NOT VALID";
    version_record_count bigint null = NULL;
    inrow_version_record_count bigint null = NULL;
    inrow_diff_version_record_count bigint null = NULL;
    total_inrow_version_payload_size_in_bytes bigint null = NULL;
    offrow_regular_version_record_count bigint null = NULL;
    offrow_long_term_version_record_count bigint null = NULL;
}
