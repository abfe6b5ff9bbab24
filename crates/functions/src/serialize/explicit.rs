//! FOR XML EXPLICIT: a row is an element of one tag, inside the element of another that is open.
//!
//! Promise: every element that is opened is closed. Errors: 6803, 6804, 6806, 6807, 6833. Source: SQL documentation, "Use
//! EXPLICIT mode with FOR XML".

use super::{Writer, xml};
use crate::error::FunctionError;
use ir::{NO_PARENT, NO_TAG, SerialColumn};
use types::Value;

/// An element whose end has not been written.
pub(super) struct Open {
    tag: i64,
    /// Its name in the spec's levels.
    level: usize,
    /// There is something in it, so its start is whole.
    filled: bool,
}

/// A row whose first two columns are its tag and the one it stands in.
pub(super) fn row(w: &mut Writer<'_>, tags: &[i64], row: &[Value]) -> Result<(), FunctionError> {
    let spec = w.spec;
    let Some(tag) = row[0].as_i64().filter(|tag| *tag > 0) else {
        return Err(FunctionError::new(6803, 16, NO_TAG));
    };
    let Some(parent) = parent_of(&row[1]) else {
        return Err(FunctionError::new(6804, 16, NO_PARENT));
    };
    let Some(level) = tags.iter().position(|known| *known == tag) else {
        let text = format!("Undeclared tag ID {tag} is used in a FOR XML EXPLICIT query.");
        return Err(FunctionError::new(6806, 16, text));
    };
    if parent != 0 && !tags.contains(&parent) {
        let text =
            format!("Undeclared parent tag ID {parent} is used in a FOR XML EXPLICIT query.");
        return Err(FunctionError::new(6807, 16, text));
    }
    let around = match parent {
        0 => 0,
        parent => match w.tags.iter().rposition(|open| open.tag == parent) {
            Some(at) => at + 1,
            None => {
                let text = format!(
                    "Parent tag ID {parent} is not among the open tags. FOR XML EXPLICIT requires parent tags to be \
                     opened first. Check the ordering of the result set."
                );
                return Err(FunctionError::new(6833, 16, text));
            }
        },
    };
    close(w, around);
    fill(w);
    let columns = || spec.columns.iter().zip(row).filter(|(column, _)| column.level == level);
    w.out.push('<');
    w.out.push_str(&spec.levels[level]);
    if w.tags.is_empty() && spec.root.is_none() {
        w.out.push_str(&w.head);
    }
    for (column, value) in columns().filter(|(column, _)| column.attribute) {
        if let Some(name) = column.path.first() {
            xml::attribute(&mut w.out, name, column, value)?;
        }
    }
    w.tags.push(Open { tag, level, filled: false });
    for (column, value) in columns().filter(|(column, _)| !column.attribute) {
        inside(w, column, value)?;
    }
    Ok(())
}

/// A column that is not an attribute: an element, or text of the element itself.
fn inside(w: &mut Writer<'_>, column: &SerialColumn, value: &Value) -> Result<(), FunctionError> {
    let text = xml::value_text(column, value)?;
    match (column.path.first(), text) {
        (None, None) => {}
        (None, Some(text)) => {
            if !text.is_empty() {
                fill(w);
                xml::write(&mut w.out, column, &text);
            }
        }
        (Some(_), None) if !column.nil => {}
        (Some(name), None) => {
            fill(w);
            w.out.push_str(&format!("<{name} xsi:nil=\"true\"/>"));
        }
        (Some(name), Some(text)) => {
            fill(w);
            w.out.push_str(&format!("<{name}>"));
            xml::write(&mut w.out, column, &text);
            w.out.push_str(&format!("</{name}>"));
        }
    }
    Ok(())
}

/// Something follows in the innermost open element.
fn fill(w: &mut Writer<'_>) {
    if let Some(open) = w.tags.last_mut()
        && !open.filled
    {
        open.filled = true;
        w.out.push('>');
    }
}

/// Ends open elements until so many are left.
pub(super) fn close(w: &mut Writer<'_>, left: usize) {
    while w.tags.len() > left {
        let Some(open) = w.tags.pop() else { return };
        match open.filled {
            true => w.out.push_str(&format!("</{}>", w.spec.levels[open.level])),
            false => w.out.push_str("/>"),
        }
    }
}

/// Of no parent: 0.
fn parent_of(value: &Value) -> Option<i64> {
    match value {
        Value::Null => Some(0),
        value => value.as_i64().filter(|parent| *parent >= 0),
    }
}
