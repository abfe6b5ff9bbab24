//! JSON functions: ISJSON, JSON_VALUE, JSON_QUERY, JSON_MODIFY, JSON_PATH_EXISTS, JSON_OBJECT, JSON_ARRAY,
//! STRING_ESCAPE.
//!
//! Which arguments are JSON already (and so are not quoted) is the binder's to say: it wraps them in
//! [`FuncId::AsJson`], or names them in the flags of JSON_OBJECT and JSON_ARRAY. Source: SQL documentation, "JSON
//! functions".

use crate::error::FunctionError;
use crate::serialize::json_scalar;
use ir::{Expr, FuncId};
use json::{JsonError, Kind, Node, Path};
use types::{SqlType, Value};

/// The most characters JSON_VALUE returns.
const VALUE_CHARS_MAX: usize = 4000;

#[inline(never)]
pub(super) fn call(
    func: FuncId,
    v: &[Value],
    args: &[Expr],
    ty: SqlType,
) -> Result<Value, FunctionError> {
    match func {
        FuncId::JsonObject | FuncId::JsonArray => return construct(func, v, args),
        FuncId::JsonModify => return modify(v, args),
        _ => {}
    }
    if v.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let text = v[0].as_str().unwrap_or("");
    let path = |modifying| Path::parse(v.get(1).and_then(Value::as_str).unwrap_or("$"), modifying);
    match func {
        FuncId::AsJson => Ok(v[0].clone()),
        FuncId::StringEscape => {
            if v[1].as_str().is_some_and(|t| t.trim_end_matches(' ').eq_ignore_ascii_case("json")) {
                let mut out = String::with_capacity(text.len() + 2);
                crate::size::value_of(text.len())?;
                json::quote_into(text, &mut out);
                return Ok(Value::str(&out[1..out.len() - 1]));
            }
            Err(FunctionError::new(
                9828,
                16,
                "An invalid value was specified for argument 2 of string_escape function.",
            ))
        }
        FuncId::IsJson => {
            let kind = match json::check(text) {
                Err(JsonError::Stopped(stopped)) => return Err(stopped.into()),
                kind => kind.ok(),
            };
            let wanted = v.get(1).and_then(Value::as_str).unwrap_or("").to_ascii_uppercase();
            let good = match (kind, wanted.as_str()) {
                (None, _) => false,
                (Some(kind), "VALUE") => {
                    let _ = kind;
                    true
                }
                (Some(kind), "ARRAY") => kind == Kind::Array,
                (Some(kind), "OBJECT") => kind == Kind::Object,
                (Some(kind), "SCALAR") => matches!(kind, Kind::String | Kind::Number),
                (Some(kind), _) => matches!(kind, Kind::Array | Kind::Object),
            };
            Ok(Value::Int(good as i32))
        }
        FuncId::JsonPathExists => {
            let path = Path { strict: false, ..path(false)? };
            let found = json::find(text, &path).ok().flatten();
            Ok(Value::Int(found.is_some() as i32))
        }
        FuncId::JsonValue => {
            let path = path(false)?;
            let found = json::find(text, &path).map_err(|e| missing(e, 5))?;
            let Some(node) = found else { return Ok(Value::Null) };
            if node.is_container() {
                return not_scalar(&path);
            }
            let Some(value) = node.scalar() else { return Ok(Value::Null) };
            let limit = match ty {
                SqlType::NVarChar(len) => len.limit().min(VALUE_CHARS_MAX),
                _ => VALUE_CHARS_MAX,
            };
            if types::collation::utf16_len(&value) > limit {
                return too_long(&path);
            }
            Ok(Value::str(&value))
        }
        _ => {
            let path = path(false)?;
            let found = json::find(text, &path).map_err(|e| missing(e, 5))?;
            let Some(node) = found else { return Ok(Value::Null) };
            container(&node, &path)
        }
    }
}

/// JSON_MODIFY(text, path, value). NULL as the new value removes the member, or sets null under strict.
fn modify(v: &[Value], args: &[Expr]) -> Result<Value, FunctionError> {
    if v[0].is_null() || v[1].is_null() {
        return Ok(Value::Null);
    }
    let path = Path::parse(v[1].as_str().unwrap_or(""), true)?;
    let new = match &v[2] {
        Value::Null => None,
        value => Some(item(value, &args[2])?),
    };
    Ok(Value::str(&json::modify(v[0].as_str().unwrap_or(""), &path, new.as_deref())?))
}

/// A value as JSON: wrapped ones go in as they are.
fn item(value: &Value, arg: &Expr) -> Result<String, FunctionError> {
    let is_json = matches!(&arg.kind, ir::ExprKind::Func { func, .. } if *func == FuncId::AsJson);
    let mut out = String::new();
    json_scalar(value, arg.ty, is_json, &mut out)?;
    Ok(out)
}

/// The text of an object or array; of a scalar NULL, or 13624 in strict mode.
pub(crate) fn container(node: &Node<'_>, path: &Path) -> Result<Value, FunctionError> {
    if node.is_container() {
        return Ok(Value::str(node.raw()));
    }
    // null is NULL in either mode.
    if node.kind == json::Kind::Null {
        return Ok(Value::Null);
    }
    null_unless_strict(path, 13624, "Object or array cannot be found in the specified JSON path.")
}

/// An object or array where a scalar is wanted.
pub(crate) fn not_scalar(path: &Path) -> Result<Value, FunctionError> {
    null_unless_strict(path, 13623, "Scalar value cannot be found in the specified JSON path.")
}

/// A text that does not fit.
pub(crate) fn too_long(path: &Path) -> Result<Value, FunctionError> {
    null_unless_strict(path, 13625, "String value in the specified JSON path would be truncated.")
}

fn null_unless_strict(path: &Path, number: i32, text: &str) -> Result<Value, FunctionError> {
    if path.strict { Err(FunctionError::new(number, 16, text)) } else { Ok(Value::Null) }
}

/// JSON_OBJECT('a': 1, ...) and JSON_ARRAY(1, ...); the first argument says whether NULLs are left out.
fn construct(func: FuncId, v: &[Value], args: &[Expr]) -> Result<Value, FunctionError> {
    let absent = v[0].as_i64() == Some(1);
    let mut out = String::new();
    if func == FuncId::JsonArray {
        out.push('[');
        for (value, arg) in v.iter().zip(args).skip(1) {
            if !(absent && value.is_null()) {
                if out.len() > 1 {
                    out.push(',');
                }
                out.push_str(&item(value, arg)?);
            }
        }
        out.push(']');
        return Ok(Value::str(&out));
    }
    out.push('{');
    let pairs = v[1..].chunks_exact(2).zip(args[1..].chunks_exact(2));
    for (pair, arg) in pairs {
        let Some(name) = pair[0].as_str() else {
            return Err(FunctionError::new(
                13638,
                16,
                "The key of a JSON_OBJECT member must not be NULL.",
            ));
        };
        if absent && pair[1].is_null() {
            continue;
        }
        if out.len() > 1 {
            out.push(',');
        }
        json::quote_into(name, &mut out);
        out.push(':');
        out.push_str(&item(&pair[1], &arg[1])?);
    }
    out.push('}');
    Ok(Value::str(&out))
}

/// An error of a path; where a strict one leads nowhere (13608) its state says who was asked.
pub(crate) fn missing(error: JsonError, state: u8) -> FunctionError {
    let strict = matches!(error, JsonError::NotFound);
    FunctionError::from(error).with_state(if strict { state } else { 1 })
}

impl From<JsonError> for FunctionError {
    fn from(e: JsonError) -> FunctionError {
        match e {
            JsonError::Stopped(stopped) => stopped.into(),
            e => FunctionError::new(e.number(), 16, e.to_string()),
        }
    }
}
