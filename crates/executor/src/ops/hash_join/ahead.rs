//! What was read of a side before it was known which one is built.

use crate::batch::Batch;
use crate::columns::Columns;
use crate::cx::Cx;
use crate::memory::row_bytes;
use crate::message::SqlError;
use crate::ops::Operator;
use crate::ops::simple::{Empty, Source};
use std::collections::VecDeque;

/// A side of no more rows is built, whatever the plan thought. (Tests have small sides.)
pub(super) const AHEAD_ROWS_MAX: usize = if cfg!(test) { 16 } else { 8192 };
/// Nor is it if its rows take more, in bytes.
const AHEAD_BYTES_MAX: usize = 4 << 20;

/// A side that has ended, as an operator that gives its rows.
pub(super) struct Whole(pub Ahead);

impl Operator for Whole {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        self.0.next(&mut (Box::new(Empty) as Source<'_>), cx, out)
    }

    /// The join that has looked begins anew.
    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        Ok(())
    }
}

/// See the file's first lines.
#[derive(Default)]
pub(super) struct Ahead {
    /// As the side gives them.
    batches: VecDeque<Batch>,
    columns: VecDeque<Columns>,
    /// It comes by column; None: nobody has asked.
    by_column: Option<bool>,
    /// The side has no more.
    ended: bool,
}

impl Ahead {
    /// Whether the side comes by column.
    pub fn has_columns(
        &mut self,
        side: &mut Source<'_>,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let by_column = match self.by_column {
            Some(known) => known,
            None => side.has_columns(cx)?,
        };
        self.by_column = Some(by_column);
        Ok(by_column)
    }

    /// Reads on until there are enough for a table that nobody asks the memory for. Whether the side has ended.
    pub fn look(&mut self, side: &mut Source<'_>, cx: &mut Cx<'_>) -> Result<bool, SqlError> {
        let by_column = self.has_columns(side, cx)?;
        let (mut rows, mut bytes) = (0, 0);
        while !self.ended && rows < AHEAD_ROWS_MAX && bytes < AHEAD_BYTES_MAX {
            if by_column {
                let mut columns = Columns::default();
                self.ended = !side.next_columns(cx, &mut columns)?;
                rows += columns.len();
                bytes += columns.bytes();
                self.columns.extend((!self.ended).then_some(columns));
            } else {
                let mut batch = Batch::new();
                self.ended = !side.next(cx, &mut batch)?;
                rows += batch.len();
                bytes += batch.rows().map(row_bytes).sum::<usize>();
                self.batches.extend((!self.ended).then_some(batch));
            }
            cx.breathe()?;
        }
        Ok(self.ended)
    }

    /// Whether the side is known to have no more than what was read ahead.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The side has ended without a row.
    pub fn is_empty(&self) -> bool {
        self.ended && self.batches.is_empty() && self.columns.is_empty()
    }

    /// Rows that have been read and not given.
    pub fn len(&self) -> usize {
        let of_columns: usize = self.columns.iter().map(Columns::len).sum();
        self.batches.iter().map(Batch::len).sum::<usize>() + of_columns
    }

    /// The next rows of the side, those read ahead first. False at its end.
    pub fn next(
        &mut self,
        side: &mut Source<'_>,
        cx: &mut Cx<'_>,
        batch: &mut Batch,
    ) -> Result<bool, SqlError> {
        if self.by_column == Some(true) {
            let mut columns = Columns::default();
            let more = self.next_columns(side, cx, &mut columns)?;
            batch.start(columns.width());
            for row in 0..columns.len() {
                columns.push_row(row, batch.values_mut());
                batch.finish_row();
            }
            return Ok(more);
        }
        if let Some(ahead) = self.batches.pop_front() {
            *batch = ahead;
            return Ok(true);
        }
        cx.breathe()?;
        Ok(!self.ended && side.next(cx, batch)?)
    }

    /// The same of a side that comes by column.
    pub fn next_columns(
        &mut self,
        side: &mut Source<'_>,
        cx: &mut Cx<'_>,
        out: &mut Columns,
    ) -> Result<bool, SqlError> {
        if let Some(ahead) = self.columns.pop_front() {
            *out = ahead;
            return Ok(true);
        }
        cx.breathe()?;
        Ok(!self.ended && side.next_columns(cx, out)?)
    }
}
