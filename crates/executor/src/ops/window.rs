//! Window functions over an input sorted by partition and order.
//!
//! Promise: ROW_NUMBER, RANK and DENSE_RANK stream; the others see one partition at a time, of which what does not fit
//! into memory is in files ([`RowStore`]). What each function makes of a partition is next door, in `window_values.rs`.

use super::Operator;
use super::hash::KeyEncoder;
use super::row_store::RowStore;
use super::simple::Source;
use super::window_values::Partition;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::operand;
use crate::message::SqlError;
use ir::{Expr, SortKey, WindowFunc};
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
    /// The partition at hand, its functions' values, and how many of its rows have been given.
    current: Partition,
    columns: Vec<RowStore>,
    given: usize,
    /// A key that is being made.
    key: Vec<u8>,
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
            current: Partition::new(width - funcs.len()),
            columns: funcs.iter().map(|_| RowStore::new(1)).collect(),
            given: 0,
            key: Vec::new(),
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

    /// The row's partition, into `self.key`.
    fn partition_key(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.key.clear();
        for (i, expr) in self.partition.iter().enumerate() {
            let value = operand(expr, self.batch.row(self.at), cx)?;
            self.partition_encoder.push(i, &value, &mut self.key);
        }
        Ok(())
    }

    /// Its place in the order, likewise.
    fn order_key(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.key.clear();
        for (i, sort) in self.order.iter().enumerate() {
            let value = operand(&sort.expr, self.batch.row(self.at), cx)?;
            self.order_encoder.push(i, &value, &mut self.key);
        }
        Ok(())
    }

    /// Whether the row begins a partition, which is then the last one met.
    fn begins_partition(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.partition_key(cx)?;
        if self.last_partition.as_ref() == Some(&self.key) {
            return Ok(false);
        }
        let last = self.last_partition.get_or_insert_default();
        std::mem::swap(last, &mut self.key);
        Ok(true)
    }

    /// Whether its place in the order differs from that of the row before, which it then takes.
    fn moves_on(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.order_key(cx)?;
        if self.key == self.last_order {
            return Ok(false);
        }
        std::mem::swap(&mut self.last_order, &mut self.key);
        Ok(true)
    }

    /// One row, numbered.
    fn stream(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<(), SqlError> {
        let plain = self.partition.is_empty() && self.order.is_empty();
        if !plain || self.last_partition.is_none() {
            let begins = self.begins_partition(cx)?;
            let moves = self.moves_on(cx)?;
            if begins {
                (self.row_number, self.rank, self.dense_rank) = (0, 1, 1);
            } else if moves {
                self.rank = self.row_number + 1;
                self.dense_rank += 1;
            }
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

    /// Collects the next partition and computes its functions. False at the end.
    fn next_partition(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.forget(cx);
        // The row that ended the partition before has begun this one.
        while self.fill(cx)? {
            if self.begins_partition(cx)? && self.current.len() > 0 {
                break;
            }
            let moves = self.moves_on(cx)?;
            self.current.push(self.batch.row(self.at), moves, cx)?;
            self.at += 1;
        }
        if self.current.len() == 0 {
            return Ok(false);
        }
        for (call, column) in self.funcs.iter().zip(&mut self.columns) {
            self.current.compute(call, column, cx)?;
        }
        Ok(true)
    }

    fn forget(&mut self, cx: &mut Cx<'_>) {
        self.current.clear(cx);
        self.columns.iter_mut().for_each(|column| column.clear(cx));
        self.given = 0;
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
            if self.given >= self.current.len() && !self.next_partition(cx)? {
                break;
            }
            out.values_mut().extend_from_slice(self.current.row(self.given)?);
            for column in &mut self.columns {
                out.values_mut().push(column.value(self.given)?.clone());
            }
            out.finish_row();
            self.given += 1;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.batch.start(0);
        self.at = 0;
        self.end = false;
        self.last_partition = None;
        self.forget(cx);
        self.input.rewind(cx)
    }
}
