//! Values as they leave, in the nullable form of their type or, of columns that are NOT NULL, the fixed-length one.
//!
//! Invariant: a failed encoding leaves `out` as it was. The common types are written without allocation.

use crate::charset::{Collation, put_cp1252};
use crate::reader::put_utf16;
use crate::type_info::{MAX_LENGTH, decimal_bytes, time_bytes};
use std::fmt;
use types::collation::CodePage;
use types::convert::cast;
use types::{DateTime, DateTime2, Len, SqlType, Value, Variant};

/// A value that is not one of its column's type, nor can be made one. An inner fault of the server, but one that
/// must not send a client bytes it would misread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// The column's type.
    pub ty: SqlType,
    /// What the value would naturally be.
    pub value: SqlType,
    /// What a debug build finds wrong with a value that would have left.
    pub fault: Option<&'static str>,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.value.message_name(), self.ty.message_name());
        match self.fault {
            None => write!(f, "Error converting data type {from} to {to}."),
            Some(fault) => {
                write!(f, "a value ({from}) does not fit its column ({}): {fault}", self.ty)
            }
        }
    }
}

impl std::error::Error for EncodeError {}

/// Bytes that a NULL of this type takes in a ROW, and would save in an NBCROW.
#[inline]
pub(crate) fn null_bytes(ty: SqlType) -> usize {
    match ty {
        SqlType::VarChar(Len::Max)
        | SqlType::NVarChar(Len::Max)
        | SqlType::VarBinary(Len::Max)
        | SqlType::Xml
        | SqlType::TypedXml { .. }
        | SqlType::Clr(_) => 8,
        SqlType::Char(_)
        | SqlType::VarChar(_)
        | SqlType::NChar(_)
        | SqlType::NVarChar(_)
        | SqlType::Binary(_)
        | SqlType::VarBinary(_) => 2,
        SqlType::Variant => 4,
        _ => 1,
    }
}

/// Appends one value.
#[inline]
pub(crate) fn value(out: &mut Vec<u8>, ty: SqlType, value: &Value) -> Result<(), EncodeError> {
    if try_value(out, ty, value).is_some() {
        return Ok(());
    }
    coerced(out, ty, value)
}

/// Appends a text or a binary of a column that is not (max), given as its bytes.
#[inline]
pub(crate) fn bytes(out: &mut Vec<u8>, ty: SqlType, bytes: &[u8]) -> Result<(), EncodeError> {
    let put = short(out, |out| out.extend_from_slice(bytes));
    put.ok_or(EncodeError { ty, value: ty, fault: None })
}

/// Appends one value in the fixed-length form of its type, which is the nullable one without its byte of length.
#[inline]
pub(crate) fn fixed(out: &mut Vec<u8>, ty: SqlType, v: &Value) -> Result<(), EncodeError> {
    match (ty, v) {
        (SqlType::Int, Value::Int(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (SqlType::BigInt, Value::BigInt(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (SqlType::SmallInt, Value::SmallInt(v)) => out.extend_from_slice(&v.to_le_bytes()),
        (SqlType::TinyInt, Value::TinyInt(v)) => out.push(*v),
        (SqlType::Bit, Value::Bit(v)) => out.push(u8::from(*v)),
        (_, Value::Null) => return Err(EncodeError { ty, value: v.natural_type(), fault: None }),
        _ => {
            let at = out.len();
            value(out, ty, v)?;
            out.remove(at);
        }
    }
    Ok(())
}

/// Appends one value of a column whose varchar is in that code page.
#[cold]
pub(crate) fn paged(
    out: &mut Vec<u8>,
    ty: SqlType,
    page: CodePage,
    v: &Value,
) -> Result<(), EncodeError> {
    let Value::Str(text) = v else { return value(out, ty, v) };
    let put = |out: &mut Vec<u8>| page.encode_into(text, out);
    let done = match ty {
        SqlType::VarChar(Len::Max) => chunk(out, put),
        SqlType::VarChar(_) | SqlType::Char(_) => short(out, put),
        _ => return value(out, ty, v),
    };
    done.ok_or(EncodeError { ty, value: v.natural_type(), fault: None })
}

/// What stands for a text pointer and its timestamp: as SQL Server, which gives no true ones out since it reads by them no more.
const TEXT_POINTER: &[u8; 25] = b"\x10dummy textptr\0\0\0dummyTS\0";

/// Appends one value of text, ntext or image (2.2.5.5.1.3): a text pointer, a timestamp, four bytes of length, the bytes.
#[cold]
pub(crate) fn long(
    out: &mut Vec<u8>,
    ty: SqlType,
    page: CodePage,
    v: &Value,
) -> Result<(), EncodeError> {
    let start = out.len();
    let fault = |out: &mut Vec<u8>| {
        out.truncate(start);
        EncodeError { ty, value: v.natural_type(), fault: None }
    };
    out.extend_from_slice(TEXT_POINTER);
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    match (ty, v) {
        (_, Value::Null) => {
            out.truncate(start);
            out.push(0);
            return Ok(());
        }
        (SqlType::VarChar(_), Value::Str(text)) => page.encode_into(text, out),
        (SqlType::NVarChar(_), Value::Str(text)) => put_utf16(out, text),
        (SqlType::VarBinary(_), Value::Binary(bytes)) => out.extend_from_slice(bytes),
        _ => return Err(fault(out)),
    }
    let Ok(length) = i32::try_from(out.len() - at - 4) else { return Err(fault(out)) };
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// A value of a neighbouring type: converted as an assignment would.
#[cold]
fn coerced(out: &mut Vec<u8>, ty: SqlType, value: &Value) -> Result<(), EncodeError> {
    let natural = value.natural_type();
    cast(value, natural, ty, 0)
        .ok()
        .and_then(|value| try_value(out, ty, &value))
        .ok_or(EncodeError { ty, value: natural, fault: None })
}

#[inline]
fn byte_long<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N]) {
    out.push(N as u8);
    out.extend_from_slice(&bytes);
}

/// `None`, with nothing written, when the value's kind is not that of the type or does not fit it.
#[inline]
fn try_value(out: &mut Vec<u8>, ty: SqlType, value: &Value) -> Option<()> {
    match (ty, value) {
        (_, Value::Null) => match null_bytes(ty) {
            1 => out.push(0),
            4 => out.extend_from_slice(&[0; 4]),
            count => out.extend_from_slice(&[0xFF; 8][..count]),
        },
        (SqlType::Int, Value::Int(v)) => byte_long(out, v.to_le_bytes()),
        (SqlType::BigInt, Value::BigInt(v)) => byte_long(out, v.to_le_bytes()),
        (SqlType::SmallInt, Value::SmallInt(v)) => byte_long(out, v.to_le_bytes()),
        (SqlType::TinyInt, Value::TinyInt(v)) => byte_long(out, [*v]),
        (SqlType::Bit, Value::Bit(v)) => byte_long(out, [u8::from(*v)]),
        (SqlType::VarChar(Len::N(_)) | SqlType::Char(_), Value::Str(text)) => {
            short(out, |out| put_cp1252(out, text))?
        }
        (SqlType::NVarChar(Len::N(_)) | SqlType::NChar(_), Value::Str(text)) => {
            short(out, |out| put_utf16(out, text))?
        }
        (SqlType::VarBinary(Len::N(_)) | SqlType::Binary(_), Value::Binary(bytes)) => {
            short(out, |out| out.extend_from_slice(bytes))?
        }
        (SqlType::VarChar(Len::Max), Value::Str(text)) => chunk(out, |out| put_cp1252(out, text))?,
        (
            SqlType::NVarChar(Len::Max) | SqlType::Xml | SqlType::TypedXml { .. },
            Value::Str(text),
        ) => chunk(out, |out| put_utf16(out, text))?,
        (SqlType::VarBinary(Len::Max) | SqlType::Clr(_), Value::Binary(bytes)) => {
            chunk(out, |out| out.extend_from_slice(bytes))?
        }
        (SqlType::Decimal { precision, scale, .. }, Value::Decimal(v)) => {
            let v = if v.scale() == scale { *v } else { v.rescale(precision, scale).ok()? };
            let length = decimal_bytes(precision) as usize;
            let magnitude = v.units().unsigned_abs().to_le_bytes();
            if magnitude[length - 1..].iter().any(|&b| b != 0) {
                return None;
            }
            out.push(length as u8);
            out.push(u8::from(v.units() >= 0));
            out.extend_from_slice(&magnitude[..length - 1]);
        }
        (SqlType::Money, Value::Money(v)) => {
            out.push(8);
            out.extend_from_slice(&((v >> 32) as i32).to_le_bytes());
            out.extend_from_slice(&(*v as u32).to_le_bytes());
        }
        (SqlType::SmallMoney, Value::Money(v)) => {
            byte_long(out, i32::try_from(*v).ok()?.to_le_bytes())
        }
        (SqlType::Float, Value::Float(v)) => byte_long(out, v.to_le_bytes()),
        (SqlType::Real, Value::Real(v)) => byte_long(out, v.to_le_bytes()),
        (SqlType::DateTime, Value::DateTime(v)) => {
            out.push(8);
            out.extend_from_slice(&v.days.to_le_bytes());
            out.extend_from_slice(&v.ticks.to_le_bytes());
        }
        (SqlType::SmallDateTime, Value::DateTime(v)) => {
            let days = u16::try_from(v.days).ok()?;
            let minutes = (v.ticks / DateTime::TICKS_PER_MINUTE) as u16;
            out.push(4);
            out.extend_from_slice(&days.to_le_bytes());
            out.extend_from_slice(&minutes.to_le_bytes());
        }
        (SqlType::Date, Value::Date(days)) => {
            out.push(3);
            put_days(out, *days);
        }
        (SqlType::Time(scale), Value::Time(ticks)) => {
            out.push(time_bytes(scale) as u8);
            put_time(out, *ticks, scale);
        }
        (SqlType::DateTime2(scale), Value::DateTime2(v)) => {
            out.push((time_bytes(scale) + 3) as u8);
            put_datetime2(out, *v, scale);
        }
        (SqlType::DateTimeOffset(scale), Value::DateTimeOffset(v)) => {
            out.push((time_bytes(scale) + 5) as u8);
            put_datetime2(out, v.utc, scale);
            out.extend_from_slice(&v.offset_minutes.to_le_bytes());
        }
        (SqlType::UniqueIdentifier, Value::Guid(v)) => byte_long(out, *v),
        (SqlType::Variant, Value::Variant(v)) => variant(out, v)?,
        _ => return None,
    }
    Some(())
}

/// A sql_variant: four bytes of length, the base type, its properties, the value without a length (2.2.5.5.4).
fn variant(out: &mut Vec<u8>, v: &Variant) -> Option<()> {
    use crate::type_info::token as t;
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let ty = v.ty();
    let at = |out: &mut Vec<u8>, token: u8, properties: &[u8]| {
        out.push(token);
        out.push(properties.len() as u8);
        out.extend_from_slice(properties);
    };
    let sized = |bytes: u16| bytes.to_le_bytes();
    let page = match ty {
        SqlType::Char(_) | SqlType::VarChar(_) => v.value().rule().code_page(),
        _ => CodePage::Cp1252,
    };
    let collation = match page {
        CodePage::Cp1252 => Collation::LATIN1_GENERAL.0,
        _ => types::Collation::of_rule(v.value().rule()).to_wire(),
    };
    let text = |bytes: u16| {
        let mut properties = [0; 7];
        properties[..5].copy_from_slice(&collation);
        properties[5..].copy_from_slice(&sized(bytes));
        properties
    };
    // Bytes of length that the value has elsewhere, and not here.
    let length = match ty {
        SqlType::Bit => {
            at(out, t::BIT, &[]);
            1
        }
        SqlType::Decimal { precision, scale, numeric } => {
            at(out, if numeric { t::NUMERICN } else { t::DECIMALN }, &[precision, scale]);
            1
        }
        SqlType::Date => {
            at(out, t::DATE, &[]);
            1
        }
        SqlType::Time(scale) => {
            at(out, t::TIME, &[scale]);
            1
        }
        SqlType::DateTime2(scale) => {
            at(out, t::DATETIME2, &[scale]);
            1
        }
        SqlType::DateTimeOffset(scale) => {
            at(out, t::DATETIMEOFFSET, &[scale]);
            1
        }
        SqlType::UniqueIdentifier => {
            at(out, t::GUID, &[]);
            1
        }
        SqlType::Char(n) => {
            at(out, t::BIGCHAR, &text(n));
            2
        }
        SqlType::VarChar(Len::N(n)) => {
            at(out, t::BIGVARCHAR, &text(n));
            2
        }
        SqlType::NChar(n) => {
            at(out, t::NCHAR, &text(2 * n));
            2
        }
        SqlType::NVarChar(Len::N(n)) => {
            at(out, t::NVARCHAR, &text(2 * n));
            2
        }
        SqlType::Binary(n) => {
            at(out, t::BIGBINARY, &sized(n));
            2
        }
        SqlType::VarBinary(Len::N(n)) => {
            at(out, t::BIGVARBINARY, &sized(n));
            2
        }
        ty => {
            let Some(token) = crate::type_info::fixed(ty) else {
                out.truncate(start);
                return None;
            };
            at(out, token, &[]);
            1
        }
    };
    let value_at = out.len();
    // A decimal has the length of the greatest precision here, whatever its own: SqlClient reads 17 bytes always.
    let sent = match ty {
        SqlType::Decimal { scale, .. } => SqlType::decimal(38, scale),
        ty => ty,
    };
    let put = match page {
        CodePage::Cp1252 => try_value(out, sent, v.value()),
        _ => paged(out, sent, page, v.value()).ok(),
    };
    if put.is_none() {
        out.truncate(start);
        return None;
    }
    out.drain(value_at..value_at + length);
    let bytes = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&bytes.to_le_bytes());
    Some(())
}

/// Two bytes of length, then what `write` appends.
#[inline]
fn short(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> Option<()> {
    let at = out.len();
    out.extend_from_slice(&[0, 0]);
    write(out);
    let length = out.len() - at - 2;
    if length >= MAX_LENGTH as usize {
        out.truncate(at);
        return None;
    }
    out[at..at + 2].copy_from_slice(&(length as u16).to_le_bytes());
    Some(())
}

/// A total, one chunk of what `write` appends, and the end.
fn chunk(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) -> Option<()> {
    let at = out.len();
    out.extend_from_slice(&[0; 12]);
    write(out);
    let length = out.len() - at - 12;
    let Ok(short) = u32::try_from(length) else {
        out.truncate(at);
        return None;
    };
    out[at..at + 8].copy_from_slice(&(length as u64).to_le_bytes());
    if length == 0 {
        // The empty chunk is the end.
        return Some(());
    }
    out[at + 8..at + 12].copy_from_slice(&short.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    Some(())
}

fn put_days(out: &mut Vec<u8>, days: i32) {
    out.extend_from_slice(&days.to_le_bytes()[..3]);
}

fn put_time(out: &mut Vec<u8>, ticks: u64, scale: u8) {
    let units = ticks / 10u64.pow(7 - u32::from(scale));
    out.extend_from_slice(&units.to_le_bytes()[..time_bytes(scale)]);
}

fn put_datetime2(out: &mut Vec<u8>, at: DateTime2, scale: u8) {
    put_time(out, at.ticks, scale);
    put_days(out, at.days);
}
