//! FOR XML and FOR JSON: the shape of the text from the query's columns; OPENJSON's columns.
//!
//! Errors: 13600 to 13620 for JSON, 6809 and 6850 to 6852 for XML. Sources: SQL documentation, "FOR JSON", "FOR XML",
//! "Columns with a name / without a name" (FOR XML PATH), OPENJSON.

use std::sync::Arc;

use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::*;
use crate::functions::is_json;
use semantics::serialized_columns::{
    attributes_first, json_conflict, none_of_the_clr, once, xml_path,
};
use semantics::type_names::system_type_or_xml;
use semantics::xml_names::xml_name;
use semantics::{BindError, Result, for_xml_explicit};

const LONG_TEXT: SqlType = SqlType::NVarChar(Len::Max);

impl Binder<'_> {
    /// The query's rows as text. `tables` are those of its FROM, for AUTO.
    #[inline(never)]
    pub(crate) fn serialize(
        &mut self,
        query: Query,
        clause: &ast::ForClause,
        tables: &[ScopeTable],
    ) -> Result<Query> {
        let line = clause.span.line.max(1);
        let auto = clause.mode == ast::ForMode::Auto;
        if clause.bare && clause.root.is_some() {
            return Err(BindError::new(
                13620,
                16,
                line,
                "ROOT option and WITHOUT_ARRAY_WRAPPER option cannot be used together in FOR JSON. \
                 Remove one of these options.",
            ));
        }
        if auto && tables.is_empty() {
            return Err(match clause.xml {
                false => BindError::new(
                    13600,
                    16,
                    line,
                    "FOR JSON AUTO requires at least one table for generating JSON objects. Use FOR \
                     JSON PATH or add a FROM clause with a table name.",
                ),
                true => BindError::new(
                    6800,
                    16,
                    line,
                    "FOR XML AUTO requires at least one table for generating XML tags. Use FOR XML \
                     RAW or add a FROM clause with a table name.",
                ),
            });
        }
        let mut spec = SerializeSpec {
            xml: clause.xml,
            nesting: match clause.mode {
                ast::ForMode::Auto => Nesting::Levels,
                ast::ForMode::Path => Nesting::Paths,
                ast::ForMode::Raw | ast::ForMode::Explicit => Nesting::Flat,
            },
            row: match (&clause.row, clause.mode) {
                (Some(row), _) => row.clone(),
                (None, _) => "row".into(),
            },
            root: clause.root.clone(),
            elements: clause.elements,
            nulls: clause.nulls,
            typed: clause.typed,
            bare: clause.bare,
            namespaces: clause.namespaces.clone(),
            ..SerializeSpec::default()
        };
        if spec.xml && spec.row.is_empty() && clause.mode == ast::ForMode::Raw && !spec.elements {
            return Err(BindError::new(
                6864,
                16,
                line,
                "Row tag omission (empty row tag name) cannot be used with attribute-centric FOR \
                 XML serialization.",
            ));
        }
        none_of_the_clr(&query.output, clause.xml, line)?;
        let explicit = clause.mode == ast::ForMode::Explicit;
        if explicit {
            for_xml_explicit::shape(&mut spec, &query.output, &clause.namespaces, line)?;
        }
        for column in query.output.iter().filter(|_| !explicit) {
            let name = column.name.as_deref().unwrap_or("");
            let raw = match clause.xml {
                true => column.ty.is_xml(),
                false => source_of(&query.rel, column.id).is_some_and(is_json),
            };
            let mut made = SerialColumn { raw, ..SerialColumn::of(column.ty) };
            if clause.xml
                && clause.mode == ast::ForMode::Raw
                && !clause.base64
                && matches!(column.ty, SqlType::Binary(_) | SqlType::VarBinary(_))
            {
                return Err(BindError::new(
                    6829,
                    16,
                    line,
                    format!(
                        "FOR XML EXPLICIT and RAW modes currently do not support addressing binary data as \
                         URLs in column '{name}'. Remove the column, or use the BINARY BASE64 mode, or \
                         create the URL directly using the 'dbobject/TABLE[@PK1=\"V1\"]/@COLUMN' syntax."
                    ),
                ));
            }
            if auto {
                let table = tables.iter().find(|t| t.columns.iter().any(|c| c.id == column.id));
                if let Some(table) = table {
                    let known = spec.levels.iter().position(|l| *l == table.name);
                    made.level = known.unwrap_or(spec.levels.len());
                    if known.is_none() {
                        spec.levels.push(table.name.clone());
                    }
                } else {
                    // What belongs to no table goes to the deepest level so far.
                    made.level = spec.levels.len().saturating_sub(1);
                }
            }
            match (clause.xml, clause.mode) {
                (true, ast::ForMode::Path) => xml_path(&mut made, name, line)?,
                (true, _) => {
                    if name.is_empty() && !raw {
                        return Err(BindError::new(
                            6809,
                            16,
                            line,
                            "Unnamed tables cannot be used as XML identifiers as well as unnamed \
                             columns cannot be used for attribute names. Name unnamed \
                             columns/tables using AS in the SELECT statement.",
                        ));
                    }
                    if !name.is_empty() {
                        made.path = vec![xml_name(name, &clause.namespaces)];
                        made.attribute = !spec.elements && !raw;
                        once(&spec.columns, &made, name, line)?;
                    }
                }
                (false, mode) => {
                    if name.is_empty() {
                        return Err(BindError::new(
                            13605,
                            16,
                            line,
                            "Column expressions and data sources without names or aliases cannot be \
                             formatted as JSON text using FOR JSON clause. Add alias to the unnamed \
                             column or table.",
                        ));
                    }
                    made.path = match mode {
                        ast::ForMode::Path => name.split('.').map(str::to_owned).collect(),
                        _ => vec![name.to_owned()],
                    };
                    if made.path.iter().any(String::is_empty) {
                        return Err(BindError::new(
                            13603,
                            16,
                            line,
                            format!(
                                "Property '{name}' cannot be generated in JSON output due to an \
                                 invalid character in the column name or alias. Column names or \
                                 aliases that contain '..', start or end with '.' are not allowed in \
                                 query that has FOR JSON clause."
                            ),
                        ));
                    }
                    if json_conflict(&spec.columns, &made) {
                        return Err(BindError::new(
                            13601,
                            16,
                            line,
                            format!(
                                "Property '{name}' cannot be generated in JSON output due to a \
                                 conflict with another column name or alias. Use different names and \
                                 aliases for each column in SELECT list."
                            ),
                        ));
                    }
                }
            }
            spec.columns.push(made);
        }
        if auto && spec.levels.is_empty() {
            spec.levels.push(tables[0].name.clone());
        }
        if spec.xml && !explicit {
            attributes_first(&spec.columns, &query.output, line)?;
            spec.levels.iter_mut().for_each(|l| *l = xml_name(l, &clause.namespaces));
        }
        let out = self.new_col();
        self.note_plain([(out, LONG_TEXT)].into_iter());
        let columns = query.output.iter().map(|c| c.id).collect();
        let rel = Rel::Serialize { input: Box::new(query.rel), spec: Arc::new(spec), columns, out };
        let output = OutputColumn {
            base: None,
            collation: self.usual.collation,
            name: None,
            id: out,
            ty: if clause.typed { SqlType::Xml } else { LONG_TEXT },
            nullable: true,
            identity: None,
            updatable: false,
        };
        Ok(Query { rel, output: vec![output], ..query })
    }

    /// `OPENJSON(text [, path]) [WITH (columns)]` in FROM.
    #[inline(never)]
    pub(crate) fn openjson(
        &mut self,
        name: &ast::ObjectName,
        args: &[ast::Expr],
        schema: &[ast::JsonColumn],
        alias: Option<&ast::Ident>,
        renamed: &[ast::Ident],
    ) -> Result<Source> {
        let line = name.span.line.max(1);
        let (text, path) = match args {
            [text] => (text, None),
            [text, path] => (text, Some(path)),
            [] => {
                return Err(BindError::new(
                    313,
                    16,
                    line,
                    "An insufficient number of arguments were supplied for the procedure or function \
                     OPENJSON.",
                ));
            }
            _ => {
                return Err(BindError::new(
                    8144,
                    16,
                    line,
                    "Procedure or function OPENJSON has too many arguments specified.",
                ));
            }
        };
        let text = self.expr(text)?;
        if !text.ty.is_character() && !text.is_null_constant() {
            return Err(BindError::new(
                8116,
                16,
                line,
                format!(
                    "Argument data type {} is invalid for argument 1 of OpenJson function.",
                    text.ty.message_name()
                ),
            ));
        }
        let mut bound = vec![self.text(text)?];
        bound.push(match path {
            Some(path) => {
                let path = self.expr(path)?;
                self.text(path)?
            }
            None => text_constant("$"),
        });
        let column = |name: &str, ty, nullable| SystemColumn { name: name.into(), ty, nullable };
        let mut columns = Vec::new();
        for c in schema {
            let ty = system_type_or_xml(self.names, &c.ty, false)?;
            if c.as_json && ty != LONG_TEXT {
                return Err(BindError::new(
                    13618,
                    16,
                    line,
                    "AS JSON option can be specified only for column of nvarchar(max) type in WITH \
                     clause.",
                ));
            }
            let path = match &c.path {
                Some(path) => path.clone(),
                None => {
                    format!("$.\"{}\"", c.name.value.replace('\\', "\\\\").replace('"', "\\\""))
                }
            };
            bound.push(text_constant(&path));
            bound.push(Expr::int(c.as_json.into()));
            columns.push(column(&c.name.value, ty, true));
        }
        if columns.is_empty() {
            columns = vec![
                column("key", SqlType::NVarChar(Len::N(4000)), false),
                column("value", LONG_TEXT, true),
                column("type", SqlType::TinyInt, false),
            ];
        }
        let params = Some(bound.iter().map(|e| e.ty).collect());
        let name_of = OPENJSON.into();
        let types = self.widened(&mut columns);
        let view = SystemView { name: name_of, database: None, columns, params, function: None };
        let source = self.system(Arc::new(view), bound, name, alias, renamed)?;
        Ok(self.narrowed(source, &types))
    }
}

impl Binder<'_> {
    /// `OPENXML(handle, pattern [, flags]) WITH (columns)` in FROM.
    #[inline(never)]
    pub(crate) fn openxml(
        &mut self,
        name: &ast::ObjectName,
        args: &[ast::Expr],
        schema: &[ast::JsonColumn],
        alias: Option<&ast::Ident>,
        renamed: &[ast::Ident],
    ) -> Result<Source> {
        let line = name.span.line.max(1);
        if !(2..=3).contains(&args.len()) {
            return Err(BindError::new(102, 15, line, "Incorrect syntax near 'OPENXML'."));
        }
        if schema.is_empty() {
            return Err(BindError::unsupported("OPENXML without WITH (columns)", line));
        }
        let mut bound = Vec::with_capacity(3 + schema.len());
        for (arg, ty) in args.iter().zip([SqlType::Int, LONG_TEXT, SqlType::Int]) {
            let arg = self.expr(arg)?;
            bound.push(self.coerce(arg, ty, CastMode::Implicit)?);
        }
        if bound.len() == 2 {
            bound.push(Expr::int(0));
        }
        let mut columns = Vec::with_capacity(schema.len());
        for c in schema {
            let ty = system_type_or_xml(self.names, &c.ty, false)?;
            bound.push(text_constant(c.path.as_deref().unwrap_or("")));
            columns.push(SystemColumn { name: c.name.value.clone(), ty, nullable: true });
        }
        let params = Some(bound.iter().map(|e| e.ty).collect());
        let name_of = OPENXML.into();
        let types = self.widened(&mut columns);
        let view = SystemView { name: name_of, database: None, columns, params, function: None };
        let source = self.system(Arc::new(view), bound, name, alias, renamed)?;
        Ok(self.narrowed(source, &types))
    }
}

/// The FOR clause where it may not stand: 6819, 13602.
pub(crate) fn not_allowed(clause: &ast::ForClause, place: &str) -> BindError {
    let (number, what) = if clause.xml { (6819, "XML") } else { (13602, "JSON") };
    let text = format!("The FOR {what} clause is not allowed in a {place} statement.");
    BindError::new(number, 16, clause.span.line.max(1), text)
}

/// The text as a client gets it: in rows, under the name that clients know it by.
pub(crate) fn for_client(query: &mut Query) {
    let Rel::Serialize { spec, .. } = &mut query.rel else { return };
    if spec.typed {
        return;
    }
    let name = match spec.xml {
        true => "XML_F52E2B61-18A1-11d1-B105-00805F49916B",
        false => "JSON_F52E2B61-18A1-11d1-B105-00805F49916B",
    };
    Arc::make_mut(spec).chunked = true;
    for column in &mut query.output {
        column.name = Some(name.into());
    }
}

/// The expression that a column of the select list comes from.
fn source_of(rel: &Rel, id: ColId) -> Option<&Expr> {
    match rel {
        Rel::Project { exprs, .. } => exprs.iter().find(|(i, _)| *i == id).map(|(_, e)| e),
        Rel::Sort { input, .. }
        | Rel::Top { input, .. }
        | Rel::Offset { input, .. }
        | Rel::Distinct { input, .. } => source_of(input, id),
        _ => None,
    }
}

fn text_constant(text: &str) -> Expr {
    let n = types::collation::utf16_len(text).clamp(1, 4000) as u16;
    Expr::constant(Value::str(text), SqlType::NVarChar(Len::N(n)))
}
