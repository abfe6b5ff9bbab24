//! ORDER BY: positions and names of the select list, or expressions.
//!
//! Promise: an item of the list is a key once (169), unless two columns of a derived table show the same.

use ir::Expr;
use syntax::ast;

use crate::context::Binder;
use crate::select_list::Item;
use semantics::{BindError, Result};

/// One key of ORDER BY.
pub(crate) enum Key {
    /// An item of the select list.
    Item(usize, bool),
    Expr(Expr, bool),
}

impl Binder<'_> {
    /// ORDER BY items: positions and aliases of the list, or expressions. 169: an item comes once.
    pub fn order_keys(&mut self, order_by: &[ast::OrderItem], items: &[Item]) -> Result<Vec<Key>> {
        let mut keys = self.every_order_key(order_by, items)?;
        // Of each item the column that it was named by, where it was.
        let mut taken: Vec<Option<Option<String>>> = vec![None; items.len()];
        let mut again = Vec::new();
        for (at, (key, item)) in keys.iter().zip(order_by).enumerate() {
            let Key::Item(i, _) = key else { continue };
            let column = match &item.expr.kind {
                ast::ExprKind::Column(c) => self.column(c, self.line).ok().and_then(|c| c.name),
                _ => None,
            };
            let Some(before) = &taken[*i] else {
                taken[*i] = Some(column);
                continue;
            };
            // Two columns of a derived table may show the same.
            if before.is_some() && column.is_some() && *before != column {
                again.push(at);
                continue;
            }
            return Err(BindError::new(
                169,
                15,
                item.expr.span.line.max(1),
                "A column has been specified more than once in the order by list. Columns in the order by list must be \
                 unique.",
            ));
        }
        again.into_iter().rev().for_each(|at| drop(keys.remove(at)));
        Ok(keys)
    }

    /// 108, 209, 408, 1008.
    fn every_order_key(&mut self, order_by: &[ast::OrderItem], items: &[Item]) -> Result<Vec<Key>> {
        let mut keys = Vec::with_capacity(order_by.len());
        for item in order_by {
            self.breath.steps(16 + items.len())?;
            let line = item.expr.span.line.max(1);
            match &item.expr.kind {
                ast::ExprKind::Literal(ast::Literal::Int(n)) => {
                    let i = usize::try_from(*n).ok().filter(|n| (1..=items.len()).contains(n));
                    let Some(i) = i else {
                        return Err(BindError::new(
                            108,
                            16,
                            line,
                            format!(
                                "The ORDER BY position number {n} is out of range of the number of \
                                 items in the select list."
                            ),
                        ));
                    };
                    keys.push(Key::Item(i - 1, item.descending));
                    continue;
                }
                _ if semantics::literals::is_constant(&item.expr) => {
                    return Err(BindError::new(
                        408,
                        16,
                        line,
                        format!(
                            "A constant expression was encountered in the ORDER BY list, position \
                             {}.",
                            keys.len() + 1
                        ),
                    ));
                }
                ast::ExprKind::Variable(_) => {
                    return Err(BindError::new(
                        1008,
                        16,
                        line,
                        format!(
                            "The SELECT item identified by the ORDER BY number {} contains a variable as part of \
                             the expression identifying a column position. Variables are only allowed when \
                             ordering by an expression referencing a column name.",
                            keys.len() + 1
                        ),
                    ));
                }
                ast::ExprKind::Column(c) if c.qualifier.is_empty() => {
                    let is_named = |i: &Item| {
                        i.name.as_deref().is_some_and(|n| catalog::same_name(n, &c.name.value))
                    };
                    let mut named = (0..items.len()).filter(|i| is_named(&items[*i]));
                    if let Some(i) = named.next() {
                        if named.next().is_some() {
                            let text = format!("Ambiguous column name '{}'.", c.name.value);
                            return Err(BindError::new(209, 16, line, text));
                        }
                        keys.push(Key::Item(i, item.descending));
                        continue;
                    }
                }
                _ => {}
            }
            let bound = self.expr(&item.expr)?;
            match items.iter().position(|i| i.expr == bound) {
                Some(i) => keys.push(Key::Item(i, item.descending)),
                None => keys.push(Key::Expr(bound, item.descending)),
            }
        }
        Ok(keys)
    }
}
