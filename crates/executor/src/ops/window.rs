//! Window functions over an input sorted by partition and order.
//!
//! Promise: ROW_NUMBER, RANK and DENSE_RANK stream; the others hold one partition at a time.

use super::Operator;
use super::accumulate::{Accumulator, Spec};
use super::frame::{Peers, Sliding};
use super::hash::KeyEncoder;
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::{Cx, row_bytes};
use crate::eval::{eval, operand};
use crate::message::SqlError;
use binder::ir::{Expr, FrameBound, SortKey, WindowFrame, WindowFunc};
use planner::WindowCall;
use types::Value;

pub(super) struct Window<'p> {
    input: Source<'p>,
    partition: &'p [Expr],
    order: &'p [SortKey],
    funcs: &'p [WindowCall],
    /// Of the rows given: the input's plus one per function.
    width: usize,
    partition_encoder: KeyEncoder,
    order_encoder: KeyEncoder,
    streams: bool,
    batch: Batch,
    at: usize,
    end: bool,
    /// Keys of the row before.
    last_partition: Option<Vec<u8>>,
    last_order: Vec<u8>,
    row_number: i64,
    rank: i64,
    dense_rank: i64,
    /// A finished partition with its functions' values, and how much of it has been given.
    finished: Vec<Value>,
    finished_at: usize,
    /// The partition being collected: rows of the input, and the order key of each.
    rows: Vec<Value>,
    orders: Vec<Vec<u8>>,
}

impl<'p> Window<'p> {
    pub fn new(
        input: Source<'p>,
        partition: &'p [Expr],
        order: &'p [SortKey],
        funcs: &'p [WindowCall],
        width: usize,
    ) -> Self {
        let streams = funcs.iter().all(|call| {
            matches!(call.func, WindowFunc::RowNumber | WindowFunc::Rank | WindowFunc::DenseRank)
        });
        Window {
            input,
            partition,
            order,
            funcs,
            width,
            partition_encoder: KeyEncoder::new(partition.iter().map(|e| e.ty)),
            order_encoder: KeyEncoder::new(order.iter().map(|k| k.expr.ty)),
            streams,
            batch: Batch::new(),
            at: 0,
            end: false,
            last_partition: None,
            last_order: Vec::new(),
            row_number: 0,
            rank: 0,
            dense_rank: 0,
            finished: Vec::new(),
            finished_at: 0,
            rows: Vec::new(),
            orders: Vec::new(),
        }
    }

    /// Ensures a row at `at` of the batch. False at the end of the input.
    fn fill(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if self.at < self.batch.len() {
            return Ok(true);
        }
        if self.end || !self.input.next(cx, &mut self.batch)? {
            self.end = true;
            return Ok(false);
        }
        self.at = 0;
        cx.breathe()?;
        Ok(true)
    }

    fn partition_key(&self, cx: &mut Cx<'_>) -> Result<Vec<u8>, SqlError> {
        let mut key = Vec::new();
        for (i, expr) in self.partition.iter().enumerate() {
            let value = operand(expr, self.batch.row(self.at), cx)?;
            self.partition_encoder.push(i, &value, &mut key);
        }
        Ok(key)
    }

    fn order_key(&self, cx: &mut Cx<'_>) -> Result<Vec<u8>, SqlError> {
        let mut key = Vec::new();
        for (i, sort) in self.order.iter().enumerate() {
            let value = operand(&sort.expr, self.batch.row(self.at), cx)?;
            self.order_encoder.push(i, &value, &mut key);
        }
        Ok(key)
    }

    /// One row, numbered.
    fn stream(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<(), SqlError> {
        let plain = self.partition.is_empty() && self.order.is_empty();
        if !plain || self.last_partition.is_none() {
            let partition = self.partition_key(cx)?;
            let order = self.order_key(cx)?;
            if self.last_partition.as_ref() != Some(&partition) {
                (self.row_number, self.rank, self.dense_rank) = (0, 1, 1);
                self.last_partition = Some(partition);
            } else if order != self.last_order {
                self.rank = self.row_number + 1;
                self.dense_rank += 1;
            }
            self.last_order = order;
        }
        self.row_number += 1;
        out.values_mut().extend_from_slice(self.batch.row(self.at));
        for call in self.funcs {
            let number = match call.func {
                WindowFunc::Rank => self.rank,
                WindowFunc::DenseRank => self.dense_rank,
                _ => self.row_number,
            };
            out.values_mut().push(Value::BigInt(number));
        }
        out.finish_row();
        self.at += 1;
        Ok(())
    }

    /// Collects the next partition and computes it. False at the end.
    fn next_partition(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.rows.clear();
        self.orders.clear();
        let mut current = None;
        while self.fill(cx)? {
            let key = self.partition_key(cx)?;
            match &current {
                None => current = Some(key),
                Some(open) if *open == key => {}
                Some(_) => break,
            }
            let order = self.order_key(cx)?;
            cx.hold(row_bytes(self.batch.row(self.at)) + order.len())?;
            self.orders.push(order);
            self.rows.extend_from_slice(self.batch.row(self.at));
            self.at += 1;
        }
        if self.orders.is_empty() {
            return Ok(false);
        }
        let count = self.orders.len();
        let input_width = self.width - self.funcs.len();
        let mut columns = Vec::with_capacity(self.funcs.len());
        let peers = Peers::of(&self.orders);
        for call in self.funcs {
            columns.push(self.compute(call, input_width, &peers, cx)?);
        }
        self.finished.clear();
        self.finished_at = 0;
        for i in 0..count {
            self.finished.extend_from_slice(&self.rows[i * input_width..(i + 1) * input_width]);
            for column in &mut columns {
                self.finished.push(std::mem::take(&mut column[i]));
            }
        }
        Ok(true)
    }

    /// One function's value for each row of the collected partition.
    fn compute(
        &self,
        call: &WindowCall,
        width: usize,
        peers: &Peers,
        cx: &mut Cx<'_>,
    ) -> Result<Vec<Value>, SqlError> {
        let count = self.orders.len();
        let row = |i: usize| &self.rows[i * width..(i + 1) * width];
        let mut values = Vec::with_capacity(count);
        match &call.func {
            WindowFunc::RowNumber => {
                values.extend((1..=count as i64).map(Value::BigInt));
            }
            WindowFunc::Rank => {
                values.extend((0..count).map(|i| Value::BigInt(peers.first(i) as i64 + 1)));
            }
            WindowFunc::DenseRank => {
                let mut dense = 0;
                for i in 0..count {
                    dense += i64::from(peers.first(i) == i);
                    values.push(Value::BigInt(dense));
                }
            }
            WindowFunc::PercentRank => {
                let others = (count - 1).max(1) as f64;
                values.extend((0..count).map(|i| Value::Float(peers.first(i) as f64 / others)));
            }
            WindowFunc::CumeDist => {
                let all = count as f64;
                values.extend((0..count).map(|i| Value::Float((peers.last(i) + 1) as f64 / all)));
            }
            WindowFunc::NTile(groups) => {
                let groups = eval(groups, &[], cx)?.as_i64().unwrap_or(0);
                if groups < 1 {
                    return Err(SqlError::new(
                        4189,
                        16,
                        "Cannot convert to NTILE: the number of groups must be positive.",
                    ));
                }
                let (size, longer) = (count as i64 / groups, count as i64 % groups);
                for i in 0..count as i64 {
                    let edge = longer * (size + 1);
                    let tile =
                        if i < edge { i / (size + 1) } else { longer + (i - edge) / size.max(1) };
                    values.push(Value::BigInt(tile + 1));
                }
            }
            WindowFunc::Lag { arg, offset, default, ignore_nulls }
            | WindowFunc::Lead { arg, offset, default, ignore_nulls } => {
                let shift = Shift {
                    back: matches!(call.func, WindowFunc::Lag { .. }),
                    offset: offset.as_ref(),
                    default: default.as_ref(),
                    ignore_nulls: *ignore_nulls,
                };
                let args = arguments(arg, count, row, cx)?;
                shift.values(&args, row, cx, &mut values)?;
            }
            WindowFunc::FirstValue { arg, ignore_nulls }
            | WindowFunc::LastValue { arg, ignore_nulls } => {
                let args = arguments(arg, count, row, cx)?;
                let first = matches!(call.func, WindowFunc::FirstValue { .. });
                let frame = call.frame.unwrap_or(WHOLE);
                let skips = match (*ignore_nulls, first) {
                    (false, _) => Vec::new(),
                    (true, true) => next_known(&args),
                    (true, false) => last_known(&args),
                };
                for i in 0..count {
                    let (start, end) = peers.frame(frame, i);
                    let at = if first { start } else { end.saturating_sub(1) };
                    let at = skips.get(at).copied().unwrap_or(at);
                    let inside = start <= at && at < end;
                    values.push(if inside { args[at].clone() } else { Value::Null });
                }
            }
            WindowFunc::PercentileCont { at, arg } | WindowFunc::PercentileDisc { at, arg } => {
                let at = crate::functions::real(&eval(at, &[], cx)?);
                if !(0.0..=1.0).contains(&at) {
                    return Err(SqlError::new(
                        10755,
                        16,
                        "The argument of a percentile function must be between 0 and 1.",
                    ));
                }
                let mut known = arguments(arg, count, row, cx)?;
                known.retain(|value| !value.is_null());
                let interpolates = matches!(call.func, WindowFunc::PercentileCont { .. });
                values.resize(count, percentile(&known, at, interpolates));
            }
            WindowFunc::Aggregate { func, arg } => {
                let spec = Spec {
                    func: *func,
                    distinct: false,
                    arg: arg.as_ref().map(|a| a.ty),
                    ty: call.ty,
                };
                let args = match arg {
                    Some(arg) => Some(arguments(arg, count, row, cx)?),
                    None => None,
                };
                let frame = call.frame.unwrap_or(WHOLE);
                if frame.start == FrameBound::UnboundedPreceding {
                    running(&spec, frame, peers, args.as_deref(), count, &mut values)?;
                } else {
                    let mut sliding = Sliding::new(&spec);
                    for i in 0..count {
                        let (start, end) = peers.frame(frame, i);
                        values.push(sliding.value(start, end, args.as_deref())?);
                    }
                }
            }
        }
        Ok(values)
    }
}

const WHOLE: WindowFrame = WindowFrame {
    range: false,
    start: FrameBound::UnboundedPreceding,
    end: FrameBound::UnboundedFollowing,
};

/// An argument's value in each row.
fn arguments<'r>(
    arg: &Expr,
    count: usize,
    row: impl Fn(usize) -> &'r [Value],
    cx: &mut Cx<'_>,
) -> Result<Vec<Value>, SqlError> {
    (0..count).map(|i| eval(arg, row(i), cx)).collect()
}

/// An aggregate over frames that all begin with the partition.
fn running(
    spec: &Spec,
    frame: WindowFrame,
    peers: &Peers,
    args: Option<&[Value]>,
    count: usize,
    values: &mut Vec<Value>,
) -> Result<(), SqlError> {
    let mut running = Accumulator::new(spec);
    let mut taken = 0;
    for i in 0..count {
        let (_, end) = peers.frame(frame, i);
        if i > 0 && taken == end {
            values.push(values[i - 1].clone());
            continue;
        }
        while taken < end {
            match args {
                Some(args) => running.add(spec, &args[taken])?,
                None => running.add_rows(1),
            }
            taken += 1;
        }
        values.push(running.value(spec)?);
    }
    Ok(())
}

/// For each row the first one from it on whose value is known; past the end when there is none.
fn next_known(args: &[Value]) -> Vec<usize> {
    let mut out = vec![args.len(); args.len()];
    let mut next = usize::MAX;
    for i in (0..args.len()).rev() {
        if !args[i].is_null() {
            next = i;
        }
        out[i] = next;
    }
    out
}

/// For each row the last one up to it whose value is known; past the end when there is none.
fn last_known(args: &[Value]) -> Vec<usize> {
    let mut last = usize::MAX;
    let step = |(i, value): (usize, &Value)| {
        if !value.is_null() {
            last = i;
        }
        last
    };
    args.iter().enumerate().map(step).collect()
}

/// Of sorted values without NULLs.
fn percentile(known: &[Value], at: f64, interpolates: bool) -> Value {
    let Some(most) = known.len().checked_sub(1) else { return Value::Null };
    if !interpolates {
        let index = (at * known.len() as f64).ceil() as usize;
        return known[index.saturating_sub(1).min(most)].clone();
    }
    let place = at * most as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    let (a, b) = (crate::functions::real(&known[low]), crate::functions::real(&known[high]));
    Value::Float(a + (b - a) * (place - place.floor()))
}

/// LAG and LEAD.
struct Shift<'e> {
    back: bool,
    offset: Option<&'e Expr>,
    default: Option<&'e Expr>,
    ignore_nulls: bool,
}

impl Shift<'_> {
    fn values<'r>(
        &self,
        args: &[Value],
        row: impl Fn(usize) -> &'r [Value],
        cx: &mut Cx<'_>,
        out: &mut Vec<Value>,
    ) -> Result<(), SqlError> {
        // Rows that count, and how many of them lie before each row.
        let counted: Vec<usize> =
            (0..args.len()).filter(|i| !self.ignore_nulls || !args[*i].is_null()).collect();
        let mut before = 0;
        for i in 0..args.len() {
            let by = match self.offset {
                Some(offset) => eval(offset, row(i), cx)?.as_i64().unwrap_or(1),
                None => 1,
            };
            let Ok(by) = usize::try_from(by) else {
                return Err(SqlError::new(
                    8730,
                    16,
                    "Offset parameter for Lag and Lead functions cannot be a negative value.",
                ));
            };
            let own = counted.get(before) == Some(&i);
            let found = match (by, self.back) {
                (0, _) => Some(i),
                (_, true) => before.checked_sub(by).map(|at| counted[at]),
                (_, false) => {
                    let at = (before + usize::from(own)).saturating_add(by - 1);
                    counted.get(at).copied()
                }
            };
            before += usize::from(own);
            out.push(match (found, self.default) {
                (Some(at), _) => args[at].clone(),
                (None, Some(default)) => eval(default, row(i), cx)?,
                (None, None) => Value::Null,
            });
        }
        Ok(())
    }
}

impl Operator for Window<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(self.width);
        while !out.is_full() {
            if self.streams {
                if !self.fill(cx)? {
                    break;
                }
                self.stream(cx, out)?;
                continue;
            }
            if self.finished_at >= self.finished.len() && !self.next_partition(cx)? {
                break;
            }
            let row = &mut self.finished[self.finished_at..self.finished_at + self.width];
            out.values_mut().extend(row.iter_mut().map(std::mem::take));
            out.finish_row();
            self.finished_at += self.width;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.batch.start(0);
        self.at = 0;
        self.end = false;
        self.last_partition = None;
        self.finished.clear();
        self.finished_at = 0;
        self.input.rewind(cx)
    }
}
