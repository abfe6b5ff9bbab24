//! What queries are told before there is a document: which declarations a step may reach, how many nodes, and what their
//! values are.
//!
//! An element stands for its declaration, as if there were no `xsi:type`; a wildcard for the global elements that it lets
//! in, and for something unknown where it lets in what is not declared.

use crate::facets::Variety;
use crate::ids::{ANY_SIMPLE, ANY_TYPE, ElementId, TypeId};
use crate::model::{Content, Particle, Process, Schema, Term, Type, Wildcard};
use crate::names::{QName, XSD, XSI};
use crate::simple::atom_type;
use xml::{AtomType, Declared, NodeType, Occurs, Reached, Typing, Wanted};

impl Typing for Schema {
    fn children(&self, of: NodeType, wanted: Wanted<'_>) -> Reached {
        let mut found = Reached { nodes: Vec::new(), most: Occurs::Never };
        match of {
            NodeType::Document(single) => {
                self.globals(wanted, None, &mut found.nodes);
                found.most = match found.nodes.is_empty() {
                    true => Occurs::Never,
                    false if single => Occurs::Once,
                    false => Occurs::Often,
                };
            }
            NodeType::Element(id) => {
                let ty = self.element(ElementId(id)).ty;
                if let Type::Complex(complex) = self.ty(ty)
                    && let Content::Model(model) = &complex.content
                {
                    found.most = self.particle(model, wanted, &mut found.nodes);
                }
            }
            NodeType::Unknown => {
                found = Reached { nodes: vec![NodeType::Unknown], most: Occurs::Often };
            }
            NodeType::Attribute(_) | NodeType::Leaf => {}
        }
        found
    }

    fn attributes(&self, of: NodeType, wanted: Wanted<'_>) -> Reached {
        let exact = wanted.uri.is_some() && wanted.local.is_some();
        let most = if exact { Occurs::Once } else { Occurs::Often };
        let mut found = Reached { nodes: Vec::new(), most: Occurs::Never };
        let mut put = |node: NodeType, most: Occurs| {
            if !found.nodes.contains(&node) {
                found.nodes.push(node);
            }
            found.most = found.most.max(most);
        };
        match of {
            NodeType::Element(_) if wanted.uri == Some(XSI) => put(NodeType::Unknown, most),
            NodeType::Element(id) => {
                let Type::Complex(ty) = self.ty(self.element(ElementId(id)).ty) else {
                    return found;
                };
                for known in &ty.attributes {
                    if wanted.is(&known.name.uri, &known.name.local) {
                        put(NodeType::Attribute(known.ty.0), most);
                    }
                }
                let Some(any) = &ty.any_attribute else { return found };
                let mut is_open = any.process != Process::Strict;
                for (name, known) in &self.global_attributes {
                    runtime::task::stepped();
                    if any.namespaces.hold(&name.uri) && wanted.is(&name.uri, &name.local) {
                        put(NodeType::Attribute(known.ty.0), most);
                        is_open &= !exact;
                    }
                }
                if is_open && wanted.uri.is_none_or(|uri| any.namespaces.hold(uri)) {
                    put(NodeType::Unknown, most);
                }
            }
            NodeType::Unknown => put(NodeType::Unknown, most),
            _ => {}
        }
        found
    }

    fn value(&self, of: NodeType) -> Option<(AtomType, String)> {
        let ty = match of {
            NodeType::Element(id) => self.element(ElementId(id)).ty,
            NodeType::Attribute(ty) => TypeId(ty),
            _ => return None,
        };
        let simple = match self.ty(ty) {
            Type::Simple(_) => ty,
            Type::Complex(complex) => match complex.content {
                Content::Simple(simple) => simple,
                _ => return None,
            },
        };
        let Type::Simple(found) = self.ty(simple) else { return None };
        let value = match &found.variety {
            Variety::Atomic(primitive) => atom_type(found, *primitive),
            Variety::Any | Variety::List(_) => AtomType::Untyped,
            Variety::Union(_) => return None,
        };
        Some((value, self.builtin_name(simple)))
    }

    fn declared(&self, of: NodeType) -> Option<Declared<'_>> {
        let NodeType::Element(id) = of else { return None };
        let element = self.element(ElementId(id));
        let is_simple = match self.ty(element.ty) {
            Type::Simple(_) => true,
            Type::Complex(complex) => matches!(complex.content, Content::Simple(_)),
        };
        Some(Declared {
            element: (&element.name.uri, &element.name.local),
            ty: self.name_of(element.ty).map(|n| (&*n.uri, &*n.local)),
            is_simple,
            is_any: element.ty == ANY_TYPE,
        })
    }
}

impl Schema {
    /// The name of XML Schema's own type that one is derived from.
    fn builtin_name(&self, mut ty: TypeId) -> String {
        while let Type::Simple(simple) = self.ty(ty) {
            if let Some(name) = simple.name.as_ref().filter(|name| *name.uri == *XSD) {
                return format!("xs:{}", name.local);
            }
            match simple.base {
                Some(base) if base != ANY_SIMPLE => ty = base,
                _ => break,
            }
        }
        "xs:anySimpleType".into()
    }

    /// Elements at the top of documents, or what a wildcard lets in of these.
    fn globals(&self, wanted: Wanted<'_>, any: Option<&Wildcard>, nodes: &mut Vec<NodeType>) {
        let mut put = |name: &QName, id: ElementId| {
            let node = NodeType::Element(id.0);
            let fits = wanted.is(&name.uri, &name.local)
                && any.is_none_or(|any| any.namespaces.hold(&name.uri));
            if fits && !nodes.contains(&node) {
                nodes.push(node);
            }
        };
        if let (Some(uri), Some(local)) = (wanted.uri, wanted.local) {
            let name = QName::new(uri, local);
            if let Some(id) = self.global_elements.get(&name) {
                put(&name, *id);
            }
            return;
        }
        for (name, id) in &self.global_elements {
            runtime::task::stepped();
            put(name, *id);
        }
    }

    /// What of a content model has the name, and how often it may come.
    fn particle(
        &self,
        particle: &Particle,
        wanted: Wanted<'_>,
        nodes: &mut Vec<NodeType>,
    ) -> Occurs {
        runtime::task::stepped();
        let each = match &particle.term {
            Term::Element(id, name) => {
                let mut most = Occurs::Never;
                let mut put = |id: ElementId, name: &QName| {
                    if wanted.is(&name.uri, &name.local) {
                        most = Occurs::Once;
                        let node = NodeType::Element(id.0);
                        if !nodes.contains(&node) {
                            nodes.push(node);
                        }
                    }
                };
                put(*id, name);
                for other in self.substitutes.get(id).into_iter().flatten() {
                    put(*other, &self.element(*other).name);
                }
                most
            }
            Term::Any(any) => {
                let before = nodes.len();
                if any.process != Process::Skip {
                    self.globals(wanted, Some(any), nodes);
                }
                let known = nodes.len() > before;
                let exact = wanted.uri.is_some() && wanted.local.is_some();
                let may = wanted.uri.is_none_or(|uri| any.namespaces.hold(uri));
                let is_open = any.process != Process::Strict && may && !(known && exact);
                if is_open && !nodes.contains(&NodeType::Unknown) {
                    nodes.push(NodeType::Unknown);
                }
                // What stands there already may come here, too.
                match known || is_open || (may && !nodes.is_empty()) {
                    true => Occurs::Once,
                    false => Occurs::Never,
                }
            }
            Term::Sequence(parts) | Term::All(parts) => {
                let each = parts.iter().map(|part| self.particle(part, wanted, nodes));
                each.fold(Occurs::Never, Occurs::and)
            }
            Term::Choice(parts) => {
                let each = parts.iter().map(|part| self.particle(part, wanted, nodes));
                each.fold(Occurs::Never, Occurs::max)
            }
        };
        match particle.max {
            Some(0) => Occurs::Never,
            Some(1) => each,
            _ => each.and(each),
        }
    }
}
