//! Joins: which side each predicate belongs to, and how the sides meet.
//!
//! Nested loops with a seek when the right side is a table whose key the predicates give and few left rows are expected;
//! where that is a guess, a hash join that may still seek, once it has counted its left side (adaptive); a merge join where
//! both sides come in the order of an equality's columns (`merge.rs`), else a hash join when there is any equality; nested
//! loops over a kept right side otherwise. Semi and anti joins come from IN and EXISTS.

use ir::*;

use crate::access::Wanted;
use crate::behind::tables_behind;
use crate::columns::*;
use crate::cost;
use crate::derive::{factored, of_optional};
use crate::fold::{all_of, fold};
use crate::goal::Goal;
use crate::join_conditions::*;
use crate::lower::*;
use crate::order::{connected, derive, is_inner};
use crate::outer::outer_last;
use crate::plan::*;
use crate::steps::{FirstRows, Step, joined_rows};

/// Left rows up to which seeking the right side row by row beats reading it whole.
pub(crate) const SEEK_ROWS: f64 = 10_000.0;

/// Rows of a right side, at most, that are held against each row of a left side of which few are read.
const PAIRED_ROWS: f64 = 10_000.0;

/// A subquery that leaves a smaller share of the rows is asked as soon as it can be.
const EARLY_SHARE: f64 = 0.5;

impl Lowering {
    /// A chain of joins down the left side: predicates on the way down, operators on the way up. A
    /// loop and not a recursion, since chains are long and stacks are not.
    pub fn join(
        &mut self,
        rel: Rel,
        mut preds: Vec<Expr>,
        needed: &Needed,
        goal: Option<Goal>,
    ) -> Lowered {
        let mut needed = needed.clone();
        let mut rel = rel;
        let mut steps = Vec::new();
        // Columns of what is left of the chain: each step takes its right side's away.
        let mut there: Needed = rel.columns().into_iter().collect();
        // An inner join, below outer ones or not, has an order of its own; subqueries are asked in the first of them.
        let (mut ordered, mut asking, mut sizes) = (false, None, Vec::new());
        // The share of the first table's rows that will do for those that are wanted first.
        let mut share = None;
        loop {
            if !ordered && self.facts.is_large() && !self.hints.force_order {
                rel = outer_last(rel, &mut preds);
            }
            match is_inner(&rel) {
                true if !ordered => {
                    ordered = true;
                    derive(&rel, &mut preds);
                    let first = asking.is_none();
                    let mut asked = Vec::new();
                    if first {
                        let taken = self.take_asking(&rel, &mut preds);
                        needed = with_exprs(&needed, taken.iter());
                        asked = taken.iter().filter_map(|pred| self.asked_early(pred)).collect();
                        asking = Some(taken);
                    }
                    let goal = goal.as_ref().filter(|_| first);
                    let asked_of = self.as_steps(goal, &rel.columns(), asking.iter().flatten());
                    let soon = goal.map(|goal| FirstRows { goal, asked: &asked_of, steps: &steps });
                    let (better, expected) =
                        connected(self, rel, &mut preds, &asked, soon.as_ref());
                    rel = better;
                    share = share.or(expected.share);
                    sizes = expected.sizes.filter(|_| first).unwrap_or_default();
                }
                inner => ordered = inner,
            }
            match rel {
                Rel::Join { kind, left, right, on } => {
                    self.breath.goes_on_by(REL_STEPS);
                    // RIGHT is LEFT seen from the other side: columns go by id, so nothing else
                    // changes.
                    let (kind, left, right) = match kind {
                        JoinKind::Right => (JoinKind::Left, right, left),
                        kind => (kind, left, right),
                    };
                    let own: Needed = right.columns().into_iter().collect();
                    own.iter().for_each(|id| {
                        there.remove(id);
                    });
                    let sides = (&there, &own);
                    let (step, to_left) = distribute(kind, sides, *right, on, preds, &needed);
                    needed = step.wanted.clone();
                    steps.push(step);
                    preds = to_left;
                    rel = *left;
                }
                Rel::Filter { input, predicate } if !steps.is_empty() => {
                    factored(predicate, &mut preds);
                    rel = *input;
                }
                _ => break,
            }
        }
        if let Some(goal) = &goal {
            match asking {
                None => {
                    let soon = FirstRows { goal, asked: &[], steps: &steps };
                    self.want_first_of(&soon, &rel, preds.clone());
                }
                Some(_) => self.want_first(goal, share, &rel, &preds),
            }
        }
        let mut asking = self.placed(asking.unwrap_or_default(), &rel, &steps, &sizes);
        let mut joined = self.rel(rel, preds, &needed);
        // It is the first table's, or nobody's.
        self.wanted = None;
        let mut at = 0;
        loop {
            let (now, later) = asking.into_iter().partition(|(place, _)| *place <= at);
            asking = later;
            let now: Vec<(usize, Expr)> = now;
            joined = self.filter(joined, now.into_iter().map(|(_, pred)| pred).collect());
            let Some(step) = steps.pop() else { return joined };
            joined = self.meet(
                step.kind,
                joined,
                step.right,
                step.to_right,
                step.conditions,
                &step.wanted,
            );
            joined = self.filter(joined, step.above);
            at += 1;
        }
    }

    /// Has the first table of a join read for the first rows, or for all.
    fn want_first(&mut self, goal: &Goal, share: Option<f64>, rel: &Rel, preds: &[Expr]) {
        match share {
            Some(share) => {
                let rows = self.part(rel, preds.to_vec()).map_or(TABLE_ROWS, |part| part.rows);
                self.wanted = Some(Wanted::first(goal, share, rows));
            }
            // All rows will be joined, and sorted if they come in no order.
            None if self.facts.is_large() && !self.hints.force_order => {
                if let Some(wanted) = &mut self.wanted {
                    (wanted.top, wanted.limit) = (false, None);
                }
            }
            None => {}
        }
    }

    /// Takes predicates that ask subqueries out of those of an inner join: where in its order they are asked is a
    /// question of cost.
    fn take_asking(&self, rel: &Rel, preds: &mut Vec<Expr>) -> Vec<Expr> {
        if !self.facts.is_large() || self.hints.force_order {
            return Vec::new();
        }
        let own: Needed = rel.columns().into_iter().collect();
        let asks = |p: &Expr| halves(p).is_some() || asks_of(p, &own);
        let (asking, rest) = std::mem::take(preds).into_iter().partition(asks);
        *preds = rest;
        asking
    }

    /// The columns that a subquery is asked about as soon as they are there, and the share of rows that it leaves.
    fn asked_early(&self, pred: &Expr) -> Option<(Vec<ColId>, f64)> {
        let share = self.share_of(pred);
        let mut read = Vec::new();
        pred.columns(&mut read);
        (share < EARLY_SHARE).then_some((read, share))
    }

    /// After which step of the join each of those predicates is asked: early where it leaves few rows, else where rows
    /// are fewest.
    fn placed(
        &self,
        asking: Vec<Expr>,
        first: &Rel,
        steps: &[Step],
        sizes: &[f64],
    ) -> Vec<(usize, Expr)> {
        let mut placed = Vec::with_capacity(asking.len());
        for pred in asking {
            let mut read = Vec::new();
            pred.columns(&mut read);
            let mut there: Needed = first.columns().into_iter().collect();
            let all: Needed = steps.iter().flat_map(|s| s.right.columns()).collect();
            let missing =
                |there: &Needed| read.iter().any(|id| all.contains(id) && !there.contains(id));
            let mut place = 0;
            while missing(&there) && place < steps.len() {
                there.extend(steps[steps.len() - 1 - place].right.columns());
                place += 1;
            }
            // A row that is left out before a full join would have its partners come without it.
            let full = steps.iter().position(|step| step.kind == PhysicalJoin::Full);
            place = place.max(full.map_or(0, |at| steps.len() - at));
            // Outer joins, which come later, have no sizes.
            let known = sizes.len() <= steps.len() + 1 && place < sizes.len();
            if known && self.share_of(&pred) >= EARLY_SHARE {
                let by_rows = |a: &usize, b: &usize| sizes[*a].total_cmp(&sizes[*b]);
                place = (place..sizes.len()).min_by(by_rows).unwrap_or(place);
            }
            placed.push((place, pred));
        }
        placed
    }

    /// The share of rows that have a match in a subquery, roughly.
    fn share_of(&self, pred: &Expr) -> f64 {
        let Some((PhysicalJoin::Semi, SubqueryKind::In { needle }, query)) = halves(pred) else {
            return 1.0;
        };
        match (self.rough_rows(&query.rel), self.facts.distinct(needle)) {
            (Some(rows), Some(values)) => (rows / values.max(1.0)).min(1.0),
            _ => 1.0,
        }
    }

    /// Conditions that are asked of each pair of rows; none where there are none.
    pub fn over_both(
        &mut self,
        conditions: Vec<Expr>,
        left: &Lowered,
        right: &Lowered,
    ) -> Option<Expr> {
        let both: Vec<ColId> = left.cols.iter().chain(&right.cols).copied().collect();
        all_of(conditions).map(|p| self.expr(p, &both))
    }

    /// Joins a planned left side with a right one.
    pub fn meet(
        &mut self,
        kind: PhysicalJoin,
        left: Lowered,
        right: Rel,
        to_right: Vec<Expr>,
        conditions: Vec<Expr>,
        needed: &Needed,
    ) -> Lowered {
        let left_rows = left.node.rows;
        // Who only asks for a match of bounds asks each time, and stops at the first.
        let half = matches!(kind, PhysicalJoin::Semi | PhysicalJoin::Anti);
        let by_bounds = !half && self.facts.is_informed();
        let may_seek = kind != PhysicalJoin::Full
            && gives_key(&right, &to_right, &conditions, by_bounds)
            && self.hints.allows_loops();
        let costs = match may_seek {
            true => self.costs(kind, &left, &right, &to_right, &conditions),
            false => None,
        };
        // For the first rows alone there is no other way than loops.
        let mut few_read = left.few_read && kind != PhysicalJoin::Full;
        let seek = may_seek
            && match &costs {
                _ if !self.hints.allows_hash() && !self.hints.allows_merge() => true,
                Some(costs) if few_read => costs.seeks() <= costs.by_pairs(),
                Some(costs) => costs.seeks() <= costs.whole(),
                None => left_rows <= SEEK_ROWS,
            };
        let informed = self.facts.is_informed();
        let mut left = left;
        // Where the left side might have so few rows that seeks cost less, or so many that they do not, it is counted first.
        let free = self.facts.is_large() && !self.hints.force_order && !few_read;
        let equal = costs.as_ref().is_some_and(|costs| costs.equal);
        let may_hash = free && equal && self.hints.allows_hash();
        // Or where seeks cost less only because few of them are expected to find anything; unless somebody waits for the
        // left side's order, or for the first rows, or rows are locked as they are read, which should be those that are
        // found.
        let hoped = !comes_in(&left, &self.sorted_by)
            && !self.first_rows
            && !is_locked(&right)
            && costs.as_ref().is_some_and(|costs| left_rows > costs.rows_max());
        let counted = may_hash && (hoped || left.is_guessed()) && self.boundaries.is_empty();
        if seek && !counted {
            self.boundaries.push(Boundary { cols: left.cols.clone(), params: Vec::new() });
            let preds = to_right.into_iter().chain(conditions).collect();
            let right = self.rel(right, preds, needed);
            let boundary = self.boundaries.pop().expect("pushed above");
            let binds = binds(&boundary, &left.cols);
            let rows = informed.then(|| joined_rows(kind, left_rows, left_rows * right.node.rows));
            return combine(kind, left, right, rows, |left, right| Op::NestedLoops {
                kind,
                left,
                right,
                binds,
                predicate: None,
                spool: false,
                spread: None,
            });
        }
        let other_way = costs.filter(|_| free).map(|costs| {
            let preds: Vec<Expr> = to_right.iter().chain(&conditions).cloned().collect();
            (costs.rows_max(), right.clone(), preds)
        });
        let mut right = self.rel(right, to_right, needed);
        // What nobody has reckoned with is too much to be held against each row: then all rows are joined, and sorted.
        few_read &= right.node.rows <= PAIRED_ROWS;
        let pairs = left_rows * right.node.rows;
        let is_right = |id| right.cols.contains(&id);
        let sides = (left_rows, right.node.rows);
        let share = || self.facts.pairs(&conditions, sides, &is_right);
        let rows = informed.then(|| {
            let matched = joined_rows(kind, left_rows, pairs * share());
            if kind == PhysicalJoin::Full { matched.max(right.node.rows) } else { matched }
        });
        let mut conditions = conditions;
        if !few_read && let Some(keys) = self.merge_keys(kind, &left, &right, &conditions) {
            return self.merge_join(kind, left, right, keys, conditions, rows);
        }
        let equal = |c: &Expr| equality(c, &left.cols, &right.cols).is_some();
        let hashes = conditions.iter().any(equal);
        let seeks = match other_way {
            Some((rows_max, rel, preds))
                if hashes && rows_max >= 1.0 && (seek || left_rows <= right.node.rows) =>
            {
                Some(self.seeks_for(&left, rel, preds, &right, needed, rows_max))
            }
            _ => None,
        };
        // The hash table is made of the right side: of the one with fewer rows.
        let smaller = kind == PhysicalJoin::Inner && left_rows < right.node.rows;
        if free && smaller && hashes && seeks.is_none() {
            std::mem::swap(&mut left, &mut right);
        }
        let (mut left_keys, mut right_keys, mut residual) = (Vec::new(), Vec::new(), Vec::new());
        let only_loops = !self.hints.allows_hash() && !self.hints.allows_merge();
        let pairwise = few_read || only_loops && kind != PhysicalJoin::Full;
        for c in conditions.drain(..) {
            let equality = equality(&c, &left.cols, &right.cols).filter(|_| !pairwise);
            match equality.and_then(|(l, r)| of_one_form(l, r)) {
                Some((l, r)) => {
                    left_keys.push(self.expr(l, &left.cols));
                    right_keys.push(self.expr(r, &right.cols));
                }
                None => residual.push(c),
            }
        }
        let residual = self.over_both(residual, &left, &right);
        if left_keys.is_empty() && kind != PhysicalJoin::Full {
            return combine(kind, left, right, rows, |left, right| Op::NestedLoops {
                kind,
                left,
                right,
                binds: Vec::new(),
                predicate: residual,
                spool: true,
                spread: None,
            });
        }
        combine(kind, left, right, rows, |left, right| Op::HashJoin {
            kind,
            left,
            right,
            left_keys,
            right_keys,
            residual,
            seeks,
        })
    }

    /// The other way of an adaptive join: the right side sought for each left row. `whole`: the same side as it is read
    /// without the left one.
    fn seeks_for(
        &mut self,
        left: &Lowered,
        right: Rel,
        preds: Vec<Expr>,
        whole: &Lowered,
        needed: &Needed,
        rows_max: f64,
    ) -> Box<Seeks> {
        let mut needed = needed.clone();
        needed.extend(whole.cols.iter().copied());
        self.boundaries.push(Boundary { cols: left.cols.clone(), params: Vec::new() });
        let right = self.rel(right, preds, &needed);
        let boundary = self.boundaries.pop().expect("pushed above");
        let binds = binds(&boundary, &left.cols);
        let right = self.shape(right, &whole.cols).node;
        Box::new(Seeks { right, binds, rows_max, spread: None })
    }

    /// What it costs to seek the right side for each left row, and to read it once; None where there is no telling.
    fn costs(
        &self,
        kind: PhysicalJoin,
        left: &Lowered,
        right: &Rel,
        to_right: &[Expr],
        conditions: &[Expr],
    ) -> Option<Costs> {
        if !self.facts.is_informed() {
            return None;
        }
        let tables = tables_behind(right, to_right.to_vec(), conditions.to_vec())?;
        let mut each = self.weigh_all(&tables, true);
        let whole = self.weigh_all(&tables, false);
        let right_cols: Vec<ColId> = right.columns();
        let equal = conditions.iter().any(|c| equality(c, &left.cols, &right_cols).is_some());
        let sides = (left.node.rows, whole.rows_out);
        let share = self.facts.pairs(conditions, sides, &|id| right_cols.contains(&id));
        let joined = sides.0 * sides.1 * share;
        let mut found_rows = each.rows_out;
        // Who asks for a match gives a left row once, and a seek ends with the first row that it finds.
        let once = matches!(kind, PhysicalJoin::Semi | PhysicalJoin::Anti);
        if once && found_rows > 1.0 {
            let more = cost::joined(found_rows - 1.0);
            each.again = (each.again - more).max(cost::seek_again());
            found_rows = 1.0;
        }
        Some(Costs {
            left: sides.0,
            joined: if once { joined.min(sides.0) } else { joined },
            first: each.cost,
            again: each.again_for(sides.0, joined),
            found: each.again,
            found_rows,
            reading: whole.cost,
            rows: whole.rows_out,
            equal,
        })
    }

    /// A condition that a subquery has a match becomes a join, when the match is by conditions a join
    /// can use; otherwise the condition comes back.
    pub fn semi_join(&mut self, left: Lowered, pred: Expr) -> (Lowered, Option<Expr>) {
        let Some((kind, rel, conditions)) = self.as_join(&left.cols, &pred) else {
            return (left, Some(pred));
        };
        let needed = with_exprs(&Needed::new(), conditions.iter());
        (self.meet(kind, left, rel, Vec::new(), conditions, &needed), None)
    }

    /// How, with what and on what rows of `left` are joined where a predicate asks whether they have a match.
    pub fn as_join(&self, left: &[ColId], pred: &Expr) -> Option<(PhysicalJoin, Rel, Vec<Expr>)> {
        let (kind, asked, query) = halves(pred)?;
        let mut rel = query.rel.clone();
        let mut conditions = Vec::new();
        match asked {
            SubqueryKind::Exists => {}
            SubqueryKind::In { needle } => {
                let column = &query.output[0];
                let reads_here = !has_subquery(needle);
                if !reads_here {
                    return None;
                }
                let value = Expr::col(column.id, column.ty, column.nullable);
                let mut equal = Expr::compare(CompareOp::Eq, (**needle).clone(), value.clone());
                if kind == PhysicalJoin::Anti {
                    // NOT IN with a NULL on either side is never true.
                    for side in [(**needle).clone(), value].into_iter().filter(|e| e.nullable) {
                        equal = Expr::or(equal, Expr::is_null(side, false));
                    }
                }
                conditions.push(equal);
            }
            _ => return None,
        }
        // Conditions that read the outer row move up into the join, from as deep as rows pass
        // unchanged.
        let outer: Needed = left.iter().copied().collect();
        pull_up(&mut rel, &outer, &mut conditions);
        let mut read = Vec::new();
        rel.walk_exprs(&mut |e| e.columns(&mut read));
        let own: Needed = rel.columns().into_iter().collect();
        let closed = !read.iter().any(|id| outer.contains(id))
            && conditions.iter().all(|c| {
                let mut ids = Vec::new();
                c.columns(&mut ids);
                ids.iter().all(|id| {
                    outer.contains(id)
                        || own.contains(id)
                        || self.boundaries.iter().any(|b| b.cols.contains(id))
                })
            });
        let right_cols: Vec<ColId> = rel.columns();
        let usable = gives_key(&rel, &[], &conditions, false)
            || conditions.iter().any(|c| equality(c, left, &right_cols).is_some());
        conditions.iter_mut().for_each(fold);
        (closed && usable).then_some((kind, rel, conditions))
    }

    /// Reads a table of which the first rows are wanted that have matches in subqueries.
    pub fn first_of(
        &mut self,
        get: Get,
        preds: Vec<Expr>,
        needed: &Needed,
        goal: &Goal,
    ) -> Lowered {
        let asked = self.as_steps(Some(goal), &get.columns, preds.iter());
        if !asked.is_empty() {
            let own = preds.iter().filter(|pred| halves(pred).is_none()).cloned().collect();
            let soon = FirstRows { goal, asked: &asked, steps: &[] };
            self.want_first_of(&soon, &Rel::Get(Box::new(get.clone())), own);
        }
        self.get(get, preds, needed)
    }

    /// What rows of these columns are joined with where predicates ask whether they have a match, for somebody who has a goal.
    fn as_steps<'e>(
        &self,
        goal: Option<&Goal>,
        columns: &[ColId],
        preds: impl Iterator<Item = &'e Expr>,
    ) -> Vec<Step> {
        let as_step = |pred: &Expr| {
            let (kind, right, conditions) = self.as_join(columns, pred)?;
            let (to_right, above, wanted) = (Vec::new(), Vec::new(), Needed::new());
            Some(Step { kind, right, to_right, conditions, above, wanted })
        };
        match goal {
            Some(_) => preds.filter_map(as_step).collect(),
            None => Vec::new(),
        }
    }

    /// Has a table read for the first of its rows after some steps, or for all.
    fn want_first_of(&mut self, soon: &FirstRows, rel: &Rel, own: Vec<Expr>) {
        let order = self.best_order(&[rel], &own, &[], Some(soon));
        self.want_first(soon.goal, order.and_then(|order| order.share), rel, &own);
    }

    /// CROSS APPLY and OUTER APPLY: the right side runs for each left row.
    pub fn apply(
        &mut self,
        outer: bool,
        left: Rel,
        right: Rel,
        preds: Vec<Expr>,
        needed: &Needed,
    ) -> Lowered {
        let left_cols: Needed = left.columns().into_iter().collect();
        let right_cols: Needed = right.columns().into_iter().collect();
        let (mut to_left, mut to_right, mut above) = (Vec::new(), Vec::new(), Vec::new());
        for p in preds {
            match side(&p, &left_cols, &right_cols) {
                Side::Left | Side::Neither => to_left.push(p),
                Side::Right if !outer => to_right.push(p),
                _ => above.push(p),
            }
        }
        let mut wanted = with_exprs(needed, above.iter());
        let mut read = Vec::new();
        right.walk_exprs(&mut |e| e.columns(&mut read));
        wanted.extend(read);
        let left = self.rel(left, to_left, &wanted);
        self.boundaries.push(Boundary { cols: left.cols.clone(), params: Vec::new() });
        let right = self.rel(right, to_right, &wanted);
        let boundary = self.boundaries.pop().expect("pushed above");
        let binds = binds(&boundary, &left.cols);
        let kind = if outer { PhysicalJoin::Left } else { PhysicalJoin::Inner };
        let spool = binds.is_empty();
        let informed = self.facts.is_informed();
        let each = left.node.rows * right.node.rows;
        let rows = informed.then(|| joined_rows(kind, left.node.rows, each));
        let joined = combine(kind, left, right, rows, |left, right| Op::NestedLoops {
            kind,
            left,
            right,
            binds,
            predicate: None,
            spool,
            spread: None,
        });
        self.filter(joined, above)
    }
}

/// What the ways to meet a right side cost.
struct Costs {
    /// Left rows, and rows joined.
    left: f64,
    joined: f64,
    /// Of a seek into it, and of one more.
    first: f64,
    again: f64,
    /// Of one more that finds what its value has; rows that it finds.
    found: f64,
    found_rows: f64,
    /// Of reading it whole.
    reading: f64,
    /// Its rows then.
    rows: f64,
    /// There is an equality to hash by.
    equal: bool,
}

impl Costs {
    /// Of seeks for all left rows.
    fn seeks(&self) -> f64 {
        let first = self.first + cost::joined(self.found_rows);
        first + (self.left - 1.0).max(0.0) * self.again
    }

    /// Of reading it once for them.
    fn whole(&self) -> f64 {
        self.whole_for(self.left, self.joined)
    }

    /// Of reading it once and trying each pair.
    fn by_pairs(&self) -> f64 {
        self.reading + cost::pairs(self.left.max(1.0), self.rows) + cost::joined(self.joined)
    }

    fn whole_for(&self, left: f64, joined: f64) -> f64 {
        let left = left.max(1.0);
        let meeting = match self.equal {
            true => cost::hash(left.min(self.rows), left.max(self.rows)),
            false => cost::pairs(left, self.rows),
        };
        self.reading + meeting + cost::joined(joined)
    }

    /// Left rows up to which seeks cost less, though each of them has its partners.
    fn rows_max(&self) -> f64 {
        // Both ways put the same rows together.
        let seek = (self.found - cost::joined(self.found_rows)).max(cost::pass(1.0));
        let most = |left: f64| (self.whole_for(left, 0.0) - self.first) / seek + 1.0;
        // More left rows make the whole dearer too, if only a little.
        most(most(1.0)).floor().max(0.0)
    }
}

/// Whether the rows of a table are locked against others as they are read.
fn is_locked(rel: &Rel) -> bool {
    tables_behind(rel, Vec::new(), Vec::new()).is_some_and(|tables| {
        tables.iter().any(|t| t.get.locator.is_some() || t.get.hints.asks_for_locks())
    })
}

/// A predicate that a subquery has a match, or has none.
pub(crate) fn halves(pred: &Expr) -> Option<(PhysicalJoin, &SubqueryKind, &Query)> {
    let (half, subquery) = match &pred.kind {
        ExprKind::Subquery { .. } => (PhysicalJoin::Semi, pred),
        ExprKind::Not(inner) => (PhysicalJoin::Anti, &**inner),
        _ => return None,
    };
    match &subquery.kind {
        ExprKind::Subquery { kind, query }
            if matches!(kind, SubqueryKind::Exists | SubqueryKind::In { .. }) =>
        {
            Some((half, kind, &**query))
        }
        _ => None,
    }
}

pub(crate) fn combine(
    kind: PhysicalJoin,
    left: Lowered,
    right: Lowered,
    estimated: Option<f64>,
    op: impl FnOnce(Box<Node>, Box<Node>) -> Op,
) -> Lowered {
    let half = matches!(kind, PhysicalJoin::Semi | PhysicalJoin::Anti);
    let mut cols = left.cols;
    let mut types = left.node.types.clone();
    let mut rows = left.node.rows;
    if !half {
        cols.extend(right.cols);
        types.extend(right.node.types.iter().copied());
        rows *= match right.node.rows {
            r if r <= 1.0 => 1.0,
            r => r.min(1000.0),
        };
    }
    let rows = estimated.unwrap_or(rows);
    let fixed = if kind == PhysicalJoin::Full { Needed::new() } else { left.fixed };
    let op = op(Box::new(left.node), Box::new(right.node));
    // A hash join may build the left side, or part both.
    let keeps_order = match op {
        Op::NestedLoops { .. } => true,
        Op::MergeJoin { kind, .. } => kind != PhysicalJoin::Full,
        _ => false,
    };
    let order = if keeps_order { left.order } else { Vec::new() };
    let few_read = left.few_read && keeps_order;
    Lowered { node: Node { op, types, rows }, cols, order, fixed, few_read }
}

/// Gives each predicate its place: the left side (returned), the right, the join, or above it.
fn distribute(
    kind: JoinKind,
    (left_cols, right_cols): (&Needed, &Needed),
    right: Rel,
    on: Option<Expr>,
    preds: Vec<Expr>,
    needed: &Needed,
) -> (Step, Vec<Expr>) {
    let mut conditions = Vec::new();
    if let Some(on) = on {
        factored(on, &mut conditions);
    }
    conditions.iter_mut().for_each(fold);
    // A predicate that no row of NULLs passes makes an outer join an inner one.
    let kind = match kind {
        JoinKind::Left if preds.iter().any(|p| rejects_nulls(p, right_cols)) => JoinKind::Inner,
        kind => kind,
    };
    let (mut to_left, mut to_right, mut above) = (Vec::new(), Vec::new(), Vec::new());
    match kind {
        JoinKind::Inner | JoinKind::Cross => {
            let mut both = Vec::new();
            for p in conditions.into_iter().chain(preds) {
                match side(&p, left_cols, right_cols) {
                    Side::Left | Side::Neither => to_left.push(p),
                    Side::Right => to_right.push(p),
                    // A subquery over both sides is asked of joined rows.
                    Side::Both if has_subquery(&p) => above.push(p),
                    Side::Both => both.push(p),
                }
            }
            conditions = both;
        }
        JoinKind::Left => {
            let mut kept = Vec::new();
            for p in conditions {
                match side(&p, left_cols, right_cols) {
                    Side::Right => to_right.push(p),
                    _ => kept.push(p),
                }
            }
            conditions = kept;
            for p in preds {
                match side(&p, left_cols, right_cols) {
                    Side::Left | Side::Neither => to_left.push(p),
                    _ => above.push(p),
                }
            }
            to_right.extend(of_optional(&conditions, &to_left, right_cols));
        }
        _ => above = preds,
    }
    let kind = match kind {
        JoinKind::Left => PhysicalJoin::Left,
        JoinKind::Full => PhysicalJoin::Full,
        JoinKind::Semi => PhysicalJoin::Semi,
        JoinKind::Anti => PhysicalJoin::Anti,
        _ => PhysicalJoin::Inner,
    };
    // What the right side reads of the left (a seek's bounds) is among the conditions.
    let wanted = with_exprs(&with_exprs(needed, above.iter()), conditions.iter());
    (Step { kind, right, to_right, conditions, above, wanted }, to_left)
}

/// Whether a subquery in it is asked again for each row of these columns.
fn asks_of(e: &Expr, own: &Needed) -> bool {
    e.any(&mut |e| {
        let ExprKind::Subquery { query, .. } = &e.kind else { return false };
        let mut read = Vec::new();
        query.rel.walk_exprs(&mut |e| e.columns(&mut read));
        read.iter().any(|id| own.contains(id))
    })
}
