//! ORDER BY, whole or with only the first rows kept.
//!
//! Promise: stable; keys are compared as bytes under the collation. When memory is used up the rows so far are sorted
//! and written as a run; runs are merged as rows are asked for, [`FAN_IN`] at a time.
//!
//! Invariant: a row of an earlier run comes before its equals of a later one, so a merge takes runs in their order.

use super::Operator;
use super::hash::KeyEncoder;
use super::simple::{Source, row_count};
use crate::arena::{Address, Arena};
use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::{eval, operand};
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::{Entry, Reader, SpillFile, Stream};
use ir::SortKey;
use planner::Few;
use runtime::task;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Runs that are merged at a time: each has a buffer.
const FAN_IN: usize = 64;
/// TOP keeps so many rows in memory; more are sorted like any others.
const TOP_ROWS_MAX: usize = 100_000;

pub(super) struct Sort<'p> {
    input: Source<'p>,
    keys: &'p [SortKey],
    /// Only so many rows are wanted.
    few: Option<&'p Few>,
    width: usize,
    encoder: KeyEncoder,
    rows: Rows,
    runs: Option<Runs>,
    /// The last key kept by the last cut.
    worst: Option<Box<[u8]>>,
    built: bool,
    at: usize,
    /// Rows that are still wanted.
    left: usize,
}

/// How many rows there are to keep.
fn rows_of(few: &Few, cx: &mut Cx<'_>) -> Result<usize, SqlError> {
    let mut rows = row_count(&eval(&few.count, &[], cx)?)?;
    if let Some(passed) = &few.passed {
        // Less than none is an error of who passes them over.
        rows = rows.saturating_add(row_count(&eval(passed, &[], cx)?).unwrap_or(0));
    }
    Ok(usize::try_from(rows).unwrap_or(usize::MAX))
}

/// Rows in memory, with the order that they have.
#[derive(Default)]
struct Rows {
    arena: Arena,
    order: Vec<Sorted>,
    /// Memory counted for them.
    held: usize,
}

#[derive(Clone, Copy)]
struct Sorted {
    /// The first bytes of the key; most comparisons end here.
    prefix: u64,
    key: Address,
    row: Address,
}

/// Rows in files.
struct Runs {
    file: Arc<SpillFile>,
    runs: Vec<Stream>,
    merge: Option<Merge>,
}

impl Rows {
    fn push(&mut self, key: &[u8], row: &[u8]) {
        let mut prefix = [0; 8];
        let n = key.len().min(8);
        prefix[..n].copy_from_slice(&key[..n]);
        let (key, row) = (self.arena.push(key), self.arena.push(row));
        self.order.push(Sorted { prefix: u64::from_be_bytes(prefix), key, row });
    }

    fn sort(&mut self) -> Result<(), SqlError> {
        let arena = &self.arena;
        // Stable, as rows come in their order.
        Ok(task::sort_by(&mut self.order, |a, b| {
            a.prefix.cmp(&b.prefix).then_with(|| arena.get(a.key).cmp(arena.get(b.key)))
        })?)
    }

    fn clear(&mut self, cx: &mut Cx<'_>) {
        cx.release(self.held);
        *self = Rows::default();
    }
}

impl<'p> Sort<'p> {
    pub fn new(input: Source<'p>, keys: &'p [SortKey], few: Option<&'p Few>, width: usize) -> Self {
        Sort {
            input,
            keys,
            few,
            width,
            encoder: KeyEncoder::ordered(keys.iter().map(|k| (k.expr.ty, k.desc))),
            rows: Rows::default(),
            runs: None,
            worst: None,
            built: false,
            at: 0,
            left: 0,
        }
    }

    fn build(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let limit = match self.few {
            Some(few) => rows_of(few, cx)?,
            None => usize::MAX,
        };
        let few = limit <= TOP_ROWS_MAX;
        let mut batch = Batch::new();
        let (mut key, mut bytes) = (Vec::new(), Vec::new());
        while limit > 0 && self.input.next(cx, &mut batch)? {
            for row in batch.rows() {
                key.clear();
                for (i, sort) in self.keys.iter().enumerate() {
                    let value = operand(&sort.expr, row, cx)?;
                    self.encoder.push(i, &value, &mut key);
                }
                // Behind the worst of the rows kept at the last cut: never wanted.
                if self.worst.as_ref().is_some_and(|worst| key[..] >= worst[..]) {
                    continue;
                }
                bytes.clear();
                rowcode::encode(row, &mut bytes);
                let held = key.len() + bytes.len() + 2 * size_of::<Sorted>();
                if !cx.try_hold(held)? {
                    if few && self.rows.order.len() > limit {
                        self.cut(limit, cx)?;
                    } else if !self.rows.order.is_empty() {
                        self.spill(cx)?;
                    }
                    cx.force_hold(held)?;
                }
                self.rows.held += held;
                self.rows.push(&key, &bytes);
            }
            if few && self.rows.order.len() > 2 * limit + 1024 {
                self.cut(limit, cx)?;
            }
            cx.breathe()?;
        }
        self.left = limit;
        if self.runs.is_some() {
            self.spill(cx)?;
            return self.merge_runs(cx);
        }
        self.rows.sort()
    }

    /// Keeps the first `limit` rows.
    fn cut(&mut self, limit: usize, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.rows.sort()?;
        let old = std::mem::take(&mut self.rows);
        cx.release(old.held);
        for kept in old.order.iter().take(limit) {
            let (key, row) = (old.arena.get(kept.key), old.arena.get(kept.row));
            self.rows.held += key.len() + row.len() + 2 * size_of::<Sorted>();
            self.rows.push(key, row);
        }
        // What was let go a moment ago is there.
        let _ = cx.force_hold(self.rows.held);
        let last = self.rows.order.last();
        self.worst = last.map(|last| self.rows.arena.get(last.key).into());
        Ok(())
    }

    /// Writes the rows in memory as a run.
    #[cold]
    fn spill(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.rows.sort()?;
        let runs = match &mut self.runs {
            Some(runs) => runs,
            None => {
                cx.keep().spilled.sorts += 1;
                let file = cx.spill_file()?;
                self.runs.insert(Runs { file, runs: Vec::new(), merge: None })
            }
        };
        let mut run = Stream::new(&runs.file);
        let mut since_breath = 0u32;
        for sorted in &self.rows.order {
            run.push(self.rows.arena.get(sorted.key), self.rows.arena.get(sorted.row))?;
            since_breath += 1;
            if since_breath.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        run.finish()?;
        cx.keep().spilled.sort_pages += run.bytes().div_ceil(8192);
        if run.len() > 0 {
            runs.runs.push(run);
        }
        self.rows.clear(cx);
        Ok(())
    }

    /// Merges runs until few enough are left to be merged as rows are asked for.
    fn merge_runs(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        while runs.runs.len() > FAN_IN {
            // The earliest together: rows stay in the order of their runs.
            let mut merged = Vec::new();
            let mut unmerged = std::mem::take(&mut runs.runs).into_iter().peekable();
            while unmerged.peek().is_some() {
                let mut merge = Merge::new(unmerged.by_ref().take(FAN_IN).collect())?;
                let mut run = Stream::new(&runs.file);
                let mut since_breath = 0u32;
                while let Some((key, row)) = merge.next()? {
                    run.push(key, row)?;
                    since_breath += 1;
                    if since_breath.is_multiple_of(1024) {
                        cx.breathe()?;
                    }
                }
                run.finish()?;
                cx.keep().spilled.sort_pages += run.bytes().div_ceil(8192);
                merged.push(run);
            }
            runs.runs = merged;
        }
        runs.merge = Some(Merge::new(std::mem::take(&mut runs.runs))?);
        Ok(())
    }
}

/// Several runs as one.
struct Merge {
    runs: Vec<(Stream, Reader)>,
    heap: BinaryHeap<Head>,
    /// The row given last.
    given: Option<Head>,
}

/// The first row of a run that has not been given.
struct Head {
    key: Vec<u8>,
    row: Vec<u8>,
    run: usize,
}

impl Merge {
    fn new(runs: Vec<Stream>) -> Result<Merge, SqlError> {
        let read = |run: Stream| {
            let reader = run.read();
            (run, reader)
        };
        let runs: Vec<_> = runs.into_iter().map(read).collect();
        let mut merge = Merge { heap: BinaryHeap::with_capacity(runs.len()), runs, given: None };
        for run in 0..merge.runs.len() {
            merge.refill(Head { key: Vec::new(), row: Vec::new(), run })?;
        }
        Ok(merge)
    }

    /// The next row of a run, into a head that was used.
    fn refill(&mut self, mut head: Head) -> Result<(), SqlError> {
        let (run, reader) = &mut self.runs[head.run];
        if let Some((key, row)) = reader.next(run)? {
            head.key.clear();
            head.key.extend_from_slice(key);
            head.row.clear();
            head.row.extend_from_slice(row);
            self.heap.push(head);
        }
        Ok(())
    }

    /// The next row: key and values.
    fn next(&mut self) -> Result<Option<Entry<'_>>, SqlError> {
        if let Some(used) = self.given.take() {
            self.refill(used)?;
        }
        self.given = self.heap.pop();
        Ok(self.given.as_ref().map(|head| (&head.key[..], &head.row[..])))
    }
}

// The heap gives its greatest first.
impl Ord for Head {
    fn cmp(&self, other: &Head) -> Ordering {
        other.key.cmp(&self.key).then(other.run.cmp(&self.run))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}

impl Operator for Sort<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if !self.built {
            self.build(cx)?;
            self.built = true;
            self.at = 0;
        }
        out.start(self.width);
        while self.left > 0 && !out.is_full() {
            match &mut self.runs {
                Some(Runs { merge: Some(merge), .. }) => {
                    let Some((_, row)) = merge.next()? else { break };
                    rowcode::decode(row, self.width, out.values_mut());
                }
                _ => {
                    let Some(sorted) = self.rows.order.get(self.at) else { break };
                    rowcode::decode(self.rows.arena.get(sorted.row), self.width, out.values_mut());
                    self.at += 1;
                }
            }
            out.finish_row();
            self.left -= 1;
        }
        if out.is_empty() {
            self.rows.clear(cx);
            self.runs = None;
            self.left = 0;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.rows.clear(cx);
        self.runs = None;
        self.worst = None;
        self.built = false;
        self.at = 0;
        self.input.rewind(cx)
    }
}
