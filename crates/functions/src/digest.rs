//! HASHBYTES, sys.fn_varbintohexstr, CHECKSUM and BINARY_CHECKSUM, COMPRESS and DECOMPRESS, BASE64_ENCODE and BASE64_DECODE.

use crate::error::FunctionError;
use ir::{Expr, FuncId};
use runtime::task::{append_bytes, breathing, in_pieces};
use sha2::Digest;
use std::io::{Read, Write};
use types::{SqlType, Value, collation, convert};
use xml::binary::from_base64 as from_base64_with_padding;
use xml::binary::to_base64 as to_base64_with_padding;

/// Bytes between two breaths.
const PIECE_BYTES: usize = 64 << 10;

/// So many bytes from the first on (from 1), two small digits each; a place or a count out of range is the first or all.
fn hexadecimal(prefix: bool, bytes: &[u8], first: i64, count: i64) -> Value {
    let within = |n: i64| usize::try_from(n).ok().filter(|n| (1..=bytes.len()).contains(n));
    let first = within(first).map_or(0, |first| first - 1);
    let count = within(count).unwrap_or(bytes.len());
    let shown = bytes.iter().skip(first).take(count);
    let digits = stdx::hex(breathing(shown));
    Value::str(&format!("{}{digits}", if prefix { "0x" } else { "" }))
}

#[inline(never)]
pub(super) fn call(func: FuncId, v: &[Value], args: &[Expr]) -> Result<Value, FunctionError> {
    match func {
        FuncId::Checksum => return Ok(Value::Int(checksum(v, args, true))),
        FuncId::BinaryChecksum => return Ok(Value::Int(checksum(v, args, false))),
        _ => {}
    }
    if v.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let bytes = |i: usize| bytes_of(&v[i], args[i].ty);
    match func {
        FuncId::BinaryText if v.len() == 1 => Ok(hexadecimal(true, &bytes(0), 1, 0)),
        FuncId::BinaryText => {
            let number = |i: usize| v[i].as_i64().unwrap_or(0);
            Ok(hexadecimal(number(0) == 1, &bytes(1), number(2), number(3)))
        }
        FuncId::TextPointer => {
            // What the row is known by, each part with its length.
            let mut known = Vec::new();
            for i in 0..v.len() {
                let part = bytes(i);
                known.extend_from_slice(&(part.len() as u32).to_le_bytes());
                known.extend_from_slice(&part);
            }
            hash("MD5", &known)
        }
        FuncId::Base64Encode => {
            let url_safe = v.get(1).and_then(Value::as_i64).is_some_and(|n| n != 0);
            to_base64(&bytes(0), url_safe)
        }
        FuncId::Base64Decode => from_base64(v[0].as_str().unwrap_or("")),
        FuncId::HashBytes => hash(v[0].as_str().unwrap_or(""), &bytes(1)),
        FuncId::Compress => {
            let mut gzip =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            for piece in bytes(0).chunks(PIECE_BYTES) {
                gzip.write_all(piece).map_err(|_| damaged())?;
                runtime::task::breathe()?;
            }
            gzip.finish().map(|b| Value::binary(&b)).map_err(|_| damaged())
        }
        _ => {
            let mut out = Vec::new();
            let packed = bytes(0);
            let mut plain = flate2::read::MultiGzDecoder::new(&packed[..]);
            loop {
                let had = out.len();
                crate::size::value_of(had + PIECE_BYTES)?;
                let mut piece = plain.by_ref().take(PIECE_BYTES as u64);
                piece.read_to_end(&mut out).map_err(|_| damaged())?;
                if out.len() == had {
                    return Ok(Value::binary(&out));
                }
                runtime::task::breathe()?;
            }
        }
    }
}

fn damaged() -> FunctionError {
    FunctionError::new(
        5140,
        16,
        "Error decompressing the data: it is not in GZIP format or it is damaged.",
    )
}

/// A value as SQL Server stores it.
fn bytes_of(value: &Value, ty: SqlType) -> Vec<u8> {
    match value {
        Value::Binary(bytes) => {
            let mut copy = Vec::new();
            append_bytes(&mut copy, bytes);
            copy
        }
        Value::Str(text) if ty.is_unicode() => {
            breathing(types::collation::units::units(text)).flat_map(u16::to_le_bytes).collect()
        }
        Value::Str(text) => {
            let page = text.rule().code_page();
            let mut bytes = Vec::with_capacity(text.len());
            in_pieces(text, |piece| page.encode_into(piece, &mut bytes));
            bytes
        }
        other => match convert::cast(other, ty, SqlType::VarBinary(types::Len::Max), 0) {
            Ok(Value::Binary(bytes)) => bytes.to_vec(),
            _ => Vec::new(),
        },
    }
}

/// RFC 4648, section 4, with padding; safe in addresses: section 5, without.
fn to_base64(bytes: &[u8], url_safe: bool) -> Result<Value, FunctionError> {
    crate::size::value_of(bytes.len().div_ceil(3).saturating_mul(4))?;
    let mut out = String::new();
    // What of all pieces but the last has no padding.
    for piece in bytes.chunks(PIECE_BYTES / 4 * 3) {
        let text = to_base64_with_padding(piece);
        match url_safe {
            true => {
                let text = text.trim_end_matches('=').chars();
                out.extend(text.map(|c| match c {
                    '+' => '-',
                    '/' => '_',
                    c => c,
                }));
            }
            false => out.push_str(&text),
        }
        runtime::task::breathe()?;
    }
    Ok(Value::str(&out))
}

/// Either alphabet, padding or none, blanks anywhere. 9803: state 20 at a character of neither, 21 where digits lack, or their
/// padding does not fit, 23 above two of that or at digits behind it.
fn from_base64(text: &str) -> Result<Value, FunctionError> {
    let invalid = |state: u8| {
        FunctionError::new(9803, 16, "Invalid data for type \"Base64Decode\".").with_state(state)
    };
    crate::size::value_of(text.len())?;
    let mut digits = String::with_capacity(text.len() + 2);
    let mut padding = 0;
    for byte in breathing(text.bytes()) {
        let digit = match byte {
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            b'=' => {
                padding += 1;
                continue;
            }
            b'-' => '+',
            b'_' => '/',
            b'+' | b'/' => char::from(byte),
            _ if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => return Err(invalid(20)),
        };
        if padding > 0 {
            return Err(invalid(23));
        }
        digits.push(digit);
    }
    if padding > 2 {
        return Err(invalid(23));
    }
    let lacking = (4 - digits.len() % 4) % 4;
    if lacking == 3 || padding > 0 && padding != lacking {
        return Err(invalid(21));
    }
    digits.extend(std::iter::repeat_n('=', lacking));
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let mut rest = &digits[..];
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.len().min(PIECE_BYTES));
        out.extend(from_base64_with_padding(piece).ok_or_else(|| invalid(21))?);
        rest = behind;
        runtime::task::breathe()?;
    }
    Ok(Value::binary(&out))
}

/// NULL for an algorithm that is none, as in SQL Server.
fn hash(algorithm: &str, bytes: &[u8]) -> Result<Value, FunctionError> {
    let name = algorithm.trim_end_matches(' ').to_ascii_uppercase();
    match name.as_str() {
        "SHA2_256" => hash_by::<sha2::Sha256>(bytes),
        "SHA2_512" => hash_by::<sha2::Sha512>(bytes),
        "SHA" | "SHA1" => hash_by::<sha1::Sha1>(bytes),
        "MD5" => hash_by::<md5::Md5>(bytes),
        _ => Ok(Value::Null),
    }
}

fn hash_by<D: Digest>(bytes: &[u8]) -> Result<Value, FunctionError> {
    let mut hash = D::new();
    for piece in bytes.chunks(PIECE_BYTES) {
        hash.update(piece);
        runtime::task::breathe()?;
    }
    Ok(Value::binary(&hash.finalize()))
}

/// Values are taken one after the other: rotated by four bits, then XORed. A whole number up to int counts as itself, a
/// text as its characters one after the other (CHECKSUM: as their weights under the collation, which are not SQL
/// Server's numbers), so the documented values of BINARY_CHECKSUM are met.
fn checksum(v: &[Value], args: &[Expr], weighted: bool) -> i32 {
    let mut sum = 0u32;
    let mut take = |part: u32| sum = sum.rotate_left(4) ^ part;
    for (value, arg) in v.iter().zip(args) {
        match value {
            Value::Null => take(i32::MAX as u32),
            Value::Bit(_) | Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_) => {
                take(value.as_i64().unwrap_or(0) as u32);
            }
            Value::Str(text) => {
                let part = breathing(text.trim_end_matches(' ').chars()).fold(0u32, |sum, c| {
                    let unit = match weighted {
                        true => collation::weight(c) >> 24 | collation::weight(c) << 8,
                        false => c as u32,
                    };
                    sum.rotate_left(4) ^ unit
                });
                take(part);
            }
            _ => {
                let bytes = bytes_of(value, arg.ty);
                take(
                    breathing(bytes.iter()).fold(0u32, |sum, b| sum.rotate_left(4) ^ u32::from(*b)),
                );
            }
        }
    }
    sum as i32
}
