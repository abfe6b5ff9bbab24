//! Making statistics: a sample is read, sorted and counted. What is said of leaves holds for the places of a table in memory.

use super::histogram::order;
use super::{Histogram, Statistic, TableStatistics};
use crate::def::TableDef;
use crate::{Catalog, CatalogError};
use engine::{Sampler, TableLock, Tree, TxnOptions};
use std::collections::HashSet;
use std::sync::atomic::Ordering::*;
use types::{SqlType, Value};

/// Leaves that are read for a sample; a table of fewer is read whole.
const SAMPLE_LEAVES: usize = 400;
/// So is one most of whose leaves turn out to be empty, if the others have fewer rows than this together.
const SAMPLE_ROWS_MIN: u64 = 500;
/// Rows that a sample has room for; of a larger one every second, fourth ... row is kept.
const SAMPLE_ROWS_MAX: usize = 2_000_000;
/// Walks that estimate how many leaves there are.
const ESTIMATE_WALKS: usize = 16;
/// Walks for each leaf of a sample at most, of which some end at a leaf that is in it.
const WALKS_A_LEAF: usize = 4;
/// A table of fewer leaves is counted row by row.
const COUNTED_LEAVES: f64 = 64.0;
/// Texts and binaries in histograms are cut here, in characters or bytes.
const VALUE_LEN_MAX: usize = 60;

/// How much of a table is read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Extent {
    /// All of a small table, else some leaves.
    #[default]
    Default,
    /// FULLSCAN.
    Whole,
    /// SAMPLE n PERCENT.
    Percent(f64),
    /// SAMPLE n ROWS.
    Rows(u64),
}

/// What a statistic is to be about.
#[derive(Clone, Debug)]
pub struct StatisticSpec {
    /// stats_id.
    pub id: i32,
    /// Its name.
    pub name: Box<str>,
    /// Ordinals.
    pub columns: Vec<usize>,
    /// Not for an index, and nobody asked for it.
    pub auto_created: bool,
    /// CREATE STATISTICS.
    pub user_created: bool,
    /// WITH NORECOMPUTE.
    pub no_recompute: bool,
}

impl StatisticSpec {
    /// That of an index.
    pub fn of_index(table: &TableDef, id: i32) -> Option<StatisticSpec> {
        let (_, name) = table.statistic_indexes().into_iter().find(|(known, _)| *known == id)?;
        let columns = table.statistic_columns(id)?;
        let (auto_created, user_created) = (false, false);
        let no_recompute = table.index_options(id).no_recompute;
        Some(StatisticSpec { id, name, columns, auto_created, user_created, no_recompute })
    }

    /// To make one anew.
    pub fn again(statistic: &Statistic) -> StatisticSpec {
        StatisticSpec {
            id: statistic.id,
            name: statistic.name.clone(),
            columns: statistic.columns.iter().map(|(ordinal, ..)| *ordinal).collect(),
            auto_created: statistic.auto_created,
            user_created: statistic.user_created,
            no_recompute: statistic.no_recompute,
        }
    }

    /// What the server makes by itself for a column: `_WA_Sys_`, the column's number, the table's, both as 8 digits.
    pub fn automatic(table: &TableDef, ordinal: usize) -> StatisticSpec {
        let column = ordinal + 1;
        StatisticSpec {
            id: next_id(table),
            name: format!("_WA_Sys_{column:08X}_{:08X}", table.object_id).into(),
            columns: vec![ordinal],
            auto_created: true,
            user_created: false,
            no_recompute: false,
        }
    }
}

/// A stats_id that no index and no statistic has.
pub(crate) fn next_id(table: &TableDef) -> i32 {
    let indexes = table.indexes.iter().map(|i| i.index_id);
    let statistics = table.statistics.all().into_iter().map(|s| s.id);
    // Room for the indexes of later, whose statistics have the indexes' ids.
    indexes.chain(statistics).max().unwrap_or(0).max(1_000) + 1
}

/// A sample of a table's rows.
struct Sample {
    /// Rows of the table.
    rows: f64,
    /// A list of values for each column asked for.
    values: Vec<Vec<Value>>,
    /// Where the rows of each leaf end in those lists, of a sample of leaves.
    leaf_ends: Vec<usize>,
    /// Rows read.
    read: u64,
    /// Changes counted before it was read.
    changes: u64,
}

impl Catalog {
    /// Rows of a table, about; without reading anything, so perhaps unknown.
    pub fn row_count_known(&self, table: &TableDef) -> Option<f64> {
        if table.is_private() {
            return table.statistics.rows_known();
        }
        table.statistics.rows(table.tree, self.db.tree(table.tree).net_rows())
    }

    /// Rows of a table, about. The first to ask for a table that was there when the database was opened reads some
    /// pages (all of a small table). Suspends.
    pub fn row_count(&self, table: &TableDef) -> Result<f64, CatalogError> {
        if let Some(rows) = self.row_count_known(table) {
            table.statistics.note_latest(rows);
            return Ok(rows);
        }
        let tree = self.db.tree_of(table.tree, table.shape);
        let (_lock, counted) = (self.keep_table(table, &tree)?, tree.net_rows());
        let mut random = generator(table.object_id);
        let (leaves, per_leaf) = estimate(&tree.sampler(), &mut random)?;
        let rows = if leaves <= COUNTED_LEAVES {
            let mut rows = 0u64;
            tree.each_row(&mut |_| rows += 1)?;
            rows as f64
        } else {
            (leaves * per_leaf).round()
        };
        table.statistics.note_rows(table.tree, rows, counted);
        Ok(rows)
    }

    /// Changes to the table's rows since a statistic was made, as far back as the database has been open.
    pub fn changes_since(&self, table: &TableDef, statistic: &Statistic) -> u64 {
        self.db.tree(table.tree).changes().saturating_sub(statistic.changes_then)
    }

    /// Whether a statistic has been left behind by changes: see [`Statistic::threshold`]. Changes from before the
    /// database was opened show in the number of rows alone.
    pub fn is_stale(&self, table: &TableDef, statistic: &Statistic) -> bool {
        if statistic.no_recompute || table.index_options(statistic.id).no_recompute {
            return false;
        }
        let grown = self.row_count_known(table).map_or(0.0, |rows| (rows - statistic.rows).abs());
        (self.changes_since(table, statistic) as f64).max(grown) > statistic.threshold()
    }

    /// Makes statistics for a query, unless somebody is at it for that table: false then. Suspends.
    pub fn gather_for_query(
        &self,
        table: &TableDef,
        specs: &[StatisticSpec],
    ) -> Result<bool, CatalogError> {
        struct Gathering<'a>(&'a TableStatistics);
        impl Drop for Gathering<'_> {
            fn drop(&mut self) {
                self.0.gathering.store(false, Release);
            }
        }
        if table.statistics.gathering.swap(true, AcqRel) {
            return Ok(false);
        }
        let _gathering = Gathering(&table.statistics);
        self.gather(table, specs, Extent::Default)?;
        Ok(true)
    }

    /// Makes statistics, each anew where it is there already. They are in use at once; that they are also there after
    /// a restart is tried, and not waited for. Suspends.
    pub fn gather(
        &self,
        table: &TableDef,
        specs: &[StatisticSpec],
        extent: Extent,
    ) -> Result<(), CatalogError> {
        let mut columns: Vec<usize> =
            specs.iter().flat_map(|w| w.columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        let sample = self.sample(table, &columns, extent)?;
        let kept = sample.values.first().map_or(0, Vec::len);
        let scale = if kept == 0 { 1.0 } else { sample.rows / kept as f64 };
        for spec in specs {
            let statistic = self.statistic(table, spec, &columns, &sample, scale);
            let stored = self.store_statistic(table, &statistic);
            table.statistics.put(statistic);
            match stored {
                // Read-only, full, or its rows are locked: it is made again after a restart.
                Ok(()) | Err(CatalogError::Engine(_)) => {}
                Err(e) => return Err(e),
            }
            runtime::task::maybe_yield();
        }
        Ok(())
    }

    fn statistic(
        &self,
        table: &TableDef,
        spec: &StatisticSpec,
        columns: &[usize],
        sample: &Sample,
        scale: f64,
    ) -> Statistic {
        let of = |ordinal: &usize| match columns.binary_search(ordinal) {
            Ok(at) => &sample.values[at],
            Err(_) => stdx::fatal!("a statistic's column is not in its sample"),
        };
        let lists: Vec<&Vec<Value>> = spec.columns.iter().map(of).collect();
        let mut densities = Vec::with_capacity(lists.len());
        let (mut distinct_scale, mut fewer) = (1.0, 1.0f64);
        for n in 1..=lists.len() {
            let (distinct, estimated) = distinct(&lists[..n], &sample.leaf_ends, scale);
            if n == 1 && distinct > 0.0 {
                distinct_scale = estimated / distinct;
            }
            // More columns have no fewer values, whatever the sample makes one think.
            fewer = fewer.max(estimated);
            densities.push(1.0 / fewer);
        }
        let mut first = lists[0].clone();
        first.iter_mut().for_each(cut);
        first.sort_by(order);
        let bytes = |list: &Vec<Value>, ordinal: usize| {
            let ty = table.columns[ordinal].ty;
            let sum: f64 = list.iter().map(|v| bytes_of(v, ty)).sum();
            if list.is_empty() { 0.0 } else { sum / list.len() as f64 }
        };
        let column = |o: &usize| (*o, table.columns[*o].name.clone(), table.columns[*o].ty);
        Statistic {
            id: spec.id,
            name: spec.name.clone(),
            columns: spec.columns.iter().map(column).collect(),
            auto_created: spec.auto_created,
            user_created: spec.user_created,
            no_recompute: spec.no_recompute,
            updated_unix_ns: runtime::clock::unix_ns(),
            rows: sample.rows,
            rows_sampled: sample.read,
            histogram: Histogram::of(&first, scale, distinct_scale),
            densities,
            average_bytes: lists.iter().zip(&spec.columns).map(|(l, o)| bytes(l, *o)).collect(),
            changes_then: sample.changes,
        }
    }

    /// Whether changes may have a statistic made anew (NORECOMPUTE off); false when there is none of that number.
    /// Suspends.
    pub fn set_recompute(&self, table: &TableDef, id: i32, on: bool) -> Result<bool, CatalogError> {
        let Some(known) = table.statistics.all().into_iter().find(|s| s.id == id) else {
            return Ok(false);
        };
        let changed = Statistic { no_recompute: !on, ..(*known).clone() };
        self.store_statistic(table, &changed)?;
        table.statistics.put(changed);
        Ok(true)
    }

    /// DROP STATISTICS; false when there is none of that number. Suspends.
    pub fn drop_statistic(&self, table: &TableDef, id: i32) -> Result<bool, CatalogError> {
        let known = table.statistics.all().iter().any(|s| s.id == id);
        if known {
            self.erase_statistics(table.object_id, Some(id))?;
            table.statistics.remove(id);
        }
        Ok(known)
    }

    /// Keeps a table from being dropped while its pages are read: a lock that goes with the transaction. Whoever holds
    /// the table against all others is not waited for.
    fn keep_table(&self, table: &TableDef, tree: &Tree) -> Result<engine::Txn, CatalogError> {
        let mut txn = self.db.begin(TxnOptions::default());
        txn.lock_table_for(tree, TableLock::IntentShared, false, true)?;
        let _ = table;
        Ok(txn)
    }

    fn sample(
        &self,
        table: &TableDef,
        columns: &[usize],
        extent: Extent,
    ) -> Result<Sample, CatalogError> {
        let tree = self.db.tree_of(table.tree, table.shape);
        let _lock = self.keep_table(table, &tree)?;
        let (counted, changes) = (tree.net_rows(), tree.changes());
        let mut random = generator(table.object_id);
        let sampler = tree.sampler();
        let (leaves, per_leaf) = estimate(&sampler, &mut random)?;
        let wanted = match extent {
            Extent::Default => SAMPLE_LEAVES as f64,
            Extent::Whole => f64::INFINITY,
            Extent::Percent(percent) => (leaves * percent / 100.0).ceil(),
            Extent::Rows(rows) => (rows as f64 / per_leaf.max(1.0)).ceil(),
        };
        // Of a leaf or two nothing could be said: what is there once might be there always.
        let wanted = wanted.max(SAMPLE_LEAVES as f64 / 4.0);
        let mut whole = leaves <= wanted || wanted >= 0.5 * leaves;
        let mut taken = Taken::none(table, columns);
        let mut rows = 0.0;
        if !whole {
            let n = wanted as usize;
            let (mut leaves, mut walks, mut empty) = (0.0, 0, 0);
            // A leaf is taken once: values seen twice are taken for frequent ones.
            let mut seen = HashSet::with_capacity(n);
            while seen.len() < n && walks < n * WALKS_A_LEAF {
                let leaf = sampler.next(&mut random)?;
                walks += 1;
                leaves += leaf.places;
                if seen.insert(leaf.number) {
                    let before = taken.read;
                    leaf.rows().for_each(|row| taken.take(row));
                    empty += usize::from(taken.read == before);
                    taken.leaf_ends.push(taken.kept());
                }
                runtime::task::maybe_yield();
            }
            rows = (leaves / walks as f64 * taken.read as f64 / seen.len() as f64).round();
            whole = 2 * empty > seen.len() && taken.read < SAMPLE_ROWS_MIN;
        }
        if whole {
            taken = Taken::none(table, columns);
            tree.each_row(&mut |row| taken.take(row))?;
            rows = taken.read as f64;
        }
        // What was counted is better than what some leaves let expect.
        let known = table.statistics.rows(table.tree, counted).filter(|_| !whole);
        if known.is_none() {
            table.statistics.note_rows(table.tree, rows, counted);
        }
        let rows = known.unwrap_or(rows);
        let Taken { values, leaf_ends, read, .. } = taken;
        Ok(Sample { rows, values, leaf_ends, read, changes })
    }
}

/// Leaves of a table and rows of one, by a few walks; none where there are no places to walk to. Suspends.
fn estimate(
    sampler: &Sampler<'_>,
    random: &mut dyn FnMut(u64) -> u64,
) -> Result<(f64, f64), CatalogError> {
    if !sampler.has_places() {
        return Ok((0.0, 0.0));
    }
    let (mut leaves, mut rows) = (0.0, 0.0);
    for _ in 0..ESTIMATE_WALKS {
        let leaf = sampler.next(random)?;
        leaves += leaf.places;
        rows += leaf.rows().count() as f64;
        runtime::task::maybe_yield();
    }
    let walks = ESTIMATE_WALKS as f64;
    Ok((leaves / walks, rows / walks))
}

/// Columns of the rows that have been read, or of every n-th of them.
struct Taken<'t> {
    table: &'t TableDef,
    columns: &'t [usize],
    every: u64,
    values: Vec<Vec<Value>>,
    /// See [`Sample`].
    leaf_ends: Vec<usize>,
    read: u64,
}

impl<'t> Taken<'t> {
    fn none(table: &'t TableDef, columns: &'t [usize]) -> Taken<'t> {
        let values = vec![Vec::new(); columns.len()];
        Taken { table, columns, every: 1, values, leaf_ends: Vec::new(), read: 0 }
    }

    fn kept(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    fn take(&mut self, row: &[u8]) {
        self.read += 1;
        if !self.read.is_multiple_of(self.every) {
            return;
        }
        for (list, column) in self.values.iter_mut().zip(self.columns) {
            list.push(stored(self.table, row, *column));
        }
        if self.kept() >= SAMPLE_ROWS_MAX {
            self.every *= 2;
            halve(&mut self.values, &mut self.leaf_ends);
        }
    }
}

/// Keeps every second row: those at 1, 3, 5 ...
fn halve(values: &mut [Vec<Value>], leaf_ends: &mut [usize]) {
    leaf_ends.iter_mut().for_each(|end| *end /= 2);
    for list in values {
        let mut is_odd = true;
        list.retain(|_| {
            is_odd = !is_odd;
            is_odd
        });
    }
}

/// A column of a stored row as it reads now.
fn stored(table: &TableDef, row: &[u8], ordinal: usize) -> Value {
    // A value that lies in a tree of its own is as good as its absence.
    if table.layout.external(row, ordinal).is_some() {
        return Value::Null;
    }
    match table.layout.decode_column(row, ordinal) {
        Some(value) => value,
        None => table.columns[ordinal].absent.clone(),
    }
}

/// Numbers from 0 to n - 1, the same for the same seed.
fn generator(seed: i32) -> impl FnMut(u64) -> u64 {
    let mut state = u64::from(seed.cast_unsigned()) ^ 0x5bd1_e995;
    move |n| {
        state = stdx::mix64(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
        state % n.max(1)
    }
}

/// Different rows among a sample's, and estimated among all, each of the sample standing for `scale`: the estimator Duj1
/// of Haas, Naughton, Seshadri and Stokes (1995), d / (1 - (1 - q) f1 / n). Where whole leaves were taken (`leaf_ends`),
/// what a leaf has several times counts once: rows that lie together are often alike, and such values are no sign of
/// having seen all (Chaudhuri, Das and Srivastava 2004, "Effective use of block-level sampling", section 5).
fn distinct(lists: &[&Vec<Value>], leaf_ends: &[usize], scale: f64) -> (f64, f64) {
    let rows = lists.first().map_or(0, |list| list.len());
    if rows == 0 {
        return (0.0, 0.0);
    }
    let mut places: Vec<usize> = (0..rows).collect();
    let by = |a: &usize, b: &usize| {
        let each = lists.iter().map(|list| order(&list[*a], &list[*b]));
        each.fold(std::cmp::Ordering::Equal, |so_far, next| so_far.then(next))
    };
    // Equal ones stay in the order of their leaves.
    places.sort_by(by);
    let leaf_of = |place: usize| match leaf_ends {
        [] => place,
        _ => leaf_ends.partition_point(|end| *end <= place),
    };
    let (mut distinct, mut once, mut seen) = (0.0, 0.0, 0.0);
    for group in places.chunk_by(|a, b| by(a, b).is_eq()) {
        let leaves = group.chunk_by(|a, b| leaf_of(*a) == leaf_of(*b)).count() as f64;
        distinct += 1.0;
        seen += leaves;
        if leaves == 1.0 {
            once += 1.0;
        }
    }
    let share = (1.0 / scale).min(1.0);
    let estimated = distinct / (1.0 - (1.0 - share) * once / seen).max(share);
    (distinct, estimated.min(rows as f64 * scale))
}

fn cut(value: &mut Value) {
    match value {
        Value::Str(text) if text.as_str().chars().count() > VALUE_LEN_MAX => {
            let short: String = text.as_str().chars().take(VALUE_LEN_MAX).collect();
            *value = Value::str(&short);
        }
        Value::Binary(bytes) if bytes.len() > VALUE_LEN_MAX => {
            *value = Value::binary(&bytes[..VALUE_LEN_MAX]);
        }
        _ => {}
    }
}

fn bytes_of(value: &Value, ty: SqlType) -> f64 {
    match (value, types::row::fixed_bytes(ty)) {
        (_, Some(bytes)) => bytes as f64,
        (Value::Str(text), None) if ty.is_unicode() => 2.0 * text.as_str().chars().count() as f64,
        (Value::Str(text), None) => text.as_str().len() as f64,
        (Value::Binary(bytes), None) => bytes.len() as f64,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Estimated of a tenth of the leaves of 100,000 rows, 100 a leaf.
    fn estimated(of: impl Fn(i32) -> i32) -> f64 {
        let leaves = (0..1_000).filter(|leaf| stdx::mix64(*leaf).is_multiple_of(10));
        let (mut values, mut ends) = (Vec::new(), Vec::new());
        for leaf in leaves {
            values.extend((0..100).map(|row| Value::Int(of(leaf as i32 * 100 + row))));
            ends.push(values.len());
        }
        let scale = 100_000.0 / values.len() as f64;
        distinct(&[&values], &ends, scale).1
    }

    #[test]
    fn every_second_row_is_kept_with_its_leaf() {
        let column = |of: fn(i32) -> i32| (0..7).map(|n| Value::Int(of(n))).collect::<Vec<_>>();
        let (mut values, mut ends) = (vec![column(|n| n), column(|n| -n)], vec![3, 3, 4, 7]);
        halve(&mut values, &mut ends);
        assert_eq!(values[0], [1, 3, 5].map(Value::Int));
        assert_eq!(values[1], [-1, -3, -5].map(Value::Int));
        assert_eq!(ends, [1, 1, 2, 3]);
    }

    #[test]
    fn values_that_lie_together_are_not_all_values() {
        let within = |expected: f64, got: f64| {
            assert!((0.7..1.4).contains(&(got / expected)), "{got}, not {expected}");
        };
        within(100_000.0, estimated(|row| row));
        // Five rows side by side; they have been seen all five times, and nine tenths of them not at all.
        within(20_000.0, estimated(|row| row / 5));
        // A value fills two leaves.
        within(500.0, estimated(|row| row / 200));
        within(50.0, estimated(|row| row / 2_000));
        // Everywhere.
        within(7.0, estimated(|row| row % 7));
        within(3_000.0, estimated(|row| (stdx::mix64(row as u64) % 3_000) as i32));
    }
}
