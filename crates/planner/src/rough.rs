//! How many rows a tree has, roughly, before it is lowered: for the order of the joins that it is a part of.
//!
//! Promise: as lowering has it where that guesses, too; chains of joins and of set operations are walked by loops.

use ir::*;

use crate::columns::Needed;
use crate::fold::conjuncts;
use crate::lower::*;

/// UNIONs and the like one upon the other whose rows are looked at.
const SETS_IN_A_ROW_MAX: usize = 256;

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
                self.rough_rows(input)? * self.facts.all_of(&preds)
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
            Rel::Distinct { input, .. } => self.rough_rows(input)?,
            Rel::Offset { input, fetch, .. } => {
                let rows = self.rough_rows(input)?;
                fetch.as_ref().and_then(count).map_or(rows, |fetched| rows.min(fetched))
            }
            Rel::SetOp { .. } => self.rough_rows_of_sets(rel)?,
            Rel::Apply { outer, left, right } => {
                let (l, r) = (self.rough_rows(left)?, self.rough_rows(right)?);
                l * if *outer { r.max(1.0) } else { r }
            }
            Rel::Recursive { anchor, .. } => self.rough_rows(anchor)? * RECURSIVE_LEVELS,
            Rel::System { .. } => SYSTEM_ROWS,
            Rel::Function { .. } => FUNCTION_ROWS,
            Rel::Serialize { .. } => 1.0,
            Rel::Top { input, count: most, percent, .. } => {
                let rows = self.rough_rows(input)?;
                let most = Some(most).filter(|_| !percent);
                most.and_then(count).map_or(rows, |most| rows.min(most))
            }
            Rel::Join { .. } => self.rough_rows_of_joins(rel)?,
        })
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

    /// Of UNION and the like, a chain of which goes down the left side, by a loop: as it is lowered. None for more than any
    /// statement is made of by hand.
    fn rough_rows_of_sets(&self, rel: &Rel) -> Option<f64> {
        let (mut first, mut chain) = (rel, Vec::new());
        while let Rel::SetOp { op, left, right, .. } = first {
            chain.push((*op, right));
            first = left;
        }
        if chain.len() > SETS_IN_A_ROW_MAX {
            return None;
        }
        let mut rows = self.rough_rows(first)?;
        for (op, right) in chain.into_iter().rev() {
            rows = match op {
                SetOp::UnionAll => rows + self.rough_rows(right)?,
                SetOp::Union => (rows + self.rough_rows(right)?) / 2.0,
                SetOp::Except | SetOp::Intersect => rows / 2.0,
            };
        }
        Some(rows)
    }
}
