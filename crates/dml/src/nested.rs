//! INSERT ... SELECT ... FROM (a change with OUTPUT) AS t WHERE ...
//!
//! Promise: the inner change is done before the first row is inserted, and both are one statement: whoever undoes the
//! one undoes the other. The rows counted are those inserted; the last identity is the inner change's.

use crate::change::{delete, insert, insert_rows, update};
use crate::last_writer::Kept;
use crate::merge::merge;
use crate::statement::note_context;
use engine::InsertHint;
use executor::{ColumnMeta, Cx, Done, ResultSink, SqlError, SqlMessage};
use planner::{ChangePlan, ChangedRows, InsertPlan};
use runtime::task::Many;
use types::Value;

/// Runs the change and inserts what of its rows is asked for. Returns the rows inserted.
#[cold]
pub(crate) fn insert_changed<'a>(
    plan: &'a InsertPlan,
    from: &'a ChangedRows,
    hint: &mut InsertHint,
    cx: &mut Cx<'a>,
    sink: &mut dyn ResultSink,
) -> Result<u64, SqlError> {
    note_context(plan.tracking_context.as_deref(), cx)?;
    let mut told = Told { rows: Many::new(), sink };
    let kept = &mut Kept::default();
    match &from.change {
        ChangePlan::Insert(inner) => insert(inner, kept, cx, &mut told)?,
        ChangePlan::Update(inner) => update(inner, kept, cx, &mut told)?,
        ChangePlan::Delete(inner) => delete(inner, kept, cx, &mut told)?,
        ChangePlan::Merge(inner) => merge(inner, None, kept, cx, &mut told)?,
    };
    let rows = told.rows;
    let identity = cx.env.last_identity();
    let count = insert_rows(plan, &from.row, &rows, hint, cx, sink)?;
    cx.env.set_last_identity(identity);
    Ok(count)
}

/// Keeps the rows of an OUTPUT, whose memory is accounted for where they are made; what else is told goes on.
struct Told<'s> {
    rows: Many<Vec<Value>>,
    sink: &'s mut dyn ResultSink,
}

impl ResultSink for Told<'_> {
    fn columns(&mut self, _: &[ColumnMeta]) {}

    fn row(&mut self, row: &[Value]) {
        self.rows.push(row.to_vec());
    }

    fn done(&mut self, done: Done) {
        self.sink.done(done);
    }

    fn message(&mut self, message: &SqlMessage) {
        self.sink.message(message);
    }
}
