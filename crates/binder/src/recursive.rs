//! Recursive common table expressions.
//!
//! The members of the top-level UNION ALL are anchors as long as they do not name the expression; all after them do.
//! A reference is bound as one row whose columns belong to whoever runs the recursion: the step is planned as a query
//! correlated with it, so what it joins is found by seeks.
//!
//! Source: "WITH common_table_expression (Transact-SQL)", guidelines for recursive common table expressions.

use ir::*;
use syntax::ast;

use crate::context::*;
use crate::notes::Recursion;
use semantics::tree::names_in;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// A reference in FROM to the expression being defined: 253, 465.
    #[inline(never)]
    pub fn recursive_reference(
        &mut self,
        name: &ast::ObjectName,
        alias: Option<&ast::Ident>,
    ) -> Option<Result<Source>> {
        let subqueries = self.subqueries;
        let recursion = self.recursion.as_mut()?;
        if name.schema.is_some() || !catalog::same_name(&recursion.name, &name.name.value) {
            return None;
        }
        recursion.used += 1;
        let shown = alias.unwrap_or(&name.name).value.clone();
        let (used, columns) = (recursion.used, recursion.columns.clone());
        let line = name.span.line.max(1);
        if subqueries > recursion.subqueries {
            let text = "Recursive references are not allowed in subqueries.";
            return Some(Err(BindError::new(465, 16, line, text)));
        }
        if used > 1 {
            return Some(Err(BindError::new(
                253,
                16,
                line,
                format!(
                    "Recursive member of a common table expression '{}' has multiple recursive \
                     references.",
                    name.name.value
                ),
            )));
        }
        let table = ScopeTable { name: shown.clone(), schema: None, shown, columns };
        Some(Ok(Source { rel: Rel::OneRow, tables: vec![table] }))
    }

    /// What may not stand in a recursive member: 460, 461, 462, 466, 467.
    pub fn refuse_in_recursion(&self, number: i32) -> Result<()> {
        let Some(recursion) = &self.recursion else { return Ok(()) };
        let what = match number {
            460 => "DISTINCT operator is",
            461 => "The TOP or OFFSET operator is",
            462 => "Outer join is",
            466 => "UNION operator is",
            _ => "GROUP BY, HAVING, or aggregate functions are",
        };
        Err(BindError::new(
            number,
            16,
            self.line,
            format!(
                "{what} not allowed in the recursive part of a recursive common table expression \
                 '{}'.",
                recursion.name
            ),
        ))
    }

    /// The query of an expression that names itself: 240, 246, 247, 252.
    #[inline(never)]
    pub fn recursive_cte(&mut self, cte: &ast::Cte) -> Result<Query> {
        let name = &cte.name.value;
        let line = cte.name.span.line.max(1);
        self.check_order_by(&cte.query, line)?;
        let mut members = Vec::new();
        union_all_members(&cte.query.body, &mut members);
        if members.len() < 2 {
            return Err(BindError::new(
                252,
                16,
                line,
                format!(
                    "Recursive common table expression '{name}' does not contain a top-level UNION \
                     ALL operator."
                ),
            ));
        }
        let first = members.iter().position(|m| names_in(m, name)).unwrap_or(members.len());
        if first == 0 {
            return Err(BindError::new(
                246,
                16,
                line,
                format!("No anchor member was specified for recursive query \"{name}\"."),
            ));
        }
        let (anchors, steps) = members.split_at(first);
        if steps.iter().any(|m| !names_in(m, name)) {
            return Err(BindError::new(
                247,
                16,
                line,
                format!(
                    "An anchor member was found in the recursive part of recursive query \
                     \"{name}\"."
                ),
            ));
        }
        let mut anchor: Option<Query> = None;
        for member in anchors {
            let side = self.deeper(QUERY_DEPTH, |b| b.side(member))?;
            anchor = Some(match anchor {
                None => side,
                Some(left) => self.combine(SetOp::UnionAll, left, side)?,
            });
        }
        let Some(anchor) = anchor else { return Err(self.error(246, "No anchor member.")) };
        let columns: Vec<ScopeColumn> = anchor
            .output
            .iter()
            .enumerate()
            .map(|(i, c)| ScopeColumn {
                name: cte.columns.get(i).map(|n| n.value.clone()).or_else(|| c.name.clone()),
                id: self.new_col(),
                ty: c.ty,
                nullable: true,
                identity: None,
                updatable: false,
                rowguid: false,
            })
            .collect();
        let iteration: Vec<ColId> = columns.iter().map(|c| c.id).collect();
        let recursion =
            Recursion { name: name.clone(), columns, used: 0, subqueries: self.subqueries };
        self.recursion = Some(recursion);
        let step = self.recursive_steps(cte, steps, &anchor);
        self.recursion = None;
        let step = step?;
        let output: Vec<OutputColumn> = anchor
            .output
            .iter()
            .map(|c| OutputColumn {
                base: None,
                collation: c.collation,
                name: c.name.clone(),
                id: self.new_col(),
                ty: c.ty,
                nullable: true,
                identity: None,
                updatable: false,
            })
            .collect();
        let rel = Rel::Recursive {
            anchor_columns: anchor.output.iter().map(|c| c.id).collect(),
            anchor: Box::new(anchor.rel),
            step_columns: step.output.iter().map(|c| c.id).collect(),
            step: Box::new(step.rel),
            iteration,
            columns: output.iter().map(|c| c.id).collect(),
            max: self.maxrecursion,
        };
        Ok(Query { rel, output, maxdop: 0, hints: Default::default() })
    }

    #[inline(never)]
    fn recursive_steps(
        &mut self,
        cte: &ast::Cte,
        members: &[&ast::QueryBody],
        anchor: &Query,
    ) -> Result<Query> {
        let types: Vec<types::SqlType> = anchor.output.iter().map(|c| c.ty).collect();
        let mut all: Option<Query> = None;
        for member in members {
            if let Some(recursion) = &mut self.recursion {
                recursion.used = 0;
            }
            let mut step = self.deeper(QUERY_DEPTH, |b| b.side(member))?;
            if step.output.len() != types.len() {
                return Err(self.error(
                    205,
                    "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an \
                     equal number of expressions in their target lists.",
                ));
            }
            for (i, column) in step.output.iter().enumerate() {
                if !column.ty.has_values_of(types[i]) && !self.is_null_output(&step.rel, column.id)
                {
                    let named = cte.columns.get(i).map(|n| n.value.as_str());
                    let shown = named.or(anchor.output[i].name.as_deref()).unwrap_or_default();
                    return Err(BindError::new(
                        240,
                        16,
                        cte.name.span.line.max(1),
                        format!(
                            "Types don't match between the anchor and the recursive part in column \
                             \"{shown}\" of recursive query \"{}\".",
                            cte.name.value
                        ),
                    ));
                }
            }
            let ids = self.convert_output(&mut step, &types)?;
            for ((column, id), ty) in step.output.iter_mut().zip(ids).zip(&types) {
                (column.id, column.ty) = (id, *ty);
            }
            all = Some(match all {
                None => step,
                Some(left) => self.combine(SetOp::UnionAll, left, step)?,
            });
        }
        all.ok_or_else(|| self.error(246, "No recursive member."))
    }
}

/// The sides of UNION ALL operators at the top of a query.
fn union_all_members<'q>(body: &'q ast::QueryBody, out: &mut Vec<&'q ast::QueryBody>) {
    match body {
        ast::QueryBody::SetOperation { op: ast::SetOperator::Union, all: true, left, right } => {
            union_all_members(left, out);
            union_all_members(right, out);
        }
        ast::QueryBody::Nested(inner) if out.is_empty() && has_set_operation(inner) => {
            union_all_members(inner, out);
        }
        member => out.push(member),
    }
}

fn has_set_operation(body: &ast::QueryBody) -> bool {
    match body {
        ast::QueryBody::SetOperation { .. } => true,
        ast::QueryBody::Nested(inner) => has_set_operation(inner),
        _ => false,
    }
}
