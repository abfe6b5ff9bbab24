//! GROUP BY: by hashing, or in a stream whose groups arrive together.

use super::Operator;
use super::accumulate::{Accumulator, Spec};
use super::hash::{KeyEncoder, KeyMap};
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::{Cx, row_bytes};
use crate::eval::{eval, operand};
use crate::message::SqlError;
use binder::ir::Expr;
use planner::Agg;
use types::Value;

/// What both forms share.
struct Grouping<'p> {
    group: &'p [Expr],
    aggs: &'p [Agg],
    specs: Vec<Spec>,
    encoder: KeyEncoder,
}

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
        for ((accumulator, agg), spec) in accumulators.iter_mut().zip(self.aggs).zip(&self.specs) {
            match &agg.arg {
                Some(arg) => accumulator.add(spec, &*operand(arg, row, cx)?)?,
                None => accumulator.add_row(),
            }
        }
        Ok(())
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

/// Groups in a hash table; they come out in the order in which they were first seen.
pub(super) struct HashAggregate<'p> {
    input: Source<'p>,
    grouping: Grouping<'p>,
    scalar: bool,
    /// Values of the groups' keys and states, one after the other.
    keys: Vec<Value>,
    states: Vec<Accumulator>,
    groups: usize,
    built: bool,
    at: usize,
}

impl<'p> HashAggregate<'p> {
    pub fn new(input: Source<'p>, group: &'p [Expr], aggs: &'p [Agg], scalar: bool) -> Self {
        HashAggregate {
            input,
            grouping: Grouping::new(group, aggs),
            scalar,
            keys: Vec::new(),
            states: Vec::new(),
            groups: 0,
            built: false,
            at: 0,
        }
    }

    fn build(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let mut index: KeyMap<u32> = KeyMap::default();
        let mut batch = Batch::new();
        let mut key = Vec::new();
        let aggs = self.grouping.aggs.len();
        if self.scalar {
            self.states.extend(self.grouping.fresh());
            self.groups = 1;
        }
        while self.input.next(cx, &mut batch)? {
            for row in batch.rows() {
                let group = if self.scalar {
                    0
                } else {
                    self.grouping.key(row, &mut key, cx)?;
                    match index.get(&key[..]) {
                        Some(group) => *group as usize,
                        None => {
                            let group = self.groups;
                            index.insert(key.as_slice().into(), group as u32);
                            let from = self.keys.len();
                            for expr in self.grouping.group {
                                self.keys.push(eval(expr, row, cx)?);
                            }
                            cx.hold(row_bytes(&self.keys[from..]) + key.len() + 64 * (aggs + 1))?;
                            self.states.extend(self.grouping.fresh());
                            self.groups += 1;
                            group
                        }
                    }
                };
                self.grouping.add(&mut self.states[group * aggs..(group + 1) * aggs], row, cx)?;
            }
            cx.breathe()?;
        }
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
        while self.at < self.groups && !out.is_full() {
            let keys = &self.keys[self.at * width..(self.at + 1) * width];
            let states = &self.states[self.at * aggs..(self.at + 1) * aggs];
            self.grouping.emit(keys, states, out)?;
            self.at += 1;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.keys.clear();
        self.states.clear();
        self.groups = 0;
        self.built = false;
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
    pub fn new(input: Source<'p>, group: &'p [Expr], aggs: &'p [Agg], scalar: bool) -> Self {
        StreamAggregate {
            input,
            grouping: Grouping::new(group, aggs),
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
