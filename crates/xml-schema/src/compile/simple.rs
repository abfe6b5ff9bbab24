//! Simple types and their facets.

use super::documents::blocked;
use super::{Compiler, Place};
use crate::error::{Result, wrong};
use crate::facets::{Facets, IdKind, Shape, SimpleType, Variety, Whitespace};
use crate::ids::{ANY_SIMPLE, TypeId};
use crate::model::Type;
use crate::names::QName;
use crate::pattern::Pattern;
use crate::place;
use crate::simple::digits;
use crate::value::{Primitive, Value};
use std::cmp::Ordering;

impl Compiler {
    /// `xs:simpleType`
    pub(super) fn simple_type(&mut self, place: Place, name: Option<QName>) -> Result<SimpleType> {
        let doc = self.doc(place);
        let is_final = blocked(&doc, place.node, "final")?;
        let is_final = is_final.unwrap_or(self.sources[place.source].is_final);
        let inside = self.inside(place);
        let [definition] = inside[..] else {
            return wrong(2327, "The content or definition of <simpleType> is missing.");
        };
        let mut ty = match self.local(definition).as_str() {
            "restriction" => self.simple_restriction(definition, &name)?,
            "list" => self.list(definition, &name)?,
            "union" => self.union(definition, &name)?,
            _ => return self.misplaced(definition),
        };
        ty.name = name;
        ty.is_final = is_final;
        Ok(ty)
    }

    /// A type declared inside: it has its number at once.
    pub(super) fn inner_simple(&mut self, place: Place) -> Result<TypeId> {
        let id = self.later(place, None);
        self.compiled(id)?;
        Ok(id)
    }

    fn simple_restriction(&mut self, place: Place, name: &Option<QName>) -> Result<SimpleType> {
        let base = self.reference(place, "base")?;
        let mut inside = self.inside(place);
        let inner = inside.first().copied().filter(|first| self.local(*first) == "simpleType");
        let base = match (base, inner) {
            (Some(_), Some(_)) => {
                return wrong(
                    2358,
                    format!(
                        "Derivation with both a 'base' attribute and an embedded type definition is not supported in this \
                         release. Location: '{}'.",
                        self.at(place)
                    ),
                );
            }
            (None, None) => {
                return wrong(
                    2316,
                    format!(
                        "The required 'base' attribute is missing. Location: '{}'.",
                        self.at(place)
                    ),
                );
            }
            (Some(name), None) => self.type_id(&name)?,
            (None, Some(inner)) => {
                inside.remove(0);
                self.inner_simple(inner)?
            }
        };
        self.restricted(base, &inside, name)
    }

    /// A simple type that restricts another one by facets.
    pub(super) fn restricted(
        &mut self,
        base: TypeId,
        facets: &[Place],
        name: &Option<QName>,
    ) -> Result<SimpleType> {
        let Type::Simple(of) = self.compiled(base)? else {
            return wrong(
                2361,
                "The base type of an XSD extension or restriction type must be a simple type.",
            );
        };
        let shown = shown(name);
        if base == ANY_SIMPLE {
            return wrong(
                2201,
                "Derivation from \"anySimpleType\" by restriction is not permitted, and derivation by restriction from a \
                 type derived from \"anySimpleType\" by extension is allowed only if no constraining facets are specified.",
            );
        }
        if of.is_final.restriction {
            return wrong(
                6943,
                format!(
                    "Invalid type definition for type '{shown}', the derivation was illegal because 'final' attribute was \
                     specified on the base type"
                ),
            );
        }
        match &of.variety {
            Variety::Union(_) => {
                return wrong(
                    6910,
                    format!(
                        "XML Validation: Invalid definition for type '{shown}'. SQL Server does not currently support \
                         restriction of union types."
                    ),
                );
            }
            Variety::Atomic(Primitive::Name) => {
                return wrong(
                    2276,
                    "Derivation from 'QName' by restriction is not supported in this release",
                );
            }
            _ => {}
        }
        let mut ty = SimpleType {
            name: None,
            base: Some(base),
            variety: of.variety.clone(),
            facets: of.facets.clone(),
            id: of.id,
            is_final: of.is_final,
        };
        self.read_facets(&mut ty, base, facets, &shown)?;
        Ok(ty)
    }

    fn list(&mut self, place: Place, name: &Option<QName>) -> Result<SimpleType> {
        let named = self.reference(place, "itemType")?;
        let inner = self.inside(place).first().copied();
        let item = match (named, inner) {
            (Some(name), None) => self.type_id(&name)?,
            (None, Some(inner)) if self.local(inner) == "simpleType" => self.inner_simple(inner)?,
            _ => {
                return wrong(
                    2393,
                    format!(
                        "Either an itemType attribute or a simpleType child must be present. Location: '{}'.",
                        self.at(place)
                    ),
                );
            }
        };
        let Type::Simple(of) = self.compiled(item)? else {
            let at = self.at(place);
            return wrong(
                2367,
                format!(
                    "The item type of an XSD list type must be a simple type. Location: '{at}'."
                ),
            );
        };
        if matches!(of.variety, Variety::List(_)) || of.id == IdKind::Id {
            return wrong(
                6978,
                format!(
                    "Invalid item type for list type '{}'. The item type of a list may not itself be a list, and types \
                     derived from ID may not be used as item types in this release.",
                    shown(name)
                ),
            );
        }
        Ok(SimpleType {
            name: None,
            base: Some(ANY_SIMPLE),
            variety: Variety::List(item),
            facets: Facets { white: Whitespace::Collapse, ..Facets::default() },
            id: of.id,
            is_final: of.is_final,
        })
    }

    fn union(&mut self, place: Place, name: &Option<QName>) -> Result<SimpleType> {
        let doc = self.doc(place);
        let mut members = Vec::new();
        for word in
            self.plain(&doc, place.node, "memberTypes").unwrap_or_default().split_ascii_whitespace()
        {
            let name = self.named(place, word)?;
            members.push(self.type_id(&name)?);
        }
        for inner in self.inside(place) {
            if self.local(inner) != "simpleType" {
                return self.misplaced(inner);
            }
            members.push(self.inner_simple(inner)?);
        }
        if members.is_empty() {
            return wrong(
                2339,
                format!(
                    "Either a memberType attribute or a simpleType child must be present. Location: '{}'.",
                    self.at(place)
                ),
            );
        }
        for member in &members {
            let Type::Simple(of) = self.compiled(*member)? else {
                let name = shown(&self.name_of(*member));
                return wrong(
                    6977,
                    format!(
                        "Invalid member type '{name}' in union type '{}'. Unions may not have complex member types.",
                        shown(&None)
                    ),
                );
            };
            if of.id != IdKind::None || matches!(of.variety, Variety::Atomic(Primitive::Name)) {
                return wrong(
                    6903,
                    format!(
                        "XML Validation: Invalid definition for type '{}'. SQL Server does not currently support inclusion \
                         of ID, QName, or list of QName among the member types of a union type.",
                        shown(name)
                    ),
                );
            }
        }
        Ok(SimpleType {
            name: None,
            base: Some(ANY_SIMPLE),
            variety: Variety::Union(members),
            facets: Facets::default(),
            id: IdKind::None,
            is_final: Default::default(),
        })
    }

    pub(super) fn name_of(&self, id: TypeId) -> Option<QName> {
        match self.types[id.0 as usize].as_ref()? {
            Type::Simple(ty) => ty.name.clone(),
            Type::Complex(ty) => ty.name.clone(),
        }
    }

    // ---- Facets

    fn read_facets(
        &mut self,
        ty: &mut SimpleType,
        base: TypeId,
        places: &[Place],
        shown: &str,
    ) -> Result<()> {
        let mut patterns = Vec::new();
        let mut values = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        let former = ty.facets.clone();
        for place in places {
            self.breath.steps(64)?;
            let (doc, facet) = (self.doc(*place), self.local(*place));
            if !has_facet(ty, &facet) {
                match is_facet(&facet) {
                    true => {
                        let at = self.at(*place);
                        return wrong(
                            2319,
                            format!("This type may not have a '{facet}' facet. Location: '{at}'."),
                        );
                    }
                    false => return self.misplaced(*place),
                }
            }
            let text = self.value(&doc, place.node, "value");
            let Some(text) = text else {
                return wrong(
                    2299,
                    format!("Required attribute \"value\" of XSD element \"{facet}\" is missing."),
                );
            };
            let several = matches!(facet.as_str(), "pattern" | "enumeration");
            if !several && seen.contains(&facet) {
                let at = self.at(*place);
                return wrong(2320, format!("Duplicate facet '{facet}' found at location '{at}'."));
            }
            if !several {
                seen.push(facet.clone());
            }
            match facet.as_str() {
                "pattern" => patterns.push(Pattern::compile(&text)?),
                "enumeration" => {
                    let names = |prefix: &str| place::namespace(&doc, place.node, prefix);
                    match self.taken(base, &text, &names)? {
                        Some(value) => values.push(value),
                        None => {
                            let text =
                                format!("XML Validation: Invalid simple type value: '{text}'.");
                            return wrong(6927, text);
                        }
                    }
                }
                "whiteSpace" => {
                    let white = match text.trim() {
                        "preserve" => Whitespace::Preserve,
                        "replace" => Whitespace::Replace,
                        "collapse" => Whitespace::Collapse,
                        _ => return wrong(6945, invalid_facet(&facet, shown)),
                    };
                    if white < former.white {
                        return wrong(6944, loose(&facet, shown));
                    }
                    ty.facets.white = white;
                }
                "minInclusive" | "minExclusive" | "maxInclusive" | "maxExclusive" => {
                    let Some(value) = self.bound(base, text.trim())? else {
                        return wrong(6945, invalid_facet(&facet, shown));
                    };
                    let inclusive = facet.ends_with("Inclusive");
                    let slot = match facet.starts_with("min") {
                        true => &mut ty.facets.min,
                        false => &mut ty.facets.max,
                    };
                    *slot = Some((value, inclusive));
                }
                _ => {
                    let Ok(number) = text.trim().parse::<u32>() else {
                        return wrong(
                            2309,
                            format!("The value of \"{}\" is not a valid number.", text.trim()),
                        );
                    };
                    if number > i32::MAX as u32 || (facet == "totalDigits" && number == 0) {
                        return wrong(
                            2386,
                            format!("The value of '{facet}' facet is outside of the allowed range"),
                        );
                    }
                    let slot = match facet.as_str() {
                        "length" => &mut ty.facets.length,
                        "minLength" => &mut ty.facets.min_length,
                        "maxLength" => &mut ty.facets.max_length,
                        "totalDigits" => &mut ty.facets.total_digits,
                        _ => &mut ty.facets.fraction_digits,
                    };
                    let grows = matches!(facet.as_str(), "minLength");
                    if slot.is_some_and(|old| if grows { number < old } else { number > old }) {
                        return wrong(6944, loose(&facet, shown));
                    }
                    *slot = Some(number);
                }
            }
        }
        if !patterns.is_empty() {
            ty.facets.patterns.push(patterns.into());
        }
        if !values.is_empty() {
            ty.facets.enumeration = Some(values.into());
        }
        let twice = |a: &str, b: &str| seen.iter().any(|f| f == a) && seen.iter().any(|f| f == b);
        if twice("minInclusive", "minExclusive") || twice("maxInclusive", "maxExclusive") {
            return wrong(
                6996,
                format!(
                    "Invalid type definition for type '{shown}'. A type may not have both 'minInclusive' and 'minExclusive' \
                     or 'maxInclusive' and 'maxExclusive' facets."
                ),
            );
        }
        consistent(&ty.facets, &former, shown)
    }

    /// A value of a type that is compiled already; `None` where it is none.
    fn taken(
        &mut self,
        ty: TypeId,
        text: &str,
        names: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Value>> {
        let Type::Simple(of) = self.compiled(ty)? else { return Ok(None) };
        Ok(match &of.variety {
            Variety::Any => Some(Value::Text(text.to_owned())),
            Variety::Atomic(primitive) => {
                let text = crate::simple::spaced(text, of.facets.white);
                Value::read(*primitive, &text, names).map(|(value, _)| value)
            }
            Variety::List(item) => {
                let mut all = Vec::new();
                for word in text.split_ascii_whitespace() {
                    match self.taken(*item, word, names)? {
                        Some(value) => all.push(value),
                        None => return Ok(None),
                    }
                }
                Some(Value::List(all))
            }
            Variety::Union(members) => {
                for member in members {
                    if let Some(value) = self.taken(*member, text, names)? {
                        return Ok(Some(value));
                    }
                }
                None
            }
        })
    }

    fn bound(&mut self, ty: TypeId, text: &str) -> Result<Option<Value>> {
        self.taken(ty, text, &|_| None)
    }
}

fn shown(name: &Option<QName>) -> String {
    name.as_ref().map_or(String::new(), QName::to_string)
}

/// 6945.
fn invalid_facet(facet: &str, shown: &str) -> String {
    format!("Invalid facet value for facet '{facet}' in type definition '{shown}'")
}

/// 6944.
fn loose(facet: &str, shown: &str) -> String {
    format!(
        "Invalid type definition for type '{shown}', '{facet}' facet is not restricting the value space"
    )
}

fn is_facet(name: &str) -> bool {
    [
        "length",
        "minLength",
        "maxLength",
        "pattern",
        "enumeration",
        "whiteSpace",
        "maxInclusive",
        "maxExclusive",
        "minInclusive",
        "minExclusive",
        "totalDigits",
        "fractionDigits",
    ]
    .contains(&name)
}

/// May a type have that facet? XML Schema Part 2, appendix C.
fn has_facet(ty: &SimpleType, facet: &str) -> bool {
    let lengths = matches!(facet, "length" | "minLength" | "maxLength");
    let bounds = matches!(facet, "minInclusive" | "minExclusive" | "maxInclusive" | "maxExclusive");
    let all = matches!(facet, "pattern" | "whiteSpace");
    let values = facet == "enumeration";
    match &ty.variety {
        Variety::Atomic(Primitive::Boolean) => all,
        Variety::Atomic(Primitive::Decimal) => {
            all || values || bounds || matches!(facet, "totalDigits" | "fractionDigits")
        }
        Variety::Atomic(
            Primitive::String
            | Primitive::AnyUri
            | Primitive::Hex
            | Primitive::Base64
            | Primitive::Name,
        )
        | Variety::List(_) => all || values || lengths,
        Variety::Atomic(_) => all || values || bounds,
        Variety::Union(_) => values || facet == "pattern",
        Variety::Any => false,
    }
}

/// 6946 to 6952, 6944.
fn consistent(facets: &Facets, former: &Facets, shown: &str) -> Result<()> {
    let text = |what: &str| format!("Invalid type definition for type '{shown}', {what}");
    let above = |a: Option<u32>, b: Option<u32>| matches!((a, b), (Some(a), Some(b)) if a > b);
    if above(facets.min_length, facets.max_length) {
        return wrong(6946, text("'minLength' can not be greater than 'maxLength'"));
    }
    if above(facets.min_length, facets.length) {
        return wrong(6948, text("'minLength' can not be greater than 'Length'"));
    }
    if above(facets.length, facets.max_length) {
        return wrong(6949, text("'Length' can not be greater than 'maxLength'"));
    }
    if above(facets.fraction_digits, facets.total_digits) {
        return wrong(6950, text("'fractionDigits' can not be greater than 'totalDigits'"));
    }
    if let (Some((least, low)), Some((most, high))) = (&facets.min, &facets.max) {
        let order = least.compare(most);
        let empty = match (low, high) {
            (true, true) | (false, false) => order == Some(Ordering::Greater),
            _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        };
        if empty && *low {
            let what = "'minInclusive' must be less than or equal to 'maxInclusive' and less than 'maxExclusive'";
            return wrong(6951, text(what));
        }
        if empty {
            let what = "'minExclusive' must be less than or equal to 'maxExclusive' and less than 'maxInclusive'";
            return wrong(6952, text(what));
        }
    }
    let looser = |new: &Option<(Value, bool)>, old: &Option<(Value, bool)>, outside: Ordering| matches!((new, old), (Some((new, _)), Some((old, _))) if new.compare(old) == Some(outside));
    if looser(&facets.min, &former.min, Ordering::Less) {
        return wrong(6944, loose("minInclusive", shown));
    }
    if looser(&facets.max, &former.max, Ordering::Greater) {
        return wrong(6944, loose("maxInclusive", shown));
    }
    // Bounds of whole numbers are whole.
    let is_whole = |bound: &Option<(Value, bool)>| match bound {
        Some((Value::Decimal(n), _)) => digits(*n).1 == 0,
        _ => true,
    };
    if facets.shape == Shape::Whole && !(is_whole(&facets.min) && is_whole(&facets.max)) {
        return wrong(6945, invalid_facet("minInclusive", shown));
    }
    Ok(())
}
