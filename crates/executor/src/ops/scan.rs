//! Reading a table: whole, by a range of its key, or one row.
//!
//! Promise: only the columns asked for are decoded. A row about to be changed is looked for in its newest committed
//! state (under SNAPSHOT, in that of the snapshot), then locked, read again and checked again before it is given.

mod bounds;
mod emit;
mod foresee;
mod lookup;
mod private;

use super::Operator;
use super::join_filter::{JoinFilter, Narrowing};
use super::raw_filter::RawFilter;
use super::raw_layout::RawLayout;
use super::reader::Reader;
use super::shared::SharedJoin;
use super::simple::put_off;
use super::stored::StoredRow;
use crate::batch::Batch;
use crate::columns::{COLUMN_ROWS, Columns, Kind};
use crate::cx::Cx;
use crate::error::engine_error;
use crate::eval::holds;
use crate::message::SqlError;
use catalog::TableDef;
use emit::{emit, emit_entry};
use engine::{Isolation, PageSample, ReadOptions, RowLock, ScanOptions, Spot, TableLock, Use};
use ir::{Expr, ExprKind, Sample, SampleSize, TableHints};
use lookup::{Ahead, Lookup};
use planner::Scan;
use private::Private;
use std::ops::Bound;
use std::rc::Rc;
use types::StoredCells;

pub(super) use bounds::range_of;
pub use bounds::{as_slice, past};

/// Reads one table.
pub(super) struct TableScan<'p> {
    plan: &'p Scan,
    /// `columns` in row order: the slots in which each lands are the columns' own positions.
    state: State,
    /// The table's rows.
    tree: Option<engine::Tree>,
    /// Rows are found through an index: not all that they need is in its entries.
    looks_up: bool,
    /// Reads are of one moment, so that an entry and its row agree.
    agree: bool,
    options: ReadOptions,
    /// Rows are locked by U, not X.
    update: bool,
    /// Key-range locks.
    gaps: bool,
    /// Where the columns are in a stored row, if all are.
    shown: Rc<[usize]>,
    /// The slots that somebody above reads; None: all.
    needed: Option<Vec<bool>>,
    /// The slots that are decoded: those needed, and those that the predicate reads as values.
    decoded: Rc<[bool]>,
    /// How they are, once rows are shown.
    readers: Rc<[Reader]>,
    /// The predicate over stored rows, once enough rows have been read to pay for it.
    filter: Option<Box<RawFilter<'p>>>,
    /// What joins above have no use for is left out.
    narrowings: Vec<Narrowing>,
    /// Of a sample without REPEATABLE: every reading of the statement takes the same pages.
    seed: Option<u64>,
    /// Buffers.
    key: Vec<u8>,
    row: Vec<u8>,
    /// The predicate may have another value for the same row in the next reading.
    varies: bool,
    /// This is not the first reading.
    again: bool,
    /// A reading that is over, for the next one.
    spare: Option<Box<engine::Scan>>,
    /// An error that the rows before it go ahead of.
    late: Option<SqlError>,
    /// Of rows that are looked up.
    ahead: Ahead,
}

/// Rows looked at before somebody else may have the processor, where few are given.
const ROWS_AT_ONCE: u32 = 4096;
/// Whoever asks for so many rows gets those of whole leaves.
const ROWS_BY_LEAF: usize = 256;
/// Leaves looked at before somebody else may, and what there is is given.
const VISITS_AT_ONCE: usize = 64;
/// Rows read before the predicate is made into one over stored rows.
const ROWS_UNFILTERED: usize = 32;

enum State {
    Start,
    Point,
    Range(Box<engine::Scan>),
    Private(Private),
    End,
}

impl<'p> TableScan<'p> {
    /// `needed`: the slots that somebody above reads; None: all.
    pub fn new(plan: &'p Scan, needed: Option<&[bool]>) -> Self {
        let options = read_options(plan);
        let needed = needed.map(<[bool]>::to_vec);
        let decoded = decoded(plan, needed.as_deref(), plan.predicate.as_ref());
        let shown = match plan.index {
            None => plan.columns.as_slice().into(),
            Some(at) => {
                let index = &plan.table.indexes[at];
                plan.columns.iter().filter_map(|column| index.position(*column)).collect()
            }
        };
        TableScan {
            shown,
            plan,
            state: State::Start,
            tree: None,
            looks_up: plan.index.is_some() && (!plan.covering || plan.for_update),
            agree: false,
            update: options.lock == RowLock::Update,
            options,
            gaps: false,
            needed,
            decoded,
            readers: Rc::default(),
            filter: None,
            narrowings: Vec::new(),
            seed: None,
            key: Vec::new(),
            row: Vec::new(),
            varies: plan.predicate.as_ref().is_some_and(varies),
            again: false,
            spare: None,
            late: None,
            ahead: Ahead::default(),
        }
    }

    fn width(&self) -> usize {
        self.plan.columns.len() + self.plan.locator as usize
    }

    fn locks_rows(&self) -> bool {
        self.plan.for_update
    }

    fn start(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.ahead.start();
        let plan = self.plan;
        let hints = &plan.hints;
        let bounds = match cx.parts() {
            Some(parts) => parts.take(),
            None => range_of(plan, cx)?,
        };
        let Some((lower, upper)) = bounds else {
            self.state = State::End;
            return Ok(());
        };
        if plan.table.is_private() {
            let sample = plan.sample.as_ref().map(|sample| self.page_sample(sample, cx));
            self.state = State::Private(Private { lower, upper, sample, met: 0 });
            return Ok(());
        }
        let Some(txn) = cx.txn.as_deref_mut() else {
            stdx::fatal!("a table is read without a transaction");
        };
        let tree = match &self.tree {
            Some(tree) => tree.clone(),
            None => {
                let tree = engine_tree(txn.database(), &plan.table);
                let used = if plan.range.is_some() { Use::Seek } else { Use::Scan };
                match plan.index {
                    None => tree.note_use(used),
                    Some(at) => {
                        txn.database().tree(plan.table.indexes[at].tree).note_use(used);
                        if self.looks_up {
                            tree.note_use(Use::Lookup);
                        }
                    }
                }
                self.tree.insert(tree).clone()
            }
        };
        if plan.table.lob.is_some() {
            txn.keep_large_values();
        }
        if plan.table.is_memory() {
            let level = txn.options().isolation;
            crate::isolation::check(hints, level, cx.env.memory_access())?;
        }
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(()) };
        let level = self.options.isolation.unwrap_or(txn.options().isolation);
        self.gaps = level == Isolation::Serializable;
        if let Some(lock) = table_lock(hints) {
            // A reader's lock is as lasting as its level says; a writer's lasts.
            let lasts = matches!(level, Isolation::RepeatableRead | Isolation::Serializable);
            let brief = lock == TableLock::Shared && !lasts;
            txn.lock_table_for(&tree, lock, brief, hints.nowait)
                .map_err(|e| engine_error(e, Some(&plan.table), cx))?;
        }
        if let Some(at) = plan.index {
            let index = &plan.table.indexes[at];
            let Some(txn) = cx.txn.as_deref_mut() else { return Ok(()) };
            let db = txn.database().clone();
            self.agree = !plan.for_update && txn.reads_versions(self.options);
            let one_value = plan.is_one_value();
            let options = ScanOptions { read: self.options, reverse: plan.reverse, one_value };
            // The table's lock goes before those of its entries, and says that it is still as the plan knows it.
            let spare = self.spare.take();
            let scan = txn.enter_for_read(&tree, self.options).and_then(|()| {
                let bounds = (as_slice(&lower), as_slice(&upper));
                begin(spare, txn, || db.tree(index.tree), bounds, options)
            });
            let scan = scan.map_err(|e| engine_error(e, Some(&plan.table), cx))?;
            self.state = State::Range(scan);
            return Ok(());
        }
        let point = plan.range.as_ref().is_some_and(|r| {
            let parts = plan.table.key_layout.parts().len();
            parts > 0 && r.is_point(parts) && !plan.table.has_uniquifier()
        });
        if point {
            // For a point the lower bound is the key itself.
            self.key.clear();
            if let Bound::Included(key) = &lower {
                self.key.extend_from_slice(key);
            }
            self.state = State::Point;
            return Ok(());
        }
        let one_value = plan.is_one_value();
        let options = ScanOptions { read: self.options, reverse: plan.reverse, one_value };
        let sample = plan.sample.as_ref().map(|sample| self.page_sample(sample, cx));
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(()) };
        let bounds = (as_slice(&lower), as_slice(&upper));
        let mut scan = begin(self.spare.take(), txn, || tree.clone(), bounds, options)
            .map_err(|e| engine_error(e, Some(&plan.table), cx))?;
        if let Some(sample) = sample {
            scan.sample(sample);
        }
        self.state = State::Range(scan);
        Ok(())
    }

    /// The pages that TABLESAMPLE takes.
    #[cold]
    fn page_sample(&mut self, sample: &Sample, cx: &mut Cx<'_>) -> PageSample {
        let seed = match sample.seed {
            Some(seed) => seed as u64,
            None => *self.seed.get_or_insert_with(runtime::random::next_u64),
        };
        let share = match sample.size {
            SampleSize::Percent(percent) => percent / 100.0,
            SampleSize::Rows(wanted) => match rows_of(&self.plan.table, self.tree.as_ref(), cx) {
                Some(rows) if rows > 0.0 => (wanted as f64 / rows).min(1.0),
                _ => 1.0,
            },
        };
        PageSample::new(seed, (share * PageSample::ALL as f64) as u64)
    }

    /// Reads the row of a key into `row`; one about to be changed is locked.
    fn point(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<(), SqlError> {
        let plan = self.plan;
        let table = &*plan.table;
        let locks_rows = self.locks_rows();
        let (Some(txn), Some(tree)) = (cx.txn.as_deref_mut(), &self.tree) else { return Ok(()) };
        // Without further conditions, and with no gap to keep shut, the row is locked at once.
        let at_once = locks_rows && plan.predicate.is_none() && !self.gaps;
        let found = if at_once {
            txn.lock_latest(tree, &self.key, self.update, self.options, &mut self.row)
        } else {
            txn.get_with(tree, &self.key, self.options, &mut self.row)
        };
        if !found.map_err(|e| engine_error(e, Some(table), cx))?
            || !emit(plan, &self.key, &self.row, cx, out)?
            || !locks_rows
            || at_once
        {
            return Ok(());
        }
        out.pop();
        let (Some(txn), Some(tree)) = (cx.txn.as_deref_mut(), &self.tree) else { return Ok(()) };
        let again = ReadOptions { again: true, ..self.options };
        let there = txn
            .lock_latest(tree, &self.key, self.update, again, &mut self.row)
            .map_err(|e| engine_error(e, Some(table), cx))?;
        if there {
            emit(plan, &self.key, &self.row, cx, out)?;
        }
        Ok(())
    }
}

/// Slots whose values must be there when these predicates are evaluated and somebody reads the `needed` ones.
fn decoded<'e>(
    plan: &Scan,
    needed: Option<&[bool]>,
    predicates: impl IntoIterator<Item = &'e Expr>,
) -> Rc<[bool]> {
    let width = plan.columns.len();
    let mut all = match needed {
        Some(needed) => needed[..width].to_vec(),
        None => vec![true; width],
    };
    predicates.into_iter().for_each(|e| super::slots::mark(e, &mut all));
    all.into()
}

impl<'p> TableScan<'p> {
    /// Rows are shown where they lie: neither locked, nor looked up, nor with columns outside of them.
    fn shows_rows(&self) -> bool {
        match &self.state {
            State::Range(scan) => {
                !self.looks_up
                    && !self.plan.for_update
                    && !self.plan.locator
                    && self.plan.table.lob.is_none()
                    && scan.can_visit()
            }
            _ => false,
        }
    }

    /// Whether [`TableScan::visit`] may be called; starts the reading.
    pub fn is_raw(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if self.looks_up {
            return Ok(false);
        }
        if self.plan.predicate.is_some() {
            self.make_filter(cx);
            if self.filter.as_ref().is_none_or(|filter| !filter.rest().is_empty()) {
                return Ok(false);
            }
        }
        if let State::Start = self.state {
            cx.breathe()?;
            self.start(cx)?;
        }
        Ok(self.shows_rows() || matches!(self.state, State::End))
    }

    /// How the rows are stored that [`TableScan::visit`] shows.
    pub fn raw_layout(&self) -> RawLayout<'p> {
        match self.plan.index {
            None => RawLayout::of_table(&self.plan.table),
            Some(at) => RawLayout::of_rows(&self.plan.table.indexes[at].layout),
        }
    }

    /// Where the columns of these slots are in a stored row.
    pub fn raw_columns(&self, slots: &[u32]) -> Vec<usize> {
        let place = |slot: &u32| {
            let column = self.plan.columns[*slot as usize];
            match self.plan.index {
                None => column,
                Some(at) => match self.plan.table.indexes[at].position(column) {
                    Some(place) => place,
                    None => stdx::fatal!("a covering index does not have column {column}"),
                },
            }
        };
        slots.iter().map(place).collect()
    }

    /// How the slots are decoded.
    fn readers(&mut self, layout: &RawLayout<'_>) -> Rc<[Reader]> {
        if self.readers.is_empty() {
            let slots = self.shown.iter().zip(self.decoded.iter());
            self.readers = slots.map(|(place, read)| Reader::new(layout, *place, *read)).collect();
        }
        self.readers.clone()
    }

    /// Makes the predicate one over stored rows, as far as it can be.
    fn make_filter(&mut self, cx: &mut Cx<'_>) {
        let Some(predicate) = &self.plan.predicate else { return };
        if self.filter.is_none() {
            let filter = RawFilter::new(predicate, self.raw_layout(), &self.shown, cx);
            self.decoded =
                decoded(self.plan, self.needed.as_deref(), filter.rest().iter().copied());
            self.filter = Some(Box::new(filter));
            self.readers = Rc::default();
        }
    }

    /// Shows stored rows that qualify, some at a time, to `each`: bytes, where the rows lie in them, and whether they have
    /// all columns. `Ok(false)` at the end.
    pub fn visit(
        &mut self,
        cx: &mut Cx<'_>,
        mut each: impl FnMut(&[u8], &[Spot], bool),
    ) -> Result<bool, SqlError> {
        let layout = self.raw_layout();
        let State::Range(scan) = &mut self.state else { return Ok(false) };
        let Some(txn) = cx.txn.as_deref_mut() else { return Ok(false) };
        let (mut filter, narrowings) = (self.filter.as_deref_mut(), &mut self.narrowings);
        let more = scan.visit_leaf(txn, |bytes, rows| {
            let whole = rows.iter().all(|row| layout.is_whole(&bytes[row.at as usize..]));
            if let Some(filter) = &mut filter {
                filter.retain(bytes, rows, whole);
            }
            narrowings.iter_mut().for_each(|n| n.retain(&layout, bytes, rows, whole));
            if !rows.is_empty() {
                each(bytes, rows, whole);
            }
        });
        let more = more.map_err(|e| engine_error(e, Some(&self.plan.table), cx))?;
        Ok(more || self.next_part(cx)?)
    }

    /// Ends the reading. What it has allocated serves the next one.
    fn finish(&mut self) {
        if let State::Range(scan) = std::mem::replace(&mut self.state, State::End)
            && self.plan.sample.is_none()
        {
            self.spare = Some(scan);
        }
    }

    /// Goes on with another part of the table, in a branch that shares one. False at the end.
    fn next_part(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.finish();
        if cx.parts().is_some() {
            self.start(cx)?;
        }
        Ok(!matches!(self.state, State::End))
    }

    /// The next rows of a reading that shows them: those that qualify as they are stored are decoded, a batch at a time,
    /// and then held against the rest of the predicate.
    fn next_shown(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        let layout = self.raw_layout();
        let mut readers = self.readers(&layout);
        let asked = self.filter.is_some() || self.plan.predicate.is_none();
        if asked && out.target() >= ROWS_BY_LEAF {
            return self.next_leaves(cx, out);
        }
        while let State::Range(scan) = &mut self.state {
            let Some(txn) = cx.txn.as_deref_mut() else { break };
            let (filter, narrowings) = (self.filter.as_deref(), &mut self.narrowings);
            // A short reading is over before a filter pays.
            let most = match filter.is_none() && self.plan.predicate.is_some() {
                true => out.target().min(ROWS_UNFILTERED),
                false => out.target(),
            };
            let mut left_out = 0;
            let more = scan.visit(txn, |_, row| {
                if !qualifies(&layout, filter, narrowings, row) {
                    left_out += 1;
                    return left_out < ROWS_AT_ONCE;
                }
                let whole = layout.is_whole(row);
                let value = |reader: &Reader| reader.value(&layout, row, whole);
                out.values_mut().extend(readers.iter().map(value));
                out.finish_row();
                out.len() < most
            });
            let more = more.map_err(|e| engine_error(e, Some(&self.plan.table), cx));
            if more.is_err() {
                // Nobody has asked the predicate yet.
                out.shorten(0);
            }
            if !more? {
                self.next_part(cx)?;
            }
            match &self.filter {
                Some(filter) => retain(filter, cx, out)?,
                None => {
                    if let Some(predicate) = &self.plan.predicate {
                        out.retain(|row| holds(predicate, row, cx))?;
                        // Who reads few rows, and other ones the next time, has no use for it.
                        if matches!(self.state, State::Range(_)) || self.again && !self.varies {
                            self.make_filter(cx);
                            readers = self.readers(&layout);
                        }
                    }
                }
            }
            cx.breathe()?;
            if !out.is_empty() {
                break;
            }
        }
        Ok(!out.is_empty())
    }
}

impl TableScan<'_> {
    /// The same, some leaves at a time, for those who want many rows: their batches may be longer than they ask.
    fn next_leaves(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        let layout = self.raw_layout();
        let readers = self.readers(&layout);
        while let State::Range(_) = &self.state {
            for _ in 0..VISITS_AT_ONCE {
                let more = self.visit(cx, |bytes, rows, whole| {
                    for row in rows {
                        let row = row.of(bytes);
                        let whole = whole || layout.is_whole(row);
                        let value = |reader: &Reader| reader.value(&layout, row, whole);
                        out.values_mut().extend(readers.iter().map(value));
                        out.finish_row();
                    }
                });
                if more.is_err() {
                    // Nobody has asked the rest of the predicate yet.
                    out.shorten(0);
                }
                if !more? || out.is_full() {
                    break;
                }
            }
            if let Some(filter) = &self.filter {
                retain(filter, cx, out)?;
            }
            cx.breathe()?;
            if !out.is_empty() {
                break;
            }
        }
        Ok(!out.is_empty())
    }
}

/// Leaves the rows for which the rest of the predicate holds.
fn retain(filter: &RawFilter<'_>, cx: &mut Cx<'_>, out: &mut Batch) -> Result<(), SqlError> {
    if filter.rest().is_empty() {
        return Ok(());
    }
    out.retain(|row| -> Result<bool, SqlError> {
        for predicate in filter.rest() {
            if !holds(predicate, row, cx)? {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// Begins a reading between two keys: in the memory of one that is over, where there is one that can begin anew.
fn begin(
    spare: Option<Box<engine::Scan>>,
    txn: &mut engine::Txn,
    tree: impl FnOnce() -> engine::Tree,
    (lower, upper): (Bound<&[u8]>, Bound<&[u8]>),
    options: ScanOptions,
) -> Result<Box<engine::Scan>, engine::EngineError> {
    if let Some(mut scan) = spare
        && txn.scan_again(&mut scan, lower, upper)?
    {
        return Ok(scan);
    }
    txn.scan(&tree(), lower, upper, options).map(Box::new)
}

/// Whether a predicate may have another value for the same row when the scan begins anew.
fn varies(predicate: &Expr) -> bool {
    predicate.any(&mut |e| match &e.kind {
        ExprKind::Param(_) | ExprKind::Var(_) | ExprKind::SubPlan { .. } | ExprKind::Sys(_) => true,
        ExprKind::Func { func, .. } => func.is_per_row() || !func.is_parallel_safe(),
        _ => false,
    })
}

/// The lock on the whole table that hints ask of a reader.
fn table_lock(hints: &TableHints) -> Option<TableLock> {
    match (hints.tablockx, hints.tablock) {
        (true, _) => Some(TableLock::Exclusive),
        (_, true) if hints.xlock => Some(TableLock::Exclusive),
        (_, true) if hints.updlock => Some(TableLock::Update),
        (_, true) => Some(TableLock::Shared),
        _ => None,
    }
}

/// What a scan asks of the engine.
pub(super) fn read_options(plan: &Scan) -> ReadOptions {
    let hints = &plan.hints;
    let isolation = match () {
        // One snapshot for the whole transaction, whatever the session's level.
        () if hints.snapshot && plan.table.is_memory() => Some(Isolation::ReadCommitted),
        () if hints.nolock => Some(Isolation::ReadUncommitted),
        () if hints.readcommitted || hints.readcommittedlock => Some(Isolation::ReadCommitted),
        () if hints.repeatableread => Some(Isolation::RepeatableRead),
        () if hints.holdlock => Some(Isolation::Serializable),
        () => None,
    };
    let lock = match () {
        () if (plan.locator && !hints.unlocked) || hints.xlock => RowLock::Exclusive,
        () if hints.updlock => RowLock::Update,
        () if hints.readcommittedlock => RowLock::Shared,
        () => RowLock::ByLevel,
    };
    ReadOptions { isolation, lock, read_past: hints.readpast, no_wait: hints.nowait, again: false }
}

impl TableScan<'_> {
    fn fetch(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(self.width());
        let plan = self.plan;
        let table = &*plan.table;
        if let State::Start = self.state {
            cx.breathe()?;
            self.start(cx)?;
        }
        let locks_rows = self.locks_rows();
        if self.shows_rows() {
            return self.next_shown(cx, out);
        }
        match &mut self.state {
            State::Start | State::End => return Ok(false),
            State::Point => {
                self.state = State::End;
                self.point(cx, out)?;
                return Ok(!out.is_empty());
            }
            State::Range(_) => {}
            State::Private(rest) => {
                let more = rest.read(plan, cx, out)?;
                if !more {
                    self.state = State::End;
                }
                cx.breathe()?;
                return Ok(!out.is_empty());
            }
        }
        let mut since_breath = 0u32;
        while !out.is_full() {
            let State::Range(scan) = &mut self.state else { break };
            if let (true, Some(at), Some(tree)) = (self.looks_up, plan.index, &self.tree) {
                let ahead = self.ahead.step(scan, tree, &table.indexes[at].layout);
                ahead.map_err(|e| engine_error(e, Some(table), cx))?;
            }
            let Some(txn) = cx.txn.as_deref_mut() else { break };
            let entry = match scan.next(txn) {
                Ok(Some(entry)) => entry,
                Ok(None) => {
                    self.next_part(cx)?;
                    continue;
                }
                Err(e) => return Err(engine_error(e, Some(table), cx)),
            };
            let (key, row) = entry;
            if self.looks_up {
                since_breath += 1;
                if since_breath.is_multiple_of(1024) {
                    cx.breathe()?;
                }
                let lookup =
                    Lookup { plan, options: self.options, update: self.update, agree: self.agree };
                let Some(tree) = &self.tree else { break };
                lookup.row(tree, key, row, &mut self.row, cx, out)?;
                continue;
            }
            let emitted = match plan.index {
                None => emit(plan, key, row, cx, out)?,
                Some(at) => emit_entry(plan, &table.indexes[at], row, cx, out)?,
            };
            if !emitted {
                since_breath += 1;
                if since_breath.is_multiple_of(1024) {
                    cx.breathe()?;
                }
                continue;
            }
            if locks_rows {
                // The row seen qualifies; now the newest one must, under its lock.
                out.pop();
                let (Some(txn), Some(tree)) = (cx.txn.as_deref_mut(), &self.tree) else { break };
                let again = ReadOptions { again: true, ..self.options };
                let there = txn
                    .lock_latest(tree, key, self.update, again, &mut self.row)
                    .map_err(|e| engine_error(e, Some(table), cx))?;
                if there {
                    emit(plan, key, &self.row, cx, out)?;
                }
            }
        }
        cx.breathe()?;
        Ok(!out.is_empty())
    }
}

impl Operator for TableScan<'_> {
    fn share(&mut self, _: &mut Cx<'_>, _: &mut Vec<SharedJoin>) -> Result<bool, SqlError> {
        Ok(true)
    }

    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if let Some(error) = self.late.take() {
            return Err(error);
        }
        match self.fetch(cx, out) {
            Err(error) => put_off(error, &mut self.late, out),
            more => more,
        }
    }

    fn has_stored(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        // A short reading is over before a filter of stored rows pays.
        let long = self.plan.predicate.is_none() || self.plan.rows_read >= ROWS_UNFILTERED as f64;
        Ok(long && self.narrowings.is_empty() && self.has_columns(cx)?)
    }

    fn next_stored(
        &mut self,
        cx: &mut Cx<'_>,
        each: &mut dyn FnMut(&dyn StoredCells),
    ) -> Result<bool, SqlError> {
        let layout = self.raw_layout();
        let readers = self.readers(&layout);
        let more = self.visit(cx, |bytes, rows, whole| {
            for row in rows {
                let row = row.of(bytes);
                let whole = whole || layout.is_whole(row);
                each(&StoredRow { layout, readers: &readers, row, whole });
            }
        })?;
        cx.breathe()?;
        Ok(more)
    }

    fn has_columns(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        Ok(self.width() == self.shown.len() && self.is_raw(cx)?)
    }

    fn next_columns(&mut self, cx: &mut Cx<'_>, out: &mut Columns) -> Result<bool, SqlError> {
        let layout = self.raw_layout();
        let readers = self.readers(&layout);
        out.start(readers.len(), |i| match readers[i].is_read() {
            true => Kind::Stored(layout.layout().columns()[readers[i].place()]),
            false => Kind::Unread,
        });
        loop {
            let mut more = true;
            for _ in 0..VISITS_AT_ONCE {
                more = self.visit(cx, |bytes, rows, whole| {
                    for (reader, column) in readers.iter().zip(out.add_rows(rows.len())) {
                        reader.put_all(&layout, (bytes, rows), whole, column);
                    }
                })?;
                if !more || out.len() >= COLUMN_ROWS {
                    break;
                }
            }
            cx.breathe()?;
            if out.len() > 0 || !more {
                return Ok(out.len() > 0);
            }
        }
    }

    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        self.finish();
        self.state = State::Start;
        self.late = None;
        self.again = true;
        if self.varies && self.filter.take().is_some() {
            self.decoded = decoded(self.plan, self.needed.as_deref(), self.plan.predicate.as_ref());
            self.readers = Rc::default();
        }
        Ok(())
    }

    fn foresee(&mut self, times: usize, set: &dyn Fn(usize, &mut Cx<'_>), cx: &mut Cx<'_>) -> bool {
        self.fetch_for(times, set, cx)
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        // Large values and locators are no columns of a stored row; such rows come one by one anyway.
        let plain = self.plan.table.lob.is_none() && !self.plan.locator && !self.looks_up;
        match filter {
            None => self.narrowings.clear(),
            Some(filter) if plain => {
                let columns = self.raw_columns(filter.slots());
                self.narrowings.push(Narrowing::new(filter, columns, &self.raw_layout()));
            }
            Some(_) => {}
        }
    }
}

/// Whether anybody wants a stored row.
#[inline]
fn qualifies(
    layout: &RawLayout<'_>,
    filter: Option<&RawFilter<'_>>,
    narrowings: &mut [Narrowing],
    row: &[u8],
) -> bool {
    filter.is_none_or(|filter| filter.passes(row))
        && narrowings.iter_mut().all(|narrowing| narrowing.passes(layout, row))
}

/// The engine's handle to a table's rows.
#[inline]
pub fn engine_tree(db: &std::sync::Arc<engine::Database>, table: &TableDef) -> engine::Tree {
    db.tree_of(table.tree, table.shape)
}

/// Rows of a table, about; `None` where nobody has looked yet.
fn rows_of(table: &TableDef, tree: Option<&engine::Tree>, cx: &mut Cx<'_>) -> Option<f64> {
    match tree {
        Some(tree) => {
            let known = table.statistics.rows(table.tree, tree.net_rows());
            known.or_else(|| table.statistics.rows_latest())
        }
        None => cx.env.private().get(table.place).map(|table| table.len() as f64),
    }
}
