//! A value as the bytes of its column in a row, and back: a fixed cell, or what lies in the variable part.
//!
//! Invariants: numbers are little-endian; a fixed cell is always full, a NULL in one all zeros; text of char and varchar is
//! in its collation's code page, all other text UTF-16. A value that is not of its column's type is a broken plan: it
//! panics.

use crate::collation::units;
use crate::collation::{CodePage, Rule, from_cp1252, to_cp1252};
use crate::decimal::POW10;
use crate::{Bytes, DateTime, DateTime2, DateTimeOffset, Decimal, SqlType, Text, Value, Variant};

/// One column of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowColumn {
    pub ty: SqlType,
    pub nullable: bool,
    /// How its texts compare: what is read of them goes by it.
    pub rule: Rule,
}

/// Before the value of a sql_variant.
pub(super) const VARIANT_HEADER_BYTES: usize = 5;

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

/// Writes a value of type `ty` into its fixed cell; NULL is zeros.
pub(super) fn put_fixed(ty: SqlType, rule: Rule, value: &Value, cell: &mut [u8]) {
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

pub(super) fn put_variable(ty: SqlType, rule: Rule, value: &Value, out: &mut Vec<u8>) {
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

#[inline]
pub(super) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}
