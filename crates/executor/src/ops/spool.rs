//! Rows that several operators of a plan read, computed once (the planner's `spool`).
//!
//! Promise: each reader gets all rows, in the order in which they are made, at its own pace and as often as it starts
//! over; a row is made when the first of them asks for it. Rows are kept in memory as long as there is room, else in a
//! file.
//!
//! Invariant: what makes rows is out of the context while it runs. It reads no spool that is made of it, so that nobody
//! asks for it meanwhile.

use super::Operator;
use super::row_store::RowStore;
use super::simple::Source;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::message::SqlError;

/// What a statement has of a spool so far.
pub(crate) struct Spooled<'p> {
    rows: RowStore,
    /// None: all rows are there.
    source: Option<Source<'p>>,
    /// What ended it.
    failed: Option<SqlError>,
    batch: Batch,
}

impl<'p> Spooled<'p> {
    pub fn begin(node: &'p planner::Node) -> Spooled<'p> {
        Spooled {
            rows: RowStore::new(node.types.len()),
            source: Some(super::build(node)),
            failed: None,
            batch: Batch::new(),
        }
    }

    /// Makes some more rows, about as many as somebody wants at most. False: there are none.
    fn grow(&mut self, target: usize, cx: &mut Cx<'p>) -> Result<bool, SqlError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let Some(source) = &mut self.source else { return Ok(false) };
        self.batch.set_target(target);
        if !source.next(cx, &mut self.batch)? {
            // What its operators hold goes back.
            source.rewind(cx)?;
            self.source = None;
            return Ok(false);
        }
        for row in self.batch.rows() {
            self.rows.push(row, cx)?;
        }
        Ok(true)
    }

    /// Lets go of all that is held.
    pub fn end(mut self, cx: &mut Cx<'p>) {
        if let Some(source) = &mut self.source {
            // What fails has failed before, or nobody wants it any more.
            let _ = source.rewind(cx);
        }
        self.rows.clear(cx);
    }
}

/// One reader: where it is.
pub(super) struct Spool {
    id: usize,
    width: usize,
    at: usize,
}

impl Spool {
    pub fn new(id: usize, width: usize) -> Spool {
        Spool { id, width, at: 0 }
    }
}

impl Spool {
    fn read<'p>(
        &mut self,
        spooled: &mut Spooled<'p>,
        cx: &mut Cx<'p>,
        out: &mut Batch,
    ) -> Result<bool, SqlError> {
        if self.at >= spooled.rows.len() {
            spooled.grow(out.target(), cx)?;
        }
        while self.at < spooled.rows.len() && !out.is_full() {
            out.push(spooled.rows.row(self.at)?);
            self.at += 1;
        }
        Ok(!out.is_empty())
    }
}

impl Operator for Spool {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        out.start(self.width);
        let mut spooled = cx.take_spool(self.id);
        let result = self.read(&mut spooled, cx, out);
        if let Err(error) = &result {
            spooled.failed.get_or_insert_with(|| error.clone());
        }
        cx.put_spool(self.id, spooled);
        result
    }

    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        self.at = 0;
        Ok(())
    }
}
