//! Rows of the side that is built, whichever way they come: each gives its key, and its bytes as they are kept.
//!
//! Promise: by column the keys and bytes are those that the rows' values have. Keys of a batch are looked for in the table all
//! at once, so that its lines of memory are waited for together.

use super::ahead::Ahead;
use super::shape::Shape;
use super::table::Table;
use crate::batch::Batch;
use crate::columns::Columns;
use crate::cx::Cx;
use crate::message::SqlError;
use crate::ops::key_columns::KeyColumns;
use crate::ops::simple::Source;
use crate::rowcode;

/// See the file's first lines.
pub(super) struct Feed {
    left: bool,
    batch: Batch,
    /// By column, where the side comes so and its keys are slots.
    columns: Option<(Columns, KeyColumns)>,
    hashes: Vec<u64>,
    numbers: Vec<u32>,
}

impl Feed {
    /// Of the left side, or of the right one.
    pub fn new(
        left: bool,
        shape: &Shape<'_>,
        (side, ahead): (&mut Source<'_>, &mut Ahead),
        cx: &mut Cx<'_>,
    ) -> Result<Feed, SqlError> {
        let keys = if left { shape.left_keys } else { shape.right_keys };
        let columns = match KeyColumns::new(keys) {
            Some(keys) if ahead.has_columns(side, cx)? => Some((Columns::default(), keys)),
            _ => None,
        };
        let (hashes, numbers) = (Vec::new(), Vec::new());
        Ok(Feed { left, batch: Batch::new(), columns, hashes, numbers })
    }

    /// Takes the next rows of the side: how many; none at its end.
    pub fn next(
        &mut self,
        shape: &Shape<'_>,
        table: &Table,
        (side, ahead): (&mut Source<'_>, &mut Ahead),
        cx: &mut Cx<'_>,
    ) -> Result<Option<usize>, SqlError> {
        let Some((columns, keys)) = &mut self.columns else {
            return Ok(ahead.next(side, cx, &mut self.batch)?.then_some(self.batch.len()));
        };
        if !ahead.next_columns(side, cx, columns)? {
            return Ok(None);
        }
        keys.load(&shape.encoder, columns);
        table.keys.find_all(keys.whole_keys(columns), &mut self.hashes, &mut self.numbers);
        Ok(Some(columns.len()))
    }

    /// The key of a row, false when a part of it is NULL; and its bytes, unless it has no key and only `keyed` ones are
    /// wanted.
    pub fn row(
        &self,
        row: usize,
        shape: &Shape<'_>,
        keyed: bool,
        (key, bytes): (&mut Vec<u8>, &mut Vec<u8>),
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let Some((columns, keys)) = &self.columns else {
            let values = self.batch.row(row);
            let known = shape.key(self.left, values, key, cx)?;
            if known || !keyed {
                shape.kept(self.left, values, bytes);
            }
            return Ok(known);
        };
        key.clear();
        let known = !keys.slots().iter().any(|slot| columns.column(*slot).is_null(row));
        if known {
            key.extend_from_slice(keys.key(row));
        }
        if known || !keyed {
            bytes.clear();
            for (slot, needed) in shape.needed_of(self.left).iter().enumerate() {
                match needed {
                    true => rowcode::encode_entry(columns.column(slot as u32), row, bytes),
                    false => bytes.push(0),
                }
            }
        }
        Ok(known)
    }
}
