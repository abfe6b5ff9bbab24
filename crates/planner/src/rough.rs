//! How many rows a tree has, roughly, before it is lowered: for the order of the joins that it is a part of.
//!
//! Promise: as lowering has it where that guesses, too; chains of joins and of set operations are walked by loops.

use ir::*;

use crate::columns::{Needed, of_input};
use crate::fold::conjuncts;
use crate::lower::*;

/// How deep set operations are looked at, one within the other's left side.
const SETS_DEEP_MAX: usize = 256;

impl Lowering {
    /// Rows of a tree, roughly; None where there is no telling.
    pub fn rough_rows(&self, rel: &Rel) -> Option<f64> {
        Some(match rel {
            Rel::OneRow => 1.0,
            Rel::Get(get) => crate::estimate::rows_of(&get.table)?,
            Rel::Values { rows, .. } => rows.len() as f64,
            Rel::Filter { input, predicate } => {
                let mut preds = Vec::new();
                conjuncts(predicate.clone(), &mut preds);
                self.rough_rows_where(input, preds)?
            }
            Rel::Project { input, .. } | Rel::Sort { input, .. } | Rel::Window { input, .. } => {
                self.rough_rows(input)?
            }
            Rel::Aggregate { scalar: true, .. } => 1.0,
            Rel::Aggregate { input, group, .. } => {
                let rows = self.rough_rows(input)?;
                let keys: Vec<&Expr> = group.iter().map(|(_, e)| e).collect();
                self.facts.groups(&keys, rows)
            }
            Rel::Distinct { input, over } => self.group_rows(over, self.rough_rows(input)?),
            Rel::Offset { input, fetch, .. } => {
                self.facts.taken(self.rough_rows(input)?, fetch.as_ref())
            }
            Rel::SetOp { .. } => self.rough_rows_of_sets(rel, Vec::new())?,
            Rel::Apply { outer, left, right } => {
                let (l, r) = (self.rough_rows(left)?, self.rough_rows(right)?);
                l * if *outer { r.max(1.0) } else { r }
            }
            Rel::Recursive { anchor, .. } => self.rough_rows(anchor)? * RECURSIVE_LEVELS,
            Rel::System { .. } => SYSTEM_ROWS,
            Rel::Function { .. } => FUNCTION_ROWS,
            Rel::Serialize { .. } => 1.0,
            Rel::Top { input, percent: true, .. } => self.rough_rows(input)?,
            Rel::Top { input, count, .. } => self.facts.taken(self.rough_rows(input)?, Some(count)),
            Rel::Join { .. } => self.rough_rows_of_joins(rel)?,
        })
    }

    /// Those of a tree of which all that holds.
    pub fn rough_rows_where(&self, rel: &Rel, preds: Vec<Expr>) -> Option<f64> {
        match rel {
            Rel::SetOp { .. } => self.rough_rows_of_sets(rel, preds),
            _ => Some(self.rough_rows(rel)? * self.facts.all_of(&preds)),
        }
    }

    /// Of joins, a chain of which goes down the left side, by a loop.
    fn rough_rows_of_joins(&self, rel: &Rel) -> Option<f64> {
        let (mut first, mut chain) = (rel, Vec::new());
        while let Rel::Join { kind, left, right, on } = first {
            chain.push((kind, right, on));
            first = left;
        }
        let mut rows = self.rough_rows(first)?;
        for (kind, right, on) in chain.into_iter().rev() {
            let (l, r) = (rows, self.rough_rows(right)?);
            let mut conditions = Vec::new();
            if let Some(on) = on {
                conjuncts(on.clone(), &mut conditions);
            }
            let own: Needed = right.columns().into_iter().collect();
            let share = self.facts.pairs(&conditions, (l, r), &|id| own.contains(&id));
            let inner = l * r * share;
            rows = match kind {
                JoinKind::Left => inner.max(l),
                JoinKind::Right => inner.max(r),
                JoinKind::Full => inner.max(l).max(r),
                JoinKind::Semi | JoinKind::Anti => l.min(inner).max(1.0),
                _ => inner,
            };
        }
        Some(rows)
    }

    /// Of UNION and the like: what is asked of its rows is asked of each input, as it is lowered. A chain goes down the left
    /// side, by a loop; None for a longer one than anybody writes.
    fn rough_rows_of_sets(&self, rel: &Rel, mut preds: Vec<Expr>) -> Option<f64> {
        let (mut first, mut chain) = (rel, Vec::new());
        while let Rel::SetOp { op, left, left_columns, right, right_columns, columns, .. } = first {
            chain.push((*op, right, of_input(&preds, columns, right, right_columns)));
            preds = of_input(&preds, columns, left, left_columns);
            first = left;
            if chain.len() > SETS_DEEP_MAX {
                return None;
            }
        }
        let mut rows = self.rough_rows_where(first, preds)?;
        for (op, right, preds) in chain.into_iter().rev() {
            rows = rows_of_set(op, rows, self.rough_rows_where(right, preds)?);
        }
        Some(rows)
    }
}
