//! CHANGETABLE, and the context that a statement's changes are noted with.
//!
//! Source: SQL Server's documentation of CHANGETABLE and WITH CHANGE_TRACKING_CONTEXT, and of messages 22105 to 22112.

use std::sync::Arc;

use catalog::TableDef;
use ir::*;
use syntax::ast;
use types::{Len, SqlType};

use crate::context::*;
use semantics::{BindError, Result};

const VERSION: (&str, SqlType) = ("SYS_CHANGE_VERSION", SqlType::BigInt);
const CONTEXT: (&str, SqlType) = ("SYS_CHANGE_CONTEXT", SqlType::VarBinary(Len::N(128)));

impl Binder<'_> {
    /// CHANGETABLE as a source of rows. 208, 22105, 22107.
    #[inline(never)]
    pub fn change_table(&mut self, changes: &ast::ChangeTable) -> Result<Source> {
        let line = changes.span.line.max(1);
        let table = self.tracked_table(&changes.table, line)?;
        let key = primary_key(&table);
        let mut columns = vec![VERSION];
        let (func, args) = match &changes.of {
            ast::ChangesOf::After(version) => {
                columns.extend([
                    ("SYS_CHANGE_CREATION_VERSION", SqlType::BigInt),
                    ("SYS_CHANGE_OPERATION", SqlType::NChar(1)),
                    ("SYS_CHANGE_COLUMNS", SqlType::VarBinary(Len::N(4100))),
                ]);
                let version = self.expr(version)?;
                let version = self.coerce(version, SqlType::BigInt, CastMode::Implicit)?;
                (TableFunc::Changes(table.object_id), vec![version])
            }
            ast::ChangesOf::Row { columns, values } => {
                let values = self.key_values(&table, &key, columns, values, line)?;
                (TableFunc::RowVersion(table.object_id), values)
            }
        };
        columns.push(CONTEXT);
        let system = columns.len();
        columns.extend(key.iter().map(|i| (&*table.columns[*i].name, table.columns[*i].ty)));
        let renamed = &changes.columns;
        if !renamed.is_empty() && renamed.len() != columns.len() {
            let (number, word) =
                if renamed.len() < columns.len() { (8158, "more") } else { (8159, "fewer") };
            let name = &changes.alias.value;
            return Err(BindError::new(
                number,
                16,
                line,
                format!("'{name}' has {word} columns than were specified in the column list."),
            ));
        }
        let ids: Vec<(ColId, SqlType)> =
            columns.iter().map(|(_, ty)| (self.new_col(), *ty)).collect();
        for (i, (id, _)) in key.iter().zip(&ids[system..]) {
            self.note_column(&table.columns[*i], *id);
        }
        let mut shown = Vec::with_capacity(columns.len());
        for (i, ((name, ty), (id, _))) in columns.iter().zip(&ids).enumerate() {
            shown.push(ScopeColumn {
                name: Some(renamed.get(i).map_or_else(|| name.to_string(), |r| r.value.clone())),
                id: *id,
                ty: *ty,
                nullable: i < system && *name != "SYS_CHANGE_OPERATION",
                identity: None,
                updatable: false,
                rowguid: false,
            });
        }
        let scope = ScopeTable {
            name: changes.alias.value.clone(),
            schema: None,
            shown: changes.alias.value.clone(),
            columns: shown,
        };
        Ok(Source { rel: Rel::Function { func, args, columns: ids }, tables: vec![scope] })
    }

    fn tracked_table(&mut self, name: &ast::ObjectName, line: u32) -> Result<Arc<TableDef>> {
        let wanted = self.meant(name);
        if self.elsewhere(&wanted).is_some() {
            return Err(BindError::unsupported(format!("CHANGETABLE of {name}"), line));
        }
        let table = match self.table(&wanted).filter(|table| !table.is_private()) {
            Some(table) => table,
            None => {
                let known = self.table(&wanted).is_some()
                    || self.names.view(&wanted).is_some()
                    || self.names.system_view(&ObjectName::from(name)).is_some();
                if !known {
                    return Err(BindError::invalid_object(name, line));
                }
                return Err(self.error(
                    22107,
                    format!(
                        "Object '{name}' is of a data type that is not supported by the CHANGETABLE function. The \
                         object must be a user-defined table."
                    ),
                ));
            }
        };
        if table.tracking.is_none() {
            let text = format!("Change tracking is not enabled on table '{name}'.");
            return Err(self.error(22105, text));
        }
        Ok(table)
    }

    /// The values of VERSION in the key's order, in its types. 22110 to 22112.
    fn key_values(
        &mut self,
        table: &TableDef,
        key: &[usize],
        columns: &[ast::Ident],
        values: &[ast::Expr],
        line: u32,
    ) -> Result<Vec<Expr>> {
        let mut given: Vec<Option<Expr>> = vec![None; key.len()];
        for (column, value) in columns.iter().zip(values) {
            let ordinal = table.column(&column.value);
            let Some(at) = ordinal.and_then(|o| key.iter().position(|k| *k == o)) else {
                let text = format!(
                    "The column '{}' specified in the CHANGETABLE(VERSION ...) function is not part of the primary key \
                     for table '{}'.",
                    column.value, table.name
                );
                return Err(BindError::new(22111, 16, line, text));
            };
            if given[at].is_some() {
                let text = format!(
                    "Each primary key column must be specified once in the CHANGETABLE(VERSION ...) function. The \
                     column '{}' is specified more than once.",
                    column.value
                );
                return Err(BindError::new(22112, 16, line, text));
            }
            let value = self.expr(value)?;
            given[at] = Some(self.coerce(value, table.columns[key[at]].ty, CastMode::Implicit)?);
        }
        match given.into_iter().collect() {
            Some(values) => Ok(values),
            None => {
                let text = format!(
                    "The number of columns specified in the CHANGETABLE(VERSION ...) function does not match the number \
                     of primary key columns for table '{}'.",
                    table.name
                );
                Err(BindError::new(22110, 16, line, text))
            }
        }
    }

    /// WITH CHANGE_TRACKING_CONTEXT of a statement; 22109.
    pub fn tracking_context(&mut self, context: Option<&ast::Expr>) -> Result<Option<Box<Expr>>> {
        let Some(context) = context else { return Ok(None) };
        let value = self.expr(context)?;
        let fits = match value.ty {
            SqlType::VarBinary(Len::N(n)) | SqlType::Binary(n) => n <= 128,
            _ => value.is_null_constant(),
        };
        if !fits {
            return Err(self.error(
                22109,
                "The \"context\" argument for the CHANGE_TRACKING_CONTEXT WITH clause must be of type varbinary data \
                 type with a maximum length of 128.",
            ));
        }
        Ok(Some(Box::new(value)))
    }
}

/// Ordinals.
fn primary_key(table: &TableDef) -> Vec<usize> {
    let key = table.primary_key.iter().flat_map(|key| &key.columns);
    key.map(|(ordinal, _)| *ordinal).collect()
}
