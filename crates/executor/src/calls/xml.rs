//! Methods of xml.
//!
//! A query is asked of a parsed document. Values are texts, so a text is parsed when it is asked; the last one is kept,
//! as `x.value(...), x.value(...)` ask the same. What nodes() yields is a node already.

use crate::cx::Cx;
use crate::eval::eval;
use crate::message::SqlError;
use ir::{Expr, XmlMethod};
use std::sync::Arc;
use types::{Len, SqlType, Text, Value, convert, format};
use xml::{Atom, Document, Encoding, Item, NodeRef, Options, Query, XmlError};

const LONG: SqlType = SqlType::NVarChar(Len::Max);

/// A method that yields a value.
#[inline(never)]
pub(crate) fn call(
    method: &XmlMethod,
    args: &[Expr],
    ty: SqlType,
    row: &[Value],
    cx: &mut Cx<'_>,
) -> Result<Value, SqlError> {
    let value = eval(&args[0], row, cx)?;
    if value.is_null() {
        return match method {
            XmlMethod::Modify(_, name) => Err(SqlError::new(
                5302,
                16,
                format!("Mutator 'modify()' on '{name}' cannot be called on a null value."),
            )),
            _ => Ok(Value::Null),
        };
    }
    if let (XmlMethod::Value(query), Value::Str(text)) = (method, &value) {
        // The text of the whole needs no tree: `STUFF((SELECT ... FOR XML PATH(''), TYPE).value('.', ...) ...)`.
        let plain = query.is_plain_text() && !text.contains('<') && !text.is_empty();
        if query.is_context() || plain {
            let text = Value::str(&functions::serialize::xml_text(text));
            return Ok(convert::cast(&text, LONG, ty, 0)?);
        }
    }
    let externals = externals(&args[1..], row, cx)?;
    let node = node(&value, args[0].ty, cx)?;
    let made = match method {
        XmlMethod::Value(query) => match query.first(&node, &externals)? {
            Some(atom) => sql_value(&atom, ty)?,
            None => Value::Null,
        },
        XmlMethod::Query(query) => Value::str(&query.document(&node, &externals)?.write(0)),
        XmlMethod::Exist(query) => Value::Bit(!query.run(&node, &externals)?.is_empty()),
        XmlMethod::Modify(change, _) => match change.apply(node.document(), &externals)? {
            Some(document) => Value::str(&document.write(0)),
            None => value,
        },
    };
    // What was written for a request that is to stop ends early.
    cx.goes_on()?;
    Ok(made)
}

/// The rows of nodes(): a node each.
pub(crate) fn nodes(
    query: &Query,
    args: &[Expr],
    cx: &mut Cx<'_>,
) -> Result<Vec<Vec<Value>>, SqlError> {
    let value = eval(&args[0], &[], cx)?;
    if value.is_null() {
        return Ok(Vec::new());
    }
    let externals = externals(&args[1..], &[], cx)?;
    let node = node(&value, args[0].ty, cx)?;
    let items = query.run(&node, &externals)?;
    let rows = items.into_iter().filter_map(|item| match item {
        Item::Node(node) => Some(vec![Value::Node(node)]),
        Item::Atom(_) => None,
    });
    Ok(rows.collect())
}

/// The node that a value is; a text is parsed. The values in a typed one are what its schema collection says.
fn node(value: &Value, ty: SqlType, cx: &mut Cx<'_>) -> Result<NodeRef, SqlError> {
    let text = match value {
        Value::Node(node) => return Ok(node.clone()),
        Value::Str(text) => text,
        other => {
            return Err(SqlError::new(
                258,
                15,
                format!("Cannot call methods on {}.", other.natural_type().name()),
            ));
        }
    };
    runtime::task::breathe()?;
    let schema = match ty {
        SqlType::TypedXml { schema, .. } => Some(schema),
        _ => None,
    };
    if let Some((last, of, document)) = &cx.keep().xml
        && *of == schema
        && last.as_str() == text.as_str()
    {
        return Ok(NodeRef::root(document.clone()));
    }
    let document = match schema.and_then(xml_schema::current) {
        None => Arc::new(parsed(text)?),
        Some(schema) => Arc::new(schema.annotate(parsed(text)?)?),
    };
    cx.keep().xml = Some((text.clone(), schema, document.clone()));
    Ok(NodeRef::root(document))
}

/// Whitespace was dropped when the value was made.
fn parsed(text: &Text) -> Result<Document, SqlError> {
    let options = Options { preserve: true, encoding: Encoding::Known };
    Ok(xml::parse(text, options)?)
}

/// Values of variables and columns as a query takes them.
fn externals(args: &[Expr], row: &[Value], cx: &mut Cx<'_>) -> Result<Vec<Option<Item>>, SqlError> {
    let mut out = Vec::with_capacity(args.len());
    for arg in args {
        let value = eval(arg, row, cx)?;
        out.push(match &value {
            Value::Null => None,
            Value::Str(text) if arg.ty.is_xml() => {
                Some(Item::Node(NodeRef::root(Arc::new(parsed(text)?))))
            }
            Value::Node(node) => Some(Item::Node(node.clone())),
            value => Some(Item::Atom(atom(value, arg.ty)?)),
        });
    }
    Ok(out)
}

fn atom(value: &Value, ty: SqlType) -> Result<Atom, SqlError> {
    let text = |style| -> Result<String, SqlError> {
        Ok(format::to_text(value, ty, style)?.unwrap_or_default())
    };
    Ok(match value {
        Value::Bit(b) => Atom::Bool(*b),
        Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_) | Value::BigInt(_) => {
            Atom::Int(value.as_i64().unwrap_or(0))
        }
        Value::Float(f) => Atom::Double(*f),
        Value::Real(f) => Atom::Double(f64::from(*f)),
        Value::Decimal(_) => Atom::Decimal(text(0)?.parse().unwrap_or(f64::NAN)),
        Value::Money(_) => Atom::Decimal(text(2)?.parse().unwrap_or(f64::NAN)),
        Value::Binary(bytes) => Atom::Bytes(bytes.to_vec()),
        Value::Str(s) => Atom::Text(s.as_str().to_owned()),
        Value::Guid(_) | Value::Variant(_) | Value::Null | Value::Node(_) => Atom::Text(text(0)?),
        _ => Atom::Text(text(126)?),
    })
}

/// What value() makes of an item.
fn sql_value(atom: &Atom, ty: SqlType) -> Result<Value, SqlError> {
    let (value, from) = match atom {
        Atom::Bool(b) if ty.is_numeric() => (Value::Bit(*b), SqlType::Bit),
        Atom::Int(n) if ty.is_numeric() => (Value::BigInt(*n), SqlType::BigInt),
        Atom::Decimal(n) | Atom::Double(n) if ty.is_numeric() => (Value::Float(*n), SqlType::Float),
        Atom::Bytes(bytes) if ty.is_binary() => {
            (Value::binary(bytes), SqlType::VarBinary(Len::Max))
        }
        // Bytes are in base64 there.
        Atom::Untyped(text) | Atom::Text(text) if ty.is_binary() => {
            let Some(bytes) = xml::binary::from_base64(text) else {
                return Ok(Value::Null);
            };
            (Value::binary(&bytes), SqlType::VarBinary(Len::Max))
        }
        Atom::Untyped(text) if ty.is_numeric() || ty.is_temporal() => {
            (Value::str(text.trim()), LONG)
        }
        atom => (Value::str(&atom.to_text()), LONG),
    };
    Ok(convert::cast(&value, from, ty, 0)?)
}

impl From<XmlError> for SqlError {
    #[cold]
    fn from(e: XmlError) -> SqlError {
        functions::FunctionError::from(e).into()
    }
}
