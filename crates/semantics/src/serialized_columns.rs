//! Columns of a query with FOR XML or FOR JSON: where their names put them, and which names do not go together.
//!
//! Promise: what a column's name says is said once, here, before a row is made into text. Errors: 6810, 6850, 6852, 6865,
//! 13604.
//!
//! Source: SQL Server's documentation, "Columns with a Name" and "Columns with the Name of an XPath Node Test" of FOR XML
//! PATH, "Format nested JSON output with PATH mode".

use ir::{OutputColumn, SerialColumn, SerialNode};
use types::SqlType;

use crate::error::{BindError, Result};
use crate::xml_names::first_wrong;

/// Does the new property meet one that is there, or an object that is closed already?
pub fn json_conflict(before: &[SerialColumn], new: &SerialColumn) -> bool {
    let Some(last) = before.last() else { return false };
    before.iter().filter(|c| c.level == new.level).any(|old| {
        let common = old.path.iter().zip(&new.path).take_while(|(a, b)| a == b).count();
        if common == old.path.len() || common == new.path.len() {
            return true;
        }
        // An object both lie in must still be open: the column before lies in it as well.
        let open = last.path.iter().zip(&new.path).take_while(|(a, b)| a == b).count();
        common > open
    })
}

/// A column's name as a path: `a/b/@c`, `text()`, `node()`, `*`, `data()`, `comment()`,
/// `processing-instruction(target)`.
pub fn xml_path(column: &mut SerialColumn, name: &str, line: u32) -> Result<()> {
    if name.is_empty() || name == "*" {
        return Ok(());
    }
    let mut path: Vec<&str> = name.split('/').collect();
    match path.last().copied() {
        Some("text()" | "node()" | "*") => {
            path.pop();
        }
        Some("data()") => {
            column.list = true;
            path.pop();
        }
        Some("comment()") => {
            column.node = SerialNode::Comment;
            path.pop();
        }
        Some(last) if instruction(last).is_some() => {
            column.node = SerialNode::Instruction(instruction(last).unwrap_or("").to_owned());
            path.pop();
        }
        Some(last) => {
            if let Some(attribute) = last.strip_prefix('@') {
                column.attribute = true;
                let end = path.len() - 1;
                path[end] = attribute;
            }
        }
        None => {}
    }
    for part in &path {
        if let Some(c) = first_wrong(part) {
            return Err(BindError::new(
                6850,
                16,
                line,
                format!(
                    "Column name '{name}' contains an invalid XML identifier as required by FOR XML; \
                     '{c}'(0x{:04X}) is the first character at fault.",
                    c as u32
                ),
            ));
        }
    }
    column.path = path.into_iter().map(str::to_owned).collect();
    Ok(())
}

/// The target in `processing-instruction(target)`.
fn instruction(name: &str) -> Option<&str> {
    let target = name.strip_prefix("processing-instruction(")?.strip_suffix(')')?.trim();
    first_wrong(target).is_none().then_some(target)
}

/// 6810: an attribute comes once.
pub fn once(before: &[SerialColumn], made: &SerialColumn, name: &str, line: u32) -> Result<()> {
    let same = |c: &SerialColumn| c.attribute && c.level == made.level && c.path == made.path;
    match made.attribute && before.iter().any(same) {
        true => Err(BindError::new(
            6810,
            16,
            line,
            format!(
                "Column name '{name}' is repeated. The same attribute cannot be generated more than once on the \
                 same XML tag."
            ),
        )),
        false => Ok(()),
    }
}

/// 6865, 13604.
pub fn none_of_the_clr(output: &[OutputColumn], xml: bool, line: u32) -> Result<()> {
    if !output.iter().any(|column| matches!(column.ty, SqlType::Clr(_))) {
        return Ok(());
    }
    let (number, text) = match xml {
        true => (
            6865,
            "FOR XML does not support CLR types - cast CLR types explicitly into one of the supported types in FOR XML \
             queries.",
        ),
        false => (
            13604,
            "FOR JSON cannot serialize CLR objects. Cast CLR types explicitly into one of the supported types in FOR \
             JSON queries.",
        ),
    };
    Err(BindError::new(number, 16, line, text))
}

/// 6852: an attribute after something else inside the same element.
pub fn attributes_first(
    columns: &[SerialColumn],
    output: &[OutputColumn],
    line: u32,
) -> Result<()> {
    for (i, column) in columns.iter().enumerate().filter(|(_, c)| c.attribute) {
        let inside = &column.path[..column.path.len() - 1];
        let late =
            columns[..i].iter().rev().take_while(|c| c.path.starts_with(inside)).any(|c| {
                c.level == column.level && (!c.attribute || c.path.len() > column.path.len())
            });
        if late {
            let name = output[i].name.as_deref().unwrap_or("");
            return Err(BindError::new(
                6852,
                16,
                line,
                format!(
                    "Attribute-centric column '{name}' must not come after a non-attribute-centric \
                     sibling in XML hierarchy in FOR XML PATH."
                ),
            ));
        }
    }
    Ok(())
}
