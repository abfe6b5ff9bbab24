//! FOR XML EXPLICIT: what the names of columns say, `element!tag!attribute!directive`.
//!
//! Errors: 6801 to 6804, 6812, 6817, 6824. Source: SQL documentation, "Use EXPLICIT mode with FOR XML".

use ir::*;

use crate::error::{BindError, Result};
use crate::xml_names::xml_name;
use types::SqlType;

/// No tag has it.
const NOWHERE: usize = usize::MAX;

/// Fills in the columns, the tags and their elements.
pub fn shape(
    spec: &mut SerializeSpec,
    output: &[OutputColumn],
    namespaces: &[(String, String)],
    line: u32,
) -> Result<()> {
    let wrong = |number, text: &str| Err(BindError::new(number, 16, line, text));
    let [tag, parent, data @ ..] = output else {
        return wrong(6801, TOO_FEW);
    };
    if data.is_empty() {
        return wrong(6801, TOO_FEW);
    }
    if !is_integer(tag.ty) {
        return wrong(6803, NO_TAG);
    }
    if !is_integer(parent.ty) {
        return wrong(6804, NO_PARENT);
    }
    let mut tags = Vec::new();
    spec.columns = [tag, parent].map(|column| of_no_tag(column.ty)).into();
    for column in data {
        let name = column.name.as_deref().unwrap_or("");
        let made = described(column, name, spec, &mut tags, namespaces, line)?;
        spec.nulls |= made.nil;
        spec.columns.push(made);
    }
    spec.nesting = Nesting::Tags(tags);
    Ok(())
}

const TOO_FEW: &str = "FOR XML EXPLICIT requires at least three columns, including the tag column, the parent column, and \
                       at least one data column.";

fn is_integer(ty: SqlType) -> bool {
    matches!(ty, SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt)
}

fn of_no_tag(ty: SqlType) -> SerialColumn {
    SerialColumn { level: NOWHERE, ..SerialColumn::of(ty) }
}

fn described(
    column: &OutputColumn,
    name: &str,
    spec: &mut SerializeSpec,
    tags: &mut Vec<i64>,
    namespaces: &[(String, String)],
    line: u32,
) -> Result<SerialColumn> {
    let parts: Vec<&str> = name.split('!').collect();
    let tag = parts.get(1).and_then(|tag| tag.parse::<u32>().ok()).filter(|tag| *tag > 0);
    let (Some(tag), 2..=4, false) = (tag, parts.len(), parts[0].is_empty()) else {
        return Err(BindError::new(
            6802,
            16,
            line,
            format!(
                "FOR XML EXPLICIT query contains the invalid column name '{name}'. Use the \
                 TAGNAME!TAGID!ATTRIBUTENAME[!..] format where TAGID is a positive integer."
            ),
        ));
    };
    let element = xml_name(parts[0], namespaces);
    let level = match tags.iter().position(|known| *known == i64::from(tag)) {
        Some(level) if spec.levels[level] == element => level,
        Some(level) => {
            let before = &spec.levels[level];
            let text = format!(
                "XML tag ID {tag} that was originally declared as '{before}' is being redeclared as '{element}'."
            );
            return Err(BindError::new(6812, 16, line, text));
        }
        None => {
            tags.push(i64::from(tag));
            spec.levels.push(element);
            tags.len() - 1
        }
    };
    let inner = parts.get(2).copied().unwrap_or("");
    let mut made = SerialColumn { level, raw: column.ty.is_xml(), ..SerialColumn::of(column.ty) };
    if !inner.is_empty() {
        made.path = vec![xml_name(inner, namespaces)];
    }
    match parts.get(3).copied().unwrap_or("").to_ascii_lowercase().as_str() {
        "" => made.attribute = !inner.is_empty() && !made.raw,
        "id" | "idref" | "idrefs" | "nmtoken" | "nmtokens" => made.attribute = true,
        "element" => {}
        "elementxsinil" => made.nil = true,
        "xml" => made.raw = true,
        "cdata" if inner.is_empty() => {
            if !spec.typed {
                made.node = SerialNode::CharacterData;
            }
        }
        "cdata" => {
            let text = "In the FOR XML EXPLICIT clause, CDATA attributes must be unnamed.";
            return Err(BindError::new(6817, 16, line, text));
        }
        "hide" => made.level = NOWHERE,
        "xmltext" => return Err(BindError::unsupported("FOR XML EXPLICIT with XMLTEXT", line)),
        other => {
            let text = format!(
                "In the FOR XML EXPLICIT clause, mode '{other}' in a column name is invalid."
            );
            return Err(BindError::new(6824, 16, line, text));
        }
    }
    Ok(made)
}
