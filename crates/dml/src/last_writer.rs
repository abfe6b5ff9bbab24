//! What a statement keeps from one run to the next, for as long as its plan holds: above all its writer, which costs more
//! to make than a row costs to write.
//!
//! Promise: a writer is kept only after a run that ended well, and only where what it knows holds for another run.

use crate::write::TableWriter;
use engine::InsertHint;
use executor::SqlError;
use planner::{InsertPlan, InsertSource};
use std::cell::OnceCell;
use types::Value;

/// The writer of the last run, if it is good for another.
#[derive(Default)]
pub(crate) struct LastWriter(Option<Box<TableWriter>>);

impl LastWriter {
    /// The writer of the run before, or a new one. After an error it may be in the middle of something: it is out of here
    /// until [`LastWriter::keep`].
    pub fn take(
        &mut self,
        make: impl FnOnce() -> Result<TableWriter, SqlError>,
    ) -> Result<Box<TableWriter>, SqlError> {
        match self.0.take() {
            Some(mut writer) => {
                writer.restart();
                Ok(writer)
            }
            None => make().map(Box::new),
        }
    }

    /// A run has ended well: the next one goes on with its writer.
    pub fn keep(&mut self, writer: Box<TableWriter>) {
        self.0 = Some(writer).filter(|writer| writer.is_keepable());
    }

    /// See [`TableWriter::comes_alone`]; not known before the first run.
    pub fn comes_alone(&self) -> bool {
        self.0.as_ref().is_some_and(|writer| writer.comes_alone())
    }

    /// See [`TableWriter::stands_alone`]; not known before the first run.
    pub fn stands_alone(&self) -> bool {
        self.0.as_ref().is_some_and(|writer| writer.stands_alone())
    }

    /// See [`TableWriter::runs_alone`]; not known before the first run.
    pub fn runs_alone(&self) -> bool {
        self.0.as_ref().is_some_and(|writer| writer.runs_alone())
    }

    /// See [`TableWriter::passes_locks`]; not known before the first run.
    pub fn passes_locks(&self) -> bool {
        self.0.as_ref().is_some_and(|writer| writer.passes_locks())
    }
}

/// Of a statement that is no [`crate::PointChange`] or [`crate::PointMerge`].
#[derive(Default)]
pub struct Kept {
    /// Where it inserted last.
    pub hint: InsertHint,
    /// Memory for a row.
    pub(crate) values: Vec<Value>,
    writer: LastWriter,
    /// Whether its row calls a function of the user's, which may read anything in the transaction.
    calls: OnceCell<bool>,
}

impl Kept {
    /// See [`LastWriter::take`].
    pub(crate) fn writer(
        &mut self,
        make: impl FnOnce() -> Result<TableWriter, SqlError>,
    ) -> Result<Box<TableWriter>, SqlError> {
        self.writer.take(make)
    }

    /// As [`crate::PointChange::may_fuse`], of an INSERT.
    pub fn may_fuse(&self, plan: &InsertPlan) -> bool {
        self.writer.comes_alone() && self.is_of_one_row(plan)
    }

    /// As [`crate::PointChange::is_alone`], of an INSERT.
    pub fn is_alone(&self, plan: &InsertPlan) -> bool {
        !plan.table.is_memory() && self.writer.runs_alone() && self.is_of_one_row(plan)
    }

    /// Whether it inserts one row, and nothing but the table has a part in that.
    fn is_of_one_row(&self, plan: &InsertPlan) -> bool {
        let InsertSource::Values { rows, subplans, .. } = &plan.source else { return false };
        let calls = || rows.iter().flatten().any(|e| e.calls_users());
        rows.len() == 1
            && subplans.is_empty()
            && !*self.calls.get_or_init(calls)
            && plan.output.is_none()
            && plan.fires.is_none()
            && plan.block.is_none()
            && plan.check.is_none()
            && plan.tracking_context.is_none()
            && !plan.explicit_identity
    }

    /// See [`LastWriter::keep`].
    pub(crate) fn keep(&mut self, writer: Box<TableWriter>) {
        self.writer.keep(writer);
    }
}
