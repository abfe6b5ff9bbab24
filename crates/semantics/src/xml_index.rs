//! CREATE XML INDEX: what it asks for is looked at and kept; the index has no entries.
//!
//! Numbers and texts: SQL Server's messages 6324 to 6346. Source: SQL documentation, "CREATE XML INDEX".

use crate::error::{BindError, Result};
use catalog::{IndexSpec, TableDef, XmlIndex, XmlIndexKind, same_name};
use syntax::ast;

/// Columns of the clustered key at most.
const KEY_COLUMNS_MAX: usize = 15;

/// What an index of `table` is asked for; `spec` has the options that every index has.
pub fn spec(
    index: &ast::IndexDefinition,
    asked: &ast::XmlIndex,
    table: &TableDef,
    spec: IndexSpec,
) -> Result<IndexSpec> {
    let line = index.span.line.max(1);
    let fail = |number: i32, text: String| BindError::new(number, 16, line, text);
    let (index_name, table_name) = (&index.name.value, &table.name);
    let column = index.columns.first().map_or("", |column| &column.name.value);
    if let Some(first) = index_name.chars().next().filter(|c| matches!(c, '#' | '@')) {
        return Err(fail(
            6337,
            format!(
                "'{index_name}' is not a valid XML Index name because it starts with '{first}' character. XML Index name should \
                 not start with '#' or '@'"
            ),
        ));
    }
    if table.view.is_some() {
        return Err(fail(
            6334,
            format!(
                "Could not create the XML or spatial index on object '{table_name}' because that object is not a table. Create \
                 the index on the base table column."
            ),
        ));
    }
    if spec.ignore_dup_key {
        let text = "Invalid usage of the option ignore_dup_key in the CREATE XML INDEX statement.";
        return Err(BindError::new(153, 15, line, text));
    }
    let Some(ordinal) = table.column(column) else {
        let text = format!("Column name '{column}' does not exist in the target table or view.");
        return Err(fail(1911, text));
    };
    let definition = &table.columns[ordinal];
    if !definition.ty.is_xml() {
        return Err(fail(
            6330,
            format!(
                "Column '{column}' on table '{table_name}' is not of type XML, which is required to create an XML index on it."
            ),
        ));
    }
    if definition.marks.column_set {
        let text = format!(
            "The sparse column set '{column}' in the table '{table_name}' cannot be indexed by an XML index."
        );
        return Err(fail(6345, text));
    }
    if definition.computed.is_some() {
        return Err(fail(
            6342,
            format!(
                "Cannot create primary xml, selective xml or spatial index '{index_name}' on table '{table_name}', column \
                 '{column}', because the column is computed."
            ),
        ));
    }
    let key = table.primary_key.as_ref().filter(|key| key.clustered);
    if key.is_none_or(|key| key.columns.len() > KEY_COLUMNS_MAX) {
        return Err(fail(
            6332,
            format!(
                "Table '{table_name}' needs to have a clustered primary key with less than {} columns in it in order to create a \
                 primary XML index on it.",
                KEY_COLUMNS_MAX + 1
            ),
        ));
    }
    let former = table.index(index_name).filter(|_| spec.drop_existing);
    let xml = match (asked.primary, &asked.using) {
        (true, _) => {
            let known = table.primary_xml_index(ordinal);
            if let Some(known) =
                known.filter(|known| former.is_none_or(|f| f.index_id != known.index_id))
            {
                return Err(fail(
                    6331,
                    format!(
                        "Primary XML Index '{}' already exists on column '{column}' on table '{table_name}', and multiple Primary \
                         XML Indexes per column are not allowed.",
                        known.name
                    ),
                ));
            }
            XmlIndex { kind: XmlIndexKind::Primary, primary: 0, is_off: false }
        }
        (false, None) => {
            return Err(fail(
                6343,
                format!(
                    "Cannot create secondary xml or secondary selective xml index '{index_name}' without a USING XML INDEX clause."
                ),
            ));
        }
        (false, Some(using)) => {
            let primary = table.primary_xml_index(ordinal);
            let Some(primary) = primary.filter(|p| same_name(&p.name, &using.value)) else {
                return Err(fail(
                    6344,
                    format!(
                        "The primary xml index '{}' does not exist on table '{table_name}' column '{column}'.",
                        using.value
                    ),
                ));
            };
            if former.is_some_and(|f| f.index_id == primary.index_id) {
                return Err(fail(
                    6346,
                    format!(
                        "Cannot convert a primary XML index to a secondary XML index using the DROP_EXISTING option. \
                         '{index_name}' is a primary XML index."
                    ),
                ));
            }
            let kind = match asked.kind.as_deref() {
                Some("VALUE") => XmlIndexKind::Value,
                Some("PROPERTY") => XmlIndexKind::Property,
                _ => XmlIndexKind::Path,
            };
            XmlIndex { kind, primary: primary.index_id, is_off: false }
        }
    };
    if spec.drop_existing && former.is_none() {
        let text = format!("Could not find XML index named '{index_name}' on table '{table_name}'");
        return Err(fail(6333, text));
    }
    Ok(IndexSpec {
        columns: Vec::new(),
        include: vec![definition.name.clone()],
        xml: Some(xml),
        ..spec
    })
}
