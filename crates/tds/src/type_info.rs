//! TYPE_INFO (MS-TDS 2.2.5.4, 2.2.5.6): how a type is announced, and in which form its values follow.
//!
//! The server announces a column in the form that can hold NULL (INTN and so on), or, when it is NOT NULL and its
//! type has one, in the fixed-length form (INT4), as SQL Server does; a client may use any form, the old ones (text, fixed lengths, TDS 4.2's char) too. XML is read as nvarchar(max), as
//! nobody has parsed it yet; a parameter of sql_variant as what it holds; a CLR type as varbinary(max), which is checked
//! when it becomes one. JSON and vector are refused by name.

use crate::ProtocolError;
use crate::charset::Collation;
use crate::reader::{Reader, Result};
use types::{Len, SqlType};

/// Type tokens.
pub(crate) mod token {
    pub const NULL: u8 = 0x1F;
    pub const INT1: u8 = 0x30;
    pub const BIT: u8 = 0x32;
    pub const INT2: u8 = 0x34;
    pub const INT4: u8 = 0x38;
    pub const DATETIM4: u8 = 0x3A;
    pub const FLT4: u8 = 0x3B;
    pub const MONEY: u8 = 0x3C;
    pub const DATETIME: u8 = 0x3D;
    pub const FLT8: u8 = 0x3E;
    pub const MONEY4: u8 = 0x7A;
    pub const INT8: u8 = 0x7F;

    pub const GUID: u8 = 0x24;
    pub const INTN: u8 = 0x26;
    pub const DATE: u8 = 0x28;
    pub const TIME: u8 = 0x29;
    pub const DATETIME2: u8 = 0x2A;
    pub const DATETIMEOFFSET: u8 = 0x2B;
    pub const DECIMAL_OLD: u8 = 0x37;
    pub const NUMERIC_OLD: u8 = 0x3F;
    pub const BITN: u8 = 0x68;
    pub const DECIMALN: u8 = 0x6A;
    pub const NUMERICN: u8 = 0x6C;
    pub const FLTN: u8 = 0x6D;
    pub const MONEYN: u8 = 0x6E;
    pub const DATETIMN: u8 = 0x6F;
    pub const VARBINARY_OLD: u8 = 0x25;
    pub const VARCHAR_OLD: u8 = 0x27;
    pub const BINARY_OLD: u8 = 0x2D;
    pub const CHAR_OLD: u8 = 0x2F;

    pub const BIGVARBINARY: u8 = 0xA5;
    pub const BIGVARCHAR: u8 = 0xA7;
    pub const BIGBINARY: u8 = 0xAD;
    pub const BIGCHAR: u8 = 0xAF;
    pub const NVARCHAR: u8 = 0xE7;
    pub const NCHAR: u8 = 0xEF;

    pub const IMAGE: u8 = 0x22;
    pub const TEXT: u8 = 0x23;
    pub const NTEXT: u8 = 0x63;
    pub const VARIANT: u8 = 0x62;
    pub const UDT: u8 = 0xF0;
    pub const XML: u8 = 0xF1;
    pub const TABLE: u8 = 0xF3;
    pub const JSON: u8 = 0xF4;
    pub const VECTOR: u8 = 0xF5;
}

/// The length that the server tells of a sql_variant: 8,000 bytes and what describes them.
const VARIANT_LENGTH: u32 = 8009;

/// The length that stands for `(max)`, and for a NULL in the short form.
pub(crate) const MAX_LENGTH: u16 = 0xFFFF;

/// In which form values of a type follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Nothing: always NULL.
    Null,
    /// So many bytes, never NULL.
    Fixed(u8),
    /// A byte of length, 0 for NULL, at most so many bytes.
    Byte(u8),
    /// Two bytes of length, 0xFFFF for NULL, at most so many bytes.
    Short(u16),
    /// Partially length-prefixed: a total, and chunks.
    Chunks,
    /// Four bytes of length; in rows a text pointer before it.
    Long,
    /// A length, then a type and a value.
    Variant,
}

/// A type as announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeInfo {
    pub token: u8,
    pub ty: SqlType,
    pub form: Form,
    pub collation: Collation,
}

impl TypeInfo {
    /// Of a parameter, or of a column of a parameter's table.
    pub fn decode(r: &mut Reader<'_>) -> Result<TypeInfo> {
        TypeInfo::decode_as(r, false)
    }

    /// Of a column or a returned value: a CLR type tells its length and its class too (2.2.5.5.2).
    pub fn decode_column(r: &mut Reader<'_>) -> Result<TypeInfo> {
        TypeInfo::decode_as(r, true)
    }

    fn decode_as(r: &mut Reader<'_>, of_column: bool) -> Result<TypeInfo> {
        use token as t;
        const WHAT: &str = "type";
        let token = r.u8(WHAT)?;
        let bad = ProtocolError::BadTypeInfo { token };
        let mut collation = Collation::LATIN1_GENERAL;
        let fixed = |ty, bytes| (ty, Form::Fixed(bytes));
        let (ty, form) = match token {
            t::NULL => (SqlType::Int, Form::Null),
            t::INT1 => fixed(SqlType::TinyInt, 1),
            t::BIT => fixed(SqlType::Bit, 1),
            t::INT2 => fixed(SqlType::SmallInt, 2),
            t::INT4 => fixed(SqlType::Int, 4),
            t::INT8 => fixed(SqlType::BigInt, 8),
            t::FLT4 => fixed(SqlType::Real, 4),
            t::FLT8 => fixed(SqlType::Float, 8),
            t::MONEY => fixed(SqlType::Money, 8),
            t::MONEY4 => fixed(SqlType::SmallMoney, 4),
            t::DATETIME => fixed(SqlType::DateTime, 8),
            t::DATETIM4 => fixed(SqlType::SmallDateTime, 4),
            t::INTN | t::BITN | t::FLTN | t::MONEYN | t::DATETIMN | t::GUID => {
                let max = r.u8(WHAT)?;
                let ty = match (token, max) {
                    (t::INTN, 1) => SqlType::TinyInt,
                    (t::INTN, 2) => SqlType::SmallInt,
                    (t::INTN, 4) => SqlType::Int,
                    (t::INTN, 8) => SqlType::BigInt,
                    (t::BITN, 1) => SqlType::Bit,
                    (t::FLTN, 4) => SqlType::Real,
                    (t::FLTN, 8) => SqlType::Float,
                    (t::MONEYN, 4) => SqlType::SmallMoney,
                    (t::MONEYN, 8) => SqlType::Money,
                    (t::DATETIMN, 4) => SqlType::SmallDateTime,
                    (t::DATETIMN, 8) => SqlType::DateTime,
                    // mssql-jdbc says 0 of a NULL.
                    (t::GUID, 16 | 0) => SqlType::UniqueIdentifier,
                    _ => return Err(bad),
                };
                (ty, Form::Byte(max))
            }
            t::DATE => (SqlType::Date, Form::Byte(3)),
            t::TIME | t::DATETIME2 | t::DATETIMEOFFSET => {
                let scale = r.u8(WHAT)?;
                if scale > 7 {
                    return Err(bad);
                }
                match token {
                    t::TIME => (SqlType::Time(scale), Form::Byte(5)),
                    t::DATETIME2 => (SqlType::DateTime2(scale), Form::Byte(8)),
                    _ => (SqlType::DateTimeOffset(scale), Form::Byte(10)),
                }
            }
            t::DECIMALN | t::NUMERICN | t::DECIMAL_OLD | t::NUMERIC_OLD => {
                let (max, precision, scale) = (r.u8(WHAT)?, r.u8(WHAT)?, r.u8(WHAT)?);
                // The precision tells the length; mssql-python's bulk copy repeats the type's own byte (0x6A) here.
                if max < 2 || !(1..=38).contains(&precision) || scale > precision {
                    return Err(bad);
                }
                let numeric = matches!(token, t::NUMERICN | t::NUMERIC_OLD);
                (SqlType::Decimal { precision, scale, numeric }, Form::Byte(17))
            }
            t::VARBINARY_OLD | t::BINARY_OLD | t::VARCHAR_OLD | t::CHAR_OLD => {
                let max = r.u8(WHAT)?;
                let length = u16::from(max.max(1));
                let ty = match token {
                    t::VARBINARY_OLD => SqlType::VarBinary(Len::N(length)),
                    t::BINARY_OLD => SqlType::Binary(length),
                    t::VARCHAR_OLD => SqlType::VarChar(Len::N(length)),
                    _ => SqlType::Char(length),
                };
                (ty, Form::Byte(max))
            }
            t::BIGVARBINARY
            | t::BIGVARCHAR
            | t::BIGBINARY
            | t::BIGCHAR
            | t::NVARCHAR
            | t::NCHAR => {
                let max = r.u16(WHAT)?;
                if !matches!(token, t::BIGVARBINARY | t::BIGBINARY) {
                    collation = read_collation(r)?;
                }
                let whole = max == MAX_LENGTH;
                let unit = if matches!(token, t::NVARCHAR | t::NCHAR) { 2 } else { 1 };
                if whole && matches!(token, t::BIGBINARY | t::BIGCHAR | t::NCHAR)
                    || !whole && (max > 8000 || max % unit != 0)
                {
                    return Err(bad);
                }
                let n = (max / unit).max(1);
                let len = if whole { Len::Max } else { Len::N(n) };
                let ty = match token {
                    t::BIGVARBINARY => SqlType::VarBinary(len),
                    t::BIGVARCHAR => SqlType::VarChar(len),
                    t::BIGBINARY => SqlType::Binary(n),
                    t::BIGCHAR => SqlType::Char(n),
                    t::NVARCHAR => SqlType::NVarChar(len),
                    _ => SqlType::NChar(n),
                };
                (ty, if whole { Form::Chunks } else { Form::Short(max) })
            }
            t::TEXT | t::NTEXT | t::IMAGE => {
                r.u32(WHAT)?;
                if token != t::IMAGE {
                    collation = read_collation(r)?;
                }
                let ty = match token {
                    t::TEXT => SqlType::VarChar(Len::Max),
                    t::NTEXT => SqlType::NVarChar(Len::Max),
                    _ => SqlType::VarBinary(Len::Max),
                };
                (ty, Form::Long)
            }
            t::XML => {
                if r.u8(WHAT)? != 0 {
                    r.b_varchar(WHAT)?;
                    r.b_varchar(WHAT)?;
                    r.us_varchar(WHAT)?;
                }
                (SqlType::NVarChar(Len::Max), Form::Chunks)
            }
            t::VARIANT => {
                r.u32(WHAT)?;
                (SqlType::Variant, Form::Variant)
            }
            t::UDT => {
                if of_column {
                    r.u16(WHAT)?;
                }
                // Database, schema and name.
                for _ in 0..3 {
                    r.b_varchar(WHAT)?;
                }
                if of_column {
                    r.us_varchar(WHAT)?;
                }
                (SqlType::VarBinary(Len::Max), Form::Chunks)
            }
            t::TABLE => {
                return Err(ProtocolError::NotSupported { what: "A table inside a table" });
            }
            t::JSON => return Err(ProtocolError::NotSupported { what: "The type json" }),
            t::VECTOR => return Err(ProtocolError::NotSupported { what: "The type vector" }),
            _ => return Err(ProtocolError::UnknownType { token }),
        };
        Ok(TypeInfo { token, ty, form, collation })
    }

    /// Whether COLMETADATA gives a table name after this type (text, ntext, image).
    pub fn has_table_name(&self) -> bool {
        self.form == Form::Long
    }
}

fn read_collation(r: &mut Reader<'_>) -> Result<Collation> {
    let mut bytes = [0; 5];
    bytes.copy_from_slice(r.bytes(5, "collation")?);
    Ok(Collation(bytes))
}

/// Length of a decimal's value, sign included.
pub(crate) fn decimal_bytes(precision: u8) -> u8 {
    match precision {
        0..=9 => 5,
        10..=19 => 9,
        20..=28 => 13,
        _ => 17,
    }
}

/// Length of the time of day with this many digits of a second.
pub(crate) fn time_bytes(scale: u8) -> usize {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}

/// The token of a type's fixed-length form, which cannot hold NULL (FIXEDLENTYPE, 2.2.5.4.1), if it has one. It is the
/// whole TYPE_INFO.
pub(crate) fn fixed(ty: SqlType) -> Option<u8> {
    use token as t;
    Some(match ty {
        SqlType::Bit => t::BIT,
        SqlType::TinyInt => t::INT1,
        SqlType::SmallInt => t::INT2,
        SqlType::Int => t::INT4,
        SqlType::BigInt => t::INT8,
        SqlType::Money => t::MONEY,
        SqlType::SmallMoney => t::MONEY4,
        SqlType::Float => t::FLT8,
        SqlType::Real => t::FLT4,
        SqlType::DateTime => t::DATETIME,
        SqlType::SmallDateTime => t::DATETIM4,
        _ => return None,
    })
}

/// The token of the old long type (LONGLEN_TYPE, 2.2.5.4.3) with the values of a (max) type.
pub(crate) fn long(ty: SqlType) -> Option<u8> {
    match ty {
        SqlType::VarChar(Len::Max) => Some(token::TEXT),
        SqlType::NVarChar(Len::Max) => Some(token::NTEXT),
        SqlType::VarBinary(Len::Max) => Some(token::IMAGE),
        _ => None,
    }
}

/// Appends the TYPE_INFO of such a type, and the name of its table (2.2.7.4): clients expect one part at least. Before TDS
/// 7.2 the name is one text.
pub(crate) fn put_long(
    out: &mut Vec<u8>,
    ty: SqlType,
    collation: types::Collation,
    table: &[String],
    in_parts: bool,
) {
    let Some(long) = long(ty) else { return put_with(out, ty, collation) };
    out.push(long);
    let bytes_max: u32 = if long == token::NTEXT { 0x7FFF_FFFE } else { 0x7FFF_FFFF };
    out.extend_from_slice(&bytes_max.to_le_bytes());
    if long != token::IMAGE {
        out.extend_from_slice(&collation.to_wire());
    }
    if !in_parts {
        return crate::reader::put_us_varchar(out, &table.join("."), 512);
    }
    let parts = table.len().clamp(1, 4);
    out.push(parts as u8);
    for at in 0..parts {
        crate::reader::put_us_varchar(out, table.get(at).map_or("", String::as_str), 128);
    }
}

/// UDT_INFO as a column has it (2.2.5.5.2): the length, where the type is, and its class. The system's types are in every
/// database; this names master, which no client asks.
fn put_clr(out: &mut Vec<u8>, ty: types::ClrType) {
    use crate::reader::{put_b_varchar, put_us_varchar};
    out.push(token::UDT);
    out.extend_from_slice(&ty.bytes_max().unwrap_or(MAX_LENGTH).to_le_bytes());
    for part in ["master", "sys", ty.name()] {
        put_b_varchar(out, part);
    }
    put_us_varchar(out, &format!("{}, {}", ty.class(), types::clr::ASSEMBLY), 1000);
}

/// Appends the TYPE_INFO of a type, in its nullable form.
pub(crate) fn put(out: &mut Vec<u8>, ty: SqlType) {
    put_with(out, ty, types::Collation::default());
}

/// The same for a text of that collation.
pub(crate) fn put_with(out: &mut Vec<u8>, ty: SqlType, collation: types::Collation) {
    use token as t;
    let length = |len: Len, unit: u16| match len {
        Len::N(n) => n.saturating_mul(unit).min(8000),
        Len::Max => MAX_LENGTH,
    };
    let (token, short) = match ty {
        SqlType::Bit => return out.extend_from_slice(&[t::BITN, 1]),
        SqlType::TinyInt => return out.extend_from_slice(&[t::INTN, 1]),
        SqlType::SmallInt => return out.extend_from_slice(&[t::INTN, 2]),
        SqlType::Int => return out.extend_from_slice(&[t::INTN, 4]),
        SqlType::BigInt => return out.extend_from_slice(&[t::INTN, 8]),
        SqlType::Decimal { precision, scale, numeric } => {
            // The greatest length, whatever the precision: SqlClient's bulk copy repeats it before each value, all of
            // which it sends in 17 bytes, and tells it as the column's size. The values here are as short as may be.
            let token = if numeric { t::NUMERICN } else { t::DECIMALN };
            return out.extend_from_slice(&[token, decimal_bytes(38), precision, scale]);
        }
        SqlType::Money => return out.extend_from_slice(&[t::MONEYN, 8]),
        SqlType::SmallMoney => return out.extend_from_slice(&[t::MONEYN, 4]),
        SqlType::Float => return out.extend_from_slice(&[t::FLTN, 8]),
        SqlType::Real => return out.extend_from_slice(&[t::FLTN, 4]),
        SqlType::Date => return out.push(t::DATE),
        SqlType::Time(scale) => return out.extend_from_slice(&[t::TIME, scale]),
        SqlType::DateTime => return out.extend_from_slice(&[t::DATETIMN, 8]),
        SqlType::SmallDateTime => return out.extend_from_slice(&[t::DATETIMN, 4]),
        SqlType::DateTime2(scale) => return out.extend_from_slice(&[t::DATETIME2, scale]),
        SqlType::DateTimeOffset(scale) => {
            return out.extend_from_slice(&[t::DATETIMEOFFSET, scale]);
        }
        SqlType::UniqueIdentifier => return out.extend_from_slice(&[t::GUID, 16]),
        SqlType::Variant => {
            out.push(t::VARIANT);
            return out.extend_from_slice(&VARIANT_LENGTH.to_le_bytes());
        }
        // Of no schema collection, or of one that a client is not told.
        SqlType::Xml | SqlType::TypedXml { .. } => {
            return out.extend_from_slice(&[t::XML, 0]);
        }
        SqlType::Clr(ty) => return put_clr(out, ty),
        SqlType::Char(n) => (t::BIGCHAR, length(Len::N(n), 1)),
        SqlType::VarChar(len) => (t::BIGVARCHAR, length(len, 1)),
        SqlType::NChar(n) => (t::NCHAR, length(Len::N(n), 2)),
        SqlType::NVarChar(len) => (t::NVARCHAR, length(len, 2)),
        SqlType::Binary(n) => (t::BIGBINARY, length(Len::N(n), 1)),
        SqlType::VarBinary(len) => (t::BIGVARBINARY, length(len, 1)),
    };
    out.push(token);
    out.extend_from_slice(&short.to_le_bytes());
    if ty.is_character() {
        out.extend_from_slice(&collation.to_wire());
    }
}
