//! ORDER BY, whole or with only the first rows kept.
//!
//! Promise: stable; keys are compared as bytes under the collation. All in memory: past the statement's bound
//! the answer is error 701, there is no spill yet.

use super::Operator;
use super::hash::KeyEncoder;
use super::simple::{Source, row_count};
use crate::batch::Batch;
use crate::cx::{Cx, row_bytes};
use crate::eval::{eval, operand};
use crate::message::SqlError;
use binder::ir::{Expr, SortKey};
use types::Value;

pub(super) struct Sort<'p> {
    input: Source<'p>,
    keys: &'p [SortKey],
    /// Only so many rows are wanted.
    count: Option<&'p Expr>,
    width: usize,
    encoder: KeyEncoder,
    rows: Vec<Value>,
    /// (key bytes, row), sorted once built.
    order: Vec<(Box<[u8]>, u32)>,
    /// The last key kept by the last cut.
    worst: Option<Box<[u8]>>,
    built: bool,
    at: usize,
}

impl<'p> Sort<'p> {
    pub fn new(
        input: Source<'p>,
        keys: &'p [SortKey],
        count: Option<&'p Expr>,
        width: usize,
    ) -> Self {
        Sort {
            input,
            keys,
            count,
            width,
            encoder: KeyEncoder::ordered(keys.iter().map(|k| (k.expr.ty, k.desc))),
            rows: Vec::new(),
            order: Vec::new(),
            worst: None,
            built: false,
            at: 0,
        }
    }

    fn build(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let limit = match self.count {
            Some(count) => {
                usize::try_from(row_count(&eval(count, &[], cx)?)?).unwrap_or(usize::MAX)
            }
            None => usize::MAX,
        };
        let mut batch = Batch::new();
        let mut key = Vec::new();
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
                if limit == usize::MAX {
                    cx.hold(row_bytes(row) + key.len() + 24)?;
                }
                self.rows.extend_from_slice(row);
                self.order.push((key.as_slice().into(), self.order_number()));
            }
            if limit != usize::MAX
                && self.order.len() > limit.saturating_mul(2).saturating_add(1024)
            {
                self.cut(limit);
            }
            cx.breathe()?;
        }
        self.order.sort_unstable();
        self.order.truncate(limit);
        Ok(())
    }

    /// The number of the row just appended.
    fn order_number(&self) -> u32 {
        match self.rows.len().checked_div(self.width) {
            Some(rows) => rows as u32 - 1,
            None => self.order.len() as u32,
        }
    }

    /// Keeps the first `limit` rows and drops the others' values.
    fn cut(&mut self, limit: usize) {
        self.order.sort_unstable();
        self.order.truncate(limit);
        let mut rows = Vec::with_capacity(self.order.len() * self.width);
        for (i, (_, row)) in self.order.iter_mut().enumerate() {
            let from = *row as usize * self.width;
            rows.extend(self.rows[from..from + self.width].iter_mut().map(std::mem::take));
            *row = i as u32;
        }
        self.rows = rows;
        self.worst = self.order.last().map(|(key, _)| key.clone());
    }
}

impl Operator for Sort<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if !self.built {
            self.build(cx)?;
            self.built = true;
            self.at = 0;
        }
        out.start(self.width);
        while self.at < self.order.len() && !out.is_full() {
            let from = self.order[self.at].1 as usize * self.width;
            out.values_mut()
                .extend(self.rows[from..from + self.width].iter_mut().map(std::mem::take));
            out.finish_row();
            self.at += 1;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.rows.clear();
        self.order.clear();
        self.worst = None;
        self.built = false;
        self.at = 0;
        self.input.rewind(cx)
    }
}
