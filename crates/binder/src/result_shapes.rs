//! EXECUTE ... WITH RESULT SETS: the columns that the client is told of.
//!
//! Source: "EXECUTE (Transact-SQL)", result_sets_definition.

use ir::{ColId, ObjectName, OutputColumn};
use syntax::ast;
use types::SqlType;

use crate::context::Binder;
use semantics::kept;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// The columns of each: 208 and 2715 for an object or a type that is not there.
    pub fn result_shapes(&mut self, shapes: &[ast::ResultShape]) -> Result<Vec<Vec<OutputColumn>>> {
        shapes.iter().map(|shape| self.result_shape(shape)).collect()
    }

    fn result_shape(&mut self, shape: &ast::ResultShape) -> Result<Vec<OutputColumn>> {
        match shape {
            ast::ResultShape::Columns(columns) => columns
                .iter()
                .map(|column| {
                    let ty = self.declared_type(&column.ty)?;
                    Ok(told(&column.name.value, ty, column.nullable != Some(false)))
                })
                .collect(),
            ast::ResultShape::Object(name) => {
                let source = match self.rows_function(name) {
                    Some((routine, arguments)) => {
                        self.table_routine(&routine, name, &arguments, None, &[])?
                    }
                    None => self.named(name, None, &[])?,
                };
                let columns = source.tables.iter().flat_map(|table| &table.columns);
                let columns: Vec<_> = columns.filter(|c| !self.hidden.contains(&c.id)).collect();
                let told = columns
                    .into_iter()
                    .map(|c| told(c.name.as_deref().unwrap_or_default(), c.ty, c.nullable));
                Ok(told.collect())
            }
            ast::ResultShape::Type(name) => {
                self.touched.set(true);
                let Some((_, spec)) = self.names.table_type(&ObjectName::from(name)) else {
                    return Err(BindError::new(
                        2715,
                        16,
                        name.span.line.max(1),
                        format!("Column, parameter, or variable #1: Cannot find data type {name}."),
                    ));
                };
                let told = spec.columns.iter().map(|c| {
                    let nullable = c.nullable.unwrap_or(c.identity.is_none());
                    told(&c.name, c.ty, nullable)
                });
                Ok(told.collect())
            }
        }
    }

    /// A table-valued function of that name, with arguments that nobody looks at.
    fn rows_function(
        &self,
        name: &ast::ObjectName,
    ) -> Option<(std::sync::Arc<catalog::ProcedureDef>, Vec<ast::Expr>)> {
        self.touched.set(true);
        let routine = self.names.function(&self.meant(name))?;
        if routine.kind == catalog::ModuleKind::ScalarFunction {
            return None;
        }
        let count = match kept::definition(&routine)? {
            ast::StatementKind::CreateFunction(create) => create.parameters.len(),
            _ => 0,
        };
        let null = || ast::Expr::new(ast::ExprKind::Literal(ast::Literal::Null), name.span);
        Some((routine, std::iter::repeat_with(null).take(count).collect()))
    }
}

/// A column by its name and type.
fn told(name: &str, ty: SqlType, nullable: bool) -> OutputColumn {
    OutputColumn {
        base: None,
        collation: types::Collation::default(),
        name: Some(name.to_string()),
        id: ColId(0),
        ty,
        nullable,
        identity: None,
        updatable: false,
    }
}
