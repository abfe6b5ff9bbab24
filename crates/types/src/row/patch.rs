//! Rows changed as they are stored: single columns overwritten, or a row copied with other values in some of them.
//!
//! Promise: a row that was changed here has the bytes that [`RowLayout::encode`] gives for its values.

use super::cell::{put_fixed, put_variable};
use super::{EXTERNAL, Place, ROW_BYTES_MAX, RowLayout, u16_at};
use crate::{DateTime, SqlType, TypeError, Value};

impl RowLayout {
    /// Overwrites a fixed column in an encoded row, and its null bit; any value of the column's
    /// type, or NULL. For variable columns returns `false` and leaves the row alone.
    #[inline]
    pub fn patch(&self, row: &mut [u8], i: usize, value: &Value) -> bool {
        let Place::Fixed { offset, len } = self.places[i] else {
            return false;
        };
        let cell = &mut row[offset as usize..(offset + len) as usize];
        put_fixed(self.columns[i].ty, self.columns[i].rule, value, cell);
        self.mark_null(row, i, value.is_null());
        true
    }

    /// Appends to `out` the row `row`, which has all columns, with other values in those for which `other` has one, of the
    /// column's type, or NULL. The others are copied as they are stored. 511 as [`RowLayout::encode`].
    pub fn splice<'v>(
        &self,
        row: &[u8],
        other: impl Fn(usize) -> Option<&'v Value>,
        out: &mut Vec<u8>,
    ) -> Result<(), TypeError> {
        assert_eq!(RowLayout::row_columns(row), self.columns.len(), "a row of all columns");
        let start = out.len();
        let ends = self.fixed_end + self.columns.len().div_ceil(8);
        let data = ends + 2 * self.variable_count;
        out.extend_from_slice(&row[..data]);
        let mut from = data;
        for (i, place) in self.places.iter().enumerate() {
            let value = other(i);
            let Place::Variable(index) = *place else {
                if let Some(value) = value {
                    self.patch(&mut out[start..], i, value);
                }
                continue;
            };
            let at = ends + 2 * index as usize;
            let end = u16_at(row, at);
            let to = end & !(EXTERNAL as usize);
            let mut flag = end as u16 & EXTERNAL;
            match value {
                None => out.extend_from_slice(&row[from..to]),
                Some(value) => {
                    put_variable(self.columns[i].ty, self.columns[i].rule, value, out);
                    flag = 0;
                    self.mark_null(&mut out[start..], i, value.is_null());
                }
            }
            from = to;
            let size = out.len() - start;
            if size > ROW_BYTES_MAX {
                out.truncate(start);
                return Err(TypeError::RowTooLarge { size });
            }
            out[start + at..start + at + 2].copy_from_slice(&(size as u16 | flag).to_le_bytes());
        }
        Ok(())
    }

    #[inline]
    fn mark_null(&self, row: &mut [u8], i: usize, null: bool) {
        let bit = 1u8 << (i % 8);
        if null {
            row[self.fixed_end + i / 8] |= bit;
        } else {
            row[self.fixed_end + i / 8] &= !bit;
        }
    }

    /// Overwrites a bigint (or money) column that is not NULL in the template.
    #[inline]
    pub fn patch_i64(&self, row: &mut [u8], i: usize, v: i64) {
        self.patch_bytes(row, i, v.to_le_bytes());
    }

    /// Overwrites an int (or date) column that is not NULL in the template.
    #[inline]
    pub fn patch_i32(&self, row: &mut [u8], i: usize, v: i32) {
        self.patch_bytes(row, i, v.to_le_bytes());
    }

    /// Overwrites a datetime column that is not NULL in the template.
    #[inline]
    pub fn patch_datetime(&self, row: &mut [u8], i: usize, v: DateTime) {
        let word = (v.days as u32 as u64) | ((v.ticks as u64) << 32);
        self.patch_bytes(row, i, word.to_le_bytes());
    }

    #[inline]
    fn patch_bytes<const N: usize>(&self, row: &mut [u8], i: usize, bytes: [u8; N]) {
        let Place::Fixed { offset, len } = self.places[i] else {
            panic!("column {i} has no fixed place");
        };
        assert_eq!(len as usize, N, "column {i} is patched as another type");
        row[offset as usize..offset as usize + N].copy_from_slice(&bytes);
    }

    /// The longest run of padding (blanks of a char column, zeros of a binary one) in an encoded
    /// row of this layout, when at least `min` bytes: (offset, length, byte). Lets the log leave
    /// it out.
    pub fn longest_run(&self, row: &[u8], min: usize) -> Option<(u16, u16, u8)> {
        let mut best: Option<(u16, u16, u8)> = None;
        for (column, place) in self.columns.iter().zip(&self.places) {
            let byte = match column.ty {
                SqlType::Char(_) => b' ',
                SqlType::Binary(_) => 0,
                _ => continue,
            };
            let Place::Fixed { offset, len } = *place else { continue };
            let cell = &row[offset as usize..(offset + len) as usize];
            let run = trailing(cell, byte);
            if run >= min.max(1) && best.is_none_or(|(_, longest, _)| run > longest as usize) {
                best = Some((offset as u16 + (len as usize - run) as u16, run as u16, byte));
            }
        }
        best
    }
}

/// How many of the last bytes are this one.
#[inline]
fn trailing(cell: &[u8], byte: u8) -> usize {
    let all = u64::from_le_bytes([byte; 8]);
    let mut rest = cell;
    while let Some((before, word)) = rest.split_last_chunk::<8>() {
        let other = u64::from_le_bytes(*word) ^ all;
        if other != 0 {
            return cell.len() - rest.len() + other.leading_zeros() as usize / 8;
        }
        rest = before;
    }
    cell.len() - rest.len() + rest.iter().rev().take_while(|b| **b == byte).count()
}
