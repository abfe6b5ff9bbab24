//! What a view, a table-valued function or a table type looks like from outside: its columns, as those of a table.
//!
//! Promise: the text is bound against the catalog of now, and nothing of it runs. A column that is a table's column seen
//! as it is keeps that column's alias type, rowversion and identity, as in SQL Server.

use std::collections::HashMap;
use std::sync::Arc;

use catalog::{ColumnSpec, MemoryDef, ModuleKind, Place, ProcedureDef, TableDef, TableSpec};
use ir::{ColId, Query};
use syntax::ast;

use crate::context::*;
use semantics::kept;
use semantics::names::Names;
use semantics::uses::{Source, Sources, count_columns};
use semantics::{BindError, Result};

/// See the file's first lines; 208 for modules of other kinds, and what binding answers.
pub(crate) fn of_module(module: &ProcedureDef, names: &dyn Names) -> Result<TableDef> {
    let spec = match module.kind {
        ModuleKind::TableType => crate::bind_table_type(&module.text, names)?,
        _ => of_definition(module, names)?,
    };
    let spec = TableSpec { name: module.name.clone(), ..spec };
    let place = Place::Variable(u16::MAX);
    let mut table = catalog::define_private(&spec, place, module.object_id, module.version)
        .map_err(|e| BindError::of_catalog(e, 1))?;
    if module.kind == ModuleKind::TableType {
        let shown = crate::bind_type_indexes(&module.text, names)?;
        catalog::show_indexes(&mut table, &shown).map_err(|e| BindError::of_catalog(e, 1))?;
        if semantics::type_names::is_memory_optimized(module) {
            let buckets = shown.primary_key.as_ref().and_then(|key| key.buckets);
            table.memory = Some(MemoryDef { durable: false, buckets });
        }
    }
    let created_unix_ns = module.created_unix_ns;
    Ok(TableDef { schema: module.schema.clone(), created_unix_ns, ..table })
}

/// What a view's own text reads, without what the views that it names read; 208 for modules of other kinds.
pub(crate) fn sources_of(view: &ProcedureDef, names: &dyn Names) -> Result<Vec<Source>> {
    let Some(ast::StatementKind::CreateView(create)) = kept::definition(view) else {
        return Err(no_rows(view));
    };
    let frame = Frame::default();
    let mut binder = Binder::new(names, &frame, 1);
    binder.sources = Some(Sources::default());
    let schema: Option<Arc<str>> = Some(view.schema.as_ref().into());
    let bound = binder.in_schema(schema, |b| b.view_query(&create))?;
    let Sources { mut list, inner } = binder.sources.take().unwrap_or_default();
    let mut used = HashMap::new();
    count_columns(&bound.rel, &mut used);
    let is_used = |id: &ColId| {
        let own = used.get(id).copied() > inner.get(id).copied();
        own || bound.output.iter().any(|column| column.id == *id)
    };
    for source in &mut list {
        source.columns.retain(|(_, id)| is_used(id));
    }
    Ok(list)
}

fn of_definition(module: &ProcedureDef, names: &dyn Names) -> Result<TableSpec> {
    let frame = Frame::default();
    let mut binder = Binder::new(names, &frame, 1);
    let schema: Option<Arc<str>> = Some(module.schema.as_ref().into());
    match kept::definition(module) {
        Some(ast::StatementKind::CreateView(create)) => {
            let bound = binder.in_schema(schema, |b| b.view_query(&create))?;
            binder.shown(bound, module, &create.columns)
        }
        Some(ast::StatementKind::CreateFunction(create)) => match &create.returns {
            ast::FunctionReturns::Inline(query) => {
                let bound = binder.inline_query(&create, query, schema)?;
                binder.shown(bound, module, &[])
            }
            ast::FunctionReturns::Table { variable, definition, .. } => {
                binder.returned_table(module, variable, definition)
            }
            ast::FunctionReturns::Scalar { .. } => Err(no_rows(module)),
        },
        _ => Err(no_rows(module)),
    }
}

fn no_rows(module: &ProcedureDef) -> BindError {
    BindError::new(208, 16, 1, format!("Invalid object name '{}'.", module.name))
}

impl Binder<'_> {
    /// The output of a module's query as columns of a table.
    fn shown(
        &mut self,
        bound: Query,
        module: &ProcedureDef,
        columns: &[ast::Ident],
    ) -> Result<TableSpec> {
        let source = self.expose_as(bound, &module.name, &module.name, columns)?;
        let mut spec = TableSpec::default();
        for column in source.tables.iter().flat_map(|table| &table.columns) {
            let base = self.column_behind(column.id);
            let base = base.filter(|base| base.ty == column.ty);
            spec.columns.push(ColumnSpec {
                nullable: Some(column.nullable),
                collation: self.collation_of_column(column.id, column.ty),
                identity: column.identity,
                alias: base.and_then(|base| base.alias),
                rowversion: base.is_some_and(|base| base.rowversion),
                ..ColumnSpec::new(column.name.as_deref().unwrap_or_default(), column.ty)
            });
        }
        Ok(spec)
    }
}
