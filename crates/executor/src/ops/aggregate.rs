//! GROUP BY: by hashing, or in a stream whose groups arrive together.
//!
//! A row may stand for several equal ones: the slot `weight` then says for how many (see `fold.rs`).

use super::Operator;
use super::accumulate::{Accumulator, Spec};
use super::hash::{KeyEncoder, KeyMap};
use super::simple::Source;
use crate::arena::{KeyIndex, hash_of};
use crate::batch::Batch;
use crate::cx::{Cx, row_bytes};
use crate::eval::{eval, operand};
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::Stream;
use binder::ir::Expr;
use planner::Agg;
use types::Value;

/// What both forms share.
struct Grouping<'p> {
    group: &'p [Expr],
    aggs: &'p [Agg],
    specs: Vec<Spec>,
    encoder: KeyEncoder,
    /// The slot that says how many rows a row stands for.
    weight: Option<u32>,
}

/// About what a state takes, in bytes.
const STATE_BYTES: usize = size_of::<Accumulator>();

impl<'p> Grouping<'p> {
    fn new(group: &'p [Expr], aggs: &'p [Agg]) -> Self {
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

    fn fresh(&self) -> impl Iterator<Item = Accumulator> {
        self.specs.iter().map(Accumulator::new)
    }

    fn add(
        &self,
        accumulators: &mut [Accumulator],
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let weight = match self.weight {
            Some(slot) => row[slot as usize].as_i64().unwrap_or(1),
            None => 1,
        };
        for ((accumulator, agg), spec) in accumulators.iter_mut().zip(self.aggs).zip(&self.specs) {
            match &agg.arg {
                Some(arg) if agg.joining.is_some() => {
                    for _ in 0..weight {
                        self.join(accumulator, agg, arg, row, cx)?;
                    }
                }
                Some(arg) => accumulator.add_times(spec, &*operand(arg, row, cx)?, weight)?,
                None => accumulator.add_rows(weight),
            }
        }
        Ok(())
    }

    /// STRING_AGG takes a row.
    fn join(
        &self,
        accumulator: &mut Accumulator,
        agg: &Agg,
        arg: &Expr,
        row: &[Value],
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let Some(joining) = &agg.joining else { return Ok(()) };
        let value = eval(arg, row, cx)?;
        if value.is_null() {
            return Ok(());
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
        cx.hold(row_bytes(std::slice::from_ref(&value)) + key.len() + 24)?;
        accumulator.join(&value, &key, || eval(&joining.separator, &[], cx))
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
const GROUPS_MIN: usize = 256;
/// Parts into which the rows of a turn are written.
const PARTITIONS: usize = 16;

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
        while self.input.next(cx, &mut batch)? {
            for row in batch.rows() {
                turn.take(&self.grouping, &mut self.table, self.scalar, row, cx)?;
            }
            cx.breathe()?;
        }
        turn.end(&mut self.later, cx)
    }

    /// Groups what the next stream holds.
    fn build_later(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.table.clear(cx);
        self.at = 0;
        let Some((stream, depth)) = self.later.pop() else { return Ok(false) };
        let mut turn = Turn { depth, ..Turn::default() };
        let (mut reader, mut row) = (stream.read(), Vec::new());
        let mut since_breath = 0u32;
        while let Some((head, bytes)) = reader.next(&stream)? {
            let width = u32::from_le_bytes(head.try_into().unwrap_or_default()) as usize;
            row.clear();
            rowcode::decode(bytes, width, &mut row);
            turn.take(&self.grouping, &mut self.table, false, &row, cx)?;
            since_breath += 1;
            if since_breath.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        turn.end(&mut self.later, cx)?;
        Ok(true)
    }
}

/// One turn of grouping: the input, or a stream of rows that had no room before.
#[derive(Default)]
struct Turn {
    key: Vec<u8>,
    bytes: Vec<u8>,
    /// How often its rows have been put off.
    depth: u32,
    /// Where rows of groups without room go.
    streams: Vec<Stream>,
}

impl Turn {
    fn take(
        &mut self,
        grouping: &Grouping<'_>,
        table: &mut GroupTable,
        scalar: bool,
        row: &[Value],
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
                    let room = self.streams.is_empty() && cx.try_hold(bytes)?;
                    if !room && !must {
                        table.keys.truncate(from);
                        return self.put_off(hash, row, cx);
                    }
                    if !room {
                        cx.force_hold(bytes)?;
                    }
                    table.held += bytes;
                    table.states.extend(grouping.fresh());
                    table.groups += 1;
                    table.index.add(&self.key, hash) as usize
                }
            }
        };
        grouping.add(&mut table.states[group * aggs..(group + 1) * aggs], row, cx)
    }

    #[cold]
    fn put_off(&mut self, hash: u64, row: &[Value], cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if self.streams.is_empty() {
            let file = cx.spill_file()?;
            self.streams.extend((0..PARTITIONS).map(|_| Stream::new(&file)));
        }
        // Each turn goes by other bits of the hash.
        let part = (hash.rotate_left(20 + 5 * self.depth) >> 40) as usize % PARTITIONS;
        self.bytes.clear();
        rowcode::encode(row, &mut self.bytes);
        self.streams[part].push(&(row.len() as u32).to_le_bytes(), &self.bytes)
    }

    fn end(self, later: &mut Vec<(Stream, u32)>, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if self.streams.is_empty() {
            return Ok(());
        }
        let mut bytes = 0;
        for mut stream in self.streams {
            stream.finish()?;
            bytes += stream.bytes();
            if stream.len() > 0 {
                later.push((stream, self.depth + 1));
            }
        }
        cx.keep().spilled.hashes += 1;
        cx.keep().spilled.hash_pages += bytes.div_ceil(8192);
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
}

/// GROUPING SETS, ROLLUP and CUBE: every row counts once in each set. Groups come out in the order of the expressions, a
/// total after what it totals.
pub(super) struct SetsAggregate<'p> {
    input: Source<'p>,
    grouping: Grouping<'p>,
    /// Bit i: the set groups by expression i.
    sets: &'p [u64],
    keys: Vec<Value>,
    states: Vec<Accumulator>,
    /// Of each group, its set.
    set_of: Vec<usize>,
    /// Groups in the order in which they are given.
    order: Option<Vec<u32>>,
    at: usize,
}

impl<'p> SetsAggregate<'p> {
    pub fn new(input: Source<'p>, group: &'p [Expr], aggs: &'p [Agg], sets: &'p [u64]) -> Self {
        SetsAggregate {
            input,
            grouping: Grouping::new(group, aggs),
            sets,
            keys: Vec::new(),
            states: Vec::new(),
            set_of: Vec::new(),
            order: None,
            at: 0,
        }
    }

    /// The group of a row in a set, as bytes that sort: values, a marker past all values where there is none, the set.
    fn key(&self, set: usize, values: &[Value], key: &mut Vec<u8>) {
        key.clear();
        for (i, value) in values.iter().enumerate() {
            if self.sets[set] >> i & 1 == 1 {
                key.push(0);
                self.grouping.encoder.push(i, value, key);
            } else {
                key.push(1);
            }
        }
        key.extend_from_slice(&(set as u32).to_be_bytes());
    }

    fn open(&mut self, set: usize, values: &[Value]) -> usize {
        for (i, value) in values.iter().enumerate() {
            let kept = self.sets[set] >> i & 1 == 1;
            self.keys.push(if kept { value.clone() } else { Value::Null });
        }
        self.states.extend(self.grouping.fresh());
        self.set_of.push(set);
        self.set_of.len() - 1
    }

    fn build(&mut self, cx: &mut Cx<'_>) -> Result<Vec<u32>, SqlError> {
        let mut index: KeyMap<u32> = KeyMap::default();
        let mut batch = Batch::new();
        let mut key = Vec::new();
        let width = self.grouping.group.len();
        let aggs = self.grouping.aggs.len();
        let mut values = vec![Value::Null; width];
        // The set of nothing is there without rows too.
        for set in (0..self.sets.len()).filter(|set| self.sets[*set] == 0) {
            self.key(set, &values, &mut key);
            let group = self.open(set, &values);
            index.insert(key.as_slice().into(), group as u32);
        }
        while self.input.next(cx, &mut batch)? {
            for row in batch.rows() {
                for (value, expr) in values.iter_mut().zip(self.grouping.group) {
                    *value = eval(expr, row, cx)?;
                }
                for set in 0..self.sets.len() {
                    self.key(set, &values, &mut key);
                    let group = match index.get(&key[..]) {
                        Some(group) => *group as usize,
                        None => {
                            cx.hold(row_bytes(&values) + 2 * key.len() + 64 * (aggs + 1))?;
                            let group = self.open(set, &values);
                            index.insert(key.as_slice().into(), group as u32);
                            group
                        }
                    };
                    let states = &mut self.states[group * aggs..(group + 1) * aggs];
                    self.grouping.add(states, row, cx)?;
                }
            }
            cx.breathe()?;
        }
        let mut order: Vec<(Box<[u8]>, u32)> = index.into_iter().collect();
        order.sort_unstable();
        Ok(order.into_iter().map(|(_, group)| group).collect())
    }
}

impl Operator for SetsAggregate<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        let order = match self.order.take() {
            Some(order) => order,
            None => self.build(cx)?,
        };
        let (width, aggs) = (self.grouping.group.len(), self.grouping.aggs.len());
        out.start(width + aggs + 1);
        let all = (1u64 << width) - 1;
        while self.at < order.len() && !out.is_full() {
            let group = order[self.at] as usize;
            let mask = all & !self.sets[self.set_of[group]];
            out.values_mut().extend_from_slice(&self.keys[group * width..(group + 1) * width]);
            let states = &self.states[group * aggs..(group + 1) * aggs];
            for (accumulator, spec) in states.iter().zip(&self.grouping.specs) {
                out.values_mut().push(accumulator.value(spec)?);
            }
            out.values_mut().push(Value::BigInt(mask as i64));
            out.finish_row();
            self.at += 1;
        }
        self.order = Some(order);
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.keys.clear();
        self.states.clear();
        self.set_of.clear();
        self.order = None;
        self.at = 0;
        self.input.rewind(cx)
    }
}

/// Groups that arrive together: one is held at a time.
pub(super) struct StreamAggregate<'p> {
    input: Source<'p>,
    grouping: Grouping<'p>,
    scalar: bool,
    batch: Batch,
    at: usize,
    /// The open group.
    key: Vec<u8>,
    keys: Vec<Value>,
    states: Vec<Accumulator>,
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
            at: 0,
            key: Vec::new(),
            keys: Vec::new(),
            states: Vec::new(),
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
            self.grouping.add(&mut self.states, self.batch.row(self.at), cx)?;
            self.at += 1;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.batch.start(0);
        self.at = 0;
        self.open = false;
        self.done = false;
        self.input.rewind(cx)
    }
}
