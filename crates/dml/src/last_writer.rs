//! What a statement keeps from one run to the next, for as long as its plan holds: above all its writer, which costs more
//! to make than a row costs to write.
//!
//! Promise: a writer is kept only after a run that ended well, and only where what it knows holds for another run.

use crate::write::TableWriter;
use engine::InsertHint;
use executor::SqlError;
use planner::{InsertPlan, InsertSource};

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

    /// Whether rows entail nothing that one log record could not hold; not known before the first run.
    pub fn stands_alone(&self) -> bool {
        self.0.as_ref().is_some_and(|writer| writer.stands_alone())
    }
}

/// Of a statement that is no [`crate::PointChange`] or [`crate::PointMerge`].
#[derive(Default)]
pub struct Kept {
    /// Where it inserted last.
    pub hint: InsertHint,
    writer: LastWriter,
    /// Whether its row calls a function of the user's, which may read anything in the transaction; none is not known yet.
    calls: Option<bool>,
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
    pub fn may_fuse(&mut self, plan: &InsertPlan) -> bool {
        let InsertSource::Values { rows, subplans, .. } = &plan.source else { return false };
        let calls = || rows.iter().flatten().any(|e| e.calls_users());
        rows.len() == 1
            && subplans.is_empty()
            && !*self.calls.get_or_insert_with(calls)
            && plan.output.is_none()
            && plan.fires.is_none()
            && plan.block.is_none()
            && plan.check.is_none()
            && plan.tracking_context.is_none()
            && !plan.explicit_identity
            && self.writer.stands_alone()
    }

    /// See [`LastWriter::keep`].
    pub(crate) fn keep(&mut self, writer: Box<TableWriter>) {
        self.writer.keep(writer);
    }
}
