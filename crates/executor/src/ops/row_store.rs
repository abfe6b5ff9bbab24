//! Rows in the order in which they came, to be read at any place: in memory as long as there is room, else in a file.
//!
//! Promise: what is read is what was pushed. Without spilling a row is read where it lies. Readers that move forward (or
//! backward) at a few places read each page of the file about once for each of them.
//!
//! Invariant: pages hold the rows before `tail_from`, in order; the tail those from there on.

use crate::cx::Cx;
use crate::memory::row_bytes;
use crate::message::SqlError;
use crate::rowcode;
use crate::spill::{BLOCK_BYTES, Extent, SpillFile};
use runtime::task::Many;
use std::sync::Arc;
use types::Value;

/// Pages of the file that are held decoded.
const CACHED_MAX: usize = 4;
/// A tail of fewer bytes is not worth a page.
const TAIL_BYTES_MIN: usize = 2 * BLOCK_BYTES;

/// See the file's first lines. Rows of `width` values.
pub(super) struct RowStore {
    width: usize,
    len: usize,
    tail: Many<Value>,
    tail_from: usize,
    /// Memory counted for the tail.
    held: usize,
    written: Option<Written>,
}

/// The rows in the file.
struct Written {
    file: Arc<SpillFile>,
    pages: Vec<Extent>,
    /// Of each page its first row.
    starts: Vec<usize>,
    /// Pages at hand; the one used last comes first.
    cached: Vec<(usize, Vec<Value>)>,
    bytes: Vec<u8>,
}

impl RowStore {
    pub fn new(width: usize) -> RowStore {
        RowStore { width, len: 0, tail: Many::new(), tail_from: 0, held: 0, written: None }
    }

    /// Rows in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends a row.
    pub fn push(&mut self, row: &[Value], cx: &mut Cx<'_>) -> Result<(), SqlError> {
        debug_assert_eq!(row.len(), self.width);
        self.make_room(row_bytes(row), cx)?;
        self.tail.extend_from_slice(row);
        self.len += 1;
        Ok(())
    }

    /// Appends a row of one value.
    pub fn push_value(&mut self, value: Value, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        debug_assert_eq!(self.width, 1);
        self.make_room(row_bytes(std::slice::from_ref(&value)), cx)?;
        self.tail.push(value);
        self.len += 1;
        Ok(())
    }

    #[inline]
    fn make_room(&mut self, bytes: usize, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        if self.width == 0 {
            return Ok(());
        }
        if !cx.try_hold(bytes)? {
            if self.held >= TAIL_BYTES_MIN {
                self.write_tail(cx)?;
            }
            cx.force_hold(bytes)?;
        }
        self.held += bytes;
        Ok(())
    }

    #[cold]
    fn write_tail(&mut self, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        let written = match &mut self.written {
            Some(written) => written,
            None => {
                cx.keep().spilled.sorts += 1;
                self.written.insert(Written {
                    file: cx.spill_file()?,
                    pages: Vec::new(),
                    starts: Vec::new(),
                    cached: Vec::new(),
                    bytes: Vec::new(),
                })
            }
        };
        let mut page = Vec::with_capacity(BLOCK_BYTES);
        let mut first = self.tail_from;
        for (i, row) in self.tail.chunks_exact(self.width).enumerate() {
            let before = page.len();
            rowcode::encode(row, &mut page);
            if page.len() > BLOCK_BYTES && before > 0 {
                written.put(&page[..before], first, cx)?;
                first = self.tail_from + i;
                page.drain(..before);
            }
        }
        written.put(&page, first, cx)?;
        self.tail_from = self.len;
        self.tail = Many::new();
        cx.release(std::mem::take(&mut self.held));
        cx.breathe()
    }

    /// Row `i`.
    #[inline]
    pub fn row(&mut self, i: usize) -> Result<&[Value], SqlError> {
        if i >= self.tail_from {
            let at = (i - self.tail_from) * self.width;
            return Ok(&self.tail[at..at + self.width]);
        }
        match &mut self.written {
            Some(written) => written.row(i, self.width),
            None => stdx::fatal!("a row is neither in memory nor in a file"),
        }
    }

    /// The value of row `i`, where a row has but one.
    #[inline]
    pub fn value(&mut self, i: usize) -> Result<&Value, SqlError> {
        Ok(&self.row(i)?[0])
    }

    /// Lets go of all rows, and of the file.
    pub fn clear(&mut self, cx: &mut Cx<'_>) {
        cx.release(std::mem::take(&mut self.held));
        self.tail = Many::new();
        (self.len, self.tail_from) = (0, 0);
        self.written = None;
    }
}

impl Written {
    fn put(&mut self, page: &[u8], first: usize, cx: &mut Cx<'_>) -> Result<(), SqlError> {
        self.pages.push(self.file.write(page)?);
        self.starts.push(first);
        cx.keep().spilled.sort_pages += (page.len() as u64).div_ceil(8192);
        Ok(())
    }

    fn row(&mut self, i: usize, width: usize) -> Result<&[Value], SqlError> {
        let page = self.starts.partition_point(|start| *start <= i) - 1;
        match self.cached.iter().position(|(cached, _)| *cached == page) {
            Some(0) => {}
            Some(at) => self.cached[..=at].rotate_right(1),
            None => self.fetch(page, width)?,
        }
        let at = (i - self.starts[page]) * width;
        Ok(&self.cached[0].1[at..at + width])
    }

    #[cold]
    fn fetch(&mut self, page: usize, width: usize) -> Result<(), SqlError> {
        let mut values = match self.cached.len() {
            CACHED_MAX => self.cached.pop().map(|(_, values)| values).unwrap_or_default(),
            _ => Vec::new(),
        };
        values.clear();
        self.file.read(self.pages[page], &mut self.bytes)?;
        let mut bytes = &self.bytes[..];
        while !bytes.is_empty() {
            values.push(rowcode::decode_value(&mut bytes));
        }
        debug_assert!(values.len().is_multiple_of(width));
        self.cached.insert(0, (page, values));
        Ok(())
    }
}
