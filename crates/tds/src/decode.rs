//! Values as they arrive (MS-TDS 2.2.5.5, TYPE_VARBYTE).
//!
//! Every value is checked against its type: dates inside the calendar, decimals inside their precision, floats
//! finite; 8023 otherwise. Lengths are checked against what has arrived before anything is copied.

use crate::ProtocolError;
use crate::charset::Collation;
use crate::reader::{Reader, Result, utf16};
use crate::type_info::{Form, MAX_LENGTH, TypeInfo, token};
use std::borrow::Cow;
use types::datetime::{DAYS_MAX, TICKS_PER_DAY};
use types::{DateTime, DateTime2, DateTimeOffset, Decimal, Len, SqlType, Value, Variant};

const CHUNKS_NULL: u64 = u64::MAX;
const CHUNKS_UNKNOWN: u64 = u64::MAX - 1;
const WHAT: &str = "value";

/// A parameter's value, with the type it turns out to have (of a variant, what it holds).
pub(crate) fn parameter(r: &mut Reader<'_>, info: &TypeInfo) -> Result<(SqlType, Value)> {
    if info.form == Form::Variant {
        return variant(r);
    }
    Ok((info.ty, column(r, info, false)?))
}

/// A value of a row. With `text_pointer`, text, ntext and image come behind one (in ROW, not in TVP_ROW).
pub(crate) fn column(r: &mut Reader<'_>, info: &TypeInfo, text_pointer: bool) -> Result<Value> {
    if info.form == Form::Variant {
        let (ty, value) = variant(r)?;
        return Variant::wrap(value, ty)
            .map_err(|_| ProtocolError::BadTypeInfo { token: info.token });
    }
    match bytes(r, info, text_pointer)? {
        None => Ok(Value::Null),
        Some(bytes) => value(info.ty, info.collation, &bytes),
    }
}

/// The bytes of a value; `None` for NULL.
fn bytes<'a>(
    r: &mut Reader<'a>,
    info: &TypeInfo,
    text_pointer: bool,
) -> Result<Option<Cow<'a, [u8]>>> {
    let too_long = ProtocolError::BadTypeInfo { token: info.token };
    match info.form {
        Form::Null => Ok(None),
        Form::Fixed(length) => Ok(Some(Cow::Borrowed(r.bytes(length as usize, WHAT)?))),
        Form::Byte(max) => match r.u8(WHAT)? {
            0 => Ok(None),
            length if length > max => Err(too_long),
            length => Ok(Some(Cow::Borrowed(r.bytes(length as usize, WHAT)?))),
        },
        Form::Short(max) => match r.u16(WHAT)? {
            MAX_LENGTH => Ok(None),
            length if length > max => Err(too_long),
            length => Ok(Some(Cow::Borrowed(r.bytes(length as usize, WHAT)?))),
        },
        Form::Chunks => chunks(r),
        Form::Long => {
            if text_pointer {
                let pointer = r.u8(WHAT)? as usize;
                if pointer == 0 {
                    return Ok(None);
                }
                // The pointer itself, and a timestamp.
                r.bytes(pointer + 8, WHAT)?;
            }
            match r.u32(WHAT)? {
                u32::MAX => Ok(None),
                length => Ok(Some(Cow::Borrowed(r.bytes(length as usize, WHAT)?))),
            }
        }
        Form::Variant => Err(ProtocolError::UnknownType { token: info.token }),
    }
}

/// Partially length-prefixed bytes: a total (or NULL, or "unknown"), chunks, an empty chunk.
fn chunks<'a>(r: &mut Reader<'a>) -> Result<Option<Cow<'a, [u8]>>> {
    let total = r.u64(WHAT)?;
    if total == CHUNKS_NULL {
        return Ok(None);
    }
    let mut whole: Cow<'a, [u8]> = Cow::Borrowed(&[]);
    loop {
        let length = r.u32(WHAT)? as usize;
        if length == 0 {
            break;
        }
        let chunk = r.bytes(length, WHAT)?;
        if whole.is_empty() {
            whole = Cow::Borrowed(chunk);
        } else {
            whole.to_mut().extend_from_slice(chunk);
        }
    }
    if total != CHUNKS_UNKNOWN && total != whole.len() as u64 {
        return Err(ProtocolError::Malformed { what: "the chunks of a value and their total" });
    }
    Ok(Some(whole))
}

/// sql_variant: a length, the base type, its properties, the value (2.2.5.5.4).
fn variant(r: &mut Reader<'_>) -> Result<(SqlType, Value)> {
    let length = r.u32(WHAT)? as usize;
    if length == 0 {
        return Ok((SqlType::Int, Value::Null));
    }
    let mut r = Reader::new(r.bytes(length, WHAT)?);
    let base = r.u8(WHAT)?;
    let count = r.u8(WHAT)? as usize;
    let mut properties = Reader::new(r.bytes(count, WHAT)?);
    let p = &mut properties;
    let mut collation = Collation::LATIN1_GENERAL;
    let bad = ProtocolError::BadTypeInfo { token: base };
    let bytes = r.rest();
    let ty = match base {
        token::INT1 => SqlType::TinyInt,
        token::BIT => SqlType::Bit,
        token::INT2 => SqlType::SmallInt,
        token::INT4 => SqlType::Int,
        token::INT8 => SqlType::BigInt,
        token::FLT4 => SqlType::Real,
        token::FLT8 => SqlType::Float,
        token::MONEY => SqlType::Money,
        token::MONEY4 => SqlType::SmallMoney,
        token::DATETIME => SqlType::DateTime,
        token::DATETIM4 => SqlType::SmallDateTime,
        token::GUID => SqlType::UniqueIdentifier,
        token::DATE => SqlType::Date,
        token::TIME | token::DATETIME2 | token::DATETIMEOFFSET => match (base, p.u8(WHAT)?) {
            (token::TIME, scale @ 0..=7) => SqlType::Time(scale),
            (token::DATETIME2, scale @ 0..=7) => SqlType::DateTime2(scale),
            (_, scale @ 0..=7) => SqlType::DateTimeOffset(scale),
            _ => return Err(bad),
        },
        token::DECIMALN | token::NUMERICN => {
            let (precision, scale) = (p.u8(WHAT)?, p.u8(WHAT)?);
            if !(1..=38).contains(&precision) || scale > precision {
                return Err(bad);
            }
            SqlType::Decimal { precision, scale }
        }
        token::BIGVARBINARY | token::BIGBINARY => match (base, p.u16(WHAT)?) {
            (_, 8001..) => return Err(bad),
            (token::BIGBINARY, n) => SqlType::Binary(n.max(1)),
            (_, n) => SqlType::VarBinary(Len::N(n.max(1))),
        },
        token::BIGVARCHAR | token::BIGCHAR | token::NVARCHAR | token::NCHAR => {
            collation.0.copy_from_slice(p.bytes(5, WHAT)?);
            match (base, p.u16(WHAT)?) {
                (_, 8001..) => return Err(bad),
                (token::BIGVARCHAR, n) => SqlType::VarChar(Len::N(n.max(1))),
                (token::BIGCHAR, n) => SqlType::Char(n.max(1)),
                (token::NVARCHAR, n) => SqlType::NVarChar(Len::N((n / 2).max(1))),
                (_, n) => SqlType::NChar((n / 2).max(1)),
            }
        }
        _ => return Err(ProtocolError::UnknownType { token: base }),
    };
    Ok((ty, value(ty, collation, bytes)?))
}

/// A value of a type from its bytes.
fn value(ty: SqlType, collation: Collation, bytes: &[u8]) -> Result<Value> {
    let bad = || ProtocolError::BadValue { ty: ty.message_name() };
    Ok(match ty {
        SqlType::Bit => Value::Bit(integer(bytes).ok_or_else(bad)? != 0),
        SqlType::TinyInt => narrow(bytes, Value::TinyInt).ok_or_else(bad)?,
        SqlType::SmallInt => narrow(bytes, Value::SmallInt).ok_or_else(bad)?,
        SqlType::Int => narrow(bytes, Value::Int).ok_or_else(bad)?,
        SqlType::BigInt => narrow(bytes, Value::BigInt).ok_or_else(bad)?,
        SqlType::Decimal { precision, scale } => {
            Value::Decimal(decimal(bytes, precision, scale).ok_or_else(bad)?)
        }
        SqlType::Money | SqlType::SmallMoney => match *bytes {
            [a, b, c, d] => Value::Money(i64::from(i32::from_le_bytes([a, b, c, d]))),
            [a, b, c, d, e, f, g, h] => {
                let high = i64::from(i32::from_le_bytes([a, b, c, d]));
                let low = i64::from(u32::from_le_bytes([e, f, g, h]));
                Value::Money(high << 32 | low)
            }
            _ => return Err(bad()),
        },
        SqlType::Float | SqlType::Real => {
            let float = float(bytes).ok_or_else(bad)?;
            match (ty, bytes.len()) {
                (SqlType::Float, _) => Value::Float(float),
                (_, 4) => Value::Real(float as f32),
                _ => return Err(bad()),
            }
        }
        SqlType::Char(_) | SqlType::VarChar(_) => Value::str(&collation.text(bytes)?),
        SqlType::NChar(_) | SqlType::NVarChar(_) => {
            if !bytes.len().is_multiple_of(2) {
                return Err(bad());
            }
            Value::str(&utf16(bytes))
        }
        SqlType::Binary(_) | SqlType::VarBinary(_) => Value::binary(bytes),
        SqlType::Date => Value::Date(date(bytes).ok_or_else(bad)?),
        SqlType::Time(scale) => Value::Time(time(bytes, scale).ok_or_else(bad)?),
        SqlType::DateTime | SqlType::SmallDateTime => {
            Value::DateTime(datetime(bytes).ok_or_else(bad)?)
        }
        SqlType::DateTime2(scale) => Value::DateTime2(datetime2(bytes, scale).ok_or_else(bad)?),
        SqlType::DateTimeOffset(scale) => {
            let (at, offset) = bytes.split_last_chunk::<2>().ok_or_else(bad)?;
            let utc = datetime2(at, scale).ok_or_else(bad)?;
            let offset_minutes = i16::from_le_bytes(*offset);
            if !(-840..=840).contains(&offset_minutes) {
                return Err(bad());
            }
            Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes })
        }
        SqlType::UniqueIdentifier => Value::Guid(bytes.try_into().map_err(|_| bad())?),
        // Its bytes are read by `variant`.
        SqlType::Variant => return Err(bad()),
    })
}

/// An integer of 1 (unsigned), 2, 4 or 8 bytes.
fn integer(bytes: &[u8]) -> Option<i64> {
    Some(match *bytes {
        [a] => i64::from(a),
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => i64::from_le_bytes(bytes.try_into().ok()?),
    })
}

fn narrow<T: TryFrom<i64>>(bytes: &[u8], make: fn(T) -> Value) -> Option<Value> {
    T::try_from(integer(bytes)?).ok().map(make)
}

/// A finite number of 4 or 8 bytes.
fn float(bytes: &[u8]) -> Option<f64> {
    let v = match *bytes {
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => f64::from_le_bytes(bytes.try_into().ok()?),
    };
    v.is_finite().then_some(v)
}

/// A sign (1: positive) and up to 16 bytes of magnitude.
fn decimal(bytes: &[u8], precision: u8, scale: u8) -> Option<Decimal> {
    let (sign, magnitude) = bytes.split_first()?;
    if magnitude.is_empty() || magnitude.len() > 16 || *sign > 1 {
        return None;
    }
    let mut wide = [0; 16];
    wide[..magnitude.len()].copy_from_slice(magnitude);
    let units = i128::try_from(u128::from_le_bytes(wide)).ok()?;
    Decimal::new(if *sign == 1 { units } else { -units }, precision, scale).ok()
}

/// Up to 8 bytes, unsigned.
fn unsigned(bytes: &[u8]) -> Option<u64> {
    let mut wide = [0; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(wide))
}

fn date(bytes: &[u8]) -> Option<i32> {
    let days = if bytes.len() == 3 { unsigned(bytes)? as i32 } else { return None };
    (days <= DAYS_MAX).then_some(days)
}

fn time(bytes: &[u8], scale: u8) -> Option<u64> {
    if !(3..=5).contains(&bytes.len()) {
        return None;
    }
    let ticks = unsigned(bytes)?.checked_mul(10u64.pow(7 - u32::from(scale)))?;
    (ticks < TICKS_PER_DAY).then_some(ticks)
}

fn datetime2(bytes: &[u8], scale: u8) -> Option<DateTime2> {
    let (of_day, days) = bytes.split_last_chunk::<3>()?;
    Some(DateTime2 { days: date(days)?, ticks: time(of_day, scale)? })
}

/// Days since 1900 and 1/300 s, or days and minutes.
fn datetime(bytes: &[u8]) -> Option<DateTime> {
    match *bytes {
        [a, b, c, d] => {
            let (days, minutes) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
            let ticks = u32::from(minutes) * DateTime::TICKS_PER_MINUTE;
            (minutes < 1440).then_some(DateTime { days: i32::from(days), ticks })
        }
        [a, b, c, d, e, f, g, h] => {
            let days = i32::from_le_bytes([a, b, c, d]);
            let ticks = u32::from_le_bytes([e, f, g, h]);
            let at = DateTime { days, ticks };
            if ticks >= DateTime::TICKS_PER_DAY {
                return None;
            }
            DateTime::from_total_ticks(at.total_ticks())
        }
        _ => None,
    }
}
