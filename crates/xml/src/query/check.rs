//! What is known of a query before it runs: whether it yields one item at most, whether nodes, and what these may be.
//!
//! SQL Server types queries statically: what takes one item refuses what may be several (2389). Source: SQL
//! documentation, "XQuery and Static Typing", "value() Method".

use super::tree::{Axis, Clause, Content, Expr, Func, Step, Test};
use super::typing::{Given, NodeType, Occurs, Reached, is_one_position, step};
use crate::error::QueryError;
use crate::value_type::AtomType;
use std::collections::HashMap;

type Result<T> = std::result::Result<T, QueryError>;

/// At most one item, whatever the document is, of untyped xml?
pub(super) fn is_single(e: &Expr) -> bool {
    let checker = Checker::new(Given::UNTYPED, Vec::new());
    checker.reached(e, Given::UNTYPED.context).most <= Occurs::Once
}

/// Nodes, and nothing else?
pub(super) fn is_nodes(e: &Expr) -> bool {
    match e {
        Expr::Root | Expr::Context | Expr::Element(_) | Expr::Path(..) => true,
        Expr::Filter(inner, _) => is_nodes(inner),
        Expr::Sequence(list) => list.iter().all(is_nodes),
        Expr::If(parts) => is_nodes(&parts[1]) && is_nodes(&parts[2]),
        Expr::Flwor(f) => is_nodes(&f.result) || matches!(f.result, Expr::Var(_)),
        Expr::Var(_) => true,
        _ => false,
    }
}

/// Attributes at its end?
pub(super) fn is_attributes(e: &Expr) -> bool {
    match e {
        Expr::Path(_, steps) => steps.last().is_some_and(|s| s.axis == Axis::Attribute),
        Expr::Filter(inner, _) => is_attributes(inner),
        Expr::Sequence(list) => list.iter().any(is_attributes),
        Expr::Attribute { .. } => true,
        _ => false,
    }
}

/// Is it, or may it be, XML that the query makes? What is made is only handed on.
fn is_constructed(e: &Expr) -> bool {
    match e {
        Expr::Element(_) | Expr::Attribute { .. } | Expr::Text(_) | Expr::Comment(_) => true,
        Expr::Sequence(list) => list.iter().any(is_constructed),
        Expr::If(parts) => parts[1..].iter().any(is_constructed),
        Expr::Flwor(f) => is_constructed(&f.result),
        _ => false,
    }
}

/// 2373 for what looks into XML that the query makes.
fn not_constructed(who: &str, e: &Expr) -> Result<()> {
    match is_constructed(e) {
        false => Ok(()),
        true => {
            let text = format!("{who} is not supported with constructed XML");
            Err(QueryError::new(2373, text))
        }
    }
}

/// Values, and no nodes?
pub(super) fn is_values(e: &Expr) -> bool {
    match e {
        Expr::Atom(_)
        | Expr::Call(..)
        | Expr::Or(..)
        | Expr::And(..)
        | Expr::Compare { .. }
        | Expr::Order { .. }
        | Expr::Arith { .. }
        | Expr::Negate(_)
        | Expr::Cast(..)
        | Expr::InstanceOf(..)
        | Expr::Quantified { .. } => true,
        Expr::Filter(inner, _) => is_values(inner),
        Expr::Sequence(list) => !list.is_empty() && list.iter().all(is_values),
        _ => false,
    }
}

/// A walk over a query that knows what it is asked of.
pub(super) struct Checker<'g> {
    pub(super) given: Given<'g>,
    /// Prefixes and what they mean, for messages.
    pub(super) namespaces: Vec<(String, String)>,
    /// Of the variables that have been met, by their slots.
    variables: HashMap<usize, Reached>,
}

impl<'g> Checker<'g> {
    pub fn new(given: Given<'g>, namespaces: Vec<(String, String)>) -> Checker<'g> {
        Checker { given, namespaces, variables: HashMap::new() }
    }

    /// 2389 for what takes one item and gets more; 2371 for position() and last() outside of predicates.
    pub fn check(&mut self, e: &Expr) -> Result<()> {
        self.walk(e, false, self.given.context)
    }

    /// What an expression that has been checked yields.
    pub fn yields(&self, e: &Expr) -> Reached {
        self.reached(e, self.given.context)
    }

    pub fn is_single(&self, e: &Expr) -> bool {
        self.yields(e).most <= Occurs::Once
    }

    /// The type in message 2389.
    pub fn atom_type(&self, e: &Expr, reached: &Reached) -> String {
        let typed = self.given.typing.and_then(|t| t.value(*reached.nodes.first()?));
        match typed {
            Some((_, name)) => name,
            None if is_nodes(e) => "xdt:untypedAtomic".into(),
            None => "xdt:anyAtomicType".into(),
        }
    }

    /// The one type that the values of nodes have by the schema.
    pub fn value_of(&self, nodes: &[NodeType]) -> Option<(AtomType, String)> {
        let typing = self.given.typing?;
        let mut all = nodes.iter().map(|node| typing.value(*node));
        let first = all.next()??;
        all.all(|other| other.is_some_and(|o| o.0 == first.0)).then_some(first)
    }

    /// The type of the values that an expression yields, where the query alone tells it.
    pub fn value_type(&self, e: &Expr) -> Option<(AtomType, String)> {
        use super::Atom;
        let named = |ty: AtomType| Some((ty, ty.shown().to_owned()));
        match e {
            Expr::Atom(atom) => named(match atom {
                Atom::Text(_) => AtomType::Text,
                Atom::Int(_) => AtomType::Int,
                Atom::Decimal(_) => AtomType::Decimal,
                Atom::Double(_) => AtomType::Double,
                Atom::Bool(_) => AtomType::Bool,
                Atom::Untyped(_) | Atom::Bytes(_) => return None,
            }),
            Expr::Sequence(list) => match list.as_slice() {
                [one] => self.value_type(one),
                _ => None,
            },
            Expr::Filter(inner, _) => self.value_type(inner),
            Expr::Cast(_, ty) => named(*ty),
            Expr::Call(Func::Data, args) => self.value_type(&args[0]),
            Expr::Call(Func::Text | Func::Concat | Func::Substring, _) => named(AtomType::Text),
            Expr::If(parts) => {
                let then = self.value_type(&parts[1])?;
                (self.value_type(&parts[2])?.0 == then.0).then_some(then)
            }
            Expr::Path(..) | Expr::Var(_) => self.value_of(&self.yields(e).nodes),
            _ => None,
        }
    }

    /// 2210 for values and nodes in one sequence.
    fn alike(&self, list: &[Expr], context: &[NodeType]) -> Result<()> {
        let value = list.iter().find(|e| is_values(e));
        let node = list
            .iter()
            .find(|e| matches!(e, Expr::Path(..) | Expr::Element(_) | Expr::Attribute { .. }));
        let (Some(value), Some(node)) = (value, node) else { return Ok(()) };
        let of_value = self.value_type(value).map_or("xdt:anyAtomicType".into(), |(_, name)| name);
        let shown = match node {
            Expr::Element(made) => format!("element({},xdt:untyped)", made.name.local),
            Expr::Attribute { name, .. } => format!("attribute({},xdt:untypedAtomic)", name.local),
            Expr::Path(_, steps) => self.shown(steps.last(), self.reached(node, context).most),
            _ => "node()".into(),
        };
        let text =
            format!("Heterogeneous sequences are not allowed: found '{of_value}' and '{shown}'");
        Err(QueryError::new(2210, text))
    }

    /// What a path yields by its last step.
    fn shown(&self, last: Option<&Step>, most: Occurs) -> String {
        let sign = if most == Occurs::Often { "*" } else { "?" };
        let Some(last) = last else { return "node()".into() };
        let name = match &last.test {
            Test::Name { local, .. } => local.as_deref().unwrap_or("*"),
            Test::Text => return format!("text {sign}"),
            Test::Comment => return format!("comment {sign}"),
            Test::Instruction(_) => return format!("processing-instruction {sign}"),
            Test::Node => return format!("node() {sign}"),
        };
        match last.axis {
            Axis::Attribute => format!("attribute({name},xdt:untypedAtomic) {sign}"),
            _ => format!("element({name},xdt:untyped) {sign}"),
        }
    }

    pub(super) fn reached(&self, e: &Expr, context: &[NodeType]) -> Reached {
        match e {
            Expr::Sequence(list) => match list.as_slice() {
                [one] => self.reached(one, context),
                list => {
                    let mut all = Reached { nodes: Vec::new(), most: Occurs::Never };
                    for e in list {
                        let one = self.reached(e, context);
                        all.most = all.most.and(one.most);
                        all.merge(&one.nodes);
                    }
                    all
                }
            },
            Expr::Root => Reached::of(&[self.given.root], Occurs::Once),
            Expr::Context => Reached::of(context, Occurs::Once),
            Expr::Path(start, steps) => {
                let start = self.reached(start, context);
                steps.iter().fold(start, |from, s| step(self.given.typing, &from, s))
            }
            Expr::Filter(inner, predicates) => {
                let mut found = self.reached(inner, context);
                if predicates.iter().any(is_one_position) {
                    found.most = found.most.min(Occurs::Once);
                }
                found
            }
            Expr::If(parts) => {
                let mut found = self.reached(&parts[1], context);
                let other = self.reached(&parts[2], context);
                found.most = found.most.max(other.most);
                found.merge(&other.nodes);
                found
            }
            Expr::Call(Func::Data | Func::DistinctValues, args) => self.reached(&args[0], context),
            // A variable of `for` is one item; of `let` it may be more.
            Expr::Var(slot) => match self.variables.get(slot) {
                Some(known) => known.clone(),
                None => {
                    let single = slot.is_multiple_of(2);
                    let most = if single { Occurs::Once } else { Occurs::Often };
                    Reached::of(&[NodeType::Unknown], most)
                }
            },
            Expr::Flwor(_) => Reached::of(&[NodeType::Unknown], Occurs::Often),
            Expr::Element(_) => Reached::of(&[NodeType::Unknown], Occurs::Once),
            _ => Reached::value(),
        }
    }

    fn single(&self, who: &str, e: &Expr, context: &[NodeType]) -> Result<()> {
        let reached = self.reached(e, context);
        match reached.most <= Occurs::Once {
            true => Ok(()),
            false => Err(QueryError::singleton(who, &self.atom_type(e, &reached))),
        }
    }

    fn steps(&mut self, start: &Expr, list: &[Step], context: &[NodeType]) -> Result<()> {
        let mut from = self.reached(start, context);
        // One item, whose type stands for itself.
        let mut often = match start {
            Expr::Context | Expr::Var(_) if from.most <= Occurs::Once => "",
            _ => from.most.sign(),
        };
        for s in list {
            let to = step(self.given.typing, &from, s);
            self.check_step(&from, often, s, &to)?;
            often = to.most.sign();
            from = to;
            for predicate in &s.predicates {
                self.walk(predicate, true, &from.nodes)?;
            }
        }
        Ok(())
    }

    fn bind(&mut self, slot: usize, input: &Expr, each: bool, context: &[NodeType]) {
        let mut found = self.reached(input, context);
        if each {
            found.most = Occurs::Once;
        }
        self.variables.insert(slot, found);
    }

    fn walk_all(&mut self, list: &[Expr], predicate: bool, context: &[NodeType]) -> Result<()> {
        list.iter().try_for_each(|e| self.walk(e, predicate, context))
    }

    fn walk(&mut self, e: &Expr, predicate: bool, context: &[NodeType]) -> Result<()> {
        match e {
            Expr::Atom(_)
            | Expr::Root
            | Expr::Context
            | Expr::Var(_)
            | Expr::External(_)
            | Expr::Comment(_) => Ok(()),
            Expr::Sequence(list) => {
                self.walk_all(list, predicate, context)?;
                self.alike(list, context)
            }
            Expr::Path(start, list) => {
                self.walk(start, predicate, context)?;
                not_constructed("'/'", start)?;
                self.steps(start, list, context)
            }
            Expr::Filter(of, predicates) => {
                self.walk(of, predicate, context)?;
                not_constructed("'[]'", of)?;
                let inside = self.reached(of, context);
                self.walk_all(predicates, true, &inside.nodes)
            }
            Expr::Call(func, args) => {
                if matches!(func, Func::Position | Func::Last) && !predicate {
                    let name = func.name();
                    let text =
                        format!("'{name}()' can only be used within a predicate or XPath selector");
                    return Err(QueryError::new(2371, text));
                }
                self.walk_all(args, predicate, context)?;
                if *func != Func::Not {
                    let name = format!("{}()", func.name());
                    args.iter().try_for_each(|a| not_constructed(&name, a))?;
                }
                if !matches!(func, Func::Text | Func::Not | Func::Count | Func::Empty)
                    && !matches!(func, Func::LocalName | Func::NamespaceUri)
                {
                    args.iter().try_for_each(|a| self.atomized(a, context))?;
                }
                if func.takes_singletons() {
                    let name = format!("{}()", func.name());
                    args.iter().try_for_each(|a| self.single(&name, a, context))?;
                }
                Ok(())
            }
            Expr::Or(a, b) | Expr::And(a, b) => {
                self.walk(a, predicate, context)?;
                self.walk(b, predicate, context)
            }
            Expr::Compare { op, general, left, right } => {
                self.walk(left, predicate, context)?;
                self.walk(right, predicate, context)?;
                not_constructed("data()", left)?;
                not_constructed("data()", right)?;
                self.atomized(left, context)?;
                self.atomized(right, context)?;
                if !general {
                    let name = super::parser::value_operator(*op);
                    self.single(name, left, context)?;
                    self.single(name, right, context)?;
                }
                Ok(())
            }
            Expr::Order { left, right, .. } => {
                self.walk(left, predicate, context)?;
                self.walk(right, predicate, context)?;
                self.single("is", left, context)?;
                self.single("is", right, context)
            }
            Expr::Arith { op, left, right } => {
                self.walk(left, predicate, context)?;
                self.walk(right, predicate, context)?;
                not_constructed("data()", left)?;
                not_constructed("data()", right)?;
                self.atomized(left, context)?;
                self.atomized(right, context)?;
                let name = super::parser::arith_operator(*op);
                self.single(name, left, context)?;
                self.single(name, right, context)
            }
            Expr::Negate(a) => {
                self.walk(a, predicate, context)?;
                self.atomized(a, context)?;
                self.single("-", a, context)
            }
            Expr::If(parts) => {
                self.walk_all(&parts[..], predicate, context)?;
                self.alike(&parts[1..], context)
            }
            Expr::Flwor(f) => {
                for clause in &f.clauses {
                    let (slot, input, each) = match clause {
                        Clause::For { slot, input } => (slot, input, true),
                        Clause::Let { slot, input } => (slot, input, false),
                    };
                    self.walk(input, predicate, context)?;
                    not_constructed(if each { "'for'" } else { "'let'" }, input)?;
                    self.bind(*slot, input, each, context);
                }
                if let Some(filter) = &f.filter {
                    self.walk(filter, predicate, context)?;
                }
                for (key, _) in &f.order {
                    self.walk(key, predicate, context)?;
                    self.atomized(key, context)?;
                    self.single("order by", key, context)?;
                }
                self.walk(&f.result, predicate, context)
            }
            Expr::Quantified { every, binds, test } => {
                for (slot, input) in binds {
                    self.walk(input, predicate, context)?;
                    not_constructed(if *every { "'every'" } else { "'some'" }, input)?;
                    self.bind(*slot, input, true, context);
                }
                self.walk(test, predicate, context)
            }
            Expr::Element(element) => {
                for (_, parts) in &element.attributes {
                    self.walk_all(parts, predicate, context)?;
                }
                element.content.iter().try_for_each(|c| match c {
                    Content::Expr(e) => self.walk(e, predicate, context),
                    Content::Text(_) => Ok(()),
                })
            }
            Expr::Attribute { value, .. } => self.walk(value, predicate, context),
            Expr::Text(value) => self.walk(value, predicate, context),
            Expr::Cast(of, _) => {
                self.walk(of, predicate, context)?;
                self.atomized(of, context)?;
                self.single("cast as", of, context)
            }
            Expr::InstanceOf(of, _) => self.walk(of, predicate, context),
        }
    }
}
