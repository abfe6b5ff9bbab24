//! Content models, and the elements in them.

use super::documents::blocked;
use super::{Compiler, Place};
use crate::content::too_complicated;
use crate::error::{Result, undefined, wrong};
use crate::ids::{ANY_TYPE, ElementId, TypeId};
use crate::model::*;
use crate::names::QName;
use std::sync::Arc;

impl Compiler {
    /// The model at the beginning of what is inside a type, and what follows it.
    pub(super) fn model_of<'p>(
        &mut self,
        inside: &'p [Place],
    ) -> Result<(Option<Particle>, &'p [Place])> {
        let Some((first, rest)) = inside.split_first() else { return Ok((None, inside)) };
        if !matches!(self.local(*first).as_str(), "group" | "all" | "choice" | "sequence") {
            return Ok((None, inside));
        }
        if let Some(second) = rest.first()
            && matches!(self.local(*second).as_str(), "group" | "all" | "choice" | "sequence")
        {
            let at = self.at(*second);
            return wrong(
                2369,
                format!(
                    "Cannot have more than one group/sequence/choice/all within a restriction or extension. Location: '{at}'."
                ),
            );
        }
        let particle = self.particle(*first, true)?;
        // A model in which nothing may come is none.
        let particle = particle.filter(|p| match &p.term {
            Term::Sequence(parts) | Term::All(parts) => !parts.is_empty(),
            _ => true,
        });
        Ok((particle, rest))
    }

    /// The model of a group.
    pub(super) fn group(&mut self, place: Place, name: &QName) -> Result<Option<Particle>> {
        if self.open_groups.contains(name) {
            return wrong(
                6954,
                format!(
                    "Invalid group definition for group '{name}', recursive group definitions are not allowed"
                ),
            );
        }
        if self.open_groups.len() > super::LEVELS_MAX {
            return wrong(2362, "XSD schema too complex");
        }
        self.open_groups.push(name.clone());
        let inside = self.inside(place);
        let found = match inside[..] {
            [model] => self.particle(model, true),
            _ => wrong(
                6959,
                "Invalid definition, top level group definitions can not have model groups as siblings",
            ),
        };
        self.open_groups.pop();
        found
    }

    /// `minOccurs`, `maxOccurs`. 2309, 2383, 2382.
    fn occurs(&self, place: Place) -> Result<(u32, Option<u32>)> {
        let doc = self.doc(place);
        let number = |name: &str, text: &str| match text.parse::<i128>() {
            Err(_) => wrong(2309, format!("The value of \"{text}\" is not a valid number.")),
            Ok(n) => match u32::try_from(n).ok().filter(|n| *n <= i32::MAX as u32) {
                Some(n) => Ok(n),
                None => wrong(
                    2383,
                    format!(
                        "Invalid value '{text}' for the {name} attribute. The value has to be between 0 and {}.",
                        i32::MAX
                    ),
                ),
            },
        };
        let min = match self.plain(&doc, place.node, "minOccurs") {
            None => 1,
            Some(text) => number("minOccurs", &text)?,
        };
        let max = match self.plain(&doc, place.node, "maxOccurs").as_deref() {
            None => Some(1),
            Some("unbounded") => None,
            Some(text) => Some(number("maxOccurs", text)?),
        };
        if max.is_some_and(|max| min > max) {
            let at = self.at(place);
            return wrong(
                2382,
                format!(
                    "Invalid combination of minOccurs and maxOccurs values, minOccurs has to be less than or equal to \
                     maxOccurs. Location: '{at}'."
                ),
            );
        }
        Ok((min, max))
    }

    /// A part of a model; `None` where it may never come.
    fn particle(&mut self, place: Place, outermost: bool) -> Result<Option<Particle>> {
        self.breath.steps(64)?;
        self.particles += 1;
        if self.particles > super::PARTICLES_MAX {
            return Err(too_complicated());
        }
        let (min, max) = self.occurs(place)?;
        let local = self.local(place);
        let term = match local.as_str() {
            "element" => {
                let (id, name) = self.element_here(place)?;
                Term::Element(id, name)
            }
            "any" => Term::Any(self.wildcard(place)?),
            "group" => {
                let Some(name) = self.reference(place, "ref")? else {
                    return self.misplaced(place);
                };
                let global = self.globals.get(&(ComponentKind::Group, name.clone())).copied();
                let global = global.ok_or_else(|| undefined(&name))?;
                let Some(model) = self.group(global, &name)? else { return Ok(None) };
                if matches!(model.term, Term::All(_)) && !(outermost && min <= 1 && max == Some(1))
                {
                    return wrong(6958, super::complex::all_alone(""));
                }
                match (min, max) {
                    (1, Some(1)) => return Ok(Some(model)),
                    _ => Term::Sequence(vec![model]),
                }
            }
            "sequence" | "choice" => {
                let mut parts = Vec::new();
                let inside = self.inside(place);
                for part in &inside {
                    if self.local(*part) == "all" {
                        return wrong(6958, super::complex::all_alone(""));
                    }
                    parts.extend(self.particle(*part, false)?);
                }
                if local == "choice" && inside.is_empty() && min > 0 {
                    let at = self.at(place);
                    return wrong(
                        2293,
                        format!("Choice cannot be empty unless minOccurs is 0. Location: '{at}'."),
                    );
                }
                if local == "choice" { Term::Choice(parts) } else { Term::Sequence(parts) }
            }
            "all" => {
                let mut parts = Vec::new();
                for part in self.inside(place) {
                    if self.local(part) != "element" {
                        return self.misplaced(part);
                    }
                    parts.extend(self.particle(part, false)?);
                }
                let single = parts.iter().all(|part| part.max == Some(1));
                if !outermost || !single || min > 1 || max != Some(1) {
                    return wrong(6958, super::complex::all_alone(""));
                }
                Term::All(parts)
            }
            _ => return self.misplaced(place),
        };
        if max == Some(0) {
            return Ok(None);
        }
        Ok(Some(Particle { min, max, term }))
    }

    /// An element of a model: one of the top, or its own.
    fn element_here(&mut self, place: Place) -> Result<(ElementId, QName)> {
        self.check_reference(place)?;
        if let Some(name) = self.reference(place, "ref")? {
            return Ok((self.element_id(&name)?, name));
        }
        let element = self.element(place, false)?;
        let name = element.name.clone();
        let id = ElementId(self.elements.len() as u32);
        self.elements.push(Some(element));
        Ok((id, name))
    }

    /// `xs:element`. 2305, 2313.
    pub(super) fn element(&mut self, place: Place, global: bool) -> Result<Element> {
        let doc = self.doc(place);
        let source = &self.sources[place.source];
        let (target, default_blocked) = (source.target.clone(), source.blocked);
        let by_default = source.qualified_elements;
        let local = self.plain(&doc, place.node, "name").unwrap_or_default();
        if !crate::value::is_ncname(&local) {
            return wrong(2379, format!("The name specified is not a valid XML name :'{local}'"));
        }
        let qualified = global || self.form(&doc, place.node, "form")?.unwrap_or(by_default);
        let uri: Arc<str> = if qualified { target } else { "".into() };
        let head = match self.reference(place, "substitutionGroup")? {
            Some(name) if global => Some(self.element_id(&name)?),
            _ => None,
        };
        let named = self.reference(place, "type")?;
        let inner = self.inside(place).first().copied();
        let ty = match (named, inner) {
            (Some(_), Some(_)) => return self.type_twice(place),
            (Some(name), None) => self.type_id(&name)?,
            (None, Some(inner)) => match self.local(inner).as_str() {
                "simpleType" | "complexType" => self.later(inner, None),
                _ => return self.misplaced(inner),
            },
            (None, None) => match head {
                Some(head) => self.type_of_head(head)?,
                None => ANY_TYPE,
            },
        };
        self.is_lax |= ty == ANY_TYPE;
        Ok(Element {
            name: QName { uri, local: local.as_str().into() },
            ty,
            is_nillable: self.flag(&doc, place.node, "nillable")?,
            is_abstract: self.flag(&doc, place.node, "abstract")?,
            default: self.value(&doc, place.node, "default"),
            fixed: self.value(&doc, place.node, "fixed"),
            blocked: blocked(&doc, place.node, "block")?.unwrap_or(default_blocked),
            head,
        })
    }

    /// The type of an element that is compiled, or that waits and names it.
    pub(super) fn element_type(&mut self, id: ElementId) -> Option<TypeId> {
        self.elements[id.0 as usize].as_ref().map(|element| element.ty)
    }

    /// An element without a type has that of the one whose place it takes.
    fn type_of_head(&mut self, head: ElementId) -> Result<TypeId> {
        if let Some(ty) = self.element_type(head) {
            return Ok(ty);
        }
        let Some(at) = self.waiting_elements.iter().position(|(id, _)| *id == head) else {
            return wrong(2366, "\"substitutionGroup\" has a circular definition.");
        };
        let (id, place) = self.waiting_elements.remove(at);
        self.open_heads += 1;
        if self.open_heads > super::LEVELS_MAX {
            return wrong(2362, "XSD schema too complex");
        }
        let element = self.element(place, true)?;
        self.open_heads -= 1;
        let ty = element.ty;
        self.elements[id.0 as usize] = Some(element);
        Ok(ty)
    }
}
