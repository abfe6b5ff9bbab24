//! Recursive common table expressions.
//!
//! Promise: as in SQL Server, rows wait on a stack: those of the anchor come first, then the step runs for the row that
//! came last, whose rows wait above the others. Rows are given as they are found; one that lies too deep is error 530.

use super::Operator;
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::eval::eval;
use crate::memory::row_bytes;
use crate::message::SqlError;
use ir::{Expr, ParamId};
use runtime::task::Many;
use types::Value;

pub(super) struct Recursive<'p> {
    anchor: Source<'p>,
    step: Source<'p>,
    binds: &'p [(ParamId, Expr)],
    width: usize,
    /// Levels below the anchor; 0: any number.
    max: u32,
    /// Rows from which the step has not gone on yet, with their levels.
    waiting: Many<(u32, Box<[Value]>)>,
    anchored: bool,
    /// The step is running, and gives rows of this level.
    level: Option<u32>,
}

impl<'p> Recursive<'p> {
    pub fn new(
        anchor: Source<'p>,
        step: Source<'p>,
        binds: &'p [(ParamId, Expr)],
        max: u32,
        width: usize,
    ) -> Self {
        Recursive {
            anchor,
            step,
            binds,
            width,
            max,
            waiting: Many::new(),
            anchored: false,
            level: None,
        }
    }

    fn keep(&mut self, level: u32, rows: &Batch, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        for row in rows.rows() {
            cx.hold(row_bytes(row))?;
            self.waiting.push((level, row.into()));
        }
        Ok(())
    }
}

impl Operator for Recursive<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if !self.anchored {
            if self.anchor.next(cx, out)? {
                self.keep(0, out, cx)?;
                return Ok(true);
            }
            self.anchored = true;
        }
        loop {
            let level = match self.level {
                Some(level) => level,
                None => {
                    let Some((level, row)) = self.waiting.pop() else {
                        out.start(self.width);
                        return Ok(false);
                    };
                    cx.release(row_bytes(&row));
                    for (param, expr) in self.binds {
                        cx.params[param.0 as usize] = eval(expr, &row, cx)?;
                    }
                    self.step.rewind(cx)?;
                    cx.breathe()?;
                    level + 1
                }
            };
            self.level = Some(level);
            if !self.step.next(cx, out)? {
                self.level = None;
                continue;
            }
            if self.max != 0 && level > self.max {
                return Err(SqlError::new(
                    530,
                    16,
                    format!(
                        "The statement terminated. The maximum recursion {} has been exhausted \
                         before statement completion.",
                        self.max
                    ),
                ));
            }
            self.keep(level, out, cx)?;
            return Ok(true);
        }
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let held = std::mem::take(&mut self.waiting);
        held.each(|(_, row)| cx.release(row_bytes(row)));
        self.anchored = false;
        self.level = None;
        self.anchor.rewind(cx)
    }
}
