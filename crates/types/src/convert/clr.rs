//! Types of the CLR from texts and binaries, and to texts; a binary their values are already.
//!
//! Sources: SQL documentation, "hierarchyid data type method reference" (data type conversion), "Parse", "ToString".

use super::{Cow, Len, TypeError, Value, clash, fit_text, length};
use crate::{ClrType, SqlType};

/// A value of the type: a text is parsed, a binary checked.
pub(super) fn enter(value: &Value, from: SqlType, ty: ClrType) -> Result<Value, TypeError> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Binary(_) if from == SqlType::Clr(ty) => Ok(value.clone()),
        Value::Binary(bytes) => {
            let admitted = ty.admit(bytes)?;
            Ok(admitted.map_or(Value::Null, |bytes| match bytes {
                Cow::Borrowed(_) => value.clone(),
                Cow::Owned(bytes) => Value::Binary(bytes.into()),
            }))
        }
        Value::Str(text) => {
            Ok(ty.parse(text)?.map_or(Value::Null, |bytes| Value::Binary(bytes.into())))
        }
        _ => Err(clash(from, SqlType::Clr(ty))),
    }
}

/// The text of a value.
pub(super) fn leave(
    ty: ClrType,
    bytes: &[u8],
    to: SqlType,
    strict: bool,
) -> Result<Value, TypeError> {
    let text = ty.text(bytes)?;
    let source = SqlType::NVarChar(if ty.is_spatial() { Len::Max } else { Len::N(4000) });
    let limit = length(to).limit();
    let text = fit_text(Cow::Borrowed(&text), &Value::str(""), source, to, limit, strict)?;
    Ok(Value::Str(text))
}
