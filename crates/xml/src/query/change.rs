//! XML DML: `insert`, `delete`, `replace value of`. The document is copied with what changes.
//!
//! Source: SQL documentation, "XML Data Modification Language (XML DML)".

use super::check::{self, Checker};
use super::construct::content;
use super::eval::run;
use super::parser::{Dml, ParsedDml, Place, dml};
use super::tree::{Expr, External};
use super::typing::Given;
use super::{Item, Namespaces};
use crate::document::{Builder, Document, Edit, Kind, NodeRef};
use crate::error::{QueryError, XmlError};
use std::collections::HashSet;
use std::sync::Arc;

/// A compiled statement of XML DML.
#[derive(Debug)]
pub struct Change {
    source: String,
    kind: ChangeKind,
    externals: Vec<External>,
    slots: usize,
}

#[derive(Debug)]
enum ChangeKind {
    Insert { what: Expr, place: Place, target: Expr },
    Delete(Expr),
    Replace { target: Expr, with: Expr },
}

impl PartialEq for Change {
    fn eq(&self, other: &Change) -> bool {
        self.source == other.source && self.externals == other.externals
    }
}

impl Change {
    /// Compiles a statement for untyped xml.
    pub fn compile(source: &str, namespaces: &Namespaces) -> Result<Change, QueryError> {
        Change::compile_for(source, namespaces, Given::UNTYPED)
    }

    /// Compiles a statement for xml of which something is known.
    pub fn compile_for(
        source: &str,
        namespaces: &Namespaces,
        given: Given<'_>,
    ) -> Result<Change, QueryError> {
        let ParsedDml { made, externals, slots, namespaces } = dml(source, namespaces)?;
        let mut checker = Checker::new(given, namespaces);
        let kind = match made {
            Dml::Insert { what, place, target } => {
                checker.check(&what)?;
                checker.check(&target)?;
                if !checker.is_single(&target) {
                    let text = "The target of 'insert' must be a single node, found 'element(*,xdt:untyped) *'";
                    return Err(QueryError::new(2226, text));
                }
                let wanted = matches!(place, Place::First | Place::Last);
                let attribute = check::is_attributes(&what);
                if attribute && !wanted {
                    let text = "The position may not be specified when inserting an attribute node, found \
                                'attribute(*,xdt:untypedAtomic)'";
                    return Err(QueryError::new(2258, text));
                }
                if check::is_attributes(&target) {
                    let (number, text) = match wanted {
                        true => (
                            2240,
                            "The target of 'insert into' must be an element/document node, found \
                             'attribute(*,xdt:untypedAtomic) ?'",
                        ),
                        false => (
                            2249,
                            "The target of 'insert before/after' must be an element/PI/comment/text node, found \
                             'attribute(*,xdt:untypedAtomic) ?'",
                        ),
                    };
                    return Err(QueryError::new(number, text));
                }
                ChangeKind::Insert { what, place, target }
            }
            Dml::Delete(target) => {
                checker.check(&target)?;
                if matches!(target, Expr::Root) || !check::is_nodes(&target) {
                    let found =
                        if matches!(target, Expr::Root) { "document-node()" } else { "xs:anyType" };
                    let text = format!("Only non-document nodes may be deleted, found '{found}'");
                    return Err(QueryError::new(2264, text));
                }
                ChangeKind::Delete(target)
            }
            Dml::Replace { target, with } => {
                checker.check(&target)?;
                checker.check(&with)?;
                if !checker.is_single(&target) {
                    let found = match check::is_attributes(&target) {
                        true => "attribute(*,xdt:untypedAtomic) *",
                        false if ends_in_text(&target) => "text *",
                        false => "element(*,xdt:untyped) *",
                    };
                    let text = format!(
                        "The target of 'replace' must be at most one node, found '{found}'"
                    );
                    return Err(QueryError::new(2337, text));
                }
                let typed = checker.value_of(&checker.yields(&target).nodes);
                if typed.is_none() && !check::is_attributes(&target) && !ends_in_text(&target) {
                    let text = "The target of 'replace value of' must be a non-metadata attribute or an element \
                                with simple typed content, found 'element(*,xdt:untyped) ?'";
                    return Err(QueryError::new(2356, text));
                }
                if let (Some((wanted, expected)), Some((given, found))) =
                    (typed, checker.value_type(&with))
                    && !given.is_sub_of(wanted)
                {
                    let text = format!(
                        "The value is of type \"{found}\", which is not a subtype of the expected type \"{expected}\"."
                    );
                    return Err(QueryError::new(2247, text));
                }
                ChangeKind::Replace { target, with }
            }
        };
        Ok(Change { source: source.to_owned(), kind, externals, slots })
    }

    /// The text that it was compiled from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// As [`super::Query::externals`].
    pub fn externals(&self) -> &[External] {
        &self.externals
    }

    /// The changed document; `None` when nothing changes.
    pub fn apply(
        &self,
        document: &Arc<Document>,
        externals: &[Option<Item>],
    ) -> Result<Option<Document>, XmlError> {
        let root = NodeRef::root(document.clone());
        let nodes = |e: &Expr| -> Result<Vec<u32>, XmlError> {
            let items = run(e, self.slots, &root, externals)?;
            let own = items.into_iter().filter_map(|item| match item {
                Item::Node(n) if Arc::ptr_eq(&n.doc, document) => Some(n.id),
                _ => None,
            });
            Ok(own.collect())
        };
        match &self.kind {
            ChangeKind::Delete(target) => {
                let gone: HashSet<u32> = nodes(target)?.into_iter().filter(|id| *id != 0).collect();
                if gone.is_empty() {
                    return Ok(None);
                }
                let mut builder = Builder::new();
                builder.copy_with(document, 0, &mut |_, id| match gone.contains(&id) {
                    true => Edit::Drop,
                    false => Edit::Keep,
                });
                Ok(Some(builder.finish()))
            }
            ChangeKind::Replace { target, with } => {
                let Some(target) = nodes(target)?.first().copied() else { return Ok(None) };
                let items = run(with, self.slots, &root, externals)?;
                let texts: Vec<String> = items.iter().map(|i| i.atom().to_text()).collect();
                Ok(Some(replaced(document, target, &texts.join(" "))))
            }
            ChangeKind::Insert { what, place, target } => {
                let Some(target) = nodes(target)?.first().copied() else { return Ok(None) };
                let items = run(what, self.slots, &root, externals)?;
                inserted(document, target, *place, items).map(Some)
            }
        }
    }
}

fn ends_in_text(e: &Expr) -> bool {
    match e {
        Expr::Path(_, steps) => steps.last().is_some_and(|s| s.test == super::tree::Test::Text),
        Expr::Filter(inner, _) => ends_in_text(inner),
        Expr::Sequence(list) => list.last().is_some_and(ends_in_text),
        _ => false,
    }
}

fn replaced(document: &Document, target: u32, text: &str) -> Document {
    let mut builder = Builder::new();
    builder.copy_with(document, 0, &mut |builder, id| {
        if id != target {
            return Edit::Keep;
        }
        let name = document.name(id);
        match document.kind(id) {
            Kind::Attribute => builder.attribute(&name.prefix, &name.local, &name.uri, text),
            Kind::Element => {
                builder.start(&name.prefix, &name.local, &name.uri);
                for i in document.namespaces(id).chain(document.attributes(id)) {
                    builder.copy(document, i);
                }
                builder.text(text);
                builder.end();
            }
            _ => builder.text(text),
        }
        Edit::Drop
    });
    builder.finish()
}

fn inserted(
    document: &Document,
    target: u32,
    place: Place,
    items: Vec<Item>,
) -> Result<Document, XmlError> {
    let is_attribute = |i: &Item| matches!(i, Item::Node(n) if n.doc.kind(n.id) == Kind::Attribute);
    let (attributes, others): (Vec<Item>, Vec<Item>) = items.into_iter().partition(is_attribute);
    let mut builder = Builder::new();
    let mut failed = None;
    copy(&mut builder, document, 0, target, place, (&attributes, &others), &mut failed);
    match failed {
        Some(error) => Err(error),
        None => Ok(builder.finish()),
    }
}

/// Copies a node; at the target with what is inserted.
fn copy(
    builder: &mut Builder,
    document: &Document,
    id: u32,
    target: u32,
    place: Place,
    new: (&[Item], &[Item]),
    failed: &mut Option<XmlError>,
) {
    let mut put = |builder: &mut Builder, items: &[Item]| {
        if let Err(error) = content(builder, items) {
            failed.get_or_insert(error);
        }
    };
    if id == target && place == Place::Before {
        put(builder, new.1);
    }
    let inside = id <= target && target < document.end(id);
    if !inside {
        builder.copy(document, id);
    } else {
        let here = id == target && matches!(place, Place::First | Place::Last);
        let element = document.kind(id) == Kind::Element;
        if !element && id != 0 {
            builder.copy(document, id);
        } else {
            if element {
                let name = document.name(id);
                builder.start(&name.prefix, &name.local, &name.uri);
                for i in document.namespaces(id).chain(document.attributes(id)) {
                    builder.copy(document, i);
                }
            }
            if here {
                put(builder, new.0);
                if place == Place::First {
                    put(builder, new.1);
                }
            }
            for child in document.children(id) {
                copy(builder, document, child, target, place, new, failed);
            }
            if here && place == Place::Last {
                // `put` is borrowed anew: the children had `failed`.
                if let Err(error) = content(builder, new.1) {
                    failed.get_or_insert(error);
                }
            }
            if element {
                builder.end();
            }
        }
    }
    if id == target
        && place == Place::After
        && let Err(error) = content(builder, new.1)
    {
        failed.get_or_insert(error);
    }
}
