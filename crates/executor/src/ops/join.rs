//! Joins by nested loops, also for APPLY.
//!
//! Promise: the left side streams, in its order; the right side is held only when the plan says to spool it. Rows are
//! the left row followed by the right one; semi and anti joins give the left alone.

use super::Operator;
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::{eval, holds};
use crate::memory::row_bytes;
use crate::message::SqlError;
use ir::{Expr, ExprKind, ParamId};
use planner::PhysicalJoin;
use types::Value;

/// Left rows of a batch before the right side is told of those that come: it has been started then, and there are several.
const ROWS_UNSEEN: usize = 2;

/// The right side's rows: their values, how many they are, and the memory that is held for them.
struct Spooled {
    values: Vec<Value>,
    rows: usize,
    held: usize,
}

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
    spooled: Option<Spooled>,
    left_batch: Batch,
    left_at: usize,
    /// The left row before which the right side is told of those that come.
    look_at: usize,
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
            look_at: 0,
            open: false,
            matched: false,
            right_batch: Batch::new(),
            right_at: 0,
            scratch: Vec::new(),
        }
    }

    /// Starts over with other left rows.
    pub fn begin(&mut self, left: Source<'p>) {
        self.left = left;
        self.left_batch.start(self.left_width);
        self.left_at = 0;
        self.open = false;
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
            self.look_at = ROWS_UNSEEN;
            let more = 2 * self.left_batch.target();
            self.left_batch.set_target(more);
        }
        if self.left_at == self.look_at {
            self.look_ahead(cx);
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
            if !self.emits_pairs() && self.predicate.is_none() {
                // The first row says it.
                self.right_batch.set_target(1);
            }
        }
        self.right_at = 0;
        self.matched = false;
        self.open = true;
        cx.breathe()?;
        Ok(true)
    }

    /// Tells the right side of the left rows that come, where their columns are all that it is started with.
    fn look_ahead(&mut self, cx: &mut Cx<'_>) {
        let (binds, batch, from) = (self.binds, &self.left_batch, self.left_at);
        let slots = binds.iter().all(|(_, expr)| matches!(expr.kind, ExprKind::Slot(_)));
        if self.spool || binds.is_empty() || !slots {
            return;
        }
        let rows = (batch.len() - from).min(engine::KEYS_AHEAD);
        let set = |n: usize, cx: &mut Cx<'_>| {
            for (param, expr) in binds {
                if let ExprKind::Slot(slot) = expr.kind {
                    cx.params[param.0 as usize] = batch.row(from + n)[slot as usize].clone();
                }
            }
        };
        if self.right.foresee(rows, &set, cx) {
            self.look_at += rows;
        }
    }

    /// Moves to the next right row; false at the end of the right side.
    fn advance_right(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        if let Some(spooled) = &self.spooled {
            return Ok(self.right_at < spooled.rows);
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

/// All rows of an operator.
fn collect(source: &mut (dyn Operator + '_), cx: &mut Cx<'_>) -> Result<Spooled, SqlError> {
    let mut batch = Batch::new();
    let mut spooled = Spooled { values: Vec::new(), rows: 0, held: 0 };
    while source.next(cx, &mut batch)? {
        let bytes = batch.rows().map(row_bytes).sum();
        cx.hold(bytes)?;
        spooled.held += bytes;
        spooled.rows += batch.len();
        batch.drain_into(&mut spooled.values);
    }
    Ok(spooled)
}

impl Operator for NestedLoops<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(self.out_width());
        // Who wants few rows wants few left ones read for them; more and more where these do not do.
        self.left_batch.set_target(out.target());
        let pairs = self.emits_pairs();
        while !out.is_full() {
            if !self.open && !self.open_next(cx)? {
                break;
            }
            while self.advance_right(cx)? {
                let left = self.left_batch.row(self.left_at);
                let right = match &self.spooled {
                    Some(Spooled { values, .. }) => {
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
        if let Some(spooled) = self.spooled.take() {
            cx.release(spooled.held);
            self.right.rewind(cx)?;
        }
        self.left.rewind(cx)
    }
}
