//! sys.dm_os_buffer_descriptors: the pages in memory, of every database that is online.
//!
//! Columns and types: SQL Server's documentation. A page that is latched, or just changes hands, is left out. How long a
//! page took to be read is not kept: NULL. allocation_unit_id is the tree's number, as in sys.allocation_units, where a
//! partitioned index has its first partition's.

use crate::catalog_views::indexes;
use crate::context::Context;
use crate::declare::{Declared, NULL, view};
use engine::BufferDescriptor;
use executor::SqlError;
use std::collections::HashSet;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&DESCRIPTORS];

/// A page of a database.
pub struct Buffer {
    database: i32,
    of: BufferDescriptor,
    /// Of an index that is not the table's own.
    is_index: bool,
}

impl Buffer {
    /// Of a page of rows or children; of others nothing.
    fn in_tree<T>(&self, value: T) -> Option<T> {
        (self.of.summary.owner != 0).then_some(value)
    }
}

fn descriptors(context: &Context<'_>, _: &[Value]) -> Result<Vec<Buffer>, SqlError> {
    let mut all = Vec::new();
    for database in context.server.databases() {
        let Some(open) = &database.open else { continue };
        let indexes: HashSet<i64> = match context.of_database_id(database.id.into()) {
            Some(there) => {
                let all = indexes::all(&there).into_iter();
                all.filter(|index| index.id > 1).map(|index| index.tree).collect()
            }
            None => HashSet::new(),
        };
        let buffer = |of: BufferDescriptor| Buffer {
            database: database.id,
            is_index: indexes.contains(&(of.summary.owner as i64)),
            of,
        };
        all.extend(open.engine.buffer_descriptors().into_iter().map(buffer));
    }
    Ok(all)
}

view! {
    DESCRIPTORS = "sys.dm_os_buffer_descriptors" of Buffer as b, rows descriptors;
    database_id int null = b.database;
    file_id int null = i32::from(b.of.page.file());
    page_id int null = b.of.page.page_no() as i32;
    page_level int null = i32::from(b.of.summary.level);
    allocation_unit_id bigint null = b.in_tree(b.of.summary.owner as i64);
    page_type nvarchar(60) null = b.of.page_type(b.is_index);
    row_count int null = b.of.summary.slots as i32;
    free_space_in_bytes int null = b.of.summary.free_bytes as i32;
    is_modified bit null = b.of.is_modified;
    numa_node int null = i32::from(b.of.node);
    read_microsec bigint null = NULL;
    is_in_bpool_extension bit null = false;
}
