//! GROUP BY and its sets, and what may stand above a grouping.

use std::collections::HashSet;

use ir::*;
use syntax::ast;
use types::SqlType;

use crate::context::{Binder, Clause, Scope};
use semantics::{BindError, Result};

/// Rewrites expressions above a grouping: grouped expressions become its columns, and no other
/// column of FROM may remain (8120, 8121, 8127).
pub(crate) struct AggScope<'a> {
    pub group: &'a [(ColId, Expr)],
    /// Any of them may be NULL: rows of some grouping sets do not have it.
    pub nullable: bool,
    pub from_columns: &'a HashSet<ColId>,
    pub tables: &'a [Scope],
}

impl AggScope<'_> {
    pub fn rewrite(&self, e: &mut Expr, clause: Clause, line: u32) -> Result<()> {
        // Most differ in their first node.
        runtime::task::stepped_by(self.group.len() as u32 / 8);
        if let Some((id, g)) = self.group.iter().find(|(_, g)| is_same(g, e)) {
            *e = Expr::col(*id, e.ty, g.nullable || self.nullable);
            return Ok(());
        }
        if let ExprKind::Col(id) = e.kind
            && self.from_columns.contains(&id)
        {
            return Err(self.not_grouped(id, clause, line));
        }
        let mut failed = None;
        let mut each = |child: &mut Expr| {
            if let Err(err) = self.rewrite(child, clause, line) {
                failed.get_or_insert(err);
            }
        };
        if let ExprKind::Subquery { query, .. } = &mut e.kind {
            query.rel.walk_exprs_mut(&mut each);
        }
        e.for_each_child_mut(&mut each);
        failed.map_or(Ok(()), Err)
    }

    fn not_grouped(&self, id: ColId, clause: Clause, line: u32) -> BindError {
        let mut full = String::from("?");
        for table in self.tables.iter().flat_map(|s| &s.tables) {
            if let Some(c) = table.columns.iter().find(|c| c.id == id) {
                full = format!("{}.{}", table.shown, c.name.as_deref().unwrap_or(""));
            }
        }
        match clause {
            Clause::Having => BindError::new(
                8121,
                16,
                line,
                format!(
                    "Column '{full}' is invalid in the HAVING clause because it is not contained \
                     in either an aggregate function or the GROUP BY clause."
                ),
            ),
            Clause::OrderBy => BindError::new(
                8127,
                16,
                line,
                format!(
                    "Column \"{full}\" is invalid in the ORDER BY clause because it is not \
                     contained in either an aggregate function or the GROUP BY clause."
                ),
            ),
            _ => BindError::new(
                8120,
                16,
                line,
                format!(
                    "Column '{full}' is invalid in the select list because it is not contained in \
                     either an aggregate function or the GROUP BY clause."
                ),
            ),
        }
    }
}

/// Whether an expression is the grouped one. Beside a decimal a numeric has its name, and is the same all the same.
fn is_same(group: &Expr, e: &Expr) -> bool {
    group.ty.has_values_of(e.ty) && group.nullable == e.nullable && group.kind == e.kind
}

/// Grouping sets that one GROUP BY may have (10703), and expressions in it beside them (10706).
const SETS_MAX: usize = 4096;
const SET_EXPRESSIONS_MAX: usize = 32;

/// A bound GROUP BY.
pub(crate) struct Groups {
    /// Each expression once.
    pub group: Vec<(ColId, Expr)>,
    /// None when all rows group by all of them.
    pub sets: Option<GroupingSets>,
}

impl Binder<'_> {
    /// GROUP BY: the sets of its items multiply. 10703, 10706, 144.
    #[inline(never)]
    pub fn groups(&mut self, items: &[ast::GroupItem]) -> Result<Groups> {
        let mut group = Vec::new();
        let plain = items.iter().all(|item| matches!(item, ast::GroupItem::Expr(_)));
        let sets = self.product(items, &mut group)?;
        for (_, e) in &group {
            self.ordered(e, "GROUP BY")?;
        }
        let all = group.len() <= 63 && sets == [(1u64 << group.len()) - 1];
        if plain || all {
            return Ok(Groups { group, sets: None });
        }
        if group.len() > SET_EXPRESSIONS_MAX {
            return Err(self.error(
                10706,
                format!(
                    "Too many expressions are specified in the GROUP BY clause. The maximum number \
                     is {SET_EXPRESSIONS_MAX} when grouping sets are supplied."
                ),
            ));
        }
        Ok(Groups { group, sets: Some(GroupingSets { sets, mask: self.new_col() }) })
    }

    /// The sets of several items together: each of one with each of the others.
    fn product(
        &mut self,
        items: &[ast::GroupItem],
        group: &mut Vec<(ColId, Expr)>,
    ) -> Result<Vec<u64>> {
        let mut sets = vec![0u64];
        for item in items {
            let own = self.group_sets(item, group)?;
            let mut product = Vec::with_capacity(sets.len() * own.len());
            for a in &sets {
                product.extend(own.iter().map(|b| a | b));
            }
            if product.len() > SETS_MAX {
                return Err(self.too_many_sets());
            }
            sets = product;
        }
        Ok(sets)
    }

    fn too_many_sets(&self) -> BindError {
        self.error(10703, format!("Too many grouping sets. The maximum number is {SETS_MAX}."))
    }

    /// The sets of one item.
    fn group_sets(
        &mut self,
        item: &ast::GroupItem,
        group: &mut Vec<(ColId, Expr)>,
    ) -> Result<Vec<u64>> {
        Ok(match item {
            ast::GroupItem::Expr(e) => vec![self.group_bit(e, group)?],
            ast::GroupItem::Composite(list) => {
                let mut set = 0;
                for e in list {
                    set |= self.group_bit(e, group)?;
                }
                vec![set]
            }
            ast::GroupItem::Product(items) => self.product(items, group)?,
            ast::GroupItem::Rollup(items) => {
                let parts = self.group_parts(items, group)?;
                let mut sets: Vec<u64> = (0..=parts.len())
                    .map(|n| parts[..n].iter().fold(0, |set, part| set | part))
                    .collect();
                sets.reverse();
                sets
            }
            ast::GroupItem::Cube(items) => {
                let parts = self.group_parts(items, group)?;
                if parts.len() > SETS_MAX.ilog2() as usize {
                    return Err(self.too_many_sets());
                }
                let every = 1usize << parts.len();
                (0..every)
                    .rev()
                    .map(|choice| {
                        let chosen = parts.iter().enumerate().filter(|(i, _)| choice >> i & 1 == 1);
                        chosen.fold(0, |set, (_, part)| set | part)
                    })
                    .collect()
            }
            ast::GroupItem::Sets(items) => {
                let mut sets = Vec::new();
                for item in items {
                    sets.extend(self.group_sets(item, group)?);
                }
                sets
            }
        })
    }

    /// The elements of a ROLLUP or CUBE, each a set.
    fn group_parts(
        &mut self,
        items: &[ast::GroupItem],
        group: &mut Vec<(ColId, Expr)>,
    ) -> Result<Vec<u64>> {
        let mut parts = Vec::with_capacity(items.len());
        for item in items {
            match self.group_sets(item, group)?[..] {
                [part] => parts.push(part),
                _ => {
                    return Err(BindError::unsupported("ROLLUP or CUBE inside another", self.line));
                }
            }
        }
        Ok(parts)
    }

    /// The bit of an expression among those grouped by.
    fn group_bit(&mut self, e: &ast::Expr, group: &mut Vec<(ColId, Expr)>) -> Result<u64> {
        let bound = self.in_clause(Clause::GroupBy, |b| b.expr(e))?;
        let line = e.span.line.max(1);
        if bound.any(&mut |e| matches!(e.kind, ExprKind::Subquery { .. })) {
            return Err(BindError::new(
                144,
                15,
                line,
                "Cannot use an aggregate or a subquery in an expression used for the group by list of a GROUP BY clause.",
            ));
        }
        if !bound.any(&mut |e| matches!(e.kind, ExprKind::Col(_))) {
            return Err(BindError::new(
                164,
                15,
                line,
                "Each GROUP BY expression must contain at least one column that is not an outer reference.",
            ));
        }
        let at = match group.iter().position(|(_, g)| *g == bound) {
            Some(at) => at,
            None => {
                let id = self.new_col();
                self.note_collation(id, &bound);
                group.push((id, bound));
                group.len() - 1
            }
        };
        // Past the limit no set is told from another by its bit; only a plain list may be so long.
        Ok(1u64.checked_shl(at as u32).unwrap_or(0))
    }

    /// GROUPING (expression) and GROUPING_ID (expression, ...): 8161.
    #[inline(never)]
    pub fn grouping_function(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Expr> {
        let single = f.name.name.is("grouping");
        let name = if single { "GROUPING" } else { "GROUPING_ID" };
        if f.args.is_empty() || (single && f.args.len() != 1) {
            let name = name.to_lowercase();
            return Err(BindError::new(
                174,
                15,
                line,
                format!("The {name} function requires 1 argument(s)."),
            ));
        }
        let mut sum: Option<Expr> = None;
        for (i, arg) in f.args.iter().enumerate() {
            let bound = self.expr(arg)?;
            let state = self.selects.last();
            let found =
                state.and_then(|s| Some((s.groups.iter().position(|g| *g == bound)?, s.mask)));
            let Some((at, mask)) = found else {
                return Err(BindError::new(
                    8161,
                    16,
                    line,
                    format!(
                        "Argument {} of the {name} function does not match any of the expressions \
                         in the GROUP BY clause.",
                        i + 1
                    ),
                ));
            };
            let weight = 1i64 << (f.args.len() - 1 - i).min(30);
            let ty = if single { SqlType::TinyInt } else { SqlType::Int };
            let number = |n: i64| match single {
                true => Expr::constant(types::Value::TinyInt(n as u8), ty),
                false => Expr::constant(types::Value::Int(n as i32), ty),
            };
            let bit = match mask {
                None => number(0),
                Some(mask) => {
                    let big = |n: i64| Expr::constant(types::Value::BigInt(n), SqlType::BigInt);
                    let both = Expr::new(
                        ExprKind::Arith {
                            op: ArithOp::BitAnd,
                            left: Box::new(Expr::col(mask, SqlType::BigInt, false)),
                            right: Box::new(big(1i64 << at)),
                        },
                        SqlType::BigInt,
                        false,
                    );
                    let set = Expr::compare(CompareOp::Ne, both, big(0));
                    let kind = ExprKind::Case {
                        branches: vec![(set, number(weight))],
                        otherwise: Some(Box::new(number(0))),
                    };
                    Expr::new(kind, ty, false)
                }
            };
            sum = Some(match sum {
                None => bit,
                Some(left) => self.arith(ArithOp::Add, left, bit)?,
            });
        }
        sum.ok_or_else(|| self.error(174, "The grouping_id function requires 1 argument(s)."))
    }
}
