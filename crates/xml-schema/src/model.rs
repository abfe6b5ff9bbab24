//! Components of a compiled schema. Those of one kind lie in one vector, and name each other by their numbers, so that
//! types may hold elements of themselves.

use crate::facets::SimpleType;
use crate::ids::{Blocked, Derivation, ElementId, TypeId};
use crate::names::QName;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What kind of component has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ComponentKind {
    Element,
    Attribute,
    Type,
    Group,
    AttributeGroup,
}

impl ComponentKind {
    /// In SQL Server's messages.
    pub fn word(self) -> &'static str {
        match self {
            ComponentKind::Element => "ELEMENT",
            ComponentKind::Attribute => "ATTRIBUTE",
            ComponentKind::Type => "TYPE",
            ComponentKind::Group => "MODEL GROUP",
            ComponentKind::AttributeGroup => "ATTRIBUTE GROUP",
        }
    }
}

/// A component with a name, as views of a catalog tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    pub kind: ComponentKind,
    pub name: QName,
    /// The type of an element or attribute; of a type the one it is derived from. None for a type without a name.
    pub ty: Option<QName>,
    /// Of a type: it is complex.
    pub is_complex: bool,
    pub is_abstract: bool,
    pub is_nillable: bool,
    pub is_mixed: bool,
    pub default: Option<String>,
    pub fixed: Option<String>,
}

/// A compiled collection of schemas.
#[derive(Debug)]
pub struct Schema {
    /// The documents, one behind the other, without what is no component.
    pub(crate) text: String,
    /// Target namespaces, in the order in which they came; an empty one among them where a document has none.
    pub(crate) namespaces: Vec<Arc<str>>,
    pub(crate) types: Vec<Type>,
    pub(crate) elements: Vec<Element>,
    pub(crate) global_elements: BTreeMap<QName, ElementId>,
    pub(crate) global_attributes: BTreeMap<QName, AttributeUse>,
    pub(crate) global_types: BTreeMap<QName, TypeId>,
    /// Names of groups and of attribute groups.
    pub(crate) groups: Vec<(ComponentKind, QName)>,
    /// Elements that may stand in the place of another one.
    pub(crate) substitutes: BTreeMap<ElementId, Vec<ElementId>>,
    /// There is a wildcard that validates what it knows, or something of type anyType.
    pub(crate) is_lax: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Type {
    Simple(Arc<SimpleType>),
    Complex(Arc<ComplexType>),
}

#[derive(Clone, Debug)]
pub(crate) struct ComplexType {
    /// None of a type inside a declaration.
    pub name: Option<QName>,
    pub base: TypeId,
    pub derivation: Derivation,
    pub is_abstract: bool,
    pub blocked: Blocked,
    pub is_final: Blocked,
    pub is_mixed: bool,
    pub content: Content,
    pub attributes: Vec<AttributeUse>,
    pub any_attribute: Option<Wildcard>,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    Empty,
    /// Text of a simple type.
    Simple(TypeId),
    Model(Arc<Particle>),
}

/// An attribute of a type.
#[derive(Clone, Debug)]
pub(crate) struct AttributeUse {
    pub name: QName,
    pub ty: TypeId,
    pub is_required: bool,
    pub is_prohibited: bool,
    pub default: Option<String>,
    pub fixed: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub name: QName,
    pub ty: TypeId,
    pub is_nillable: bool,
    pub is_abstract: bool,
    pub default: Option<String>,
    pub fixed: Option<String>,
    pub blocked: Blocked,
    pub head: Option<ElementId>,
}

/// What may come how often.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Particle {
    pub min: u32,
    /// None: without bound.
    pub max: Option<u32>,
    pub term: Term,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    Element(ElementId, QName),
    Any(Wildcard),
    Sequence(Vec<Particle>),
    Choice(Vec<Particle>),
    All(Vec<Particle>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Process {
    Strict,
    Lax,
    Skip,
}

/// `xs:any` and `xs:anyAttribute`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wildcard {
    pub namespaces: Namespaces,
    pub process: Process,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Namespaces {
    Any,
    /// Neither this one nor none.
    Other(Arc<str>),
    /// The empty one for names without a namespace.
    These(Vec<Arc<str>>),
}

impl Namespaces {
    pub fn hold(&self, uri: &str) -> bool {
        match self {
            Namespaces::Any => true,
            Namespaces::Other(target) => !uri.is_empty() && *uri != **target,
            Namespaces::These(list) => list.iter().any(|known| **known == *uri),
        }
    }

    /// As the list of what is expected has them.
    pub fn shown(&self) -> String {
        match self {
            Namespaces::Any => "*".into(),
            Namespaces::Other(target) => format!("{{##other:{target}}}*"),
            Namespaces::These(list) => {
                let each = list.iter().map(|uri| match uri.is_empty() {
                    true => "*".to_owned(),
                    false => format!("{{{uri}}}*"),
                });
                each.collect::<Vec<_>>().join("','")
            }
        }
    }
}

impl Schema {
    pub(crate) fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    pub(crate) fn element(&self, id: ElementId) -> &Element {
        &self.elements[id.0 as usize]
    }

    /// The name of a type; a type inside a declaration has none.
    pub(crate) fn name_of(&self, id: TypeId) -> Option<&QName> {
        match self.ty(id) {
            Type::Simple(ty) => ty.name.as_ref(),
            Type::Complex(ty) => ty.name.as_ref(),
        }
    }

    /// The documents that it was compiled from, without comments and annotations.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its target namespaces; an empty one for documents without one.
    pub fn namespaces(&self) -> &[Arc<str>] {
        &self.namespaces
    }

    /// May something in a document be passed over because nothing is known of it?
    pub fn is_lax(&self) -> bool {
        self.is_lax
    }

    /// Its components with names, by kind and name.
    pub fn components(&self) -> Vec<Component> {
        let plain = |kind, name: &QName| Component {
            kind,
            name: name.clone(),
            ty: None,
            is_complex: false,
            is_abstract: false,
            is_nillable: false,
            is_mixed: false,
            default: None,
            fixed: None,
        };
        let elements = self.global_elements.iter().map(|(name, id)| {
            let element = self.element(*id);
            Component {
                ty: self.name_of(element.ty).cloned(),
                is_abstract: element.is_abstract,
                is_nillable: element.is_nillable,
                default: element.default.clone(),
                fixed: element.fixed.clone(),
                ..plain(ComponentKind::Element, name)
            }
        });
        let attributes = self.global_attributes.iter().map(|(name, attribute)| Component {
            ty: self.name_of(attribute.ty).cloned(),
            default: attribute.default.clone(),
            fixed: attribute.fixed.clone(),
            ..plain(ComponentKind::Attribute, name)
        });
        let types = self.global_types.iter().map(|(name, id)| {
            let plain = plain(ComponentKind::Type, name);
            match self.ty(*id) {
                Type::Simple(ty) => {
                    Component { ty: ty.base.and_then(|id| self.name_of(id)).cloned(), ..plain }
                }
                Type::Complex(ty) => Component {
                    ty: self.name_of(ty.base).cloned(),
                    is_complex: true,
                    is_abstract: ty.is_abstract,
                    is_mixed: ty.is_mixed,
                    ..plain
                },
            }
        });
        let groups = self.groups.iter().map(|(kind, name)| plain(*kind, name));
        elements.chain(attributes).chain(types).chain(groups).collect()
    }

    /// Is the one type the other, or derived from it by ways that are not blocked?
    pub(crate) fn derives(&self, mut ty: TypeId, from: TypeId, blocked: Blocked) -> bool {
        loop {
            if ty == from {
                return true;
            }
            let (base, derivation) = match self.ty(ty) {
                Type::Simple(simple) => {
                    if let Type::Simple(of) = self.ty(from)
                        && of.is_union_of(ty)
                    {
                        return true;
                    }
                    match simple.base {
                        Some(base) => (base, Derivation::Restriction),
                        None => return from == crate::ids::ANY_TYPE,
                    }
                }
                Type::Complex(complex) if complex.base != ty => (complex.base, complex.derivation),
                Type::Complex(_) => return false,
            };
            if blocked.has(derivation) {
                return false;
            }
            ty = base;
        }
    }
}
