//! Table value constructors, and UNION, EXCEPT, INTERSECT.

use std::sync::Arc;

use ir::*;
use runtime::task::Step;
use syntax::ast;
use types::SqlType;

use crate::context::{Binder, Scope};
use semantics::{BindError, Result};

impl Binder<'_> {
    /// A table value constructor. Columns have no names and the common type of their values.
    pub fn values(&mut self, rows: &[Vec<ast::Expr>]) -> Result<Query> {
        let width = rows.first().map_or(0, Vec::len);
        let mut bound = Vec::with_capacity(rows.len());
        for row in rows {
            if row.len() != width {
                return Err(self.error(
                    10709,
                    "The number of columns for each row in a table value constructor must be the \
                     same.",
                ));
            }
            bound.push(row.iter().map(|e| self.expr(e)).collect::<Result<Vec<Expr>>>()?);
        }
        let mut output = Vec::with_capacity(width);
        for i in 0..width {
            let column: Vec<&Expr> = bound.iter().map(|row| &row[i]).collect();
            let ty = self.common(&column)?.unwrap_or(SqlType::Int);
            let nullable = column.iter().any(|e| e.nullable);
            for row in &mut bound {
                let value = std::mem::replace(&mut row[i], Expr::int(0));
                row[i] = self.coerce(value, ty, CastMode::Implicit)?;
            }
            let id = self.new_col();
            output.push(OutputColumn {
                base: None,
                collation: self.usual_of(ty),
                name: None,
                id,
                ty,
                nullable,
                identity: None,
                updatable: false,
            });
        }
        let columns = output.iter().map(|c| c.id).collect();
        Ok(Query {
            rel: Rel::Values { rows: bound, columns },
            output,
            maxdop: 0,
            hints: Default::default(),
        })
    }

    pub fn set_operation(&mut self, body: &ast::QueryBody) -> Result<Query> {
        let ast::QueryBody::SetOperation { op, all, left, right } = body else {
            return self.side(body);
        };
        let op = match (op, all) {
            (ast::SetOperator::Union, true) => SetOp::UnionAll,
            (ast::SetOperator::Union, false) => {
                self.refuse_in_recursion(466)?;
                SetOp::Union
            }
            (ast::SetOperator::Except, _) => SetOp::Except,
            (ast::SetOperator::Intersect, _) => SetOp::Intersect,
        };
        if *all && op != SetOp::UnionAll {
            let name = op.name();
            let text = format!("The 'ALL' version of the {name} operator is not supported.");
            return Err(BindError::new(324, 15, self.line, text));
        }
        let left = self.side(left)?;
        let right = self.side(right)?;
        self.combine(op, left, right)
    }

    /// Two bound queries and an operation: 205, 206, 451.
    #[inline(never)]
    pub fn combine(&mut self, op: SetOp, mut left: Query, mut right: Query) -> Result<Query> {
        if left.output.len() != right.output.len() {
            return Err(self.error(
                205,
                "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an \
                 equal number of expressions in their target lists.",
            ));
        }
        let mut types = Vec::with_capacity(left.output.len());
        let operation = op.name();
        let mut unsettled = Vec::new();
        let mut rules = Vec::with_capacity(left.output.len());
        for (i, (a, b)) in left.output.iter().zip(&right.output).enumerate() {
            let (a, b) = (self.as_expression(&left.rel, a), self.as_expression(&right.rel, b));
            types.push(match self.common(&[&a, &b])? {
                Some(ty) => ty,
                None => a.ty,
            });
            self.explicit_once(&[&a, &b], operation)?;
            rules.push(self.rule_of_both(&a, &b));
            if op != SetOp::UnionAll {
                self.one_rule(a, b, operation)?;
            } else if self.scopes.is_empty() {
                unsettled.extend(self.one_collation(&[&a, &b], operation, i + 1).err());
            }
        }
        if let Some(error) = BindError::all(unsettled) {
            return Err(error);
        }
        let apart =
            left.output.iter().chain(&right.output).find_map(semantics::typing::not_comparable);
        if let Some(name) = apart.filter(|_| op != SetOp::UnionAll) {
            return Err(self.error(
                5335,
                format!(
                    "The data type {name} cannot be used as an operand to the UNION, INTERSECT or EXCEPT operators \
                     because it is not comparable."
                ),
            ));
        }
        self.bring_under(&mut left, &rules);
        self.bring_under(&mut right, &rules);
        let left_columns = self.convert_output(&mut left, &types)?;
        let right_columns = self.convert_output(&mut right, &types)?;
        let columns: Vec<ColId> = types.iter().map(|_| self.new_col()).collect();
        self.note_labels(&columns, rules);
        let output = left
            .output
            .iter()
            .zip(&right.output)
            .zip(columns.iter().zip(&types))
            .map(|((a, b), (id, ty))| OutputColumn {
                base: self.long_of(&[a, b], *id, *ty),
                collation: self.collation_of_column(*id, *ty),
                name: a.name.clone(),
                id: *id,
                ty: *ty,
                nullable: a.nullable || b.nullable,
                identity: None,
                updatable: false,
            })
            .collect();
        let rel = Rel::SetOp {
            op,
            left: Box::new(left.rel),
            left_columns,
            right: Box::new(right.rel),
            right_columns,
            columns,
            step: Step::default(),
        };
        Ok(Query { rel, output, maxdop: 0, hints: Default::default() })
    }

    /// What is told of a column that is put together of others: it is text, ntext or image where one of them is, and
    /// keeps its type.
    fn long_of(
        &mut self,
        from: &[&OutputColumn],
        id: ColId,
        ty: SqlType,
    ) -> Option<Arc<BaseColumn>> {
        let long = from.iter().any(|column| column.is_long() && column.ty == ty);
        long.then(|| {
            self.long_columns.insert(id);
            Arc::new(BaseColumn { long, ..BaseColumn::default() })
        })
    }

    /// Brings the output of a query to the given types; the ids that carry it.
    pub fn convert_output(&mut self, query: &mut Query, types: &[SqlType]) -> Result<Vec<ColId>> {
        if query.output.iter().zip(types).all(|(c, ty)| c.ty == *ty) {
            return Ok(query.output.iter().map(|c| c.id).collect());
        }
        let mut exprs = Vec::with_capacity(types.len());
        let mut ids = Vec::with_capacity(types.len());
        for (column, ty) in query.output.iter().zip(types) {
            let value = if self.is_null_throughout(&query.rel, column.id) {
                Expr::constant(types::Value::Null, *ty)
            } else {
                let value = Expr::col(column.id, column.ty, column.nullable);
                self.coerce(value, *ty, CastMode::Implicit)?
            };
            let id = self.new_col();
            ids.push(id);
            exprs.push((id, value));
        }
        let input = std::mem::replace(&mut query.rel, Rel::OneRow);
        query.rel = Rel::Project { input: Box::new(input), exprs };
        Ok(ids)
    }

    /// ORDER BY and OFFSET of a set operation: output columns by name or position.
    pub fn order_set(&mut self, mut bound: Query, query: &ast::Query) -> Result<Query> {
        let mut keys = Vec::new();
        for item in &query.order_by {
            let found = match &item.expr.kind {
                ast::ExprKind::Literal(ast::Literal::Int(n)) => {
                    usize::try_from(*n).ok().and_then(|n| bound.output.get(n.wrapping_sub(1)))
                }
                ast::ExprKind::Column(c) => {
                    let is_named = |o: &&OutputColumn| {
                        let name = o.name.as_deref();
                        c.qualifier.is_empty()
                            && name.is_some_and(|n| catalog::same_name(n, &c.name.value))
                    };
                    let place = || place_in_list(&query.body, c);
                    let named = bound.output.iter().find(is_named);
                    named.or_else(|| bound.output.get(place()?))
                }
                _ => None,
            };
            let Some(found) = found else {
                return Err(self.unlisted(&query.body, &item.expr));
            };
            if found.is_long() {
                return Err(self.not_ordered());
            }
            self.sortable(found.ty, "ORDER BY")?;
            let expr = Expr::col(found.id, found.ty, found.nullable);
            keys.push(SortKey { expr, desc: item.descending });
        }
        if !keys.is_empty() {
            bound.rel = Rel::Sort { input: Box::new(bound.rel), keys };
        }
        self.offset(&mut bound.rel, query)?;
        Ok(bound)
    }
}

impl Binder<'_> {
    /// Why a set operation is not ordered by what is no column of it: 104, after 108 for a position and after 207 for a
    /// name that means nothing to the first SELECT either.
    #[cold]
    fn unlisted(&mut self, body: &ast::QueryBody, item: &ast::Expr) -> BindError {
        let line = item.span.line.max(1);
        let text = "ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT \
                    operator.";
        let unlisted = BindError::new(104, 16, line, text);
        if let ast::ExprKind::Literal(ast::Literal::Int(n)) = &item.kind {
            let text = format!(
                "The ORDER BY position number {n} is out of range of the number of items in the select list."
            );
            let outside = BindError::new(108, 16, line, text);
            return BindError::all(vec![outside, unlisted]).expect("two of them");
        }
        let (ast::ExprKind::Column(c), Some(first)) = (&item.kind, first_select(body)) else {
            return unlisted;
        };
        let Ok(source) = self.from(&first.from) else { return unlisted };
        self.scopes.push(Scope::of(source.tables));
        let found = self.column(c, line);
        self.scopes.pop();
        match found {
            Ok(_) => unlisted,
            Err(unknown) => BindError::all(vec![unknown, unlisted]).expect("two of them"),
        }
    }
}

fn first_select(body: &ast::QueryBody) -> Option<&ast::Select> {
    match body {
        ast::QueryBody::Select(select) => Some(select),
        ast::QueryBody::Nested(inner) => first_select(inner),
        ast::QueryBody::SetOperation { left, .. } => first_select(left),
        ast::QueryBody::Values(_) => None,
    }
}

/// Where the first SELECT of a set operation lists a column that ORDER BY names as that SELECT does, by `t.a` or `a`,
/// whatever it is called in the result. None where it does not, or where a `*` before it hides the place.
fn place_in_list(body: &ast::QueryBody, wanted: &ast::ColumnRef) -> Option<usize> {
    let select = first_select(body)?;
    let is_wanted = |c: &ast::ColumnRef| {
        // `dbo.t.a` and `t.a` are the same column; so is `a`, of the only table that has one.
        let same = |(a, b): (&ast::Ident, &ast::Ident)| catalog::same_name(&a.value, &b.value);
        catalog::same_name(&c.name.value, &wanted.name.value)
            && c.qualifier.iter().rev().zip(wanted.qualifier.iter().rev()).all(same)
    };
    for (place, item) in select.items.iter().enumerate() {
        match item {
            ast::SelectItem::Expr { expr, .. } => match &expr.kind {
                ast::ExprKind::Column(c) if is_wanted(c) => return Some(place),
                _ => {}
            },
            _ => return None,
        }
    }
    None
}

impl Binder<'_> {
    /// Is it a column of a query in FROM that is NULL itself in each row? It is an int where it must have a type.
    pub fn is_null_column(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Col(id) if self.null_columns.contains(id))
    }

    /// Is this output NULL itself, or a column that is? What UNION puts together is an int by then.
    pub fn is_null_output(&self, rel: &Rel, id: ColId) -> bool {
        match rel {
            _ if self.null_columns.contains(&id) => true,
            Rel::Project { exprs, .. } => exprs
                .iter()
                .any(|(i, e)| *i == id && (e.is_null_constant() || self.is_null_column(e))),
            Rel::Values { rows, columns } => columns
                .iter()
                .position(|column| *column == id)
                .is_some_and(|at| rows.iter().all(|row| row[at].is_null_constant())),
            Rel::Top { input, .. } | Rel::Sort { input, .. } => self.is_null_output(input, id),
            _ => false,
        }
    }

    /// Is it so in each of the queries that UNION puts together? Long runs of them are bound as trees, and what two of
    /// them agree on is not the type of the run.
    pub fn is_null_throughout(&self, rel: &Rel, id: ColId) -> bool {
        match rel {
            Rel::SetOp {
                op: SetOp::UnionAll | SetOp::Union,
                left,
                left_columns,
                right,
                right_columns,
                columns,
                ..
            } => columns.iter().position(|column| *column == id).is_some_and(|at| {
                self.is_null_throughout(left, left_columns[at])
                    && self.is_null_throughout(right, right_columns[at])
            }),
            rel => self.is_null_output(rel, id),
        }
    }

    /// An output as an expression: NULL itself, the constant that it is, else its column.
    fn as_expression(&self, rel: &Rel, column: &OutputColumn) -> Expr {
        let of_column = || Expr::col(column.id, column.ty, column.nullable);
        if self.is_null_throughout(rel, column.id) {
            return Expr::constant(types::Value::Null, column.ty);
        }
        match rel {
            Rel::Project { exprs, .. } => match exprs.iter().find(|(id, _)| *id == column.id) {
                Some((_, e)) if semantics::typing::constant_type(e) != e.ty => e.clone(),
                _ => of_column(),
            },
            Rel::Top { input, .. } | Rel::Sort { input, .. } => self.as_expression(input, column),
            _ => of_column(),
        }
    }
}
