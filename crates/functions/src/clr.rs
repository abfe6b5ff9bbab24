//! Methods of types of the CLR: values become their arguments, and what they make a value.

use crate::error::FunctionError;
use types::clr::{ARGS_MAX, Arg, Made, MethodId};
use types::{TypeError, Value};

pub(crate) fn call(method: MethodId, v: &[Value]) -> Result<Value, FunctionError> {
    let mut room = [Arg::Null; ARGS_MAX];
    let args = &mut room[..v.len()];
    for (arg, value) in args.iter_mut().zip(v) {
        *arg = match value {
            Value::Bit(b) => Arg::Bit(*b),
            Value::Int(n) => Arg::Int(*n),
            Value::Float(n) => Arg::Float(*n),
            Value::Str(text) => Arg::Text(text),
            Value::Binary(bytes) => Arg::Bytes(bytes),
            _ => Arg::Null,
        };
    }
    Ok(match method.call(args).map_err(TypeError::from)? {
        Made::Null => Value::Null,
        Made::Bit(b) => Value::Bit(b),
        Made::Small(n) => Value::SmallInt(n),
        Made::Int(n) => Value::Int(n),
        Made::Float(n) => Value::Float(n),
        Made::Text(text) => Value::str(&text),
        Made::Bytes(bytes) => Value::Binary(bytes.into()),
    })
}
