//! xml from texts and binaries, and back.
//!
//! A text is parsed and kept as SQL Server writes it; so an xml that is a text is well-formed, and needs no more than to
//! be copied when it becomes one. A typed one is held to its schema collection besides (`xml-schema`). Source: SQL documentation, "CAST and CONVERT" (xml styles), "Create instances of XML
//! data".

use super::{Cow, Len, Text, TypeError, Value, fit_text, length};
use crate::SqlType;
use xml::{Encoding, Options};

pub(super) fn convert(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
) -> Result<Value, TypeError> {
    match to {
        SqlType::Xml => untyped(value, from, to, style),
        SqlType::TypedXml { schema, document } => {
            let made = untyped(value, from, to, style)?;
            if from == to { Ok(made) } else { typed(made, schema, document) }
        }
        _ => leave(value, to),
    }
}

/// Held to a schema collection, and as that keeps it.
fn typed(value: Value, schema: u32, is_document: bool) -> Result<Value, TypeError> {
    let text = match &value {
        Value::Str(text) => text.clone(),
        Value::Node(node) => Text::new(&node.document().write(node.id())),
        _ => return Ok(value),
    };
    let Some(schema) = xml_schema::current(schema) else {
        return Err(TypeError::Xml(xml::XmlError::new(
            6340,
            "Xml schema collection referenced by table variable '' has been dropped or altered during the execution of the \
             batch. Please re-run the batch.",
        )));
    };
    // Whitespace was dropped when the value was made.
    let options = Options { preserve: true, encoding: Encoding::Known };
    let document = xml::parse(&text, options).map_err(TypeError::Xml)?;
    let accepted = schema.accept(document, is_document).map_err(TypeError::Xml)?;
    Ok(Value::Str(Text::new(&accepted.write(0))))
}

fn untyped(value: &Value, from: SqlType, to: SqlType, style: i32) -> Result<Value, TypeError> {
    let of = |text: &str, encoding| parsed(text, encoding, style);
    match value {
        Value::Null => Ok(Value::Null),
        _ if from.is_xml() => Ok(value.clone()),
        Value::Str(text) if from.is_unicode() => of(text, Encoding::Wide),
        Value::Str(text) => of(text, Encoding::Narrow),
        Value::Binary(bytes) => match decoded(bytes) {
            Some(text) => of(&text, Encoding::Known),
            None => Err(TypeError::TypeClash { from: from.name().into(), to: to.name().into() }),
        },
        _ => Err(TypeError::TypeClash { from: from.message_name().into(), to: to.name().into() }),
    }
}

/// Style 1 and 3 keep whitespace.
fn parsed(text: &str, encoding: Encoding, style: i32) -> Result<Value, TypeError> {
    if !(0..=3).contains(&style) {
        return Err(TypeError::BadStyle { style, from: "varchar", to: "xml" });
    }
    // Text alone, as lists are often made of: nothing to parse.
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b',' | b'.' | b'-' | b'_');
    if !text.is_empty() && runtime::task::breathing(text.bytes()).all(plain) {
        return Ok(Value::Str(Text::new(text)));
    }
    let options = Options { preserve: style & 1 != 0, encoding };
    let document = xml::parse(text, options).map_err(TypeError::Xml)?;
    Ok(Value::Str(Text::new(&document.write(0))))
}

/// By its byte order mark, or the first character; `None` for bytes that are none.
fn decoded(bytes: &[u8]) -> Option<String> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|b| unit([b[0], b[1]]));
        char::decode_utf16(runtime::task::breathing(units)).collect::<Result<String, _>>().ok()
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [b'<', 0, ..] => wide(bytes, u16::from_le_bytes),
        [0, b'<', ..] => wide(bytes, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes.to_vec()).ok(),
    }
}

fn leave(value: &Value, to: SqlType) -> Result<Value, TypeError> {
    let text = match value {
        Value::Null => return Ok(Value::Null),
        Value::Str(text) => text.clone(),
        Value::Node(node) => Text::new(&node.document().write(node.id())),
        _ => return Ok(value.clone()),
    };
    if to.is_character() {
        let limit = length(to).limit();
        let source = SqlType::NVarChar(Len::Max);
        return match fit_text(Cow::Borrowed(&text), &Value::Null, source, to, limit, true) {
            Err(TypeError::Truncated { .. }) => Err(TypeError::XmlTooLong),
            done => Ok(Value::Str(done?)),
        };
    }
    let limit = length(to).limit();
    // UTF-16 behind its mark.
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    let mut bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    if bytes.len() > limit {
        return Err(TypeError::XmlTooLong);
    }
    if let SqlType::Binary(n) = to {
        bytes.resize(n as usize, 0);
    }
    Ok(Value::binary(&bytes))
}
