//! What READTEXT, WRITETEXT and UPDATETEXT find at a text pointer. TEXTPTR itself is among the digests.

use crate::error::FunctionError;
use runtime::task::breathing;
use types::Value;
use types::collation::units::units;

/// What READTEXT reads when the size is 0.
const WHOLE_READ_BYTES: usize = 4096;

/// The pointer, if a row has it: 7123; 7133 for NULL, which is the statement's.
pub(super) fn checked(v: &[Value], statement: &str) -> Result<Value, FunctionError> {
    match (&v[0], &v[1]) {
        (Value::Null, _) => {
            let text = format!(
                "NULL textptr (text, ntext, or image pointer) passed to {statement} function."
            );
            Err(FunctionError::new(7133, 16, text))
        }
        (Value::Binary(pointer), Value::Null) => {
            let digits = stdx::hex(&pointer[..]);
            let text = format!("Invalid text, ntext, or image pointer value 0x{digits}.");
            Err(FunctionError::new(7123, 16, text))
        }
        (pointer, _) => Ok(pointer.clone()),
    }
}

/// A part of the value that is found, in bytes or UTF-16 units: 7124 where it has not so much.
pub(super) fn read(v: &[Value]) -> Result<Value, FunctionError> {
    checked(v, "ReadText")?;
    let place = |i: usize| v[i].as_i64().and_then(|n| usize::try_from(n).ok());
    let part = |length: usize| {
        let found = place(2).zip(place(3)).and_then(|(from, size)| {
            let left = length.checked_sub(from)?;
            let size = if size == 0 { WHOLE_READ_BYTES.min(left) } else { size };
            (size <= left).then_some(from..from + size)
        });
        found.ok_or_else(|| {
            let text = format!(
                "The offset and length specified in the READTEXT statement is greater than the actual data length of \
                 {length}."
            );
            FunctionError::new(7124, 16, text)
        })
    };
    Ok(match &v[1] {
        Value::Binary(bytes) => Value::binary(&bytes[part(bytes.len())?]),
        Value::Str(text) => {
            let all: Vec<u16> = breathing(units(text)).collect();
            let read = char::decode_utf16(all[part(all.len())?].iter().copied());
            let read = breathing(read).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
            Value::str(&read.collect::<String>())
        }
        other => other.clone(),
    })
}
