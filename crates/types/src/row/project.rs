//! Rows and keys made of the bytes of other rows: an entry of an index comes out of its row without a value in between.
//!
//! What goes where is found once ([`Projection::new`]); after that a row costs a few copies, and nothing is allocated once
//! the buffers have grown.
//!
//! Promise: the bytes are those that [`RowLayout::encode`] and [`key::encode_part`] give for the row's values.

use super::cell::array;
use super::{EXTERNAL, Place, RowLayout, u16_at};
use crate::key::{self, KeyPart};
use crate::{SqlType, Value};

/// How rows of one layout become rows of another, whose first column is given apart and whose others are columns of theirs.
#[derive(Clone, Debug)]
pub struct Projection {
    /// Header, zeros for fixed columns, bitmap and ends.
    head: Vec<u8>,
    /// Where the last two begin in it.
    bitmap: usize,
    ends: usize,
    /// Bytes that are copied as they are: from where, to where, how many. Cells that are neighbours in both go together.
    cells: Vec<(usize, usize, usize)>,
    /// Columns that may be NULL: in the source, in the new row.
    nullable: Vec<(usize, usize)>,
    /// Those of variable length in the source, in the order of the new row.
    variable: Vec<usize>,
}

impl Projection {
    /// From rows of `from`, which have all their columns, to rows of `to`: column 0 is of variable length, column i + 1 is
    /// column `columns[i]` of the source.
    pub fn new(from: &RowLayout, columns: &[usize], to: &RowLayout) -> Projection {
        assert_eq!(columns.len() + 1, to.columns.len(), "a column for each");
        assert!(
            matches!(to.places[0], Place::Variable(0)),
            "the first column is of variable length"
        );
        let bitmap = to.fixed_end;
        let ends = bitmap + to.columns.len().div_ceil(8);
        let mut head = vec![0; ends + 2 * to.variable_count];
        head[..2].copy_from_slice(&(to.fixed_end as u16).to_le_bytes());
        head[2..4].copy_from_slice(&(to.columns.len() as u16).to_le_bytes());
        let mut made = Projection {
            head,
            bitmap,
            ends,
            cells: Vec::new(),
            nullable: Vec::new(),
            variable: Vec::new(),
        };
        for (at, &ordinal) in (1..).zip(columns) {
            let (source, target) = (&from.columns[ordinal], &to.columns[at]);
            assert_eq!(
                (source.ty, source.rule),
                (target.ty, target.rule),
                "a column keeps its type"
            );
            if source.nullable {
                made.nullable.push((ordinal, at));
            }
            match (from.places[ordinal], to.places[at]) {
                (Place::Fixed { offset: from, len }, Place::Fixed { offset: to, .. }) => {
                    made.copies(from as usize, to as usize, len as usize);
                }
                (Place::Variable(_), Place::Variable(_)) => made.variable.push(ordinal),
                _ => unreachable!("columns of a type are of variable length, or are not"),
            }
        }
        made
    }

    fn copies(&mut self, from: usize, to: usize, len: usize) {
        match self.cells.last_mut() {
            Some(last) if last.0 + last.2 == from && last.1 + last.2 == to => last.2 += len,
            _ => self.cells.push((from, to, len)),
        }
    }

    /// Appends to `out` what comes of `row`, a row of `from`, with `first` in the first column. No column of it may lie
    /// outside; the caller knows that the result is not too large.
    #[inline]
    pub fn project(&self, from: &RowLayout, row: &[u8], first: &[u8], out: &mut Vec<u8>) {
        debug_assert_eq!(RowLayout::row_columns(row), from.columns.len(), "a row of all columns");
        let start = out.len();
        out.extend_from_slice(&self.head);
        for &(from, to, len) in &self.cells {
            let (cell, to) = (&row[from..from + len], start + to);
            // The lengths of numbers, without a call.
            match len {
                4 => out[to..to + 4].copy_from_slice(&array::<4>(cell)),
                8 => out[to..to + 8].copy_from_slice(&array::<8>(cell)),
                _ => out[to..to + len].copy_from_slice(cell),
            }
        }
        for &(ordinal, at) in &self.nullable {
            let null = row[from.fixed_end + ordinal / 8] >> (ordinal % 8) & 1;
            out[start + self.bitmap + at / 8] |= null << (at % 8);
        }
        out.extend_from_slice(first);
        let mut end_at = start + self.ends;
        self.end_here(start, end_at, out);
        for &ordinal in &self.variable {
            debug_assert!(from.external(row, ordinal).is_none(), "it lies in the row");
            out.extend_from_slice(from.raw(row, ordinal));
            end_at += 2;
            self.end_here(start, end_at, out);
        }
    }

    #[inline]
    fn end_here(&self, start: usize, at: usize, out: &mut [u8]) {
        let end = (out.len() - start) as u16;
        debug_assert!(end & EXTERNAL == 0, "a row that is not too large");
        out[at..at + 2].copy_from_slice(&end.to_le_bytes());
    }
}

impl RowLayout {
    /// Appends the part of a key that column `i` of `row` gives; the row has the column, and in itself.
    #[inline]
    pub fn key_part(&self, row: &[u8], i: usize, part: &KeyPart, out: &mut Vec<u8>) {
        if row[u16_at(row, 0) + i / 8] >> (i % 8) & 1 != 0 {
            return key::encode_part(part, &Value::Null, out);
        }
        let cell = self.raw(row, i);
        let start = out.len();
        if part.nullable {
            out.push(1);
        }
        match part.ty {
            SqlType::BigInt | SqlType::Money => {
                out.extend_from_slice(&key::encode_i64(i64::from_le_bytes(array(cell))));
            }
            SqlType::Int | SqlType::Date => {
                out.extend_from_slice(&key::encode_i32(i32::from_le_bytes(array(cell))));
            }
            SqlType::SmallInt => {
                let bits = u16::from_le_bytes(array(cell)) ^ (1 << 15);
                out.extend_from_slice(&bits.to_be_bytes());
            }
            SqlType::TinyInt | SqlType::Bit => out.push(cell[0]),
            SqlType::DateTime => {
                let days = i32::from_le_bytes(array(&cell[..4]));
                out.extend_from_slice(&key::encode_i32(days));
                out.extend(cell[4..].iter().rev());
            }
            _ => {
                out.truncate(start);
                return key::encode_part(part, &self.columns[i].value(cell), out);
            }
        }
        if part.desc {
            out[start..].iter_mut().for_each(|b| *b = !*b);
        }
    }
}
