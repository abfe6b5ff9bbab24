//! The tables behind a tree that only gives names to their columns, computes some, leaves rows out, or puts several of them
//! together by UNION ALL: what may be sought for each row of something else.
//!
//! ```text
//! (select id as k, f(v) as w from t where p)                 -->   t under p, where k is id and w is f(v)
//! (select id as k from t union all select id from old)       -->   t, where k is id; old, where k is id
//! ```
//!
//! Promise: a predicate over the tree's columns, brought to each table, leaves the same rows of it. It is for weighing: what
//! is lowered finds its own way down.

use ir::*;

use crate::access::Access;
use crate::columns::{below_filters, is_movable, of_input, substitute};
use crate::fold::fold;
use crate::key_range::{bounds_more, reach};
use crate::lower::Lowering;

/// Tables behind one tree at most: each is sought for each row.
const TABLES_MAX: usize = 16;

/// A table behind a tree.
pub(crate) struct Behind<'r> {
    pub get: &'r Get,
    /// What holds of its rows, over its own columns.
    pub own: Vec<Expr>,
    /// What else was to be brought to it, over its own columns too.
    pub others: Vec<Expr>,
}

impl Behind<'_> {
    /// How many columns of a key the predicates give.
    pub fn reach(&self) -> usize {
        reach(self.get, &self.all().collect::<Vec<_>>())
    }

    /// Whether they give the beginning of a key, or the other ones bounds of one where that is enough.
    pub fn is_sought(&self, or_bounds: bool) -> bool {
        self.reach() > 0 || or_bounds && bounds_more(self.get, &self.own, &self.others)
    }

    /// All predicates.
    pub fn all(&self) -> impl Iterator<Item = Expr> {
        self.own.iter().chain(&self.others).cloned()
    }
}

impl Lowering {
    /// What it costs to read each of some tables once, by all predicates or by their own alone.
    pub fn weigh_all(&self, tables: &[Behind], sought: bool) -> Access {
        let one = |table: &Behind| match sought {
            true => self.weigh(table.get, table.all().collect()),
            false => self.weigh(table.get, table.own.clone()),
        };
        let all = tables.iter().map(one).reduce(Access::and);
        all.unwrap_or_else(|| stdx::fatal!("planner: no table behind a tree"))
    }
}

/// The tables behind a tree whose rows satisfy `own`, with `others` brought to each; None where there is anything else.
pub(crate) fn tables_behind<'r>(
    rel: &'r Rel,
    own: Vec<Expr>,
    others: Vec<Expr>,
) -> Option<Vec<Behind<'r>>> {
    let mut found = Vec::new();
    all_behind(rel, own, others, &mut found)?;
    Some(found)
}

fn all_behind<'r>(
    mut rel: &'r Rel,
    mut own: Vec<Expr>,
    mut others: Vec<Expr>,
    found: &mut Vec<Behind<'r>>,
) -> Option<()> {
    loop {
        rel = below_filters(rel, &mut own);
        match rel {
            Rel::Get(get) if found.len() < TABLES_MAX => {
                own.iter_mut().chain(&mut others).for_each(fold);
                found.push(Behind { get, own, others });
                return Some(());
            }
            Rel::Project { input, exprs } if exprs.iter().all(|(_, e)| is_movable(e)) => {
                own.iter_mut().chain(&mut others).for_each(|e| substitute(exprs, e));
                rel = input;
            }
            Rel::SetOp {
                op: SetOp::UnionAll,
                left,
                left_columns,
                right,
                right_columns,
                columns,
                ..
            } => {
                let of = |preds: &[Expr], input, own| of_input(preds, columns, input, own);
                let to_left = (of(&own, left, left_columns), of(&others, left, left_columns));
                all_behind(left, to_left.0, to_left.1, found)?;
                own = of(&own, right, right_columns);
                others = of(&others, right, right_columns);
                rel = right;
            }
            _ => return None,
        }
    }
}
