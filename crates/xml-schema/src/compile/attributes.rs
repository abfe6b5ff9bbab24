//! Attributes, groups of them, and wildcards.

use super::documents::no_such_value;
use super::{Compiler, Place};
use crate::error::{Result, undefined, wrong};
use crate::ids::ANY_SIMPLE;
use crate::model::{AttributeUse, ComponentKind, Namespaces, Process, Wildcard};
use crate::names::QName;
use std::sync::Arc;

/// Attributes of a type or group, and the wildcard.
pub(super) type Attributes = (Vec<AttributeUse>, Option<Wildcard>);

impl Compiler {
    /// An attribute declared at the top, by its name.
    pub(super) fn global_attribute(&mut self, name: &QName) -> Result<AttributeUse> {
        if let Some(found) = self.attributes.get(name) {
            return Ok(found.clone());
        }
        let place = self.globals.get(&(ComponentKind::Attribute, name.clone())).copied();
        let place = place.ok_or_else(|| undefined(name))?;
        let found = self.attribute_here(place, name.clone())?;
        self.attributes.insert(name.clone(), found.clone());
        Ok(found)
    }

    /// `xs:attribute` with its type. 2305.
    fn attribute_here(&mut self, place: Place, name: QName) -> Result<AttributeUse> {
        let doc = self.doc(place);
        let named = self.reference(place, "type")?;
        let inner = self.inside(place).first().copied();
        let ty = match (named, inner) {
            (Some(_), Some(_)) => return self.type_twice(place),
            (Some(name), None) => self.type_id(&name)?,
            (None, Some(inner)) if self.local(inner) == "simpleType" => self.inner_simple(inner)?,
            (None, Some(inner)) => return self.misplaced(inner),
            (None, None) => ANY_SIMPLE,
        };
        Ok(AttributeUse {
            name,
            ty,
            is_required: false,
            is_prohibited: false,
            default: self.value(&doc, place.node, "default"),
            fixed: self.value(&doc, place.node, "fixed"),
        })
    }

    /// 2305.
    pub(super) fn type_twice<T>(&self, place: Place) -> Result<T> {
        let at = self.at(place);
        wrong(
            2305,
            format!("Element or attribute type specified more than once. Location: '{at}'."),
        )
    }

    /// 2360, 2387.
    pub(super) fn check_reference(&self, place: Place) -> Result<()> {
        let doc = self.doc(place);
        let has = |name| self.plain(&doc, place.node, name).is_some();
        if has("ref") && has("name") {
            let at = self.at(place);
            return wrong(
                2360,
                format!("Cannot have both a 'name' and 'ref' attribute. Location: '{at}'."),
            );
        }
        if has("ref") && has("type") {
            let at = self.at(place);
            return wrong(
                2387,
                format!("Cannot have both 'type' and 'ref' attributes. Location: '{at}'."),
            );
        }
        if !has("ref") && !has("name") {
            let local = self.local(place);
            return wrong(
                2299,
                format!("Required attribute \"name\" of XSD element \"{local}\" is missing."),
            );
        }
        Ok(())
    }

    /// An attribute of a type or group.
    fn attribute_use(&mut self, place: Place) -> Result<AttributeUse> {
        self.check_reference(place)?;
        let doc = self.doc(place);
        let mut found = match self.reference(place, "ref")? {
            Some(name) => {
                let declared = self.global_attribute(&name)?;
                let fixed = self.value(&doc, place.node, "fixed");
                if declared.fixed.is_some() && fixed.is_some() && declared.fixed != fixed {
                    return wrong(
                        6993,
                        format!(
                            "Value constraint on use of attribute '{name}' must be consistent with value constraint on its \
                             declaration."
                        ),
                    );
                }
                AttributeUse {
                    default: self.value(&doc, place.node, "default").or(declared.default.clone()),
                    fixed: fixed.or(declared.fixed.clone()),
                    ..declared
                }
            }
            None => {
                let local = self.plain(&doc, place.node, "name").unwrap_or_default();
                let source = &self.sources[place.source];
                let qualified = self.form(&doc, place.node, "form")?;
                let uri: Arc<str> = match qualified.unwrap_or(source.qualified_attributes) {
                    true => source.target.clone(),
                    false => "".into(),
                };
                self.attribute_here(place, QName { uri, local: local.as_str().into() })?
            }
        };
        match self.plain(&doc, place.node, "use").as_deref() {
            None | Some("optional") => {}
            Some("required") => found.is_required = true,
            Some("prohibited") => found.is_prohibited = true,
            Some(other) => return wrong(2313, no_such_value("use", other)),
        }
        Ok(found)
    }

    /// Attributes, groups of them and the wildcard, among what is inside something; 2310.
    pub(super) fn attributes_of(&mut self, places: &[Place]) -> Result<Attributes> {
        let mut all: Vec<AttributeUse> = Vec::new();
        let mut wildcard = None;
        for place in places {
            self.breath.steps(64)?;
            let new = match self.local(*place).as_str() {
                "attribute" => vec![self.attribute_use(*place)?],
                "attributeGroup" => {
                    let Some(name) = self.reference(*place, "ref")? else {
                        return self.misplaced(*place);
                    };
                    let (new, any) = self.attribute_group(&name)?;
                    wildcard = wildcard.or(any);
                    new
                }
                "anyAttribute" => {
                    wildcard = Some(self.wildcard(*place)?);
                    continue;
                }
                _ => return self.misplaced(*place),
            };
            for attribute in new {
                if all.iter().any(|known| known.name == attribute.name) {
                    let name = &attribute.name.local;
                    return wrong(
                        2310,
                        format!("The attribute \"{name}\" is declared more than once."),
                    );
                }
                all.push(attribute);
            }
        }
        Ok((all, wildcard))
    }

    /// 2366.
    pub(super) fn attribute_group(&mut self, name: &QName) -> Result<Attributes> {
        let place = self.globals.get(&(ComponentKind::AttributeGroup, name.clone())).copied();
        let place = place.ok_or_else(|| undefined(name))?;
        if self.open_groups.contains(name) {
            return wrong(2366, format!("\"{name}\" has a circular definition."));
        }
        if self.open_groups.len() > super::LEVELS_MAX {
            return wrong(2362, "XSD schema too complex");
        }
        self.open_groups.push(name.clone());
        let inside = self.inside(place);
        let found = self.attributes_of(&inside);
        self.open_groups.pop();
        found
    }

    /// `xs:any`, `xs:anyAttribute`.
    pub(super) fn wildcard(&mut self, place: Place) -> Result<Wildcard> {
        let doc = self.doc(place);
        let target = self.sources[place.source].target.clone();
        let process = match self.plain(&doc, place.node, "processContents").as_deref() {
            None | Some("strict") => Process::Strict,
            Some("lax") => Process::Lax,
            Some("skip") => Process::Skip,
            Some(other) => return wrong(2313, no_such_value("processContents", other)),
        };
        self.is_lax |= process == Process::Lax;
        let namespaces = match self.plain(&doc, place.node, "namespace").as_deref() {
            None | Some("##any") => Namespaces::Any,
            Some("##other") => Namespaces::Other(target),
            Some("") => return wrong(2313, no_such_value("namespace", "")),
            Some(list) => {
                let each = list.split_ascii_whitespace().map(|word| match word {
                    "##targetNamespace" => target.clone(),
                    "##local" => "".into(),
                    uri => uri.into(),
                });
                Namespaces::These(each.collect())
            }
        };
        Ok(Wildcard { namespaces, process })
    }
}
