//! PIVOT and UNPIVOT, in terms of grouping and of APPLY.
//!
//! Source: "FROM - Using PIVOT and UNPIVOT". A PIVOT groups by every column of its source that it does not name; an
//! UNPIVOT leaves NULLs out.

use syntax::ast;
use types::{Len, SqlType, Value};

use std::collections::HashSet;

use ir::*;

use crate::context::*;
use semantics::signatures::aggregate_func;
use semantics::{BindError, Result};

/// sysname.
const NAME: SqlType = SqlType::NVarChar(Len::N(128));

impl Binder<'_> {
    /// `input PIVOT (aggregate FOR column IN (values)) AS alias`: 265, 473, 8156.
    #[inline(never)]
    pub fn pivot(
        &mut self,
        input: Source,
        aggregate: &ast::FunctionCall,
        column: &ast::ColumnRef,
        values: &[ast::Ident],
        alias: &ast::Ident,
    ) -> Result<Source> {
        let line = alias.span.line.max(1);
        let shown = &aggregate.name.name.value;
        let func = aggregate_func(&shown.to_ascii_uppercase())
            .filter(|f| aggregate.name.schema.is_none() && !f.is_ordered());
        let Some(func) = func else {
            let text = format!("Incorrect syntax near '{shown}'.");
            return Err(BindError::new(102, 15, line, text));
        };
        if aggregate.star || aggregate.distinct || aggregate.over.is_some() {
            let near = if aggregate.star { "*" } else { shown };
            let text = format!("Incorrect syntax near '{near}'.");
            return Err(BindError::new(102, 15, line, text));
        }
        self.scopes.push(Scope::of(input.tables.clone()));
        let bound = (|| -> Result<_> {
            let (arg, ty) = self.aggregate_arg(aggregate, func, line)?;
            Ok((arg, ty, self.column(column, line)?))
        })();
        self.scopes.pop();
        let (arg, ty, turned) = bound?;
        let arg = arg.ok_or_else(|| self.error(102, "Incorrect syntax near '*'."))?;
        let mut read = vec![turned.id];
        arg.columns(&mut read);
        let mut scope = ScopeTable {
            name: alias.value.clone(),
            schema: None,
            shown: alias.value.clone(),
            columns: Vec::new(),
        };
        let mut group = Vec::new();
        for c in input.tables.iter().flat_map(|t| &t.columns).filter(|c| !read.contains(&c.id)) {
            self.no_second(&scope, c.name.as_deref().unwrap_or_default(), line)?;
            self.note_use(c, ColumnUse::Read);
            let id = self.new_col();
            let column = Expr::col(c.id, c.ty, c.nullable);
            self.note_collation(id, &column);
            group.push((id, column));
            scope.columns.push(ScopeColumn { id, identity: None, updatable: false, ..c.clone() });
        }
        let folded = |c: &ScopeColumn| catalog::fold_name(c.name.as_deref().unwrap_or_default());
        let grouped: HashSet<String> = scope.columns.iter().map(folded).collect();
        let mut turned_names = HashSet::new();
        let mut aggs = Vec::with_capacity(values.len());
        for value in values {
            self.breath.steps(64)?;
            let name = catalog::fold_name(&value.value);
            if grouped.contains(&name) {
                return Err(BindError::new(
                    265,
                    16,
                    line,
                    format!(
                        "The column name \"{}\" specified in the PIVOT operator conflicts with the \
                         existing column name in the PIVOT argument.",
                        value.value
                    ),
                ));
            }
            if !turned_names.insert(name) {
                return Err(second(&scope, &value.value, line));
            }
            let wanted = self.pivot_value(value, turned.ty, line)?;
            let column = Expr::col(turned.id, turned.ty, turned.nullable);
            let same = self.compare(CompareOp::Eq, column, wanted)?;
            let case = ExprKind::Case { branches: vec![(same, arg.clone())], otherwise: None };
            let out = self.new_col();
            let arg = Some(Expr::new(case, arg.ty, true));
            // Most of its NULLs are rows of the other columns.
            let warns = false;
            aggs.push(Aggregate { out, func, distinct: false, arg, joining: None, warns, ty });
            scope.columns.push(ScopeColumn {
                name: Some(value.value.clone()),
                id: out,
                ty,
                nullable: !matches!(func, AggFunc::Count | AggFunc::CountBig),
                identity: None,
                updatable: false,
                rowguid: false,
            });
        }
        let scalar = group.is_empty();
        let rel = Rel::Aggregate { input: Box::new(input.rel), group, aggs, scalar, sets: None };
        Ok(Source { rel, tables: vec![scope] })
    }

    /// A value of IN: a name, read as a constant of the column's type.
    fn pivot_value(&self, value: &ast::Ident, ty: SqlType, line: u32) -> Result<Expr> {
        let text = Expr::constant(Value::str(&value.value), NAME);
        if matches!(
            ty,
            SqlType::Char(_) | SqlType::VarChar(_) | SqlType::NChar(_) | SqlType::NVarChar(_)
        ) {
            return Ok(text);
        }
        match types::convert::cast(&Value::str(&value.value), NAME, ty, 0) {
            Ok(value) => Ok(Expr::constant(value, ty)),
            Err(_) => Err(BindError::new(
                473,
                16,
                line,
                format!(
                    "The incorrect value \"{}\" is supplied in the PIVOT operator.",
                    value.value
                ),
            )),
        }
    }

    /// 8156.
    fn no_second(&mut self, scope: &ScopeTable, name: &str, line: u32) -> Result<()> {
        self.breath.steps(1 + scope.columns.len())?;
        let known =
            |c: &ScopeColumn| c.name.as_deref().is_some_and(|n| catalog::same_name(n, name));
        if !scope.columns.iter().any(known) {
            return Ok(());
        }
        Err(second(scope, name, line))
    }

    /// `input UNPIVOT (value FOR name IN (columns)) AS alias`: 277, 8156, 8167.
    #[inline(never)]
    pub fn unpivot(
        &mut self,
        input: Source,
        (value, name): (&ast::Ident, &ast::Ident),
        columns: &[ast::ColumnRef],
        alias: &ast::Ident,
    ) -> Result<Source> {
        let line = alias.span.line.max(1);
        self.scopes.push(Scope::of(input.tables.clone()));
        let mut find = |column| {
            self.breath.steps(1 + self.looked.take())?;
            self.column(column, line)
        };
        let listed: Result<Vec<ScopeColumn>> = columns.iter().map(&mut find).collect();
        self.scopes.pop();
        let listed = listed?;
        let turned: HashSet<ColId> = listed.iter().map(|column| column.id).collect();
        let ty = listed.first().map_or(SqlType::Int, |c| c.ty);
        let mut rows = Vec::with_capacity(listed.len());
        for (column, named) in listed.iter().zip(columns) {
            if !column.ty.has_values_of(ty) {
                return Err(BindError::new(
                    8167,
                    16,
                    line,
                    format!(
                        "The type of column \"{}\" conflicts with the type of other columns \
                         specified in the UNPIVOT list.",
                        named.name.value
                    ),
                ));
            }
            let shown = column.name.clone().unwrap_or_default();
            rows.push(vec![
                Expr::col(column.id, ty, true),
                Expr::constant(Value::str(&shown), NAME),
            ]);
        }
        let mut scope = ScopeTable {
            name: alias.value.clone(),
            schema: None,
            shown: alias.value.clone(),
            columns: Vec::new(),
        };
        for c in input.tables.iter().flat_map(|t| &t.columns) {
            if turned.contains(&c.id) {
                continue;
            }
            self.no_second(&scope, c.name.as_deref().unwrap_or_default(), line)?;
            scope.columns.push(ScopeColumn { identity: None, updatable: false, ..c.clone() });
        }
        let mut made = Vec::with_capacity(2);
        for (new, ty) in [(value, ty), (name, NAME)] {
            let known = |c: &ScopeColumn| {
                c.name.as_deref().is_some_and(|n| catalog::same_name(n, &new.value))
            };
            if scope.columns.iter().any(known) {
                return Err(BindError::new(
                    277,
                    16,
                    line,
                    format!(
                        "The column name \"{}\" specified in the UNPIVOT operator conflicts with \
                         the existing column name in the UNPIVOT argument.",
                        new.value
                    ),
                ));
            }
            let id = self.new_col();
            made.push(id);
            scope.columns.push(ScopeColumn {
                name: Some(new.value.clone()),
                id,
                ty,
                nullable: true,
                identity: None,
                updatable: false,
                rowguid: false,
            });
        }
        let present = Expr::is_null(Expr::col(made[0], ty, true), true);
        let values = Rel::Values { rows, columns: made };
        let right = Rel::Filter { input: Box::new(values), predicate: present };
        let rel = Rel::Apply { outer: false, left: Box::new(input.rel), right: Box::new(right) };
        Ok(Source { rel, tables: vec![scope] })
    }
}

/// 8156.
fn second(scope: &ScopeTable, name: &str, line: u32) -> BindError {
    let text = format!("The column '{name}' was specified multiple times for '{}'.", scope.name);
    BindError::new(8156, 16, line, text)
}
