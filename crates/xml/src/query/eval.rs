//! Runs a query. Sequences are vectors of items; nodes come in document order, each once.
//!
//! Errors while it runs become empty sequences, as SQL Server has it ("Error Handling (XQuery)"); what is left to fail is
//! a result that would be no XML.

use super::atom::{Atom, AtomType};
use super::tree::*;
use super::{Item, construct, functions};
use crate::document::{Document, Kind, NodeRef};
use crate::error::XmlError;
use runtime::task::{Breath, Many, breathing};
use std::cmp::Ordering;
use std::sync::Arc;

pub(super) type Result<T> = std::result::Result<T, XmlError>;

pub(super) fn run(
    expr: &Expr,
    slots: usize,
    context: &NodeRef,
    externals: &[Option<Item>],
) -> Result<Vec<Item>> {
    let mut run = Run { slots: vec![Vec::new(); slots], externals, breath: Breath::new() };
    let focus = Focus { item: Item::Node(context.clone()), position: 1, size: 1 };
    run.eval(expr, &focus)
}

/// The context item, its place and how many there are.
pub(super) struct Focus {
    pub item: Item,
    pub position: usize,
    pub size: usize,
}

pub(super) struct Run<'r> {
    slots: Vec<Vec<Item>>,
    externals: &'r [Option<Item>],
    breath: Breath,
}

fn one(atom: Atom) -> Vec<Item> {
    vec![Item::Atom(atom)]
}

impl Run<'_> {
    pub fn eval(&mut self, e: &Expr, focus: &Focus) -> Result<Vec<Item>> {
        self.breath.steps(16)?;
        Ok(match e {
            Expr::Atom(atom) => one(atom.clone()),
            Expr::Sequence(list) => {
                if let [only] = list.as_slice() {
                    return self.eval(only, focus);
                }
                let mut out = Vec::new();
                for e in list {
                    out.extend(self.eval(e, focus)?);
                }
                out
            }
            Expr::Root => match &focus.item {
                Item::Node(node) => vec![Item::Node(NodeRef { id: 0, ..node.clone() })],
                Item::Atom(_) => Vec::new(),
            },
            Expr::Context => vec![focus.item.clone()],
            Expr::Path(start, steps) => {
                let start = self.eval(start, focus)?;
                self.path(start, steps)?
            }
            Expr::Filter(inner, predicates) => {
                let mut items = self.eval(inner, focus)?;
                for predicate in predicates {
                    items = self.filter(items, predicate)?;
                }
                items
            }
            Expr::Var(slot) => self.slots[*slot].clone(),
            Expr::External(i) => match self.externals.get(*i) {
                Some(Some(item)) => vec![item.clone()],
                _ => Vec::new(),
            },
            Expr::Call(func, args) => functions::call(self, *func, args, focus)?,
            Expr::Or(a, b) => one(Atom::Bool(self.truth(a, focus)? || self.truth(b, focus)?)),
            Expr::And(a, b) => one(Atom::Bool(self.truth(a, focus)? && self.truth(b, focus)?)),
            Expr::Compare { op, general, left, right } => {
                let left = self.atoms(left, focus)?;
                let right = self.atoms(right, focus)?;
                if !general && (left.is_empty() || right.is_empty()) {
                    return Ok(Vec::new());
                }
                let holds = left.iter().any(|a| {
                    breathing(right.iter()).any(|b| {
                        a.compare(b).map_or(*op == Op::Ne && !comparable(a, b), |o| fits(*op, o))
                    })
                });
                one(Atom::Bool(holds))
            }
            Expr::Order { op, left, right } => {
                let (left, right) = (self.eval(left, focus)?, self.eval(right, focus)?);
                let (Some(Item::Node(a)), Some(Item::Node(b))) = (left.first(), right.first())
                else {
                    return Ok(Vec::new());
                };
                one(Atom::Bool(fits(*op, place(a).cmp(&place(b)))))
            }
            Expr::Arith { op, left, right } => {
                let (left, right) = (self.atoms(left, focus)?, self.atoms(right, focus)?);
                match (left.first(), right.first()) {
                    (Some(a), Some(b)) => arith(*op, a, b).map(one).unwrap_or_default(),
                    _ => Vec::new(),
                }
            }
            Expr::Negate(inner) => match self.atoms(inner, focus)?.first() {
                Some(a) => arith(Arith::Sub, &Atom::Int(0), a).map(one).unwrap_or_default(),
                None => Vec::new(),
            },
            Expr::If(parts) => {
                let [test, then, otherwise] = &**parts;
                let chosen = if self.truth(test, focus)? { then } else { otherwise };
                self.eval(chosen, focus)?
            }
            Expr::Flwor(f) => self.flwor(f, focus)?,
            Expr::Quantified { every, binds, test } => {
                let holds = self.quantified(*every, binds, test, focus)?;
                one(Atom::Bool(holds))
            }
            Expr::Element(_) | Expr::Attribute { .. } | Expr::Text(_) | Expr::Comment(_) => {
                construct::made(self, e, focus)?
            }
            Expr::Cast(inner, ty) => match self.atoms(inner, focus)?.first() {
                Some(atom) => atom.cast(*ty).map(one).unwrap_or_default(),
                None => Vec::new(),
            },
            Expr::InstanceOf(inner, ty) => {
                let items = self.eval(inner, focus)?;
                let holds = match items.as_slice() {
                    [] => true,
                    [Item::Atom(atom)] => is_of(atom, *ty),
                    _ => false,
                };
                one(Atom::Bool(holds))
            }
        })
    }

    /// The values of what it yields.
    pub fn atoms(&mut self, e: &Expr, focus: &Focus) -> Result<Vec<Atom>> {
        if let Expr::Atom(atom) = e {
            return Ok(vec![atom.clone()]);
        }
        let items = self.eval(e, focus)?;
        Ok(items.iter().filter(|item| !item.is_nil()).map(Item::atom).collect())
    }

    /// Its effective boolean value.
    pub fn truth(&mut self, e: &Expr, focus: &Focus) -> Result<bool> {
        Ok(effective(&self.eval(e, focus)?))
    }

    fn flwor(&mut self, f: &Flwor, focus: &Focus) -> Result<Vec<Item>> {
        let mut rows = Many::new();
        self.tuples(f, &f.clauses, focus, &mut rows)?;
        if !f.order.is_empty() {
            let mut breath = Breath::new();
            rows.sort_by(|(a, _), (b, _)| {
                // Whether to stop is asked where that can be said.
                let _ = breath.goes_on();
                let mut keys = a.iter().zip(b).zip(&f.order);
                keys.find_map(|((a, b), (_, descending))| {
                    let order = match (a, b) {
                        (Some(a), Some(b)) => a.compare(b).unwrap_or(Ordering::Equal),
                        (a, b) => a.is_some().cmp(&b.is_some()),
                    };
                    let order = if *descending { order.reverse() } else { order };
                    (order != Ordering::Equal).then_some(order)
                })
                .unwrap_or(Ordering::Equal)
            });
        }
        let mut all = Vec::new();
        for (_, items) in &mut rows {
            self.breath.steps(16)?;
            all.append(items);
        }
        Ok(all)
    }

    fn tuples(
        &mut self,
        f: &Flwor,
        clauses: &[Clause],
        focus: &Focus,
        rows: &mut Many<(Vec<Option<Atom>>, Vec<Item>)>,
    ) -> Result<()> {
        match clauses.split_first() {
            Some((Clause::For { slot, input }, rest)) => {
                for item in self.eval(input, focus)? {
                    self.slots[*slot] = vec![item];
                    self.tuples(f, rest, focus, rows)?;
                }
            }
            Some((Clause::Let { slot, input }, rest)) => {
                self.slots[*slot] = self.eval(input, focus)?;
                self.tuples(f, rest, focus, rows)?;
            }
            None => {
                if let Some(filter) = &f.filter
                    && !self.truth(filter, focus)?
                {
                    return Ok(());
                }
                let mut keys = Vec::with_capacity(f.order.len());
                for (key, _) in &f.order {
                    keys.push(self.atoms(key, focus)?.into_iter().next());
                }
                let items = self.eval(&f.result, focus)?;
                rows.push((keys, items));
            }
        }
        Ok(())
    }

    fn quantified(
        &mut self,
        every: bool,
        binds: &[(usize, Expr)],
        test: &Expr,
        focus: &Focus,
    ) -> Result<bool> {
        let Some(((slot, input), rest)) = binds.split_first() else {
            return self.truth(test, focus);
        };
        for item in self.eval(input, focus)? {
            self.slots[*slot] = vec![item];
            if self.quantified(every, rest, test, focus)? != every {
                return Ok(!every);
            }
        }
        Ok(every)
    }

    /// The items of which a predicate holds, or the one whose place it tells.
    fn filter(&mut self, items: Vec<Item>, predicate: &Expr) -> Result<Vec<Item>> {
        if let Expr::Atom(Atom::Int(n)) = predicate {
            let place = usize::try_from(*n).ok().and_then(|n| n.checked_sub(1));
            return Ok(place.and_then(|n| items.into_iter().nth(n)).into_iter().collect());
        }
        let size = items.len();
        let mut out = Vec::new();
        for (i, item) in items.into_iter().enumerate() {
            let focus = Focus { item, position: i + 1, size };
            let found = self.eval(predicate, &focus)?;
            let holds = match found.as_slice() {
                [Item::Atom(n)] if n.is_number() => n.number() == Some((i + 1) as f64),
                found => effective(found),
            };
            if holds {
                out.push(focus.item);
            }
        }
        Ok(out)
    }

    fn path(&mut self, start: Vec<Item>, steps: &[Step]) -> Result<Vec<Item>> {
        let mut nodes: Vec<NodeRef> = start
            .into_iter()
            .filter_map(|item| match item {
                Item::Node(node) => Some(node),
                Item::Atom(_) => None,
            })
            .collect();
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            at += 1;
            // `//a` without predicates walks once over all that is inside.
            let below = step.axis == Axis::DescendantOrSelf
                && step.test == Test::Node
                && step.predicates.is_empty();
            let next =
                steps.get(at).filter(|n| below && n.axis == Axis::Child && n.predicates.is_empty());
            let (axis, test, predicates): (_, _, &[Expr]) = match next {
                Some(next) => {
                    at += 1;
                    (Axis::Descendant, &next.test, &[])
                }
                None => (step.axis, &step.test, &step.predicates),
            };
            let mut found = Vec::new();
            for node in &nodes {
                self.breath.steps(8)?;
                if predicates.is_empty() {
                    walk(node, axis, test, &mut found);
                    continue;
                }
                let mut here = Vec::new();
                walk(node, axis, test, &mut here);
                let mut here: Vec<Item> = here.into_iter().map(Item::Node).collect();
                for predicate in predicates {
                    here = self.filter(here, predicate)?;
                }
                found.extend(here.into_iter().filter_map(|item| match item {
                    Item::Node(node) => Some(node),
                    Item::Atom(_) => None,
                }));
            }
            if nodes.len() > 1 {
                found.sort_by_key(place);
                found.dedup();
            }
            nodes = found;
        }
        Ok(nodes.into_iter().map(Item::Node).collect())
    }
}

/// Document order; of nodes of several documents some order.
pub(super) fn place(node: &NodeRef) -> (usize, u32) {
    (Arc::as_ptr(&node.doc) as usize, node.id)
}

fn walk(node: &NodeRef, axis: Axis, test: &Test, out: &mut Vec<NodeRef>) {
    let (doc, id) = (&node.doc, node.id);
    let mut push = |id: u32| {
        if matches(doc, id, axis, test) {
            out.push(NodeRef { doc: doc.clone(), id });
        }
    };
    match axis {
        Axis::Own => push(id),
        Axis::Parent => doc.parent(id).into_iter().for_each(push),
        Axis::Attribute => breathing(doc.attributes(id)).for_each(push),
        Axis::Child => breathing(doc.children(id)).for_each(push),
        Axis::Descendant | Axis::DescendantOrSelf => {
            if axis == Axis::DescendantOrSelf {
                push(id);
            }
            breathing(id + 1..doc.end(id))
                .filter(|i| !matches!(doc.kind(*i), Kind::Attribute | Kind::Namespace))
                .for_each(push);
        }
    }
}

fn matches(doc: &Document, id: u32, axis: Axis, test: &Test) -> bool {
    let kind = doc.kind(id);
    match test {
        Test::Node => true,
        Test::Text => kind == Kind::Text,
        Test::Comment => kind == Kind::Comment,
        Test::Instruction(name) => {
            kind == Kind::Instruction && name.as_ref().is_none_or(|n| *n == *doc.name(id).local)
        }
        Test::Name { uri, local } => {
            let wanted = if axis == Axis::Attribute { Kind::Attribute } else { Kind::Element };
            kind == wanted && {
                let name = doc.name(id);
                local.as_ref().is_none_or(|l| **l == *name.local)
                    && uri.as_ref().is_none_or(|u| **u == *name.uri)
            }
        }
    }
}

/// True for a node, for a boolean or value that is not nothing.
pub(super) fn effective(items: &[Item]) -> bool {
    match items {
        [] => false,
        [Item::Node(_), ..] => true,
        [Item::Atom(atom)] => match atom {
            Atom::Bool(b) => *b,
            Atom::Untyped(s) | Atom::Text(s) => !s.is_empty(),
            Atom::Bytes(_) => true,
            number => number.number().is_some_and(|n| n != 0.0 && !n.is_nan()),
        },
        _ => true,
    }
}

fn fits(op: Op, order: Ordering) -> bool {
    match op {
        Op::Eq => order.is_eq(),
        Op::Ne => order.is_ne(),
        Op::Lt => order.is_lt(),
        Op::Le => order.is_le(),
        Op::Gt => order.is_gt(),
        Op::Ge => order.is_ge(),
    }
}

/// NaN differs from all; what cannot be compared does not.
fn comparable(a: &Atom, b: &Atom) -> bool {
    !(a.number().is_some_and(f64::is_nan) || b.number().is_some_and(f64::is_nan))
}

fn arith(op: Arith, a: &Atom, b: &Atom) -> Option<Atom> {
    if let (Atom::Int(a), Atom::Int(b)) = (a, b) {
        let whole = match op {
            Arith::Add => a.checked_add(*b),
            Arith::Sub => a.checked_sub(*b),
            Arith::Mul => a.checked_mul(*b),
            Arith::Mod => a.checked_rem(*b),
            Arith::Div => {
                return (*b != 0).then(|| Atom::Decimal(*a as f64 / *b as f64));
            }
        };
        return whole.map(Atom::Int);
    }
    let (x, y) = (a.number()?, b.number()?);
    let n = match op {
        Arith::Add => x + y,
        Arith::Sub => x - y,
        Arith::Mul => x * y,
        Arith::Div => x / y,
        Arith::Mod => x % y,
    };
    let exact = |a: &Atom| matches!(a, Atom::Int(_) | Atom::Decimal(_));
    match exact(a) && exact(b) {
        true => n.is_finite().then_some(Atom::Decimal(n)),
        false => Some(Atom::Double(n)),
    }
}

fn is_of(atom: &Atom, ty: AtomType) -> bool {
    match atom {
        Atom::Untyped(_) => ty == AtomType::Untyped,
        Atom::Text(_) => ty == AtomType::Text,
        Atom::Bool(_) => ty == AtomType::Bool,
        Atom::Int(_) => matches!(ty, AtomType::Int | AtomType::Decimal),
        Atom::Decimal(_) => ty == AtomType::Decimal,
        Atom::Double(_) => ty == AtomType::Double,
        Atom::Bytes(_) => matches!(ty, AtomType::Base64 | AtomType::Hex),
    }
}
