//! ORDER BY, TOP and OFFSET: what is sorted, what comes in its order, and of how many rows the first will do.
//!
//! Promise: nothing is sorted that comes in the order that is asked for, forwards or backwards; of what is sorted no more is kept
//! than is given or passed over.

use ir::*;

use crate::access::Wanted;
use crate::columns::*;
use crate::fold::fold;
use crate::goal::{FEW_ROWS, Goal};
use crate::lower::*;
use crate::plan::*;
use crate::top_below::{FIRST_ROWS_MAX, computed_above, top_below};

impl Lowering {
    /// ORDER BY.
    pub fn sorted(
        &mut self,
        input: Rel,
        keys: Vec<SortKey>,
        preds: Vec<Expr>,
        needed: &Needed,
    ) -> Lowered {
        let below = with_exprs(needed, keys.iter().map(|k| &k.expr));
        let input = self.before_sort(input, preds, &below, wanted(&keys, None), None);
        self.sort(input, keys, None)
    }

    /// Sorts, unless the rows arrive so already; keeps only the first rows when told to.
    pub fn sort(
        &mut self,
        mut input: Lowered,
        mut keys: Vec<SortKey>,
        top: Option<Few>,
    ) -> Lowered {
        let mut seen = Needed::new();
        keys.retain_mut(|k| {
            fold(&mut k.expr);
            match k.expr.kind {
                ExprKind::Col(id) if input.fixed.contains(&id) => false,
                ExprKind::Col(id) => seen.insert(id),
                _ => !is_free_of_rows(&k.expr),
            }
        });
        let by_columns: Option<Vec<(ColId, bool)>> = keys
            .iter()
            .map(|k| match k.expr.kind {
                ExprKind::Col(id) => Some((id, k.desc)),
                _ => None,
            })
            .collect();
        let sorted = by_columns.as_ref().is_some_and(|wanted| in_order(&mut input, wanted));
        if sorted {
            return match top {
                Some(Few { count, passed: None }) => {
                    input.wrap(|input| Op::Top { input, count, percent: false, ties: None }, 1.0)
                }
                _ => input,
            };
        }
        let order = by_columns.unwrap_or_default();
        let keys = keys
            .into_iter()
            .map(|k| SortKey { expr: self.expr(k.expr, &input.cols), desc: k.desc })
            .collect();
        let mut lowered = match top {
            None => input.wrap(|input| Op::Sort { input, keys }, 1.0),
            Some(few) => input.wrap(|input| Op::TopN { input, keys, few }, 1.0),
        };
        lowered.order = order;
        lowered
    }

    pub fn top(
        &mut self,
        input: Rel,
        mut count: Expr,
        percent: bool,
        ties: Option<Vec<SortKey>>,
        needed: &Needed,
    ) -> Lowered {
        fold(&mut count);
        let input = match (percent, &ties) {
            (false, None) => match computed_above(input) {
                (input, Some(exprs)) => {
                    let input = Box::new(input);
                    let input = Box::new(Rel::Top { input, count, percent, ties });
                    return self.rel(Rel::Project { input, exprs }, Vec::new(), needed);
                }
                (input, None) => top_below(input, &count),
            },
            _ => input,
        };
        let limit = match &count.kind {
            ExprKind::Const(v) => v.as_i64(),
            _ => None,
        };
        let count = self.expr(count, &[]);
        let rows = self.facts.known_rows(&count).unwrap_or(FEW_ROWS);
        let mut lowered = match input {
            Rel::Sort { input, keys } if !percent && ties.is_none() => {
                let below = with_exprs(needed, keys.iter().map(|k| &k.expr));
                let wanted = wanted(&keys, Some(limit.map(|n| n.max(1) as f64)));
                let input = self.before_sort(*input, Vec::new(), &below, wanted, Some(rows));
                self.sort(input, keys, Some(Few { count, passed: None }))
            }
            input => {
                let below = with_exprs(needed, ties.iter().flatten().map(|k| &k.expr));
                let few = !percent && limit.is_none_or(|n| n <= FIRST_ROWS_MAX);
                if !percent && ties.is_none() {
                    self.goal = Some(Goal { keys: Vec::new(), rows });
                }
                let input = self.for_first_rows(few, |l| l.rel(input, Vec::new(), &below));
                let ties = ties.map(|keys| {
                    keys.into_iter()
                        .map(|k| SortKey { expr: self.expr(k.expr, &input.cols), desc: k.desc })
                        .collect()
                });
                input.wrap(|input| Op::Top { input, count, percent, ties }, 1.0)
            }
        };
        if let Some(limit) = limit.filter(|_| !percent) {
            lowered.node.rows = lowered.node.rows.min(limit.max(0) as f64);
        }
        lowered.few_read = false;
        lowered
    }

    pub fn offset(
        &mut self,
        input: Rel,
        mut offset: Expr,
        fetch: Option<Expr>,
        needed: &Needed,
    ) -> Lowered {
        fold(&mut offset);
        let offset = self.expr(offset, &[]);
        let fetch = fetch.map(|mut f| {
            fold(&mut f);
            self.expr(f, &[])
        });
        let input = match (input, &fetch) {
            (Rel::Sort { input, keys }, Some(fetch))
                if is_movable(&offset) && is_movable(fetch) =>
            {
                let below = with_exprs(needed, keys.iter().map(|k| &k.expr));
                let passed = self.facts.known_rows(&offset).unwrap_or(FEW_ROWS);
                let rows = passed + self.facts.known_rows(fetch).unwrap_or(FEW_ROWS);
                let wanted = wanted(&keys, Some(Some(rows.max(1.0))));
                let input = self.before_sort(*input, Vec::new(), &below, wanted, Some(rows));
                let few = Few { count: fetch.clone(), passed: Some(offset.clone()) };
                self.sort(input, keys, Some(few))
            }
            (input, _) => self.rel(input, Vec::new(), needed),
        };
        let rows = self.facts.taken(input.node.rows.max(1.0), fetch.as_ref());
        let mut lowered = input.wrap(|input| Op::Offset { input, offset, fetch }, 1.0);
        lowered.node.rows = rows;
        lowered.few_read = false;
        lowered
    }

    /// A tree whose rows are sorted next, or need not be: they come so. `first`: so many of them will do.
    fn before_sort(
        &mut self,
        rel: Rel,
        preds: Vec<Expr>,
        needed: &Needed,
        wanted: Option<Wanted>,
        first: Option<f64>,
    ) -> Lowered {
        let keys = wanted.as_ref().map(|wanted| wanted.keys.clone()).unwrap_or_default();
        self.goal =
            first.filter(|_| !keys.is_empty()).map(|rows| Goal { keys: keys.clone(), rows });
        let above = std::mem::replace(&mut self.sorted_by, keys);
        self.wanted = wanted;
        let lowered = self.for_first_rows(false, |l| l.rel(rel, preds, needed));
        self.wanted = None;
        self.sorted_by = above;
        lowered
    }
}

/// Do the rows arrive in this order, perhaps by reading the key backwards?
fn in_order(input: &mut Lowered, wanted: &[(ColId, bool)]) -> bool {
    let free: Vec<(ColId, bool)> =
        input.order.iter().copied().filter(|(id, _)| !input.fixed.contains(id)).collect();
    if wanted.len() > free.len() {
        return false;
    }
    let same = wanted.iter().zip(&free).all(|(w, o)| w == o);
    if same {
        return true;
    }
    let opposite = wanted.iter().zip(&free).all(|(w, o)| w.0 == o.0 && w.1 != o.1);
    if opposite && reverse(&mut input.node) {
        for (_, desc) in &mut input.order {
            *desc = !*desc;
        }
        return true;
    }
    false
}

fn reverse(node: &mut Node) -> bool {
    match &mut node.op {
        // A change that reads as it goes on would meet rows again that it has moved on.
        Op::Scan(scan) if !(scan.for_update && scan.locator) => {
            scan.reverse = !scan.reverse;
            true
        }
        Op::Filter { input, .. } | Op::Project { input, .. } => reverse(input),
        Op::NestedLoops { left, .. } => reverse(left),
        _ => false,
    }
}

/// The order of sort keys that are columns.
fn wanted(keys: &[SortKey], top: Option<Option<f64>>) -> Option<Wanted> {
    let column = |k: &SortKey| match k.expr.kind {
        ExprKind::Col(id) => Some((id, k.desc)),
        _ => None,
    };
    let keys = keys.iter().map(column).collect::<Option<Vec<_>>>()?;
    Some(Wanted { keys, top: top.is_some(), limit: top.flatten(), share: None })
}
