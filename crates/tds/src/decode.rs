//! Values as they arrive (MS-TDS 2.2.5.5, TYPE_VARBYTE).
//!
//! Every value is checked against its type: dates inside the calendar, decimals inside their precision, floats
//! finite; 8023 otherwise. Lengths are checked against what has arrived before anything is copied.

use crate::ProtocolError;
use crate::charset::Collation;
use crate::reader::{Reader, Result, utf16};
use crate::type_info::{Form, MAX_LENGTH, TypeInfo, token};
use std::borrow::Cow;
use types::{Decimal, Len, SqlType, Value, Variant};

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
            SqlType::Decimal { precision, scale, numeric: base == token::NUMERICN }
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
        SqlType::Decimal { precision, scale, .. } => {
            Value::Decimal(decimal(bytes, precision, scale).ok_or_else(bad)?)
        }
        SqlType::Char(_) | SqlType::VarChar(_) => Value::str(&collation.text(bytes)?),
        SqlType::NChar(_) | SqlType::NVarChar(_) => {
            if !bytes.len().is_multiple_of(2) {
                return Err(bad());
            }
            Value::str(&utf16(bytes))
        }
        // The bytes of sql_variant are read by `variant`.
        ty => types::wire::value(ty, bytes).ok_or_else(bad)?,
    })
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
