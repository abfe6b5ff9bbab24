//! OPENXML: nodes of a document that sp_xml_preparedocument made, as rows.
//!
//! The binder asks for it as a system view of that name. Its arguments: the handle, the row pattern, the flags, then for
//! each column of WITH its pattern, empty where it has none. Patterns are compiled for each call: they may come from
//! variables. Source: SQL documentation, "OPENXML (Transact-SQL)".

use crate::error::FunctionError;
use ir::SystemView;
use std::sync::Arc;
use types::{Len, SqlType, Value, convert};
use xml::{Document, Item, NodeRef, Query, QueryError};

const ATTRIBUTES: i64 = 1;
const ELEMENTS: i64 = 2;

/// A document and what prefixes mean in patterns: sp_xml_preparedocument.
#[derive(Debug)]
pub struct PreparedXml {
    pub document: Arc<Document>,
    /// Prefix, empty for the default one, and URI.
    pub namespaces: Vec<(String, String)>,
}

/// Whether the view is OPENXML.
pub fn is_openxml(view: &SystemView) -> bool {
    view.name == ir::OPENXML
}

/// Its rows; `prepared`: the document of a handle.
pub fn rows(
    view: &SystemView,
    args: &[Value],
    prepared: &dyn Fn(i64) -> Option<Arc<PreparedXml>>,
) -> Result<Vec<Vec<Value>>, FunctionError> {
    let handle = args[0].as_i64().unwrap_or(0);
    let Some(prepared) = prepared(handle) else {
        let text = format!("Could not find prepared statement with handle {handle}.");
        return Err(FunctionError::new(8179, 16, text));
    };
    let Some(pattern) = args[1].as_str() else { return Ok(Vec::new()) };
    let flags = args[2].as_i64().unwrap_or(0);
    let compile = |pattern: &str| {
        Query::compile(pattern, &prepared.namespaces).map_err(|e| match e {
            QueryError::Unsupported(what) => unsupported(&what),
            wrong => {
                let text = format!("XML error: XPath '{pattern}': {wrong}");
                FunctionError::new(6603, 16, text)
            }
        })
    };
    let root = NodeRef::root(prepared.document.clone());
    let found = compile(pattern)?.run(&root, &[])?;
    let mut columns = Vec::with_capacity(view.columns.len());
    for (column, pattern) in view.columns.iter().zip(&args[3..]) {
        let patterns = match pattern.as_str() {
            Some(pattern) if !pattern.is_empty() => vec![compile(pattern)?],
            _ => {
                let mut list = Vec::new();
                // Attributes unless elements alone are asked for; both: attributes first.
                if flags & ELEMENTS == 0 || flags & ATTRIBUTES != 0 {
                    list.push(compile(&format!("@{}", column.name))?);
                }
                if flags & ELEMENTS != 0 {
                    list.push(compile(&column.name)?);
                }
                list
            }
        };
        columns.push((column.ty, patterns));
    }
    let mut out = Vec::with_capacity(found.len());
    for item in found {
        let Item::Node(node) = item else { continue };
        let mut row = Vec::with_capacity(columns.len());
        for (ty, patterns) in &columns {
            row.push(value(&node, patterns, *ty)?);
        }
        out.push(row);
    }
    Ok(out)
}

/// What the first of the patterns that finds something finds.
fn value(node: &NodeRef, patterns: &[Query], ty: SqlType) -> Result<Value, FunctionError> {
    for pattern in patterns {
        let Some(item) = pattern.run(node, &[])?.into_iter().next() else { continue };
        if let Item::Node(found) = &item
            && ty.is_xml()
        {
            let text = Value::str(&found.document().write(found.id()));
            return Ok(convert::cast(&text, SqlType::Xml, ty, 0)?);
        }
        let text = Value::str(&item.atom().to_text());
        return Ok(convert::cast(&text, SqlType::NVarChar(Len::Max), ty, 0)?);
    }
    Ok(Value::Null)
}

/// Something T-SQL has and this engine does not yet: 40510.
fn unsupported(what: &str) -> FunctionError {
    let text = format!("Statement '{what}' is not supported in this version of SQL Server.");
    FunctionError::new(40510, 16, text)
}
