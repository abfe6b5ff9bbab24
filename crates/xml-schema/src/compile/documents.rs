//! Schema documents as they are written: what SQL Server does not take, which components they declare, and what their
//! attributes say.
//!
//! Promise: an element that no schema has is refused before anything is made of its document.

use super::{Compiler, Place, Source, VALUE_CHARS_MAX, parsed};
use crate::error::{Result, wrong};
use crate::ids::Blocked;
use crate::model::ComponentKind;
use crate::names::{QName, XSD};
use crate::place;
use std::sync::Arc;
use xml::{Document, Kind};

impl Compiler {
    /// The documents of a text.
    pub(super) fn read(&mut self, text: &str, is_added: bool) -> Result<()> {
        let doc = Arc::new(parsed(text)?);
        for root in doc.children(0) {
            match doc.kind(root) {
                Kind::Comment | Kind::Instruction => continue,
                Kind::Element if doc.local(root) == "schema" && doc.uri(root) == XSD => {}
                _ => return wrong(2378, "Expected XML schema document"),
            }
            self.look_through(&doc, root)?;
            let source = Source {
                root,
                target: self.plain(&doc, root, "targetNamespace").unwrap_or_default().into(),
                qualified_elements: self.form(&doc, root, "elementFormDefault")?.unwrap_or(false),
                qualified_attributes: self
                    .form(&doc, root, "attributeFormDefault")?
                    .unwrap_or(false),
                blocked: blocked(&doc, root, "blockDefault")?.unwrap_or_default(),
                is_final: blocked(&doc, root, "finalDefault")?.unwrap_or_default(),
                doc: doc.clone(),
                is_added,
            };
            self.sources.push(source);
            self.find_globals(self.sources.len() - 1)?;
        }
        Ok(())
    }

    /// 9336, 2391, 2297, 2215: elements that no schema has, or that SQL Server does not take.
    fn look_through(&mut self, doc: &Document, root: u32) -> Result<()> {
        const KNOWN: &[&str] = &[
            "schema",
            "element",
            "attribute",
            "complexType",
            "simpleType",
            "group",
            "attributeGroup",
            "annotation",
            "import",
            "sequence",
            "choice",
            "all",
            "any",
            "anyAttribute",
            "simpleContent",
            "complexContent",
            "restriction",
            "extension",
            "list",
            "union",
            "enumeration",
            "pattern",
            "length",
            "minLength",
            "maxLength",
            "minInclusive",
            "maxInclusive",
            "minExclusive",
            "maxExclusive",
            "totalDigits",
            "fractionDigits",
            "whiteSpace",
            "appinfo",
            "documentation",
        ];
        let mut id = root;
        while id < doc.end(root) {
            self.breath.steps(8)?;
            let (local, kind) = (doc.local(id), doc.kind(id));
            if kind == Kind::Attribute && doc.content(id).chars().count() > VALUE_CHARS_MAX {
                return wrong(
                    2215,
                    format!(
                        "The value of attribute '{local}' exceeds 4000 characters, the maximum permitted in XML schema \
                         documents"
                    ),
                );
            }
            if kind != Kind::Element {
                id += 1;
                continue;
            }
            let is_schema = doc.uri(id) == XSD;
            match local {
                // What is inside is for people.
                "annotation" if is_schema => {
                    id = doc.end(id);
                    continue;
                }
                "include" | "notation" | "key" | "keyref" | "unique" if is_schema => {
                    return wrong(
                        9336,
                        format!("The XML Schema syntax '{local}' is not supported."),
                    );
                }
                "redefine" if is_schema => {
                    return wrong(2391, "Redefining XSD schemas is not supported");
                }
                _ if is_schema && KNOWN.contains(&local) => {}
                _ => {
                    let at = place::of(doc, id);
                    return wrong(
                        2297,
                        format!("Element <{local}> is not valid at location '{at}'."),
                    );
                }
            }
            id += 1;
        }
        Ok(())
    }

    fn find_globals(&mut self, source: usize) -> Result<()> {
        let (doc, target) = (self.sources[source].doc.clone(), self.sources[source].target.clone());
        for node in doc.children(self.sources[source].root).collect::<Vec<_>>() {
            if doc.kind(node) != Kind::Element {
                continue;
            }
            let kind = match doc.local(node) {
                "element" => ComponentKind::Element,
                "attribute" => ComponentKind::Attribute,
                "complexType" | "simpleType" => ComponentKind::Type,
                "group" => ComponentKind::Group,
                "attributeGroup" => ComponentKind::AttributeGroup,
                "annotation" | "import" => continue,
                local => {
                    return wrong(
                        6940,
                        format!(
                            "Invalid component named '{local}' found in global scope. Only elements, attributes, types \
                             and groups can be defined in global context"
                        ),
                    );
                }
            };
            let Some(local) = self.plain(&doc, node, "name") else {
                return wrong(
                    2299,
                    format!(
                        "Required attribute \"name\" of XSD element \"{}\" is missing.",
                        doc.local(node)
                    ),
                );
            };
            if !crate::value::is_ncname(&local) {
                return wrong(
                    2379,
                    format!("The name specified is not a valid XML name :'{local}'"),
                );
            }
            if local.chars().count() > 1000 {
                return wrong(6915, format!("Element or attribute name too long: '{local}'."));
            }
            let name = QName { uri: target.clone(), local: local.as_str().into() };
            let place = Place { source, node };
            let Some(known) = self.globals.get(&(kind, name.clone())).copied() else {
                self.globals.insert((kind, name), place);
                continue;
            };
            let other = &self.sources[known.source];
            if self.sources[source].is_added && !other.is_added {
                return wrong(
                    6310,
                    format!(
                        "Altering existing schema components is not allowed. There was an attempt to modify an existing \
                         XML Schema component, component namespace: '{target}' component name: '{local}' component \
                         kind:{}",
                        kind.word()
                    ),
                );
            }
            return wrong(
                2302,
                format!("The name \"{local}\" has already been defined in this scope."),
            );
        }
        Ok(())
    }

    pub(super) fn doc(&self, place: Place) -> Arc<Document> {
        self.sources[place.source].doc.clone()
    }

    /// An attribute's text without whitespace around it.
    pub(super) fn plain(&self, doc: &Document, node: u32, name: &str) -> Option<String> {
        let found = doc.attributes(node).find(|a| doc.local(*a) == name && doc.uri(*a).is_empty());
        found.map(|a| doc.content(a).trim().to_owned())
    }

    /// The same, as it is: of defaults and facets.
    pub(super) fn value(&self, doc: &Document, node: u32, name: &str) -> Option<String> {
        let found = doc.attributes(node).find(|a| doc.local(*a) == name && doc.uri(*a).is_empty());
        found.map(|a| doc.content(a).to_owned())
    }

    /// 2312.
    pub(super) fn flag(&self, doc: &Document, node: u32, name: &str) -> Result<bool> {
        match self.plain(doc, node, name).as_deref() {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(other) => wrong(
                2312,
                format!(
                    "The value of attribute '{name}' does not conform to the type definition \
                     'http://www.w3.org/2001/XMLSchema#boolean': '{other}'."
                ),
            ),
        }
    }

    /// `qualified`: true. 2313.
    pub(super) fn form(&self, doc: &Document, node: u32, name: &str) -> Result<Option<bool>> {
        match self.plain(doc, node, name).as_deref() {
            None => Ok(None),
            Some("qualified") => Ok(Some(true)),
            Some("unqualified") => Ok(Some(false)),
            Some(other) => wrong(2313, no_such_value(name, other)),
        }
    }

    /// The name that an attribute's text means at its place. 2284, 2379.
    pub(super) fn named(&self, place: Place, text: &str) -> Result<QName> {
        let doc = &self.sources[place.source].doc;
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        if !crate::value::is_ncname(local) {
            return wrong(2379, format!("The name specified is not a valid XML name :'{text}'"));
        }
        match place::namespace(doc, place.node, prefix) {
            Some(uri) => Ok(QName::new(&uri, local)),
            None => wrong(2284, format!("The namespace prefix '{prefix}' has not been defined")),
        }
    }

    /// An attribute that names a component.
    pub(super) fn reference(&self, place: Place, name: &str) -> Result<Option<QName>> {
        let doc = &self.sources[place.source].doc;
        self.plain(doc, place.node, name).map(|text| self.named(place, &text)).transpose()
    }

    /// Elements inside one that say something.
    pub(super) fn inside(&self, place: Place) -> Vec<Place> {
        let doc = &self.sources[place.source].doc;
        let children = doc.children(place.node);
        let told = children
            .filter(|n| doc.kind(*n) == Kind::Element && doc.local(*n) != "annotation")
            .map(|node| Place { node, ..place });
        told.collect()
    }

    pub(super) fn local(&self, place: Place) -> String {
        self.sources[place.source].doc.local(place.node).to_owned()
    }

    pub(super) fn at(&self, place: Place) -> String {
        place::of(&self.sources[place.source].doc, place.node)
    }

    /// 2297.
    pub(super) fn misplaced<T>(&self, place: Place) -> Result<T> {
        let (local, at) = (self.local(place), self.at(place));
        wrong(2297, format!("Element <{local}> is not valid at location '{at}'."))
    }
}

/// 2313.
pub(super) fn no_such_value(attribute: &str, value: &str) -> String {
    format!("The attribute \"{attribute}\" cannot have a value of \"{value}\".")
}

/// 2313, also of values that are there twice.
pub(super) fn blocked(doc: &Document, node: u32, name: &str) -> Result<Option<Blocked>> {
    let found = doc.attributes(node).find(|a| doc.local(*a) == name && doc.uri(*a).is_empty());
    let Some(found) = found else { return Ok(None) };
    let text = doc.content(found).trim();
    let mut all = Blocked::default();
    for word in text.split_ascii_whitespace() {
        let slot = match word {
            "#all" if text == "#all" => {
                return Ok(Some(Blocked {
                    extension: true,
                    restriction: true,
                    substitution: true,
                }));
            }
            "extension" => &mut all.extension,
            "restriction" => &mut all.restriction,
            "substitution" => &mut all.substitution,
            "list" | "union" => continue,
            _ => return wrong(2313, no_such_value(name, text)),
        };
        if std::mem::replace(slot, true) {
            return wrong(2313, no_such_value(name, text));
        }
    }
    Ok(Some(all))
}
