//! Bit functions: LEFT_SHIFT, RIGHT_SHIFT, BIT_COUNT, GET_BIT, SET_BIT.
//!
//! Bits are numbered from the least significant one, in binaries from the end. A shift by a negative count goes the
//! other way; one beyond the width leaves nothing. Source: SQL documentation, "Bit manipulation functions".

use super::int;
use crate::error::FunctionError;
use ir::{Expr, FuncId};
use types::{SqlType, Value};

#[inline(never)]
pub(super) fn call(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
) -> Result<Value, FunctionError> {
    if v.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let mut bytes = big_endian(&v[0]);
    match func {
        FuncId::BitCount => {
            return int(bytes.iter().map(|b| i64::from(b.count_ones())).sum(), ty);
        }
        FuncId::LeftShift | FuncId::RightShift => {
            let count = v[1].as_i64().unwrap_or(0);
            let count = if func == FuncId::LeftShift { count } else { count.saturating_neg() };
            shift(&mut bytes, count);
        }
        FuncId::GetBit => {
            let (byte, mask) = place(&bytes, &v[1], "get_bit", args[0].ty)?;
            return Ok(Value::Bit(bytes[byte] & mask != 0));
        }
        _ => {
            let (byte, mask) = place(&bytes, &v[1], "set_bit", args[0].ty)?;
            match v.get(2).and_then(Value::as_i64) {
                Some(0) => bytes[byte] &= !mask,
                Some(1) | None => bytes[byte] |= mask,
                Some(_) => return Err(out_of_range(3, "set_bit", args[0].ty)),
            }
        }
    }
    Ok(like(&v[0], &bytes))
}

/// The bits of a value, the most significant byte first.
fn big_endian(value: &Value) -> Vec<u8> {
    match value {
        Value::Bit(v) => vec![*v as u8],
        Value::TinyInt(v) => vec![*v],
        Value::SmallInt(v) => v.to_be_bytes().to_vec(),
        Value::Int(v) => v.to_be_bytes().to_vec(),
        Value::BigInt(v) => v.to_be_bytes().to_vec(),
        Value::Binary(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    }
}

/// The bits as a value of the kind of `model`.
fn like(model: &Value, bytes: &[u8]) -> Value {
    let number = bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
    match model {
        Value::Bit(_) => Value::Bit(number & 1 != 0),
        Value::TinyInt(_) => Value::TinyInt(number as u8),
        Value::SmallInt(_) => Value::SmallInt(number as i16),
        Value::Int(_) => Value::Int(number as i32),
        Value::BigInt(_) => Value::BigInt(number as i64),
        _ => Value::binary(bytes),
    }
}

/// To the left by `count` bits, to the right if that is negative; zeros come in.
fn shift(bytes: &mut [u8], count: i64) {
    let width = bytes.len() as i64 * 8;
    let old = bytes.to_vec();
    let bit = |at: i64| at >= 0 && at < width && old[(at / 8) as usize] >> (7 - at % 8) & 1 == 1;
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = (0..8).fold(0, |b, k| {
            let from = (i as i64 * 8 + k).saturating_add(count);
            b << 1 | bit(from) as u8
        });
    }
}

/// Byte and mask of the bit with this number.
fn place(
    bytes: &[u8],
    number: &Value,
    function: &str,
    ty: SqlType,
) -> Result<(usize, u8), FunctionError> {
    let number = number.as_i64().and_then(|n| usize::try_from(n).ok());
    match number {
        Some(n) if n < bytes.len() * 8 => Ok((bytes.len() - 1 - n / 8, 1 << (n % 8))),
        _ => Err(out_of_range(2, function, ty)),
    }
}

fn out_of_range(argument: u8, function: &str, ty: SqlType) -> FunctionError {
    let _ = ty;
    FunctionError::new(
        9838,
        16,
        format!("Invalid value for argument {argument} of the {function} function."),
    )
}
