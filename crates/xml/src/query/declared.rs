//! What a schema has no place for: names that it does not have, text() of what has a value, the value of what has none.
//!
//! Only of typed xml, and only where all nodes that a step starts from are declared: 2218 to 2221, 2260 to 2263, 9312, 9314.
//! Source: SQL documentation, "XQuery and Static Typing", "data Function (XQuery)"; texts are those of sys.messages.

use super::check::{Checker, is_values};
use super::tree::{Axis, Expr, Step, Test};
use super::typing::{Declared, NodeType, Reached};
use crate::error::QueryError;

type Result<T> = std::result::Result<T, QueryError>;

const XSD: &str = "http://www.w3.org/2001/XMLSchema";

impl Checker<'_> {
    /// A step from nodes to others; `often` is what a message says of how many the nodes are.
    pub(super) fn check_step(
        &self,
        from: &Reached,
        often: &str,
        step: &Step,
        to: &Reached,
    ) -> Result<()> {
        let Some(typing) = self.given.typing else { return Ok(()) };
        let is_child = step.axis == Axis::Child;
        match &step.test {
            Test::Text if is_child => {
                let valued = from
                    .nodes
                    .iter()
                    .find_map(|node| typing.declared(*node).filter(|d| d.is_simple || d.is_any));
                match valued {
                    None => Ok(()),
                    Some(valued) => {
                        let text = format!(
                            "'text()' is not supported on simple typed or 'http://www.w3.org/2001/XMLSchema#anyType' \
                             elements, found '{}{often}'.",
                            self.shown_element(valued)
                        );
                        Err(QueryError::new(9312, text))
                    }
                }
            }
            Test::Name { uri, local: Some(local) }
                if to.nodes.is_empty() && !from.nodes.is_empty() =>
            {
                let known = |node: &NodeType| match node {
                    NodeType::Document(_) => true,
                    node => typing.declared(*node).is_some(),
                };
                if matches!(step.axis, Axis::Own | Axis::Parent) || !from.nodes.iter().all(known) {
                    return Ok(());
                }
                let uri = uri.as_deref().unwrap_or("");
                Err(self.no_such(from, often, step.axis == Axis::Attribute, uri, local))
            }
            _ => Ok(()),
        }
    }

    fn no_such(
        &self,
        from: &Reached,
        often: &str,
        attribute: bool,
        uri: &str,
        local: &str,
    ) -> QueryError {
        let (what, at) = if attribute { ("attribute", "@") } else { ("element", "") };
        let name = format!("{at}{}", self.shown_name((uri, local)));
        let of: Vec<String> = from
            .nodes
            .iter()
            .filter_map(|node| self.given.typing?.declared(*node))
            .map(|declared| self.shown_element(declared))
            .collect();
        let base = if attribute { 2218 } else { 2260 };
        let qualified = if uri.is_empty() { 0 } else { 2 };
        let (number, text) = match of.as_slice() {
            [] => (base + qualified, format!("There is no {what} named '{name}'")),
            types => {
                let ty = match types {
                    [one] => one.clone(),
                    several => format!("({})", several.join(" | ")),
                };
                let quote = if qualified != 0 && !attribute { '"' } else { '\'' };
                let text = format!(
                    "There is no {what} named {quote}{name}{quote} in the type {quote}{ty}{often}{quote}."
                );
                (base + 1 + qualified, text)
            }
        };
        QueryError::new(number, text)
    }

    /// 9314 for an expression whose values are taken where its elements have none.
    pub(super) fn atomized(&self, e: &Expr, context: &[NodeType]) -> Result<()> {
        let Some(typing) = self.given.typing else { return Ok(()) };
        if is_values(e) {
            return Ok(());
        }
        let reached = self.reached(e, context);
        let complex =
            reached.nodes.iter().find_map(|node| typing.declared(*node).filter(|d| !d.is_simple));
        let Some(complex) = complex else { return Ok(()) };
        let is_item = matches!(e, Expr::Context | Expr::Var(_));
        let text = format!(
            "Cannot implicitly atomize or apply 'fn:data()' to complex content elements, found type '{}' within inferred \
             type '{}{}'.",
            self.shown_type(complex),
            self.shown_element(complex),
            if is_item { "" } else { reached.most.sign() }
        );
        Err(QueryError::new(9314, text))
    }

    /// `element(g{urn:geo}:Root,xs:string)`
    fn shown_element(&self, declared: Declared<'_>) -> String {
        format!("element({},{})", self.shown_name(declared.element), self.shown_type(declared))
    }

    fn shown_type(&self, declared: Declared<'_>) -> String {
        match declared.ty {
            None => "#anonymous".into(),
            Some((uri, local)) if uri == XSD => format!("xs:{local}"),
            Some(name) => self.shown_name(name),
        }
    }

    /// With the prefix that the query has for the namespace.
    fn shown_name(&self, (uri, local): (&str, &str)) -> String {
        if uri.is_empty() {
            return local.to_owned();
        }
        let known = self.namespaces.iter().rev().find(|(_, known)| known == uri);
        let prefix = known.map_or("", |(prefix, _)| prefix);
        format!("{prefix}{{{uri}}}:{local}")
    }
}
