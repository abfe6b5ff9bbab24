//! OPENJSON: the members of an object or array as rows.
//!
//! The binder asks for it as a system view of that name. Its arguments: the text, the path, then for each column of WITH
//! the path to its value and 1 where the value is JSON itself (AS JSON). Source: SQL documentation, OPENJSON.

use crate::error::FunctionError;
use crate::json::{container, missing, not_scalar, too_long};
use ir::SystemView;
use json::{Kind, Node, Path};
use runtime::task::Breath;
use types::{Len, SqlType, Value, collation, convert};
use xml::binary::from_base64;

/// Whether the view is OPENJSON.
pub fn is_openjson(view: &SystemView) -> bool {
    view.name == ir::OPENJSON
}

/// Its rows; none for NULL.
pub fn rows(view: &SystemView, args: &[Value]) -> Result<Vec<Vec<Value>>, FunctionError> {
    let (Some(text), Some(path)) = (args[0].as_str(), args[1].as_str()) else {
        return Ok(Vec::new());
    };
    let path = Path::parse(path, false)?;
    let Some(root) = json::find(text, &path).map_err(|e| missing(e, 3))? else {
        return Ok(Vec::new());
    };
    if !root.is_container() {
        if path.strict {
            return Err(FunctionError::new(
                13611,
                16,
                "Value referenced by JSON path is not an array or object and cannot be opened with \
                 OPENJSON.",
            ));
        }
        return Ok(Vec::new());
    }
    let members = root.members()?;
    if args.len() == 2 {
        let mut rows = Vec::with_capacity(members.len());
        let mut breath = Breath::new();
        for (i, (name, node)) in members.iter().enumerate() {
            breath.steps(16)?;
            let key = name.clone().unwrap_or_else(|| i.to_string());
            let value = match node.is_container() {
                true => Value::str(node.raw()),
                false => node.scalar().map_or(Value::Null, |v| Value::str(&v)),
            };
            rows.push(vec![Value::str(&key), value, Value::TinyInt(node.kind as u8)]);
        }
        return Ok(rows);
    }
    let columns = view
        .columns
        .iter()
        .zip(args[2..].chunks_exact(2))
        .map(|(column, args)| {
            let path = Path::parse(args[0].as_str().unwrap_or("$"), false)?;
            Ok((column.ty, path, args[1].as_i64() == Some(1)))
        })
        .collect::<Result<Vec<_>, FunctionError>>()?;
    // An object is one row, an array a row for each element.
    let items: Vec<Node<'_>> = match root.kind {
        Kind::Array => members.into_iter().map(|(_, node)| node).collect(),
        _ => vec![root],
    };
    let mut out = Vec::with_capacity(items.len());
    let mut breath = Breath::new();
    for item in items {
        breath.steps(16)?;
        let mut row = Vec::with_capacity(columns.len());
        for (ty, path, as_json) in &columns {
            row.push(column(item, path, *ty, *as_json)?);
        }
        out.push(row);
    }
    Ok(out)
}

/// The value of a column in an item.
fn column(item: Node<'_>, path: &Path, ty: SqlType, as_json: bool) -> Result<Value, FunctionError> {
    let node = match path.steps.is_empty() {
        true => Some(item),
        false if item.is_container() => json::find(item.raw(), path).map_err(|e| missing(e, 6))?,
        false if path.strict => return Err(missing(json::JsonError::NotFound, 6)),
        false => None,
    };
    let Some(node) = node else { return Ok(Value::Null) };
    if as_json {
        return container(&node, path);
    }
    if node.is_container() {
        return not_scalar(path);
    }
    let Some(text) = node.scalar() else { return Ok(Value::Null) };
    if ty.is_binary() {
        let Some(bytes) = from_base64(&text) else {
            return Err(FunctionError::new(
                13612,
                16,
                "Cannot convert a string value found in the JSON text to binary value because it is \
                 not Base64 encoded.",
            ));
        };
        let from = SqlType::VarBinary(Len::Max);
        return Ok(convert::cast(&Value::binary(&bytes), from, ty, 0)?);
    }
    let limit = match ty {
        SqlType::Char(n) | SqlType::NChar(n) => usize::from(n),
        SqlType::VarChar(len) | SqlType::NVarChar(len) => len.limit(),
        _ => usize::MAX,
    };
    if collation::utf16_len(&text) > limit {
        return too_long(path);
    }
    let from = SqlType::NVarChar(Len::Max);
    // Numbers in scientific form are floats before they are anything else.
    let value = Value::str(&text);
    if ty.is_numeric() && text.contains(['e', 'E']) && node.kind == Kind::Number {
        let float = convert::cast(&value, from, SqlType::Float, 0)?;
        return Ok(convert::cast(&float, SqlType::Float, ty, 0)?);
    }
    Ok(convert::cast(&value, from, ty, 0)?)
}
