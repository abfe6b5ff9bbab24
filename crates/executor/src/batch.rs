//! Rows on their way: a flat, reused buffer of values.
//!
//! Invariant: `values.len() == width * len`. A batch of width 0 still counts its rows.

use types::Value;

/// Rows per batch unless the consumer wants fewer.
pub const BATCH_ROWS: usize = 512;

/// A batch of rows of equal width.
#[derive(Debug)]
pub struct Batch {
    width: usize,
    len: usize,
    values: Vec<Value>,
    /// How many rows the consumer wants at most.
    target: usize,
}

impl Default for Batch {
    fn default() -> Batch {
        Batch { width: 0, len: 0, values: Vec::new(), target: BATCH_ROWS }
    }
}

impl Batch {
    /// An empty batch; its width comes with [`Batch::start`].
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Empties it, for rows of `width` values.
    pub fn start(&mut self, width: usize) {
        self.width = width;
        self.len = 0;
        self.values.clear();
    }

    /// Asks for at most `rows` rows (at least one) from now on. Who asks for many may get some more: those of whole leaves.
    pub fn set_target(&mut self, rows: usize) {
        self.target = rows.clamp(1, BATCH_ROWS);
    }

    /// The most rows the consumer wants.
    pub fn target(&self) -> usize {
        self.target
    }

    /// No more rows wanted.
    pub fn is_full(&self) -> bool {
        self.len >= self.target
    }

    /// Rows in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No rows in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[Value] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// The rows in order.
    pub fn rows(&self) -> impl Iterator<Item = &[Value]> {
        (0..self.len).map(|i| self.row(i))
    }

    /// Appends a copy of a row.
    pub fn push(&mut self, row: &[Value]) {
        debug_assert_eq!(row.len(), self.width);
        self.values.extend_from_slice(row);
        self.len += 1;
    }

    /// Appends the concatenation of two rows; `right` None stands for NULLs.
    pub fn push_joined(&mut self, left: &[Value], right: Option<&[Value]>) {
        self.values.extend_from_slice(left);
        if let Some(right) = right {
            self.values.extend_from_slice(right);
        }
        self.len += 1;
        self.values.resize(self.width * self.len, Value::Null);
    }

    /// The buffer, to append one value after the other; [`Batch::finish_row`] closes the row.
    #[inline]
    pub fn values_mut(&mut self) -> &mut Vec<Value> {
        &mut self.values
    }

    /// Closes a row built through [`Batch::values_mut`].
    #[inline]
    pub fn finish_row(&mut self) {
        self.len += 1;
        debug_assert_eq!(self.values.len(), self.width * self.len);
    }

    /// Takes off what was appended of a row that is not closed.
    #[cold]
    pub fn drop_open_row(&mut self) {
        self.values.truncate(self.width * self.len);
    }

    /// Takes the last row off again.
    #[inline]
    pub fn pop(&mut self) {
        self.len -= 1;
        self.values.truncate(self.width * self.len);
    }

    /// The last row.
    #[inline]
    pub fn last(&self) -> &[Value] {
        self.row(self.len - 1)
    }

    /// Keeps the rows for which `keep` holds; after an error those of them that stand before the row that failed.
    pub fn retain<E>(
        &mut self,
        mut keep: impl FnMut(&[Value]) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut kept = 0;
        for i in 0..self.len {
            let keeps = match keep(self.row(i)) {
                Ok(keeps) => keeps,
                Err(error) => {
                    self.shorten(kept);
                    return Err(error);
                }
            };
            if keeps {
                if kept != i {
                    for column in 0..self.width {
                        self.values.swap(kept * self.width + column, i * self.width + column);
                    }
                }
                kept += 1;
            }
        }
        self.shorten(kept);
        Ok(())
    }

    /// Moves all values to the end of `out`; the batch is empty afterwards.
    pub fn drain_into(&mut self, out: &mut Vec<Value>) {
        out.append(&mut self.values);
        self.len = 0;
    }

    /// Keeps the first `rows` rows.
    pub fn shorten(&mut self, rows: usize) {
        if rows < self.len {
            self.len = rows;
            self.values.truncate(self.width * rows);
        }
    }
}
