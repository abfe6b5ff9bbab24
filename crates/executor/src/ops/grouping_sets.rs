//! GROUPING SETS where no set groups by all that the others do, or an aggregate needs all rows of a group (`rollup.rs` has
//! the others): every row counts once in each set.
//!
//! Promise: groups in memory come out in the order of the expressions, a total after what it totals. When memory is used
//! up no group is opened any more: rows of those that there are still count, the others are written, with their set, to
//! parts by the hash of their group; each is then a turn of its own, so the order is one of turns.

use super::Operator;
use super::accumulate::Accumulator;
use super::group_table::GROUPS_MIN;
use super::grouping::{Grouping, STATE_BYTES};
use super::put_off::PutOff;
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::eval;
use crate::key_index::{KeyIndex, hash_of};
use crate::memory::row_bytes;
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::Stream;
use ir::Expr;
use planner::Agg;
use runtime::task;
use types::Value;

/// See the file's first lines.
pub(super) struct SetsAggregate<'p> {
    input: Source<'p>,
    turn: Turn<'p>,
    /// Groups of the turn in the order in which they are given; none: it has not begun.
    order: Option<Vec<u32>>,
    at: usize,
    /// Parts for later, with their depth; the last is the next.
    later: Vec<(Stream, u32)>,
}

/// The groups of one turn.
struct Turn<'p> {
    grouping: Grouping<'p>,
    /// Bit i: the set groups by expression i.
    sets: &'p [u64],
    index: KeyIndex,
    /// Of each group, its values, states and set.
    keys: Vec<Value>,
    states: Vec<Accumulator>,
    set_of: Vec<u32>,
    /// Memory counted for them.
    held: usize,
    /// Rows of groups without room, with their set.
    put_off: PutOff,
    /// Buffers.
    values: Vec<Value>,
    key: Vec<u8>,
}

impl Turn<'_> {
    /// The group of `self.values` in a set as bytes that sort, into `self.key`.
    fn encode(&mut self, set: usize) {
        self.key.clear();
        self.grouping.encode_of_set(self.sets[set], set as u32, &self.values, &mut self.key);
    }

    /// The groups that are there without rows too: those of the set of nothing.
    fn open_totals(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.values.fill(Value::Null);
        for set in (0..self.sets.len()).filter(|set| self.sets[*set] == 0) {
            self.encode(set);
            let hash = hash_of(&self.key);
            self.open(set, hash, cx)?;
        }
        Ok(())
    }

    /// A new group for `self.values` and `self.key`; none when there is no room.
    fn open(&mut self, set: usize, hash: u64, cx: &mut Cx<'_>) -> Result<Option<usize>, SqlError> {
        let own = row_bytes(&self.values) + STATE_BYTES * self.grouping.aggs.len() + 4;
        let bytes = own + KeyIndex::entry_bytes(self.key.len());
        let must = self.index.len() < GROUPS_MIN;
        if !cx.hold_entry(bytes, !self.put_off.is_empty(), must)? {
            return Ok(None);
        }
        self.held += bytes;
        for (i, value) in self.values.iter().enumerate() {
            let kept = self.sets[set] >> i & 1 == 1;
            self.keys.push(if kept { value.clone() } else { Value::Null });
        }
        self.states.extend(self.grouping.fresh());
        self.set_of.push(set as u32);
        Ok(Some(self.index.add(&self.key, hash) as usize))
    }

    /// The row's values of the expressions grouped by.
    fn look_at(&mut self, row: &[Value], cx: &mut Cx<'_>) -> Result<(), SqlError> {
        for (value, expr) in self.values.iter_mut().zip(self.grouping.group) {
            *value = eval(expr, row, cx)?;
        }
        Ok(())
    }

    /// Counts a row, whose values are at hand, in a set.
    fn take(&mut self, set: usize, row: &[Value], cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.encode(set);
        let hash = hash_of(&self.key);
        let group = match self.index.find(&self.key, hash) {
            Some(group) => group as usize,
            None => match self.open(set, hash, cx)? {
                Some(group) => group,
                None => {
                    let mut head = [0; 8];
                    head[..4].copy_from_slice(&(set as u32).to_le_bytes());
                    head[4..].copy_from_slice(&(row.len() as u32).to_le_bytes());
                    return self.put_off.push(hash, &head, row, cx);
                }
            },
        };
        let aggs = self.grouping.aggs.len();
        let states = &mut self.states[group * aggs..(group + 1) * aggs];
        self.held += self.grouping.add(states, row, cx)?;
        Ok(())
    }

    /// Groups a part.
    fn regroup(&mut self, stream: &Stream, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let (mut reader, mut row) = (stream.read(), Vec::new());
        let mut since_breath = 0u32;
        while let Some((head, bytes)) = reader.next(stream)? {
            let head = u64::from_le_bytes(head.try_into().unwrap_or_default());
            let (set, width) = (head as u32 as usize, (head >> 32) as usize);
            row.clear();
            rowcode::decode(bytes, width, &mut row);
            self.look_at(&row, cx)?;
            self.take(set, &row, cx)?;
            since_breath += 1;
            if since_breath.is_multiple_of(1024) {
                cx.breathe()?;
            }
        }
        Ok(())
    }

    /// All rows have been counted: what was put off is for later, and this is the order of the groups.
    fn end(
        &mut self,
        later: &mut Vec<(Stream, u32)>,
        cx: &mut Cx<'_>,
    ) -> Result<Vec<u32>, SqlError> {
        self.put_off.end(later, cx)?;
        self.grouping.warn(cx);
        let mut order: Vec<u32> = (0..self.index.len() as u32).collect();
        task::sort_by(&mut order, |a, b| {
            self.index.key(*a, &mut [0; 16]).cmp(self.index.key(*b, &mut [0; 16]))
        })?;
        Ok(order)
    }

    fn clear(&mut self, cx: &mut Cx<'_>) {
        self.index.clear();
        self.keys = Vec::new();
        self.states = Vec::new();
        self.set_of = Vec::new();
        self.put_off = PutOff::default();
        cx.release(std::mem::take(&mut self.held));
    }

    /// Appends a group's row.
    fn emit(&self, group: usize, out: &mut Batch) -> Result<(), SqlError> {
        let (width, aggs) = (self.grouping.group.len(), self.grouping.aggs.len());
        let set = self.sets[self.set_of[group] as usize];
        let keys = &self.keys[group * width..(group + 1) * width];
        let states = &self.states[group * aggs..(group + 1) * aggs];
        self.grouping.emit_of_set(set, keys, states, out)
    }
}

impl<'p> SetsAggregate<'p> {
    pub fn new(input: Source<'p>, group: &'p [Expr], aggs: &'p [Agg], sets: &'p [u64]) -> Self {
        let turn = Turn {
            grouping: Grouping::new(group, aggs),
            sets,
            index: KeyIndex::default(),
            keys: Vec::new(),
            states: Vec::new(),
            set_of: Vec::new(),
            held: 0,
            put_off: PutOff::default(),
            values: vec![Value::Null; group.len()],
            key: Vec::new(),
        };
        SetsAggregate { input, turn, order: None, at: 0, later: Vec::new() }
    }

    /// Groups the input.
    fn build(&mut self, cx: &mut Cx<'_>) -> Result<Vec<u32>, SqlError> {
        self.turn.open_totals(cx)?;
        let mut batch = Batch::new();
        while self.input.next(cx, &mut batch)? {
            for row in batch.rows() {
                self.turn.look_at(row, cx)?;
                for set in 0..self.turn.sets.len() {
                    self.turn.take(set, row, cx)?;
                }
            }
            cx.breathe()?;
        }
        self.turn.end(&mut self.later, cx)
    }
}

impl Operator for SetsAggregate<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        let mut order = match self.order.take() {
            Some(order) => order,
            None => self.build(cx)?,
        };
        out.start(self.turn.grouping.group.len() + self.turn.grouping.aggs.len() + 1);
        while !out.is_full() {
            if let Some(group) = order.get(self.at) {
                self.turn.emit(*group as usize, out)?;
                self.at += 1;
                continue;
            }
            self.turn.clear(cx);
            (self.at, order) = (0, Vec::new());
            let Some((stream, depth)) = self.later.pop() else { break };
            self.turn.put_off = PutOff::again(depth);
            self.turn.regroup(&stream, cx)?;
            order = self.turn.end(&mut self.later, cx)?;
        }
        self.order = Some(order);
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.turn.clear(cx);
        self.later.clear();
        self.order = None;
        self.at = 0;
        self.input.rewind(cx)
    }
}
