//! What the bytes of a field say: text, or a value as SQL Server keeps it.
//!
//! Native values are those of the wire protocol (MS-TDS 2.2.5.5) but for decimal, which carries its precision and scale
//! in front. Little endian throughout.
//!
//! ```text
//! int types 1, 2, 4, 8      real 4, float 8      money u32 high, u32 low; smallmoney 4
//! datetime i32 days since 1900, u32 1/300 s; smalldatetime u16 days, u16 minutes
//! decimal u8 precision, u8 scale, u8 sign (1: positive), 16 of magnitude
//! date 3; time 3 to 5; datetime2 time, date; datetimeoffset time, date (UTC), i16 minutes
//! ```

use crate::CodePage;
use types::{DateTime, DateTime2, DateTimeOffset, Decimal, Len, SqlType, Value};

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
        SqlType::VarChar(Len::Max) | SqlType::NVarChar(Len::Max) | SqlType::VarBinary(Len::Max) => {
            (8, 0)
        }
        SqlType::Char(_)
        | SqlType::VarChar(_)
        | SqlType::NChar(_)
        | SqlType::NVarChar(_)
        | SqlType::Binary(_)
        | SqlType::VarBinary(_) => (2, 0),
        SqlType::Variant => (4, 0),
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
    Some(match ty {
        SqlType::Bit => Value::Bit(integer(bytes)? != 0),
        SqlType::TinyInt => Value::TinyInt(integer(bytes)?.try_into().ok()?),
        SqlType::SmallInt => Value::SmallInt(integer(bytes)?.try_into().ok()?),
        SqlType::Int => Value::Int(integer(bytes)?.try_into().ok()?),
        SqlType::BigInt => Value::BigInt(integer(bytes)?),
        SqlType::Real => {
            Value::Real(finite(f32::from_le_bytes(bytes.try_into().ok()?).into())? as f32)
        }
        SqlType::Float => Value::Float(finite(f64::from_le_bytes(bytes.try_into().ok()?))?),
        SqlType::SmallMoney => Value::Money(i32::from_le_bytes(bytes.try_into().ok()?).into()),
        SqlType::Money => {
            let (high, low) = bytes.split_first_chunk::<4>()?;
            let low = u32::from_le_bytes(low.try_into().ok()?);
            Value::Money(i64::from(i32::from_le_bytes(*high)) << 32 | i64::from(low))
        }
        SqlType::Decimal { .. } => {
            let [precision, scale, sign, magnitude @ ..] = bytes else { return None };
            let units = i128::try_from(u128::from_le_bytes(magnitude.try_into().ok()?)).ok()?;
            if !(1..=38).contains(precision) || scale > precision || *sign > 1 {
                return None;
            }
            let units = if *sign == 1 { units } else { -units };
            Value::Decimal(Decimal::new(units, *precision, *scale).ok()?)
        }
        SqlType::SmallDateTime => {
            let (days, minutes) = bytes.split_first_chunk::<2>()?;
            let minutes = u16::from_le_bytes(minutes.try_into().ok()?);
            let days = i32::from(u16::from_le_bytes(*days));
            let ticks = u32::from(minutes) * DateTime::TICKS_PER_MINUTE;
            Value::DateTime((minutes < 1440).then_some(DateTime { days, ticks })?)
        }
        SqlType::DateTime => {
            let (days, ticks) = bytes.split_first_chunk::<4>()?;
            let ticks = u32::from_le_bytes(ticks.try_into().ok()?);
            let at = DateTime { days: i32::from_le_bytes(*days), ticks };
            (ticks < DateTime::TICKS_PER_DAY).then_some(())?;
            Value::DateTime(DateTime::from_total_ticks(at.total_ticks())?)
        }
        SqlType::Date => Value::Date(date(bytes)?),
        SqlType::Time(scale) => Value::Time(time(bytes, scale)?),
        SqlType::DateTime2(scale) => Value::DateTime2(datetime2(bytes, scale)?),
        SqlType::DateTimeOffset(scale) => {
            let (at, offset) = bytes.split_last_chunk::<2>()?;
            let offset_minutes = i16::from_le_bytes(*offset);
            (-840..=840).contains(&offset_minutes).then_some(())?;
            Value::DateTimeOffset(DateTimeOffset { utc: datetime2(at, scale)?, offset_minutes })
        }
        SqlType::UniqueIdentifier => Value::Guid(bytes.try_into().ok()?),
        SqlType::Binary(_) | SqlType::VarBinary(_) => Value::binary(bytes),
        SqlType::Char(_)
        | SqlType::VarChar(_)
        | SqlType::NChar(_)
        | SqlType::NVarChar(_)
        | SqlType::Variant => return None,
    })
}

/// 1 byte without a sign, else 2, 4 or 8.
fn integer(bytes: &[u8]) -> Option<i64> {
    Some(match *bytes {
        [a] => i64::from(a),
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => i64::from_le_bytes(bytes.try_into().ok()?),
    })
}

fn finite(v: f64) -> Option<f64> {
    v.is_finite().then_some(v)
}

fn unsigned(bytes: &[u8]) -> Option<u64> {
    let mut wide = [0; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(wide))
}

/// Days to 9999-12-31.
const DAYS_MAX: i32 = 3_652_058;
const TICKS_PER_DAY: u64 = 864_000_000_000;

fn date(bytes: &[u8]) -> Option<i32> {
    (bytes.len() == 3).then_some(())?;
    let days = unsigned(bytes)? as i32;
    (days <= DAYS_MAX).then_some(days)
}

fn time(bytes: &[u8], scale: u8) -> Option<u64> {
    (3..=5).contains(&bytes.len()).then_some(())?;
    let ticks = unsigned(bytes)?.checked_mul(10u64.pow(7 - u32::from(scale)))?;
    (ticks < TICKS_PER_DAY).then_some(ticks)
}

fn datetime2(bytes: &[u8], scale: u8) -> Option<DateTime2> {
    let (of_day, days) = bytes.split_last_chunk::<3>()?;
    Some(DateTime2 { days: date(days)?, ticks: time(of_day, scale)? })
}
