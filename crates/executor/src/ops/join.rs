//! Joins: nested loops (also for APPLY) and hash.
//!
//! Promise: both stream their left side; the hash join holds its right side, nested loops hold theirs only when
//! told to spool it. Rows are the left row followed by the right one; semi and anti joins give the left alone.

use super::Operator;
use super::hash::{KeyEncoder, KeyMap};
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::{Cx, row_bytes};
use crate::eval::{eval, holds};
use crate::message::SqlError;
use binder::ir::{Expr, ParamId};
use planner::PhysicalJoin;
use types::Value;

/// For each left row, the right side.
pub(super) struct NestedLoops<'p> {
    kind: PhysicalJoin,
    left: Source<'p>,
    right: Source<'p>,
    left_width: usize,
    right_width: usize,
    binds: &'p [(ParamId, Expr)],
    predicate: Option<&'p Expr>,
    /// Keep the right side's rows after the first run.
    spool: bool,
    spooled: Option<(Vec<Value>, usize)>,
    left_batch: Batch,
    left_at: usize,
    /// A left row is being joined.
    open: bool,
    matched: bool,
    right_batch: Batch,
    right_at: usize,
    scratch: Vec<Value>,
}

impl<'p> NestedLoops<'p> {
    #[allow(clippy::too_many_arguments, reason = "the fields of one plan node")]
    pub fn new(
        kind: PhysicalJoin,
        left: Source<'p>,
        right: Source<'p>,
        widths: (usize, usize),
        binds: &'p [(ParamId, Expr)],
        predicate: Option<&'p Expr>,
        spool: bool,
    ) -> Self {
        NestedLoops {
            kind,
            left,
            right,
            left_width: widths.0,
            right_width: widths.1,
            binds,
            predicate,
            spool: spool && binds.is_empty(),
            spooled: None,
            left_batch: Batch::new(),
            left_at: 0,
            open: false,
            matched: false,
            right_batch: Batch::new(),
            right_at: 0,
            scratch: Vec::new(),
        }
    }

    fn emits_pairs(&self) -> bool {
        matches!(self.kind, PhysicalJoin::Inner | PhysicalJoin::Left | PhysicalJoin::Full)
    }

    fn out_width(&self) -> usize {
        self.left_width + if self.emits_pairs() { self.right_width } else { 0 }
    }

    /// Takes the next left row and readies the right side. False at the end.
    fn open_next(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if self.left_at >= self.left_batch.len() {
            if !self.left.next(cx, &mut self.left_batch)? {
                return Ok(false);
            }
            self.left_at = 0;
        }
        let row = self.left_batch.row(self.left_at);
        for (param, expr) in self.binds {
            cx.params[param.0 as usize] = eval(expr, row, cx)?;
        }
        if self.spool {
            if self.spooled.is_none() {
                self.spooled = Some(collect(&mut *self.right, cx)?);
            }
        } else {
            self.right.rewind(cx)?;
            self.right_batch.start(self.right_width);
        }
        self.right_at = 0;
        self.matched = false;
        self.open = true;
        cx.breathe()?;
        Ok(true)
    }

    /// Moves to the next right row; false at the end of the right side.
    fn advance_right(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if let Some((_, rows)) = &self.spooled {
            return Ok(self.right_at < *rows);
        }
        if self.right_at >= self.right_batch.len() {
            if !self.right.next(cx, &mut self.right_batch)? {
                return Ok(false);
            }
            self.right_at = 0;
        }
        Ok(true)
    }
}

/// All rows of an operator, and their number.
fn collect(
    source: &mut (dyn Operator + '_),
    cx: &mut Cx<'_>,
) -> Result<(Vec<Value>, usize), SqlError> {
    let mut batch = Batch::new();
    let mut values = Vec::new();
    let mut rows = 0;
    while source.next(cx, &mut batch)? {
        cx.hold(batch.rows().map(row_bytes).sum())?;
        rows += batch.len();
        batch.drain_into(&mut values);
    }
    Ok((values, rows))
}

impl Operator for NestedLoops<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(self.out_width());
        let pairs = self.emits_pairs();
        while !out.is_full() {
            if !self.open && !self.open_next(cx)? {
                break;
            }
            while self.advance_right(cx)? {
                let left = self.left_batch.row(self.left_at);
                let right = match &self.spooled {
                    Some((values, _)) => {
                        &values[self.right_at * self.right_width..][..self.right_width]
                    }
                    None => self.right_batch.row(self.right_at),
                };
                self.right_at += 1;
                if pairs {
                    out.push_joined(left, Some(right));
                    let keep = match self.predicate {
                        Some(predicate) => holds(predicate, out.last(), cx)?,
                        None => true,
                    };
                    if !keep {
                        out.pop();
                        continue;
                    }
                    self.matched = true;
                    if out.is_full() {
                        return Ok(true);
                    }
                    continue;
                }
                self.matched = match self.predicate {
                    Some(predicate) => {
                        self.scratch.clear();
                        self.scratch.extend_from_slice(left);
                        self.scratch.extend_from_slice(right);
                        holds(predicate, &self.scratch, cx)?
                    }
                    None => true,
                };
                if self.matched {
                    break;
                }
            }
            let left = self.left_batch.row(self.left_at);
            match self.kind {
                PhysicalJoin::Left | PhysicalJoin::Full if !self.matched => {
                    out.push_joined(left, None);
                }
                PhysicalJoin::Semi if self.matched => out.push(left),
                PhysicalJoin::Anti if !self.matched => out.push(left),
                _ => {}
            }
            self.open = false;
            self.left_at += 1;
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.left_batch.start(self.left_width);
        self.left_at = 0;
        self.open = false;
        // A spooled right side may depend on an outer query's parameters.
        if self.spooled.take().is_some() {
            self.right.rewind(cx)?;
        }
        self.left.rewind(cx)
    }
}

/// A table of the right side, probed by the left.
pub(super) struct HashJoin<'p> {
    kind: PhysicalJoin,
    left: Source<'p>,
    right: Source<'p>,
    left_width: usize,
    right_width: usize,
    left_keys: &'p [Expr],
    right_keys: &'p [Expr],
    residual: Option<&'p Expr>,
    encoder: KeyEncoder,
    table: Option<Table>,
    left_batch: Batch,
    left_at: usize,
    open: bool,
    matched: bool,
    /// The candidate to look at next for the open left row.
    candidate: u32,
    key: Vec<u8>,
    scratch: Vec<Value>,
    /// For FULL: the right row to look at next when the left side is over.
    unmatched_at: Option<usize>,
}

/// Rows of the build side, chained by key.
struct Table {
    values: Vec<Value>,
    rows: usize,
    heads: KeyMap<u32>,
    /// The next row of the same key, plus one; 0 ends.
    next: Vec<u32>,
    matched: Vec<bool>,
}

impl<'p> HashJoin<'p> {
    #[allow(clippy::too_many_arguments, reason = "the fields of one plan node")]
    pub fn new(
        kind: PhysicalJoin,
        left: Source<'p>,
        right: Source<'p>,
        widths: (usize, usize),
        left_keys: &'p [Expr],
        right_keys: &'p [Expr],
        residual: Option<&'p Expr>,
    ) -> Self {
        HashJoin {
            kind,
            left,
            right,
            left_width: widths.0,
            right_width: widths.1,
            left_keys,
            right_keys,
            residual,
            encoder: KeyEncoder::new(left_keys.iter().map(|e| e.ty)),
            table: None,
            left_batch: Batch::new(),
            left_at: 0,
            open: false,
            matched: false,
            candidate: 0,
            key: Vec::new(),
            scratch: Vec::new(),
            unmatched_at: None,
        }
    }

    fn emits_pairs(&self) -> bool {
        matches!(self.kind, PhysicalJoin::Inner | PhysicalJoin::Left | PhysicalJoin::Full)
    }

    fn build(&mut self, cx: &mut Cx<'_>) -> Result<Table, SqlError> {
        let mut table = Table {
            values: Vec::new(),
            rows: 0,
            heads: KeyMap::default(),
            next: Vec::new(),
            matched: Vec::new(),
        };
        let mut batch = Batch::new();
        while self.right.next(cx, &mut batch)? {
            for row in batch.rows() {
                let known = encode(&self.encoder, self.right_keys, row, &mut self.key, cx)?;
                if !known && self.kind != PhysicalJoin::Full {
                    continue;
                }
                cx.hold(row_bytes(row) + if known { self.key.len() + 32 } else { 0 })?;
                let number = table.rows as u32 + 1;
                table.values.extend_from_slice(row);
                table.rows += 1;
                let mut next = 0;
                if known {
                    match table.heads.get_mut(&self.key[..]) {
                        Some(head) => next = std::mem::replace(head, number),
                        None => {
                            table.heads.insert(self.key.as_slice().into(), number);
                        }
                    }
                }
                table.next.push(next);
            }
            cx.breathe()?;
        }
        if self.kind == PhysicalJoin::Full {
            table.matched = vec![false; table.rows];
        }
        Ok(table)
    }

    fn open_next(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if self.left_at >= self.left_batch.len() {
            cx.breathe()?;
            if !self.left.next(cx, &mut self.left_batch)? {
                return Ok(false);
            }
            self.left_at = 0;
        }
        let row = self.left_batch.row(self.left_at);
        let known = encode(&self.encoder, self.left_keys, row, &mut self.key, cx)?;
        self.candidate = match &self.table {
            Some(table) if known => table.heads.get(&self.key[..]).copied().unwrap_or(0),
            _ => 0,
        };
        self.matched = false;
        self.open = true;
        Ok(true)
    }
}

/// The key of a row; false when a part is NULL.
fn encode(
    encoder: &KeyEncoder,
    keys: &[Expr],
    row: &[Value],
    out: &mut Vec<u8>,
    cx: &mut Cx<'_>,
) -> Result<bool, SqlError> {
    out.clear();
    for (i, key) in keys.iter().enumerate() {
        let value = crate::eval::operand(key, row, cx)?;
        if value.is_null() {
            return Ok(false);
        }
        encoder.push(i, &value, out);
    }
    Ok(true)
}

impl Operator for HashJoin<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if self.table.is_none() {
            let table = self.build(cx)?;
            self.table = Some(table);
        }
        let pairs = self.emits_pairs();
        out.start(self.left_width + if pairs { self.right_width } else { 0 });
        while !out.is_full() && self.unmatched_at.is_none() {
            if !self.open && !self.open_next(cx)? {
                if self.kind == PhysicalJoin::Full {
                    self.unmatched_at = Some(0);
                }
                break;
            }
            let left = self.left_batch.row(self.left_at);
            let Some(table) = &mut self.table else { break };
            while self.candidate != 0 {
                let index = self.candidate as usize - 1;
                let right = &table.values[index * self.right_width..][..self.right_width];
                self.candidate = table.next[index];
                if pairs {
                    out.push_joined(left, Some(right));
                    if let Some(residual) = self.residual
                        && !holds(residual, out.last(), cx)?
                    {
                        out.pop();
                        continue;
                    }
                    self.matched = true;
                    if let Some(matched) = table.matched.get_mut(index) {
                        *matched = true;
                    }
                    if out.is_full() {
                        return Ok(true);
                    }
                    continue;
                }
                self.matched = match self.residual {
                    Some(residual) => {
                        self.scratch.clear();
                        self.scratch.extend_from_slice(left);
                        self.scratch.extend_from_slice(right);
                        holds(residual, &self.scratch, cx)?
                    }
                    None => true,
                };
                if self.matched {
                    break;
                }
            }
            match self.kind {
                PhysicalJoin::Left | PhysicalJoin::Full if !self.matched => {
                    out.push_joined(left, None);
                }
                PhysicalJoin::Semi if self.matched => out.push(left),
                PhysicalJoin::Anti if !self.matched => out.push(left),
                _ => {}
            }
            self.open = false;
            self.left_at += 1;
        }
        if let (Some(at), Some(table)) = (&mut self.unmatched_at, &self.table) {
            while *at < table.rows && !out.is_full() {
                if !table.matched[*at] {
                    let right = &table.values[*at * self.right_width..][..self.right_width];
                    let values = out.values_mut();
                    values.resize(values.len() + self.left_width, Value::Null);
                    values.extend_from_slice(right);
                    out.finish_row();
                }
                *at += 1;
            }
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.table = None;
        self.left_batch.start(self.left_width);
        self.left_at = 0;
        self.open = false;
        self.unmatched_at = None;
        self.right.rewind(cx)?;
        self.left.rewind(cx)
    }
}
