//! What a schema says of the nodes that a query names, before there is a document.
//!
//! The schema itself is another crate's ([`Typing`]); here are its answers put together along paths: which declarations
//! a step may reach, and whether it may reach more than one node. Of untyped xml nothing is known but that an attribute
//! of a name is one. Source: SQL documentation, "XQuery and Static Typing".

use super::tree::{Axis, Expr, Step, Test};
use crate::value_type::AtomType;
use std::fmt;

/// What a node may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeType {
    /// Nothing is known of it.
    Unknown,
    /// A document; true for one that has a single element at its top.
    Document(bool),
    /// An element, by the number of its declaration.
    Element(u32),
    /// An attribute, by the number of its type.
    Attribute(u32),
    /// A text, a comment, an instruction.
    Leaf,
}

/// How many nodes at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Occurs {
    Never,
    Once,
    Often,
}

impl Occurs {
    /// Of the one, then of the other.
    pub fn and(self, other: Occurs) -> Occurs {
        match (self, other) {
            (Occurs::Never, n) | (n, Occurs::Never) => n,
            _ => Occurs::Often,
        }
    }

    /// So many for each.
    pub fn times(self, each: Occurs) -> Occurs {
        match (self, each) {
            (Occurs::Never, _) | (_, Occurs::Never) => Occurs::Never,
            (Occurs::Once, n) | (n, Occurs::Once) => n,
            _ => Occurs::Often,
        }
    }

    /// What stands behind a type for it.
    pub fn sign(self) -> &'static str {
        match self {
            Occurs::Often => " *",
            _ => " ?",
        }
    }
}

/// A name that is looked for; `None` is any.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'n> {
    /// The namespace.
    pub uri: Option<&'n str>,
    /// The name without its prefix.
    pub local: Option<&'n str>,
}

impl Wanted<'_> {
    /// Is it this one?
    pub fn is(&self, uri: &str, local: &str) -> bool {
        self.local.is_none_or(|l| l == local) && self.uri.is_none_or(|u| u == uri)
    }
}

/// Nodes that may be reached, and how many of them from one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// What they may be, each once; what yields values has the nodes that these are of.
    pub nodes: Vec<NodeType>,
    /// How many.
    pub most: Occurs,
}

impl Reached {
    pub(super) fn of(nodes: &[NodeType], most: Occurs) -> Reached {
        Reached { nodes: nodes.to_vec(), most }
    }

    /// No node, but one value.
    pub(super) fn value() -> Reached {
        Reached { nodes: Vec::new(), most: Occurs::Once }
    }

    fn unknown(most: Occurs) -> Reached {
        Reached { nodes: vec![NodeType::Unknown], most }
    }

    pub(super) fn merge(&mut self, nodes: &[NodeType]) {
        for node in nodes {
            runtime::task::stepped();
            if !self.nodes.contains(node) {
                self.nodes.push(*node);
            }
        }
    }
}

/// A schema, as far as queries ask it.
pub trait Typing: fmt::Debug {
    /// Elements directly inside of a document or an element.
    fn children(&self, of: NodeType, wanted: Wanted<'_>) -> Reached;
    /// Attributes of an element.
    fn attributes(&self, of: NodeType, wanted: Wanted<'_>) -> Reached;
    /// What the value of an element of simple content or of an attribute is, and the name of XML Schema's type for it; none
    /// of other nodes, and none of a union.
    fn value(&self, of: NodeType) -> Option<(AtomType, String)>;
    /// How an element is declared; none of other nodes.
    fn declared(&self, of: NodeType) -> Option<Declared<'_>>;
}

/// What messages say of an element's declaration.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'s> {
    /// Namespace and name of the element.
    pub element: (&'s str, &'s str),
    /// Namespace and name of its type, where that has one.
    pub ty: Option<(&'s str, &'s str)>,
    /// Has it a value: is its content simple?
    pub is_simple: bool,
    /// Is its type xs:anyType?
    pub is_any: bool,
}

/// What a query is asked of.
#[derive(Clone, Copy, Debug)]
pub struct Given<'g> {
    /// The schema of typed xml.
    pub typing: Option<&'g dyn Typing>,
    /// What `/` is.
    pub root: NodeType,
    /// What `.` may be.
    pub context: &'g [NodeType],
}

impl Given<'_> {
    /// Untyped xml.
    pub const UNTYPED: Given<'static> =
        Given { typing: None, root: NodeType::Unknown, context: &[NodeType::Unknown] };
}

/// What a step reaches from nodes.
pub(super) fn step(typing: Option<&dyn Typing>, from: &Reached, step: &Step) -> Reached {
    let mut found = Reached { nodes: Vec::new(), most: Occurs::Never };
    for node in &from.nodes {
        let here = match typing {
            Some(typing) => typed(typing, *node, step.axis, &step.test),
            None => untyped(step.axis, &step.test),
        };
        found.most = found.most.max(here.most);
        found.merge(&here.nodes);
    }
    if step.predicates.iter().any(is_one_position) {
        found.most = found.most.min(Occurs::Once);
    }
    found.most = from.most.times(found.most);
    found
}

/// `[1]`, `[last()]`
pub(super) fn is_one_position(e: &Expr) -> bool {
    matches!(e, Expr::Atom(super::Atom::Int(_)) | Expr::Call(super::tree::Func::Last, _))
}

fn untyped(axis: Axis, test: &Test) -> Reached {
    Reached::unknown(match axis {
        Axis::Own | Axis::Parent => Occurs::Once,
        Axis::Attribute if matches!(test, Test::Name { uri: Some(_), local: Some(_) }) => {
            Occurs::Once
        }
        _ => Occurs::Often,
    })
}

fn typed(typing: &dyn Typing, node: NodeType, axis: Axis, test: &Test) -> Reached {
    let wanted = match test {
        Test::Name { uri, local } => Some(Wanted { uri: uri.as_deref(), local: local.as_deref() }),
        _ => None,
    };
    match (axis, wanted) {
        _ if node == NodeType::Unknown => untyped(axis, test),
        (Axis::Own, _) => Reached::of(&[node], Occurs::Once),
        (Axis::Parent, _) => Reached::unknown(Occurs::Once),
        (Axis::Attribute, Some(wanted)) => typing.attributes(node, wanted),
        (Axis::Attribute, None) => Reached::unknown(Occurs::Often),
        (Axis::Child, Some(wanted)) => typing.children(node, wanted),
        (Axis::Child, None) => match test {
            Test::Node => Reached::unknown(Occurs::Often),
            Test::Text if typing.value(node).is_some() => {
                Reached::of(&[NodeType::Leaf], Occurs::Once)
            }
            _ => Reached::of(&[NodeType::Leaf], Occurs::Often),
        },
        (Axis::Descendant | Axis::DescendantOrSelf, wanted) => {
            below(typing, node, axis == Axis::DescendantOrSelf, wanted, test)
        }
    }
}

/// What is anywhere inside of a node.
fn below(
    typing: &dyn Typing,
    node: NodeType,
    or_self: bool,
    wanted: Option<Wanted<'_>>,
    test: &Test,
) -> Reached {
    if wanted.is_none() && *test != Test::Node {
        return Reached::of(&[NodeType::Leaf], Occurs::Often);
    }
    let any = Wanted { uri: None, local: None };
    let mut inside = vec![node];
    let mut seen = std::collections::HashSet::from([node]);
    let mut found = Reached { nodes: Vec::new(), most: Occurs::Often };
    if or_self && wanted.is_none() {
        found.nodes.push(node);
    }
    let mut at = 0;
    while let Some(from) = inside.get(at).copied() {
        at += 1;
        runtime::task::stepped();
        if from == NodeType::Unknown {
            continue;
        }
        for child in typing.children(from, any).nodes {
            if seen.insert(child) {
                inside.push(child);
                if wanted.is_none() {
                    found.nodes.push(child);
                }
            }
        }
        if let Some(wanted) = wanted {
            let here = typing.children(from, wanted);
            found.merge(&here.nodes);
        }
    }
    found
}
