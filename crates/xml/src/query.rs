//! XQuery, as much of it as SQL Server has: compiled once, run on many documents.

mod atom;
mod change;
mod check;
mod construct;
mod declared;
mod eval;
mod functions;
mod parser;
mod tree;
mod typing;

pub use atom::{Atom, AtomType};
pub use change::Change;
pub use tree::External;
pub use typing::{Declared, Given, NodeType, Occurs, Reached, Typing, Wanted};

use crate::document::{Builder, Document, NodeRef};
use crate::error::{QueryError, XmlError};
use runtime::task::Many;
use std::sync::Arc;
use tree::Expr;

/// Namespaces declared outside of a query (WITH XMLNAMESPACES): prefix, empty for the default one, and URI.
pub type Namespaces = [(String, String)];

/// A compiled query.
#[derive(Debug)]
pub struct Query {
    source: String,
    expr: Expr,
    externals: Vec<External>,
    slots: usize,
    /// What it yields, and what 2389 calls its values.
    yields: Reached,
    shown: String,
    /// 9314 for who takes their values.
    complex: Option<QueryError>,
}

/// An item of a result.
#[derive(Clone, Debug)]
pub enum Item {
    /// A node of some document.
    Node(NodeRef),
    /// A value.
    Atom(Atom),
}

impl PartialEq for Query {
    fn eq(&self, other: &Query) -> bool {
        self.source == other.source && self.externals == other.externals
    }
}

impl Query {
    /// Compiles a query of untyped xml.
    pub fn compile(source: &str, namespaces: &Namespaces) -> Result<Query, QueryError> {
        Query::compile_for(source, namespaces, Given::UNTYPED)
    }

    /// Compiles a query of xml of which something is known.
    pub fn compile_for(
        source: &str,
        namespaces: &Namespaces,
        given: Given<'_>,
    ) -> Result<Query, QueryError> {
        let parsed = parser::query(source, namespaces)?;
        let mut checker = check::Checker::new(given, parsed.namespaces);
        checker.check(&parsed.expr)?;
        let yields = checker.yields(&parsed.expr);
        let shown = checker.atom_type(&parsed.expr, &yields);
        let complex = checker.atomized(&parsed.expr, given.context).err();
        Ok(Query {
            source: source.to_owned(),
            expr: parsed.expr,
            externals: parsed.externals,
            slots: parsed.slots,
            yields,
            shown,
            complex,
        })
    }

    /// The text that it was compiled from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it takes from outside: sql:variable and sql:column, in the order of [`Query::run`]'s `externals`.
    pub fn externals(&self) -> &[External] {
        &self.externals
    }

    /// 2389 unless it yields one item at most.
    pub fn check_singleton(&self, who: &str) -> Result<(), QueryError> {
        match self.yields.most <= Occurs::Once {
            true => Ok(()),
            false => Err(QueryError::singleton(who, &self.shown)),
        }
    }

    /// 9314 where it yields elements that have no value by their schema.
    pub fn check_values(&self) -> Result<(), QueryError> {
        self.complex.clone().map_or(Ok(()), Err)
    }

    /// What the nodes that it yields may be.
    pub fn node_types(&self) -> &[NodeType] {
        &self.yields.nodes
    }

    /// 2374 unless it yields nodes.
    pub fn check_nodes(&self, who: &str) -> Result<(), QueryError> {
        match check::is_nodes(&self.expr) {
            true => Ok(()),
            false => {
                let text = format!("A node or set of nodes is required for {who}");
                Err(QueryError::new(2374, text))
            }
        }
    }

    /// 2396 if it yields attributes, which stand in no result alone.
    pub fn check_content(&self) -> Result<(), QueryError> {
        match check::is_attributes(&self.expr) {
            true => Err(QueryError::new(2396, "Attribute may not appear outside of an element")),
            false => Ok(()),
        }
    }

    /// Is it the whole of what it is asked of? `.`, `(.)[1]`, `/`
    pub fn is_context(&self) -> bool {
        matches!(self.squeezed().as_str(), "." | "(.)" | "(.)[1]" | ".[1]" | "/" | "(/)" | "(/)[1]")
    }

    fn squeezed(&self) -> String {
        self.source.chars().filter(|c| !c.is_ascii_whitespace()).collect()
    }

    /// Is it all text of the node it is asked of, if that holds text alone? `.`, `text()[1]`, `(./text())[1]`
    pub fn is_plain_text(&self) -> bool {
        let squeezed: String = self.source.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        matches!(squeezed.as_str(), "text()[1]" | "(text())[1]" | "./text()[1]" | "(./text())[1]")
    }

    /// Runs it on a node.
    pub fn run(
        &self,
        context: &NodeRef,
        externals: &[Option<Item>],
    ) -> Result<Vec<Item>, XmlError> {
        eval::run(&self.expr, self.slots, context, externals)
    }

    /// Runs it, and the first item as a value.
    pub fn first(
        &self,
        context: &NodeRef,
        externals: &[Option<Item>],
    ) -> Result<Option<Atom>, XmlError> {
        let items = self.run(context, externals)?;
        Ok(items.first().filter(|item| !item.is_nil()).map(Item::atom))
    }

    /// Runs it, and the result as a document: nodes are copied, values become text.
    pub fn document(
        &self,
        context: &NodeRef,
        externals: &[Option<Item>],
    ) -> Result<Document, XmlError> {
        let items = Many::from(self.run(context, externals)?);
        let mut builder = Builder::new();
        construct::content(&mut builder, &items)?;
        Ok(builder.finish())
    }
}

impl Item {
    /// An element that has no value, by `xsi:nil` and its document's schema.
    pub fn is_nil(&self) -> bool {
        matches!(self, Item::Node(node) if node.doc.value_type(node.id) == AtomType::Nothing)
    }

    /// Its value: of a node its text, or what that is by the document's schema.
    pub fn atom(&self) -> Atom {
        match self {
            Item::Node(node) => {
                let text = Atom::Untyped(node.doc.string_value(node.id));
                match node.doc.value_type(node.id) {
                    AtomType::Untyped => text,
                    ty => text.cast(ty).unwrap_or(text),
                }
            }
            Item::Atom(atom) => atom.clone(),
        }
    }
}

/// A result of one item for a whole document.
pub(crate) fn root_of(document: Document) -> NodeRef {
    NodeRef::root(Arc::new(document))
}
