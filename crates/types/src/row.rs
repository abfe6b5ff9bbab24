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

mod project;

pub use project::Projection;

use crate::collation::units;
use crate::collation::{CodePage, Rule, from_cp1252, to_cp1252};
use crate::decimal::POW10;
use crate::{Bytes, DateTime, DateTime2, DateTimeOffset, Decimal, Len, SqlType, Text};
use crate::{TypeError, Value, Variant};

/// Largest row in bytes.
pub const ROW_BYTES_MAX: usize = 8060;

const HEADER_BYTES: usize = 4;

/// Before the value of a sql_variant.
const VARIANT_HEADER_BYTES: usize = 5;

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

/// One column of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowColumn {
    pub ty: SqlType,
    pub nullable: bool,
    /// How its texts compare: what is read of them goes by it.
    pub rule: Rule,
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

/// Bytes a fixed-length type takes in a row; `None` for varchar, nvarchar, varbinary.
pub fn fixed_bytes(ty: SqlType) -> Option<usize> {
    Some(match ty {
        SqlType::Bit | SqlType::TinyInt => 1,
        SqlType::SmallInt => 2,
        SqlType::Int | SqlType::SmallMoney | SqlType::Real | SqlType::Date => 4,
        SqlType::SmallDateTime => 4,
        SqlType::BigInt | SqlType::Money | SqlType::Float | SqlType::DateTime => 8,
        SqlType::Decimal { precision, .. } => match precision {
            0..=9 => 4,
            10..=18 => 8,
            _ => 16,
        },
        SqlType::Char(n) | SqlType::Binary(n) => n as usize,
        SqlType::NChar(n) => n as usize * 2,
        SqlType::Time(_) => 5,
        SqlType::DateTime2(_) => 8,
        SqlType::DateTimeOffset(_) => 10,
        SqlType::UniqueIdentifier => 16,
        SqlType::VarChar(_)
        | SqlType::NVarChar(_)
        | SqlType::VarBinary(_)
        | SqlType::Variant
        | SqlType::Xml
        | SqlType::TypedXml { .. }
        | SqlType::Clr(_) => return None,
    })
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

#[inline]
fn u16_at(row: &[u8], at: usize) -> usize {
    u16::from_le_bytes([row[at], row[at + 1]]) as usize
}

#[inline]
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}

/// Writes a value of type `ty` into its fixed cell; NULL is zeros.
fn put_fixed(ty: SqlType, rule: Rule, value: &Value, cell: &mut [u8]) {
    match (ty, value) {
        (_, Value::Null) => cell.fill(0),
        (SqlType::Bit, Value::Bit(v)) => cell[0] = *v as u8,
        (SqlType::TinyInt, Value::TinyInt(v)) => cell[0] = *v,
        (SqlType::SmallInt, Value::SmallInt(v)) => cell.copy_from_slice(&v.to_le_bytes()),
        (SqlType::Int, Value::Int(v)) => cell.copy_from_slice(&v.to_le_bytes()),
        (SqlType::BigInt, Value::BigInt(v)) => cell.copy_from_slice(&v.to_le_bytes()),
        (SqlType::Decimal { precision, scale, .. }, Value::Decimal(d)) => {
            let fits = d.units().unsigned_abs() < POW10[precision as usize].unsigned_abs();
            assert!(
                d.scale() == scale && fits,
                "{d:?} in a {ty} column: the plan forgot to convert"
            );
            cell.copy_from_slice(&d.units().to_le_bytes()[..cell.len()]);
        }
        (SqlType::Money, Value::Money(v)) => cell.copy_from_slice(&v.to_le_bytes()),
        (SqlType::SmallMoney, Value::Money(v)) => cell.copy_from_slice(&(*v as i32).to_le_bytes()),
        (SqlType::Float, Value::Float(v)) => cell.copy_from_slice(&v.to_bits().to_le_bytes()),
        (SqlType::Real, Value::Real(v)) => cell.copy_from_slice(&v.to_bits().to_le_bytes()),
        (SqlType::Char(_), Value::Str(text)) => {
            let used = put_text(text, rule, cell);
            cell[used..].fill(b' ');
        }
        (SqlType::NChar(_), Value::Str(text)) => {
            let mut units = units::units(text);
            for pair in cell.chunks_exact_mut(2) {
                pair.copy_from_slice(&units.next().unwrap_or(b' ' as u16).to_le_bytes());
            }
        }
        (SqlType::Binary(_), Value::Binary(bytes)) => {
            let used = bytes.len().min(cell.len());
            cell[..used].copy_from_slice(&bytes[..used]);
            cell[used..].fill(0);
        }
        (SqlType::Date, Value::Date(days)) => cell.copy_from_slice(&days.to_le_bytes()),
        (SqlType::Time(_), Value::Time(ticks)) => cell.copy_from_slice(&ticks.to_le_bytes()[..5]),
        (SqlType::DateTime, Value::DateTime(d)) => {
            cell[..4].copy_from_slice(&d.days.to_le_bytes());
            cell[4..].copy_from_slice(&d.ticks.to_le_bytes());
        }
        (SqlType::SmallDateTime, Value::DateTime(d)) => {
            cell[..2].copy_from_slice(&(d.days as u16).to_le_bytes());
            cell[2..]
                .copy_from_slice(&((d.ticks / DateTime::TICKS_PER_MINUTE) as u16).to_le_bytes());
        }
        (SqlType::DateTime2(_), Value::DateTime2(d)) => put_datetime2(*d, cell),
        (SqlType::DateTimeOffset(_), Value::DateTimeOffset(d)) => {
            put_datetime2(d.utc, &mut cell[..8]);
            cell[8..].copy_from_slice(&d.offset_minutes.to_le_bytes());
        }
        (SqlType::UniqueIdentifier, Value::Guid(g)) => cell.copy_from_slice(g),
        (ty, value) => panic!("a {ty} column is given {value:?}: the plan forgot to convert"),
    }
}

/// 5 bytes of ticks, 3 of days.
fn put_datetime2(d: DateTime2, cell: &mut [u8]) {
    cell[..5].copy_from_slice(&d.ticks.to_le_bytes()[..5]);
    cell[5..8].copy_from_slice(&d.days.to_le_bytes()[..3]);
}

fn put_text(text: &str, rule: Rule, cell: &mut [u8]) -> usize {
    if text.is_ascii() {
        let used = text.len().min(cell.len());
        cell[..used].copy_from_slice(&text.as_bytes()[..used]);
        return used;
    }
    if rule.code_page() != CodePage::Cp1252 {
        let mut bytes = Vec::new();
        rule.code_page().encode_into(text, &mut bytes);
        let used = bytes.len().min(cell.len());
        cell[..used].copy_from_slice(&bytes[..used]);
        return used;
    }
    let mut used = 0;
    for (slot, c) in cell.iter_mut().zip(text.chars()) {
        *slot = to_cp1252(c).unwrap_or(b'?');
        used += 1;
    }
    used
}

fn put_variable(ty: SqlType, rule: Rule, value: &Value, out: &mut Vec<u8>) {
    match (ty, value) {
        (_, Value::Null) => {}
        (SqlType::VarChar(_), Value::Str(text)) => {
            if text.is_ascii() {
                out.extend_from_slice(text.as_bytes());
            } else if rule.code_page() != CodePage::Cp1252 {
                rule.code_page().encode_into(text, out);
            } else {
                out.extend(text.chars().map(|c| to_cp1252(c).unwrap_or(b'?')));
            }
        }
        (SqlType::NVarChar(_) | SqlType::Xml | SqlType::TypedXml { .. }, Value::Str(text)) => {
            units::units(text).for_each(|unit| out.extend_from_slice(&unit.to_le_bytes()));
        }
        (SqlType::VarBinary(_) | SqlType::Clr(_), Value::Binary(bytes)) => {
            out.extend_from_slice(bytes);
        }
        (SqlType::Variant, Value::Variant(v)) => put_variant(v, out),
        (ty, value) => panic!("a {ty} column is given {value:?}: the plan forgot to convert"),
    }
}

impl RowColumn {
    /// The value of a column in stored bytes, under the column's rule.
    #[inline]
    pub fn value(&self, cell: &[u8]) -> Value {
        if self.rule == Rule::CiAs {
            return get_value(self.ty, cell);
        }
        let page = self.rule.code_page();
        let apart = page != CodePage::Cp1252 && self.ty.is_character() && !self.ty.is_unicode();
        let value = match apart && !cell.is_ascii() {
            true => Value::Str(page.decode(cell).into()),
            false => get_value(self.ty, cell),
        };
        match value {
            Value::Str(text) => Value::Str(text.with_rule(self.rule)),
            other => other,
        }
    }
}

/// The value of type `ty` in stored bytes.
fn get_value(ty: SqlType, cell: &[u8]) -> Value {
    match ty {
        SqlType::Bit => Value::Bit(cell[0] != 0),
        SqlType::TinyInt => Value::TinyInt(cell[0]),
        SqlType::SmallInt => Value::SmallInt(i16::from_le_bytes(array(cell))),
        SqlType::Int => Value::Int(i32::from_le_bytes(array(cell))),
        SqlType::BigInt => Value::BigInt(i64::from_le_bytes(array(cell))),
        SqlType::Decimal { precision, scale, .. } => {
            let units = match cell.len() {
                4 => i32::from_le_bytes(array(cell)) as i128,
                8 => i64::from_le_bytes(array(cell)) as i128,
                _ => i128::from_le_bytes(array(cell)),
            };
            match Decimal::new(units, precision, scale) {
                Ok(d) => Value::Decimal(d),
                Err(_) => panic!("a stored decimal({precision},{scale}) has too many digits"),
            }
        }
        SqlType::Money => Value::Money(i64::from_le_bytes(array(cell))),
        SqlType::SmallMoney => Value::Money(i32::from_le_bytes(array(cell)) as i64),
        SqlType::Float => Value::Float(f64::from_bits(u64::from_le_bytes(array(cell)))),
        SqlType::Real => Value::Real(f32::from_bits(u32::from_le_bytes(array(cell)))),
        SqlType::Char(_) | SqlType::VarChar(_) => Value::Str(get_cp1252(cell)),
        SqlType::NChar(_) | SqlType::NVarChar(_) | SqlType::Xml | SqlType::TypedXml { .. } => {
            let units = cell.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            Value::Str(units::from_units(units).into())
        }
        SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::Clr(_) => {
            Value::Binary(Bytes::new(cell))
        }
        SqlType::Date => Value::Date(i32::from_le_bytes(array(cell))),
        SqlType::Time(_) => Value::Time(get_uint(cell)),
        SqlType::DateTime => Value::DateTime(DateTime {
            days: i32::from_le_bytes(array(&cell[..4])),
            ticks: u32::from_le_bytes(array(&cell[4..])),
        }),
        SqlType::SmallDateTime => Value::DateTime(DateTime {
            days: u16::from_le_bytes(array(&cell[..2])) as i32,
            ticks: u16::from_le_bytes(array(&cell[2..])) as u32 * DateTime::TICKS_PER_MINUTE,
        }),
        SqlType::DateTime2(_) => Value::DateTime2(get_datetime2(cell)),
        SqlType::DateTimeOffset(_) => Value::DateTimeOffset(DateTimeOffset {
            utc: get_datetime2(&cell[..8]),
            offset_minutes: i16::from_le_bytes(array(&cell[8..])),
        }),
        SqlType::UniqueIdentifier => Value::Guid(array(cell)),
        SqlType::Variant => get_variant(cell),
    }
}

/// A sql_variant: [`SqlType::to_parts`] in 5 bytes (id, length, precision, scale), then the value as a cell of its type. In
/// place of precision and scale a text in another code page than 1252 has its rule, which says how it is read.
fn put_variant(variant: &Variant, out: &mut Vec<u8>) {
    let (id, length, mut precision, mut scale) = variant.ty().to_parts();
    let rule = rule_within(variant);
    if rule != Rule::CiAs {
        [precision, scale] = rule.bits().to_le_bytes();
    }
    out.push(id);
    out.extend_from_slice(&(length as i16).to_le_bytes());
    out.extend_from_slice(&[precision, scale]);
    match fixed_bytes(variant.ty()) {
        Some(n) => {
            let start = out.len();
            out.resize(start + n, 0);
            put_fixed(variant.ty(), rule, variant.value(), &mut out[start..]);
        }
        None => put_variable(variant.ty(), rule, variant.value(), out),
    }
}

/// The rule of a varchar in another code page than 1252; that of all else is not kept.
fn rule_within(variant: &Variant) -> Rule {
    let rule = variant.value().rule();
    let is_apart = variant.ty().is_character()
        && !variant.ty().is_unicode()
        && rule.code_page() != CodePage::Cp1252;
    if is_apart { rule } else { Rule::CiAs }
}

fn get_variant(cell: &[u8]) -> Value {
    // NULL is no cell; an empty one is what a NULL column has.
    let Some((head, rest)) = cell.split_at_checked(VARIANT_HEADER_BYTES) else {
        return Value::Null;
    };
    let length = i16::from_le_bytes([head[1], head[2]]) as i64;
    match SqlType::from_parts(head[0], length, head[3], head[4]) {
        Some(ty) => match Variant::wrap(value_within(ty, [head[3], head[4]], rest), ty) {
            Ok(value) => value,
            Err(_) => panic!("a stored sql_variant holds a {ty}"),
        },
        None => panic!("a stored sql_variant of unknown type {}", head[0]),
    }
}

/// What a sql_variant holds as `ty`, with the two bytes before it.
fn value_within(ty: SqlType, bits: [u8; 2], cell: &[u8]) -> Value {
    match ty {
        SqlType::Char(_) | SqlType::VarChar(_) => {
            let rule = Rule::from_bits(u16::from_le_bytes(bits));
            RowColumn { ty, nullable: true, rule }.value(cell)
        }
        _ => get_value(ty, cell),
    }
}

fn get_uint(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | *b as u64)
}

fn get_datetime2(cell: &[u8]) -> DateTime2 {
    DateTime2 { days: get_uint(&cell[5..8]) as i32, ticks: get_uint(&cell[..5]) }
}

fn get_cp1252(cell: &[u8]) -> Text {
    match std::str::from_utf8(cell) {
        Ok(text) if cell.is_ascii() => Text::new(text),
        _ => Text::from(cell.iter().map(|b| from_cp1252(*b)).collect::<String>()),
    }
}
