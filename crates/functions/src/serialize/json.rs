//! FOR JSON.

use super::{Writer, plain};
use crate::error::FunctionError;
use ir::SerialColumn;
use types::{SqlType, Value};

/// A value as JSON; `raw` is JSON already.
pub(crate) fn scalar(
    value: &Value,
    ty: SqlType,
    raw: bool,
    out: &mut String,
) -> Result<(), FunctionError> {
    match value {
        Value::Null => out.push_str("null"),
        Value::Variant(held) => return scalar(held.value(), held.ty(), raw, out),
        Value::Bit(v) => out.push_str(if *v { "true" } else { "false" }),
        Value::Str(text) if raw => out.push_str(text),
        Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Decimal(_)
        | Value::Money(_)
        | Value::Float(_)
        | Value::Real(_) => out.push_str(&plain(value, ty)?.unwrap_or_default()),
        _ => ::json::quote_into(&plain(value, ty)?.unwrap_or_default(), out),
    }
    Ok(())
}

/// PATH: an object of its own for each row.
pub(super) fn row(w: &mut Writer<'_>, row: &[Value]) -> Result<(), FunctionError> {
    if w.rows > 0 {
        w.out.push(',');
    }
    let columns: Vec<(&SerialColumn, &Value)> = w.spec.columns.iter().zip(row).collect();
    object(&mut w.out, &columns, w.spec.nulls)
}

/// An object of columns, those with a longer path in objects inside it.
fn object(
    out: &mut String,
    columns: &[(&SerialColumn, &Value)],
    nulls: bool,
) -> Result<(), FunctionError> {
    out.push('{');
    members(out, columns, 0, nulls, true)?;
    out.push('}');
    Ok(())
}

/// The members of the object at `depth`; whether there was one.
fn members(
    out: &mut String,
    columns: &[(&SerialColumn, &Value)],
    depth: usize,
    nulls: bool,
    mut first: bool,
) -> Result<bool, FunctionError> {
    let mut at = 0;
    while at < columns.len() {
        let (column, value) = columns[at];
        let name = &column.path[depth];
        if column.path.len() == depth + 1 {
            if nulls || !value.is_null() {
                comma(out, &mut first);
                ::json::quote_into(name, out);
                out.push(':');
                scalar(value, column.ty, column.raw, out)?;
            }
            at += 1;
            continue;
        }
        let inside = |c: &SerialColumn| c.path.len() > depth + 1 && c.path[depth] == *name;
        let end =
            columns[at..].iter().position(|(c, _)| !inside(c)).map_or(columns.len(), |n| at + n);
        let group = &columns[at..end];
        if nulls || group.iter().any(|(_, v)| !v.is_null()) {
            comma(out, &mut first);
            ::json::quote_into(name, out);
            out.push_str(":{");
            members(out, group, depth + 1, nulls, true)?;
            out.push('}');
        }
        at = end;
    }
    Ok(!first)
}

fn comma(out: &mut String, first: &mut bool) {
    if !std::mem::take(first) {
        out.push(',');
    }
}

/// AUTO: rows that agree with the one before in the columns of the outer tables go on in their objects.
pub(super) fn auto_row(w: &mut Writer<'_>, row: &[Value]) -> Result<(), FunctionError> {
    let from = w.first_new_level(row);
    close(w, from);
    let nulls = w.spec.nulls;
    for level in from..w.spec.levels.len() {
        if level == from && w.rows > 0 {
            w.out.push(',');
        }
        let columns: Vec<(&SerialColumn, &Value)> =
            w.spec.columns.iter().zip(row).filter(|(c, _)| c.level == level).collect();
        w.out.push('{');
        let some = members(&mut w.out, &columns, 0, nulls, true)?;
        if level + 1 < w.spec.levels.len() {
            if some {
                w.out.push(',');
            }
            ::json::quote_into(&w.spec.levels[level + 1], &mut w.out);
            w.out.push_str(":[");
        }
    }
    w.open = w.spec.levels.len();
    w.last = row.to_vec();
    Ok(())
}

/// Ends the objects of the levels from `level` on; the array around the innermost new one stays open.
fn close(w: &mut Writer<'_>, level: usize) {
    while w.open > level {
        w.open -= 1;
        w.out.push('}');
        if w.open > level {
            w.out.push(']');
        }
    }
}

/// Brackets, or the root around them.
pub(super) fn finish(w: &mut Writer<'_>) {
    close(w, 0);
    if w.spec.bare {
        return;
    }
    let rows = std::mem::take(&mut w.out);
    match &w.spec.root {
        Some(root) => {
            w.out.push('{');
            ::json::quote_into(root, &mut w.out);
            w.out.push_str(":[");
            w.out.push_str(&rows);
            w.out.push_str("]}");
        }
        None => {
            w.out.push('[');
            w.out.push_str(&rows);
            w.out.push(']');
        }
    }
}
