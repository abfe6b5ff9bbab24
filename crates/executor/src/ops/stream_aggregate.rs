//! GROUP BY over rows whose groups arrive together, and aggregates of all rows: one group is held at a time; of rows that
//! come by column also those that a batch has finished.

use super::Operator;
use super::accumulate::Accumulator;
use super::by_column::ByColumn;
use super::grouping::{Arguments, Grouping};
use super::join_filter::JoinFilter;
use super::shared::SharedJoin;
use super::simple::Source;
use crate::batch::Batch;
use crate::columns::Columns;
use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use ir::Expr;
use planner::Agg;
use types::Value;

/// See the file's first lines.
pub(super) struct StreamAggregate<'p> {
    input: Source<'p>,
    grouping: Grouping<'p>,
    scalar: bool,
    batch: Batch,
    arguments: Arguments,
    at: usize,
    /// The open group.
    key: Vec<u8>,
    keys: Vec<Value>,
    states: Vec<Accumulator>,
    /// Memory counted for them.
    held: usize,
    open: bool,
    done: bool,
    by_column: Mode,
}

/// How rows are taken.
enum Mode {
    Unknown,
    ByRow,
    ByColumn(Box<Arriving>),
}

/// Groups of which rows arrive by column. The keys and states of those that are not told yet, and of the open one behind
/// them, lie one behind the other in the aggregate's own.
struct Arriving {
    by_column: ByColumn,
    columns: Columns,
    /// The group of each row of the batch.
    groups: Vec<u32>,
    count: usize,
    told: usize,
}

impl<'p> StreamAggregate<'p> {
    pub fn new(
        input: Source<'p>,
        group: &'p [Expr],
        aggs: &'p [Agg],
        weight: Option<u32>,
        scalar: bool,
    ) -> Self {
        StreamAggregate {
            input,
            grouping: Grouping { weight, ..Grouping::new(group, aggs) },
            scalar,
            batch: Batch::new(),
            arguments: Arguments::new(aggs),
            at: 0,
            key: Vec::new(),
            keys: Vec::new(),
            states: Vec::new(),
            held: 0,
            open: false,
            done: false,
            by_column: Mode::Unknown,
        }
    }

    /// Finds out how rows are taken.
    fn begin(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.by_column = Mode::ByRow;
        if let Some(by_column) = ByColumn::over(&self.grouping, &mut self.input, cx)? {
            let mut arriving = Arriving {
                by_column,
                columns: Columns::default(),
                groups: Vec::new(),
                count: 0,
                told: 0,
            };
            if self.scalar {
                self.states.extend(self.grouping.fresh());
                arriving.count = 1;
            }
            self.by_column = Mode::ByColumn(Box::new(arriving));
        }
        Ok(())
    }

    fn next_by_column(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        let Mode::ByColumn(arriving) = &mut self.by_column else { return Ok(false) };
        let Arriving { by_column, columns, groups, count, told } = &mut **arriving;
        let (width, aggs) = (self.grouping.group.len(), self.grouping.aggs.len());
        loop {
            let whole = if self.done { *count } else { count.saturating_sub(1) };
            while *told < whole && !out.is_full() {
                let keys = &self.keys[*told * width..][..width];
                let states = &self.states[*told * aggs..][..aggs];
                self.grouping.emit(keys, states, out)?;
                *told += 1;
            }
            if self.done || out.is_full() {
                return Ok(!out.is_empty());
            }
            self.keys.drain(..*told * width);
            self.states.drain(..*told * aggs);
            *count -= std::mem::take(told);
            cx.breathe()?;
            if !self.input.next_columns(cx, columns)? {
                self.done = true;
                continue;
            }
            by_column.load(&self.grouping.encoder, columns);
            groups.clear();
            for row in 0..columns.len() {
                let key = by_column.key(row);
                if !self.scalar && (*count == 0 || key != self.key) {
                    self.key.clear();
                    self.key.extend_from_slice(key);
                    by_column.push_group(columns, row, &mut self.keys);
                    self.states.extend(self.grouping.fresh());
                    *count += 1;
                }
                groups.push(*count as u32 - 1);
            }
            by_column.add(&self.grouping, columns, groups, &mut self.states, cx)?;
        }
    }

    fn open_group(&mut self, key: Vec<u8>, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.key = key;
        self.keys.clear();
        for expr in self.grouping.group {
            self.keys.push(eval(expr, self.batch.row(self.at), cx)?);
        }
        self.states.clear();
        cx.release(std::mem::take(&mut self.held));
        self.states.extend(self.grouping.fresh());
        self.open = true;
        Ok(())
    }
}

impl StreamAggregate<'_> {
    fn next_groups(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(self.grouping.width());
        if let Mode::Unknown = self.by_column {
            self.begin(cx)?;
        }
        if let Mode::ByColumn(_) = self.by_column {
            return self.next_by_column(cx, out);
        }
        if self.scalar && !self.open && !self.done {
            self.states.clear();
            self.states.extend(self.grouping.fresh());
            self.open = true;
        }
        let mut key = Vec::new();
        while !self.done && !out.is_full() {
            if self.at >= self.batch.len() {
                cx.breathe()?;
                if !self.input.next(cx, &mut self.batch)? {
                    if self.open {
                        self.grouping.emit(&self.keys, &self.states, out)?;
                    }
                    self.done = true;
                    break;
                }
                self.arguments.load(&self.batch);
                self.at = 0;
            }
            if !self.scalar {
                self.grouping.key(self.batch.row(self.at), &mut key, cx)?;
                if !self.open {
                    self.open_group(std::mem::take(&mut key), cx)?;
                } else if key != self.key {
                    self.grouping.emit(&self.keys, &self.states, out)?;
                    self.open_group(std::mem::take(&mut key), cx)?;
                }
            }
            let (row, at) = (self.batch.row(self.at), Some((&self.arguments, self.at)));
            self.held += self.grouping.add_at(&mut self.states, row, at, cx)?;
            self.at += 1;
        }
        Ok(!out.is_empty())
    }
}

impl Operator for StreamAggregate<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        let more = self.next_groups(cx, out)?;
        self.grouping.warn(cx);
        Ok(more)
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.batch.start(0);
        self.at = 0;
        self.open = false;
        self.done = false;
        self.by_column = Mode::Unknown;
        self.keys.clear();
        self.states.clear();
        cx.release(std::mem::take(&mut self.held));
        self.input.rewind(cx)
    }

    fn share(&mut self, cx: &mut Cx<'_>, shared: &mut Vec<SharedJoin>) -> Result<bool, SqlError> {
        self.input.share(cx, shared)
    }

    fn take_over(&mut self, shared: &mut dyn Iterator<Item = &SharedJoin>) {
        self.input.take_over(shared);
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        self.grouping.narrow(&mut self.input, filter);
    }
}
