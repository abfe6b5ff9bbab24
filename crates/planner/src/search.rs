//! The order of inner joins by cost: every order of a few tables, the next best table of many.
//!
//! Joins are left-deep: what is joined so far meets one more part, by seeks into it, by a hash table of it (or the other
//! way round, see `join.rs`), or pair by pair. Up to [`ALL_ORDERS_MAX`] parts the best order is found for every set of
//! parts from those of its subsets (Selinger et al., 1979); above, for the cheapest sets of each size, and by what costs least
//! next from each of several beginnings: of all these, the one that ends cheapest is taken.
//!
//! A part without a condition waits for those that have one, unless it and what is joined are few rows that a large part is
//! sought by together: a seek for each pair then, in place of all that either of them leaves of the large one. This is tried
//! where all orders are.
//!
//! Promise: the same rows in any order; outer joins, semijoins and whatever else is not an inner join stay whole parts.

use ir::*;
use std::collections::{BTreeMap, HashMap};

use crate::behind::{Behind, tables_behind};
use crate::columns::{Needed, below_filters};
use crate::cost;
use crate::fold::fold;
use crate::lower::*;
use crate::parts::Parts;
use crate::steps::FirstRows;

/// Parts of which all orders are tried: 2^n sets, n steps each.
const ALL_ORDERS_MAX: usize = 8;

/// Steps that are weighed at most, about, in either of two ways where not all orders are tried: some microseconds each.
const STEPS_MAX: usize = 4_000;

/// Sets of one size that are kept at most where not all orders are tried.
const SETS_MAX: usize = 24;
/// Where there is time for fewer than these, sets are not gone by: it would be the other way once more.
const SETS_MIN: usize = 3;

/// Pairs without a condition that are weighed at most.
const PAIRS_MAX: f64 = 10_000.0;

/// Longest list whose order is chosen by cost, so that planning stays quick.
const PARTS_MAX: usize = 64;

/// What a join that can still choose is said to cost of what it does by the estimates.
const ADAPTIVE: f64 = 0.99;

/// A part of an inner join.
pub(crate) struct Part<'r> {
    /// Rows that its own predicates leave.
    pub rows: f64,
    /// What they cost.
    pub cost: f64,
    /// What it is under its own predicates, and these, where there are but tables behind it.
    tables: Option<(&'r Rel, Vec<Expr>)>,
    /// All of its columns.
    pub columns: Needed,
}

impl<'r> Part<'r> {
    /// Its table and own predicates, where it is one.
    pub fn table(&self) -> Option<(&'r Get, &[Expr])> {
        match &self.tables {
            Some((Rel::Get(get), own)) => Some((get, own)),
            _ => None,
        }
    }

    /// The tables behind it, with conditions on its columns.
    fn behind(&self, conditions: Vec<Expr>) -> Option<Vec<Behind<'r>>> {
        let (rel, own) = self.tables.as_ref()?;
        tables_behind(rel, own.clone(), conditions)
    }
}

/// A predicate over two parts or more.
pub(crate) struct Link {
    expr: Expr,
    parts: u64,
    equality: bool,
}

/// Parts joined, in some order.
#[derive(Clone)]
pub(crate) struct Joined {
    pub rows: f64,
    pub cost: f64,
    pub order: Vec<usize>,
    /// Rows after each part.
    pub sizes: Vec<f64>,
    set: u64,
}

/// What one more part makes of the rows so far.
pub(crate) struct Met {
    pub rows: f64,
    pub cost: f64,
}

/// An order of the parts of a join, and the rows that are expected after each of them.
pub(crate) struct Order {
    pub parts: Vec<usize>,
    pub sizes: Vec<f64>,
    /// The share of the first part's rows that is expected to be read: the joins keep its order, and end with the first rows.
    pub share: Option<f64>,
}

impl Lowering {
    /// The order in which the parts of an inner join are best joined; None where not enough is known of them.
    /// `conditions` are all predicates that hold for the joined rows; `asked`: columns that a subquery is asked about as
    /// soon as they are there, and the share of rows that it leaves; `first`: what is to be had soon.
    pub fn best_order(
        &self,
        parts: &[&Rel],
        conditions: &[Expr],
        asked: &[(Vec<ColId>, f64)],
        first: Option<&FirstRows>,
    ) -> Option<Order> {
        if !self.facts.is_large() || parts.len() > PARTS_MAX {
            return None;
        }
        let columns: Vec<Needed> =
            parts.iter().map(|rel| rel.columns().into_iter().collect()).collect();
        let columns = Parts::new(&columns);
        let mut own: Vec<Vec<Expr>> = vec![Vec::new(); parts.len()];
        let mut links = Vec::new();
        for condition in conditions {
            let read = columns.read(condition);
            match read[..] {
                [] => {}
                [one] => own[one].push(condition.clone()),
                _ => links.push(Link {
                    parts: read.iter().fold(0, |set, i| set | 1 << i),
                    equality: matches!(condition.kind, ExprKind::Compare { op: CompareOp::Eq, .. }),
                    expr: condition.clone(),
                }),
            }
        }
        let mut known = Vec::with_capacity(parts.len());
        for (rel, own) in parts.iter().zip(own) {
            known.push(self.part(rel, own)?);
        }
        for (read, share) in asked {
            let mut of = read.iter().filter_map(|id| columns.of(*id));
            if let Some(first) = of.next()
                && of.all(|part| part == first)
            {
                known[first].rows = (known[first].rows * share).max(1.0);
            }
        }
        let best = match known.len() <= ALL_ORDERS_MAX {
            true => self.all_orders(&known, &links),
            false => self.next_best(&known, &links),
        };
        let soon = first.and_then(|first| self.soonest(first, &known, &links, &best));
        let (best, share) = match soon {
            Some((joined, share)) => (joined, Some(share)),
            None => (best, None),
        };
        Some(Order { parts: best.order, sizes: best.sizes, share })
    }

    /// What is known of a part with predicates of its own.
    pub fn part<'r>(&self, rel: &'r Rel, mut own: Vec<Expr>) -> Option<Part<'r>> {
        let columns = rel.columns().into_iter().collect();
        let below = below_filters(rel, &mut own);
        own.iter_mut().for_each(fold);
        if let Some(tables) = tables_behind(below, own.clone(), Vec::new()) {
            let access = self.weigh_all(&tables, false);
            let (rows, cost) = (access.rows_out, access.cost);
            return Some(Part { rows, cost, tables: Some((below, own)), columns });
        }
        let rows = self.rough_rows_where(below, own)?;
        let cost = cost::read(rows, 100.0).total();
        Some(Part { rows: rows.max(1.0), cost, tables: None, columns })
    }

    /// Joins one more part.
    fn extend(
        &self,
        joined: &Joined,
        next: usize,
        parts: &[Part],
        links: &[Link],
        soon: Option<f64>,
    ) -> Joined {
        let set = joined.set | 1 << next;
        let usable: Vec<&Link> =
            links.iter().filter(|l| l.parts & (1 << next) != 0 && l.parts & !set == 0).collect();
        let conditions: Vec<Expr> = usable.iter().map(|l| l.expr.clone()).collect();
        let equal = usable.iter().any(|l| l.equality);
        let Met { rows, cost } = self.met(joined.rows, &parts[next], &conditions, equal, soon);
        let (mut order, mut sizes) = (joined.order.clone(), joined.sizes.clone());
        order.push(next);
        sizes.push(rows);
        Joined { rows, cost: joined.cost + cost, order, sizes, set }
    }

    /// What `left` rows come to with one more part. `soon`: only that share of them is joined, in its order.
    pub fn met(
        &self,
        left: f64,
        part: &Part,
        conditions: &[Expr],
        equal: bool,
        soon: Option<f64>,
    ) -> Met {
        let is_right = |id| part.columns.contains(&id);
        let share = self.facts.pairs(conditions, (left, part.rows), &is_right);
        let rows = (left * part.rows * share).max(1.0);
        let (left, found) = match soon {
            Some(share) => ((left * share).max(1.0), (rows * share).max(1.0)),
            None => (left, rows),
        };
        let meeting = match equal && soon.is_none() {
            true => cost::hash(left.min(part.rows), left.max(part.rows)),
            false => cost::pairs(left, part.rows),
        };
        let whole = part.cost + meeting + cost::joined(found);
        let seeks = !conditions.is_empty() && self.hints.allows_loops();
        let by_seeks = Some(part).filter(|_| seeks).and_then(|part| {
            let tables = part.behind(conditions.to_vec())?;
            if !tables.iter().all(|table| table.is_sought(true)) {
                return None;
            }
            let access = self.weigh_all(&tables, true);
            let again = access.again_for(left, found);
            let first = access.cost + cost::joined(access.rows_out);
            Some(first + (left - 1.0).max(0.0) * again)
        });
        let only_loops = !self.hints.allows_hash() && !self.hints.allows_merge();
        let step = match by_seeks {
            Some(seeks) if seeks <= whole || only_loops => seeks,
            // An adaptive join has the other way open: of two orders that cost the same it is the better one.
            Some(_) if left <= part.rows && soon.is_none() => whole * ADAPTIVE,
            _ => whole,
        };
        Met { rows, cost: step + cost::pass(found) }
    }

    fn first(&self, at: usize, parts: &[Part]) -> Joined {
        let (rows, cost) = (parts[at].rows, parts[at].cost);
        Joined::first(at, rows, cost)
    }

    fn all_orders(&self, parts: &[Part], links: &[Link]) -> Joined {
        let n = parts.len();
        let mut best: Vec<Option<Joined>> = vec![None; 1 << n];
        let mut pairs = self.hints.allows_loops().then(|| Pairs::new(parts, links));
        for at in 0..n {
            best[1 << at] = Some(self.first(at, parts));
        }
        for set in 1..(1usize << n) {
            let Some(joined) = best[set].take() else { continue };
            if set + 1 == 1 << n {
                return joined;
            }
            // A part without a condition waits while there is one that has some.
            let tied = |next: usize| is_tied(links, joined.set, next);
            let mut paired =
                |next: usize| pairs.as_mut().is_some_and(|pairs| pairs.may_meet(&joined, next));
            let free = |next: &usize| set & (1 << next) == 0;
            let any = (0..n).filter(free).any(tied);
            for next in (0..n).filter(free) {
                if any && !tied(next) && !paired(next) {
                    continue;
                }
                let more = self.extend(&joined, next, parts, links, None);
                let place = &mut best[more.set as usize];
                if place.as_ref().is_none_or(|known| more.cost < known.cost) {
                    *place = Some(more);
                }
            }
        }
        stdx::fatal!("planner: no order of joins")
    }

    /// The cheapest of what comes of the cheapest sets, and of beginning with each part, or with the smallest of many.
    fn next_best(&self, parts: &[Part], links: &[Link]) -> Joined {
        let n = parts.len();
        let mut begins: Vec<usize> = (0..n).collect();
        begins.sort_by(|a, b| parts[*a].rows.total_cmp(&parts[*b].rows));
        begins.truncate(beginnings(n));
        let ends = begins.iter().map(|begin| self.next_best_from(*begin, parts, links));
        let width = STEPS_MAX / (n * n);
        let by_sets = (width >= SETS_MIN)
            .then(|| self.cheapest_sets(width.min(SETS_MAX), parts, links))
            .flatten();
        let ends = ends.chain(by_sets);
        let best = ends.min_by(|a, b| a.cost.total_cmp(&b.cost));
        best.unwrap_or_else(|| stdx::fatal!("planner: a join of no parts"))
    }

    /// Of each size the cheapest so many sets, from the single parts up to all of them.
    fn cheapest_sets(&self, width: usize, parts: &[Part], links: &[Link]) -> Option<Joined> {
        let mut sets: Vec<Joined> = (0..parts.len()).map(|at| self.first(at, parts)).collect();
        for _ in 1..parts.len() {
            sets.sort_by(|a, b| a.cost.total_cmp(&b.cost));
            sets.truncate(width);
            let mut larger: BTreeMap<u64, Joined> = BTreeMap::new();
            for joined in &sets {
                for next in candidates(joined, parts, links) {
                    let more = self.extend(joined, next, parts, links, None);
                    match larger.get_mut(&more.set) {
                        Some(known) if known.cost <= more.cost => {}
                        Some(known) => *known = more,
                        None => drop(larger.insert(more.set, more)),
                    }
                }
            }
            sets = larger.into_values().collect();
        }
        sets.pop()
    }

    fn next_best_from(&self, begin: usize, parts: &[Part], links: &[Link]) -> Joined {
        self.next_best_after(self.first(begin, parts), parts, links, None)
    }

    /// All parts after those that are joined, next each time the one that costs least. `soon`: see [`Lowering::met`].
    pub fn next_best_after(
        &self,
        mut joined: Joined,
        parts: &[Part],
        links: &[Link],
        soon: Option<f64>,
    ) -> Joined {
        while joined.order.len() < parts.len() {
            let more = candidates(&joined, parts, links)
                .into_iter()
                .map(|next| self.extend(&joined, next, parts, links, soon))
                .min_by(|a, b| a.cost.total_cmp(&b.cost));
            joined = more.unwrap_or_else(|| stdx::fatal!("planner: a part is left and none"));
        }
        joined
    }
}

impl Joined {
    /// A part, alone.
    pub fn first(at: usize, rows: f64, cost: f64) -> Joined {
        Joined { rows, cost, order: vec![at], sizes: vec![rows], set: 1 << at }
    }
}

/// Of so many parts, those that are tried as the first one where not all orders are.
pub(crate) fn beginnings(parts: usize) -> usize {
    (2 * STEPS_MAX / (parts * parts)).max(1)
}

/// Whether a condition is about what is joined and this part, and perhaps others that are still to come.
fn is_tied(links: &[Link], set: u64, next: usize) -> bool {
    links.iter().any(|l| l.parts & (1 << next) != 0 && l.parts & set != 0)
}

/// What may meet without a condition between them.
struct Pairs<'p> {
    parts: &'p [Part<'p>],
    links: &'p [Link],
    /// Of each part: those that some condition is about together with it.
    neighbours: Vec<u64>,
    /// How closely a part is sought by some of its neighbours.
    reaches: HashMap<(usize, u64), usize>,
}

impl<'p> Pairs<'p> {
    fn new(parts: &'p [Part<'p>], links: &'p [Link]) -> Pairs<'p> {
        let of = |part: usize| links.iter().filter(move |l| l.parts & 1 << part != 0);
        let all = |part: usize| of(part).fold(0, |set, l| set | l.parts) & !(1 << part);
        let neighbours = (0..parts.len()).map(all).collect();
        Pairs { parts, links, neighbours, reaches: HashMap::new() }
    }

    /// Whether a part that no condition ties to what is joined may come next: few rows together, and a table that is still to
    /// come and has more is sought by both more closely than by either.
    fn may_meet(&mut self, joined: &Joined, next: usize) -> bool {
        let pairs = joined.rows * self.parts[next].rows;
        if pairs > PAIRS_MAX {
            return false;
        }
        (0..self.parts.len()).any(|third| {
            let of = self.neighbours[third];
            of & joined.set != 0
                && of & 1 << next != 0
                && joined.set & 1 << third == 0
                && self.parts[third].rows > pairs
                && {
                    let (by_joined, by_next) = (joined.set & of, 1 << next);
                    let apart = self.reach(third, by_joined).max(self.reach(third, by_next));
                    self.reach(third, by_joined | by_next) > apart
                }
        })
    }

    /// How many columns of a key of a part others give it.
    fn reach(&mut self, part: usize, others: u64) -> usize {
        let (links, parts) = (self.links, self.parts);
        *self.reaches.entry((part, others)).or_insert_with(|| {
            let given =
                |l: &&Link| l.parts & 1 << part != 0 && l.parts & !(others | 1 << part) == 0;
            let given = links.iter().filter(given).map(|l| l.expr.clone()).collect();
            let tables = parts[part].behind(given).unwrap_or_default();
            tables.iter().map(Behind::reach).min().unwrap_or(0)
        })
    }
}

/// The parts that may come next: of those that are left, those that a condition about what is there ties to it, else all.
fn candidates(joined: &Joined, parts: &[Part], links: &[Link]) -> Vec<usize> {
    let free = (0..parts.len()).filter(|i| joined.set & (1 << i) == 0);
    let linked = |next: usize| {
        links.iter().any(|l| {
            let others = l.parts & !(1 << next);
            l.parts & (1 << next) != 0 && others & !joined.set == 0
        })
    };
    let (some, none): (Vec<usize>, Vec<usize>) = free.partition(|i| linked(*i));
    if some.is_empty() { none } else { some }
}
