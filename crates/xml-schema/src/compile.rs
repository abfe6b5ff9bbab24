//! From schema documents to components.
//!
//! Every document is looked through first for what SQL Server does not take and for its global components. Then each of
//! these is compiled; a type that is only named gets its number at once and its turn later, so that types may hold each
//! other, and a type that another is derived from is compiled when that one is. Not looked at: whether a restriction of a
//! complex type's content is one (6979 to 6991), and whether a model leaves an element's place open (6916).
//!
//! Source: XML Schema Part 1 and 2; SQL documentation, "Requirements and limitations for XML schema collections".

mod attributes;
mod complex;
mod particles;
mod simple;

use crate::builtin;
use crate::error::{Result, undefined, wrong};
use crate::facets::{IdKind, Variety};
use crate::ids::{Blocked, ElementId, TypeId};
use crate::model::*;
use crate::names::{QName, XSD};
use crate::place;
use crate::value::Primitive;
use runtime::task::Breath;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use xml::{Document, Encoding, Kind, Options};

/// Types of SQL Server, for what they are in XML; their facets are not kept.
const SQL_TYPES: &str = "http://schemas.microsoft.com/sqlserver/2004/sqltypes";

/// The most characters of a default, a fixed value or a facet (6963, 6964).
const VALUE_CHARS_MAX: usize = 4000;
/// Levels of types that are derived from each other, of groups within groups, of elements in each other's places (2362).
const LEVELS_MAX: usize = 64;
/// Particles of all models together, at most (6998).
const PARTICLES_MAX: usize = 100_000;

/// A schema document.
struct Source {
    doc: Arc<Document>,
    root: u32,
    target: Arc<str>,
    qualified_elements: bool,
    qualified_attributes: bool,
    blocked: Blocked,
    is_final: Blocked,
    /// It came by ALTER.
    is_added: bool,
}

/// Where a component is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    source: usize,
    node: u32,
}

struct Compiler {
    sources: Vec<Source>,
    globals: HashMap<(ComponentKind, QName), Place>,
    types: Vec<Option<Type>>,
    type_ids: HashMap<QName, TypeId>,
    /// Types that have a number alone.
    waiting: HashMap<TypeId, (Place, Option<QName>)>,
    /// Types that are being compiled, for those that are derived from themselves.
    open: HashSet<TypeId>,
    elements: Vec<Option<Element>>,
    element_ids: HashMap<QName, ElementId>,
    waiting_elements: Vec<(ElementId, Place)>,
    attributes: BTreeMap<QName, AttributeUse>,
    /// Groups that are being read.
    open_groups: Vec<QName>,
    /// Elements whose heads are being asked for their types.
    open_heads: usize,
    particles: usize,
    is_lax: bool,
    breath: Breath,
}

impl Schema {
    /// Compiles a text of one or several schema documents, which is well-formed XML.
    pub fn compile(text: &str) -> Result<Schema> {
        compile(&[(text, false)])
    }

    /// The same collection with more documents: 6310, 6925.
    pub fn with(&self, text: &str) -> Result<Schema> {
        compile(&[(&self.text, false), (text, true)])
    }

    /// The documents of one namespace.
    pub fn text_of(&self, namespace: &str) -> Result<Option<String>> {
        if !self.namespaces.iter().any(|known| **known == *namespace) {
            return Ok(None);
        }
        let doc = parsed(&self.text)?;
        let mut out = String::new();
        for root in doc.children(0) {
            let target = doc.attributes(root).find(|a| doc.local(*a) == "targetNamespace");
            if target.map_or("", |a| doc.content(a)) == namespace {
                doc.write_into(root, &mut out);
            }
        }
        Ok(Some(out))
    }
}

fn parsed(text: &str) -> Result<Document> {
    xml::parse(text, Options { preserve: false, encoding: Encoding::Known })
}

fn compile(texts: &[(&str, bool)]) -> Result<Schema> {
    let mut compiler = Compiler {
        sources: Vec::new(),
        globals: HashMap::new(),
        types: builtin::types().into_iter().map(Some).collect(),
        type_ids: HashMap::new(),
        waiting: HashMap::new(),
        open: HashSet::new(),
        elements: Vec::new(),
        element_ids: HashMap::new(),
        waiting_elements: Vec::new(),
        attributes: BTreeMap::new(),
        open_groups: Vec::new(),
        open_heads: 0,
        particles: 0,
        is_lax: false,
        breath: Breath::new(),
    };
    for (text, is_added) in texts {
        compiler.read(text, *is_added)?;
    }
    compiler.all()?;
    compiler.finish()
}

impl Compiler {
    // ---- What is there

    /// The documents of a text.
    fn read(&mut self, text: &str, is_added: bool) -> Result<()> {
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

    // ---- Attributes of schema documents

    fn doc(&self, place: Place) -> Arc<Document> {
        self.sources[place.source].doc.clone()
    }

    /// An attribute's text without whitespace around it.
    fn plain(&self, doc: &Document, node: u32, name: &str) -> Option<String> {
        let found = doc.attributes(node).find(|a| doc.local(*a) == name && doc.uri(*a).is_empty());
        found.map(|a| doc.content(a).trim().to_owned())
    }

    /// The same, as it is: of defaults and facets.
    fn value(&self, doc: &Document, node: u32, name: &str) -> Option<String> {
        let found = doc.attributes(node).find(|a| doc.local(*a) == name && doc.uri(*a).is_empty());
        found.map(|a| doc.content(a).to_owned())
    }

    /// 2312.
    fn flag(&self, doc: &Document, node: u32, name: &str) -> Result<bool> {
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
    fn form(&self, doc: &Document, node: u32, name: &str) -> Result<Option<bool>> {
        match self.plain(doc, node, name).as_deref() {
            None => Ok(None),
            Some("qualified") => Ok(Some(true)),
            Some("unqualified") => Ok(Some(false)),
            Some(other) => wrong(2313, no_such_value(name, other)),
        }
    }

    /// The name that an attribute's text means at its place. 2284, 2379.
    fn named(&self, place: Place, text: &str) -> Result<QName> {
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
    fn reference(&self, place: Place, name: &str) -> Result<Option<QName>> {
        let doc = &self.sources[place.source].doc;
        self.plain(doc, place.node, name).map(|text| self.named(place, &text)).transpose()
    }

    /// Elements inside one that say something.
    fn inside(&self, place: Place) -> Vec<Place> {
        let doc = &self.sources[place.source].doc;
        let children = doc.children(place.node);
        let told = children
            .filter(|n| doc.kind(*n) == Kind::Element && doc.local(*n) != "annotation")
            .map(|node| Place { node, ..place });
        told.collect()
    }

    fn local(&self, place: Place) -> String {
        self.sources[place.source].doc.local(place.node).to_owned()
    }

    fn at(&self, place: Place) -> String {
        place::of(&self.sources[place.source].doc, place.node)
    }

    /// 2297.
    fn misplaced<T>(&self, place: Place) -> Result<T> {
        let (local, at) = (self.local(place), self.at(place));
        wrong(2297, format!("Element <{local}> is not valid at location '{at}'."))
    }

    // ---- Types and elements by their names

    /// The number of a type; it is compiled later.
    fn type_id(&mut self, name: &QName) -> Result<TypeId> {
        if *name.uri == *XSD {
            return builtin::by_name(&name.local).ok_or_else(|| undefined(name));
        }
        if *name.uri == *SQL_TYPES {
            return sql_type(&name.local).and_then(builtin::by_name).ok_or_else(|| undefined(name));
        }
        if let Some(id) = self.type_ids.get(name) {
            return Ok(*id);
        }
        let place = self.globals.get(&(ComponentKind::Type, name.clone())).copied();
        let place = place.ok_or_else(|| undefined(name))?;
        let id = self.later(place, Some(name.clone()));
        self.type_ids.insert(name.clone(), id);
        Ok(id)
    }

    /// A number for a type that is declared there.
    fn later(&mut self, place: Place, name: Option<QName>) -> TypeId {
        let id = TypeId(self.types.len() as u32);
        self.types.push(None);
        self.waiting.insert(id, (place, name));
        id
    }

    /// A type, compiled. 2366.
    fn compiled(&mut self, id: TypeId) -> Result<Type> {
        if let Some(ty) = &self.types[id.0 as usize] {
            return Ok(ty.clone());
        }
        let Some((place, name)) = self.waiting.remove(&id) else {
            let name = self.type_ids.iter().find(|(_, known)| **known == id);
            let name = name.map_or(String::new(), |(name, _)| name.to_string());
            return wrong(2366, format!("\"{name}\" has a circular definition."));
        };
        // Chains of types go as deep as there are types.
        if self.open.len() > LEVELS_MAX {
            return wrong(2362, "XSD schema too complex");
        }
        self.open.insert(id);
        let ty = match self.local(place).as_str() {
            "simpleType" => Type::Simple(Arc::new(self.simple_type(place, name)?)),
            _ => Type::Complex(Arc::new(self.complex_type(place, name)?)),
        };
        self.open.remove(&id);
        self.types[id.0 as usize] = Some(ty.clone());
        Ok(ty)
    }

    fn element_id(&mut self, name: &QName) -> Result<ElementId> {
        if let Some(id) = self.element_ids.get(name) {
            return Ok(*id);
        }
        let place = self.globals.get(&(ComponentKind::Element, name.clone())).copied();
        let place = place.ok_or_else(|| undefined(name))?;
        let id = ElementId(self.elements.len() as u32);
        self.elements.push(None);
        self.element_ids.insert(name.clone(), id);
        self.waiting_elements.push((id, place));
        Ok(id)
    }

    /// Everything that is global, and what it names.
    fn all(&mut self) -> Result<()> {
        let mut globals: Vec<(ComponentKind, QName, Place)> = self
            .globals
            .iter()
            .map(|((kind, name), place)| (*kind, name.clone(), *place))
            .collect();
        // In the order of the documents, so that the first mistake is the one that is told.
        globals.sort_by_key(|(_, _, place)| (place.source, place.node));
        for (kind, name, place) in globals {
            match kind {
                ComponentKind::Element => {
                    self.element_id(&name)?;
                }
                ComponentKind::Attribute => {
                    self.global_attribute(&name)?;
                }
                ComponentKind::Type => {
                    self.type_id(&name)?;
                }
                ComponentKind::Group => {
                    self.group(place, &name)?;
                }
                ComponentKind::AttributeGroup => {
                    self.attribute_group(&name)?;
                }
            }
            self.drain()?;
        }
        Ok(())
    }

    /// What has a number alone is compiled, until there is no more.
    fn drain(&mut self) -> Result<()> {
        loop {
            self.breath.steps(64)?;
            if let Some((id, place)) = self.waiting_elements.pop() {
                let element = self.element(place, true)?;
                self.elements[id.0 as usize] = Some(element);
            } else if let Some(id) = self.waiting.keys().next().copied() {
                self.compiled(id)?;
            } else {
                return Ok(());
            }
        }
    }

    // ---- The end

    fn finish(mut self) -> Result<Schema> {
        let types: Vec<Type> = self.types.into_iter().flatten().collect();
        let elements: Vec<Element> = self.elements.into_iter().flatten().collect();
        let mut text = String::new();
        let mut namespaces: Vec<Arc<str>> = Vec::new();
        for source in &self.sources {
            let is_note = |doc: &Document, id: u32| {
                doc.kind(id) == Kind::Comment
                    || doc.kind(id) == Kind::Element && doc.local(id) == "annotation"
            };
            source.doc.part(source.root, &is_note).write_into(0, &mut text);
            if !namespaces.contains(&source.target) {
                namespaces.push(source.target.clone());
            }
        }
        let mut groups: Vec<(ComponentKind, QName)> = self
            .globals
            .keys()
            .filter(|(kind, _)| {
                matches!(kind, ComponentKind::Group | ComponentKind::AttributeGroup)
            })
            .cloned()
            .collect();
        groups.sort();
        let schema = Schema {
            text,
            namespaces,
            types,
            substitutes: substitutes(&elements),
            elements,
            global_elements: self.element_ids.drain().collect(),
            global_attributes: self.attributes,
            global_types: self.type_ids.drain().collect(),
            groups,
            is_lax: self.is_lax,
        };
        schema.check_elements(&self.sources, &self.globals)?;
        schema.check_attributes()?;
        Ok(schema)
    }
}

/// The elements that may stand for another, those that stand for these among them.
fn substitutes(elements: &[Element]) -> BTreeMap<ElementId, Vec<ElementId>> {
    let mut all: BTreeMap<ElementId, Vec<ElementId>> = BTreeMap::new();
    for (i, element) in elements.iter().enumerate() {
        let (mut head, mut steps) = (element.head, 0);
        while let Some(id) = head {
            all.entry(id).or_default().push(ElementId(i as u32));
            steps += 1;
            head = elements[id.0 as usize].head.filter(|_| steps < elements.len());
        }
    }
    all
}

impl Schema {
    /// 2322, 6925, 6366, 6997, 6962, 6999, and values that are none of their types (6927).
    fn check_elements(
        &self,
        sources: &[Source],
        globals: &HashMap<(ComponentKind, QName), Place>,
    ) -> Result<()> {
        for element in &self.elements {
            let name = &element.name;
            if let Some(head) = element.head {
                let head = self.element(head);
                if !self.derives(element.ty, head.ty, Blocked::default()) {
                    return wrong(
                        2322,
                        "The element type is not a subclass of the substitution group's head",
                    );
                }
                let added = |name: &QName| {
                    let place = globals.get(&(ComponentKind::Element, name.clone()));
                    place.is_some_and(|place| sources[place.source].is_added)
                };
                if added(name) && !added(&head.name) {
                    return wrong(
                        6925,
                        format!(
                            "Invalid definition for element '{name}'. SQL Server does not currently permit additions to \
                             existing substitution groups via ALTER XML SCHEMA COLLECTION."
                        ),
                    );
                }
            }
            let simple = match self.ty(element.ty) {
                Type::Simple(ty) => Some((element.ty, ty.clone())),
                Type::Complex(ty) => match &ty.content {
                    Content::Simple(id) => match self.ty(*id) {
                        Type::Simple(ty) => Some((*id, ty.clone())),
                        Type::Complex(_) => None,
                    },
                    _ => None,
                },
            };
            if let Some((_, ty)) = &simple
                && ty.id != IdKind::None
            {
                return wrong(
                    6366,
                    format!(
                        "Invalid type for element '{name}'. SQL Server does not permit the built-in XML Schema types 'ID' \
                         and 'IDREF' or types derived from them to be used as the type of an element. Location: "
                    ),
                );
            }
            if element.fixed.is_some() && element.is_nillable {
                return wrong(
                    6997,
                    format!(
                        "Invalid definition for element '{name}'. An element which has a fixed value may not also be nillable."
                    ),
                );
            }
            let Some(value) = element.default.as_ref().or(element.fixed.as_ref()) else { continue };
            match simple {
                Some((id, ty)) => {
                    if matches!(ty.variety, Variety::Atomic(Primitive::Name)) {
                        return wrong(6999, no_constraint(name));
                    }
                    self.check_value(id, value)?;
                }
                None if matches!(self.ty(element.ty), Type::Complex(ty) if ty.is_mixed) => {}
                None => {
                    return wrong(
                        6962,
                        format!(
                            "'default' and 'fixed' values are not allowed on element of this type: '{name}'"
                        ),
                    );
                }
            }
        }
        Ok(())
    }

    fn check_attributes(&self) -> Result<()> {
        let own = self.global_attributes.values();
        let inner = self.types.iter().filter_map(|ty| match ty {
            Type::Complex(ty) => Some(&ty.attributes),
            Type::Simple(_) => None,
        });
        for attribute in own.chain(inner.flatten()) {
            let Type::Simple(ty) = self.ty(attribute.ty) else {
                let shown = self.name_of(attribute.ty).map_or(String::new(), QName::to_string);
                return wrong(
                    2399,
                    format!(
                        "An attribute cannot have a value of type '{shown}', a simple type was expected"
                    ),
                );
            };
            let Some(value) = attribute.default.as_ref().or(attribute.fixed.as_ref()) else {
                continue;
            };
            let name = &attribute.name;
            if ty.id == IdKind::Id {
                return wrong(
                    6932,
                    format!(
                        "Invalid definition for element or attribute '{name}'. Value constraints on components of type ID \
                         are not allowed."
                    ),
                );
            }
            if matches!(ty.variety, Variety::Atomic(Primitive::Name)) {
                return wrong(6999, no_constraint(name));
            }
            self.check_value(attribute.ty, value)?;
        }
        Ok(())
    }

    /// 6963, 6927.
    fn check_value(&self, ty: TypeId, value: &str) -> Result<()> {
        if value.chars().count() > VALUE_CHARS_MAX {
            return wrong(
                6963,
                format!(
                    "'Default' or 'Fixed' value is longer than allowed, maximum length allowed is 4000 characters : \
                     '{value}'"
                ),
            );
        }
        match self.take(ty, value, &|_| None)? {
            Ok(_) => Ok(()),
            Err(_) => wrong(6927, format!("XML Validation: Invalid simple type value: '{value}'.")),
        }
    }
}

/// 6999.
fn no_constraint(name: &QName) -> String {
    format!(
        "Invalid definition for element or attribute '{name}'. Value constraints on components of type QName are not \
         supported in this release."
    )
}

/// 2313.
fn no_such_value(attribute: &str, value: &str) -> String {
    format!("The attribute \"{attribute}\" cannot have a value of \"{value}\".")
}

/// 2313, also of values that are there twice.
fn blocked(doc: &Document, node: u32, name: &str) -> Result<Option<Blocked>> {
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

/// What a type of SQL Server is in XML.
fn sql_type(local: &str) -> Option<&'static str> {
    Some(match local {
        "char" | "nchar" | "varchar" | "nvarchar" | "text" | "ntext" | "uniqueidentifier" => {
            "string"
        }
        "binary" | "varbinary" | "image" | "timestamp" | "timestampNumeric" => "base64Binary",
        "decimal" | "numeric" | "money" | "smallmoney" => "decimal",
        "bit" => "boolean",
        "tinyint" => "unsignedByte",
        "smallint" => "short",
        "int" => "int",
        "bigint" => "long",
        "float" => "double",
        "real" => "float",
        "datetime" | "smalldatetime" | "datetime2" | "datetimeoffset" => "dateTime",
        "date" => "date",
        "time" => "time",
        "xml" => "anyType",
        _ => return None,
    })
}
