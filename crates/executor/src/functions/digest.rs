//! HASHBYTES, CHECKSUM and BINARY_CHECKSUM, COMPRESS and DECOMPRESS.

use crate::message::SqlError;
use binder::ir::{Expr, FuncId};
use sha2::Digest;
use std::io::{Read, Write};
use types::{SqlType, Value, collation, convert};

/// The most that DECOMPRESS makes of its argument, in bytes: a few of them may stand for very many.
const INFLATED_MAX: u64 = 256 << 20;

#[inline(never)]
pub(super) fn call(func: FuncId, v: &[Value], args: &[Expr]) -> Result<Value, SqlError> {
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
        FuncId::HashBytes => Ok(hash(v[0].as_str().unwrap_or(""), &bytes(1))),
        FuncId::Compress => {
            let mut gzip =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            let packed = gzip.write_all(&bytes(0)).and_then(|()| gzip.finish());
            packed.map(|b| Value::binary(&b)).map_err(|_| damaged())
        }
        _ => {
            let mut out = Vec::new();
            let packed = bytes(0);
            let read = flate2::read::MultiGzDecoder::new(&packed[..])
                .take(INFLATED_MAX + 1)
                .read_to_end(&mut out);
            match read {
                Ok(n) if n as u64 > INFLATED_MAX => Err(SqlError::new(
                    701,
                    17,
                    "There is insufficient system memory in resource pool 'default' to run this \
                     query.",
                )),
                Ok(_) => Ok(Value::binary(&out)),
                Err(_) => Err(damaged()),
            }
        }
    }
}

fn damaged() -> SqlError {
    SqlError::new(
        5140,
        16,
        "Error decompressing the data: it is not in GZIP format or it is damaged.",
    )
}

/// A value as SQL Server stores it.
fn bytes_of(value: &Value, ty: SqlType) -> Vec<u8> {
    match value {
        Value::Binary(bytes) => bytes.to_vec(),
        Value::Str(text) if ty.is_unicode() => {
            types::collation::units::units(text).flat_map(u16::to_le_bytes).collect()
        }
        Value::Str(text) => {
            let mut bytes = Vec::new();
            text.rule().code_page().encode_into(text, &mut bytes);
            bytes
        }
        other => match convert::cast(other, ty, SqlType::VarBinary(types::Len::Max), 0) {
            Ok(Value::Binary(bytes)) => bytes.to_vec(),
            _ => Vec::new(),
        },
    }
}

/// NULL for an algorithm that is none, as in SQL Server.
fn hash(algorithm: &str, bytes: &[u8]) -> Value {
    let name = algorithm.trim_end_matches(' ').to_ascii_uppercase();
    match name.as_str() {
        "SHA2_256" => Value::binary(&sha2::Sha256::digest(bytes)),
        "SHA2_512" => Value::binary(&sha2::Sha512::digest(bytes)),
        "SHA" | "SHA1" => Value::binary(&sha1::Sha1::digest(bytes)),
        "MD5" => Value::binary(&md5::Md5::digest(bytes)),
        _ => Value::Null,
    }
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
                let part = text.trim_end_matches(' ').chars().fold(0u32, |sum, c| {
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
                take(bytes.iter().fold(0u32, |sum, b| sum.rotate_left(4) ^ u32::from(*b)));
            }
        }
    }
    sum as i32
}
