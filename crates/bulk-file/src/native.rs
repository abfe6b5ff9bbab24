//! What the bytes of a field say: text, or a value as SQL Server keeps it.
//!
//! Native values are those of the wire protocol ([`types::wire`]) but for decimal: u8 precision, u8 scale, u8 sign (1:
//! positive), 16 bytes of magnitude, little endian.

use crate::CodePage;
use types::{Decimal, SqlType, Value};

/// What the bytes of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Text in the file's code page.
    Char,
    /// Text in UTF-16.
    Wide,
    /// A value of this type.
    Native(SqlType),
}

/// Bytes that are no such value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadField;

impl Storage {
    /// How a column's values are stored natively; `wide`: text in UTF-16 whatever its type. None for sql_variant.
    pub fn of(ty: SqlType, wide: bool) -> Option<Storage> {
        Some(match ty {
            SqlType::Char(_) | SqlType::VarChar(_) if !wide => Storage::Char,
            ty if ty.is_xml() => Storage::Wide,
            _ if ty.is_character() => Storage::Wide,
            SqlType::Variant => return None,
            ty => Storage::Native(ty),
        })
    }

    pub fn is_wide(self) -> bool {
        self == Storage::Wide
    }

    /// The value of a field. An empty text is NULL; a single NUL is an empty text, as bcp writes it.
    pub fn value(self, bytes: &[u8], page: CodePage) -> Result<Value, BadField> {
        let text = match self {
            Storage::Native(ty) => return native(ty, bytes).ok_or(BadField),
            Storage::Char => page.text(bytes).ok_or(BadField)?,
            Storage::Wide => utf16(bytes)?,
        };
        Ok(match text.as_str() {
            "" => Value::Null,
            "\0" => Value::str(""),
            text => Value::str(text),
        })
    }

    /// The same where a length stands in front: an empty text is one.
    pub fn prefixed(self, bytes: &[u8], page: CodePage) -> Result<Value, BadField> {
        match (self, bytes) {
            (Storage::Char | Storage::Wide, []) => Ok(Value::str("")),
            _ => self.value(bytes, page),
        }
    }
}

/// Bytes of the prefix that bcp -n writes for a column, and of the value where there is no prefix.
pub fn native_prefix(ty: SqlType, nullable: bool) -> (u8, usize) {
    let fixed = |bytes: usize| if nullable { (1, bytes) } else { (0, bytes) };
    match ty {
        SqlType::TinyInt => fixed(1),
        SqlType::SmallInt => fixed(2),
        SqlType::Int | SqlType::Real | SqlType::SmallMoney | SqlType::SmallDateTime => fixed(4),
        SqlType::BigInt | SqlType::Float | SqlType::Money | SqlType::DateTime => fixed(8),
        ty if ty.is_max() => (8, 0),
        SqlType::Char(_)
        | SqlType::VarChar(_)
        | SqlType::NChar(_)
        | SqlType::NVarChar(_)
        | SqlType::Binary(_)
        | SqlType::VarBinary(_)
        | SqlType::Clr(_) => (2, 0),
        SqlType::Variant | SqlType::Xml | SqlType::TypedXml { .. } => (4, 0),
        SqlType::Bit
        | SqlType::Decimal { .. }
        | SqlType::UniqueIdentifier
        | SqlType::Date
        | SqlType::Time(_)
        | SqlType::DateTime2(_)
        | SqlType::DateTimeOffset(_) => (1, 0),
    }
}

fn utf16(bytes: &[u8]) -> Result<String, BadField> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    if !odd.is_empty() {
        return Err(BadField);
    }
    let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    Ok(String::from_utf16_lossy(&units))
}

fn native(ty: SqlType, bytes: &[u8]) -> Option<Value> {
    match ty {
        SqlType::Decimal { .. } => decimal(bytes),
        // Of these there is a longer or shorter one, which is another type.
        SqlType::Real
        | SqlType::Float
        | SqlType::Money
        | SqlType::SmallMoney
        | SqlType::DateTime
        | SqlType::SmallDateTime
            if bytes.len() != native_prefix(ty, false).1 =>
        {
            None
        }
        ty => types::wire::value(ty, bytes),
    }
}

fn decimal(bytes: &[u8]) -> Option<Value> {
    let [precision, scale, sign, magnitude @ ..] = bytes else { return None };
    let units = i128::try_from(u128::from_le_bytes(magnitude.try_into().ok()?)).ok()?;
    if !(1..=38).contains(precision) || scale > precision || *sign > 1 {
        return None;
    }
    let units = if *sign == 1 { units } else { -units };
    Some(Value::Decimal(Decimal::new(units, *precision, *scale).ok()?))
}
