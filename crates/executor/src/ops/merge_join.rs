//! The merge join: two inputs that come ordered by their keys, read side by side.
//!
//! ```text
//! keys differ: the side with the lower key has met nobody there --> told if the kind preserves it, and the side moves on
//! keys equal:  `many`: the right rows of the key are kept, and read again for each left row of it
//!              else:   one left row has the key: right rows are joined with it as they come
//! ```
//!
//! Promise: joined rows come in the order of the left rows (FULL: in none). Nothing is kept but the right rows of one key,
//! in a file when memory is used up. A key with a NULL in it matches nobody.
//!
//! Invariant: keys of both sides are compared by the bytes of one encoding, by which both inputs are sorted.

use super::Operator;
use super::hash::KeyEncoder;
use super::row_store::RowStore;
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::{holds, operand};
use crate::message::SqlError;
use ir::{Expr, SortKey};
use planner::PhysicalJoin;
use std::cmp::Ordering;
use types::Value;

/// See the file's first lines.
pub(super) struct MergeJoin<'p> {
    kind: PhysicalJoin,
    /// Several left rows may have one key.
    many: bool,
    residual: Option<&'p Expr>,
    left: Side<'p>,
    right: Side<'p>,
    state: State,
    /// The right rows of the key at hand, and which of them have met somebody (FULL).
    group: RowStore,
    group_key: Vec<u8>,
    met: Vec<bool>,
    /// The left row has met somebody.
    matched: bool,
    scratch: Vec<Value>,
}

#[derive(Clone, Copy)]
enum State {
    /// The sides are at rows whose keys are to be compared.
    Compare,
    /// The left row meets the right rows kept, from this one on.
    Kept(usize),
    /// The left row meets right rows as they come.
    Coming,
    /// Right rows kept that have met nobody are told, from this one on.
    Unmatched(usize),
    End,
}

/// An input, and where it stands.
struct Side<'p> {
    input: Source<'p>,
    width: usize,
    keys: Vec<&'p Expr>,
    encoder: KeyEncoder,
    batch: Batch,
    at: usize,
    ended: bool,
    /// Of the row at hand; whether no part of it is NULL.
    key: Vec<u8>,
    known: bool,
}

impl<'p> Side<'p> {
    fn row(&self) -> &[Value] {
        self.batch.row(self.at)
    }

    /// Goes to the first row, or from one to the next. False at the end.
    fn advance(&mut self, first: bool, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.at += usize::from(!first);
        if self.at >= self.batch.len() {
            cx.breathe()?;
            if self.ended || !self.input.next(cx, &mut self.batch)? {
                self.batch.start(0);
                (self.at, self.ended) = (0, true);
                return Ok(false);
            }
            self.at = 0;
        }
        self.key.clear();
        self.known = true;
        for (i, expr) in self.keys.iter().enumerate() {
            let value = operand(expr, self.batch.row(self.at), cx)?;
            self.known &= !value.is_null();
            self.encoder.push(i, &value, &mut self.key);
        }
        Ok(true)
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.batch.start(0);
        (self.at, self.ended) = (0, false);
        self.input.rewind(cx)
    }
}

/// What the plan says.
pub(super) struct Spec<'p> {
    pub kind: PhysicalJoin,
    pub left_keys: &'p [SortKey],
    pub right_keys: &'p [Expr],
    pub residual: Option<&'p Expr>,
    pub many: bool,
}

impl<'p> MergeJoin<'p> {
    pub fn new(
        spec: &Spec<'p>,
        left: Source<'p>,
        right: Source<'p>,
        widths: (usize, usize),
    ) -> Self {
        // One encoding for both: keys are pairwise of one type.
        let parts = spec.left_keys.iter().map(|key| (key.expr.ty, key.desc));
        let encoder = KeyEncoder::ordered(parts);
        let side = |input, width, keys| Side {
            input,
            width,
            keys,
            encoder: encoder.clone(),
            batch: Batch::new(),
            at: 0,
            ended: false,
            key: Vec::new(),
            known: false,
        };
        MergeJoin {
            kind: spec.kind,
            many: spec.many,
            residual: spec.residual,
            left: side(left, widths.0, spec.left_keys.iter().map(|key| &key.expr).collect()),
            right: side(right, widths.1, spec.right_keys.iter().collect()),
            state: State::Compare,
            group: RowStore::new(widths.1),
            group_key: Vec::new(),
            met: Vec::new(),
            matched: false,
            scratch: Vec::new(),
        }
    }

    fn emits_pairs(&self) -> bool {
        matches!(self.kind, PhysicalJoin::Inner | PhysicalJoin::Left | PhysicalJoin::Full)
    }

    /// Whether the left row needs to meet no more.
    fn is_settled(&self) -> bool {
        self.matched && matches!(self.kind, PhysicalJoin::Semi | PhysicalJoin::Anti)
    }

    /// The left row is over: it is told, if that depends on whether it has met somebody; the next one comes.
    fn end_left(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        let row = self.left.row();
        match self.kind {
            PhysicalJoin::Left | PhysicalJoin::Full if !self.matched => out.push_joined(row, None),
            PhysicalJoin::Anti if !self.matched => out.push(row),
            PhysicalJoin::Semi if self.matched => out.push(row),
            _ => {}
        }
        self.matched = false;
        self.left.advance(false, cx)
    }

    /// A right row that meets nobody is over.
    fn end_right(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if self.kind == PhysicalJoin::Full {
            push_right(self.left.width, self.right.row(), out);
        }
        self.right.advance(false, cx)
    }

    /// Compares the sides' rows and goes on by that.
    fn compare(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<(), SqlError> {
        let kind = self.kind;
        match (self.left.ended, self.right.ended) {
            (true, false) if kind == PhysicalJoin::Full => {
                self.end_right(cx, out)?;
                return Ok(());
            }
            (true, _) => {
                self.state = State::End;
                return Ok(());
            }
            (false, true) if matches!(kind, PhysicalJoin::Inner | PhysicalJoin::Semi) => {
                self.state = State::End;
                return Ok(());
            }
            (false, true) => {
                self.end_left(cx, out)?;
                return Ok(());
            }
            (false, false) => {}
        }
        if !self.left.known {
            self.end_left(cx, out)?;
            return Ok(());
        }
        if !self.right.known {
            self.end_right(cx, out)?;
            return Ok(());
        }
        match self.left.key.cmp(&self.right.key) {
            Ordering::Less => {
                self.end_left(cx, out)?;
            }
            Ordering::Greater => {
                self.end_right(cx, out)?;
            }
            Ordering::Equal if self.many => {
                self.keep_group(cx)?;
                self.state = State::Kept(0);
            }
            Ordering::Equal => self.state = State::Coming,
        }
        Ok(())
    }

    /// Keeps the right rows of the key at hand.
    fn keep_group(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        std::mem::swap(&mut self.group_key, &mut self.right.key);
        self.right.key.clear();
        // Nobody looks at more than whether there is one.
        let one_will_do = !self.emits_pairs() && self.residual.is_none();
        loop {
            if !one_will_do || self.group.len() == 0 {
                self.group.push(self.right.row(), cx)?;
                if self.kind == PhysicalJoin::Full {
                    cx.force_hold(1)?;
                    self.met.push(false);
                }
            }
            if !self.right.advance(false, cx)? || self.right.key != self.group_key {
                return Ok(());
            }
        }
    }

    fn forget_group(&mut self, cx: &mut Cx<'_>) {
        self.group.clear(cx);
        cx.release(self.met.len());
        self.met.clear();
    }

    /// The left row meets right rows kept, as long as `out` has room.
    fn meet_kept(
        &mut self,
        mut at: usize,
        cx: &mut Cx<'_>,
        out: &mut Batch,
    ) -> Result<(), SqlError> {
        while at < self.group.len() && !self.is_settled() {
            if out.is_full() {
                self.state = State::Kept(at);
                return Ok(());
            }
            if at.is_multiple_of(1024) {
                cx.breathe()?;
            }
            let (pairs, right) = (self.emits_pairs(), self.group.row(at)?);
            let meets = pair(
                pairs,
                self.residual,
                self.left.batch.row(self.left.at),
                right,
                &mut self.scratch,
                cx,
                out,
            )?;
            if meets {
                self.matched = true;
                if let Some(met) = self.met.get_mut(at) {
                    *met = true;
                }
            }
            at += 1;
        }
        // The next left row may have the key too.
        let more = self.end_left(cx, out)?;
        self.state = match () {
            () if more && self.left.known && self.left.key == self.group_key => State::Kept(0),
            () if self.kind == PhysicalJoin::Full => State::Unmatched(0),
            () => {
                self.forget_group(cx);
                State::Compare
            }
        };
        Ok(())
    }

    /// The left row, which has its key for itself, meets the right row at hand.
    fn meet_coming(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<(), SqlError> {
        if self.right.ended || !self.right.known || self.right.key != self.left.key {
            self.state = State::Compare;
            self.end_left(cx, out)?;
            return Ok(());
        }
        if !self.is_settled() {
            let pairs = self.emits_pairs();
            let (left, right) = (self.left.row(), self.right.batch.row(self.right.at));
            if pair(pairs, self.residual, left, right, &mut self.scratch, cx, out)? {
                self.matched = true;
            } else if self.kind == PhysicalJoin::Full {
                push_right(self.left.width, right, out);
            }
        }
        self.right.advance(false, cx)?;
        Ok(())
    }
}

/// Puts a pair out, if pairs are put out; false when the residual refuses it.
fn pair(
    pairs: bool,
    residual: Option<&Expr>,
    left: &[Value],
    right: &[Value],
    scratch: &mut Vec<Value>,
    cx: &mut Cx<'_>,
    out: &mut Batch,
) -> Result<bool, SqlError> {
    if pairs {
        out.push_joined(left, Some(right));
        return match residual {
            Some(residual) if !holds(residual, out.last(), cx)? => {
                out.pop();
                Ok(false)
            }
            _ => Ok(true),
        };
    }
    let Some(residual) = residual else { return Ok(true) };
    scratch.clear();
    scratch.extend_from_slice(left);
    scratch.extend_from_slice(right);
    holds(residual, scratch, cx)
}

/// A right row that has met nobody.
fn push_right(left_width: usize, right: &[Value], out: &mut Batch) {
    let values = out.values_mut();
    values.resize(values.len() + left_width, Value::Null);
    values.extend_from_slice(right);
    out.finish_row();
}

impl Operator for MergeJoin<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if self.left.batch.is_empty() && !self.left.ended {
            self.left.advance(true, cx)?;
        }
        if self.right.batch.is_empty() && !self.right.ended {
            self.right.advance(true, cx)?;
        }
        let right_width = if self.emits_pairs() { self.right.width } else { 0 };
        out.start(self.left.width + right_width);
        while !out.is_full() {
            match self.state {
                State::Compare => self.compare(cx, out)?,
                State::Kept(at) => self.meet_kept(at, cx, out)?,
                State::Coming => self.meet_coming(cx, out)?,
                State::Unmatched(at) if at < self.group.len() => {
                    if !self.met[at] {
                        push_right(self.left.width, self.group.row(at)?, out);
                    }
                    self.state = State::Unmatched(at + 1);
                }
                State::Unmatched(_) => {
                    self.forget_group(cx);
                    self.state = State::Compare;
                }
                State::End => break,
            }
        }
        Ok(!out.is_empty())
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.forget_group(cx);
        self.state = State::Compare;
        self.matched = false;
        self.right.rewind(cx)?;
        self.left.rewind(cx)
    }
}
