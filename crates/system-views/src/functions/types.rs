//! Types by name and id.

use super::Args;
use crate::context::Context;
use crate::types_table::{by_user_id, find};
use ::types::Value;

/// TYPE_ID(name).
pub fn type_id(context: &Context<'_>, args: Args<'_>) -> Value {
    args.text(0).and_then(|name| find(context, name)).map_or(Value::Null, |t| Value::Int(t.user))
}

/// TYPE_NAME(id).
pub fn type_name(context: &Context<'_>, args: Args<'_>) -> Value {
    args.number(0)
        .and_then(|id| by_user_id(context, id))
        .map_or(Value::Null, |t| Value::str(&t.name))
}

/// TYPEPROPERTY(type, property).
pub fn type_property(context: &Context<'_>, args: Args<'_>) -> Value {
    let found = args.text(0).and_then(|name| find(context, name));
    let (Some(found), Some(property)) = (found, args.text(1)) else {
        return Value::Null;
    };
    let text = matches!(found.system, 165 | 167 | 173 | 175 | 231 | 239);
    let wide = matches!(found.system, 231 | 239);
    match property.trim().to_ascii_lowercase().as_str() {
        "allowsnull" => Value::Int(i32::from(found.nullable)),
        "ownerid" if found.user_defined => Value::Int(context.owner(found.user, found.schema_id)),
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

/// ODBCSCALE(system type, scale): digits behind the point of numbers and of seconds, NULL for what has none. It is not
/// documented; INFORMATION_SCHEMA.COLUMNS of SQL Server is made by it, and tools ask for it.
pub fn odbc_scale(args: Args<'_>) -> Value {
    match args.number(0) {
        // Whole numbers, date and smalldatetime.
        Some(40 | 48 | 52 | 56 | 58 | 127) => Value::Int(0),
        Some(60 | 122) => Value::Int(4),
        Some(61) => Value::Int(3),
        Some(41..=43 | 106 | 108) => args.number(1).map_or(Value::Null, |n| Value::Int(n as i32)),
        _ => Value::Null,
    }
}
