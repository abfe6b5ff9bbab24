//! One value of a row, a variable or an expression.
//!
//! A value knows its kind, not its declared type: `SmallMoney` is [`Value::Money`], `SmallDateTime`
//! is [`Value::DateTime`], all character types are [`Value::Str`] and both binary types are
//! [`Value::Binary`]. The declared type travels beside it, as a [`crate::SqlType`] in the plan.

use crate::datetime::{DateTime, DateTime2, DateTimeOffset};
use crate::{Bytes, Decimal, SqlType, Text};

/// A T-SQL value, at most 32 bytes. `PartialEq` is structural (for tests and caches): SQL's
/// three-valued comparison is [`crate::compare::compare`]. The first byte says the kind (`repr(u8)`): machine code reads
/// it (crate `native`).
#[repr(u8)]
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    #[default]
    Null,
    Bit(bool),
    TinyInt(u8),
    SmallInt(i16),
    Int(i32),
    BigInt(i64),
    Decimal(Decimal),
    /// MONEY and SMALLMONEY in units of 1/10000.
    Money(i64),
    Float(f64),
    Real(f32),
    Str(Text),
    Binary(Bytes),
    /// Days since 0001-01-01.
    Date(i32),
    /// 100 ns ticks since midnight.
    Time(u64),
    /// DATETIME and SMALLDATETIME.
    DateTime(DateTime),
    DateTime2(DateTime2),
    DateTimeOffset(DateTimeOffset),
    /// Bytes as SQL Server stores and casts them: the first three groups little-endian.
    Guid([u8; 16]),
    /// SQL_VARIANT.
    Variant(std::sync::Arc<crate::Variant>),
    /// A node of a parsed xml, as nodes() yields it; all other xml is [`Value::Str`].
    Node(xml::NodeRef),
}

const _: () = assert!(std::mem::size_of::<Value>() <= 32);

impl Value {
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// A character value.
    pub fn str(text: &str) -> Self {
        Value::Str(Text::new(text))
    }

    /// A binary value.
    pub fn binary(bytes: &[u8]) -> Self {
        Value::Binary(Bytes::new(bytes))
    }

    /// The integer inside a bit, tinyint, smallint, int or bigint.
    #[inline]
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::Bit(v) => Some(v as i64),
            Value::TinyInt(v) => Some(v as i64),
            Value::SmallInt(v) => Some(v as i64),
            Value::Int(v) => Some(v as i64),
            Value::BigInt(v) => Some(v),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The rule that a text goes by; the usual one for anything else.
    pub fn rule(&self) -> crate::collation::Rule {
        match self {
            Value::Str(text) => text.rule(),
            _ => crate::collation::Rule::CiAs,
        }
    }

    /// The most natural declared type of this value: what a literal of it would have. Null is int,
    /// as the bare literal NULL in SQL Server.
    pub fn natural_type(&self) -> SqlType {
        SqlType::natural(self)
    }
}

impl From<i32> for Value {
    fn from(v: i32) -> Self {
        Value::Int(v)
    }
}
impl From<i64> for Value {
    fn from(v: i64) -> Self {
        Value::BigInt(v)
    }
}
impl From<bool> for Value {
    fn from(v: bool) -> Self {
        Value::Bit(v)
    }
}
impl From<f64> for Value {
    fn from(v: f64) -> Self {
        Value::Float(v)
    }
}
impl From<&str> for Value {
    fn from(v: &str) -> Self {
        Value::str(v)
    }
}
impl From<Decimal> for Value {
    fn from(v: Decimal) -> Self {
        Value::Decimal(v)
    }
}
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(v: Option<T>) -> Self {
        v.map_or(Value::Null, Into::into)
    }
}
