//! NEXT VALUE FOR.
//!
//! Promise: a row takes one number of a sequence, however often its expressions ask; they are evaluated in their order. It
//! stands only where it is plain how many numbers a statement takes ("NEXT VALUE FOR (Transact-SQL)", limitations).

use ir::*;
use syntax::ast;

use crate::context::*;
use semantics::placing::Placing;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// Binds a query's parts.
    pub fn placed<T>(
        &mut self,
        query: &ast::Query,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.having(|b| &mut b.placing, Placing::of(query, self.placing), f)
    }

    /// Binds what is a query of its own within another, or within a module.
    pub fn placed_below<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let below = Placing { queries: self.placing.queries + 1, ..self.placing };
        self.having(|b| &mut b.placing, below, f)
    }

    /// Binds operands of which not all are evaluated.
    pub fn in_conditional<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.having(|b| &mut b.placing.conditional, true, f)
    }

    /// Binds conditions and actions of MERGE.
    pub fn in_merge<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.having(|b| &mut b.placing.merge, true, f)
    }

    /// Binds what a table's definition says over its columns.
    pub fn in_definition<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.having(|b| &mut b.placing.defining, true, f)
    }

    /// Why no number can be asked for here.
    fn misplaced_number(&self, over: bool, line: u32) -> Result<()> {
        let refused = |number: i32, severity: u8, text: &str| {
            Err(BindError::new(number, severity, line, format!("NEXT VALUE FOR function {text}")))
        };
        let placing = &self.placing;
        let below = placing.queries > 1 || self.subqueries > 0 || self.selects.len() > 1;
        if self.in_function || self.params.is_some() || placing.defining || below {
            return refused(
                11719,
                15,
                "is not allowed in check constraints, default objects, computed columns, views, user-defined functions, \
                 user-defined aggregates, user-defined table types, sub-queries, common table expressions, derived tables \
                 or return statements.",
            );
        }
        if placing.merge {
            // In an action, not in the condition before it.
            let in_condition = self
                .scopes
                .last()
                .is_some_and(|scope| matches!(scope.place, Place::MergeCondition(_)));
            if !in_condition {
                let text = "can only be used with MERGE if it is defined within a default constraint on the target table \
                            for insert actions.";
                return refused(11742, 16, text);
            }
            return refused(
                11722,
                15,
                "is not allowed in the WHEN MATCHED clause, the WHEN NOT MATCHED clause, or the WHEN NOT MATCHED BY SOURCE \
                 clause of a merge statement.",
            );
        }
        let select = self.selects.last();
        if select.is_some_and(|s| !matches!(s.clause, Clause::SelectList | Clause::Other)) {
            return refused(
                11720,
                15,
                "is not allowed in the TOP, OVER, OUTPUT, ON, WHERE, GROUP BY, HAVING, or ORDER BY clauses.",
            );
        }
        if select.is_some_and(|s| s.in_aggregate) {
            let text = "An expression that contains a NEXT VALUE FOR function cannot be passed as an argument to an aggregate.";
            return Err(BindError::new(11725, 15, line, text));
        }
        if placing.conditional {
            let text = "cannot be used within CASE, CHOOSE, COALESCE, IIF, ISNULL and NULLIF.";
            return refused(11741, 16, text);
        }
        if placing.distinct {
            let text = "cannot be used directly in a statement that uses a DISTINCT, UNION, UNION ALL, EXCEPT or \
                        INTERSECT operator.";
            return refused(11721, 15, text);
        }
        if placing.ordered && !over {
            let text = "cannot be used directly in a statement that contains an ORDER BY clause unless the OVER clause \
                        is specified.";
            return refused(11723, 15, text);
        }
        if placing.cut {
            let text = "cannot be used if ROWCOUNT option has been set, or the query contains TOP or OFFSET.";
            return refused(11739, 16, text);
        }
        Ok(())
    }

    /// The next number of a sequence: 208, 11726; 11719 to 11742 where it cannot stand.
    pub fn next_value(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Expr> {
        let [ast::Expr { kind: ast::ExprKind::Column(c), .. }] = f.args.as_slice() else {
            return Err(BindError::new(102, 15, line, "Incorrect syntax near 'NEXT VALUE FOR'."));
        };
        let mut parts = c.qualifier.iter().rev();
        let schema = parts.next().map(|p| p.value.clone());
        let database = parts.next().map(|p| p.value.clone());
        let name = self.meant(ObjectName { database, schema, name: c.name.value.clone() });
        self.misplaced_number(f.over.is_some(), line)?;
        self.touched.set(true);
        let found = self.names.sequence(&name);
        let ty = found.as_ref().and_then(|f| f.sequence.as_ref()?.sql_type());
        let (Some(found), Some(ty)) = (found, ty) else {
            if self.names.has_object(&name) {
                let schema = name.schema.as_deref().unwrap_or("dbo");
                let text = format!("Object '{schema}.{}' is not a sequence object.", name.name);
                return Err(BindError::new(11726, 16, line, text));
            }
            return Err(BindError::invalid_object(&name, line));
        };
        if let Some(over) = &f.over {
            self.number_in_order(f, over, line)?;
        }
        let kind = ExprKind::Func { func: FuncId::NextValue(found.object_id), args: Vec::new() };
        Ok(Expr::new(kind, ty, false))
    }

    /// NEXT VALUE FOR ... OVER (ORDER BY ...): the rows of the SELECT come in that order when they take their numbers, which
    /// is that of their ROW_NUMBER() over the same. 11716 to 11718.
    #[inline(never)]
    fn number_in_order(
        &mut self,
        f: &ast::FunctionCall,
        over: &ast::Over,
        line: u32,
    ) -> Result<()> {
        let refused = |number: i32, text: &str| {
            let text = format!("NEXT VALUE FOR function does not support {text}");
            Err(BindError::new(number, 15, line, text))
        };
        if !over.partition_by.is_empty() {
            return refused(11716, "the PARTITION BY clause.");
        }
        if over.order_by.is_empty() && over.window.is_none() {
            return refused(11718, "an empty OVER clause.");
        }
        if self.selects.is_empty() {
            return refused(
                11717,
                "the OVER clause in default constraints, UPDATE statements, or MERGE statements.",
            );
        }
        let call = ast::FunctionCall { args: Vec::new(), ..f.clone() };
        let place = self.window(&call, "ROW_NUMBER", over, line)?;
        if let Some(select) = self.selects.last_mut() {
            select.numbered.get_or_insert(place);
        }
        Ok(())
    }
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
