//! From schema documents to components.
//!
//! Every document is looked through first for what SQL Server does not take and for its global components
//! (`documents.rs`). Then each of these is compiled; a type that is only named gets its number at once and its turn later,
//! so that types may hold each other, and a type that another is derived from is compiled when that one is. What can be said
//! only of all together comes last (`checks.rs`). Not looked at: whether a restriction of a complex type's content is one
//! (6979 to 6991), and whether a model leaves an element's place open (6916).
//!
//! Source: XML Schema Part 1 and 2; SQL documentation, "Requirements and limitations for XML schema collections".

mod documents;

mod attributes;
mod complex;
mod particles;
mod simple;

mod checks;

use crate::builtin;
use crate::error::{Result, undefined, wrong};
use crate::ids::{Blocked, ElementId, TypeId};
use crate::model::*;
use crate::names::{QName, XSD};
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
