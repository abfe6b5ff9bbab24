//! The order of inner joins: tables that predicates connect meet before those that nothing connects.
//!
//! A list of tables after FROM, with its equalities in WHERE, says nothing about order; joined as written it may pass
//! through products of many tables. The written order is kept unless it has such a product and another has fewer.

use ir::*;

use crate::columns::Needed;
use crate::derive::{derived, factored};
use crate::fold::fold;
use crate::lower::Lowering;
use crate::parts::Parts;
use crate::steps::FirstRows;

/// Longest list that is reordered, so that the search (quadratic) stays short.
const TABLES_MAX: usize = 256;

/// Adds what the predicates imply of single parts of an inner join.
pub(crate) fn derive(rel: &Rel, preds: &mut Vec<Expr>) {
    let count = tables(rel);
    if !(2..=TABLES_MAX).contains(&count) {
        return;
    }
    let (mut given, mut parts) = (Vec::new(), Vec::new());
    collect_conditions(rel, &mut given);
    given.iter_mut().for_each(fold);
    collect_columns(rel, &mut parts);
    derived(&Parts::new(&parts), &given, preds);
}

/// What is known of an order of joins.
#[derive(Default)]
pub(crate) struct Expected {
    /// Rows after each part.
    pub sizes: Option<Vec<f64>>,
    /// See [`crate::search::Order::share`].
    pub share: Option<f64>,
}

/// The same join with its inner parts in a better order, if there is one, and what is expected of it. Then the conditions of
/// the reordered part are among `preds`.
pub(crate) fn connected(
    lowering: &Lowering,
    rel: Rel,
    preds: &mut Vec<Expr>,
    asked: &[(Vec<ColId>, f64)],
    first: Option<&FirstRows>,
) -> (Rel, Expected) {
    if lowering.hints.force_order {
        return (rel, Expected::default());
    }
    let parts = tables(&rel);
    if parts < 2 || (parts < 3 && !lowering.facts.is_large()) {
        return (rel, Expected::default());
    }
    let mut conditions = Vec::new();
    collect_conditions(&rel, &mut conditions);
    conditions.extend(preds.iter().cloned());
    conditions.iter_mut().for_each(fold);
    let mut parts: Vec<Needed> = Vec::new();
    collect_columns(&rel, &mut parts);
    if parts.len() > TABLES_MAX {
        return (rel, Expected::default());
    }
    let written: Vec<usize> = (0..parts.len()).collect();
    let by_cost = {
        let mut rels = Vec::new();
        collect_parts(&rel, &mut rels);
        lowering.best_order(&rels, &conditions, asked, first)
    };
    let (order, expected) = match by_cost {
        Some(order) if order.parts == written && is_left_deep(&rel) => {
            return (rel, Expected { sizes: Some(order.sizes), share: order.share });
        }
        Some(order) => (order.parts, Expected { sizes: Some(order.sizes), share: order.share }),
        None => {
            let links = Links::new(&Parts::new(&parts), &conditions);
            let products = links.products(&written);
            if products == 0 {
                return (rel, Expected::default());
            }
            let order = links.greedy();
            if links.products(&order) >= products {
                return (rel, Expected::default());
            }
            (order, Expected::default())
        }
    };
    let mut list = Vec::new();
    take(rel, &mut list, preds);
    let mut list: Vec<Option<Rel>> = list.into_iter().map(Some).collect();
    let mut rels = order.into_iter().filter_map(|i| list[i].take());
    let first = rels.next().unwrap_or(Rel::OneRow);
    let joined = rels.fold(first, |left, right| Rel::Join {
        kind: JoinKind::Inner,
        left: Box::new(left),
        right: Box::new(right),
        on: None,
    });
    (joined, expected)
}

/// Which parts share a predicate, and which have one of their own.
struct Links {
    /// The parts that each equality reads, two or more.
    equalities: Vec<Vec<usize>>,
    /// Of each part: the equalities that read it.
    of: Vec<Vec<usize>>,
    /// How many predicates a part has for itself.
    own: Vec<usize>,
}

impl Links {
    fn new(parts: &Parts, conditions: &[Expr]) -> Links {
        let (of, own) = (vec![Vec::new(); parts.count()], vec![0; parts.count()]);
        let mut links = Links { equalities: Vec::new(), of, own };
        for condition in conditions {
            let read = parts.read(condition);
            let equality = matches!(&condition.kind, ExprKind::Compare { op: CompareOp::Eq, .. });
            match read[..] {
                [one] => links.own[one] += 1,
                [_, _, ..] if equality => {
                    read.iter().for_each(|part| links.of[*part].push(links.equalities.len()));
                    links.equalities.push(read);
                }
                _ => {}
            }
        }
        links
    }

    /// Steps of this order that join by no equality.
    fn products(&self, order: &[usize]) -> usize {
        let mut meeting = Meeting::of(self);
        let mut products = 0;
        for (at, part) in order.iter().enumerate() {
            products += usize::from(at > 0 && !meeting.linked[*part]);
            meeting.join(*part);
        }
        products
    }

    /// Next is always a part that an equality joins, those with predicates of their own first, else as written.
    fn greedy(&self) -> Vec<usize> {
        let mut meeting = Meeting::of(self);
        let mut order = Vec::with_capacity(self.own.len());
        while order.len() < self.own.len() {
            let next = (0..self.own.len())
                .filter(|part| !meeting.joined[*part])
                .max_by_key(|part| {
                    (meeting.linked[*part], self.own[*part], std::cmp::Reverse(*part))
                })
                .expect("some part is left");
            meeting.join(next);
            order.push(next);
        }
        order
    }
}

/// Parts that are joined one after the other.
struct Meeting<'l> {
    links: &'l Links,
    joined: Vec<bool>,
    /// An equality joins the part to what is already joined.
    linked: Vec<bool>,
    /// Of each equality: how many parts that it reads are not joined.
    missing: Vec<usize>,
}

impl Meeting<'_> {
    fn of(links: &Links) -> Meeting<'_> {
        let parts = links.own.len();
        Meeting {
            links,
            joined: vec![false; parts],
            linked: vec![false; parts],
            missing: links.equalities.iter().map(Vec::len).collect(),
        }
    }

    fn join(&mut self, part: usize) {
        self.joined[part] = true;
        for equality in &self.links.of[part] {
            self.missing[*equality] -= 1;
            if self.missing[*equality] == 1 {
                let read = self.links.equalities[*equality].iter();
                read.filter(|part| !self.joined[**part]).for_each(|part| self.linked[*part] = true);
            }
        }
    }
}

/// The parts of an inner join: whatever is not itself one.
pub(crate) fn is_inner(rel: &Rel) -> bool {
    matches!(rel, Rel::Join { kind: JoinKind::Inner | JoinKind::Cross, .. })
}

/// No part on a right side is a join.
fn is_left_deep(rel: &Rel) -> bool {
    let mut rel = rel;
    while let Rel::Join { kind: JoinKind::Inner | JoinKind::Cross, left, right, .. } = rel {
        if is_inner(right) {
            return false;
        }
        rel = left;
    }
    true
}

fn tables(rel: &Rel) -> usize {
    // Down the left side by a loop: chains are long and stacks are not.
    let (mut rel, mut count) = (rel, 1);
    while let Rel::Join { kind: JoinKind::Inner | JoinKind::Cross, left, right, .. } = rel {
        count += if is_inner(right) { tables(right) } else { 1 };
        rel = left;
    }
    count
}

fn collect_conditions(rel: &Rel, into: &mut Vec<Expr>) {
    let mut rel = rel;
    while let Rel::Join { kind: JoinKind::Inner | JoinKind::Cross, left, right, on } = rel {
        if let Some(on) = on {
            factored(on.clone(), into);
        }
        if is_inner(right) {
            collect_conditions(right, into);
        }
        rel = left;
    }
}

/// The columns of each part, in the order of the text.
fn collect_columns(rel: &Rel, into: &mut Vec<Needed>) {
    let mut parts = Vec::new();
    collect_parts(rel, &mut parts);
    into.extend(parts.into_iter().map(|part| part.columns().into_iter().collect::<Needed>()));
}

/// The parts, in the order of the text.
fn collect_parts<'r>(rel: &'r Rel, into: &mut Vec<&'r Rel>) {
    let mut later = Vec::new();
    let mut rel = rel;
    while let Rel::Join { kind: JoinKind::Inner | JoinKind::Cross, left, right, .. } = rel {
        later.push(&**right);
        rel = left;
    }
    into.push(rel);
    for right in later.into_iter().rev() {
        if is_inner(right) {
            collect_parts(right, into);
        } else {
            into.push(right);
        }
    }
}

/// Takes the join apart: its parts in the same order as [`collect_columns`], its conditions.
pub(crate) fn take(rel: Rel, parts: &mut Vec<Rel>, conditions: &mut Vec<Expr>) {
    let mut later = Vec::new();
    let mut rel = rel;
    loop {
        match rel {
            Rel::Join { kind: JoinKind::Inner | JoinKind::Cross, left, right, on } => {
                if let Some(on) = on {
                    let mut own = Vec::new();
                    factored(on, &mut own);
                    own.iter_mut().for_each(fold);
                    conditions.append(&mut own);
                }
                later.push(*right);
                rel = *left;
            }
            rel => {
                parts.push(rel);
                break;
            }
        }
    }
    for right in later.into_iter().rev() {
        if is_inner(&right) { take(right, parts, conditions) } else { parts.push(right) }
    }
}
