//! Pages of partitions: sys.allocation_units, and what sys.dm_db_partition_stats shows.
//!
//! Columns and types: SQL Server 2022's documentation of the view. *Data* pages are leaves, *used* ones those above them
//! too, *reserved* ones all in the extents that a tree has been given. A tree without rows has none and its first extent is
//! not told of, as SQL Server gives pages to a table with its first row. Large values lie in a tree beside the table's own.
//! Partitions share a tree: each is told its share by its rows. What lies on no pages (a temporary table) has the pages that
//! its rows would take; memory-optimised tables have none.

use super::indexes::all;
use super::partitions::{Partition, Shares, partitions_of};
use crate::context::Context;
use crate::declare::{Declared, view};
use crate::paging::while_breathing;
use engine::{TreeId, TreeSpace};
use executor::SqlError;
use std::collections::HashMap;
use std::rc::Rc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&ALLOCATION_UNITS];

/// Pages, of 8 KB.
#[derive(Clone, Copy, Default)]
pub struct Pages {
    pub data: i64,
    pub used: i64,
    pub reserved: i64,
}

impl Pages {
    fn part(self, share: f64) -> Pages {
        let part = |of: i64| (of as f64 * share).round() as i64;
        let (data, above) = (part(self.data), part(self.used - self.data));
        let used = data + above;
        Pages { data, used, reserved: part(self.reserved).max(used) }
    }
}

/// A partition and its pages.
pub struct Spaced {
    pub partition: Rc<Partition>,
    pub in_row: Pages,
    /// Of large values, where the table may have any.
    pub large: Option<(TreeId, Pages)>,
}

/// What is counted of the trees of a database.
struct Counting<'a> {
    context: &'a Context<'a>,
    reserved: HashMap<TreeId, u64>,
    counted: HashMap<TreeId, Pages>,
}

impl Counting<'_> {
    fn of(&mut self, tree: TreeId) -> Result<Pages, SqlError> {
        if let Some(pages) = self.counted.get(&tree) {
            return Ok(*pages);
        }
        let engine = &self.context.database.engine;
        let space = while_breathing(|stop| engine.space_of(&engine.tree(tree), stop))?;
        let space = space.unwrap_or_default();
        let given = self.reserved.get(&tree).copied().unwrap_or(0);
        let used = space.leaves + space.inner;
        let reserved = match space == TreeSpace::default() {
            true => given.saturating_sub(TreeSpace::EXTENT_PAGES),
            false => given.max(used),
        };
        let (data, used, reserved) = (space.leaves as i64, used as i64, reserved as i64);
        let pages = Pages { data, used, reserved };
        self.counted.insert(tree, pages);
        Ok(pages)
    }
}

/// Every partition of the database with its pages.
pub fn spaced(context: &Context<'_>, _: &[Value]) -> Result<Vec<Spaced>, SqlError> {
    let partitions = partitions_of(context, all(context))?;
    let shares = Shares::of_all(&partitions);
    let reserved = context.database.engine.reserved_pages();
    let reserved = reserved.map_err(executor::from_engine_alone)?;
    let mut counting = Counting { context, reserved, counted: HashMap::new() };
    let mut all_spaced = Vec::new();
    for partition in partitions {
        let (index, share) = (partition.index(), shares.of(&partition));
        let in_row = match index.tree_on_pages() {
            Some(tree) => counting.of(tree)?.part(share),
            None if index.table.is_memory() => Pages::default(),
            None => {
                let pages = index.pages(partition.rows());
                Pages { data: pages, used: pages, reserved: pages }
            }
        };
        let large = index.table.lob.filter(|_| index.id <= 1 && index.tree_on_pages().is_some());
        let large = match large {
            Some(tree) => Some((tree, counting.of(tree)?.part(share))),
            None => None,
        };
        all_spaced.push(Spaced { partition: Rc::new(partition), in_row, large });
    }
    Ok(all_spaced)
}

/// Pages of one kind of a partition.
pub struct Unit {
    id: i64,
    kind: (u8, &'static str),
    partition: Rc<Partition>,
    pages: Pages,
}

fn units(context: &Context<'_>, args: &[Value]) -> Result<Vec<Unit>, SqlError> {
    let mut all = Vec::new();
    for Spaced { partition, in_row, large } in spaced(context, args)? {
        if let Some((tree, pages)) = large {
            let id = partition.id_in(tree);
            all.push(Unit { id, kind: (2, "LOB_DATA"), partition: partition.clone(), pages });
        }
        all.push(Unit { id: partition.id(), kind: (1, "IN_ROW_DATA"), partition, pages: in_row });
    }
    Ok(all)
}

view! {
    ALLOCATION_UNITS = "sys.allocation_units" of Unit as u, rows units;
    allocation_unit_id bigint = u.id;
    type tinyint = u.kind.0;
    type_desc nvarchar(60) null = u.kind.1;
    container_id bigint = u.partition.id();
    data_space_id int null = u.partition.filegroup();
    total_pages bigint = u.pages.reserved;
    used_pages bigint = u.pages.used;
    data_pages bigint = u.pages.data;
}
