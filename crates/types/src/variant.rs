//! sql_variant: a value together with the type it was given as.
//!
//! Two of them compare by the families of their types first (dates and times above approximate numbers, above exact
//! ones, above texts, above binaries, above uniqueidentifiers); within a family by value, in the higher of both types.
//! Hash, sort key and comparison agree, but for texts under different rules: those compare by what both rules meet in, and
//! have each the hash and the key of its own. Source: SQL documentation, "sql_variant", "SQL_VARIANT_PROPERTY".
//!
//! Invariants: what it holds is never NULL (that is [`Value::Null`]), never another variant, never of a (max) type.

use crate::collation::{self, CodePage, Collation, Rule};
use crate::compare::{compare, guid_order, hash_value, trim_zeros};
use crate::{Decimal, Len, SqlType, TypeError, Value};
use std::cmp::Ordering;
use std::hash::Hasher;
use std::sync::Arc;

/// What a sql_variant holds, and as what.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    ty: SqlType,
    value: Value,
}

/// Families, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Family {
    Guid = 1,
    Binary,
    Text,
    Exact,
    Approximate,
    Moment,
}

impl Variant {
    /// May a sql_variant hold values of this type? Not those of (max) types.
    pub fn may_hold(ty: SqlType) -> bool {
        !matches!(
            ty,
            SqlType::Variant
                | SqlType::VarChar(Len::Max)
                | SqlType::NVarChar(Len::Max)
                | SqlType::VarBinary(Len::Max)
                | SqlType::Xml
                | SqlType::TypedXml { .. }
                | SqlType::Clr(_)
        )
    }

    /// The value as a sql_variant; NULL stays NULL, and a variant what it is. 206 for a (max) type.
    pub fn wrap(value: Value, ty: SqlType) -> Result<Value, TypeError> {
        match value {
            Value::Null | Value::Variant(_) => Ok(value),
            value if Variant::may_hold(ty) => Ok(Value::Variant(Arc::new(Variant { ty, value }))),
            _ => Err(TypeError::TypeClash {
                from: ty.to_string().into(),
                to: SqlType::Variant.name().into(),
            }),
        }
    }

    /// The type of what it holds.
    pub fn ty(&self) -> SqlType {
        self.ty
    }

    /// What it holds.
    pub fn value(&self) -> &Value {
        &self.value
    }

    fn family(&self) -> Family {
        match self.ty {
            SqlType::UniqueIdentifier => Family::Guid,
            ty if ty.is_binary() => Family::Binary,
            ty if ty.is_character() => Family::Text,
            SqlType::Float | SqlType::Real => Family::Approximate,
            ty if ty.is_numeric() => Family::Exact,
            _ => Family::Moment,
        }
    }

    /// The order of two of them.
    pub fn compare(&self, other: &Variant) -> Ordering {
        let (a, b) = (self.family(), other.family());
        a.cmp(&b).then_with(|| match a {
            Family::Moment => self.moment().cmp(&other.moment()),
            _ => compare(&self.value, &other.value).unwrap_or(Ordering::Equal),
        })
    }

    /// A date or time as an instant: a time of day is one of 1900-01-01, as when it is converted.
    fn moment(&self) -> (i32, u64) {
        const DAYS_TO_1900: i32 = 693_595;
        match &self.value {
            Value::Date(days) => (*days, 0),
            Value::Time(ticks) => (DAYS_TO_1900, *ticks),
            Value::DateTime(d) => {
                let d = d.to_datetime2();
                (d.days, d.ticks)
            }
            Value::DateTime2(d) => (d.days, d.ticks),
            Value::DateTimeOffset(d) => (d.utc.days, d.utc.ticks),
            _ => (0, 0),
        }
    }

    /// The exact number that it is.
    fn exact(&self) -> Decimal {
        let found = match &self.value {
            Value::Decimal(d) => Some(*d),
            Value::Money(m) => Decimal::new(*m as i128, 19, 4).ok(),
            v => v.as_i64().map(Decimal::from_i64),
        };
        found.unwrap_or_else(|| Decimal::from_i64(0))
    }

    fn approximate(&self) -> f64 {
        match self.value {
            // -0 equals 0.
            Value::Float(f) => f + 0.0,
            Value::Real(f) => f as f64 + 0.0,
            _ => 0.0,
        }
    }

    /// Feeds a hash: equal ones hash equal.
    pub(crate) fn hash<H: Hasher>(&self, state: &mut H) {
        let family = self.family();
        state.write_u8(family as u8);
        match family {
            Family::Exact => {
                let (units, scale) = canonical(self.exact());
                state.write_i128(units);
                state.write_u8(scale);
            }
            Family::Approximate => state.write_u64(self.approximate().to_bits()),
            Family::Moment => {
                let (days, ticks) = self.moment();
                state.write_i32(days);
                state.write_u64(ticks);
            }
            Family::Guid | Family::Binary | Family::Text => hash_value(&self.value, state),
        }
    }

    /// Appends the sort key: memcmp of two keys is [`Variant::compare`]. No key is the beginning of another.
    pub(crate) fn sort_key_into(&self, out: &mut Vec<u8>) {
        let family = self.family();
        out.push(family as u8);
        match (family, &self.value) {
            (Family::Guid, Value::Guid(g)) => out.extend_from_slice(&guid_order(g)),
            (Family::Binary, Value::Binary(bytes)) => {
                for b in trim_zeros(bytes) {
                    out.push(*b);
                    if *b == 0 {
                        out.push(0xff);
                    }
                }
                out.extend_from_slice(&[0, 0]);
            }
            (Family::Text, Value::Str(text)) => match text.rule() {
                Rule::CiAs => collation::sort_key_into(text, out),
                rule => rule.sort_key_into(text, out),
            },
            (Family::Approximate, _) => {
                let bits = self.approximate().to_bits();
                let mask = ((bits as i64 >> 63) as u64) | (1 << 63);
                out.extend_from_slice(&(bits ^ mask).to_be_bytes());
            }
            (Family::Exact, _) => exact_key(self.exact(), out),
            _ => {
                let (days, ticks) = self.moment();
                out.extend_from_slice(&((days as u32) ^ (1 << 31)).to_be_bytes());
                out.extend_from_slice(&ticks.to_be_bytes()[3..]);
            }
        }
    }

    /// SQL_VARIANT_PROPERTY: a text for BaseType and Collation, an int for the others, NULL for what is no property.
    pub fn property(&self, name: &str) -> Value {
        property(self.ty, Some(&self.value), name)
    }
}

/// SQL_VARIANT_PROPERTY of a value of a type; without the value, of any that is not NULL.
pub fn property(ty: SqlType, value: Option<&Value>, name: &str) -> Value {
    let number = |n: i32| Value::Int(n);
    match name.trim().to_ascii_lowercase().as_str() {
        "basetype" => Value::str(ty.name()),
        "precision" => number(match ty {
            SqlType::DateTime => 23,
            SqlType::SmallDateTime => 16,
            SqlType::Float => 53,
            SqlType::Real => 24,
            SqlType::Date => 10,
            SqlType::Time(scale) => of_time(8, scale),
            SqlType::DateTime2(scale) => of_time(19, scale),
            SqlType::DateTimeOffset(scale) => of_time(26, scale),
            ty => ty.as_decimal().map_or(0, |(precision, _)| precision as i32),
        }),
        "scale" => number(match ty {
            SqlType::DateTime => 3,
            SqlType::Time(scale) | SqlType::DateTime2(scale) | SqlType::DateTimeOffset(scale) => {
                i32::from(scale)
            }
            ty => ty.as_decimal().map_or(0, |(_, scale)| scale as i32),
        }),
        "maxlength" => number(match value {
            Some(Value::Decimal(d)) => d.storage_bytes() as i32,
            _ => declared_bytes(ty),
        }),
        "totalbytes" => {
            // Two bytes of type and version, the type's own properties, and the value.
            let held = match value {
                Some(Value::Str(text)) if ty.is_unicode() => 2 * collation::utf16_len(text) as i32,
                Some(Value::Str(text)) => {
                    let page = text.rule().code_page();
                    text.chars().map(|c| page.bytes_of(c)).sum::<usize>() as i32
                }
                Some(Value::Binary(bytes)) => bytes.len() as i32,
                Some(Value::Decimal(d)) => d.storage_bytes() as i32,
                _ => declared_bytes(ty),
            };
            let properties = match ty {
                _ if ty.is_character() => 6,
                _ if ty.is_binary() => 2,
                SqlType::Decimal { .. } => 2,
                SqlType::Time(_) | SqlType::DateTime2(_) | SqlType::DateTimeOffset(_) => 1,
                _ => 0,
            };
            number(2 + properties + held)
        }
        "collation" if ty.is_character() => {
            let rule = value.map_or(Rule::CiAs, Value::rule);
            let kept = !ty.is_unicode() && rule.code_page() != CodePage::Cp1252;
            let found = if kept { Collation::of_rule(rule) } else { Collation::default() };
            Value::str(&found.name())
        }
        _ => Value::Null,
    }
}

/// Characters of a moment's text: those of whole seconds, and the fraction with its point.
fn of_time(whole: i32, scale: u8) -> i32 {
    whole + if scale > 0 { i32::from(scale) + 1 } else { 0 }
}

/// Bytes that a value of the type may take.
fn declared_bytes(ty: SqlType) -> i32 {
    let time = |scale: u8| match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    };
    match ty {
        SqlType::Char(n) | SqlType::Binary(n) => n as i32,
        SqlType::NChar(n) => n as i32 * 2,
        SqlType::VarChar(len) | SqlType::VarBinary(len) => len.limit().min(8000) as i32,
        SqlType::NVarChar(len) => (len.limit().min(4000) * 2) as i32,
        SqlType::Bit | SqlType::TinyInt => 1,
        SqlType::SmallInt => 2,
        SqlType::Int | SqlType::Real | SqlType::SmallMoney | SqlType::SmallDateTime => 4,
        SqlType::Decimal { precision, .. } => match precision {
            0..=9 => 5,
            10..=19 => 9,
            20..=28 => 13,
            _ => 17,
        },
        SqlType::Date => 3,
        SqlType::Time(scale) => time(scale),
        SqlType::DateTime2(scale) => 3 + time(scale),
        SqlType::DateTimeOffset(scale) => 5 + time(scale),
        SqlType::UniqueIdentifier => 16,
        _ => 8,
    }
}

/// Units and scale without zeros at the end.
fn canonical(d: Decimal) -> (i128, u8) {
    let (mut units, mut scale) = (d.units(), d.scale());
    while scale > 0 && units % 10 == 0 {
        units /= 10;
        scale -= 1;
    }
    (units, scale)
}

/// Sign, the place of the first digit, the digits: of a negative number all but the sign inverted.
fn exact_key(d: Decimal, out: &mut Vec<u8>) {
    let (units, scale) = canonical(d);
    match units.signum() {
        0 => return out.push(1),
        sign => out.push((sign + 1) as u8),
    }
    let start = out.len();
    let digits = units.unsigned_abs().to_string();
    let digits = digits.trim_end_matches('0');
    let whole = units.unsigned_abs().ilog10() as i32 + 1 - scale as i32;
    out.push((whole + 64) as u8);
    // Digits from 1, so that the 0 at the end is below each.
    out.extend(digits.bytes().map(|b| b - b'0' + 1));
    out.push(0);
    if units < 0 {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
}
