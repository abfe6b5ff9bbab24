//! GROUP BY: by hashing, or in a stream whose groups arrive together. GROUPING SETS are next door.
//!
//! A row may stand for several equal ones: the slot `weight` then says for how many (see `fold.rs`).

use super::Operator;
use super::accumulate::{Accumulator, Spec};
use super::exact::Exact;
use super::hash::KeyEncoder;
use super::join_filter::JoinFilter;
use super::put_off::PutOff;
use super::simple::Source;
use crate::arena::{KeyIndex, hash_of};
use crate::batch::Batch;
use crate::cx::{Cx, row_bytes};
use crate::eval::{eval, operand};
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::Stream;
use binder::ir::{AggFunc, Expr, ExprKind};
use planner::Agg;
use types::Value;

/// What all forms share.
pub(super) struct Grouping<'p> {
    pub group: &'p [Expr],
    pub aggs: &'p [Agg],
    pub specs: Vec<Spec>,
    pub encoder: KeyEncoder,
    /// The slot that says how many rows a row stands for.
    weight: Option<u32>,
}

/// About what a state takes, in bytes.
pub(super) const STATE_BYTES: usize = size_of::<Accumulator>();

impl<'p> Grouping<'p> {
    pub fn new(group: &'p [Expr], aggs: &'p [Agg]) -> Self {
        let spec = |agg: &Agg| Spec {
            func: agg.func,
            distinct: agg.distinct,
            arg: agg.arg.as_ref().map(|e| e.ty),
            ty: agg.ty,
        };
        Grouping {
            group,
            aggs,
            specs: aggs.iter().map(spec).collect(),
            encoder: KeyEncoder::new(group.iter().map(|e| e.ty)),
            weight: None,
        }
    }

    fn width(&self) -> usize {
        self.group.len() + self.aggs.len()
    }

    /// The row's group as bytes, into `key`.
    fn key(&self, row: &[Value], key: &mut Vec<u8>, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        key.clear();
        for (i, expr) in self.group.iter().enumerate() {
            let value = operand(expr, row, cx)?;
            self.encoder.push(i, &value, key);
        }
        Ok(())
    }

    pub fn fresh(&self) -> impl Iterator<Item = Accumulator> {
        self.specs.iter().map(Accumulator::new)
    }

    /// Takes a row. The memory counted for what is kept of it.
    #[inline]
    pub fn add(
        &self,
        accumulators: &mut [Accumulator],
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<usize, SqlError> {
        self.add_at(accumulators, row, None, cx)
    }

    /// The same for a row of a batch whose arguments may have been computed.
    #[inline]
    fn add_at(
        &self,
        accumulators: &mut [Accumulator],
        row: &[Value],
        at: Option<(&Arguments, usize)>,
        cx: &mut Cx<'_>,
    ) -> Result<usize, SqlError> {
        let mut held = 0;
        let weight = match self.weight {
            Some(slot) => row[slot as usize].as_i64().unwrap_or(1),
            None => 1,
        };
        let all = accumulators.iter_mut().zip(self.aggs).zip(&self.specs);
        for (n, ((accumulator, agg), spec)) in all.enumerate() {
            if let Some(units) = at.and_then(|(arguments, row)| arguments.get(n, row)) {
                if let Some(units) = units {
                    accumulator.add_units(spec, units, weight)?;
                }
                continue;
            }
            match &agg.arg {
                Some(arg) if agg.joining.is_some() => {
                    for _ in 0..weight {
                        held += self.join(accumulator, agg, arg, row, cx)?;
                    }
                }
                Some(arg) => accumulator.add_times(spec, &*operand(arg, row, cx)?, weight)?,
                None => accumulator.add_rows(weight),
            }
        }
        Ok(held)
    }

    /// STRING_AGG takes a row. The memory counted for it.
    fn join(
        &self,
        accumulator: &mut Accumulator,
        agg: &Agg,
        arg: &Expr,
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<usize, SqlError> {
        let Some(joining) = &agg.joining else { return Ok(0) };
        let value = eval(arg, row, cx)?;
        if value.is_null() {
            return Ok(0);
        }
        let mut key = Vec::new();
        if !joining.order.is_empty() {
            let order = joining.order.iter().map(|k| (k.expr.ty, k.desc));
            let encoder = KeyEncoder::ordered(order);
            for (i, sort) in joining.order.iter().enumerate() {
                let value = operand(&sort.expr, row, cx)?;
                encoder.push(i, &value, &mut key);
            }
        }
        let bytes = row_bytes(std::slice::from_ref(&value)) + key.len() + 24;
        cx.hold(bytes)?;
        accumulator.join(&value, &key, || eval(&joining.separator, &[], cx))?;
        Ok(bytes)
    }

    /// Groups that nobody above has a use for need none of their rows.
    fn narrow(&self, input: &mut Source<'p>, filter: Option<&JoinFilter>) {
        let Some(filter) = filter else { return input.narrow(None) };
        let below = |slot: &u32| match self.group.get(*slot as usize)?.kind {
            ExprKind::Slot(slot) => Some(slot),
            _ => None,
        };
        if let Some(slots) = filter.slots().iter().map(below).collect() {
            input.narrow(Some(&filter.over(slots)));
        }
    }

    fn emit(
        &self,
        keys: &[Value],
        accumulators: &[Accumulator],
        out: &mut Batch,
    ) -> Result<(), SqlError> {
        out.values_mut().extend_from_slice(keys);
        for (accumulator, spec) in accumulators.iter().zip(&self.specs) {
            out.values_mut().push(accumulator.value(spec)?);
        }
        out.finish_row();
        Ok(())
    }
}

/// Arguments of sums, averages and counts, computed for a batch at a time where they can be.
#[derive(Default)]
struct Arguments {
    all: Vec<Option<Exact>>,
    ready: Vec<bool>,
}

impl Arguments {
    fn new(aggs: &[Agg]) -> Arguments {
        let exact = |agg: &Agg| {
            let plain = !agg.distinct && agg.joining.is_none();
            let sums = matches!(agg.func, AggFunc::Sum | AggFunc::Avg);
            agg.arg.as_ref().filter(|_| plain && sums).and_then(Exact::new)
        };
        let all: Vec<Option<Exact>> = aggs.iter().map(exact).collect();
        Arguments { ready: vec![false; all.len()], all }
    }

    fn load(&mut self, batch: &Batch) {
        for (exact, ready) in self.all.iter_mut().zip(&mut self.ready) {
            *ready = exact.as_mut().is_some_and(|exact| exact.load(batch));
        }
    }

    /// The value of an argument for a row of the batch, in units of its scale; inside None where it is NULL, None where
    /// it has not been computed.
    #[inline]
    fn get(&self, agg: usize, row: usize) -> Option<Option<i64>> {
        match (&self.all[agg], self.ready[agg]) {
            (Some(exact), true) => Some(exact.get(row)),
            _ => None,
        }
    }
}

/// Groups in a hash table; those in memory come out in the order in which they were first seen.
///
/// When memory is used up the table takes no new group: rows of its groups still count, all others are written to
/// partitions by hash, which are grouped one after the other in the same way. Each turn has [`GROUPS_MIN`] groups at
/// least, so it ends.
pub(super) struct HashAggregate<'p> {
    input: Source<'p>,
    grouping: Grouping<'p>,
    scalar: bool,
    table: GroupTable,
    built: bool,
    at: usize,
    /// Rows for later, with their depth; the last is the next.
    later: Vec<(Stream, u32)>,
}

/// Groups of a turn that spills, at least.
pub(super) const GROUPS_MIN: usize = 256;

/// Groups and their states.
#[derive(Default)]
struct GroupTable {
    index: KeyIndex,
    /// Values of the groups' keys and states, one after the other.
    keys: Vec<Value>,
    states: Vec<Accumulator>,
    groups: usize,
    /// Memory counted for it.
    held: usize,
}

impl GroupTable {
    fn clear(&mut self, cx: &mut Cx<'_>) {
        cx.release(self.held);
        *self = GroupTable::default();
    }
}

impl<'p> HashAggregate<'p> {
    pub fn new(
        input: Source<'p>,
        group: &'p [Expr],
        aggs: &'p [Agg],
        weight: Option<u32>,
        scalar: bool,
    ) -> Self {
        HashAggregate {
            input,
            grouping: Grouping { weight, ..Grouping::new(group, aggs) },
            scalar,
            table: GroupTable::default(),
            built: false,
            at: 0,
            later: Vec::new(),
        }
    }

    fn build(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if self.scalar {
            self.table.states.extend(self.grouping.fresh());
            self.table.groups = 1;
        }
        let mut turn = Turn::default();
        let mut batch = Batch::new();
        let mut arguments = Arguments::new(self.grouping.aggs);
        while self.input.next(cx, &mut batch)? {
            arguments.load(&batch);
            for (i, row) in batch.rows().enumerate() {
                let at = Some((&arguments, i));
                turn.take(&self.grouping, &mut self.table, self.scalar, row, at, cx)?;
            }
            cx.breathe()?;
        }
        turn.put_off.end(&mut self.later, cx)
    }

    /// Groups what the next stream holds.
    fn build_later(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.table.clear(cx);
        self.at = 0;
        let Some((stream, depth)) = self.later.pop() else { return Ok(false) };
        let mut turn = Turn { put_off: PutOff::again(depth), ..Turn::default() };
        let (mut reader, mut row) = (stream.read(), Vec::new());
        let mut since_breath = 0u32;
        while let Some((head, bytes)) = reader.next(&stream)? {
            let width = u32::from_le_bytes(head.try_into().unwrap_or_default()) as usize;
            row.clear();
            rowcode::decode(bytes, width, &mut row);
            turn.take(&self.grouping, &mut self.table, false, &row, None, cx)?;
            since_breath += 1;
            if since_breath.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        turn.put_off.end(&mut self.later, cx)?;
        Ok(true)
    }
}

/// One turn of grouping: the input, or a stream of rows that had no room before.
#[derive(Default)]
struct Turn {
    key: Vec<u8>,
    /// Rows of groups without room.
    put_off: PutOff,
}

impl Turn {
    fn take(
        &mut self,
        grouping: &Grouping<'_>,
        table: &mut GroupTable,
        scalar: bool,
        row: &[Value],
        at: Option<(&Arguments, usize)>,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let aggs = grouping.aggs.len();
        let group = if scalar {
            0
        } else {
            grouping.key(row, &mut self.key, cx)?;
            let hash = hash_of(&self.key);
            match table.index.find(&self.key, hash) {
                Some(group) => group as usize,
                None => {
                    let from = table.keys.len();
                    for expr in grouping.group {
                        let value = eval(expr, row, cx)?;
                        table.keys.push(value);
                    }
                    let values = row_bytes(&table.keys[from..]) + STATE_BYTES * aggs;
                    let bytes = values + KeyIndex::entry_bytes(self.key.len());
                    let must = table.groups < GROUPS_MIN;
                    if !cx.hold_entry(bytes, !self.put_off.is_empty(), must)? {
                        table.keys.truncate(from);
                        return self.put_off.push(hash, &(row.len() as u32).to_le_bytes(), row, cx);
                    }
                    table.held += bytes;
                    table.states.extend(grouping.fresh());
                    table.groups += 1;
                    table.index.add(&self.key, hash) as usize
                }
            }
        };
        let states = &mut table.states[group * aggs..(group + 1) * aggs];
        table.held += grouping.add_at(states, row, at, cx)?;
        Ok(())
    }
}

impl Operator for HashAggregate<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if !self.built {
            self.build(cx)?;
            self.built = true;
        }
        out.start(self.grouping.width());
        let (width, aggs) = (self.grouping.group.len(), self.grouping.aggs.len());
        while !out.is_full() {
            if self.at == self.table.groups && !self.build_later(cx)? {
                break;
            }
            let keys = &self.table.keys[self.at * width..(self.at + 1) * width];
            let states = &self.table.states[self.at * aggs..(self.at + 1) * aggs];
            self.grouping.emit(keys, states, out)?;
            self.at += 1;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.table.clear(cx);
        self.later.clear();
        self.built = false;
        self.at = 0;
        self.input.rewind(cx)
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        self.grouping.narrow(&mut self.input, filter);
    }
}

/// Groups that arrive together: one is held at a time.
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

impl Operator for StreamAggregate<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(self.grouping.width());
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

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.batch.start(0);
        self.at = 0;
        self.open = false;
        self.done = false;
        self.states.clear();
        cx.release(std::mem::take(&mut self.held));
        self.input.rewind(cx)
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        self.grouping.narrow(&mut self.input, filter);
    }
}
