//! Types by name and id.

use super::Args;
use crate::types_table::{TypeRow, by_name, by_user_id};
use ::types::Value;
use interpreter::name_parts;

/// A type by a name that may carry a schema: `sys.int`, `[int]`.
fn find(name: &str) -> Option<&'static TypeRow> {
    let parts = name_parts(name);
    let schema_fits = match &parts[..] {
        [schema, _] => schema.eq_ignore_ascii_case("sys") || schema.is_empty(),
        [_] => true,
        _ => false,
    };
    parts.last().filter(|_| schema_fits).and_then(|name| by_name(name))
}

/// TYPE_ID(name).
pub fn type_id(args: Args<'_>) -> Value {
    args.text(0).and_then(find).map_or(Value::Null, |t| Value::Int(t.user))
}

/// TYPE_NAME(id).
pub fn type_name(args: Args<'_>) -> Value {
    args.number(0).and_then(by_user_id).map_or(Value::Null, |t| Value::str(t.name))
}

/// TYPEPROPERTY(type, property).
pub fn type_property(args: Args<'_>) -> Value {
    let (Some(found), Some(property)) = (args.text(0).and_then(find), args.text(1)) else {
        return Value::Null;
    };
    let text = matches!(found.system, 165 | 167 | 173 | 175 | 231 | 239);
    let wide = matches!(found.system, 231 | 239);
    match property.trim().to_ascii_lowercase().as_str() {
        "allowsnull" => Value::Int(i32::from(found.nullable)),
        "ownerid" => Value::Int(4),
        "precision" if found.precision > 0 => Value::Int(found.precision as i32),
        "precision" if text && wide => Value::Int(found.max_length as i32 / 2),
        "precision" => Value::Int(found.max_length as i32),
        "scale" if found.precision > 0 && !matches!(found.system, 59 | 62) => {
            Value::Int(found.scale as i32)
        }
        "usesansitrim" if text => Value::Int(1),
        _ => Value::Null,
    }
}
