//! Column sets: the sparse columns of a row as XML, and what XML says of one of them.
//!
//! Source: SQL documentation, "Use Column Sets"; numbers and texts are those of sys.messages.

use crate::error::FunctionError;
use crate::serialize::{plain, unknown};
use ir::Expr;
use runtime::task::Breath;
use types::{Len, SqlType, Value, convert};
use xml::binary::from_base64;
use xml::{Document, Encoding, Kind, Options};

type Result<T> = std::result::Result<T, FunctionError>;

/// The values but NULL, each in an element of its name.
pub(super) fn made(v: &[Value], args: &[Expr]) -> Result<Value> {
    let mut out = String::new();
    for (pair, arg) in v.chunks_exact(2).zip(args.iter().skip(1).step_by(2)) {
        let Some(name) = pair[0].as_str() else { continue };
        if pair[1].is_null() {
            continue;
        }
        out.push('<');
        out.push_str(name);
        let content = match arg.ty.is_xml() {
            true => written(&pair[1]),
            false => match plain(&pair[1], arg.ty)? {
                Some(text) => Some(escaped(name, &text)?),
                None => None,
            },
        };
        match content.as_deref() {
            None | Some("") => out.push_str("/>"),
            Some(content) => {
                out.push('>');
                out.push_str(content);
                out.push_str("</");
                out.push_str(name);
                out.push('>');
            }
        }
    }
    Ok(if out.is_empty() { Value::Null } else { Value::Str(out.into()) })
}

/// The text of an xml.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::Node(node) => Some(node.document().write(node.id())),
        value => value.as_str().map(str::to_owned),
    }
}

/// What the set says of one column: `v` is the set, the column, the set's name, its columns' names, the table's others',
/// each list with a NUL between two of them.
pub(super) fn part(v: &[Value], ty: SqlType) -> Result<Value> {
    let text = match &v[0] {
        Value::Null => return Ok(Value::Null),
        Value::Node(node) => node.document().write(node.id()),
        value => value.as_str().unwrap_or("").to_owned(),
    };
    let [column, set, own, others] = [1, 2, 3, 4].map(|i| v[i].as_str().unwrap_or(""));
    let is_among =
        |names: &str, name: &str| names.split('\0').any(|known| known.eq_ignore_ascii_case(name));
    let document = xml::parse(&text, Options { preserve: true, encoding: Encoding::Known })?;
    let mut found = None;
    let mut seen: Vec<String> = Vec::new();
    let mut breath = Breath::new();
    for id in document.children(0) {
        // A step for each name that the element's is compared with.
        breath.steps(1 + (own.len() + others.len()) / 64 + seen.len() / 4)?;
        match document.kind(id) {
            Kind::Element => {}
            Kind::Comment | Kind::Instruction => continue,
            Kind::Text if document.content(id).trim().is_empty() => continue,
            _ => return Err(malformed()),
        }
        let name = plain_name(document.local(id));
        if !document.uri(id).is_empty() {
            let text = format!(
                "In the XML that is supplied for the column set '{set}', the element '{name}' should reside in the global \
                 namespace. Remove the default namespace declaration or the prefix on the element."
            );
            return Err(FunctionError::new(9533, 16, text));
        }
        if is_among(others, &name) {
            let text = format!(
                "Cannot update the sparse column set '{set}' because the XML content supplied references the non-sparse \
                 column '{name}' which does not belong to this column set. The XML data used to update a sparse column set \
                 cannot reference columns that don't belong to the column set."
            );
            return Err(FunctionError::new(9523, 16, text));
        }
        if !is_among(own, &name) {
            return Err(FunctionError::new(207, 16, format!("Invalid column name '{name}'.")));
        }
        if seen.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            let text = format!(
                "The XML content that is supplied for the sparse column set '{set}' contains duplicate references to the \
                 column '{name}'. A column can only be referenced once in XML content supplied to a sparse column set."
            );
            return Err(FunctionError::new(9525, 16, text));
        }
        if let Some(attribute) = document.attributes(id).next() {
            let text = format!(
                "In the XML content that is supplied for the column set column '{set}, the '{}' attribute on the element \
                 '{name}' is not valid. Remove the attribute.",
                document.local(attribute)
            );
            return Err(FunctionError::new(9530, 16, text));
        }
        if name.eq_ignore_ascii_case(column) {
            found = Some(id);
        }
        seen.push(name);
    }
    let Some(id) = found else { return Ok(Value::Null) };
    value_of(&document, id, ty).map_err(|_| {
        let text = format!(
            "In the query/DML operation involving column set '{set}', conversion failed when converting from the data type \
             'nvarchar' to the data type '{}' for the column '{column}'.",
            ty.name()
        );
        FunctionError::new(9532, 16, text)
    })
}

/// An element's content as a value of the column's type.
fn value_of(document: &Document, id: u32, ty: SqlType) -> Result<Value> {
    if ty.is_xml() {
        let mut text = String::new();
        for child in document.children(id) {
            document.write_into(child, &mut text);
        }
        return Ok(Value::Str(text.into()));
    }
    let elements = document.children(id).any(|child| document.kind(child) == Kind::Element);
    if elements {
        return Err(malformed());
    }
    let text = document.string_value(id);
    let wide = SqlType::NVarChar(Len::Max);
    if ty.is_binary() {
        let bytes = from_base64(&text).ok_or_else(malformed)?;
        return Ok(convert::cast(&Value::binary(&bytes), SqlType::VarBinary(Len::Max), ty, 0)?);
    }
    Ok(convert::cast(&Value::str(&text), wide, ty, 0)?)
}

/// 9524.
fn malformed() -> FunctionError {
    let text = "The XML content provided does not conform to the required XML format for sparse column sets.";
    FunctionError::new(9524, 16, text)
}

/// The column of an element's name, in which what XML does not allow is `_x0020_`.
fn plain_name(local: &str) -> String {
    let mut out = String::with_capacity(local.len());
    let mut rest = local;
    while let Some(at) = rest.find("_x") {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 2..at + 6).filter(|_| rest.as_bytes().get(at + 6) == Some(&b'_'));
        let found =
            code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        match found {
            Some(c) => {
                out.push(c);
                rest = &rest[at + 7..];
            }
            None => {
                out.push_str("_x");
                rest = &rest[at + 2..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// A text as an element's content: 6841 for a character that XML does not know.
fn escaped(name: &str, text: &str) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut breath = Breath::new();
    for c in text.chars() {
        breath.step()?;
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#x0D;"),
            '\0'..' ' if c != '\t' && c != '\n' => return Err(unknown(name, c.into())),
            '\u{FFFE}' | '\u{FFFF}' => return Err(unknown(name, c.into())),
            c => out.push(c),
        }
    }
    Ok(out)
}
