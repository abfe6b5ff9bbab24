//! Rows on their way by column: of numbers their units, of texts their stored bytes, of the rest values.
//!
//! ```text
//! int, bigint, date, decimal(18), ...    i64 each, in units of the type's scale
//! char, varchar                          bytes as they are stored, one behind the other
//! others                                 values
//! ```
//!
//! Promise: [`Column::value`] is the value that the row's own column has. A column that nobody reads is kept by nobody: its
//! values are NULL. Invariant: a column that is read has an entry for each row, and where it may be NULL a mark.

use types::collation::Rule;
use types::{Decimal, RowColumn, SqlType, Value};

/// Rows of a batch of columns.
pub(crate) const COLUMN_ROWS: usize = 1024;

/// Rows of equal width.
#[derive(Default)]
pub(crate) struct Columns {
    len: usize,
    columns: Vec<Column>,
}

/// One column of a batch.
pub(crate) struct Column {
    pub of: RowColumn,
    pub data: Data,
    /// Texts come as values, not as they are stored.
    computed: bool,
    /// Rows that are NULL; none are where it is empty.
    nulls: Vec<bool>,
}

/// What a column is to hold.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Nothing: nobody reads it.
    Unread,
    /// What is stored in such a column.
    Stored(RowColumn),
    /// Values of a type, of whatever collation.
    Computed(SqlType),
}

/// What a column's rows have; 0 or nothing where they are NULL.
pub(crate) enum Data {
    Unread,
    Units(Vec<i64>),
    Texts { bytes: Vec<u8>, ends: Vec<u32> },
    Values(Vec<Value>),
}

impl Columns {
    /// Empties it. The first time columns are made, as `kind` says.
    pub fn start(&mut self, width: usize, kind: impl Fn(usize) -> Kind) {
        self.len = 0;
        if self.columns.len() == width {
            self.columns.iter_mut().for_each(Column::clear);
            return;
        }
        self.columns = (0..width).map(|i| Column::new(kind(i))).collect();
    }

    /// The columns, each of which then gets as many entries: the rows are closed.
    pub fn add_rows(&mut self, rows: usize) -> &mut [Column] {
        self.len += rows;
        &mut self.columns
    }

    /// Rows in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Columns in it; none before it was started.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The columns, each of which then gets an entry, and the row is closed.
    #[inline]
    pub fn add_row(&mut self) -> &mut [Column] {
        self.len += 1;
        &mut self.columns
    }

    pub fn column(&self, slot: u32) -> &Column {
        &self.columns[slot as usize]
    }

    /// What its rows take, in bytes.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// Appends the values of a row to `out`.
    pub fn push_row(&self, row: usize, out: &mut Vec<Value>) {
        out.extend(self.columns.iter().map(|column| column.value(row)));
    }
}

impl Data {
    fn of(ty: SqlType, computed: bool) -> Data {
        match ty {
            SqlType::Char(_) | SqlType::VarChar(_) if !computed => {
                Data::Texts { bytes: Vec::new(), ends: Vec::new() }
            }
            _ if has_units(ty) => Data::Units(Vec::new()),
            _ => Data::Values(Vec::new()),
        }
    }
}

/// Whether the values of a type are numbers of 64 bits.
fn has_units(ty: SqlType) -> bool {
    match ty {
        // Those of more digits become values where one is met that does not fit.
        SqlType::Decimal { .. } | SqlType::Bit | SqlType::Date => true,
        SqlType::Money | SqlType::SmallMoney => true,
        _ => ty.is_integer(),
    }
}

/// The value of that many units.
fn of_units(ty: SqlType, units: i64) -> Value {
    match ty {
        SqlType::Bit => Value::Bit(units != 0),
        SqlType::TinyInt => Value::TinyInt(units as u8),
        SqlType::SmallInt => Value::SmallInt(units as i16),
        SqlType::Int => Value::Int(units as i32),
        SqlType::Date => Value::Date(units as i32),
        SqlType::Money | SqlType::SmallMoney => Value::Money(units),
        SqlType::Decimal { precision, scale, .. } => {
            match Decimal::new(units.into(), precision, scale) {
                Ok(number) => Value::Decimal(number),
                Err(_) => stdx::fatal!("a column of {ty} has {units} units"),
            }
        }
        _ => Value::BigInt(units),
    }
}

/// The units of a value of such a type.
fn units_of(ty: SqlType, value: &Value) -> Option<i64> {
    match value {
        Value::Decimal(number) if ty.as_decimal() == Some((number.precision(), number.scale())) => {
            i64::try_from(number.units()).ok()
        }
        Value::Date(days) => Some(i64::from(*days)),
        Value::Money(units) => Some(*units),
        value => value.as_i64(),
    }
}

impl Column {
    fn new(kind: Kind) -> Column {
        let (of, computed) = match kind {
            Kind::Stored(of) => (of, false),
            Kind::Computed(ty) => (RowColumn { ty, nullable: true, rule: Rule::CiAs }, true),
            Kind::Unread => {
                (RowColumn { ty: SqlType::Bit, nullable: true, rule: Rule::CiAs }, true)
            }
        };
        let data = match kind {
            Kind::Unread => Data::Unread,
            _ => Data::of(of.ty, computed),
        };
        Column { of, data, computed, nulls: Vec::new() }
    }

    fn bytes(&self) -> usize {
        let own = match &self.data {
            Data::Unread => 0,
            Data::Units(units) => size_of_val(&units[..]),
            Data::Texts { bytes, ends } => bytes.len() + size_of_val(&ends[..]),
            Data::Values(values) => crate::memory::row_bytes(values),
        };
        own + self.nulls.len()
    }

    /// What it holds, where some of its rows may be missing.
    pub fn kind(&self) -> Kind {
        match (&self.data, self.computed) {
            (Data::Unread, _) => Kind::Unread,
            (_, false) => Kind::Stored(RowColumn { nullable: true, ..self.of }),
            (_, true) => Kind::Computed(self.of.ty),
        }
    }

    /// Appends the entries of these rows of a column of the same kind; None: NULL.
    pub fn gather(&mut self, from: &Column, rows: impl Iterator<Item = Option<usize>>) {
        match (&mut self.data, &from.data) {
            (Data::Unread, _) => {}
            (Data::Units(units), Data::Units(all)) => {
                for row in rows {
                    let row = row.filter(|row| !from.is_null(*row));
                    units.push(row.map_or(0, |row| all[row]));
                    self.nulls.push(row.is_none());
                }
            }
            (Data::Texts { bytes, ends }, Data::Texts { bytes: all, ends: of_all })
                if from.of.rule == self.of.rule =>
            {
                for row in rows {
                    let row = row.filter(|row| !from.is_null(*row));
                    bytes.extend_from_slice(row.map_or(&[], |row| cell(all, of_all, row)));
                    ends.push(bytes.len() as u32);
                    self.nulls.push(row.is_none());
                }
            }
            _ => {
                rows.for_each(|row| self.push_value(row.map_or(Value::Null, |row| from.value(row))))
            }
        }
    }

    fn clear(&mut self) {
        self.nulls.clear();
        match &mut self.data {
            Data::Unread => {}
            Data::Units(units) => units.clear(),
            Data::Texts { bytes, ends } => {
                bytes.clear();
                ends.clear();
            }
            // Perhaps only those of the last batch.
            Data::Values(_) => self.data = Data::of(self.of.ty, self.computed),
        }
    }

    /// Keeps the first rows.
    pub fn truncate(&mut self, rows: usize) {
        self.nulls.truncate(rows);
        match &mut self.data {
            Data::Unread => {}
            Data::Units(units) => units.truncate(rows),
            Data::Texts { bytes, ends } => {
                ends.truncate(rows);
                bytes.truncate(ends.last().map_or(0, |end| *end as usize));
            }
            Data::Values(values) => values.truncate(rows),
        }
    }

    #[inline]
    fn mark(&mut self, null: bool) {
        if self.of.nullable {
            self.nulls.push(null);
        }
    }

    #[inline]
    pub fn push_units(&mut self, n: i64) {
        self.mark(false);
        match &mut self.data {
            Data::Units(units) => units.push(n),
            Data::Values(values) => values.push(of_units(self.of.ty, n)),
            _ => stdx::fatal!("a column of {} gets units", self.of.ty),
        }
    }

    /// Appends units, those that are marked being NULL, and 0. False, and nothing done, where the column has values instead.
    #[inline]
    pub fn push_all(
        &mut self,
        units: impl Iterator<Item = i64>,
        nulls: impl Iterator<Item = bool>,
    ) -> bool {
        let Data::Units(all) = &mut self.data else { return false };
        all.extend(units);
        if self.of.nullable {
            self.nulls.extend(nulls);
        }
        true
    }

    /// A text as it is stored.
    #[inline]
    pub fn push_text(&mut self, cell: &[u8]) {
        self.mark(false);
        match &mut self.data {
            Data::Texts { bytes, ends } => {
                bytes.extend_from_slice(cell);
                ends.push(bytes.len() as u32);
            }
            Data::Values(values) => values.push(self.of.value(cell)),
            _ => stdx::fatal!("a column of {} gets a text", self.of.ty),
        }
    }

    pub fn push_null(&mut self) {
        self.mark(true);
        match &mut self.data {
            Data::Unread => {}
            Data::Units(units) => units.push(0),
            Data::Texts { bytes, ends } => ends.push(bytes.len() as u32),
            Data::Values(values) => values.push(Value::Null),
        }
    }

    /// A value that is not had from a stored cell.
    pub fn push_value(&mut self, value: Value) {
        if value.is_null() {
            return self.push_null();
        }
        match &mut self.data {
            Data::Unread => return,
            Data::Units(_) => {
                if let Some(units) = units_of(self.of.ty, &value) {
                    return self.push_units(units);
                }
                self.become_values();
            }
            Data::Texts { .. } => self.become_values(),
            Data::Values(_) => {}
        }
        self.mark(false);
        if let Data::Values(values) = &mut self.data {
            values.push(value);
        }
    }

    #[cold]
    fn become_values(&mut self) {
        let len = match &self.data {
            Data::Units(units) => units.len(),
            Data::Texts { ends, .. } => ends.len(),
            _ => return,
        };
        self.data = Data::Values((0..len).map(|row| self.value(row)).collect());
    }

    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.get(row).is_some_and(|null| *null)
    }

    /// Which rows are NULL; empty: none.
    pub fn nulls(&self) -> &[bool] {
        &self.nulls
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> Value {
        match &self.data {
            Data::Unread => Value::Null,
            _ if self.is_null(row) => Value::Null,
            Data::Units(units) => of_units(self.of.ty, units[row]),
            Data::Texts { bytes, ends } => self.of.value(cell(bytes, ends, row)),
            Data::Values(values) => values[row].clone(),
        }
    }
}

/// A row's bytes of a column of texts.
#[inline]
pub(crate) fn cell<'b>(bytes: &'b [u8], ends: &[u32], row: usize) -> &'b [u8] {
    let from = row.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[from as usize..ends[row] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Len;

    fn columns(ty: SqlType, nullable: bool) -> Columns {
        let mut columns = Columns::default();
        columns.start(1, |_| Kind::Stored(RowColumn { ty, nullable, rule: Rule::CiAs }));
        columns
    }

    #[test]
    fn values_come_back_whichever_way_they_went() {
        let number = |n, p, s| Value::Decimal(Decimal::new(n, p, s).unwrap());
        let cases = [
            (SqlType::Int, Value::Int(-5)),
            (SqlType::Bit, Value::Bit(true)),
            (SqlType::Date, Value::Date(730_000)),
            (SqlType::Money, Value::Money(-12_345)),
            (SqlType::decimal(15, 2), number(-1_234, 15, 2)),
            (SqlType::decimal(30, 2), number(10i128.pow(29), 30, 2)),
            (SqlType::VarChar(Len::N(9)), Value::str("abc")),
            (SqlType::Float, Value::Float(0.5)),
        ];
        for (ty, value) in cases {
            let mut all = columns(ty, true);
            for value in [&value, &Value::Null, &value] {
                all.add_row()[0].push_value(value.clone());
            }
            let found: Vec<Value> = (0..3).map(|row| all.column(0).value(row)).collect();
            assert_eq!(found, [value.clone(), Value::Null, value.clone()], "{ty}");
            // And in the next batch.
            all.start(1, |_| unreachable!());
            all.add_row()[0].push_value(value.clone());
            assert_eq!(all.column(0).value(0), value, "{ty}");
        }
    }

    #[test]
    fn rows_are_gathered_with_gaps() {
        for ty in [SqlType::Int, SqlType::VarChar(Len::N(9)), SqlType::Float] {
            let mut all = columns(ty, true);
            let value = |n: i32| match ty {
                SqlType::Int => Value::Int(n),
                SqlType::Float => Value::Float(n.into()),
                _ => Value::str(&n.to_string()),
            };
            (0..5).for_each(|n| all.add_row()[0].push_value(value(n)));
            all.add_row()[0].push_null();
            for kind in [all.column(0).kind(), Kind::Computed(ty)] {
                let mut some = Columns::default();
                some.start(1, |_| kind);
                let rows = [Some(3), None, Some(0), Some(5)];
                some.add_rows(4)[0].gather(all.column(0), rows.into_iter());
                let found: Vec<Value> = (0..4).map(|row| some.column(0).value(row)).collect();
                assert_eq!(found, [value(3), Value::Null, value(0), Value::Null], "{ty}");
            }
        }
    }

    #[test]
    fn stored_cells_and_values_of_one_column_mix() {
        let mut all = columns(SqlType::VarChar(Len::N(9)), true);
        all.add_row()[0].push_text(b"ab");
        all.add_row()[0].push_null();
        all.add_row()[0].push_value(Value::str("later"));
        all.add_row()[0].push_text(b"cd");
        let mut rows = Vec::new();
        (0..4).for_each(|row| all.push_row(row, &mut rows));
        assert_eq!(rows, [Value::str("ab"), Value::Null, Value::str("later"), Value::str("cd")]);
    }
}
