//! How tables and indexes lie in their files: sys.dm_db_index_physical_stats.
//!
//! Columns and types: SQL Server's documentation. The pages are read when it is asked (storage's `measure.rs`): those above
//! the leaves for LIMITED, one leaf in a hundred too for SAMPLED, all for DETAILED, which has a row for each level of an
//! index. Partitions share a tree: each is told its share of the rows. What has no pages (a temporary table) has the pages
//! that its rows would take and nothing measured; memory-optimised tables have no row, as in SQL Server.

use super::index_arguments::{Asked, incorrect};
use crate::catalog_views::partitions::{Partition, Shares};
use crate::context::Context;
use crate::declare::{Cell, Declared, NULL, view};
use crate::paging::while_breathing;
use engine::{LevelFigures, Measure, TreeId};
use executor::SqlError;
use std::rc::Rc;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&PHYSICAL_STATS];

/// A level of a partition of an index.
pub struct Physical {
    database: i32,
    partition: Rc<Partition>,
    how: Measure,
    /// None: there are no pages.
    measured: Option<Level>,
}

struct Level {
    depth: u8,
    figures: LevelFigures,
    /// The partition's part of the tree.
    share: f64,
}

/// 2561: there is no such mode.
fn mode(arg: Option<&Value>) -> Result<Measure, SqlError> {
    let Some(text) = arg.and_then(Value::as_str) else { return Ok(Measure::Limited) };
    let modes = [
        ("DEFAULT", Measure::Limited),
        ("LIMITED", Measure::Limited),
        ("SAMPLED", Measure::Sampled),
        ("DETAILED", Measure::Detailed),
    ];
    let found = modes.into_iter().find(|(name, _)| text.eq_ignore_ascii_case(name));
    found.map(|(_, how)| how).ok_or_else(|| incorrect(5))
}

fn physical(context: &Context<'_>, args: &[Value]) -> Result<Vec<Physical>, SqlError> {
    let (asked, how) = (Asked::of(args), mode(args.get(4))?);
    asked.check(context)?;
    asked.check_permission(context)?;
    let mut all = Vec::new();
    for (database, there, partitions) in
        asked.partitions(context, |_, index| !index.table.is_memory())?
    {
        let shares = Shares::of_all(&partitions);
        let mut last: Option<(TreeId, Option<Vec<LevelFigures>>)> = None;
        for partition in partitions {
            let partition = Rc::new(partition);
            let levels = match partition.index().tree_on_pages() {
                None => None,
                Some(tree) => {
                    if last.as_ref().is_none_or(|(known, _)| *known != tree) {
                        last = Some((tree, measure(&there, tree, how)?));
                    }
                    last.as_ref().and_then(|(_, levels)| levels.as_deref())
                }
            };
            let Some(levels) = levels else {
                all.push(Physical { database, partition, how, measured: None });
                continue;
            };
            let share = shares.of(&partition);
            let told = how == Measure::Detailed && partition.index().id != 0;
            for figures in levels.iter().take(if told { levels.len() } else { 1 }) {
                let level = Level { depth: levels.len() as u8, figures: *figures, share };
                let (partition, measured) = (partition.clone(), Some(level));
                all.push(Physical { database, partition, how, measured });
            }
        }
    }
    Ok(all)
}

fn measure(
    there: &Context<'_>,
    tree: TreeId,
    how: Measure,
) -> Result<Option<Vec<LevelFigures>>, SqlError> {
    let engine = &there.database.engine;
    while_breathing(|stop| engine.measure(&engine.tree(tree), how, stop))
}

impl Level {
    /// Nothing was ever put in, or all of it is gone: SQL Server has no page then.
    fn is_empty(&self) -> bool {
        let leaf = &self.figures;
        self.depth == 1 && leaf.records + leaf.ghosts + leaf.ghosts_needed == 0
    }

    fn part(&self, of: u64) -> i64 {
        (of as f64 * self.share).round() as i64
    }

    fn pages(&self) -> i64 {
        if self.is_empty() { 0 } else { self.part(self.figures.pages) }
    }

    /// As many of all pages as were counted of those looked at.
    fn of_all(&self, counted: u64) -> i64 {
        let looked_at = self.figures.looked_at.max(1);
        self.part((counted as f64 * self.figures.pages as f64 / looked_at as f64).round() as u64)
    }

    fn is_leaf(&self) -> bool {
        self.figures.level == 0
    }
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

    fn is_heap(&self) -> bool {
        self.partition.index().id == 0
    }

    fn measured<T: Cell>(&self, of: impl Fn(&Level) -> T) -> Value {
        self.measured.as_ref().map_or(NULL, |level| of(level).cell())
    }

    /// What LIMITED does not look at.
    fn looked_at<T: Cell>(&self, of: impl Fn(&Level) -> T) -> Value {
        if self.how == Measure::Limited { NULL } else { self.measured(of) }
    }

    fn depth(&self) -> Value {
        self.measured(|level| match () {
            () if level.is_empty() => 0,
            () if self.is_heap() => 1,
            () => level.depth,
        })
    }

    /// Of extents for a heap, of pages for an index.
    fn fragmentation(&self) -> Value {
        if self.is_heap() && self.how == Measure::Sampled {
            return NULL;
        }
        self.measured(|level| {
            let figures = &level.figures;
            match self.is_heap() {
                true => percent(figures.extents_apart, figures.extents),
                false => percent(figures.out_of_order, figures.pages),
            }
        })
    }

    /// Of the leaves.
    fn fragments(&self) -> Option<i64> {
        let level = self.measured.as_ref().filter(|level| level.is_leaf())?;
        let fragments = match (self.is_heap(), self.how) {
            (true, Measure::Sampled) => return None,
            (true, _) => level.figures.extents_apart + 1,
            (false, _) => level.figures.fragments,
        };
        let pages = level.pages();
        Some(if pages == 0 { 0 } else { level.part(fragments).clamp(1, pages) })
    }

    fn fragment_pages(&self) -> Option<f64> {
        let (fragments, level) = (self.fragments()?, self.measured.as_ref()?);
        Some(if fragments == 0 { 0.0 } else { level.pages() as f64 / fragments as f64 })
    }

    fn record_mean(&self) -> Value {
        self.looked_at(|level| {
            let figures = &level.figures;
            figures.record_bytes_sum as f64 / figures.records.max(1) as f64
        })
    }
}

fn percent(of: u64, all: u64) -> f64 {
    of as f64 * 100.0 / all.max(1) as f64
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
    index_depth tinyint null = p.depth();
    index_level tinyint null = p.measured.as_ref().map_or(0, |level| level.figures.level);
    avg_fragmentation_in_percent float null = p.fragmentation();
    fragment_count bigint null = p.fragments();
    avg_fragment_size_in_pages float null = p.fragment_pages();
    page_count bigint null = p.measured.as_ref().map_or_else(|| p.partition.index().pages(p.partition.rows()), Level::pages);
    avg_page_space_used_in_percent float null = p.looked_at(|level| {
        let room = level.figures.looked_at * LevelFigures::PAGE_ROOM as u64;
        if level.is_empty() { 0.0 } else { percent(level.figures.used_bytes, room) }
    });
    record_count bigint null = p.looked_at(|level| level.of_all(level.figures.records));
    ghost_record_count bigint null = p.looked_at(|level| level.of_all(level.figures.ghosts));
    version_ghost_record_count bigint null =
        p.looked_at(|level| level.of_all(level.figures.ghosts_needed));
    min_record_size_in_bytes int null =
        p.looked_at(|level| level.figures.record_bytes_min as i32);
    max_record_size_in_bytes int null =
        p.looked_at(|level| level.figures.record_bytes_max as i32);
    avg_record_size_in_bytes float null = p.record_mean();
    forwarded_record_count bigint null = if p.is_heap() { p.looked_at(|_| 0i64) } else { NULL };
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
