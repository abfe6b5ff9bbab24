//! An operator with what it does counted: rows, starts, time, pages.

use super::Operator;
use super::join_filter::JoinFilter;
use super::shared::SharedJoin;
use crate::batch::Batch;
use crate::columns::Columns;
use crate::cx::Cx;
use crate::message::SqlError;
use planner::NodeFigures;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(super) struct Metered<'p> {
    input: Box<dyn Operator + 'p>,
    figures: &'p NodeFigures,
    /// Rows have been asked for since it was started.
    begun: bool,
}

fn add(cell: &AtomicU64, n: u64) {
    cell.fetch_add(n, Relaxed);
}

impl<'p> Metered<'p> {
    pub fn new(input: Box<dyn Operator + 'p>, figures: &'p NodeFigures) -> Metered<'p> {
        Metered { input, figures, begun: false }
    }

    fn timed<R>(&mut self, body: impl FnOnce(&mut dyn Operator) -> R) -> R {
        let (before, begun_ns) = (scheduler::usage(), runtime::clock::now_ns());
        let result = body(&mut *self.input);
        let used = scheduler::usage().since(&before);
        add(&self.figures.elapsed_ns, runtime::clock::now_ns().saturating_sub(begun_ns));
        add(&self.figures.logical_reads, used.page_lookups);
        add(&self.figures.physical_reads, used.page_reads);
        result
    }
}

impl Operator for Metered<'_> {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        if !self.begun {
            self.begun = true;
            add(&self.figures.executions, 1);
        }
        let result = self.timed(|input| input.next(cx, out));
        if let Ok(true) = result {
            add(&self.figures.rows, out.len() as u64);
        }
        result
    }

    fn has_columns(&mut self, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        self.timed(|input| input.has_columns(cx))
    }

    fn next_columns(&mut self, cx: &mut Cx<'_>, out: &mut Columns) -> Result<bool, SqlError> {
        if !self.begun {
            self.begun = true;
            add(&self.figures.executions, 1);
        }
        let result = self.timed(|input| input.next_columns(cx, out));
        if let Ok(true) = result {
            add(&self.figures.rows, out.len() as u64);
        }
        result
    }

    fn narrow(&mut self, filter: Option<&JoinFilter>) {
        self.input.narrow(filter);
    }

    fn share(&mut self, cx: &mut Cx<'_>, shared: &mut Vec<SharedJoin>) -> Result<bool, SqlError> {
        self.timed(|input| input.share(cx, shared))
    }

    fn take_over(&mut self, shared: &mut dyn Iterator<Item = &SharedJoin>) {
        self.input.take_over(shared);
    }

    fn foresee(&mut self, times: usize, set: &dyn Fn(usize, &mut Cx<'_>), cx: &mut Cx<'_>) -> bool {
        self.timed(|input| input.foresee(times, set, cx))
    }

    fn rewind(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.begun = false;
        self.timed(|input| input.rewind(cx))
    }
}
