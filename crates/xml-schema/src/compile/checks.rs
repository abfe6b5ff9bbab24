//! What is looked at when all components are there: values that are given for others, and elements that stand for
//! others.

use super::{Place, Source, VALUE_CHARS_MAX};
use crate::error::{Result, wrong};
use crate::facets::{IdKind, Variety};
use crate::ids::{Blocked, TypeId};
use crate::model::*;
use crate::names::QName;
use crate::value::Primitive;
use std::collections::HashMap;

impl Schema {
    /// 2322, 6925, 6366, 6997, 6962, 6999, and values that are none of their types (6927).
    pub(super) fn check_elements(
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

    pub(super) fn check_attributes(&self) -> Result<()> {
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
