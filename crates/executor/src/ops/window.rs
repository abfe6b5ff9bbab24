//! Window functions over an input sorted by partition and order.
//!
//! Promise: ROW_NUMBER, RANK and DENSE_RANK stream; the others hold one partition at a time.

use super::Operator;
use super::accumulate::{Accumulator, Spec};
use super::hash::KeyEncoder;
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::{Cx, row_bytes};
use crate::eval::{eval, operand};
use crate::message::SqlError;
use binder::ir::{Expr, SortKey, WindowFunc};
use planner::WindowCall;
use types::{SqlType, Value, convert};

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
        for call in self.funcs {
            columns.push(self.compute(call, input_width, cx)?);
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
        cx: &mut Cx<'_>,
    ) -> Result<Vec<Value>, SqlError> {
        let count = self.orders.len();
        let row = |i: usize| &self.rows[i * width..(i + 1) * width];
        let mut values = Vec::with_capacity(count);
        match &call.func {
            WindowFunc::RowNumber => {
                values.extend((1..=count as i64).map(Value::BigInt));
            }
            WindowFunc::Rank | WindowFunc::DenseRank => {
                let (mut rank, mut dense) = (1, 1);
                for i in 0..count {
                    if i > 0 && self.orders[i] != self.orders[i - 1] {
                        rank = i as i64 + 1;
                        dense += 1;
                    }
                    let number = if call.func == WindowFunc::Rank { rank } else { dense };
                    values.push(Value::BigInt(number));
                }
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
            WindowFunc::Lag { arg, offset, default } => {
                self.shifted(-1, arg, offset.as_ref(), default.as_ref(), row, cx, &mut values)?;
            }
            WindowFunc::Lead { arg, offset, default } => {
                self.shifted(1, arg, offset.as_ref(), default.as_ref(), row, cx, &mut values)?;
            }
            WindowFunc::FirstValue(arg) => {
                let first = eval(arg, row(0), cx)?;
                values.resize(count, first);
            }
            WindowFunc::LastValue(arg) => {
                // The default frame ends with the current row's peers.
                for i in 0..count {
                    let last = self.last_peer(i);
                    values.push(eval(arg, row(last), cx)?);
                }
            }
            WindowFunc::Aggregate { func, arg } => {
                let spec = Spec {
                    func: *func,
                    distinct: false,
                    arg: arg.as_ref().map(|a| a.ty),
                    ty: call.ty,
                };
                let mut running = Accumulator::new(&spec);
                let mut taken = 0;
                for i in 0..count {
                    let last = if self.order.is_empty() { count - 1 } else { self.last_peer(i) };
                    while taken <= last {
                        match arg {
                            Some(arg) => running.add(&spec, &*operand(arg, row(taken), cx)?)?,
                            None => running.add_row(),
                        }
                        taken += 1;
                    }
                    if i > 0 && self.order.is_empty() {
                        values.push(values[0].clone());
                    } else {
                        values.push(running.value(&spec)?);
                    }
                }
            }
        }
        if call.ty == SqlType::Int {
            for value in &mut values {
                if let Value::BigInt(n) = value {
                    *value = convert::cast(&Value::BigInt(*n), SqlType::BigInt, call.ty, 0)?;
                }
            }
        }
        Ok(values)
    }

    fn last_peer(&self, i: usize) -> usize {
        if self.order.is_empty() {
            return self.orders.len() - 1;
        }
        let mut last = i;
        while last + 1 < self.orders.len() && self.orders[last + 1] == self.orders[i] {
            last += 1;
        }
        last
    }

    #[allow(clippy::too_many_arguments, reason = "LAG and LEAD in one")]
    fn shifted<'r>(
        &self,
        direction: i64,
        arg: &Expr,
        offset: Option<&Expr>,
        default: Option<&Expr>,
        row: impl Fn(usize) -> &'r [Value],
        cx: &mut Cx<'_>,
        values: &mut Vec<Value>,
    ) -> Result<(), SqlError> {
        let count = self.orders.len();
        for i in 0..count {
            let by = match offset {
                Some(offset) => eval(offset, row(i), cx)?.as_i64().unwrap_or(1),
                None => 1,
            };
            let from = i as i64 + direction * by;
            values.push(match usize::try_from(from) {
                Ok(from) if from < count => eval(arg, row(from), cx)?,
                _ => match default {
                    Some(default) => eval(default, row(i), cx)?,
                    None => Value::Null,
                },
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
