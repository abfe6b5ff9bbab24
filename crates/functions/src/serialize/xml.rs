//! FOR XML.

use super::{Writer, plain};
use crate::error::FunctionError;
use ir::{Nesting, SerialColumn, SerialNode, SerializeSpec};
use runtime::task::{Breath, append};
use types::Value;

/// What `xsi:nil` needs.
const XSI: &str = " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";

/// What is declared on the root, or else on each row: the last of XMLNAMESPACES first.
pub(super) fn head(spec: &SerializeSpec) -> String {
    let mut out = if spec.nulls { XSI.to_owned() } else { String::new() };
    for (prefix, uri) in spec.namespaces.iter().rev() {
        out.push_str(" xmlns");
        if !prefix.is_empty() {
            out.push(':');
            out.push_str(prefix);
        }
        out.push_str("=\"");
        escape(uri, true, &mut out);
        out.push('"');
    }
    out
}

/// 6841: an xml holds no characters that XML does not know; a text from FOR XML may.
pub(super) fn check(out: &str) -> Result<(), FunctionError> {
    let wrong = |rest: &str| {
        let code = rest.get(3..5).and_then(|d| u32::from_str_radix(d, 16).ok());
        rest.as_bytes().get(5) == Some(&b';')
            && code.is_some_and(|c| c < 0x20 && ![9, 10, 13].contains(&c))
    };
    const PIECE: usize = 64 << 10;
    let mut breath = Breath::new();
    let mut found = None;
    for (number, piece) in out.as_bytes().chunks(PIECE).enumerate() {
        breath.steps(PIECE / 16)?;
        let places = piece.iter().enumerate().filter(|(_, byte)| **byte == b'&');
        found = places
            .map(|(i, _)| &out[number * PIECE + i..])
            .find(|rest| rest.starts_with("&#x") && wrong(rest));
        if found.is_some() {
            break;
        }
    }
    let Some(rest) = found else { return Ok(()) };
    Err(unknown("NoName", u32::from_str_radix(&rest[3..5], 16).unwrap_or_default()))
}

/// 6841: a character that XML does not know, in what a node would have.
pub(crate) fn unknown(node: &str, code: u32) -> FunctionError {
    let text = format!(
        "FOR XML could not serialize the data for node '{node}' because it contains a character (0x{code:04X}) which is not \
         allowed in XML. To retrieve this data using FOR XML, convert it to binary, varbinary or image data type and use \
         the BINARY BASE64 directive."
    );
    FunctionError::new(6841, 16, text)
}

fn escape(text: &str, attribute: bool, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if attribute => out.push_str("&quot;"),
            '\t' | '\n' if !attribute => out.push(c),
            c if (c as u32) < 0x20 => out.push_str(&format!("&#x{:02X};", c as u32)),
            c => out.push(c),
        }
    }
}

/// The text of some XML, without tags; entities resolved.
pub fn text(xml: &str) -> String {
    let mut out = String::with_capacity(xml.len());
    let mut rest = xml;
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // Neither comments nor instructions are text.
        let skipped =
            [("<!--", "-->"), ("<?", "?>")].into_iter().find(|(s, _)| rest.starts_with(s));
        if let Some((_, end)) = skipped {
            let Some(at) = rest.find(end) else { return out };
            rest = &rest[at + end.len()..];
            continue;
        }
        let (end, close) =
            if rest.starts_with('<') { (rest.find('>'), '>') } else { (rest.find(';'), ';') };
        let Some(end) = end else {
            out.push_str(rest);
            return out;
        };
        if close == ';' {
            out.push_str(&entity(&rest[1..end]));
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> String {
    let code = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => match name.strip_prefix("#x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok().and_then(char::from_u32),
            None => name.strip_prefix('#').and_then(|d| d.parse().ok()).and_then(char::from_u32),
        },
    };
    code.map_or_else(String::new, String::from)
}

pub(super) fn value_text(
    column: &SerialColumn,
    value: &Value,
) -> Result<Option<String>, FunctionError> {
    if let Value::Bit(v) = value {
        return Ok(Some((*v as u8).to_string()));
    }
    plain(value, column.ty)
}

/// RAW and PATH: the columns under the element of the row.
pub(super) fn row(w: &mut Writer<'_>, row: &[Value]) -> Result<(), FunctionError> {
    let spec = w.spec;
    let columns: Vec<(&SerialColumn, &Value)> = spec.columns.iter().zip(row).collect();
    let shape = Shape::of(spec);
    if spec.row.is_empty() {
        w.in_list = content(&mut w.out, &columns, 0, shape, w.in_list)?;
        return Ok(());
    }
    let head = if spec.root.is_none() { w.head.as_str() } else { "" };
    element(&mut w.out, &spec.row, head, &columns, 0, shape)
}

/// NULLs are shown; the text is of type xml, which has no `<a></a>`.
#[derive(Clone, Copy)]
struct Shape {
    nulls: bool,
    typed: bool,
    /// Neighbours of one name are one element.
    joined: bool,
}

impl Shape {
    fn of(spec: &SerializeSpec) -> Shape {
        Shape { nulls: spec.nulls, typed: spec.typed, joined: spec.nesting == Nesting::Paths }
    }
}

/// An element with attributes and content; `columns` are those inside it.
fn element(
    out: &mut String,
    name: &str,
    head: &str,
    columns: &[(&SerialColumn, &Value)],
    depth: usize,
    shape: Shape,
) -> Result<(), FunctionError> {
    out.push('<');
    out.push_str(name);
    out.push_str(head);
    attributes(out, columns, depth)?;
    let start = out.len();
    out.push('>');
    content(out, columns, depth, shape, false)?;
    if out.len() == start + 1 {
        out.truncate(start);
        out.push_str("/>");
    } else {
        out.push_str("</");
        out.push_str(name);
        out.push('>');
    }
    Ok(())
}

fn attributes(
    out: &mut String,
    columns: &[(&SerialColumn, &Value)],
    depth: usize,
) -> Result<(), FunctionError> {
    for (column, value) in columns {
        if !column.attribute || column.path.len() != depth + 1 {
            continue;
        }
        attribute(out, &column.path[depth], column, value)?;
    }
    Ok(())
}

/// An attribute of a value that is not NULL.
pub(super) fn attribute(
    out: &mut String,
    name: &str,
    column: &SerialColumn,
    value: &Value,
) -> Result<(), FunctionError> {
    if let Some(text) = value_text(column, value)? {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(&text, true, out);
        out.push('"');
    }
    Ok(())
}

/// What stands inside an element: texts, elements, elements around several columns. `in_list`: what stands before is a
/// value of a list; the answer is whether what stands last is one.
fn content(
    out: &mut String,
    columns: &[(&SerialColumn, &Value)],
    depth: usize,
    shape: Shape,
    mut in_list: bool,
) -> Result<bool, FunctionError> {
    let Shape { nulls, typed, joined } = shape;
    let mut at = 0;
    while at < columns.len() {
        let (column, value) = columns[at];
        at += 1;
        if column.attribute && column.path.len() == depth + 1 {
            continue;
        }
        if column.path.len() == depth {
            if let Some(text) = value_text(column, value)? {
                if column.list && in_list {
                    out.push(' ');
                }
                in_list = column.list;
                check_node(column, &text)?;
                write(out, column, &text);
            }
            continue;
        }
        let name = &column.path[depth];
        // Neighbours below the same element share it.
        let first = at - 1;
        let inside = |c: &SerialColumn| {
            let own = c.path.len() == depth + 1;
            c.path.get(depth) == Some(name) && (!own || joined && !c.attribute)
        };
        let others = columns[at..].iter().take_while(|(c, _)| inside(c)).count();
        let alone = column.path.len() == depth + 1 && (others == 0 || !joined);
        if alone {
            in_list = false;
            match value_text(column, value)? {
                Some(text) if text.is_empty() && typed => out.push_str(&format!("<{name}/>")),
                Some(text) if text.is_empty() => out.push_str(&format!("<{name}></{name}>")),
                Some(text) => {
                    out.push_str(&format!("<{name}>"));
                    write(out, column, &text);
                    out.push_str(&format!("</{name}>"));
                }
                None if nulls => out.push_str(&format!("<{name} xsi:nil=\"true\"/>")),
                None => {}
            }
            continue;
        }
        at += others;
        let group = &columns[first..at];
        if nulls || group.iter().any(|(_, v)| !v.is_null()) {
            in_list = false;
            element(out, name, "", group, depth + 1, shape)?;
        }
    }
    Ok(in_list)
}

/// 9424, 9451: a comment ends at `--`, an instruction at `?>`.
fn check_node(column: &SerialColumn, text: &str) -> Result<(), FunctionError> {
    match column.node {
        SerialNode::Comment if text.contains("--") || text.ends_with('-') => {
            Err(FunctionError::new(
                9424,
                16,
                "XML parsing: line 1, character 1, incorrect comment syntax",
            ))
        }
        SerialNode::Instruction(_) if text.contains("?>") => Err(FunctionError::new(
            9451,
            16,
            "XML parsing: line 1, character 1, incorrect processing instruction syntax",
        )),
        _ => Ok(()),
    }
}

pub(super) fn write(out: &mut String, column: &SerialColumn, text: &str) {
    match &column.node {
        SerialNode::Text => {}
        SerialNode::CharacterData => {
            out.push_str("<![CDATA[");
            out.push_str(&text.replace("]]>", "]]]]><![CDATA[>"));
            return out.push_str("]]>");
        }
        SerialNode::Comment => {
            out.push_str("<!--");
            out.push_str(text);
            return out.push_str("-->");
        }
        SerialNode::Instruction(target) => {
            out.push_str("<?");
            out.push_str(target);
            out.push(' ');
            out.push_str(text);
            return out.push_str("?>");
        }
    }
    if column.raw {
        out.push_str(text);
    } else {
        escape(text, false, out);
    }
}

/// AUTO: an element for each table, inside that of the table before it.
pub(super) fn auto_row(w: &mut Writer<'_>, row: &[Value]) -> Result<(), FunctionError> {
    let from = w.first_new_level(row);
    close(w, from);
    let spec = w.spec;
    let innermost = spec.levels.len() - 1;
    for level in from..=innermost {
        let columns: Vec<(&SerialColumn, &Value)> =
            spec.columns.iter().zip(row).filter(|(c, _)| c.level == level).collect();
        let head = if spec.root.is_none() && level == 0 { w.head.as_str() } else { "" };
        let shape = Shape::of(spec);
        let name = &spec.levels[level];
        if level == innermost {
            element(&mut w.out, name, head, &columns, 0, shape)?;
        } else {
            w.out.push('<');
            w.out.push_str(name);
            w.out.push_str(head);
            attributes(&mut w.out, &columns, 0)?;
            w.out.push('>');
            content(&mut w.out, &columns, 0, shape, false)?;
        }
    }
    w.open = innermost;
    w.last = row.to_vec();
    Ok(())
}

/// Ends the elements of the levels from `level` on (the innermost has ended itself).
fn close(w: &mut Writer<'_>, level: usize) {
    while w.open > level {
        w.open -= 1;
        let spec: &SerializeSpec = w.spec;
        w.out.push_str("</");
        w.out.push_str(&spec.levels[w.open]);
        w.out.push('>');
    }
}

/// The root around the rows.
pub(super) fn finish(w: &mut Writer<'_>) {
    close(w, 0);
    if let Some(root) = &w.spec.root {
        let rows = std::mem::take(&mut w.out);
        let empty = rows.is_empty() && w.spec.typed;
        w.out = match empty {
            true => format!("<{root}{}/>", w.head),
            false => {
                let mut out = format!("<{root}{}>", w.head);
                append(&mut out, &rows);
                out.push_str(&format!("</{root}>"));
                out
            }
        };
    }
}
