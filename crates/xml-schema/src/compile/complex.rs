//! Complex types.

use super::attributes::Attributes;
use super::documents::blocked;
use super::{Compiler, Place};
use crate::error::{Result, wrong};
use crate::facets::IdKind;
use crate::ids::{ANY_TYPE, Derivation, TypeId};
use crate::model::*;
use crate::names::QName;
use std::collections::HashMap;
use std::sync::Arc;

impl Compiler {
    /// `xs:complexType`
    pub(super) fn complex_type(
        &mut self,
        place: Place,
        name: Option<QName>,
    ) -> Result<ComplexType> {
        let doc = self.doc(place);
        let source = &self.sources[place.source];
        let (default_blocked, default_final) = (source.blocked, source.is_final);
        let mut ty = ComplexType {
            base: ANY_TYPE,
            derivation: Derivation::Restriction,
            is_abstract: self.flag(&doc, place.node, "abstract")?,
            blocked: blocked(&doc, place.node, "block")?.unwrap_or(default_blocked),
            is_final: blocked(&doc, place.node, "final")?.unwrap_or(default_final),
            is_mixed: self.flag(&doc, place.node, "mixed")?,
            content: Content::Empty,
            attributes: Vec::new(),
            any_attribute: None,
            name,
        };
        let inside = self.inside(place);
        let first = inside.first().map_or(String::new(), |first| self.local(*first));
        match first.as_str() {
            "simpleContent" => self.simple_content(&mut ty, inside[0])?,
            "complexContent" => self.complex_content(&mut ty, inside[0])?,
            _ => {
                let (particle, rest) = self.model_of(&inside)?;
                ty.content = particle.map_or(Content::Empty, |p| Content::Model(Arc::new(p)));
                (ty.attributes, ty.any_attribute) = self.attributes_of(rest)?;
                ty.attributes.retain(|attribute| !attribute.is_prohibited);
            }
        }
        if matches!(first.as_str(), "simpleContent" | "complexContent") && inside.len() > 1 {
            return self.misplaced(inside[1]);
        }
        self.check_complex(&ty)?;
        Ok(ty)
    }

    /// Extension or restriction inside the content, and the type that it is of.
    fn derivation(&mut self, place: Place) -> Result<(Derivation, Place, TypeId)> {
        let inside = self.inside(place);
        let [definition] = inside[..] else {
            let local = self.local(place);
            return wrong(2327, format!("The content or definition of <{local}> is missing."));
        };
        let derivation = match self.local(definition).as_str() {
            "extension" => Derivation::Extension,
            "restriction" => Derivation::Restriction,
            _ => return self.misplaced(definition),
        };
        let Some(base) = self.reference(definition, "base")? else {
            let at = self.at(definition);
            return wrong(
                2316,
                format!("The required 'base' attribute is missing. Location: '{at}'."),
            );
        };
        let base = self.type_id(&base)?;
        Ok((derivation, definition, base))
    }

    /// 6943.
    fn check_final(&self, ty: &ComplexType, is_final: bool) -> Result<()> {
        match is_final {
            false => Ok(()),
            true => wrong(
                6943,
                format!(
                    "Invalid type definition for type '{}', the derivation was illegal because 'final' attribute was \
                     specified on the base type",
                    shown(ty)
                ),
            ),
        }
    }

    fn simple_content(&mut self, ty: &mut ComplexType, place: Place) -> Result<()> {
        let (derivation, definition, base) = self.derivation(place)?;
        (ty.base, ty.derivation) = (base, derivation);
        let mut inside = self.inside(definition);
        match (derivation, self.compiled(base)?) {
            (Derivation::Extension, Type::Simple(of)) => {
                self.check_final(ty, of.is_final.extension)?;
                if of.id != IdKind::None {
                    return wrong(
                        6995,
                        format!(
                            "Invalid definition for type '{}'. SQL Server does not permit the built-in XML Schema types 'ID' \
                             and 'IDREF' or types derived from them to be used as the type of an element or as the basis for \
                             derivation by extension.",
                            shown(ty)
                        ),
                    );
                }
                ty.content = Content::Simple(base);
                (ty.attributes, ty.any_attribute) = self.attributes_of(&inside)?;
            }
            (Derivation::Restriction, Type::Simple(_)) => {
                return wrong(
                    6968,
                    format!(
                        "Invalid type definition for type '{}'. Complex types cannot restrict simple types",
                        shown(ty)
                    ),
                );
            }
            (_, Type::Complex(of)) => {
                self.check_final(ty, of.is_final.has(derivation))?;
                let Content::Simple(simple) = of.content else {
                    if of.is_mixed && derivation == Derivation::Restriction {
                        return wrong(
                            2292,
                            format!(
                                "When a type with simple content restricts a type with mixed content, it must have an embedded \
                                 simple type definition. Location: '{}'.",
                                self.at(definition)
                            ),
                        );
                    }
                    return wrong(
                        6942,
                        format!(
                            "Invalid type definition for type '{}', types with simple content can only be derived from base \
                             types which have simple content",
                            shown(ty)
                        ),
                    );
                };
                let mut simple = simple;
                if derivation == Derivation::Restriction {
                    let inner = inside.first().copied().filter(|p| self.local(*p) == "simpleType");
                    if let Some(inner) = inner {
                        inside.remove(0);
                        simple = self.inner_simple(inner)?;
                    }
                    let is_attribute = |p: &Place| {
                        matches!(
                            self.local(*p).as_str(),
                            "attribute" | "attributeGroup" | "anyAttribute"
                        )
                    };
                    let count = inside.iter().take_while(|p| !is_attribute(p)).count();
                    let facets: Vec<Place> = inside.drain(..count).collect();
                    if !facets.is_empty() {
                        let restricted = self.restricted(simple, &facets, &ty.name)?;
                        simple = TypeId(self.types.len() as u32);
                        self.types.push(Some(Type::Simple(Arc::new(restricted))));
                    }
                }
                ty.content = Content::Simple(simple);
                let own = self.attributes_of(&inside)?;
                self.derive_attributes(ty, &of, own)?;
            }
        }
        Ok(())
    }

    fn complex_content(&mut self, ty: &mut ComplexType, place: Place) -> Result<()> {
        let doc = self.doc(place);
        if self.plain(&doc, place.node, "mixed").is_some() {
            ty.is_mixed = self.flag(&doc, place.node, "mixed")?;
        }
        let (derivation, definition, base) = self.derivation(place)?;
        (ty.base, ty.derivation) = (base, derivation);
        let Type::Complex(of) = self.compiled(base)? else {
            return wrong(
                6941,
                format!(
                    "Invalid type definition for type '{}', types with complex content can only be derived from base types \
                     which have complex content",
                    shown(ty)
                ),
            );
        };
        if base == ANY_TYPE && derivation == Derivation::Extension {
            return wrong(
                2237,
                "Derivation from anyType by extension is not supported in this release.",
            );
        }
        self.check_final(ty, of.is_final.has(derivation))?;
        let inside = self.inside(definition);
        let (own, rest) = self.model_of(&inside)?;
        let rest = rest.to_vec();
        ty.content = match (derivation, &of.content, own) {
            (Derivation::Restriction, _, own) => {
                own.map_or(Content::Empty, |p| Content::Model(Arc::new(p)))
            }
            (Derivation::Extension, Content::Simple(_), _) => {
                return wrong(
                    6941,
                    format!(
                        "Invalid type definition for type '{}', types with complex content can only be derived from base \
                         types which have complex content",
                        shown(ty)
                    ),
                );
            }
            (Derivation::Extension, Content::Empty, own) => {
                own.map_or(Content::Empty, |p| Content::Model(Arc::new(p)))
            }
            (Derivation::Extension, Content::Model(model), None) => Content::Model(model.clone()),
            (Derivation::Extension, Content::Model(model), Some(own)) => {
                if matches!(model.term, Term::All(_)) || matches!(own.term, Term::All(_)) {
                    return wrong(6958, all_alone(&shown(ty)));
                }
                let parts = vec![(**model).clone(), own];
                Content::Model(Arc::new(Particle {
                    min: 1,
                    max: Some(1),
                    term: Term::Sequence(parts),
                }))
            }
        };
        let differs = match derivation {
            Derivation::Extension => {
                !matches!(of.content, Content::Empty) && of.is_mixed != ty.is_mixed
            }
            Derivation::Restriction => ty.is_mixed && !of.is_mixed,
        };
        if differs {
            return wrong(
                6967,
                format!(
                    "Invalid type definition for type '{}'. The base and derived types must have the same value for 'mixed' \
                     unless deriving by restriction, in which case 'false' is always permitted for the derived type.",
                    shown(ty)
                ),
            );
        }
        let own = self.attributes_of(&rest)?;
        self.derive_attributes(ty, &of, own)
    }

    /// Attributes of the base with those that a type has itself. 6976, 6920, 6971, 6973.
    fn derive_attributes(
        &mut self,
        ty: &mut ComplexType,
        base: &ComplexType,
        (own, wildcard): Attributes,
    ) -> Result<()> {
        let name = shown(ty);
        let mut all = base.attributes.clone();
        for attribute in own {
            let local = attribute.name.to_string();
            let known = all.iter().position(|known| known.name == attribute.name);
            match (ty.derivation, known) {
                (Derivation::Extension, Some(_)) => {
                    return wrong(
                        6976,
                        format!(
                            "Invalid redefinition of attribute '{local}' in type '{name}'. Derivation by extension may not \
                             redefine attributes."
                        ),
                    );
                }
                (Derivation::Restriction, Some(at)) if attribute.is_prohibited => {
                    if all[at].is_required {
                        return wrong(6973, required(&local, &name));
                    }
                    all.remove(at);
                }
                (Derivation::Restriction, Some(at)) => {
                    if all[at].is_required && !attribute.is_required {
                        return wrong(6973, required(&local, &name));
                    }
                    all[at] = attribute;
                }
                (_, None) if attribute.is_prohibited => {
                    return wrong(
                        6920,
                        format!(
                            "Invalid definition for type '{name}'. Cannot specify use=\"prohibited\" for attribute '{local}' \
                             because there is no corresponding attribute in the base type."
                        ),
                    );
                }
                (Derivation::Restriction, None) => {
                    let allowed = base.any_attribute.as_ref();
                    if !allowed.is_some_and(|any| any.namespaces.hold(&attribute.name.uri)) {
                        return wrong(
                            6971,
                            format!(
                                "Invalid type definition for type '{name}'. Type contains attribute '{local}' which is not \
                                 allowed in base type."
                            ),
                        );
                    }
                    all.push(attribute);
                }
                (Derivation::Extension, None) => all.push(attribute),
            }
        }
        ty.attributes = all;
        ty.any_attribute = match ty.derivation {
            Derivation::Extension => wildcard.or_else(|| base.any_attribute.clone()),
            Derivation::Restriction => wildcard,
        };
        Ok(())
    }

    /// 6992, 6970.
    fn check_complex(&mut self, ty: &ComplexType) -> Result<()> {
        let mut ids = 0;
        for attribute in &ty.attributes {
            // A type that is not compiled yet is no built-in one.
            let known = self.types[attribute.ty.0 as usize].as_ref();
            ids += usize::from(matches!(known, Some(Type::Simple(ty)) if ty.id == IdKind::Id));
        }
        if ids > 1 {
            return wrong(
                6970,
                format!(
                    "Invalid type definition for type '{}'. No type may have more than one attribute of any type derived from \
                     ID.",
                    shown(ty)
                ),
            );
        }
        let Content::Model(model) = &ty.content else { return Ok(()) };
        let mut known: HashMap<QName, TypeId> = HashMap::new();
        let mut open = vec![&**model];
        while let Some(particle) = open.pop() {
            self.breath.steps(16)?;
            match &particle.term {
                Term::Element(id, name) => {
                    let Some(ty_of) = self.element_type(*id) else { continue };
                    if known.insert(name.clone(), ty_of).is_some_and(|other| other != ty_of) {
                        return wrong(
                            6992,
                            format!(
                                "The content model of type '{}' contains two elements with the same name '{name}' and different \
                                 types, nullability, or value constraints.",
                                shown(ty)
                            ),
                        );
                    }
                }
                Term::Any(_) => {}
                Term::Sequence(parts) | Term::Choice(parts) | Term::All(parts) => {
                    open.extend(parts)
                }
            }
        }
        Ok(())
    }
}

fn shown(ty: &ComplexType) -> String {
    ty.name.as_ref().map_or(String::new(), QName::to_string)
}

/// 6973.
fn required(attribute: &str, ty: &str) -> String {
    format!(
        "Invalid redefinition of attribute '{attribute}' in type '{ty}'. Must be required in the derived type if it is \
         required in the base type."
    )
}

/// 6958.
pub(super) fn all_alone(ty: &str) -> String {
    format!(
        "Invalid definition for type '{ty}'. An 'all' group may not appear as the child or parent of any other model group, \
         it must have minOccurs = maxOccurs = 1, its child elements must have maxOccurs = 1"
    )
}
