//! Instructions that nobody can tell from their absence are left out.
//!
//! Each statement says @@ROWCOUNT and @@ERROR; most are followed by one that says them anew before anyone asks. A word
//! is unheard where every way on comes to another word first, over instructions that cannot ask. An error is a word,
//! too: it says both itself.

use super::{Compiler, values};
use crate::op::{Op, Pc};

impl Compiler {
    /// Leaves out what [`Op::Done`] says unheard; targets, spans and handlers follow.
    pub(super) fn shorten(&mut self) {
        let heard = self.heard();
        let is_unheard = |at: usize| matches!(self.ops[at], Op::Done { .. }) && !heard[at + 1];
        // Where each instruction, and the end, comes to stand.
        let mut places = Vec::with_capacity(self.ops.len() + 1);
        let mut kept = 0;
        for at in 0..self.ops.len() {
            places.push(kept);
            kept += Pc::from(!is_unheard(at));
        }
        places.push(kept);
        if kept as usize == self.ops.len() {
            return;
        }
        let mut ops = Vec::with_capacity(kept as usize);
        for at in 0..self.ops.len() {
            if !is_unheard(at) {
                let mut op = self.ops[at];
                if let Some(to) = op.target() {
                    *to = places[*to as usize];
                }
                ops.push(op);
            }
        }
        self.ops = ops;
        for span in &mut self.spans {
            span.start = places[span.start as usize];
            span.end = places[span.end as usize];
            span.resume = places[span.resume as usize];
        }
        for handler in &mut self.handlers {
            handler.start = places[handler.start as usize];
            handler.end = places[handler.end as usize];
            handler.target = places[handler.target as usize];
        }
    }

    /// Before each instruction, and at the end: whether somebody may ask before another word is said.
    fn heard(&self) -> Vec<bool> {
        let mut heard = vec![false; self.ops.len() + 1];
        heard[self.ops.len()] = true;
        // Backwards until nothing changes: a loop's end learns of its beginning in the second round.
        loop {
            let mut changed = false;
            for at in (0..self.ops.len()).rev() {
                let mut op = self.ops[at];
                let before = match op {
                    Op::Done { .. } => false,
                    Op::Jump { to } | Op::Loop { to } => heard[to as usize],
                    Op::Eval { expr, .. } if !self.asks(expr) => heard[at + 1],
                    Op::UnlessExpr { expr, to, .. } | Op::IfExpr { expr, to }
                        if !self.asks(expr) =>
                    {
                        heard[at + 1] || heard[to as usize]
                    }
                    Op::NotNull { .. } | Op::EndCatch => heard[at + 1],
                    _ if op.is_scalar() => {
                        let to = op.target().map(|to| *to as usize);
                        heard[at + 1] || to.is_some_and(|to| heard[to])
                    }
                    _ => true,
                };
                changed |= before && !heard[at];
                heard[at] |= before;
            }
            if !changed {
                return heard;
            }
        }
    }

    fn asks(&self, expr: u32) -> bool {
        let plan = &self.exprs[expr as usize];
        !plan.subplans.is_empty() || values::observes(&plan.expr)
    }
}
