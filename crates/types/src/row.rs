//! Rows as bytes: fixed part, null bitmap, variable part. To the byte: docs/formats/row.md.
//!
//! ```text
//! 0        2        4            fixed_end        +ceil(n/8)      +2 * variable columns
//! | u16    | u16    | fixed      | null bitmap    | u16 end per   | variable data ...
//! | fixed_ | n      | columns    | bit i = column | variable      |
//! | end    |        | in order   | i is NULL      | column        |
//! ```
//!
//! A row says how many columns it has, so a row written before ALTER TABLE ADD is read by the
//! newer layout: the missing columns are the caller's to fill. Invariants: a fixed column lies at
//! the same offset in every row that has it; a NULL fixed column is all zeros; a NULL variable
//! column is empty; a row is at most [`ROW_BYTES_MAX`] bytes.
//!
//! The top bit of a variable column's end says that the column lies outside of the row: its bytes are then those of an
//! [`External`]. A reader that may meet one asks [`RowLayout::external`] before it decodes the column.
//!
//! A row that does not hold what its header says is a broken invariant (pages carry checksums):
//! reading it panics at the bounds check.

mod cell;
mod cells;
mod patch;
mod project;

pub use cell::{RowColumn, fixed_bytes};
pub use cells::{StoredCell, StoredCells};
pub use project::Projection;

use cell::{VARIANT_HEADER_BYTES, array, put_fixed, put_variable};

use crate::{Len, SqlType, TypeError, Value};

/// Largest row in bytes.
pub const ROW_BYTES_MAX: usize = 8060;

const HEADER_BYTES: usize = 4;

/// Largest sql_variant in bytes: 8,000 of its value, and its header.
const VARIANT_BYTES_MAX: usize = 8000 + VARIANT_HEADER_BYTES;

/// Set in the end of a variable column that lies outside of the row.
const EXTERNAL: u16 = 0x8000;

/// Where the bytes of a variable column are that do not lie in the row: the column's stored form, kept by whoever
/// wrote the row under this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct External {
    pub id: u64,
    /// Its length in bytes.
    pub len: u64,
}

impl External {
    /// What it takes in the row, in bytes.
    pub const BYTES: usize = 16;

    fn to_bytes(self) -> [u8; External::BYTES] {
        let mut out = [0; External::BYTES];
        out[..8].copy_from_slice(&self.id.to_le_bytes());
        out[8..].copy_from_slice(&self.len.to_le_bytes());
        out
    }

    fn from_bytes(bytes: &[u8]) -> External {
        External {
            id: u64::from_le_bytes(array(&bytes[..8])),
            len: u64::from_le_bytes(array(&bytes[8..])),
        }
    }
}

/// Where each column of a row is.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RowLayout {
    columns: Vec<RowColumn>,
    places: Vec<Place>,
    /// End of the fixed part of a row with all columns.
    fixed_end: usize,
    variable_count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Fixed {
        offset: u32,
        len: u32,
    },
    /// Index among the variable columns.
    Variable(u16),
}

impl RowLayout {
    pub fn new(columns: &[RowColumn]) -> RowLayout {
        let mut fixed_end = HEADER_BYTES;
        let mut variable_count = 0;
        let places = columns
            .iter()
            .map(|column| match fixed_bytes(column.ty) {
                Some(len) => {
                    let offset = fixed_end;
                    fixed_end += len;
                    Place::Fixed { offset: offset as u32, len: len as u32 }
                }
                None => {
                    variable_count += 1;
                    Place::Variable(variable_count as u16 - 1)
                }
            })
            .collect();
        RowLayout { columns: columns.to_vec(), places, fixed_end, variable_count }
    }

    pub fn columns(&self) -> &[RowColumn] {
        &self.columns
    }

    /// Appends the row to `out`. Values must have their columns' types and be NULL only where
    /// nullable. 511 when larger than 8060 bytes; `out` is then as before.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) -> Result<(), TypeError> {
        self.encode_with(values, &[], out)
    }

    /// The same, with `externals[i]` in place of the value of a variable column i that lies outside. (Columns past its
    /// end lie in the row.)
    pub fn encode_with(
        &self,
        values: &[Value],
        externals: &[Option<External>],
        out: &mut Vec<u8>,
    ) -> Result<(), TypeError> {
        assert_eq!(values.len(), self.columns.len(), "a value per column");
        let start = out.len();
        let n = self.columns.len();
        let bitmap = start + self.fixed_end;
        let ends = bitmap + n.div_ceil(8);
        out.resize(ends + 2 * self.variable_count, 0);
        let too_large = |out: &mut Vec<u8>| {
            let size = out.len() - start;
            out.truncate(start);
            Err(TypeError::RowTooLarge { size })
        };
        if out.len() - start > ROW_BYTES_MAX {
            return too_large(out);
        }
        out[start..start + 2].copy_from_slice(&(self.fixed_end as u16).to_le_bytes());
        out[start + 2..start + 4].copy_from_slice(&(n as u16).to_le_bytes());
        for (i, value) in values.iter().enumerate() {
            let column = &self.columns[i];
            if value.is_null() {
                debug_assert!(column.nullable, "NULL in column {i}, which is NOT NULL");
                out[bitmap + i / 8] |= 1 << (i % 8);
            }
            match self.places[i] {
                Place::Fixed { offset, len } => {
                    let at = start + offset as usize;
                    put_fixed(column.ty, column.rule, value, &mut out[at..at + len as usize]);
                }
                Place::Variable(index) => {
                    let external = externals.get(i).copied().flatten();
                    match external {
                        None => put_variable(column.ty, column.rule, value, out),
                        Some(external) => out.extend_from_slice(&external.to_bytes()),
                    }
                    if out.len() - start > ROW_BYTES_MAX {
                        return too_large(out);
                    }
                    let flag = if external.is_some() { EXTERNAL } else { 0 };
                    let end = (out.len() - start) as u16 | flag;
                    let at = ends + 2 * index as usize;
                    out[at..at + 2].copy_from_slice(&end.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    /// Whether a row can be a row of this layout, or of its first columns; what is wrong otherwise. Nothing else of
    /// this file may be asked about a row that is not.
    pub fn check(&self, row: &[u8]) -> Result<(), &'static str> {
        if row.len() < HEADER_BYTES {
            return Err("it is too short");
        }
        let (fixed_end, n) = (u16_at(row, 0), RowLayout::row_columns(row));
        if n > self.columns.len() {
            return Err("it has too many columns");
        }
        let (mut fixed, mut variables) = (HEADER_BYTES, 0);
        for place in &self.places[..n] {
            match place {
                Place::Fixed { len, .. } => fixed += *len as usize,
                Place::Variable(_) => variables += 1,
            }
        }
        let ends = fixed_end + n.div_ceil(8);
        let mut from = ends + 2 * variables;
        if fixed_end != fixed || from > row.len() {
            return Err("its fixed columns have a wrong length");
        }
        for (i, column) in self.columns[..n].iter().enumerate() {
            let null = self.is_null(row, i);
            let Place::Variable(index) = self.places[i] else { continue };
            let end = u16_at(row, ends + 2 * index as usize);
            let (to, external) = (end & !(EXTERNAL as usize), end & EXTERNAL as usize != 0);
            if to < from || to > row.len() {
                return Err("its columns of variable length overlap");
            }
            let len = to - from;
            if (external && len != External::BYTES) || (null && (len != 0 || external)) {
                return Err("a column that lies outside, or is NULL, has a wrong length");
            }
            let most = match column.ty {
                SqlType::VarChar(Len::N(most)) | SqlType::VarBinary(Len::N(most)) => most as usize,
                SqlType::NVarChar(Len::N(most)) => 2 * most as usize,
                _ => usize::MAX,
            };
            let odd = matches!(column.ty, SqlType::NVarChar(_)) && !len.is_multiple_of(2);
            if !external && (len > most || odd) {
                return Err("a column of variable length has a wrong length");
            }
            from = to;
        }
        if from != row.len() {
            return Err("bytes follow its last column");
        }
        Ok(())
    }

    /// Number of columns the row was written with.
    #[inline]
    pub fn row_columns(row: &[u8]) -> usize {
        u16_at(row, 2)
    }

    /// Is column `i` NULL (`false` when the row is too short to have it)?
    #[inline]
    pub fn is_null(&self, row: &[u8], i: usize) -> bool {
        i < RowLayout::row_columns(row) && row[u16_at(row, 0) + i / 8] & (1 << (i % 8)) != 0
    }

    /// Column `i` of a row, or `None` when the row was written with fewer columns.
    #[inline]
    pub fn decode_column(&self, row: &[u8], i: usize) -> Option<Value> {
        if i >= RowLayout::row_columns(row) {
            return None;
        }
        if self.is_null(row, i) {
            return Some(Value::Null);
        }
        Some(self.columns[i].value(self.raw(row, i)))
    }

    /// Appends to `out` what tells apart the rows by these columns: their stored bytes. Two rows of this layout give
    /// equal bytes exactly when each of the columns is stored alike in both, or is NULL in both, or lacks in both.
    #[inline]
    pub fn raw_key(&self, row: &[u8], columns: &[usize], out: &mut Vec<u8>) {
        let n = RowLayout::row_columns(row);
        for &i in columns {
            if i >= n {
                out.push(2);
            } else if self.is_null(row, i) {
                out.push(1);
            } else {
                let raw = self.raw(row, i);
                match self.places[i] {
                    Place::Fixed { .. } => out.push(0),
                    // The length in two bytes, with the mark of NULL and of absence left free.
                    Place::Variable(_) => {
                        let len = (raw.len() as u32) << 2;
                        out.extend_from_slice(&len.to_le_bytes()[..3]);
                    }
                }
                out.extend_from_slice(raw);
            }
        }
    }

    /// Where column `i` lies if it lies outside of the row.
    #[inline]
    pub fn external(&self, row: &[u8], i: usize) -> Option<External> {
        let Place::Variable(index) = self.places[i] else { return None };
        let n = RowLayout::row_columns(row);
        if i >= n {
            return None;
        }
        let end = u16_at(row, u16_at(row, 0) + n.div_ceil(8) + 2 * index as usize);
        (end & EXTERNAL as usize != 0).then(|| External::from_bytes(self.raw(row, i)))
    }

    /// Appends the stored form of a value of column `i`, which is of variable length.
    pub fn encode_variable(&self, i: usize, value: &Value, out: &mut Vec<u8>) {
        put_variable(self.columns[i].ty, self.columns[i].rule, value, out);
    }

    /// The value of column `i` from its stored form.
    pub fn decode_variable(&self, i: usize, stored: &[u8]) -> Value {
        self.columns[i].value(stored)
    }

    /// Can a row of this layout be larger than a row may be, so that columns of it must lie outside?
    pub fn may_overflow(&self) -> bool {
        self.min_row_bytes() + self.variable_bytes() > ROW_BYTES_MAX
    }

    /// Stored bytes of a column that the row has: little-endian numbers, text in the collation's code page
    /// or UTF-16. Empty for a NULL variable column, zeros for a NULL fixed one.
    #[inline]
    pub fn raw<'r>(&self, row: &'r [u8], i: usize) -> &'r [u8] {
        match self.places[i] {
            Place::Fixed { offset, len } => &row[offset as usize..(offset + len) as usize],
            Place::Variable(index) => {
                let n = RowLayout::row_columns(row);
                let variable_count = if n == self.columns.len() {
                    self.variable_count
                } else {
                    self.places[..n].iter().filter(|p| matches!(p, Place::Variable(_))).count()
                };
                let ends = u16_at(row, 0) + n.div_ceil(8);
                let end = |index: usize| u16_at(row, ends + 2 * index) & !(EXTERNAL as usize);
                let from = match index {
                    0 => ends + 2 * variable_count,
                    _ => end(index as usize - 1),
                };
                &row[from..end(index as usize)]
            }
        }
    }

    /// A bigint, int, smallint, tinyint or bit column read without making a value; `None` when
    /// NULL or absent. For the executor's typed paths.
    #[inline]
    pub fn read_i64(&self, row: &[u8], i: usize) -> Option<i64> {
        if i >= RowLayout::row_columns(row) || self.is_null(row, i) {
            return None;
        }
        let bytes = self.raw(row, i);
        Some(match bytes.len() {
            8 => i64::from_le_bytes(array(bytes)),
            4 => i32::from_le_bytes(array(bytes)) as i64,
            2 => i16::from_le_bytes(array(bytes)) as i64,
            _ => bytes[0] as i64,
        })
    }

    /// Byte offset of a fixed-length column in every row of this layout; `None` for varchar,
    /// nvarchar and varbinary.
    #[inline]
    pub fn fixed_offset(&self, i: usize) -> Option<usize> {
        match self.places[i] {
            Place::Fixed { offset, .. } => Some(offset as usize),
            Place::Variable(_) => None,
        }
    }

    /// Bytes of a fixed-length column.
    #[inline]
    pub fn fixed_len(&self, i: usize) -> Option<usize> {
        match self.places[i] {
            Place::Fixed { len, .. } => Some(len as usize),
            Place::Variable(_) => None,
        }
    }

    /// Smallest possible row: all variable columns empty. A table whose rows cannot be this small
    /// is refused (1701).
    pub fn min_row_bytes(&self) -> usize {
        self.fixed_end + self.columns.len().div_ceil(8) + 2 * self.variable_count
    }

    /// Largest possible row of this layout (variable columns full), not above 8060.
    pub fn max_row_bytes(&self) -> usize {
        (self.min_row_bytes() + self.variable_bytes()).min(ROW_BYTES_MAX)
    }

    /// The variable columns at their fullest, (max) ones counted as a whole row each.
    fn variable_bytes(&self) -> usize {
        self.columns
            .iter()
            .map(|c| match c.ty {
                SqlType::VarChar(Len::N(n)) | SqlType::VarBinary(Len::N(n)) => n as usize,
                SqlType::NVarChar(Len::N(n)) => 2 * n as usize,
                ty if ty.is_max() => ROW_BYTES_MAX,
                SqlType::Variant => VARIANT_BYTES_MAX,
                _ => 0,
            })
            .sum()
    }
}

#[inline]
fn u16_at(row: &[u8], at: usize) -> usize {
    u16::from_le_bytes([row[at], row[at + 1]]) as usize
}
