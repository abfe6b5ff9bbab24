//! Statistics of tables: how many rows there are, and what values a column has.
//!
//! ```text
//! gather.rs     reads leaves at random (all of a small table) and makes statistics of the columns asked for
//! histogram.rs  the values of one column in at most 200 steps
//! store.rs      system table 19, from which they come back when the database is opened
//! ```
//!
//! [`TableStatistics`] is what a planner reads; all versions of a table's definition share it.
//!
//! Promises: whoever plans never waits here; a statistic names its columns as they were, and one whose column has been
//! dropped, renamed or given another type is not used. Reading a sample locks no row: it sees rows that are not
//! committed, which does no harm to an estimate. Making a statistic is no part of the session's transaction: it is there
//! at once and stays after a rollback.

mod gather;
mod histogram;
mod store;

pub use gather::{Extent, StatisticSpec};
pub use histogram::{Histogram, STEPS_MAX, Step};

use crate::TreeId;
use crate::def::{TableDef, same_name};
use parking_lot::RwLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use types::{SqlType, Value};

/// A statistic: of one column or several, the first of which has a histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    /// stats_id; that of an index is the index's.
    pub id: i32,
    /// Its name.
    pub name: Box<str>,
    /// Its columns when it was made: ordinal, name, type.
    pub columns: Vec<(usize, Box<str>, SqlType)>,
    /// By the server, because a query asked about the column.
    pub auto_created: bool,
    /// By CREATE STATISTICS.
    pub user_created: bool,
    /// WITH NORECOMPUTE.
    pub no_recompute: bool,
    /// UTC, ns since 1970.
    pub updated_unix_ns: u64,
    /// Rows of the table then.
    pub rows: f64,
    /// Rows that were read for it.
    pub rows_sampled: u64,
    /// Of the first column.
    pub histogram: Histogram,
    /// For the first column, the first two and so on: 1 / different values.
    pub densities: Vec<f64>,
    /// Mean bytes of a value, by column.
    pub average_bytes: Vec<f64>,
    /// [`engine::Tree::changes`] when it was made; 0 for one made before the database was opened.
    pub changes_then: u64,
}

impl Statistic {
    /// Whether its columns are still as they were.
    pub fn is_of(&self, table: &TableDef) -> bool {
        self.columns.iter().all(|(ordinal, name, ty)| {
            table.columns.get(*ordinal).is_some_and(|c| same_name(&c.name, name) && c.ty == *ty)
        })
    }

    /// The ordinal of its first column.
    pub fn leading(&self) -> usize {
        self.columns[0].0
    }

    /// Different values of the first column, at least 1.
    pub fn distinct(&self) -> f64 {
        self.densities.first().map_or(1.0, |d| 1.0 / d.max(1e-18))
    }

    /// Changes after which it is made anew: SQL Server's rule (compatibility level 130 and later), the lesser of
    /// 500 + 20% of the rows and the root of 1,000 times the rows; 500 for a table that had at most 500 rows.
    pub fn threshold(&self) -> f64 {
        if self.rows <= 500.0 {
            return 500.0;
        }
        (500.0 + 0.2 * self.rows).min((1_000.0 * self.rows).sqrt())
    }
}

/// What is known of a table's rows.
#[derive(Debug, Default)]
pub struct TableStatistics {
    known: RwLock<Known>,
    /// Grows when a statistic is made, made anew or dropped.
    version: AtomicU64,
    /// Rows as somebody who planned has seen them last, and 1; 0: nobody has looked.
    latest: AtomicU64,
    /// Somebody is making statistics for a query.
    pub(crate) gathering: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    /// The tree that had rows when the database was opened. Any other began empty.
    old: Option<TreeId>,
    /// A tree, its rows at some moment, and what it had counted then.
    base: Option<(TreeId, f64, i64)>,
    statistics: Vec<Arc<Statistic>>,
}

impl TableStatistics {
    /// Of a table that was there when the database was opened.
    pub(crate) fn loaded(table: &TableDef, mut statistics: Vec<Statistic>) -> Arc<TableStatistics> {
        for statistic in &mut statistics {
            let Some(column) = table.columns.get(statistic.leading()) else { continue };
            let rule = column.collation.rule();
            for step in &mut statistic.histogram.steps {
                if let Value::Str(text) = &step.high {
                    step.high = Value::Str(text.clone().with_rule(rule));
                }
            }
        }
        let statistics = statistics.into_iter().map(Arc::new).collect();
        let known = Known { old: Some(table.tree), base: None, statistics };
        Arc::new(TableStatistics { known: RwLock::new(known), ..TableStatistics::default() })
    }

    /// Rows, about, of a tree that has counted `counted` rows by now; None when nobody has looked yet.
    pub fn rows(&self, tree: TreeId, counted: i64) -> Option<f64> {
        let known = self.known.read();
        match known.base {
            Some((of, rows, then)) if of == tree => Some((rows + (counted - then) as f64).max(0.0)),
            _ if known.old == Some(tree) => None,
            _ => Some(counted.max(0) as f64),
        }
    }

    /// Rows as of the last look; None when nobody has looked yet.
    pub fn rows_known(&self) -> Option<f64> {
        self.known.read().base.map(|(_, rows, _)| rows)
    }

    /// Rows as they were when a statement over the table was last planned; None when none was.
    #[inline]
    pub fn rows_latest(&self) -> Option<f64> {
        self.latest.load(Relaxed).checked_sub(1).map(|rows| rows as f64)
    }

    pub(crate) fn note_latest(&self, rows: f64) {
        self.latest.store(rows.max(0.0) as u64 + 1, Relaxed);
    }

    /// Grows when a statistic is made, made anew or dropped.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version.load(Relaxed)
    }

    /// The statistic whose first column is this one, as far as it still fits the definition: the newest.
    pub fn of_column(&self, table: &TableDef, ordinal: usize) -> Option<Arc<Statistic>> {
        let known = self.known.read();
        let fits = |s: &&Arc<Statistic>| s.leading() == ordinal && s.is_of(table);
        known.statistics.iter().filter(fits).max_by_key(|s| s.updated_unix_ns).cloned()
    }

    /// 1 / different values of all of `ordinals` together, where a statistic begins with just these columns.
    pub fn density_of(&self, table: &TableDef, ordinals: &[usize]) -> Option<f64> {
        let known = self.known.read();
        let n = ordinals.len();
        known.statistics.iter().find_map(|s| {
            let begins = s.columns.len() >= n
                && s.columns[..n].iter().all(|(ordinal, ..)| ordinals.contains(ordinal));
            (n > 0 && begins && s.is_of(table)).then(|| s.densities[n - 1])
        })
    }

    /// The most of `ordinals`, two at least, that a statistic begins with, and 1 / different values of them together.
    pub fn density_among(&self, table: &TableDef, ordinals: &[usize]) -> Option<(Vec<usize>, f64)> {
        let known = self.known.read();
        let among = |s: &Arc<Statistic>| {
            let columns = s.columns.iter().map(|(ordinal, ..)| *ordinal);
            let first: Vec<usize> = columns.take_while(|o| ordinals.contains(o)).collect();
            let density = *s.densities.get(first.len().checked_sub(1)?)?;
            let fits = first.len() > 1 && s.is_of(table);
            fits.then_some((s.updated_unix_ns, first, density))
        };
        let known = known.statistics.iter().filter_map(among);
        let (_, first, density) = known.max_by_key(|(at, first, _)| (first.len(), *at))?;
        Some((first, density))
    }

    /// All, by id.
    pub fn all(&self) -> Vec<Arc<Statistic>> {
        let mut all = self.known.read().statistics.clone();
        all.sort_by_key(|s| s.id);
        all
    }

    /// Sets how many rows there are: of a table whose rows this crate does not see, by who sees them.
    pub fn note_rows(&self, tree: TreeId, rows: f64, counted: i64) {
        self.known.write().base = Some((tree, rows, counted));
        self.note_latest(rows);
    }

    /// The same where somebody says what the table is to be taken for: plans are made anew.
    pub fn tell_rows(&self, tree: TreeId, rows: f64, counted: i64) {
        self.note_rows(tree, rows, counted);
        self.version.fetch_add(1, Relaxed);
    }

    /// Puts a statistic in the place of the one with its id.
    pub fn put(&self, statistic: Statistic) {
        let all = &mut self.known.write().statistics;
        all.retain(|s| s.id != statistic.id);
        all.push(Arc::new(statistic));
        self.version.fetch_add(1, Relaxed);
    }

    pub(crate) fn remove(&self, id: i32) {
        self.known.write().statistics.retain(|s| s.id != id);
        self.version.fetch_add(1, Relaxed);
    }
}

impl TableDef {
    /// The columns that a statistic of this id has when an index makes it, in order; None when no index has that id.
    pub fn statistic_columns(&self, id: i32) -> Option<Vec<usize>> {
        let keys: Vec<usize> = match self.indexes.iter().find(|i| i.index_id == id) {
            Some(index) => index.columns.iter().map(|(ordinal, _)| *ordinal).collect(),
            None if id == 1 => self.clustered_key().iter().map(|(ordinal, _)| *ordinal).collect(),
            None => Vec::new(),
        };
        if keys.is_empty() {
            return None;
        }
        // A secondary index's rows have the clustered key too, and so has its statistic.
        let mut columns = keys;
        if id != 1 {
            for (ordinal, _) in self.clustered_key() {
                if !columns.contains(ordinal) {
                    columns.push(*ordinal);
                }
            }
        }
        Some(columns)
    }

    /// What indexes give statistics to: id and name, by id. A columnstore index has no key to tell of.
    pub fn statistic_indexes(&self) -> Vec<(i32, Box<str>)> {
        let keyed = self.indexes.iter().filter(|i| i.columnstore.is_none());
        let mut all: Vec<(i32, Box<str>)> = keyed.map(|i| (i.index_id, i.name.clone())).collect();
        if let Some(key) = self.primary_key.as_ref().filter(|key| key.clustered) {
            all.push((1, key.name.clone()));
        }
        all.sort_by_key(|(id, _)| *id);
        all
    }
}
