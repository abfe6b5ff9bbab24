//! New nodes: what constructors make, and results as documents.

use super::eval::{Focus, Result, Run};
use super::tree::{Content, Element, Expr};
use super::{Item, root_of};
use crate::document::{Builder, Kind, NodeRef};
use crate::error::XmlError;
use runtime::task::Breath;

/// What a constructor yields.
pub(super) fn made(run: &mut Run<'_>, e: &Expr, focus: &Focus) -> Result<Vec<Item>> {
    let mut builder = Builder::new();
    match e {
        Expr::Element(made) => element(run, &mut builder, made, focus)?,
        Expr::Text(value) => {
            let atoms = run.atoms(value, focus)?;
            if atoms.is_empty() {
                return Ok(Vec::new());
            }
            builder.text(&join(&atoms));
        }
        Expr::Comment(text) => builder.comment(text),
        Expr::Attribute { name, value } => {
            // An attribute needs an element to stand on.
            let value = join(&run.atoms(value, focus)?);
            builder.start("", "attribute", "");
            builder.attribute(&name.prefix, &name.local, &name.uri, &value);
            let doc = root_of(builder.finish()).doc;
            return Ok(vec![Item::Node(NodeRef { doc, id: 2 })]);
        }
        _ => {}
    }
    let doc = root_of(builder.finish()).doc;
    let first = doc.children(0).next();
    Ok(first.map(|id| Item::Node(NodeRef { doc, id })).into_iter().collect())
}

fn element(run: &mut Run<'_>, builder: &mut Builder, e: &Element, focus: &Focus) -> Result<()> {
    if builder.depth() >= crate::DEPTH_MAX {
        return Err(XmlError::too_deep());
    }
    builder.start(&e.name.prefix, &e.name.local, &e.name.uri);
    for (prefix, uri) in &e.namespaces {
        builder.namespace(prefix, uri);
    }
    for (name, parts) in &e.attributes {
        let mut value = String::new();
        for part in parts {
            value.push_str(&join(&run.atoms(part, focus)?));
        }
        builder.attribute(&name.prefix, &name.local, &name.uri, &value);
    }
    for part in &e.content {
        match part {
            Content::Text(text) => builder.text(text),
            Content::Expr(Expr::Element(inner)) => element(run, builder, inner, focus)?,
            Content::Expr(inner) => {
                let items = run.eval(inner, focus)?;
                content(builder, &items)?;
            }
        }
    }
    builder.end();
    Ok(())
}

/// Values with blanks between.
fn join(atoms: &[super::Atom]) -> String {
    let texts: Vec<String> = atoms.iter().map(super::Atom::to_text).collect();
    texts.join(" ")
}

/// Items at the end of what is built: copies of nodes, values as text with blanks between.
pub(super) fn content(builder: &mut Builder, items: &[Item]) -> Result<()> {
    let mut value_before = false;
    let mut breath = Breath::new();
    for item in items {
        breath.steps(8)?;
        match item {
            Item::Atom(atom) => {
                if value_before {
                    builder.text(" ");
                }
                builder.text(&atom.to_text());
                value_before = true;
            }
            Item::Node(node) => {
                value_before = false;
                if node.doc.kind(node.id) == Kind::Attribute {
                    let name = node.doc.name(node.id);
                    if !builder.takes_attribute() {
                        return Err(XmlError::new(
                            6307,
                            "XML well-formedness check: Attribute cannot appear outside of element declaration. \
                             Rewrite your XQuery so it returns well-formed XML.",
                        ));
                    }
                    if builder.has_attribute(&name.local, &name.uri) {
                        let text = format!(
                            "XML well-formedness check: Duplicate attribute '{}'. Rewrite your XQuery so it returns \
                             well-formed XML.",
                            name.local
                        );
                        return Err(XmlError::new(6308, text));
                    }
                }
                if builder.depth() + node.doc.height(node.id) > crate::DEPTH_MAX {
                    return Err(XmlError::too_deep());
                }
                builder.copy(&node.doc, node.id);
            }
        }
    }
    Ok(())
}
