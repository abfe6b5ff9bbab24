//! Rows of values as bytes, for hash tables and files of the executor's own.
//!
//! Promise: what is decoded is what was encoded, to the rule of a text. Two values have equal bytes exactly when they
//! are the same value, which is finer than SQL's equality. The form is never kept over a restart.
//!
//! ```text
//! value = tag u8, then: nothing (NULL) | the number, little-endian | u32 length and bytes
//! ```

use crate::columns::{Column, Data, cell};
use types::{DateTime, DateTime2, DateTimeOffset, Decimal, SqlType, Text, Value, Variant};

/// Appends a row.
#[inline]
pub(crate) fn encode(row: &[Value], out: &mut Vec<u8>) {
    for value in row {
        encode_value(value, out);
    }
}

/// Appends a value.
#[inline]
pub(crate) fn encode_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(0),
        Value::Bit(v) => out.extend_from_slice(&[1, *v as u8]),
        Value::TinyInt(v) => out.extend_from_slice(&[2, *v]),
        Value::SmallInt(v) => put(3, v.to_le_bytes(), out),
        Value::Int(v) => put(4, v.to_le_bytes(), out),
        Value::BigInt(v) => put(5, v.to_le_bytes(), out),
        Value::Decimal(d) => {
            out.extend_from_slice(&[6, d.precision(), d.scale()]);
            out.extend_from_slice(&d.units().to_le_bytes());
        }
        Value::Money(v) => put(7, v.to_le_bytes(), out),
        Value::Float(v) => put(8, v.to_bits().to_le_bytes(), out),
        Value::Real(v) => put(9, v.to_bits().to_le_bytes(), out),
        Value::Str(text) => {
            put(10, text.rule().bits().to_le_bytes(), out);
            put_bytes(text.as_bytes(), out);
        }
        Value::Binary(bytes) => {
            out.push(11);
            put_bytes(bytes, out);
        }
        Value::Date(v) => put(12, v.to_le_bytes(), out),
        Value::Time(v) => put(13, v.to_le_bytes(), out),
        Value::DateTime(v) => {
            put(14, v.days.to_le_bytes(), out);
            out.extend_from_slice(&v.ticks.to_le_bytes());
        }
        Value::DateTime2(v) => {
            out.push(15);
            put_datetime2(v, out);
        }
        Value::DateTimeOffset(v) => {
            out.push(16);
            put_datetime2(&v.utc, out);
            out.extend_from_slice(&v.offset_minutes.to_le_bytes());
        }
        Value::Guid(v) => put(17, *v, out),
        Value::Variant(v) => {
            let (id, length, precision, scale) = v.ty().to_parts();
            out.extend_from_slice(&[18, id, precision, scale]);
            out.extend_from_slice(&(length as i64).to_le_bytes());
            encode_value(v.value(), out);
        }
        // The whole document, for one node of it: rows of nodes() seldom go to files.
        Value::Node(node) => {
            put(19, node.id().to_le_bytes(), out);
            put_bytes(node.document().write(0).as_bytes(), out);
        }
    }
}

/// Appends a row's value of a column: as [`encode_value`] does it.
#[inline]
pub(crate) fn encode_entry(column: &Column, row: usize, out: &mut Vec<u8>) {
    if column.is_null(row) {
        return out.push(0);
    }
    match (&column.data, column.of.ty) {
        (Data::Units(units), SqlType::Int) => put(4, (units[row] as i32).to_le_bytes(), out),
        (Data::Units(units), SqlType::Date) => put(12, (units[row] as i32).to_le_bytes(), out),
        (Data::Units(units), SqlType::BigInt) => put(5, units[row].to_le_bytes(), out),
        (Data::Units(units), SqlType::Decimal { precision, scale, .. }) => {
            out.extend_from_slice(&[6, precision, scale]);
            out.extend_from_slice(&i128::from(units[row]).to_le_bytes());
        }
        (Data::Texts { bytes, ends }, _) => {
            let text = cell(bytes, ends, row);
            if !text.is_ascii() {
                return encode_value(&column.value(row), out);
            }
            put(10, column.of.rule.bits().to_le_bytes(), out);
            put_bytes(text, out);
        }
        (Data::Values(values), _) => encode_value(&values[row], out),
        _ => encode_value(&column.value(row), out),
    }
}

#[inline]
fn put<const N: usize>(tag: u8, bytes: [u8; N], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&bytes);
}

#[inline]
fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn put_datetime2(v: &DateTime2, out: &mut Vec<u8>) {
    out.extend_from_slice(&v.days.to_le_bytes());
    out.extend_from_slice(&v.ticks.to_le_bytes());
}

/// Appends the `width` values of a row to `out`. Bytes that [`encode`] has not written are a broken invariant.
#[inline]
pub(crate) fn decode(mut bytes: &[u8], width: usize, out: &mut Vec<Value>) {
    for _ in 0..width {
        out.push(decode_value(&mut bytes));
    }
    debug_assert!(bytes.is_empty());
}

#[inline]
fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let (head, rest) = bytes.split_at(N);
    *bytes = rest;
    let mut out = [0; N];
    out.copy_from_slice(head);
    out
}

fn take_bytes<'b>(bytes: &mut &'b [u8]) -> &'b [u8] {
    let len = u32::from_le_bytes(take(bytes)) as usize;
    let (head, rest) = bytes.split_at(len);
    *bytes = rest;
    head
}

fn take_datetime2(bytes: &mut &[u8]) -> DateTime2 {
    let days = i32::from_le_bytes(take(bytes));
    DateTime2 { days, ticks: u64::from_le_bytes(take(bytes)) }
}

/// Takes one value off the front.
#[inline]
pub(crate) fn decode_value(bytes: &mut &[u8]) -> Value {
    match take::<1>(bytes)[0] {
        0 => Value::Null,
        1 => Value::Bit(take::<1>(bytes)[0] != 0),
        2 => Value::TinyInt(take::<1>(bytes)[0]),
        3 => Value::SmallInt(i16::from_le_bytes(take(bytes))),
        4 => Value::Int(i32::from_le_bytes(take(bytes))),
        5 => Value::BigInt(i64::from_le_bytes(take(bytes))),
        6 => {
            let [precision, scale] = take(bytes);
            match Decimal::new(i128::from_le_bytes(take(bytes)), precision, scale) {
                Ok(d) => Value::Decimal(d),
                Err(_) => stdx::fatal!("a decimal of a hash table or sort has too many digits"),
            }
        }
        7 => Value::Money(i64::from_le_bytes(take(bytes))),
        8 => Value::Float(f64::from_bits(u64::from_le_bytes(take(bytes)))),
        9 => Value::Real(f32::from_bits(u32::from_le_bytes(take(bytes)))),
        10 => {
            let rule = types::collation::Rule::from_bits(u16::from_le_bytes(take(bytes)));
            match std::str::from_utf8(take_bytes(bytes)) {
                Ok(text) => Value::Str(Text::new(text).with_rule(rule)),
                Err(_) => stdx::fatal!("a text of a hash table or sort is not UTF-8"),
            }
        }
        11 => Value::binary(take_bytes(bytes)),
        12 => Value::Date(i32::from_le_bytes(take(bytes))),
        13 => Value::Time(u64::from_le_bytes(take(bytes))),
        14 => {
            let days = i32::from_le_bytes(take(bytes));
            Value::DateTime(DateTime { days, ticks: u32::from_le_bytes(take(bytes)) })
        }
        15 => Value::DateTime2(take_datetime2(bytes)),
        16 => {
            let utc = take_datetime2(bytes);
            let offset_minutes = i16::from_le_bytes(take(bytes));
            Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes })
        }
        17 => Value::Guid(take(bytes)),
        18 => {
            let [id, precision, scale] = take(bytes);
            let length = i64::from_le_bytes(take(bytes));
            let ty = SqlType::from_parts(id, length, precision, scale);
            let value = decode_value(bytes);
            match ty.map(|ty| Variant::wrap(value, ty)) {
                Some(Ok(value)) => value,
                _ => stdx::fatal!("a sql_variant of a hash table or sort has an unknown type"),
            }
        }
        19 => {
            let id = u32::from_le_bytes(take(bytes));
            let options = xml::Options { preserve: true, encoding: xml::Encoding::Known };
            let text = std::str::from_utf8(take_bytes(bytes)).ok();
            match text.and_then(|text| xml::parse(text, options).ok()) {
                Some(doc) => Value::Node(xml::NodeRef::at(doc.into(), id)),
                None => stdx::fatal!("an xml of a hash table or sort is not well-formed"),
            }
        }
        tag => stdx::fatal!("a row of a hash table or sort has the tag {tag}"),
    }
}

/// Takes one value off the front, into a column.
#[inline]
pub(crate) fn decode_into(bytes: &mut &[u8], column: &mut Column) {
    match (bytes[0], column.of.ty) {
        (0, _) => {
            *bytes = &bytes[1..];
            column.push_null();
        }
        (4, SqlType::Int) => {
            take::<1>(bytes);
            column.push_units(i32::from_le_bytes(take(bytes)).into());
        }
        (12, SqlType::Date) => {
            take::<1>(bytes);
            column.push_units(i32::from_le_bytes(take(bytes)).into());
        }
        (5, SqlType::BigInt) => {
            take::<1>(bytes);
            column.push_units(i64::from_le_bytes(take(bytes)));
        }
        (6, SqlType::Decimal { precision: p @ 0..=18, scale, .. }) if bytes[1..3] == [p, scale] => {
            take::<3>(bytes);
            column.push_units(i128::from_le_bytes(take(bytes)) as i64);
        }
        _ => column.push_value(decode_value(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_went() {
        let at = DateTime2 { days: 737_000, ticks: 123_456_789 };
        let row = vec![
            Value::Null,
            Value::Bit(true),
            Value::TinyInt(200),
            Value::SmallInt(-3),
            Value::Int(i32::MIN),
            Value::BigInt(i64::MAX),
            Value::Decimal(Decimal::new(-12_345, 9, 2).unwrap()),
            Value::Money(-1),
            Value::Float(-0.0),
            Value::Real(1.5),
            Value::str("short"),
            Value::str(&"long \u{20ac} ".repeat(100)),
            Value::Str(Text::new("Text").with_rule(types::collation::Rule::Bin)),
            Value::binary(&[0, 1, 255]),
            Value::Date(5),
            Value::Time(99),
            Value::DateTime(DateTime { days: -1, ticks: 300 }),
            Value::DateTime2(at),
            Value::DateTimeOffset(DateTimeOffset { utc: at, offset_minutes: -90 }),
            Value::Guid([9; 16]),
            Variant::wrap(Value::str("held"), SqlType::VarChar(types::Len::N(30))).unwrap(),
        ];
        let mut bytes = Vec::new();
        encode(&row, &mut bytes);
        let encoded = bytes.clone();
        let mut back = Vec::new();
        decode(&bytes, row.len(), &mut back);
        assert_eq!(back, row);
        let rule = |v: &Value| v.rule();
        assert!(back.iter().map(rule).eq(row.iter().map(rule)));
        // And into columns, of the values' own types and of others.
        for other in [false, true] {
            let mut columns = crate::columns::Columns::default();
            columns.start(row.len(), |i| {
                let ty = if other { SqlType::Xml } else { row[i].natural_type() };
                crate::columns::Kind::Computed(ty)
            });
            let mut bytes = &bytes[..];
            columns.add_row().iter_mut().for_each(|column| decode_into(&mut bytes, column));
            let mut again = Vec::new();
            (0..row.len() as u32).for_each(|i| encode_entry(columns.column(i), 0, &mut again));
            assert_eq!(&again, &encoded, "{other}");
            back.clear();
            columns.push_row(0, &mut back);
            assert_eq!((&back, bytes.len()), (&row, 0));
        }
    }
}
