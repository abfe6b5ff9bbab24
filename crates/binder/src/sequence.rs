//! NEXT VALUE FOR.
//!
//! Promise: a row takes one number of a sequence, however often its expressions ask; they are evaluated in their order.

use syntax::ast;

use crate::context::*;
use crate::error::{BindError, Result};
use crate::ir::*;
use crate::names::ObjectName;

impl Binder<'_> {
    /// The next number of a sequence: 208, 11719, 11720, 11721, 11723, 11739.
    pub fn next_value(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Expr> {
        let [ast::Expr { kind: ast::ExprKind::Column(c), .. }] = f.args.as_slice() else {
            return Err(BindError::new(102, 15, line, "Incorrect syntax near 'NEXT VALUE FOR'."));
        };
        if f.over.is_some() {
            return Err(BindError::unsupported("NEXT VALUE FOR ... OVER", line));
        }
        let mut parts = c.qualifier.iter().rev();
        let schema = parts.next().map(|p| p.value.clone());
        let database = parts.next().map(|p| p.value.clone());
        let name = self.meant(ObjectName { database, schema, name: c.name.value.clone() });
        if self.in_function || self.params.is_some() || self.selects.len() > 1 {
            return Err(BindError::new(
                11719,
                15,
                line,
                "NEXT VALUE FOR function is not allowed in check constraints, default objects, computed columns, views, \
                 user-defined functions, user-defined aggregates, user-defined table types, sub-queries, common table \
                 expressions, derived tables or return statements.",
            ));
        }
        let clause = self.selects.last().map(|s| s.clause);
        if clause.is_some_and(|c| !matches!(c, Clause::SelectList | Clause::Other)) {
            return Err(BindError::new(
                11720,
                15,
                line,
                "NEXT VALUE FOR function is not allowed in the TOP, OVER, OUTPUT, ON, WHERE, GROUP BY, HAVING, or ORDER \
                 BY clauses.",
            ));
        }
        if let Some((number, text)) = self.selects.last().and_then(|s| s.unnumbered) {
            return Err(BindError::new(number, 15, line, text));
        }
        self.touched.set(true);
        let found = self.names.sequence(&name);
        let ty = found.as_ref().and_then(|f| f.sequence.as_ref()?.sql_type());
        let (Some(found), Some(ty)) = (found, ty) else {
            return Err(BindError::invalid_object(&name, line));
        };
        let kind = ExprKind::Func { func: FuncId::NextValue(found.object_id), args: Vec::new() };
        Ok(Expr::new(kind, ty, false))
    }
}

/// What a SELECT has that NEXT VALUE FOR cannot stand beside: its rows would be numbered before they are put together, or
/// in no order. `query` is none for a side of a set operation.
pub(crate) fn unnumbered(
    select: &ast::Select,
    query: Option<&ast::Query>,
) -> Option<(i32, &'static str)> {
    if select.distinct || query.is_none() {
        return Some((
            11721,
            "NEXT VALUE FOR function cannot be used directly in a statement that uses a DISTINCT, UNION, UNION ALL, \
             EXCEPT or INTERSECT operator.",
        ));
    }
    if select.top.is_some() || query.is_some_and(|query| query.offset.is_some()) {
        return Some((
            11739,
            "NEXT VALUE FOR function cannot be used if ROWCOUNT option has been set, or the query contains TOP or OFFSET.",
        ));
    }
    query.is_some_and(|query| !query.order_by.is_empty()).then_some((
        11723,
        "NEXT VALUE FOR function cannot be used directly in a statement that contains an ORDER BY clause unless the OVER \
         clause is specified.",
    ))
}

/// The expressions of one row, in the order of their evaluation: after the first NEXT VALUE FOR of a sequence the others
/// have its number.
pub(crate) fn one_number<'e>(row: impl IntoIterator<Item = &'e mut Expr>) {
    fn walk(e: &mut Expr, taken: &mut Vec<i32>) {
        if let ExprKind::Func { func, .. } = &mut e.kind
            && let FuncId::NextValue(id) = *func
        {
            match taken.contains(&id) {
                true => *func = FuncId::ThisValue(id),
                false => taken.push(id),
            }
            return;
        }
        e.for_each_child_mut(&mut |child| walk(child, taken));
    }
    let mut taken = Vec::new();
    row.into_iter().for_each(|e| walk(e, &mut taken));
}
